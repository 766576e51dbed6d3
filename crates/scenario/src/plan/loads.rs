//! Loads and incasts: the flows that a random process makes.
//!
//! Each load has three random streams, for times, pairs and sizes, which follow from its seed and its name:
//! another load, or another distribution of sizes, changes no draw of the others.

use std::collections::{BTreeMap, VecDeque};

use penstock_schemes::{Draw, Duration};
use penstock_sim::random::{Owner, Stream};

use super::arrival::Arrival;
use crate::error::Fault;
use crate::hash::hash;
use crate::keys::fields::Names;
use crate::keys::read::Entry;
use crate::keys::sections::{Gaps, Incast, Load, Pairs, Reference};
use crate::keys::sizes::Sizes;
use crate::keys::topology::Layout;
use crate::limits::{ARRIVALS, Bounds, FLOWS};
use crate::names;

/// Random numbers of one purpose.
#[derive(Debug, Clone)]
pub(crate) struct Numbers(Stream);

impl Numbers {
    pub(crate) fn new(seed: u64, name: &str, purpose: &str) -> Self {
        let own = hash(name.as_bytes(), &[&seed.to_le_bytes()[..], purpose.as_bytes()].concat());
        Self(Stream::new(own, Owner::Generator, 0))
    }

    pub(crate) fn word(&mut self) -> u64 {
        u64::from(self.0.draw()) << 32 | u64::from(self.0.draw())
    }

    /// Below `n`, each alike.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.word()) * n as u128) >> 64) as usize
    }

    /// In (0, 1).
    pub(crate) fn share(&mut self) -> f64 {
        ((self.word() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Exponentially distributed.
    pub(crate) fn exponential(&mut self, mean: f64) -> f64 {
        -libm::log(self.share()) * mean
    }

    /// With mean 0 and variance 1. (Box and Muller 1958)
    fn normal(&mut self) -> f64 {
        let (radius, angle) = (self.share(), self.share());
        libm::sqrt(-2.0 * libm::log(radius)) * libm::cos(2.0 * std::f64::consts::PI * angle)
    }

    /// `count` of `all`, none twice, and not the one at index `without`.
    pub(crate) fn some(&mut self, all: &[usize], without: Option<usize>, count: usize) -> Vec<usize> {
        let left = all.len() - usize::from(without.is_some());
        // What a shuffle of the whole list would have exchanged.
        let mut moved = BTreeMap::new();
        let shuffled = (0..count).map(|i| {
            let other = i + self.below(left - i);
            let here = moved.remove(&i).unwrap_or(i);
            let there = if other == i { here } else { moved.insert(other, here).unwrap_or(other) };
            all[there + usize::from(without.is_some_and(|without| there >= without))]
        });
        shuffled.collect()
    }
}

/// The hosts that take part.
pub(crate) fn hosts(key: &Entry<Option<Names>>, layout: &Layout, bounds: &Bounds<'_>) -> Result<Vec<usize>, Fault> {
    let Some(names) = &**key else {
        return Ok((0..layout.nodes.len()).filter(|&node| layout.is_host(node)).collect());
    };
    let names = names::expand_all(names, bounds.most(FLOWS)).map_err(|e| key.excess(e))?;
    let hosts: Vec<usize> =
        names.iter().map(|name| layout.host(name).map_err(|e| key.excess(e))).collect::<Result<_, _>>()?;
    let mut seen = std::collections::BTreeSet::new();
    match names.iter().zip(&hosts).find(|(_, host)| !seen.insert(**host)) {
        Some((name, _)) => Err(key.fault(format!("\"{name}\" is listed twice")).with_hint("list each host once")),
        None => Ok(hosts),
    }
}

/// The span in which flows begin.
pub(crate) fn span(start: Duration, end: &Entry<Option<Duration>>, run: Duration) -> Result<(u64, u64), Fault> {
    match **end {
        Some(at) if at <= start => {
            Err(end.fault("no flow would begin").with_hint(format!("later than the start, {start}")))
        }
        at => Ok((start.0, at.unwrap_or(run).min(run).0)),
    }
}

impl Load {
    /// Its flows, in the order of their starts, in a run of so long.
    pub(crate) fn arrivals(
        &self,
        name: &str,
        layout: &Layout,
        seed: u64,
        run: Duration,
        bounds: &Bounds<'_>,
    ) -> Result<LoadArrivals, Fault> {
        let hosts = hosts(&self.hosts, layout, bounds)?;
        if hosts.len() < 2 {
            return Err(self.hosts.fault("a load needs two hosts at least").with_hint("for instance \"h0..h31\""));
        }
        if self.sigma.is_some() && *self.gaps != Gaps::Lognormal {
            return Err(self.sigma.fault("applies to lognormal gaps only").with_hint("add gaps = \"lognormal\""));
        }
        let sizes = Sizes::read(&self.size)?;
        let capacity = match *self.reference {
            Reference::Hosts => hosts.iter().map(|&host| rate_of(layout, host)).sum(),
            Reference::Bisection => bisection(layout, &hosts),
        };
        if capacity <= 0.0 {
            let message = "one half of the hosts cannot reach the other";
            return Err(self.reference.fault(message).with_hint("write reference = \"hosts\""));
        }
        // Seconds from one arrival to the next.
        let mean = sizes.mean() * 8.0 * *self.burst as f64 / (*self.load * capacity);
        let (first, end) = span(*self.start, &self.end, run)?;
        let most = self.flows.unwrap_or(u64::MAX);
        let expected = end.saturating_sub(first) as f64 / 1e12 / mean * *self.burst as f64;
        // Twice the limit: far beyond what chance adds. Flows are counted one by one otherwise.
        if expected / 2.0 > bounds.most(ARRIVALS) as f64 {
            let found = most.min(expected as u64);
            bounds.check(ARRIVALS, found, LESS_LOAD).map_err(|e| self.load.excess(e))?;
        }
        let seed = self.seed.unwrap_or(seed);
        Ok(LoadArrivals {
            gap: Gap { gaps: *self.gaps, sigma: self.sigma.unwrap_or(2.0), mean },
            burst: *self.burst,
            due: 0,
            left: most,
            now: first as f64 / 1e12,
            start: 0,
            end,
            times: Numbers::new(seed, name, "times"),
            draws: Numbers::new(seed, name, "sizes"),
            pairs: Partners::new(self, layout, hosts, Numbers::new(seed, name, "pairs"))?,
            sizes,
        })
    }
}

/// How there would be fewer flows of a load, of incasts, and of bursts.
pub(crate) const LESS_LOAD: &str = "a lower load, a shorter run, or larger flows";
pub(crate) const LESS_INCASTS: &str = "fewer incasts, or a shorter run";
pub(crate) const LESS_BURSTS: &str = "fewer bursts, fewer senders, or a shorter run";

#[derive(Debug, Clone)]
pub(crate) struct LoadArrivals {
    gap: Gap,
    burst: u64,
    /// Flows of this arrival, and of all, that are still to come.
    due: u64,
    left: u64,
    /// Seconds, and the same in picoseconds.
    now: f64,
    start: u64,
    end: u64,
    times: Numbers,
    draws: Numbers,
    pairs: Partners,
    sizes: Sizes,
}

impl Iterator for LoadArrivals {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        if self.left == 0 {
            return None;
        }
        if self.due == 0 {
            self.now += self.gap.draw(&mut self.times);
            self.start = (self.now * 1e12) as u64;
            if self.start >= self.end {
                self.left = 0;
                return None;
            }
            self.due = self.burst;
        }
        self.due -= 1;
        self.left -= 1;
        let (source, destination) = self.pairs.next();
        let size = self.sizes.draw(self.draws.word());
        Some(Arrival { start: Duration(self.start), source, destination, size })
    }
}

/// The seconds from one arrival to the next.
#[derive(Debug, Clone, Copy)]
struct Gap {
    gaps: Gaps,
    sigma: f64,
    mean: f64,
}

impl Gap {
    fn draw(self, times: &mut Numbers) -> f64 {
        match self.gaps {
            Gaps::Even => self.mean,
            Gaps::Poisson => times.exponential(self.mean),
            Gaps::Lognormal => {
                // The mean of exp(mu + sigma N) is exp(mu + sigma^2 / 2).
                let sigma = self.sigma;
                self.mean * libm::exp(sigma * times.normal() - sigma * sigma / 2.0)
            }
        }
    }
}

/// The pairs of sender and receiver.
#[derive(Debug, Clone)]
struct Partners {
    hosts: Vec<usize>,
    rule: Rule,
    numbers: Numbers,
}

#[derive(Debug, Clone)]
enum Rule {
    Random,
    /// The partner of each host.
    Fixed(Vec<usize>),
    /// The number of the next pair.
    InTurn(usize),
    /// The number of the rack of each host.
    Apart(Vec<usize>),
}

impl Partners {
    fn new(load: &Load, layout: &Layout, hosts: Vec<usize>, mut numbers: Numbers) -> Result<Self, Fault> {
        let rule = match *load.pairs {
            Pairs::Random => Rule::Random,
            Pairs::AllToAll => Rule::InTurn(0),
            Pairs::Permutation => Rule::Fixed(cycle(&hosts, &mut numbers)),
            Pairs::Racks => {
                let mut racks = BTreeMap::new();
                let of = hosts.iter().map(|&host| {
                    let switch = layout.ports[layout.nodes[host].ports[0]].peer;
                    let next = racks.len();
                    *racks.entry(switch).or_insert(next)
                });
                let of: Vec<usize> = of.collect();
                if racks.len() < 2 {
                    let message = "all hosts are at one switch: no two are in different racks";
                    return Err(load.pairs.fault(message).with_hint("for instance pairs = \"random\""));
                }
                Rule::Apart(of)
            }
        };
        Ok(Self { hosts, rule, numbers })
    }

    fn next(&mut self) -> (usize, usize) {
        let n = self.hosts.len();
        let (source, destination) = match &mut self.rule {
            Rule::InTurn(pair) => {
                let (source, step) = (*pair % n, 1 + *pair / n);
                *pair = (*pair + 1) % (n * (n - 1));
                (source, (source + step) % n)
            }
            Rule::Random => {
                let source = self.numbers.below(n);
                (source, (source + 1 + self.numbers.below(n - 1)) % n)
            }
            Rule::Fixed(partner) => {
                let source = self.numbers.below(n);
                (source, partner[source])
            }
            Rule::Apart(rack) => loop {
                let (source, other) = (self.numbers.below(n), self.numbers.below(n));
                if rack[source] != rack[other] {
                    break (source, other);
                }
            },
        };
        (self.hosts[source], self.hosts[destination])
    }
}

/// A permutation in which no host is its own partner: one cycle over all. (Sattolo 1986)
fn cycle(hosts: &[usize], numbers: &mut Numbers) -> Vec<usize> {
    let mut partner: Vec<usize> = (0..hosts.len()).collect();
    for i in (1..hosts.len()).rev() {
        let other = numbers.below(i);
        partner.swap(i, other);
    }
    partner
}

impl Incast {
    /// Its flows, in the order of their starts.
    pub(crate) fn arrivals(
        &self,
        name: &str,
        layout: &Layout,
        seed: u64,
        run: Duration,
        bounds: &Bounds<'_>,
    ) -> Result<IncastArrivals, Fault> {
        let hosts = hosts(&self.hosts, layout, bounds)?;
        let to = self.to.as_ref().map(|name| layout.host(name).map_err(|e| self.to.excess(e))).transpose()?;
        let others = hosts.iter().filter(|&&host| to.is_none_or(|to| to != host)).count() - usize::from(to.is_none());
        let fan_in = *self.fan_in as usize;
        if fan_in > others {
            let message = format!("{fan_in} senders to one host, and there are {others} others");
            return Err(self.fan_in.fault(message).with_hint(format!("at most {others}")));
        }
        let sizes = Sizes::read(&self.size)?;
        let (first, end) = span(*self.start, &self.end, run)?;
        let expected = end.saturating_sub(first) / self.every.0.max(1) * *self.fan_in / 2;
        bounds.check(ARRIVALS, expected, LESS_INCASTS).map_err(|e| self.every.excess(e))?;
        let seed = self.seed.unwrap_or(seed);
        let mut arrivals = IncastArrivals {
            hosts,
            to,
            fan_in,
            every: self.every.0,
            random: *self.random,
            next: first,
            end,
            round: Vec::new(),
            start: 0,
            receiver: 0,
            times: Numbers::new(seed, name, "times"),
            members: Numbers::new(seed, name, "members"),
            draws: Numbers::new(seed, name, "sizes"),
            sizes,
        };
        if arrivals.random {
            arrivals.wait();
        }
        Ok(arrivals)
    }
}

#[derive(Debug, Clone)]
pub(crate) struct IncastArrivals {
    hosts: Vec<usize>,
    to: Option<usize>,
    fan_in: usize,
    every: u64,
    random: bool,
    /// When the next incast comes, picoseconds.
    next: u64,
    end: u64,
    /// The senders of this one that are still to begin, the next one last; when it came, and its receiver.
    round: Vec<usize>,
    start: u64,
    receiver: usize,
    times: Numbers,
    members: Numbers,
    draws: Numbers,
    sizes: Sizes,
}

impl IncastArrivals {
    /// The next incast comes some time later.
    fn wait(&mut self) {
        let gap = match self.random {
            true => self.times.exponential(self.every as f64) as u64,
            false => self.every,
        };
        self.next = self.next.saturating_add(gap);
    }
}

impl Iterator for IncastArrivals {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        if self.round.is_empty() {
            if self.next >= self.end {
                return None;
            }
            self.start = self.next;
            self.receiver = self.to.unwrap_or_else(|| self.hosts[self.members.below(self.hosts.len())]);
            let receiver = self.hosts.iter().position(|&host| host == self.receiver);
            self.round = self.members.some(&self.hosts, receiver, self.fan_in);
            self.round.reverse();
            self.wait();
        }
        let source = self.round.pop()?;
        let size = self.sizes.draw(self.draws.word());
        Some(Arrival { start: Duration(self.start), source, destination: self.receiver, size })
    }
}

/// The rate of a host's first link, bit/s.
pub(crate) fn rate_of(layout: &Layout, host: usize) -> f64 {
    layout.nodes[host].ports.first().map_or(0.0, |&port| layout.ports[port].rate.0 as f64)
}

/// The bisection, bit/s: the most that one half of the hosts, in their order, can send to the other and receive from it at the same
/// time. That is twice the maximum flow from half to half, since links have the same rate in both directions.
/// (Edmonds and Karp 1972)
fn bisection(layout: &Layout, hosts: &[usize]) -> f64 {
    let (first, second) = hosts.split_at(hosts.len() / 2);
    let mut left: Vec<u64> = layout.ports.iter().map(|port| port.rate.0).collect();
    let mut flow = 0_u64;
    loop {
        // The shortest path with capacity left, over ports, to each node.
        let mut by: Vec<Option<usize>> = vec![None; layout.nodes.len()];
        let mut reached = vec![false; layout.nodes.len()];
        let mut waiting: VecDeque<usize> = first.iter().copied().collect();
        first.iter().for_each(|&host| reached[host] = true);
        let mut end = None;
        while let Some(node) = waiting.pop_front() {
            if second.contains(&node) {
                end = Some(node);
                break;
            }
            // Hosts do not forward.
            if layout.is_host(node) && !first.contains(&node) {
                continue;
            }
            for &port in &layout.nodes[node].ports {
                let peer = layout.ports[port].peer;
                if left[port] > 0 && !reached[peer] {
                    reached[peer] = true;
                    by[peer] = Some(port);
                    waiting.push_back(peer);
                }
            }
        }
        let Some(end) = end else { return flow as f64 * 2.0 };
        let mut path = Vec::new();
        let mut node = end;
        while let Some(port) = by[node] {
            path.push(port);
            node = layout.ports[port].node;
        }
        let most = path.iter().map(|&port| left[port]).min().unwrap_or(0);
        for port in path {
            left[port] -= most;
            // Flow in the other direction takes this one back. The two directions of a link differ in the last bit.
            left[port ^ 1] += most;
        }
        flow += most;
    }
}
