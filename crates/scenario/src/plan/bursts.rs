//! Bursts: incasts in clusters, a Bartlett-Lewis process (Bartlett 1963, Lewis 1964) with marks.
//!
//! Clusters begin as a Poisson process, each at one receiver. After a burst, with probability `q = 1 - 1 / cluster`, another
//! follows an exponential gap later. So the density of further bursts of its cluster at a time `u` after a burst is
//! `q / gap exp(-u / (gap cluster))`. The index of dispersion of the number of bursts in a time `t` is
//! `1 + 2 (cluster - 1) (1 - (1 - exp(-x)) / x)` with `x = t / (gap cluster)`. Each purpose has its own random stream, so that
//! other sizes change no time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use penstock_schemes::{Duration, Octets};

use super::arrival::Arrival;
use super::loads::{self, Numbers};
use crate::error::Fault;
use crate::keys::fields::Either;
use crate::keys::read::Blame;
use crate::keys::sections::Burst;
use crate::keys::sizes::{SIZE, Sizes};
use crate::keys::topology::Layout;
use crate::limits::{ARRIVALS, Bounds};

/// The least mean time between bursts, ps: times are whole picoseconds, and shorter ones would make more bursts than were asked for.
const CLOSEST: f64 = 1000.0;

/// The flows of bursts, in the order of their starts. A clone draws the same ones again.
#[derive(Debug, Clone)]
pub(crate) struct BurstArrivals {
    hosts: Vec<usize>,
    receivers: Vec<Receiver>,
    /// For each switch the receivers there.
    racks: Vec<Vec<usize>>,
    size: Size,
    degree: (u64, u64),
    spread: u64,
    correlation: f64,
    /// Mean time from one cluster to the next, and from one burst to the next of a cluster, ps.
    between: f64,
    gap: f64,
    /// The probability that a burst is not the last of its cluster.
    follows: f64,
    /// When the next cluster begins; no burst begins at or after `end`, no flow at or after `stop`, ps.
    next: u64,
    end: u64,
    stop: u64,
    /// The next burst of each cluster that has begun: its start, its number, and its receiver.
    waiting: BinaryHeap<Reverse<(u64, u64, usize)>>,
    /// Senders of bursts that have begun.
    senders: BinaryHeap<Reverse<Sender>>,
    /// Of bursts and senders so far.
    number: u64,
    times: Numbers,
    places: Numbers,
    sizes: Numbers,
    members: Numbers,
    spreads: Numbers,
}

/// The start of a sender, its number, source, destination and octets.
type Sender = (u64, u64, usize, usize, u64);

#[derive(Debug, Clone)]
struct Receiver {
    host: usize,
    /// Its index among the hosts that send, if it is one of them.
    sender: Option<usize>,
    /// The number of its switch.
    rack: usize,
    /// Octets of a burst that fills its line for the duration.
    fill: u64,
}

#[derive(Debug, Clone)]
enum Size {
    Drawn(Sizes),
    Filling,
}

impl Burst {
    /// Its flows, in the order of their starts.
    pub(crate) fn arrivals(
        &self,
        name: &str,
        layout: &Layout,
        seed: u64,
        run: Duration,
        bounds: &Bounds<'_>,
    ) -> Result<BurstArrivals, Fault> {
        let hosts = loads::hosts(&self.hosts, layout, bounds)?;
        let to = if self.to.is_some() { loads::hosts(&self.to, layout, bounds)? } else { hosts.clone() };
        if to.is_empty() {
            return Err(self.to.fault("no host receives").with_hint("for instance \"h0..h7\""));
        }
        let degree = self.degrees()?;
        let others = hosts.len() - usize::from(to.iter().any(|host| hosts.contains(host)));
        if degree.1 > others as u64 {
            let message = format!("{} senders to one host, and there are {others} others", degree.1);
            return Err(self.degree.fault(message).with_hint(format!("at most {others}")));
        }
        let size = match (&*self.size, &*self.duration) {
            (Some(size), None) => Size::Drawn(Sizes::read(size)?),
            (None, Some(_)) => Size::Filling,
            (None, None) => return Err(self.size.fault("missing").with_hint("or write a duration")),
            (Some(_), Some(_)) => {
                return Err(self.duration.fault("given beside size").with_hint("leave out one of the two"));
            }
        };
        let gap = match (*self.cluster > 1.0, *self.gap) {
            (false, None) => 0,
            (true, Some(gap)) => gap.0,
            (true, None) => {
                return Err(self.gap.fault("missing: bursts come in clusters").with_hint("as in gap = \"1 ms\""));
            }
            (false, Some(_)) => {
                let message = "applies to clusters of more than one burst";
                return Err(self.gap.fault(message).with_hint("as in cluster = 4, or leave it out"));
            }
        };
        let (receivers, racks) = self.receivers(layout, &to, &hosts)?;
        // How many bursts begin at each receiver for one that was drawn for it, and their octets, in the sum.
        let beside = |to: &Receiver| (racks[to.rack].len() - 1) as f64;
        let each: Vec<f64> = receivers.iter().map(|to| 1.0 + *self.correlation * beside(to)).collect();
        let octets = |to: &Receiver| if let Size::Drawn(sizes) = &size { sizes.mean() } else { to.fill as f64 };
        let octets: f64 = receivers.iter().zip(&each).map(|(to, each)| octets(to) * each).sum();
        let each: f64 = each.iter().sum();
        // Bursts a picosecond that are drawn for each receiver.
        let rate = match (*self.load, *self.every) {
            (Some(load), None) => {
                load * to.iter().map(|&host| loads::rate_of(layout, host)).sum::<f64>() / 8e12 / octets
            }
            (None, Some(every)) => to.len() as f64 / each / every.0 as f64,
            (None, None) => return Err(self.load.fault("missing").with_hint("or write every")),
            (Some(_), Some(_)) => {
                return Err(self.every.fault("given beside load").with_hint("leave out one of the two"));
            }
        };
        let between = *self.cluster / rate / to.len() as f64;
        if between < CLOSEST {
            let message = "bursts would begin less than 1 ns apart in the mean, those at all receivers together";
            let key: &dyn Blame = if self.load.is_some() { &self.load } else { &self.every };
            return Err(key.blame(message.to_owned()).with_hint("a lower load, a longer time, or fewer receivers"));
        }
        let (first, end) = loads::span(*self.start, &self.end, run)?;
        let length = end.saturating_sub(first) as f64;
        // Flows are counted one by one; twice the limit is far beyond what chance adds.
        let expected = rate * each * length * (degree.0 + degree.1) as f64 / 2.0;
        bounds.check(ARRIVALS, (expected / 2.0) as u64, loads::LESS_BURSTS).map_err(|e| self.rate_excess(e))?;
        let seed = self.seed.unwrap_or(seed);
        let stream = |purpose| Numbers::new(seed, name, purpose);
        let mut arrivals = BurstArrivals {
            between,
            gap: gap as f64,
            follows: 1.0 - 1.0 / *self.cluster,
            correlation: *self.correlation,
            spread: self.spread.0,
            next: first,
            stop: run.0,
            waiting: BinaryHeap::new(),
            senders: BinaryHeap::new(),
            number: 0,
            times: stream("times"),
            places: stream("receivers"),
            sizes: stream("sizes"),
            members: stream("members"),
            spreads: stream("spreads"),
            hosts,
            receivers,
            racks,
            size,
            degree,
            end,
        };
        arrivals.begin(length);
        Ok(arrivals)
    }

    /// Too many flows, by the key that gives their number.
    pub(crate) fn rate_excess(&self, excess: crate::limits::Excess) -> Fault {
        if self.load.is_some() { self.load.excess(excess) } else { self.every.excess(excess) }
    }

    fn degrees(&self) -> Result<(u64, u64), Fault> {
        match &*self.degree {
            Either::First(degree) => Ok((*degree, *degree)),
            Either::Second(degrees) if *degrees.minimum <= *degrees.maximum => Ok((*degrees.minimum, *degrees.maximum)),
            Either::Second(degrees) => {
                let message = format!("not above the minimum of {}", *degrees.minimum);
                Err(degrees.maximum.fault(message).with_hint("for a single degree, write it alone"))
            }
        }
    }

    /// The receivers, and those at each switch.
    fn receivers(
        &self,
        layout: &Layout,
        to: &[usize],
        hosts: &[usize],
    ) -> Result<(Vec<Receiver>, Vec<Vec<usize>>), Fault> {
        let index: BTreeMap<usize, usize> = hosts.iter().copied().zip(0..).collect();
        let mut numbers = BTreeMap::new();
        let mut racks: Vec<Vec<usize>> = Vec::new();
        let mut receivers = Vec::new();
        for (i, &host) in to.iter().enumerate() {
            let switch = layout.nodes[host].ports.first().map(|&port| layout.ports[port].peer);
            let rack = *numbers.entry(switch).or_insert(racks.len());
            racks.resize(racks.len().max(rack + 1), Vec::new());
            racks[rack].push(i);
            let time = self.duration.unwrap_or(Duration::ZERO).0 as f64;
            let fill = (loads::rate_of(layout, host) * time / 8e12 + 0.5) as u64;
            if self.duration.is_some() && !SIZE.contains(&Octets(fill)) {
                let message = format!("{fill} octets at the line rate of {}", layout.nodes[host].name);
                return Err(self.duration.fault(message).with_hint(format!("from 1 octet to {}", SIZE.end())));
            }
            receivers.push(Receiver { host, sender: index.get(&host).copied(), rack, fill });
        }
        if *self.correlation > 0.0 && racks.iter().all(|rack| rack.len() < 2) {
            let message = "no two receivers are at the same switch";
            return Err(self.correlation.fault(message).with_hint("0, or more receivers in to"));
        }
        Ok((receivers, racks))
    }
}

impl BurstArrivals {
    /// The clusters that began before, as a stationary process has them: their number is Poisson distributed, and each goes on as
    /// one that begins. Only those with a burst in the next `length` ps are drawn.
    fn begin(&mut self, length: f64) {
        if self.follows > 0.0 {
            // Mean number of clusters that go on, each of which has its next burst within the length with this probability.
            let within = -libm::expm1(-length / self.gap);
            let mean = self.follows / (1.0 - self.follows) * self.gap / self.between * within;
            let mut sum = self.times.exponential(1.0);
            while sum < mean {
                let at = -libm::log1p(-self.times.share() * within) * self.gap;
                let receiver = self.places.below(self.receivers.len());
                self.wait(self.next.saturating_add(at as u64), receiver);
                sum += self.times.exponential(1.0);
            }
        }
        self.next = self.next.saturating_add(self.times.exponential(self.between) as u64);
    }

    /// A burst of a cluster will begin at this time.
    fn wait(&mut self, at: u64, receiver: usize) {
        if at < self.end {
            self.waiting.push(Reverse((at, self.number, receiver)));
            self.number += 1;
        }
    }

    /// When the next burst begins, if one does.
    fn upcoming(&self) -> Option<u64> {
        let waiting = self.waiting.peek().map_or(u64::MAX, |Reverse((at, ..))| *at);
        Some(waiting.min(self.next)).filter(|&at| at < self.end)
    }

    /// Begins the next burst, at each receiver that gets one.
    fn burst(&mut self, at: u64) {
        let receiver = if at == self.next {
            self.next = self.next.saturating_add(self.times.exponential(self.between) as u64);
            self.places.below(self.receivers.len())
        } else {
            let Some(Reverse((.., receiver))) = self.waiting.pop() else { return };
            receiver
        };
        if self.follows > 0.0 && self.times.share() < self.follows {
            let gap = self.times.exponential(self.gap) as u64;
            self.wait(at.saturating_add(gap), receiver);
        }
        self.incast(at, receiver);
        let rack = self.receivers[receiver].rack;
        for i in 0..self.racks[rack].len() {
            let other = self.racks[rack][i];
            if self.correlation > 0.0 && other != receiver && self.places.share() < self.correlation {
                self.incast(at, other);
            }
        }
    }

    /// Draws the senders of a burst.
    fn incast(&mut self, at: u64, receiver: usize) {
        let Receiver { host: to, sender, fill, .. } = self.receivers[receiver];
        let word = self.sizes.word();
        let octets = if let Size::Drawn(sizes) = &self.size { sizes.draw(word).0 } else { fill };
        let (least, most) = self.degree;
        let degree = (least + self.members.below((most - least + 1) as usize) as u64).min(octets);
        for (i, from) in (0..degree).zip(self.members.some(&self.hosts, sender, degree as usize)) {
            let late = (self.spreads.share() * self.spread as f64) as u64;
            let size = octets / degree + u64::from(i < octets % degree);
            let start = at.saturating_add(late);
            if start < self.stop {
                self.senders.push(Reverse((start, self.number, from, to, size)));
                self.number += 1;
            }
        }
    }
}

impl Iterator for BurstArrivals {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        while let Some(at) = self.upcoming() {
            // None that begins later has a sender before this one.
            if self.senders.peek().is_some_and(|Reverse((start, ..))| *start < at) {
                break;
            }
            self.burst(at);
        }
        let Reverse((start, _, source, destination, size)) = self.senders.pop()?;
        Some(Arrival { start: Duration(start), source, destination, size: Octets(size) })
    }
}
