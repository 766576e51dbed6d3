//! The settings of the recording: which queues and flows, and how often.

use std::collections::BTreeSet;

use penstock_schemes::Duration;
use penstock_sim::network::{Capacity, Network, NodeKind, PortId, QueueId};

use super::Sampled;
use super::flow_census::FlowCensus;
use crate::error::Fault;
use crate::keys::fields::Either;
use crate::keys::sections::{self, Shown};
use crate::keys::topology::Layout;
use crate::limits::{Bounds, ROWS, SAMPLES};

/// Samples of a run whose scenario sets no interval. A large network has fewer, so that taking, writing and drawing them costs
/// a second or two; but enough for settling times, which take fifty.
const SAMPLES_BY_DEFAULT: u64 = 1000;
const SAMPLES_OF_LARGE: u64 = 100;
const SAMPLED_IN_ALL: u64 = 4_000_000;

/// The settings of the recording, and sentences about records that hold less than those of a small network.
pub(crate) fn recorded(
    settings: &sections::Record,
    layout: &Layout,
    network: &Network,
    census: &FlowCensus,
    duration: Duration,
    bounds: &Bounds<'_>,
) -> Result<(super::Record, Vec<String>), Fault> {
    let mut used = BTreeSet::new();
    for (flow, root) in network.routes() {
        let priority = network.flows[flow.index()].priority;
        used.extend(network.route_from(root).map(|hop| (network.hops[hop.index()].port, priority)));
    }
    for (table, footprint) in census.tables.iter().zip(&census.footprints) {
        let ports = (0..network.ports.len()).filter(|&port| footprint.crosses(port));
        used.extend(ports.map(|port| (PortId(port as u32), table.model.priority)));
    }
    // Frames that a congestion point moves wait in the queue of another priority.
    let moves_to = |port: PortId, priority: u8| {
        let class = network.priorities.iter().position(|&own| own == priority)?;
        let to = *network.moves.get(class)?;
        to.filter(|&to| to < priority && network.ports[port.index()].congestion_points)
    };
    let moved: Vec<(PortId, u8)> =
        used.iter().filter_map(|&(port, priority)| Some((port, moves_to(port, priority)?))).collect();
    used.extend(moved);
    let single = network.flows.len();
    let all = |port: PortId| network.priorities.iter().map(move |priority| (port, *priority));
    let ports = (0..network.ports.len()).map(|i| PortId(i as u32));
    let chosen: Vec<(PortId, u8)> = match &*settings.queues {
        Either::First(Shown::Switches) => ports
            .filter(|p| network.nodes[network.ports[p.index()].node.index()].kind == NodeKind::Switch)
            .flat_map(all)
            .collect(),
        // A host's port without a queue has nothing to show, unless flow control can stop it.
        Either::First(Shown::Used) => {
            let shows = |port: PortId| network.ports[port.index()].capacity != Capacity::Arbiter;
            used.into_iter().filter(|(port, _)| network.pfc.is_some() || shows(*port)).collect()
        }
        Either::Second(names) => {
            let mut chosen = Vec::new();
            let mut listed = BTreeSet::new();
            for name in names.iter() {
                let port = layout.port(name).ok_or_else(|| {
                    let message = format!("there is no port \"{name}\"");
                    settings.queues.fault(message).with_hint(layout.suggest_port(name))
                })?;
                let before = chosen.len();
                chosen.extend(all(PortId(port as u32)).filter(|queue| used.contains(queue)));
                if chosen.len() == before {
                    chosen.extend(all(PortId(port as u32)));
                }
                if !listed.insert(port) {
                    let message = format!("the port \"{name}\" is listed twice");
                    return Err(settings.queues.fault(message).with_hint("list each port once"));
                }
            }
            chosen
        }
    };
    let by_default = settings.interval.is_none();
    let interval = settings.interval.unwrap_or_else(|| interval(duration, chosen.len() + single));
    if interval > duration {
        let message = "the interval is longer than the run";
        return Err(settings.interval.fault(message).with_hint(format!("at most {}", duration)));
    }
    let samples = duration.0 / interval.0;
    let at_interval = |e| settings.interval.excess(e);
    bounds.check(SAMPLES, samples, "a longer interval").map_err(at_interval)?;
    let flows = Sampled { of: single, most: usize::try_from(*settings.most_flows).unwrap_or(usize::MAX) };
    let rows = samples.saturating_mul((chosen.len() + flows.count()) as u64);
    let less = format!("a longer interval: each sample has {} queues and {} flows", chosen.len(), flows.count());
    bounds.check(ROWS, rows, &less).map_err(|e| settings.interval.excess(e))?;
    let queues: Vec<QueueId> = chosen.into_iter().map(|(port, priority)| network.queue(port, priority)).collect();
    let (signals, arrivals, percentiles) = (*settings.signals, *settings.arrivals, *settings.percentiles);
    let record = super::Record { interval, queues, flows, signals, arrivals, percentiles };
    let notes = notes(&record, by_default.then_some(duration));
    Ok((record, notes))
}

/// The default interval of a run in which `members` queues and flows are sampled. If it is longer than usual it has two digits.
fn interval(duration: Duration, members: usize) -> Duration {
    let samples = (SAMPLED_IN_ALL / members.max(1) as u64).clamp(SAMPLES_OF_LARGE, SAMPLES_BY_DEFAULT);
    let exact = (duration.0 / samples).max(1);
    if samples == SAMPLES_BY_DEFAULT {
        return Duration(exact);
    }
    let grain = 10_u64.pow(exact.ilog10().saturating_sub(1));
    Duration(exact.div_ceil(grain) * grain)
}

/// Sentences about the records. Where the interval is ours, `by_default` is the duration of the run.
fn notes(record: &super::Record, by_default: Option<Duration>) -> Vec<String> {
    let super::Record { interval, queues, flows, .. } = record;
    let mut notes = Vec::new();
    let members = queues.len() + flows.of;
    if let Some(duration) = by_default.filter(|_| members as u64 * SAMPLES_BY_DEFAULT > SAMPLED_IN_ALL) {
        notes.push(format!(
            "time series have {} samples, one every {interval}, since {members} queues and flows are looked at; \
             record.interval sets another interval",
            duration.0 / interval.0,
        ));
    }
    if flows.count() < flows.of {
        notes.push(format!(
            "of {} flows {} have time series, evenly spread over their list; record.most_flows sets another number, and \
             the summary has all flows",
            flows.of,
            flows.count()
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_networks_have_longer_intervals() {
        let ms = Duration(1_000_000_000);
        assert_eq!(interval(ms, 0), Duration(1_000_000));
        assert_eq!(interval(ms, 4000), Duration(1_000_000));
        // 4 million over 5000 are 800 samples: 1.25 us, and 1.3 us with two digits.
        assert_eq!(interval(ms, 5000), Duration(1_300_000));
        assert_eq!(interval(ms, 40_000), Duration(10_000_000));
        assert_eq!(interval(ms, 1_000_000), Duration(10_000_000));
        // Nothing is shorter than a picosecond.
        assert_eq!(interval(Duration(3), 0), Duration(1));
        assert_eq!(interval(Duration(3), 100_000), Duration(1));
    }

    #[test]
    fn those_that_are_sampled_are_spread_over_the_list() {
        let marks = |of, most| Sampled { of, most }.marks();
        assert_eq!(marks(3, 5), [true; 3]);
        assert_eq!(marks(5, 2), [true, false, true, false, false]);
        assert!(marks(0, 2).is_empty());
        assert_eq!(Sampled { of: 100_000, most: 1000 }.marks().iter().filter(|mark| **mark).count(), 1000);
    }
}
