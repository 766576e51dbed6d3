//! Over sequences of announcements, times and frames that nobody would send.

use crate::common::{at, cn, lldp};
use penstock_domain::{Component, DefenseMode, Port, Received, State};
use proptest::prelude::*;

/// Something that happens at a port.
#[derive(Debug, Clone)]
enum Event {
    /// A station announces these vectors for some seconds.
    Says { station: u8, seconds: u16, cnpv: u8, ready: u8 },
    /// Time goes on by seconds.
    Waits(u64),
    /// These octets come in.
    Frame(Vec<u8>),
    /// The line goes.
    Down,
}

fn event() -> impl Strategy<Value = Event> {
    let says = (0..3u8, 0..200u16, any::<u8>(), any::<u8>());
    prop_oneof![
        6 => says.prop_map(|(station, seconds, cnpv, ready)| Event::Says { station, seconds, cnpv, ready }),
        2 => (0..150u64).prop_map(Event::Waits),
        2 => prop::collection::vec(any::<u8>(), 0..80).prop_map(Event::Frame),
        1 => Just(Event::Down),
    ]
}

proptest! {
    #[test]
    fn a_port_is_interior_ready_only_while_its_one_neighbour_says_ready(
        cnpvs in 0..0xffu8,
        events in prop::collection::vec(event(), 1..60),
    ) {
        let component = Component::with(cnpvs).unwrap();
        let mut port = Port::new(&component);
        // The stations that are valid, by a model that is only a list.
        let mut model: Vec<(u8, u64, u8, u8)> = Vec::new();
        let mut now = 0;
        for event in events {
            match event {
                Event::Says { station, seconds, cnpv, ready } => {
                    let before = port.clone();
                    let mut frame = lldp(station, seconds, &cn(cnpv, ready));
                    port.receive(&component, at(now), &mut frame.clone());
                    model.retain(|known| known.0 != station && known.1 > now);
                    if seconds > 0 {
                        // Ready that is no subset is no announcement.
                        let (cnpv, ready) = if ready & !cnpv == 0 { (cnpv, ready) } else { (0, 0) };
                        model.push((station, now + u64::from(seconds), cnpv, ready));
                    }
                    // Saying it again changes nothing: no oscillation.
                    let once = port.clone();
                    let again = port.receive(&component, at(now), &mut frame);
                    prop_assert_eq!(again, Received::Announcement { changed: false });
                    for priority in 0..8 {
                        prop_assert_eq!(port.state(priority), once.state(priority));
                    }
                    let moved = once.counters().mode_changes - before.counters().mode_changes;
                    prop_assert!(moved <= 8, "a mode changes at most once an event");
                }
                Event::Waits(seconds) => {
                    now += seconds;
                    port.on_timeout(&component, at(now));
                    model.retain(|known| known.1 > now);
                }
                Event::Frame(mut octets) => {
                    let length = octets.len();
                    port.receive(&component, at(now), &mut octets);
                    prop_assert!(port.transmit(3, &mut octets) <= length);
                    model.retain(|known| known.1 > now);
                }
                Event::Down => {
                    port.on_link_down(&component);
                    model.clear();
                }
            }
            for priority in 0..8 {
                let bit = |vector: u8| vector >> priority & 1 == 1;
                let wanted = match (component.row(priority), &model[..]) {
                    (None, _) => DefenseMode::Disabled,
                    (_, [(_, _, cnpv, ready)]) if bit(*cnpv) && bit(*ready) => DefenseMode::InteriorReady,
                    (_, [(_, _, cnpv, _)]) if bit(*cnpv) => DefenseMode::Interior,
                    _ => DefenseMode::Edge,
                };
                prop_assert_eq!(port.mode(priority), wanted, "priority {} at {} s", priority, now);
            }
        }
    }

    #[test]
    fn two_ports_end_up_in_one_domain_whatever_was_before(
        cnpvs in (0..0xffu8, 0..0xffu8),
        before in prop::collection::vec(event(), 0..20),
        turns in prop::collection::vec(any::<bool>(), 0..20),
    ) {
        let components = [Component::with(cnpvs.0).unwrap(), Component::with(cnpvs.1).unwrap()];
        let mut ports = [Port::new(&components[0]), Port::new(&components[1])];
        for event in before {
            if let Event::Says { station, seconds, cnpv, ready } = event {
                ports[0].receive(&components[0], at(0), &mut lldp(100 + station, seconds, &cn(cnpv, ready)));
            }
        }
        ports[0].on_link_down(&components[0]);
        // Announcements in any order, then two from each side.
        let turns = turns.into_iter().chain([false, true, false, true]);
        for from in turns.map(usize::from) {
            let frame = crate::common::announcement(&components[from], &ports[from], from as u8, 120);
            crate::common::hear(&mut ports[1 - from], &components[1 - from], at(1), frame);
        }
        for priority in 0..8 {
            let both = components.iter().all(|component| component.row(priority).is_some());
            for (port, component) in ports.iter().zip(&components) {
                let wanted = match (component.row(priority), both) {
                    (None, _) => State::Admin(DefenseMode::Disabled),
                    (_, true) => State::InteriorReady,
                    (_, false) => State::Edge,
                };
                prop_assert_eq!(port.state(priority), wanted);
            }
        }
    }

    #[test]
    fn announcements_with_octets_changed_are_read_or_refused_and_counted(
        changes in prop::collection::vec((0..60usize, any::<u8>()), 1..8),
        length in 0..80usize,
    ) {
        let component = Component::with(0b1000).unwrap();
        let mut port = Port::new(&component);
        let mut frame = lldp(1, 120, &[&cn(8, 0)[..], &[0xfe, 0x06, 0x00, 0x80, 0xc2, 0x0b, 0x08, 0x08, 0, 0]].concat());
        for (place, octet) in changes {
            if let Some(changed) = frame.get_mut(place) {
                *changed = octet;
            }
        }
        frame.truncate(length);
        let ready = frame.windows(8).any(|tlv| tlv[..6] == cn(0, 0)[..6] && tlv[6] & tlv[7] & 8 != 0);
        if let Received::Announcement { .. } = port.receive(&component, at(1), &mut frame) {
            let counted = port.counters();
            prop_assert_eq!(counted.lldp_frames + counted.lldp_malformed + counted.lldp_oversized, 1);
        }
        prop_assert!(port.mode(3) != DefenseMode::InteriorReady || ready);
    }

    #[test]
    fn frames_behind_a_port_never_carry_an_edge_priority(
        cnpvs in 1..0xffu8,
        mut octets in prop::collection::vec(any::<u8>(), 0..100),
        tagged in any::<bool>(),
    ) {
        let component = Component::with(cnpvs).unwrap();
        let mut port = Port::new(&component);
        if tagged && octets.len() > 16 {
            octets[12..14].copy_from_slice(&[0x81, 0x00]);
        }
        let length = octets.len();
        if let Received::Forward { priority } = port.receive(&component, at(1), &mut octets) {
            prop_assert!(component.row(priority).is_none(), "priority {} is inside", priority);
        }
        prop_assert_eq!(octets.len(), length);
    }
}
