//! BBR, version 1 (Cardwell et al. 2016; draft-cardwell-iccrg-bbr-congestion-control-00): the sender paces at the rate at which
//! the path has delivered, and keeps two round trips of it in flight at most.
//!
//! ```text
//!   Startup --- the rate grows no more ---> Drain --- the queue is gone ---> ProbeBw <----+
//!      ^                                                                      |           |
//!      |                                     the least round trip is 10 s old |           |
//!      +----- the pipe has never been full ----- ProbeRtt <-------------------+           |
//!                                                   \_ 200 ms with four segments in flight +
//! ```
//!
//! A loss changes the window for the round trip in which it is found, and the rate not at all; a mark changes nothing.
//!
//! # Readings
//!
//! - The gains of ProbeBw begin at a phase that the draft draws at random. A sender has no random stream here: the phase follows from the time,
//!   in picoseconds, at which it enters ProbeBw. Two flows on one line do not enter at the same time.
//! - Where Linux differs from the draft, this follows Linux: the rate is 1 % below the estimate; two more segments may be in flight while it
//!   probes; and the window is larger when acknowledgements are aggregated.
//!
//! # Omissions
//!
//! Linux's search for a policer.

use alloc::collections::VecDeque;

use penstock_schemes::{BitRate, Duration, Instant, units::PS_PER_S};

use super::super::Config;
use super::super::delivery::{Delivery, Sample};
use super::{Acknowledged, Pacing, Path, Window};

/// A gain: a ratio of two numbers.
type Gain = (u64, u64);

/// 2/ln 2: the least gain that doubles the rate each round. (Section 4.3.2.1)
const HIGH: Gain = (2885, 1000);
const DRAIN: Gain = (1000, 2885);
const UNITY: Gain = (1, 1);
/// `BBRGainCycleLen` gains of ProbeBw. (Section 4.3.4.2)
const CYCLE: [Gain; 8] = [(5, 4), (3, 4), UNITY, UNITY, UNITY, UNITY, UNITY, UNITY];
/// Of the window in ProbeBw. (Section 4.3.4.3)
const WINDOW: Gain = (2, 1);
/// Growth of the rate below which a round counts as full, and how many such rounds fill the pipe. (Section 4.3.2.2)
const GROWTH: Gain = (5, 4);
const FULL_ROUNDS: u32 = 3;
/// `BtlBwFilterLen`, rounds. (Section 4.1.1.3)
const RATE_ROUNDS: u64 = 10;
/// `BBRMinPipeCwnd`, segments. (Section 4.2.3.3)
const LEAST_WINDOW: u64 = 4;
/// Linux, `bbr_pacing_margin_percent`: a hundredth.
const MARGIN: Gain = (99, 100);
/// Rates from which on a quantum is two segments, and a millisecond's worth; the most that it is, octets. (Section 4.2.2)
const SLOW: BitRate = BitRate(1_200_000);
const FAST: BitRate = BitRate(24_000_000);
const LARGEST_QUANTUM: u64 = 65_536;
/// Linux, `bbr_extra_acked_win_rtts` and `bbr_extra_acked_max_us`.
const EXTRA_ROUNDS: u64 = 5;
const LONGEST_EXTRA: Duration = Duration::from_ms(100);
/// The round trip before one is known. (Section 4.2.1)
const FIRST_RTT: Duration = Duration::from_ms(1);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    /// `phase` of [`CYCLE`], which began at `since`.
    ProbeBw {
        phase: usize,
        since: Instant,
    },
    /// Few enough octets are in flight, and stay so `until` and for a round.
    ProbeRtt {
        until: Option<Instant>,
        round_done: bool,
    },
}

/// Its state. Names of the draft are in the comments.
#[derive(Debug, Clone)]
pub(in super::super) struct Bbr {
    pub(super) delivery: Delivery,
    mss: u64,
    first_window: u64,
    rtt_window: Duration,
    probe_rtt: Duration,
    mode: Mode,
    /// `BtlBwFilter`: the greatest rates of the last rounds, in the order of rounds, each above those after it.
    rates: VecDeque<(u64, BitRate)>,
    /// `RTprop`, and when it was measured.
    min_rtt: Option<Duration>,
    min_rtt_at: Instant,
    /// `round_count`; a round ends when a segment is delivered that was sent after `next_round_delivered` octets had been.
    round: u64,
    round_until: u64,
    round_start: bool,
    /// `full_bw`, `full_bw_count`, `filled_pipe`.
    full_rate: BitRate,
    full_rounds: u32,
    filled: bool,
    pacing: BitRate,
    offload: bool,
    extra: Extra,
    /// The pacing rate knows of a measured round trip.
    timed: bool,
    /// `prior_cwnd`, `packet_conservation`, and whether this is loss recovery.
    prior_cwnd: u64,
    conserves: bool,
    recovers: bool,
    /// `idle_restart`.
    restarted: bool,
}

/// Octets that acknowledgements have brought beyond those that the rate explains: the greatest surplus of this span of rounds and of the last one.
/// (Linux, `bbr_update_ack_aggregation`)
#[derive(Debug, Clone, Default)]
struct Extra {
    /// When the count began, and what it has come to.
    since: Instant,
    acked: u64,
    most: [u64; 2],
    rounds: u64,
}

impl Extra {
    /// An acknowledgement has brought `fresh` octets. `expected` gives the octets of a time.
    fn update(&mut self, now: Instant, fresh: u64, cwnd: u64, round_start: bool, expected: impl Fn(Duration) -> u64) {
        self.rounds += u64::from(round_start);
        if self.rounds >= EXTRA_ROUNDS {
            (self.rounds, self.most) = (0, [0, self.most[0]]);
        }
        let mut due = expected(now.since(self.since));
        if self.acked <= due {
            (self.since, self.acked, due) = (now, 0, 0);
        }
        self.acked += fresh;
        self.most[0] = self.most[0].max((self.acked - due).min(cwnd));
    }
}

impl Bbr {
    pub(super) fn new(config: &Config) -> Self {
        let first_window = config.first_window();
        Self {
            delivery: Delivery::default(),
            mss: config.mss.0,
            first_window,
            rtt_window: config.min_rtt_window,
            probe_rtt: config.probe_rtt,
            mode: Mode::Startup,
            rates: VecDeque::new(),
            min_rtt: None,
            min_rtt_at: Instant::ZERO,
            round: 0,
            round_until: 0,
            round_start: false,
            full_rate: BitRate::ZERO,
            full_rounds: 0,
            filled: false,
            pacing: Self::first_pacing(first_window, FIRST_RTT),
            offload: config.offload,
            extra: Extra::default(),
            timed: false,
            prior_cwnd: 0,
            conserves: false,
            recovers: false,
            restarted: false,
        }
    }

    /// How segments go.
    pub(super) fn pacing(&self) -> Pacing {
        Pacing { rate: self.pacing, quantum: self.quantum() }
    }

    /// `BBR.send_quantum`, octets: whole segments. (Section 4.2.2)
    fn quantum(&self) -> u64 {
        let segments = match self.pacing {
            _ if !self.offload => 1,
            rate if rate < SLOW => 1,
            rate if rate < FAST => 2,
            BitRate(rate) => ((rate / 8000).min(LARGEST_QUANTUM) / self.mss).max(2),
        };
        segments * self.mss
    }

    /// An acknowledgement has come: sections 4.1 and 4.2.
    #[inline(never)]
    pub(super) fn on_ack(&mut self, window: &mut Window, ack: &Acknowledged) {
        let path = ack.path.unwrap_or_default();
        let (fresh, sample) = self.delivery.sample(ack.now);
        self.round_start = false;
        if let Some(sample) = sample {
            self.update_round(&sample);
            self.update_rate(&sample);
            self.update_extra(window, ack.now, fresh);
            self.update_cycle(ack.now, &path);
            self.update_full_pipe(&sample);
            self.update_drain(ack.now, &path);
            self.update_min_rtt(window, ack.now, &path, &sample);
            self.restarted = false;
        }
        if let (false, Some(srtt)) = (self.timed, ack.srtt) {
            self.timed = true;
            self.pacing = Self::first_pacing(window.cwnd, srtt);
        }
        self.set_pacing(self.pacing_gain());
        self.set_window(window, &path, fresh);
    }

    /// Loss recovery begins. The window is set with the acknowledgement that began it.
    pub(super) fn on_loss(&mut self, window: &Window) {
        self.save(window);
    }

    /// Section 4.2.3.4. The search for growth of the rate starts again, as in Linux.
    pub(super) fn on_timeout(&mut self, window: &mut Window) {
        self.save(window);
        (self.recovers, self.conserves) = (true, false);
        self.full_rate = BitRate::ZERO;
        window.lose();
    }

    /// Data goes after nothing was in flight. (Section 4.3.4.4, `BBRHandleRestartFromIdle`)
    pub(super) fn on_restart(&mut self) {
        if self.delivery.is_limited_by_application() {
            self.restarted = true;
            if matches!(self.mode, Mode::ProbeBw { .. }) {
                self.set_pacing(UNITY);
            }
        }
    }

    /// `BtlBw`.
    fn rate(&self) -> BitRate {
        self.rates.front().map_or(BitRate::ZERO, |entry| entry.1)
    }

    fn pacing_gain(&self) -> Gain {
        match self.mode {
            Mode::Startup => HIGH,
            Mode::Drain => DRAIN,
            Mode::ProbeBw { phase, .. } => CYCLE[phase],
            Mode::ProbeRtt { .. } => UNITY,
        }
    }

    fn window_gain(&self) -> Gain {
        match self.mode {
            Mode::Startup | Mode::Drain => HIGH,
            Mode::ProbeBw { .. } => WINDOW,
            Mode::ProbeRtt { .. } => UNITY,
        }
    }

    /// `BBRInflight`, octets: a gain's share of what the path holds, and three quanta, for segments inside the two hosts. (Section
    /// 4.2.3.2)
    fn inflight(&self, gain: Gain) -> u64 {
        let Some(min_rtt) = self.min_rtt else { return self.first_window };
        let probes = matches!(self.mode, Mode::ProbeBw { phase: 0, .. });
        self.expected(min_rtt, gain) + 3 * self.quantum() + if probes { 2 * self.mss } else { 0 }
    }

    /// Octets that `time` brings at the rate times `gain`, rounded up.
    fn expected(&self, time: Duration, gain: Gain) -> u64 {
        let bits = u128::from(self.rate().0) * u128::from(time.0) * u128::from(gain.0);
        bits.div_ceil(8 * u128::from(PS_PER_S) * u128::from(gain.1)).min(u128::from(u64::MAX / 2)) as u64
    }

    fn update_extra(&mut self, window: &Window, now: Instant, fresh: u64) {
        let mut extra = core::mem::take(&mut self.extra);
        extra.update(now, fresh, window.cwnd, self.round_start, |time| self.expected(time, UNITY));
        self.extra = extra;
    }

    /// Room for acknowledgements that come together.
    fn extra(&self) -> u64 {
        let most = self.extra.most[0].max(self.extra.most[1]);
        if self.filled { most.min(self.expected(LONGEST_EXTRA, UNITY)) } else { 0 }
    }

    /// Section 4.1.1.3.
    fn update_round(&mut self, sample: &Sample) {
        if sample.prior_delivered >= self.round_until {
            self.round_until = self.delivery.delivered();
            self.round += 1;
            self.round_start = true;
            self.conserves = false;
        }
    }

    /// Section 4.1.1.5. What the application has limited counts only where it is more.
    fn update_rate(&mut self, sample: &Sample) {
        let Some(rate) = sample.rate.filter(|&rate| !sample.by_application || rate >= self.rate()) else { return };
        while self.rates.back().is_some_and(|entry| entry.1 <= rate) {
            self.rates.pop_back();
        }
        // Of one round the greatest counts: they leave together.
        if self.rates.back().is_none_or(|entry| entry.0 != self.round) {
            self.rates.push_back((self.round, rate));
        }
        while self.rates.front().is_some_and(|entry| entry.0 + RATE_ROUNDS < self.round) {
            self.rates.pop_front();
        }
    }

    /// Section 4.3.4.3, `BBRCheckCyclePhase`.
    fn update_cycle(&mut self, now: Instant, path: &Path) {
        let Mode::ProbeBw { phase, since } = self.mode else { return };
        let long = self.min_rtt.is_some_and(|least| now.since(since) > least);
        let gain = CYCLE[phase];
        let over = match gain.0.cmp(&gain.1) {
            core::cmp::Ordering::Equal => long,
            core::cmp::Ordering::Greater => long && (path.lost > 0 || path.pipe_before >= self.inflight(gain)),
            core::cmp::Ordering::Less => long || path.pipe_before <= self.inflight(UNITY),
        };
        if over {
            self.mode = Mode::ProbeBw { phase: (phase + 1) % CYCLE.len(), since: now };
        }
    }

    /// Section 4.3.2.2, `BBRCheckFullPipe`.
    fn update_full_pipe(&mut self, sample: &Sample) {
        if self.filled || !self.round_start || sample.by_application {
            return;
        }
        let rate = self.rate();
        if u128::from(rate.0) * u128::from(GROWTH.1) >= u128::from(self.full_rate.0) * u128::from(GROWTH.0) {
            (self.full_rate, self.full_rounds) = (rate, 0);
            return;
        }
        self.full_rounds += 1;
        self.filled = self.full_rounds >= FULL_ROUNDS;
    }

    /// Section 4.3.3, `BBRCheckDrain`.
    fn update_drain(&mut self, now: Instant, path: &Path) {
        if self.mode == Mode::Startup && self.filled {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain && path.pipe <= self.inflight(UNITY) {
            self.probe_rate(now);
        }
    }

    /// Section 4.3.4.3, `BBREnterProbeBW`: any phase but that which drains.
    fn probe_rate(&mut self, now: Instant) {
        // The product's upper half is spread evenly. (Knuth, multiplicative hashing)
        let place = (now.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize % (CYCLE.len() - 1);
        let phase = (CYCLE.len() - place) % CYCLE.len();
        self.mode = Mode::ProbeBw { phase, since: now };
    }

    /// Sections 4.1.2.3 and 4.3.5. With ProbeRtt the samples are limited by the application, for the rate is not the network's.
    fn update_min_rtt(&mut self, window: &mut Window, now: Instant, path: &Path, sample: &Sample) {
        let old = self.min_rtt.is_some() && now > self.min_rtt_at + self.rtt_window;
        if let Some(rtt) = sample.rtt
            && (old || self.min_rtt.is_none_or(|least| rtt <= least))
        {
            (self.min_rtt, self.min_rtt_at) = (Some(rtt), now);
        }
        if old && !self.restarted && !matches!(self.mode, Mode::ProbeRtt { .. }) {
            self.save(window);
            self.mode = Mode::ProbeRtt { until: None, round_done: false };
        }
        let Mode::ProbeRtt { until, round_done } = self.mode else { return };
        self.delivery.limited_by_application(path.pipe);
        let Some(until) = until else {
            if path.pipe <= LEAST_WINDOW * window.mss {
                self.mode = Mode::ProbeRtt { until: Some(now + self.probe_rtt), round_done: false };
                self.round_until = self.delivery.delivered();
            }
            return;
        };
        let round_done = round_done || self.round_start;
        self.mode = Mode::ProbeRtt { until: Some(until), round_done };
        if round_done && now > until {
            self.min_rtt_at = now;
            window.cwnd = window.cwnd.max(self.prior_cwnd);
            if self.filled {
                self.probe_rate(now);
            } else {
                self.mode = Mode::Startup;
            }
        }
    }

    /// Section 4.2.1: a first window in a round trip.
    fn first_pacing(window: u64, rtt: Duration) -> BitRate {
        let bits = u128::from(window) * 8 * u128::from(PS_PER_S) / u128::from(rtt.0.max(1));
        scaled(BitRate(bits.min(u128::from(u64::MAX)) as u64), HIGH)
    }

    /// Section 4.2.1: the rate does not fall before the pipe has been full.
    fn set_pacing(&mut self, gain: Gain) {
        let rate = scaled(self.rate(), gain);
        if self.filled || rate > self.pacing {
            self.pacing = BitRate(rate.0.max(1));
        }
    }

    /// Sections 4.2.3.4 to 4.2.3.6. `fresh` octets have been delivered.
    fn set_window(&mut self, window: &mut Window, path: &Path, fresh: u64) {
        let (mss, least) = (window.mss, LEAST_WINDOW * window.mss);
        if fresh > 0 {
            window.cwnd = window.cwnd.saturating_sub(path.lost).max(mss);
            if path.recovers && !self.recovers {
                // A round in which an octet goes for each that is delivered.
                self.conserves = true;
                self.round_until = self.delivery.delivered();
                window.cwnd = path.pipe + fresh.max(mss);
            } else if self.recovers && !path.recovers {
                self.conserves = false;
                window.cwnd = window.cwnd.max(self.prior_cwnd);
            }
            self.recovers = path.recovers;
            if self.conserves {
                window.cwnd = window.cwnd.max(path.pipe + fresh);
            } else {
                let target = self.inflight(self.window_gain()) + self.extra();
                if self.filled {
                    window.cwnd = target.min(window.cwnd + fresh);
                } else if window.cwnd < target || self.delivery.delivered() < self.first_window {
                    window.cwnd += fresh;
                }
                window.cwnd = window.cwnd.max(least);
            }
        }
        if matches!(self.mode, Mode::ProbeRtt { .. }) {
            window.cwnd = window.cwnd.min(least);
        }
    }

    /// `BBRSaveCwnd`: the last window that neither a loss nor ProbeRtt has cut. (Section 4.2.3.4)
    fn save(&mut self, window: &Window) {
        let cut = self.recovers || matches!(self.mode, Mode::ProbeRtt { .. });
        self.prior_cwnd = if cut { self.prior_cwnd.max(window.cwnd) } else { window.cwnd };
    }
}

/// `rate` times `gain`, less the margin.
fn scaled(rate: BitRate, gain: Gain) -> BitRate {
    let product = u128::from(rate.0) * u128::from(gain.0) * u128::from(MARGIN.0);
    BitRate((product / u128::from(gain.1 * MARGIN.1)).min(u128::from(u64::MAX)) as u64)
}

#[cfg(test)]
mod tests {
    use super::super::acknowledged;
    use super::*;
    use penstock_schemes::Octets;

    const US: u64 = 1_000_000;

    /// With segments of 1000 octets and a first window of ten.
    fn bbr() -> (Bbr, Window) {
        let config = Config { mss: Octets(1000), offload: false, ..Config::default() };
        (Bbr::new(&config), Window::new(&config))
    }

    fn at(us: u64) -> Instant {
        Instant(us * US)
    }

    /// An acknowledgement at `us`, with `pipe` octets in flight after it.
    fn ack(us: u64, pipe: u64) -> Acknowledged {
        let path = Path { pipe, pipe_before: pipe + 1000, ..Path::default() };
        Acknowledged { srtt: Some(Duration(100 * US)), path: Some(path), ..acknowledged(at(us), 1000) }
    }

    fn in_recovery(us: u64, path: Path) -> Acknowledged {
        Acknowledged { path: Some(path), ..ack(us, 0) }
    }

    fn sample(rate: u64) -> Sample {
        Sample { rate: Some(BitRate(rate)), rtt: None, by_application: false, prior_delivered: 0 }
    }

    /// 10 000 octets in 1 ms, times 2.885, less a hundredth: 80 Mb/s * 2.85615 = 228.492 Mb/s. Once 100 us are known: ten times as much.
    #[test]
    fn the_first_rate_is_the_first_window_in_a_round_trip() {
        let (mut b, mut w) = bbr();
        assert_eq!(b.pacing().rate, BitRate(228_492_000));
        b.delivery.on_send(at(0), 0, 1000, false, 0);
        b.delivery.on_delivery(at(100), 0, 1000);
        b.on_ack(&mut w, &ack(100, 9000));
        // The sample, 1000 octets in 100 us, would give less.
        assert_eq!((b.rate(), b.pacing().rate), (BitRate(80_000_000), BitRate(2_284_920_000)));
        assert_eq!(w.cwnd, 11_000, "an octet more for each that is delivered");
    }

    #[test]
    fn the_rate_is_the_greatest_of_ten_rounds() {
        let mut b = bbr().0;
        for (round, rate, greatest) in [(1, 50, 50), (1, 40, 50), (2, 30, 50), (11, 20, 50), (12, 10, 30), (12, 25, 30)]
        {
            b.round = round;
            b.update_rate(&sample(rate));
            assert_eq!(b.rate(), BitRate(greatest), "round {round}");
        }
        // In round 12 the 10 has gone for the 25, and so has the 20 of round 11.
        assert_eq!(Vec::from(b.rates.clone()), [(2, BitRate(30)), (12, BitRate(25))]);
        b.update_rate(&Sample { by_application: true, ..sample(29) });
        assert_eq!(b.rates.len(), 2, "what the application limits says nothing where it is less");
    }

    /// Growth by a quarter is growth: 100, 125, then three rounds below 156.25.
    #[test]
    fn three_rounds_without_growth_fill_the_pipe() {
        let mut b = bbr().0;
        for (rate, filled) in [(100, false), (125, false), (156, false), (156, false), (156, true)] {
            (b.round, b.round_start) = (b.round + 1, true);
            b.update_rate(&sample(rate));
            b.update_full_pipe(&sample(rate));
            assert_eq!(b.filled, filled, "{rate}");
        }
    }

    /// 8 Gb/s and 100 us are 100 000 octets in flight.
    #[test]
    fn the_window_is_a_multiple_of_what_is_in_flight() {
        let mut b = bbr().0;
        assert_eq!(b.inflight(WINDOW), 10_000, "the first window, before a round trip is known");
        (b.min_rtt, b.rates) = (Some(Duration(100 * US)), [(0, BitRate(8_000_000_000))].into());
        assert_eq!(b.inflight(UNITY), 103_000);
        assert_eq!(b.inflight(HIGH), 291_500);
        b.mode = Mode::ProbeBw { phase: 0, since: at(0) };
        assert_eq!(b.inflight((5, 4)), 130_000, "two segments more while it probes");
        assert_eq!(b.pacing_gain(), (5, 4));
    }

    /// The probe lasts a round trip and until it has filled 5/4 of the pipe, or lost something; the next phase until that is drained.
    #[test]
    fn phases_end_by_time_and_by_what_is_in_flight() {
        let mut b = bbr().0;
        (b.min_rtt, b.rates) = (Some(Duration(100 * US)), [(0, BitRate(8_000_000_000))].into());
        b.mode = Mode::ProbeBw { phase: 0, since: at(0) };
        let mut phase_after = |us, pipe_before, lost| {
            b.update_cycle(at(us), &Path { pipe_before, lost, ..Path::default() });
            if let Mode::ProbeBw { phase, .. } = b.mode { phase } else { CYCLE.len() }
        };
        assert_eq!((phase_after(100, 200_000, 0), phase_after(101, 129_999, 0)), (0, 0));
        assert_eq!((phase_after(102, 130_000, 0), phase_after(103, 103_001, 0)), (1, 1));
        assert_eq!((phase_after(104, 103_000, 0), phase_after(204, 0, 0)), (2, 2));
        for (i, phase) in [3, 4, 5, 6, 7, 0].into_iter().enumerate() {
            assert_eq!(phase_after(205 + 101 * i as u64, 0, 0), phase);
        }
        assert_eq!((phase_after(811, 0, 0), phase_after(812, 0, 1)), (0, 1), "a loss ends the probe");
    }

    /// The phase that drains is never the first; all others come.
    #[test]
    fn the_first_phase_is_spread() {
        let mut seen = [false; CYCLE.len()];
        for us in 0..100 {
            let mut b = bbr().0;
            b.probe_rate(at(us));
            if let Mode::ProbeBw { phase, .. } = b.mode {
                seen[phase] = true;
            }
        }
        assert_eq!(seen, [true, false, true, true, true, true, true, true]);
    }

    /// A loss with 50 segments in flight: for a round one segment goes for each that arrives. Then the window is as before.
    #[test]
    fn a_loss_conserves_segments_for_a_round() {
        let (mut b, mut w) = bbr();
        w.cwnd = 80_000;
        b.delivery.on_send(at(0), 0, 1000, false, 0);
        b.delivery.on_send(at(0), 1000, 2000, false, 1000);
        b.delivery.on_delivery(at(100), 0, 1000);
        b.on_loss(&w);
        b.on_ack(&mut w, &in_recovery(100, Path { recovers: true, lost: 1000, pipe: 49_000, ..Path::default() }));
        assert_eq!((w.cwnd, b.conserves, b.prior_cwnd), (50_000, true, 80_000));
        b.delivery.on_delivery(at(101), 1000, 2000);
        b.on_ack(&mut w, &in_recovery(101, Path { recovers: true, pipe: 49_000, ..Path::default() }));
        assert_eq!(w.cwnd, 50_000);
        // A segment that was sent since then: the round has ended.
        b.delivery.on_send(at(102), 2000, 3000, false, 49_000);
        b.delivery.on_send(at(102), 3000, 4000, false, 50_000);
        b.delivery.on_delivery(at(202), 2000, 3000);
        b.on_ack(&mut w, &in_recovery(202, Path { recovers: true, pipe: 49_000, ..Path::default() }));
        assert!(!b.conserves);
        b.delivery.on_delivery(at(203), 3000, 4000);
        b.on_ack(&mut w, &ack(203, 49_000));
        assert_eq!(
            (w.cwnd, b.recovers),
            (81_000, false),
            "restored, and grown by what has arrived, as in any first window"
        );
    }

    #[test]
    fn a_timeout_leaves_a_segment_and_its_end_the_window() {
        let (mut b, mut w) = bbr();
        w.cwnd = 80_000;
        b.on_timeout(&mut w);
        assert_eq!((w.cwnd, b.prior_cwnd), (1000, 80_000));
        b.delivery.on_send(at(0), 0, 1000, false, 0);
        b.delivery.on_delivery(at(100), 0, 1000);
        b.on_ack(&mut w, &ack(100, 0));
        assert!(w.cwnd >= 80_000);
    }

    /// A segment below 1.2 Mb/s, two below 24 Mb/s, then a millisecond's worth: 100 Mb/s bring 12 500 octets in it, 12 segments. 64 KiB are the most.
    #[test]
    fn a_quantum_is_a_millisecond_of_segments() {
        let config = Config { mss: Octets(1000), ..Config::default() };
        for (rate, segments) in
            [(1_199_999, 1), (1_200_000, 2), (100_000_000, 12), (512_000_000, 64), (10_000_000_000, 65)]
        {
            let mut b = Bbr::new(&config);
            b.pacing = BitRate(rate);
            assert_eq!(b.pacing().quantum, segments * 1000, "{rate}");
            b.offload = false;
            assert_eq!(b.pacing().quantum, 1000);
        }
    }

    /// At 8 Mb/s a millisecond brings 1000 octets. Acknowledgements of 4000 octets each 4 ms: each begins a count, for the rate explains the last one, and
    /// is a surplus of all that it brings. One of 1000 octets 0.5 ms later adds half of it.
    #[test]
    fn acknowledgements_that_come_together_are_a_surplus() {
        let expected = |time: Duration| time.0 / 1_000_000;
        let mut extra = Extra::default();
        for ms in [4, 8, 12] {
            extra.update(at(1000 * ms), 4000, 100_000, false, expected);
            assert_eq!((extra.acked, extra.most), (4000, [4000, 0]));
        }
        extra.update(at(12_500), 1000, 100_000, false, expected);
        assert_eq!(extra.most, [4500, 0]);
        extra.update(at(12_500), 9000, 5000, false, expected);
        assert_eq!(extra.most, [5000, 0], "a window at most");
        // It is forgotten after five rounds and five more.
        for round in 1..=10 {
            extra.update(at(100_000 * round), 0, 100_000, true, expected);
            assert_eq!(
                extra.most,
                if round < 5 {
                    [5000, 0]
                } else if round < 10 {
                    [0, 5000]
                } else {
                    [0, 0]
                },
                "{round}"
            );
        }
    }
}
