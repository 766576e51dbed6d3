//! The table of completions: a row for each finite flow.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::SchemaRef;
use penstock_results::completions::{Completion, CompletionRow};
use penstock_scenario::Plan;

use crate::rows::Cell;

/// A block of the table of completions.
pub(crate) fn table(schema: SchemaRef, plan: &Plan, completions: &[Completion]) -> RecordBatch {
    let rows: Vec<CompletionRow> = completions.iter().map(|completion| completion.row(plan)).collect();
    macro_rules! columns {
        ($($key:ident: $type:ty),+) => { vec![$(<$type as Cell>::array(rows.iter().map(|row| &row.$key))),+] };
    }
    let columns: Vec<ArrayRef> = columns!(
        flow: String,
        group: String,
        source: String,
        destinations: Vec<String>,
        size_octets: u64,
        start_s: Option<f64>,
        end_s: Option<f64>,
        acked_s: Option<f64>,
        ideal_s: f64,
        ideal_acked_s: Option<f64>,
        slowdown: Option<f64>,
        retransmissions: u64,
        timeouts: u64
    );
    RecordBatch::try_new(Arc::clone(&schema), columns).expect("a completion has the table's columns")
}
