//! The conformance suite for a scheme of a file: a library, or a class in Python.

use std::sync::Arc;

use penstock_conformance::Maker;
use penstock_runner::foreign::Foreigners;
use penstock_scenario::foreign::Refusal;
use penstock_schemes::foreign::watch::Watch;
use penstock_schemes::foreign::{Config, Foreign};
use penstock_schemes::{SchemeConfig, Value};
use pyo3::prelude::*;

use super::{load, raised};
use crate::errors::{foreign_error, scenario_error};

/// Checks the scheme at a location under random sequences of calls: returns nothing, or raises a `ScenarioError` with the rule that is broken.
#[pyfunction]
pub(crate) fn scheme_conforms(py: Python<'_>, location: &str) -> PyResult<()> {
    let definition = load(location).map_err(|Refusal { message, hint }| {
        let (file, key) = (location.to_owned(), Some("scheme".to_owned()));
        scenario_error(py, &penstock_scenario::ScenarioError { file, line: None, key, message, hint: Some(hint) })
    })?;
    let watch = Arc::<Watch>::default();
    let make = |values: &[Value]| {
        let config = Config::new(definition, values).expect("values are of their parameters' kinds");
        config.watched_by(&watch)
    };
    let (kept, failure) = py.detach(|| {
        let defaults: Vec<Value> = definition.info.parameters.iter().map(|p| p.default).collect();
        let foreigners = Foreigners::new(&[SchemeConfig::Foreign(make(&defaults))]);
        let kept = Maker::<Foreign>::new(definition.info, &make).check();
        (kept, foreigners.failure())
    });
    if let Some(error) = raised(py) {
        return Err(error);
    }
    // Once a function has failed the points call none, so that what the suite says after that is no matter.
    match (failure, kept) {
        (Some((location, message)), _) => Err(foreign_error(py, location, &message)),
        (None, Err(broken)) => Err(foreign_error(py, location, &broken)),
        (None, Ok(())) => Ok(()),
    }
}
