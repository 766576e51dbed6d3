//! The flows that tables of traffic generate, one kind a table.

use super::arrival::Arrival;
use super::bursts::BurstArrivals;
use super::jobs::Job;
use super::loads::{IncastArrivals, LoadArrivals};
use super::trace::TraceArrivals;

/// The flows of a load, of incasts, of bursts or of a trace, in the order of their starts. A clone draws the same ones again. Messages of a job
/// begin when others have ended: none is known beforehand.
#[derive(Debug, Clone)]
pub(crate) enum Arrivals {
    Load(LoadArrivals),
    Incast(IncastArrivals),
    Burst(Box<BurstArrivals>),
    Trace(TraceArrivals),
    Job(Box<Job>),
}

impl Iterator for Arrivals {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        match self {
            Self::Load(load) => load.next(),
            Self::Incast(incast) => incast.next(),
            Self::Burst(burst) => burst.next(),
            Self::Trace(trace) => trace.next(),
            Self::Job(_) => None,
        }
    }
}
