//! The sampler of a congestion point: it chooses the arriving frames that the point looks at.

use crate::Draw;
use crate::info::choice;
use crate::parts::jitter::Spread;

choice! {
    /// How frames are sampled.
    pub enum Sampling {
        /// A byte counter, reloaded from a table by the last feedback value, with jitter. (Kabbani and Yasuda 2010,
        /// table 1; cpSampleBase)
        Table = "table",
        /// Each frame with a probability that rises linearly with the feedback value. (Mliki et al. 2016 and Jiang et
        /// al. 2015)
        Probability = "probability",
        /// Each frame with a probability that jumps from one value to another at a feedback value. (In no source; the feedback that
        /// Mliki et al. 2016 report asks for it)
        Step = "step",
        /// Every n-th frame.
        Count = "count",
        /// Every frame. (Mliki et al. 2016, algorithm 2)
        EveryFrame = "every-frame",
    }
}

choice! {
    /// The intervals of the sampling table.
    pub enum Table {
        /// 150, 75, 50, 37.5, 30, 25, 21.5, 18.5 KB, scaled to the base. (Kabbani and Yasuda 2010, table 1)
        Paper = "paper",
        /// Base / (k + 1). (802.1Qau)
        Harmonic = "harmonic",
    }
}

choice! {
    /// How frames are sampled where feedback does not change how often.
    pub enum Even {
        /// Every n-th frame.
        Count = "count",
        /// Each frame with the same probability.
        Probability = "probability",
    }
}

choice! {
    /// How long the first interval of counted samples is.
    pub enum FirstInterval {
        /// As long as the others: points that see the same frames sample the same ones.
        Whole = "whole",
        /// Drawn from 1 to the count, each with the same probability: counting began at an arbitrary frame.
        Drawn = "drawn",
    }
}

/// How to sample.
#[derive(Debug, Clone, Copy)]
pub struct SamplerConfig {
    /// The rule by which frames are chosen.
    pub sampling: Sampling,
    /// Interval at feedback value 0, octets.
    pub base: u64,
    /// The table of intervals.
    pub table: Table,
    /// Spread of the intervals.
    pub jitter: Spread,
    /// Frames from one sample to the next, for [`Sampling::Count`].
    pub every: u32,
    /// Probability at feedback value 0, for [`Sampling::Probability`] and [`Sampling::Step`].
    pub probability: f64,
    /// Probability at feedback value 63.
    pub probability_max: f64,
    /// Feedback value from which on the probability is that of 63, for [`Sampling::Step`].
    pub step: u32,
}

/// Decides for each frame whether it is sampled.
#[derive(Debug, Clone)]
pub struct Sampler {
    sampling: Sampling,
    /// Octets (frames for `Count`) until the next sample.
    left: i64,
    every: u32,
    jitter: Spread,
    count_jitter: Spread,
    /// The first interval of counted samples is still to be drawn.
    draws_first: bool,
    intervals: [u64; 8],
    /// A random word below this samples: probability × 2^32, at value 0, at 63, and its rise per step.
    threshold: u64,
    threshold_max: u64,
    threshold_step: u64,
    step: u32,
}

const PAPER_TABLE: [u64; 8] = [150_000, 75_000, 50_000, 37_500, 30_000, 25_000, 21_500, 18_500];

impl Sampler {
    /// A sampler whose first interval is the base, unjittered.
    #[must_use]
    pub fn new(config: &SamplerConfig) -> Self {
        let intervals = core::array::from_fn(|k| match config.table {
            Table::Paper => config.base * PAPER_TABLE[k] / 150_000,
            Table::Harmonic => config.base / (k as u64 + 1),
        });
        let scale = |p: f64| (p * 4_294_967_296.0) as u64;
        let (low, high) = (scale(config.probability), scale(config.probability_max));
        Self {
            sampling: config.sampling,
            left: match config.sampling {
                Sampling::Count => i64::from(config.every),
                _ => config.base as i64,
            },
            every: config.every,
            jitter: config.jitter,
            count_jitter: Spread::NONE,
            draws_first: false,
            intervals,
            threshold: low,
            threshold_max: high,
            threshold_step: high.saturating_sub(low) / 63,
            step: config.step,
        }
    }

    /// A sampler for which feedback does not matter: every frame number `every`, or each with `probability`. Where frames
    /// are counted, intervals spread by `jitter`, and `first` says how long the first one is.
    #[must_use]
    pub fn even(how: Even, every: u32, probability: f64, jitter: Spread, first: FirstInterval) -> Self {
        let sampler = Self::new(&SamplerConfig {
            sampling: match how {
                Even::Count => Sampling::Count,
                Even::Probability => Sampling::Probability,
            },
            base: 0,
            table: Table::Harmonic,
            jitter: Spread::NONE,
            every,
            probability,
            probability_max: probability,
            step: 63,
        });
        let draws_first = how == Even::Count && first == FirstInterval::Drawn;
        // With one frame left the first frame comes to the draw.
        let left = if draws_first { 1 } else { sampler.left };
        Self { count_jitter: jitter, draws_first, left, ..sampler }
    }

    /// Goes by the parameters of `fresh`, a sampler before its first frame. The interval that runs goes on to its end; where frames
    /// are chosen by another rule, the first one begins.
    pub fn configure(&mut self, fresh: Self) {
        let (left, draws_first) = (self.left, self.draws_first);
        let runs = self.sampling == fresh.sampling;
        *self = if runs { Self { left, draws_first, ..fresh } } else { fresh };
    }

    /// Counts a frame of `octets`; true if it is sampled. `steps` gives the feedback value that it would get.
    #[inline(always)]
    pub fn sample(&mut self, octets: u16, steps: impl FnOnce() -> u8, draw: &mut impl Draw) -> bool {
        !self.passes_by(octets) && self.decide(steps, draw)
    }

    /// Counts a frame of `octets` for the table; true if it is not sampled. Most frames need no more than this.
    #[inline(always)]
    pub fn passes_by(&mut self, octets: u16) -> bool {
        if self.sampling != Sampling::Table {
            return false;
        }
        self.left -= i64::from(octets);
        self.left >= 0
    }

    /// Whether a frame is sampled that did not [pass by](Self::passes_by).
    pub fn decide(&mut self, steps: impl FnOnce() -> u8, draw: &mut impl Draw) -> bool {
        match self.sampling {
            Sampling::Table => true,
            Sampling::Count => {
                self.left -= 1;
                self.left <= 0 && self.counted(draw)
            }
            Sampling::Probability => u64::from(draw.draw()) < self.threshold + self.threshold_step * u64::from(steps()),
            Sampling::Step => {
                u64::from(draw.draw())
                    < if u32::from(steps()) < self.step { self.threshold } else { self.threshold_max }
            }
            Sampling::EveryFrame => true,
        }
    }

    /// The count has run out: true, but for the first frame of a sampler that draws its first interval. That frame is
    /// the first of the interval.
    #[cold]
    fn counted(&mut self, draw: &mut impl Draw) -> bool {
        if core::mem::take(&mut self.draws_first) {
            self.left = ((u64::from(self.every) * u64::from(draw.draw())) >> 32) as i64;
        }
        self.left <= 0
    }

    /// Octets from a sample with feedback value `steps` to the next one by the table, spread.
    pub fn table_interval(&self, steps: u8, draw: &mut impl Draw) -> u64 {
        self.jitter.apply(self.intervals[usize::from(steps / 8)], draw.draw())
    }

    /// Sets the interval to the next sample after a sample with feedback value `steps`.
    pub fn reload(&mut self, steps: u8, draw: &mut impl Draw) {
        match self.sampling {
            Sampling::Table => self.left = self.table_interval(steps, draw) as i64,
            Sampling::Count if self.count_jitter == Spread::NONE => self.left = i64::from(self.every),
            Sampling::Count => {
                // Rounded to whole frames, so that the mean interval stays `every`.
                let spread = self.count_jitter.apply(u64::from(self.every) << 16, draw.draw());
                self.left = (((spread + (1 << 15)) >> 16) as i64).max(1);
            }
            Sampling::Probability | Sampling::Step | Sampling::EveryFrame => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Always the same word.
    struct Word(u32);
    impl Draw for Word {
        fn draw(&mut self) -> u32 {
            self.0
        }
    }

    fn config(sampling: Sampling) -> SamplerConfig {
        SamplerConfig {
            sampling,
            base: 150_000,
            table: Table::Paper,
            jitter: Spread::new(0.15),
            every: 100,
            probability: 0.01,
            probability_max: 0.5,
            step: 12,
        }
    }

    #[test]
    fn table_samples_when_the_counter_falls_below_zero() {
        let mut s = Sampler::new(&config(Sampling::Table));
        let mut draw = Word(1 << 31); // the middle of the jitter
        let sampled: Vec<_> = (1..=101).filter(|_| s.sample(1500, || 0, &mut draw)).collect();
        assert_eq!(sampled, [101], "150 000 - 100 × 1500 = 0 is not below zero");
        s.reload(25, &mut draw); // row 3: 37 500 octets = 25 frames
        let sampled: Vec<_> = (1..=26).filter(|_| s.sample(1500, || 0, &mut draw)).collect();
        assert_eq!(sampled, [26]);
    }

    #[test]
    fn tables_scale_with_their_base() {
        let paper = Sampler::new(&SamplerConfig { base: 15_000, ..config(Sampling::Table) });
        assert_eq!(paper.intervals, [15_000, 7500, 5000, 3750, 3000, 2500, 2150, 1850]);
        let harmonic = Sampler::new(&SamplerConfig { table: Table::Harmonic, ..config(Sampling::Table) });
        assert_eq!(harmonic.intervals[6], 21_428);
    }

    #[test]
    fn counted_samples_are_evenly_spaced() {
        let mut s = Sampler::new(&config(Sampling::Count));
        let mut draw = Word(0);
        let mut at = Vec::new();
        for i in 1..=300 {
            if s.sample(64, || 0, &mut draw) {
                at.push(i);
                s.reload(63, &mut draw);
            }
        }
        assert_eq!(at, [100, 200, 300]);
    }

    #[test]
    fn probability_rises_with_the_feedback_value() {
        let mut s = Sampler::new(&config(Sampling::Probability));
        let word = |p: f64| Word((p * 4_294_967_296.0) as u32);
        assert!(s.sample(1500, || 0, &mut word(0.0099)));
        assert!(!s.sample(1500, || 0, &mut word(0.0101)));
        assert!(s.sample(1500, || 63, &mut word(0.4999)));
        assert!(!s.sample(1500, || 63, &mut word(0.5001)));
    }

    #[test]
    fn probability_jumps_at_a_feedback_value() {
        let mut s = Sampler::new(&config(Sampling::Step));
        let word = |p: f64| Word((p * 4_294_967_296.0) as u32);
        assert!(s.sample(1500, || 11, &mut word(0.0099)));
        assert!(!s.sample(1500, || 11, &mut word(0.0101)));
        assert!(s.sample(1500, || 12, &mut word(0.4999)));
        assert!(!s.sample(1500, || 63, &mut word(0.5001)));
    }

    #[test]
    fn even_samplers_do_not_heed_feedback() {
        let even = |how, every, p| Sampler::even(how, every, p, Spread::NONE, FirstInterval::Whole);
        let (mut counted, mut drawn) = (even(Even::Count, 3, 0.0), even(Even::Probability, 1, 0.25));
        let at: Vec<_> = (1..=7).filter(|_| counted.sample(64, || 63, &mut Word(0))).collect();
        assert_eq!(at, [3, 4, 5, 6, 7], "until it is reloaded it stays due");
        counted.reload(63, &mut Word(0));
        assert!(!counted.sample(64, || 63, &mut Word(0)));
        // 0.25 × 2^32 = 2^30.
        assert!(drawn.sample(64, || 63, &mut Word((1 << 30) - 1)));
        assert!(!drawn.sample(64, || 63, &mut Word(1 << 30)));
    }

    /// The numbers of the frames, from 1, that a sampler which counts takes, while each draw gives `word`.
    fn taken(mut sampler: Sampler, word: u32, frames: u32) -> Vec<u32> {
        let draw = &mut Word(word);
        let mut takes = |_: &u32| {
            let sampled = sampler.sample(1500, || 0, draw);
            if sampled {
                sampler.reload(0, draw);
            }
            sampled
        };
        (1..=frames).filter(|n| takes(n)).collect()
    }

    #[test]
    fn counted_intervals_spread_around_the_count() {
        let jittered = || Sampler::even(Even::Count, 100, 0.0, Spread::new(0.15), FirstInterval::Whole);
        // 100 × 55 706 / 65 536 = 85.0009; the middle is 100; 100 × 75 366 / 65 536 = 114.9994.
        assert_eq!(taken(jittered(), 0, 300), [100, 185, 270]);
        assert_eq!(taken(jittered(), 1 << 31, 300), [100, 200, 300]);
        assert_eq!(taken(jittered(), u32::MAX, 340), [100, 215, 330]);
        // Of one frame half is the least: rounded up to one.
        assert_eq!(taken(Sampler::even(Even::Count, 1, 0.0, Spread::new(0.9), FirstInterval::Whole), 0, 3), [1, 2, 3]);
    }

    #[test]
    fn the_first_counted_interval_may_be_drawn() {
        let drawn = || Sampler::even(Even::Count, 8, 0.0, Spread::NONE, FirstInterval::Drawn);
        // Words at the ends and in the middle: the first sample is frame 1 + floor(8 × word / 2^32).
        assert_eq!(taken(drawn(), 0, 20), [1, 9, 17]);
        assert_eq!(taken(drawn(), 1 << 31, 20), [5, 13]);
        assert_eq!(taken(drawn(), u32::MAX, 20), [8, 16]);
        let all = Sampler::even(Even::Probability, 1, 1.0, Spread::NONE, FirstInterval::Drawn);
        assert_eq!(taken(all, 0, 3), [1, 2, 3], "nothing to draw where each frame has its probability");
    }

    #[test]
    fn an_interval_that_runs_ends_before_the_next_parameters_hold() {
        let mut s = Sampler::new(&config(Sampling::Count));
        let mut at = Vec::new();
        for i in 1..=200 {
            if i == 51 {
                s.configure(Sampler::new(&SamplerConfig { every: 20, ..config(Sampling::Count) }));
            }
            if i == 151 {
                s.configure(Sampler::new(&SamplerConfig { base: 30_000, ..config(Sampling::Table) }));
            }
            if s.sample(1500, || 0, &mut Word(1 << 31)) {
                at.push(i);
                s.reload(0, &mut Word(1 << 31));
            }
        }
        // After frame 150 octets count: 20 frames of 1500 are 30 000, and the next one is sampled.
        assert_eq!(at, [100, 120, 140, 171, 192]);
    }

    extern crate std;
    use std::vec::Vec;
}
