//! Frames of a flow over several ways: a switch chooses by which of its ports a frame goes on.
//!
//! Nothing of it costs a frame that has one way: the step behind a hop says whether there is anything to choose.

use penstock_schemes::{Draw, Duration, FlowKey, Instant, Scheme};

use crate::engine::Sim;
use crate::fabric::Fabric;
use crate::frame::FrameId;
use crate::network::{Hop, HopId, Network, PortId, Spread, SpreadBy};
use crate::probe::Probe;
use crate::random::{Owner, Stream};

/// The flowlets of a flow at a switch.
#[derive(Debug, Clone, Copy)]
struct Flowlets {
    /// When the last frame came; never before the first.
    last: Instant,
    /// How many there have been.
    count: u32,
    /// The way of the last one.
    way: HopId,
}

impl Flowlets {
    const NONE: Self = Self { last: Instant::NEVER, count: 0, way: HopId::NONE };

    /// Whether a frame that comes now begins one.
    fn begin(&mut self, now: Instant, gap: Duration) -> bool {
        let last = std::mem::replace(&mut self.last, now);
        last == Instant::NEVER || now.since(last) >= gap
    }
}

/// What switches remember of their choices.
#[derive(Debug)]
pub(crate) struct Spreading {
    by: SpreadBy,
    seed: u64,
    /// For each port how many choices there had been when it was chosen last.
    chosen: Vec<u64>,
    choices: u64,
    /// The random words of each node.
    words: Vec<Stream>,
    /// By the hop before the choice.
    flowlets: Vec<Flowlets>,
    /// The node at the far end of each port.
    nodes: Vec<usize>,
}

impl Spreading {
    /// That of a network whose switches choose; `None` for one whose flows have a way each.
    pub(crate) fn new(network: &Network, seed: u64) -> Option<Box<Self>> {
        let Spread { by, seed: of_hash, .. } = network.spread.as_ref()?;
        let stream = |node| Stream::new(seed, Owner::Switch, node);
        Some(Box::new(Self {
            by: *by,
            seed: *of_hash,
            chosen: vec![0; network.ports.len()],
            choices: 0,
            words: (0..network.nodes.len()).map(stream).collect(),
            flowlets: vec![Flowlets::NONE; network.hops.len() + 1],
            nodes: network.ports.iter().map(|port| port.peer.index()).collect(),
        }))
    }

    /// Hops up to `end` exist, and those from `first` on belong to another flow than before.
    pub(crate) fn renew(&mut self, first: HopId, end: usize) {
        if self.flowlets.len() < end {
            self.flowlets.resize(end, Flowlets::NONE);
        }
        self.flowlets[first.index()..end].fill(Flowlets::NONE);
    }

    /// Which of the hops behind `hop` a frame of `flow` takes. Ports with broken lines are no choice as long as there are others.
    fn choose<S: Scheme, const PFC: bool>(
        &mut self,
        fabric: &mut Fabric<S, PFC>,
        hops: &[Hop],
        hop: HopId,
        flow: FlowKey,
    ) -> HopId {
        let Hop { port, first_child, children, .. } = hops[hop.index()];
        let all = (first_child.0..first_child.0 + u32::from(children)).map(HopId);
        let port_of = |way: HopId| hops[way.index()].port;
        let any = all.clone().any(|way| fabric.port(port_of(way)).up);
        let is_open = |fabric: &Fabric<S, PFC>, way: HopId| !any || fabric.port(port_of(way)).up;
        let node = self.nodes[port.index()];

        let flowlets = &mut self.flowlets[hop.index()];
        if let SpreadBy::Flowlet(gap) | SpreadBy::QueueOfFlowlet(gap) = self.by {
            let begins = flowlets.begin(fabric.now, gap);
            if !begins && is_open(fabric, flowlets.way) {
                return flowlets.way;
            }
        }
        let way = match self.by {
            SpreadBy::Flowlet(_) if flowlets.count == 0 && is_open(fabric, first_child) => first_child,
            SpreadBy::Flowlet(_) => {
                let word = mix(self.seed ^ mix(node as u64 ^ mix(u64::from(flow.0) << 32 | u64::from(flowlets.count))));
                nth(all.filter(|&way| is_open(fabric, way)), word as u32)
            }
            SpreadBy::Turns => {
                let open = all.filter(|&way| is_open(fabric, way)).map(|way| (port_of(way), way));
                let longest_ago = open.min_by_key(|(port, _)| (self.chosen[port.index()], *port));
                longest_ago.expect("there is a way").1
            }
            SpreadBy::Random => nth(all.filter(|&way| is_open(fabric, way)), self.words[node].draw()),
            SpreadBy::Queue | SpreadBy::QueueOfFlowlet(_) => {
                all.clone().for_each(|way| fabric.settle(port_of(way)));
                let octets = |way: &HopId| fabric.port(port_of(*way)).data_octets();
                let open = all.filter(|&way| is_open(fabric, way));
                let least = open.clone().map(|way| octets(&way)).min();
                let shortest = open.filter(|way| Some(octets(way)) == least);
                match shortest.clone().count() {
                    1 => nth(shortest, 0),
                    _ => nth(shortest, self.words[node].draw()),
                }
            }
        };
        flowlets.way = way;
        flowlets.count = flowlets.count.saturating_add(1);
        self.choices += 1;
        self.chosen[port_of(way).index()] = self.choices;
        way
    }
}

/// That of several ways which a random word chooses, each as likely as the others.
fn nth(ways: impl Iterator<Item = HopId> + Clone, word: u32) -> HopId {
    let mut ways = ways;
    let place = (u64::from(word) * ways.clone().count() as u64) >> 32;
    ways.nth(place as usize).expect("there is a way")
}

/// Spreads the bits of a number over all of it. (Stafford's variant 13 of the finisher of MurmurHash3)
fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl<S: Scheme, P: Probe<S>, const PFC: bool> Sim<S, P, PFC> {
    /// A frame has come to a switch that chooses its way.
    #[inline(never)]
    pub(crate) fn choose(&mut self, index: FrameId) {
        let slot = self.state.fabric.frames.get(index);
        let (hop, flow, class, octets) = (slot.hop, slot.flow, slot.class, slot.octets);
        let from: PortId = self.hops[hop.index()].port;
        let spreading = self.spreading.as_mut().expect("steps lead to choices in networks with choices");
        let next = spreading.choose(&mut self.state.fabric, &self.hops, hop, flow);
        self.state.fabric.frames.get_mut(index).hop = next;
        self.forward(index, next, flow, class, octets, from);
    }
}
