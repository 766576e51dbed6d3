//! The state of a run: everything but its observer and its course.

use penstock_schemes::{BitRate, Octets, Scheme};
use penstock_switch::Model;

use crate::engine::measure::{Counted, Reading, between, pass_all, restart_extremes};
use crate::hosts::Sources;
use crate::hosts::transport::Transports;
use crate::network::{FlowId, QueueId};
use crate::outcome::{Outcome, Totals};
use crate::probe::{FlowNow, QueueNow, View};
use crate::state::Fabric;
use crate::state::records::{FlowRecord, HostRecord};

/// The state of a run, without its observer.
#[derive(Debug)]
pub(crate) struct RunState<S: Scheme, M: Model> {
    pub(crate) fabric: Fabric<S, M>,
    pub(crate) sources: Sources<S>,
    /// How many flows last: those of the network. Slots after them are reused.
    pub(crate) static_flows: u32,
    /// The counts of each flow; those of flows that were forgotten are part of `totals`.
    pub(crate) records: Vec<FlowRecord>,
    pub(crate) transports: Transports,
    pub(crate) hosts: Vec<HostRecord>,
    pub(crate) totals: Totals,
    /// When the warm-up ended.
    pub(crate) measuring: Reading,
    /// The windows that are open: number, and opening.
    pub(crate) windows: Vec<(usize, Reading)>,
    /// Signals that travel outside of the network.
    pub(crate) ideal_in_flight: u64,
}

impl<S: Scheme, M: Model> View<S> for RunState<S, M> {
    fn queue(&self, queue: QueueId) -> QueueNow {
        let (port, class) = self.fabric.port_and_class(queue);
        let p = self.fabric.port(port);
        let q = &p.queues[class.index()];
        let marked = p.ledger.marks(class);
        QueueNow {
            len: Octets(q.len),
            frames: q.frames(),
            line_bits: p.sent_bits(self.fabric.now),
            scheduled_bits: p.scheduled_bits(self.fabric.now),
            dropped: p.dropped_data(class) - p.flushed(class),
            frames_sent: q.departed,
            octets_sent: Octets(q.sent_octets),
            frames_marked: marked.frames,
            octets_marked: Octets(marked.octets),
            paused: self.fabric.pauses.paused(queue, self.fabric.now),
        }
    }

    fn flow(&self, flow: FlowId) -> FlowNow {
        let (source, record) = (self.sources.flow(flow), &self.records[flow.index()]);
        let limiter = self.sources.limiter(source.limiter());
        FlowNow {
            allowed: if source.active() { limiter.rate() } else { BitRate::ZERO },
            delivered: Octets(record.delivered_octets / u64::from(record.destinations)),
            sent: source.sent_octets(),
            signals: record.signals,
            ended: record.ended,
        }
    }

    fn cp(&self, queue: QueueId) -> Option<&S::Cp> {
        self.fabric.cps.get(self.fabric.queue(queue).cp.index()).map(|state| &state.cp)
    }

    fn rp(&self, flow: FlowId) -> Option<&S::Rp> {
        self.sources.limiter(self.sources.flow(flow).limiter()).reaction_point()
    }
}

impl<S: Scheme, M: Model> RunState<S, M> {
    /// The warm-up has ended.
    pub(crate) fn start_measuring(&mut self) {
        self.measuring = self.read();
    }

    /// A window opens under its own number.
    pub(crate) fn open_window(&mut self, window: usize) {
        let start = self.read();
        self.windows.push((window, start));
    }

    /// The window closes; `None` if it is not open.
    pub(crate) fn close_window(&mut self, window: usize) -> Option<Outcome> {
        let (start, end) = self.take_window(window)?;
        Some(between(&start, &end, &start, &self.records))
    }

    /// The readings at the start and at the end of a window that closes.
    pub(crate) fn take_window(&mut self, window: usize) -> Option<(Reading, Reading)> {
        let index = self.windows.iter().position(|&(open, _)| open == window)?;
        let end = self.read();
        let (_, start) = self.windows.swap_remove(index);
        Some((start, end))
    }

    /// Brings everything to the present and reads it. Hands the extremes since the last reading to everything that is
    /// measured.
    pub(crate) fn read(&mut self) -> Reading {
        self.fabric.settle_all();
        for flow in (0..self.static_flows).map(FlowId) {
            self.pass_rate(flow);
        }
        let now = self.fabric.now;
        self.fabric.observed.histograms.pass_all(now, &self.fabric.ports);
        pass_all(now, &mut self.fabric.ports, &mut self.hosts, self.sources.flows_mut());
        let readings = self.windows.iter_mut().map(|(_, start)| start).chain([&mut self.measuring]);
        for start in readings {
            start.take_extremes(&self.fabric.ports, &self.fabric.pauses, &self.hosts);
        }
        restart_extremes(&mut self.fabric.ports, &mut self.fabric.pauses, &mut self.hosts);
        self.counted().reading()
    }

    /// Everything that is counted or summed.
    pub(crate) fn counted(&self) -> Counted<'_> {
        Counted {
            now: self.fabric.now,
            totals: self.totals,
            changes: self.sources.changes(),
            marked: self.fabric.frames.marked,
            ports: &self.fabric.ports,
            pauses: &self.fabric.pauses,
            histograms: &self.fabric.observed.histograms,
            points: &self.fabric.cps,
            flows: self.sources.flows(),
            records: &self.records,
            transports: &self.transports,
            static_flows: self.static_flows,
            hosts: &self.hosts,
        }
    }
}

impl<S: Scheme, M: Model> RunState<S, M> {
    /// Lets the sum of a flow's rate reach the present.
    pub(crate) fn pass_rate(&mut self, flow: FlowId) {
        let state = self.sources.flow(flow);
        let rate = self.sources.limiter(state.limiter()).rate();
        self.records[flow.index()].pass_rate(self.fabric.now, rate, state.active());
    }
}
