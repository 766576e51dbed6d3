//! SMCC's message, behind the local experimental EtherType 1. The paper puts queue offset and growth into the frame and gives
//! no layout (Jiang et al. 2015, section 5.1). This is that of Penstock's cores: the CNM's fields without feedback, then
//! offset and growth whole, in octets. Offset is queue length less target: positive under congestion.

use crate::ethernet::ether_type;
use crate::field::MacAddress;

crate::field::format! {
    "smcc", "SMCC message", "Penstock's own, after Jiang et al. 2015, section 5.1", 32 octets;
    fixed {
        /// Version of the format.
        version, set_version: u8 = "version", 0..4 is 0;
        /// Offset and growth follow, and nothing of the sampled frame.
        encapsulated_msdu_length, set_encapsulated_msdu_length: u16 = "Encapsulated MSDU length", 176..192 is 0;
    }
    /// The congestion point.
    cp_id, set_cp_id: u64 = "cpId", 16..80 as Hex;
    /// Priority of the sampled frame.
    encapsulated_priority, set_encapsulated_priority: u8 = "Encapsulated priority", 112..115;
    /// Destination of the sampled frame.
    encapsulated_destination, set_encapsulated_destination: MacAddress = "Encapsulated destination MAC address", 128..176;
    /// Queue length less the target, octets.
    q_off, set_q_off: i32 = "Qoff", 192..224;
    /// Growth of the queue since the sample before, octets.
    q_delta, set_q_delta: i32 = "Qdelta", 224..256;
    reserved {
        /// Sent as 0.
        reserved_v, set_reserved_v: u16 = "reserved", 4..16;
        /// The field of a CNM's offset and growth, sent as 0.
        unused, set_unused: u32 = "unused", 80..112;
        /// The bits beside the encapsulated priority, sent as 0.
        reserved_priority, set_reserved_priority: u16 = "Encapsulated priority, reserved bits", 115..128;
    }
    message {
        "SMCC", ether_type::SMCC, "queue {q_off} octets above target, growth {q_delta}";
        strength q_off in "octets";
    }
}
