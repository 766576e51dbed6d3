//! What fabrics of today have: ranges of links with cables and parallel ones, chips, classes, WRED, watchdogs, and faults.

use super::{Scale, Wiring, picoseconds, plain, text};
use crate::document::{Node, Table, quoted, set, table_at, tables_at};
use crate::random::Random;

fn inline(entries: Vec<(String, Node)>) -> Node {
    Node::Table { inline: true, entries }
}

fn entry(key: &str, value: Node) -> (String, Node) {
    (key.to_owned(), value)
}

fn octets(octets: u64) -> Node {
    text(&format!("{octets} octets"))
}

/// Racks and two ranges of switches, each joined by one table, some of them by several links.
pub(super) fn ranges(keys: &mut Table, wiring: &mut Wiring, scale: &Scale, random: &mut Random) {
    let (racks, spines, each) = (1 + random.below(3), 1 + random.below(3), 1 + random.below(3));
    wiring.hosts = (0..racks * each).map(|i| format!("h{i}")).collect();
    set(keys, "hosts", text(&format!("h0..h{}", racks * each - 1)));
    set(keys, "switches", Node::Value(format!("[\"leaf0..leaf{}\", \"spine0..spine{}\"]", racks - 1, spines - 1)));
    let link = |ends: [String; 2], join: &str, random: &mut Random| {
        let ends = ends.map(|end| quoted(&end)).join(", ");
        let mut link = vec![
            entry("ends", Node::Value(format!("[{ends}]"))),
            entry("join", text(join)),
            entry("rate", text(&scale.rate(random))),
        ];
        match random.below(3) {
            0 => link.push(entry("delay", text(&scale.time(random)))),
            1 => link.push(entry("cable", text(&format!("{} m", random.scale(0, 1000))))),
            _ => {}
        }
        let parallel = if random.one_in(3) { 2 + random.below(3) } else { 1 };
        if parallel > 1 {
            link.push(entry("parallel", plain(parallel)));
        }
        if random.one_in(8) {
            let room = entry("buffer", octets(scale.frame * random.scale(1, 200)));
            let credits = if random.one_in(2) { vec![room] } else { Vec::new() };
            link.push(entry("credits", inline(credits)));
        }
        (link, parallel)
    };
    let last = |name: &str, n: usize| format!("{name}0..{name}{}", n - 1);
    let join = random.pick(&["blocks", "turns"]);
    let (down, of_rack) = link([last("h", racks * each), last("leaf", racks)], join, random);
    let (up, of_leaf) = link([last("leaf", racks), last("spine", spines)], "each", random);
    let number = |name: String, of: usize| if of > 1 { format!("{name}.{of}") } else { name };
    for i in 0..racks * each {
        let rack = if join == "blocks" { i / each } else { i % racks };
        wiring.links.push((format!("h{i}"), number(format!("leaf{rack}"), of_rack)));
    }
    for i in 0..racks * spines {
        wiring.links.push((format!("leaf{}", i / spines), number(format!("spine{}", i % spines), of_leaf)));
    }
    set(keys, "link", Node::Tables(vec![down, up]));
}

/// Some of the tables that belong to a fabric.
pub(super) fn tables(table: &mut Table, wiring: &Wiring, scale: &Scale, random: &mut Random) {
    if random.one_in(5) {
        chip(table, scale, random);
    }
    if random.one_in(4) {
        wred(table, wiring, scale, random);
    }
    if random.one_in(4) {
        class(table, scale, random);
    }
    if random.one_in(4) {
        impairment(table, wiring, scale, random);
    }
    if random.one_in(5) {
        interfaces(table, wiring, scale, random);
    }
    if random.one_in(5) {
        lossless_links(table, wiring, scale, random);
    }
}

/// The port of a link that is a switch's, mostly.
fn port(wiring: &Wiring, random: &mut Random) -> Option<String> {
    let (a, b) = wiring.links.get(random.below(wiring.links.len().max(1)))?;
    // The number of a parallel link stands at the end, whichever way it goes.
    let (name, number) = b.split_once('.').map_or((b.as_str(), String::new()), |(name, n)| (name, format!(".{n}")));
    Some(format!("{name}->{a}{number}"))
}

fn chip(table: &mut Table, scale: &Scale, random: &mut Random) {
    let mut switch = vec![entry("memory", octets(scale.frame * random.scale(10, 100_000)))];
    if random.one_in(2) {
        switch.push(entry("cell", octets(random.scale(1, 512))));
    }
    if random.one_in(4) {
        switch = vec![entry("chip", text(random.pick(&["tomahawk-5", "spectrum-1", "trident-3"])))];
    }
    tables_at(table, "switch").push(switch);
    // The pool without a size takes what is left.
    if let Some(buffer) = tables_at(table, "buffer").first_mut()
        && random.one_in(2)
    {
        buffer.retain(|(key, _)| key != "size");
    }
}

fn wred(table: &mut Table, wiring: &Wiring, scale: &Scale, random: &mut Random) {
    let least = random.scale(1, 200);
    let mut wred = if random.one_in(2) {
        let ticks = |n: u64| text(&picoseconds(scale.tick.saturating_mul(n)));
        vec![entry("min", ticks(least)), entry("max", ticks(least + random.scale(1, 200) - 1))]
    } else {
        let frames = |n: u64| octets(scale.frame * n);
        vec![entry("min", frames(least)), entry("max", frames(least + random.scale(1, 200) - 1))]
    };
    if let Some(port) = port(wiring, random).filter(|_| random.one_in(2)) {
        wred.push(entry("ports", Node::Value(format!("[{}]", quoted(&port)))));
    }
    if random.one_in(2) {
        wred.push(entry("probability", plain(format!("0.{}", random.below(1000)))));
    }
    if random.one_in(3) {
        wred.push(entry("ecn", plain(random.one_in(2))));
    }
    tables_at(table, "wred").push(wred);
}

fn class(table: &mut Table, scale: &Scale, random: &mut Random) {
    for priority in [0, 1 + random.below(7)] {
        let mut class = vec![entry("priority", plain(priority))];
        if random.one_in(2) {
            class.push(entry("weight", plain(random.scale(1, 1000))));
        }
        if random.one_in(3) {
            class.push(entry("max_rate", text(&scale.rate(random))));
            class.push(entry("burst", octets(random.scale(1, 100_000) - 1)));
        }
        if random.one_in(3) {
            class.push(entry("dscp", Node::Value(format!("[{}]", random.below(64)))));
            class.push(entry("pcp", plain(random.below(8))));
        }
        tables_at(table, "priority").push(class);
    }
}

fn impairment(table: &mut Table, wiring: &Wiring, scale: &Scale, random: &mut Random) {
    let probability = |random: &mut Random| plain(format!("0.{:04}", random.scale(1, 9999)));
    let mut impairment = match random.below(3) {
        0 => vec![entry("loss", probability(random))],
        1 => vec![entry("ber", plain(format!("1e-{}", 3 + random.below(12))))],
        _ => {
            let states = vec![entry("p", probability(random)), entry("r", probability(random))];
            vec![entry("burst", inline(states))]
        }
    };
    if let Some(port) = port(wiring, random).filter(|_| random.one_in(2)) {
        impairment.push(entry("links", Node::Value(format!("[{}]", quoted(&port)))));
    }
    if random.one_in(3) {
        impairment.push(entry("from", text(&scale.instant(random))));
    }
    if random.one_in(3) {
        impairment.push(entry("control", plain(random.one_in(2))));
    }
    tables_at(table, "impairment").push(impairment);
}

/// Interfaces that are slow or stuck, flow control for them, and its watchdogs.
fn interfaces(table: &mut Table, wiring: &Wiring, scale: &Scale, random: &mut Random) {
    let host = wiring.hosts[random.below(wiring.hosts.len())].clone();
    if random.one_in(2) {
        let host = vec![
            entry("names", text(&host)),
            entry("drain_rate", text(&scale.rate(random))),
            entry("buffer", octets(scale.frame * random.scale(2, 200))),
        ];
        tables_at(table, "host").push(host);
    }
    let pfc = table_at(table, "pfc");
    if random.one_in(2) {
        let some = |random: &mut Random| text(&picoseconds(scale.tick.saturating_mul(random.scale(1, 100)).max(1)));
        let mut watchdog = vec![entry("after", some(random)), entry("restoration", some(random))];
        if random.one_in(3) {
            watchdog.push(entry("poll", text(&picoseconds(scale.tick))));
        }
        if let Some(port) = port(wiring, random).filter(|_| random.one_in(2)) {
            let ports = entry("ports", Node::Value(format!("[{}]", quoted(&port))));
            let action = entry("action", text(random.pick(&["drop", "forward", "alert"])));
            watchdog.push(entry("port", Node::Tables(vec![vec![ports, action, entry("after", some(random))]])));
        }
        set(pfc, "watchdog", Node::Table { inline: false, entries: watchdog });
    }
    if random.one_in(2) {
        let mut event = vec![
            entry("kind", text("pfc-storm")),
            entry("host", text(&host)),
            entry("from", text(&scale.instant(random))),
        ];
        if random.one_in(2) {
            event.push(entry("interval", text(&picoseconds(scale.tick.saturating_mul(random.scale(1, 100)).max(1)))));
        }
        tables_at(table, "event").push(event);
    }
}

/// Credits and retry of some links or all, in memory for few frames or many.
fn lossless_links(table: &mut Table, wiring: &Wiring, scale: &Scale, random: &mut Random) {
    let kinds = match random.below(3) {
        0 => &["credits"][..],
        1 => &["retry"],
        _ => &["credits", "retry"],
    };
    for kind in kinds {
        let mut links = Vec::new();
        if let Some(port) = port(wiring, random).filter(|_| random.one_in(2)) {
            links.push(entry("links", Node::Value(format!("[{}]", quoted(&port)))));
        }
        if random.one_in(3) {
            links.push(entry("priorities", Node::Value(format!("[{}]", random.below(8)))));
        }
        if random.one_in(2) {
            links.push(entry("buffer", octets(scale.frame * random.scale(1, 200))));
        }
        if random.one_in(2) {
            links.push(entry("spacing", octets(random.scale(1, 100_000) - 1)));
        }
        let time = text(&picoseconds(scale.tick.saturating_mul(random.scale(1, 100)).max(1)));
        match *kind {
            "credits" if random.one_in(2) => links.push(entry("sync", time)),
            "credits" => links.push(entry("cell", octets(random.scale(1, 10_000)))),
            _ if random.one_in(2) => links.push(entry("timer", time)),
            _ => links.push(entry("most_replays", plain(random.scale(1, 300)))),
        }
        tables_at(table, kind).push(links);
    }
}

/// Links that go down, come up and change their rate, many at the same instant.
pub(crate) fn changes(table: &mut Table, wiring: &Wiring, scale: &Scale, random: &mut Random) {
    for _ in 0..=random.below(6) {
        let Some((a, b)) = wiring.links.get(random.below(wiring.links.len().max(1))) else { return };
        let link = if random.one_in(2) { format!("{a}--{b}") } else { format!("{b}->{a}") };
        let mut change = vec![("link".to_owned(), text(&link)), ("at".to_owned(), text(&scale.instant(random)))];
        match random.below(3) {
            0 => change.push(("rate".to_owned(), text(&scale.rate(random)))),
            1 => {
                change.push(("state".to_owned(), text("down")));
                if random.one_in(3) {
                    change.push(("down_for".to_owned(), text(&scale.time(random))));
                    change.push(("every".to_owned(), text(&picoseconds(scale.duration / 4 + 1))));
                }
            }
            _ => change.push(("state".to_owned(), text("up"))),
        }
        tables_at(table, "change").push(change);
    }
}

#[cfg(test)]
mod tests {
    use crate::build::scenario;
    use crate::document::write;
    use crate::random::Random;
    use crate::vocabulary::Vocabulary;

    #[test]
    fn every_table_of_a_fabric_is_made() {
        let vocabulary = Vocabulary::new();
        let texts: Vec<String> =
            (0..2000).map(|input| write(&scenario(&vocabulary, &mut Random::new(1, input)))).collect();
        for part in [
            "[[switch]]",
            "[[wred]]",
            "weight = ",
            "max_rate = ",
            "dscp = ",
            "[[impairment]]",
            "burst = {",
            "ber = ",
            "[[event]]",
            "[[host]]",
            "[pfc.watchdog]",
            "[[pfc.watchdog.port]]",
            "join = ",
            "parallel = ",
            "cable = ",
            "down_for = ",
            "ingress_reserve = ",
            "[[credits]]",
            "credits = {",
            "[[retry]]",
            "most_replays = ",
            "[[collective]]",
            "[[job]]",
            "num_ranks ",
        ] {
            let found = texts.iter().filter(|text| text.contains(part)).count();
            assert!(found >= 10, "{part}: in {found} of {} inputs", texts.len());
        }
    }
}
