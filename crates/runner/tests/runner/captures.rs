//! Captures of runs: every frame is whole and right, every frame that started is there, and nothing else changes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::common::{into, run, star};
use penstock_runner::{Options, Run, RunError, Table, fingerprint};
use penstock_scenario::{Choice, Plan, Scenario};
use penstock_sim::network::PortId;
use penstock_wire::capture::{Captured, frames};
use penstock_wire::layers::{Types, layers};

/// Four sources into one port: QCN unless something else is set.
const MANY: &str = r#"
question = "What is on the wire?"
duration = "6 ms"
scheme = "qcn"
[topology.star]
hosts = 5
link_rate = "10 Gbps"
link_delay = "1 us"
buffer = "150 KB"
[[flow]]
from = "h0..h3"
to = "h4"
"#;

/// A name, the settings, the text behind the scenario, and formats that are to be seen.
type Case = (&'static str, &'static [(&'static str, &'static str)], &'static str, &'static [&'static str]);

const CASES: &[Case] = &[
    ("qcn", &[], "", &["cn_tag", "cnm", "udp"]),
    ("small frames", &[("flow.0.frame", "\"64 B\"")], "", &["cn_tag", "udp"]),
    ("qcn-adaptive", &[("scheme", "qcn-adaptive")], "", &["cn_tag", "cnm"]),
    ("qcn-bs", &[("scheme", "qcn-bs")], "", &["cn_tag", "cnm"]),
    ("af-qcn", &[("scheme", "af-qcn")], "", &["cn_tag", "cnm"]),
    ("fqcn", &[("scheme", "fqcn")], "", &["cn_tag", "cnm"]),
    ("qcn-multicast", &[("scheme", "qcn-multicast")], GROUP, &["cn_tag", "cnm"]),
    ("smcc", &[("scheme", "smcc")], "", &["smcc", "cn_tag"]),
    ("bcn", &[("scheme", "bcn")], "", &["bcn", "rlt"]),
    ("bcn of small frames", &[("scheme", "bcn"), ("flow.0.frame", "\"64 B\"")], "", &["udp"]),
    ("e2cm", &[("scheme", "e2cm")], "", &["bcn", "e2cm", "rlt"]),
    ("fecn", &[("scheme", "fecn")], "", &["fecn"]),
    ("efecn", &[("scheme", "efecn")], "", &["fecn", "bcn"]),
    ("dcqcn", &[("scheme", "dcqcn")], "", &["bth", "cnp_reserved", "icrc"]),
    ("fast-cnp", &[("scheme", "fast-cnp")], "", &["fast_cnp", "bth", "cnp_reserved", "icrc"]),
    ("dctcp", &[("scheme", "dctcp")], "", &["tcp"]),
    ("timely", &[("scheme", "timely")], "", &["tcp"]),
    ("none", &[("scheme", "none")], "", &["udp"]),
    (
        "tcp over qcn",
        &[("flow.0.transport", "\"tcp\""), ("topology.star.buffer", "\"30 KB\"")],
        "",
        &["tcp", "tcp_sack"],
    ),
    (
        "go-back-n under dcqcn",
        &[("scheme", "dcqcn"), ("flow.0.transport", "\"go-back-n\"")],
        "",
        &["bth", "cnp_reserved"],
    ),
    (
        "go-back-n of odd sizes",
        &[("flow.0.transport", "\"go-back-n\""), ("flow.0.size", "\"1000003 B\"")],
        "",
        &["bth", "data"],
    ),
    ("selective", &[("flow.0.transport", "\"selective\"")], "", &["bth", "cnm"]),
    ("ndp", &[("scheme", "ndp"), ("flow.0.transport", "\"selective\"")], "", &["ndp_pull", "bth"]),
    ("expresspass", &[("scheme", "expresspass")], "", &["expresspass", "udp"]),
    ("homa", &[("scheme", "homa"), ("flow.0.size", "\"1 MB\"")], "", &["homa", "udp"]),
    ("pfc", &[("scheme", "none")], PFC, &["pfc", "udp"]),
    ("a line that breaks", &[], BREAK, &["cnm"]),
    ("ideal feedback", &[("network.feedback", "{ ideal = \"10 us\" }")], "", &["cn_tag"]),
    ("uncontrolled", &[("flow.0.controlled", "false")], "", &["udp"]),
    ("a load", &[("flow.0.controlled", "false")], LOAD, &["cn_tag", "cnm", "udp"]),
    ("a load over tcp", &[], LOAD_OVER_TCP, &["tcp", "cn_tag", "cnm"]),
    ("a load over tcp under pfc", &[("scheme", "none")], LOAD_OVER_TCP_UNDER_PFC, &["tcp", "pfc"]),
];

const GROUP: &str = r#"
[[flow]]
from = "h0"
to = ["h1", "h2", "h3"]
"#;

const LOAD: &str = r#"
[[load]]
hosts = "h0..h4"
load = 0.5
size = "20 KB"
"#;

const LOAD_OVER_TCP: &str = r#"
[[load]]
hosts = "h0..h4"
load = 0.5
size = "20 KB"
transport = "tcp"
"#;

const LOAD_OVER_TCP_UNDER_PFC: &str = r#"
[pfc]
[[load]]
hosts = "h0..h4"
load = 0.5
size = "20 KB"
transport = "tcp"
"#;

const PFC: &str = r#"
[pfc]
"#;

const BREAK: &str = r#"
[[change]]
link = "sw0->h4"
at = "2 ms"
state = "down"
[[change]]
link = "sw0->h4"
at = "3 ms"
state = "up"
"#;

fn plan(settings: &[(&str, &str)], more: &str) -> Plan {
    let text = format!("{MANY}{more}");
    let mut scenario = Scenario::parse(&text, "many.toml", "many").unwrap();
    for (key, value) in settings {
        scenario.set(key, value).unwrap_or_else(|error| panic!("{error}"));
    }
    scenario.plan(&Choice::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn all_ports(plan: &Plan) -> Vec<PortId> {
    (0..plan.network.ports.len() as u32).map(PortId).collect()
}

fn captured(plan: &Plan, out: &Path, capture: Vec<PortId>) -> (Run, Vec<u8>) {
    let run = run(plan, &Options { capture, ..into(out) }).unwrap();
    let file = fs::read(out.join("capture.pcapng")).unwrap();
    (run, file)
}

fn all(file: &[u8]) -> Vec<Captured<'_>> {
    frames(file).unwrap().map(Result::unwrap).collect()
}

fn is_at_end(frame: &Captured<'_>) -> bool {
    frame.comment.unwrap().ends_with(", on the line at the end of the run")
}

fn is_lost(frame: &Captured<'_>) -> bool {
    frame.comment.unwrap().ends_with(", lost on the line")
}

/// A run without the capture has the same summary, tables and scenario, to the last bit.
#[test]
fn every_frame_of_every_scheme_is_whole_and_a_capture_changes_no_result() {
    let root = tempfile::tempdir().unwrap();
    for &(name, settings, more, wanted) in CASES {
        let plan = plan(settings, more);
        let (with, file) = captured(&plan, &root.path().join(name), all_ports(&plan));
        let (mut seen, mut last) = (BTreeMap::<&str, u64>::new(), 0);
        let all = all(&file);
        for frame in &all {
            let time = frame.time_ns.unwrap();
            assert!(time >= last, "{name}: {time} ns after {last} ns");
            last = time;
            assert_eq!(frame.octets.len(), frame.original as usize);
            let found: Vec<_> = layers(frame.octets, Types::default()).collect();
            if found.iter().any(|layer| layer.name() == "bth") {
                let data = found.iter().find(|layer| layer.name() == "data").map_or(0, |layer| layer.octets.len());
                assert_eq!(data % 4, 0, "{name}: {frame:02x?}");
            }
            for layer in found {
                assert_eq!(layer.fault, None, "{name}: {frame:02x?}");
                assert_ne!(layer.value("ether_type"), Some(0xffff), "{name}: a message without format: {frame:02x?}");
                *seen.entry(layer.name()).or_default() += 1;
            }
        }
        for format in wanted {
            assert!(seen.contains_key(format), "{name}: no {format} among {seen:?}");
        }
        assert!(!seen.contains_key("llc"), "{name}: {seen:?}");
        let crossed = all.iter().filter(|frame| !is_at_end(frame) && !is_lost(frame)).count() as u64;
        assert_eq!(crossed, with.summary.totals.packet_hops, "{name}");
        assert!(crossed > 500, "{name}: {crossed}");
        let without = run(&plan, &Options::default()).unwrap();
        assert_eq!(fingerprint(&with).unwrap(), fingerprint(&without).unwrap(), "{name}");
    }
}

/// Frames of one line follow each other, and each takes its time.
#[test]
fn the_frames_of_a_line_do_not_overlap() {
    let root = tempfile::tempdir().unwrap();
    let plan = plan(&[], "");
    let ports = ["sw0->h4", "h0->sw0"].map(|name| plan.port(name).unwrap());
    let (_, file) = captured(&plan, &root.path().join("out"), ports.into());
    let mut busy_until = [0; 2];
    for frame in all(&file) {
        let (time, free) = (frame.time_ns.unwrap(), &mut busy_until[frame.interface as usize]);
        // Times are cut to nanoseconds.
        assert!(time + 1 >= *free, "{time} ns, and the line is busy until {free} ns");
        // 10 Gb/s: 0.8 ns an octet, FCS included.
        *free = time + (frame.octets.len() as u64 + 4) * 8 / 10;
    }
}

/// `[[priority]] dscp` maps 26 and 27 to priority 3, whose frames have the first of them, and `pcp` gives it 5. A priority without a table has
/// its class selector and itself. The octets are read again by the decoder. Frames of RoCE and TCP are routed, and have no VLAN tag.
#[test]
fn frames_of_a_class_have_its_code_points() {
    let root = tempfile::tempdir().unwrap();
    let more =
        "[[flow]]\nfrom = \"h0\"\nto = \"h3\"\npriority = 1\n[[priority]]\npriority = 3\ndscp = [26, 27]\npcp = 5\n";
    let cases = [
        ("udp", vec![]),
        ("roce", vec![("flow.0.transport", "\"go-back-n\"")]),
        ("tcp", vec![("flow.0.transport", "\"tcp\"")]),
    ];
    for (name, mut settings) in cases {
        settings.extend([("scheme", "none"), ("flow.0.priority", "3")]);
        let plan = plan(&settings, more);
        let (_, file) = captured(&plan, &root.path().join(name), vec![plan.port("h0->sw0").unwrap()]);
        let station = |host: &str| {
            let node = plan.node_names.iter().position(|known| known == host).unwrap();
            u128::from(plan.network.nodes[node].station)
        };
        let mut seen = BTreeMap::<u128, (u64, [Option<u128>; 2])>::new();
        for frame in all(&file) {
            let layers: Vec<_> = layers(frame.octets, Types::default()).collect();
            let value = |format: &str, field: &str| {
                layers.iter().find(|layer| layer.name() == format).and_then(|layer| layer.value(field))
            };
            let points = [value("ipv4", "dscp"), value("vlan", "pcp")];
            let (count, first) = seen.entry(value("eth", "destination").unwrap()).or_insert((0, points));
            *count += 1;
            assert_eq!(points, *first, "{name}");
        }
        let of = |host: &str| seen.get(&station(host)).copied().unwrap_or_default();
        let ((mapped, class), (plain, lower)) = (of("h4"), of("h3"));
        assert!(mapped > 100 && plain > 100, "{name}: {seen:?}");
        let pcp = (name == "udp").then_some(5);
        assert_eq!((class, lower), ([Some(26), pcp], [Some(8), Some(1)]), "{name}");
    }
}

/// A port's interface, the queue's length, and the source that is notified.
#[test]
fn a_notification_and_its_frames() {
    let root = tempfile::tempdir().unwrap();
    let plan = plan(&[], "");
    let names = ["sw0->h4", "sw0->h0"];
    let ports = names.map(|name| plan.port(name).unwrap());
    let (run, file) = captured(&plan, &root.path().join("out"), ports.into());
    let mut read = frames(&file).unwrap();
    let all: Vec<_> = read.by_ref().map(Result::unwrap).collect();
    assert_eq!([0, 1].map(|i| read.interface_name(i).unwrap()), names);

    let notices: Vec<_> = all.iter().filter(|frame| frame.interface == 1).collect();
    let flow = run.summary.flows.iter().find(|flow| flow.name == "f0").unwrap();
    let arrived = notices.iter().filter(|frame| !is_at_end(frame)).count() as u64;
    assert_eq!(arrived, flow.feedback_received);
    assert!(arrived > 5, "{arrived}");
    for frame in notices {
        let layers: Vec<_> = layers(frame.octets, Types::default()).collect();
        let value = |format: &str, field: &str| {
            layers.iter().find(|layer| layer.name() == format).and_then(|layer| layer.value(field)).unwrap()
        };
        let station = |name: &str| {
            let node = plan.node_names.iter().position(|known| known == name).unwrap();
            u128::from(plan.network.nodes[node].station)
        };
        assert_eq!((value("eth", "source"), value("eth", "destination")), (station("sw0"), station("h0")));
        assert_eq!((value("cn_tag", "flow_identifier"), value("vlan", "pcp")), (1, 6));
        assert_eq!(value("cnm", "cp_id"), u128::from(plan.network.cp_id(ports[0], plan.network.priorities[0]).0));
        assert_eq!(value("cnm", "encapsulated_destination"), station("h4"));
        let fb = value("cnm", "quantized_feedback");
        assert_eq!(frame.comment.unwrap(), format!("control frame of flow f0, Fb {fb}, queue 64 octets"));
    }

    let data: Vec<_> = all.iter().filter(|frame| frame.interface == 0).collect();
    let length = |frame: &&Captured<'_>| -> u64 {
        let (_, behind) = frame.comment.unwrap().split_once(", queue ").unwrap();
        behind.split(' ').next().unwrap().parse().unwrap()
    };
    let queue = run.summary.queues.iter().find(|queue| queue.name == names[0]).unwrap();
    let most = data.iter().map(length).max().unwrap();
    assert!(most <= queue.max_octets && most * 10 > queue.max_octets * 9, "{most} of {}", queue.max_octets);
    assert!(data.iter().all(|frame| length(frame) >= 1500 && frame.octets.len() == 1496));
    let delivered: u64 = run.summary.flows.iter().map(|flow| flow.frames_delivered).sum();
    assert_eq!(data.iter().filter(|frame| !is_at_end(frame)).count() as u64, delivered);
}

/// On a finite flow, captured and counted frames are the same number.
#[test]
fn a_port_has_as_many_frames_as_are_counted() {
    let root = tempfile::tempdir().unwrap();
    let plan = star(&[("flow.0.stop", "50 ms"), ("flow.1.stop", "50 ms")]);
    let port = plan.port("sw0->h3").unwrap();
    let (run, file) = captured(&plan, &root.path().join("out"), vec![port, port]);
    let delivered: u64 = run.summary.flows.iter().map(|flow| flow.frames_delivered).sum();
    assert_eq!(all(&file).len() as u64, delivered);
    let signals = run.table(Table::Signals);
    assert!(signals.is_err() || delivered > 0);
}

/// The frames that a broken line loses have started, and say that they are lost.
#[test]
fn frames_that_are_lost_are_captured() {
    let root = tempfile::tempdir().unwrap();
    let plan = plan(&[], BREAK);
    let (run, file) = captured(&plan, &root.path().join("out"), vec![plan.port("sw0->h4").unwrap()]);
    let lost = all(&file).iter().filter(|frame| is_lost(frame)).count() as u64;
    let flushed: u64 = run.summary.queues.iter().map(|queue| queue.frames_flushed).sum();
    assert_eq!(lost + flushed, run.summary.totals.frames_lost_on_link);
    assert!(lost > 0);
}

#[test]
fn captures_need_a_folder() {
    let plan = plan(&[], "");
    let error = run(&plan, &Options { capture: all_ports(&plan), ..Options::default() }).unwrap_err();
    assert!(matches!(error, RunError::NoFolder) && error.is_refusal(), "{error}");
    assert_eq!(plan.port("sw0->h9").unwrap_err(), "did you mean \"sw0->h0\"?");
}
