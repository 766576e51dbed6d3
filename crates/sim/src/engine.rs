//! The event loop: takes events in order and lets hosts and fabric act on them.

use penstock_schemes::{BitRate, Duration, HEADER, Instant, NotificationPoint, Octets, ReactionPoint, Scheme};

use crate::acknowledgement::{Known, Receipt, acknowledged};
use crate::event::{Event, MAX_INDEX};
use crate::event_queue::EventQueue;
use crate::fabric::{Fabric, Outbox};
use crate::frame::{GONE, Kind, NONE, Payload, Slot};
use crate::measure::Reading;
use crate::network::{
    Feedback, FlowId, Hop, HopId, Network, NodeKind, Pacer, PortEvent, QueueId, ReactionPointSpec, RpId, Traffic,
};
use crate::outcome::Totals;
use crate::probe::{FlowNow, Probe, QueueNow, View};
use crate::random::{Owner, Stream};
use crate::source::{Destinations, FlowState, HostState, Limiter, limiter_stream};

pub(crate) const NEVER: u64 = u64::MAX;

/// A notification point with what belongs to it.
#[derive(Debug, Clone)]
pub(crate) struct NpState<S: Scheme> {
    pub(crate) np: S::Np,
    pub(crate) stream: Stream,
    pub(crate) flow: u32,
    pub(crate) leaf: u32,
    pub(crate) armed: u64,
    /// What has come, and the length of an acknowledgement: where the scheme has acknowledgements.
    pub(crate) receipt: Receipt,
    pub(crate) ack_octets: u16,
}

impl<S: Scheme> NpState<S> {
    /// Makes the event of its timer.
    #[inline(always)]
    pub(crate) fn arm(&mut self, events: &mut EventQueue, index: u32) {
        if let Some(Instant(at)) = self.np.next_timeout()
            && at < self.armed
        {
            self.armed = at;
            events.schedule(at, Event::NpTimer(index));
        }
    }
}

/// A hop, as the way down needs it: 8 octets, for they are read at every hop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    pub(crate) port: u32,
    /// The only hop that follows; [`LEAF`] or [`BRANCH`] where there is none or more than one. The step behind the last
    /// hop is [`LOST`]: there frames are sent that a broken link has lost.
    pub(crate) next: u32,
}

pub(crate) const LEAF: u32 = NONE;
pub(crate) const BRANCH: u32 = NONE - 1;
pub(crate) const LOST: u32 = NONE - 2;

/// A limiter that waits for its port's line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Waiting {
    pub(crate) since: u64,
    pub(crate) limiter: u32,
}

/// Where each flow passes, by port.
#[derive(Debug)]
pub(crate) struct Routes {
    /// The first of `places` of each flow, and the end of the last one's.
    first: Vec<u32>,
    /// Port and hop: those of a flow in the order of ports.
    places: Vec<(u32, HopId)>,
}

impl Routes {
    fn new(network: &Network) -> Self {
        let mut routes = Self { first: vec![0], places: Vec::with_capacity(network.hops.len()) };
        for flow in 0..network.flows.len() as u32 {
            let start = routes.places.len();
            routes.places.extend(network.route(FlowId(flow)).map(|hop| (network.hops[hop.index()].port.0, hop)));
            routes.places[start..].sort_unstable_by_key(|&(port, _)| port);
            routes.first.push(routes.places.len() as u32);
        }
        routes
    }

    /// The hop of `flow` that leaves by `port`.
    pub(crate) fn hop(&self, flow: u32, port: u32) -> HopId {
        let range = self.first[flow as usize] as usize..self.first[flow as usize + 1] as usize;
        let places = &self.places[range];
        let place = places.binary_search_by_key(&port, |&(port, _)| port);
        let place = place.unwrap_or_else(|_| {
            panic!("a congestion point at port {port} signals flow {flow}, which does not pass there")
        });
        places[place].1
    }
}

/// The state of a run, without its observer.
#[derive(Debug)]
pub(crate) struct State<S: Scheme, const PFC: bool> {
    pub(crate) fabric: Fabric<S, PFC>,
    pub(crate) flows: Vec<FlowState>,
    pub(crate) limiters: Vec<Limiter<S>>,
    pub(crate) hosts: Vec<HostState>,
    pub(crate) totals: Totals,
    /// When the warm-up ended.
    pub(crate) measuring: Reading,
    /// The windows that are open: number, and opening.
    pub(crate) windows: Vec<(usize, Reading)>,
    /// Signals that travel outside of the network.
    pub(crate) ideal_in_flight: u64,
}

/// A simulation of scheme `S`, watched by `P`. With `PFC` it can do priority flow control, which costs time at every hop;
/// a network without flow control runs the same in both engines.
///
/// ```text
///   Sim::new(network, configs, seed, probe)     everything at rest, time zero
///      .run_until(warm_up) .start_measuring()   statistics begin anew
///      .run_until(end)                          in as many steps as the caller likes: they change nothing
///      .finish()                                conservation is checked, the Outcome made
/// ```
#[derive(Debug)]
pub struct Sim<S: Scheme, P: Probe<S>, const PFC: bool> {
    pub(crate) state: State<S, PFC>,
    pub(crate) probe: P,
    pub(crate) hops: Vec<Hop>,
    pub(crate) routes: Routes,
    pub(crate) steps: Vec<Step>,
    pub(crate) nps: Vec<NpState<S>>,
    /// What sources know of each notification point, where the scheme has acknowledgements.
    pub(crate) known: Vec<Known>,
    /// The notification point of each leaf hop.
    pub(crate) np_of_hop: Vec<u32>,
    pub(crate) changes: Vec<crate::network::Change>,
    pub(crate) feedback: Feedback,
    /// For each port the limiters that wait for its line, the one that had it last, and the time of its NicFree event.
    pub(crate) waiting: Vec<std::collections::VecDeque<Waiting>>,
    pub(crate) last_turn: Vec<u32>,
    pub(crate) nic_armed: Vec<u64>,
    /// For each port the limiters whose priority is stopped there.
    pub(crate) parked: Vec<std::collections::VecDeque<u32>>,
    pub(crate) outbox: Outbox<S>,
    /// Empty ones, for signals that make others while they are routed.
    spare: Vec<Outbox<S>>,
    /// Keeps a reaction point's signals while its frame is on its way into the port.
    pub(crate) outbox_of_rp: Outbox<S>,
    events: u64,
    /// Work that is left for this slice, in events.
    left: u64,
    /// Of the slice's work so far, what was none of the events.
    aside: u64,
}

impl<S: Scheme, P: Probe<S>, const PFC: bool> Sim<S, P, PFC> {
    /// Lays out a run. `configs` are the scheme's parameters for each of the network's priorities. Random streams derive
    /// from `seed`.
    ///
    /// # Panics
    /// If `network` is not what its documentation says, if it has priority flow control and the engine has not (`PFC`), if
    /// there is not one configuration a priority, or if there are more than 2^27 queues and hops, or flows.
    pub fn new(network: &Network, configs: &[S::Config], seed: u64, probe: P) -> Self {
        assert!(
            (network.ports.len() * network.queues_per_port() + network.hops.len()).max(network.flows.len()) < MAX_INDEX,
            "a network has at most {MAX_INDEX} queues and hops, and as many flows"
        );
        assert_eq!(configs.len(), network.priorities.len(), "a configuration for each priority");
        assert!(PFC || network.pfc.is_none(), "priority flow control needs the engine that has it");
        let mut fabric = Fabric::new(network, configs, seed, event_queue_for(network));
        let mut limiters: Vec<Limiter<S>> = Vec::new();
        // The flows of a reaction point share a priority.
        let mut classes = vec![0; network.reaction_points.len()];
        for flow in &network.flows {
            if let Some(RpId(rp)) = flow.reaction_point {
                classes[rp as usize] = network.class(flow.priority);
            }
        }
        for (index, (spec, class)) in network.reaction_points.iter().zip(classes).enumerate() {
            let rp = S::Rp::new(&configs[class], network.ports[spec.port.index()].rate);
            let (tag, stream) = (S::tag_octets(&configs[class]), limiter_stream(seed, index));
            limiters.push(Limiter::new(network, *spec, Some(rp), tag, stream));
        }
        let mut nps = Vec::new();
        let mut np_of_hop = vec![NONE; network.hops.len()];
        let mut flows = Vec::new();
        for (index, flow) in network.flows.iter().enumerate() {
            let leaves = network.route(FlowId(index as u32)).filter(|h| network.hops[h.index()].children == 0);
            let first_np = nps.len() as u32;
            let echo = S::echo_octets(&configs[network.class(flow.priority)]);
            for leaf in leaves {
                np_of_hop[leaf.index()] = nps.len() as u32;
                nps.push(NpState {
                    np: S::Np::new(&configs[network.class(flow.priority)], FlowState::key(index as u32)),
                    stream: Stream::new(seed, Owner::NotificationPoint, nps.len()),
                    flow: index as u32,
                    leaf: leaf.0,
                    armed: NEVER,
                    receipt: Receipt::default(),
                    ack_octets: HEADER + echo,
                });
            }
            let destinations = nps.len() as u32 - first_np;
            let limiter = flow.reaction_point.map_or_else(
                || {
                    let port = network.hops[flow.root.index()].port;
                    let stream = limiter_stream(seed, limiters.len());
                    let spec = ReactionPointSpec { port, pacer: Pacer::Ideal };
                    limiters.push(Limiter::new(network, spec, None, 0, stream));
                    (limiters.len() - 1) as u32
                },
                |rp| rp.0,
            );
            limiters[limiter as usize].flows.push(index as u32);
            let places = Destinations { first: first_np, count: destinations };
            let mut state = FlowState::new(network, index, limiter, places, seed);
            state.tag = limiters[limiter as usize].tag;
            flows.push(state);
            fabric.events.schedule(flow.start.0, Event::Start(index as u32));
            if let Some(stop) = flow.stop {
                fabric.events.schedule(stop.0, Event::Stop(index as u32));
            }
        }
        for (index, change) in network.changes.iter().enumerate() {
            fabric.events.schedule(change.at.0, Event::Change(index as u32));
        }
        if probe.interval().is_some() {
            fabric.events.schedule(0, Event::Sample);
        }
        let mut on_port = vec![0; network.ports.len()];
        for limiter in &limiters {
            on_port[limiter.port as usize] += 1;
        }
        for (port, &count) in fabric.ports.iter_mut().zip(&on_port) {
            port.shared = port.arbiter && count > 1;
        }
        let mut hosts = vec![HostState::default(); network.nodes.len()];
        for limiter in limiters.iter().filter(|l| l.limiting) {
            hosts[limiter.host as usize].change(0, true);
        }
        let step = |hop: &Hop| Step {
            port: hop.port.0,
            next: match hop.children {
                0 => LEAF,
                1 => hop.first_child.0,
                _ => BRANCH,
            },
        };
        let ports = network.ports.len();
        let mut sim = Self {
            state: State {
                fabric,
                flows,
                limiters,
                hosts,
                totals: Totals::default(),
                measuring: Reading::default(),
                windows: Vec::new(),
                ideal_in_flight: 0,
            },
            probe,
            hops: network.hops.clone(),
            routes: Routes::new(network),
            steps: network.hops.iter().map(step).chain([Step { port: 0, next: LOST }]).collect(),
            known: if acknowledged::<S>() { vec![Known::default(); nps.len()] } else { Vec::new() },
            nps,
            np_of_hop,
            changes: network.changes.clone(),
            feedback: network.feedback,
            waiting: vec![std::collections::VecDeque::new(); ports],
            last_turn: vec![NONE; ports],
            nic_armed: vec![NEVER; ports],
            parked: vec![std::collections::VecDeque::new(); if PFC { ports } else { 0 }],
            outbox: Vec::new(),
            spare: Vec::new(),
            outbox_of_rp: Vec::new(),
            events: 0,
            left: 0,
            aside: 0,
        };
        sim.state.measuring = sim.state.reading();
        sim
    }

    /// Handles every event before `t`; then it is `t`. Where a run is cut into steps changes nothing in it.
    pub fn run_until(&mut self, t: Instant) {
        while !self.run_slice(t, u64::MAX) {}
    }

    /// The same, but for no more than `work` events, or what takes as long; false if there is more to do. What a slice does
    /// is bounded whatever the network is, while events before `t`, and even those of one instant, have no bound.
    pub fn run_slice(&mut self, t: Instant, work: u64) -> bool {
        (self.left, self.aside) = (work, 0);
        let done = self.handle_events(t);
        self.events += work - self.left - self.aside;
        done
    }

    /// The signals that are to be routed; another outbox takes those that are sent meanwhile.
    pub(crate) fn take_outbox(&mut self) -> Outbox<S> {
        std::mem::replace(&mut self.outbox, self.spare.pop().unwrap_or_default())
    }

    /// Takes the outbox back when its signals are on their way, for it to be used again.
    pub(crate) fn return_outbox(&mut self, outbox: Outbox<S>) {
        let other = std::mem::replace(&mut self.outbox, outbox);
        debug_assert!(other.is_empty(), "signals that were sent meanwhile have been routed");
        self.spare.push(other);
    }

    /// Work other than that of an event.
    pub(crate) fn charge(&mut self, work: u64) {
        let work = work.min(self.left);
        self.left -= work;
        self.aside += work;
    }

    fn handle_events(&mut self, t: Instant) -> bool {
        while self.left > 0 {
            let Some((at, what)) = self.state.fabric.events.pop(t.0) else {
                self.state.fabric.now = self.state.fabric.now.max(t.0);
                return true;
            };
            self.state.fabric.now = at;
            self.left -= 1;
            // Most events are deliveries: one comparison finds them.
            if let Some(slot) = Event::delivery(what) {
                self.deliver(slot);
                if PFC {
                    self.state.fabric.review();
                }
                continue;
            }
            match Event::unpack(what) {
                Event::Deliver(_) => unreachable!("handled above"),
                Event::Release(limiter) => {
                    let state = &mut self.state.limiters[limiter as usize];
                    if state.wake == at {
                        state.wake = NEVER;
                        self.release(limiter, false);
                    }
                }
                Event::NicFree(port) => self.nic_free(port),
                Event::RpTimer(limiter) => self.rp_timeout(limiter),
                Event::CpTimer(cp) => {
                    if let Some(queue) = self.state.fabric.cp_timeout(cp, &mut self.outbox) {
                        self.route_from_cp(queue.0);
                    }
                }
                Event::NpTimer(np) => self.np_timeout(np),
                Event::Silence(flow) => self.silence(flow),
                Event::Start(flow) => self.start(flow),
                Event::Stop(flow) => self.stop(flow),
                Event::Change(index) => self.change(index),
                Event::Ideal(slot) => self.ideal_arrival(slot),
                Event::Sample => self.sample(),
                Event::LineFree(port) => {
                    if PFC {
                        self.state.fabric.settle(port);
                    }
                }
                Event::Generate(flow) => {
                    self.aside += 1;
                    self.generate(flow);
                }
                event @ (Event::Pause(_) | Event::Stopping(_) | Event::Refresh(_)) => {
                    if PFC {
                        self.flow_control(event);
                    }
                }
            }
            if PFC {
                self.state.fabric.review();
            }
        }
        false
    }

    /// The warm-up is over: from here on the run is measured.
    pub fn start_measuring(&mut self) {
        self.state.start_measuring();
    }

    /// A window of measurement opens, beside all others. `window` is a number of the caller's. Changes no result.
    pub fn open_window(&mut self, window: usize) {
        self.state.open_window(window);
    }

    /// The window closes. Of its outcome, counts too cover the window alone; `None` if it is not open.
    pub fn close_window(&mut self, window: usize) -> Option<crate::Outcome> {
        self.state.close_window(window)
    }

    /// The time that the run has reached.
    pub fn now(&self) -> Instant {
        Instant(self.state.fabric.now)
    }

    /// Events handled so far.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Frames, data or control, that have crossed a link so far.
    pub fn packet_hops(&self) -> u64 {
        self.state.fabric.ports.iter().map(|p| p.hops).sum()
    }

    /// Frames that there is room for: the most that have been in the network at a time.
    pub fn frames_held(&self) -> usize {
        self.state.fabric.frames.held() + self.state.fabric.pauses.frames_held()
    }

    /// The observer.
    pub fn probe(&self) -> &P {
        &self.probe
    }

    /// Ends the run: takes the last sample, checks that no frame was made or lost by the engine itself, and sums up.
    ///
    /// # Panics
    /// If frames are not conserved, with the counts that disagree.
    pub fn finish(mut self) -> (crate::Outcome, P) {
        self.state.totals.events = self.events;
        self.state.fabric.settle_all();
        if self.probe.interval().is_some() {
            self.probe.sample(self.now(), &self.state);
        }
        let mut on_lines = vec![0; self.state.fabric.ports.len()];
        for port in self.state.fabric.frames.iter().filter_map(|(_, slot)| self.line_of(slot)) {
            on_lines[port as usize] += 1;
        }
        let outcome = self.state.sum_up(&on_lines);
        (outcome, self.probe)
    }

    fn change(&mut self, index: u32) {
        let change = self.changes[index as usize];
        let port = change.port.0;
        match change.event {
            PortEvent::Rate(rate) => self.state.fabric.set_rate(port, rate),
            PortEvent::Down => {
                self.state.fabric.settle(port);
                self.charge(self.frames_held() as u64);
                let frames = self.state.fabric.frames.iter();
                let lost: Vec<u32> =
                    frames.filter(|(_, slot)| self.line_of(slot) == Some(port)).map(|(frame, _)| frame).collect();
                for &frame in &lost {
                    let slot = self.state.fabric.frames.get_mut(frame);
                    (slot.class, slot.hop) = (GONE, self.hops.len() as u32);
                    let (kind, flow) = (slot.kind(), slot.flow);
                    if kind == Kind::Data {
                        self.state.flows[flow as usize].lost += 1;
                    } else {
                        self.count_drop(flow, kind);
                    }
                }
                self.state.fabric.set_down(port, lost.len() as u64);
                if PFC {
                    self.state.fabric.lose_pauses(port);
                }
            }
            PortEvent::Up => {
                self.state.fabric.set_up(port);
                if !self.waiting[port as usize].is_empty() {
                    self.arm_nic(port);
                }
            }
        }
    }

    /// The port on whose line a frame is.
    fn line_of(&self, slot: &Slot<S>) -> Option<u32> {
        let hop = self.hops.get(slot.hop as usize).filter(|_| slot.at > 0)?;
        Some(match slot.payload {
            Payload::Data(_) | Payload::Down(_) => hop.port.0,
            Payload::Up { .. } | Payload::Back(_) | Payload::Ack { .. } => hop.back.0,
        })
    }

    fn sample(&mut self) {
        self.state.fabric.settle_all();
        let now = self.state.fabric.now;
        self.probe.sample(Instant(now), &self.state);
        self.charge((self.state.flows.len() + self.state.fabric.ports.len()) as u64);
        if let Some(interval) = self.probe.interval() {
            self.state.fabric.events.schedule(now + interval.0.max(1), Event::Sample);
        }
    }
}

impl<S: Scheme, const PFC: bool> View<S> for State<S, PFC> {
    fn queue(&self, queue: QueueId) -> QueueNow {
        let q = self.fabric.queue(queue.0);
        let p = &self.fabric.ports[(queue.0 / self.fabric.per_port) as usize];
        QueueNow {
            len: Octets(q.len),
            frames: q.frames(),
            line_bits: p.sent_bits(self.fabric.now),
            scheduled_bits: p.scheduled_bits(self.fabric.now),
            dropped: q.dropped,
            paused: Duration(self.fabric.pauses.paused(queue.0, self.fabric.now)),
        }
    }

    fn flow(&self, flow: FlowId) -> FlowNow {
        let f = &self.flows[flow.index()];
        let active = f.active();
        FlowNow {
            allowed: BitRate(if active { self.limiters[f.limiter as usize].rate } else { 0 }),
            delivered: Octets(f.delivered_octets / u64::from(f.destinations.count)),
            sent: Octets(f.sent_octets),
            signals: f.signals,
        }
    }

    fn cp(&self, queue: QueueId) -> Option<&S::Cp> {
        self.fabric.cps.get(self.fabric.queue(queue.0).cp as usize).map(|state| &state.cp)
    }

    fn rp(&self, flow: FlowId) -> Option<&S::Rp> {
        self.limiters[self.flows[flow.index()].limiter as usize].rp.as_ref()
    }
}

/// A queue whose spans suit the network: how far ahead deliveries and releases are, and how many events come.
fn event_queue_for(network: &Network) -> EventQueue {
    let largest = network.flows.iter().map(|f| f.frame).max().unwrap_or(1500);
    let octets = u64::from(largest) + u64::from(network.wire_overhead);
    let reach = network.ports.iter().map(|p| p.rate.serialisation(octets).0.0 + p.latency.0).max().unwrap_or(0);
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
