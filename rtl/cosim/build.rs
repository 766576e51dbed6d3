//! Turns every core into a Rust type: Verilator makes C++ of its sources, this makes a shim around that and bindings to it.
//!
//! The `core.toml` files beside this crate say which builds there are. Ports are read from Verilator's header, so that
//! nothing lists them twice.

use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::fmt::Write as _;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, thread};

use ports::{HELPER, Port, Ports, heads_of, recorded_of};
use serde::Deserialize;

mod ports;

/// A `core.toml`.
#[derive(Deserialize)]
struct Core {
    #[serde(default)]
    needs: Vec<String>,
    /// Sources that `make` makes, in build/generated.
    #[serde(default)]
    generated: Vec<String>,
    sources: Vec<String>,
    #[serde(default)]
    build: Vec<Build>,
    /// Its test brings garbage in at every side: the checks of its streams are for others.
    #[serde(default = "yes")]
    checks: bool,
    /// Its modules are simulated in the cores that need it, and not all of them alone.
    #[serde(default)]
    parts: bool,
}

/// One set of parameters of a core.
#[derive(Deserialize, Clone)]
struct Build {
    name: String,
    top: String,
    #[serde(default)]
    parameters: BTreeMap<String, String>,
    /// Widths of penstock_pkg that are not its own.
    #[serde(default)]
    defines: BTreeMap<String, String>,
    /// Other widths of its streams, bits: a build each, whose name ends with the width.
    #[serde(default)]
    widths: Vec<u32>,
    /// Not all variants that are synthesised are simulated.
    #[serde(default = "yes")]
    cosim: bool,
    /// Without assertions and random initial values, and all for speed: for long runs, not for tests.
    #[serde(default)]
    fast: bool,
    /// For tests of `make operations` alone, for it takes long to compile: the feature `setups`.
    #[serde(default)]
    long: bool,
    /// For the experiment of full length alone; tests do without, for it takes long to compile.
    #[serde(default)]
    experiment: bool,
}

/// The width whose builds `make test` has; the feature `widths` has the others.
const TESTED_WIDTH: u32 = 512;

impl Build {
    /// It, and its builds with other widths.
    fn with_widths(&self, all: bool) -> Vec<Build> {
        let of_width = |width: &u32| {
            let mut build = self.clone();
            build.name = format!("{}_{width}", self.name);
            build.defines.insert("PENSTOCK_DATA_W".into(), width.to_string());
            build
        };
        let wide = self.widths.iter().filter(|width| all || **width == TESTED_WIDTH).map(of_width);
        std::iter::once(self.clone()).chain(wide).collect()
    }
}

fn yes() -> bool {
    true
}

fn main() {
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let rtl = here.parent().expect("it lies in rtl/").to_path_buf();
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    let verilator =
        env::var("VERILATOR").unwrap_or_else(|_| rtl.join("build/venv/bin/verilator").display().to_string());
    let root = env::var("VERILATOR_ROOT").expect("`make -C rtl test` sets VERILATOR_ROOT");
    println!("cargo::rerun-if-env-changed=VERILATOR");
    println!("cargo::rerun-if-env-changed=VERILATOR_ROOT");
    // Mutants need the cores that are tested, in these folders, no other.
    println!("cargo::rerun-if-env-changed=PENSTOCK_CORE");
    let only = env::var("PENSTOCK_CORE").ok();
    let feature = |name: &str| env::var_os(format!("CARGO_FEATURE_{name}")).is_some();
    let [experiment, setups, widths, coverage] = ["EXPERIMENT", "SETUPS", "WIDTHS", "COVERAGE"].map(feature);
    // Clippy has the build script run once more, and links nothing.
    println!("cargo::rerun-if-env-changed=RUSTC_WORKSPACE_WRAPPER");
    let clippy = env::var("RUSTC_WORKSPACE_WRAPPER").is_ok_and(|wrapper| wrapper.contains("clippy"));

    let include = Path::new(&root).join("include");
    let compiler = |level| {
        let mut cc = cc::Build::new();
        cc.cpp(true).std("c++17").opt_level(level).warnings(false).include(&include).include(include.join("vltstd"));
        // Nobody steps through them, and they would be a third of the time.
        cc.debug(false);
        cc
    };
    let (mut cc, mut large, mut fast) = (compiler(2), compiler(1), compiler(2));
    let mut rust = String::new();
    let cores: Vec<_> = cores(&rtl)
        .into_iter()
        .filter(|(folder, _)| only.as_ref().is_none_or(|names| names.split(',').any(|name| folder.ends_with(name))))
        .map(|(folder, core)| {
            let sources = Sources { checks: checks(&rtl, &folder, &core), files: sources(&rtl, &folder, &core) };
            let wanted = |it: &Build| it.cosim && (experiment || !it.experiment) && (setups || !it.long);
            let builds: Vec<_> = core.build.into_iter().filter(wanted).flat_map(|it| it.with_widths(widths)).collect();
            (folder, sources, builds)
        })
        .collect();
    let verilator = Verilator::at(verilator, root, &out, coverage);
    let waiting: Vec<_> =
        cores.iter().flat_map(|(_, sources, builds)| builds.iter().map(move |build| (build, sources))).collect();
    each(&waiting, |(build, sources)| verilator.make(build, sources));
    for (folder, sources, builds) in &cores {
        println!("cargo::rerun-if-changed={}", folder.join("core.toml").display());
        // Builds of a core with the same ports have the same structures.
        let mut shapes: Vec<(Vec<Port>, &str)> = Vec::new();
        let mut small = String::new();
        for source in sources.all() {
            println!("cargo::rerun-if-changed={}", source.display());
        }
        for build in builds {
            let made = verilator.made(build, sources);
            let prefix = prefix_of(build);
            let header = fs::read_to_string(made.join(format!("{prefix}.h"))).expect("Verilator wrote it");
            let wires = Ports::of(&header);
            let ports = wires.fields();
            // A build is one piece for the compiler, and all small ones of a core together are: it reads Verilator's headers
            // once then. (Verilator's guard against that is for precompiled ones.)
            let whole = includes_of(&made) + &shim_of(&build.name, &prefix, &wires, &ports, coverage && !build.fast);
            let same = shapes.iter().find(|(shape, _)| *shape == ports).map(|&(_, name)| name);
            rust.push_str(&binding_of(&build.name, digest(build, &sources.files), &ports, same));
            shapes.push((ports, &build.name));
            // Tests run a fast build for less time than it would take to be compiled well.
            let cc = if build.fast && experiment {
                &mut fast
            } else if size_of(&made) > LARGE {
                &mut large
            } else {
                small = small + &whole + "#undef VL_PCH_INCLUDED\n";
                cc.include(&made);
                continue;
            };
            let shim = out.join(format!("{}_shim.cpp", build.name));
            fs::write(&shim, whole).expect("OUT_DIR can be written");
            cc.include(&made).file(shim);
        }
        if !small.is_empty() {
            let name = folder.file_name().and_then(|name| name.to_str()).expect("a core's folder has a name");
            let shims = out.join(format!("{name}.cpp"));
            fs::write(&shims, small).expect("OUT_DIR can be written");
            cc.file(shims);
        }
    }
    fs::write(out.join("cores.rs"), rust).expect("OUT_DIR can be written");
    // Side by side, for a single long piece keeps one processor busy.
    let libraries = [(cc, "cores"), (large, "large_cores"), (fast, "fast_cores")];
    thread::scope(|scope| {
        for (cc, name) in libraries.iter().filter(|(cc, _)| !clippy && cc.get_files().next().is_some()) {
            scope.spawn(move || cc.compile(&format!("penstock_{name}")));
        }
    });
}

/// All that Verilator made of a core, as includes.
fn includes_of(made: &Path) -> String {
    let files = fs::read_dir(made).expect("Verilator made it").map(|file| file.expect("it can be read").path());
    let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|e| e == "cpp")).collect();
    files.sort();
    let include = |path: &PathBuf| {
        let line = format!("#include {:?}\n", path.display().to_string());
        // Code that runs once need not be fast, but be compiled fast.
        if line.contains("__Slow.cpp") {
            format!("#pragma GCC push_options\n#pragma GCC optimize(\"O0\")\n{line}#pragma GCC pop_options\n")
        } else {
            line
        }
    };
    files.iter().map(include).collect()
}

/// Octets of the C++ that runs in each clock.
fn size_of(made: &Path) -> u64 {
    let files = fs::read_dir(made).expect("Verilator made it").map(|file| file.expect("it can be read"));
    let runs = |name: &str| name.ends_with(".cpp") && !name.ends_with("__Slow.cpp");
    let files = files.filter(|file| file.file_name().to_str().is_some_and(runs));
    files.map(|file| file.metadata().expect("it is there").len()).sum()
}

/// All folders with a `core.toml`, by name.
fn cores(rtl: &Path) -> Vec<(PathBuf, Core)> {
    let mut folders: Vec<_> = fs::read_dir(rtl)
        .expect("rtl/ can be read")
        .map(|entry| entry.expect("it can be read").path())
        .filter(|path| path.join("core.toml").is_file())
        .collect();
    folders.sort();
    folders.into_iter().map(|folder| (folder.clone(), read(&folder))).collect()
}

fn read(folder: &Path) -> Core {
    let path = folder.join("core.toml");
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    toml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The sources of a core after those of the cores that it needs, each once.
fn sources(rtl: &Path, folder: &Path, core: &Core) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for need in &core.needs {
        let folder = rtl.join(need);
        let more: Vec<_> = sources(rtl, &folder, &read(&folder)).into_iter().filter(|it| !all.contains(it)).collect();
        all.extend(more);
    }
    all.extend(core.generated.iter().map(|source| rtl.join("build/generated").join(source)));
    all.extend(core.sources.iter().map(|source| folder.join(source)));
    all
}

/// The checks of a core's streams, and of those of the cores that it needs and that are simulated nowhere else.
fn checks(rtl: &Path, folder: &Path, core: &Core) -> Vec<PathBuf> {
    let elsewhere = |part: &PathBuf| {
        let part = read(part);
        !part.parts && part.build.iter().any(|build| build.cosim)
    };
    let parts = core.needs.iter().map(|need| rtl.join(need)).filter(|part| !elsewhere(part));
    let folders = parts.chain([folder.to_path_buf()]).filter(|_| core.checks);
    let path = |folder: PathBuf| {
        let name = folder.file_name().and_then(|name| name.to_str()).expect("a core's folder has a name");
        rtl.join("build/generated").join(format!("{name}_checks.sv"))
    };
    folders.map(path).filter(|path| path.is_file()).collect()
}

/// What Verilator reads of a core: its sources, and the checks of its streams.
struct Sources {
    files: Vec<PathBuf>,
    checks: Vec<PathBuf>,
}

impl Sources {
    fn all(&self) -> impl Iterator<Item = &PathBuf> {
        self.files.iter().chain(&self.checks)
    }

    /// Those of a build: a fast one is not checked.
    fn of(&self, build: &Build) -> impl Iterator<Item = &PathBuf> {
        self.files.iter().chain(self.checks.iter().filter(|_| !build.fast))
    }
}

/// Octets of C++ from which on a core costs more time to compile well than its tests take.
const LARGE: u64 = 1_000_000;

/// Verilator's options: to find faults, and to be fast. A module that stands in a design many times is one piece of C++ in the
/// former, which halves the C++ of a set-up.
const CAREFUL: [&str; 7] = ["--assert", "--x-assign", "unique", "--x-initial", "unique", "--inline-mult", "1"];
const FAST: [&str; 6] = ["--no-assert", "--x-assign", "fast", "--x-initial", "fast", "-DPENSTOCK_FAST"];

/// It counts how often a line runs and a bit changes.
const COVERAGE: [&str; 2] = ["--coverage-line", "--coverage-toggle"];

/// Verilator's name of a build's class.
fn prefix_of(build: &Build) -> String {
    format!("V{}", build.name)
}

/// Does all of the work, as many pieces at a time as cargo allows.
fn each<T: Sync>(work: &[T], does: impl Fn(&T) + Sync) {
    let jobs = env::var("NUM_JOBS").ok().and_then(|jobs| jobs.parse().ok()).unwrap_or(1);
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let Some(piece) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                    does(piece);
                }
            });
        }
    });
}

/// Verilator, and the folder of its output: beside all build scripts' folders, for clippy's run of this one has another
/// than the build's. Output that exists already, of the same sources and options, is not generated again.
struct Verilator {
    command: String,
    root: String,
    version: String,
    kept: PathBuf,
    coverage: bool,
}

impl Verilator {
    fn at(command: String, root: String, out: &Path, coverage: bool) -> Self {
        let version = fs::read_to_string(Path::new(&root).join("include/verilated_config.h"))
            .unwrap_or_else(|e| panic!("VERILATOR_ROOT {root}: {e}"));
        let profile = out.ancestors().nth(3).expect("OUT_DIR is target/PROFILE/build/CRATE/out");
        let kept = profile.join(if coverage { "verilated-coverage" } else { "verilated" });
        Self { command, root, version, kept, coverage }
    }

    fn arguments(&self, build: &Build, sources: &Sources) -> Vec<String> {
        let mut all: Vec<String> = ["--cc", "-O3", "--no-timing"].map(String::from).into();
        all.extend(if build.fast { FAST.as_slice() } else { CAREFUL.as_slice() }.iter().map(|&word| word.into()));
        if self.coverage && !build.fast {
            all.extend(COVERAGE.map(String::from));
        }
        all.extend(["--top-module".into(), build.top.clone(), "--prefix".into(), prefix_of(build)]);
        all.extend(build.parameters.iter().map(|(name, value)| format!("-G{name}={value}")));
        all.extend(build.defines.iter().map(|(name, value)| format!("-D{name}={value}")));
        all.extend(sources.of(build).map(|source| source.display().to_string()));
        all
    }

    /// The folder of a build's output.
    fn made(&self, build: &Build, sources: &Sources) -> PathBuf {
        let mut hash = DefaultHasher::new();
        (&self.version, self.arguments(build, sources)).hash(&mut hash);
        for source in sources.of(build) {
            fs::read(source).unwrap_or_else(|e| panic!("{}: {e}", source.display())).hash(&mut hash);
        }
        self.kept.join(&build.name).join(format!("{:016x}", hash.finish()))
    }

    fn make(&self, build: &Build, sources: &Sources) {
        let made = self.made(build, sources);
        if made.is_dir() {
            return;
        }
        let _ = fs::remove_dir_all(self.kept.join(&build.name));
        // It is made whole or not at all.
        let begun = made.with_extension("begun");
        fs::create_dir_all(&begun).unwrap_or_else(|e| panic!("{}: {e}", begun.display()));
        let status = Command::new(&self.command)
            .env("VERILATOR_ROOT", &self.root)
            .args(self.arguments(build, sources))
            .arg("-Mdir")
            .arg(&begun)
            .status()
            .unwrap_or_else(|e| panic!("{}: {e}", self.command));
        assert!(status.success(), "Verilator refused {}", build.name);
        fs::rename(&begun, &made).unwrap_or_else(|e| panic!("{}: {e}", made.display()));
    }
}

/// Says that a random word is drawn in this clock.
fn is_draw(port: &Port) -> bool {
    !port.input && port.width <= 64 && port.name.starts_with("draw_")
}

/// C that writes what a core's coverage counted, to a new file in the folder that `PENSTOCK_COVERAGE` names.
fn writes_coverage(name: &str, prefix: &str) -> String {
    format!(
        "#include <atomic>\n#include <cstdlib>\n#include <string>\n#include \"verilated_cov.h\"
static void {name}_covered({prefix}_Made* made) {{
  static std::atomic<unsigned> number{{0}};
  if (const char* folder = std::getenv(\"PENSTOCK_COVERAGE\"))
    made->context.coveragep()->write(std::string(folder) + \"/{name}-\" + std::to_string(number++) + \".dat\");
}}
"
    )
}

/// C functions that make, end and clock a core; one structure is passed in each direction.
fn shim_of(name: &str, prefix: &str, wires: &Ports, ports: &[Port], coverage: bool) -> String {
    let mut c = format!("#include <cstring>\n{HELPER}#include \"{prefix}.h\"\n#include \"verilated.h\"\n");
    for (kind, input) in [("In", true), ("Out", false)] {
        let _ = writeln!(c, "struct {prefix}_{kind} {{");
        for port in ports.iter().filter(|p| p.input == input && !p.is_clock()) {
            if port.wide() {
                let _ = writeln!(c, "  uint32_t {}[{}];", port.name, port.words());
            } else {
                let _ = writeln!(c, "  {} {};", port.c_type(), port.name);
            }
        }
        let _ = writeln!(c, "}};");
    }
    // The context is set up before the core is made: registers get their first values then.
    let _ = writeln!(
        c,
        "struct {prefix}_Made {{\n  VerilatedContext context;\n  {prefix} core;\n  explicit {prefix}_Made(uint64_t seed) : core(prepared(context, seed)) {{}}"
    );
    let _ = writeln!(
        c,
        "  static VerilatedContext* prepared(VerilatedContext& context, uint64_t seed) {{\n    context.randSeed(static_cast<int>(seed & 0x7fffffff) | 1);\n    context.randReset(2);\n    return &context;\n  }}\n}};"
    );
    if coverage {
        c += &writes_coverage(name, prefix);
    }
    let _ = writeln!(c, "extern \"C\" void* {name}_new(uint64_t seed) {{\n  auto* made = new {prefix}_Made(seed);");
    let _ = writeln!(c, "  made->core.clk_i = 0;\n  made->core.eval();\n  return made;\n}}");
    let _ = writeln!(
        c,
        "extern \"C\" void {name}_unchecked(void* p) {{ static_cast<{prefix}_Made*>(p)->context.assertOn(false); }}"
    );
    let ends = if coverage { format!("{name}_covered(static_cast<{prefix}_Made*>(p)); ") } else { String::new() };
    let _ = writeln!(c, "extern \"C\" void {name}_free(void* p) {{ {ends}delete static_cast<{prefix}_Made*>(p); }}");
    let _ = writeln!(
        c,
        "extern \"C\" void {name}_clock(void* p, const {prefix}_In* in, {prefix}_Out* out) {{\n  auto& core = static_cast<{prefix}_Made*>(p)->core;"
    );
    c.push_str(&wires.copies(true));
    // The clock falls when the inputs change: nothing is clocked by that, and it saves an evaluation.
    c.push_str("  core.clk_i = 0;\n  core.eval();\n");
    c.push_str(&wires.copies(false));
    c.push_str("  core.clk_i = 1;\n  core.eval();\n}\n");
    let _ = writeln!(
        c,
        "extern \"C\" uint64_t {name}_run(void* p, const {prefix}_In* in, {prefix}_Out* out, uint64_t clocks) {{\n  auto& core = static_cast<{prefix}_Made*>(p)->core;"
    );
    c.push_str(&wires.copies(true));
    let draws: Vec<_> = ports.iter().filter(|p| is_draw(p)).map(|p| format!("core.{} != 0", p.name)).collect();
    let draws = if draws.is_empty() { "false".to_owned() } else { draws.join(" || ") };
    c.push_str("  core.clk_i = 0;\n  core.eval();\n  uint64_t done = 0;\n");
    let _ = writeln!(c, "  for (; done < clocks && !({draws}); ++done) {{");
    c.push_str("    core.clk_i = 1;\n    core.eval();\n    core.clk_i = 0;\n    core.eval();\n  }\n");
    c.push_str(&wires.copies(false));
    c.push_str("  return done;\n}\n");
    c
}

/// The inputs by index, as vectors have them.
fn pins_of(ports: &[Port]) -> String {
    let (mut names, mut get, mut set, mut pin) = (String::new(), String::new(), String::new(), 0);
    for port in ports.iter().filter(|p| p.input && !p.is_clock()) {
        for word in 0..if port.wide() { port.words() } else { 1 } {
            let index = if port.wide() { format!("[{word}]") } else { String::new() };
            let field = format!("self.{}{index}", port.name);
            let value = match (port.width, port.rust_type()) {
                (1, _) => "value != 0".into(),
                (65.., _) => "value as u32".into(),
                (33..=64, _) => "value".into(),
                (_, kind) => format!("value as {kind}"),
            };
            let _ = write!(names, "\"{}{index}\", ", port.name);
            let widened = if (33..=64).contains(&port.width) { field.clone() } else { format!("u64::from({field})") };
            let _ = writeln!(get, "                {pin} => {widened},");
            let _ = writeln!(set, "                {pin} => {field} = {value},");
            pin += 1;
        }
    }
    format!(
        "    impl crate::vectors::Pins for In {{
        const NAMES: &'static [&'static str] = &[{names}];
        fn get(&self, pin: usize) -> u64 {{
            match pin {{
{get}                _ => unreachable!(\"a pin has a name\"),
            }}
        }}
        fn set(&mut self, pin: usize, value: u64) {{
            match pin {{
{set}                _ => unreachable!(\"a pin has a name\"),
            }}
        }}
    }}
"
    )
}

/// The sources of a build, as a number; comments and blanks do not count.
fn digest(build: &Build, sources: &[PathBuf]) -> u64 {
    let mut hash = DefaultHasher::new();
    (&build.top, &build.parameters, &build.defines).hash(&mut hash);
    for source in sources {
        let text = fs::read_to_string(source).unwrap_or_else(|e| panic!("{}: {e}", source.display()));
        for line in text.lines() {
            line.split("//").next().unwrap_or_default().split_whitespace().for_each(|word| word.hash(&mut hash));
        }
    }
    hash.finish()
}

/// The Rust side: a module with `In`, `Out` (those of `same`, if there is one) and `Core`.
fn binding_of(name: &str, digest: u64, ports: &[Port], same: Option<&str>) -> String {
    let mut r = format!("/// The core `{name}`.\npub mod {name} {{\n    use core::ffi::c_void;\n");
    let _ = writeln!(
        r,
        "    /// Another number for another core: a digest of its sources without comments.\n    pub const SOURCES: u64 = {digest:#018x};"
    );
    for (kind, input, says) in
        [("In", true, "The inputs at its ports for a clock."), ("Out", false, "The outputs at its ports in a clock.")]
    {
        if let Some(same) = same {
            let _ = writeln!(r, "    pub use super::{same}::{kind};");
            continue;
        }
        let _ = writeln!(
            r,
            "    /// {says}\n    #[repr(C)]\n    #[derive(Debug, Clone, Copy, PartialEq, Eq)]\n    #[allow(missing_docs)]\n    pub struct {kind} {{"
        );
        for port in ports.iter().filter(|p| p.input == input && !p.is_clock()) {
            let _ = writeln!(r, "        pub {}: {},", port.name, port.rust_type());
        }
        // Rust derives no default of an array of more than 32 words.
        let _ = writeln!(
            r,
            "    }}
    impl Default for {kind} {{
        fn default() -> Self {{
            // SAFETY: a port is a flag, a number or an array of numbers: 0 is a value of each.
            unsafe {{ core::mem::zeroed() }}
        }}
    }}"
        );
    }
    if same.is_none() {
        r.push_str(&pins_of(ports));
        r.push_str(&recorded_of("In", ports.iter().filter(|p| p.input && !p.is_clock())));
        r.push_str(&recorded_of("Out", ports.iter().filter(|p| !p.input)));
    }
    let (inputs, outputs) = heads_of(ports.iter().filter(|p| !p.is_clock()));
    let _ = write!(
        r,
        "    #[allow(improper_ctypes, reason = \"a check has no output\")]
    unsafe extern \"C\" {{
        fn {name}_new(seed: u64) -> *mut c_void;
        fn {name}_free(core: *mut c_void);
        fn {name}_unchecked(core: *mut c_void);
        fn {name}_clock(core: *mut c_void, input: *const In, output: *mut Out);
        fn {name}_run(core: *mut c_void, input: *const In, output: *mut Out, clocks: u64) -> u64;
    }}
    /// An instance. Registers begin with random values, drawn from a seed, until it is reset.
    #[derive(Debug)]
    pub struct Core(*mut c_void, crate::recorded::Record);
    impl Core {{
        /// A core that has not been reset.
        #[must_use]
        pub fn new(seed: u64) -> Self {{
            // SAFETY: the function takes any number and never fails.
            Self(unsafe {{ {name}_new(seed) }}, crate::recorded::Record::begin(\"{name}\", &[{inputs}], &[{outputs}]))
        }}
        /// A core that has not been reset and whose streams may break every rule.
        #[must_use]
        pub fn unchecked(seed: u64) -> Self {{
            let core = Self::new(seed);
            // SAFETY: the pointer comes from `{name}_new`, and the function sets a flag of that object alone.
            unsafe {{ {name}_unchecked(core.0) }};
            core
        }}
        /// One clock: gives the outputs under these inputs, then comes the edge.
        pub fn clock(&mut self, input: &In) -> Out {{
            let mut output = Out::default();
            // SAFETY: the pointer comes from `{name}_new` and is this object's alone; both structures are of the layout
            // that the C side declares, from the same list of ports.
            unsafe {{ {name}_clock(self.0, input, &mut output) }};
            self.1.clock(input, &output);
            output
        }}
        /// As many clocks with the same inputs, but none from the first on in which a random word is drawn (`draw_`).
        /// Gives their number, and the outputs of the clock that comes next.
        pub fn run(&mut self, input: &In, clocks: u64) -> (u64, Out) {{
            let mut output = Out::default();
            self.1.end();
            // SAFETY: as in `clock`.
            let done = unsafe {{ {name}_run(self.0, input, &mut output, clocks) }};
            (done, output)
        }}
    }}
    impl crate::Clocked for Core {{
        type In = In;
        type Out = Out;
        fn new(seed: u64) -> Self {{
            Self::new(seed)
        }}
        fn clock(&mut self, input: &In) -> Out {{
            self.clock(input)
        }}
        fn run(&mut self, input: &In, clocks: u64) -> (u64, Out) {{
            self.run(input, clocks)
        }}
    }}
    impl Drop for Core {{
        fn drop(&mut self) {{
            // SAFETY: it comes from `{name}_new`, and nothing uses it afterwards.
            unsafe {{ {name}_free(self.0) }};
        }}
    }}
}}
"
    );
    r
}
