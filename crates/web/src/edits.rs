//! Changes of a scenario's text by the controls of the page, each at a simulated time: nothing before it changes.

use penstock_scenario::names;
use penstock_schemes::{Duration, Unit, Value};
use serde::Serialize;
use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, value};

use crate::Refusal;
use crate::session::scenario;

/// The most hosts of one table of flows.
const MOST_HOSTS: usize = 10_000;

/// Keys of a table of flows that a change of the number of sources can carry along. Tables with others stay as they are.
const KEYS: &[&str] =
    &["from", "to", "traffic", "rate", "frame", "start", "stop", "stagger", "excess", "priority", "weight"];

/// The text with `key`, a dotted path such as `schemes.qcn.q_eq`, set to `value`.
///
/// # Errors
/// If the text is not a scenario, or if the key leads nowhere.
pub fn set(text: &str, key: &str, value: &str) -> Result<String, Refusal> {
    let mut scenario = scenario(text)?;
    scenario.set(key, value)?;
    Ok(scenario.to_toml())
}

/// The text in which `key`, a parameter such as `schemes.qcn.q_eq`, has another value from `at` on. An earlier change of it at the same time
/// is replaced; at the start of the run the value is that of all of it.
///
/// # Errors
/// If the text is not a scenario, or if the key leads nowhere.
pub fn change_parameter(text: &str, at: Duration, key: &str, new: &str) -> Result<String, Refusal> {
    if at == Duration::ZERO {
        return set(text, key, new);
    }
    let mut document = document(text)?;
    let changes = tables(&mut document, "change")?;
    let is_then = |change: &Table| change.contains_key("schemes") && time(change, "at") == Some(at);
    let place = changes.iter().position(is_then).unwrap_or(changes.len());
    if place == changes.len() {
        let mut change = Table::new();
        change["at"] = value(written(at));
        changes.push(change);
    }
    set(&document.to_string(), &format!("change.{place}.{key}"), new)
}

/// The text with a change of `link` at `at`: a rate such as "2 Gbps", or "down", or "up". An earlier change of that link at the
/// same time is replaced.
///
/// # Errors
/// If the text is not a scenario.
pub fn change_link(text: &str, link: &str, at: Duration, event: &str) -> Result<String, Refusal> {
    let mut document = document(text)?;
    let key = if matches!(event, "down" | "up") { "state" } else { "rate" };
    let changes = tables(&mut document, "change")?;
    changes.retain(|change| {
        let same = |name: &str, wanted: &str| change.get(name).and_then(Item::as_str) == Some(wanted);
        !(same("link", link) && time(change, "at") == Some(at) && change.contains_key(key))
    });
    let mut change = Table::new();
    change["link"] = value(link);
    change["at"] = value(written(at));
    change[key] = value(event);
    changes.push(change);
    Ok(document.to_string())
}

/// The long flows of a scenario whose number can be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Sources {
    /// How many are active.
    pub active: usize,
    /// How many can be.
    pub most: usize,
}

/// How many long flows are active at `at`, and how many can be.
///
/// # Errors
/// If the text is not a scenario.
pub fn count_sources(text: &str, at: Duration) -> Result<Sources, Refusal> {
    let mut document = document(text)?;
    let all = senders(tables(&mut document, "flow")?);
    let active: Vec<&Sender> = all.iter().filter(|sender| sender.is_active(at)).collect();
    let hosts = |senders: &mut dyn Iterator<Item = &Sender>| {
        let mut hosts: Vec<String> = senders.map(|sender| sender.host.clone()).collect();
        hosts.sort_unstable();
        hosts.dedup();
        hosts.len()
    };
    let most = hosts(&mut all.iter().filter(|sender| sender.start <= at));
    Ok(Sources { active: active.len(), most: most.max(active.len()) })
}

/// The text in which `count` of the long flows are active from `at` on: the last ones stop then, or some that have stopped start
/// again, as new flows.
///
/// # Errors
/// If the text is not a scenario, or if it has fewer such flows.
pub fn change_sources(text: &str, at: Duration, count: usize) -> Result<String, Refusal> {
    let Sources { active, most } = count_sources(text, at)?;
    if count > most || count == 0 {
        let message = format!("{count} sources; there can be 1 to {most}");
        return Err(Refusal::new(message, "a [[flow]] has more in from, as in \"h0..h7\""));
    }
    let mut document = document(text)?;
    let flows = tables(&mut document, "flow")?;
    for _ in count..active {
        stop_last(flows, at);
    }
    for _ in active..count {
        start_another(flows, at);
    }
    Ok(document.to_string())
}

/// A flow of a table: a host that sends.
#[derive(Debug, Clone)]
struct Sender {
    /// The index of its table, and its index in that table.
    table: usize,
    place: usize,
    host: String,
    start: Duration,
    stop: Option<Duration>,
}

impl Sender {
    fn is_active(&self, at: Duration) -> bool {
        self.start <= at && self.stop.is_none_or(|stop| stop > at)
    }
}

/// The long flows of all tables that can be taken apart.
fn senders(flows: &ArrayOfTables) -> Vec<Sender> {
    flows.iter().enumerate().flat_map(|(table, flow)| senders_of(table, flow)).collect()
}

fn senders_of(table: usize, flow: &Table) -> Vec<Sender> {
    let plain = flow.iter().all(|(key, _)| KEYS.contains(&key));
    let one = flow.get("to").and_then(Item::as_str).is_some_and(|to| !to.contains(".."));
    let times = [("start", Duration::ZERO), ("stagger", Duration::ZERO)].map(|(key, none)| match flow.get(key) {
        None => Some(none),
        Some(_) => time(flow, key),
    });
    let ([Some(start), Some(stagger)], true, true) = (times, plain, one) else { return Vec::new() };
    let stop = time(flow, "stop");
    let sender = |(place, host)| Sender { table, place, host, start: staggered(start, stagger, place), stop };
    hosts(flow).into_iter().enumerate().map(sender).collect()
}

/// The hosts that send in a table.
pub(crate) fn hosts(flow: &Table) -> Vec<String> {
    let texts: Vec<String> = match flow.get("from") {
        Some(Item::Value(toml_edit::Value::String(text))) => vec![text.value().clone()],
        Some(Item::Value(toml_edit::Value::Array(list))) => {
            list.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect()
        }
        _ => Vec::new(),
    };
    names::expand_all(&texts, MOST_HOSTS).unwrap_or_default()
}

/// Stops the last active flow. Its table is cut in two or three, so that all flows keep their order.
fn stop_last(flows: &mut ArrayOfTables, at: Duration) {
    let Some(last) = senders(flows).into_iter().rfind(|sender| sender.is_active(at)) else { return };
    let mut parts = ArrayOfTables::new();
    for (i, flow) in flows.iter().enumerate() {
        if i != last.table {
            parts.push(flow.clone());
            continue;
        }
        let hosts = hosts(flow);
        let pieces = [0..last.place, last.place..last.place + 1, last.place + 1..hosts.len()];
        for piece in pieces.into_iter().filter(|piece| !piece.is_empty()) {
            let mut part = flow.clone();
            part["from"] = value(hosts[piece.clone()].iter().collect::<Array>());
            if let Some(stagger) = time(flow, "stagger") {
                let start = time(flow, "start").unwrap_or(Duration::ZERO);
                part["start"] = value(written(staggered(start, stagger, piece.start)));
            }
            if piece.start == last.place {
                // A flow that begins now stops as soon as it may.
                part["stop"] = value(written(at.max(last.start + Duration(1))));
            }
            parts.push(part);
        }
    }
    *flows = parts;
}

/// Starts a flow from a host that has stopped, behind all others.
fn start_another(flows: &mut ArrayOfTables, at: Duration) {
    let all = senders(flows);
    let busy: Vec<&str> = all.iter().filter(|sender| sender.is_active(at)).map(|sender| sender.host.as_str()).collect();
    let idle = all.iter().find(|sender| sender.start <= at && !busy.contains(&sender.host.as_str()));
    let Some(Sender { table, host, .. }) = idle else { return };
    // A new table: a copy would keep its position in the text, in front of flows that follow it.
    let mut again = Table::new();
    let kept = flows.get(*table).into_iter().flat_map(Table::iter);
    for (key, item) in kept.filter(|(key, _)| !matches!(*key, "from" | "start" | "stop" | "stagger")) {
        again.insert(key, item.clone());
    }
    again["from"] = value(host.as_str());
    again["start"] = value(written(at));
    flows.push(again);
}

pub(crate) fn document(text: &str) -> Result<DocumentMut, Refusal> {
    // Its errors have a location and a hint.
    scenario(text)?;
    text.parse().map_err(|_| Refusal::new("the scenario is not TOML", "put it right in the editor"))
}

/// The tables of a list such as `[[change]]`.
pub(crate) fn tables<'a>(document: &'a mut DocumentMut, name: &str) -> Result<&'a mut ArrayOfTables, Refusal> {
    let list = document.entry(name).or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
    let wrong = || Refusal::new(format!("{name} is not a list of tables"), &format!("write [[{name}]] for each"));
    list.as_array_of_tables_mut().ok_or_else(wrong)
}

/// The start of the flow at `place` of its table.
fn staggered(start: Duration, stagger: Duration, place: usize) -> Duration {
    Duration(start.0.saturating_add(stagger.0.saturating_mul(place as u64)))
}

/// A time as a scenario has it, exact.
pub(crate) fn written(time: Duration) -> String {
    Value::Time(time).to_string()
}

/// The time of a key, where it is one.
pub(crate) fn time(table: &Table, key: &str) -> Option<Duration> {
    match Unit::Time.read(table.get(key)?.as_str()?) {
        Ok(Value::Time(time)) => Some(time),
        _ => None,
    }
}
