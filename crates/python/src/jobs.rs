//! Job graphs in files of others: read as the text that `[[job]]` of a scenario takes, and written.

use std::collections::BTreeMap;

use penstock_jobs::read::{self, File, Format, Imported, Options};
use penstock_jobs::{Graph, write};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A file of a job: its name, and its content.
type Given = (String, Vec<u8>);

/// Files by the endings of their names, and sentences on what they say in another way.
pub(crate) type Written = (Vec<(String, Vec<u8>)>, Vec<String>);

/// The files of one job as a text, with its number of ranks and sentences on what was lost, rounded or assumed: GOAL and SimAI as they
/// are, Chakra as GOAL, its collectives written out.
#[pyfunction]
#[pyo3(signature = (files, complete, control_deps, groups))]
pub(crate) fn job_text(
    py: Python<'_>,
    files: Vec<Given>,
    complete: bool,
    control_deps: bool,
    groups: BTreeMap<String, Vec<u32>>,
) -> PyResult<(String, u32, Vec<String>)> {
    py.detach(|| text(&files, complete, control_deps, &groups)).map_err(PyValueError::new_err)
}

/// The files of one job as files of a format, with sentences on what was lost, rounded or assumed.
#[pyfunction]
#[pyo3(signature = (files, complete, control_deps, groups, to, messages))]
pub(crate) fn job_files(
    py: Python<'_>,
    files: Vec<Given>,
    complete: bool,
    control_deps: bool,
    groups: BTreeMap<String, Vec<u32>>,
    to: &str,
    messages: bool,
) -> PyResult<Written> {
    let converted = || {
        let (graph, mut notes) = graph(&files, complete, control_deps, &groups)?;
        let (written, more) = written(&graph, to, messages)?;
        notes.extend(more);
        Ok::<_, String>((written, notes))
    };
    py.detach(converted).map_err(PyValueError::new_err)
}

/// A graph as files of a format; `messages` writes its collectives as sends and receives, as GOAL always has them.
pub(crate) fn written(graph: &Graph, to: &str, messages: bool) -> Result<Written, String> {
    let expanded = if messages || to == "goal" { Some(graph.expand().map_err(|e| e.to_string())?) } else { None };
    let graph = expanded.as_ref().unwrap_or(graph);
    let traces = match to {
        "goal" => {
            let goal = write::goal::write(graph).map_err(|e| e.to_string())?;
            return Ok((vec![("goal".to_owned(), goal.text.into_bytes())], goal.notes));
        }
        "json" => write::chakra_json::write(graph),
        _ => write::chakra::write(graph),
    }
    .map_err(|e| e.to_string())?;
    let mut files: Vec<_> = (0..).zip(traces.files).map(|(rank, file)| (format!("{rank}.{to}"), file)).collect();
    if !traces.groups.is_empty() {
        files.push(("groups.json".to_owned(), traces.groups.into_bytes()));
    }
    Ok((files, traces.notes))
}

/// The graph of the files of one job, which can end, and sentences on it.
fn graph(
    files: &[Given],
    complete: bool,
    control_deps: bool,
    groups: &BTreeMap<String, Vec<u32>>,
) -> Result<(Graph, Vec<String>), String> {
    let given: Vec<File<'_>> = files.iter().map(|(name, octets)| File { name, octets }).collect();
    let options = Options { complete, control_deps, groups: Some(groups), ..Options::default() };
    let Imported { graph, lost, notes } = read::read(&given, &options).map_err(|e| e.to_string())?;
    // With completion, they are among the notes.
    let mut all = if complete { Vec::new() } else { lost.notes(false) };
    all.extend(notes);
    graph.check().map_err(|e| {
        let rank = e.node.map(|node| format!(".{}.", graph.rank(node)));
        let of_rank = files.iter().find(|file| rank.as_ref().is_some_and(|rank| file.0.contains(rank)));
        let (name, _) = of_rank.unwrap_or(&files[0]);
        [format!("{name}: {e}")].into_iter().chain(all.iter().cloned()).collect::<Vec<_>>().join("; ")
    })?;
    Ok((graph, all))
}

fn text(
    files: &[Given],
    complete: bool,
    control_deps: bool,
    groups: &BTreeMap<String, Vec<u32>>,
) -> Result<(String, u32, Vec<String>), String> {
    let (graph, mut notes) = graph(files, complete, control_deps, groups)?;
    let ranks = graph.ranks();
    if let [(_, octets)] = files
        && matches!(Format::of(octets), Format::Goal | Format::SimAi)
    {
        let text = String::from_utf8(octets.clone()).map_err(|e| e.to_string())?;
        return Ok((text, ranks, notes));
    }
    let goal = write::goal::write(&graph.expand().map_err(|e| e.to_string())?).map_err(|e| e.to_string())?;
    notes.extend(goal.notes);
    Ok((goal.text, ranks, notes))
}
