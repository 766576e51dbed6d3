//! The tables of jobs: a row for everything that a rank has ended, and one for each piece of a slowest path.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::SchemaRef;
use penstock_results::jobs::JobRow;
use penstock_results::paths::{LinkRow, PathRow};

use crate::rows::Cell;

/// A column for each of some keys of rows.
macro_rules! columns {
    ($rows:ident; $($key:ident: $type:ty),+) => { vec![$(<$type as Cell>::array($rows.iter().map(|row| &row.$key))),+] };
}

/// A block of the table of paths.
pub(crate) fn path_table(schema: SchemaRef, rows: &[PathRow]) -> RecordBatch {
    let columns: Vec<ArrayRef> = columns!(
        rows;
        job: String,
        iteration: u64,
        work: String,
        node: String,
        rank: u64,
        host: String,
        to_rank: Option<u64>,
        to_host: Option<String>,
        size_octets: Option<u64>,
        begin_s: f64,
        end_s: f64,
        ideal_s: Option<f64>,
        queue_s: Option<f64>,
        pause_s: Option<f64>,
        limited_s: Option<f64>,
        lost_s: Option<f64>,
        host_s: Option<f64>,
        port: Option<String>,
        port_s: Option<f64>
    );
    RecordBatch::try_new(Arc::clone(&schema), columns).expect("a piece has the table's columns")
}

/// A block of the table of links.
pub(crate) fn link_table(schema: SchemaRef, rows: &[LinkRow]) -> RecordBatch {
    let columns: Vec<ArrayRef> = columns!(rows; job: String, port: String, begin_s: f64, end_s: f64);
    RecordBatch::try_new(Arc::clone(&schema), columns).expect("a time has the table's columns")
}

/// A block of the table of jobs.
pub(crate) fn table(schema: SchemaRef, rows: &[JobRow]) -> RecordBatch {
    let columns: Vec<ArrayRef> = columns!(
        rows;
        job: String,
        rank: u64,
        host: String,
        iteration: u64,
        work: String,
        node: Option<String>,
        begin_s: f64,
        end_s: f64,
        after: Option<String>
    );
    RecordBatch::try_new(Arc::clone(&schema), columns).expect("a span has the table's columns")
}
