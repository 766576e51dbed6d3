//! TIMELY: the source measures the round-trip time of each segment and steers its rate by the growth of that time.
//!
//! Switches take no part. The destination acknowledges each segment; the acknowledgement carries no data, its arrival
//! alone counts. Between two thresholds the *gradient* of the round-trip time decides: a queue that grows makes each
//! round trip longer than the one before, at any queue length. Below `t_low` the rate rises, above `t_high` it falls,
//! for any gradient.
//!
//! ```text
//!   g = (1 - alpha) g + alpha (rtt - rtt before) / d_min
//!
//!        rtt < t_low          t_low .. t_high                             rtt > t_high
//!   |  R += delta      |  g <= 0:  R += delta, after five in a row 5 delta  |  R (1 - beta (1 - t_high / rtt))
//!   |                  |  g > 0:   R (1 - beta g)                           |
//!   |                  |  patched: R (1 - beta w (rtt - t_ref) / t_ref) + delta (1 - w),  w = 2 g + 1/2 within [0, 1]
//!   +------------------+----------------------------------------------------+----------------------> rtt
//! ```
//!
//! With the gradient alone any division of the link is an equilibrium, and the queue has none (Zhu et al. 2016). Their patch
//! adds a reference for the round-trip time, and with it one equilibrium.
//!
//! Rates are real numbers of bit/s; the allowance is rounded down. A round trip begins when a segment's last frame is
//! released, so that its own transmission is not in it (Mittal et al. 2015, section 3, takes it off).
//!
//! Sources: Mittal et al., SIGCOMM 2015 ("TIMELY"), algorithm 1; Zhu et al., CoNEXT 2016 ("ECN or Delay"), algorithm 2; for
//! constants that they leave open HPCC's simulator.

use crate::info::values::{choice, count, kbps, mbps, octets, real, us};
use crate::info::{Action, Forms, Info, Profile, Value, choice, parameters};
use crate::none::Absent;
use crate::units::{BitRate, Duration, FlowKey, Instant, Octets};
use crate::{
    Ack, Allowance, Draw, Frame, Gate, Never, NotificationPoint, Out, ReactionPoint, Release, Report, Scheme, Var,
};

/// TIMELY.
#[derive(Debug, Clone, Copy)]
pub struct Timely;

choice! {
    /// How the rate changes while the round-trip time is between its thresholds.
    pub enum Law {
        /// By the sign of the gradient. (Mittal et al. 2015, algorithm 1)
        Gradient = "gradient",
        /// By the round-trip time over its reference, weighed by the gradient. (Zhu et al. 2016, algorithm 2)
        Patched = "patched",
    }
}

choice! {
    /// The acknowledgements that change the rate.
    pub enum Updates {
        /// Each: every segment is a measurement. (Mittal et al. 2015, sections 4.1 and 4.3: for each completion event)
        EachAcknowledgement = "each-acknowledgement",
        /// The first that answers a frame sent since the change before: one a round trip. (HPCC's simulator)
        EachRoundTrip = "each-round-trip",
    }
}

choice! {
    /// The steps that count towards a larger step.
    pub enum HaiCounts {
        /// Those between the thresholds, where the delay does not grow. (Mittal et al. 2015, section 4.3)
        Gradient = "gradient",
        /// Those below `t_low` too; a cut for any reason ends the row. (HPCC's simulator)
        EveryRise = "every-rise",
    }
}

parameters! {
    /// TIMELY's parameters.
    pub struct Config {
        /// How the rate changes while the round-trip time is between its thresholds.
        law: Law {
            default: choice("gradient"),
            source: "Mittal et al. 2015 algorithm 1; Zhu et al. 2016 algorithm 2",
        }
        /// Octets that one acknowledgement answers.
        segment: Octets {
            default: octets(16_000),
            range: octets(64)..=octets(1_000_000),
            source: "Mittal et al. 2015 section 5 has 16 KB to 64 KB",
        }
        /// The acknowledgements that change the rate.
        updates: Updates {
            default: choice("each-acknowledgement"),
            source: "Mittal et al. 2015 section 4.3; HPCC",
        }
        /// Weight of the newest difference in the gradient.
        alpha: f64 {
            default: real(0.875),
            range: real(0.0)..=real(1.0),
            source: "HPCC; open in Mittal et al. 2015",
        }
        /// Factor of a decrease.
        beta: f64 {
            default: real(0.8),
            range: real(0.0)..=real(1.0),
            source: "Mittal et al. 2015 section 4.3; Zhu et al. 2016 has 0.008 for the patched law",
        }
        /// Largest share of the rate that one acknowledgement takes away.
        most_cut: f64 {
            default: real(0.5),
            range: real(0.0)..=real(1.0),
            source: "option; 1 in Mittal et al. 2015 and HPCC, where a start at line rate can end at the least rate at once",
        }
        /// Step of an increase.
        delta: BitRate {
            default: mbps(10),
            range: kbps(1)..=mbps(1_000_000),
            source: "Mittal et al. 2015 section 4.3",
        }
        /// Round-trip time below which the rate rises, whatever the gradient.
        t_low: Duration {
            default: us(50),
            range: us(0)..=us(1_000_000),
            source: "Mittal et al. 2015 section 4.3",
        }
        /// Round-trip time above which the rate falls, whatever the gradient.
        t_high: Duration {
            default: us(500),
            range: us(1)..=us(1_000_000),
            at_least: t_low,
            source: "Mittal et al. 2015 section 4.3",
        }
        /// Round-trip time of an empty network, by which differences are divided.
        d_min: Duration {
            default: us(20),
            range: us(1)..=us(1_000_000),
            about: some_round_trip,
            source: "HPCC; the shortest round trip of Mittal et al. 2015 section 4.3",
        }
        /// The step in a row without growth from which on it is five times as large.
        hai_after: u32 {
            default: count(5),
            range: count(1)..=count(1_000_000),
            source: "Mittal et al. 2015 section 4.3; the sixth in HPCC",
            when: law = "gradient",
        }
        /// The steps that count towards that.
        hai_counts: HaiCounts {
            default: choice("gradient"),
            source: "Mittal et al. 2015 section 4.3; HPCC",
            when: law = "gradient",
        }
        /// Round-trip time that the patched law steers to.
        t_ref: Duration {
            default: us(50),
            range: us(1)..=us(1_000_000),
            source: "t_low in Zhu et al. 2016",
            when: law = "patched",
        }
        /// A window beside the rate: less than what the rate sends in this time may be in flight when a frame goes; 0 for none.
        window_time: Duration {
            default: us(0),
            range: us(0)..=us(1_000_000),
            about: some_round_trip,
            source: "option; HPCC's simulator, run.py timely_vwin: the longest round trip of all pairs of hosts",
        }
        /// Share of the line at which a source starts.
        initial: f64 {
            default: real(1.0),
            range: real(0.0)..=real(1.0),
            source: "option; Mittal et al. 2015 section 4.4 has 1 / (flows of the host + 1)",
        }
        /// Least rate.
        min_rate: BitRate {
            default: mbps(10),
            range: kbps(1)..=mbps(1_000_000),
            at_most: line,
            source: "option; 100 Mb/s in HPCC",
        }
    }
}

/// `run.py --cc timely` of HPCC's simulator with `--bw` of `gbps`: RATE_AI 10 bw / 10 Mb/s, RATE_HAI five times that.
const fn hpcc(gbps: u64) -> [(&'static str, Value); 7] {
    [
        ("segment", octets(64)),
        ("updates", choice("each-round-trip")),
        ("most_cut", real(1.0)),
        ("delta", mbps(gbps)),
        ("hai_after", count(6)),
        ("hai_counts", choice("every-rise")),
        ("min_rate", mbps(1_000)),
    ]
}

const PROFILES: &[Profile] = &[
    Profile {
        name: "mittal-2015",
        description: "Mittal et al., SIGCOMM 2015, at 10 Gb/s: algorithm 1 with segments of 64 KB, and cuts of any size.",
        settings: &[("segment", octets(64_000)), ("most_cut", real(1.0))],
    },
    Profile {
        name: "hpcc-25g",
        description: "HPCC's simulator, run.py --cc timely --bw 25, at 25 Gb/s: as hpcc-100g, with steps of 25 and 125 Mb/s.",
        settings: &hpcc(25),
    },
    Profile {
        name: "hpcc-100g",
        description: "HPCC's simulator, run.py, at 100 Gb/s: each frame is acknowledged, the rate changes once a round trip, steps of 100 \
                      and 500 Mb/s, of which those below t_low count towards the larger.",
        settings: &hpcc(100),
    },
    Profile {
        name: "hpcc-200g",
        description: "HPCC's simulator, run.py --cc timely --bw 200, at 200 Gb/s: as hpcc-100g, with steps of 200 and 1000 Mb/s.",
        settings: &hpcc(200),
    },
    Profile {
        name: "hpcc-400g",
        description: "HPCC's simulator, run.py --cc timely --bw 400, at 400 Gb/s: as hpcc-100g, with steps of 400 and 2000 Mb/s.",
        settings: &hpcc(400),
    },
    Profile {
        name: "hpcc-800g",
        description: "Scaled from HPCC's simulator, run.py, by its rule of 1 Mb/s for each Gb/s, at 800 Gb/s: as hpcc-100g, with steps of 800 and 4000 Mb/s.",
        settings: &hpcc(800),
    },
    Profile {
        name: "patched",
        description: "Patched TIMELY of Zhu et al., CoNEXT 2016: one equilibrium, at the reference.",
        settings: &[("law", choice("patched")), ("beta", real(0.008))],
    },
];

/// Acknowledgements without growth step up the increase by this factor. (Mittal et al. 2015, algorithm 1, N)
const HYPER: f64 = 5.0;

impl Scheme for Timely {
    const INFO: Info = Info {
        name: "timely",
        title: "TIMELY",
        source: "Mittal et al., TIMELY: RTT-based Congestion Control for the Datacenter, SIGCOMM 2015; patched: Zhu et al., CoNEXT 2016",
        description: "Sources measure the round-trip time of each segment. A round trip that grows lowers the rate, one that \
                      shrinks raises it.",
        parameters: Config::PARAMETERS,
        profiles: PROFILES,
        set_point: None,
        signals: None,
        actions: &[Action::Cuts, Action::Raises],
        tuned: &[&["t_low"], &["t_high"], &["alpha"], &["beta"], &["delta"], &["t_ref"]],
        recovers_alone: false,
        raises_on_signal: false,
        integer_state: false,
        needs_order: true,
        forms: Forms { capture: true, testbed: false, fluid: Some("timely"), cores: &[] },
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

/// TIMELY's notification point: acknowledges each segment, and the last frame of a flow.
#[derive(Debug, Clone)]
pub struct Np {
    segment: u64,
    /// Octets since the last acknowledgement.
    open: u64,
}

impl NotificationPoint<Timely> for Np {
    fn new(config: &Config, _: FlowKey) -> Self {
        Self { segment: config.segment.0, open: 0 }
    }

    fn configure(&mut self, config: &Config) {
        self.segment = config.segment.0;
    }

    #[inline]
    fn acknowledge(&mut self, _: Instant, frame: Frame<'_, ()>) -> Option<()> {
        // A header takes the queue of control frames: its delay says nothing.
        if frame.trimmed {
            return None;
        }
        self.open += u64::from(frame.octets);
        if self.open < self.segment && !frame.last {
            return None;
        }
        self.open = 0;
        Some(())
    }
}

/// TIMELY's reaction point. Times are real numbers of picoseconds, rates of bit/s.
#[derive(Debug, Clone)]
pub struct Rp {
    law: Law,
    alpha: f64,
    beta: f64,
    least_factor: f64,
    delta: f64,
    t_low: f64,
    t_high: f64,
    t_ref: f64,
    d_min: f64,
    hai_after: u32,
    every_rise: bool,
    each_round_trip: bool,
    least: f64,
    line: f64,
    rate: f64,
    /// Seconds in which the window's octets go; 0 without one.
    window_s: f64,
    /// Octets sent, and octets known to have arrived or to be lost.
    sent: u64,
    settled: u64,
    /// A round trip ends when more than these octets are settled (updates = each-round-trip).
    round_end: u64,
    /// The round trip before; `None` until there is one.
    before: Option<f64>,
    /// Smoothed growth of the round-trip time over `d_min`.
    gradient: f64,
    /// Steps in a row without growth.
    calm: u32,
}

impl Rp {
    /// Algorithm 1, line for line, or algorithm 2.
    fn update(&mut self, rtt: f64) {
        let growth = rtt - self.before.unwrap_or(rtt);
        self.before = Some(rtt);
        self.gradient = (1.0 - self.alpha) * self.gradient + self.alpha * (growth / self.d_min);
        if rtt < self.t_low {
            let steps = if self.every_rise { self.step() } else { 1.0 };
            self.rate += steps * self.delta;
        } else if rtt > self.t_high {
            if self.every_rise {
                self.calm = 0;
            }
            self.cut(self.beta * (1.0 - self.t_high / rtt));
        } else {
            match self.law {
                Law::Gradient => self.by_gradient(),
                Law::Patched => self.by_reference(rtt),
            }
        }
        self.rate = self.rate.clamp(self.least, self.line);
    }

    /// Algorithm 1, between the thresholds.
    fn by_gradient(&mut self) {
        if self.gradient <= 0.0 {
            self.rate += self.step() * self.delta;
        } else {
            self.calm = 0;
            self.cut(self.beta * self.gradient);
        }
    }

    /// Counts a step without growth; how many times `delta` it is.
    fn step(&mut self) -> f64 {
        self.calm = self.calm.saturating_add(1);
        if self.calm >= self.hai_after { HYPER } else { 1.0 }
    }

    /// Algorithm 2, between the thresholds.
    fn by_reference(&mut self, rtt: f64) {
        let weight = (2.0 * self.gradient + 0.5).clamp(0.0, 1.0);
        let error = (rtt - self.t_ref) / self.t_ref;
        self.cut(self.beta * weight * error);
        self.rate += self.delta * (1.0 - weight);
    }

    /// Takes this share off the rate, or as much as is allowed at a time.
    fn cut(&mut self, share: f64) {
        self.rate *= (1.0 - share).max(self.least_factor);
    }
}

impl ReactionPoint<Timely> for Rp {
    const VARS: &'static [Var] = &[
        Var { name: "rtt_ps", description: "round-trip time of the last segment; 0 before the first" },
        Var { name: "gradient_ppm", description: "growth of the round-trip time over d_min, in millionths" },
    ];

    fn new(config: &Config, line: BitRate) -> Self {
        let time = |duration: Duration| duration.0 as f64;
        let (least, line) = (config.min_rate.0.min(line.0) as f64, line.0 as f64);
        Self {
            law: config.law,
            alpha: config.alpha,
            beta: config.beta,
            least_factor: 1.0 - config.most_cut,
            delta: config.delta.0 as f64,
            t_low: time(config.t_low),
            t_high: time(config.t_high),
            t_ref: time(config.t_ref),
            d_min: time(config.d_min),
            hai_after: config.hai_after,
            every_rise: config.law == Law::Gradient && config.hai_counts == HaiCounts::EveryRise,
            each_round_trip: config.updates == Updates::EachRoundTrip,
            least,
            line,
            rate: (line * config.initial).clamp(least, line),
            window_s: config.window_time.as_seconds(),
            sent: 0,
            settled: 0,
            round_end: 0,
            before: None,
            gradient: 0.0,
            calm: 0,
        }
    }

    /// Before the first acknowledgement the rate is that of a start.
    fn configure(&mut self, config: &Config, line: BitRate) {
        let Self { rate, before, gradient, calm, sent, settled, round_end, .. } = *self;
        let fresh = Self::new(config, line);
        let rate = if before.is_none() { fresh.rate } else { rate.max(fresh.least) };
        *self = Self { rate, before, gradient, calm, sent, settled, round_end, ..fresh };
    }

    fn on_signal(&mut self, _: Instant, _: FlowKey, signal: Never, _: &mut impl Draw, _: &mut impl Out<Timely>) {
        match signal {}
    }

    fn on_ack(&mut self, _: Instant, _: FlowKey, ack: &Ack<()>, _: &mut impl Draw, _: &mut impl Out<Timely>) {
        let rtt = ack.rtt.0 as f64;
        self.settled += ack.acked.0 + ack.lost.0;
        if !self.each_round_trip {
            self.update(rtt);
        } else if self.settled > self.round_end {
            self.round_end = self.sent;
            // The first round trip is there to be compared with, and changes nothing.
            match self.before {
                None => self.before = Some(rtt),
                Some(_) => self.update(rtt),
            }
        }
    }

    fn on_silence(&mut self, _: Instant, _: FlowKey, lost: Octets) {
        self.settled += lost.0;
    }

    #[inline]
    fn on_send(&mut self, _: Instant, frame: Release, _: &mut impl Draw, _: &mut impl Out<Timely>) {
        self.sent += u64::from(frame.octets);
    }

    fn next_timeout(&self) -> Option<Instant> {
        None
    }

    fn on_timeout(&mut self, _: Instant, _: &mut impl Draw, _: &mut impl Out<Timely>) {}

    #[inline]
    fn allowance(&self) -> Allowance {
        let octets = (self.rate * self.window_s / 8.0) as u64;
        Allowance { rate: BitRate(self.rate as u64), window: (self.window_s > 0.0).then_some(Octets(octets)) }
    }

    /// That of HPCC's simulator, `IsWinBound`.
    fn gate(&self) -> Gate {
        Gate::Open
    }

    fn limiting(&self) -> bool {
        self.rate < self.line
    }

    fn vars(&self, row: &mut [i64]) {
        row.copy_from_slice(&[self.before.unwrap_or(0.0) as i64, (self.gradient * 1e6) as i64]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::info::Value;
    use crate::testing::{Middle, Sent, config, frame_of};

    const GBPS: f64 = 1e9;

    /// A reaction point in front of 10 Gb/s.
    fn rp(profile: &str, changes: &[(&str, Value)]) -> Rp {
        Rp::new(&config::<Timely>(profile, changes), BitRate::from_gbps(10))
    }

    /// Segments come back after these round trips, in microseconds; the rate in Gb/s after each.
    fn rates<const N: usize>(rp: &mut Rp, round_trips: [u64; N]) -> [f64; N] {
        round_trips.map(|rtt| {
            let ack = Ack { acked: Octets(16_500), lost: Octets(0), rtt: Duration::from_us(rtt), echo: () };
            rp.on_ack(Instant::ZERO, FlowKey(7), &ack, &mut Middle, &mut Sent::default());
            rp.rate / GBPS
        })
    }

    #[track_caller]
    fn close<const N: usize>(seen: [f64; N], expected: [f64; N]) {
        for (seen, expected) in seen.into_iter().zip(expected) {
            assert!((seen - expected).abs() < 1e-12 * expected, "{seen} instead of {expected}");
        }
    }

    /// 11 frames of 1500 octets are the first that reach 16 000.
    #[test]
    fn a_segment_is_acknowledged_and_so_is_the_end_of_a_flow() {
        let mut np = Np::new(&config::<Timely>("", &[]), FlowKey(7));
        let mut acknowledged = |last: bool| {
            let mut tag = ();
            let frame = Frame { last, ..frame_of(FlowKey(7), Instant::ZERO, &mut tag) };
            np.acknowledge(Instant::ZERO, frame).is_some()
        };
        let answers: [bool; 24] = core::array::from_fn(|i| acknowledged(i == 23));
        let places: [bool; 24] = core::array::from_fn(|i| [10, 21, 23].contains(&i));
        assert_eq!(answers, places);
    }

    #[test]
    fn a_short_round_trip_raises_the_rate_by_delta_whatever_its_growth() {
        let mut rp = rp("", &[("initial", real(0.5))]);
        close(rates(&mut rp, [20, 49]), [5.01, 5.02]);
        // At t_low itself the gradient decides: 0.125 × (0.875 × 29/20) + 0.875 × 1/20 = 0.20234375, a cut by 0.8 of it.
        close(rates(&mut rp, [50]), [5.02 * (1.0 - 0.8 * 0.202_343_75)]);
    }

    /// 0.8 × (1 - 500/1000) = 0.4.
    #[test]
    fn a_long_round_trip_lowers_the_rate_by_its_excess() {
        let mut rp = rp("", &[]);
        close(rates(&mut rp, [1000]), [6.0]);
        // At t_high itself: the gradient is 0.875 × (500 - 1000)/20 < 0, and the rate rises.
        close(rates(&mut rp, [500]), [6.01]);
    }

    #[test]
    fn growth_lowers_the_rate_and_its_end_raises_it() {
        let mut rp = rp("", &[]);
        // The first round trip has no growth: the line stays full. Then g = 0.875 × 10/20 = 0.4375, R = 10 (1 - 0.35).
        close(rates(&mut rp, [100, 110]), [10.0, 6.5]);
        // g = 0.125 × 0.4375 = 0.0546875: still a cut, by 0.04375. Then g = 0.0068359375 - 0.875 × 10/20 < 0: a step.
        close(rates(&mut rp, [110, 100]), [6.5 * (1.0 - 0.043_75), 6.5 * (1.0 - 0.043_75) + 0.01]);
    }

    /// Five in a row, from the fifth on the step is five times as large; growth ends the row.
    #[test]
    fn hyper_active_increase_after_five_without_growth() {
        let mut rp = rp("", &[("initial", real(0.1))]);
        close(rates(&mut rp, [100, 99, 98, 97, 96, 95]), [1.01, 1.02, 1.03, 1.04, 1.09, 1.14]);
        let [cut] = rates(&mut rp, [120]);
        assert!(cut < 1.14, "growth by 25 us is a cut");
        let [first] = rates(&mut rp, [60]);
        close([first], [cut + 0.01]);
    }

    /// Steps below t_low count for the sixth, which is five times as large; a round trip above t_high ends the row:
    /// 0.8 × (1 - 500/625) = 0.16.
    #[test]
    fn hpcc_counts_every_rise_and_ends_the_row_at_every_cut() {
        let mut rp = rp("hpcc-100g", &[("updates", choice("each-acknowledgement")), ("initial", real(0.5))]);
        close(rates(&mut rp, [20; 7]), [5.1, 5.2, 5.3, 5.4, 5.5, 6.0, 6.5]);
        close(rates(&mut rp, [625, 20]), [6.5 * 0.84, 6.5 * 0.84 + 0.1]);
    }

    /// Four frames are sent before the first answer: it is the first round trip, and changes nothing. Of the next eight those that
    /// answer a frame sent after the change before count: the fourth and the eighth.
    /// 10 Gb/s send 5200 octets in 4.16 us.
    #[test]
    fn a_window_follows_the_rate() {
        let rp = rp("", &[("window_time", Value::Time(Duration(4_160_000)))]);
        assert_eq!(rp.allowance().window, Some(Octets(5_200)));
        assert_eq!(Rp::new(&config::<Timely>("", &[]), BitRate::from_gbps(10)).allowance().window, None);
    }

    #[test]
    fn the_rate_changes_once_a_round_trip_where_it_is_to() {
        let mut rp = rp("hpcc-100g", &[("initial", real(0.5))]);
        let send = |rp: &mut Rp| {
            let release = Release { flow: FlowKey(7), octets: 1_000, seq: Octets(0), last: false };
            rp.on_send(Instant::ZERO, release, &mut Middle, &mut Sent::default());
        };
        for _ in 0..4 {
            send(&mut rp);
        }
        let seen: [f64; 9] = core::array::from_fn(|_| {
            let ack = Ack { acked: Octets(1_000), lost: Octets(0), rtt: Duration::from_us(20), echo: () };
            rp.on_ack(Instant::ZERO, FlowKey(7), &ack, &mut Middle, &mut Sent::default());
            send(&mut rp);
            rp.rate / GBPS
        });
        close(seen, [5.0, 5.0, 5.0, 5.0, 5.1, 5.1, 5.1, 5.1, 5.2]);
    }

    /// A gradient of 0.875 × 40/20 = 1.75 would take 1.4 of the rate.
    #[test]
    fn one_acknowledgement_halves_the_rate_at_most() {
        let mut rp = rp("", &[]);
        close(rates(&mut rp, [100, 140]), [10.0, 5.0]);
    }

    /// The patched law near its equilibrium: without growth w = 1/2, and R = delta/2 + R (1 - beta/2 (rtt -
    /// t_ref)/t_ref).
    #[test]
    fn the_patched_law_steers_to_its_reference() {
        let mut rp = rp("patched", &[("initial", real(0.5))]);
        // At rtt = 2 t_ref: 5 (1 - 0.004) + 0.005 = 4.985.
        close(rates(&mut rp, [100]), [4.985]);
        // g = 0.875 × 10/20 = 0.4375: w = 1. 4.985 (1 - 0.008 × 60/50) = 4.985 × 0.9904.
        close(rates(&mut rp, [110]), [4.985 * 0.9904]);
        // g = 0.0546875 - 0.875 × 40/20 < -1/4: w = 0, a step.
        close(rates(&mut rp, [70]), [4.985 * 0.9904 + 0.01]);
        // Where delta = beta R (rtt - t_ref) / t_ref nothing moves: at 2.5 Gb/s and 50 us × (1 + 0.5).
        let mut rp = self::rp("patched", &[("initial", real(0.25))]);
        close(rates(&mut rp, [75, 75, 75]), [2.5, 2.5, 2.5]);
    }

    #[test]
    fn the_rate_stays_between_its_least_and_the_line() {
        let mut rp = rp("", &[("beta", real(1.0)), ("most_cut", real(1.0))]);
        close(rates(&mut rp, [100, 400, 700, 1_000]), [10.0, 0.01, 0.01, 0.01]);
        assert!(rp.limiting());
        let low = [20; 1_000];
        let rates = rates(&mut rp, low);
        close([rates[997], rates[998], rates[999]], [9.99, 10.0, 10.0]);
        assert!(!rp.limiting());
    }

    /// 0.8 × (1 - 500/1000) = 0.4; with the new factor 0.2.
    #[test]
    fn parameters_change_and_the_rate_and_its_history_stay() {
        let line = BitRate::from_gbps(10);
        let mut rp = rp("", &[]);
        rp.configure(&config::<Timely>("", &[("initial", real(0.5))]), line);
        assert_eq!(rp.rate, 5.0 * GBPS, "before the first round trip it is that of a start");
        rp.configure(&config::<Timely>("", &[]), line);
        close(rates(&mut rp, [1000]), [6.0]);
        rp.configure(&config::<Timely>("", &[("beta", real(0.4)), ("initial", real(0.5))]), line);
        close(rates(&mut rp, [1000]), [4.8]);
        rp.configure(&config::<Timely>("", &[("min_rate", mbps(5_500))]), line);
        assert_eq!((rp.rate, rp.before), (5.5 * GBPS, Some(1e9)));
    }
}
