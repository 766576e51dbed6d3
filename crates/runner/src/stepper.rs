//! A run that a caller takes step by step and steers between two steps; see `penstock_sim::Steering`.

use std::sync::Arc;

use penstock_results::completions::Ending;
use penstock_results::{Course, Sampler, Summary};
use penstock_scenario::Plan;
use penstock_schemes::mixed::Mixed;
use penstock_schemes::{BitRate, Duration, Instant, SchemeConfig, Value};
use penstock_sim::network::{FlowId, NodeId, NodeKind, PortId};
use penstock_sim::probe::{Probe, QueueNow, View};
use penstock_sim::{Full, Sim, Steering};

use crate::RunError;
use crate::foreign::Foreigners;
use crate::memory::{self, Memory};

/// A run between two steps.
#[derive(Debug)]
pub struct Stepper {
    plan: Arc<Plan>,
    sim: Sim<Mixed, Watch, Full>,
    course: Course,
    steering: Steering,
    /// For each port with a congestion point, the values of the scheme's parameters there.
    tuned: Vec<(PortId, Vec<Value>)>,
    /// The hosts that send, in their order.
    senders: Vec<NodeId>,
    memory: Memory,
    over: bool,
    /// Those of the schemes that are foreign: each call looks after them.
    foreign: Vec<SchemeConfig>,
}

/// The probe that samples for the summary, and keeps no rows.
#[derive(Debug)]
struct Watch {
    interval: Duration,
    sampler: Sampler<Arc<Plan>>,
}

impl Stepper {
    /// The run of `plan`, before its first event.
    ///
    /// # Errors
    /// If there is not enough memory for the network, or a foreign scheme fails.
    pub fn new(plan: Arc<Plan>) -> Result<Self, RunError> {
        memory::check_network(&plan, 1)?;
        let network = &plan.network;
        let foreign: Vec<SchemeConfig> =
            plan.configs().into_iter().filter(|config| matches!(config, SchemeConfig::Foreign(_))).collect();
        let foreigners = Foreigners::new(&foreign);
        let watch = Watch { interval: plan.record.interval, sampler: Sampler::new(Arc::clone(&plan)) };
        let mut sim = Sim::<Mixed, _, Full>::new(network, &plan.configs(), plan.seed, watch);
        sim.feed(plan.generated.arrivals());
        plan.generated.work().into_iter().for_each(|work| sim.employ(work));
        sim.keep_histograms(if plan.record.percentiles { &plan.record.queues } else { &[] });
        sim.configure(network, plan.seed, plan.settings());
        let steering = Steering::new(network, plan.seed);
        let values = |port: PortId| plan.schemes[0].values_at(network.ports[port.index()].rate).to_vec();
        let tuned = steering.ports(network).into_iter().map(|port| (port, values(port))).collect();
        let sources = |node: &usize| {
            network.nodes[*node].kind == NodeKind::Host && plan.flow_ends.iter().any(|(source, _)| source == node)
        };
        let senders = (0..network.nodes.len()).filter(sources).map(|node| NodeId(node as u32)).collect();
        let (course, memory) = (Course::new(&plan), Memory::new(plan.limits));
        match foreigners.fault(sim.now()) {
            Some(failure) => Err(failure),
            None => Ok(Self { sim, course, steering, tuned, senders, memory, over: false, foreign, plan }),
        }
    }

    /// The plan of the run.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Simulated time.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.sim.now()
    }

    /// Whether the run has come to its end.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Goes on until `until`, or to the end of the run. How a run is cut into steps changes nothing in it.
    ///
    /// # Errors
    /// If more frames are in the network than the limits allow, or a foreign scheme fails.
    pub fn advance(&mut self, until: Instant) -> Result<(), RunError> {
        // Without a foreign scheme this costs no thread.
        let foreigners = (!self.foreign.is_empty()).then(|| Foreigners::new(&self.foreign));
        self.go_on(until)?;
        foreigners.and_then(|foreigners| foreigners.fault(self.sim.now())).map_or(Ok(()), Err)
    }

    fn go_on(&mut self, until: Instant) -> Result<(), RunError> {
        while let Some(stop) = self.course.next() {
            self.sim.run_until(stop.min(until));
            self.memory.check(self.sim.now(), self.sim.frames_held(), 0)?;
            if self.sim.now() < stop && !self.sim.is_over() {
                return Ok(());
            }
            self.course.measure(&mut self.sim, false);
        }
        self.over = true;
        Ok(())
    }

    /// The ports with congestion points, in their order.
    pub fn tuned_ports(&self) -> impl Iterator<Item = PortId> {
        self.tuned.iter().map(|&(port, _)| port)
    }

    /// The hosts that send, in their order.
    #[must_use]
    pub fn senders(&self) -> &[NodeId] {
        &self.senders
    }

    /// The value of a parameter of the scheme at the `place`-th port with a congestion point; nothing if there is none of that name.
    #[must_use]
    pub fn parameter(&self, place: usize, name: &str) -> Option<Value> {
        self.tuned.get(place)?.1.get(self.index(name)?).copied()
    }

    /// Gives parameters of the scheme other values at the `place`-th port with a congestion point, each of the kind that it has. False if
    /// the scheme has no such parameter or does not take such a value; then nothing has changed.
    pub fn retune(&mut self, place: usize, new: &[(&str, Value)]) -> bool {
        let Some((port, values)) = self.tuned.get(place) else { return false };
        let (port, mut values) = (*port, values.clone());
        for &(name, value) in new {
            let Some(index) = self.index(name) else { return false };
            values[index] = value;
        }
        if values == self.tuned[place].1 {
            return true;
        }
        let Some(config) = SchemeConfig::new(self.plan.schemes[0].config.info().name, &values) else { return false };
        self.sim.retune(&self.steering, port, &config);
        self.tuned[place].1 = values;
        true
    }

    /// The flows of a host send together no faster than `rate` from now on.
    pub fn cap(&mut self, host: NodeId, rate: BitRate) {
        self.sim.cap(host, rate);
    }

    /// The state of the first priority's queue at each port that can be tuned.
    pub fn queues(&mut self) -> Vec<QueueNow> {
        let network = &self.plan.network;
        let queue = |port: PortId| network.queue(port, network.priorities[0]);
        let queues: Vec<_> = self.tuned.iter().map(|&(port, _)| queue(port)).collect();
        let view = self.sim.look();
        queues.into_iter().map(|queue| view.queue(queue)).collect()
    }

    /// The summary of a run that has come to its end, as one without steps gives it, but for its object `run`.
    #[must_use]
    pub fn finish(self) -> Summary {
        let end = self.sim.now();
        let (outcome, watch) = self.sim.finish();
        let over = end < Instant::ZERO + self.plan.duration;
        let ending = Ending { end, interrupted: !self.over, over: over && self.over, wall_s: 0.0 };
        Summary::new(&self.plan, &outcome, &self.course.into_windows(), &watch.sampler.settling(), &ending)
    }

    fn index(&self, name: &str) -> Option<usize> {
        self.plan.schemes[0].config.info().parameters.iter().position(|parameter| parameter.name == name)
    }
}

impl Probe<Mixed> for Watch {
    fn interval(&self) -> Option<Duration> {
        Some(self.interval)
    }

    fn sample(&mut self, now: Instant, view: &impl View<Mixed>) {
        self.sampler.look_for_ends(|flow| view.flow(flow).ended);
        for i in 0..self.sampler.flows() {
            self.sampler.flow(now, i, view.flow(FlowId(i as u32)));
        }
        self.sampler.end_sample(now);
    }
}
