//! A run that a caller takes step by step and steers between two steps; see `penstock_sim::Steering`.

use std::sync::Arc;

use penstock_results::completions::Ending;
use penstock_results::{Course, Summary};
use penstock_scenario::Plan;
use penstock_schemes::mixed::Mixed;
use penstock_schemes::{BitRate, Duration, HEADER, Instant, ReactionPoint, Scheme, SchemeConfig, Value};
use penstock_sim::network::{FlowId, NodeId, NodeKind, PortId};
use penstock_sim::probe::{QueueNow, View};
use penstock_sim::{Full, Sim, Steering};

use crate::RunError;
use crate::followed::{Learnt, Pauses, Watch};
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

/// Why nobody else can decide on the rates of a run's flows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotFree {
    /// The scheme has no least rate that could hold its sources at the line's.
    NoLeastRate,
    /// It has windows, which would go on to limit flows.
    Window,
    /// Flows have one rate limiter in common.
    Shared,
    /// The scenario lists no flows that a scheme controls.
    NoFlows,
}

impl Stepper {
    /// The run of `plan`, before its first event.
    ///
    /// # Errors
    /// If there is not enough memory for the network, or a foreign scheme fails.
    pub fn new(plan: Arc<Plan>) -> Result<Self, RunError> {
        let configs = plan.configs();
        Self::with_configs(plan, &configs)
    }

    /// The same, in which somebody looks at flows, and pauses the run for them as `pauses` says. With `held` the caller alone decides on
    /// their rates: congestion points, notification points and signals are those of the scheme, whose sources stay at the rate of their
    /// lines, since their least rate is that.
    ///
    /// # Errors
    /// If there is not enough memory for the network; inside, if the scheme or the scenario does not permit it.
    pub fn by_flow(plan: Arc<Plan>, pauses: Pauses, held: bool) -> Result<Result<Self, NotFree>, RunError> {
        let network = &plan.network;
        if network.flows.is_empty() || network.flows.iter().any(|flow| flow.reaction_point.is_none()) {
            return Ok(Err(NotFree::NoFlows));
        }
        let values = plan.schemes.iter().map(|own| &own.values);
        let of_lines = plan.schemes.iter().flat_map(|own| own.lines.iter().map(|line| &line.values));
        let own = |(values, config): (&Vec<Value>, SchemeConfig)| match held {
            true => at_line_rate(&config, values),
            false => Some(config),
        };
        let configs: Option<Vec<SchemeConfig>> = values.chain(of_lines).zip(plan.configs()).map(own).collect();
        let Some(configs) = configs else { return Ok(Err(NotFree::NoLeastRate)) };
        let mut own = Self::with_configs(plan, &configs)?;
        let flows = own.plan.network.flows.len();
        for flow in (0..flows).map(|flow| FlowId(flow as u32)) {
            if !own.sim.is_alone(flow) {
                return Ok(Err(NotFree::Shared));
            }
            if held && own.sim.look().rp(flow).is_some_and(|rp| rp.allowance().window.is_some()) {
                return Ok(Err(NotFree::Window));
            }
        }
        own.sim.probe_mut().follow(flows, pauses);
        Ok(Ok(own))
    }

    fn with_configs(plan: Arc<Plan>, configs: &[SchemeConfig]) -> Result<Self, RunError> {
        memory::check_network(&plan, 1)?;
        let network = &plan.network;
        let foreign: Vec<SchemeConfig> =
            configs.iter().filter(|config| matches!(config, SchemeConfig::Foreign(_))).cloned().collect();
        let foreigners = Foreigners::new(&foreign);
        // As in drive.rs: this crate's own tests compile no engine.
        if cfg!(test) {
            unreachable!("whole runs are tested in tests/runner");
        }
        let mut sim = Sim::<Mixed, _, Full>::new(network, configs, plan.seed, Watch::new(&plan));
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

    /// Goes on until `until`, to a pause, or to the end of the run. How a run is cut into steps changes nothing in it.
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
            let mut paused = false;
            while !paused && !self.sim.run_slice(stop.min(until), u64::MAX) {
                paused = self.sim.probe_mut().goes_on();
            }
            self.memory.check(self.sim.now(), self.sim.frames_held(), 0)?;
            if paused || (self.sim.now() < stop && !self.sim.is_over()) {
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

    /// A flow sends no faster than `rate` from now on.
    ///
    /// # Panics
    /// If the scenario lists no such flow.
    pub fn cap_flow(&mut self, flow: usize, rate: BitRate) {
        self.sim.cap_flow(FlowId(flow as u32), rate);
    }

    /// What the source of a flow has learnt, in a run [`by_flow`](Self::by_flow).
    ///
    /// # Panics
    /// If the scenario lists no such flow.
    #[must_use]
    pub fn learnt(&self, flow: usize) -> Learnt {
        self.sim.probe().learnt(flow)
    }

    /// Whether the run has paused for a flow since the last such question.
    ///
    /// # Panics
    /// If the scenario lists no such flow.
    pub fn take_due(&mut self, flow: usize) -> bool {
        self.sim.probe_mut().take_due(flow)
    }

    /// The run pauses once the flow has sent this number of further octets; with `None` not for that.
    ///
    /// # Panics
    /// If the scenario lists no such flow.
    pub fn wake_after(&mut self, flow: usize, octets: Option<u64>) {
        self.sim.probe_mut().wake_after(flow, octets);
    }

    /// The run pauses for the flow at this time, which is not before now; with `None` at none.
    ///
    /// # Panics
    /// If the scenario lists no such flow.
    pub fn wake_at(&mut self, flow: usize, at: Option<Instant>) {
        self.sim.probe_mut().wake_at(flow, at.unwrap_or(Instant::NEVER));
        if let Some(at) = at {
            self.sim.wake(FlowId(flow as u32), at.max(self.sim.now()));
        }
    }

    /// The rate that a flow may use now.
    ///
    /// # Panics
    /// If the scenario lists no such flow.
    #[must_use]
    pub fn rate_of(&self, flow: usize) -> BitRate {
        self.sim.rate_of(FlowId(flow as u32))
    }

    /// Whether a flow has been completed or stopped.
    ///
    /// # Panics
    /// If the scenario lists no such flow.
    #[must_use]
    pub fn has_ended(&self, flow: usize) -> bool {
        self.sim.has_ended(FlowId(flow as u32))
    }

    /// The round trip of a flow's longest frame and its acknowledgement through the empty network; zero where there is no path.
    ///
    /// # Panics
    /// If the scenario lists no such flow.
    #[must_use]
    pub fn round_trip(&self, flow: usize) -> Duration {
        let (network, id) = (&self.plan.network, FlowId(flow as u32));
        let priority = network.flows[flow].priority;
        let own = self.plan.schemes.iter().find(|own| own.priority == priority);
        let echo = own.map_or(0, |own| Mixed::echo_octets(&own.config));
        network.round_trip(id, HEADER + echo).unwrap_or_default()
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
        Summary::new(&self.plan, &outcome, &self.course.into_windows(), &watch.sampler().settling(), &ending)
    }

    fn index(&self, name: &str) -> Option<usize> {
        self.plan.schemes[0].config.info().parameters.iter().position(|parameter| parameter.name == name)
    }
}

/// The scheme of a configuration, whose sources stay at the rate of their lines; `None` if they have no least rate.
fn at_line_rate(config: &SchemeConfig, values: &[Value]) -> Option<SchemeConfig> {
    let info = config.info();
    let least = info.parameters.iter().position(|parameter| parameter.name == "min_rate")?;
    let mut values = values.to_vec();
    values[least] = Value::Rate(BitRate(u64::MAX));
    SchemeConfig::new(info.name, &values)
}
