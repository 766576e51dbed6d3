//! Swift as the Falcon transport has it: windows for the fabric and for the network interface of the destination, both steered to
//! a target, and pacing where less than one frame may be in flight.
//!
//! ```text
//!   switch            destination                          source, for each acknowledgement
//!   counts itself     echoes hops, level of its buffer     target = base + per_hop × hops + a / sqrt(fcwnd) + b
//!   (TTL)                                                  delay ≤ target:  fcwnd += ai × acked / fcwnd  (ai × acked below 1)
//!                                                          delay > target:  fcwnd ×= 1 - beta (delay - target) / delay,
//!                                                                           once a round trip
//!                                                          level < goal:    ncwnd += 1,  else ncwnd ×= goal / level,
//!                                                                           once a round trip
//!                                                          fcwnd < 1:       one frame each rtt / fcwnd
//! ```
//!
//! Where frames of a flow take several paths, the median of the last delays can stand for the delay, and a decrease can wait
//! for several late acknowledgements in a row ([`median`](crate::parts::median)): LSwift and MSwift.
//!
//! Windows count frames of `packet` octets and are real numbers; the allowance has whole frames. The source measures the
//! delay of the fabric: hosts add none here, so that it is the round-trip time. The level of the destination's buffer comes
//! from a model of its host, which takes up the octets of a flow at `receive_rate`.
//!
//! Sources: OCP, Falcon Transport Protocol, revision 0.9, sections 10.3.1 to 10.3.6 ("Falcon"), whose names the parameters have;
//! Kumar et al., SIGCOMM 2020 ("Swift"); Gerstein et al., arXiv 2509.07907 (LSwift, MSwift). Falcon gives no constants: those of htsim's Swift are the defaults.

mod settings;

use crate::info::{Action, Forms, Info};
use crate::parts::median::History;
use crate::parts::root::square_root;
use crate::units::{BitRate, Duration, FlowKey, Instant, Octets, PS_PER_S};
use crate::{
    Ack, Allowance, CongestionPoint, Draw, Fate, Frame, Never, NotificationPoint, Out, Place, Queue, ReactionPoint,
    Release, Report, Scheme, Var,
};

pub use settings::{Config, FallsAfter, Feedback};

/// Swift.
#[derive(Debug, Clone, Copy)]
pub struct Swift;

impl Scheme for Swift {
    const INFO: Info = Info {
        name: "swift",
        title: "Swift",
        source: "OCP, Falcon Transport Protocol 0.9, section 10.3; Kumar et al., Swift: Delay is Simple and Effective for Congestion \
                 Control in the Datacenter, SIGCOMM 2020",
        description: "Sources steer the round-trip time to a target with one window and the destination's buffer to a level with \
                      another; less than one frame in flight is paced.",
        parameters: Config::PARAMETERS,
        profiles: settings::PROFILES,
        set_point: None,
        signals: None,
        actions: &[Action::Cuts, Action::Raises],
        tuned: &[
            &["base_delay_target"],
            &["topology_scaling_per_hop"],
            &["max_flow_scaling"],
            &["fabric_additive_increment"],
            &["fabric_multiplicative_decrease_factor"],
            &["max_fabric_multiplicative_decrease_factor"],
        ],
        recovers_alone: false,
        raises_on_signal: false,
        integer_state: false,
        needs_order: true,
        forms: Forms { fluid: Some("swift"), ..Forms::NONE },
    };
    type Config = Config;
    type Tag = Hops;
    type Echo = Echo;
    type Signal = Never;
    type Cp = Cp;
    type Np = Np;
    type Rp = Rp;

    fn report(&Echo { forward_hops, rx_buffer_level, exhausted }: &Echo) -> Report {
        Report { hops: forward_hops, rx_buffer_level, exhausted, ..Report::default() }
    }

    fn from_report(&Report { hops, rx_buffer_level, exhausted, .. }: &Report) -> Option<Echo> {
        Some(Echo { forward_hops: hops, rx_buffer_level, exhausted })
    }
}

/// Switches that a frame has passed: the octet TTL of its IP header, counted from the other end. (Falcon 10.5.5, `forward_hops`)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Hops(pub u8);

/// The part of an acknowledgement's `CC_meta` that Swift reads. It is in every acknowledgement of Falcon, and adds no octets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Echo {
    /// Switches that the acknowledged frame has passed.
    pub forward_hops: u8,
    /// Level of the destination's buffer, in 1/31.
    pub rx_buffer_level: u8,
    /// The buffer was full. (Falcon 10.3.3: a NACK that indicates exhaustion of the network interface)
    pub exhausted: bool,
}

/// The switch's part: it counts itself.
#[derive(Debug, Clone)]
pub struct Cp;

impl CongestionPoint<Swift> for Cp {
    fn new(_: &Config, _: Place) -> Self {
        Self
    }

    fn configure(&mut self, _: &Config, _: Place) {}

    fn remembers_flows(_config: &Config) -> bool {
        false
    }

    #[inline]
    fn on_arrival(
        &mut self,
        _: Instant,
        frame: Frame<'_, Hops>,
        _: Fate,
        _: &Queue,
        _: &mut impl Draw,
        _: &mut impl Out<Swift>,
    ) {
        frame.tag.0 = frame.tag.0.saturating_add(1);
    }
}

/// Swift's notification point: acknowledges each frame, and says how full the destination's buffer is.
#[derive(Debug, Clone)]
pub struct Np {
    /// bit/s; 0 for a host that is never late.
    receive_rate: u64,
    buffer: u64,
    /// Octets that the host has not taken up, × 8 × 10^12, at `at`.
    waiting: u128,
    at: Instant,
}

/// Octets in the unit of [`Np::waiting`].
const BIT_PS: u128 = 8 * PS_PER_S as u128;

/// The full level of a buffer: five bits.
const FULL: u128 = 31;

impl NotificationPoint<Swift> for Np {
    fn new(config: &Config, _: FlowKey) -> Self {
        let (receive_rate, buffer) = (config.receive_rate.0, config.receive_buffer.0);
        Self { receive_rate, buffer, waiting: 0, at: Instant::ZERO }
    }

    /// The octets that wait stay, as far as the buffer holds them. A host that is never late holds none.
    fn configure(&mut self, config: &Config) {
        self.receive_rate = config.receive_rate.0;
        self.buffer = config.receive_buffer.0;
        if self.receive_rate == 0 {
            (self.waiting, self.at) = (0, Instant::ZERO);
        }
        self.waiting = self.waiting.min(u128::from(self.buffer) * BIT_PS);
    }

    #[inline]
    fn acknowledge(&mut self, now: Instant, frame: Frame<'_, Hops>) -> Option<Echo> {
        // A header takes the queue of control frames: its delay says nothing.
        if frame.trimmed {
            return None;
        }
        let (mut level, mut exhausted) = (0, false);
        if self.receive_rate > 0 {
            let taken = u128::from(self.receive_rate) * u128::from(now.since(self.at).0);
            self.waiting = self.waiting.saturating_sub(taken) + u128::from(frame.octets) * BIT_PS;
            self.at = now;
            let full = u128::from(self.buffer) * BIT_PS;
            exhausted = self.waiting > full;
            self.waiting = self.waiting.min(full);
            level = (self.waiting * FULL / full) as u8;
        }
        Some(Echo { forward_hops: frame.tag.0, rx_buffer_level: level, exhausted })
    }
}

/// Swift's reaction point, with the names of Falcon. Times are real numbers of picoseconds, windows real numbers of frames.
#[derive(Debug, Clone)]
pub struct Rp {
    config: Config,
    flow_scaling_alpha: f64,
    flow_scaling_beta: f64,
    line: BitRate,
    least: u64,
    fcwnd: f64,
    ncwnd: u32,
    /// The last change of `ncwnd` was an increase.
    ncwnd_increased: bool,
    fabric_window_time_marker: Instant,
    nic_window_time_marker: Instant,
    rtt: Duration,
    history: History,
    /// Acknowledgements in a row above the target.
    late: u32,
    /// Zero before the first.
    smoothed_delay: f64,
    delay_target: f64,
    retransmit_count: u32,
    /// A window has been lowered.
    cut: bool,
    allowance: Allowance,
}

impl Rp {
    /// `ComputeAckFabricCongestionWindow` (Falcon 10.3.1) for this number of frames.
    fn ack_fabric(&mut self, now: Instant, packets: f64) {
        let (config, before) = (&self.config, self.fcwnd);
        let (delay, target) = (self.smoothed_delay, self.delay_target);
        if delay <= target {
            self.late = 0;
            let step = config.fabric_additive_increment * packets;
            self.fcwnd += if self.fcwnd >= 1.0 { step / self.fcwnd } else { step };
        } else {
            self.late = self.late.saturating_add(1);
        }
        if self.late >= config.late_in_a_row && self.has_rtt_elapsed(now, self.fabric_window_time_marker) {
            self.late = 0;
            let excess = config.fabric_multiplicative_decrease_factor * (delay - target) / delay;
            self.fcwnd *= (1.0 - excess).max(1.0 - config.max_fabric_multiplicative_decrease_factor);
        }
        self.fcwnd = self.fcwnd.clamp(config.min_fcwnd, config.max_fcwnd);
        if self.fcwnd < before || self.fcwnd <= config.min_fcwnd {
            self.fabric_window_time_marker = now;
        } else if config.falls_after == FallsAfter::Marker {
            self.fabric_window_time_marker = self.moved_marker(now, self.fabric_window_time_marker);
        }
    }

    /// `ComputeAckNICCongestionWindow` (Falcon 10.3.1), or where the buffer was full `ProcessNackResourceExhaustion` (10.3.3).
    fn ack_nic(&mut self, now: Instant, echo: Echo) {
        let (config, before) = (&self.config, self.ncwnd);
        let (level, goal) = (u32::from(echo.rx_buffer_level), config.target_rx_buffer_level);
        let elapsed = self.has_rtt_elapsed(now, self.nic_window_time_marker);
        let least_factor = 1.0 - config.max_nic_multiplicative_decrease_factor;
        if echo.exhausted {
            if self.ncwnd_increased || elapsed {
                self.ncwnd = (f64::from(self.ncwnd) * least_factor) as u32;
                self.ncwnd_increased = false;
            }
        } else if level < goal {
            if !self.ncwnd_increased || elapsed {
                self.ncwnd += config.nic_additive_increment;
                self.ncwnd_increased = true;
            }
        } else if elapsed {
            let excess = f64::from(level - goal) / f64::from(level);
            self.ncwnd = (f64::from(self.ncwnd) * (1.0 - excess).max(least_factor)) as u32;
            self.ncwnd_increased = false;
        }
        self.ncwnd = self.ncwnd.clamp(config.min_ncwnd, config.max_ncwnd);
        if self.ncwnd != before || self.ncwnd == config.min_ncwnd || self.ncwnd == config.max_ncwnd {
            self.nic_window_time_marker = now;
        } else {
            self.nic_window_time_marker = self.moved_marker(now, self.nic_window_time_marker);
        }
    }

    /// `ProcessRetransmit` (Falcon 10.3.2): the `retransmit_count`-th loss since the last acknowledgement.
    fn retransmit(&mut self, now: Instant) {
        self.retransmit_count += 1;
        if self.retransmit_count == 1 && self.has_rtt_elapsed(now, self.fabric_window_time_marker) {
            self.fcwnd *= 1.0 - self.config.max_fabric_multiplicative_decrease_factor;
            self.fabric_window_time_marker = now;
        } else if self.retransmit_count >= self.config.retransmit_limit {
            self.fcwnd = self.config.min_fcwnd;
            self.fabric_window_time_marker = now;
        }
        self.fcwnd = self.fcwnd.max(self.config.min_fcwnd);
    }

    /// `FabricDelayTarget` (Falcon 10.3.4).
    fn fabric_delay_target(&self, forward_hops: u8) -> f64 {
        let most = self.config.max_flow_scaling.0 as f64;
        let flow = (self.flow_scaling_alpha / square_root(self.fcwnd) + self.flow_scaling_beta).clamp(0.0, most);
        let topology = self.config.topology_scaling_per_hop.0 as f64 * f64::from(forward_hops);
        self.config.base_delay_target.0 as f64 + flow + topology
    }

    /// `HasRttElapsed` (Falcon 10.3.4).
    fn has_rtt_elapsed(&self, now: Instant, marker: Instant) -> bool {
        now.since(marker) >= self.rtt
    }

    /// `UpdateTimeMarker` (Falcon 10.3.4).
    fn moved_marker(&self, now: Instant, marker: Instant) -> Instant {
        if now.since(marker) > self.rtt { Instant(now.0 - self.rtt.0) } else { marker }
    }

    /// The allowance of the windows; `ComputeInterPacketGap` (Falcon 10.3.4).
    fn state(&mut self, before: (f64, u32)) {
        self.cut |= self.fcwnd < before.0 || self.ncwnd < before.1;
        let packet = self.config.packet.0;
        let frames = (self.fcwnd as u64).max(1).min(u64::from(self.ncwnd));
        let mut rate = self.line;
        if self.fcwnd < 1.0 {
            self.cut = true;
            let gap = self.rtt.0 as f64 / self.fcwnd;
            let paced = (packet * 8) as f64 * PS_PER_S as f64 / gap;
            rate = BitRate((paced as u64).clamp(self.least, self.line.0));
        }
        self.allowance = Allowance { rate, window: Some(Octets(frames * packet)) };
    }
}

impl ReactionPoint<Swift> for Rp {
    const VARS: &'static [Var] = &[
        Var { name: "fcwnd_milli", description: "window of the fabric, in thousandths of a frame" },
        Var { name: "ncwnd", description: "window of the destination's network interface, in frames" },
        Var { name: "delay_ps", description: "smoothed delay; 0 before the first" },
        Var { name: "delay_target_ps", description: "target of the delay; 0 before the first" },
    ];

    fn new(config: &Config, line: BitRate) -> Self {
        let inverse = |window: f64| 1.0 / square_root(window);
        let (small, large) = (inverse(config.min_flow_scaling_window), inverse(config.max_flow_scaling_window));
        let span = small - large;
        let flow_scaling_alpha = if span > 0.0 { config.max_flow_scaling.0 as f64 / span } else { 0.0 };
        let mut rp = Self {
            flow_scaling_alpha,
            flow_scaling_beta: -flow_scaling_alpha * large,
            line,
            least: config.min_rate.0.min(line.0),
            fcwnd: config.initial_fcwnd.clamp(config.min_fcwnd, config.max_fcwnd),
            ncwnd: config.max_ncwnd,
            ncwnd_increased: false,
            fabric_window_time_marker: Instant::ZERO,
            nic_window_time_marker: Instant::ZERO,
            // Until the first is measured.
            rtt: config.base_delay_target,
            history: History::new(config.delays()),
            late: 0,
            smoothed_delay: 0.0,
            delay_target: 0.0,
            retransmit_count: 0,
            cut: false,
            allowance: Allowance { rate: line, window: None },
            config: config.clone(),
        };
        rp.state((rp.fcwnd, rp.ncwnd));
        rp
    }

    /// Before the first acknowledgement the round-trip time is that of a start, and before the first silence the windows are, too.
    fn configure(&mut self, config: &Config, line: BitRate) {
        let before = (self.fcwnd, self.ncwnd);
        let fresh = Self::new(config, line);
        let measured = self.delay_target > 0.0;
        if !measured {
            self.rtt = fresh.rtt;
        }
        if measured || self.retransmit_count > 0 {
            self.fcwnd = self.fcwnd.clamp(config.min_fcwnd, config.max_fcwnd);
            self.ncwnd = self.ncwnd.clamp(config.min_ncwnd, config.max_ncwnd);
            self.flow_scaling_alpha = fresh.flow_scaling_alpha;
            self.flow_scaling_beta = fresh.flow_scaling_beta;
            self.history.resize(config.delays());
            (self.least, self.config) = (fresh.least, fresh.config);
            self.state(before);
        } else {
            *self = fresh;
        }
    }

    fn on_signal(&mut self, _: Instant, _: FlowKey, signal: Never, _: &mut impl Draw, _: &mut impl Out<Swift>) {
        match signal {}
    }

    /// `ProcessAckNackCommon` (Falcon 10.3.1), after `ProcessRetransmit` for each gap.
    fn on_ack(&mut self, now: Instant, _: FlowKey, ack: &Ack<Echo>, _: &mut impl Draw, _: &mut impl Out<Swift>) {
        let before = (self.fcwnd, self.ncwnd);
        let alpha = self.config.delay_smoothing_alpha;
        let delay = self.history.median(ack.rtt.0 as f64, self.fcwnd);
        let old = if self.smoothed_delay > 0.0 { self.smoothed_delay } else { delay };
        self.smoothed_delay = old * alpha + delay * (1.0 - alpha);
        self.rtt = ack.rtt;
        self.retransmit_count = 0;
        if ack.lost.0 > 0 {
            self.retransmit(now);
            self.retransmit_count = 0;
        }
        self.delay_target = self.fabric_delay_target(ack.echo.forward_hops);
        self.ack_fabric(now, ack.acked.0 as f64 / self.config.packet.0 as f64);
        self.ack_nic(now, ack.echo);
        self.state(before);
    }

    fn on_silence(&mut self, now: Instant, _: FlowKey, _: Octets) {
        let before = (self.fcwnd, self.ncwnd);
        self.retransmit(now);
        self.state(before);
    }

    #[inline]
    fn on_send(&mut self, _: Instant, _: Release, _: &mut impl Draw, _: &mut impl Out<Swift>) -> Hops {
        Hops(0)
    }

    fn next_timeout(&self) -> Option<Instant> {
        None
    }

    fn on_timeout(&mut self, _: Instant, _: &mut impl Draw, _: &mut impl Out<Swift>) {}

    #[inline]
    fn allowance(&self) -> Allowance {
        self.allowance
    }

    fn limiting(&self) -> bool {
        self.cut
    }

    fn vars(&self, row: &mut [i64]) {
        let fcwnd = (self.fcwnd * 1000.0) as i64;
        row.copy_from_slice(&[fcwnd, self.ncwnd.into(), self.smoothed_delay as i64, self.delay_target as i64]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::info::Value;
    use crate::info::values::{choice, count, mbps, octets, real};
    use crate::testing::{Middle, Sent, at, close, config, frame_of};

    const FLOW: FlowKey = FlowKey(7);

    fn rp(changes: &[(&str, Value)]) -> Rp {
        Rp::new(&config::<Swift>("", changes), BitRate::from_gbps(10))
    }

    const QUIET: Echo = Echo { forward_hops: 2, rx_buffer_level: 0, exhausted: false };

    /// At `us` microseconds one frame is acknowledged after a round trip of `rtt` microseconds.
    fn ack(rp: &mut Rp, us: u64, rtt: u64, echo: Echo) {
        hear(rp, us, rtt, 1500, 0, echo);
    }

    fn hear(rp: &mut Rp, us: u64, rtt: u64, acked: u64, lost: u64, echo: Echo) {
        let ack = Ack { acked: Octets(acked), lost: Octets(lost), rtt: Duration::from_us(rtt), echo };
        rp.on_ack(at(us), FLOW, &ack, &mut Middle, &mut Sent::default());
    }

    /// alpha = 100 us / (1/sqrt 0.1 - 1/sqrt 100) = 100 / 3.062 277 660 us, beta = -alpha / 10. With four frames the addition is
    /// alpha (1/2 - 1/10) = 13.062 172 us; two hops add 6 us.
    #[test]
    fn the_target_grows_with_hops_and_with_a_smaller_window() {
        let mut rp = rp(&[]);
        let target_us = |rp: &mut Rp, fcwnd: f64, hops: u8| {
            rp.fcwnd = fcwnd;
            rp.fabric_delay_target(hops) / 1e6
        };
        close(target_us(&mut rp, 4.0, 2), 26.0 + 40.0 / 3.062_277_660_168_379_5);
        close(target_us(&mut rp, 4.0, 5), 35.0 + 40.0 / 3.062_277_660_168_379_5);
        // At the ends of the range and beyond: 100 us, and nothing.
        close(target_us(&mut rp, 0.1, 0), 120.0);
        close(target_us(&mut rp, 0.01, 0), 120.0);
        close(target_us(&mut rp, 100.0, 0), 20.0);
        close(target_us(&mut rp, 1_000.0, 0), 20.0);
    }

    /// Twelve frames: each that comes back in time adds 1/12, then 1/12.083 333.
    #[test]
    fn below_the_target_the_window_grows_by_a_frame_a_round_trip() {
        let mut rp = rp(&[]);
        ack(&mut rp, 20, 20, QUIET);
        close(rp.fcwnd, 12.0 + 1.0 / 12.0);
        ack(&mut rp, 21, 20, QUIET);
        close(rp.fcwnd, 12.0 + 1.0 / 12.0 + 1.0 / (12.0 + 1.0 / 12.0));
        assert_eq!(rp.allowance(), Allowance { rate: BitRate::from_gbps(10), window: Some(Octets(18_000)) });
        assert!(!rp.limiting());
    }

    /// Below one frame the step is 1 for each frame.
    #[test]
    fn a_window_below_one_frame_grows_by_the_increment() {
        let mut rp = rp(&[("initial_fcwnd", real(0.25)), ("fabric_additive_increment", real(0.5))]);
        ack(&mut rp, 20, 20, QUIET);
        close(rp.fcwnd, 0.75);
    }

    /// At 12 frames the target is 26 us + alpha (1/sqrt 12 - 1/10) = 26 + 6.161 480 us. After 64.322 96 us, twice of it,
    /// 0.8 × 1/2 goes. Here the round trip is 100 us: 0.8 (100 - 32.161 480) / 100 = 0.542 708, more than a half.
    #[test]
    fn above_the_target_the_window_falls_by_the_excess_once_a_round_trip() {
        let mut rp = rp(&[]);
        ack(&mut rp, 100, 100, QUIET);
        close(rp.fcwnd, 6.0);
        // Within the round trip: nothing. At its end: target 26 + alpha (1/sqrt 6 - 1/10).
        ack(&mut rp, 150, 50, QUIET);
        close(
            rp.fcwnd,
            6.0 * (1.0 - 0.8 * (50.0 - (26.0 + (100.0 / 6.0_f64.sqrt() - 10.0) / 3.062_277_660_168_379_5)) / 50.0),
        );
        let before = rp.fcwnd;
        ack(&mut rp, 160, 50, QUIET);
        ack(&mut rp, 199, 50, QUIET);
        close(rp.fcwnd, before);
        ack(&mut rp, 200, 50, QUIET);
        assert!(rp.fcwnd < before && rp.limiting());
    }

    /// An acknowledgement in time lets the marker follow one round trip behind, so that a decrease is possible at once.
    #[test]
    fn the_marker_follows_by_a_round_trip() {
        let mut rp = rp(&[]);
        ack(&mut rp, 100, 20, QUIET);
        assert_eq!(rp.fabric_window_time_marker, at(80));
        ack(&mut rp, 110, 20, QUIET);
        assert_eq!(rp.fabric_window_time_marker, at(90));
        let before = rp.fcwnd;
        ack(&mut rp, 115, 60, QUIET);
        assert_eq!(rp.fcwnd, before);
        assert_eq!(rp.fabric_window_time_marker, at(90), "25 us have gone by since, not 60");
        ack(&mut rp, 150, 60, QUIET);
        assert_eq!(rp.fabric_window_time_marker, at(150));
    }

    /// A quarter of a frame in 500 us: one frame of 12 000 bits each 2 ms, and one frame in flight.
    #[test]
    fn less_than_one_frame_is_paced() {
        let mut rp = rp(&[("initial_fcwnd", real(0.5))]);
        // Target 120 us at most, delay 500 us: a cut by half.
        ack(&mut rp, 500, 500, QUIET);
        close(rp.fcwnd, 0.25);
        let paced = Allowance { rate: BitRate(6_000_000), window: Some(Octets(1500)) };
        assert_eq!(rp.allowance(), paced);
        // At a quarter of a frame the target is 26 us + alpha (2 - 1/10) = 88 us. In time again, one frame comes back: 1.25 frames.
        ack(&mut rp, 600, 80, QUIET);
        assert_eq!(rp.allowance(), Allowance { rate: BitRate::from_gbps(10), window: Some(Octets(1500)) });
    }

    #[test]
    fn a_loss_takes_half_and_silences_in_a_row_all() {
        let mut rp = rp(&[]);
        // 0.5 × 12, then one frame in time: 1/6 more.
        hear(&mut rp, 100, 20, 1500, 1500, QUIET);
        close(rp.fcwnd, 6.0 + 1.0 / 6.0);
        let before = rp.fcwnd;
        // Within the round trip a second loss takes nothing.
        hear(&mut rp, 110, 20, 0, 1500, QUIET);
        close(rp.fcwnd, before);
        let silence = |rp: &mut Rp, us: u64| rp.on_silence(at(us), FLOW, Octets(9000));
        silence(&mut rp, 1_200);
        close(rp.fcwnd, before / 2.0);
        (2..5).for_each(|i| silence(&mut rp, 1_000 * i));
        close(rp.fcwnd, before / 2.0);
        silence(&mut rp, 6_000);
        assert_eq!(rp.fcwnd, 0.01);
        ack(&mut rp, 7_000, 20, QUIET);
        assert_eq!(rp.retransmit_count, 0, "an acknowledgement ends the row");
    }

    /// Level 20 of a goal of 15: a quarter goes. Level 31: a half at most. Then one frame more, once a round trip.
    #[test]
    fn the_window_of_the_network_interface_follows_the_buffer() {
        let mut rp = rp(&[("max_ncwnd", count(40))]);
        let level = |rx_buffer_level: u8| Echo { rx_buffer_level, ..QUIET };
        ack(&mut rp, 20, 20, level(20));
        assert_eq!((rp.ncwnd, rp.ncwnd_increased), (30, false));
        ack(&mut rp, 39, 20, level(31));
        assert_eq!(rp.ncwnd, 30, "within the round trip");
        ack(&mut rp, 40, 20, level(31));
        assert_eq!(rp.ncwnd, 15, "16/31 would go");
        // A change of direction needs no round trip; a second increase does.
        ack(&mut rp, 41, 20, level(14));
        assert_eq!((rp.ncwnd, rp.ncwnd_increased), (16, true));
        ack(&mut rp, 42, 20, level(14));
        assert_eq!(rp.ncwnd, 16);
        ack(&mut rp, 61, 20, level(14));
        assert_eq!(rp.ncwnd, 17);
        assert_eq!(rp.allowance().window, Some(Octets(12 * 1500)), "the lesser window holds");
        // A full buffer: after an increase at once.
        ack(&mut rp, 62, 20, Echo { exhausted: true, ..level(31) });
        assert_eq!((rp.ncwnd, rp.ncwnd_increased), (8, false));
        assert_eq!(rp.allowance().window, Some(Octets(8 * 1500)));
    }

    /// Four shares of the new value: 0.75 × 20 + 0.25 × 40 = 25 us.
    #[test]
    fn the_delay_is_smoothed() {
        let mut rp = rp(&[("delay_smoothing_alpha", real(0.75))]);
        ack(&mut rp, 20, 20, QUIET);
        ack(&mut rp, 60, 40, QUIET);
        close(rp.smoothed_delay, 25e6);
    }

    /// Cut at 100 us. In time at 160, and late by a round trip of 60 at 165: Falcon's marker is then at 145, the last decrease at 100.
    #[test]
    fn frames_in_time_can_hold_a_decrease_off() {
        for (falls_after, falls) in [("marker", false), ("last-decrease", true)] {
            let mut rp = rp(&[("falls_after", choice(falls_after))]);
            ack(&mut rp, 100, 100, QUIET);
            ack(&mut rp, 160, 15, QUIET);
            let before = rp.fcwnd;
            ack(&mut rp, 165, 60, QUIET);
            assert_eq!(rp.fcwnd < before, falls, "{falls_after}");
        }
    }

    /// From the third late one in a row on: a frame in time, and one that decreases, begin the count again.
    #[test]
    fn a_decrease_can_wait_for_late_frames_in_a_row() {
        let mut rp = rp(&[("late_in_a_row", count(3))]);
        ack(&mut rp, 100, 100, QUIET);
        ack(&mut rp, 200, 100, QUIET);
        ack(&mut rp, 201, 20, QUIET);
        close(rp.fcwnd, 12.0 + 1.0 / 12.0);
        let before = rp.fcwnd;
        for us in [301, 302] {
            ack(&mut rp, us, 100, QUIET);
        }
        close(rp.fcwnd, before);
        ack(&mut rp, 303, 100, QUIET);
        close(rp.fcwnd, before / 2.0);
        assert_eq!(rp.late, 0);
    }

    /// Twelve frames: of the last six delays the third. Two late ones of six raise the window, four lower it.
    #[test]
    fn the_median_of_half_a_window_stands_for_the_delay() {
        let mut rp = rp(&[("feedback", choice("median"))]);
        for (us, rtt) in [(20, 20), (40, 100), (60, 20), (80, 100), (100, 20)] {
            ack(&mut rp, us, rtt, QUIET);
            assert_eq!(rp.smoothed_delay, 20e6);
        }
        let before = rp.fcwnd;
        assert!(before > 12.0);
        ack(&mut rp, 300, 100, QUIET);
        ack(&mut rp, 400, 100, QUIET);
        assert_eq!(rp.smoothed_delay, 100e6);
        assert!(rp.fcwnd < before);
    }

    /// At 1 Gb/s a host takes up 125 octets a microsecond. Ten frames at once are 15 000 of 31 000 octets: level 15; 8 us later
    /// 14 000 and the eleventh frame's 1500.
    #[test]
    fn the_destination_echoes_hops_and_level() {
        let changes = [("receive_rate", mbps(1_000)), ("receive_buffer", octets(31_000))];
        let mut np = Np::new(&config::<Swift>("", &changes), FLOW);
        let mut come = |us: u64| {
            let mut tag = Hops(3);
            np.acknowledge(at(us), frame_of(FLOW, Instant::ZERO, &mut tag)).expect("each is acknowledged")
        };
        let levels: [u8; 10] = core::array::from_fn(|_| come(100).rx_buffer_level);
        assert_eq!(levels, [1, 3, 4, 6, 7, 9, 10, 12, 13, 15]);
        assert_eq!(come(108), Echo { forward_hops: 3, rx_buffer_level: 15, exhausted: false });
        (0..10).for_each(|_| assert!(!come(108).exhausted));
        assert_eq!(come(108), Echo { forward_hops: 3, rx_buffer_level: 31, exhausted: true });
        assert_eq!(come(1_000).rx_buffer_level, 1, "empty again");
    }

    #[test]
    fn a_switch_counts_itself() {
        let place = Place {
            cp: crate::CpId::new(1, 0, 0),
            line: BitRate::from_gbps(10),
            capacity: Octets(150_000),
            phase: Duration::ZERO,
        };
        let mut cp = Cp::new(&config::<Swift>("", &[]), place);
        let mut tag = Hops(0);
        for _ in 0..300 {
            let frame = frame_of(FLOW, Instant::ZERO, &mut tag);
            cp.on_arrival(Instant::ZERO, frame, Fate::Queued, &Queue::default(), &mut Middle, &mut Sent::default());
        }
        assert_eq!(tag, Hops(255));
    }

    #[test]
    fn windows_fall_to_a_new_maximum() {
        let line = BitRate::from_gbps(10);
        let mut rp = rp(&[]);
        rp.configure(&config::<Swift>("", &[("initial_fcwnd", real(20.0))]), line);
        close(rp.fcwnd, 20.0);
        ack(&mut rp, 20, 20, QUIET);
        close(rp.fcwnd, 20.05);
        rp.configure(&config::<Swift>("", &[]), line);
        close(rp.fcwnd, 20.05);
        assert!(!rp.limiting());
        rp.configure(&config::<Swift>("", &[("max_fcwnd", real(4.0)), ("max_ncwnd", count(3))]), line);
        assert_eq!((rp.fcwnd, rp.ncwnd, rp.limiting()), (4.0, 3, true));
        assert_eq!(rp.allowance().window, Some(Octets(4500)));
    }
}
