//! Job graphs in files of others, as the text that `[[job]]` of a scenario takes.

use penstock_jobs::read::{self, File, Format, Options};
use penstock_jobs::write;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The files of one job as a text, with its number of ranks and sentences on what was lost, rounded or assumed: GOAL and SimAI as they
/// are, Chakra as GOAL, its collectives written out.
#[pyfunction]
#[pyo3(signature = (files, complete, control_deps))]
pub(crate) fn job_text(
    py: Python<'_>,
    files: Vec<(String, Vec<u8>)>,
    complete: bool,
    control_deps: bool,
) -> PyResult<(String, u32, Vec<String>)> {
    py.detach(|| text(&files, complete, control_deps)).map_err(PyValueError::new_err)
}

fn text(files: &[(String, Vec<u8>)], complete: bool, control_deps: bool) -> Result<(String, u32, Vec<String>), String> {
    let given: Vec<File<'_>> = files.iter().map(|(name, octets)| File { name, octets }).collect();
    let options = Options { complete, control_deps, ..Options::default() };
    let found = read::read(&given, &options).map_err(|e| e.to_string())?;
    let mut notes = found.lost.notes(complete);
    notes.extend(found.notes);
    let ranks = found.graph.ranks();
    if let [(_, octets)] = files
        && matches!(Format::of(octets), Format::Goal | Format::SimAi)
    {
        let text = String::from_utf8(octets.clone()).map_err(|e| e.to_string())?;
        return Ok((text, ranks, notes));
    }
    found.graph.check().map_err(|e| e.to_string())?;
    let written = write::goal::write(&found.graph.expand().map_err(|e| e.to_string())?).map_err(|e| e.to_string())?;
    notes.extend(written.notes);
    Ok((written.text, ranks, notes))
}
