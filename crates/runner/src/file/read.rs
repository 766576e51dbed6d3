//! A Parquet file back into blocks of rows, one a row group.

use std::collections::BTreeMap;
use std::fs::File;
use std::panic;
use std::sync::Arc;

use arrow_array::builder::{Int32Builder, ListBuilder, StringBuilder};
use arrow_array::types::{ArrowPrimitiveType, Float64Type, Int64Type, UInt8Type, UInt32Type, UInt64Type};
use arrow_array::{ArrayRef, BooleanArray, DictionaryArray, PrimitiveArray, RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, DataType, Field, FieldRef};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_typed_column_reader};
use parquet::data_type::{self as physical, ByteArray};
use parquet::errors::ParquetError;
use parquet::file::metadata::FileMetaData;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};

use super::row_runs::Rows;
use super::{ARROW_SCHEMA, parquet_columns, schema_of, search};
use crate::select::Selection;
use crate::sink::Records;

/// Reads a table, or a part of it.
///
/// # Errors
/// If the file is not whole, or has no Arrow schema, or columns that no table has.
pub(crate) fn read(file: File, part: Option<&Selection<'_>>) -> Result<Records, ParquetError> {
    // The crate `parquet` meets some damages with a panic.
    panic::catch_unwind(|| read_groups(file, part)).unwrap_or_else(|_| Err(fault("the file is damaged")))
}

fn read_groups(file: File, part: Option<&Selection<'_>>) -> Result<Records, ParquetError> {
    let reader = SerializedFileReader::new(file)?;
    let metadata = reader.metadata().file_metadata();
    let schema = Arc::new(schema_of(arrow_schema(metadata).ok_or_else(|| fault("it has no Arrow schema"))?)?);
    if metadata.schema().get_fields() != parquet_columns(&schema)? {
        return Err(fault("its columns are not those of its Arrow schema"));
    }
    let arrow = |e: ArrowError| fault(&e.to_string());
    let all = || (0..schema.fields().len()).collect();
    let places: Vec<usize> = part.map_or_else(all, |part| part.places(&schema));
    let schema = Arc::new(schema.project(&places).map_err(arrow)?);
    let mut batches = Vec::new();
    for index in 0..reader.num_row_groups() {
        let group = reader.get_row_group(index)?;
        let rows = usize::try_from(group.metadata().num_rows()).map_err(|_| fault("it has less than no rows"))?;
        let wanted = part.and_then(|part| part.names);
        let named = wanted.and_then(|_| Selection::named(&schema));
        let (rows, mut names) = match (wanted, named) {
            (None, _) => (Rows::all(rows), None),
            (Some(wanted), Some(named)) => named_rows(&*group, places[named], rows, wanted)?,
            (Some(_), None) => (Rows::default(), None),
        };
        let columns = places.iter().zip(schema.fields()).enumerate();
        let columns = columns.map(|(place, (&i, field))| match names.take_if(|_| Some(place) == named) {
            Some(names) => Ok(names),
            None => read_column(field, group.get_column_reader(i)?, &rows),
        });
        let options = RecordBatchOptions::new().with_row_count(Some(rows.count()));
        let batch = RecordBatch::try_new_with_options(schema.clone(), columns.collect::<Result<_, _>>()?, &options);
        batches.push(batch.map_err(arrow)?);
    }
    Ok(Records { schema, batches }.with_one_list_of_names())
}

/// The rows of a row group of `rows` rows that have one of `names` in a column; and their names, if they are known by now.
fn named_rows(
    group: &dyn RowGroupReader,
    column: usize,
    rows: usize,
    names: &[&str],
) -> Result<(Rows, Option<ArrayRef>), ParquetError> {
    if group.metadata().column(column).column_descr().max_def_level() == 0
        && let Some(found) = search::named(group.get_column_page_reader(column)?, rows, names)?
    {
        return Ok((found.rows, Some(found.names)));
    }
    Ok((rows_named(group.get_column_reader(column)?, rows, names)?, None))
}

/// Those of `rows` rows that have one of `names` in a column.
fn rows_named(reader: ColumnReader, rows: usize, names: &[&str]) -> Result<Rows, ParquetError> {
    let all = Rows::all(rows);
    let mut column = Column::<physical::ByteArrayType>::new(reader, &all);
    let mut found = Rows::default();
    let mut passed = 0;
    while column.advance()? {
        for name in column.rows() {
            if name.is_some_and(|name| names.iter().any(|wanted| wanted.as_bytes() == name.data())) {
                found.add(std::mem::take(&mut passed), 1);
            } else {
                passed += 1;
            }
        }
    }
    Ok(found)
}

fn arrow_schema(metadata: &FileMetaData) -> Option<&str> {
    metadata.key_value_metadata()?.iter().find(|entry| entry.key == ARROW_SCHEMA)?.value.as_deref()
}

fn fault(reason: &str) -> ParquetError {
    ParquetError::General(reason.to_owned())
}

/// Rows of a column in one row group.
fn read_column(field: &Field, reader: ColumnReader, rows: &Rows) -> Result<ArrayRef, ParquetError> {
    match field.data_type() {
        DataType::Float64 => primitive::<physical::DoubleType, Float64Type>(reader, rows, Some),
        DataType::UInt64 => primitive::<physical::Int64Type, UInt64Type>(reader, rows, |v| Some(v.cast_unsigned())),
        DataType::Int64 => primitive::<physical::Int64Type, Int64Type>(reader, rows, Some),
        DataType::UInt32 => primitive::<physical::Int32Type, UInt32Type>(reader, rows, |v| Some(v.cast_unsigned())),
        DataType::UInt8 => primitive::<physical::Int32Type, UInt8Type>(reader, rows, |v| u8::try_from(v).ok()),
        DataType::Boolean => {
            let (values, gaps) = values::<physical::BoolType, _>(reader, rows, Some)?;
            Ok(Arc::new(BooleanArray::new(values.into(), gaps.map(Into::into))))
        }
        DataType::Utf8 => {
            let mut texts = StringBuilder::new();
            let mut column = Column::<physical::ByteArrayType>::new(reader, rows);
            while column.advance()? {
                for text in column.rows() {
                    texts.append_option(text.map(|text| text.as_utf8()).transpose()?);
                }
            }
            Ok(Arc::new(texts.finish()))
        }
        DataType::Dictionary(..) => names(reader, rows),
        DataType::List(item) => lists(reader, rows, field, item),
        other => unreachable!("no table has a column of type {other}"),
    }
}

fn primitive<P: physical::DataType, A: ArrowPrimitiveType>(
    reader: ColumnReader,
    rows: &Rows,
    convert: impl Fn(P::T) -> Option<A::Native>,
) -> Result<ArrayRef, ParquetError> {
    let (values, gaps) = values::<P, A::Native>(reader, rows, convert)?;
    Ok(Arc::new(PrimitiveArray::<A>::new(values.into(), gaps.map(Into::into))))
}

/// Values, with a default where a value is missing; for a column that may lack values, also whether each is there.
/// `convert` gives `None` for a value that the column cannot have.
fn values<P: physical::DataType, T: Default>(
    reader: ColumnReader,
    rows: &Rows,
    convert: impl Fn(P::T) -> Option<T>,
) -> Result<(Vec<T>, Option<Vec<bool>>), ParquetError> {
    let (mut values, mut there) = (Vec::new(), Vec::new());
    let mut column = Column::<P>::new(reader, rows);
    while column.advance()? {
        there.extend(column.definitions.iter().map(|&definition| definition > 0));
        for value in column.rows() {
            let value = value.map_or_else(|| Some(T::default()), |value| convert(value.clone()));
            values.push(value.ok_or_else(|| fault("a number does not fit into its column"))?);
        }
    }
    let gaps = (!there.is_empty()).then_some(there);
    Ok((values, gaps))
}

/// Names: a list with each once, and for each row its index in it.
fn names(reader: ColumnReader, rows: &Rows) -> Result<ArrayRef, ParquetError> {
    let mut known = BTreeMap::new();
    let (mut names, mut keys) = (StringBuilder::new(), Int32Builder::new());
    let mut column = Column::<physical::ByteArrayType>::new(reader, rows);
    // Samples list their queues or flows in turn, so that the name behind the last one's is most often the next.
    let (mut list, mut next) = (Vec::<ByteArray>::new(), 0);
    while column.advance()? {
        for name in column.rows() {
            let Some(name) = name else {
                keys.append_null();
                continue;
            };
            let key = if list.get(next).is_some_and(|foreseen| foreseen.data() == name.data()) {
                next
            } else if let Some(&key) = known.get(name.data()) {
                key
            } else {
                names.append_value(name.as_utf8()?);
                known.insert(name.data().to_vec(), list.len());
                list.push(name.clone());
                list.len() - 1
            };
            keys.append_value(key as i32);
            next = if key + 1 < list.len() { key + 1 } else { 0 };
        }
    }
    let names = DictionaryArray::try_new(keys.finish(), Arc::new(names.finish()));
    Ok(Arc::new(names.map_err(|e| fault(&e.to_string()))?))
}

/// Lists of texts; their levels are those that [`super::write`] gives them.
fn lists(reader: ColumnReader, rows: &Rows, field: &Field, item: &FieldRef) -> Result<ArrayRef, ParquetError> {
    let empty = i16::from(field.is_nullable());
    let there = empty + 1 + i16::from(item.is_nullable());
    let mut lists = ListBuilder::new(StringBuilder::new()).with_field(item.clone());
    let mut column = Column::<physical::ByteArrayType>::new(reader, rows);
    // Whether the current list is present; none before the first.
    let mut list = None;
    while column.advance()? {
        let mut texts = column.values.iter();
        for (&definition, &repetition) in column.definitions.iter().zip(&column.repetitions) {
            if repetition == 0 {
                list.into_iter().for_each(|is_there| lists.append(is_there));
                list = Some(definition >= empty);
            }
            if definition > empty {
                let text = if definition == there { texts.next() } else { None };
                lists.values().append_option(text.map(ByteArray::as_utf8).transpose()?);
            }
        }
    }
    list.into_iter().for_each(|is_there| lists.append(is_there));
    Ok(Arc::new(lists.finish()))
}

/// Rows that are read at a time: few enough for a processor's cache.
const ROWS_AT_A_TIME: usize = 1 << 12;

/// A column of one row group on the way in: the values of some rows that are there, and levels where the column has them.
struct Column<'a, P: physical::DataType> {
    reader: ColumnReaderImpl<P>,
    /// Rows of the present run that have not been read, and the runs behind it.
    left: usize,
    behind: std::slice::Iter<'a, (usize, usize)>,
    values: Vec<P::T>,
    definitions: Vec<i16>,
    repetitions: Vec<i16>,
}

impl<'a, P: physical::DataType> Column<'a, P> {
    fn new(reader: ColumnReader, rows: &'a Rows) -> Self {
        let reader = get_typed_column_reader(reader);
        let behind = rows.runs().iter();
        Self { reader, left: 0, behind, values: Vec::new(), definitions: Vec::new(), repetitions: Vec::new() }
    }

    /// Reads the next rows; false if there are no more.
    fn advance(&mut self) -> Result<bool, ParquetError> {
        let Self { reader, left, behind, values, definitions, repetitions } = self;
        values.clear();
        definitions.clear();
        repetitions.clear();
        while *left == 0 {
            let Some(&(passed, taken)) = behind.next() else { return Ok(false) };
            if passed > 0 && reader.skip_records(passed)? != passed {
                return Err(fault(&format!("a column lacks rows behind the first {passed}")));
            }
            *left = taken;
        }
        let most = (*left).min(ROWS_AT_A_TIME);
        let (found, ..) = reader.read_records(most, Some(definitions), Some(repetitions), values)?;
        if found == 0 {
            return Err(fault(&format!("a column lacks {left} rows")));
        }
        *left -= found;
        Ok(true)
    }

    /// These rows, of a column that is no list: `None` where there is no value.
    fn rows(&self) -> impl Iterator<Item = Option<&P::T>> {
        let rows = self.values.len().max(self.definitions.len());
        let mut values = self.values.iter();
        (0..rows).map(move |row| if self.definitions.get(row) == Some(&0) { None } else { values.next() })
    }
}
