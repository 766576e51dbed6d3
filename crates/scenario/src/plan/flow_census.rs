//! The flows that loads, incasts and traces generate, drawn once to be census: where they begin, which links they cross, how many there
//! are.

use std::collections::BTreeMap;

use penstock_schemes::{Duration, Instant};
use penstock_sim::network::{self, CrossedLink, Limiting, Pacer, PortId, Process, RpId};

use super::arrival::Demand;
use super::arrivals::Arrivals;
use super::flow_paths::{KnownPaths, link};
use super::flow_transport::Carriage;
use super::jobs::{self, Job};
use super::loads;
use super::source_table::SourceTable;
use super::{routing, trace};
use crate::error::Fault;
use crate::keys::topology::Layout;
use crate::limits::{ARRIVALS, Bounds, HOPS};
use crate::resolve::Resolved;

/// The properties that the flows of a table have in common.
#[derive(Debug, Clone)]
pub(crate) struct Model {
    pub(crate) origin: SourceTable,
    pub(crate) name: String,
    pub(crate) carriage: Option<Carriage>,
    pub(crate) frame: u16,
    pub(crate) controlled: bool,
    pub(crate) priority: u8,
    pub(crate) weight: u16,
}

/// A load, a table of incasts or of bursts, or a trace.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    pub(crate) model: Model,
    /// Its flows, from the first on.
    pub(crate) arrivals: Arrivals,
    /// How many there are.
    pub(crate) flows: u32,
}

impl Table {
    pub(super) fn name_of(&self, number: u32) -> String {
        if let Arrivals::Trace(trace) = &self.arrivals
            && let Some(name) = trace.name(number as usize)
        {
            return name.to_owned();
        }
        format!("{}.{number}", self.model.name)
    }

    /// What its flows demand of the network: each flow by itself, and messages of a job together where they have one path.
    fn demands(&self) -> Box<dyn Iterator<Item = Demand> + '_> {
        match &self.arrivals {
            Arrivals::Job(job) => Box::new(job.demands(&self.model.name)),
            arrivals => Box::new((0..).zip(arrivals.clone()).map(|(number, arrival)| Demand {
                arrival,
                flows: 1,
                name: self.name_of(number),
            })),
        }
    }

    /// The job that its flows belong to, if they do.
    pub(super) fn job(&self) -> Option<&Job> {
        let Arrivals::Job(job) = &self.arrivals else { return None };
        Some(job)
    }

    /// The table for the engine. `limiting` is that of controlled flows.
    fn process(&self, limiting: Limiting, footprint: &TableFootprint) -> Process {
        let Model { carriage, frame, controlled, priority, weight, .. } = &self.model;
        Process {
            flows: self.flows,
            priority: *priority,
            frame: *frame,
            weight: *weight,
            transport: carriage.as_ref().map(|Carriage { transport, acks }| (transport.clone(), *acks)),
            limiting: if *controlled { limiting } else { Limiting::Uncontrolled },
            links: footprint.links(),
            span: footprint.span,
            of_work: self.job().is_some(),
        }
    }
}

/// The reaction points that flows share, by port and priority.
pub(crate) type Points = BTreeMap<(usize, u8), RpId>;

/// The flows of all loads and incasts, census.
#[derive(Debug)]
pub(crate) struct FlowCensus {
    /// The tables that make flows.
    pub(crate) tables: Vec<Table>,
    pub(super) paths: KnownPaths,
    /// When switches know of changes.
    converged: Vec<Instant>,
    /// The most links of a path.
    pub(crate) longest: usize,
    /// The most links of all paths of a flow together.
    most_hops: usize,
    /// The most paths of a flow.
    most_paths: usize,
    /// For each table whether a flow of it has several paths.
    pub(crate) spreads: Vec<bool>,
    /// For each table the ports at which flows begin, in the order of the first one each, and how many begin there.
    pub(crate) begins: Vec<Vec<(usize, u32)>>,
    /// For each table the footprint of its flows.
    pub(crate) footprints: Vec<TableFootprint>,
}

/// Where and when the flows of a table come.
#[derive(Debug)]
pub(crate) struct TableFootprint {
    /// For each port its octets, if each flow takes the first of its paths; none for a port without flows.
    octets: Vec<Option<u64>>,
    /// From the first start to the last.
    span: Duration,
}

impl TableFootprint {
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

impl FlowCensus {
    pub(crate) fn new(
        resolved: &Resolved,
        tables: Vec<Table>,
        layout: &Layout,
        bounds: &Bounds<'_>,
    ) -> Result<Self, Fault> {
        let mut census = Self {
            tables: Vec::new(),
            paths: KnownPaths::new(layout),
            converged: layout.later.iter().map(|epoch| Instant(epoch.at.0)).collect(),
            longest: 0,
            most_hops: 0,
            most_paths: 0,
            spreads: Vec::new(),
            begins: Vec::new(),
            footprints: Vec::new(),
        };
        let mut all = 0;
        for table in tables {
            census.count(resolved, table, &mut all, layout, bounds)?;
        }
        Ok(census)
    }

    /// Adds a table. `all` counts the flows.
    fn count(
        &mut self,
        resolved: &Resolved,
        mut table: Table,
        all: &mut u64,
        layout: &Layout,
        bounds: &Bounds<'_>,
    ) -> Result<(), Fault> {
        let origin = table.model.origin;
        let excess = |excess| origin.excess(resolved, excess);
        let less = match origin {
            SourceTable::Incast(_) => loads::LESS_INCASTS,
            SourceTable::Burst(_) => loads::LESS_BURSTS,
            SourceTable::Trace(_) => trace::LESS,
            SourceTable::Collective(_) | SourceTable::Job(_) => jobs::LESS,
            SourceTable::Flow(_) | SourceTable::Load(_) => loads::LESS_LOAD,
        };
        let mut footprint = TableFootprint { octets: vec![None; layout.ports.len()], span: Duration::ZERO };
        let mut first_start = None;
        let mut first_of: Vec<Option<usize>> = vec![None; layout.ports.len()];
        let mut begins: Vec<(usize, u32)> = Vec::new();
        let mut spreads = false;
        let of_job = table.job().map(Job::messages);
        let mut flows = 0;
        for Demand { arrival, flows: alike, name } in table.demands() {
            // Messages of a job over one connection have one path, which is looked for once.
            *all += 1;
            bounds.check(ARRIVALS, *all, less).map_err(excess)?;
            bounds.go_on().map_err(excess)?;
            let gate = routing::gate(layout, arrival.destination);
            self.paths.look(layout, &arrival, bounds).map_err(excess)?;
            let grow =
                |hops| bounds.search(routing::BRANCHING).and_then(|()| bounds.check(HOPS, hops as u64, "fewer paths"));
            let routes = self.paths.routes(layout, &name, &arrival, grow).map_err(excess)?;
            let Some(((path, tree), later)) = routes else {
                let (from, to) = (&layout.nodes[arrival.source].name, &layout.nodes[arrival.destination].name);
                let error = origin.fault(resolved, format!("\"{to}\" cannot be reached from \"{from}\""));
                return Err(error.with_hint(routing::within_reach(layout, arrival.source)));
            };
            bounds.search(routing::effort(layout, gate, &path)).map_err(excess)?;
            for &port in &path {
                let octets = footprint.octets[port].get_or_insert(0);
                *octets = octets.saturating_add(arrival.size.0);
            }
            for (_, (path, tree)) in &later {
                bounds.search(routing::effort(layout, gate, path)).map_err(excess)?;
                for &port in path.iter().chain(tree.iter().map(|branch| &branch.port)) {
                    footprint.octets[port].get_or_insert(0);
                }
                self.longest = self.longest.max(path.len());
                self.most_hops = self.most_hops.max(tree.len()).max(path.len());
                self.most_paths = self.most_paths.max(routing::paths_of(tree));
                spreads |= !tree.is_empty();
            }
            let begun: Duration = *first_start.get_or_insert(arrival.start);
            footprint.span = arrival.start - begun;
            self.longest = self.longest.max(path.len());
            for branch in &tree {
                footprint.octets[branch.port].get_or_insert(0);
            }
            self.most_hops = self.most_hops.max(tree.len()).max(path.len());
            self.most_paths = self.most_paths.max(routing::paths_of(&tree));
            spreads |= !tree.is_empty();
            let first = *first_of[path[0]].get_or_insert_with(|| {
                begins.push((path[0], 0));
                begins.len() - 1
            });
            begins[first].1 += alike;
            flows += alike;
        }
        table.flows = of_job.unwrap_or(flows);
        if table.flows > 0 || of_job.is_some() {
            self.tables.push(table);
            self.begins.push(begins);
            self.spreads.push(spreads);
            self.footprints.push(footprint);
        }
        Ok(())
    }

    /// For each controlled flow of a priority the links of its path at its start, with the opposite direction of each.
    pub(crate) fn paths_of(&self, layout: &Layout, priority: u8) -> impl Iterator<Item = Vec<(PortId, PortId)>> {
        let tables = self.tables.iter().filter(move |table| table.model.controlled && table.model.priority == priority);
        let path = |Demand { arrival, name, .. }: Demand| {
            let (_, path) = self.paths.first(layout, &name, &arrival)?;
            Some(path.into_iter().map(|port| link(PortId(port as u32))).collect())
        };
        tables.flat_map(move |table| table.demands().filter_map(path).collect::<Vec<_>>())
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
                .zip(&self.footprints)
                .map(|(table, footprint)| table.process(limiting, footprint))
                .collect(),
            longest_path: self.longest,
            most_hops: self.most_hops,
            most_paths: self.most_paths,
            converged: self.converged.clone(),
            sources: self.begins.iter().flatten().map(|&(port, _)| PortId(port as u32)).collect(),
            limiters,
            sharing: points.map(|point| sharing.get(&point).copied().unwrap_or_default()).collect(),
        }
    }
}
