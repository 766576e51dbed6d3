//! Rings and chains: each member sends to the next one.

use alloc::vec::Vec;

use super::Plan;

/// Reduce-scatter: the member with index i ends with the part i, to which all have added.
pub(super) fn reduce_scatter(plan: &mut Plan, team: &[u32], sizes: &[u64]) {
    let n = team.len();
    ring(plan, team, n - 1, |i, step| sizes[(i + n - 1 - step) % n]);
}

/// All-gather: the member with index i begins with the part i.
pub(super) fn all_gather(plan: &mut Plan, team: &[u32], sizes: &[u64]) {
    let n = team.len();
    ring(plan, team, n - 1, |i, step| sizes[(i + n - step) % n]);
}

/// Reduce-scatter and all-gather without a stop between them.
pub(super) fn all_reduce(plan: &mut Plan, team: &[u32], sizes: &[u64]) {
    let n = team.len();
    // Step n - 1 is the first of the all-gather: a member sends its own part.
    ring(plan, team, 2 * (n - 1), |i, step| sizes[(i + 2 * n - 1 - step) % n]);
}

/// Steps around the ring. In each, a member sends when it has received the message of the step before.
fn ring(plan: &mut Plan, team: &[u32], steps: usize, octets: impl Fn(usize, usize) -> u64) {
    let n = team.len();
    let own = plan.all_ready(team, steps);
    let mut received: Vec<Vec<u32>> = alloc::vec![Vec::with_capacity(steps); n];
    for step in 0..steps {
        for i in 0..n {
            let mut after = own[i].clone();
            after.extend(step.checked_sub(1).map(|before| received[i][before]));
            let next = (i + 1) % n;
            let message = plan.send(team[i], team[next], octets(i, step), &after);
            received[next].push(message);
        }
    }
    plan.received(team, received);
}

/// A chain from the root.
pub(super) fn broadcast(plan: &mut Plan, team: &[u32], root: usize, octets: u64) {
    chain(plan, team, root, octets);
}

/// A chain to the root.
pub(super) fn reduce(plan: &mut Plan, team: &[u32], root: usize, octets: u64) {
    chain(plan, team, root + 1, octets);
}

/// From the member with index `first` around the ring, less the last step.
fn chain(plan: &mut Plan, team: &[u32], first: usize, octets: u64) {
    let n = team.len();
    let own = plan.all_ready(team, 1);
    let mut received = alloc::vec![Vec::new(); n];
    for at in first..first + n - 1 {
        let (i, next) = (at % n, (at + 1) % n);
        let mut after = own[i].clone();
        after.extend(&received[i]);
        received[next].push(plan.send(team[i], team[next], octets, &after));
    }
    plan.received(team, received);
}
