//! Graphs whose collectives are written out as sends and receives, for formats and programs that know no collectives.

use alloc::format;
use alloc::vec::Vec;

use crate::check::can_end;
use crate::graph::{Graph, GraphBuilder, GraphError, NodeId, Work};
use crate::matching::{Instance, Matching};
use crate::schedule::Schedule;

impl Graph {
    /// The same work without collectives: each becomes its messages, between two delays of 0 that stand for its begin
    /// and end.
    ///
    /// A message of a collective has a tag that no other message between its ranks has. Nodes keep their order; those
    /// that take the place of a collective have its name.
    ///
    /// # Errors
    ///
    /// Those of [`Graph::check`]; a collective of a rank that receives from any source or of any tag; a collective of
    /// 2^32 messages or more, or more tags than there are above those in use.
    pub fn expand(&self) -> Result<Self, GraphError> {
        let matching = Matching::new(self)?;
        can_end(self, &matching)?;
        for node in matching.instances.iter().flat_map(|instance| &instance.nodes).copied() {
            if matching.any[self.rank(node) as usize] {
                let message = format!(
                    "{} cannot be written out: its rank receives from any source or of any tag, also its messages",
                    self.describe(node)
                );
                return Err(GraphError::new(Some(node), message));
            }
        }
        let mut graph = GraphBuilder::new(self.ranks());
        // For each node the nodes that stand for its begin and its end.
        let mut ends: Vec<(NodeId, NodeId)> = Vec::with_capacity(self.len() as usize);
        let mut tag = 0;
        for node in 0..self.len() {
            let (rank, name) = (self.rank(node), self.name(node));
            ends.push(match self.work(node) {
                Work::Collective { .. } => {
                    let begin = graph.add_node(rank, Work::Delay { ps: 0 }, name);
                    (begin, graph.add_node(rank, Work::Delay { ps: 0 }, name))
                }
                work => {
                    if let Work::Send { tag: used, .. } | Work::Receive { tag: Some(used), .. } = work {
                        tag = tag.max(u64::from(used) + 1);
                    }
                    let same = graph.add_node(rank, work, name);
                    (same, same)
                }
            });
        }
        for node in 0..self.len() {
            for &next in self.waiting_for_end(node) {
                graph.after(ends[next as usize].0, ends[node as usize].1);
            }
            for &next in self.waiting_for_start(node) {
                graph.after_start(ends[next as usize].0, ends[node as usize].0);
            }
        }
        for instance in &matching.instances {
            let error = || {
                let message = format!("{} has too many messages to be written out", self.describe(instance.nodes[0]));
                GraphError::new(Some(instance.nodes[0]), message)
            };
            self.write_out(&mut graph, instance, &ends, &mut tag).ok_or_else(error)?;
        }
        graph.finish()
    }

    /// Adds the messages of a collective; `None` if they are too many.
    fn write_out(
        &self,
        graph: &mut GraphBuilder,
        instance: &Instance,
        ends: &[(NodeId, NodeId)],
        tag: &mut u64,
    ) -> Option<()> {
        let collective = &self.collectives()[instance.collective as usize];
        let schedule = Schedule::new(collective, instance.nodes.len() as u32)?;
        let group = &self.groups()[instance.group as usize];
        let mut receives = alloc::vec![false; group.len()];
        for message in schedule.messages().iter().filter(|message| message.from != message.to) {
            receives[message.to as usize] = true;
        }
        // For each message the node that starts it, its send and its receive; a join is one node.
        let mut nodes: Vec<[NodeId; 3]> = Vec::with_capacity(schedule.messages().len());
        for message in schedule.messages() {
            let (from, to) = (group[message.from as usize], group[message.to as usize]);
            let [sender, receiver] = [message.from, message.to].map(|member| instance.nodes[member as usize]);
            let name = self.name(sender);
            let [(begin, end), (other_begin, other_end)] = [sender, receiver].map(|node| ends[node as usize]);
            let delay = Work::Delay { ps: collective.step_latency_ps };
            if from == to {
                let join = graph.add_node(from, Work::Delay { ps: 0 }, name);
                graph.after(join, begin);
                graph.after(end, join);
                nodes.push([join; 3]);
                continue;
            }
            let first = (collective.step_latency_ps > 0).then(|| graph.add_node(from, delay, name));
            let number = u32::try_from(*tag).ok()?;
            *tag += 1;
            let send = graph.add_node(from, Work::Send { to, octets: message.octets, tag: number }, name);
            let receive = Work::Receive { from: Some(from), octets: message.octets, tag: Some(number) };
            let receive = graph.add_node(to, receive, self.name(receiver));
            if let Some(first) = first {
                graph.after(send, first);
            }
            graph.after(first.unwrap_or(send), begin);
            // Who receives ends with that: its own messages have started then.
            if !receives[message.from as usize] {
                graph.after(end, send);
            }
            graph.after(receive, other_begin);
            graph.after(other_end, receive);
            nodes.push([first.unwrap_or(send), send, receive]);
        }
        for (awaited, &[_, send, receive]) in nodes.iter().enumerate() {
            for &next in schedule.waiting_for(awaited as u32) {
                let sender = schedule.messages()[next as usize].from;
                let by = if schedule.messages()[awaited].to == sender { receive } else { send };
                graph.after(nodes[next as usize][0], by);
                if by == send && receives[sender as usize] {
                    graph.after(ends[instance.nodes[sender as usize] as usize].1, send);
                }
            }
        }
        Some(())
    }
}
