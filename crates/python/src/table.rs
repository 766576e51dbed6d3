//! Tables on their way to Python: Arrow's C stream in a PyCapsule, without a copy.

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatchIterator, RecordBatchReader};
use penstock_runner::Records;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// The capsule's name in Arrow's PyCapsule interface.
const STREAM: &std::ffi::CStr = c"arrow_array_stream";

/// `records` as an `arro3.core.Table`, which pandas, polars, pyarrow and NumPy read.
pub(crate) fn to_arro3<'py>(py: Python<'py>, records: Records) -> PyResult<Bound<'py, PyAny>> {
    let batches = records.batches.into_iter().map(Ok);
    let reader: Box<dyn RecordBatchReader + Send> = Box::new(RecordBatchIterator::new(batches, records.schema));
    let capsule = PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), STREAM)?;
    py.import("arro3.core")?.getattr("Table")?.call_method1("from_arrow_pycapsule", (capsule,))
}
