//! Flows that are held until a time: a bounded table.
//!
//! A congestion point that signals a flow notes until when it does not do so again. A flow that finds the table full is not noted, and
//! so not signalled, until the time of another one has ended.

use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::units::{FlowKey, Instant};

/// A flow, and the end of its time.
#[derive(Debug, Clone, Copy)]
struct Entry {
    flow: FlowKey,
    until: Instant,
}

/// The flows that are held.
#[derive(Debug, Clone)]
pub struct Holds {
    /// In the order of keys.
    entries: Vec<Entry>,
    most: usize,
}

impl Holds {
    /// An empty table with room for `most` flows.
    #[must_use]
    pub fn new(most: u32) -> Self {
        Self { entries: Vec::with_capacity(most as usize), most: most as usize }
    }

    /// Goes on with room for `most` flows. Of entries for which there is none those that end first go.
    pub fn resize(&mut self, most: u32) {
        let mut entries = core::mem::replace(self, Self::new(most)).entries;
        if entries.len() > self.most {
            entries.sort_by_key(|entry| Reverse(entry.until));
            entries.truncate(self.most);
            entries.sort_by_key(|entry| entry.flow);
        }
        self.entries.append(&mut entries);
    }

    /// Holds `flow` until `until`; false if it is held already, or if the table is full.
    pub fn hold(&mut self, now: Instant, flow: FlowKey, until: Instant) -> bool {
        match self.entries.binary_search_by_key(&flow, |entry| entry.flow) {
            Ok(index) => {
                let ended = self.entries[index].until <= now;
                if ended {
                    self.entries[index].until = until;
                }
                ended
            }
            Err(_) => {
                if self.entries.len() == self.most {
                    self.entries.retain(|entry| entry.until > now);
                }
                if self.entries.len() == self.most {
                    return false;
                }
                let index = self.entries.partition_point(|entry| entry.flow < flow);
                self.entries.insert(index, Entry { flow, until });
                true
            }
        }
    }

    /// The flows of the table, in the order of keys.
    #[cfg(test)]
    pub(crate) fn flows(&self) -> Vec<u32> {
        self.entries.iter().map(|entry| entry.flow.0).collect()
    }
}
