//! Frames of a flow over several paths: a switch chooses by which of its ports a frame goes on.
//!
//! Nothing of it costs a frame that has one way: the step behind a hop says whether there is anything to choose.

use penstock_schemes::{Draw, Duration, FlowKey, Instant};
use penstock_switch::state::port::PortState;

use crate::network::{Hop, HopId, Multipath, Network, PathChoice, PortId};
use crate::random::{Owner, Stream, mix};

/// The flowlets of a flow at a switch.
#[derive(Debug, Clone, Copy)]
struct Flowlets {
    /// When the last frame came; never before the first.
    last: Instant,
    /// How many there have been.
    count: u32,
    /// The path of the last one.
    path: HopId,
}

impl Flowlets {
    const NONE: Self = Self { last: Instant::NEVER, count: 0, path: HopId::NONE };

    /// Whether a frame that comes now begins one.
    fn begin(&mut self, now: Instant, gap: Duration) -> bool {
        let last = std::mem::replace(&mut self.last, now);
        last == Instant::NEVER || now.since(last) >= gap
    }
}

/// The switches' memory of their choices.
#[derive(Debug)]
pub(crate) struct LoadBalancer {
    by: PathChoice,
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

impl LoadBalancer {
    /// That of a network whose switches choose; `None` for one whose flows have a path each.
    pub(crate) fn new(network: &Network, seed: u64) -> Option<Box<Self>> {
        let Multipath { by, seed: of_hash, .. } = network.load_balancing.as_ref()?;
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

    /// Whether frames of a flow may overtake one another.
    pub(crate) fn disorders(&self) -> bool {
        self.by.disorders()
    }

    /// Whether a value is the number of a path, of which each switch leaves a quotient.
    pub(crate) fn goes_by_numbers(&self) -> bool {
        self.by == PathChoice::Number
    }

    /// Whether a choice looks at the queues of the ports, which are to be settled then.
    pub(crate) fn looks_at_queues(&self) -> bool {
        matches!(self.by, PathChoice::Queue | PathChoice::QueueOfFlowlet(_))
    }

    /// The path of the flowlet that goes on at `now`; `None` where a frame behind `hop` has a choice.
    pub(crate) fn goes_on(&mut self, now: Instant, open: &OpenPorts<'_>, hop: HopId) -> Option<HopId> {
        let (PathChoice::Flowlet(gap) | PathChoice::QueueOfFlowlet(gap)) = self.by else { return None };
        let flowlets = &mut self.flowlets[hop.index()];
        let begins = flowlets.begin(now, gap);
        (!begins && open.is_open(flowlets.path)).then_some(flowlets.path)
    }

    /// Which of the hops behind `hop` a frame of `flow` with this entropy value takes.
    pub(crate) fn choose(&mut self, open: &OpenPorts<'_>, hop: HopId, flow: FlowKey, entropy: u16) -> HopId {
        let Hop { first_child, children, .. } = open.hops[hop.index()];
        let all = paths(open.hops, hop);
        let node = self.nodes[open.port_of(hop).index()];
        let flowlets = &mut self.flowlets[hop.index()];
        let path = match self.by {
            PathChoice::Flowlet(_) if flowlets.count == 0 && open.is_open(first_child) => first_child,
            PathChoice::Flowlet(_) => {
                let word = mix(self.seed ^ mix(node as u64 ^ mix(u64::from(flow.0) << 32 | u64::from(flowlets.count))));
                nth(all.filter(|&path| open.is_open(path)), word as u32)
            }
            PathChoice::Entropy => {
                let word = mix(self.seed ^ mix(node as u64 ^ mix(u64::from(flow.0) << 16 | u64::from(entropy))));
                nth(all.filter(|&path| open.is_open(path)), word as u32)
            }
            PathChoice::Number => {
                // In the order of ports: the first path is the flow's own.
                let ports = all.map(|path| (open.port_of(path), path));
                let after = |own: Option<(PortId, HopId)>| ports.clone().filter(|other| Some(*other) > own).min();
                let numbered = (0..=entropy % children).fold(None, |own, _| after(own));
                numbered.expect("there is a way").1
            }
            PathChoice::Turns => {
                let ports = all.filter(|&path| open.is_open(path)).map(|path| (open.port_of(path), path));
                let longest_ago = ports.min_by_key(|(port, _)| (self.chosen[port.index()], *port));
                longest_ago.expect("there is a way").1
            }
            PathChoice::Random => nth(all.filter(|&path| open.is_open(path)), self.words[node].draw()),
            PathChoice::Queue | PathChoice::QueueOfFlowlet(_) => {
                let octets = |path: &HopId| open.ports[open.port_of(*path).index()].data_octets();
                let candidates = all.filter(|&path| open.is_open(path));
                let least = candidates.clone().map(|path| octets(&path)).min();
                let shortest = candidates.filter(|path| Some(octets(path)) == least);
                match shortest.clone().count() {
                    1 => nth(shortest, 0),
                    _ => nth(shortest, self.words[node].draw()),
                }
            }
        };
        flowlets.path = path;
        flowlets.count = flowlets.count.saturating_add(1);
        self.choices += 1;
        self.chosen[open.port_of(path).index()] = self.choices;
        path
    }
}

/// That of several paths which a random word chooses, each as likely as the others.
fn nth(paths: impl Iterator<Item = HopId> + Clone, word: u32) -> HopId {
    let mut paths = paths;
    let position = (u64::from(word) * paths.clone().count() as u64) >> 32;
    paths.nth(position as usize).expect("there is a way")
}

/// The network as a choice sees it. A port with a broken line is no choice as long as there are others.
pub(crate) struct OpenPorts<'a> {
    ports: &'a [PortState],
    hops: &'a [Hop],
    /// Whether a line behind the hop is whole.
    any: bool,
}

impl<'a> OpenPorts<'a> {
    pub(crate) fn new(ports: &'a [PortState], hops: &'a [Hop], hop: HopId) -> Self {
        let any = paths(hops, hop).any(|path| ports[hops[path.index()].port.index()].is_up());
        Self { ports, hops, any }
    }

    fn port_of(&self, path: HopId) -> PortId {
        self.hops[path.index()].port
    }

    fn is_open(&self, path: HopId) -> bool {
        !self.any || self.ports[self.port_of(path).index()].is_up()
    }
}

/// The hops behind one.
pub(crate) fn paths(hops: &[Hop], hop: HopId) -> impl Iterator<Item = HopId> + Clone + use<> {
    let Hop { first_child, children, .. } = hops[hop.index()];
    (first_child.0..first_child.0 + u32::from(children)).map(HopId)
}
