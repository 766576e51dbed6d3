//! Collectives: closed forms on an idle star, octets of ranks, placement, several at once, and mistakes that are refused.

use std::collections::BTreeMap;

use penstock_scenario::{Choice, Plan, Scenario};
use penstock_schemes::none::{Config, NoControl};
use penstock_schemes::{Duration, Instant};
use penstock_sim::{Lean, NoProbe, Outcome, Sim};

/// Of each link.
const LATENCY: u64 = 1_000_000;
/// At 100 Gb/s, ps.
const OCTET: u64 = 80;
/// A frame of 1500 octets.
const FRAME: u64 = 1500 * OCTET;

fn text(hosts: u32, tables: &str) -> String {
    format!(
        r#"question = "How long does it take?"
duration = "100 s"
until = "all-flows-complete"
scheme = "none"
record.interval = "10 s"
[topology.star]
hosts = {hosts}
link_rate = "100 Gbps"
link_delay = "1 us"
buffer = "1 GB"
{tables}"#
    )
}

fn outcome_of_plan(text: &str) -> Result<Plan, String> {
    Scenario::parse(text, "x.toml", "x").and_then(|s| s.plan(&Choice::default())).map_err(|e| e.to_string())
}

fn planned(hosts: u32, tables: &str) -> Plan {
    outcome_of_plan(&text(hosts, tables)).unwrap_or_else(|e| panic!("{e}"))
}

/// The outcome, the time reached, and the slots that there were.
fn run(plan: &Plan) -> (Outcome, u64, usize) {
    let mut sim = Sim::<NoControl, _, Lean>::new(&plan.network, &[Config {}], plan.seed, NoProbe);
    sim.feed(plan.generated.arrivals());
    sim.employ(plan.generated.work().expect("there is a job"));
    sim.run_until(Instant::ZERO + plan.duration);
    let (now, slots) = (sim.now(), sim.slots());
    (sim.finish().0, now.0, slots)
}

/// The time of a collective of a star's hosts, which ends.
fn time(hosts: u32, keys: &str) -> u64 {
    let (outcome, now, _) = run(&planned(hosts, &format!("[[collective]]\n{keys}")));
    assert!(outcome.jobs[0].done, "{keys}: {:?}", outcome.jobs[0].waiting);
    now
}

/// A message of this number of octets, in frames of 1500: over the first link, and over the second one frame later, since the switch
/// forwards whole frames. A short last frame waits for the one before.
fn message(octets: u64) -> u64 {
    octets * OCTET + octets.min(1500) * OCTET + 2 * LATENCY
}

fn near(found: u64, expected: u64, what: &str) {
    assert!(found.abs_diff(expected) * 100 <= expected, "{what}: {found} ps, by the formula {expected}");
}

#[test]
fn rings_take_the_time_of_their_steps() {
    for n in [2, 3, 8, 33] {
        for part in [1_000, 150_000] {
            let size = part * u64::from(n);
            let all = time(n, &format!("kind = \"all-reduce\"\nsize = \"{size} B\"\n"));
            assert_eq!(all, 2 * (u64::from(n) - 1) * message(part), "{n} ranks, {size} octets");
            for kind in ["reduce-scatter", "all-gather"] {
                let half = time(n, &format!("kind = \"{kind}\"\nsize = \"{size} B\"\n"));
                assert_eq!(2 * half, all, "{kind}");
            }
        }
        // No divisor: parts of different sizes, the largest of which decides.
        let size: u64 = 1_000_001;
        let found = time(n, &format!("kind = \"all-reduce\"\nsize = \"{size} B\"\n"));
        near(found, 2 * (u64::from(n) - 1) * message(size.div_ceil(u64::from(n))), "a ring with a remainder");
    }
}

#[test]
fn halving_doubling_takes_a_logarithm_of_latencies() {
    for n in [2_u32, 4, 16, 64] {
        for size in [64_000, 6_400_000] {
            let keys = format!("kind = \"all-reduce\"\nalgorithm = \"halving-doubling\"\nsize = \"{size} B\"\n");
            let halves = (1..=n.ilog2()).map(|step| message(size >> step));
            near(time(n, &keys), 2 * halves.sum::<u64>(), &format!("{n} ranks, {size} octets"));
        }
    }
}

/// At each level of either tree a parent takes two halves of its children; the root has one child.
#[test]
fn double_trees_take_their_levels() {
    for n in [4_u32, 16, 64] {
        let size = 24_000_000;
        let keys = format!("kind = \"all-reduce\"\nalgorithm = \"tree\"\nsize = \"{size} B\"\n");
        let levels = u64::from(n.ilog2());
        let expected = 2 * levels * (2 * LATENCY + FRAME) + (2 * levels - 1) * size * OCTET;
        near(time(n, &keys), expected, &format!("{n} ranks"));
    }
}

#[test]
fn all_to_all_takes_the_octets_of_a_port() {
    for n in [2_u32, 8, 32] {
        let (part, others) = (1_500_000, u64::from(n) - 1);
        let size = part * u64::from(n);
        let direct = time(n, &format!("kind = \"all-to-all\"\nsize = \"{size} B\"\n"));
        near(direct, others * part * OCTET + FRAME + 2 * LATENCY, &format!("{n} ranks at once"));
        let pairwise = time(n, &format!("kind = \"all-to-all\"\nalgorithm = \"pairwise\"\nsize = \"{size} B\"\n"));
        assert_eq!(pairwise, others * message(part), "{n} ranks, partner after partner");
    }
}

/// The line of the member with the largest share is busy to the end, and a member without a share receives nothing.
#[test]
fn shares_divide_the_data_of_a_rank() {
    let part = 150_000;
    let keys = format!("kind = \"all-to-all\"\nsize = \"{} B\"\n", 10 * part);
    let expected = 7 * 3 * part * OCTET + FRAME + 2 * LATENCY;
    near(time(8, &format!("{keys}shares = [3, 1]\n")), expected, "three parts to the first, one to each other");
    let one = time(8, &format!("{keys}shares = [0, 1, 0]\nalgorithm = \"pairwise\"\n"));
    near(one, 7 * 10 * part * OCTET + FRAME + 2 * LATENCY, "all to the second");
    assert_eq!(time(8, &format!("{keys}shares = [5]\n")), time(8, &keys));
}

#[test]
fn chunks_of_a_ring_follow_one_another() {
    let keys = "kind = \"broadcast\"\nalgorithm = \"ring\"\nsize = \"4.8 MB\"\nchunks = 32\n";
    // 15 steps of the first of 32 chunks of 150 KB. Each of the others follows when its sender has heard that the one before has arrived.
    assert_eq!(time(16, keys), (15 + 31) * message(150_000) + 31 * 2 * LATENCY);
}

#[test]
fn computations_are_between_iterations() {
    let ring = 2 * 7 * message(10_000);
    let keys = "kind = \"all-reduce\"\nsize = \"80 KB\"\niterations = 5\ncompute = \"30 us\"\nstart = \"7 us\"\n";
    let plan = planned(8, &format!("[[collective]]\n{keys}"));
    let (outcome, now, slots) = run(&plan);
    assert_eq!(now, 7_000_000 + 5 * (30_000_000 + ring));
    let job = &outcome.jobs[0];
    assert!(job.computed.iter().all(|time| *time == Duration::from_us(150)));
    // Each rank has 5 iterations, computations and collectives.
    assert_eq!(job.spans.len(), 8 * 3 * 5);
    assert!(outcome.ends.len() == 5 * 8 * 14 && slots < 400, "{slots} slots");
}

#[test]
fn every_rank_sends_exactly_its_octets() {
    let plan = planned(7, "[[collective]]\nkind = \"all-reduce\"\nsize = \"1000001 B\"\n");
    let (outcome, ..) = run(&plan);
    assert_eq!(outcome.totals.frames_sent, outcome.totals.frames_delivered);
    // 2 (n - 1) S over all ranks.
    let (_, job) = plan.generated.jobs().next().expect("there is a job");
    let sums = job.octets_of_hosts().into_values().fold((0, 0), |sum, own| (sum.0 + own.0, sum.1 + own.1));
    assert_eq!(sums, (12 * 1_000_001, 12 * 1_000_001));
}

#[test]
fn the_same_run_twice_gives_the_same() {
    let tables = "[[collective]]\nkind = \"all-to-all\"\nsize = \"1 MB\"\ncompute.uniform = { minimum = \"1 us\", maximum = \"9 us\" }\n\
                  iterations = 3\nplacement = \"random\"\n";
    let (one, two) = (run(&planned(8, tables)), run(&planned(8, tables)));
    assert_eq!(one, two);
    let other = run(&planned(8, &format!("{tables}seed = 9\n")));
    assert_ne!(other.1, one.1);
}

/// Two jobs on different hosts do not see each other; on the same hosts they share the lines.
#[test]
fn jobs_run_at_the_same_time() {
    let job = |hosts: &str| format!("[[collective]]\nkind = \"all-reduce\"\nsize = \"12 MB\"\nhosts = \"{hosts}\"\n");
    let alone = time(8, &job("h0..h3").replace("[[collective]]\n", ""));
    let (_, apart, _) = run(&planned(8, &format!("{}{}", job("h0..h3"), job("h4..h7"))));
    let (_, together, _) = run(&planned(8, &format!("{}{}", job("h0..h3"), job("h0..h3"))));
    assert_eq!(apart, alone);
    near(together, 2 * alone, "two jobs on the same hosts");
}

#[test]
fn groups_work_by_themselves() {
    let keys = "kind = \"all-reduce\"\nsize = \"400 KB\"\n";
    let four = time(4, keys);
    for stride in [1, 2, 4] {
        assert_eq!(time(16, &format!("{keys}group = 4\nstride = {stride}\n")), four);
    }
}

/// 8 GPUs on each of 4 hosts at 1 Tb/s: rings of 8 inside, and eight rings of 4 at once across, each with an eighth of the data.
#[test]
fn a_hierarchy_sends_an_eighth_over_each_ring() {
    let keys = "kind = \"all-reduce\"\nsize = \"96 MB\"\nranks_per_host = 8\nlocal_rate = \"1 Tbps\"\nlocal_latency = \"1 us\"\n\
                inside = \"ring\"\n";
    let inside = 2 * 7 * (12_000_000 * 8 + LATENCY);
    // Eight messages of 3 MB share the line in each of 6 steps.
    let across = 6 * (8 * 3_000_000 * OCTET + FRAME + 2 * LATENCY);
    near(time(4, keys), inside + across, "four hosts of eight");
    // Flat, all but every eighth message stays inside.
    let flat = planned(4, &format!("[[collective]]\n{}", keys.replace("inside = \"ring\"\n", "")));
    let (_, job) = flat.generated.jobs().next().expect("there is a job");
    let each: BTreeMap<usize, (u64, u64)> = job.octets_of_hosts();
    assert!(each.values().all(|&octets| octets == (62 * 3_000_000, 62 * 3_000_000)), "{each:?}");
}

#[test]
fn a_run_that_is_too_short_says_what_waits() {
    let plan = planned(4, "[[collective]]\nkind = \"all-reduce\"\nsize = \"1 MB\"\n");
    let mut sim = Sim::<NoControl, _, Lean>::new(&plan.network, &[Config {}], plan.seed, NoProbe);
    sim.employ(plan.generated.work().expect("there is a job"));
    sim.run_until(Instant(10_000_000));
    let job = sim.finish().0.jobs.remove(0);
    assert!(!job.done && job.spans.is_empty() && job.waiting.len() == 3, "{job:?}");
}

/// NCCL takes trees for small sizes among many hosts, and rings for large ones.
#[test]
fn the_cost_model_of_nccl_chooses() {
    let chosen = |size: &str| {
        let plan =
            planned(64, &format!("[[collective]]\nkind = \"all-reduce\"\nalgorithm = \"nccl\"\nsize = \"{size}\"\n"));
        let (_, job) = plan.generated.jobs().next().expect("there is a job");
        job.operation().expect("it is a collective").algorithm
    };
    assert_eq!(["8 KB", "10 GB"].map(chosen), ["tree", "ring"]);
}

#[test]
fn mistakes_are_refused_with_their_key() {
    let refused = |keys: &str, part: &str| {
        let error =
            outcome_of_plan(&text(8, &format!("[[collective]]\nkind = \"all-reduce\"\nsize = \"1 MB\"\n{keys}\n")));
        let error = error.err().unwrap_or_else(|| panic!("{keys} is taken"));
        assert!(error.contains(part), "{keys}: {error}");
    };
    refused("hosts = \"h0\"", "collective.0.hosts: a collective needs two ranks at least");
    refused("hosts = \"h0..h9\"", "h8");
    refused("group = 3", "collective.0.group: 8 ranks are no multiple of group times stride, 3 times 1");
    refused("stride = 2", "collective.0.stride: all ranks are one group");
    refused("inside = \"ring\"", "collective.0.inside: a hierarchy needs groups with all ranks of several hosts");
    refused("start = \"200 s\"", "collective.0.start: the job would start at or after the end of the run");
    refused("iterations = 1000000", "messages of jobs");
    refused("algorithm = \"star\"", "algorithm");
    refused("shares = [2, 1]", "collective.0.shares: all-reduce has no shares");
    let uneven = |shares: &str| {
        let error = outcome_of_plan(&text(
            8,
            &format!("[[collective]]\nkind = \"all-to-all\"\nsize = \"1 MB\"\nshares = {shares}\n"),
        ));
        error.err().unwrap_or_else(|| panic!("{shares} are taken"))
    };
    assert!(uneven("[0]").contains("no member gets anything"));
    assert!(uneven("[1, 1, 1, 1, 1, 1, 1, 1, 1]").contains("9 shares for 8 members of a group"));
    assert!(uneven("[]").contains("an empty list"));
    assert!(uneven("[-1]").contains("found the number -1"));
    refused("compute.uniform = { minimum = \"2 us\", maximum = \"1 us\" }", "not above the minimum of 2 us");
    // 25 million messages are counted before they are listed.
    let many = text(5000, "[[collective]]\nkind = \"all-gather\"\nsize = \"1 MB\"\n");
    let error = outcome_of_plan(&many).expect_err("they are too many");
    assert!(error.contains("messages of jobs; 5000000 are the most"), "{error}");
    let nccl = text(8, "[[collective]]\nkind = \"barrier\"\nalgorithm = \"nccl\"\nsize = \"1 B\"\n");
    let error = outcome_of_plan(&nccl).expect_err("NCCL has no barrier");
    assert!(error.contains("collective.0.algorithm: NCCL's cost model has no choice for barrier"), "{error}");
    let all_to_all = text(8, "[[collective]]\nkind = \"all-to-all\"\nalgorithm = \"tree\"\nsize = \"1 MB\"\n");
    let error = outcome_of_plan(&all_to_all).expect_err("no tree does that");
    assert!(error.contains("collective.0.algorithm") && error.contains("direct"), "{error}");
}

const PAIR: &str = "num_ranks 2
rank 0 {
  a: calc 1000
  b: send 3000b to 1 tag 7
  b requires a
}
rank 1 {
  r: recv 3000b from 0 tag 7
  c: calc 2000
  c requires r
}
";

fn listed(graph: &str, keys: &str) -> String {
    text(2, &format!("[[job]]\n{keys}graph = '''\n{graph}'''\n"))
}

#[test]
fn a_graph_that_is_listed_runs() {
    let ps_of = |keys: &str| run(&outcome_of_plan(&listed(PAIR, keys)).unwrap_or_else(|e| panic!("{e}"))).1;
    // 1 us of computation, the message, 2 us.
    let once = 1_000_000 + message(3000) + 2_000_000;
    assert_eq!(ps_of(""), once);
    // Rank 0 computes again when it has heard of its message's end, while rank 1 computes; the second message waits for no more.
    assert_eq!(ps_of("iterations = 2\n"), 2 * (1_000_000 + message(3000)) + 2 * LATENCY + 2_000_000);
    // Both ranks on a host: the message takes the local latency.
    let alone = "hosts = \"h0\"\nranks_per_host = 2\nlocal_latency = \"5 us\"\n";
    assert_eq!(ps_of(alone), 1_000_000 + 5_000_000 + 2_000_000);
}

#[test]
fn listed_graphs_that_cannot_run_are_refused_with_their_line() {
    let refused = |graph: &str, keys: &str, parts: &[&str]| {
        let error = outcome_of_plan(&listed(graph, keys)).err().unwrap_or_else(|| panic!("{graph} is taken"));
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    };
    // The key graph stands in line 12, and the text begins in line 13.
    refused(&PAIR.replace("b requires a", "b requires z"), "", &["x.toml:17", "job.0.graph", "z"]);
    refused(&PAIR.replace("tag 7\n  c", "tag 8\n  c"), "", &["job.0.graph", "tag 7"]);
    refused(&PAIR.replace("c requires r", "c requires r\n  r requires c"), "", &["job.0.graph", "c"]);
    refused(PAIR, "hosts = \"h0\"\n", &["job.0.ranks_per_host", "2 ranks, and 1 hosts have room for 1"]);
    refused("", "", &["job.0.graph", "neither as GOAL nor as a workload of SimAI"]);
    refused("ranks 2\n", "", &["job.0.graph", "num_ranks 2"]);
    let alone = PAIR.replace("  r: recv 3000b from 0 tag 7\n", "").replace("  c requires r\n", "");
    refused(&alone, "", &["job.0.graph"]);
    // The receive is added.
    assert!(outcome_of_plan(&listed(&alone, "complete = true\n")).is_ok());
}
