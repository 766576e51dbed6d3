//! Frames as beats of the cores' streams: a source feeds an input, a sink reads an output and holds it to the rules.
//!
//! The rules (rtl/README.md): octet 0 in the lowest bits, `tkeep` contiguous and all ones but with `tlast`, and a beat
//! that is shown stays until it is taken.

use std::collections::VecDeque;

use crate::Random;

/// Octets of a beat.
pub const BEAT: usize = 8;

/// One beat as the wires show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Beat {
    /// `tdata`.
    pub data: u64,
    /// `tkeep`.
    pub keep: u8,
    /// `tlast`.
    pub last: bool,
    /// `tuser`: with `last`, the frame is bad.
    pub user: bool,
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
    #[must_use]
    pub fn beats(&self) -> Vec<Beat> {
        let count = self.octets.len().div_ceil(BEAT);
        let beat = |(index, octets): (usize, &[u8])| {
            let mut word = [0; BEAT];
            word[..octets.len()].copy_from_slice(octets);
            let last = index + 1 == count;
            let keep = (0xff_u16 >> (BEAT - octets.len())) as u8;
            Beat { data: u64::from_le_bytes(word), keep, last, user: last && self.bad }
        };
        self.octets.chunks(BEAT).enumerate().map(beat).collect()
    }
}

/// Feeds an input: shows a beat until it is taken, with gaps as the test asks for them.
#[derive(Debug, Clone, Default)]
pub struct Source {
    coming: VecDeque<Beat>,
    shown: Option<Beat>,
}

impl Source {
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
    pub fn show(&mut self, may: bool) -> Option<Beat> {
        if self.shown.is_none() && may {
            self.shown = self.coming.pop_front();
        }
        self.shown
    }

    /// The beat shown is taken at the end of this clock; returns it.
    ///
    /// # Panics
    /// If none is shown.
    pub fn take(&mut self) -> Beat {
        self.shown.take().expect("a beat is taken only if one is shown")
    }

    /// Reset: beats that were to come never come.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

/// Reads an output and gives whole frames.
#[derive(Debug, Clone, Default)]
pub struct Sink {
    frame: Frame,
    waits: Option<Beat>,
}

impl Sink {
    /// The state of the wires in this clock, and whether it is taken; a frame if this was its last beat.
    ///
    /// # Panics
    /// If a rule of the streams is broken.
    pub fn see(&mut self, valid: bool, beat: Beat, ready: bool) -> Option<Frame> {
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
        let octets = beat.keep.count_ones() as usize;
        assert_eq!(u16::from(beat.keep), (1u16 << octets) - 1, "tkeep is contiguous");
        assert!(octets > 0, "a beat has an octet");
        assert!(octets == BEAT || beat.last, "all beats but the last are full");
        self.frame.octets.extend(&beat.data.to_le_bytes()[..octets]);
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
