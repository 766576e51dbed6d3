//! Chakra's execution traces in protobuf: a file a rank.
//!
//! Source: `schema/protobuf/et_def.proto` and `src/feeder` of <https://github.com/mlcommons/chakra>; `chakra_nodes`
//! says how nodes are understood. Each message of a file follows its length as a varint. The first is `GlobalMetadata`,
//! all others are nodes, in any order. An encoder leaves zeros out, so that a node without `id` has the number 0.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::chakra_nodes::{self, Attribute, RawNode};
use super::protobuf::{Cursor, Field, Value};
use super::{File, Imported, Options, Place, ReadError};

/// Reads the traces of all ranks, in the order of the ranks.
///
/// # Errors
///
/// A file is cut off, a field has another type than its own, or a node is not understood; with the octet where it
/// begins.
pub fn read(files: &[File<'_>], options: &Options<'_>) -> Result<Imported, ReadError> {
    chakra_nodes::read(files, options, nodes)
}

/// The nodes of a file.
fn nodes(octets: &[u8]) -> Result<Vec<RawNode>, ReadError> {
    let mut file = Cursor::new(octets);
    if file.is_empty() {
        return Err(ReadError::new(
            Place::File,
            "the file is empty; give an execution trace, whose first message is its metadata",
        ));
    }
    metadata(file.delimited()?)?;
    let mut nodes = Vec::new();
    while !file.is_empty() {
        let at = file.at();
        nodes.push(node(file.delimited()?, at)?);
    }
    Ok(nodes)
}

/// Checks that the first message is metadata: a node there would be taken for them, and lost.
fn metadata(mut message: Cursor<'_>) -> Result<(), ReadError> {
    while let Some(field) = message.field()? {
        match (field.number, field.value) {
            (1 | 2, Value::Octets(_)) => {}
            (1..=10, _) => {
                let reason = "the first message is no GlobalMetadata; give a trace of schema 0.0.4 or later";
                return Err(ReadError::new(Place::Octet(field.at), reason));
            }
            _ => {}
        }
    }
    Ok(())
}

fn node(mut message: Cursor<'_>, at: usize) -> Result<RawNode, ReadError> {
    let mut node = RawNode::new(Place::Octet(at));
    while let Some(field) = message.field()? {
        match field.number {
            1 => node.id = number(&field)?,
            2 => node.name = text(&field)?,
            3 => node.kind = number(&field)?,
            4 => numbers(&field, &mut node.ctrl_deps)?,
            5 => numbers(&field, &mut node.data_deps)?,
            6 => {
                number(&field)?;
            }
            7 => node.duration_us = number(&field)?,
            8 => node.inputs = inputs(delimited(&field)?)?,
            9 => {
                delimited(&field)?;
            }
            10 => {
                let (name, value) = attribute(delimited(&field)?)?;
                node.set(&name, value, Place::Octet(field.at))?;
            }
            _ => {}
        }
    }
    Ok(node)
}

fn wrong(field: &Field<'_>) -> ReadError {
    let reason =
        format!("field {} has another wire type than the schema says; give a trace of Chakra's schema", field.number);
    ReadError::new(Place::Octet(field.at), reason)
}

fn number(field: &Field<'_>) -> Result<u64, ReadError> {
    if let Value::Varint(number) = field.value { Ok(number) } else { Err(wrong(field)) }
}

fn delimited<'a>(field: &Field<'a>) -> Result<Cursor<'a>, ReadError> {
    if let Value::Octets(octets) = field.value { Ok(octets) } else { Err(wrong(field)) }
}

fn text(field: &Field<'_>) -> Result<String, ReadError> {
    Ok(String::from_utf8_lossy(delimited(field)?.rest()).into_owned())
}

/// Numbers of a list, one field each or all in one field.
fn numbers(field: &Field<'_>, into: &mut Vec<u64>) -> Result<(), ReadError> {
    let Value::Octets(mut packed) = field.value else {
        into.push(number(field)?);
        return Ok(());
    };
    while !packed.is_empty() {
        into.push(packed.varint()?);
    }
    Ok(())
}

/// The values of a node's inputs, in which a metadata node has its process groups.
fn inputs(mut message: Cursor<'_>) -> Result<String, ReadError> {
    let mut values = String::new();
    while let Some(field) = message.field()? {
        if field.number == 1 {
            values = text(&field)?;
        }
    }
    Ok(values)
}

/// An attribute: its name, and its value of whatever type.
fn attribute(mut message: Cursor<'_>) -> Result<(String, Attribute), ReadError> {
    let (mut name, mut value) = (String::new(), Attribute::Other);
    while let Some(field) = message.field()? {
        value = match (field.number, field.value) {
            (1, _) => {
                name = text(&field)?;
                continue;
            }
            (3, Value::Fixed64(bits)) => Attribute::Real(f64::from_bits(bits)),
            (5, Value::Fixed32(bits)) => Attribute::Real(f64::from(f32::from_bits(bits))),
            (7 | 9, Value::Varint(number)) => Attribute::Whole(i128::from(number.cast_signed())),
            (11 | 13 | 27, Value::Varint(number)) => Attribute::Whole(i128::from(number)),
            // Of sint32 and sint64 the lowest bit is the sign.
            (15 | 17, Value::Varint(number)) => {
                Attribute::Whole(i128::from((number >> 1).cast_signed() ^ -(number & 1).cast_signed()))
            }
            (19, Value::Fixed32(number)) => Attribute::Whole(i128::from(number)),
            (21, Value::Fixed64(number)) => Attribute::Whole(i128::from(number)),
            (23, Value::Fixed32(number)) => Attribute::Whole(i128::from(number.cast_signed())),
            (25, Value::Fixed64(number)) => Attribute::Whole(i128::from(number.cast_signed())),
            (29 | 31, Value::Octets(octets)) => Attribute::Text(String::from_utf8_lossy(octets.rest()).into_owned()),
            (28, Value::Octets(octets)) => Attribute::Bools(bools(octets)?),
            // Lists of other types: no attribute that is read here has one.
            (2 | 4 | 6 | 8 | 10 | 12 | 14 | 16 | 18 | 20 | 22 | 24 | 26 | 30 | 32, Value::Octets(_)) => continue,
            (..=32, _) => return Err(wrong(&field)),
            _ => continue,
        };
    }
    Ok((name, value))
}

fn bools(mut message: Cursor<'_>) -> Result<Vec<bool>, ReadError> {
    let mut found = Vec::new();
    while let Some(field) = message.field()? {
        if field.number == 1 {
            numbers(&field, &mut found)?;
        }
    }
    Ok(found.into_iter().map(|number| number != 0).collect())
}
