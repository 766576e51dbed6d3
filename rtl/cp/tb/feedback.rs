//! The congestion point's algorithm against those of the simulator, in every clock and every variant.

#[path = "reference.rs"]
mod reference;

use penstock_cosim::vectors::{self, Recorder};
use penstock_cosim::{Random, operations};
use penstock_schemes::parts::sampler::Sampling;
use penstock_schemes::parts::sampling_cp::Sample;
use reference::{Answer, DRAW, QCN_SAMPLE, RELOAD, Reference, SMCC_SAMPLE, Settings, TABLE, Variant};

/// Clocks with one set of settings, and of all.
const EPISODE: u64 = 20_000;
const CLOCKS: u64 = 2_000_000;

/// Anything, or a corner; mostly such that samples are frequent.
fn settings(random: &mut Random) -> Settings {
    Settings {
        q_eq: match random.below(5) {
            0 => 1,
            1 => (1 << 24) - 1,
            2 => 26_000,
            _ => (1 + random.below((1 << 24) - 1) as u32) >> random.below(16),
        }
        .max(1),
        w: match random.below(7) {
            0 => 0,
            1 => u16::MAX,
            2 => 1024,
            3 | 4 => random.word() as u16,
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

/// Two lengths, one after the other, whose Fb is as close below a step as can be: 63 C = k M - 1, if there are such.
/// (C = 1024 q_off + w q_delta, M = (2 w + 1024) q_eq)
fn just_below_a_step(settings: &Settings) -> Option<(u64, u64)> {
    let (q_eq, w) = (i128::from(settings.q_eq), i128::from(settings.w));
    let largest = (2 * w + 1024) * q_eq;
    let steps = (1..=63).find(|steps| (steps * largest) % 63 == 1).filter(|_| w > 0)?;
    let measure = (steps * largest - 1) / 63;
    (q_eq..q_eq + 2 * w).find_map(|len| {
        let growth = measure - 1024 * (len - q_eq);
        let old = len - growth / w;
        let lengths = 0..1 << 24;
        let fits = growth % w == 0 && lengths.contains(&old) && lengths.contains(&len);
        fits.then_some((old as u64, len as u64))
    })
}

/// Inputs at the pins in a clock, but for the settings.
struct Given {
    random: u32,
    event: bool,
    octets: u16,
    dropped: bool,
    queue: u32,
}

/// Outputs.
#[derive(Debug, PartialEq)]
struct Shown {
    event: bool,
    done: bool,
    sample: Option<Answer>,
    draw: bool,
    reloaded: bool,
    /// Where it means something.
    interval: Option<u64>,
}

/// The state machine, asked as the hardware's clocks come.
struct Model {
    variant: Variant,
    settings: Settings,
    reference: Reference,
    /// Clocks since the reset.
    clock: u64,
    /// From when the next arrival is taken, when the one that was taken is done, and the answer that then comes.
    free_at: u64,
    done_at: Option<u64>,
    answer: Option<(u64, Answer, Option<Sample>)>,
    /// When the sampler is set to an interval, and to which.
    reload: Option<(u64, u64)>,
    samples: u64,
}

impl Model {
    fn new(variant: Variant, settings: Settings, samples: u64) -> Self {
        let reference = Reference::new(variant, &settings);
        Self { variant, settings, reference, clock: 0, free_at: 0, done_at: None, answer: None, reload: None, samples }
    }

    fn clock(&mut self, given: &Given) -> Shown {
        let (variant, clock) = (self.variant, self.clock);
        let table = variant.sampling == Sampling::Table;
        let taken = given.event && clock >= self.free_at;
        let counts = variant.sample_dropped || !given.dropped;
        let mut draw = taken && counts && variant.sampling == Sampling::Probability;
        if taken {
            match self.reference.arrive(given.octets, given.dropped, given.queue.into(), given.random) {
                None => {
                    self.done_at = Some(clock + 1);
                    self.free_at = clock + 2;
                }
                Some((what, sample)) => {
                    let shows = clock + if variant.smcc { SMCC_SAMPLE } else { QCN_SAMPLE };
                    self.samples += 1;
                    self.done_at = Some(shows);
                    self.free_at = shows + 1 + if table { RELOAD } else { 0 };
                    self.answer = Some((shows, what, sample));
                }
            }
        }
        let sample = self.answer.filter(|&(then, ..)| then == clock).map(|(_, what, _)| what);
        // The draw of the table's interval is the last of the sample.
        let last = if table { DRAW } else { 0 };
        if let Some((then, _, sample)) = self.answer.take_if(|(then, ..)| clock == *then + last) {
            if let Some(sample) = sample {
                let len = (sample.measure.q_off + i64::from(self.settings.q_eq)) as u64;
                self.reference.conclude(&sample, len, given.random);
            }
            if table {
                draw = true;
                self.reload = Some((then + RELOAD, self.reference.left()));
            }
        }
        let reload = self.reload.take_if(|(then, _)| *then == clock);
        let (reloaded, interval) = match variant.sampling {
            Sampling::Table => (reload.is_some(), reload.map(|(_, left)| left)),
            Sampling::Count => (sample.is_some(), Some(self.settings.count.into())),
            _ => (sample.is_some(), Some(0)),
        };
        let done = self.done_at.take_if(|then| *then == clock).is_some();
        self.clock += 1;
        Shown { event: taken, done, sample, draw, reloaded, interval }
    }
}

macro_rules! lock_step {
    ($name:ident, $variant:expr) => {
        #[test]
        fn $name() {
            use penstock_cosim::$name::{Core, In};

            /// One clock of both; whether the arrival that shows has been dealt with.
            fn clock(core: &mut Core, model: &mut Option<Model>, input: &In) -> bool {
                let out = core.clock(input);
                if input.rst_i {
                    let settings = Settings {
                        q_eq: input.q_eq_i,
                        w: input.w_i,
                        base: input.sample_base_i,
                        jitter: input.sample_jitter_i,
                        count: input.sample_count_i,
                        probability: input.sample_probability_i,
                    };
                    *model = Some(Model::new($variant, settings, model.as_ref().map_or(0, |model| model.samples)));
                }
                let Some(model) = model.as_mut().filter(|_| !input.rst_i) else { return false };
                let expected = model.clock(&Given {
                    random: input.random_i,
                    event: input.event_valid_i,
                    octets: input.event_octets_i,
                    dropped: input.event_dropped_i,
                    queue: input.event_queue_i,
                });
                let sign = |value: u32| i64::from((value << 7) as i32 >> 7);
                let shown = Shown {
                    event: out.event_o,
                    done: out.event_done_o,
                    sample: out.sample_o.then_some(Answer {
                        congested: out.congested_o,
                        fb: out.fb_o,
                        q_off: sign(out.q_off_o),
                        q_delta: sign(out.q_delta_o),
                    }),
                    draw: out.draw_o,
                    reloaded: out.reloaded_o,
                    interval: expected.interval.map(|_| out.interval_o.into()),
                };
                assert_eq!(shown, expected, "{} clocks after the reset: {input:?}", model.clock - 1);
                out.event_done_o
            }

            for vector in vectors::kept("cp", stringify!($name)) {
                let (mut core, mut model) = (Core::new(vector.seed), None);
                for input in &vector.clocks {
                    clock(&mut core, &mut model, input);
                }
            }

            let mut random = Random::new(1);
            let mut kept = Recorder::new("cp", stringify!($name));
            let (mut episodes, mut arrivals, mut samples) = (0, 0, 0);
            while episodes < CLOCKS / EPISODE || arrivals < operations() {
                episodes += 1;
                let seed = random.next();
                let (mut core, mut model) = (Core::new(seed), None);
                kept.begin(seed);
                let settings = settings(&mut random);
                let mut input = In {
                    q_eq_i: settings.q_eq,
                    w_i: settings.w,
                    sample_base_i: settings.base,
                    sample_jitter_i: settings.jitter,
                    sample_count_i: settings.count,
                    sample_probability_i: settings.probability,
                    ..In::default()
                };
                // How seldom arrivals are: from without pause to one in 200 clocks.
                let pause = [1, 1, 4, 30, 200][random.below(5) as usize];
                let mut around = u64::from(settings.q_eq);
                let (old, len) = just_below_a_step(&settings).unwrap_or((0, around));
                for n in 0..EPISODE {
                    input.rst_i = n == 0 || random.one_in(20_000);
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
                        around = match random.below(12) {
                            8 | 9 => old,
                            10 | 11 => len,
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
                    kept.clock(&input);
                    let done = clock(&mut core, &mut model, &input);
                    arrivals += u64::from(done);
                    // A reset takes the arrival that waits with it.
                    input.event_valid_i &= !done && !input.rst_i;
                }
                samples += model.map_or(0, |model: Model| model.samples);
            }
            drop(kept);
            println!("{}: {arrivals} arrivals, {samples} samples", stringify!($name));
            assert!(samples > 4_000);
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
