//! The cores' layouts of messages (`rtl/common/rtl/cn_frame_pkg.sv`) are those of the formats here: each is read from its own
//! source.

use penstock_wire::ethernet::ether_type;
use penstock_wire::{Format, cnm, smcc};

const PACKAGE: &str = include_str!("../../../../rtl/common/rtl/cn_frame_pkg.sv");

/// Names and bits of the fields of a packed structure, the highest first, which go over the line first.
fn structure(name: &str) -> Vec<(&'static str, usize)> {
    let (before, _) = PACKAGE.split_once(&format!("}} {name};")).expect("the structure is there");
    let (_, body) = before.rsplit_once("typedef struct packed {").expect("it begins");
    let fields = body.lines().map(str::trim).filter(|line| !line.is_empty());
    fields
        .map(|line| {
            let (bits, name) = line.strip_prefix("logic [").and_then(|line| line.split_once("] ")).expect("a field");
            let highest: usize = bits.strip_suffix(":0").expect("down to 0").parse().expect("a number");
            (name.trim().trim_end_matches(';'), highest + 1)
        })
        .collect()
}

/// The same of a format; a priority and the bits beside it are one field there.
fn fields(format: &Format) -> Vec<(&'static str, usize)> {
    let mut fields: Vec<_> = format.fields.iter().collect();
    fields.sort_by_key(|field| field.first);
    let mut found: Vec<(&str, usize)> = Vec::new();
    for field in fields {
        match (field.name, found.last_mut()) {
            ("reserved_priority", Some((_, bits))) => *bits += field.bits,
            (name, _) => found.push((name, field.bits)),
        }
    }
    found
}

/// Their names for the same fields.
const NAMES: &[(&str, &str)] = &[
    ("reserved_v", "reserved"),
    ("quantized_feedback", "fb"),
    ("encapsulated_priority", "priority_field"),
    ("encapsulated_destination", "destination"),
    ("encapsulated_msdu_length", "msdu_octets"),
];

#[test]
fn messages_have_one_layout() {
    for (format, name) in [(&cnm::FORMAT, "cnm_pdu_t"), (&smcc::FORMAT, "smcc_pdu_t")] {
        let ours: Vec<_> = fields(format)
            .into_iter()
            .map(|(name, bits)| (NAMES.iter().find(|known| known.0 == name).map_or(name, |known| known.1), bits))
            .collect();
        assert_eq!(structure(name), ours);
    }
}

#[test]
fn ether_types_are_the_same() {
    for (name, number) in [
        ("CnTag", ether_type::CN_TAG),
        ("Cnm", ether_type::CNM),
        ("Vlan", ether_type::VLAN),
        ("MacControl", ether_type::MAC_CONTROL),
        ("Ipv4", ether_type::IPV4),
        ("Smcc", ether_type::SMCC),
    ] {
        let line = format!("localparam logic [15:0] EtherType{name} = 16'h{number:04x};");
        assert!(PACKAGE.contains(&line), "{line}");
    }
}
