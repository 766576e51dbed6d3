//! `Folder`: the folder of a comparison or a report, which is whole under its final name, or not there at all.

use std::path::PathBuf;

use penstock_runner::{Folder, Holds};
use pyo3::prelude::*;

use crate::errors::{PenstockError, output_error};

/// The unfinished folder of a comparison or a report.
#[pyclass(name = "Folder", module = "penstock._core")]
pub(crate) struct PyFolder(Option<Folder>);

#[pymethods]
impl PyFolder {
    /// Starts the folder that is to be `path`, of a report or of a comparison.
    #[staticmethod]
    #[pyo3(signature = (path, force, report = false))]
    fn create(path: PathBuf, force: bool, report: bool) -> PyResult<Self> {
        let holds = if report { Holds::Report } else { Holds::Comparison };
        let folder = Folder::create(&path, force, holds).map_err(|error| output_error(&error))?;
        Ok(Self(Some(folder)))
    }

    /// Where everything is written until the folder is whole.
    #[getter]
    fn partial(&self) -> PyResult<PathBuf> {
        match &self.0 {
            Some(folder) => Ok(folder.partial().to_owned()),
            None => Err(over()),
        }
    }

    /// Gives the folder its name.
    fn publish(&mut self) -> PyResult<()> {
        let folder = self.0.take().ok_or_else(over)?;
        folder.publish().map(|_| ()).map_err(|error| output_error(&error))
    }

    /// Removes the folder, unless it has its name.
    fn discard(&mut self) {
        self.0 = None;
    }
}

fn over() -> PyErr {
    PenstockError::new_err("the folder was published or discarded")
}
