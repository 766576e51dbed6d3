//! A scenario that has been read, checked and laid out: all that a run needs.

mod arrival;
mod arrivals;
pub(crate) mod buffer;
mod bursts;
mod busy_links;
mod changes;
mod chips;
mod classes;
mod clocks;
mod collectives;
mod convergence;
pub(crate) mod fair;
mod flow_census;
mod flow_paths;
mod flow_transport;
pub(crate) mod generated_flows;
mod groups;
mod impairment;
mod interfaces;
pub(crate) mod jobs;
mod jobs_at_work;
mod lines;
mod links;
pub(crate) mod listed_jobs;
mod load_balancing;
mod loads;
mod lossless;
mod network;
pub(crate) mod outside_work;
mod parameter_changes;
mod pfc;
pub(crate) mod planner;
mod recording;
mod round_trip;
mod routing;
mod schemes;
mod source_table;
mod testbed;
mod trace;
mod traffic;
mod traps;
mod windows;

use std::borrow::Cow;
use std::ops::Range;

use penstock_schemes::{BitRate, Duration, Instant, Octets, SchemeConfig, Value};
use penstock_sim::Reconfiguration;
use penstock_sim::network::{Limiting, Network, PortId, Process, QueueId};
use penstock_sim::pfc::Reach;

use crate::error::suggest;
use crate::limits::Limits;
use crate::plan::buffer::Stopping;
use crate::plan::generated_flows::GeneratedFlows;

/// A valid run. GeneratedFlows by [`Scenario::plan`](crate::Scenario::plan) alone, so that its holder need not check it again.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Name of the scenario: its file's stem, unless the file says otherwise.
    pub name: String,
    /// The question that it answers, in a line.
    pub question: String,
    /// The scheme of each of the network's priorities, in their order.
    pub schemes: Vec<Assigned>,
    /// The changes of their parameters during the run, in order of time.
    pub parameter_changes: Vec<ParameterChange>,
    /// Seed of all random streams.
    pub seed: u64,
    /// Simulated time.
    pub duration: Duration,
    /// Time before statistics begin.
    pub warmup: Duration,
    /// The code points of each priority, 0 to 7.
    pub code_points: [CodePoints; 8],
    /// The run claims that the network loses no data frame, and fails if it does.
    pub lossless: bool,
    /// Frames that links lose at random (`[[impairment]]`) break that claim, too.
    pub impaired_is_lost: bool,
    /// The run claims that its scheme acts, and fails if it does not.
    pub acted: bool,
    /// The network that is simulated.
    pub network: Network,
    /// Names of nodes, under their indices.
    pub node_names: Vec<String>,
    /// Names of ports, `node->peer`, under their indices.
    pub port_names: Vec<String>,
    /// For each port the length of its cable in millimetres, where that is given.
    pub cables_mm: Vec<Option<u64>>,
    /// For each node its packet memory, where a `[[switch]]` gives it.
    pub chip_memory: Vec<Option<Octets>>,
    /// For each of the network's pools the name of its `[[buffer]]`.
    pub pool_names: Vec<String>,
    /// For each of them the headroom that all its lines need at once, in whole cells.
    pub headroom_needed: Vec<Octets>,
    /// For each of them its size without reserves.
    pub pool_common: Vec<Octets>,
    /// For each of them where it stops lossless lines; `None` where it stops none.
    pub stopping: Vec<Option<Stopping>>,
    /// For each port that flow control can stop, the reach that its headroom follows from.
    pub reaches: Vec<Option<Reach>>,
    /// Number of flows from `[[flow]]` tables. They are sampled and reported one by one.
    pub single: usize,
    /// The flows of loads and incasts, which results aggregate.
    pub generated: GeneratedFlows,
    /// Names of the flows of the network, under their indices.
    pub flow_names: Vec<String>,
    /// For each flow the name of the `[[flow]]` table that it comes from, such as `f0..f7`.
    pub flow_tables: Vec<String>,
    /// For each flow its source (a node's index) and its destinations.
    pub flow_ends: Vec<(usize, Vec<usize>)>,
    /// The settings of the recording.
    pub record: Record,
    /// The windows that are measured in addition to the whole run.
    pub windows: Vec<Window>,
    /// Notes on the layout of the run for a reader of the results, in sentences.
    pub notes: Vec<String>,
    /// The reference allocation, if flows with a size went on to the end; see [`FairShares`](crate::FairShares).
    pub fair: Vec<FairPeriod>,
    /// Whether there is one: else it is of zeros.
    pub shared: bool,
    /// Whether some flow has a transport.
    pub transported: bool,
    /// Whether some flow of a `[[flow]]` table has a size.
    pub finite: bool,
    /// Settings that only the testbed needs.
    pub testbed: Testbed,
    /// How much the run may ask for.
    pub limits: Limits,
    /// The scenario with every default written out, as TOML; reading it gives this plan again.
    pub resolved: String,
}

/// The code points of frames of a priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodePoints {
    /// PCP of the tag of 802.1Q.
    pub pcp: u8,
    /// DSCP of the IP header.
    pub dscp: u8,
}

/// Settings of the testbed. Its times are the machine's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Testbed {
    /// How many times slower than the scenario it is.
    pub time_scale: u64,
    /// The lateness that 99 % of the frames may have in a valid run.
    pub lateness: Duration,
    /// Whether iperf3 sends the frames of flows.
    pub iperf3: bool,
    /// Other programs.
    pub applications: Vec<Application>,
}

/// A program that runs in a host of the testbed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Application {
    /// The host, a node's index.
    pub host: usize,
    /// The command; names of hosts in braces stand for their addresses.
    pub command: String,
    /// When it begins.
    pub start: Duration,
}

impl Default for Testbed {
    /// The settings of a scenario without a table `[testbed]`.
    fn default() -> Self {
        Self { time_scale: 1, lateness: Duration::from_ms(1), iperf3: true, applications: Vec::new() }
    }
}

/// The scheme of a priority.
#[derive(Debug, Clone)]
pub struct Assigned {
    /// One of [`Network::priorities`].
    pub priority: u8,
    /// The scheme and its parameters.
    pub config: SchemeConfig,
    /// Their values, in the order in which the scheme declares them. Those that follow a line are for the fastest line; `lines` has the
    /// others.
    pub values: Vec<Value>,
    /// The parameters at lines of other rates, where some follow the line.
    pub lines: Vec<AtLine>,
    /// The profile that the parameters started from.
    pub profile: Option<String>,
    /// The values as written: a word or an amount for each Gb/s stands for what follows from the network.
    pub(crate) written: Vec<Value>,
    /// Whether values follow a line, at the start or from a change on.
    pub(crate) follows_lines: bool,
}

/// The parameters of a scheme at the ports whose lines have a rate.
#[derive(Debug, Clone)]
pub struct AtLine {
    /// The rate.
    pub line: BitRate,
    /// The scheme and its parameters.
    pub config: SchemeConfig,
    /// Their values, in the order in which the scheme declares them.
    pub values: Vec<Value>,
}

/// The values at lines of a rate: those of `lines`, or else the `general` ones.
pub(crate) fn values_at<'a>(general: &'a [Value], lines: &'a [AtLine], line: BitRate) -> &'a [Value] {
    lines.iter().find(|own| own.line == line).map_or(general, |own| &own.values)
}

impl Assigned {
    /// The values of the parameters at a port whose line has rate `line`.
    #[must_use]
    pub fn values_at(&self, line: BitRate) -> &[Value] {
        values_at(&self.values, &self.lines, line)
    }

    /// The length of the threshold that is parameter `index`, at a port whose line has rate `line`; 0 for a parameter of another kind.
    pub(crate) fn threshold_at(&self, index: usize, line: BitRate) -> Octets {
        let values = self.values_at(line);
        match values[index] {
            Value::Octets(octets) => self.config.info().threshold_at(octets, line, values),
            _ => Octets(0),
        }
    }
}

/// From a time on, the scheme of a priority has other parameters.
#[derive(Debug, Clone)]
pub struct ParameterChange {
    /// The time, after the start of the run.
    pub at: Instant,
    /// One of [`Network::priorities`].
    pub priority: u8,
    /// The scheme with all its parameters from then on.
    pub config: SchemeConfig,
    /// The values of them, in the order in which the scheme declares them.
    pub values: Vec<Value>,
    /// The parameters at lines of other rates, where some follow the line.
    pub lines: Vec<AtLine>,
}

impl ParameterChange {
    /// The values from then on at a port whose line has rate `line`.
    #[must_use]
    pub fn values_at(&self, line: BitRate) -> &[Value] {
        values_at(&self.values, &self.lines, line)
    }
}

/// Settings of the recording during a run.
#[derive(Debug, Clone)]
pub struct Record {
    /// Distance of the samples.
    pub interval: Duration,
    /// The data queues that are sampled and reported, in order of their names' appearance.
    pub queues: Vec<QueueId>,
    /// The flows of tables, and how many of them have time series of their rates.
    pub flows: Sampled,
    /// Record every signal that reaches a source.
    pub signals: bool,
    /// Record every arrival of a data frame at the sampled queues.
    pub arrivals: bool,
    /// Keep histograms of the sampled queues.
    pub percentiles: bool,
}

/// The members of a list that have time series: all of them up to `most`, else `most` of them, evenly spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sampled {
    /// How many the list has.
    pub of: usize,
    /// How many have time series at the most.
    pub most: usize,
}

impl Sampled {
    /// How many have time series.
    #[must_use]
    pub fn count(self) -> usize {
        self.of.min(self.most)
    }

    /// For each member of the list whether it has a time series.
    #[must_use]
    pub fn marks(self) -> Vec<bool> {
        let mut marks = vec![false; self.of];
        let count = self.count() as u128;
        for i in 0..count {
            marks[(i * self.of as u128 / count) as usize] = true;
        }
        marks
    }
}

/// A window of measurement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// Its name, unlike any other's.
    pub name: String,
    /// From when till when; not empty, within the run.
    pub time: Range<Instant>,
}

/// The reference allocation while nothing changes: no flow starts or stops, no link changes.
#[derive(Debug, Clone, PartialEq)]
pub struct FairPeriod {
    /// From when till when.
    pub time: Range<Instant>,
    /// Max-min fair rate of each flow, bit/s with wire overhead; zero for a flow that is not active.
    pub max_min_bps: Vec<f64>,
    /// Proportionally fair rate of each flow, bit/s with wire overhead; zero for a flow that is not active.
    pub proportional_bps: Vec<f64>,
}

/// The most flows of loads and incasts that count as active at a time, each with its reaction point.
const MOST_AT_ONCE: u64 = 4096;

/// Entries in the tables of all congestion points and reaction points: the scheme's parameters with `table` in their names, for each.
pub(crate) fn table_places(network: &Network, schemes: &[Assigned]) -> u64 {
    let own = |process: &&Process| matches!(process.limiting, Limiting::Own(_));
    let coming: u64 = network.processes.list.iter().filter(own).map(|process| u64::from(process.flows)).sum();
    let points = network.ports.iter().filter(|port| port.congestion_points).count() + network.reaction_points.len();
    let points = points as u64 + coming.min(MOST_AT_ONCE);
    let places = schemes.iter().flat_map(|assigned| assigned.config.info().parameters.iter().zip(&assigned.values));
    let places = places.filter(|(parameter, _)| parameter.name.contains("table")).map(|(_, value)| match value {
        Value::Count(places) => *places,
        _ => 0,
    });
    places.sum::<u64>().saturating_mul(points)
}

impl Plan {
    /// Whether links lose frames at random.
    #[must_use]
    pub fn is_impaired(&self) -> bool {
        !self.network.impairments.is_empty()
    }

    /// Whether links have credits.
    #[must_use]
    pub fn is_credited(&self) -> bool {
        !self.network.credits.is_empty()
    }

    /// Whether links send again what they lose.
    #[must_use]
    pub fn is_retried(&self) -> bool {
        !self.network.retries.is_empty()
    }

    /// Whether some flow has no reaction point.
    #[must_use]
    pub fn uncontrolled(&self) -> bool {
        let processes = &self.network.processes.list;
        self.network.flows.iter().any(|flow| flow.reaction_point.is_none())
            || processes.iter().any(|process| process.limiting == Limiting::Uncontrolled)
    }

    /// The most entries in the tables of all congestion points and reaction points.
    #[must_use]
    pub fn table_places(&self) -> u64 {
        table_places(&self.network, &self.schemes)
    }

    /// The configurations of the priorities and of their lines, as the engine takes them.
    #[must_use]
    pub fn configs(&self) -> Vec<SchemeConfig> {
        let of_lines = self.schemes.iter().flat_map(|assigned| assigned.lines.iter().map(|own| &own.config));
        self.schemes.iter().map(|assigned| &assigned.config).chain(of_lines).cloned().collect()
    }

    /// The changes of parameters, as the engine takes them.
    #[must_use]
    pub fn settings(&self) -> Vec<Reconfiguration<SchemeConfig>> {
        let setting = |change: &ParameterChange| {
            let of_lines = change.lines.iter().map(|own| (Some(own.line), own.config.clone()));
            let all = std::iter::once((None, change.config.clone())).chain(of_lines);
            let (at, priority) = (change.at, change.priority);
            all.map(|(line, config)| Reconfiguration { at, priority, line, config }).collect::<Vec<_>>()
        };
        self.parameter_changes.iter().flat_map(setting).collect()
    }

    /// Name of the scheme of all priorities, or `mixed` where they differ.
    #[must_use]
    pub fn scheme(&self) -> &'static str {
        let mut names = self.schemes.iter().map(|assigned| assigned.config.info().name);
        let first = names.next().unwrap_or("none");
        if names.all(|name| name == first) { first } else { "mixed" }
    }

    /// The profile, where all priorities have the same.
    #[must_use]
    pub fn profile(&self) -> Option<&str> {
        let first = self.schemes.first()?.profile.as_deref();
        first.filter(|_| self.schemes.iter().all(|assigned| assigned.profile.as_deref() == first))
    }

    /// Name of a flow: of the network, or behind its flows of those of loads and incasts.
    #[must_use]
    pub fn flow_name(&self, flow: usize) -> Cow<'_, str> {
        match self.flow_names.get(flow) {
            Some(name) => Cow::Borrowed(name),
            None => Cow::Owned(self.generated.name(flow - self.single)),
        }
    }

    /// The port of this name, such as `sw0->h6`.
    ///
    /// # Errors
    /// If there is none: with the nearest name, as a hint.
    pub fn port(&self, name: &str) -> Result<PortId, String> {
        let found = self.port_names.iter().position(|known| known == name);
        found.map(|index| PortId(index as u32)).ok_or_else(|| suggest(name, self.port_names.iter().map(String::as_str)))
    }

    /// Name of a data queue's port, such as `sw0->h6`.
    #[must_use]
    pub fn port_name(&self, port: PortId) -> &str {
        &self.port_names[port.index()]
    }
}
