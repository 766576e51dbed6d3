//! NSCC, the sender-based congestion control of Ultra Ethernet: marks and delay together decide on a window.
//!
//! ```text
//!                     delay < target                             delay ≥ target
//!   not marked        window += alpha (target - delay) / window  window += fi / window
//!                     empty network for a window: × 1.25
//!   marked            nothing (another path would be chosen)     window × (1 - gamma (avg - target) / avg), once a round trip
//!
//!   quick adapt: delay > 4 targets, or trimmed frames, and little has arrived in a round trip: window = octets that arrived
//!   trimmed or lost frames: window -= their octets
//! ```
//!
//! A queue that is short but marks is an affair of one path of many; a queue that delays without marks empties already. Both at once are
//! congestion. Delay is the round-trip time less the shortest one that was seen.
//!
//! A destination of which much is trimmed may ask for a smaller window (`receiver_penalty`): window -= octets that arrived × penalty / 128.
//!
//! With `trimming` a full switch keeps the header of a frame, so that the source learns of the loss within a round trip.
//!
//! Where frames of a flow take several paths, the median of the last delays can stand for the delay
//! ([`median`](crate::parts::median)): MNSCC.
//!
//! Times are real numbers of picoseconds, windows real numbers of octets; the allowance is rounded down.
//!
//! Sources: uet-htsim, `uec.cpp` ("htsim"), whose names and constants these are; Ultra Ethernet Specification 1.0; Bonato et al., arXiv
//! 2404.01630 (SMaRTT); Gerstein et al., arXiv 2509.07907 (MNSCC).

mod settings;

use crate::info::{Action, Forms, Info};
use crate::parts::marking::{Ce, MarkingParameters, Ramp};
use crate::parts::marking_cp::{MarkingConfig, MarkingCp};
use crate::parts::median::History;
use crate::units::{BitRate, Duration, FlowKey, Instant, Octets, PS_PER_S};
use crate::{
    Ack, Allowance, Draw, Frame, Label, Never, NotificationPoint, Out, ReactionPoint, Release, Report, Scheme, Var,
};

pub use settings::Config;

/// NSCC.
#[derive(Debug, Clone, Copy)]
pub struct Nscc;

/// The network for which htsim's constants are meant, octets in flight: 100 Gb/s for 12 us.
const REFERENCE_BDP: f64 = 150_000.0;
/// A delay below this is that of an empty network.
const NO_DELAY: f64 = 1e6;
/// Units of a destination's penalty, and the largest one.
const PENALTY_UNIT: f64 = 128.0;
const LARGEST_PENALTY: u32 = 127;
/// Weight of a delay of more than five round trips.
const OUTLIER: f64 = 0.0125;

impl Scheme for Nscc {
    const INFO: Info = Info {
        name: "nscc",
        title: "Network Signal Congestion Control",
        source: "Ultra Ethernet Specification 1.0; uet-htsim",
        description: "Sources steer a window by marks and delay together, and take it down to the octets that arrive where much is \
                      trimmed or late.",
        parameters: Config::PARAMETERS,
        profiles: settings::PROFILES,
        set_point: None,
        signals: None,
        actions: &[Action::Marks, Action::Trims, Action::Cuts, Action::Raises],
        tuned: &[
            &["k_min"],
            &["k_max"],
            &["target_qdelay"],
            &["gamma"],
            &["delay_alpha"],
            &["alpha_frames"],
            &["fi_frames"],
            &["eta_frames"],
        ],
        recovers_alone: false,
        raises_on_signal: false,
        integer_state: false,
        needs_order: false,
        forms: Forms { fluid: Some("nscc"), ..Forms::NONE },
    };
    type Config = Config;
    type Tag = Ce;
    type Echo = Echo;
    type Signal = Never;
    type Cp = MarkingCp;
    type Np = Np;
    type Rp = Rp;

    fn label(tag: &Ce) -> Label {
        Label::Ecn(tag.0)
    }

    fn from_label(label: Label) -> Ce {
        Ce(label.marked())
    }

    fn echoes_mark(echo: &Echo) -> bool {
        echo.marked
    }

    fn report(&Echo { marked, trimmed, .. }: &Echo) -> Report {
        Report { marked, trimmed, ..Report::default() }
    }

    /// Callers that know no type of a scheme have no penalty.
    fn from_report(&Report { marked, trimmed, .. }: &Report) -> Option<Echo> {
        Some(Echo { marked, trimmed, penalty: 0 })
    }

    fn needs_trimming(config: &Config) -> bool {
        config.trimming
    }
}

/// The field that an acknowledgement carries; in its header, so that it adds no octets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Echo {
    /// The frame was marked.
    pub marked: bool,
    /// The frame came without its payload: a NACK.
    pub trimmed: bool,
    /// 128th parts of what arrives that the source is to take off its window. (`rcv_cwnd_pen`, 7 bits)
    pub penalty: u8,
}

impl MarkingConfig for Config {
    fn ramp(&self) -> Ramp {
        Ramp { k_min: self.k_min.0, k_max: self.k_max.0, p_max: 1 << 32 }
    }

    fn marking(&self) -> &MarkingParameters {
        &self.marking
    }
}

/// NSCC's notification point: acknowledges each frame, trimmed ones too.
#[derive(Debug, Clone)]
pub struct Np {
    /// `receiver_penalty`.
    each: u32,
    /// Of the last 16 frames a bit each, set if its header alone came.
    cut: u16,
}

impl NotificationPoint<Nscc> for Np {
    fn new(config: &Config, _: FlowKey) -> Self {
        Self { each: config.receiver_penalty, cut: 0 }
    }

    fn configure(&mut self, config: &Config) {
        self.each = config.receiver_penalty;
    }

    #[inline]
    fn acknowledge(&mut self, _: Instant, frame: Frame<'_, Ce>) -> Option<Echo> {
        self.cut = self.cut << 1 | u16::from(frame.trimmed);
        let penalty = (self.each * self.cut.count_ones()).min(LARGEST_PENALTY) as u8;
        Some(Echo { marked: frame.tag.0, trimmed: frame.trimmed, penalty })
    }
}

/// What follows from the parameters and the line, with htsim's names.
#[derive(Debug, Clone, Copy, Default)]
struct Law {
    line: BitRate,
    network_rtt: f64,
    target_qdelay: f64,
    gamma: f64,
    delay_alpha: f64,
    /// For an octet and a picosecond.
    alpha: f64,
    fi: f64,
    eta: f64,
    fi_scale: f64,
    qa_share: f64,
    qa_threshold: f64,
    adjust_bytes: u64,
    mtu: f64,
}

impl Law {
    /// `initNsccParams`.
    fn new(config: &Config, line: BitRate) -> Self {
        let rtt = config.network_rtt.0 as f64;
        let by_rule = if config.trimming { 0.75 * rtt } else { rtt };
        let target = if config.target_qdelay == Duration::ZERO { by_rule } else { config.target_qdelay.0 as f64 };
        let mss = config.packet.0 as f64;
        let a = rtt * line.0 as f64 / 8.0 / PS_PER_S as f64 / REFERENCE_BDP;
        let b = target / Duration::from_us(12).0 as f64;
        Self {
            line,
            network_rtt: rtt,
            target_qdelay: target,
            gamma: config.gamma,
            delay_alpha: config.delay_alpha,
            alpha: config.alpha_frames * mss * a * b / target,
            fi: config.fi_frames * mss * a,
            eta: config.eta_frames * mss * a,
            fi_scale: 0.25 * a,
            qa_share: 1.0 / (1u64 << config.qa_gate) as f64,
            qa_threshold: config.qa_targets * target,
            adjust_bytes: 8 * config.packet.0,
            mtu: mss,
        }
    }
}

/// NSCC's reaction point, with htsim's names.
#[derive(Debug, Clone, Default)]
pub struct Rp {
    law: Law,
    /// The round-trip time of the empty network on the flow's own path, where it is known: htsim's `peer_rtt`.
    peer_rtt: Option<f64>,
    base_rtt: f64,
    avg_delay: f64,
    cwnd: f64,
    maxwnd: f64,
    inc_bytes: f64,
    fi_count: f64,
    /// The network has been empty for a window.
    increase: bool,
    last_dec: Instant,
    last_adjust: Instant,
    received: u64,
    achieved: u64,
    trigger_qa: bool,
    /// A round trip of quick adapt ends here; never before the first.
    qa_end: Instant,
    ignored: u64,
    to_ignore: u64,
    sent: u64,
    settled: u64,
    cut: bool,
    history: History,
}

impl Rp {
    /// `initNscc`.
    fn init(&mut self) {
        self.set_base_rtt(self.start_rtt());
        self.cwnd = self.maxwnd.max(self.law.mtu);
    }

    /// The base before any round trip was seen.
    fn start_rtt(&self) -> f64 {
        self.peer_rtt.unwrap_or(self.law.network_rtt)
    }

    fn set_base_rtt(&mut self, rtt: f64) {
        self.base_rtt = rtt;
        self.maxwnd = 1.5 * rtt * self.law.line.0 as f64 / 8.0 / PS_PER_S as f64;
    }

    fn bound(&mut self) {
        self.cwnd = self.cwnd.min(self.maxwnd).max(self.law.mtu);
    }

    /// `update_delay`.
    fn update_delay(&mut self, delay: f64, marked: bool) {
        let (weight, delay) = if !marked && delay > self.law.target_qdelay {
            (self.law.delay_alpha, 0.25 * self.base_rtt)
        } else if delay > 5.0 * self.base_rtt {
            (OUTLIER, delay)
        } else {
            (self.law.delay_alpha, delay)
        };
        self.avg_delay = weight * delay + (1.0 - weight) * self.avg_delay;
    }

    /// `quick_adapt`: whether the window was adapted, or follows frames from before.
    fn quick_adapt(&mut self, now: Instant, loss: bool, marked: bool, delay: f64) -> bool {
        let mut done = false;
        if self.ignored < self.to_ignore && marked {
            done = true;
        } else if self.qa_end == Instant::NEVER || now > self.qa_end {
            let late = self.trigger_qa || loss || delay > self.law.qa_threshold;
            if self.qa_end != Instant::NEVER && late && (self.achieved as f64) < self.maxwnd * self.law.qa_share {
                self.cwnd = (self.achieved as f64).max(self.law.mtu);
                (self.to_ignore, self.ignored) = (self.sent.saturating_sub(self.settled), 0);
                self.trigger_qa = false;
                done = true;
            }
            self.achieved = 0;
            self.qa_end = now + Duration((self.base_rtt + self.law.target_qdelay) as u64);
        }
        if done {
            (self.inc_bytes, self.received) = (0.0, 0);
        }
        done
    }

    /// `updateCwndOnAck_NSCC`.
    fn on_arrived(&mut self, now: Instant, acked: u64, delay: f64, marked: bool) {
        if self.quick_adapt(now, false, marked, delay) {
            return;
        }
        let (acked, late) = (acked as f64, delay >= self.law.target_qdelay);
        match (marked, late) {
            (false, true) => self.inc_bytes += self.law.fi * acked,
            (false, false) => self.proportional_increase(acked, delay),
            (true, true) => self.multiplicative_decrease(now),
            (true, false) => {}
        }
        self.bound();
        let period = Duration(self.law.network_rtt as u64);
        if self.received > self.law.adjust_bytes || now.since(self.last_adjust) > period {
            self.fulfill_adjustment(now, period);
        }
        self.bound();
    }

    /// `proportional_increase` and `fast_increase`.
    fn proportional_increase(&mut self, acked: f64, delay: f64) {
        if delay >= NO_DELAY {
            self.fi_count = 0.0;
            self.increase = false;
        } else {
            self.fi_count += acked;
            self.increase |= self.fi_count > self.cwnd;
        }
        if self.increase {
            self.cwnd += acked * self.law.fi_scale;
        } else {
            self.inc_bytes += self.law.alpha * acked * (self.law.target_qdelay - delay);
        }
    }

    fn multiplicative_decrease(&mut self, now: Instant) {
        (self.increase, self.fi_count) = (false, 0.0);
        if self.avg_delay > self.law.target_qdelay && now.since(self.last_dec).0 as f64 > self.base_rtt {
            let excess = (self.avg_delay - self.law.target_qdelay) / self.avg_delay;
            self.cwnd *= (1.0 - self.law.gamma * excess).max(0.5);
            self.last_dec = now;
        }
    }

    fn fulfill_adjustment(&mut self, now: Instant, period: Duration) {
        self.cwnd += self.inc_bytes / self.cwnd;
        if now.since(self.last_adjust) >= period {
            self.cwnd += self.law.eta;
            self.last_adjust = now;
        }
        (self.inc_bytes, self.received) = (0.0, 0);
    }

    /// `updateCwndOnNack_NSCC`, for trimmed frames of `lost` octets.
    fn on_trimmed(&mut self, now: Instant, lost: u64) {
        self.ignored += lost;
        self.update_delay(self.law.network_rtt, true);
        self.trigger_qa = true;
        if !self.quick_adapt(now, true, true, 0.0) {
            self.lose(lost);
        }
    }

    /// `mark_packet_for_retransmission`.
    fn lose(&mut self, lost: u64) {
        self.cwnd -= lost as f64;
        self.bound();
    }
}

impl ReactionPoint<Nscc> for Rp {
    const LEARNS_ROUND_TRIP: bool = true;
    const VARS: &'static [Var] = &[
        Var { name: "cwnd_octets", description: "window" },
        Var { name: "avg_delay_ps", description: "mean delay beyond that of the empty network" },
        Var { name: "base_rtt_ps", description: "shortest round-trip time seen" },
    ];

    fn new(config: &Config, line: BitRate) -> Self {
        let mut rp = Self {
            law: Law::new(config, line),
            qa_end: Instant::NEVER,
            history: History::new(config.delays()),
            ..Self::default()
        };
        rp.init();
        rp
    }

    fn learn_round_trip(&mut self, round_trip: Duration) {
        self.peer_rtt = Some(round_trip.0 as f64);
        self.init();
    }

    /// Before the first acknowledgement or silence the window is that of a start. A round-trip time shorter than that of a start
    /// stays, if one was seen.
    fn configure(&mut self, config: &Config, line: BitRate) {
        let (base, cwnd) = (self.base_rtt, self.cwnd);
        let bounds = (self.maxwnd, self.law.mtu);
        let seen = base < self.start_rtt();
        self.law = Law::new(config, line);
        self.history.resize(config.delays());
        self.init();
        if seen {
            self.set_base_rtt(base.min(self.base_rtt));
        }
        let heard = self.settled > 0;
        if heard {
            self.cwnd = cwnd;
            if (self.maxwnd, self.law.mtu) != bounds {
                self.bound();
            }
        }
    }

    fn on_signal(&mut self, _: Instant, _: FlowKey, signal: Never, _: &mut impl Draw, _: &mut impl Out<Nscc>) {
        match signal {}
    }

    fn on_ack(&mut self, now: Instant, _: FlowKey, ack: &Ack<Echo>, _: &mut impl Draw, _: &mut impl Out<Nscc>) {
        let before = self.cwnd;
        let (acked, lost, rtt) = (ack.acked.0, ack.lost.0, ack.rtt.0 as f64);
        self.settled += acked + lost;
        self.achieved += acked;
        self.received += acked;
        self.ignored += acked;
        if ack.echo.trimmed {
            self.on_trimmed(now, lost);
        } else {
            if rtt < self.base_rtt && rtt > 0.0 {
                self.set_base_rtt(rtt);
            }
            let delay = (rtt - self.base_rtt).max(0.0);
            self.update_delay(delay, ack.echo.marked);
            let heard = self.history.median(delay, self.cwnd / self.law.mtu);
            if lost > 0 {
                self.lose(lost);
            }
            self.cwnd -= acked as f64 * f64::from(ack.echo.penalty) / PENALTY_UNIT;
            self.on_arrived(now, acked, heard, ack.echo.marked);
        }
        self.cut |= self.cwnd < before;
    }

    fn on_silence(&mut self, _: Instant, _: FlowKey, lost: Octets) {
        self.settled += lost.0;
        self.lose(lost.0);
        self.cut = true;
    }

    #[inline]
    fn on_send(&mut self, _: Instant, release: Release, _: &mut impl Draw, _: &mut impl Out<Nscc>) -> Ce {
        self.sent += u64::from(release.octets);
        Ce(false)
    }

    fn next_timeout(&self) -> Option<Instant> {
        None
    }

    fn on_timeout(&mut self, _: Instant, _: &mut impl Draw, _: &mut impl Out<Nscc>) {}

    #[inline]
    fn allowance(&self) -> Allowance {
        Allowance { rate: self.law.line, window: Some(Octets(self.cwnd as u64)) }
    }

    fn limiting(&self) -> bool {
        self.cut
    }

    fn vars(&self, row: &mut [i64]) {
        row.copy_from_slice(&[self.cwnd as i64, self.avg_delay as i64, self.base_rtt as i64]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::info::Value;
    use crate::info::values::{choice, count, real, switch, us};
    use crate::testing::{Middle, Sent, at, close, config, frame_of};

    const FLOW: FlowKey = FlowKey(7);
    const OK: Echo = Echo { marked: false, trimmed: false, penalty: 0 };
    const MARKED: Echo = Echo { marked: true, trimmed: false, penalty: 0 };
    const TRIMMED: Echo = Echo { marked: false, trimmed: true, penalty: 0 };

    /// The reference network: 100 Gb/s, 12 us. The largest window is 225 000 octets, the target 12 us.
    fn rp(changes: &[(&str, Value)]) -> Rp {
        let mut rp = Rp::new(&config::<Nscc>("", changes), BitRate::from_gbps(100));
        assert_eq!(rp.allowance().window, Some(Octets(225_000)));
        rp.cwnd = 100_000.0;
        rp
    }

    fn hear(rp: &mut Rp, us: u64, rtt: u64, acked: u64, lost: u64, echo: Echo) {
        let ack = Ack { acked: Octets(acked), lost: Octets(lost), rtt: Duration::from_us(rtt), echo };
        rp.on_ack(at(us), FLOW, &ack, &mut Middle, &mut Sent::default());
    }

    /// A delay of 6 us, half of the target: 4 × 1500 × 1500 / 2 octets² over the window are 45. The period of 12 us has ended: eta, 0.15
    /// × 1500, more. Two periods later the sums start again.
    #[test]
    fn below_the_target_the_window_grows_in_proportion() {
        let mut rp = rp(&[]);
        hear(&mut rp, 100, 18, 1500, 0, OK);
        close(rp.cwnd, 100_000.0 + 45.0 + 225.0);
        // Within the period, and below 8 frames, the sum waits.
        hear(&mut rp, 105, 18, 1500, 0, OK);
        close(rp.cwnd, 100_270.0);
        hear(&mut rp, 113, 18, 1500, 0, OK);
        close(rp.cwnd, 100_270.0 + 2.0 * 4_500_000.0 / 100_270.0 + 225.0);
    }

    /// 5 × 1500 × 1500 octets² over the window are 112.5.
    #[test]
    fn above_the_target_without_marks_the_window_grows_fairly() {
        let mut rp = rp(&[]);
        hear(&mut rp, 100, 30, 1500, 0, OK);
        close(rp.cwnd, 100_000.0 + 112.5 + 225.0);
        // Such a delay counts as a quarter of the round trip in the mean.
        close(rp.avg_delay, 0.0125 * 3e6);
    }

    /// With a mean of 24 us, twice the target: 1 - 0.8 × 1/2. Once in 12 us.
    #[test]
    fn marks_and_delay_lower_the_window_once_a_round_trip() {
        let mut rp = rp(&[("eta_frames", real(0.0))]);
        rp.avg_delay = 24e6;
        hear(&mut rp, 100, 36, 1500, 0, MARKED);
        close(rp.cwnd, 60_000.0);
        hear(&mut rp, 112, 36, 1500, 0, MARKED);
        close(rp.cwnd, 60_000.0);
        hear(&mut rp, 113, 36, 1500, 0, MARKED);
        close(rp.cwnd, 36_000.0);
        // Half at the most.
        rp.avg_delay = 1e9;
        hear(&mut rp, 130, 36, 1500, 0, MARKED);
        close(rp.cwnd, 18_000.0);
        assert!(rp.limiting());
    }

    #[test]
    fn a_mark_without_delay_changes_nothing() {
        let mut rp = rp(&[("eta_frames", real(0.0))]);
        rp.avg_delay = 24e6;
        hear(&mut rp, 100, 20, 1500, 0, MARKED);
        close(rp.cwnd, 100_000.0);
    }

    /// A delay of 0 until a whole window has come: then a quarter of what comes.
    #[test]
    fn an_empty_network_lets_the_window_grow_fast() {
        let mut rp = rp(&[("eta_frames", real(0.0)), ("alpha_frames", real(0.0))]);
        hear(&mut rp, 100, 12, 100_000, 0, OK);
        close(rp.cwnd, 100_000.0);
        hear(&mut rp, 101, 12, 1500, 0, OK);
        close(rp.cwnd, 100_375.0);
        hear(&mut rp, 102, 14, 1500, 0, OK);
        close(rp.cwnd, 100_375.0);
    }

    /// Of the round trip from 100 to 124 us 3000 octets arrive, fewer than 225 000 / 8. The frames in flight then are not answered,
    /// as long as they are marked or trimmed.
    #[test]
    fn trimmed_frames_take_the_window_down_to_what_arrives() {
        let mut rp = rp(&[("eta_frames", real(0.0)), ("alpha_frames", real(0.0))]);
        rp.sent = 60_000;
        hear(&mut rp, 100, 18, 1500, 0, OK);
        hear(&mut rp, 110, 18, 1500, 0, OK);
        hear(&mut rp, 111, 18, 1500, 0, OK);
        // Within the round trip: the octets alone.
        hear(&mut rp, 120, 18, 0, 1500, TRIMMED);
        close(rp.cwnd, 98_500.0);
        hear(&mut rp, 125, 18, 0, 1500, TRIMMED);
        close(rp.cwnd, 3_000.0);
        assert_eq!(rp.to_ignore, 60_000 - 5 * 1500);
        hear(&mut rp, 130, 18, 0, 1500, TRIMMED);
        close(rp.cwnd, 3_000.0);
    }

    #[test]
    fn a_loss_takes_its_octets_and_silence_all() {
        let mut rp = rp(&[("eta_frames", real(0.0)), ("alpha_frames", real(0.0))]);
        hear(&mut rp, 100, 18, 1500, 4500, OK);
        close(rp.cwnd, 95_500.0);
        rp.on_silence(at(2_000), FLOW, Octets(90_000));
        close(rp.cwnd, 5_500.0);
        rp.on_silence(at(4_000), FLOW, Octets(90_000));
        close(rp.cwnd, 1_500.0);
    }

    /// 10 us at 100 Gb/s are 125 000 octets: the largest window is 187 500.
    #[test]
    fn the_shortest_round_trip_is_the_base() {
        let mut rp = rp(&[]);
        rp.cwnd = 225_000.0;
        hear(&mut rp, 100, 10, 1500, 0, OK);
        assert_eq!((rp.base_rtt, rp.cwnd), (10e6, 187_500.0));
        hear(&mut rp, 101, 11, 1500, 0, OK);
        assert_eq!(rp.base_rtt, 10e6);
    }

    /// 4 us at 100 Gb/s are 50 000 octets. Target and steps stay those of the network's 12 us.
    #[test]
    fn each_path_has_its_base_delay() {
        let mut rp = rp(&[]);
        let (target, steps) = (rp.law.target_qdelay, (rp.law.alpha, rp.law.fi, rp.law.eta));
        ReactionPoint::<Nscc>::learn_round_trip(&mut rp, Duration::from_us(4));
        assert_eq!((rp.base_rtt, rp.maxwnd, rp.cwnd), (4e6, 75_000.0, 75_000.0));
        assert_eq!((rp.law.target_qdelay, (rp.law.alpha, rp.law.fi, rp.law.eta)), (target, steps));
        rp.configure(&config::<Nscc>("", &[("network_rtt", us(24))]), rp.law.line);
        assert_eq!((rp.base_rtt, rp.cwnd, rp.law.target_qdelay), (4e6, 75_000.0, 24e6));
        hear(&mut rp, 100, 3, 1500, 0, OK);
        rp.configure(&config::<Nscc>("", &[]), rp.law.line);
        assert_eq!(rp.base_rtt, 3e6);
    }

    /// Of the last four delays the second: one late frame of four is answered by the delay of the others, 6 us, and three by its own.
    /// A window of three frames hears the newest alone.
    #[test]
    fn the_median_stands_for_the_delay() {
        let changes = [("eta_frames", real(0.0)), ("alpha_frames", real(0.0)), ("feedback", choice("median"))];
        let mut rp = rp(&changes);
        rp.avg_delay = 24e6;
        for (us, rtt, echo) in [(100, 18, OK), (101, 18, OK), (102, 18, OK), (120, 36, MARKED), (140, 36, MARKED)] {
            hear(&mut rp, us, rtt, 1500, 0, echo);
        }
        close(rp.cwnd, 100_000.0);
        hear(&mut rp, 160, 36, 1500, 0, MARKED);
        assert!(rp.cwnd < 100_000.0);
        let mut small = Rp { cwnd: 4_500.0, ..rp };
        small.avg_delay = 24e6;
        hear(&mut small, 300, 18, 1500, 0, OK);
        hear(&mut small, 400, 36, 1500, 0, MARKED);
        assert!(small.cwnd < 4_500.0);
    }

    #[test]
    fn trimming_shortens_the_target() {
        let target = |changes: &[(&str, Value)]| rp(changes).law.target_qdelay;
        assert!(
            [false, true]
                .iter()
                .all(|&on| Nscc::needs_trimming(&config::<Nscc>("", &[("trimming", switch(on))])) == on)
        );
        assert_eq!(target(&[]), 12e6);
        assert_eq!(target(&[("trimming", switch(true))]), 9e6);
        assert_eq!(target(&[("trimming", switch(true)), ("target_qdelay", us(6))]), 6e6);
    }

    /// The middle of all words: half way between 30 and 120 KB, at 75 KB, a mark becomes possible.
    #[test]
    fn marks_rise_between_two_thresholds() {
        let ramp = config::<Nscc>("", &[]).ramp();
        for (len, marked) in [(30_000, false), (74_999, false), (75_001, true), (120_001, true)] {
            assert_eq!(ramp.marks(len, &mut Middle), marked, "{len}");
        }
    }

    #[test]
    fn the_destination_says_what_came() {
        let mut tag = Ce(true);
        let frame = Frame { trimmed: true, ..frame_of(FLOW, Instant::ZERO, &mut tag) };
        let mut np = Np { each: 0, cut: 0 };
        assert_eq!(np.acknowledge(Instant::ZERO, frame), Some(Echo { marked: true, trimmed: true, penalty: 0 }));
    }

    /// Three headers among the last 16 frames ask for 3 × 40, and four for 127, the most. An arrival of 1500 octets takes 1500 × 120 / 128 = 1406.25 off
    /// the window. The first header is forgotten with the 16th frame after it.
    #[test]
    fn a_destination_asks_for_a_smaller_window() {
        let own = config::<Nscc>("", &[("receiver_penalty", count(40))]);
        let mut np = <Np as NotificationPoint<Nscc>>::new(&own, FLOW);
        let mut tag = Ce(false);
        let mut heard = |trimmed| {
            let frame = Frame { trimmed, ..frame_of(FLOW, Instant::ZERO, &mut tag) };
            np.acknowledge(Instant::ZERO, frame).unwrap().penalty
        };
        assert_eq!([(); 4].map(|()| heard(true)), [40, 80, 120, 127]);
        let whole = [(); 16].map(|()| heard(false));
        assert_eq!((whole[0], whole[11], whole[12], whole[14], whole[15]), (127, 127, 120, 40, 0));
        let mut rp = rp(&[("eta_frames", real(0.0)), ("alpha_frames", real(0.0))]);
        hear(&mut rp, 100, 18, 1500, 0, Echo { penalty: 120, ..OK });
        close(rp.cwnd, 100_000.0 - 1_406.25);
    }
}
