//! TCP's sending half: windows, loss recovery, timers.
//!
//! ```text
//!            three duplicates, IsLost, or RACK               una reaches the recovery point
//!     Open ------------------------------------> Fast ------------------------------------> Open
//!       \                                          |  \_ partial acknowledgements stay
//!        \ retransmission timeout                  | retransmission timeout
//!         +----------------> Timeout <-------------+        una reaches the recovery point -> Open
//! ```
//!
//! The next segment to send is decided in one function, `choose`, from the state alone. While a rate makes it wait there is
//! none. Otherwise lost segments are first, then a tail loss probe, new data, and the octets that RFC 6675 sends on suspicion. A
//! segment is sent if the octets in flight leave room for it in the window. The first one of a recovery is sent even beyond the
//! window. (RFC 6582, section 3.2, step 2; RFC 6675, step (4.3)) The decision is taken once, after each change of the state:
//! a limiter asks for it several times a segment.

mod bursts;
mod recovery;

use penstock_schemes::{Duration, Instant, Octets};

use super::congestion::{Acknowledged, Controller, Path, Window};
use super::rack::Rack;
use super::scoreboard::Scoreboard;
use super::timer::Timer;
use super::{Config, HEADER_OCTETS};
use crate::transport::sequence::Numbering;
use crate::transport::{Ack, SackBlocks, Segment, Sender, Statistics};
use bursts::Bursts;
use recovery::Recovery;

/// A segment that may go now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    New {
        end: u64,
    },
    /// Lost, or on suspicion (RFC 6675, NextSeg, rule (3)).
    Again {
        start: u64,
        end: u64,
    },
    /// RFC 6675, NextSeg, rule (4).
    Rescue {
        start: u64,
        end: u64,
    },
    /// RFC 8985, section 7.3.
    ProbeAgain {
        start: u64,
        end: u64,
    },
    ProbeNew {
        end: u64,
    },
    /// Asks for the window. (RFC 9293, section 3.8.6.1)
    WindowProbe,
}

/// The sending half of a flow.
#[derive(Debug, Clone)]
pub struct TcpSender {
    numbering: Numbering,
    sack: bool,
    marks: bool,
    validate_window: bool,
    idle_restart: bool,
    first_window: u64,
    max_ack_delay: Duration,
    supplied: u64,
    finished: bool,
    /// Right edge of the receiver's window, and the largest window that it has advertised.
    edge: u64,
    largest_window: u64,
    board: Scoreboard,
    window: Window,
    controller: Controller,
    timer: Timer,
    /// Losses are found by time.
    rack: Option<Rack>,
    recovery: Recovery,
    /// No fast recovery begins before una is here. (RFC 6582, section 3.2, step 1, `recover`; RFC 6675, section 5.1)
    recover: Option<u64>,
    /// The first lost segment goes even beyond the window.
    force: bool,
    /// Duplicate acknowledgements since una moved.
    duplicates: u32,
    /// Without selective acknowledgements each duplicate stands for a segment that has left the network; partial
    /// acknowledgements take back. (RFC 5681, section 3.2, steps 1, 3 and 4; RFC 6582, section 3.2, step 3)
    inflation: i64,
    /// Octets of new data sent since the first duplicate. (RFC 5681, section 3.2, step 1)
    limited: u64,
    /// The segment that is being timed: its end, and when it was sent.
    timed: Option<(u64, Instant)>,
    /// A mark counts once una lies beyond. (RFC 3168, section 6.1.2)
    reduced_until: Option<u64>,
    cwr: bool,
    /// When a closed window is probed, and how often it has been: after the retransmission timeout, which is doubled from probe
    /// to probe. (RFC 9293, section 3.8.6.1)
    persist: Option<Instant>,
    probes: u32,
    probe_window: bool,
    /// The segment that goes next, decided at the last change.
    next: Option<Choice>,
    last_send: Instant,
    /// The most that has been in flight in this window and the one before; this window ends when una is beyond.
    flight: (u64, u64),
    flight_until: u64,
    /// The first octet of the segment that the retransmission timer has sent last.
    timed_out: Option<u64>,
    /// When fast recovery was last entered, or entered again.
    last_cut: Instant,
    /// Where congestion control sets a rate.
    bursts: Bursts,
    statistics: Statistics,
}

impl TcpSender {
    /// A sender of a flow whose first octet has sequence number `first`, to a receiver with the same `config`.
    #[must_use]
    pub fn new(config: &Config, first: u32) -> Self {
        Self {
            numbering: Numbering::tcp(first),
            sack: config.sack,
            marks: config.marks(),
            validate_window: config.validate_window,
            idle_restart: config.idle_restart,
            first_window: config.first_window(),
            max_ack_delay: config.ack_delay,
            supplied: 0,
            finished: false,
            edge: config.receive_window.0,
            largest_window: config.receive_window.0,
            board: Scoreboard::new(config.mss.0),
            window: Window::new(config),
            controller: Controller::new(config),
            timer: Timer::new(config),
            rack: config.by_time().then(Rack::default),
            recovery: Recovery::Open,
            recover: None,
            force: false,
            duplicates: 0,
            inflation: 0,
            limited: 0,
            timed: None,
            reduced_until: None,
            cwr: false,
            persist: None,
            probes: 0,
            probe_window: false,
            next: None,
            last_send: Instant::ZERO,
            flight: (0, 0),
            flight_until: 0,
            timed_out: None,
            last_cut: Instant::ZERO,
            bursts: Bursts::default(),
            statistics: Statistics::default(),
        }
    }

    /// Octets that may be in flight by congestion control.
    #[inline]
    fn allowed(&self) -> u64 {
        self.window.cwnd.saturating_add_signed(self.inflation).max(self.window.mss)
    }

    /// Whether `octets` more fit the congestion window.
    #[inline(always)]
    fn fits(&self, octets: u64) -> bool {
        self.board.pipe() + octets <= self.allowed()
    }

    /// The segment that goes next.
    fn choose(&self) -> Option<Choice> {
        if self.probe_window {
            return Some(Choice::WindowProbe);
        }
        if self.bursts.release().is_some() {
            return None;
        }
        if let Some((start, end)) = self.board.lost().first() {
            let end = end.min(start + self.window.mss);
            let (start, end) = self.rack.as_ref().map_or((start, end), |rack| rack.first_segment(start, end));
            return (self.force || self.fits(end - start)).then_some(Choice::Again { start, end });
        }
        if let Some(rack) = self.rack.as_ref().filter(|rack| rack.probe_due()) {
            let (start, end) = self.board.tail().map(|(start, end)| rack.last_segment(start, end))?;
            return Some(self.new_data().map_or(Choice::ProbeAgain { start, end }, |end| Choice::ProbeNew { end }));
        }
        if let Some(end) = self.new_data() {
            return self.fits(end - self.board.nxt).then_some(Choice::New { end });
        }
        self.suspect()
    }

    /// End of the next segment of new data that the receiver's window lets through. (RFC 9293, section 3.8.6.2.1, without
    /// Nagle's algorithm)
    #[inline]
    fn new_data(&self) -> Option<u64> {
        let nxt = self.board.nxt;
        let full = self.supplied.min(nxt + self.window.mss);
        if nxt == full || full <= self.edge {
            return (nxt < full).then_some(full);
        }
        let usable = self.edge.saturating_sub(nxt);
        (usable > 0 && usable >= self.largest_window / 2).then_some(nxt + usable)
    }

    /// RFC 6675, NextSeg, rules (3) and (4).
    fn suspect(&self) -> Option<Choice> {
        let Recovery::Fast { rescue, .. } = self.recovery else { return None };
        if !self.sack || self.rack.is_some() {
            return None;
        }
        if let Some((start, end)) = self.board.speculative() {
            return self.fits(end - start).then_some(Choice::Again { start, end });
        }
        let (start, end) = self.board.tail().filter(|_| self.board.una > rescue)?;
        self.fits(end - start).then_some(Choice::Rescue { start, end })
    }

    /// Sends the segment that goes next.
    fn send(&mut self, now: Instant, choice: Choice) -> Segment {
        let start = self.board.nxt;
        let (segment, sent) = match choice {
            Choice::WindowProbe => {
                // An octet that has been acknowledged, without data: it is answered, and changes nothing else.
                self.probe_window = false;
                let seq = self.numbering.wrap(start).wrapping_sub(1);
                return Segment { seq, len: 0, ..self.segment(start, start, false) };
            }
            Choice::New { end } | Choice::ProbeNew { end } => (self.send_new(now, end), (start, end)),
            // Without selective acknowledgements everything outstanding counts, and RACK counts the octets in flight
            // itself.
            Choice::Again { start, end } => {
                (self.send_again(start, end, self.sack && self.rack.is_none()), (start, end))
            }
            Choice::Rescue { start, end } => {
                if let Recovery::Fast { until, rescue, .. } = &mut self.recovery {
                    *rescue = *until;
                }
                (self.send_again(start, end, false), (start, end))
            }
            Choice::ProbeAgain { start, end } => (self.send_again(start, end, false), (start, end)),
        };
        if let Some(rack) = &mut self.rack {
            rack.on_send(now, sent.0, sent.1, segment.retransmission);
        }
        if self.controller.paces() {
            self.note_sent(now, sent, segment.retransmission);
        }
        match choice {
            Choice::ProbeNew { .. } | Choice::ProbeAgain { .. } => {
                if let Some(rack) = &mut self.rack {
                    rack.on_probe(self.board.nxt, segment.retransmission);
                }
                self.timer.restart(now);
            }
            Choice::New { .. } => {
                self.timer.start(now);
                self.schedule_probe(now);
            }
            Choice::Again { .. } if self.rearms() => self.timer.restart(now),
            _ => self.timer.start(now),
        }
        self.last_send = now;
        self.statistics.segments += 1;
        segment
    }

    /// Sends `start..end` for the first time.
    fn send_new(&mut self, now: Instant, end: u64) -> Segment {
        let start = self.board.nxt;
        if self.board.outstanding() == 0 {
            self.restart_after_pause(now);
        }
        self.board.send(end);
        if self.duplicates > 0 && self.recovery == Recovery::Open {
            self.limited += end - start;
        }
        self.timed.get_or_insert((end, now));
        let pipe = self.board.pipe();
        self.flight.1 = self.flight.1.max(pipe);
        let cwr = core::mem::take(&mut self.cwr);
        let segment = self.segment(start, end, false);
        Segment { ect: self.marks, cwr, ..segment }
    }

    /// Sends `start..end` again. It may not be marked, so that its loss shows. (RFC 3168, section 6.1.5)
    fn send_again(&mut self, start: u64, end: u64, counts: bool) -> Segment {
        self.board.send_again(start, end, counts);
        self.force = false;
        // Karn's algorithm. (RFC 6298, section 3)
        self.timed = None;
        self.statistics.retransmissions += 1;
        self.statistics.retransmitted.0 += end - start;
        self.segment(start, end, true)
    }

    fn segment(&self, start: u64, end: u64, retransmission: bool) -> Segment {
        Segment {
            seq: self.numbering.wrap(start),
            len: (end - start) as u32,
            last: self.finished && end == self.supplied,
            retransmission,
            ect: false,
            cwr: false,
        }
    }

    /// RFC 5681, section 4.1: after a pause the window is the restart window at most.
    fn restart_after_pause(&mut self, now: Instant) {
        let pause = now.since(self.last_send);
        if self.idle_restart && self.statistics.segments > 0 && pause > self.timer.rto() {
            self.window.cwnd = self.window.cwnd.min(self.first_window);
            self.controller.on_pause(pause);
        }
    }

    /// The acknowledgement moves una to `ack`.
    fn advance(&mut self, now: Instant, ack: u64) {
        let (rack, board) = (&mut self.rack, &mut self.board);
        let mut delivery = self.controller.delivery();
        board.acknowledge(ack, |start, end| {
            if let Some(rack) = rack {
                rack.on_delivery(now, start, end, false);
            }
            if let Some(delivery) = &mut delivery {
                delivery.on_delivery(now, start, end);
            }
        });
        if let Some(rack) = rack {
            rack.forget(ack);
        }
        if let Some(delivery) = delivery {
            delivery.forget(ack);
        }
        if let Some((_, sent)) = self.timed.take_if(|timed| timed.0 <= ack) {
            self.timer.sample(now.since(sent));
        }
        (self.duplicates, self.limited) = (0, 0);
        self.probes = 0;
        if self.recovery == Recovery::Open {
            self.inflation = 0;
        }
    }

    /// Takes the selective blocks; returns whether they tell anything new.
    fn select(&mut self, now: Instant, blocks: &SackBlocks) -> bool {
        if blocks.as_slice().is_empty() {
            return false;
        }
        let before = self.board.sacked().total();
        let mut ranges = [None; SackBlocks::MOST];
        for (range, &(start, end)) in ranges.iter_mut().zip(blocks.as_slice()) {
            let una = self.board.una;
            *range = self.numbering.unwrap(start, una).zip(self.numbering.unwrap(end, una));
        }
        // RACK sees reordering where a lower segment comes after a higher one, so the blocks of one acknowledgement go in order.
        ranges.sort_unstable();
        let (rack, board) = (&mut self.rack, &mut self.board);
        let mut delivery = self.controller.delivery();
        for (start, end) in ranges.into_iter().flatten().filter(|r| r.0 < r.1) {
            board.select(start, end, |a, b| {
                if let Some(rack) = rack {
                    rack.on_delivery(now, a, b, true);
                }
                if let Some(delivery) = &mut delivery {
                    delivery.on_delivery(now, a, b);
                }
            });
        }
        self.board.sacked().total() > before
    }

    /// Whether the congestion window limits the flow. It does if the most octets in flight during this window or the last one are
    /// within a segment of it; in slow start, if they are at least half of it. (RFC 9438, section 5.8; Linux)
    fn is_window_limited(&self) -> bool {
        let most = self.flight.0.max(self.flight.1);
        let nearly = if self.window.in_slow_start() { 2 * most } else { most + self.window.mss };
        !self.validate_window || nearly >= self.window.cwnd
    }

    /// After an acknowledgement: RFC 6298, (5.2) and (5.3), and the timer of a closed window.
    fn set_timers(&mut self, now: Instant, advanced: bool) {
        if self.board.outstanding() == 0 {
            self.timer.stop();
        } else if advanced {
            self.timer.restart(now);
        }
        let closed = self.board.outstanding() == 0 && self.edge < self.board.nxt + self.window.mss;
        if !closed {
            self.persist = None;
            self.probe_window = false;
        } else if self.persist.is_none() {
            self.persist = Some(now + self.timer.backed_off(self.probes));
        }
    }

    /// Whether a retransmission restarts the timer, so that a recovery that goes well is not cut short. (RFC 6675, section 6,
    /// allows it for each; without selective acknowledgements it is the first alone, as RFC 6582 has it for acknowledgements)
    fn rearms(&self) -> bool {
        matches!(self.recovery, Recovery::Fast { partial, .. } if self.sack || !partial)
    }

    fn schedule_probe(&mut self, now: Instant) {
        let Some(rack) = &mut self.rack else { return };
        let may = self.recovery == Recovery::Open && self.board.outstanding() > 0 && self.board.sacked().is_empty();
        let alone = self.board.outstanding() <= self.window.mss;
        let extra = if alone { self.max_ack_delay } else { Duration::ZERO };
        rack.schedule_probe(now, may, self.timer.srtt(), extra, self.timer.deadline());
    }
}

impl Sender for TcpSender {
    fn supply(&mut self, octets: Octets) {
        self.supplied = self.supplied.saturating_add(octets.0);
        self.next = self.choose();
    }

    fn finish(&mut self) {
        self.finished = true;
    }

    #[inline]
    fn next_segment(&self) -> Option<u32> {
        self.next.map(|choice| match choice {
            Choice::New { end } | Choice::ProbeNew { end } => (end - self.board.nxt) as u32,
            Choice::Again { start, end } | Choice::Rescue { start, end } | Choice::ProbeAgain { start, end } => {
                (end - start) as u32
            }
            Choice::WindowProbe => 0,
        })
    }

    fn header_octets(&self) -> u32 {
        HEADER_OCTETS
    }

    fn may_be_trimmed(&self) -> bool {
        false
    }

    fn poll_segment(&mut self, now: Instant) -> Option<Segment> {
        let segment = self.next.map(|choice| self.send(now, choice))?;
        self.next = self.choose();
        Some(segment)
    }

    fn on_ack(&mut self, now: Instant, ack: &Ack) {
        let una = self.board.una;
        let Some(to) = self.numbering.unwrap(ack.ack, una) else { return };
        // Of data that has not been sent, or old. (RFC 9293, section 3.10.7.4)
        if to > self.board.nxt || to < una {
            return;
        }
        let same_window = to + u64::from(ack.window) <= self.edge;
        self.edge = self.edge.max(to + u64::from(ack.window));
        self.largest_window = self.largest_window.max(ack.window.into());
        let acknowledged = to - una;
        let before = self.controller.paces().then(|| (self.board.pipe(), self.board.losses()));
        let limited = self.is_window_limited();
        if acknowledged > 0 {
            self.advance(now, to);
        }
        let news = self.sack && self.select(now, &ack.sack);
        // RFC 6675, section 2, where there are blocks; RFC 5681, section 2, otherwise.
        let duplicate = acknowledged == 0 && self.board.outstanding() > 0 && if self.sack { news } else { same_window };
        let was_partial = matches!(self.recovery, Recovery::Fast { partial: true, .. });
        if let Some(rack) = &mut self.rack {
            let bare = acknowledged == 0 && ack.sack.as_slice().is_empty();
            if rack.on_ack(to, bare) && self.recovery == Recovery::Open {
                self.controller.on_loss(&mut self.window, self.board.outstanding() + acknowledged);
                self.reduced();
            }
        }
        let was_fast = matches!(self.recovery, Recovery::Fast { .. });
        self.recover(now, acknowledged, duplicate);
        let fast = was_fast || matches!(self.recovery, Recovery::Fast { .. });
        let event = Acknowledged {
            now,
            octets: acknowledged,
            marked: ack.ece && self.marks,
            una: to,
            nxt: self.board.nxt,
            srtt: self.timer.srtt(),
            grows: acknowledged > 0 && limited && !fast && !(ack.ece && self.marks),
            path: before.map(|(pipe_before, losses)| Path {
                pipe_before,
                pipe: self.board.pipe(),
                lost: self.board.losses() - losses,
                recovers: self.recovery != Recovery::Open,
            }),
        };
        self.controller.on_ack(&mut self.window, &event);
        if event.marked {
            self.react_to_mark(self.board.outstanding() + acknowledged);
        }
        if to > self.flight_until {
            self.flight = (self.flight.1, 0);
            self.flight_until = self.board.nxt;
        }
        // The impatient variant: in a recovery without selective acknowledgements only the first partial acknowledgement
        // restarts the timer. (RFC 6582, section 3.2, step 3, and section 4)
        let patient = self.sack || !was_partial || !matches!(self.recovery, Recovery::Fast { .. });
        self.set_timers(now, acknowledged > 0 && patient);
        if acknowledged > 0 || news {
            self.schedule_probe(now);
        }
        self.bursts.pass(now);
        self.next = self.choose();
        if self.controller.paces() {
            self.note_want_of_data();
        }
    }

    #[inline]
    fn next_timeout(&self) -> Option<Instant> {
        let persist = self.persist.filter(|_| self.supplied > self.board.nxt);
        let timer = earlier(earlier(self.timer.deadline(), persist), self.bursts.release());
        let Some(rack) = &self.rack else { return timer };
        earlier(timer, earlier(rack.deadline(), rack.probe_deadline()))
    }

    fn on_timeout(&mut self, now: Instant) {
        let due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        self.bursts.pass(now);
        if due(self.persist) && self.supplied > self.board.nxt {
            self.probes += 1;
            self.persist = Some(now + self.timer.backed_off(self.probes));
            self.probe_window = true;
        }
        if due(self.rack.as_ref().and_then(Rack::deadline)) {
            self.recover_by_time(now);
        }
        if let Some(rack) = self.rack.as_mut().filter(|rack| due(rack.probe_deadline())) {
            // Instead of the retransmission timer, if both are due.
            rack.probe_now();
            self.timer.restart(now);
        }
        if due(self.timer.deadline()) {
            self.on_retransmission_timeout(now);
        }
        self.next = self.choose();
    }

    fn has_arrived(&self, seq: u32) -> bool {
        self.numbering.unwrap(seq, self.board.una).is_none_or(|offset| offset < self.board.una)
    }

    fn acknowledged(&self) -> Octets {
        Octets(self.board.una)
    }

    #[inline]
    fn is_finished(&self) -> bool {
        self.finished && self.board.una == self.supplied
    }

    fn statistics(&self) -> Statistics {
        Statistics {
            cwnd: Octets(self.window.cwnd),
            ssthresh: Octets(self.window.ssthresh),
            srtt: self.timer.srtt(),
            ..self.statistics
        }
    }
}

/// The earlier of two times, where there are any.
#[inline]
fn earlier(a: Option<Instant>, b: Option<Instant>) -> Option<Instant> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
