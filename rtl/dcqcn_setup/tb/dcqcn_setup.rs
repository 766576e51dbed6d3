//! DCQCN's experiment: senders that start one after another at one receiver, in hardware and in the event simulator.
//!
//! The scenario of the simulator says all: `driver.rs` sets the cores by it. In every clock the set-up is held to the state machines,
//! which are given its events. Both see the same random words; once a frame is marked elsewhere the runs differ in all that
//! follows, so means are compared. At full length the set-up writes a table, beside which `tools/figures.py` runs the simulator.

mod driver;

use std::io::Write as _;
use std::path::Path;

use driver::{CLOCK_PS, FRAME, GAP, LINE, SENDERS, Setup};
use penstock_cosim::operations;
use penstock_scenario::{Choice, Plan, Scenario};
use penstock_schemes::dcqcn::{Config, Dcqcn};
use penstock_schemes::info::Threshold;
use penstock_schemes::{Draw as _, Duration, Instant, SchemeConfig};
use penstock_sim::network::QueueId;
use penstock_sim::random::{Owner, Stream};
use penstock_sim::{Lean, Probe, Sim, View};

const MS: u64 = 1_000_000_000;
const US: u64 = 1_000_000;
/// The scaled runs: what is left out.
const FROM: u64 = 2 * MS;
/// Between samples of the simulator.
const STEP: u64 = 770_000;
/// Between lines of the table.
const SAMPLE: u64 = MS / 10;
/// The bounds of agreement: of the mean queue its share, of the used rate the difference, and of either the standard errors. Shares of
/// the senders differ from even ones by so much at the most.
const QUEUE: f64 = 0.25;
const USED: f64 = 0.02;
const ERRORS: f64 = 3.0;
const UNEVEN: f64 = 0.1;
/// Runs of the set-up, in `make -C rtl operations`, and of the simulator.
const FEW: u64 = 2;
const MANY: u64 = 10;
const SIMULATED: u64 = 12;

fn plan(name: &str, seed: u64) -> Plan {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dcqcn_setup/experiment").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let scenario = Scenario::parse(&text, name, "senders").expect("it is a scenario");
    scenario.plan(&Choice { seed: Some(seed), ..Choice::default() }).expect("it is a valid scenario")
}

fn configs(plan: &Plan) -> Vec<Config> {
    let own = |config| if let SchemeConfig::Dcqcn(config) = config { config } else { unreachable!("its scheme") };
    plan.configs().into_iter().map(own).collect()
}

/// The set-up of a scenario, with the words that the simulator's switch sees.
fn setup(plan: &Plan) -> Setup {
    let network = &plan.network;
    let starts = network.flows.iter().map(|flow| flow.start.0.div_ceil(CLOCK_PS)).collect();
    let mut stream = Stream::new(plan.seed, Owner::CongestionPoint, plan.record.queues[0].index());
    let delay = network.ports[0].latency.0;
    Setup::new(plan.seed, &configs(plan)[0], delay, starts, Box::new(move || stream.draw()))
}

/// The means of a run: the queue in octets, and the share of the line that was used.
#[derive(Debug, Clone, Copy)]
struct Means {
    queue: f64,
    used: f64,
}

/// What the set-up has, and each sender's share of the frames.
fn hardware(plan: &Plan) -> (Means, [f64; SENDERS]) {
    let mut setup = setup(plan);
    setup.run_until(FROM / CLOCK_PS);
    let before = setup.counts;
    setup.run_until(plan.duration.0 / CLOCK_PS);
    let after = setup.counts;
    let clocks = (plan.duration.0 - FROM) / CLOCK_PS;
    let frames: [u64; SENDERS] = std::array::from_fn(|i| after.frames[i] - before.frames[i]);
    let all = frames.iter().sum::<u64>();
    let bits = all * (FRAME + GAP) * 8;
    let means = Means {
        queue: (after.queue - before.queue) as f64 / clocks as f64,
        used: bits as f64 / (LINE as f64 * (clocks * CLOCK_PS) as f64 / 1e12),
    };
    println!("seed {}: {means:.3?} {after:?}, rates and queue at the end {:?}", plan.seed, setup.shown());
    // As long as wires: the first frame has been on a line, and its notification on three, when a frame had been.
    let [taken, wires] = setup.ways();
    assert_eq!(taken, wires, "clocks to the queue, and back");
    assert!(after.marks > 100 && after.cnps > 50, "{after:?}");
    (means, frames.map(|frames| frames as f64 / all as f64))
}

/// The simulator's run.
fn simulator(plan: &Plan) -> Means {
    let samples = Samples { queue: plan.record.queues[0], seen: Vec::new() };
    let mut sim = Sim::<Dcqcn, _, Lean>::new(&plan.network, &configs(plan), plan.seed, samples);
    sim.run_until(Instant(plan.duration.0));
    let (_, samples) = sim.finish();
    let seen = &samples.seen[FROM.div_ceil(STEP) as usize..];
    let bits = seen.last().expect("samples").1 - seen[0].1;
    Means {
        queue: seen.iter().map(|&(length, _)| length as f64).sum::<f64>() / seen.len() as f64,
        used: bits as f64 / (LINE as f64 * ((seen.len() as u64 - 1) * STEP) as f64 / 1e12),
    }
}

/// The queue and the bits that its port has sent. Token buckets have a refill each microsecond, so samples at whole ones would
/// always see the same phase of it: their mean is 1.2 KB less.
struct Samples {
    queue: QueueId,
    seen: Vec<(u64, u64)>,
}

impl Probe<Dcqcn> for Samples {
    fn interval(&self) -> Option<Duration> {
        Some(Duration(STEP))
    }

    fn sample(&mut self, _now: Instant, view: &impl View<Dcqcn>) {
        let now = view.queue(self.queue);
        self.seen.push((now.len.0, now.line_bits));
    }
}

/// Mean, and the variance of the mean.
fn mean(runs: &[Means], of: fn(&Means) -> f64) -> (f64, f64) {
    let n = runs.len() as f64;
    let mean = runs.iter().map(of).sum::<f64>() / n;
    (mean, runs.iter().map(|run| (of(run) - mean).powi(2)).sum::<f64>() / (n - 1.0) / n)
}

#[test]
fn senders_do_what_the_simulator_does() {
    let runs = if operations() > 0 { MANY } else { FEW };
    let (here, shares): (Vec<_>, Vec<_>) = (1..=runs).map(|seed| hardware(&plan("scaled.toml", seed))).unzip();
    let there: Vec<_> = (1..=SIMULATED).map(|seed| simulator(&plan("scaled.toml", seed))).collect();
    println!("simulator {there:.3?}\nshares {shares:.3?}");
    for (name, of, most) in [
        ("queue", (|run| run.queue) as fn(&Means) -> f64, QUEUE * mean(&there, |run| run.queue).0),
        ("used", |run| run.used, USED),
    ] {
        let ((here, _), (there, error)) = (mean(&here, of), mean(&there, of));
        // Of few runs of the set-up the spread is the simulator's.
        let errors = (error * (1.0 + SIMULATED as f64 / runs as f64)).sqrt();
        println!("{name}: set-up {here:.4}, simulator {there:.4}, standard error of the difference {errors:.4}");
        assert!((here - there).abs() < most.min(ERRORS * errors), "{name}: {here} and {there} are apart");
    }
    let even = 1.0 / SENDERS as f64;
    assert!(shares.iter().flatten().all(|share| (share - even).abs() < UNEVEN), "{shares:?}");
}

/// A sender at ten times the rate of the receiver's line, and no marks: the queue gets full, and drops whole frames.
#[test]
fn a_full_queue_drops_whole_frames() {
    let plan = plan("scaled.toml", 1);
    let never = Threshold(16_000_000);
    let config = Config { k_min: never, k_max: never, ..configs(&plan).swap_remove(0) };
    let mut setup = Setup::new(1, &config, US, vec![0], Box::new(|| 0));
    setup.set_rate(LINE / 10);
    setup.run_until(60_000);
    // The frames that came while it was full reach the receiver.
    setup.set_rate(LINE);
    setup.run_until(110_000);
    println!("{:?}", setup.counts);
    assert!(
        setup.counts.drops > 100 && setup.counts.frames[0] > 100 && setup.shown().1 > 990_000,
        "{:?}",
        setup.counts
    );
    assert_eq!(setup.counts.marks, 0);
}

/// A table at full length: what `SEED` chooses, a line every tenth of a millisecond.
#[test]
#[ignore = "minutes: make -C rtl experiment FIGURE=dcqcn"]
fn at_full_length() -> std::io::Result<()> {
    let seed = std::env::var("SEED").unwrap_or_default();
    let seed = if seed.is_empty() { 1 } else { seed.parse().expect("SEED is a whole number") };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../build/experiments");
    std::fs::create_dir_all(&folder)?;
    let (path, partial) = (folder.join("figure-dcqcn.csv"), folder.join("figure-dcqcn.partial"));
    let plan = plan("convergence.toml", seed);
    let mut header = format!(
        "# Zhu et al. 2015: {SENDERS} senders, one after another\n# times / 1, seed {seed}, {} s\n# sources of the hardware {:016x}\n\
         time_s,queue_octets,mean_queue_octets,utilization",
        plan.duration.0 as f64 / 1e12,
        penstock_cosim::dcqcn_setup::SOURCES,
    );
    for i in 0..SENDERS {
        header += &format!(",rate_{i}_bps,throughput_{i}_bps");
    }
    header.push('\n');
    if std::fs::read_to_string(&path).is_ok_and(|old| old.starts_with(&header)) {
        println!("figure-dcqcn: done before");
        return Ok(());
    }
    let mut table = std::io::BufWriter::new(std::fs::File::create(&partial)?);
    write!(table, "{header}")?;
    let (mut setup, mut before) = (setup(&plan), driver::Counts::default());
    let lines = plan.duration.0 / SAMPLE;
    let seconds = SAMPLE as f64 / 1e12;
    for line in 1..=lines {
        setup.run_until(line * SAMPLE / CLOCK_PS);
        let (now, (rates, queue)) = (setup.counts, setup.shown());
        let frames: Vec<_> = now.frames.iter().zip(before.frames).map(|(now, before)| now - before).collect();
        let bits = |frames: u64| (frames * (FRAME + GAP) * 8) as f64;
        let mean = (now.queue - before.queue) as f64 / (SAMPLE / CLOCK_PS) as f64;
        let used = bits(frames.iter().sum()) / (LINE as f64 * seconds);
        write!(table, "{:.6},{queue},{mean:.1},{used:.6}", line as f64 * seconds)?;
        for (rate, frames) in rates.iter().zip(frames) {
            write!(table, ",{rate},{:.0}", bits(frames) / seconds)?;
        }
        writeln!(table)?;
        if line % (lines / 10) == 0 {
            eprintln!("figure-dcqcn: {:.3} s, {now:?}", line as f64 * seconds);
        }
        before = now;
    }
    table.into_inner()?.sync_all()?;
    std::fs::rename(partial, path)
}
