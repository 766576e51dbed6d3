//! The properties of a plan's flows that stand in their frames: of those of the network, and of those that processes make.

use penstock_endpoint::transport::Transport;
use penstock_scenario::Plan;
use penstock_sim::network::{FlowId, Limiting, NodeId};

use super::headers::{self, Address};

/// The properties of a flow.
#[derive(Debug, Clone, Copy)]
pub(super) struct Facts<'p> {
    pub(super) source: Address,
    /// Its destination, or the group of its destinations.
    pub(super) destination: Address,
    pub(super) priority: u8,
    /// Octets of a full frame, with FCS.
    pub(super) frame: u16,
    pub(super) transport: Option<&'p Transport>,
    /// A scheme limits it.
    pub(super) controlled: bool,
}

/// The flows of a plan.
#[derive(Debug)]
pub(super) struct Flows<'p> {
    plan: &'p Plan,
    made: Vec<Ends>,
}

/// The process of a flow, and its ends.
#[derive(Debug)]
struct Ends {
    process: u32,
    source: NodeId,
    destination: NodeId,
}

impl<'p> Flows<'p> {
    /// The ends of flows that processes make are drawn once and kept, 12 octets a flow: their frames come in any order.
    pub(super) fn new(plan: &'p Plan) -> Self {
        let made = plan.generated.flows().map(|flow| Ends {
            process: flow.table as u32,
            source: NodeId(flow.source as u32),
            destination: NodeId(flow.destination as u32),
        });
        Self { plan, made: made.collect() }
    }

    /// The properties of a flow.
    pub(super) fn of(&self, flow: FlowId) -> Facts<'p> {
        let (plan, network) = (self.plan, &self.plan.network);
        let Some(own) = network.flows.get(flow.index()) else { return self.of_made(flow.index() - plan.single) };
        let (source, destinations) = &plan.flow_ends[flow.index()];
        Facts {
            source: headers::of_node(plan, NodeId(*source as u32)),
            destination: match destinations[..] {
                [destination] => headers::of_node(plan, NodeId(destination as u32)),
                _ => headers::of_group(flow),
            },
            priority: own.priority,
            frame: own.frame,
            transport: own.transport.as_ref().map(|carriage| &carriage.transport),
            controlled: own.reaction_point.is_some(),
        }
    }

    fn of_made(&self, number: usize) -> Facts<'p> {
        let ends = &self.made[number];
        let process = &self.plan.network.processes.list[ends.process as usize];
        Facts {
            source: headers::of_node(self.plan, ends.source),
            destination: headers::of_node(self.plan, ends.destination),
            priority: process.priority,
            frame: process.frame,
            transport: process.transport.as_ref().map(|(transport, _)| transport),
            controlled: !matches!(process.limiting, Limiting::Uncontrolled),
        }
    }
}
