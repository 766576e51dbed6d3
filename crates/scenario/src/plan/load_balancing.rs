//! Load balancing: the flows with several paths. Transports and schemes must tolerate reordering.

use penstock_endpoint::transport::Transport;
use penstock_sim::network::{FlowId, HopId, Multipath, Network, PathChoice};

use super::Assigned;
use super::flow_census::FlowCensus;
use super::traffic::FlowSpec;
use crate::error::Fault;
use crate::keys::sections::{self, LoadBalancing};
use crate::resolve::Resolved;

/// How switches choose; `None` if they do not.
pub(crate) fn by(settings: &sections::Network) -> Option<PathChoice> {
    let gap = || settings.flowlet_gap.expect("a resolved scenario has the gap of its flowlets");
    match *settings.load_balancing {
        LoadBalancing::Flow => None,
        LoadBalancing::Flowlet => Some(PathChoice::Flowlet(gap())),
        LoadBalancing::Spray => Some(PathChoice::Turns),
        LoadBalancing::SprayRandom => Some(PathChoice::Random),
        LoadBalancing::Adaptive => Some(PathChoice::Queue),
        LoadBalancing::AdaptiveFlowlet => Some(PathChoice::QueueOfFlowlet(gap())),
        LoadBalancing::Reps => Some(PathChoice::Entropy),
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
    resolved: &Resolved,
    network: &Network,
    flows: &[FlowSpec],
    census: &FlowCensus,
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
            transport: flow.carriage.as_ref().map(|carriage| &carriage.transport),
            controlled: flow.controlled,
            priority: flow.priority,
        });
    let tables = census.tables.iter().zip(&census.spreads).filter(|(_, spreads)| **spreads);
    let generated = tables.map(|(table, _)| Spreading {
        name: &table.model.name,
        transport: table.model.carriage.as_ref().map(|carriage| &carriage.transport),
        controlled: table.model.controlled,
        priority: table.model.priority,
    });
    let mut any = false;
    for spreading in single.chain(generated) {
        any = true;
        if by.disorders() {
            spreading.check(resolved, schemes)?;
        }
    }
    // A flow to one host may have several paths only later.
    let roots = network.routes().filter(|(flow, _)| flows[flow.index()].host().is_some());
    let mut hops: Vec<HopId> = roots
        .flat_map(|(_, root)| network.route_from(root))
        .filter(|hop| network.hops[hop.index()].children > 1)
        .collect();
    hops.sort_unstable();
    Ok(any.then_some(Multipath { by, seed: resolved.network.ecmp_seed.unwrap_or(0), hops }))
}

/// Says where frames overtake one another and a transport sends each late one again, though nothing was lost. `generated` says of
/// the tables of loads which are spread.
pub(crate) fn note(network: &Network, generated: &[bool]) -> Option<String> {
    network.load_balancing.as_ref().filter(|spread| spread.by.disorders())?;
    let single = (0..).map(FlowId).zip(&network.flows);
    let single = single
        .filter(|&(id, _)| network.is_multipath(id))
        .filter_map(|(_, flow)| Some(&flow.transport.as_ref()?.transport));
    let generated = network.processes.list.iter().zip(generated).filter(|(_, spreads)| **spreads);
    let generated = generated.filter_map(|(process, _)| Some(&process.transport.as_ref()?.0));
    let impatient = |own: &Transport| matches!(own, Transport::Selective(config) if config.reordering == 1);
    single.chain(generated).any(impatient).then(|| {
        "frames of a flow take several paths and overtake one another, and selective with reordering = 1 takes each late one for \
         lost and sends it again: let it wait for more, as in transport = { selective = { reordering = 64 } }"
            .to_owned()
    })
}

impl Spreading<'_> {
    /// Refuses frames that overtake one another where that passes for a loss.
    fn check(&self, resolved: &Resolved, schemes: &[Assigned]) -> Result<(), Fault> {
        let key = &resolved.network.load_balancing;
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
            None if *resolved.network.load_balancing == LoadBalancing::Reps => {
                refuse("no acknowledgement returns their entropy values".to_owned(), instead)
            }
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
