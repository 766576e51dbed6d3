//! The token bucket against the one of the simulator, in every clock.

use penstock_cosim::bucket::{Bucket, REFILL, Shape};
use penstock_cosim::{
    Random, operations,
    token_bucket::{Core, In, Out},
    vectors::{self, Recorder},
};

const EPISODES: u64 = 80;
const CLOCKS: u64 = 25_000;

/// A bucket of 1.024 us and steps of 7.8125 Mb/s, an octet each.
const fn fast(refill_clocks: u64, depth: u64, rate_bits: u64) -> Shape {
    Shape { refill_clocks, refill_ps: 1_024_000, depth, granularity: 7_812_500, rate_bits }
}

/// A core, by its `clock`, and the simulator's bucket side by side; none before the first reset.
struct Bench<C> {
    core: C,
    clock: fn(&mut C, &In) -> Out,
    shape: Shape,
    bucket: Option<Bucket>,
}

impl<C> Bench<C> {
    fn clock(&mut self, input: &In) {
        let out = (self.clock)(&mut self.core, input);
        if let Some(bucket) = &mut self.bucket {
            let octets = input.octets_i.into();
            let shown = bucket.shows(octets);
            assert_eq!((out.ready_o, u64::from(out.tokens_o)), shown, "{input:?}, {bucket:?}");
            bucket.clock(input.rate_i, Some(octets).filter(|_| shown.0 && input.take_i));
        }
        if input.rst_i {
            self.bucket = Some(Bucket::new(self.shape));
        }
    }
}

/// A build at the rates of its line, in steps of its granularity and between them.
fn follows<C>(name: &'static str, new: impl Fn(u64) -> Bench<C>, line_rate: u64, episodes: u64, seed: u64) {
    for vector in vectors::kept("token_bucket", name) {
        let mut bench = new(vector.seed);
        vector.clocks.iter().for_each(|input| bench.clock(input));
    }
    let mut random = Random::new(seed);
    let mut kept = Recorder::new("token_bucket", name);
    let Shape { refill_clocks, granularity, depth, rate_bits, .. } = new(0).shape;
    let (steps, most) = (line_rate / granularity + 1, (1 << rate_bits) - 1);
    let (mut past, mut asked) = (0, 0);
    while past < episodes || asked < operations() {
        past += 1;
        let seed = random.next();
        let mut bench = new(seed);
        kept.begin(seed);
        // The rate stays for three refills, the takes are dense or so rare that the bucket fills.
        let mut rate_i = match random.below(4) {
            0 => 0,
            1 => most,
            _ => random.below(line_rate),
        };
        let seldom = [3, 50, 1_000][random.below(3) as usize];
        let mut octets_i = 84;
        let mut since_reset = 0;
        for clock in 0..CLOCKS {
            let rst_i = clock == 0 || random.one_in(50_000);
            if clock > 3 * refill_clocks && random.one_in(300) {
                // Anything, or one of the corners; also several in a row.
                rate_i = match random.below(6) {
                    0 => 0,
                    1 => granularity * random.below(steps),
                    2 => (granularity * random.below(steps)).saturating_sub(1),
                    3 => most,
                    _ => random.below(line_rate),
                };
            }
            if random.one_in(50) {
                octets_i = match random.below(8) {
                    0 => random.below(84) as u16,
                    1 => random.word() as u16,
                    _ => 84 + random.below(depth.min(60_000)) as u16,
                };
            }
            // A frame goes while a refill comes.
            let refill = since_reset % refill_clocks == refill_clocks - 1;
            let take_i = random.one_in(if refill { 2 } else { seldom });
            let input = In { rst_i, rate_i, octets_i, take_i };
            kept.clock(&input);
            bench.clock(&input);
            asked += u64::from(take_i);
            since_reset = if rst_i { 0 } else { since_reset + 1 };
        }
    }
    println!("{name}: asked for {asked} frames");
}

macro_rules! follows {
    ($name:ident, $core:ident, $shape:expr, $line_rate:expr, $episodes:expr, $seed:expr) => {
        #[test]
        fn $name() {
            use penstock_cosim::$core::Core;
            let new = |seed| Bench {
                core: Core::new(seed),
                clock: |core, input| core.clock(input),
                shape: $shape,
                bucket: None,
            };
            follows(stringify!($core), new, $line_rate, $episodes, $seed);
        }
    };
}

follows!(follows_the_simulators_bucket, token_bucket, Shape::PAPER, 1_000_000_000, EPISODES, 1);
follows!(at_10_gbps, token_bucket_10g, fast(160, 4_096, 34), 10_000_000_000, EPISODES / 8, 2);
follows!(at_25_gbps, token_bucket_25g, fast(400, 8_192, 40), 25_000_000_000, EPISODES / 8, 3);
follows!(at_100_gbps, token_bucket_100g, fast(330, 16_384, 40), 100_000_000_000, EPISODES / 8, 4);
follows!(at_400_gbps, token_bucket_400g, fast(330, 65_535, 40), 400_000_000_000, EPISODES / 8, 5);

/// A full bucket, and in the clock of a refill a frame as long as the refill, or some octets shorter or longer. With
/// the rest the bucket is just full, or runs over, or does not.
#[test]
fn a_frame_of_a_refills_length_goes_with_the_refill() {
    for gift in [3, 100, 1_234, 2_000, 2_998] {
        for octets_i in gift - 3..=gift + 2 {
            let core = Core::new(u64::from(octets_i));
            let clock: fn(&mut Core, &In) -> Out = |core, input| core.clock(input);
            let mut bench = Bench { core, clock, shape: Shape::PAPER, bucket: None };
            let rate_i = 500_000 * u64::from(gift);
            bench.clock(&In { rst_i: true, rate_i, octets_i, take_i: false });
            for clock in 0..REFILL + 2 {
                bench.clock(&In { rst_i: false, rate_i, octets_i, take_i: clock == REFILL - 1 });
            }
        }
    }
}
