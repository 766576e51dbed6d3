//! A scheme of a shared library under the conformance suite, beside the native one.

use std::path::{Path, PathBuf};
use std::process::Command;

use penstock_schemes::foreign::{Config, Definition, Foreign};
use penstock_schemes::{Scheme as _, Value};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Builds a text in C as a library, and loads it.
fn load(name: &str, text: &str) -> &'static Definition {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (source, library): (PathBuf, PathBuf) =
        (folder.join(format!("{name}.c")), folder.join(format!("lib{name}.so")));
    std::fs::write(&source, text).expect("the folder is there");
    let mut compiler = Command::new("cc");
    compiler.args(["-std=c11", "-O2", "-shared", "-fPIC", "-Wall", "-Wextra", "-I"]);
    let status = compiler.arg(format!("{ROOT}/crates/foreign/include")).arg("-o").arg(&library).arg(&source).status();
    assert!(status.expect("there is a compiler of C").success());
    penstock_foreign::load(library.to_str().expect("a plain name")).expect("a library that is right")
}

fn dctcp() -> String {
    std::fs::read_to_string(format!("{ROOT}/examples/foreign/dctcp.c")).expect("the example is there")
}

fn config(definition: &'static Definition) -> Config {
    let values: Vec<Value> = definition.info.parameters.iter().map(|p| p.default).collect();
    Config::new(definition, &values).expect("defaults are of their kinds")
}

#[test]
fn a_library_obeys_the_contract() {
    let config = config(load("dctcp", &dctcp()));
    assert_eq!(Foreign::info(&config).name, "dctcp-c");
    assert_eq!(penstock_conformance::conforms::<Foreign>(&config), Ok(()));
    assert_eq!(config.watch().fault(), None);
}

/// A negative control: a window that depends on how many points there are.
#[test]
fn a_global_that_changes_is_found() {
    let text = dctcp().replace(
        "own->settled += ack->acked",
        "static uint64_t calls; own->cwnd += ++calls % 7;\n    own->settled += ack->acked",
    );
    let broken = penstock_conformance::conforms::<Foreign>(&config(load("global", &text)));
    assert!(broken.is_err(), "two points with the same calls have different windows");
}
