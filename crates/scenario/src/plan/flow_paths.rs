//! The paths of the flows that loads, incasts and traces generate, at the start of the run and after failures.

use penstock_schemes::Duration;
use penstock_sim::network::PortId;

use super::arrival::Arrival;
use super::routing::{self, Branch, Distances, Wanted};
use crate::keys::topology::Layout;
use crate::limits::{Bounds, Excess};

/// The shortest paths to the receiving hosts.
#[derive(Debug)]
struct Paths {
    /// By the gate of destinations; none where nothing leads.
    distances: Vec<Option<Distances>>,
}

/// A path, and all of those among which switches choose; none if they have no choice.
pub(super) type Route = (Vec<usize>, Vec<Branch>);

impl Paths {
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
        let tree = routing::path_tree(layout, &wanted, distances, grow)?.unwrap_or_default();
        Ok(if routing::is_chain(&tree) { Vec::new() } else { tree })
    }
}

/// The first route of a flow, and those that it has later.
type Routes = (Route, Vec<(Duration, Route)>);

/// The paths as switches know them at the start, and later.
#[derive(Debug)]
pub(super) struct KnownPaths(Vec<Paths>);

impl KnownPaths {
    pub(super) fn new(layout: &Layout) -> Self {
        Self(std::iter::once(layout).chain(layout.later.iter().map(|epoch| &epoch.layout)).map(Paths::new).collect())
    }

    /// Computes the paths to the destination of a flow, unless they are known.
    pub(super) fn look(&mut self, layout: &Layout, arrival: &Arrival, bounds: &Bounds<'_>) -> Result<(), Excess> {
        for (epoch, paths) in self.0.iter_mut().enumerate() {
            let known = epoch.checked_sub(1).map_or(layout, |later| &layout.later[later].layout);
            paths.look(known, arrival, bounds)?;
        }
        Ok(())
    }

    /// The state of the network number `epoch`, with its paths.
    fn at<'a>(&'a self, layout: &'a Layout, epoch: usize) -> (&'a Layout, &'a Paths) {
        (epoch.checked_sub(1).map_or(layout, |later| &layout.later[later].layout), &self.0[epoch])
    }

    /// The path of a flow at its start; if none is intact then, the one that it has without failures.
    pub(super) fn first(&self, layout: &Layout, flow: &str, arrival: &Arrival) -> Option<(usize, Vec<usize>)> {
        let epoch = layout.later.partition_point(|epoch| epoch.at <= arrival.start);
        [epoch, 0].into_iter().find_map(|epoch| {
            let (layout, paths) = self.at(layout, epoch);
            Some((epoch, paths.find(layout, flow, arrival, None)?))
        })
    }

    /// The routes of a flow: the first one, and those that it has later, where they differ from the one before.
    pub(super) fn routes(
        &self,
        layout: &Layout,
        flow: &str,
        arrival: &Arrival,
        grow: impl Fn(usize) -> Result<(), Excess>,
    ) -> Result<Option<Routes>, Excess> {
        let Some((epoch, path)) = self.first(layout, flow, arrival) else { return Ok(None) };
        let (known, paths) = self.at(layout, epoch);
        let tree = paths.tree(known, flow, arrival, None, &grow)?;
        let port = Some(path[0]);
        let mut later: Vec<(Duration, Route)> = Vec::new();
        let first = (path, tree);
        for (number, epoch) in (1..).zip(&layout.later).filter(|(_, epoch)| epoch.at > arrival.start) {
            let (known, paths) = self.at(layout, number);
            let Some(path) = paths.find(known, flow, arrival, port) else { continue };
            let route = (path, paths.tree(known, flow, arrival, port, &grow)?);
            if later.last().map_or(&first, |(_, last)| last) != &route {
                later.push((epoch.at, route));
            }
        }
        Ok(Some((first, later)))
    }
}

/// A port, and the port of the opposite direction: the two of a link differ in the last bit.
pub(super) fn link(port: PortId) -> (PortId, PortId) {
    (port, PortId(port.0 ^ 1))
}
