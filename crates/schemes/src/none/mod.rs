//! No control: sources send as fast as their traffic and line allow, and full queues drop.
//!
//! The yardstick for every other scheme, and the lower bound of the cost of a simulated hop.

use crate::info::{Forms, Info, parameters};
use crate::units::{BitRate, FlowKey, Instant};
use crate::{
    Allowance, CongestionPoint, Draw, Fate, Frame, Never, NotificationPoint, Out, Place, Queue, ReactionPoint, Release,
    Scheme,
};

/// The scheme without control.
#[derive(Debug, Clone, Copy)]
pub struct NoControl;

parameters! {
    /// Nothing to set.
    pub struct Config {}
}

impl Scheme for NoControl {
    const INFO: Info = Info {
        name: "none",
        title: "No congestion management",
        source: "the yardstick for the other schemes",
        description: "Sources send at their own rate, full queues drop.",
        parameters: Config::PARAMETERS,
        profiles: &[],
        set_point: None,
        signals: None,
        actions: &[],
        tuned: &[],
        recovers_alone: true,
        raises_on_signal: false,
        integer_state: true,
        needs_order: false,
        forms: Forms { capture: true, testbed: true, fluid: None, cores: &[] },
    };
    type Config = Config;
    type Tag = ();
    type Echo = Never;
    type Signal = Never;
    type Cp = Absent;
    type Np = Silent;
    type Rp = Rp;
}

/// The congestion point of schemes whose switches take no part.
#[derive(Debug, Clone)]
pub struct Absent;

impl<S: Scheme> CongestionPoint<S> for Absent {
    fn new(_: &S::Config, _: Place) -> Self {
        Self
    }

    fn configure(&mut self, _: &S::Config, _: Place) {}

    fn remembers_flows(_config: &S::Config) -> bool {
        false
    }

    fn on_arrival(
        &mut self,
        _: Instant,
        _: Frame<'_, S::Tag>,
        _: Fate,
        _: &Queue,
        _: &mut impl Draw,
        _: &mut impl Out<S>,
    ) {
    }
}

/// The notification point of schemes whose destinations stay silent.
#[derive(Debug, Clone)]
pub struct Silent;

impl<S: Scheme> NotificationPoint<S> for Silent {
    fn new(_: &S::Config, _: FlowKey) -> Self {
        Self
    }

    fn configure(&mut self, _: &S::Config) {}
}

/// Allows the line rate.
#[derive(Debug, Clone)]
pub struct Rp {
    line: BitRate,
}

impl ReactionPoint<NoControl> for Rp {
    fn new(_: &Config, line: BitRate) -> Self {
        Self { line }
    }

    fn configure(&mut self, _: &Config, _: BitRate) {}

    fn on_signal(&mut self, _: Instant, _: FlowKey, signal: Never, _: &mut impl Draw, _: &mut impl Out<NoControl>) {
        match signal {}
    }

    fn on_send(&mut self, _: Instant, _: Release, _: &mut impl Draw, _: &mut impl Out<NoControl>) {}

    fn next_timeout(&self) -> Option<Instant> {
        None
    }

    fn on_timeout(&mut self, _: Instant, _: &mut impl Draw, _: &mut impl Out<NoControl>) {}

    fn allowance(&self) -> Allowance {
        Allowance { rate: self.line, window: None }
    }

    fn limiting(&self) -> bool {
        false
    }
}
