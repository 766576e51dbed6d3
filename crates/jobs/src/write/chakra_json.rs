//! Graphs as Chakra's execution traces in JSON, a file a rank: the object with the list `workload_graph` that
//! [`crate::read::chakra_json`] names first, with the nodes of [`crate::write::chakra`].

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;

use super::WriteError;
use super::trace::{self, TraceNode, Traces, Value};
use crate::graph::Graph;

/// Writes the traces of all ranks.
///
/// # Errors
///
/// Those of [`crate::write::chakra::write`].
pub fn write(graph: &Graph) -> Result<Traces, WriteError> {
    trace::write(graph, encode)
}

/// The file of a rank, a node a line.
fn encode(nodes: &[TraceNode<'_>]) -> Vec<u8> {
    let mut file = String::from("{\"workload_graph\": [");
    for (index, node) in nodes.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        let _ = write!(file, "{comma}\n  {{\"Id\": {}, \"Name\": ", node.id);
        text(&mut file, node.name);
        let (kind, data_deps, runtime) = (node.kind, &node.data_deps, node.duration_us);
        let _ = write!(file, ", \"NodeType\": {kind}, \"ctrlDeps\": [], \"data_deps\": {data_deps:?}");
        let _ = write!(file, ", \"runtime\": {runtime}");
        for (name, value) in &node.attributes {
            let _ = write!(file, ", \"{name}\": ");
            let _ = match value {
                Value::Bool(set) => write!(file, "{set}"),
                Value::Int32(number) => write!(file, "{number}"),
                Value::Uint32(number) => write!(file, "{number}"),
                Value::Int64(number) => write!(file, "{number}"),
                Value::Uint64(number) => write!(file, "{number}"),
                Value::Text(value) => {
                    text(&mut file, value);
                    Ok(())
                }
            };
        }
        file.push('}');
    }
    file.push_str("\n]}\n");
    file.into_bytes()
}

/// Writes a text in quotes.
fn text(into: &mut String, value: &str) {
    into.push('"');
    for letter in value.chars() {
        match letter {
            '"' | '\\' => into.extend(['\\', letter]),
            letter if letter.is_control() => {
                let _ = write!(into, "\\u{:04x}", u32::from(letter));
            }
            letter => into.push(letter),
        }
    }
    into.push('"');
}
