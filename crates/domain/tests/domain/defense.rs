//! Ports that face each other, neighbours that come and go, and announcements of every kind.

use crate::common::{announcement, at, cn, hear, lldp};
use penstock_domain::objects::{PortChoice, PortPriority};
use penstock_domain::{Component, DefenseMode, MOST_NEIGHBOURS, Port};

/// Exchanges announcements until nobody has news; how many frames that took.
fn negotiate(component: &Component, left: &mut Port, right: &mut Port) -> usize {
    let mut frames = 0;
    let (mut left_has_news, mut right_has_news) = (true, true);
    while left_has_news || right_has_news {
        assert!(frames < 20, "the ports never agree");
        if std::mem::take(&mut left_has_news) {
            frames += 1;
            right_has_news |= hear(right, component, at(1), announcement(component, left, 1, 120));
        }
        if std::mem::take(&mut right_has_news) {
            frames += 1;
            left_has_news |= hear(left, component, at(1), announcement(component, right, 2, 120));
        }
    }
    frames
}

#[test]
fn two_ports_agree_to_be_interior_ready() {
    let component = Component::with(0b1000).unwrap();
    let (mut left, mut right) = (Port::new(&component), Port::new(&component));
    assert_eq!(left.mode(3), DefenseMode::Edge, "before anything is heard");
    assert_eq!(left.mode(4), DefenseMode::Disabled, "an ordinary priority");
    // Left announces its priority, right that it is ready, left that it is ready; right has nothing new to announce.
    assert_eq!(negotiate(&component, &mut left, &mut right), 3);
    for port in [&left, &right] {
        assert_eq!(port.mode(3), DefenseMode::InteriorReady);
        let tlv = port.tlv(&component, 1).unwrap();
        assert_eq!((tlv.cnpv, tlv.ready), (0b1000, 0b1000));
        assert_eq!(port.row(3).port_auto_defense_mode, DefenseMode::InteriorReady);
    }
}

#[test]
fn each_priority_is_for_itself() {
    let (both, one) = (Component::with(0b0001_1000).unwrap(), Component::with(0b1000).unwrap());
    let (mut left, mut right) = (Port::new(&both), Port::new(&one));
    for _ in 0..3 {
        hear(&mut right, &one, at(1), announcement(&both, &left, 1, 120));
        hear(&mut left, &both, at(1), announcement(&one, &right, 2, 120));
    }
    assert_eq!((left.mode(3), left.mode(4)), (DefenseMode::InteriorReady, DefenseMode::Edge));
    assert_eq!((right.mode(3), right.mode(4)), (DefenseMode::InteriorReady, DefenseMode::Disabled));
}

#[test]
fn a_neighbour_without_the_tlv_leaves_the_edge() {
    let component = Component::with(0b1000).unwrap();
    let mut port = Port::new(&component);
    assert!(!hear(&mut port, &component, at(1), lldp(9, 120, &[0, 0])));
    assert_eq!(port.mode(3), DefenseMode::Edge);
    assert_eq!(port.neighbours(1).unwrap().count(), 1);
}

#[test]
fn a_neighbour_that_falls_silent_is_outside_when_its_time_is_over() {
    let component = Component::with(0b1000).unwrap();
    let mut port = Port::new(&component);
    hear(&mut port, &component, at(10), lldp(9, 120, &cn(8, 8)));
    assert_eq!(port.mode(3), DefenseMode::InteriorReady);
    assert_eq!(port.next_timeout(), Some(at(130)));
    assert!(!port.on_timeout(&component, at(129)));
    assert_eq!(port.mode(3), DefenseMode::InteriorReady);
    assert!(port.on_timeout(&component, at(130)));
    assert_eq!(port.mode(3), DefenseMode::Edge);
    assert_eq!((port.counters().neighbours_aged, port.next_timeout()), (1, None));
}

#[test]
fn a_neighbour_that_takes_its_leave_or_loses_its_line_is_outside_at_once() {
    let component = Component::with(0b1000).unwrap();
    let mut port = Port::new(&component);
    hear(&mut port, &component, at(1), lldp(9, 120, &cn(8, 8)));
    assert!(hear(&mut port, &component, at(2), lldp(9, 0, &[])));
    assert_eq!(port.mode(3), DefenseMode::Edge);
    hear(&mut port, &component, at(3), lldp(9, 120, &cn(8, 8)));
    assert!(port.on_link_down(&component));
    assert_eq!(port.mode(3), DefenseMode::Edge);
}

#[test]
fn of_two_neighbours_none_counts() {
    let component = Component::with(0b1000).unwrap();
    let mut port = Port::new(&component);
    hear(&mut port, &component, at(1), lldp(9, 120, &cn(8, 8)));
    assert!(hear(&mut port, &component, at(2), lldp(10, 60, &cn(8, 8))));
    assert_eq!(port.mode(3), DefenseMode::Edge, "frames of both come in here");
    assert!(port.on_timeout(&component, at(62)));
    assert_eq!(port.mode(3), DefenseMode::InteriorReady, "one is left");
}

#[test]
fn two_ports_of_one_chassis_are_two_neighbours() {
    let component = Component::with(0b1000).unwrap();
    let mut port = Port::new(&component);
    let (one, mut other) = (lldp(9, 120, &cn(8, 8)), lldp(9, 120, &cn(8, 8)));
    hear(&mut port, &component, at(1), one);
    other[26] = b'q';
    hear(&mut port, &component, at(1), other);
    assert_eq!((port.neighbours(1).unwrap().count(), port.mode(3)), (2, DefenseMode::Edge));
}

#[test]
fn a_neighbour_whose_time_is_over_does_not_spoil_the_next_one() {
    let component = Component::with(0b1000).unwrap();
    let mut port = Port::new(&component);
    hear(&mut port, &component, at(1), lldp(9, 120, &cn(8, 8)));
    // The driver is late: its timer has not run out yet when the next neighbour is heard.
    hear(&mut port, &component, at(200), lldp(10, 120, &cn(8, 0)));
    assert_eq!((port.mode(3), port.counters().neighbours_aged), (DefenseMode::Interior, 1));
}

#[test]
fn identifiers_have_1_to_255_octets_behind_their_subtype() {
    let component = Component::with(0b1000).unwrap();
    for (chassis, name, right) in
        [(1, 2, true), (255, 255, true), (0, 2, false), (256, 2, false), (2, 0, false), (2, 256, false)]
    {
        let mut frame = lldp(9, 120, &[])[..14].to_vec();
        for (kind, octets) in [(1u16, chassis), (2, name)] {
            frame.extend((kind << 9 | (1 + octets)).to_be_bytes());
            frame.extend(vec![4; usize::from(octets) + 1]);
        }
        frame.extend([0x06, 0x02, 0, 120]);
        frame.extend(cn(8, 8));
        let mut port = Port::new(&component);
        hear(&mut port, &component, at(1), frame);
        assert_eq!(port.mode(3) == DefenseMode::InteriorReady, right, "{chassis} and {name} octets");
        assert_eq!(port.counters().lldp_malformed, u64::from(!right));
    }
}

#[test]
fn neighbours_beyond_the_most_are_counted_and_take_no_room() {
    let component = Component::with(0b1000).unwrap();
    let mut port = Port::new(&component);
    for number in 0..=255 {
        hear(&mut port, &component, at(1), lldp(number, 120, &cn(8, 8)));
    }
    assert_eq!(port.neighbours(1).unwrap().count(), MOST_NEIGHBOURS);
    assert_eq!(port.counters().neighbours_too_many, 256 - MOST_NEIGHBOURS as u64);
    assert_eq!(port.mode(3), DefenseMode::Edge);
}

#[test]
fn the_manager_keeps_a_port_at_the_edge_whatever_is_announced() {
    let component = Component::with(0b1000).unwrap();
    let mut port = Port::new(&component);
    let row = PortPriority {
        port_def_mode_choice: PortChoice::Admin,
        port_admin_defense_mode: DefenseMode::Edge,
        ..PortPriority::default()
    };
    port.manage(&component, 3, row);
    hear(&mut port, &component, at(1), lldp(9, 120, &cn(8, 8)));
    assert_eq!(port.mode(3), DefenseMode::Edge);
    assert_eq!(port.row(3).port_auto_defense_mode, DefenseMode::InteriorReady, "the mode of the automatic choice");
    // And back to the automatic choice, which has heard all along.
    port.manage(&component, 3, PortPriority { port_def_mode_choice: PortChoice::Component, ..row });
    assert_eq!(port.mode(3), DefenseMode::InteriorReady);
}

#[test]
fn the_instance_of_lldp_is_the_selected_one() {
    let component = Component::with(0b1000).unwrap();
    let mut port = Port::new(&component);
    let mut elsewhere = lldp(9, 120, &cn(8, 8));
    elsewhere[5] = 0x00;
    hear(&mut port, &component, at(1), elsewhere);
    assert_eq!(port.mode(3), DefenseMode::Edge, "the nearest customer bridge is instance 3, not 1");
    let row = PortPriority {
        port_lldp_instance_choice: penstock_domain::objects::PortLldp::Admin,
        ..component.new_port_row(3)
    };
    port.manage(&component, 3, row);
    assert_eq!(port.mode(3), DefenseMode::InteriorReady, "the MIB's default selector of a port is 3");
    assert_eq!((port.tlv(&component, 1), port.tlv(&component, 3).map(|tlv| tlv.ready)), (None, Some(8)));
}

#[test]
fn malformed_and_oversized_announcements_are_counted_and_change_nothing() {
    let component = Component::with(0b1000).unwrap();
    let mut port = Port::new(&component);
    hear(&mut port, &component, at(1), lldp(9, 120, &cn(8, 8)));
    let good = lldp(9, 120, &cn(8, 8));
    let mut oversized = lldp(9, 120, &cn(0, 0));
    for _ in 0..3 {
        oversized.extend([0xfe, 0xff]);
        oversized.extend([0; 511]);
    }
    assert!(oversized.len() > 1514);
    assert!(!hear(&mut port, &component, at(2), oversized));
    assert_eq!(port.counters().lldp_oversized, 1);

    // Cut off at every octet but that behind the time to live; chassis and port exchanged, a chassis of no identifier, a
    // second chassis, a last TLV that is not empty.
    let mut wrong: Vec<Vec<u8>> = (14..good.len()).filter(|end| *end != 31).map(|end| good[..end].to_vec()).collect();
    let mut exchanged = good.clone();
    exchanged[14] = 0x04;
    wrong.push(exchanged);
    wrong.push(lldp(9, 120, &[0x02, 0x02, 0x04, 0x01]));
    wrong.push(lldp(9, 120, &[0x00, 0x01, 0x00]));
    let mut short = good.clone();
    short[15] = 1;
    wrong.push(short);
    let tried = wrong.len() as u64;
    for frame in wrong {
        let text = format!("{frame:02x?}");
        assert!(!hear(&mut port, &component, at(3), frame), "{text}");
    }
    assert_eq!(tried, 24 + 4);
    assert_eq!((port.counters().lldp_malformed, port.counters().lldp_frames), (tried, 1));
    assert_eq!(port.mode(3), DefenseMode::InteriorReady);
}

#[test]
fn a_wrong_or_second_tlv_counts_as_none() {
    let component = Component::with(0b1000).unwrap();
    // Ready without the priority, a length of 5, two of them.
    let twice = [cn(8, 8), cn(8, 8)].concat();
    let five = [0xfe, 0x05, 0x00, 0x80, 0xc2, 0x08, 8];
    for rest in [&cn(0, 8)[..], &five, &twice] {
        let mut port = Port::new(&component);
        hear(&mut port, &component, at(1), lldp(9, 120, rest));
        assert_eq!(port.mode(3), DefenseMode::Edge, "{rest:02x?}");
        assert_eq!((port.counters().cn_tlvs_wrong, port.counters().lldp_malformed), (1, 0));
    }
}

#[test]
fn an_announcement_is_octets_for_octets_that_of_802_1ab() {
    let component = Component::with(0b1000).unwrap();
    let frame = announcement(&component, &Port::new(&component), 1, 121);
    #[rustfmt::skip]
    let wanted = [
        0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e, 2, 0, 0, 0, 0, 1, 0x88, 0xcc,
        0x02, 0x07, 0x04, 2, 0, 0, 0, 0, 1,
        0x04, 0x05, 0x05, b'e', b't', b'h', b'0',
        0x06, 0x02, 0x00, 0x79,
        0xfe, 0x06, 0x00, 0x80, 0xc2, 0x08, 0x08, 0x00,
        0x00, 0x00,
    ];
    assert_eq!(frame, wanted);
}

#[test]
fn a_port_without_a_cnpv_announces_no_tlv() {
    let component = Component::with(0).unwrap();
    let port = Port::new(&component);
    assert_eq!(port.tlv(&component, 1), None);
    let mut short = [0; 30];
    assert!(
        port.announce(&component, &crate::common::station(1), 1, 120, &mut short).is_err(),
        "30 octets are no room"
    );
}
