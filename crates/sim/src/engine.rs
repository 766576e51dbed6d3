//! The event loop: takes events in order and lets hosts and fabric act on them.

use penstock_schemes::{BitRate, Class, FlowKey, Frame, Instant, NotificationPoint, Octets, ReactionPoint, Scheme, To};

use crate::agenda::{Agenda, NO_LANE, RELEASES};
use crate::event::{Event, MAX_INDEX};
use crate::fabric::{Fabric, Outbox, Sender};
use crate::frame::{GONE, NONE, Payload, Slot};
use crate::network::{Feedback, FlowId, Hop, HopId, Network, NodeKind, Pacer, PortEvent, QueueId, Traffic};
use crate::outcome::Totals;
use crate::probe::{FlowNow, Probe, QueueNow, SignalSeen, View};
use crate::random::{Owner, Stream};
use crate::source::{FlowState, HostState, Limiter, limiter_stream};

const NEVER: u64 = u64::MAX;

/// A notification point with what belongs to it.
#[derive(Debug, Clone)]
struct NpState<S: Scheme> {
    np: S::Np,
    stream: Stream,
    flow: u32,
    leaf: u32,
    armed: u64,
}

/// A hop, as the way down needs it: 8 octets, for they are read at every hop.
#[derive(Debug, Clone, Copy)]
struct Step {
    port: u32,
    /// The only hop that follows; [`LEAF`] or [`BRANCH`] where there is none or more than one.
    next: u32,
}

const LEAF: u32 = NONE;
const BRANCH: u32 = NONE - 1;

/// The state of a run, without its observer.
#[derive(Debug)]
pub(crate) struct State<S: Scheme> {
    pub(crate) fabric: Fabric<S>,
    pub(crate) flows: Vec<FlowState>,
    pub(crate) limiters: Vec<Limiter<S>>,
    pub(crate) hosts: Vec<HostState>,
    pub(crate) totals: Totals,
    pub(crate) measuring_since: u64,
    /// Signals that travel outside of the network.
    pub(crate) ideal_in_flight: u64,
}

/// A simulation of scheme `S`, watched by `P`.
///
/// ```text
///   Sim::new(network, config, seed, probe)      everything at rest, time zero
///      .run_until(warm_up) .start_measuring()   statistics begin anew
///      .run_until(end)                          in as many steps as the caller likes: they change nothing
///      .finish()                                conservation is checked, the Outcome made
/// ```
#[derive(Debug)]
pub struct Sim<S: Scheme, P: Probe<S>> {
    state: State<S>,
    probe: P,
    hops: Vec<Hop>,
    steps: Vec<Step>,
    nps: Vec<NpState<S>>,
    /// The notification point of each leaf hop.
    np_of_hop: Vec<u32>,
    changes: Vec<crate::network::Change>,
    feedback: Feedback,
    /// For each port the limiters that wait for its line, and the time of its NicFree event.
    waiting: Vec<std::collections::VecDeque<u32>>,
    nic_armed: Vec<u64>,
    outbox: Outbox<S>,
    /// Keeps a reaction point's signals while its frame is on its way into the port.
    outbox_of_rp: Outbox<S>,
    events: u64,
}

impl<S: Scheme, P: Probe<S>> Sim<S, P> {
    /// Lays out a run. Random streams derive from `seed`.
    ///
    /// # Panics
    /// If `network` is not what its documentation says, or has more than 2^28 entities of a kind.
    pub fn new(network: &Network, config: &S::Config, seed: u64, probe: P) -> Self {
        assert!(
            network.ports.len().max(network.flows.len()).max(network.hops.len()) < MAX_INDEX,
            "a network has at most {MAX_INDEX} ports, flows and hops"
        );
        let mut fabric = Fabric::new(network, config, seed, agenda_for(network));
        let mut limiters: Vec<Limiter<S>> = Vec::new();
        for (index, spec) in network.reaction_points.iter().enumerate() {
            let port = &network.ports[spec.port.index()];
            let rp = S::Rp::new(config, port.rate);
            limiters.push(Limiter::new(
                Some(rp),
                limiter_stream(seed, index),
                spec.port.0,
                port.node.0,
                port.rate,
                spec.pacer,
            ));
        }
        let mut nps = Vec::new();
        let mut np_of_hop = vec![NONE; network.hops.len()];
        let mut flows = Vec::new();
        for (index, flow) in network.flows.iter().enumerate() {
            let leaves = network.route(FlowId(index as u32)).filter(|h| network.hops[h.index()].children == 0);
            let mut destinations = 0;
            for leaf in leaves {
                np_of_hop[leaf.index()] = nps.len() as u32;
                nps.push(NpState {
                    np: S::Np::new(config, FlowState::key(index as u32)),
                    stream: Stream::new(seed, Owner::NotificationPoint, nps.len()),
                    flow: index as u32,
                    leaf: leaf.0,
                    armed: NEVER,
                });
                destinations += 1;
            }
            let limiter = flow.reaction_point.map_or_else(
                || {
                    let port_id = network.hops[flow.root.index()].port;
                    let port = &network.ports[port_id.index()];
                    let stream = limiter_stream(seed, limiters.len());
                    limiters.push(Limiter::new(None, stream, port_id.0, port.node.0, port.rate, Pacer::Ideal));
                    (limiters.len() - 1) as u32
                },
                |rp| rp.0,
            );
            limiters[limiter as usize].flows.push(index as u32);
            flows.push(FlowState::new(network, index, limiter, destinations, seed));
            fabric.agenda.push(NO_LANE, flow.start.0, Event::Start(index as u32).pack());
            if let Some(stop) = flow.stop {
                fabric.agenda.push(NO_LANE, stop.0, Event::Stop(index as u32).pack());
            }
        }
        for (index, change) in network.changes.iter().enumerate() {
            fabric.agenda.push(NO_LANE, change.at.0, Event::Change(index as u32).pack());
        }
        if probe.interval().is_some() {
            fabric.agenda.push(NO_LANE, 0, Event::Sample.pack());
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
        Self {
            state: State {
                fabric,
                flows,
                limiters,
                hosts,
                totals: Totals::default(),
                measuring_since: 0,
                ideal_in_flight: 0,
            },
            probe,
            hops: network.hops.clone(),
            steps: network.hops.iter().map(step).collect(),
            nps,
            np_of_hop,
            changes: network.changes.clone(),
            feedback: network.feedback,
            waiting: vec![std::collections::VecDeque::new(); ports],
            nic_armed: vec![NEVER; ports],
            outbox: Vec::new(),
            outbox_of_rp: Vec::new(),
            events: 0,
        }
    }

    /// Handles every event before `t`; then it is `t`. Where a run is cut into steps changes nothing in it.
    pub fn run_until(&mut self, t: Instant) {
        while let Some((at, what)) = self.state.fabric.agenda.pop(t.0) {
            self.state.fabric.now = at;
            self.events += 1;
            // Most events are deliveries: one comparison finds them.
            if let Some(slot) = Event::delivery(what) {
                self.deliver(slot);
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
                Event::Start(flow) => self.start(flow),
                Event::Stop(flow) => self.stop(flow),
                Event::Change(index) => self.change(index),
                Event::Ideal(slot) => self.ideal_arrival(slot),
                Event::Sample => self.sample(),
            }
        }
        self.state.fabric.now = self.state.fabric.now.max(t.0);
    }

    /// The warm-up is over: time-weighted statistics begin anew.
    pub fn start_measuring(&mut self) {
        self.state.restart_statistics();
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

    // ---- frames ----

    /// A frame has reached the far end of a line.
    #[inline(always)]
    fn deliver(&mut self, index: u32) {
        let slot = self.state.fabric.frames.get_mut(index);
        let step = self.steps[slot.hop as usize];
        if slot.class == GONE {
            // The link broke while the frame was on it; its slot was kept for this event.
            self.state.fabric.frames.remove(index);
            return;
        }
        let data = match slot.payload {
            Payload::Data(_) => true,
            Payload::Down(_) => false,
            Payload::Up { .. } => return self.ascend(index),
        };
        match step.next {
            LEAF => {
                self.state.fabric.cross(step.port);
                self.arrive(index);
            }
            BRANCH => {
                self.state.fabric.cross(step.port);
                self.branch(index);
            }
            next => {
                slot.hop = next;
                let (flow, class, octets) = (slot.flow, slot.class, slot.octets);
                self.state.fabric.cross(step.port);
                self.forward(index, next, flow, class, octets, data);
            }
        }
    }

    /// The frame joins the queue of hop `next`, which is its hop already.
    #[inline(always)]
    fn forward(&mut self, index: u32, next: u32, flow: u32, class: u8, octets: u16, data: bool) {
        let port = self.steps[next as usize].port;
        let queued = self.state.fabric.enqueue(port, index, class, octets, &mut self.outbox);
        if !queued {
            self.count_drop(flow, data);
        }
        if !self.outbox.is_empty() || (P::ARRIVALS && data) {
            self.seen_at_queue(port, class, flow, queued);
        }
    }

    /// A congestion point has seen a frame: its signals go out, and the probe may look on.
    #[cold]
    fn seen_at_queue(&mut self, port: u32, class: u8, flow: u32, queued: bool) {
        let queue = port * self.state.fabric.per_port + u32::from(class);
        self.route_from_cp(queue);
        if P::ARRIVALS && class != self.state.fabric.control_class() {
            let len = Octets(self.state.fabric.queue(queue).len);
            let now = Instant(self.state.fabric.now);
            self.probe.arrival(now, QueueId(queue), FlowId(flow), len, !queued);
        }
    }

    /// A copy for each branch.
    #[cold]
    fn branch(&mut self, index: u32) {
        let slot = self.state.fabric.frames.get(index).clone();
        let hop = &self.hops[slot.hop as usize];
        let (first, n) = (hop.first_child.0, u32::from(hop.children));
        let extra = u64::from(n) - 1;
        if matches!(slot.payload, Payload::Data(_)) {
            self.state.totals.copies_made += extra;
            self.state.flows[slot.flow as usize].copies += extra;
        } else {
            self.state.totals.signals_sent += extra;
        }
        for i in 0..n {
            let copy = if i == 0 { index } else { self.state.fabric.frames.insert(slot.clone()) };
            let next = first + i;
            self.state.fabric.frames.get_mut(copy).hop = next;
            let data = matches!(slot.payload, Payload::Data(_));
            self.forward(copy, next, slot.flow, slot.class, slot.octets, data);
        }
    }

    /// A frame has reached a destination.
    #[inline(always)]
    fn arrive(&mut self, index: u32) {
        let fabric = &mut self.state.fabric;
        let now = fabric.now;
        let overhead = fabric.overhead;
        let slot = fabric.frames.get_mut(index);
        let np = self.np_of_hop[slot.hop as usize];
        let state = &mut self.nps[np as usize];
        match &mut slot.payload {
            Payload::Data(tag) => {
                let flow = &mut self.state.flows[slot.flow as usize];
                flow.delivered += 1;
                flow.delivered_octets += u64::from(slot.octets) + u64::from(overhead);
                if flow.delivered == flow.expected {
                    flow.completed = Some(Instant(now));
                }
                let frame = Frame {
                    flow: FlowState::key(slot.flow),
                    octets: slot.octets,
                    weight: 1,
                    last: slot.last,
                    sent_at: Instant(slot.sent_at),
                    tag,
                };
                state.np.on_frame(Instant(now), frame, &mut state.stream, &mut Sender(&mut self.outbox));
            }
            Payload::Down(signal) => {
                let signal = *signal;
                self.state.totals.probes_delivered += 1;
                state.np.on_signal(Instant(now), signal, &mut state.stream, &mut Sender(&mut self.outbox));
            }
            Payload::Up { .. } => unreachable!("signals for sources go up the tree"),
        }
        self.state.fabric.frames.remove(index);
        self.after_np(np);
    }

    /// A signal for the source has crossed one link upwards.
    fn ascend(&mut self, index: u32) {
        let hop = &self.hops[self.state.fabric.frames.get(index).hop as usize];
        let (port, parent) = (hop.back.0, hop.parent);
        self.state.fabric.cross(port);
        match parent {
            Some(parent) => self.climb(index, parent),
            None => self.signal_arrives(index),
        }
    }

    /// The signal joins the control queue towards the source over hop `hop`.
    fn climb(&mut self, index: u32, hop: HopId) {
        let slot = self.state.fabric.frames.get_mut(index);
        slot.hop = hop.0;
        let (flow, class, octets) = (slot.flow, slot.class, slot.octets);
        let port = self.hops[hop.index()].back.0;
        if !self.state.fabric.enqueue(port, index, class, octets, &mut self.outbox) {
            self.count_drop(flow, false);
        }
    }

    fn count_drop(&mut self, flow: u32, data: bool) {
        if data {
            self.state.flows[flow as usize].dropped += 1;
        } else {
            self.state.totals.signals_lost += 1;
        }
    }

    // ---- signals ----

    /// Sends what a congestion point has put into the outbox.
    #[cold]
    fn route_from_cp(&mut self, queue: u32) {
        let port = queue / self.state.fabric.per_port;
        for (to, priority, signal) in std::mem::take(&mut self.outbox) {
            let class = (queue % self.state.fabric.per_port) as usize;
            self.state.fabric.ports[port as usize].queues[class].feedback += 1;
            let (To::Source(FlowKey(flow)) | To::Destination(FlowKey(flow))) = to;
            let hop = self.hop_at(flow, port);
            match to {
                To::Source(_) => {
                    let parent = self.hops[hop.index()].parent;
                    self.send_up(flow, parent, priority, signal, queue);
                }
                To::Destination(_) => self.send_down(flow, hop, priority, signal),
            }
        }
    }

    /// The hop of `flow` that leaves by `port`.
    fn hop_at(&self, flow: u32, port: u32) -> HopId {
        let mut waiting = vec![HopId(self.state.flows[flow as usize].root)];
        while let Some(hop) = waiting.pop() {
            let h = &self.hops[hop.index()];
            if h.port.0 == port {
                return hop;
            }
            waiting.extend((0..u32::from(h.children)).map(|i| HopId(h.first_child.0 + i)));
        }
        panic!("a congestion point at port {port} signals flow {flow}, which does not pass there");
    }

    /// A signal for the source of `flow` leaves a station; `hop` is the link that it takes first, upwards (`None`: it is
    /// at the source already).
    fn send_up(&mut self, flow: u32, hop: Option<HopId>, class: Class, signal: S::Signal, origin: u32) {
        let start = hop.map_or(NONE, |h| h.0);
        let index = self.signal_frame(flow, start, class, Payload::Up { signal, origin });
        match (self.feedback, hop) {
            (Feedback::Ideal(delay), _) => {
                self.state.ideal_in_flight += 1;
                let at = self.state.fabric.now + delay.0;
                self.state.fabric.agenda.push(NO_LANE, at, Event::Ideal(index).pack());
            }
            (Feedback::InBand, None) => self.signal_arrives(index),
            (Feedback::InBand, Some(hop)) => self.climb(index, hop),
        }
    }

    /// A signal for the destinations of `flow` leaves a station by `hop`. Probes are frames even where feedback is ideal:
    /// switches read and edit them on their way.
    fn send_down(&mut self, flow: u32, hop: HopId, class: Class, signal: S::Signal) {
        let index = self.signal_frame(flow, hop.0, class, Payload::Down(signal));
        let port = self.hops[hop.index()].port.0;
        let slot = self.state.fabric.frames.get(index);
        let (class, octets) = (slot.class, slot.octets);
        if !self.state.fabric.enqueue(port, index, class, octets, &mut self.outbox) {
            self.count_drop(flow, false);
        }
    }

    fn signal_frame(&mut self, flow: u32, hop: u32, class: Class, payload: Payload<S>) -> u32 {
        let (Payload::Up { signal, .. } | Payload::Down(signal)) = &payload else {
            unreachable!("data frames come from limiters")
        };
        let octets = S::octets(signal);
        let fabric = &mut self.state.fabric;
        let class = match class {
            Class::Data => fabric.class_of(flow),
            Class::Control => fabric.control_class(),
        };
        self.state.totals.signals_sent += 1;
        let sent_at = fabric.now;
        fabric.frames.insert(Slot { next: NONE, flow, hop, octets, class, last: false, sent_at, at: 0, payload })
    }

    fn ideal_arrival(&mut self, index: u32) {
        self.state.ideal_in_flight -= 1;
        self.signal_arrives(index);
    }

    /// A signal has reached its source.
    fn signal_arrives(&mut self, index: u32) {
        let slot = self.state.fabric.frames.get(index);
        let Payload::Up { signal, origin } = slot.payload else { unreachable!("only signals for sources end here") };
        let flow = slot.flow;
        self.state.fabric.frames.remove(index);
        let now = Instant(self.state.fabric.now);
        let limiter_index = self.state.flows[flow as usize].limiter;
        let limiter = &mut self.state.limiters[limiter_index as usize];
        let Some(rp) = &mut limiter.rp else {
            self.state.totals.signals_discarded += 1;
            return;
        };
        rp.on_signal(now, signal, &mut limiter.stream, &mut Sender(&mut self.outbox));
        let rate = rp.allowance().rate;
        self.state.flows[flow as usize].signals += 1;
        self.state.totals.feedback_frames += 1;
        let origin = (origin != NONE).then_some(QueueId(origin));
        self.probe.signal(now, &SignalSeen { flow: FlowId(flow), origin, signal: &signal, rate });
        self.after_rp(limiter_index);
    }

    /// Sends what a notification point has put into the outbox and arms its timer.
    #[inline(always)]
    fn after_np(&mut self, np: u32) {
        let state = &mut self.nps[np as usize];
        if let Some(Instant(at)) = state.np.next_timeout()
            && at < state.armed
        {
            state.armed = at;
            self.state.fabric.agenda.push(NO_LANE, at, Event::NpTimer(np).pack());
        }
        if !self.outbox.is_empty() {
            let (flow, leaf) = (state.flow, state.leaf);
            for (to, class, signal) in std::mem::take(&mut self.outbox) {
                let To::Source(FlowKey(to)) = to else { panic!("a notification point signals sources only") };
                assert_eq!(to, flow, "a notification point signals the source of its own flow");
                self.send_up(flow, Some(HopId(leaf)), class, signal, NONE);
            }
        }
    }

    fn np_timeout(&mut self, np: u32) {
        let state = &mut self.nps[np as usize];
        if state.armed == self.state.fabric.now {
            state.armed = NEVER;
            let now = Instant(self.state.fabric.now);
            state.np.on_timeout(now, &mut state.stream, &mut Sender(&mut self.outbox));
            self.after_np(np);
        }
    }

    // ---- hosts ----

    fn start(&mut self, flow: u32) {
        let now = self.state.fabric.now;
        let limiter_index = self.state.flows[flow as usize].limiter;
        let limiter = &mut self.state.limiters[limiter_index as usize];
        let state = &mut self.state.flows[flow as usize];
        state.pass_rate(now, limiter.rate);
        state.started = true;
        if let Some(rp) = &mut limiter.rp {
            rp.on_start(Instant(now), FlowState::key(flow), &mut limiter.stream, &mut Sender(&mut self.outbox));
            self.after_rp(limiter_index);
        }
        self.reschedule(limiter_index);
    }

    fn stop(&mut self, flow: u32) {
        let now = self.state.fabric.now;
        let state = &mut self.state.flows[flow as usize];
        state.pass_rate(now, self.state.limiters[state.limiter as usize].rate);
        state.generator.advance(now);
        state.stopped = true;
        let limiter = state.limiter;
        self.reschedule(limiter);
    }

    fn rp_timeout(&mut self, limiter_index: u32) {
        let limiter = &mut self.state.limiters[limiter_index as usize];
        if limiter.armed != self.state.fabric.now {
            return;
        }
        limiter.armed = NEVER;
        let now = Instant(self.state.fabric.now);
        if let Some(rp) = &mut limiter.rp {
            rp.on_timeout(now, &mut limiter.stream, &mut Sender(&mut self.outbox));
            self.after_rp(limiter_index);
        }
    }

    /// After any call of a reaction point: takes over its allowance, arms its timer, sends its signals.
    #[inline]
    fn after_rp(&mut self, limiter_index: u32) {
        if self.adopt(limiter_index) {
            self.reschedule(limiter_index);
        }
        if !self.outbox.is_empty() {
            self.route_from_rp(limiter_index);
        }
    }

    /// Reads a reaction point's answers; true if its allowance has changed.
    #[inline(always)]
    fn adopt(&mut self, limiter_index: u32) -> bool {
        let limiter = &mut self.state.limiters[limiter_index as usize];
        let changed = adopt(limiter, limiter_index, &mut self.state.fabric.agenda);
        if changed.anything() {
            self.take_over(limiter_index, changed);
        }
        changed.anything()
    }

    /// Gives effect to what has changed in a reaction point's answers.
    fn take_over(&mut self, limiter_index: u32, changed: Changed) {
        let now = self.state.fabric.now;
        let limiter = &mut self.state.limiters[limiter_index as usize];
        if changed.limiting {
            limiter.limiting = !limiter.limiting;
            self.state.hosts[limiter.host as usize].change(now, limiter.limiting);
        }
        let Some(rp) = &limiter.rp else { return };
        let allowance = rp.allowance();
        limiter.window = allowance.window.map_or(NEVER, |w| w.0);
        if allowance.rate.0 != limiter.rate {
            for &flow in &limiter.flows {
                self.state.flows[flow as usize].pass_rate(now, limiter.rate);
            }
            limiter.set_rate(now, allowance.rate.0);
        }
    }

    #[cold]
    fn route_from_rp(&mut self, limiter_index: u32) {
        for (to, class, signal) in std::mem::take(&mut self.outbox) {
            let To::Destination(FlowKey(flow)) = to else { panic!("a reaction point signals destinations only") };
            assert_eq!(
                self.state.flows[flow as usize].limiter, limiter_index,
                "a reaction point signals the destinations of its own flows"
            );
            let root = HopId(self.state.flows[flow as usize].root);
            self.send_down(flow, root, class, signal);
        }
    }

    /// Sees to it that the limiter wakes when its next frame may go; returns that time.
    #[inline(always)]
    fn reschedule(&mut self, limiter_index: u32) -> u64 {
        let now = self.state.fabric.now;
        let overhead = self.state.fabric.overhead;
        let limiter = &mut self.state.limiters[limiter_index as usize];
        if limiter.waiting {
            return NEVER;
        }
        let wake = limiter.next_release(now, &mut self.state.flows, overhead);
        if wake != limiter.wake {
            limiter.wake = wake;
            if wake != NEVER {
                self.state.fabric.agenda.push(RELEASES, wake, Event::Release(limiter_index).pack());
            }
        }
        wake
    }

    /// Releases a frame of the flow whose turn it is, for which traffic, pacer and window allow it. If the line is not free,
    /// or other limiters wait for it and it is not this one's turn, it waits.
    #[inline(always)]
    fn release(&mut self, limiter_index: u32, in_turn: bool) {
        let State { fabric, flows, limiters, .. } = &mut self.state;
        let now = fabric.now;
        let limiter = &mut limiters[limiter_index as usize];
        let port = limiter.port;
        let (p, mut around) = fabric.at(port);
        around.settle(p);
        if p.arbiter && (!p.free(now) || (!in_turn && !self.waiting[port as usize].is_empty())) {
            limiter.waiting = true;
            self.waiting[port as usize].push_back(limiter_index);
            self.arm_nic(port);
            return;
        }
        let flow_index = limiter.flow_in_turn();
        let flow = &mut flows[flow_index as usize];
        let (octets, last) = flow.generator.take(now);
        let wire_octets = u32::from(octets) + p.overhead;
        flow.sent += 1;
        flow.sent_octets += u64::from(wire_octets);
        if last {
            flow.pass_rate(now, limiter.rate);
            flow.stopped = true;
        }
        limiter.spend(now, wire_octets);
        let tag = limiter.rp.as_mut().map_or_else(S::Tag::default, |rp| {
            rp.on_send(Instant(now), octets, last, &mut limiter.stream, &mut Sender(&mut self.outbox))
        });
        let class = flow.class;
        let payload = Payload::Data(tag);
        let slot =
            Slot { next: NONE, flow: flow_index, hop: flow.root, octets, class, last, sent_at: now, at: 0, payload };
        let (mut wake, overhead) = (NEVER, p.overhead);
        let alone = limiter.flows.len() == 1;
        let changed = adopt(limiter, limiter_index, around.agenda);
        if alone && !changed.anything() {
            wake = limiter.next_release_of(flow, now, overhead);
            limiter.wake = wake;
        }
        let signals = !self.outbox.is_empty();
        if signals {
            std::mem::swap(&mut self.outbox, &mut self.outbox_of_rp);
        }
        let index = around.frames.insert(slot);
        let queued = around.enqueue(p, index, class, octets, &mut self.outbox);
        if wake != NEVER {
            around.agenda.push(RELEASES, wake, Event::Release(limiter_index).pack());
        }
        if !queued {
            flow.dropped += 1;
        }
        if !self.outbox.is_empty() || P::ARRIVALS {
            self.seen_at_queue(port, class, flow_index, queued);
        }
        if changed.anything() {
            self.take_over(limiter_index, changed);
        }
        if changed.anything() || !alone {
            self.reschedule(limiter_index);
        }
        if signals {
            std::mem::swap(&mut self.outbox, &mut self.outbox_of_rp);
            self.route_from_rp(limiter_index);
        }
    }

    /// Makes the event at which the line of a host port is free again.
    fn arm_nic(&mut self, port: u32) {
        let p = &self.state.fabric.ports[port as usize];
        if !p.up {
            return;
        }
        let at = p.busy_until.max(self.state.fabric.now);
        if self.nic_armed[port as usize] != at {
            self.nic_armed[port as usize] = at;
            self.state.fabric.agenda.push(NO_LANE, at, Event::NicFree(port).pack());
        }
    }

    /// The line of a host port is free: the limiters that wait take their turns.
    fn nic_free(&mut self, port: u32) {
        if self.nic_armed[port as usize] != self.state.fabric.now {
            return;
        }
        let now = self.state.fabric.now;
        self.nic_armed[port as usize] = NEVER;
        self.state.fabric.settle(port);
        while self.state.fabric.idle(port) {
            let Some(limiter) = self.waiting[port as usize].pop_front() else { return };
            self.state.limiters[limiter as usize].waiting = false;
            // Since it began to wait, its allowance may have changed.
            if self.reschedule(limiter) == now {
                self.state.limiters[limiter as usize].wake = NEVER;
                self.release(limiter, true);
            }
        }
        if !self.waiting[port as usize].is_empty() {
            self.arm_nic(port);
        }
    }

    // ---- the world ----

    fn change(&mut self, index: u32) {
        let change = self.changes[index as usize];
        let port = change.port.0;
        match change.event {
            PortEvent::Rate(rate) => self.state.fabric.set_rate(port, rate),
            PortEvent::Down => {
                self.state.fabric.settle(port);
                let frames = self.state.fabric.frames.iter();
                let lost: Vec<u32> =
                    frames.filter(|(_, slot)| self.line_of(slot) == Some(port)).map(|(frame, _)| frame).collect();
                for &frame in &lost {
                    let slot = self.state.fabric.frames.get_mut(frame);
                    slot.class = GONE;
                    if matches!(slot.payload, Payload::Data(_)) {
                        self.state.flows[slot.flow as usize].lost += 1;
                    } else {
                        self.state.totals.signals_lost += 1;
                    }
                }
                self.state.fabric.set_down(port, lost.len() as u64);
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
            Payload::Up { .. } => hop.back.0,
        })
    }

    fn sample(&mut self) {
        self.state.fabric.settle_all();
        let now = self.state.fabric.now;
        self.probe.sample(Instant(now), &self.state);
        if let Some(interval) = self.probe.interval() {
            self.state.fabric.agenda.push(NO_LANE, now + interval.0.max(1), Event::Sample.pack());
        }
    }
}

/// What has changed in a reaction point's answers.
#[derive(Debug, Clone, Copy)]
struct Changed {
    allowance: bool,
    limiting: bool,
}

impl Changed {
    #[inline(always)]
    fn anything(self) -> bool {
        self.allowance || self.limiting
    }
}

/// Arms the reaction point's timer and compares its answers with what is in force.
#[inline(always)]
fn adopt<S: Scheme>(limiter: &mut Limiter<S>, index: u32, agenda: &mut Agenda) -> Changed {
    let Some(rp) = &limiter.rp else { return Changed { allowance: false, limiting: false } };
    if let Some(Instant(at)) = rp.next_timeout()
        && at < limiter.armed
    {
        limiter.armed = at;
        agenda.push(NO_LANE, at, Event::RpTimer(index).pack());
    }
    let allowance = rp.allowance();
    let window = allowance.window.map_or(NEVER, |w| w.0);
    Changed {
        allowance: allowance.rate.0 != limiter.rate || window != limiter.window,
        limiting: rp.limiting() != limiter.limiting,
    }
}

impl<S: Scheme> State<S> {
    fn restart_statistics(&mut self) {
        self.pass_rates();
        self.fabric.restart_statistics();
        for flow in &mut self.flows {
            flow.restart_statistics();
        }
        for host in &mut self.hosts {
            host.restart_statistics();
        }
        self.measuring_since = self.fabric.now;
    }

    /// Lets the sums of rates and limiters reach the present.
    pub(crate) fn pass_rates(&mut self) {
        let now = self.fabric.now;
        for flow in &mut self.flows {
            flow.pass_rate(now, self.limiters[flow.limiter as usize].rate);
        }
        for host in &mut self.hosts {
            host.pass(now);
        }
    }
}

impl<S: Scheme> View<S> for State<S> {
    fn queue(&self, queue: QueueId) -> QueueNow {
        let q = self.fabric.queue(queue.0);
        let p = &self.fabric.ports[(queue.0 / self.fabric.per_port) as usize];
        QueueNow {
            len: Octets(q.len),
            frames: q.frames,
            line_bits: p.sent_bits(self.fabric.now),
            scheduled_bits: p.scheduled_bits(self.fabric.now),
            dropped: q.dropped,
        }
    }

    fn flow(&self, flow: FlowId) -> FlowNow {
        let f = &self.flows[flow.index()];
        let active = f.active();
        FlowNow {
            allowed: BitRate(if active { self.limiters[f.limiter as usize].rate } else { 0 }),
            delivered: Octets(f.delivered_octets / u64::from(f.destinations)),
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

/// An agenda whose spans suit the network: how far ahead deliveries and releases are, and how many events come.
fn agenda_for(network: &Network) -> Agenda {
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
    Agenda::new(reach, per_second.sum())
}
