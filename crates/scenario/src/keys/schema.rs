//! The JSON schema of scenario files and the reference of their keys, both made from the declarations.

use penstock_schemes::quantity::Dimension;
use serde_json::{Map, Value as Json, json};

use crate::declared::entry;
use crate::keys::fields::Table;
use crate::keys::key::{Fallback, Key, Kind, Section};
use crate::keys::sections::Experiment;
use crate::keys::tree::{Data, Node};

/// The JSON schema (draft 2020-12) of a scenario file.
#[must_use]
pub fn schema() -> Json {
    let mut schema = table(&Experiment::section());
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    schema["title"] = "Penstock scenario".into();
    schema["properties"]["flow"]["minItems"] = 1.into();
    schema["properties"]["schemes"]["additionalProperties"] = of_foreign();
    schema
}

/// Every key of a scenario file, sections in the order in which they are shown: a list of the object `Key` of
/// [`catalogue::OBJECTS`](crate::catalogue::OBJECTS).
#[must_use]
pub fn reference() -> Json {
    let mut list = Vec::new();
    collect(&Experiment::section(), "", &mut list);
    Json::Array(list)
}

/// A table that holds one of its keys.
fn exactly_one(section: &Section) -> Json {
    let mut schema = table(section);
    schema["minProperties"] = 1.into();
    schema["maxProperties"] = 1.into();
    schema
}

fn table(section: &Section) -> Json {
    let properties: Map<String, Json> = section.keys.iter().map(|key| (key.name.to_owned(), property(key))).collect();
    let required: Vec<&str> =
        section.keys.iter().filter(|k| matches!(k.fallback, Fallback::Required)).map(|k| k.name).collect();
    let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    if !section.doc.is_empty() {
        schema["description"] = section.doc.clone().into();
    }
    schema
}

/// Parameters of a scheme of a file: which ones it has, the file says.
fn of_foreign() -> Json {
    json!({ "type": "object", "description": "Parameters of a scheme of a file, under the name that it gives itself." })
}

fn property(key: &Key) -> Json {
    let mut schema = of_kind(&key.kind);
    if !key.doc.is_empty() {
        schema["description"] = key.doc.clone().into();
    }
    if let Fallback::Value(text) = &key.fallback {
        schema["default"] = plain(&Node::declared(text));
    }
    schema
}

fn of_kind(kind: &Kind) -> Json {
    match kind {
        Kind::Quantity(dimension, ..) => {
            json!({ "type": "string", "pattern": pattern(*dimension), "examples": [dimension.example()] })
        }
        Kind::OfLine(dimension, ..) => {
            let examples: Vec<&str> =
                std::iter::once(dimension.example()).chain(dimension.of_line().iter().copied()).collect();
            let each = pattern(*dimension).replace("\\s*$", "(\\s+per Gb(ps|/s))?\\s*$");
            let time = (*dimension == Dimension::Size).then(|| format!("|{}", pattern(Dimension::Time)));
            let pattern = format!("{each}{}", time.unwrap_or_default());
            json!({ "type": "string", "pattern": pattern, "examples": examples })
        }
        Kind::Capacity => {
            let frames = json!({ "type": "string", "pattern": "^\\s*[0-9]+\\s*frames?\\s*$" });
            json!({ "anyOf": [{ "type": "string", "pattern": pattern(Dimension::Size) }, frames] })
        }
        Kind::Count(low, high) => json!({ "type": "integer", "minimum": low, "maximum": high }),
        Kind::Counts(low, high) => {
            json!({ "type": "array", "items": of_kind(&Kind::Count(*low, *high)), "minItems": 1, "uniqueItems": true })
        }
        Kind::Weights(low, high) => {
            json!({ "type": "array", "items": of_kind(&Kind::Count(*low, *high)), "minItems": 1 })
        }
        Kind::Real(low, high) => json!({ "type": "number", "minimum": low, "maximum": high }),
        Kind::Switch => json!({ "type": "boolean" }),
        Kind::Text | Kind::Lines => json!({ "type": "string", "pattern": "\\S" }),
        Kind::Word(words) => json!({ "enum": words }),
        Kind::Names => json!({ "anyOf": [{ "type": "string" }, of_kind(&Kind::List)] }),
        Kind::List => json!({ "type": "array", "items": { "type": "string" }, "minItems": 1 }),
        Kind::Location => json!({ "type": "string", "pattern": "[./:\\\\]" }),
        Kind::Table(section) => table(section),
        Kind::Parameters(section) => {
            let mut schema = table(section);
            schema["additionalProperties"] = of_foreign();
            schema
        }
        Kind::OneOf(section) => exactly_one(section),
        Kind::Tables(section) => json!({ "type": "array", "items": table(section) }),
        Kind::Fraction => json!({ "type": "string", "pattern": "^\\s*[0-9]+\\s*/\\s*[0-9]+\\s*$" }),
        Kind::ByPriority(kind) => {
            json!({ "type": "object", "patternProperties": { "^[0-7]$": of_kind(kind) }, "additionalProperties": false })
        }
        Kind::Either(kinds) => json!({ "anyOf": kinds.iter().map(of_kind).collect::<Vec<_>>() }),
    }
}

fn pattern(dimension: Dimension) -> String {
    let units: Vec<&str> = dimension.units().iter().map(|(name, _)| *name).collect();
    format!("^\\s*[0-9]+(\\.[0-9]+)?\\s*({})\\s*$", units.join("|"))
}

fn plain(node: &Node) -> Json {
    match &node.data {
        Data::Text(text) => text.clone().into(),
        Data::Integer(x) => (*x).into(),
        Data::Real(x) => (*x).into(),
        Data::Switch(x) => (*x).into(),
        Data::Date => Json::Null,
        Data::List(items) => items.iter().map(plain).collect::<Vec<_>>().into(),
        Data::Table(entries) => entries.iter().map(|(k, v)| (k.clone(), plain(v))).collect::<Map<_, _>>().into(),
    }
}

entry! {
    /// One key of a scenario file.
    pub(crate) KeyEntry<'k> as Key {
        /// The table that has it, as a dotted path; empty for the file itself.
        section: &'k str, "";
        /// The meaning of that table.
        section_description: &'k str, "";
        /// Its name.
        key: &'k str, "";
        /// The kind of its value.
        unit: String, "";
        /// The default as a file would have it, or a text for the value where the key is absent. Null for a key that must be there.
        default: Option<&'k str>, "";
        /// Whether it must be there.
        required: bool, "";
        /// The least value. Null where there is none.
        minimum: Option<Json>, "";
        /// The greatest value. Null where there is none.
        maximum: Option<Json>, "";
        /// Its meaning.
        description: &'k str, "";
    }
}

fn collect(section: &Section, path: &str, list: &mut Vec<Json>) {
    for key in &section.keys {
        if matches!(key.kind, Kind::Table(_) | Kind::OneOf(_) | Kind::Tables(_)) {
            continue;
        }
        let default = match &key.fallback {
            Fallback::Required => None,
            Fallback::Value(text) => Some(text.as_str()),
            Fallback::None(words) => Some(*words),
        };
        let (minimum, maximum) = bounds(&key.kind);
        list.push(json!(KeyEntry {
            section: path,
            section_description: &section.doc,
            key: key.name,
            unit: unit(&key.kind),
            default,
            required: default.is_none(),
            minimum,
            maximum,
            description: &key.doc,
        }));
    }
    for key in &section.keys {
        let inner = if path.is_empty() { key.name.to_owned() } else { format!("{path}.{}", key.name) };
        match &key.kind {
            Kind::Table(section) | Kind::OneOf(section) => collect(section, &inner, list),
            Kind::Tables(section) => collect(section, &format!("[{inner}]"), list),
            _ => {}
        }
    }
}

/// The kind of a value, as short text.
fn unit(kind: &Kind) -> String {
    match kind {
        Kind::Quantity(dimension, ..) | Kind::OfLine(dimension, ..) => dimension.noun().into(),
        Kind::Capacity => "size, or frames".into(),
        Kind::Count(..) => "count".into(),
        Kind::Counts(..) | Kind::Weights(..) => "list of counts".into(),
        Kind::Real(..) => "number".into(),
        Kind::Switch => "true or false".into(),
        Kind::Text => "text".into(),
        Kind::Lines => "lines of text".into(),
        Kind::Word(words) => words.iter().map(|w| format!("\"{w}\"")).collect::<Vec<_>>().join(" | "),
        Kind::Location => "location".into(),
        Kind::Names => "names".into(),
        Kind::List => "list of names".into(),
        Kind::Table(section) | Kind::OneOf(section) => {
            let keys: Vec<String> = section.keys.iter().map(|k| format!("{} = {}", k.name, unit(&k.kind))).collect();
            format!("{{ {} }}", keys.join(", "))
        }
        Kind::Parameters(_) => "parameters of schemes".into(),
        Kind::Tables(_) => "tables".into(),
        Kind::Fraction => "fraction".into(),
        Kind::ByPriority(_) => "table by priority".into(),
        Kind::Either(kinds) => kinds.iter().map(unit).collect::<Vec<_>>().join(" | "),
    }
}

fn bounds(kind: &Kind) -> (Option<Json>, Option<Json>) {
    let text = |d: Dimension, x: u64| Some(Json::from(d.write(x)));
    match kind {
        Kind::Quantity(d, low, high) | Kind::OfLine(d, low, high) => (text(*d, *low), text(*d, *high)),
        Kind::Count(low, high) | Kind::Counts(low, high) | Kind::Weights(low, high) => {
            (Some((*low).into()), Some((*high).into()))
        }
        Kind::Real(low, high) => (Some((*low).into()), Some((*high).into())),
        _ => (None, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_closes_its_tables_and_gives_units() {
        let schema = schema();
        assert_eq!(schema["additionalProperties"], false);
        assert_eq!(schema["properties"]["warmup"]["default"], "0 s");
        let pattern = schema["properties"]["duration"]["pattern"].as_str().unwrap();
        assert!(pattern.contains("|ms|us|"), "{pattern}");
        assert_eq!(schema["properties"]["topology"]["properties"]["star"]["required"], json!(["hosts", "link_rate"]));
        let distribution = &schema["properties"]["flow"]["items"]["properties"]["size"]["anyOf"][1];
        assert_eq!((&distribution["type"], &distribution["maxProperties"]), (&json!("object"), &json!(1)));
        let schemes = schema["properties"]["schemes"]["properties"].as_object().unwrap();
        assert_eq!(schemes.len(), penstock_schemes::SCHEMES.len());
    }

    #[test]
    fn the_reference_lists_each_key_once() {
        let reference = reference();
        let list = reference.as_array().unwrap();
        let keys: Vec<String> = list.iter().map(|k| format!("{} {}", k["section"], k["key"])).collect();
        let mut unique = keys.clone();
        unique.sort();
        unique.dedup();
        assert_eq!(unique.len(), keys.len());
        assert!(list.iter().all(|k| !k["description"].as_str().unwrap().is_empty()));
        let wire = list.iter().find(|k| k["key"] == "wire_overhead").unwrap();
        assert_eq!(wire["default"], "\"0 octets\"");
        assert_eq!(wire["section"], "network");
    }
}
