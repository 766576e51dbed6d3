//! Properties of the parts that BCN, FECN and E-FECN are made of, over random inputs.

use penstock_schemes::parts::ecm::{Bcn, Ecm, Limiter};
use penstock_schemes::parts::explicit_rate::{Averaging, CapacityOf, ExplicitRate, Probe, RateAllocator, Sharing};
use penstock_schemes::parts::regulators::{Regulators, Start};
use penstock_schemes::*;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const MS: u64 = 1_000_000_000;
const LINE: BitRate = BitRate::from_gbps(10);

struct Words(u32);

impl Draw for Words {
    fn draw(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.0
    }
}

fn ecm() -> Ecm {
    let Some(SchemeConfig::Bcn(config)) = SchemeConfig::with_defaults("bcn") else { panic!("it is listed") };
    config
}

fn explicit_rate() -> ExplicitRate {
    let Some(SchemeConfig::Fecn(config)) = SchemeConfig::with_defaults("fecn") else { panic!("it is listed") };
    config.rates
}

/// The number of cases: `usual`, or the value of PROPTEST_CASES in the environment.
fn cases(usual: u32) -> u32 {
    std::env::var("PROPTEST_CASES").map_or(usual, |n| n.parse().expect("PROPTEST_CASES is a number"))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(96),
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    })]

    /// In any sequence of calls the rate is zero or within [Rmin, line]; only a positive message of the associated
    /// point, the drift and the end of a stop raise it.
    #[test]
    fn an_ecm_limiter_keeps_its_bounds(
        messages in prop::collection::vec((0..3u64, -2000..2000i32, -2000..2000i32, 0..2_000_000u64), 1..200),
        drift: bool,
        seed: u32,
    ) {
        let config = Ecm { drift, ..ecm() };
        let (mut limiter, mut words, mut now) = (Limiter::new(&config, LINE), Words(seed), Instant::ZERO);
        for (cp, q_off, q_delta, wait_ns) in messages {
            now += Duration(wait_ns * 1000);
            limiter.on_timeout(now, &mut words);
            let (before, tag) = (limiter.rate(), limiter.tag());
            limiter.on_message(now, Bcn { cp: CpId(cp), q_off, q_delta }, &mut words);
            let rate = limiter.rate();
            prop_assert!(rate == 0 || (config.rmin.0..=LINE.0).contains(&rate), "{rate}");
            let positive = i64::from(q_off) + 2 * i64::from(q_delta) < 0;
            if rate > before {
                prop_assert!(positive && tag.0 == Some(CpId(cp)), "{before} to {rate}");
            }
            prop_assert!(limiter.limiting() || rate == LINE.0);
        }
    }

    /// N greedy sources that take the advertised rate at once share the line: the rate comes to C/N within 2 %, and the
    /// queue to less than 2 Qeq, from any N and any start.
    #[test]
    fn an_allocator_finds_the_fair_rate(
        n in 1..40u32,
        n0 in 1..100u32,
        always: bool,
    ) {
        let averaging = if always { Averaging::Always } else { Averaging::Off };
        let config = ExplicitRate { averaging, capacity: CapacityOf::Line, ..explicit_rate() };
        let place = Place { cp: CpId(1), line: LINE, capacity: Octets(150_000), phase: Duration::ZERO };
        let mut allocator = RateAllocator::new(&config, place, n0);
        // Frames come evenly at n times the rate that the last tick gave; the queue loses 1250 octets a us.
        let (mut at, mut last, mut queue) = (0_u64, 0_u64, 0_u64);
        for tick in (1..=400).map(|ms| ms * MS) {
            let gap = 1500 * 8 * 1_000_000_000_000 / (u64::from(n) * allocator.rate());
            while at < tick {
                queue = queue.saturating_sub((at - last) * 1250 / 1_000_000);
                last = at;
                let fate = if queue + 1500 > 150_000 { Fate::Dropped } else { Fate::Queued };
                if fate == Fate::Queued {
                    queue += 1500;
                }
                allocator.on_arrival(Instant(at), 1500, fate);
                at += gap;
            }
            let seen = Queue { len: Octets(queue), frames: 1, rate: LINE, ..Queue::default() };
            allocator.on_timeout(Instant(tick), &seen);
        }
        let fair = LINE.0 as f64 / f64::from(n);
        prop_assert!((allocator.rate() as f64 / fair - 1.0).abs() < 0.02, "{} of {fair}", allocator.rate());
        prop_assert!(queue < 48_000, "{queue}");
    }

    /// In any sequence of calls all regulators together hold no more than the line rate. There are never more of them
    /// than flows or (shared) than congestion points and one. Each lets its frames go no faster than its rate.
    #[test]
    fn regulators_keep_their_bounds(
        calls in prop::collection::vec((0..4u8, 0..6u32, 0..3u64, 1..12_000u64, 0..200u64), 1..200),
        shared: bool,
        free: bool,
    ) {
        let regulators = if shared { Sharing::PerCongestionPoint } else { Sharing::PerFlow };
        let config = ExplicitRate { regulators, ..explicit_rate() };
        let start = if free { Start::Free } else { Start::Regulated(20) };
        let (mut r, mut words, mut now) = (Regulators::new(&config, LINE, start), Words(1), Instant::ZERO);
        let mut known = std::collections::BTreeSet::new();
        for (round, (call, flow, cp, mbps, wait_us)) in (1..).zip(calls) {
            now += Duration::from_us(wait_us);
            r.on_timeout(now, &mut words, |_, _| ());
            prop_assert!(r.next_timeout().is_none_or(|at| at > now), "after a timeout the next one lies ahead");
            let flow = FlowKey(flow);
            match call {
                0 => {
                    r.on_start(now, flow);
                    known.insert(flow);
                }
                1 => {
                    let rate = Some(BitRate::from_mbps(mbps));
                    r.on_probe(now, flow, Probe { round, rate, cp: CpId(cp + 1), returned: true });
                }
                2 if known.contains(&flow) => r.on_bcn00(now, flow, CpId(cp + 1)),
                _ => {
                    // One frame may be made good; the one after it waits, 12 000 bits at 10 Gb/s or less.
                    for _ in 0..2 {
                        let at = r.admits(now, flow);
                        prop_assert!(at >= now);
                        now = at;
                        r.on_send(now, Release { flow, octets: 1500, seq: Octets(0), last: false });
                    }
                    if known.len() > 1 && known.contains(&flow) && !free {
                        prop_assert!(r.admits(now, flow) >= now + Duration(1_200_000));
                    }
                }
            }
            let mut row = [0; 2];
            r.vars(&mut row);
            prop_assert!(row[0] <= if shared { 4 } else { row[1] }, "{row:?}");
            prop_assert!(r.rate() <= LINE.0);
            prop_assert!(r.limiting() || r.rate() == LINE.0);
        }
    }
}
