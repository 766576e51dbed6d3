//! Schemes: the tests, in one program.

mod broken;

mod allocation;
mod conformance;
mod rates;
