//! Reference models of reaction points: Rust's state machines, driven by the pins of a core. They give the outputs expected of it
//! in every clock.

mod dcqcn;
mod qcn;
mod smcc;

pub use dcqcn::{DcqcnPoint, Settings as DcqcnSettings};
pub use qcn::{Qcn, Readings, Settings as QcnSettings, Words, any_rate};
pub use smcc::{Settings as SmccSettings, SmccPoint, any_size, defaults as smcc_defaults};

/// The fields of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// QCN: quantised feedback.
    pub fb: u8,
    /// SMCC: the congestion point that says it.
    pub cp: u64,
    /// SMCC: the queue's offset, octets.
    pub q_off: i32,
    /// SMCC: its growth, octets.
    pub q_delta: i32,
}

/// The events at a reaction point in a clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct Event {
    /// Its flow starts.
    pub start: bool,
    /// A message is offered.
    pub signal: Option<Message>,
    /// A frame of this number of octets with its FCS is sent.
    pub sent: Option<u16>,
    /// The time base ticks.
    pub tick: bool,
    /// Random words for the byte counter and the timer.
    pub words: [u32; 2],
}

/// The outputs of a reaction point in a clock that all cores have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Point {
    /// CR, or SMCC's rate, bit/s.
    pub current_rate: u64,
    /// TR, bit/s; 0 for SMCC, as the stages.
    pub target_rate: u64,
    /// Cycles of the byte counter since the last message.
    pub byte_stage: u8,
    /// Cycles of the timer since the last message.
    pub time_stage: u8,
}

/// All that a rate calculator shows in a clock; what SMCC's has not is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shown {
    /// Rates and stages.
    pub point: Point,
    /// 0 Fast Recovery, 1 Active Increase, 2 Hyper-Active Increase.
    pub phase: u8,
    /// Octets left of the byte counter's cycle.
    pub byte_left: i64,
    /// Ticks left of the timer's.
    pub time_left: i64,
    /// An event is being served.
    pub busy: bool,
    /// A message that is offered is taken. (SMCC: and one is.)
    pub ready: bool,
    /// The words that are drawn.
    pub draws: [bool; 2],
}

/// A state machine, and the delays of the hardware.
pub trait Machine {
    /// The outputs of the reaction point in a clock in which this happens; then it happens.
    fn clock(&mut self, event: &Event) -> Shown;
}
