//! The classes of schemes that were loaded, and their roles.

use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use penstock_schemes::foreign::Definition;
use penstock_schemes::foreign::abi::{Function, Values};
use penstock_schemes::{Parameter, Unit};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A point's role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Congestion,
    Notification,
    Reaction,
}

/// By role, the functions of the table that are methods.
static METHODS: LazyLock<[Vec<&str>; 3]> = LazyLock::new(|| {
    ["cp_", "np_", "rp_"].map(|point| {
        let own = Function::ALL.iter().filter_map(|function| function.name().strip_prefix(point));
        own.filter(|name| *name != "create").collect()
    })
});

impl Role {
    /// The methods that the engine calls.
    pub(super) fn methods(self) -> &'static [&'static str] {
        &METHODS[self as usize]
    }
}

/// The methods of congestion points, notification points and reaction points that the engine calls.
#[pyfunction]
pub(crate) fn scheme_methods() -> [Vec<&'static str>; 3] {
    METHODS.clone()
}

/// A class that was loaded.
pub(super) struct Class {
    pub(super) location: String,
    /// The classes of its roles.
    pub(super) roles: [Py<PyAny>; 3],
    /// Which methods of a role it has, in the order of [`Role::methods`].
    pub(super) has: [Vec<bool>; 3],
    pub(super) parameters: &'static [Parameter],
    /// Its methods get random words.
    pub(super) random: bool,
    /// The most words that a method draws by itself.
    pub(super) draws: usize,
    /// Its frames carry the mark of ECN.
    pub(super) ecn: bool,
}

impl Class {
    pub(super) fn role(&self, role: Role) -> &Py<PyAny> {
        &self.roles[role as usize]
    }

    pub(super) fn has(&self, role: Role) -> &[bool] {
        &self.has[role as usize]
    }

    /// The parameters as the methods have them: fields of an object, in octets, ps, bit/s, counts, texts, and True or False.
    pub(super) fn values(&self, py: Python<'_>, values: &Values) -> PyResult<Py<PyAny>> {
        let fields = PyDict::new(py);
        for (parameter, &word) in self.parameters.iter().zip(values) {
            match parameter.unit {
                Unit::Real => fields.set_item(parameter.name, f64::from_bits(word))?,
                Unit::Switch => fields.set_item(parameter.name, word != 0)?,
                Unit::Choice(words) => fields.set_item(parameter.name, words[word as usize])?,
                _ => fields.set_item(parameter.name, word)?,
            }
        }
        Ok(py.import("types")?.getattr("SimpleNamespace")?.call((), Some(&fields))?.unbind())
    }
}

/// A class, the object of Python that it is, and its definition.
pub(super) type Known = (Arc<Class>, Py<PyAny>, &'static Definition);

/// The classes of the process, which definitions name by their index.
pub(super) static CLASSES: Mutex<Vec<Known>> = Mutex::new(Vec::new());

pub(super) fn class(user: u64) -> Arc<Class> {
    let classes = CLASSES.lock().unwrap_or_else(PoisonError::into_inner);
    Arc::clone(&classes[user as usize].0)
}
