"""Measures what large networks take: to plan, to run, to sum up and write, and to draw; and how these costs grow.

    python tools/large_networks.py [--only WORDS]

Cases are fat trees of k = 8, 16, 24 and 32 (8192 hosts) under QCN with a WebSearch load of 50 %, for 1 ms. Others
are tables of 10 to 100 000 finite flows on that of k = 16, and the same network with priority flow control, and with
multicast. One million flows of a load are those of tools/million_flows.py. Each case is a separate process. Times are
those of the processor, user and system together; memory is the most that the system has given until the end of a stage
(ru_maxrss).

The exit status says whether costs stay within their bounds. Those of planning, of summing up and writing, and of
drawing grow no faster with the network than n log n would, and drawing takes no more than a bound at any size. Of two
drawings the quicker one counts, for others' use of the machine costs processor time. The run
itself is printed a hop and held to no bound: it depends on the machine's caches; `make bench` holds it.
"""

import argparse
import math
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from resource import RUSAGE_SELF, getrusage

import penstock

HEAD = """\
question = "What does a large network cost?"
duration = "1 ms"
scheme = "qcn"
schemes.qcn.profile = "pan-10g"
topology.fat-tree = {{ k = {k}, link_rate = "100 Gbps", link_delay = "500 ns", buffer = "500 KB" }}
"""
LOAD = '[[load]]\nname = "web"\nload = 0.5\nsize = { workload = "websearch" }\n'
PFC = "[pfc]\n"
GROUP = """\
[[group]]
name = "members"
members = "h512..h767"

[[flow]]
from = "h0..h15"
to = "members"
traffic = "constant"
rate = "5 Gbps"
"""
K = (8, 16, 24, 32)
FLOWS = (10, 100, 1_000, 10_000, 100_000)
HOSTS_OF_FLOWS = 1000

KIB = 1024
MB = 1_000_000
LITTLE_S = 0.2
"""Less time than this is that of a start, and says nothing about growth."""
STEEPEST = 1.35
"""The largest power of the size with which a cost may grow: n log n is one of 1.1 here; the rest is for the caches."""
DRAWN_WITHIN_S = 1.5
"""A second for three figures is the aim, and the largest network takes 0.7 to 0.8 s; on a busy machine a core does
less in a second."""
DRAWINGS = 2
A_MILLION = 1_000_000
"""Of fewer hops the time is that of the samples."""


@dataclass(frozen=True)
class Case:
    """A network to measure; ``series`` names those whose costs are compared, by their ``size``."""

    name: str
    series: str
    size: int
    text: str


@dataclass
class Cost:
    """The cost of a case: s of processor time and MB of memory to the end of each stage, and the size of its results.

    ``hops`` are the events of the engine, one a hop of a frame and few beside them.
    """

    cpu_s: dict[str, float] = field(default_factory=dict)
    peak_mb: dict[str, float] = field(default_factory=dict)
    hosts: int = 0
    queues: int = 0
    flows: int = 0
    hops: int = 0
    folder_mb: float = 0.0
    notes: list[str] = field(default_factory=list)


def cases() -> list[Case]:
    """Returns all cases."""
    found = [Case(f"fat tree, k = {k}", "k", k**3 // 4, HEAD.format(k=k) + LOAD) for k in K]
    found += [Case(f"{flows} flows", "flows", flows, HEAD.format(k=16) + table(flows)) for flows in FLOWS]
    found.append(Case("k = 16, PFC", "pfc", 1, HEAD.format(k=16) + PFC + LOAD))
    return [*found, Case("k = 16, 16 sources to 256 members", "multicast", 1, HEAD.format(k=16) + GROUP)]


def table(flows: int) -> str:
    """Returns tables of a number of flows of two frames, whose hosts are some pods apart; all begin at once."""
    hosts = min(flows, HOSTS_OF_FLOWS // 2)
    last = f"h{HOSTS_OF_FLOWS - hosts}..h{HOSTS_OF_FLOWS - 1}"
    one = f'[[flow]]\nfrom = "h0..h{hosts - 1}"\nto = "{last}"\nsize = "3 KB"\n'
    return one * max(1, flows // hosts)


def measure(text: str) -> Cost:
    """Runs a scenario, in this process."""
    cost, began = Cost(), processor_s()

    def over(stage: str) -> None:
        nonlocal began
        now = processor_s()
        cost.cpu_s[stage], cost.peak_mb[stage], began = now - began, getrusage(RUSAGE_SELF).ru_maxrss * KIB / MB, now

    scenario = penstock.Scenario.from_toml(text)
    over("start")
    plan = scenario.outline()
    over("plan")
    cost.hosts = sum(node["kind"] == "host" for node in plan["nodes"])
    cost.queues, cost.notes = len(plan["queues"]), plan["notes"]
    at_end = began

    def progress(*state: float) -> None:
        nonlocal at_end
        cost.hops, at_end = int(state[2]), processor_s()

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        began = processor_s()
        result = scenario.run(out=out, progress=progress)
        ended = processor_s()
        cost.cpu_s["run"], cost.peak_mb["run"] = at_end - began, getrusage(RUSAGE_SELF).ru_maxrss * KIB / MB
        began = at_end
        over("write")
        cost.cpu_s["write"] = ended - at_end
        cost.flows = result.flows.num_rows or sum(line["flows"] for line in result.summary.get("completions", []))
        over("read")
        from penstock.figures import write_all

        over("load")
        drawn = []
        for _ in range(DRAWINGS):
            # One that has read nothing yet but its summary.
            unread = penstock.Result.open(out)
            over("open")
            write_all(unread, out)
            over("draw")
            drawn.append((cost.cpu_s["draw"], cost.peak_mb["draw"]))
        cost.cpu_s["draw"], cost.peak_mb["draw"] = min(drawn)[0], drawn[0][1]
        cost.folder_mb = sum(path.stat().st_size for path in out.iterdir()) / MB
    return cost


def processor_s() -> float:
    """Returns the processor time of this process, user and system, s."""
    used = getrusage(RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def apart(case: Case) -> Cost:
    """Measures a case in a separate process."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(measure, (case.text,))


COLUMNS = (
    "network",
    "hosts",
    "queues",
    "flows",
    "million hops",
    "plan (s)",
    "run (s)",
    "a hop (ns)",
    "sum up and write (s)",
    "draw (s)",
    "memory: plan (MB)",
    "run (MB)",
    "draw (MB)",
    "folder (MB)",
)


def row(case: Case, cost: Cost) -> str:
    """Returns the row of a case in Markdown."""
    cpu, peak = cost.cpu_s, cost.peak_mb
    cells = (
        case.name,
        f"{cost.hosts}",
        f"{cost.queues}",
        f"{cost.flows}",
        f"{cost.hops / 1e6:.2f}",
        f"{cpu['plan']:.2f}",
        f"{cpu['run']:.1f}",
        f"{cpu['run'] / cost.hops * 1e9:.0f}" if cost.hops >= A_MILLION else "",
        f"{cpu['write'] + cpu['read']:.2f}",
        f"{cpu['draw']:.2f}",
        f"{peak['plan']:.0f}",
        f"{peak['run']:.0f}",
        f"{peak['draw']:.0f}",
        f"{cost.folder_mb:.1f}",
    )
    return f"| {' | '.join(cells)} |"


def faults(measured: Sequence[tuple[Case, Cost]]) -> list[str]:
    """Returns the costs that are out of their bounds."""
    found = [
        f"{case.name}: drawing takes {cost.cpu_s['draw']:.2f} s, {DRAWN_WITHIN_S} s are allowed"
        for case, cost in measured
        if cost.cpu_s["draw"] > DRAWN_WITHIN_S
    ]
    for (small, before), (large, after) in pairwise(measured):
        if small.series != large.series:
            continue
        for stage in ("plan", "write", "read", "draw"):
            first, then = before.cpu_s[stage], after.cpu_s[stage]
            if min(first, then) < LITTLE_S:
                continue
            power = math.log(then / first) / math.log(large.size / small.size)
            line = f"from {small.name} to {large.name} {stage} grows with the power {power:.2f} of the size"
            print(line)
            if power > STEEPEST:
                found.append(f"{line}; {STEEPEST} is allowed")
    return found


def main() -> int:
    """Measures all cases, prints the table, and returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", metavar="WORDS", help="the cases whose names have these words")
    options = parser.parse_args()
    measured = []
    print(f"| {' | '.join(COLUMNS)} |\n|---|{'---:|' * (len(COLUMNS) - 1)}")
    started = time.monotonic()
    for case in cases():
        if options.only in case.name:
            measured.append((case, apart(case)))
            print(row(*measured[-1]), flush=True)
    for case, cost in measured:
        for note in cost.notes:
            print(f"{case.name}: note: {note}")
    bad = faults(measured)
    for fault in bad:
        print(f"error: {fault}", file=sys.stderr)
    print(f"{len(measured)} networks in {time.monotonic() - started:.0f} s: {len(bad) or 'no'} faults")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
