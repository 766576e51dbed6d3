//! Round-trip times of an empty network, for schemes with a parameter that is meant to be one.

use penstock_schemes::mixed::Mixed;
use penstock_schemes::{Bound, Duration, HEADER, Parameter, Scheme, Unit, Value, quantity};
use penstock_sim::network::{FlowId, Network};

use crate::plan::Assigned;

/// Sentences about parameters that are meant to be the round-trip time of the empty network, where the flows of the priority have others: above
/// 10/9 of the parameter, below half of it, or, for some of them, below a quarter.
pub(crate) fn notes(own: &Assigned, network: &Network) -> Vec<String> {
    let info = own.config.info();
    let meant =
        info.parameters.iter().zip(&own.values).filter(|(parameter, _)| parameter.bound == Some(Bound::RoundTrip));
    let meant: Vec<_> = meant.collect();
    if meant.is_empty() {
        return Vec::new();
    }
    let echo = Mixed::echo_octets(&own.config);
    let flows = (0..).map(FlowId).zip(&network.flows);
    let controlled = flows.filter(|(_, flow)| flow.priority == own.priority && flow.reaction_point.is_some());
    let round_trips: Vec<Duration> = controlled.filter_map(|(id, _)| network.round_trip(id, HEADER + echo)).collect();
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
