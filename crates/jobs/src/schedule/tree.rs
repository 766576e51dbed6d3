//! NCCL's double binary tree (Sanders, Speck and Träff 2009): each half of the data goes in one tree, and the inner
//! members of one are leaves of the other, or nearly so. `src/graph/trees.cc` of NCCL 2.30.7.

use alloc::vec::Vec;

use super::{Plan, part};

/// The place of a member in a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Branch {
    /// Its parent; the root has none.
    pub up: Option<u32>,
    /// Its children.
    pub down: [Option<u32>; 2],
}

impl Branch {
    /// The tree with other members.
    fn map(self, other: impl Fn(u32) -> u32) -> Self {
        Self { up: self.up.map(&other), down: self.down.map(|child| child.map(&other)) }
    }
}

/// The place of the member with index `at` of `members` in both trees.
///
/// The first tree follows from the bits of the index. The second is the first one mirrored, or shifted by one if
/// `members` is odd.
#[must_use]
pub fn double_tree(members: u32, at: u32) -> [Branch; 2] {
    let second = if members.is_multiple_of(2) {
        let mirror = |at| members - 1 - at;
        tree(members, mirror(at)).map(mirror)
    } else {
        tree(members, (at + members - 1) % members).map(|other| (other + 1) % members)
    };
    [tree(members, at), second]
}

/// The place in the first tree.
fn tree(members: u32, at: u32) -> Branch {
    if at == 0 {
        // The largest power of two below `members`.
        let child = (members > 1).then(|| 1 << (members - 1).ilog2());
        return Branch { up: None, down: [None, child] };
    }
    let bit = at & at.wrapping_neg();
    let above = (at ^ bit) | (bit << 1);
    let up = if above >= members { at ^ bit } else { above };
    let half = bit >> 1;
    let down0 = (half > 0).then(|| at - half);
    let down1 = core::iter::successors(Some(half), |half| Some(half >> 1))
        .take_while(|&half| half > 0)
        .map(|half| at + half)
        .find(|&child| child < members);
    Branch { up: Some(up), down: [down0, down1] }
}

/// Both trees of a team, each with its members from the root down.
fn trees(members: usize) -> [(Vec<Branch>, Vec<usize>); 2] {
    let both: Vec<_> = (0..members as u32).map(|at| double_tree(members as u32, at)).collect();
    [0, 1].map(|tree| {
        let branches: Vec<Branch> = both.iter().map(|both| both[tree]).collect();
        let root = branches.iter().position(|branch| branch.up.is_none()).expect("a tree has a root");
        let mut order = alloc::vec![root];
        let mut next = 0;
        while let Some(&at) = order.get(next) {
            order.extend(branches[at].down.iter().flatten().map(|&child| child as usize));
            next += 1;
        }
        (branches, order)
    })
}

/// Up both trees, and down again.
pub(super) fn all_reduce(plan: &mut Plan, team: &[u32], octets: u64) {
    let own = plan.all_ready(team, 3);
    for (tree, (branches, order)) in trees(team.len()).iter().enumerate() {
        let octets = part(octets, 2, tree as u64);
        let mut received = up(plan, team, branches, order, octets, &own);
        let root = order[0];
        let mut after = own[root].clone();
        after.extend(&received[root]);
        down(plan, team, branches, order, octets, &after, &mut received);
        plan.received(team, received);
    }
}

/// From the root to the roots of two trees of all others, and down.
pub(super) fn broadcast(plan: &mut Plan, team: &[u32], root: usize, octets: u64) {
    let others = others(team, root);
    let own = plan.ready(team[root], 2);
    for (tree, (branches, order)) in trees(others.len()).iter().enumerate() {
        let octets = part(octets, 2, tree as u64);
        let mut received = alloc::vec![Vec::new(); others.len()];
        let first = plan.send(team[root], others[order[0]], octets, &own);
        received[order[0]].push(first);
        down(plan, &others, branches, order, octets, &[first], &mut received);
        plan.received(&others, received);
    }
}

/// Up two trees of all but the root, and from their roots to it.
pub(super) fn reduce(plan: &mut Plan, team: &[u32], root: usize, octets: u64) {
    let others = others(team, root);
    let own = plan.all_ready(&others, 2);
    for (tree, (branches, order)) in trees(others.len()).iter().enumerate() {
        let octets = part(octets, 2, tree as u64);
        let received = up(plan, &others, branches, order, octets, &own);
        let mut after = own[order[0]].clone();
        after.extend(&received[order[0]]);
        let last = plan.send(others[order[0]], team[root], octets, &after);
        plan.received(&others, received);
        plan.received(&[team[root]], alloc::vec![alloc::vec![last]]);
    }
}

/// The members after the root, around the ring.
fn others(team: &[u32], root: usize) -> Vec<u32> {
    (1..team.len()).map(|at| team[(root + at) % team.len()]).collect()
}

/// From the leaves to the root: the messages that each member received.
fn up(plan: &mut Plan, team: &[u32], tree: &[Branch], order: &[usize], octets: u64, own: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let mut received = alloc::vec![Vec::new(); team.len()];
    for &at in order.iter().rev() {
        if let Some(parent) = tree[at].up.map(|parent| parent as usize) {
            let mut after = own[at].clone();
            after.extend(&received[at]);
            let message = plan.send(team[at], team[parent], octets, &after);
            received[parent].push(message);
        }
    }
    received
}

/// From the root, which waits for `first`, to the leaves.
fn down(
    plan: &mut Plan,
    team: &[u32],
    tree: &[Branch],
    order: &[usize],
    octets: u64,
    first: &[u32],
    received: &mut [Vec<u32>],
) {
    let mut from_parent = alloc::vec![first.to_vec(); 1];
    from_parent.resize(team.len(), Vec::new());
    from_parent.swap(0, order[0]);
    for &at in order {
        for child in tree[at].down.iter().flatten().map(|&child| child as usize) {
            let after = from_parent[at].clone();
            let message = plan.send(team[at], team[child], octets, &after);
            from_parent[child].push(message);
            received[child].push(message);
        }
    }
}
