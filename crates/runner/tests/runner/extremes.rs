//! Every scheme at the ends of a scenario's ranges: times, rates, sizes and frames, alone and together. The tests are
//! built with overflow checks, so that a sum that leaves its bits is seen.

use std::fmt::Write as _;

use penstock_runner::Recorder;
use penstock_scenario::{Choice, Plan, Scenario};
use penstock_schemes::{Instant, SCHEMES, Scheme, SchemeConfig, Visitor};
use penstock_sim::{Full, Outcome, Sim};

/// Work of each run, in events.
const WORK: u64 = 1500;

struct Job<'p>(&'p Plan);

impl Visitor for Job<'_> {
    type Output = (Outcome, Instant);

    fn visit<S: Scheme>(self, configs: &[S::Config]) -> Self::Output {
        let plan = self.0;
        let mut sim = Sim::<S, _, Full>::new(&plan.network, configs, plan.seed, Recorder::<true>::in_memory::<S>(plan));
        let end = Instant::ZERO + plan.duration;
        if !sim.run_slice(Instant(end.0 / 2), WORK) {
            // Statistics start again in the middle of it.
            sim.start_measuring();
        }
        sim.run_slice(end, WORK);
        let now = sim.now();
        (sim.finish().0, now)
    }
}

/// The scenario of one of the runs; each number picks a value.
fn scenario(scheme: &str, pick: impl Fn(usize) -> usize) -> String {
    let duration = ["1 ms", "1 ps", "2000000 s", "1 s"][pick(4)];
    let rate = ["1 bps", "100 Tbps", "10 Gbps", "7 bps"][pick(4)];
    let trunk = ["100 Tbps", "1 bps", "1 Gbps"][pick(3)];
    let delay = ["0 s", "2000000 s", "1 us", "1 ps"][pick(4)];
    let buffer = ["4 GB", "1 frames", "150 KB", "20 KB"][pick(4)];
    let frame = ["64 octets", "16384 octets", "1500 octets"][pick(3)];
    let traffic = [
        "",
        "traffic = \"constant\"\nrate = \"100 Tbps\"\n",
        "traffic = \"poisson\"\nrate = \"1 bps\"\n",
        "traffic = \"on-off\"\nrate = \"100 Tbps\"\non = \"2000000 s\"\noff = \"2000000 s\"\nrandom = true\n",
        "traffic = \"on-off\"\nrate = \"1 bps\"\non = \"1 ps\"\noff = \"0 s\"\n",
        "traffic = \"poisson\"\nrate = \"100 Tbps\"\n",
    ][pick(6)];
    let excess = ["stall", "discard"][pick(2)];
    let mut text = format!("question = \"Q\"\nduration = \"{duration}\"\nscheme = \"{scheme}\"\n");
    write!(text, "[topology.dumbbell]\nsources = 2\nlink_rate = \"{rate}\"\nbottleneck_rate = \"{trunk}\"\n").unwrap();
    writeln!(text, "link_delay = \"{delay}\"\nbottleneck_delay = \"{delay}\"\nbuffer = \"{buffer}\"").unwrap();
    write!(text, "[[flow]]\nfrom = \"h0..h1\"\nto = \"h2\"\nframe = \"{frame}\"\nexcess = \"{excess}\"\n{traffic}")
        .unwrap();
    text.push_str("[network]\nwire_overhead = \"1000 octets\"\nnode_delay_at = \"all\"\n");
    writeln!(text, "node_delay = \"{delay}\"\nhost_delay = \"{delay}\"").unwrap();
    if pick(3) == 1 {
        text.push_str("feedback = { ideal = \"2000000 s\" }\n");
    }
    if pick(3) == 1 {
        let interval = ["1 ps", "2000000 s"][pick(2)];
        let bucket = format!("depth = \"1099511627776 octets\", interval = \"{interval}\", granularity = \"1 bps\"");
        writeln!(text, "[hosts]\nqueue = \"1 frames\"\npacer = {{ token_bucket = {{ {bucket} }} }}").unwrap();
    }
    if pick(2) == 1 {
        let response = ["0 s", "1 us", "2000000 s"][pick(3)];
        let headroom = ["auto", "0 octets"][pick(2)];
        writeln!(text, "[pfc]\nheadroom = \"{headroom}\"\nquanta = 65535\nresponse = \"{response}\"").unwrap();
    }
    if pick(3) == 1 {
        text.push_str("[[change]]\nlink = \"sw0--sw1\"\nat = \"0 s\"\nrate = \"1 bps\"\n");
    }
    text
}

#[test]
fn no_scheme_and_no_sum_fails_at_the_ends_of_what_can_be_said() {
    let mut runs = 0;
    // A sequence of numbers that visits the combinations evenly enough; the same each time.
    let mut state = 1_u64;
    for info in SCHEMES {
        for _ in 0..80 {
            let numbers: Vec<usize> = std::iter::repeat_with(|| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) as usize
            })
            .take(20)
            .collect();
            let next = std::cell::Cell::new(0);
            let pick = |n| {
                next.set(next.get() + 1);
                numbers[next.get() - 1] % n
            };
            let text = scenario(info.name, pick);
            let Ok(plan) = Scenario::parse(&text, "x.toml", "x").unwrap().plan(&Choice::default()) else { continue };
            runs += 1;
            let outcome = std::panic::catch_unwind(|| SchemeConfig::visit_engine(&plan.configs(), Job(&plan)));
            let (outcome, now) = outcome.unwrap_or_else(|_| panic!("this fails:\n{text}"));
            let most = plan.network.ports.iter().map(|port| port.latency).max().unwrap();
            for (flow, hops) in outcome.flows.iter().zip([3.0, 3.0]) {
                let least = hops * most.as_seconds();
                assert!(
                    flow.frames_delivered == 0 || now.as_seconds() >= least,
                    "delivered before it could arrive:\n{text}"
                );
                assert!(flow.mean_rate_bps >= 0.0 && flow.std_rate_bps.is_finite(), "{flow:?}\n{text}");
            }
            let per_port = plan.network.queues_per_port();
            for (i, queue) in outcome.queues.iter().enumerate() {
                assert!(queue.mean_octets <= queue.max_octets as f64 * (1.0 + 1e-9), "{queue:?}\n{text}");
                // Where the time begins and ends, frames that are on the link are cut to a bit and to a picosecond.
                let (rate, ps) = (plan.network.ports[i / per_port].rate.0 as f64 / 1e12, outcome.measured.0 as f64);
                let most = 1.0 + 2.0 * (1.0 + rate) / (rate * ps).max(1.0);
                assert!((0.0..=most).contains(&queue.utilization), "{most} {queue:?}\n{text}");
            }
        }
    }
    assert!(runs > 150, "{runs} of them can be run");
}
