//! Jobs: the tests, in one program.

mod closed_forms;
mod schedules;
mod toy;
