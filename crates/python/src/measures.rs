//! Metrics of a run, and its row of a table of runs, on their way to Python.

use std::sync::LazyLock;

use penstock_runner::registry::{Level, Metric, metrics};
use penstock_runner::{Judged, Run, RunError};
use pyo3::prelude::*;
use serde_json::{Number, Value};

/// Every metric.
static METRICS: LazyLock<Vec<Metric>> = LazyLock::new(metrics);

/// A value in a row.
#[derive(Debug, Clone, IntoPyObject)]
pub(crate) enum Cell {
    Switch(bool),
    Whole(i64),
    Real(f64),
    Text(String),
    Nothing(Option<bool>),
}

impl From<Option<Number>> for Cell {
    fn from(number: Option<Number>) -> Self {
        let whole = number.as_ref().and_then(Number::as_i64).map(Self::Whole);
        let real = || number.as_ref().and_then(Number::as_f64).map(Self::Real);
        whole.or_else(real).unwrap_or(Self::Nothing(None))
    }
}

impl From<&Value> for Cell {
    fn from(value: &Value) -> Self {
        match value {
            Value::Bool(switch) => Self::Switch(*switch),
            Value::Number(number) => Some(number.clone()).into(),
            Value::String(text) => Self::Text(text.clone()),
            Value::Array(texts) => Self::Text(texts.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")),
            Value::Null | Value::Object(_) => Self::Nothing(None),
        }
    }
}

/// Metrics, each by its name and by whether it is one of the queue called `queue` or of the run; nothing for one that the run does not
/// have.
pub(crate) fn values(run: &Run, names: &[(String, bool)], queue: Option<&str>) -> Result<Vec<Cell>, RunError> {
    let judged = Judged::new(run, queue);
    let value = |(name, of_queue): &(String, bool)| {
        let level = if *of_queue { Level::Queue } else { Level::Run };
        let metric = METRICS.iter().find(|metric| metric.name == name && metric.level == level);
        Ok(metric.map(|own| judged.value(own)).transpose()?.flatten().into())
    };
    names.iter().map(value).collect()
}

/// The row of a run in a table with these columns: metrics of comparisons, keys of the summary and of its totals, those of an object
/// with the object's name in front. The run is judged by a queue: the longest, unless one is named.
pub(crate) fn row(run: &Run, columns: &[String], queue: Option<&str>) -> Result<Vec<Cell>, RunError> {
    let queue = queue.or_else(|| Judged::longest(&run.summary));
    let judged = Judged::new(run, queue);
    let cell = |column: &String| -> Result<Cell, RunError> {
        if column == "queue" {
            return Ok(queue.map_or(Cell::Nothing(None), |name| Cell::Text(name.to_owned())));
        }
        match METRICS.iter().find(|metric| metric.compared && metric.name == column) {
            Some(metric) => Ok(judged.value(metric)?.into()),
            None => Ok(judged.key(column).map_or(Cell::Nothing(None), Cell::from)),
        }
    };
    columns.iter().map(cell).collect()
}
