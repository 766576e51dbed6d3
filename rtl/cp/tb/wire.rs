//! A message of the congestion point as `penstock-wire` reads it: apart from the octets that the bench writes by itself.

use penstock_wire::ethernet::LEAST;
use penstock_wire::layers::{Types, layers};
use penstock_wire::{MacAddress, cn_tag, cnm, ethernet, smcc, vlan};

/// The content of a message's frame, from the outside in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Says {
    pub destination: MacAddress,
    pub source: MacAddress,
    /// Priority and VID.
    pub vlan: Option<(u8, u16)>,
    pub flow: Option<u16>,
    pub message: Message,
}

/// The message itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    Cnm(cnm::Repr),
    Smcc(smcc::Repr),
}

/// Reads a frame.
///
/// # Panics
/// If it is not a message that is whole and legal, padded to the shortest frame.
pub fn read(frame: &[u8]) -> Says {
    let eth = ethernet::Packet::new_checked(frame).expect("a header");
    let (mut vlan, mut flow, mut message, mut padding) = (None, None, None, 0);
    for layer in layers(frame, Types::default()).skip(1) {
        match layer.name() {
            "vlan" => {
                let tag = vlan::Packet::new_checked(layer.octets).expect("a tag");
                assert!(!tag.dei());
                // The sampled frame's VID is copied as it is, also one that no frame should have.
                assert_eq!(layer.fault.is_some(), tag.vid() == 0xfff, "{:?}", layer.fault);
                vlan = Some((tag.pcp(), tag.vid()));
                continue;
            }
            "cn_tag" => flow = Some(cn_tag::Packet::new_checked(layer.octets).expect("a tag").flow_identifier()),
            "cnm" => {
                let packet = cnm::Packet::new_checked(layer.octets).expect("a message");
                assert_eq!((packet.reserved_v(), packet.reserved_priority()), (0, 0));
                message = Some(Message::Cnm(cnm::Repr::parse(&packet).expect("legal")));
            }
            "smcc" => {
                let packet = smcc::Packet::new_checked(layer.octets).expect("a message");
                assert_eq!((packet.reserved_v(), packet.unused(), packet.reserved_priority()), (0, 0, 0));
                message = Some(Message::Smcc(smcc::Repr::parse(&packet).expect("legal")));
            }
            "padding" => {
                assert!(layer.octets.iter().all(|&octet| octet == 0), "{:?}", layer.octets);
                padding = layer.octets.len();
            }
            other => panic!("{other} in a message: {frame:02x?}"),
        }
        assert_eq!(layer.fault, None, "{frame:02x?}");
    }
    assert!(frame.len() == LEAST && padding > 0, "{frame:02x?}");
    Says {
        destination: eth.destination(),
        source: eth.source(),
        vlan,
        flow,
        message: message.expect("it holds a message"),
    }
}
