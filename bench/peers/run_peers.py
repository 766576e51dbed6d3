"""Runs the workloads of work/ in every simulator that is installed and in Penstock, and keeps what they say.

    python bench/peers/run_peers.py [--only WORKLOAD,…] [--schemes SCHEME,…] [--files FOLDER] [--keep] [--write]

A simulator is found by an environment variable; a line says which one is not there. `--files` writes the files of all
simulators, installed or not, and runs nothing. `--keep` puts the numbers into runs.csv, whose other lines stay.
`--write` renews a section of docs/measurements/beside-other-simulators.md from it, and runs nothing without `--keep`.
The exit status says whether a run fails, or a number differs without a cause.

Time is that of the processor, for the whole process and its start; memory is the largest resident set. Penstock runs by
its command line, with results and without figures.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from agreement import Line, cause_of, needed, renew, short, table
from penstock import PenstockError, Result
from penstock.errors import ArgumentError
from penstock.exchange import write
from simulators import SIMULATORS, Simulator, percentiles
from works import HERE, Pair, Work, pairs, work_of

RUNS = HERE / "runs.csv"
STEADY_FRAME = 1000
"""Octets of a frame of sources without a transport."""
COSTS = "costs: "
STARTER = f"""
import os, json, sys
_, status, usage = os.wait4(os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ), 0)
cost = dict(cpu_s=usage.ru_utime + usage.ru_stime, memory_mib=usage.ru_maxrss / 1024)
print("\\n{COSTS}" + json.dumps(cost))
sys.exit(abs(os.waitstatus_to_exitcode(status)))
"""
"""A process of 9 MiB that starts another: the largest resident set of a process begins with that of its parent."""
COST = ("cpu_s", "memory_mib")
"""Metrics that are no numbers of the network."""


@dataclass(frozen=True)
class Row:
    """A number of a run: the simulator's, and Penstock's."""

    work: str
    simulator: str
    scheme: str
    metric: str
    theirs: float
    ours: float

    @property
    def line(self) -> Line:
        """The row as a line that agrees or not."""
        return Line(self.work, self.scheme, self.metric, self.theirs, self.ours)

    @property
    def differs(self) -> bool:
        """Whether it is a number of the network that does not agree."""
        return self.metric not in COST and not self.line.agrees

    @property
    def pair(self) -> str:
        """Both numbers."""
        return f"{short(self.theirs)} / {short(self.ours)}"


def rows(path: Path = RUNS) -> list[Row]:
    """Return what runs.csv has.

    Raises:
        ArgumentError: a line is no number; the message has its place.
    """
    found = []
    with path.open(newline="", encoding="utf-8") as file:
        for number, line in enumerate(csv.DictReader(file), start=2):
            try:
                values = float(line["theirs"]), float(line["ours"])
                found.append(Row(line["work"], line["simulator"], line["scheme"], line["metric"], *values))
            except (KeyError, TypeError, ValueError):
                reason = "is not work,simulator,scheme,metric,theirs,ours"
                raise ArgumentError(f"{path.name}: line {number} {reason}", "run run_peers.py --keep") from None
    return found


def keep(new: Iterable[Row], path: Path = RUNS) -> None:
    """Write rows into runs.csv in the place of those of the same runs; the rest stays."""
    fresh = list(new)
    done = {(at.work, at.scheme) for at in fresh}
    kept = [at for at in (rows(path) if path.exists() else []) if (at.work, at.scheme) not in done]
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["work", "simulator", "scheme", "metric", "theirs", "ours"])
        for at in sorted(kept + fresh, key=lambda at: (at.work, at.simulator, at.scheme)):
            out.writerow([at.work, at.simulator, at.scheme, at.metric, f"{at.theirs:.6g}", f"{at.ours:.6g}"])


def measured(command: list[str], folder: Path, more: Mapping[str, str]) -> tuple[str, dict[str, float]]:
    """Run a command in a folder; return what it prints, the processor's time and the memory that it took.

    Raises:
        ArgumentError: it fails; the message has its last lines.
    """
    said = folder / "said.txt"
    with said.open("w", encoding="utf-8") as file:
        small = [sys.executable, "-I", "-S", "-c", STARTER, *command]
        done = subprocess.run(small, cwd=folder, stdout=file, stderr=file, env={**os.environ, **more}, check=False)
    printed, _, cost = said.read_text(encoding="utf-8", errors="replace").rpartition(COSTS)
    if done.returncode:
        last = "\n".join(printed.splitlines()[-5:])
        raise ArgumentError(f"{command[0]} ended with {done.returncode}:\n{last}", "run it by hand on files of --files")
    return printed, json.loads(cost)


def in_simulator(simulator: Simulator, program: Path, pair: Pair, work: Work, folder: Path) -> dict[str, float]:
    """Return the numbers of a run in another simulator, by metric."""
    settings = pair.settings(work)
    write(simulator.files(work, settings), folder)
    command = simulator.command(program, work, settings)
    printed, cost = measured(command, folder, simulator.environment(program))
    return simulator.numbers(folder, printed, work) | cost


def in_penstock(pair: Pair, work: Work, folder: Path, ends: str) -> dict[str, float]:
    """Return the numbers of the same run in Penstock."""
    write({"scenario.toml": pair.scenario(work).to_toml()}, folder)
    run = [sys.executable, "-m", "penstock", "run", "scenario.toml", "--out", "results", "--no-figures", "--quiet"]
    _, cost = measured(run, folder, {})
    result = Result.open(folder / "results")
    if "traffic" in pair.here.get("each", {}):
        return steady(result) | cost
    columns = ("start_s", "end_s", "acked_s", "ideal_s", "ideal_acked_s")
    taken = (np.array(result.column("completions", name), dtype=float) for name in columns)
    start, end, acked, ideal, ideal_acked = taken
    if ends == "sender":
        # A run that ends with its last flow lacks the acknowledgement of that one.
        end = np.where(np.isfinite(acked), acked, end + ideal_acked - ideal)
    return percentiles((end - start) * 1e6, len(work.flows)) | cost


def steady(result: Result) -> dict[str, float]:
    """Return the frames of sources without a transport, and the mean of their waits: by Little's law, of all queues."""
    summary = result.summary
    frames = sum(flow["frames_delivered"] for flow in summary["flows"])
    waiting = sum(queue["mean_octets"] for queue in summary["queues"]) / STEADY_FRAME
    return {"frames": float(frames), "wait_mean_us": waiting * summary["duration_s"] / frames * 1e6}


HEADING = "The same work in several simulators"
HEAD = """
*`python bench/peers/run_peers.py --keep --write` makes this section, on a machine that has the programs.*

A row is a run of a workload in another simulator, and in Penstock with that simulator's rules and parameters. Both are
given one network and one list of flows, written from one scenario of `bench/peers/work`. A number agrees if it is
within 10 %: mean, median, 99th percentile and maximum of the flow completion times; of sources at a steady rate the
frames, and their mean wait. The number before a stroke is the other simulator's, that after it Penstock's; bold ones
do not agree.

Time and memory are those of whole processes, measured once on two shared cores. `single` shows what a start takes:
0.3 s for Penstock, which starts Python and writes a folder of results; 12 s for ns-3's wheel, which compiles its bridge
to Python. Penstock's extension is that of a checkout, with one engine for all schemes. A process begins with the 9 MiB
of the one that starts it here, so that no smaller figure is seen.
"""


COLUMNS = {
    "fct_mean_us": "Mean, us",
    "fct_p50_us": "Median",
    "fct_p99_us": "99 %",
    "fct_max_us": "Longest",
    "frames": "Frames",
    "wait_mean_us": "Mean wait, us",
    "cpu_s": "Processor, s",
    "memory_mib": "Memory, MiB",
}
"""The heads of the metrics' columns."""


def section(found: Iterable[Row]) -> str:
    """Return a section of the page: a table for each set of metrics, a row a run, and the causes of what differs."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in found:
        groups.setdefault((row.simulator, row.scheme, row.work), []).append(row)
    tables: dict[tuple[str, ...], list[list[str]]] = {}
    for (simulator, scheme, work), of in sorted(groups.items()):
        cells = [f"**{at.pair}**" if at.differs else at.pair for at in of]
        tables.setdefault(tuple(at.metric for at in of), []).append([simulator, f"`{scheme}`", work, *cells])
    text = [HEAD.strip()]
    for metrics, lines in sorted(tables.items(), reverse=True, key=lambda at: len(at[1])):
        text += ["", *table(("Simulator", "Scheme", "Workload", *(COLUMNS[metric] for metric in metrics)), lines)]
    compared = [row for of in groups.values() for row in of if row.metric not in COST]
    beyond = [row.line for row in compared if row.differs]
    text += ["", f"{len(compared) - len(beyond)} of {len(compared)} numbers agree."]
    return "\n".join([*text, "", "### Why these differ", "", *needed(beyond)] if beyond else text)


def main(arguments: list[str] | None = None) -> int:
    """Run what is installed, print the numbers, and return the exit status."""
    parser = argparse.ArgumentParser(description="the same workloads in several simulators")
    parser.add_argument("--only", default="", metavar="WORKLOAD,…", help="workloads, for instance incast")
    parser.add_argument("--schemes", default="", metavar="SCHEME,…", help="tables of peers.toml, for instance nscc")
    parser.add_argument("--files", type=Path, metavar="FOLDER", help="write the files of all simulators, run nothing")
    parser.add_argument("--keep", action="store_true", help="put the numbers into bench/peers/runs.csv")
    parser.add_argument("--write", action="store_true", help="renew the page from bench/peers/runs.csv")
    options = parser.parse_args(arguments)
    try:
        wanted = chosen(options.only, options.schemes)
        if options.files:
            for pair, work in wanted:
                simulator = SIMULATORS[pair.simulator]
                folder = options.files / work.name / simulator.name / pair.name
                write(simulator.files(work, pair.settings(work)), folder)
                print(folder)
            return 0
        status = run(wanted, kept=options.keep) if options.keep or not options.write else 0
        if options.write:
            renew(HEADING, section(rows()))
        return status
    except PenstockError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def chosen(only: str, schemes: str) -> list[tuple[Pair, Work]]:
    """Return the runs that are asked for.

    Raises:
        ArgumentError: a name is unknown.
    """
    known = pairs((HERE / "peers.toml").read_text(encoding="utf-8"))
    names = [at.name for at in known]
    for scheme in filter(None, schemes.split(",")):
        if scheme not in names:
            raise ArgumentError(f"--schemes {scheme}: not in peers.toml", f"write {', '.join(names)}")
    works = {name: work_of(name) for name in filter(None, only.split(","))}
    found = []
    for pair in known:
        if pair.simulator not in SIMULATORS:
            raise ArgumentError(
                f"peers.toml: {pair.name}.simulator: {pair.simulator}", f"write {', '.join(SIMULATORS)}"
            )
        if not schemes or pair.name in schemes.split(","):
            found += [(pair, works.get(name) or work_of(name)) for name in pair.work if not only or name in works]
    return found


def run(wanted: list[tuple[Pair, Work]], *, kept: bool) -> int:
    """Run what is wanted and installed; return whether all numbers agree or have causes."""
    missing = dict.fromkeys(pair.simulator for pair, _ in wanted if SIMULATORS[pair.simulator].program() is None)
    for name in missing:
        absent = SIMULATORS[name]
        print(f"{name}: not run: let the environment variable {absent.variable} name {absent.wanted}")
    bad = 0
    for pair, work in wanted:
        simulator = SIMULATORS[pair.simulator]
        program = simulator.program()
        if program is None:
            continue
        with TemporaryDirectory(prefix="peers-") as name:
            begun = time.monotonic()
            try:
                theirs = in_simulator(simulator, program, pair, work, Path(name) / "theirs")
                ours = in_penstock(pair, work, Path(name) / "here", simulator.ends)
            except (PenstockError, OSError) as error:
                print(f"{work.name} {pair.simulator} {pair.name}: failed: {error}", flush=True)
                bad += 1
                continue
            took = time.monotonic() - begun
        new = [Row(work.name, pair.simulator, pair.name, metric, theirs[metric], ours[metric]) for metric in theirs]
        if kept:
            keep(new)
        print(f"{work.name} {pair.simulator} {pair.name} ({took:.0f} s)")
        for at in new:
            cause = cause_of(at.line)
            bad += at.differs and cause is None
            note = f"  DIFFERS: {cause.text if cause else 'no cause is known'}" if at.differs else ""
            print(f"  {at.metric:14} {at.theirs:10.4g} there {at.ours:10.4g} here{note}", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
