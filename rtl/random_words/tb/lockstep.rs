//! The random words: those of the simulator's stream with the same seed, whenever they are asked for, and after each reset the
//! same from the first on.

use penstock_cosim::{Random, at_least, random_words};
use penstock_schemes::Draw;
use penstock_sim::random::{Owner, Stream};
use random_words::{Core, In};

#[test]
fn words_are_those_of_the_simulator() {
    let mut random = Random::new(1);
    let mut core = Core::new(1);
    let (mut clock, mut drawn) = (0u64, 0u64);
    while clock < at_least(2_000_000) {
        core.clock(&In { rst_i: true, next_i: random.below(4) as u8 });
        let mut stream = Stream::new(1, Owner::ReactionPoint, 0);
        let (mut word, mut before) = (stream.draw(), 0);
        for _ in 0..1 + random.below(100_000) {
            let next_i = random.below(4) as u8;
            let out = core.clock(&In { rst_i: false, next_i });
            // The second generator's seed is the stream's; the first one has a seed that is less by 1.
            assert_eq!((out.word_o >> 32) as u32, word, "in clock {clock}");
            assert_ne!(out.word_o as u32, word, "in clock {clock}");
            if next_i & 2 != 0 {
                word = stream.draw();
                drawn += 1;
            }
            assert!(next_i & 1 == 0 || before != out.word_o as u32, "a word comes twice, in clock {clock}");
            before = if next_i & 1 != 0 { out.word_o as u32 } else { 0 };
            clock += 1;
        }
    }
    println!("{clock} clocks, {drawn} words");
}
