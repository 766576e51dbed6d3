//! Vectors of a release: the pins of a core in the first clocks of its lock step, for a bench that has no Rust.
//!
//! With `PENSTOCK_RECORD` set to a folder, the first core of each build that runs long enough writes `BUILD.txt` there: stimulus and
//! response, a line a clock. If none does, the longest of them is there. The test compares each clock with the state machine, and a core
//! that is dropped in a panic writes nothing, so what stands there is what the state machine says. `tools/vectors.py` replays a file in
//! Icarus Verilog.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Mutex;
use std::{env, fs, thread};

/// The ports of one direction.
pub trait Ports {
    /// Appends their values, each behind a blank, as hexadecimal numbers.
    fn hex(&self, _text: &mut String) {}
}

/// Clocks of a file: those of a few dozen operations of a calculator.
const CLOCKS: usize = 4_000;

/// The clocks of each build's file. Tests run side by side, and a short one may begin first.
static WRITTEN: Mutex<BTreeMap<&str, usize>> = Mutex::new(BTreeMap::new());

/// The record of one core; mostly none.
#[derive(Debug, Default)]
pub struct Record(Option<Box<Open>>);

#[derive(Debug)]
struct Open {
    build: &'static str,
    path: PathBuf,
    text: String,
    clocks: usize,
}

impl Record {
    /// That of a new core of `build`: a record if one is wanted and there is no whole one yet. Of each port it has name and bits, in
    /// the order of the values.
    ///
    /// # Panics
    /// If another test panicked in here.
    #[must_use]
    pub fn begin(build: &'static str, inputs: &[(&str, usize)], outputs: &[(&str, usize)]) -> Self {
        let Some(folder) = env::var_os("PENSTOCK_RECORD") else { return Self(None) };
        if WRITTEN.lock().expect("nothing here panics").get(build) == Some(&CLOCKS) {
            return Self(None);
        }
        let mut text = format!("# Penstock vectors, form 1: the pins of {build}, a line a clock, as below\n");
        for (way, ports) in [("in", inputs), ("out", outputs)] {
            for (name, bits) in ports {
                let _ = writeln!(text, "# {way} {name} {bits}");
            }
        }
        let path = PathBuf::from(folder).join(format!("{build}.txt"));
        Self(Some(Box::new(Open { build, path, text, clocks: 0 })))
    }

    /// Inputs and outputs of the next clock.
    #[inline]
    pub fn clock<I: Ports, O: Ports>(&mut self, input: &I, output: &O) {
        if let Some(open) = &mut self.0 {
            open.clock(input, output);
            if open.clocks == CLOCKS {
                self.end();
            }
        }
    }

    /// Clocks follow that are not recorded.
    ///
    /// # Panics
    /// If the file cannot be written.
    pub fn end(&mut self) {
        if let Some(open) = self.0.take() {
            let mut written = WRITTEN.lock().expect("no file could not be written");
            let longest = written.entry(open.build).or_default();
            if open.clocks <= *longest {
                return;
            }
            *longest = open.clocks;
            let write = |path: &PathBuf| {
                fs::create_dir_all(path.parent().expect("it lies in a folder"))?;
                fs::write(path, &open.text)
            };
            write(&open.path).unwrap_or_else(|e| panic!("{}: {e}", open.path.display()));
        }
    }
}

impl Open {
    fn clock<I: Ports, O: Ports>(&mut self, input: &I, output: &O) {
        let mut line = String::new();
        input.hex(&mut line);
        output.hex(&mut line);
        self.text.push_str(line.trim_start());
        self.text.push('\n');
        self.clocks += 1;
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0 = None;
        } else {
            self.end();
        }
    }
}
