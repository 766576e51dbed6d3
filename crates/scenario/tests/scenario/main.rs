//! Scenario files: the tests, in one program.

mod common;

mod bad_choices;
mod bad_faults;
mod bad_input;
mod buffers;
mod bursts;
mod classes;
mod convergence;
mod dependencies;
mod fabrics;
mod files;
mod follows;
mod jobs;
mod layout;
mod limits;
mod load_balancing;
mod loads;
mod lossless_links;
mod measuring;
mod multicast;
mod permutation;
mod pfc;
mod priorities;
mod traces;
mod transports;
mod traps;
