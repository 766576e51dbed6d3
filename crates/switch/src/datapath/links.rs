//! Lines with credits ([`crate::flow_control::credits`]) and with link-level retry ([`crate::flow_control::retry`]): what becomes of a frame
//! whose transmission starts, the messages that go ahead of all frames, and what they do at the far end.

use penstock_endpoint::{PortId, TrafficClass};
use penstock_schemes::{Instant, Scheme};

use crate::datapath::{Fabric, HopContext};
use crate::events::{CounterId, ELSEWHERE, Events, FrameId, PauseId, Timer};
use crate::flow_control::credits::{SYNC, UPDATE};
use crate::flow_control::pause::bits;
use crate::flow_control::pause_frames::{Message, PauseFrame};
use crate::flow_control::retry::{ACKNOWLEDGEMENT, Kept};
use crate::model::Model;
use crate::state::frame::FrameKind;
use crate::state::port::{ACK, BY_PAUSE, CREDITED, IMPAIRED, PAUSES, PortState, REPLAY, RETRIED, SYNCS, UPDATES};

/// What becomes of a frame on its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It comes to the far end.
    Intact,
    /// It comes there corrupted.
    Corrupted,
    /// The far end drops it, as this message says there, and the line keeps it to send it again.
    Kept(Message),
}

impl<S: Scheme, E: Events, M: Model> HopContext<'_, S, E, M> {
    /// The transmission of a queued frame starts on a line that is looked at.
    #[inline(never)]
    pub(super) fn start_looked_at(
        mut self,
        p: &mut PortState,
        class: TrafficClass,
        frame: (FrameId, u16),
        at: Instant,
    ) {
        let corrupted = self.reborrow().look_at_start(p, class, frame.0, at);
        let fate = self.fate(p, (class, frame), at, corrupted);
        self.capture(p, Some(class), frame.0, at, fate);
        self.begin(p, class, frame, at, fate);
        if p.attention & CREDITED != 0 {
            self.spend_credits(p, class, frame.1);
        }
    }

    /// The same for a frame of a port without queue.
    #[inline(never)]
    pub(super) fn pass_looked_at(mut self, p: &mut PortState, class: TrafficClass, frame: (FrameId, u16)) {
        let at = self.now;
        let corrupted = p.attention & IMPAIRED != 0 && Self::corrupts(self.frames, p, frame.0, at);
        let fate = self.fate(p, (class, frame), at, corrupted);
        self.capture(p, None, frame.0, at, fate);
        self.transmit(p, frame, at, fate);
        if p.attention & CREDITED != 0 {
            self.spend_credits(p, class, frame.1);
        }
    }

    fn capture(&mut self, p: &PortState, class: Option<TrafficClass>, index: FrameId, at: Instant, fate: Fate) {
        if p.captured() && !matches!(fate, Fate::Kept(_)) {
            self.observed.line_capture.frame_starts(p, class, index, at);
        }
    }

    /// What becomes of a frame whose transmission starts, and which the line corrupts or not.
    fn fate(
        &mut self,
        p: &mut PortState,
        (class, (frame, octets)): (TrafficClass, (FrameId, u16)),
        at: Instant,
        corrupted: bool,
    ) -> Fate {
        if p.attention & RETRIED == 0 {
            return if corrupted { Fate::Corrupted } else { Fate::Intact };
        }
        let control = self.frames.get(frame).kind() != FrameKind::Data;
        match self.pauses.retries[p.index.index()].as_deref_mut() {
            Some(retry) if retry.covers(class) => {
                let failed = retry.number(at, Kept { frame, octets, class, control }, corrupted);
                if let Some(due) = retry.timer() {
                    self.events.wake(due, Timer::Link(p.index));
                }
                if retry.is_full() {
                    p.hold_all(true);
                }
                failed.map_or(Fate::Intact, Fate::Kept)
            }
            _ if corrupted => Fate::Corrupted,
            _ => Fate::Intact,
        }
    }

    /// A frame reaches the far end of its line at `arrival`, but not intact.
    #[cold]
    pub(super) fn deliver_otherwise(&mut self, p: &mut PortState, index: FrameId, arrival: Instant, fate: Fate) {
        match fate {
            Fate::Kept(message) => self.send_message(p, message, arrival, false),
            _ => self.events.deliver_corrupted(arrival, index, p.index),
        }
    }

    /// A message is on the line of a port, or in the stead of a frame, and comes to the far end at `arrival`.
    fn send_message(&mut self, p: &PortState, message: Message, arrival: Instant, corrupted: bool) {
        let id = self.pauses.frames.keep(PauseFrame::of_link(p.index, message));
        let line = &mut self.pauses.lines[p.index.index()];
        (line.sent, line.messages) = (line.sent + 1, line.messages + 1);
        self.carry(p, id, arrival, corrupted);
    }

    /// A pause frame or a message comes to the far end of the line of a port at `arrival`.
    pub(super) fn carry(&mut self, p: &PortState, frame: PauseId, arrival: Instant, corrupted: bool) {
        self.events.deliver_pause(arrival, frame, p.index);
        if corrupted {
            self.pauses.frames.corrupt(frame);
        } else if p.lane == ELSEWHERE {
            self.pauses.frames.send_abroad(arrival, p.index, frame);
        }
    }

    /// The free line of a port is taken for `octets` that come out of no queue. When their end comes to the far end.
    fn take_line(&mut self, p: &mut PortState, octets: u32) -> Instant {
        let finish = p.busy_until.after(p.serialise(octets));
        p.busy_until = finish;
        p.ledger.pause_octets += u64::from(octets);
        self.events.wake(finish, Timer::LineFree(p.index));
        finish.after(p.latency)
    }

    /// The line is free, and a message or a frame that goes again waits for it.
    #[cold]
    pub(super) fn send_ahead(&mut self, p: &mut PortState) {
        let (at, answered) = (p.busy_until, self.pauses.reverse(p.index));
        let (message, octets) = if p.pauses & ACK != 0 {
            p.pauses &= !ACK;
            let Some(Some(retry)) = self.pauses.retries.get_mut(answered.index()) else { return };
            (retry.compose(at, p.rate), ACKNOWLEDGEMENT)
        } else if let Some(class) = bits(p.pauses >> UPDATES & PAUSES).next() {
            p.pauses &= !(class.bit() << UPDATES);
            let counter = self.pauses.counter_of(answered, class);
            let Some(credits) = self.pauses.credits.as_deref_mut() else { return };
            let line = &mut credits.lines[answered.index()];
            line.update_at = at + line.spacing(p.rate);
            (Message::Update { class, total: credits.states[counter.index()].announce() }, UPDATE)
        } else if let Some(class) = bits(p.pauses >> SYNCS & PAUSES).next() {
            p.pauses &= !(class.bit() << SYNCS);
            (Message::Sync { class, total: self.come_by_now(p.index, class) }, SYNC + p.overhead)
        } else {
            return self.send_again(p);
        };
        let arrival = self.take_line(p, octets);
        let corrupted = p.ledger.impairments.hit(at, octets, false);
        self.send_message(p, message, arrival, corrupted);
    }

    /// The credits of all frames that were sent on a line, but for those that are to go again.
    fn come_by_now(&self, port: PortId, class: TrafficClass) -> u64 {
        let counter = self.pauses.counter_of(port, class);
        let Some(credits) = self.pauses.credits.as_deref() else { return 0 };
        let state = &credits.states[counter.index()];
        let retry = self.pauses.retries.get(port.index()).and_then(Option::as_deref);
        state.consumed - retry.map_or(0, |retry| retry.not_taken(class, |octets| state.cells(octets)))
    }

    /// The next frame of a replay goes.
    fn send_again(&mut self, p: &mut PortState) {
        let at = p.busy_until;
        let retry = self.pauses.retries.get_mut(p.index.index()).and_then(Option::as_deref_mut);
        let Some((kept, retry)) = retry.and_then(|retry| Some((retry.next()?, retry))) else {
            p.pauses &= !REPLAY;
            return;
        };
        let octets = u32::from(kept.octets) + p.overhead;
        let corrupted = p.ledger.impairments.hit(at, octets, !kept.control);
        let (answer, goes_on) = retry.replay(at, corrupted);
        if !goes_on {
            p.pauses &= !REPLAY;
            if let Some(due) = retry.timer() {
                self.events.wake(due, Timer::Link(p.index));
            }
        }
        let arrival = self.take_line(p, octets);
        match answer {
            Ok(frame) => {
                self.capture(p, None, frame, at, Fate::Intact);
                self.events.deliver(arrival, frame, p.index, p.lane);
            }
            Err(failed) => self.send_message(p, failed, arrival, false),
        }
    }

    /// A frame has started: its credits are spent. If they do not suffice for the next one, its queue waits.
    fn spend_credits(&mut self, p: &mut PortState, class: TrafficClass, octets: u16) {
        let counter = self.pauses.counter_of(p.index, class);
        let Some(credits) = self.pauses.credits.as_deref_mut().filter(|credits| credits.counts(counter)) else {
            return;
        };
        let state = &mut credits.states[counter.index()];
        state.consumed += state.cells(octets);
        let first = p.queues[class.index()].waiting.first();
        let need = match self.frames.peek_mut(first) {
            _ if p.arbiter => state.cells(credits.largest),
            Some(slot) if first != FrameId::NONE => state.cells(slot.octets),
            _ => 0,
        };
        if !state.has(need) {
            self.wait_for_credits(p, class, need);
        }
    }

    /// A frame that comes to a queue finds too few credits, or the queue waits for some already.
    #[cold]
    pub(super) fn lacks_credits(&mut self, p: &mut PortState, class: TrafficClass, octets: u16) -> bool {
        let counter = self.pauses.counter_of(p.index, class);
        let Some(credits) = self.pauses.credits.as_deref().filter(|credits| credits.counts(counter)) else {
            return false;
        };
        let state = &credits.states[counter.index()];
        let need = state.cells(octets);
        if state.need != 0 || state.has(need) || !p.queues[class.index()].waiting.is_empty() {
            return state.need != 0;
        }
        self.wait_for_credits(p, class, need);
        true
    }

    /// A queue waits for credits, from the end of the transmission in progress on.
    fn wait_for_credits(&mut self, p: &mut PortState, class: TrafficClass, need: u64) {
        let counter = self.pauses.counter_of(p.index, class);
        p.hold(class, BY_PAUSE);
        if let Some(credits) = self.pauses.credits.as_deref_mut() {
            credits.states[counter.index()].need = need;
        }
        let stop = &mut self.pauses.stops[counter.index()];
        stop.begin(p.busy_until.max(self.now));
        stop.until = Instant::NEVER;
    }
}

impl<S: Scheme, E: Events, M: Model> Fabric<S, E, M> {
    /// Sets the first timers of the ports that `has` says are this driver's.
    pub fn arm_links(&mut self, has: impl Fn(PortId) -> bool) {
        let Some(credits) = self.pauses.credits.as_deref() else { return };
        for (port, line) in (0..).map(PortId).zip(&credits.lines) {
            if line.classes != 0 && has(port) {
                self.events.wake(line.sync_at, Timer::Link(port));
            }
        }
    }

    /// A frame has come over the line of `port`, and has not moved on.
    #[cold]
    pub fn came(&mut self, port: PortId, frame: FrameId) {
        let slot = self.frames.get(frame);
        let (class, octets) = (slot.class, slot.octets);
        let counter = self.pauses.counter_of(port, class);
        if let Some(credits) = self.pauses.credits.as_deref_mut().filter(|credits| credits.counts(counter)) {
            credits.states[counter.index()].receive(octets);
            self.pauses.crossed.push(counter);
        }
        if let Some(Some(retry)) = self.pauses.retries.get_mut(port.index())
            && retry.covers(class)
            && retry.take()
        {
            self.acknowledge(port);
        }
    }

    /// The far end of the line of `port` wants to acknowledge frames.
    fn acknowledge(&mut self, port: PortId) {
        let back = self.pauses.reverse(port);
        let Some(Some(retry)) = self.pauses.retries.get(port.index()) else { return };
        match retry.ack_at <= self.now {
            true => self.ask_for_line(back, ACK),
            false => self.events.wake(retry.ack_at, Timer::Link(back)),
        }
    }

    /// Something goes ahead of all frames at `port`, as soon as its line is free.
    pub(super) fn ask_for_line(&mut self, port: PortId, ahead: u32) {
        let (p, mut context) = self.at(port);
        p.pauses |= ahead;
        // An idle line; a port with messages has settled the transmissions that ended before.
        p.busy_until = p.busy_until.max(context.now);
        context.settle(p);
    }

    /// Credits of a line may have become free.
    pub(super) fn review_credits(&mut self, counter: CounterId) {
        let (port, class) = self.pauses.counted(counter);
        let back = self.pauses.reverse(port);
        let Some(credits) = self.pauses.credits.as_deref_mut() else { return };
        let line = &mut credits.lines[port.index()];
        if !credits.states[counter.index()].is_news() {
            return;
        }
        if line.update_at <= self.now {
            return self.ask_for_line(back, class.bit() << UPDATES);
        }
        line.due |= class.bit();
        if line.timer_at != line.update_at {
            line.timer_at = line.update_at;
            self.events.wake(line.update_at, Timer::Link(back));
        }
    }

    /// Something may be due at a port.
    pub(super) fn link_timer(&mut self, port: PortId) {
        let (now, answered) = (self.now, self.pauses.reverse(port));
        let mut ahead = 0;
        if let Some(credits) = self.pauses.credits.as_deref_mut() {
            let line = &mut credits.lines[answered.index()];
            if line.due != 0 && line.update_at <= now {
                ahead |= core::mem::take(&mut line.due) << UPDATES;
            } else if line.due != 0 && line.timer_at != line.update_at {
                line.timer_at = line.update_at;
                self.events.wake(line.update_at, Timer::Link(port));
            }
            let line = &mut credits.lines[port.index()];
            if line.sync_at <= now {
                line.sync_at = now + line.sync;
                ahead |= line.classes << SYNCS;
                self.events.wake(line.sync_at, Timer::Link(port));
            }
        }
        if let Some(Some(retry)) = self.pauses.retries.get(answered.index())
            && retry.wanted
            && retry.ack_at <= now
        {
            ahead |= ACK;
        }
        if ahead != 0 {
            self.ask_for_line(port, ahead);
        }
        if let Some(Some(retry)) = self.pauses.retries.get_mut(port.index()) {
            let given_up = retry.on_timer(now);
            self.go_on_with_replay(port, given_up);
        }
    }

    /// A message has come over its line.
    pub fn receive_message(&mut self, frame: PauseFrame) {
        let (line, now) = (frame.line, self.now);
        let back = self.pauses.reverse(line);
        match frame.message {
            Message::Pause => {}
            Message::Update { class, total } => {
                let counter = self.pauses.counter_of(back, class);
                if let Some(credits) = self.pauses.credits.as_deref_mut() {
                    credits.states[counter.index()].free(total);
                    self.try_credits(back, class);
                }
            }
            Message::Sync { class, total } => {
                let counter = self.pauses.counter_of(line, class);
                if let Some(credits) = self.pauses.credits.as_deref_mut() {
                    credits.states[counter.index()].reconcile(total);
                    self.ask_for_line(back, class.bit() << UPDATES);
                }
            }
            Message::Acknowledge { .. } => {
                if let Some(Some(retry)) = self.pauses.retries.get_mut(back.index()) {
                    let given_up = retry.on_message(now, frame.message);
                    self.go_on_with_replay(back, given_up);
                }
            }
            Message::Failed { first, repeated } => {
                let Some(Some(retry)) = self.pauses.retries.get_mut(line.index()) else { return };
                if repeated && retry.want() {
                    self.acknowledge(line);
                } else if !repeated && retry.refuse(first) {
                    self.ask_for_line(back, ACK);
                }
            }
        }
    }

    /// Credits have come for a queue: it goes on if they suffice for its first frame.
    fn try_credits(&mut self, port: PortId, class: TrafficClass) {
        let p = &self.ports[port.index()];
        let first = p.queues[class.index()].waiting.first();
        let Some(credits) = self.pauses.credits.as_deref_mut() else { return };
        let (counter, largest) = (port.0 * self.per_port + u32::from(class.0), credits.largest);
        let state = &mut credits.states[counter as usize];
        if state.need == 0 {
            return;
        }
        // The frame that waited first may have been flushed.
        let need = match first {
            _ if p.arbiter => state.cells(largest),
            FrameId::NONE => 0,
            first => state.cells(self.frames.get(first).octets),
        };
        state.need = need;
        if state.has(need) {
            state.need = 0;
            self.go_on(port, class);
        }
    }

    /// A line may have frames to send again (`replay`), may have given one up, or may have room for more.
    fn go_on_with_replay(&mut self, port: PortId, (replay, given_up): (bool, Option<FrameId>)) {
        self.given_up.extend(given_up);
        let Some(Some(retry)) = self.pauses.retries.get_mut(port.index()) else { return };
        if let Some(due) = retry.timer() {
            self.events.wake(due, Timer::Link(port));
        }
        let full = retry.is_full();
        self.have_room(port, full);
        let p = &mut self.ports[port.index()];
        p.pauses = if replay { p.pauses | REPLAY } else { p.pauses & !REPLAY };
        self.ask_for_line(port, 0);
    }

    /// The replay buffer of a line is full, or has room.
    fn have_room(&mut self, port: PortId, full: bool) {
        let p = &mut self.ports[port.index()];
        if !full && p.hold_all(false) {
            self.resumed.extend((0..p.queues.len() as u8).map(|class| (port, TrafficClass(class))));
        }
    }

    /// The line of `port` breaks: link-level retry starts again. Frees the slots of the frames that it still had, which the driver has
    /// counted as lost.
    pub fn reset_retry(&mut self, port: PortId) {
        let Some(Some(retry)) = self.pauses.retries.get_mut(port.index()) else { return };
        retry.reset().into_iter().for_each(|frame| self.frames.remove(frame));
        self.ports[port.index()].pauses &= !REPLAY;
        self.have_room(port, false);
    }
}
