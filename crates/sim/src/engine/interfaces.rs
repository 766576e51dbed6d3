//! Network interfaces that pause their switch: storms, and receive buffers that are drained slowly.

use std::collections::{BTreeMap, VecDeque};

use penstock_endpoint::TrafficClass;
use penstock_schemes::{BitRate, Duration, Instant, Scheme};
use penstock_switch::Model;
use penstock_switch::events::FrameId;
use penstock_switch::state::port::SENDS_PAUSES;

use crate::engine::Sim;
use crate::network::{Network, NodeId, PortId, Receiver, Storm};
use crate::probe::Probe;
use crate::state::Fabric;
use crate::state::event::{ChangeId, Entity, Event};
use crate::state::event_queue::NO_LANE;

/// The beginning or the end of a storm.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StormEdge {
    pub(crate) at: Instant,
    /// The port that is paused.
    port: PortId,
    class: TrafficClass,
    /// The distance of pause frames; zero at the end.
    interval: Duration,
}

/// The beginnings and ends of all storms.
pub(crate) fn edges(network: &Network) -> Vec<StormEdge> {
    let of_storm = |storm: &Storm| {
        let (port, from, until, interval) = (storm.link.0, storm.from, storm.until, storm.interval);
        let edges = move |class| {
            let edge = |at, interval| StormEdge { at, port, class, interval };
            [edge(from, interval), edge(until, Duration::ZERO)]
        };
        storm.priorities.iter().map(|&priority| network.class(priority)).flat_map(edges).collect::<Vec<_>>()
    };
    network.storms.iter().flat_map(of_storm).filter(|edge| edge.at != Instant::NEVER).collect()
}

/// The receive buffer of an interface.
#[derive(Debug)]
pub(crate) struct ReceiveBuffer {
    host: NodeId,
    rate: BitRate,
    buffer: u64,
    /// Octets of each class.
    held: Vec<u64>,
    waiting: VecDeque<FrameId>,
    /// When the last of them leaves, and the remainder of that time in 1/rate picoseconds.
    busy_until: Instant,
    remainder: u64,
}

impl ReceiveBuffer {
    /// The frames that wait.
    pub(crate) fn frames(&self) -> impl Iterator<Item = FrameId> + '_ {
        self.waiting.iter().copied()
    }

    /// When a frame of `octets` leaves that comes now.
    fn serve(&mut self, now: Instant, octets: u16) -> Instant {
        let (time, remainder) = self.rate.serialisation(octets.into());
        self.remainder += remainder;
        let whole = u64::from(self.remainder >= self.rate.0);
        self.remainder -= whole * self.rate.0;
        self.busy_until = self.busy_until.max(now) + Duration(time.0 + whole);
        self.busy_until
    }
}

/// The receive buffers of a network, by the port that leads to each.
pub(crate) type ReceiveBuffers = BTreeMap<PortId, ReceiveBuffer>;

/// Those of a network at the start. The thresholds of flow control are set, and the ports that send pause frames are known.
pub(crate) fn receive_buffers<S: Scheme, M: Model>(network: &Network, fabric: &mut Fabric<S, M>) -> ReceiveBuffers {
    let storms = network.storms.iter().map(|storm| storm.link.1);
    for port in network.receivers.iter().map(|receiver| receiver.link.1).chain(storms) {
        fabric.ports[port.index()].attention |= SENDS_PAUSES;
    }
    let buffer = |receiver: &Receiver| {
        let line = receiver.link.0;
        let host = network.ports[line.index()].peer;
        fabric.pauses.bound(line, receiver.xoff, receiver.xon);
        let held = vec![0; network.queues_per_port()];
        let (rate, buffer) = (receiver.rate, receiver.buffer.0);
        let waiting = VecDeque::new();
        (line, ReceiveBuffer { host, rate, buffer, held, waiting, busy_until: Instant::ZERO, remainder: 0 })
    };
    network.receivers.iter().map(buffer).collect()
}

impl<S: Scheme, P: Probe<S>, M: Model> Sim<S, P, M> {
    /// A storm begins or ends.
    #[cold]
    pub(crate) fn storm(&mut self, id: ChangeId) {
        let StormEdge { port, class, interval, .. } = self.storms[id.index()];
        // It happens in all parts, and is one event.
        if self.part.as_ref().is_some_and(|part| !part.has_peer(port)) {
            self.housekeeping += 1;
        } else {
            self.state.fabric.pauses.storm(port, class, interval);
        }
    }

    /// A frame has reached a network interface over the line of `port`, and waits there to be processed.
    #[cold]
    pub(crate) fn join_receive_buffer(&mut self, index: FrameId, port: PortId) {
        let fabric = &mut self.state.fabric;
        let slot = fabric.frames.get(index);
        let (hop, class, octets, kind) = (slot.hop, slot.class, slot.octets, slot.kind());
        let buffer = self.receive_buffers.get_mut(&port).expect("steps lead to interfaces that have buffers");
        let held = &mut buffer.held[class.index()];
        if *held + u64::from(octets) > buffer.buffer {
            self.state.hosts[buffer.host.index()].receive_drops += 1;
            self.count_drop(hop, kind);
            self.state.fabric.frames.remove(index);
            return;
        }
        *held += u64::from(octets);
        buffer.waiting.push_back(index);
        let at = buffer.serve(fabric.now, octets);
        if fabric.pauses.stops_neighbours() {
            let counter = fabric.pauses.counter_of(port, class);
            fabric.pauses.hold(index, counter, octets);
        }
        fabric.events.schedule_from(NO_LANE, at, Event::Drained(index), Entity::from(port));
    }

    /// The first frame of a receive buffer has been processed.
    #[cold]
    pub(crate) fn leave_receive_buffer(&mut self, index: FrameId) {
        let fabric = &mut self.state.fabric;
        let slot = fabric.frames.get(index);
        let (hop, class, octets) = (slot.hop, slot.class, slot.octets);
        let port = self.hops[hop.index()].port;
        let buffer = self.receive_buffers.get_mut(&port).expect("frames are drained from buffers");
        assert_eq!(buffer.waiting.pop_front(), Some(index), "first come, first served");
        buffer.held[class.index()] -= u64::from(octets);
        if fabric.pauses.stops_neighbours() {
            fabric.pauses.let_go(index, octets);
        }
        let flow = fabric.flow_at(hop);
        if self.state.sources.flow(flow).supply().connection.is_some() {
            self.segment_arrives(index);
        } else {
            self.arrive(index);
        }
    }
}
