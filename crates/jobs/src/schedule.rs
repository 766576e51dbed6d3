//! The messages of a collective among the members of a group, by algorithm.
//!
//! The data goes in slices: each chunk of each channel. All slices have the same messages, of sizes whose sum is exact.

mod exchange;
mod halving;
mod levels;
mod ring;
mod tree;

pub use tree::{Branch, double_tree};

use alloc::vec::Vec;

use crate::collective::{Collective, Kind};

/// A message of a collective. Members are indices into the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The sender.
    pub from: u32,
    /// The receiver. A message to its sender has no octets, takes no time and is not sent: it joins those it waits for.
    pub to: u32,
    /// Its size.
    pub octets: u64,
}

/// The messages of a collective, by their senders.
///
/// A message starts when its sender takes part and knows that the messages that it waits for have been delivered: they are to that
/// member or from it. A member's part has ended when the messages to it have been delivered and those from it have started. One that
/// receives nothing ends when it knows that those from it have been delivered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    messages: Vec<Message>,
    /// The end of each member's messages.
    member_ends: Vec<u32>,
    /// For each message the number of those that it waits for.
    waits: Vec<u32>,
    /// The end of each message's part in `waiting`.
    waiting_ends: Vec<u32>,
    waiting: Vec<u32>,
    channels: u32,
}

impl Schedule {
    /// The messages of a collective among `members`, which [`Collective::check`] has accepted; `None` if they or their
    /// dependencies are 2^32 or more.
    ///
    /// # Panics
    ///
    /// If the collective does not fit the members.
    #[must_use]
    pub fn new(collective: &Collective, members: u32) -> Option<Self> {
        let slices = u64::from(collective.channels) * u64::from(collective.chunks);
        let mut plan = Plan::default();
        let mut stride = 0;
        for slice in 0..slices {
            let begin = plan.messages.len();
            plan.frontier = alloc::vec![Vec::new(); members as usize];
            levels::plan(&mut plan, collective, members, &Slice { slices, slice });
            if slice == 0 {
                stride = plan.messages.len();
                let most = u64::from(u32::MAX) / slices;
                if stride as u64 >= most || plan.pairs.len() as u64 + stride as u64 >= most {
                    return None;
                }
            }
            assert_eq!(plan.messages.len(), begin + stride, "all slices have the same messages");
            let chunk = slice % u64::from(collective.chunks);
            let window = u64::from(collective.in_flight);
            if window > 0 && chunk >= window {
                let earlier = begin - stride * window as usize;
                plan.pairs.extend((0..stride).map(|at| ((begin + at) as u32, (earlier + at) as u32)));
            }
        }
        Some(plan.finish(members, collective.channels))
    }

    /// All messages, those of the first member first.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// The numbers of a member's messages.
    #[must_use]
    pub fn sent_by(&self, member: u32) -> core::ops::Range<u32> {
        let begin = if member == 0 { 0 } else { self.member_ends[member as usize - 1] };
        begin..self.member_ends[member as usize]
    }

    /// The channel of a message, from 0 on.
    #[must_use]
    pub fn channel(&self, message: u32) -> u32 {
        // Each channel has the same messages, and those of a member are in the order of channels.
        let own = self.sent_by(self.messages[message as usize].from);
        let each = (own.end - own.start) / self.channels;
        (message - own.start) / each
    }

    /// For each message the number of messages that it waits for.
    #[must_use]
    pub fn waits(&self) -> &[u32] {
        &self.waits
    }

    /// The messages that wait for a message.
    #[must_use]
    pub fn waiting_for(&self, message: u32) -> &[u32] {
        let message = message as usize;
        let begin = if message == 0 { 0 } else { self.waiting_ends[message - 1] };
        &self.waiting[begin as usize..self.waiting_ends[message] as usize]
    }
}

/// A part of the data: one chunk of one channel.
struct Slice {
    slices: u64,
    slice: u64,
}

impl Slice {
    /// This slice of some octets.
    fn of(&self, octets: u64) -> u64 {
        part(octets, self.slices, self.slice)
    }

    /// This slice of each of the parts that `octets` have at `members` members.
    fn parts(&self, octets: u64, members: u32) -> Vec<u64> {
        (0..u64::from(members)).map(|member| self.of(part(octets, u64::from(members), member))).collect()
    }
}

/// The part with number `at` when octets are split into `parts` whose sizes differ by one at the most.
#[must_use]
pub fn part(octets: u64, parts: u64, at: u64) -> u64 {
    let end = |at: u64| u128::from(octets) * u128::from(at) / u128::from(parts);
    (end(at + 1) - end(at)) as u64
}

/// The same for all parts.
fn parts(octets: u64, count: usize) -> Vec<u64> {
    (0..count as u64).map(|at| part(octets, count as u64, at)).collect()
}

/// Messages in the order in which algorithms give them.
#[derive(Debug, Default)]
struct Plan {
    messages: Vec<Message>,
    /// Pairs (waiting message, awaited message).
    pairs: Vec<(u32, u32)>,
    /// For each member the messages of the slice that it has received in earlier phases.
    frontier: Vec<Vec<u32>>,
}

impl Plan {
    /// Adds a message that waits for others.
    fn send(&mut self, from: u32, to: u32, octets: u64, after: &[u32]) -> u32 {
        let message = self.messages.len() as u32;
        self.messages.push(Message { from, to, octets });
        self.pairs.extend(after.iter().map(|&other| (message, other)));
        message
    }

    /// The messages that a member's sends of a phase wait for, at least: all that it has received in earlier phases. If
    /// it sends more than one message, one join stands for many.
    fn ready(&mut self, member: u32, sends: usize) -> Vec<u32> {
        let waits = core::mem::take(&mut self.frontier[member as usize]);
        let waits =
            if waits.len() > 1 && sends > 1 { alloc::vec![self.send(member, member, 0, &waits)] } else { waits };
        self.frontier[member as usize].clone_from(&waits);
        waits
    }

    /// The same for each member of a team.
    fn all_ready(&mut self, team: &[u32], sends: usize) -> Vec<Vec<u32>> {
        team.iter().map(|&member| self.ready(member, sends)).collect()
    }

    /// A phase has ended in which the members of a team received these messages.
    fn received(&mut self, team: &[u32], messages: Vec<Vec<u32>>) {
        for (&member, messages) in team.iter().zip(messages) {
            self.frontier[member as usize].extend(messages);
        }
    }

    /// The schedule: messages by their senders, otherwise in their order.
    fn finish(self, members: u32, channels: u32) -> Schedule {
        let count = self.messages.len();
        let mut member_ends = alloc::vec![0_u32; members as usize];
        for message in &self.messages {
            member_ends[message.from as usize] += 1;
        }
        begins(&mut member_ends);
        let mut place = alloc::vec![0_u32; count];
        let mut messages = alloc::vec![Message { from: 0, to: 0, octets: 0 }; count];
        for (at, message) in self.messages.iter().enumerate() {
            let next = &mut member_ends[message.from as usize];
            place[at] = *next;
            messages[*next as usize] = *message;
            *next += 1;
        }
        let mut waits = alloc::vec![0_u32; count];
        let mut waiting_ends = alloc::vec![0_u32; count];
        for &(message, other) in &self.pairs {
            waits[place[message as usize] as usize] += 1;
            waiting_ends[place[other as usize] as usize] += 1;
        }
        begins(&mut waiting_ends);
        let mut waiting = alloc::vec![0_u32; self.pairs.len()];
        for &(message, other) in &self.pairs {
            let (waits, awaited) = (self.messages[message as usize], self.messages[other as usize]);
            assert!([awaited.from, awaited.to].contains(&waits.from), "a member waits for its own messages alone");
            let next = &mut waiting_ends[place[other as usize] as usize];
            waiting[*next as usize] = place[message as usize];
            *next += 1;
        }
        Schedule { messages, member_ends, waits, waiting_ends, waiting, channels }
    }
}

/// Counts become begins; who fills a part moves its begin to its end.
pub(crate) fn begins(counts: &mut [u32]) {
    let mut sum = 0;
    for count in counts {
        (*count, sum) = (sum, sum + *count);
    }
}

/// The octets from each member to each in an all-to-all exchange, row by row.
fn matrix(collective: &Collective, members: u32, slice: &Slice) -> Vec<Option<u64>> {
    let n = members as usize;
    match &collective.kind {
        // Who sends nothing to a member sends no message.
        Kind::AllToAllV(octets) => octets.iter().map(|&octets| (octets > 0).then(|| slice.of(octets))).collect(),
        _ => {
            let row = slice.parts(collective.octets, members);
            (0..n * n).map(|at| Some(row[at % n])).collect()
        }
    }
}
