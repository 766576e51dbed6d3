//! Frames of which a capture has the first octets; tags of providers; LLDP's TLVs by content; and how long pauses last. All
//! octets, counts and times by hand.

use crate::common::{captured, golden};
use penstock_wire::encode::encode;
use penstock_wire::layers::{Layer, Types, layers, layers_of_captured};
use penstock_wire::mac_control::pfc;
use penstock_wire::stats::{Pauser, Roce, Stats};
use penstock_wire::{MacAddress, ethernet, ipv4, roce, udp};

fn find(name: &str) -> Vec<u8> {
    golden().into_iter().find(|frame| frame.name == name).expect("it is in the file").octets
}

fn cut(frame: &[u8], at: usize) -> Vec<Layer<'_>> {
    layers_of_captured(&frame[..at], frame.len(), Types::default()).collect()
}

/// A RoCEv2 packet of 1024 octets of data behind an extended header of 4: 14 + 20 + 8 + 12 + 1028 + 4 = 1086 octets.
fn packet(ecn: u8, opcode: u8) -> Vec<u8> {
    let mut frame = vec![0; 1086];
    let head = ethernet::Repr {
        destination: MacAddress([2, 0, 0, 0, 0, 2]),
        source: MacAddress([2, 0, 0, 0, 0, 1]),
        ether_type: ethernet::ether_type::IPV4,
    };
    head.emit(&mut frame).unwrap();
    let mut ip = ipv4::Repr::new([10, 0, 0, 1], [10, 0, 0, 2], ipv4::protocol::UDP, 1052);
    ip.ecn = ecn;
    ip.with_checksum().emit(&mut frame[14..]).unwrap();
    let datagram = udp::Repr { source_port: 49_152, destination_port: udp::ROCE, length: 1052, checksum: 0 };
    datagram.emit(&mut frame[34..]).unwrap();
    roce::Repr { opcode, becn: false, ..roce::Repr::cnp(17) }.emit(&mut frame[42..]).unwrap();
    let icrc = roce::icrc(ethernet::ether_type::IPV4, &frame[14..1082]).unwrap();
    frame[1082..].copy_from_slice(&icrc);
    frame
}

#[test]
fn of_a_roce_frame_cut_at_96_all_headers_are_read() {
    let frame = packet(3, 7);
    assert!(layers(&frame, Types::default()).all(|layer| layer.fault.is_none() && layer.missing == 0));
    let read = cut(&frame, 96);
    let short: Vec<_> = read.iter().map(|l| (l.name(), l.offset, l.octets.len(), l.missing, l.unchecked)).collect();
    let wanted = [
        ("eth", 0, 14, 0, None),
        ("ipv4", 14, 20, 0, None),
        ("udp", 34, 8, 0, None),
        ("bth", 42, 12, 0, None),
        ("data", 54, 42, 986, None),
        ("icrc", 1082, 0, 4, Some("ICRC")),
    ];
    assert_eq!(short, wanted);
    assert!(read.iter().all(|layer| layer.fault.is_none()));
    assert_eq!(read[3].value("dest_qp"), Some(17));
    // A checksum over all of UDP cannot be checked, one that is 0 is none.
    let mut summed = frame.clone();
    summed[40..42].copy_from_slice(&[0x12, 0x34]);
    assert_eq!(cut(&summed, 96)[2].unchecked, Some("checksum"));
    // A fault in the octets that are there stays one.
    let mut wrong = frame.clone();
    wrong[22] = 1;
    assert!(cut(&wrong, 96)[1].fault.unwrap().to_string().starts_with("ipv4: the checksum at octet 24"));
    // A datagram longer than the frame on the line is a fault, however much of it was captured.
    let mut long = frame.clone();
    long[16..18].copy_from_slice(&1073u16.to_be_bytes());
    let sum = ipv4::checksum(&long[14..34]).to_be_bytes();
    long[24..26].copy_from_slice(&sum);
    let fault = cut(&long, 96)[1].fault.unwrap().to_string();
    assert_eq!(fault, "ipv4: datagram at octet 14 is cut off: 1072 of 1073 octets are there");
}

#[test]
fn at_any_cut_no_frame_of_anyones_has_a_fault() {
    for frame in golden().into_iter().filter(|frame| !frame.octets.is_empty()) {
        let octets = frame.octets;
        for at in 0..=octets.len() {
            let mut end = 0;
            for layer in cut(&octets, at) {
                assert_eq!(layer.fault, None, "{} at {at}: {}", frame.name, layer.name());
                end = end.max(layer.offset + layer.octets.len() + layer.missing);
                for (field, _) in layer.fields() {
                    assert!(layer.offset + field.end() <= at, "{} at {at}", frame.name);
                }
            }
            assert!(end <= octets.len());
        }
    }
}

#[test]
fn a_pfc_frame_cut_at_30_has_the_times_that_are_there() {
    // Priorities 3 and 7; time(7) is at octets 32 and 33.
    let mut frame = vec![1, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, 0, 0xaa, 0x88, 0x08];
    let mut body = [0; 46];
    let times = [None, None, None, Some(65_535), None, None, None, Some(9)];
    pfc::Repr::new(times).emit(&mut body).unwrap();
    frame.extend(body);
    let read = cut(&frame, 30);
    let short: Vec<_> = read.iter().map(|l| (l.name(), l.octets.len(), l.missing, l.fault)).collect();
    assert_eq!(short, [("eth", 14, 0, None), ("pfc", 16, 4, None)]);
    assert_eq!(read[1].unchecked, Some("the fields that were not captured"));
    assert_eq!(
        (read[1].value("time_3"), read[1].value("time_5"), read[1].value("time_6")),
        (Some(65_535), Some(0), None)
    );
    let mut stats = Stats::default();
    stats.add(&captured(0, 5, &frame[..30], 60), Some(10_000_000_000), Types::default());
    assert_eq!((stats.frames, stats.cut, stats.faulty), (1, 1, 0));
    let priorities: Vec<_> = stats.paused.iter().map(|(pauser, paused)| (pauser.priority, paused.stops)).collect();
    // That of priority 7 may be a stop or a resume: it is counted as neither.
    assert_eq!(priorities, [(Some(3), 1)]);
}

#[test]
fn notifications_behind_any_nesting_of_tags_are_counted() {
    let cnp = find("cnp");
    assert_eq!(cnp[12..14], [0x08, 0x00], "it has no tag");
    let tagged = |tags: &[u16]| {
        let mut frame = cnp[..12].to_vec();
        for (place, kind) in (1..).zip(tags) {
            frame.extend(kind.to_be_bytes());
            frame.extend([0x60, place]);
        }
        frame.extend(&cnp[12..]);
        frame
    };
    let nestings: [&[u16]; 7] =
        [&[], &[0x8100], &[0x88a8], &[0x88a8, 0x8100], &[0x8100, 0x8100], &[0x9100, 0x8100], &[0x9100, 0x9100, 0x8100]];
    let mut stats = Stats::default();
    for (number, tags) in nestings.iter().enumerate() {
        let frame = tagged(tags);
        let read: Vec<_> = layers(&frame, Types::default()).collect();
        let vids: Vec<_> = read.iter().filter_map(|layer| layer.value("vid")).collect();
        assert_eq!(vids, (1..=tags.len() as u128).collect::<Vec<_>>());
        assert!(read.iter().all(|layer| layer.fault.is_none()));
        stats.add(&captured(0, number as u64, &frame, frame.len()), None, Types::default());
    }
    let [(way, found)] = stats.notified.iter().collect::<Vec<_>>()[..] else { panic!("one path") };
    assert_eq!((way.format, found.frames), ("cnp", 7));
    assert_eq!(stats.roce[&0], Roce { cnps: 7, ..Roce::default() });
}

/// Three acknowledgements of MRC, of which one says that its path is to be skipped, a refusal and two probes; a write of MRC is data.
#[test]
fn headers_of_mrc_are_counted_by_queue_pair() {
    let mut stats = Stats::default();
    let kinds: [(&str, &[(&str, &str)]); 6] = [
        ("mrc_sack", &[]),
        ("mrc_sack", &[("mrc_sack.m", "1")]),
        ("mrc_sack", &[]),
        ("mrc_nack", &[]),
        ("mrc_probe", &[]),
        ("mrc_probe", &[]),
    ];
    for (kind, values) in kinds {
        let frame = encode(kind, values).unwrap();
        stats.add(&captured(0, 0, &frame, frame.len()), None, Types::default());
    }
    let write = packet(0, 0xc7);
    stats.add(&captured(0, 0, &write, write.len()), None, Types::default());
    let counted = Roce { data: 1, sacks: 3, skips: 1, nacks: 1, probes: 2, ..Roce::default() };
    assert_eq!((stats.roce[&0], stats.faulty), (counted, 0));
}

#[test]
fn marks_are_counted_on_data_alone() {
    let mut stats = Stats::default();
    let mut add = |interface, ecn, opcode| {
        let frame = packet(ecn, opcode);
        stats.add(&captured(interface, 0, &frame[..96], frame.len()), None, Types::default());
    };
    // A write of three, of which one is marked; an acknowledgement with a mark, a request to read, and an answer to one.
    for (ecn, opcode) in [(2, 6), (3, 7), (2, 8), (3, 0x11), (3, 0x0c), (3, 0x10)] {
        add(1, ecn, opcode);
    }
    // Sends of unreliable datagrams, and of the extended reliable service; opcode 0x60 is none of the former.
    for opcode in [0x64, 0xa4, 0xc4] {
        add(2, 0, opcode);
    }
    assert_eq!(stats.roce[&1], Roce { data: 4, marked: 2, ..Roce::default() });
    assert_eq!(stats.roce[&2], Roce { data: 2, ..Roce::default() });
    assert_eq!((stats.cut, stats.faulty), (9, 0));
    let pairs: Vec<_> = stats.queue_pairs.iter().map(|(pair, seen)| (pair.interface, pair.qp, *seen)).collect();
    let qp = pairs[0].1;
    assert!(qp.is_some());
    assert_eq!(pairs, [(1, qp, stats.roce[&1]), (2, qp, stats.roce[&2])]);
    assert!(stats.series.is_empty());
}

#[test]
fn a_series_has_each_frame_in_its_interval() {
    let mut stats = Stats::with_series(1000);
    for (time_ns, ecn, opcode) in [(0, 2, 7), (999, 3, 7), (1000, 3, 7), (5001, 0, roce::CNP), (5999, 0, 0x11)] {
        let frame = packet(ecn, opcode);
        stats.add(&captured(4, time_ns, &frame, frame.len()), None, Types::default());
    }
    let found: Vec<_> = stats.series.iter().map(|(at, seen)| (*at, seen.frames, seen.roce)).collect();
    let counts = |data, marked, cnps| Roce { data, marked, cnps, ..Roce::default() };
    assert_eq!(found, [((0, 4), 2, counts(2, 1, 0)), ((1, 4), 1, counts(1, 1, 0)), ((5, 4), 2, counts(0, 0, 1))]);
    let octets: u64 = stats.series.values().map(|seen| seen.octets).sum();
    assert_eq!(octets, stats.octets);
}

/// Frames of PFC for priority 3, at times in ns with their quanta, on a line of 10 Gb/s, where a quantum lasts 51.2 ns.
fn paused(frames: &[(u64, u16)], bits_per_s: Option<u64>) -> Stats {
    let mut stats = Stats::default();
    for &(time_ns, quanta) in frames {
        let mut frame = find("pfc");
        let mut times = [None; 8];
        times[3] = Some(quanta);
        pfc::Repr::new(times).emit(&mut frame[14..]).unwrap();
        stats.add(&captured(0, time_ns, &frame, frame.len()), bits_per_s, Types::default());
    }
    stats
}

fn of_three(stats: &Stats) -> penstock_wire::stats::Paused {
    stats.paused[&Pauser { interface: 0, source: MacAddress([2, 0, 0, 0, 0, 0xaa]), priority: Some(3) }].clone()
}

#[test]
fn paused_time_is_the_union_of_pauses() {
    const RATE: Option<u64> = Some(10_000_000_000);
    // 1000 quanta are 51.2 us. They are renewed at 20 us, and resumed at 50 us: 50 us. 100 quanta at 100 us run out: 5.12 us.
    let stats = paused(&[(0, 1000), (20_000, 1000), (50_000, 0), (100_000, 100)], RATE);
    let found = of_three(&stats);
    let stopped = found.stopped.unwrap();
    assert_eq!((found.stops, found.resumes, found.quanta), (3, 1, 2100));
    let at = |end| (stopped.total_ps(end), stopped.longest_ps(end), stopped.open_ps(end));
    assert_eq!((stopped.pauses(), at(200_000_000)), (2, (55_120_000, 50_000_000, 0)));
    // A capture that ends with the last frame, or 3 us behind it.
    assert_eq!(at(100_000_000), (50_000_000, 50_000_000, 5_120_000));
    assert_eq!(at(103_000_000), (53_000_000, 50_000_000, 2_120_000));
    // A shorter time replaces a longer one; a resume of a line that runs does nothing.
    let found = of_three(&paused(&[(0, 1000), (10_000, 10), (60_000, 0)], RATE)).stopped.unwrap();
    assert_eq!((found.pauses(), found.total_ps(60_000_000)), (1, 10_512_000));
    // A resume alone.
    let found = of_three(&paused(&[(7, 0)], RATE)).stopped.unwrap();
    assert_eq!((found.pauses(), found.total_ps(7_000), found.longest_ps(7_000), found.open_ps(7_000)), (0, 0, 0, 0));
    // A storm of 50 ms, renewed 28 times: 94 ms were asked for.
    let mut storm: Vec<_> = (0..28).map(|n| (n * 1_780_000, 65_535)).collect();
    storm.push((50_000_000, 0));
    let found = of_three(&paused(&storm, RATE));
    assert_eq!(found.quanta, 1_834_980);
    let stopped = found.stopped.unwrap();
    let end = 50_000_000_000;
    assert_eq!((stopped.pauses(), stopped.total_ps(end), stopped.longest_ps(end)), (1, end, end));
    assert_eq!((stopped.storms(end, end), stopped.storms(end, end + 1), stopped.storms(end - 1, end)), (1, 0, 0));
    // 10 us at 0, 5 us at 20 us, 40 us from 100 us on, of which the capture has 30 us.
    let frames = [(0, 1000), (10_000, 0), (20_000, 1000), (25_000, 0), (100_000, 1000), (140_000, 0)];
    let stopped = of_three(&paused(&frames, RATE)).stopped.unwrap();
    let spans: Vec<_> = stopped.spans(130_000_000).map(|span| (span.since_ps, span.length_ps())).collect();
    assert_eq!(spans, [(0, 10_000_000), (20_000_000, 5_000_000), (100_000_000, 30_000_000)]);
    assert_eq!([1, 10_000_000, 10_000_001, 30_000_001].map(|least| stopped.storms(130_000_000, least)), [3, 2, 1, 0]);
    // Without the line's rate nothing is said.
    assert_eq!(of_three(&paused(&[(0, 1000)], None)).stopped, None);
}

#[test]
fn faults_are_listed_with_their_frames() {
    let sound = packet(0, 7);
    let mut sum = sound.clone();
    sum[24] ^= 1;
    let mut version = sound.clone();
    version[43] |= 1;
    let mut stats = Stats::default();
    stats.pass();
    for frame in [&sound, &sum, &version, &sum] {
        stats.add(&captured(0, 0, frame, frame.len()), None, Types::default());
    }
    assert_eq!(stats.faulty, 3);
    let found: Vec<_> = stats.faults.iter().map(|(kind, faulty)| (*kind, faulty.frames, &faulty.numbers[..])).collect();
    assert_eq!(found, [(("bth", "TVer"), 1, &[4][..]), (("ipv4", "checksum"), 2, &[3, 5][..])]);
}

/// A frame of LLDP with these TLVs.
fn lldp(tlvs: &[(u8, &[u8])]) -> Vec<u8> {
    let mut frame = vec![1, 0x80, 0xc2, 0, 0, 0x0e, 2, 0, 0, 0, 0, 0xaa, 0x88, 0xcc];
    for (kind, octets) in tlvs {
        frame.extend([kind << 1 | (octets.len() >> 8) as u8, octets.len() as u8]);
        frame.extend(*octets);
    }
    frame
}

fn parts(frame: &[u8]) -> Vec<String> {
    let read = layers(frame, Types::default());
    read.flat_map(|layer| layer.parts()).map(|(part, value)| format!("{part} = {value}")).collect()
}

#[test]
fn tlvs_say_who_sends_and_what() {
    let frame = lldp(&[
        (1, &[4, 2, 0, 0, 0, 0, 0xaa]),
        (2, b"\x05Ethernet1/7"),
        (3, &[0, 120]),
        (4, b"to leaf 3\0"),
        (5, b"spine1"),
        (7, &[0, 0x14, 0, 0x04]),
        (8, &[5, 1, 10, 0, 0, 1, 2, 0, 0, 0, 7, 0]),
        (127, &[0x00, 0x80, 0xc2, 1, 0, 100]),
        (127, b"\x00\x80\xc2\x03\x00\x64\x04prod"),
        // Priority 3 for UDP port 4791, priority 4 for FCoE, priority 5 for DSCP 26.
        (127, &[0x00, 0x80, 0xc2, 12, 0, 0x63, 0x12, 0xb7, 0x81, 0x89, 0x06, 0xa5, 0, 26]),
        (127, &[0x00, 0x12, 0x0f, 4, 0x24, 0x22]),
        (127, &[0x00, 0x00, 0x0c, 9, 1, 2, 3]),
        (0, &[]),
    ]);
    assert!(layers(&frame, Types::default()).all(|layer| layer.fault.is_none()));
    let wanted = [
        "Chassis ID = 02:00:00:00:00:aa (MAC address)",
        "Port ID = Ethernet1/7 (interface name)",
        "Port description = to leaf 3",
        "System name = spine1",
        "System capabilities = bridge, router",
        "Enabled capabilities = bridge",
        "Management address = 10.0.0.1",
        "Interface number = 7",
        "OUI = 00-80-C2 (802.1)",
        "Subtype = 1",
        "Port VLAN ID = 100",
        "OUI = 00-80-C2 (802.1)",
        "Subtype = 3",
        "VLAN name = prod (VLAN 100)",
        "OUI = 00-80-C2 (802.1)",
        "Subtype = 12",
        "Application priority = UDP or DCCP port 4791: priority 3",
        "Application priority = EtherType 0x8906: priority 4",
        "Application priority = DSCP 26: priority 5",
        "OUI = 00-12-0F (802.3)",
        "Subtype = 4",
        "Maximum frame size = 9250",
        "OUI = 00-00-0C",
        "Subtype = 9",
        "Octets = 01 02 03",
    ];
    assert_eq!(parts(&frame), wanted);
}

#[test]
fn cee_is_read_and_its_features() {
    #[rustfmt::skip]
    let octets = [
        0x00, 0x1b, 0x21, 2,
        // Control: versions, sequence 3, acknowledged 2.
        0x02, 10, 0, 0, 0, 0, 0, 3, 0, 0, 0, 2,
        // Priority groups: enabled and willing; priority 3 in group 1, others in group 0; 50 and 50; 8 classes.
        0x04, 17, 0, 0, 0xc0, 0, 0x00, 0x01, 0x00, 0x00, 50, 50, 0, 0, 0, 0, 0, 0, 8,
        // PFC: enabled; priority 3, one at once.
        0x06, 6, 0, 0, 0x80, 0, 0x08, 1,
        // Applications: FCoE at priority 3, and iSCSI's port at 4.
        0x08, 16, 0, 0, 0xa0, 0, 0x89, 0x06, 0x00, 0x1b, 0x21, 0x08, 0x0c, 0xbc, 0x01, 0x1b, 0x21, 0x10,
    ];
    let frame = lldp(&[(127, &octets), (0, &[])]);
    assert!(layers(&frame, Types::default()).all(|layer| layer.fault.is_none()));
    let wanted = [
        "OUI = 00-1B-21 (CEE)",
        "Subtype = 2",
        "CEE control = sequence 3, acknowledged 2",
        "CEE priority groups, state = enabled, willing, no error",
        "CEE priority groups = of priorities 0 to 7: 0 0 0 1 0 0 0 0",
        "CEE priority groups = percent of groups 0 to 7: 50 50 0 0 0 0 0 0",
        "CEE priority groups = 8 traffic classes",
        "CEE PFC, state = enabled, not willing, no error",
        "CEE PFC = priorities 3, 1 at once",
        "CEE application, state = enabled, not willing, error",
        "CEE application = EtherType 0x8906: priorities 3",
        "CEE application = TCP or UDP port 3260: priorities 4",
    ];
    assert_eq!(parts(&frame), wanted);
}

#[test]
fn a_tlv_that_ends_within_a_part_has_a_fault() {
    // An application of two octets, at octet 14 + 2 + 5 + 1.
    let frame = lldp(&[(127, &[0x00, 0x80, 0xc2, 12, 0, 0x63, 0x12]), (0, &[])]);
    let fault = layers(&frame, Types::default()).find_map(|layer| layer.fault).unwrap().to_string();
    assert_eq!(fault, "lldp: Application priority at octet 22 is cut off: 1 of 2 octets are there");
    // One that says no chassis; one whose octets no organisation has; names of any octets.
    for (kind, octets) in [(1, &[][..]), (1, &[4]), (127, &[0, 0x80]), (127, &[0, 0x80, 0xc2, 1, 0]), (8, &[9, 1])] {
        let frame = lldp(&[(kind, octets), (0, &[])]);
        assert!(layers(&frame, Types::default()).any(|layer| layer.fault.is_some()), "{kind} {octets:?}");
    }
    let frame = lldp(&[(1, &[7, 0xff, 0x1b]), (2, &[9, 1, 2]), (1, &[5, 1, 10, 0, 0]), (0, &[])]);
    let wanted = [
        "Chassis ID = \u{fffd}\u{1b} (local)",
        "Port ID = 01 02 (subtype 9)",
        "Chassis ID = 01 0a 00 00 (network address)",
    ];
    assert_eq!(parts(&frame), wanted);
}

/// An outer frame of 14 + 20 octets over IPv4, and behind these `inner`.
fn carried(protocol: u8, inner: &[u8]) -> Vec<u8> {
    let mut frame = packet(0, 10)[..34].to_vec();
    let ip = ipv4::Repr::new([10, 9, 0, 1], [10, 9, 0, 2], protocol, inner.len() as u16);
    ip.with_checksum().emit(&mut frame[14..]).unwrap();
    frame.extend(inner);
    frame
}

/// A frame in VXLAN: 8 octets of UDP and 8 of VXLAN (network 5000) before it.
fn vxlan(inner: &[u8]) -> Vec<u8> {
    let mut head = vec![0; 16];
    let length = 16 + inner.len() as u16;
    udp::Repr { source_port: 50_000, destination_port: 4789, length, checksum: 0 }.emit(&mut head).unwrap();
    head[8..].copy_from_slice(&[8, 0, 0, 0, 0, 0x13, 0x88, 0]);
    carried(ipv4::protocol::UDP, &[&head, inner].concat())
}

/// Marked data and a congestion notification in each kind of tunnel: their layers are read, and they are counted, as if there were no tunnel.
#[test]
fn frames_in_tunnels_are_read() {
    let gre = |head: &[u8], inner: &[u8]| carried(ipv4::protocol::GRE, &[head, inner].concat());
    for inner in [packet(3, 10), packet(0, roce::CNP)] {
        let own: Vec<_> = layers(&inner, Types::default()).map(|layer| layer.name()).collect();
        let tunnels = [
            (vec!["eth", "ipv4", "udp", "vxlan"], vxlan(&inner), &own[..]),
            (vec!["eth", "ipv4", "gre"], gre(&[0, 0, 0x65, 0x58], &inner), &own[..]),
            (vec!["eth", "ipv4", "gre"], gre(&[0x20, 0, 0x65, 0x58, 0, 0, 0, 7], &inner), &own[..]),
            (
                vec!["eth", "ipv4", "gre"],
                gre(&[0x10, 0, 0x88, 0xbe, 0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8], &inner),
                &own[..],
            ),
            (vec!["eth", "ipv4", "gre"], gre(&[0, 0, 8, 0], &inner[14..]), &own[1..]),
            (vec!["eth", "ipv4", "udp", "vxlan", "eth", "ipv4", "udp", "vxlan"], vxlan(&vxlan(&inner)), &own[..]),
        ];
        for (outer, frame, own) in tunnels {
            let read: Vec<_> = layers(&frame, Types::default()).collect();
            assert_eq!(read.iter().map(Layer::name).collect::<Vec<_>>(), [&outer[..], own].concat());
            assert!(read.iter().all(|layer| layer.fault.is_none() && layer.unchecked.is_none()), "{read:?}");
            let mut stats = Stats::default();
            stats.add(&captured(0, 0, &frame, frame.len()), None, Types::default());
            let is_cnp = u64::from(inner == packet(0, roce::CNP));
            assert_eq!(stats.roce[&0], Roce { data: 1 - is_cnp, marked: 1 - is_cnp, cnps: is_cnp, ..Roce::default() });
            // A fault of the inner frame is one.
            let mut wrong = frame.clone();
            *wrong.last_mut().unwrap() ^= 1;
            assert!(layers(&wrong, Types::default()).any(|layer| layer.fault.is_some()));
            // Cut anywhere it is no fault.
            for at in 0..frame.len() {
                assert!(cut(&frame, at).iter().all(|layer| layer.fault.is_none()), "{at}");
            }
        }
    }
    // Without the flag it is no VXLAN, and a routed GRE header of old has another form.
    let mut other = vxlan(&packet(0, 10));
    other[42] = 0;
    let names = |frame: &[u8]| layers(frame, Types::default()).map(|layer| layer.name()).collect::<Vec<_>>();
    assert_eq!(names(&other), ["eth", "ipv4", "udp", "data"]);
    assert_eq!(names(&gre(&[0x40, 0, 0x65, 0x58], &packet(0, 10))), ["eth", "ipv4", "data"]);
}

/// One from a switch and one from a destination for the same queue pair are two paths; both count as CNPs.
#[test]
fn notifications_of_switches_are_counted_apart() {
    let mut stats = Stats::default();
    for frame in [find("fast_cnp"), find("fast_cnp"), find("cnp")] {
        stats.add(&captured(0, 0, &frame, frame.len()), None, Types::default());
    }
    let found: Vec<_> = stats.notified.iter().map(|(way, seen)| (way.format, way.flow, seen.frames)).collect();
    assert_eq!(found, [("cnp", Some(17), 1), ("fast_cnp", Some(17), 2)]);
    assert_eq!((stats.roce[&0].cnps, stats.faulty), (3, 0));
}
