//! The testbed without a kernel: the tests, in one program.

mod common;

mod flow_control;
mod shared_switch;
mod switch;
