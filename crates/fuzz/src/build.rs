//! Generated scenarios: small topologies of every kind, with loops, and many events at the same instants.
//!
//! Sizes and times fit together (buffers hold frames, flows start within the run). So most scenarios are legal and
//! their runs are short, at a rate of 1 bps as at one of 100 Tbps.

mod fabric;
mod jobs;

use crate::document::{Node, Table, quoted, set, table_at, tables_at};
use crate::random::Random;
use crate::vocabulary::Vocabulary;

const PS_PER_S: u128 = 1_000_000_000_000;
/// The longest time that is made up, ps: 100 days.
const LONGEST: u64 = 100 * 24 * 3600 * 1_000_000_000_000;

/// Nodes and links that there are to speak of.
#[derive(Debug, Default)]
pub(crate) struct Wiring {
    pub(crate) hosts: Vec<String>,
    /// Both ends of each link.
    pub(crate) links: Vec<(String, String)>,
}

/// Scales that the parts of a scenario have in common.
#[derive(Debug)]
pub(crate) struct Scale {
    /// Rate of most links, bit/s.
    rate: u64,
    /// Time of a frame on such a link, ps.
    tick: u64,
    duration: u64,
    frame: u64,
    /// A few instants at which much happens, ps.
    instants: Vec<u64>,
}

impl Scale {
    pub(crate) fn draw(random: &mut Random) -> Self {
        let rate = match random.below(6) {
            0 => random.scale(1, 100_000_000_000_000),
            1 => *[&1, &7, &999_999_999_999, &100_000_000_000_000][random.below(4)],
            _ => *[&1_000_000_000, &10_000_000_000, &100_000_000_000][random.below(3)],
        };
        let frame = match random.below(4) {
            0 => random.between(64, 16_384),
            1 => 64,
            _ => 1500,
        };
        let tick = (u128::from(frame) * 8 * PS_PER_S / u128::from(rate)).clamp(1, u128::from(LONGEST)) as u64;
        let duration = tick.saturating_mul(random.scale(2, 1500)).min(LONGEST);
        let instants = (0..4).map(|_| random.between(0, duration - 1)).collect();
        Self { rate, tick, duration, frame, instants }
    }

    /// A point in time within the run, often one at which something else happens too.
    fn instant(&self, random: &mut Random) -> String {
        picoseconds(match random.below(6) {
            0 => 0,
            1 => self.duration - 1,
            2 => random.between(0, self.duration - 1),
            _ => self.instants[random.below(self.instants.len())],
        })
    }

    /// A length of time from nothing to many frames.
    fn time(&self, random: &mut Random) -> String {
        picoseconds(match random.below(8) {
            0 => 0,
            1 => 1,
            2 => random.scale(1, LONGEST),
            3 => self.tick,
            _ => self.tick.saturating_mul(random.scale(1, 50)).min(LONGEST),
        })
    }

    fn rate(&self, random: &mut Random) -> String {
        format!(
            "{} bps",
            match random.below(8) {
                0 => random.scale(1, 100_000_000_000_000),
                1 => self.rate.saturating_mul(2).min(100_000_000_000_000),
                2 => (self.rate / 10).max(1),
                3 => (self.rate * 9 / 10).max(1),
                _ => self.rate,
            }
        )
    }

    fn buffer(&self, random: &mut Random) -> String {
        match random.below(6) {
            0 => format!("{} octets", self.frame),
            1 => format!("{} frames", random.scale(1, 1000)),
            2 => format!("{} octets", random.scale(self.frame, 1 << 40)),
            _ => format!("{} octets", self.frame * random.between(2, 100)),
        }
    }
}

fn picoseconds(time: u64) -> String {
    format!("{time} ps")
}

fn text(value: &str) -> Node {
    Node::Value(quoted(value))
}

fn plain(value: impl std::fmt::Display) -> Node {
    Node::Value(value.to_string())
}

/// A whole scenario.
pub(crate) fn scenario(vocabulary: &Vocabulary, random: &mut Random) -> Table {
    let scale = Scale::draw(random);
    let mut table = Table::new();
    set(&mut table, "question", text("Does it hold?"));
    set(&mut table, "duration", text(&picoseconds(scale.duration)));
    if random.one_in(3) {
        set(&mut table, "warmup", text(&scale.instant(random)));
    }
    if random.one_in(3) {
        set(&mut table, "seed", plain(random.scale(0, i64::MAX as u64)));
    }
    let (topology, wiring) = topology(vocabulary, &scale, random);
    set(&mut table, "topology", Node::Table { inline: false, entries: vec![topology] });
    for _ in 0..=random.below(5) {
        flow(&mut table, &wiring, &scale, random);
    }
    scheme(&mut table, vocabulary, random);
    if random.one_in(2) {
        network(&mut table, &scale, random);
    }
    if random.one_in(2) {
        hosts(&mut table, &scale, random);
    }
    if random.one_in(3) {
        group(&mut table, &wiring, &scale, random);
    }
    if random.one_in(4) {
        bursts(&mut table, &wiring, &scale, random);
    }
    if random.one_in(6) {
        jobs::jobs(&mut table, &wiring, &scale, random);
    }
    if random.one_in(3) {
        pfc(&mut table, &scale, random);
    }
    if random.one_in(4) {
        buffers(&mut table, &scale, random);
    }
    if random.one_in(3) {
        fabric::changes(&mut table, &wiring, &scale, random);
    }
    if random.one_in(4) {
        retune(&mut table, vocabulary, &scale, random);
    }
    if random.one_in(4) {
        priority(&mut table, vocabulary, random);
    }
    fabric::tables(&mut table, &wiring, &scale, random);
    if random.one_in(4) {
        windows(&mut table, &scale, random);
    }
    let record = table_at(&mut table, "record");
    set(record, "interval", text(&picoseconds((scale.duration / random.between(1, 100)).max(1))));
    if random.one_in(3) {
        set(record, "arrivals", plain(true));
    }
    if random.one_in(4) {
        set(record, "queues", text("switches"));
    }
    table
}

/// A topology and its wiring.
fn topology(vocabulary: &Vocabulary, scale: &Scale, random: &mut Random) -> ((String, Node), Wiring) {
    let mut keys = Table::new();
    let mut wiring = Wiring::default();
    let hosts = |n: usize| (0..n).map(|i| format!("h{i}")).collect::<Vec<_>>();
    let link = |wiring: &mut Wiring, a: &str, b: &str| wiring.links.push((a.to_owned(), b.to_owned()));
    let small = |random: &mut Random, low| random.between(low, low + 3) as usize;
    let rates = |keys: &mut Table, random: &mut Random, names: &[&str]| {
        for name in names {
            let value = if name.ends_with("delay") { scale.time(random) } else { scale.rate(random) };
            if !name.ends_with("delay") || random.one_in(2) {
                set(keys, name, text(&value));
            }
        }
    };
    let path = |kind: &str| vec!["topology".to_owned(), kind.to_owned()];
    let kinds = vocabulary.keys(&["topology".to_owned()]);
    let kind = if random.one_in(8) { "star" } else { kinds[random.below(kinds.len())] };
    match kind {
        "star" => {
            let n = small(random, 2);
            set(&mut keys, "hosts", plain(n));
            rates(&mut keys, random, &["link_rate", "link_delay"]);
            wiring.hosts = hosts(n);
            (0..n).for_each(|i| link(&mut wiring, &format!("h{i}"), "sw0"));
        }
        "dumbbell" => {
            let (sources, receivers) = (small(random, 1), small(random, 1));
            set(&mut keys, "sources", plain(sources));
            set(&mut keys, "receivers", plain(receivers));
            rates(&mut keys, random, &["link_rate", "bottleneck_rate", "link_delay", "bottleneck_delay"]);
            wiring.hosts = hosts(sources + receivers);
            link(&mut wiring, "sw0", "sw1");
        }
        "parking-lot" => {
            let (switches, each) = (small(random, 2), small(random, 1));
            set(&mut keys, "switches", plain(switches));
            set(&mut keys, "hosts_per_switch", plain(each));
            rates(&mut keys, random, &["link_rate", "trunk_rate", "link_delay", "trunk_delay"]);
            wiring.hosts = hosts(switches * each);
            (1..switches).for_each(|i| link(&mut wiring, &format!("sw{}", i - 1), &format!("sw{i}")));
        }
        "leaf-spine" => {
            let (leaves, spines, each) = (small(random, 1), small(random, 1), small(random, 1));
            for (key, n) in [("leaves", leaves), ("spines", spines), ("hosts_per_leaf", each)] {
                set(&mut keys, key, plain(n));
            }
            rates(&mut keys, random, &["host_rate", "fabric_rate", "link_delay"]);
            wiring.hosts = hosts(leaves * each);
            (0..leaves * spines)
                .for_each(|i| link(&mut wiring, &format!("leaf{}", i / spines), &format!("spine{}", i % spines)));
        }
        "fat-tree" => {
            let k = 2 * (1 + random.below(2));
            set(&mut keys, "k", plain(k));
            rates(&mut keys, random, &["link_rate", "link_delay"]);
            wiring.hosts = hosts(k * k * k / 4);
            (0..wiring.hosts.len()).for_each(|i| link(&mut wiring, &format!("h{i}"), &format!("edge{}", i / (k / 2))));
        }
        "dragonfly" => {
            let (size, each, global) = (small(random, 1), small(random, 1), small(random, 1));
            let groups = 2 + random.below(size * global);
            let counts = [
                ("groups", groups),
                ("switches_per_group", size),
                ("hosts_per_switch", each),
                ("global_links", global),
            ];
            counts.into_iter().for_each(|(key, n)| set(&mut keys, key, plain(n)));
            rates(&mut keys, random, &["host_rate", "local_rate", "global_rate", "link_delay", "global_delay"]);
            wiring.hosts = hosts(groups * size * each);
            (0..wiring.hosts.len()).for_each(|i| link(&mut wiring, &format!("h{i}"), &format!("sw{}", i / each)));
        }
        "graph" if random.one_in(2) => fabric::ranges(&mut keys, &mut wiring, scale, random),
        "graph" => graph(&mut keys, &mut wiring, scale, random),
        // Another one: values of the schema, of which few fit together.
        other => {
            for key in vocabulary.keys(&path(other)) {
                set(&mut keys, key, vocabulary.value(&[&path(other)[..], &[key.to_owned()]].concat(), &[], random));
            }
            wiring.hosts = hosts(2);
        }
    }
    if vocabulary.keys(&path(kind)).contains(&"routing") && random.one_in(2) {
        set(&mut keys, "routing", text("d-mod-k"));
    }
    set(&mut keys, "buffer", text(&scale.buffer(random)));
    ((kind.to_owned(), Node::Table { inline: false, entries: keys }), wiring)
}

/// A graph that mostly hangs together, with loops, some links twice, some hosts with several links.
fn graph(keys: &mut Table, wiring: &mut Wiring, scale: &Scale, random: &mut Random) {
    let (hosts, switches) = (2 + random.below(4), 1 + random.below(5));
    set(keys, "hosts", text(&format!("h0..h{}", hosts - 1)));
    set(keys, "switches", Node::Value(format!("[\"sw0..sw{}\"]", switches - 1)));
    wiring.hosts = (0..hosts).map(|i| format!("h{i}")).collect();
    let switch = |random: &mut Random| format!("sw{}", random.below(switches));
    for i in 1..switches {
        wiring.links.push((format!("sw{}", random.below(i)), format!("sw{i}")));
    }
    for host in &wiring.hosts {
        wiring.links.push((host.clone(), switch(random)));
    }
    for _ in 0..random.below(4) {
        let a = if random.one_in(4) { wiring.hosts[random.below(hosts)].clone() } else { switch(random) };
        wiring.links.push((a, switch(random)));
    }
    // A link from a node to itself, or one that there is already, is refused: mostly leave them out.
    if !random.one_in(20) {
        let mut seen = std::collections::BTreeSet::new();
        wiring.links.retain(|(a, b)| {
            a != b && seen.insert(if a < b { (a.clone(), b.clone()) } else { (b.clone(), a.clone()) })
        });
    }
    let mut links = Vec::new();
    for (a, b) in &wiring.links {
        let mut entry = vec![
            ("ends".to_owned(), Node::Value(format!("[{}, {}]", quoted(a), quoted(b)))),
            ("rate".to_owned(), text(&scale.rate(random))),
        ];
        if random.one_in(2) {
            entry.push(("delay".to_owned(), text(&scale.time(random))));
        }
        if random.one_in(4) {
            entry.push(("buffer".to_owned(), text(&scale.buffer(random))));
        }
        links.push(entry);
    }
    set(keys, "link", Node::Tables(links));
    if random.one_in(3) {
        let node = switch(random);
        set(
            keys,
            "node",
            Node::Tables(vec![vec![("name".to_owned(), text(&node)), ("delay".to_owned(), text(&scale.time(random)))]]),
        );
    }
}

fn flow(table: &mut Table, wiring: &Wiring, scale: &Scale, random: &mut Random) {
    let n = wiring.hosts.len();
    let to = random.below(n);
    let mut flow = Table::new();
    match random.below(4) {
        0 if n > 2 => {
            let others = wiring.hosts.iter().enumerate().filter(|(i, _)| *i != to).map(|(_, host)| quoted(host));
            set(&mut flow, "from", Node::Value(format!("[{}]", others.collect::<Vec<_>>().join(", "))));
        }
        _ => set(&mut flow, "from", text(&wiring.hosts[(to + 1 + random.below(n.max(2) - 1)) % n])),
    }
    set(&mut flow, "to", text(&wiring.hosts[to]));
    let kind = random.pick(&["greedy", "greedy", "constant", "poisson", "on-off"]);
    if kind != "greedy" {
        set(&mut flow, "traffic", text(kind));
        set(&mut flow, "rate", text(&scale.rate(random)));
    }
    if kind == "on-off" {
        set(&mut flow, "on", text(&scale.time(random).replace("0 ps", "10 ps")));
        set(&mut flow, "off", text(&scale.time(random)));
        set(&mut flow, "random", plain(random.one_in(2)));
    }
    set(&mut flow, "frame", text(&format!("{} octets", scale.frame)));
    if random.one_in(2) {
        set(&mut flow, "start", text(&scale.instant(random)));
    } else if random.one_in(6) {
        let latest = random.between(1, scale.duration - 1);
        let bounds = [("minimum", random.between(0, latest - 1)), ("maximum", latest)];
        let entries = bounds.map(|(key, time)| (key.to_owned(), text(&picoseconds(time)))).into();
        let uniform = ("uniform".to_owned(), Node::Table { inline: true, entries });
        set(&mut flow, "start", Node::Table { inline: true, entries: vec![uniform] });
    }
    if random.one_in(3) {
        // After the start, for most starts.
        let late = scale.duration - scale.duration / 8;
        set(&mut flow, "stop", text(&picoseconds(random.between(late, scale.duration.saturating_mul(2)).max(1))));
    }
    if random.one_in(3) {
        set(&mut flow, "size", text(&format!("{} octets", random.scale(1, 1 << 50))));
    }
    match random.below(5) {
        0 => set(&mut flow, "excess", text("discard")),
        2 => set(&mut flow, "excess", text("stall")),
        1 => {
            let queue = text(&format!("{} octets", scale.frame * random.scale(1, 1000)));
            set(&mut flow, "excess", Node::Table { inline: true, entries: vec![("queue".to_owned(), queue)] });
        }
        _ => {}
    }
    if random.one_in(4) {
        set(&mut flow, "controlled", plain(false));
    }
    if random.one_in(3) {
        set(&mut flow, "priority", plain(random.below(8)));
    }
    if random.one_in(4) {
        set(&mut flow, "weight", plain(random.scale(1, 65_535)));
    }
    if random.one_in(8) {
        set(&mut flow, "repeat", plain(2 + random.below(3)));
        set(&mut flow, "every", text(&picoseconds((scale.duration / 100).max(1))));
    }
    tables_at(table, "flow").push(flow);
}

/// Bursts of a few hosts, in clusters or not; some break a rule.
fn bursts(table: &mut Table, wiring: &Wiring, scale: &Scale, random: &mut Random) {
    let mut keys = Table::new();
    set(&mut keys, "degree", plain(random.between(1, wiring.hosts.len() as u64)));
    match random.below(3) {
        0 => set(&mut keys, "duration", text(&scale.time(random))),
        _ => set(&mut keys, "size", text(&format!("{} octets", random.scale(1, scale.frame * 50)))),
    }
    match random.below(4) {
        0 => set(&mut keys, "load", plain(random.between(1, 1_000_000) as f64 / 1e6)),
        _ => set(&mut keys, "every", text(&picoseconds((scale.duration / random.between(1, 200)).max(1)))),
    }
    if random.one_in(2) {
        set(&mut keys, "cluster", plain(1.001 + random.scale(1, 1_000_000) as f64 / 1e4));
        set(&mut keys, "gap", text(&picoseconds(random.scale(1, scale.duration.max(2)))));
    }
    if random.one_in(3) {
        set(&mut keys, "spread", text(&scale.time(random)));
        set(&mut keys, "correlation", plain(format!("{:?}", random.between(0, 1000) as f64 / 1e3)));
    }
    tables_at(table, "burst").push(keys);
}

/// Another scheme, with parameters at their defaults, at the ends of their ranges, and in between.
pub(crate) fn scheme(table: &mut Table, vocabulary: &Vocabulary, random: &mut Random) {
    let mut path = vec!["schemes".to_owned()];
    let names = vocabulary.keys(&path);
    let name = names[random.below(names.len())].to_owned();
    set(table, "scheme", text(&name));
    path.push(name.clone());
    let settings = table_at(table_at(table, "schemes"), &name);
    let rare = [1, 3, 10][random.below(3)];
    for key in vocabulary.keys(&path) {
        path.push(key.to_owned());
        if random.one_in(2 * rare) {
            let end = vocabulary.ends_of(&path).map(|ends| ends[random.below(2)].clone());
            let node = match end {
                // Ends of counts and numbers stand without quotes.
                Some(end) if end.parse::<f64>().is_ok() => Node::Value(end),
                Some(end) => text(&end),
                None => vocabulary.value(&path, &[], random),
            };
            set(settings, key, node);
        } else if random.one_in(4 * rare) {
            set(settings, key, vocabulary.value(&path, &[], random));
        }
        path.pop();
    }
}

/// Parameters of a scheme that change during the run: mostly of the one that runs.
fn retune(table: &mut Table, vocabulary: &Vocabulary, scale: &Scale, random: &mut Random) {
    for _ in 0..=random.below(3) {
        let mut path = vec!["schemes".to_owned()];
        let names = vocabulary.keys(&path);
        let name = match table.iter().find(|(key, _)| key == "scheme") {
            Some((_, Node::Value(name))) if !random.one_in(5) => name.trim_matches('"').to_owned(),
            _ => names[random.below(names.len())].to_owned(),
        };
        path.push(name.clone());
        let keys = vocabulary.keys(&path);
        let mut new = Table::new();
        for _ in 0..=random.below(3) {
            let Some(key) = keys.get(random.below(keys.len().max(1))) else { break };
            path.push((*key).to_owned());
            set(&mut new, key, vocabulary.value(&path, &[], random));
            path.pop();
        }
        let mut change = vec![("at".to_owned(), text(&scale.instant(random)))];
        *table_at(table_at(&mut change, "schemes"), &name) = new;
        tables_at(table, "change").push(change);
    }
}

/// A priority with its own scheme.
fn priority(table: &mut Table, vocabulary: &Vocabulary, random: &mut Random) {
    let names = vocabulary.keys(&["schemes".to_owned()]);
    let entry = vec![
        ("priority".to_owned(), plain(if random.one_in(2) { 0 } else { random.below(8) })),
        ("scheme".to_owned(), text(names[random.below(names.len())])),
    ];
    tables_at(table, "priority").push(entry);
}

fn network(table: &mut Table, scale: &Scale, random: &mut Random) {
    let network = table_at(table, "network");
    for (key, value) in [
        ("wire_overhead", text(&format!("{} octets", random.scale(0, 1000)))),
        ("in_service_counts", plain(random.one_in(2))),
        ("switch_clocks", text("own")),
        ("control_buffer", text(&format!("{} octets", random.scale(64, 100_000)))),
        ("node_delay", text(&scale.time(random))),
        ("node_delay_at", text(random.pick(&["switches", "hosts", "all"]))),
        ("host_delay", text(&scale.time(random))),
        ("clock_tolerance", text(&format!("{} ppb", random.scale(0, 10_000_000)))),
        ("congestion_points", text(if random.one_in(10) { "everywhere" } else { "switches" })),
        ("feedback", Node::Table { inline: true, entries: vec![("ideal".to_owned(), text(&scale.time(random)))] }),
    ] {
        if random.one_in(3) {
            set(network, key, value);
        }
    }
}

fn hosts(table: &mut Table, scale: &Scale, random: &mut Random) {
    let hosts = table_at(table, "hosts");
    if random.one_in(2) {
        set(hosts, "queue", text(&scale.buffer(random)));
    }
    if random.one_in(3) {
        set(hosts, "reaction_points", text("per-host"));
    }
    if random.one_in(3) {
        let interval = text(&scale.time(random).replace("0 ps", "10 ps"));
        let bucket = vec![
            ("depth".to_owned(), text(&format!("{} octets", (scale.frame + 1000) * random.scale(1, 10_000)))),
            ("interval".to_owned(), interval),
            ("granularity".to_owned(), text(&format!("{} bps", random.scale(1, scale.rate)))),
        ];
        let bucket = vec![("token_bucket".to_owned(), Node::Table { inline: true, entries: bucket })];
        set(hosts, "pacer", Node::Table { inline: true, entries: bucket });
    }
}

/// A multicast group and a flow to it.
fn group(table: &mut Table, wiring: &Wiring, scale: &Scale, random: &mut Random) {
    let (source, members) = wiring.hosts.split_first().expect("each topology has hosts");
    if members.is_empty() {
        return;
    }
    let some = members.iter().enumerate().filter(|(i, _)| *i == 0 || !random.one_in(3));
    let members: Vec<String> = some.map(|(_, host)| quoted(host)).collect();
    let name = format!("g{}", random.below(3));
    let group = vec![
        ("name".to_owned(), text(&name)),
        ("members".to_owned(), Node::Value(format!("[{}]", members.join(", ")))),
    ];
    tables_at(table, "group").push(group);
    flow(table, wiring, scale, random);
    if let Some(flow) = tables_at(table, "flow").last_mut() {
        set(flow, "from", text(source));
        set(flow, "to", text(&name));
    }
}

/// Flow control with all that there is.
fn pfc(table: &mut Table, scale: &Scale, random: &mut Random) {
    let pfc = table_at(table, "pfc");
    let size = |random: &mut Random| text(&format!("{} octets", scale.frame * random.scale(1, 200)));
    for key in ["buffer", "headroom", "xoff", "xon"] {
        if random.one_in(4) {
            let value = size(random);
            set(pfc, key, value);
        }
    }
    if random.one_in(3) {
        set(pfc, "quanta", plain(random.scale(1, 65_535)));
    }
    if random.one_in(3) {
        set(pfc, "response", text(&scale.time(random)));
    }
    if random.one_in(6) {
        set(pfc, "priorities", Node::Value(format!("[{}]", random.below(8))));
    }
}

/// Memory that queues share: one pool, or one for each of some priorities.
fn buffers(table: &mut Table, scale: &Scale, random: &mut Random) {
    for _ in 0..=random.below(2) {
        let size =
            |random: &mut Random, frames: u64| text(&format!("{} octets", scale.frame * random.scale(1, frames)));
        let mut buffer = vec![("size".to_owned(), size(random, 1000))];
        for key in ["reserve", "ingress_reserve"] {
            if random.one_in(4) {
                buffer.push((key.to_owned(), text(&format!("{} octets", random.scale(1, scale.frame)))));
            }
        }
        for key in ["alpha", "ingress_alpha"] {
            match random.below(4) {
                0 => buffer.push((key.to_owned(), text("none"))),
                1 => buffer.push((key.to_owned(), plain(format!("{}.{}", random.below(9), random.below(10))))),
                _ => {}
            }
        }
        if random.one_in(3) {
            buffer.push(("cell".to_owned(), text(&format!("{} octets", random.scale(1, 1000)))));
        }
        if random.one_in(3) {
            buffer.push(("headroom".to_owned(), size(random, 100)));
        }
        if random.one_in(2) {
            buffer.push(("priorities".to_owned(), Node::Value(format!("[{}]", random.below(8)))));
        }
        tables_at(table, "buffer").push(buffer);
    }
}

/// Windows of measurement, most of them within the run.
fn windows(table: &mut Table, scale: &Scale, random: &mut Random) {
    for i in 0..=random.below(4) {
        let start = random.between(0, scale.duration - 1);
        let mut window =
            vec![("name".to_owned(), text(&format!("w{i}"))), ("start".to_owned(), text(&picoseconds(start)))];
        if random.one_in(2) {
            window.push(("end".to_owned(), text(&picoseconds(random.between(start + 1, scale.duration)))));
        }
        tables_at(table, "window").push(window);
    }
}
