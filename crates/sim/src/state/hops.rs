//! Of each hop: the step of a frame from it, the destination at its end, and the properties of its flow that ports need.

use penstock_endpoint::{DestinationId, FlowId, TrafficClass};
use penstock_switch::state::hop_info::HopInfo;

use crate::network::{HopId, Network, PortId};

/// The destination at the far end of a hop, none where another hop follows, and its flow.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HopEnd {
    pub(crate) destination: DestinationId,
    pub(crate) flow: FlowId,
}

impl HopEnd {
    pub(crate) const NONE: Self = Self { destination: DestinationId::NONE, flow: FlowId::NONE };
}

/// The facts that ports need of each hop's flow, and of no flow at the hop behind the last.
pub(crate) fn hop_info(network: &Network) -> Vec<HopInfo> {
    let nothing = HopInfo { flow: FlowId::NONE, weight: 1, class: TrafficClass::NONE };
    let mut hop_info = vec![nothing; network.hops.len() + 1];
    let flows = (0..).map(FlowId).zip(&network.flows);
    let first = flows.map(|(id, flow)| (id, flow.root, flow.transport.as_ref().map(|carriage| carriage.reverse_path)));
    let later = network.reroutes.iter().map(|later| (later.flow, later.root, later.reverse_path));
    for (id, root, back) in first.chain(later) {
        let flow = &network.flows[id.index()];
        let own = HopInfo { flow: id, weight: flow.weight, class: network.class(flow.priority) };
        let hops = [Some(root), back].into_iter().flatten().flat_map(|first| network.route_from(first));
        hops.for_each(|hop| hop_info[hop.index()] = own);
    }
    for &(leaf, back) in &network.reverse_paths {
        let own = hop_info[leaf.index()];
        network.route_from(back).for_each(|hop| hop_info[hop.index()] = own);
    }
    hop_info
}

/// A hop, as the way down needs it: 12 octets, for they are read at every hop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    pub(crate) port: PortId,
    /// The only hop that follows. It is [`LEAF`] or [`BRANCH`] where there is none or more than one, [`CHOICE`] where the frame takes one
    /// of them, and [`TURN`] where the frame's switch has arbiters. At the end of a transport's paths it is [`SEGMENT_LEAF`] or
    /// [`ACK_LEAF`], and [`RECEIVE_BUFFER`] before a host with one. The step behind the network's last hop is [`LOST`]: there frames are sent that a broken link has lost.
    pub(crate) next: HopId,
    /// The port of that hop, where there is one.
    pub(crate) to: PortId,
}

pub(crate) const LEAF: HopId = HopId::NONE;
pub(crate) const BRANCH: HopId = HopId(LEAF.0 - 1);
/// The last hops of a transport's segments, and of its acknowledgements.
pub(crate) const SEGMENT_LEAF: HopId = HopId(LEAF.0 - 2);
pub(crate) const ACK_LEAF: HopId = HopId(LEAF.0 - 3);
pub(crate) const CHOICE: HopId = HopId(LEAF.0 - 4);
/// The frame waits for the others that reach a switch at this instant: see `ties`.
pub(crate) const TURN: HopId = HopId(LEAF.0 - 5);
/// The last hop of data to a host where frames wait to be processed.
pub(crate) const RECEIVE_BUFFER: HopId = HopId(LEAF.0 - 6);
/// The least of them.
pub(crate) const LOST: HopId = HopId(LEAF.0 - 7);
