//! The simulator's tests, in one program: the engine is generic, and each program compiles those of its schemes again.

mod common;

mod allocation;
mod bounds;
mod contract;
mod crowd;
mod deadlocks;
mod engine;
mod failures;
mod headroom;
mod incasts;
mod large;
mod mixed;
mod offered;
mod parts;
mod pfc;
mod pools;
mod schemes_of_today;
mod sequels;
mod shared;
mod spread;
mod taps;
mod transmit;
mod transports;
