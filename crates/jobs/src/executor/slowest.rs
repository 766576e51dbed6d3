//! The slowest path of a job: back from its end, each time to what ended last.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::{Executor, Piece, Record};
use crate::graph::{NodeId, Work};
use crate::matching::NONE;

/// The records of nodes, by iteration and node.
type Known<'a> = BTreeMap<(u32, NodeId), &'a Record>;

impl Executor {
    /// The slowest path of a job that has ended: the pieces of work and the messages that determined its end, from its
    /// start on and without a gap.
    ///
    /// `records` are all that the executor gave, with [`Detail::Job`](super::Detail::Job). Empty if one is missing.
    #[must_use]
    pub fn slowest_path(&self, records: &[Record]) -> Vec<Piece> {
        let nodes = records.iter().filter_map(|record| Some(((record.iteration, record.node?), record)));
        let known: Known = nodes.collect();
        // The last of each rank's iteration, for the begin of its next one.
        let mut last: BTreeMap<(u32, u32), &Record> = BTreeMap::new();
        for record in records.iter().filter(|record| record.node.is_some()) {
            // Records are in the order of their ends.
            last.insert((record.iteration, record.rank), record);
        }
        let mut pieces = Vec::new();
        let mut at = records.iter().rfind(|record| record.node.is_some());
        while let Some(ended) = at {
            let Some(mut begun) = self.end_of(ended, &known, &mut pieces) else { return Vec::new() };
            at = loop {
                let Some(node) = begun.after else {
                    // The rank's iteration began, when it had ended the one before.
                    break begun.iteration.checked_sub(1).and_then(|before| last.get(&(before, begun.rank))).copied();
                };
                let Some(&other) = known.get(&(begun.iteration, node)) else { return Vec::new() };
                let by_start = begun
                    .node
                    .is_some_and(|node| self.graph.waiting_for_start(other.node.unwrap_or(node)).contains(&node));
                if !by_start || other.end_ps <= begun.begin_ps {
                    break Some(other);
                }
                begun = other;
            };
        }
        pieces.reverse();
        pieces
    }

    /// Adds what ended a node, from the last piece to the first: the node whose begin was the cause.
    fn end_of<'a>(&self, ended: &'a Record, known: &Known<'a>, pieces: &mut Vec<Piece>) -> Option<&'a Record> {
        let (iteration, node) = (ended.iteration, ended.node?);
        let (begin_ps, end_ps) = (ended.begin_ps, ended.end_ps);
        match self.graph.work(node) {
            Work::Compute { .. } | Work::Delay { .. } => {
                pieces.push(Piece { iteration, node, message: None, begin_ps, end_ps });
                Some(ended)
            }
            Work::Send { .. } => {
                pieces.push(Piece { iteration, node, message: ended.message, begin_ps, end_ps });
                Some(ended)
            }
            Work::Receive { .. } => {
                // A message that was there before its receive: that one's begin is the cause.
                if end_ps == begin_ps {
                    return Some(ended);
                }
                // Its sender hears of its end later.
                let send = *known.get(&(iteration, self.origin(ended.message?).node))?;
                let (node, begin_ps) = (send.node?, send.begin_ps);
                pieces.push(Piece { iteration, node, message: ended.message, begin_ps, end_ps });
                Some(send)
            }
            Work::Collective { .. } => {
                let Some(message) = ended.message else { return Some(ended) };
                let (instance, mut number) = self.of_collective(message.0 % self.messages_per_iteration);
                let times = self.ended.get(&(iteration, instance))?;
                // A message lasts until what it lets start: where that waits for its sender to hear of its end, longer than to its end.
                let mut end_ps = end_ps;
                loop {
                    let message = self.number(iteration, instance, number);
                    let origin = self.origin(message);
                    if origin.from != origin.to {
                        let begin_ps = times.begin_ps[number as usize];
                        pieces.push(Piece { iteration, node: origin.node, message: Some(message), begin_ps, end_ps });
                    }
                    end_ps = times.begin_ps[number as usize];
                    if times.after[number as usize] == NONE {
                        return known.get(&(iteration, origin.node)).copied();
                    }
                    number = times.after[number as usize];
                }
            }
        }
    }
}
