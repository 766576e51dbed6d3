//! Several schemes in one network: each priority behaves as if its scheme ran alone.

use crate::common::{Looking, star, suited};
use penstock_schemes::mixed::Mixed;
use penstock_schemes::{BitRate, Duration, Instant, Octets, SCHEMES, Scheme, SchemeConfig, Visitor};
use penstock_sim::network::{Builder, Network};
use penstock_sim::{Full, Lean, Model, Outcome, Sim};

const RATE: BitRate = BitRate::from_gbps(10);
const END: Instant = Instant(20_000_000_000);

/// Runs a network, and says with which scheme's type.
struct Run<'a>(&'a Network);

impl Visitor for Run<'_> {
    type Output = (&'static str, Outcome);

    fn visit<S: Scheme>(self, configs: &[S::Config]) -> Self::Output {
        fn run<S: Scheme, M: Model>(network: &Network, configs: &[S::Config]) -> Outcome {
            let mut sim = Sim::<S, _, M>::new(network, configs, 7, Looking::none());
            sim.run_until(END);
            sim.finish().0
        }
        let run = if self.0.needs_flow_control() { run::<S, Full> } else { run::<S, Lean> };
        (S::INFO.name, run(self.0, configs))
    }
}

fn run(network: &Network, schemes: [&str; 2]) -> (&'static str, Outcome) {
    let configs = schemes.map(|name| SchemeConfig::with_defaults(name).expect("a scheme"));
    SchemeConfig::visit_engine(&configs, Run(&suited(network, &configs)))
}

/// Eight sources, half of them of priority 1 and half of priority 4; those of `silent` start after the end.
fn half_silent(silent: u8) -> Builder {
    let mut b = star(8, RATE, Duration::from_us(1), Octets(150_000));
    b.network.priorities = vec![1, 4];
    for (i, flow) in b.network.flows.iter_mut().enumerate() {
        flow.priority = if i % 2 == 0 { 1 } else { 4 };
        flow.start = if flow.priority == silent { END + Duration::from_us(1) } else { Instant::ZERO };
    }
    // A source that nothing controls: its frames come without a tag of any scheme.
    let uncontrolled = b.network.flows.last_mut().expect("eight flows");
    uncontrolled.traffic = penstock_sim::network::Traffic::Constant(BitRate::from_gbps(2));
    uncontrolled.reaction_point = None;
    b.network.reaction_points.pop();
    b
}

#[test]
fn a_priority_does_not_feel_the_scheme_of_another() {
    for name in SCHEMES.iter().map(|info| info.name) {
        let other = if name == "qcn" { "smcc" } else { "qcn" };
        for silent in [1, 4] {
            let network = half_silent(silent).network;
            let both = if silent == 1 { [other, name] } else { [name, other] };
            let (alone, expected) = run(&network, [name, name]);
            let (mixed, outcome) = run(&network, both);
            // With the feature "one-engine" all schemes have that of the enum; `make verify` builds without it.
            assert!(alone == name || alone == "mixed", "{alone}");
            assert_eq!(mixed, "mixed");
            assert!(expected.totals.frames_delivered > 3_000, "{name}: {:?}", expected.totals);
            // Probes and timers of the silent priority may differ; its frames are none.
            let (mut totals, mut expected_totals) = (outcome.totals, expected.totals);
            (totals.events, expected_totals.events) = (0, 0);
            assert_eq!(totals, expected_totals, "{name}, {silent} silent");
            assert_eq!(outcome.queues, expected.queues, "{name}, {silent} silent");
            assert_eq!(outcome.flows, expected.flows, "{name}, {silent} silent");
        }
    }
}

#[test]
fn schemes_share_a_port() {
    let mut b = half_silent(8);
    b.network.flows.iter_mut().for_each(|flow| flow.start = Instant::ZERO);
    let (name, outcome) = run(&b.network, ["qcn", "smcc"]);
    assert_eq!(name, Mixed::INFO.name);
    // Strict priority: SMCC's four flows take all that they are given, QCN's queue fills behind them.
    let throughput = |parity| -> f64 { outcome.flows.iter().skip(parity).step_by(2).map(|f| f.throughput_bps).sum() };
    assert!(throughput(1) > throughput(0) && throughput(0) + throughput(1) > 9e9, "{outcome:?}");
    assert!(outcome.totals.feedback_frames > 100);
}
