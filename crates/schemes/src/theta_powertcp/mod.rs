//! Theta-PowerTCP: PowerTCP that needs nothing from switches, by the round-trip time and its growth.
//!
//! ```text
//!   source, for each acknowledgement, with the time dt since the last one
//!     load    l = 1 + change of rtt / dt, at least a least load
//!     power   p = l rtt / T
//!     P = P + (p - P) dt / T
//!   once a round trip
//!     W = W + gamma (W target / P + beta - W),   R = W / T
//! ```
//!
//! A round-trip time that grows by its own time says that twice as much comes as leaves. The delay alone cannot say how
//! much leaves of a line that is not full: there a source takes the line for full.
//!
//! T is the round trip of the source's own path where the caller knows it, as a simulator does, and `base_rtt` elsewhere.
//!
//! Sources: Addanki et al., NSDI 2022 ("PowerTCP"), algorithm 2; programs of the same group: powertcp-linux, which repeats
//! the algorithm, and ns3-datacenter, from which the least load is.

use crate::info::values::{count, real, us};
use crate::info::{Action, Forms, Info, Profile, parameters};
use crate::none::Absent;
use crate::parts::power::{Power, PowerParameters};
use crate::units::{BitRate, Duration, FlowKey, Instant, Octets};
use crate::{
    Ack, Allowance, Draw, Frame, Gap, Gate, Never, NotificationPoint, Out, ReactionPoint, Release, Report, Scheme, Var,
};

/// Theta-PowerTCP.
#[derive(Debug, Clone, Copy)]
pub struct ThetaPowerTcp;

parameters! {
    /// Theta-PowerTCP's parameters.
    pub struct Config {
        ..power: PowerParameters;
        /// Round-trip time of the empty network, T, where the caller does not know that of the path.
        base_rtt: Duration {
            default: us(13),
            range: us(1)..=us(1_000_000),
            about: some_round_trip,
            source: "HPCC's, in simulations; the shortest that was seen in powertcp-linux",
        }
        /// Least load that a source believes.
        load: f64 {
            default: real(0.5),
            range: real(0.01)..=real(1.0),
            source: "ns3-datacenter, UpdateRatePower; none in Addanki et al. 2022, where round trips that shrink swing",
        }
    }
}

const PROFILES: &[Profile] = &[Profile {
    name: "ns3-25g",
    description: "ns3-datacenter, rdma-hw.cc, UpdateRatePower, at 25 Gb/s: gamma 0.7, steps of 150 Mb/s, and 1.05 times the round trip.",
    settings: &[("gamma", real(0.7)), ("target", real(1.05)), ("flows", count(167))],
}];

impl Scheme for ThetaPowerTcp {
    const INFO: Info = Info {
        name: "theta-powertcp",
        title: "Theta-PowerTCP",
        source: "Addanki et al., PowerTCP: Pushing the Performance Limits of Datacenter Networks, NSDI 2022, algorithm 2",
        description: "Sources steer their window by power, which they take from the round-trip time and its growth.",
        parameters: Config::PARAMETERS,
        profiles: PROFILES,
        set_point: None,
        signals: None,
        actions: &[Action::Cuts, Action::Raises],
        tuned: &[&["gamma"], &["flows"], &["target"], &["load"]],
        recovers_alone: false,
        raises_on_signal: false,
        integer_state: false,
        needs_order: true,
        forms: Forms { capture: true, testbed: false, fluid: Some("theta_powertcp"), cores: &[] },
    };
    type Config = Config;
    type Tag = ();
    type Echo = ();
    type Signal = Never;
    type Cp = Absent;
    type Np = Np;
    type Rp = Rp;

    fn from_report(_: &Report) -> Option<()> {
        Some(())
    }
}

/// Theta-PowerTCP's notification point: acknowledges each frame.
#[derive(Debug, Clone)]
pub struct Np;

impl NotificationPoint<ThetaPowerTcp> for Np {
    fn new(_: &Config, _: FlowKey) -> Self {
        Self
    }

    fn configure(&mut self, _: &Config) {}

    #[inline]
    fn acknowledge(&mut self, _: Instant, frame: Frame<'_, ()>) -> Option<()> {
        // A header takes the queue of control frames: its delay says nothing.
        (!frame.trimmed).then_some(())
    }
}

/// Theta-PowerTCP's reaction point. Times are real numbers of picoseconds.
#[derive(Debug, Clone)]
pub struct Rp {
    config: Config,
    line: BitRate,
    power: Power,
    /// The round trip of the empty network on the own path, where it is known.
    own: Option<Duration>,
    /// The last round trip; T before the first.
    rtt: f64,
    /// When the last acknowledgement came, or the first flow started.
    at: Instant,
    heard: bool,
    /// Octets sent, and octets known to have arrived or to be lost.
    sent: u64,
    settled: u64,
    /// A round trip ends when more than this is settled.
    end: u64,
}

impl Rp {
    fn start(config: &Config, line: BitRate, own: Option<Duration>) -> Self {
        let power = Power::new(&config.power, line, own.unwrap_or(config.base_rtt));
        Self {
            config: config.clone(),
            line,
            rtt: power.round_trip_ps(),
            power,
            own,
            at: Instant::ZERO,
            heard: false,
            sent: 0,
            settled: 0,
            end: 0,
        }
    }
}

impl ReactionPoint<ThetaPowerTcp> for Rp {
    const LEARNS_ROUND_TRIP: bool = true;
    const VARS: &'static [Var] = &[
        Var { name: "window_octets", description: "window W" },
        Var {
            name: "power_ppm",
            description: "smoothed power P, in millionths of that of a full line with an empty queue",
        },
        Var { name: "rtt_ps", description: "last round-trip time; that of the empty network before the first" },
    ];

    fn new(config: &Config, line: BitRate) -> Self {
        Self::start(config, line, None)
    }

    fn learn_round_trip(&mut self, round_trip: Duration) {
        *self = Self::start(&self.config, self.line, Some(round_trip));
    }

    /// Before the first acknowledgement or silence the window is that of a start. Later its octets stay.
    fn configure(&mut self, config: &Config, line: BitRate) {
        let mut fresh = Self::start(config, line, self.own);
        if self.settled > 0 {
            fresh.power.go_on_from(&self.power);
        }
        if self.heard {
            fresh.rtt = self.rtt;
        }
        let Self { at, heard, sent, settled, end, .. } = *self;
        *self = Self { at, heard, sent, settled, end, ..fresh };
    }

    fn on_start(&mut self, now: Instant, _: FlowKey, _: &mut impl Draw, _: &mut impl Out<ThetaPowerTcp>) {
        if !self.heard {
            self.at = now;
        }
    }

    fn on_signal(&mut self, _: Instant, _: FlowKey, signal: Never, _: &mut impl Draw, _: &mut impl Out<ThetaPowerTcp>) {
        match signal {}
    }

    /// `NEWACK` (algorithm 2).
    fn on_ack(&mut self, now: Instant, _: FlowKey, ack: &Ack<()>, _: &mut impl Draw, _: &mut impl Out<ThetaPowerTcp>) {
        self.settled += ack.acked.0 + ack.lost.0;
        let (rtt, time) = (ack.rtt.0 as f64, now.since(self.at).0.max(1) as f64);
        let load = (1.0 + (rtt - self.rtt) / time).max(self.config.load);
        self.power.hear(load * rtt / self.power.round_trip_ps(), time);
        (self.rtt, self.at, self.heard) = (rtt, now, true);
        if self.settled > self.end {
            // The acknowledged frame was the first under this window.
            self.power.steer(self.power.window());
            self.end = self.sent;
        }
    }

    fn on_silence(&mut self, _: Instant, _: FlowKey, lost: Octets) {
        self.settled += lost.0;
        self.power.fall();
    }

    #[inline]
    fn on_send(&mut self, _: Instant, release: Release, _: &mut impl Draw, _: &mut impl Out<ThetaPowerTcp>) {
        self.sent += u64::from(release.octets);
    }

    fn next_timeout(&self) -> Option<Instant> {
        None
    }

    fn on_timeout(&mut self, _: Instant, _: &mut impl Draw, _: &mut impl Out<ThetaPowerTcp>) {}

    #[inline]
    fn allowance(&self) -> Allowance {
        self.power.allowance()
    }

    #[inline]
    fn gate(&self) -> Gate {
        self.config.power.gate
    }

    #[inline]
    fn gap(&self) -> Gap {
        self.config.power.gap
    }

    fn limiting(&self) -> bool {
        self.power.limits()
    }

    fn vars(&self, row: &mut [i64]) {
        row.copy_from_slice(&[self.power.window() as i64, self.power.ppm(), self.rtt as i64]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::info::Value;
    use crate::testing::{Middle, Sent, at, close, config};

    const FLOW: FlowKey = FlowKey(7);

    /// T is 10 us: 12 500 octets at 10 Gb/s, beta 1250.
    fn rp(changes: &[(&str, Value)]) -> Rp {
        let mut rp = Rp::new(&config::<ThetaPowerTcp>("", changes), BitRate::from_gbps(10));
        rp.learn_round_trip(Duration::from_us(10));
        rp
    }

    fn ack(rp: &mut Rp, now_us: u64, rtt_us: u64) {
        let ack = Ack { acked: Octets(1500), lost: Octets(0), rtt: Duration::from_us(rtt_us), echo: () };
        rp.on_ack(at(now_us), FLOW, &ack, &mut Middle, &mut Sent::default());
    }

    /// The round trip grows from 10 to 12 us in 4 us: load 1.5, power 1.8, over 0.4 of T: P = 1.32. A round trip ends with it:
    /// W = 12 500 + 0.9 (12 500 / 1.32 + 1250 - 12 500).
    #[test]
    fn growth_times_round_trip_is_power() {
        let mut rp = rp(&[]);
        rp.on_start(at(6), FLOW, &mut Middle, &mut Sent::<ThetaPowerTcp>::default());
        ack(&mut rp, 10, 12);
        assert_eq!(rp.power.ppm(), 1_320_000);
        close(rp.power.window(), 12_500.0 + 0.9 * (12_500.0 / 1.32 + 1_250.0 - 12_500.0));
        assert!(rp.limiting());
    }

    /// From 20 to 10 us within 5: a load of -1, which counts as 0.5; power 0.5, over half of T.
    #[test]
    fn a_load_has_a_least() {
        let mut rp = rp(&[]);
        rp.rtt = 20e6;
        rp.at = at(5);
        ack(&mut rp, 10, 10);
        assert_eq!(rp.power.ppm(), 750_000);
    }

    /// Three frames are sent, and the first acknowledgement ends the round trip before them. The window moves with it and with the
    /// one that follows the three.
    #[test]
    fn the_window_moves_once_a_round_trip() {
        let mut rp = rp(&[]);
        for i in 0..3 {
            let release = Release { flow: FLOW, octets: 1500, seq: Octets(1500 * i), last: false };
            rp.on_send(Instant::ZERO, release, &mut Middle, &mut Sent::<ThetaPowerTcp>::default());
        }
        ack(&mut rp, 10, 20);
        let first = rp.power.window();
        assert!(first < 12_500.0 && rp.end == 4_500);
        for now in [12, 14] {
            ack(&mut rp, now, 20);
            assert_eq!(rp.power.window(), first);
        }
        ack(&mut rp, 16, 20);
        assert!(rp.power.window() < first);
    }

    /// The path's round trip holds where it is known, also under other parameters; a window that was steered stays.
    #[test]
    fn the_own_round_trip_governs() {
        let line = BitRate::from_gbps(10);
        let mut rp = Rp::new(&config::<ThetaPowerTcp>("", &[("base_rtt", us(20))]), line);
        assert_eq!(rp.power.window(), 25_000.0);
        rp.learn_round_trip(Duration::from_us(10));
        assert_eq!((rp.power.window(), rp.rtt), (12_500.0, 10e6));
        ack(&mut rp, 10, 30);
        let window = rp.power.window();
        rp.configure(&config::<ThetaPowerTcp>("", &[("base_rtt", us(40)), ("gamma", real(0.5))]), line);
        assert_eq!((rp.power.window(), rp.power.round_trip_ps(), rp.rtt), (window, 10e6, 30e6));
    }
}
