//! QCN, Quantized Congestion Notification (IEEE 802.1Qau).
//!
//! A congestion point samples arriving frames and, when its queue is too long or grows too fast, tells the source of the
//! sampled frame how much: |Fb| in six bits. The reaction point cuts its rate in proportion and then raises it by itself,
//! first back to where it was (Fast Recovery), then beyond (Active and Hyper-Active Increase).
//!
//! ```text
//!   congestion point                                reaction point
//!   sample? --no--> (nothing)                       no limiter <----------------------------+
//!     | yes                                           | notification, queue above set point  | rate back at
//!   Fb = -(q_off + w q_delta)                         v                                      | line rate
//!     | Fb < 0 and quantises to more than 0         limiter: rate calculator ----------------+
//!     +--------- Cnm { fb, q_off, q_delta } ------> (parts::rate_calculator draws its phases)
//! ```
//!
//! Sources: Kabbani and Yasuda 2010 (the algorithm and its hardware), Mliki et al. 2016, Matsushima et al. 2014, Jiang
//! et al. 2015 (variants), IEEE8021-CN-MIB (constants), R. Pan's pseudo-code ("Pan"). Where they disagree, each reading
//! is a parameter; the default is the pseudo-code's.

use crate::info::values::{choice, count, kbps, mbps, octets, real, switch, us};
use crate::info::{Action, Forms, Info, Profile, Signals, parameters};
use crate::none::Silent;
use crate::parts::notification::Cnm;
use crate::parts::rate_limiter::{ByteResetParameters, LimiterParameters, RateLimiter, RateParameters, RpConfig};
use crate::parts::sampling_cp::{CpConfig, CpParameters, SamplingCp};
use crate::units::BitRate;
use crate::{Label, Scheme};

/// Quantized Congestion Notification.
#[derive(Debug, Clone, Copy)]
pub struct Qcn;

parameters! {
    /// QCN's parameters.
    pub struct Config {
        ..cp: CpParameters;
        ..rate: RateParameters;
        ..byte_reset: ByteResetParameters;
        ..limiter: LimiterParameters;
    }
}

impl CpConfig for Config {
    fn cp(&self) -> &CpParameters {
        &self.cp
    }
}

impl RpConfig for Config {
    fn rate_limiter(&self, line: BitRate) -> RateLimiter {
        RateLimiter::new(self.rate.rules(line, self.byte_reset.cycle()), &self.limiter)
    }
}

/// The pseudo-code's values, from which QCN and its variants start.
pub const PAN_10G: Profile = Profile {
    name: "pan-10g",
    description: "R. Pan's pseudo-code at 10 Gb/s, for a buffer of 150 KB.",
    settings: &[("q_eq", octets(33_000))],
};

/// The values that Mliki et al. 2016 use for both QCN and its multicast variant.
pub const PAPER_MULTICAST: Profile = Profile {
    name: "paper-multicast",
    description: "Mliki et al. 2016 at 1 Gb/s: sampling probability rises from 1 % to 50 % with |Fb|, timer 10 ms, no EFR, no TRR.",
    settings: &[
        ("q_eq", octets(37_500)),
        ("sampling", choice("probability")),
        ("sample_probability_max", real(0.5)),
        ("gd_inverse", count(126)),
        ("rpg_time_reset", us(10_000)),
        ("hai_multiplier", choice("one")),
        ("efr", choice("off")),
        ("trr", choice("off")),
        ("rl_create", choice("always")),
        ("rl_release", choice("never")),
    ],
};

/// The values that Matsushima et al. 2014 use for both QCN and its variants.
pub const PAPER_BOTTLENECK: Profile = Profile {
    name: "paper-bottleneck",
    description: "Matsushima et al. 2014 at 10 Gb/s: Qeq of 22 frames, Active Increase from the fifth cycle, HAI without multiplier.",
    settings: &[
        ("q_eq", octets(33_000)),
        ("fr_cycles", choice("threshold-less-one")),
        ("hai_multiplier", choice("one")),
    ],
};

/// The parameters that an operator of QCN sets.
pub const TUNED: &[&[&str]] = &[
    &["q_eq"],
    &["w"],
    &["gd_inverse"],
    &["sample_base"],
    &["sample_count"],
    &["sample_probability", "sample_probability_max"],
    &["rpg_byte_reset"],
    &["rpg_time_reset"],
    &["rpg_ai_rate"],
    &["rpg_hai_rate"],
];

const PROFILES: &[Profile] = &[
    Profile {
        name: "ieee-2010",
        description: "IEEE 802.1Qau-2010 with the defaults of its MIB and the increase states of its figure 32-2.",
        settings: &[
            ("q_eq", octets(26_000)),
            ("sample_table", choice("harmonic")),
            ("fr_cycles", choice("threshold-less-one")),
            ("cycle_halving", choice("hai-only")),
            ("hai_multiplier", choice("min-count-plus-one")),
            ("rl_create", choice("any")),
        ],
    },
    PAN_10G,
    PAPER_MULTICAST,
    Profile {
        name: "paper-netfpga",
        description: "Kabbani and Yasuda 2010 at 1 Gb/s: table 2, timer 25 ms, permanent limiters of 0.5 Mb/s granularity.",
        settings: &[
            ("q_eq", octets(33_000)),
            ("rpg_time_reset", us(25_000)),
            ("jitter_rp", choice("always")),
            ("rpg_ai_rate", kbps(500)),
            ("rpg_hai_rate", mbps(5)),
            ("hai_multiplier", choice("ordinal")),
            ("efr", choice("neither-fired")),
            ("trr", choice("any-time")),
            ("rpg_min_rate", kbps(500)),
            ("rl_create", choice("always")),
            ("rl_release", choice("never")),
        ],
    },
    PAPER_BOTTLENECK,
    Profile {
        name: "paper-sliding-mode",
        description: "Jiang et al. 2015 at 1 Gb/s: one frame in a hundred drawn, unquantised Fb, decrease, FR and AI alone.",
        settings: &[
            ("q_eq", octets(64_000)),
            ("quantise", choice("none")),
            ("sampling", choice("probability")),
            ("qold_update", choice("last-sent")),
            ("timer_on", switch(false)),
            ("rpg_ai_rate", mbps(1)),
            ("rpg_hai_rate", mbps(0)),
            ("efr", choice("off")),
            ("trr", choice("off")),
            ("rl_create", choice("always")),
            ("rl_release", choice("never")),
        ],
    },
];

impl Scheme for Qcn {
    const INFO: Info = Info {
        name: "qcn",
        title: "Quantized Congestion Notification",
        source: "IEEE 802.1Qau-2010; Kabbani and Yasuda 2010 (QCN on NetFPGA)",
        description: "Switches sample frames and send the source |Fb| in six bits; sources cut their rate and recover it by \
                      byte counter and timer.",
        parameters: Config::PARAMETERS,
        profiles: PROFILES,
        set_point: Some("q_eq"),
        signals: Some(Signals::backward(Cnm::OCTETS)),
        actions: &[Action::Notifications, Action::Cuts, Action::Raises],
        tuned: TUNED,
        recovers_alone: true,
        raises_on_signal: false,
        integer_state: true,
        needs_order: false,
        forms: Forms { capture: true, testbed: true, fluid: Some("qcn"), cores: &["cp", "qcn_rp"] },
    };
    type Config = Config;
    type Tag = ();
    type Echo = crate::Never;
    type Signal = Cnm;
    type Cp = SamplingCp;
    type Np = Silent;
    type Rp = RateLimiter;

    fn label(_tag: &Self::Tag) -> Label {
        Label::CnTag
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::quantiser::QntzFb;
    use crate::testing::{Middle, frame_of};
    use crate::units::{CpId, Duration, FlowKey, Instant, Octets};
    use crate::{CongestionPoint, Fate, Place, Queue, ReactionPoint, Release, To};

    type Cp = <Qcn as Scheme>::Cp;
    type Rp = <Qcn as Scheme>::Rp;
    type Sent = crate::testing::Sent<Qcn>;

    fn config(profile: &str, changes: &[(&str, crate::Value)]) -> Config {
        crate::testing::config::<Qcn>(profile, changes)
    }

    const AT: Instant = Instant(1_000_000);
    const FRAME: Release = Release { flow: FlowKey(0), octets: 1500, seq: Octets(0), last: false };

    fn rp(config: &Config, line: BitRate) -> Rp {
        let mut rp = config.rate_limiter(line);
        rp.on_start(Instant::ZERO, FlowKey(0), &mut Middle, &mut Sent::default());
        rp
    }

    fn notify(rp: &mut Rp, fb: u8) {
        let cnm = Cnm { fb: QntzFb::from_steps(fb), cp: CpId(1), q_off: 1000, q_delta: 0 };
        rp.on_signal(AT, FRAME.flow, cnm, &mut Middle, &mut Sent::default());
    }

    /// Sends frames until the byte counter has ended `n` cycles more.
    fn cycles(rp: &mut Rp, n: u32) {
        for _ in 0..n {
            let stage = rp.byte_stage();
            while rp.byte_stage() == stage {
                rp.on_send(AT, FRAME, &mut Middle, &mut Sent::default());
            }
        }
    }

    fn rates(rp: &Rp) -> (u64, u64) {
        (rp.target_rate().0, rp.current_rate().0)
    }

    /// In bit/s, rounded down at each step: 9846.19140625 Mb/s is 9 846 191 406 bit/s.
    #[test]
    fn golden_vector_1_recovery_after_the_strongest_cut() {
        let mut rp = rp(&config("pan-10g", &[]), BitRate::from_gbps(10));
        notify(&mut rp, 63);
        assert_eq!(rates(&rp), (10_000_000_000, 5_078_125_000));
        let fast_recovery = [7_539_062_500, 8_769_531_250, 9_384_765_625, 9_692_382_812, 9_846_191_406];
        for expected in fast_recovery {
            cycles(&mut rp, 1);
            assert_eq!(rates(&rp), (10_000_000_000, expected));
        }
        let active =
            [(10_005_000_000, 9_925_595_703), (10_010_000_000, 9_967_797_851), (10_015_000_000, 9_991_398_925)];
        for expected in active {
            cycles(&mut rp, 1);
            assert_eq!(rates(&rp), expected);
        }
    }

    /// The vector's 4284.66796875 Mb/s is 5078.125 × (1 − 20/128), exactly 4 284 667 968.75 bit/s.
    #[test]
    fn golden_vector_2_extra_fast_recovery() {
        let mut rp = rp(&config("pan-10g", &[]), BitRate::from_gbps(10));
        notify(&mut rp, 63);
        rp.on_send(AT, FRAME, &mut Middle, &mut Sent::default());
        notify(&mut rp, 20);
        assert_eq!(rates(&rp), (10_000_000_000, 4_284_667_968));
        assert!(alloc::format!("{rp:?}").contains("byte_count: 148500"), "the byte counter is untouched");
        cycles(&mut rp, 1);
        notify(&mut rp, 20);
        assert_eq!(rates(&rp).0, 7_142_333_984, "after a cycle the target is the rate before the cut");
    }

    #[test]
    fn golden_vector_3_target_rate_reduction() {
        for (trr, expected_target) in [("first-cycle", 1_250_000_000), ("off", 10_000_000_000)] {
            let floor = [("trr", choice(trr)), ("rpg_min_rate", mbps(500)), ("gd_inverse", count(64))];
            let mut rp = rp(&config("pan-10g", &floor), BitRate::from_gbps(10));
            // 5000, 2500, 1250, 625, and then the least rate.
            for _ in 0..5 {
                notify(&mut rp, 63);
            }
            assert_eq!(rates(&rp), (10_000_000_000, 500_000_000));
            cycles(&mut rp, 1);
            assert_eq!(rates(&rp), (expected_target, (expected_target + 500_000_000) / 2), "{trr}");
        }
    }

    #[test]
    fn golden_vector_5_at_one_gigabit() {
        let mut rp = rp(&config("", &[]), BitRate::from_gbps(1));
        notify(&mut rp, 25);
        assert_eq!(rates(&rp).1, 804_687_500);
    }

    #[test]
    fn limiters_come_and_go() {
        let line = BitRate::from_gbps(10);
        let below = Cnm { fb: QntzFb::from_steps(5), cp: CpId(1), q_off: -64, q_delta: 4000 };
        for (create, made) in [("above-set-point", false), ("any", true), ("always", true)] {
            let mut rp = rp(&config("", &[("rl_create", choice(create)), ("rl_release", choice("never"))]), line);
            assert_eq!(rp.installed(), create == "always");
            rp.on_signal(AT, FRAME.flow, below, &mut Middle, &mut Sent::default());
            assert_eq!(rp.installed(), made, "{create}: the queue grows, but is below the set point");
            assert_eq!(rates(&rp).1 < line.0, made);
        }
        let mut rp = rp(&config("", &[]), line);
        notify(&mut rp, 1);
        assert!(rp.installed());
        cycles(&mut rp, 6); // five of Fast Recovery, one of Active Increase: past the line rate
        assert_eq!(rates(&rp).1, line.0);
        assert!(rp.installed(), "it is released when a frame is sent");
        rp.on_send(AT, FRAME, &mut Middle, &mut Sent::default());
        assert!(!rp.installed());
        assert_eq!(rp.due(), None);
    }

    #[test]
    fn idle_limiters_go() {
        let mut rp =
            rp(&config("", &[("rl_release", choice("idle")), ("rl_idle_time", us(1000))]), BitRate::from_gbps(1));
        notify(&mut rp, 63);
        let idle = AT + Duration::from_us(1000);
        assert_eq!(rp.due(), Some(idle));
        rp.on_timeout(idle, &mut Middle, &mut Sent::default());
        assert!(!rp.installed());
        assert_eq!(rates(&rp).1, 1_000_000_000);
    }

    fn arrive(cp: &mut Cp, len: u64, fate: Fate) -> Option<Cnm> {
        let mut sent = Sent::default();
        let queue = Queue { len: Octets(len), ..Queue::default() };
        let mut tag = ();
        let frame = frame_of(FlowKey(7), AT, &mut tag);
        cp.on_arrival(AT, frame, fate, &queue, &mut Middle, &mut sent);
        sent.0.first().map(|&(to, cnm)| {
            assert_eq!(to, To::Source(FlowKey(7)));
            cnm
        })
    }

    fn cp(changes: &[(&str, crate::Value)]) -> Cp {
        let place = Place {
            cp: CpId::new(0xaa, 0, 1),
            line: BitRate::from_gbps(10),
            capacity: Octets(150_000),
            phase: Duration::ZERO,
        };
        <Cp as CongestionPoint<Qcn>>::new(&config("", changes), place)
    }

    /// standards.md B2: set point 26 000, length 52 000, old length 39 000, w = 2.
    #[test]
    fn a_notification_says_what_the_queue_does() {
        let mut cp = cp(&[("sampling", choice("every-frame"))]);
        let early = arrive(&mut cp, 13_000, Fate::Queued).expect("-13 000 + 2 × 13 000 is congestion, for it grows");
        assert_eq!((early.fb.steps(), early.q_off), (6, -13_000));
        assert!(arrive(&mut cp, 39_000, Fate::Queued).is_some());
        let cnm = arrive(&mut cp, 52_000, Fate::Queued).expect("congested");
        assert_eq!((cnm.fb.steps(), cnm.q_off, cnm.q_delta), (25, 26_000, 13_000));
        assert_eq!(cnm.cp, CpId::new(0xaa, 0, 1));
    }

    #[test]
    fn options_of_the_congestion_point() {
        let every = ("sampling", choice("every-frame"));
        // Growth refers to the last sample, or to the last message.
        for (update, q_delta) in [("every-sample", 10_000), ("last-sent", 30_000)] {
            let mut cp = cp(&[every, ("qold_update", choice(update)), ("w", real(0.2))]);
            for quiet in [0, 10_000, 20_000] {
                assert_eq!(arrive(&mut cp, quiet, Fate::Queued), None);
            }
            assert_eq!(arrive(&mut cp, 30_000, Fate::Queued).map(|cnm| cnm.q_delta), Some(q_delta));
        }
        // |Fb| = 1000 of 130 000 quantises to 0.
        for (on, sent) in [(false, false), (true, true)] {
            let mut cp = cp(&[every, ("send_qf0", switch(on)), ("w", real(0.0))]);
            assert_eq!(arrive(&mut cp, 26_300, Fate::Queued).is_some(), sent);
        }
        for (on, sent) in [(false, false), (true, true)] {
            let mut cp = cp(&[every, ("sample_dropped", switch(on))]);
            assert_eq!(arrive(&mut cp, 150_000, Fate::Dropped).is_some(), sent);
        }
    }

    /// From an empty queue to 52 000: 26 000 + 2 × 52 000 is |Fb|max. With a set point of 39 000 then 13 000 is left, 63 × 13 000 /
    /// 195 000 = 4.2; with 26 000 it would be 63 × 26 000 / 130 000 = 12.6.
    #[test]
    fn a_set_point_that_changes_counts_from_the_next_sample_on() {
        let every = ("sampling", choice("every-frame"));
        let mut cp = cp(&[every]);
        assert_eq!(arrive(&mut cp, 52_000, Fate::Queued).map(|cnm| cnm.fb.steps()), Some(63));
        cp.configure(&config("", &[every, ("q_eq", octets(39_000))]).cp);
        let cnm = arrive(&mut cp, 52_000, Fate::Queued).expect("congested");
        assert_eq!((cnm.fb.steps(), cnm.q_off, cnm.q_delta), (4, 13_000, 0));
    }

    #[test]
    fn a_limiter_keeps_its_rates_and_ends_its_cycles() {
        let line = BitRate::from_gbps(10);
        let mut rp = rp(&config("", &[]), line);
        let configure =
            |rp: &mut Rp, changes: &[(&str, crate::Value)]| rp.configure(config("", changes).rate_limiter(line));
        configure(&mut rp, &[("rpg_max_rate", mbps(8_000))]);
        assert_eq!(rates(&rp).1, 8_000_000_000, "without a limiter it is as a new one");
        configure(&mut rp, &[]);
        notify(&mut rp, 63);
        for _ in 0..50 {
            rp.on_send(AT, FRAME, &mut Middle, &mut Sent::default());
        }
        let reset = [("rpg_byte_reset", octets(30_000)), ("rpg_time_reset", us(1000)), ("rpg_min_rate", mbps(6_000))];
        configure(&mut rp, &reset);
        assert_eq!(rates(&rp), (10_000_000_000, 6_000_000_000), "5.078125 Gb/s is below the new least rate");
        assert_eq!(rp.due(), Some(AT + Duration::from_us(15_000)));
        let sent = |rp: &mut Rp| {
            let stage = rp.byte_stage();
            let frame = |rp: &mut Rp| rp.on_send(AT, FRAME, &mut Middle, &mut Sent::default());
            (1..).find(|_| {
                frame(rp);
                rp.byte_stage() > stage
            })
        };
        assert_eq!(sent(&mut rp), Some(51), "75 000 octets of 150 000 are left");
        assert_eq!(rates(&rp).1, 8_000_000_000);
        assert_eq!(sent(&mut rp), Some(21), "and then 30 000");
        assert_eq!(rates(&rp).1, 9_000_000_000);
        configure(&mut rp, &[("timer_on", switch(false)), ("rpg_max_rate", mbps(8_500))]);
        assert_eq!((rp.due(), rates(&rp).1), (None, 8_500_000_000));
    }
}
