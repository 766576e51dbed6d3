//! Jobs that a text describes: from a `[[job]]` to its graph.

use penstock_jobs::GraphBuilder;
use penstock_jobs::read::{self, File, Format, Options, Place, ReadError};
use penstock_schemes::Duration;

use super::jobs::{Job, ranks};
use crate::error::Fault;
use crate::keys::location::Location;
use crate::keys::sections::{self, Connections};
use crate::keys::topology::Layout;
use crate::keys::tree::Origin;
use crate::limits::{Bounds, MESSAGES};

/// The graph of a job whose messages a program sends.
pub(crate) const OUTSIDE: &str = "outside";

impl sections::Job {
    /// Its job, in a run of so long.
    pub(crate) fn job(&self, layout: &Layout, seed: u64, run: Duration, bounds: &Bounds<'_>) -> Result<Job, Fault> {
        let of = ranks!(self);
        let hosts = of.hosts(layout, run, bounds)?;
        let room = of.room(hosts.len(), bounds)?;
        if self.graph.0 == OUTSIDE {
            self.check_outside(room, bounds)?;
            let refused = |e: &penstock_jobs::GraphError| self.graph.fault(e.message.clone());
            let graph = GraphBuilder::new(room).finish().map_err(|e| refused(&e))?;
            return Ok(of.job((graph, room), &hosts, (layout, seed), bounds, refused)?.for_outside());
        }
        let options = Options { complete: *self.complete, ..Options::default() };
        let file = File { name: "", octets: self.graph.0.as_bytes() };
        if Format::of(file.octets) == Format::Chakra {
            let hint = "GOAL begins with \"num_ranks 2\"; penstock import makes such a text of a trace of Chakra";
            return Err(self.graph.fault("it begins neither as GOAL nor as a workload of SimAI").with_hint(hint));
        }
        let graph = read::read(&[file], &options).map_err(|e| self.at(&e))?.graph;
        let ranks = graph.ranks();
        if ranks > room {
            let message = format!("{ranks} ranks, and {} hosts have room for {room}", hosts.len());
            return Err(self.ranks_per_host.fault(message).with_hint("more ranks a host, or more hosts"));
        }
        let hint = "let no operation wait for a later one; complete = true adds the missing end of a message";
        graph.check().map_err(|e| self.graph.fault(e.message).with_hint(hint))?;
        let refused = |e: &penstock_jobs::GraphError| self.graph.fault(e.message.clone());
        of.job((graph, ranks), &hosts, (layout, seed), bounds, refused)
    }

    /// Refuses keys that messages from outside cannot have, and more connections than there may be.
    fn check_outside(&self, ranks: u32, bounds: &Bounds<'_>) -> Result<(), Fault> {
        if *self.connections == Connections::PerMessage {
            let message = "messages from outside keep their connections: nobody knows how many come";
            return Err(self.connections.fault(message).with_hint("connections = \"kept\", or leave it out"));
        }
        let pairs = u64::from(ranks) * u64::from(ranks.saturating_sub(1));
        bounds.check(MESSAGES, pairs, "fewer ranks").map_err(|e| self.hosts.excess(e))
    }

    /// The error about a line of the text.
    fn at(&self, error: &ReadError) -> Fault {
        let origin = match (self.graph.origin(), error.place) {
            (Origin::Line(line), Place::Line(row)) => Origin::Line(line + row - 1),
            (origin, _) => origin,
        };
        let path = self.graph.path();
        Location { path: &path, origin }.error(error.message.clone(), "docs/reference/job-traces has the grammar")
    }
}
