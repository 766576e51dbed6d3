//! What a collective does, and by which algorithm.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// What a collective does. A root is an index into the group, not a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Everyone gets the sum of everyone's `octets`.
    AllReduce,
    /// Everyone gets its part of the sum: `octets` is the size before, at each rank.
    ReduceScatter,
    /// Everyone gets everyone's part: `octets` is the size afterwards.
    AllGather,
    /// Everyone sends a part of its `octets` to everyone, itself included.
    AllToAll,
    /// Everyone sends another size to everyone: row by row, the octets from each member to each. `octets` is not used.
    AllToAllV(Vec<u64>),
    /// Everyone gets the root's `octets`.
    Broadcast {
        /// Its index in the group.
        root: u32,
    },
    /// The root gets the sum of everyone's `octets`.
    Reduce {
        /// Its index in the group.
        root: u32,
    },
    /// Everyone waits for everyone: messages without octets.
    Barrier,
}

/// How the messages of a collective go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Algorithm {
    /// To the next member, in steps.
    Ring,
    /// NCCL's double binary tree: all-reduce, broadcast, reduce, barrier.
    DoubleTree,
    /// Recursive halving and doubling; members beyond a power of two take part by a step before and a step after.
    HalvingDoubling,
    /// Everything at once, from each member to each.
    Direct,
    /// From each member to each, one partner after another.
    Pairwise,
}

/// A level of a hierarchy: consecutive members of the group that share a host, a rail or a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// Members in a block. The group's size is a multiple of it.
    pub members: u32,
    /// The algorithm inside of a block.
    pub algorithm: Algorithm,
}

/// A collective: what, how much, how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collective {
    /// What it does.
    pub kind: Kind,
    /// Its octets at a rank; see [`Kind`].
    pub octets: u64,
    /// Its algorithm, on the outermost level.
    pub algorithm: Algorithm,
    /// Levels inside of it, the innermost first; empty is flat. An all-reduce is a reduce-scatter inside, an all-reduce
    /// across and an all-gather inside.
    pub levels: Vec<Level>,
    /// Parts of the data that go independently of each other, at least 1.
    pub channels: u32,
    /// Parts of a channel's data that follow each other through the steps (pipelining), at least 1.
    pub chunks: u32,
    /// Chunks of a channel that a member has sent at once to the same member in the same step and that have not
    /// arrived; 0 has no limit.
    pub in_flight: u32,
    /// Time from the moment in which a member may send to that in which the message leaves: the processing of a step.
    pub step_latency_ps: u64,
}

impl Collective {
    /// A collective in one channel and one chunk, flat, whose steps take no time.
    ///
    /// Two chunks may be in flight: one fills the line while the arrival of the other is on its way. With no limit all
    /// chunks would share the line, and the first would arrive as late as the last.
    #[must_use]
    pub fn new(kind: Kind, octets: u64, algorithm: Algorithm) -> Self {
        Self { kind, octets, algorithm, levels: Vec::new(), channels: 1, chunks: 1, in_flight: 2, step_latency_ps: 0 }
    }
}

impl Collective {
    /// Refuses a collective that cannot be done among this number of members.
    ///
    /// # Errors
    ///
    /// What is wrong, and what to write instead, as a sentence without its subject's place.
    pub fn check(&self, members: u32) -> Result<(), String> {
        if members == 0 {
            return Err("the group has no members".to_string());
        }
        if self.channels == 0 || self.chunks == 0 {
            return Err("channels and chunks are at least 1".to_string());
        }
        if let Kind::Broadcast { root } | Kind::Reduce { root } = self.kind
            && root >= members
        {
            return Err(format!("root {root} is not in the group: an index from 0 to {}", members - 1));
        }
        if let Kind::AllToAllV(octets) = &self.kind {
            let wanted = u64::from(members) * u64::from(members);
            if octets.len() as u64 != wanted {
                return Err(format!("{} sizes for {members} members: {wanted}, row by row", octets.len()));
            }
            if octets.iter().try_fold(0_u64, |sum, &octets| sum.checked_add(octets)).is_none() {
                return Err("the sum of all sizes is 2^64 octets or more".to_string());
            }
        }
        let mut left = members;
        for level in &self.levels {
            if level.members == 0 || !left.is_multiple_of(level.members) {
                return Err(format!(
                    "{left} members do not fill blocks of {}: a divisor of {left}, at least 1",
                    level.members
                ));
            }
            left /= level.members;
        }
        let inner = self.levels.iter().map(|level| (level.algorithm, true));
        for (algorithm, inside) in inner.chain([(self.algorithm, false)]) {
            let fit = self.algorithms(inside);
            if !fit.contains(&algorithm) {
                let names: Vec<&str> = fit.iter().map(|algorithm| algorithm.name()).collect();
                let place = if inside { " inside of a block" } else { "" };
                let (kind, algorithm) = (self.kind.name(), algorithm.name());
                return Err(format!("{kind} has no algorithm {algorithm}{place}: one of {}", names.join(", ")));
            }
        }
        let messages = self.messages(members);
        if messages > MESSAGES_MAX {
            return Err(format!(
                "{} has some {messages} messages, more than {MESSAGES_MAX}: fewer members, channels or chunks, or levels",
                self.kind.name()
            ));
        }
        Ok(())
    }

    /// About how many messages it has among this number of members: as many as there are, or a few more.
    #[must_use]
    pub fn messages(&self, members: u32) -> u128 {
        let slices = u128::from(self.channels) * u128::from(self.chunks);
        slices.saturating_mul(self.messages_of_slice(u128::from(members)))
    }

    /// About how many messages a chunk of a channel has.
    fn messages_of_slice(&self, members: u128) -> u128 {
        let to_or_from_all = matches!(self.kind, Kind::Broadcast { .. } | Kind::Reduce { .. });
        let flat = |algorithm, members: u128| match algorithm {
            Algorithm::DoubleTree => 4 * members,
            Algorithm::HalvingDoubling => 2 * members * (1 + u128::from(members.ilog2())),
            _ if to_or_from_all => members,
            _ if matches!(self.kind, Kind::AllReduce | Kind::Barrier) => 2 * members * members,
            _ => members * members,
        };
        let (mut messages, mut left) = (0, members);
        for level in &self.levels {
            let block = u128::from(level.members);
            messages += members / block * flat(level.algorithm, block);
            left /= block;
        }
        messages + members / left * flat(self.algorithm, left)
    }

    /// The algorithms that do it, on the outermost level or inside of a block.
    fn algorithms(&self, inside: bool) -> &'static [Algorithm] {
        use Algorithm::{Direct, DoubleTree, HalvingDoubling, Pairwise, Ring};
        match self.kind {
            Kind::AllReduce | Kind::Barrier if !inside => &[Ring, DoubleTree, HalvingDoubling, Direct, Pairwise],
            Kind::AllReduce | Kind::Barrier | Kind::ReduceScatter | Kind::AllGather => {
                &[Ring, HalvingDoubling, Direct, Pairwise]
            }
            Kind::AllToAll | Kind::AllToAllV(_) => &[Direct, Pairwise],
            Kind::Broadcast { .. } | Kind::Reduce { .. } => &[Ring, DoubleTree, Direct],
        }
    }
}

/// The most messages of a collective. A ring's take 28 octets each, and 57 while they are planned: 15 GB in all.
const MESSAGES_MAX: u128 = 1 << 28;

impl Kind {
    /// Its name in texts.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::AllReduce => "all-reduce",
            Self::ReduceScatter => "reduce-scatter",
            Self::AllGather => "all-gather",
            Self::AllToAll => "all-to-all",
            Self::AllToAllV(_) => "all-to-all-v",
            Self::Broadcast { .. } => "broadcast",
            Self::Reduce { .. } => "reduce",
            Self::Barrier => "barrier",
        }
    }
}

impl Algorithm {
    /// All, in the order of their declaration.
    pub const ALL: [Self; 5] = [Self::Ring, Self::DoubleTree, Self::HalvingDoubling, Self::Direct, Self::Pairwise];

    /// Its name in texts.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ring => "ring",
            Self::DoubleTree => "double-tree",
            Self::HalvingDoubling => "halving-doubling",
            Self::Direct => "direct",
            Self::Pairwise => "pairwise",
        }
    }
}
