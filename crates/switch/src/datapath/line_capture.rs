//! Line capture: the transmissions on lines whose frames an observer is shown.
//!
//! A transmission's start is noted with the length of its queue; its frame is shown when it has reached the far end of the
//! line, or is lost on it, or the run ends. Only then is its content settled: a port's departures happen lazily, and a
//! departure may edit the frame's tag. A line carries one frame after the other, so that the notes of a port are a queue.
//!
//! Nothing here changes a result. [`Full`](crate::Full) switches alone capture lines.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};

use penstock_endpoint::{PortId, TrafficClass};
use penstock_schemes::Instant;

use crate::events::{FrameId, PauseId};
use crate::state::port::PortState;

/// A frame on a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnLine {
    /// A frame.
    Frame(FrameId),
    /// A pause frame.
    Pause(PauseId),
}

/// The start of a transmission.
#[derive(Debug, Clone, Copy)]
pub struct Transmission {
    /// When it starts.
    pub at: Instant,
    /// Length of its queue; `None` where it came out of none.
    pub queue: Option<u64>,
    /// The frame.
    pub what: OnLine,
}

/// The transmissions on the captured lines whose frames have not been shown.
#[derive(Debug, Default)]
pub struct LineCapture {
    /// By line, first in, first out.
    pub lines: BTreeMap<PortId, VecDeque<Transmission>>,
    /// The first of each line that is not empty.
    fronts: BTreeSet<(Instant, PortId)>,
}

impl LineCapture {
    fn starts(&mut self, port: PortId, start: Transmission) {
        let line = self.lines.entry(port).or_default();
        if line.is_empty() {
            self.fronts.insert((start.at, port));
        }
        line.push_back(start);
    }

    /// The transmission of a frame starts, out of the queue of `class` or of none.
    #[cold]
    pub fn frame_starts(&mut self, p: &PortState, class: Option<TrafficClass>, frame: FrameId, at: Instant) {
        let queue = class.map(|class| p.queues[class.index()].len);
        self.starts(p.index, Transmission { at, queue, what: OnLine::Frame(frame) });
    }

    /// The transmission of a pause frame starts.
    #[cold]
    pub fn pause_starts(&mut self, port: PortId, pause: PauseId, at: Instant) {
        self.starts(port, Transmission { at, queue: None, what: OnLine::Pause(pause) });
    }

    /// The frame that is first on a line leaves it.
    pub fn leaves(&mut self, port: PortId) -> Option<Transmission> {
        let line = self.lines.get_mut(&port)?;
        let start = line.pop_front()?;
        self.fronts.remove(&(start.at, port));
        if let Some(next) = line.front() {
            self.fronts.insert((next.at, port));
        }
        Some(start)
    }

    /// No frame that has not been shown started before this time: a line on which there is none is idle.
    pub fn earliest(&self, now: Instant) -> Instant {
        self.fronts.first().map_or(now, |&(at, _)| at.min(now))
    }
}
