//! The simulator's control frames are as long as the frames that are written here, tags and check sequence included.

use penstock_schemes::{HEADER, SCHEMES};
use penstock_wire::checksum::fcs;
use penstock_wire::encode::encode;
use penstock_wire::layers::{Types, layers};

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
    // A routed packet, whose class is in its IP header.
    let cnp = octets("cnp", &[]);
    assert_eq!(e2cm, bcn, "E2CM's probes are as long as its messages");
    let mut compared = 0;
    for scheme in SCHEMES {
        let Some(signals) = scheme.signals else { continue };
        let wanted = match scheme.name {
            "qcn" | "qcn-adaptive" | "qcn-bs" | "qcn-bs-adaptive" | "qcn-multicast" | "af-qcn" | "fqcn" => cnm,
            "smcc" => smcc,
            "bcn" | "e2cm" => bcn,
            "fecn" | "efecn" => fecn,
            "dcqcn" => cnp,
            other => panic!("which frame does {other} send?"),
        };
        assert_eq!(signals.octets, wanted, "{}", scheme.name);
        compared += 1;
    }
    assert_eq!(compared, 13);
}

#[test]
fn pause_frames_and_headers() {
    assert_eq!(penstock_sim::pfc::FRAME, octets("pfc", &[("priority_enable", "8"), ("time_3", "65535")]));
    assert_eq!(HEADER, octets("tcp", &[("ack", "1")]));
}
