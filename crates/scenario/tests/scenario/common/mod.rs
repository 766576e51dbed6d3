//! From the text of a scenario to its plan.

use penstock_scenario::{Choice, Plan, Scenario, ScenarioError};

pub(crate) fn outcome(text: &str) -> Result<Plan, ScenarioError> {
    Scenario::parse(text, "x.toml", "x")?.plan(&Choice::default())
}

/// As [`outcome`], with the error as it is printed.
pub(crate) fn plan_or_message(text: &str) -> Result<Plan, String> {
    outcome(text).map_err(|error| error.to_string())
}

pub(crate) fn plan(text: &str) -> Plan {
    outcome(text).unwrap_or_else(|error| panic!("{error}"))
}
