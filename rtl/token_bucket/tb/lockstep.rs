//! The token bucket against the one of the simulator, in every clock.

use std::collections::VecDeque;

use penstock_cosim::{
    Random, operations,
    token_bucket::{Core, In},
    vectors::{self, Recorder},
};
use penstock_schemes::{BitRate, Duration, Octets};
use penstock_sim::pacer::TokenBucket;

const CLOCK_PS: u64 = 8_000;
/// Clocks from one refill to the next.
const REFILL: u64 = 2_000;
/// Clocks from the one in which a rate is seen to the next in which one can be.
const DIVISION: u64 = 17;
/// Clocks from the one in which a rate is seen to the first whose refill it counts for.
const LATENCY: u64 = DIVISION + 1;
const EPISODES: u64 = 400;
const CLOCKS: u64 = 25_000;

/// The core and the simulator's bucket side by side.
struct Bench {
    core: Core,
    bucket: TokenBucket,
    /// Clocks since the reset, if there was one.
    clock: Option<u64>,
    /// The last rate that was seen, and from when on another can be.
    seen: u64,
    free_at: u64,
    /// When rates begin to count.
    coming: VecDeque<(u64, u64)>,
}

/// As it is after a reset: full, and at rate 0.
fn bucket() -> TokenBucket {
    TokenBucket::new(Octets(3000), Duration(REFILL * CLOCK_PS), BitRate(500_000), BitRate(0))
}

impl Bench {
    fn new(seed: u64) -> Self {
        Self { core: Core::new(seed), bucket: bucket(), clock: None, seen: 0, free_at: 0, coming: VecDeque::new() }
    }

    fn clock(&mut self, input: &In) {
        let out = self.core.clock(input);
        if let Some(clock) = self.clock {
            let now = clock * CLOCK_PS;
            if self.coming.front().is_some_and(|&(at, _)| at == clock) {
                let (_, rate) = self.coming.pop_front().expect("there is one");
                self.bucket.set_rate(now, BitRate(rate));
            }
            let octets = input.octets_i.into();
            let ready = self.bucket.ready(now, octets) == now;
            assert_eq!(
                (out.ready_o, u64::from(out.tokens_o)),
                (ready, self.bucket.octets()),
                "in clock {clock} after the reset"
            );
            if ready && input.take_i {
                self.bucket.take(now, octets);
            }
            // The division takes one rate at a time.
            if clock >= self.free_at && input.rate_i != self.seen {
                (self.seen, self.free_at) = (input.rate_i, clock + DIVISION);
                self.coming.push_back((clock + LATENCY, input.rate_i));
            }
        }
        self.clock = self.clock.map(|clock| clock + 1);
        if input.rst_i {
            self.bucket = bucket();
            (self.clock, self.seen, self.free_at) = (Some(0), 0, 0);
            self.coming.clear();
        }
    }
}

#[test]
fn follows_the_simulators_bucket() {
    for vector in vectors::kept("token_bucket", "token_bucket") {
        let mut bench = Bench::new(vector.seed);
        vector.clocks.iter().for_each(|input| bench.clock(input));
    }
    let mut random = Random::new(1);
    let mut kept = Recorder::new("token_bucket", "token_bucket");
    let (mut episodes, mut asked) = (0, 0);
    while episodes < EPISODES || asked < operations() {
        episodes += 1;
        let seed = random.next();
        let mut bench = Bench::new(seed);
        kept.begin(seed);
        // The rate stays for three refills, the takes are dense or so rare that the bucket fills.
        let mut rate_i = match random.below(4) {
            0 => 0,
            1 => (1 << 34) - 1,
            _ => random.below(1_000_000_000),
        };
        let seldom = [3, 50, 1_000][random.below(3) as usize];
        let mut octets_i = 84;
        let mut since_reset = 0;
        for clock in 0..CLOCKS {
            let rst_i = clock == 0 || random.one_in(50_000);
            if clock > 3 * REFILL && random.one_in(300) {
                // Anything, or one of the corners; also several in a row.
                rate_i = match random.below(6) {
                    0 => 0,
                    1 => 500_000 * random.below(2001),
                    2 => (500_000 * random.below(2001)).saturating_sub(1),
                    3 => (1 << 34) - 1,
                    _ => random.below(1_000_000_000),
                };
            }
            if random.one_in(50) {
                octets_i = match random.below(8) {
                    0 => random.below(84) as u16,
                    1 => random.word() as u16,
                    _ => 84 + random.below(3000) as u16,
                };
            }
            // A frame goes while a refill comes.
            let refill = since_reset % REFILL == REFILL - 1;
            let take_i = random.one_in(if refill { 2 } else { seldom });
            let input = In { rst_i, rate_i, octets_i, take_i };
            kept.clock(&input);
            bench.clock(&input);
            asked += u64::from(take_i);
            since_reset = if rst_i { 0 } else { since_reset + 1 };
        }
    }
    println!("asked for {asked} frames");
}
