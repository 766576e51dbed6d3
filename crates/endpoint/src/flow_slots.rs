//! Flows created and removed at run time: their slots, and those of their limiters, are reused.
//!
//! A slot is reused, a number never is. Keys of flows and numbers of limiters are such numbers, and all order follows from
//! them.

use penstock_schemes::{Draw, FlowKey, Instant, ReactionPoint, Scheme};

use crate::destination::acknowledged;
use crate::flow::{Flow, FlowSpec};
use crate::ids::{FlowId, LimiterId, PortId};
use crate::limiter::{Limiter, LimiterSpec};
use crate::source::DataSource;
use crate::sources::Sources;

impl<S: Scheme, X: DataSource, D: Draw> Sources<S, X, D> {
    /// Several flows will be added and removed behind `limiter`.
    ///
    /// # Panics
    /// If there is no such limiter.
    pub fn expect_flows(&mut self, limiter: LimiterId) {
        self.limiters[limiter.index()].expect_several();
    }

    /// Limiters that are added later will share the line of `port` with those that exist.
    pub fn expect_limiters(&mut self, port: PortId) {
        for limiter in self.limiters.iter_mut().filter(|limiter| limiter.port == port) {
            limiter.shares_port = true;
        }
    }

    /// Puts a limiter into slot `id`: a new slot after the last one, or that of a limiter whose flows have finished and that waits
    /// for nothing.
    /// `shares_port` says that it shares its line with other limiters by turns.
    ///
    /// # Panics
    /// If the slot lies beyond the end of the list.
    pub fn put_limiter(&mut self, id: LimiterId, number: u32, spec: LimiterSpec<S, D>, shares_port: bool) {
        let mut limiter = Limiter::new(number, spec);
        limiter.shares_port = shares_port;
        match self.limiters.get_mut(id.index()) {
            Some(place) => *place = limiter,
            None => {
                assert_eq!(id.index(), self.limiters.len(), "a new slot follows the last one");
                self.limiters.push(limiter);
            }
        }
    }

    /// Puts a flow into slot `id`, a new one or that of a [removed](Self::forget_flow) flow, and behind `limiter`.
    ///
    /// # Panics
    /// If the slot lies beyond the end of the list, or if there is no such limiter.
    pub fn put_flow(&mut self, id: FlowId, key: FlowKey, limiter: LimiterId, spec: FlowSpec, supply: X) {
        let behind = &mut self.limiters[limiter.index()];
        let flow = Flow::new(key, spec, limiter, behind.tag, acknowledged::<S>(), supply);
        match self.flows.get_mut(id.index()) {
            Some(place) => *place = flow,
            None => {
                assert_eq!(id.index(), self.flows.len(), "a new slot follows the last one");
                self.flows.push(flow);
            }
        }
        behind.insert_flow(id, &self.flows);
    }

    /// Whether nothing that `limiter` will do is due at a time: no release, no turn, no timer of its reaction point.
    #[must_use]
    pub fn rests(&self, limiter: LimiterId) -> bool {
        let limiter = &self.limiters[limiter.index()];
        let timer = limiter.rp.as_ref().and_then(ReactionPoint::next_timeout);
        limiter.wake == Instant::NEVER && !limiter.waiting && timer.is_none()
    }

    /// Removes a finished flow that nothing refers to any more. Its counts are zero from here on.
    pub fn forget_flow(&mut self, id: FlowId) {
        let flow = &mut self.flows[id.index()];
        flow.forget_counts();
        self.limiters[flow.limiter.index()].remove_flow(id, &self.flows);
    }
}
