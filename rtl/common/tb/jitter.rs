//! The jitter unit against `parts/jitter.rs`, in every clock.

use penstock_cosim::{
    Random,
    jitter::{Core, In},
    operations,
    vectors::{self, Recorder},
};
use penstock_schemes::parts::jitter::Spread;

/// Clocks from the start to the value.
const LATENCY: u64 = 50;
const EPISODES: u64 = 200;
const CLOCKS: u64 = 10_000;

/// The unit, and the answers expected of it.
struct Bench {
    core: Core,
    clock: u64,
    /// When the value that is worked on is due, and the value.
    due: Option<(u64, u64)>,
    /// The outputs, from a value that is done to the next start.
    shown: Option<u64>,
    /// Values that were done.
    values: u64,
}

impl Bench {
    fn new(seed: u64) -> Self {
        Self { core: Core::new(seed), clock: 0, due: None, shown: None, values: 0 }
    }

    fn clock(&mut self, input: &In) {
        let out = self.core.clock(input);
        let done = self.due.take_if(|(at, _)| *at == self.clock);
        if let Some((_, value)) = done {
            self.shown = Some(value);
            self.values += 1;
            assert_eq!(out.none_o, value == 0, "clock {}: {input:?}", self.clock);
        }
        // Before the first reset it may say anything.
        if self.clock > 0 {
            assert_eq!(out.done_o, done.is_some(), "clock {}", self.clock);
        }
        if let Some(value) = self.shown {
            assert_eq!(u64::from(out.value_o), value, "clock {}: {input:?}", self.clock);
        }
        if input.rst_i || input.start_i {
            (self.due, self.shown) = (None, None);
        }
        if input.start_i && !input.rst_i {
            let spread = Spread::new(f64::from(input.spread_i) / 65_536.0);
            self.due = Some((self.clock + LATENCY, spread.apply(input.base_i.into(), input.word_i)));
        }
        self.clock += 1;
    }
}

#[test]
fn equals_the_simulators() {
    for vector in vectors::kept("common", "jitter") {
        let mut bench = Bench::new(vector.seed);
        vector.clocks.iter().for_each(|input| bench.clock(input));
    }
    let mut random = Random::new(1);
    let mut kept = Recorder::new("common", "jitter");
    let (mut episodes, mut values) = (0, 0);
    while episodes < EPISODES || values < operations() {
        episodes += 1;
        // Registers begin with anything.
        let seed = random.next();
        let mut bench = Bench::new(seed);
        kept.begin(seed);
        let (mut base_i, mut wait) = (0, 0);
        for clock in 0..CLOCKS {
            let rst_i = clock == 0 || random.one_in(1000);
            let start_i = wait == 0;
            if start_i {
                base_i = match random.below(8) {
                    0 => 0,
                    1 => (1 << 24) - 1,
                    2 => random.below(16) as u32,
                    3 => 150_000,
                    _ => random.below(1 << 24) as u32,
                };
                // Now and then it begins again, mostly it has the time, or more.
                wait = if random.one_in(50) { 1 + random.below(LATENCY) } else { LATENCY + random.below(4) };
            }
            wait -= 1;
            // They are taken with the start.
            let spread_i = match random.below(6) {
                0 => 0,
                1 => u16::MAX,
                2 => 9830,
                _ => random.below(1 << 16) as u16,
            };
            let word_i = match random.below(8) {
                0 => 0,
                1 => u32::MAX,
                2 => 1 << 31,
                3 => (1 << 31) - 1,
                _ => random.word(),
            };
            let input = In { rst_i, start_i, base_i, spread_i, word_i };
            kept.clock(&input);
            bench.clock(&input);
        }
        values += bench.values;
    }
    println!("{values} values");
}

/// The addend is the smallest fraction short of a whole number, below 0 and above: any excess in a row shows.
#[test]
fn a_value_just_below_a_whole_number_is_rounded_down() {
    for place in 1..=23 {
        for word_i in [(1 << 31) + (1 << (31 - place)), (1 << 31) - (1 << (31 - place))] {
            let mut bench = Bench::new(u64::from(word_i));
            bench.clock(&In { rst_i: true, ..In::default() });
            let base_i = 1 << place;
            for clock in 0..LATENCY + 3 {
                bench.clock(&In { rst_i: false, start_i: clock == 0, base_i, spread_i: u16::MAX, word_i });
            }
            assert_eq!(bench.values, 1);
        }
    }
}
