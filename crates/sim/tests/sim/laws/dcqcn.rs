//! Profiles of DCQCN on the situations of their sources: eight long flows into one port, and the equilibrium of the paper.
//!
//! `simai*`, `conweave` and `hpcc-mlx` are constants of simulators whose rules are those of `rdma-hw.cc` in HPCC's (SimAI's at c2bfbf4 has the same
//! lines, ConWeave's at 236a801 the same with other line breaks). So their numbers are that program's (9f4be2a) with these constants, CC_MODE 1,
//! HAS_WIN 0, 32 MB, links of 1 us, starts 100 ns apart, 40 to 60 ms. SimAI's frames have 9000 octets of payload. There a frame takes whole
//! nanoseconds, rounded down, by which lines here are faster.

use penstock_schemes::mixed::Mixed;
use penstock_schemes::{BitRate, Duration, Instant, Octets, SCHEMES, SchemeConfig};
use penstock_sim::{Full, Sim};

use super::ms;
use crate::common::{Looking, star};

fn profile(name: &str) -> SchemeConfig {
    let info = SCHEMES.iter().find(|info| info.name == "dcqcn").expect("a scheme of the registry");
    let set = info.profile(name).expect("a profile").settings;
    let value = |name: &str| set.iter().find(|(other, _)| *other == name).map(|(_, value)| *value);
    let values: Vec<_> = info.parameters.iter().map(|p| value(p.name).unwrap_or(p.default)).collect();
    SchemeConfig::new("dcqcn", &values).expect("values are of their parameters' kinds")
}

/// The mean queue of `n` flows with frames of `octets` from `from` to `to` ms, the mean of some seeds.
fn queue(name: &str, n: usize, mbps: u64, octets: u16, [from, to]: [u64; 2]) -> f64 {
    let mut b = star(n, BitRate::from_mbps(mbps), Duration::from_us(1), Octets(32_000_000));
    b.network.in_service_counts = false;
    b.network.marking.at_departure = true;
    for (i, flow) in b.network.flows.iter_mut().enumerate() {
        (flow.frame, flow.start) = (octets, Instant(100_000 * i as u64));
    }
    let queue = b.network.queue(b.port(n + 1, n), 0).index();
    let configs = vec![profile(name); b.network.priorities.len()];
    let seeds = 1..=4;
    let run = |seed| {
        let mut sim = Sim::<Mixed, _, Full>::new(&b.network, &configs, seed, Looking::none());
        sim.run_until(ms(from));
        sim.start_measuring();
        sim.run_until(ms(to));
        let outcome = sim.finish().0;
        assert_eq!(outcome.totals.frames_dropped, 0);
        outcome.queues[queue].mean_octets
    };
    seeds.clone().map(run).sum::<f64>() / seeds.count() as f64
}

/// Its queues: one run each there.
#[test]
fn profiles_of_simulators_hold_the_queue_of_their_rules() {
    for (name, mbps, octets, theirs) in [
        ("simai", 25_003, 9048, 151_684.0),
        ("simai-100g", 100_116, 9048, 392_427.0),
        ("simai-200g", 200_510, 9048, 128_023.0),
        ("simai-400g", 402_130, 9048, 410_973.0),
        ("conweave", 101_010, 1048, 52_522.0),
        ("hpcc-mlx", 25_027, 1048, 74_748.0),
    ] {
        let mean = queue(name, 8, mbps, octets, [40, 60]);
        assert!((mean / theirs - 1.0).abs() < 0.1, "{name}: {mean} octets, and {theirs}");
    }
}

/// The queue at the equilibrium of Zhu et al. 2015, section 5.1, for `n` flows at 40 Gb/s with packets of 1000 octets. Equations 5 to 9
/// with all derivatives 0 are solved by bisection for the probability p of a mark. Beyond `P_max` there is none.
fn equilibrium(n: f64) -> Option<f64> {
    let (rate, r_ai, b, f) = (5e6 / n, 5e3, 1e4, 5.0);
    let (tau, alpha_time, timer) = (50e-6, 55e-6, 55e-6);
    let excess = |p: f64| {
        let q = 1.0 - p;
        let alpha = 1.0 - q.powf(alpha_time * rate);
        let notified = 1.0 - q.powf(tau * rate);
        let by_octets = rate * p / (q.powf(-b) - 1.0);
        let by_timer = rate * p / (q.powf(-timer * rate) - 1.0);
        let steps = q.powf(f * b) * by_octets + q.powf(f * timer * rate) * by_timer;
        let apart = tau * r_ai / notified * steps;
        apart / 2.0 * (by_octets + by_timer) - rate * alpha / (2.0 * tau) * notified
    };
    let (mut low, mut high): (f64, f64) = (1e-7, 0.5);
    for _ in 0..100 {
        let p = (low * high).sqrt();
        if excess(p) > 0.0 { low = p } else { high = p }
    }
    (low <= 0.01).then(|| 5_000.0 + low / 0.01 * 195_000.0)
}

/// The fluid's queue is 20.2 KB for two flows, 41.8 for four and 93.8 for eight. Packets stand above it. The fluid asks each 50 us whether
/// a mark has come, and a destination waits for the next mark after 50 us, which is 7 % more of a time with eight flows. And the queue
/// swings between 0 and twice its mean. For twenty flows the equilibrium asks for more marks than `P_max`, so that the queue stands at
/// `Kmax`.
#[test]
fn zhu_2015_stands_at_the_equilibrium_of_its_paper() {
    for n in [2, 4, 8] {
        let (mean, law) = (queue("zhu-2015", n, 40_000, 1000, [20, 80]), equilibrium(n as f64).expect("one"));
        assert!((1.0..1.25).contains(&(mean / law)), "{n}: {mean} octets, and {law}");
    }
    assert_eq!(equilibrium(20.0), None);
    let mean = queue("zhu-2015", 20, 40_000, 1000, [20, 40]);
    assert!((0.9..=1.0).contains(&(mean / 200_000.0)), "20: {mean} octets");
}
