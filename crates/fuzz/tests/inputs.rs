//! The first inputs of the first seed: part of the tests of the workspace, so that what they need is built once.

use std::process::Command;

#[test]
fn two_thousand_inputs_have_no_finding() {
    let status = Command::new(env!("CARGO_BIN_EXE_penstock-fuzz"))
        .args(["--root", concat!(env!("CARGO_MANIFEST_DIR"), "/../.."), "--inputs", "2000"])
        .status()
        .expect("it was built");
    assert!(status.success(), "{status}; the findings and how to repeat them stand above");
}
