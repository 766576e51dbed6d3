//! From the record of a whole scenario to a plan: network, changes, what is recorded, what is fair.

use std::collections::{BTreeMap, BTreeSet};

use penstock_schemes::{BitRate, Duration, Instant, Octets};
use penstock_sim::network::{
    Capacity, Change, Feedback, Flow, Hop, HopId, LARGEST_QUEUE, Network, Node, NodeId, NodeKind, Pacer, Port,
    PortEvent, PortId, QueueId, ReactionPointSpec, RpId, Traffic,
};

use crate::clocks::Clocks;
use crate::error::Fault;
use crate::groups::Groups;
use crate::keys::{Record, Value};
use crate::limits::{Bounds, Excess, PLACES, ROWS, SAMPLES, SHARES, SHARING};
use crate::read::{excess, fault};
use crate::routing::Branch;
use crate::topology::{self, Fabric, capacity};
use crate::traffic::{self, FlowSpec};
use crate::units::{self, Dimension};
use crate::{Choice, FairPeriod, Plan, fair, names, pfc, plan, schemes, windows, write};

/// MAC address of the node before the first: locally administered.
const STATION: u64 = 0x0200_0000_0000;

/// Lays out the run that `record` describes.
pub(crate) fn plan(mut record: Record, name: &str, choice: &Choice, bounds: &Bounds<'_>) -> Result<Plan, Fault> {
    let filed = names::for_files(name);
    if record.text("name").is_some_and(|name| names::for_files(name) != name) {
        let message = "a name that results are filed under has no slash, no dot in front, and at most 200 octets";
        return Err(fault(&record, "name", message).with_hint(format!("for instance \"{filed}\"")));
    }
    record.fill("name", Value::Text(filed));
    let duration = Duration(record.number("duration"));
    let mut notes = windows::cut_short(&mut record, duration);
    let warmup = Duration(record.number("warmup"));
    if warmup >= duration {
        let message = "nothing is left to measure: the warm-up lasts as long as the run";
        return Err(fault(&record, "warmup", message).with_hint(format!("the run ends at {}", units::time(duration.0))));
    }
    if let Some(seed) = choice.seed {
        if i64::try_from(seed).is_err() {
            return Err(schemes::chosen(
                "seed",
                format!("{seed} is above the maximum"),
                format!("at most {}", i64::MAX),
            ));
        }
        record.replace("seed", Value::Count(seed));
    }
    let scheme = schemes::choose(&mut record, choice)?;

    let topology = record.table("topology").expect("a scenario has a topology").clone();
    let fabric = topology::build(&topology, bounds)?;
    if record.tables("flow").is_empty() {
        let hint = "add a table [[flow]] with from = \"h0\" and to = \"h1\"";
        return Err(fault(&record, "flow", "there is no flow").with_hint(hint));
    }
    let groups = Groups::read(record.tables("group"), &fabric, bounds)?;
    let seed = record.number("seed");
    let flows = traffic::flows(record.tables_mut("flow"), &fabric, &groups, seed, duration, bounds)?;
    let clocks = clocks(&record, &fabric, seed);
    let mut network = network(&record, &fabric, &flows, &clocks, duration)?;
    check_frames(&record, &topology, &network)?;
    if let Some(table) = record.table_mut("pfc") {
        network.pfc = Some(pfc::pfc(table, &network, &fabric)?);
    }
    let schemes = schemes::assign(&mut record, scheme, &network, &fabric, choice)?;
    let places = plan::table_places(&network, &schemes);
    bounds
        .check(PLACES, places, "shorter tables in [schemes.NAME], or fewer links and flows")
        .map_err(|e| excess(&record, "scheme", e))?;
    let recorded = recorded(&mut record, &fabric, &network, duration, bounds)?;
    let windows = windows::windows(&mut record, &network, duration, bounds)?;
    check_offered(&network, duration).map_err(|e| excess(&record, "flow", e))?;
    let fair = fair_shares(&network, duration, bounds).map_err(|e| excess(&record, "flow", e))?;

    notes.extend(pfc::notes(&network));
    Ok(Plan {
        name: record.text("name").expect("filled").to_owned(),
        question: record.text("question").expect("required").to_owned(),
        lossless: record.switch("lossless"),
        schemes,
        seed,
        duration,
        warmup,
        node_names: fabric.nodes.iter().map(|n| n.name.clone()).collect(),
        port_names: (0..fabric.ports.len()).map(|p| fabric.port_name(p)).collect(),
        flow_names: flows.iter().map(|f| f.name.clone()).collect(),
        flow_tables: flows.iter().map(|f| table_name(&record, f.table)).collect(),
        flow_ends: flows.iter().map(|f| (f.source, f.destinations(&groups).to_vec())).collect(),
        record: recorded,
        windows,
        notes,
        fair,
        limits: choice.limits,
        network,
        resolved: write::document(&record),
    })
}

/// The name of a `[[flow]]` table, which [`traffic::flows`] has given to tables without one.
fn table_name(record: &Record, table: usize) -> String {
    record.tables("flow")[table].text("name").expect("filled").to_owned()
}

/// The reference allocation, unless flows and links change too often for it.
fn fair_shares(network: &Network, duration: Duration, bounds: &Bounds<'_>) -> Result<Vec<FairPeriod>, Excess> {
    let periods = fair::boundaries(network, duration).len() as u64;
    let less = format!("starts, stops and changes at fewer instants than {periods}");
    bounds.check(SHARES, periods * network.flows.len() as u64, &less)?;
    bounds.check(SHARING, periods * network.hops.len() as u64, &less)?;
    fair::periods(network, duration, bounds)
}

/// Refuses flows that make more frames than 64 bits count.
fn check_offered(network: &Network, duration: Duration) -> Result<(), Excess> {
    let frames = |flow: &Flow| {
        let octets = u64::from(flow.frame) + u64::from(network.wire_overhead);
        let (rate, turn) = match flow.traffic {
            Traffic::Greedy => return 0,
            Traffic::Constant(rate) | Traffic::Poisson(rate) => (rate, Duration(u64::MAX)),
            // Each turn begins with a frame, however short it is.
            Traffic::OnOff { rate, on, off, .. } => (rate, on + off),
        };
        duration.0 / rate.serialisation(octets).0.min(turn).0.max(1)
    };
    let frames: u128 = network.flows.iter().map(|flow| u128::from(frames(flow))).sum();
    // Half of what 64 bits hold: what is drawn at random can be more than its mean.
    if frames > u128::from(u64::MAX / 2) {
        let message = format!("the flows make some {frames} frames, more than 64 bits count");
        return Err((message, "lower rates, longer frames or turns, or a shorter duration".to_owned()));
    }
    Ok(())
}

fn network(
    record: &Record,
    fabric: &Fabric,
    flows: &[FlowSpec],
    clocks: &Clocks,
    duration: Duration,
) -> Result<Network, Fault> {
    let settings = record.table("network").expect("network has defaults");
    let hosts = record.table("hosts").expect("hosts have defaults");
    let node = |(i, n): (usize, &topology::FabricNode)| Node { kind: n.kind, station: STATION + 1 + i as u64 };
    let mut network = Network {
        nodes: fabric.nodes.iter().enumerate().map(node).collect(),
        ports: ports(settings, hosts, fabric, clocks)?,
        priorities: flows.iter().map(|f| f.priority).collect::<BTreeSet<u8>>().into_iter().collect(),
        hops: Vec::new(),
        flows: Vec::new(),
        reaction_points: Vec::new(),
        changes: Vec::new(),
        wire_overhead: settings.number("wire_overhead") as u16,
        in_service_counts: settings.switch("in_service_counts"),
        own_clocks: settings.text("switch_clocks") == Some("own"),
        control_capacity: Octets(settings.number("control_buffer")),
        pfc: None,
        feedback: match settings.table("feedback") {
            Some(ideal) => Feedback::Ideal(Duration(ideal.number("ideal"))),
            None => Feedback::InBand,
        },
    };
    let pacer = pacer(hosts);
    let shared = hosts.text("reaction_points") == Some("per-host");
    let mut limiters: BTreeMap<(usize, u8), RpId> = BTreeMap::new();
    for spec in flows {
        let root = add_hops(&mut network.hops, &spec.route);
        let next = RpId(network.reaction_points.len() as u32);
        let place = (spec.route[0].port, spec.priority);
        let reaction_point = spec.controlled.then(|| match limiters.get(&place) {
            Some(limiter) if shared => *limiter,
            _ => {
                network.reaction_points.push(ReactionPointSpec { port: PortId(place.0 as u32), pacer });
                limiters.insert(place, next);
                next
            }
        });
        network.flows.push(Flow {
            root,
            priority: spec.priority,
            frame: spec.frame,
            weight: spec.weight,
            start: spec.start,
            stop: spec.stop,
            size: spec.size,
            traffic: spec.traffic,
            excess: spec.excess,
            reaction_point,
        });
    }
    for change in record.tables("change") {
        add_change(change, &mut network, fabric, clocks, duration)?;
    }
    network.changes.sort_by_key(|change| change.at);
    Ok(network)
}

/// The clocks of the nodes.
fn clocks(record: &Record, fabric: &Fabric, seed: u64) -> Clocks {
    let tolerance = record.table("network").expect("network has defaults").number("clock_tolerance");
    Clocks::draw(tolerance, seed, fabric.nodes.iter().map(|n| n.name.as_str()))
}

fn ports(settings: &Record, hosts: &Record, fabric: &Fabric, clocks: &Clocks) -> Result<Vec<Port>, Fault> {
    let queue = capacity(hosts, "queue").unwrap_or(Capacity::Arbiter);
    let listed = settings.list("congestion_points");
    let everywhere = settings.text("congestion_points") == Some("everywhere");
    let mut chosen = BTreeSet::new();
    for name in listed.unwrap_or(&[]) {
        let port = fabric.port(name).ok_or_else(|| {
            let message = format!("there is no port \"{name}\"");
            fault(settings, "congestion_points", message).with_hint(fabric.suggest_port(name))
        })?;
        if !chosen.insert(port) {
            let message = format!("the port \"{name}\" is listed twice");
            return Err(fault(settings, "congestion_points", message).with_hint("list each port once"));
        }
    }
    let node_delay = settings.number("node_delay");
    let delayed = settings.text("node_delay_at").unwrap_or_default();
    let host_delay = settings.number("host_delay");
    let mut ports = Vec::with_capacity(fabric.ports.len());
    for (i, p) in fabric.ports.iter().enumerate() {
        let (own_host, peer_host) = (fabric.is_host(p.node), fabric.is_host(p.peer));
        let takes = delayed == "all" || (delayed == "hosts") == peer_host;
        let delay = fabric.nodes[p.peer].delay.unwrap_or(if takes { node_delay } else { 0 });
        let latency = p.delay.saturating_add(delay).saturating_add(if peer_host { host_delay } else { 0 });
        let congestion_points = if listed.is_some() { chosen.contains(&i) } else { everywhere || !own_host };
        let capacity = if own_host { queue } else { p.buffer };
        if congestion_points && capacity == Capacity::Arbiter {
            let message = format!("\"{}\" has no queue to watch", fabric.port_name(i));
            let hint = "give hosts a queue: hosts.queue = \"150 KB\"";
            return Err(fault(settings, "congestion_points", message).with_hint(hint));
        }
        ports.push(Port {
            node: NodeId(p.node as u32),
            peer: NodeId(p.peer as u32),
            number: p.number,
            rate: clocks.rate(p.node, p.rate),
            latency: Duration(latency),
            capacity,
            congestion_points,
        });
    }
    Ok(ports)
}

fn pacer(hosts: &Record) -> Pacer {
    match hosts.table("pacer").and_then(|choice| choice.table("token_bucket")) {
        None => Pacer::Ideal,
        Some(bucket) => Pacer::TokenBucket {
            depth: Octets(bucket.number("depth")),
            interval: Duration(bucket.number("interval")),
            granularity: BitRate(bucket.number("granularity")),
        },
    }
}

/// Appends the hops of `route`; returns the first.
fn add_hops(hops: &mut Vec<Hop>, route: &[Branch]) -> HopId {
    let first = hops.len();
    let id = |i: usize| HopId((first + i) as u32);
    for branch in route {
        hops.push(Hop {
            port: PortId(branch.port as u32),
            // The two directions of a link differ in the last bit.
            back: PortId((branch.port ^ 1) as u32),
            parent: branch.parent.map(id),
            first_child: id(0),
            children: 0,
        });
    }
    for (i, branch) in route.iter().enumerate() {
        if let Some(parent) = branch.parent {
            let parent = &mut hops[first + parent];
            if parent.children == 0 {
                parent.first_child = id(i);
            }
            parent.children += 1;
        }
    }
    id(0)
}

fn add_change(
    change: &Record,
    network: &mut Network,
    fabric: &Fabric,
    clocks: &Clocks,
    duration: Duration,
) -> Result<(), Fault> {
    let at = Instant(change.number("at"));
    if at.0 >= duration.0 {
        let message = "a change at or after the end of the run";
        return Err(fault(change, "at", message).with_hint(format!("the run ends at {}", units::time(duration.0))));
    }
    let event = match (change.get("rate"), change.text("state")) {
        (Some(rate), None) => PortEvent::Rate(BitRate(rate)),
        (None, Some("down")) => PortEvent::Down,
        (None, Some(_)) => PortEvent::Up,
        (Some(_), Some(_)) => {
            let hint = "for both, write two changes at the same time";
            return Err(fault(change, "state", "a change has a rate or a state, not both").with_hint(hint));
        }
        (None, None) => {
            let message = "a change has a rate, or a state (\"down\" or \"up\")";
            return Err(fault(change, "rate", message).with_hint("for instance state = \"down\""));
        }
    };
    let link = change.text("link").expect("required");
    let names = match link.split_once("--") {
        Some((a, b)) => vec![format!("{a}->{b}"), format!("{b}->{a}")],
        None => vec![link.to_owned()],
    };
    for name in names {
        let port = fabric.port(&name).ok_or_else(|| {
            let message = format!("there is no link \"{link}\"");
            fault(change, "link", message).with_hint(fabric.suggest_port(&name))
        })?;
        let event = match event {
            PortEvent::Rate(rate) => PortEvent::Rate(clocks.rate(fabric.ports[port].node, rate.0)),
            other => other,
        };
        match event {
            PortEvent::Rate(rate) if at == Instant::ZERO => network.ports[port].rate = rate,
            _ => network.changes.push(Change { at, port: PortId(port as u32), event }),
        }
    }
    Ok(())
}

/// Refuses queues and buckets into which the largest frame does not fit, and queues of more octets than there can be.
fn check_frames(record: &Record, topology: &Record, network: &Network) -> Result<(), Fault> {
    let largest = largest_frame(network);
    let too_small = |table: &Record, key: &str, size: Octets| {
        let message = format!("{size} hold no frame of {largest} octets");
        fault(table, key, message).with_hint(format!("at least {}", units::size(largest)))
    };
    let check_queue = |table: &Record, key: &str| match capacity(table, key) {
        Some(Capacity::Octets(size)) if size.0 < largest => Err(too_small(table, key, size)),
        Some(Capacity::Frames(n)) if u64::from(n) * largest > LARGEST_QUEUE.0 => {
            let most = LARGEST_QUEUE.0 / largest;
            let message =
                format!("{n} frames of up to {largest} octets are more than {}", units::size(LARGEST_QUEUE.0));
            Err(fault(table, key, message).with_hint(format!("at most {most} frames")))
        }
        _ => Ok(()),
    };
    let check = |table: &Record| check_queue(table, "buffer");
    for (_, entry) in &topology.entries {
        let Some(Value::Table(table)) = entry.as_ref().map(|e| &e.value) else { continue };
        check(table)?;
        if table.entries.iter().any(|(key, _)| *key == "link") {
            table.tables("link").iter().filter(|link| link.entry("buffer").is_some()).try_for_each(check)?;
        }
    }
    let hosts = record.table("hosts").expect("hosts have defaults");
    check_queue(hosts, "queue")?;
    let on_wire = largest + u64::from(network.wire_overhead);
    if let Pacer::TokenBucket { depth, .. } = pacer(hosts)
        && depth.0 < on_wire
    {
        let message = format!("the bucket of {depth} never holds a frame of {on_wire} octets (wire overhead included)");
        return Err(fault(hosts, "pacer", message).with_hint(format!("a depth of at least {}", units::size(on_wire))));
    }
    Ok(())
}

/// Length of the largest frame of any flow, octets.
pub(crate) fn largest_frame(network: &Network) -> u64 {
    network.flows.iter().map(|f| u64::from(f.frame)).max().unwrap_or(0)
}

/// What is recorded. The record then holds the interval.
fn recorded(
    record: &mut Record,
    fabric: &Fabric,
    network: &Network,
    duration: Duration,
    bounds: &Bounds<'_>,
) -> Result<plan::Record, Fault> {
    let settings = record.table_mut("record").expect("record has defaults");
    settings.fill("interval", Value::Quantity(Dimension::Time, (duration.0 / 1000).max(1)));
    let interval = Duration(settings.number("interval"));
    if interval > duration {
        let message = "no sample would fall into the run";
        return Err(fault(settings, "interval", message).with_hint(format!("at most {}", units::time(duration.0))));
    }
    let samples = duration.0 / interval.0;
    let at_interval = |e| excess(settings, "interval", e);
    bounds.check(SAMPLES, samples, "a longer interval").map_err(at_interval)?;
    let mut used = BTreeSet::new();
    for (i, flow) in network.flows.iter().enumerate() {
        let route = network.route(penstock_sim::network::FlowId(i as u32));
        used.extend(route.map(|hop| (network.hops[hop.index()].port, flow.priority)));
    }
    let all = |port: PortId| network.priorities.iter().map(move |priority| (port, *priority));
    let ports = (0..network.ports.len()).map(|i| PortId(i as u32));
    let places: Vec<(PortId, u8)> = match settings.list("queues") {
        None if settings.text("queues") == Some("switches") => ports
            .filter(|p| network.nodes[network.ports[p.index()].node.index()].kind == NodeKind::Switch)
            .flat_map(all)
            .collect(),
        // A host's port without a queue has nothing to show, unless flow control can stop it.
        None => {
            let shows = |port: PortId| network.ports[port.index()].capacity != Capacity::Arbiter;
            used.into_iter().filter(|(port, _)| network.pfc.is_some() || shows(*port)).collect()
        }
        Some(names) => {
            let mut places = Vec::new();
            for name in names {
                let port = fabric.port(name).ok_or_else(|| {
                    let message = format!("there is no port \"{name}\"");
                    fault(settings, "queues", message).with_hint(fabric.suggest_port(name))
                })?;
                let before = places.len();
                places.extend(all(PortId(port as u32)).filter(|place| used.contains(place)));
                if places.len() == before {
                    places.extend(all(PortId(port as u32)));
                }
                if places[..before].contains(&places[before]) {
                    let message = format!("the port \"{name}\" is listed twice");
                    return Err(fault(settings, "queues", message).with_hint("list each port once"));
                }
            }
            places
        }
    };
    let rows = samples.saturating_mul((places.len() + network.flows.len()) as u64);
    let less = format!("a longer interval: each sample has {} queues and {} flows", places.len(), network.flows.len());
    bounds.check(ROWS, rows, &less).map_err(|e| excess(settings, "interval", e))?;
    let queues: Vec<QueueId> = places.into_iter().map(|(port, priority)| network.queue(port, priority)).collect();
    Ok(plan::Record { interval, queues, signals: settings.switch("signals"), arrivals: settings.switch("arrivals") })
}
