//! Rows of the tables, collected column by column, and the writer that passes them on in blocks.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::cast::AsArray as _;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
    UInt8Array, UInt32Array, UInt64Array,
};
use arrow_buffer::NullBuffer;
use arrow_schema::SchemaRef;
use penstock_results::summary::FlowRow;
use penstock_scenario::GeneratedFlows;
use penstock_sim::metrics_of;

use crate::RunError;
use crate::sink::{Records, Sink};

/// Rows of a block.
pub(crate) const ROWS_PER_BLOCK: usize = 1 << 14;

/// An unfinished table: rows are added one by one and leave in blocks.
#[derive(Debug)]
pub(crate) struct TableWriter<R> {
    schema: SchemaRef,
    rows: R,
    sink: Sink,
}

impl<R: Rows> TableWriter<R> {
    pub(crate) fn new(schema: SchemaRef, rows: R, sink: Sink) -> Self {
        Self { schema, rows, sink }
    }

    /// Adds rows.
    pub(crate) fn write(&mut self, add: impl FnOnce(&mut R)) -> Result<(), RunError> {
        add(&mut self.rows);
        if self.rows.len() < ROWS_PER_BLOCK { Ok(()) } else { self.flush() }
    }

    /// Ends the table. Gives the rows back if they are in memory.
    pub(crate) fn close(mut self) -> Result<Option<Records>, RunError> {
        if self.rows.len() > 0 {
            self.flush()?;
        }
        self.sink.close()
    }

    /// Rows that stay in memory.
    pub(crate) fn rows_kept(&self) -> usize {
        self.sink.rows_kept()
    }

    /// Rows that are held in memory.
    #[cfg(test)]
    pub(crate) fn rows_held(&self) -> usize {
        self.rows.len() + self.sink.rows_held()
    }

    fn flush(&mut self) -> Result<(), RunError> {
        let columns = self.rows.take();
        self.sink.write(RecordBatch::try_new(self.schema.clone(), columns).expect("rows have the table's columns"))
    }
}

/// Rows of one table.
pub(crate) trait Rows {
    /// How many there are.
    fn len(&self) -> usize;
    /// Takes them all, as columns in the table's order.
    fn take(&mut self) -> Vec<ArrayRef>;
}

/// One or more unfinished columns.
trait Columns {
    /// Moves the values out as arrays and begins the next ones.
    fn take(&mut self, out: &mut Vec<ArrayRef>);
}

/// The rows of a block that have no value in some columns.
#[derive(Debug, Default)]
struct Nulls {
    rows: Vec<usize>,
}

impl Nulls {
    /// Those of a block of `rows` rows; none if each has a value.
    fn take(&mut self, rows: usize) -> Option<NullBuffer> {
        if self.rows.is_empty() {
            return None;
        }
        let mut valid = vec![true; rows];
        self.rows.drain(..).for_each(|row| valid[row] = false);
        Some(NullBuffer::from(valid))
    }
}

/// A column of names out of a list that all rows share.
#[derive(Debug)]
pub(crate) struct NameColumn {
    names: ArrayRef,
    keys: Vec<i32>,
    nulls: Nulls,
    /// The names behind those of the list, where there are flows of loads.
    made: Option<MadeNames>,
}

/// Names of the flows of loads. They are too many for a list: a block has those that come up in it.
#[derive(Debug)]
struct MadeNames {
    made: GeneratedFlows,
    /// For each flow of this block the index of its name, and the names.
    places: BTreeMap<usize, usize>,
    names: Vec<String>,
}

impl NameColumn {
    pub(crate) fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        Self {
            names: Arc::new(StringArray::from_iter_values(names)),
            keys: Vec::new(),
            nulls: Nulls::default(),
            made: None,
        }
    }

    /// With the flows of loads behind the list.
    pub(crate) fn and_generated(mut self, made: &GeneratedFlows) -> Self {
        let names = MadeNames { made: made.clone(), places: BTreeMap::new(), names: Vec::new() };
        self.made = (!made.is_empty()).then_some(names);
        self
    }

    /// The index of a name among those of the block.
    fn place(&mut self, index: usize) -> i32 {
        let listed = self.names.len();
        let place = match &mut self.made {
            Some(MadeNames { made, places, names }) if index >= listed => {
                listed
                    + *places.entry(index).or_insert_with(|| {
                        names.push(made.name(index - listed));
                        names.len() - 1
                    })
            }
            _ => index,
        };
        place as i32
    }

    #[inline]
    pub(crate) fn push(&mut self, index: usize) {
        let place = if self.made.is_none() { index as i32 } else { self.place(index) };
        self.keys.push(place);
    }

    pub(crate) fn push_option(&mut self, index: Option<usize>) {
        match index {
            Some(index) => self.push(index),
            None => {
                self.nulls.rows.push(self.keys.len());
                self.keys.push(0);
            }
        }
    }
}

impl Default for NameColumn {
    fn default() -> Self {
        Self::new([])
    }
}

impl Columns for NameColumn {
    fn take(&mut self, out: &mut Vec<ArrayRef>) {
        let names = match &mut self.made {
            Some(own) if !own.names.is_empty() => {
                let listed = self.names.as_string::<i32>().iter().flatten();
                let names = StringArray::from_iter_values(listed.chain(own.names.iter().map(String::as_str)));
                own.places.clear();
                own.names.clear();
                Arc::new(names)
            }
            _ => self.names.clone(),
        };
        let nulls = self.nulls.take(self.keys.len());
        let keys = Int32Array::new(std::mem::take(&mut self.keys).into(), nulls);
        out.push(Arc::new(DictionaryArray::new(keys, names)));
    }
}

/// The columns of a scheme's own variables.
#[derive(Debug, Default)]
pub(crate) struct VarColumns {
    /// A row after the other.
    values: Vec<i64>,
    rows: usize,
    nulls: Nulls,
    row: Vec<i64>,
}

impl VarColumns {
    pub(crate) fn new(count: usize) -> Self {
        Self { row: vec![0; count], ..Self::default() }
    }

    /// Adds the values that `fill` writes; nulls if there is no `fill`.
    pub(crate) fn push(&mut self, fill: Option<impl FnOnce(&mut [i64])>) {
        match fill {
            Some(fill) => fill(&mut self.row),
            None => {
                self.nulls.rows.push(self.rows);
                self.row.fill(0);
            }
        }
        self.rows += 1;
        self.values.extend_from_slice(&self.row);
    }
}

impl Columns for VarColumns {
    fn take(&mut self, out: &mut Vec<ArrayRef>) {
        let nulls = self.nulls.take(std::mem::take(&mut self.rows));
        let count = self.row.len();
        let column = |i: usize| self.values.iter().skip(i).step_by(count).copied().collect::<Vec<i64>>();
        out.extend((0..count).map(|i| Arc::new(Int64Array::new(column(i).into(), nulls.clone())) as ArrayRef));
        self.values.clear();
    }
}

macro_rules! values {
    ($($value:ty: $array:ty),+) => { $(
        impl Columns for Vec<$value> {
            fn take(&mut self, out: &mut Vec<ArrayRef>) {
                // The next block is as long.
                let next = Vec::with_capacity(self.len());
                out.push(Arc::new(<$array>::from(std::mem::replace(self, next))));
            }
        }
    )+ };
}
values!(f64: Float64Array, u64: UInt64Array, u32: UInt32Array, u8: UInt8Array, bool: BooleanArray);

/// A column that only some networks have.
impl<C: Columns> Columns for Option<C> {
    fn take(&mut self, out: &mut Vec<ArrayRef>) {
        if let Some(column) = self {
            column.take(out);
        }
    }
}

/// Declares the rows of a table, columns in the table's order.
macro_rules! rows {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $column:ty),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Default)]
        pub(crate) struct $name { $(pub(crate) $field: $column),+ }

        impl Rows for $name {
            fn len(&self) -> usize {
                self.time_s.len()
            }

            fn take(&mut self) -> Vec<ArrayRef> {
                let mut columns = Vec::new();
                $(Columns::take(&mut self.$field, &mut columns);)+
                columns
            }
        }
    };
}

rows! {
    /// Rows of `queues`.
    QueueRows {
        time_s: Vec<f64>,
        queue: NameColumn,
        priority: Vec<u8>,
        queue_octets: Vec<u64>,
        queue_frames: Vec<u32>,
        utilization: Vec<f64>,
        frames_dropped: Vec<u64>,
        frames_sent: Vec<u64>,
        octets_sent: Vec<u64>,
        frames_marked: Vec<u64>,
        octets_marked: Vec<u64>,
        paused_s: Option<Vec<f64>>,
        vars: VarColumns,
    }
}

rows! {
    /// Rows of `rates`.
    RateRows {
        time_s: Vec<f64>,
        flow: NameColumn,
        rate_bps: Vec<u64>,
        throughput_bps: Vec<f64>,
        fair_rate_bps: Vec<f64>,
        vars: VarColumns,
    }
}

rows! {
    /// Rows of `signals`.
    SignalRows {
        time_s: Vec<f64>,
        flow: NameColumn,
        queue: NameColumn,
        rate_bps: Vec<u64>,
        vars: VarColumns,
    }
}

rows! {
    /// Rows of `arrivals`.
    ArrivalRows {
        time_s: Vec<f64>,
        queue: NameColumn,
        priority: Vec<u8>,
        flow: NameColumn,
        queue_octets: Vec<u64>,
        dropped: Vec<bool>,
    }
}

/// The table `flows`.
pub(crate) fn flow_table(schema: SchemaRef, flows: &[FlowRow]) -> RecordBatch {
    RecordBatch::try_new(schema, flow_columns(flows)).expect("a flow's result has the table's columns")
}

macro_rules! flow_columns {
    (
        ()
        $({ $source:ident $scope:ident $metric:ident: $type:ty, $unit:literal, $text:literal })+
    ) => {
        fn flow_columns(flows: &[FlowRow]) -> Vec<ArrayRef> {
            vec![$(<$type as Cell>::array(flows.iter().map(|flow| &flow.$metric))),+]
        }
    };
}
metrics_of!(flow, table => flow_columns!());

/// A value in a column of a table with a row for each of some objects.
pub(crate) trait Cell {
    /// The column.
    fn array<'a>(values: impl Iterator<Item = &'a Self>) -> ArrayRef
    where
        Self: 'a;
}

macro_rules! cells {
    ($($type:ty: $array:ty),+) => { $(
        impl Cell for $type {
            fn array<'a>(values: impl Iterator<Item = &'a Self>) -> ArrayRef {
                Arc::new(values.cloned().map(Some).collect::<$array>())
            }
        }
    )+ };
}
cells!(u64: UInt64Array, f64: Float64Array, bool: BooleanArray, String: StringArray);

impl Cell for Option<f64> {
    fn array<'a>(values: impl Iterator<Item = &'a Self>) -> ArrayRef {
        Arc::new(values.copied().collect::<Float64Array>())
    }
}

impl Cell for Option<u64> {
    fn array<'a>(values: impl Iterator<Item = &'a Self>) -> ArrayRef {
        Arc::new(values.copied().collect::<UInt64Array>())
    }
}

impl Cell for Option<String> {
    fn array<'a>(values: impl Iterator<Item = &'a Self>) -> ArrayRef {
        Arc::new(values.cloned().collect::<StringArray>())
    }
}

impl Cell for Vec<String> {
    fn array<'a>(values: impl Iterator<Item = &'a Self>) -> ArrayRef {
        let mut lists = ListBuilder::new(StringBuilder::new());
        for texts in values {
            lists.append_value(texts.iter().map(Some));
        }
        Arc::new(lists.finish())
    }
}
