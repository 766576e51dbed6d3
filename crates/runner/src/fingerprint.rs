//! A short number for a whole result, to see that nothing has changed.

use std::fmt;
use std::hash::Hasher as _;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, UInt8Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use penstock_results::Summary;
use penstock_results::summary::RunSummary;
use twox_hash::XxHash64;

use crate::{Run, RunError};

/// XXH64 of a result: of every column's name and values, and of the summary. Its `run` object is left out, and so are the counts
/// of actions and the notes, which follow from the rest and the scenario. The fingerprint is the same for the same scenario and
/// seed on every machine, whether the result is in memory or was read from a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint(pub u64);

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// The fingerprint of `run`.
///
/// # Errors
/// If a table cannot be read from the results folder.
pub fn fingerprint(run: &Run) -> Result<Fingerprint, RunError> {
    let mut hasher = XxHash64::with_seed(0);
    let same_everywhere =
        Summary { run: RunSummary::default(), acted: None, actions: None, notes: Vec::new(), ..run.summary.clone() };
    text(&mut hasher, &same_everywhere.to_json());
    for table in run.tables() {
        let records = run.table(table)?;
        text(&mut hasher, table.name());
        for (i, field) in records.schema.fields().iter().enumerate() {
            text(&mut hasher, field.name());
            // Where blocks begin says nothing about the result, so columns are read across them.
            for batch in &records.batches {
                values(&mut hasher, batch.column(i));
            }
        }
    }
    Ok(Fingerprint(hasher.finish()))
}

fn text(hasher: &mut XxHash64, text: &str) {
    hasher.write(&(text.len() as u64).to_le_bytes());
    hasher.write(text.as_bytes());
}

fn values(hasher: &mut XxHash64, column: &ArrayRef) {
    for row in 0..column.len() {
        hasher.write(&[u8::from(column.is_valid(row))]);
        if column.is_valid(row) {
            value(hasher, column, row);
        }
    }
}

fn value(hasher: &mut XxHash64, column: &ArrayRef, row: usize) {
    match column.data_type() {
        DataType::Float64 => hasher.write(&column.as_primitive::<Float64Type>().value(row).to_bits().to_le_bytes()),
        DataType::UInt64 => hasher.write(&column.as_primitive::<UInt64Type>().value(row).to_le_bytes()),
        DataType::UInt32 => hasher.write(&column.as_primitive::<UInt32Type>().value(row).to_le_bytes()),
        DataType::UInt8 => hasher.write(&[column.as_primitive::<UInt8Type>().value(row)]),
        DataType::Int64 => hasher.write(&column.as_primitive::<Int64Type>().value(row).to_le_bytes()),
        DataType::Boolean => hasher.write(&[u8::from(column.as_boolean().value(row))]),
        DataType::Utf8 => text(hasher, column.as_string::<i32>().value(row)),
        DataType::List(_) => {
            let list = column.as_list::<i32>().value(row);
            hasher.write(&(list.len() as u64).to_le_bytes());
            values(hasher, &list);
        }
        DataType::Dictionary(..) => {
            let names = column.as_dictionary::<Int32Type>();
            value(hasher, names.values(), names.keys().value(row) as usize);
        }
        other => unreachable!("no table has a column of type {other}"),
    }
}
