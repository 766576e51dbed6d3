//! Several executors of one graph, each of the ranks on some hosts, and one of all when they have run.

use alloc::vec::Vec;

use super::frame::{DELIVERED, Frame, SENT, Times};
use super::{Executor, State};
use crate::graph::NodeId;

impl Executor {
    /// Runs these ranks alone, by rank. To be called before [`start`](Self::start). Ranks of one host stay together; messages to the
    /// others are sent as before, and those from them are [delivered](Self::delivered) here.
    ///
    /// # Panics
    ///
    /// If there is not one answer a rank.
    pub fn restrict(&mut self, own: Vec<bool>) {
        assert_eq!(own.len(), self.ranks.len(), "an answer for each rank");
        self.ranks_left = own.iter().filter(|own| **own).count() as u32;
        self.own = own;
    }

    /// Takes the ranks of another executor of the graph, for all that is asked at the end. Neither goes on.
    pub fn absorb(&mut self, mut other: Self) {
        for rank in (0..self.graph.ranks()).filter(|&rank| other.own[rank as usize]) {
            self.ranks[rank as usize] = other.ranks[rank as usize];
            self.own[rank as usize] = true;
            for at in self.nodes_of(rank) {
                let node = self.rank_nodes[at] as usize;
                self.nodes[node] = other.nodes[node];
            }
        }
        self.ranks_left += other.ranks_left;
        self.records.append(&mut other.records);
        for (key, times) in other.ended {
            match self.ended.get_mut(&key) {
                Some(own) => own.absorb(&times),
                None => {
                    self.ended.insert(key, times);
                }
            }
        }
        for (key, frame) in other.frames {
            match self.frames.get_mut(&key) {
                Some(own) => own.absorb(&frame),
                None => {
                    self.frames.insert(key, frame);
                }
            }
        }
        self.settle_frames();
    }

    /// In collectives that run, members that have ended where they were run have begun, have got all that they get, and have sent all that
    /// they send.
    fn settle_frames(&mut self) {
        for (&(iteration, instance), frame) in &mut self.frames {
            let schedule = &self.shapes[self.shape_of[instance as usize] as usize].schedule;
            let nodes = &self.matching.instances[instance as usize].nodes;
            let has_ended = |node: NodeId| {
                let at = self.ranks[self.graph.rank(node) as usize].iteration;
                at > iteration || (at == iteration && self.nodes[node as usize].state == State::Ended)
            };
            let ended: Vec<bool> = nodes.iter().map(|&node| has_ended(node)).collect();
            frame.begun.iter_mut().zip(&ended).for_each(|(begun, ended)| *begun |= ended);
            for (waits, message) in frame.waits.iter_mut().zip(schedule.messages()) {
                if ended[message.to as usize] {
                    *waits = DELIVERED;
                } else if ended[message.from as usize] {
                    *waits = (*waits).max(SENT);
                }
            }
        }
    }
}

impl Frame {
    /// What is known of a collective elsewhere: of each message its sender knows the begin, and its receiver the end.
    fn absorb(&mut self, other: &Self) {
        self.begun.iter_mut().zip(&other.begun).for_each(|(own, other)| *own |= other);
        for (own, &other) in self.waits.iter_mut().zip(&other.waits) {
            if other >= SENT {
                *own = (*own).max(other);
            }
        }
    }
}

impl Times {
    fn absorb(&mut self, other: &Self) {
        let of_message = self.begin_ps.iter_mut().zip(&mut self.end_ps).zip(&mut self.after);
        let of_other = other.begin_ps.iter().zip(&other.end_ps).zip(&other.after);
        for (((begin, end), after), ((&other_begin, &other_end), &other_after)) in of_message.zip(of_other) {
            // Who knows nothing has left the first values there.
            (*begin, *end, *after) = ((*begin).max(other_begin), (*end).max(other_end), (*after).min(other_after));
        }
    }
}

const _: () = assert!(SENT < DELIVERED, "what is known last is the greater number");
