//! Transports in scenario files: their form in the plan, the parameters written out, and mistakes that are refused.

use penstock_endpoint::transport::{Transport, tcp};
use penstock_scenario::{Choice, Plan, Scenario};
use penstock_schemes::Octets;
use penstock_sim::network::Transmit;

const GOOD: &str = r#"question = "Does it work?"
duration = "1 s"
scheme = "none"
[topology.star]
hosts = 3
link_rate = "10 Gbps"
buffer = "150 KB"
[[group]]
name = "all"
members = "h1..h2"
[[flow]]
from = "h0"
to = "h2"
transport = "tcp"
[[flow]]
from = "h1"
to = "h2"
priority = 3
"#;

fn planned(text: &str) -> Plan {
    Scenario::parse(text, "x.toml", "x").and_then(|s| s.plan(&Choice::default())).unwrap_or_else(|e| panic!("{e}"))
}

fn with(new: &str) -> String {
    GOOD.replacen("transport = \"tcp\"", new, 1)
}

#[test]
fn a_transmit_queue_without_room_for_a_frame_is_refused() {
    let text = |limit: &str| {
        format!(
            "question = \"Q\"\nduration = \"1 ms\"\nscheme = \"none\"\n[topology.star]\nhosts = 2\nlink_rate = \"1 Gbps\"\n\
             buffer = \"150 KB\"\n[hosts]\ntransmit_queue = {{ limit = \"{limit}\" }}\n[[flow]]\nfrom = \"h0\"\nto = \"h1\"\n\
             transport = \"tcp\"\n"
        )
    };
    let plan = |limit: &str| {
        let scenario = penstock_scenario::Scenario::parse(&text(limit), "x.toml", "x").unwrap();
        scenario.plan(&penstock_scenario::Choice::default()).map(|_| ()).map_err(|e| e.to_string())
    };
    let error = plan("1517 octets").unwrap_err();
    assert!(
        error.starts_with("x.toml:9: hosts.transmit_queue.limit: 1517 octets are too small for a frame of 1518 octets"),
        "{error}"
    );
    assert_eq!(plan("1518 octets"), Ok(()));
}

#[test]
fn a_name_stands_for_the_defaults() {
    let plan = planned(GOOD);
    let [first, second] = &plan.network.flows[..] else { panic!("two flows") };
    let carriage = first.transport.as_ref().expect("the first flow has a transport");
    assert_eq!(carriage.transport, Transport::Tcp(tcp::Config::default()));
    assert_eq!((carriage.acks, first.frame), (Some(0), 1518));
    assert!(second.transport.is_none());
    assert_eq!(second.frame, 1500);
}

#[test]
fn parameters_and_the_class_of_acknowledgements_are_chosen() {
    let plan = planned(&with("transport = { tcp = { congestion = \"dctcp\", mss = \"8960 B\" } }\nacks = 3"));
    let flow = &plan.network.flows[0];
    let carriage = flow.transport.as_ref().expect("it has a transport");
    let Transport::Tcp(config) = &carriage.transport else { panic!("{carriage:?}") };
    assert_eq!((config.congestion, config.mss), (tcp::Congestion::Dctcp, Octets(8960)));
    assert_eq!((carriage.acks, flow.frame), (Some(3), 8960 + 58));
    let control = planned(&with("transport = \"go-back-n\"\nacks = \"control\""));
    let flow = &control.network.flows[0];
    assert_eq!((flow.transport.as_ref().map(|c| c.acks), flow.frame), (Some(None), 1024 + 44 + 18));
}

/// The resolved scenario has every parameter, and is read again as the same.
#[test]
fn the_resolved_scenario_says_all() {
    for text in [GOOD.to_owned(), with("transport = { selective = { bdp_cap = 5 } }\nacks = \"control\"")] {
        let text = text.replacen("scheme = \"none\"", "scheme = \"none\"\nnetwork.ecn_threshold = \"65 KB\"", 1);
        let plan = planned(&text);
        assert!(plan.resolved.contains("ecn_threshold = \"65 KB\""), "{}", plan.resolved);
        let again = planned(&plan.resolved);
        assert_eq!(again.resolved, plan.resolved);
        assert_eq!(format!("{:?}", again.network), format!("{:?}", plan.network));
    }
    let resolved = planned(GOOD).resolved;
    assert!(resolved.contains("congestion = \"cubic\"") && resolved.contains("frame = \"1518 octets\""), "{resolved}");
}

#[test]
fn each_mistake_is_named_with_its_location() {
    for (new, expected) in [
        ("transport = \"tpc\"", "x.toml:14: flow.0.transport: \"tpc\" is not known here, expected \"none\" or \"tcp\""),
        ("transport = \"tpc\"", "(did you mean \"tcp\"?)"),
        ("transport = { tpc = {} }", "x.toml:14: flow.0.transport.tpc: unknown key (did you mean \"tcp\"?)"),
        ("transport = {}", "flow.0.transport: no transport (exactly one of tcp, go-back-n, selective)"),
        ("transport = { tcp = {}, go-back-n = {} }", "a second transport; there is \"tcp\" already (keep one of them)"),
        (
            "transport = { tcp = { congestion = \"reno\" } }",
            "flow.0.transport.tcp.congestion: \"reno\" is not known here",
        ),
        ("transport = { tcp = { congestion = \"reno\" } }", "(did you mean \"newreno\"?)"),
        ("transport = { tcp = { mss = \"1460\" } }", "flow.0.transport.tcp.mss: \"1460\" has no unit"),
        ("transport = { tcp = { rto_min = \"2 s\", rto_max = \"1 s\" } }", "rto_max: 1 s is below rto_min, 2 s"),
        (
            "transport = { tcp = { mss = \"60 KB\" } }",
            "a full segment of 60 KB makes frames of 60058 octets (at most 16326 octets)",
        ),
        (
            "transport = \"tcp\"\nframe = \"1500 B\"",
            "x.toml:15: flow.0.frame: a full segment of tcp makes frames of 1518 octets",
        ),
        ("transport = \"tcp\"\nframe = \"1500 B\"", "(leave frame out, or set mss of the transport)"),
        ("transport = \"tcp\"\nexcess = \"discard\"", "flow.0.excess: tcp keeps data that it cannot send"),
        (
            "transport = \"tcp\"\nacks = 2",
            "x.toml:15: flow.0.acks: no flow has priority 2 (flows have 0, 3; or \"control\")",
        ),
        ("transport = \"tcp\"\nacks = 8", "flow.0.acks: expected a whole number from 0 to 7"),
        ("transport = \"tcp\"\nacks = \"fast\"", "flow.0.acks: \"fast\" is not known here, expected \"control\""),
        (
            "acks = 0",
            "flow.0.acks: a flow without transport has no acknowledgements (add for instance transport = \"tcp\")",
        ),
    ] {
        let error = Scenario::parse(&with(new), "x.toml", "x").and_then(|s| s.plan(&Choice::default()));
        let message = error.expect_err(new).to_string();
        assert!(message.contains(expected), "{new}\n{message}\n{expected}");
    }
    let group = GOOD.replacen("to = \"h2\"", "to = \"all\"", 1);
    let error = Scenario::parse(&group, "x.toml", "x").and_then(|s| s.plan(&Choice::default()));
    let message = error.expect_err("a group").to_string();
    assert!(message.contains("flow.0.transport: tcp carries a flow to one host, not to a group"), "{message}");
}

#[test]
fn a_transmit_queue_waits_unless_it_is_to_drop() {
    let with = |keys: &str, transport: &str| {
        let text = format!(
            "question = \"Q\"\nduration = \"1 ms\"\nscheme = \"none\"\n[topology.star]\nhosts = 2\nlink_rate = \"1 Gbps\"\n\
             buffer = \"150 KB\"\n[hosts]\n{keys}\n[[flow]]\nfrom = \"h0\"\nto = \"h1\"\ntransport = \"{transport}\"\n"
        );
        Scenario::parse(&text, "x.toml", "x").and_then(|s| s.plan(&Choice::default())).map_err(|e| e.to_string())
    };
    let plan = |keys: &str| with(keys, "tcp");
    let kind = |keys: &str| plan(keys).unwrap().network.transmit;
    let limit = Octets(100_000);
    assert_eq!(kind(""), Transmit::Pull);
    assert_eq!(kind("transmit_queue = { limit = \"100 KB\" }"), Transmit::Wait(limit));
    assert_eq!(kind("transmit_queue = { limit = \"100 KB\", when_full = \"drop\" }"), Transmit::Drop(limit));
    for (keys, wanted) in [
        ("transmit_queue = { when_full = \"drop\" }", "hosts.transmit_queue.limit"),
        ("transmit_queue = { limit = \"0 B\" }", "is zero"),
        ("transmit_queue = { limit = \"1 KB\", when_full = \"push\" }", "\"wait\" or \"drop\""),
        ("transmit_queue = \"fifo\"", "hosts.transmit_queue"),
    ] {
        let message = plan(keys).unwrap_err();
        assert!(message.contains(wanted), "{message}\nwanted {wanted}");
    }
    // No window keeps these from sending all that they have into the queue.
    for transport in ["go-back-n", "selective"] {
        let keys = |full: &str| format!("transmit_queue = {{ limit = \"100 KB\", when_full = \"{full}\" }}");
        let message = with(&keys("drop"), transport).unwrap_err();
        assert!(message.contains(&format!("when_full: \"{transport}\" has no window")), "{message}");
        assert_eq!(with(&keys("wait"), transport).unwrap().network.transmit, Transmit::Wait(limit));
    }
}

/// The time of marks and the length for them are those of a threshold, or of a scheme that marks.
#[test]
fn something_marks_where_a_scenario_says_when() {
    let text =
        |scheme: &str, keys: &str| GOOD.replacen("scheme = \"none\"", &format!("scheme = \"{scheme}\"\n{keys}"), 1);
    for (key, at_departure, by_port) in [("ecn_at = \"departure\"", true, false), ("ecn_by = \"port\"", false, true)] {
        let alone = format!("network.{key}");
        let error = Scenario::parse(&text("none", &alone), "x.toml", "x")
            .and_then(|s| s.plan(&Choice::default()))
            .map(|plan| plan.name)
            .unwrap_err()
            .to_string();
        let (name, _) = key.split_once(' ').expect("a name and a value");
        let expected =
            format!("x.toml:4: network.{name}: nothing marks: there is no threshold, and no scheme that marks");
        assert!(error.starts_with(&expected), "{error}");
        for (scheme, keys) in
            [("dctcp", alone.clone()), ("none", format!("network.ecn_threshold = \"60 KB\"\n{alone}"))]
        {
            let marking = planned(&text(scheme, &keys)).network.marking;
            assert_eq!((marking.at_departure, marking.by_port), (at_departure, by_port), "{scheme}");
        }
    }
}

/// Switches trim in all priorities, or in those whose scheme asks for it.
#[test]
fn switches_trim_where_the_network_or_a_scheme_asks() {
    let trimmed = |keys: &str| {
        planned(&GOOD.replacen("scheme = \"none\"", &format!("scheme = \"none\"\n{keys}"), 1)).network.trimmed
    };
    assert!(trimmed("").is_empty());
    assert_eq!(trimmed("network.trimming = true"), [0, 3]);
    let nscc = |profile: &str| {
        let text = format!("{GOOD}[[priority]]\npriority = 3\nscheme = \"nscc\"\n{profile}");
        planned(&text).network.trimmed
    };
    assert_eq!((nscc(""), nscc("profile = \"trimming\"\n")), (vec![], vec![3]));
}

#[test]
fn a_note_says_that_frames_of_tcp_are_not_trimmed() {
    let noted = |text: &str| planned(text).notes.iter().any(|note| note.contains("network.trimming changes nothing"));
    let trims = GOOD.replacen("scheme = \"none\"", "scheme = \"none\"\nnetwork.trimming = true", 1);
    assert!(!noted(&trims), "one flow has no transport");
    let all = trims.replacen("from = \"h1\"", "transport = \"tcp\"\nfrom = \"h1\"", 1);
    assert!(noted(&all) && !noted(&all.replacen("transport = \"tcp\"", "transport = \"selective\"", 1)));
}
