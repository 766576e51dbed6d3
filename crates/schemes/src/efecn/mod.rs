//! E-FECN, Enhanced FECN: FECN with a fast start, and BCN(0,0) under severe congestion.
//!
//! Sources begin at line rate without a regulator. A switch whose queue passes Qsc tells the sources of the frames that
//! arrive to fall to Rmin at once, and advertises Rmin itself. From there on FECN's probes raise all rates together.
//!
//! ```text
//!   congestion point                                 reaction point
//!   frame arrives, q > Qsc --- BCN(0,0) -----------> regulator at Rmin = C/N0   (no stop, no random wait)
//!     and r = Rmin                                     |
//!   probe leaves: rate = min(rate, r) ==> reflected ==> regulator's rate = probe's rate; at line rate none
//! ```
//!
//! Source: So-In et al. 2008, section 4. It shares two parts with FECN: `parts::explicit_rate` and `parts::regulators`.

use alloc::vec::Vec;

use crate::info::values::{choice, octets};
use crate::info::{Action, Forms, Info, Profile, Signals, Threshold, choice, parameters};
use crate::parts::explicit_rate::{ExplicitRate, Probe, RateAllocator};
use crate::parts::regulators::{Regulators, Start};
use crate::units::{BitRate, CpId, FlowKey, Instant};
use crate::{
    Allowance, Class, CongestionPoint, Draw, Fate, Frame, NotificationPoint, Out, Place, Queue, ReactionPoint, Release,
    Scheme, Signal, SignalKind, To, Var,
};

/// Enhanced Forward Explicit Congestion Notification.
#[derive(Debug, Clone, Copy)]
pub struct EnhancedForwardExplicitRate;

choice! {
    /// How often BCN(0,0) goes to a source.
    pub enum Bcn00Rule {
        /// For each of its frames that arrives above Qsc.
        PerFrame = "per-frame",
        /// Once, until the queue is back at Qsc.
        OncePerSource = "once-per-source",
    }
}

parameters! {
    /// E-FECN's parameters.
    pub struct Config {
        ..rates: ExplicitRate;
        /// Severe congestion: above this queue length BCN(0,0) is sent.
        q_sc: Threshold {
            default: octets(120_000),
            range: octets(64)..=octets(1_000_000_000),
            at_least: q_eq,
            source: "So-In et al. 2008 table 2, Qsc",
        }
        /// How often BCN(0,0) goes to a source: for each frame above Qsc, or once until the queue is back.
        bcn_00_rule: Bcn00Rule {
            default: choice("per-frame"),
            source: "So-In et al. 2008 section 4 does not say",
        }
    }
}

const PROFILES: &[Profile] = &[Profile {
    name: "paper-efecn",
    description: "So-In et al. 2008, table 2, at 10 Gb/s: Qeq 24 000 and Qsc 120 000 octets, Rmin 500 Mb/s.",
    settings: &[("q_eq", octets(24_000)), ("q_sc", octets(120_000))],
}];

/// A control frame of E-FECN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Message {
    /// A probe, or its return.
    Probe(Probe),
    /// BCN(0,0): the queue is beyond Qsc.
    Bcn00 {
        /// The congestion point.
        cp: CpId,
    },
}

impl Signal for Message {
    const VARS: &'static [Var] = &[
        Var { name: "bcn_00", description: "1 for BCN(0,0), 0 for a probe that has come back" },
        Var { name: "probe_rate_bps", description: "rate of the probe, bit/s; -1: unlimited; 0 for BCN(0,0)" },
    ];

    /// The length of a probe; BCN(0,0) is padded to it.
    fn octets(&self) -> u16 {
        Probe::OCTETS
    }

    fn message(&self) -> Option<crate::Message> {
        match *self {
            Self::Probe(probe) => probe.message(),
            Self::Bcn00 { cp } => Some(crate::Message::Bcn { cp, q_off: 0, q_delta: 0 }),
        }
    }

    fn from_message(message: crate::Message) -> Option<Self> {
        match message {
            crate::Message::Bcn { cp, q_off: 0, q_delta: 0 } => Some(Self::Bcn00 { cp }),
            other => Probe::from_message(other).map(Self::Probe),
        }
    }

    fn kind(&self) -> SignalKind {
        match self {
            Self::Probe(probe) => probe.kind(),
            Self::Bcn00 { .. } => SignalKind::Notification,
        }
    }

    fn vars(&self, row: &mut [i64]) {
        match self {
            Self::Probe(probe) => {
                row[0] = 0;
                probe.vars(&mut row[1..]);
            }
            Self::Bcn00 { .. } => row.copy_from_slice(&[1, 0]),
        }
    }
}

impl Scheme for EnhancedForwardExplicitRate {
    const INFO: Info = Info {
        name: "efecn",
        title: "Enhanced Forward Explicit Congestion Notification",
        source: "So-In et al. 2008 (E-FECN), section 4",
        description: "FECN whose sources start at line rate; a switch under severe congestion sends them back to a low rate \
                      with BCN(0,0), and probes raise them from there.",
        parameters: Config::PARAMETERS,
        profiles: PROFILES,
        set_point: Some("q_eq"),
        signals: Some(Signals::by_destination(Probe::OCTETS)),
        actions: &[Action::Notifications, Action::Replies, Action::Cuts, Action::Raises],
        tuned: &[&["q_eq"], &["interval"], &["a"], &["b"], &["c"], &["q_sc"]],
        recovers_alone: false,
        raises_on_signal: true,
        integer_state: true,
        needs_order: false,
        forms: Forms { capture: true, testbed: true, fluid: Some("efecn"), cores: &[] },
    };
    type Config = Config;
    type Tag = ();
    type Echo = crate::Never;
    type Signal = Message;
    type Cp = Cp;
    type Np = Np;
    type Rp = Rp;
}

/// E-FECN's congestion point.
#[derive(Debug, Clone)]
pub struct Cp {
    id: CpId,
    allocator: RateAllocator,
    q_sc: u64,
    rmin: u64,
    /// Flows signalled since the queue exceeded Qsc; `None` if every frame is answered.
    signalled: Option<Vec<FlowKey>>,
}

impl Cp {
    /// Whether the source of `flow` gets a signal now.
    fn tells(&mut self, flow: FlowKey) -> bool {
        let Some(signalled) = &mut self.signalled else { return true };
        let new = !signalled.contains(&flow);
        if new && signalled.len() < signalled.capacity() {
            signalled.push(flow);
        }
        new
    }
}

impl CongestionPoint<EnhancedForwardExplicitRate> for Cp {
    const VARS: &'static [Var] = RateAllocator::VARS;

    const STAMPS: bool = true;

    fn new(config: &Config, place: Place) -> Self {
        Self {
            id: place.cp,
            allocator: RateAllocator::new(&config.rates, place, 1),
            q_sc: config.q_sc.0,
            rmin: (place.line.0 / u64::from(config.rates.rmin_n0)).max(1),
            signalled: (config.bcn_00_rule == Bcn00Rule::OncePerSource)
                .then(|| Vec::with_capacity(config.rates.flow_table as usize)),
        }
    }

    /// Signalled flows that no longer fit into the table are signalled again.
    fn configure(&mut self, config: &Config, place: Place) {
        self.allocator.configure(&config.rates, place, 1);
        let (allocator, signalled) = (self.allocator.clone(), self.signalled.take());
        *self = Self { allocator, ..Self::new(config, place) };
        if let (Some(signalled), Some(old)) = (&mut self.signalled, signalled) {
            let room = signalled.capacity();
            signalled.extend(old.into_iter().take(room));
        }
    }

    fn remembers_flows(_config: &Config) -> bool {
        false
    }

    #[inline]
    fn on_arrival(
        &mut self,
        now: Instant,
        frame: Frame<'_, ()>,
        fate: Fate,
        queue: &Queue,
        _draw: &mut impl Draw,
        out: &mut impl Out<EnhancedForwardExplicitRate>,
    ) {
        self.allocator.on_arrival(now, frame.octets, fate);
        if queue.len.0 > self.q_sc {
            self.allocator.reset(self.rmin);
            if self.tells(frame.flow) {
                out.send(To::Source(frame.flow), Class::Control, Message::Bcn00 { cp: self.id });
            }
        } else if let Some(signalled) = &mut self.signalled {
            signalled.clear();
        }
    }

    #[inline]
    fn on_departure(&mut self, now: Instant, frame: Frame<'_, ()>, queue: &Queue) {
        self.allocator.on_departure(now, frame.octets, queue);
    }

    fn on_probe_departure(&mut self, _now: Instant, signal: &mut Message, _queue: &Queue) {
        if let Message::Probe(probe) = signal {
            self.allocator.on_probe_departure(probe);
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.allocator.next_timeout()
    }

    fn on_timeout(
        &mut self,
        now: Instant,
        queue: &Queue,
        _draw: &mut impl Draw,
        _out: &mut impl Out<EnhancedForwardExplicitRate>,
    ) {
        self.allocator.on_timeout(now, queue);
    }

    fn vars(&self, row: &mut [i64]) {
        self.allocator.vars(row);
    }
}

/// E-FECN's notification point: reflects probes.
#[derive(Debug, Clone)]
pub struct Np;

impl NotificationPoint<EnhancedForwardExplicitRate> for Np {
    fn new(_: &Config, _: FlowKey) -> Self {
        Self
    }

    fn configure(&mut self, _: &Config) {}

    fn on_signal(
        &mut self,
        _now: Instant,
        flow: FlowKey,
        signal: Message,
        _draw: &mut impl Draw,
        out: &mut impl Out<EnhancedForwardExplicitRate>,
    ) {
        if let Message::Probe(probe) = signal {
            out.send(To::Source(flow), Class::Control, Message::Probe(probe.reply()));
        }
    }
}

/// E-FECN's reaction point.
#[derive(Debug, Clone)]
pub struct Rp {
    regulators: Regulators,
    class: Class,
}

impl Rp {
    fn probe(&mut self, now: Instant, draw: &mut impl Draw, out: &mut impl Out<EnhancedForwardExplicitRate>) {
        let class = self.class;
        self.regulators
            .on_timeout(now, draw, |flow, probe| out.send(To::Destination(flow), class, Message::Probe(probe)));
    }
}

impl ReactionPoint<EnhancedForwardExplicitRate> for Rp {
    const VARS: &'static [Var] = Regulators::VARS;

    fn new(config: &Config, line: BitRate) -> Self {
        Self { regulators: Regulators::new(&config.rates, line, Start::Free), class: config.rates.probe_class.into() }
    }

    fn configure(&mut self, config: &Config, line: BitRate) {
        self.regulators.configure(&config.rates, line, Start::Free);
        self.class = config.rates.probe_class.into();
    }

    fn on_start(
        &mut self,
        now: Instant,
        flow: FlowKey,
        draw: &mut impl Draw,
        out: &mut impl Out<EnhancedForwardExplicitRate>,
    ) {
        self.regulators.on_start(now, flow);
        self.probe(now, draw, out);
    }

    fn on_stop(&mut self, _now: Instant, flow: FlowKey) {
        self.regulators.forget(flow);
    }

    fn on_signal(
        &mut self,
        now: Instant,
        flow: FlowKey,
        signal: Message,
        _draw: &mut impl Draw,
        _out: &mut impl Out<EnhancedForwardExplicitRate>,
    ) {
        match signal {
            Message::Probe(probe) => self.regulators.on_probe(now, flow, probe),
            Message::Bcn00 { cp } => self.regulators.on_bcn00(now, flow, cp),
        }
    }

    #[inline]
    fn on_send(
        &mut self,
        now: Instant,
        frame: Release,
        _draw: &mut impl Draw,
        _out: &mut impl Out<EnhancedForwardExplicitRate>,
    ) {
        self.regulators.on_send(now, frame);
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.regulators.next_timeout()
    }

    fn on_timeout(&mut self, now: Instant, draw: &mut impl Draw, out: &mut impl Out<EnhancedForwardExplicitRate>) {
        self.probe(now, draw, out);
    }

    fn allowance(&self) -> Allowance {
        Allowance { rate: BitRate(self.regulators.rate()), window: None }
    }

    fn admits(&self, now: Instant, flow: FlowKey) -> Instant {
        self.regulators.admits(now, flow)
    }

    fn limiting(&self) -> bool {
        self.regulators.limiting()
    }

    fn vars(&self, row: &mut [i64]) {
        self.regulators.vars(row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SchemeConfig;
    use crate::testing::{Middle, Sent, frame_of};
    use crate::units::{Duration, Octets};

    const AT: Instant = Instant(1_000_000);
    const ID: CpId = CpId(9);

    fn config(bcn_00_rule: Bcn00Rule) -> Config {
        let Some(SchemeConfig::Efecn(config)) = SchemeConfig::with_defaults("efecn") else { panic!("it is listed") };
        Config { bcn_00_rule, ..config }
    }

    fn cp(rule: Bcn00Rule) -> Cp {
        let line = BitRate::from_gbps(10);
        Cp::new(&config(rule), Place { cp: ID, line, capacity: Octets(150_000), phase: Duration::ZERO })
    }

    /// The source that the switch tells, if any, when a frame of `flow` meets a queue of `len` octets.
    fn arrive(cp: &mut Cp, flow: u32, len: u64, fate: Fate) -> Option<u32> {
        let mut sent = Sent::default();
        let queue = Queue { len: Octets(len), frames: 1, rate: BitRate::from_gbps(10), ..Queue::default() };
        let flow = FlowKey(flow);
        let mut tag = ();
        let frame = frame_of(flow, AT, &mut tag);
        cp.on_arrival(AT, frame, fate, &queue, &mut Middle, &mut sent);
        sent.0.first().map(|&(to, message)| {
            assert_eq!((to, message), (To::Source(flow), Message::Bcn00 { cp: ID }));
            flow.0
        })
    }

    fn advertised(cp: &Cp) -> Option<BitRate> {
        let mut message = Message::Probe(Probe::new(1));
        cp.clone().on_probe_departure(AT, &mut message, &Queue::default());
        let Message::Probe(probe) = message else { panic!("a probe stays one") };
        probe.rate
    }

    #[test]
    fn above_qsc_sources_fall_to_rmin_and_probes_say_so() {
        let mut cp = cp(Bcn00Rule::PerFrame);
        assert_eq!(advertised(&cp), Some(BitRate::from_gbps(10)), "fast start");
        assert_eq!(arrive(&mut cp, 1, 120_000, Fate::Queued), None, "at Qsc, not above");
        assert_eq!(arrive(&mut cp, 1, 121_500, Fate::Queued), Some(1));
        assert_eq!(advertised(&cp), Some(BitRate::from_mbps(500)), "C/20");
        assert_eq!(arrive(&mut cp, 1, 150_000, Fate::Dropped), Some(1), "each frame is answered, lost ones too");
        let mut rp = Rp::new(&config(Bcn00Rule::PerFrame), BitRate::from_gbps(10));
        rp.on_start(Instant::ZERO, FlowKey(1), &mut Middle, &mut Sent::default());
        assert!(!rp.limiting());
        let stop = Message::Bcn00 { cp: ID };
        rp.on_signal(AT, FlowKey(1), stop, &mut Middle, &mut Sent::default());
        assert_eq!((rp.allowance().rate, rp.limiting()), (BitRate::from_mbps(500), true));
    }

    #[test]
    fn once_per_source_until_the_queue_is_back() {
        let mut cp = cp(Bcn00Rule::OncePerSource);
        let signalled = [(1, 130_000), (2, 130_000), (1, 131_500), (1, 120_000), (1, 121_500)]
            .map(|(flow, len)| arrive(&mut cp, flow, len, Fate::Queued));
        assert_eq!(signalled, [Some(1), Some(2), None, None, Some(1)]);
    }

    #[test]
    fn messages_in_columns() {
        let mut row = [7; 2];
        Message::Bcn00 { cp: ID }.vars(&mut row);
        assert_eq!(row, [1, 0]);
        Message::Probe(Probe::new(1)).vars(&mut row);
        assert_eq!(row, [0, -1]);
    }

    #[test]
    fn signalled_flows_stay_signalled() {
        let place = Place { cp: ID, line: BitRate::from_gbps(10), capacity: Octets(150_000), phase: Duration::ZERO };
        let mut cp = cp(Bcn00Rule::OncePerSource);
        let mut signalled = |flows: [u32; 2], rule, flow_table| {
            let mut config = config(rule);
            config.rates.flow_table = flow_table;
            cp.configure(&config, place);
            flows.map(|flow| arrive(&mut cp, flow, 130_000, Fate::Queued))
        };
        assert_eq!(signalled([1, 2], Bcn00Rule::OncePerSource, 64), [Some(1), Some(2)]);
        assert_eq!(signalled([2, 1], Bcn00Rule::OncePerSource, 1), [Some(2), None], "there is room for one");
        assert_eq!(signalled([1, 1], Bcn00Rule::PerFrame, 1), [Some(1), Some(1)]);
        assert_eq!(signalled([1, 1], Bcn00Rule::OncePerSource, 1), [Some(1), None]);
    }
}
