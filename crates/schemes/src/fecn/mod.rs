//! FECN, Forward Explicit Congestion Notification (forward explicit rate notification).
//!
//! A source asks for its rate: every millisecond a probe follows each flow's path to the destination and comes back with
//! the least rate that the switches on it advertise. A switch advertises one rate to all flows, and corrects it every
//! millisecond by its load; hence all flows of a bottleneck get the same.
//!
//! ```text
//!   reaction point              congestion points                    notification point
//!   probe, rate unlimited ====> rate = min(rate, r) ====> ... ====> reflects
//!        ^                      (parts::explicit_rate)                  |
//!        +--------------------------- rate --------------------------- -+
//!   regulator's rate = probe's rate (parts::regulators)
//! ```
//!
//! Sources start at C/N0: slow start with N0 = 20, fast start with N0 = 1.
//!
//! Sources: So-In et al. 2008, sections 2 to 5; the FECN pseudo-code as reposted.

use crate::info::values::count;
use crate::info::{Action, Forms, Info, Profile, Signals, parameters};
use crate::parts::explicit_rate::{ExplicitRate, Probe, RateAllocator};
use crate::parts::regulators::{Regulators, Start};
use crate::units::{BitRate, FlowKey, Instant};
use crate::{
    Allowance, Class, CongestionPoint, Draw, Fate, Frame, NotificationPoint, Out, Place, Queue, ReactionPoint, Release,
    Scheme, To, Var,
};

/// Forward Explicit Congestion Notification.
#[derive(Debug, Clone, Copy)]
pub struct ForwardExplicitRate;

parameters! {
    /// FECN's parameters.
    pub struct Config {
        ..rates: ExplicitRate;
        /// Sources and switches begin with C/N0: 20 for slow start, 1 for fast start.
        n0: u32 {
            default: count(20),
            range: count(1)..=count(1_000_000),
            source: "So-In et al. 2008 section 5.1, N0",
        }
    }
}

const PROFILES: &[Profile] = &[Profile {
    name: "paper-efecn",
    description: "So-In et al. 2008, table 2, at 10 Gb/s: fast start (N0 = 1).",
    settings: &[("n0", count(1))],
}];

impl Scheme for ForwardExplicitRate {
    const INFO: Info = Info {
        name: "fecn",
        title: "Forward Explicit Congestion Notification",
        source: "Jain's proposal to IEEE 802.1Qau as So-In et al. 2008 (E-FECN) describe and measure it",
        description: "Sources probe their path every millisecond; switches measure their load and write the rate that they \
                      allow into the probe; the destination returns it.",
        parameters: Config::PARAMETERS,
        profiles: PROFILES,
        set_point: Some("q_eq"),
        signals: Some(Signals::by_destination(Probe::OCTETS)),
        actions: &[Action::Replies, Action::Cuts, Action::Raises],
        tuned: &[&["q_eq"], &["interval"], &["a"], &["b"], &["c"]],
        recovers_alone: false,
        raises_on_signal: true,
        integer_state: true,
        needs_order: false,
        forms: Forms { capture: true, testbed: true, fluid: Some("fecn"), cores: &[] },
    };
    type Config = Config;
    type Tag = ();
    type Echo = crate::Never;
    type Signal = Probe;
    type Cp = Cp;
    type Np = Np;
    type Rp = Rp;
}

/// FECN's congestion point.
#[derive(Debug, Clone)]
pub struct Cp(RateAllocator);

impl CongestionPoint<ForwardExplicitRate> for Cp {
    const VARS: &'static [Var] = RateAllocator::VARS;

    const STAMPS: bool = true;

    fn new(config: &Config, place: Place) -> Self {
        Self(RateAllocator::new(&config.rates, place, config.n0))
    }

    fn configure(&mut self, config: &Config, place: Place) {
        self.0.configure(&config.rates, place, config.n0);
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
        _queue: &Queue,
        _draw: &mut impl Draw,
        _out: &mut impl Out<ForwardExplicitRate>,
    ) {
        self.0.on_arrival(now, frame.octets, fate);
    }

    #[inline]
    fn on_departure(&mut self, now: Instant, frame: Frame<'_, ()>, queue: &Queue) {
        self.0.on_departure(now, frame.octets, queue);
    }

    fn on_probe_departure(&mut self, _now: Instant, signal: &mut Probe, _queue: &Queue) {
        self.0.on_probe_departure(signal);
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.0.next_timeout()
    }

    fn on_timeout(&mut self, now: Instant, queue: &Queue, _: &mut impl Draw, _: &mut impl Out<ForwardExplicitRate>) {
        self.0.on_timeout(now, queue);
    }

    fn vars(&self, row: &mut [i64]) {
        self.0.vars(row);
    }
}

/// FECN's notification point: reflects probes.
#[derive(Debug, Clone)]
pub struct Np;

impl NotificationPoint<ForwardExplicitRate> for Np {
    fn new(_: &Config, _: FlowKey) -> Self {
        Self
    }

    fn configure(&mut self, _: &Config) {}

    fn on_signal(
        &mut self,
        _: Instant,
        flow: FlowKey,
        probe: Probe,
        _: &mut impl Draw,
        out: &mut impl Out<ForwardExplicitRate>,
    ) {
        out.send(To::Source(flow), Class::Control, probe.reply());
    }
}

/// FECN's reaction point.
#[derive(Debug, Clone)]
pub struct Rp {
    regulators: Regulators,
    class: Class,
}

impl Rp {
    fn probe(&mut self, now: Instant, draw: &mut impl Draw, out: &mut impl Out<ForwardExplicitRate>) {
        let class = self.class;
        self.regulators.on_timeout(now, draw, |flow, probe| out.send(To::Destination(flow), class, probe));
    }
}

impl ReactionPoint<ForwardExplicitRate> for Rp {
    const VARS: &'static [Var] = Regulators::VARS;

    fn new(config: &Config, line: BitRate) -> Self {
        Self {
            regulators: Regulators::new(&config.rates, line, Start::Regulated(config.n0)),
            class: config.rates.probe_class.into(),
        }
    }

    fn configure(&mut self, config: &Config, line: BitRate) {
        self.regulators.configure(&config.rates, line, Start::Regulated(config.n0));
        self.class = config.rates.probe_class.into();
    }

    fn on_start(&mut self, now: Instant, flow: FlowKey, draw: &mut impl Draw, out: &mut impl Out<ForwardExplicitRate>) {
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
        signal: Probe,
        _draw: &mut impl Draw,
        _out: &mut impl Out<ForwardExplicitRate>,
    ) {
        self.regulators.on_probe(now, flow, signal);
    }

    #[inline]
    fn on_send(&mut self, now: Instant, frame: Release, _: &mut impl Draw, _: &mut impl Out<ForwardExplicitRate>) {
        self.regulators.on_send(now, frame);
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.regulators.next_timeout()
    }

    fn on_timeout(&mut self, now: Instant, draw: &mut impl Draw, out: &mut impl Out<ForwardExplicitRate>) {
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
    use crate::testing::{Middle, Sent};
    use crate::units::{CpId, Duration, Octets};
    use crate::{SchemeConfig, Signal};

    const FLOW: FlowKey = FlowKey(5);

    /// A probe passes the source, a switch that advertises C/N0 = 500 Mb/s on its 10 Gb/s line, another on a line of
    /// 1 Gb/s (50 Mb/s), destination, source.
    #[test]
    fn a_probe_brings_back_the_least_rate() {
        let Some(SchemeConfig::Fecn(config)) = SchemeConfig::with_defaults("fecn") else { panic!("it is listed") };
        let (mut rp, mut np) = (Rp::new(&config, BitRate::from_gbps(10)), Np);
        let mut sent = Sent::default();
        rp.on_start(Instant::ZERO, FLOW, &mut Middle, &mut sent);
        let [(To::Destination(FLOW), mut probe)] = sent.0[..] else { panic!("one probe: {:?}", sent.0) };
        assert_eq!(probe.rate, None);
        for (gbps, id) in [(10, 1), (1, 2), (10, 3)] {
            let place = Place {
                cp: CpId(id),
                line: BitRate::from_gbps(gbps),
                capacity: Octets(150_000),
                phase: Duration::ZERO,
            };
            Cp::new(&config, place).on_probe_departure(Instant(1), &mut probe, &Queue::default());
        }
        let mut echo = Sent::default();
        NotificationPoint::<ForwardExplicitRate>::on_signal(&mut np, Instant(2), FLOW, probe, &mut Middle, &mut echo);
        let [(To::Source(FLOW), echo)] = echo.0[..] else { panic!("one echo: {:?}", echo.0) };
        assert_eq!(echo, Probe { round: 1, rate: Some(BitRate::from_mbps(50)), cp: CpId(2), returned: true });
        rp.on_signal(Instant(3), FLOW, echo, &mut Middle, &mut Sent::default());
        assert_eq!(rp.allowance().rate, BitRate::from_mbps(50));
        let mut row = [0];
        echo.vars(&mut row);
        assert_eq!(row, [50_000_000]);
    }

    #[test]
    fn slow_and_fast_start() {
        for (n0, mbps) in [(20, 500), (1, 10_000)] {
            let Some(SchemeConfig::Fecn(config)) = SchemeConfig::with_defaults("fecn") else { panic!("it is listed") };
            let mut rp = Rp::new(&Config { n0, ..config }, BitRate::from_gbps(10));
            rp.on_start(Instant::ZERO, FLOW, &mut Middle, &mut Sent::default());
            assert_eq!((rp.allowance().rate, rp.limiting()), (BitRate::from_mbps(mbps), true));
        }
    }
}
