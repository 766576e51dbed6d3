//! Why a testbed does not run.

use penstock_scenario::Plan;

use crate::scheme_frames;

/// Why a testbed does not run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TestbedError {
    /// The scheme has no form on the wire.
    #[error("{message}")]
    Unsuited {
        /// The part that does not suit, and one that would.
        message: String,
    },
    /// There is no node of that name.
    #[error("there is no node {name} in the scenario")]
    NoNode {
        /// The name.
        name: String,
    },
    /// Letters and wires do not agree.
    #[error("{wires} wires came with {letters} letters, and each wire needs one")]
    Wires {
        /// Letters.
        letters: usize,
        /// Wires.
        wires: usize,
    },
    /// The kernel has refused something.
    #[error("cannot {what}: {source}")]
    System {
        /// The deed.
        what: &'static str,
        /// The kernel's answer.
        source: std::io::Error,
    },
    /// The log cannot be written or read.
    #[error("the record of a process cannot be written or read: {0}")]
    Log(std::io::Error),
    /// The results cannot be written.
    #[error(transparent)]
    Run(#[from] penstock_runner::RunError),
}

impl TestbedError {
    pub(crate) fn system(what: &'static str, error: impl Into<std::io::Error>) -> Self {
        Self::System { what, source: error.into() }
    }

    pub(crate) fn unsuited(message: impl Into<String>) -> Self {
        Self::Unsuited { message: message.into() }
    }

    pub(crate) fn no_form(plan: &Plan) -> Self {
        let names = scheme_frames::names().collect::<Vec<_>>().join(", ");
        let (scheme, obstacle) = (plan.scheme(), scheme_frames::obstacle(&plan.configs()));
        Self::unsuited(format!("scheme {scheme} has no form on the testbed's wires: {obstacle}; one of {names} has"))
    }
}
