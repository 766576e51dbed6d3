//! Runs and their folders: the tests, in one program.

mod committed;
mod common;

mod actions;
mod captures;
mod completions;
mod extremes;
mod faults;
mod folders;
mod isolation;
mod jobs;
mod results;
mod retuning;
mod switches;
mod threads;
