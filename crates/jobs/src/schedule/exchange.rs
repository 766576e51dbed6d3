//! Exchanges among all pairs of members, at once or one partner after another.

use alloc::vec::Vec;

use super::Plan;

/// Everyone's messages to everyone. `octets` gives the size from one index to another; without one there is no message.
///
/// Direct: all at once, the next member's first. Pairwise: a member's next message starts when the partner's has arrived,
/// or where the partner sends none, when it has heard that its own has. Partners are i xor s in step s if the team is a
/// power of two, otherwise i + s and i - s.
pub(super) fn all_to_all(plan: &mut Plan, team: &[u32], pairwise: bool, octets: impl Fn(usize, usize) -> Option<u64>) {
    let n = team.len();
    let own = plan.all_ready(team, n - 1);
    let mut received: Vec<Vec<u32>> = alloc::vec![Vec::new(); n];
    // What the next step of each member waits for.
    let mut before: Vec<Vec<u32>> = alloc::vec![Vec::new(); n];
    for step in 1..n {
        let mut now: Vec<Vec<u32>> = alloc::vec![Vec::new(); n];
        let mut sent: Vec<Option<u32>> = alloc::vec![None; n];
        for i in 0..n {
            let to = if pairwise && n.is_power_of_two() { i ^ step } else { (i + step) % n };
            let Some(octets) = octets(i, to) else {
                now[i].extend(&before[i]);
                continue;
            };
            let mut after = own[i].clone();
            after.extend(&before[i]);
            let message = plan.send(team[i], team[to], octets, &after);
            received[to].push(message);
            sent[i] = Some(message);
            if pairwise {
                now[to].push(message);
            }
        }
        for (i, waits) in now.iter_mut().enumerate().filter(|(_, waits)| pairwise && waits.is_empty()) {
            waits.extend(sent[i]);
        }
        before = now;
    }
    plan.received(team, received);
}

/// From the root to each member.
pub(super) fn broadcast(plan: &mut Plan, team: &[u32], root: usize, octets: u64) {
    let n = team.len();
    let own = plan.ready(team[root], n - 1);
    for at in 1..n {
        let to = team[(root + at) % n];
        let message = plan.send(team[root], to, octets, &own);
        plan.received(&[to], alloc::vec![alloc::vec![message]]);
    }
}

/// From each member to the root.
pub(super) fn reduce(plan: &mut Plan, team: &[u32], root: usize, octets: u64) {
    let n = team.len();
    for at in 1..n {
        let from = team[(root + at) % n];
        let own = plan.ready(from, 1);
        let message = plan.send(from, team[root], octets, &own);
        plan.received(&[team[root]], alloc::vec![alloc::vec![message]]);
    }
}
