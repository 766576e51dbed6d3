//! Frames whose octets were computed by hand, field by field; then the same frames with faults.

use crate::common::golden;
use penstock_wire::capture::{frames, pcapng};
use penstock_wire::layers::{Layer, Types, layers};
use penstock_wire::{
    Error, FORMATS, Format, MacAddress, Show, checksum, cn_tag, cnm, ethernet, experimental, ipv4, lldp, mac_control,
    roce, smcc, tcp,
};

fn find(name: &str) -> Vec<u8> {
    golden().into_iter().find(|frame| frame.name == name).expect("it is in the file").octets
}

fn read(octets: &[u8]) -> Vec<Layer<'_>> {
    layers(octets, Types::default()).collect()
}

#[test]
fn every_field_of_every_frame_has_its_value() {
    let mut seen = Vec::new();
    for frame in golden() {
        let mut found = Vec::new();
        for layer in layers(&frame.octets, Types::default()) {
            assert_eq!(layer.fault, None, "{}", frame.name);
            let name = format!("{}{}", if layer.encapsulated { "inner." } else { "" }, layer.name());
            if layer.format.is_none() {
                let octets: Vec<String> = layer.octets.iter().map(|octet| format!("{octet:02X}")).collect();
                found.push((name, octets.join(" ")));
                continue;
            }
            seen.push(layer.name());
            found.extend(layer.fields().map(|(field, value)| (format!("{name}.{}", field.name), value.to_string())));
        }
        assert_eq!(found, frame.values, "{}", frame.name);
    }
    // No source but this crate has the octets of Penstock's own layouts.
    for format in FORMATS.iter().filter(|format| !format.source.starts_with("Penstock's own")) {
        assert!(seen.contains(&format.name), "no golden frame has {}", format.name);
    }
}

#[test]
fn values_of_a_notification_are_typed() {
    let frame = find("cnm");
    let packet = cnm::Packet::new_checked(&frame[22..]).unwrap();
    let message = cnm::Repr::parse(&packet).unwrap();
    let wanted = cnm::Repr {
        quantized_feedback: 25,
        cp_id: 0x0200_0000_00aa_0001,
        q_offset: cnm::Repr::units(26_000 - 52_000),
        q_delta: cnm::Repr::units(52_000 - 39_000),
        encapsulated_priority: 3,
        encapsulated_destination: MacAddress([2, 0, 0, 0, 0, 2]),
        encapsulated_msdu_length: 0,
    };
    assert_eq!(message, wanted);
    let mut octets = [0xff; 24];
    assert_eq!(wanted.emit(&mut octets), Ok(24));
    assert_eq!(octets, frame[22..46]);
    let tag = cn_tag::Repr { flow_identifier: 5, ether_type: ethernet::ether_type::CNM };
    let mut octets = [0xff; 4];
    tag.emit(&mut octets).unwrap();
    assert_eq!(octets, frame[18..22]);

    let encapsulated = find("cnm-msdu");
    let packet = cnm::Packet::new_checked(&encapsulated[14..]).unwrap();
    assert_eq!(packet.encapsulated_msdu(), &encapsulated[38..]);
    assert_eq!(cnm::Repr::parse(&packet).unwrap().octets(), 66);
}

#[test]
fn offset_and_growth_are_held_within_their_fields() {
    let cases = [(-63, 0), (-64, -1), (63, 0), (2_097_151, 32_767), (2_097_152, 32_767), (i64::MIN, -32_768)];
    for (octets, units) in cases {
        assert_eq!(cnm::Repr::units(octets), units);
    }
}

#[test]
fn a_notification_with_a_fault_is_refused_and_says_why() {
    let frame = find("cnm");
    let whole = &frame[22..46];
    let with = |at: usize, octet: u8| {
        let mut octets = whole.to_vec();
        octets[at] = octet;
        octets
    };
    let fault = |octets: &[u8]| {
        cnm::Packet::new_checked(octets).and_then(|packet| cnm::Repr::parse(&packet)).unwrap_err().to_string()
    };
    assert_eq!(fault(&[]), "cnm: Version at octet 0 is cut off: 0 of 1 octets are there");
    assert_eq!(
        fault(&whole[..20]),
        "cnm: Encapsulated destination MAC address at octet 16 is cut off: 4 of 6 octets are there"
    );
    assert_eq!(fault(&with(0, 0x10)), "cnm: Version at octet 0 is 1, and should be 0");
    assert_eq!(fault(&with(23, 65)), "cnm: Encapsulated MSDU length at octet 22 is 65, and should be 0 to 64");
    assert_eq!(fault(&with(23, 64)), "cnm: Encapsulated MSDU at octet 24 is cut off: 0 of 64 octets are there");

    let mut message = cnm::Repr::parse(&cnm::Packet::new_checked(whole).unwrap()).unwrap();
    assert_eq!(message.emit(&mut [0; 23]), Err(Error::NoRoom { format: "cnm", needs: 24, has: 23 }));
    message.quantized_feedback = 64;
    let fault = message.emit(&mut [0; 24]).unwrap_err();
    assert_eq!(fault.to_string(), "cnm: Quantized Feedback has 6 bits, and the value needs more");
}

#[test]
fn unusual_fields_are_noted() {
    let mut frame = find("cnm");
    let notes = |frame: &[u8]| -> Vec<String> {
        read(frame).iter().flat_map(|layer| layer.notes().map(|note| note.to_string()).collect::<Vec<_>>()).collect()
    };
    assert_eq!(notes(&frame), Vec::<String>::new());
    frame[22] |= 0x01;
    frame[23] = 0;
    frame[37] |= 1;
    let wanted = [
        "ReservedV is reserved, and not 0",
        "Encapsulated priority, reserved bits is reserved, and not 0",
        "Quantized Feedback is 0: such a notification changes no rate",
    ];
    assert_eq!(notes(&frame), wanted);
}

#[test]
fn pause_frames_say_which_priorities_stop() {
    let frame = find("pfc");
    let packet = mac_control::pfc::Packet::new_checked(&frame[14..]).unwrap();
    let times = [Some(0), None, None, Some(0xffff), None, None, None, None];
    assert_eq!(mac_control::pfc::Repr::parse(&packet).unwrap().times(), times);
    let mut octets = [0; 20];
    mac_control::pfc::Repr::new(times).emit(&mut octets).unwrap();
    assert_eq!(octets, frame[14..34]);
    let wrong = mac_control::pause::Packet::new_checked(&frame[14..]).unwrap();
    let fault = mac_control::pause::Repr::parse(&wrong).unwrap_err().to_string();
    assert_eq!(fault, "pause: MAC control opcode at octet 0 is 257, and should be 1");
}

#[test]
fn tlvs_are_made_and_refused() {
    let frame = find("lldp");
    let mut octets = [0; 8];
    lldp::cn::Repr::new(0x18, 0x08).emit(&mut octets).unwrap();
    assert_eq!(octets, frame[31..39]);
    lldp::pfc::Repr::new(false, false, 8, 0x08).emit(&mut octets).unwrap();
    assert_eq!(octets, frame[39..47]);
    let fault = |result: Result<usize, Error>| result.unwrap_err().to_string();
    assert_eq!(
        fault(lldp::cn::Repr::new(0x08, 0x18).emit(&mut octets)),
        "lldp_cn: Per-priority Ready indicators at octet 7 is 24, and should be a subset of the CNPV indicators"
    );
    assert_eq!(
        fault(lldp::pfc::Repr::new(false, false, 9, 0).emit(&mut octets)),
        "lldp_pfc: PFC cap at octet 6 is 9, and should be 0 to 8"
    );
    // The class with ETS has 99 percent.
    let mut ets = frame[47..74].to_vec();
    ets[14] = 99;
    let packet = lldp::ets_configuration::Packet::new_checked(&ets).unwrap();
    let fault = lldp::ets_configuration::Repr::parse(&packet).unwrap_err().to_string();
    assert!(fault.ends_with("should be shares of the ETS classes that add up to 100"), "{fault}");
    // A list that does not end, and a TLV that is longer than the frame.
    let names = |frame: &[u8]| -> Vec<(&str, bool)> {
        read(frame).iter().map(|layer| (layer.name(), layer.fault.is_some())).collect()
    };
    assert_eq!(names(&frame[..31])[3..], [("lldp_ttl", false), ("lldp", true)]);
    assert_eq!(names(&frame[..37])[3..], [("lldp_ttl", false), ("lldp_cn", true)]);
}

#[test]
fn messages_outside_of_standards_keep_what_a_scheme_says() {
    let probe = experimental::rate_probe::Repr {
        returned: true,
        rlq_id: 7,
        round: 258,
        rate: 2_500_000_000,
        cp_id: 0x0200_0000_00aa_000b,
    };
    let mut octets = [0; 24];
    probe.emit(&mut octets).unwrap();
    assert_eq!(octets, find("fecn")[14..38]);
    let message = smcc::Repr {
        cp_id: 0x0200_0000_00aa_002b,
        encapsulated_priority: 3,
        encapsulated_destination: MacAddress([2, 0, 0, 0, 0, 2]),
        q_off: 52_000 - 64_000,
        q_delta: 3_000,
    };
    let mut octets = [0; 32];
    message.emit(&mut octets).unwrap();
    assert_eq!(octets, find("smcc")[18..50]);
    let wrong = experimental::bcn::Packet::new_checked(&find("fecn")[14..]).map(|p| experimental::bcn::Repr::parse(&p));
    assert_eq!(wrong.unwrap().unwrap_err().to_string(), "bcn: subtype at octet 0 is 1, and should be 2");
}

#[test]
fn an_isolation_message_may_have_another_ether_type() {
    let mut frame = find("cim");
    frame[12..14].copy_from_slice(&[0x12, 0x34]);
    let names = |types| layers(&frame, types).map(|layer| layer.name()).collect::<Vec<_>>();
    assert_eq!(names(Types::default()), ["eth", "data"]);
    let types = Types { cim: Some(0x1234), ..Types::default() };
    assert_eq!(names(types), ["eth", "cim", "data", "padding"]);
}

#[test]
fn checksums_are_judged() {
    for (name, at, format) in [("cnp", 24, "ipv4"), ("data", 45, "udp"), ("tcp", 51, "tcp"), ("cnp", 73, "bth")] {
        let mut frame = find(name);
        frame[at] ^= 1;
        let faults: Vec<Error> = read(&frame).iter().filter_map(|layer| layer.fault).collect();
        assert!(matches!(faults[..], [Error::Checksum { .. }]), "{name}: {faults:?}");
        assert_eq!(faults[0].format(), format);
    }
    // The invariant CRC does not cover the fields that a router may change.
    let mut frame = find("cnp");
    let header = frame[14..34].to_vec();
    frame[15] = 0;
    frame[22] -= 1;
    let sum = ipv4::checksum(&frame[14..]);
    frame[24..26].copy_from_slice(&sum.to_be_bytes());
    assert_ne!(header, frame[14..34]);
    assert!(read(&frame).iter().all(|layer| layer.fault.is_none()));
    assert_eq!(roce::icrc(ethernet::ether_type::IPV4, &frame[14..40]), None);
    assert_eq!(roce::icrc(ethernet::ether_type::CNM, &frame[14..70]), None);
}

#[test]
fn selective_acknowledgements_have_all_their_blocks() {
    let octets = [5, 18, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4];
    let packet = tcp::sack::Packet::new_checked(octets).unwrap();
    assert_eq!(packet.blocks().collect::<Vec<_>>(), [(1, 2), (3, 4)]);
    let fault = tcp::sack::Packet::new_checked([5, 11, 0, 0, 0, 1, 0, 0, 0, 2, 0]).unwrap_err().to_string();
    assert_eq!(fault, "tcp_sack: Length at octet 1 is 11, and should be 10, 18, 26 or 34");
}

#[test]
fn a_frame_has_its_check_sequence() {
    // The remainder of any frame with its sequence (IEEE 802.3, clause 3.2.9): C704DD7B, its bits in the other order here.
    for frame in golden() {
        let sequence = checksum::fcs(&frame.octets);
        let all = checksum::Crc32::default().with(&frame.octets).with(&sequence);
        assert_eq!(!all.value(), 0xc704_dd7bu32.reverse_bits());
    }
}

#[test]
fn names_and_offsets_of_fields_are_sound() {
    for format in FORMATS {
        let mut used = vec![false; format.octets * 8];
        for field in format.fields {
            assert!(field.end() <= format.octets && field.bits > 0, "{}.{}", format.name, field.name);
            for bit in &mut used[field.first..field.first + field.bits] {
                assert!(!std::mem::replace(bit, true), "{}.{} overlaps", format.name, field.name);
            }
            assert!(!field.meaning.trim().is_empty() && field.meaning.ends_with('.'), "{}", field.meaning);
            assert_eq!(field.reserved, field.name.starts_with("reserved") || field.name == "unused", "{}", field.name);
            if field.show == Show::Signed {
                assert!([16, 32, 64].contains(&field.bits));
            }
        }
        assert!(used.iter().all(|&used| used), "{} has bits without a name", format.name);
    }
    for format in FORMATS {
        let Some(message) = format.message else { continue };
        let is_field = |name: &str| assert!(format.field(name).is_some(), "{} has no field {name}", format.name);
        message.sampled.iter().for_each(|sampled| is_field(sampled.length));
        message.strength.iter().for_each(|strength| is_field(strength.field));
        message.strength.iter().filter_map(|strength| strength.unless).for_each(|(name, _)| is_field(name));
        let same = |other: &&&Format| {
            let subtype = |format: &Format| format.field("subtype").map(|field| field.usual);
            let its = other.message.map(|message| message.ether_type);
            its == Some(message.ether_type) && subtype(other) == subtype(format)
        };
        assert_eq!(FORMATS.iter().filter(same).count(), 1, "another format has the subtype of {}", format.name);
    }
    // Wireshark takes no two protocols with the same title.
    for name in [|format: &Format| format.name, |format: &Format| format.title] {
        let names: std::collections::BTreeSet<&str> = FORMATS.iter().map(|format| name(format)).collect();
        assert_eq!(names.len(), FORMATS.len());
    }
}

#[test]
fn golden_frames_go_through_a_capture() {
    let mut file = Vec::new();
    pcapng::section(&mut file, "test", None);
    pcapng::interface(&mut file, "a", None, None);
    for frame in golden() {
        pcapng::packet(&mut file, 0, 5, &frame.octets, Some(&frame.name));
    }
    let read: Vec<_> = frames(&file).unwrap().map(Result::unwrap).collect();
    assert_eq!(read.len(), golden().len());
    for (read, frame) in read.iter().zip(golden()) {
        assert_eq!((read.octets, read.comment), (&frame.octets[..], Some(&*frame.name)));
    }
}

#[test]
fn a_fast_cnp_is_read_behind_its_options_alone() {
    let frame = find("fast_cnp");
    let names = |frame: &[u8]| read(frame).iter().map(Layer::name).collect::<Vec<_>>();
    assert_eq!(names(&frame), ["eth", "ipv6", "fast_cnp", "udp", "bth", "cnp_reserved", "icrc"]);
    // The address of the option is covered by the invariant CRC and not by UDP's checksum; the queue pair by both.
    for (at, faulty) in [(73, vec!["bth"]), (93, vec!["udp", "bth"])] {
        let mut changed = frame.clone();
        changed[at] ^= 1;
        let faults: Vec<_> =
            read(&changed).iter().filter_map(|layer| layer.fault).map(|fault| fault.format()).collect();
        assert_eq!(faults, faulty, "octet {at}");
    }
    // A router lowers the hop limit and sets another class.
    let mut routed = frame.clone();
    (routed[14], routed[21]) = (0x60, 60);
    assert!(read(&routed).iter().all(|layer| layer.fault.is_none()));
    // Another option is not followed, and a wrong pad is a fault.
    let mut other = frame.clone();
    other[56] = 0x3e;
    assert_eq!(names(&other), ["eth", "ipv6", "data"]);
    let mut padded = frame;
    padded[75] = 3;
    let fault = read(&padded).iter().find_map(|layer| layer.fault).unwrap().to_string();
    assert_eq!(fault, "fast_cnp: PadN Opt Data Len at octet 75 is 3, and should be 2");
}
