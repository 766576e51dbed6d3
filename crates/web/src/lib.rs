//! The engine for a browser: the same engine, summary and samples as those of the command line, without files and clock.
//!
//! ```text
//!   text --edits.rs, background.rs--> text, as a control of the page changes it
//!     |
//!     v
//!   Session: Plan -> Sim<Mixed> -> Store --rows--> plots and network of the page          (session.rs, store.rs)
//!     |            slice by slice, messages.rs                           in a Worker, which the page can end
//!     v
//!   Summary
//! ```
//!
//! There is one engine, over [`Mixed`](penstock_schemes::mixed::Mixed), and not one for each scheme: a page is to load
//! quickly (docs/explanation/decisions/0026-the-laboratory.md).
//!
//! A run knows no changes from outside. A control that is moved changes the scenario's text, at the simulated time where the run
//! stands, and the page runs the new text up to there: the run until then is the same. So the text says all of it, and gives the same
//! result on the command line. A scheme of the reader's is a second text, in a part of Python (`own`).

mod background;
mod edits;
pub mod export;
mod messages;
mod own;
mod session;
mod store;

pub use background::{Background, change_background, count_background};
pub use edits::{Sources, change_link, change_parameter, change_sources, count_sources, set};
pub use messages::MESSAGE_COLUMNS;
pub use own::define;
pub use session::{Refusal, Session};
pub use store::{
    FLOW_COLUMNS, FLOW_NOW_COLUMNS, FRAME_COLUMNS, FRAME_KINDS, QUEUE_COLUMNS, QUEUE_NOW_COLUMNS, SIGNAL_COLUMNS,
};
