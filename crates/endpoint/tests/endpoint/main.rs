//! Endpoints: the tests, in one program.

mod common;

mod forged;
mod nic;
mod slices;
