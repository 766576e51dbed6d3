//! The test bed beside the event simulator: the papers' experiment with time scaled, so that a run takes 16 ms.
//!
//! What is scaled: the service rate falls for 5 ms, not 3.7 s; so that rates follow within that, cycles of 10 000 octets and
//! 200 us, samples every 10 000 octets, steps of 10 and 50 Mb/s. Frames, queue, set point and token buckets are paper 002's.

mod driver;
mod lines;
mod model;

use driver::Testbed;
use model::{Experiment, Phase, Setting};
use penstock_cosim::testbed_qcn_fast::Core;

const MS: u64 = driver::CLOCK_HZ / 1000;

fn scaled(points: &[usize]) -> Experiment {
    let set = |of_switch, register, value, parameter, text| Setting { of_switch, register, value, parameter, text };
    let settings = vec![
        set(true, "cp.sample_base", 10_000, "sample_base", "10000 octets"),
        set(false, "qcn.rpg_byte_reset", 10_000, "rpg_byte_reset", "10000 octets"),
        set(false, "qcn.rpg_time_reset", 200, "rpg_time_reset", "200 us"),
        set(false, "qcn.rpg_ai_rate", 20_000_000, "rpg_ai_rate", "20 Mbps"),
        set(false, "qcn.rpg_hai_rate", 20_000_000, "rpg_hai_rate", "20 Mbps"),
    ];
    Experiment {
        points: points.to_vec(),
        octets: 1000,
        one_way: 3125,
        phases: vec![(5 * MS, 950_000_000), (7 * MS, 200_000_000), (10 * MS, 950_000_000)],
        settings,
    }
}

/// What the test bed does.
fn measure(experiment: &Experiment, bed: &mut Testbed<Core>) -> Vec<Phase> {
    for &point in &experiment.points {
        bed.start(point);
    }
    let mut before = bed.measured();
    let mut phases = Vec::new();
    for &(until, rate) in &experiment.phases {
        bed.run(until - bed.measured().clocks);
        let now = bed.measured();
        let phase = now.since(&before);
        before = now;
        phases.push(Phase { queue: phase.mean_queue() / f64::from(experiment.octets), used: phase.utilisation(rate) });
    }
    phases
}

#[test]
fn try_it() {
    for points in [vec![0], (0..8).collect()] {
        let e = scaled(&points);
        for seed in 1..5 {
            let t = std::time::Instant::now();
            let mut bed = Testbed::<Core>::with_words(&e.bed(), seed, e.words(seed));
            println!("bed {:?}", measure(&e, &mut bed));
            println!("   took {:?}", t.elapsed());
            println!("sim {:?}", e.simulate(seed));
        }
    }
}
