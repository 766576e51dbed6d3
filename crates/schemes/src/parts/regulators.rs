//! The source's parts that FECN and E-FECN share: rate regulators, and the probes that set them.
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
//! A multicast flow's probe comes back from each destination, and the lowest of these rates holds: of a probe that has come
//! back already, another return can only lower the rate.
//!
//! Tables are bounded and made once. A flow that finds no free slot is held by the regulator of the last flow of the table.

use alloc::vec::Vec;

use crate::parts::explicit_rate::{ExplicitRate, Probe, Sharing};
use crate::units::{BitRate, CpId, Duration, FlowKey, Instant};
use crate::{Draw, Release, Var};

/// Whether flows have regulators before they have received a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// From the first frame on, at C/N0, and for good. (FECN)
    Regulated(u32),
    /// Not before a message asks for less than the line's rate, and no longer than that. (E-FECN)
    Free,
}

/// The owner of a regulator.
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
    /// The owner of the regulator that holds it.
    regulator: Option<Owner>,
    /// When the next probe is due, but for its spread, and when it goes. `NEVER` for a flow that has not begun, or has
    /// ended, and of which a message spoke.
    probe_due: Instant,
    next_probe: Instant,
    /// When it has heard nothing for too long.
    expires: Instant,
    /// Numbers of the last probe that went, and of the last that has come back; 0 for none.
    sent: u32,
    returned: u32,
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

    /// Goes by these from now on. Flows keep their regulators until a message gives them others; probes and time-outs come when they
    /// were to come. Of flows for which the table has no room those that came last go: they would not have found any.
    pub fn configure(&mut self, config: &ExplicitRate, line: BitRate, start: Start) {
        let mut fresh = Self::new(config, line, start);
        fresh.flows.extend(self.flows.iter().take(fresh.room));
        fresh.regulators.append(&mut self.regulators);
        *self = fresh;
        self.collect();
        self.settle();
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

    /// A probe of flow `key` has come back.
    pub fn on_probe(&mut self, now: Instant, key: FlowKey, probe: Probe) {
        let Some(index) = self.find(key) else { return };
        let rate = probe.rate.map_or(self.line, |rate| rate.0.min(self.line));
        let flow = &mut self.flows[index];
        flow.expires = now + self.timeout;
        let first = probe.round > flow.returned;
        flow.returned = flow.returned.max(probe.round);
        let present = self.regulator_of(key).map_or(self.line, |held| self.regulators[held].rate);
        if !first && rate >= present {
            // Another destination of a multicast flow allows less, or as much.
        } else if rate == self.line && self.start == Start::Free {
            self.flows[index].regulator = None;
            self.collect();
        } else {
            self.regulate(now, index, probe.cp, rate);
        }
        self.settle();
    }

    /// BCN(0,0) has come from `cp`.
    pub fn on_bcn00(&mut self, now: Instant, flow: FlowKey, cp: CpId) {
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
            // A frame that had to wait for the line does not cost its flow that time: up to one frame is made good.
            let earliest = Instant(now.0.saturating_sub(lasts.0));
            regulator.ready = regulator.ready.max(earliest) + lasts;
        }
        if frame.last {
            self.forget(frame.flow);
        }
    }

    /// `ended` sends no more.
    pub fn forget(&mut self, ended: FlowKey) {
        self.flows.retain(|flow| flow.key != ended);
        self.collect();
        self.settle();
    }

    /// When the next probe is due, or a flow has heard nothing for too long.
    #[must_use]
    pub fn next_timeout(&self) -> Option<Instant> {
        (self.timer != Instant::NEVER).then_some(self.timer)
    }

    /// Acts on all timers that are due, and hands the probes to `send`.
    pub fn on_timeout(&mut self, now: Instant, draw: &mut impl Draw, mut send: impl FnMut(FlowKey, Probe)) {
        if now < self.timer {
            return;
        }
        for index in 0..self.flows.len() {
            let flow = &mut self.flows[index];
            if flow.next_probe <= now {
                flow.probe_due += self.interval;
                let late = (u128::from(self.spread.0) * u128::from(draw.draw())) >> 32;
                flow.next_probe = (flow.probe_due + Duration(late as u64)).max(now + Duration(1));
                flow.sent = flow.sent.saturating_add(1);
                send(flow.key, Probe::new(flow.sent));
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

    /// The index of `flow` in the table; `None` if there is no room.
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
            sent: 0,
            returned: 0,
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
            // The wait that is left stands for octets at the old rate.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::info::Configuration;
    use crate::testing::Middle;
    use crate::units::Octets;
    use core::sync::atomic::{AtomicU32, Ordering};

    const GBPS: u64 = 1_000_000_000;
    const LINE: BitRate = BitRate(10 * GBPS);
    const A: FlowKey = FlowKey(1);
    const B: FlowKey = FlowKey(2);
    const X: CpId = CpId(70);
    const Y: CpId = CpId(71);

    fn config() -> ExplicitRate {
        let defaults: Vec<_> = ExplicitRate::PARAMETERS.iter().map(|p| p.default).collect();
        ExplicitRate::from_values(&defaults).expect("defaults are of their kinds")
    }

    fn us(n: u64) -> Instant {
        Instant::ZERO + Duration::from_us(n)
    }

    /// Each comes from a later round than the one before.
    fn probe(rate: u64, cp: CpId) -> Probe {
        static ROUND: AtomicU32 = AtomicU32::new(1);
        Probe { round: ROUND.fetch_add(1, Ordering::Relaxed), rate: Some(BitRate(rate)), cp, returned: true }
    }

    fn fecn(config: &ExplicitRate, flows: &[FlowKey]) -> Regulators {
        let mut r = Regulators::new(config, LINE, Start::Regulated(20));
        for &flow in flows {
            r.on_start(us(0), flow);
        }
        r
    }

    /// Which flows are probed until `end`, and when.
    fn probes(r: &mut Regulators, end: Instant) -> Vec<(Instant, FlowKey)> {
        let mut sent = Vec::new();
        while let Some(at) = r.next_timeout().filter(|&at| at <= end) {
            r.on_timeout(at, &mut Middle, |flow, _| sent.push((at, flow)));
        }
        sent
    }

    #[test]
    fn probes_go_out_every_millisecond_and_not_in_step() {
        let mut r = fecn(&config(), &[A]);
        // At once, and then at half of the spread of 10 us past each millisecond.
        assert_eq!(probes(&mut r, us(2500)), [(us(0), A), (us(1005), A), (us(2005), A)]);
    }

    #[test]
    fn fecn_is_regulated_from_the_first_frame() {
        let mut r = fecn(&config(), &[]);
        assert_eq!((r.rate(), r.limiting()), (0, true), "no flow, nothing to send");
        r.on_start(us(0), A);
        assert_eq!((r.rate(), r.limiting()), (500_000_000, true), "C/20");
        r.on_probe(us(10), A, probe(3 * GBPS, X));
        assert_eq!(r.rate(), 3 * GBPS);
        r.on_probe(us(20), A, Probe { rate: None, ..probe(0, X) });
        assert_eq!((r.rate(), r.limiting()), (10 * GBPS, true), "nobody limits it: the line's rate");
    }

    #[test]
    fn the_slowest_branch_of_a_multicast_flow_counts() {
        for start in [Start::Regulated(1), Start::Free] {
            let mut r = Regulators::new(&config(), LINE, start);
            r.on_start(us(0), A);
            let mut rates = |round: u32, branches: &[u64]| {
                for &rate in branches {
                    r.on_probe(us(10), A, Probe { round, ..probe(rate * GBPS, X) });
                }
                r.rate() / GBPS
            };
            assert_eq!(rates(1, &[4, 2, 3]), 2);
            assert_eq!(rates(2, &[6, 10]), 6, "the first return of a round may raise");
            assert_eq!(rates(1, &[9]), 6, "a late one of the round before may not");
            assert_eq!(rates(3, &[10, 5]), 5);
            assert_eq!(rates(4, &[10, 10]), 10);
        }
    }

    #[test]
    fn silence_means_rmin() {
        let mut r = fecn(&config(), &[A]);
        probes(&mut r, us(0));
        r.on_probe(us(500), A, probe(3 * GBPS, X));
        probes(&mut r, us(2499));
        assert_eq!(r.rate(), 3 * GBPS);
        probes(&mut r, us(2500));
        assert_eq!(r.rate(), 500_000_000, "2 ms after the last answer");
        r.on_probe(us(2600), A, probe(100_000_000, X));
        probes(&mut r, us(5000));
        assert_eq!(r.rate(), 100_000_000, "silence raises nothing");
    }

    #[test]
    fn efecn_is_free_until_a_message_limits_it() {
        let mut r = Regulators::new(&config(), LINE, Start::Free);
        assert_eq!((r.rate(), r.limiting()), (10 * GBPS, false));
        r.on_start(us(0), A);
        r.on_probe(us(10), A, probe(10 * GBPS, X));
        assert_eq!((r.rate(), r.limiting()), (10 * GBPS, false));
        r.on_bcn00(us(20), A, X);
        assert_eq!((r.rate(), r.limiting()), (500_000_000, true), "Rmin at once");
        r.on_probe(us(1000), A, probe(2 * GBPS, X));
        assert_eq!(r.rate(), 2 * GBPS);
        r.on_probe(us(2000), A, probe(10 * GBPS, X));
        assert_eq!((r.rate(), r.limiting()), (10 * GBPS, false), "at line rate the regulator goes");
    }

    #[test]
    fn each_flow_keeps_its_own_time() {
        let mut r = fecn(&config(), &[A, B]);
        r.on_probe(us(0), A, probe(GBPS, X));
        r.on_probe(us(0), B, probe(4 * GBPS, Y));
        assert_eq!(r.rate(), 5 * GBPS);
        let frame = |flow| Release { flow, octets: 1500, seq: Octets(0), last: false };
        // 12 000 bits: 12 us at 1 Gb/s, 3 us at 4 Gb/s, counted from at most one frame ago.
        r.on_send(us(10), frame(A));
        r.on_send(us(10), frame(B));
        assert_eq!((r.admits(us(11), A), r.admits(us(11), B)), (us(12), us(11)));
        r.on_send(us(12), frame(A));
        r.on_send(us(12), frame(B));
        assert_eq!((r.admits(us(12), A), r.admits(us(12), B)), (us(24), us(13)));
        // 8 us are left when the rate becomes a third: 24 us.
        r.on_probe(us(16), A, probe(GBPS / 3, X));
        assert_eq!(r.admits(us(16), A).0 / 1_000_000, 40);
        assert_eq!(r.admits(us(50), A), us(50), "the wait has ended");
        r.on_probe(us(50), A, probe(9 * GBPS, X));
        assert_eq!(r.rate(), 10 * GBPS, "together no more than the line");
    }

    #[test]
    fn flows_of_one_bottleneck_share_a_regulator() {
        let shared = ExplicitRate { regulators: Sharing::PerCongestionPoint, ..config() };
        let mut r = fecn(&shared, &[A, B]);
        let count = |r: &Regulators| {
            let mut row = [0; 2];
            r.vars(&mut row);
            row
        };
        assert_eq!((count(&r), r.rate()), ([1, 2], 500_000_000), "one for all whose bottleneck is unknown");
        r.on_probe(us(0), A, probe(2 * GBPS, X));
        assert_eq!((count(&r), r.rate()), ([2, 2], 2_500_000_000));
        r.on_probe(us(0), B, probe(2 * GBPS, X));
        assert_eq!((count(&r), r.rate()), ([1, 2], 2 * GBPS));
        // A frame of one makes the other wait: 12 000 bits at 2 Gb/s.
        for _ in 0..2 {
            r.on_send(us(10), Release { flow: A, octets: 1500, seq: Octets(0), last: false });
        }
        assert_eq!(r.admits(us(10), B), us(16));
        r.on_probe(us(20), B, probe(3 * GBPS, Y));
        assert_eq!((count(&r), r.rate()), ([2, 2], 5 * GBPS), "its bottleneck has moved");
    }

    #[test]
    fn a_flow_that_ends_takes_its_regulator_with_it() {
        let mut r = fecn(&config(), &[A, B]);
        r.on_send(us(1), Release { flow: A, octets: 64, seq: Octets(0), last: true });
        assert_eq!(r.rate(), 500_000_000);
        r.on_probe(us(2), A, probe(GBPS, X));
        assert_eq!(r.rate(), 500_000_000, "a late answer changes nothing");
        assert!(probes(&mut r, us(3000)).iter().all(|&(_, flow)| flow == B));
        // BCN(0,0) for a flow that has ended is forgotten after the time-out.
        let mut r = Regulators::new(&config(), LINE, Start::Free);
        r.on_bcn00(us(0), A, X);
        assert_eq!((r.rate(), r.next_timeout()), (500_000_000, Some(us(2000))));
        assert_eq!(probes(&mut r, us(2000)), []);
        assert_eq!((r.rate(), r.limiting(), r.next_timeout()), (10 * GBPS, false, None));
    }

    #[test]
    fn a_full_table_lends_its_last_regulator() {
        let mut r = fecn(&ExplicitRate { flow_table: 1, ..config() }, &[A, B]);
        assert_eq!(r.rate(), 500_000_000);
        assert!(probes(&mut r, us(1500)).iter().all(|&(_, flow)| flow == A));
        r.on_send(us(1600), Release { flow: B, octets: 64, seq: Octets(0), last: true });
        assert_eq!(r.rate(), 500_000_000, "it was not B's");
    }

    #[test]
    fn a_table_that_becomes_smaller_keeps_the_flows_that_came_first() {
        let mut r = fecn(&config(), &[A, B]);
        r.on_probe(us(10), A, probe(2 * GBPS, X));
        r.on_probe(us(20), B, probe(3 * GBPS, X));
        r.configure(
            &ExplicitRate { flow_table: 1, timeout: Duration::from_us(100), ..config() },
            LINE,
            Start::Regulated(20),
        );
        assert_eq!(r.rate(), 2 * GBPS);
        probes(&mut r, us(1500));
        assert_eq!(r.rate(), 2 * GBPS, "its time-out of 2 ms runs on");
    }
}
