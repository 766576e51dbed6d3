//! Accounts of messages: how long the last frame of each was on its path, where octets waited, and how fast its limiter let it go.
//!
//! Queues and pauses of a path are read twice, and no frame is looked at. A queue is read when the first octet of the message can be
//! there, and when the news of the message's end can be there on its way back. So the news reaches a queue in another part of the network in
//! time. By Little's law the mean wait in a queue is the integral of its length over the octets that left it. Where frames have a choice
//! of paths, the queues at one distance from the source count together. Nothing is read where the work asks for no accounts, and
//! reading changes nothing.
//!
//! The parts of a network each read their own queues. The part of the sender adds up the shares of all.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use penstock_endpoint::PortId;
use penstock_endpoint::transport::Sender;
use penstock_schemes::{BitRate, Duration, Instant, Scheme};
use penstock_switch::Model;

use crate::engine::Sim;
use crate::network::{FlowId, Hop, HopId, MessageAccount};
use crate::probe::Probe;

/// A message of work: its process, and its number in it.
pub(crate) type MessageNumber = (u32, u32);

/// The accounts of messages under way.
#[derive(Debug, Default)]
pub(crate) struct MessageAccounts {
    pub(crate) wanted: bool,
    /// The queues of this part on the path of each message.
    openings: BTreeMap<MessageNumber, Opening>,
    /// What is known of the messages that are sent here.
    drafts: BTreeMap<MessageNumber, Draft>,
    visits: BinaryHeap<Reverse<Visit>>,
    /// Shares for other parts.
    pub(crate) shares: Vec<(usize, MessageNumber, Share)>,
}

/// A reading of the queues of a message at one distance from its source, at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Visit {
    at: Instant,
    number: MessageNumber,
    /// The second one.
    closes: bool,
    depth: usize,
}

/// The queues that frames of a message may cross, those of this part.
#[derive(Debug)]
struct Opening {
    flow: FlowId,
    stations: Vec<Station>,
    /// Distances at which they have not been read a second time.
    left: usize,
}

/// A queue, and its counts when it was read first.
#[derive(Debug)]
struct Station {
    port: PortId,
    /// Links from the source to it.
    depth: usize,
    /// Its place among those of the path.
    place: usize,
    /// The delays of the lines to the destination.
    back: Duration,
    counts: Counts,
}

/// The counts of a queue.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    /// The integral of its length, octets times ps, and the octets that have left it.
    area: u128,
    octets: u64,
    paused: Duration,
}

/// What the queues of one part at one distance add to an account.
#[derive(Debug, Clone)]
pub(crate) struct Share {
    depth: usize,
    area: u128,
    octets: u64,
    paused: u64,
    number: u64,
    /// The queue with the longest wait: that, its place, its port. Of two alike the first one counts.
    longest: (u128, Reverse<usize>, PortId),
}

/// An account that is not complete.
#[derive(Debug)]
struct Draft {
    begun: Instant,
    /// The integral of the allowed rate, and its time, at the begin.
    allowed: (u128, Duration),
    retransmissions: u64,
    /// Shares that are still to come.
    left: usize,
    /// By distance.
    shares: Vec<Option<Share>>,
    /// From the message's begin to its end.
    time: Duration,
    account: MessageAccount,
}

impl MessageAccounts {
    /// When queues are read next.
    pub(crate) fn next_visit(&self) -> Option<Instant> {
        self.visits.peek().map(|Reverse(visit)| visit.at)
    }

    /// The flows whose slots are needed.
    pub(crate) fn flows(&self) -> impl Iterator<Item = FlowId> + '_ {
        self.openings.values().map(|opening| opening.flow)
    }
}

impl Share {
    fn add(&mut self, other: &Self) {
        self.area += other.area;
        self.octets += other.octets;
        self.paused += other.paused;
        self.number += other.number;
        self.longest = self.longest.max(other.longest);
    }

    /// Adds the queues at one distance to an account of a message that took `time`.
    fn add_to(&self, account: &mut MessageAccount, time: Duration) {
        let paused = (self.paused / self.number).min(time.0);
        if self.depth == 0 {
            account.stopped = Duration(paused);
        }
        let wait = match (self.area, self.octets) {
            (0, _) => 0,
            (_, 0) => time.0,
            (area, octets) => u64::try_from(area / u128::from(octets)).unwrap_or(u64::MAX).min(time.0),
        };
        let in_pause = (u128::from(wait) * u128::from(paused) / u128::from(time.0.max(1))) as u64;
        account.waited = account.waited + Duration(wait);
        account.paused = account.paused + Duration(in_pause);
        if wait > account.at_port.0 {
            (account.port, account.at_port) = (Some(self.longest.2), Duration(wait));
        }
    }
}

impl<S: Scheme, P: Probe<S>, M: Model> Sim<S, P, M> {
    /// The account of a message of `flow` that began at `begun`, here or elsewhere, is opened if accounts are wanted.
    pub(crate) fn open_account(&mut self, flow: FlowId, number: MessageNumber, begun: Instant) {
        if !self.dynamic_flows.accounts.wanted {
            return;
        }
        let (mut stations, ahead) = self.stations_of(self.dynamic_flows.root_at(flow, begun));
        let depths = ahead.len();
        if self.part_of_source(flow).is_none() {
            self.open_draft(flow, number, begun, &stations, depths);
        }
        if let Some(part) = &self.part {
            stations.retain(|station| part.has_port(station.port));
        }
        let here = |depth: &usize| stations.iter().any(|station| station.depth == *depth);
        let own: Vec<usize> = (0..depths).filter(here).collect();
        if own.is_empty() {
            return;
        }
        let accounts = &mut self.dynamic_flows.accounts;
        accounts.openings.insert(number, Opening { flow, stations, left: own.len() });
        for depth in own {
            let visit = Visit { at: begun + ahead[depth], number, closes: false, depth };
            // One that began elsewhere is before the events of this instant.
            if begun < self.state.fabric.now || visit.at > begun {
                self.dynamic_flows.accounts.visits.push(Reverse(visit));
            } else {
                self.visit(visit);
            }
        }
    }

    /// The queues of all paths of a route, and the delays of the lines before them, the most at each distance.
    fn stations_of(&self, root: HopId) -> (Vec<Station>, Vec<Duration>) {
        let mut stations: Vec<Station> = Vec::new();
        let mut reached: Vec<Duration> = Vec::new();
        let mut ahead: Vec<Duration> = Vec::new();
        let mut longest = Duration::ZERO;
        // Parents come before children, so that the end of the route is known when it is reached.
        let (mut hop, mut end) = (root.0, root.0 + 1);
        while hop < end {
            let Hop { port, parent, first_child, children, .. } = self.hops[hop as usize];
            let before = parent.map(|parent| (parent.0 - root.0) as usize);
            let depth = before.map_or(0, |before| stations[before].depth + 1);
            let delay = before.map_or(Duration::ZERO, |before| reached[before]);
            let beyond = delay + self.state.fabric.port(port).latency;
            if depth == ahead.len() {
                ahead.push(delay);
            }
            ahead[depth] = ahead[depth].max(delay);
            longest = longest.max(beyond);
            let place = stations.len();
            reached.push(beyond);
            stations.push(Station { port, depth, place, back: delay, counts: Counts::default() });
            if children > 0 {
                end = end.max(first_child.0 + u32::from(children));
            }
            hop += 1;
        }
        for station in &mut stations {
            station.back = Duration(longest.0 - station.back.0);
        }
        (stations, ahead)
    }

    /// The sender's part of an account.
    fn open_draft(&mut self, flow: FlowId, number: MessageNumber, begun: Instant, stations: &[Station], depths: usize) {
        self.state.pass_rate(flow);
        let part_of = |station: &Station| self.part.as_ref().map_or(0, |part| part.partition.of_port(station.port));
        let mut shares: Vec<(usize, usize)> = stations.iter().map(|own| (own.depth, part_of(own))).collect();
        shares.sort_unstable();
        shares.dedup();
        let record = &self.state.records[flow.index()];
        let draft = Draft {
            begun,
            allowed: (record.rate_area, record.rate_time),
            retransmissions: self.retransmissions(flow),
            left: shares.len(),
            shares: vec![None; depths],
            time: Duration::ZERO,
            account: MessageAccount::default(),
        };
        self.dynamic_flows.accounts.drafts.insert(number, draft);
    }

    fn retransmissions(&self, flow: FlowId) -> u64 {
        let connection = self.state.sources.flow(flow).supply().connection.as_ref();
        connection.map_or(0, |connection| connection.sender.statistics().retransmissions)
    }

    /// A message has ended at `ended`, with a frame that was on its path for `last`.
    pub(crate) fn end_account(&mut self, number: MessageNumber, ended: Instant, last: Duration) {
        let accounts = &mut self.dynamic_flows.accounts;
        if let Some(draft) = accounts.drafts.get_mut(&number) {
            draft.time = ended.since(draft.begun);
            draft.account.last = last;
        }
        let Some(opening) = accounts.openings.get(&number) else { return };
        let mut back: BTreeMap<usize, Duration> = BTreeMap::new();
        for station in &opening.stations {
            let longest = back.entry(station.depth).or_default();
            *longest = (*longest).max(station.back);
        }
        let visit = |(depth, back)| Reverse(Visit { at: ended + back, number, closes: true, depth });
        accounts.visits.extend(back.into_iter().map(visit));
    }

    /// Reads the queues that are to be read by now.
    pub(crate) fn visit_stations(&mut self) {
        let now = self.state.fabric.now;
        while self.dynamic_flows.accounts.next_visit().is_some_and(|at| at <= now) {
            if let Some(Reverse(visit)) = self.dynamic_flows.accounts.visits.pop() {
                self.visit(visit);
            }
        }
    }

    /// The run ends: the queues of messages that have ended are read now.
    pub(crate) fn finish_accounts(&mut self) {
        while let Some(Reverse(visit)) = self.dynamic_flows.accounts.visits.pop() {
            if visit.closes {
                self.visit(visit);
            }
        }
    }

    fn visit(&mut self, visit: Visit) {
        let Visit { number, closes, depth, .. } = visit;
        let Some(mut opening) = self.dynamic_flows.accounts.openings.remove(&number) else { return };
        let mut share: Option<Share> = None;
        for station in opening.stations.iter_mut().filter(|station| station.depth == depth) {
            let now = self.counts(opening.flow, station.port);
            if !closes {
                station.counts = now;
                continue;
            }
            let own = station.share(now);
            match &mut share {
                Some(share) => share.add(&own),
                None => share = Some(own),
            }
        }
        let flow = opening.flow;
        if closes {
            opening.left -= 1;
        }
        if opening.left > 0 {
            self.dynamic_flows.accounts.openings.insert(number, opening);
        }
        let Some(share) = share else { return };
        let Some(part) = self.part_of_source(flow) else {
            if depth == 0 {
                self.close_at_sender(flow, number);
            }
            return self.add_share(number, &share);
        };
        self.dynamic_flows.accounts.shares.push((part, number, share));
    }

    fn counts(&mut self, flow: FlowId, port: PortId) -> Counts {
        // Frames that have left by now may still be counted. The integral would fall when their departures, which have
        // earlier times, are noted.
        self.state.fabric.settle(port);
        let fabric = &self.state.fabric;
        let class = self.state.sources.flow(flow).class();
        let queue = &fabric.port(port).queues[class.index()];
        let area = queue.statistics.area + u128::from(queue.len) * u128::from(queue.statistics.since(fabric.now));
        let paused = fabric.pauses.paused(fabric.queue_at(port, class), fabric.now);
        Counts { area, octets: queue.sent_octets, paused }
    }

    /// What the sender of a message knows when it hears of its end.
    fn close_at_sender(&mut self, flow: FlowId, number: MessageNumber) {
        self.state.pass_rate(flow);
        let record = &self.state.records[flow.index()];
        let (area, time) = (record.rate_area, record.rate_time.0);
        let allowed = self.state.sources.limiter(self.state.sources.flow(flow).limiter()).rate();
        let retransmissions = self.retransmissions(flow);
        let Some(draft) = self.dynamic_flows.accounts.drafts.get_mut(&number) else { return };
        draft.account.rate = match time - draft.allowed.1.0 {
            0 => allowed,
            passed => BitRate(((area - draft.allowed.0) / u128::from(passed)) as u64),
        };
        draft.account.retransmissions = retransmissions - draft.retransmissions;
    }

    /// A share of the account of a message that was sent here. The last one completes it.
    pub(crate) fn add_share(&mut self, number: MessageNumber, share: &Share) {
        let drafts = &mut self.dynamic_flows.accounts.drafts;
        let Some(draft) = drafts.get_mut(&number) else { return };
        match &mut draft.shares[share.depth] {
            Some(own) => own.add(share),
            own => *own = Some(share.clone()),
        }
        draft.left -= 1;
        if draft.left > 0 {
            return;
        }
        let Some(Draft { mut account, shares, time, .. }) = drafts.remove(&number) else { return };
        shares.iter().flatten().for_each(|share| share.add_to(&mut account, time));
        if let Some(employed) = &mut self.employed {
            employed.work.account(number.0, number.1, account);
        }
    }
}

impl Station {
    /// What it adds to the account, with these counts at the second reading.
    fn share(&self, now: Counts) -> Share {
        let (area, paused) = (now.area - self.counts.area, now.paused.0 - self.counts.paused.0);
        Share {
            depth: self.depth,
            area,
            octets: now.octets - self.counts.octets,
            paused,
            number: 1,
            longest: (area + u128::from(paused), Reverse(self.place), self.port),
        }
    }
}
