//! A run that a caller steers from one step to the next: thresholds of a port, and caps on the rates of a host or a flow. Between two
//! steps it looks at queues and flows. A caller that changes nothing leaves the run as it is.

use penstock_endpoint::{Alarms, LimiterId, Timer};
use penstock_schemes::{BitRate, CongestionPoint, Instant, Scheme};
use penstock_switch::Model;
use penstock_switch::datapath::setup::{CpQueue, cp_queues};
use penstock_switch::events::CpIndex;

use crate::engine::Sim;
use crate::network::{FlowId, Network, NodeId, PortId};
use crate::probe::{Probe, View};

/// The congestion points of a network, to which a caller gives other parameters.
#[derive(Debug)]
pub struct Steering {
    queues: Vec<CpQueue>,
}

impl Steering {
    /// The congestion points of `network` in a run with `seed`.
    #[must_use]
    pub fn new(network: &Network, seed: u64) -> Self {
        Self { queues: cp_queues(&network.switches(), seed) }
    }

    /// The ports that have one, each once.
    #[must_use]
    pub fn ports(&self, network: &Network) -> Vec<PortId> {
        let per_port = network.queues_per_port() as u32;
        let mut found: Vec<PortId> = self.queues.iter().map(|queue| PortId(queue.queue.0 / per_port)).collect();
        found.dedup();
        found
    }
}

impl<S: Scheme, P: Probe<S>, M: Model> Sim<S, P, M> {
    /// The state of everything, now.
    pub fn look(&mut self) -> &impl View<S> {
        self.state.fabric.settle_all();
        &self.state
    }

    /// The congestion points of `port` go by `config` from now on. `steering` is that of the run.
    pub fn retune(&mut self, steering: &Steering, port: PortId, config: &S::Config) {
        let fabric = &mut self.state.fabric;
        // Departures until now are seen under the old parameters.
        fabric.settle_all();
        for ((index, state), queue) in (0..).map(CpIndex).zip(&mut fabric.cps).zip(&steering.queues) {
            if PortId(state.queue.0 / fabric.per_port) == port {
                state.cp.configure(config, queue.place);
                state.arm(&mut fabric.events, index);
            }
        }
    }

    /// The flows of `host` send together no faster than `rate` from now on: each of its limiters has an equal part of it.
    pub fn cap(&mut self, host: NodeId, rate: BitRate) {
        let own: Vec<LimiterId> =
            (0..).map(LimiterId).zip(&self.homes).filter(|(_, home)| **home == host).map(|(id, _)| id).collect();
        let part = BitRate(rate.0 / own.len().max(1) as u64);
        for id in own {
            self.with_limiter(id, |sources, now, driver| sources.cap(now, id, part, driver));
        }
    }

    /// The limiter of `flow` lets no more than `rate` through from now on.
    pub fn cap_flow(&mut self, flow: FlowId, rate: BitRate) {
        let limiter = self.state.sources.flow(flow).limiter();
        self.with_limiter(limiter, |sources, now, driver| sources.cap(now, limiter, rate, driver));
    }

    /// Sets a timer for `flow`, as its reaction point would: of what happens at one instant, the timer has the same turn.
    pub fn wake(&mut self, flow: FlowId, at: Instant) {
        let limiter = self.state.sources.flow(flow).limiter();
        self.with_limiter(limiter, |sources, _, driver| {
            driver.wake(at, Timer::ReactionPoint(limiter), sources.limiter(limiter).number());
        });
    }

    /// The rate that the limiter of `flow` lets through.
    pub fn rate_of(&self, flow: FlowId) -> BitRate {
        let sources = &self.state.sources;
        sources.limiter(sources.flow(flow).limiter()).rate()
    }

    /// Whether no other flow has the limiter of `flow`.
    pub fn is_alone(&self, flow: FlowId) -> bool {
        let sources = &self.state.sources;
        sources.limiter(sources.flow(flow).limiter()).flows().len() == 1
    }

    /// Whether `flow` has been completed or stopped.
    pub fn has_ended(&self, flow: FlowId) -> bool {
        self.state.records[flow.index()].ended.is_some()
    }

    /// Ends the slice with this event, if the probe asks for it.
    #[inline(always)]
    pub(crate) fn pause_if_asked(&mut self) {
        if self.probe.pauses() {
            self.charge(u64::MAX);
        }
    }
}
