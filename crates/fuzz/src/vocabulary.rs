//! The keys and values of scenarios, taken from the schema and the reference of their keys: a new key is tried from its first
//! day.

use std::collections::BTreeMap;

use penstock_scenario::{reference, schema};
use serde_json::Value as Json;

use crate::document::{Node, Table, quoted};
use crate::random::Random;

/// Texts that have harmed others.
const ODD: &[&str] = &[
    "",
    " ",
    ".",
    "..",
    ".hidden",
    "a/b",
    "a\\b",
    "a\nb",
    "a\tb",
    "\u{1b}[31mred",
    "\u{7}",
    "\u{0}",
    "\u{202e}x",
    "\u{e9}",
    "\u{1f600}",
    "h0..h1",
    "h0..",
    "..h0",
    "h1..h0",
    "h0..h99999999999",
    "h0..h100000",
    "-",
    "--",
    "->",
    "a--b",
    "h0->",
    "->h0",
    "$\\frac{1}{2$",
    "{",
    "%s",
    "CON",
    "0",
    "9",
    "h0 ",
    "H0",
    "sw0->sw0",
    "<b>",
    "\"",
    "'",
    "inf",
    "NaN",
];
/// Numbers of all kinds that no unit of measurement expects.
const WRONG: &[&str] = &[
    "0",
    "-1",
    "1.5",
    "-0.0",
    "nan",
    "inf",
    "-inf",
    "1e308",
    "1e-308",
    "9223372036854775807",
    "-9223372036854775808",
    "true",
    "[]",
    "{}",
    "\"\"",
    "1979-05-27",
    "[[1]]",
    "[\"h0\", 3]",
    "\"1\"",
    "\"10 Gbps\"",
    "\"10 us\"",
    "\"10 KB\"",
    "\"3 frames\"",
];
/// Units, right and wrong ones.
const UNITS: &[&str] = &[
    "s", "ms", "us", "\u{b5}s", "ns", "ps", "min", "h", "GB", "MB", "KB", "kB", "Kb", "GiB", "MiB", "KiB", "octets",
    "B", "b", "frames", "frame", "Tbps", "Gbps", "Mbps", "kbps", "bps", "Gb/s", "Mbit/s", "bit/s", "GHz", "packets",
    "ppm", "%", "", "S", "MS",
];

/// The keys of scenarios.
#[derive(Debug)]
pub(crate) struct Vocabulary {
    schema: Json,
    /// The ends of a key's range, by section and key, as the reference names them.
    ends: BTreeMap<(String, String), [String; 2]>,
}

impl Vocabulary {
    pub(crate) fn new() -> Self {
        let mut ends = BTreeMap::new();
        for key in reference().as_array().into_iter().flatten() {
            let text = |name: &str| match &key[name] {
                Json::String(text) => text.clone(),
                other => other.to_string(),
            };
            if !key["minimum"].is_null() {
                ends.insert((text("section"), text("key")), [text("minimum"), text("maximum")]);
            }
        }
        Self { schema: schema(), ends }
    }

    /// The schema of the key at the end of `names`.
    pub(crate) fn find(&self, names: &[String]) -> Option<&Json> {
        names.iter().try_fold(&self.schema, |place, name| {
            let table = object(place)?;
            table["properties"].get(name)
        })
    }

    /// The keys of the table at `names`, the whole scenario where there is none.
    pub(crate) fn keys(&self, names: &[String]) -> Vec<&str> {
        let table = self.find(names).and_then(object);
        let properties = table.and_then(|table| table["properties"].as_object());
        properties.map(|keys| keys.keys().map(String::as_str).collect()).unwrap_or_default()
    }

    /// Whether the key at `names` has a quantity, a number, a switch or a word, and no name.
    pub(crate) fn is_plain(&self, names: &[String]) -> bool {
        fn plain(place: &Json) -> bool {
            let kind = place["type"].as_str().unwrap_or_default();
            !place["enum"].is_null()
                || matches!(kind, "integer" | "number" | "boolean")
                || (kind == "string" && !place["examples"].is_null())
                || place["anyOf"].as_array().is_some_and(|kinds| kinds.iter().all(plain))
        }
        self.find(names).is_some_and(plain)
    }

    /// Some value for the key at `names`, most of them legal for it alone.
    pub(crate) fn value(&self, names: &[String], known: &[String], random: &mut Random) -> Node {
        match self.find(names) {
            Some(place) => self.of(place, names, known, random),
            None => Node::Value(wrong(random)),
        }
    }

    fn of(&self, place: &Json, names: &[String], known: &[String], random: &mut Random) -> Node {
        if let Some(kinds) = place["anyOf"].as_array() {
            return self.of(&kinds[random.below(kinds.len())], names, known, random);
        }
        if let Some(words) = place["enum"].as_array() {
            return Node::Value(words[random.below(words.len())].to_string());
        }
        let number = |key: &str| place[key].as_f64();
        Node::Value(match place["type"].as_str() {
            Some("integer") => whole(place["minimum"].as_u64(), place["maximum"].as_u64(), random),
            Some("number") => real(number("minimum").unwrap_or(0.0), number("maximum").unwrap_or(1.0), random),
            Some("boolean") => random.pick(&["true", "false"]).to_owned(),
            Some("string") => match place["examples"][0].as_str() {
                Some(example) => {
                    let quantity = |random: &mut Random| quantity(example, self.ends_of(names), random);
                    quoted(&of_line(place, random).unwrap_or_else(|| quantity(random)))
                }
                None if place["pattern"].as_str().is_some_and(|pattern| pattern.contains("frame")) => {
                    quoted(&format!("{} frames", random.scale(0, 1 << 32)))
                }
                None => quoted(&text(known, random)),
            },
            Some("array") if place["items"]["type"] == "object" => {
                let count = 1 + random.below(2);
                return Node::Tables((0..count).map(|_| self.table(&place["items"], names, known, random)).collect());
            }
            Some("array") => {
                let items = (0..=random.below(3)).map(|_| match self.of(&place["items"], names, known, random) {
                    Node::Value(value) => value,
                    _ => "0".to_owned(),
                });
                format!("[{}]", items.collect::<Vec<_>>().join(", "))
            }
            Some("object") => {
                let inline = random.one_in(2);
                return Node::Table { inline, entries: self.table(place, names, known, random) };
            }
            _ => wrong(random),
        })
    }

    /// A table with the keys that it must have, and some of those that it may.
    fn table(&self, place: &Json, names: &[String], known: &[String], random: &mut Random) -> Table {
        let Some(properties) = place["properties"].as_object() else { return Vec::new() };
        let required = |key: &str| place["required"].as_array().is_some_and(|list| list.iter().any(|k| k == key));
        let only = (place["maxProperties"] == 1).then(|| random.below(properties.len()));
        let mut entries = Vec::new();
        for (i, (key, inner)) in properties.iter().enumerate() {
            let wanted = only.map_or_else(|| required(key) || random.one_in(4), |only| only == i);
            if wanted {
                let mut names = names.to_vec();
                names.push(key.clone());
                entries.push((key.clone(), self.of(inner, &names, known, random)));
            }
        }
        entries
    }

    /// The ends of the range of the key at `names`.
    pub(crate) fn ends_of(&self, names: &[String]) -> Option<&[String; 2]> {
        let (key, path) = names.split_last()?;
        let path = path.join(".");
        let listed = self.ends.get(&(path.clone(), key.clone()));
        listed.or_else(|| self.ends.get(&(format!("[{path}]"), key.clone())))
    }
}

/// The table that a node of the schema is, or that a list of tables has.
fn object(place: &Json) -> Option<&Json> {
    match place["type"].as_str() {
        Some("object") => Some(place),
        Some("array") => object(&place["items"]),
        _ => place["anyOf"].as_array()?.iter().find_map(object),
    }
}

fn whole(low: Option<u64>, high: Option<u64>, random: &mut Random) -> String {
    let (low, high) = (low.unwrap_or(0), high.unwrap_or(i64::MAX as u64));
    match random.below(12) {
        0 => low.to_string(),
        1 => high.to_string(),
        2 if random.one_in(4) => high.wrapping_add(1).to_string(),
        3 if random.one_in(4) => (i128::from(low) - 1).to_string(),
        4 => random.between(low, high).to_string(),
        _ => random.scale(low, high.min(low.saturating_add(64))).to_string(),
    }
}

fn real(low: f64, high: f64, random: &mut Random) -> String {
    let share = random.below(1001) as f64 / 1000.0;
    let x = match random.below(12) {
        0 => low,
        1 => high,
        2 if random.one_in(4) => high * 1.000_001 + 1e-9,
        3 if random.one_in(4) => low - 1e-9,
        4 => f64::MIN_POSITIVE.max(low),
        _ => low + (high - low) * share,
    };
    format!("{x:?}")
}

/// A quantity in the dimension of `example`; often an end of its range.
fn quantity(example: &str, ends: Option<&[String; 2]>, random: &mut Random) -> String {
    let units: &[&str] = match example.split_once(' ').map_or("", |(_, unit)| unit) {
        "ms" => &["ps", "ns", "us", "us", "us", "ms", "s"],
        "KB" => &["octets", "octets", "KB", "KB", "MB", "KiB", "GB"],
        "Gbps" => &["bps", "kbps", "Mbps", "Gbps", "Gbps", "Tbps"],
        // A dimension that this table does not know: its own example's.
        _ => &[],
    };
    match (random.below(8), ends) {
        (0, Some([low, _])) => low.clone(),
        (1, Some([_, high])) => high.clone(),
        (2, _) if random.one_in(4) => format!("{} {}", random.scale(0, 1 << 50), random.pick(UNITS)),
        _ if units.is_empty() => example.to_owned(),
        _ => format!("{} {}", random.scale(0, 2000), random.pick(units)),
    }
}

/// An amount that follows the rate of a line, now and then, where the key may have one.
fn of_line(place: &Json, random: &mut Random) -> Option<String> {
    let forms = place["examples"].as_array()?.get(1..).filter(|forms| !forms.is_empty() && random.one_in(6))?;
    let (_, unit) = forms[random.below(forms.len())].as_str()?.split_once(' ')?;
    Some(format!("{} {unit}", random.scale(0, 2000)))
}

/// A name that the scenario knows, or an odd text.
pub(crate) fn text(known: &[String], random: &mut Random) -> String {
    if !known.is_empty() && !random.one_in(4) {
        return known[random.below(known.len())].clone();
    }
    match random.below(8) {
        0 => "x".repeat(random.scale(1, 5000) as usize),
        1 => format!("{}{}", random.pick(ODD), random.pick(ODD)),
        _ => random.pick(ODD).to_owned(),
    }
}

/// A value that is rarely right anywhere.
pub(crate) fn wrong(random: &mut Random) -> String {
    match random.below(4) {
        0 => quoted(random.pick(ODD)),
        1 => quoted(&format!("{} {}", random.scale(0, u64::MAX), random.pick(UNITS))),
        _ => random.pick(WRONG).to_owned(),
    }
}

/// `value` times something, if it is a number with a unit.
pub(crate) fn scaled(value: &str, random: &mut Random) -> Option<String> {
    let text = crate::document::text_of(value)?;
    let (number, unit) = text.trim().split_once(' ')?;
    let number: f64 = number.parse().ok()?;
    let factor = [0.1, 0.5, 0.9, 1.1, 2.0, 10.0, 1000.0][random.below(7)];
    Some(quoted(&format!("{} {unit}", (number * factor * 10.0).round() / 10.0)))
}

/// `value` with its number or its unit changed, if it is a number with a unit.
pub(crate) fn other_quantity(value: &str, random: &mut Random) -> Option<String> {
    let text = crate::document::text_of(value)?;
    let (number, unit) = text.trim().split_once(' ')?;
    let number: f64 = number.parse().ok()?;
    Some(quoted(&match random.below(6) {
        0 | 1 => format!("{number} {}", random.pick(UNITS)),
        2 => format!("{number}{unit}"),
        3 => format!(
            "{} {unit}",
            random.pick(&["0", "-1", "1", "999999999999999999999999", "0.1", "1e3", ".5", "5.", "0x10"])
        ),
        4 => format!("{:.0} {unit}", number * f64::from(10_u32.pow(random.below(10) as u32))),
        _ => format!("{} {unit}", number * [0.1, 0.5, 0.9, 1.1, 2.0, 10.0, 1000.0][random.below(7)]),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(path: &str) -> Vec<String> {
        path.split('.').map(str::to_owned).collect()
    }

    #[test]
    fn every_key_of_the_reference_is_found() {
        let vocabulary = Vocabulary::new();
        for key in reference().as_array().unwrap() {
            let section: String = key["section"].as_str().unwrap().chars().filter(|c| !"[]".contains(*c)).collect();
            let path = format!("{section}.{}", key["key"].as_str().unwrap());
            let path = names(path.trim_start_matches('.'));
            assert!(vocabulary.find(&path).is_some(), "{path:?}");
            assert_eq!(vocabulary.ends_of(&path).is_some(), !key["minimum"].is_null(), "{path:?}");
        }
        assert!(vocabulary.keys(&[]).contains(&"flow"));
        assert!(vocabulary.keys(&names("topology.graph.link")).contains(&"ends"));
        assert!(vocabulary.find(&names("flow.size.pareto.shape")).is_some());
    }

    #[test]
    fn values_reach_the_ends_of_their_range() {
        let (vocabulary, mut random) = (Vocabulary::new(), Random::new(1, 1));
        let path = names("schemes.qcn.q_eq");
        let [low, high] = vocabulary.ends_of(&path).unwrap().clone();
        let drawn: Vec<Node> = (0..200).map(|_| vocabulary.value(&path, &[], &mut random)).collect();
        for end in [low, high] {
            assert!(drawn.contains(&Node::Value(quoted(&end))), "{end}");
        }
    }
}
