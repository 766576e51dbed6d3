//! Asks for the memory of the frames that are about to cross a link, before they do.
//!
//! A hop reads and writes some fifteen lines of the processor's cache, and most of their addresses stand in another one of them: event,
//! frame, path, port, queue, congestion point. In a large network few of them are in a cache, and a hop that waits for one
//! after the other takes several times as long as its work. But most frames that cross a link in the next moments are known: they
//! are in the event queue. So the run of a large network looks ahead between two short batches of events. Frames come in
//! groups, and a group asks for one thing at a time:
//!
//! | Batches since the group came | There by now | Asked for |
//! |---|---|---|
//! | 0 | the event | the frame; the port whose line it is on |
//! | 1 | frame, port | the step of its hop; the queue that it left |
//! | 2 | step, queue | the port that it comes to, or its destination's number; the frame that goes next |
//! | 3 | port, or number | its queue there; or destination and record |
//! | 4 | queue | its congestion point; the frame that waits last there |
//!
//! Limiters that are due have three separate stages of this kind. Nothing here changes a result: a useless prefetch costs only its time.

use penstock_endpoint::cache::{ask_for, ask_for_entry, ask_for_lines, ask_for_start};
use penstock_endpoint::{LimiterId, PortId, TrafficClass};
use penstock_schemes::{Instant, Scheme};
use penstock_switch::Model;
use penstock_switch::events::FrameId;
use penstock_switch::state::congestion_point::CpState;
use penstock_switch::state::frame::GONE;
use penstock_switch::state::port::{PortState, QueueState};

use crate::engine::Sim;
use crate::network::{HopId, Network};
use crate::probe::Probe;
use crate::state::Fabric;
use crate::state::event::Event;
use crate::state::hops::Step;

/// Events from one look ahead to the next.
pub(crate) const BATCH: u64 = 32;
/// Lines of the table above.
const STAGES: usize = 5;
/// Batches of look-ahead: one a stage, and the one that begins now.
const REACH: u64 = STAGES as u64 + 1;
/// No group has more frames, or limiters.
const MOST: usize = 4 * BATCH as usize;
/// Octets of ports, queues and congestion points from which on a network is large: those of a smaller one stay in a cache.
const LARGE: usize = 8 << 20;

/// A frame that is about to cross the line of a port, and the part of its path that is known by now.
#[derive(Debug, Clone, Copy)]
struct Coming {
    frame: FrameId,
    /// The port whose line it is on, and later the one that it comes to.
    port: PortId,
    class: TrafficClass,
    /// The hop that it is on.
    hop: HopId,
}

/// The frames and limiters that have been seen in the event queue, those that were seen last in the first group.
#[derive(Debug)]
pub(crate) struct Prefetch {
    frames: [Vec<Coming>; STAGES],
    limiters: [Vec<LimiterId>; 3],
    /// The time of the last look.
    now: Instant,
}

impl Prefetch {
    /// Nothing has been seen yet; `None` for a network that is not large.
    pub(crate) fn new<S: Scheme>(network: &Network) -> Option<Box<Self>> {
        let queues = network.queues_per_port() * size_of::<QueueState>();
        let port = size_of::<PortState>() + queues + size_of::<CpState<S>>();
        let prefetch = || Self {
            frames: std::array::from_fn(|_| Vec::with_capacity(MOST)),
            limiters: std::array::from_fn(|_| Vec::with_capacity(MOST)),
            now: Instant::ZERO,
        };
        (network.ports.len() * port >= LARGE).then(|| Box::new(prefetch()))
    }
}

impl<S: Scheme, P: Probe<S>, M: Model> Sim<S, P, M> {
    /// Sees frames and limiters in the event queue, and lets each group ask for its next piece of memory.
    pub(crate) fn look_ahead(&mut self) {
        let Some(prefetch) = self.prefetch.as_deref_mut() else { return };
        let Fabric { now, events, ports, cps, frames, .. } = &mut self.state.fabric;
        let (steps, sources): (&[Step], _) = (&self.steps, &self.state.sources);
        let batch = now.passed_since(prefetch.now);
        prefetch.now = *now;
        let horizon = Instant(now.0.saturating_add(batch.0.saturating_mul(REACH)));
        prefetch.frames.rotate_right(1);
        prefetch.limiters.rotate_right(1);

        let [seen, found, led, met, last] = &mut prefetch.frames;
        let [due, waking, leaving] = &mut prefetch.limiters;
        seen.clear();
        due.clear();
        events.foresee(horizon, |event| {
            if let Some(frame) = Event::delivery(event.what) {
                if seen.len() < MOST {
                    let port = Event::line(event.rank);
                    frames.ask(frame);
                    ask_for_port(ports, port);
                    seen.push(Coming { frame, port, class: GONE, hop: HopId::NONE });
                }
            } else if let Event::Release(limiter) = Event::unpack(event.what)
                && due.len() < MOST
            {
                sources.ask_for_limiter(limiter);
                due.push(limiter);
            }
        });

        for coming in found {
            let slot = frames.get(coming.frame);
            (coming.class, coming.hop) = (slot.class, slot.hop);
            ask_for_start(steps, coming.hop.index());
            ask_for_queue(ports, coming.port, coming.class);
        }
        for coming in led {
            if let Some(queue) = queue(ports, coming.port, coming.class) {
                frames.ask(queue.waiting.first());
            }
            // None where its path ends here.
            coming.port = steps.get(coming.hop.index()).map_or(PortId::NONE, |step| step.to);
            if coming.port == PortId::NONE {
                ask_for_start(&self.end_of_hop, coming.hop.index());
            } else {
                ask_for_port(ports, coming.port);
            }
        }
        for coming in met {
            if coming.port != PortId::NONE {
                ask_for_queue(ports, coming.port, coming.class);
            } else if let Some(end) = self.end_of_hop.get(coming.hop.index()) {
                ask_for_entry(&self.destinations, end.destination.index());
                if let Some(record) = self.state.records.get(end.flow.index()) {
                    ask_for(&record.delivered);
                }
            }
        }
        for coming in last {
            let Some(queue) = queue(ports, coming.port, coming.class) else { continue };
            frames.ask(queue.waiting.last());
            if let Some(point) = cps.get(queue.cp.index()) {
                ask_for_lines(&point.start, size_of::<S::Cp>());
            }
        }

        for limiter in waking {
            sources.ask_for_turn(*limiter);
            ask_for_port(ports, sources.limiter(*limiter).port());
        }
        for limiter in leaving {
            let limiter = sources.limiter(*limiter);
            if let Some(flow) = sources.flows().get(limiter.flow_in_turn().index()) {
                ask_for_queue(ports, limiter.port(), flow.class());
            }
        }
    }
}

/// The queue of a class at a port.
#[inline(always)]
fn queue(ports: &[PortState], port: PortId, class: TrafficClass) -> Option<&QueueState> {
    ports.get(port.index())?.queues.get(class.index())
}

/// Asks for both lines of a port.
#[inline(always)]
fn ask_for_port(ports: &[PortState], port: PortId) {
    if let Some(port) = ports.get(port.index()) {
        ask_for(&port.busy_until);
        ask_for(&port.hops);
    }
}

/// Asks for both lines of a queue.
#[inline(always)]
fn ask_for_queue(ports: &[PortState], port: PortId, class: TrafficClass) {
    if let Some(queue) = queue(ports, port, class) {
        ask_for(&queue.statistics);
        ask_for(&queue.len);
    }
}
