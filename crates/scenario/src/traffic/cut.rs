//! Tables of flows in a run that is cut short: each becomes tables of those of its flows that start before the end.

use penstock_schemes::Duration;

use crate::fields::{Either, Names};
use crate::sections;

/// A flow that is left of a table.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) round: usize,
    /// Which of the flows of its round it is.
    pub(super) place: usize,
    pub(super) start: Duration,
    pub(super) name: String,
}

/// The tables that stand for the flows left of `table`, each with the number of its flows. `ends` has the names of
/// source and destination of every flow of a round.
///
/// Starts that are not drawn grow along a round and from round to round: some first rounds are whole, of later ones their
/// first flows are left. The whole rounds are one table, each other round is one. A start that was drawn is written as it was
/// drawn, and each flow is a table.
pub(super) fn pieces(table: &sections::Flow, kept: &[Kept], ends: &[(&str, &str)]) -> Vec<(sections::Flow, usize)> {
    let drawn = matches!(*table.start, Either::Second(_));
    let whole = kept.iter().filter(|flow| flow.place + 1 == ends.len()).count();
    let together = |a: &Kept, b: &Kept| !drawn && (a.round == b.round || b.round < whole);
    let piece = |own: &[Kept]| {
        let (first, last) = (&own[0], &own[own.len() - 1]);
        let rounds = last.round - first.round + 1;
        let ends = &ends[first.place..=last.place];
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
