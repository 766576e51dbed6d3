//! Load balancing: the flows with several paths. Transports and schemes must tolerate reordering.

use penstock_endpoint::entropy_states::Profile;
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
        LoadBalancing::Reps | LoadBalancing::Mrc => Some(PathChoice::Entropy),
        LoadBalancing::MrcStructured => Some(PathChoice::Number),
    }
}

/// The entropy values of each flow; `None` where flows have no list of them.
fn profile(settings: &sections::Network) -> Result<Option<Profile>, Fault> {
    let numbered = *settings.load_balancing == LoadBalancing::MrcStructured;
    if !numbered && *settings.load_balancing != LoadBalancing::Mrc {
        let unused = settings.entropy.as_ref().map(|own| own.values.fault("no flow has a list of entropy values"));
        return match unused {
            Some(fault) => Err(fault.with_hint("add load_balancing = \"mrc\", or leave network.entropy out")),
            None => Ok(None),
        };
    }
    let own = settings.entropy.as_ref().expect("a resolved scenario has the table");
    let (values, backup, planes) = (*own.values, *own.backup, *own.planes);
    let denied: Vec<u16> = own.denied.iter().flat_map(|denied| &denied.0).copied().map(u16::from).collect();
    let structured = "planes and denied values need load_balancing = \"mrc-structured\"";
    if !numbered && planes > 1 {
        return Err(own.planes.fault("values that are drawn belong to no plane").with_hint(structured));
    }
    if !numbered && !denied.is_empty() {
        return Err(own.denied.fault("values that are drawn have no numbers").with_hint(structured));
    }
    if values % planes > 0 {
        let message = format!("{values} values cannot be split over {planes} planes alike");
        return Err(own.planes.fault(message).with_hint("give values a multiple of planes"));
    }
    if backup % planes > 0 {
        let message = format!("{backup} values in reserve cannot be split over {planes} planes alike");
        return Err(own.backup.fault(message).with_hint("give backup a multiple of planes"));
    }
    if let Some(beyond) = denied.iter().find(|&&value| value >= values + backup) {
        let message = format!("there is no value {beyond}: they are numbered from 0 to {}", values + backup - 1);
        return Err(own.denied.fault(message).with_hint("list values that exist"));
    }
    if denied.len() == usize::from(values + backup) {
        return Err(own.denied.fault("every value is denied").with_hint("leave one at least"));
    }
    let (overtaken, probe_interval) = (u32::from(*own.overtaken), *own.probe_interval);
    Ok(Some(Profile { values, backup, numbered, planes, overtaken, probe_interval, denied }))
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
    let profile = profile(&resolved.network)?;
    Ok(any.then_some(Multipath { by, profile, seed: resolved.network.ecmp_seed.unwrap_or(0), hops }))
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
        let (name, balancing) = (self.name, **key);
        let listed = matches!(balancing, LoadBalancing::Mrc | LoadBalancing::MrcStructured);
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
            Some(Transport::Selective(config)) if listed && config.ack_every > 1 => {
                let why =
                    format!("{} frames share an acknowledgement, which answers one entropy value", config.ack_every);
                refuse(why, "ack_every = 1")
            }
            Some(Transport::Tcp(_)) if listed => {
                refuse("tcp does not answer each frame".to_owned(), "transport = \"selective\"")
            }
            Some(Transport::Selective(_) | Transport::Tcp(_)) => Ok(()),
            None if listed || balancing == LoadBalancing::Reps => {
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
