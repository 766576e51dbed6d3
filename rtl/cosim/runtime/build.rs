//! Compiles the parts of Verilator that its C++ calls.

use std::env;
use std::path::Path;

fn main() {
    println!("cargo::rerun-if-env-changed=VERILATOR_ROOT");
    // Clippy has the build script run once more, and links nothing.
    println!("cargo::rerun-if-env-changed=RUSTC_WORKSPACE_WRAPPER");
    if env::var("RUSTC_WORKSPACE_WRAPPER").is_ok_and(|wrapper| wrapper.contains("clippy")) {
        return;
    }
    let root = env::var("VERILATOR_ROOT").expect("`make -C rtl test` sets VERILATOR_ROOT");
    let include = Path::new(&root).join("include");
    let mut cc = cc::Build::new();
    if env::var_os("CARGO_FEATURE_COVERAGE").is_some() {
        cc.file(include.join("verilated_cov.cpp"));
    }
    cc.cpp(true)
        .std("c++17")
        .opt_level(2)
        .debug(false)
        .warnings(false)
        .include(&include)
        .include(include.join("vltstd"))
        .file(include.join("verilated.cpp"))
        .file(include.join("verilated_threads.cpp"))
        .compile("verilated");
}
