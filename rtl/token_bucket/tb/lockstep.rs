//! The token bucket against the one of the simulator, in every clock.

use penstock_cosim::bucket::{Bucket, REFILL};
use penstock_cosim::{
    Random, operations,
    token_bucket::{Core, In},
    vectors::{self, Recorder},
};

const EPISODES: u64 = 80;
const CLOCKS: u64 = 25_000;

/// The core and the simulator's bucket side by side; none before the first reset.
struct Bench {
    core: Core,
    bucket: Option<Bucket>,
}

impl Bench {
    fn new(seed: u64) -> Self {
        Self { core: Core::new(seed), bucket: None }
    }

    fn clock(&mut self, input: &In) {
        let out = self.core.clock(input);
        if let Some(bucket) = &mut self.bucket {
            let octets = input.octets_i.into();
            let shown = bucket.shows(octets);
            assert_eq!((out.ready_o, u64::from(out.tokens_o)), shown, "{input:?}, {bucket:?}");
            bucket.clock(input.rate_i, Some(octets).filter(|_| shown.0 && input.take_i));
        }
        if input.rst_i {
            self.bucket = Some(Bucket::default());
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

/// A full bucket, and in the clock of a refill a frame as long as the refill, or some octets shorter or longer. With
/// the rest the bucket is just full, or runs over, or does not.
#[test]
fn a_frame_of_a_refills_length_goes_with_the_refill() {
    for gift in [3, 100, 1_234, 2_000, 2_998] {
        for octets_i in gift - 3..=gift + 2 {
            let mut bench = Bench::new(u64::from(octets_i));
            let rate_i = 500_000 * u64::from(gift);
            bench.clock(&In { rst_i: true, rate_i, octets_i, take_i: false });
            for clock in 0..REFILL + 2 {
                bench.clock(&In { rst_i: false, rate_i, octets_i, take_i: clock == REFILL - 1 });
            }
        }
    }
}
