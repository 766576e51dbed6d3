//! Background traffic over a link: constant, and controlled by no scheme. A change of it is a change of the scenario's flows.

use penstock_scenario::limits::Limits;
use penstock_scenario::{Choice, Plan};
use penstock_schemes::{BitRate, Duration, Unit, Value};
use penstock_sim::network::{FlowId, PortId};
use serde::Serialize;
use toml_edit::{ArrayOfTables, Item, Table, value};

use crate::Refusal;
use crate::edits::{document, hosts, tables, time, written};
use crate::session::{SMALLER, scenario};

/// The background traffic of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Background {
    /// Its rate, bit/s without wire overhead.
    pub rate_bps: u64,
    /// The rate of the link at the start, bit/s.
    pub link_bps: u64,
}

/// The background traffic of `link` at `at`.
///
/// # Errors
/// If the text is no scenario, or has no such link, or no flow of one source and one destination that crosses it.
pub fn count_background(text: &str, at: Duration, link: &str) -> Result<Background, Refusal> {
    let crossing = Crossing::new(text, link)?;
    let mut document = document(text)?;
    let flows = tables(&mut document, "flow")?;
    crossing.like(flows)?;
    let rates = flows.iter().filter(|flow| crossing.is_background(flow) && is_active(flow, at)).map(rate);
    Ok(Background { rate_bps: rates.sum(), link_bps: crossing.plan.network.ports[crossing.port.index()].rate.0 })
}

/// The text in which the background traffic of `link` has this rate, bit/s, from `at` on; zero for none. It takes the path of that which the
/// scenario has, or else of the first flow that crosses the link.
///
/// # Errors
/// As [`count_background`].
pub fn change_background(text: &str, at: Duration, link: &str, rate_bps: u64) -> Result<String, Refusal> {
    let crossing = Crossing::new(text, link)?;
    let mut document = document(text)?;
    let flows = tables(&mut document, "flow")?;
    let like = crossing.like(flows)?;
    let mut left = rate_bps;
    for flow in flows.iter_mut().filter(|flow| crossing.is_background(flow) && is_active(flow, at)) {
        if start(flow) == at && left > 0 {
            // It begins now, and with this rate.
            flow["rate"] = value(Value::Rate(BitRate(std::mem::take(&mut left))).to_string());
        } else {
            // A flow that begins now stops as soon as it may.
            flow["stop"] = value(written(at.max(start(flow) + Duration(1))));
        }
    }
    if left > 0 {
        flows.push(crossing.flow(like, at, left));
    }
    Ok(document.to_string())
}

/// The flows that cross a link.
struct Crossing {
    plan: Plan,
    port: PortId,
}

impl Crossing {
    fn new(text: &str, link: &str) -> Result<Self, Refusal> {
        let plan = scenario(text)?.plan(&Choice { limits: Limits::lowered(SMALLER), ..Choice::default() })?;
        let port = plan.port(link).map_err(|hint| Refusal::new(format!("there is no link \"{link}\""), &hint))?;
        Ok(Self { plan, port })
    }

    /// Whether a flow from one host to another crosses the link.
    fn has(&self, source: &str, destination: &str) -> bool {
        let Plan { network, flow_ends, node_names, .. } = &self.plan;
        let ends = |(from, to): &(usize, Vec<usize>)| {
            node_names[*from] == source && matches!(to[..], [to] if node_names[to] == destination)
        };
        let mut flows = (0..).map(FlowId).zip(flow_ends).filter(|(_, own)| ends(own));
        flows.any(|(flow, _)| network.route(flow).any(|hop| network.hops[hop.index()].port == self.port))
    }

    /// The first host of a table whose flow crosses the link, and the destination.
    fn ends(&self, flow: &Table) -> Option<(String, String)> {
        let to = flow.get("to")?.as_str()?;
        let from = hosts(flow).into_iter().find(|host| self.has(host, to))?;
        Some((from, to.to_owned()))
    }

    /// Whether a table is background traffic over the link, of one source.
    fn is_background(&self, flow: &Table) -> bool {
        let is = |key: &str, word: &str| flow.get(key).and_then(Item::as_str) == Some(word);
        let free = flow.get("controlled").and_then(Item::as_bool) == Some(false);
        let plain = is("traffic", "constant") && flow.contains_key("rate") && !flow.contains_key("size");
        free && plain && hosts(flow).len() == 1 && self.ends(flow).is_some()
    }

    /// The table whose path background traffic takes.
    fn like(&self, flows: &ArrayOfTables) -> Result<Table, Refusal> {
        let background = flows.iter().find(|flow| self.is_background(flow));
        let like = background.or_else(|| flows.iter().find(|flow| self.ends(flow).is_some()));
        let none = || {
            let link = self.plan.port_name(self.port);
            Refusal::new(format!("no flow of a [[flow]] to one host crosses {link}"), "choose a link that one crosses")
        };
        like.cloned().ok_or_else(none)
    }

    /// A table of background traffic.
    fn flow(&self, like: Table, at: Duration, rate_bps: u64) -> Table {
        let mut flow = Table::new();
        let mut names = (1..).map(|n| if n == 1 { "background".to_owned() } else { format!("background-{n}") });
        let taken = |name: &String| self.plan.flow_tables.contains(name) || self.plan.flow_names.contains(name);
        flow["name"] = value(names.find(|name| !taken(name)).unwrap_or_default());
        let (from, to) = self.ends(&like).unwrap_or_default();
        (flow["from"], flow["to"]) = (value(from), value(to));
        flow["traffic"] = value("constant");
        flow["rate"] = value(Value::Rate(BitRate(rate_bps)).to_string());
        for key in ["frame", "priority"] {
            if let Some(item) = like.get(key) {
                flow[key] = item.clone();
            }
        }
        flow["start"] = value(written(at));
        flow["controlled"] = value(false);
        flow
    }
}

fn start(flow: &Table) -> Duration {
    time(flow, "start").unwrap_or(Duration::ZERO)
}

fn is_active(flow: &Table, at: Duration) -> bool {
    start(flow) <= at && time(flow, "stop").is_none_or(|stop| stop > at)
}

fn rate(flow: &Table) -> u64 {
    match flow.get("rate").and_then(Item::as_str).map(|text| Unit::Rate.read(text)) {
        Some(Ok(Value::Rate(rate))) => rate.0,
        _ => 0,
    }
}
