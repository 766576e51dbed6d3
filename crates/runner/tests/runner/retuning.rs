//! Parameters that change during a run: with the same values nothing happens, on any number of threads; with others the run goes by them
//! from that time on.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use penstock_runner::{Options, Run, Summary, Threads, fingerprint, run};
use penstock_scenario::{Choice, Scenario};
use penstock_schemes::{Info, Parameter, SCHEMES, Unit, Value};

/// Traffic of all kinds across two spines: long, short and constant flows, and some that come and go.
const LEAVES: &str = r#"
    question = "Do parameters change?"
    duration = "300 us"
    scheme = "qcn"
    [topology.leaf-spine]
    leaves = 3
    spines = 2
    hosts_per_leaf = 3
    host_rate = "10 Gbps"
    fabric_rate = "20 Gbps"
    link_delay = "1 us"
    buffer = "150 KB"
    [[flow]]
    from = "h0..h3"
    to = "h8"
    priority = 3
    [[flow]]
    from = "h4..h5"
    to = "h1"
    traffic = "poisson"
    rate = "6 Gbps"
    priority = 3
    [[flow]]
    from = "h6"
    to = "h1"
    size = "100 KB"
    start = "50 us"
    priority = 3
    [record]
    signals = true
    interval = "5 us"
"#;

const LOAD: &str = r#"
    [[load]]
    name = "short"
    load = 0.3
    size = "20 KB"
    priority = 3
"#;

/// The run of a text under a scheme, on `threads` threads.
fn ran(text: &str, scheme: &str, threads: usize) -> Run {
    let choice = Choice { scheme: Some(scheme.to_owned()), ..Choice::default() };
    let scenario = Scenario::parse(text, "test.toml", "test").unwrap_or_else(|error| panic!("{error}"));
    let plan = scenario.plan(&choice).unwrap_or_else(|error| panic!("{scheme}: {error}\n{text}"));
    let options = Options { threads: Threads::Number(NonZeroUsize::new(threads).unwrap()), ..Options::default() };
    run(&plan, &options, &mut |_| ControlFlow::Continue(())).unwrap()
}

/// A value as TOML.
fn written(value: Value) -> String {
    match value {
        Value::Count(_) | Value::Real(_) | Value::Switch(_) => value.to_string(),
        _ => format!("\"{value}\""),
    }
}

/// A change of one parameter.
fn change(info: &Info, parameter: &Parameter, at: &str, value: Value) -> String {
    format!("[[change]]\nat = \"{at}\"\nschemes.{}.{} = {}\n", info.name, parameter.name, written(value))
}

fn first(info: &'static Info) -> Option<&'static Parameter> {
    info.parameters.first()
}

/// Whatever a point has learnt stays: every scheme, in the midst of the traffic, also if flows are created and removed and slots are reused.
#[test]
fn a_change_to_the_same_values_changes_nothing() {
    for info in SCHEMES {
        let Some(parameter) = first(info) else { continue };
        let changes: String = ["1 ps", "60 us", "150 us", "150.000001 us"]
            .map(|at| change(info, parameter, at, parameter.default))
            .concat();
        for text in [LEAVES.to_owned(), format!("{LEAVES}{LOAD}")] {
            let (plain, changed) = (ran(&text, info.name, 1), ran(&format!("{text}{changes}"), info.name, 1));
            assert_eq!(fingerprint(&plain).unwrap(), fingerprint(&changed).unwrap(), "{}", info.name);
        }
    }
}

/// Another legal value of a number: its least or its largest, brought near to the default.
fn other(parameter: &Parameter) -> Option<Value> {
    let halved = |value: u64, least: u64| (value / 2).max(least);
    Some(match (parameter.default, parameter.minimum) {
        (Value::Octets(value), Value::Octets(least)) => Unit::Octets.of_number(halved(value.0, least.0) as f64)?,
        (Value::Count(value), Value::Count(least)) => Value::Count(halved(value, least)),
        (Value::Real(value), Value::Real(least)) => Value::Real((value / 2.0).max(least)),
        (Value::Time(value), Value::Time(least)) => Unit::Time.of_number(halved(value.0, least.0) as f64 / 1e12)?,
        (Value::Rate(value), Value::Rate(least)) => Unit::Rate.of_number(halved(value.0, least.0) as f64)?,
        _ => return None,
    })
}

/// Each parameter of each scheme alone takes half of its value in the midst of a run. The run goes to its end, and for the first of
/// them gives the same on two threads.
#[test]
fn every_parameter_changes_in_the_midst_of_a_run() {
    let mut differ = 0;
    for info in SCHEMES {
        let plain = ran(LEAVES, info.name, 1);
        let changes = info.parameters.iter().filter_map(|parameter| {
            let text = format!("{LEAVES}{}", change(info, parameter, "100 us", other(parameter)?));
            let choice = Choice { scheme: Some(info.name.to_owned()), ..Choice::default() };
            // Half of a value may be below another parameter's, or one that lasts.
            Scenario::parse(&text, "test.toml", "test").unwrap().plan(&choice).ok()?;
            Some((parameter.name, text))
        });
        for (i, (name, text)) in changes.enumerate() {
            let changed = fingerprint(&ran(&text, info.name, 1)).unwrap();
            if i == 0 {
                let on_two = fingerprint(&ran(&text, info.name, 2)).unwrap();
                assert_eq!(changed, on_two, "{}.{name}", info.name);
            }
            differ += u32::from(changed != fingerprint(&plain).unwrap());
        }
    }
    assert!(differ > 50, "{differ} changes of parameters had an effect");
}

/// Eight sources under QCN; the window is the second half.
const EIGHT: &str = r#"
    question = "Does the queue follow its set point?"
    duration = "200 ms"
    warmup = "150 ms"
    scheme = "qcn"
    [schemes.qcn]
    q_eq = "20 KB"
    [topology.star]
    hosts = 9
    link_rate = "10 Gbps"
    link_delay = "1 us"
    buffer = "300 KB"
    [[flow]]
    from = "h0..h7"
    to = "h8"
    [[window]]
    name = "before"
    start = "50 ms"
    end = "100 ms"
"#;

fn mean(summary: &Summary) -> f64 {
    summary.queues.iter().find(|queue| queue.name == "sw0->h8").unwrap().mean_octets
}

/// The queue follows its set point from the change on, and the summary says which one held at the end.
#[test]
fn the_queue_follows_a_set_point_that_changes() {
    let text = format!("{EIGHT}[[change]]\nat = \"100 ms\"\nschemes.qcn.q_eq = \"80 KB\"\n");
    let changed = ran(&text, "qcn", 1).summary;
    let before = &changed.windows[0];
    let of_window = before.queues.iter().find(|queue| queue.name == "sw0->h8").unwrap().mean_octets;
    assert!((10e3..40e3).contains(&of_window), "{of_window}");
    assert!((60e3..110e3).contains(&mean(&changed)), "{}", mean(&changed));
    let queue = changed.queues.iter().find(|queue| queue.name == "sw0->h8").unwrap();
    assert_eq!(queue.set_point_octets, Some(80_000));
    // The same as a run that had the new value from the start, in its mean.
    let always = ran(&EIGHT.replace("20 KB", "80 KB"), "qcn", 1).summary;
    assert!((mean(&changed) / mean(&always) - 1.0).abs() < 0.1, "{} {}", mean(&changed), mean(&always));
}

/// Priorities with the same scheme change together; another scheme's stays.
#[test]
fn priorities_of_another_scheme_stay_as_they_are() {
    let two = LEAVES.replacen("priority = 3", "priority = 4", 1) + "[[priority]]\npriority = 4\nscheme = \"dcqcn\"\n";
    let same = format!("{two}[[change]]\nat = \"100 us\"\nschemes.dcqcn.cnp_interval = \"50 us\"\n");
    let plain = ran(&two, "qcn", 1);
    assert_eq!(fingerprint(&plain).unwrap(), fingerprint(&ran(&same, "qcn", 1)).unwrap(), "it is the default");
    let other = format!("{two}[[change]]\nat = \"100 us\"\nschemes.dcqcn.cnp_interval = \"5 us\"\n");
    let (one, several) = (ran(&other, "qcn", 1), ran(&other, "qcn", 2));
    assert_ne!(fingerprint(&plain).unwrap(), fingerprint(&one).unwrap());
    assert_eq!(fingerprint(&one).unwrap(), fingerprint(&several).unwrap());
}
