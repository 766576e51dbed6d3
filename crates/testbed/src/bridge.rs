//! A switch without input or output: frames come in with their times, frames go out with theirs.
//!
//! It learns addresses, floods what it does not know, gives each priority a queue with the scheme's congestion point, and
//! sends the signals of congestion points as frames to the sources of the sampled ones.

use penstock_scenario::Plan;
use penstock_schemes::{BitRate, Class, CongestionPoint, Duration, FlowKey, Instant, Octets, Place, To};
use penstock_sim::network::{Capacity, NodeId, PortId};
use penstock_sim::random::{Owner, Stream};
use penstock_wire::MacAddress;

use crate::addressing::{FIRST_PORT, control_priority, flow_ports, is_reserved, ports_of, station};
use crate::frame::{Header, length};
use crate::learning::Learned;
use crate::pause::{self, Ingress, Stops};
use crate::port::{Departure, Held, Kind, Line, Port, QueueState, Released, Sent, no_words};
use crate::scheme_frames::{Addressing, OnWire};

/// The most stations that a switch learns.
const STATIONS: usize = 4096;

/// After so much time without a frame a station is forgotten (802.1Q, clause 8.8.3: 300 s), on the clock of the network.
const AGE: Duration = Duration::from_ms(300_000);

/// Facts about a flow that its frames do not carry.
#[derive(Debug, Clone, Copy)]
struct Flow {
    weight: u16,
    priority: u8,
    class: usize,
    source: MacAddress,
    destination: MacAddress,
}

/// Counts of a switch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Counts {
    /// Frames that came.
    pub frames: u64,
    /// Frames that were none, or for addresses that no bridge forwards; pause frames where there is no flow control.
    pub refused: u64,
    /// Frames sent to all ports, since their station was not known.
    pub flooded: u64,
    /// Control frames that found no room.
    pub control_lost: u64,
    /// Signals that name no flow, or whose source is not known.
    pub signals_lost: u64,
    /// Pause frames that came, and that a port has obeyed.
    pub pauses: u64,
    /// Pause frames that were sent.
    pub pauses_sent: u64,
}

/// A switch.
#[derive(Debug)]
pub struct Bridge<S: OnWire> {
    own: MacAddress,
    ports: Vec<Port<S>>,
    /// The scenario's ports, under the indices of these.
    ids: Vec<PortId>,
    flows: Vec<Flow>,
    priorities: Vec<u8>,
    control: u8,
    learned: Learned,
    counts: Counts,
    /// Drops of each flow's data.
    dropped: Vec<u64>,
    now: Instant,
    sent: Vec<Sent<S>>,
}

impl<S: OnWire> Bridge<S> {
    /// The switch `node` of a plan, with the scheme's parameters for each priority.
    #[must_use]
    pub fn new(plan: &Plan, node: NodeId, configs: &[S::Config]) -> Self {
        let network = &plan.network;
        let ids = ports_of(network, node);
        let class = |priority: u8| network.priorities.iter().position(|&p| p == priority).unwrap_or_default();
        let flow = |(flow, ends): (&penstock_sim::network::Flow, &(usize, Vec<usize>))| Flow {
            weight: flow.weight,
            priority: flow.priority,
            class: class(flow.priority),
            source: station(network, NodeId(ends.0 as u32)),
            destination: station(network, NodeId(ends.1[0] as u32)),
        };
        Self {
            own: station(network, node),
            ports: ids.iter().map(|&id| port(plan, id, configs)).collect(),
            ids,
            flows: network.flows.iter().zip(&plan.flow_ends).map(flow).collect(),
            priorities: network.priorities.clone(),
            control: control_priority(network).expect("a network whose data has all priorities is refused"),
            learned: Learned::new(STATIONS, AGE),
            counts: Counts::default(),
            dropped: vec![0; network.flows.len()],
            now: Instant::ZERO,
            sent: Vec::new(),
        }
    }

    /// The scenario's ports, under the indices of this switch's.
    #[must_use]
    pub fn ids(&self) -> &[PortId] {
        &self.ids
    }

    /// Its ports.
    #[must_use]
    pub fn ports(&self) -> &[Port<S>] {
        &self.ports
    }

    /// Octets in the queue of a class at a port.
    #[must_use]
    pub fn queue_len(&self, port: usize, class: usize) -> u64 {
        self.ports[port].queues[class].len
    }

    /// Counts of the queue of a class at a port.
    #[must_use]
    pub fn queue_counts(&self, port: usize, class: usize) -> crate::port::Counts {
        self.ports[port].queues[class].counts
    }

    /// Its counts.
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts { pauses_sent: self.ports.iter().map(|port| port.ingress().sent()).sum(), ..self.counts }
    }

    /// Drops of each flow's data here.
    #[must_use]
    pub fn dropped(&self) -> &[u64] {
        &self.dropped
    }

    /// The time that it has reached.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.now
    }

    /// When something happens by itself.
    #[must_use]
    pub fn next_event(&self) -> Instant {
        self.ports.iter().map(Port::next_event).fold(Instant::NEVER, Instant::min)
    }

    /// Handles everything that happens up to `now`, in order of time.
    pub fn advance(&mut self, now: Instant) {
        loop {
            let next = self.ports.iter().map(Port::next_event).enumerate().min_by_key(|&(port, at)| (at, port));
            let Some((port, at)) = next.filter(|&(_, at)| at <= now) else { break };
            self.now = self.now.max(at);
            let mut sent = std::mem::take(&mut self.sent);
            self.ports[port].step(at, &mut sent);
            self.release(port);
            self.post(&mut sent);
            self.sent = sent;
        }
        self.now = self.now.max(now);
    }

    /// A frame has arrived at `port` at `at`. If `at` is in the past, it counts as arrived now.
    pub fn receive(&mut self, at: Instant, port: usize, octets: Vec<u8>) {
        self.advance(at.max(self.now));
        let now = self.now;
        self.counts.frames += 1;
        let Some(header) = Header::read(&octets) else {
            self.counts.refused += 1;
            return;
        };
        if is_reserved(header.destination) {
            match pause::times(&octets, &header).filter(|_| self.ports[port].obeys()) {
                Some(times) => self.pause(now, port, times),
                None => self.counts.refused += 1,
            }
            return;
        }
        self.learned.learn(now, header.source, port);
        match self.learned.port(now, header.destination) {
            // It has come from where it would go to.
            Some(to) if to == port => {}
            Some(to) => self.forward(now, port, to, &header, octets),
            None => {
                self.counts.flooded += 1;
                for to in (0..self.ports.len()).filter(|&to| to != port) {
                    self.forward(now, port, to, &header, octets.clone());
                }
            }
        }
    }

    /// The next frame that has left, and its port.
    pub fn poll_departure(&mut self) -> Option<(usize, Departure)> {
        self.ports.iter_mut().enumerate().find_map(|(port, state)| Some((port, state.poll_departure()?)))
    }

    /// The rate of a port changes.
    pub fn set_rate(&mut self, now: Instant, port: usize, rate: BitRate) {
        self.advance(now);
        self.ports[port].set_rate(now, rate);
    }

    /// Statistics begin again.
    pub fn start_measuring(&mut self, now: Instant) {
        self.advance(now);
        for port in &mut self.ports {
            port.start_measuring(now);
        }
    }

    /// Statistics include all time up to `now`.
    pub fn finish(&mut self, now: Instant) {
        self.advance(now);
        for port in &mut self.ports {
            port.pass(now);
        }
    }

    fn forward(&mut self, now: Instant, from: usize, to: usize, header: &Header, octets: Vec<u8>) {
        let class = header.priority.and_then(|own| self.priorities.iter().position(|&p| p == own));
        let flow = header.flow.filter(|&flow| usize::from(flow) < self.flows.len());
        let control = self.priorities.len();
        let kind = match S::parse(&octets) {
            Some((flow, _)) => match self.flows.get(usize::from(flow)) {
                Some(facts) if facts.destination == header.destination => Kind::Probe { class: facts.class },
                _ => Kind::Other,
            },
            None if class.is_some() => {
                let weight = flow.map_or(1, |flow| self.flows[usize::from(flow)].weight);
                Kind::Data { flow, weight }
            }
            None => Kind::Other,
        };
        let class = class.unwrap_or(control);
        let room = self.ports[from].ingress().has_room(class, length(octets.len()));
        let from = room.map(|_| from);
        self.enqueue(now, to, class, Held { octets, kind, from }, room);
    }

    fn enqueue(&mut self, now: Instant, to: usize, class: usize, held: Held, room: Option<bool>) {
        let mut sent = std::mem::take(&mut self.sent);
        let (kind, from, octets) = (held.kind, held.from, length(held.octets.len()));
        let taken = self.ports[to].enqueue(now, class, held, room, &mut sent);
        if let (Some(from), Ok(())) = (from, &taken) {
            self.ports[from].hold(now, class, octets);
        }
        self.release(to);
        if let Err(lost) = taken {
            match kind {
                Kind::Data { flow, .. } => {
                    let flow = flow.map(usize::from).or_else(|| self.flow_of(&lost.octets));
                    if let Some(count) = flow.and_then(|flow| self.dropped.get_mut(flow)) {
                        *count += 1;
                    }
                }
                Kind::Probe { .. } | Kind::Other => self.counts.control_lost += 1,
            }
        }
        self.post(&mut sent);
        self.sent = sent;
    }

    /// Tells ingress buffers of the frames that have left their queues at a port.
    fn release(&mut self, port: usize) {
        while let Some(Released { from, class, octets }) = self.ports[port].poll_released() {
            self.ports[from].let_go(self.now, class, octets);
        }
    }

    /// The flow of a data frame without CN-TAG, by its port: for the counts alone.
    fn flow_of(&self, octets: &[u8]) -> Option<usize> {
        let header = Header::read(octets)?;
        let (_, _, to) = flow_ports::<S>(octets, &header)?;
        let flow = usize::from(to.checked_sub(FIRST_PORT)?);
        self.flows.get(flow).filter(|facts| facts.destination == header.destination).map(|_| flow)
    }

    /// Sends the signals of congestion points, as frames.
    fn post(&mut self, sent: &mut Vec<Sent<S>>) {
        for signal in sent.drain(..) {
            let (To::Source(FlowKey(flow)) | To::Destination(FlowKey(flow)) | To::PreviousHop(FlowKey(flow))) =
                signal.to;
            let known = self.flows.get(flow as usize);
            let station = known.map(|facts| match signal.to {
                To::Destination(_) => facts.destination,
                // The message goes to the station that has sent the sampled frame.
                _ => Header::read(&signal.sampled).map_or(facts.source, |header| header.source),
            });
            let port = station.and_then(|station| self.learned.port(self.now, station));
            let (Some(facts), Some(destination), Some(port)) = (known, station, port) else {
                self.counts.signals_lost += 1;
                continue;
            };
            let (priority, class) = match signal.class {
                Class::Data => (facts.priority, facts.class),
                Class::Control => (self.control, self.priorities.len()),
            };
            let way =
                Addressing { destination, source: self.own, priority, flow: flow as u16, sampled: &signal.sampled };
            let held = Held { octets: S::emit(signal.signal, &way), kind: Kind::Other, from: None };
            // A control frame calls no congestion point, so that nothing more is sent.
            if self.ports[port].enqueue(self.now, class, held, None, &mut Vec::new()).is_err() {
                self.counts.control_lost += 1;
            }
            self.release(port);
        }
    }

    /// A PFC frame stops classes, or lets them go on.
    fn pause(&mut self, now: Instant, port: usize, times: [Option<u16>; 8]) {
        self.counts.pauses += 1;
        for (priority, quanta) in times.into_iter().enumerate() {
            let class = self.priorities.iter().position(|&p| usize::from(p) == priority);
            if let (Some(class), Some(quanta)) = (class, quanta) {
                self.ports[port].pause(now, class, quanta);
            }
        }
        self.release(port);
    }
}

/// A port as the scenario describes it, with congestion points as the simulator makes them.
fn port<S: OnWire>(plan: &Plan, id: PortId, configs: &[S::Config]) -> Port<S> {
    const { assert!(!S::Cp::ADMITS, "a congestion point that decides on frames needs to be asked here") };
    let network = &plan.network;
    let spec = &network.ports[id.index()];
    let largest = network.flows.iter().map(|flow| u64::from(flow.frame)).max().unwrap_or_default();
    let capacity = match spec.capacity {
        Capacity::Octets(octets) => octets,
        Capacity::Frames(frames) => Octets(u64::from(frames) * largest),
        Capacity::Arbiter => Octets(u64::MAX),
    };
    let phase = match network.own_clocks {
        true => Stream::new(plan.seed, Owner::Clock, spec.node.index()).offset(),
        false => Duration::ZERO,
    };
    let queue = |(&priority, config): (&u8, &S::Config)| {
        let place = Place { cp: network.cp_id(id, priority), line: spec.rate, capacity, phase };
        let cp = spec.congestion_points.then(|| <S::Cp as CongestionPoint<S>>::new(config, place));
        let own = network.queue(id, priority);
        QueueState::new(spec.capacity, cp, Stream::new(plan.seed, Owner::CongestionPoint, own.index()))
    };
    let mut queues: Vec<_> = network.priorities.iter().zip(configs).map(queue).collect();
    queues.push(QueueState::new(Capacity::Octets(network.control_capacity), None, no_words()));
    let line = Line {
        rate: spec.rate,
        latency: spec.latency,
        overhead: network.wire_overhead,
        in_service_counts: network.in_service_counts,
    };
    let own = station(network, spec.node);
    Port::new(line, queues, Stops::new(network, id), Ingress::new(network, id, own))
}
