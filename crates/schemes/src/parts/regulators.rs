//! What FECN and E-FECN share at the source: rate regulators, and the probes that set them.
//!
//! ```text
//!                   probe, every T                    probe comes back: regulator's rate = the probe's
//!   flow starts ------------------> destination ----> BCN(0,0) comes:   regulator's rate = Rmin
//!                                                     nothing comes for `timeout`: not more than Rmin
//! ```
//!
//! A regulator belongs to a flow, or, shared, to the congestion point that limits its flows: that of the lowest rate on
//! their way. Each keeps when its next frame may go; all together send no faster than the line.
//!
//! Tables are bounded and made once. A flow that finds no place is held by the regulator of the last flow of the table.

use alloc::vec::Vec;

use crate::info::choice;
use crate::parts::explicit_rate::{ExplicitRate, Probe};
use crate::units::{BitRate, CpId, Duration, FlowKey, Instant};
use crate::{Draw, Release, Var};

choice! {
    /// Whose a rate regulator is.
    pub enum Sharing {
        /// A flow's.
        PerFlow = "per-flow",
        /// That of all flows which one congestion point limits.
        PerCongestionPoint = "per-congestion-point",
    }
}

/// Whether flows have regulators before anything has told them a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// From the first frame on, at C/N0, and for good. (FECN)
    Regulated(u32),
    /// Not before a message asks for less than the line's rate, and no longer than that. (E-FECN)
    Free,
}

/// Whose a regulator is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    Flow(FlowKey),
    /// [`UNKNOWN`] before the first probe has come back.
    CongestionPoint(CpId),
}

const UNKNOWN: CpId = CpId(0);

#[derive(Debug, Clone, Copy)]
struct Flow {
    key: FlowKey,
    /// Whose regulator holds it.
    regulator: Option<Owner>,
    /// When the next probe is due, but for its spread, and when it goes. `NEVER` for a flow that has not begun, or has
    /// ended, and of which a message spoke.
    probe_due: Instant,
    next_probe: Instant,
    /// When it has heard nothing for too long.
    expires: Instant,
}

#[derive(Debug, Clone, Copy)]
struct Regulator {
    owner: Owner,
    rate: u64,
    /// When its next frame may go.
    ready: Instant,
}

/// The regulators of a reaction point.
#[derive(Debug, Clone)]
pub struct Regulators {
    start: Start,
    sharing: Sharing,
    line: u64,
    rmin: u64,
    interval: Duration,
    spread: Duration,
    timeout: Duration,
    room: usize,
    flows: Vec<Flow>,
    regulators: Vec<Regulator>,
    /// Rate of all together.
    rate: u64,
    timer: Instant,
}

impl Regulators {
    /// The columns that [`vars`](Self::vars) fills.
    pub const VARS: &'static [Var] = &[
        Var { name: "regulators", description: "rate regulators in use" },
        Var { name: "flows_known", description: "flows in the table" },
    ];

    /// No flow yet, in front of a line of rate `line`.
    #[must_use]
    pub fn new(config: &ExplicitRate, line: BitRate, start: Start) -> Self {
        let room = config.flow_table as usize;
        let mut regulators = Self {
            start,
            sharing: config.regulators,
            line: line.0,
            rmin: (line.0 / u64::from(config.rmin_n0)).max(1),
            interval: config.interval,
            spread: config.probe_spread,
            timeout: config.timeout,
            room,
            flows: Vec::with_capacity(room),
            regulators: Vec::with_capacity(room),
            rate: 0,
            timer: Instant::NEVER,
        };
        regulators.settle();
        regulators
    }

    /// `flow` starts; its first probe is due at once.
    pub fn on_start(&mut self, now: Instant, flow: FlowKey) {
        let Some(index) = self.enter(flow) else { return };
        (self.flows[index].probe_due, self.flows[index].next_probe) = (now, now);
        self.flows[index].expires = now + self.timeout;
        if let Start::Regulated(n0) = self.start
            && self.flows[index].regulator.is_none()
        {
            self.regulate(now, index, UNKNOWN, self.line / u64::from(n0));
        }
        self.settle();
    }

    /// A probe has come back.
    pub fn on_probe(&mut self, now: Instant, probe: Probe) {
        let Some(index) = self.find(probe.flow) else { return };
        self.flows[index].expires = now + self.timeout;
        let rate = probe.rate.map_or(self.line, |rate| rate.0.min(self.line));
        if rate == self.line && self.start == Start::Free {
            self.flows[index].regulator = None;
            self.collect();
        } else {
            self.regulate(now, index, probe.cp, rate);
        }
        self.settle();
    }

    /// BCN(0,0) has come from `cp`.
    pub fn on_stop(&mut self, now: Instant, flow: FlowKey, cp: CpId) {
        let Some(index) = self.find(flow).or_else(|| self.enter(flow)) else { return };
        self.flows[index].expires = now + self.timeout;
        self.regulate(now, index, cp, self.rmin);
        self.settle();
    }

    /// A frame is released.
    #[inline]
    pub fn on_send(&mut self, now: Instant, frame: Release) {
        // The caller paces a single flow by the allowance.
        if self.flows.len() > 1
            && let Some(regulator) = self.regulator_of(frame.flow)
        {
            let regulator = &mut self.regulators[regulator];
            let (lasts, _) = BitRate(regulator.rate).serialisation(u64::from(frame.octets));
            regulator.ready = regulator.ready.max(now) + lasts;
        }
        if frame.last {
            self.flows.retain(|flow| flow.key != frame.flow);
            self.collect();
            self.settle();
        }
    }

    /// When the next probe is due, or a flow has heard nothing for too long.
    #[must_use]
    pub fn next_timeout(&self) -> Option<Instant> {
        (self.timer != Instant::NEVER).then_some(self.timer)
    }

    /// Does what is due; hands the probes to `send`.
    pub fn on_timeout(&mut self, now: Instant, draw: &mut impl Draw, mut send: impl FnMut(Probe)) {
        if now < self.timer {
            return;
        }
        for index in 0..self.flows.len() {
            let flow = &mut self.flows[index];
            if flow.next_probe <= now {
                flow.probe_due += self.interval;
                let late = (u128::from(self.spread.0) * u128::from(draw.draw())) >> 32;
                flow.next_probe = (flow.probe_due + Duration(late as u64)).max(now + Duration(1));
                send(Probe::new(flow.key));
            }
            if flow.expires <= now {
                flow.expires = Instant::NEVER;
                let held = self.regulator_of(self.flows[index].key).map(|r| self.regulators[r]);
                let rate = held.map_or(self.rmin, |r| r.rate.min(self.rmin));
                let cp =
                    if let Some(Regulator { owner: Owner::CongestionPoint(cp), .. }) = held { cp } else { UNKNOWN };
                self.regulate(now, index, cp, rate);
            }
        }
        self.flows.retain(|flow| flow.next_probe != Instant::NEVER || flow.expires != Instant::NEVER);
        self.collect();
        self.settle();
    }

    /// Rate of all regulators together, bit/s.
    #[must_use]
    pub fn rate(&self) -> u64 {
        self.rate
    }

    /// Whether there is a regulator.
    #[must_use]
    pub fn limiting(&self) -> bool {
        self.start != Start::Free || !self.regulators.is_empty()
    }

    /// When the next frame of `flow` may go: `now`, or later.
    #[must_use]
    pub fn admits(&self, now: Instant, flow: FlowKey) -> Instant {
        self.regulator_of(flow).map_or(now, |regulator| self.regulators[regulator].ready.max(now))
    }

    /// Counts.
    pub fn vars(&self, row: &mut [i64]) {
        row.copy_from_slice(&[self.regulators.len() as i64, self.flows.len() as i64]);
    }

    fn find(&self, flow: FlowKey) -> Option<usize> {
        self.flows.iter().position(|known| known.key == flow)
    }

    /// The place of `flow` in the table; `None` if there is no room.
    fn enter(&mut self, flow: FlowKey) -> Option<usize> {
        if let Some(index) = self.find(flow) {
            return Some(index);
        }
        if self.flows.len() == self.room {
            return None;
        }
        self.flows.push(Flow {
            key: flow,
            regulator: None,
            probe_due: Instant::NEVER,
            next_probe: Instant::NEVER,
            expires: Instant::NEVER,
        });
        Some(self.flows.len() - 1)
    }

    fn regulator_of(&self, flow: FlowKey) -> Option<usize> {
        let known = self.find(flow).map_or(self.flows.last(), |index| self.flows.get(index))?;
        let owner = known.regulator?;
        self.regulators.iter().position(|regulator| regulator.owner == owner)
    }

    /// Gives the flow at `index`, limited by `cp`, a regulator of rate `rate`.
    fn regulate(&mut self, now: Instant, index: usize, cp: CpId, rate: u64) {
        let owner = match self.sharing {
            Sharing::PerFlow => Owner::Flow(self.flows[index].key),
            Sharing::PerCongestionPoint => Owner::CongestionPoint(cp),
        };
        let moved = self.flows[index].regulator.replace(owner).is_some_and(|old| old != owner);
        if moved {
            self.collect();
        }
        if let Some(regulator) = self.regulators.iter_mut().find(|regulator| regulator.owner == owner) {
            // What is left to wait is octets over the old rate.
            let left = u128::from(regulator.ready.since(now).0) * u128::from(regulator.rate) / u128::from(rate.max(1));
            regulator.ready = now + Duration(left as u64);
            regulator.rate = rate.max(1);
        } else {
            self.regulators.push(Regulator { owner, rate: rate.max(1), ready: now });
        }
    }

    /// Removes regulators that hold no flow.
    fn collect(&mut self) {
        let flows = &self.flows;
        self.regulators.retain(|regulator| flows.iter().any(|flow| flow.regulator == Some(regulator.owner)));
    }

    /// Sums up rates and timers.
    fn settle(&mut self) {
        let free = self.start == Start::Free && self.flows.is_empty();
        let sum = if free || self.flows.iter().any(|flow| flow.regulator.is_none()) {
            self.line
        } else {
            self.regulators.iter().map(|regulator| regulator.rate).fold(0, u64::saturating_add)
        };
        self.rate = sum.min(self.line);
        let timers = self.flows.iter().map(|flow| flow.next_probe.min(flow.expires));
        self.timer = timers.min().unwrap_or(Instant::NEVER);
    }
}
