//! The layout of a testbed: its namespaces, wires, addresses and applications, as plain data.
//!
//! The Python package makes them, where it has the right to.

use penstock_scenario::Plan;
use penstock_schemes::units::PS_PER_S;
use penstock_schemes::{BitRate, Instant, Scheme};
use penstock_sim::network::{Excess, Feedback, Flow, NodeId, NodeKind, PortEvent, Traffic};
use serde::Serialize;

use crate::TestbedError;
use crate::addressing::{FIRST_PORT, control_priority, ports_of, station};
use crate::frame::{CN_TAG_OCTETS, FCS, VLAN_OCTETS};
use crate::progress::SHORTEST;
use crate::scheme_frames;

/// The most flows: each has its own port, and iperf3 a server.
const MOST_FLOWS: usize = 1000;

/// Octets of the Ethernet header, of IPv4's, of UDP's.
const ETHERNET: u16 = 14;
const IPV4: u16 = 20;
const UDP: u16 = 8;

/// Octets by which BCN's tag can lengthen a frame beside priority and CN-TAG.
const OTHER_TAGS: u16 = 16;

/// A testbed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Layout {
    /// Hosts and switches.
    pub nodes: Vec<Node>,
    /// Wires: the two nodes of each.
    pub wires: Vec<(String, String)>,
    /// The flows, each with its sender.
    pub flows: Vec<Sender>,
    /// Other programs.
    pub applications: Vec<Program>,
    /// The longest packet that a host may send, without its Ethernet header.
    pub host_mtu: u16,
    /// The same for wires: tags are longer than hosts see.
    pub wire_mtu: u16,
    /// How many times slower than the scenario it is.
    pub time_scale: u64,
    /// How long the run takes, s of the machine.
    pub duration_s: f64,
    /// Differences from the simulator's run of the same scenario that are known beforehand, in sentences.
    pub notes: Vec<String>,
}

/// A host or a switch.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Whether it is a host.
    pub host: bool,
    /// Its MAC address.
    pub mac: String,
    /// Its IPv4 address (of a host).
    pub address: Option<String>,
    /// Whether the kernel of a host asks for marks on its connections (RFC 3168).
    pub ecn: bool,
    /// Its neighbours, in the order of its ports.
    pub peers: Vec<String>,
}

/// The sender of a flow. Times are the machine's, s after the start.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sender {
    /// The flow.
    pub name: String,
    /// The host that sends.
    pub source: String,
    /// The host that receives.
    pub destination: String,
    /// Whether TCP carries it, and with which congestion control; UDP otherwise.
    pub tcp: Option<String>,
    /// The port that makes it this flow.
    pub port: u16,
    /// Rate of UDP's data, bit/s of the machine.
    pub rate_bps: Option<u64>,
    /// Octets of data in a datagram, or the largest segment.
    pub length: u16,
    /// Octets of data to send in all.
    pub size: Option<u64>,
    /// When it starts.
    pub start_s: f64,
    /// When it ends at the latest.
    pub stop_s: f64,
    /// Whether iperf3 sends it.
    pub iperf3: bool,
}

/// A program in a host.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Program {
    /// The host.
    pub host: String,
    /// The command.
    pub command: String,
    /// When it begins, s of the machine after the start.
    pub start_s: f64,
}

impl Layout {
    /// The layout of a plan.
    ///
    /// # Errors
    /// If the testbed cannot do what the scenario asks for: the first such thing, and what it can do.
    pub fn new(plan: &Plan) -> Result<Self, TestbedError> {
        check(plan)?;
        let network = &plan.network;
        let name = |node: NodeId| plan.node_names[node.index()].clone();
        let ids = (0..network.nodes.len() as u32).map(NodeId);
        let nodes = ids.map(|id| {
            let host = network.nodes[id.index()].kind == NodeKind::Host;
            let peers = ports_of(network, id).into_iter().map(|port| name(network.ports[port.index()].peer));
            Node {
                name: name(id),
                host,
                mac: station(network, id).to_string(),
                address: host.then(|| address(id)),
                ecn: flows_with_ecn(plan, id).any(|ecn| ecn),
                peers: peers.collect(),
            }
        });
        let once = network.ports.iter().filter(|port| port.node < port.peer);
        let tagged = network.flows.iter().any(|flow| is_tagged(plan, flow));
        let longest = network.flows.iter().map(|flow| flow.frame).max().unwrap_or(1518);
        let host_mtu = longest - ETHERNET - FCS as u16 - VLAN_OCTETS - if tagged { CN_TAG_OCTETS } else { 0 };
        let program = |own: &penstock_scenario::Application| Program {
            host: plan.node_names[own.host].clone(),
            command: own.command.clone(),
            start_s: own.start.as_seconds(),
        };
        Ok(Self {
            nodes: nodes.collect(),
            wires: once.map(|port| (name(port.node), name(port.peer))).collect(),
            flows: (0..network.flows.len()).map(|flow| sender(plan, flow, host_mtu)).collect(),
            applications: plan.testbed.applications.iter().map(program).collect(),
            host_mtu,
            wire_mtu: longest + OTHER_TAGS,
            time_scale: plan.testbed.time_scale,
            duration_s: seconds(plan, Instant::ZERO + plan.duration),
            notes: notes(plan),
        })
    }
}

/// The IPv4 address of a host.
#[must_use]
pub fn address(node: NodeId) -> String {
    let number = node.0 + 1;
    format!("10.99.{}.{}", number >> 8, number & 0xff)
}

/// For each TCP flow from a host, whether its segments may be marked.
fn flows_with_ecn(plan: &Plan, host: NodeId) -> impl Iterator<Item = bool> + '_ {
    use penstock_endpoint::transport::Transport;
    let flows = plan.network.flows.iter().zip(&plan.flow_ends).filter(move |(_, ends)| ends.0 == host.index());
    flows.filter_map(|(flow, _)| match flow.transport.as_ref()?.transport {
        Transport::Tcp(ref config) => Some(config.marks()),
        _ => None,
    })
}

/// A time of the network in seconds of the machine.
fn seconds(plan: &Plan, at: Instant) -> f64 {
    at.0 as f64 / PS_PER_S as f64 * plan.testbed.time_scale as f64
}

fn is_tagged(plan: &Plan, flow: &Flow) -> bool {
    flow.reaction_point.is_some() && plan.scheme() != "none"
}

fn sender(plan: &Plan, index: usize, host_mtu: u16) -> Sender {
    let network = &plan.network;
    let flow = &network.flows[index];
    let (source, destinations) = &plan.flow_ends[index];
    let tags = VLAN_OCTETS + if is_tagged(plan, flow) { CN_TAG_OCTETS } else { 0 };
    let tcp = flow.transport.as_ref().map(|carriage| congestion(&carriage.transport));
    let length = match tcp {
        Some(_) => host_mtu - IPV4 - 20,
        None => flow.frame - FCS as u16 - ETHERNET - tags - IPV4 - UDP,
    };
    let rate = |rate: BitRate| {
        let frame = u64::from(flow.frame) + u64::from(network.wire_overhead);
        let share = u128::from(rate.0) * u128::from(length) / u128::from(frame);
        (share / u128::from(plan.testbed.time_scale)).max(1) as u64
    };
    let line = network.ports[ports_of(network, NodeId(*source as u32))[0].index()].rate;
    let rate_bps = match (flow.traffic, &tcp) {
        (Traffic::Constant(own) | Traffic::Poisson(own), _) => Some(rate(own)),
        (Traffic::OnOff { rate: own, .. }, _) => Some(rate(own)),
        // Somewhat more than the line carries, so that a frame always waits.
        (Traffic::Greedy, None) => Some(rate(BitRate(line.0 + line.0 / 20))),
        (Traffic::Greedy, Some(_)) => None,
    };
    let end = Instant::ZERO + plan.duration;
    Sender {
        name: plan.flow_names[index].clone(),
        source: plan.node_names[*source].clone(),
        destination: plan.node_names[destinations[0]].clone(),
        tcp,
        port: FIRST_PORT + index as u16,
        rate_bps,
        length,
        // Without a transport, a size counts octets of frames: as many frames as the simulator sends.
        size: flow.size.map(|size| match flow.transport {
            Some(_) => size.0,
            None => size.0.div_ceil(u64::from(flow.frame)) * u64::from(length),
        }),
        start_s: seconds(plan, flow.start),
        stop_s: seconds(plan, flow.stop.unwrap_or(end).min(end)),
        iperf3: plan.testbed.iperf3,
    }
}

/// The kernel's name of a transport's congestion control.
fn congestion(transport: &penstock_endpoint::transport::Transport) -> String {
    use penstock_endpoint::transport::Transport;
    use penstock_endpoint::transport::tcp::Congestion;
    match transport {
        Transport::Tcp(config) => match config.congestion {
            Congestion::NewReno => "reno",
            Congestion::Cubic => "cubic",
            Congestion::Dctcp => "dctcp",
            Congestion::Bbr => "bbr",
        },
        _ => "cubic",
    }
    .to_owned()
}

/// Refuses what the testbed cannot do.
fn check(plan: &Plan) -> Result<(), TestbedError> {
    let network = &plan.network;
    let refuse = |message: String| Err(TestbedError::unsuited(message));
    if scheme_frames::visit(&plan.configs(), Known).is_none() {
        return Err(TestbedError::no_form(plan));
    }
    if network.flows.len() > MOST_FLOWS {
        return refuse(format!("{} flows: the testbed has at most {MOST_FLOWS}", network.flows.len()));
    }
    if plan.single < network.flows.len() || !network.processes.list.is_empty() || !network.dependencies.is_empty() {
        return refuse(
            "the testbed runs flows of [[flow]] that start at a time, no [[load]], [[incast]], [[burst]] or after"
                .to_owned(),
        );
    }
    if let Some(flow) = plan.flow_ends.iter().position(|(_, destinations)| destinations.len() != 1) {
        return refuse(format!(
            "flow {}: {} destinations: a flow of the testbed is UDP or TCP to one address, and its switches know no groups",
            plan.flow_names[flow],
            plan.flow_ends[flow].1.len()
        ));
    }
    if network.changes.iter().any(|change| matches!(change.event, PortEvent::Down | PortEvent::Up)) {
        return refuse("[[change]]: the testbed changes rates of links, and breaks none".to_owned());
    }
    if !network.storms.is_empty() || !network.receivers.is_empty() {
        return refuse("[[host]] and [[event]]: the testbed's interfaces send no pause frames".to_owned());
    }
    if plan.is_credited() || plan.is_retried() {
        return refuse("[[credits]] and [[retry]]: the testbed's links have neither".to_owned());
    }
    if plan.is_impaired() {
        return refuse("[[impairment]]: the testbed's links lose no frames at random".to_owned());
    }
    if !plan.parameter_changes.is_empty() {
        return refuse("[[change]]: parameters of a scheme last for the run on the testbed".to_owned());
    }
    if network.load_balancing.is_some() {
        return refuse("load_balancing: on the testbed there is one way to each host".to_owned());
    }
    if matches!(network.feedback, Feedback::Ideal(_)) {
        return refuse("feedback: on the testbed signals are frames (\"in-band\")".to_owned());
    }
    if control_priority(network).is_none() {
        return refuse("flows have all eight priorities: the testbed needs one for control frames".to_owned());
    }
    for host in (0..network.nodes.len() as u32).map(NodeId) {
        let ecn: Vec<bool> = flows_with_ecn(plan, host).collect();
        if ecn.contains(&true) && ecn.contains(&false) {
            return refuse(format!(
                "{}: TCP flows with ecn and without: the kernel of a host has one setting for all",
                plan.node_names[host.index()]
            ));
        }
    }
    let links = network.ports.len() / 2;
    let hosts_with =
        |id: &NodeId| network.nodes[id.index()].kind == NodeKind::Host && ports_of(network, *id).len() != 1;
    if let Some(host) = (0..network.nodes.len() as u32).map(NodeId).find(hosts_with) {
        return refuse(format!("{} has several links: a host of the testbed has one", plan.node_names[host.index()]));
    }
    if links >= network.nodes.len() {
        return refuse(format!(
            "{} nodes with {links} links have a loop: switches of the testbed learn addresses, so links must form a tree",
            network.nodes.len()
        ));
    }
    check_flows(plan)
}

fn check_flows(plan: &Plan) -> Result<(), TestbedError> {
    for (flow, name) in plan.network.flows.iter().zip(&plan.flow_names) {
        if flow.frame < SHORTEST || flow.frame > 1522 {
            return Err(TestbedError::unsuited(format!(
                "flow {name}: frames of {} octets: the testbed's have {SHORTEST} to 1522",
                flow.frame
            )));
        }
        if let Some(carriage) = &flow.transport
            && !matches!(carriage.transport, penstock_endpoint::transport::Transport::Tcp(_))
        {
            return Err(TestbedError::unsuited(format!(
                "flow {name}: transport {}: the kernel has TCP alone",
                carriage.transport.info().name
            )));
        }
    }
    Ok(())
}

/// Answers for every scheme that has a form on the wire.
struct Known;

impl penstock_schemes::Visitor for Known {
    type Output = ();

    fn visit<S: Scheme>(self, _: &[S::Config]) {}
}

/// Known differences from the simulator.
fn notes(plan: &Plan) -> Vec<String> {
    let mut notes = Vec::new();
    let flows = &plan.network.flows;
    if flows.iter().any(|flow| matches!(flow.traffic, Traffic::Poisson(_) | Traffic::OnOff { .. })) {
        notes.push("Flows of random or on-off traffic are sent at a constant rate.".to_owned());
    }
    if flows.iter().any(|flow| matches!(flow.excess, Excess::Wait | Excess::Stall) && flow.transport.is_none()) {
        notes.push(
            "Applications do not wait for the reaction point: their excess is discarded at the interface, where 64 \
             frames of a flow wait."
                .to_owned(),
        );
    }
    if !plan.windows.is_empty() {
        notes.push("Windows of measurement are not measured: the tables hold the same times.".to_owned());
    }
    if !plan.network.trimmed.is_empty() {
        notes.push(
            "A frame that a switch cuts down to its header is lost to its host, whose kernel takes no header without data: the interface \
             counts it (trimmed)."
                .to_owned(),
        );
    }
    if (0..).zip(plan.code_points).any(|(priority, points)| points.pcp != priority || points.dscp != priority << 3) {
        notes.push(
            "Frames of the testbed have their priority as PCP, whatever [[priority]] says of code points.".to_owned(),
        );
    }
    if plan.testbed.time_scale > 1 && flows.iter().any(|flow| flow.transport.is_some()) {
        notes.push("The kernel's TCP keeps its own timers, which the time scale does not slow down.".to_owned());
    }
    notes
}
