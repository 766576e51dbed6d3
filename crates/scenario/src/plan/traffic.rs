//! Flows: from `[[flow]]` tables, each for one flow or many, to single flows with their routes.

mod dependencies;
mod kinds;
mod load_tables;

use std::collections::BTreeSet;

use penstock_schemes::{Duration, Instant, Octets};
use penstock_sim::network::{Excess, Traffic};

use super::flow_census::FlowCensus;
use super::flow_transport::{self, Carriage};
use super::groups::Groups;
use super::routing::{self, Branch, Distances, Growing, Wanted};
use super::source_table::SourceTable;
use crate::error::Fault;
use crate::hash::hash;
use crate::keys::fields::{Either, Names};
use crate::keys::read::Entry;
use crate::keys::sections::{self, AboveRate};
use crate::keys::sizes::Sizes;
use crate::keys::topology::Layout;
use crate::limits::{Bounds, DESTINATIONS, FLOWS};
use crate::names;
use crate::resolve::truncate;
use crate::resolve::{FlowTable, Resolved};

/// One flow with its route.
#[derive(Debug)]
pub(crate) struct FlowSpec {
    pub(crate) name: String,
    pub(crate) origin: SourceTable,
    pub(crate) source: usize,
    to: Destination,
    pub(crate) route: Vec<Branch>,
    pub(crate) traffic: Traffic,
    pub(crate) size: Option<Octets>,
    pub(crate) frame: u16,
    pub(crate) carriage: Option<Carriage>,
    /// When it begins; never for one that waits for others.
    pub(crate) start: Instant,
    pub(crate) wait: Option<Wait>,
    /// Whether it answers another flow.
    pub(crate) answers: bool,
    pub(crate) stop: Option<Instant>,
    pub(crate) excess: Excess,
    pub(crate) controlled: bool,
    pub(crate) priority: u8,
    pub(crate) weight: u16,
}

/// The flows, by number, that a flow waits for, and how much later it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wait {
    pub(crate) after: Vec<usize>,
    pub(crate) delay: Duration,
}

/// Where a flow leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Destination {
    Host(usize),
    /// Index of a group.
    Group(usize),
}

/// The end of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunEnd {
    pub(crate) at: Duration,
    /// Whether the run is cut short: flows that start later are left out, where else they are a mistake.
    pub(crate) cut_short: bool,
}

/// The traffic of a scenario.
pub(crate) struct Flows {
    /// The flows of `[[flow]]` tables.
    pub(crate) single: Vec<FlowSpec>,
    /// How many of these are left out because they start after the end of a run that is cut short.
    pub(crate) left_out: usize,
    /// The flows that loads and incasts make, and those of traces.
    pub(crate) census: FlowCensus,
    /// How many flows of each trace would start after the end of the run, with its name.
    pub(crate) too_late: Vec<(String, u64)>,
}

/// All flows of the scenario. Its tables of flows are then settled: each has a name, and one of which only some flows are left has become one
/// or several with these.
pub(crate) fn flows(
    resolved: &mut Resolved,
    layout: &Layout,
    groups: &Groups,
    end: RunEnd,
    bounds: &Bounds<'_>,
) -> Result<Flows, Fault> {
    let mut names = BTreeSet::new();
    let OfTables { mut flows, settled, left_out } = of_tables(resolved, &mut names, layout, groups, end, bounds)?;
    resolved.settle_flows(settled);
    dependencies::across(&resolved.flow, &mut flows, bounds)?;
    let (tables, too_late) = load_tables::tables(resolved, &mut names, layout, end, bounds)?;
    let census = FlowCensus::new(resolved, tables, layout, bounds)?;
    check_acks(resolved, &flows, &census)?;
    route(resolved, &mut flows, layout, groups, bounds)?;
    Ok(Flows { single: flows, left_out, census, too_late })
}

/// The flows of all `[[flow]]` tables, without their routes.
struct OfTables {
    flows: Vec<FlowSpec>,
    /// What becomes of each table.
    settled: Vec<FlowTable>,
    left_out: usize,
}

/// Draws them. Each flow has the number of its table among those that are settled.
fn of_tables(
    resolved: &Resolved,
    names: &mut BTreeSet<String>,
    layout: &Layout,
    groups: &Groups,
    end: RunEnd,
    bounds: &Bounds<'_>,
) -> Result<OfTables, Fault> {
    let seed = *resolved.seed;
    let mut flows: Vec<FlowSpec> = Vec::new();
    let mut settled = Vec::with_capacity(resolved.flow.len());
    // How many tables there are, of those that are settled.
    let mut tables = 0;
    let (mut destinations, mut left_out, mut first_number) = (0, 0, 0);
    for table in resolved.flow.iter() {
        let pairs = ends(table, layout, groups, bounds)?;
        let (rounds, every) = rounds(table)?;
        let several = pairs.len() * rounds;
        let before = flows.len() + left_out;
        let answered = 1 + usize::from(table.response.is_some());
        bounds
            .check(FLOWS, (before + several * answered) as u64, "fewer hosts or rounds")
            .map_err(|e| table.from.excess(e))?;
        destinations += pairs.iter().map(|(_, to)| to.hosts(groups).len()).sum::<usize>() * rounds * answered;
        bounds
            .check(DESTINATIONS, destinations as u64, "fewer flows to groups, or groups with fewer members")
            .map_err(|e| table.to.excess(e))?;
        bounds.go_on().map_err(|e| table.from.excess(e))?;
        let (own, named) = flow_names(table, several, first_number, bounds)?;
        first_number += several;
        check_path(table, several)?;
        dependencies::check(table, pairs.iter().any(|(_, to)| matches!(to, Destination::Group(_))))?;
        let model = model(table)?;
        let sizes = (*table.size).as_ref().map(Sizes::read).transpose()?;
        let starts = Starts::read(&table.start)?;
        let stagger = table.stagger.0;
        let later = |round: usize, pair: usize| {
            stagger.saturating_mul(pair as u64).saturating_add(every.saturating_mul(round as u64))
        };
        let last = starts.latest.saturating_add(later(rounds - 1, pairs.len() - 1));
        let chained = dependencies::chained(table);
        let is_cut = end.cut_short && last >= end.at.0 && !chained;
        let mut kept = Vec::new();
        let first = flows.len();
        for (i, name) in own.into_iter().enumerate() {
            if !names.insert(name.clone()) {
                let message = format!("the name \"{name}\" is used twice");
                return Err(named.fault(message).with_hint("give each flow a different name"));
            }
            let (round, pair) = (i / pairs.len(), i % pairs.len());
            let (source, to) = pairs[pair];
            let later = later(round, pair);
            let start = starts.of(seed, &name).saturating_add(later);
            if is_cut {
                if start >= end.at.0 {
                    left_out += 1;
                    continue;
                }
                check_stop(table, start, &model)?;
                kept.push(truncate::Kept { round, pair, start: Duration(start), name: name.clone() });
            } else if dependencies::has_start(table, round) {
                check_times(table, starts.latest.saturating_add(later), later > 0, &model, end.at)?;
            }
            let size = sizes.as_ref().map(|sizes| sizes.of(seed, &name));
            flows.push(FlowSpec {
                name,
                origin: SourceTable::Flow(tables),
                source,
                to,
                start: if dependencies::has_start(table, round) { Instant(start) } else { Instant::NEVER },
                size,
                ..model.one()
            });
        }
        let own = first..flows.len();
        dependencies::within(table, &mut flows, own.clone(), pairs.len(), seed, names)?;
        if is_cut {
            let mut own = flows[own].iter_mut();
            let ends: Vec<_> =
                pairs.iter().map(|(source, to)| (&*layout.nodes[*source].name, to.name(layout, groups))).collect();
            let mut pieces = Vec::new();
            for (piece, count) in truncate::pieces(table, &kept, &ends) {
                own.by_ref().take(count).for_each(|flow| flow.origin = SourceTable::Flow(tables + pieces.len()));
                pieces.push(piece);
            }
            tables += pieces.len();
            settled.push(FlowTable::Pieces(pieces));
            dependencies::answers_follow(&mut flows[first..], kept.len());
        } else {
            tables += 1;
            settled.push(FlowTable::Named(Option::clone(&named).unwrap_or_default()));
        }
    }
    Ok(OfTables { flows, settled, left_out })
}

/// When the first round of a table's flows begins.
#[derive(Debug, Clone, Copy)]
struct Starts {
    earliest: u64,
    latest: u64,
}

impl Starts {
    fn read(start: &Either<Duration, sections::Starts>) -> Result<Self, Fault> {
        let range = match start {
            Either::First(start) => return Ok(Self { earliest: start.0, latest: start.0 }),
            Either::Second(starts) => &starts.uniform,
        };
        if *range.minimum >= *range.maximum {
            let message = format!("not above the minimum of {}", *range.minimum);
            return Err(range.maximum.fault(message).with_hint("for a single time, write it alone"));
        }
        Ok(Self { earliest: range.minimum.0, latest: range.maximum.0 })
    }

    /// The start of the flow called `name`: it depends on the seed and the name alone.
    fn of(self, seed: u64, name: &str) -> u64 {
        let times = u128::from(self.latest - self.earliest) + 1;
        let word = hash(name.as_bytes(), &[&seed.to_le_bytes()[..], b"start"].concat());
        self.earliest + ((u128::from(word) * times) >> 64) as u64
    }
}

impl FlowSpec {
    /// Whether its route has several paths to its destination.
    pub(crate) fn is_spread(&self) -> bool {
        matches!(self.to, Destination::Host(_)) && !routing::is_chain(&self.route)
    }

    /// Another flow of the same table.
    fn one(&self) -> Self {
        Self { name: String::new(), route: Vec::new(), wait: None, carriage: self.carriage.clone(), ..*self }
    }

    /// The name of the table that it comes from. Answers have a different one.
    pub(crate) fn table(&self, resolved: &Resolved) -> String {
        let table = self.origin.name(resolved);
        if self.answers { dependencies::answer(&table) } else { table }
    }

    /// The host to which switches find its route; `None` for one to a group.
    pub(crate) fn host(&self) -> Option<usize> {
        let Destination::Host(host) = self.to else { return None };
        Some(host)
    }

    /// The hosts that it leads to.
    pub(crate) fn destinations<'a>(&'a self, groups: &'a Groups) -> &'a [usize] {
        self.to.hosts(groups)
    }
}

impl Destination {
    fn hosts<'a>(&'a self, groups: &'a Groups) -> &'a [usize] {
        match self {
            Self::Host(host) => std::slice::from_ref(host),
            Self::Group(group) => &groups.list[*group].members,
        }
    }

    fn name<'a>(self, layout: &'a Layout, groups: &'a Groups) -> &'a str {
        match self {
            Self::Host(host) => &layout.nodes[host].name,
            Self::Group(group) => &groups.list[group].name,
        }
    }
}

/// Source and destination of each flow of a table.
fn ends(
    table: &sections::Flow,
    layout: &Layout,
    groups: &Groups,
    bounds: &Bounds<'_>,
) -> Result<Vec<(usize, Destination)>, Fault> {
    let names = |key: &Entry<Names>| names::expand_all(key, bounds.most(FLOWS)).map_err(|e| key.excess(e));
    let host = |key: &Entry<Names>, name: &str| layout.host(name).map_err(|e| key.excess(e));
    let destination = |name: &String| match groups.find(name) {
        Some(group) => Ok(Destination::Group(group)),
        None => match (host(&table.to, name), groups.suggestion(name)) {
            (Ok(host), _) => Ok(Destination::Host(host)),
            (Err(_), Some(hint)) => {
                Err(table.to.fault(format!("there is no host or group \"{name}\"")).with_hint(hint))
            }
            (Err(error), None) => Err(error),
        },
    };
    let from = names(&table.from)?.iter().map(|name| host(&table.from, name)).collect::<Result<Vec<usize>, _>>()?;
    let to = names(&table.to)?.iter().map(destination).collect::<Result<Vec<Destination>, _>>()?;
    let is_group = |to: &Destination| matches!(to, Destination::Group(_));
    if to.iter().any(is_group) && !to.iter().all(is_group) {
        let hint = "write one [[flow]] to the group and one to the hosts";
        return Err(table.to.fault("groups and hosts are mixed").with_hint(hint));
    }
    let pairs: Vec<(usize, Destination)> = match (from.len(), to.len()) {
        (_, 1) => from.iter().map(|f| (*f, to[0])).collect(),
        (1, _) => to.iter().map(|t| (from[0], *t)).collect(),
        (m, n) if m == n => from.into_iter().zip(to).collect(),
        (m, n) => {
            let message = format!("{m} sources and {n} destinations: use equal numbers, or a single name on one side");
            return Err(table.to.fault(message).with_hint("write one [[flow]] for each destination"));
        }
    };
    let destinations: usize = pairs.iter().map(|(_, to)| to.hosts(groups).len()).sum();
    bounds
        .check(DESTINATIONS, destinations as u64, "fewer flows to groups, or groups with fewer members")
        .map_err(|e| table.to.excess(e))?;
    let Some((source, to)) = pairs.iter().find(|(source, to)| to.hosts(groups).contains(source)) else {
        return Ok(pairs);
    };
    let name = &layout.nodes[*source].name;
    match to {
        Destination::Host(_) => {
            let hint = format!("take \"{name}\" out of from, or send to another host");
            Err(table.to.fault(format!("\"{name}\" would send to itself")).with_hint(hint))
        }
        Destination::Group(group) => {
            let message = format!("the source \"{name}\" is a member of the group \"{}\"", groups.list[*group].name);
            Err(table.to.fault(message).with_hint(format!("take \"{name}\" out of from, or out of members")))
        }
    }
}

/// Names of the flows of a table, the first of which is number `first` in the file, and the name of the table.
fn flow_names(
    table: &sections::Flow,
    count: usize,
    first: usize,
    bounds: &Bounds<'_>,
) -> Result<(Vec<String>, Entry<Option<String>>), Fault> {
    let range = |prefix: &str, first: usize| match count {
        1 => format!("{prefix}{first}"),
        _ => format!("{prefix}{first}..{prefix}{}", first + count - 1),
    };
    let text = match &*table.name {
        None => range("f", first),
        Some(name) if count > 1 && !name.contains("..") => range(name, 0),
        Some(name) => name.clone(),
    };
    let names = names::expand(&text, bounds.most(FLOWS)).map_err(|e| table.name.excess(e))?;
    if names.len() != count {
        let message = format!("{} names for {count} flows", names.len());
        let hint = "as many names as flows, or a single name, which gets numbers";
        return Err(table.name.fault(message).with_hint(hint));
    }
    let mut named = table.name.clone();
    if named.as_ref() != Some(&text) {
        named.replace(Some(text));
    }
    Ok((names, named))
}

/// How many rounds of its flows a table stands for, and how much later each begins than the one before, ps.
fn rounds(table: &sections::Flow) -> Result<(usize, u64), Fault> {
    match (*table.repeat, *table.every) {
        (rounds, None) if table.think.is_some() => Ok((rounds as usize, 0)),
        (1, None) => Ok((1, 0)),
        (1, Some(_)) => {
            let error = table.every.fault("a table without repeat has a single round");
            Err(error.with_hint("for instance repeat = 10"))
        }
        (_, None) => {
            let error = table.every.fault("missing; repeat needs it");
            Err(error.with_hint("the time between the rounds, for instance every = \"10 ms\"; or think = \"10 us\""))
        }
        (rounds, Some(every)) => Ok((rounds as usize, every.0)),
    }
}

/// A flow with the properties that all flows of a table have in common.
fn model(table: &sections::Flow) -> Result<FlowSpec, Fault> {
    let traffic = kinds::traffic(table)?;
    let carriage = flow_transport::carriage(&table.transport, &table.acks)?;
    let frame = flow_transport::frame(&table.frame, &table.transport, carriage.as_ref())?;
    if let Some(Carriage { transport, .. }) = &carriage
        && !matches!(*table.excess, Either::First(AboveRate::Wait))
    {
        let message = format!("{} keeps data that it cannot send, so excess has no effect", transport.info().name);
        return Err(table.excess.fault(message).with_hint("leave excess out, or the transport"));
    }
    let excess = match &*table.excess {
        Either::First(AboveRate::Wait) => Excess::Wait,
        Either::First(AboveRate::Discard) => Excess::Discard,
        Either::First(AboveRate::Stall) => Excess::Stall,
        Either::Second(source) => Excess::Queue(*source.queue),
    };
    if let Excess::Queue(octets) = excess
        && octets < frame
    {
        let message = format!("the source queue of {octets} is smaller than a frame of {frame}");
        return Err(table.excess.fault(message).with_hint(format!("at least {frame}")));
    }
    Ok(FlowSpec {
        name: String::new(),
        origin: SourceTable::Flow(0),
        source: 0,
        to: Destination::Host(0),
        route: Vec::new(),
        traffic,
        size: None,
        frame: frame.0 as u16,
        carriage,
        start: Instant::ZERO,
        wait: None,
        answers: false,
        stop: table.stop.map(|stop| Instant(stop.0)),
        excess,
        controlled: *table.controlled,
        priority: *table.priority,
        weight: *table.weight,
    })
}

/// Checks that a flow that begins at `start` at the latest (`later` than the first of its table) lies in the run.
fn check_times(
    table: &sections::Flow,
    start: u64,
    later: bool,
    model: &FlowSpec,
    duration: Duration,
) -> Result<(), Fault> {
    if start >= duration.0 {
        let message = "a flow would start at or after the end of the run";
        let ends = format!("the run ends at {}", duration);
        let last = format!("{ends}, the last flow would start at {}", Duration(start));
        return Err(match *table.every {
            _ if !later => table.start.fault(message).with_hint(ends),
            Some(_) => table.every.fault(message).with_hint(last),
            None => table.stagger.fault(message).with_hint(last),
        });
    }
    check_stop(table, start, model)
}

/// Checks that a flow that begins at `start` at the latest stops later.
fn check_stop(table: &sections::Flow, start: u64, model: &FlowSpec) -> Result<(), Fault> {
    if model.stop.is_some_and(|stop| stop.0 <= start) {
        let hint = format!("it starts at {}; stop must be later", Duration(start));
        return Err(table.stop.fault("a flow would stop before it starts").with_hint(hint));
    }
    Ok(())
}

/// Refuses a path for several flows.
fn check_path(table: &sections::Flow, count: usize) -> Result<(), Fault> {
    match &*table.path {
        Some(path) if count > 1 => {
            let message = format!("a path of {} nodes for {count} flows; it belongs to a single flow", path.len());
            Err(table.path.fault(message).with_hint("write a [[flow]] for each path"))
        }
        _ => Ok(()),
    }
}

/// Refuses transports to groups, and acknowledgements in a priority that no flow has.
fn check_acks(resolved: &Resolved, flows: &[FlowSpec], census: &FlowCensus) -> Result<(), Fault> {
    let mut priorities: BTreeSet<u8> = flows.iter().map(|flow| flow.priority).collect();
    priorities.extend(census.tables.iter().map(|table| table.model.priority));
    let generated = census.tables.iter().map(|table| (table.model.origin, &table.model.carriage, false));
    let to_group = |flow: &FlowSpec| matches!(flow.to, Destination::Group(_));
    for (origin, carriage, to_group) in flows.iter().map(|f| (f.origin, &f.carriage, to_group(f))).chain(generated) {
        let Some(Carriage { transport, acks }) = carriage else { continue };
        if to_group {
            let message = format!("{} carries a flow to one host, not to a group", transport.info().name);
            let fault = origin.transport_fault(resolved, message);
            return Err(fault.with_hint("leave the transport out, or send to hosts"));
        }
        if let Some(priority) = acks.filter(|priority| !priorities.contains(priority)) {
            let used: Vec<String> = priorities.iter().map(u8::to_string).collect();
            let hint = format!("flows have {}; or \"control\"", used.join(", "));
            let fault = origin.acks_fault(resolved, format!("no flow has priority {priority}"));
            return Err(fault.with_hint(hint));
        }
    }
    Ok(())
}

/// Finds the routes of all flows, or takes those listed.
fn route(
    resolved: &Resolved,
    flows: &mut [FlowSpec],
    layout: &Layout,
    groups: &Groups,
    bounds: &Bounds<'_>,
) -> Result<(), Fault> {
    let table = |flow: &FlowSpec| match flow.origin {
        SourceTable::Flow(i) => Some(&resolved.flow[i]),
        _ => None,
    };
    let unreachable = |flow: &FlowSpec, host: usize| {
        let (from, to) = (&layout.nodes[flow.source].name, &layout.nodes[host].name);
        let error = flow.origin.fault(resolved, format!("\"{to}\" cannot be reached from \"{from}\""));
        error.with_hint(routing::within_reach(layout, flow.source))
    };
    let mut routes: Vec<Vec<Branch>> = vec![Vec::new(); flows.len()];

    let (mut wanted, mut unicast) = (Vec::new(), Vec::new());
    let mut multicast: Vec<Vec<usize>> = vec![Vec::new(); groups.list.len()];
    for (i, flow) in flows.iter().enumerate() {
        let listing = table(flow).and_then(|table| Some((table, table.path.as_ref()?)));
        match (listing, flow.to) {
            (Some((table, path)), _) => {
                routes[i] = routing::chain(listed(table, path, flow, layout)?);
            }
            (None, Destination::Group(group)) => multicast[group].push(i),
            (None, Destination::Host(destination)) => {
                wanted.push(Wanted { flow: &flow.name, source: flow.source, destination, first: None });
                unicast.push((i, destination));
            }
        }
    }
    let found = routing::routes(layout, &wanted, bounds)
        .map_err(|(message, hint)| flows[0].origin.fault(resolved, message).with_hint(hint))?;
    for ((i, destination), ports) in unicast.into_iter().zip(found) {
        routes[i] = ports.ok_or_else(|| unreachable(&flows[i], destination))?;
    }

    for (group, own) in groups.list.iter().zip(multicast) {
        if group.has_tree() {
            for &i in &own {
                let flow = &flows[i];
                let route = group.listed(layout, &flow.name, flow.source, bounds);
                routes[i] = route.map_err(|(message, hint)| flow.origin.fault(resolved, message).with_hint(hint))?;
            }
            continue;
        }
        let mut trees: Vec<_> = own.iter().map(|i| Growing::new(&flows[*i].name, flows[*i].source)).collect();
        for &member in if own.is_empty() { &[] } else { &group.members[..] } {
            let at_first = |(message, hint)| flows[own[0]].origin.fault(resolved, message).with_hint(hint);
            let distance = Distances::to(layout, member, bounds).map_err(at_first)?;
            for (i, tree) in own.iter().zip(&mut trees) {
                if !tree.reach(layout, member, &distance, bounds).map_err(at_first)? {
                    return Err(unreachable(&flows[*i], member));
                }
            }
        }
        for (i, tree) in own.iter().zip(&trees) {
            routes[*i] = tree.route(layout);
        }
    }
    for (flow, route) in flows.iter_mut().zip(routes) {
        flow.route = route;
    }
    Ok(())
}

/// The ports along the path that a table lists for its one flow.
fn listed(table: &sections::Flow, path: &[String], flow: &FlowSpec, layout: &Layout) -> Result<Vec<usize>, Fault> {
    let Destination::Host(destination) = flow.to else {
        let hint = "the path to a group is a tree: list its links in [[group]]";
        return Err(table.path.fault("a path leads to a single host").with_hint(hint));
    };
    let (from, to) = (&layout.nodes[flow.source].name, &layout.nodes[destination].name);
    if path.first() != Some(from) || path.last() != Some(to) {
        let hint = format!("for instance path = [\"{from}\", …, \"{to}\"]");
        return Err(table.path.fault(format!("the path must lead from \"{from}\" to \"{to}\"")).with_hint(hint));
    }
    routing::listed(layout, path).map_err(|e| table.path.excess(e))
}
