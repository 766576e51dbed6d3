//! Partners: the receive of each send, and the members' nodes of each collective.

use alloc::collections::{BTreeMap, BinaryHeap};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::graph::{CollectiveId, Graph, GraphError, GroupId, NodeId, Rank, Work};

/// No partner is known before the run.
pub(crate) const NONE: u32 = u32::MAX;

/// A send or receive: source, destination and tag, its position, itself.
type Entry = ((Rank, Rank, u32), u32, NodeId);

/// Who belongs to whom.
#[derive(Clone, Debug)]
pub(crate) struct Matching {
    /// Of a send its receive, of a receive its send, of a collective the index in `instances`, otherwise `NONE`.
    pub(crate) partner: Vec<u32>,
    /// The collectives of groups, one after another.
    pub(crate) instances: Vec<Instance>,
    /// Ranks with a receive from any source or of any tag, whose receives have no partners before the run.
    pub(crate) any: Vec<bool>,
}

/// One collective of a group.
#[derive(Clone, Debug)]
pub(crate) struct Instance {
    pub(crate) group: GroupId,
    pub(crate) collective: CollectiveId,
    /// The node of each member.
    pub(crate) nodes: Vec<NodeId>,
}

impl Matching {
    /// The partners in a graph.
    ///
    /// # Errors
    ///
    /// A cycle of dependencies, or a missing or different partner.
    pub(crate) fn new(graph: &Graph) -> Result<Self, GraphError> {
        let position = positions(graph)?;
        let mut any = alloc::vec![false; graph.ranks() as usize];
        for node in 0..graph.len() {
            if let Work::Receive { from: None, .. } | Work::Receive { tag: None, .. } = graph.work(node) {
                any[graph.rank(node) as usize] = true;
            }
        }
        let mut matching = Self { partner: alloc::vec![NONE; graph.len() as usize], instances: Vec::new(), any };
        matching.messages(graph, &position)?;
        matching.collectives(graph, &position)?;
        Ok(matching)
    }

    /// Partners of sends and receives.
    fn messages(&mut self, graph: &Graph, position: &[u32]) -> Result<(), GraphError> {
        let (mut sends, mut receives): (Vec<Entry>, Vec<Entry>) = (Vec::new(), Vec::new());
        let mut counts = alloc::vec![(0_u32, 0_u32); graph.ranks() as usize];
        for node in 0..graph.len() {
            let (rank, order) = (graph.rank(node), position[node as usize]);
            match graph.work(node) {
                Work::Send { to, .. } if self.any[to as usize] => counts[to as usize].0 += 1,
                Work::Send { to, tag, .. } => sends.push(((rank, to, tag), order, node)),
                Work::Receive { from: Some(from), tag: Some(tag), .. } if !self.any[rank as usize] => {
                    receives.push(((from, rank, tag), order, node));
                }
                Work::Receive { .. } => counts[rank as usize].1 += 1,
                _ => {}
            }
        }
        if let Some((rank, (sent, received))) = counts.iter().enumerate().find(|(_, (sent, received))| sent != received)
        {
            let message = format!("{sent} sends go to rank {rank}, which has {received} receives: as many of both");
            return Err(GraphError::new(None, message));
        }
        sends.sort_unstable();
        receives.sort_unstable();
        let (mut send, mut receive) = (sends.iter().peekable(), receives.iter().peekable());
        loop {
            match (send.peek(), receive.peek()) {
                (None, None) => return Ok(()),
                (Some(a), Some(b)) if a.0 == b.0 => {
                    self.meet(graph, a.2, b.2)?;
                    send.next();
                    receive.next();
                }
                (Some(a), Some(b)) if a.0 < b.0 => return Err(lonely(graph, a, "receive", &sends, &receives)),
                (Some(a), None) => return Err(lonely(graph, a, "receive", &sends, &receives)),
                (_, Some(b)) => return Err(lonely(graph, b, "send", &sends, &receives)),
            }
        }
    }

    /// A send and its receive.
    fn meet(&mut self, graph: &Graph, send: NodeId, receive: NodeId) -> Result<(), GraphError> {
        self.partner[send as usize] = receive;
        self.partner[receive as usize] = send;
        match (graph.work(send), graph.work(receive)) {
            (Work::Send { octets: sent, .. }, Work::Receive { octets, .. }) if sent != octets => {
                let (one, other) = (graph.describe(send), graph.describe(receive));
                Err(GraphError::new(Some(receive), format!("{other} belongs to {one}: the same size at both")))
            }
            _ => Ok(()),
        }
    }

    /// The members' nodes of each collective.
    fn collectives(&mut self, graph: &Graph, position: &[u32]) -> Result<(), GraphError> {
        // For each group and member the nodes in their order.
        let mut of_group: BTreeMap<GroupId, Vec<Vec<(u32, NodeId)>>> = BTreeMap::new();
        for node in 0..graph.len() {
            if let Work::Collective { group, .. } = graph.work(node) {
                let size = graph.groups()[group as usize].len();
                let members = of_group.entry(group).or_insert_with(|| alloc::vec![Vec::new(); size]);
                let member = graph.member(group, graph.rank(node)).expect("the builder checked the member");
                members[member as usize].push((position[node as usize], node));
            }
        }
        for (group, mut members) in of_group {
            members.iter_mut().for_each(|nodes| nodes.sort_unstable());
            let (longest, most) = longest(&members);
            for number in 0..most {
                let first = members[longest][number].1;
                let mut nodes = Vec::with_capacity(members.len());
                for (member, of_member) in members.iter().enumerate() {
                    let Some(&(_, node)) = of_member.get(number) else {
                        let rank = graph.groups()[group as usize][member];
                        let first_text = graph.describe(first);
                        let (few, other) = (of_member.len(), graph.rank(first));
                        let message = format!(
                            "rank {rank} has {few} collectives of group {group}, rank {other} has {most}: {first_text} \
                             has no partner there"
                        );
                        return Err(GraphError::new(Some(first), message));
                    };
                    nodes.push(node);
                }
                let differs = nodes.iter().find(|&&node| graph.work(node) != graph.work(nodes[0]));
                if let Some(&other) = differs {
                    let (one, two) = (graph.describe(nodes[0]), graph.describe(other));
                    let message =
                        format!("{two} belongs to {one}, collective {number} of its group: the same at all members");
                    return Err(GraphError::new(Some(other), message));
                }
                let Work::Collective { collective, .. } = graph.work(first) else { unreachable!("a collective") };
                for &node in &nodes {
                    self.partner[node as usize] = self.instances.len() as u32;
                }
                self.instances.push(Instance { group, collective, nodes });
            }
        }
        Ok(())
    }
}

/// The member with the most collectives, and their number.
fn longest(members: &[Vec<(u32, NodeId)>]) -> (usize, usize) {
    let most = members.iter().map(Vec::len).max().unwrap_or(0);
    (members.iter().position(|nodes| nodes.len() == most).unwrap_or(0), most)
}

/// The error of a send or receive without partner.
fn lonely(graph: &Graph, alone: &Entry, lacks: &str, sends: &[Entry], receives: &[Entry]) -> GraphError {
    let count = |entries: &[Entry]| entries.iter().filter(|entry| entry.0 == alone.0).count();
    let &((from, to, tag), _, node) = alone;
    let message = format!(
        "{} has no {lacks}: from rank {from} to rank {to} with tag {tag} there are {} sends and {} receives",
        graph.describe(node),
        count(sends),
        count(receives)
    );
    GraphError::new(Some(node), message)
}

/// The position of each node in an order that dependencies allow, the smallest node first where there is a choice.
fn positions(graph: &Graph) -> Result<Vec<u32>, GraphError> {
    let mut waits = alloc::vec![0_u32; graph.len() as usize];
    let waiting = |node| graph.waiting_for_end(node).iter().chain(graph.waiting_for_start(node));
    for node in 0..graph.len() {
        waiting(node).for_each(|&next| waits[next as usize] += 1);
    }
    let mut ready: BinaryHeap<_> = (0..graph.len()).filter(|&node| waits[node as usize] == 0).map(Reverse).collect();
    let mut position = alloc::vec![NONE; graph.len() as usize];
    let mut count = 0;
    while let Some(Reverse(node)) = ready.pop() {
        position[node as usize] = count;
        count += 1;
        for &next in waiting(node) {
            waits[next as usize] -= 1;
            if waits[next as usize] == 0 {
                ready.push(Reverse(next));
            }
        }
    }
    if count == graph.len() {
        return Ok(position);
    }
    let left = |node: NodeId| position[node as usize] == NONE;
    let pairs = (0..graph.len())
        .filter(|&node| left(node))
        .flat_map(|node| waiting(node).filter(|&&next| left(next)).map(move |&next| (node, next)));
    Err(cycle(graph, graph.len(), pairs, Some).expect("nodes that are left wait for each other"))
}

/// The error of a cycle among events that are left: pairs (awaited event, waiting event). `node` gives the node of an
/// event. `None` if an event waits for none of the others.
pub(crate) fn cycle(
    graph: &Graph,
    events: u32,
    pairs: impl Iterator<Item = (u32, u32)>,
    node: impl Fn(u32) -> Option<NodeId>,
) -> Option<GraphError> {
    let mut awaited = alloc::vec![NONE; events as usize];
    let mut begin = NONE;
    for (before, event) in pairs {
        awaited[event as usize] = before;
        begin = begin.min(event);
    }
    // After as many steps as there are events, the walk is in a cycle.
    let mut at = begin;
    for _ in 0..events {
        at = *awaited.get(at as usize)?;
    }
    let mut nodes: Vec<NodeId> = Vec::new();
    let first = at;
    loop {
        nodes.extend(node(at).filter(|node| nodes.last() != Some(node)));
        at = *awaited.get(at as usize)?;
        if at == first {
            break;
        }
    }
    if nodes.len() > 1 && nodes.first() == nodes.last() {
        nodes.pop();
    }
    // The smallest first: the same cycle has one message.
    let smallest = nodes.iter().enumerate().min_by_key(|(_, node)| **node).map_or(0, |(index, _)| index);
    nodes.rotate_left(smallest);
    let shown = nodes.iter().take(NAMED_MAX).map(|&node| graph.describe(node));
    let mut text: String = shown.collect::<Vec<_>>().join(" waits for ");
    if nodes.len() > NAMED_MAX {
        let left = nodes.len() - NAMED_MAX;
        text += &if left == 1 { String::from(" waits for another") } else { format!(" waits for {left} others") };
    }
    let message = format!("the graph cannot end: {text} waits for the first");
    Some(GraphError::new(nodes.first().copied(), message))
}

/// Nodes of a cycle that a message names.
const NAMED_MAX: usize = 12;

/// Whether a receive takes a message.
pub(crate) fn fits(graph: &Graph, receive: NodeId, send: NodeId) -> bool {
    match (graph.work(receive), graph.work(send)) {
        (Work::Receive { from, tag, .. }, Work::Send { tag: sent, .. }) => {
            from.is_none_or(|from| from == graph.rank(send)) && tag.is_none_or(|tag| tag == sent)
        }
        _ => false,
    }
}
