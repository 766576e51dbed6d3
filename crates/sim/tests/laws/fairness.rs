//! Fairness of every scheme of the registry, at its defaults and 10 Gb/s.
//!
//! One port: 2, 3, 4, 8 and 16 greedy sources, started together and 1 ms apart, clocks up to 100 ppm off, end within 10 % of their
//! equal share each. A parking lot: a flow over three links, each with a flow across, gets no more than max-min fairness (1/2 of a
//! line) and no less than proportional fairness (1/4) would give it, within 10 %.
//!
//! A scheme that does not claim it, or whose authors found it less fair than that, has a line in [`ELSEWHERE`], with the reason. A scheme
//! that is added has none, and is held to the law.

use std::fmt::Write as _;

use penstock_schemes::{BitRate, Duration, Instant, Octets, SCHEMES, SchemeConfig, Value};
use penstock_sim::Outcome;

use crate::common::{Builder, star};
use crate::{configured, ms, run};

/// The most that a share may be off.
const OFF: f64 = 0.1;

/// A scheme that is held to something else, and why.
struct Elsewhere {
    scheme: &'static str,
    /// The least of Jain's index at one port.
    jain: f64,
    /// The least and the largest share of a line for the long flow of the parking lot.
    long: [f64; 2],
    why: &'static str,
}

const MAX_MIN: f64 = 0.5;
const PROPORTIONAL: f64 = 0.25;
/// Between the two kinds of fairness.
const FAIR: [f64; 2] = [PROPORTIONAL * (1.0 - OFF), MAX_MIN * (1.0 + OFF)];
const ANY: [f64; 2] = [0.0, 1.0];

const SAMPLED: &str = "a source hears of the queue in a message for one in a hundred or so of its frames, and rises by its own steps \
    between them: rates walk (Kabbani et al. 2010 and Zhang and Ansari 2011 made AF-QCN and FQCN for that)";
const WHOLE: &str =
    "sixteen windows of one to two frames, which are whole: a frame more or less is a large part of one";

const ELSEWHERE: &[Elsewhere] = &[
    Elsewhere { scheme: "none", jain: 0.0, long: ANY, why: "nothing limits a source" },
    Elsewhere {
        scheme: "ci",
        jain: 0.0,
        long: ANY,
        why: "frames are moved to another queue, and nothing limits a source",
    },
    Elsewhere { scheme: "bcn", jain: 0.85, long: [0.1, 0.5], why: SAMPLED },
    Elsewhere { scheme: "e2cm", jain: 0.85, long: [0.1, 0.5], why: SAMPLED },
    Elsewhere { scheme: "qcn", jain: 0.5, long: ANY, why: SAMPLED },
    Elsewhere { scheme: "qcn-multicast", jain: 0.3, long: ANY, why: SAMPLED },
    Elsewhere { scheme: "qcn-bs", jain: 0.5, long: ANY, why: SAMPLED },
    Elsewhere { scheme: "qcn-adaptive", jain: 0.98, long: FAIR, why: SAMPLED },
    Elsewhere { scheme: "qcn-bs-adaptive", jain: 0.98, long: FAIR, why: SAMPLED },
    Elsewhere { scheme: "annulus", jain: 0.7, long: ANY, why: SAMPLED },
    Elsewhere {
        scheme: "af-qcn",
        jain: 0.8,
        long: FAIR,
        why: "approximate by its name: the switch cuts the large flows more, the source is QCN's and recovers at QCN's pace",
    },
    Elsewhere {
        scheme: "smcc",
        jain: 0.0,
        long: ANY,
        why: "a step is the same at every rate, so that the difference of two rates is a random walk (docs/explanation/decisions/0010)",
    },
    Elsewhere {
        scheme: "timely",
        jain: 0.2,
        long: ANY,
        why: "the law of gradients has no single equilibrium: any division of the line is one (Zhu et al. 2016, section 4)",
    },
    // Marked as it passes one of three queues, the long flow is cut about three times as often, and its round trip is the longest.
    Elsewhere {
        scheme: "dctcp",
        jain: 0.9,
        long: [0.0, FAIR[1]],
        why: "a window goes in one train a round trip, and of the trains those that pass before the queue crosses K are not marked; HPCC's \
            simulator paces, has windows of one bandwidth-delay product at most, and a Jain's index of 0.999",
    },
    // Its target grows with hops by less than two more queues add, so that the long flow's window falls to its least.
    Elsewhere { scheme: "swift", jain: 0.99, long: [0.0, FAIR[1]], why: WHOLE },
    Elsewhere { scheme: "nscc", jain: 0.99, long: FAIR, why: WHOLE },
];

/// Variants that keep the law at one port.
const VARIANTS: &[(&str, &str, Value)] = &[("hpcc", "telemetry", Value::Choice("pint"))];

/// Rates of the ports' lines off by up to 100 ppm, an amount a node.
fn clocks(b: &mut Builder) {
    for port in &mut b.network.ports {
        let word = (port.node.0 + 1).wrapping_mul(2_654_435_761) >> 16;
        let ppm = f64::from(word % 201) - 100.0;
        port.rate = BitRate((port.rate.0 as f64 * (1.0 + ppm / 1e6)) as u64);
    }
}

fn shares(outcome: &Outcome) -> Vec<f64> {
    outcome.flows.iter().map(|flow| flow.throughput_bps).collect()
}

/// The largest offset from the mean, in parts of it, and Jain's index.
fn fairness(shares: &[f64]) -> (f64, f64) {
    let sum: f64 = shares.iter().sum();
    let n = shares.len() as f64;
    let most = shares.iter().map(|share| (share * n / sum - 1.0).abs()).fold(0.0, f64::max);
    (most, sum * sum / (n * shares.iter().map(|share| share * share).sum::<f64>()))
}

/// The schemes of the registry, with what they are held to.
fn all() -> impl Iterator<Item = (&'static str, SchemeConfig, Option<&'static Elsewhere>)> {
    SCHEMES.iter().map(|info| {
        let elsewhere = ELSEWHERE.iter().find(|elsewhere| elsewhere.scheme == info.name);
        (info.name, configured(info.name, &[]), elsewhere)
    })
}

#[test]
fn equal_sources_at_one_port_get_equal_shares() {
    let (mut table, mut broken) = (String::new(), false);
    let variants = VARIANTS.iter().map(|&(name, key, value)| (name, configured(name, &[(key, value)]), None));
    let claimed = all().filter(|(.., elsewhere)| elsewhere.is_none_or(|e| e.jain > 0.0));
    for (name, config, elsewhere) in claimed.chain(variants) {
        let _ = write!(table, "\n{name:16}");
        for (n, apart) in [2, 3, 4, 8, 16].into_iter().flat_map(|n| [(n, 0), (n, 1000)]) {
            let mut b = star(n, BitRate::from_gbps(10), Duration::from_us(1), Octets(1_000_000));
            clocks(&mut b);
            for (i, flow) in b.network.flows.iter_mut().enumerate() {
                flow.start = Instant::ZERO + Duration::from_us(apart * i as u64);
            }
            let (off, jain) = fairness(&shares(&run(&b.network, &config, ms(200), ms(400))));
            let fair = elsewhere.map_or(off <= OFF, |elsewhere| jain >= elsewhere.jain);
            let _ = write!(table, " {n}: {off:.3} {jain:.3}{}", if fair { "" } else { "!" });
            broken |= !fair;
        }
    }
    assert!(!broken, "the largest offset and Jain's index for numbers of sources, together and 1 ms apart:{table}");
}

#[test]
fn a_long_way_costs_no_more_than_proportional_fairness() {
    let (mut table, mut broken) = (String::new(), false);
    for (name, config, elsewhere) in all() {
        // Hosts 0 to 3 send and 4 to 7 receive; switches 8 to 11 in a row.
        let mut b = Builder::new(8, 4);
        let mut link = |a, c| b.link(a, c, BitRate::from_gbps(10), Duration::from_us(1), Octets(1_000_000));
        [(8, 9), (9, 10), (10, 11), (0, 8), (4, 11)].into_iter().for_each(|(a, c)| link(a, c));
        (0..3).for_each(|i| {
            link(1 + i, 8 + i);
            link(5 + i, 9 + i);
        });
        b.flow(&[0, 8, 9, 10, 11, 4]);
        (0..3).for_each(|i| {
            b.flow(&[1 + i, 8 + i, 9 + i, 5 + i]);
        });
        clocks(&mut b);
        let share = shares(&run(&b.network, &config, ms(100), ms(200)))[0] / 1e10;
        let [least, most] = elsewhere.map_or(FAIR, |elsewhere| elsewhere.long);
        let fair = (least..=most).contains(&share);
        let _ = write!(table, " {name} {share:.3}{}", if fair { "" } else { "!" });
        broken |= !fair;
    }
    assert!(!broken, "the long flow's share of a line:{table}");
}

#[test]
fn exceptions_are_of_schemes_and_say_why() {
    for elsewhere in ELSEWHERE {
        assert!(SCHEMES.iter().any(|info| info.name == elsewhere.scheme), "{}", elsewhere.scheme);
        assert!(!elsewhere.why.is_empty() && elsewhere.jain < 1.0);
    }
}
