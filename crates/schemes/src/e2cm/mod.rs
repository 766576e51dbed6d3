//! E2CM, Extended Ethernet Congestion Management: a reconstruction.
//!
//! So-In et al. 2008 name four additions to ECM (BCN): continuous probing, forward latency timed by the source's own
//! clock, per-flow load counted at the source, faster recovery. Its constants and messages are not at hand. This is the
//! simplest machine that has these four and nothing else. Its results stand for no publication.
//!
//! ```text
//!   ECM as in parts::ecm, and while there is a limiter, every `probe_interval`:
//!
//!   reaction point                     congestion points            notification point
//!   probe { sent_at } ===============> q = max(q - Qeq) =========> reflects
//!        ^                                                             |
//!        +--------------------- sent_at, q ---------------------------+
//!   queueing = round trip - the least round trip seen
//!   queueing <= latency_threshold, q < 0, and the flow uses its rate:  r = r + n recovery_step, n = 1, 2, 3, …
//!   else:                                                              n starts again
//! ```
//!
//! *Uses its rate*: since the last probe it has sent at least half of the octets that its rate allowed. A multicast
//! flow's probe comes back from each destination; each of these counts for itself.
//!
//! Source: So-In et al. 2008, section 2 (Gusat's and Minkenberg's E²CM).

use crate::info::values::{count, mbps, us};
use crate::info::{Action, Forms, Info, Profile, Signals, parameters};
use crate::parts::ecm::{Bcn, Ecm, Limiter, Monitor, Rlt};
use crate::units::{BitRate, Duration, FlowKey, Instant, PS_PER_S};
use crate::{
    Allowance, Class, CongestionPoint, Draw, Fate, Frame, Label, NotificationPoint, Out, Place, Queue, ReactionPoint,
    Release, Scheme, Signal, SignalKind, To, Var,
};

/// Extended Ethernet Congestion Management (reconstruction).
#[derive(Debug, Clone, Copy)]
pub struct ExtendedEcm;

parameters! {
    /// E2CM's parameters.
    pub struct Config {
        ..ecm: Ecm;
        /// Distance of the probes of a limited source.
        probe_interval: Duration {
            default: us(1000),
            range: us(10)..=us(1_000_000),
            source: "reconstruction; FECN's interval",
        }
        /// Queueing on the path, timed by a probe, up to which the rate recovers.
        latency_threshold: Duration {
            default: us(10),
            range: us(0)..=us(1_000_000),
            source: "reconstruction",
        }
        /// The n-th probe in a row that finds room raises the rate by n times this.
        recovery_step: BitRate {
            default: mbps(10),
            range: mbps(0)..=mbps(1_000_000),
            source: "reconstruction",
        }
        /// The largest n.
        recovery_most: u32 {
            default: count(20),
            range: count(1)..=count(1_000_000),
            source: "reconstruction",
        }
    }
}

const PROFILES: &[Profile] = &[];

/// A control frame of E2CM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Message {
    /// From a congestion point, as ECM's.
    Ecm(Bcn),
    /// A probe.
    Probe {
        /// When it left, by the source's clock.
        sent_at: Instant,
        /// The largest queue length less set point of its path, octets; `None` before the first queue.
        q_off: Option<i64>,
    },
    /// The destination's reply to a probe, with its fields.
    Reply {
        /// When the probe left.
        sent_at: Instant,
        /// The probe's field of this name.
        q_off: Option<i64>,
    },
}

impl Signal for Message {
    const VARS: &'static [Var] = &[
        Var { name: "probe", description: "1 for a probe that has come back, 0 for a message of a congestion point" },
        Var {
            name: "q_off_octets",
            description: "queue length less the set point, octets (probe: the path's largest)",
        },
        Var { name: "q_delta_octets", description: "growth of the queue since the sample before, octets (probe: 0)" },
    ];

    /// The length of a message; probes are padded to it.
    fn octets(&self) -> u16 {
        Bcn::OCTETS
    }

    fn message(&self) -> Option<crate::Message> {
        match *self {
            Self::Ecm(bcn) => bcn.message(),
            Self::Probe { sent_at, q_off } => Some(crate::Message::PathProbe { sent_at, q_off, returned: false }),
            Self::Reply { sent_at, q_off } => Some(crate::Message::PathProbe { sent_at, q_off, returned: true }),
        }
    }

    fn from_message(message: crate::Message) -> Option<Self> {
        match message {
            crate::Message::PathProbe { sent_at, q_off, returned: false } => Some(Self::Probe { sent_at, q_off }),
            crate::Message::PathProbe { sent_at, q_off, returned: true } => Some(Self::Reply { sent_at, q_off }),
            other => Bcn::from_message(other).map(Self::Ecm),
        }
    }

    fn kind(&self) -> SignalKind {
        match self {
            Self::Probe { .. } => SignalKind::Probe,
            Self::Reply { .. } => SignalKind::Reply,
            Self::Ecm(_) => SignalKind::Notification,
        }
    }

    fn vars(&self, row: &mut [i64]) {
        match self {
            Self::Ecm(bcn) => {
                row[0] = 0;
                bcn.vars(&mut row[1..]);
            }
            Self::Probe { q_off, .. } | Self::Reply { q_off, .. } => {
                row.copy_from_slice(&[1, q_off.unwrap_or_default(), 0])
            }
        }
    }
}

impl Scheme for ExtendedEcm {
    const INFO: Info = Info {
        name: "e2cm",
        title: "Extended Ethernet Congestion Management (reconstruction)",
        source: "a reconstruction from what So-In et al. 2008, section 2, say of E²CM; no published results to hold it to",
        description: "Reconstruction: ECM whose limited sources also probe their path, time the probe's round trip, and \
                      recover faster while it shows no queue.",
        parameters: Config::PARAMETERS,
        profiles: PROFILES,
        set_point: Some("q_eq"),
        signals: Some(Signals::backward(Bcn::OCTETS)),
        actions: &[Action::Notifications, Action::Replies, Action::Cuts, Action::Raises],
        tuned: &[
            &["q_eq"],
            &["w"],
            &["gd_inverse"],
            &["gi"],
            &["sample_interval"],
            &["probe_interval"],
            &["latency_threshold"],
            &["recovery_step"],
        ],
        recovers_alone: false,
        raises_on_signal: true,
        integer_state: true,
        needs_order: false,
        forms: Forms { capture: true, testbed: true, fluid: None, cores: &[] },
    };
    type Config = Config;
    type Tag = Rlt;
    type Echo = crate::Never;
    type Signal = Message;
    type Cp = Cp;
    type Np = Np;
    type Rp = Rp;

    fn label(tag: &Rlt) -> Label {
        tag.0.map_or(Label::Bare, Label::Rlt)
    }

    fn from_label(label: Label) -> Rlt {
        Rlt::of(label)
    }
}

/// E2CM's congestion point: ECM's, and the queue's state for probes.
#[derive(Debug, Clone)]
pub struct Cp {
    monitor: Monitor,
    q_eq: i64,
}

impl CongestionPoint<ExtendedEcm> for Cp {
    const VARS: &'static [Var] = Monitor::VARS;

    const STAMPS: bool = true;

    fn new(config: &Config, place: Place) -> Self {
        Self { monitor: Monitor::new(&config.ecm, place), q_eq: config.ecm.q_eq.0 as i64 }
    }

    fn configure(&mut self, config: &Config, place: Place) {
        self.monitor.configure(&config.ecm, place);
        self.q_eq = config.ecm.q_eq.0 as i64;
    }

    fn remembers_flows(_config: &Config) -> bool {
        false
    }

    #[inline]
    fn on_arrival(
        &mut self,
        _now: Instant,
        frame: Frame<'_, Rlt>,
        fate: Fate,
        queue: &Queue,
        draw: &mut impl Draw,
        out: &mut impl Out<ExtendedEcm>,
    ) {
        if let Some(message) = self.monitor.on_arrival(frame.octets, *frame.tag, fate, queue, draw) {
            out.send(To::Source(frame.flow), Class::Control, Message::Ecm(message));
        }
    }

    fn on_probe_departure(&mut self, _now: Instant, signal: &mut Message, queue: &Queue) {
        if let Message::Probe { q_off, .. } = signal {
            let here = queue.len.0 as i64 - self.q_eq;
            *q_off = Some(q_off.map_or(here, |there| there.max(here)));
        }
    }

    fn vars(&self, row: &mut [i64]) {
        self.monitor.vars(row);
    }
}

/// E2CM's notification point: reflects probes.
#[derive(Debug, Clone)]
pub struct Np;

impl NotificationPoint<ExtendedEcm> for Np {
    fn new(_: &Config, _: FlowKey) -> Self {
        Self
    }

    fn configure(&mut self, _: &Config) {}

    fn on_signal(
        &mut self,
        _: Instant,
        flow: FlowKey,
        signal: Message,
        _: &mut impl Draw,
        out: &mut impl Out<ExtendedEcm>,
    ) {
        if let Message::Probe { sent_at, q_off } = signal {
            out.send(To::Source(flow), Class::Control, Message::Reply { sent_at, q_off });
        }
    }
}

/// E2CM's reaction point.
#[derive(Debug, Clone)]
pub struct Rp {
    limiter: Limiter,
    interval: Duration,
    threshold: Duration,
    step: u64,
    most: u32,
    /// The flow that sent last: its path is probed. None when that has ended.
    flow: Option<FlowKey>,
    /// Octets sent since the last probe, and whether the interval before that probe used the rate.
    sent: u64,
    used: bool,
    next_probe: Instant,
    last_probe: Instant,
    least_round_trip: Duration,
    /// Probes in a row that found room.
    found_room: u32,
}

impl Rp {
    /// Probes while there is a limiter, and a flow behind it.
    fn follow(&mut self, now: Instant) {
        if !self.limiter.limiting() || self.flow.is_none() {
            self.next_probe = Instant::NEVER;
        } else if self.next_probe == Instant::NEVER {
            (self.next_probe, self.last_probe) = (now + self.interval, now);
            (self.sent, self.found_room) = (0, 0);
        }
    }

    /// Whether the octets of the interval are at least half of those that the rate allows.
    fn uses_its_rate(&self, now: Instant) -> bool {
        let allowed = u128::from(self.limiter.rate()) * u128::from(now.since(self.last_probe).0);
        u128::from(self.sent) * 8 * u128::from(PS_PER_S) * 2 >= allowed
    }

    fn probe_returned(&mut self, now: Instant, sent_at: Instant, q_off: Option<i64>) {
        let round_trip = now.since(sent_at);
        self.least_round_trip = self.least_round_trip.min(round_trip);
        let room = round_trip - self.least_round_trip <= self.threshold && q_off.is_none_or(|q_off| q_off < 0);
        if !room || !self.used || self.limiter.rate() == 0 || !self.limiter.limiting() {
            self.found_room = 0;
            return;
        }
        self.found_room = (self.found_room + 1).min(self.most);
        self.limiter.rise(self.step.saturating_mul(u64::from(self.found_room)));
        self.follow(now);
    }
}

impl ReactionPoint<ExtendedEcm> for Rp {
    const VARS: &'static [Var] = &[
        Var { name: "least_round_trip_ns", description: "the least round trip of a probe, ns; 0 before the first" },
        Var { name: "found_room", description: "probes in a row that found room" },
    ];

    fn new(config: &Config, line: BitRate) -> Self {
        Self {
            limiter: Limiter::new(&config.ecm, line),
            interval: config.probe_interval,
            threshold: config.latency_threshold,
            step: config.recovery_step.0,
            most: config.recovery_most,
            flow: None,
            sent: 0,
            used: false,
            next_probe: Instant::NEVER,
            last_probe: Instant::ZERO,
            least_round_trip: Duration(u64::MAX),
            found_room: 0,
        }
    }

    /// The next probe goes when it was to go.
    fn configure(&mut self, config: &Config, line: BitRate) {
        self.limiter.configure(&config.ecm, line);
        let limiter = self.limiter.clone();
        let Self { flow, sent, used, next_probe, last_probe, least_round_trip, found_room, .. } = *self;
        let found_room = found_room.min(config.recovery_most);
        *self = Self {
            limiter,
            flow,
            sent,
            used,
            next_probe,
            last_probe,
            least_round_trip,
            found_room,
            ..Self::new(config, line)
        };
    }

    fn on_start(&mut self, _now: Instant, flow: FlowKey, _draw: &mut impl Draw, _out: &mut impl Out<ExtendedEcm>) {
        self.flow = Some(flow);
    }

    fn on_stop(&mut self, now: Instant, flow: FlowKey) {
        if self.flow == Some(flow) {
            self.flow = None;
            self.follow(now);
        }
    }

    fn on_signal(
        &mut self,
        now: Instant,
        _flow: FlowKey,
        signal: Message,
        draw: &mut impl Draw,
        _out: &mut impl Out<ExtendedEcm>,
    ) {
        match signal {
            Message::Ecm(bcn) => {
                self.limiter.on_message(now, bcn, draw);
                self.follow(now);
            }
            Message::Reply { sent_at, q_off } => self.probe_returned(now, sent_at, q_off),
            Message::Probe { .. } => {}
        }
    }

    #[inline]
    fn on_send(&mut self, now: Instant, frame: Release, _: &mut impl Draw, _: &mut impl Out<ExtendedEcm>) -> Rlt {
        let resumes = self.flow.is_none();
        self.flow = (!frame.last).then_some(frame.flow);
        if resumes || frame.last {
            self.follow(now);
        }
        self.sent += u64::from(frame.octets);
        self.limiter.tag()
    }

    fn next_timeout(&self) -> Option<Instant> {
        let timer = self.limiter.next_timeout().unwrap_or(Instant::NEVER).min(self.next_probe);
        (timer != Instant::NEVER).then_some(timer)
    }

    fn on_timeout(&mut self, now: Instant, draw: &mut impl Draw, out: &mut impl Out<ExtendedEcm>) {
        self.limiter.on_timeout(now, draw);
        if now >= self.next_probe
            && let Some(flow) = self.flow
        {
            self.used = self.uses_its_rate(now);
            (self.sent, self.last_probe, self.next_probe) = (0, now, now + self.interval);
            out.send(To::Destination(flow), Class::Data, Message::Probe { sent_at: now, q_off: None });
        }
        self.follow(now);
    }

    fn allowance(&self) -> Allowance {
        Allowance { rate: BitRate(self.limiter.rate()), window: None }
    }

    fn limiting(&self) -> bool {
        self.limiter.limiting()
    }

    fn vars(&self, row: &mut [i64]) {
        let known = self.least_round_trip != Duration(u64::MAX);
        let ns = if known { self.least_round_trip.0 / 1000 } else { 0 };
        row.copy_from_slice(&[ns as i64, i64::from(self.found_room)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SchemeConfig;
    use crate::testing::Middle;
    use crate::units::{CpId, Octets};
    use alloc::vec::Vec;

    /// Keeps the signals that were sent: messages of congestion points are control frames, probes join the data.
    #[derive(Debug, Default)]
    struct Sent(Vec<(To, Message)>);
    impl Out<ExtendedEcm> for Sent {
        fn send(&mut self, to: To, class: Class, signal: Message) {
            assert_eq!(class == Class::Data, matches!((to, signal), (To::Destination(_), Message::Probe { .. })));
            self.0.push((to, signal));
        }
    }

    const FLOW: FlowKey = FlowKey(4);

    fn us(n: u64) -> Instant {
        Instant::ZERO + Duration::from_us(n)
    }

    fn config() -> Config {
        let Some(SchemeConfig::E2cm(config)) = SchemeConfig::with_defaults("e2cm") else { panic!("it is listed") };
        config
    }

    /// A source of 10 Gb/s that was cut to 5 Gb/s at 0.
    fn cut() -> Rp {
        let mut rp = Rp::new(&config(), BitRate::from_gbps(10));
        rp.on_start(us(0), FLOW, &mut Middle, &mut Sent::default());
        assert_eq!(rp.next_timeout(), None, "no limiter, no probe");
        let most = Bcn { cp: CpId(1), q_off: 375, q_delta: 750 };
        rp.on_signal(us(0), FLOW, Message::Ecm(most), &mut Middle, &mut Sent::default());
        rp
    }

    /// One interval: `octets` are sent, the probe goes and comes back after `round_trip` us with `q_off`. The rate in Mb/s.
    fn round(rp: &mut Rp, octets: u64, round_trip: u64, q_off: i64) -> u64 {
        let at = rp.next_timeout().expect("it probes");
        rp.sent = octets;
        let mut sent = Sent::default();
        rp.on_timeout(at, &mut Middle, &mut sent);
        let [(To::Destination(FLOW), Message::Probe { sent_at, q_off: None })] = sent.0[..] else {
            panic!("one probe: {sent:?}")
        };
        assert_eq!(sent_at, at);
        let echo = Message::Reply { sent_at, q_off: Some(q_off) };
        rp.on_signal(at + Duration::from_us(round_trip), FLOW, echo, &mut Middle, &mut Sent::default());
        rp.allowance().rate.0 / 1_000_000
    }

    /// At 5 Gb/s an interval of 1 ms is 625 000 octets; half of them is use enough.
    #[test]
    fn recovery_quickens_while_probes_find_room() {
        let mut rp = cut();
        let full = 625_000;
        assert_eq!(round(&mut rp, full, 20, -24_000), 5010);
        assert_eq!(round(&mut rp, full, 30, -1), 5030, "10 us of queueing is still room");
        assert_eq!(round(&mut rp, full, 31, -1), 5030, "11 us is not");
        assert_eq!(round(&mut rp, full, 20, -1), 5040, "and the steps start again");
        assert_eq!(round(&mut rp, full, 20, 0), 5040, "nor is a queue at its set point");
        // 5.04 Gb/s allow 630 000 octets.
        assert_eq!(round(&mut rp, 314_999, 20, -1), 5040, "a source that does not use its rate needs no more");
        assert_eq!(round(&mut rp, 315_000, 20, -1), 5050);
    }

    #[test]
    fn at_line_rate_limiter_and_probes_end() {
        let mut rp = cut();
        rp.step = 5_000_000_000;
        assert_eq!(round(&mut rp, 625_000, 20, -1), 10_000);
        assert_eq!((rp.limiting(), rp.next_timeout()), (false, None));
    }

    #[test]
    fn a_flow_that_ends_is_probed_no_more() {
        let frame = |last| Release { flow: FLOW, octets: 1500, seq: Octets(0), last };
        let mut rp = cut();
        rp.on_send(us(10), frame(true), &mut Middle, &mut Sent::default());
        assert_eq!((rp.limiting(), rp.next_timeout()), (true, None));
        rp.on_send(us(20), frame(false), &mut Middle, &mut Sent::default());
        assert_eq!(rp.next_timeout(), Some(us(1020)), "a flow behind the same limiter sends");
        rp.on_stop(us(30), FlowKey(5));
        assert_eq!(rp.next_timeout(), Some(us(1020)), "another was stopped");
        rp.on_stop(us(40), FLOW);
        let more = Bcn { cp: CpId(1), q_off: 375, q_delta: 750 };
        rp.on_signal(us(50), FLOW, Message::Ecm(more), &mut Middle, &mut Sent::default());
        assert_eq!(rp.next_timeout(), None, "a message for a frame that it sent before changes nothing");
    }

    #[test]
    fn probes_see_the_longest_queue_of_their_path() {
        let mut probe = Message::Probe { sent_at: us(0), q_off: None };
        for (id, len) in [(1, 30_000), (2, 1500)] {
            let place =
                Place { cp: CpId(id), line: BitRate::from_gbps(10), capacity: Octets(150_000), phase: Duration::ZERO };
            let queue = Queue { len: Octets(len), ..Queue::default() };
            Cp::new(&config(), place).on_probe_departure(us(1), &mut probe, &queue);
        }
        assert_eq!(probe, Message::Probe { sent_at: us(0), q_off: Some(6000) });
    }
}
