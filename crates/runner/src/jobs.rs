//! The table of jobs: a row for everything that a rank has ended.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::SchemaRef;
use penstock_results::jobs::JobRow;

use crate::rows::Cell;

/// A block of the table of jobs.
pub(crate) fn table(schema: SchemaRef, rows: &[JobRow]) -> RecordBatch {
    macro_rules! columns {
        ($($key:ident: $type:ty),+) => { vec![$(<$type as Cell>::array(rows.iter().map(|row| &row.$key))),+] };
    }
    let columns: Vec<ArrayRef> = columns!(
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
