//! Ranks on hosts. Each function gives the host of each rank, or `None` if the hosts are too few; no rank a host is
//! none.
//!
//! A list of the user's own is such a `Vec` as it is.

use alloc::vec::Vec;

use crate::time::mix;

/// Ranks in order: `ranks_per_host` on host 0, the next ones on host 1.
#[must_use]
pub fn in_order(ranks: u32, hosts: u32, ranks_per_host: u32) -> Option<Vec<u32>> {
    on_hosts(ranks, &(0..hosts).collect::<Vec<_>>(), ranks_per_host)
}

/// Neighbouring hosts of the job in different racks: one host of each rack in turn. `rack_of` is the rack of each host.
#[must_use]
pub fn by_rack(ranks: u32, rack_of: &[u32], ranks_per_host: u32) -> Option<Vec<u32>> {
    // The turn of each host: how many hosts of its rack are before it.
    let mut seen = alloc::collections::BTreeMap::new();
    let mut hosts: Vec<(u32, u32, u32)> = (0..)
        .zip(rack_of)
        .map(|(host, &rack)| {
            let turn = seen.entry(rack).or_insert(0_u32);
            *turn += 1;
            (*turn, rack, host)
        })
        .collect();
    hosts.sort_unstable();
    on_hosts(ranks, &hosts.iter().map(|host| host.2).collect::<Vec<_>>(), ranks_per_host)
}

/// Hosts in a random order, `ranks_per_host` consecutive ranks on each.
#[must_use]
pub fn at_random(ranks: u32, hosts: u32, ranks_per_host: u32, seed: u64) -> Option<Vec<u32>> {
    let mut order: Vec<u32> = (0..hosts).collect();
    // Fisher and Yates, with words of SplitMix64.
    for at in (1..order.len()).rev() {
        let word = mix(mix(seed) ^ at as u64);
        order.swap(at, ((u128::from(word) * (at as u128 + 1)) >> 64) as usize);
    }
    on_hosts(ranks, &order, ranks_per_host)
}

/// Ranks on hosts in an order.
fn on_hosts(ranks: u32, order: &[u32], ranks_per_host: u32) -> Option<Vec<u32>> {
    (0..ranks).map(|rank| order.get(rank.checked_div(ranks_per_host)? as usize).copied()).collect()
}
