//! `penstock-fuzz`: tries mutated scenarios. Each is read, laid out, and if it is small run twice in different slices.
//!
//! ```text
//! penstock-fuzz [--inputs N] [--first I] [--seed S] [--jobs J]     the inputs I to I + N - 1 of seed S
//! penstock-fuzz --seed S --input I                                 one of them again, with all that is found
//! penstock-fuzz --seed S --input I --show                          its text, not tried
//! penstock-fuzz FILE.toml                                          a scenario file
//!                [--root DIR]                                      a checkout other than the one here
//!                [--refusals]                                      also why inputs were refused
//! ```
//!
//! It looks for panics, aborts, hangs, ignored interrupts, refusals without a location or a hint, resolved scenarios that
//! are not the scenario, fingerprints that differ, and results that cannot be. The same seed gives the same inputs. Ends
//! with status 1 if there is a finding; each has its command to repeat it and, under `.build/fuzz`, its input.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

mod build;
mod corpus;
mod document;
mod estimate;
mod examine;
mod mutate;
mod random;
mod results;
mod supervise;
mod vocabulary;
mod worker;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use examine::Finding;
use mutate::{Generator, Input};
use supervise::Report;

const USAGE: &str = "usage: penstock-fuzz [--root DIR] [--seed S] [--inputs N] [--first I] [--jobs J] | \
                     penstock-fuzz [--seed S] --input I [--show] | penstock-fuzz FILE";
/// Where inputs of findings are kept, below the root.
const KEPT: &str = ".build/fuzz";
/// Between two lines of progress, in inputs.
const PROGRESS: u64 = 10_000;

fn main() -> ExitCode {
    match Arguments::parse(std::env::args().skip(1).collect()).and_then(|arguments| arguments.execute()) {
        Ok(code) => code,
        Err(message) => {
            eprintln!("penstock-fuzz: {message}");
            ExitCode::from(2)
        }
    }
}

/// Arguments of the command line.
#[derive(Debug)]
struct Arguments {
    root: PathBuf,
    seed: u64,
    first: u64,
    inputs: u64,
    jobs: usize,
    /// One input: its number, or a file.
    single: Option<String>,
    show: bool,
    /// Refusals are listed, too.
    refusals: bool,
    worker: bool,
}

impl Arguments {
    fn parse(arguments: Vec<String>) -> Result<Self, String> {
        let mut own = Self {
            root: PathBuf::from("."),
            seed: 1,
            first: 0,
            inputs: 2000,
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            single: None,
            show: false,
            refusals: false,
            worker: false,
        };
        let mut rest = arguments.into_iter();
        while let Some(argument) = rest.next() {
            let mut number = || {
                let text = rest.next().ok_or_else(|| format!("{argument} needs a value\n{USAGE}"))?;
                text.parse::<u64>().map_err(|_| format!("{argument} {text}: not a whole number"))
            };
            match argument.as_str() {
                "--seed" => own.seed = number()?,
                "--first" => own.first = number()?,
                "--inputs" => own.inputs = number()?,
                "--jobs" => own.jobs = number()?.clamp(1, 64) as usize,
                "--input" => own.single = Some(number()?.to_string()),
                "--root" => own.root = rest.next().ok_or_else(|| format!("--root needs a folder\n{USAGE}"))?.into(),
                "--show" => own.show = true,
                "--refusals" => own.refusals = true,
                // For the supervisor alone.
                "--worker" => own.worker = true,
                file if !file.starts_with('-') => own.single = Some(file.to_owned()),
                other => return Err(format!("{other}: unknown\n{USAGE}")),
            }
        }
        Ok(own)
    }

    fn execute(&self) -> Result<ExitCode, String> {
        let seeds = corpus::load(&self.root)?;
        if seeds.is_empty() {
            return Err(format!(
                "{}: no scenarios and no papers there; name a checkout with --root",
                self.root.display()
            ));
        }
        let generator = Generator::new(seeds);
        if self.worker {
            return worker::run(&generator, self.seed).map(|()| ExitCode::SUCCESS);
        }
        if self.show {
            let input = self.single.as_deref().ok_or_else(|| format!("--show needs --input\n{USAGE}"))?;
            print!("{}", commented(&worker::input(&generator, self.seed, input)?, &[]));
            return Ok(ExitCode::SUCCESS);
        }
        let program = std::env::current_exe().map_err(|error| format!("where this program is: {error}"))?;
        let command = || {
            let mut command = Command::new(&program);
            command.arg("--worker").arg("--root").arg(&self.root).args(["--seed", &self.seed.to_string()]);
            command
        };
        let report = match &self.single {
            Some(input) => supervise::single(input, &command)?,
            None => {
                let range = self.first..self.first + self.inputs;
                supervise::numbers(range, self.jobs, &command, &|done, found| {
                    if done % PROGRESS == 0 {
                        eprintln!("{done} inputs, {found} findings");
                    }
                })?
            }
        };
        self.tell(&generator, &report)?;
        Ok(if report.findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
    }

    /// Prints the report, findings of one cause together, and keeps the first input of each.
    fn tell(&self, generator: &Generator, report: &Report) -> Result<(), String> {
        let count: u64 = report.outcomes.values().sum();
        let outcomes: Vec<String> = report.outcomes.iter().map(|(name, n)| format!("{n} {name}")).collect();
        println!("{count} inputs of seed {}: {}", self.seed, outcomes.join(", "));
        if self.refusals {
            let mut refusals: Vec<_> = report.refusals.iter().collect();
            refusals.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
            refusals.iter().for_each(|(words, count)| println!("{count:8} {}", words.escape_debug()));
        }
        let mut kinds: BTreeMap<String, Vec<&(String, Finding)>> = BTreeMap::new();
        for found in &report.findings {
            kinds.entry(found.1.signature()).or_default().push(found);
        }
        for found in kinds.values() {
            let (input, finding) = found[0];
            println!("\n{} ({} of them): {}", finding.class, found.len(), finding.detail.escape_debug());
            let Ok(number) = input.parse::<u64>() else { continue };
            let file = self.keep(number, &worker::input(generator, self.seed, input)?, finding)?;
            println!("  input   {}", file.display());
            println!(
                "  repeat  cargo run --profile overflow -p penstock-fuzz -- --seed {} --input {number}",
                self.seed
            );
        }
        println!("\n{} findings of {} kinds", report.findings.len(), kinds.len());
        Ok(())
    }

    fn keep(&self, number: u64, input: &Input, finding: &Finding) -> Result<PathBuf, String> {
        let folder = self.root.join(KEPT);
        let wrong = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
        fs::create_dir_all(&folder).map_err(|error| wrong(&folder, error))?;
        let file = folder.join(format!("{}-{}-{number}.toml", finding.class.replace(' ', "-"), self.seed));
        let notes = [format!("{}: {}", finding.class, finding.detail)];
        fs::write(&file, commented(input, &notes)).map_err(|error| wrong(&file, error))?;
        Ok(file)
    }
}

/// The input's text, with its options and the notes as comments at its end, where they move no line.
fn commented(input: &Input, notes: &[String]) -> String {
    let mut lines = vec![format!("from {}", input.seed)];
    lines.extend(notes.iter().cloned());
    if input.name != "x" {
        lines.push(format!("file name {:?}", input.name));
    }
    lines.extend(input.set.iter().map(|(key, value)| format!("--set {:?}", format!("{key}={value}"))));
    for (option, value) in [("scheme", &input.scheme), ("profile", &input.profile)] {
        lines.extend(value.iter().map(|value| format!("--{option} {value:?}")));
    }
    lines.extend(input.run_seed.iter().map(|seed| format!("--seed {seed}")));
    let comments: Vec<String> = lines.iter().map(|line| format!("# {}\n", line.escape_debug())).collect();
    format!("{}\n{}", input.text, comments.concat())
}
