//! Graphs as Chakra's execution traces in protobuf, a file a rank; [`crate::read::chakra`] has the source of the
//! format.
//!
//! Nodes of a rank are numbered from 0 in their order. A duration that is no whole number of microseconds is in the
//! attribute `duration_ps`. A delay is a metadata node, with its duration. A group is named by its number, and the
//! members of all groups are a text of JSON, as ASTRA-sim reads it. Algorithms of collectives are left out, and noted.

use alloc::vec::Vec;

use super::WriteError;
pub use super::trace::Traces;
use super::trace::{self, TraceNode, Value};
use crate::graph::Graph;

/// The version of the schema that files state.
const SCHEMA: &str = "1.0.2-chakra.0.0.4";

/// Writes the traces of all ranks.
///
/// # Errors
///
/// A node waits for a start, has a drawn time, a unit beyond 2^30, or is an all-to-all of different sizes. Or an
/// all-gather has octets that its members do not share equally.
pub fn write(graph: &Graph) -> Result<Traces, WriteError> {
    trace::write(graph, encode)
}

/// The file of a rank.
fn encode(nodes: &[TraceNode<'_>]) -> Vec<u8> {
    let (mut file, mut metadata) = (Vec::new(), Vec::new());
    part(&mut metadata, 1, SCHEMA.as_bytes());
    delimited(&mut file, &metadata);
    for node in nodes {
        let (mut message, mut packed) = (Vec::new(), Vec::new());
        node.data_deps.iter().for_each(|&other| varint(&mut packed, other));
        number(&mut message, 1, node.id);
        part(&mut message, 2, node.name.as_bytes());
        number(&mut message, 3, node.kind);
        part(&mut message, 5, &packed);
        number(&mut message, 7, node.duration_us);
        for (name, value) in &node.attributes {
            attribute(&mut message, name, value);
        }
        delimited(&mut file, &message);
    }
    file
}

fn attribute(message: &mut Vec<u8>, name: &str, value: &Value) {
    let mut attribute = Vec::new();
    part(&mut attribute, 1, name.as_bytes());
    // A number with a sign has 64 bits, whatever its type.
    let (field, number) = match *value {
        Value::Bool(set) => (27, u64::from(set)),
        Value::Int32(number) => (7, i64::from(number) as u64),
        Value::Uint32(number) => (11, u64::from(number)),
        Value::Int64(number) => (9, number as u64),
        Value::Uint64(number) => (13, number),
        Value::Text(ref text) => {
            part(&mut attribute, 29, text.as_bytes());
            return part(message, 10, &attribute);
        }
    };
    // A value of a oneof is written even if it is 0: it says which of them is set.
    varint(&mut attribute, field << 3);
    varint(&mut attribute, number);
    part(message, 10, &attribute);
}

fn varint(into: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        into.push(value as u8 | 0x80);
        value >>= 7;
    }
    into.push(value as u8);
}

/// Writes a number; 0 is left out, as protobuf does.
fn number(into: &mut Vec<u8>, field: u64, value: u64) {
    if value > 0 {
        varint(into, field << 3);
        varint(into, value);
    }
}

/// Writes a message, a text or a list inside of another message; an empty one is left out.
fn part(into: &mut Vec<u8>, field: u64, octets: &[u8]) {
    if !octets.is_empty() {
        varint(into, field << 3 | 2);
        delimited(into, octets);
    }
}

fn delimited(into: &mut Vec<u8>, octets: &[u8]) {
    varint(into, octets.len() as u64);
    into.extend_from_slice(octets);
}
