//! Windows of measurement: from one instant to another.
//!
//! Sums and counts grow from the start of the run and never start again. A window reads them when it opens and when it
//! closes, and is the difference. The smallest and the largest of something are no differences: they are kept from one
//! reading to the next, and each reading hands them to every window that is open.

use penstock_endpoint::entropy_states::PathChanges;
use penstock_endpoint::transport::{Sender, Statistics};
use penstock_endpoint::{Changes, Flow, TrafficClass};
use penstock_schemes::{Duration, Instant};
use penstock_switch::flow_control::pause::Pauses;
use penstock_switch::flow_control::pool::{Occupancy, PoolState};
use penstock_switch::state::congestion_point::CongestionPoints;
use penstock_switch::state::histograms::Histograms;
use penstock_switch::state::port::{PortState, QueueState, queues, queues_mut};

use crate::histogram::QueueHistograms;
use crate::hosts::generator::Source;
use crate::hosts::transport::Transports;
use crate::network::{FlowId, NodeId, PortId, QueueId};
use crate::outcome::{
    FlowCounts, FlowMeasures, FlowOutcome, HostOutcome, Outcome, PoolCounts, PoolMeasures, PoolOutcome, QueueCounts,
    QueueMeasures, QueueOutcome, Sum, Totals, moments,
};
use crate::partition::Partition;
use crate::state::records::{FlowRecord, HostRecord};

/// Everything that is counted or summed, at one instant.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reading {
    at: Instant,
    totals: Totals,
    lines: Vec<LineReading>,
    queues: Vec<QueueReading>,
    histograms: Vec<(QueueId, QueueHistograms)>,
    flows: Vec<FlowReading>,
    hosts: Vec<HostReading>,
    pools: Vec<PoolReading>,
}

/// The line of a port.
#[derive(Debug, Clone, Copy, Default)]
struct LineReading {
    sent_bits: u64,
    scheduled_bits: u128,
}

#[derive(Debug, Clone, Copy, Default)]
struct QueueReading {
    area: u128,
    area_squared: u128,
    empty: Duration,
    /// Extremes since the reading.
    min: u64,
    max: u64,
    /// Of the memory of the frames that came in over the line to the port.
    ingress: Occupancy,
    counts: QueueCounts,
}

#[derive(Debug, Clone, Copy, Default)]
struct FlowReading {
    rate_time: Duration,
    rate_area: u128,
    rate_area_squared: Sum,
    delivered_octets: u64,
    /// Of data, in order, by the transport.
    data_octets: u64,
    /// Octets in the transmit queue, over time.
    transmit_area: u128,
    counts: FlowCounts,
}

#[derive(Debug, Clone, Copy, Default)]
struct HostReading {
    area: u128,
    /// The most limiters since the reading.
    most: u32,
    receive_drops: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct PoolReading {
    area: u128,
    /// Maxima since the reading.
    max: u64,
    headroom_max: u64,
    counts: PoolCounts,
}

/// Everything that is counted or summed, whatever the scheme: its readings are seldom and are compiled once. Everything has been
/// brought to the present.
pub(crate) struct Counted<'a> {
    pub(crate) now: Instant,
    /// The counts that belong to no flow.
    pub(crate) totals: Totals,
    pub(crate) changes: Changes,
    /// Frames that queues have marked.
    pub(crate) marked: u64,
    pub(crate) ports: &'a [PortState],
    pub(crate) pauses: &'a Pauses,
    pub(crate) histograms: &'a Histograms,
    pub(crate) points: &'a dyn CongestionPoints,
    pub(crate) flows: &'a [Flow<Source>],
    pub(crate) records: &'a [FlowRecord],
    pub(crate) transports: &'a Transports,
    /// How many flows last.
    pub(crate) static_flows: u32,
    pub(crate) hosts: &'a [HostRecord],
}

impl Counted<'_> {
    /// The present.
    pub(crate) fn reading(&self) -> Reading {
        let queue = |(id, q)| self.queue_reading(id, q);
        Reading {
            at: self.now,
            totals: self.totals_so_far(),
            lines: self.ports.iter().map(|p| self.line_reading(p)).collect(),
            queues: (0..).map(QueueId).zip(queues(self.ports)).map(queue).collect(),
            histograms: self.histograms.reading(),
            flows: (0..self.static_flows).map(|flow| self.flow_reading(FlowId(flow))).collect(),
            hosts: self.hosts.iter().map(HostRecord::reading).collect(),
            pools: self
                .pauses
                .pools()
                .iter()
                .zip(self.areas_of_pools())
                .map(|(pool, area)| PoolReading::of(pool, area))
                .collect(),
        }
    }

    fn areas_of_pools(&self) -> Vec<u128> {
        self.pauses.pools.as_deref().map_or_else(Vec::new, |pools| pools.areas(self.ports, self.now))
    }

    /// The counts of the network, but for frames, signals and acknowledgements under way.
    fn totals_so_far(&self) -> Totals {
        let mut t = self.totals;
        for flow in 0..self.records.len() as u32 {
            t = self.totals_with(t, FlowId(flow));
        }
        (t.cuts, t.raises) = (self.changes.cuts, self.changes.raises);
        t.frames_moved = self.points.moved();
        t.pause_frames = self.pauses.lines.iter().map(|line| line.sent - line.messages).sum();
        t.credit_wait_ps = self.pauses.waited_for_credits(self.now).0;
        let retries = || self.pauses.retries.iter().flatten();
        t.replays = retries().map(|retry| retry.replays).sum();
        t.frames_replayed = retries().map(|retry| retry.frames_replayed).sum();
        t.ecn_marks = self.marked;
        t.control_frames_impaired = self.ports.iter().map(|p| p.ledger.impairments.control).sum();
        t.tied_losses = self.ports.iter().map(|p| p.ledger.tied).sum();
        t.watchdog_fired = self.pauses.watchdog_fired;
        t.watchdog_dropped = self.pauses.watchdog_dropped;
        t.packet_hops = self.ports.iter().map(|p| p.hops).sum();
        t
    }

    /// The counts with those of a flow.
    pub(crate) fn totals_with(&self, mut t: Totals, flow: FlowId) -> Totals {
        let (flow, record) = (&self.flows[flow.index()], &self.records[flow.index()]);
        t.frames_offered += flow.supply().offered(flow.sent());
        t.frames_sent += flow.sent();
        t.frames_delivered += record.delivered;
        t.frames_dropped += record.dropped;
        t.frames_lost_on_link += record.lost;
        t.frames_impaired += record.impaired;
        if let Some(connection) = &flow.supply().connection {
            let statistics = connection.sender.statistics();
            t.retransmissions += statistics.retransmissions;
            t.timeouts += statistics.timeouts;
            let paths = connection.values.as_ref().map_or_else(PathChanges::default, |values| values.changes());
            t.paths_skipped += paths.skipped;
            t.paths_assumed_bad += paths.assumed_bad;
            t.paths_restored += paths.restored;
            t.path_probes += paths.probes;
        }
        t
    }

    fn line_reading(&self, p: &PortState) -> LineReading {
        LineReading { sent_bits: p.sent_bits(self.now), scheduled_bits: p.scheduled_bits(self.now) }
    }

    fn queue_reading(&self, id: QueueId, q: &QueueState) -> QueueReading {
        let per_port = self.ports.first().map_or(1, |p| p.queues.len());
        let (p, class) = (&self.ports[id.index() / per_port], TrafficClass((id.index() % per_port) as u8));
        let (flushed, marks) = (p.flushed(class), p.ledger.marks(class));
        QueueReading {
            area: q.statistics.area,
            area_squared: q.statistics.area_squared,
            empty: q.statistics.empty,
            min: q.len,
            max: q.len,
            ingress: self.pauses.occupancy_of(id).unwrap_or_default(),
            counts: QueueCounts {
                frames_arrived: q.arrived,
                frames_dropped: p.dropped_data(class) - flushed,
                control_frames_dropped: p.ledger.control_drops(class),
                frames_flushed: flushed,
                frames_impaired: p.ledger.impairments.data(class),
                frames_sent: q.departed,
                octets_sent: q.sent_octets,
                frames_marked: marks.frames,
                octets_marked: marks.octets,
                feedback_frames: self.points.signals(q.cp),
                paused: self.pauses.paused(id, self.now),
                stops: self.pauses.stops_of(id),
                pause_frames: self.pauses.pause_frames(id),
                resume_frames: self.pauses.resume_frames(id),
            },
        }
    }

    fn flow_reading(&self, flow: FlowId) -> FlowReading {
        let (source, record) = (&self.flows[flow.index()], &self.records[flow.index()]);
        let transport = source.supply().connection.as_ref().map_or_else(Statistics::default, |c| c.sender.statistics());
        FlowReading {
            rate_time: record.rate_time,
            rate_area: record.rate_area,
            rate_area_squared: record.rate_area_squared,
            delivered_octets: record.delivered_octets,
            data_octets: self.transports.delivered(flow),
            transmit_area: source.supply().transmit_area(self.now),
            counts: FlowCounts {
                frames_offered: source.supply().offered(source.sent()),
                frames_sent: source.sent(),
                frames_delivered: record.delivered,
                frames_dropped: record.dropped,
                frames_lost: record.lost,
                frames_impaired: record.impaired,
                copies_made: record.copies,
                feedback_received: record.signals,
                probes_returned: record.probes,
                retransmissions: transport.retransmissions,
                timeouts: transport.timeouts,
                segments_discarded: source.supply().segments_discarded(),
            },
        }
    }
}

/// Brings time-weighted sums, and the generators' offers, to the present. Ports are settled.
pub(crate) fn pass_all(now: Instant, ports: &mut [PortState], hosts: &mut [HostRecord], flows: &mut [Flow<Source>]) {
    for p in ports.iter_mut() {
        p.pass_rate(now);
    }
    for q in queues_mut(ports) {
        q.statistics.pass(now, q.len);
    }
    for host in hosts {
        host.pass(now);
    }
    for flow in flows.iter_mut().filter(|flow| flow.active()) {
        // A frame that is made at this very instant belongs to the time after it, as any other event does.
        flow.supply_mut().generator.advance(Instant(now.0.saturating_sub(1)));
    }
}

/// Extremes start again.
pub(crate) fn restart_extremes(ports: &mut [PortState], pauses: &mut Pauses, hosts: &mut [HostRecord]) {
    for queue in queues_mut(ports) {
        queue.statistics.restart_extremes(queue.len);
    }
    for host in hosts {
        host.most = host.limiters;
    }
    pauses.restart_extremes();
}

/// The outcome of the run: counts from its start, all else from the end of the warm-up.
pub(crate) fn whole(measuring: &Reading, end: &Reading, flows: &[FlowRecord]) -> Outcome {
    let mut outset = end.clone();
    outset.forget();
    between(measuring, end, &outset, flows)
}

impl Reading {
    /// Adds what part `part` of the network has read at the same time: the first has its nodes' state, and the start of
    /// all others.
    pub(crate) fn absorb(&mut self, other: &Self, part: usize, partition: &Partition) {
        self.totals.absorb(&other.totals);
        let per_port = self.queues.len() / self.lines.len().max(1);
        for port in (0..self.lines.len()).filter(|&port| partition.of_port(PortId(port as u32)) == part) {
            self.lines[port] = other.lines[port];
            let queues = port * per_port..(port + 1) * per_port;
            self.queues[queues.clone()].copy_from_slice(&other.queues[queues]);
        }
        for (own, other) in self.histograms.iter_mut().zip(&other.histograms) {
            if partition.of_port(PortId(own.0.0 / per_port as u32)) == part {
                own.clone_from(other);
            }
        }
        for node in (0..self.hosts.len()).filter(|&node| partition.of_node(NodeId(node as u32)) == part) {
            self.hosts[node] = other.hosts[node];
        }
        for pool in (0..self.pools.len()).filter(|&pool| partition.of_pool(pool) == part) {
            self.pools[pool] = other.pools[pool];
        }
        for (flow, other) in self.flows.iter_mut().zip(&other.flows) {
            flow.absorb(other);
        }
    }

    /// From now on there are histograms.
    pub(crate) fn start_histograms(&mut self, histograms: &Histograms) {
        self.histograms = histograms.reading();
    }

    /// Keeps the extremes since the last reading.
    pub(crate) fn take_extremes(&mut self, ports: &[PortState], pauses: &Pauses, hosts: &[HostRecord]) {
        for (id, (reading, queue)) in (0..).map(QueueId).zip(self.queues.iter_mut().zip(queues(ports))) {
            reading.min = reading.min.min(queue.statistics.min.into());
            reading.max = reading.max.max(queue.statistics.max.into());
            reading.ingress = reading.ingress.max(pauses.most_of(id).unwrap_or_default());
        }
        for (reading, host) in self.hosts.iter_mut().zip(hosts) {
            reading.most = reading.most.max(host.most);
        }
        for (reading, pool) in self.pools.iter_mut().zip(pauses.pools()) {
            reading.max = reading.max.max(pool.used.max);
            reading.headroom_max = reading.headroom_max.max(pool.most_in_headroom);
        }
    }

    /// Makes it that of the start of the run, as far as counts go.
    fn forget(&mut self) {
        self.totals = Totals::default();
        self.queues.fill(QueueReading::default());
        self.flows.fill(FlowReading::default());
        self.pools.fill(PoolReading::default());
        self.hosts.fill(HostReading::default());
    }
}

impl FlowReading {
    /// Adds what another part of the network counts of the flow: one has its source, and one a destination.
    fn absorb(&mut self, other: &Self) {
        self.rate_time = self.rate_time + other.rate_time;
        self.rate_area += other.rate_area;
        self.rate_area_squared.absorb(other.rate_area_squared);
        self.delivered_octets += other.delivered_octets;
        self.data_octets += other.data_octets;
        self.transmit_area += other.transmit_area;
        self.counts.absorb(&other.counts);
    }
}

impl HostRecord {
    fn reading(&self) -> HostReading {
        HostReading { area: self.area, most: self.limiters, receive_drops: self.receive_drops }
    }
}

impl PoolReading {
    fn of(pool: &PoolState, area: u128) -> Self {
        let counts = PoolCounts { frames_refused: pool.refused };
        Self { area, max: pool.used.now, headroom_max: pool.in_headroom, counts }
    }
}

/// Statistics from `start` to `end`, counts from `counted` to `end`.
pub(crate) fn between(start: &Reading, end: &Reading, counted: &Reading, flows: &[FlowRecord]) -> Outcome {
    let measured = end.at.since(start.at);
    let queue = |index: usize| {
        let (from, to, count) = (&start.queues[index], &end.queues[index], &counted.queues[index]);
        let port = index * end.lines.len() / end.queues.len();
        let (line, line_to) = (&start.lines[port], &end.lines[port]);
        let (mean_octets, std_octets) =
            moments(measured, to.area - from.area, (to.area_squared - from.area_squared) as f64);
        let measures = QueueMeasures {
            mean_octets,
            std_octets,
            min_octets: from.min,
            max_octets: from.max,
            ingress_shared_max_octets: from.ingress.shared,
            ingress_headroom_max_octets: from.ingress.headroom,
            empty_fraction: ratio((to.empty.0 - from.empty.0).into(), measured.0.into()),
            utilization: ratio(
                u128::from(line_to.sent_bits - line.sent_bits),
                line_to.scheduled_bits - line.scheduled_bits,
            ),
            sent_bps: match measured {
                Duration::ZERO => 0.0,
                _ => (to.counts.octets_sent - from.counts.octets_sent) as f64 * 8.0 / measured.as_seconds(),
            },
        };
        QueueOutcome::new(to.counts.since(&count.counts), measures)
    };
    let flow = |index: usize| {
        let (from, to, count) = (&start.flows[index], &end.flows[index], &counted.flows[index]);
        let flow = &flows[index];
        let octets = flow.octets_between(from.delivered_octets, to.delivered_octets);
        let bits = octets as f64 * 8.0 / f64::from(flow.destinations);
        let (mean_rate_bps, std_rate_bps) = moments(
            Duration(to.rate_time.0 - from.rate_time.0),
            to.rate_area - from.rate_area,
            to.rate_area_squared.less(from.rate_area_squared).as_f64(),
        );
        let active = flow.counts_within(start.at, end.at);
        let rate = |bits: f64| if active == Duration::ZERO { 0.0 } else { bits / active.as_seconds() };
        let measures = FlowMeasures {
            throughput_bps: rate(bits),
            mean_rate_bps,
            std_rate_bps,
            goodput_bps: rate((to.data_octets - from.data_octets) as f64 * 8.0),
            transmit_queue_mean_octets: moments(measured, to.transmit_area - from.transmit_area, 0.0).0,
            started: flow.started,
            completed: flow.completed,
            acked: flow.acked,
            ended: flow.ended,
            active_s: active.as_seconds(),
        };
        FlowOutcome::new(to.counts.since(&count.counts), measures)
    };
    let host = |index: usize| {
        let (from, to, count) = (&start.hosts[index], &end.hosts[index], &counted.hosts[index]);
        HostOutcome {
            rate_limiters_mean: moments(measured, to.area - from.area, 0.0).0,
            rate_limiters_max: from.most,
            receive_drops: to.receive_drops - count.receive_drops,
        }
    };
    let pool = |index: usize| {
        let (from, to, count) = (&start.pools[index], &end.pools[index], &counted.pools[index]);
        let measures = PoolMeasures {
            mean_octets: moments(measured, to.area - from.area, 0.0).0,
            max_octets: from.max,
            headroom_max_octets: from.headroom_max,
        };
        PoolOutcome::new(to.counts.since(&count.counts), measures)
    };
    Outcome {
        totals: end.totals.since(&counted.totals),
        queues: (0..end.queues.len()).map(queue).collect(),
        histograms: start
            .histograms
            .iter()
            .zip(&end.histograms)
            .map(|(from, to)| (to.0, to.1.since(&from.1)))
            .collect(),
        flows: (0..end.flows.len()).map(flow).collect(),
        ends: Vec::new(),
        jobs: Vec::new(),
        deadlocks: Vec::new(),
        pools: (0..end.pools.len()).map(pool).collect(),
        hosts: (0..end.hosts.len()).map(host).collect(),
        measured,
    }
}

fn ratio(part: u128, whole: u128) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
