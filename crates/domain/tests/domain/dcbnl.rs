//! Linux's messages: octets written by hand from `dcbnl.h`, round trips, and answers of every wrong kind.

use penstock_domain::dcbnl::{
    self, Malformed, Member, Order, Qcn, QcnStats, Reply, WrongName, cndd_state, get, reply, set,
};
use penstock_domain::{DefenseMode, State};
use proptest::prelude::*;

/// 32-bit numbers, the least octet first.
fn little(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// The MIB's defaults on priority 3, in Linux's units, at 10 Gb/s.
fn specimen() -> Qcn {
    let mut qcn = Qcn::default();
    let values = [
        ("rpg_enable", 1),
        ("rppp_max_rps", 1),
        ("rpg_time_reset", 15_000),
        ("rpg_byte_reset", 150_000),
        ("rpg_threshold", 5),
        ("rpg_max_rate", 10_000),
        ("rpg_ai_rate", 5),
        ("rpg_hai_rate", 50),
        ("rpg_gd", 7),
        ("rpg_min_dec_fac", 50),
        ("rpg_min_rate", 5),
        ("cndd_state_machine", 3),
    ];
    for (member, number) in values {
        assert!(qcn.set(member, 3, number), "{member}");
    }
    qcn
}

#[test]
fn the_structure_is_octet_for_octet_that_of_dcbnl_h() {
    let mut octets = Vec::new();
    specimen().emit(Order::Little, &mut octets);
    // An octet a priority, then eleven arrays of eight 32-bit numbers; of each the fourth is set.
    let mut wanted = vec![0, 0, 0, 1, 0, 0, 0, 0];
    #[rustfmt::skip]
    let fourth: [[u8; 4]; 11] = [
        [0x01, 0, 0, 0],
        [0x98, 0x3a, 0, 0],    // 15 000 us
        [0xf0, 0x49, 0x02, 0], // 150 000 octets
        [0x05, 0, 0, 0],
        [0x10, 0x27, 0, 0],    // 10 000 Mb/s
        [0x05, 0, 0, 0],
        [0x32, 0, 0, 0],
        [0x07, 0, 0, 0],
        [0x32, 0, 0, 0],
        [0x05, 0, 0, 0],
        [0x03, 0, 0, 0],
    ];
    for entry in fourth {
        wanted.extend([0; 12]);
        wanted.extend(entry);
        wanted.extend([0; 16]);
    }
    assert_eq!(octets.len(), 360);
    assert_eq!(octets, wanted);
    assert_eq!(Qcn::parse(&octets, Order::Little), Ok(specimen()));
    let mut big = Vec::new();
    specimen().emit(Order::Big, &mut big);
    assert_eq!(big[8 + 12..8 + 16], [0, 0, 0, 1]);
    assert_eq!(Qcn::parse(&big, Order::Big), Ok(specimen()));
}

#[test]
fn the_counters_are_octet_for_octet_those_of_dcbnl_h() {
    let mut stats = QcnStats::default();
    assert!(stats.set("rppp_rp_centiseconds", 3, 0x0102_0304_0506_0708));
    assert!(stats.set("rppp_created_rps", 7, 300));
    let mut octets = Vec::new();
    stats.emit(Order::Little, &mut octets);
    let mut wanted = vec![0; 24];
    wanted.extend([8, 7, 6, 5, 4, 3, 2, 1]);
    wanted.extend([0; 32]);
    wanted.extend(little(&[0, 0, 0, 0, 0, 0, 0, 300]));
    assert_eq!((octets.len(), &octets), (96, &wanted));
    assert_eq!(QcnStats::parse(&octets, Order::Little), Ok(stats));
    assert!(!stats.set("rppp_created_rps", 3, 1 << 32), "it has 32 bits");
    assert!(!stats.set("rpg_gd", 3, 1) && !stats.set("rppp_created_rps", 8, 1));
}

#[test]
fn the_request_for_values_is_that_of_rtnetlink() {
    let message = get("eth0", 7, Order::Little).unwrap();
    #[rustfmt::skip]
    let wanted = [
        32, 0, 0, 0, 78, 0, 1, 0, 7, 0, 0, 0, 0, 0, 0, 0, // RTM_GETDCB, NLM_F_REQUEST, number 7
        0, 21, 0, 0,                                      // DCB_CMD_IEEE_GET
        9, 0, 1, 0, b'e', b't', b'h', b'0', 0, 0, 0, 0,   // DCB_ATTR_IFNAME, and padding
    ];
    assert_eq!(message, wanted);
}

#[test]
fn the_request_to_set_holds_the_structure_in_an_attribute_in_an_attribute() {
    let message = set("eth0", 0x0102_0304, &specimen(), Order::Little).unwrap();
    let mut structure = Vec::new();
    specimen().emit(Order::Little, &mut structure);
    // 32 octets as before, then 4 and 4 of heads, then 360.
    let mut wanted = little(&[32 + 368]);
    wanted.extend([79, 0, 1, 0, 4, 3, 2, 1, 0, 0, 0, 0, 0, 20, 0, 0]);
    wanted.extend([9, 0, 1, 0, b'e', b't', b'h', b'0', 0, 0, 0, 0]);
    wanted.extend([0x70, 0x01, 13, 0x80, 0x6c, 0x01, 8, 0]);
    wanted.extend(&structure);
    assert_eq!(message, wanted);
}

#[test]
fn no_request_has_a_name_that_no_device_can_have() {
    for name in ["", "sixteen-octets-x", "a\0b"] {
        assert_eq!(get(name, 1, Order::NATIVE), Err(WrongName), "{name:?}");
    }
    assert!(get("fifteen-octets-", 1, Order::NATIVE).is_ok());
}

/// An answer of this type with these octets behind the family's head.
fn answer(kind: u16, sequence: u32, rest: &[u8]) -> Vec<u8> {
    let mut message = little(&[20 + rest.len() as u32]);
    message.extend(kind.to_le_bytes());
    message.extend([0, 0]);
    message.extend(little(&[sequence, 0]));
    message.extend([0, 21, 0, 0]);
    message.extend(rest);
    message
}

/// An attribute.
fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let mut octets = Vec::from((4 + value.len() as u16).to_le_bytes());
    octets.extend(kind.to_le_bytes());
    octets.extend(value);
    octets.resize(octets.len().next_multiple_of(4), 0);
    octets
}

#[test]
fn the_answer_with_values_is_read_among_attributes_that_are_not_ours() {
    let (mut structure, mut counters) = (Vec::new(), Vec::new());
    specimen().emit(Order::Little, &mut structure);
    QcnStats::default().emit(Order::Little, &mut counters);
    let inner = [attribute(1, &[1, 2, 3]), attribute(8, &structure), attribute(9, &counters)].concat();
    let rest = [attribute(1, b"eth0\0"), attribute(13 | 1 << 15, &inner), attribute(14, &[4])].concat();
    let got = reply(&answer(78, 5, &rest), 5, Order::Little);
    assert_eq!(got, Ok(Reply::Values { qcn: Some(specimen()), stats: Some(QcnStats::default()) }));
    // A driver that has no reaction points leaves both out.
    let got = reply(&answer(78, 5, &attribute(1, b"eth0\0")), 5, Order::Little);
    assert_eq!(got, Ok(Reply::Values { qcn: None, stats: None }));
}

#[test]
fn refusals_are_read_from_error_and_from_status() {
    let error = |number: i32| {
        let mut message = little(&[36]);
        message.extend([2, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0]);
        message.extend(number.to_le_bytes());
        message.extend([0; 16]);
        reply(&message, 9, Order::Little)
    };
    assert_eq!(error(-95), Ok(Reply::Refused(95)), "EOPNOTSUPP");
    assert_eq!(error(-1), Ok(Reply::Refused(1)), "EPERM");
    assert_eq!(error(0), Ok(Reply::Done));
    // The answer to a request to set holds an octet: 0, or an error number's low octet.
    let status = |octet| reply(&answer(79, 9, &attribute(13, &[octet])), 9, Order::Little);
    assert_eq!(status(0), Ok(Reply::Done));
    assert_eq!(status(256u16.wrapping_sub(22) as u8), Ok(Reply::Refused(22)), "EINVAL");
}

#[test]
fn wrong_answers_say_what_is_wrong_with_them() {
    let whole = answer(78, 5, &attribute(13, &attribute(8, &[0; 359])));
    let text = |octets: &[u8], sequence| reply(octets, sequence, Order::Little).unwrap_err().to_string();
    assert_eq!(text(&whole, 5), "dcbnl: Qcn has 359 octets, and should have 360");
    assert_eq!(text(&whole, 6), "dcbnl: the message answers request 5, not this one");
    assert_eq!(text(&whole[..40], 5), "dcbnl: the message at octet 0 is cut off");
    assert_eq!(text(&answer(3, 5, &[]), 5), "dcbnl: a message of type 3 is no answer to a request of DCB");
    assert_eq!(text(&answer(78, 5, &[3, 0, 13, 0]), 5), "dcbnl: the attribute at octet 20 is cut off");
    assert_eq!(text(&answer(78, 5, &[0, 1, 13, 0]), 5), "dcbnl: the attribute at octet 20 is cut off");
    assert_eq!(reply(&[], 5, Order::Little), Err(Malformed::Truncated { part: "head", offset: 0 }));
}

#[test]
fn states_have_linuxs_numbers() {
    let states = [State::Reset, State::Edge, State::Interior, State::InteriorReady];
    assert_eq!(states.map(cndd_state), [0, 1, 2, 3]);
    assert_eq!(cndd_state(State::Admin(DefenseMode::InteriorReady)), 3);
    assert_eq!(dcbnl::CNDD_STATES[cndd_state(State::Edge) as usize], "edge");
}

#[test]
fn members_have_their_offset_and_name() {
    let octets: usize = Qcn::MEMBERS.iter().map(|member| 8 * member.octets).sum();
    assert_eq!(octets, Qcn::OCTETS);
    for member in Qcn::MEMBERS.iter().filter(|member| member.name != "cndd_state_machine") {
        assert!(penstock_domain::objects::object(member.name).is_some(), "{}", member.name);
    }
}

#[test]
fn values_are_read_and_shown_in_linuxs_units() {
    let member = |name| Member::named(name).unwrap();
    let read = |name, text| member(name).read(text).map_err(|fault| fault.to_string());
    assert_eq!(read("rpg_time_reset", "15 ms"), Ok(15_000));
    assert_eq!(read("rpg_time_reset", "300 us"), Ok(300));
    assert_eq!(read("rpg_enable", "true"), Ok(1));
    assert_eq!(read("rpg_enable", "off"), Ok(0));
    assert_eq!(read("rpg_max_rate", "10 Gbps"), Ok(10_000));
    assert_eq!(read("cndd_state_machine", "interior-ready"), Ok(3));
    assert_eq!(read("cndd_state_machine", "1"), Ok(1));
    let wrong = [
        ("cndd_state_machine", "ready", "the states are reset, edge, interior, interior-ready"),
        ("cndd_state_machine", "4", "is no state"),
        ("rpg_byte_reset", "5 GB", "5000000000 is out of range (its values are 0 to 4294967295 octets)"),
        ("rpg_time_reset", "5000 s", "Linux holds 0 to 4294967295 us"),
        ("rpg_min_dec_fac", "101", "its values are 1 to 100 %"),
        ("rpg_min_rate", "-5", "-5 is out of range"),
    ];
    for (name, text, part) in wrong {
        let message = read(name, text).unwrap_err();
        assert!(message.contains(part), "{message}");
    }
    assert_eq!(member("rpg_time_reset").show(15_000), "15000 us");
    assert_eq!(member("rpg_enable").show(1), "true");
    assert_eq!(member("cndd_state_machine").show(2), "interior");
    assert_eq!(member("cndd_state_machine").show(9), "9");
    assert!(Member::named("q_eq").is_none());
}

proptest! {
    #[test]
    fn structures_come_back_as_they_went(octets in prop::collection::vec(any::<u8>(), 360..=360), big in any::<bool>()) {
        let order = if big { Order::Big } else { Order::Little };
        let read = Qcn::parse(&octets, order).unwrap();
        let mut written = Vec::new();
        read.emit(order, &mut written);
        prop_assert_eq!(written, octets);
    }

    #[test]
    fn a_request_to_set_is_read_back_by_the_reader_of_answers(octets in prop::collection::vec(any::<u8>(), 360..=360)) {
        let qcn = Qcn::parse(&octets, Order::Big).unwrap();
        let mut message = set("eth0", 1, &qcn, Order::Big).unwrap();
        message[5] = 78;
        prop_assert_eq!(reply(&message, 1, Order::Big), Ok(Reply::Values { qcn: Some(qcn), stats: None }));
    }

    #[test]
    fn no_octets_make_the_reader_of_answers_fail(
        octets in prop::collection::vec(any::<u8>(), 0..500),
        kind in prop::sample::select(vec![2u16, 78, 79]),
    ) {
        let _ = reply(&octets, 1, Order::Little);
        let _ = reply(&answer(kind, 1, &octets), 1, Order::Little);
    }
}
