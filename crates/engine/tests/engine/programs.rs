//! Programs in C and C++, compiled with all warnings and the sanitizers, and run.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The folder of this test program, in which its library lies as well.
fn built() -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().to_owned()
}

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compiles a program of these files, in C if the first one is, as `name`.
pub(crate) fn compile(name: &str, sources: &[&str]) -> PathBuf {
    let folder = built().join("engine-programs");
    std::fs::create_dir_all(&folder).unwrap();
    let program = folder.join(name);
    let (compiler, standard) = if sources[0].ends_with(".c") { ("cc", "-std=c11") } else { ("c++", "-std=c++17") };
    let mut compiler = Command::new(compiler);
    compiler.args([standard, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-g", "-O1"]);
    compiler.args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]);
    let includes = ["crates/engine/include", "network_frontend/penstock", "network_frontend/penstock/tests/stand_in"];
    includes.iter().for_each(|include| _ = compiler.arg("-I").arg(root().join(include)));
    compiler.arg("-o").arg(&program).args(sources.iter().map(|source| root().join(source)));
    compiler.arg("-L").arg(built()).arg("-lpenstock_engine").arg(format!("-Wl,-rpath,{}", built().display()));
    let done = compiler.output().expect("there is a compiler of C and C++");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    program
}

/// Runs it; its output.
pub(crate) fn output(program: &Path, args: &[&str]) -> Output {
    Command::new(program).args(args).output().unwrap()
}

/// Runs it; what it printed.
pub(crate) fn run(program: &Path, args: &[&str]) -> String {
    let done = output(program, args);
    assert!(done.status.success(), "{}: {}", program.display(), String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

/// A file with this text.
pub(crate) fn file(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The structures of the header and the library agree, and so do their numbers.
#[test]
fn layouts_agree() {
    let folder = tempfile::tempdir().unwrap();
    let source = file(
        folder.path(),
        "layout.c",
        "#include <stddef.h>\n#include <stdio.h>\n#include \"penstock_engine.h\"\n\
         int main(void) { printf(\"%u %zu %zu %zu %d %d %llu\", PENSTOCK_ENGINE_VERSION, sizeof(penstock_engine_event),\
         offsetof(penstock_engine_event, id), offsetof(penstock_engine_event, time_ps), PENSTOCK_ENGINE_BROKEN,\
         (int)sizeof(penstock_engine_status), (unsigned long long)PENSTOCK_ENGINE_MOST_OCTETS); return 0; }\n",
    );
    let own = format!(
        "{} {} {} {} {} {} {}",
        penstock_engine::VERSION,
        size_of::<penstock_engine::Event>(),
        std::mem::offset_of!(penstock_engine::Event, id),
        std::mem::offset_of!(penstock_engine::Event, time_ps),
        penstock_engine::Status::Broken as u32,
        size_of::<penstock_engine::Status>(),
        penstock_scenario::MOST_OCTETS,
    );
    assert_eq!(run(&compile("layout", &[&source]), &[]), own);
}

/// Each of four hosts gets 3 MB over 100 Gb/s: 240 us of data, and headers.
#[test]
fn the_example_plays_an_all_to_all() {
    let said = run(&compile("all_to_all", &["crates/engine/examples/all_to_all.c"]), &[]);
    let times: Vec<(&str, u64)> = said
        .lines()
        .map(|line| {
            let mut words = line.split(' ');
            (words.next().unwrap(), words.next().unwrap().parse().unwrap())
        })
        .collect();
    let mut hosts: Vec<&str> = times.iter().map(|(host, _)| *host).collect();
    hosts.sort_unstable();
    assert_eq!(hosts, ["h0", "h1", "h2", "h3"]);
    assert!(times.iter().all(|(_, ps)| (240_000_000..400_000_000).contains(ps)), "{said}");
    assert!(page().contains(&said), "the page prints something else than {said}");
}

/// The page about the engine.
fn page() -> String {
    std::fs::read_to_string(root().join("docs/how-to/use-the-engine-from-c.md")).unwrap()
}

/// The page shows the example as it is.
#[test]
fn the_page_has_the_example() {
    let page = page();
    let example = include_str!("../../examples/all_to_all.c");
    let code = page.split("```c\n").nth(1).and_then(|rest| rest.split("```").next()).expect("the page has code in C");
    assert_eq!(code, example);
}

/// Random calls, right and wrong ones, in 60 runs.
#[test]
fn sanitizers_find_nothing_under_random_calls() {
    let program = compile("fuzz", &["crates/engine/tests/engine/fuzz.c"]);
    // A queue was read before departures from it were noted.
    run(&program, &["101592", "1"]);
    let said = run(&program, &["1", "60"]);
    let calls: u64 = said.split(' ').next().unwrap().parse().unwrap();
    assert!(calls > 3000, "{said}");
}

/// A program that destroys an engine twice is found, so that a clean run says something.
#[test]
fn sanitizers_find_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let example = include_str!("../../examples/all_to_all.c");
    let wrong = example.replace(
        "penstock_engine_destroy(engine);",
        "penstock_engine_destroy(engine);\n    penstock_engine_destroy(engine);",
    );
    let source = file(folder.path(), "wrong.c", &wrong);
    let done = output(&compile("wrong", &[&source]), &[]);
    assert!(String::from_utf8_lossy(&done.stderr).contains("ERROR: AddressSanitizer"));
}

/// A program that was compiled for another version ends with a sentence, in C and as the front end of ASTRA-sim.
#[test]
fn a_library_of_another_version_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let newer = "#include \"penstock_engine.h\"\n#undef PENSTOCK_ENGINE_VERSION\n#define PENSTOCK_ENGINE_VERSION 2u\n";
    let example = include_str!("../../examples/all_to_all.c").replace("#include \"penstock_engine.h\"\n", newer);
    let front_end = format!(
        "{newer}#include \"PenstockNetwork.cc\"\n#include <iostream>\n\
         int main() {{ try {{ penstock::Fabric fabric(\"\", \"test\", nullptr); }}\
         catch (const std::exception& error) {{ std::cerr << error.what(); return 1; }} return 0; }}\n"
    );
    for (name, text) in [("newer.c", example), ("newer.cc", front_end)] {
        let source = file(folder.path(), name, &text);
        let done = output(&compile(&name.replace('.', "-"), &[&source]), &[]);
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(
            !done.status.success() && said.contains("version 1, ") && said.contains("header 2: build both"),
            "{said}"
        );
    }
}

/// The front end of ASTRA-sim matches sends and receives as streams of octets, and says why it stops.
#[test]
fn the_front_end_matches_streams_of_octets() {
    let folder = tempfile::tempdir().unwrap();
    let toml = "question = \"?\"\nduration = \"1 s\"\nscheme = \"none\"\n\
        [topology.star]\nhosts = 2\nlink_rate = \"100 Gbps\"\nlink_delay = \"1 us\"\nbuffer = \"1 MB\"\n\
        [[job]]\ngraph = \"outside\"\ntransport.go-back-n = { mtu = \"8000 B\", ack_every = 64 }\n";
    let scenario = file(folder.path(), "pair.toml", toml);
    let sources = ["network_frontend/penstock/tests/matching.cc", "network_frontend/penstock/PenstockNetwork.cc"];
    assert_eq!(run(&compile("matching", &sources), &[&scenario]), "ok\n");
}
