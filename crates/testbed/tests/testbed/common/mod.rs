//! Plans, frames and arrivals for the tests of switch and interface.
#![allow(dead_code, reason = "each test file uses a part of it")]

use penstock_scenario::{Choice, Plan, Scenario};
use penstock_schemes::{Instant, Octets, Scheme};
use penstock_sim::network::{FlowId, NodeId, PortId, QueueId};
use penstock_sim::probe::Probe;
use penstock_testbed::addressing::station;
use penstock_testbed::bridge::Bridge;
use penstock_testbed::frame::put_tags;
use penstock_testbed::scheme_frames::OnWire;

pub(crate) fn plan(text: &str) -> Plan {
    Scenario::parse(text, "test.toml", "test").unwrap().plan(&Choice::default()).unwrap()
}

/// Three sources at 10 Gb/s that begin at odd times, so that no two frames arrive at once.
pub(crate) const THREE: &str = r#"
    question = "Do both switches hold the same queue?"
    duration = "20 ms"
    scheme = "qcn"
    [topology.star]
    hosts = 4
    link_rate = "10 Gbps"
    link_delay = "3 us"
    buffer = "150 KB"
    [[flow]]
    from = "h0..h2"
    to = "h3"
    stagger = "1333.337 us"
    frame = "1000 octets"
"#;

/// An arrival at the bottleneck, with the queue's length after it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Arrival {
    pub(crate) at: Instant,
    pub(crate) flow: FlowId,
    pub(crate) len: Octets,
    pub(crate) dropped: bool,
}

pub(crate) struct Arrivals {
    pub(crate) queue: QueueId,
    pub(crate) seen: Vec<Arrival>,
}

impl<S: Scheme> Probe<S> for Arrivals {
    const ARRIVALS: bool = true;

    fn arrival(&mut self, at: Instant, queue: QueueId, flow: FlowId, len: Octets, dropped: bool) {
        if queue == self.queue {
            self.seen.push(Arrival { at, flow, len, dropped });
        }
    }
}

/// The node of a name.
pub(crate) fn node(plan: &Plan, name: &str) -> NodeId {
    NodeId(plan.node_names.iter().position(|own| own == name).unwrap() as u32)
}

/// A frame of a flow, of `octets` octets without its frame check sequence.
pub(crate) fn frame(plan: &Plan, from: NodeId, to: NodeId, flow: Option<u16>, octets: usize) -> Vec<u8> {
    let mut frame = Vec::new();
    frame.extend(station(&plan.network, to).0);
    frame.extend(station(&plan.network, from).0);
    frame.extend([0x08, 0x00]);
    put_tags(&mut frame, 0, flow);
    frame.resize(octets, 0);
    frame
}

pub(crate) fn bottleneck(plan: &Plan) -> (PortId, QueueId) {
    let port = PortId(plan.port_names.iter().position(|name| name == "sw0->h3").unwrap() as u32);
    (port, plan.network.queue(port, 0))
}

/// The index that a switch gives the port of the scenario to this node.
pub(crate) fn port_to(plan: &Plan, bridge: &Bridge<impl OnWire>, peer: NodeId) -> usize {
    bridge.ids().iter().position(|id| plan.network.ports[id.index()].peer == peer).unwrap()
}

/// A UDP datagram to a port, as a host sends it.
pub(crate) fn datagram(plan: &Plan, from: NodeId, to: NodeId, port: u16, octets: usize) -> Vec<u8> {
    use penstock_wire::{ipv4, udp};
    let mut sent = frame(plan, from, to, None, 18);
    // Hosts put no tags on.
    sent.drain(12..16);
    let length = (octets - 34) as u16;
    let mut head = [0; 28];
    let address = |node: NodeId| [10, 99, 0, node.0 as u8 + 1];
    ipv4::Repr::new(address(from), address(to), ipv4::protocol::UDP, length).emit(&mut head).unwrap();
    let udp = udp::Repr { source_port: 40_000, destination_port: port, length, checksum: 0 };
    udp.emit(&mut head[20..]).unwrap();
    sent.extend(head);
    sent.resize(octets, 0);
    sent
}
