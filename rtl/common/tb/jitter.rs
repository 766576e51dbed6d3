//! The jitter unit against `parts/jitter.rs`, in every clock.

use penstock_cosim::{
    Random,
    jitter::{Core, In},
};
use penstock_schemes::parts::jitter::Spread;

/// Clocks from the start to the value.
const LATENCY: u32 = 50;

#[test]
fn equals_the_simulators() {
    let seed = 1;
    let mut random = Random::new(seed);
    let mut core = Core::new(7);
    core.clock(&In { rst_i: true, ..In::default() });
    for round in 0..200_000 {
        let base_i = match random.below(8) {
            0 => 0,
            1 => (1 << 24) - 1,
            2 => random.below(16) as u32,
            3 => 150_000,
            _ => random.below(1 << 24) as u32,
        };
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
        let expected = Spread::new(f64::from(spread_i) / 65_536.0).apply(base_i.into(), word_i);
        core.clock(&In { rst_i: false, start_i: true, base_i, spread_i, word_i });
        // Spread and word are taken with the start; now and then it begins anew.
        let clocks = if random.one_in(50) { random.below(u64::from(LATENCY)) as u32 } else { LATENCY };
        for clock in 1..=clocks {
            let noise =
                In { rst_i: false, start_i: false, base_i, spread_i: random.word() as u16, word_i: random.word() };
            let out = core.clock(&noise);
            assert_eq!(out.done_o, clock == LATENCY, "seed {seed}, round {round}, clock {clock}");
            if clock == LATENCY {
                assert_eq!(
                    u64::from(out.value_o),
                    expected,
                    "seed {seed}, round {round}: {base_i} {spread_i} {word_i}"
                );
            }
        }
    }
}
