//! Numbers with units for Python: [`penstock_schemes::quantity`] by the names of units that the catalogue has.

use penstock_schemes::Unit;
use penstock_schemes::quantity::{self, Unreadable};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Hint where a number is beyond any that can be held.
const SMALLER: &str = "write a smaller number";

/// A text such as "33 KB" as a number in a unit of the catalogue.
#[pyfunction]
pub(crate) fn read_quantity(text: &str, unit: &str) -> PyResult<f64> {
    let value = named(unit)?.read(text).map_err(|Unreadable { message, hint }| refused(message, hint))?;
    Ok(value.number().expect("a unit of numbers"))
}

/// A number in a unit of the catalogue as a text such as "33.1 KB", which reads back as the same number.
#[pyfunction]
pub(crate) fn write_quantity(number: f64, unit: &str) -> PyResult<String> {
    let value = named(unit)?.of_number(number);
    let wrong = || refused(format!("there is no quantity of {number} {unit}"), None);
    value.map(penstock_schemes::Value::write_short).ok_or_else(wrong)
}

/// A measured number in a unit of the catalogue as a person reads it, with three digits.
#[pyfunction]
pub(crate) fn show_quantity(number: f64, unit: &str) -> PyResult<String> {
    named(unit).map(|unit| quantity::show(unit, number))
}

/// A fraction in percent, as a person reads it.
#[pyfunction]
pub(crate) fn show_share(fraction: f64) -> String {
    quantity::show_share(fraction)
}

fn named(unit: &str) -> PyResult<Unit> {
    Unit::named(unit).ok_or_else(|| {
        refused(format!("\"{unit}\" is not a unit"), Some("octets, s, bit/s, count and ratio are".to_owned()))
    })
}

fn refused(message: String, hint: Option<String>) -> PyErr {
    PyValueError::new_err((message, hint.unwrap_or_else(|| SMALLER.to_owned())))
}
