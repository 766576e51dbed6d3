//! Failing vectors: the inputs of a core, from its creation to the clock in which a test failed.
//!
//! A failing test writes them to `rtl/build/vectors`, a folder for each core. Each test first replays those that are there for it, and
//! those in `tb/vectors` of its core. Move a vector that shows a fault there. Vectors hold pins, not seeds, so they stay the same
//! however a test later draws its inputs.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, thread};

/// The input pins of a core; one wider than 64 bits counts as several of 32.
pub trait Pins: Copy + Default {
    /// Their names.
    const NAMES: &'static [&'static str];
    /// The value of one, by its index among the names.
    fn get(&self, pin: usize) -> u64;
    /// Sets one; bits beyond its width are lost.
    fn set(&mut self, pin: usize, value: u64);
}

/// A vector that stands in a file.
#[derive(Debug)]
pub struct Vector<I> {
    /// Which file.
    pub path: PathBuf,
    /// The seed of the core's registers before the reset.
    pub seed: u64,
    /// The inputs, clock by clock.
    pub clocks: Vec<I>,
}

/// Keeps the inputs since the core was made, and writes them down if the test fails.
#[derive(Debug)]
pub struct Recorder<I: Pins> {
    folder: PathBuf,
    build: &'static str,
    seed: u64,
    clocks: Vec<I>,
}

impl<I: Pins> Recorder<I> {
    /// For `build` of the core in the folder `core`.
    #[must_use]
    pub fn new(core: &str, build: &'static str) -> Self {
        // A mutant's vectors are not the core's.
        let folder = env::var_os("PENSTOCK_VECTORS").map_or_else(|| failed(core), PathBuf::from);
        Self { folder, build, seed: 0, clocks: Vec::new() }
    }

    /// A core is made whose registers begin with values of `seed`; earlier clocks do not matter.
    pub fn begin(&mut self, seed: u64) {
        self.seed = seed;
        self.clocks.clear();
    }

    /// Inputs at the pins in the next clock.
    pub fn clock(&mut self, input: &I) {
        self.clocks.push(*input);
    }
}

impl<I: Pins> Drop for Recorder<I> {
    fn drop(&mut self) {
        if thread::panicking() && !self.clocks.is_empty() {
            let text = text_of(self.build, self.seed, &self.clocks);
            // Its name follows from its text, so that none replaces another.
            let name = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, octet| {
                (hash ^ u64::from(octet)).wrapping_mul(0x0100_0000_01b3)
            });
            let path = self.folder.join(format!("{}-{:08x}.txt", self.build, name >> 32));
            match fs::create_dir_all(&self.folder).and_then(|()| fs::write(&path, text)) {
                Ok(()) => println!("the inputs stand in {}", path.display()),
                Err(error) => println!("{}: {error}", path.display()),
            }
        }
    }
}

/// The vectors of `build` of the core in the folder `core`, by the names of their files.
///
/// # Panics
/// If a file is wrong: it says which, in which line, and what.
#[must_use]
pub fn kept<I: Pins>(core: &str, build: &str) -> Vec<Vector<I>> {
    let files = [folder(core), failed(core)].into_iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten();
    let mut paths: Vec<_> = files.map(|file| file.expect("the folder can be read").path()).collect();
    paths.sort();
    let texts = paths.into_iter().map(|path| {
        let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        (path, text)
    });
    let vectors = texts.filter(|(_, text)| build_of(text) == Some(build)).map(|(path, text)| {
        let (seed, clocks) = read(&text).unwrap_or_else(|wrong| panic!("{}: {wrong}", path.display()));
        println!("replays {}, {} clocks", path.display(), clocks.len());
        Vector { path, seed, clocks }
    });
    vectors.collect()
}

/// The vectors that stay, in the core's folder.
fn folder(core: &str) -> PathBuf {
    rtl().join(core).join("tb/vectors")
}

/// Those of tests that failed here, out of the work tree.
fn failed(core: &str) -> PathBuf {
    rtl().join("build/vectors").join(core)
}

fn rtl() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("it lies in rtl/")
}

fn build_of(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix("build "))
}

/// A line a clock, of the pins that change (before the first all are 0); `*n` stands for n clocks without change.
fn text_of<I: Pins>(build: &str, seed: u64, clocks: &[I]) -> String {
    let mut text = format!("build {build}\nseed {seed}\n");
    let mut before = I::default();
    let mut same = 0;
    for input in clocks {
        let changed: Vec<_> = (0..I::NAMES.len()).filter(|&pin| input.get(pin) != before.get(pin)).collect();
        if changed.is_empty() {
            same += 1;
            continue;
        }
        if same > 0 {
            let _ = writeln!(text, "*{same}");
            same = 0;
        }
        let pins: Vec<_> = changed.iter().map(|&pin| format!("{}={:#x}", I::NAMES[pin], input.get(pin))).collect();
        let _ = writeln!(text, "{}", pins.join(" "));
        before = *input;
    }
    if same > 0 {
        let _ = writeln!(text, "*{same}");
    }
    text
}

/// Seed and clocks; `#` begins a comment's line.
fn read<I: Pins>(text: &str) -> Result<(u64, Vec<I>), String> {
    let mut seed = None;
    let mut clocks: Vec<I> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let wrong = |what: &str| format!("line {}: {what}", number + 1);
        if line.is_empty() || line.starts_with('#') || line.starts_with("build ") {
            continue;
        }
        if let Some(value) = line.strip_prefix("seed ") {
            seed = Some(value.parse().map_err(|_| wrong("the seed is a number"))?);
            continue;
        }
        let mut input = clocks.last().copied().unwrap_or_default();
        if let Some(count) = line.strip_prefix('*') {
            let count: usize = count.parse().map_err(|_| wrong("a number of clocks follows the star"))?;
            clocks.extend(std::iter::repeat_n(input, count));
            continue;
        }
        for pin in line.split(' ') {
            let (name, value) = pin.split_once('=').ok_or_else(|| wrong("pins stand as name=0x..."))?;
            let pin = I::NAMES.iter().position(|n| *n == name).ok_or_else(|| wrong(&format!("no pin {name}")))?;
            let value = value.strip_prefix("0x").and_then(|hex| u64::from_str_radix(hex, 16).ok());
            input.set(pin, value.ok_or_else(|| wrong(&format!("{name} is a number as 0x1f")))?);
        }
        clocks.push(input);
    }
    Ok((seed.ok_or("there is no line with its seed")?, clocks))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    struct Two(u64, bool);

    impl Pins for Two {
        const NAMES: &'static [&'static str] = &["octets_i", "take_i"];
        fn get(&self, pin: usize) -> u64 {
            [self.0, self.1.into()][pin]
        }
        fn set(&mut self, pin: usize, value: u64) {
            if pin == 0 { self.0 = value } else { self.1 = value != 0 }
        }
    }

    #[test]
    fn a_written_vector_is_read() {
        let clocks = [Two(0, false), Two(0, false), Two(26, true), Two(26, true), Two(26, false), Two(26, false)];
        let text = text_of("two", 7, &clocks);
        assert_eq!(text, "build two\nseed 7\n*2\noctets_i=0x1a take_i=0x1\n*1\ntake_i=0x0\n*1\n");
        assert_eq!(build_of(&text), Some("two"));
        assert_eq!(read(&text), Ok((7, clocks.to_vec())));
    }

    #[test]
    fn wrong_files_say_what_is_wrong() {
        let wrong = |text: &str| read::<Two>(text).expect_err("it is wrong");
        assert_eq!(wrong("build two\nseed x"), "line 2: the seed is a number");
        assert_eq!(wrong("seed 1\n*many"), "line 2: a number of clocks follows the star");
        assert_eq!(wrong("seed 1\n# a comment\ntake"), "line 3: pins stand as name=0x...");
        assert_eq!(wrong("seed 1\ngive_i=0x1"), "line 2: no pin give_i");
        assert_eq!(wrong("seed 1\ntake_i=1"), "line 2: take_i is a number as 0x1f");
        assert_eq!(wrong("take_i=0x1"), "there is no line with its seed");
    }
}
