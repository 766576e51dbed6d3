//! Destinations: where a flow's frames arrive and are acknowledged.
//!
//! Frames of a flow stay in order, so that a destination that sees a frame knows that all frames before it have arrived or
//! are lost. Trimmed frames overtake others; a destination counts those one by one. If frames take several paths any may
//! overtake others: a gap counts as lost then when it is still there after many more.

use penstock_schemes::{BitRate, Draw, FlowKey, Frame, HEADER, Instant, NotificationPoint, Octets, Out, Scheme};

use crate::ids::DestinationId;
use crate::timer::{Alarms, Timer};

/// Whether destinations acknowledge frames of scheme `S`: its type of echo has values.
#[must_use]
pub const fn acknowledged<S: Scheme>() -> bool {
    size_of::<Option<S::Echo>>() > 0
}

/// An acknowledgement, as it travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Acknowledgement<E> {
    /// When the frame that it answers was released.
    pub sent_at: Instant,
    /// Octets of the flow that have arrived since its start.
    pub arrived: Octets,
    /// Octets of the flow that are known to be lost since its start, modulo 2^32.
    pub lost: u32,
    /// The echo that the notification point wrote.
    pub echo: E,
}

/// A destination of a flow: its notification point, its record of the frames that have come, its acknowledgements.
#[derive(Debug, Clone)]
pub struct Destination<S: Scheme, D> {
    np: S::Np,
    draw: D,
    flow: FlowKey,
    number: u32,
    /// Time of the earliest pending timer.
    armed: Instant,
    receipt: Receipt,
    acknowledgement_octets: u16,
    /// It is in the list of its port's [`Grants`](crate::Grants).
    pub(crate) in_turn: bool,
    /// It is in that of its port's [`Ranks`](crate::Ranks).
    pub(crate) ranked: bool,
}

impl<S: Scheme, D: Draw> Destination<S, D> {
    /// The destination of `flow` with the scheme's settings, the `number`-th of all. Random words come from `draw`.
    pub fn new(config: &S::Config, flow: FlowKey, number: u32, draw: D) -> Self {
        Self {
            np: S::Np::new(config, flow),
            draw,
            flow,
            number,
            armed: Instant::NEVER,
            receipt: Receipt::default(),
            acknowledgement_octets: HEADER + S::echo_octets(config),
            in_turn: false,
            ranked: false,
        }
    }

    /// Frames of its flow may overtake one another.
    pub fn expect_disorder(&mut self) {
        self.receipt.gaps.get_or_insert(Gaps::NONE);
    }

    /// The scheme's parameters change, but not the length of acknowledgements.
    pub fn configure(&mut self, config: &S::Config) {
        self.np.configure(config);
    }

    /// The flow that ends here.
    #[must_use]
    pub fn flow(&self) -> FlowKey {
        self.flow
    }

    /// Its number among all destinations, which orders its timers: its index in their list, unless a slot was
    /// reused.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Length of its acknowledgements, octets with FCS.
    #[must_use]
    pub fn acknowledgement_octets(&self) -> u16 {
        self.acknowledgement_octets
    }

    /// A data frame has come, whole or cut down to its header.
    #[inline(always)]
    pub fn on_frame(&mut self, now: Instant, frame: Frame<'_, S::Tag>, out: &mut impl Out<S>) {
        self.np.on_frame(now, frame, &mut self.draw, out);
    }

    /// The acknowledgement of the frame that was given to [`on_frame`](Self::on_frame), which its source had sent with
    /// `octets`; `None` if it is not acknowledged.
    pub fn acknowledge(
        &mut self,
        now: Instant,
        frame: Frame<'_, S::Tag>,
        octets: u16,
    ) -> Option<Acknowledgement<S::Echo>> {
        self.receipt.take(frame.seq, octets, frame.trimmed);
        let sent_at = frame.sent_at;
        let echo = self.np.acknowledge(now, frame)?;
        Some(Acknowledgement { sent_at, arrived: Octets(self.receipt.arrived), lost: self.receipt.lost(), echo })
    }

    /// All octets of the flow, or of a message of it, have come.
    pub fn on_complete(&mut self, now: Instant, out: &mut impl Out<S>) {
        self.np.on_complete(now, out);
    }

    /// Whether it wants to grant a frame and has not asked for a turn.
    #[inline(always)]
    pub(crate) fn wants_turn(&self) -> bool {
        S::Np::GRANTS && !self.in_turn && self.np.asks()
    }

    /// It is its turn to grant a frame: the octets of that, or 0.
    pub(crate) fn grant(&mut self, now: Instant, line: BitRate, out: &mut impl Out<S>) -> u16 {
        self.np.grant(now, line, &mut self.draw, out)
    }

    /// Octets that its notification point has not granted, if points are ranked by that.
    #[must_use]
    #[inline]
    pub fn left_to_grant(&self) -> Option<u64> {
        if S::Np::RANKS { self.np.left_to_grant() } else { None }
    }

    /// It may grant at `place` among the `of` of its host that have something left; whether the next one may, too.
    pub fn grant_ranked(&mut self, now: Instant, place: u32, of: u32, out: &mut impl Out<S>) -> bool {
        self.np.grant_ranked(now, place, of, out)
    }

    /// A signal for the destination has come.
    #[inline]
    pub fn on_signal(&mut self, now: Instant, signal: S::Signal, out: &mut impl Out<S>) {
        self.np.on_signal(now, self.flow, signal, &mut self.draw, out);
    }

    /// The timer of `own`, this destination, has expired; false if it is no longer the one that counts.
    pub fn on_timeout(
        &mut self,
        now: Instant,
        own: DestinationId,
        alarms: &mut impl Alarms,
        out: &mut impl Out<S>,
    ) -> bool {
        if self.armed != now {
            return false;
        }
        self.armed = Instant::NEVER;
        self.np.on_timeout(now, &mut self.draw, out);
        self.arm(own, alarms);
        true
    }

    /// Whether its notification point has no timer, waits for no turn, and has nothing left to grant.
    #[must_use]
    pub fn rests(&self) -> bool {
        self.np.next_timeout().is_none() && !self.in_turn && !self.ranked
    }

    /// Asks for the timer of `own`, this destination: to be called after each of the calls above.
    #[inline(always)]
    pub fn arm(&mut self, own: DestinationId, alarms: &mut impl Alarms) {
        if let Some(at) = self.np.next_timeout()
            && at < self.armed
        {
            self.armed = at;
            alarms.wake(at, Timer::Destination(own), self.number);
        }
    }
}

/// A destination's record of the frames that have come.
#[derive(Debug, Clone, Copy, Default)]
struct Receipt {
    /// Octets of whole frames.
    arrived: u64,
    /// Octets of frames of which the header alone came.
    trimmed: u64,
    /// End of the last whole frame, in octets of the flow.
    end: u64,
    lost: u64,
    /// The gaps where frames may overtake one another; `None` where they keep their order.
    gaps: Option<Gaps>,
}

/// The frames after which a gap that has not closed is a loss.
const PATIENCE: u32 = 128;

/// The gaps since they were judged last.
#[derive(Debug, Clone, Copy)]
struct Gaps {
    /// The fewest octets that were missing at once. Lost octets are missing all the time, late ones are not.
    least: u64,
    /// How many frames have come.
    frames: u32,
    /// Octets that are known to be lost.
    lost: u64,
}

impl Gaps {
    const NONE: Self = Self { least: u64::MAX, frames: 0, lost: 0 };

    /// `missing` octets are missing now. Returns how many are known to be lost since the start.
    fn judge(&mut self, missing: u64) -> u64 {
        self.least = self.least.min(missing);
        self.frames += 1;
        if self.frames == PATIENCE {
            let lost = self.lost.max(self.least);
            *self = Self { lost, ..Self::NONE };
        }
        self.lost
    }
}

impl Receipt {
    /// A frame has come whose first octet is the `seq`-th of the flow and that was sent with `octets`.
    fn take(&mut self, seq: Octets, octets: u16, trimmed: bool) {
        let octets = u64::from(octets);
        if trimmed {
            self.trimmed += octets;
        } else {
            self.arrived += octets;
            self.end = self.end.max(seq.0 + octets);
        }
        let mut missing = self.end.saturating_sub(self.arrived + self.trimmed);
        if let Some(gaps) = &mut self.gaps {
            missing = gaps.judge(missing);
        }
        self.lost = self.lost.max(self.trimmed + missing);
    }

    /// Octets that are known to be lost, as an acknowledgement carries them.
    fn lost(&self) -> u32 {
        self.lost as u32
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
            receipt.take(Octets(frame * 1000), 1000, false);
            seen.push((receipt.arrived, receipt.lost()));
        }
        assert_eq!(seen, [(1000, 0), (2000, 1000), (3000, 2000)]);
    }

    /// Each odd frame comes after the even one behind it; frame 100 is lost. Where nothing overtakes, each of them looks lost.
    #[test]
    fn a_late_frame_is_no_loss() {
        let pairs = (0..500).flat_map(|pair| [2 * pair + 1, 2 * pair]).filter(|frame| *frame != 100);
        let lost = |gaps| {
            let mut receipt = Receipt { gaps, ..Receipt::default() };
            pairs.clone().for_each(|frame| receipt.take(Octets(frame * 1000), 1000, false));
            (receipt.arrived, receipt.lost())
        };
        assert_eq!(lost(Some(Gaps::NONE)), (999_000, 1000));
        assert_eq!(lost(None), (999_000, 2000));
    }

    /// The header of frame 2 overtakes frame 1; frame 3 is lost.
    #[test]
    fn a_trimmed_frame_is_lost_once() {
        let mut receipt = Receipt::default();
        let mut seen = Vec::new();
        for (frame, trimmed) in [(0, false), (2, true), (1, false), (4, false)] {
            receipt.take(Octets(frame * 1000), 1000, trimmed);
            seen.push((receipt.arrived, receipt.lost()));
        }
        assert_eq!(seen, [(1000, 0), (1000, 1000), (2000, 1000), (3000, 2000)]);
    }
}
