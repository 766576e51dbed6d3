//! Recursive halving and doubling (Thakur, Rabenseifner and Gropp 2005).
//!
//! With n members, of which the largest power of two is p, the first 2 (n - p) form pairs. The first of a pair gives
//! all that it has to the second before the exchange, and gets its result after it.

use alloc::vec::Vec;

use super::{Plan, parts};

/// Those that exchange: p of the team.
struct Pairing<'a> {
    team: &'a [u32],
    /// Members that only give and get.
    idle: usize,
    /// The first octet of each one's part, and the end of the last one's.
    begins: Vec<u64>,
    /// The messages that its sends of this phase wait for, for each member of the team.
    own: Vec<Vec<u32>>,
    received: Vec<Vec<u32>>,
}

impl<'a> Pairing<'a> {
    /// The team's exchange of parts. `sizes` has those of the p that exchange.
    fn new(plan: &mut Plan, team: &'a [u32], sizes: impl Iterator<Item = u64>) -> Self {
        let mut begins = alloc::vec![0];
        for (at, size) in sizes.enumerate() {
            begins.push(begins[at] + size);
        }
        let idle = team.len() - power(team.len());
        let own = plan.all_ready(team, 2);
        Self { team, idle, begins, own, received: alloc::vec![Vec::new(); team.len()] }
    }

    /// The index in the team of those that exchange.
    fn index(&self, at: usize) -> usize {
        if at < self.idle { 2 * at + 1 } else { at + self.idle }
    }

    /// A message that waits for all that its sender has received until before this step.
    fn send(&self, plan: &mut Plan, from: usize, to: usize, octets: u64) -> (usize, u32) {
        let mut after = self.own[from].clone();
        after.extend(&self.received[from]);
        (to, plan.send(self.team[from], self.team[to], octets, &after))
    }

    /// The messages of a step are received.
    fn step(&mut self, messages: Vec<(usize, u32)>) {
        for (to, message) in messages {
            self.received[to].push(message);
        }
    }

    /// Those that do not exchange give what they have.
    fn give(&mut self, plan: &mut Plan, octets: impl Fn(usize) -> u64) {
        let messages = (0..self.idle).map(|pair| self.send(plan, 2 * pair, 2 * pair + 1, octets(pair))).collect();
        self.step(messages);
    }

    /// They get their result.
    fn get(&mut self, plan: &mut Plan, octets: impl Fn(usize) -> u64) {
        let messages = (0..self.idle).map(|pair| self.send(plan, 2 * pair + 1, 2 * pair, octets(pair))).collect();
        self.step(messages);
    }

    /// A step of the exchange, at a distance: each sends its partner's block of parts, or the one that it has.
    fn exchange(&mut self, plan: &mut Plan, distance: usize, of_partner: bool) {
        let messages = (0..self.begins.len() - 1)
            .map(|at| {
                let partner = at ^ distance;
                let block = if of_partner { partner } else { at } / distance * distance;
                let octets = self.begins[block + distance] - self.begins[block];
                self.send(plan, self.index(at), self.index(partner), octets)
            })
            .collect();
        self.step(messages);
    }

    /// Each ends with the sum of its part.
    fn halve(&mut self, plan: &mut Plan) {
        for step in (0..(self.begins.len() - 1).ilog2()).rev() {
            self.exchange(plan, 1 << step, true);
        }
    }

    /// Each ends with all parts.
    fn double(&mut self, plan: &mut Plan) {
        for step in 0..(self.begins.len() - 1).ilog2() {
            self.exchange(plan, 1 << step, false);
        }
    }
}

/// The largest power of two that is not above `n`.
fn power(n: usize) -> usize {
    1 << n.ilog2()
}

/// The parts of those that exchange when each member of the team has one: the first of a pair leaves its part to the
/// second.
fn joined(sizes: &[u64]) -> impl Iterator<Item = u64> {
    let idle = sizes.len() - power(sizes.len());
    (0..idle).map(|pair| sizes[2 * pair] + sizes[2 * pair + 1]).chain(sizes[2 * idle..].iter().copied())
}

/// Halving, then doubling.
pub(super) fn all_reduce(plan: &mut Plan, team: &[u32], octets: u64) {
    let mut pairing = Pairing::new(plan, team, parts(octets, power(team.len())).into_iter());
    pairing.give(plan, |_| octets);
    pairing.halve(plan);
    pairing.double(plan);
    pairing.get(plan, |_| octets);
    plan.received(team, pairing.received);
}

/// Halving: the member with index i ends with the part i.
pub(super) fn reduce_scatter(plan: &mut Plan, team: &[u32], sizes: &[u64]) {
    let all = sizes.iter().sum();
    let mut pairing = Pairing::new(plan, team, joined(sizes));
    pairing.give(plan, |_| all);
    pairing.halve(plan);
    pairing.get(plan, |pair| sizes[2 * pair]);
    plan.received(team, pairing.received);
}

/// Doubling: the member with index i begins with the part i.
pub(super) fn all_gather(plan: &mut Plan, team: &[u32], sizes: &[u64]) {
    let all: u64 = sizes.iter().sum();
    let mut pairing = Pairing::new(plan, team, joined(sizes));
    pairing.give(plan, |pair| sizes[2 * pair]);
    pairing.double(plan);
    pairing.get(plan, |pair| all - sizes[2 * pair]);
    plan.received(team, pairing.received);
}
