//! The flows that loads and incasts generate, and those of traces. They are drawn once to be counted, while the scenario is planned, and again
//! whenever they are needed: none of them is stored.

use std::collections::BTreeMap;
use std::sync::Arc;

use penstock_endpoint::transport::Transport;
use penstock_schemes::{Duration, Instant, Octets};
use penstock_sim::network::{self, CrossedLink, Limiting, Pacer, PortId, Process, RpId};

use crate::error::Fault;
use crate::limits::{ARRIVALS, Bounds, Excess, HOPS};
use crate::loads::{self, Arrival, Arrivals};
use crate::routing::{self, Branch, Distances, Wanted};
use crate::sections::Experiment;
use crate::topology::Layout;
use crate::trace;
use crate::traffic::Origin;

/// The properties that the flows of a table have in common.
#[derive(Debug, Clone)]
pub(crate) struct Model {
    pub(crate) origin: Origin,
    pub(crate) name: String,
    /// The transport, and the priority of acknowledgements (`None`: control frames).
    pub(crate) transport: Option<(Transport, Option<u8>)>,
    pub(crate) frame: u16,
    pub(crate) controlled: bool,
    pub(crate) priority: u8,
    pub(crate) weight: u16,
}

/// A load, a table of incasts, or a trace.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    pub(crate) model: Model,
    /// Its flows, from the first on.
    pub(crate) arrivals: Arrivals,
    /// How many there are.
    pub(crate) flows: u32,
}

impl Table {
    fn name_of(&self, number: u32) -> String {
        if let Arrivals::Trace(trace) = &self.arrivals
            && let Some(name) = trace.name(number as usize)
        {
            return name.to_owned();
        }
        format!("{}.{number}", self.model.name)
    }

    /// The table for the engine. `limiting` is that of controlled flows.
    fn process(&self, limiting: Limiting, course: &Course) -> Process {
        let Model { transport, frame, controlled, priority, weight, .. } = &self.model;
        Process {
            flows: self.flows,
            priority: *priority,
            frame: *frame,
            weight: *weight,
            transport: transport.clone(),
            limiting: if *controlled { limiting } else { Limiting::Uncontrolled },
            links: course.links(),
            span: course.span,
        }
    }
}

/// The shortest paths to the receiving hosts.
#[derive(Debug)]
struct Ways {
    /// By the gate of destinations; none where nothing leads.
    distances: Vec<Option<Distances>>,
}

/// A path, and all of those among which switches choose; none if they have no choice.
type Route = (Vec<usize>, Vec<Branch>);

impl Ways {
    fn new(layout: &Layout) -> Self {
        Self { distances: layout.nodes.iter().map(|_| None).collect() }
    }

    /// Computes the paths to the destination of a flow, unless they are known.
    fn look(&mut self, layout: &Layout, arrival: &Arrival, bounds: &Bounds<'_>) -> Result<(), Excess> {
        let distances = &mut self.distances[routing::gate(layout, arrival.destination)];
        if distances.is_none() {
            *distances = Some(Distances::to(layout, arrival.destination, bounds)?);
        }
        Ok(())
    }

    /// The ports from the source of a flow to its destination; one that has begun keeps its `first` link.
    fn find(&self, layout: &Layout, flow: &str, arrival: &Arrival, first: Option<usize>) -> Option<Vec<usize>> {
        let wanted = Wanted { flow, source: arrival.source, destination: arrival.destination, first };
        routing::walk(layout, &wanted, self.distances[routing::gate(layout, arrival.destination)].as_ref()?, &[])
    }

    /// All of its paths, if switches choose among several; else none.
    fn tree(
        &self,
        layout: &Layout,
        flow: &str,
        arrival: &Arrival,
        first: Option<usize>,
        grow: impl Fn(usize) -> Result<(), Excess>,
    ) -> Result<Vec<Branch>, Excess> {
        let distances = self.distances[routing::gate(layout, arrival.destination)].as_ref().filter(|_| layout.spreads);
        let Some(distances) = distances else { return Ok(Vec::new()) };
        let wanted = Wanted { flow, source: arrival.source, destination: arrival.destination, first };
        let tree = routing::ways(layout, &wanted, distances, grow)?.unwrap_or_default();
        Ok(if routing::is_chain(&tree) { Vec::new() } else { tree })
    }
}

/// The first route of a flow, and those that it has later.
type Routes = (Route, Vec<(Duration, Route)>);

/// The paths as switches know them at the start, and later.
#[derive(Debug)]
struct Known(Vec<Ways>);

impl Known {
    fn new(layout: &Layout) -> Self {
        Self(std::iter::once(layout).chain(layout.later.iter().map(|epoch| &epoch.layout)).map(Ways::new).collect())
    }

    /// The state of the network number `epoch`, with its paths.
    fn at<'a>(&'a self, layout: &'a Layout, epoch: usize) -> (&'a Layout, &'a Ways) {
        (epoch.checked_sub(1).map_or(layout, |later| &layout.later[later].layout), &self.0[epoch])
    }

    /// The path of a flow at its start; if none is intact then, the one that it has without failures.
    fn first(&self, layout: &Layout, flow: &str, arrival: &Arrival) -> Option<(usize, Vec<usize>)> {
        let epoch = layout.later.partition_point(|epoch| epoch.at <= arrival.start);
        [epoch, 0].into_iter().find_map(|epoch| {
            let (layout, ways) = self.at(layout, epoch);
            Some((epoch, ways.find(layout, flow, arrival, None)?))
        })
    }

    /// The routes of a flow: the first one, and those that it has later, where they differ from the one before.
    fn routes(
        &self,
        layout: &Layout,
        flow: &str,
        arrival: &Arrival,
        grow: impl Fn(usize) -> Result<(), Excess>,
    ) -> Result<Option<Routes>, Excess> {
        let Some((epoch, way)) = self.first(layout, flow, arrival) else { return Ok(None) };
        let (known, ways) = self.at(layout, epoch);
        let tree = ways.tree(known, flow, arrival, None, &grow)?;
        let port = Some(way[0]);
        let mut later: Vec<(Duration, Route)> = Vec::new();
        let first = (way, tree);
        for (number, epoch) in (1..).zip(&layout.later).filter(|(_, epoch)| epoch.at > arrival.start) {
            let (known, ways) = self.at(layout, number);
            let Some(way) = ways.find(known, flow, arrival, port) else { continue };
            let route = (way, ways.tree(known, flow, arrival, port, &grow)?);
            if later.last().map_or(&first, |(_, last)| last) != &route {
                later.push((epoch.at, route));
            }
        }
        Ok(Some((first, later)))
    }
}

/// The reaction points that flows share, by port and priority.
pub(crate) type Points = BTreeMap<(usize, u8), RpId>;

/// The flows of all loads and incasts, counted.
#[derive(Debug)]
pub(crate) struct Counted {
    /// The tables that make flows.
    pub(crate) tables: Vec<Table>,
    ways: Known,
    /// When switches know of changes.
    converged: Vec<Instant>,
    /// The most links of a path.
    pub(crate) longest: usize,
    /// The most links of all paths of a flow together.
    most_hops: usize,
    /// For each table whether a flow of it has several paths.
    pub(crate) spreads: Vec<bool>,
    /// For each table the ports at which flows begin, in the order of the first one each, and how many begin there.
    pub(crate) begins: Vec<Vec<(usize, u32)>>,
    /// For each table the course of its flows.
    pub(crate) courses: Vec<Course>,
}

/// Where and when the flows of a table come.
#[derive(Debug)]
pub(crate) struct Course {
    /// For each port its octets, if each flow takes the first of its paths; none for a port without flows.
    octets: Vec<Option<u64>>,
    /// From the first start to the last.
    span: Duration,
}

impl Course {
    /// Whether a flow crosses a port.
    pub(crate) fn crosses(&self, port: usize) -> bool {
        self.octets[port].is_some()
    }

    /// The links that flows cross.
    fn links(&self) -> Vec<CrossedLink> {
        let ports = (0..).map(PortId).zip(&self.octets);
        ports.filter_map(|(port, octets)| Some(CrossedLink { link: link(port), octets: (*octets)? })).collect()
    }
}

impl Counted {
    pub(crate) fn new(
        experiment: &Experiment,
        tables: Vec<Table>,
        layout: &Layout,
        bounds: &Bounds<'_>,
    ) -> Result<Self, Fault> {
        let mut counted = Self {
            tables: Vec::new(),
            ways: Known::new(layout),
            converged: layout.later.iter().map(|epoch| Instant(epoch.at.0)).collect(),
            longest: 0,
            most_hops: 0,
            spreads: Vec::new(),
            begins: Vec::new(),
            courses: Vec::new(),
        };
        let mut all = 0;
        for table in tables {
            counted.count(experiment, table, &mut all, layout, bounds)?;
        }
        Ok(counted)
    }

    /// Adds a table. `all` counts the flows.
    fn count(
        &mut self,
        experiment: &Experiment,
        mut table: Table,
        all: &mut u64,
        layout: &Layout,
        bounds: &Bounds<'_>,
    ) -> Result<(), Fault> {
        let origin = table.model.origin;
        let excess = |excess| origin.excess(experiment, excess);
        let less = match origin {
            Origin::Incast(_) => loads::LESS_INCASTS,
            Origin::Trace(_) => trace::LESS,
            Origin::Flow(_) | Origin::Load(_) => loads::LESS_LOAD,
        };
        let mut course = Course { octets: vec![None; layout.ports.len()], span: Duration::ZERO };
        let mut first_start = None;
        let mut place: Vec<Option<usize>> = vec![None; layout.ports.len()];
        let mut begins: Vec<(usize, u32)> = Vec::new();
        let mut spreads = false;
        for arrival in table.arrivals.clone() {
            *all += 1;
            bounds.check(ARRIVALS, *all, less).map_err(excess)?;
            bounds.go_on().map_err(excess)?;
            let gate = routing::gate(layout, arrival.destination);
            for (epoch, ways) in self.ways.0.iter_mut().enumerate() {
                let known = epoch.checked_sub(1).map_or(layout, |later| &layout.later[later].layout);
                ways.look(known, &arrival, bounds).map_err(excess)?;
            }
            let name = table.name_of(table.flows);
            let grow = |hops| bounds.search(1).and_then(|()| bounds.check(HOPS, hops as u64, "fewer paths"));
            let routes = self.ways.routes(layout, &name, &arrival, grow).map_err(excess)?;
            let Some(((way, tree), later)) = routes else {
                let (from, to) = (&layout.nodes[arrival.source].name, &layout.nodes[arrival.destination].name);
                let error = origin.fault(experiment, format!("\"{to}\" cannot be reached from \"{from}\""));
                return Err(error.with_hint(routing::within_reach(layout, arrival.source)));
            };
            bounds.search(routing::effort(layout, gate, &way)).map_err(excess)?;
            for &port in &way {
                let octets = course.octets[port].get_or_insert(0);
                *octets = octets.saturating_add(arrival.size.0);
            }
            for (_, (way, tree)) in &later {
                bounds.search(routing::effort(layout, gate, way)).map_err(excess)?;
                for &port in way.iter().chain(tree.iter().map(|branch| &branch.port)) {
                    course.octets[port].get_or_insert(0);
                }
                self.longest = self.longest.max(way.len());
                self.most_hops = self.most_hops.max(tree.len()).max(way.len());
                spreads |= !tree.is_empty();
            }
            let begun: Duration = *first_start.get_or_insert(arrival.start);
            course.span = arrival.start - begun;
            self.longest = self.longest.max(way.len());
            for branch in &tree {
                course.octets[branch.port].get_or_insert(0);
            }
            self.most_hops = self.most_hops.max(tree.len()).max(way.len());
            spreads |= !tree.is_empty();
            let first = *place[way[0]].get_or_insert_with(|| {
                begins.push((way[0], 0));
                begins.len() - 1
            });
            begins[first].1 += 1;
            table.flows += 1;
        }
        if table.flows > 0 {
            self.tables.push(table);
            self.begins.push(begins);
            self.spreads.push(spreads);
            self.courses.push(course);
        }
        Ok(())
    }

    /// For each controlled flow of a priority the links of its path at its start, with the opposite direction of each.
    pub(crate) fn ways_of(&self, layout: &Layout, priority: u8) -> impl Iterator<Item = Vec<(PortId, PortId)>> {
        let tables = self.tables.iter().filter(move |table| table.model.controlled && table.model.priority == priority);
        let way = |table: &Table, (number, arrival): (u32, Arrival)| {
            let (_, way) = self.ways.first(layout, &table.name_of(number), &arrival)?;
            Some(way.into_iter().map(|port| link(PortId(port as u32))).collect())
        };
        tables.flat_map(move |table| {
            (0..).zip(table.arrivals.clone()).filter_map(move |flow| way(table, flow)).collect::<Vec<_>>()
        })
    }

    /// The facts of the flows that the engine needs before they come. Reaction points are added to those of the flows that are there,
    /// where flows share them: `points` has them by port and priority.
    pub(crate) fn processes(
        &self,
        network: &mut network::Network,
        points: &mut Points,
        shared: bool,
        pacer: Pacer,
    ) -> network::Processes {
        let limiting = if shared { Limiting::Shared } else { Limiting::Own(pacer) };
        let mut limiters = vec![0; network.ports.len()];
        let mut sharing = BTreeMap::new();
        for (table, begins) in self.tables.iter().zip(&self.begins) {
            let priority = table.model.priority;
            for &(port, flows) in begins {
                if !(shared && table.model.controlled) {
                    limiters[port] += flows;
                    continue;
                }
                let next = RpId(network.reaction_points.len() as u32);
                let point = *points.entry((port, priority)).or_insert(next);
                if point == next {
                    let port = PortId(port as u32);
                    network.reaction_points.push(network::ReactionPointSpec { port, pacer });
                }
                let of = sharing.entry(point.0).or_insert(network::Sharing { flows: 0, priority });
                of.flows += flows;
            }
        }
        let points = 0..network.reaction_points.len() as u32;
        network::Processes {
            list: self
                .tables
                .iter()
                .zip(&self.courses)
                .map(|(table, course)| table.process(limiting, course))
                .collect(),
            longest_path: self.longest,
            most_hops: self.most_hops,
            converged: self.converged.clone(),
            sources: self.begins.iter().flatten().map(|&(port, _)| PortId(port as u32)).collect(),
            limiters,
            sharing: points.map(|point| sharing.get(&point).copied().unwrap_or_default()).collect(),
        }
    }
}

/// The flows that loads and incasts generate. Results aggregate them, and no list stores them: each is drawn again whenever it
/// is needed.
#[derive(Debug, Clone)]
pub struct Made(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    layout: Layout,
    ways: Known,
    tables: Vec<Table>,
    points: Points,
}

/// A flow that a load or an incast makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MadeFlow {
    /// Its table, an index into [`network::Processes::list`].
    pub table: usize,
    /// Its number among the flows of the table.
    pub number: u32,
    /// Its source, a node's index.
    pub source: usize,
    /// Its destination, a node's index.
    pub destination: usize,
    /// When it begins.
    pub start: Instant,
    /// Octets to send.
    pub size: Octets,
    /// The ports that it crosses; if switches choose, those of its first path.
    pub way: Vec<PortId>,
}

impl MadeFlow {
    /// Its name.
    #[must_use]
    pub fn name(&self, made: &Made) -> String {
        made.0.tables[self.table].name_of(self.number)
    }
}

impl Made {
    pub(crate) fn new(counted: Counted, layout: Layout, points: Points) -> Self {
        Self(Arc::new(Inner { layout, ways: counted.ways, tables: counted.tables, points }))
    }

    /// How many flows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.tables.iter().map(|table| table.flows as usize).sum()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.tables.is_empty()
    }

    /// Name of a table.
    #[must_use]
    pub fn table(&self, table: usize) -> &str {
        &self.0.tables[table].model.name
    }

    /// Name of the flow with this number, all tables counted.
    ///
    /// # Panics
    /// If there is no such flow.
    #[must_use]
    pub fn name(&self, number: usize) -> String {
        let mut left = number;
        for table in &self.0.tables {
            match left.checked_sub(table.flows as usize) {
                Some(rest) => left = rest,
                None => return table.name_of(left as u32),
            }
        }
        panic!("there is no flow {number} of {}", self.len())
    }

    /// Every flow, table by table.
    pub fn flows(&self) -> impl Iterator<Item = MadeFlow> + '_ {
        self.begun(Instant::NEVER)
    }

    /// The flows that start at `until` or before, table by table.
    pub fn begun(&self, until: Instant) -> impl Iterator<Item = MadeFlow> + '_ {
        let of = move |table: usize| {
            let arrivals = self.0.tables[table].arrivals.clone().take_while(move |arrival| arrival.start.0 <= until.0);
            (0..).zip(arrivals).map(move |(number, arrival)| self.0.flow(table, number, &arrival))
        };
        (0..self.0.tables.len()).flat_map(of)
    }

    /// Every flow in the order of their starts, for the engine.
    #[must_use]
    pub fn arrivals(&self) -> Box<dyn network::Arrivals> {
        let mut tables: Vec<_> = self.0.tables.iter().map(|table| (0, table.arrivals.clone(), None)).collect();
        tables.iter_mut().for_each(|(_, arrivals, next)| *next = arrivals.next());
        Box::new(Merged { made: Arc::clone(&self.0), tables })
    }
}

impl Inner {
    fn flow(&self, table: usize, number: u32, arrival: &Arrival) -> MadeFlow {
        let name = self.tables[table].name_of(number);
        let way = self.ways.first(&self.layout, &name, arrival);
        let (_, way) = way.expect("flows were counted with their paths");
        MadeFlow {
            table,
            number,
            source: arrival.source,
            destination: arrival.destination,
            start: Instant(arrival.start.0),
            size: arrival.size,
            way: way.into_iter().map(|port| PortId(port as u32)).collect(),
        }
    }
}

/// A port, and the port of the opposite direction: the two of a link differ in the last bit.
fn link(port: PortId) -> (PortId, PortId) {
    (port, PortId(port.0 ^ 1))
}

/// The flows of all tables, merged by their starts.
#[derive(Debug)]
struct Merged {
    made: Arc<Inner>,
    /// For each table the number of its next flow, those behind it, and the flow itself.
    tables: Vec<(u32, Arrivals, Option<Arrival>)>,
}

impl Iterator for Merged {
    type Item = network::Arrival;

    fn next(&mut self) -> Option<network::Arrival> {
        let starts = self.tables.iter().enumerate();
        let starts = starts.filter_map(|(table, (_, _, next))| Some((next.as_ref()?.start, table)));
        let (_, table) = starts.min()?;
        let (number, behind, next) = &mut self.tables[table];
        let arrival = std::mem::replace(next, behind.next())?;
        *number += 1;
        let flow = self.made.flow(table, *number - 1, &arrival);
        let name = self.made.tables[table].name_of(flow.number);
        let routes = self.made.ways.routes(&self.made.layout, &name, &arrival, |_| Ok(()));
        let (first, later) = routes.ok().flatten().expect("nothing bounds it, and flows were counted with their paths");
        let branch = |branch: &Branch| network::Branch {
            link: link(PortId(branch.port as u32)),
            parent: branch.parent.map(|parent| parent as u32),
        };
        let route = |(way, tree): &Route| {
            let way = way.iter().map(|&port| link(PortId(port as u32))).collect();
            (way, tree.iter().map(branch).collect())
        };
        let onward = |(at, later): &(Duration, Route)| {
            let (way, tree) = route(later);
            network::LaterRoute { at: Instant(at.0), way, tree }
        };
        let (way, tree) = route(&first);
        let point = self.made.points.get(&(flow.way[0].index(), self.made.tables[table].model.priority));
        Some(network::Arrival {
            process: table as u32,
            number: flow.number,
            start: flow.start,
            size: flow.size,
            way,
            tree,
            later: later.iter().map(onward).collect(),
            reaction_point: point.copied(),
        })
    }
}
