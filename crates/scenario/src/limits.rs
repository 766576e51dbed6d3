//! How much a scenario may ask for: each limit stated once. A text of a few lines can ask for work without end and for
//! more memory than there is; anything over a limit is refused before it is made.
//!
//! A user who means it raises all of these limits by one factor (`--limit`). The bounds of
//! [`network`](penstock_sim::network) on times, rates and queues are others: beyond them sums would overflow, and
//! nothing raises them.

use std::cell::{Cell, RefCell};

/// The most of something, unless the limits are raised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// The things that are limited, as text for messages.
    pub what: &'static str,
    /// How many.
    pub most: u64,
    /// How many at the most, however far the limits are raised: there the engine's indices end.
    pub ceiling: u64,
    /// Description of the things that count.
    pub doc: &'static str,
}

macro_rules! limits {
    ($($(#[doc = $doc:literal])+ $name:ident = $what:literal, $most:literal, $ceiling:expr;)+) => {
        $($(#[doc = $doc])+ pub const $name: Limit =
            Limit { what: $what, most: $most, ceiling: $ceiling, doc: concat!($($doc),+) };)+
        /// All of them.
        pub const LIMITS: &[Limit] = &[$($name),+];
    };
}
limits! {
    /// Hosts and switches.
    NODES = "nodes", 10_000, 65_000;
    /// Links, each of which runs both ways.
    LINKS = "links", 50_000, 10_000_000;
    /// Flows of `[[flow]]` tables, all rounds of a table counted; names in a range or a list.
    FLOWS = "flows", 100_000, 100_000_000;
    /// Flows of loads, incasts, bursts and traces, and connections of jobs: they come while the run goes on, and are forgotten when they are over.
    ARRIVALS = "flows of loads, incasts and bursts, and connections of jobs", 2_000_000, 60_000_000;
    /// Messages of jobs, all iterations counted; they come and end as flows of loads do.
    MESSAGES = "messages of jobs", 5_000_000, 60_000_000;
    /// Destinations of all flows; each member of a group counts for each flow to it.
    DESTINATIONS = "destinations of flows", 100_000, 100_000_000;
    /// Changes of links, each time that a link flaps counted.
    CHANGES = "changes of links", 100_000, 10_000_000;
    /// Flows that other flows wait for, counted for each flow that waits.
    WAITS = "flows to wait for", 1_000_000, 100_000_000;
    /// Links that the routes of all flows cross, in all.
    HOPS = "hops of flows", 2_000_000, 200_000_000;
    /// Links that the search for routes looks at: all of the network for each destination.
    SEARCH = "steps of the search for routes", 500_000_000, u64::MAX;
    /// Fair shares: flows times periods in which no flow starts or stops and no link changes.
    SHARES = "fair shares", 4_000_000, u64::MAX;
    /// Steps towards fair shares: hops of flows times periods.
    SHARING = "steps towards fair shares", 20_000_000, u64::MAX;
    /// Samples: the duration over the interval of the record.
    SAMPLES = "samples", 10_000_000, u64::MAX;
    /// Rows of samples: samples times recorded queues and flows.
    ROWS = "rows of samples", 100_000_000, u64::MAX;
    /// Entries of the tables of congestion points and reaction points, whose sizes are parameters of the scheme.
    PLACES = "entries in tables of schemes", 20_000_000, u64::MAX;
    /// Readings of windows of measurement: windows times flows and queues.
    READINGS = "readings of windows", 10_000_000, u64::MAX;
    /// Rows in memory of a run whose results do not go to a folder.
    MEMORY_ROWS = "rows in memory", 100_000_000, u64::MAX;
    /// Frames in the network at a time.
    FRAMES = "frames in the network", 20_000_000, 268_000_000;
}

/// By which factor limits are raised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    factor: u64,
    divisor: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { factor: 1, divisor: 1 }
    }
}

impl Limits {
    /// The largest factor: beyond it the numbers of the engine end.
    pub const MOST: u64 = 1000;

    /// The limits times `factor`, which is taken as 1 if it is less and as [`Self::MOST`] if it is more.
    #[must_use]
    pub fn raised(factor: u64) -> Self {
        Self { factor: factor.clamp(1, Self::MOST), divisor: 1 }
    }

    /// The limits over `divisor`, for a machine that takes less than the command line's.
    #[must_use]
    pub fn lowered(divisor: u64) -> Self {
        Self { factor: 1, divisor: divisor.max(1) }
    }

    /// How many there can be.
    #[must_use]
    pub fn most(self, limit: Limit) -> u64 {
        (limit.most / self.divisor).saturating_mul(self.factor).min(limit.ceiling)
    }

    /// The error if `found` exceeds the limit, with the factor that would allow it, if one does; `None` within the limit.
    #[must_use]
    pub fn exceeded(self, limit: Limit, found: u64) -> Option<Excess> {
        let most = self.most(limit);
        if found <= most {
            return None;
        }
        let factor = found.div_ceil(limit.most);
        let hint = if self.divisor > 1 && found <= limit.most {
            "or run it on the command line, which takes more".to_owned()
        } else if factor <= Self::MOST && found <= limit.ceiling {
            format!("or raise the limits: --limit {factor}, in Python limit={factor}")
        } else {
            "no option raises the limit that far".to_owned()
        };
        Some((format!("{found} {}; {most} are the most", limit.what), hint))
    }
}

/// An error's message and hint.
pub type Excess = (String, String);

/// Bounds of the layout of a scenario: the limits, and the patience of the caller.
pub(crate) struct Bounds<'a> {
    limits: Limits,
    waits: RefCell<&'a mut dyn FnMut() -> bool>,
    hops: Cell<u64>,
    searched: Cell<u64>,
}

impl<'a> Bounds<'a> {
    /// `waits` is asked again and again whether to go on.
    pub(crate) fn new(limits: Limits, waits: &'a mut dyn FnMut() -> bool) -> Self {
        Self { limits, waits: RefCell::new(waits), hops: Cell::new(0), searched: Cell::new(0) }
    }

    /// How many there can be.
    pub(crate) fn most(&self, limit: Limit) -> usize {
        self.limits.most(limit) as usize
    }

    /// Refuses more than the limit; `less` says how there would be less.
    pub(crate) fn check(&self, limit: Limit, found: u64, less: &str) -> Result<(), Excess> {
        self.limits.exceeded(limit, found).map_or(Ok(()), |(message, raise)| Err((message, format!("{less}, {raise}"))))
    }

    /// Counts hops of a flow, before they are made.
    pub(crate) fn add_hops(&self, hops: usize) -> Result<(), Excess> {
        let before = self.hops.get();
        let all = before.saturating_add(hops as u64);
        self.hops.set(all);
        self.check(HOPS, all, "fewer flows, or shorter routes")?;
        // Each power of two once.
        if before.checked_ilog2() != all.checked_ilog2() && !memory_for(2 * OCTETS_PER_HOP * all) {
            let message = format!("not enough memory for {all} hops of flows");
            return Err((message, "fewer flows, or shorter routes".to_owned()));
        }
        Ok(())
    }

    /// Refuses a search for routes that will take too many steps.
    pub(crate) fn foresee(&self, steps: usize) -> Result<(), Excess> {
        let all = self.searched.get().saturating_add(steps as u64);
        self.check(SEARCH, all, "fewer links, or fewer destinations")
    }

    /// Counts steps of the search for routes, before they are gone; asks whether to go on.
    pub(crate) fn search(&self, steps: usize) -> Result<(), Excess> {
        self.foresee(steps)?;
        self.searched.set(self.searched.get().saturating_add(steps as u64));
        self.go_on()
    }

    /// Asks whether to go on; to be called a few hundred times a second at least.
    pub(crate) fn go_on(&self) -> Result<(), Excess> {
        if (self.waits.borrow_mut())() {
            return Ok(());
        }
        Err(("interrupted while it was laid out".to_owned(), "lay it out again".to_owned()))
    }
}

/// Memory that a hop takes, while routes are found and in the engine, octets.
const OCTETS_PER_HOP: u64 = 100;

/// Whether the system gives so much memory, in octets. Where it does not, to take it would end the program.
#[must_use]
pub fn memory_for(octets: u64) -> bool {
    usize::try_from(octets).is_ok_and(|octets| Vec::<u8>::new().try_reserve_exact(octets).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_raised_by_one_factor() {
        assert_eq!(Limits::default().exceeded(NODES, 10_000), None);
        let (message, hint) = Limits::default().exceeded(NODES, 10_001).unwrap();
        assert_eq!(message, "10001 nodes; 10000 are the most");
        assert_eq!(hint, "or raise the limits: --limit 2, in Python limit=2");
        assert_eq!(Limits::raised(2).exceeded(NODES, 20_000), None);
        assert_eq!(Limits::raised(0), Limits::default());
        let (message, hint) = Limits::lowered(10).exceeded(NODES, 1001).unwrap();
        assert_eq!(message, "1001 nodes; 1000 are the most");
        assert_eq!(hint, "or run it on the command line, which takes more");
        let (message, hint) = Limits::raised(u64::MAX).exceeded(NODES, 65_001).unwrap();
        assert!(message.ends_with("65000 are the most") && hint.starts_with("no option"), "{message} {hint}");
    }

    #[test]
    fn missing_memory_is_an_error() {
        assert!(memory_for(1 << 20));
        assert!(!memory_for(1 << 60) && !memory_for(u64::MAX));
    }
}
