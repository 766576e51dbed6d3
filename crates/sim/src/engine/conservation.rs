//! The end of a run: the check of conservation, and the [`Outcome`].

use penstock_endpoint::{Flow, TrafficClass};
use penstock_schemes::Scheme;
use penstock_switch::Model;
use penstock_switch::events::FrameId;
use penstock_switch::flow_control::pause::Pauses;
use penstock_switch::state::frame::{Arena, FrameKind};
use penstock_switch::state::hop_info::HopInfo;
use penstock_switch::state::port::PortState;

use crate::engine::measure::{Reading, between, whole};
use crate::engine::run_state::RunState;
use crate::network::QueueId;
use crate::outcome::{Deadlock, FlowEnd, Outcome, Totals};
use crate::partition::Partition;
use crate::state::records::FlowRecord;

/// The accounts of a network, or of a part of one, when they are closed.
pub(crate) struct Accounts {
    start: Reading,
    end: Reading,
    records: Vec<FlowRecord>,
    /// Frames that the source of each flow has sent.
    sent: Vec<u64>,
    inside: Inside,
    lines: Vec<LineAccount>,
    deadlocks: Vec<Deadlock>,
    events: u64,
    /// The rest of the flows of processes.
    ends: Vec<FlowEnd>,
}

impl Accounts {
    /// Those of a window of measurement.
    pub(crate) fn of_window(start: Reading, end: Reading, records: Vec<FlowRecord>) -> Self {
        let (sent, lines, deadlocks, ends) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { start, end, records, sent, inside: Inside::default(), lines, deadlocks, events: 0, ends }
    }

    /// Those of a network whose parts have closed theirs.
    ///
    /// # Panics
    /// If there are none.
    pub(crate) fn join(parts: Vec<Self>, partition: &Partition) -> Self {
        let mut parts = parts.into_iter().enumerate();
        let (_, mut all) = parts.next().expect("a network has parts");
        for (part, other) in parts {
            all.absorb(&other, part, partition);
        }
        all
    }

    fn absorb(&mut self, other: &Self, part: usize, partition: &Partition) {
        self.start.absorb(&other.start, part, partition);
        self.end.absorb(&other.end, part, partition);
        self.inside.absorb(&other.inside);
        self.records.iter_mut().zip(&other.records).for_each(|(own, other)| own.absorb(other));
        self.sent.iter_mut().zip(&other.sent).for_each(|(own, other)| *own += other);
        self.lines.iter_mut().zip(&other.lines).for_each(|(own, other)| own.absorb(other));
        self.events += other.events;
        self.ends.iter_mut().zip(&other.ends).for_each(|(own, other)| own.absorb(other));
    }

    /// The outcome of a window.
    pub(crate) fn of_its_window(&self) -> Outcome {
        between(&self.start, &self.end, &self.start, &self.records)
    }

    /// The outcome of the run, which ends in a deadlock or in none. Checks that nothing appeared from nowhere and nothing vanished: on each line, for each flow, for
    /// signals.
    pub(crate) fn outcome(self, deadlock: Option<Deadlock>) -> Outcome {
        let mut outcome = whole(&self.start, &self.end, &self.records);
        self.inside.add_up(&mut outcome.totals, self.events);
        self.lines.iter().enumerate().for_each(|(port, line)| line.check(port));
        check_flows(&self.sent, &self.records, &self.inside.data);
        check_control(&outcome.totals);
        outcome.deadlocks = self.deadlocks.into_iter().chain(deadlock).collect();
        outcome.ends = self.ends;
        outcome
    }
}

/// The frames that have started on a line, and where they are.
#[derive(Debug, Clone, Copy)]
struct LineAccount {
    started: u64,
    delivered: u64,
    lost: u64,
    on_line: u64,
    pauses: PauseAccount,
}

/// The pause frames among them: sent, arrived, lost and on the line.
#[derive(Debug, Clone, Copy, Default)]
struct PauseAccount {
    sent: u64,
    arrived: u64,
    lost: u64,
    on_line: u64,
}

impl LineAccount {
    fn absorb(&mut self, other: &Self) {
        self.started += other.started;
        self.delivered += other.delivered;
        self.lost += other.lost;
        self.on_line += other.on_line;
        self.pauses.sent += other.pauses.sent;
        self.pauses.arrived += other.pauses.arrived;
        self.pauses.lost += other.pauses.lost;
        self.pauses.on_line += other.pauses.on_line;
    }

    fn check(&self, port: usize) {
        let &Self { started, delivered, lost, on_line, pauses } = self;
        assert!(
            started == delivered + lost + on_line,
            "line of port {port}: {started} frames started, {delivered} delivered, {lost} lost, {on_line} on the line",
        );
        let PauseAccount { sent, arrived, lost, on_line } = pauses;
        assert!(
            sent == arrived + lost + on_line,
            "pause frames on the line of port {port}: {sent} sent, {arrived} arrived, {lost} lost, {on_line} on the line",
        );
    }
}

/// Frames in queues and on lines.
#[derive(Default)]
struct Inside {
    /// Data frames of each flow.
    data: Vec<u64>,
    headers: u64,
    signals: u64,
    acks: u64,
    /// Frames that wait at their sources.
    waiting: u64,
}

impl Inside {
    /// Counts the frames of `flows` flows.
    fn count(frames: &dyn Arena, hop_info: &[HopInfo], flows: usize) -> Self {
        let mut inside = Self { data: vec![0; flows], headers: 0, signals: 0, acks: 0, waiting: 0 };
        for (_, frame) in frames.iter() {
            match frame.kind {
                FrameKind::Data => inside.data[hop_info[frame.hop.index()].flow.index()] += 1,
                FrameKind::Header => inside.headers += 1,
                FrameKind::Signal => inside.signals += 1,
                FrameKind::Ack => inside.acks += 1,
            }
        }
        inside
    }

    fn absorb(&mut self, other: &Self) {
        self.data.iter_mut().zip(&other.data).for_each(|(own, other)| *own += other);
        self.headers += other.headers;
        self.signals += other.signals;
        self.acks += other.acks;
        self.waiting += other.waiting;
    }

    /// Adds the frames, signals and acknowledgements under way, and the counts that follow from them.
    fn add_up(&self, t: &mut Totals, events: u64) {
        t.frames_waiting_at_source = self.waiting;
        t.frames_discarded_at_source = t.frames_offered - t.frames_sent - self.waiting;
        t.frames_in_flight = self.data.iter().sum();
        t.signals_in_flight = self.signals;
        t.acks_in_flight = self.acks;
        t.headers_in_flight = self.headers;
        t.events = events;
    }
}

impl<S: Scheme, M: Model> RunState<S, M> {
    /// Brings everything to the present. Closes and checks the accounts of each queue and each pool. `on_lines` counts
    /// the frames on the line of each port, `received` are those in the receive buffers of hosts, `outside` the signals that travel outside of the network; `ends` are those of the
    /// flows of processes.
    pub(crate) fn close(
        &mut self,
        on_lines: Vec<u64>,
        received: Vec<FrameId>,
        outside: u64,
        ends: Vec<FlowEnd>,
    ) -> Accounts {
        let end = self.read();
        let mut inside = Inside::count(&self.fabric.frames, &self.fabric.hop_info, self.records.len());
        inside.waiting = self.sources.flows().iter().map(|flow| flow.supply().waiting()).sum();
        let fabric = &self.fabric;
        let deadlocks = fabric.pauses.deadlocks.clone();
        let lines = Lines { ports: &fabric.ports, pauses: &fabric.pauses, on_lines, received, frames: &fabric.frames };
        assert!(
            outside == self.ideal_in_flight,
            "{outside} signals travel outside of the network, {} have been sent and have not arrived",
            self.ideal_in_flight,
        );
        Accounts {
            lines: lines.close(),
            start: std::mem::take(&mut self.measuring),
            end,
            sent: self.sources.flows().iter().map(Flow::sent).collect(),
            records: std::mem::take(&mut self.records),
            inside,
            deadlocks,
            events: self.totals.events,
            ends,
        }
    }
}

/// Ports and their frames.
struct Lines<'a> {
    ports: &'a [PortState],
    pauses: &'a Pauses,
    /// Frames on the line of each port, but for pause frames.
    on_lines: Vec<u64>,
    /// Frames in the receive buffers of hosts.
    received: Vec<FrameId>,
    frames: &'a dyn Arena,
}

impl Lines<'_> {
    fn octets(&self, frame: FrameId) -> u64 {
        self.frames.head(frame).octets.into()
    }

    /// The account of each line.
    fn close(&self) -> Vec<LineAccount> {
        self.check_ingress();
        self.check_pools();
        let pauses_on_lines = self.pauses.on_lines();
        let account = |(index, p): (usize, &PortState)| {
            for (class, q) in (0..).map(TrafficClass).zip(&p.queues) {
                let waiting = q.waiting.iter(self.frames).count() as u64;
                let counted = u64::from(q.frames());
                assert!(
                    counted == waiting + u64::from(p.serves(class)),
                    "queue {} of port {index}: {} frames arrived, {} were dropped, {} departed, {waiting} wait",
                    class.0,
                    q.arrived,
                    q.dropped,
                    q.departed,
                );
            }
            let serving = u64::from(p.in_service != TrafficClass::NONE);
            let pauses = self.pauses.lines.get(index).map_or_else(PauseAccount::default, |line| PauseAccount {
                sent: line.sent,
                arrived: line.arrived,
                lost: line.lost,
                on_line: pauses_on_lines[index],
            });
            let started = p.queues.iter().map(|q| q.departed).sum::<u64>() + serving + pauses.sent;
            let on_line = self.on_lines[index] + pauses.on_line;
            LineAccount {
                started,
                delivered: p.hops,
                lost: p.ledger.lost + p.ledger.impairments.frames,
                on_line,
                pauses,
            }
        };
        self.ports.iter().enumerate().map(account).collect()
    }

    /// Ingress counters count the frames that are there.
    fn check_ingress(&self) {
        let counted = self.pauses.held();
        let mut held = vec![0; counted.len()];
        for &frame in &self.received {
            if let Some(counter) = self.pauses.holder(frame) {
                held[counter.index()] += self.octets(frame);
            }
        }
        for p in self.ports.iter().filter(|p| p.flow_controlled()) {
            let serving = (p.in_service != TrafficClass::NONE).then_some(p.in_service_frame);
            for frame in p.queues.iter().flat_map(|q| q.waiting.iter(self.frames)).chain(serving) {
                if let Some(counter) = self.pauses.holder(frame) {
                    held[counter.index()] += self.octets(frame);
                }
            }
        }
        assert!(counted == held, "ingress counters say {counted:?}, the frames there have {held:?} octets");
    }

    /// The pools' accounts are those of the frames that are there.
    fn check_pools(&self) {
        let Some(pools) = self.pauses.pools.as_deref() else { return };
        let per_port = self.ports.first().map_or(0, |p| p.queues.len());
        let queues = self.ports.iter().enumerate().flat_map(|(port, p)| {
            (0..).map(TrafficClass).zip(&p.queues).map(move |(class, q)| (port * per_port + class.index(), p, class, q))
        });
        let frames = queues.flat_map(|(index, p, class, q)| {
            let serving = p.serves(class).then_some(p.in_service_frame);
            let frames = q.waiting.iter(self.frames).chain(serving);
            frames.map(move |frame| (QueueId(index as u32), frame, self.octets(frame)))
        });
        pools.check(frames, |index| self.ports[index / per_port].queues[index % per_port].len);
    }
}

/// Data frames of each flow: those that its source has sent and those that are `inside` the network.
fn check_flows(sent: &[u64], records: &[FlowRecord], inside: &[u64]) {
    for (index, f) in records.iter().enumerate() {
        let (sent, inside) = (sent[index], inside[index]);
        assert!(
            sent + f.copies == f.delivered + f.dropped + f.lost + f.impaired + inside,
            "flow {index}: {sent} frames sent, {} copies, {} delivered, {} dropped, {} lost on links, {} corrupted, {inside} inside",
            f.copies,
            f.delivered,
            f.dropped,
            f.lost,
            f.impaired,
        );
    }
}

/// Frames without data.
fn check_control(t: &Totals) {
    assert!(
        t.signals_sent
            == t.feedback_frames
                + t.signals_to_previous_hops
                + t.signals_discarded
                + t.probes_delivered
                + t.signals_lost
                + t.signals_in_flight,
        "signals: {t:?}"
    );
    assert!(
        t.headers_sent == t.headers_delivered + t.headers_lost + t.headers_in_flight,
        "headers of trimmed frames: {t:?}"
    );
    assert!(t.acks_sent == t.acks_delivered + t.acks_lost + t.acks_in_flight, "acknowledgements: {t:?}");
}
