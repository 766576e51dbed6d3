"""Plants the bugs of planted.toml in the cores, one at a time: a test or a proof must catch each.

    python tools/planted.py             all of them
    python tools/planted.py NAME...     those of these cores
    --write                             renews the table of docs/measurements/planted-bugs.md, of all of them

The bugs of a core are compiled into one program, as mutants are (mutate.py), and its tests run as long as in
`make test`. With a bug that they do not see, the proofs of the core run. What caught each bug is kept in
build/planted.json. At most one bug of thirty may stay.
"""

import json
import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cores import BUILD, RTL, all_cores, place_of, wanted
from mutate import Mutant, build_with, first_to_fail, proof_fails, seconds_of_all, text_of

BUGS = RTL / "tools" / "planted.toml"
KEPT = BUILD / "planted.json"
PAGE = RTL.parent / "docs" / "measurements" / "planted-bugs.md"
HEAD = "| Core | Source | Kind | The bug | Caught by |"
RULE = "|---|---|---|---|---|"
# The share that may stay.
_MISSED = 1 / 30


@dataclass(frozen=True)
class Bug:
    """An entry of planted.toml."""

    core: str
    kind: str
    says: str
    mutant: Mutant
    tests: tuple[str, ...]
    alone: bool


def main(arguments: list[str]) -> int:
    """Plant the bugs of the cores that are named, or all; return 0 if few enough stay and the page has the table."""
    named = wanted("planted", arguments)
    bugs = all_bugs()
    found = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    for core in sorted({bug.core for bug in bugs} & named):
        for bug, caught in _caught([bug for bug in bugs if bug.core == core]):
            found[bug.says] = caught
            print(f"{bug.core}: {bug.says} ({bug.kind}): {caught or 'MISSED'}", flush=True)
            KEPT.write_text(json.dumps(found, indent=1) + "\n")
    tried = [bug for bug in bugs if bug.says in found]
    missed = [bug for bug in tried if not found[bug.says]]
    print(f"planted: {len(tried) - len(missed)} of {len(tried)} bugs caught" + (f", of {len(bugs)}" * (tried != bugs)))
    page = PAGE.read_text()
    table = "\n".join([HEAD, RULE, *(_row(bug, found[bug.says]) for bug in tried)])
    stale = tried == bugs and table not in page
    if stale and "--write" in arguments:
        PAGE.write_text(re.sub(rf"^{re.escape(HEAD)}\n(\|.*\n)*", lambda _: table + "\n", page, flags=re.MULTILINE))
        stale = False
    if stale:
        print(f"{PAGE.relative_to(RTL.parent)}: the table is another one; CORES=--write renews it")
    return int(len(missed) > len(tried) * _MISSED or stale)


def all_bugs() -> list[Bug]:
    """Return those of planted.toml; ends with a message if a source does not have the text of one once."""
    return [bug_of(entry) for entry in tomllib.loads(BUGS.read_text())["bug"]]


def bug_of(entry: dict[str, Any]) -> Bug:
    """Return the bug of an entry; ends with a message if its source does not have the text once."""
    source = RTL / entry["source"]
    text = text_of(source)
    start, end = place_of(text, entry["before"], f"{BUGS.name}: {entry['source']}")
    line = text.count("\n", 0, start)
    mutant = Mutant(source, start, end, entry["after"], text.splitlines()[line].strip(), line + 1, entry["says"])
    core = source.relative_to(RTL).parts[0]
    return Bug(core, entry["kind"], entry["says"], mutant, tuple(entry.get("tests", ())), entry.get("alone", False))


def _caught(bugs: list[Bug]) -> list[tuple[Bug, str]]:
    """Return for each bug of a core the test or proof that catches it; an empty text if none does."""
    folder = RTL / bugs[0].core
    plan = tomllib.loads((folder / "core.toml").read_text())["mutation"]
    found = []
    groups = {tuple(bug.tests or plan["tests"]): None for bug in bugs}
    for tests in groups:
        together = [bug for bug in bugs if tuple(bug.tests or plan["tests"]) == tests]
        switched = [bug for bug in together if not bug.alone]
        programs = _built(folder, tests, switched)
        seconds = seconds_of_all(folder, programs, quick=False)
        found += [(bug, _by(bug, programs, number, seconds)) for number, bug in enumerate(switched, 1)]
        for bug in [bug for bug in together if bug.alone]:
            found.append((bug, _by(bug, _built(folder, tests, [bug]), 1, seconds)))
    return found


def _built(folder: Path, tests: tuple[str, ...], bugs: list[Bug]) -> list[tuple[Path, str]]:
    sources = sorted({str(bug.mutant.source.relative_to(folder)) for bug in bugs})
    fixed = {bug.mutant.source: _planted(bug) for bug in bugs if bug.alone}
    plan = {"sources": sources, "tests": list(tests)}
    return build_with(folder, plan, [bug.mutant for bug in bugs], kind="planted", fixed=fixed)


def _planted(bug: Bug) -> str:
    """Return the source with the bug, and no other text changed."""
    text = text_of(bug.mutant.source)
    return text[: bug.mutant.start] + bug.mutant.text + text[bug.mutant.end :]


def _by(bug: Bug, programs: list[tuple[Path, str]], number: int, seconds: int) -> str:
    if test := first_to_fail(programs, number, seconds):
        program, name = test
        return f"test `{program.name.rpartition('-')[0]}`, `{name}`"
    core = next(core for core in all_cores() if core.folder.name == bug.core)
    for proof in core.proofs:
        if bug.mutant.source in proof.sources and proof_fails(bug.mutant, proof.name):
            return f"proof `{proof.name}`"
    return ""


def _row(bug: Bug, caught: str) -> str:
    source = bug.mutant.source.stem
    return f"| `{bug.core}` | `{source}` | {bug.kind} | {bug.says} | {caught or '**missed**'} |"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
