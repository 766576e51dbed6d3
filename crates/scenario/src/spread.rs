//! Load balancing: the flows with several paths. Transports and schemes must tolerate reordering.

use penstock_endpoint::transport::Transport;
use penstock_schemes::Duration;
use penstock_sim::network::{FlowId, HopId, Multipath, Network, PathChoice};

use crate::error::Fault;
use crate::made::Counted;
use crate::plan::Assigned;
use crate::sections::{self, Experiment, LoadBalancing};
use crate::traffic::FlowSpec;

/// The gap that begins a flowlet: the timeout of the flowlet table in Alizadeh et al., CONGA, SIGCOMM 2014, section 3.4.
const GAP: Duration = Duration::from_us(500);

/// How switches choose; `None` if they do not. The record then holds the gap.
pub(crate) fn by(settings: &mut sections::Network) -> Option<PathChoice> {
    let mut gap = || settings.flowlet_gap.fill(GAP);
    match *settings.load_balancing {
        LoadBalancing::Flow => None,
        LoadBalancing::Flowlet => Some(PathChoice::Flowlet(gap())),
        LoadBalancing::Spray => Some(PathChoice::Turns),
        LoadBalancing::SprayRandom => Some(PathChoice::Random),
        LoadBalancing::Adaptive => Some(PathChoice::Queue),
        LoadBalancing::AdaptiveFlowlet => Some(PathChoice::QueueOfFlowlet(gap())),
    }
}

/// Flows with several paths, of which each frame takes one.
struct Spreading<'a> {
    name: &'a str,
    transport: Option<&'a Transport>,
    controlled: bool,
    priority: u8,
}

/// The choices of switches in `network`, which is laid out; `None` if no flow has several paths.
pub(crate) fn spread(
    by: PathChoice,
    experiment: &Experiment,
    network: &Network,
    flows: &[FlowSpec],
    counted: &Counted,
    schemes: &[Assigned],
) -> Result<Option<Multipath>, Fault> {
    let mut spreads: Vec<bool> = flows.iter().map(FlowSpec::is_spread).collect();
    for reroute in &network.reroutes {
        let mut route = network.route_from(reroute.root);
        spreads[reroute.flow.index()] |= route.any(|hop| network.hops[hop.index()].children > 1);
    }
    let single =
        flows.iter().zip(&spreads).filter(|(_, spreads)| **spreads).map(|(flow, _)| flow).map(|flow| Spreading {
            name: &flow.name,
            transport: flow.transport.as_ref().map(|(transport, _)| transport),
            controlled: flow.controlled,
            priority: flow.priority,
        });
    let tables = counted.tables.iter().zip(&counted.spreads).filter(|(_, spreads)| **spreads);
    let made = tables.map(|(table, _)| Spreading {
        name: &table.model.name,
        transport: table.model.transport.as_ref().map(|(transport, _)| transport),
        controlled: table.model.controlled,
        priority: table.model.priority,
    });
    let mut any = false;
    for spreading in single.chain(made) {
        any = true;
        if by.disorders() {
            spreading.check(experiment, schemes)?;
        }
    }
    // A flow to one host may have several paths only later.
    let roots = network.routes().filter(|(flow, _)| flows[flow.index()].host().is_some());
    let mut hops: Vec<HopId> = roots
        .flat_map(|(_, root)| network.route_from(root))
        .filter(|hop| network.hops[hop.index()].children > 1)
        .collect();
    hops.sort_unstable();
    Ok(any.then_some(Multipath { by, seed: experiment.network.ecmp_seed.unwrap_or(0), hops }))
}

/// Says where frames overtake one another and a transport sends each late one again, though nothing was lost. `made` says of
/// the tables of loads which are spread.
pub(crate) fn note(network: &Network, made: &[bool]) -> Option<String> {
    network.load_balancing.as_ref().filter(|spread| spread.by.disorders())?;
    let single = (0..).map(FlowId).zip(&network.flows);
    let single = single
        .filter(|&(id, _)| network.is_multipath(id))
        .filter_map(|(_, flow)| Some(&flow.transport.as_ref()?.transport));
    let made = network.processes.list.iter().zip(made).filter(|(_, spreads)| **spreads);
    let made = made.filter_map(|(process, _)| Some(&process.transport.as_ref()?.0));
    let impatient = |own: &Transport| matches!(own, Transport::Selective(config) if config.reordering == 1);
    single.chain(made).any(impatient).then(|| {
        "frames of a flow take several paths and overtake one another, and selective with reordering = 1 takes each late one for \
         lost and sends it again: let it wait for more, as in transport = { selective = { reordering = 64 } }"
            .to_owned()
    })
}

impl Spreading<'_> {
    /// Refuses frames that overtake one another where that passes for a loss.
    fn check(&self, experiment: &Experiment, schemes: &[Assigned]) -> Result<(), Fault> {
        let key = &experiment.network.load_balancing;
        let name = self.name;
        let refuse = |why: String, instead: &str| {
            let message = format!("frames of {name} would be reordered, and {why}");
            Err(key.fault(message).with_hint(format!("load_balancing = \"flow\" or \"flowlet\", or {instead}")))
        };
        let instead = "a transport that takes frames in any order, transport = \"selective\" or \"tcp\"";
        match self.transport {
            Some(Transport::GoBackN(_)) => {
                let why = "go-back-n answers each frame that comes early with a request to send all again";
                refuse(why.to_owned(), instead)
            }
            Some(Transport::Selective(_) | Transport::Tcp(_)) => Ok(()),
            None => {
                let scheme = schemes.iter().find(|own| own.priority == self.priority).map(|own| own.config.info());
                match scheme.filter(|info| self.controlled && info.needs_order) {
                    Some(info) => refuse(format!("{} needs them in order", info.name), instead),
                    None => Ok(()),
                }
            }
        }
    }
}
