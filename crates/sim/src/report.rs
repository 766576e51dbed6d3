//! The end of a run: the check of conservation, and the [`Outcome`].

use penstock_endpoint::TrafficClass;
use penstock_schemes::Scheme;

use crate::engine::State;
use crate::frame::{FrameId, Kind};
use crate::network::QueueId;
use crate::outcome::{Outcome, Totals};
use crate::pause::Pauses;
use crate::port::{PortState, QueueState};
use crate::records::FlowRecord;

/// Frames in queues and on lines.
struct Inside {
    /// Data frames of each flow.
    data: Vec<u64>,
    headers: u64,
    signals: u64,
    acks: u64,
}

impl<S: Scheme, const PFC: bool> State<S, PFC> {
    /// Brings everything to the present, checks conservation, sums up. `on_lines` counts the frames on the line of
    /// each port, `outside` the signals that travel outside of the network.
    pub(crate) fn sum_up(&mut self, on_lines: &[u64], outside: u64) -> Outcome {
        let end = self.read();
        let inside = self.frames_inside();
        let mut outcome = self.whole(&end);
        self.add_up(&mut outcome.totals, &inside);
        outcome.deadlocks = self.fabric.pauses.deadlocks.iter().cloned().chain(self.fabric.deadlock()).collect();
        self.check_conservation(&outcome.totals, &inside, on_lines, outside);
        outcome
    }

    /// Counts the frames in queues and on lines.
    fn frames_inside(&self) -> Inside {
        let (mut data, mut headers, mut signals, mut acks) = (vec![0; self.records.len()], 0, 0, 0);
        for (_, slot) in self.fabric.frames.iter() {
            match slot.kind() {
                Kind::Data => data[self.fabric.flow_at(slot.hop).index()] += 1,
                Kind::Header => headers += 1,
                Kind::Signal => signals += 1,
                Kind::Ack => acks += 1,
            }
        }
        Inside { data, headers, signals, acks }
    }

    /// Adds the frames, signals and acknowledgements under way, and the counts that follow from them.
    fn add_up(&self, t: &mut Totals, inside: &Inside) {
        t.frames_discarded_at_source = t.frames_offered - t.frames_sent;
        t.frames_in_flight = inside.data.iter().sum();
        t.signals_in_flight = inside.signals;
        t.acks_in_flight = inside.acks;
        t.headers_in_flight = inside.headers;
        t.events = self.totals.events;
    }

    /// Nothing appears from nowhere and nothing vanishes: at each queue, on each line, for each flow, for signals.
    fn check_conservation(&self, t: &Totals, inside: &Inside, on_lines: &[u64], outside: u64) {
        let fabric = &self.fabric;
        let waiting = |queue: &QueueState| queue.waiting.iter(&fabric.frames).collect();
        let octets = |frame| u64::from(fabric.frames.get(frame).octets);
        let lines =
            Lines { ports: &fabric.ports, pauses: &fabric.pauses, on_lines, waiting: &waiting, octets: &octets };
        lines.check();
        let sent: Vec<u64> = self.sources.flows().iter().map(|flow| flow.sent()).collect();
        check_flows(&sent, &self.records, &inside.data);
        check_control(t);
        assert!(
            outside == self.ideal_in_flight,
            "{outside} signals travel outside of the network, {} have been sent and have not arrived",
            self.ideal_in_flight,
        );
    }
}

/// Ports and their frames, whatever the scheme: what is checked at the end of a run is compiled once.
struct Lines<'a> {
    ports: &'a [PortState],
    pauses: &'a Pauses,
    /// Frames on the line of each port, but for pause frames.
    on_lines: &'a [u64],
    /// The frames that wait in a queue.
    waiting: &'a dyn Fn(&QueueState) -> Vec<FrameId>,
    /// Octets of a frame.
    octets: &'a dyn Fn(FrameId) -> u64,
}

impl Lines<'_> {
    fn check(&self) {
        let pauses_on_lines = self.pauses.on_lines();
        for (index, p) in self.ports.iter().enumerate() {
            for (class, q) in (0..).map(TrafficClass).zip(&p.queues) {
                let waiting = (self.waiting)(q).len() as u64;
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
            for frame in p.queues.iter().flat_map(self.waiting).chain(serving) {
                if let Some(counter) = self.pauses.holder(frame) {
                    held[counter.index()] += (self.octets)(frame);
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
            let frames = (self.waiting)(q).into_iter().chain(serving);
            frames.map(move |frame| (QueueId(place as u32), frame, (self.octets)(frame)))
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

/// Data frames of each flow: those that its source `sent` and those that are `inside` the network.
fn check_flows(sent: &[u64], records: &[FlowRecord], inside: &[u64]) {
    for (index, f) in records.iter().enumerate() {
        let (sent, inside) = (sent[index], inside[index]);
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
