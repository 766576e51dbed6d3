//! Parameters of schemes that change during a run.

use penstock_endpoint::{DestinationId, LimiterId, TrafficClass};
use penstock_schemes::{BitRate, CongestionPoint, Instant, Scheme};
use penstock_switch::Model;
use penstock_switch::config::configuration;
use penstock_switch::datapath::setup::{CpQueue, cp_queues};
use penstock_switch::events::CpIndex;

use crate::engine::Sim;
use crate::engine::setup::classes_of_reaction_points;
use crate::network::{Network, PortId};
use crate::probe::Probe;
use crate::state::event::{Event, ReconfigurationId};

/// From `at` on, the scheme of a priority has these parameters.
#[derive(Debug, Clone)]
pub struct Reconfiguration<C> {
    /// The time of the change.
    pub at: Instant,
    /// One of [`Network::priorities`].
    pub priority: u8,
    /// One of its [`Network::own_lines`]: the parameters at these ports alone. `None`: at all others.
    pub line: Option<BitRate>,
    /// All parameters from then on.
    pub config: C,
}

/// The changes of a run, and the points that take them.
#[derive(Debug)]
pub(crate) struct Reconfigurations<S: Scheme> {
    list: Vec<(TrafficClass, usize, S::Config)>,
    /// The queues with congestion points, in their order.
    queues: Vec<CpQueue>,
    /// The class of each of the network's reaction points.
    classes: Vec<TrafficClass>,
    /// The rates that ports start with.
    lines: Vec<BitRate>,
    /// For each class, which of the configurations each port has.
    of_port: Vec<Vec<usize>>,
}

impl<S: Scheme, P: Probe<S>, M: Model> Sim<S, P, M> {
    /// Parameters change during the run: `reconfigurations`, in order of time; of several at one instant and priority the last counts. `network` and
    /// `seed` are those of the run. To be called once, before the run begins.
    ///
    /// # Panics
    /// If the network does not have one of the priorities.
    pub fn configure(&mut self, network: &Network, seed: u64, reconfigurations: Vec<Reconfiguration<S::Config>>) {
        if reconfigurations.is_empty() {
            return;
        }
        for (id, change) in (0..).map(ReconfigurationId).zip(&reconfigurations) {
            self.state.fabric.events.schedule(change.at, Event::Configure(id));
        }
        let listed = |change: Reconfiguration<S::Config>| {
            let class = network.class(change.priority);
            let slot = change.line.map_or(class.index(), |line| {
                configuration(&network.priorities, &network.own_lines, class.index(), line)
            });
            (class, slot, change.config)
        };
        let ports = || (0..network.ports.len() as u32).map(PortId);
        let of_class = |&priority: &u8| {
            let class = network.class(priority);
            ports().map(|port| network.configuration(class, port)).collect()
        };
        self.reconfigurations = Some(Box::new(Reconfigurations {
            list: reconfigurations.into_iter().map(listed).collect(),
            queues: cp_queues(&network.switches(), seed),
            classes: classes_of_reaction_points(network),
            lines: network.ports.iter().map(|port| port.rate).collect(),
            of_port: network.priorities.iter().map(of_class).collect(),
        }));
    }

    /// A change is due: all points of its priority go by other parameters.
    pub(crate) fn change_parameters(&mut self, id: ReconfigurationId) {
        // It happens in all parts, and is no event of the network.
        self.housekeeping += 1;
        let Some(reconfigurations) = self.reconfigurations.take() else { return };
        let (class, slot, config) = &reconfigurations.list[id.0 as usize];
        let has = |port: PortId| reconfigurations.of_port[class.index()][port.index()] == *slot;
        self.configure_congestion_points(&reconfigurations.queues, *class, has, config);
        self.configure_reaction_points(&reconfigurations, *class, has, config);
        self.configure_notification_points(*class, has, config);
        self.dynamic_flows.configure(*slot, config.clone());
        self.reconfigurations = Some(reconfigurations);
    }

    fn configure_congestion_points(
        &mut self,
        queues: &[CpQueue],
        class: TrafficClass,
        has: impl Fn(PortId) -> bool,
        config: &S::Config,
    ) {
        let fabric = &mut self.state.fabric;
        // Departures until now are seen under the old parameters.
        fabric.settle_all();
        for ((index, state), queue) in (0..).map(CpIndex).zip(&mut fabric.cps).zip(queues) {
            let port = PortId(state.queue.0 / fabric.per_port);
            if queue.class == class.index() && has(port) && self.part.as_ref().is_none_or(|part| part.has_port(port)) {
                state.cp.configure(config, queue.place);
                state.arm(&mut fabric.events, index);
            }
        }
    }

    fn configure_reaction_points(
        &mut self,
        reconfigurations: &Reconfigurations<S>,
        class: TrafficClass,
        has: impl Fn(PortId) -> bool,
        config: &S::Config,
    ) {
        for id in (0..self.state.sources.limiters().len() as u32).map(LimiterId) {
            let limiter = self.state.sources.limiter(id);
            let of_flow = || limiter.flows().first().map(|&flow| self.state.sources.flow(flow).class());
            let of_limiter = reconfigurations.classes.get(id.index()).copied().or_else(of_flow);
            let port = limiter.port();
            if of_limiter == Some(class) && has(port) && self.part.as_ref().is_none_or(|part| part.has_port(port)) {
                let line = reconfigurations.lines[port.index()];
                self.with_limiter(id, |sources, now, host| sources.configure(now, id, config, line, host));
            }
        }
    }

    fn configure_notification_points(&mut self, class: TrafficClass, has: impl Fn(PortId) -> bool, config: &S::Config) {
        let events = &mut self.state.fabric.events;
        for (index, (destination, leaf)) in self.destinations.iter_mut().zip(&self.leaves).enumerate() {
            let flow = self.end_of_hop[leaf.index()].flow;
            let port = self.hops[leaf.index()].port;
            let own = self.part.as_ref().is_none_or(|part| part.partition.beyond(port) == part.own);
            if own && has(port) && self.dynamic_flows.is_there(flow) && self.state.sources.flow(flow).class() == class {
                destination.configure(config);
                destination.arm(DestinationId(index as u32), events);
            }
        }
    }
}
