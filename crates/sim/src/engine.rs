//! The event loop: takes events in order and lets hosts and fabric act on them.

mod acknowledgement;
mod conservation;
mod convergence;
mod dynamic_flows;
mod flow_completion;
mod flow_control;
mod forwarding;
mod host;
mod impairment;
mod interfaces;
mod line_capture;
mod load_balancing;
mod measure;
mod message_accounts;
pub mod parallel;
pub(crate) mod parameter_changes;
mod prefetch;
mod run_state;
mod setup;
pub(crate) mod steering;
mod ties;
mod transmit_queue;
mod transport;
mod work;

use std::collections::BTreeMap;

use penstock_endpoint::{Destination, Grants, Ranks, TrafficClass};
use penstock_schemes::{Duration, Instant, NotificationPoint, Octets, Scheme};
use penstock_switch::Model;
use penstock_switch::datapath::Outbox;
use penstock_switch::events::FrameId;
use penstock_switch::state::frame::{Arena, FrameKind, GONE, Head};
use penstock_switch::state::histograms::Histograms;
use penstock_switch::state::port::{HISTOGRAMS, queues};

use crate::engine::conservation::Accounts;
use crate::engine::dynamic_flows::DynamicFlows;
use crate::engine::flow_completion::FlowCompletion;
use crate::engine::interfaces::{ReceiveBuffers, StormEdge};
use crate::engine::measure::Reading;
use crate::engine::parallel::Part;
use crate::engine::parameter_changes::Reconfigurations;
use crate::engine::prefetch::Prefetch;
use crate::engine::run_state::RunState;
use crate::engine::setup::{Endpoints, fabric, schedule, steps};
use crate::engine::ties::Arbiters;
use crate::engine::work::Employed;
use crate::network::{Feedback, FlowId, Hop, HopId, Network, NodeId, PortEvent, PortId, QueueId, Reroute};
use crate::outcome::{Outcome, Totals};
use crate::probe::{FateOnLine, Probe, View};
use crate::random::Stream;
use crate::routing::load_balancing::LoadBalancer;
use crate::routing::routes::Routes;
use crate::state::event::{ChangeId, Event, MAX_INDEX};
use crate::state::hops::{HopEnd, Step};
use crate::state::records::HostRecord;

/// The most events from one look at the rest of a slice to the next.
const BATCH: u64 = 256;

/// No hop: it stands where [`LOST`] frames are.
const NO_HOP: Hop = Hop { port: PortId(0), back: PortId(0), parent: None, first_child: HopId::NONE, children: 0 };

/// A simulation of scheme `S`, watched by `P`. With [`Full`](crate::Full) its switches can do everything, which costs time at every hop:
/// see [the two engines](crate#two-engines).
///
/// ```text
///   Sim::new(network, configs, seed, probe)     everything idle, time zero
///      .run_until(warm_up) .start_measuring()   statistics start again
///      .run_until(end)                          in as many steps as the caller likes: they change nothing
///      .finish()                                conservation is checked, the Outcome made
/// ```
#[derive(Debug)]
pub struct Sim<S: Scheme, P: Probe<S>, M: Model> {
    pub(crate) state: RunState<S, M>,
    pub(crate) probe: P,
    pub(crate) hops: Vec<Hop>,
    pub(crate) routes: Routes,
    pub(crate) steps: Vec<Step>,
    pub(crate) destinations: Vec<Destination<S, Stream>>,
    /// The turns of destinations that grant frames, by port; empty where none do.
    pub(crate) grants: Vec<Grants>,
    /// The same for destinations with ranks.
    pub(crate) ranks: Vec<Ranks>,
    /// The leaf hop of each destination, and the far end of each hop.
    pub(crate) leaves: Vec<HopId>,
    pub(crate) end_of_hop: Vec<HopEnd>,
    /// The hop of frames that a broken link has lost.
    pub(crate) lost: HopId,
    /// Flows that come and go.
    pub(crate) dynamic_flows: DynamicFlows<S>,
    /// The choices of switches, where they have any.
    pub(crate) load_balancer: Option<Box<LoadBalancer>>,
    /// The arbiters of switches, where they have any.
    pub(crate) arbiters: Option<Box<Arbiters>>,
    /// The host of each limiter.
    pub(crate) homes: Vec<NodeId>,
    /// The part of the network that this is; `None`: all of it.
    pub(crate) part: Option<Box<Part>>,
    pub(crate) changes: Vec<crate::network::Change>,
    /// Routes that flows of the network have later.
    pub(crate) reroutes: Vec<Reroute>,
    /// For hops of replaced routes those of the routes that came after, over the same ports.
    pub(crate) successors: BTreeMap<HopId, HopId>,
    /// Acknowledgements go back over the path of the frame that they answer; by its last hop, the first one of those of transports.
    pub(crate) spray_acks: bool,
    pub(crate) reverse_paths: BTreeMap<HopId, HopId>,
    /// Network interfaces that pause their switch.
    pub(crate) storms: Vec<StormEdge>,
    pub(crate) receive_buffers: ReceiveBuffers,
    /// Parameters that change during the run, where any do.
    pub(crate) reconfigurations: Option<Box<Reconfigurations<S>>>,
    pub(crate) flow_completion: FlowCompletion,
    /// Work that makes flows as others end, where there is any.
    pub(crate) employed: Option<Box<Employed>>,
    pub(crate) feedback: Feedback,
    /// Of the last frame that may have ended a flow, or a message of it: its first octet in the flow, and when it was sent. Few frames need
    /// them, so that they are not on the path of all.
    pub(crate) ending: (Octets, Instant),
    pub(crate) outbox: Outbox<S>,
    /// Empty ones, for signals that make others while they are routed.
    spare: Vec<Outbox<S>>,
    /// Keeps a reaction point's signals while its frame is on its way into the port.
    pub(crate) outbox_of_rp: Outbox<S>,
    events: u64,
    /// Events that were handled at the instant at which they were made, without going through the queue.
    pub(crate) events_at_once: u64,
    /// Of all of them, those that change nothing.
    pub(crate) housekeeping: u64,
    /// Work that is left for this slice, in events, as it was before the present batch of them.
    left: u64,
    /// The batch has events before this time; none after work other than that of an event.
    limit: Instant,
    /// Every flow that the run waits for has ended.
    over: bool,
    /// A part stands at a sample.
    pub(crate) at_sample: bool,
    /// When the work of a part had been done, in a run that ends with it.
    pub(crate) done_at: Option<Instant>,
    /// Sees frames before they come, in a large network.
    pub(crate) prefetch: Option<Box<Prefetch>>,
}

impl<S: Scheme, P: Probe<S>, M: Model> Sim<S, P, M> {
    /// Lays out a run. `configs` are the scheme's parameters for each of the network's priorities, and then for each of its
    /// [`own_lines`](Network::own_lines). Random streams derive
    /// from `seed`.
    ///
    /// # Panics
    /// If `network` is not as its documentation says, if it [needs flow control](Network::needs_flow_control) without [`Full`](crate::Full),
    /// or if it does not trim for a scheme that [needs it](Scheme::needs_trimming).
    /// If there is not one configuration for each priority and each line with its own, or if there are more than 2^27 queues and hops, or flows.
    pub fn new(network: &Network, configs: &[S::Config], seed: u64, probe: P) -> Self {
        let flows = network.flows.len() + network.processes.flows();
        assert!(
            (network.ports.len() * network.queues_per_port() + network.hops.len() + flows).max(2 * flows) < MAX_INDEX,
            "a network has at most {MAX_INDEX} queues, hops and flows"
        );
        let all = network.priorities.len() + network.own_lines.len();
        assert_eq!(configs.len(), all, "a configuration for each priority, and for each line with its own");
        assert!(
            M::FULL || !network.needs_flow_control(),
            "flow control, pools, weights, WRED, trimming, and marks by the port or at departure need the engine that has them"
        );
        let trimmed = |priority| network.trimmed.contains(priority);
        let needs = network.priorities.iter().zip(configs).filter(|(_, config)| S::needs_trimming(config));
        assert!(needs.map(|(priority, _)| priority).all(trimmed), "a scheme needs switches that trim");
        let mut fabric = fabric(network, configs, seed);
        let receive_buffers = interfaces::receive_buffers(network, &mut fabric);
        let mut endpoints = Endpoints::new(network, configs, seed);
        for (id, flow) in (0..).map(FlowId).zip(&network.flows) {
            endpoints.add_flow(id, flow);
        }
        schedule(network, probe.interval().is_some(), &|_| true, &mut fabric.events);
        let dynamic_flows = DynamicFlows::new(network, configs, seed, &mut endpoints);
        let homes: Vec<NodeId> =
            endpoints.sources.limiters().iter().map(|limiter| network.ports[limiter.port().index()].node).collect();
        let mut hosts = vec![HostRecord::default(); network.nodes.len()];
        for (limiter, home) in endpoints.sources.limiters().iter().zip(&homes) {
            if limiter.limiting() {
                hosts[home.index()].change(Instant::ZERO, true);
            }
        }
        let mut sim = Self {
            state: RunState {
                fabric,
                sources: endpoints.sources,
                static_flows: network.flows.len() as u32,
                records: endpoints.records,
                transports: endpoints.transports,
                hosts,
                totals: Totals::default(),
                measuring: Reading::default(),
                windows: Vec::new(),
                ideal_in_flight: 0,
            },
            probe,
            hops: network.hops.iter().copied().chain([NO_HOP]).collect(),
            routes: Routes::new(network),
            steps: steps(network),
            destinations: endpoints.destinations,
            grants: vec![Grants::default(); if S::Np::GRANTS { network.ports.len() } else { 0 }],
            ranks: vec![Ranks::default(); if S::Np::RANKS { network.ports.len() } else { 0 }],
            leaves: endpoints.leaves,
            end_of_hop: endpoints.end_of_hop,
            lost: HopId(network.hops.len() as u32),
            dynamic_flows,
            load_balancer: LoadBalancer::new(network, seed),
            arbiters: Arbiters::new(network, seed),
            homes,
            part: None,
            changes: network.changes.clone(),
            reroutes: network.reroutes.clone(),
            successors: BTreeMap::new(),
            spray_acks: network.spray_acks,
            reverse_paths: network.reverse_paths.iter().copied().collect(),
            storms: interfaces::edges(network),
            receive_buffers,
            reconfigurations: None,
            flow_completion: FlowCompletion::new(network),
            employed: None,
            feedback: network.feedback,
            ending: Default::default(),
            outbox: Vec::new(),
            spare: Vec::new(),
            outbox_of_rp: Vec::new(),
            events: 0,
            events_at_once: 0,
            housekeeping: 0,
            left: 0,
            limit: Instant::ZERO,
            over: false,
            at_sample: false,
            done_at: None,
            prefetch: Prefetch::new::<S>(network),
        };
        sim.state.measuring = sim.state.counted().reading();
        sim.capture_lines();
        sim
    }

    /// Handles every event before `t`; then it is `t`, unless the run [has ended](Self::is_over) before. Where a run is cut into
    /// steps changes nothing in it.
    pub fn run_until(&mut self, t: Instant) {
        while !self.run_slice(t, u64::MAX) {}
    }

    /// The same, but for no more than `work` events, or for work that takes as long; false if there is more to do. The
    /// work of a slice is bounded for every network, while events before `t`, and even those of one instant, have no
    /// bound.
    pub fn run_slice(&mut self, t: Instant, work: u64) -> bool {
        self.left = work;
        self.handle_events(t)
    }

    /// The hop of `flow` that leaves by `port`, if its data passes there.
    pub(crate) fn hop_at(&self, flow: FlowId, port: PortId) -> Option<HopId> {
        if flow.0 < self.state.static_flows {
            self.routes.hop(flow, port)
        } else {
            self.hop_of_dynamic_flow(flow, port)
        }
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
        if work > 0 {
            self.left = self.left.saturating_sub(work);
            // The batch ends, so that the rest of the slice is looked at.
            self.limit = Instant::ZERO;
        }
    }

    /// Handles events before `t` until the work of this slice is done; true if there are no more of them, and then it is `t`.
    fn handle_events(&mut self, t: Instant) -> bool {
        let all = self.handle_before(t);
        if all && !self.over {
            self.state.fabric.now = self.state.fabric.now.max(t);
        }
        all
    }

    /// The same, but the time is that of the last event.
    pub(crate) fn handle_before(&mut self, t: Instant) -> bool {
        while self.left > 0 && !self.over {
            self.limit = t;
            let mut most = self.left.min(BATCH);
            if self.prefetch.is_some() {
                self.look_ahead();
                most = most.min(prefetch::BATCH);
            }
            let handled = self.handle_batch(most);
            self.events += handled;
            self.left = self.left.saturating_sub(handled);
            if handled < most && self.limit == t {
                return true;
            }
        }
        self.over
    }

    /// Whether every flow with a size has ended, in a run that is to last so long ([`Network::until_complete`]). Time stands still
    /// from then on.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// The run goes no further than to this event.
    pub(crate) fn end_run(&mut self) {
        self.over = true;
        self.limit = Instant::ZERO;
    }

    /// The run of a part goes on behind a sample.
    pub(crate) fn goes_on(&mut self) {
        self.over = false;
        self.at_sample = false;
    }

    /// Handles up to `most` events before the limit; gives their number. Counting down here, and not from the rest of
    /// the slice, saves a hop six instructions.
    fn handle_batch(&mut self, most: u64) -> u64 {
        for handled in 0..most {
            let Some((at, what)) = self.state.fabric.events.pop(self.limit) else { return handled };
            self.state.fabric.now = at;
            // Most events are deliveries: one comparison finds them.
            match Event::delivery(what) {
                Some(frame) => self.deliver(frame),
                None => self.handle(at, Event::unpack(what)),
            }
            if M::FULL {
                self.state.fabric.review();
            }
        }
        most
    }

    #[inline(always)]
    fn handle(&mut self, at: Instant, event: Event) {
        match event {
            Event::Deliver(_) => unreachable!("`handle_batch` finds deliveries"),
            Event::Release(limiter) => {
                if self.state.sources.due(at, limiter) {
                    self.release(limiter, false);
                }
            }
            Event::NicFree(port) => self.nic_free(port),
            Event::RpTimer(limiter) => self.rp_timeout(limiter),
            Event::CpTimer(cp) => {
                if let Some(queue) = self.state.fabric.cp_timeout(cp, &mut self.outbox) {
                    self.route_from_cp(queue);
                }
            }
            Event::NpTimer(destination) => self.np_timeout(destination),
            Event::Grant(port) => self.grant(port),
            Event::Silence(flow) => self.silence(flow),
            Event::Retransmit(flow) => self.sender_timeout(flow),
            Event::DelayedAck(flow) => self.receiver_timeout(flow),
            Event::Start(flow) => {
                if flow.0 < self.state.static_flows || self.arrives(flow) {
                    self.start(flow);
                }
            }
            Event::Stop(flow) => self.stop(flow),
            Event::Change(index) => self.change(index),
            Event::Configure(id) => self.change_parameters(id),
            Event::Ideal(frame) => self.ideal_arrival(frame),
            Event::Sample => self.sample(),
            Event::LineFree(port) => {
                if M::FULL {
                    self.state.fabric.settle(port);
                }
            }
            Event::Generate(flow) => self.produce_again(flow),
            Event::Arbitrate => self.arbitrate(),
            Event::Nothing => {}
            Event::Converge(first) => self.converge(first),
            Event::Work => self.work_on(),
            event @ (Event::Pause(_)
            | Event::Stopping(_)
            | Event::Refresh(_)
            | Event::Watchdog(_)
            | Event::Shaper(_)
            | Event::Link(_)
            | Event::Storm(_)
            | Event::Drained(_)
            | Event::Corrupted(_)) => {
                if M::FULL {
                    self.flow_control(event);
                }
            }
        }
    }

    /// Keeps histograms of these data queues. To be called before the run begins, of the engine with [`Full`](crate::Full).
    pub fn keep_histograms(&mut self, queues: &[QueueId]) {
        let fabric = &mut self.state.fabric;
        for &queue in queues {
            let (port, _) = fabric.port_and_class(queue);
            fabric.ports[port.index()].attention |= HISTOGRAMS;
        }
        fabric.observed.histograms = Histograms::of(queues, fabric.queues(), fabric.per_port);
        self.state.measuring.start_histograms(&fabric.observed.histograms);
    }

    /// The warm-up has ended: from here on the run is measured.
    pub fn start_measuring(&mut self) {
        self.state.start_measuring();
    }

    /// A window of measurement opens, in addition to those that are open. `window` is a number of the caller's. Changes
    /// no result.
    pub fn open_window(&mut self, window: usize) {
        self.state.open_window(window);
    }

    /// The window closes. Of its outcome, counts too cover the window alone; `None` if it is not open.
    pub fn close_window(&mut self, window: usize) -> Option<Outcome> {
        self.state.close_window(window)
    }

    /// The time that the run has reached.
    pub fn now(&self) -> Instant {
        self.state.fabric.now
    }

    /// Events handled so far.
    pub fn events(&self) -> u64 {
        self.events + self.events_at_once - self.housekeeping
    }

    /// Frames, data or control, that have crossed a link so far.
    pub fn packet_hops(&self) -> u64 {
        self.state.fabric.ports.iter().map(|p| p.hops).sum()
    }

    /// Frames that there is room for: the most that have been in the network at a time.
    pub fn frames_held(&self) -> usize {
        self.state.fabric.frames.held() + self.state.fabric.pauses.frames.slots()
    }

    /// The state at this instant, as an observer sees it at a sample. To look changes nothing in the run.
    pub fn view(&mut self) -> &impl View<S> {
        self.state.fabric.settle_all();
        &self.state
    }

    /// The observer.
    pub fn probe(&self) -> &P {
        &self.probe
    }

    /// The observer, to take its record from it.
    pub fn probe_mut(&mut self) -> &mut P {
        &mut self.probe
    }

    /// Ends the run: takes the last sample, checks that no frame was made or lost by the engine itself, and sums up.
    ///
    /// # Panics
    /// If frames are not conserved, with the counts that disagree.
    pub fn finish(mut self) -> (Outcome, P) {
        self.state.fabric.settle_all();
        if self.probe.interval().is_some() {
            self.probe.sample(self.now(), &self.state);
        }
        self.show_all();
        self.finish_accounts();
        let deadlock = self.state.fabric.stopped_queues().deadlock(&self.state.fabric.pauses);
        let jobs = self.employed.as_mut().map_or_else(Vec::new, |employed| employed.work.outcome());
        let (closing, probe) = self.close();
        (Outcome { jobs, ..closing.outcome(deadlock) }, probe)
    }

    /// Closes the accounts.
    pub(crate) fn close(mut self) -> (Accounts, P) {
        self.state.totals.events = self.events();
        self.state.fabric.settle_all();
        let ends = self.ends_of_processes();
        let mut on_lines = vec![0; self.state.fabric.ports.len()];
        let mut outside = 0;
        for (_, line) in self.frames_under_way() {
            match line {
                Some(port) => on_lines[port.index()] += 1,
                None => outside += 1,
            }
        }
        let received = self.received().collect();
        (self.state.close(on_lines, received, outside, ends), self.probe)
    }

    fn change(&mut self, id: ChangeId) {
        let change = self.changes[id.index()];
        let port = change.port;
        // It happens in all parts, and is one event.
        self.housekeeping += u64::from(self.part.as_ref().is_some_and(|part| !part.has_port(port)));
        match change.event {
            PortEvent::Rate(rate) => self.state.fabric.set_rate(port, rate),
            PortEvent::Down => {
                self.state.fabric.settle(port);
                self.show_rest(port, FateOnLine::Lost);
                self.charge(self.frames_held() as u64);
                let under_way = self.frames_under_way();
                let on_it = under_way.into_iter().filter(|&(_, line)| line == Some(port));
                let lost: Vec<FrameId> = on_it.map(|(frame, _)| frame).collect();
                // The one that leaves the queue at this instant still is one of its flow.
                self.state.fabric.set_down(port, lost.len() as u64);
                for &frame in &lost {
                    let slot = self.state.fabric.frames.get_mut(frame);
                    let (kind, hop) = (slot.kind(), slot.hop);
                    (slot.class, slot.hop) = (GONE, self.lost);
                    if kind == FrameKind::Data {
                        self.state.records[self.state.fabric.flow_at(hop).index()].lost += 1;
                    } else {
                        self.count_drop(hop, kind);
                    }
                }
                for class in (0..=self.state.fabric.control_class().0).map(TrafficClass) {
                    self.flush(port, class);
                }
                if M::FULL {
                    let own = self.part.as_ref().is_none_or(|part| part.has_port(port));
                    self.state.fabric.lose_pauses(port, own);
                    self.state.fabric.reset_retry(port);
                    self.unpark_resumed();
                }
            }
            PortEvent::Up => {
                self.state.fabric.set_up(port);
                self.arm_turn(port);
            }
        }
    }

    /// The frames in the receive buffers of hosts.
    pub(crate) fn received(&self) -> impl Iterator<Item = FrameId> + '_ {
        self.receive_buffers.values().flat_map(|buffer| buffer.frames())
    }

    /// The frames that wait in no queue, each with the port on whose line it is; none for a signal outside of the network.
    fn frames_under_way(&self) -> Vec<(FrameId, Option<PortId>)> {
        let frames: &dyn Arena = &self.state.fabric.frames;
        let mut waits = vec![false; frames.held()];
        for queue in queues(&self.state.fabric.ports) {
            for frame in queue.waiting.iter(frames) {
                waits[frame.index()] = true;
            }
        }
        self.received().for_each(|frame| waits[frame.index()] = true);
        let under_way = frames.iter().filter(|(frame, _)| !waits[frame.index()]);
        under_way.map(|(frame, head)| (frame, line_of(&self.hops, head, self.feedback))).collect()
    }

    fn sample(&mut self) {
        self.state.fabric.settle_all();
        let now = self.state.fabric.now;
        if let Some(part) = &self.part {
            // It is one event, and shows all parts.
            self.housekeeping += u64::from(part.own != 0);
            self.end_run();
            self.at_sample = true;
        } else {
            self.probe.sample(now, &self.state);
        }
        self.charge((self.state.records.len() + self.state.fabric.ports.len()) as u64);
        if let Some(interval) = self.probe.interval() {
            self.state.fabric.events.schedule(now + interval.max(Duration(1)), Event::Sample);
        }
    }
}

/// The port on whose line a frame is that waits in no queue; none for a signal outside of the network.
fn line_of(hops: &[Hop], frame: Head, feedback: Feedback) -> Option<PortId> {
    if frame.ascends && frame.kind == FrameKind::Signal && matches!(feedback, Feedback::Ideal(_)) {
        return None;
    }
    let hop = &hops[frame.hop.index()];
    Some(if frame.ascends { hop.back } else { hop.port })
}
