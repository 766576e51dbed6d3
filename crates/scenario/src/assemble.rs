//! From the record of a whole scenario to a plan: network, changes, recording, fair shares.

use std::collections::BTreeSet;

use penstock_endpoint::transport::Transport;
use penstock_schemes::{Action, Duration, Instant, Octets};
use penstock_sim::network::{
    Capacity, Carriage, Change, Dependency, Feedback, Flow, FlowId, Hop, HopId, LARGEST_QUEUE, Marking, Network, Node,
    NodeId, Pacer, Port, PortEvent, PortId, Processes, ReactionPointSpec, RpId, Ties, Traffic, Transmit,
};

use crate::clocks::Clocks;
use crate::error::Fault;
use crate::fields::Either;
use crate::groups::Groups;
use crate::limits::{Bounds, Excess, PLACES, SHARES, SHARING};
use crate::made::{Counted, Made, Points};
use crate::round_trip::Laid;
use crate::routing::Branch;
use crate::sections::{
    self, Delayed, Experiment, Limiters, LinkState, LoadBalancing, MarkedAt, MarkedBy, SwitchClocks, Watched, WhenFull,
};
use crate::topology::{self, Layout};
use crate::traffic::{self, End, FlowSpec, Flows};
use crate::{
    Choice, FairPeriod, Plan, buffer, convergence, fair, names, pfc, plan, recording, retune, schemes, spread, traps,
    windows, write,
};

/// MAC address of the node before the first: locally administered.
const STATION: u64 = 0x0200_0000_0000;

/// Lays out the run that a scenario describes.
pub(crate) fn plan(
    mut experiment: Experiment,
    name: &str,
    choice: &Choice,
    bounds: &Bounds<'_>,
) -> Result<Plan, Fault> {
    let filed = names::for_files(name);
    if experiment.name.as_ref().is_some_and(|name| names::for_files(name) != *name) {
        let message = "a name that results are filed under has no slash, no dot in front, and at most 200 octets";
        return Err(experiment.name.fault(message).with_hint(format!("for instance \"{filed}\"")));
    }
    let name = experiment.name.fill(filed);
    let duration = *experiment.duration;
    let mut notes = windows::cut_short(&mut experiment);
    let warmup = *experiment.warmup;
    if warmup >= duration {
        let message = "nothing is left to measure: the warm-up lasts as long as the run";
        let hint = format!("the run ends at {}", duration);
        return Err(experiment.warmup.fault(message).with_hint(hint));
    }
    if let Some(seed) = choice.seed {
        if seed > sections::LARGEST_COUNT {
            let hint = format!("at most {}", sections::LARGEST_COUNT);
            return Err(schemes::chosen("seed", format!("{seed} is above the maximum"), hint));
        }
        experiment.seed.replace(seed);
    }
    let scheme = schemes::choose(&mut experiment, choice)?;

    let mut layout = topology::build(&experiment.topology, bounds)?;
    layout.ecmp_seed = *experiment.network.ecmp_seed;
    layout.spreads = *experiment.network.load_balancing != LoadBalancing::Flow;
    layout.later = convergence::epochs(&experiment, &layout, bounds).map_err(|e| experiment.change.excess(e))?;
    let by = spread::by(experiment.network.inner());
    let made = !(experiment.load.is_empty() && experiment.incast.is_empty() && experiment.trace.is_empty());
    if experiment.flow.is_empty() && !made {
        let hint = "add a table [[flow]] with from = \"h0\" and to = \"h1\", a [[load]] or a [[trace]]";
        return Err(experiment.flow.fault("there is no flow").with_hint(hint));
    }
    let groups = Groups::read(&experiment.group, &layout, bounds)?;
    let seed = *experiment.seed;
    let end = End { at: duration, cut_short: windows::is_cut_short(&experiment) };
    let traffic = traffic::flows(&mut experiment, &layout, &groups, end, bounds)?;
    let Flows { single: flows, left_out, counted, too_late } = traffic;
    if flows.is_empty() && counted.tables.is_empty() {
        let message = "there is no flow: all would start at or after the end of the run";
        return Err(experiment.duration.fault(message).with_hint(format!("the run ends at {}", duration)));
    }
    notes.extend(windows::note(left_out, "a flow", "flows", duration));
    notes.extend(too_late.iter().map(|(trace, flows)| {
        format!("{flows} of the flows of {trace} would start at or after the end of the run, and are left out")
    }));
    let nodes = layout.nodes.iter().map(|n| n.name.as_str());
    let clocks = Clocks::draw(*experiment.network.clock_tolerance, seed, nodes);
    let (mut network, points) = network(&experiment, &layout, &flows, &counted, &clocks)?;
    let still = convergence::add_routes(&experiment, &mut network, &layout, &flows, &counted, bounds);
    notes.extend(still.map_err(|e| experiment.change.excess(e))?);
    let mut schemes = schemes::assign(&mut experiment, scheme, &mut network, choice)?;
    network.moves = schemes.iter().map(|assigned| assigned.config.moves_to()).collect();
    let trims = |assigned: &&plan::Assigned| *experiment.network.trimming || assigned.config.needs_trimming();
    network.trimmed = schemes.iter().filter(trims).map(|assigned| assigned.priority).collect();
    check_marking(&experiment.network, &schemes)?;
    network.tags = schemes.iter().map(|assigned| assigned.config.tag_octets()).collect();
    check_frames(&experiment, &network)?;
    let laid = Laid { network: &network, layout: &layout, counted: &counted };
    schemes::fill(&mut experiment, scheme, &mut schemes, laid)?;
    let (mut lossless, mut reaches) = (Vec::new(), vec![None; network.ports.len()]);
    let mut of_memory = Vec::new();
    if let Some(table) = experiment.pfc.inner() {
        let settled = pfc::pfc(table, &network, &layout, experiment.buffer.is_empty())?;
        network.pfc = Some(settled.pfc);
        (lossless, reaches, of_memory) = (settled.lossless, settled.reaches, settled.notes);
    }
    let pools = buffer::pools(experiment.buffer.inner(), &network, &layout, (&lossless, &reaches))?;
    of_memory.extend(buffer::notes(&pools));
    let pool_names = pools.iter().map(|laid| laid.name.clone()).collect();
    let headroom_needed = pools.iter().map(|laid| laid.needed).collect();
    let stopping = pools.iter().map(|laid| laid.stopping).collect();
    let commons: Vec<buffer::Common> = pools.iter().map(|laid| laid.common).collect();
    network.pools = pools.into_iter().map(|laid| laid.pool).collect();
    schemes::check(&mut experiment, scheme, &schemes, &network, &layout)?;
    let laid = Laid { network: &network, layout: &layout, counted: &counted };
    let parameter_changes = retune::changes(&experiment.change, &schemes, laid, bounds)?;
    if let Some(by) = by {
        network.load_balancing = spread::spread(by, &experiment, &network, &flows, &counted, &schemes)?;
    }
    let places = plan::table_places(&network, &schemes);
    bounds
        .check(PLACES, places, "shorter tables in [schemes.NAME], or fewer links and flows")
        .map_err(|e| experiment.scheme.excess(e))?;
    let single = flows.len();
    let (recorded, of_records) =
        recording::recorded(experiment.record.inner(), &layout, &network, &counted, duration, bounds)?;
    notes.extend(of_records);
    let windows = windows::windows(experiment.window.inner(), &network, duration, bounds)?;
    check_offered(&network, duration).map_err(|e| experiment.flow.excess(e))?;
    let shares = if !counted.tables.is_empty() || !network.dependencies.is_empty() {
        // Flows that a process makes are too many and too short for a share to be a reference. The start of a flow that
        // waits for others is not known beforehand.
        None
    } else if network.load_balancing.is_some() {
        notes
            .push("no fair share is computed: frames of a flow take several paths (network.load_balancing)".to_owned());
        None
    } else if let Err((message, hint)) = check_shares(&network, duration, bounds) {
        notes.push(format!("no fair share is computed: {message} ({hint})"));
        None
    } else {
        Some(fair::periods(&network, duration, bounds).map_err(|e| experiment.flow.excess(e))?)
    };

    let transported = network.flows.iter().any(|flow| flow.transport.is_some())
        || network.processes.list.iter().any(|process| process.transport.is_some());
    notes.extend(notes_on_keys(&network, *experiment.network.trimming, transported).map(str::to_owned));
    notes.extend(spread::note(&network, &counted.spreads));
    notes.extend(schemes::notes(&schemes, &network));
    notes.extend(retune::notes(&experiment.change, &schemes));
    notes.extend(of_memory);
    let origins: Vec<traffic::Origin> = counted.tables.iter().map(|table| table.model.origin).collect();
    let node_names: Vec<String> = layout.nodes.iter().map(|n| n.name.clone()).collect();
    notes.extend(traps::notes(&network, &schemes, (&origins, &commons), &node_names));
    let testbed = match experiment.testbed.inner() {
        Some(table) => sections::testbed(table, &layout)?,
        None => plan::Testbed::default(),
    };
    Ok(Plan {
        name,
        question: String::clone(&experiment.question),
        lossless: *experiment.lossless,
        acted: *experiment.acted,
        schemes,
        parameter_changes,
        seed,
        duration,
        warmup,
        node_names,
        port_names: (0..layout.ports.len()).map(|p| layout.port_name(p)).collect(),
        pool_names,
        headroom_needed,
        stopping,
        reaches,
        flow_names: flows.iter().map(|f| f.name.clone()).collect(),
        flow_tables: flows.iter().map(|f| f.table(&experiment)).collect(),
        single,
        flow_ends: flows.iter().map(|f| (f.source, f.destinations(&groups).to_vec())).collect(),
        record: recorded,
        windows,
        notes,
        shared: shares.is_some(),
        fair: shares.unwrap_or_else(|| no_shares(single, duration)),
        transported,
        finite: network.flows.iter().any(|flow| flow.size.is_some()),
        made: Made::new(counted, layout, points),
        testbed,
        limits: choice.limits,
        network,
        resolved: write::document(&experiment),
    })
}

/// Shares of zero for all of the run: nothing is a reference.
fn no_shares(flows: usize, duration: Duration) -> Vec<FairPeriod> {
    let time = Instant::ZERO..Instant::ZERO + duration;
    vec![FairPeriod { time, max_min_bps: vec![0.0; flows], proportional_bps: vec![0.0; flows] }]
}

/// Whether flows and links change seldom enough for a reference allocation. A flow with a size changes the traffic once more when
/// it ends.
fn check_shares(network: &Network, duration: Duration, bounds: &Bounds<'_>) -> Result<(), Excess> {
    let ends = network.flows.iter().filter(|flow| flow.size.is_some()).count();
    let periods = (fair::boundaries(network, duration, &[]).len() + ends) as u64;
    let less = format!("starts, ends and changes at fewer instants than {periods}");
    bounds.check(SHARES, periods * network.flows.len() as u64, &less)?;
    bounds.check(SHARING, periods * network.hops.len() as u64, &less)
}

/// Refuses flows that make more frames than 64 bits count.
fn check_offered(network: &Network, duration: Duration) -> Result<(), Excess> {
    let frames = |flow: &Flow| {
        let octets = u64::from(flow.frame) + u64::from(network.wire_overhead);
        let (rate, turn) = match flow.traffic {
            Traffic::Greedy => return 0,
            Traffic::Constant(rate) | Traffic::Poisson(rate) => (rate, Duration(u64::MAX)),
            // Each turn begins with a frame, however short it is.
            Traffic::OnOff { rate, on, off, .. } => (rate, on + off),
        };
        duration.0 / rate.serialisation(octets).0.min(turn).0.max(1)
    };
    let frames: u128 = network.flows.iter().map(|flow| u128::from(frames(flow))).sum();
    // Half of the range of 64 bits: a number drawn at random can be more than its mean.
    if frames > u128::from(u64::MAX / 2) {
        let message = format!("the flows make some {frames} frames, more than 64 bits count");
        return Err((message, "lower rates, longer frames or turns, or a shorter duration".to_owned()));
    }
    Ok(())
}

/// The network, and its reaction points by port and priority, where flows share them.
fn network(
    experiment: &Experiment,
    layout: &Layout,
    flows: &[FlowSpec],
    counted: &Counted,
    clocks: &Clocks,
) -> Result<(Network, Points), Fault> {
    let made = counted.tables.iter().map(|table| table.model.priority);
    let (settings, hosts) = (&*experiment.network, &*experiment.hosts);
    let node = |(i, n): (usize, &topology::LayoutNode)| Node { kind: n.kind, station: STATION + 1 + i as u64 };
    let mut network = Network {
        nodes: layout.nodes.iter().enumerate().map(node).collect(),
        ports: ports(settings, hosts, layout, clocks)?,
        priorities: flows.iter().map(|f| f.priority).chain(made).collect::<BTreeSet<u8>>().into_iter().collect(),
        moves: Vec::new(),
        tags: Vec::new(),
        hops: Vec::new(),
        flows: Vec::new(),
        processes: Processes::default(),
        dependencies: Vec::new(),
        until_complete: *experiment.until == sections::Until::Complete,
        reaction_points: Vec::new(),
        changes: Vec::new(),
        reroutes: Vec::new(),
        wire_overhead: settings.wire_overhead.0 as u16,
        in_service_counts: *settings.in_service_counts,
        own_clocks: *settings.switch_clocks == SwitchClocks::Own,
        ecn_threshold: *settings.ecn_threshold,
        marking: Marking {
            at_departure: *settings.ecn_at == MarkedAt::Departure,
            by_port: *settings.ecn_by == MarkedBy::Port,
        },
        trimmed: Vec::new(),
        transmit: transmit(hosts),
        control_capacity: *settings.control_buffer,
        pfc: None,
        pools: Vec::new(),
        load_balancing: None,
        ties: match *settings.ties {
            sections::Ties::Number => Ties::Number,
            sections::Ties::InTurn => Ties::InTurn,
            sections::Ties::Drawn => Ties::Drawn,
        },
        feedback: match &*settings.feedback {
            Either::First(_) => Feedback::InBand,
            Either::Second(delay) => Feedback::Ideal(*delay.ideal),
        },
    };
    let pacer = pacer(hosts);
    let shared = *hosts.reaction_points == Limiters::PerHost;
    let mut limiters = Points::new();
    for spec in flows {
        let root = add_hops(&mut network.hops, &spec.route);
        let transport = spec.transport.as_ref().map(|(transport, acks)| Carriage {
            transport: transport.clone(),
            acks: *acks,
            reverse_path: network.add_reverse_path(root),
        });
        let next = RpId(network.reaction_points.len() as u32);
        let place = (spec.route[0].port, spec.priority);
        let reaction_point = spec.controlled.then(|| match limiters.get(&place) {
            Some(limiter) if shared => *limiter,
            _ => {
                network.reaction_points.push(ReactionPointSpec { port: PortId(place.0 as u32), pacer });
                limiters.insert(place, next);
                next
            }
        });
        network.flows.push(Flow {
            root,
            priority: spec.priority,
            frame: spec.frame,
            weight: spec.weight,
            start: spec.start,
            stop: spec.stop,
            size: spec.size,
            traffic: spec.traffic,
            excess: spec.excess,
            reaction_point,
            transport,
        });
    }
    let waits = (0..).map(FlowId).zip(flows).filter_map(|(flow, spec)| Some((flow, spec.wait.as_ref()?)));
    network.dependencies = waits
        .map(|(flow, wait)| Dependency {
            flow,
            after: wait.after.iter().map(|&other| FlowId(other as u32)).collect(),
            delay: wait.delay,
        })
        .collect();
    let endless = counted.tables.is_empty() && network.flows.iter().all(|flow| flow.size.is_none());
    if network.until_complete && endless {
        let message = "no flow has a size: none completes";
        return Err(experiment.until.fault(message).with_hint("give a flow a size, for instance size = \"1 MB\""));
    }
    for change in experiment.change.iter() {
        add_change(change, &mut network, layout, clocks, *experiment.duration)?;
    }
    network.changes.sort_by_key(|change| change.at);
    network.processes = counted.processes(&mut network, &mut limiters, shared, pacer);
    Ok((network, limiters))
}

/// Sentences about keys of the network that change nothing.
fn notes_on_keys(network: &Network, trimming: bool, transported: bool) -> impl Iterator<Item = &'static str> {
    let of_flows = network.flows.iter().map(|flow| flow.transport.as_ref().map(|carriage| &carriage.transport));
    let of_loads = network.processes.list.iter().map(|process| process.transport.as_ref().map(|(own, _)| own));
    let tcp_alone = of_flows.chain(of_loads).all(|transport| matches!(transport, Some(Transport::Tcp(_))));
    let marks =
        "network.ecn_threshold marks frames of transports, and no flow has one; schemes mark by their own thresholds";
    let trims = "network.trimming changes nothing: every flow has the transport tcp, whose frames are dropped";
    let marks = (network.ecn_threshold.is_some() && !transported).then_some(marks);
    marks.into_iter().chain((trimming && tcp_alone).then_some(trims))
}

/// Refuses a time of marks, or a length for them, where nothing marks.
fn check_marking(settings: &sections::Network, schemes: &[plan::Assigned]) -> Result<(), Fault> {
    let marks = |assigned: &plan::Assigned| assigned.config.info().actions.contains(&Action::Marks);
    if settings.ecn_threshold.is_some() || schemes.iter().any(marks) {
        return Ok(());
    }
    let message = "nothing marks: there is no threshold, and no scheme that marks";
    let hint = "give a threshold, for instance ecn_threshold = \"100 KB\", or leave this out";
    if *settings.ecn_at != MarkedAt::Arrival {
        return Err(settings.ecn_at.fault(message).with_hint(hint));
    }
    if *settings.ecn_by != MarkedBy::Queue {
        return Err(settings.ecn_by.fault(message).with_hint(hint));
    }
    Ok(())
}

fn ports(
    settings: &sections::Network,
    hosts: &sections::Hosts,
    layout: &Layout,
    clocks: &Clocks,
) -> Result<Vec<Port>, Fault> {
    let queue = match *hosts.queue {
        Either::First(_) => Capacity::Arbiter,
        Either::Second(size) => size,
    };
    let mut chosen = BTreeSet::new();
    if let Either::Second(listed) = &*settings.congestion_points {
        for name in listed.iter() {
            let port = layout.port(name).ok_or_else(|| {
                let message = format!("there is no port \"{name}\"");
                settings.congestion_points.fault(message).with_hint(layout.suggest_port(name))
            })?;
            if !chosen.insert(port) {
                let message = format!("the port \"{name}\" is listed twice");
                return Err(settings.congestion_points.fault(message).with_hint("list each port once"));
            }
        }
    }
    let mut ports = Vec::with_capacity(layout.ports.len());
    for (i, p) in layout.ports.iter().enumerate() {
        let (own_host, peer_host) = (layout.is_host(p.node), layout.is_host(p.peer));
        let takes = match *settings.node_delay_at {
            Delayed::All => true,
            Delayed::Hosts => peer_host,
            Delayed::Switches => !peer_host,
        };
        let delay = layout.nodes[p.peer].delay.unwrap_or(if takes { *settings.node_delay } else { Duration::ZERO });
        let latency = p.delay + delay + if peer_host { *settings.host_delay } else { Duration::ZERO };
        let congestion_points = match &*settings.congestion_points {
            Either::First(Watched::Everywhere) => true,
            Either::First(Watched::Switches) => !own_host,
            Either::Second(_) => chosen.contains(&i),
        };
        let capacity = if own_host { queue } else { p.buffer };
        if congestion_points && capacity == Capacity::Arbiter {
            let message = format!("\"{}\" has no queue for a congestion point", layout.port_name(i));
            let hint = "give hosts a queue: hosts.queue = \"150 KB\"";
            return Err(settings.congestion_points.fault(message).with_hint(hint));
        }
        ports.push(Port {
            node: NodeId(p.node as u32),
            peer: NodeId(p.peer as u32),
            number: p.number,
            rate: clocks.rate(p.node, p.rate),
            latency,
            capacity,
            congestion_points,
        });
    }
    Ok(ports)
}

fn pacer(hosts: &sections::Hosts) -> Pacer {
    match &*hosts.pacer {
        Either::First(_) => Pacer::Ideal,
        Either::Second(pacer) => {
            let bucket = &*pacer.token_bucket;
            Pacer::TokenBucket { depth: *bucket.depth, interval: *bucket.interval, granularity: *bucket.granularity }
        }
    }
}

fn transmit(hosts: &sections::Hosts) -> Transmit {
    match &*hosts.transmit_queue {
        Either::First(_) => Transmit::Pull,
        Either::Second(queue) if *queue.when_full == WhenFull::Wait => Transmit::Wait(*queue.limit),
        Either::Second(queue) => Transmit::Drop(*queue.limit),
    }
}

/// Appends the hops of `route`; returns the first.
pub(crate) fn add_hops(hops: &mut Vec<Hop>, route: &[Branch]) -> HopId {
    let first = hops.len();
    let id = |i: usize| HopId((first + i) as u32);
    for branch in route {
        hops.push(Hop {
            port: PortId(branch.port as u32),
            // The two directions of a link differ in the last bit.
            back: PortId((branch.port ^ 1) as u32),
            parent: branch.parent.map(id),
            first_child: id(0),
            children: 0,
        });
    }
    for (i, branch) in route.iter().enumerate() {
        if let Some(parent) = branch.parent {
            let parent = &mut hops[first + parent];
            if parent.children == 0 {
                parent.first_child = id(i);
            }
            parent.children += 1;
        }
    }
    id(0)
}

/// Refuses a change of nothing, and one of more than one kind.
fn check_kind(change: &sections::Change) -> Result<(), Fault> {
    let two = "for a link and for parameters, write two changes at the same time";
    let of_link = change.rate.is_some() || change.state.is_some();
    match (change.link.is_some(), change.new_values().is_some()) {
        (true, false) => Ok(()),
        (false, true) if !of_link => Ok(()),
        (_, true) => {
            let message = "a change is of a link or of parameters, not both";
            Err(change.schemes.fault(message).with_hint(two))
        }
        (false, false) if of_link => {
            let message = "a change of a rate or a state names its link";
            Err(change.link.fault(message).with_hint("for instance link = \"sw0->h8\""))
        }
        (false, false) => {
            let message = "a change has a link, or parameters of a scheme";
            let hint = "for instance link = \"sw0->h8\" and rate = \"1 Gbps\", or schemes.qcn.q_eq = \"33 KB\"";
            Err(change.at.fault(message).with_hint(hint))
        }
    }
}

fn add_change(
    change: &sections::Change,
    network: &mut Network,
    layout: &Layout,
    clocks: &Clocks,
    duration: Duration,
) -> Result<(), Fault> {
    let at = Instant(change.at.0);
    if at.0 >= duration.0 {
        let message = "a change at or after the end of the run";
        return Err(change.at.fault(message).with_hint(format!("the run ends at {}", duration)));
    }
    check_kind(change)?;
    let Some(link) = change.link.as_deref() else { return Ok(()) };
    let event = match (*change.rate, *change.state) {
        (Some(rate), None) => PortEvent::Rate(rate),
        (None, Some(LinkState::Down)) => PortEvent::Down,
        (None, Some(LinkState::Up)) => PortEvent::Up,
        (Some(_), Some(_)) => {
            let hint = "for both, write two changes at the same time";
            return Err(change.state.fault("a change has a rate or a state, not both").with_hint(hint));
        }
        (None, None) => {
            let message = "a change has a rate, or a state (\"down\" or \"up\")";
            return Err(change.rate.fault(message).with_hint("for instance state = \"down\""));
        }
    };
    let names = match link.split_once("--") {
        Some((a, b)) => vec![format!("{a}->{b}"), format!("{b}->{a}")],
        None => vec![link.to_owned()],
    };
    for name in names {
        let port = layout.port(&name).ok_or_else(|| {
            let message = format!("there is no link \"{link}\"");
            change.link.fault(message).with_hint(layout.suggest_port(&name))
        })?;
        let event = match event {
            PortEvent::Rate(rate) => PortEvent::Rate(clocks.rate(layout.ports[port].node, rate)),
            other => other,
        };
        match event {
            PortEvent::Rate(rate) if at == Instant::ZERO => network.ports[port].rate = rate,
            _ => network.changes.push(Change { at, port: PortId(port as u32), event }),
        }
    }
    Ok(())
}

/// Refuses queues and buckets into which the largest frame does not fit, and queues of more octets than there can be.
fn check_frames(experiment: &Experiment, network: &Network) -> Result<(), Fault> {
    let largest = largest_frame(network);
    let check = |(size, key): topology::Size<'_>| match size {
        Capacity::Octets(size) if size.0 < largest => {
            let message = format!("{size} are too small for a frame of {largest} octets");
            Err(key.blame(message).with_hint(format!("at least {}", Octets(largest))))
        }
        Capacity::Frames(n) if u64::from(n) * largest > LARGEST_QUEUE.0 => {
            let most = LARGEST_QUEUE.0 / largest;
            let message = format!("{n} frames of up to {largest} octets are more than {}", LARGEST_QUEUE);
            Err(key.blame(message).with_hint(format!("at most {most} frames")))
        }
        _ => Ok(()),
    };
    experiment.topology.given().buffers().into_iter().try_for_each(check)?;
    let hosts = &*experiment.hosts;
    if let Either::Second(size) = *hosts.queue {
        check((size, &hosts.queue))?;
    }
    if let Either::Second(queue) = &*hosts.transmit_queue {
        check((Capacity::Octets(*queue.limit), &queue.limit))?;
        check_drops(network, queue)?;
    }
    let on_wire = largest + u64::from(network.wire_overhead);
    if let Pacer::TokenBucket { depth, .. } = pacer(hosts)
        && depth.0 < on_wire
    {
        let message =
            format!("the bucket of {depth} is too small for a frame of {on_wire} octets (wire overhead included)");
        return Err(hosts.pacer.fault(message).with_hint(format!("a depth of at least {}", Octets(on_wire))));
    }
    Ok(())
}

/// Refuses a transmit queue that drops the segments of a transport without window: it would get all data at once, and again.
fn check_drops(network: &Network, queue: &sections::TransmitQueue) -> Result<(), Fault> {
    let of_flows = network.flows.iter().filter_map(|flow| flow.transport.as_ref()).map(|carriage| &carriage.transport);
    let of_loads = network.processes.list.iter().filter_map(|process| process.transport.as_ref()).map(|(own, _)| own);
    let Some(endless) = of_flows.chain(of_loads).find(|transport| !matches!(transport, Transport::Tcp(_))) else {
        return Ok(());
    };
    if *queue.when_full == WhenFull::Wait {
        return Ok(());
    }
    let name = endless.info().name;
    let message = format!("\"{name}\" has no window: it would send all its data at once, and the queue would drop it");
    Err(queue.when_full.fault(message).with_hint("\"wait\", or the transport \"tcp\" for all flows"))
}

/// Length of the largest frame of any flow with its tags, octets.
pub(crate) fn largest_frame(network: &Network) -> u64 {
    network.largest_frame().map_or(0, u64::from)
}
