//! A part of Python, interpreted: a scheme as a class below `penstock.Scheme`, where there is no Python.
//!
//! ```text
//!   text --lexer--> tokens --parser (expressions, statements), classes--> Program --machine--> answers, fields, signals
//! ```
//!
//! What is not known is refused with line and column, so that a text that runs here runs in Python, and gives the same numbers
//! there. Whole numbers have at most 127 bits; beyond that a call ends with an error, as it does after [`FUEL`] steps or
//! in too deep a recursion. There is no time, no random number and no memory but an object's fields: a call depends on its arguments alone.
//!
//! One number can differ from Python's, in its last bit: the quotient `/` of whole numbers beyond 2^53.

mod classes;
mod code;
mod expressions;
mod lexer;
mod machine;
mod parser;
mod settings;
mod value;

pub use classes::{Answer, Declared, Program};
pub use machine::{FUEL, Object, Sent};
pub use value::{Kind, Value};

/// A place in a text, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct At {
    /// The line.
    pub line: usize,
    /// The letter in it.
    pub column: usize,
}

impl At {
    /// The first letter.
    pub const START: Self = Self { line: 1, column: 1 };
}

/// A mistake in a text, or in a call of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// Its place.
    pub at: At,
    /// The mistake.
    pub message: String,
    /// What to write instead.
    pub hint: String,
}

impl Error {
    /// An error at a place.
    #[must_use]
    pub fn new(at: At, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { at, message: message.into(), hint: hint.into() }
    }
}

/// A point of a scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// At an output queue.
    Congestion,
    /// At a destination.
    Notification,
    /// At a source.
    Reaction,
}

impl Role {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 3] = [Self::Congestion, Self::Notification, Self::Reaction];

    /// The name of its class.
    #[must_use]
    pub const fn class(self) -> &'static str {
        match self {
            Self::Congestion => "CongestionPoint",
            Self::Notification => "NotificationPoint",
            Self::Reaction => "ReactionPoint",
        }
    }

    /// The methods that the engine calls, and their arguments after `self`.
    #[must_use]
    pub const fn methods(self) -> &'static [(&'static str, &'static [&'static str])] {
        match self {
            Self::Congestion => &[
                ("__init__", &["p", "place"]),
                ("configure", &["p"]),
                ("mark", &["frame", "octets"]),
                ("on_arrival", &["frame", "queue"]),
                ("on_transmission", &["frame", "queue"]),
                ("on_departure", &["frame", "queue"]),
                ("on_probe_departure", &["signal", "queue"]),
                ("on_signal", &["signal", "queue"]),
                ("on_timer", &["now", "queue"]),
                ("set_thresholds", &["low", "high", "probability"]),
                ("variables", &[]),
            ],
            Self::Notification => &[
                ("__init__", &["p", "flow"]),
                ("configure", &["p"]),
                ("acknowledge", &["frame"]),
                ("on_frame", &["frame"]),
                ("on_signal", &["signal"]),
                ("on_timer", &["now"]),
            ],
            Self::Reaction => &[
                ("__init__", &["p", "line"]),
                ("configure", &["p"]),
                ("on_ack", &["ack"]),
                ("on_round_trip", &["ps"]),
                ("on_send", &["release"]),
                ("on_signal", &["signal"]),
                ("on_silence", &["now", "flow", "lost"]),
                ("on_start", &["now", "flow"]),
                ("on_stop", &["now", "flow"]),
                ("on_timer", &["now"]),
                ("variables", &[]),
            ],
        }
    }
}

/// A data frame at a queue or its destination.
pub static FRAME: Kind = Kind {
    name: "a frame",
    fields: &[
        "now", "flow", "octets", "weight", "seq", "sent_at", "last", "trimmed", "dropped", "marked", "word", "random",
    ],
};
/// An output queue.
pub static QUEUE: Kind = Kind { name: "a queue", fields: &["octets", "frames", "sent", "rate", "paused"] };
/// Where a congestion point sits.
pub static PLACE: Kind = Kind { name: "a place", fields: &["cp", "line", "capacity", "phase"] };
/// A control frame that has arrived.
pub static SIGNAL: Kind = Kind { name: "a signal", fields: &["now", "flow", "octets", "kind", "word", "random"] };
/// An acknowledgement.
pub static ACKNOWLEDGEMENT: Kind =
    Kind { name: "an acknowledgement", fields: &["now", "flow", "acked", "lost", "rtt", "marked", "word", "random"] };
/// A data frame that a reaction point lets go.
pub static RELEASE: Kind = Kind { name: "a release", fields: &["now", "flow", "octets", "seq", "last", "random"] };

/// The kinds of objects that methods get.
pub(crate) const KINDS: [&Kind; 6] = [&FRAME, &QUEUE, &PLACE, &SIGNAL, &ACKNOWLEDGEMENT, &RELEASE];

/// Fields that every point has, by their numbers.
pub mod field {
    /// Rate of the line, bit/s.
    pub const LINE: usize = 0;
    /// Rate at which frames may go, bit/s.
    pub const RATE: usize = 1;
    /// Octets that may be in flight.
    pub const WINDOW: usize = 2;
    /// Whether a rate limiter is installed.
    pub const LIMITING: usize = 3;
    /// When the timer is due, ps.
    pub const TIMEOUT: usize = 4;
    /// Their names.
    pub const NAMES: [&str; 5] = ["line", "rate", "window", "limiting", "timeout"];
}
