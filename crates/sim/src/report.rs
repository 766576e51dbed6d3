//! The end of a run: the check of conservation, and the [`Outcome`].

use penstock_endpoint::{Flow, TrafficClass};
use penstock_schemes::Scheme;

use crate::deadlock::Search;
use crate::engine::State;
use crate::facts::HopFacts;
use crate::frame::{Arena, FrameId, Kind};
use crate::generator::Source;
use crate::network::QueueId;
use crate::outcome::{Outcome, Totals};
use crate::pause::Pauses;
use crate::port::PortState;
use crate::records::FlowRecord;

/// Frames in queues and on lines.
struct Inside {
    /// Data frames of each flow.
    data: Vec<u64>,
    headers: u64,
    signals: u64,
    acks: u64,
}

impl Inside {
    /// Counts the frames of so many `flows`.
    fn count(frames: &dyn Arena, facts: &[HopFacts], flows: usize) -> Self {
        let mut inside = Self { data: vec![0; flows], headers: 0, signals: 0, acks: 0 };
        for (_, frame) in frames.iter() {
            match frame.kind {
                Kind::Data => inside.data[facts[frame.hop.index()].flow.index()] += 1,
                Kind::Header => inside.headers += 1,
                Kind::Signal => inside.signals += 1,
                Kind::Ack => inside.acks += 1,
            }
        }
        inside
    }

    /// Adds the frames, signals and acknowledgements under way, and the counts that follow from them.
    fn add_up(&self, t: &mut Totals, events: u64) {
        t.frames_discarded_at_source = t.frames_offered - t.frames_sent;
        t.frames_in_flight = self.data.iter().sum();
        t.signals_in_flight = self.signals;
        t.acks_in_flight = self.acks;
        t.headers_in_flight = self.headers;
        t.events = events;
    }
}

impl<S: Scheme, const PFC: bool> State<S, PFC> {
    /// Brings everything to the present, checks conservation, sums up. `on_lines` counts the frames on the line of
    /// each port, `outside` the signals that travel outside of the network.
    pub(crate) fn sum_up(&mut self, on_lines: &[u64], outside: u64) -> Outcome {
        let end = self.read();
        let inside = Inside::count(&self.fabric.frames, &self.fabric.facts, self.records.len());
        let mut outcome = self.whole(&end);
        inside.add_up(&mut outcome.totals, self.totals.events);
        let fabric = &self.fabric;
        let search = Search { ports: &fabric.ports, pauses: &fabric.pauses, frames: &fabric.frames };
        outcome.deadlocks = fabric.pauses.deadlocks.iter().cloned().chain(search.deadlock()).collect();
        self.check_conservation(&outcome.totals, &inside, on_lines, outside);
        outcome
    }

    /// Nothing appears from nowhere and nothing vanishes: at each queue, on each line, for each flow, for signals.
    fn check_conservation(&self, t: &Totals, inside: &Inside, on_lines: &[u64], outside: u64) {
        let fabric = &self.fabric;
        Lines { ports: &fabric.ports, pauses: &fabric.pauses, on_lines, frames: &fabric.frames }.check();
        check_flows(self.sources.flows(), &self.records, &inside.data);
        check_control(t);
        assert!(
            outside == self.ideal_in_flight,
            "{outside} signals travel outside of the network, {} have been sent and have not arrived",
            self.ideal_in_flight,
        );
    }
}

/// Ports and their frames.
struct Lines<'a> {
    ports: &'a [PortState],
    pauses: &'a Pauses,
    /// Frames on the line of each port, but for pause frames.
    on_lines: &'a [u64],
    frames: &'a dyn Arena,
}

impl Lines<'_> {
    fn octets(&self, frame: FrameId) -> u64 {
        self.frames.head(frame).octets.into()
    }

    fn check(&self) {
        let pauses_on_lines = self.pauses.on_lines();
        for (index, p) in self.ports.iter().enumerate() {
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
            let pauses_on_line = pauses_on_lines.get(index).copied().unwrap_or(0);
            let pauses = self.check_pauses(index, pauses_on_line);
            let started = p.queues.iter().map(|q| q.departed).sum::<u64>() + serving + pauses;
            let on_line = self.on_lines[index] + pauses_on_line;
            assert!(
                started == p.hops + p.ledger.lost + on_line,
                "line of port {index}: {started} frames started, {} delivered, {} lost, {on_line} on the line",
                p.hops,
                p.ledger.lost,
            );
        }
        self.check_ingress();
        self.check_pools();
    }

    /// Ingress counters count the frames that are there.
    fn check_ingress(&self) {
        let counted = self.pauses.held();
        let mut held = vec![0; counted.len()];
        for p in self.ports {
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
        pools.check(queues.flat_map(|(place, p, class, q)| {
            let serving = p.serves(class).then_some(p.in_service_frame);
            let frames = q.waiting.iter(self.frames).chain(serving);
            frames.map(move |frame| (QueueId(place as u32), frame, self.octets(frame)))
        }));
    }

    /// Pause frames neither appear nor vanish; `on_line` of them are on the line of `port`. Returns how many it sent.
    fn check_pauses(&self, port: usize, on_line: u64) -> u64 {
        let Some(line) = self.pauses.lines.get(port) else { return 0 };
        assert!(
            line.sent == line.arrived + line.lost + on_line,
            "pause frames on the line of port {port}: {} sent, {} arrived, {} lost, {on_line} on the line",
            line.sent,
            line.arrived,
            line.lost,
        );
        line.sent
    }
}

/// Data frames of each flow: those that its source has sent and those that are `inside` the network.
fn check_flows(flows: &[Flow<Source>], records: &[FlowRecord], inside: &[u64]) {
    for (index, f) in records.iter().enumerate() {
        let (sent, inside) = (flows[index].sent(), inside[index]);
        assert!(
            sent + f.copies == f.delivered + f.dropped + f.lost + inside,
            "flow {index}: {sent} frames sent, {} copies, {} delivered, {} dropped, {} lost on links, {inside} inside",
            f.copies,
            f.delivered,
            f.dropped,
            f.lost,
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
