//! BCN, Backward Congestion Notification, later called ECM, Ethernet Congestion Management.
//!
//! A congestion point samples arriving frames and tells their sources both to slow down and to speed up. Only a source
//! that it slowed down may speed up: a limited source tags its frames with the congestion point that limits it (RLT,
//! rate-limited tag), and a positive message answers such frames alone.
//!
//! ```text
//!   congestion point                                     reaction point
//!   sample? --no--> (nothing)                            no limiter <------------------------------+
//!     | yes                                                | negative message: associate           | r >= C
//!   Fb = -(q_off + w q_delta)                              v                                       |
//!     | Fb < 0, or Fb > 0 and        Bcn { q_off,        limiter -- negative: r (1 - Gd |Fb|) ---> limiter
//!     | the frame's RLT is mine ---> q_delta, cp } ----> tags    -- positive, own CPID: r + Gi Ru Fb
//! ```
//!
//! The options BCN-MAX, BCN(0,0), drift and over-sampling are switches of [`Ecm`], each for itself.
//!
//! Sources: So-In et al. 2008, sections 2 and 5.1 (the options, table 2); Jiang et al. 2015, equation (2) (the rate
//! law). Where the papers say nothing, the parameter's source is "option".

use crate::info::values::{octets, switch};
use crate::info::{Action, Forms, Info, Profile, Signals};
use crate::none::Silent;
use crate::parts::ecm::{Bcn, Ecm, Limiter, Monitor, Rlt};
use crate::units::{BitRate, FlowKey, Instant};
use crate::{
    Allowance, Class, CongestionPoint, Draw, Fate, Frame, Label, Out, Place, Queue, ReactionPoint, Release, Scheme, To,
    Var,
};

/// Backward Congestion Notification.
#[derive(Debug, Clone, Copy)]
pub struct BackwardCongestionNotification;

const PROFILES: &[Profile] = &[Profile {
    name: "paper-efecn",
    description: "So-In et al. 2008, table 2, at 10 Gb/s: BCN-MAX at 2 Qeq, over-sampling above Qsc, drift (its section 6).",
    settings: &[
        ("q_eq", octets(24_000)),
        ("q_sc", octets(120_000)),
        ("bcn_max", switch(true)),
        ("over_sampling", switch(true)),
        ("drift", switch(true)),
    ],
}];

impl Scheme for BackwardCongestionNotification {
    const INFO: Info = Info {
        name: "bcn",
        title: "Backward Congestion Notification (ECM)",
        source: "Bergamasco's proposal to IEEE 802.1Qau as So-In et al. 2008 (E-FECN) describe and measure it",
        description: "Switches sample frames and send their sources signed feedback; limited sources tag their frames, and \
                      only the congestion point that limits a source raises its rate.",
        parameters: Ecm::PARAMETERS,
        profiles: PROFILES,
        set_point: Some("q_eq"),
        signals: Some(Signals::backward(Bcn::OCTETS)),
        actions: &[Action::Notifications, Action::Cuts, Action::Raises],
        tuned: &[&["q_eq"], &["w"], &["gd_inverse"], &["gi"], &["sample_interval"]],
        recovers_alone: false,
        raises_on_signal: true,
        integer_state: true,
        needs_order: false,
        forms: Forms { capture: true, testbed: true, fluid: Some("bcn"), cores: &[] },
    };
    type Config = Ecm;
    type Tag = Rlt;
    type Echo = crate::Never;
    type Signal = Bcn;
    type Cp = Cp;
    type Np = Silent;
    type Rp = Rp;

    fn label(tag: &Rlt) -> Label {
        tag.0.map_or(Label::Bare, Label::Rlt)
    }

    fn from_label(label: Label) -> Rlt {
        Rlt::of(label)
    }
}

/// BCN's congestion point.
#[derive(Debug, Clone)]
pub struct Cp(Monitor);

impl CongestionPoint<BackwardCongestionNotification> for Cp {
    const VARS: &'static [Var] = Monitor::VARS;

    fn new(config: &Ecm, place: Place) -> Self {
        Self(Monitor::new(config, place))
    }

    fn configure(&mut self, config: &Ecm, place: Place) {
        self.0.configure(config, place);
    }

    fn remembers_flows(_config: &Ecm) -> bool {
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
        out: &mut impl Out<BackwardCongestionNotification>,
    ) {
        if let Some(message) = self.0.on_arrival(frame.octets, *frame.tag, fate, queue, draw) {
            out.send(To::Source(frame.flow), Class::Control, message);
        }
    }

    fn vars(&self, row: &mut [i64]) {
        self.0.vars(row);
    }
}

/// BCN's reaction point.
#[derive(Debug, Clone)]
pub struct Rp(Limiter);

impl ReactionPoint<BackwardCongestionNotification> for Rp {
    fn new(config: &Ecm, line: BitRate) -> Self {
        Self(Limiter::new(config, line))
    }

    fn configure(&mut self, config: &Ecm, line: BitRate) {
        self.0.configure(config, line);
    }

    fn on_signal(
        &mut self,
        now: Instant,
        _flow: FlowKey,
        signal: Bcn,
        draw: &mut impl Draw,
        _out: &mut impl Out<BackwardCongestionNotification>,
    ) {
        self.0.on_message(now, signal, draw);
    }

    #[inline]
    fn on_send(
        &mut self,
        _now: Instant,
        _frame: Release,
        _draw: &mut impl Draw,
        _out: &mut impl Out<BackwardCongestionNotification>,
    ) -> Rlt {
        self.0.tag()
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.0.next_timeout()
    }

    fn on_timeout(&mut self, now: Instant, draw: &mut impl Draw, _out: &mut impl Out<BackwardCongestionNotification>) {
        self.0.on_timeout(now, draw);
    }

    fn allowance(&self) -> Allowance {
        Allowance { rate: BitRate(self.0.rate()), window: None }
    }

    fn limiting(&self) -> bool {
        self.0.limiting()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::frame_of;
    use crate::units::{CpId, Duration, Octets};
    use crate::{Configuration, SchemeConfig};
    use alloc::vec::Vec;

    struct Middle;
    impl Draw for Middle {
        fn draw(&mut self) -> u32 {
            1 << 31
        }
    }

    /// Keeps the messages that were sent.
    #[derive(Default)]
    struct Sent(Vec<(To, Bcn)>);
    impl Out<BackwardCongestionNotification> for Sent {
        fn send(&mut self, to: To, class: Class, signal: Bcn) {
            assert_eq!(class, Class::Control);
            self.0.push((to, signal));
        }
    }

    const AT: Instant = Instant(1_000_000);

    /// A loop of the two points, by hand: the source is cut, tags its frames, and is raised again.
    #[test]
    fn a_cut_source_is_raised_by_the_point_that_cut_it() {
        let Some(SchemeConfig::Bcn(mut config)) = SchemeConfig::with_defaults("bcn") else { panic!("it is listed") };
        config.sample_interval = Octets(1500);
        config.sample_jitter = 0.0;
        let cp = CpId::new(0xaa, 3, 0);
        let place = Place { cp, line: BitRate::from_gbps(10), capacity: Octets(150_000), phase: Duration::ZERO };
        let (mut cp_point, mut rp) = (Cp::new(&config, place), Rp::new(&config, place.line));
        let mut pass = |rp: &mut Rp, len: u64| {
            let mut sent = Sent::default();
            let mut tag = rp.on_send(
                AT,
                Release { flow: FlowKey(7), octets: 1500, seq: Octets(0), last: false },
                &mut Middle,
                &mut sent,
            );
            let frame = frame_of(FlowKey(7), AT, &mut tag);
            let queue = Queue { len: Octets(len), ..Queue::default() };
            cp_point.on_arrival(AT, frame, Fate::Queued, &queue, &mut Middle, &mut sent);
            for &(to, signal) in &sent.0 {
                assert_eq!(to, To::Source(FlowKey(7)));
                rp.on_signal(AT, FlowKey(7), signal, &mut Middle, &mut Sent::default());
            }
            (sent.0.len(), rp.allowance().rate.0)
        };
        assert_eq!(pass(&mut rp, 0), (0, 10_000_000_000), "room, but the frame has no tag");
        // Above 2 Qeq: BCN-MAX.
        assert_eq!(pass(&mut rp, 60_000), (1, 5_000_000_000));
        // q_off 0, q_delta −36 000 octets = −562 units: Fb = 1124, and 1124 × 8/15 Mb/s = 599.466 Mb/s.
        assert_eq!(pass(&mut rp, 24_000), (1, 5_599_466_666));
        assert_eq!(pass(&mut rp, 24_000), (0, 5_599_466_666), "Fb = 0 is not sent");
        // q_off −375, q_delta −375: Fb = 1125, 600 Mb/s.
        assert_eq!(pass(&mut rp, 0), (1, 6_199_466_666));
    }

    #[test]
    fn lists_are_read_back() {
        let values: Vec<_> = Ecm::PARAMETERS.iter().map(|p| p.default).collect();
        assert!(Ecm::from_values(&values).is_some());
        assert!(Ecm::from_values(&values[1..]).is_none());
    }
}
