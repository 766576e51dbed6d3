"""What the tests of each core reach in its sources: lines, branches and bits, as Verilator counts them.

    python tools/coverage.py             all cores
    python tools/coverage.py NAME...     these
    --write                              renews the table of docs/reference/cores.md

The tests are those that a core's [mutation] names, at the length of `make test`; the sources are the core's own. A
point is a line or branch that runs, or a bit that goes from 0 to 1 or back. It is reached if one of the builds reaches
it. The figures are kept in build/report.json under `coverage`, and the points that are not reached in
build/coverage/CORE.txt.

A line or branch that no test reaches is an error, unless `[[coverage.unreached]]` of core.toml names its `line` with
the `reason`; so is an entry there that is reached. Bits that stay are counted and listed, no more.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from cores import BUILD, RTL, all_cores, wanted

_COSIM = RTL / "cosim" / "Cargo.toml"
_FOLDER = BUILD / "coverage"
_REPORT = BUILD / "report.json"
PAGE = RTL.parent / "docs" / "reference" / "cores.md"
HEAD = "| Core | Lines and branches | reached | Bits | changes |"
RULE = "|---|---:|---:|---:|---:|"
# Checks of simulations: only a breach reaches most of them.
_CHECKS = ("stream_check.sv", "axil_check.sv")
_POINT = re.compile(r"C '(.*)' (\d+)")


@dataclass(frozen=True, order=True)
class Point:
    """A place that is counted."""

    source: str
    line: int
    column: int
    # "line", "branch" or "toggle".
    kind: str
    # Which branch, or which bit and whither.
    says: str


@dataclass
class Reached:
    """What the tests of a core reach."""

    counts: Counter[Point] = field(default_factory=Counter)

    def of(self, *kinds: str) -> list[Point]:
        """Return the points of these kinds."""
        return sorted(point for point in self.counts if point.kind in kinds)

    def missed(self, *kinds: str) -> list[Point]:
        """Return those that no test reaches."""
        return [point for point in self.of(*kinds) if not self.counts[point]]


def main(arguments: list[str]) -> int:
    """Run the tests of the cores that are named, or of all; return 0 if each line is reached or has its reason."""
    named = wanted("coverage", arguments)
    rows = json.loads(_REPORT.read_text()) if _REPORT.exists() else {}
    kept = rows.setdefault("coverage", {})
    wrong = 0
    for core in all_cores():
        if core.folder.name not in named:
            continue
        reached = _run(core.folder, [path for path in core.own_sources if path.name not in _CHECKS])
        lines, bits = reached.of("line", "branch"), reached.of("toggle")
        missed, still = reached.missed("line", "branch"), reached.missed("toggle")
        kept[core.folder.name] = {
            "lines": len(lines),
            "lines_reached": len(lines) - len(missed),
            "bits": len(bits),
            "bits_reached": len(bits) - len(still),
        }
        (_FOLDER / f"{core.folder.name}.txt").write_text("".join(_said([*missed, *still])))
        _REPORT.write_text(json.dumps(rows, indent=1) + "\n")
        print(_row(core.folder.name, kept[core.folder.name]), flush=True)
        wrong += _unexplained(core.folder, missed)
    stale = not _documented(kept, write="--write" in arguments)
    return int(wrong > 0 or stale)


def _run(folder: Path, sources: list[Path]) -> Reached:
    """Build and run a core's tests, and return what they reach in its sources."""
    tests = tomllib.loads((folder / "core.toml").read_text())["mutation"]["tests"]
    paths = {test["name"]: Path(test["path"]) for test in tomllib.loads(_COSIM.read_text())["test"]}
    folders = ",".join(sorted({paths[test].parts[1] for test in tests}))
    _FOLDER.mkdir(parents=True, exist_ok=True)
    reached, names = Reached(), {str(source): source.stem for source in sources}
    with tempfile.TemporaryDirectory() as counted, tempfile.TemporaryDirectory() as vectors:
        environment = {
            **os.environ,
            "PENSTOCK_CORE": folders,
            "PENSTOCK_COVERAGE": counted,
            "PENSTOCK_VECTORS": vectors,
        }
        command = [
            "cargo",
            "test",
            "--locked",
            "--quiet",
            "--features",
            "coverage,setups",
            "--manifest-path",
            str(_COSIM),
        ]
        command += [option for test in tests for option in ("--test", test)]
        run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if run.returncode:
            raise SystemExit(f"{folder.name}: its tests fail\n{run.stdout[-3000:]}{run.stderr[-3000:]}")
        for point, count in _points(Path(counted), names):
            reached.counts[point] += count
    return reached


def _points(folder: Path, names: dict[str, str]) -> Iterator[tuple[Point, int]]:
    """Return the points of Verilator's files that lie in the sources, whatever instance they are of."""
    # A file for each simulation, thousands with the same points: each is counted as text, and read once.
    counts: Counter[str] = Counter()
    for path in folder.iterdir():
        for said, count in _POINT.findall(path.read_text(errors="replace")):
            counts[said] += int(count)
    for said, count in counts.items():
        keys = dict(part.split("\x02", 1) for part in said.split("\x01") if "\x02" in part)
        if keys.get("f") in names:
            kind = keys["page"].split("/")[0].removeprefix("v_")
            yield Point(names[keys["f"]], int(keys["l"]), int(keys["n"]), kind, keys.get("o", "")), count


def _said(points: list[Point]) -> Iterator[str]:
    """Return a line for each line or branch, and for each signal whose bits stay."""
    bits: defaultdict[tuple[str, int, str], list[str]] = defaultdict(list)
    for point in points:
        if point.kind == "toggle":
            parts = re.fullmatch(r"(.*?)((?:\[\d+\])*(?::.*)?)", point.says, re.DOTALL)
            signal, bit = parts.groups() if parts else (point.says, "")
            bits[point.source, point.line, signal].append(bit)
        else:
            yield f"{point.source}.sv:{point.line}: {point.kind} {point.says}\n"
    for (source, line, signal), which in bits.items():
        yield f"{source}.sv:{line}: {signal} {' '.join(which)}\n"


def _unexplained(folder: Path, missed: list[Point]) -> int:
    """Print the lines that are not reached and have no reason, and reasons of lines that are; return their number."""
    texts = {path.stem: path.read_text().splitlines() for path in (folder / "rtl").glob("*.sv")}
    listed = tomllib.loads((folder / "core.toml").read_text()).get("coverage", {}).get("unreached", [])
    reasons = {" ".join(entry["line"].split()) for entry in listed}
    lines = {" ".join(texts[point.source][point.line - 1].split()): point for point in missed}
    for text, point in lines.items():
        if text not in reasons:
            where = f"{folder.name}/rtl/{point.source}.sv:{point.line}"
            print(f"{where}: not reached ({point.kind} {point.says})\n    {text}")
    for text in reasons - set(lines):
        print(f"{folder.name}/core.toml: listed as not reached, but is: {text}")
    return len(set(lines) ^ reasons)


def _row(name: str, kept: dict[str, int]) -> str:
    bits = f"{100 * kept['bits_reached'] / kept['bits']:.1f} %" if kept["bits"] else ""
    return f"| `{name}` | {kept['lines']} | {kept['lines_reached']} | {kept['bits']} | {bits} |"


def _documented(kept: dict[str, dict[str, int]], *, write: bool) -> bool:
    """Compare the table of the page with the figures, or write it there; return whether they agree."""
    text = PAGE.read_text()
    rows = [_row(core.folder.name, kept[core.folder.name]) for core in all_cores() if core.folder.name in kept]
    table = "\n".join([HEAD, RULE, *rows])
    if table in text:
        return True
    if write:
        PAGE.write_text(re.sub(rf"^{re.escape(HEAD)}\n(\|.*\n)*", lambda _: table + "\n", text, flags=re.MULTILINE))
    else:
        print(f"{PAGE.relative_to(RTL.parent)} has another table: CORES=--write renews it")
    return write


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
