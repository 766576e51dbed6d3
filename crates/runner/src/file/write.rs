//! Blocks of rows into a Parquet file.

use std::fs::File;
use std::iter;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{ArrowPrimitiveType, Float64Type, Int32Type, Int64Type, UInt8Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray};
use arrow_schema::{DataType, SchemaRef};
use parquet::basic::Compression;
use parquet::data_type::{self as physical, ByteArray};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

use super::{ARROW_SCHEMA, ROWS_PER_GROUP, parquet_columns, schema_text};

/// An unfinished Parquet file. Blocks wait until they fill a row group.
#[derive(Debug)]
pub(crate) struct FileWriter {
    writer: SerializedFileWriter<File>,
    waiting: Vec<RecordBatch>,
    rows: usize,
}

impl FileWriter {
    pub(crate) fn new(file: File, schema: &SchemaRef) -> Result<Self, ParquetError> {
        let root = Type::group_type_builder("arrow_schema").with_fields(parquet_columns(schema)?).build()?;
        let schema = KeyValue::new(ARROW_SCHEMA.to_owned(), schema_text(schema));
        let properties = WriterProperties::builder()
            .set_created_by(concat!("Penstock ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_compression(Compression::SNAPPY)
            .set_key_value_metadata(Some(vec![schema]))
            .build();
        let writer = SerializedFileWriter::new(file, Arc::new(root), Arc::new(properties))?;
        Ok(Self { writer, waiting: Vec::new(), rows: 0 })
    }

    /// Adds rows: the columns of the schema.
    pub(crate) fn write(&mut self, batch: RecordBatch) -> Result<(), ParquetError> {
        self.rows += batch.num_rows();
        self.waiting.push(batch);
        if self.rows < ROWS_PER_GROUP { Ok(()) } else { self.write_group() }
    }

    /// Ends the file and gives it back.
    pub(crate) fn close(mut self) -> Result<File, ParquetError> {
        if self.rows > 0 {
            self.write_group()?;
        }
        self.writer.into_inner()
    }

    /// Rows that are held in memory.
    #[cfg(test)]
    pub(crate) fn rows_held(&self) -> usize {
        self.rows
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        self.rows = 0;
        let batches = std::mem::take(&mut self.waiting);
        let columns = batches.first().map_or(0, RecordBatch::num_columns);
        let mut group = self.writer.next_row_group()?;
        for column in 0..columns {
            let mut writer = group.next_column()?.expect("each column of the schema has one in the file");
            write_column(&mut writer, batches.iter().map(|batch| batch.column(column)))?;
            writer.close()?;
        }
        group.close()?;
        Ok(())
    }
}

/// Writes the blocks of a column.
fn write_column<'a>(
    writer: &mut SerializedColumnWriter<'_>,
    blocks: impl Iterator<Item = &'a ArrayRef>,
) -> Result<(), ParquetError> {
    let mut names = Names::default();
    for block in blocks {
        match block.data_type() {
            DataType::Float64 => primitive::<Float64Type, physical::DoubleType>(writer, block, |value| value)?,
            DataType::UInt64 => primitive::<UInt64Type, physical::Int64Type>(writer, block, u64::cast_signed)?,
            DataType::Int64 => primitive::<Int64Type, physical::Int64Type>(writer, block, |value| value)?,
            DataType::UInt32 => primitive::<UInt32Type, physical::Int32Type>(writer, block, u32::cast_signed)?,
            DataType::UInt8 => primitive::<UInt8Type, physical::Int32Type>(writer, block, i32::from)?,
            DataType::Boolean => write::<physical::BoolType>(writer, block, block.as_boolean().iter())?,
            DataType::Utf8 => write::<physical::ByteArrayType>(writer, block, texts(block.as_string()))?,
            DataType::Dictionary(..) => {
                let block = block.as_dictionary::<Int32Type>();
                let names = names.of(block.values());
                let values = block.keys().iter().map(|key| key.map(|key| names[key as usize].clone()));
                write::<physical::ByteArrayType>(writer, block, values)?;
            }
            DataType::List(_) => lists(writer, block)?,
            other => unreachable!("no table has a column of type {other}"),
        }
    }
    Ok(())
}

/// The names of the last block, made once for all blocks that share them.
#[derive(Default)]
struct Names {
    list: Option<ArrayRef>,
    names: Vec<ByteArray>,
}

impl Names {
    fn of(&mut self, list: &ArrayRef) -> &[ByteArray] {
        if !self.list.as_ref().is_some_and(|known| Arc::ptr_eq(known, list)) {
            self.names = texts(list.as_string()).map(|name| name.expect("a name is a text")).collect();
            self.list = Some(list.clone());
        }
        &self.names
    }
}

fn texts(array: &StringArray) -> impl Iterator<Item = Option<ByteArray>> {
    array.iter().map(|text| text.map(|text| text.as_bytes().to_vec().into()))
}

fn primitive<A: ArrowPrimitiveType, P: physical::DataType>(
    writer: &mut SerializedColumnWriter<'_>,
    block: &ArrayRef,
    convert: impl Fn(A::Native) -> P::T,
) -> Result<(), ParquetError> {
    write::<P>(writer, block, block.as_primitive::<A>().iter().map(|value| value.map(&convert)))
}

/// Writes values, and where the column may lack some, which are there.
fn write<P: physical::DataType>(
    writer: &mut SerializedColumnWriter<'_>,
    block: &dyn Array,
    values: impl Iterator<Item = Option<P::T>>,
) -> Result<(), ParquetError> {
    let writer = writer.typed::<P>();
    let levels: Option<Vec<i16>> = (writer.get_descriptor().max_def_level() > 0)
        .then(|| (0..block.len()).map(|row| i16::from(block.is_valid(row))).collect());
    let values: Vec<P::T> = values.flatten().collect();
    writer.write_batch(&values, levels.as_deref(), None)?;
    Ok(())
}

/// Writes lists of texts. Definition levels, from the largest downwards: a text, a missing text in a list, an empty list, a
/// missing list. The repetition level is 0 for the first text of a list and 1 for the others.
fn lists(writer: &mut SerializedColumnWriter<'_>, block: &ArrayRef) -> Result<(), ParquetError> {
    let writer = writer.typed::<physical::ByteArrayType>();
    let descriptor = writer.get_descriptor();
    let item_optional = i16::from(descriptor.self_type().is_optional());
    let there = descriptor.max_def_level();
    let empty = there - item_optional - 1;
    let (mut values, mut definitions, mut repetitions) = (Vec::new(), Vec::new(), Vec::new());
    for list in block.as_list::<i32>().iter() {
        let texts: Option<Vec<_>> = list.as_ref().map(|list| texts(list.as_string()).collect());
        let length = texts.as_ref().map_or(0, Vec::len);
        repetitions.extend(iter::once(0).chain(iter::repeat_n(1, length.saturating_sub(1))));
        match texts {
            None => definitions.push(empty - 1),
            Some(texts) if texts.is_empty() => definitions.push(empty),
            Some(texts) => {
                definitions.extend(texts.iter().map(|text| there - i16::from(text.is_none())));
                values.extend(texts.into_iter().flatten());
            }
        }
    }
    writer.write_batch(&values, Some(&definitions), Some(&repetitions))?;
    Ok(())
}
