//! Priority flow control in a plan: ports that can be stopped, buffers and thresholds behind them, mistakes refused.

use crate::common::outcome;
use penstock_scenario::{Choice, Plan, Scenario, ScenarioError};
use penstock_schemes::{Duration, Octets};
use penstock_sim::network::{Action, Ingress, Pfc, PortId, Watchdog};
use penstock_sim::pfc::headroom;

const GOOD: &str = r#"question = "?"
duration = "1 s"
scheme = "none"
[pfc]
[topology.dumbbell]
sources = 2
receivers = 2
link_rate = "10 Gbps"
bottleneck_rate = "10 Gbps"
link_delay = "1 us"
buffer = "100 frames"
[[flow]]
from = "h0..h1"
to = "h2"
[[flow]]
from = "h0"
to = "h3"
priority = 3
"#;

fn changed(old: &str, new: &str) -> Result<Plan, ScenarioError> {
    assert!(GOOD.contains(old), "{old}");
    outcome(&GOOD.replacen(old, new, 1))
}

/// With these lines in `[pfc]`.
fn with(lines: &str) -> Result<Plan, ScenarioError> {
    changed("[pfc]\n", &format!("[pfc]\n{lines}\n"))
}

fn pfc(plan: &Plan) -> &Pfc {
    plan.network.pfc.as_ref().expect("the scenario has flow control")
}

fn port(plan: &Plan, name: &str) -> PortId {
    PortId(plan.port_names.iter().position(|n| n == name).expect("a port's name") as u32)
}

fn behind(plan: &Plan, name: &str) -> Option<Ingress> {
    pfc(plan).ingress[port(plan, name).index()]
}

/// The headroom that the engine asks for behind a port, octets.
fn computed(plan: &Plan, name: &str) -> u64 {
    headroom(&plan.reaches[port(plan, name).index()].expect("it can be stopped")).0
}

fn response(plan: &Plan, name: &str) -> Duration {
    pfc(plan).responses[port(plan, name).index()]
}

#[test]
fn the_table_alone_is_enough() {
    let plan = outcome(GOOD).unwrap();
    assert_eq!(pfc(&plan).priorities, [0, 3]);
    // 67 quanta of 512 bits at 10 Gb/s.
    assert_eq!((pfc(&plan).quanta, response(&plan, "h0->sw0")), (65_535, Duration(3_430_400)));
    let stoppable = |(i, _): (usize, &Option<Ingress>)| plan.port_names[i].clone();
    let ports: Vec<String> =
        pfc(&plan).ingress.iter().enumerate().filter(|(_, ingress)| ingress.is_some()).map(stoppable).collect();
    // Every port with traffic, in either direction, that leads to a switch; none that leads to a host.
    assert_eq!(ports, ["h0->sw0", "h1->sw0", "sw0->sw1", "sw1->sw0", "h2->sw1", "h3->sw1"]);
    // 100 frames of 1500 octets, less the headroom; resumed two frames below.
    let room = computed(&plan, "h0->sw0");
    let xoff = 150_000 - room;
    let expected = Ingress { buffer: Octets(150_000), xoff: Octets(xoff), xon: Octets(xoff - 3000) };
    assert_eq!(behind(&plan, "h0->sw0"), Some(expected));
    // The link between the switches has no delay here, and needs less.
    assert!(computed(&plan, "sw0->sw1") < room);
    assert!(outcome(&GOOD.replace("[pfc]\n", "")).unwrap().network.pfc.is_none());
    assert!(!plan.lossless);
}

#[test]
fn every_key_has_its_effect() {
    let text = GOOD.replace("question", "lossless = true\nquestion").replace(
        "[pfc]\n",
        "[pfc]\npriorities = [3]\nports = [\"sw0->sw1\"]\nbuffer = \"64 KB\"\nheadroom = \"20 KB\"\nxoff = \"40 KB\"\n\
         xon = \"0 octets\"\nquanta = 1000\nresponse = \"0.5 us\"\n",
    );
    let plan = outcome(&text).unwrap();
    assert!(plan.lossless);
    assert_eq!(pfc(&plan).priorities, [3]);
    assert_eq!((pfc(&plan).quanta, response(&plan, "sw0->sw1")), (1000, Duration(500_000)));
    let expected = Ingress { buffer: Octets(64_000), xoff: Octets(40_000), xon: Octets(0) };
    assert_eq!(behind(&plan, "sw0->sw1"), Some(expected));
    assert_eq!(pfc(&plan).ingress.iter().flatten().count(), 1);
    let again = outcome(&plan.resolved).unwrap();
    assert_eq!(format!("{plan:?}"), format!("{again:?}"));
    let all = outcome(GOOD).unwrap();
    assert!(all.resolved.contains("priorities = [0, 3]\n"));
    assert_eq!(format!("{all:?}"), format!("{:?}", outcome(&all.resolved).unwrap()));
    // A headroom that is too small on purpose is no mistake, and moves xoff up.
    assert_eq!(behind(&with("headroom = \"1 KB\"").unwrap(), "h0->sw0").unwrap().xoff, Octets(149_000));
    // A later response asks for room for the octets that come meanwhile: 10 Gb/s for 1 us are 1250 octets.
    // (Of 1524 octets on the line 1500 count, and of a shorter rest all but 24: no border is crossed here.)
    let (now, later) = (with("response = \"0 s\"").unwrap(), with("response = \"1 us\"").unwrap());
    assert_eq!(computed(&later, "h0->sw0"), computed(&now, "h0->sw0") + 1250);
    // Small buffers: xon is not below zero.
    assert_eq!(behind(&with("xoff = \"2 KB\"").unwrap(), "h0->sw0").unwrap().xon, Octets(0));
}

#[test]
fn each_mistake_is_named_with_its_location() {
    let room = computed(&outcome(GOOD).unwrap(), "h0->sw0");
    for (lines, expected) in [
        (
            "mtu = \"1499 octets\"",
            "x.toml:5: pfc.mtu: 1499 octets are less than the longest frame of the flows, 1500 octets (at least 1500",
        ),
        ("mtu = \"64 KiB\"", "x.toml:5: pfc.mtu: \"64 KiB\" is"),
        ("response = \"-1 us\"", "x.toml:5: pfc.response"),
        ("priorities = [3, 3]", "x.toml:5: pfc.priorities: 3 is listed twice (list each number once)"),
        ("priorities = [8]", "expected a whole number from 0 to 7, found the number 8"),
        ("priorities = []", "an empty list (expected a list of whole numbers from 0 to 7)"),
        ("priorities = 3", "expected a list of whole numbers from 0 to 7, found the number 3"),
        ("priorities = [\"3\"]", "expected a whole number from 0 to 7, found \"3\""),
        ("ports = [\"sw0->sw2\"]", "x.toml:5: pfc.ports: there is no port \"sw0->sw2\" (did you mean \"sw0->sw1\"?)"),
        (
            "ports = [\"sw1->h2\"]",
            "the port \"sw1->h2\" leads to a host, and hosts send no pause frames (list ports that lead",
        ),
        ("ports = [\"sw0->sw1\", \"sw0->sw1\"]", "the port \"sw0->sw1\" is listed twice"),
        ("ports = \"some\"", "\"some\" is not known here, expected \"all\""),
        (
            "headroom = \"151 KB\"",
            &format!(
                "x.toml:5: pfc.headroom: a headroom of 151 KB is beyond the ingress buffer of 150 KB behind h0->sw0 \
                 ({room} octets are computed for it; at most 148500 octets, a frame less than the buffer)"
            ),
        ),
        ("headroom = \"some\"", "\"some\" is not known here, expected \"auto\""),
        (
            "buffer = \"5 KB\"",
            &format!(
                "x.toml:5: pfc.buffer: the headroom of h0->sw0, {room} octets as computed, is beyond the ingress buffer \
                 of 5 KB (at least {} octets, room for a frame included)",
                room + 1500
            ),
        ),
        ("buffer = \"0 KB\"", "is zero; this size must be more"),
        (
            "xoff = \"149 KB\"",
            &format!(
                "x.toml:5: pfc.xoff: 149 KB and the headroom of h0->sw0, {room} octets, are beyond the ingress buffer of \
                 150 KB (at most {} octets)",
                150_000 - room
            ),
        ),
        ("xoff = \"1 KB\"", "x.toml:5: pfc.xoff: 1 KB are too small for a frame of 1500 octets (at least 1500 octets)"),
        ("xoff = \"9 KB\"\nxon = \"10 KB\"", "x.toml:6: pfc.xon: 10 KB is not below xoff, 9 KB for h0->sw0"),
        ("xoff = \"9 KB\"\nxon = \"9 KB\"", "pfc.xon: 9 KB is not below xoff, 9 KB"),
        ("quanta = 0", "expected a whole number from 1 to 65535"),
        ("quanta = 1", "x.toml:5: pfc.quanta: a pause of 1 quanta ends before h0->sw0 can be paused again (at least "),
        ("quantas = 1", "x.toml:5: pfc.quantas: unknown key (did you mean \"quanta\"?)"),
    ] {
        let message = with(lines).expect_err(lines).to_string();
        assert!(message.contains(expected), "{lines}\n gives {message}\n not {expected}");
    }
    let message = changed("\"100 frames\"", "\"2 frames\"").unwrap_err().to_string();
    assert!(message.starts_with("x.toml:4: pfc.buffer: the headroom of h0->sw0"), "{message}");
    let message = changed("[pfc]\n", "lossless = \"yes\"\n[pfc]\n").unwrap_err().to_string();
    assert!(message.contains("x.toml:4: lossless: expected true or false, found \"yes\""), "{message}");
}

/// The octets of headroom depend on each link, and the resolved scenario says them; reading it gives the same plan.
#[test]
fn the_resolved_scenario_says_the_octets() {
    let plan = outcome(GOOD).unwrap();
    assert!(plan.resolved.contains("[[pfc.link]]"), "links differ:\n{}", plan.resolved);
    let buffers: Vec<_> = pfc(&plan)
        .ingress
        .iter()
        .zip(&plan.reaches)
        .filter_map(|(i, reach)| Some(((*i)?, headroom(&(*reach)?))))
        .collect();
    assert!(!buffers.is_empty());
    for (ingress, room) in buffers {
        assert_eq!(ingress.buffer.0 - ingress.xoff.0, room.0, "the room above xoff is the headroom that was computed");
        assert!(plan.resolved.contains(&format!("headroom = \"{} octets\"", room.0)), "{}", plan.resolved);
    }
    let again = outcome(&plan.resolved).unwrap();
    assert_eq!((&pfc(&again).ingress, &again.resolved), (&pfc(&plan).ingress, &plan.resolved));
    // One link, one size: it stands in [pfc].
    let one = with("ports = [\"h0->sw0\"]").unwrap();
    let ingress = behind(&one, "h0->sw0").unwrap();
    assert!(!one.resolved.contains("[[pfc.link]]"));
    assert!(one.resolved.contains(&format!("xoff = \"{} octets\"", ingress.xoff.0)), "{}", one.resolved);
}

#[test]
fn a_link_may_have_thresholds_of_its_own() {
    let own = "[[pfc.link]]\nports = [\"h0->sw0\"]\nbuffer = \"100 KB\"\nheadroom = \"30 KB\"\nxoff = \"50 KB\"\nxon = \"40 KB\"";
    let plan = with(own).unwrap();
    let expected = Ingress { buffer: Octets(100_000), xoff: Octets(50_000), xon: Octets(40_000) };
    assert_eq!(behind(&plan, "h0->sw0"), Some(expected));
    assert_eq!(behind(&plan, "h1->sw0"), behind(&outcome(GOOD).unwrap(), "h1->sw0"), "the others stay");
    for (lines, expected) in [
        ("ports = [\"h0->sw9\"]", "pfc.link.0.ports: there is no port \"h0->sw9\""),
        ("ports = [\"h0->sw0\"]\nxoff = \"1 KB\"", "pfc.link.0.xoff: 1 KB are too small for a frame of 1500 octets"),
        (
            "ports = [\"h0->sw0\"]\n[[pfc.link]]\nports = [\"h0->sw0\"]",
            "pfc.link.1.ports: the port \"h0->sw0\" has a [[pfc.link]] already",
        ),
    ] {
        let message = with(&format!("[[pfc.link]]\n{lines}")).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
    let message = with("ports = [\"h0->sw0\"]\n[[pfc.link]]\nports = [\"h1->sw0\"]").unwrap_err().to_string();
    assert!(message.contains("the port \"h1->sw0\" is not one of pfc.ports"), "{message}");
}

/// Frames that an ingress buffer holds find room in any output queue, so that a threshold may lie beyond `buffer`.
#[test]
fn thresholds_may_lie_beyond_a_buffer_that_bounds_nothing() {
    let q_eq = |text: &str| {
        let mut scenario = Scenario::parse(text, "x.toml", "x").unwrap();
        scenario.set("schemes.qcn.q_eq", "160 KB").unwrap();
        scenario.set("scheme", "qcn").unwrap();
        scenario.plan(&Choice::default()).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(q_eq(GOOD), Ok(()));
    let error = q_eq(&GOOD.replace("[pfc]\n", "")).unwrap_err();
    assert!(error.contains("160 KB is beyond the buffer of 150 KB"), "{error}");
    let one_priority = q_eq(&GOOD.replace("[pfc]\n", "[pfc]\npriorities = [3]\n")).unwrap_err();
    assert!(one_priority.contains("beyond the buffer of 150 KB"), "priority 0 is not lossless: {one_priority}");
}

#[test]
fn the_assumptions_of_headrooms_are_noted() {
    let notes = |text: &str| outcome(text).unwrap().notes.join("\n");
    let of_default = notes(GOOD);
    assert!(
        !of_default.contains("response") && of_default.contains("at most 1500 octets, the longest of any flow"),
        "{of_default}"
    );
    let with = |lines: &str| notes(&GOOD.replace("[pfc]\n", &format!("[pfc]\n{lines}\n")));
    assert!(with("response = \"0 s\"").contains("obeys at once (pfc.response = \"0 s\")"));
    assert!(!with("mtu = \"9217 octets\"").contains("at most"));
    assert_eq!(notes(&GOOD.replace("[pfc]\n", "")), "");
    // A headroom that is too small is no mistake, and no secret.
    let room = computed(&outcome(GOOD).unwrap(), "h0->sw0");
    let little = with("headroom = \"2 KB\"");
    let expected = format!(
        "the headroom of h0->sw0 is 2 KB, and {room} octets are needed (headroom = \"auto\"), and 5 other ports"
    );
    assert!(little.contains(&expected), "{little}");
    let one = with("[[pfc.link]]\nports = [\"sw0->sw1\"]\nheadroom = \"2 KB\"");
    assert!(one.contains("the headroom of sw0->sw1 is 2 KB, and") && !one.contains("other port"), "{one}");
    assert!(!with("headroom = \"30 KB\"").contains("may be lost"));
    assert!(with("priorities = [0, 3, 4]").contains("no flow has priority 4"));
    // Three lines lead to each switch, with two priorities each.
    let large = with("buffer = \"60 MB\"");
    assert!(
        large.contains("the ingress buffers of sw0 are 360 MB in all, more than a switch has: [[buffer]]"),
        "{large}"
    );
    assert!(!with("buffer = \"50 MB\"").contains("in all"));
}

/// Two lines of one kind have one headroom, whoever sends how long frames over which of them; a line that nobody uses has it as well.
#[test]
fn headroom_follows_the_line_and_not_the_flows() {
    let flow = |from: &str, to: &str, frame: u32| {
        format!("[[flow]]\nfrom = \"{from}\"\nto = \"{to}\"\nframe = \"{frame} octets\"\n")
    };
    let head = GOOD
        .split("[[flow]]")
        .next()
        .unwrap()
        .replace("\"100 frames\"", "\"1 MB\"")
        .replace("sources = 2", "sources = 3");
    let of = |pfc: &str, flows: &str| outcome(&format!("{}{flows}", head.replace("[pfc]\n", pfc))).unwrap();
    let rooms = |plan: &Plan| ["h0->sw0", "h1->sw0", "h2->sw0", "h3->sw1"].map(|name| computed(plan, name));
    let mixed = of("[pfc]\n", &(flow("h0", "h3", 1500) + &flow("h1", "h3", 9217)));
    let [long, ..] = rooms(&mixed);
    assert_eq!(rooms(&mixed), [long; 4]);
    // An MTU says it without a flow of such frames, and the priority is not asked for, either.
    let said = of("[pfc]\nmtu = \"9217 octets\"\npriorities = [5]\n", &flow("h0", "h3", 1500));
    assert_eq!(rooms(&said), [long; 4]);
    assert_eq!(pfc(&said).priorities, [0; 0], "nothing is there to stop");
    assert!(said.resolved.contains("priorities = [5]\n") && said.resolved.contains("mtu = \"9217 octets\"\n"));
    assert_eq!(outcome(&said.resolved).unwrap().resolved, said.resolved);
    let short = of("[pfc]\n", &flow("h0", "h3", 1500));
    assert!(rooms(&short)[0] < long);
}

/// Each port answers in the time of its speed; a link may have its own, and a headroom with it.
#[test]
fn responses_follow_the_speed_of_the_port() {
    let mixed = GOOD.replace("bottleneck_rate = \"10 Gbps\"", "bottleneck_rate = \"100 Gbps\"");
    let plan = outcome(&mixed).unwrap();
    assert_eq!(response(&plan, "h0->sw0"), Duration(67 * 51_200));
    assert_eq!(response(&plan, "sw0->sw1"), Duration(394 * 5120));
    let again = outcome(&plan.resolved).unwrap();
    assert_eq!((&pfc(&again).responses, &again.resolved), (&pfc(&plan).responses, &plan.resolved));
    let own = with("response = \"2 us\"\n[[pfc.link]]\nports = [\"h0->sw0\"]\nresponse = \"1 us\"").unwrap();
    assert_eq!(response(&own, "h0->sw0"), Duration::from_us(1));
    assert_eq!(response(&own, "h1->sw0"), Duration::from_us(2));
    assert_eq!(computed(&own, "h1->sw0"), computed(&own, "h0->sw0") + 1250);
    assert_eq!(outcome(&own.resolved).unwrap().resolved, own.resolved);
}

/// HPCC's telemetry lengthens each data frame by 42 octets: the one that overshoots, the last one, and those on the line.
#[test]
fn head_rooms_count_tags() {
    let (bare, tagged) = (changed("\"none\"", "\"dctcp\"").unwrap(), changed("\"none\"", "\"hpcc\"").unwrap());
    assert!(computed(&tagged, "h0->sw0") >= computed(&bare, "h0->sw0") + 2 * 42);
    let said =
        |plan: &Plan, octets: u16| plan.notes.iter().any(|note| note.contains(&format!("at most {octets} octets")));
    assert!(said(&bare, 1500) && said(&tagged, 1542), "{:?}", tagged.notes);
}

#[test]
fn a_watchdog_is_a_table_of_its_own() {
    assert_eq!(pfc(&outcome(GOOD).unwrap()).watchdogs, []);
    // Ports of switches have it, and those of hosts do not.
    let of = |plan: &Plan, port: &str| pfc(plan).watchdogs[self::port(plan, port).index()];
    let ms = |n: u64| Duration::from_ms(n);
    for (lines, expected) in [
        (
            "watchdog = {}",
            Watchdog { after: ms(200), restoration: ms(200), poll: Duration::ZERO, action: Action::Drop },
        ),
        (
            "watchdog = { action = \"alert\" }",
            Watchdog { after: ms(200), restoration: ms(200), poll: Duration::ZERO, action: Action::Alert },
        ),
        (
            "watchdog = { after = \"1 ms\", restoration = \"2 ms\", poll = \"100 us\", action = \"forward\" }",
            Watchdog { after: ms(1), restoration: ms(2), poll: Duration::from_us(100), action: Action::Forward },
        ),
    ] {
        let plan = with(lines).unwrap();
        for plan in [&plan, &outcome(&plan.resolved).unwrap()] {
            assert_eq!((of(plan, "sw1->h2"), of(plan, "h0->sw0")), (Some(expected), None));
        }
    }
    let message = with("watchdog = { after = \"0 s\" }").unwrap_err().to_string();
    assert!(message.contains("x.toml:5: pfc.watchdog.after: \"0 s\" is zero; this time must be more"), "{message}");
    let message = with("watchdog = { action = \"wait\" }").unwrap_err().to_string();
    assert!(
        message
            .contains("pfc.watchdog.action: \"wait\" is not known here, expected \"drop\" or \"forward\" or \"alert\""),
        "{message}"
    );
}

/// SONiC's table PFC_WD has a row for each port, and one polling interval.
#[test]
fn each_port_may_have_its_own_watchdog() {
    let with = |lines: &str| outcome(&format!("{GOOD}[pfc.watchdog]\n{lines}"));
    let row = "[[pfc.watchdog.port]]\nports = [\"sw1->h3\"]\n";
    let poll = "poll = \"100 ms\"\n";
    let plan = with(&format!("ports = [\"sw1->h2\"]\n{poll}{row}after = \"400 ms\"\naction = \"alert\"")).unwrap();
    let ms = |n: u64| Duration::from_ms(n);
    let own = |after, action| Some(Watchdog { after, restoration: ms(200), poll: ms(100), action });
    for plan in [&plan, &outcome(&plan.resolved).unwrap()] {
        let of = |name: &str| pfc(plan).watchdogs[port(plan, name).index()];
        assert_eq!((of("sw1->h2"), of("sw1->h3")), (own(ms(200), Action::Drop), own(ms(400), Action::Alert)));
        assert_eq!(of("sw0->sw1"), None);
    }
    for (lines, expected) in [
        ("ports = [\"sw1->h9\"]".to_owned(), "pfc.watchdog.ports: there is no port \"sw1->h9\""),
        ("ports = [\"h0->sw0\"]".to_owned(), "pfc.watchdog.ports: the port \"h0->sw0\" is that of a host"),
        (format!("{row}{row}"), "pfc.watchdog.port.1.ports: the port \"sw1->h3\" has a [[pfc.watchdog.port]] already"),
        (
            row.replace("]\n", ", \"sw1->h3\"]\n").replace("port], \"sw1->h3\"]", "port]]"),
            "\"sw1->h3\" is listed twice",
        ),
        ("[[pfc.watchdog.port]]".to_owned(), "pfc.watchdog.port.0"),
        (
            format!("{poll}after = \"50 ms\""),
            "pfc.watchdog.after: 50 ms is shorter than the polling interval of 100 ms",
        ),
        (format!("{poll}{row}restoration = \"1 ms\""), "pfc.watchdog.port.0.restoration: 1 ms is shorter"),
        (format!("{row}poll = \"1 ms\""), "pfc.watchdog.port.0.poll"),
    ] {
        let message = with(&lines).unwrap_err().to_string();
        assert!(message.contains(expected), "{lines}: {message}");
    }
}

/// The queue of 802.1Qcz's congesting flows: no flow has its priority, and frames of others wait there.
#[test]
fn a_priority_to_which_a_scheme_moves_frames_has_queues_and_headroom() {
    let text = GOOD.replace("scheme = \"none\"", "scheme = \"ci\"").replace("to = \"h2\"", "to = \"h2\"\npriority = 3");
    let plan = outcome(&text.replace("[pfc]\n", "[pfc]\npriorities = [0]\n")).unwrap();
    assert_eq!((&plan.network.priorities[..], &pfc(&plan).priorities[..]), (&[0, 3][..], &[0][..]));
    assert_eq!(plan.schemes.iter().map(|own| own.config.info().name).collect::<Vec<_>>(), ["ci", "ci"]);
    assert!(plan.network.joins(3, 0) && !plan.network.joins(0, 3));
    // As much as if the flows themselves had the priority.
    let own = outcome(&text.replace("priority = 3", "priority = 0").replace("\"ci\"", "\"none\"")).unwrap();
    assert_eq!(behind(&plan, "h0->sw0"), behind(&own, "h0->sw0"));
    assert!(!plan.notes.iter().any(|note| note.contains("ci moves frames")), "{:?}", plan.notes);
    // Sources of one scheme would not understand signals of another one's queue.
    let mixed = format!("{}\n[[priority]]\npriority = 3\nscheme = \"ci\"\n", text.replace("\"ci\"", "\"sfc\""));
    let message = outcome(&mixed).unwrap_err().to_string();
    assert!(
        message.contains("priority.0.priority: ci moves frames of priority 3 to priority 0, where sfc runs"),
        "{message}"
    );
    // Flows of the priority itself stay where they are.
    let low = outcome(&text.replace("priority = 3", "priority = 0")).unwrap();
    assert!(
        low.notes.iter().any(|note| note.contains("ci moves frames to priority 0, and none of flows of priority 0"))
    );
    assert_eq!(low.network.priorities, [0]);
}
