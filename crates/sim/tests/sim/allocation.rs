//! A run allocates memory while it is laid out and while it warms up. After that neither frames nor signals, probes,
//! acknowledgements or pause frames make it allocate.

use crate::common::trial::{Config, PLAIN, Trial};
use crate::common::{Looking, defaults, lossless, star, suited};
use allocation_counter::measure;
use penstock_schemes::mixed::Mixed;
use penstock_schemes::*;
use penstock_sim::network::*;
use penstock_sim::{Full, Lean, Model, Outcome, Sim};

const GBPS: BitRate = BitRate(1_000_000_000);

fn ms(n: u64) -> Instant {
    Instant::ZERO + Duration::from_ms(n)
}

/// Eight greedy sources and one port of 1 Gb/s for all of them; with `pfc` under priority flow control.
fn incast(pfc: bool) -> Network {
    let mut network = star(8, GBPS, Duration::from_us(2), Octets(150_000)).network;
    for (flow, index) in network.flows.iter_mut().zip(0..) {
        flow.start = Instant(index * 900_000);
    }
    if pfc {
        let ingress = Ingress { buffer: Octets(40_000), xoff: Octets(20_000), xon: Octets(17_000) };
        lossless(&mut network, vec![0], ingress);
    }
    network
}

/// The outcome at `end` of a run that has warmed up until `warm`, and how often it has allocated in between.
fn run<S: Scheme, M: Model>(network: &Network, configs: &[S::Config], warm: Instant, end: Instant) -> (Outcome, u64) {
    let mut sim = Sim::<S, _, M>::new(network, configs, 1, Looking::none());
    sim.run_until(warm);
    sim.open_window(0);
    let counted = measure(|| sim.run_until(end));
    let window = sim.close_window(0).expect("it is open");
    sim.finish();
    (window, counted.count_total)
}

/// Runs a scheme, in the lean engine if that is enough.
struct Warm<'a>(&'a Network);

impl Visitor for Warm<'_> {
    type Output = (Outcome, u64);

    fn visit<S: Scheme>(self, configs: &[S::Config]) -> (Outcome, u64) {
        let run = if self.0.needs_flow_control() { run::<S, Full> } else { run::<S, Lean> };
        run(self.0, configs, ms(300), ms(400))
    }
}

#[test]
fn no_scheme_makes_a_run_allocate() {
    let network = incast(false);
    for info in SCHEMES {
        let config = SchemeConfig::with_defaults(info.name).expect("a scheme");
        let network = suited(&network, std::slice::from_ref(&config));
        let (outcome, allocations) = SchemeConfig::visit_engine(&[config], Warm(&network));
        let totals = outcome.totals;
        assert!(totals.packet_hops > 10_000, "{}: {totals:?}", info.name);
        assert_eq!(totals.signals_sent > 0, info.signals.is_some(), "{}: {totals:?}", info.name);
        assert_eq!(allocations, 0, "{}: allocations in {} packet hops", info.name, totals.packet_hops);
    }
}

#[test]
fn flow_control_does_not_allocate() {
    let network = incast(true);
    for scheme in ["none", "qcn", "dcqcn"] {
        let (outcome, allocations) = run::<Mixed, Full>(&network, &defaults(scheme, &network), ms(300), ms(400));
        assert_eq!(allocations, 0, "{scheme}: allocations in {} packet hops", outcome.totals.packet_hops);
        assert!(scheme != "none" || outcome.totals.pause_frames > 100, "{:?}", outcome.totals);
    }
}

/// Windows of ten frames, acknowledged one by one, in queues that tell the previous hop of each frame.
#[test]
fn acknowledgements_and_signals_to_the_previous_hop_do_not_allocate() {
    let config = Config { window: Some(15_000), tells_previous_hop: true, ..PLAIN };
    let (outcome, allocations) = run::<Trial, Full>(&incast(false), &[config], ms(300), ms(400));
    assert!(outcome.totals.acks_delivered > 5_000, "{:?}", outcome.totals);
    assert!(outcome.totals.signals_to_previous_hops > 5_000, "{:?}", outcome.totals);
    assert_eq!(allocations, 0, "allocations");
}

/// The counter counts: to lay out a run allocates, and so does its first millisecond.
#[test]
fn the_start_of_a_run_allocates() {
    let (network, config) = (incast(false), none::Config {});
    let mut sim = None;
    let layout = measure(|| sim = Some(Sim::<none::NoControl, _, Lean>::new(&network, &[config], 1, Looking::none())));
    let mut sim = sim.expect("it was made");
    let warm_up = measure(|| sim.run_until(ms(1)));
    assert!(layout.count_total > 50 && warm_up.count_total > 0, "{layout:?} {warm_up:?}");
}
