//! A scheme outside of `penstock-schemes`, defined in one file: [`halving`]. The conformance suite holds it to the contract
//! (`cargo test -p own-scheme`), and the program runs it in the simulator (`cargo run --release -p own-scheme`).

pub mod halving;
pub mod star;
