"""Measures how well two workers share the runs of a sweep: on the cores of this machine, and on Ray.

    python tools/sweep_efficiency.py [--ray] [--runs 8] [--rounds 3]

The runs last over a second each, and are measured alone: without the start of processes, and without drawing. A round
runs them with one worker and with two, one after the other. Two efficiencies follow: by the wall clock, the time of one
worker over twice that of two; by CPU seconds (user and system, of all processes that work), those of one worker over
those of two, which a machine that does much else at the time does not falsify. Ray is also compared with the cores by
the CPU seconds of the same runs. `make .build/ray` is not needed for the cores; for Ray, run it with .build/ray's
Python, which tools/check_ray.py makes.
"""

import argparse
import os
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from penstock import Cores, Scenario
from penstock.executors.executor import Executor
from penstock.executors.processes import below
from penstock.runs import Run, Watch, copies, run_many
from penstock.sweeps.sweep import Taking

SCENARIO = """\
question = "How long does a run take?"
duration = "7 s"
scheme = "qcn"
schemes.qcn.q_eq = "33 KB"
topology.star = { hosts = 5, link_rate = "1 Gbps", link_delay = "1 us", buffer = "150 KB" }

[[flow]]
from = "h0..h3"
to = "h4"
"""
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Cost:
    """What the runs cost.

    Attributes:
        wall_s: by the wall clock, s.
        cpu_s: CPU seconds of this process and all below it.
    """

    wall_s: float
    cpu_s: float


def main() -> None:
    """Measures, and prints."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--ray", action="store_true")
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
                print(f"{kind}, {workers} workers: {cost.wall_s:.2f} s, CPU {cost.cpu_s:.2f} s; load {load:.1f}")
    for kind in kinds:
        one, two = costs[kind, 1], costs[kind, 2]
        wall = median(a.wall_s / (2 * b.wall_s) for a, b in zip(one, two, strict=True))
        cpu = median(a.cpu_s / b.cpu_s for a, b in zip(one, two, strict=True))
        print(f"{kind}: efficiency of two workers {wall:.3f} by the wall clock, {cpu:.3f} by CPU seconds")
    if given.ray:
        for workers in (1, 2):
            pairs = zip(costs["cores", workers], costs["ray", workers], strict=True)
            print(f"cores over ray, {workers} workers: CPU {median(a.cpu_s / b.cpu_s for a, b in pairs):.3f}")


def measured(kind: str, workers: int, runs: int) -> Cost:
    """Runs them, with the workers at hand before."""
    with executor(kind, workers) as on:
        many(on, workers, duration="10 ms")
        cpu_s, started = cpu(), time.monotonic()
        many(on, runs)
        return Cost(time.monotonic() - started, cpu() - cpu_s)


def executor(kind: str, workers: int) -> Executor:
    """Returns the executor."""
    if kind == "cores":
        return Cores(workers)
    from penstock import Ray

    return Ray("local", workers=workers)


def many(on: Executor, runs: int, duration: str = "") -> None:
    """Runs so many runs, with what a sweep takes of each."""
    scenario = Scenario.from_toml(SCENARIO, name="long")
    if duration:
        scenario.set("duration", duration)
    every = [Run(f"seed {seed}", copies(scenario), seed) for seed in range(runs)]
    kept: list[int] = []
    run_many(every, Taking(None, True), Watch(), executor=on, keep=lambda place, _: kept.append(place))
    if len(kept) != runs:
        raise SystemExit("a run is missing")


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
    main()
