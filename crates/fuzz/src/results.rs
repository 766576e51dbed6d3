//! Results that are impossible under any scheme: physics and arithmetic alone forbid them.

use std::collections::BTreeMap;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float64Type, Int32Type, UInt8Type, UInt64Type};
use penstock_runner::{Key, OBJECTS, Run, Shape, Summary, Table};
use penstock_scenario::Plan;
use penstock_schemes::Instant;
use penstock_sim::network::{Capacity, FlowId, Network, PortEvent};

/// Rounding of sums of many floating-point numbers, relative.
const ROUNDING: f64 = 1e-9;
/// A picosecond, s: the clock's step.
const STEP: f64 = 1e-12;

/// The ports of a plan by their names.
type Ports<'p> = BTreeMap<&'p str, usize>;

/// The first impossible value in `run`, a run of `plan`.
pub(crate) fn impossible(plan: &Plan, run: &Run) -> Option<String> {
    let ports: Ports = plan.port_names.iter().enumerate().map(|(port, name)| (name.as_str(), port)).collect();
    numbers(&run.summary)
        .or_else(|| ratios(plan, &ports, &run.summary))
        .or_else(|| queues(plan, &ports, &run.summary))
        .or_else(|| flows(plan, &run.summary))
        .or_else(|| windows(plan, &ports, &run.summary))
        .or_else(|| tables(plan, &ports, run))
}

/// The first impossible value in the reference allocation of `plan`.
pub(crate) fn unfair(plan: &Plan) -> Option<String> {
    let network = &plan.network;
    let fastest = fastest(network);
    for period in &plan.fair {
        let mut loads = vec![0.0; network.ports.len()];
        for (i, share) in period.max_min_bps.iter().enumerate() {
            if !(share.is_finite() && *share >= 0.0) {
                return Some(format!("the fair share of {} is {share}", plan.flow_names[i]));
            }
            let mut later = network.reroutes.iter().rev();
            let present = later.find(|own| own.flow.index() == i && own.at <= period.time.start);
            for hop in network.route_from(present.map_or(network.flows[i].root, |own| own.root)) {
                loads[network.hops[hop.index()].port.index()] += share;
            }
        }
        if let Some(bad) = period.proportional_bps.iter().find(|share| !(share.is_finite() && **share >= 0.0)) {
            return Some(format!("a proportionally fair share is {bad}"));
        }
        for (port, load) in loads.iter().enumerate() {
            if *load > fastest[port] as f64 * (1.0 + ROUNDING) {
                let (name, line) = (&plan.port_names[port], fastest[port]);
                return Some(format!("fair shares of {load} bit/s in all cross {name}, a line of {line} bit/s"));
            }
        }
    }
    None
}

/// Numbers that are not finite, or negative.
fn numbers(summary: &Summary) -> Option<String> {
    fn walk(value: &serde_json::Value, shape: Option<Shape>, path: &str) -> Option<String> {
        use serde_json::Value;
        match (value, shape) {
            (Value::Null, Some(Shape::Maybe(_))) => None,
            // JSON has no NaN: a null where none may be stands for one.
            (Value::Null, _) => Some(format!("{path} is no number")),
            (_, Some(Shape::Maybe(inner))) => walk(value, Some(*inner), path),
            (Value::Object(map), _) => map.iter().find_map(|(name, value)| {
                let shape = keys(shape).iter().find(|key| key.name == name).map(|key| key.shape);
                walk(value, shape, &format!("{path}.{name}"))
            }),
            (Value::Array(list), _) => {
                let inner = if let Some(Shape::List(inner)) = shape { Some(*inner) } else { None };
                list.iter().find_map(|value| walk(value, inner, path))
            }
            (Value::Number(x), _) => {
                x.as_f64().filter(|x| *x < 0.0 || !x.is_finite()).map(|x| format!("{path} is {x}"))
            }
            _ => None,
        }
    }
    /// The declared keys of an object.
    fn keys(shape: Option<Shape>) -> &'static [Key] {
        let Some(Shape::Object(name)) = shape else { return &[] };
        OBJECTS.iter().find(|object| object.name == name).map_or(&[], |object| object.keys)
    }
    match serde_json::to_value(summary) {
        Ok(value) => walk(&value, Some(Shape::Object("Summary")), "summary"),
        Err(error) => Some(format!("the summary cannot be written: {error}")),
    }
}

/// Shares above one.
fn ratios(plan: &Plan, ports: &Ports, summary: &Summary) -> Option<String> {
    let above = |what: &str, x: f64| (x > 1.0 + ROUNDING).then(|| format!("{what} is {x}"));
    let multicast = summary.totals.copies_made > 0;
    above("jain_index", summary.jain_index)
        .or_else(|| if multicast { None } else { above("loss_rate", summary.loss_rate) })
        .or_else(|| {
            summary.queues.iter().find_map(|q| above(&format!("empty_fraction of {}", q.name), q.empty_fraction))
        })
        .or_else(|| {
            let seconds = measured(plan, summary);
            summary.queues.iter().find_map(|q| use_above_one(plan, ports, &q.name, q.utilization, seconds))
        })
}

/// A link that carries more than it can in `seconds`. A bit and the clock's step at each end of the time are allowed,
/// and, where its rate has changed, a frame that went on at the rate before.
fn use_above_one(plan: &Plan, ports: &Ports, name: &str, share: f64, seconds: f64) -> Option<String> {
    let port = *ports.get(name)?;
    let network = &plan.network;
    let rates: Vec<u64> = rates(network, port).collect();
    let frame = if rates.len() > 1 { longest(network) * 8.0 * rates.len() as f64 } else { 0.0 };
    let slowest = rates.iter().min().copied().unwrap_or(1) as f64;
    let step = rates.iter().max().copied().unwrap_or(1) as f64 * STEP;
    // The engine counts whole bits.
    let whole = (slowest * seconds - 1.0).max(0.0);
    let limit = 1.0 + ROUNDING + if whole > 0.0 { (2.0 + 2.0 * step + frame) / whole } else { f64::INFINITY };
    (share > limit).then(|| format!("utilization of {name} is {share}, at most {limit} with all rounding"))
}

/// Queues longer than they can be, and statistics that contradict one another.
fn queues(plan: &Plan, ports: &Ports, summary: &Summary) -> Option<String> {
    for q in &summary.queues {
        let most = bound(&plan.network, ports.get(q.name.as_str()).copied(), q.priority);
        if q.max_octets > most {
            return Some(format!("the queue of {} reached {} octets; {most} are the most", q.name, q.max_octets));
        }
        let (low, high) = (q.min_octets as f64, q.max_octets as f64);
        let mean_fits =
            q.mean_octets >= low * (1.0 - ROUNDING) - ROUNDING && q.mean_octets <= high * (1.0 + ROUNDING) + ROUNDING;
        // A run that was stopped before its warm-up was over has measured nothing.
        if measured(plan, summary) > 0.0 && !mean_fits {
            return Some(format!("the mean queue of {} is {}, not from {low} to {high}", q.name, q.mean_octets));
        }
        // No distribution on an interval deviates by more than half of it. (T. Popoviciu, 1935) The deviation is a
        // difference of squares, exact to some 1e-8 of the mean.
        if q.std_octets > (high - low) / 2.0 + high * 1e-7 + 1e-6 {
            return Some(format!("the queue of {} deviates by {} between {low} and {high}", q.name, q.std_octets));
        }
        // WRED drops frames at any length of a queue.
        let own_memory = plan.network.pfc.is_none() && plan.network.pools.is_empty() && plan.network.wred.is_empty();
        if q.frames_dropped > 0 && q.max_octets == 0 && plan.warmup.0 == 0 && own_memory {
            return Some(format!("the queue of {} dropped frames and was never filled", q.name));
        }
        let end = summary.end_s();
        if q.paused_s > end + STEP {
            return Some(format!("{} was stopped for {} s in {end} s", q.name, q.paused_s));
        }
    }
    None
}

/// Windows that measure more than the run, or more than their queues can hold.
fn windows(plan: &Plan, ports: &Ports, summary: &Summary) -> Option<String> {
    let whole = &summary.totals;
    for w in &summary.windows {
        let parts = [
            ("offered", w.totals.frames_offered, whole.frames_offered),
            ("sent", w.totals.frames_sent, whole.frames_sent),
            ("delivered", w.totals.frames_delivered, whole.frames_delivered),
            ("dropped", w.totals.frames_dropped, whole.frames_dropped),
            ("feedback", w.totals.feedback_frames, whole.feedback_frames),
        ];
        if let Some((what, part, whole)) = parts.iter().find(|(_, part, whole)| part > whole) {
            return Some(format!("the window {} has {part} frames {what}, the run {whole}", w.name));
        }
        for q in &w.queues {
            let most = bound(&plan.network, ports.get(q.name.as_str()).copied(), q.priority);
            let mean = q.mean_octets;
            let fits = w.end_s <= w.start_s || mean <= q.max_octets as f64 * (1.0 + ROUNDING) + ROUNDING;
            if q.max_octets > most || q.min_octets > q.max_octets || !fits {
                let (name, low, high) = (&q.name, q.min_octets, q.max_octets);
                return Some(format!("in {} the queue of {name} is {mean} from {low} to {high} octets", w.name));
            }
        }
    }
    None
}

/// The most octets of the data queue of `priority` at `port`.
fn bound(network: &Network, port: Option<usize>, priority: u8) -> u64 {
    // The ingress buffers bound the frames that flow control holds, and credits those that they let go.
    if !network.credits.is_empty() {
        return u64::MAX;
    }
    if network.pfc.as_ref().is_some_and(|pfc| pfc.priorities.contains(&priority)) {
        return u64::MAX;
    }
    match port.map_or(Capacity::Arbiter, |port| network.ports[port].capacity) {
        Capacity::Octets(octets) => octets.0,
        Capacity::Frames(n) => u64::from(n).saturating_mul(largest(network)),
        Capacity::Arbiter => u64::MAX,
    }
}

/// Deliveries before light could arrive, and more than links carry.
fn flows(plan: &Plan, summary: &Summary) -> Option<String> {
    let network = &plan.network;
    let (fastest, seconds) = (fastest(network), measured(plan, summary));
    let end = summary.end_s();
    for (i, f) in summary.flows.iter().enumerate() {
        let flow = &network.flows[i];
        let paths = paths(network, &fastest, i);
        let (shortest, longest_path) = (paths.iter().copied().min()?, paths.iter().copied().max()?);
        // A flow that waits for others begins some time later.
        let start = if flow.start == Instant::NEVER { 0.0 } else { flow.start.0 as f64 / 1e12 };
        let arrives = start + shortest as f64 / 1e12;
        if f.frames_delivered > 0 && arrives > end * (1.0 + ROUNDING) + STEP {
            return Some(format!("{} delivered by {end} s; its first frame arrives at {arrives} s", f.name));
        }
        // When a flow is complete all of its destinations have its data, or the one to which several paths lead.
        let least = if network.is_multipath(FlowId(i as u32)) { shortest } else { longest_path } as f64 / 1e12;
        if let Some(time) = f.completion_time_s
            && time < least * (1.0 - ROUNDING) - STEP
        {
            return Some(format!("{} was complete after {time} s; its path takes {least} s", f.name));
        }
        let last =
            network.route(FlowId(i as u32)).map(|hop| &network.hops[hop.index()]).filter(|hop| hop.children == 0);
        let line = last.map(|hop| fastest[hop.port.index()]).max()? as f64;
        let wire = f64::from(flow.frame) + f64::from(network.wire_overhead);
        // A frame counts whole when it arrives, even if the time measured, or that of the flow, had just begun.
        let seconds = f.active_s.unwrap_or(seconds);
        let most = line * (1.0 + ROUNDING) + if seconds > 0.0 { wire * 8.0 / seconds } else { 0.0 };
        if f.throughput_bps > most {
            return Some(format!("{} has {} bit/s over a line of {line} bit/s", f.name, f.throughput_bps));
        }
        if f.fair_rate_bps > line * (1.0 + ROUNDING) {
            return Some(format!(
                "the fair share of {} is {} bit/s over a line of {line} bit/s",
                f.name, f.fair_rate_bps
            ));
        }
        let own = fastest[network.hops[flow.root.index()].port.index()] as f64;
        if f.mean_rate_bps > own * (1.0 + ROUNDING) || f.std_rate_bps > own * (0.5 + 1e-6) {
            return Some(format!(
                "{} may send at {} bit/s, deviation {}, over its line of {own} bit/s",
                f.name, f.mean_rate_bps, f.std_rate_bps
            ));
        }
        let arrived = f.frames_delivered + f.frames_dropped;
        if network.hops[flow.root.index()].children <= 1 && paths.len() == 1 && arrived > f.frames_sent {
            return Some(format!("{} sent {} frames; {arrived} arrived or were dropped", f.name, f.frames_sent));
        }
    }
    None
}

/// For each destination of a flow, the least time in which a frame reaches it, ps.
fn paths(network: &Network, fastest: &[u64], flow: usize) -> Vec<u128> {
    let mut list = Vec::new();
    for hop in network.route(FlowId(flow as u32)).filter(|hop| network.hops[hop.index()].children == 0) {
        let (mut time, mut at) = (0, Some(hop));
        while let Some(hop) = at {
            let hop = &network.hops[hop.index()];
            let port = &network.ports[hop.port.index()];
            // The last frame of a flow may be as short as an octet.
            let octets = u128::from(network.wire_overhead) + 1;
            time += u128::from(port.latency.0) + octets * 8_000_000_000_000 / u128::from(fastest[hop.port.index()]);
            at = hop.parent;
        }
        list.push(time);
    }
    list
}

/// Rows that go back in time or lie outside of the run, and numbers in them that cannot be.
fn tables(plan: &Plan, ports: &Ports, run: &Run) -> Option<String> {
    for table in run.tables() {
        let records = match run.table(table) {
            Ok(records) => records,
            Err(error) => return Some(format!("the table {}: {error}", table.name())),
        };
        let mut last = 0.0;
        for batch in &records.batches {
            if let Some(found) = rows(plan, ports, table, batch, &mut last) {
                return Some(found);
            }
        }
    }
    None
}

fn rows(plan: &Plan, ports: &Ports, table: Table, batch: &RecordBatch, last: &mut f64) -> Option<String> {
    let schema = batch.schema();
    let end = plan.duration.as_seconds();
    for (field, column) in schema.fields().iter().zip(batch.columns()) {
        let name = format!("{}.{}", table.name(), field.name());
        if let Some(floats) = column.as_primitive_opt::<Float64Type>() {
            for x in floats.iter().flatten() {
                if !x.is_finite() || x < 0.0 {
                    return Some(format!("{name} is {x}"));
                }
                if field.name() == "time_s" {
                    if x < *last || x > end * (1.0 + ROUNDING) {
                        return Some(format!("{name} is {x} after {last}, in a run of {end} s"));
                    }
                    *last = x;
                }
            }
        }
    }
    if table == Table::Queues {
        let octets = batch.column_by_name("queue_octets")?.as_primitive::<UInt64Type>().values();
        let priorities = batch.column_by_name("priority")?.as_primitive::<UInt8Type>().values();
        let queues = batch.column_by_name("queue")?.as_dictionary::<Int32Type>();
        let names = queues.values().as_string::<i32>();
        for ((&octets, &priority), &name) in octets.iter().zip(priorities).zip(queues.keys().values()) {
            let name = names.value(name as usize);
            let most = bound(&plan.network, ports.get(name).copied(), priority);
            if octets > most {
                return Some(format!("a sample of {name} has {octets} octets; {most} are the most"));
            }
        }
    }
    None
}

/// Measured time, s.
fn measured(plan: &Plan, summary: &Summary) -> f64 {
    let end = summary.end_s();
    (end - plan.warmup.as_seconds()).max(0.0)
}

/// Length of the longest frame, octets.
fn largest(network: &Network) -> u64 {
    network.largest_frame().map_or(0, u64::from)
}

/// The same with its overhead on the link.
fn longest(network: &Network) -> f64 {
    largest(network) as f64 + f64::from(network.wire_overhead)
}

/// The rates that a port has in the course of the run.
fn rates(network: &Network, port: usize) -> impl Iterator<Item = u64> + '_ {
    let changed = network.changes.iter().filter(move |change| change.port.index() == port);
    let later = changed.filter_map(|change| if let PortEvent::Rate(rate) = change.event { Some(rate.0) } else { None });
    std::iter::once(network.ports[port].rate.0).chain(later)
}

/// The highest rate that each port has in the course of the run.
fn fastest(network: &Network) -> Vec<u64> {
    (0..network.ports.len()).map(|port| rates(network, port).max().unwrap_or(1)).collect()
}
