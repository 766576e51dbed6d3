//! From a seed to an input: a few changes to a scenario's tree or text, all drawn from the input's number.

use penstock_schemes::SCHEMES;
use penstock_schemes::quantity::Dimension;

use crate::build;
use crate::corpus::Seed;
use crate::document::{self, Node, Table};
use crate::random::Random;
use crate::vocabulary::{self, Vocabulary};

/// An input to try: a text, and the options that a user gives with it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Input {
    /// The seed that it comes from.
    pub(crate) seed: String,
    pub(crate) text: String,
    /// The file's name without `.toml`.
    pub(crate) name: String,
    /// As `--set`.
    pub(crate) set: Vec<(String, String)>,
    /// As `--scheme`.
    pub(crate) scheme: Option<String>,
    /// As `--profile`.
    pub(crate) profile: Option<String>,
    /// As `--seed`.
    pub(crate) run_seed: Option<u64>,
}

/// All that inputs are made of.
#[derive(Debug)]
pub(crate) struct Generator {
    pub(crate) seeds: Vec<Seed>,
    vocabulary: Vocabulary,
}

/// The most octets of a list that is drawn out.
const LONG: usize = 20_000;

impl Generator {
    pub(crate) fn new(seeds: Vec<Seed>) -> Self {
        Self { seeds, vocabulary: Vocabulary::new() }
    }

    /// The input called `index` under `seed`. The first ones are the seeds as they are.
    pub(crate) fn input(&self, seed: u64, index: u64) -> Input {
        if let Some(seed) = self.seeds.get(index as usize) {
            return Input { seed: seed.name.clone(), text: seed.text.clone(), name: "x".into(), ..Input::default() };
        }
        let mut random = Random::new(seed, index);
        let random = &mut random;
        let wild = random.one_in(3);
        let (name, mut table, changes) = match random.below(6) {
            0..=2 => ("made up".to_owned(), build::scenario(&self.vocabulary, random), random.below(3)),
            _ => {
                let seed = &self.seeds[random.below(self.seeds.len())];
                let mut table = seed.table.clone();
                if !random.one_in(8) {
                    shorten(&mut table, random);
                }
                (seed.name.clone(), table, 1 + random.below(4))
            }
        };
        for _ in 0..changes {
            if wild { self.change(&mut table, random) } else { self.adjust(&mut table, random) }
        }
        let mut text = document::write(&table);
        if wild && random.one_in(8) {
            text = scribble(&text, random);
        }
        let known = words(&table);
        let mut input = Input { seed: name, text, name: "x".into(), ..Input::default() };
        if random.one_in(50) {
            input.name = vocabulary::text(&known, random);
        }
        if random.one_in(if wild { 6 } else { 40 }) {
            input.set = (0..=random.below(2)).map(|_| self.setting(&table, &known, random)).collect();
        }
        if random.one_in(12) {
            input.scheme = Some(scheme(&known, random));
        }
        if random.one_in(40) {
            let info = &SCHEMES[random.below(SCHEMES.len())];
            let profile = info.profiles.first().map_or("none", |profile| profile.name);
            input.profile = Some(if random.one_in(3) { vocabulary::text(&known, random) } else { profile.to_owned() });
        }
        if random.one_in(40) {
            input.run_seed = Some(random.scale(0, u64::MAX));
        }
        input
    }

    /// Makes one change that is mostly legal: another value where there is one, another key, another scheme.
    fn adjust(&self, table: &mut Table, random: &mut Random) {
        let paths = document::paths(table);
        let Some(path) = paths.get(random.below(paths.len().max(1))) else { return };
        match random.below(8) {
            0 => build::scheme(table, &self.vocabulary, random),
            1 => self.splice(table, &["network", "hosts", "pfc", "record", "schemes"], random),
            2 | 3 => self.add(table, path, random),
            _ => {
                let names = document::names(table, path);
                let (holder, place) = document::holder(table, path);
                let Node::Value(value) = &mut holder[place].1 else { return };
                let number = value.starts_with(|c: char| c.is_ascii_digit());
                let other = vocabulary::scaled(value, random);
                if let Some(other) = other.filter(|_| random.one_in(2)) {
                    *value = other;
                } else if number || self.vocabulary.is_plain(&names) {
                    holder[place].1 = self.vocabulary.value(&names, &[], random);
                }
            }
        }
    }

    /// Makes one change, right or wrong.
    fn change(&self, table: &mut Table, random: &mut Random) {
        let paths = document::paths(table);
        if paths.is_empty() {
            return;
        }
        let path = &paths[random.below(paths.len())];
        match random.below(16) {
            0..=2 => {
                let (names, known) = (document::names(table, path), words(table));
                let (holder, place) = document::holder(table, path);
                holder[place].1 = self.vocabulary.value(&names, &known, random);
            }
            3..=5 => self.add(table, path, random),
            6 | 7 => {
                let (holder, place) = document::holder(table, path);
                if let Node::Value(value) = &mut holder[place].1
                    && let Some(other) = vocabulary::other_quantity(value, random)
                {
                    *value = other;
                }
            }
            8 => {
                let (holder, place) = document::holder(table, path);
                holder.remove(place);
            }
            9 => {
                let (holder, place) = document::holder(table, path);
                match &mut holder[place].1 {
                    Node::Tables(tables) if !tables.is_empty() => {
                        let copy = tables[random.below(tables.len())].clone();
                        let copies = if random.one_in(20) { random.scale(1, 300) } else { 1 };
                        tables.extend((0..copies).map(|_| copy.clone()));
                    }
                    _ => {
                        let copy = holder[place].clone();
                        holder.push(copy);
                    }
                }
            }
            10 => {
                let (holder, place) = document::holder(table, path);
                let entry = if random.one_in(2) { holder.remove(place) } else { holder[place].clone() };
                let paths = document::paths(table);
                match paths.get(random.below(paths.len().max(1))) {
                    Some(path) => document::holder(table, path).0.push(entry),
                    None => table.push(entry),
                }
            }
            11 => {
                let (holder, place) = document::holder(table, path);
                holder[place].0 = misspelt(&holder[place].0, random);
            }
            12 => self.splice(table, &[], random),
            13 => build::scheme(table, &self.vocabulary, random),
            14 => {
                let known = words(table);
                let (holder, place) = document::holder(table, path);
                if let Node::Value(value) = &mut holder[place].1 {
                    *value = longer(value, &known, random);
                }
            }
            _ => {
                let (holder, place) = document::holder(table, path);
                holder[place].1 = Node::Value(vocabulary::wrong(random));
            }
        }
    }

    /// A key that the table of `path` may have, or that of a table in it.
    fn add(&self, table: &mut Table, path: &[usize], random: &mut Random) {
        let known = words(table);
        let mut names = document::names(table, path);
        let (mut holder, place) = document::holder(table, path);
        let leads_on = match &holder[place].1 {
            Node::Table { .. } => true,
            Node::Tables(tables) => !tables.is_empty(),
            Node::Value(_) => false,
        };
        if leads_on && random.one_in(2) {
            holder = match &mut holder[place].1 {
                Node::Table { entries, .. } => entries,
                Node::Tables(tables) => tables.last_mut().expect("there is one"),
                Node::Value(_) => unreachable!("it leads on"),
            };
        } else {
            names.pop();
        }
        let keys = self.vocabulary.keys(&names);
        if keys.is_empty() {
            return;
        }
        let key = keys[random.below(keys.len())].to_owned();
        names.push(key.clone());
        let node = self.vocabulary.value(&names, &known, random);
        match (&mut document::get(holder, &key).cloned(), node) {
            (Some(Node::Tables(old)), Node::Tables(new)) if random.one_in(2) => {
                old.extend(new);
                document::set(holder, &key, Node::Tables(old.clone()));
            }
            (_, node) => document::set(holder, &key, node),
        }
    }

    /// A table of another seed: one of `keys`, or any where none is named.
    fn splice(&self, table: &mut Table, keys: &[&str], random: &mut Random) {
        let other = &self.seeds[random.below(self.seeds.len())].table;
        let fits = |(key, _): &&(String, Node)| keys.is_empty() || keys.contains(&key.as_str());
        let other: Vec<&(String, Node)> = other.iter().filter(fits).collect();
        if other.is_empty() {
            return;
        }
        let (key, node) = other[random.below(other.len())].clone();
        match (document::get(table, &key).cloned(), node) {
            (Some(Node::Tables(mut old)), Node::Tables(new)) => {
                old.extend(new);
                document::set(table, &key, Node::Tables(old));
            }
            (_, node) => document::set(table, &key, node),
        }
    }

    /// A key and a value that a user may give with `--set`.
    fn setting(&self, table: &Table, known: &[String], random: &mut Random) -> (String, String) {
        let paths = document::paths(table);
        let mut names = match paths.get(random.below(paths.len().max(1))) {
            Some(path) => document::names(table, path),
            None => vec!["duration".to_owned()],
        };
        let value = match self.vocabulary.value(&names, known, random) {
            Node::Value(value) => document::text_of(&value).unwrap_or(value),
            _ => vocabulary::text(known, random),
        };
        if random.one_in(3) {
            let place = random.below(names.len() + 1);
            names.insert(place, random.pick(&["0", "1", "99", "flow", "", " ", "a.b", "-1"]).to_owned());
        } else if names.first().is_some_and(|name| ["flow", "change", "group"].contains(&name.as_str())) {
            names.insert(1, "0".to_owned());
        }
        (names.join("."), value)
    }
}

/// A scheme's name, right most of the time.
fn scheme(known: &[String], random: &mut Random) -> String {
    if random.one_in(6) {
        vocabulary::text(known, random)
    } else {
        SCHEMES[random.below(SCHEMES.len())].name.to_owned()
    }
}

/// Shortens the run and moves its events to its beginning, all by the same factor.
fn shorten(table: &mut Table, random: &mut Random) {
    const KEYS: [&str; 9] = ["duration", "warmup", "interval", "start", "stop", "stagger", "every", "at", "end"];
    let factor = random.pick(&["50", "200", "1000", "5000"]).parse::<f64>().expect("a number");
    for path in document::paths(table) {
        let (holder, place) = document::holder(table, &path);
        let (key, node) = &mut holder[place];
        // The inner delays of networks and schemes stay as they are.
        if path.len() <= 3
            && KEYS.contains(&key.as_str())
            && let Node::Value(value) = node
            && let Some(text) = document::text_of(value)
            && let Ok(time) = Dimension::Time.read(&text)
        {
            *value = document::quoted(&format!("{} ps", (time as f64 / factor).round()));
        }
    }
}

/// Every text in the tables: names of nodes and ports, values and quantities.
fn words(table: &Table) -> Vec<String> {
    let mut list = vec!["h0".to_owned(), "h1".to_owned(), "sw0->h1".to_owned(), "h0--sw0".to_owned()];
    fn collect(table: &Table, list: &mut Vec<String>) {
        for (key, node) in table {
            list.push(key.clone());
            match node {
                Node::Value(value) => list.extend(document::text_of(value)),
                Node::Table { entries, .. } => collect(entries, list),
                Node::Tables(tables) => tables.iter().for_each(|entries| collect(entries, list)),
            }
        }
    }
    collect(table, &mut list);
    list
}

fn misspelt(key: &str, random: &mut Random) -> String {
    let mut letters: Vec<char> = key.chars().collect();
    let place = random.below(letters.len().max(1));
    match random.below(4) {
        0 if !letters.is_empty() => {
            letters.remove(place);
        }
        1 if letters.len() > 1 => letters.swap(place, (place + 1) % key.chars().count()),
        2 => letters.insert(place, *[&'x', &'\n', &'\u{1b}', &'.', &'"', &'\u{e9}'][random.below(6)]),
        _ => return vocabulary::text(&[], random),
    }
    letters.into_iter().collect()
}

/// A value made long: a list of many, a number of many digits, a text of many letters, or one deep within others.
fn longer(value: &str, known: &[String], random: &mut Random) -> String {
    let count = random.scale(1, 2000) as usize;
    match random.below(5) {
        0 => format!("{}{value}{}", "[".repeat(count), "]".repeat(count)),
        1 => format!("{}{value}{}", "{ a = ".repeat(count), " }".repeat(count)),
        2 => format!("[{}]", vec![value; count.min(LONG / value.len().max(1))].join(", ")),
        3 => document::quoted(&format!("{}{}", "9".repeat(count), " ms")),
        _ => {
            let items = (0..1 + count % 50).map(|_| document::quoted(&vocabulary::text(known, random)));
            format!("[{}]", items.collect::<Vec<_>>().join(", "))
        }
    }
}

/// The text with letters lost, doubled, exchanged or cut off.
fn scribble(text: &str, random: &mut Random) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    for _ in 0..1 + random.below(4) {
        if letters.is_empty() {
            break;
        }
        let place = random.below(letters.len());
        match random.below(5) {
            0 => drop(letters.remove(place)),
            1 => letters.insert(
                place,
                *[&'"', &'[', &'=', &'\n', &'\0', &'#', &'.', &'\u{1f600}', &'9', &'\\'][random.below(10)],
            ),
            2 => letters.truncate(place),
            3 => letters.swap(0, place),
            _ => {
                let end = (place + random.below(40)).min(letters.len());
                let piece: Vec<char> = letters[place..end].to_vec();
                letters.splice(place..place, piece);
            }
        }
    }
    letters.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seed(text: &str) -> Seed {
        Seed { name: "s".into(), text: text.into(), table: document::read(text).unwrap() }
    }

    #[test]
    fn an_input_is_the_same_each_time() {
        let text =
            "duration = \"1 s\"\n[network]\nwire_overhead = \"20 octets\"\n[[flow]]\nfrom = \"h0\"\nto = \"h1\"\n";
        let generator = Generator::new(vec![seed(text)]);
        assert_eq!(generator.input(1, 0).text, text);
        for index in 1..300 {
            assert_eq!(generator.input(1, index), generator.input(1, index));
        }
        assert_ne!(generator.input(1, 5), generator.input(2, 5));
    }

    #[test]
    fn shortened_runs_keep_their_shape() {
        let mut table =
            document::read("duration = \"1 s\"\n[[flow]]\nstart = \"500 ms\"\nrate = \"1 Gbps\"\n").unwrap();
        shorten(&mut table, &mut Random::new(1, 1));
        let text = document::write(&table);
        let time = |key: &str| {
            let line = text.lines().find(|line| line.starts_with(key)).unwrap();
            line.split('"').nth(1).unwrap().strip_suffix(" ps").unwrap().parse::<u64>().unwrap()
        };
        assert_eq!(time("duration"), 2 * time("start"));
        assert!(time("duration") < 1_000_000_000_000 && text.contains("1 Gbps"));
    }
}
