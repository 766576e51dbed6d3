//! Link-level retry (LLR, Ultra Ethernet 1.0, 5.1) as data: a line sends again what it loses, in order, by go-back-N.
//!
//! ```text
//!   sender:   frames get numbers and stay in the replay buffer until they are acknowledged
//!   receiver: a frame that is wrong: NACK, and all that follows is dropped until the missing one comes
//!   sender:   on NACK, or after a time without progress, all from the missing one on goes again
//! ```
//!
//! Rules are those of the public text (OCP SAI, `doc/LLR/SAI-Link_Layer_Retry.md`, commit b0c403e). Reconstruction: a replay whose first
//! frame is wrong again brings another NACK, and a frame that comes again is answered. Where replays end without success, the first frame is given up and the rest goes on; the
//! text flushes the buffer and starts again.
//!
//! A line is first in, first out, and the sender's end of it knows which frames it corrupts. So the sender knows as a transmission
//! starts whether the far end will take the frame ([`Retry::number`]). A frame that it will not take stays here, and a
//! [`Failed`](crate::flow_control::pause_frames::Message::Failed) message goes over the line in its stead. Nothing is copied, and no frame
//! can come twice.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use penstock_endpoint::{PortId, TrafficClass};
use penstock_schemes::{BitRate, Duration, Instant, Octets};

use crate::config::{Config, RetryLine};
use crate::events::FrameId;
use crate::flow_control::pause_frames::Message;

/// Octets of an acknowledgement on the line: a control ordered set.
pub const ACKNOWLEDGEMENT: u32 = 8;

/// A frame in the replay buffer.
#[derive(Debug, Clone, Copy)]
pub struct Kept {
    /// The frame; none if the far end has it, or will.
    pub frame: FrameId,
    /// Its length.
    pub octets: u16,
    /// Its class.
    pub class: TrafficClass,
    /// It is no data frame, which decides on impairments.
    pub control: bool,
}

/// Both ends of a line whose frames are sent again.
#[derive(Debug, Clone)]
pub struct Retry {
    settings: RetryLine,
    classes: u32,
    /// Frames that the far end has not acknowledged; the first has number `acknowledged`.
    pub buffer: VecDeque<Kept>,
    octets: u64,
    largest: u16,
    acknowledged: u64,
    /// The frame that the far end takes next, of all that have started.
    expected: u64,
    /// The frame that goes next in a replay.
    cursor: u64,
    attempts: u32,
    /// When a replay begins without a NACK; never while nothing waits. The timer that looks at it is due at `timer_at`.
    deadline: Instant,
    timer_at: Instant,
    /// Replays that began, and frames that went again.
    pub replays: u64,
    /// Frames that went again.
    pub frames_replayed: u64,
    /// Counts the times that the line broke: messages of earlier times say nothing.
    epoch: u32,
    /// At the far end: frames that it has taken.
    received: u64,
    /// A NACK has gone, and no frame was taken since.
    nacked: bool,
    /// An acknowledgement is wanted.
    pub wanted: bool,
    /// None starts before then, but for a NACK.
    pub ack_at: Instant,
}

impl Retry {
    fn new(settings: &RetryLine, config: &Config<'_>) -> Self {
        let all = (1 << config.queues_per_port()) - 1;
        let bits = |own: &Vec<u8>| own.iter().fold(0, |bits, &priority| bits | config.class(priority).bit());
        Self {
            classes: settings.priorities.as_ref().map_or(all, bits),
            settings: settings.clone(),
            buffer: VecDeque::new(),
            octets: 0,
            largest: config.largest_frame,
            acknowledged: 0,
            expected: 0,
            cursor: 0,
            attempts: 0,
            deadline: Instant::NEVER,
            timer_at: Instant::NEVER,
            replays: 0,
            frames_replayed: 0,
            epoch: 0,
            received: 0,
            nacked: false,
            wanted: false,
            ack_at: Instant::ZERO,
        }
    }

    /// Whether frames of a class are sent again.
    #[must_use]
    pub fn covers(&self, class: TrafficClass) -> bool {
        self.classes & class.bit() != 0
    }

    /// The distance of acknowledgements on a line back of this rate.
    #[must_use]
    pub fn spacing(&self, rate: BitRate) -> Duration {
        rate.serialisation(self.settings.spacing.0).0
    }

    /// Whether there is no room for another frame.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.octets + u64::from(self.largest) > self.settings.buffer.0
    }

    /// Octets in the buffer of frames of a class that the far end has not taken, by a function of their length.
    pub fn not_taken(&self, class: TrafficClass, measure: impl Fn(u16) -> u64) -> u64 {
        let own = self.buffer.iter().filter(|kept| kept.frame != FrameId::NONE && kept.class == class);
        own.map(|kept| measure(kept.octets)).sum()
    }

    /// The transmission of a new frame starts. `Some`: the far end will not take it.
    pub fn number(&mut self, now: Instant, kept: Kept, corrupted: bool) -> Option<Message> {
        let number = self.acknowledged + self.buffer.len() as u64;
        let failed = self.judge(number, corrupted);
        self.octets += u64::from(kept.octets);
        let frame = if failed.is_some() { kept.frame } else { FrameId::NONE };
        self.buffer.push_back(Kept { frame, ..kept });
        self.cursor = number + 1;
        if self.deadline == Instant::NEVER {
            self.deadline = now + self.settings.timer;
        }
        failed
    }

    /// What becomes of the frame of a number whose transmission starts.
    fn judge(&mut self, number: u64, corrupted: bool) -> Option<Message> {
        if number == self.expected && !corrupted {
            self.expected += 1;
            return None;
        }
        let repeated = number < self.expected;
        Some(Message::Failed { first: number == self.expected, repeated: repeated && !corrupted })
    }

    /// The frame that goes next in a replay, if one is under way.
    #[must_use]
    pub fn next(&self) -> Option<Kept> {
        self.buffer.get((self.cursor - self.acknowledged) as usize).copied()
    }

    /// The transmission of that frame starts. The frame if the far end will take it, else the message in its stead; and whether more go again.
    pub fn replay(&mut self, now: Instant, corrupted: bool) -> (Result<FrameId, Message>, bool) {
        self.frames_replayed += 1;
        let answer = match self.judge(self.cursor, corrupted) {
            None => {
                let kept = &mut self.buffer[(self.cursor - self.acknowledged) as usize];
                Ok(core::mem::replace(&mut kept.frame, FrameId::NONE))
            }
            Some(failed) => Err(failed),
        };
        self.cursor += 1;
        let goes_on = self.next().is_some();
        if !goes_on {
            self.deadline = now + self.settings.timer;
        }
        (answer, goes_on)
    }

    /// The far end has all frames below `next`.
    fn acknowledge(&mut self, now: Instant, next: u64) {
        while self.acknowledged < next
            && let Some(kept) = self.buffer.pop_front()
        {
            self.octets -= u64::from(kept.octets);
            self.acknowledged += 1;
            self.attempts = 0;
            self.deadline = now + self.settings.timer;
        }
        self.cursor = self.cursor.max(self.acknowledged);
        // The end of a replay begins the time again.
        if self.buffer.is_empty() || self.next().is_some() {
            self.deadline = Instant::NEVER;
        }
    }

    /// All that is not acknowledged goes again. Returns a frame that is given up.
    fn go_back(&mut self) -> Option<FrameId> {
        self.deadline = Instant::NEVER;
        self.cursor = self.acknowledged;
        self.replays += u64::from(!self.buffer.is_empty());
        self.attempts += 1;
        if self.attempts <= self.settings.most_replays {
            return None;
        }
        self.attempts = 0;
        let first = self.buffer.front().filter(|kept| kept.frame != FrameId::NONE)?.frame;
        // The frames after it take its number and those that follow.
        self.octets -= u64::from(self.buffer.pop_front()?.octets);
        Some(first)
    }

    /// A message of the far end has come. Whether frames go again, and one that is given up.
    pub fn on_message(&mut self, now: Instant, message: Message) -> (bool, Option<FrameId>) {
        match message {
            Message::Acknowledge { next, epoch, again } if epoch == self.epoch => {
                self.acknowledge(now, next);
                let given_up = if again { self.go_back() } else { None };
                (self.next().is_some(), given_up)
            }
            _ => (self.next().is_some(), None),
        }
    }

    /// The time without progress may have passed.
    pub fn on_timer(&mut self, now: Instant) -> (bool, Option<FrameId>) {
        self.timer_at = if self.timer_at <= now { Instant::NEVER } else { self.timer_at };
        let given_up = if self.deadline <= now { self.go_back() } else { None };
        (self.next().is_some(), given_up)
    }

    /// When a timer is to look at the time without progress, if none is to do so.
    pub fn timer(&mut self) -> Option<Instant> {
        let due = (self.deadline != Instant::NEVER && self.timer_at == Instant::NEVER).then_some(self.deadline);
        self.timer_at = due.unwrap_or(self.timer_at);
        due
    }

    /// The far end has taken a frame. Whether it begins to want an acknowledgement.
    pub fn take(&mut self) -> bool {
        self.received += 1;
        self.nacked = false;
        self.want()
    }

    /// The far end has a frame that has come before, or a new one. Whether it begins to want an acknowledgement. The first shows that an
    /// acknowledgement, or a NACK, was lost.
    pub fn want(&mut self) -> bool {
        !core::mem::replace(&mut self.wanted, true)
    }

    /// The far end has dropped one. Whether it says so at once.
    pub fn refuse(&mut self, first: bool) -> bool {
        let says = first || !self.nacked;
        self.nacked = true;
        self.wanted &= !says;
        says
    }

    /// The acknowledgement that starts on the line back.
    pub fn compose(&mut self, at: Instant, rate: BitRate) -> Message {
        self.wanted = false;
        self.ack_at = at + self.spacing(rate);
        Message::Acknowledge { next: self.received, epoch: self.epoch, again: self.nacked }
    }

    /// The line breaks: both ends start again. The frames that it still had.
    pub fn reset(&mut self) -> Vec<FrameId> {
        let lost = self.buffer.iter().map(|kept| kept.frame).filter(|&frame| frame != FrameId::NONE).collect();
        self.buffer.clear();
        (self.octets, self.acknowledged, self.expected, self.cursor, self.received) = (0, 0, 0, 0, 0);
        (self.attempts, self.deadline, self.nacked, self.wanted) = (0, Instant::NEVER, false, false);
        self.epoch += 1;
        lost
    }
}

/// By port: the lines whose frames are sent again. Empty where there are none.
///
/// # Panics
/// If an entry is not as its documentation says.
#[must_use]
pub fn retries(config: &Config<'_>) -> Vec<Option<Box<Retry>>> {
    if config.retries.is_empty() {
        return Vec::new();
    }
    let mut retries: Vec<Option<Box<Retry>>> = config.ports.iter().map(|_| None).collect();
    for own in config.retries {
        let port = own.port.index();
        assert!(own.buffer.0 >= u64::from(config.largest_frame), "port {port}: {own:?}");
        assert!(own.timer > Duration::ZERO && own.most_replays > 0, "port {port}: {own:?}");
        if config.reverse[port] != PortId::NONE {
            retries[port] = Some(Box::new(Retry::new(own, config)));
        }
    }
    retries
}

/// Octets per second times a time, rounded up: what a line carries in it.
#[must_use]
pub fn carried(rate: BitRate, time: Duration) -> Octets {
    let bits = u128::from(rate.0) * u128::from(time.0);
    let octets = bits.div_ceil(8 * u128::from(penstock_schemes::units::PS_PER_S));
    Octets(octets.try_into().unwrap_or(u64::MAX))
}
