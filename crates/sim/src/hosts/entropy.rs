//! The entropy values of a flow's frames, where switches choose paths by them, and what acknowledgements say of these paths.

use penstock_endpoint::entropy::RecycledEntropy;
use penstock_endpoint::entropy_states::{EntropyStates, Heard, PathChanges, Profile, Turn};
use penstock_endpoint::transport::{AnySender, Segment, Sender};
use penstock_schemes::Instant;

use crate::random::Stream;

/// The entropy value of a frame or probe, or of that which an acknowledgement answers. A frame arrives as far as its value says, until a switch trims or
/// marks it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entropy {
    pub(crate) turn: Turn,
    /// The part of the value by which the switches that follow choose.
    pub(crate) rest: u16,
    pub(crate) heard: Heard,
}

impl Entropy {
    pub(crate) fn new(turn: Turn) -> Self {
        Self { turn, rest: turn.value, heard: Heard::Arrived }
    }
}

/// How a source chooses the values of its frames.
#[derive(Debug, Clone)]
pub(crate) enum Values {
    /// Values of answered frames again, or random ones.
    Recycled(RecycledEntropy, Stream),
    /// A list of values in turns.
    Turns(EntropyStates),
}

impl Values {
    pub(crate) fn new(profile: Option<&Profile>, mut words: Stream) -> Self {
        match profile {
            Some(profile) => Self::Turns(EntropyStates::new(profile, &mut words)),
            None => Self::Recycled(RecycledEntropy::default(), words),
        }
    }

    /// The value of a frame that is sent now with `segment`.
    pub(crate) fn next(&mut self, now: Instant, segment: &Segment) -> Entropy {
        Entropy::new(match self {
            Self::Recycled(values, words) => {
                if segment.retransmission {
                    values.on_loss(now);
                }
                Turn { value: values.next(now, words), slot: 0, number: None }
            }
            Self::Turns(values) => values.next(now, segment.seq),
        })
    }

    /// An acknowledgement has come. It answers a frame with `answered`, of which only the header has arrived if it is `cut`.
    pub(crate) fn on_answer(&mut self, now: Instant, answered: Entropy, cut: bool, sender: &AnySender) {
        match self {
            Self::Recycled(values, _) => {
                values.on_ack(now, answered.turn.value, answered.heard != Heard::Arrived);
                if cut {
                    values.on_trimmed();
                }
            }
            Self::Turns(values) => values.on_answer(now, answered.turn, answered.heard, |seq| sender.has_arrived(seq)),
        }
    }

    /// The transport has timed out.
    pub(crate) fn on_silence(&mut self, now: Instant, sender: &AnySender) {
        if let Self::Turns(values) = self {
            values.on_silence(now, |seq| sender.has_arrived(seq));
        }
    }

    /// The value of the probe that is due now.
    pub(crate) fn probe(&mut self, now: Instant) -> Option<Entropy> {
        let Self::Turns(values) = self else { return None };
        values.probe(now).map(Entropy::new)
    }

    /// How often states of values have changed.
    pub(crate) fn changes(&self) -> PathChanges {
        match self {
            Self::Recycled(..) => PathChanges::default(),
            Self::Turns(values) => values.changes(),
        }
    }
}
