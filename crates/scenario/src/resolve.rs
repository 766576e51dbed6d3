//! The scenario with every default in it: what is planned, and what is written beside the results. Reading that text again gives the
//! same plan.
//!
//! [`Resolved::new`] fills in what follows from the file and from the choices of the run. What follows from the network is settled while
//! that is planned, by the methods `settle_…`; nothing else changes a resolved scenario.

pub(crate) mod flow_transport;
pub(crate) mod schemes;
mod settled;
pub(crate) mod truncate;

use std::ops::Deref;

use penstock_schemes::{Duration, Info};

use crate::error::Fault;
use crate::keys::fields::{Either, Table};
use crate::keys::location::Location;
use crate::keys::ranges::LARGEST_COUNT;
use crate::keys::sections::{Buffer, EntropyValues, Experiment, LinkState, LoadBalancing};
use crate::keys::tree::{Node, Origin};
use crate::keys::write;
use crate::limits::Limits;
use crate::names;

pub(crate) use settled::{FlowTable, LinkSizes, PoolKeys};

/// The time of convergence where a link goes down: a physical failure is often detected in milliseconds, and BGP converges after that. (RFC
/// 7938, section 7.1)
const CONVERGENCE: Duration = Duration::from_ms(5);

/// The gap that begins a flowlet: the timeout of the flowlet table in Alizadeh et al., CONGA, SIGCOMM 2014, section 3.4.
const GAP: Duration = Duration::from_us(500);

/// Settings of a run that are chosen outside of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    /// The scheme that runs, instead of the file's.
    pub scheme: Option<String>,
    /// The profile that the scheme's parameters start from, instead of the file's.
    pub profile: Option<String>,
    /// The seed, instead of the file's.
    pub seed: Option<u64>,
    /// How much may be asked for.
    pub limits: Limits,
}

/// A scenario with every default in it.
#[derive(Debug)]
pub(crate) struct Resolved {
    record: Experiment,
    scheme: &'static Info,
    notes: Vec<String>,
}

impl Deref for Resolved {
    type Target = Experiment;
    fn deref(&self) -> &Experiment {
        &self.record
    }
}

impl Resolved {
    /// Fills in what needs no network. The scenario is called `name` unless it says otherwise.
    pub(crate) fn new(mut record: Experiment, name: &str, choice: &Choice) -> Result<Self, Fault> {
        let filed = names::for_files(name);
        if record.name.as_ref().is_some_and(|name| names::for_files(name) != *name) {
            let message = "a name that results are filed under has no slash, no dot in front, and at most 200 octets";
            return Err(record.name.fault(message).with_hint(format!("for instance \"{filed}\"")));
        }
        record.name.fill(filed);
        let duration = *record.duration;
        let notes = truncate::cut_short(&mut record);
        if *record.warmup >= duration {
            let message = "nothing is left to measure: the warm-up lasts as long as the run";
            return Err(record.warmup.fault(message).with_hint(format!("the run ends at {duration}")));
        }
        if let Some(seed) = choice.seed {
            if seed > LARGEST_COUNT {
                let hint = format!("at most {LARGEST_COUNT}");
                return Err(schemes::chosen("seed", format!("{seed} is above the maximum"), hint));
            }
            record.seed.replace(seed);
        }
        let scheme = schemes::choose(&mut record, choice)?;
        let balancing = *record.network.load_balancing;
        if matches!(balancing, LoadBalancing::Flowlet | LoadBalancing::AdaptiveFlowlet) {
            record.network.inner().flowlet_gap.fill(GAP);
        }
        if matches!(balancing, LoadBalancing::Mrc | LoadBalancing::MrcStructured) {
            let location = Location { path: "network.entropy", origin: Origin::Default };
            record.network.inner().entropy.fill(EntropyValues::read(&Node::EMPTY, location)?);
        }
        if record.change.iter().any(|change| *change.state == Some(LinkState::Down)) {
            record.network.inner().convergence.fill(Either::Second(Either::First(CONVERGENCE)));
        }
        for window in record.window.inner() {
            window.end.fill(duration);
        }
        if !record.switch.is_empty() && record.buffer.is_empty() {
            // All of the memory for one pool.
            let location = Location { path: "buffer.0", origin: Origin::Default };
            record.buffer.inner().push(Buffer::read(&Node::EMPTY, location)?);
        }
        for (i, table) in record.buffer.inner().iter_mut().enumerate() {
            table.name.fill(format!("pool{i}"));
        }
        fill_traffic(&mut record)?;
        Ok(Self { record, scheme, notes })
    }

    /// The scheme of the priorities without a table.
    pub(crate) fn scheme(&self) -> &'static Info {
        self.scheme
    }

    /// What was left out, in sentences.
    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Whether the duration was set for this run alone.
    pub(crate) fn is_cut_short(&self) -> bool {
        truncate::is_cut_short(&self.record)
    }

    /// All of it as TOML.
    pub(crate) fn document(&self) -> String {
        write::document(&self.record.write())
    }
}

/// Fills in names, transports and frames of flows. Flows of `[[flow]]` get their names when they are counted.
fn fill_traffic(record: &mut Experiment) -> Result<(), Fault> {
    macro_rules! fill {
        ($list:ident $(, $usual:literal)?) => {
            for (_number, table) in record.$list.inner().iter_mut().enumerate() {
                $(table.name.fill(format!(concat!($usual, "{}"), _number));)?
                let priority = *table.priority;
                flow_transport::fill(&mut table.transport, &mut table.acks, &mut table.frame, priority)?;
            }
        };
    }
    fill!(flow);
    fill!(load, "load");
    fill!(incast, "incast");
    fill!(burst, "burst");
    fill!(trace, "trace");
    fill!(collective, "job");
    fill!(job, "graph");
    Ok(())
}
