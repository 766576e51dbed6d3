//! The addresses of the simulator's nodes and flows, and the headers that frames begin with.

use penstock_scenario::{CodePoints, Plan};
use penstock_schemes::CpId;
use penstock_sim::network::{FlowId, HopId, NodeId};
use penstock_wire::ethernet::{LEAST, ether_type};
use penstock_wire::experimental::rlt;
use penstock_wire::{Error, MacAddress, cn_tag, ethernet, ipv4, ipv6, udp, vlan};

/// Code points of control frames, which the simulator serves before all others: that of notifications by default. (802.1Qau:
/// ieee8021CnGlobalCnmTransmitPriority)
const CONTROL: CodePoints = CodePoints { pcp: 6, dscp: 48 };

/// The service that takes data and throws them away. (RFC 863)
pub(super) const DISCARD: u16 = 9;

/// The first of the ports that nobody registers, and how many there are. (RFC 6335, section 6)
const DYNAMIC: u16 = 49_152;
const DYNAMICS: usize = 16_384;

/// A station, or a group of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) mac: MacAddress,
    pub(super) ip: [u8; 4],
}

impl Address {
    /// The address in IPv6: that of IPv4 in a network of unique local addresses. (RFC 4193)
    pub(super) fn ip6(self) -> [u8; 16] {
        let [a, b, c, d] = self.ip;
        [0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, a, b, c, d]
    }
}

/// The address of a node.
pub(super) fn of_node(plan: &Plan, node: NodeId) -> Address {
    let [_, a, b, c] = (node.0 + 1).to_be_bytes();
    Address { mac: MacAddress::from_u64(plan.network.nodes[node.index()].station), ip: [10, a, b, c] }
}

/// The address of the group of a flow's destinations. (RFC 1112, section 6.4: the lower 23 bits of the group)
pub(super) fn of_group(flow: FlowId) -> Address {
    let [_, a, b, c] = (flow.0 + 1).to_be_bytes();
    Address { mac: MacAddress([0x01, 0x00, 0x5e, a & 0x7f, b, c]), ip: [239, a, b, c] }
}

/// The address of a destination behind `hop`: the first, where there are several; `None` where the hop is none of the
/// network's, as those of flows that processes make.
pub(super) fn behind(plan: &Plan, hop: HopId) -> Option<Address> {
    let hops = &plan.network.hops;
    let mut hop = hops.get(hop.index())?;
    while hop.children > 0 {
        hop = &hops[hop.first_child.index()];
    }
    Some(of_node(plan, plan.network.ports[hop.port.index()].peer))
}

/// The number of a flow in CN-TAGs, rate-limited tags and queue pairs: its index among all flows, from 1.
pub(super) fn number(flow: FlowId) -> u16 {
    (flow.0 % u32::from(u16::MAX)) as u16 + 1
}

/// The port from which a flow's frames come.
pub(super) fn port(flow: FlowId) -> u16 {
    DYNAMIC + (flow.index() % DYNAMICS) as u16
}

/// The code points of a priority, or of control frames.
pub(super) fn code_points(plan: &Plan, priority: Option<u8>) -> CodePoints {
    priority.map_or(CONTROL, |priority| plan.code_points[usize::from(priority)])
}

/// A tag between addresses and EtherType.
#[derive(Debug, Clone, Copy)]
pub(super) enum Tag {
    /// 802.1Q, for the priority alone.
    Priority(u8),
    /// CN-TAG with the flow's number.
    Cn(u16),
    /// Rate-limited tag with the flow's number.
    Rlt(u16, CpId),
}

impl Tag {
    fn ether_type(self) -> u16 {
        match self {
            Self::Priority(_) => ether_type::VLAN,
            Self::Cn(_) => ether_type::CN_TAG,
            Self::Rlt(..) => ether_type::EXPERIMENTAL,
        }
    }

    fn put(self, out: &mut Vec<u8>, ether_type: u16) {
        match self {
            Self::Priority(pcp) => {
                let tag = vlan::Repr { pcp, dei: false, vid: 0, ether_type };
                put(out, vlan::Repr::OCTETS, |octets| tag.emit(octets));
            }
            Self::Cn(flow_identifier) => {
                let tag = cn_tag::Repr { flow_identifier, ether_type };
                put(out, cn_tag::Repr::OCTETS, |octets| tag.emit(octets));
            }
            Self::Rlt(rlq_id, cp) => {
                let tag = rlt::Repr { rlq_id, cp_id: cp.0, ether_type };
                put(out, rlt::Repr::OCTETS, |octets| tag.emit(octets));
            }
        }
    }
}

/// Appends a format.
pub(super) fn put(out: &mut Vec<u8>, octets: usize, emit: impl FnOnce(&mut [u8]) -> Result<usize, Error>) {
    let at = out.len();
    out.resize(at + octets, 0);
    emit(&mut out[at..]).expect("there is room for it");
}

/// Addresses, tags, EtherType.
pub(super) fn ethernet(source: MacAddress, destination: MacAddress, tags: &[Tag], ether_type: u16) -> Vec<u8> {
    let mut out = Vec::new();
    let next = |i: usize| tags.get(i).map_or(ether_type, |tag| tag.ether_type());
    let head = ethernet::Repr { destination, source, ether_type: next(0) };
    put(&mut out, ethernet::Repr::OCTETS, |octets| head.emit(octets));
    for (i, tag) in tags.iter().enumerate() {
        tag.put(&mut out, next(i + 1));
    }
    out
}

/// Zeros up to the length of the frame, and to that of the shortest.
pub(super) fn padded(mut frame: Vec<u8>, octets: usize) -> Vec<u8> {
    frame.resize(frame.len().max(octets).max(LEAST), 0);
    frame
}

/// Where a datagram goes, and how.
#[derive(Debug, Clone, Copy)]
pub(super) struct Route {
    pub(super) source: Address,
    pub(super) destination: Address,
    pub(super) points: CodePoints,
    pub(super) ecn: u8,
}

impl Route {
    /// The header of a datagram with `data` octets of data.
    pub(super) fn header(self, protocol: u8, data: usize) -> ipv4::Repr {
        let header = ipv4::Repr::new(self.source.ip, self.destination.ip, protocol, data as u16);
        ipv4::Repr { dscp: self.points.dscp, ecn: self.ecn, ..header }.with_checksum()
    }

    /// A frame with these tags, up to the header of IPv4.
    pub(super) fn ipv4(self, tags: &[Tag], protocol: u8, data: usize) -> Vec<u8> {
        let mut frame = ethernet(self.source.mac, self.destination.mac, tags, ether_type::IPV4);
        put(&mut frame, ipv4::Repr::OCTETS, |octets| self.header(protocol, data).emit(octets));
        frame
    }

    /// The same over IPv6, without tags; `next_header` is the format after its header.
    pub(super) fn ipv6(self, next_header: u8, data: usize) -> Vec<u8> {
        let mut frame = ethernet(self.source.mac, self.destination.mac, &[], ether_type::IPV6);
        let header = ipv6::Repr {
            version: 6,
            dscp: self.points.dscp,
            ecn: self.ecn,
            flow_label: 0,
            payload_length: data as u16,
            next_header,
            hop_limit: 64,
            source: self.source.ip6(),
            destination: self.destination.ip6(),
        };
        put(&mut frame, ipv6::Repr::OCTETS, |octets| header.emit(octets));
        frame
    }
}

/// Appends the header of UDP for `data` octets of data, without checksum.
pub(super) fn put_udp(out: &mut Vec<u8>, source_port: u16, destination_port: u16, data: usize) {
    let length = (udp::Repr::OCTETS + data) as u16;
    let header = udp::Repr { source_port, destination_port, length, checksum: 0 };
    put(out, udp::Repr::OCTETS, |octets| header.emit(octets));
}
