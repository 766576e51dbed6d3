//! The congestion notification message of QCN and of the schemes that are built from its parts.

use crate::parts::quantiser::{Measure, QntzFb};
use crate::units::CpId;
use crate::{Message, Signal, Var};

/// A congestion notification message. On the wire its lengths are in units of 64 octets and the offset's sign is reversed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cnm {
    /// Quantised |Fb|.
    pub fb: QntzFb,
    /// The congestion point that sent it.
    pub cp: CpId,
    /// Queue length less the set point, octets.
    pub q_off: i32,
    /// Growth of the queue since the sample before, octets.
    pub q_delta: i32,
}

impl Cnm {
    /// Length of the frame without encapsulated data: headers, CN-TAG, 24 octets of PDU, padding, FCS.
    pub const OCTETS: u16 = 64;

    /// The notification of congestion point `cp` for `measure`, with feedback value `fb`.
    #[must_use]
    pub fn new(cp: CpId, fb: QntzFb, measure: Measure) -> Self {
        Self { fb, cp, q_off: saturate(measure.q_off), q_delta: saturate(measure.q_delta) }
    }
}

impl Signal for Cnm {
    const VARS: &'static [Var] = &[
        Var { name: "fb", description: "quantised |Fb|, 0 to 63" },
        Var { name: "q_off_octets", description: "queue length less the set point, octets" },
        Var { name: "q_delta_octets", description: "growth of the queue since the sample before, octets" },
    ];

    fn octets(&self) -> u16 {
        Self::OCTETS
    }

    fn message(&self) -> Option<Message> {
        let Self { cp, fb, q_off, q_delta } = *self;
        Some(Message::Cnm { cp, fb, q_off: q_off.into(), q_delta: q_delta.into() })
    }

    fn from_message(message: Message) -> Option<Self> {
        let Message::Cnm { cp, fb, q_off, q_delta } = message else { return None };
        Some(Self { cp, fb, q_off: saturate(q_off), q_delta: saturate(q_delta) })
    }

    fn vars(&self, row: &mut [i64]) {
        row.copy_from_slice(&[i64::from(self.fb.steps()), i64::from(self.q_off), i64::from(self.q_delta)]);
    }
}

fn saturate(octets: i64) -> i32 {
    octets.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
}
