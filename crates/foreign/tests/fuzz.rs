//! Random callers of the table of each example in C and C++, under the sanitizers of addresses and of undefined behaviour.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const SEQUENCES: &str = "2000";

/// Compiles a file of C or C++ to an object.
fn object(source: &Path, name: &str) -> PathBuf {
    let cpp = source.extension().is_some_and(|ending| ending == "cpp");
    let object = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.o"));
    let mut compiler = Command::new(if cpp { "c++" } else { "cc" });
    compiler.arg(if cpp { "-std=c++17" } else { "-std=c11" });
    compiler.args(["-g", "-O1", "-Wall", "-Wextra", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-c"]);
    compiler.args(["-I", &format!("{ROOT}/crates/foreign/include"), "-o"]).arg(&object).arg(source);
    assert!(compiler.status().expect("there is a compiler").success(), "{}", source.display());
    object
}

/// Runs the random caller with a scheme.
fn fuzz(source: &Path, name: &str) -> Output {
    let caller = object(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuzz.c")), &format!("{name}-caller"));
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{name}"));
    let mut linker = Command::new("c++");
    linker.arg("-fsanitize=address,undefined").arg("-o").arg(&program).args([caller, object(source, name)]);
    assert!(linker.status().expect("there is a compiler").success());
    Command::new(program).arg(SEQUENCES).output().expect("it was built")
}

#[test]
fn random_callers_find_nothing_in_the_examples() {
    for file in ["aimd.c", "dctcp.c", "dcqcn.c", "qcn.c", "red.cpp"] {
        let done = fuzz(&Path::new(ROOT).join("examples/foreign").join(file), &file.replace('.', "-"));
        assert!(done.status.success(), "{file}: {}", String::from_utf8_lossy(&done.stderr));
        assert!(String::from_utf8_lossy(&done.stdout).contains(SEQUENCES));
    }
}

/// Negative controls: a write beyond the memory of a point, a shift that C does not define, and a rate above the line's.
#[test]
fn random_callers_find_what_is_wrong() {
    let text = std::fs::read_to_string(format!("{ROOT}/examples/foreign/dcqcn.c")).expect("the example is there");
    let before = "tag->label = PENSTOCK_ROCE;\n    if";
    assert!(text.contains(before));
    for (name, wrong, said) in [
        ("beyond", "((volatile rp *)point)[1].line = 1;", "heap-buffer-overflow"),
        ("shift", "volatile int i = 64; i = 1 << i;", "shift exponent 64 is too large"),
        ("rate", "limits->rate = INT64_MAX;", "rp_on_send: the rate is 9223372036854775807"),
    ] {
        let source = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.c"));
        std::fs::write(&source, text.replace(before, &format!("{wrong}\n    {before}"))).expect("the folder is there");
        let done = fuzz(&source, name);
        let found = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(!done.status.success() && found.contains(said), "{name}: {found}");
    }
}
