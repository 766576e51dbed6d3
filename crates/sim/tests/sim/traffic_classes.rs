//! Traffic classes at switches: weights, strict priorities, shapers and WRED, against numbers worked out by hand.

use crate::common::random::random_network;
use crate::common::{Look, Looking, cases};
use penstock_endpoint::TrafficClass;
use penstock_schemes::none::NoControl;
use penstock_schemes::parts::marking::Ramp;
use penstock_schemes::{BitRate, Duration, FlowKey, Instant, Octets, SchemeConfig};
use penstock_sim::network::*;
use penstock_sim::probe::{Content, FrameSeen};
use penstock_sim::{Full, Outcome, Sim};
use penstock_switch::datapath::enqueue::Enqueued;
use penstock_switch::events::{FrameId, Lane, PauseId};
use penstock_switch::state::frame::{Marks, Payload, Slot};
use penstock_switch::state::hop_info::HopInfo;
use penstock_switch::{Arrival, Config, Events, Fabric, Timer};
use proptest::prelude::*;

const GBPS: BitRate = BitRate(1_000_000_000);
const US: Duration = Duration(1_000_000);
const ROOMY: Octets = Octets(100_000_000);

/// The starts of frames on a line: time in ns and priority.
struct Starts(Vec<PortId>, Vec<(u64, u8)>);

impl Look<NoControl> for Starts {
    fn captured_ports(&self) -> &[PortId] {
        &self.0
    }

    fn frame(&mut self, seen: &FrameSeen<'_, NoControl>) {
        if let Content::Frame { priority: Some(priority), .. } = seen.content {
            self.1.push((seen.start.since(Instant::ZERO).0 / 1000, priority));
        }
    }
}

fn run(network: &Network, captured: Vec<PortId>, cuts: &[Duration]) -> (Outcome, Starts) {
    let Some(SchemeConfig::None(config)) = SchemeConfig::with_defaults("none") else { unreachable!() };
    let configs = vec![config; network.priorities.len()];
    let mut starts = Starts(captured, Vec::new());
    let mut sim = Sim::<_, _, Full>::new(network, &configs, 1, Looking::with(&mut starts));
    cuts.iter().for_each(|&cut| sim.run_until(Instant::ZERO + cut));
    (sim.finish().0, starts)
}

fn weight(weight: u16) -> Service {
    Service { weight: Some(weight), shaper: None }
}

fn shaper(rate: u64, burst: u64) -> Service {
    Service { weight: None, shaper: Some(Shaper { rate: BitRate(rate), burst: Octets(burst) }) }
}

/// A source at 1 Gb/s for each priority and length of frames, one receiver behind 1 Gb/s, and the switch last.
fn classes(of: &[(u8, u16)], service: Vec<Service>) -> Builder {
    let n = of.len();
    let mut b = Builder::new(n + 1, 1);
    b.network.priorities = of.iter().map(|(priority, _)| *priority).collect();
    b.network.service = service;
    for host in 0..=n {
        b.link(host, n + 1, GBPS, US, ROOMY);
    }
    for (source, &(priority, frame)) in of.iter().enumerate() {
        let flow = b.flow(&[source, n + 1, n]);
        (flow.priority, flow.frame) = (priority, frame);
    }
    b
}

/// Octets that the queues of the port to the receiver have sent.
fn sent(b: &Builder, outcome: &Outcome) -> Vec<u64> {
    let n = b.network.priorities.len();
    let queue = |&priority: &u8| b.network.queue(b.port(n + 1, n), priority);
    b.network.priorities.iter().map(|priority| outcome.queues[queue(priority).index()].octets_sent).collect()
}

/// Weights 1 and 3, frames of 900 and of 1000 octets: quanta 1000 and 3000. Before the others have come, a frame of each is on its way.
#[test]
fn weights_share_the_line_to_a_quantum() {
    let b = classes(&[(1, 900), (3, 1000)], vec![weight(1), weight(3)]);
    let (outcome, _) = run(&b.network, vec![], &[Duration::from_ms(10)]);
    let sent = sent(&b, &outcome);
    // 1.25 MB in 10 ms, but for the frame of the first 8.2 us and the last one.
    assert!((1_246_000..=1_250_000).contains(&(sent[0] + sent[1])), "{sent:?}");
    // A quantum, and three times a frame of the other queue.
    assert!(sent[1].abs_diff(3 * sent[0]) <= 3000 + 3 * 900, "{sent:?}");
}

/// Priority 0 is strict and has 200 Mb/s; 1 and 2 share the other 800 in the ratio 1 to 3.
#[test]
fn strict_priority_goes_before_weights_of_any_number() {
    let mut b = classes(&[(0, 1000), (1, 1000), (2, 1000)], vec![Service::default(), weight(1), weight(3)]);
    (b.network.flows[0].traffic, b.network.flows[0].excess) = (Traffic::Constant(BitRate(200_000_000)), Excess::Wait);
    let (outcome, _) = run(&b.network, vec![], &[Duration::from_ms(10)]);
    for (sent, expected) in sent(&b, &outcome).into_iter().zip([250_000, 250_000, 750_000]) {
        assert!(sent.abs_diff(expected) <= 4000, "{sent}, not {expected}");
    }
}

/// A shaper of 500 Mb/s lets a frame of 1500 octets go every 24 us; a bucket of 1500 octets has filled before the first.
#[test]
fn a_shaper_spaces_frames_and_gives_its_burst() {
    for (burst, first) in [(0, [13_000, 37_000, 61_000, 85_000]), (1500, [13_000, 25_000, 37_000, 61_000])] {
        let mut b = classes(&[(3, 1500)], vec![shaper(500_000_000, burst)]);
        b.network.flows[0].start = Instant::ZERO + Duration::from_us(if burst == 0 { 0 } else { 100 });
        let late = if burst == 0 { 0 } else { 100_000 };
        let (_, Starts(_, starts)) = run(&b.network, vec![b.port(2, 1)], &[Duration::from_us(200)]);
        let times: Vec<u64> = starts.iter().map(|(ns, _)| ns - late).take(4).collect();
        assert_eq!(times, first, "burst {burst}");
    }
}

/// 300 Mb/s for priority 3, all of the rest for priority 1, on a line that is never idle.
#[test]
fn a_shaped_class_has_its_rate_and_leaves_the_rest() {
    let b = classes(&[(1, 1000), (3, 1500)], vec![Service::default(), shaper(300_000_000, 8000)]);
    let (outcome, _) = run(&b.network, vec![], &[Duration::from_ms(20)]);
    let sent = sent(&b, &outcome);
    assert!(sent[1].abs_diff(750_000) <= 8000 + 1500 && sent[0] + sent[1] >= 2_495_000, "{sent:?}");
}

/// A driver that forgets everything: nothing leaves.
#[derive(Debug)]
struct Nobody;

impl Events for Nobody {
    fn wake(&mut self, _: Instant, _: Timer) {}
    fn deliver(&mut self, _: Instant, _: FrameId, _: PortId, _: Lane) {}
    fn deliver_corrupted(&mut self, _: Instant, _: FrameId, _: PortId) {}
    fn deliver_pause(&mut self, _: Instant, _: PauseId, _: PortId) {}
}

/// Frames of 1000 octets fill a queue that cannot send: for each, its length with the frame in KB, and what becomes of it.
fn fill(frames: u64, marks: Marks, drops: EarlyDrops) -> Vec<(u64, Enqueued, bool)> {
    let nodes = [Node::new(NodeKind::Switch, 1), Node::new(NodeKind::Host, 2)];
    let mut port = Port::new(NodeId(0), NodeId(1), BitRate(1), US);
    port.capacity = Capacity::Octets(ROOMY);
    let ports = [port];
    let ramp = Ramp { k_min: 500_000, k_max: 2_000_000, p_max: (0.05 * 4_294_967_296.0) as u64 };
    let wred = [Wred { port: PortId(0), priority: 0, ramp, drops }];
    let mut config = Config::new(&nodes, &ports);
    config.wred = &wred;
    let hops = vec![HopInfo { flow: FlowId(0), weight: 1, class: TrafficClass(0) }];
    let mut fabric =
        Fabric::<NoControl, Nobody, Full>::new(&config, hops, &[penstock_schemes::none::Config {}], 1, Nobody);
    let frame = Slot {
        next: FrameId::NONE,
        flow: FlowKey(0),
        hop: HopId(0),
        octets: 1000,
        class: TrafficClass(0),
        marks,
        sent_at: Instant::ZERO,
        seq: Octets(0),
        payload: Payload::Data(()),
    };
    let one = |_| {
        let index = fabric.frames.insert(frame.clone());
        let arrival = Arrival { index, class: TrafficClass(0), octets: 1000, from: PortId::NONE };
        let before = fabric.ports[0].queues[0].len;
        let fate = fabric.enqueue(PortId(0), arrival, &mut Vec::new());
        let marked = fate == Enqueued::Queued && fabric.frames.get(index).marks.contains(Marks::CONGESTION_EXPERIENCED);
        (before / 1000 + 1, fate, marked)
    };
    (0..frames).map(one).collect()
}

/// The accuracy test of sonic-mgmt (ECN_ACCURACY_README): Kmin 500 KB, Kmax 2000 KB, Pmax 5 %; a blocked queue fills with Kmax and ten
/// packets. Of the frames at q KB a share of (q - Kmin) / (Kmax - Kmin) Pmax is marked: 37.5 of those between, and all beyond.
#[test]
fn marks_are_as_likely_as_the_ramp_says() {
    let seen = fill(2010, Marks::ECN_CAPABLE, EarlyDrops::Unmarkable);
    let marks = |from: u64, to: u64| seen.iter().filter(|(kb, _, marked)| (from..=to).contains(kb) && *marked).count();
    assert!(seen.iter().all(|(_, fate, _)| *fate == Enqueued::Queued));
    assert_eq!((marks(1, 500), marks(2001, 2010)), (0, 10));
    // Standard deviation 6.0.
    assert!((20..=55).contains(&marks(501, 2000)), "{}", marks(501, 2000));
    assert_eq!(seen, fill(2010, Marks::ECN_CAPABLE, EarlyDrops::Unmarkable), "the seed decides");
}

/// The same ramp drops: beyond Kmax nothing joins, so that the queue stays there.
#[test]
fn frames_that_cannot_be_marked_are_dropped() {
    for (marks, drops, expected) in [
        (Marks::NONE, EarlyDrops::Unmarkable, true),
        (Marks::NONE, EarlyDrops::None, false),
        (Marks::ECN_CAPABLE, EarlyDrops::All, true),
    ] {
        let seen = fill(3000, marks, drops);
        let dropped = seen.iter().filter(|(_, fate, _)| *fate == Enqueued::Dropped).count();
        assert!(seen.iter().all(|(kb, fate, marked)| !marked && (*kb > 500 || *fate == Enqueued::Queued)));
        assert_eq!(dropped > 900, expected, "{dropped} dropped");
        assert_eq!(seen.iter().any(|(kb, fate, _)| *kb > 2000 && *fate == Enqueued::Queued), !expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(64)))]

    /// `finish` checks conservation; a run in pieces is the run as a whole.
    #[test]
    fn random_classes_conserve_frames(
        mut network in random_network(),
        service in prop::collection::vec((prop::option::of(1u16..20), prop::option::of((1_000_000u64..1_000_000_000, 0u64..5000))), 3),
        (min, more, p_max) in (1u64..20_000, 0u64..20_000, 0u64..1 << 32),
        (at_departure, by_port, all) in any::<(bool, bool, bool)>(),
        cut in 1u64..4000,
    ) {
        network.service = service.into_iter().map(|(weight, shaper)| Service {
            weight,
            shaper: shaper.map(|(rate, burst)| Shaper { rate: BitRate(rate), burst: Octets(burst) }),
        }).collect();
        network.marking = Marking { at_departure, by_port };
        let drops = if all { EarlyDrops::All } else { EarlyDrops::Unmarkable };
        let ramp = Ramp { k_min: min, k_max: min + more, p_max };
        let switches = (0..).map(PortId).zip(&network.ports).filter(|(_, port)| network.nodes[port.node.index()].kind == NodeKind::Switch);
        network.wred = switches.map(|(port, _)| Wred { port, priority: 2, ramp, drops }).collect();
        let (whole, _) = run(&network, vec![], &[Duration::from_us(4000)]);
        let (cut, _) = run(&network, vec![], &[Duration::from_us(cut), Duration::from_us(4000)]);
        prop_assert_eq!(whole, cut);
    }
}
