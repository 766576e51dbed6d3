//! The message expected of a sample, twice: its octets as written by the test, and its fields as `penstock-wire` reads them.

use penstock_cosim::cp_qcn::In;
use penstock_wire::{MacAddress, cnm, smcc};

use crate::reference::Answer;
use crate::wire::{Message, Says};

/// The part of a frame that a message takes from it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Header {
    destination: [u8; 6],
    source: [u8; 6],
    /// Priority and VID.
    vlan: Option<(u8, u16)>,
    flow: Option<u16>,
    /// The EtherType behind the tags.
    pub client: u16,
}

impl Header {
    pub fn of(octets: &[u8]) -> Self {
        let word = |at: usize| u16::from_be_bytes([octets[at], octets[at + 1]]);
        let mut header = Self {
            destination: octets[..6].try_into().expect("six"),
            source: octets[6..12].try_into().expect("six"),
            ..Self::default()
        };
        let mut at = 12;
        if word(at) == 0x8100 {
            header.vlan = Some(((word(at + 2) >> 13) as u8, word(at + 2) & 0xfff));
            at += 4;
        }
        if word(at) == 0x22e9 {
            header.flow = Some(word(at + 2));
            at += 4;
        }
        header.client = word(at);
        header
    }
}

/// A message that is to come out.
#[derive(Debug)]
pub struct Expected {
    pub octets: Vec<u8>,
    pub says: Says,
}

impl Expected {
    pub fn new(input: &In, smcc: bool, sampled: &Header, answer: &Answer) -> Self {
        let octets = message(input, smcc, sampled, answer);
        Self { octets, says: says(input, smcc, sampled, answer) }
    }
}

/// The frame of a message: 802.1Qau's, or SMCC's with the same beginning.
fn message(input: &In, smcc: bool, sampled: &Header, answer: &Answer) -> Vec<u8> {
    let mut octets = sampled.source.to_vec();
    octets.extend_from_slice(&input.cp_mac_i.to_be_bytes()[2..]);
    if let Some((_, vid)) = sampled.vlan {
        octets.extend_from_slice(&[0x81, 0x00]);
        octets.extend_from_slice(&(u16::from(input.cnm_priority_i) << 13 | vid).to_be_bytes());
    }
    if let Some(flow) = sampled.flow {
        octets.extend_from_slice(&[0x22, 0xe9]);
        octets.extend_from_slice(&flow.to_be_bytes());
    }
    octets.extend_from_slice(&if smcc { [0x88, 0xb5, 0, 0] } else { [0x22, 0xe7, 0, answer.fb] });
    octets.extend_from_slice(&input.cp_id_i.to_be_bytes());
    // Units of 64 octets, rounded towards zero.
    let units = |octets: i64| ((octets / 64).clamp(i16::MIN.into(), i16::MAX.into()) as i16).to_be_bytes();
    if smcc {
        octets.extend_from_slice(&[0; 4]);
    } else {
        octets.extend_from_slice(&units(-answer.q_off));
        octets.extend_from_slice(&units(answer.q_delta));
    }
    octets.extend_from_slice(&(u16::from(sampled.vlan.map_or(0, |(priority, _)| priority)) << 13).to_be_bytes());
    octets.extend_from_slice(&sampled.destination);
    octets.extend_from_slice(&[0; 2]);
    if smcc {
        octets.extend_from_slice(&(answer.q_off as i32).to_be_bytes());
        octets.extend_from_slice(&(answer.q_delta as i32).to_be_bytes());
    }
    octets.resize(60, 0);
    octets
}

/// The content of the same message.
fn says(input: &In, smcc: bool, sampled: &Header, answer: &Answer) -> Says {
    let encapsulated_priority = sampled.vlan.map_or(0, |(priority, _)| priority);
    let encapsulated_destination = MacAddress(sampled.destination);
    let message = if smcc {
        Message::Smcc(smcc::Repr {
            cp_id: input.cp_id_i,
            encapsulated_priority,
            encapsulated_destination,
            q_off: answer.q_off as i32,
            q_delta: answer.q_delta as i32,
        })
    } else {
        Message::Cnm(cnm::Repr {
            quantized_feedback: answer.fb,
            cp_id: input.cp_id_i,
            q_offset: cnm::Repr::units(-answer.q_off),
            q_delta: cnm::Repr::units(answer.q_delta),
            encapsulated_priority,
            encapsulated_destination,
            encapsulated_msdu_length: 0,
        })
    };
    Says {
        destination: MacAddress(sampled.source),
        source: MacAddress::from_u64(input.cp_mac_i),
        vlan: sampled.vlan.map(|(_, vid)| (input.cnm_priority_i, vid)),
        flow: sampled.flow,
        message,
    }
}
