//! Every key that a scenario can have: name, kind, default and meaning, each said once.

mod flow;
mod pfc;
mod topology;

use std::sync::LazyLock;

use penstock_schemes::{Info, Parameter, SCHEMES, Unit};
use penstock_sim::network::{FASTEST, LARGEST_QUEUE, LONGEST};

use crate::keys::{Fallback, Key, Kind, Section, Value};
use crate::units::Dimension::{Rate, Size, Time, Tolerance};
use crate::write;

/// The whole scenario.
pub(crate) static SCENARIO: LazyLock<Section> = LazyLock::new(scenario);

/// The largest tolerance of clocks, a hundredth, in parts per billion.
const MOST_OFF: u64 = 10_000_000;

/// Beyond this, TOML has no whole numbers.
const LARGEST_COUNT: u64 = i64::MAX as u64;

fn scenario() -> Section {
    section(
        "A scenario: one file, one experiment.",
        vec![
            optional("name", Kind::Text, "the file's name without .toml", "Name of the scenario."),
            required("question", Kind::Text, "The question that the scenario answers, in one line."),
            required("duration", time(1), "Simulated time."),
            key("warmup", time(0), "0 s", "Statistics begin here; they cover the time from here to the end."),
            key(
                "seed",
                Kind::Count(0, LARGEST_COUNT),
                "1",
                "Seed of all random numbers. Same scenario and seed, same bytes.",
            ),
            key(
                "lossless",
                Kind::Switch,
                "false",
                "The scenario claims that the network loses no data frame; a run that loses one fails.",
            ),
            required("scheme", scheme_words(), "Which scheme runs, unless --scheme says otherwise."),
            key("schemes", Kind::Table(schemes()), "{}", ""),
            key("priority", Kind::Tables(priority()), "[]", ""),
            required("topology", Kind::Table(topology::topology()), ""),
            key("network", Kind::Table(network()), "{}", ""),
            optional("pfc", Kind::Table(pfc::pfc()), "no flow control", ""),
            key("hosts", Kind::Table(hosts()), "{}", ""),
            key("group", Kind::Tables(flow::group()), "[]", ""),
            required("flow", Kind::Tables(flow::flow()), ""),
            key("change", Kind::Tables(change()), "[]", ""),
            key("window", Kind::Tables(window()), "[]", ""),
            key("record", Kind::Table(record()), "{}", ""),
        ],
    )
}

/// The table of one scheme.
///
/// # Panics
/// If there is no such scheme.
pub(crate) fn scheme(name: &str) -> &'static Section {
    let inner = |section: &'static Section, name: &str| {
        let kind = section.keys.iter().find(|key| key.name == name).map(|key| &key.kind);
        if let Some(Kind::Table(section)) = kind { section } else { panic!("[{name}] is a table") }
    };
    inner(inner(&SCENARIO, "schemes"), name)
}

fn schemes() -> Section {
    let tables = SCHEMES
        .iter()
        .map(|info| optional(info.name, Kind::Table(settings(info)), "every parameter at its default", ""));
    section("Settings of the schemes. A scheme without a table runs at its defaults.", tables.collect())
}

fn priority() -> Section {
    section(
        "A priority with a scheme of its own. All others run the scenario's scheme.",
        vec![
            required("priority", Kind::Count(0, 7), "Which one; a flow has it."),
            required("scheme", scheme_words(), "The scheme that runs there, whatever --scheme says."),
            optional(
                "profile",
                Kind::Text,
                "the settings in [schemes.NAME]",
                "A named set of values of that scheme, instead of its settings in [schemes.NAME].",
            ),
        ],
    )
}

fn settings(info: &Info) -> Section {
    let mut keys = Vec::new();
    if !info.profiles.is_empty() {
        let names: Vec<&'static str> = info.profiles.iter().map(|p| p.name).collect();
        let doc = "A named set of values to start from; single keys go before it.";
        keys.push(optional("profile", Kind::Word(Vec::leak(names)), "no profile", doc));
    }
    keys.extend(info.parameters.iter().map(|p| Key {
        name: p.name,
        kind: parameter_kind(p),
        fallback: Fallback::Value(write::value(&parameter_value(p, p.default)).expect("a parameter is not a table")),
        doc: format!("{} Source: {}", p.meaning(), p.source),
    }));
    section(info.title, keys)
}

/// A scheme's value as a scenario's value.
pub(crate) fn parameter_value(p: &Parameter, value: penstock_schemes::Value) -> Value {
    use penstock_schemes::Value as Given;
    match (value, p.unit) {
        (Given::Int(x), Unit::Octets | Unit::Threshold) => Value::Quantity(Size, x),
        (Given::Int(x), Unit::Time) => Value::Quantity(Time, x),
        (Given::Int(x), Unit::BitRate) => Value::Quantity(Rate, x),
        (Given::Int(x), _) => Value::Count(x),
        (Given::Real(x), _) => Value::Real(x),
        (Given::Choice(word), _) => Value::Word(word),
        (Given::Switch(x), _) => Value::Switch(x),
    }
}

fn parameter_kind(p: &Parameter) -> Kind {
    use penstock_schemes::Value as Given;
    let whole = |v: Given| if let Given::Int(x) = v { x } else { 0 };
    let real = |v: Given| if let Given::Real(x) = v { x } else { 0.0 };
    match p.unit {
        Unit::Octets | Unit::Threshold => Kind::Quantity(Size, whole(p.minimum), whole(p.maximum)),
        Unit::Time => Kind::Quantity(Time, whole(p.minimum), whole(p.maximum)),
        Unit::BitRate => Kind::Quantity(Rate, whole(p.minimum), whole(p.maximum)),
        Unit::Count => Kind::Count(whole(p.minimum), whole(p.maximum)),
        Unit::Ratio => Kind::Real(real(p.minimum), real(p.maximum)),
        Unit::Choice(words) => Kind::Word(words),
        Unit::Switch => Kind::Switch,
    }
}

fn network() -> Section {
    let ideal =
        section("", vec![required("ideal", time(0), "The fixed delay from the point that sends to the source.")]);
    section(
        "How links count and nodes delay.",
        vec![
            key(
                "wire_overhead",
                size(0, 1000),
                "0 octets",
                "What each frame occupies on the line beyond its own length. Frames count with their FCS: preamble and \
                 gap are 20 octets more. All rates include it.",
            ),
            key("in_service_counts", Kind::Switch, "true", "Whether the frame in transmission counts as queued."),
            key(
                "switch_clocks",
                Kind::Word(&["aligned", "own"]),
                "aligned",
                "When switches measure that do so at intervals (FECN, E-FECN): all at the same instants, or each at an \
                 offset of its own, drawn from the seed.",
            ),
            key(
                "control_buffer",
                size(64, LARGEST_QUEUE.0),
                "64 KB",
                "Size of the queue of control frames at each port.",
            ),
            key(
                "feedback",
                Kind::Either(vec![Kind::Word(&["in-band"]), Kind::Table(ideal)]),
                "in-band",
                "How signals travel: as real frames on the reversed path, or at an ideal fixed delay, as in \
                 { ideal = \"10 us\" }.",
            ),
            key(
                "clock_tolerance",
                Kind::Quantity(Tolerance, 0, MOST_OFF),
                "0 ppm",
                "How far the clocks of nodes may be off, either way: the rates of all lines on which a node sends deviate by \
                 what is drawn for it, by the seed and its name. IEEE 802.3 allows 100 ppm. Without it, sources at exactly \
                 the rate of their bottleneck stay in phase, which no two clocks do.",
            ),
            key("node_delay", time(0), "0 s", "Time that a frame takes from the input of a node to its output queue."),
            key("node_delay_at", Kind::Word(&["switches", "hosts", "all"]), "switches", "Which nodes take node_delay."),
            key(
                "host_delay",
                time(0),
                "0 s",
                "Time that a host takes to act on a frame that has arrived, beyond node_delay.",
            ),
            key(
                "congestion_points",
                Kind::Either(vec![Kind::Word(&["switches", "everywhere"]), Kind::List]),
                "switches",
                "Which ports have congestion points: those of switches, all, or the ports listed.",
            ),
        ],
    )
}

fn hosts() -> Section {
    let bucket = section(
        "",
        vec![
            required("depth", size(1, 1 << 40), "The most octets that the bucket holds; at least a frame."),
            required("interval", time(1), "Time between refills."),
            required("granularity", rate(), "Step of the rate; a rate is rounded down to a multiple."),
        ],
    );
    let token_bucket = section("", vec![required("token_bucket", Kind::Table(bucket), "A token bucket.")]);
    section(
        "How hosts send.",
        vec![
            key(
                "pacer",
                Kind::Either(vec![Kind::Word(&["ideal"]), Kind::Table(token_bucket)]),
                "ideal",
                "How a rate becomes times of release: \"ideal\" (a frame leaves when the last one would have ended at \
                 the allowed rate), or { token_bucket = { depth = \"3 KB\", interval = \"16 us\", \
                 granularity = \"0.5 Mbps\" } }.",
            ),
            key(
                "queue",
                Kind::Either(vec![Kind::Word(&["arbiter"]), Kind::Capacity]),
                "arbiter",
                "The queue at a host's port: \"arbiter\" (none: rate limiters take turns, each waits until \
                 the line is free), or a size.",
            ),
            key(
                "reaction_points",
                Kind::Word(&["per-flow", "per-host"]),
                "per-flow",
                "What shares a rate limiter: nothing, or the flows of one host, first link and priority.",
            ),
        ],
    )
}

fn change() -> Section {
    section(
        "Something that happens to a link. At \"0 s\", a rate is the rate that the port starts with.",
        vec![
            required("link", Kind::Text, "One direction, as in \"sw0->h8\", or both, as in \"sw0--h8\"."),
            required("at", time(0), "When."),
            optional("rate", rate(), "not a change of rate", "The rate from then on."),
            optional(
                "state",
                Kind::Word(&["down", "up"]),
                "not a change of state",
                "The link breaks, or is whole again.",
            ),
        ],
    )
}

fn window() -> Section {
    section(
        "A window of measurement beside that of the whole run: the summary then has its statistics and counts too. Windows may \
         overlap.",
        vec![
            required("name", Kind::Text, "Name of the window."),
            required("start", time(0), "When it opens."),
            optional("end", time(1), "the end of the run", "When it closes."),
        ],
    )
}

fn record() -> Section {
    section(
        "What is recorded.",
        vec![
            optional("interval", time(1), "duration / 1000", "Distance of the samples."),
            key(
                "queues",
                Kind::Either(vec![Kind::Word(&["used", "switches"]), Kind::List]),
                "used",
                "Which queues: those that a flow crosses, all of switches, or those of the ports listed.",
            ),
            key("signals", Kind::Switch, "true", "Record every signal that reaches a source."),
            key("arrivals", Kind::Switch, "false", "Record every arrival of a data frame at these queues."),
        ],
    )
}

fn scheme_words() -> Kind {
    Kind::Word(Vec::leak(SCHEMES.iter().map(|info| info.name).collect()))
}

fn time(minimum: u64) -> Kind {
    Kind::Quantity(Time, minimum, LONGEST.0)
}

fn rate() -> Kind {
    Kind::Quantity(Rate, 1, FASTEST.0)
}

fn size(minimum: u64, maximum: u64) -> Kind {
    Kind::Quantity(Size, minimum, maximum)
}

fn section(doc: &str, keys: Vec<Key>) -> Section {
    Section { doc: doc.to_owned(), keys }
}

fn required(name: &'static str, kind: Kind, doc: &str) -> Key {
    Key { name, kind, fallback: Fallback::Required, doc: doc.to_owned() }
}

fn optional(name: &'static str, kind: Kind, otherwise: &'static str, doc: &str) -> Key {
    Key { name, kind, fallback: Fallback::None(otherwise), doc: doc.to_owned() }
}

/// A key with a default: words and quantities without their quotes, anything else as in TOML.
fn key(name: &'static str, kind: Kind, default: &str, doc: &str) -> Key {
    let plain = matches!(kind, Kind::Quantity(..) | Kind::Word(_) | Kind::Either(_));
    let default = if plain { format!("\"{default}\"") } else { default.to_owned() };
    Key { name, kind, fallback: Fallback::Value(default), doc: doc.to_owned() }
}
