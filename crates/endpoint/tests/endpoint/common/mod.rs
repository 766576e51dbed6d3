//! Data, random words and a scheme with a window, for tests.
#![allow(dead_code, reason = "each test file uses a part of it")]

use penstock_endpoint::{DataSource, Taken};
use penstock_schemes::none::NoControl;
use penstock_schemes::*;

pub(crate) fn us(n: u64) -> Instant {
    Instant::ZERO + Duration::from_us(n)
}

/// A number of frames of one length, each `gap` after the last one was taken.
#[derive(Debug, Clone)]
pub(crate) struct Frames {
    pub(crate) octets: u16,
    pub(crate) left: u32,
    pub(crate) gap: Duration,
    next: Instant,
}

impl Frames {
    pub(crate) fn new(octets: u16, left: u32, gap: Duration) -> Self {
        Self { octets, left, gap, next: Instant::ZERO }
    }
}

impl DataSource for Frames {
    fn when(&mut self, now: Instant) -> Instant {
        if self.left > 0 { self.next.max(now) } else { Instant::NEVER }
    }

    fn next_octets(&self) -> u16 {
        self.octets
    }

    fn take(&mut self, now: Instant) -> Taken {
        assert!(self.left > 0 && self.next <= now, "a frame is taken that is not there");
        self.left -= 1;
        self.next = now + self.gap;
        Taken { octets: self.octets, last: self.left == 0 }
    }
}

/// Random words; the same words give the same answers.
#[derive(Debug, Clone)]
pub(crate) struct Words(pub(crate) u32);

impl Draw for Words {
    fn draw(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.0
    }
}

/// A scheme with a constant window at the line's rate; its destinations acknowledge every frame.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Windowed;

/// The window, octets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window(pub(crate) u64);

impl Configuration for Window {
    fn from_values(_: &[Value]) -> Option<Self> {
        None
    }
}

impl Scheme for Windowed {
    const INFO: Info =
        Info { name: "windowed", title: "A constant window", source: "tests", ..<NoControl as Scheme>::INFO };
    type Config = Window;
    type Tag = ();
    type Echo = ();
    type Signal = Never;
    type Cp = Quiet;
    type Np = Acknowledges;
    type Rp = Holds;
}

#[derive(Debug, Clone)]
pub(crate) struct Quiet;

impl CongestionPoint<Windowed> for Quiet {
    fn new(_: &Window, _: Place) -> Self {
        Self
    }

    fn configure(&mut self, _: &Window, _: Place) {}

    fn on_arrival(
        &mut self,
        _: Instant,
        _: Frame<'_, ()>,
        _: Fate,
        _: &Queue,
        _: &mut impl Draw,
        _: &mut impl Out<Windowed>,
    ) {
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Acknowledges;

impl NotificationPoint<Windowed> for Acknowledges {
    fn new(_: &Window, _: FlowKey) -> Self {
        Self
    }

    fn configure(&mut self, _: &Window) {}

    fn acknowledge(&mut self, _: Instant, _: Frame<'_, ()>) -> Option<()> {
        Some(())
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Holds(BitRate, u64);

impl ReactionPoint<Windowed> for Holds {
    fn new(config: &Window, line: BitRate) -> Self {
        Self(line, config.0)
    }

    fn configure(&mut self, config: &Window, _: BitRate) {
        self.1 = config.0;
    }

    fn on_signal(&mut self, _: Instant, _: FlowKey, signal: Never, _: &mut impl Draw, _: &mut impl Out<Windowed>) {
        match signal {}
    }

    fn on_send(&mut self, _: Instant, _: Release, _: &mut impl Draw, _: &mut impl Out<Windowed>) {}

    fn next_timeout(&self) -> Option<Instant> {
        None
    }

    fn on_timeout(&mut self, _: Instant, _: &mut impl Draw, _: &mut impl Out<Windowed>) {}

    fn allowance(&self) -> Allowance {
        Allowance { rate: self.0, window: Some(Octets(self.1)) }
    }

    fn limiting(&self) -> bool {
        true
    }
}
