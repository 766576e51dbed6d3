//! Flows: from `[[flow]]` tables, each for one flow or many, to single flows with their routes.

mod carriage;
mod cut;
pub(crate) mod kinds;
mod processes;
mod sequels;

use std::collections::BTreeSet;

use penstock_endpoint::transport::Transport;
use penstock_schemes::{Duration, Instant, Octets};
use penstock_sim::network::{Excess, Traffic};

use crate::error::Fault;
use crate::fields::{Either, Names};
use crate::groups::Groups;
use crate::limits::{self, Bounds, DESTINATIONS, FLOWS};
use crate::made::Counted;
use crate::names;
use crate::read::Entry;
use crate::routing::{self, Branch, Distances, Growing, Wanted};
use crate::sections::{self, AboveRate, Experiment};
use crate::sizes::Sizes;
use crate::topology::Layout;

/// One flow with its route.
#[derive(Debug)]
pub(crate) struct FlowSpec {
    pub(crate) name: String,
    pub(crate) origin: Origin,
    pub(crate) source: usize,
    to: Destination,
    pub(crate) route: Vec<Branch>,
    pub(crate) traffic: Traffic,
    pub(crate) size: Option<Octets>,
    pub(crate) frame: u16,
    /// Its transport, and the priority of acknowledgements (`None`: control frames).
    pub(crate) transport: Option<(Transport, Option<u8>)>,
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

/// The table of the file that a flow comes from: its number among those of its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    Flow(usize),
    Load(usize),
    Incast(usize),
    Trace(usize),
}

impl Origin {
    /// Its name.
    pub(crate) fn name(self, experiment: &Experiment) -> String {
        let name = match self {
            Self::Flow(i) => &experiment.flow[i].name,
            Self::Load(i) => &experiment.load[i].name,
            Self::Incast(i) => &experiment.incast[i].name,
            Self::Trace(i) => &experiment.trace[i].name,
        };
        // `flows` has given a name to tables without one.
        Option::clone(name).unwrap_or_default()
    }

    /// An error about its destinations.
    pub(crate) fn fault(self, experiment: &Experiment, message: String) -> Fault {
        match self {
            Self::Flow(i) => experiment.flow[i].to.fault(message),
            Self::Load(i) => experiment.load[i].hosts.fault(message),
            Self::Incast(i) => experiment.incast[i].hosts.fault(message),
            Self::Trace(i) => experiment.trace[i].flows.fault(message),
        }
    }

    /// Too many of its flows.
    pub(crate) fn excess(self, experiment: &Experiment, excess: limits::Excess) -> Fault {
        match self {
            Self::Flow(i) => experiment.flow[i].from.excess(excess),
            Self::Load(i) => experiment.load[i].load.excess(excess),
            Self::Incast(i) => experiment.incast[i].every.excess(excess),
            Self::Trace(i) => experiment.trace[i].flows.excess(excess),
        }
    }

    /// An error about its transport, and about its acknowledgements.
    fn transport_fault(self, experiment: &Experiment, message: String) -> Fault {
        match self {
            Self::Flow(i) => experiment.flow[i].transport.fault(message),
            Self::Load(i) => experiment.load[i].transport.fault(message),
            Self::Incast(i) => experiment.incast[i].transport.fault(message),
            Self::Trace(i) => experiment.trace[i].transport.fault(message),
        }
    }

    fn acks_fault(self, experiment: &Experiment, message: String) -> Fault {
        match self {
            Self::Flow(i) => experiment.flow[i].acks.fault(message),
            Self::Load(i) => experiment.load[i].acks.fault(message),
            Self::Incast(i) => experiment.incast[i].acks.fault(message),
            Self::Trace(i) => experiment.trace[i].acks.fault(message),
        }
    }
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
pub(crate) struct End {
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
    pub(crate) counted: Counted,
    /// How many flows of each trace would start after the end of the run, with its name.
    pub(crate) too_late: Vec<(String, u64)>,
}

/// All flows of the scenario. Tables without a name get one; a table of which only some flows are left becomes one or several with
/// these.
pub(crate) fn flows(
    experiment: &mut Experiment,
    layout: &Layout,
    groups: &Groups,
    end: End,
    bounds: &Bounds<'_>,
) -> Result<Flows, Fault> {
    let seed = *experiment.seed;
    let mut names = BTreeSet::new();
    let (mut flows, left_out) = of_tables(experiment.flow.inner(), &mut names, layout, groups, seed, end, bounds)?;
    sequels::across(experiment.flow.inner(), &mut flows, bounds)?;
    let (tables, too_late) = processes::tables(experiment, &mut names, layout, end, bounds)?;
    let counted = Counted::new(experiment, tables, layout, bounds)?;
    carriage::check_acks(experiment, &flows, &counted)?;
    route(experiment, &mut flows, layout, groups, bounds)?;
    Ok(Flows { single: flows, left_out, counted, too_late })
}

/// The flows of all `[[flow]]` tables, without their routes.
fn of_tables(
    tables: &mut Vec<sections::Flow>,
    names: &mut BTreeSet<String>,
    layout: &Layout,
    groups: &Groups,
    seed: u64,
    end: End,
    bounds: &Bounds<'_>,
) -> Result<(Vec<FlowSpec>, usize), Fault> {
    let mut flows: Vec<FlowSpec> = Vec::new();
    let (mut destinations, mut left_out, mut first_number) = (0, 0, 0);
    for mut table in std::mem::take(tables) {
        let pairs = ends(&table, layout, groups, bounds)?;
        let (rounds, every) = rounds(&table)?;
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
        let own = flow_names(&mut table, several, first_number, bounds)?;
        first_number += several;
        check_path(&table, several)?;
        sequels::check(&table, pairs.iter().any(|(_, to)| matches!(to, Destination::Group(_))))?;
        let model = model(&mut table)?;
        let sizes = (*table.size).as_ref().map(Sizes::read).transpose()?;
        let starts = Starts::read(&table.start)?;
        let stagger = table.stagger.0;
        let later = |round: usize, place: usize| {
            stagger.saturating_mul(place as u64).saturating_add(every.saturating_mul(round as u64))
        };
        let last = starts.latest.saturating_add(later(rounds - 1, pairs.len() - 1));
        let chained = sequels::chained(&table);
        let is_cut = end.cut_short && last >= end.at.0 && !chained;
        let mut kept = Vec::new();
        let first = flows.len();
        for (i, name) in own.into_iter().enumerate() {
            if !names.insert(name.clone()) {
                let message = format!("the name \"{name}\" is used twice");
                return Err(table.name.fault(message).with_hint("give each flow a different name"));
            }
            let (round, place) = (i / pairs.len(), i % pairs.len());
            let (source, to) = pairs[place];
            let later = later(round, place);
            let start = starts.of(seed, &name).saturating_add(later);
            if is_cut {
                if start >= end.at.0 {
                    left_out += 1;
                    continue;
                }
                check_stop(&table, start, &model)?;
                kept.push(cut::Kept { round, place, start: Duration(start), name: name.clone() });
            } else if sequels::has_start(&table, round) {
                check_times(&table, starts.latest.saturating_add(later), later > 0, &model, end.at)?;
            }
            let size = sizes.as_ref().map(|sizes| sizes.of(seed, &name));
            flows.push(FlowSpec {
                name,
                origin: Origin::Flow(tables.len()),
                source,
                to,
                start: if sequels::has_start(&table, round) { Instant(start) } else { Instant::NEVER },
                size,
                ..model.one()
            });
        }
        let own = first..flows.len();
        sequels::within(&table, &mut flows, own.clone(), pairs.len(), seed, names)?;
        if is_cut {
            let mut own = flows[own].iter_mut();
            let named: Vec<_> =
                pairs.iter().map(|(source, to)| (&*layout.nodes[*source].name, to.name(layout, groups))).collect();
            for (piece, count) in cut::pieces(&table, &kept, &named) {
                own.by_ref().take(count).for_each(|flow| flow.origin = Origin::Flow(tables.len()));
                tables.push(piece);
            }
            sequels::answers_follow(&mut flows[first..], kept.len());
        } else {
            tables.push(table);
        }
    }
    Ok((flows, left_out))
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
        let word = routing::hash(name.as_bytes(), &[&seed.to_le_bytes()[..], b"start"].concat());
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
        Self { name: String::new(), route: Vec::new(), wait: None, transport: self.transport.clone(), ..*self }
    }

    /// The name of the table that it comes from. Answers have a different one.
    pub(crate) fn table(&self, experiment: &Experiment) -> String {
        let table = self.origin.name(experiment);
        if self.answers { sequels::answer(&table) } else { table }
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

/// Names of the flows of a table, the first of which is number `first` in the file.
fn flow_names(
    table: &mut sections::Flow,
    count: usize,
    first: usize,
    bounds: &Bounds<'_>,
) -> Result<Vec<String>, Fault> {
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
    if table.name.as_ref() != Some(&text) {
        // Written out in the resolved scenario; where the key was written matters no more.
        table.name.replace(Some(text));
    }
    Ok(names)
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
fn model(table: &mut sections::Flow) -> Result<FlowSpec, Fault> {
    let traffic = kinds::traffic(table)?;
    let transport = carriage::transport(&mut table.transport, &mut table.acks, *table.priority)?;
    let frame =
        carriage::frame(&mut table.frame, &table.transport, transport.as_ref().map(|(transport, _)| transport))?;
    if let Some((transport, _)) = &transport
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
        origin: Origin::Flow(0),
        source: 0,
        to: Destination::Host(0),
        route: Vec::new(),
        traffic,
        size: None,
        frame: frame.0 as u16,
        transport,
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

/// Finds the routes of all flows, or takes those listed.
fn route(
    experiment: &Experiment,
    flows: &mut [FlowSpec],
    layout: &Layout,
    groups: &Groups,
    bounds: &Bounds<'_>,
) -> Result<(), Fault> {
    let table = |flow: &FlowSpec| match flow.origin {
        Origin::Flow(i) => Some(&experiment.flow[i]),
        Origin::Load(_) | Origin::Incast(_) | Origin::Trace(_) => None,
    };
    let unreachable = |flow: &FlowSpec, host: usize| {
        let (from, to) = (&layout.nodes[flow.source].name, &layout.nodes[host].name);
        let error = flow.origin.fault(experiment, format!("\"{to}\" cannot be reached from \"{from}\""));
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
        .map_err(|(message, hint)| flows[0].origin.fault(experiment, message).with_hint(hint))?;
    for ((i, destination), ports) in unicast.into_iter().zip(found) {
        routes[i] = ports.ok_or_else(|| unreachable(&flows[i], destination))?;
    }

    for (group, own) in groups.list.iter().zip(multicast) {
        if group.has_tree() {
            for &i in &own {
                let flow = &flows[i];
                let route = group.listed(layout, &flow.name, flow.source, bounds);
                routes[i] = route.map_err(|(message, hint)| flow.origin.fault(experiment, message).with_hint(hint))?;
            }
            continue;
        }
        let mut trees: Vec<_> = own.iter().map(|i| Growing::new(&flows[*i].name, flows[*i].source)).collect();
        for &member in if own.is_empty() { &[] } else { &group.members[..] } {
            let at_first = |(message, hint)| flows[own[0]].origin.fault(experiment, message).with_hint(hint);
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
