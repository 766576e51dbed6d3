//! Of each hop: its flow, with the properties that ports need; the step of a frame from it; the destination at its end.

use penstock_endpoint::{DestinationId, FlowId, TrafficClass};

use crate::network::{Hop, HopId, Network, PortId};

/// The destination at the far end of a hop, none where another hop follows, and its flow.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HopEnd {
    pub(crate) destination: DestinationId,
    pub(crate) flow: FlowId,
}

impl HopEnd {
    pub(crate) const NONE: Self = Self { destination: DestinationId::NONE, flow: FlowId::NONE };
}

/// The flow of a hop, and its properties that ports need.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HopInfo {
    pub(crate) flow: FlowId,
    pub(crate) weight: u16,
    pub(crate) class: TrafficClass,
}

/// The facts that ports need of each hop's flow, and of no flow at the hop behind the last.
pub(crate) fn hop_info(network: &Network) -> Vec<HopInfo> {
    let nothing = HopInfo { flow: FlowId::NONE, weight: 1, class: TrafficClass::NONE };
    let mut hop_info = vec![nothing; network.hops.len() + 1];
    let flows = (0..).map(FlowId).zip(&network.flows);
    let first = flows.map(|(id, flow)| (id, flow.root, flow.transport.as_ref().map(|carriage| carriage.reverse_path)));
    let later = network.reroutes.iter().map(|later| (later.flow, later.root, later.reverse_path));
    for (id, root, mut back) in first.chain(later) {
        let flow = &network.flows[id.index()];
        let own = HopInfo { flow: id, weight: flow.weight, class: network.class(flow.priority) };
        network.route_from(root).for_each(|hop| hop_info[hop.index()] = own);
        while let Some(hop) = back {
            hop_info[hop.index()] = own;
            let Hop { children, first_child, .. } = network.hops[hop.index()];
            back = (children > 0).then_some(first_child);
        }
    }
    hop_info
}

/// The weight of a hop's flow, looked up so that the compiler may leave it out for schemes without weights.
#[inline(always)]
pub(crate) fn weight_of(hop_info: &[HopInfo], hop: HopId) -> u16 {
    hop_info.get(hop.index()).map_or(1, |f| f.weight)
}

/// A hop, as the way down needs it: 12 octets, for they are read at every hop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    pub(crate) port: PortId,
    /// The only hop that follows; [`LEAF`] or [`BRANCH`] where there is none or more than one, [`CHOICE`] where the frame takes one of them,
    /// [`SEGMENT_LEAF`] or [`ACK_LEAF`] at the end of a transport's ways; [`TURN`] where the frame's switch has arbiters. The step behind the network's
    /// last hop is [`LOST`]: there frames are sent that a broken link has lost.
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
/// The least of them.
pub(crate) const LOST: HopId = HopId(LEAF.0 - 6);
