//! The frames of a flow between an application and its reaction point.

use std::collections::VecDeque;

use penstock_endpoint::{DataSource, Taken};
use penstock_schemes::Instant;

use crate::frame::length;

/// Frames of an application that wait for their reaction point.
#[derive(Debug, Clone)]
pub struct HostQueue {
    waiting: VecDeque<Vec<u8>>,
    octets: u64,
    most: u64,
    /// Frames that have been released, until they are on the line.
    pub(crate) released: VecDeque<Vec<u8>>,
    pub(crate) offered: u64,
    pub(crate) discarded: u64,
}

impl HostQueue {
    pub(crate) fn new(most: u64) -> Self {
        Self { waiting: VecDeque::new(), octets: 0, most, released: VecDeque::new(), offered: 0, discarded: 0 }
    }

    /// A frame comes; it is discarded where there is no room. A single one always has room.
    pub(crate) fn push(&mut self, frame: Vec<u8>) {
        self.offered += 1;
        let octets = u64::from(length(frame.len()));
        if self.octets > 0 && self.octets + octets > self.most {
            self.discarded += 1;
            return;
        }
        self.octets += octets;
        self.waiting.push_back(frame);
    }
}

impl DataSource for HostQueue {
    fn when(&mut self, now: Instant) -> Instant {
        if self.waiting.is_empty() { Instant::NEVER } else { now }
    }

    fn next_octets(&self) -> u16 {
        self.waiting.front().map_or(0, |frame| length(frame.len()))
    }

    fn take(&mut self, _: Instant) -> Taken {
        let frame = self.waiting.pop_front().expect("a frame is taken when there is one");
        let octets = length(frame.len());
        self.octets -= u64::from(octets);
        self.released.push_back(frame);
        Taken { octets, last: false }
    }
}
