//! Counts the instructions of a packet hop with valgrind's callgrind.
//!
//! The count does not depend on the load of the machine, only on the program and the compiler. One run counts start-up
//! too, so two lengths are run and the difference is taken.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::workload::{Program, Workload};

/// Instructions a packet hop of `program` on `workload`.
///
/// # Errors
/// If valgrind is missing (the text says how to install it) or a run fails.
pub(crate) fn instructions_per_hop(workload: &Workload, program: &Program, root: &Path) -> Result<f64, String> {
    let [short, long] = workload.counted;
    let (hops_before, instructions_before) = count(workload, program, root, short)?;
    let (hops, instructions) = count(workload, program, root, long)?;
    if hops <= hops_before {
        return Err(format!("{} {program}: {hops} hops in {long}, {hops_before} in {short}", workload.name));
    }
    Ok((instructions - instructions_before) as f64 / (hops - hops_before) as f64)
}

/// Packet hops and instructions of one run.
fn count(workload: &Workload, program: &Program, root: &Path, duration: &str) -> Result<(u64, u64), String> {
    let own = std::env::current_exe().map_err(|e| format!("cannot find this program's own file: {e}"))?;
    let report: PathBuf = std::env::temp_dir().join(format!("penstock-callgrind-{}.out", std::process::id()));
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--quiet"])
        .arg(format!("--callgrind-out-file={}", report.display()))
        .arg(own)
        .arg("--root")
        .arg(root)
        .args(["run", workload.name])
        .args(program.arguments())
        .args(["--duration", duration])
        .output()
        .map_err(|e| format!("cannot run valgrind: {e} (apt-get install valgrind)"))?;
    let text = std::fs::read_to_string(&report).unwrap_or_default();
    // The report is of no more use, whether it is there or not.
    let _ = std::fs::remove_file(&report);
    if !output.status.success() {
        return Err(format!("under valgrind: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr)));
    }
    let hops = number_after(&String::from_utf8_lossy(&output.stdout), "hops ").ok_or("no hops in the run's output")?;
    let instructions = number_after(&text, "summary: ")
        .or_else(|| number_after(&text, "totals: "))
        .ok_or("no instruction count in callgrind's report")?;
    Ok((hops, instructions))
}

/// The number at the start of the line that begins with `key`, after it.
fn number_after(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(key))?.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_report() {
        let report = "events: Ir\n\nfn=(0)\n0 12\nsummary: 123456\ntotals: 123456\n";
        assert_eq!(number_after(report, "summary: "), Some(123_456));
        assert_eq!(number_after(report, "absent: "), None);
    }
}
