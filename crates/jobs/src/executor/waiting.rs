//! What a job that does not end waits for, in sentences.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Executor, State};
use crate::graph::{NodeId, Work};
use crate::matching::NONE;

impl Executor {
    /// The nodes that have begun and not ended: for each a sentence with its name, its iteration and what it waits for.
    /// At most `limit` of them, by rank.
    #[must_use]
    pub fn waiting(&self, limit: usize) -> Vec<String> {
        let ranks = 0..self.graph.ranks();
        let nodes = ranks.flat_map(|rank| self.rank_nodes[self.nodes_of(rank)].iter().copied());
        let runs = nodes.filter(|&node| matches!(self.nodes[node as usize].state, State::Runs | State::Queued));
        runs.take(limit).map(|node| self.why(node)).collect()
    }

    /// The sentence of a node that has not ended.
    fn why(&self, node: NodeId) -> String {
        let iteration = self.ranks[self.graph.rank(node) as usize].iteration;
        let partner = self.matching.partner[node as usize];
        let why = match self.graph.work(node) {
            Work::Compute { .. } if self.nodes[node as usize].state == State::Queued => {
                String::from("its unit is busy")
            }
            Work::Compute { .. } | Work::Delay { .. } => String::from("its time has not passed"),
            Work::Send { .. } => String::from("its last octet has not arrived, or its sender has not heard of it"),
            Work::Receive { .. } if partner == NONE => String::from("no message that fits has arrived"),
            Work::Receive { .. } => self.why_receive(partner, iteration),
            Work::Collective { .. } => self.why_collective(node, partner, iteration),
        };
        format!("{} in iteration {iteration}: {why}", self.graph.describe(node))
    }

    /// Why the message of a send has not arrived.
    fn why_receive(&self, send: NodeId, iteration: u32) -> String {
        let (state, at) = (self.nodes[send as usize].state, self.ranks[self.graph.rank(send) as usize].iteration);
        let send = self.graph.describe(send);
        if at < iteration {
            format!("{send} waits, as its rank is in iteration {at}")
        } else if state == State::Runs {
            format!("the last octet of {send} has not arrived")
        } else {
            format!("{send} has not begun")
        }
    }

    /// Why a member has not ended.
    fn why_collective(&self, node: NodeId, instance: u32, iteration: u32) -> String {
        let Some(frame) = self.frames.get(&(iteration, instance)) else { return String::from("it has just begun") };
        let schedule = &self.shapes[self.shape_of[instance as usize] as usize].schedule;
        let instance = &self.matching.instances[instance as usize];
        let group = &self.graph.groups()[instance.group as usize];
        if let Some(absent) = frame.begun.iter().position(|begun| !begun) {
            return format!("{} has not begun", self.graph.describe(instance.nodes[absent]));
        }
        let member = self.graph.member(instance.group, self.graph.rank(node));
        let mut sent = schedule.messages().iter().zip(&frame.waits).filter(|(_, waits)| **waits == super::frame::SENT);
        let own = sent.clone().find(|(message, _)| Some(message.to) == member || Some(message.from) == member);
        match own.or_else(|| sent.next()) {
            Some((message, _)) => {
                let (from, to) = (group[message.from as usize], group[message.to as usize]);
                format!("the last of {} octets from rank {from} to rank {to} has not arrived", message.octets)
            }
            None => String::from("no message is under way"),
        }
    }
}
