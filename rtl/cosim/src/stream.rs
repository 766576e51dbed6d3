//! Frames as beats of the cores' streams: a source feeds an input, a sink reads an output and holds it to the rules.
//!
//! The rules (rtl/README.md): octet 0 in the lowest bits, `tkeep` contiguous and all ones but with `tlast`, and a beat
//! that is shown stays until it is taken.

use std::collections::VecDeque;
use std::fmt::Debug;

use crate::Random;

/// Octets of a beat of 64 bits.
pub const BEAT: usize = 8;

/// The data of a beat: a number for 64 bits, else words of 32.
pub trait Data: Copy + Eq + Debug + Default {
    /// Octets of a beat.
    const OCTETS: usize;
    /// `tkeep`.
    type Keep: Copy + Eq + Debug + Default + Into<u64> + TryFrom<u64>;
    /// The data with these octets, as many as there are.
    fn of(octets: &[u8]) -> Self;
    /// Its octets, the first in the lowest bits.
    fn octets(&self) -> Vec<u8>;
}

impl Data for u64 {
    const OCTETS: usize = BEAT;
    type Keep = u8;
    fn of(octets: &[u8]) -> Self {
        octets.iter().rev().fold(0, |word, &octet| word << 8 | Self::from(octet))
    }
    fn octets(&self) -> Vec<u8> {
        self.to_le_bytes().into()
    }
}

macro_rules! wide_data {
    ($($words:literal $keep:ty),*) => {$(
        impl Data for [u32; $words] {
            const OCTETS: usize = 4 * $words;
            type Keep = $keep;
            fn of(octets: &[u8]) -> Self {
                let word = |at| u64::of(octets.get(4 * at..octets.len().min(4 * at + 4)).unwrap_or_default()) as u32;
                std::array::from_fn(word)
            }
            fn octets(&self) -> Vec<u8> {
                self.iter().flat_map(|word| word.to_le_bytes()).collect()
            }
        }
    )*};
}

wide_data!(4 u16, 8 u32, 16 u64);

/// One beat as the wires show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Beat<D: Data = u64> {
    /// `tdata`.
    pub data: D,
    /// `tkeep`.
    pub keep: D::Keep,
    /// `tlast`.
    pub last: bool,
    /// `tuser`: with `last`, the frame is bad.
    pub user: bool,
}

impl<D: Data> Beat<D> {
    /// Its octets.
    #[must_use]
    pub fn octets(&self) -> Vec<u8> {
        let keep: u64 = self.keep.into();
        let mut octets = self.data.octets();
        octets.truncate(keep.count_ones() as usize);
        octets
    }
}

/// A frame without its check sequence, and whether it is marked bad.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Frame {
    /// Destination address first.
    pub octets: Vec<u8>,
    /// `tuser` of its last beat.
    pub bad: bool,
}

impl Frame {
    /// A good frame.
    #[must_use]
    pub fn new(octets: Vec<u8>) -> Self {
        Self { octets, bad: false }
    }

    /// Random octets, `length` of them (at least one).
    pub fn random(random: &mut Random, length: usize) -> Self {
        Self::new((0..length.max(1)).map(|_| random.word() as u8).collect())
    }

    /// Its beats.
    ///
    /// # Panics
    /// Never: a `tkeep` has a bit for each octet.
    #[must_use]
    pub fn beats<D: Data>(&self) -> Vec<Beat<D>> {
        let count = self.octets.len().div_ceil(D::OCTETS);
        let beat = |(index, octets): (usize, &[u8])| {
            let last = index + 1 == count;
            let keep = D::Keep::try_from(!0 >> (64 - octets.len())).ok().expect("a bit for each octet");
            Beat { data: D::of(octets), keep, last, user: last && self.bad }
        };
        self.octets.chunks(D::OCTETS).enumerate().map(beat).collect()
    }
}

/// Feeds an input: shows a beat until it is taken, with gaps as the test asks for them.
#[derive(Debug, Clone, Default)]
pub struct Source<D: Data = u64> {
    coming: VecDeque<Beat<D>>,
    shown: Option<Beat<D>>,
}

impl<D: Data> Source<D> {
    /// One more frame to send.
    pub fn push(&mut self, frame: &Frame) {
        self.coming.extend(frame.beats());
    }

    /// Beats still to come.
    #[must_use]
    pub fn left(&self) -> usize {
        self.coming.len() + usize::from(self.shown.is_some())
    }

    /// The state of the wires in this clock; a beat that is not yet shown begins only if `may`.
    pub fn show(&mut self, may: bool) -> Option<Beat<D>> {
        if self.shown.is_none() && may {
            self.shown = self.coming.pop_front();
        }
        self.shown
    }

    /// The beat shown is taken at the end of this clock; returns it.
    ///
    /// # Panics
    /// If none is shown.
    pub fn take(&mut self) -> Beat<D> {
        self.shown.take().expect("a beat is taken only if one is shown")
    }

    /// Reset: beats that were to come never come.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

/// Reads an output and gives whole frames.
#[derive(Debug, Clone, Default)]
pub struct Sink<D: Data = u64> {
    frame: Frame,
    waits: Option<Beat<D>>,
}

impl<D: Data> Sink<D> {
    /// The state of the wires in this clock, and whether it is taken; a frame if this was its last beat.
    ///
    /// # Panics
    /// If a rule of the streams is broken.
    pub fn see(&mut self, valid: bool, beat: Beat<D>, ready: bool) -> Option<Frame> {
        if let Some(waits) = self.waits.take() {
            assert!(valid, "a beat that was shown is withdrawn");
            // Data behind tkeep may be anything.
            assert_eq!(
                (beat.keep, beat.last, beat.user),
                (waits.keep, waits.last, waits.user),
                "a beat that is shown changes"
            );
            assert_eq!(beat.data, waits.data, "a beat that is shown changes");
        }
        if !valid {
            return None;
        }
        if !ready {
            self.waits = Some(beat);
            return None;
        }
        let keep: u64 = beat.keep.into();
        assert!(keep & keep.wrapping_add(1) == 0, "tkeep is contiguous");
        assert!(keep != 0, "a beat has an octet");
        assert!(keep.count_ones() as usize == D::OCTETS || beat.last, "all beats but the last are full");
        self.frame.octets.extend(beat.octets());
        beat.last.then(|| {
            let mut frame = std::mem::take(&mut self.frame);
            frame.bad = beat.user;
            frame
        })
    }

    /// Reset: a frame that had begun never ends.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

/// A length as test frames have it: the corners are favoured.
pub fn length(random: &mut Random) -> usize {
    match random.below(8) {
        0 => 1 + random.below(16) as usize,
        1 | 2 => 60,
        3 => 1514,
        4 => 57 + random.below(16) as usize,
        5 => 8 * (1 + random.below(20)) as usize,
        _ => 60 + random.below(400) as usize,
    }
}
