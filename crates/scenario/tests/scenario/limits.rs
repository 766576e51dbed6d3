//! Texts of a few lines that ask for work or memory without end, or for numbers that no sum would hold. They are refused at
//! once, with location and hint, before anything of it is made, and allowed where the limits are raised.

use std::cell::Cell;

use penstock_scenario::limits::Limits;
use penstock_scenario::{Choice, Plan, Scenario, ScenarioError};

const STAR: &str = "[topology.star]\nhosts = 2\nlink_rate = \"1 Gbps\"\nbuffer = \"150 KB\"\n";
const FLOW: &str = "[[flow]]\nfrom = \"h0\"\nto = \"h1\"\n";

fn text(duration: &str, rest: &str) -> String {
    format!("question = \"Q\"\nduration = \"{duration}\"\nscheme = \"none\"\n{rest}")
}

fn plan(text: &str) -> Result<Plan, ScenarioError> {
    raised(text, 1)
}

fn raised(text: &str, limit: u64) -> Result<Plan, ScenarioError> {
    let choice = Choice { limits: Limits::raised(limit), ..Choice::default() };
    Scenario::parse(text, "x.toml", "x").and_then(|scenario| scenario.plan(&choice))
}

/// The error of a text that is refused; each has a key, a line and a hint.
fn refused(text: &str) -> String {
    let error = plan(text).expect_err(text);
    assert!(error.key.is_some() && error.line.is_some() && error.hint.is_some(), "{error}");
    error.to_string()
}

fn parking_lot(switches: u32, hosts: u32, flows: &str) -> String {
    let lot = format!(
        "[topology.parking-lot]\nswitches = {switches}\nhosts_per_switch = {hosts}\nlink_rate = \"1 Gbps\"\n\
         trunk_rate = \"1 Gbps\"\nbuffer = \"150 KB\"\n"
    );
    text("1 ms", &(lot + flows))
}

/// 1024 flows at 1024 instants, each over some 500 links: half an hour of arithmetic.
#[test]
fn fair_shares_that_take_minutes_are_left_out_with_a_note() {
    let flows = "[[flow]]\nfrom = \"h0..h1023\"\nto = \"h1024..h2047\"\nstagger = \"1 ps\"\n";
    let plan = plan(&parking_lot(1024, 2, flows)).unwrap();
    assert_eq!(plan.fair.len(), 1);
    assert_eq!(plan.fair[0].max_min_bps, [0.0; 1024]);
    let note = plan.notes.iter().find(|note| note.starts_with("no fair share is computed: ")).unwrap();
    assert!(note.contains("steps towards fair shares; 20000000 are the most"), "{note}");
    assert!(note.contains("--limit 27, in Python limit=27"), "{note}");
}

#[test]
fn gigabytes_of_routes_are_refused() {
    let flows = "[[flow]]\nfrom = \"h0..h4095\"\nto = \"h8191\"\n".repeat(24);
    let message = refused(&parking_lot(1024, 8, &flows));
    assert!(message.contains("hops of flows; 2000000 are the most"), "{message}");
}

/// Hosts with several links share no search: 8999 searches among 90 000 ports.
#[test]
fn a_search_without_end_is_refused() {
    let links: String = (0..9000)
        .flat_map(|host| (0..5).map(move |switch| (host, switch)))
        .map(|(host, switch)| format!("{{ ends = [\"h{host}\", \"s{switch}\"], rate = \"1 Gbps\" }},\n"))
        .collect();
    let graph = format!(
        "[topology.graph]\nhosts = \"h0..h8999\"\nswitches = \"s0..s4\"\nbuffer = \"150 KB\"\nlink = [\n{links}]\n\
         [record]\ninterval = \"1 ms\"\n"
    );
    let flows = "[[flow]]\nfrom = \"h0\"\nto = \"h1..h8999\"\n";
    let message = refused(&text("1 ms", &format!("{graph}{flows}")));
    assert!(message.contains("809910000 steps of the search for routes; 500000000 are the most"), "{message}");
}

/// Hosts of one switch have one search among 16 384 ports.
#[test]
fn hosts_of_a_switch_share_a_search() {
    let star = STAR.replace("hosts = 2", "hosts = 8192");
    let flows = "[[flow]]\nfrom = \"h0\"\nto = \"h1..h8191\"\n[record]\ninterval = \"1 ms\"\n";
    assert_eq!(plan(&text("1 ms", &format!("{star}{flows}"))).unwrap().flow_names.len(), 8191);
}

#[test]
fn links_nodes_samples_and_rows_are_counted() {
    let fabric = "[topology.leaf-spine]\nleaves = 1000\nspines = 1000\nhosts_per_leaf = 1\nhost_rate = \"1 Gbps\"\n\
                  fabric_rate = \"1 Gbps\"\nbuffer = \"150 KB\"\n";
    let message = refused(&text("1 ms", &format!("{fabric}{FLOW}")));
    assert!(message.contains("1001000 links; 50000 are the most (a smaller topology, or raise"), "{message}");
    let rounds = FLOW.replace("h1\"", "h1\"\nrepeat = 50000\nevery = \"1 ps\"\nstart = \"999 us\"");
    let message = refused(&text("1 ms", &format!("{STAR}{}", rounds.repeat(3))));
    assert!(message.contains("150000 flows; 100000 are the most"), "{message}");
    let record = "[record]\ninterval = \"100 ps\"\n";
    let message = refused(&text("1 ms", &format!("{STAR}{FLOW}{record}").replace("100 ps", "1 ps")));
    assert!(message.contains("1000000000 samples; 10000000 are the most (a longer interval, or raise"), "{message}");
    let many = FLOW.replace("h1\"", "h1\"\nrepeat = 11\nevery = \"1 ps\"");
    let message = refused(&text("1 ms", &format!("{STAR}{many}{record}")));
    assert!(
        message.contains("120000000 rows of samples; 100000000 are the most (a longer interval: each"),
        "{message}"
    );
}

#[test]
fn limits_are_raised_by_who_means_it() {
    let many = FLOW.replace("h1\"", "h1\"\nrepeat = 11\nevery = \"1 ps\"");
    let text = text("1 ms", &format!("{STAR}{many}[record]\ninterval = \"100 ps\"\n"));
    assert!(raised(&text, 1).is_err());
    assert_eq!(raised(&text, 2).unwrap().flow_names.len(), 11);
    let plan = raised(&parking_lot(64, 1, "[[flow]]\nfrom = \"h0..h31\"\nto = \"h32..h63\"\nstagger = \"1 ps\"\n"), 3);
    assert_eq!(plan.unwrap().fair.len(), 32);
}

/// Layout asks again and again whether to go on, in each of its parts.
#[test]
fn a_layout_that_is_interrupted_ends() {
    let flows = "[[flow]]\nfrom = \"h0..h99\"\nto = \"h100..h199\"\nstagger = \"1 ps\"\n";
    let text = parking_lot(100, 2, flows);
    let scenario = Scenario::parse(&text, "x.toml", "x").unwrap();
    let asked = Cell::new(0);
    let plan = |until: u64| {
        asked.set(0);
        scenario.plan_while(&Choice::default(), &mut || {
            asked.set(asked.get() + 1);
            asked.get() <= until
        })
    };
    plan(u64::MAX).unwrap();
    let all = asked.get();
    assert!(all > 1000, "{all}");
    for until in [0, 1, 10, 150, all / 2, all - 1] {
        let error = plan(until).unwrap_err();
        assert!(error.to_string().contains("interrupted while it was laid out"), "{error}");
        assert_eq!(asked.get(), until + 1);
    }
}

/// Beyond these, the engine's sums would overflow; nothing raises them.
#[test]
fn numbers_that_no_sum_would_hold_are_refused() {
    let star = |what: &str, with: &str| text("1 ms", &format!("{}{FLOW}", STAR.replace(what, with)));
    for (text, expected) in [
        (text("2000000.1 s", &format!("{STAR}{FLOW}")), "is above the maximum of 2000000 s"),
        (star("hosts", "link_delay = \"17280000 s\"\nhosts"), "is above the maximum of 2000000 s"),
        (star("hosts", "link_delay = \"9223372036854775808 ps\"\nhosts"), "is above the maximum of 2000000 s"),
        (star("150 KB", "4.1 GB"), "is above the maximum of 4 GB"),
        (star("150 KB", "2666667 frames"), "2666667 frames of up to 1500 octets are more than 4 GB (at most 2666666"),
        (star("[topology", "[hosts]\nqueue = \"4000000000 frames\"\n[topology"), "are more than 4 GB"),
        (
            text(
                "2000000 s",
                &format!(
                    "{STAR}{}",
                    FLOW.replace("to", "frame = \"64 octets\"\ntraffic = \"constant\"\nrate = \"100 Tbps\"\nto")
                        .repeat(30)
                ),
            ),
            "more than 64 bits count (lower rates",
        ),
    ] {
        let error = raised(&text, 1000).expect_err(&text).to_string();
        assert!(error.contains(expected), "{error}");
    }
}

/// All ingress buffers of a switch may wait for one port.
#[test]
fn ingress_buffers_that_no_queue_would_hold_are_refused() {
    let star = |hosts: u32, buffer: &str| {
        let flow = FLOW.replace("h0", &format!("h0..h{}", hosts - 2)).replace("h1\"", &format!("h{}\"", hosts - 1));
        text("1 ms", &format!("{}[pfc]\nbuffer = \"{buffer}\"\n{flow}", STAR.replace('2', &hosts.to_string())))
    };
    let message = refused(&star(9, "1 GB"));
    assert!(
        message.contains("the 9 ingress buffers of sw0 hold 9 GB together, which could all wait for sw0->h0"),
        "{message}"
    );
    plan(&star(9, "400 MB")).unwrap();
}

/// Every delay at its longest and every rate at its lowest: the headroom is no number that a buffer has.
#[test]
fn tables_of_schemes_that_take_gigabytes_are_refused() {
    let spine = "[topology.leaf-spine]\nleaves = 512\nspines = 1\nhosts_per_leaf = 4\nhost_rate = \"1 Gbps\"\n\
                 fabric_rate = \"1 Gbps\"\nbuffer = \"150 KB\"\n[schemes.af-qcn]\nflow_table_size = 65536\n";
    let text = text("1 ms", &format!("{spine}{FLOW}")).replace("\"none\"", "\"af-qcn\"");
    let message = refused(&text);
    // Each leaf has five ports, the spine 512, and there is one reaction point: 3073 tables.
    assert!(message.contains("201392128 entries in tables of schemes; 20000000 are the most"), "{message}");
    assert!(message.contains("--limit 11"), "{message}");
}

#[test]
fn a_head_room_beyond_all_numbers_is_refused() {
    let hosts = "hosts = 9\nlink_rate = \"7 bps\"\nlink_delay = \"2000000 s\"\nbuffer = \"150 KB\"\n";
    let flow = FLOW.replace("h0", "h0..h7").replace("h1\"", "h8\"");
    let star = format!("[network]\nnode_delay = \"2000000 s\"\n[topology.star]\n{hosts}[pfc]\nports = \"all\"\n{flow}");
    let message = refused(&text("1 ms", &star));
    assert!(message.contains("can be paused again") || message.contains("is beyond the ingress buffer"), "{message}");
    let fast = star.replace("7 bps", "100 Tbps").replace("[pfc]", "[pfc]\nresponse = \"2000000 s\"");
    let message = refused(&text("1 ms", &fast));
    assert!(message.contains("pause") || message.contains("headroom"), "{message}");
}
