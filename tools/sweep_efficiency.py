"""Measures how well two workers share the runs of a sweep: on the cores of this machine, and on Ray.

    python tools/sweep_efficiency.py [--ray] [--check] [--runs 8] [--rounds 3]

The runs last over a second each, and are measured alone: without the start of processes, and without drawing. A round
runs them with one worker and with two, one after the other, and three numbers follow. By the wall clock: the time of
one worker over twice that of two. By CPU seconds (user and system, of all processes that work): those of one worker
over those of two. At work: the share of the time that the two workers run or wait for a core, as Linux counts it; the
rest they wait for one another, or for a job. The product of the last two says what the first would be on a machine that
does nothing else, also where it does much else; but others' use of its caches costs CPU seconds. Ray is compared with
the cores by the CPU seconds of the same runs. For Ray, run it with .build/ray's Python, which tools/check_ray.py makes.

With --check the exit status says whether that product is at least 0.95 on the cores, and on Ray at least 0.9 of that.
Only a machine that does nothing else, with a core for each worker, can tell.
"""

import argparse
import os
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from penstock import LocalExecutor, Scenario
from penstock.executors.executor import Executor
from penstock.executors.processes import below
from penstock.runs import Run, RunCallbacks, copies, run_many
from penstock.sweeps.sweep import RunRecorder

SCENARIO = """\
question = "How long does a run take?"
duration = "200 s"
scheme = "qcn"
schemes.qcn.q_eq = "33 KB"
topology.star = { hosts = 5, link_rate = "1 Gbps", link_delay = "1 us", buffer = "150 KB" }

[[flow]]
from = "h0..h3"
to = "h4"
"""
LEAST = 0.95
"""The least efficiency of two workers on the cores."""
LEAST_OF_RAY = 0.9
"""The least part of it that Ray has."""
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Cost:
    """The cost of the runs.

    Attributes:
        wall_s: by the wall clock, s.
        cpu_s: CPU seconds of this process and all below it.
        at_work: share of the time that the workers ran or waited for a core.
    """

    wall_s: float
    cpu_s: float
    at_work: float


def main() -> int:
    """Measures, prints, and returns the exit status."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--ray", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    kinds = ["cores", *(["ray"] if given.ray else [])]
    costs: dict[tuple[str, int], list[Cost]] = {}
    for _ in range(given.rounds):
        for kind in kinds:
            for workers in (1, 2):
                cost = measured(kind, workers, given.runs)
                costs.setdefault((kind, workers), []).append(cost)
                load = os.getloadavg()[0]
                cost_text = f"{cost.wall_s:.2f} s, CPU {cost.cpu_s:.2f} s, at work {cost.at_work:.3f}"
                print(f"{kind}, {workers} workers: {cost_text}; load {load:.1f}", flush=True)
    efficiency = {}
    for kind in kinds:
        one, two = costs[kind, 1], costs[kind, 2]
        wall = median(a.wall_s / (2 * b.wall_s) for a, b in zip(one, two, strict=True))
        cpu = median(a.cpu_s / b.cpu_s for a, b in zip(one, two, strict=True))
        at_work = median(cost.at_work for cost in two)
        efficiency[kind] = cpu * at_work
        print(
            f"{kind}: two workers: {wall:.3f} by the wall clock, {cpu:.3f} by CPU seconds, {at_work:.3f} at work: "
            f"efficiency {efficiency[kind]:.3f}"
        )
    if given.ray:
        for workers in (1, 2):
            pairs = zip(costs["cores", workers], costs["ray", workers], strict=True)
            print(f"cores over ray, {workers} workers: CPU {median(a.cpu_s / b.cpu_s for a, b in pairs):.3f}")
    least = {"cores": LEAST, "ray": LEAST_OF_RAY * efficiency["cores"]}
    bad = [kind for kind in kinds if efficiency[kind] < least[kind]]
    for kind in bad:
        print(f"{kind}: the efficiency is {efficiency[kind]:.3f}, and {least[kind]:.3f} is the least", file=sys.stderr)
    return 1 if given.check and bad else 0


def measured(kind: str, workers: int, runs: int) -> Cost:
    """Runs them, with the workers at hand before."""
    with executor(kind, workers) as on:
        many(on, workers, duration="10 ms")
        cpu_s, ready_s, started = cpu(), ready(kind), time.monotonic()
        many(on, runs)
        wall_s = time.monotonic() - started
        return Cost(wall_s, cpu() - cpu_s, (ready(kind) - ready_s) / (workers * wall_s))


def executor(kind: str, workers: int) -> Executor:
    """Returns the executor."""
    if kind == "cores":
        return LocalExecutor(workers)
    from penstock import RayExecutor

    return RayExecutor("local", workers=workers)


def many(on: Executor, runs: int, duration: str = "") -> None:
    """Runs a number of runs, and takes of each what a sweep takes."""
    scenario = Scenario.from_toml(SCENARIO, name="long")
    if duration:
        scenario.set("duration", duration)
    every = [Run(f"seed {seed}", copies(scenario), seed) for seed in range(runs)]
    kept: list[int] = []
    run_many(every, RunRecorder(None, True), RunCallbacks(), executor=on, keep=lambda place, _: kept.append(place))
    if len(kept) != runs:
        raise SystemExit("a run is missing")


def ready(kind: str) -> float:
    """Returns for how long workers have run or waited for a core, s: threads of this process, or Ray's workers."""
    if kind == "cores":
        threads = [thread for thread in threading.enumerate() if thread is not threading.main_thread()]
        tasks = [Path(f"/proc/self/task/{thread.native_id}") for thread in threads]
    else:
        tasks = [Path(f"/proc/{pid}") for pid in below(os.getpid())]
        tasks = [task for task in tasks if (task / "comm").read_text().startswith(("ray::work", "ray::IDLE"))]
    return sum(sum(map(int, (task / "schedstat").read_text().split()[:2])) for task in tasks) / 1e9


def cpu() -> float:
    """Returns the CPU seconds of this process and of all below it, those that have ended included, s."""
    ticks = 0
    for pid in (os.getpid(), *below(os.getpid())):
        try:
            fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        ticks += sum(map(int, fields[11:15]))
    return ticks / _TICKS


if __name__ == "__main__":
    sys.exit(main())
