//! Improved congestion isolation: 802.1Qcz beside DCQCN, with marks on isolated flows alone.
//!
//! ```text
//!   monitored queue                      congesting queue                   destination    reaction point
//!   picks flows, moves their frames ---> marks them by its own length ----> CNP ---------> DCQCN's limiter
//!   marks those of flows it has picked   a pause stops it alone
//! ```
//!
//! Congestion isolation answers within a hop, and needs a queue for as long as the congestion lasts. DCQCN takes the cause away, but it
//! marks whatever waits in a long queue, the victims of a congestion too. Here the flows that isolation has picked are the ones that are
//! marked: victims keep their rate, and no CNP is sent for them.
//!
//! `marks = "all"` is the plain combination of both, in which the monitored queue marks as well.
//!
//! Reconstruction: of the paper the abstract is at hand. Isolation is [`ci`](crate::ci)'s and marks and limiter are
//! [`dcqcn`](crate::dcqcn)'s, with all of their options.
//!
//! Sources: Merino et al., arXiv 2511.04639 (November 2025), abstract; IEEE Std 802.1Qcz-2023; Zhu et al., SIGCOMM 2015.

use crate::ci::{self, Cim, CongestionIsolation, Isolation};
use crate::dcqcn::{self, Cnp, Dcqcn};
use crate::info::values::{choice, octets};
use crate::info::{Action, Forms, Info, Signals, Threshold, choice, parameters};
use crate::parts::marking::{Ce, Ramp};
use crate::parts::marking_cp::MarkingCp;
use crate::units::{BitRate, FlowKey, Instant, Octets};
use crate::{
    Allowance, Class, CongestionPoint, Draw, Fate, Frame, Label, Message, NotificationPoint, Out, Place, PortView,
    Queue, ReactionPoint, Release, Scheme, Signal, To, Var, Verdict,
};

/// Improved congestion isolation.
#[derive(Debug, Clone, Copy)]
pub struct ImprovedCongestionIsolation;

choice! {
    /// The queues that mark.
    pub enum Marks {
        /// Congesting queues. (ICI)
        Isolated = "isolated",
        /// Monitored queues too. (802.1Qcz and DCQCN side by side)
        All = "all",
    }
}

parameters! {
    /// The parameters of improved congestion isolation.
    pub struct Config {
        ..isolation: Isolation;
        ..dcqcn: dcqcn::Config;
        /// Length of the monitored queue up to which no flow is picked.
        ci_k_min: Threshold {
            default: octets(20_000),
            range: octets(0)..=octets(2_147_483_647),
            source: "option, k_min of ci",
        }
        /// Length above which the flow of every frame that comes is picked; in between the probability rises linearly.
        ci_k_max: Threshold {
            default: octets(80_000),
            range: octets(100)..=octets(2_147_483_647),
            at_least: ci_k_min,
            source: "option, k_max of ci",
        }
        /// The queues that mark.
        marks: Marks {
            default: choice("isolated"),
            source: "arXiv 2511.04639, abstract: the isolated flows guide the marking",
        }
    }
}

impl Scheme for ImprovedCongestionIsolation {
    const INFO: Info = Info {
        name: "ici",
        title: "Improved congestion isolation (reconstruction)",
        source: "Merino et al., Improving dynamic congestion isolation in data-center networks, arXiv 2511.04639, 2025, abstract; IEEE Std \
                 802.1Qcz-2023; Zhu et al., SIGCOMM 2015",
        description: "Flows that congest a queue are moved to a separate queue, as with ci; that queue alone marks, and sources answer as DCQCN's do.",
        parameters: Config::PARAMETERS,
        profiles: &[],
        set_point: None,
        signals: Some(Signals::by_destination(Cnp::OCTETS)),
        actions: &[
            Action::Marks,
            Action::Moves,
            Action::NeighbourMessages,
            Action::Notifications,
            Action::Cuts,
            Action::Raises,
        ],
        tuned: &[&["ci_k_min"], &["ci_k_max"], &["k_min"], &["k_max"], &["p_max"], &["g_inverse"], &["r_ai"]],
        recovers_alone: true,
        raises_on_signal: false,
        integer_state: true,
        needs_order: true,
        forms: Forms { capture: true, testbed: false, fluid: Some("ici"), cores: &[] },
    };
    type Config = Config;
    type Tag = Ce;
    type Echo = crate::Never;
    type Signal = Notice;
    type Cp = Cp;
    type Np = Np;
    type Rp = Rp;

    fn moves_to(config: &Config) -> Option<u8> {
        CongestionIsolation::moves_to(&config.ci())
    }

    fn label(tag: &Ce) -> Label {
        Label::Roce(tag.0)
    }
}

impl Config {
    /// The part of congestion isolation.
    fn ci(&self) -> ci::Config {
        ci::Config { isolation: self.isolation.clone(), k_min: self.ci_k_min, k_max: self.ci_k_max }
    }
}

/// A control frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notice {
    /// To the previous hop.
    Cim(Cim),
    /// From a destination to a source.
    Cnp,
}

impl Signal for Notice {
    fn octets(&self) -> u16 {
        match self {
            Self::Cim(cim) => cim.octets(),
            Self::Cnp => Cnp::OCTETS,
        }
    }

    fn message(&self) -> Option<Message> {
        match self {
            Self::Cim(cim) => cim.message(),
            Self::Cnp => Cnp.message(),
        }
    }
}

/// Sends the signals of both parts as those of this scheme.
struct Parts<'a, O>(&'a mut O);

impl<O: Out<ImprovedCongestionIsolation>> Out<CongestionIsolation> for Parts<'_, O> {
    fn send(&mut self, to: To, class: Class, cim: Cim) {
        self.0.send(to, class, Notice::Cim(cim));
    }
}

impl<O: Out<ImprovedCongestionIsolation>> Out<Dcqcn> for Parts<'_, O> {
    fn send(&mut self, to: To, class: Class, _: Cnp) {
        self.0.send(to, class, Notice::Cnp);
    }
}

/// A frame as congestion isolation sees it, which has no tag.
fn untagged<'a>(frame: &Frame<'_, Ce>, tag: &'a mut ()) -> Frame<'a, ()> {
    let Frame { flow, octets, weight, seq, last, trimmed, sent_at, .. } = *frame;
    Frame { flow, octets, weight, seq, last, trimmed, sent_at, tag }
}

/// The congestion point of a monitored or a congesting queue.
#[derive(Debug, Clone)]
pub struct Cp {
    isolation: ci::Cp,
    marking: MarkingCp,
    /// It marks frames of any flow, and not those of isolated ones alone.
    marks: bool,
}

impl Cp {
    /// Whether the queue at `place` marks frames of any flow.
    fn is_to_mark(config: &Config, place: Place) -> bool {
        config.marks == Marks::All || u32::from(place.cp.priority()) == config.isolation.congesting_priority
    }
}

impl CongestionPoint<ImprovedCongestionIsolation> for Cp {
    const VARS: &'static [Var] = &[
        <ci::Cp as CongestionPoint<CongestionIsolation>>::VARS[0],
        <ci::Cp as CongestionPoint<CongestionIsolation>>::VARS[1],
        <MarkingCp as CongestionPoint<Dcqcn>>::VARS[0],
    ];
    const ADMITS: bool = true;
    const MARKS: bool = true;

    fn new(config: &Config, place: Place) -> Self {
        Self {
            isolation: ci::Cp::new(&config.ci(), place),
            marking: MarkingCp::new(&config.dcqcn, place.line),
            marks: Self::is_to_mark(config, place),
        }
    }

    fn configure(&mut self, config: &Config, place: Place) {
        self.isolation.configure(&config.ci(), place);
        CongestionPoint::<Dcqcn>::configure(&mut self.marking, &config.dcqcn, place);
        self.marks = Self::is_to_mark(config, place);
    }

    fn set_thresholds(&mut self, ramp: Ramp) {
        CongestionPoint::<Dcqcn>::set_thresholds(&mut self.marking, ramp);
    }

    #[inline]
    fn admit(
        &mut self,
        now: Instant,
        frame: Frame<'_, Ce>,
        fits: bool,
        queue: &Queue,
        port: &impl PortView,
        draw: &mut impl Draw,
    ) -> Verdict {
        self.isolation.admit(now, untagged(&frame, &mut ()), fits, queue, port, draw)
    }

    #[inline]
    fn on_arrival(
        &mut self,
        now: Instant,
        frame: Frame<'_, Ce>,
        fate: Fate,
        queue: &Queue,
        draw: &mut impl Draw,
        out: &mut impl Out<ImprovedCongestionIsolation>,
    ) {
        self.isolation.on_arrival(now, untagged(&frame, &mut ()), fate, queue, draw, &mut Parts(out));
        if self.marks {
            CongestionPoint::<Dcqcn>::on_arrival(&mut self.marking, now, frame, fate, queue, draw, &mut Parts(out));
        }
    }

    #[inline]
    fn mark(&mut self, now: Instant, frame: Frame<'_, Ce>, len: Octets, draw: &mut impl Draw) -> bool {
        (self.marks || self.isolation.isolates(frame.flow))
            && CongestionPoint::<Dcqcn>::mark(&mut self.marking, now, frame, len, draw)
    }

    fn on_signal(
        &mut self,
        now: Instant,
        flow: FlowKey,
        signal: Notice,
        queue: &Queue,
        draw: &mut impl Draw,
        out: &mut impl Out<ImprovedCongestionIsolation>,
    ) {
        if let Notice::Cim(cim) = signal {
            self.isolation.on_signal(now, flow, cim, queue, draw, &mut Parts(out));
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        let marking = CongestionPoint::<Dcqcn>::next_timeout(&self.marking);
        self.isolation.next_timeout().into_iter().chain(marking).min()
    }

    fn on_timeout(
        &mut self,
        now: Instant,
        queue: &Queue,
        draw: &mut impl Draw,
        out: &mut impl Out<ImprovedCongestionIsolation>,
    ) {
        self.isolation.on_timeout(now, queue, draw, &mut Parts(out));
        CongestionPoint::<Dcqcn>::on_timeout(&mut self.marking, now, queue, draw, &mut Parts(out));
    }

    fn vars(&self, row: &mut [i64]) {
        let (isolation, marking) = row.split_at_mut(2);
        self.isolation.vars(isolation);
        CongestionPoint::<Dcqcn>::vars(&self.marking, marking);
    }
}

/// The notification point: DCQCN's.
#[derive(Debug, Clone)]
pub struct Np(dcqcn::Np);

impl NotificationPoint<ImprovedCongestionIsolation> for Np {
    fn new(config: &Config, flow: FlowKey) -> Self {
        Self(dcqcn::Np::new(&config.dcqcn, flow))
    }

    fn configure(&mut self, config: &Config) {
        self.0.configure(&config.dcqcn);
    }

    #[inline]
    fn on_frame(
        &mut self,
        now: Instant,
        frame: Frame<'_, Ce>,
        draw: &mut impl Draw,
        out: &mut impl Out<ImprovedCongestionIsolation>,
    ) {
        self.0.on_frame(now, frame, draw, &mut Parts(out));
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.0.next_timeout()
    }

    fn on_timeout(&mut self, now: Instant, draw: &mut impl Draw, out: &mut impl Out<ImprovedCongestionIsolation>) {
        self.0.on_timeout(now, draw, &mut Parts(out));
    }
}

/// The reaction point: DCQCN's limiter, and the isolation of the source's flows.
#[derive(Debug, Clone)]
pub struct Rp {
    isolation: ci::Rp,
    limiter: dcqcn::Rp,
}

impl ReactionPoint<ImprovedCongestionIsolation> for Rp {
    const VARS: &'static [Var] = <dcqcn::Rp as ReactionPoint<Dcqcn>>::VARS;

    fn new(config: &Config, line: BitRate) -> Self {
        Self { isolation: ci::Rp::new(&config.ci(), line), limiter: dcqcn::Rp::new(&config.dcqcn, line) }
    }

    fn configure(&mut self, config: &Config, line: BitRate) {
        self.isolation.configure(&config.ci(), line);
        self.limiter.configure(&config.dcqcn, line);
    }

    fn on_stop(&mut self, now: Instant, flow: FlowKey) {
        self.isolation.on_stop(now, flow);
    }

    fn on_signal(
        &mut self,
        now: Instant,
        flow: FlowKey,
        signal: Notice,
        draw: &mut impl Draw,
        out: &mut impl Out<ImprovedCongestionIsolation>,
    ) {
        match signal {
            Notice::Cim(cim) => self.isolation.on_signal(now, flow, cim, draw, &mut Parts(out)),
            Notice::Cnp => self.limiter.on_signal(now, flow, Cnp, draw, &mut Parts(out)),
        }
    }

    fn stopped_by(&self, flow: FlowKey) -> Option<u8> {
        self.isolation.stopped_by(flow)
    }

    #[inline]
    fn on_send(
        &mut self,
        now: Instant,
        frame: Release,
        draw: &mut impl Draw,
        out: &mut impl Out<ImprovedCongestionIsolation>,
    ) -> Ce {
        self.isolation.on_send(now, frame, draw, &mut Parts(out));
        self.limiter.on_send(now, frame, draw, &mut Parts(out))
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.limiter.next_timeout()
    }

    fn on_timeout(&mut self, now: Instant, draw: &mut impl Draw, out: &mut impl Out<ImprovedCongestionIsolation>) {
        self.limiter.on_timeout(now, draw, &mut Parts(out));
    }

    fn allowance(&self) -> Allowance {
        self.limiter.allowance()
    }

    fn limiting(&self) -> bool {
        self.limiter.limiting()
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
    use crate::units::{CpId, Duration};

    const FLOW: FlowKey = FlowKey(7);
    const LINE: BitRate = BitRate::from_gbps(10);

    /// The congestion point of a queue of `priority`; flows are moved to that of priority 0.
    fn cp(priority: u8, changes: &[(&str, Value)]) -> Cp {
        let place =
            Place { cp: CpId::new(0xaa, 1, priority), line: LINE, capacity: Octets(150_000), phase: Duration::ZERO };
        Cp::new(&config::<ImprovedCongestionIsolation>("", changes), place)
    }

    /// A frame joins a queue that is `len` long with it: whether it is marked, and the signals.
    fn join(cp: &mut Cp, len: u64) -> (bool, usize) {
        let (mut tag, mut sent) = (Ce(false), Sent::default());
        let queue = Queue { len: Octets(len), ..Queue::default() };
        cp.on_arrival(at(1), frame_of(FLOW, Instant::ZERO, &mut tag), Fate::Queued, &queue, &mut Middle, &mut sent);
        cp.mark(at(1), frame_of(FLOW, Instant::ZERO, &mut tag), queue.len, &mut Middle);
        assert!(sent.0.iter().all(|(to, signal)| *to == To::PreviousHop(FLOW) && matches!(signal, Notice::Cim(_))));
        (tag.0, sent.0.len())
    }

    /// In the middle of a word's range flows are picked above 50 KB; every frame is to be marked above 40 KB.
    #[test]
    fn a_flow_is_marked_once_it_is_picked() {
        let early = ("k_max", octets(40_000));
        let mut monitored = cp(3, &[early]);
        assert_eq!(join(&mut monitored, 49_000), (false, 0), "a victim");
        assert_eq!(join(&mut monitored, 51_000), (true, 1), "it is picked by this frame");
        assert_eq!(join(&mut cp(0, &[early]), 49_000), (true, 0), "the congesting queue has isolated flows alone");
        assert_eq!(join(&mut cp(3, &[early, ("marks", choice("all"))]), 49_000), (true, 0), "side by side");
    }

    #[test]
    fn a_source_isolates_by_one_message_and_cuts_by_the_other() {
        let mut rp = Rp::new(&config::<ImprovedCongestionIsolation>("", &[]), LINE);
        let mut sent = Sent::<CongestionIsolation>::default();
        let mut isolation = ci::Cp::new(
            &config::<ImprovedCongestionIsolation>("", &[]).ci(),
            Place { cp: CpId::new(0xaa, 1, 3), line: LINE, capacity: Octets(150_000), phase: Duration::ZERO },
        );
        let queue = Queue { len: Octets(120_000), ..Queue::default() };
        isolation.on_arrival(
            at(1),
            frame_of(FLOW, Instant::ZERO, &mut ()),
            Fate::Queued,
            &queue,
            &mut Middle,
            &mut sent,
        );
        let (_, cim) = sent.0[0];
        rp.on_signal(at(2), FLOW, Notice::Cim(cim), &mut Middle, &mut Sent::default());
        assert_eq!((rp.stopped_by(FLOW), rp.allowance().rate), (Some(0), LINE));
        rp.on_signal(at(3), FLOW, Notice::Cnp, &mut Middle, &mut Sent::default());
        assert_eq!(rp.allowance().rate, BitRate::from_gbps(5));
        rp.on_stop(at(4), FLOW);
        assert_eq!(rp.stopped_by(FLOW), None);
    }
}
