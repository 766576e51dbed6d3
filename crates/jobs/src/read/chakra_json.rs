//! Chakra's execution traces in JSON: a file a rank, in either of two forms.
//!
//! - An object with the list `workload_graph`, as `src/feeder/json_node.cpp` of
//!   <https://github.com/mlcommons/chakra> reads it: `Id`, `Name`, `NodeType`, `data_deps`, `ctrlDeps`, `runtime` (us),
//!   attributes beside them.
//! - What `src/jsonizer/jsonizer.py` there writes: the metadata, then nodes, one object after another, in protobuf's
//!   JSON: `id`, `type`, `dataDeps`, `durationMicros`, and a list `attr` of `name` and a value such as `int64Val`.
//!
//! Files spell keys in both ways, so that capitals and underscores make no difference here.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::chakra_nodes::{self, Attribute, COLLECTIVES, KINDS, RawNode};
use super::json::{self, Json, Value};
use super::{File, Imported, Options, Place, ReadError, shown};

/// Reads the traces of all ranks, in the order of the ranks.
///
/// # Errors
///
/// A file is no JSON, a value is none of its key, or a node is not understood; with the octet where it begins.
pub fn read(files: &[File<'_>], options: &Options<'_>) -> Result<Imported, ReadError> {
    chakra_nodes::read(files, options, nodes)
}

/// The nodes of a file.
fn nodes(octets: &[u8]) -> Result<Vec<RawNode>, ReadError> {
    let values = json::parse(octets)?;
    if let [Json { value: Value::Object(entries), .. }] = &values[..]
        && let Some(graph) = entries.get("workload_graph")
    {
        let Value::List(nodes) = &graph.value else {
            return Err(ReadError::new(
                Place::Octet(graph.at),
                "workload_graph is no list; write its nodes in [ and ]",
            ));
        };
        return nodes.iter().map(node).collect();
    }
    // The first object has the metadata, which may be empty.
    let (first, nodes) = values.split_first().ok_or_else(|| ReadError::new(Place::File, "the file has no value"))?;
    match &first.value {
        Value::Object(entries) if !entries.contains_key("type") && !entries.contains_key("NodeType") => {
            nodes.iter().map(node).collect()
        }
        _ => Err(ReadError::new(
            Place::Octet(first.at),
            "neither a workload_graph nor metadata; write {\"workload_graph\": [nodes]}",
        )),
    }
}

fn node(json: &Json) -> Result<RawNode, ReadError> {
    let place = Place::Octet(json.at);
    let Value::Object(entries) = &json.value else {
        return Err(ReadError::new(place, "a node is due here; write an object in { and }"));
    };
    let mut node = RawNode::new(place);
    for (key, value) in entries {
        let plain: String =
            key.chars().filter(|&letter| letter != '_').map(|letter| letter.to_ascii_lowercase()).collect();
        match plain.as_str() {
            "id" => node.id = whole(value, key)?,
            "name" => node.name = if let Value::Text(name) = &value.value { name.clone() } else { String::new() },
            "nodetype" | "type" => node.kind = named(value, key, &KINDS)?,
            "ctrldeps" => node.ctrl_deps = list(value, key)?,
            "datadeps" => node.data_deps = list(value, key)?,
            "runtime" | "durationmicros" => node.duration_us = whole(value, key)?,
            "inputs" => {
                if let Value::Object(inputs) = &value.value
                    && let Some(Json { value: Value::Text(values), .. }) = inputs.get("values")
                {
                    node.inputs.clone_from(values);
                }
            }
            "attr" => attributes(value, &mut node)?,
            _ => node.set(key, attribute(key, value)?, Place::Octet(value.at))?,
        }
    }
    Ok(node)
}

/// The list `attr`: objects of a name and a value, whose key is that of its type.
fn attributes(json: &Json, node: &mut RawNode) -> Result<(), ReadError> {
    let Value::List(entries) = &json.value else {
        return Err(ReadError::new(Place::Octet(json.at), "attr is no list; write its attributes in [ and ]"));
    };
    for entry in entries {
        let place = Place::Octet(entry.at);
        let Value::Object(parts) = &entry.value else {
            return Err(ReadError::new(place, "an attribute is due here; write an object in { and }"));
        };
        let Some(Json { value: Value::Text(name), .. }) = parts.get("name") else {
            return Err(ReadError::new(place, "the attribute has no name; write one"));
        };
        let value = parts.iter().find(|(key, _)| key.ends_with("Val") || key.ends_with("List"));
        let value = value.map_or(Ok(Attribute::Other), |(_, value)| attribute(name, value))?;
        node.set(name, value, place)?;
    }
    Ok(())
}

fn attribute(key: &str, json: &Json) -> Result<Attribute, ReadError> {
    Ok(match &json.value {
        Value::Bool(set) => Attribute::Whole(i128::from(*set)),
        Value::Number(number) => match (number.parse(), number.parse()) {
            (Ok(whole), _) => Attribute::Whole(whole),
            (_, Ok(real)) => Attribute::Real(real),
            _ => return Err(not(json, key, "a number")),
        },
        // Protobuf's JSON has numbers of 64 bits as texts. A group keeps its text: its name may be a number.
        Value::Text(text) if key == "comm_type" && text.parse::<i128>().is_err() => {
            Attribute::Whole(i128::from(named(json, key, &COLLECTIVES)?))
        }
        Value::Text(text) => match text.parse() {
            Ok(whole) if key != "pg_name" => Attribute::Whole(whole),
            _ => Attribute::Text(text.clone()),
        },
        Value::List(entries) => bools(entries),
        Value::Object(parts) => match parts.get("values") {
            Some(Json { value: Value::List(entries), .. }) => bools(entries),
            _ => Attribute::Other,
        },
        Value::Null => Attribute::Other,
    })
}

fn bools(entries: &[Json]) -> Attribute {
    let each = entries.iter().map(|entry| if let Value::Bool(set) = entry.value { Some(set) } else { None });
    each.collect::<Option<Vec<bool>>>().map_or(Attribute::Other, Attribute::Bools)
}

fn not(json: &Json, key: &str, what: &str) -> ReadError {
    ReadError::new(Place::Octet(json.at), format!("{:?} is not {what}; write one", shown(key.as_bytes())))
}

/// A whole number, or a text of one.
fn whole(json: &Json, key: &str) -> Result<u64, ReadError> {
    let number = if let Value::Number(text) | Value::Text(text) = &json.value { text.parse().ok() } else { None };
    number.ok_or_else(|| not(json, key, "a whole number of 0 or more"))
}

/// A number, or the name that stands for it.
fn named(json: &Json, key: &str, names: &[&str]) -> Result<u64, ReadError> {
    if let Value::Text(text) = &json.value
        && let Some(number) = names.iter().position(|name| name == text)
    {
        return Ok(number as u64);
    }
    whole(json, key).map_err(|_| not(json, key, &format!("a number, or one of {}", names.join(", "))))
}

fn list(json: &Json, key: &str) -> Result<Vec<u64>, ReadError> {
    let Value::List(entries) = &json.value else {
        return Err(not(json, key, "a list of nodes' numbers"));
    };
    entries.iter().map(|entry| whole(entry, key)).collect()
}
