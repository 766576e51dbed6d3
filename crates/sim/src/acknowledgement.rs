//! What is in flight: counted at the source from what it sends and from what destinations acknowledge.
//!
//! ```text
//!   destination: arrived, lost ---- acknowledgement ----> source: known (arrived, lost) of each destination
//!                                                         flow:   in flight = sent - settled
//! ```
//!
//! An octet is *settled* when it is known to have arrived or to be lost; of a flow with several destinations, when that is
//! known of all of them. Frames of a flow stay in order, so that a destination that sees a frame knows that all frames before
//! it have arrived or are lost. Trimmed frames overtake others; a destination counts those one by one.

use penstock_schemes::{Ack, Duration, Instant, NotificationPoint, Octets, ReactionPoint, Scheme};

use crate::engine::{NpState, Sim};
use crate::event::Event;
use crate::event_queue::EventQueue;
use crate::fabric::Sender;
use crate::frame::{Marks, NONE, Payload, Slot};
use crate::network::HopId;
use crate::probe::Probe;
use crate::source::FlowState;

/// Whether destinations acknowledge frames of scheme `S`: its type of echo has values.
pub(crate) const fn acknowledged<S: Scheme>() -> bool {
    size_of::<Option<S::Echo>>() > 0
}

/// What has come to a destination of a flow.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Receipt {
    /// Octets of whole frames.
    pub(crate) arrived: u64,
    /// Octets of frames of which the header alone came.
    trimmed: u64,
    /// End of the last whole frame, in octets of the flow.
    end: u64,
    lost: u64,
}

impl Receipt {
    /// A frame has come whose first octet is the `seq`-th of the flow and that was sent with `octets`.
    pub(crate) fn take(&mut self, seq: u64, octets: u64, trimmed: bool) {
        if trimmed {
            self.trimmed += octets;
        } else {
            self.arrived += octets;
            self.end = seq + octets;
        }
        let missing = self.end.saturating_sub(self.arrived + self.trimmed);
        self.lost = self.lost.max(self.trimmed + missing);
    }

    /// Octets that are known to be lost, as an acknowledgement carries them.
    pub(crate) fn lost(&self) -> u32 {
        self.lost as u32
    }
}

/// What the source knows of one destination.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Known {
    arrived: u64,
    lost: u64,
}

impl Known {
    /// An acknowledgement says this; an older one than that which came last says nothing.
    pub(crate) fn learn(&mut self, arrived: u64, lost: u32) {
        if arrived >= self.arrived {
            self.arrived = arrived;
            self.lost += u64::from(lost.wrapping_sub(self.lost as u32));
        }
    }
}

/// Octets that an acknowledgement has settled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Settled {
    pub(crate) acked: u64,
    pub(crate) lost: u64,
}

/// The least time without acknowledgement after which what is in flight counts as lost: far above the queueing of a data
/// center.
const LEAST_SILENCE: u64 = 1_000_000_000;
/// The same before the first round trip is known.
const FIRST_SILENCE: u64 = 100_000_000_000;
/// How often in a row it doubles.
const MOST_DOUBLINGS: u32 = 6;

/// What a flow has in flight.
#[derive(Debug, Clone, Default)]
pub(crate) struct InFlight {
    /// Octets sent since the start.
    sent: u64,
    /// Octets settled: arrived, and lost.
    arrived: u64,
    lost: u64,
    /// Octets sent before the last silence: settled whatever comes.
    given_up: u64,
    /// Smoothed round-trip time and its variation, ps. (RFC 6298, section 2)
    round_trip: Option<(u64, u64)>,
    doublings: u32,
    /// When nothing has come for too long; `None` while nothing is in flight.
    pub(crate) deadline: Option<u64>,
    /// An event for the deadline, or for an earlier one, is under way.
    pub(crate) watched: bool,
}

impl InFlight {
    pub(crate) fn octets(&self) -> u64 {
        self.sent - self.settled()
    }

    fn settled(&self) -> u64 {
        (self.arrived + self.lost).max(self.given_up).min(self.sent)
    }

    pub(crate) fn send(&mut self, now: u64, octets: u64) {
        self.sent += octets;
        self.deadline = self.deadline.or(Some(now.saturating_add(self.silence())));
    }

    /// An acknowledgement has come after `round_trip`; `known` is what all destinations have told.
    pub(crate) fn acknowledge(&mut self, now: u64, round_trip: u64, known: &[Known]) -> Settled {
        self.doublings = 0;
        self.time(round_trip);
        let (before, acked_before) = (self.settled(), self.arrived);
        let arrived = known.iter().map(|k| k.arrived).min().unwrap_or(0);
        let settled = known.iter().map(|k| k.arrived + k.lost).min().unwrap_or(0);
        self.arrived = self.arrived.max(arrived);
        self.lost = self.lost.max(settled.saturating_sub(self.arrived));
        let newly = self.settled() - before;
        let acked = (self.arrived - acked_before).min(newly);
        self.deadline = (self.octets() > 0).then(|| now.saturating_add(self.silence()));
        Settled { acked, lost: newly - acked }
    }

    /// Nothing has come for too long: all that is in flight is lost. Returns how many octets.
    pub(crate) fn give_up(&mut self) -> u64 {
        let lost = self.octets();
        self.given_up = self.sent;
        self.doublings = (self.doublings + 1).min(MOST_DOUBLINGS);
        self.deadline = None;
        lost
    }

    /// RFC 6298, (2.2) and (2.3).
    fn time(&mut self, sample: u64) {
        self.round_trip = Some(match self.round_trip {
            None => (sample, sample / 2),
            Some((smoothed, variation)) => {
                let difference = smoothed.abs_diff(sample);
                (smoothed - smoothed / 8 + sample / 8, variation - variation / 4 + difference / 4)
            }
        });
    }

    /// RFC 6298's time-out, with a least one for data centers, doubled for each that has run out since.
    fn silence(&self) -> u64 {
        let timeout = match self.round_trip {
            None => FIRST_SILENCE,
            Some((smoothed, variation)) => (smoothed + 4 * variation).max(LEAST_SILENCE),
        };
        timeout.saturating_mul(1 << self.doublings)
    }
}

impl FlowState {
    /// A frame of `octets` goes at `now`.
    #[inline]
    pub(crate) fn send(&mut self, now: u64, index: u32, octets: u16, events: &mut EventQueue) {
        self.in_flight.send(now, octets.into());
        self.watch(index, events);
    }

    /// Sees to it that its silence is noticed.
    fn watch(&mut self, index: u32, events: &mut EventQueue) {
        if let Some(deadline) = self.in_flight.deadline
            && !self.in_flight.watched
        {
            self.in_flight.watched = true;
            events.schedule(deadline, Event::Silence(index));
        }
    }
}

/// An acknowledgement that is to be sent: the time of release of the frame that it answers, and what it says.
pub(crate) struct Answer<S: Scheme> {
    sent_at: u64,
    echo: S::Echo,
}

impl<S: Scheme> NpState<S> {
    /// Counts the data frame in `slot`, and asks whether to acknowledge it.
    pub(crate) fn acknowledge(
        &mut self,
        now: u64,
        slot: &mut Slot<S>,
        weight: u16,
        flow: &FlowState,
    ) -> Option<Answer<S>> {
        let trimmed = slot.marks.contains(Marks::TRIMMED);
        let octets = if trimmed { flow.octets_of(slot.marks.contains(Marks::LAST)) } else { slot.octets };
        self.receipt.take(slot.seq, octets.into(), trimmed);
        let sent_at = slot.sent_at;
        let echo = self.np.acknowledge(Instant(now), slot.data(weight)?)?;
        Some(Answer { sent_at, echo })
    }
}

impl<S: Scheme, P: Probe<S>, const PFC: bool> Sim<S, P, PFC> {
    /// An acknowledgement leaves the place of notification point `np`, as a control frame.
    pub(crate) fn send_ack(&mut self, np: u32, answer: Answer<S>) {
        let NpState { flow, leaf, receipt, ack_octets, .. } = self.nps[np as usize];
        let fabric = &mut self.state.fabric;
        let slot = Slot {
            next: NONE,
            flow,
            hop: leaf,
            octets: ack_octets,
            class: fabric.control_class(),
            marks: Marks::NONE,
            sent_at: answer.sent_at,
            seq: receipt.arrived,
            at: 0,
            payload: Payload::Ack { np, lost: receipt.lost(), echo: answer.echo },
        };
        let index = fabric.frames.insert(slot);
        self.state.totals.acks_sent += 1;
        self.climb(index, HopId(leaf), NONE);
    }

    /// An acknowledgement has reached its source.
    pub(crate) fn ack_arrives(&mut self, index: u32, np: u32, lost: u32, echo: S::Echo) {
        let slot = self.state.fabric.frames.get(index);
        let (flow_index, sent_at, arrived) = (slot.flow, slot.sent_at, slot.seq);
        self.state.fabric.frames.remove(index);
        self.state.totals.acks_delivered += 1;
        let now = self.state.fabric.now;
        let flow = &mut self.state.flows[flow_index as usize];
        self.known[np as usize].learn(arrived, lost);
        let settled = flow.in_flight.acknowledge(now, now - sent_at, &self.known[flow.destinations.places()]);
        flow.watch(flow_index, &mut self.state.fabric.events);
        let limiter_index = flow.limiter;
        let limiter = &mut self.state.limiters[limiter_index as usize];
        let Some(rp) = &mut limiter.rp else { return };
        limiter.in_flight -= settled.acked + settled.lost;
        let ack = Ack { acked: Octets(settled.acked), lost: Octets(settled.lost), rtt: Duration(now - sent_at), echo };
        let key = FlowState::key(flow_index);
        rp.on_ack(Instant(now), key, &ack, &mut limiter.stream, &mut Sender(&mut self.outbox));
        self.after_rp(limiter_index);
        self.reschedule(limiter_index);
    }

    /// Time passes without acknowledgements of a flow.
    pub(crate) fn silence(&mut self, flow_index: u32) {
        let now = self.state.fabric.now;
        let flow = &mut self.state.flows[flow_index as usize];
        flow.in_flight.watched = false;
        if flow.in_flight.deadline.is_some_and(|deadline| deadline <= now) {
            let lost = flow.in_flight.give_up();
            let limiter_index = flow.limiter;
            let limiter = &mut self.state.limiters[limiter_index as usize];
            limiter.in_flight -= lost;
            if let Some(rp) = &mut limiter.rp {
                rp.on_silence(Instant(now), FlowState::key(flow_index), Octets(lost));
                self.after_rp(limiter_index);
                self.reschedule(limiter_index);
            }
        }
        self.state.flows[flow_index as usize].watch(flow_index, &mut self.state.fabric.events);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames of 1000 octets: 0 and 2 come, 1 and 3 do not, 4 does.
    #[test]
    fn a_gap_is_a_loss() {
        let mut receipt = Receipt::default();
        let mut seen = Vec::new();
        for frame in [0, 2, 4] {
            receipt.take(frame * 1000, 1000, false);
            seen.push((receipt.arrived, receipt.lost()));
        }
        assert_eq!(seen, [(1000, 0), (2000, 1000), (3000, 2000)]);
    }

    /// The header of frame 2 overtakes frame 1; frame 3 is lost.
    #[test]
    fn a_trimmed_frame_is_lost_once() {
        let mut receipt = Receipt::default();
        let mut seen = Vec::new();
        for (frame, trimmed) in [(0, false), (2, true), (1, false), (4, false)] {
            receipt.take(frame * 1000, 1000, trimmed);
            seen.push((receipt.arrived, receipt.lost()));
        }
        assert_eq!(seen, [(1000, 0), (1000, 1000), (2000, 1000), (3000, 2000)]);
    }

    fn known(arrived: u64, lost: u64) -> Known {
        Known { arrived, lost }
    }

    #[test]
    fn what_is_settled_is_no_longer_in_flight() {
        let mut f = InFlight::default();
        f.send(0, 4000);
        assert_eq!((f.octets(), f.deadline), (4000, Some(FIRST_SILENCE)));
        assert_eq!(f.acknowledge(10_000_000, 10_000_000, &[known(1000, 0)]), Settled { acked: 1000, lost: 0 });
        assert_eq!(f.acknowledge(20_000_000, 10_000_000, &[known(2000, 1000)]), Settled { acked: 1000, lost: 1000 });
        // Round trips of 10 us: far below the least silence.
        assert_eq!((f.octets(), f.deadline), (1000, Some(20_000_000 + LEAST_SILENCE)));
        assert_eq!(f.acknowledge(30_000_000, 10_000_000, &[known(3000, 1000)]), Settled { acked: 1000, lost: 0 });
        assert_eq!((f.octets(), f.deadline), (0, None));
    }

    /// The slower of two destinations decides.
    #[test]
    fn a_frame_is_settled_when_all_destinations_have_it() {
        let mut f = InFlight::default();
        f.send(0, 2000);
        assert_eq!(f.acknowledge(1, 1, &[known(2000, 0), known(0, 0)]), Settled { acked: 0, lost: 0 });
        assert_eq!(f.acknowledge(2, 1, &[known(2000, 0), known(1000, 1000)]), Settled { acked: 1000, lost: 1000 });
        assert_eq!(f.octets(), 0);
    }

    /// After a silence, late acknowledgements settle nothing twice.
    #[test]
    fn what_was_given_up_stays_given_up() {
        let mut f = InFlight::default();
        f.send(0, 3000);
        assert_eq!(f.give_up(), 3000);
        f.send(5, 1000);
        assert_eq!((f.octets(), f.deadline), (1000, Some(5 + 2 * FIRST_SILENCE)), "it waits twice as long");
        assert_eq!(f.acknowledge(6, 1, &[known(2000, 0)]), Settled { acked: 0, lost: 0 });
        assert_eq!(f.acknowledge(7, 1, &[known(3000, 1000)]), Settled { acked: 1000, lost: 0 });
    }

    /// Losses are counted modulo 2^32, and an older acknowledgement says nothing.
    #[test]
    fn losses_wrap() {
        let mut k = known(10, u64::from(u32::MAX));
        k.learn(20, 4);
        assert_eq!(k, known(20, (1 << 32) + 4));
        k.learn(15, 2);
        assert_eq!(k, known(20, (1 << 32) + 4));
    }
}
