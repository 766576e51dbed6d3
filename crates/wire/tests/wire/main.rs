//! Frames as octets: the tests, in one program.

mod common;

mod captured;
mod captures;
mod cores;
mod encode;
mod fuzz;
mod golden;
mod round_trip;
mod simulator;
