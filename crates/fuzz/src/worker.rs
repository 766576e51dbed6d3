//! A process that tries inputs, one a line of its standard input, and may die of one: the supervisor starts another.
#![allow(clippy::print_stdout, reason = "it talks to its supervisor")]

use std::io::{self, BufRead as _, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};

use crate::examine::{self, Finding};
use crate::mutate::{Generator, Input};

/// Memory that a worker can have, octets.
const MEMORY: u64 = 3 << 30;
/// An input that takes longer hangs, in milliseconds of the processor.
const HANG: u64 = if cfg!(debug_assertions) { 15_000 } else { 5000 };
/// The status with which a worker ends that hangs.
pub(crate) const HANGS: i32 = 86;

/// Beginnings of the lines in which a worker reports on an input.
pub(crate) const FINDING: &str = "finding ";
pub(crate) const DONE: &str = "done ";

/// Where and how inputs are made.
pub(crate) fn run(generator: &Generator, seed: u64) -> Result<(), String> {
    let most = Rlimit { current: Some(MEMORY), maximum: Some(MEMORY) };
    setrlimit(Resource::As, most).map_err(|error| format!("the memory of a worker cannot be limited: {error}"))?;
    examine::listen_to_panics();
    let began: &'static AtomicU64 = Box::leak(Box::new(AtomicU64::new(u64::MAX)));
    thread::spawn(move || watch(began));
    for line in io::stdin().lock().lines() {
        let line = line.map_err(|error| error.to_string())?;
        let input = input(generator, seed, &line)?;
        began.store(milliseconds(), Ordering::Relaxed);
        let examined = examine::examine(&input, draw(&line));
        began.store(u64::MAX, Ordering::Relaxed);
        for finding in &examined.findings {
            say(FINDING, finding);
        }
        println!("{DONE}{}", serde_json::json!([examined.outcome.name(), examined.refusal.unwrap_or_default()]));
        io::stdout().flush().map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// The input that the supervisor asks for: a number, or a file.
pub(crate) fn input(generator: &Generator, seed: u64, line: &str) -> Result<Input, String> {
    if let Ok(index) = line.parse() {
        return Ok(generator.input(seed, index));
    }
    let text = std::fs::read_to_string(line).map_err(|error| format!("{line}: {error}"))?;
    Ok(Input { seed: line.to_owned(), text, name: "x".into(), ..Input::default() })
}

/// The number that decides the choices which the input leaves open; files that are tried by name are always begun.
fn draw(line: &str) -> u64 {
    line.parse().unwrap_or(0)
}

fn say(what: &str, finding: &Finding) {
    println!("{what}{}", serde_json::json!([finding.class, finding.detail]));
}

/// Ends the process if an input takes too long.
fn watch(began: &AtomicU64) {
    loop {
        thread::sleep(Duration::from_millis(100));
        if milliseconds().saturating_sub(began.load(Ordering::Relaxed)) > HANG {
            std::process::exit(HANGS);
        }
    }
}

/// Time of the processor that this process has used, ms.
fn milliseconds() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as u64 * 1000 + time.tv_nsec as u64 / 1_000_000
}
