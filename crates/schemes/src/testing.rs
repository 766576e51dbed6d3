//! Helpers for the unit tests of schemes.

use alloc::vec::Vec;

use crate::{Class, Configuration, Draw, Duration, FlowKey, Frame, Instant, Octets, Out, Scheme, To, Value};

/// Draws the middle of every jitter.
pub(crate) struct Middle;

impl Draw for Middle {
    fn draw(&mut self) -> u32 {
        1 << 31
    }
}

/// The instant `us` microseconds after the start.
pub(crate) fn at(us: u64) -> Instant {
    Instant::ZERO + Duration::from_us(us)
}

/// Fails unless two numbers agree in nine digits.
#[track_caller]
pub(crate) fn close(seen: f64, expected: f64) {
    assert!((seen - expected).abs() < 1e-9 * expected.abs(), "{seen} instead of {expected}");
}

/// The first frame of `flow`: 1500 octets, weight 1.
pub(crate) fn frame_of<T>(flow: FlowKey, sent_at: Instant, tag: &mut T) -> Frame<'_, T> {
    Frame { flow, octets: 1500, weight: 1, seq: Octets(0), last: false, trimmed: false, sent_at, tag }
}

/// Keeps the signals that were sent.
pub(crate) struct Sent<S: Scheme>(pub(crate) Vec<(To, S::Signal)>);

impl<S: Scheme> Default for Sent<S> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<S: Scheme> Out<S> for Sent<S> {
    fn send(&mut self, to: To, class: Class, signal: S::Signal) {
        assert_eq!(class, Class::Control);
        self.0.push((to, signal));
    }
}

/// The configuration that starts from `profile` (or from the defaults, if it is empty) and has these `changes`.
pub(crate) fn config<S: Scheme>(profile: &str, changes: &[(&str, Value)]) -> S::Config {
    let settings = if profile.is_empty() { &[][..] } else { S::INFO.profile(profile).expect("a profile").settings };
    let value = |name: &str| changes.iter().chain(settings).find(|(other, _)| *other == name).map(|(_, value)| *value);
    let values: Vec<_> = S::INFO.parameters.iter().map(|p| value(p.name).unwrap_or(p.default)).collect();
    S::Config::from_values(&values).expect("values are of their parameters' kinds")
}
