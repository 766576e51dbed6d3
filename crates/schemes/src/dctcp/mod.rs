//! DCTCP as a network interface's scheme: a marking point with one threshold, and a window that is cut by half of the share of
//! octets that were marked.
//!
//! ```text
//!   marking point                 destination                source, once a window
//!   queue > K: CE                 acknowledges each frame,   F = octets marked / octets acknowledged
//!                                 echoes its mark            alpha = (1 - g) alpha + g F
//!                                                            a mark:  cwnd = cwnd (1 - alpha / 2)
//! ```
//!
//! Beyond that the window grows and falls as NewReno's: by the octets acknowledged below `ssthresh`, by a segment a
//! round trip above it; a loss halves it, once a window. Nothing is sent again: retransmission is a transport's task
//! (`penstock_endpoint` has DCTCP as one of TCP's controllers too). The octets in flight are those of whole frames,
//! headers included.
//!
//! Windows are whole octets, alpha has 30 fraction bits.
//!
//! Sources: RFC 8257, section 3; Alizadeh et al., SIGCOMM 2010 ("DCTCP"), section 3.

use crate::info::values::{choice, count, octets, switch, us};
use crate::info::{Action, Forms, Info, Profile, Threshold, Value, choice, parameters};
use crate::parts::marking::{Ce, MarkingParameters, Ramp};
use crate::parts::marking_cp::{MarkingConfig, MarkingCp};
use crate::units::{BitRate, Duration, FlowKey, Instant, Octets, PS_PER_S};
use crate::{
    Ack, Allowance, Draw, Frame, Gate, Label, Never, NotificationPoint, Out, ReactionPoint, Release, Report, Scheme,
    Var,
};

/// DCTCP.
#[derive(Debug, Clone, Copy)]
pub struct Dctcp;

choice! {
    /// The window of a flow that starts.
    pub enum Start {
        /// A number of segments. (RFC 6928)
        Segments = "segments",
        /// The octets that the line sends in one round trip of the empty network. (HPCC's simulator)
        Bdp = "bdp",
    }
}

parameters! {
    /// DCTCP's parameters.
    pub struct Config {
        ..marking: MarkingParameters;
        /// Queue length above which frames are marked, K.
        k: Threshold {
            default: octets(97_500),
            range: octets(64)..=octets(1_000_000_000),
            source: "Alizadeh et al. 2010 section 4.1: 65 frames of 1500 octets at 10 Gb/s, 20 at 1 Gb/s",
            when: marking = "threshold",
        }
        /// Inverse of the weight g of the newest window in alpha.
        g_inverse: u32 {
            default: count(16),
            range: count(1)..=count(1024),
            source: "RFC 8257, section 4.2",
        }
        /// Octets of a segment: the step of the window, and half of its least length.
        segment: Octets {
            default: octets(1500),
            range: octets(64)..=octets(16_384),
            source: "Ethernet's longest frame; RFC 5681, section 3.1, SMSS",
        }
        /// Window of a flow that starts: segments, or one bandwidth-delay product, line rate times round trip of the empty network.
        /// Where a source does not know that round trip, as a network interface, it starts with segments.
        first_window: Start {
            default: choice("segments"),
            source: "RFC 6928, section 2; HPCC's simulator, third.cc maxBdp, has bdp",
        }
        /// Segments of the initial window.
        initial_window: u32 {
            default: count(10),
            range: count(1)..=count(10_000),
            window: segment,
            source: "RFC 6928, section 2",
        }
        /// The window never exceeds one bandwidth-delay product, where that is known.
        at_most_bdp: bool {
            default: switch(false),
            source: "RFC 8257 has no such bound; HPCC's simulator, HandleAckDctcp m_max_rate, has one",
        }
        /// Frames are paced at a window a round trip of the empty network, where that is known: a window of more than one
        /// bandwidth-delay product is not held back.
        paced: bool {
            default: switch(false),
            source: "RFC 8257 does not pace; HPCC's simulator, rdma-hw.cc, has a rate and a window that follows from it",
        }
        /// Round trip of the empty network by which `first_window`, `at_most_bdp` and `paced` go; 0 for that of a flow's own path, where it is
        /// known.
        base_rtt: Duration {
            default: us(0),
            range: us(0)..=us(1_000_000),
            about: some_round_trip,
            source: "option; HPCC's simulator, run.py GLOBAL_T 1, takes the longest of all pairs of hosts for all flows",
        }
        /// Which frame the window lets go: one that fits as a whole, or any while less than the window is in flight.
        gate: Gate {
            default: choice("whole"),
            source: "RFC 5681 section 3.1; HPCC's simulator, IsWinBound, has open",
        }
    }
}

/// Fraction bits of alpha.
const FRACTION: u32 = 30;

/// `run.py --cc dctcp` of HPCC's simulator with `--bw` of `gbps`: K of 30 bw / 10 KB; a window as its `rdma-hw.cc` has it.
const fn hpcc(gbps: u64) -> [(&'static str, Value); 5] {
    [
        ("k", octets(3_000 * gbps)),
        ("first_window", choice("bdp")),
        ("at_most_bdp", switch(true)),
        ("paced", switch(true)),
        ("gate", choice("open")),
    ]
}

const PROFILES: &[Profile] = &[
    Profile {
        name: "hpcc-25g",
        description: "DCTCP of HPCC's simulator, run.py --bw 25, at 25 Gb/s: K of 75 KB; the window as in hpcc-ns3.",
        settings: &hpcc(25),
    },
    Profile {
        name: "hpcc-ns3",
        description: "DCTCP of HPCC's simulator at 100 Gb/s: K of run.py; a window that starts with one bandwidth-delay product and \
                      never exceeds it, paced.",
        settings: &hpcc(100),
    },
    Profile {
        name: "hpcc-200g",
        description: "DCTCP of HPCC's simulator, run.py --bw 200, at 200 Gb/s: K of 600 KB; the window as in hpcc-ns3.",
        settings: &hpcc(200),
    },
    Profile {
        name: "hpcc-400g",
        description: "DCTCP of HPCC's simulator, run.py --bw 400, at 400 Gb/s: K of 1200 KB; the window as in hpcc-ns3.",
        settings: &hpcc(400),
    },
    Profile {
        name: "hpcc-800g",
        description: "Scaled from HPCC's simulator, run.py, by its rule of 3 KB for each Gb/s, at 800 Gb/s: K of 2400 KB; the window as in \
                      hpcc-ns3.",
        settings: &hpcc(800),
    },
];

impl Scheme for Dctcp {
    const INFO: Info = Info {
        name: "dctcp",
        title: "Data Center TCP",
        source: "RFC 8257; Alizadeh et al., Data Center TCP, SIGCOMM 2010",
        description: "Switches mark frames above a threshold, destinations echo the marks, sources cut their window by half of the \
                      share of octets that were marked.",
        parameters: Config::PARAMETERS,
        profiles: PROFILES,
        set_point: None,
        signals: None,
        actions: &[Action::Marks, Action::Cuts, Action::Raises],
        tuned: &[&["k"], &["g_inverse"], &["initial_window"]],
        recovers_alone: false,
        raises_on_signal: false,
        integer_state: true,
        needs_order: true,
        forms: Forms { capture: true, testbed: false, fluid: Some("dctcp"), cores: &[] },
    };
    type Config = Config;
    type Tag = Ce;
    type Echo = Ce;
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

    fn echoes_mark(echo: &Ce) -> bool {
        echo.0
    }

    fn report(echo: &Ce) -> Report {
        Report { marked: echo.0, ..Report::default() }
    }

    fn from_report(report: &Report) -> Option<Ce> {
        Some(Ce(report.marked))
    }
}

/// The marking threshold is a step. (RFC 8257, section 3.1)
impl MarkingConfig for Config {
    fn ramp(&self) -> Ramp {
        Ramp { k_min: self.k.0, k_max: self.k.0, p_max: 0 }
    }

    fn marking(&self) -> &MarkingParameters {
        &self.marking
    }
}

/// DCTCP's receiver: acknowledges each frame and says whether it was marked. (RFC 8257, section 3.2, without delayed
/// acknowledgements)
#[derive(Debug, Clone)]
pub struct Np;

impl NotificationPoint<Dctcp> for Np {
    fn new(_: &Config, _: FlowKey) -> Self {
        Self
    }

    fn configure(&mut self, _: &Config) {}

    #[inline]
    fn acknowledge(&mut self, _: Instant, frame: Frame<'_, Ce>) -> Option<Ce> {
        Some(*frame.tag)
    }
}

/// DCTCP's sender, with the names of RFC 8257, section 3.3.
#[derive(Debug, Clone)]
pub struct Rp {
    line: BitRate,
    segment: u64,
    first_window: u64,
    g_inverse: u64,
    gate: Gate,
    /// The round trip of the empty network, by the parameters or else of the path, where it is known, and what follows from it.
    given: Option<Duration>,
    round_trip: Option<Duration>,
    starts_with_bdp: bool,
    at_most_bdp: bool,
    paced: bool,
    widest: u64,
    cwnd: u64,
    ssthresh: u64,
    /// 2^-30.
    alpha: u64,
    /// Octets sent, and octets known to have arrived or to be lost.
    sent: u64,
    settled: u64,
    /// The window ends when this number of octets is settled.
    window_end: u64,
    bytes_acked: u64,
    bytes_marked: u64,
    /// The window has been cut, and not more than this number of octets has been settled since: what was sent before the cut says
    /// nothing of it. That is not alpha's window, which may end right after a cut. (RFC 3168, section 6.1.2; RFC 8257, section 3.3)
    reduced: bool,
    cut_end: u64,
    /// Octets acknowledged towards the next step of the window.
    towards: u64,
}

impl Rp {
    /// Ends the window: alpha takes in the share of it that was marked.
    fn end_window(&mut self) {
        let marked = (u128::from(self.bytes_marked) << FRACTION) / u128::from(self.bytes_acked.max(1));
        self.alpha = self.alpha - self.alpha / self.g_inverse + marked as u64 / self.g_inverse;
        (self.bytes_acked, self.bytes_marked) = (0, 0);
        self.window_end = self.sent;
    }

    fn base(&self) -> Option<Duration> {
        self.given.or(self.round_trip)
    }

    /// Start and bound by the bandwidth-delay product, where they go by it.
    fn go_by_round_trip(&mut self) {
        let Some(round_trip) = self.base() else { return };
        let octets = u128::from(self.line.0) * u128::from(round_trip.0) / (8 * u128::from(PS_PER_S));
        let product = (octets as u64).max(2 * self.segment);
        if self.starts_with_bdp {
            self.first_window = product;
        }
        self.widest = if self.at_most_bdp { product } else { u64::MAX };
    }

    /// Sets the window, never below two segments, and ends slow start there.
    fn reduce(&mut self, to: u64) {
        self.cwnd = to.max(2 * self.segment);
        (self.ssthresh, self.towards) = (self.cwnd, 0);
        (self.reduced, self.cut_end) = (true, self.sent);
    }

    /// RFC 5681, section 3.1, by octets; a window that does not limit does not grow.
    fn grow(&mut self, acked: u64) {
        let in_flight = self.sent.saturating_sub(self.settled) + acked;
        if in_flight < self.cwnd / 2 {
            return;
        }
        if self.cwnd < self.ssthresh {
            self.cwnd = (self.cwnd + acked).min(self.widest);
            return;
        }
        self.towards += acked;
        if self.towards >= self.cwnd {
            self.towards -= self.cwnd;
            self.cwnd = (self.cwnd + self.segment).min(self.widest);
        }
    }
}

impl ReactionPoint<Dctcp> for Rp {
    const LEARNS_ROUND_TRIP: bool = true;
    const VARS: &'static [Var] = &[
        Var { name: "cwnd_octets", description: "congestion window" },
        Var { name: "alpha_ppm", description: "estimate of the share of octets that are marked, in millionths" },
    ];

    fn new(config: &Config, line: BitRate) -> Self {
        let first_window = config.segment.0 * u64::from(config.initial_window);
        let mut rp = Self {
            line,
            segment: config.segment.0,
            first_window,
            g_inverse: config.g_inverse.into(),
            gate: config.gate,
            given: (config.base_rtt != Duration::ZERO).then_some(config.base_rtt),
            round_trip: None,
            starts_with_bdp: config.first_window == Start::Bdp,
            at_most_bdp: config.at_most_bdp,
            paced: config.paced,
            widest: u64::MAX,
            cwnd: first_window,
            ssthresh: u64::MAX,
            // So that the first mark halves the window. (Linux, `dctcp_alpha_on_init`)
            alpha: 1 << FRACTION,
            sent: 0,
            settled: 0,
            window_end: 0,
            bytes_acked: 0,
            bytes_marked: 0,
            reduced: false,
            cut_end: 0,
            towards: 0,
        };
        rp.go_by_round_trip();
        rp.cwnd = rp.first_window.min(rp.widest);
        rp
    }

    fn learn_round_trip(&mut self, round_trip: Duration) {
        self.round_trip = Some(round_trip);
        self.go_by_round_trip();
        self.cwnd = self.first_window.min(self.widest);
    }

    /// Before the first acknowledgement the window is that of a start. Later it is a segment at least, and `ssthresh` two.
    fn configure(&mut self, config: &Config, line: BitRate) {
        let mut fresh = Self { round_trip: self.round_trip, ..Self::new(config, line) };
        fresh.go_by_round_trip();
        let Self { first_window, widest, segment, .. } = fresh;
        fresh.cwnd = if self.settled == 0 { first_window } else { self.cwnd.max(segment) }.min(widest);
        fresh.ssthresh = self.ssthresh.max(2 * segment);
        let Self { alpha, sent, settled, window_end, bytes_acked, bytes_marked, reduced, cut_end, towards, .. } = *self;
        *self =
            Self { alpha, sent, settled, window_end, bytes_acked, bytes_marked, reduced, cut_end, towards, ..fresh };
    }

    fn on_signal(&mut self, _: Instant, _: FlowKey, signal: Never, _: &mut impl Draw, _: &mut impl Out<Dctcp>) {
        match signal {}
    }

    fn on_ack(&mut self, _: Instant, _: FlowKey, ack: &Ack<Ce>, _: &mut impl Draw, _: &mut impl Out<Dctcp>) {
        self.settled += ack.acked.0 + ack.lost.0;
        self.bytes_acked += ack.acked.0;
        if ack.echo.0 {
            self.bytes_marked += ack.acked.0;
        }
        if self.settled > self.window_end {
            self.end_window();
        }
        if self.settled > self.cut_end {
            self.reduced = false;
        }
        if ack.lost.0 > 0 && !self.reduced {
            self.reduce(self.cwnd / 2);
        } else if ack.echo.0 && !self.reduced {
            let cut = (u128::from(self.cwnd) * u128::from(self.alpha)) >> (FRACTION + 1);
            self.reduce(self.cwnd - cut as u64);
        } else if !ack.echo.0 {
            self.grow(ack.acked.0);
        }
    }

    fn on_silence(&mut self, _: Instant, _: FlowKey, lost: Octets) {
        self.settled += lost.0;
        self.reduce(self.cwnd / 2);
        self.cwnd = self.segment.min(self.first_window);
    }

    #[inline]
    fn on_send(&mut self, _: Instant, release: Release, _: &mut impl Draw, _: &mut impl Out<Dctcp>) -> Ce {
        self.sent += u64::from(release.octets);
        Ce(false)
    }

    fn next_timeout(&self) -> Option<Instant> {
        None
    }

    fn on_timeout(&mut self, _: Instant, _: &mut impl Draw, _: &mut impl Out<Dctcp>) {}

    #[inline]
    fn allowance(&self) -> Allowance {
        let mut rate = self.line;
        if self.paced
            && let Some(round_trip) = self.base()
        {
            let paced = u128::from(self.cwnd) * u128::from(8 * PS_PER_S) / u128::from(round_trip.0.max(1));
            rate = BitRate((paced as u64).min(rate.0));
        }
        Allowance { rate, window: Some(Octets(self.cwnd)) }
    }

    #[inline]
    fn gate(&self) -> Gate {
        self.gate
    }

    fn limiting(&self) -> bool {
        self.ssthresh < u64::MAX || ReactionPoint::<Dctcp>::allowance(self).rate < self.line
    }

    fn vars(&self, row: &mut [i64]) {
        let alpha = (u128::from(self.alpha) * 1_000_000) >> FRACTION;
        row.copy_from_slice(&[self.cwnd as i64, alpha as i64]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::info::Value;
    use crate::testing::{Middle, Sent, config};

    const FLOW: FlowKey = FlowKey(0);

    fn rp(changes: &[(&str, Value)]) -> Rp {
        Rp::new(&config::<Dctcp>("", changes), BitRate::from_gbps(10))
    }

    fn send(rp: &mut Rp, octets: u16) {
        let release = Release { flow: FLOW, octets, seq: Octets(rp.sent), last: false };
        rp.on_send(Instant::ZERO, release, &mut Middle, &mut Sent::<Dctcp>::default());
    }

    fn ack(rp: &mut Rp, acked: u64, lost: u64, marked: bool) {
        let ack =
            Ack { acked: Octets(acked), lost: Octets(lost), rtt: crate::Duration::from_us(100), echo: Ce(marked) };
        rp.on_ack(Instant::ZERO, FLOW, &ack, &mut Middle, &mut Sent::<Dctcp>::default());
    }

    /// Ten segments of 1500 octets are out; each that is acknowledged lets two more go.
    #[test]
    fn slow_start_grows_by_what_is_acknowledged() {
        let mut rp = rp(&[]);
        (0..10).for_each(|_| send(&mut rp, 1500));
        ack(&mut rp, 1500, 0, false);
        assert_eq!(rp.allowance().window, Some(Octets(16_500)));
    }

    /// g = 1/16, alpha from 1: the first acknowledgement ends an empty window, 15/16. Of the next ten segments four are marked:
    /// alpha = 15/16 * 15/16 + 0.4/16 = 0.903 906 25.
    #[test]
    fn alpha_follows_the_share_of_marked_octets() {
        let mut rp = rp(&[]);
        (0..10).for_each(|_| send(&mut rp, 1500));
        ack(&mut rp, 1500, 0, false);
        assert_eq!(rp.alpha, (1 << FRACTION) / 16 * 15);
        // The acknowledgement of the eleventh segment, the first one of the next window, ends this one.
        send(&mut rp, 1500);
        for i in 2..=11 {
            ack(&mut rp, 1500, 0, [3, 5, 7, 9].contains(&i));
        }
        let alpha = rp.alpha as f64 / f64::from(1u32 << FRACTION);
        assert!((alpha - 0.903_906_25).abs() < 1e-8, "{alpha}");
    }

    /// The first mark finds alpha at 15/16: 15 000 octets lose 7031. A second mark in the same window takes nothing.
    #[test]
    fn a_mark_cuts_once_a_window() {
        let mut rp = rp(&[]);
        (0..10).for_each(|_| send(&mut rp, 1500));
        ack(&mut rp, 1500, 0, false);
        let before = rp.cwnd;
        ack(&mut rp, 1500, 0, true);
        let cut = (before as f64 * 15.0 / 32.0) as u64;
        assert_eq!(rp.cwnd, before - cut);
        ack(&mut rp, 1500, 0, true);
        assert_eq!(rp.cwnd, before - cut);
    }

    /// A cut late in alpha's window, which ends right after it: the marks of frames that were sent before the cut take nothing, the
    /// first of a frame that was sent after it cuts again. Alpha is 15/16, and after a window with 8 of 10 frames marked 0.9289.
    #[test]
    fn a_cut_holds_until_what_was_sent_before_it_is_acknowledged() {
        let mut rp = rp(&[]);
        (0..10).for_each(|_| send(&mut rp, 1500));
        ack(&mut rp, 1500, 0, false);
        ack(&mut rp, 1500, 0, true);
        let cut = rp.cwnd;
        // Alpha's window ends with the eleventh; nine frames that were sent before the cut are to come.
        (0..2).for_each(|_| send(&mut rp, 1500));
        (3..=10).for_each(|_| ack(&mut rp, 1500, 0, true));
        assert_eq!((rp.cwnd, rp.settled, rp.window_end), (cut, 15_000, 15_000));
        ack(&mut rp, 1500, 0, true);
        assert!(rp.cwnd < cut, "the eleventh frame was sent after the cut");
        let again = rp.cwnd;
        ack(&mut rp, 1500, 0, true);
        assert_eq!(rp.cwnd, again, "the twelfth was sent before the second cut");
    }

    #[test]
    fn a_loss_halves_the_window_and_two_segments_are_the_least() {
        let mut rp = rp(&[]);
        (0..10).for_each(|_| send(&mut rp, 1500));
        ack(&mut rp, 0, 1500, false);
        assert_eq!((rp.cwnd, rp.ssthresh), (7500, 7500));
        (0..5).for_each(|_| {
            rp.reduced = false;
            rp.reduce(rp.cwnd / 2);
        });
        assert_eq!(rp.cwnd, 3000);
    }

    /// Above `ssthresh` a whole window must be acknowledged for a segment more.
    #[test]
    fn congestion_avoidance_adds_a_segment_a_window() {
        let mut rp = rp(&[]);
        rp.reduce(15_000);
        rp.reduced = false;
        for _ in 0..10 {
            (rp.sent, rp.settled) = (15_000, 0);
            rp.grow(1500);
        }
        assert_eq!(rp.cwnd, 16_500);
        (rp.sent, rp.settled) = (3000, 0);
        (0..100).for_each(|_| rp.grow(1500));
        assert_eq!(rp.cwnd, 16_500, "a window that does not limit does not grow");
    }

    #[test]
    fn silence_leaves_one_segment() {
        let mut rp = rp(&[]);
        (0..10).for_each(|_| send(&mut rp, 1500));
        rp.on_silence(Instant::ZERO, FLOW, Octets(15_000));
        assert_eq!((rp.cwnd, rp.ssthresh, rp.settled), (1500, 7500, 15_000));
    }

    #[test]
    fn marks_begin_above_the_threshold() {
        let ramp = config::<Dctcp>("", &[]).ramp();
        assert!(!ramp.marks(97_500, &mut Middle) && ramp.marks(97_501, &mut Middle));
    }

    /// 10 Gb/s and 100 us are 125 000 octets, 83.3 segments: the start by the product, and the bound.
    #[test]
    fn a_bandwidth_delay_product_is_the_first_window_or_the_widest() {
        let learned = |changes: &[(&str, Value)]| {
            let mut rp = rp(changes);
            ReactionPoint::<Dctcp>::learn_round_trip(&mut rp, Duration::from_us(100));
            rp
        };
        assert_eq!(learned(&[]).cwnd, 15_000);
        let start = ("first_window", choice("bdp"));
        assert_eq!((rp(&[start]).cwnd, learned(&[start]).cwnd), (15_000, 125_000), "unknown, and known");
        // 15 000 octets in 100 us.
        let paced = learned(&[("paced", switch(true))]).allowance();
        assert_eq!((paced.rate, paced.window), (BitRate::from_mbps(1200), Some(Octets(15_000))));
        let mut bound = learned(&[start, ("at_most_bdp", switch(true))]);
        (0..80).for_each(|_| send(&mut bound, 1500));
        (0..80).for_each(|_| ack(&mut bound, 1500, 0, false));
        assert_eq!(bound.cwnd, 125_000);
        // A time that is given holds for every path: 40 us are 50 000 octets.
        let given = ("base_rtt", us(40));
        assert_eq!((rp(&[start, given]).cwnd, learned(&[start, given]).cwnd), (50_000, 50_000));
    }

    #[test]
    fn the_first_window_is_that_of_a_start_until_something_is_heard() {
        let line = BitRate::from_gbps(10);
        let mut rp = rp(&[]);
        (0..10).for_each(|_| send(&mut rp, 1500));
        rp.configure(&config::<Dctcp>("", &[("initial_window", count(20))]), line);
        assert_eq!((rp.cwnd, rp.sent), (30_000, 15_000));
        ack(&mut rp, 0, 1500, false);
        rp.configure(&config::<Dctcp>("", &[("segment", octets(9000))]), line);
        assert_eq!((rp.cwnd, rp.ssthresh), (15_000, 18_000));
    }
}
