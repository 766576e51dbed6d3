//! Jobs: the tests, in one program.

mod closed_forms;
mod graphs;
mod nccl;
mod parts;
mod runs;
mod schedules;
mod toy;
