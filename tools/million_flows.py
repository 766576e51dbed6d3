"""Runs a million short flows, and the same network with few, and compares the memory that the two runs took.

    python tools/million_flows.py [--flows 1000000] [--scheme none]

Flows of a load come into the engine as they start and are forgotten when they are over: memory follows the flows that
are alive, not those that ever were. Decision 23 (docs/explanation/decisions) tells what stays of a flow. Each run is a
separate process; its memory is the most that the system has given it at a time (ru_maxrss). The results go to a
folder. The exit status says whether the difference is below 200 MB.
"""

import argparse
import sys
import tempfile
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from time import perf_counter

from penstock import Scenario

SCENARIO = """\
question = "How much memory do flows take that are over?"
duration = "20 s"
until = "all-flows-complete"
scheme = "none"
topology.leaf-spine = { leaves = 4, spines = 4, hosts_per_leaf = 8, host_rate = "100 Gbps", \
fabric_rate = "200 Gbps", link_delay = "500 ns", buffer = "1 MB" }
record.interval = "10 ms"

[[load]]
name = "short"
load = 0.3
size = "2 KB"
transport = "go-back-n"
flows = FLOWS
"""
FEW = 1000
MOST_MB = 200
KIB = 1024
MB = 1_000_000


@dataclass(frozen=True)
class Used:
    """The figures of a run: flows that completed, the most memory at a time in MB, and time in s."""

    completed: int
    peak_mb: float
    wall_s: float


def run(flows: int, scheme: str, out: str) -> Used:
    """Runs the network with a number of flows, in this process."""
    started = perf_counter()
    scenario = Scenario.from_toml(SCENARIO.replace("FLOWS", str(flows)))
    result = scenario.run(scheme=scheme, out=Path(out))
    (line, *_) = result.summary["completions"]
    return Used(line["completed"], getrusage(RUSAGE_SELF).ru_maxrss * KIB / MB, perf_counter() - started)


def apart(flows: int, scheme: str) -> Used:
    """The same in a separate process."""
    with tempfile.TemporaryDirectory() as folder, get_context("spawn").Pool(1) as pool:
        return pool.apply(run, (flows, scheme, str(Path(folder) / "out")))


def main() -> int:
    """Runs both, and prints what they took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--flows", type=int, default=1_000_000, help="flows of the long run (%(default)s)")
    parser.add_argument("--scheme", default="none", help="the scheme (%(default)s)")
    options = parser.parse_args()
    runs = {flows: apart(flows, options.scheme) for flows in (FEW, options.flows)}
    for flows, used in runs.items():
        print(f"{flows:>9} flows: {used.completed} completed, peak {used.peak_mb:.0f} MB, {used.wall_s:.1f} s")
    more = runs[options.flows].peak_mb - runs[FEW].peak_mb
    print(f"{more:.0f} MB more, {more * MB / (options.flows - FEW):.0f} octets a flow; {MOST_MB} MB are allowed")
    complete = all(used.completed == flows for flows, used in runs.items())
    return 0 if complete and more < MOST_MB else 1


if __name__ == "__main__":
    sys.exit(main())
