//! Loads and incasts: the flows that a random process makes.
//!
//! Each load draws from streams of its own, one for times, one for pairs and one for sizes, from its seed and its name:
//! another load, or another distribution of sizes, changes no draw of the others.

use std::collections::{BTreeMap, VecDeque};

use penstock_schemes::{Draw, Duration, Octets};
use penstock_sim::random::{Owner, Stream};

use crate::error::Fault;
use crate::fields::Names;
use crate::limits::{Bounds, FLOWS};
use crate::names;
use crate::read::Entry;
use crate::routing::hash;
use crate::sections::{Gaps, Incast, Load, Pairs, Reference};
use crate::sizes::Sizes;
use crate::topology::Layout;

/// A flow that a process makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Arrival {
    pub(crate) start: Duration,
    pub(crate) source: usize,
    pub(crate) destination: usize,
    pub(crate) size: Octets,
}

/// Random numbers of one purpose.
struct Numbers(Stream);

impl Numbers {
    fn new(seed: u64, name: &str, purpose: &str) -> Self {
        let own = hash(name.as_bytes(), &[&seed.to_le_bytes()[..], purpose.as_bytes()].concat());
        Self(Stream::new(own, Owner::Generator, 0))
    }

    fn word(&mut self) -> u64 {
        u64::from(self.0.draw()) << 32 | u64::from(self.0.draw())
    }

    /// Below `n`, each alike.
    fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.word()) * n as u128) >> 64) as usize
    }

    /// In (0, 1).
    fn share(&mut self) -> f64 {
        ((self.word() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// With mean 0 and variance 1. (Box and Muller 1958)
    fn normal(&mut self) -> f64 {
        let (radius, angle) = (self.share(), self.share());
        libm::sqrt(-2.0 * libm::log(radius)) * libm::cos(2.0 * std::f64::consts::PI * angle)
    }

    /// `count` of `all`, none twice.
    fn some(&mut self, all: &[usize], count: usize) -> Vec<usize> {
        let mut rest = all.to_vec();
        for i in 0..count {
            let other = i + self.below(rest.len() - i);
            rest.swap(i, other);
        }
        rest.truncate(count);
        rest
    }
}

/// The hosts that take part.
fn hosts(key: &Entry<Option<Names>>, layout: &Layout, bounds: &Bounds<'_>) -> Result<Vec<usize>, Fault> {
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
fn span(start: Duration, end: &Entry<Option<Duration>>, run: Duration) -> Result<(u64, u64), Fault> {
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
    ) -> Result<Vec<Arrival>, Fault> {
        let hosts = hosts(&self.hosts, layout, bounds)?;
        if hosts.len() < 2 {
            return Err(self.hosts.fault("a load needs two hosts at least").with_hint("for instance \"h0..h31\""));
        }
        if self.sigma.is_some() && *self.gaps != Gaps::Lognormal {
            return Err(self.sigma.fault("only for lognormal gaps").with_hint("add gaps = \"lognormal\""));
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
        let seed = self.seed.unwrap_or(seed);
        let (mut times, mut draws) = (Numbers::new(seed, name, "times"), Numbers::new(seed, name, "sizes"));
        let mut pairs = Partners::new(self, layout, hosts, Numbers::new(seed, name, "pairs"))?;
        let (mut made, mut now) = (Vec::new(), first as f64 / 1e12);
        loop {
            now += self.gap(&mut times, mean);
            let start = (now * 1e12) as u64;
            if start >= end {
                return Ok(made);
            }
            for _ in 0..*self.burst {
                if made.len() as u64 == most {
                    return Ok(made);
                }
                let (source, destination) = pairs.next();
                made.push(Arrival { start: Duration(start), source, destination, size: sizes.draw(draws.word()) });
            }
            bounds
                .check(FLOWS, made.len() as u64, "a lower load, a shorter run, or larger flows")
                .map_err(|e| self.load.excess(e))?;
            bounds.go_on().map_err(|e| self.load.excess(e))?;
        }
    }

    /// Seconds to the next arrival.
    fn gap(&self, times: &mut Numbers, mean: f64) -> f64 {
        match *self.gaps {
            Gaps::Even => mean,
            Gaps::Poisson => -libm::log(times.share()) * mean,
            Gaps::Lognormal => {
                // The mean of exp(mu + sigma N) is exp(mu + sigma^2 / 2).
                let sigma = self.sigma.unwrap_or(2.0);
                mean * libm::exp(sigma * times.normal() - sigma * sigma / 2.0)
            }
        }
    }
}

/// The pairs of sender and receiver.
struct Partners {
    hosts: Vec<usize>,
    rule: Rule,
    numbers: Numbers,
}

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
    ) -> Result<Vec<Arrival>, Fault> {
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
        let seed = self.seed.unwrap_or(seed);
        let mut times = Numbers::new(seed, name, "times");
        let (mut members, mut draws) = (Numbers::new(seed, name, "members"), Numbers::new(seed, name, "sizes"));
        let mut gap = || match *self.random {
            true => (-libm::log(times.share()) * self.every.0 as f64) as u64,
            false => self.every.0,
        };
        let mut made = Vec::new();
        let mut start = if *self.random { first.saturating_add(gap()) } else { first };
        while start < end {
            let receiver = to.unwrap_or_else(|| hosts[members.below(hosts.len())]);
            let others: Vec<usize> = hosts.iter().copied().filter(|&host| host != receiver).collect();
            for source in members.some(&others, fan_in) {
                let size = sizes.draw(draws.word());
                made.push(Arrival { start: Duration(start), source, destination: receiver, size });
            }
            bounds
                .check(FLOWS, made.len() as u64, "fewer incasts, or a shorter run")
                .map_err(|e| self.every.excess(e))?;
            bounds.go_on().map_err(|e| self.every.excess(e))?;
            start = start.saturating_add(gap());
        }
        Ok(made)
    }
}

/// The rate of a host's first link, bit/s.
fn rate_of(layout: &Layout, host: usize) -> f64 {
    layout.nodes[host].ports.first().map_or(0.0, |&port| layout.ports[port].rate.0 as f64)
}

/// The most that one half of the hosts, in their order, can send to the other and receive from it at the same time, bit/s: twice
/// the largest flow through the network from half to half, for links carry as much in either direction.
/// (Edmonds and Karp 1972)
fn bisection(layout: &Layout, hosts: &[usize]) -> f64 {
    let (first, second) = hosts.split_at(hosts.len() / 2);
    let mut left: Vec<u64> = layout.ports.iter().map(|port| port.rate.0).collect();
    let mut flow = 0_u64;
    loop {
        // The shortest way with capacity left, over ports, to each node.
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
        let mut way = Vec::new();
        let mut node = end;
        while let Some(port) = by[node] {
            way.push(port);
            node = layout.ports[port].node;
        }
        let most = way.iter().map(|&port| left[port]).min().unwrap_or(0);
        for port in way {
            left[port] -= most;
            // Flow in the other direction takes this one back. The two directions of a link differ in the last bit.
            left[port ^ 1] += most;
        }
        flow += most;
    }
}
