//! How many threads run a plan, and why.

use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::sync::Arc;

use penstock_scenario::Plan;
use penstock_schemes::Duration;
use penstock_sim::network::NodeKind;
use penstock_sim::partition::{Obstacle, Partition};

/// The threads that a run is to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Threads {
    /// This number, or fewer if the plan cannot be cut into that many parts.
    Number(NonZeroUsize),
    /// As many of the machine's cores as make the run faster.
    Auto,
}

impl Default for Threads {
    fn default() -> Self {
        Self::Number(NonZeroUsize::MIN)
    }
}

/// The threads that a run has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Threading {
    /// Their number.
    pub threads: usize,
    /// The reason for this number; empty if one thread was asked for.
    pub reason: String,
}

/// Events that a thread has at least from one meeting with the others to the next for the meetings to pay, as `auto` takes it. See
/// docs/measurements/many-threads.md.
const PAYS: f64 = 4000.0;

/// The threads that run `plan` if `wanted` are asked for, and the parts of its network if there are several. `captured` says whether
/// frames are captured.
pub(crate) fn choose(plan: &Plan, wanted: Threads, captured: bool) -> (Threading, Option<Arc<Partition>>) {
    let one = |reason: String| (Threading { threads: 1, reason }, None);
    let most = match wanted {
        Threads::Number(number) => number.get(),
        Threads::Auto => std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
    };
    match (most, wanted) {
        (1, Threads::Number(_)) => return one(String::new()),
        (1, Threads::Auto) => return one("the machine has one core".to_owned()),
        _ => {}
    }
    if let Some(obstacle) = obstacle(plan, captured) {
        return one(obstacle.to_owned());
    }
    let mut refused = Obstacle::Small;
    for threads in (2..=most).rev() {
        let partition = match Partition::new(&plan.network, threads) {
            Ok(partition) => partition,
            Err(obstacle) => {
                refused = obstacle;
                continue;
            }
        };
        let size = Size::new(plan, &partition);
        if wanted == Threads::Auto && size.events < PAYS {
            refused = Obstacle::Small;
            if threads == 2 {
                return one(format!("{size}: less than {PAYS} do not pay"));
            }
            continue;
        }
        return (Threading { threads, reason: size.to_string() }, Some(Arc::new(partition)));
    }
    one(refused.to_string())
}

/// Records that need the order of all events.
fn obstacle(plan: &Plan, captured: bool) -> Option<&'static str> {
    let network = &plan.network;
    let at_host = |port: &penstock_sim::network::Port| {
        port.congestion_points && network.nodes[port.node.index()].kind == NodeKind::Host
    };
    if plan.schemes.iter().any(|own| own.config.is_carried()) {
        Some("a scheme in Python, which runs on one thread")
    } else if captured {
        Some("frames are captured")
    } else if plan.record.arrivals {
        Some("arrivals are recorded")
    } else if plan.record.signals && network.ports.iter().any(at_host) {
        Some("congestion points at hosts, whose signals cross no line, and are recorded")
    } else {
        None
    }
}

/// The work from one meeting of the threads to the next.
struct Size {
    /// Events of a thread, estimated.
    events: f64,
    window: Duration,
    /// Work of the busiest thread over the mean.
    imbalance: f64,
}

impl Size {
    fn new(plan: &Plan, partition: &Partition) -> Self {
        let work = partition.work(&plan.network);
        let mean = work.iter().sum::<f64>() / work.len() as f64;
        let most = work.iter().copied().fold(0.0, f64::max);
        let window = Duration(partition.lookahead().0.min(plan.duration.0));
        let imbalance = if mean > 0.0 { most / mean } else { 1.0 };
        Self { events: mean * window.as_seconds(), window, imbalance }
    }
}

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = String::new();
        write!(
            text,
            "some {:.0} events a thread in a window of {:.3} us",
            self.events,
            self.window.as_seconds() * 1e6
        )?;
        if self.imbalance >= 1.005 {
            write!(text, ", {:.0} % more in the busiest", (self.imbalance - 1.0) * 100.0)?;
        }
        f.write_str(&text)
    }
}
