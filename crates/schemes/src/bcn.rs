//! BCN, Backward Congestion Notification, later called ECM, Ethernet Congestion Management.
//!
//! A congestion point samples arriving frames and tells their sources both to slow down and to speed up. So that only
//! those speed up whom it slowed down, a limited source tags its frames with the congestion point that limits it (RLT,
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
//! Sources: paper 001, sections 2 and 5.1 (the options, table 2); paper 004, equation (2) (the rate law). Where the
//! papers say nothing, the parameter's source is "option".

use crate::info::values::{octets, switch};
use crate::info::{Info, Profile};
use crate::none::Silent;
use crate::parts::ecm::{Bcn, Ecm, Limiter, Monitor, Rlt};
use crate::units::{BitRate, Instant};
use crate::{
    Allowance, Class, CongestionPoint, Draw, Fate, Frame, Out, Place, Queue, ReactionPoint, Release, Scheme, To, Var,
};

/// Backward Congestion Notification.
#[derive(Debug, Clone, Copy)]
pub struct BackwardCongestionNotification;

const PROFILES: &[Profile] = &[Profile {
    name: "paper-efecn",
    description: "Paper 001, table 2, at 10 Gb/s: BCN-MAX at 2 Qeq, over-sampling above Qsc.",
    settings: &[
        ("q_eq", octets(24_000)),
        ("q_sc", octets(120_000)),
        ("bcn_max", switch(true)),
        ("over_sampling", switch(true)),
    ],
}];

/// Length of the frame of a BCN message, padded to the least of Ethernet.
pub const BCN_OCTETS: u16 = 64;

impl Scheme for BackwardCongestionNotification {
    const INFO: Info = Info {
        name: "bcn",
        title: "Backward Congestion Notification (ECM)",
        source: "Bergamasco's proposal to IEEE 802.1Qau as paper 001 (E-FECN) describes and measures it",
        description: "Switches sample frames and send their sources signed feedback; limited sources tag their frames, and \
                      only the congestion point that limits a source raises its rate.",
        parameters: Ecm::PARAMETERS,
        profiles: PROFILES,
        recovers_alone: false,
        raises_on_signal: true,
        integer_state: true,
    };
    type Config = Ecm;
    type Tag = Rlt;
    type Signal = Bcn;
    type Cp = Cp;
    type Np = Silent;
    type Rp = Rp;

    const SIGNAL_VARS: &'static [Var] = Bcn::VARS;

    fn octets(_: &Bcn) -> u16 {
        BCN_OCTETS
    }

    fn signal_vars(signal: &Bcn, row: &mut [i64]) {
        signal.vars(row);
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

    fn on_signal(
        &mut self,
        now: Instant,
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
