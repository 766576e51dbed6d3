//! The engine for a browser: its numbers, schemes of the reader, what a page reads.

mod export;
mod own;
mod same;
