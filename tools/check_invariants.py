"""Checks the invariants of ARCHITECTURE.md that neither the compiler nor a test sees. Standard library only."""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from long_sentences import WORDS_MAX, long_sentences

ROOT = Path(__file__).resolve().parent.parent

# Which packages of ours a package may depend on: arrows point in one direction only.
MAY_DEPEND_ON = {
    "penstock-schemes": set(),
    "penstock-wire": set(),
    "penstock-domain": {"penstock-schemes", "penstock-wire"},
    "penstock-jobs": set(),
    "penstock-conformance": {"penstock-schemes"},
    "penstock-endpoint": {"penstock-schemes"},
    "penstock-switch": {"penstock-schemes", "penstock-endpoint"},
    "penstock-sim": {"penstock-schemes", "penstock-endpoint", "penstock-switch"},
    "own-scheme": {"penstock-schemes", "penstock-sim"},
    "penstock-scenario": {"penstock-schemes", "penstock-jobs", "penstock-endpoint", "penstock-sim"},
    "penstock-foreign": {"penstock-schemes", "penstock-scenario"},
    "penstock-example-aimd": {"penstock-schemes"},
    "penstock-results": {"penstock-schemes", "penstock-jobs", "penstock-sim", "penstock-scenario"},
    "penstock-runner": {
        "penstock-schemes",
        "penstock-wire",
        "penstock-endpoint",
        "penstock-sim",
        "penstock-scenario",
        "penstock-results",
    },
    "penstock-testbed": {
        "penstock-schemes",
        "penstock-wire",
        "penstock-endpoint",
        "penstock-switch",
        "penstock-sim",
        "penstock-scenario",
        "penstock-results",
        "penstock-runner",
    },
    "penstock-script": set(),
    "penstock-web": {
        "penstock-schemes",
        "penstock-sim",
        "penstock-scenario",
        "penstock-foreign",
        "penstock-script",
        "penstock-results",
    },
    "penstock-capi": {"penstock-schemes", "penstock-endpoint"},
    "penstock-engine": {"penstock-schemes", "penstock-scenario", "penstock-runner"},
    "penstock-python": {
        "penstock-schemes",
        "penstock-wire",
        "penstock-domain",
        "penstock-jobs",
        "penstock-endpoint",
        "penstock-sim",
        "penstock-scenario",
        "penstock-foreign",
        "penstock-conformance",
        "penstock-runner",
        "penstock-testbed",
    },
    "penstock-bench": {"penstock-schemes", "penstock-sim", "penstock-scenario", "penstock-runner"},
    "penstock-fuzz": {"penstock-schemes", "penstock-sim", "penstock-scenario", "penstock-runner"},
}
# Names that a package's sources must not have, and why.
MUST_NOT_NAME = {
    "schemes": (r"\bstd::|extern crate std\b", "the schemes are built without the standard library"),
    "wire": (r"\bstd::|extern crate std\b", "frames are read and written without the standard library"),
    "domain": (r"\bstd::|extern crate std\b", "the defense of a domain is built without the standard library"),
    "jobs": (r"\bstd::|extern crate std\b", "jobs are run without the standard library"),
    "capi": (r"\bstd::|extern crate std\b", "the library for C is built without the standard library"),
    "endpoint": (
        r"\bstd(\s+as\b|::(\{[^;]*\b)?(fs|io|net|env|process|thread|time)\b)",
        "its caller has clock and socket",
    ),
    "switch": (r"\bstd::|extern crate std\b", "switches are built without the standard library"),
    "sim": (
        r"\bstd(\s+as\b|::(\{[^;]*\b)?(fs|io|net|env|process|thread|time)\b)",
        "the simulator knows no file, clock or thread",
    ),
    "results": (
        r"\bstd(\s+as\b|::(\{[^;]*\b)?(fs|io|net|env|process|thread|time)\b)",
        "its caller has files, clock and thread",
    ),
    "scenario": (
        r"\bstd(\s+as\b|::(\{[^;]*\b)?(net|process|thread|time)\b)",
        "a scenario file alone decides what is planned",
    ),
}
# Layers of a crate, by the first name of a module's path: a module needs its own layer and those left of it.
LAYERS = {
    "scenario": (
        *("declared", "error", "foreign", "hash", "limits", "names", "keys", "resolve", "plan"),
        *("catalogue", "description", "scenario"),
    ),
    "jobs": (
        *("collective", "time", "graph", "placement", "nccl", "schedule", "matching", "check", "executor", "expand"),
        *("read", "write"),
    ),
    "switch": ("events", "config", "model", "random", "histogram", "state", "flow_control", "datapath"),
    "sim": (
        *("metrics", "network", "outcome", "partition", "state"),
        *("hosts", "routing", "probe", "engine"),
    ),
}
# Crates at the border with C, where pointers become references, a library is loaded, or a name exported: unsafe code
# is denied there, and each place that has it says why.
UNSAFE = {"capi", "engine", "foreign"}
LINES_MAX = 600
SOURCE_SUFFIXES = {".rs", ".py", ".pyi", ".sv", ".ts", ".mjs"}
# Folders of files that are made.
MADE = {"build", "target", "__pycache__", "node_modules", "generated", "page"}
# Files that a generator writes from declarations: no reader goes through them from top to bottom.
GENERATED = {
    "python/penstock/declared.py",
    "python/penstock/document.py",
    "python/penstock/summary.py",
    "lab/src/types.ts",
}
# Files with text: comments, messages, pages. The banned phrases stand in a table of CONTRIBUTING.md.
TEXT_SUFFIXES = {".rs", ".py", ".pyi", ".sv", ".md", ".ts", ".toml"}
WORDS = "CONTRIBUTING.md"
# Where neither banned phrases nor long sentences are looked for. Decisions are records of their time, and stay as they
# were written. All others have not been revised yet: take each out of the list with its revision.
NOT_SEARCHED = ("docs/explanation/decisions", "papers")


def main() -> int:
    """Prints every breach; the exit status says whether there is one."""
    checks = (
        dependencies,
        circles,
        no_std,
        unsafe_code,
        unit_tests,
        forbidden_names,
        long_files,
        banned_phrases,
        long_ones,
    )
    breaches = [breach for check in checks for breach in check()]
    for breach in breaches:
        print(f"invariant: {breach}", file=sys.stderr)
    return 1 if breaches else 0


def dependencies() -> list[str]:
    """Dependencies among our packages that point the wrong way."""
    command = ["cargo", "metadata", "--locked", "--no-deps", "--format-version", "1"]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)
    breaches = []
    for package in metadata["packages"]:
        name = package["name"]
        allowed = MAY_DEPEND_ON.get(name)
        if allowed is None:
            breaches.append(f"{name} is not in tools/check_invariants.py: say there what it may depend on")
            continue
        used = {d["name"] for d in package["dependencies"] if d["kind"] != "dev"}
        if name in ("penstock-schemes", "penstock-wire", "penstock-jobs") and used:
            breaches.append(f"{name} depends on {', '.join(sorted(used))}, but it may depend on nothing")
        ours = used & MAY_DEPEND_ON.keys()
        breaches += [f"{name} must not depend on {wrong}" for wrong in sorted(ours - allowed)]
    return breaches


def circles() -> list[str]:
    """Files of a crate that need each other, by `use` or by path. A module and those below it may."""
    breaches = []
    for crate in sorted((ROOT / "crates").iterdir()):
        needs = needed_modules(crate / "src")
        breaches += [f"crates/{crate.name}: {wrong}" for wrong in against_layers(needs, LAYERS.get(crate.name, ()))]
        try:
            TopologicalSorter(needs).prepare()
        except CycleError as error:
            breaches.append(f"crates/{crate.name}: files need each other in a circle: {' <- '.join(error.args[1])}")
    return breaches


def against_layers(needs: dict[str, set[str]], layers: tuple[str, ...]) -> list[str]:
    """Modules that need one of a later layer, or that belong to no layer; none where a crate has no layers."""
    layer = {name: layers.index(top) for name in needs if (top := name.partition("::")[0]) in layers}
    lost = [f"{name or 'lib'} has no layer" for name in needs if layers and name and name not in layer]
    pairs = ((own, other) for own, others in needs.items() for other in sorted(others))
    later = ((own, other) for own, other in pairs if own in layer and layer.get(other, -1) > layer[own])
    return lost + [f"{own} must not need {other}, which is of a later layer" for own, other in later]


def needed_modules(folder: Path) -> dict[str, set[str]]:
    """For each module of a crate the others that its code names, but for those above and below it and for tests."""
    paths = [
        path for path in sorted(folder.rglob("*.rs")) if "tests" not in path.relative_to(folder).with_suffix("").parts
    ]
    modules: dict[tuple[str, ...], Path] = {}
    for path in paths:
        parts = path.relative_to(folder).with_suffix("").parts
        modules[parts[:-1] if parts[-1] in ("mod", "lib", "main") else parts] = path
    needs: dict[str, set[str]] = {}
    for own, path in modules.items():
        code = re.sub(r"//.*", "", without_tests(path))
        others = set()
        for named in paths_in(code):
            full = own
            for part in named.split("::"):
                full = (
                    ()
                    if part == "crate"
                    else full[:-1]
                    if part == "super"
                    else full
                    if part == "self"
                    else (*full, part)
                )
            lengths = range(len(full), -1, -1)
            others.add(next(full[:length] for length in lengths if full[:length] in modules or not length))
        kin = {other for other in others if own[: len(other)] == other or other[: len(own)] == own}
        needs["::".join(own)] = {"::".join(other) for other in others - kin}
    return needs


def paths_in(code: str) -> list[str]:
    """The paths from `crate`, `super` or `self` that some code names, those of groups in braces one by one."""
    found = []
    for path in re.findall(r"\b(?:crate|super|self)(?:::(?:\w+|\{(?:[^{}]|\{[^{}]*\})*\}))+", code):
        waiting = [re.sub(r"\s+as\s+\w+|\s+", "", path)]
        while waiting:
            path = waiting.pop()
            group = re.search(r"\{([^{}]*)\}", path)
            if group is None:
                found.append(path)
                continue
            waiting += [path[: group.start()] + one + path[group.end() :] for one in group[1].split(",") if one]
    return found


def no_std() -> list[str]:
    """Crates without input or output declare that they need neither the standard library nor unsafe code."""
    bare = ("#![no_std]", "#![cfg_attr(not(test), no_std)]")
    wanted = [bare, ("#![forbid(unsafe_code)]",)]
    roots = [f"crates/{name}/src/lib.rs" for name in ("schemes", "wire", "domain", "jobs", "endpoint")]
    texts = {root: (ROOT / root).read_text() for root in roots}
    lacks = ((root, any_of) for root in roots for any_of in wanted if not any(at in texts[root] for at in any_of))
    return [f"{root} lacks {' or '.join(any_of)}" for root, any_of in lacks]


def unsafe_code() -> list[str]:
    """Packages that escape the lint against unsafe code, and such code in the lock step, where that lint cannot be."""
    manifests = [path for folder in ("crates", "examples") for path in sorted((ROOT / folder).glob("*/Cargo.toml"))]
    breaches = []
    for path in manifests:
        lints = tomllib.loads(path.read_text()).get("lints", {})
        foreign = path.parent.name in UNSAFE and lints.get("rust", {}).get("unsafe_code") == "deny"
        if not lints.get("workspace") and not foreign:
            breaches.append(f"{path.relative_to(ROOT)} lacks `[lints] workspace = true`")
    # Its build script writes the calls into Verilator's C++.
    writer = ROOT / "rtl/cosim/build.rs"
    for path in sources(ROOT / "rtl"):
        if path.suffix == ".rs" and path != writer:
            for number, line in enumerate(path.read_text().splitlines(), start=1):
                if re.search(r"\bunsafe\b", line.split("//")[0]):
                    breaches.append(f"{path.relative_to(ROOT)}:{number}: only cosim/build.rs writes unsafe code")
    return breaches


def unit_tests() -> list[str]:
    """Libraries compiled twice for no unit tests, or whose manifest says that they have none though they do."""
    breaches = []
    for path in sorted((ROOT / "crates").glob("*/Cargo.toml")):
        if not (path.parent / "src/lib.rs").is_file():
            continue
        has = any(
            re.search(r"^\s*#\[test\]", file.read_text(), re.MULTILINE) for file in path.parent.glob("src/**/*.rs")
        )
        if has != tomllib.loads(path.read_text()).get("lib", {}).get("test", True):
            mend = "has unit tests: delete `test = false`" if has else "has no unit tests: write `test = false` there"
            breaches.append(f"{path.relative_to(ROOT)}, [lib]: the crate {mend}")
    return breaches


def forbidden_names() -> list[str]:
    """Places that name what their package must not use. Comments may; so may the unit tests."""
    breaches = []
    for package, (pattern, reason) in MUST_NOT_NAME.items():
        for path in sorted((ROOT / "crates" / package / "src").rglob("*.rs")):
            # As a whole: a list of names may go over several lines.
            code = "\n".join(line.split("//")[0] for line in without_tests(path).splitlines())
            for found in re.finditer(pattern, code):
                number = code.count("\n", 0, found.start()) + 1
                named = " ".join(found.group().split())
                breaches.append(f"{path.relative_to(ROOT)}:{number}: {reason}: {named}")
    return breaches


def long_files() -> list[str]:
    """Source files that no longer fit in a head. Unit tests do not count."""
    breaches = []
    for folder in ("bench", "crates", "examples", "python", "tools", "papers", "rtl", "lab"):
        for path in sources(ROOT / folder):
            lines = without_tests(path).count("\n")
            if lines > LINES_MAX and str(path.relative_to(ROOT)) not in GENERATED:
                breaches.append(f"{path.relative_to(ROOT)} has {lines} lines, more than {LINES_MAX}: make it two files")
    return breaches


def banned_phrases() -> list[str]:
    """Phrases that CONTRIBUTING.md bans, as whole words, also across the lines of a comment."""
    banned = table_of_words((ROOT / WORDS).read_text())
    # Between two words: a gap, or the end of a line with what leads in the next one.
    phrases = "|".join(re.escape(phrase).replace(r"\ ", r"(?:\s|\\\n|\n\s*(?://[/!]?|#))+") for phrase in banned)
    pattern = re.compile(rf"\b(?:{phrases})\b", re.IGNORECASE)
    breaches = [] if banned else [f"{WORDS} has no table of banned phrases under its heading Words"]
    for name, text in texts():
        if str(name) == WORDS:
            text = text.replace(section_of_words(text), "\n")
        for found in pattern.finditer(text) if banned else ():
            phrase = " ".join(re.findall(r"\w+", found.group()))
            hint = banned[phrase.lower()]
            breaches.append(f'{name}:{text.count(chr(10), 0, found.start()) + 1}: "{phrase}" is banned: {hint}')
    return breaches


def long_ones() -> list[str]:
    """Sentences of docstrings, comments and pages that have too many words."""
    return [
        f'{name}:{line}: a sentence of {words} words, more than {WORDS_MAX}: make it two: "{begin} …"'
        for name, text in texts()
        for line, words, begin in long_sentences(text, name.suffix)
    ]


def texts() -> Iterator[tuple[Path, str]]:
    """The files with text, each with its name from the root."""
    folders = ("bench", "crates", "docs", "examples", "lab", "papers", "python", "rtl", "tools")
    files = [path for path in sorted(ROOT.iterdir()) if path.is_file() and path.suffix in TEXT_SUFFIXES]
    files += [path for folder in folders for path in sources(ROOT / folder, TEXT_SUFFIXES)]
    for path in files:
        name = path.relative_to(ROOT)
        if not any(name.is_relative_to(at) for at in NOT_SEARCHED):
            yield name, path.read_text()


def section_of_words(text: str) -> str:
    """The section of CONTRIBUTING.md on words."""
    return re.split(r"^## ", text.partition("\n## Words\n")[2], maxsplit=1, flags=re.MULTILINE)[0]


def table_of_words(text: str) -> dict[str, str]:
    """The banned phrases, lower case, and what to write instead: rows that begin with a phrase in quotes."""
    rows = re.findall(r'^\| (".*?") \| (.*?) \|$', section_of_words(text), flags=re.MULTILINE)
    return {phrase.lower(): instead for cell, instead in rows for phrase in re.findall(r'"(.*?)"', cell)}


def sources(folder: Path, suffixes: set[str] = SOURCE_SUFFIXES) -> list[Path]:
    """The files with one of some suffixes below a folder, but for those that are made."""
    found = []
    for path in sorted(folder.iterdir()):
        if path.is_dir() and path.name not in MADE:
            found += sources(path, suffixes)
        elif path.suffix in suffixes and path.is_file():
            found.append(path)
    return found


def without_tests(path: Path) -> str:
    """The text of a source file but for the unit tests at the foot. Tests with code behind them count."""
    text = path.read_text()
    head, _, tests = text.partition("\n#[cfg(test)]\nmod ")
    return head if tests.find("\n}\n") == len(tests) - len("\n}\n") else text


if __name__ == "__main__":
    sys.exit(main())
