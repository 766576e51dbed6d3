//! DCQCN, Data Center QCN: QCN's rate limiter for routed networks, with marks instead of notifications.
//!
//! A congestion point only marks: a frame that finds a long queue may get its ECN bits set. The destination answers
//! marks with congestion notification packets (CNPs), at most one a flow in each interval. The reaction point keeps an
//! estimate alpha of the share of intervals with a CNP; a CNP cuts the rate by alpha / 2, and without CNPs byte counter
//! and timer raise it as in QCN.
//!
//! ```text
//!   probability of a mark            notification point              reaction point
//!   1 |           +----              marked frame, and no CNP        CNP:  RT = RC,  RC -= RC alpha / 2
//!     |           |                  for cnp_interval: CNP ------>         alpha += g (1 - alpha)
//!   P |        .'                                                    no CNP for alpha_time:  alpha -= g alpha
//!     |     .'                                                       either counter:  max stage < F   (recovery)
//!   0 +---+-------+---- queue                                          RT += R_AI     otherwise       (active)
//!        Kmin    Kmax                                                  RT += i R_HAI  min stage > F   (hyper-active)
//!                                                                      RC = (RC + RT) / 2
//! ```
//!
//! Instead of thresholds, a PI controller may mark ([`marking`](crate::parts::marking)).
//!
//! Rates are whole bits per second, alpha has 30 fraction bits. Rounding: a cut rounds the reduction down, an increase
//! rounds the mean of current and target rate up (so that the line rate is reached), alpha's terms are rounded down.
//! Alpha's decay needs no event: it is made up for when alpha is used, with the same result.
//!
//! Sources: Zhu et al., SIGCOMM 2015 ("paper"), and the two simulators that descend from it, ns3-rdma and HPCC's ("Mlx"
//! mode), from whose code those of ConWeave and SimAI descend, with different constants. Where they disagree, each reading is a parameter;
//! the default is the paper's. Default thresholds and steps are chosen for 10 Gb/s and buffers of 150 KB (the paper has 40 Gb/s and megabytes).

mod alpha;
mod settings;

use crate::info::values::{choice, count, mbps, octets, real, switch, us};
use crate::info::{Action, Forms, Info, Profile, Signals, Value};
use crate::parts::marking::{Ce, MarkingParameters, Ramp};
use crate::parts::marking_cp::{MarkingConfig, MarkingCp};
use crate::units::{BitRate, Duration, FlowKey, Instant};
use crate::{
    Allowance, Class, Draw, Frame, Label, Message, NotificationPoint, Out, ReactionPoint, Release, Scheme, Signal, To,
    Var,
};

use alpha::Alpha;
pub use settings::{AlphaOrder, AlphaUpdate, CnpRule, Config, Counters, HaiBoundary, HaiFactor, RtUpdate};

/// Data Center QCN.
#[derive(Debug, Clone, Copy)]
pub struct Dcqcn;

/// A profile's settings by name.
type Settings<const N: usize> = [(&'static str, Value); N];

/// Mode "Mlx" of HPCC's simulator, `rdma-hw.cc` at 9f4be2a; ConWeave (236a801) and SimAI (c2bfbf4) have the same rules. Each
/// acknowledgement of a marked frame notifies. The stage of the timer is counted after the rate has risen: with
/// `FAST_RECOVERY_TIMES 1` there is one recovery, and the second rise is the first with a step.
///
/// `marks` has KMIN and KMAX in octets and PMAX, `times` ALPHA_RESUME_INTERVAL, RATE_DECREASE_INTERVAL and RP_TIMER in us,
/// `rates` RATE_AI, RATE_HAI and MIN_RATE in Mb/s.
const fn mlx(marks: (u64, u64, f64), times: (u64, u64, u64), rates: (u64, u64, u64)) -> Settings<17> {
    [
        ("k_min", octets(marks.0)),
        ("k_max", octets(marks.1)),
        ("p_max", real(marks.2)),
        ("cnp_interval", us(0)),
        ("alpha_update", choice("per-interval")),
        ("alpha_time", us(times.0)),
        ("decrease_time", us(times.1)),
        ("first_cnp_percent", count(100)),
        ("rt_update", choice("after-increase")),
        ("f", count(2)),
        ("time_reset", us(times.2)),
        ("counters", choice("timer")),
        ("r_ai", mbps(rates.0)),
        ("r_hai", mbps(rates.1)),
        ("hai_factor", choice("one")),
        ("tr_clamp", switch(true)),
        ("min_rate", mbps(rates.2)),
    ]
}

/// `run.py --cc dcqcn` of HPCC's simulator with `--bw` of `gbps`: KMIN 100 bw / 25 KB, KMAX 400 bw / 25 KB, RATE_AI 5 bw / 25 and RATE_HAI 50 bw / 25 Mb/s.
const fn hpcc(gbps: u64) -> Settings<17> {
    mlx((4_000 * gbps, 16_000 * gbps, 0.2), (1, 4, 300), (gbps / 5, 2 * gbps, 1000))
}

pub(crate) const PROFILES: &[Profile] = &[
    Profile {
        name: "zhu-2015",
        description: "Zhu et al., SIGCOMM 2015, at 40 Gb/s: Kmin 5 KB, Kmax 200 KB, Pmax 1 %, timer 55 us, 10 MB, R_AI 40 Mb/s.",
        settings: &[
            ("k_min", octets(5_000)),
            ("k_max", octets(200_000)),
            ("p_max", real(0.01)),
            ("r_ai", mbps(40)),
            ("r_hai", mbps(200)),
        ],
    },
    Profile {
        name: "ns3-rdma",
        description: "The ns3-rdma simulator with its sample configuration at 40 Gb/s: alpha before the cut, marks from 41.2 KB to \
                      1030 KB with certainty.",
        settings: &[
            ("k_min", octets(41_200)),
            ("k_max", octets(1_030_000)),
            ("p_max", real(1.0)),
            ("alpha0", real(0.5)),
            ("alpha_order", choice("update-first")),
            ("byte_reset", octets(300_000_000)),
            ("time_reset", us(60)),
            ("r_ai", mbps(40)),
            ("r_hai", mbps(200)),
            ("hai_boundary", choice("at-or-above")),
            ("min_rate", mbps(100)),
        ],
    },
    Profile {
        name: "hpcc-mlx",
        description: "Mode \"Mlx\" of HPCC's simulator, mix/config.txt, at 25 Gb/s: each mark is answered, alpha by intervals of 1 us, cuts \
                      every 4 us, increase by the timer alone.",
        settings: &mlx((100_000, 400_000, 0.2), (1, 4, 900), (50, 100, 100)),
    },
    Profile {
        name: "hpcc-25g",
        description: "HPCC's simulator, run.py --cc dcqcn --bw 25, at 25 Gb/s: as hpcc-mlx, with a timer of 300 us.",
        settings: &hpcc(25),
    },
    Profile {
        name: "hpcc-100g",
        description: "HPCC's simulator, run.py --cc dcqcn, at 100 Gb/s: as hpcc-mlx, with a timer of 300 us and marks from 400 KB to 1600 KB.",
        settings: &hpcc(100),
    },
    Profile {
        name: "hpcc-200g",
        description: "HPCC's simulator, run.py --cc dcqcn --bw 200, at 200 Gb/s: as hpcc-100g, with twice the thresholds and steps.",
        settings: &hpcc(200),
    },
    Profile {
        name: "hpcc-400g",
        description: "HPCC's simulator, run.py --cc dcqcn --bw 400, at 400 Gb/s: as hpcc-100g, with four times the thresholds and steps.",
        settings: &hpcc(400),
    },
    Profile {
        name: "hpcc-800g",
        description: "Scaled from HPCC's simulator, run.py, by its rule of 4 KB, 16 KB, 0.2 Mb/s and 2 Mb/s for each Gb/s, at 800 Gb/s.",
        settings: &hpcc(800),
    },
    Profile {
        name: "hpcc-100g-paper",
        description: "HPCC's simulator, run.py --cc dcqcn_paper, at 100 Gb/s: as hpcc-100g, with the times of Zhu et al. 2015.",
        settings: &mlx((400_000, 1_600_000, 0.2), (50, 50, 55), (20, 200, 1000)),
    },
    Profile {
        name: "conweave",
        description: "The simulator of ConWeave (SIGCOMM 2023), run.py, at 100 Gb/s: HPCC's rules with a timer of 300 us and marks from 100 KB to \
                      400 KB.",
        settings: &mlx((100_000, 400_000, 0.2), (1, 4, 300), (40, 100, 100)),
    },
    Profile {
        name: "simai",
        description: "SimAI, inputs/config/SimAI.conf, at 25 Gb/s: HPCC's rules and constants.",
        settings: &mlx((100_000, 400_000, 0.2), (1, 4, 900), (50, 100, 100)),
    },
    Profile {
        name: "simai-100g",
        description: "SimAI, inputs/config/SimAI.conf: its thresholds for ports of 100 Gb/s, all else as in simai.",
        settings: &mlx((400_000, 1_600_000, 0.2), (1, 4, 900), (50, 100, 100)),
    },
    Profile {
        name: "simai-200g",
        description: "SimAI, inputs/config/SimAI.conf: its thresholds for ports of 200 Gb/s, all else as in simai.",
        settings: &mlx((300_000, 1_200_000, 0.8), (1, 4, 900), (50, 100, 100)),
    },
    Profile {
        name: "simai-400g",
        description: "SimAI, inputs/config/SimAI.conf: its thresholds for ports of 400 Gb/s, all else as in simai.",
        settings: &mlx((800_000, 3_200_000, 0.2), (1, 4, 900), (50, 100, 100)),
    },
    Profile {
        name: "connectx",
        description: "NVIDIA ConnectX-4 and later: the defaults of its firmware, the same for each line rate (DCQCN CC Parameters of DOCA 3.4; \
                      mlxconfig -d DEVICE query), under HPCC's rules. The thresholds are the switch's: those of hpcc-100g, at 100 Gb/s.",
        settings: &[
            ("k_min", octets(400_000)),
            ("k_max", octets(1_600_000)),
            ("p_max", real(0.2)),
            ("cnp_interval", us(4)),
            ("g_inverse", count(205)),
            ("alpha0", real(1023.0 / 1024.0)),
            ("alpha_update", choice("per-interval")),
            ("alpha_time", us(1)),
            ("decrease_time", us(4)),
            ("rt_update", choice("after-increase")),
            ("f", count(2)),
            ("byte_reset", octets(32_767)),
            ("time_reset", us(300)),
            ("r_ai", mbps(5)),
            ("r_hai", mbps(50)),
            ("hai_factor", choice("one")),
            ("tr_clamp", switch(true)),
            ("min_rate", mbps(1)),
        ],
    },
];

/// A congestion notification packet. It carries no data: its arrival is the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cnp;

impl Cnp {
    /// Length of the frame: Ethernet 14, IP 20, UDP 8, BTH 12, reserved 16, ICRC 4, FCS 4.
    pub const OCTETS: u16 = 78;
}

impl Signal for Cnp {
    fn octets(&self) -> u16 {
        Self::OCTETS
    }

    fn message(&self) -> Option<Message> {
        Some(Message::Cnp)
    }

    fn from_message(message: Message) -> Option<Self> {
        (message == Message::Cnp).then_some(Self)
    }
}

impl Scheme for Dcqcn {
    const INFO: Info = Info {
        name: "dcqcn",
        title: "Data Center QCN",
        source: "Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015; ns3-rdma; HPCC's simulator",
        description: "Switches mark frames, destinations answer marks, sources cut their rate by an estimate of how often that \
                      happens and recover it by byte counter and timer.",
        parameters: Config::PARAMETERS,
        profiles: PROFILES,
        set_point: None,
        signals: Some(Signals::by_destination(Cnp::OCTETS)),
        actions: &[Action::Marks, Action::Notifications, Action::Cuts, Action::Raises],
        tuned: &[
            &["k_min"],
            &["k_max"],
            &["p_max"],
            &["g_inverse"],
            &["alpha_time"],
            &["byte_reset"],
            &["time_reset"],
            &["r_ai"],
            &["r_hai"],
        ],
        recovers_alone: true,
        raises_on_signal: false,
        integer_state: true,
        needs_order: false,
        forms: Forms {
            capture: true,
            testbed: true,
            fluid: Some("dcqcn"),
            cores: &["ecn_marker", "cnp_generator", "dcqcn_rp"],
        },
    };
    type Config = Config;
    type Tag = Ce;
    type Echo = crate::Never;
    type Signal = Cnp;
    type Cp = MarkingCp;
    type Np = Np;
    type Rp = Rp;

    fn label(tag: &Ce) -> Label {
        Label::Roce(tag.0)
    }

    fn from_label(label: Label) -> Ce {
        Ce(label.marked())
    }
}

impl MarkingConfig for Config {
    fn ramp(&self) -> Ramp {
        let p_max = (self.p_max * 4_294_967_296.0) as u64;
        Ramp { k_min: self.k_min.0, k_max: self.k_max.0, p_max }
    }

    fn marking(&self) -> &MarkingParameters {
        &self.marking
    }
}

/// DCQCN's notification point.
#[derive(Debug, Clone)]
pub struct Np {
    flow: FlowKey,
    interval: Duration,
    at_end: bool,
    /// The interval of the last CNP ends here.
    next: Instant,
    /// A mark has come in it, and is to be answered at its end.
    waiting: bool,
}

impl Np {
    fn answer(&mut self, now: Instant, out: &mut impl Out<Dcqcn>) {
        self.next = now + self.interval;
        self.waiting = false;
        out.send(To::Source(self.flow), Class::Control, Cnp);
    }
}

impl NotificationPoint<Dcqcn> for Np {
    fn new(config: &Config, flow: FlowKey) -> Self {
        Self {
            flow,
            interval: config.cnp_interval,
            at_end: config.cnp_rule == CnpRule::EndOfInterval,
            next: Instant::ZERO,
            waiting: false,
        }
    }

    /// The interval of the last CNP goes on to its end; a mark in it is answered then only if the new rule says so.
    fn configure(&mut self, config: &Config) {
        let Self { flow, next, waiting, .. } = *self;
        let fresh = Self::new(config, flow);
        *self = Self { next, waiting: waiting && fresh.at_end, ..fresh };
    }

    #[inline]
    fn on_frame(&mut self, now: Instant, frame: Frame<'_, Ce>, _draw: &mut impl Draw, out: &mut impl Out<Dcqcn>) {
        if frame.tag.0 {
            if now >= self.next {
                self.answer(now, out);
            } else {
                self.waiting = self.at_end;
            }
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.waiting.then_some(self.next)
    }

    fn on_timeout(&mut self, now: Instant, _draw: &mut impl Draw, out: &mut impl Out<Dcqcn>) {
        if self.waiting && now >= self.next {
            self.answer(now, out);
        }
    }
}

/// DCQCN's reaction point.
#[derive(Debug, Clone)]
pub struct Rp {
    config: Config,
    max_rate: u64,
    min_rate: u64,
    /// RC.
    current_rate: u64,
    /// RT, never below RC.
    target_rate: u64,
    alpha: Alpha,
    /// Alpha is right for the time before this moment plus `alpha_time`; the end of time before the first CNP.
    alpha_at: Instant,
    /// A CNP has come since then (alpha_update = per-interval).
    alpha_cnp: bool,
    /// The first CNP came here; moments of decrease count from it.
    first_cnp: Instant,
    /// The rate is cut here.
    decrease_at: Instant,
    byte_count: u64,
    byte_stage: u32,
    time_stage: u32,
    /// The timer's cycle ends here; never while the rate is the line's.
    timer: Instant,
}

impl Rp {
    /// Alpha is that of a start again.
    pub(crate) fn restart_alpha(&mut self) {
        self.alpha = Alpha::of(self.config.alpha0);
    }

    /// Makes up for the intervals that have ended since alpha was last right.
    fn advance_alpha(&mut self, now: Instant) {
        let step = self.config.alpha_time;
        while self.alpha_at != Instant::NEVER && self.alpha_at + step <= now {
            if self.alpha_cnp {
                self.alpha.rise(self.config.g_inverse);
                self.alpha_cnp = false;
            } else if self.alpha.0 < self.config.g_inverse {
                // It falls no further: the other intervals change nothing.
                let ended = now.since(self.alpha_at).0 / step.0;
                self.alpha_at += Duration(ended * step.0);
                return;
            } else {
                self.alpha.fall(self.config.g_inverse);
            }
            self.alpha_at += step;
        }
    }

    fn cut(&mut self, now: Instant) {
        self.advance_alpha(now);
        if self.config.rt_update == RtUpdate::EveryCut || self.byte_stage > 0 || self.time_stage > 0 {
            self.target_rate = self.current_rate;
        }
        self.lower_to(self.current_rate - self.alpha.half_of(self.current_rate), now);
    }

    /// Sets the rate; both counters start again.
    fn lower_to(&mut self, rate: u64, now: Instant) {
        self.current_rate = rate.max(self.min_rate);
        self.decrease_at = Instant::NEVER;
        self.byte_count = 0;
        self.byte_stage = 0;
        self.time_stage = 0;
        self.timer = if self.limiting() { now + self.config.time_reset } else { Instant::NEVER };
    }

    fn increase(&mut self) {
        let (f, byte) = (self.config.f, self.byte_stage);
        let byte = if self.config.counters == Counters::Timer { self.time_stage } else { byte };
        let (slow, fast) = (byte.min(self.time_stage), byte.max(self.time_stage));
        let first = match self.config.hai_boundary {
            HaiBoundary::Above => f + 1,
            HaiBoundary::AtOrAbove => f,
        };
        let step = if slow >= first {
            let i = if self.config.hai_factor == HaiFactor::One { 1 } else { slow - first + 1 };
            self.config.r_hai.0.saturating_mul(u64::from(i))
        } else if fast >= f {
            self.config.r_ai.0
        } else {
            0
        };
        self.target_rate = self.target_rate.saturating_add(step);
        if self.config.tr_clamp {
            self.target_rate = self.target_rate.min(self.max_rate);
        }
        let mean = self.current_rate + (self.target_rate - self.current_rate).div_ceil(2);
        self.current_rate = mean.min(self.max_rate);
        if !self.limiting() {
            self.timer = Instant::NEVER;
        }
    }
}

impl ReactionPoint<Dcqcn> for Rp {
    const VARS: &'static [Var] = &[
        Var { name: "target_rate_bps", description: "target rate RT, bit/s" },
        Var { name: "alpha_ppm", description: "alpha when it was last used, millionths" },
        Var { name: "byte_stage", description: "cycles of the byte counter since the last cut" },
        Var { name: "time_stage", description: "cycles of the timer since the last cut" },
    ];

    fn new(config: &Config, line: BitRate) -> Self {
        Self {
            max_rate: line.0,
            min_rate: config.min_rate.0.min(line.0),
            current_rate: line.0,
            target_rate: line.0,
            alpha: Alpha::of(config.alpha0),
            alpha_at: Instant::NEVER,
            alpha_cnp: false,
            first_cnp: Instant::NEVER,
            decrease_at: Instant::NEVER,
            byte_count: 0,
            byte_stage: 0,
            time_stage: 0,
            timer: Instant::NEVER,
            config: config.clone(),
        }
    }

    /// Before the first CNP alpha is that of a start. Intervals that have ended since alpha was last used count by the new
    /// parameters.
    fn configure(&mut self, config: &Config, line: BitRate) {
        let fresh = Self::new(config, line);
        if self.first_cnp == Instant::NEVER {
            self.alpha = fresh.alpha;
        }
        self.current_rate = self.current_rate.max(fresh.min_rate);
        self.target_rate = self.target_rate.max(self.current_rate);
        if config.tr_clamp {
            self.target_rate = self.target_rate.min(self.max_rate);
        }
        if config.counters == Counters::Timer {
            (self.byte_count, self.byte_stage) = (0, 0);
        }
        (self.min_rate, self.config) = (fresh.min_rate, fresh.config);
    }

    fn on_signal(
        &mut self,
        now: Instant,
        _flow: FlowKey,
        _cnp: Cnp,
        _draw: &mut impl Draw,
        _out: &mut impl Out<Dcqcn>,
    ) {
        self.advance_alpha(now);
        let first = self.first_cnp == Instant::NEVER;
        if first {
            self.first_cnp = now;
            self.alpha_at = now;
        }
        if first && self.config.first_cnp_percent > 0 {
            self.lower_to(self.current_rate * u64::from(self.config.first_cnp_percent) / 100, now);
            self.target_rate = self.current_rate;
        }
        let per_cnp = self.config.alpha_update == AlphaUpdate::PerCnp;
        let rise = |rp: &mut Self| {
            if per_cnp {
                rp.alpha.rise(rp.config.g_inverse);
                rp.alpha_at = now;
            } else {
                // The first CNP finds alpha as it starts.
                rp.alpha_cnp = !first;
            }
        };
        if self.config.alpha_order == AlphaOrder::UpdateFirst {
            rise(self);
        }
        if self.config.decrease_time == Duration::ZERO {
            if !(first && self.config.first_cnp_percent > 0) {
                self.cut(now);
            }
        } else {
            // The next moment of decrease: a whole number of times after the first CNP.
            let step = self.config.decrease_time.0;
            let moments = now.since(self.first_cnp).0.div_ceil(step).max(1);
            self.decrease_at = self.decrease_at.min(self.first_cnp + Duration(moments * step));
        }
        if self.config.alpha_order == AlphaOrder::CutFirst {
            rise(self);
        }
    }

    #[inline]
    fn on_send(&mut self, _now: Instant, frame: Release, _draw: &mut impl Draw, _out: &mut impl Out<Dcqcn>) -> Ce {
        if self.limiting() && self.config.counters == Counters::Both {
            self.byte_count += u64::from(frame.octets);
            if self.byte_count >= self.config.byte_reset.0 {
                self.byte_count = 0;
                self.byte_stage = self.byte_stage.saturating_add(1);
                self.increase();
            }
        }
        Ce(false)
    }

    fn next_timeout(&self) -> Option<Instant> {
        let next = self.timer.min(self.decrease_at);
        (next != Instant::NEVER).then_some(next)
    }

    fn on_timeout(&mut self, now: Instant, _draw: &mut impl Draw, _out: &mut impl Out<Dcqcn>) {
        if now >= self.decrease_at {
            self.cut(now);
        } else if now >= self.timer {
            self.time_stage = self.time_stage.saturating_add(1);
            self.timer = now + self.config.time_reset;
            self.increase();
        }
    }

    fn allowance(&self) -> Allowance {
        Allowance { rate: BitRate(self.current_rate), window: None }
    }

    fn limiting(&self) -> bool {
        self.current_rate < self.max_rate
    }

    fn vars(&self, row: &mut [i64]) {
        let ppm = (u64::from(self.alpha.0) * 1_000_000) >> 30;
        row.copy_from_slice(&[
            self.target_rate as i64,
            ppm as i64,
            i64::from(self.byte_stage),
            i64::from(self.time_stage),
        ]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{at, frame_of};
    use crate::{Octets, SchemeConfig};
    use alloc::vec::Vec;
    use proptest::prelude::*;

    /// Always the same word.
    struct Word(u32);
    impl Draw for Word {
        fn draw(&mut self) -> u32 {
            self.0
        }
    }

    /// Counts the signals sent to flow 7.
    #[derive(Default)]
    struct Sent(u32);
    impl Out<Dcqcn> for Sent {
        fn send(&mut self, to: To, class: Class, _: Cnp) {
            assert_eq!((to, class), (To::Source(FlowKey(7)), Class::Control));
            self.0 += 1;
        }
    }

    fn config(profile: &str, changes: &[(&str, Value)]) -> Config {
        let info = Dcqcn::INFO;
        let profile = if profile.is_empty() { &[][..] } else { info.profile(profile).expect("a profile").settings };
        let value = |p: &crate::Parameter| {
            changes.iter().chain(profile).find(|(name, _)| *name == p.name).map_or(p.default, |(_, value)| *value)
        };
        let values: Vec<_> = info.parameters.iter().map(value).collect();
        let Some(SchemeConfig::Dcqcn(config)) = SchemeConfig::new("dcqcn", &values) else { panic!("kinds agree") };
        config
    }

    fn rp(profile: &str, changes: &[(&str, Value)]) -> Rp {
        Rp::new(&config(profile, changes), BitRate::from_gbps(10))
    }

    fn cnp(rp: &mut Rp, us: u64) -> u64 {
        rp.on_signal(at(us), FlowKey(7), Cnp, &mut Word(0), &mut Sent::default());
        rp.allowance().rate.0
    }

    /// Lets the next timer run out; gives its time in microseconds and the rate.
    fn time(rp: &mut Rp) -> (u64, u64) {
        let next = rp.next_timeout().expect("a timer runs");
        rp.on_timeout(next, &mut Word(0), &mut Sent::default());
        (next.0 / 1_000_000, rp.allowance().rate.0)
    }

    const MBPS: u64 = 1_000_000;

    /// Alpha starts at 1 and stays there while CNPs come: each halves the rate.
    #[test]
    fn equation_1_and_fast_recovery() {
        let mut rp = rp("", &[]);
        assert_eq!(rp.next_timeout(), None);
        assert_eq!(cnp(&mut rp, 0), 5_000 * MBPS);
        assert!(rp.limiting());
        // Recovery towards 10 Gb/s by the timer: (5 + 10) / 2 and so on; with cycle F = 5 the target rises by 10 Mb/s.
        let expected = [(55, 7_500 * MBPS), (110, 8_750 * MBPS), (165, 9_375 * MBPS), (220, 9_687_500_000)];
        for step in expected {
            assert_eq!(time(&mut rp), step);
        }
        assert_eq!(time(&mut rp), (275, 9_848_750_000), "(9687.5 + 10 010) / 2");
        assert_eq!(time(&mut rp), (330, 9_934_375_000), "(9848.75 + 10 020) / 2");
        // A cycle of the byte counter, 10 MB, does the same: (9934.375 + 10 030) / 2.
        for _ in 0..1_112 {
            rp.on_send(
                at(331),
                Release { flow: FlowKey(7), octets: 9_000, seq: Octets(0), last: false },
                &mut Word(0),
                &mut Sent::default(),
            );
        }
        assert_eq!(rp.allowance().rate.0, 9_982_187_500);
        assert_eq!(time(&mut rp).1, 10_000 * MBPS, "(9982.1875 + 10 040) / 2 is more than the line has");
        assert!(!rp.limiting());
        assert_eq!(rp.next_timeout(), None);
    }

    #[test]
    fn alpha_falls_without_cnps() {
        let mut rp = rp("", &[("f", count(1000)), ("time_reset", us(1_000_000))]);
        cnp(&mut rp, 0);
        // Two intervals of 55 us have ended: alpha = (255/256)^2 = 65 025 / 65 536; half of it of 5 Gb/s, rounded down.
        assert_eq!(cnp(&mut rp, 164), 5_000 * MBPS - 2_480_506_896);
        // And up with the CNP: alpha × 255/256 + 1/256 = 16 646 911 / 16 777 216; half of it of 2 519 493 104 is 1 249 962 373.6
        assert_eq!(cnp(&mut rp, 164), 2_519_493_104 - 1_249_962_373);
    }

    #[test]
    fn orders_of_update() {
        // Alpha 0.5: a quarter; updated first 0.5 × 255/256 + 1/256 = 0.501953125, half of it of 10 Gb/s.
        for (word, expected) in [("cut-first", 7_500 * MBPS), ("update-first", 7_490_234_375)] {
            let mut rp = rp("", &[("alpha0", real(0.5)), ("alpha_order", choice(word))]);
            assert_eq!(cnp(&mut rp, 0), expected, "{word}");
        }
    }

    /// Three CNPs leave 1.25 Gb/s with target 2.5; then six cycles of the timer, six of the byte counter.
    #[test]
    fn boundaries_and_factors_of_hyper_active_increase() {
        for (boundary, factor, expected) in [
            // Active at timer 5 and 6 and bytes 1 to 5: 2.5 Gb/s + 7 × 10 Mb/s, then 50 Mb/s.
            ("above", "stages", 2_620),
            // Bytes 5: 2560 + 50; bytes 6: + 2 × 50, or + 50.
            ("at-or-above", "stages", 2_710),
            ("at-or-above", "one", 2_660),
        ] {
            let mut rp = rp(
                "",
                &[("byte_reset", octets(3_000)), ("hai_boundary", choice(boundary)), ("hai_factor", choice(factor))],
            );
            for _ in 0..3 {
                cnp(&mut rp, 0);
            }
            for _ in 0..6 {
                time(&mut rp);
            }
            assert_eq!((rp.target_rate, rp.current_rate), (2_520 * MBPS, 2_492_968_750));
            for _ in 0..12 {
                let release = Release { flow: FlowKey(7), octets: 1_500, seq: Octets(0), last: false };
                rp.on_send(at(331), release, &mut Word(0), &mut Sent::default());
            }
            assert_eq!(rp.target_rate, expected * MBPS, "{boundary}, {factor}");
        }
    }

    /// HPCC's `rdma-hw.cc`: alpha each 1 us, cuts each 4 us, the first rise a recovery, the second by R_AI, the third by R_HAI.
    #[test]
    fn cuts_at_moments_and_the_timer_alone() {
        let mut rp = rp("hpcc-mlx", &[]);
        let mut alpha = Alpha(Alpha::ONE);
        let mut fall = |times: u32| {
            (0..times).for_each(|_| alpha.fall(256));
            alpha
        };
        assert_eq!(cnp(&mut rp, 100), 10_000 * MBPS, "the first leaves 100 %");
        let first = 10_000 * MBPS - fall(4).half_of(10_000 * MBPS);
        assert_eq!(time(&mut rp), (104, first));
        assert_eq!(cnp(&mut rp, 109), first);
        fall(5);
        alpha.rise(256);
        let mut fall = |times: u32| {
            (0..times).for_each(|_| alpha.fall(256));
            alpha
        };
        let second = first - fall(2).half_of(first);
        assert_eq!(time(&mut rp), (112, second), "moments are 100 us + 4 us k");
        assert_eq!(rp.target_rate, 10_000 * MBPS, "not raised since the first cut: the target stays");
        let raised = second + (10_000 * MBPS - second).div_ceil(2);
        assert_eq!(time(&mut rp), (1_012, raised), "the first rise goes half of the way");
        for _ in 0..10_000 {
            rp.on_send(
                at(1_013),
                Release { flow: FlowKey(7), octets: 9_000, seq: Octets(0), last: false },
                &mut Word(0),
                &mut Sent::default(),
            );
        }
        assert_eq!(rp.allowance().rate.0, raised, "octets do not count");
        cnp(&mut rp, 1_040);
        assert_eq!(rp.alpha, fall(928), "an interval without a CNP is 1 us, from 112 us to 1040 us");
        time(&mut rp);
        assert_eq!(rp.target_rate, raised, "raised since: the target follows");
        for (time_us, step) in [(1_940, 0), (2_840, 50), (3_740, 150), (4_640, 250)] {
            assert_eq!(time(&mut rp).0, time_us);
            assert_eq!(rp.target_rate, raised + step * MBPS);
        }
    }

    /// HPCC's receiver puts the CNP into the acknowledgement of each marked frame.
    #[test]
    fn profiles_of_simulators_that_answer_each_mark_do_so() {
        for profile in Dcqcn::INFO.profiles {
            let mut np = Np::new(&config(profile.name, &[]), FlowKey(7));
            let mut sent = Sent::default();
            for ns in 0..100 {
                let mut tag = Ce(true);
                let frame = frame_of(FlowKey(7), Instant::ZERO, &mut tag);
                np.on_frame(Instant(ns * 100_000), frame, &mut Word(0), &mut sent);
            }
            let answered = match profile.name {
                "zhu-2015" | "ns3-rdma" => 1,
                // At 0, 4 and 8 us.
                "connectx" => 3,
                _ => 100,
            };
            assert_eq!(sent.0, answered, "{}", profile.name);
        }
    }

    #[test]
    fn the_rate_has_a_floor_and_the_target_a_ceiling() {
        let mut rp = rp("", &[("tr_clamp", switch(true))]);
        for _ in 0..20 {
            cnp(&mut rp, 0);
        }
        assert_eq!(rp.allowance().rate.0, 10 * MBPS);
        let mut cycles = 0;
        while rp.limiting() {
            time(&mut rp);
            assert!(rp.target_rate <= 10_000 * MBPS);
            cycles += 1;
        }
        // The timer alone: 10 Mb/s a cycle, from 10 Mb/s; at the end the rate halves its distance of about 10 Mb/s.
        assert!((1_000..1_050).contains(&cycles), "{cycles}");
    }

    fn np(rule: &'static str) -> Np {
        Np::new(&config("", &[("cnp_rule", choice(rule))]), FlowKey(7))
    }

    fn arrives(np: &mut Np, us: u64, marked: bool) -> u32 {
        let (mut tag, mut sent) = (Ce(marked), Sent::default());
        let frame = frame_of(FlowKey(7), at(us), &mut tag);
        np.on_frame(at(us), frame, &mut Word(0), &mut sent);
        sent.0
    }

    #[test]
    fn one_cnp_an_interval() {
        let mut next_mark = np("next-mark");
        let sent: Vec<_> = [0, 10, 49, 50, 99, 120].map(|us| arrives(&mut next_mark, us, true)).into();
        assert_eq!(sent, [1, 0, 0, 1, 0, 1]);
        assert_eq!(arrives(&mut next_mark, 500, false), 0, "without a mark, none");
        assert_eq!(next_mark.next_timeout(), None);

        let mut at_end = np("end-of-interval");
        assert_eq!(arrives(&mut at_end, 0, true), 1);
        assert_eq!(at_end.next_timeout(), None, "nothing to answer yet");
        assert_eq!(arrives(&mut at_end, 10, true) + arrives(&mut at_end, 20, false), 0);
        assert_eq!(at_end.next_timeout(), Some(at(50)), "the frame without mark takes nothing back");
        let mut sent = Sent::default();
        at_end.on_timeout(at(49), &mut Word(0), &mut sent);
        assert_eq!(sent.0, 0);
        at_end.on_timeout(at(50), &mut Word(0), &mut sent);
        assert_eq!(sent.0, 1);
        assert_eq!(arrives(&mut at_end, 60, true), 0);
        assert_eq!(at_end.next_timeout(), Some(at(100)));
    }

    fn marked(changes: &[(&str, Value)], len: u64, word: u32) -> bool {
        config("", changes).ramp().marks(len, &mut Word(word))
    }

    #[test]
    fn marks_rise_from_k_min_to_k_max() {
        assert!(!marked(&[], 10_000, 0), "none up to 10 KB");
        assert!(marked(&[], 10_001, 0));
        assert!(marked(&[], 100_001, u32::MAX), "all above 100 KB");
        // Half way, at 55 KB, 0.05 × 2^32 = 214 748 364.8; at 100 KB 0.1 × 2^32 = 429 496 729.6, rounded down.
        assert!(marked(&[], 55_000, 214_748_364) && !marked(&[], 55_000, 214_748_365));
        assert!(marked(&[], 100_000, 429_496_728) && !marked(&[], 100_000, 429_496_729));
        // k_min at or above k_max is a step at k_max.
        for k_min in [50_000, 60_000] {
            let step = [("k_min", octets(k_min)), ("k_max", octets(50_000))];
            assert!(!marked(&step, 50_000, 0) && marked(&step, 50_001, u32::MAX));
        }
    }

    proptest! {
        /// Making up for alpha's intervals at once or in any number of steps comes to the same.
        #[test]
        fn alpha_does_not_depend_on_when_one_looks(
            mut looks in prop::collection::vec(0u64..3_000_000, 0..40), alpha in 0u32..=Alpha::ONE, cnp: bool,
        ) {
            let new = || {
                let mut rp = rp("", &[("g_inverse", count(16))]);
                (rp.alpha, rp.alpha_at, rp.alpha_cnp) = (Alpha(alpha), Instant::ZERO, cnp);
                rp
            };
            let (mut once, mut often) = (new(), new());
            looks.sort_unstable();
            looks.push(3_000_000);
            for us in looks {
                often.advance_alpha(at(us));
                prop_assert!(often.alpha.0 <= Alpha::ONE);
            }
            once.advance_alpha(at(3_000_000));
            prop_assert_eq!((once.alpha, once.alpha_at), (often.alpha, often.alpha_at));
        }

        /// In any sequence of calls, rates stay in their bounds and the target is not below the rate.
        #[test]
        fn rates_stay_within_their_bounds(
            calls in prop::collection::vec((0u8..3, 0u64..200), 0..200),
            profile in prop::sample::select(alloc::vec!["", "ns3-rdma", "hpcc-mlx", "zhu-2015"]),
        ) {
            let (mut rp, mut now) = (rp(profile, &[]), 0);
            for (call, us) in calls {
                now += us;
                match call {
                    0 => { cnp(&mut rp, now); }
                    1 => while rp.next_timeout().is_some_and(|next| next <= at(now)) { time(&mut rp); },
                    _ => { rp.on_send(at(now), Release { flow: FlowKey(7), octets: 9_000, seq: Octets(0), last: false }, &mut Word(0), &mut Sent::default()); }
                }
                prop_assert!(rp.min_rate <= rp.current_rate && rp.current_rate <= rp.max_rate);
                prop_assert!(rp.current_rate <= rp.target_rate);
            }
        }
    }

    #[test]
    fn a_timer_that_runs_goes_on_and_the_rate_is_raised_to_a_new_minimum() {
        let line = BitRate::from_gbps(10);
        let mut rp = rp("", &[]);
        rp.configure(&config("", &[("alpha0", real(0.5))]), line);
        assert_eq!(cnp(&mut rp, 0), 7_500 * MBPS, "before the first CNP alpha is that of a start: 10 (1 - 1/4)");
        let alpha = rp.alpha;
        rp.configure(&config("", &[("time_reset", us(200))]), line);
        assert_eq!(rp.alpha, alpha);
        assert_eq!(time(&mut rp), (55, 8_750 * MBPS));
        assert_eq!(time(&mut rp), (255, 9_375 * MBPS));
        rp.configure(&config("", &[("min_rate", mbps(9_500))]), line);
        assert_eq!((rp.allowance().rate.0, rp.target_rate), (9_500 * MBPS, 10_000 * MBPS));
        rp.configure(&config("", &[("min_rate", mbps(20_000))]), line);
        assert_eq!((rp.allowance().rate.0, rp.limiting()), (10_000 * MBPS, false), "no more than the line");
    }

    #[test]
    fn a_mark_that_waits_goes_with_the_rule_that_keeps_it() {
        let mut np = np("end-of-interval");
        assert_eq!([0, 10].map(|us| arrives(&mut np, us, true)), [1, 0]);
        assert_eq!(np.next_timeout(), Some(at(50)));
        np.configure(&config("", &[("cnp_interval", us(100))]));
        assert_eq!(np.next_timeout(), None);
        let sent = [49, 50, 149, 150].map(|us| arrives(&mut np, us, true));
        assert_eq!(sent, [0, 1, 0, 1], "the interval ends after 50 us, the next one after 100");
    }
}
