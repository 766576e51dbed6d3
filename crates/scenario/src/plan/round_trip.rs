//! Round-trip times of an empty network, for schemes with a parameter that is meant to be one.

use penstock_schemes::mixed::Mixed;
use penstock_schemes::{Bound, Duration, HEADER, Parameter, Scheme, Unit, Value, quantity};
use penstock_sim::network::{FlowId, Network};

use super::Assigned;
use super::flow_census::FlowCensus;
use crate::keys::topology::Layout;

/// A network that is laid out, and the flows that come to it later.
#[derive(Clone, Copy)]
pub(crate) struct PlannedNetwork<'a> {
    pub(crate) network: &'a Network,
    pub(crate) layout: &'a Layout,
    pub(crate) census: &'a FlowCensus,
}

impl PlannedNetwork<'_> {
    /// The longest round trip of the controlled flows of a priority through the empty network, of those that come later too, for a full frame
    /// with its tags and its acknowledgement. HPCC's simulator takes the longest of all pairs of hosts (`third.cc`, `maxRtt`).
    ///
    /// A priority in which a scheme puts frames of flows of a lower one has those of that one.
    pub(super) fn longest(self, own: &Assigned) -> Option<Duration> {
        let lowest = own.priority.saturating_sub(own.config.levels() - 1);
        (lowest..=own.priority).rev().find_map(|priority| self.longest_of(own, priority))
    }

    fn longest_of(self, own: &Assigned, priority: u8) -> Option<Duration> {
        let Self { network, layout, census } = self;
        let acknowledgement = HEADER + Mixed::echo_octets(&own.config);
        let processes = network.processes.list.iter().filter(|process| process.priority == priority);
        let frame = processes.map(|process| network.longest_of_process(process)).max().unwrap_or(0);
        let to_come = census.paths_of(layout, priority);
        let of_path = |path: Vec<_>| network.round_trip_over(path.into_iter(), [frame, acknowledgement]);
        round_trips(own, priority, network).into_iter().chain(to_come.map(of_path)).max()
    }
}

/// The round trips of the controlled flows of a priority that a file lists.
fn round_trips(own: &Assigned, priority: u8, network: &Network) -> Vec<Duration> {
    let acknowledgement = HEADER + Mixed::echo_octets(&own.config);
    let flows = (0..).map(FlowId).zip(&network.flows);
    let controlled = flows.filter(|(_, flow)| flow.priority == priority && flow.reaction_point.is_some());
    controlled.filter_map(|(id, _)| network.round_trip(id, acknowledgement)).collect()
}

/// Notes on parameters that should be the round-trip time of the empty network, where that of the priority's flows differs.
/// The bounds are 10/9 of the parameter and half of it, for some parameters a quarter.
pub(crate) fn notes(own: &Assigned, network: &Network) -> Vec<String> {
    let info = own.config.info();
    let exact = |(parameter, _): &(&Parameter, &Value)| parameter.bound == Some(Bound::RoundTrip { noted: true });
    let meant: Vec<_> = info.parameters.iter().zip(&own.values).filter(exact).collect();
    if meant.is_empty() {
        return Vec::new();
    }
    let round_trips = round_trips(own, own.priority, network);
    let (Some(&least), Some(&most)) = (round_trips.iter().min(), round_trips.iter().max()) else { return Vec::new() };
    let shown = |time: Duration| quantity::show(Unit::Time, time.as_seconds());
    let span = if least == most { shown(most) } else { format!("{} to {}", shown(least), shown(most)) };
    let fits = |time: Duration| {
        let times = |factor: u64, time: Duration| u128::from(factor) * u128::from(time.0);
        times(10, time) >= times(9, most) && times(1, time) <= times(2, most).min(times(4, least))
    };
    let note = |(parameter, value): (&Parameter, &Value)| match *value {
        Value::Time(time) if !fits(time) => Some(format!(
            "{}.{} is {time}, and the round trip of a frame through the empty network takes {span}; the scheme takes them to \
             be the same",
            info.name, parameter.name
        )),
        _ => None,
    };
    meant.into_iter().filter_map(note).collect()
}
