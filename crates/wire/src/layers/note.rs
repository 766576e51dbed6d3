//! Oddities of a layer.

use crate::Field;

/// Something unusual that is no fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Note {
    /// Bits that senders leave 0 are set.
    Reserved(&'static Field),
    /// A notification without feedback: a congestion point sends none then.
    NoFeedback,
}

impl core::fmt::Display for Note {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Reserved(field) => write!(f, "{} is reserved, and not 0", field.label),
            Self::NoFeedback => f.write_str("Quantized Feedback is 0: such a notification changes no rate"),
        }
    }
}
