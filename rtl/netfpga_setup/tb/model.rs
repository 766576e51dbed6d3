//! The event simulator's model of the set-up: the same experiment as a scenario, and the random words that it sees.

use std::fmt::Write as _;

use penstock_scenario::{Choice, Plan, Scenario};
use penstock_schemes::{Draw as _, Duration, Instant, Scheme, SchemeConfig, Visitor};
use penstock_sim::network::QueueId;
use penstock_sim::random::{Owner, Stream as Words};
use penstock_sim::{Lean, Probe, Sim, View};

use super::driver::{self, Bus, CLOCK_HZ, Measured, NICS, POINTS, POINTS_A_NIC, Stream};
use super::lines;

/// A setting of both.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// A register of the switch, else of all NICs.
    pub of_switch: bool,
    pub register: &'static str,
    pub value: u64,
    /// The scheme's parameter, and the same value with its unit.
    pub parameter: &'static str,
    pub text: &'static str,
}

/// An experiment that set-up and simulator can do.
#[derive(Debug, Clone)]
pub struct Experiment {
    /// The reaction points that send, ascending.
    pub points: Vec<usize>,
    /// Clocks from the start of one to that of the next.
    pub apart: u64,
    /// Length of a frame with FCS, octets.
    pub octets: u16,
    /// From the end of a frame on the source's line to the queue, and from there back, clocks.
    pub one_way: u32,
    /// Rates of the congestion point's port, bit/s, each with the clock in which it ends.
    pub phases: Vec<(u64, u64)>,
    /// Settings that differ from those of Kabbani and Yasuda 2010.
    pub settings: Vec<Setting>,
}

/// The outcome of a phase.
#[derive(Debug, Clone, Copy)]
pub struct Phase {
    /// Mean length of the queue, frames.
    pub queue: f64,
    /// Share of the port's rate that was used, preamble and gap counted.
    pub used: f64,
}

impl Phase {
    /// A phase in which frames had `octets` octets and the port this rate, bit/s.
    pub fn of(measured: &Measured, octets: u16, rate: u64) -> Self {
        Self { queue: measured.mean_queue() / f64::from(octets), used: measured.utilisation(rate) }
    }
}

/// Octets that a frame occupies on a line in addition to its own.
const PREAMBLE_AND_GAP: u64 = 20;
/// Picoseconds a clock.
const CLOCK_PS: u64 = 1_000_000_000_000 / CLOCK_HZ;

impl Experiment {
    /// The clock in which it ends.
    pub fn clocks(&self) -> u64 {
        self.phases.last().expect("there is a phase").0
    }

    /// How the set-up is set.
    pub fn bed(&self) -> driver::Settings {
        let mut registers = Vec::new();
        for setting in &self.settings {
            let buses = if setting.of_switch { vec![Bus::Switch] } else { (0..NICS).map(Bus::Nic).collect() };
            registers.extend(buses.into_iter().map(|bus| (bus, setting.register, setting.value)));
        }
        registers.extend(lines::delays(self.octets, self.one_way));
        let changes = self.phases.windows(2).map(|pair| (pair[0].0, pair[1].1)).collect();
        driver::Settings {
            octets: self.octets,
            delay: self.one_way,
            rate: self.phases[0].1,
            changes,
            registers,
            ..driver::Settings::default()
        }
    }

    /// The same as a scenario. The clock of the token buckets begins `offset` clocks before the first flow, as that of a test
    /// bed does while it is set.
    fn scenario(&self, offset: u64) -> String {
        let mut text = format!(
            "question = \"Does the model do what the set-up does?\"
            scheme = \"qcn\"
            duration = \"{} ns\"
            [hosts]
            pacer = {{ token_bucket = {{ depth = \"3 KB\", interval = \"16 us\", granularity = \"0.5 Mbps\" }} }}
            [network]
            wire_overhead = \"{PREAMBLE_AND_GAP} octets\"
            in_service_counts = false
            [topology.star]
            hosts = 3
            link_rate = \"1 Gbps\"
            link_delay = \"{} ns\"
            buffer = \"150 KB\"
            [record]
            queues = [\"sw0->h2\"]
            [schemes.qcn]
            profile = \"paper-netfpga\"
            tr_clamp = true\n",
            (self.clocks() + offset) * CLOCK_PS / 1000,
            u64::from(self.one_way) * CLOCK_PS / 1000,
        );
        for setting in &self.settings {
            let _ = writeln!(text, "{} = \"{}\"", setting.parameter, setting.text);
        }
        for (index, point) in self.points.iter().enumerate() {
            let (host, start) = (point / POINTS_A_NIC, (offset + index as u64 * self.apart) * CLOCK_PS / 1000);
            let _ = writeln!(
                text,
                "[[flow]]\nfrom = \"h{host}\"\nto = \"h2\"\ntraffic = \"greedy\"\nframe = \"{} octets\"\nstart = \"{start} ns\"",
                self.octets
            );
        }
        let mut from = 0;
        for &(until, rate) in &self.phases {
            let at = if from == 0 { 0 } else { (from + offset) * CLOCK_PS / 1000 };
            let _ = writeln!(text, "[[change]]\nlink = \"sw0->h2\"\nat = \"{at} ns\"\nrate = \"{rate} bps\"");
            from = until;
        }
        text
    }

    fn plan(&self, seed: u64, offset: u64) -> Plan {
        let scenario =
            Scenario::parse(&self.scenario(offset), "the experiment", "experiment").expect("it is a scenario");
        scenario.plan(&Choice { seed: Some(seed), ..Choice::default() }).expect("it is a valid scenario")
    }

    /// The simulator's figures of each phase; see `scenario`.
    pub fn simulate(&self, seed: u64, offset: u64) -> Vec<Phase> {
        let plan = self.plan(seed, offset);
        SchemeConfig::visit(&plan.configs(), Job { plan: &plan, experiment: self, offset })
    }

    /// The words that a simulation with this seed sees, in the order in which each of its machines draws them.
    pub fn words(&self, seed: u64) -> Box<dyn FnMut(Stream) -> u32> {
        let queue = self.plan(seed, 0).record.queues[0];
        let mut cp = Words::new(seed, Owner::CongestionPoint, queue.index());
        // The simulator has limiters for those that send alone.
        let number = |point| self.points.iter().position(|&sends| sends == point);
        let mut rps: Vec<_> =
            (0..POINTS).map(|point| Words::new(seed, Owner::ReactionPoint, number(point).unwrap_or(POINTS))).collect();
        Box::new(move |stream| match stream {
            Stream::Cp => cp.draw(),
            Stream::Byte(point) | Stream::Timer(point) => rps[point].draw(),
        })
    }
}

/// A simulation that waits for its scheme's type.
struct Job<'a> {
    plan: &'a Plan,
    experiment: &'a Experiment,
    offset: u64,
}

impl Visitor for Job<'_> {
    type Output = Vec<Phase>;

    fn visit<S: Scheme>(self, configs: &[S::Config]) -> Vec<Phase> {
        let Experiment { phases, octets, .. } = self.experiment;
        let samples = Samples { queue: self.plan.record.queues[0], seen: Vec::new() };
        let mut sim = Sim::<S, _, Lean>::new(&self.plan.network, configs, self.plan.seed, samples);
        sim.run_until(Instant((self.experiment.clocks() + self.offset) * CLOCK_PS));
        let (_, samples) = sim.finish();
        let mut from = 0;
        // The set-up's port counts a frame, all of it, when its transmission begins.
        let begun = |at: usize| samples.seen[at].1.div_ceil((u64::from(*octets) + PREAMBLE_AND_GAP) * 8);
        let phase = |&(until, rate): &(u64, u64)| {
            let (first, last) = (samples.index(from + self.offset), samples.index(until + self.offset));
            let lengths = &samples.seen[first + 1..=last];
            let frames = begun(last) - begun(first);
            let measured = Measured {
                clocks: until - from,
                queue_sum: lengths.iter().map(|&(length, _)| length * SAMPLE_CLOCKS).sum(),
                frames: u32::try_from(frames).expect("frames of milliseconds"),
                octets: frames * u64::from(*octets),
            };
            from = until;
            Phase::of(&measured, *octets, rate)
        };
        phases.iter().map(phase).collect()
    }
}

/// The queue and the bits that its port has sent, every microsecond.
struct Samples {
    queue: QueueId,
    seen: Vec<(u64, u64)>,
}

const SAMPLE_CLOCKS: u64 = 125;

impl Samples {
    fn index(&self, clock: u64) -> usize {
        (clock / SAMPLE_CLOCKS) as usize
    }
}

impl<S: Scheme> Probe<S> for Samples {
    fn interval(&self) -> Option<Duration> {
        Some(Duration(SAMPLE_CLOCKS * CLOCK_PS))
    }

    fn sample(&mut self, _now: Instant, view: &impl View<S>) {
        let now = view.queue(self.queue);
        self.seen.push((now.len.0, now.line_bits));
    }
}
