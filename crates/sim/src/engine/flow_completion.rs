//! Ends of flows: which flows begin then, and whether all have ended.

use penstock_schemes::{Duration, Scheme};
use penstock_switch::Model;

use crate::engine::Sim;
use crate::network::{FlowId, Network};
use crate::probe::Probe;
use crate::state::event::Event;

/// The flows that the run, or other flows, wait for.
#[derive(Debug)]
pub(crate) struct FlowCompletion {
    /// Whether a flow has ended, by flow.
    ended: Vec<bool>,
    /// Whether a flow has a size, by flow, and how many of these have not ended.
    finite: Vec<bool>,
    left: usize,
    until_complete: bool,
    /// The dependencies that wait for a flow, by flow; empty where nothing waits for any.
    followers: Vec<Vec<usize>>,
    dependencies: Vec<Waiting>,
}

/// A flow that has not begun.
#[derive(Debug)]
struct Waiting {
    flow: FlowId,
    delay: Duration,
    /// How many of the flows before it have not ended.
    open: usize,
}

impl FlowCompletion {
    /// A finite flow comes into slot `flow`.
    pub(crate) fn come(&mut self, flow: FlowId) {
        let slots = self.ended.len().max(flow.index() + 1);
        self.ended.resize(slots, false);
        self.finite.resize(slots, true);
        self.ended[flow.index()] = false;
    }

    pub(crate) fn new(network: &Network) -> Self {
        let finite: Vec<bool> = network.flows.iter().map(|flow| flow.size.is_some()).collect();
        let mut followers = Vec::new();
        if !network.dependencies.is_empty() {
            followers.resize(network.flows.len(), Vec::new());
        }
        for (number, dependency) in network.dependencies.iter().enumerate() {
            for flow in &dependency.after {
                followers[flow.index()].push(number);
            }
        }
        let waiting = |dependency: &crate::network::Dependency| Waiting {
            flow: dependency.flow,
            delay: dependency.delay,
            open: dependency.after.len(),
        };
        Self {
            ended: vec![false; network.flows.len()],
            left: finite.iter().filter(|finite| **finite).count() + arriving(network),
            finite,
            until_complete: network.until_complete,
            followers,
            dependencies: network.dependencies.iter().map(waiting).collect(),
        }
    }
}

/// How many flows of processes come from a stream. How many of work's come is known to the work.
fn arriving(network: &Network) -> usize {
    let processes = network.processes.list.iter().filter(|process| !process.of_work);
    processes.map(|process| process.flows as usize).sum()
}

impl<S: Scheme, P: Probe<S>, M: Model> Sim<S, P, M> {
    /// The last octet of a flow has reached its destinations.
    #[cold]
    pub(crate) fn complete(&mut self, flow: FlowId) {
        let now = self.state.fabric.now;
        self.state.records[flow.index()].complete(now);
        self.end(flow);
    }

    /// A flow has ended, by completion or because it was stopped. The first of the two counts.
    pub(crate) fn end(&mut self, flow: FlowId) {
        let ends = &mut self.flow_completion;
        if std::mem::replace(&mut ends.ended[flow.index()], true) {
            return;
        }
        self.state.records[flow.index()].ended = Some(self.state.fabric.now);
        if flow.0 >= self.state.static_flows && self.report_to_work(flow) {
            return;
        }
        let ends = &mut self.flow_completion;
        ends.left -= usize::from(ends.finite[flow.index()]);
        let events = &mut self.state.fabric.events;
        for &number in ends.followers.get(flow.index()).into_iter().flatten() {
            let dependency = &mut ends.dependencies[number];
            dependency.open -= 1;
            if dependency.open == 0 {
                events.schedule(self.state.fabric.now + dependency.delay, Event::Start(dependency.flow));
            }
        }
        self.end_if_complete();
    }

    /// Ends the run if it waits for flows and work alone, and all of these have ended.
    pub(crate) fn end_if_complete(&mut self) {
        let ends = &self.flow_completion;
        let done = self.employed.as_ref().is_none_or(|employed| employed.work.is_done());
        if !(ends.until_complete && ends.left == 0 && done) {
            return;
        }
        // A part waits here until all have done their work, and goes on if another one takes longer.
        if self.part.is_none() || self.done_at.is_none() {
            self.done_at = Some(self.state.fabric.now);
            self.end_run();
        }
    }
}
