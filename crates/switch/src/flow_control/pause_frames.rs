//! Pause frames on their lines, from the start of their transmission to their arrival; and the messages of credits and of link-level retry.

use alloc::vec::Vec;

use penstock_endpoint::{PortId, TrafficClass};
use penstock_schemes::{Duration, Instant};

use crate::events::PauseId;

/// The kind of a message, with its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Message {
    /// A pause frame.
    Pause,
    /// `CF_Update`: credits that the far end of the line back has freed, in all.
    Update {
        /// Their class.
        class: TrafficClass,
        /// `R_CF`.
        total: u64,
    },
    /// `CC_Update`: credits that the frames of a line have consumed, in all.
    Sync {
        /// Their class.
        class: TrafficClass,
        /// `S_CC`.
        total: u64,
    },
    /// ACK or NACK of link-level retry.
    Acknowledge {
        /// The frame that is to come next.
        next: u64,
        /// Times that the line broke.
        epoch: u32,
        /// NACK: all from that frame on goes again.
        again: bool,
    },
    /// In the stead of a frame that the far end drops.
    Failed {
        /// It was the frame that is to come next.
        first: bool,
        /// It is a frame that has come before.
        repeated: bool,
    },
}

/// A pause frame on its way.
#[derive(Debug, Clone, Copy)]
pub struct PauseFrame {
    /// The port whose line it is on; none for one that is lost, or for a free slot.
    pub line: PortId,
    /// Classes that it stops.
    pub stop: u32,
    /// Classes that it lets go on.
    pub resume: u32,
    /// How long it stops them.
    pub time: Duration,
    /// The line has corrupted it: the far end drops it.
    pub corrupted: bool,
    /// What it says, of a pause frame in the fields above.
    pub message: Message,
    /// It has gone to another part of the network; what it says is kept here until it arrives, for its line may break.
    abroad: bool,
}

impl PauseFrame {
    /// One that says nothing yet.
    pub fn new(line: PortId, time: Duration) -> Self {
        Self { line, stop: 0, resume: 0, time, corrupted: false, message: Message::Pause, abroad: false }
    }

    /// A message of credits or of link-level retry.
    pub fn of_link(line: PortId, message: Message) -> Self {
        Self { message, ..Self::new(line, Duration::ZERO) }
    }

    /// Bits of the classes that it stops, and of those that it lets go on.
    pub fn message(&self) -> (u32, u32) {
        (self.stop, self.resume)
    }
}

/// All of them.
#[derive(Debug, Default)]
pub struct PauseFrames {
    slots: Vec<PauseFrame>,
    free: Vec<PauseId>,
    /// Those that are to go to other parts of the network: when they arrive, and the port whose line they are on.
    outgoing: Vec<(Instant, PortId, PauseId)>,
}

impl PauseFrames {
    /// The frame in a slot.
    pub fn get(&self, id: PauseId) -> &PauseFrame {
        &self.slots[id.index()]
    }

    /// The line has corrupted a frame.
    pub fn corrupt(&mut self, id: PauseId) {
        self.slots[id.index()].corrupted = true;
    }

    /// Places, taken or free.
    pub fn slots(&self) -> usize {
        self.slots.len()
    }

    /// Gives a frame a slot.
    pub fn keep(&mut self, frame: PauseFrame) -> PauseId {
        if let Some(free) = self.free.pop() {
            self.slots[free.index()] = frame;
            free
        } else {
            self.slots.push(frame);
            PauseId((self.slots.len() - 1) as u32)
        }
    }

    /// A frame reaches the far end of its line, in this part of the network, or was lost on the way there: its line says so. `None` for
    /// one that has gone abroad.
    pub fn land(&mut self, id: PauseId) -> Option<PauseFrame> {
        self.free.push(id);
        let gone = PauseFrame::new(PortId::NONE, Duration::ZERO);
        let frame = core::mem::replace(&mut self.slots[id.index()], gone);
        (!frame.abroad).then_some(frame)
    }

    /// The line of `port` breaks: how many frames were on it, and the classes that they were about.
    pub fn lose(&mut self, port: PortId) -> (u64, u32) {
        let (mut lost, mut classes) = (0, 0);
        for frame in self.slots.iter_mut().filter(|frame| frame.line == port) {
            lost += 1;
            classes |= frame.stop | frame.resume;
            frame.line = PortId::NONE;
        }
        (lost, classes)
    }

    /// The lines of the frames that are on one, as far as they have not gone abroad.
    pub fn lines(&self) -> impl Iterator<Item = PortId> + '_ {
        self.slots.iter().filter(|frame| frame.line != PortId::NONE && !frame.abroad).map(|frame| frame.line)
    }

    /// A frame is to go to another part of the network, where it arrives at `at`.
    pub fn send_abroad(&mut self, at: Instant, port: PortId, id: PauseId) {
        self.outgoing.push((at, port, id));
    }

    /// The frames that are to go abroad, each with the time of its arrival and the port whose line it is on.
    pub fn export(&mut self) -> impl Iterator<Item = (Instant, PortId, PauseFrame)> + '_ {
        let Self { outgoing, slots, .. } = self;
        outgoing.drain(..).map(|(at, port, id)| {
            let frame = slots[id.index()];
            slots[id.index()].abroad = true;
            (at, port, frame)
        })
    }
}
