//! The simulator's control frames, and the frames of its transports, are as long as the frames that are written here, tags
//! and check sequence included.

use penstock_endpoint::transport::{Ack, Receiver, SackBlocks, Sender, TRANSPORTS, Transport};
use penstock_schemes::info::Value;
use penstock_schemes::{HEADER, Octets, SCHEMES};
use penstock_wire::checksum::fcs;
use penstock_wire::encode::encode;
use penstock_wire::layers::{Types, layers};
use penstock_wire::{ethernet, ipv4, roce, tcp, udp};

/// Octets of a frame of this kind with its check sequence.
fn octets(kind: &str, pairs: &[(&str, &str)]) -> u16 {
    let frame = encode(kind, pairs).unwrap();
    assert!(layers(&frame, Types::default()).all(|layer| layer.fault.is_none()), "{kind}");
    (frame.len() + fcs(&frame).len()) as u16
}

#[test]
fn signals_of_schemes() {
    // Bridges send them with a VLAN tag, and a copy of the sampled frame's CN-TAG where it has one.
    let cnm = octets("cnm", &[("pcp", "6"), ("flow_identifier", "5")]);
    let smcc = octets("smcc", &[("pcp", "6"), ("flow_identifier", "5")]);
    let (bcn, fecn, e2cm) =
        (octets("bcn", &[("pcp", "6")]), octets("fecn", &[("pcp", "6")]), octets("e2cm", &[("pcp", "6")]));
    let (rocc, sfc) = (octets("rocc", &[("pcp", "6")]), octets("sfc", &[("pcp", "6")]));
    // A routed packet, whose class is in its IP header.
    let cnp = octets("cnp", &[]);
    assert_eq!(e2cm, bcn, "E2CM's probes are as long as its messages");
    let mut compared = 0;
    for scheme in SCHEMES {
        let Some(signals) = scheme.signals else { continue };
        let wanted = match scheme.name {
            "qcn" | "qcn-adaptive" | "qcn-bs" | "qcn-bs-adaptive" | "qcn-multicast" | "af-qcn" | "fqcn" | "annulus" => {
                cnm
            }
            "smcc" => smcc,
            "bcn" | "e2cm" => bcn,
            "fecn" | "efecn" => fecn,
            "dcqcn" | "dcqcn-window" | "ici" => cnp,
            "fast-cnp" => octets("fast_cnp", &[]),
            "rocc" => rocc,
            "sfc" => sfc,
            "homa" => octets("homa", &[("pcp", "6")]),
            "ndp" => octets("ndp_pull", &[("pcp", "6")]),
            "expresspass" => octets("expresspass", &[("pcp", "6")]),
            other => panic!("which frame does {other} send?"),
        };
        assert_eq!(signals.octets, wanted, "{}", scheme.name);
        compared += 1;
    }
    assert_eq!(compared, 22);
}

#[test]
fn pause_frames_and_headers() {
    assert_eq!(penstock_sim::pfc::FRAME, octets("pfc", &[("priority_enable", "8"), ("time_3", "65535")]));
    assert_eq!(HEADER, octets("tcp", &[("ack", "1")]));
}

/// A transport whose full segments have `segment` octets of data, with defaults otherwise.
fn transport(name: &str, segment: u64) -> Transport {
    let info = TRANSPORTS.iter().find(|info| info.name == name).unwrap();
    let mut values: Vec<Value> = info.parameters.iter().map(|parameter| parameter.default).collect();
    values[0] = Value::Octets(Octets(segment));
    info.make(&values).unwrap()
}

fn hex(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

/// Octets of a frame around a segment of TCP with these options and so much data.
fn tcp_octets(options: &[u8], data: usize) -> u16 {
    let words = ((tcp::Repr::OCTETS + options.len()) / 4).to_string();
    let behind = hex(options) + &"00".repeat(data);
    octets("tcp", &[("ack", "1"), ("data_offset", &words), ("payload", &behind)])
}

/// No operation twice, then a selective acknowledgement of `blocks` blocks, as hosts align it; nothing without a block.
fn selective(blocks: usize) -> Vec<u8> {
    let nothing = tcp::option_kind::NO_OPERATION;
    let mut options = vec![nothing, nothing, tcp::option_kind::SACK, (2 + 8 * blocks) as u8];
    options.resize(4 + 8 * blocks, 0);
    if blocks == 0 { Vec::new() } else { options }
}

/// Octets of a RoCEv2 frame with `data` octets between base transport header and invariant CRC.
fn roce_octets(opcode: u8, data: usize) -> u16 {
    let header = roce::Repr { opcode, becn: false, ..roce::Repr::cnp(1) };
    let mut datagram = vec![0; roce::Repr::OCTETS + data + roce::ICRC];
    header.emit(&mut datagram).unwrap();
    let port = udp::ROCE.to_string();
    let frame = |datagram: &[u8]| {
        let payload = hex(datagram);
        [("udp.destination_port", port.as_str()), ("udp.checksum", "0"), ("payload", &payload)]
            .map(|(k, v)| (k, v.to_owned()))
    };
    let pairs = frame(&datagram);
    let whole = encode("udp", &pairs.each_ref().map(|(k, v)| (*k, v.as_str()))).unwrap();
    let end = whole.len() - roce::ICRC;
    let icrc = roce::icrc(ethernet::ether_type::IPV4, &whole[ethernet::Repr::OCTETS..end]).unwrap();
    let at = datagram.len() - roce::ICRC;
    datagram[at..].copy_from_slice(&icrc);
    let pairs = frame(&datagram);
    octets("udp", &pairs.each_ref().map(|(k, v)| (*k, v.as_str())))
}

/// Opcodes of the reliable connection's "SEND last" and "acknowledge". (InfiniBand, table 38)
const SEND_LAST: u8 = 0x02;
const ACKNOWLEDGE: u8 = 0x11;

#[test]
fn frames_of_transports() {
    let mut compared = 0;
    for info in TRANSPORTS {
        for data in [64, 536, 1024, 1460, 4096, 8960] {
            let transport = transport(info.name, data);
            let wanted = match info.name {
                "tcp" => tcp_octets(&[], data as usize),
                "go-back-n" | "selective" => roce_octets(SEND_LAST, data as usize),
                // An ICMP message, whose octets its authors do not state: there is no format of it here.
                "rocc" => continue,
                other => panic!("which frame does {other} send?"),
            };
            assert_eq!(penstock_sim::longest_frame(&transport), Octets(wanted.into()), "{} {data}", info.name);
            assert_eq!(transport.sender(0).header_octets(), transport.header_octets());
            compared += 1;
        }
    }
    assert_eq!(compared, 3 * 6);
}

#[test]
fn acknowledgements_of_transports() {
    let mut compared = 0;
    for info in TRANSPORTS {
        for blocks in 0..=SackBlocks::MOST {
            let mut ack = Ack { ack: 0, window: 0, sack: SackBlocks::NONE, ece: false, nak: false, cut: None };
            (0..blocks as u32).for_each(|i| ack.sack.push(2000 * i + 1000, 2000 * i + 2000));
            let counted = transport(info.name, 1024).receiver(0).ack_octets(&ack);
            let wanted = match info.name {
                "tcp" => tcp_octets(&selective(blocks), 0),
                // With the acknowledgement extended header, whose four octets say what is acknowledged.
                _ => roce_octets(ACKNOWLEDGE, 4),
            };
            // Below 64 octets, frames are padded.
            let around = ethernet::Repr::OCTETS as u32 + 4;
            assert_eq!((counted + around).max(64), wanted.into(), "{} {blocks}", info.name);
            if info.name == "tcp" {
                let headers = ipv4::Repr::OCTETS + tcp::Repr::OCTETS + selective(blocks).len();
                assert_eq!(counted as usize, headers, "{blocks} blocks");
            }
            compared += 1;
        }
    }
    assert_eq!(compared, 3 * 5);
}
