//! The congestion point's algorithm against those of the simulator, in every clock and every variant.

#[path = "reference.rs"]
mod reference;

use penstock_cosim::Random;
use penstock_schemes::parts::sampler::Sampling;
use penstock_schemes::parts::sampling_cp::Sample;
use reference::{Answer, DRAW, QCN_SAMPLE, RELOAD, Reference, SMCC_SAMPLE, Settings, TABLE, Variant};

/// Clocks with one set of settings.
const EPISODE: u64 = 20_000;

/// Anything, or a corner; mostly such that samples are frequent.
fn settings(random: &mut Random) -> Settings {
    Settings {
        q_eq: match random.below(5) {
            0 => 1,
            1 => (1 << 24) - 1,
            2 => 26_000,
            _ => 1 + random.below((1 << 24) - 1) as u32 >> random.below(16),
        }
        .max(1),
        w: match random.below(6) {
            0 => 0,
            1 => u16::MAX,
            2 => 1024,
            3 => random.word() as u16,
            _ => 2048,
        },
        base: match random.below(6) {
            0 => random.below(100) as u32,
            1 => random.below(1 << 24) as u32,
            2 => 150_000,
            _ => 1000 + random.below(20_000) as u32,
        },
        jitter: match random.below(4) {
            0 => 0,
            1 => random.word() as u16,
            _ => 9830,
        },
        count: match random.below(4) {
            0 => random.below(2) as u32,
            1 => random.below(1000) as u32,
            _ => 1 + random.below(20) as u32,
        },
        probability: match random.below(5) {
            0 => 0,
            1 => u32::MAX,
            2 => random.word(),
            _ => 1 << 29,
        },
    }
}

macro_rules! lock_step {
    ($name:ident, $variant:expr) => {
        #[test]
        fn $name() {
            use penstock_cosim::$name::{Core, In};
            let variant: Variant = $variant;
            let seed = 1;
            let clocks = 10_000_000;
            let mut random = Random::new(seed);
            let mut core = Core::new(seed);
            let table = variant.sampling == Sampling::Table;
            let answer_after = if variant.smcc { SMCC_SAMPLE } else { QCN_SAMPLE };
            let mut samples = 0u32;
            for episode in 0..clocks / EPISODE {
                let settings = settings(&mut random);
                let mut input = In {
                    rst_i: true,
                    q_eq_i: settings.q_eq,
                    w_i: settings.w,
                    sample_base_i: settings.base,
                    sample_jitter_i: settings.jitter,
                    sample_count_i: settings.count,
                    sample_probability_i: settings.probability,
                    random_i: random.word(),
                    ..In::default()
                };
                core.clock(&input);
                input.rst_i = false;
                let mut reference = Reference::new(variant, &settings);
                // How seldom arrivals are: from without pause to one in 200 clocks.
                let pause = [1, 1, 4, 30, 200][random.below(5) as usize];
                let mut around = u64::from(settings.q_eq);
                // From when the next arrival is taken, when the one that was taken is done, and what then comes.
                let (mut free_at, mut done_at) = (0, None);
                let mut answer: Option<(u64, Answer, Option<Sample>)> = None;
                let mut reload: Option<(u64, u64)> = None;
                for clock in 0..EPISODE {
                    let at = || format!("seed {seed}, episode {episode}, clock {clock}, {settings:?}");
                    input.random_i = match random.below(8) {
                        0 => 0,
                        1 => u32::MAX,
                        _ => random.word(),
                    };
                    if !input.event_valid_i && random.one_in(pause) {
                        input.event_valid_i = true;
                        input.event_octets_i = match random.below(6) {
                            0 => 64,
                            1 => u16::MAX,
                            2 => random.below(2) as u16,
                            _ => random.below(1519) as u16,
                        };
                        input.event_dropped_i = random.one_in(5);
                        around = match random.below(8) {
                            0 => 0,
                            1 => (1 << 24) - 1,
                            2 => u64::from(settings.q_eq),
                            3 => random.below(1 << 24),
                            _ => (around + random.below(2 * u64::from(settings.q_eq) / 4 + 3000))
                                .saturating_sub(u64::from(settings.q_eq) / 4 + 1500)
                                .min((1 << 24) - 1),
                        };
                        input.event_queue_i = around as u32;
                    }
                    let taken = input.event_valid_i && clock >= free_at;
                    let counts = variant.sample_dropped || !input.event_dropped_i;
                    let mut draws = taken && counts && variant.sampling == Sampling::Probability;
                    if taken {
                        let len = u64::from(input.event_queue_i);
                        match reference.arrive(input.event_octets_i, input.event_dropped_i, len, input.random_i) {
                            None => {
                                done_at = Some(clock + 1);
                                free_at = clock + 2;
                            }
                            Some((what, sample)) => {
                                samples += 1;
                                done_at = Some(clock + answer_after);
                                free_at = clock + answer_after + 1 + if table { RELOAD } else { 0 };
                                answer = Some((clock + answer_after, what, sample));
                            }
                        }
                    }
                    // The draw of the table's interval is the last of the sample.
                    let ends = answer.is_some_and(|(then, ..)| clock == then + if table { DRAW } else { 0 });
                    let out = core.clock(&input);
                    assert_eq!(out.event_o, taken, "{}", at());
                    assert_eq!(out.event_done_o, done_at == Some(clock), "{}", at());
                    let shows = answer.filter(|&(then, ..)| then == clock);
                    assert_eq!(out.sample_o, shows.is_some(), "{}", at());
                    if let Some((_, what, _)) = shows {
                        let sign = |value: u32| i64::from((value << 7) as i32 >> 7);
                        let seen = Answer {
                            congested: out.congested_o,
                            fb: out.fb_o,
                            q_off: sign(out.q_off_o),
                            q_delta: sign(out.q_delta_o),
                        };
                        assert_eq!(seen, what, "{}", at());
                    }
                    if ends {
                        let (then, _, sample) = answer.take().expect("there is one");
                        if let Some(sample) = sample {
                            let len = (sample.measure.q_off + i64::from(settings.q_eq)) as u64;
                            reference.conclude(&sample, len, input.random_i);
                        }
                        if table {
                            draws = true;
                            reload = Some((then + RELOAD, reference.left()));
                        }
                    }
                    assert_eq!(out.draw_o, draws, "{}", at());
                    if table {
                        assert_eq!(out.reloaded_o, reload.is_some_and(|(then, _)| then == clock), "{}", at());
                        if let Some((_, left)) = reload.filter(|&(then, _)| then == clock) {
                            assert_eq!(u64::from(out.interval_o), left, "{}", at());
                        }
                    }
                    if out.event_done_o {
                        done_at = None;
                        input.event_valid_i = false;
                    }
                }
            }
            println!("{samples} samples");
            assert!(samples > 20_000);
        }
    };
}

lock_step!(cp_feedback_table, TABLE);
lock_step!(cp_feedback_harmonic, Variant { harmonic: true, last_sent: true, sample_dropped: false, ..TABLE });
lock_step!(cp_feedback_count, Variant { sampling: Sampling::Count, last_sent: true, ..TABLE });
lock_step!(cp_feedback_probability, Variant { sampling: Sampling::Probability, ..TABLE });
lock_step!(cp_feedback_smcc, Variant { smcc: true, sampling: Sampling::Count, ..TABLE });
lock_step!(
    cp_feedback_smcc_probability,
    Variant { smcc: true, sampling: Sampling::Probability, sample_dropped: false, ..TABLE }
);
