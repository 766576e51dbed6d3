//! The state machine that runs a graph by completions.
//!
//! Nodes of a rank keep their state for one iteration, collectives for the time from their first member's begin to
//! their last member's end. Nothing recurses: what may start waits in `ready`, what ends by time in `timers`.
//!
//! What happens at a host at one instant depends on that host alone: a message reaches its receiver, and its sender hears of it by a
//! call at another time. So several executors of one graph may each run the ranks of some hosts (`parts`).

mod frame;
mod interface;
mod parts;
mod slowest;
mod waiting;

pub use interface::{Action, Detail, Local, MessageId, Origin, Path, Piece, Record, Settings, Step};

use alloc::collections::{BTreeMap, BinaryHeap};
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::check::can_end;
use crate::graph::{Graph, GraphError, NodeId, Rank, Work};
use crate::matching::{Matching, NONE, fits};
use crate::schedule::Schedule;
use frame::{Frame, Times};

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Its dependencies have not ended.
    Waits,
    /// Its unit is busy.
    Queued,
    Runs,
    Ended,
}

/// A node in its rank's current iteration.
#[derive(Clone, Copy, Debug)]
struct Node {
    state: State,
    /// Dependencies that have not ended, or not started.
    waits: u32,
    /// The dependency that ended last.
    after: NodeId,
    begin_ps: u64,
}

/// A rank in its current iteration.
#[derive(Clone, Copy, Debug)]
struct RankState {
    iteration: u32,
    /// Nodes that have not ended.
    left: u32,
    begin_ps: u64,
}

/// A unit of a rank.
#[derive(Clone, Debug, Default)]
struct Unit {
    busy: bool,
    /// Computations that may begin: since when, which.
    queue: BinaryHeap<Reverse<(u64, NodeId)>>,
}

/// What happens at a time. Events of one time happen in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Timer {
    /// A computation or a delay ends.
    End(NodeId),
    /// The latency of a message's step has passed.
    Leave(MessageId),
    /// A message inside of a host arrives.
    Arrive(MessageId),
}

/// The messages of collectives of one kind, size, algorithm and number of members.
#[derive(Clone, Debug)]
struct Shape {
    schedule: Schedule,
    /// For each member the number of messages from it and to it.
    left: Vec<u32>,
    /// Whether a member receives anything from others.
    receives: Vec<bool>,
    step_latency_ps: u64,
}

/// Runs a graph. Its caller keeps the time, sends messages and reports them.
///
/// After each call, [`next_wake_ps`](Self::next_wake_ps) says when to call [`wake`](Self::wake) next. Times never
/// decrease.
#[derive(Clone, Debug)]
pub struct Executor {
    graph: Arc<Graph>,
    settings: Settings,
    matching: Arc<Matching>,
    shapes: Vec<Arc<Shape>>,
    /// For each collective its shape, and its first message in an iteration.
    shape_of: Vec<u32>,
    first_message: Vec<u64>,
    /// The nodes that send, in the order of their messages.
    sends: Vec<NodeId>,
    messages_per_iteration: u64,
    /// The nodes of each rank, and the end of each rank's part.
    rank_nodes: Vec<NodeId>,
    rank_ends: Vec<u32>,
    /// For each node the number of its dependencies.
    dependencies: Vec<u32>,
    nodes: Vec<Node>,
    ranks: Vec<RankState>,
    /// The ranks that it runs, and how many of them have not ended.
    own: Vec<bool>,
    ranks_left: u32,
    /// Units by rank and number.
    unit_keys: Vec<(Rank, u32)>,
    units: Vec<Unit>,
    /// Collectives that have begun and not ended, by iteration.
    frames: BTreeMap<(u32, u32), Frame>,
    /// The messages of those that have ended, if the job's slowest path is wanted.
    ended: BTreeMap<(u32, u32), Times>,
    /// Messages that arrived before their receive had begun, by iteration and receive.
    early: BTreeMap<(u32, NodeId), MessageId>,
    /// At ranks that receive from any: receives that have begun; messages that have arrived, with iteration and send.
    begun: Vec<Vec<NodeId>>,
    arrived: Vec<Vec<(u32, NodeId, MessageId)>>,
    /// When each rank's local link is free.
    local_free_ps: Vec<u64>,
    timers: BinaryHeap<Reverse<(u64, Timer)>>,
    ready: BinaryHeap<Reverse<NodeId>>,
    records: Vec<Record>,
    paths: Vec<Path>,
}

impl Executor {
    /// An executor of a graph, which it checks first.
    ///
    /// # Errors
    ///
    /// Those of [`Graph::check`]; hosts of a number other than that of the ranks; a collective of 2^32 messages or
    /// more.
    pub fn new(graph: Graph, settings: Settings) -> Result<Self, GraphError> {
        let ranks = graph.ranks() as usize;
        if !settings.host_of.is_empty() && settings.host_of.len() != ranks {
            let message = format!("{} hosts for {ranks} ranks: the host of each rank", settings.host_of.len());
            return Err(GraphError::new(None, message));
        }
        let matching = Matching::new(&graph)?;
        can_end(&graph, &matching)?;
        let mut dependencies = alloc::vec![0_u32; graph.len() as usize];
        let mut unit_keys = Vec::new();
        let mut rank_ends = alloc::vec![0_u32; ranks];
        for node in 0..graph.len() {
            let waiting = graph.waiting_for_end(node).iter().chain(graph.waiting_for_start(node));
            waiting.for_each(|&next| dependencies[next as usize] += 1);
            rank_ends[graph.rank(node) as usize] += 1;
            if let Work::Compute { unit, .. } = graph.work(node) {
                unit_keys.push((graph.rank(node), unit));
            }
        }
        unit_keys.sort_unstable();
        unit_keys.dedup();
        crate::schedule::begins(&mut rank_ends);
        let mut rank_nodes = alloc::vec![0; graph.len() as usize];
        for node in 0..graph.len() {
            let next = &mut rank_ends[graph.rank(node) as usize];
            rank_nodes[*next as usize] = node;
            *next += 1;
        }
        let sends: Vec<_> = (0..graph.len()).filter(|&node| matches!(graph.work(node), Work::Send { .. })).collect();
        let node = Node { state: State::Waits, waits: 0, after: NONE, begin_ps: 0 };
        let mut executor = Self {
            settings,
            shapes: Vec::new(),
            shape_of: Vec::new(),
            first_message: Vec::new(),
            messages_per_iteration: sends.len() as u64,
            sends,
            rank_nodes,
            rank_ends,
            dependencies,
            nodes: alloc::vec![node; graph.len() as usize],
            ranks: alloc::vec![RankState { iteration: 0, left: 0, begin_ps: 0 }; ranks],
            own: alloc::vec![true; ranks],
            ranks_left: ranks as u32,
            units: alloc::vec![Unit::default(); unit_keys.len()],
            unit_keys,
            frames: BTreeMap::new(),
            ended: BTreeMap::new(),
            early: BTreeMap::new(),
            begun: alloc::vec![Vec::new(); ranks],
            arrived: alloc::vec![Vec::new(); ranks],
            local_free_ps: alloc::vec![0; ranks],
            timers: BinaryHeap::new(),
            ready: BinaryHeap::new(),
            records: Vec::new(),
            paths: Vec::new(),
            graph: Arc::new(graph),
            matching: Arc::new(matching),
        };
        executor.plan_collectives()?;
        Ok(executor)
    }

    /// Starts the job. Called once, before the others.
    pub fn start(&mut self, now_ps: u64, out: &mut Vec<Action>) {
        for rank in (0..self.graph.ranks()).filter(|&rank| self.own[rank as usize]).collect::<Vec<_>>() {
            if self.settings.iterations == 0 {
                self.ranks_left -= 1;
            } else {
                self.begin_iteration(rank, now_ps, out);
            }
        }
        if self.graph.ranks() == 0 || self.settings.iterations == 0 {
            out.push(Action::Finished);
        }
        self.run(now_ps, out);
    }

    /// The last octet of a message is at its receiver. What ends by time at this instant comes later, in
    /// [`wake`](Self::wake).
    ///
    /// # Panics
    ///
    /// If the message has not been sent, or was reported before.
    pub fn delivered(&mut self, message: MessageId, now_ps: u64, out: &mut Vec<Action>) {
        self.arrive(message, now_ps, out);
        self.begin_ready(now_ps, out);
    }

    /// Whether the sender of a message does something when it hears that the last octet has arrived.
    ///
    /// # Panics
    ///
    /// If the job has no such message.
    #[must_use]
    pub fn wants_notice(&self, message: MessageId) -> bool {
        let at = message.0 % self.messages_per_iteration;
        if at < self.sends.len() as u64 {
            return true;
        }
        let (instance, number) = self.of_collective(at);
        self.shapes[self.shape_of[instance as usize] as usize].wants_notice(number)
    }

    /// The sender of a message has heard that the last octet has arrived: at or after the call of
    /// [`delivered`](Self::delivered), and needed only if it [wants to](Self::wants_notice). As there, what ends by time comes later.
    ///
    /// # Panics
    ///
    /// If the message is a send's and not under way.
    pub fn acknowledged(&mut self, message: MessageId, now_ps: u64, out: &mut Vec<Action>) {
        self.hear(message, now_ps, out);
        self.begin_ready(now_ps, out);
    }

    /// Ends what ends at or before `now_ps`: computations, delays, messages inside of hosts.
    pub fn wake(&mut self, now_ps: u64, out: &mut Vec<Action>) {
        self.run(now_ps, out);
    }

    /// When [`wake`](Self::wake) has something to do; `None` if it only waits for messages.
    #[must_use]
    pub fn next_wake_ps(&self) -> Option<u64> {
        self.timers.peek().map(|Reverse((at_ps, _))| *at_ps)
    }

    /// Whether all has ended.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.ranks_left == 0
    }

    /// Messages of the whole job, those inside of hosts included: one more than the largest number.
    #[must_use]
    pub fn messages(&self) -> u64 {
        self.messages_per_iteration * u64::from(self.settings.iterations)
    }

    /// Where a message comes from.
    ///
    /// # Panics
    ///
    /// If the job has no such message.
    #[must_use]
    pub fn origin(&self, message: MessageId) -> Origin {
        let iteration = (message.0 / self.messages_per_iteration) as u32;
        let at = message.0 % self.messages_per_iteration;
        if let Some(&node) = self.sends.get(at as usize) {
            let Work::Send { to, octets, .. } = self.graph.work(node) else { unreachable!("a send") };
            return Origin { iteration, node, from: self.graph.rank(node), to, octets };
        }
        let (instance, number) = self.of_collective(at);
        let message = self.shapes[self.shape_of[instance as usize] as usize].schedule.messages()[number as usize];
        let instance = &self.matching.instances[instance as usize];
        let group = &self.graph.groups()[instance.group as usize];
        Origin {
            iteration,
            node: instance.nodes[message.from as usize],
            from: group[message.from as usize],
            to: group[message.to as usize],
            octets: message.octets,
        }
    }

    /// The channel of a message's collective, from 0 on; 0 for a send's.
    ///
    /// # Panics
    ///
    /// If the job has no such message.
    #[must_use]
    pub fn channel(&self, message: MessageId) -> u32 {
        let at = message.0 % self.messages_per_iteration;
        if at < self.sends.len() as u64 {
            return 0;
        }
        let (instance, number) = self.of_collective(at);
        self.shapes[self.shape_of[instance as usize] as usize].schedule.channel(number)
    }

    /// Takes the records of what has ended since the last call, in the order of their ends, and at one time of their ranks.
    pub fn take_records(&mut self) -> Vec<Record> {
        let mut records = core::mem::take(&mut self.records);
        // A rank's own keep their order.
        records.sort_by_key(|record| (record.end_ps, record.rank));
        records
    }

    /// Takes the slowest paths of the collectives that have ended since the last call.
    pub fn take_paths(&mut self) -> Vec<Path> {
        core::mem::take(&mut self.paths)
    }

    /// The graph.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The nodes of a rank.
    fn nodes_of(&self, rank: Rank) -> core::ops::Range<usize> {
        let begin = if rank == 0 { 0 } else { self.rank_ends[rank as usize - 1] };
        begin as usize..self.rank_ends[rank as usize] as usize
    }

    /// A rank begins its current iteration, and ends those without nodes.
    fn begin_iteration(&mut self, rank: Rank, now_ps: u64, out: &mut Vec<Action>) {
        let nodes = self.nodes_of(rank);
        let state = &mut self.ranks[rank as usize];
        (state.begin_ps, state.left) = (now_ps, nodes.len() as u32);
        if nodes.is_empty() {
            while !self.end_iteration(rank, now_ps, out) {}
            return;
        }
        for at in nodes {
            let node = self.rank_nodes[at];
            let waits = self.dependencies[node as usize];
            self.nodes[node as usize] = Node { state: State::Waits, waits, after: NONE, begin_ps: 0 };
            if waits == 0 {
                self.ready.push(Reverse(node));
            }
        }
    }

    /// A rank has ended its iteration. Whether it was its last.
    fn end_iteration(&mut self, rank: Rank, now_ps: u64, out: &mut Vec<Action>) -> bool {
        let state = &mut self.ranks[rank as usize];
        let (iteration, begin_ps) = (state.iteration, state.begin_ps);
        state.iteration += 1;
        let last = state.iteration == self.settings.iterations;
        self.records.push(Record { rank, iteration, node: None, begin_ps, end_ps: now_ps, after: None, message: None });
        if last {
            self.ranks_left -= 1;
            if self.ranks_left == 0 {
                out.push(Action::Finished);
            }
        }
        last
    }

    /// Does all that can be done by now.
    fn run(&mut self, now_ps: u64, out: &mut Vec<Action>) {
        loop {
            self.begin_ready(now_ps, out);
            if self.next_wake_ps().is_none_or(|at_ps| at_ps > now_ps) {
                return;
            }
            match self.timers.pop() {
                Some(Reverse((_, Timer::End(node)))) => self.end(node, None, now_ps, out),
                Some(Reverse((_, Timer::Leave(message)))) => self.send(message, now_ps, out),
                Some(Reverse((_, Timer::Arrive(message)))) => {
                    self.arrive(message, now_ps, out);
                    self.hear(message, now_ps, out);
                }
                None => {}
            }
        }
    }

    /// Begins all nodes that wait for nothing more.
    fn begin_ready(&mut self, now_ps: u64, out: &mut Vec<Action>) {
        while let Some(Reverse(node)) = self.ready.pop() {
            self.begin(node, now_ps, out);
        }
    }

    /// The dependencies of a node have ended.
    fn begin(&mut self, node: NodeId, now_ps: u64, out: &mut Vec<Action>) {
        let rank = self.graph.rank(node);
        match self.graph.work(node) {
            Work::Compute { unit, .. } => {
                self.nodes[node as usize].state = State::Queued;
                let unit = self.unit(rank, unit);
                self.units[unit].queue.push(Reverse((now_ps, node)));
                self.begin_computation(unit, now_ps);
            }
            Work::Delay { ps } => {
                self.begun(node, now_ps);
                self.timers.push(Reverse((now_ps.saturating_add(ps), Timer::End(node))));
            }
            Work::Send { .. } => {
                self.begun(node, now_ps);
                let at = self.sends.binary_search(&node).expect("all sends are in the list") as u64;
                let iteration = u64::from(self.ranks[rank as usize].iteration);
                self.send(MessageId(iteration * self.messages_per_iteration + at), now_ps, out);
            }
            Work::Receive { .. } => {
                self.begun(node, now_ps);
                let iteration = self.ranks[rank as usize].iteration;
                let message = if self.matching.partner[node as usize] != NONE {
                    self.early.remove(&(iteration, node))
                } else {
                    let arrived = &mut self.arrived[rank as usize];
                    let fit =
                        |&(at, send, _): &(u32, NodeId, MessageId)| at == iteration && fits(&self.graph, node, send);
                    arrived.iter().position(fit).map(|at| arrived.remove(at).2)
                };
                if message.is_some() {
                    self.end(node, message, now_ps, out);
                } else if self.matching.partner[node as usize] == NONE {
                    self.begun[rank as usize].push(node);
                }
            }
            Work::Collective { group, .. } => {
                self.begun(node, now_ps);
                let member = self.graph.member(group, rank).expect("the builder checked the member");
                self.begin_member(self.matching.partner[node as usize], member, now_ps, out);
            }
        }
    }

    /// A node has begun: those that wait for its start may begin.
    fn begun(&mut self, node: NodeId, now_ps: u64) {
        let state = &mut self.nodes[node as usize];
        (state.state, state.begin_ps) = (State::Runs, now_ps);
        release(self.graph.waiting_for_start(node), node, &mut self.nodes, &mut self.ready);
    }

    /// The index of a unit.
    fn unit(&self, rank: Rank, unit: u32) -> usize {
        self.unit_keys.binary_search(&(rank, unit)).expect("all units are in the list")
    }

    /// The next computation of a unit, if it is free.
    fn begin_computation(&mut self, unit: usize, now_ps: u64) {
        if self.units[unit].busy {
            return;
        }
        let Some(Reverse((_, node))) = self.units[unit].queue.pop() else { return };
        self.units[unit].busy = true;
        let Work::Compute { time, .. } = self.graph.work(node) else { unreachable!("only computations queue") };
        let iteration = self.ranks[self.graph.rank(node) as usize].iteration;
        let ps = time.draw_ps(self.settings.seed, node, iteration);
        self.begun(node, now_ps);
        self.timers.push(Reverse((now_ps.saturating_add(ps), Timer::End(node))));
    }

    /// A node has ended.
    fn end(&mut self, node: NodeId, message: Option<MessageId>, now_ps: u64, out: &mut Vec<Action>) {
        let rank = self.graph.rank(node);
        let state = &mut self.nodes[node as usize];
        state.state = State::Ended;
        let (begin_ps, after) = (state.begin_ps, Some(state.after).filter(|&after| after != NONE));
        let work = self.graph.work(node);
        let wanted = if matches!(work, Work::Collective { .. }) { Detail::Collectives } else { Detail::Nodes };
        if self.settings.detail >= wanted {
            let iteration = self.ranks[rank as usize].iteration;
            let record = Record { rank, iteration, node: Some(node), begin_ps, end_ps: now_ps, after, message };
            self.records.push(record);
        }
        release(self.graph.waiting_for_end(node), node, &mut self.nodes, &mut self.ready);
        if let Work::Compute { unit, .. } = work {
            let unit = self.unit(rank, unit);
            self.units[unit].busy = false;
            if let Some(&Reverse((since_ps, next))) = self.units[unit].queue.peek()
                && since_ps < now_ps
            {
                self.nodes[next as usize].after = node;
            }
            self.begin_computation(unit, now_ps);
        }
        let state = &mut self.ranks[rank as usize];
        state.left -= 1;
        if state.left == 0 && !self.end_iteration(rank, now_ps, out) {
            self.begin_iteration(rank, now_ps, out);
        }
    }

    /// Sends a message: over the network, or inside of a host.
    fn send(&mut self, message: MessageId, now_ps: u64, out: &mut Vec<Action>) {
        let Origin { from, to, octets, .. } = self.origin(message);
        let hosts = &self.settings.host_of;
        let local = from == to || (!hosts.is_empty() && hosts[from as usize] == hosts[to as usize]);
        if !local {
            out.push(Action::Send { message, from, to, octets });
            return;
        }
        let Local { rate_bps, latency_ps } = self.settings.local;
        let free_ps = &mut self.local_free_ps[from as usize];
        // 8 bits an octet, 10^12 ps a second, rounded up.
        let busy_ps = (u128::from(octets) * 8_000_000_000_000).div_ceil(u128::from(rate_bps.max(1)));
        let busy_ps = if rate_bps == 0 { 0 } else { u64::try_from(busy_ps).unwrap_or(u64::MAX) };
        *free_ps = now_ps.max(*free_ps).saturating_add(busy_ps);
        self.timers.push(Reverse((free_ps.saturating_add(latency_ps), Timer::Arrive(message))));
    }

    /// The last octet of a message has arrived.
    fn arrive(&mut self, message: MessageId, now_ps: u64, out: &mut Vec<Action>) {
        assert!(message.0 < self.messages(), "message {} of {}", message.0, self.messages());
        let at = message.0 % self.messages_per_iteration;
        let iteration = (message.0 / self.messages_per_iteration) as u32;
        let Some(&send) = self.sends.get(at as usize) else {
            let (instance, number) = self.of_collective(at);
            return self.arrive_in_collective(iteration, instance, number, now_ps, out);
        };
        if self.own[self.graph.rank(send) as usize] {
            self.assert_under_way(message, send, iteration);
        }
        let Work::Send { to, .. } = self.graph.work(send) else { unreachable!("a send") };
        let current = self.ranks[to as usize].iteration == iteration;
        let partner = self.matching.partner[send as usize];
        let receive = if partner != NONE {
            (current && self.nodes[partner as usize].state == State::Runs).then_some(partner)
        } else {
            let begun = &mut self.begun[to as usize];
            let fit = begun.iter().position(|&receive| current && fits(&self.graph, receive, send));
            fit.map(|at| begun.remove(at))
        };
        match receive {
            None if partner != NONE => {
                self.early.insert((iteration, partner), message);
            }
            None => self.arrived[to as usize].push((iteration, send, message)),
            Some(receive) => self.end(receive, Some(message), now_ps, out),
        }
    }

    /// The sender of a message knows that it has arrived.
    fn hear(&mut self, message: MessageId, now_ps: u64, out: &mut Vec<Action>) {
        let at = message.0 % self.messages_per_iteration;
        let iteration = (message.0 / self.messages_per_iteration) as u32;
        let Some(&send) = self.sends.get(at as usize) else {
            let (instance, number) = self.of_collective(at);
            return self.hear_in_collective(iteration, instance, number, now_ps, out);
        };
        self.assert_under_way(message, send, iteration);
        self.end(send, Some(message), now_ps, out);
    }

    fn assert_under_way(&self, message: MessageId, send: NodeId, iteration: u32) {
        let sender = self.ranks[self.graph.rank(send) as usize];
        let runs = sender.iteration == iteration && self.nodes[send as usize].state == State::Runs;
        assert!(runs, "message {} is not under way", message.0);
    }
}

/// Those that waited for a node wait for one less.
fn release(waiting: &[NodeId], node: NodeId, nodes: &mut [Node], ready: &mut BinaryHeap<Reverse<NodeId>>) {
    for &next in waiting {
        let state = &mut nodes[next as usize];
        state.after = node;
        state.waits -= 1;
        if state.waits == 0 {
            ready.push(Reverse(next));
        }
    }
}
