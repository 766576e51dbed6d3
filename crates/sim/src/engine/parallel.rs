//! A network that is simulated in parts, side by side.
//!
//! ```text
//!   part 0: Sim::part ... run_part(end) --export--> mail for part 1        every part runs to the same end,
//!   part 1: Sim::part ... run_part(end) --export--> mail for part 0        at most the lookahead later
//!                 import <--------------------------------+
//! ```
//!
//! Each part is a whole [`Sim`], which handles its nodes' events alone; the state of the others stays as it was at the
//! start. A frame on a line that is cut has left its queue, and nothing but the line's failure can happen to it. It goes to the other
//! part when its transmission has ended, before that part comes to the time at which it arrives. There its arrival is an event as any
//! other. So the hot path knows nothing of parts.
//!
//! The order of events at one instant goes by entities (decision 16), and no event touches two nodes but by such a frame. So each node
//! sees what it sees in a run of one part, and the sums over all parts are those of that run, to the last bit.
//!
//! Changes of lines happen in all parts: those at both ends of a line look for the frames that it loses.
//!
//! Each part has the work of its hosts, and tells the others by letters what they need to know of messages (`work`).
//!
//! Pause frames go over when their transmission has started, for nothing edits them. Flows that come and go have the same slots in
//! all parts (`dynamic_flows`), which are looked for together.

use std::sync::Arc;

use penstock_endpoint::PortId;
use penstock_schemes::{Duration, Instant, Octets, Scheme};
use penstock_switch::Model;
use penstock_switch::events::CpIndex;
use penstock_switch::events::ELSEWHERE;
use penstock_switch::flow_control::deadlock::StoppedQueues;
use penstock_switch::flow_control::pause_frames::PauseFrame;
use penstock_switch::state::frame::Slot;

use crate::engine::Sim;
use crate::engine::conservation::Accounts;
use crate::engine::setup::event_queue_for;
use crate::engine::work::Letter;
use crate::hosts::entropy::Entropy;
use crate::hosts::transport::Carried;
use crate::network::{FlowId, Network, QueueId};
use crate::outcome::Outcome;
use crate::partition::Partition;
use crate::probe::{FlowNow, Probe, QueueNow, View};
use crate::state::event::{Entity, Event, MAX_INDEX};
use crate::state::event_queue::NO_LANE;

/// Where a part of a network stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// At a sample.
    Sample,
    /// Where its work was done at that time, in a run that ends when all work is.
    Done(Instant),
    /// At the end of its window.
    End,
}

/// The part of a network that a simulation has.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) partition: Arc<Partition>,
    pub(crate) own: usize,
    /// Its ports whose lines lead to other parts.
    cut: Vec<PortId>,
}

impl Part {
    /// Whether a port is one of the part.
    pub(crate) fn has_port(&self, port: PortId) -> bool {
        self.partition.of_port(port) == self.own
    }

    /// Whether the node at the far end of a port's line is.
    pub(crate) fn has_peer(&self, port: PortId) -> bool {
        self.partition.beyond(port) == self.own
    }
}

/// Frames on their way from one part to another, and what the parts tell each other of work.
#[derive(Debug)]
pub struct RemoteFrames<S: Scheme> {
    frames: Vec<Crossing<S>>,
    /// The part of each of them that transports read; empty where there are no transports.
    carried: Vec<Carried>,
    /// Their entropy values; empty where switches do not go by them.
    entropies: Vec<Option<Entropy>>,
    /// Pause frames: when they arrive, and the port whose line they are on.
    pauses: Vec<(Instant, PortId, PauseFrame)>,
    letters: Vec<Letter>,
}

impl<S: Scheme> Default for RemoteFrames<S> {
    fn default() -> Self {
        let (frames, carried, entropies, pauses) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { frames, carried, entropies, pauses, letters: Vec::new() }
    }
}

impl<S: Scheme> RemoteFrames<S> {
    /// How many frames there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.frames.len() + self.pauses.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A frame on a line between two parts. It goes from the cache of one processor to that of another, line by line of 64 octets.
#[derive(Debug)]
#[repr(align(64))]
struct Crossing<S: Scheme> {
    /// When it arrives.
    at: Instant,
    /// The port whose line it is on.
    port: PortId,
    slot: Slot<S>,
}

impl<S: Scheme, P: Probe<S>, M: Model> Sim<S, P, M> {
    /// Part `own` of a network. The probe sees signals that reach sources there; [`CombinedView`] shows samples.
    ///
    /// # Panics
    /// As [`Sim::new`].
    pub fn part(
        network: &Network,
        configs: &[S::Config],
        seed: u64,
        probe: P,
        partition: &Arc<Partition>,
        own: usize,
    ) -> Self {
        let mut sim = Self::new(network, configs, seed, probe);
        let ports = (0..network.ports.len() as u32).map(PortId);
        let cut = ports.filter(|&port| partition.of_port(port) == own && partition.beyond(port) != own).collect();
        let part = Part { partition: Arc::clone(partition), own, cut };
        let fabric = &mut sim.state.fabric;
        for port in &part.cut {
            fabric.ports[port.index()].lane = ELSEWHERE;
        }
        // The events of the other nodes go.
        fabric.events = event_queue_for(network);
        for (index, state) in (0..).map(CpIndex).zip(&mut fabric.cps) {
            let port = PortId(state.queue.0 / fabric.per_port);
            state.armed = Instant::NEVER;
            if part.has_port(port) {
                state.arm(&mut fabric.events, index);
            }
        }
        fabric.arm_links(|port| part.has_port(port));
        let has = |flow| partition.of_flow(flow) == own;
        crate::engine::setup::schedule(network, sim.probe.interval().is_some(), &has, &mut sim.state.fabric.events);
        sim.part = Some(Box::new(part));
        if network.processes.list.iter().any(|process| process.of_work) {
            sim.share_slots(partition.parts());
        }
        sim
    }

    /// Handles every event before `t`; then it is `t`. False if it stands at a sample before: every part does at the same time. When
    /// that has been taken, the next call goes on.
    pub fn run_part(&mut self, t: Instant) -> bool {
        self.goes_on();
        self.run_slice(t, u64::MAX);
        !self.is_over()
    }

    /// Where a part stands that has not come to the end of its window.
    pub fn stands_at(&self) -> Stop {
        match (self.at_sample, self.done_at) {
            (true, _) => Stop::Sample,
            (false, Some(at)) => Stop::Done(at),
            (false, None) => Stop::End,
        }
    }

    /// Handles every event up to `t`, those of that instant included, and ends there.
    pub fn end_part(&mut self, t: Instant) {
        self.goes_on();
        self.left = u64::MAX;
        self.handle_before(t + Duration(1));
        self.state.fabric.now = self.state.fabric.now.max(t);
    }

    /// Gives the frames that have left their queues for other parts to `mail`, which has one for each part.
    pub fn export(&mut self, mail: &mut [RemoteFrames<S>]) {
        let Some(part) = &self.part else { return };
        let (fabric, transports) = (&mut self.state.fabric, &self.state.transports);
        for &port in &part.cut {
            // The departures of a flow-controlled port are events.
            if !fabric.port(port).departs_by_event() {
                fabric.settle(port);
            }
        }
        let mut elsewhere = std::mem::take(&mut fabric.events.elsewhere);
        let lost = self.lost;
        elsewhere.retain(|event| {
            let port = PortId(event.rank & MAX_INDEX as u32);
            let index = Event::delivery(event.what).expect("frames alone go to other parts");
            let slot = fabric.frames.get(index);
            let p = &fabric.ports[port.index()];
            let left = event.at.since(fabric.now);
            // In transmission still: its queue may yet edit its tag, and count it. That of a flow-controlled port leaves by an event of this instant.
            let stays = if p.departs_by_event() { left >= p.latency } else { left > p.latency };
            if stays && slot.hop != lost {
                return true;
            }
            let mail = &mut mail[part.partition.beyond(port)];
            mail.frames.push(Crossing { at: event.at, port, slot: slot.clone() });
            mail.carried.extend(transports.carried(index));
            mail.entropies.extend(transports.by_entropy.then(|| transports.entropy(index)));
            fabric.frames.remove(index);
            false
        });
        let fabric = &mut self.state.fabric;
        fabric.events.elsewhere = elsewhere;
        for pause in fabric.pauses.frames.export() {
            mail[part.partition.beyond(pause.1)].pauses.push(pause);
        }
        let own = part.own;
        for (to, letter) in self.take_letters() {
            for (other, mail) in mail.iter_mut().enumerate() {
                if other != own && to.is_none_or(|to| to == other) {
                    mail.letters.push(letter.clone());
                }
            }
        }
    }

    /// What parts have written after the last window.
    fn deliver_letters(parts: &mut [Self]) {
        for own in 0..parts.len() {
            for (to, letter) in parts[own].take_letters() {
                let others = parts.iter_mut().enumerate().filter(|(other, _)| *other != own);
                let named = others.filter(|(other, _)| to.is_none_or(|to| to == *other));
                named.for_each(|(_, part)| part.read_letter(letter.clone()));
            }
        }
    }

    /// Takes the frames that come from another part.
    pub fn import(&mut self, mail: &mut RemoteFrames<S>) {
        // Frames follow the flows that they belong to.
        mail.letters.drain(..).for_each(|letter| self.read_letter(letter));
        let (mut carried, mut entropies) = (mail.carried.drain(..), mail.entropies.drain(..));
        let fabric = &mut self.state.fabric;
        for Crossing { at, port, slot } in mail.frames.drain(..) {
            debug_assert!(at >= fabric.now, "a frame comes to a part that is beyond the time of its arrival");
            let index = fabric.frames.insert(slot);
            if let Some(carried) = carried.next() {
                self.state.transports.carry(index, carried);
            }
            if let Some(entropy) = entropies.next() {
                self.state.transports.set_entropy(index, entropy);
            }
            fabric.events.schedule_from(NO_LANE, at, Event::Deliver(index), Entity::from(port));
        }
        for (at, port, frame) in mail.pauses.drain(..) {
            let id = fabric.pauses.frames.keep(frame);
            fabric.events.schedule_from(NO_LANE, at, Event::Pause(id), Entity::from(port));
        }
    }

    /// Brings the ports to the present, for the last sample of the run.
    pub fn settle(&mut self) {
        self.state.fabric.settle_all();
    }

    /// Closes a window of measurement in all parts of a network; `None` if it is not open.
    pub fn close_windows(parts: &mut [&mut Self], window: usize) -> Option<Outcome> {
        let accounts = parts.iter_mut().map(|part| {
            let (start, end) = part.state.take_window(window)?;
            Some(Accounts::of_window(start, end, part.state.records.clone()))
        });
        let accounts: Vec<Accounts> = accounts.collect::<Option<_>>()?;
        let partition = parts.first().and_then(|part| part.part.as_ref())?.partition.clone();
        Some(Accounts::join(accounts, &partition).of_its_window())
    }

    /// Ends the run of all parts of a network, as [`Sim::finish`] does that of a whole one; but the last sample has been taken.
    ///
    /// # Panics
    /// If frames are not conserved; if there is no part.
    pub fn finish_parts(mut parts: Vec<Self>) -> (Outcome, Vec<P>) {
        let part = parts.first().and_then(|part| part.part.as_ref());
        let partition = part.expect("the parts of a network").partition.clone();
        parts.iter_mut().for_each(Self::finish_accounts);
        Self::deliver_letters(&mut parts);
        let works = parts.iter_mut().filter_map(|part| part.employed.take()).map(|employed| employed.work);
        let work = works.reduce(|mut all, work| {
            all.absorb(work);
            all
        });
        let jobs = work.map_or_else(Vec::new, |mut work| work.outcome());
        let mut stopped_queues = StoppedQueues::default();
        parts.iter().for_each(|part| stopped_queues.absorb(part.state.fabric.stopped_queues()));
        let deadlock = parts.first().and_then(|part| stopped_queues.deadlock(&part.state.fabric.pauses));
        let (closings, probes) = parts.into_iter().map(Self::close).unzip();
        (Outcome { jobs, ..Accounts::join(closings, &partition).outcome(deadlock) }, probes)
    }
}

/// All parts of a network as one, for samples.
#[derive(Debug)]
pub struct CombinedView<'a, S: Scheme, P: Probe<S>, M: Model>(&'a [&'a Sim<S, P, M>], &'a Partition);

impl<'a, S: Scheme, P: Probe<S>, M: Model> CombinedView<'a, S, P, M> {
    /// The parts, in order, at one time. `None` if they are not parts.
    #[must_use]
    pub fn new(parts: &'a [&'a Sim<S, P, M>]) -> Option<Self> {
        let part = parts.first()?.part.as_deref()?;
        Some(Self(parts, &part.partition))
    }

    fn of_queue(&self, queue: QueueId) -> &'a Sim<S, P, M> {
        let Self(parts, partition) = *self;
        let (port, _) = parts[0].state.fabric.port_and_class(queue);
        parts[partition.of_port(port)]
    }

    fn of_flow(&self, flow: FlowId) -> &'a Sim<S, P, M> {
        let Self(parts, partition) = *self;
        parts[partition.of_flow(flow)]
    }
}

impl<S: Scheme, P: Probe<S>, M: Model> View<S> for CombinedView<'_, S, P, M> {
    fn queue(&self, queue: QueueId) -> QueueNow {
        self.of_queue(queue).state.queue(queue)
    }

    fn flow(&self, flow: FlowId) -> FlowNow {
        let records = self.0.iter().map(|part| &part.state.records[flow.index()]);
        let delivered: u64 = records.clone().map(|record| record.delivered_octets).sum();
        let destinations = records.clone().map(|record| record.destinations).next().unwrap_or(1);
        let ended = records.filter_map(|record| record.ended).min();
        let of_source: FlowNow = self.of_flow(flow).state.flow(flow);
        FlowNow { delivered: Octets(delivered / u64::from(destinations)), ended, ..of_source }
    }

    fn cp(&self, queue: QueueId) -> Option<&S::Cp> {
        self.of_queue(queue).state.cp(queue)
    }

    fn rp(&self, flow: FlowId) -> Option<&S::Rp> {
        self.of_flow(flow).state.rp(flow)
    }
}
