//! Flows that begin when others have ended: those that a table says it waits for, closed loops, answers.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use penstock_schemes::{Duration, Instant};
use penstock_sim::network::LONGEST;

use super::{Destination, FlowSpec, Wait};
use crate::error::{Fault, nearest};
use crate::hash::hash;
use crate::keys::fields::{Either, Names};
use crate::keys::read::Entry;
use crate::keys::sections::{self, Think};
use crate::keys::sizes::Sizes;
use crate::limits::{Bounds, FLOWS, WAITS};
use crate::names;
use crate::plan::source_table::SourceTable;

/// The end of an answer's name, after the name of its flow. No other name has a dot, but for those of loads, which end
/// with a number.
const ANSWER: &str = ".response";

/// The name of the answer to a flow, or of the answers to those of a table.
pub(super) fn answer(name: &str) -> String {
    format!("{name}{ANSWER}")
}

/// Whether flows of the table begin when others have ended, and not at a time.
pub(super) fn chained(table: &sections::Flow) -> bool {
    table.after.is_some() || table.after_each.is_some() || table.think.is_some()
}

/// Whether the flows of a round begin at a time.
pub(super) fn has_start(table: &sections::Flow, round: usize) -> bool {
    table.after.is_none() && table.after_each.is_none() && (round == 0 || table.think.is_none())
}

/// Refuses keys that contradict one another.
pub(super) fn check(table: &sections::Flow, multicast: bool) -> Result<(), Fault> {
    let waits = table.after.is_some() || table.after_each.is_some();
    if table.after.is_some() && table.after_each.is_some() {
        let fault = table.after_each.fault("a table has after or after_each, not both");
        return Err(fault.with_hint("leave one of them out"));
    }
    if waits && !matches!(*table.start, Either::First(Duration::ZERO)) {
        let fault = table.start.fault("the flow begins when others have ended, and not at a time");
        return Err(fault.with_hint("leave start out; delay is the time from their end to the beginning"));
    }
    if !waits && *table.delay > Duration::ZERO {
        let fault = table.delay.fault("applies only to a flow that waits for others");
        return Err(fault.with_hint("add after = \"f0\", or write start"));
    }
    if table.think.is_some() && table.every.is_some() {
        let fault = table.think.fault("rounds begin at times or after one another: every or think, not both");
        return Err(fault.with_hint("leave every out"));
    }
    if table.think.is_some() && *table.repeat == 1 {
        let fault = table.think.fault("a table without repeat has a single round");
        return Err(fault.with_hint("for instance repeat = 10"));
    }
    if chained(table) && table.stop.is_some() {
        let fault = table.stop.fault("the flow begins when others have ended, which may be later");
        return Err(fault.with_hint("give it a size instead of stop"));
    }
    for (wanted, key) in [(table.think.is_some(), "think"), (table.response.is_some(), "response")] {
        if wanted && table.size.is_none() {
            let fault = table.size.fault(format!("missing; {key} needs the end of the flow"));
            return Err(fault.with_hint("for instance size = \"1 KB\""));
        }
    }
    if table.response.is_some() && multicast {
        let fault = table.response.fault("a group does not answer");
        return Err(fault.with_hint("leave response out, or send to hosts"));
    }
    Ok(())
}

/// Adds the answers to the flows of a table, `own` among all, and lets each round wait for the one before, where the table says so.
/// `pairs` flows are a round.
pub(super) fn within(
    table: &sections::Flow,
    flows: &mut Vec<FlowSpec>,
    own: Range<usize>,
    pairs: usize,
    seed: u64,
    taken: &mut BTreeSet<String>,
) -> Result<(), Fault> {
    let (first, count) = (own.start, own.len());
    if let Some(size) = &*table.response {
        let sizes = Sizes::read(size)?;
        for asked in own {
            let question = &flows[asked];
            let Destination::Host(source) = question.to else { unreachable!("`check` has refused groups") };
            let name = answer(&question.name);
            taken.insert(name.clone());
            let answer = FlowSpec {
                size: Some(sizes.of(seed, &name)),
                name,
                source,
                to: Destination::Host(question.source),
                start: Instant::NEVER,
                wait: Some(Wait { after: vec![asked], delay: Duration::ZERO }),
                answers: true,
                stop: None,
                ..question.one()
            };
            flows.push(answer);
        }
    }
    let Some(think) = &*table.think else { return Ok(()) };
    let last = if table.response.is_some() { count } else { 0 };
    for flow in pairs..count {
        let delay = match think {
            Either::First(time) => *time,
            Either::Second(think) => exponential(think, seed, &flows[first + flow].name),
        };
        flows[first + flow].wait = Some(Wait { after: vec![first + last + flow - pairs], delay });
    }
    Ok(())
}

/// Gives each answer the origin of the flow that it answers. The flows of a table are `asked` in number, and their
/// answers follow them.
pub(super) fn answers_follow(flows: &mut [FlowSpec], asked: usize) {
    let (questions, answers) = flows.split_at_mut(asked);
    for (question, answer) in questions.iter().zip(answers) {
        answer.origin = question.origin;
    }
}

/// The time that the flow called `name` draws.
fn exponential(think: &Think, seed: u64, name: &str) -> Duration {
    let word = hash(name.as_bytes(), &[&seed.to_le_bytes()[..], b"think"].concat());
    // 53 bits, in the middle of their step: never 0 or 1.
    let share = ((word >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    Duration((-libm::log(share) * think.exponential.mean.0 as f64) as u64).min(LONGEST)
}

/// Lets the flows of tables wait for those that the tables name.
pub(super) fn across(tables: &[sections::Flow], flows: &mut [FlowSpec], bounds: &Bounds<'_>) -> Result<(), Fault> {
    if tables.iter().all(|table| table.after.is_none() && table.after_each.is_none()) {
        return Ok(());
    }
    let known: BTreeMap<String, usize> = flows.iter().enumerate().map(|(i, flow)| (flow.name.clone(), i)).collect();
    let mut own: Vec<Vec<usize>> = vec![Vec::new(); tables.len()];
    for (i, flow) in flows.iter().enumerate() {
        if let SourceTable::Flow(table) = flow.origin
            && !flow.answers
        {
            own[table].push(i);
        }
    }
    let mut waits = 0;
    for (table, own) in tables.iter().zip(&own) {
        let (key, each) = if table.after.is_some() { (&table.after, false) } else { (&table.after_each, true) };
        let Some(listed) = &**key else { continue };
        let others = named(key, listed, flows, &known, bounds)?;
        // In a closed loop the first round alone waits for others.
        let loops = table.think.is_some();
        let waiting: Vec<usize> = own.iter().copied().filter(|&flow| !loops || flows[flow].wait.is_none()).collect();
        waits += if each { waiting.len() } else { waiting.len() * others.len() };
        bounds.check(WAITS, waits as u64, "fewer flows in after").map_err(|e| key.excess(e))?;
        if each && waiting.len() != others.len() {
            let message = format!("{} flows for {} that wait", others.len(), waiting.len());
            return Err(key
                .fault(message)
                .with_hint("name one flow for each flow of the table; or use after, for all of them"));
        }
        let every = table.every.map_or(0, |every| every.0);
        let pairs = own.len() / (*table.repeat as usize).max(1);
        for (pair, &flow) in waiting.iter().enumerate() {
            let after = if each { vec![others[pair]] } else { others.clone() };
            let (round, pair) = (pair / pairs.max(1), pair % pairs.max(1));
            let later = table.stagger.0.saturating_mul(pair as u64).saturating_add(every.saturating_mul(round as u64));
            let delay = Duration(table.delay.0.saturating_add(later)).min(LONGEST);
            flows[flow].wait = Some(Wait { after, delay });
        }
    }
    check_order(tables, flows)
}

/// The flows that a table waits for, by number.
fn named(
    key: &Entry<Option<Names>>,
    listed: &Names,
    flows: &[FlowSpec],
    known: &BTreeMap<String, usize>,
    bounds: &Bounds<'_>,
) -> Result<Vec<usize>, Fault> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for text in listed.iter() {
        let (asked, suffix) = text.strip_suffix(ANSWER).map_or((text.as_str(), ""), |asked| (asked, ANSWER));
        for name in names::expand(asked, bounds.most(FLOWS)).map_err(|e| key.excess(e))? {
            let name = format!("{name}{suffix}");
            let Some(&flow) = known.get(&name) else {
                let hint = nearest(&name, known.keys().map(String::as_str));
                let hint = hint.unwrap_or_else(|| "the name of a flow of [[flow]], or a range of them".to_owned());
                return Err(key.fault(format!("there is no flow \"{name}\"")).with_hint(hint));
            };
            if !seen.insert(flow) {
                return Err(key.fault(format!("\"{name}\" is listed twice")).with_hint("list each flow once"));
            }
            if flows[flow].size.is_none() && flows[flow].stop.is_none() {
                let message = format!("\"{name}\" has no end: nothing begins after it");
                return Err(key.fault(message).with_hint("give it a size or a stop"));
            }
            found.push(flow);
        }
    }
    Ok(found)
}

/// Refuses flows that wait for one another in a circle.
fn check_order(tables: &[sections::Flow], flows: &[FlowSpec]) -> Result<(), Fault> {
    let mut open: Vec<usize> = flows.iter().map(|flow| flow.wait.as_ref().map_or(0, |wait| wait.after.len())).collect();
    let mut followers: Vec<Vec<usize>> = vec![Vec::new(); flows.len()];
    for (flow, spec) in flows.iter().enumerate() {
        for &other in spec.wait.iter().flat_map(|wait| &wait.after) {
            followers[other].push(flow);
        }
    }
    let mut ready: Vec<usize> = (0..flows.len()).filter(|&flow| open[flow] == 0).collect();
    while let Some(flow) = ready.pop() {
        for &follower in &followers[flow] {
            open[follower] -= 1;
            if open[follower] == 0 {
                ready.push(follower);
            }
        }
    }
    let Some(stuck) = open.iter().position(|&open| open > 0) else { return Ok(()) };
    // Each stuck flow waits for another stuck flow: a walk from one to the next comes round.
    let next = |flow: usize| {
        let after = flows[flow].wait.iter().flat_map(|wait| &wait.after);
        after.copied().find(|&other| open[other] > 0).expect("a flow that never begins waits for another one")
    };
    let mut path = vec![stuck];
    let begins = loop {
        let flow = next(path[path.len() - 1]);
        if let Some(begins) = path.iter().position(|&other| other == flow) {
            break begins;
        }
        path.push(flow);
    };
    let circle = &path[begins..];
    // Answers and closed loops alone make no circle: one of these flows stands in a table with after.
    let names_keys = |flow: usize| match flows[flow].origin {
        SourceTable::Flow(table) if !flows[flow].answers => {
            let table = &tables[table];
            [&table.after, &table.after_each].into_iter().find(|key| key.is_some())
        }
        _ => None,
    };
    let key = circle.iter().find_map(|&flow| names_keys(flow)).expect("a circle has a table with after");
    let mut round: Vec<&str> = circle.iter().take(5).map(|&flow| flows[flow].name.as_str()).collect();
    if circle.len() > 5 {
        round.push("…");
    }
    round.push(&flows[circle[0]].name);
    let message = format!("flows wait for one another in a cycle: {}", round.join(" after "));
    Err(key.fault(message).with_hint("let one of them begin at a time: start instead of after"))
}
