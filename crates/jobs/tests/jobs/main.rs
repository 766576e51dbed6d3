//! Jobs: the tests, in one program.

mod schedules;
