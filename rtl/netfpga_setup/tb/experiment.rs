//! The set-up beside the event simulator: the experiment of Kabbani and Yasuda 2010 with time scaled, so that a run takes
//! 10 ms.
//!
//! The service rate falls from 0.95 to 0.2 Gb/s for 2 ms, not 3.7 s. So that sources follow within that, cycles, samples and steps
//! of the rate are shorter and larger. Eight sources begin with 1.12 Gb/s together, not with 8, and 53 us apart, so that they are
//! not in step by accident. Frames, queue, set point and token buckets are those of Kabbani and Yasuda 2010.
//!
//! Both see the same words, and up to the first frame that comes before another elsewhere they do the same, frame by frame. Then a
//! run diverges: with eight sources the simulator's own mean queue moves by 0.9 frames (root mean square of 12 runs, at
//! most 1.9) if its lines are 0.2 us longer. So the means of several runs are compared: three, ten in `make -C rtl operations`.

#[allow(dead_code, reason = "other benches use the rest")]
mod driver;
mod lines;
mod model;

use driver::{Bus, CLOCK_HZ, NICS, NetfpgaSetup, POINTS, Settings};
use model::{Experiment, Phase, Setting};
use penstock_cosim::netfpga_setup_paper::Core;
use penstock_cosim::operations;

const US: u64 = CLOCK_HZ / 1_000_000;
const MS: u64 = 1000 * US;
/// The bounds of agreement: frames, and share of the rate.
const QUEUE: f64 = 2.0;
const USED: f64 = 0.01;
/// Runs: with 97.5 % of Student's t distribution of one degree of freedom less below; more where lock steps are long.
const FEW: (u64, f64) = (3, 4.303);
const MANY: (u64, f64) = (10, 2.262);

fn seeds() -> (u64, f64) {
    if operations() > 0 { MANY } else { FEW }
}

/// The first `points` reaction points send; each number with its text.
fn scaled(
    points: usize,
    max_rate: (u64, &'static str),
    step: (u64, &'static str),
    octets: (u64, &'static str),
    time: (u64, &'static str),
) -> Experiment {
    let set = |of_switch, register, (value, text), parameter| Setting { of_switch, register, value, parameter, text };
    Experiment {
        points: (0..points).collect(),
        apart: 53 * US,
        octets: 1000,
        one_way: 25 * US as u32,
        phases: vec![(5 * MS, 950_000_000), (7 * MS, 200_000_000), (10 * MS, 950_000_000)],
        settings: vec![
            set(true, "cp.sample_base", (10_000, "10000 octets"), "sample_base"),
            set(false, "qcn.rpg_max_rate", max_rate, "rpg_max_rate"),
            set(false, "qcn.rpg_byte_reset", octets, "rpg_byte_reset"),
            set(false, "qcn.rpg_time_reset", time, "rpg_time_reset"),
            set(false, "qcn.rpg_ai_rate", step, "rpg_ai_rate"),
            set(false, "qcn.rpg_hai_rate", step, "rpg_hai_rate"),
        ],
    }
}

/// A set-up and its phases; and the simulator's with the same words.
fn both(experiment: &Experiment, seed: u64) -> [Vec<Phase>; 2] {
    let mut settings = experiment.bed();
    // Times of 40 ns, so that the timers of both end within that.
    settings.registers.extend((0..NICS).map(|nic| (Bus::Nic(nic), "qcn.tick_clocks", 5)));
    let mut bed = NetfpgaSetup::<Core>::with_words(&settings, seed, experiment.words(seed));
    let offset = bed.clocks() - bed.measured().clocks;
    let mut before = bed.measured();
    for (index, &point) in experiment.points.iter().enumerate() {
        bed.run((before.clocks + index as u64 * experiment.apart).saturating_sub(bed.measured().clocks));
        bed.start(point);
    }
    let mut phases = Vec::new();
    for &(until, rate) in &experiment.phases {
        bed.run(until - bed.measured().clocks);
        let phase = bed.measured().since(&before);
        before = bed.measured();
        phases.push(Phase::of(&phase, experiment.octets, rate));
    }
    [phases, experiment.simulate(seed, offset)]
}

/// The same of a whole run, from its phases.
fn whole(experiment: &Experiment, phases: &[Phase]) -> Phase {
    let mut sum = Phase { queue: 0.0, used: 0.0 };
    let mut from = 0;
    for (phase, &(until, _)) in phases.iter().zip(&experiment.phases) {
        let share = (until - from) as f64 / experiment.clocks() as f64;
        sum.queue += share * phase.queue;
        sum.used += share * phase.used;
        from = until;
    }
    sum
}

/// A run of both with the same words.
fn run(experiment: &Experiment, seed: u64) -> [Phase; 2] {
    let [bed, simulator] = both(experiment, seed);
    let [here, there] = [&bed, &simulator].map(|phases| whole(experiment, phases));
    println!("seed {seed}: set-up {here:.3?} of {bed:.2?}, simulator {there:.3?} of {simulator:.2?}");
    [here, there]
}

/// The means of both are as near as they have to be.
fn compare(runs: &[[Phase; 2]]) {
    let difference =
        |of: fn(&Phase) -> f64| runs.iter().map(|[here, there]| of(here) - of(there)).sum::<f64>() / runs.len() as f64;
    let (queue, used) = (difference(|phase| phase.queue), difference(|phase| phase.used));
    println!("set-up less simulator: queue {queue:.2} frames, used {used:.4}");
    assert!(queue.abs() < QUEUE && used.abs() < USED, "queue {queue:.2} frames, used {used:.4} apart");
}

/// Runs with the same words; and with other words in the simulator, the intervals of both in which the mean lies with 95 %
/// overlap.
fn agrees(experiment: &Experiment) {
    let runs: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (1..=seeds().0).map(|seed| scope.spawn(move || run(experiment, seed))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a run ends")).collect()
    });
    compare(&runs);
    let bed: Vec<Phase> = runs.iter().map(|run| run[0]).collect();
    let others: Vec<Phase> =
        (1..=seeds().0).map(|seed| whole(experiment, &experiment.simulate(100 + seed, 0))).collect();
    for (what, of) in [("queue", (|phase| phase.queue) as fn(&Phase) -> f64), ("used", |phase| phase.used)] {
        let [here, there] = [&bed, &others].map(|runs| interval(&runs.iter().map(of).collect::<Vec<_>>()));
        println!("{what}: set-up {here:.4?}, simulator {there:.4?}");
        assert!(here.0 <= there.1 && there.0 <= here.1, "{what}: {here:?} and {there:?} do not overlap");
    }
}

#[test]
fn one_source() {
    agrees(&scaled(1, (1_000_000_000, "1 Gbps"), (20_000_000, "20 Mbps"), (5000, "5000 octets"), (2500, "100 us")));
}

#[test]
fn eight_sources() {
    let octets = (10_000, "10000 octets");
    agrees(&scaled(POINTS, (140_000_000, "140 Mbps"), (10_000_000, "10 Mbps"), octets, (5000, "200 us")));
}

/// Logic that sleeps in a fast build has seen the settings.
#[test]
fn the_first_frames_are_as_long_as_was_set() {
    let mut bed = NetfpgaSetup::<Core>::new(&Settings { octets: 1000, ..Settings::default() }, 1);
    bed.start(0);
    let frames: Vec<_> = (0..30 * US).map(|_| bed.clock()).filter(|out| out.event_o).collect();
    assert!(frames.len() > 2 && frames.iter().all(|out| out.event_octets_o == 1000), "{frames:?}");
}

/// Where the mean lies with 95 %.
fn interval(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let half = seeds().1 * (variance / n).sqrt();
    (mean - half, mean + half)
}
