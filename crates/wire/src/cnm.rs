//! The congestion notification message, behind its EtherType 22E7: 24 octets, then up to 64 of the sampled frame.
//!
//! Sources agree on the sizes of all fields. Where the 3 bits of the encapsulated priority lie in their two octets is read
//! as in a tag, the highest bits. The queue offset has the standard's sign: set point less length, negative under
//! congestion.

use crate::ethernet::ether_type;
use crate::field::MacAddress;

/// Octets in the unit of the queue's offset and growth.
pub const UNIT: i64 = 64;

crate::field::format! {
    "cnm", "Congestion notification message", "IEEE 802.1Q-2022, clause 33 (802.1Qau)", 24 octets;
    fixed {
        /// Version of the format.
        version, set_version: u8 = "Version", 0..4 is 0;
    }
    /// How hard the congestion is: |Fb| in 64 steps.
    quantized_feedback, set_quantized_feedback: u8 = "Quantized Feedback", 10..16;
    /// The congestion point: by custom its bridge's address, then port and priority.
    cp_id, set_cp_id: u64 = "cnmCpId", 16..80 as Hex;
    /// Set point less queue length, in units of 64 octets: negative under congestion.
    q_offset, set_q_offset: i16 = "cnmQOffset", 80..96;
    /// Growth of the queue since the sample before, in units of 64 octets.
    q_delta, set_q_delta: i16 = "cnmQDelta", 96..112;
    /// Priority of the sampled frame.
    encapsulated_priority, set_encapsulated_priority: u8 = "Encapsulated priority", 112..115;
    /// Destination of the sampled frame.
    encapsulated_destination, set_encapsulated_destination: MacAddress = "Encapsulated destination MAC address", 128..176;
    /// Octets of the sampled frame that follow, 0 to 64.
    encapsulated_msdu_length, set_encapsulated_msdu_length: u16 = "Encapsulated MSDU length", 176..192;
    reserved {
        /// Sent as 0.
        reserved_v, set_reserved_v: u8 = "ReservedV", 4..10;
        /// The bits beside the encapsulated priority, sent as 0.
        reserved_priority, set_reserved_priority: u16 = "Encapsulated priority, reserved bits", 115..128;
    }
    message {
        "CNM", ether_type::CNM,
        "Fb {quantized_feedback}, queue {-64*q_offset} octets above set point, from {cp_id}";
        strength quantized_feedback in "|Fb|";
        sampled encapsulated_msdu = "Encapsulated MSDU", encapsulated_msdu_length in 0..=64;
    }
}

impl Repr {
    /// A length in octets in the unit of a message: rounded towards zero, held within 16 bits.
    #[must_use]
    pub fn units(octets: i64) -> i16 {
        (octets / UNIT).clamp(i64::from(i16::MIN), i64::from(i16::MAX)) as i16
    }

    /// Octets of the message with its part of the sampled frame.
    #[must_use]
    pub fn octets(&self) -> usize {
        Self::OCTETS + usize::from(self.encapsulated_msdu_length)
    }
}
