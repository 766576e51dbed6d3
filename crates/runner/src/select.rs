//! A part of a table: the rows of some queues or flows, and some columns. Figures draw four queues of fifty thousand; a
//! large table is never whole in memory for that.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int32Type;
use arrow_array::{BooleanArray, DictionaryArray, RecordBatch};
use arrow_schema::{ArrowError, DataType, Schema, SchemaRef};
use arrow_select::filter::filter_record_batch;

/// The part of a table that is asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Selection<'a> {
    /// The columns. Those that the table lacks are left out.
    pub(crate) columns: &'a [&'a str],
    /// Of the first column of names, the names of the rows; of all rows without any.
    pub(crate) names: Option<&'a [&'a str]>,
}

impl Selection<'_> {
    /// The indices of the columns to read: those asked for, and that of the names if rows are selected by them.
    pub(crate) fn places(&self, schema: &Schema) -> Vec<usize> {
        let named = self.names.and_then(|_| Self::named(schema));
        let fields = schema.fields().iter().enumerate();
        let wanted = fields.filter(|(i, field)| Some(*i) == named || self.columns.contains(&field.name().as_str()));
        wanted.map(|(i, _)| i).collect()
    }

    /// The rows of a block that has these columns.
    ///
    /// # Errors
    /// If Arrow cannot take them.
    pub(crate) fn rows(&self, block: &RecordBatch) -> Result<RecordBatch, ArrowError> {
        let Some(names) = self.names else { return Ok(block.clone()) };
        let Some(named) = Self::named(block.schema_ref()) else { return Ok(block.slice(0, 0)) };
        filter_record_batch(block, &has_name(block.column(named).as_dictionary(), names))
    }

    /// Columns and rows of a block of the whole table.
    ///
    /// # Errors
    /// If Arrow cannot take them.
    pub(crate) fn of(&self, block: &RecordBatch) -> Result<RecordBatch, ArrowError> {
        self.rows(&block.project(&self.places(block.schema_ref()))?)
    }

    /// The schema of the columns.
    ///
    /// # Errors
    /// If Arrow refuses it.
    pub(crate) fn schema(&self, schema: &Schema) -> Result<SchemaRef, ArrowError> {
        schema.project(&self.places(schema)).map(Arc::new)
    }

    /// The first column of names.
    pub(crate) fn named(schema: &Schema) -> Option<usize> {
        schema.fields().iter().position(|field| matches!(field.data_type(), DataType::Dictionary(..)))
    }
}

/// Which rows of a column have one of these names.
pub(crate) fn has_name(column: &DictionaryArray<Int32Type>, names: &[impl AsRef<str>]) -> BooleanArray {
    let listed = column.values().as_string::<i32>();
    let wanted: Vec<bool> =
        listed.iter().map(|name| name.is_some_and(|name| names.iter().any(|one| one.as_ref() == name))).collect();
    column.keys().iter().map(|key| Some(key.is_some_and(|key| wanted[key as usize]))).collect()
}
