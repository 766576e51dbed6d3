//! Priority flow control in a plan: ports that can be stopped, buffers and thresholds behind them, mistakes refused.

use penstock_scenario::{Choice, Plan, Scenario, ScenarioError};
use penstock_schemes::{Duration, Octets};
use penstock_sim::network::{Ingress, Pfc, PortId, Watchdog};
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

fn outcome(text: &str) -> Result<Plan, ScenarioError> {
    Scenario::parse(text, "x.toml", "x")?.plan(&Choice::default())
}

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
    let reach = |priority: &u8| plan.network.reaches(*priority, pfc(plan).response)[port(plan, name).index()];
    plan.network.priorities.iter().filter_map(reach).map(|reach| headroom(&reach).0).max().expect("a flow passes")
}

#[test]
fn the_table_alone_is_enough() {
    let plan = outcome(GOOD).unwrap();
    assert_eq!(pfc(&plan).priorities, [0, 3]);
    assert_eq!((pfc(&plan).quanta, pfc(&plan).response), (65_535, Duration::ZERO));
    let stoppable = |(i, _): (usize, &Option<Ingress>)| plan.port_names[i].clone();
    let ports: Vec<String> =
        pfc(&plan).ingress.iter().enumerate().filter(|(_, ingress)| ingress.is_some()).map(stoppable).collect();
    // Every port with traffic, one way or the other, that leads to a switch; none that leads to a host.
    assert_eq!(ports, ["h0->sw0", "h1->sw0", "sw0->sw1", "sw1->sw0", "h2->sw1", "h3->sw1"]);
    // 100 frames of 1500 octets, less the headroom; resumed two frames below.
    let room = computed(&plan, "h0->sw0");
    let xoff = 150_000 - room;
    let expected = Ingress { buffer: Octets(150_000), xoff: Octets(xoff), xon: Octets(xoff - 3000) };
    assert_eq!(behind(&plan, "h0->sw0"), Some(expected));
    // The way between the switches has no delay here, and asks for less.
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
    assert_eq!((pfc(&plan).quanta, pfc(&plan).response), (1000, Duration(500_000)));
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
    let later = with("response = \"1 us\"").unwrap();
    assert_eq!(computed(&later, "h0->sw0"), computed(&all, "h0->sw0") + 1250);
    // Small buffers: xon is not below zero.
    assert_eq!(behind(&with("xoff = \"2 KB\"").unwrap(), "h0->sw0").unwrap().xon, Octets(0));
}

#[test]
fn each_mistake_is_named_with_its_place() {
    let room = computed(&outcome(GOOD).unwrap(), "h0->sw0");
    for (lines, expected) in [
        ("priorities = [4]", "x.toml:5: pfc.priorities: no flow has priority 4 (flows have 0, 3)"),
        ("priorities = [3, 3]", "x.toml:5: pfc.priorities: 3 is listed twice (list each number once)"),
        ("priorities = [8]", "expected a whole number from 0 to 7, found the number 8"),
        ("priorities = []", "an empty list (expected a list of whole numbers from 0 to 7)"),
        ("priorities = 3", "expected a list of whole numbers from 0 to 7, found the number 3"),
        ("priorities = [\"3\"]", "expected a whole number from 0 to 7, found \"3\""),
        ("ports = [\"sw0->sw2\"]", "x.toml:5: pfc.ports: there is no port \"sw0->sw2\" (did you mean \"sw0->sw1\"?)"),
        ("ports = [\"sw1->h2\"]", "the port \"sw1->h2\" leads to a host, and hosts stop nobody (list ports that lead"),
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
        ("xoff = \"1 KB\"", "x.toml:5: pfc.xoff: 1 KB hold no frame of 1500 octets (at least 1500 octets)"),
        ("xoff = \"9 KB\"\nxon = \"10 KB\"", "x.toml:6: pfc.xon: 10 KB is not below xoff, 9 KB for h0->sw0"),
        ("xoff = \"9 KB\"\nxon = \"9 KB\"", "pfc.xon: 9 KB is not below xoff, 9 KB"),
        ("quanta = 0", "expected a whole number from 1 to 65535"),
        (
            "quanta = 1",
            "x.toml:5: pfc.quanta: 1 quanta are over before the pause frame for h0->sw0 comes again (at least ",
        ),
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
    let needed = penstock_scenario::headroom_needed(&plan.network);
    let buffers: Vec<_> =
        pfc(&plan).ingress.iter().zip(&needed).filter_map(|(i, room)| Some(((*i)?, (*room)?))).collect();
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
        ("ports = [\"h0->sw0\"]\nxoff = \"1 KB\"", "pfc.link.0.xoff: 1 KB hold no frame of 1500 octets"),
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
        of_default.contains("pfc.response = \"0 s\"") && of_default.contains("at most 1500 octets"),
        "{of_default}"
    );
    assert!(!notes(&GOOD.replace("[pfc]\n", "[pfc]\nresponse = \"1 us\"\n")).contains("response"));
    assert_eq!(notes(&GOOD.replace("[pfc]\n", "")), "");
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
    assert_eq!(pfc(&outcome(GOOD).unwrap()).watchdog, None);
    let ms = |n: u64| Duration::from_ms(n);
    for (lines, expected) in [
        ("watchdog = {}", Watchdog { after: ms(200), restoration: ms(200), poll: Duration::ZERO, drops: true }),
        (
            "watchdog = { after = \"1 ms\", restoration = \"2 ms\", poll = \"100 us\", action = \"forward\" }",
            Watchdog { after: ms(1), restoration: ms(2), poll: Duration::from_us(100), drops: false },
        ),
    ] {
        let plan = with(lines).unwrap();
        assert_eq!(pfc(&plan).watchdog, Some(expected));
        assert_eq!(pfc(&outcome(&plan.resolved).unwrap()).watchdog, Some(expected));
    }
    let message = with("watchdog = { after = \"0 s\" }").unwrap_err().to_string();
    assert!(message.contains("x.toml:5: pfc.watchdog.after: \"0 s\" is zero; this time must be more"), "{message}");
    let message = with("watchdog = { action = \"wait\" }").unwrap_err().to_string();
    assert!(
        message.contains("pfc.watchdog.action: \"wait\" is not known here, expected \"drop\" or \"forward\""),
        "{message}"
    );
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
