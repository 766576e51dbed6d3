//! Jobs: the tests, in one program.

mod closed_forms;
mod nccl;
mod schedules;
mod toy;
