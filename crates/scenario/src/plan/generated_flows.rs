//! The flows that loads and incasts generate, and those of traces. They are drawn once to be census, while the scenario is planned, and again
//! whenever they are needed: none of them is stored.

use std::sync::Arc;

use penstock_jobs::Rank;
use penstock_schemes::{Duration, Instant, Octets};
use penstock_sim::network::{self, PortId};

use super::arrival::Arrival;
use super::arrivals::Arrivals;
use super::flow_census::{FlowCensus, Points, Table};
use super::flow_paths::{KnownPaths, Route, link};
use super::jobs::Job;
use super::routing::Branch;
use crate::keys::topology::Layout;

/// The flows that loads and incasts generate. Results aggregate them, and no list stores them: each is drawn again whenever it
/// is needed.
#[derive(Debug, Clone)]
pub struct GeneratedFlows(pub(super) Arc<Inner>);

#[derive(Debug)]
pub(super) struct Inner {
    layout: Layout,
    paths: KnownPaths,
    tables: Vec<Table>,
    points: Points,
}

/// A flow that a load or an incast makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratedFlow {
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
    pub path: Vec<PortId>,
}

impl GeneratedFlow {
    /// Its name.
    #[must_use]
    pub fn name(&self, generated: &GeneratedFlows) -> String {
        generated.0.tables[self.table].name_of(self.number)
    }
}

impl GeneratedFlows {
    pub(crate) fn new(census: FlowCensus, layout: Layout, points: Points) -> Self {
        Self(Arc::new(Inner { layout, paths: census.paths, tables: census.tables, points }))
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

    /// Name of the flow with this number, all tables census.
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
    pub fn flows(&self) -> impl Iterator<Item = GeneratedFlow> + '_ {
        self.begun(Instant::NEVER)
    }

    /// The flows that start at `until` or before, table by table.
    pub fn begun(&self, until: Instant) -> impl Iterator<Item = GeneratedFlow> + '_ {
        let of = move |table: usize| {
            let arrivals = self.0.tables[table].arrivals.clone().take_while(move |arrival| arrival.start.0 <= until.0);
            (0..).zip(arrivals).map(move |(number, arrival)| self.0.flow(table, number, &arrival))
        };
        (0..self.0.tables.len()).flat_map(of)
    }

    /// Whether there are flows other than messages of jobs.
    #[must_use]
    pub fn has_streams(&self) -> bool {
        self.0.tables.iter().any(|table| table.job().is_none())
    }

    /// The jobs that have a graph, each with the index of its process.
    pub fn jobs(&self) -> impl Iterator<Item = (usize, &Job)> {
        self.0.jobs()
    }

    /// The ports that a message between two ranks of a job crosses at its start: those of the first one on its first path.
    ///
    /// # Panics
    /// If the job sends none between them.
    #[must_use]
    pub fn path_of_message(&self, table: usize, job: &Job, (from, to): (Rank, Rank)) -> Vec<PortId> {
        let connection = (from, to, 0);
        let arrival = job.arrival(connection, job.start(), Octets(1));
        let name = job.name_of_path(self.table(table), connection, 0);
        let path = self.0.paths.first(&self.0.layout, &name, &arrival);
        let (_, path) = path.expect("messages were counted with their paths");
        path.into_iter().map(|port| PortId(port as u32)).collect()
    }

    /// Every flow in the order of their starts, for the engine.
    #[must_use]
    pub fn arrivals(&self) -> Box<dyn network::Arrivals> {
        let mut tables: Vec<_> = self.0.tables.iter().map(|table| (0, table.arrivals.clone(), None)).collect();
        tables.iter_mut().for_each(|(_, arrivals, next)| *next = arrivals.next());
        Box::new(Merged { generated: Arc::clone(&self.0), tables })
    }
}

impl Inner {
    fn flow(&self, table: usize, number: u32, arrival: &Arrival) -> GeneratedFlow {
        let name = self.tables[table].name_of(number);
        let path = self.paths.first(&self.layout, &name, arrival);
        let (_, path) = path.expect("flows were counted with their paths");
        GeneratedFlow {
            table,
            number,
            source: arrival.source,
            destination: arrival.destination,
            start: Instant(arrival.start.0),
            size: arrival.size,
            path: path.into_iter().map(|port| PortId(port as u32)).collect(),
        }
    }
}

/// The flows of all tables, merged by their starts.
#[derive(Debug)]
struct Merged {
    generated: Arc<Inner>,
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
        let number = *number - 1;
        let name = self.generated.tables[table].name_of(number);
        let routes = self.generated.routes(&name, &arrival);
        Some(self.generated.begin((table, number), &arrival, routes))
    }
}

/// A route for the engine: its links, and all of its paths.
type Links = (Vec<(PortId, PortId)>, Vec<network::Branch>);

/// The first route of a flow, and those that it has later.
type FlowRoutes = (Links, Vec<network::LaterRoute>);

impl Inner {
    /// The routes of the flow of this name.
    pub(super) fn routes(&self, name: &str, arrival: &Arrival) -> FlowRoutes {
        let routes = self.paths.routes(&self.layout, name, arrival, |_| Ok(()));
        let (first, later) = routes.ok().flatten().expect("nothing bounds it, and flows were counted with their paths");
        let branch = |branch: &Branch| network::Branch {
            link: link(PortId(branch.port as u32)),
            parent: branch.parent.map(|parent| parent as u32),
        };
        let route = |(path, tree): &Route| {
            let path = path.iter().map(|&port| link(PortId(port as u32))).collect();
            (path, tree.iter().map(branch).collect())
        };
        let onward = |(at, later): &(Duration, Route)| {
            let (path, tree) = route(later);
            network::LaterRoute { at: Instant(at.0), path, tree }
        };
        (route(&first), later.iter().map(onward).collect())
    }

    /// Flow `number` of a table, as it begins.
    pub(super) fn begin(
        &self,
        (table, number): (usize, u32),
        arrival: &Arrival,
        ((path, tree), later): FlowRoutes,
    ) -> network::Arrival {
        let point = self.points.get(&(path[0].0.index(), self.tables[table].model.priority));
        network::Arrival {
            process: table as u32,
            number,
            start: Instant(arrival.start.0),
            size: arrival.size,
            stays: false,
            reaction_point: point.copied(),
            path,
            tree,
            later,
        }
    }

    /// The jobs that have a graph, each with the number of its table.
    pub(super) fn jobs(&self) -> impl Iterator<Item = (usize, &Job)> {
        let jobs = self.tables.iter().enumerate().filter_map(|(number, table)| Some((number, table.job()?)));
        jobs.filter(|(_, job)| !job.outside)
    }

    /// The number of the table whose messages come from outside.
    pub(super) fn outside(&self) -> Option<usize> {
        self.tables.iter().position(|table| table.job().is_some_and(|job| job.outside))
    }

    /// The job of a table, if it has one.
    pub(super) fn job(&self, table: usize) -> Option<&Job> {
        self.tables[table].job()
    }

    /// Name of a table.
    pub(super) fn name_of_table(&self, table: usize) -> &str {
        &self.tables[table].model.name
    }
}
