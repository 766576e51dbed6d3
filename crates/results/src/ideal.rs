//! The least flow completion time, on an empty network: a bound, so that no slowdown is below 1.
//!
//! Frames of one way keep their order. Take a link k of the path: the first frame crosses the links up to k, all others but the last
//! follow it over the slowest of these, and the last goes on from k. The last frame is there when that has happened for every k:
//!
//! ```text
//!   delays + max over k of ( F/r1 + … + F/rk  +  (n - 2) F / min(r1 … rk)  +  L/rk + … + L/rm )
//! ```
//!
//! with n frames of F octets, the last one of L, over m links. Nothing is quicker, and an idle network is as quick. Where switches spread
//! frames over several paths, frames overtake one another, and the paths share the load. There the bound is that of the lines of the two
//! hosts, which have no others beside them, with the fastest links between switches for the rest.

use std::collections::BTreeMap;

use penstock_schemes::{BitRate, Duration};
use penstock_sim::network::{Network, NodeId, NodeKind, PortEvent, PortId};

/// The frames of a flow, as they pass an empty network: octets on the wire.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frames {
    /// How many there are; each but the last one; the last one.
    count: u64,
    full: u64,
    last: u64,
}

impl Frames {
    /// Those of a flow of `size` octets, of which `payload` are in a full `frame`.
    pub(crate) fn new(network: &Network, size: u64, frame: u16, payload: u64) -> Self {
        let overhead = u64::from(network.wire_overhead);
        // Octets on the wire of a frame that carries `data` octets of the flow.
        let around = u64::from(frame) - payload;
        let wire = |data: u64| (data + around).max(SHORTEST).min(u64::from(frame)) + overhead;
        let count = size.div_ceil(payload).max(1);
        Self { count, full: wire(size.min(payload)), last: wire(size - (count - 1) * payload) }
    }

    /// The last one alone.
    pub(crate) fn last(self) -> Self {
        Self { count: 1, full: self.last, last: self.last }
    }

    /// All of their octets.
    pub(crate) fn octets(self) -> u64 {
        (self.count - 1) * self.full + self.last
    }
}

/// A link, or the best of several that a frame may take.
#[derive(Debug, Clone, Copy)]
struct Link {
    latency: Duration,
    rate: BitRate,
}

impl Link {
    fn takes(self, octets: u64) -> Duration {
        self.rate.serialisation(octets).0
    }
}

/// The links of a network at their best.
#[derive(Debug)]
pub(crate) struct Links {
    /// By port.
    all: Vec<Link>,
    /// The port of the opposite direction, by port.
    back: Vec<Option<PortId>>,
    /// Between switches, where frames of a flow take several paths: the least delay, the greatest rate.
    spread: Option<Link>,
    /// Octets of the shortest frame on the wire.
    shortest: u64,
}

/// Octets of the shortest frame, with FCS. (IEEE 802.3, clause 4.4.2)
const SHORTEST: u64 = 64;

impl Links {
    pub(crate) fn new(network: &Network) -> Self {
        let mut all: Vec<Link> =
            network.ports.iter().map(|port| Link { latency: port.latency, rate: port.rate }).collect();
        for change in &network.changes {
            if let PortEvent::Rate(rate) = change.event {
                let link = &mut all[change.port.index()];
                link.rate = link.rate.max(rate);
            }
        }
        let is_switch = |node: NodeId| network.nodes[node.index()].kind == NodeKind::Switch;
        let between = || {
            let ports = network.ports.iter().zip(&all);
            ports.filter(|(port, _)| is_switch(port.node) && is_switch(port.peer)).map(|(_, link)| *link)
        };
        let best =
            |one: Link, other: Link| Link { latency: one.latency.min(other.latency), rate: one.rate.max(other.rate) };
        let spread = network.load_balancing.as_ref().and_then(|_| between().reduce(best));
        let ends = network.ports.iter().zip(0..).map(|(port, id)| ((port.node, port.peer), PortId(id)));
        let by_ends: BTreeMap<(NodeId, NodeId), PortId> = ends.collect();
        let back = network.ports.iter().map(|port| by_ends.get(&(port.peer, port.node)).copied()).collect();
        Self { all, back, spread, shortest: SHORTEST + u64::from(network.wire_overhead) }
    }

    /// The time that the shortest frame takes over the ports of a path in the opposite direction.
    pub(crate) fn time_back(&self, path: &[PortId]) -> Duration {
        let links = path.iter().rev().filter_map(|port| self.back[port.index()]).map(|port| self.all[port.index()]);
        let links: Vec<Link> = links.collect();
        let frame = Frames { count: 1, full: self.shortest, last: self.shortest };
        in_order(frame, &links)
    }

    /// The time that `frames` take over the ports of a path.
    pub(crate) fn time(&self, frames: Frames, path: &[PortId]) -> Duration {
        let links: Vec<Link> = path.iter().map(|port| self.all[port.index()]).collect();
        match self.spread {
            Some(best) if links.len() > 2 => spread(frames, &links, best),
            _ => in_order(frames, &links),
        }
    }
}

fn sum(times: impl Iterator<Item = Duration>) -> Duration {
    times.fold(Duration::ZERO, |sum, time| sum + time)
}

/// Frames that keep their order, over links one after the other.
fn in_order(frames: Frames, links: &[Link]) -> Duration {
    let Frames { count, full, last } = frames;
    let delays = sum(links.iter().map(|link| link.latency));
    if count == 1 {
        return delays + sum(links.iter().map(|link| link.takes(last)));
    }
    let until = |k: usize| {
        let (before, behind) = (&links[..=k], &links[k..]);
        let slowest = before.iter().map(|link| link.takes((count - 2) * full)).max();
        sum(before.iter().map(|link| link.takes(full)))
            + slowest.unwrap_or(Duration::ZERO)
            + sum(behind.iter().map(|link| link.takes(last)))
    };
    delays + (0..links.len()).map(until).max().unwrap_or(Duration::ZERO)
}

/// Frames in any order over `best` links between the first one and the last one. The last frame leaves its host when all have, and
/// no frame comes to the last link before the first one could leave the host and a short one could cross what is between.
fn spread(frames: Frames, links: &[Link], best: Link) -> Duration {
    let (first, end, between) = (links[0], links[links.len() - 1], links.len() as u64 - 2);
    let short = frames.last.min(frames.full);
    let across = Duration(between * (best.latency.0 + best.takes(short).0));
    let over_first = first.takes(frames.octets()) + end.takes(short);
    let over_last = first.takes(frames.full) + end.takes(frames.octets());
    first.latency + end.latency + across + over_first.max(over_last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(gbps: u64, us: u64) -> Link {
        Link { latency: Duration::from_us(us), rate: BitRate::from_gbps(gbps) }
    }

    fn frames(count: u64, full: u64, last: u64) -> Frames {
        Frames { count, full, last }
    }

    /// Numbers below a bound, of a fixed sequence. (Knuth's constants for 64 bits)
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, bound: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % bound
        }
    }

    /// 50 000 octets in frames of 8192, the last of 848, over 25, 400 and 400 Gb/s. Six frames leave the host in 15.72864 us; the sixth crosses
    /// the others in 163.84 ns each, and the last one, there in time, follows it in 16.96 ns. (All seven on the first link and then the whole first
    /// frame on the others would be 16.32768 us: 1.6 % too long.)
    #[test]
    fn a_short_last_frame_is_quicker() {
        let links = [link(25, 0), link(400, 0), link(400, 0)];
        assert_eq!(in_order(frames(7, 8192, 848), &links), Duration(15_728_640 + 2 * 163_840 + 16_960));
        // 100, 40, 100 Gb/s: the second link is what counts, 667 frames of 1520 octets and the last one of 1020.
        let links = [link(100, 1), link(40, 5), link(100, 1)];
        let by_hand = 7_000_000 + 121_600 + 666 * 304_000 + 204_000 + 81_600;
        assert_eq!(in_order(frames(667, 1520, 1020), &links), Duration(by_hand));
    }

    /// When each frame has crossed the links, where each follows the one before it: the recursion that the formula solves. Some frames
    /// take another of the links between, if there are several.
    fn simulated(frames: Frames, first: Link, between: &[Vec<Link>], end: Link, numbers: &mut Numbers) -> Duration {
        let mut coming: Vec<(Duration, u64)> = Vec::new();
        let mut free = Duration::ZERO;
        for frame in 1..=frames.count {
            let octets = if frame == frames.count { frames.last } else { frames.full };
            free = free + first.takes(octets);
            coming.push((free + first.latency, octets));
        }
        let stages = between.iter().cloned().chain([vec![end]]);
        for stage in stages {
            let mut free = vec![Duration::ZERO; stage.len()];
            coming.sort_by_key(|(at, _)| *at);
            for (at, octets) in &mut coming {
                let path = numbers.below(stage.len() as u64) as usize;
                free[path] = free[path].max(*at) + stage[path].takes(*octets);
                *at = free[path] + stage[path].latency;
            }
        }
        coming.into_iter().map(|(at, _)| at).max().unwrap_or(Duration::ZERO)
    }

    /// 20 000 paths of up to six links: the time is that of the recursion where frames keep their order, and never above it where they do
    /// not.
    #[test]
    fn nothing_is_quicker_than_the_ideal() {
        let mut numbers = Numbers(1);
        for _ in 0..20_000 {
            let any = |numbers: &mut Numbers| link([10, 25, 40, 100, 400][numbers.below(5) as usize], numbers.below(4));
            let count = 1 + numbers.below(12);
            let full = 84 + numbers.below(9000);
            let last = if count == 1 { full } else { 84 + numbers.below(full - 83) };
            let frames = frames(count, full, last);
            let (first, end) = (any(&mut numbers), any(&mut numbers));
            let between: Vec<Vec<Link>> = (0..numbers.below(5)).map(|_| vec![any(&mut numbers)]).collect();
            let path: Vec<Link> =
                [first].into_iter().chain(between.iter().map(|stage| stage[0])).chain([end]).collect();
            assert_eq!(
                in_order(frames, &path),
                simulated(frames, first, &between, end, &mut numbers),
                "{frames:?} {path:?}"
            );

            let paths = 1 + numbers.below(4);
            let several: Vec<Vec<Link>> =
                (0..1 + numbers.below(3)).map(|_| (0..paths).map(|_| any(&mut numbers)).collect()).collect();
            let all = several.iter().flatten();
            let best = all.copied().reduce(|a, b| Link { latency: a.latency.min(b.latency), rate: a.rate.max(b.rate) });
            let links: Vec<Link> =
                [first].into_iter().chain(several.iter().map(|stage| stage[0])).chain([end]).collect();
            let bound = spread(frames, &links, best.expect("a way"));
            let time = simulated(frames, first, &several, end, &mut numbers);
            assert!(bound <= time, "{frames:?} {several:?}: {bound} above {time}");
        }
    }
}
