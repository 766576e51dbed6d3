//! Links that lose frames at random: error models, and the frames that they have hit.
//!
//! A frame that is hit takes its time on the line, as a corrupted one does, and the far end drops it, for its frame check sequence is wrong.
//! Each model has its random words, and is asked about each frame that it may hit, in the order of transmissions.

use alloc::vec::Vec;

use penstock_endpoint::TrafficClass;
use penstock_schemes::{Draw, Instant};

use crate::config::{Errors, Impairment};
use crate::random::{Owner, Stream};

/// The error models of one line.
#[derive(Debug, Clone, Default)]
pub struct Impairments {
    models: Vec<ErrorModel>,
    /// Data frames of each class that were hit.
    data: Vec<u64>,
    /// All frames that were hit.
    pub frames: u64,
    /// Of them, those that are no data: acknowledgements, signals, headers of trimmed frames, pause frames.
    pub control: u64,
}

/// One of them.
#[derive(Debug, Clone)]
struct ErrorModel {
    settings: Impairment,
    words: Stream,
    /// The state of a Gilbert-Elliott model: a burst lasts.
    bad: bool,
}

impl Impairments {
    /// Adds a model, after those that the line has.
    pub fn add(&mut self, settings: Impairment) {
        let words = Stream::new(settings.seed, Owner::Line, self.models.len());
        self.models.push(ErrorModel { settings, words, bad: false });
    }

    /// Whether a frame of `octets`, wire overhead included, is hit whose transmission starts at `at`.
    pub fn hit(&mut self, at: Instant, octets: u32, data: bool) -> bool {
        // Each model goes on, whatever the others say.
        let mut hit = false;
        for model in &mut self.models {
            hit |= model.hits(at, octets, data);
        }
        hit
    }

    /// A frame that was hit has reached the far end; a data frame has its class.
    pub fn count(&mut self, class: Option<TrafficClass>) {
        self.frames += 1;
        let Some(class) = class else {
            self.control += 1;
            return;
        };
        if self.data.len() <= class.index() {
            self.data.resize(class.index() + 1, 0);
        }
        self.data[class.index()] += 1;
    }

    /// Data frames of a class that were hit.
    #[must_use]
    pub fn data(&self, class: TrafficClass) -> u64 {
        self.data.get(class.index()).copied().unwrap_or(0)
    }
}

impl ErrorModel {
    fn hits(&mut self, at: Instant, octets: u32, data: bool) -> bool {
        let Impairment { from, until, control, errors, .. } = self.settings;
        if at < from || at >= until || !(data || control) {
            return false;
        }
        match errors {
            Errors::Loss(loss) => self.chance() < loss,
            Errors::BitErrors(rate) => self.chance() < any_of(rate, u64::from(octets) * 8),
            Errors::Bursts { p, r, loss_good, loss_bad } => {
                let (loss, turn) = if self.bad { (loss_bad, r) } else { (loss_good, p) };
                let hit = self.chance() < loss;
                self.bad ^= self.chance() < turn;
                hit
            }
        }
    }

    /// A number from 0 to below 1: 53 bits, all that its type holds.
    fn chance(&mut self) -> f64 {
        let word = u64::from(self.words.draw()) << 32 | u64::from(self.words.draw());
        (word >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// The probability that any of `bits` is wrong, each with probability `rate`: 1 - (1 - rate)^bits, by doubling, so that small rates lose
/// no digits and every machine gets the same.
fn any_of(rate: f64, mut bits: u64) -> f64 {
    let either = |a: f64, b: f64| a + b - a * b;
    let (mut any, mut block) = (0.0, rate);
    while bits > 0 {
        if bits & 1 == 1 {
            any = either(any, block);
        }
        block = either(block, block);
        bits >>= 1;
    }
    any
}

#[cfg(test)]
mod tests {
    use super::*;
    use penstock_endpoint::PortId;

    const FRAMES: u32 = 1_000_000;

    fn impairments(errors: Errors, control: bool) -> Impairments {
        let mut impairments = Impairments::default();
        let (from, until) = (Instant(1000), Instant::NEVER);
        impairments.add(Impairment { port: PortId(0), from, until, errors, control, seed: 7 });
        impairments
    }

    /// The frames that are hit of a million of 1500 octets.
    fn hits(errors: Errors) -> Vec<bool> {
        let mut own = impairments(errors, true);
        (0..FRAMES).map(|_| own.hit(Instant(1000), 1500, true)).collect()
    }

    fn share(hits: &[bool]) -> f64 {
        hits.iter().filter(|hit| **hit).count() as f64 / f64::from(FRAMES)
    }

    /// Five standard deviations of a million draws of 1 %: 0.0005.
    #[test]
    fn a_share_of_the_frames_is_hit() {
        assert!((share(&hits(Errors::Loss(0.01))) - 0.01).abs() < 0.0005);
        assert_eq!((share(&hits(Errors::Loss(0.0))), share(&hits(Errors::Loss(1.0)))), (0.0, 1.0));
    }

    /// 12 000 bits with an error in 10^6 each: 1 - (1 - 10^-6)^12000 = 0.0119283. At 10^-15 it is 1.2 × 10^-11 to the last digits, where
    /// 1 - 10^-15 has lost all but one.
    #[test]
    fn the_longer_a_frame_the_likelier_an_error() {
        assert!((any_of(1e-6, 12_000) - 0.011_928_293).abs() < 1e-9, "{}", any_of(1e-6, 12_000));
        assert!((any_of(1e-15, 12_000) / 1.2e-11 - 1.0).abs() < 1e-10);
        assert_eq!((any_of(0.0, 12_000), any_of(1.0, 12_000), any_of(0.5, 2), any_of(0.3, 0)), (0.0, 1.0, 0.75, 0.0));
        assert!((share(&hits(Errors::BitErrors(1e-6))) - 0.011_928).abs() < 0.0006);
    }

    /// p = 0.001 and r = 0.1: the bad state has 0.001 / 0.101 = 0.990 % of the frames, and bursts of 10 on average.
    #[test]
    fn bursts_have_their_length() {
        let hits = hits(Errors::Bursts { p: 0.001, r: 0.1, loss_good: 0.0, loss_bad: 1.0 });
        let lost = share(&hits) * f64::from(FRAMES);
        let bursts = hits.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
        // Some 990 bursts of a geometric length: its mean is 10 with a deviation of 9.5 / √990 = 0.3.
        assert!((lost / f64::from(FRAMES) - 0.0099).abs() < 0.0015, "{lost}");
        assert!((lost / bursts - 10.0).abs() < 1.5, "{lost} in {bursts}");
    }

    #[test]
    fn a_time_and_control_frames_are_left_out() {
        let mut own = impairments(Errors::Loss(1.0), false);
        assert!(!own.hit(Instant(999), 64, true) && own.hit(Instant(1000), 64, true));
        assert!(!own.hit(Instant(1000), 64, false));
        own.count(Some(TrafficClass(1)));
        own.count(None);
        assert_eq!((own.frames, own.control, own.data(TrafficClass(1)), own.data(TrafficClass(0))), (2, 1, 1, 0));
    }
}
