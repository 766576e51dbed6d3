//! Tables as Parquet files, by the crate `parquet`: names, units and descriptions of columns are in the Arrow schema of the file.

use std::fs::File;
use std::panic;

use arrow_array::cast::AsArray as _;
use arrow_array::{RecordBatch, RecordBatchReader as _};
use arrow_schema::{DataType, SchemaRef};
use parquet::arrow::arrow_reader::{ArrowPredicateFn, ParquetRecordBatchReaderBuilder, RowFilter};
use parquet::arrow::{ArrowWriter, ProjectionMask};
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use crate::select::{Selection, has_name};

/// Rows of a row group: the most that a writer holds in memory.
pub(crate) const ROWS_PER_GROUP: usize = 1 << 17;

/// The reason of an error, without the crate's preface to general errors.
pub(crate) fn reason(error: ParquetError) -> String {
    match error {
        ParquetError::General(reason) | ParquetError::ArrowError(reason) => reason,
        other => other.to_string(),
    }
}

/// An unfinished Parquet file. Rows wait until they fill a row group.
#[derive(Debug)]
pub(crate) struct FileWriter(ArrowWriter<File>);

impl FileWriter {
    pub(crate) fn new(file: File, schema: &SchemaRef) -> Result<Self, ParquetError> {
        let properties = WriterProperties::builder()
            .set_created_by(concat!("Penstock ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_compression(Compression::SNAPPY)
            .set_max_row_group_row_count(Some(ROWS_PER_GROUP))
            .build();
        Ok(Self(ArrowWriter::try_new(file, schema.clone(), Some(properties))?))
    }

    /// Adds rows: the columns of the schema.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<(), ParquetError> {
        self.0.write(batch)
    }

    /// Ends the file and gives it back.
    pub(crate) fn close(self) -> Result<File, ParquetError> {
        self.0.into_inner()
    }

    /// Rows that are held in memory.
    #[cfg(test)]
    pub(crate) fn rows_held(&self) -> usize {
        self.0.in_progress_rows()
    }
}

/// Reads the columns and the rows of a table, or of a part of it.
///
/// # Errors
/// If the file is not whole.
pub(crate) fn read(file: File, part: Option<&Selection<'_>>) -> Result<(SchemaRef, Vec<RecordBatch>), ParquetError> {
    // The crate `parquet` meets some damages with a panic.
    let damaged = || ParquetError::General("the file is damaged".to_owned());
    panic::catch_unwind(|| read_part(file, part)).unwrap_or_else(|_| Err(damaged()))
}

fn read_part(file: File, part: Option<&Selection<'_>>) -> Result<(SchemaRef, Vec<RecordBatch>), ParquetError> {
    let mut builder = ParquetRecordBatchReaderBuilder::try_new(file)?.with_batch_size(ROWS_PER_GROUP);
    for field in builder.schema().fields() {
        if !is_of_tables(field.data_type()) {
            let reason = format!("column {}: no table has a column of type {}", field.name(), field.data_type());
            return Err(ParquetError::General(reason));
        }
    }
    if let Some(part) = part {
        let columns = |places: Vec<usize>| ProjectionMask::roots(builder.parquet_schema(), places);
        let (whole, wanted) = (builder.schema().clone(), columns(part.places(builder.schema())));
        match (part.names, Selection::named(&whole)) {
            (None, _) => {}
            (Some(_), None) => builder = builder.with_limit(0),
            (Some(names), Some(named)) => {
                let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
                let is_wanted = move |block: RecordBatch| Ok(has_name(block.column(0).as_dictionary(), &names));
                let predicate = ArrowPredicateFn::new(columns(vec![named]), is_wanted);
                builder = builder.with_row_filter(RowFilter::new(vec![Box::new(predicate)]));
            }
        }
        builder = builder.with_projection(wanted);
    }
    let blocks = builder.build()?;
    let schema = blocks.schema();
    Ok((schema, blocks.collect::<Result<_, _>>()?))
}

/// Whether a table may have a column of this type.
fn is_of_tables(data_type: &DataType) -> bool {
    match data_type {
        DataType::Float64 | DataType::UInt64 | DataType::Int64 | DataType::UInt32 | DataType::UInt8 => true,
        DataType::Boolean | DataType::Utf8 => true,
        DataType::Dictionary(keys, names) => (&**keys, &**names) == (&DataType::Int32, &DataType::Utf8),
        DataType::List(item) => item.data_type() == &DataType::Utf8,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::sync::Arc;

    use arrow_array::builder::{Int32Builder, ListBuilder, StringBuilder};
    use arrow_array::types::Int32Type;
    use arrow_array::{
        Array as _, ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, Int64Array, StringArray,
        UInt8Array, UInt32Array, UInt64Array,
    };
    use arrow_schema::{Field, Schema};
    use arrow_select::concat::concat_batches;
    use parquet::file::properties::WriterVersion;
    use parquet::file::reader::{FileReader as _, SerializedFileReader};

    use super::*;
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
            writer.write(batch).unwrap();
        }
        writer.close().unwrap();
    }

    fn read_at(path: &Path) -> Result<Records, ParquetError> {
        read(File::open(path).unwrap(), None).map(Records::of)
    }

    #[test]
    fn every_type_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let (path, table) = (folder.path().join("all.parquet"), all_types());
        written(&path, &table.schema(), &[table.slice(0, 2), table.slice(2, 1)]);
        let records = read_at(&path).unwrap();
        assert_eq!(records.schema, table.schema());
        assert_eq!(records.batches, std::slice::from_ref(&table));
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
            let found = Records::of(read(File::open(&path).unwrap(), Some(&part)).unwrap());
            let expected: Vec<_> = whole.batches.iter().map(|block| part.rows(block).unwrap()).collect();
            let expected = concat_batches(&table.schema(), &expected).unwrap();
            let found = concat_batches(&table.schema(), &found.batches).unwrap();
            let rows = found.num_rows();
            for (found, expected) in found.columns().iter().zip(expected.columns()) {
                match expected.as_dictionary_opt::<Int32Type>() {
                    // A list of names has those that are there.
                    Some(expected) => assert_eq!(texts(found.as_dictionary()), texts(expected), "{names:?}"),
                    None => assert_eq!(found, expected, "{names:?}"),
                }
            }
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
            let found = Records::of(read(File::open(&path).unwrap(), Some(&part)).unwrap());
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
    fn a_file_that_is_cut_off_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let (path, table) = (folder.path().join("all.parquet"), all_types());
        written(&path, &table.schema(), std::slice::from_ref(&table));
        let whole = fs::read(&path).unwrap();
        for length in (0..whole.len()).step_by(101).chain([whole.len() - 1]) {
            fs::write(&path, &whole[..length]).unwrap();
            assert!(read_at(&path).is_err(), "{length} octets of {}", whole.len());
        }
    }
}
