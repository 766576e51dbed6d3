//! Captures in both formats and byte orders, octet by octet; damaged ones; and the counts of their frames.

use crate::common::{captured, golden};
use penstock_wire::MacAddress;
use penstock_wire::capture::{Captured, frames, pcapng};
use penstock_wire::layers::Types;
use penstock_wire::stats::{Pauser, Stats, Strength, Way};

/// A pcap file of one frame of 4 octets, of which 60 were on the line, at 1.000 000 002 s or 1.000 002 s.
fn pcap(magic: [u8; 4], big: bool) -> Vec<u8> {
    let mut file = magic.to_vec();
    let mut put = |number: u64, octets: usize| {
        let bytes = number.to_be_bytes();
        let mut bytes = bytes[8 - octets..].to_vec();
        if !big {
            bytes.reverse();
        }
        file.extend(bytes);
    };
    for (number, octets) in [(2, 2), (4, 2), (0, 4), (0, 4), (65_535, 4), (1, 4), (1, 4), (2, 4), (4, 4), (60, 4)] {
        put(number, octets);
    }
    file.extend([1, 2, 3, 4]);
    file
}

#[test]
fn pcap_of_either_order_and_resolution() {
    let cases = [
        ([0xa1, 0xb2, 0xc3, 0xd4], true, 1_000_002_000),
        ([0xd4, 0xc3, 0xb2, 0xa1], false, 1_000_002_000),
        ([0xa1, 0xb2, 0x3c, 0x4d], true, 1_000_000_002),
        ([0x4d, 0x3c, 0xb2, 0xa1], false, 1_000_000_002),
    ];
    for (magic, big, time) in cases {
        let file = pcap(magic, big);
        let wanted = Captured {
            interface: 0,
            link: 1,
            time_ns: Some(time),
            octets: &[1, 2, 3, 4],
            original: 60,
            offset: 24,
            comment: None,
        };
        assert_eq!(frames(&file).unwrap().collect::<Vec<_>>(), [Ok(wanted)]);
    }
}

#[test]
fn pcapng_of_either_order() {
    // A section, an interface with microseconds that is called "e", a block that nobody knows, a frame at 2 us.
    let little = [
        0x0a, 0x0d, 0x0d, 0x0a, 28, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255,
        255, 28, 0, 0, 0, //
        1, 0, 0, 0, 28, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1, 0, b'e', 0, 0, 0, 28, 0, 0, 0, //
        0xad, 0x0b, 0, 0, 12, 0, 0, 0, 12, 0, 0, 0, //
        6, 0, 0, 0, 36, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 60, 0, 0, 0, 7, 8, 9, 0, 36, 0, 0, 0,
    ];
    let mut big = little;
    // Numbers of 2 octets: version, link type and snapping, code and length of the option.
    let halves = [12, 36, 38, 44, 46];
    let words = [4, 24, 28, 32, 40, 52, 56, 60, 64, 68, 72, 76, 80, 84, 88, 92, 100];
    big[8..12].reverse();
    for at in halves {
        big[at..at + 2].reverse();
    }
    for at in words {
        big[at..at + 4].reverse();
    }
    for file in [little, big] {
        let mut read = frames(&file).unwrap();
        let frame = read.next().unwrap().unwrap();
        assert_eq!((frame.time_ns, frame.octets, frame.original, frame.offset), (Some(2_000), &[7, 8, 9][..], 60, 68));
        assert_eq!(read.interface_name(0).as_deref(), Some("e"));
        assert_eq!(read.next(), None);
    }
}

#[test]
fn written_captures_keep_nanoseconds_interfaces_and_comments() {
    let mut file = Vec::new();
    pcapng::section(&mut file, "Penstock", None);
    pcapng::interface(&mut file, "s1:2 out", None, None);
    pcapng::interface(&mut file, "s1:2 in", None, None);
    let late = u64::MAX;
    pcapng::packet(&mut file, 1, late, &[1, 2, 3], None);
    pcapng::packet(&mut file, 0, 5, &[], Some("q"));
    // A second section has its own interfaces.
    pcapng::section(&mut file, "Penstock", None);
    pcapng::interface(&mut file, "other", None, None);
    pcapng::packet(&mut file, 0, 6, &[4], None);
    let mut read = frames(&file).unwrap();
    let all: Vec<_> = read.by_ref().map(Result::unwrap).collect();
    let short: Vec<_> = all.iter().map(|f| (f.interface, f.time_ns, f.octets, f.comment)).collect();
    assert_eq!(
        short,
        [(1, Some(late), &[1, 2, 3][..], None), (0, Some(5), &[][..], Some("q")), (2, Some(6), &[4][..], None)]
    );
    let names: Vec<_> = (0..4).map(|number| read.interface_name(number)).collect();
    assert_eq!(names, [Some("s1:2 out".into()), Some("s1:2 in".into()), Some("other".into()), None]);
    assert_eq!(file.len() % 4, 0);
}

/// Blocks as draft-ietf-opsawg-pcapng, sections 4.1 and 4.2, has them: by hand.
#[test]
fn sections_and_interfaces_have_their_options() {
    let mut file = Vec::new();
    pcapng::section(&mut file, "P", Some("run"));
    #[rustfmt::skip]
    let section = [
        0x0a, 0x0d, 0x0d, 0x0a, 48, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255,
        1, 0, 3, 0, b'r', b'u', b'n', 0, 4, 0, 1, 0, b'P', 0, 0, 0, 0, 0, 0, 0, 48, 0, 0, 0,
    ];
    assert_eq!(file, section);
    file.clear();
    pcapng::interface(&mut file, "a->b", Some("from a"), Some(10_000_000_000));
    #[rustfmt::skip]
    let interface = [
        1, 0, 0, 0, 72, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0,
        2, 0, 4, 0, b'a', b'-', b'>', b'b',
        3, 0, 6, 0, b'f', b'r', b'o', b'm', b' ', b'a', 0, 0,
        // 10^10 is 2_540b_e400 in hexadecimal.
        8, 0, 8, 0, 0x00, 0xe4, 0x0b, 0x54, 0x02, 0, 0, 0,
        9, 0, 1, 0, 9, 0, 0, 0, 13, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 72, 0, 0, 0,
    ];
    assert_eq!(file, interface);
}

#[test]
fn damage_is_placed() {
    let damage_of = |file: &[u8]| match frames(file) {
        Err(damage) => damage.to_string(),
        Ok(read) => read.last().expect("something").expect_err("damage").to_string(),
    };
    assert!(damage_of(b"PK\x03\x04zip").starts_with("octet 0: this is neither pcap nor pcapng"));
    assert!(damage_of(&[]).starts_with("octet 0: this is neither"));
    let file = pcap([0xa1, 0xb2, 0xc3, 0xd4], true);
    assert_eq!(
        damage_of(&file[..20]),
        "octet 0: the file ends within the head, which has 24 octets, of which 20 are there"
    );
    assert_eq!(
        damage_of(&file[..42]),
        "octet 24: the file ends within a frame, which has 20 octets, of which 18 are there"
    );
    let with = |at: usize, octet: u8| {
        let mut file = file.clone();
        file[at] = octet;
        damage_of(&file)
    };
    assert_eq!(with(5, 1), "octet 4: the version is 1, and should be 2");
    assert_eq!(with(32, 1), "octet 32: the length of a frame is 16777220, and should be at most 262144");
    assert_eq!(with(28, 1), "octet 28: the second part of a time is 16777218, and should be less than a second");

    let mut file = Vec::new();
    pcapng::section(&mut file, "", None);
    let start = file.len();
    pcapng::interface(&mut file, "", None, None);
    let frame = file.len();
    pcapng::packet(&mut file, 0, 0, &[0; 60], None);
    let with = |at: usize, octet: u8| {
        let mut file = file.clone();
        file[at] = octet;
        damage_of(&file)
    };
    assert_eq!(with(8, 0), "octet 8: the byte order is 3943194, and should be 439041101 or its reverse");
    assert_eq!(
        with(start + 4, 13),
        format!("octet {}: the length of a block is 13, and should be at least 12 and a multiple of 4", start + 4)
    );
    assert_eq!(
        with(frame - 4, 4),
        format!("octet {}: the length at the end of a block is 4, and should be that at its start", frame - 4)
    );
    assert_eq!(
        with(frame + 8, 1),
        format!(
            "octet {}: the interface of a frame is 1, and should be one that the section has described before",
            frame + 8
        )
    );
    assert_eq!(
        with(frame + 20, 61),
        format!("octet {frame}: the file ends within a frame, which has 81 octets, of which 80 are there")
    );
    assert_eq!(
        damage_of(&file[..file.len() - 1]),
        format!("octet {frame}: the file ends within a block, which has 92 octets, of which 91 are there")
    );
}

#[test]
fn notifications_are_counted_by_their_path() {
    let frames = golden();
    let octets = |name: &str| frames.iter().find(|frame| frame.name == name).expect("it is there").octets.clone();
    let mut stats = Stats::default();
    let mut add = |interface, time, frame: &[u8]| {
        stats.add(&captured(interface, time, frame, frame.len()), None, Types::default());
    };
    let cnm = octets("cnm");
    let mut harder = cnm.clone();
    harder[23] = 40;
    add(0, 100, &cnm);
    add(0, 50, &harder);
    add(1, 70, &cnm);
    add(0, 10, &octets("data"));
    add(0, 20, &octets("pfc"));
    add(0, 30, &octets("pause"));
    add(0, 40, &octets("cnp"));
    add(0, 60, &octets("bcn"));
    add(0, 61, &octets("fecn"));
    // A probe towards the destination notifies nobody.
    let mut outward = octets("fecn");
    outward[15] = 0;
    add(0, 62, &outward);
    let mut malformed = cnm.clone();
    malformed[45] = 65;
    add(0, 80, &malformed);

    assert_eq!((stats.frames, stats.faulty, stats.tagged), (11, 1, 2));
    let formats: Vec<_> = stats.formats.iter().map(|(&name, &frames)| (name, frames)).collect();
    assert_eq!(formats, [("bcn", 1), ("cnm", 4), ("fecn", 2), ("ipv4", 2), ("pause", 1), ("pfc", 1)]);

    let way = Way {
        interface: 0,
        format: "cnm",
        source: MacAddress([2, 0, 0, 0, 0, 0xaa]),
        destination: MacAddress([2, 0, 0, 0, 0, 1]),
        cp_id: Some(0x0200_0000_00aa_0001),
        flow: Some(5),
        to: Some(MacAddress([2, 0, 0, 0, 0, 2])),
    };
    let found = stats.notified[&way];
    assert_eq!((found.frames, found.first_ns, found.last_ns), (2, Some(50), Some(100)));
    assert_eq!(found.strength, Some(Strength { frames: 2, least: 25, most: 40, sum: 65 }));
    assert_eq!(stats.notified[&Way { interface: 1, ..way }].frames, 1);
    let others: Vec<_> = stats.notified.iter().filter(|(way, _)| way.format != "cnm").collect();
    let short: Vec<_> = others.iter().map(|(way, n)| (way.format, way.flow, n.strength.map(|s| s.sum))).collect();
    assert_eq!(short, [("bcn", Some(7), Some(1600)), ("cnp", Some(17), None), ("fecn", Some(7), Some(2_500_000_000))]);

    let source = MacAddress([2, 0, 0, 0, 0, 0xaa]);
    let paused = |priority| {
        let paused = &stats.paused[&Pauser { interface: 0, source, priority }];
        (paused.stops, paused.resumes, paused.quanta)
    };
    assert_eq!(paused(Some(3)), (1, 0, 65_535));
    assert_eq!(paused(Some(0)), (0, 1, 0));
    assert_eq!(paused(None), (1, 0, 65_535));
    assert_eq!(stats.paused.len(), 3);
}
