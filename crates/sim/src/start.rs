//! The start of a run: the sources and destinations of a network, and an event queue that suits it.

use penstock_endpoint::{Destination, DestinationId, FlowSpec, LimiterId, LimiterSpec};
use penstock_schemes::{Duration, Scheme};

use crate::engine::Sources;
use crate::event_queue::{EventQueue, Lane, NO_LANE, RELEASES};
use crate::generator::{Generator, Source};
use crate::network::{Capacity, Flow, FlowId, HopId, Network, NodeKind, Pacer, Port, PortId, RpId, Traffic, Transmit};
use crate::random::{Owner, Stream};
use crate::records::FlowRecord;
use crate::transport::{Connection, Reception, Transports};

/// The sources and destinations of a network, flow by flow.
pub(crate) struct Endpoints<'n, S: Scheme> {
    network: &'n Network,
    configs: &'n [S::Config],
    seed: u64,
    pub(crate) sources: Sources<S>,
    pub(crate) records: Vec<FlowRecord>,
    pub(crate) transports: Transports,
    pub(crate) destinations: Vec<Destination<S, Stream>>,
    pub(crate) leaves: Vec<HopId>,
    pub(crate) destination_of: Vec<DestinationId>,
}

impl<'n, S: Scheme> Endpoints<'n, S> {
    /// The limiters with reaction points; flows are added in order.
    pub(crate) fn new(network: &'n Network, configs: &'n [S::Config], seed: u64) -> Self {
        let mut endpoints = Self {
            network,
            configs,
            seed,
            sources: Sources::new(network.ports.len(), network.wire_overhead),
            records: Vec::with_capacity(network.flows.len()),
            transports: Transports::new(network.transmit),
            destinations: Vec::new(),
            leaves: Vec::new(),
            destination_of: vec![DestinationId::NONE; network.hops.len()],
        };
        // The flows of a reaction point share a priority.
        let mut of_limiters = vec![configs.first(); network.reaction_points.len()];
        for flow in &network.flows {
            if let Some(RpId(rp)) = flow.reaction_point {
                of_limiters[rp as usize] = Some(endpoints.config(flow));
            }
        }
        for (spec, config) in network.reaction_points.iter().zip(of_limiters) {
            let config = config.expect("a network with reaction points has priorities");
            endpoints.add_limiter(spec.port, spec.pacer, Some(config));
        }
        endpoints
    }

    /// The scheme's parameters for the priority of `flow`.
    fn config(&self, flow: &Flow) -> &'n S::Config {
        &self.configs[self.network.class(flow.priority).index()]
    }

    fn add_limiter(&mut self, port: PortId, pacer: Pacer, config: Option<&S::Config>) -> LimiterId {
        let draw = Stream::new(self.seed, Owner::ReactionPoint, self.sources.limiters().len());
        let host_port = &self.network.ports[port.index()];
        let spec = LimiterSpec::new(port, host_port.rate, pacer, config, draw);
        self.sources.add_limiter(spec, host_port.capacity == Capacity::Arbiter)
    }

    /// Adds flow `id`, with a limiter of its own if nothing controls it, and its destinations.
    pub(crate) fn add_flow(&mut self, id: FlowId, flow: &Flow) {
        let (network, config) = (self.network, self.config(flow));
        let first = DestinationId(self.destinations.len() as u32);
        for leaf in network.route(id).filter(|hop| network.hops[hop.index()].children == 0) {
            let draw = Stream::new(self.seed, Owner::NotificationPoint, self.destinations.len());
            self.destination_of[leaf.index()] = DestinationId(self.destinations.len() as u32);
            self.destinations.push(Destination::new(config, id.key(), draw));
            self.leaves.push(leaf);
        }
        let destinations = self.destinations.len() as u32 - first.0;
        let limiter = match flow.reaction_point {
            Some(RpId(rp)) => LimiterId(rp),
            None => self.add_limiter(network.hops[flow.root.index()].port, Pacer::Ideal, None),
        };
        let generator = Generator::new(flow, network.wire_overhead, self.seed, id);
        let frames = generator.frames().filter(|_| flow.transport.is_none());
        self.records.push(FlowRecord::new(first, destinations, frames));
        let spec = FlowSpec { class: network.class(flow.priority), frame: flow.frame, destinations };
        let connection = flow.transport.as_ref().map(|carriage| {
            let class = carriage.acks.map_or(network.control_class(), |priority| network.class(priority));
            self.transports.receptions.resize_with(id.index() + 1, || None);
            self.transports.receptions[id.index()] =
                Some(Box::new(Reception::new(&carriage.transport, flow.size, carriage.way_back, class)));
            Box::new(Connection::new(&carriage.transport, flow.size, network.transmit != Transmit::Pull))
        });
        self.sources.add_flow(limiter, spec, Source { generator, root: flow.root, connection });
    }
}

/// A queue whose spans suit the network: how far ahead deliveries and releases are, and how many events come.
pub(crate) fn event_queue_for(network: &Network) -> EventQueue {
    let largest = network.flows.iter().map(|f| f.frame).max().unwrap_or(1500);
    let octets = u64::from(largest) + u64::from(network.wire_overhead);
    let ahead = network.ports.iter().map(|p| p.rate.serialisation(octets).0 + p.latency);
    let reach = ahead.max().unwrap_or(Duration::ZERO);
    let per_second = network.flows.iter().enumerate().map(|(index, flow)| {
        let line = network.ports[network.hops[flow.root.index()].port.index()].rate.0;
        let rate = match flow.traffic {
            Traffic::Constant(rate) | Traffic::Poisson(rate) | Traffic::OnOff { rate, .. } => rate.0.min(line),
            Traffic::Greedy => line,
        };
        let hops = network.route(FlowId(index as u32)).count() as f64;
        rate as f64 / (8.0 * octets as f64) * (hops + 1.0)
    });
    debug_assert!(network.nodes.iter().any(|n| n.kind == NodeKind::Host) || network.flows.is_empty());
    EventQueue::new(reach, per_second.sum())
}

/// The lane of each port's deliveries. The kinds of lines that most ports have get one each: rate, latency, and whether a host
/// sends on them. A switch's port with a backlog learns late that its next frame has started, when hosts' ports have made
/// later deliveries already, so that the two do not go well together.
pub(crate) fn lanes(network: &Network) -> Vec<Lane> {
    let kind_of = |port: &Port| (port.rate, port.latency, network.nodes[port.node.index()].kind == NodeKind::Host);
    let mut kinds = std::collections::BTreeMap::new();
    for port in &network.ports {
        *kinds.entry(kind_of(port)).or_insert(0) += 1;
    }
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_by_key(|&(_, ports)| std::cmp::Reverse(ports));
    let common = &kinds[..kinds.len().min(usize::from(RELEASES))];
    let lane = |port| common.iter().position(|&(kind, _)| kind == kind_of(port)).map_or(NO_LANE, |lane| lane as Lane);
    network.ports.iter().map(lane).collect()
}
