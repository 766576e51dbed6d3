//! The flows of `[[trace]]` tables: from lines of text to a list in the order of their starts.

use std::collections::BTreeSet;
use std::sync::Arc;

use penstock_schemes::{Duration, Octets};

use super::arrival::Arrival;
use crate::error::{Fault, suggest};
use crate::keys::fields::amount;
use crate::keys::location::Location;
use crate::keys::ranges::TIME;
use crate::keys::sections::Trace;
use crate::keys::sizes::SIZE;
use crate::keys::topology::Layout;
use crate::keys::tree::Origin;
use crate::limits::{ARRIVALS, Bounds};
use crate::names;

/// How there would be fewer flows.
pub(crate) const LESS: &str = "list fewer flows";

/// The columns that a list can have; the last one need not be there.
const COLUMNS: [&str; 5] = ["from", "to", "size", "start", "name"];
const REQUIRED: usize = 4;

const EXAMPLE: &str = "from, to, size, start";

/// The flows of a trace that begin in the run, in the order of their starts. A clone begins with the first one again.
#[derive(Debug, Clone)]
pub(crate) struct TraceArrivals {
    flows: Arc<[Arrival]>,
    /// As many, if flows have names.
    names: Option<Arc<[String]>>,
    next: usize,
}

impl TraceArrivals {
    /// The name of a flow, if the trace has names.
    pub(crate) fn name(&self, number: usize) -> Option<&str> {
        Some(&self.names.as_ref()?[number])
    }
}

impl Iterator for TraceArrivals {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        let arrival = self.flows.get(self.next).copied();
        self.next += 1;
        arrival
    }
}

/// The positions of the columns in a line.
struct Columns {
    of: [Option<usize>; COLUMNS.len()],
    count: usize,
}

impl Columns {
    fn read(line: &str, location: Location<'_>) -> Result<Self, Fault> {
        let mut columns = Self { of: [None; COLUMNS.len()], count: 0 };
        for word in line.split(',').map(str::trim) {
            let Some(column) = COLUMNS.iter().position(|column| *column == word) else {
                let message = format!("the first line names the columns, and \"{word}\" is none");
                return Err(location.error(message, suggest(word, COLUMNS)));
            };
            if columns.of[column].replace(columns.count).is_some() {
                return Err(location.error(format!("the column \"{word}\" is there twice"), "name each column once"));
            }
            columns.count += 1;
        }
        match (0..REQUIRED).find(|column| columns.of[*column].is_none()) {
            Some(column) => {
                let hint = format!("the first line names them, for instance: {EXAMPLE}");
                Err(location.error(format!("there is no column \"{}\"", COLUMNS[column]), hint))
            }
            None => Ok(columns),
        }
    }

    /// The cells of a line, in the order of [`COLUMNS`].
    fn cells<'l>(&self, line: &'l str, location: Location<'_>) -> Result<[&'l str; COLUMNS.len()], Fault> {
        let mut cells = [""; COLUMNS.len()];
        let mut found = 0;
        for (at, cell) in line.split(',').enumerate() {
            if let Some(column) = self.of.iter().position(|of| *of == Some(at)) {
                cells[column] = cell.trim();
            }
            found += 1;
        }
        if found == self.count {
            return Ok(cells);
        }
        let message = format!("{found} entries for {} columns", self.count);
        Err(location.error(message, "write one for each column of the first line, with commas between"))
    }
}

impl Trace {
    /// Its flows that begin before the end of a run of so long, and how many do not. `taken` are the names of flows so far.
    pub(crate) fn arrivals(
        &self,
        taken: &mut BTreeSet<String>,
        layout: &Layout,
        run: Duration,
        bounds: &Bounds<'_>,
    ) -> Result<(TraceArrivals, u64), Fault> {
        let path = self.flows.path();
        let first = self.flows.origin();
        // A list that was set has no lines in the file.
        let at = |row: usize| match first {
            Origin::Line(line) => Origin::Line(line + row),
            other => other,
        };
        let lines = self.flows.0.lines().map(str::trim).enumerate();
        let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let (row, head) = lines.next().ok_or_else(|| self.nothing())?;
        let columns = Columns::read(head, Location { path: &path, origin: at(row) })?;
        let mut flows: Vec<(Arrival, &str)> = Vec::new();
        let (mut listed, mut left_out) = (0, 0);
        for (row, line) in lines {
            let location = Location { path: &path, origin: at(row) };
            let (flow, name) = flow(&columns.cells(line, location)?, location, layout)?;
            if columns.of[REQUIRED].is_some() {
                names::check(name).map_err(|(message, hint)| location.error(message, hint))?;
                if !taken.insert(name.to_owned()) {
                    let message = format!("the name \"{name}\" is used twice");
                    return Err(location.error(message, "give each flow a different name"));
                }
            }
            listed += 1;
            bounds.check(ARRIVALS, listed, LESS).map_err(|(message, hint)| location.error(message, hint))?;
            bounds.go_on().map_err(|(message, hint)| location.error(message, hint))?;
            if flow.start < run {
                flows.push((flow, name));
            } else {
                left_out += 1;
            }
        }
        if listed == 0 {
            return Err(self.nothing());
        }
        flows.sort_by_key(|(flow, _)| flow.start);
        let own = columns.of[REQUIRED].is_some();
        let names = own.then(|| flows.iter().map(|(_, name)| (*name).to_owned()).collect());
        let flows = flows.into_iter().map(|(flow, _)| flow).collect();
        Ok((TraceArrivals { flows, names, next: 0 }, left_out))
    }

    fn nothing(&self) -> Fault {
        let hint = format!("a line with the columns ({EXAMPLE}), then a line for each flow");
        self.flows.fault("no flow is listed").with_hint(hint)
    }
}

/// The flow of a line, and its name.
fn flow<'l>(
    cells: &[&'l str; COLUMNS.len()],
    location: Location<'_>,
    layout: &Layout,
) -> Result<(Arrival, &'l str), Fault> {
    let [from, to, size, start, name] = *cells;
    let host = |name| layout.host(name).map_err(|(message, hint)| location.error(message, hint));
    let (source, destination) = (host(from)?, host(to)?);
    if source == destination {
        return Err(location.error(format!("\"{from}\" would send to itself"), "send to another host"));
    }
    let (size, start): (Octets, Duration) = (amount(&SIZE, size, location)?, amount(&TIME, start, location)?);
    Ok((Arrival { start, source, destination, size }, name))
}
