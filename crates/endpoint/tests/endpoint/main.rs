//! Endpoints: the tests, in one program.

mod common;

mod forged;
mod grants;
mod nic;
mod slices;
