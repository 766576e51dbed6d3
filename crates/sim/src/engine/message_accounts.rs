//! Accounts of messages: how long the last frame of each was on its path, where octets waited, and how fast its limiter let it go.
//!
//! Queues and pauses of a path are read twice, when a message begins and when its last octet arrives; no frame is looked at. By Little's law the
//! mean wait in a queue is the integral of its length over the octets that left it. Where frames have a choice of paths, the queues
//! at one distance from the source count together. Nothing is read where the work asks for no accounts, and reading changes nothing.

use penstock_endpoint::PortId;
use penstock_endpoint::transport::Sender;
use penstock_schemes::{BitRate, Duration, Instant, Scheme};
use penstock_switch::Model;

use crate::engine::Sim;
use crate::network::{FlowId, Hop, MessageAccount};
use crate::probe::Probe;

/// The counts at the begin of a message.
#[derive(Debug)]
pub(crate) struct Opening {
    flow: FlowId,
    at: Instant,
    stations: Vec<Station>,
    /// The integral of the allowed rate, and its time.
    allowed: (u128, Duration),
    retransmissions: u64,
}

/// A queue that frames of a message may cross.
#[derive(Debug)]
struct Station {
    port: PortId,
    /// Links from the source to it.
    depth: usize,
    /// The integral of its length, octets times ps, and the octets that have left it.
    area: u128,
    octets: u64,
    paused: Duration,
}

impl<S: Scheme, P: Probe<S>, M: Model> Sim<S, P, M> {
    /// The counts now, for a message of `flow` that begins.
    pub(crate) fn open_account(&mut self, flow: FlowId) -> Opening {
        self.state.pass_rate(flow);
        let root = self.state.sources.flow(flow).supply().root;
        let mut stations = Vec::new();
        let mut depths = Vec::new();
        // Parents come before children, so that the end of the route is known when it is reached.
        let (mut hop, mut end) = (root.0, root.0 + 1);
        while hop < end {
            let Hop { port, parent, first_child, children, .. } = self.hops[hop as usize];
            let depth = parent.map_or(0, |parent| depths[(parent.0 - root.0) as usize] + 1);
            depths.push(depth);
            stations.push(self.station(flow, port, depth));
            if children > 0 {
                end = end.max(first_child.0 + u32::from(children));
            }
            hop += 1;
        }
        let record = &self.state.records[flow.index()];
        let allowed = (record.rate_area, record.rate_time);
        let (at, retransmissions) = (self.state.fabric.now, self.retransmissions(flow));
        Opening { flow, at, stations, allowed, retransmissions }
    }

    fn station(&mut self, flow: FlowId, port: PortId, depth: usize) -> Station {
        // Frames that have left by now may still be counted. The integral would fall when their departures, which have
        // earlier times, are noted.
        self.state.fabric.settle(port);
        let fabric = &self.state.fabric;
        let class = self.state.sources.flow(flow).class();
        let queue = &fabric.port(port).queues[class.index()];
        let area = queue.statistics.area + u128::from(queue.len) * u128::from(queue.statistics.since(fabric.now));
        let paused = fabric.pauses.paused(fabric.queue_at(port, class), fabric.now);
        Station { port, depth, area, octets: queue.sent_octets, paused }
    }

    fn retransmissions(&self, flow: FlowId) -> u64 {
        let connection = self.state.sources.flow(flow).supply().connection.as_ref();
        connection.map_or(0, |connection| connection.sender.statistics().retransmissions)
    }

    /// The account of a message that has ended with a frame that was sent at `sent_at`.
    pub(crate) fn close_account(&mut self, opening: &Opening, sent_at: Instant) -> MessageAccount {
        let flow = opening.flow;
        self.state.pass_rate(flow);
        let time = self.state.fabric.now.since(opening.at);
        let record = &self.state.records[flow.index()];
        let limiter = self.state.sources.limiter(self.state.sources.flow(flow).limiter());
        let passed = record.rate_time.0 - opening.allowed.1.0;
        let rate = match passed {
            0 => limiter.rate(),
            passed => BitRate(((record.rate_area - opening.allowed.0) / u128::from(passed)) as u64),
        };
        let retransmissions = self.retransmissions(flow) - opening.retransmissions;
        let last = self.state.fabric.now.since(sent_at);
        let mut account = MessageAccount { last, rate, retransmissions, ..MessageAccount::default() };
        let deepest = opening.stations.iter().map(|station| station.depth).max().unwrap_or(0);
        for depth in 0..=deepest {
            self.add_stations(opening, depth, time, &mut account);
        }
        account
    }

    /// Adds the queues at one distance from the source to an account.
    fn add_stations(&mut self, opening: &Opening, depth: usize, time: Duration, account: &mut MessageAccount) {
        let (mut area, mut octets, mut paused, mut number) = (0_u128, 0_u64, 0_u64, 0_u64);
        let mut longest: Option<(u128, PortId)> = None;
        for then in opening.stations.iter().filter(|station| station.depth == depth) {
            let now = self.station(opening.flow, then.port, depth);
            let (own_area, own_pause) = (now.area - then.area, now.paused.0 - then.paused.0);
            area += own_area;
            octets += now.octets - then.octets;
            paused += own_pause;
            number += 1;
            let weight = own_area + u128::from(own_pause);
            if longest.is_none_or(|(most, _)| weight > most) {
                longest = Some((weight, then.port));
            }
        }
        let Some((_, port)) = longest else { return };
        let paused = (paused / number).min(time.0);
        if depth == 0 {
            account.stopped = Duration(paused);
        }
        let wait = match (area, octets) {
            (0, _) => 0,
            (_, 0) => time.0,
            (area, octets) => u64::try_from(area / u128::from(octets)).unwrap_or(u64::MAX).min(time.0),
        };
        let in_pause = (u128::from(wait) * u128::from(paused) / u128::from(time.0.max(1))) as u64;
        account.waited = account.waited + Duration(wait);
        account.paused = account.paused + Duration(in_pause);
        if wait > account.at_port.0 {
            (account.port, account.at_port) = (Some(port), Duration(wait));
        }
    }
}
