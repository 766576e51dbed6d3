//! HPCC: every queue on the path writes its load into the frame, and the source computes its window from that.
//!
//! ```text
//!   switch, as a transmission starts       destination        source, for each acknowledgement
//!   time, octets sent, length, rate        echoes all         u_i = min(length) / (B T) + (octets sent / time) / B
//!                                                             U   = (1 - tau/T) U + tau/T max u_i
//!                                                             U ≥ eta, or five rounds without:  W = Wc eta / U + W_AI
//!                                                             else:                             W = Wc + W_AI
//!                                                             once a round trip: Wc = W;   R = W / T
//! ```
//!
//! `Wc`, the window of the last round trip, is the reference: acknowledgements within a round trip all start from it, so that one
//! queue is not answered twice.
//!
//! The switch writes its record at the start of a transmission, without the frame that it goes into: octets sent and length are those of
//! the instant of the time stamp. (Li et al. 2019, section 3.1: as a packet is emitted; HPCC's simulator, `SwitchNotifyDequeue`, for
//! both forms.) At the end of the transmission the record would include the frames that arrived during it. With paced
//! sources these are frames of other sources. So a source with a small share would see a longer queue than one with a large
//! share, and their rates would diverge permanently.
//!
//! With PINT the switch keeps `U` itself, and the frame carries the largest one on its path as one octet.
//!
//! Times are real numbers of picoseconds, windows real numbers of octets; the allowance is rounded down.
//!
//! Sources: Li et al., SIGCOMM 2019 ("HPCC"), algorithm 1 and section 4; Ben Basat et al., SIGCOMM 2020 ("PINT"); for constants and
//! the encodings HPCC's simulator.

mod telemetry;

use crate::info::values::{choice, count, kbps, mbps, octets, real, us};
use crate::info::{Action, Forms, Info, Profile, Value, choice, parameters};
use crate::units::{BitRate, Duration, FlowKey, Instant, Octets, PS_PER_S};
use crate::{
    Ack, Allowance, CongestionPoint, Draw, Fate, Frame, Gap, Gate, Never, NotificationPoint, Out, Place, Queue,
    ReactionPoint, Release, Scheme, Var,
};

pub use telemetry::{DIGEST_OCTETS, Hop, LONGEST_NS, MOST_HOPS, STACK_OCTETS, Step, Telemetry, identity};
use telemetry::{decode, encode};

/// HPCC.
#[derive(Debug, Clone, Copy)]
pub struct Hpcc;

choice! {
    /// The telemetry that a frame carries.
    pub enum Form {
        /// A record of each queue. (Li et al. 2019)
        Records = "records",
        /// The largest utilisation on the path, in one octet. (Ben Basat et al. 2020)
        Pint = "pint",
    }
}

parameters! {
    /// HPCC's parameters.
    pub struct Config {
        /// The telemetry that a frame carries.
        telemetry: Form {
            default: choice("records"),
            source: "Li et al. 2019 section 4.1; Ben Basat et al. 2020",
        }
        /// Utilisation of a line that is aimed at, eta.
        eta: f64 {
            default: real(0.95),
            range: real(0.01)..=real(1.0),
            source: "Li et al. 2019 section 3.3",
        }
        /// Round trips in a row with an additive step, before one with a factor.
        max_stage: u32 {
            default: count(5),
            range: count(0)..=count(1_000_000),
            source: "Li et al. 2019 section 3.3",
        }
        /// Additive step of the window, W_AI.
        w_ai: Octets {
            default: octets(80),
            range: octets(0)..=octets(1_000_000),
            source: "Li et al. 2019 section 5.1",
        }
        /// Round-trip time of the empty network, T: not below that of the longest path.
        base_rtt: Duration {
            default: us(13),
            range: us(1)..=us(1_000_000),
            about: round_trip,
            source: "Li et al. 2019 section 5.1, in simulations",
        }
        /// Factor on the units of the records, 128 octets sent and 80 of a queue.
        unit_factor: u32 {
            default: count(1),
            range: count(1)..=count(64),
            source: "Li et al. 2019 figure 7; HPCC's simulator, INT_MULTI: the line's rate over 25 Gb/s",
            when: telemetry = "records",
        }
        /// Which frame the window lets go: one that fits as a whole, or any while less than the window is in flight.
        gate: Gate {
            default: choice("open"),
            source: "HPCC's simulator, IsWinBound; RFC 5681 section 3.1 has whole",
        }
        /// What a new window does to the time until the next frame, which is paced.
        gap: Gap {
            default: choice("whole"),
            source: "HPCC's simulator, ChangeRate; open in Li et al. 2019",
        }
        /// Least rate.
        min_rate: BitRate {
            default: mbps(100),
            range: kbps(1)..=mbps(1_000_000),
            at_most: line,
            source: "HPCC's simulator",
        }
    }
}

/// `run.py --cc hp` of HPCC's simulator with `--bw` of `gbps`: MI_THRESH 0, INT_MULTI bw / 25, MIN_RATE 1000 Mb/s, and RATE_AI 10 bw / 25 Mb/s, of which
/// W_AI is what a round trip of 13 us sends, 650 octets for each 1000 Gb/s.
const fn hpcc(gbps: u64) -> [(&'static str, Value); 4] {
    [
        ("max_stage", count(0)),
        ("w_ai", octets(650 * gbps / 1000)),
        ("unit_factor", count(gbps / 25)),
        ("min_rate", mbps(1_000)),
    ]
}

const PROFILES: &[Profile] = &[
    Profile {
        name: "pint",
        description: "HPCC-PINT of Ben Basat et al., SIGCOMM 2020: one octet instead of 42.",
        settings: &[("telemetry", choice("pint"))],
    },
    Profile {
        name: "hpcc-25g",
        description: "HPCC's simulator, run.py --cc hp --bw 25, at 25 Gb/s: a factor in every round trip, steps of 10 Mb/s in a base_rtt of 13 us.",
        settings: &hpcc(25),
    },
    Profile {
        name: "hpcc-100g",
        description: "HPCC's simulator, run.py --cc hp --bw 100, at 100 Gb/s: as hpcc-25g, with steps of 40 Mb/s.",
        settings: &hpcc(100),
    },
    Profile {
        name: "hpcc-200g",
        description: "HPCC's simulator, run.py --cc hp --bw 200, at 200 Gb/s: as hpcc-25g, with steps of 80 Mb/s.",
        settings: &hpcc(200),
    },
    Profile {
        name: "hpcc-400g",
        description: "HPCC's simulator, run.py --cc hp --bw 400, at 400 Gb/s: as hpcc-25g, with steps of 160 Mb/s.",
        settings: &hpcc(400),
    },
    Profile {
        name: "hpcc-800g",
        description: "Scaled from HPCC's simulator, run.py, by its rule of 0.4 Mb/s for each Gb/s, at 800 Gb/s: as hpcc-25g, with steps of 320 Mb/s.",
        settings: &hpcc(800),
    },
];

impl Scheme for Hpcc {
    const INFO: Info = Info {
        name: "hpcc",
        title: "High Precision Congestion Control",
        source: "Li et al., HPCC: High Precision Congestion Control, SIGCOMM 2019; PINT: Ben Basat et al., SIGCOMM 2020; HPCC's simulator",
        description: "Switches write time, octets sent, queue and rate into each frame; sources compute from it the octets that may be \
                      in flight.",
        parameters: Config::PARAMETERS,
        profiles: PROFILES,
        set_point: None,
        signals: None,
        actions: &[Action::Cuts, Action::Raises],
        tuned: &[&["eta"], &["max_stage"], &["w_ai"], &["base_rtt"]],
        recovers_alone: false,
        raises_on_signal: false,
        integer_state: false,
        needs_order: true,
        forms: Forms { fluid: Some("hpcc"), ..Forms::NONE },
    };
    type Config = Config;
    type Tag = Telemetry;
    type Echo = Telemetry;
    type Signal = Never;
    type Cp = Cp;
    type Np = Np;
    type Rp = Rp;

    fn tag_octets(config: &Config) -> u16 {
        match config.telemetry {
            Form::Records => STACK_OCTETS,
            Form::Pint => DIGEST_OCTETS,
        }
    }

    fn echo_octets(config: &Config) -> u16 {
        Self::tag_octets(config)
    }
}

/// HPCC's congestion point: writes its record into each frame that leaves.
#[derive(Debug, Clone)]
pub struct Cp {
    identity: u16,
    unit_factor: u32,
    pint: Option<Pint>,
}

/// The state of a queue that keeps its utilisation itself. (Ben Basat et al. 2020)
#[derive(Debug, Clone)]
struct Pint {
    /// T, picoseconds.
    t: f64,
    utilisation: f64,
    last: Instant,
    /// Octets of the frame whose transmission started then.
    last_octets: u16,
    /// Decides on the rounding of the next code.
    word: u32,
}

impl Pint {
    /// The transmission of a frame of `octets` starts: U = (1 - tau/T) U + (tau/T) q / (B T) + s / (B T). Here s counts the octets
    /// sent since the last start, those of the frame before.
    fn update(&mut self, now: Instant, octets: u16, queue: &Queue) -> u8 {
        let tau = (now.since(self.last).0 as f64).min(self.t);
        self.last = now;
        // Octets that the line sends in T.
        let capacity = queue.rate.0 as f64 / 8.0 * self.t / PS_PER_S as f64;
        let share = tau / self.t;
        let sent = f64::from(core::mem::replace(&mut self.last_octets, octets));
        self.utilisation = (1.0 - share) * self.utilisation + share * queue.len.0 as f64 / capacity + sent / capacity;
        encode(self.utilisation, self.word)
    }
}

impl CongestionPoint<Hpcc> for Cp {
    const STAMPS: bool = true;

    fn new(config: &Config, place: Place) -> Self {
        let t = config.base_rtt.0 as f64;
        let pint = Pint { t, utilisation: 0.0, last: Instant::ZERO, last_octets: 0, word: 0 };
        Self {
            identity: identity(place.cp),
            unit_factor: config.unit_factor,
            pint: (config.telemetry == Form::Pint).then_some(pint),
        }
    }

    fn configure(&mut self, config: &Config, place: Place) {
        let mut fresh = Self::new(config, place);
        if let (Some(pint), Some(old)) = (&mut fresh.pint, self.pint.take()) {
            *pint = Pint { t: pint.t, ..old };
        }
        *self = fresh;
    }

    fn remembers_flows(_config: &Config) -> bool {
        false
    }

    #[inline]
    fn on_arrival(
        &mut self,
        _: Instant,
        _: Frame<'_, Telemetry>,
        _: Fate,
        _: &Queue,
        draw: &mut impl Draw,
        _: &mut impl Out<Hpcc>,
    ) {
        if let Some(pint) = &mut self.pint {
            pint.word = draw.draw();
        }
    }

    #[inline]
    fn on_transmission(&mut self, now: Instant, frame: Frame<'_, Telemetry>, queue: &Queue) {
        match &mut self.pint {
            None => frame.tag.push(Hop::new(now, queue.rate, queue.sent, queue.len, self.unit_factor), self.identity),
            Some(pint) => frame.tag.digest = frame.tag.digest.max(pint.update(now, frame.octets, queue)),
        }
    }
}

/// The notification point of schemes with telemetry: acknowledges each frame with what it carries.
#[derive(Debug, Clone)]
pub struct Np;

impl<S: Scheme<Tag = Telemetry, Echo = Telemetry>> NotificationPoint<S> for Np {
    fn new(_: &S::Config, _: FlowKey) -> Self {
        Self
    }

    fn configure(&mut self, _: &S::Config) {}

    #[inline]
    fn acknowledge(&mut self, _: Instant, frame: Frame<'_, Telemetry>) -> Option<Telemetry> {
        // A header has no telemetry of the hops where it was cut and behind.
        (!frame.trimmed).then_some(*frame.tag)
    }
}

/// HPCC's reaction point, with the names of algorithm 1.
#[derive(Debug, Clone)]
pub struct Rp {
    eta: f64,
    max_stage: u32,
    w_ai: f64,
    /// T, picoseconds.
    t: f64,
    pint: bool,
    unit_factor: u32,
    gate: Gate,
    gap: Gap,
    line: BitRate,
    least: u64,
    /// Octets of the windows at the least rate and at the line's.
    narrowest: f64,
    widest: f64,
    /// W and Wc.
    w: f64,
    w_c: f64,
    /// That of W.
    allowance: Allowance,
    u: f64,
    inc_stage: u32,
    /// The last telemetry, and when it came; never before the first.
    last: Telemetry,
    last_at: Instant,
    /// Octets sent, and octets known to have arrived or to be lost.
    sent: u64,
    settled: u64,
    /// `lastUpdateSeq`: a round trip ends when more than this is settled.
    last_update: u64,
}

impl Rp {
    /// `MeasureInflight` (algorithm 1, lines 1 to 10); false where the telemetry tells nothing: it is the first one, or the first one
    /// of another path, or no time has passed at any queue.
    fn measure_inflight(&mut self, now: Instant, telemetry: &Telemetry) -> bool {
        if self.pint {
            self.u = decode(telemetry.digest);
            return self.known(now);
        }
        let (mut u, mut tau) = (-1.0, 0.0);
        let known = self.known(now) && self.last.same_path(telemetry);
        let pairs = telemetry.hops().iter().zip(self.last.hops()).filter(|_| known);
        for step in pairs.filter_map(|(hop, earlier)| hop.since(earlier, self.unit_factor)) {
            // Octets a second.
            let b = step.rate / 8.0;
            let in_queue = step.len / (b * self.t / PS_PER_S as f64);
            let on_line = step.sent / (step.time_ps / PS_PER_S as f64) / b;
            if in_queue + on_line > u {
                (u, tau) = (in_queue + on_line, step.time_ps.min(self.t));
            }
        }
        self.last = *telemetry;
        if u >= 0.0 {
            self.u = (1.0 - tau / self.t) * self.u + tau / self.t * u;
        }
        u >= 0.0
    }

    /// Whether telemetry has come before, and so recently that time stamps have an order.
    fn known(&mut self, now: Instant) -> bool {
        let before = core::mem::replace(&mut self.last_at, now);
        before != Instant::NEVER && now.since(before).0 < LONGEST_NS * 1000
    }

    /// The allowance of the window W.
    fn allow(&self) -> Allowance {
        let rate = (self.w * 8.0 * PS_PER_S as f64 / self.t) as u64;
        Allowance { rate: BitRate(rate.clamp(self.least, self.line.0)), window: Some(Octets(self.w as u64)) }
    }

    /// `ComputeWind` (algorithm 1, lines 11 to 20); `update` says whether a round trip ends.
    fn compute_wind(&mut self, update: bool) {
        let stage = if self.u >= self.eta || self.inc_stage >= self.max_stage {
            self.w = self.w_c / (self.u / self.eta) + self.w_ai;
            0
        } else {
            self.w = self.w_c + self.w_ai;
            self.inc_stage + 1
        };
        // An idle network has U = 0.
        self.w = self.w.clamp(self.narrowest, self.widest);
        self.allowance = self.allow();
        if update {
            (self.inc_stage, self.w_c) = (stage, self.w);
        }
    }
}

impl ReactionPoint<Hpcc> for Rp {
    const VARS: &'static [Var] = &[
        Var { name: "window_octets", description: "window W" },
        Var { name: "utilization_ppm", description: "estimate U of the most loaded line, in millionths" },
        Var { name: "stage", description: "round trips in a row with an additive step" },
    ];

    fn new(config: &Config, line: BitRate) -> Self {
        let t = config.base_rtt.0 as f64;
        let least = config.min_rate.0.min(line.0);
        let in_t = |rate: u64| rate as f64 / 8.0 * t / PS_PER_S as f64;
        let mut rp = Self {
            eta: config.eta,
            max_stage: config.max_stage,
            w_ai: config.w_ai.0 as f64,
            t,
            pint: config.telemetry == Form::Pint,
            unit_factor: config.unit_factor,
            gate: config.gate,
            gap: config.gap,
            line,
            least,
            narrowest: in_t(least),
            widest: in_t(line.0),
            w: in_t(line.0),
            w_c: in_t(line.0),
            u: 1.0,
            inc_stage: 0,
            last: Telemetry::default(),
            last_at: Instant::NEVER,
            sent: 0,
            settled: 0,
            last_update: 0,
            allowance: Allowance { rate: line, window: None },
        };
        rp.allowance = rp.allow();
        rp
    }

    /// Before the first acknowledgement the windows are those of a start. Later their octets stay, and the rate W / T follows from a new
    /// T.
    fn configure(&mut self, config: &Config, line: BitRate) {
        let Self { w, w_c, u, inc_stage, last, last_at, sent, settled, last_update, .. } = *self;
        let fresh = Self::new(config, line);
        let (narrowest, widest) = (fresh.narrowest, fresh.widest);
        let kept = |window: f64| if last_at == Instant::NEVER { widest } else { window.clamp(narrowest, widest) };
        let (w, w_c) = (kept(w), kept(w_c));
        *self = Self { w, w_c, u, inc_stage, last, last_at, sent, settled, last_update, ..fresh };
        self.allowance = self.allow();
    }

    fn on_signal(&mut self, _: Instant, _: FlowKey, signal: Never, _: &mut impl Draw, _: &mut impl Out<Hpcc>) {
        match signal {}
    }

    /// `NewAck` (algorithm 1, lines 21 to 27).
    fn on_ack(&mut self, now: Instant, _: FlowKey, ack: &Ack<Telemetry>, _: &mut impl Draw, _: &mut impl Out<Hpcc>) {
        self.settled += ack.acked.0 + ack.lost.0;
        let update = self.settled > self.last_update;
        if self.measure_inflight(now, &ack.echo) {
            self.compute_wind(update);
        }
        if update {
            self.last_update = self.sent;
        }
    }

    fn on_silence(&mut self, _: Instant, _: FlowKey, lost: Octets) {
        self.settled += lost.0;
    }

    #[inline]
    fn on_send(&mut self, _: Instant, release: Release, _: &mut impl Draw, _: &mut impl Out<Hpcc>) -> Telemetry {
        self.sent += u64::from(release.octets);
        Telemetry::default()
    }

    fn next_timeout(&self) -> Option<Instant> {
        None
    }

    fn on_timeout(&mut self, _: Instant, _: &mut impl Draw, _: &mut impl Out<Hpcc>) {}

    #[inline]
    fn allowance(&self) -> Allowance {
        self.allowance
    }

    #[inline]
    fn gate(&self) -> Gate {
        self.gate
    }

    #[inline]
    fn gap(&self) -> Gap {
        self.gap
    }

    fn limiting(&self) -> bool {
        self.allowance.rate < self.line
    }

    fn vars(&self, row: &mut [i64]) {
        row.copy_from_slice(&[self.w as i64, (self.u * 1e6) as i64, self.inc_stage.into()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::info::Value;
    use crate::testing::{Middle, Sent, close, config, frame_of};
    use crate::{CpId, Duration};

    const FLOW: FlowKey = FlowKey(7);

    /// T is 10 us: 12 500 octets at 10 Gb/s.
    fn rp(profile: &str, changes: &[(&str, Value)]) -> Rp {
        let changes = [changes, &[("base_rtt", us(10))]].concat();
        Rp::new(&config::<Hpcc>(profile, &changes), BitRate::from_gbps(10))
    }

    fn ns(n: u64) -> Instant {
        Instant(n * 1000)
    }

    fn hop(at_ns: u64, sent: u64, len: u64) -> Hop {
        Hop::new(ns(at_ns), BitRate::from_gbps(10), Octets(sent), Octets(len), 1)
    }

    fn ack(rp: &mut Rp, at_ns: u64, hops: &[Hop]) {
        let mut echo = Telemetry::default();
        hops.iter().for_each(|&hop| echo.push(hop, 5));
        tell(rp, at_ns, echo);
    }

    fn tell(rp: &mut Rp, at_ns: u64, echo: Telemetry) {
        let ack = Ack { acked: Octets(1500), lost: Octets(0), rtt: Duration::from_us(10), echo };
        rp.on_ack(ns(at_ns), FLOW, &ack, &mut Middle, &mut Sent::default());
    }

    fn send(rp: &mut Rp, frames: u64) {
        for _ in 0..frames {
            let release = Release { flow: FLOW, octets: 1500, seq: Octets(rp.sent), last: false };
            rp.on_send(Instant::ZERO, release, &mut Middle, &mut Sent::<Hpcc>::default());
        }
    }

    /// In 1 us 1280 octets: 10.24 Gb/s, 1.024 of the line; 8000 octets are 0.64 of 12 500. U = 0.9 × 1 + 0.1 × 1.664 = 1.0664,
    /// W = 12 500 × 0.95 / 1.0664 + 80.
    #[test]
    fn queue_and_line_add_up() {
        let mut rp = rp("", &[]);
        ack(&mut rp, 10_000, &[hop(5_000, 0, 16_000)]);
        assert_eq!((rp.w, rp.u), (12_500.0, 1.0), "the first telemetry has nothing to be compared with");
        ack(&mut rp, 11_000, &[hop(6_000, 1280, 8_000)]);
        close(rp.u, 1.0664);
        close(rp.w, 12_500.0 * 0.95 / 1.0664 + 80.0);
        let rate = rp.allowance().rate.0 as f64;
        assert!((rate - rp.w * 8.0 / 10e-6).abs() <= 1.0 && rp.limiting());
    }

    /// Two queues: the first 0.512 without frames, the second 0.256 + 0.64. The second is the larger, 0.896, over 2 us.
    #[test]
    fn the_most_loaded_queue_governs() {
        let mut rp = rp("", &[]);
        ack(&mut rp, 10_000, &[hop(5_000, 0, 0), hop(6_000, 0, 8_000)]);
        ack(&mut rp, 12_000, &[hop(7_000, 1280, 0), hop(8_000, 640, 8_000)]);
        close(rp.u, 0.8 + 0.2 * 0.896);
    }

    /// Wc stays until a round trip ends: both acknowledgements start from 12 500.
    #[test]
    fn within_a_round_trip_the_reference_stays() {
        let mut rp = rp("", &[]);
        send(&mut rp, 4);
        // Ends the empty first round trip; the next one ends when more than 6000 octets are settled.
        ack(&mut rp, 10_000, &[hop(5_000, 0, 8_000)]);
        assert_eq!(rp.last_update, 6000);
        for i in 1..=3 {
            ack(&mut rp, 10_000 + 1_000 * i, &[hop(5_000 + 1_000 * i, 1280 * i, 8_000)]);
            close(rp.w, 12_500.0 * 0.95 / rp.u + 80.0);
            assert_eq!(rp.w_c, 12_500.0);
        }
        // The fifth frame's acknowledgement ends it: Wc = W.
        send(&mut rp, 1);
        ack(&mut rp, 14_000, &[hop(9_000, 1280 * 4, 8_000)]);
        close(rp.w_c, 12_500.0 * 0.95 / rp.u + 80.0);
        assert_eq!(rp.last_update, 7500);
    }

    /// U = 0 from 10 us to 10 us: five additive steps, then a factor, which the line bounds.
    #[test]
    fn after_five_steps_a_factor() {
        let mut rp = rp("", &[]);
        (rp.w, rp.w_c) = (1_000.0, 1_000.0);
        ack(&mut rp, 10_000, &[hop(5_000, 0, 0)]);
        for i in 1..=5 {
            ack(&mut rp, 10_000 + 10_000 * i, &[hop(5_000 + 10_000 * i, 3_840 * i, 0)]);
            close(rp.w, 1_000.0 + 80.0 * i as f64);
            assert_eq!(u64::from(rp.inc_stage), i);
        }
        // 3840 octets in 10 us: 0.3072 of the line. W = 1400 × 0.95 / 0.3072 + 80.
        close(rp.u, 0.3072);
        ack(&mut rp, 70_000, &[hop(65_000, 3_840 * 6, 0)]);
        close(rp.w, 1_400.0 * 0.95 / 0.3072 + 80.0);
        assert_eq!(rp.inc_stage, 0);
    }

    #[test]
    fn another_path_and_a_long_silence_begin_again() {
        let mut rp = rp("", &[]);
        ack(&mut rp, 10_000, &[hop(5_000, 0, 100_000)]);
        ack(&mut rp, 20_000, &[hop(15_000, 12_800, 100_000), hop(15_000, 12_800, 100_000)]);
        assert_eq!(rp.w, 12_500.0, "two queues after one");
        ack(&mut rp, 20_000 + LONGEST_NS, &[hop(15_000, 12_800, 0), hop(15_000, 12_800, 0)]);
        assert_eq!(rp.w, 12_500.0, "time stamps may have wrapped");
        ack(&mut rp, 20_000 + LONGEST_NS, &[hop(15_000, 12_800, 0), hop(15_000, 12_800, 0)]);
        assert_eq!(rp.w, 12_500.0, "no time has passed");
    }

    /// At least 100 Mb/s, 125 octets in T; at most the line.
    #[test]
    fn the_window_has_bounds() {
        let mut rp = rp("", &[]);
        ack(&mut rp, 10_000, &[hop(5_000, 0, 5_000_000)]);
        for i in 1..=10 {
            ack(&mut rp, 10_000 + 10_000 * i, &[hop(5_000 + 10_000 * i, 12_800 * i, 5_000_000)]);
        }
        assert_eq!(rp.allowance(), Allowance { rate: BitRate::from_mbps(100), window: Some(Octets(125)) });
        for i in 11..=600 {
            ack(&mut rp, 10_000 + 10_000 * i, &[hop(5_000 + 10_000 * i, 128_000, 0)]);
        }
        assert_eq!(rp.allowance(), Allowance { rate: BitRate::from_gbps(10), window: Some(Octets(12_500)) });
    }

    fn queue(len: u64, sent: u64) -> Queue {
        Queue { len: Octets(len), sent: Octets(sent), rate: BitRate::from_gbps(10), ..Queue::default() }
    }

    fn cp(profile: &str, port: u16) -> Cp {
        let place = Place {
            cp: CpId::new(0x0200_0000_0001, port, 0),
            line: BitRate::from_gbps(10),
            capacity: Octets(150_000),
            phase: Duration::ZERO,
        };
        Cp::new(&config::<Hpcc>(profile, &[("base_rtt", us(10))]), place)
    }

    #[test]
    fn each_queue_writes_its_record() {
        let mut tag = Telemetry::default();
        cp("", 1).on_transmission(ns(100), frame_of(FLOW, Instant::ZERO, &mut tag), &queue(8_000, 12_800));
        cp("", 2).on_transmission(ns(200), frame_of(FLOW, Instant::ZERO, &mut tag), &queue(0, 1_280));
        assert_eq!(tag.hops(), [hop(100, 12_800, 8_000), hop(200, 1_280, 0)]);
        let echo = NotificationPoint::<Hpcc>::acknowledge(&mut Np, ns(300), frame_of(FLOW, Instant::ZERO, &mut tag));
        assert_eq!(echo, Some(tag));
        let (records, pint) = (config::<Hpcc>("", &[]), config::<Hpcc>("pint", &[]));
        assert_eq!((Hpcc::tag_octets(&records), Hpcc::echo_octets(&pint)), (42, 1));
    }

    /// From 0: after 1 us the first frame starts, with 5000 octets behind it, and the line has sent nothing. U = 0.1 × 0.4 = 0.04.
    /// After 20 us, which count as T, and the first frame's 1500 octets: U = 0.4 + 0.12.
    #[test]
    fn a_queue_of_pint_keeps_its_utilisation() {
        let mut cp = cp("pint", 1);
        let mut tag = Telemetry::default();
        cp.on_transmission(ns(1_000), frame_of(FLOW, Instant::ZERO, &mut tag), &queue(5_000, 0));
        close(cp.pint.as_ref().expect("PINT").utilisation, 0.04);
        cp.on_transmission(ns(21_000), frame_of(FLOW, Instant::ZERO, &mut tag), &queue(5_000, 0));
        close(cp.pint.as_ref().expect("PINT").utilisation, 0.52);
        assert!(tag.hops().is_empty());
        let seen = decode(tag.digest);
        assert!((0.52 / 1.05..=0.52 * 1.05).contains(&seen), "{seen}");
        // A queue with less to say leaves it.
        let before = tag.digest;
        let mut other = self::cp("pint", 2);
        other.on_transmission(ns(21_000), frame_of(FLOW, Instant::ZERO, &mut tag), &queue(0, 0));
        assert_eq!(tag.digest, before);
    }

    fn digested(digest: u8) -> Telemetry {
        let mut telemetry = Telemetry::default();
        telemetry.digest = digest;
        telemetry
    }

    /// The code of 1.9 or so, and not the estimate of before, decides.
    #[test]
    fn a_source_of_pint_takes_the_utilisation_as_it_is() {
        let mut rp = rp("pint", &[]);
        let digest = encode(1.9, u32::MAX);
        tell(&mut rp, 10_000, digested(digest));
        assert_eq!(rp.w, 12_500.0, "the first one is heard alone");
        tell(&mut rp, 11_000, digested(digest));
        close(rp.w, 12_500.0 * 0.95 / decode(digest) + 80.0);
    }

    /// 12 500 octets in 20 us are 5 Gb/s.
    #[test]
    fn a_window_stays_where_the_round_trip_time_changes() {
        let line = BitRate::from_gbps(10);
        let slow = config::<Hpcc>("", &[("base_rtt", us(20))]);
        let mut rp = rp("", &[]);
        rp.configure(&slow, line);
        assert_eq!((rp.w, rp.allowance().rate), (25_000.0, line), "before the first acknowledgement as a new one");
        rp.configure(&config::<Hpcc>("", &[("base_rtt", us(10))]), line);
        ack(&mut rp, 10_000, &[hop(5_000, 0, 16_000)]);
        rp.configure(&slow, line);
        assert_eq!((rp.w, rp.w_c, rp.allowance().rate), (12_500.0, 12_500.0, BitRate::from_gbps(5)));
        rp.configure(&config::<Hpcc>("", &[("base_rtt", us(5))]), line);
        assert_eq!((rp.w, rp.allowance().rate), (6_250.0, line), "no more than the line sends in T");
    }
}
