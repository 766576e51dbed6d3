//! Addresses of nodes, ports of flows and the priority of control frames: what switch and interface agree on.

use penstock_sim::network::{Network, NodeId, PortId};
use penstock_wire::MacAddress;

use crate::frame::{Header, ports};
use crate::scheme_frames::OnWire;

/// Flow n of the scenario is the traffic to this port and n, by UDP, or by TCP where the flow has a transport.
pub const FIRST_PORT: u16 = 5201;

/// Whether no bridge forwards frames for an address: 01-80-C2-00-00-00 to 0F. (802.1Q, clause 8.6.3)
#[must_use]
pub fn is_reserved(address: MacAddress) -> bool {
    address.to_u64() & !0xf == 0x0180_c200_0000
}

/// The priority of congestion notification messages, where a manager sets no other. (802.1Qau:
/// ieee8021CnGlobalCnmTransmitPriority)
const CNM_PRIORITY: u8 = 6;

/// The priority code point of control frames: the standard's, or the highest other one that no data has. `None` where data has
/// all.
#[must_use]
pub fn control_priority(network: &Network) -> Option<u8> {
    let highest = (0..8).rev();
    std::iter::once(CNM_PRIORITY).chain(highest).find(|priority| !network.priorities.contains(priority))
}

/// The address of a node.
#[must_use]
pub fn station(network: &Network, node: NodeId) -> MacAddress {
    MacAddress::from_u64(network.nodes[node.index()].station)
}

/// The ports of a node, in the scenario's order.
#[must_use]
pub fn ports_of(network: &Network, node: NodeId) -> Vec<PortId> {
    (0..network.ports.len() as u32).map(PortId).filter(|id| network.ports[id.index()].node == node).collect()
}

/// The protocol and ports of a frame of the wire, behind the scheme's tag if it has one.
pub(crate) fn flow_ports<S: OnWire>(frame: &[u8], header: &Header) -> Option<(u8, u16, u16)> {
    if !S::MARKS {
        return ports(frame, header);
    }
    let mut plain = frame.to_vec();
    S::take(&mut plain);
    ports(&plain, &Header::read(&plain)?)
}
