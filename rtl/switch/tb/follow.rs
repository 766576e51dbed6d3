//! Follows a congestion point by its outputs. Each sample, its Fb, whether it calls for a message, and the interval
//! behind it are those of the simulator's state machine, in the clocks that the core's documentation states.

use std::collections::VecDeque;

use penstock_cosim::stream::Frame;
use penstock_schemes::parts::sampler::Sampling;
use penstock_schemes::parts::sampling_cp::Sample;

use crate::reference::{Answer, DRAW, QCN_SAMPLE, RELOAD, Reference, SMCC_SAMPLE, Settings, TABLE, Variant};

/// The outputs of a congestion point in a clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shown {
    /// An arrival: its length, that it was refused, the queue with it.
    pub event: Option<(u16, bool, u64)>,
    /// A sample: that it calls for a message, and its Fb.
    pub sample: Option<(bool, u8)>,
    pub draw: bool,
    pub reloaded: Option<u64>,
}

/// The outputs that its events call for.
pub struct Follow {
    variant: Variant,
    settings: Settings,
    reference: Reference,
    clock: u64,
    answer: Option<(u64, Answer, Option<Sample>)>,
    reload: Option<(u64, u64)>,
    /// Answers whose message has not been seen.
    awaited: VecDeque<Answer>,
    /// Answers whose message did not come before that of a later one.
    lost: u64,
    pub samples: u64,
}

impl Follow {
    /// From reset on: QCN by its table, or SMCC by count.
    pub fn new(smcc: bool, settings: Settings) -> Self {
        let variant = if smcc { Variant { smcc, sampling: Sampling::Count, ..TABLE } } else { TABLE };
        Self {
            variant,
            settings,
            reference: Reference::new(variant, &settings),
            clock: 0,
            answer: None,
            reload: None,
            awaited: VecDeque::new(),
            lost: 0,
            samples: 0,
        }
    }

    /// A clock, and the random word in it.
    pub fn clock(&mut self, shown: &Shown, word: u32) {
        let (now, table) = (self.clock, !self.variant.smcc);
        let after = if table { QCN_SAMPLE } else { SMCC_SAMPLE };
        if let Some((octets, dropped, met)) = shown.event {
            assert!(self.answer.is_none(), "clock {now}: one arrival at a time");
            self.answer =
                self.reference.arrive(octets, dropped, met, word).map(|(answer, sample)| (now + after, answer, sample));
        }
        let due = self.answer.filter(|&(then, ..)| then == now).map(|(_, answer, _)| answer);
        assert_eq!(shown.sample, due.map(|answer| (answer.congested, answer.fb)), "clock {now}");
        if let Some(answer) = due {
            self.samples += 1;
            if answer.congested {
                self.awaited.push_back(answer);
            }
        }
        let draws = self.answer.filter(|&(then, ..)| now == then + if table { DRAW } else { 0 });
        assert_eq!(shown.draw, draws.is_some() && table, "clock {now}");
        if let Some((then, _, sample)) = draws {
            self.answer = None;
            if let Some(sample) = sample {
                let len = (sample.measure.q_off + i64::from(self.settings.q_eq)) as u64;
                self.reference.conclude(&sample, len, word);
                self.reload = Some((then + RELOAD, self.reference.left()));
            }
        }
        if table {
            let due = self.reload.take_if(|(then, _)| *then == now);
            assert_eq!(shown.reloaded, due.map(|(_, left)| left), "clock {now}");
        }
        self.clock += 1;
    }

    /// The frame of a message: it agrees with the oldest answer whose message was neither seen nor lost. Gives its
    /// destination.
    pub fn message(&mut self, frame: &Frame) -> u64 {
        let smcc = self.variant.smcc;
        let message = Message::of(frame, smcc).expect("it is one");
        let place = self.awaited.iter().position(|answer| message.says == says(smcc, answer));
        let before =
            place.unwrap_or_else(|| panic!("{message:?} needs a sample that calls for it: {:?}", self.awaited));
        self.awaited.drain(..=before);
        self.lost += before as u64;
        message.destination
    }

    /// Answers whose message has not come.
    pub fn missing(&self) -> u64 {
        self.lost + self.awaited.len() as u64
    }
}

/// The answer that a message holds, as its fields have it: Fb, offset, growth.
pub type Says = (u8, i64, i64);

/// The fields for an answer: QCN's in units of 64 octets rounded towards zero, its offset the set point less the queue.
fn says(smcc: bool, answer: &Answer) -> Says {
    let units = |octets: i64| (octets / 64).clamp(i16::MIN.into(), i16::MAX.into());
    if smcc { (0, answer.q_off, answer.q_delta) } else { (answer.fb, units(-answer.q_off), units(answer.q_delta)) }
}

/// A message without tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    pub destination: u64,
    pub says: Says,
    /// The congestion point.
    pub cp_id: u64,
}

impl Message {
    /// The message in a frame, if it is one.
    pub fn of(frame: &Frame, smcc: bool) -> Option<Self> {
        let octets = &frame.octets;
        let number = |at: usize, count: usize| octets[at..at + count].iter().fold(0, |all, &o| all << 8 | u64::from(o));
        if octets.len() < 60 || number(12, 2) != if smcc { 0x88b5 } else { 0x22e7 } {
            return None;
        }
        let fields = if smcc {
            (0, i64::from(number(38, 4) as i32), i64::from(number(42, 4) as i32))
        } else {
            (octets[15] & 63, i64::from(number(24, 2) as i16), i64::from(number(26, 2) as i16))
        };
        Some(Self { destination: number(0, 6), says: fields, cp_id: number(16, 8) })
    }
}
