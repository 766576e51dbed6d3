//! The order in which a switch takes frames that arrive at one instant, where it is not that of its ports' numbers.
//!
//! Frames that reach a switch stay on their lines until all that arrive at the instant are known. Then they move on, queue by queue,
//! each queue in its own order. Nothing of it costs a frame where the order is that of numbers: the step behind a hop says whether
//! it waits. Frames that part into copies do not wait; neither do signals and the acknowledgements of schemes, on their way back.

use penstock_endpoint::PortId;
use penstock_schemes::Scheme;
use penstock_switch::Model;
use penstock_switch::datapath::Arrival;
use penstock_switch::datapath::enqueue::Enqueued;
use penstock_switch::events::FrameId;

use crate::engine::Sim;
use crate::network::{HopId, Network, QueueId, Ties};
use crate::probe::Probe;
use crate::random::mix;
use crate::state::event::Event;

/// A frame that has reached a switch at this instant.
#[derive(Debug, Clone, Copy)]
struct Reached {
    /// The queue that it is bound for.
    queue: QueueId,
    /// Its rank among those for this queue.
    turn: u64,
    from: PortId,
    index: FrameId,
    /// The hop that it takes next.
    next: HopId,
}

/// The frames of the present instant, and the memory of the arbiters.
#[derive(Debug)]
pub(crate) struct Arbiters {
    by: Ties,
    seed: u64,
    reached: Vec<Reached>,
    /// For each queue the number of the port after the one whose frame it took last.
    next: Vec<u32>,
}

impl Arbiters {
    /// Those of a network that has some; `None` where frames come in the order of ports.
    pub(crate) fn new(network: &Network, seed: u64) -> Option<Box<Self>> {
        let queues = network.ports.len() * network.queues_per_port();
        let arbiters = || Self { by: network.ties, seed, reached: Vec::new(), next: vec![0; queues] };
        (network.ties != Ties::Number).then(|| Box::new(arbiters()))
    }

    /// The turn of a frame that comes from `from` for `queue` at the instant `now`.
    fn turn(&self, now: u64, queue: QueueId, from: PortId) -> u64 {
        match self.by {
            Ties::Drawn => mix(self.seed ^ mix(now ^ mix(u64::from(queue.0) << 32 | u64::from(from.0)))),
            Ties::InTurn | Ties::Number => from.0.wrapping_sub(self.next[queue.index()]).into(),
        }
    }
}

impl<S: Scheme, P: Probe<S>, M: Model> Sim<S, P, M> {
    /// A frame has reached a switch, and waits for the others of this instant.
    #[cold]
    pub(crate) fn wait_for_turn(&mut self, index: FrameId) {
        self.succeed(index);
        let slot = self.state.fabric.frames.get(index);
        let (hop, class) = (self.hops[slot.hop.index()], slot.class);
        let next = if hop.children > 1 { self.path_of(index) } else { hop.first_child };
        let fabric = &mut self.state.fabric;
        let queue = fabric.queue_at(self.hops[next.index()].port, class);
        let arbiters = self.arbiters.as_mut().expect("steps lead here in networks with arbiters");
        if arbiters.reached.is_empty() {
            fabric.events.schedule(fabric.now, Event::Arbitrate);
        }
        arbiters.reached.push(Reached { queue, turn: 0, from: hop.port, index, next });
    }

    /// All frames of this instant are known: they move on.
    #[cold]
    pub(crate) fn arbitrate(&mut self) {
        let Some(arbiters) = self.arbiters.as_deref_mut() else { return };
        let now = self.state.fabric.now.0;
        // Not in the order in which the parts of a network came to it, nor counted as work: a part has its own switches' alone.
        self.housekeeping += 1;
        let mut reached = std::mem::take(&mut arbiters.reached);
        for frame in &mut reached {
            frame.turn = arbiters.turn(now, frame.queue, frame.from);
        }
        reached.sort_unstable_by_key(|frame| (frame.queue, frame.turn, frame.from));
        self.charge(reached.len() as u64 - 1);
        for &Reached { queue, from, index, next, .. } in &reached {
            let (port, _) = self.state.fabric.port_and_class(queue);
            self.cross(from, index);
            let slot = self.state.fabric.frames.get_mut(index);
            slot.hop = next;
            let (flow, class, octets) = (slot.flow, slot.class, slot.octets);
            let entry = self.forward(port, flow, Arrival { index, class, octets, from });
            if entry == Enqueued::Queued
                && let Some(arbiters) = self.arbiters.as_deref_mut()
            {
                arbiters.next[queue.index()] = from.0 + 1;
            }
        }
        reached.clear();
        if let Some(arbiters) = self.arbiters.as_deref_mut() {
            arbiters.reached = reached;
        }
    }
}
