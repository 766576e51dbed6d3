//! A run that is cut short, since its duration was set. Entries of the file after the new end are left out, and each table of flows
//! becomes tables of those of its flows that start before the end.

use penstock_schemes::Duration;

use crate::keys::fields::{Either, Names};
use crate::keys::sections::{self, Experiment};
use crate::keys::tree::Origin;

/// Whether the duration was set for this run alone.
pub(super) fn is_cut_short(record: &Experiment) -> bool {
    record.duration.origin() == Origin::Set
}

/// Takes changes, windows, events, impairments and jobs behind the end out of a scenario that is cut short, and says so. An entry of the file that lies
/// behind the file's own end is a mistake, and stays.
pub(super) fn cut_short(record: &mut Experiment) -> Vec<String> {
    if !is_cut_short(record) {
        return Vec::new();
    }
    let duration = *record.duration;
    let changes = leave_out(record.change.inner(), |change| *change.at >= duration);
    let windows = leave_out(record.window.inner(), |window| *window.start >= duration);
    let events = leave_out(record.event.inner(), |event| *event.from >= duration);
    let impairments = leave_out(record.impairment.inner(), |impairment| *impairment.from >= duration);
    let collectives = leave_out(record.collective.inner(), |collective| *collective.start >= duration);
    let jobs = leave_out(record.job.inner(), |job| *job.start >= duration);
    let mut notes = Vec::new();
    notes.extend(note(changes, "a change", "changes", duration));
    notes.extend(note(windows, "a window", "windows", duration));
    notes.extend(note(events, "an event", "events", duration));
    notes.extend(note(impairments, "an impairment", "impairments", duration));
    notes.extend(note(collectives + jobs, "a job", "jobs", duration));
    for window in record.window.inner() {
        if window.end.is_some_and(|at| at > duration) {
            let end = duration;
            notes.push(format!("the window {} closes with the run, at {end}: the duration was set", *window.name));
            window.end.replace(Some(duration));
        }
    }
    notes
}

/// The note that `gone` entries are left out of a shortened run; `None` if there is none. `one` and `several` name them.
pub(crate) fn note(gone: usize, one: &str, several: &str, end: Duration) -> Option<String> {
    let many = match gone {
        0 => return None,
        1 => format!("{one} is"),
        _ => format!("{gone} {several} are"),
    };
    Some(format!("{many} left out: the duration was set, and the run ends at {}", end))
}

/// Takes entries out of a list; says how many.
fn leave_out<T>(list: &mut Vec<T>, which: impl Fn(&T) -> bool) -> usize {
    let before = list.len();
    list.retain(|entry| !which(entry));
    before - list.len()
}

/// A flow that is left of a table.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) round: usize,
    /// Which of the flows of its round it is.
    pub(crate) pair: usize,
    pub(crate) start: Duration,
    pub(crate) name: String,
}

/// The tables that stand for the flows left of `table`, each with the number of its flows. `ends` has the names of
/// source and destination of every flow of a round.
///
/// Starts that are not drawn grow along a round and from round to round: some first rounds are whole, of later ones their
/// first flows are left. The whole rounds are one table, each other round is one. A start that was drawn is written as it was
/// drawn, and each flow is a table.
pub(crate) fn pieces(table: &sections::Flow, kept: &[Kept], ends: &[(&str, &str)]) -> Vec<(sections::Flow, usize)> {
    let drawn = matches!(*table.start, Either::Second(_));
    let whole = kept.iter().filter(|flow| flow.pair + 1 == ends.len()).count();
    let together = |a: &Kept, b: &Kept| !drawn && (a.round == b.round || b.round < whole);
    let piece = |own: &[Kept]| {
        let (first, last) = (&own[0], &own[own.len() - 1]);
        let rounds = last.round - first.round + 1;
        let ends = &ends[first.pair..=last.pair];
        let mut piece = table.clone();
        let name = if own.len() == 1 { first.name.clone() } else { format!("{}..{}", first.name, last.name) };
        piece.name.replace(Some(name));
        piece.from.replace(names(ends.iter().map(|(from, _)| *from)));
        piece.to.replace(names(ends.iter().map(|(_, to)| *to)));
        piece.start.replace(Either::First(first.start));
        piece.repeat.replace(rounds as u64);
        if rounds == 1 {
            piece.every.replace(None);
        }
        (piece, own.len())
    };
    kept.chunk_by(together).map(piece).collect()
}

/// One name, if all are the same; else all of them.
fn names<'a>(names: impl Iterator<Item = &'a str>) -> Names {
    let mut all: Vec<String> = names.map(str::to_owned).collect();
    if all.iter().all(|name| *name == all[0]) {
        all.truncate(1);
    }
    Names(all)
}
