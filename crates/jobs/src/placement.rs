//! Ranks on hosts. Each function gives the host of each rank.

use alloc::vec::Vec;

/// Ranks in order: `ranks_per_host` on host 0, the next ones on host 1. `None` if the hosts are too few.
#[must_use]
pub fn in_order(_ranks: u32, _hosts: u32, _ranks_per_host: u32) -> Option<Vec<u32>> {
    unimplemented!()
}

/// Neighbouring ranks in different racks: one host of each rack in turn. `rack_of` is the rack of each host. `None` if the hosts are too
/// few.
#[must_use]
pub fn by_rack(_ranks: u32, _rack_of: &[u32], _ranks_per_host: u32) -> Option<Vec<u32>> {
    unimplemented!()
}

/// Hosts in a random order, `ranks_per_host` consecutive ranks on each. `None` if the hosts are too few.
#[must_use]
pub fn at_random(_ranks: u32, _hosts: u32, _ranks_per_host: u32, _seed: u64) -> Option<Vec<u32>> {
    unimplemented!()
}
