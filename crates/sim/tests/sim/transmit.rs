//! Transmit queues of hosts: the segments that wait, those that are lost, and the flows that find room.

use crate::common::{Looking, defaults, star};
use penstock_endpoint::transport::{Transport, tcp};
use penstock_schemes::mixed::Mixed;
use penstock_schemes::none::{Config, NoControl};
use penstock_schemes::{BitRate, Duration, Instant, Octets};
use penstock_sim::network::*;
use penstock_sim::{Lean, Outcome, Sim, longest_frame};
use proptest::prelude::*;

const GBPS: BitRate = BitRate(1_000_000_000);
/// A full segment's frame.
const FRAME: u64 = 1518;

/// `flows` connections of one host behind one limiter, to one receiver.
fn host(flows: usize, transmit: Transmit, size: Option<u64>) -> Builder {
    let mut b = star(1, GBPS, Duration::from_us(1), Octets(100_000));
    for _ in 1..flows {
        b.flow(&[0, 2, 1]);
        b.network.reaction_points.pop();
    }
    b.network.transmit = transmit;
    for flow in 0..flows {
        let transport = Transport::Tcp(tcp::Config::default());
        let reverse_path = b.network.add_reverse_path(b.network.flows[flow].root);
        let flow = &mut b.network.flows[flow];
        flow.frame = longest_frame(&transport).0 as u16;
        flow.size = size.map(Octets);
        flow.reaction_point = Some(RpId(0));
        flow.transport = Some(Carriage { transport, acks: Some(0), reverse_path });
    }
    b
}

fn run(network: &Network, end: Instant) -> Outcome {
    let mut sim = Sim::<NoControl, _, Lean>::new(network, &[Config {}], 1, Looking::none());
    sim.run_until(end);
    sim.finish().0
}

/// Ten segments at once, on a line that takes 12.144 us for each. All wait in the queue when the flow starts: the first for no
/// time, the second for one frame, the tenth for nine. Their mean over 1 ms: 1518 × 12.144 us × (1 + 2 + … + 9) / 1 ms.
#[test]
fn segments_wait_as_long_as_arithmetic_says() {
    let b = host(1, Transmit::Wait(Octets(100_000)), Some(14_600));
    let outcome = run(&b.network, Instant(1_000_000_000));
    let wanted = FRAME as f64 * 12.144e-6 * 45.0 / 1e-3;
    let flow = &outcome.flows[0];
    assert!((flow.transmit_queue_mean_octets - wanted).abs() < 1e-6, "{}", flow.transmit_queue_mean_octets);
    assert_eq!((flow.frames_sent, flow.segments_discarded), (10, 0));
    // The queue changes no time of departure.
    let pulled = host(1, Transmit::Pull, Some(14_600));
    assert_eq!(run(&pulled.network, Instant(1_000_000_000)).flows[0].completed, flow.completed);
}

/// Room for four frames: the others of the first window wait for their turn, and none is lost.
#[test]
fn a_transport_waits_for_room() {
    let b = host(1, Transmit::Wait(Octets(4 * FRAME)), Some(14_600));
    let outcome = run(&b.network, Instant(1_000_000_000));
    // The first goes at once, which makes room for a fifth: four wait while six frames go, then three, two, one.
    let wanted = FRAME as f64 * 12.144e-6 * f64::from(4 * 6 + 3 + 2 + 1) / 1e-3;
    let flow = &outcome.flows[0];
    assert!((flow.transmit_queue_mean_octets - wanted).abs() < 1e-6, "{}", flow.transmit_queue_mean_octets);
    assert_eq!((flow.frames_sent, flow.retransmissions, flow.segments_discarded), (10, 0, 0));
}

/// The same room, and segments that find none are lost: the first goes at once, but not before all ten are made. Six
/// are lost, and sent again.
#[test]
fn segments_without_room_are_lost_and_sent_again() {
    let b = host(1, Transmit::Drop(Octets(4 * FRAME)), Some(14_600));
    let outcome = run(&b.network, Instant(10_000_000_000_000));
    let flow = &outcome.flows[0];
    assert!(flow.completed.is_some());
    assert_eq!(outcome.totals.frames_discarded_at_source, flow.segments_discarded);
    assert!(flow.segments_discarded >= 6 && flow.retransmissions >= flow.segments_discarded, "{flow:?}");
    assert_eq!(flow.frames_dropped, 0);
}

/// Four connections of a host share a queue with room for three frames, and still the line.
#[test]
fn connections_share_a_queue_fairly() {
    let b = host(4, Transmit::Wait(Octets(3 * FRAME)), None);
    let outcome = run(&b.network, Instant(100_000_000_000));
    let sent: Vec<u64> = outcome.flows.iter().map(|flow| flow.frames_sent).collect();
    let all: u64 = sent.iter().sum();
    // 100 ms at 12.144 us a frame, all but the first round trips.
    assert!(all > 8_150, "{sent:?}");
    assert!(sent.iter().all(|&own| own.abs_diff(all / 4) <= 30), "{sent:?}");
    let waiting: f64 = outcome.flows.iter().map(|flow| flow.transmit_queue_mean_octets).sum();
    assert!(waiting <= 3.0 * FRAME as f64 && waiting > 2.5 * FRAME as f64, "{waiting}");
}

/// A connection that is stopped leaves no octet behind in the room that it shared.
#[test]
fn a_stopped_connection_gives_its_room_back() {
    let mut b = host(2, Transmit::Wait(Octets(3 * FRAME)), None);
    b.network.flows[0].stop = Some(Instant(10_000_000_000));
    let outcome = run(&b.network, Instant(100_000_000_000));
    assert!(outcome.flows[0].frames_sent < 500, "{:?}", outcome.flows[0]);
    assert!(outcome.flows[1].frames_sent > 7_700, "{:?}", outcome.flows[1]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::common::cases(32)))]
    /// For any room and any number of connections, each completes, and where a run is cut changes nothing.
    #[test]
    fn every_connection_completes(flows in 1_usize..5, room in 1_u64..40_000, drops: bool, slice in 1_u64..50) {
        let transmit = if drops { Transmit::Drop(Octets(room)) } else { Transmit::Wait(Octets(room)) };
        let mut b = host(flows, transmit, Some(200_000));
        b.network.until_complete = true;
        let end = Instant(100_000_000_000_000);
        let config = defaults("qcn", &b.network);
        let mut whole = Sim::<Mixed, _, Lean>::new(&b.network, &config, 1, Looking::none());
        whole.run_until(end);
        let whole = whole.finish().0;
        prop_assert!(whole.flows.iter().all(|flow| flow.completed.is_some()));
        if !drops {
            prop_assert!(whole.flows.iter().all(|flow| flow.retransmissions == 0));
        }
        let mut sliced = Sim::<Mixed, _, Lean>::new(&b.network, &config, 1, Looking::none());
        while !sliced.run_slice(end, slice) {}
        prop_assert_eq!(sliced.finish().0, whole);
    }
}
