//! Traffic classes: from `[[priority]]` and `[[wred]]` to the scheduler, the shapers and the early detection of switches.

use std::collections::{BTreeMap, BTreeSet};

use penstock_schemes::parts::marking::Ramp;
use penstock_schemes::units::PS_PER_S;
use penstock_schemes::{Action, BitRate, Octets, Value};
use penstock_sim::network::{EarlyDrops, LARGEST_QUEUE, LONGEST, Network, PortId, Service, Shaper, Wred};

use super::{Assigned, CodePoints};
use crate::error::Fault;
use crate::keys::fields::{Counts, Either, List};
use crate::keys::read::{Blame, Entry};
use crate::keys::sections::{self, AllPorts, QueueLength};
use crate::keys::topology::Layout;

/// Depth of a shaper's bucket: that of many switches by default.
const BURST: Octets = Octets(8_000);

/// How switches serve the network's priorities; none where all have strict priority alone.
pub(crate) fn service(tables: &[sections::Priority], network: &Network) -> Result<Vec<Service>, Fault> {
    for table in tables {
        let Some(rate) = *table.max_rate else {
            if table.burst.is_some() {
                let message = "a burst is the depth of a shaper's bucket, and there is no shaper";
                return Err(table.burst.fault(message).with_hint("give its rate: max_rate = \"10 Gbps\""));
            }
            continue;
        };
        let burst = table.burst.unwrap_or(BURST);
        if burst.0 * 8 / rate.0 >= LONGEST.0 / PS_PER_S {
            let message = format!("at {rate} a bucket of {burst} takes longer to fill than any run");
            return Err(table.max_rate.fault(message).with_hint("a higher rate, or a smaller burst"));
        }
    }
    let of = |&priority: &u8| {
        let table = tables.iter().find(|table| *table.priority == priority);
        table.map_or_else(Service::default, |table| Service {
            weight: *table.weight,
            shaper: table.max_rate.map(|rate| Shaper { rate, burst: table.burst.unwrap_or(BURST) }),
        })
    };
    let service: Vec<Service> = network.priorities.iter().map(of).collect();
    let strict = service.iter().all(|service| *service == Service::default());
    Ok(if strict { Vec::new() } else { service })
}

/// The code points of all priorities.
pub(crate) fn code_points(tables: &[sections::Priority]) -> Result<[CodePoints; 8], Fault> {
    let mut points = std::array::from_fn(|priority| CodePoints { pcp: priority as u8, dscp: (priority as u8) << 3 });
    let (mut pcps, mut dscps) = (BTreeMap::new(), BTreeMap::new());
    let twice = |what: &str, point: u8, other: u8| {
        (
            format!("{what} {point} is that of priority {other} already"),
            "each code point maps to one priority".to_owned(),
        )
    };
    for table in tables {
        let (own, point) = (*table.priority, &mut points[usize::from(*table.priority)]);
        if let Some(pcp) = *table.pcp {
            if let Some(other) = pcps.insert(pcp, own) {
                return Err(table.pcp.excess(twice("PCP", pcp, other)));
            }
            point.pcp = pcp;
        }
        if let Some(Counts(listed)) = &*table.dscp {
            for &dscp in listed {
                if let Some(other) = dscps.insert(dscp, own) {
                    return Err(table.dscp.excess(twice("DSCP", dscp, other)));
                }
            }
            point.dscp = listed[0];
        }
    }
    Ok(points)
}

/// Early detection in the queues of `network`, which is laid out; and its tables, one for each rate of ports where thresholds are times.
pub(crate) fn wred(
    tables: &[sections::Wred],
    network: &Network,
    (layout, schemes): (&Layout, &[Assigned]),
) -> Result<(Vec<Wred>, Vec<sections::Wred>), Fault> {
    let (mut queues, mut settled) = (Vec::new(), Vec::new());
    let mut taken = BTreeSet::new();
    let known: BTreeSet<u8> = network.priorities.iter().copied().collect();
    let lossless = network.pfc.as_ref().map_or(&[][..], |pfc| &pfc.priorities);
    for table in tables {
        let priorities: Vec<u8> = match &*table.priorities {
            Some(Counts(listed)) => listed.clone(),
            None => known.iter().copied().collect(),
        };
        let ports = switch_ports(&table.ports, layout, "WRED")?;
        let mut by_rate: BTreeMap<BitRate, Vec<usize>> = BTreeMap::new();
        for &port in &ports {
            by_rate.entry(layout.ports[port].rate).or_default().push(port);
        }
        for &priority in priorities.iter().filter(|priority| known.contains(priority)) {
            let drops = drops(table, priority, lossless, schemes)?;
            for (&rate, of_rate) in &by_rate {
                let ramp = ramp(table, rate)?;
                for &port in of_rate {
                    if !taken.insert((port, priority)) {
                        let name = layout.port_name(port);
                        let message = format!("priority {priority} of {name} has a [[wred]] already");
                        return Err(table.ports.fault(message).with_hint("list other ports or other priorities"));
                    }
                    queues.push(Wred { port: PortId(port as u32), priority, ramp, drops });
                }
            }
        }
        settled.extend(of_rates(table, &priorities, by_rate, layout));
    }
    Ok((queues, settled))
}

/// The ports of switches that `key` names; `what` is for switches alone.
pub(super) fn switch_ports(
    key: &Entry<Either<AllPorts, List>>,
    layout: &Layout,
    what: &str,
) -> Result<BTreeSet<usize>, Fault> {
    match &**key {
        Either::First(_) => {
            Ok((0..layout.ports.len()).filter(|&port| !layout.is_host(layout.ports[port].node)).collect())
        }
        Either::Second(names) => listed_switch_ports(key, names, layout, what),
    }
}

/// Those of a list.
pub(super) fn listed_switch_ports(
    key: &dyn Blame,
    names: &[String],
    layout: &Layout,
    what: &str,
) -> Result<BTreeSet<usize>, Fault> {
    let mut chosen = BTreeSet::new();
    for name in names {
        let found = layout.port(name);
        let port = found
            .ok_or_else(|| key.blame(format!("there is no port \"{name}\"")).with_hint(layout.suggest_port(name)))?;
        if layout.is_host(layout.ports[port].node) {
            let message = format!("the port \"{name}\" is that of a host, and {what} is for switches");
            return Err(key.blame(message).with_hint("list ports of switches"));
        }
        if !chosen.insert(port) {
            return Err(key.blame(format!("the port \"{name}\" is listed twice")).with_hint("list each port once"));
        }
    }
    Ok(chosen)
}

/// The probabilities at a port of this rate.
fn ramp(table: &sections::Wred, rate: BitRate) -> Result<Ramp, Fault> {
    let (min, max) = (table.min.at(rate), table.max.at(rate));
    if max > LARGEST_QUEUE {
        let message = format!("at a port of {rate} that is {max}, more than a queue can hold");
        return Err(table.max.fault(message).with_hint(format!("at most {LARGEST_QUEUE}")));
    }
    if min > max {
        let message = format!("the maximum threshold, {max}, is below the minimum, {min}");
        return Err(table.max.fault(message).with_hint(format!("at least {min}")));
    }
    Ok(Ramp { k_min: min.0, k_max: max.0, p_max: (*table.probability * 4_294_967_296.0) as u64 })
}

/// The frames that a queue of `priority` drops early.
fn drops(table: &sections::Wred, priority: u8, lossless: &[u8], schemes: &[Assigned]) -> Result<EarlyDrops, Fault> {
    let own = schemes.iter().find(|own| own.priority == priority);
    let marking = own.filter(|own| own.config.info().actions.contains(&Action::Marks));
    let controller = |own: &&Assigned| {
        let mut keys = own.config.info().parameters.iter().zip(&own.values);
        keys.any(|(key, value)| key.name == "marking" && *value == Value::Choice("pi"))
    };
    if let Some(own) = marking.filter(controller) {
        let name = own.config.info().name;
        let message =
            format!("{name} marks by a controller (marking = \"pi\") in priority {priority}, which has no thresholds");
        return Err(table.priorities.fault(message).with_hint("list other priorities, or marking = \"threshold\""));
    }
    match (*table.ecn, marking, lossless.contains(&priority)) {
        (true, None, false) => Ok(EarlyDrops::Unmarkable),
        (true, ..) => Ok(EarlyDrops::None),
        (false, None, false) => Ok(EarlyDrops::All),
        (false, Some(own), _) => {
            let name = own.config.info().name;
            let message = format!("without ecn frames are dropped, and {name} needs marks in priority {priority}");
            Err(table.ecn.fault(message).with_hint("ecn = true, or list other priorities"))
        }
        (false, None, true) => {
            let message = format!("without ecn frames are dropped, and priority {priority} is lossless");
            Err(table.ecn.fault(message).with_hint("ecn = true, or list other priorities"))
        }
    }
}

/// The table with octets, once for the ports of each rate where thresholds are times.
fn of_rates(
    table: &sections::Wred,
    priorities: &[u8],
    by_rate: BTreeMap<BitRate, Vec<usize>>,
    layout: &Layout,
) -> Vec<sections::Wred> {
    let mut table = table.clone();
    table.priorities.fill(Counts(priorities.to_vec()));
    if ![*table.min, *table.max].iter().any(|length| matches!(length, QueueLength::Time(_))) {
        return vec![table];
    }
    let several = by_rate.len() > 1;
    let of_rate = |(rate, ports): (BitRate, Vec<usize>)| {
        let mut own = table.clone();
        own.min.replace(QueueLength::Octets(table.min.at(rate)));
        own.max.replace(QueueLength::Octets(table.max.at(rate)));
        if several {
            own.ports.replace(Either::Second(List(ports.into_iter().map(|port| layout.port_name(port)).collect())));
        }
        own
    };
    by_rate.into_iter().map(of_rate).collect()
}

/// Says which priorities have a table and no flow.
pub(crate) fn note(tables: &[sections::Priority], network: &Network) -> Option<String> {
    let idle = tables.iter().map(|table| *table.priority).filter(|own| !network.priorities.contains(own));
    let idle: Vec<String> = idle.map(|priority| priority.to_string()).collect();
    let noun = if idle.len() == 1 { "priority" } else { "priorities" };
    (!idle.is_empty()).then(|| format!("no flow has {noun} {}: its [[priority]] changes nothing", idle.join(", ")))
}
