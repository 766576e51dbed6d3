//! A run gives the same bytes on several threads as on one, in every table and in the summary.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use crate::committed::{files, scenarios};
use penstock_runner::{Options, Run, Threads, fingerprint, run};
use penstock_scenario::{Choice, Scenario};
use penstock_schemes::{Duration, SCHEMES};

fn parse(text: &str, settings: &[(&str, &str)]) -> Scenario {
    let mut scenario = Scenario::parse(text, "test.toml", "test").unwrap_or_else(|error| panic!("{error}"));
    for (key, value) in settings {
        scenario.set(key, value).unwrap_or_else(|error| panic!("{error}"));
    }
    scenario
}

fn on(threads: usize) -> Options {
    Options { threads: Threads::Number(NonZeroUsize::new(threads).unwrap()), ..Options::default() }
}

fn run_on(scenario: &Scenario, scheme: Option<&str>, options: &Options) -> Run {
    let choice = Choice { scheme: scheme.map(str::to_owned), ..Choice::default() };
    let plan = scenario.plan(&choice).unwrap_or_else(|error| panic!("{error}"));
    run(&plan, options, &mut |_| ControlFlow::Continue(())).unwrap()
}

/// Runs on one thread and on these numbers of them; how many threads the last one had, and why not more.
fn same(name: &str, scenario: &Scenario, scheme: Option<&str>, numbers: &[usize]) -> (usize, String) {
    let one = fingerprint(&run_on(scenario, scheme, &on(1))).unwrap();
    let mut had = (1, String::new());
    for &threads in numbers {
        let some = run_on(scenario, scheme, &on(threads));
        assert_eq!(fingerprint(&some).unwrap(), one, "{name}, {scheme:?}, {threads} threads");
        let threading = some.threading.expect("it says how it was run");
        had = (threading.threads, threading.reason);
    }
    had
}

/// Four leaves, two spines, twelve hosts; traffic of all kinds across them, into a few ports.
const LEAVES: &str = r#"
    question = "Is it the same on several threads?"
    duration = "300 us"
    warmup = "50 us"
    scheme = "qcn"
    [topology.leaf-spine]
    leaves = 4
    spines = 2
    hosts_per_leaf = 3
    host_rate = "10 Gbps"
    fabric_rate = "20 Gbps"
    link_delay = "1 us"
    buffer = "150 KB"
    [[flow]]
    from = "h0..h5"
    to = "h9"
    [[flow]]
    from = "h6..h8"
    to = "h1"
    traffic = "poisson"
    rate = "6 Gbps"
    [[flow]]
    from = "h10"
    to = "h2"
    size = "200 KB"
    transport = "tcp"
    [[window]]
    name = "middle"
    start = "100 us"
    end = "255 us"
    [record]
    signals = true
    interval = "5 us"
"#;

#[test]
fn every_scheme_gives_the_same_on_several_threads() {
    let scenario = parse(LEAVES, &[]);
    for scheme in SCHEMES {
        let (threads, reason) = same("leaves", &scenario, Some(scheme.name), &[3]);
        assert_eq!(threads, 3, "{}: {reason}", scheme.name);
    }
}

/// A window, links that fail, several paths, random traffic, pools of memory, marks, multicast.
#[test]
fn every_part_of_a_network_gives_the_same_on_several_threads() {
    let settings: &[&[(&str, &str)]] = &[
        &[("network.load_balancing", "spray-random")],
        &[("network.load_balancing", "spray")],
        &[("network.load_balancing", "adaptive")],
        &[("network.load_balancing", "flowlet"), ("flow.1.priority", "3")],
        &[("flow.2.transport", "go-back-n"), ("network.ecn_threshold", "30 KB")],
        &[("network.clock_tolerance", "100 ppm")],
    ];
    for settings in settings {
        let (threads, reason) = same(&format!("{settings:?}"), &parse(LEAVES, settings), None, &[2, 3]);
        assert_eq!(threads, 3, "{settings:?}: {reason}");
    }
}

/// Flows that come and go, with and without transports, with a limiter each and with shared ones, over one path and over several.
#[test]
fn flows_of_loads_and_incasts_give_the_same_on_several_threads() {
    let text = format!(
        r#"{LEAVES}
        [[load]]
        name = "web"
        load = 0.4
        size = {{ workload = "websearch" }}
        transport = "tcp"
        [[load]]
        name = "rpc"
        hosts = "h0..h11"
        load = 0.2
        size = "2 KB"
        priority = 3
        [[incast]]
        name = "burst"
        hosts = "h0..h8"
        to = "h9"
        fan_in = 6
        size = "10 KB"
        every = "40 us"
        "#
    );
    type Case<'a> = (&'a [(&'a str, &'a str)], &'a [&'a str]);
    let cases: &[Case<'_>] = &[
        (&[], &["qcn", "dcqcn", "swift", "none"]),
        (&[("network.load_balancing", "flowlet"), ("load.1.transport", "selective")], &["dcqcn", "none"]),
        (&[("hosts.reaction_points", "per-host")], &["qcn", "swift"]),
        (&[("duration", "2 ms"), ("load.1.load", "0.5")], &["qcn"]),
    ];
    for (settings, schemes) in cases {
        for scheme in *schemes {
            let (threads, reason) = same(&format!("{settings:?}"), &parse(&text, settings), Some(scheme), &[2, 3]);
            assert_eq!(threads, 3, "{settings:?}: {reason}");
        }
    }
}

/// Switches that stop their neighbours, in another part or in their own; hosts too, and queues that share memory.
#[test]
fn flow_control_gives_the_same_on_several_threads() {
    let pools = "[[buffer]]\nsize = \"600 KB\"\nalpha = 1\ningress_alpha = 1\nheadroom = \"300 KB\"\n";
    for (buffers, schemes) in [("", &["none", "qcn", "dcqcn", "ci", "sfc"][..]), (pools, &["none", "hpcc"])] {
        let scenario = parse(&format!("{LEAVES}\n[pfc]\n{buffers}"), &[("flow.1.priority", "3")]);
        for &scheme in schemes {
            let (threads, reason) = same(&format!("pfc {buffers}"), &scenario, Some(scheme), &[2, 3]);
            assert_eq!(threads, 3, "{scheme}: {reason}");
        }
        let run = run_on(&scenario, None, &on(3));
        assert!(run.summary.totals.pause_frames > Some(0));
    }
    let watched = parse(&format!("{LEAVES}\n[pfc]\nwatchdog = {{}}\n"), &[]);
    let (threads, reason) = same("watchdog", &watched, None, &[2]);
    assert_eq!((threads, reason.as_str()), (1, "the watchdog of flow control, which looks at the whole network"));
}

/// A run that needs the whole network has one thread, and says so.
#[test]
fn a_run_that_cannot_be_cut_has_one_thread_and_says_why() {
    let refused: &[(&[(&str, &str)], &str)] = &[
        (&[("record.arrivals", "true")], "arrivals are recorded"),
        (&[("network.feedback", "{ ideal = \"2 us\" }")], "ideal feedback, which crosses no line"),
    ];
    for (settings, why) in refused {
        let (threads, reason) = same(why, &parse(LEAVES, settings), None, &[2]);
        assert_eq!((threads, reason.as_str()), (1, *why));
    }
    // A star has one switch.
    let star = LEAVES
        .replace("leaves = 4\n    spines = 2", "leaves = 1\n    spines = 1")
        .replace("_per_leaf = 3", "_per_leaf = 12");
    let threading = run_on(&parse(&star, &[]), None, &on(16)).threading.unwrap();
    assert_eq!(threading.threads, 2, "{threading:?}");
    let auto = Options { threads: Threads::Auto, ..Options::default() };
    let threading = run_on(&parse(LEAVES, &[]), None, &auto).threading.unwrap();
    assert_eq!(threading.threads, 1, "{threading:?}");
    assert!(!threading.reason.is_empty());
}

/// Slices of simulated time, and a run that is broken off, cut windows short and change nothing.
#[test]
fn slices_change_nothing() {
    let scenario = parse(LEAVES, &[]);
    let one = fingerprint(&run_on(&scenario, None, &on(1))).unwrap();
    let sliced = Options { slice: Some(Duration(700_001)), ..on(3) };
    assert_eq!(fingerprint(&run_on(&scenario, None, &sliced)).unwrap(), one);
    let broken = |threads| {
        let options = Options { slice: Some(Duration(333_333_333)), ..on(threads) };
        let plan = scenario.plan(&Choice::default()).unwrap();
        fingerprint(&run(&plan, &options, &mut |_| ControlFlow::Break(())).unwrap()).unwrap()
    };
    assert_eq!(broken(2), broken(1));
}

/// Every scenario of the repository; `make verify` runs it.
#[test]
#[ignore = "takes minutes"]
fn every_scenario_gives_the_same_on_several_threads() {
    let mut several = 0;
    for file in files(&scenarios()) {
        let mut scenario = Scenario::load(&file).unwrap();
        if file.starts_with(scenarios().join("bench")) {
            scenario.set("duration", "1 ms").unwrap();
        }
        let (threads, _) = same(&file.display().to_string(), &scenario, None, &[2, 3]);
        several += usize::from(threads > 1);
    }
    assert!(several > 10, "{several}");
}
