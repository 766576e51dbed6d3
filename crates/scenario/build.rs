//! Lists the workloads: each file of `python/penstock/workloads` whose name ends in `.cdf` is one, and its name the word for it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let folder =
        Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../../python/penstock/workloads");
    println!("cargo::rerun-if-changed={}", folder.display());
    let entries = fs::read_dir(&folder).expect("the package of Python has the folder");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be read").path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "cdf"));
    files.sort();
    let mut list = String::new();
    for file in &files {
        let name = file.file_stem().and_then(|name| name.to_str()).expect("a workload has a name in ASCII");
        writeln!(list, "    ({name:?}, Workload({name:?}, include_str!({file:?}))),").expect("text takes all");
    }
    let out = Path::new(&env::var("OUT_DIR").expect("cargo sets it")).join("workloads.rs");
    let text = format!("const WORKLOADS: &[(&str, Workload)] = &[\n{list}];\n");
    fs::write(out, text).expect("the folder of the build can be written");
}
