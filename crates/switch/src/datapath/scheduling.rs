//! Ports whose queues have weights or shapers ([`scheduler`](crate::state::scheduler)): the next queue, and the time that a shaper takes.
//!
//! A queue that its shaper keeps waiting is one that may start no frame, as one that a pause frame stops. A timer ends that, unless it ends in
//! the past of a port that is settled late.

use penstock_endpoint::{PortId, TrafficClass};
use penstock_schemes::{Instant, Scheme};

use crate::datapath::{Fabric, HopContext};
use crate::events::{Events, FrameId, Timer};
use crate::model::Model;
use crate::state::port::{BY_SHAPER, PortState};

impl<S: Scheme, E: Events, M: Model> HopContext<'_, S, E, M> {
    /// The queue whose first frame goes next; one may start.
    #[cold]
    pub(super) fn choose(&self, p: &mut PortState) -> TrafficClass {
        let (eligible, queues, overhead) = (p.eligible::<M>(), &p.queues, p.overhead);
        let first = |class: TrafficClass| {
            let waiting = queues[class.index()].waiting;
            let octets = self.frames.get(waiting.first()).octets;
            (u32::from(octets) + overhead, waiting.first() == waiting.last())
        };
        let scheduler = p.ledger.scheduler.as_mut().expect("a scheduled port has a scheduler");
        scheduler.choose(eligible, first)
    }

    /// A frame starts at `at` from a queue that may have a shaper.
    #[cold]
    pub(super) fn charge_shaper(&mut self, p: &mut PortState, class: TrafficClass, index: FrameId, at: Instant) {
        let octets = u32::from(self.frames.get(index).octets) + p.overhead;
        let Some(scheduler) = &mut p.ledger.scheduler else { return };
        let next = scheduler.take(class, at, octets);
        if next > at {
            p.hold(class, BY_SHAPER);
        }
        if next > self.now {
            self.events.wake(next, Timer::Shaper(p.index));
        }
    }
}

impl<S: Scheme, E: Events, M: Model> Fabric<S, E, M> {
    /// The shaper of a queue of `port` lets it go.
    pub(crate) fn let_go_shaped(&mut self, port: PortId) {
        let (p, mut context) = self.at(port);
        context.settle(p);
        p.let_go_shaped(context.now);
        context.settle(p);
    }
}
