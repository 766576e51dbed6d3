//! Where full blocks of rows go: into a Parquet file, or into memory where there is no folder.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray as _;
use arrow_array::types::Int32Type;
use arrow_array::{Array as _, ArrayRef, DictionaryArray, RecordBatch};
use arrow_schema::{DataType, SchemaRef};

use crate::RunError;
use crate::file::{self, FileWriter};
use crate::folder::Folder;
use crate::select::Selection;
use crate::tables::Table;

/// The rows of one table.
#[derive(Debug, Clone)]
pub struct Records {
    /// Columns, with their units and descriptions as field metadata.
    pub schema: SchemaRef,
    /// Rows, in order.
    pub batches: Vec<RecordBatch>,
}

impl Records {
    /// A part of them.
    pub(crate) fn selected(&self, selection: &Selection<'_>) -> Self {
        let schema = selection.schema(&self.schema).expect("columns of a schema are one");
        let batches = self.batches.iter().map(|block| selection.of(block).expect("rows of a block are there"));
        Self { schema, batches: batches.collect() }
    }

    /// Columns and blocks of rows, with one list of names for all blocks.
    pub(crate) fn of((schema, batches): (SchemaRef, Vec<RecordBatch>)) -> Self {
        Self { schema, batches }.with_one_list_of_names()
    }

    /// The same rows with one list of names for all blocks of a column. Blocks that follow one another each have the names that
    /// come up in them; put together as they are, they would list names several times, which some libraries refuse.
    pub(crate) fn with_one_list_of_names(self) -> Self {
        let Self { schema, mut batches } = self;
        for (i, field) in schema.fields().iter().enumerate() {
            if matches!(field.data_type(), DataType::Dictionary(..)) {
                share_names(&mut batches, i);
            }
        }
        Self { schema, batches }
    }
}

/// Gives a column of names one list in all blocks.
fn share_names(batches: &mut [RecordBatch], column: usize) {
    let names = |batch: &RecordBatch| batch.column(column).as_dictionary::<Int32Type>().clone();
    let lists = || batches.iter().map(names);
    if lists().zip(lists().skip(1)).all(|(one, next)| Arc::ptr_eq(one.values(), next.values())) {
        return;
    }
    let (mut shared, mut places) = (StringBuilder::new(), BTreeMap::<String, i32>::new());
    let mut keys = Vec::with_capacity(batches.len());
    for block in lists() {
        let own = block.values().as_string::<i32>();
        let moved: Vec<i32> = (0..own.len())
            .map(|i| {
                let (next, name) = (places.len() as i32, own.value(i));
                *places.entry(name.to_owned()).or_insert_with(|| {
                    shared.append_value(name);
                    next
                })
            })
            .collect();
        keys.push(block.keys().unary::<_, Int32Type>(|key| moved.get(key as usize).copied().unwrap_or(0)));
    }
    let shared: ArrayRef = Arc::new(shared.finish());
    for (batch, keys) in batches.iter_mut().zip(keys) {
        let mut columns = batch.columns().to_vec();
        columns[column] = Arc::new(DictionaryArray::new(keys, shared.clone()));
        *batch = RecordBatch::try_new(batch.schema(), columns).expect("rows keep their columns");
    }
}

/// Takes blocks of one table.
#[derive(Debug)]
pub(crate) enum Sink {
    Memory(Records),
    // Boxed: a writer is some hundreds of octets, and tables are moved about.
    File { path: PathBuf, writer: Box<FileWriter> },
}

impl Sink {
    /// Takes rows of `table` into its file in `folder`, or into memory.
    pub(crate) fn new(table: Table, schema: SchemaRef, folder: Option<&Folder>) -> Result<Self, RunError> {
        let Some(folder) = folder else { return Ok(Self::Memory(Records { schema, batches: Vec::new() })) };
        let path = folder.file(&table.file_name());
        let file = File::create_new(&path).map_err(RunError::io(&path, "make the file"))?;
        let writer = FileWriter::new(file, &schema).map_err(|e| RunError::table(&path, e))?;
        Ok(Self::File { path, writer: Box::new(writer) })
    }

    pub(crate) fn write(&mut self, batch: RecordBatch) -> Result<(), RunError> {
        match self {
            Self::Memory(records) => records.batches.push(batch),
            Self::File { path, writer } => writer.write(&batch).map_err(|e| RunError::table(path, e))?,
        }
        Ok(())
    }

    /// Ends the table. Gives the rows back if they are in memory.
    pub(crate) fn close(self) -> Result<Option<Records>, RunError> {
        match self {
            Self::Memory(records) => Ok(Some(records.with_one_list_of_names())),
            Self::File { path, writer } => {
                let file = writer.close().map_err(|e| RunError::table(&path, e))?;
                file.sync_all().map_err(RunError::io(&path, "write"))?;
                Ok(None)
            }
        }
    }

    /// Rows that stay in memory.
    pub(crate) fn rows_kept(&self) -> usize {
        match self {
            Self::Memory(records) => records.batches.iter().map(RecordBatch::num_rows).sum(),
            Self::File { .. } => 0,
        }
    }

    /// Rows that are held in memory.
    #[cfg(test)]
    pub(crate) fn rows_held(&self) -> usize {
        match self {
            Self::Memory(records) => records.batches.iter().map(RecordBatch::num_rows).sum(),
            Self::File { writer, .. } => writer.rows_held(),
        }
    }
}

/// Reads a table back, or a part of it.
pub(crate) fn read(path: &Path, part: Option<&Selection<'_>>) -> Result<Records, RunError> {
    let file = File::open(path).map_err(RunError::io(path, "open"))?;
    file::read(file, part).map(Records::of).map_err(|e| RunError::table(path, e))
}
