//! Hands inputs to workers, notices when one dies of its input, and collects their findings.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use crate::examine::{Finding, Outcome};
use crate::worker::{DONE, FINDING, HANGS};

/// A worker is replaced after this number of inputs, so that leaked memory does not add up.
const RENEW: u64 = 20_000;

/// Results of all inputs.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) outcomes: BTreeMap<&'static str, u64>,
    /// By input.
    pub(crate) findings: Vec<(String, Finding)>,
    /// Refusals, by their messages without names and numbers.
    pub(crate) refusals: BTreeMap<String, u64>,
}

/// Tries the inputs `range` with `jobs` workers, each started by `command`. `progress` gets the number of inputs done.
pub(crate) fn numbers(
    range: std::ops::Range<u64>,
    jobs: usize,
    command: &(dyn Fn() -> Command + Sync),
    progress: &(dyn Fn(u64, usize) + Sync),
) -> Result<Report, String> {
    let next = AtomicU64::new(range.start);
    let report = Mutex::new(Report::default());
    let work = || -> Result<(), String> {
        let mut worker = None;
        let mut tried = 0;
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= range.end {
                return Ok(());
            }
            tried += 1;
            if tried % RENEW == 0 {
                worker = None;
            }
            let (outcome, findings, refusal) = one(&mut worker, command, &index.to_string())?;
            let mut report = report.lock().map_err(|_| "another job has failed".to_owned())?;
            *report.outcomes.entry(outcome).or_default() += 1;
            if !refusal.is_empty() {
                *report.refusals.entry(Finding::new("refused", refusal).signature()).or_default() += 1;
            }
            report.findings.extend(findings.into_iter().map(|finding| (index.to_string(), finding)));
            progress(report.outcomes.values().sum(), report.findings.len());
        }
    };
    thread::scope(|scope| {
        let jobs: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
        jobs.into_iter().try_for_each(|job| job.join().unwrap_or_else(|_| Err("a job has failed".to_owned())))
    })?;
    let mut report = report.into_inner().map_err(|_| "a job has failed".to_owned())?;
    report.findings.sort_by_key(|(input, finding)| (input.parse::<u64>().unwrap_or(0), finding.clone()));
    Ok(report)
}

/// Tries one input: a number, or a file.
pub(crate) fn single(input: &str, command: &(dyn Fn() -> Command + Sync)) -> Result<Report, String> {
    let (outcome, findings, refusal) = one(&mut None, command, input)?;
    let findings = findings.into_iter().map(|finding| (input.to_owned(), finding)).collect();
    Ok(Report { outcomes: BTreeMap::from([(outcome, 1)]), findings, refusals: BTreeMap::from([(refusal, 1)]) })
}

/// Has `worker` try an input; starts a worker where there is none. After an input that kills the worker there is none.
fn one(
    worker: &mut Option<Worker>,
    command: &(dyn Fn() -> Command + Sync),
    input: &str,
) -> Result<(&'static str, Vec<Finding>, String), String> {
    let mut own = match worker.take() {
        Some(worker) => worker,
        None => Worker::start(command())?,
    };
    let mut findings = Vec::new();
    // A worker that is gone is noticed when it does not answer.
    let _ = writeln!(own.input, "{input}").and_then(|()| own.input.flush());
    loop {
        let mut line = String::new();
        let _ = own.output.read_line(&mut line);
        if let Some(text) = line.strip_prefix(FINDING) {
            let [class, detail]: [String; 2] =
                serde_json::from_str(text).map_err(|error| format!("{error}: {text}"))?;
            findings.push(Finding { class, detail });
        } else if let Some(text) = line.strip_prefix(DONE) {
            let [name, refusal]: [String; 2] =
                serde_json::from_str(text).map_err(|error| format!("{error}: {text}"))?;
            let outcome = Outcome::ALL.iter().find(|outcome| outcome.name() == name);
            *worker = Some(own);
            return Ok((outcome.ok_or_else(|| format!("a worker said {line:?}"))?.name(), findings, refusal));
        } else {
            findings.push(own.end()?);
            return Ok(("died", findings, String::new()));
        }
    }
}

/// A worker's process.
struct Worker {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Worker {
    fn start(mut command: Command) -> Result<Self, String> {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().map_err(|error| format!("a worker cannot be started: {error}"))?;
        let (input, output) = (process.stdin.take(), process.stdout.take());
        let (Some(input), Some(output)) = (input, output) else { return Err("a worker has no pipes".to_owned()) };
        Ok(Self { process, input, output: BufReader::new(output) })
    }

    /// The finding that ended it.
    fn end(mut self) -> Result<Finding, String> {
        let mut words = String::new();
        if let Some(mut errors) = self.process.stderr.take() {
            let _ = errors.read_to_string(&mut words);
        }
        let status = self.process.wait().map_err(|error| format!("a worker's end: {error}"))?;
        let last = words.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        match (status.code(), status.signal()) {
            (Some(HANGS), _) => Ok(Finding::new("hang", "it takes longer than a user waits")),
            (_, Some(signal)) => Ok(Finding::new("abort", format!("signal {signal}: {last}"))),
            // It could not begin: a mistake in the command, not a finding.
            (Some(2), _) => Err(last.to_owned()),
            _ => Ok(Finding::new("abort", format!("{status}: {last}"))),
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It ends at the end of its input; a process that hangs there is killed.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
