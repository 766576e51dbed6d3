//! The end of a run: the check of conservation, and the [`Outcome`].

use penstock_schemes::{Duration, Scheme};

use crate::engine::State;
use crate::frame::{NONE, Payload};
use crate::outcome::{FlowOutcome, HostOutcome, Outcome, QueueOutcome, moments};
use crate::port::{PortState, QueueState};

impl<S: Scheme, const PFC: bool> State<S, PFC> {
    /// Brings everything to the present, checks conservation, sums up. Ports are settled; `on_lines` counts the frames on
    /// the line of each.
    pub(crate) fn sum_up(&mut self, on_lines: &[u64]) -> Outcome {
        self.fabric.pass_all();
        self.pass_rates();
        let now = self.fabric.now;
        for flow in self.flows.iter_mut().filter(|f| f.started) {
            // What is made at the very end belongs to a time after it, as any other event at the end.
            flow.generator.advance(now.saturating_sub(1));
        }
        let inside = self.frames_inside();
        self.add_up(&inside);
        self.check_conservation(&inside, on_lines);
        let measured = now - self.measuring_since;
        Outcome {
            totals: self.totals,
            queues: self.queue_outcomes(measured),
            flows: self.flow_outcomes(measured),
            hosts: self.host_outcomes(measured),
            measured: Duration(measured),
        }
    }

    /// Data frames of each flow in queues and on lines, and the number of signals there.
    fn frames_inside(&self) -> (Vec<u64>, u64) {
        let (mut data, mut signals) = (vec![0; self.flows.len()], 0);
        for (_, slot) in self.fabric.frames.iter() {
            match slot.payload {
                Payload::Data(_) => data[slot.flow as usize] += 1,
                Payload::Down(_) | Payload::Up { .. } => signals += 1,
            }
        }
        (data, signals)
    }

    fn add_up(&mut self, inside: &(Vec<u64>, u64)) {
        let t = &mut self.totals;
        for flow in &self.flows {
            t.frames_offered += flow.generator.offered;
            t.frames_sent += flow.sent;
            t.frames_delivered += flow.delivered;
            t.frames_dropped += flow.dropped;
            t.frames_lost_on_link += flow.lost;
        }
        t.frames_discarded_at_source = t.frames_offered - t.frames_sent;
        t.pause_frames = self.fabric.pauses.lines.iter().map(|line| line.sent).sum();
        t.packet_hops = self.fabric.ports.iter().map(|p| p.hops).sum();
        t.frames_in_flight = inside.0.iter().sum();
        t.signals_in_flight = inside.1;
    }

    /// Nothing appears from nowhere and nothing vanishes: at each queue, on each line, for each flow, for signals.
    fn check_conservation(&self, inside: &(Vec<u64>, u64), on_lines: &[u64]) {
        let fabric = &self.fabric;
        let pauses_on_lines = fabric.pauses.on_lines();
        for (index, p) in fabric.ports.iter().enumerate() {
            for (class, q) in p.queues.iter().enumerate() {
                let waiting = q.waiting.iter(&fabric.frames).count() as u64;
                let counted = u64::from(q.frames());
                assert!(
                    counted == waiting + u64::from(p.serves(class)),
                    "queue {class} of port {index}: {} frames arrived, {} were dropped, {} departed, {waiting} wait",
                    q.arrived,
                    q.dropped,
                    q.departed,
                );
            }
            let serving = (0..p.queues.len()).filter(|&class| p.serves(class)).count() as u64;
            let pauses_on_line = pauses_on_lines.get(index).copied().unwrap_or(0);
            let pauses = self.check_pauses(index, pauses_on_line);
            let started = p.queues.iter().map(|q| q.departed).sum::<u64>() + serving + pauses;
            let on_line = on_lines[index] + pauses_on_line;
            assert!(
                started == p.hops + p.ledger.lost + on_line,
                "line of port {index}: {started} frames started, {} delivered, {} lost, {on_line} on the line",
                p.hops,
                p.ledger.lost,
            );
        }
        self.check_ingress();
        for (index, f) in self.flows.iter().enumerate() {
            let inside = inside.0[index];
            assert!(
                f.sent + f.copies == f.delivered + f.dropped + f.lost + inside,
                "flow {index}: {} frames sent, {} copies, {} delivered, {} dropped, {} lost on links, {inside} inside",
                f.sent,
                f.copies,
                f.delivered,
                f.dropped,
                f.lost,
            );
        }
        let t = &self.totals;
        assert!(
            t.signals_sent
                == t.feedback_frames + t.signals_discarded + t.probes_delivered + t.signals_lost + t.signals_in_flight,
            "signals: {t:?}"
        );
        let placed = fabric.ports.iter().flat_map(|p| &p.queues).map(|q| q.waiting.iter(&fabric.frames).count() as u64);
        let (waiting, on_line) = (placed.sum::<u64>(), on_lines.iter().sum::<u64>());
        assert!(
            waiting + on_line + self.ideal_in_flight == t.frames_in_flight + t.signals_in_flight,
            "{waiting} frames wait, {on_line} are on lines, {} outside; {} data frames and {} signals are under way",
            self.ideal_in_flight,
            t.frames_in_flight,
            t.signals_in_flight,
        );
    }

    /// Ingress counters count the frames that are there.
    fn check_ingress(&self) {
        let fabric = &self.fabric;
        let counted = fabric.pauses.held();
        let mut held = vec![0; counted.len()];
        for p in &fabric.ports {
            let serving = (p.in_service != NONE).then_some(p.in_service_frame);
            let waiting = p.queues.iter().flat_map(|q| q.waiting.iter(&fabric.frames));
            for frame in waiting.chain(serving) {
                if let Some(counter) = fabric.pauses.holder(frame) {
                    held[counter] += u64::from(fabric.frames.get(frame).octets);
                }
            }
        }
        assert!(counted == held, "ingress counters say {counted:?}, the frames there have {held:?} octets");
    }

    /// Pause frames neither appear nor vanish; `on_line` of them are on the line of `port`. Returns how many it sent.
    fn check_pauses(&self, port: usize, on_line: u64) -> u64 {
        let Some(line) = self.fabric.pauses.lines.get(port) else { return 0 };
        assert!(
            line.sent == line.arrived + line.lost + on_line,
            "pause frames on the line of port {port}: {} sent, {} arrived, {} lost, {on_line} on the line",
            line.sent,
            line.arrived,
            line.lost,
        );
        line.sent
    }

    fn queue_outcomes(&self, measured: u64) -> Vec<QueueOutcome> {
        let fabric = &self.fabric;
        let outcome = |p: &PortState, q: &QueueState, queue: u32| {
            let s = &q.statistics;
            let (mean_octets, std_octets) = moments(measured, s.area, s.area_squared as f64);
            let scheduled = p.scheduled_bits(fabric.now) - p.ledger.scheduled_before;
            let sent = p.sent_bits(fabric.now) - p.ledger.bits_before;
            QueueOutcome {
                mean_octets,
                std_octets,
                min_octets: s.min,
                max_octets: s.max,
                empty_fraction: ratio(s.empty.into(), measured.into()),
                utilization: ratio(u128::from(sent), scheduled),
                frames_arrived: q.arrived,
                frames_dropped: q.dropped,
                feedback_frames: fabric.cps.get(q.cp as usize).map_or(0, |cp| cp.signals),
                paused: Duration(fabric.pauses.paused(queue, fabric.now)),
                pause_frames: fabric.pauses.pause_frames(queue),
            }
        };
        let queues = fabric.ports.iter().flat_map(|p| p.queues.iter().map(move |q| (p, q)));
        queues.zip(0..).map(|((p, q), queue)| outcome(p, q, queue)).collect()
    }

    fn flow_outcomes(&self, measured: u64) -> Vec<FlowOutcome> {
        let outcome = |f: &crate::source::FlowState| {
            let bits = (f.delivered_octets - f.delivered_before) as f64 * 8.0 / f64::from(f.destinations);
            let seconds = Duration(measured).as_seconds();
            let (mean_rate_bps, std_rate_bps) = f.rate_moments();
            FlowOutcome {
                throughput_bps: if measured == 0 { 0.0 } else { bits / seconds },
                mean_rate_bps,
                std_rate_bps,
                frames_offered: f.generator.offered,
                frames_sent: f.sent,
                frames_delivered: f.delivered,
                frames_dropped: f.dropped,
                frames_lost: f.lost,
                copies_made: f.copies,
                feedback_received: f.signals,
                probes_returned: f.probes,
                completed: f.completed,
            }
        };
        self.flows.iter().map(outcome).collect()
    }

    fn host_outcomes(&self, measured: u64) -> Vec<HostOutcome> {
        let outcome = |h: &crate::source::HostState| HostOutcome {
            rate_limiters_mean: moments(measured, h.area, 0.0).0,
            rate_limiters_max: h.most,
        };
        self.hosts.iter().map(outcome).collect()
    }
}

fn ratio(part: u128, whole: u128) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
