//! From the record of a whole scenario to a plan: network, changes, recording, fair shares.

use penstock_endpoint::transport::Transport;
use penstock_schemes::{Action, Duration, HEADER, Instant, Octets};
use penstock_sim::network::{Flow, Network, OwnLine, Pool, Traffic};

use super::clocks::Clocks;
use super::generated_flows::GeneratedFlows;
use super::groups::Groups;
use super::round_trip::PlannedNetwork;
use super::source_table::SourceTable;
use super::traffic::{Flows, RunEnd};
use super::{
    Assigned, FairPeriod, Plan, Testbed, buffer, changes, chips, classes, convergence, fair, impairment, interfaces,
    load_balancing, lossless as lossless_links, network, parameter_changes, pfc, recording, schemes, testbed, traffic,
    traps, windows,
};
use crate::error::Fault;
use crate::keys::sections::{LoadBalancing, MarkedAt, MarkedBy};
use crate::keys::topology::{self, Surroundings};
use crate::limits::{Bounds, Excess, PLACES, SHARES, SHARING};
use crate::resolve::{Choice, Resolved, truncate};

/// Lays out the run that a scenario describes.
pub(crate) fn plan(mut resolved: Resolved, choice: &Choice, bounds: &Bounds<'_>) -> Result<Plan, Fault> {
    let (duration, seed) = (*resolved.duration, *resolved.seed);
    let mut notes = resolved.notes().to_vec();
    let memory = chips::largest(&resolved.switch)?;
    let around = Surroundings { cable_delay: *resolved.network.cable_delay, memory };
    let mut layout = topology::build(&resolved.topology, around, bounds)?;
    layout.ecmp_seed = *resolved.network.ecmp_seed;
    layout.spreads = *resolved.network.load_balancing != LoadBalancing::Flow;
    changes::check(&resolved, bounds)?;
    layout.later = convergence::epochs(&resolved, &layout, bounds).map_err(|e| resolved.change.excess(e))?;
    let by = load_balancing::by(&resolved.network);
    let (load, incast, burst, trace) = (&resolved.load, &resolved.incast, &resolved.burst, &resolved.trace);
    let streams = load.is_empty() && incast.is_empty() && burst.is_empty() && trace.is_empty();
    let generated = !(streams && resolved.collective.is_empty() && resolved.job.is_empty());
    if resolved.flow.is_empty() && !generated {
        let hint = "add a table [[flow]] with from = \"h0\" and to = \"h1\", a [[load]] or a [[trace]]";
        return Err(resolved.flow.fault("there is no flow").with_hint(hint));
    }
    let groups = Groups::read(&resolved.group, &layout, bounds)?;
    let end = RunEnd { at: duration, cut_short: resolved.is_cut_short() };
    let traffic = traffic::flows(&mut resolved, &layout, &groups, end, bounds)?;
    let Flows { single: flows, left_out, census, too_late } = traffic;
    if flows.is_empty() && census.tables.is_empty() {
        let message = "there is no flow: all would start at or after the end of the run";
        return Err(resolved.duration.fault(message).with_hint(format!("the run ends at {}", duration)));
    }
    notes.extend(truncate::note(left_out, "a flow", "flows", duration));
    notes.extend(too_late.iter().map(|(trace, flows)| {
        format!("{flows} of the flows of {trace} would start at or after the end of the run, and are left out")
    }));
    let outside = census.tables.iter().filter(|table| table.job().is_some_and(|job| job.outside));
    notes.extend(outside.map(|table| {
        format!(
            "the messages of {} come from a program that uses penstock_engine.h; without one there are none",
            table.model.name
        )
    }));
    let nodes = layout.nodes.iter().map(|n| n.name.as_str());
    let clocks = Clocks::draw(*resolved.network.clock_tolerance, seed, nodes);
    let (mut network, points) = network::network(&resolved, &layout, &flows, &census, &clocks)?;
    let still = convergence::add_routes(&resolved, &mut network, &layout, &flows, &census, bounds);
    notes.extend(still.map_err(|e| resolved.change.excess(e))?);
    network.impairments = impairment::impairments(&resolved, &layout, bounds)?;
    let used = network.priorities.clone();
    let mut schemes = schemes::assign(&resolved, &mut network, choice)?;
    let levels = |own: &Assigned| if used.contains(&own.priority) { own.config.levels() } else { 1 };
    network.levels = schemes.iter().map(levels).collect();
    network.moves = schemes.iter().map(|assigned| assigned.config.moves_to()).collect();
    let trims = |assigned: &&Assigned| *resolved.network.trimming || assigned.config.needs_trimming();
    network.trimmed = schemes.iter().filter(trims).map(|assigned| assigned.priority).collect();
    network.credit_limit = schemes.iter().find_map(|assigned| assigned.config.credit_limit());
    if let Some(limit) = network.credit_limit {
        network.control_capacity = Octets(u64::from(limit.waiting) * u64::from(HEADER));
    }
    network.service = classes::service(&resolved.priority, &network)?;
    let code_points = classes::code_points(&resolved.priority)?;
    check_marking(&resolved, &schemes)?;
    network.tags = schemes.iter().map(|assigned| assigned.config.tag_octets()).collect();
    network::check_frames(&resolved, &network)?;
    let laid = PlannedNetwork { network: &network, layout: &layout, census: &census };
    schemes::fill(&resolved, &mut schemes, laid)?;
    let chip_memory: Vec<Option<Octets>> =
        chips::chips(&resolved.switch, &layout)?.iter().map(|chip| chip.map(|chip| chip.memory)).collect();
    let of_lines = |own: &Assigned| {
        own.lines.iter().map(|at| OwnLine { priority: own.priority, line: at.line }).collect::<Vec<_>>()
    };
    network.own_lines = schemes.iter().flat_map(of_lines).collect();
    let (mut lossless, mut reaches) = (Vec::new(), vec![None; network.ports.len()]);
    let mut of_memory = Vec::new();
    if let Some(table) = &*resolved.pfc {
        let settled = pfc::pfc(table, &network, &layout, (resolved.buffer.is_empty(), &chip_memory))?;
        network.pfc = Some(settled.pfc);
        (lossless, reaches, of_memory) = (settled.lossless, settled.reaches, settled.notes);
        resolved.settle_flow_control(&lossless, settled.mtu, settled.links);
    }
    interfaces::add(&resolved, &mut network, &layout, bounds)?;
    let (wred, tables) = classes::wred(&resolved.wred, &network, (&layout, &schemes))?;
    network.wred = wred;
    resolved.settle_wred(tables);
    let chips = chips::chips(&resolved.switch, &layout)?;
    let (pools, keys) = buffer::pools(&resolved.buffer, &network, &layout, &chips, (&lossless, &reaches))?;
    of_memory.extend(buffer::check_memory(&chips, &pools, &network.priorities, &layout)?);
    // A pool whose priorities no flow has holds nothing; it is a part of the memory of a chip.
    let counts = |pool: &Pool| !pool.priorities.is_empty() || chips[pool.node.index()].is_some();
    let pools: Vec<_> = pools.into_iter().filter(|laid| counts(&laid.pool)).collect();
    resolved.settle_pools(keys);
    of_memory.extend(buffer::notes(&pools));
    let pool_names = pools.iter().map(|laid| laid.name.clone()).collect();
    let headroom_needed = pools.iter().map(|laid| laid.needed).collect();
    let stopping = pools.iter().map(|laid| laid.stopping).collect();
    let commons: Vec<Octets> = pools.iter().map(|laid| laid.common).collect();
    network.pools = pools.into_iter().map(|laid| laid.pool).collect();
    schemes::check(&resolved, &schemes, &network, &layout)?;
    let laid = PlannedNetwork { network: &network, layout: &layout, census: &census };
    let parameter_changes = parameter_changes::changes(&resolved.change, &schemes, laid, bounds)?;
    if let Some(by) = by {
        network.load_balancing = load_balancing::spread(by, &resolved, &network, &flows, &census, &schemes)?;
    }
    of_memory.extend(lossless_links::add(&resolved, &mut network, &layout)?);
    let places = super::table_places(&network, &schemes);
    bounds
        .check(PLACES, places, "shorter tables in [schemes.NAME], or fewer links and flows")
        .map_err(|e| resolved.scheme.excess(e))?;
    let single = flows.len();
    let (recorded, of_records) = recording::recorded(&resolved.record, &layout, &network, &census, duration, bounds)?;
    resolved.settle_interval(recorded.interval);
    notes.extend(of_records);
    let windows = windows::windows(&resolved.window, &network, duration, bounds)?;
    check_offered(&network, duration).map_err(|e| resolved.flow.excess(e))?;
    let shares = if !census.tables.is_empty() || !network.dependencies.is_empty() {
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
        Some(fair::periods(&network, duration, bounds).map_err(|e| resolved.flow.excess(e))?)
    };

    let transported = network.flows.iter().any(|flow| flow.transport.is_some())
        || network.processes.list.iter().any(|process| process.transport.is_some());
    notes.extend(notes_on_keys(&network, *resolved.network.trimming, transported).map(str::to_owned));
    notes.extend(load_balancing::note(&network, &census.spreads));
    notes.extend(classes::note(&resolved.priority, &network));
    notes.extend(schemes::notes(&schemes, &network));
    notes.extend(parameter_changes::notes(&resolved.change, &schemes));
    notes.extend(of_memory);
    let origins: Vec<SourceTable> = census.tables.iter().map(|table| table.model.origin).collect();
    let node_names: Vec<String> = layout.nodes.iter().map(|n| n.name.clone()).collect();
    let port_names: Vec<String> = (0..layout.ports.len()).map(|p| layout.port_name(p)).collect();
    notes.extend(traps::notes(&network, &schemes, (&origins, &commons), (&node_names, &port_names)));
    let testbed = match &*resolved.testbed {
        Some(table) => testbed::testbed(table, &layout)?,
        None => Testbed::default(),
    };
    Ok(Plan {
        name: Option::clone(&resolved.name).unwrap_or_default(),
        question: String::clone(&resolved.question),
        lossless: *resolved.lossless,
        impaired_is_lost: *resolved.impaired_is_lost,
        acted: *resolved.require_action,
        schemes,
        code_points,
        parameter_changes,
        seed,
        duration,
        warmup: *resolved.warmup,
        node_names,
        port_names,
        cables_mm: layout.ports.iter().map(|port| port.cable.map(|length| length.0)).collect(),
        chip_memory,
        pool_names,
        headroom_needed,
        pool_common: commons,
        stopping,
        reaches,
        flow_names: flows.iter().map(|f| f.name.clone()).collect(),
        flow_tables: flows.iter().map(|f| f.table(&resolved)).collect(),
        single,
        flow_ends: flows.iter().map(|f| (f.source, f.destinations(&groups).to_vec())).collect(),
        record: recorded,
        windows,
        notes,
        shared: shares.is_some(),
        fair: shares.unwrap_or_else(|| no_shares(single, duration)),
        transported,
        finite: network.flows.iter().any(|flow| flow.size.is_some()),
        generated: GeneratedFlows::new(census, layout, points),
        testbed,
        limits: choice.limits,
        network,
        resolved: resolved.document(),
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
fn check_marking(resolved: &Resolved, schemes: &[Assigned]) -> Result<(), Fault> {
    let settings = &*resolved.network;
    let marks = |assigned: &Assigned| assigned.config.info().actions.contains(&Action::Marks);
    if settings.ecn_threshold.is_some() || !resolved.wred.is_empty() || schemes.iter().any(marks) {
        return Ok(());
    }
    let message = "nothing marks: there is no threshold, and no scheme that marks";
    let hint = "give a threshold, for instance ecn_threshold = \"100 KB\" or a [[wred]], or leave this out";
    if *settings.ecn_at != MarkedAt::Arrival {
        return Err(settings.ecn_at.fault(message).with_hint(hint));
    }
    if *settings.ecn_by != MarkedBy::Queue {
        return Err(settings.ecn_by.fault(message).with_hint(hint));
    }
    Ok(())
}
