//! The median of the last delays: what a source that sprays its frames over several paths hears instead of the last one.
//!
//! A law that reacts to its latest delay was made for one path. Where frames take many, a few slow ones among them cut the window
//! again and again, and let throughput collapse with the root of their share. The median is that of a fast path as long as
//! these are the most.
//!
//! Half of a window of acknowledgements is as long as the history may be, so that a window hears of what it has done (Nyquist).
//!
//! Sources: Gerstein et al., arXiv 2509.07907v2, section III and equations (8) and (9), known from a public repetition with
//! uet-htsim. Which of the two middle delays of an even number counts is open there; here it is the lower one.

use alloc::vec;
use alloc::vec::Vec;

/// The last delays of a source.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// The delays, the newest before `next`; none where the latest one counts alone.
    delays: Vec<f64>,
    /// Room to sort them in.
    sorted: Vec<f64>,
    next: usize,
    known: usize,
}

impl History {
    /// A history of `most` delays, empty.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { delays: vec![0.0; most], sorted: vec![0.0; most], next: 0, known: 0 }
    }

    /// Takes in the newest delay, and gives the median of the last ones under a window of `frames`: half as many. Without room
    /// for any it is the newest.
    pub fn median(&mut self, newest: f64, frames: f64) -> f64 {
        let most = self.delays.len();
        if most == 0 {
            return newest;
        }
        self.delays[self.next] = newest;
        self.next = (self.next + 1) % most;
        self.known = (self.known + 1).min(most);
        let taken = ((frames / 2.0) as usize).clamp(1, self.known);
        for i in 0..taken {
            self.sorted[i] = self.delays[(self.next + most - 1 - i) % most];
        }
        *self.sorted[..taken].select_nth_unstable_by((taken - 1) / 2, f64::total_cmp).1
    }

    /// Makes room for `most` delays, and keeps as many of the newest as fit. With the room that it has it changes nothing.
    pub fn resize(&mut self, most: usize) {
        let room = self.delays.len();
        if room == most {
            return;
        }
        let mut resized = Self::new(most);
        resized.known = self.known.min(most);
        for i in 0..resized.known {
            resized.delays[resized.known - 1 - i] = self.delays[(self.next + room - 1 - i) % room];
        }
        resized.next = if most == 0 { 0 } else { resized.known % most };
        *self = resized;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn medians(history: &mut History, frames: f64, delays: &[f64]) -> Vec<f64> {
        delays.iter().map(|&delay| history.median(delay, frames)).collect()
    }

    /// Ten frames in flight: five delays. One slow path of five never counts, three of five do.
    #[test]
    fn a_few_slow_frames_change_nothing() {
        let mut history = History::new(128);
        let heard = medians(&mut history, 10.0, &[1.0, 9.0, 2.0, 1.0, 1.0, 9.0, 3.0, 9.0, 9.0]);
        assert_eq!(heard, [1.0, 1.0, 2.0, 1.0, 1.0, 2.0, 2.0, 3.0, 9.0]);
    }

    /// A window of one frame hears the newest alone, one of 1000 as many as there is room for: 3, of which two stay in less room.
    #[test]
    fn the_window_and_the_room_bound_the_history() {
        let mut history = History::new(3);
        assert_eq!(medians(&mut history, 1.0, &[5.0, 1.0, 7.0]), [5.0, 1.0, 7.0]);
        assert_eq!(medians(&mut history, 1_000.0, &[6.0, 0.0]), [6.0, 6.0]);
        let mut less = history.clone();
        less.resize(2);
        assert_eq!(less.median(8.0, 1_000.0), 0.0, "of 0 and 8, the 6 is forgotten");
        let mut more = history.clone();
        more.resize(4);
        assert_eq!(more.median(8.0, 1_000.0), 6.0, "of 7, 6, 0 and 8");
        history.resize(0);
        assert_eq!(history.median(8.0, 1_000.0), 8.0);
        history.resize(2);
        assert_eq!(history.median(9.0, 1_000.0), 9.0, "nothing was kept");
    }
}
