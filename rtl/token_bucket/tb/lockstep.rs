//! The token bucket against the one of the simulator, in every clock.

use std::collections::VecDeque;

use penstock_cosim::{
    Random,
    token_bucket::{Core, In},
};
use penstock_schemes::{BitRate, Duration, Octets};
use penstock_sim::pacer::TokenBucket;

const CLOCK_PS: u64 = 8_000;
/// Clocks from the one in which a rate is seen to the next in which one can be.
const DIVISION: u64 = 17;
/// Clocks from the one in which a rate is seen to the first whose refill it counts for.
const LATENCY: u64 = DIVISION + 1;

#[test]
fn follows_the_simulators_bucket() {
    let mut random = Random::new(1);
    let mut core = Core::new(7);
    for run in 0..400 {
        core.clock(&In { rst_i: true, octets_i: random.word() as u16, take_i: true, ..In::default() });
        let first = match random.below(4) {
            0 => 0,
            1 => (1 << 34) - 1,
            _ => random.below(1_000_000_000),
        };
        compare(&mut core, &mut random, first, 25_000, run);
    }
}

/// Runs core and bucket side by side for so many clocks after a reset. The rate is `first` for three refills.
fn compare(core: &mut Core, random: &mut Random, first: u64, clocks: u64, run: u32) {
    let mut bucket = TokenBucket::new(Octets(3000), Duration(16_000_000), BitRate(500_000), BitRate(0));
    let (mut rate, mut seen, mut free_at) = (first, 0u64, 0);
    let mut coming = VecDeque::new();
    let mut octets = 84;
    for clock in 0..clocks {
        let now = clock * CLOCK_PS;
        if clock > 6_000 && random.one_in(300) {
            // Anything, or one of the corners; also several in a row.
            rate = match random.below(6) {
                0 => 0,
                1 => 500_000 * random.below(2001),
                2 => (500_000 * random.below(2001)).saturating_sub(1),
                3 => (1 << 34) - 1,
                _ => random.below(1_000_000_000),
            };
        }
        if coming.front().is_some_and(|&(at, _)| at == clock) {
            let (_, value) = coming.pop_front().expect("there is one");
            bucket.set_rate(now, BitRate(value));
        }
        if random.one_in(50) {
            octets = 84 + random.below(3000) as u16;
        }
        let offered = random.one_in(3);
        let ready = bucket.ready(now, octets.into()) == now;
        let out = core.clock(&In { rst_i: false, rate_i: rate, octets_i: octets, take_i: offered });
        let (shown, expected) = ((out.ready_o, u64::from(out.tokens_o)), (ready, bucket.octets()));
        assert_eq!(shown, expected, "in clock {clock} of run {run}");
        if ready && offered {
            bucket.take(now, octets.into());
        }
        // The division takes one rate at a time.
        if clock >= free_at && rate != seen {
            (seen, free_at) = (rate, clock + DIVISION);
            coming.push_back((clock + LATENCY, rate));
        }
    }
}
