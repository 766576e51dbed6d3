//! An agent for each flow, which decides on its rate: what `penstock.gym.FlowRates` observes, does and is rewarded for.

use std::sync::Arc;

use penstock_runner::{Learnt, NotFree, Pauses, RunError, Stepper};
use penstock_scenario::Plan;
use penstock_schemes::{BitRate, Duration, Instant};

/// How far a factor goes up, and down as its reciprocal.
const SWING: f64 = 0.2;

/// How many numbers an observation has.
pub(super) const WIDTH: usize = 4;

/// Its rules.
#[derive(Debug, Clone, Copy)]
pub(super) struct FlowRules {
    /// The product of inflation and root of the rate's share that an agent aims at.
    pub(super) target: f64,
    /// The least share of a line that a flow may have.
    pub(super) least: f64,
    /// Actions from -1 to 1 change the rate by a factor; otherwise they are shares of the line's.
    pub(super) factors: bool,
    pub(super) pauses: Pauses,
    /// The agents decide, and not the scheme of the scenario.
    pub(super) held: bool,
}

/// A flow.
#[derive(Debug, Clone)]
pub(super) struct Agent {
    /// Rate of its line, bit/s.
    pub(super) line: f64,
    /// The round trip of the empty network, s.
    pub(super) round_trip_s: f64,
    /// Its rate, bit/s.
    rate: f64,
    /// The factor by which it has changed last.
    factor: f64,
    /// What its source had learnt by its last decision.
    before: Learnt,
    /// Factor and error of the decision before and of this one.
    state: [f64; WIDTH],
    pub(super) due: bool,
    pub(super) ended: bool,
}

/// A run under it.
#[derive(Debug)]
pub(super) struct Flows {
    pub(super) stepper: Stepper,
    rules: FlowRules,
    pub(super) agents: Vec<Agent>,
}

impl Flows {
    pub(super) fn new(plan: Arc<Plan>, rules: FlowRules) -> Result<Result<Self, NotFree>, RunError> {
        let stepper = match Stepper::by_flow(plan, rules.pauses, rules.held)? {
            Ok(stepper) => stepper,
            Err(error) => return Ok(Err(error)),
        };
        let network = &stepper.plan().network;
        let agent = |flow: usize| {
            let source = stepper.plan().flow_ends[flow].0;
            let line = network.ports.iter().find(|port| port.node.0 as usize == source);
            let line = line.map_or(1.0, |port| port.rate.0 as f64);
            let state = [1.0, error(rules.target, 1.0, 1.0), 1.0, error(rules.target, 1.0, 1.0)];
            let round_trip_s = stepper.round_trip(flow).as_seconds();
            let before = Learnt::default();
            Agent { line, round_trip_s, rate: line, factor: 1.0, before, state, due: true, ended: false }
        };
        let agents = (0..network.flows.len()).map(agent).collect();
        Ok(Ok(Self { stepper, rules, agents }))
    }

    /// Changes the rates of flows, goes on for a step or to a pause, and writes observations and rewards. An action that is no number
    /// leaves a flow as it is.
    pub(super) fn step(
        &mut self,
        actions: &[f64],
        step: Duration,
        seen: &mut [f64],
        rewards: &mut [f64],
    ) -> Result<(), RunError> {
        for (flow, &action) in actions.iter().enumerate().filter(|(_, action)| !action.is_nan()) {
            let agent = &mut self.agents[flow];
            let before = agent.rate;
            let wanted = if self.rules.factors { before * factor_of(action) } else { (action * agent.line).round() };
            agent.rate = wanted.clamp(self.rules.least * agent.line, agent.line);
            if agent.rate as u64 != before as u64 {
                self.stepper.cap_flow(flow, BitRate(agent.rate as u64));
            }
            agent.factor = if self.rules.factors { factor_of(action) } else { agent.rate / before };
        }
        let end = self.stepper.now() + step;
        self.stepper.advance(end)?;
        // Without a pause all decide at the end of the step.
        let all = self.stepper.now() == end;
        for (flow, (agent, reward)) in self.agents.iter_mut().zip(rewards).enumerate() {
            agent.ended = agent.ended || self.stepper.has_ended(flow);
            agent.due = (self.stepper.take_due(flow) || all) && !agent.ended;
            *reward = 0.0;
            if agent.due {
                agent.decide(self.rules.target, self.stepper.learnt(flow), self.stepper.rate_of(flow));
                *reward = -agent.state[3] * agent.state[3];
            }
        }
        self.observe(seen);
        Ok(())
    }

    pub(super) fn observe(&self, seen: &mut [f64]) {
        for (row, agent) in seen.chunks_exact_mut(WIDTH).zip(&self.agents) {
            row.copy_from_slice(&agent.state);
        }
    }

    /// Whether every flow with a size has ended, in a run that lasts until then.
    pub(super) fn is_complete(&self) -> bool {
        self.stepper.is_over() && self.stepper.now() < Instant::ZERO + self.stepper.plan().duration
    }
}

impl Agent {
    /// A decision is due: its state is that of now. Without an acknowledgement the error stays.
    fn decide(&mut self, target: f64, learnt: Learnt, rate: BitRate) {
        let acks = learnt.acks - self.before.acks;
        let mut seen = self.state[3];
        if acks > 0 && self.round_trip_s > 0.0 {
            let mean_s = (learnt.round_trips.as_seconds() - self.before.round_trips.as_seconds()) / acks as f64;
            seen = error(target, mean_s / self.round_trip_s, rate.0 as f64 / self.line);
        }
        self.state = [self.state[2], self.state[3], self.factor, seen];
        self.before = learnt;
    }
}

/// The factor of an action from -1 to 1.
fn factor_of(action: f64) -> f64 {
    let action = action.clamp(-1.0, 1.0);
    if action >= 0.0 { 1.0 + SWING * action } else { 1.0 / (1.0 - SWING * action) }
}

/// The error of an agent: the inflation of the round trip by the root of the rate's share, less its target.
fn error(target: f64, inflation: f64, share: f64) -> f64 {
    inflation * share.sqrt() - target
}
