//! The probe that fills the tables, for every scheme.
//!
//! Rows leave in blocks, so that memory does not grow with simulated time when there is a results folder.

use penstock_results::Sampler;
use penstock_scenario::Plan;
use penstock_schemes::{BitRate, CongestionPoint, Duration, Instant, Octets, ReactionPoint, Scheme, Signal};
use penstock_sim::network::{FlowId, PortId, QueueId};
use penstock_sim::probe::{FlowNow, FrameSeen, Probe, QueueNow, SignalSeen, View};

use crate::RunError;
use crate::capture::Capture;
use crate::folder::Folder;
use crate::rows::{ArrivalRows, NameColumn, QueueRows, RateRows, SignalRows, TableWriter, VarColumns};
use crate::sink::{Records, Sink};
use crate::tables::{SchemeVars, Table};

/// Records a run. With `ARRIVALS` it can also record every arrival of a data frame, if the plan asks for it; that call costs
/// time at every hop.
#[derive(Debug)]
pub struct Recorder<'p, const ARRIVALS: bool> {
    plan: &'p Plan,
    sampler: Sampler<&'p Plan>,
    queues: TableWriter<QueueRows>,
    rates: TableWriter<RateRows>,
    signals: Option<TableWriter<SignalRows>>,
    arrivals: Option<TableWriter<ArrivalRows>>,
    recorded: RecordedQueues,
    /// For each flow whether it has a time series.
    flows: Vec<bool>,
    pub(crate) capture: Option<Capture<'p>>,
    failure: Option<RunError>,
}

/// Result of a recorder.
#[derive(Debug)]
pub(crate) struct Recording {
    /// Tables that are held in memory; none if they went to files.
    pub(crate) tables: Vec<(Table, Records)>,
    /// Settling time of each flow.
    pub(crate) settling: Vec<Option<Duration>>,
}

impl<'p, const ARRIVALS: bool> Recorder<'p, ARRIVALS> {
    /// A recorder for `plan` under scheme `S`, which must be the plan's, that keeps its records in memory.
    ///
    /// # Panics
    /// Never: memory takes every table.
    #[must_use]
    pub fn in_memory<S: Scheme>(plan: &'p Plan) -> Self {
        Self::new(plan, &SchemeVars::of::<S>(), None).expect("memory takes every table")
    }

    /// A recorder for `plan` under a scheme with these variables, that writes to `folder`, or without one keeps its records in
    /// memory.
    pub(crate) fn new(plan: &'p Plan, vars: &SchemeVars, folder: Option<&Folder>) -> Result<Self, RunError> {
        let flow_control = plan.network.pfc.is_some();
        let recorded = RecordedQueues::new(plan);
        let flows = || NameColumn::new(plan.flow_names.iter().map(String::as_str)).and_generated(&plan.generated);
        let ports = || NameColumn::new(plan.port_names.iter().map(String::as_str));
        let queue_rows = QueueRows {
            queue: recorded.names(plan),
            paused_s: flow_control.then(Vec::new),
            vars: VarColumns::new(vars.cp.len()),
            ..QueueRows::default()
        };
        let rate_rows = RateRows { flow: flows(), vars: VarColumns::new(vars.rp.len()), ..RateRows::default() };
        let signal_rows = SignalRows {
            flow: flows(),
            queue: ports(),
            vars: VarColumns::new(vars.signal.len()),
            ..SignalRows::default()
        };
        let arrival_rows = ArrivalRows { queue: recorded.names(plan), flow: flows(), ..ArrivalRows::default() };
        let schema = |table: Table| table.schema(vars, flow_control);
        let sink = |table: Table| Sink::new(table, schema(table), folder);
        Ok(Self {
            plan,
            sampler: Sampler::new(plan),
            queues: TableWriter::new(schema(Table::Queues), queue_rows, sink(Table::Queues)?),
            rates: TableWriter::new(schema(Table::Rates), rate_rows, sink(Table::Rates)?),
            signals: if plan.record.signals {
                Some(TableWriter::new(schema(Table::Signals), signal_rows, sink(Table::Signals)?))
            } else {
                None
            },
            arrivals: if ARRIVALS && plan.record.arrivals {
                Some(TableWriter::new(schema(Table::Arrivals), arrival_rows, sink(Table::Arrivals)?))
            } else {
                None
            },
            capture: None,
            recorded,
            flows: plan.record.flows.marks(),
            failure: None,
        })
    }

    /// The same recorder, which also captures frames.
    pub(crate) fn capturing(self, capture: Option<Capture<'p>>) -> Self {
        Self { capture, ..self }
    }

    /// Whether a record could not be written. Nothing is recorded after that.
    pub(crate) fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Rows of all tables that stay in memory.
    pub(crate) fn rows_kept(&self) -> usize {
        let of_signals = self.signals.as_ref().map_or(0, TableWriter::rows_kept);
        let of_arrivals = self.arrivals.as_ref().map_or(0, TableWriter::rows_kept);
        self.queues.rows_kept() + self.rates.rows_kept() + of_signals + of_arrivals
    }

    /// Ends the tables.
    pub(crate) fn finish(self) -> Result<Recording, RunError> {
        if let Some(error) = self.failure {
            return Err(error);
        }
        self.capture.map(Capture::close).transpose()?;
        let ended = [
            (Table::Queues, self.queues.close()?),
            (Table::Rates, self.rates.close()?),
            (Table::Signals, self.signals.map(TableWriter::close).transpose()?.flatten()),
            (Table::Arrivals, self.arrivals.map(TableWriter::close).transpose()?.flatten()),
        ];
        Ok(Recording {
            tables: ended.into_iter().filter_map(|(table, records)| Some((table, records?))).collect(),
            settling: self.sampler.settling(),
        })
    }

    fn sample_queues<S: Scheme>(&mut self, now: Instant, view: &impl View<S>) -> Result<(), RunError> {
        for (i, &queue) in self.plan.record.queues.iter().enumerate() {
            self.write_queue(now, i, view.queue(queue), view.cp(queue).map(|cp| |row: &mut [i64]| cp.vars(row)))?;
        }
        Ok(())
    }

    /// A sample of the `i`-th recorded queue.
    pub(crate) fn write_queue(
        &mut self,
        now: Instant,
        i: usize,
        state: QueueNow,
        vars: Option<impl FnOnce(&mut [i64])>,
    ) -> Result<(), RunError> {
        let sample = self.sampler.queue(i, state);
        let (name, priority) = self.recorded.places[i];
        self.queues.write(|rows| {
            rows.time_s.push(now.as_seconds());
            rows.queue.push(name);
            rows.priority.push(priority);
            rows.queue_octets.push(sample.len.0);
            rows.queue_frames.push(sample.frames);
            rows.utilization.push(sample.utilization);
            rows.frames_dropped.push(sample.dropped);
            rows.frames_sent.push(sample.frames_sent);
            rows.octets_sent.push(sample.octets_sent.0);
            rows.frames_marked.push(sample.frames_marked);
            rows.octets_marked.push(sample.octets_marked.0);
            if let Some(paused_s) = &mut rows.paused_s {
                paused_s.push(sample.paused.as_seconds());
            }
            rows.vars.push(vars);
        })
    }

    fn sample_flows<S: Scheme>(&mut self, now: Instant, view: &impl View<S>) -> Result<(), RunError> {
        self.look_for_ends(|flow| view.flow(flow).ended);
        for i in 0..self.sampler.flows() {
            let flow = FlowId(i as u32);
            self.write_flow(now, i, view.flow(flow), view.rp(flow).map(|rp| |row: &mut [i64]| rp.vars(row)))?;
        }
        Ok(())
    }

    /// A sample of the `i`-th flow: all settle, and those that have time series are written.
    pub(crate) fn write_flow(
        &mut self,
        now: Instant,
        i: usize,
        state: FlowNow,
        vars: Option<impl FnOnce(&mut [i64])>,
    ) -> Result<(), RunError> {
        let sample = self.sampler.flow(now, i, state);
        if !self.flows[i] {
            return Ok(());
        }
        self.rates.write(|rows| {
            rows.time_s.push(now.as_seconds());
            rows.flow.push(i);
            rows.rate_bps.push(sample.rate.0);
            rows.throughput_bps.push(sample.throughput_bps);
            rows.fair_rate_bps.push(sample.fair_rate_bps);
            rows.vars.push(vars);
        })
    }

    /// When each flow with a size ended, if it has: before the flows' samples of an instant.
    pub(crate) fn look_for_ends(&mut self, ended: impl Fn(FlowId) -> Option<Instant>) {
        self.sampler.look_for_ends(ended);
    }

    /// All samples of `now` are written.
    pub(crate) fn end_sample(&mut self, now: Instant) {
        self.sampler.end_sample(now);
    }

    /// A signal that has reached the source of `flow`, from `origin`, and the rate allowed after it.
    pub(crate) fn write_signal(
        &mut self,
        now: Instant,
        flow: FlowId,
        origin: Option<QueueId>,
        rate: BitRate,
        vars: impl FnOnce(&mut [i64]),
    ) -> Result<(), RunError> {
        let Some(table) = &mut self.signals else { return Ok(()) };
        let origin = origin.and_then(|queue| self.plan.network.port_and_priority(queue)).map(|(port, _)| port.index());
        table.write(|rows| {
            rows.time_s.push(now.as_seconds());
            rows.flow.push(flow.index());
            rows.queue.push_option(origin);
            rows.rate_bps.push(rate.0);
            rows.vars.push(Some(vars));
        })
    }

    /// Keeps the first failure. The engine knows no errors, so it waits here until the run's driver asks.
    pub(crate) fn unless_failed(&mut self, record: impl FnOnce(&mut Self) -> Result<(), RunError>) {
        if self.failure.is_none() {
            self.failure = record(self).err();
        }
    }
}

impl<S: Scheme, const ARRIVALS: bool> Probe<S> for Recorder<'_, ARRIVALS> {
    const ARRIVALS: bool = ARRIVALS;

    fn sees_arrivals(&self) -> bool {
        self.arrivals.is_some()
    }

    fn interval(&self) -> Option<Duration> {
        Some(self.plan.record.interval)
    }

    fn sample(&mut self, now: Instant, view: &impl View<S>) {
        self.unless_failed(|recorder| {
            recorder.sample_queues(now, view)?;
            recorder.sample_flows(now, view)?;
            recorder.end_sample(now);
            Ok(())
        });
    }

    fn signal(&mut self, now: Instant, seen: &SignalSeen<'_, S>) {
        self.unless_failed(|recorder| {
            recorder.write_signal(now, seen.flow, seen.origin, seen.rate, |row| seen.signal.vars(row))
        });
    }

    fn captured_ports(&self) -> &[PortId] {
        self.capture.as_ref().map_or(&[], Capture::ports)
    }

    fn frame(&mut self, seen: &FrameSeen<'_, S>) {
        self.unless_failed(|recorder| recorder.capture.as_mut().map_or(Ok(()), |capture| capture.take(seen)));
    }

    fn arrival(&mut self, now: Instant, queue: QueueId, flow: FlowId, len: Octets, dropped: bool) {
        self.unless_failed(|recorder| {
            let (Some(table), Some((name, priority))) = (&mut recorder.arrivals, recorder.recorded.find(queue)) else {
                return Ok(());
            };
            table.write(|rows| {
                rows.time_s.push(now.as_seconds());
                rows.queue.push(name);
                rows.priority.push(priority);
                rows.flow.push(flow.index());
                rows.queue_octets.push(len.0);
                rows.dropped.push(dropped);
            })
        });
    }
}

/// The queues that are recorded.
#[derive(Debug)]
struct RecordedQueues {
    /// Their ports, each once, in order of appearance: several queues of a port share its name.
    ports: Vec<usize>,
    /// For each queue its port's index in `ports`, and its priority.
    places: Vec<(usize, u8)>,
    /// For each queue of the network, its index in `places` if it is recorded.
    index: Vec<Option<u32>>,
}

impl RecordedQueues {
    fn new(plan: &Plan) -> Self {
        let network = &plan.network;
        let mut ports = Vec::new();
        let mut known = vec![None; network.ports.len()];
        let mut index = vec![None; network.ports.len() * network.queues_per_port()];
        let mut place = |(i, &queue): (usize, &QueueId)| {
            index[queue.index()] = Some(i as u32);
            let (port, priority) = network.port_and_priority(queue).expect("only data queues are recorded");
            let name = *known[port.index()].get_or_insert_with(|| {
                ports.push(port.index());
                ports.len() - 1
            });
            (name, priority)
        };
        let places = plan.record.queues.iter().enumerate().map(&mut place).collect();
        Self { ports, places, index }
    }

    fn names(&self, plan: &Plan) -> NameColumn {
        NameColumn::new(self.ports.iter().map(|&port| plan.port_names[port].as_str()))
    }

    fn find(&self, queue: QueueId) -> Option<(usize, u8)> {
        self.index[queue.index()].map(|i| self.places[i as usize])
    }
}

#[cfg(test)]
mod tests {
    use penstock_scenario::{Choice, Scenario};
    use penstock_schemes::{SchemeConfig, qcn::Qcn};
    use penstock_sim::{Full, Sim};

    use super::*;
    use crate::file::ROWS_PER_GROUP;
    use crate::rows::ROWS_PER_BLOCK;

    /// Some 400 000 frames a second come to one queue, and each is recorded.
    const BUSY: &str = r#"
        question = "How many rows are held?"
        duration = "1 s"
        scheme = "qcn"
        [topology.star]
        hosts = 2
        link_rate = "5 Gbps"
        buffer = "150 KB"
        [[flow]]
        from = "h0"
        to = "h1"
        [record]
        arrivals = true
    "#;

    #[test]
    fn the_rows_in_memory_do_not_grow_with_simulated_time() {
        let plan = Scenario::parse(BUSY, "busy.toml", "busy").unwrap().plan(&Choice::default()).unwrap();
        let SchemeConfig::Qcn(config) = &plan.schemes[0].config else { panic!("not QCN") };
        let root = tempfile::tempdir().unwrap();
        let folder = Folder::create(&root.path().join("out"), false, crate::Holds::Results).unwrap();
        let recorder = Recorder::<true>::new(&plan, &SchemeVars::of::<Qcn>(), Some(&folder)).unwrap();
        let mut sim = Sim::<Qcn, _, Full>::new(&plan.network, std::slice::from_ref(config), plan.seed, recorder);
        let mut most = 0;
        for ms in (0..=1000).step_by(10) {
            sim.run_until(Instant(ms * 1_000_000_000));
            let arrivals = sim.probe().arrivals.as_ref().expect("arrivals are recorded");
            most = most.max(arrivals.rows_held());
        }
        let (outcome, recorder) = sim.finish();
        assert!(outcome.totals.frames_sent as usize > 2 * (ROWS_PER_GROUP + ROWS_PER_BLOCK));
        assert!(most <= ROWS_PER_GROUP + ROWS_PER_BLOCK, "{most} rows held");
        assert!(recorder.finish().unwrap().tables.is_empty(), "a table stayed in memory");
    }
}
