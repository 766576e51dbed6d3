//! Tables as Parquet files: Arrow's columns to Parquet's and back, for the few types that tables have.
//!
//! The crate `parquet` does the same for every type of Arrow if its feature `arrow` is on, and then takes three times as long
//! to build. Here only its columns are used. A file is the same in kind: flat columns, levels where values may be
//! missing, and the Arrow schema under Arrow's own key, so that every reader finds names, units and descriptions.

mod read;
mod row_runs;
mod search;
mod write;

use std::sync::Arc;

use arrow_ipc::convert::try_schema_from_ipc_buffer;
use arrow_ipc::writer::{DictionaryTracker, IpcDataGenerator, IpcWriteOptions};
use arrow_schema::{DataType, Field, Schema};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::errors::ParquetError;
use parquet::schema::types::{Type, TypePtr};

pub(crate) use read::read;
pub(crate) use write::FileWriter;

/// Rows of a row group: the most that a writer holds in memory.
pub(crate) const ROWS_PER_GROUP: usize = 1 << 17;

/// The reason of an error, without the crate's preface to general errors.
pub(crate) fn reason(error: ParquetError) -> String {
    if let ParquetError::General(reason) = error { reason } else { error.to_string() }
}

/// The key under which a Parquet file has its Arrow schema.
const ARROW_SCHEMA: &str = "ARROW:schema";

/// The Parquet columns of a table.
///
/// # Errors
/// If a column has a type that no table has.
fn parquet_columns(schema: &Schema) -> Result<Vec<TypePtr>, ParquetError> {
    schema.fields().iter().map(|field| parquet_column(field).map(Arc::new)).collect()
}

fn parquet_column(field: &Field) -> Result<Type, ParquetError> {
    let logical = |bits| Some(LogicalType::integer(bits, false));
    let (physical, logical) = match field.data_type() {
        DataType::Float64 => (Physical::DOUBLE, None),
        DataType::UInt64 => (Physical::INT64, logical(64)),
        DataType::Int64 => (Physical::INT64, None),
        DataType::UInt32 => (Physical::INT32, logical(32)),
        DataType::UInt8 => (Physical::INT32, logical(8)),
        DataType::Boolean => (Physical::BOOLEAN, None),
        DataType::Utf8 => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        of_names if is_names(of_names) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        DataType::List(item) if *item.data_type() == DataType::Utf8 => {
            let items = Type::group_type_builder("list")
                .with_repetition(Repetition::REPEATED)
                .with_fields(vec![Arc::new(parquet_column(item)?)])
                .build()?;
            return Type::group_type_builder(field.name())
                .with_repetition(repetition(field))
                .with_logical_type(Some(LogicalType::List))
                .with_fields(vec![Arc::new(items)])
                .build();
        }
        other => {
            let reason = format!("column {}: no table has a column of type {other}", field.name());
            return Err(ParquetError::General(reason));
        }
    };
    Type::primitive_type_builder(field.name(), physical)
        .with_repetition(repetition(field))
        .with_logical_type(logical)
        .build()
}

fn repetition(field: &Field) -> Repetition {
    if field.is_nullable() { Repetition::OPTIONAL } else { Repetition::REQUIRED }
}

/// Whether a column holds names out of a list that its rows share.
fn is_names(data_type: &DataType) -> bool {
    let DataType::Dictionary(keys, names) = data_type else { return false };
    (keys.as_ref(), names.as_ref()) == (&DataType::Int32, &DataType::Utf8)
}

/// An Arrow schema as a text: base64 of Arrow's message, behind a mark and its length.
fn schema_text(schema: &Schema) -> String {
    let (mut tracker, options) = (DictionaryTracker::new(true), IpcWriteOptions::default());
    let encoded = IpcDataGenerator::default().schema_to_bytes_with_dictionary_tracker(schema, &mut tracker, &options);
    let length = u32::try_from(encoded.ipc_message.len()).expect("a schema takes less than 4 GiB");
    let message = [&[0xff; 4][..], &length.to_le_bytes(), &encoded.ipc_message].concat();
    BASE64_STANDARD.encode(message)
}

/// The Arrow schema of such a text.
fn schema_of(text: &str) -> Result<Schema, ParquetError> {
    let refused = |reason: String| ParquetError::General(format!("its Arrow schema cannot be read: {reason}"));
    let message = BASE64_STANDARD.decode(text).map_err(|e| refused(e.to_string()))?;
    try_schema_from_ipc_buffer(&message).map_err(|e| refused(e.to_string()))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::path::Path;

    use arrow_array::builder::{Int32Builder, ListBuilder, StringBuilder};
    use arrow_array::cast::AsArray as _;
    use arrow_array::types::Int32Type;
    use arrow_array::{
        Array as _, ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, Int64Array, RecordBatch,
        StringArray, UInt8Array, UInt32Array, UInt64Array,
    };
    use arrow_schema::SchemaRef;
    use parquet::arrow::ArrowWriter;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use parquet::file::properties::{WriterProperties, WriterVersion};
    use parquet::file::reader::{FileReader as _, SerializedFileReader};

    use super::*;
    use crate::select::Selection;
    use crate::sink::Records;

    /// Three rows of every type that a column may have; in columns that may lack values, the second lacks one.
    fn all_types() -> RecordBatch {
        let names: ArrayRef = Arc::new(StringArray::from(vec!["h0", "h1->sw0", ""]));
        let keys = |keys: [Option<i32>; 3]| {
            let mut builder = Int32Builder::new();
            keys.into_iter().for_each(|key| builder.append_option(key));
            Arc::new(DictionaryArray::new(builder.finish(), names.clone()))
        };
        let lists = |missing: bool| {
            let mut lists = ListBuilder::new(StringBuilder::new());
            lists.append_value([Some("a"), None, Some("ü")]);
            lists.append_option((!missing).then_some([] as [Option<&str>; 0]));
            lists.append_value([] as [Option<&str>; 0]);
            Arc::new(lists.finish())
        };
        let columns: [(ArrayRef, ArrayRef); 9] = [
            (
                Arc::new(Float64Array::from(vec![-0.0, f64::INFINITY, 5e-324])),
                Arc::new(Float64Array::from(vec![Some(f64::MAX), None, Some(-1.5)])),
            ),
            (
                Arc::new(UInt64Array::from(vec![0, u64::MAX, 1 << 63])),
                Arc::new(UInt64Array::from(vec![Some(u64::MAX), None, Some(7)])),
            ),
            (
                Arc::new(Int64Array::from(vec![0, i64::MIN, i64::MAX])),
                Arc::new(Int64Array::from(vec![Some(-1), None, Some(7)])),
            ),
            (
                Arc::new(UInt32Array::from(vec![0, u32::MAX, 1 << 31])),
                Arc::new(UInt32Array::from(vec![Some(u32::MAX), None, Some(7)])),
            ),
            (Arc::new(UInt8Array::from(vec![0, 255, 128])), Arc::new(UInt8Array::from(vec![Some(255), None, Some(7)]))),
            (
                Arc::new(BooleanArray::from(vec![true, false, true])),
                Arc::new(BooleanArray::from(vec![Some(false), None, Some(true)])),
            ),
            (
                Arc::new(StringArray::from(vec!["", "one", "zwölf"])),
                Arc::new(StringArray::from(vec![Some("one"), None, Some("")])),
            ),
            (keys([Some(2), Some(0), Some(1)]), keys([Some(1), None, Some(1)])),
            (lists(false), lists(true)),
        ];
        let mut fields = Vec::new();
        let mut arrays = Vec::new();
        for (i, (full, with_gap)) in columns.into_iter().enumerate() {
            let metadata = [("unit".to_owned(), "s".to_owned()), ("description".to_owned(), "Time.".to_owned())];
            let field = Field::new(format!("full_{i}"), full.data_type().clone(), false);
            fields.push(field.with_metadata(metadata.into_iter().collect::<arrow_schema::Metadata>()));
            fields.push(Field::new(format!("with_gap_{i}"), with_gap.data_type().clone(), true));
            arrays.extend([full, with_gap]);
        }
        RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap()
    }

    fn written(path: &Path, schema: &SchemaRef, batches: &[RecordBatch]) {
        let mut writer = FileWriter::new(File::create(path).unwrap(), schema).unwrap();
        for batch in batches {
            writer.write(batch.clone()).unwrap();
        }
        writer.close().unwrap();
    }

    fn read_at(path: &Path) -> Result<Records, ParquetError> {
        read(File::open(path).unwrap(), None)
    }

    /// The same file, read by the crate's own reader of Arrow tables.
    fn read_by_arrow(path: &Path) -> Records {
        let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
        let schema = builder.schema().clone();
        Records { schema, batches: builder.build().unwrap().map(Result::unwrap).collect() }
    }

    #[test]
    fn every_type_is_read_back_here_and_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        let (path, table) = (folder.path().join("all.parquet"), all_types());
        written(&path, &table.schema(), &[table.slice(0, 2), table.slice(2, 1)]);
        for records in [read_at(&path).unwrap(), read_by_arrow(&path)] {
            assert_eq!(records.schema, table.schema());
            assert_eq!(records.batches, std::slice::from_ref(&table));
        }
    }

    #[test]
    fn a_table_of_the_crates_own_writer_of_arrow_tables_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let (path, table) = (folder.path().join("all.parquet"), all_types());
        let mut writer = ArrowWriter::try_new(File::create(&path).unwrap(), table.schema(), None).unwrap();
        writer.write(&table).unwrap();
        writer.close().unwrap();
        let records = read_at(&path).unwrap();
        assert_eq!((records.schema, records.batches), (table.schema(), vec![table]));
    }

    #[test]
    fn a_row_group_has_the_rows_that_it_may_hold_and_an_empty_table_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("long.parquet");
        let schema = Arc::new(Schema::new(vec![Field::new("count", DataType::UInt64, false)]));
        let block = |first: u64| -> RecordBatch {
            let counts = UInt64Array::from_iter_values(first..first + (1 << 14));
            RecordBatch::try_new(schema.clone(), vec![Arc::new(counts)]).unwrap()
        };
        let blocks: Vec<_> = (0..9).map(|i| block(i << 14)).collect();
        written(&path, &schema, &blocks);
        let file = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
        let rows: Vec<_> = file.metadata().row_groups().iter().map(|group| group.num_rows()).collect();
        assert_eq!(rows, [1 << 17, 1 << 14]);
        let counts: Vec<u64> = read_at(&path)
            .unwrap()
            .batches
            .iter()
            .flat_map(|batch| batch.column(0).to_data().buffer::<u64>(0).to_vec())
            .collect();
        assert!(counts.iter().copied().eq(0..9 << 14));

        written(&path, &schema, &[]);
        let empty = read_at(&path).unwrap();
        assert_eq!((empty.schema, empty.batches), (schema, vec![]));
    }

    fn texts(column: &DictionaryArray<Int32Type>) -> Vec<Option<&str>> {
        let names = column.values().as_string::<i32>();
        column.keys().iter().map(|key| key.map(|key| names.value(key as usize))).collect()
    }

    /// The rows of two groups name h1 and h0, and h2 and h0: all blocks that are read share one list, each name once.
    #[test]
    fn all_row_groups_share_one_list_of_names() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("long.parquet");
        let field = Field::new("queue", all_types().column(14).data_type().clone(), true);
        let schema = Arc::new(Schema::new(vec![field]));
        let block = |names: [Option<&str>; 3]| {
            let column: DictionaryArray<Int32Type> = names.into_iter().cycle().take(ROWS_PER_GROUP).collect();
            RecordBatch::try_new(schema.clone(), vec![Arc::new(column)]).unwrap()
        };
        written(&path, &schema, &[block([Some("h1"), Some("h0"), None]), block([Some("h2"), Some("h0"), Some("h0")])]);
        let found = read_at(&path).unwrap().batches;
        let columns: Vec<&DictionaryArray<Int32Type>> =
            found.iter().map(|batch| batch.column(0).as_dictionary()).collect();
        assert_eq!(columns.len(), 2);
        for column in &columns {
            let names: Vec<_> = column.values().as_string::<i32>().iter().flatten().collect();
            assert_eq!(names, ["h1", "h0", "h2"]);
        }
        assert_eq!(texts(columns[0])[..3], [Some("h1"), Some("h0"), None]);
        assert_eq!(texts(columns[1])[..3], [Some("h2"), Some("h0"), Some("h0")]);
    }

    /// Some rows are read as if all had been read first: those of names that come in any order, of every type.
    #[test]
    fn a_part_is_that_of_the_whole() {
        let folder = tempfile::tempdir().unwrap();
        let (path, table) = (folder.path().join("long.parquet"), all_types());
        // The names of the first column of names, row by row, in two row groups.
        let places = (0..ROWS_PER_GROUP as u64 + 5000).map(|row| row * row % 11 * (row % 7) % 3);
        let rows = arrow_array::UInt32Array::from_iter_values(places.map(|place| place as u32));
        let long = arrow_select::take::take_record_batch(&table, &rows).unwrap();
        written(&path, &table.schema(), &[long.slice(0, ROWS_PER_GROUP), long.slice(ROWS_PER_GROUP, 5000)]);
        let whole = read_at(&path).unwrap();
        assert_eq!(whole.batches.len(), 2);
        let columns: Vec<String> = table.schema().fields().iter().map(|field| field.name().clone()).collect();
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        for names in [&["h0"][..], &["", "h1->sw0"], &["h0", "", "h1->sw0"], &["nobody"], &[]] {
            let part = Selection { columns: &columns, names: Some(names) };
            let found = read(File::open(&path).unwrap(), Some(&part)).unwrap();
            let mut rows = 0;
            for (block, whole) in found.batches.iter().zip(&whole.batches) {
                let expected = part.rows(whole).unwrap();
                rows += expected.num_rows();
                for (found, expected) in block.columns().iter().zip(expected.columns()) {
                    match expected.as_dictionary_opt::<Int32Type>() {
                        // A list of names has those that are there.
                        Some(expected) => assert_eq!(texts(found.as_dictionary()), texts(expected), "{names:?}"),
                        None => assert_eq!(found, expected, "{names:?}"),
                    }
                }
            }
            assert_eq!(found.batches.iter().map(RecordBatch::num_rows).sum::<usize>(), rows);
            assert_eq!(rows > 0, names.iter().any(|name| *name != "nobody"), "{names:?}");
        }
    }

    /// Names are found whether a file has them once and a number a row, or in full, or in part so, and whether some are missing.
    #[test]
    fn names_are_found_however_they_are_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("long.parquet");
        let list: ArrayRef = Arc::new(StringArray::from_iter_values((0..3000).map(|i| format!("sw{i}->h{i}"))));
        let defaults = || WriterProperties::builder().set_data_page_row_count_limit(7000);
        let written = [
            defaults(),
            defaults().set_dictionary_enabled(false),
            defaults().set_dictionary_page_size_limit(10_000),
            defaults().set_writer_version(WriterVersion::PARQUET_2_0),
            defaults().set_max_row_group_row_count(Some(5000)),
        ];
        for (properties, gaps) in written.into_iter().flat_map(|of| [(of.clone(), false), (of, true)]) {
            // Each name at every sample, then one of them for long, which is a run of one number, then others.
            let key = |row: i32| match row {
                0..9000 => row % 3000,
                9000..12_000 => 17,
                _ => row * 7 % 3000,
            };
            let keys: Int32Array = (0..20_000).map(|row| (!gaps || row % 5 > 0).then_some(key(row))).collect();
            let names = Arc::new(DictionaryArray::new(keys.clone(), list.clone()));
            let rows = Arc::new(UInt64Array::from_iter_values(0..20_000));
            let schema = Schema::new(vec![
                Field::new("row", DataType::UInt64, false),
                Field::new("queue", names.data_type().clone(), gaps),
            ]);
            let table = RecordBatch::try_new(Arc::new(schema), vec![rows, names]).unwrap();
            let file = File::create(&path).unwrap();
            let mut writer = ArrowWriter::try_new(file, table.schema(), Some(properties.build())).unwrap();
            writer.write(&table).unwrap();
            writer.close().unwrap();

            let wanted = ["sw17->h17", "nobody", "sw2999->h2999", "sw0->h0"];
            let part = Selection { columns: &["row"], names: Some(&wanted) };
            let found = read(File::open(&path).unwrap(), Some(&part)).unwrap();
            let found: Vec<(u64, String)> = found
                .batches
                .iter()
                .flat_map(|block| {
                    let rows = block.column(0).to_data().buffer::<u64>(0).to_vec();
                    let names: Vec<_> = texts(block.column(1).as_dictionary())
                        .into_iter()
                        .map(|name| name.unwrap().to_owned())
                        .collect();
                    rows.into_iter().zip(names)
                })
                .collect();
            let keys = keys.iter().zip(0..).filter_map(|(key, row)| Some((key?, row)));
            let expected: Vec<(u64, String)> = keys
                .filter(|(key, _)| [17, 2999, 0].contains(key))
                .map(|(key, row)| (row, format!("sw{key}->h{key}")))
                .collect();
            assert!(expected.len() > 2000 && found == expected, "{} rows of {}", found.len(), expected.len());
        }
    }

    #[test]
    fn a_damaged_file_does_not_end_the_program() {
        let folder = tempfile::tempdir().unwrap();
        let (path, table) = (folder.path().join("all.parquet"), all_types());
        written(&path, &table.schema(), std::slice::from_ref(&table));
        let whole = fs::read(&path).unwrap();
        let mut refused = 0;
        for (place, flip) in (0..whole.len()).step_by(7).zip([0x01, 0x10, 0x80, 0xff].into_iter().cycle()) {
            let mut damaged = whole.clone();
            damaged[place] ^= flip;
            fs::write(&path, damaged).unwrap();
            refused += u32::from(read_at(&path).is_err());
            // A part may be read of a file whose damage is elsewhere.
            let part = Selection { columns: &["full_0"], names: Some(&["h0", ""]) };
            let _ = read(File::open(&path).unwrap(), Some(&part));
        }
        assert!(refused > 100, "{refused} of {} refused", whole.len() / 7);
    }

    #[test]
    fn a_file_that_is_not_a_table_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let (path, table) = (folder.path().join("all.parquet"), all_types());
        written(&path, &table.schema(), std::slice::from_ref(&table));
        let whole = fs::read(&path).unwrap();
        for length in (0..whole.len()).step_by(101).chain([whole.len() - 1]) {
            fs::write(&path, &whole[..length]).unwrap();
            assert!(read_at(&path).is_err(), "{length} octets of {}", whole.len());
        }
        let refusal = |schema: Option<String>, columns: Vec<TypePtr>| {
            let root = Type::group_type_builder("root").with_fields(columns).build().unwrap();
            let schema =
                schema.map(|schema| vec![parquet::file::metadata::KeyValue::new(ARROW_SCHEMA.to_owned(), schema)]);
            let properties = WriterProperties::builder().set_key_value_metadata(schema).build();
            let file = File::create(&path).unwrap();
            let writer = parquet::file::writer::SerializedFileWriter::new(file, Arc::new(root), Arc::new(properties));
            writer.unwrap().close().unwrap();
            reason(read_at(&path).unwrap_err())
        };
        let column = |data_type| Schema::new(vec![Field::new("a", data_type, false)]);
        let (real, count, half) = (DataType::Float64, DataType::UInt64, DataType::Float16);
        let (real, count, half) = (column(real), column(count), schema_text(&column(half)));
        let of_real = || parquet_columns(&real).unwrap();
        assert_eq!(refusal(None, of_real()), "it has no Arrow schema");
        assert!(refusal(Some("?".to_owned()), of_real()).contains("its Arrow schema cannot be read: "));
        assert!(refusal(Some(String::new()), of_real()).contains("its Arrow schema cannot be read: "));
        assert!(refusal(Some("AAAAAAAAAAAAAAAA".to_owned()), of_real()).contains("its Arrow schema cannot be read: "));
        let other = refusal(Some(schema_text(&count)), of_real());
        assert_eq!(other, "its columns are not those of its Arrow schema");
        let foreign = refusal(Some(half), of_real());
        assert_eq!(foreign, "column a: no table has a column of type Float16");
    }
}
