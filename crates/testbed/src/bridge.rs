//! A switch without input or output: frames come in with their times, frames go out with theirs.
//!
//! The switch is `penstock_switch`'s, as in the simulator: queues, congestion points, marks, pools, trimming, flow control, watchdog. This
//! file has what real frames need beside it. It learns addresses and floods frames for those that it does not know. It reads from a frame
//! what the switch is to know of it, writes what the switch has changed, and makes frames of signals and pauses.
//!
//! Frames come with the times at which the kernel has received them, and leave at the times at which they reach the far end of the line. So
//! a queue is as long as it would be before a real line, however late the process is woken.

use std::collections::VecDeque;

use penstock_endpoint::TrafficClass;
use penstock_scenario::Plan;
use penstock_schemes::{BitRate, Class, Duration, FlowKey, HEADER, Instant, Octets, To};
use penstock_sim::network::{Network, NodeId, PortEvent, PortId};
use penstock_switch::datapath::Outbox;
use penstock_switch::datapath::enqueue::Enqueued;
use penstock_switch::datapath::pausing::Landed;
use penstock_switch::events::{FrameId, HopId, QueueId};
use penstock_switch::flow_control::pause::bits;
use penstock_switch::flow_control::pause_frames::PauseFrame;
use penstock_switch::state::frame::{Marks, Payload, Slot};
use penstock_switch::state::hop_info::HopInfo;
use penstock_switch::state::port::PortState;
use penstock_switch::{Arrival, Fabric, Full, Timer};
use penstock_wire::{MacAddress, ipv4};

use crate::addressing::{FIRST_PORT, control_priority, flow_ports, is_reserved, ports_of, station};
use crate::agenda::{Agenda, Departure, Due};
use crate::frame::{FCS, Header, length, set_priority};
use crate::learning::Learned;
use crate::pause;
use crate::scheme_frames::{Addressing, OnWire, ecn, set_ecn};
use crate::statistics::{Moments, QueueCounts};

/// The most stations that a switch learns.
const STATIONS: usize = 4096;

/// After so much time without a frame a station is forgotten (802.1Q, clause 8.8.3: 300 s), on the clock of the network.
const AGE: Duration = Duration::from_ms(300_000);

/// The flow of frames that no reaction point limits.
const NOBODY: FlowKey = FlowKey(u32::MAX);

/// Facts about a flow that its frames do not carry.
#[derive(Debug, Clone, Copy)]
struct Flow {
    priority: u8,
    class: TrafficClass,
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
    /// Frames that were cut down to their headers.
    pub trimmed: u64,
    /// Pause frames that came, and that a port has obeyed.
    pub pauses: u64,
    /// Pause frames that were sent.
    pub pauses_sent: u64,
}

/// A port as the bridge knows it.
#[derive(Debug)]
struct OwnPort {
    /// The scenario's port.
    id: PortId,
    /// The port of the opposite direction, over whose line frames come in.
    line: PortId,
    /// Whether the neighbour may stop it: its flow control counts what this port sends.
    obeys: bool,
    /// By class; the control queue last.
    counts: Vec<QueueCounts>,
    /// The integrals of each queue's length at the start of the measurement: octets and octets² by ps, time without an octet.
    before: Vec<(u128, u128, Duration)>,
    departed: VecDeque<Departure>,
}

/// A switch.
#[derive(Debug)]
pub struct Bridge<S: OnWire> {
    own: MacAddress,
    /// All ports of the network, of which only its own have frames.
    fabric: Fabric<S, Agenda, Full>,
    /// The octets of each frame that is here, from the destination address to before the check sequence, by its slot.
    octets: Vec<Vec<u8>>,
    ports: Vec<OwnPort>,
    /// The same ports, in the scenario's numbers.
    ids: Vec<PortId>,
    flows: Vec<Flow>,
    priorities: Vec<u8>,
    /// The time of a pause frame.
    quanta: u16,
    control: u8,
    learned: Learned,
    counts: Counts,
    /// Drops of each flow's data.
    dropped: Vec<u64>,
    measured_from: Instant,
}

impl<S: OnWire> Bridge<S> {
    /// The switch `node` of a plan, with the scheme's parameters for each priority.
    ///
    /// # Panics
    /// If the data of the plan has all eight priorities.
    #[must_use]
    pub fn new(plan: &Plan, node: NodeId, configs: &[S::Config]) -> Self {
        let network = &plan.network;
        let ids = ports_of(network, node);
        let class = |priority: u8| network.priorities.iter().position(|&p| p == priority).unwrap_or_default();
        let flow = |(flow, ends): (&penstock_sim::network::Flow, &(usize, Vec<usize>))| Flow {
            priority: flow.priority,
            class: TrafficClass(class(flow.priority) as u8),
            source: station(network, NodeId(ends.0 as u32)),
            destination: station(network, NodeId(ends.1[0] as u32)),
        };
        let flows: Vec<Flow> = network.flows.iter().zip(&plan.flow_ends).map(flow).collect();
        let mut hops = Vec::with_capacity(flows.len() + 1);
        for ((id, flow), own) in (0..).map(penstock_sim::network::FlowId).zip(&network.flows).zip(&flows) {
            hops.push(HopInfo { flow: id, weight: flow.weight, class: own.class });
        }
        hops.push(HopInfo { flow: penstock_sim::network::FlowId::NONE, weight: 1, class: TrafficClass::NONE });
        let reverse = opposites(network);
        let mut config = network.switches();
        config.reverse.clone_from(&reverse);
        let mut fabric = Fabric::new(&config, hops, configs, plan.seed, Agenda::default());
        for &PortId(id) in &ids {
            // A line that changes counts as it is fastest: a pause that is renewed early does no harm.
            let line = reverse[id as usize];
            fabric.pauses.set_rate(line, fastest(network, line));
        }
        let pfc = network.pfc.as_ref();
        let own_port = |&id: &PortId| OwnPort {
            id,
            line: reverse[id.index()],
            obeys: pfc.is_some_and(|pfc| pfc.ingress[id.index()].is_some()),
            counts: vec![QueueCounts::default(); network.queues_per_port()],
            before: vec![(0, 0, Duration::ZERO); network.queues_per_port()],
            departed: VecDeque::new(),
        };
        Self {
            own: station(network, node),
            fabric,
            octets: Vec::new(),
            ports: ids.iter().map(own_port).collect(),
            ids,
            flows,
            priorities: network.priorities.clone(),
            quanta: pfc.map_or(0, |pfc| pfc.quanta),
            control: control_priority(network).expect("a network whose data has all priorities is refused"),
            learned: Learned::new(STATIONS, AGE),
            counts: Counts::default(),
            dropped: vec![0; network.flows.len()],
            measured_from: Instant::ZERO,
        }
    }

    /// The scenario's ports, under the indices of this switch's.
    #[must_use]
    pub fn ids(&self) -> &[PortId] {
        &self.ids
    }

    /// Octets in the queue of a class at a port.
    #[must_use]
    pub fn queue_len(&self, port: usize, class: usize) -> u64 {
        self.port(port).queues[class].len
    }

    /// Frames in it.
    #[must_use]
    pub fn queue_frames(&self, port: usize, class: usize) -> u32 {
        self.port(port).queues[class].frames()
    }

    /// Its counts.
    #[must_use]
    pub fn queue_counts(&self, port: usize, class: usize) -> QueueCounts {
        let queue = &self.port(port).queues[class];
        let marks = self.port(port).ledger.marks(TrafficClass(class as u8));
        QueueCounts {
            frames_sent: queue.departed,
            octets_sent: queue.sent_octets,
            frames_marked: marks.frames,
            octets_marked: marks.octets,
            ..self.ports[port].counts[class]
        }
    }

    /// Its length since the start of the measurement.
    #[must_use]
    pub fn moments(&self, port: usize, class: usize) -> Moments {
        let statistics = &self.port(port).queues[class].statistics;
        let (area, squared, empty) = self.ports[port].before[class];
        let (min, max) = (u64::from(statistics.min), u64::from(statistics.max));
        let time = self.now().since(self.measured_from).0 as f64;
        if time == 0.0 {
            return Moments { min, max, ..Moments::default() };
        }
        let mean = (statistics.area - area) as f64 / time;
        let variance = (statistics.area_squared - squared) as f64 / time - mean * mean;
        let empty = statistics.empty.0 - empty.0;
        Moments { mean, std: variance.max(0.0).sqrt(), min, max, empty: empty as f64 / time }
    }

    /// The congestion point of a queue, if it has one.
    #[must_use]
    pub fn congestion_point(&self, port: usize, class: usize) -> Option<&S::Cp> {
        let cp = self.port(port).queues[class].cp;
        self.fabric.cps.get(cp.index()).map(|state| &state.cp)
    }

    /// Bits that a port has put on the line up to now, and bits that it could have.
    #[must_use]
    pub fn line_bits(&self, port: usize) -> (u64, u128) {
        let own = self.port(port);
        (own.sent_bits(self.now()), own.scheduled_bits(self.now()))
    }

    /// How long the neighbour has stopped a class of a port until now, by how many frames, how often, and how many frames let it go on.
    #[must_use]
    pub fn paused(&self, port: usize, class: usize) -> (Duration, u64, u64, u64) {
        let (pauses, queue) = (&self.fabric.pauses, self.queue(port, class));
        let (frames, resumes) = (pauses.pause_frames(queue), pauses.resume_frames(queue));
        (pauses.paused(queue, self.now()), frames, pauses.stops_of(queue), resumes)
    }

    /// Octets of a class that came in by a port and are held here; 0 without flow control.
    #[must_use]
    pub fn held(&self, port: usize, class: usize) -> u64 {
        let counter = self.fabric.pauses.counter_of(self.ports[port].line, TrafficClass(class as u8));
        self.fabric.pauses.counters.get(counter.index()).map_or(0, |counter| counter.held)
    }

    /// Its counts.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let lines = &self.fabric.pauses.lines;
        let sent = self.ids.iter().filter_map(|id| lines.get(id.index())).map(|line| line.sent);
        Counts { pauses_sent: sent.sum(), ..self.counts }
    }

    /// Drops of each flow's data here.
    #[must_use]
    pub fn dropped(&self) -> &[u64] {
        &self.dropped
    }

    /// The time that it has reached.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.fabric.now
    }

    /// When something happens by itself.
    #[must_use]
    pub fn next_event(&self) -> Instant {
        self.fabric.events.next()
    }

    /// Handles everything that happens up to `now`, in order of time.
    pub fn advance(&mut self, now: Instant) {
        while let Some((at, due)) = self.fabric.events.take(now) {
            self.fabric.now = self.now().max(at);
            self.handle(due);
            self.settle_accounts();
        }
        self.fabric.now = self.now().max(now);
    }

    fn handle(&mut self, due: Due) {
        match due {
            Due::LineFree(port) => self.fabric.settle(port),
            Due::Deliver(port, frame) => self.deliver(port, frame),
            Due::Pause(port, pause) => {
                if let Landed::Arrived(frame) = self.fabric.land_pause(pause) {
                    let octets = self.pause_frame(&frame);
                    self.depart(port, octets);
                }
            }
            Due::Timer(Timer::CongestionPoint(cp)) => {
                let queue = self.fabric.cps[cp.index()].queue;
                let Some((port, class)) = self.own_queue(queue) else { return };
                let mut out = Vec::new();
                self.fabric.cp_timeout(cp, &mut out);
                self.post(port, class, out, &[]);
            }
            Due::Timer(timer) => self.fabric.expire(timer),
        }
    }

    /// After each event: neighbours are stopped or let go, and what the watchdog has dropped is counted.
    fn settle_accounts(&mut self) {
        self.fabric.review();
        // Sources are behind the wire.
        self.fabric.resumed.clear();
        for frame in std::mem::take(&mut self.fabric.flushed) {
            let slot = self.fabric.frames.get(frame);
            let (is_data, class) = (matches!(slot.payload, Payload::Data(_)), slot.class);
            let octets = std::mem::take(&mut self.octets[frame.index()]);
            self.fabric.frames.remove(frame);
            self.count_loss(is_data && class != self.fabric.control_class(), &octets);
        }
    }

    /// A frame has arrived at `port` at `at`. If `at` is in the past, it counts as arrived now.
    pub fn receive(&mut self, at: Instant, port: usize, octets: Vec<u8>) {
        self.advance(at.max(self.now()));
        let now = self.now();
        self.counts.frames += 1;
        let Some(header) = Header::read(&octets) else {
            self.counts.refused += 1;
            return;
        };
        if is_reserved(header.destination) {
            match pause::times(&octets, &header).filter(|_| self.ports[port].obeys) {
                Some(times) => self.obey(port, times),
                None => self.counts.refused += 1,
            }
        } else {
            self.learned.learn(now, header.source, port);
            match self.learned.port(now, header.destination) {
                // It has come from where it would go to.
                Some(to) if to == port => {}
                Some(to) => self.forward(port, to, &header, octets),
                None => {
                    self.counts.flooded += 1;
                    for to in (0..self.ports.len()).filter(|&to| to != port) {
                        self.forward(port, to, &header, octets.clone());
                    }
                }
            }
        }
        self.settle_accounts();
    }

    /// The next frame that has left, and its port.
    pub fn poll_departure(&mut self) -> Option<(usize, Departure)> {
        self.ports.iter_mut().enumerate().find_map(|(port, state)| Some((port, state.departed.pop_front()?)))
    }

    /// The rate of a port changes.
    pub fn set_rate(&mut self, now: Instant, port: usize, rate: BitRate) {
        self.advance(now);
        self.fabric.set_rate(self.ids[port], rate);
    }

    /// Brings all queues to the present.
    pub fn settle(&mut self, now: Instant) {
        self.advance(now);
        self.fabric.settle_all();
    }

    /// Statistics begin again.
    pub fn start_measuring(&mut self, now: Instant) {
        self.finish(now);
        self.measured_from = now;
        for own in &mut self.ports {
            let queues = &mut self.fabric.ports[own.id.index()].queues;
            for (queue, before) in queues.iter_mut().zip(&mut own.before) {
                let statistics = &mut queue.statistics;
                statistics.restart_extremes(queue.len);
                *before = (statistics.area, statistics.area_squared, statistics.empty);
            }
        }
    }

    /// Statistics include all time up to `now`.
    pub fn finish(&mut self, now: Instant) {
        self.settle(now);
        for id in &self.ids {
            for queue in &mut self.fabric.ports[id.index()].queues {
                queue.statistics.pass(now, queue.len);
            }
        }
    }

    fn port(&self, port: usize) -> &PortState {
        self.fabric.port(self.ids[port])
    }

    fn queue(&self, port: usize, class: usize) -> QueueId {
        self.fabric.queue_at(self.ids[port], TrafficClass(class as u8))
    }

    /// The index of the port of a queue, and its class; `None` for a queue of another node.
    fn own_queue(&self, queue: QueueId) -> Option<(usize, TrafficClass)> {
        let (id, class) = self.fabric.port_and_class(queue);
        Some((self.ids.iter().position(|&own| own == id)?, class))
    }

    fn forward(&mut self, from: usize, to: usize, header: &Header, octets: Vec<u8>) {
        let class = header.priority.and_then(|own| self.priorities.iter().position(|&p| p == own));
        let is_data = class.is_some();
        let class = class.map_or(self.fabric.control_class(), |class| TrafficClass(class as u8));
        let known = |flow: u16| (usize::from(flow) < self.flows.len()).then_some(flow);
        let (flow, payload, marks) = match S::parse(&octets) {
            Some((flow, signal)) => match known(flow) {
                Some(flow) if self.flows[usize::from(flow)].destination == header.destination => {
                    (Some(flow), Payload::Down(signal), Marks::NONE)
                }
                _ => (None, Payload::Up { signal, origin: QueueId::NONE }, Marks::NONE),
            },
            None if is_data => {
                let marks = match ecn(&octets) {
                    Some(ipv4::ecn::ECT_0 | ipv4::ecn::ECT_1) => Marks::ECN_CAPABLE,
                    _ => Marks::NONE,
                };
                (header.flow.and_then(known), Payload::Data(S::tag(&octets)), marks)
            }
            // No congestion point looks at it, and nothing cuts it.
            None => (None, Payload::Data(S::Tag::default()), Marks::ACK),
        };
        let line = self.ports[from].line;
        self.enqueue(to, (class, line), (flow, payload, marks), octets);
    }

    /// Puts a frame into the queue of `class` at a port; it has come over `line`, or from nowhere.
    fn enqueue(
        &mut self,
        to: usize,
        (class, line): (TrafficClass, PortId),
        (flow, payload, marks): (Option<u16>, Payload<S>, Marks),
        frame: Vec<u8>,
    ) {
        let octets = length(frame.len());
        let is_data = matches!(payload, Payload::Data(_)) && class != self.fabric.control_class();
        let index = self.fabric.frames.insert(Slot {
            next: FrameId::NONE,
            flow: flow.map_or(NOBODY, |flow| FlowKey(u32::from(flow))),
            hop: HopId(flow.map_or(self.flows.len() as u32, u32::from)),
            octets,
            class,
            marks,
            // No frame says when it was sent, nor how much its flow had sent before.
            sent_at: self.now(),
            seq: Octets(0),
            payload,
        });
        if self.octets.len() <= index.index() {
            self.octets.resize(index.index() + 1, Vec::new());
        }
        self.octets[index.index()] = frame;
        let mut out = Vec::new();
        let entry = self.fabric.enqueue(self.ids[to], Arrival { index, class, octets, from: line }, &mut out);
        let dropped = matches!(entry, Enqueued::Dropped | Enqueued::TrimmedThenDropped);
        self.counts.trimmed += u64::from(matches!(entry, Enqueued::Trimmed | Enqueued::TrimmedThenDropped));
        let counts = &mut self.ports[to].counts[class.index()];
        counts.arrived += u64::from(is_data);
        counts.dropped += u64::from(is_data && entry != Enqueued::Queued);
        let sampled = match dropped {
            true => std::mem::take(&mut self.octets[index.index()]),
            false if out.is_empty() => Vec::new(),
            false => self.octets[index.index()].clone(),
        };
        if dropped {
            self.count_loss(is_data, &sampled);
        }
        self.post(to, class, out, &sampled);
    }

    fn count_loss(&mut self, is_data: bool, octets: &[u8]) {
        if !is_data {
            self.counts.control_lost += 1;
        } else if let Some(flow) = self.flow_of(octets) {
            self.dropped[flow] += 1;
        }
    }

    /// The flow of a data frame: by its CN-TAG, or by its port.
    fn flow_of(&self, octets: &[u8]) -> Option<usize> {
        let header = Header::read(octets)?;
        if let Some(flow) = header.flow.map(usize::from).filter(|&flow| flow < self.flows.len()) {
            return Some(flow);
        }
        let (_, _, to) = flow_ports::<S>(octets, &header)?;
        let flow = usize::from(to.checked_sub(FIRST_PORT)?);
        self.flows.get(flow).filter(|facts| facts.destination == header.destination).map(|_| flow)
    }

    /// Sends the signals of the congestion point of a queue, as frames. `sampled` is the frame that gave rise to them; empty for a timer.
    fn post(&mut self, port: usize, class: TrafficClass, out: Outbox<S>, sampled: &[u8]) {
        self.ports[port].counts[class.index()].signals += out.len() as u64;
        for (to, class, signal) in out {
            let (To::Source(FlowKey(flow)) | To::Destination(FlowKey(flow)) | To::PreviousHop(FlowKey(flow))) = to;
            let known = self.flows.get(flow as usize).copied();
            let station = known.map(|facts| match to {
                To::Destination(_) => facts.destination,
                // The message goes to the station that has sent the sampled frame.
                _ => Header::read(sampled).map_or(facts.source, |header| header.source),
            });
            let port = station.and_then(|station| self.learned.port(self.now(), station));
            let (Some(facts), Some(destination), Some(port)) = (known, station, port) else {
                self.counts.signals_lost += 1;
                continue;
            };
            let (priority, class) = match class {
                Class::Data => (facts.priority, facts.class),
                Class::Control => (self.control, self.fabric.control_class()),
            };
            let way = Addressing { destination, source: self.own, priority, flow: flow as u16, sampled };
            let octets = S::emit(signal, &way);
            let payload = Payload::Up { signal, origin: QueueId::NONE };
            self.enqueue(port, (class, PortId::NONE), (None, payload, Marks::NONE), octets);
        }
    }

    /// A frame has reached the far end of the line of a port: it is written as the switch has changed it.
    fn deliver(&mut self, id: PortId, frame: FrameId) {
        self.fabric.cross(id);
        let slot = self.fabric.frames.get(frame).clone();
        let mut octets = std::mem::take(&mut self.octets[frame.index()]);
        self.fabric.frames.remove(frame);
        let flow = u16::try_from(slot.flow.0).ok();
        match (slot.payload, flow) {
            // Frames that nothing controls have no tag.
            (Payload::Data(tag), Some(_)) => S::edit(tag, &mut octets),
            (Payload::Down(signal), Some(flow)) => octets = again::<S>(&octets, flow, signal),
            _ => {}
        }
        if slot.marks.contains(Marks::CONGESTION_EXPERIENCED) {
            set_ecn(&mut octets, ipv4::ecn::CE);
        }
        if slot.marks.contains(Marks::TRIMMED) {
            octets.truncate(usize::from(HEADER) - FCS);
            set_priority(&mut octets, self.control);
        }
        self.depart(id, octets);
    }

    fn depart(&mut self, id: PortId, octets: Vec<u8>) {
        let due = self.now();
        if let Some(own) = self.ports.iter_mut().find(|own| own.id == id) {
            own.departed.push_back(Departure { due, octets });
        }
    }

    /// The octets of a pause frame.
    fn pause_frame(&self, frame: &PauseFrame) -> Vec<u8> {
        let mut times = [None; 8];
        for (classes, quanta) in [(frame.resume, 0), (frame.stop, self.quanta)] {
            for class in bits(classes) {
                times[usize::from(self.priorities[class.index()] & 7)] = Some(quanta);
            }
        }
        pause::frame(self.own, times)
    }

    /// A PFC frame stops classes, or lets them go on.
    fn obey(&mut self, port: usize, times: [Option<u16>; 8]) {
        self.counts.pauses += 1;
        let (id, rate) = (self.ids[port], self.port(port).rate);
        for (class, &priority) in (0..).map(TrafficClass).zip(&self.priorities) {
            let quanta = times[usize::from(priority & 7)];
            if let Some(quanta) = quanta.filter(|_| self.fabric.pauses.lossless & class.bit() != 0) {
                self.fabric.obey(id, class, pause::pause_time(quanta, rate));
            }
        }
    }
}

/// The frame of a signal that a congestion point has edited.
fn again<S: OnWire>(octets: &[u8], flow: u16, signal: S::Signal) -> Vec<u8> {
    let Some(header) = Header::read(octets) else { return octets.to_vec() };
    let priority = header.priority.unwrap_or(0);
    let Header { destination, source, .. } = header;
    S::emit(signal, &Addressing { destination, source, priority, flow, sampled: &[] })
}

/// For each port, that of the opposite direction: between two nodes of a tree there is one link.
fn opposites(network: &Network) -> Vec<PortId> {
    let ends: std::collections::BTreeMap<_, _> =
        (0..).map(PortId).zip(&network.ports).map(|(id, port)| ((port.node, port.peer), id)).collect();
    network.ports.iter().map(|port| ends.get(&(port.peer, port.node)).copied().unwrap_or(PortId::NONE)).collect()
}

/// The highest rate that a line ever has.
fn fastest(network: &Network, line: PortId) -> BitRate {
    let changes = network.changes.iter().filter(|change| change.port == line);
    let rates = changes.filter_map(|change| if let PortEvent::Rate(rate) = change.event { Some(rate) } else { None });
    rates.fold(network.ports[line.index()].rate, BitRate::max)
}
