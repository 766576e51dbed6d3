//! The table that a person reads.

use std::fmt;
use std::path::Path;

use penstock_schemes::SCHEMES;

use crate::callgrind;
use crate::measure::{self, Times};
use crate::stats::Repeated;
use crate::workload::{Ceiling, Others, Program, Workload};

/// One program on one workload.
#[derive(Debug)]
pub(crate) struct Row {
    program: Program,
    ceiling: Option<Ceiling>,
    instructions_per_hop: Option<f64>,
    ns_per_hop: Repeated,
    events_per_s: f64,
    /// Time over that of the minimal program.
    time_ratio: Option<Repeated>,
}

/// Prints the meaning of the columns.
pub(crate) fn print_head(repeats: u32) {
    println!("Cost of a packet hop: median of {repeats} interleaved runs ± half its 95 % confidence interval;");
    println!("instructions by callgrind, which repeat.");
    println!("Minimal is the smallest program that forwards the same frames, one event a hop and nothing else.");
    println!();
    println!("{:13}{:>17}  {:14}{:>13}{:>14}   time / minimal", "", "instructions/hop", "", "ns/hop", "Mevents/s");
}

/// The rows of `workload`. Instructions are counted if `root`, the root of the repository, is given.
///
/// # Errors
/// If counting fails.
pub(crate) fn rows(workload: &'static Workload, times: &[Times], root: Option<&Path>) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    for ((program, ceiling), time) in workload.programs().into_iter().zip(times) {
        let instructions_per_hop =
            root.map(|root| callgrind::instructions_per_hop(workload, &program, root)).transpose()?;
        rows.push(Row {
            program,
            ceiling,
            instructions_per_hop,
            ns_per_hop: time.ns_per_hop,
            events_per_s: time.events_per_s,
            time_ratio: time.ratio,
        });
    }
    Ok(rows)
}

/// Cost of another scheme, compared with QCN's.
#[derive(Debug)]
pub(crate) struct Beside {
    scheme: &'static str,
    instructions_per_hop: f64,
    /// Over QCN's.
    ratio: f64,
    ceiling: f64,
}

/// The schemes that `workload` compares with QCN, with the sampling probe, of those for which the bench has an engine. They are
/// counted, not timed: timing all of them would take too long.
///
/// # Errors
/// If counting fails.
pub(crate) fn others(workload: &'static Workload, root: &Path) -> Result<Vec<Beside>, String> {
    let Some(Others { schemes, most, more }) = workload.others else { return Ok(Vec::new()) };
    let count = |scheme: &str| {
        let program = Program::Engine { scheme: scheme.to_owned(), probe: true };
        callgrind::instructions_per_hop(workload, &program, root)
    };
    let qcn = count("qcn")?;
    let mut rows = Vec::new();
    for scheme in SCHEMES.iter().map(|info| info.name) {
        let asked = scheme != "qcn" && schemes.is_none_or(|chosen| chosen.contains(&scheme));
        if asked && measure::has_engine(workload, scheme, root)? {
            let instructions_per_hop = count(scheme)?;
            let ceiling = more.iter().find(|(name, _)| *name == scheme).map_or(most, |&(_, own)| own);
            rows.push(Beside { scheme, instructions_per_hop, ratio: instructions_per_hop / qcn, ceiling });
        }
    }
    Ok(rows)
}

impl Beside {
    /// Whether it costs more than it may.
    pub(crate) fn over(&self) -> bool {
        self.ratio > self.ceiling
    }
}

impl fmt::Display for Beside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = verdict(Some(self.ratio), Some(self.ceiling));
        let program = format!("{} + probe", self.scheme);
        write!(f, "  {program:<23}{:>5.0}  {:.2} × qcn  {verdict}", self.instructions_per_hop, self.ratio)
    }
}

impl Row {
    /// Whether its count of instructions exceeds the ceiling.
    pub(crate) fn over(&self) -> bool {
        matches!((self.instructions_per_hop, self.ceiling), (Some(count), Some(ceiling)) if count > ceiling.instructions)
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.instructions_per_hop.map_or("-".to_owned(), |n| format!("{n:.0}"));
        let count_verdict = verdict(self.instructions_per_hop, self.ceiling.map(|c| c.instructions));
        let time = format!("{:.1} ± {:.0} %", self.ns_per_hop.median, 100.0 * self.ns_per_hop.spread);
        let events = self.events_per_s / 1e6;
        write!(f, "  {:<11}{count:>17}  {count_verdict:<14}{time:>13}{events:>14.1}", self.program)?;
        match (self.time_ratio, self.ceiling.and_then(|c| c.time_ratio)) {
            (Some(ratio), ceiling @ Some(_)) => {
                let verdict = verdict(Some(ratio.median), ceiling);
                write!(f, "   {:.2} ± {:.0} %  {verdict}", ratio.median, 100.0 * ratio.spread)
            }
            _ => Ok(()),
        }
    }
}

/// "pass (≤ 350)" or "OVER (≤ 350)", nothing where there is no ceiling or no number.
fn verdict(value: Option<f64>, ceiling: Option<f64>) -> String {
    match (value, ceiling) {
        (Some(value), Some(ceiling)) => format!("{} (≤ {ceiling})", if value <= ceiling { "pass" } else { "OVER" }),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::WORKLOADS;

    #[test]
    fn verdicts() {
        assert_eq!(verdict(Some(350.0), Some(350.0)), "pass (≤ 350)");
        assert_eq!(verdict(Some(2.6), Some(2.5)), "OVER (≤ 2.5)");
        assert_eq!(verdict(None, Some(2.5)), "");
    }

    #[test]
    fn schemes_are_left_out_whose_switches_are_of_another_model() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for workload in WORKLOADS.iter().filter(|workload| workload.others.is_some()) {
            let there = |name: &&str| measure::has_engine(workload, name, &root).expect("every scheme can be planned");
            let left_out: Vec<&str> = SCHEMES.iter().map(|info| info.name).filter(|name| !there(name)).collect();
            assert_eq!(left_out, ["ndp", "expresspass"], "{}", workload.name);
        }
    }
}
