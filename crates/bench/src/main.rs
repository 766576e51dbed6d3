//! `penstock-bench`: the cost of a packet hop, in instructions and in time, compared with the smallest program that
//! forwards the same frames.
//!
//! ```text
//! penstock-bench [--root DIR] [--repeats N] [--no-instructions] [--check]     the table of all workloads
//! penstock-bench [--root DIR] run W1 --scheme none --probe off --duration "50 ms"     one run, for profilers
//! ```
//!
//! `--check` ends with status 1 if a count of instructions exceeds its ceiling. Times vary with the load of the
//! machine: they are shown, and their ratio to the minimal program's, but only a reader judges them.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

mod callgrind;
mod measure;
mod minimal;
mod stats;
mod table;
mod workload;

use std::path::PathBuf;
use std::process::ExitCode;

use workload::{Program, WORKLOADS, Workload};

fn main() -> ExitCode {
    let result = Command::parse(std::env::args().skip(1).collect()).and_then(|command| command.execute());
    match result {
        Ok(code) => code,
        Err(message) => {
            eprintln!("penstock-bench: {message}");
            ExitCode::from(2)
        }
    }
}

/// The command that the command line gives.
#[derive(Debug, PartialEq)]
enum Command {
    /// The table of all workloads.
    Table { root: PathBuf, repeats: u32, instructions: bool, check: bool },
    /// One run.
    Run { root: PathBuf, workload: String, program: Program, duration: Option<String> },
}

/// Turns unless the command line says otherwise: enough for a median within a few per cent on a machine that does other
/// things as well.
const REPEATS: u32 = 101;

const USAGE: &str = "usage: penstock-bench [--root DIR] [--repeats N] [--no-instructions] [--check] | \
                     penstock-bench [--root DIR] run W1|…|W8 [--scheme minimal|NAME] [--probe on|off] [--duration TIME]";

impl Command {
    fn parse(arguments: Vec<String>) -> Result<Self, String> {
        let mut root = PathBuf::from(".");
        let (mut repeats, mut instructions, mut check) = (REPEATS, true, false);
        let (mut workload, mut scheme, mut probe, mut duration) = (None, "none".to_owned(), false, None);
        let mut rest = arguments.into_iter();
        while let Some(argument) = rest.next() {
            let mut value = || rest.next().ok_or_else(|| format!("{argument} needs a value\n{USAGE}"));
            match argument.as_str() {
                "--root" => root = PathBuf::from(value()?),
                "--repeats" => {
                    let text = value()?;
                    repeats = text.parse().ok().filter(|&n| n > 0).ok_or(format!("--repeats {text}: not 1, 2, 3 …"))?;
                }
                "--no-instructions" => instructions = false,
                "--check" => check = true,
                "run" => workload = Some(value()?),
                "--scheme" => scheme = value()?,
                "--probe" => {
                    probe = match value()?.as_str() {
                        "on" => true,
                        "off" => false,
                        other => return Err(format!("--probe {other}: not on or off")),
                    }
                }
                "--duration" => duration = Some(value()?),
                other => return Err(format!("{other}: unknown\n{USAGE}")),
            }
        }
        let program = if scheme == "minimal" { Program::Minimal } else { Program::Engine { scheme, probe } };
        Ok(match workload {
            Some(workload) => Self::Run { root, workload, program, duration },
            None => Self::Table { root, repeats, instructions, check },
        })
    }

    fn execute(self) -> Result<ExitCode, String> {
        match self {
            Self::Run { root, workload, program, duration } => {
                let workload = Workload::find(&workload).ok_or_else(|| format!("{workload}: not one of W1 to W8"))?;
                let measured = measure::run(workload, &program, &root, duration.as_deref())?;
                println!("hops {}", measured.hops);
                println!("events {}", measured.events);
                println!("wall_ns {}", measured.wall_ns);
                Ok(ExitCode::SUCCESS)
            }
            Self::Table { root, repeats, instructions, check } => {
                table::print_head(repeats);
                let mut over = false;
                for workload in &WORKLOADS {
                    println!("{}  {}", workload.name, workload.title);
                    let times = measure::interleaved(workload, &root, repeats)?;
                    for row in table::rows(workload, &times, instructions.then_some(root.as_path()))? {
                        println!("{row}");
                        over |= row.over();
                    }
                    for row in if instructions { table::others(workload, &root)? } else { Vec::new() } {
                        println!("{row}");
                        over |= row.over();
                    }
                }
                Ok(if check && over { ExitCode::FAILURE } else { ExitCode::SUCCESS })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Command, String> {
        Command::parse(line.split_whitespace().map(str::to_owned).collect())
    }

    #[test]
    fn reads_its_command_line() {
        let engine = Program::Engine { scheme: "qcn".to_owned(), probe: true };
        let root = PathBuf::from(".");
        assert_eq!(
            parse("run W3 --scheme qcn --probe on --duration 5ms"),
            Ok(Command::Run { root, workload: "W3".to_owned(), program: engine, duration: Some("5ms".to_owned()) })
        );
        assert!(parse("--repeats 0").is_err());
        assert!(parse("--repeats").is_err());
        assert!(parse("--probe maybe").is_err());
        assert!(parse("walk W1").unwrap_err().contains("usage"));
    }
}
