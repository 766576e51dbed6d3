"""Measures how many short runs a core does a second, and what is around the engine: run_many, and a sweep.

    python tools/many_runs.py [--check] [--seconds 4] [--hops 1000 10000 100000 1000000]

The scenario is the ten-gig baseline with four flows from the start, made as long as its frames cross the given number
of links. CPU seconds count, user and system of the whole process, so that others on the machine matter little. Of each
kind of call as many runs are made as take the given time. The time around the engine is that of a run of ten hops that
is sampled at its end alone: layout, summary, row, and Python. The rest is the engine, with its thousand samples a run.

With --check the exit status says whether run_many makes 200 runs a second and core at ten thousand hops, and whether
90 % of the time is the engine's at a hundred thousand.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import penstock
from penstock import Scenario

LEAST_RUNS_A_SECOND, AT_HOPS = 200, 10_000
LEAST_ENGINE, AT_MORE_HOPS = 0.9, 100_000
_HOPS_A_SECOND = 1.68e6
"""Links that frames cross in a second of the scenario's time."""

Kind = Callable[[Scenario, int], object]


def main() -> int:
    """Measures, prints, and returns the exit status."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--hops", type=int, nargs="+", default=[1000, 10_000, 100_000, 1_000_000])
    given = parser.parse_args()
    kinds: dict[str, Kind] = {"run_many": many, "sweep": swept}
    cost_s: dict[tuple[str, int], float] = {}
    print("hops a run | " + " | ".join(f"{kind}, runs/s and core" for kind in kinds))
    for hops in given.hops:
        for kind, call in kinds.items():
            cost_s[kind, hops] = measured(call, of_length(hops), given.seconds)
        print(f"{hops} | " + " | ".join(f"{1 / cost_s[kind, hops]:.0f}" for kind in kinds), flush=True)
    brief = of_length(10)
    around_s = measured(many, brief.with_({"record.interval": _text_us(10)}), given.seconds)
    print(f"around the engine: {around_s * 1e3:.2f} ms a run")
    share = {hops: 1 - around_s / cost_s["run_many", hops] for hops in given.hops}
    for hops, part in share.items():
        print(f"{hops} hops: {part:.1%} of run_many is the engine")
    quick = 1 / cost_s.get(("run_many", AT_HOPS), 1e-9) >= LEAST_RUNS_A_SECOND
    good = quick and share.get(AT_MORE_HOPS, 1.0) >= LEAST_ENGINE
    return 1 if given.check and not good else 0


def of_length(hops: int) -> Scenario:
    """Returns the scenario, as long as its frames take for these hops."""
    return Scenario.named("baseline/ten-gig").with_(
        {"duration": _text_us(hops), "warmup": _text_us(hops / 10), "flow.0.stagger": "0 s"}
    )


def _text_us(hops: float) -> str:
    return f"{hops / _HOPS_A_SECOND * 1e6:.3f} us"


def measured(call: Kind, scenario: Scenario, seconds: float) -> float:
    """Returns the CPU seconds of a run, of as many as take so long."""
    call(scenario, 2)
    runs, spent_s = 4, 0.0
    while True:
        begun_s = time.process_time()
        call(scenario, runs)
        spent_s = time.process_time() - begun_s
        if spent_s >= seconds / 4 or runs >= 10_000:
            return spent_s / runs
        runs = min(10_000, max(2 * runs, int(runs * seconds / 3 / max(spent_s, 1e-3))))


def many(scenario: Scenario, runs: int) -> None:
    """Runs them with run_many."""
    found = penstock.run_many(scenario, seeds=runs)
    if len(found) != runs:
        raise SystemExit(f"runs are missing: {found.failed[:1]}")


def swept(scenario: Scenario, runs: int) -> None:
    """Runs them as a sweep, into a store."""
    with tempfile.TemporaryDirectory() as folder:
        penstock.sweep(scenario, {}, seeds=runs, out=Path(folder) / "out")


if __name__ == "__main__":
    sys.exit(main())
