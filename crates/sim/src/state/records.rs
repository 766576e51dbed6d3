//! The counts of flows and hosts.

use penstock_endpoint::DestinationId;
use penstock_schemes::{BitRate, Duration, Instant};

use crate::outcome::Sum;

/// The counts of a flow.
#[derive(Debug, Clone)]
pub(crate) struct FlowRecord {
    /// Its destinations.
    pub(crate) first_destination: DestinationId,
    pub(crate) destinations: u32,
    /// Deliveries that complete it; more than there will ever be for a flow without size.
    expected: u64,
    /// Whether the flow has a size.
    finite: bool,
    pub(crate) started: Option<Instant>,
    pub(crate) completed: Option<Instant>,
    /// When its transport knew that.
    pub(crate) acked: Option<Instant>,
    /// When it was completed or stopped, whichever came first.
    pub(crate) ended: Option<Instant>,
    pub(crate) delivered: u64,
    /// With overhead, over all destinations; and that sum when the flow was complete: what comes twice comes later.
    pub(crate) delivered_octets: u64,
    complete_octets: u64,
    pub(crate) dropped: u64,
    pub(crate) lost: u64,
    /// Corrupted on links at random.
    pub(crate) impaired: u64,
    pub(crate) copies: u64,
    pub(crate) signals: u64,
    /// Of them, probes that came back.
    pub(crate) probes: u64,
    rate_since: Instant,
    pub(crate) rate_time: Duration,
    pub(crate) rate_area: u128,
    pub(crate) rate_area_squared: Sum,
}

impl FlowRecord {
    /// A flow, `finite` if it has a size, to its `destinations`, the first of which is the `first`. `frames` deliveries to each
    /// complete it, unless a transport says when it is complete.
    pub(crate) fn new(first: DestinationId, destinations: u32, finite: bool, frames: Option<u64>) -> Self {
        Self {
            first_destination: first,
            destinations,
            expected: frames.map_or(u64::MAX, |frames| frames * u64::from(destinations)),
            finite,
            started: None,
            completed: None,
            acked: None,
            ended: None,
            delivered: 0,
            delivered_octets: 0,
            complete_octets: u64::MAX,
            dropped: 0,
            lost: 0,
            impaired: 0,
            copies: 0,
            signals: 0,
            probes: 0,
            rate_since: Instant::ZERO,
            rate_time: Duration::ZERO,
            rate_area: 0,
            rate_area_squared: Sum::default(),
        }
    }

    /// Adds the counts that another part of the network has of the flow.
    pub(crate) fn absorb(&mut self, other: &Self) {
        self.started = self.started.or(other.started);
        self.completed = self.completed.or(other.completed);
        self.acked = self.acked.or(other.acked);
        // In one part of the network it is stopped, in another one completed.
        self.ended = self.ended.into_iter().chain(other.ended).min();
        self.delivered += other.delivered;
        self.delivered_octets += other.delivered_octets;
        self.complete_octets = self.complete_octets.min(other.complete_octets);
        self.dropped += other.dropped;
        self.lost += other.lost;
        self.impaired += other.impaired;
        self.copies += other.copies;
        self.signals += other.signals;
        self.probes += other.probes;
    }

    /// The last octet of the flow's size has been delivered everywhere.
    pub(crate) fn complete(&mut self, now: Instant) {
        if self.completed.is_none() {
            self.completed = Some(now);
            self.complete_octets = self.delivered_octets;
        }
    }

    /// Of the octets delivered by the times of two readings, those between that count for the flow's rate.
    pub(crate) fn octets_between(&self, from: u64, to: u64) -> u64 {
        to.min(self.complete_octets) - from.min(self.complete_octets)
    }

    /// Of the time from `from` to `until` the part that counts for the flow's rates: all of it, or, for a flow with a size, that from its
    /// start to its completion.
    pub(crate) fn counts_within(&self, from: Instant, until: Instant) -> Duration {
        if !self.finite {
            return until.since(from);
        }
        let begin = self.started.map_or(until, |at| at.max(from));
        self.completed.map_or(until, |at| at.min(until)).since(begin)
    }

    /// A frame of `octets`, with overhead, has been delivered. Returns whether it completes the flow, or may complete a message of it.
    #[inline(always)]
    pub(crate) fn deliver(&mut self, octets: u32) -> bool {
        self.delivered += 1;
        self.delivered_octets += u64::from(octets);
        self.delivered >= self.expected
    }

    /// The index of a destination among those of the flow.
    pub(crate) fn index_of(&self, destination: DestinationId) -> usize {
        (destination.0 - self.first_destination.0) as usize
    }

    /// The allowed rate was `rate` since the last call; it counts while the flow was `active`.
    pub(crate) fn pass_rate(&mut self, now: Instant, rate: BitRate, active: bool) {
        let time = now.since(self.rate_since);
        self.rate_since = now;
        if active {
            self.rate_time = self.rate_time + time;
            self.rate_area += u128::from(rate.0) * u128::from(time.0);
            self.rate_area_squared.add(u128::from(rate.0) * u128::from(rate.0), time.0);
        }
    }
}

/// Installed rate limiters of a host over time.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct HostRecord {
    pub(crate) limiters: u32,
    /// The most since the last reading (`measure`).
    pub(crate) most: u32,
    since: Instant,
    pub(crate) area: u128,
    /// Frames that its receive buffers had no room for.
    pub(crate) receive_drops: u64,
}

impl HostRecord {
    pub(crate) fn pass(&mut self, now: Instant) {
        self.area += u128::from(self.limiters) * u128::from(now.since(self.since).0);
        self.since = now;
    }

    /// A limiter is installed, or is no longer.
    pub(crate) fn change(&mut self, now: Instant, limiting: bool) {
        self.pass(now);
        if limiting {
            self.limiters += 1;
            self.most = self.most.max(self.limiters);
        } else {
            self.limiters -= 1;
        }
    }
}
