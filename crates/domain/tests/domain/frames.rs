//! The effect of the defense on frames: priorities at the edge, CN-TAGs, notifications from outside.

use crate::common::{at, cn, cnm, hear, lldp};
use penstock_domain::objects::{PortChoice, PortPriority};
use penstock_domain::{Component, DefenseMode, Port, Received, Refusal};

/// A tag of this priority, drop eligible, in VLAN 868.
fn tag(priority: u8) -> [u8; 4] {
    [0x81, 0x00, priority << 5 | 0x13, 100]
}

/// A frame with these tags before its data.
fn data(tags: &[u8]) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
    frame.extend(tags);
    frame.extend([0x12, 0x34]);
    frame.extend(0..50);
    frame
}

/// A port whose priority 3 is in this mode by the manager's choice, with 1 as alternate.
fn port_in(mode: DefenseMode) -> (Component, Port) {
    let component = Component::with(0b1000).unwrap();
    let mut port = Port::new(&component);
    let row = PortPriority {
        port_def_mode_choice: PortChoice::Admin,
        port_admin_defense_mode: mode,
        port_alternate_priority: 1,
        ..PortPriority::default()
    };
    port.manage(&component, 3, row);
    (component, port)
}

const MODES: [DefenseMode; 4] =
    [DefenseMode::Disabled, DefenseMode::Interior, DefenseMode::InteriorReady, DefenseMode::Edge];

#[test]
fn the_edge_alone_remaps_and_only_its_priority() {
    for mode in MODES {
        for priority in 0..8 {
            let (component, mut port) = port_in(mode);
            let mut frame = data(&tag(priority));
            let wanted = if mode == DefenseMode::Edge && priority == 3 { 1 } else { priority };
            assert_eq!(port.receive(&component, at(1), &mut frame), Received::Forward { priority: wanted });
            assert_eq!(frame, data(&tag(wanted)), "the tag says so too, and nothing else has changed");
            assert_eq!(port.counters().remapped, u64::from(wanted != priority));
        }
    }
}

#[test]
fn a_frame_without_a_tag_has_the_priority_of_its_port() {
    let (component, port) = port_in(DefenseMode::Edge);
    let mut port = port.with_untagged(3);
    let mut frame = data(&[]);
    assert_eq!(port.receive(&component, at(1), &mut frame), Received::Forward { priority: 1 });
    assert_eq!(frame, data(&[]));
}

#[test]
fn the_outermost_tag_has_the_priority() {
    let (component, mut port) = port_in(DefenseMode::Edge);
    let mut frame = data(&[[0x88, 0xa8, 3 << 5, 1], tag(7)].concat());
    assert_eq!(port.receive(&component, at(1), &mut frame), Received::Forward { priority: 1 });
    assert_eq!(frame, data(&[[0x88, 0xa8, 1 << 5, 1], tag(7)].concat()));
}

#[test]
fn cn_tags_go_out_where_the_neighbour_takes_them() {
    let with = data(&[tag(3), [0x22, 0xe9, 0x00, 0x05]].concat());
    let twice = data(&[tag(3), [0x22, 0xe9, 0x00, 0x05], [0x22, 0xe9, 0x00, 0x06]].concat());
    for mode in MODES {
        let (_, mut port) = port_in(mode);
        let kept = matches!(mode, DefenseMode::Disabled | DefenseMode::InteriorReady);
        for (tagged, tags) in [(&with, 1), (&twice, 2)] {
            let mut frame = tagged.clone();
            let length = port.transmit(3, &mut frame);
            let wanted = if kept { tagged.clone() } else { data(&tag(3)) };
            assert_eq!(frame[..length], wanted, "{mode:?}, {tags} tags");
        }
        assert_eq!(port.counters().tags_removed, if kept { 0 } else { 3 });
        // A frame of another priority, a notification for instance, keeps its tag.
        let mut frame = with.clone();
        assert_eq!(port.transmit(6, &mut frame), with.len());
    }
}

#[test]
fn frames_that_are_too_short_for_anything_pass_unharmed() {
    let (component, mut port) = port_in(DefenseMode::Edge);
    for length in 0..16 {
        let mut frame = data(&tag(3))[..length].to_vec();
        let whole = frame.clone();
        let priority = if length > 14 { 1 } else { 0 };
        assert_eq!(port.receive(&component, at(1), &mut frame), Received::Forward { priority });
        if length <= 14 {
            assert_eq!(frame, whole);
        }
        assert_eq!(port.transmit(3, &mut frame), length);
    }
}

#[test]
fn a_forged_notification_from_outside_is_dropped_and_counted() {
    let component = Component::with(0b1000).unwrap();
    let mut port = Port::new(&component);
    // Behind a tag, behind two, behind a CN-TAG, behind both, behind none: always a notification.
    let cn_tag = [0x22, 0xe9, 0x00, 0x07];
    let ways = [vec![], tag(6).to_vec(), [tag(6), tag(6)].concat(), cn_tag.to_vec(), [tag(6), cn_tag].concat()];
    for tags in &ways {
        let mut frame = cnm(tags, 63, 3);
        let got = port.receive(&component, at(1), &mut frame);
        assert_eq!(got, Received::Refused(Refusal::Outside { priority: 3 }), "behind {tags:02x?}");
    }
    assert_eq!(port.counters().cnms_outside, 5);
    // Once the neighbour has joined the domain, its notifications pass.
    hear(&mut port, &component, at(1), lldp(9, 120, &cn(8, 0)));
    assert_eq!(port.mode(3), DefenseMode::Interior);
    assert_eq!(port.receive(&component, at(1), &mut cnm(&tag(6), 63, 3)), Received::Forward { priority: 6 });
    // And they stop when it is lost.
    port.on_timeout(&component, at(200));
    assert_eq!(
        port.receive(&component, at(200), &mut cnm(&tag(6), 63, 3)),
        Received::Refused(Refusal::Outside { priority: 3 })
    );
}

#[test]
fn a_notification_cannot_pass_under_another_priority() {
    let component = Component::with(0b1000).unwrap();
    let mut port = Port::new(&component);
    for priority in [0, 1, 2, 4, 5, 6, 7] {
        let got = port.receive(&component, at(1), &mut cnm(&tag(6), 63, priority));
        assert_eq!(got, Received::Refused(Refusal::NotCnpv { priority }));
    }
    assert_eq!(port.counters().cnms_not_cnpv, 7);
}

#[test]
fn a_malformed_notification_is_dropped_and_counted() {
    let (component, mut port) = port_in(DefenseMode::InteriorReady);
    let whole = cnm(&[], 63, 3);
    let version = {
        let mut frame = whole.clone();
        frame[14] = 0x10;
        frame
    };
    let msdu = {
        let mut frame = whole.clone();
        frame[14 + 23] = 65;
        frame
    };
    let mut tried = 0;
    for mut frame in (14..14 + 24).map(|end| whole[..end].to_vec()).chain([version, msdu]) {
        tried += 1;
        assert!(matches!(port.receive(&component, at(1), &mut frame), Received::Refused(Refusal::Malformed(_))));
    }
    assert_eq!(port.counters().cnms_malformed, tried);
}

#[test]
fn without_congestion_notification_notifications_are_frames_like_any_other() {
    let mut component = Component::with(0b1000).unwrap();
    component.global.master_enable = false;
    let mut port = Port::new(&component);
    assert_eq!(port.mode(3), DefenseMode::Disabled);
    assert_eq!(port.receive(&component, at(1), &mut cnm(&tag(6), 63, 3)), Received::Forward { priority: 6 });
}

#[test]
fn a_component_without_a_cnpv_passes_notifications_on() {
    let component = Component::with(0).unwrap();
    let mut port = Port::new(&component);
    assert_eq!(port.receive(&component, at(1), &mut cnm(&tag(6), 63, 3)), Received::Forward { priority: 6 });
}

#[test]
fn a_disabled_port_defends_nothing() {
    let (component, mut port) = port_in(DefenseMode::Disabled);
    assert_eq!(port.receive(&component, at(1), &mut cnm(&tag(6), 63, 3)), Received::Forward { priority: 6 });
}
