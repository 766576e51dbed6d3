"""Draws Kabbani and Yasuda's experiment in three bodies: the testbed, the cores, the simulator.

    make -C rtl experiment FIGURE='8 11' SCALE=20
    sudo .venv/bin/python tools/testbed_and_cores_figure.py OUT

The first command makes the cores' tables, in rtl/build/experiments. The second runs the testbed (minutes) and the
simulator, and draws. Without root it draws once more from the runs that are there.

One source and eight, a round trip of 100 us; the service rate falls from 0.95 to 0.2 Gb/s and returns (figures 8 and
11 of the paper). All three have the settings of papers/netfpga and the cores' schedule, whose times are the paper's
divided by SCALE. On the testbed a second of it takes TIME_SCALE seconds: the lines of 1 Gb/s carry 20 Mb/s there.

The course of a single run is drawn, of the first seed. The table has means, and deviations in brackets, of some runs on
the testbed and of twelve seeds of the simulator, since a transient is a draw; the cores have one run.

OUT gets bodies.png and bodies.svg, a table of queue and use in each period, bodies.md, and the folders of the
testbed's runs. Without the cores' tables it says which are missing and the command that makes them, draws the two
others, and ends with status 1.
"""

import argparse
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
from penstock import Result, Scenario
from penstock.figures.series import queue_series
from penstock.figures.style import QUEUE_COLOURS, REFERENCE, save, styled
from penstock.reproduction.paper import load
from penstock.reproduction.plan import Run
from penstock.testbed import TestbedError, run

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
TABLES = ROOT / "rtl" / "build" / "experiments"
CASES = {"one": (8, "1 source"), "eight": (11, "8 sources")}
TIME_SCALE = 50
QUEUE = "sw0->h8"
SEEDS = range(1, 13)
Q_EQ_KB = 33
PERIODS_S = {"before": (0.5, 2.3), "drop": (2.3, 3.3), "low": (3.3, 6.0), "rise": (6.0, 7.0), "after": (7.0, 10.0)}
"""At the paper's times, as papers/netfpga/metrics.py has them."""

AS_BUILT: dict[str, str | bool] = {
    # As rtl/netfpga_setup/doc says of the cores: lines carry preamble and gap, the queue does not hold the frame on the
    # line, the target rate is held at the largest rate. Active Increase begins after the fifth cycle. Samples at whole
    # milliseconds would always see the same two phases of the token buckets' 16 us.
    "network.wire_overhead": "20 octets",
    "network.in_service_counts": False,
    "schemes.qcn.tr_clamp": True,
    "schemes.qcn.fr_cycles": "threshold",
    "record.interval": "1001 us",
}


@dataclass(frozen=True)
class Course:
    """A queue and its line over time: octets, and the share of the rate that was used since the sample before."""

    time_s: "NDArray[Any]"
    octets: "NDArray[Any]"
    used: "NDArray[Any]"

    def within(self, span_s: tuple[float, float]) -> "NDArray[Any]":
        """Return which samples describe a span of time."""
        inside: NDArray[Any] = (self.time_s > span_s[0]) & (self.time_s <= span_s[1])
        return inside


@dataclass(frozen=True)
class Cores:
    """The cores' run: its course, and the number by which the paper's times are divided."""

    course: Course
    scale: float


def cores(figure: int) -> Cores | None:
    """Return a table of the cores, if it is there."""
    path = TABLES / f"figure-{figure}.csv"
    if not path.exists():
        return None
    lines = path.read_text().splitlines()
    scale = re.search(r"times / (\d+), seed", "\n".join(line for line in lines if line.startswith("#")))
    if scale is None:
        sys.exit(f"{path}: the header has no time scale")
    names, *values = [line.split(",") for line in lines if not line.startswith("#")]
    column = {name: np.array([float(row[i]) for row in values]) for i, name in enumerate(names)}
    return Cores(Course(column["time_s"], column["queue_octets"], column["utilization"]), float(scale[1]))


def scenario(kind: str, scale: float) -> Scenario:
    """Return the experiment with the cores' schedule, for simulator and testbed."""
    made = load(ROOT / "papers" / "netfpga").scenario(Run.of(f"hardware-{kind}", "qcn", {}))
    schedule = {"duration": 10, "change.1.at": 2.3, "change.2.at": 6}
    settings: Mapping[str, Any] = {
        **AS_BUILT,
        **{key: f"{time_s / scale:.9f} s" for key, time_s in schedule.items()},
        "testbed.time_scale": TIME_SCALE,
    }
    for key, value in settings.items():
        made.set(key, value)
    return made


def course(result: Result) -> Course:
    """Return what the queue and its line did in a run."""
    (series,) = queue_series(result, [q for q in result.summary["queues"] if q["name"] == QUEUE])
    # The sample at the time 0 ends no interval.
    ends = series.time_s > 0
    return Course(series.time_s[ends], series.octets[ends], series.utilization[ends])


def measured(kind: str, scale: float, folder: Path, seed: int) -> Result:
    """Return a run on the testbed: the one in the folder, or a new one."""
    if not folder.exists():
        return run(scenario(kind, scale), out=folder, seed=seed)
    return Result.open(folder)


def smoothed(values: "NDArray[Any]", samples: int = 10) -> "NDArray[Any]":
    """Return the mean of each value and the ones before it, up to ``samples``."""
    sums = np.cumsum(np.concatenate(([0.0], values)))
    last = np.arange(1, len(values) + 1)
    first = np.maximum(last - samples, 0)
    means: NDArray[Any] = (sums[last] - sums[first]) / (last - first)
    return means


def draw(bodies: Mapping[str, Mapping[str, list[Course]]], scale: float, path: Path) -> None:
    """Draw queue and use of the line, of each body's first run: a column a body, two rows a number of sources."""
    names = list(next(iter(bodies.values())))
    with styled():
        figure, axes = plt.subplots(
            2 * len(bodies), len(names), figsize=(9.6, 7.2), sharex=True, sharey="row", layout="constrained"
        )
        for pair, (kind, courses) in enumerate(bodies.items()):
            for column, name in enumerate(names):
                queue, used = axes[2 * pair][column], axes[2 * pair + 1][column]
                one = courses[name][0]
                queue.plot(one.time_s, one.octets / 1000, color=QUEUE_COLOURS[0], linewidth=0.8)
                queue.axhline(Q_EQ_KB, color=REFERENCE, linewidth=0.8, linestyle=":")
                queue.set_title(f"{name}, {CASES[kind][1]}")
                used.plot(one.time_s, 100 * smoothed(one.used), color=QUEUE_COLOURS[2], linewidth=0.9)
            axes[2 * pair][0].set(ylabel="queue (KB)", ylim=(0, 156), xlim=(0, 10 / scale))
            axes[2 * pair + 1][0].set(ylabel="utilisation (%)", ylim=(0, 104))
        for axis in axes[-1]:
            axis.set_xlabel("time (s)")
        for suffix in (".png", ".svg"):
            save(figure, path.with_suffix(suffix))
        plt.close(figure)


def spread(values: "list[float]") -> str:
    """Return a mean, with the standard deviation where there are several values."""
    deviation = f" ({np.std(values, ddof=1):.1f})" if len(values) > 1 else ""
    return f"{np.mean(values):.1f}{deviation}"


def table(bodies: Mapping[str, Mapping[str, list[Course]]], scale: float) -> str:
    """Return mean queue and use of the line in each period, as Markdown, with their deviations among runs."""
    names = list(next(iter(bodies.values())))
    lines = [
        f"| Sources | Period | {' | '.join(f'Queue, KB: {name} | used, %' for name in names)} |",
        "|---" * (2 + 2 * len(names)) + "|",
    ]
    for kind, courses in bodies.items():
        for period, (start, end) in PERIODS_S.items():
            cells = []
            for name in names:
                parts = [(one, one.within((start / scale, end / scale))) for one in courses[name]]
                queue_kb = [float(one.octets[inside].mean()) / 1000 for one, inside in parts]
                used = [100 * float(one.used[inside].mean()) for one, inside in parts]
                cells.append(f"{spread(queue_kb)} | {spread(used)}")
            lines.append(f"| {CASES[kind][1]} | {period} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Run what is missing, draw, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, metavar="OUT", help="the folder for runs, figure and table")
    parser.add_argument("--scale", type=float, default=20, help="SCALE, as long as there are no tables of the cores")
    parser.add_argument("--runs", type=int, default=3, help="runs on the testbed for each number of sources")
    options = parser.parse_args()
    out = options.out
    out.mkdir(parents=True, exist_ok=True)
    of_cores = {kind: cores(figure) for kind, (figure, _) in CASES.items()}
    missing = " ".join(str(CASES[kind][0]) for kind, found in of_cores.items() if found is None)
    scales = {one.scale for one in of_cores.values() if one is not None} or {options.scale}
    if len(scales) > 1:
        print(f"the cores' tables have different schedules: SCALE is {sorted(scales)}", file=sys.stderr)
        return 1
    (scale,) = scales
    if missing:
        command = f"make -C rtl experiment FIGURE='{missing}' SCALE={scale:g}"
        lacking = ", ".join(str(TABLES / f"figure-{figure}.csv") for figure in missing.split())
        print(f"the cores are left out: there is no {lacking}; {command} makes it", file=sys.stderr)
    bodies: dict[str, dict[str, list[Course]]] = {}
    for kind, own in of_cores.items():
        valid = []
        for seed in range(1, options.runs + 1):
            try:
                result = measured(kind, scale, out / f"testbed-{kind}-{seed}", seed)
            except TestbedError as fault:
                print(fault, file=sys.stderr)
                return 1
            about = result.summary["testbed"]
            late_ms = about["lateness_p99_s"] * 1e3
            print(f"testbed, {CASES[kind][1]}, run {seed}: valid {about['valid']}, lateness p99 {late_ms:.2f} ms")
            for reason in about["faults"]:
                print(f"  {reason}")
            if about["valid"]:
                valid.append(course(result))
        if not valid:
            print(f"testbed, {CASES[kind][1]}: no run was valid", file=sys.stderr)
            return 1
        simulated = [course(scenario(kind, scale).run(seed=seed)) for seed in SEEDS]
        of_cores_alone = {} if missing or own is None else {"cores": [own.course]}
        bodies[kind] = {"testbed": valid, **of_cores_alone, "simulator": simulated}
    draw(bodies, scale, out / "bodies")
    text = table(bodies, scale)
    (out / "bodies.md").write_text(text)
    print(text, end="")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
