//! Pools: memory of a switch that its queues share, with static reserves, dynamic thresholds and headroom.
//!
//! Each frame counts twice: where it leaves (*egress*, its output queue) and where it came from (*ingress*, the line and the
//! priority). Either account takes its reserve first and the shared part of the pool after that. Either may be bounded there by
//! a dynamic threshold (Choudhury and Hahne 1998, "Dynamic queue length thresholds for shared-memory packet switches", IEEE/ACM
//! Transactions on Networking 6(2)):
//!
//! ```text
//!   T = alpha × (shared part − its use by all queues)
//! ```
//!
//! | Frame | Egress | Ingress |
//! |---|---|---|
//! | of a priority without flow control | reserve, then T | reserve, then T if there is an alpha |
//! | of a lossless priority, over a line with an ingress buffer | counted | reserve, then T, then headroom |
//! | of the switch itself (a signal) | reserve, then T | counted |
//!
//! The shared part is the pool without the reserves of both accounts, so that the memory is never exceeded and each reserve is
//! there when it is needed, in whatever order frames come.
//!
//! With flow control a frame beyond T goes into the headroom, and the neighbour is signalled to stop. The pool is asked when a
//! frame of the neighbour comes or goes: a threshold that falls because of others stops it with its next frame.
//!
//! *Departures.* Ports are settled lazily ([`crate::datapath`]), so a pool may not know yet that a frame has left another port. It
//! then takes itself to be fuller than it is. A frame that it has room for nevertheless, without a new maximum, has room;
//! for any other all ports of the switch are settled first.

mod check;
mod group;

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use penstock_endpoint::{PortId, TrafficClass};
use penstock_schemes::Instant;

use crate::config::{Config, Pool, Port, Share};
use crate::events::{CounterId, FrameId, QueueId};
use crate::state::port::PortState;
use group::Group;
pub use group::Occupancy;

penstock_endpoint::indices!(
    /// Index into [`Config::pools`].
    PoolId
);

/// A frame that is asking for memory, or has it.
#[derive(Debug, Clone, Copy)]
pub struct Claim {
    /// Its queue.
    pub queue: QueueId,
    /// Its line and its priority; none for a frame of the switch itself.
    pub group: CounterId,
    /// Its length.
    pub octets: u16,
    /// Octets of its queue without it.
    pub len: u64,
}

/// What a queue, or the frames of a line and priority, may take of an account.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Terms {
    reserve: u64,
    alpha: Option<f64>,
}

impl Terms {
    /// Of one without a pool.
    const NONE: Self = Self { reserve: 0, alpha: None };

    fn new(share: Share) -> Self {
        Self { reserve: share.reserve.0, alpha: share.alpha }
    }

    /// Octets beyond the reserve.
    fn beyond(self, held: u64) -> u64 {
        held.saturating_sub(self.reserve)
    }

    /// Octets beyond the reserve that one more holds if it had `held` before.
    #[inline(always)]
    fn growth(self, held: u64, more: u64) -> u64 {
        if self.reserve == 0 { more } else { self.beyond(held + more) - self.beyond(held) }
    }

    /// The dynamic threshold where `free` octets of the shared part are.
    fn threshold(self, free: u64) -> u64 {
        // Products beyond 64 bits end at the largest number.
        self.alpha.map_or(u64::MAX, |alpha| (free as f64 * alpha) as u64)
    }
}

/// One of the two accounts of a pool.
#[derive(Debug, Clone, Copy)]
struct Account {
    /// The shared part of the pool.
    shared: u64,
    /// Its octets in use.
    used: u64,
}

impl Account {
    fn free(&self) -> u64 {
        self.shared.saturating_sub(self.used)
    }

    /// Whether one that holds `held` may take `more`.
    #[inline(always)]
    fn allows(&self, terms: Terms, held: u64, more: u64) -> bool {
        let (before, after) = (terms.beyond(held), terms.beyond(held + more));
        // The dynamic threshold without its conversions: sizes are far below 2^53 octets.
        let within = || terms.alpha.is_none_or(|alpha| after as i64 as f64 <= self.free() as i64 as f64 * alpha);
        after == 0 || (self.used + (after - before) <= self.shared && within())
    }

    #[inline(always)]
    fn take(&mut self, terms: Terms, held: &mut u64, more: u64) {
        self.used += terms.growth(*held, more);
        *held += more;
    }

    #[inline(always)]
    fn give_back(&mut self, terms: Terms, held: &mut u64, octets: u64) {
        *held -= octets;
        self.used -= terms.growth(*held, octets);
    }
}

/// The memory that a pool has given, over time. Changes may be reported in any order.
#[derive(Debug, Clone, Copy, Default)]
pub struct Usage {
    /// Octets given.
    pub now: u64,
    /// The most since the last reading.
    pub max: u64,
    /// Octets × ps of all that were given since time zero, each counted to the end of time (2^64 ps), modulo 2^128.
    to_the_end: u128,
}

impl Usage {
    /// The integral of the octets up to `at`, octets × ps, when all changes until then have been reported.
    pub fn area(&self, at: Instant) -> u128 {
        self.to_the_end.wrapping_sub(u128::from(self.now) * u128::from(u64::MAX - at.0))
    }

    #[inline(always)]
    fn take(&mut self, at: Instant, octets: u64) {
        self.now += octets;
        self.to_the_end = self.to_the_end.wrapping_add(u128::from(octets) * u128::from(u64::MAX - at.0));
    }

    #[inline(always)]
    fn give_back(&mut self, at: Instant, octets: u64) {
        self.now -= octets;
        self.to_the_end = self.to_the_end.wrapping_sub(u128::from(octets) * u128::from(u64::MAX - at.0));
    }
}

/// A queue, as a pool knows it.
#[derive(Debug, Clone)]
struct Holder {
    /// None for a queue with separate memory.
    pool: PoolId,
    /// Memory of its frames; not kept for that of a plain pool, where it is the length of the queue.
    held: u64,
}

/// The state of a pool.
#[derive(Debug, Clone)]
pub struct PoolState {
    cell: u16,
    size: u64,
    headroom: u64,
    /// A frame takes its octets of the shared part, and the queues alone decide: so what is taken is the sum of their lengths.
    plain: bool,
    /// Of a plain pool, what is used is not kept here.
    egress: Account,
    ingress: Account,
    /// The terms of its queues, those of priorities that are alike once.
    of_queues: Vec<Terms>,
    /// A queue that holds no more octets than this has room for certain while `used` makes no new maximum: its reserve and its dynamic
    /// threshold at the present maximum.
    surely: u64,
    /// Memory taken, the headroom's included.
    pub used: Usage,
    /// Memory taken of the headroom.
    pub in_headroom: u64,
    /// The most memory taken of the headroom since the last reading.
    pub most_in_headroom: u64,
    /// Frames that found no memory.
    pub refused: u64,
    /// Whether the ingress account refuses frames or stops neighbours. One that only counts is not kept.
    keeps_ingress: bool,
    /// The ports of the switch.
    ports: Vec<PortId>,
}

/// The part of a pool that an account takes a frame from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Common,
    Headroom,
}

impl PoolState {
    /// `ports` are those of its switch, to which `lines` lead.
    fn new(pool: &Pool, lines: u64, lossless: bool, ports: Vec<PortId>) -> Self {
        let reserved = pool.reserved(ports.len() as u64, lines);
        let shared = pool.size.0.checked_sub(reserved.0);
        let shared = shared.unwrap_or_else(|| panic!("reserves of {reserved} in a pool of {}", pool.size));
        let mut of_queues: Vec<Terms> = Vec::new();
        for terms in pool.egress.iter().copied().map(Terms::new) {
            if !of_queues.contains(&terms) {
                of_queues.push(terms);
            }
        }
        let mut state = Self {
            cell: pool.cell,
            size: pool.size.0,
            headroom: pool.headroom.0,
            plain: false,
            egress: Account { shared, used: 0 },
            ingress: Account { shared, used: 0 },
            of_queues,
            surely: 0,
            used: Usage::default(),
            in_headroom: 0,
            most_in_headroom: 0,
            refused: 0,
            keeps_ingress: lossless || pool.ingress.iter().any(|share| share.alpha.is_some()),
            ports,
        };
        let reserves = state.of_queues.iter().any(|terms| terms.reserve > 0);
        state.plain = state.cell == 1 && !reserves && !state.keeps_ingress;
        state.set_max(0);
        state
    }

    /// The most memory taken is `max` now.
    fn set_max(&mut self, max: u64) {
        self.used.max = max;
        // No account uses more of the shared part than all queues hold.
        let free = self.egress.shared.checked_sub(max).filter(|_| !self.keeps_ingress);
        let least = |free| self.of_queues.iter().map(|terms| terms.reserve.saturating_add(terms.threshold(free))).min();
        self.surely = free.and_then(least).unwrap_or(0);
    }

    /// The account of the queues.
    fn account_of_queues(&self) -> Account {
        Account { used: if self.plain { self.used.now } else { self.egress.used }, ..self.egress }
    }

    /// Memory that the frames of a queue hold that is `len` octets long.
    fn held(&self, holder: &Holder, len: u64) -> u64 {
        if self.plain { len } else { holder.held }
    }

    /// Memory of a frame.
    #[inline(always)]
    fn memory(&self, octets: u16) -> u64 {
        if self.cell == 1 {
            return u64::from(octets);
        }
        u64::from(u32::from(octets).div_ceil(u32::from(self.cell)) * u32::from(self.cell))
    }

    /// The part from which the ingress account takes `more`; `None` where it refuses.
    fn part(&self, group: &Group, more: u64) -> Option<Part> {
        // Without flow control and threshold it only counts.
        let counts = group.headroom.is_none() && group.terms.alpha.is_none();
        if counts || self.ingress.allows(group.terms, group.held, more) {
            return Some(Part::Common);
        }
        let most = group.headroom?;
        let fits = group.in_headroom + more <= most && self.in_headroom + more <= self.headroom;
        fits.then_some(Part::Headroom)
    }

    /// The maxima start again.
    fn restart_extremes(&mut self) {
        self.set_max(self.used.now);
        self.most_in_headroom = self.in_headroom;
    }
}

/// All pools of a config.
#[derive(Debug)]
pub struct Pools {
    /// Each pool, in the order of [`Config::pools`].
    pub list: Vec<PoolState>,
    per_port: u32,
    /// By queue.
    holders: Vec<Holder>,
    /// By queue, apart: most frames ask only for the holder.
    terms: Vec<Terms>,
    /// By line and priority: [`CounterId`].
    groups: Vec<Group>,
    /// By slot of a frame in a queue: its group.
    charged: Vec<CounterId>,
}

impl Pools {
    /// The state at the start; `None` where each queue has separate memory.
    ///
    /// # Panics
    /// If a pool is not as its documentation says.
    pub fn new(config: &Config<'_>) -> Option<Box<Self>> {
        if config.pools.is_empty() {
            return None;
        }
        let per_port = config.queues_per_port();
        let queues = config.ports.len() * per_port;
        let mut pools = Self {
            list: Vec::new(),
            per_port: per_port as u32,
            holders: vec![Holder { pool: PoolId::NONE, held: 0 }; queues],
            terms: vec![Terms::NONE; queues],
            groups: vec![Group::NONE; queues],
            charged: Vec::new(),
        };
        for (id, pool) in (0..).map(PoolId).zip(config.pools) {
            let lines = config.ports.iter().filter(|p| p.peer == pool.node).count() as u64;
            for (port, p) in config.ports.iter().enumerate() {
                let shares = pool.priorities.iter().zip(pool.egress.iter().zip(&pool.ingress));
                for (class, (egress, ingress)) in shares.map(|(&priority, shares)| (config.class(priority), shares)) {
                    let index = port * per_port + class.index();
                    if p.node == pool.node {
                        assert!(pools.holders[index].pool == PoolId::NONE, "queue {index} has two pools");
                        (pools.holders[index].pool, pools.terms[index]) = (id, Terms::new(*egress));
                    }
                    if p.peer == pool.node {
                        let headroom = headroom_of(config, pool, port, class);
                        let terms = Terms::new(*ingress);
                        pools.groups[index] = Group { pool: id, headroom, terms, ..Group::NONE };
                    }
                }
            }
            let own = |(_, port): &(PortId, &Port)| port.node == pool.node;
            let ports = (0..).map(PortId).zip(config.ports).filter(own).map(|(id, _)| id).collect();
            pools.list.push(PoolState::new(pool, lines, config.pfc.is_some(), ports));
        }
        Some(Box::new(pools))
    }

    /// The claim of a frame on a queue: port and class of the queue, which is `len` octets long, and the port over whose line the
    /// frame came, or none.
    #[inline(always)]
    pub fn claim(&self, (port, class, from): (PortId, TrafficClass, PortId), octets: u16, len: u64) -> Claim {
        let index = |port: PortId| port.0 * self.per_port + u32::from(class.0);
        let group = if from == PortId::NONE { CounterId::NONE } else { CounterId(index(from)) };
        Claim { queue: QueueId(index(port)), group, octets, len }
    }

    /// Whether there is memory for a frame.
    pub fn has_room(&self, claim: Claim) -> bool {
        let holder = &self.holders[claim.queue.index()];
        let Some(pool) = self.list.get(holder.pool.index()) else { return true };
        let (held, more) = (pool.held(holder, claim.len), pool.memory(claim.octets));
        let of_queue = || pool.account_of_queues().allows(self.terms[claim.queue.index()], held, more);
        if !pool.keeps_ingress {
            return of_queue();
        }
        let group = self.groups.get(claim.group.index());
        let lossless = group.is_some_and(|group| group.headroom.is_some());
        group.is_none_or(|group| pool.part(group, more).is_some()) && (lossless || of_queue())
    }

    /// Takes memory for a frame, with which its queue is `len` octets long, if there is some, whichever frames have left that the pool
    /// does not know of, and if this makes no new maximum. A pool that keeps its ingress account takes none here.
    #[inline(always)]
    pub fn takes_surely(&mut self, now: Instant, queue: QueueId, octets: u16, len: u64) -> bool {
        let holder = &self.holders[queue.index()];
        let Some(pool) = self.list.get_mut(holder.pool.index()) else { return true };
        let more = u64::from(octets);
        if pool.plain && len <= pool.surely {
            let used = pool.used.now + more;
            let sure = used <= pool.used.max;
            if sure {
                pool.used.now = used;
            }
            return sure;
        }
        self.takes_by_account(now, queue, octets, len)
    }

    /// The same where the account of the pool's queues is asked.
    #[cold]
    fn takes_by_account(&mut self, now: Instant, queue: QueueId, octets: u16, len: u64) -> bool {
        let (holder, terms) = (&mut self.holders[queue.index()], self.terms[queue.index()]);
        let Some(pool) = self.list.get_mut(holder.pool.index()) else { return true };
        let more = pool.memory(octets);
        let held = pool.held(holder, len - u64::from(octets));
        let allows = || !pool.keeps_ingress && pool.account_of_queues().allows(terms, held, more);
        if pool.used.now + more > pool.used.max || !(held + more <= pool.surely || allows()) {
            return false;
        }
        if pool.plain {
            pool.used.now += more;
        } else {
            pool.egress.take(terms, &mut holder.held, more);
            pool.used.take(now, more);
        }
        true
    }

    /// The memory that the frames of a line and a priority hold; `None` where it is not counted.
    pub fn occupancy(&self, group: CounterId) -> Option<Occupancy> {
        self.group(group).map(Group::occupancy)
    }

    /// The most of it since the last reading.
    pub fn most(&self, group: CounterId) -> Option<Occupancy> {
        self.group(group).map(|group| group.most)
    }

    fn group(&self, group: CounterId) -> Option<&Group> {
        let group = self.groups.get(group.index())?;
        self.list.get(group.pool.index()).filter(|pool| pool.keeps_ingress).map(|_| group)
    }

    /// The maxima start again.
    pub fn restart_extremes(&mut self) {
        self.list.iter_mut().for_each(PoolState::restart_extremes);
        for group in &mut self.groups {
            group.most = group.occupancy();
        }
    }

    /// The ports of the switch whose pool the queue has; none without a pool.
    pub fn neighbours(&self, claim: Claim) -> &[PortId] {
        let pool = self.holders[claim.queue.index()].pool;
        self.list.get(pool.index()).map_or(&[], |pool| &pool.ports)
    }

    /// The same for a frame that is dropped without.
    pub fn admits(&mut self, claim: Claim) -> bool {
        let has_room = self.has_room(claim);
        if !has_room {
            let pool = self.holders[claim.queue.index()].pool;
            self.list[pool.index()].refused += 1;
        }
        has_room
    }

    /// A frame for which there is room joins its queue.
    pub fn take(&mut self, now: Instant, frame: FrameId, claim: Claim) {
        let holder = &mut self.holders[claim.queue.index()];
        let Some(pool) = self.list.get_mut(holder.pool.index()) else { return };
        let more = pool.memory(claim.octets);
        if pool.plain {
            pool.used.now += more;
        } else {
            pool.egress.take(self.terms[claim.queue.index()], &mut holder.held, more);
            pool.used.take(now, more);
        }
        if pool.used.now > pool.used.max {
            pool.set_max(pool.used.now);
        }
        if !pool.keeps_ingress {
            return;
        }
        if frame.index() >= self.charged.len() {
            self.charged.resize(frame.index() + 1, CounterId::NONE);
        }
        self.charged[frame.index()] = claim.group;
        match self.groups.get_mut(claim.group.index()) {
            None => pool.ingress.used += more,
            Some(group) => {
                match pool.part(group, more) {
                    Some(Part::Headroom) => {
                        group.in_headroom += more;
                        pool.in_headroom += more;
                        pool.most_in_headroom = pool.most_in_headroom.max(pool.in_headroom);
                    }
                    Some(Part::Common) | None => pool.ingress.take(group.terms, &mut group.held, more),
                }
                group.most = group.most.max(group.occupancy());
            }
        }
    }

    /// A frame departs from its queue.
    #[inline(always)]
    pub fn give_back(&mut self, at: Instant, queue: QueueId, frame: FrameId, octets: u16) {
        let index = queue.index();
        match self.list.get_mut(self.holders[index].pool.index()) {
            None => {}
            Some(pool) if pool.plain => pool.used.now -= u64::from(octets),
            Some(_) => self.give_back_to_accounts(at, index, frame, octets),
        }
    }

    /// The same for a queue whose pool is not plain.
    #[inline(never)]
    fn give_back_to_accounts(&mut self, at: Instant, index: usize, frame: FrameId, octets: u16) {
        let holder = &mut self.holders[index];
        let Some(pool) = self.list.get_mut(holder.pool.index()) else { return };
        let octets = pool.memory(octets);
        pool.egress.give_back(self.terms[index], &mut holder.held, octets);
        pool.used.give_back(at, octets);
        if !pool.keeps_ingress {
            return;
        }
        match self.groups.get_mut(self.charged[frame.index()].index()) {
            None => pool.ingress.used -= octets,
            Some(group) => {
                // The headroom empties first, so that there is room for the next stop.
                let of_headroom = octets.min(group.in_headroom);
                group.in_headroom -= of_headroom;
                pool.in_headroom -= of_headroom;
                pool.ingress.give_back(group.terms, &mut group.held, octets - of_headroom);
            }
        }
    }

    /// The integral of the memory that each pool has given up to `now`, octets × ps. All queues, those of `ports`, have been brought to
    /// the present.
    pub fn areas(&self, ports: &[PortState], now: Instant) -> Vec<u128> {
        let of_pool = |(id, pool): (PoolId, &PoolState)| {
            if !pool.plain {
                return pool.used.area(now);
            }
            let own = |index: &usize| self.holders[*index].pool == id;
            let queues = |port: &PortId| {
                let first = port.index() * self.per_port as usize;
                let queues = (first..).zip(&ports[port.index()].queues);
                queues.filter(|(index, _)| own(index)).map(|(_, queue)| queue.statistics.area).sum::<u128>()
            };
            pool.ports.iter().map(queues).sum()
        };
        (0..).map(PoolId).zip(&self.list).map(of_pool).collect()
    }

    /// Whether the neighbour whose frames a group are is to stop.
    pub fn is_over(&self, group: CounterId) -> bool {
        let group = &self.groups[group.index()];
        let Some(pool) = self.list.get(group.pool.index()) else { return false };
        let beyond = group.terms.beyond(group.held);
        let reached = || beyond >= group.terms.threshold(pool.ingress.free());
        group.in_headroom > 0 || (group.terms.alpha.is_some() && beyond > 0 && reached())
    }

    /// Whether the neighbour may go on: the group is below its threshold by `offset`, or within its reserve.
    pub fn is_under(&self, group: CounterId, offset: u64) -> bool {
        let group = &self.groups[group.index()];
        let Some(pool) = self.list.get(group.pool.index()) else { return true };
        let beyond = group.terms.beyond(group.held);
        let threshold = || group.terms.threshold(pool.ingress.free());
        group.in_headroom == 0 && (beyond == 0 || beyond.saturating_add(offset) <= threshold())
    }

    /// Whether a group would be below its threshold by `offset` if it held `memory` alone, of `of_pool` in all.
    pub fn would_be_under(&self, group: CounterId, memory: u64, of_pool: u64, offset: u64) -> bool {
        let group = &self.groups[group.index()];
        let Some(pool) = self.list.get(group.pool.index()) else { return true };
        let beyond = group.terms.beyond(memory);
        let rest = Account { used: of_pool, ..pool.ingress };
        beyond == 0 || beyond.saturating_add(offset) <= group.terms.threshold(rest.free())
    }

    /// Whether two groups have the same pool.
    pub fn share(&self, one: CounterId, other: CounterId) -> bool {
        let pool = self.groups[one.index()].pool;
        pool != PoolId::NONE && pool == self.groups[other.index()].pool
    }

    /// Memory of a frame in a queue.
    pub fn memory(&self, queue: QueueId, octets: u16) -> u64 {
        self.list.get(self.holders[queue.index()].pool.index()).map_or(0, |pool| pool.memory(octets))
    }
}

/// The most of a pool's headroom that the frames of `class` over the line of `port` take; `None` where nothing stops that line.
fn headroom_of(config: &Config<'_>, pool: &Pool, port: usize, class: TrafficClass) -> Option<u64> {
    let pfc = config.pfc?;
    let _ = pfc.ingress[port]?;
    let lossless = pfc.priorities.iter().any(|&priority| config.class(priority) == class);
    let own = pool.lines.binary_search_by_key(&port, |(line, _)| line.index());
    lossless.then(|| own.map_or(pool.headroom, |index| pool.lines[index].1).0)
}
