//! The rate calculator against numbers computed by hand.

use super::*;
use crate::units::BitRate;

/// Draws the low end of every jitter.
struct Low;
impl Draw for Low {
    fn draw(&mut self) -> u32 {
        0
    }
}

const GBPS: u64 = 1_000_000_000;

fn rules() -> Rules {
    Rules {
        gd_inverse: 128,
        rpg_min_dec_fac: 50,
        min_rate: 5_000_000,
        max_rate: 10 * GBPS,
        r_ai: 5_000_000,
        r_hai: 50_000_000,
        threshold: 5,
        byte_cycle: ByteCycle::Fixed(150_000),
        time_reset: Some(Duration::from_ms(15)),
        jitter: Spread::new(0.15),
        jitter_rp: JitterRp::Reload,
        decrease_order: DecreaseOrder::Simultaneous,
        fr_cycles: FrCycles::Threshold,
        cycle_halving: CycleHalving::PerCounter,
        hai_multiplier: HaiMultiplier::MinCount,
        ai_hai_sequence: AiHaiSequence::Counters,
        efr: Efr::ByteStage,
        trr: Trr::FirstCycle,
        tr_clamp: false,
    }
}

fn cut(rules: Rules) -> RateCalculator {
    let mut c = RateCalculator::new(rules);
    c.decrease(Instant::ZERO, QntzFb::from_steps(63), &mut Low);
    c
}

/// Ends `byte` cycles of the byte counter and then `time` cycles of the timer.
fn run(c: &mut RateCalculator, byte: u32, time: u32) {
    for _ in 0..byte {
        c.byte_count = 0;
        c.count(1, &mut Low);
    }
    for _ in 0..time {
        c.on_timeout(c.timer, &mut Low);
    }
}

/// The gain of the target rate in the next cycle of the byte counter, in Mb/s.
fn gain(c: &mut RateCalculator) -> u64 {
    let before = c.target_rate;
    run(c, 1, 0);
    (c.target_rate - before) / 1_000_000
}

#[test]
fn phases_follow_the_counters() {
    let mut c = cut(rules());
    run(&mut c, 5, 5);
    assert_eq!((c.byte_stage(), c.time_stage()), (5, 5));
    assert_eq!((c.phase(), c.target_rate), (Phase::FastRecovery, 10 * GBPS));
    run(&mut c, 1, 0);
    assert_eq!((c.phase(), c.target_rate), (Phase::ActiveIncrease, 10 * GBPS + 5_000_000));
    run(&mut c, 0, 1);
    assert_eq!((c.phase(), c.target_rate), (Phase::HyperActiveIncrease, 10 * GBPS + 55_000_000), "i = 6 - 5");
}

#[test]
fn active_increase_can_begin_with_the_fifth_cycle() {
    let mut c = cut(Rules { fr_cycles: FrCycles::ThresholdLessOne, ..rules() });
    run(&mut c, 4, 0);
    assert_eq!(c.target_rate, 10 * GBPS);
    assert_eq!(gain(&mut c), 5);
}

#[test]
fn hai_multipliers() {
    // Seven cycles of each counter (the timer's last, so two cycles in HAI), then one more of the byte counter.
    let expected = [
        (HaiMultiplier::MinCount, 2 * 50),        // min(8, 7) - 5
        (HaiMultiplier::MinCountPlusOne, 3 * 50), // min(8, 7) - 5 + 1
        (HaiMultiplier::Ordinal, 3 * 50),         // the third cycle since HAI began
        (HaiMultiplier::One, 50),
    ];
    for (hai_multiplier, mbps) in expected {
        let mut c = cut(Rules { hai_multiplier, ..rules() });
        run(&mut c, 7, 7);
        assert_eq!(gain(&mut c), mbps, "{hai_multiplier:?}");
    }
}

#[test]
fn serial_phases_need_one_counter_only() {
    let mut c = cut(Rules { ai_hai_sequence: AiHaiSequence::Serial, hai_multiplier: HaiMultiplier::One, ..rules() });
    run(&mut c, 5, 0);
    assert_eq!([gain(&mut c), gain(&mut c), gain(&mut c)], [5, 50, 50]);
}

#[test]
fn cycles_are_halved() {
    let length = |cycle_halving, byte, time| {
        let mut c = cut(Rules { cycle_halving, jitter_rp: JitterRp::Off, ..rules() });
        run(&mut c, 0, time);
        run(&mut c, byte, 0);
        c.byte_count()
    };
    assert_eq!(length(CycleHalving::PerCounter, 4, 0), 150_000);
    assert_eq!(length(CycleHalving::PerCounter, 5, 0), 75_000, "the sixth cycle is the first half one");
    assert_eq!(length(CycleHalving::HaiOnly, 6, 0), 150_000);
    assert_eq!(length(CycleHalving::HaiOnly, 6, 6), 75_000);
    assert_eq!(length(CycleHalving::Never, 6, 6), 150_000);
}

#[test]
fn jitter_of_cycles() {
    // The low end of ±15 %: 150 000 × 55 706 / 65 536, rounded down.
    let lengths = |jitter_rp| {
        let mut c = cut(Rules { jitter_rp, efr: Efr::Off, ..rules() });
        let first = c.byte_count();
        run(&mut c, 1, 0);
        (first, c.byte_count())
    };
    assert_eq!(lengths(JitterRp::Reload), (150_000, 127_500));
    assert_eq!(lengths(JitterRp::Always), (127_500, 127_500));
    assert_eq!(lengths(JitterRp::Off), (150_000, 150_000));
}

#[test]
fn cycles_that_follow_the_rate() {
    let k = Duration::from_us(240);
    let rules = |halved| Rules { byte_cycle: ByteCycle::AtRate { k, halved }, jitter_rp: JitterRp::Off, ..rules() };
    // 10 Gb/s × 240 us = 2 400 000 bits; at the first signal, of the rate before it (Matsushima et al. 2014, algorithm
    // 1).
    let mut c = cut(Rules { efr: Efr::Off, ..rules(true) });
    assert_eq!((c.current_rate, c.byte_count()), (5_078_125_000, 300_000));
    run(&mut c, 1, 0); // 5.078125 Gb/s × 240 us = 1 218 750 bits, from the rate before the increase
    assert_eq!((c.current_rate, c.byte_count()), (7_539_062_500, 152_343));
    c.decrease(Instant::ZERO, QntzFb::from_steps(63), &mut Low); // 7.5390625 Gb/s × 240 us
    assert_eq!(c.byte_count(), 226_171);
    for (halved, expected) in [(true, 145_385), (false, 290_771)] {
        let mut c = cut(rules(halved));
        run(&mut c, 5, 0); // the fifth cycle ends at 9.6923828 Gb/s: 290 771 octets, or half of them
        assert_eq!(c.byte_count(), expected);
    }
}

#[test]
fn cycles_that_follow_the_rate_last_equally_long() {
    // From 1 and from 5 Gb/s down: the octets of a cycle take K at any rate.
    for rate in [1_000_000_000, 5_000_000_000u64] {
        let octets = ByteCycle::AtRate { k: Duration::from_us(240), halved: true }.octets(rate);
        assert_eq!(BitRate(rate).serialisation(octets).0, Duration::from_us(240));
    }
    assert_eq!(ByteCycle::Fixed(150_000).octets(1), 150_000);
}

#[test]
fn extra_fast_recovery() {
    // A second cut after a timer cycle, but no byte-counter cycle: CR was (5078.125 + 10 000) / 2.
    let target = |efr| {
        let mut c = cut(Rules { efr, ..rules() });
        run(&mut c, 0, 1);
        c.decrease(Instant::ZERO, QntzFb::from_steps(1), &mut Low);
        c.target_rate
    };
    assert_eq!(target(Efr::ByteStage), 10 * GBPS);
    assert_eq!(target(Efr::NeitherFired), 7_539_062_500);
    assert_eq!(target(Efr::Off), 7_539_062_500);
    let twice = |efr| {
        let mut c = cut(Rules { efr, ..rules() });
        c.decrease(Instant::ZERO, QntzFb::from_steps(1), &mut Low);
        c.target_rate
    };
    assert_eq!(twice(Efr::NeitherFired), 10 * GBPS);
    assert_eq!(twice(Efr::Off), 5_078_125_000);
}

#[test]
fn target_rate_reduction() {
    let target = |trr| {
        let mut c = cut(Rules { trr, ..rules() });
        (c.current_rate, c.byte_stage, c.time_stage) = (500_000_000, 1, 1);
        run(&mut c, 1, 0); // the second cycle
        c.target_rate
    };
    assert_eq!(target(Trr::FirstCycle), 1_250_000_000, "the timer's stage is 1 still");
    assert_eq!(target(Trr::AnyTime), 1_250_000_000);
    assert_eq!(target(Trr::Off), 10 * GBPS);
    let mut c = cut(Rules { trr: Trr::FirstCycle, ..rules() });
    (c.current_rate, c.byte_stage, c.time_stage) = (500_000_000, 1, 2);
    run(&mut c, 1, 0);
    assert_eq!(c.target_rate, 10 * GBPS, "neither counter is in its first cycle");
    let mut c = cut(rules());
    (c.current_rate, c.target_rate) = (GBPS, 10 * GBPS);
    run(&mut c, 1, 0);
    assert_eq!(c.target_rate, 10 * GBPS, "ten times the rate is not above ten times");
}

#[test]
fn order_of_decrease_and_clamp() {
    let mut c = cut(Rules { decrease_order: DecreaseOrder::Printed, efr: Efr::Off, ..rules() });
    assert_eq!(c.target_rate, c.current_rate);
    run(&mut c, 1, 0);
    assert_eq!(c.current_rate, 5_078_125_000, "Fast Recovery recovers nothing");
    let mut c = cut(Rules { tr_clamp: true, ..rules() });
    run(&mut c, 20, 20);
    assert_eq!(c.target_rate, 10 * GBPS);
}

#[test]
fn rates_stay_within_their_bounds() {
    let mut c = RateCalculator::new(Rules { gd_inverse: 64, rpg_min_dec_fac: 1, ..rules() });
    for _ in 0..3 {
        c.decrease(Instant::ZERO, QntzFb::from_steps(63), &mut Low);
    }
    assert_eq!(c.current_rate, 5_000_000, "10 Gb/s × 1/64, thrice, is below the least rate");
    run(&mut c, 100, 100);
    assert_eq!(c.current_rate, 10 * GBPS);
}

#[test]
fn a_decrease_leaves_a_share_of_the_rate() {
    // With Gd = 1/64 the largest Fb would leave 1/64 of 10 Gb/s; rpgMinDecFac leaves 50 %.
    let mut c = RateCalculator::new(Rules { gd_inverse: 64, ..rules() });
    c.decrease(Instant::ZERO, QntzFb::from_steps(63), &mut Low);
    assert_eq!(c.current_rate, 5 * GBPS);
}

#[test]
fn without_timer_nothing_times_out() {
    let mut c = cut(Rules { time_reset: None, ..rules() });
    assert_eq!(c.next_timeout(), None);
    c.on_timeout(Instant(u64::MAX - 1), &mut Low);
    assert_eq!(c.time_stage(), 0);
}

#[test]
fn recovery_halves_the_difference_to_the_bit() {
    // Two odd rates: (5 000 001 + 9 999 999 999) / 2.
    let mut c = cut(rules());
    (c.current_rate, c.target_rate, c.byte_stage, c.time_stage) = (5_000_001, 9_999_999_999, 1, 1);
    c.rules.trr = Trr::Off;
    run(&mut c, 1, 0);
    assert_eq!(c.current_rate, 5_002_500_000);
}

/// 5.078125 Gb/s after the strongest cut, below the new least rate; stages and cycles go on.
#[test]
fn rules_change_and_counters_go_on() {
    let mut c = cut(rules());
    run(&mut c, 0, 1);
    let (timer, byte_count) = (c.timer, c.byte_count);
    assert_eq!((c.current_rate, timer > Instant(15_000_000_000)), (7_539_062_500, true));
    let faster = Rules {
        min_rate: 8 * GBPS,
        byte_cycle: ByteCycle::Fixed(3000),
        time_reset: Some(Duration::from_ms(1)),
        ..rules()
    };
    c.configure(faster);
    assert_eq!((c.current_rate, c.target_rate, c.time_stage), (8 * GBPS, 10 * GBPS, 1));
    assert_eq!((c.timer, c.byte_count), (timer, byte_count));
    c.configure(Rules { time_reset: None, max_rate: 9 * GBPS, tr_clamp: true, ..faster });
    assert_eq!((c.time_stage, c.next_timeout(), c.target_rate), (0, None, 9 * GBPS));
    c.configure(faster);
    assert_eq!(c.next_timeout(), None, "the next signal starts it");
}
