//! Control frames of a scheme: their length, their kind and their content.

use core::fmt::Debug;

use crate::units::{FlowKey, Octets};
use crate::{Message, Var};

/// A message that is never sent: the signal of a scheme without signals, the echo of a scheme without acknowledgements.
#[derive(Debug, Clone, Copy)]
pub enum Never {}

impl Signal for Never {
    fn octets(&self) -> u16 {
        match *self {}
    }
}

/// A control frame: its length and its content.
pub trait Signal: Copy + Debug + Send {
    /// The columns that [`vars`](Self::vars) fills.
    const VARS: &'static [Var] = &[];

    /// Length of the frame, with FCS, without preamble and gap.
    fn octets(&self) -> u16;

    /// The heading under which it is counted.
    fn kind(&self) -> SignalKind {
        SignalKind::Notification
    }

    /// Its content as a format of the wire has it; `None` where none has it.
    fn message(&self) -> Option<Message> {
        None
    }

    /// The signal with this content: the reverse of [`message`](Self::message), for a scheme that the testbed runs. `None` if the
    /// scheme has no such signal.
    fn from_message(_message: Message) -> Option<Self> {
        None
    }

    /// Writes its content to `row`, one value for each of [`VARS`](Self::VARS).
    fn vars(&self, _row: &mut [i64]) {}
}

/// Why a control frame was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignalKind {
    /// A switch or a destination saw congestion (or saw it end): QCN's CNM, BCN's message, DCQCN's CNP.
    Notification,
    /// A source asks: FECN's rate probe towards the destination.
    Probe,
    /// A destination answers a probe.
    Reply,
}

/// The addressee of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum To {
    /// The reaction point of this flow.
    Source(FlowKey),
    /// The notification points of this flow, along the path of its data.
    Destination(FlowKey),
    /// The congestion point of the queue that this flow's frames left last before they came here (802.1Qcz: the upstream
    /// neighbour). A congestion point's signals alone may have it. Where the flow comes straight from its source, and the
    /// source's own port has no congestion point, its reaction point gets the signal.
    PreviousHop(FlowKey),
}

/// The limit of control frames at each port of a switch, where they are credits: they and the data that they ask for take as
/// much as the line has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CreditLimit {
    /// The data frame that a credit asks for.
    pub frame: Octets,
    /// Credits that wait at a port; more are dropped.
    pub waiting: u32,
}
