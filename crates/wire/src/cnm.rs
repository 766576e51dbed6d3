//! The congestion notification message, behind its EtherType 22E7: 24 octets, then up to 64 of the sampled frame.
//!
//! Sources agree on the sizes of all fields. Where the 3 bits of the encapsulated priority lie in their two octets is read
//! as in a tag, the highest bits. The queue offset has the standard's sign: set point less length, negative under
//! congestion.

use crate::Error;
use crate::field::MacAddress;

/// Octets in the unit of the queue's offset and growth.
pub const UNIT: i64 = 64;

/// The most octets of a sampled frame that a message holds.
pub const MSDU_MOST: u16 = 64;

crate::field::format! {
    "cnm", "Congestion notification message", "IEEE 802.1Q-2022, clause 33 (802.1Qau)", 24 octets;
    /// Version of the format, 0.
    version, set_version: u8 = "Version", 0..4;
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
}

fn msdu_length(octets: &[u8]) -> u16 {
    crate::field::read(octets, 176, 16) as u16
}

fn measure(octets: &[u8]) -> Result<usize, Error> {
    let msdu = msdu_length(octets);
    if msdu > MSDU_MOST {
        return Err(FORMAT.illegal("encapsulated_msdu_length", octets, "0 to 64"));
    }
    let (needs, has) = (usize::from(msdu), octets.len() - Repr::OCTETS);
    if has < needs {
        return Err(FORMAT.truncated("Encapsulated MSDU", Repr::OCTETS, needs, has));
    }
    Ok(Repr::OCTETS + needs)
}

fn legal(octets: &[u8]) -> Result<(), Error> {
    if crate::field::read(octets, 0, 4) != 0 {
        return Err(FORMAT.illegal("version", octets, "0, the only version"));
    }
    if msdu_length(octets) > MSDU_MOST {
        return Err(FORMAT.illegal("encapsulated_msdu_length", octets, "0 to 64"));
    }
    Ok(())
}

impl<T: AsRef<[u8]>> Packet<T> {
    /// The first octets of the sampled frame's MSDU: its EtherType and the octets behind it.
    #[must_use]
    pub fn encapsulated_msdu(&self) -> &[u8] {
        let octets = self.octets.as_ref();
        let end = Repr::OCTETS + usize::from(self.encapsulated_msdu_length());
        octets.get(Repr::OCTETS..end.min(octets.len())).unwrap_or_default()
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
