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
    let clocks = 10_000_000;
    let mut random = Random::new(1);
    let mut core = Core::new(7);
    core.clock(&In { rst_i: true, ..In::default() });
    let mut bucket = TokenBucket::new(Octets(3000), Duration(16_000_000), BitRate(500_000), BitRate(0));

    let (mut rate, mut seen, mut free_at) = (0u64, 0u64, 0);
    let mut coming = VecDeque::new();
    let mut octets = 84;
    for clock in 0..clocks {
        let now = clock * CLOCK_PS;
        if random.one_in(300) {
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
        assert_eq!((out.ready_o, u64::from(out.tokens_o)), (ready, bucket.octets()), "in clock {clock}");
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
