//! One agent that caps hosts: what `penstock.gym.HostRates` observes, does and is rewarded for.

use std::sync::Arc;

use penstock_runner::{RunError, Stepper};
use penstock_scenario::Plan;
use penstock_schemes::{BitRate, Duration, Instant};
use penstock_sim::probe::QueueNow;

/// Its rules.
#[derive(Debug, Clone, Copy)]
pub(super) struct HostRules {
    /// The queue that counts as 1, octets.
    pub(super) most_octets: f64,
    /// The least share of a line that a host may have.
    pub(super) least: f64,
}

/// A run under it.
#[derive(Debug)]
pub(super) struct Hosts {
    pub(super) stepper: Stepper,
    rules: HostRules,
    /// Rates of the lines of ports with congestion points, and of hosts that send, bit/s.
    port_lines: Vec<f64>,
    pub(super) host_lines: Vec<f64>,
    shares: Vec<f64>,
    before: Vec<QueueNow>,
}

impl Hosts {
    pub(super) fn new(plan: Arc<Plan>, rules: HostRules) -> Result<Self, RunError> {
        let mut stepper = Stepper::new(plan)?;
        let ports = &stepper.plan().network.ports;
        let port_lines = stepper.tuned_ports().map(|port| ports[port.index()].rate.0.max(1) as f64).collect();
        let line = |node| ports.iter().find(|port| port.node == node).map_or(0.0, |port| port.rate.0 as f64);
        let host_lines: Vec<f64> = stepper.senders().iter().map(|&node| line(node)).collect();
        let before = stepper.queues();
        Ok(Self { shares: vec![1.0; host_lines.len()], stepper, rules, port_lines, host_lines, before })
    }

    /// How many numbers an observation has.
    pub(super) fn width(&self) -> usize {
        3 * self.port_lines.len() + self.host_lines.len()
    }

    /// Caps the hosts, goes on for a step, and writes the observation; returns the reward.
    pub(super) fn step(&mut self, actions: &[f64], step: Duration, seen: &mut [f64]) -> Result<f64, RunError> {
        for (place, &action) in actions.iter().enumerate() {
            let share = action.max(self.rules.least).min(1.0);
            if share != self.shares[place] {
                self.shares[place] = share;
                let host = self.stepper.senders()[place];
                self.stepper.cap(host, BitRate((share * self.host_lines[place]) as u64));
            }
        }
        let start = self.stepper.now();
        self.stepper.advance(start + step)?;
        let longest = self.observe(step, seen);
        let mean = self.shares.iter().sum::<f64>() / self.shares.len().max(1) as f64;
        Ok(mean - 2.0 * longest * mean)
    }

    /// Writes an observation of the last step; returns the longest of the queues.
    pub(super) fn observe(&mut self, step: Duration, seen: &mut [f64]) -> f64 {
        let now = self.stepper.queues();
        let (ports, hosts) = seen.split_at_mut(3 * self.port_lines.len());
        let mut longest = 0.0_f64;
        for (((row, line), old), new) in ports.chunks_exact_mut(3).zip(&self.port_lines).zip(&self.before).zip(&now) {
            let used = (new.line_bits - old.line_bits) as f64 / line;
            let (dropped, sent) = (new.dropped - old.dropped, new.frames_sent - old.frames_sent);
            row[0] = (new.len.0 as f64 / self.rules.most_octets).min(1.0);
            row[1] = (used / step.as_seconds()).min(1.0);
            row[2] = (dropped as f64 / ((dropped + sent) as f64).max(1.0)).min(1.0);
            longest = longest.max(row[0]);
        }
        hosts.copy_from_slice(&self.shares);
        self.before = now;
        longest
    }

    /// Whether every flow with a size has ended, in a run that lasts until then.
    pub(super) fn is_complete(&self) -> bool {
        self.stepper.is_over() && self.stepper.now() < Instant::ZERO + self.stepper.plan().duration
    }
}
