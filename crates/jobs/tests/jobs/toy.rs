//! A network with a formula: each rank has a port of one rate, a message has one latency.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use penstock_jobs::{Action, Collective, Executor, Graph, GraphBuilder, MessageId, Settings, Work};

/// The network. A message leaves its sender's port after those before it, and enters its receiver's likewise.
#[derive(Debug)]
pub(crate) struct Toy {
    pub(crate) latency_ps: u64,
    /// Picoseconds an octet.
    pub(crate) octet_ps: u64,
    out_free_ps: Vec<u64>,
    in_free_ps: Vec<u64>,
    /// First octets at receivers: when, which message, the receiver, octets.
    heads: BinaryHeap<Reverse<(u64, MessageId, u32, u64)>>,
    /// Last octets at receivers.
    arrivals: BinaryHeap<Reverse<(u64, MessageId)>>,
    /// Messages and their octets so far.
    pub(crate) messages: u64,
    pub(crate) octets: u64,
}

impl Toy {
    pub(crate) fn new(ranks: u32, latency_ps: u64, octet_ps: u64) -> Self {
        let free = vec![0; ranks as usize];
        let (heads, arrivals) = (BinaryHeap::new(), BinaryHeap::new());
        Self {
            latency_ps,
            octet_ps,
            out_free_ps: free.clone(),
            in_free_ps: free,
            heads,
            arrivals,
            messages: 0,
            octets: 0,
        }
    }

    /// Sends what an executor wants sent. Whether it has finished.
    fn obey(&mut self, actions: &mut Vec<Action>, now_ps: u64) -> bool {
        let mut finished = false;
        for action in actions.drain(..) {
            match action {
                Action::Send { message, from, to, octets } => {
                    assert_ne!(from, to);
                    let time_ps = octets * self.octet_ps;
                    let out_ps = &mut self.out_free_ps[from as usize];
                    let begin_ps = now_ps.max(*out_ps);
                    *out_ps = begin_ps + time_ps;
                    self.heads.push(Reverse((begin_ps + self.latency_ps, message, to, octets)));
                    self.messages += 1;
                    self.octets += octets;
                }
                Action::Finished => finished = true,
            }
        }
        finished
    }

    /// Runs a job until nothing happens any more: the time of its last event.
    pub(crate) fn run(&mut self, job: &mut Executor) -> u64 {
        let mut actions = Vec::new();
        let mut now_ps = 0;
        job.start(now_ps, &mut actions);
        let mut finished = self.obey(&mut actions, now_ps);
        loop {
            let head_ps = self.heads.peek().map(|Reverse(head)| head.0);
            let arrival_ps = self.arrivals.peek().map(|Reverse((at_ps, _))| *at_ps);
            let Some(next_ps) = head_ps.into_iter().chain(arrival_ps).chain(job.next_wake_ps()).min() else { break };
            assert!(!finished, "a finished job has nothing to do");
            now_ps = next_ps;
            if head_ps == Some(now_ps) {
                let Reverse((_, message, to, octets)) = self.heads.pop().expect("the head that was seen");
                let in_ps = &mut self.in_free_ps[to as usize];
                *in_ps = now_ps.max(*in_ps) + octets * self.octet_ps;
                self.arrivals.push(Reverse((*in_ps, message)));
            } else if arrival_ps == Some(now_ps) {
                let Reverse((_, message)) = self.arrivals.pop().expect("the arrival that was seen");
                job.delivered(message, now_ps, &mut actions);
                job.acknowledged(message, now_ps, &mut actions);
            } else {
                job.wake(now_ps, &mut actions);
            }
            finished |= self.obey(&mut actions, now_ps);
        }
        assert_eq!(finished, job.is_done());
        now_ps
    }
}

/// A collective of all ranks.
pub(crate) fn one(ranks: u32, collective: Collective) -> Graph {
    let mut graph = GraphBuilder::new(ranks);
    let group = graph.add_group((0..ranks).collect());
    let collective = graph.collective(collective);
    for rank in 0..ranks {
        graph.add_node(rank, Work::Collective { group, collective }, "");
    }
    graph.finish().expect("a collective of all ranks is a graph")
}

/// The time of a graph that ends.
pub(crate) fn time_ps(graph: Graph, latency_ps: u64, octet_ps: u64, settings: Settings) -> u64 {
    let ranks = graph.ranks();
    let mut job = Executor::new(graph, settings).expect("a graph that can end");
    let time_ps = Toy::new(ranks, latency_ps, octet_ps).run(&mut job);
    assert!(job.is_done(), "{:?}", job.waiting(5));
    time_ps
}
