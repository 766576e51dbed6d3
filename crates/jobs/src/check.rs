//! Whether a graph can end: it runs once without time.

use alloc::format;
use alloc::vec::Vec;

use crate::graph::{Graph, GraphError, NodeId, Work};
use crate::matching::{Matching, NONE, cycle, fits};

impl Graph {
    /// Refuses a graph that cannot end.
    ///
    /// # Errors
    ///
    /// A cycle, with its nodes in order; a send without receive or a receive without send; a send and its receive of
    /// different sizes; a collective that a member lacks, or that differs among members.
    pub fn check(&self) -> Result<(), GraphError> {
        can_end(self, &Matching::new(self)?)
    }
}

/// Refuses a graph whose nodes wait for each other over messages and collectives.
pub(crate) fn can_end(graph: &Graph, matching: &Matching) -> Result<(), GraphError> {
    let mut trial = Trial::new(graph, matching);
    trial.run();
    let left = |event: u32| trial.waits[event as usize] > 0;
    let Some(first) = (0..trial.waits.len() as u32).find(|&event| left(event)) else { return Ok(()) };
    let mut pairs = Vec::new();
    for event in (0..trial.waits.len() as u32).filter(|&event| left(event)) {
        trial.waiting(event, |next| {
            if left(next) {
                pairs.push((event, next));
            }
        });
    }
    let events = trial.waits.len() as u32;
    Err(cycle(graph, events, pairs.into_iter(), |event| trial.node(event)).unwrap_or_else(|| {
        let node = trial.node(first);
        let name = node.map_or_else(Default::default, |node| graph.describe(node));
        GraphError::new(node, format!("the graph cannot end: {name} waits for a message that no send brings"))
    }))
}

/// A run without time. The start of node n is event 2n, its end 2n + 1; after those, each collective has one: all
/// members have begun.
struct Trial<'a> {
    graph: &'a Graph,
    matching: &'a Matching,
    /// Of each event the number of those that it waits for.
    waits: Vec<u32>,
    /// At ranks that receive from any: receives that have begun, and messages that have arrived, each without partner.
    begun: Vec<Vec<NodeId>>,
    arrived: Vec<Vec<NodeId>>,
}

impl<'a> Trial<'a> {
    fn new(graph: &'a Graph, matching: &'a Matching) -> Self {
        let ranks = graph.ranks() as usize;
        let mut waits = alloc::vec![0_u32; 2 * graph.len() as usize];
        waits.extend(matching.instances.iter().map(|instance| instance.nodes.len() as u32));
        let (begun, arrived) = (alloc::vec![Vec::new(); ranks], alloc::vec![Vec::new(); ranks]);
        let mut trial = Self { graph, matching, waits: Vec::new(), begun, arrived };
        for node in 0..graph.len() {
            trial.waiting(2 * node, |next| {
                waits[next as usize] += u32::from((next as usize) < 2 * graph.len() as usize)
            });
            trial.waiting(2 * node + 1, |next| waits[next as usize] += 1);
            match graph.work(node) {
                // A message that has no partner yet.
                Work::Receive { .. } if matching.partner[node as usize] == NONE => waits[2 * node as usize + 1] += 1,
                Work::Collective { .. } => waits[2 * node as usize + 1] += 1,
                _ => {}
            }
        }
        trial.waits = waits;
        trial
    }

    /// The node of an event.
    fn node(&self, event: u32) -> Option<NodeId> {
        (event / 2 < self.graph.len()).then_some(event / 2)
    }

    /// The events that wait for an event.
    fn waiting(&self, event: u32, mut each: impl FnMut(u32)) {
        let Some(node) = self.node(event) else {
            let instance = &self.matching.instances[(event - 2 * self.graph.len()) as usize];
            return instance.nodes.iter().for_each(|node| each(2 * node + 1));
        };
        if event % 2 == 1 {
            return self.graph.waiting_for_end(node).iter().for_each(|next| each(2 * next));
        }
        each(event + 1);
        self.graph.waiting_for_start(node).iter().for_each(|next| each(2 * next));
        let partner = self.matching.partner[node as usize];
        match self.graph.work(node) {
            Work::Send { .. } if partner != NONE => each(2 * partner + 1),
            Work::Collective { .. } => each(2 * self.graph.len() + partner),
            _ => {}
        }
    }

    /// Runs all events that can.
    fn run(&mut self) {
        let mut ready: Vec<u32> =
            (0..self.waits.len() as u32).filter(|&event| self.waits[event as usize] == 0).collect();
        // The smallest first.
        ready.reverse();
        let mut next = Vec::new();
        while let Some(event) = ready.pop() {
            self.waiting(event, |event| next.push(event));
            next.extend(self.node(event).filter(|_| event % 2 == 0).and_then(|node| self.meet(node)));
            for event in next.drain(..) {
                let waits = &mut self.waits[event as usize];
                *waits -= 1;
                if *waits == 0 {
                    ready.push(event);
                }
            }
        }
    }

    /// The end of a receive from any whose message is there, now that a send or a receive has begun.
    fn meet(&mut self, node: NodeId) -> Option<u32> {
        let graph = self.graph;
        match graph.work(node) {
            Work::Send { to, .. } if self.matching.any[to as usize] => {
                let begun = &mut self.begun[to as usize];
                match begun.iter().position(|&receive| fits(graph, receive, node)) {
                    Some(at) => Some(2 * begun.remove(at) + 1),
                    None => {
                        self.arrived[to as usize].push(node);
                        None
                    }
                }
            }
            Work::Receive { .. } if self.matching.partner[node as usize] == NONE => {
                let rank = graph.rank(node) as usize;
                let arrived = &mut self.arrived[rank];
                match arrived.iter().position(|&send| fits(graph, node, send)) {
                    Some(at) => {
                        arrived.remove(at);
                        Some(2 * node + 1)
                    }
                    None => {
                        self.begun[rank].push(node);
                        None
                    }
                }
            }
            _ => None,
        }
    }
}
