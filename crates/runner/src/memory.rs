//! Memory that a run holds, counted so that more than there is, or than it may have, is an error and does not end the
//! program.

use penstock_scenario::Plan;
use penstock_scenario::limits::{FRAMES, Limits, MEMORY_ROWS, memory_for};
use penstock_schemes::Instant;

use crate::RunError;

/// The most memory that each of these takes, octets.
const PER_FRAME: u64 = 128;
const PER_ROW: u64 = 100;
const PER_QUEUE: u64 = 1024;
const PER_FLOW: u64 = 2048;
/// The record of a finished flow of a load, and its slowdown, twice.
const PER_END: u64 = 32;
const PER_HOP: u64 = 64;
const PER_PLACE: u64 = 256;
/// Octets below which the available memory is not checked.
const LITTLE: u64 = 64_000_000;

/// Refuses a network for which there is not enough memory. Each of `parts` threads has a copy of it.
pub(crate) fn check_network(plan: &Plan, parts: usize) -> Result<(), RunError> {
    let network = &plan.network;
    let queues = (network.ports.len() * network.queues_per_port()) as u64;
    let tables = plan.table_places().saturating_mul(PER_PLACE);
    let flows = network.flows.len() as u64 * PER_FLOW + plan.generated.len() as u64 * PER_END;
    let octets = (queues * PER_QUEUE + flows + network.hops.len() as u64 * PER_HOP).saturating_mul(parts as u64);
    given(octets.saturating_add(tables), || "ports, flows and tables of the scheme".to_owned())
}

/// Watches the memory that a run holds.
#[derive(Debug)]
pub(crate) struct Memory {
    limits: Limits,
    /// Memory that the system has been asked for, octets.
    asked: u64,
}

impl Memory {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, asked: LITTLE }
    }

    /// Refuses more frames in the network and rows in memory than there can be.
    pub(crate) fn check(&mut self, now: Instant, frames: usize, rows: usize) -> Result<(), RunError> {
        let (frames, rows) = (frames as u64, rows as u64);
        let of_rows = (MEMORY_ROWS, rows, "record less, or let the results go to a folder");
        for (limit, found, less) in [(FRAMES, frames, "smaller buffers"), of_rows] {
            if let Some((message, raise)) = self.limits.exceeded(limit, found) {
                return Err(RunError::Limit { at_s: now.as_seconds(), message, hint: format!("{less}, {raise}") });
            }
        }
        let octets = frames * PER_FRAME + rows * PER_ROW;
        if octets > self.asked / 2 {
            // As lists grow, old and new are there at the same time.
            self.asked = 4 * octets;
            return given(2 * octets, || format!("{frames} frames and {rows} rows, and as many again,"));
        }
        Ok(())
    }
}

fn given(octets: u64, what: impl FnOnce() -> String) -> Result<(), RunError> {
    if octets <= LITTLE || memory_for(octets) {
        return Ok(());
    }
    Err(RunError::Memory { what: what(), megabytes: octets / 1_000_000 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_and_rows_are_limited() {
        let mut memory = Memory::new(Limits::default());
        let now = Instant(1_500_000_000_000);
        memory.check(now, 1000, 1000).unwrap();
        let error = memory.check(now, 20_000_001, 0).unwrap_err();
        assert_eq!(error.to_string(), "at 1.5 s of the run: 20000001 frames in the network; 20000000 are the most");
        let RunError::Limit { hint, .. } = error else { panic!("{error:?}") };
        assert_eq!(hint, "smaller buffers, or raise the limits: --limit 2, in Python limit=2");
        assert!(memory.check(now, 0, 100_000_001).unwrap_err().to_string().contains("100000001 rows in memory"));
        assert!(given(1 << 60, String::new).is_err());
    }
}
