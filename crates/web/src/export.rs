//! The names and types that JavaScript sees. A refusal crosses as the JSON of a [`Refusal`].

use penstock_scenario::{Job, Plan, catalogue, description};
use penstock_schemes::quantity::{self, Unreadable};
use penstock_schemes::{Duration, Instant, Unit, Value};
use serde::Serialize;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::store::{
    FLOW_COLUMNS, FLOW_NOW_COLUMNS, FRAME_COLUMNS, FRAME_KINDS, QUEUE_COLUMNS, QUEUE_NOW_COLUMNS, SIGNAL_COLUMNS,
};
use crate::{MESSAGE_COLUMNS, Refusal, Session, background, edits, own};

/// `value` as JSON.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("it has text keys only")
}

fn refused(refusal: Refusal) -> String {
    json(&refusal)
}

/// A number in a unit of the catalogue.
fn unit(name: &str) -> Result<Unit, String> {
    let hint = "octets, s, bit/s, count and ratio are";
    Unit::named(name).ok_or_else(|| refused(Refusal::new(format!("\"{name}\" is not a unit"), hint)))
}

/// The instant `seconds` after the start of a run; the end of time if that is no number.
fn instant(seconds: f64) -> Instant {
    match Unit::Time.of_number(seconds) {
        Some(Value::Time(time)) => Instant::ZERO + time,
        _ => Instant::NEVER,
    }
}

fn span(seconds: f64) -> Duration {
    instant(seconds).since(Instant::ZERO)
}

/// A job of a scenario, for its drawing.
#[derive(Serialize)]
struct DescribedJob<'a> {
    name: &'a str,
    /// The collective, if it is one.
    kind: Option<&'a str>,
    /// Octets of data at a rank of a collective.
    size_octets: Option<u64>,
    iterations: u32,
    /// The host of each rank.
    hosts: Vec<&'a str>,
    /// The octets that each of them receives over the network in an iteration.
    received_octets: Vec<u64>,
}

impl<'a> DescribedJob<'a> {
    fn new(plan: &'a Plan, table: usize, job: &Job) -> Self {
        let octets = job.octets_of_hosts();
        Self {
            name: plan.generated.table(table),
            kind: job.operation().map(|own| own.kind),
            size_octets: job.operation().map(|own| own.size.0),
            iterations: job.iterations(),
            hosts: job.hosts().iter().map(|&host| plan.node_names[host].as_str()).collect(),
            received_octets: job.hosts().iter().map(|host| octets.get(host).map_or(0, |both| both.1)).collect(),
        }
    }
}

/// A run of a scenario.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Engine(Session);

#[wasm_bindgen]
impl Engine {
    /// Lays out the scenario of `text`, under `scheme` where one is given.
    ///
    /// # Errors
    /// If the scenario is wrong, or too large for a page.
    #[wasm_bindgen(constructor)]
    pub fn new(text: &str, scheme: Option<String>) -> Result<Self, String> {
        Session::new(text, scheme.as_deref()).map(Self).map_err(refused)
    }

    /// The network and its flows, and the columns of rows, as JSON.
    #[must_use]
    pub fn describe(&self) -> String {
        #[derive(Serialize)]
        struct Described<'a> {
            plan: description::Description<'a>,
            /// The priority of each recorded queue.
            queue_priorities: Vec<u8>,
            queue_columns: &'a [&'a str],
            flow_columns: &'a [&'a str],
            queue_now_columns: &'a [&'a str],
            flow_now_columns: &'a [&'a str],
            /// Of this number of samples one is kept.
            every: u64,
            signal_columns: &'a [&'a str],
            frame_columns: &'a [&'a str],
            frame_kinds: &'a [&'a str],
            message_columns: &'a [&'a str],
            jobs: Vec<DescribedJob<'a>>,
            resolved: &'a str,
        }
        let plan = self.0.plan();
        let places = plan.record.queues.iter().filter_map(|&queue| plan.network.port_and_priority(queue));
        json(&Described {
            plan: description::Description::of_tables(plan),
            queue_priorities: places.map(|(_, priority)| priority).collect(),
            queue_columns: QUEUE_COLUMNS,
            flow_columns: FLOW_COLUMNS,
            queue_now_columns: QUEUE_NOW_COLUMNS,
            flow_now_columns: FLOW_NOW_COLUMNS,
            every: self.0.every(),
            signal_columns: SIGNAL_COLUMNS,
            frame_columns: FRAME_COLUMNS,
            frame_kinds: FRAME_KINDS,
            message_columns: MESSAGE_COLUMNS,
            jobs: plan.generated.jobs().map(|(table, job)| DescribedJob::new(plan, table, job)).collect(),
            resolved: &plan.resolved,
        })
    }

    /// Simulates up to `until_s`, or to the end, but handles no more than about `work` events; whether it has come so far. What
    /// happens at `until_s` has happened then, the sample among it, so that a page shows the state of its clock.
    ///
    /// # Errors
    /// If there is more of something than a page holds.
    pub fn advance(&mut self, until_s: f64, work: u32) -> Result<bool, String> {
        self.0.advance(instant(until_s) + Duration(1), work.into()).map_err(refused)
    }

    /// Simulated time, s.
    #[must_use]
    pub fn now(&self) -> f64 {
        self.0.now().as_seconds()
    }

    /// Events handled.
    #[must_use]
    pub fn events(&self) -> f64 {
        self.0.work().0 as f64
    }

    /// Links that frames have crossed.
    #[must_use]
    pub fn hops(&self) -> f64 {
        self.0.work().1 as f64
    }

    /// Whether the run has come to its end.
    #[must_use]
    pub fn ended(&self) -> bool {
        self.0.summary().is_some()
    }

    /// The rows of samples from the `from`-th on, one after the other.
    #[must_use]
    pub fn samples(&self, from: usize) -> Vec<f64> {
        self.0.samples(from).to_vec()
    }

    /// The rows of signals since the last call, one after the other.
    #[must_use]
    pub fn signals(&mut self) -> Vec<f64> {
        self.0.take_signals()
    }

    /// The state at this instant, between the samples; empty at the end of the run.
    #[must_use]
    pub fn state(&mut self) -> Vec<f64> {
        self.0.state()
    }

    /// Begins or ends to look at the frames on lines.
    pub fn look(&mut self, looks: bool) {
        self.0.look(looks);
    }

    /// The rows of frames that have left lines since the last call, one after the other.
    #[must_use]
    pub fn frames(&mut self) -> Vec<f64> {
        self.0.take_frames()
    }

    /// The rows of messages of jobs since the last call, one after the other.
    #[must_use]
    pub fn messages(&mut self) -> Vec<f64> {
        self.0.take_messages()
    }

    /// The table of jobs as JSON, a list of rows, at the end of a run.
    #[must_use]
    pub fn jobs(&self) -> String {
        json(&self.0.jobs())
    }

    /// The text of `summary.json`, at the end of the run.
    #[must_use]
    pub fn summary(&self) -> Option<String> {
        self.0.summary().map(penstock_results::Summary::to_json)
    }
}

/// Every scheme with its parameters and profiles, as JSON.
#[wasm_bindgen]
#[must_use]
pub fn schemes() -> String {
    catalogue::schemes()
}

/// Takes the text of a scheme of the reader's, as JSON: its location, by which scenarios name it, and its entry as those of [`schemes`].
///
/// # Errors
/// If the text is no scheme.
#[wasm_bindgen(js_name = defineScheme)]
pub fn define_scheme(text: &str) -> Result<String, String> {
    let (location, entry) = own::define(text).map_err(refused)?;
    Ok(format!("{{\"location\":{},\"scheme\":{entry}}}", json(&location)))
}

/// The text with a key set, such as `schemes.qcn.q_eq`.
///
/// # Errors
/// If the key leads nowhere.
#[wasm_bindgen]
pub fn set(text: &str, key: &str, value: &str) -> Result<String, String> {
    edits::set(text, key, value).map_err(refused)
}

/// The text in which a parameter, such as `schemes.qcn.q_eq`, has another value from a time on.
///
/// # Errors
/// If the key leads nowhere.
#[wasm_bindgen(js_name = changeParameter)]
pub fn change_parameter(text: &str, at_s: f64, key: &str, value: &str) -> Result<String, String> {
    edits::change_parameter(text, span(at_s), key, value).map_err(refused)
}

/// The text with a change of a link at a time: a rate such as "2 Gbps", or "down", or "up".
///
/// # Errors
/// If the text is not a scenario.
#[wasm_bindgen(js_name = changeLink)]
pub fn change_link(text: &str, link: &str, at_s: f64, event: &str) -> Result<String, String> {
    edits::change_link(text, link, span(at_s), event).map_err(refused)
}

/// The text in which `count` of the scenario's long flows are active from a time on.
///
/// # Errors
/// If the text is not a scenario, or if its flows cannot be changed so.
#[wasm_bindgen(js_name = changeSources)]
pub fn change_sources(text: &str, at_s: f64, count: usize) -> Result<String, String> {
    edits::change_sources(text, span(at_s), count).map_err(refused)
}

/// How many of the scenario's long flows are active at a time, and how many can be, as JSON.
///
/// # Errors
/// If the text is not a scenario.
#[wasm_bindgen(js_name = countSources)]
pub fn count_sources(text: &str, at_s: f64) -> Result<String, String> {
    edits::count_sources(text, span(at_s)).map(|count| json(&count)).map_err(refused)
}

/// The text in which the background traffic of a link has a rate, bit/s, from a time on; zero for none.
///
/// # Errors
/// If the text is not a scenario, or if no flow crosses the link.
#[wasm_bindgen(js_name = changeBackground)]
pub fn change_background(text: &str, link: &str, at_s: f64, rate_bps: f64) -> Result<String, String> {
    background::change_background(text, span(at_s), link, rate_bps as u64).map_err(refused)
}

/// The background traffic of a link at a time, as JSON.
///
/// # Errors
/// As above.
#[wasm_bindgen(js_name = countBackground)]
pub fn count_background(text: &str, link: &str, at_s: f64) -> Result<String, String> {
    background::count_background(text, span(at_s), link).map(|count| json(&count)).map_err(refused)
}

/// A text such as "33 KB" as a number in a unit of the catalogue.
///
/// # Errors
/// If it is none.
#[wasm_bindgen(js_name = readQuantity)]
pub fn read_quantity(text: &str, name: &str) -> Result<f64, String> {
    let wrong = |Unreadable { message, hint }| refused(Refusal { hint, ..Refusal::new(message, "") });
    let value = unit(name)?.read(text).map_err(wrong)?;
    value.number().ok_or_else(|| refused(Refusal::new(format!("{name} has no numbers"), "choose a word")))
}

/// A number in a unit of the catalogue as a text such as "33.1 KB", which reads back as the same number.
///
/// # Errors
/// If there is no such quantity.
#[wasm_bindgen(js_name = writeQuantity)]
pub fn write_quantity(number: f64, name: &str) -> Result<String, String> {
    let wrong = || refused(Refusal::new(format!("there is no quantity of {number} {name}"), "write a smaller number"));
    unit(name)?.of_number(number).map(Value::write_short).ok_or_else(wrong)
}

/// A number in a unit of the catalogue as a person reads it, with three digits.
///
/// # Errors
/// If there is no such unit.
#[wasm_bindgen(js_name = showQuantity)]
pub fn show_quantity(number: f64, name: &str) -> Result<String, String> {
    unit(name).map(|unit| quantity::show(unit, number))
}
