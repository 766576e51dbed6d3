//! Programs in C, compiled with all warnings and the sanitizers, and run.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Whether addresses and undefined behaviour are watched.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sanitise {
    Yes,
    No,
}

/// The folder of this test program, in which its library lies as well.
fn built() -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().to_owned()
}

/// Compiles a program in C, as `name`.
pub(crate) fn compile(name: &str, source: &str, sanitise: Sanitise) -> PathBuf {
    let folder = built().join("capi-programs");
    std::fs::create_dir_all(&folder).unwrap();
    let (file, program) = (folder.join(format!("{name}.c")), folder.join(name));
    std::fs::write(&file, source).unwrap();
    let mut compiler = Command::new("cc");
    compiler.args(["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-g", "-O1"]);
    if sanitise == Sanitise::Yes {
        compiler.args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]);
    }
    let header = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    compiler.arg("-I").arg(header).arg("-o").arg(&program).arg(&file);
    compiler.arg("-L").arg(built()).arg("-lpenstock").arg(format!("-Wl,-rpath,{}", built().display()));
    let done = compiler.output().expect("there is a compiler of C");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    program
}

/// Runs it with this input; what it printed.
pub(crate) fn run(program: &Path, input: &str) -> String {
    use std::io::Write;
    let mut child =
        Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let done = child.wait_with_output().unwrap();
    assert!(done.status.success(), "{}: {}", program.display(), String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

/// The example answers the trace of a run of the simulator as the simulator's own reaction point did.
#[test]
fn dcqcn_in_c_follows_a_recorded_trace() {
    let program = compile("dcqcn_trace", include_str!("../../examples/dcqcn_trace.c"), Sanitise::Yes);
    let trace = crate::native::dcqcn_trace();
    let (events, rates): (Vec<String>, Vec<String>) = trace.into_iter().unzip();
    assert_eq!(run(&program, &events.concat()), rates.concat());
}

/// The example prints a bottleneck that QCN holds at its set point.
#[test]
fn qcn_in_c_holds_a_queue() {
    let program = compile("qcn_loop", include_str!("../../examples/qcn_loop.c"), Sanitise::Yes);
    let said = run(&program, "");
    let mean: f64 = said.lines().last().unwrap().split_whitespace().nth(2).unwrap().parse().unwrap();
    assert!((20_000.0..50_000.0).contains(&mean), "the set point is 33 000 octets: {said}");
}

/// Random callers in C write nowhere else and leave nothing behind: the sanitizers look.
#[test]
fn random_callers_in_c_find_nothing() {
    let program = compile("callers", include_str!("../callers.c"), Sanitise::Yes);
    let line = |info: &penstock_schemes::Info| {
        info.parameters.iter().fold(info.name.to_owned(), |line, parameter| line + " " + parameter.name) + "\n"
    };
    let said = run(&program, &penstock_schemes::SCHEMES.iter().map(line).collect::<String>());
    let counts: Vec<u64> = said.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    assert!(counts.iter().all(|&count| count > 100), "both are tried, and points answer: {said}");
}
