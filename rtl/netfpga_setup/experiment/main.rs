//! The papers' experiments with the set-up itself, at full length: `make -C rtl experiment`.
//!
//! Figures 8 to 13 of Kabbani and Yasuda 2010 and figure 15 of Jiang et al. 2015. Each run writes a table, a line for
//! every millisecond of its time, into `rtl/build/experiments`; a run whose table is there with the same settings, of
//! the same sources, is not done again. Progress goes to standard error.
//!
//! Environment: `FIGURE` names figures (`8 11`), `SCALE` divides all times but the 1 ms, `SEED` chooses the random words, `JOBS`
//! says how many runs there are at a time.

#[allow(dead_code, reason = "benches use the rest")]
#[path = "../tb/driver.rs"]
mod driver;
#[path = "../tb/lines.rs"]
mod lines;
mod progress;
mod runs;

use std::collections::VecDeque;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::{env, fs};

use penstock_cosim::{Clocked, netfpga_setup_paper, netfpga_setup_qcn, netfpga_setup_sliding_mode};

use driver::{CLOCK_HZ, NetfpgaSetup};
use progress::Progress;
use runs::{Build, Run};

/// Clocks between lines of a table.
const SAMPLE: u64 = CLOCK_HZ / 1000;
/// Clocks between reports.
const REPORT: u64 = 200_000;

fn main() {
    if let Err(message) = experiment() {
        eprintln!("{message}");
        std::process::exit(1);
    }
}

fn experiment() -> Result<(), String> {
    let scale = number("SCALE", 1)?;
    let seed = number("SEED", 1)?;
    let jobs = number("JOBS", 2)?;
    let wanted = env::var("FIGURE").unwrap_or_default();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../build/experiments");
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;

    let mut waiting = VecDeque::new();
    for run in runs::chosen(&wanted, scale)? {
        let path = folder.join(format!("{}.csv", run.name));
        let header = run.header(seed);
        if fs::read_to_string(&path).is_ok_and(|old| old.starts_with(&header)) {
            println!("{}: done before", run.name);
        } else {
            waiting.push_back((run, path, header));
        }
    }
    let progress = Progress::new(waiting.iter().map(|(run, ..)| (run.name.clone(), run.clocks())).collect());
    let waiting = Mutex::new(waiting);
    let failed = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let Some((run, path, header)) = { waiting.lock().expect("no thread panics").pop_front() } {
                    if let Err(e) = perform(&run, seed, &path, &header, &progress) {
                        failed.lock().expect("no thread panics").push(format!("{}: {e}", path.display()));
                    }
                }
            });
        }
    });
    progress.end();
    let failed = failed.into_inner().expect("no thread panics");
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
}

/// A number from the environment, from 1 on.
fn number(name: &str, default: u64) -> Result<u64, String> {
    match env::var(name) {
        Err(_) => Ok(default),
        Ok(text) if text.is_empty() => Ok(default),
        Ok(text) => match text.parse() {
            Ok(value) if value > 0 => Ok(value),
            _ => Err(format!("{name} is a whole number from 1 on, not \"{text}\"")),
        },
    }
}

/// Does a run and writes its table; a table under its final name is always whole.
fn perform(run: &Run, seed: u64, path: &Path, header: &str, progress: &Progress) -> io::Result<()> {
    let partial: PathBuf = path.with_extension("partial");
    let mut table = io::BufWriter::new(fs::File::create(&partial)?);
    write!(table, "{header}")?;
    match run.build {
        Build::Qcn => record::<netfpga_setup_paper::Core>(run, seed, &mut table, progress)?,
        Build::Smcc => record::<netfpga_setup_sliding_mode::Core>(run, seed, &mut table, progress)?,
    }
    table.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
    fs::rename(partial, path)
}

fn record<C: Clocked<In = netfpga_setup_qcn::In, Out = netfpga_setup_qcn::Out>>(
    run: &Run,
    seed: u64,
    table: &mut impl io::Write,
    progress: &Progress,
) -> io::Result<()> {
    let mut bed = NetfpgaSetup::<C>::new(&run.settings, seed);
    for &point in &run.points {
        bed.start(point);
    }
    let mut before = bed.measured();
    while before.clocks < run.clocks() {
        let until = (before.clocks / SAMPLE + 1) * SAMPLE;
        while bed.measured().clocks < until {
            bed.run(REPORT.min(until - bed.measured().clocks));
            progress.report(&run.name, bed.measured().clocks);
        }
        let now = bed.measured();
        let interval = now.since(&before);
        let rate = run.rate_at(before.clocks);
        write!(
            table,
            "{:.6},{},{:.1},{},{},{:.6}",
            now.clocks as f64 / CLOCK_HZ as f64,
            bed.queue(),
            interval.mean_queue(),
            rate,
            interval.frames,
            interval.utilisation(rate)
        )?;
        for &point in &run.points {
            write!(table, ",{}", bed.rates(point).0)?;
        }
        writeln!(table)?;
        before = now;
    }
    Ok(())
}
