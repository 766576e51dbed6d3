//! Switch and host as the I/O loop drives them.

use penstock_scenario::Plan;
use penstock_schemes::{BitRate, CongestionPoint, Instant, ReactionPoint};
use penstock_sim::network::{NodeId, PortEvent, PortId};

use crate::addressing::ports_of;
use crate::agenda::Departure;
use crate::bridge::Bridge;
use crate::interface::{Interface, variables};
use crate::progress::FlowCounts;
use crate::record::{End, FlowEnd, FlowSample, QueueEnd, QueueSample, Record, SignalSeen, SinkSample};
use crate::scheme_frames::{Addressing, OnWire};
use crate::statistics::{Moments, QueueCounts};

/// Something that happens at a time that is known beforehand. At one instant, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Milestone {
    /// A port's rate changes.
    Rate(usize, u64),
    /// A flow stops.
    Stop(usize),
    /// A flow starts.
    Start(usize),
    /// The warm-up ends.
    Warm,
    /// A sample is taken.
    Sample,
}

/// The milestones of a node, in order.
#[must_use]
pub fn milestones(plan: &Plan, node: NodeId) -> Vec<(Instant, Milestone)> {
    let end = Instant::ZERO + plan.duration;
    let step = plan.record.interval.0.max(1);
    let samples = (0..=plan.duration.0 / step).map(|k| (Instant(k * step), Milestone::Sample));
    let own = ports_of(&plan.network, node);
    let changes = plan.network.changes.iter().filter_map(|change| match change.event {
        PortEvent::Rate(rate) => {
            let port = own.iter().position(|&id| id == change.port)?;
            Some((change.at, Milestone::Rate(port, rate.0)))
        }
        PortEvent::Down | PortEvent::Up => None,
    });
    let flows = plan.network.flows.iter().zip(&plan.flow_ends).enumerate();
    let starts = flows.filter(|(_, (_, ends))| ends.0 == node.index()).flat_map(|(i, (flow, _))| {
        [Some((flow.start, Milestone::Start(i))), flow.stop.map(|at| (at, Milestone::Stop(i)))].into_iter().flatten()
    });
    let mut all: Vec<_> = samples.chain(changes).chain(starts).collect();
    all.push((Instant::ZERO + plan.warmup, Milestone::Warm));
    all.retain(|&(at, _)| at <= end);
    all.sort_unstable();
    all
}

/// A node as the loop sees it: all times are the network's.
pub trait Device {
    /// A frame has come by wire `port`.
    fn receive(&mut self, at: Instant, port: usize, octets: Vec<u8>);
    /// Handles everything up to `now`.
    fn advance(&mut self, now: Instant);
    /// When something happens by itself.
    fn next_event(&self) -> Instant;
    /// The next frame that leaves, and its wire.
    fn poll(&mut self) -> Option<(usize, Departure)>;
    /// A milestone is reached; everything up to it has been handled.
    fn reach(&mut self, at: Instant, milestone: Milestone, write: &mut dyn FnMut(Record));
    /// Ends the run.
    fn end(&mut self, at: Instant) -> End;
}

/// A switch in its process.
#[derive(Debug)]
pub struct SwitchDevice<'p, S: OnWire> {
    plan: &'p Plan,
    bridge: Bridge<S>,
    /// Bits of each port's line at the end of the warm-up.
    before: Vec<(u64, u128)>,
}

impl<'p, S: OnWire> SwitchDevice<'p, S> {
    /// The switch `node`.
    #[must_use]
    pub fn new(plan: &'p Plan, node: NodeId, configs: &[S::Config]) -> Self {
        let bridge = Bridge::new(plan, node, configs);
        let before = vec![(0, 0); bridge.ids().len()];
        Self { plan, bridge, before }
    }

    fn recorded(&self) -> Vec<(usize, usize, u32)> {
        recorded(self.plan, self.bridge.ids())
    }

    fn sample(&self, at: Instant, write: &mut dyn FnMut(Record)) {
        for (port, class, queue) in self.recorded() {
            let (line_bits, scheduled) = self.bridge.line_bits(port);
            let cp = self.bridge.congestion_point(port, class);
            write(Record::Queue(QueueSample {
                at: at.0,
                queue,
                len: self.bridge.queue_len(port, class),
                frames: self.bridge.queue_frames(port, class),
                line_bits,
                scheduled_bits: scheduled.min(u128::from(u64::MAX)) as u64,
                counts: self.bridge.queue_counts(port, class),
                paused: self.bridge.paused(port, class).0.0,
                vars: cp.map(|cp| row(S::Cp::VARS.len(), |row| cp.vars(row))),
            }));
        }
    }
}

/// The recorded queues of some ports: index of the port, class, index of the queue.
fn recorded(plan: &Plan, ports: &[PortId]) -> Vec<(usize, usize, u32)> {
    let network = &plan.network;
    let place = |&queue: &penstock_sim::network::QueueId| {
        let (port, priority) = network.port_and_priority(queue)?;
        let own = ports.iter().position(|&id| id == port)?;
        Some((own, network.priorities.iter().position(|&p| p == priority)?, queue.0))
    };
    plan.record.queues.iter().filter_map(place).collect()
}

/// The share of a line that was used between two counts of its bits: those that it carried, and those that it could have.
fn used((did_before, could_before): (u64, u128), (did, could): (u64, u128)) -> f64 {
    let could = could.saturating_sub(could_before) as f64;
    if could > 0.0 { did.saturating_sub(did_before) as f64 / could } else { 0.0 }
}

fn row(len: usize, fill: impl FnOnce(&mut [i64])) -> Vec<i64> {
    let mut row = vec![0; len];
    fill(&mut row);
    row
}

impl<S: OnWire> Device for SwitchDevice<'_, S> {
    fn receive(&mut self, at: Instant, port: usize, octets: Vec<u8>) {
        self.bridge.receive(at, port, octets);
    }

    fn advance(&mut self, now: Instant) {
        self.bridge.advance(now);
    }

    fn next_event(&self) -> Instant {
        self.bridge.next_event()
    }

    fn poll(&mut self) -> Option<(usize, Departure)> {
        self.bridge.poll_departure()
    }

    fn reach(&mut self, at: Instant, milestone: Milestone, write: &mut dyn FnMut(Record)) {
        self.bridge.settle(at);
        match milestone {
            Milestone::Rate(port, rate) => self.bridge.set_rate(at, port, BitRate(rate)),
            Milestone::Start(_) | Milestone::Stop(_) => {}
            Milestone::Warm => {
                self.bridge.start_measuring(at);
                self.before = (0..self.before.len()).map(|port| self.bridge.line_bits(port)).collect();
            }
            Milestone::Sample => self.sample(at, write),
        }
    }

    fn end(&mut self, at: Instant) -> End {
        self.bridge.finish(at);
        let queues = self.recorded().into_iter().map(|(port, class, queue)| {
            let used = used(self.before[port], self.bridge.line_bits(port));
            let (counts, lengths) = (self.bridge.queue_counts(port, class), self.bridge.moments(port, class));
            QueueEnd::new(queue, counts, lengths, used, self.bridge.paused(port, class))
        });
        End {
            queues: queues.collect(),
            dropped: self.bridge.dropped().to_vec(),
            bridge: self.bridge.counts(),
            ..End::default()
        }
    }
}

/// A host's interface in its process: wire 0 leads to the switch, wire 1 to the host.
#[derive(Debug)]
pub struct InterfaceDevice<S: OnWire> {
    interface: Interface<S>,
    /// The recorded queues of its port: class, index. Frames wait behind reaction points; here they only stand still.
    queues: Vec<(usize, u32)>,
    /// Bits of the line at the end of the warm-up.
    line_before: (u64, u128),
    /// Frames for the host.
    up: std::collections::VecDeque<Departure>,
    /// Counts at the end of the warm-up.
    before: Vec<FlowCounts>,
    warm: bool,
    /// Installed rate limiters at each sample after the warm-up: sum, number, largest.
    limiters: (u64, u64, u32),
}

/// The wire to the switch, and that to the host.
const WIRE: usize = 0;
const HOST: usize = 1;

impl<S: OnWire> InterfaceDevice<S> {
    /// The interface of host `node`.
    #[must_use]
    pub fn new(plan: &Plan, node: NodeId, configs: &[S::Config]) -> Self {
        let interface = Interface::new(plan, node, configs);
        let before = vec![FlowCounts::default(); plan.network.flows.len()];
        let queues = recorded(plan, &ports_of(&plan.network, node)).into_iter();
        let queues = queues.map(|(_, class, queue)| (class, queue)).collect();
        let line_before = (0, 0);
        Self {
            interface,
            queues,
            line_before,
            up: std::collections::VecDeque::new(),
            before,
            warm: false,
            limiters: (0, 0, 0),
        }
    }

    fn sample(&mut self, at: Instant, write: &mut dyn FnMut(Record)) {
        let interface = &self.interface;
        for flow in interface.sources() {
            let counts = interface.flow(flow);
            write(Record::Flow(FlowSample {
                at: at.0,
                flow: flow as u32,
                allowed: interface.allowed(flow),
                sent: counts.sent_octets,
                signals: counts.signals,
                vars: interface.reaction_point(flow).map(|rp| row(S::Rp::VARS.len(), |row| rp.vars(row))),
            }));
        }
        for &(class, queue) in &self.queues {
            let (line_bits, scheduled) = interface.line_bits(at);
            write(Record::Queue(QueueSample {
                at: at.0,
                queue,
                len: 0,
                frames: 0,
                line_bits,
                scheduled_bits: scheduled.min(u128::from(u64::MAX)) as u64,
                counts: QueueCounts::default(),
                paused: interface.paused(class, at).0.0,
                vars: None,
            }));
        }
        for flow in interface.sinks() {
            let delivered = interface.flow(flow).delivered_octets;
            write(Record::Sink(SinkSample { at: at.0, flow: flow as u32, delivered }));
        }
        if self.warm {
            let now = interface.limiting();
            self.limiters = (self.limiters.0 + u64::from(now), self.limiters.1 + 1, self.limiters.2.max(now));
        }
    }

    fn write_signals(&mut self, write: &mut dyn FnMut(Record)) {
        while let Some(seen) = self.interface.poll_seen() {
            write(Record::Signal(SignalSeen {
                at: seen.at.0,
                flow: seen.flow as u32,
                rate: seen.rate,
                cp: cp_of::<S>(&seen.signal),
                vars: variables::<S>(&seen.signal),
            }));
        }
    }
}

/// The congestion point that a signal names, as its octets say. (802.1Qau: cnmCpId; BCN: CPID; FECN, SMCC: cpId)
fn cp_of<S: OnWire>(signal: &S::Signal) -> Option<u64> {
    use penstock_wire::MacAddress;
    use penstock_wire::layers::{Types, layers};
    let nobody = MacAddress([0; 6]);
    let way = Addressing { destination: nobody, source: nobody, priority: 0, flow: 0, sampled: &[] };
    let frame = S::emit(*signal, &way);
    layers(&frame, Types::default()).find_map(|layer| layer.value("cp_id")).map(|id| id as u64)
}

impl<S: OnWire> Device for InterfaceDevice<S> {
    fn receive(&mut self, at: Instant, port: usize, octets: Vec<u8>) {
        if port == HOST {
            self.interface.from_host(at, octets);
        } else if let Some(octets) = self.interface.from_wire(at, octets) {
            self.up.push_back(Departure { due: at, octets });
        }
    }

    fn advance(&mut self, now: Instant) {
        self.interface.advance(now);
    }

    fn next_event(&self) -> Instant {
        self.interface.next_event()
    }

    fn poll(&mut self) -> Option<(usize, Departure)> {
        let down = self.interface.poll_departure().map(|departure| (WIRE, departure));
        down.or_else(|| self.up.pop_front().map(|departure| (HOST, departure)))
    }

    fn reach(&mut self, at: Instant, milestone: Milestone, write: &mut dyn FnMut(Record)) {
        self.interface.advance(at);
        match milestone {
            Milestone::Rate(..) => {}
            Milestone::Start(flow) => self.interface.start(at, flow),
            Milestone::Stop(flow) => self.interface.stop(at, flow),
            Milestone::Warm => {
                self.warm = true;
                self.line_before = self.interface.line_bits(at);
                self.before = (0..self.before.len()).map(|flow| self.interface.flow(flow)).collect();
            }
            Milestone::Sample => self.sample(at, write),
        }
        self.write_signals(write);
    }

    fn end(&mut self, at: Instant) -> End {
        self.interface.advance(at);
        let end =
            |flow: usize| FlowEnd { flow: flow as u32, counts: self.interface.flow(flow), before: self.before[flow] };
        let (sum, samples, most) = self.limiters;
        let used = used(self.line_before, self.interface.line_bits(at));
        let queue = |&(class, queue): &(usize, u32)| {
            let (time, frames) = self.interface.paused(class, at);
            let pauses = (time, frames, self.interface.times_stopped(class), self.interface.resumes(class));
            QueueEnd::new(queue, QueueCounts::default(), Moments::default(), used, pauses)
        };
        End {
            queues: self.queues.iter().map(queue).collect(),
            sources: self.interface.sources().map(end).collect(),
            sinks: self.interface.sinks().map(end).collect(),
            limiters_mean: if samples > 0 { sum as f64 / samples as f64 } else { 0.0 },
            limiters_max: most,
            interface: self.interface.counts(),
            ..End::default()
        }
    }
}
