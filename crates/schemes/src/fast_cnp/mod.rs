//! Fast CNP: the congested switch notifies the source of a RoCEv2 flow itself, and does not leave that to the destination.
//!
//! ```text
//!   congestion point                                              reaction point
//!   a frame of f joins, to be marked, and no notification         dcqcn:  as DCQCN's: RC -= RC alpha / 2
//!   of f for cnp_interval: ------- Fast CNP of f ---------------> qcn:    as QCN's:   RC -= RC Gd |Fb|, the same each time
//!                                                                 pause:  nothing is sent for pause_time
//!   proxy:  congestion point --- Fast CNP ---> previous hop --- CNP ---> reaction point
//! ```
//!
//! DCQCN's mark waits in the congested queue with its frame, travels to the destination and returns as a CNP. A Fast CNP starts when
//! the frame joins the queue, and takes the path from the switch to the source alone. It is a CNP over IPv6 from the switch's loopback
//! address. The switch sees only the queue pair of the destination, so that a Destination Option has the destination's address: both
//! together name the flow at the source.
//!
//! A frame is marked as well only for sources that are not known to understand this (`mark_ecn`); the destination then answers as DCQCN's.
//! With `proxy`, the switch before the congested one sends the source what it understands, a CNP.
//!
//! Limiter, counters and estimate are [`dcqcn`](crate::dcqcn)'s, with all of its options. A CNP has no measure of congestion, so that the
//! reaction of QCN takes the same |Fb| for each.
//!
//! Reconstruction: of draft-xiao-rtgwg-rocev2-fast-cnp-05 (May 2026), -congestion-notification-for-pause-01 and
//! -proxy-congestion-notification-03, abstracts and descriptions by others are at hand. Thresholds, the table of flows and the time of a
//! pause are chosen here; the drafts leave the detection of congestion to the switch.

use crate::dcqcn::{self, Cnp, Dcqcn};
use crate::info::values::{choice, count, mbps, octets, real, switch, us};
use crate::info::{Action, Forms, Info, Profile, Signals, choice, parameters};
use crate::parts::holds::Holds;
use crate::parts::marking::{Ce, Marker, Ramp};
use crate::parts::marking_cp::MarkingConfig;
use crate::units::{BitRate, Duration, FlowKey, Instant, Octets};
use crate::{
    Allowance, Class, CongestionPoint, Draw, Fate, Frame, Label, Message, NotificationPoint, Out, Place, Queue,
    ReactionPoint, Release, Scheme, Signal, To, Var,
};

/// Fast CNP.
#[derive(Debug, Clone, Copy)]
pub struct FastCnp;

choice! {
    /// The answer of a source to a notification.
    pub enum Reaction {
        /// DCQCN's: a cut by half of the estimate alpha.
        Dcqcn = "dcqcn",
        /// QCN's: a cut by Gd |Fb|, with the same |Fb| for each notification.
        Qcn = "qcn",
        /// A pause of the flow.
        Pause = "pause",
    }
}

parameters! {
    /// Fast CNP's parameters.
    pub struct Config {
        ..dcqcn: dcqcn::Config;
        /// The answer of a source to a notification.
        reaction: Reaction {
            default: choice("dcqcn"),
            source: "draft fast-cnp: the sender reduces its rate; draft congestion-notification-for-pause: the flow is paused",
        }
        /// |Fb| that stands for a notification, of 63.
        fb: u32 {
            default: count(8),
            range: count(1)..=count(63),
            source: "option; 802.1Qau cpFb, which a CNP does not carry",
            when: reaction = "qcn",
        }
        /// 1/Gd: a notification cuts the rate by |Fb| Gd.
        gd_inverse: u32 {
            default: count(128),
            range: count(126)..=count(65_536),
            source: "802.1Qau rpgGd (7 for 2^7)",
            when: reaction = "qcn",
        }
        /// Time for which a notification stops the flow.
        pause_time: Duration {
            default: us(50),
            range: us(1)..=us(1_000_000),
            source: "option",
            when: reaction = "pause",
        }
        /// Mark frames too, for sources that are not known to understand a Fast CNP.
        mark_ecn: bool {
            default: switch(false),
            source: "draft fast-cnp: not marked where the sender is known to support it, else it may be",
        }
        /// The switch before the congested one translates: the source gets a CNP.
        proxy: bool {
            default: switch(false),
            source: "draft proxy-congestion-notification",
        }
        /// Size of the table of flows at a congestion point; a further flow is not notified until the interval of another one has ended.
        flow_table_size: u32 {
            default: count(512),
            range: count(1)..=count(65_536),
            source: "option; draft fast-cnp asks for a limit of the rate",
        }
    }
}

const PROFILES: &[Profile] = &[
    Profile {
        name: "zhu-2015",
        description: "Limiter and thresholds of Zhu et al., SIGCOMM 2015, at 40 Gb/s: DCQCN's profile of this name with notifications of the switch.",
        settings: &[
            ("k_min", octets(5_000)),
            ("k_max", octets(200_000)),
            ("p_max", real(0.01)),
            ("r_ai", mbps(40)),
            ("r_hai", mbps(200)),
        ],
    },
    Profile {
        name: "hpcc-100g-paper",
        description: "Thresholds and steps of HPCC's simulator, run.py --cc dcqcn_paper, at 100 Gb/s, under the rules of DCQCN's paper.",
        settings: &[
            ("k_min", octets(400_000)),
            ("k_max", octets(1_600_000)),
            ("p_max", real(0.2)),
            ("r_ai", mbps(20)),
            ("r_hai", mbps(200)),
            ("min_rate", mbps(1_000)),
        ],
    },
];

impl Scheme for FastCnp {
    const INFO: Info = Info {
        name: "fast-cnp",
        title: "Fast CNP (reconstruction)",
        source: "draft-xiao-rtgwg-rocev2-fast-cnp-05, -congestion-notification-for-pause-01, -proxy-congestion-notification-03 (IETF, 2026), by \
                 abstracts and descriptions; Zhu et al., SIGCOMM 2015",
        description: "Switches send the sources of RoCEv2 flows their notifications themselves; sources answer as DCQCN's or QCN's do.",
        parameters: Config::PARAMETERS,
        profiles: PROFILES,
        set_point: None,
        signals: Some(Signals::backward(Notice::FAST_OCTETS)),
        actions: &[Action::Marks, Action::Notifications, Action::Cuts, Action::Raises],
        tuned: Dcqcn::INFO.tuned,
        recovers_alone: true,
        raises_on_signal: false,
        integer_state: true,
        needs_order: false,
        forms: Forms { capture: true, testbed: false, fluid: Some("fast_cnp"), cores: &[] },
    };
    type Config = Config;
    type Tag = Ce;
    type Echo = crate::Never;
    type Signal = Notice;
    type Cp = Cp;
    type Np = Np;
    type Rp = Rp;

    fn label(tag: &Ce) -> Label {
        Label::Roce6(tag.0)
    }
}

/// A notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notice {
    /// Of a switch.
    Fast,
    /// A CNP, of the destination or of a proxy.
    Plain,
}

impl Notice {
    /// Length of a Fast CNP: Ethernet 14, IPv6 40, Destination Options 24, UDP 8, BTH 12, reserved 16, ICRC 4, FCS 4.
    pub const FAST_OCTETS: u16 = 122;
}

impl Signal for Notice {
    const VARS: &'static [Var] = &[Var { name: "fast", description: "1 if a switch sent it, 0 for a CNP" }];

    fn octets(&self) -> u16 {
        match self {
            Self::Fast => Self::FAST_OCTETS,
            Self::Plain => Cnp::OCTETS,
        }
    }

    fn message(&self) -> Option<Message> {
        Some(match self {
            Self::Fast => Message::FastCnp,
            Self::Plain => Message::Cnp,
        })
    }

    fn vars(&self, row: &mut [i64]) {
        row.copy_from_slice(&[i64::from(*self == Self::Fast)]);
    }
}

/// Sends the CNPs of DCQCN's parts as those of this scheme.
struct Plain<'a, O>(&'a mut O);

impl<O: Out<FastCnp>> Out<Dcqcn> for Plain<'_, O> {
    fn send(&mut self, to: To, class: Class, _: Cnp) {
        self.0.send(to, class, Notice::Plain);
    }
}

/// The congestion point of a queue.
#[derive(Debug, Clone)]
pub struct Cp {
    marker: Marker,
    mark_ecn: bool,
    proxy: bool,
    interval: Duration,
    /// Flows that have had a notification within the interval.
    notified: Holds,
    sent: u64,
    withheld: u64,
}

impl CongestionPoint<FastCnp> for Cp {
    const VARS: &'static [Var] = &[
        Var { name: "fast_cnps_total", description: "Fast CNPs that the congestion point has sent since the start" },
        Var {
            name: "withheld_total",
            description: "Fast CNPs that the limit of their rate has held back since the start",
        },
    ];
    const MARKS: bool = true;

    fn new(config: &Config, place: Place) -> Self {
        Self {
            marker: Marker::new(config.dcqcn.ramp(), config.dcqcn.marking(), place.line),
            mark_ecn: config.mark_ecn,
            proxy: config.proxy,
            interval: config.dcqcn.cnp_interval,
            notified: Holds::new(config.flow_table_size),
            sent: 0,
            withheld: 0,
        }
    }

    fn configure(&mut self, config: &Config, place: Place) {
        self.marker.configure(config.dcqcn.ramp(), config.dcqcn.marking(), place.line);
        self.notified.resize(config.flow_table_size);
        (self.mark_ecn, self.proxy, self.interval) = (config.mark_ecn, config.proxy, config.dcqcn.cnp_interval);
    }

    fn set_thresholds(&mut self, ramp: Ramp) {
        self.marker.set_thresholds(ramp);
    }

    /// A proxy signals flows of which it handles no frame then.
    fn remembers_flows(config: &Config) -> bool {
        config.proxy
    }

    #[inline]
    fn on_arrival(
        &mut self,
        now: Instant,
        frame: Frame<'_, Ce>,
        fate: Fate,
        queue: &Queue,
        draw: &mut impl Draw,
        out: &mut impl Out<FastCnp>,
    ) {
        self.marker.on_arrival(now, fate);
        if self.marker.marks(queue.len.0, draw) {
            self.notify(now, frame.flow, out);
        }
    }

    #[inline]
    fn mark(&mut self, _: Instant, frame: Frame<'_, Ce>, len: Octets, draw: &mut impl Draw) -> bool {
        let marks = self.mark_ecn && self.marker.marks(len.0, draw);
        if marks {
            *frame.tag = Ce(true);
        }
        marks
    }

    fn on_signal(
        &mut self,
        _: Instant,
        flow: FlowKey,
        _: Notice,
        _: &Queue,
        _: &mut impl Draw,
        out: &mut impl Out<FastCnp>,
    ) {
        out.send(To::Source(flow), Class::Control, Notice::Plain);
    }

    #[inline]
    fn next_timeout(&self) -> Option<Instant> {
        self.marker.next_timeout()
    }

    fn on_timeout(&mut self, now: Instant, queue: &Queue, _: &mut impl Draw, _: &mut impl Out<FastCnp>) {
        self.marker.on_timeout(now, queue.len.0);
    }

    fn vars(&self, row: &mut [i64]) {
        row.copy_from_slice(&[self.sent as i64, self.withheld as i64]);
    }
}

impl Cp {
    /// Notifies the source of `flow`, or its proxy, unless that has happened within the interval.
    #[inline(never)]
    fn notify(&mut self, now: Instant, flow: FlowKey, out: &mut impl Out<FastCnp>) {
        if self.interval > Duration::ZERO && !self.notified.hold(now, flow, now + self.interval) {
            self.withheld += 1;
            return;
        }
        self.sent += 1;
        let to = if self.proxy { To::PreviousHop(flow) } else { To::Source(flow) };
        out.send(to, Class::Control, Notice::Fast);
    }
}

/// The notification point: DCQCN's, which answers marks where there are any.
#[derive(Debug, Clone)]
pub struct Np(dcqcn::Np);

impl NotificationPoint<FastCnp> for Np {
    fn new(config: &Config, flow: FlowKey) -> Self {
        Self(dcqcn::Np::new(&config.dcqcn, flow))
    }

    fn configure(&mut self, config: &Config) {
        self.0.configure(&config.dcqcn);
    }

    #[inline]
    fn on_frame(&mut self, now: Instant, frame: Frame<'_, Ce>, draw: &mut impl Draw, out: &mut impl Out<FastCnp>) {
        self.0.on_frame(now, frame, draw, &mut Plain(out));
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.0.next_timeout()
    }

    fn on_timeout(&mut self, now: Instant, draw: &mut impl Draw, out: &mut impl Out<FastCnp>) {
        self.0.on_timeout(now, draw, &mut Plain(out));
    }
}

/// The reaction point: DCQCN's limiter, or a pause.
#[derive(Debug, Clone)]
pub struct Rp {
    limiter: dcqcn::Rp,
    /// A notification stops the flow for this time; 0 where it cuts the rate instead.
    pause_time: Duration,
    /// The pause ends here; never while there is none.
    until: Instant,
}

impl Rp {
    /// The limiter's parameters. QCN's cut Gd |Fb| is half of an alpha that does not move: both of its steps, alpha / `g_inverse` and
    /// 1 / `g_inverse`, are 0 when rounded down.
    fn limits(config: &Config) -> dcqcn::Config {
        let limits = config.dcqcn.clone();
        match config.reaction {
            Reaction::Qcn => {
                let alpha0 = 2.0 * f64::from(config.fb) / f64::from(config.gd_inverse);
                dcqcn::Config { alpha0, g_inverse: u32::MAX, ..limits }
            }
            Reaction::Dcqcn | Reaction::Pause => limits,
        }
    }
}

impl ReactionPoint<FastCnp> for Rp {
    const VARS: &'static [Var] = <dcqcn::Rp as ReactionPoint<Dcqcn>>::VARS;

    fn new(config: &Config, line: BitRate) -> Self {
        let pause_time = if config.reaction == Reaction::Pause { config.pause_time } else { Duration::ZERO };
        Self { limiter: dcqcn::Rp::new(&Self::limits(config), line), pause_time, until: Instant::NEVER }
    }

    fn configure(&mut self, config: &Config, line: BitRate) {
        let fresh = Self::new(config, line);
        if fresh.pause_time == Duration::ZERO {
            self.until = Instant::NEVER;
        }
        self.pause_time = fresh.pause_time;
        self.limiter.configure(&Self::limits(config), line);
        if config.reaction == Reaction::Qcn {
            self.limiter.restart_alpha();
        }
    }

    /// A pause never shortens another one.
    fn on_signal(&mut self, now: Instant, flow: FlowKey, _: Notice, draw: &mut impl Draw, out: &mut impl Out<FastCnp>) {
        if self.pause_time == Duration::ZERO {
            self.limiter.on_signal(now, flow, Cnp, draw, &mut Plain(out));
        } else {
            self.until = now + self.pause_time;
        }
    }

    #[inline]
    fn on_send(&mut self, now: Instant, frame: Release, draw: &mut impl Draw, out: &mut impl Out<FastCnp>) -> Ce {
        self.limiter.on_send(now, frame, draw, &mut Plain(out))
    }

    fn next_timeout(&self) -> Option<Instant> {
        let pause = (self.until != Instant::NEVER).then_some(self.until);
        pause.into_iter().chain(self.limiter.next_timeout()).min()
    }

    fn on_timeout(&mut self, now: Instant, draw: &mut impl Draw, out: &mut impl Out<FastCnp>) {
        if now >= self.until {
            self.until = Instant::NEVER;
        }
        self.limiter.on_timeout(now, draw, &mut Plain(out));
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        if self.until == Instant::NEVER {
            self.limiter.allowance()
        } else {
            Allowance { rate: BitRate::ZERO, window: None }
        }
    }

    fn limiting(&self) -> bool {
        self.until != Instant::NEVER || self.limiter.limiting()
    }

    fn vars(&self, row: &mut [i64]) {
        ReactionPoint::<Dcqcn>::vars(&self.limiter, row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::info::Value;
    use crate::testing::{Middle, Sent, at, config, frame_of};
    use crate::units::CpId;
    use alloc::vec::Vec;

    const FLOW: FlowKey = FlowKey(7);
    const LINE: BitRate = BitRate::from_gbps(10);

    fn place() -> Place {
        Place { cp: CpId(0xaa), line: LINE, capacity: Octets(150_000), phase: Duration::ZERO }
    }

    fn cp(changes: &[(&str, Value)]) -> Cp {
        Cp::new(&config::<FastCnp>("", changes), place())
    }

    /// A frame of `flow` joins a queue that is `len` long with it; the addressees of the signals, and whether it is marked.
    fn arrive(cp: &mut Cp, us: u64, flow: u32, len: u64) -> (Vec<To>, bool) {
        let (mut tag, mut sent) = (Ce(false), Sent::default());
        let queue = Queue { len: Octets(len), ..Queue::default() };
        cp.on_arrival(
            at(us),
            frame_of(FlowKey(flow), Instant::ZERO, &mut tag),
            Fate::Queued,
            &queue,
            &mut Middle,
            &mut sent,
        );
        cp.mark(at(us), frame_of(FlowKey(flow), Instant::ZERO, &mut tag), queue.len, &mut Middle);
        assert!(sent.0.iter().all(|(_, signal)| *signal == Notice::Fast));
        (sent.0.iter().map(|(to, _)| *to).collect(), tag.0)
    }

    /// Above 100 KB every frame is to be marked, in the middle of a word's range none below: p_max is 0.1.
    #[test]
    fn a_frame_that_dcqcn_would_mark_notifies_its_source() {
        let mut cp = cp(&[]);
        assert_eq!(arrive(&mut cp, 0, 7, 100_000), (Vec::new(), false));
        assert_eq!(
            arrive(&mut cp, 0, 7, 100_001),
            (alloc::vec![To::Source(FLOW)], false),
            "known to understand: no mark"
        );
    }

    /// One in 50 us for each flow; three of the five frames of flow 7 come too soon.
    #[test]
    fn notifications_of_a_flow_are_limited() {
        let mut cp = cp(&[]);
        let sent: Vec<_> = [0, 10, 49, 50, 99].map(|us| arrive(&mut cp, us, 7, 120_000).0.len()).into();
        assert_eq!(sent, [1, 0, 0, 1, 0]);
        assert_eq!(arrive(&mut cp, 99, 8, 120_000).0, [To::Source(FlowKey(8))]);
        let mut row = [0; 2];
        cp.vars(&mut row);
        assert_eq!(row, [3, 3]);
    }

    #[test]
    fn a_full_table_notifies_no_further_flow() {
        let mut cp = cp(&[("flow_table_size", count(1))]);
        assert_eq!([7, 8].map(|flow| arrive(&mut cp, 0, flow, 120_000).0.len()), [1, 0]);
        assert_eq!(arrive(&mut cp, 50, 8, 120_000).0.len(), 1, "the interval of 7 has ended");
    }

    #[test]
    fn without_an_interval_every_frame_that_would_be_marked_notifies() {
        let mut cp = cp(&[("cnp_interval", us(0)), ("flow_table_size", count(1))]);
        assert_eq!([7, 8, 7, 7].map(|flow| arrive(&mut cp, 0, flow, 120_000).0.len()), [1; 4]);
    }

    #[test]
    fn sources_that_are_not_known_to_understand_get_marks_as_well() {
        let mut cp = cp(&[("mark_ecn", switch(true))]);
        assert_eq!(arrive(&mut cp, 0, 7, 120_000), (alloc::vec![To::Source(FLOW)], true));
        assert_eq!(arrive(&mut cp, 1, 7, 120_000), (Vec::new(), true), "marks have no limit at the switch");
        let mut np = Np::new(&config::<FastCnp>("", &[]), FLOW);
        let (mut tag, mut sent) = (Ce(true), Sent::default());
        np.on_frame(at(5), frame_of(FLOW, Instant::ZERO, &mut tag), &mut Middle, &mut sent);
        assert_eq!(sent.0, [(To::Source(FLOW), Notice::Plain)]);
    }

    #[test]
    fn a_proxy_translates() {
        let mut cp = cp(&[("proxy", switch(true))]);
        assert_eq!(arrive(&mut cp, 0, 7, 120_000).0, [To::PreviousHop(FLOW)]);
        let mut sent = Sent::default();
        cp.on_signal(at(1), FLOW, Notice::Fast, &Queue::default(), &mut Middle, &mut sent);
        assert_eq!(sent.0, [(To::Source(FLOW), Notice::Plain)]);
    }

    fn rp(changes: &[(&str, Value)]) -> Rp {
        Rp::new(&config::<FastCnp>("", changes), LINE)
    }

    fn notify(rp: &mut Rp, us: u64) -> u64 {
        rp.on_signal(at(us), FLOW, Notice::Fast, &mut Middle, &mut Sent::default());
        rp.allowance().rate.0
    }

    /// DCQCN's alpha is 1 at first, and stays there while notifications come: each halves. QCN's takes 8/128 of the rate each time,
    /// however long the one before is ago: 10 × 15/16 = 9.375, × 15/16 = 8.7890625.
    #[test]
    fn cuts_of_both_reactions() {
        let mut as_dcqcn = rp(&[]);
        assert_eq!([0, 0].map(|us| notify(&mut as_dcqcn, us)), [5_000_000_000, 2_500_000_000]);
        let mut as_qcn = rp(&[("reaction", choice("qcn")), ("time_reset", us(1_000_000))]);
        assert_eq!([0, 500].map(|us| notify(&mut as_qcn, us)), [9_375_000_000, 8_789_062_500]);
    }

    /// The strongest cut of QCN is 63/128 of the rate: 5.078125 Gb/s are left.
    #[test]
    fn the_strongest_cut_is_that_of_qcn() {
        let mut rp = rp(&[("reaction", choice("qcn")), ("fb", count(63))]);
        assert_eq!(notify(&mut rp, 0), 5_078_125_000);
    }

    #[test]
    fn a_pause_ends_after_its_time_and_leaves_the_rate() {
        let mut rp = rp(&[("reaction", choice("pause"))]);
        assert_eq!(notify(&mut rp, 10), 0);
        assert_eq!(notify(&mut rp, 20), 0);
        assert_eq!(rp.next_timeout(), Some(at(70)));
        rp.on_timeout(at(60), &mut Middle, &mut Sent::default());
        assert!(rp.limiting(), "the second notification was later");
        rp.on_timeout(at(70), &mut Middle, &mut Sent::default());
        assert_eq!((rp.allowance().rate, rp.next_timeout()), (LINE, None));
    }

    #[test]
    fn a_reaction_that_changes_leaves_rates_and_ends_pauses() {
        let mut rp = rp(&[]);
        notify(&mut rp, 0);
        rp.configure(&config::<FastCnp>("", &[("reaction", choice("qcn"))]), LINE);
        assert_eq!(notify(&mut rp, 0), 4_687_500_000, "5 × 15/16");
        rp.configure(&config::<FastCnp>("", &[("reaction", choice("pause"))]), LINE);
        assert_eq!(notify(&mut rp, 1), 0);
        rp.configure(&config::<FastCnp>("", &[]), LINE);
        assert_eq!(rp.allowance().rate.0, 4_687_500_000);
    }
}
