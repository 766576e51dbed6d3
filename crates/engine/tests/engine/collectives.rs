//! Collectives that a stub of ASTRA-sim's `Sys` plays through the front end, beside the same ones of a scenario, and
//! beside formulas.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::OnceLock;

use penstock_runner::Summary;
use penstock_scenario::Scenario;

use crate::programs::{compile, file, run};

/// The program, which is compiled once.
fn program() -> &'static PathBuf {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let sources =
            ["network_frontend/penstock/tests/collectives.cc", "network_frontend/penstock/PenstockNetwork.cc"];
        compile("collectives", &sources)
    })
}

/// Plays a collective from outside: when its last octet arrived, ps, and the summary.
fn from_outside(network: &str, keys: &str, algorithm: &str, octets: u64) -> (u64, Summary) {
    let folder = tempfile::tempdir().unwrap();
    let toml = format!("{network}[[job]]\nname = \"job\"\ngraph = \"outside\"\n{keys}");
    let scenario = file(folder.path(), "outside.toml", &toml);
    let said = run(program(), &[&scenario, algorithm, &octets.to_string()]);
    let (time, summary) = said.split_once('\n').unwrap();
    (time.parse().unwrap(), serde_json::from_str(summary).unwrap())
}

/// The same one of a scenario: its time, ps, and the summary.
fn in_scenario(network: &str, keys: &str, algorithm: &str, octets: u64) -> (u64, Summary) {
    let toml = format!(
        "{network}[[collective]]\nname = \"job\"\nkind = \"all-reduce\"\nalgorithm = \"{algorithm}\"\n\
         size = \"{octets} B\"\n{keys}"
    );
    let plan = Scenario::parse(&toml, "test", "test").unwrap().plan(&Default::default()).unwrap();
    let run = penstock_runner::run(&plan, &Default::default(), &mut |_| ControlFlow::Continue(())).unwrap();
    let time_s = run.summary.jobs[0].job_time_s.expect("the job has ended");
    ((time_s * 1e12).round() as u64, run.summary)
}

/// A star whose lines have 100 Gb/s and 1 us.
fn star(hosts: u32) -> String {
    format!(
        "question = \"?\"\nduration = \"100 ms\"\nuntil = \"all-flows-complete\"\nscheme = \"none\"\n\
         [topology.star]\nhosts = {hosts}\nlink_rate = \"100 Gbps\"\nlink_delay = \"1 us\"\nbuffer = \"4 MB\"\n"
    )
}

/// Each of 2 (n - 1) steps of a ring takes its part at the line rate, the last frame once more at the switch, and two
/// links.
#[test]
fn a_ring_on_an_idle_network_takes_the_time_of_the_formula() {
    for (hosts, octets) in [(4_u32, 6_000_000_u64), (8, 4_800_000), (5, 1_500_000)] {
        let (time, _) = from_outside(&star(hosts), "", "ring", octets);
        // Parts of whole frames.
        let part = octets / u64::from(hosts);
        assert_eq!(part % 1500, 0);
        let step = (part / 1500 + 1) * 1500 * 80 + 2_000_000;
        let formula = 2 * u64::from(hosts - 1) * step;
        assert_eq!(time, formula, "{hosts} hosts");
    }
}

/// Through the front end and in a scenario, a collective takes the same time to the picosecond.
#[test]
fn the_front_end_and_a_scenario_agree() {
    let leaf_spine = "question = \"?\"\nduration = \"100 ms\"\nuntil = \"all-flows-complete\"\nscheme = \"dcqcn\"\n\
        network.load_balancing = \"flow\"\n[topology.leaf-spine]\nleaves = 4\nspines = 2\nhosts_per_leaf = 2\n\
        host_rate = \"100 Gbps\"\nfabric_rate = \"100 Gbps\"\nlink_delay = \"1 us\"\nbuffer = \"8 MB\"\n";
    let transport = "transport = \"go-back-n\"\n";
    let star6 = star(6);
    for (network, keys) in [(star6.as_str(), ""), (star6.as_str(), transport), (leaf_spine, transport)] {
        for algorithm in ["ring", "tree"] {
            let (time, own) = from_outside(network, keys, algorithm, 1_000_000);
            let (expected, other) = in_scenario(network, keys, algorithm, 1_000_000);
            assert_eq!(time, expected, "{algorithm}, {keys}, {network}");
            assert_eq!(own.loss_rate, other.loss_rate, "{algorithm}, {keys}");
        }
    }
}

/// Negative control: a ring of another size, and a tree instead of a ring, take other times.
#[test]
fn other_collectives_take_other_times() {
    let network = star(4);
    let (ring, _) = from_outside(&network, "", "ring", 1_000_000);
    assert_ne!(ring, in_scenario(&network, "", "ring", 1_010_000).0);
    assert_ne!(ring, from_outside(&network, "", "tree", 1_000_000).0);
}
