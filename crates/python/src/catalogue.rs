//! The catalogue, as JSON: schemes, tables, and the keys of a scenario.

use penstock_runner::{Key, OBJECTS, Object, Shape, TABLES};
use penstock_scenario::limits::{LIMITS, Limit};
use pyo3::prelude::*;
use serde::Serialize;

/// Every scheme with its parameters and profiles, as JSON.
#[pyfunction]
pub(crate) fn schemes() -> String {
    penstock_scenario::catalogue::schemes()
}

/// The scheme of this name or at this location, as JSON; else why there is none, and a remedy.
#[pyfunction]
pub(crate) fn scheme(text: &str) -> (Option<String>, String, String) {
    match penstock_scenario::catalogue::scheme(text) {
        Ok(found) => (found, "unknown scheme".to_owned(), String::new()),
        Err(refusal) => (None, refusal.message, refusal.hint),
    }
}

/// Every table of a result with its columns, as JSON.
#[pyfunction]
pub(crate) fn tables() -> String {
    let column = |c: &penstock_runner::Column| ColumnEntry { name: c.name, unit: c.unit, description: c.description };
    let table = |info: &penstock_runner::TableInfo| TableEntry {
        name: info.name,
        description: info.description,
        columns: info.columns.iter().map(column).collect(),
    };
    to_json(&TABLES.iter().map(table).collect::<Vec<_>>())
}

/// Every object of a summary with its keys, as JSON.
#[pyfunction]
pub(crate) fn objects() -> String {
    declared(OBJECTS)
}

/// Every object of a description with its keys, as JSON.
#[pyfunction]
pub(crate) fn description_objects() -> String {
    declared(penstock_scenario::description::OBJECTS)
}

/// Every object of the catalogue with its keys, as JSON.
#[pyfunction]
pub(crate) fn catalogue_objects() -> String {
    declared(penstock_scenario::catalogue::OBJECTS)
}

fn declared(objects: &[Object]) -> String {
    let key = |key: &Key| KeyEntry {
        name: key.name,
        r#type: python_type(key),
        unit: key.unit,
        description: key.description.trim(),
        optional: key.optional,
    };
    let object = |object: &Object| ObjectEntry {
        name: object.name,
        description: object.description.trim(),
        base: object.base,
        keys: object.keys.iter().map(key).collect(),
    };
    to_json(&objects.iter().map(object).collect::<Vec<_>>())
}

/// Every metric, as JSON.
#[pyfunction]
pub(crate) fn metrics() -> String {
    to_json(&penstock_runner::registry::metrics())
}

/// The type of a key's value in Python.
fn python_type(key: &Key) -> String {
    fn of(shape: Shape) -> String {
        match shape {
            Shape::Text => "str".to_owned(),
            Shape::Word(words) => {
                format!("Literal[{}]", words.iter().map(|w| format!("\"{w}\"")).collect::<Vec<_>>().join(", "))
            }
            Shape::Whole => "int".to_owned(),
            Shape::Real => "float".to_owned(),
            Shape::Switch => "bool".to_owned(),
            Shape::Plain => "float | str | bool".to_owned(),
            Shape::Object(name) => name.to_owned(),
            Shape::List(inner) => format!("list[{}]", of(*inner)),
            Shape::Map(inner) => format!("dict[str, {}]", of(*inner)),
            Shape::Maybe(inner) => format!("{} | None", of(*inner)),
        }
    }
    match key.shape {
        // A key that is absent instead is never null.
        Shape::Maybe(inner) if key.optional => of(*inner),
        shape => of(shape),
    }
}

/// The JSON schema of a scenario file.
#[pyfunction]
pub(crate) fn schema() -> String {
    penstock_scenario::schema().to_string()
}

/// Every key of a scenario file, as JSON.
#[pyfunction]
pub(crate) fn reference() -> String {
    penstock_scenario::reference().to_string()
}

/// Every limit of what a scenario may ask for, as JSON.
#[pyfunction]
pub(crate) fn limits() -> String {
    let limit = |limit: &Limit| LimitEntry { what: limit.what, most: limit.most, meaning: limit.doc.trim() };
    to_json(&LIMITS.iter().map(limit).collect::<Vec<_>>())
}

/// `value` as JSON text, its keys in the order of their declaration.
pub(crate) fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("values for Python have text keys only")
}

#[derive(Serialize)]
struct TableEntry {
    name: &'static str,
    description: &'static str,
    columns: Vec<ColumnEntry>,
}

#[derive(Serialize)]
struct ObjectEntry {
    name: &'static str,
    description: &'static str,
    base: Option<&'static str>,
    keys: Vec<KeyEntry>,
}

#[derive(Serialize)]
struct KeyEntry {
    name: &'static str,
    r#type: String,
    unit: &'static str,
    description: &'static str,
    optional: bool,
}

#[derive(Serialize)]
struct LimitEntry {
    what: &'static str,
    most: u64,
    meaning: &'static str,
}

#[derive(Serialize)]
struct ColumnEntry {
    name: &'static str,
    unit: &'static str,
    description: &'static str,
}
