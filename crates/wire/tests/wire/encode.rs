//! Frames from texts: golden ones are made again, and texts that are none are refused with a hint.

use penstock_wire::encode::encode;
use penstock_wire::layers::{Types, layers};

fn golden(name: &str) -> Vec<u8> {
    crate::common::golden().into_iter().find(|frame| frame.name == name).expect("it is in the file").octets
}

/// A golden frame, the kind that it is made as, and values of its fields.
type Case<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)]);

#[test]
fn golden_frames_are_made_of_their_values() {
    // Derived fields, EtherTypes, lengths and checksums, are left to the encoder.
    let aa = ("source", "02:00:00:00:00:aa");
    let cases: &[Case<'_>] = &[
        (
            "cnm",
            "cnm",
            &[
                aa,
                ("pcp", "6"),
                ("vid", "100"),
                ("flow_identifier", "5"),
                ("quantized_feedback", "25"),
                ("cp_id", "0x0200000000aa0001"),
                ("q_offset", "-406"),
                ("q_delta", "203"),
                ("encapsulated_priority", "3"),
                ("encapsulated_destination", "02-00-00-00-00-02"),
            ],
        ),
        ("pfc", "pfc", &[aa, ("priority_enable", "9"), ("time_3", "65535")]),
        ("pause", "pause", &[aa, ("pause_time", "0xffff")]),
        (
            "lldp",
            "lldp",
            &[
                aa,
                ("cnpv", "0x18"),
                ("ready", "8"),
                ("pfc_cap", "8"),
                ("pfc_enable", "8"),
                ("willing", "1"),
                ("lldp_ets.priority_assignment", "0x01234567"),
                ("lldp_ets.tc_bandwidth", "0x6400000000"),
                ("lldp_ets.tsa_assignment", "0x0200000000"),
                ("lldp_ets_recommendation.priority_assignment", "0x01234567"),
                ("lldp_ets_recommendation.tc_bandwidth", "0x6400000000"),
                ("lldp_ets_recommendation.tsa_assignment", "0x0200000000"),
            ],
        ),
        (
            "smcc",
            "smcc",
            &[
                aa,
                ("flow_identifier", "5"),
                ("cp_id", "0x0200000000aa002b"),
                ("encapsulated_priority", "3"),
                ("encapsulated_destination", "02:00:00:00:00:02"),
                ("q_off", "-12000"),
                ("q_delta", "3000"),
            ],
        ),
        (
            "fecn",
            "fecn",
            &[
                ("returned", "1"),
                ("rlq_id", "7"),
                ("round", "258"),
                ("rate", "2500000000"),
                ("cp_id", "0x0200000000aa000b"),
            ],
        ),
        ("bcn", "bcn", &[aa, ("cp_id", "0x0200000000aa000b"), ("q_off", "-25"), ("q_delta", "2"), ("rlq_id", "7")]),
        (
            "e2cm",
            "e2cm",
            &[("returned", "1"), ("measured", "1"), ("rlq_id", "7"), ("sent_at", "1000000000"), ("q_off", "-12000")],
        ),
        ("rocc", "rocc", &[aa, ("rlq_id", "7"), ("rate", "1250000000"), ("cp_id", "0x0200000000aa000b")]),
        ("sfc", "sfc", &[aa, ("rlq_id", "7"), ("pause_time", "24000000"), ("cp_id", "0x0200000000aa000b")]),
        ("homa", "homa", &[aa, ("level", "5"), ("rlq_id", "7"), ("grant_offset", "3000"), ("granted", "1500")]),
        ("ndp_pull", "ndp_pull", &[aa, ("rlq_id", "7"), ("pull_number", "300"), ("frames", "2")]),
        ("expresspass", "expresspass", &[aa, ("rlq_id", "7"), ("credit_number", "300")]),
        (
            "cim",
            "cim",
            &[
                ("eth.destination", "02:00:00:00:00:bb"),
                ("eth.source", "02:00:00:00:00:aa"),
                ("destination", "02:00:00:00:00:02"),
                ("cim.source", "02:00:00:00:00:03"),
                ("priority", "5"),
                ("vlan_identifier", "200"),
                ("count", "1"),
                ("msdu", "ffff 0102 0304"),
            ],
        ),
        ("cnp", "cnp", &[("dest_qp", "17")]),
        (
            "mrc_sack",
            "mrc_sack",
            &[
                ("dest_qp", "17"),
                ("psn", "4"),
                ("mrc_sack.m", "1"),
                ("ack_psn_offset", "7"),
                ("entropy", "0xdeadbeef"),
                ("spdcid", "17"),
                ("dpdcid", "18"),
                ("cack_psn", "4"),
                ("mpr", "2"),
                ("sack_offset", "1"),
                ("sack_bitmap", "0x76"),
                ("cc_tx_timestamp", "48879"),
                ("ooo_count", "2"),
                ("rcv_cwnd_pen", "32"),
                ("rcvd_bytes", "256"),
            ],
        ),
        (
            "mrc_nack",
            "mrc_nack",
            &[
                ("dest_qp", "17"),
                ("psn", "11"),
                ("vendor_info", "0x77"),
                ("entropy", "0xcafef00d"),
                ("spdcid", "17"),
                ("dpdcid", "18"),
                ("nack_psn", "11"),
                ("cc_fl", "3"),
                ("tx_timestamp", "17185"),
            ],
        ),
        (
            "mrc_probe",
            "mrc_probe",
            &[
                ("dest_qp", "17"),
                ("vendor_info", "0x5a"),
                ("probe_id", "153"),
                ("spdcid", "17"),
                ("dpdcid", "18"),
                ("tx_timestamp", "4369"),
                ("tsr", "1"),
                ("ftype", "1"),
            ],
        ),
        (
            "mrc_endpoint_request",
            "mrc_endpoint_request",
            &[
                ("dest_qp", "2"),
                ("psn", "7"),
                ("vendor_info", "0x42"),
                ("port_status_mask", "7"),
                ("tx_timestamp", "8738"),
                ("ftype", "1"),
            ],
        ),
        (
            "mrc_endpoint_response",
            "mrc_endpoint_response",
            &[("dest_qp", "2"), ("psn", "7"), ("op", "1"), ("tx_timestamp", "13107")],
        ),
        (
            "fast_cnp",
            "fast_cnp",
            &[
                ("eth.source", "02:00:00:00:00:aa"),
                ("ipv6.source", "fd00::aa"),
                ("original_destination", "fd00::2"),
                ("dest_qp", "17"),
            ],
        ),
        (
            "udp6",
            "udp6",
            &[
                ("source_port", "4660"),
                ("destination_port", "9"),
                ("dscp", "46"),
                ("flow_label", "74565"),
                ("payload", "21"),
            ],
        ),
    ];
    for (name, kind, pairs) in cases {
        let made = encode(kind, pairs).unwrap();
        assert_eq!(made[..golden(name).len()], golden(name), "{name}");
    }
}

#[test]
fn frames_can_be_made_wrong() {
    let frame = encode("cnm", &[("encapsulated_msdu_length", "65"), ("msdu", "00")]).unwrap();
    let fault = layers(&frame, Types::default()).find_map(|layer| layer.fault).unwrap();
    assert_eq!(fault.to_string(), "cnm: Encapsulated MSDU length at octet 36 is 65, and should be 0 to 64");
    let frame = encode("udp", &[("checksum", "1")]).unwrap();
    let fault = layers(&frame, Types::default()).find_map(|layer| layer.fault).unwrap();
    assert!(fault.to_string().starts_with("udp: the checksum at octet 40 is 0x0001, and should be 0x"), "{fault}");
}

#[test]
fn texts_that_are_no_frame_are_refused_with_a_hint() {
    let refusal = |kind: &str, pairs: &[(&str, &str)]| encode(kind, pairs).unwrap_err().to_string();
    assert!(refusal("cmn", &[]).starts_with("no kind of frame is called 'cmn'; there are data, pause, pfc"));
    assert!(refusal("cnm", &[("fb", "1")]).starts_with("the frame has no field 'fb'; it has eth.destination, "));
    assert!(refusal("cnm", &[("cnp.opcode", "1")]).contains("cnm.quantized_feedback"));
    assert_eq!(
        refusal("cnm", &[("vid", "1"), ("vlan.vid", "1")]),
        "'vlan.vid' has a value already: leave one of them out"
    );
    assert_eq!(refusal("cnm", &[("msdu", "1"),]), "msdu cannot be '1': it takes hexadecimal digits, two an octet");
    assert_eq!(refusal("cnm", &[("msdu", "00"), ("msdu", "00")]), "'msdu' has a value already: leave one of them out");
    for wrong in ["64", "-1", "+1", "", "x", "1.0", "0x", "0x+1", "0x40"] {
        assert_eq!(
            refusal("cnm", &[("quantized_feedback", wrong)]),
            format!(
                "quantized_feedback cannot be '{wrong}': it takes a whole number from 0 to 63, or hexadecimal behind 0x"
            )
        );
    }
    for wrong in ["32768", "-32769", "+1", "0x1", ""] {
        assert_eq!(
            refusal("cnm", &[("q_offset", wrong)]),
            format!("q_offset cannot be '{wrong}': it takes a whole number from -32768 to 32767")
        );
    }
    for wrong in
        ["02:00:00:00:00", "02:00:00:00:00:01:02", "02:00:00:00:00:g1", "020000000001", "02:00:00:00:00:+1", ""]
    {
        assert_eq!(
            refusal("cnm", &[("source", wrong)]),
            format!("source cannot be '{wrong}': it takes a MAC address such as 02:00:00:00:00:01")
        );
    }
    assert!(refusal("udp", &[("ipv4.source", "10.0.0")]).ends_with("it takes an IPv4 address such as 10.0.0.1"));
    assert!(refusal("udp6", &[("ipv6.source", "10.0.0.1")]).ends_with("it takes an IPv6 address such as fd00::1"));
    let long = "00".repeat(70_000);
    assert_eq!(refusal("udp", &[("payload", &long)]), "the frame would have 70042 octets; it can have 65535");
}
