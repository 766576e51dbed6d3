"""Draws what `make experiment` measured: the set-up (a) beside the event simulator (b), in the papers' axes.

Reads the tables in build/experiments, runs the experiments of papers/netfpga and papers/sliding-mode, and the scenario
of dcqcn_setup, with the same settings, and writes a picture for each figure and numbers.md beside the tables. The
course of a single run after a change of rate is chance, so the simulator runs with ten seeds, the set-up's and the nine
after it. This program runs under the checkout's .venv, which has the event simulator.
"""

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
from penstock.figures.series import queue_series
from penstock.figures.style import QUEUE_COLOURS, REFERENCE, save, styled
from penstock.metrics.samples import wasserstein
from penstock.reproduction.paper import load
from penstock.reproduction.plan import Run, Setting
from penstock.result import Result
from penstock.scenario import Scenario

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

RTL = Path(__file__).resolve().parent.parent
TABLES = RTL / "build" / "experiments"
PAPERS = RTL.parent / "papers"
FRAME_OCTETS = 1000
SEEDS = 10
# Seconds at full length, as papers/netfpga/metrics.py has them: at rest, and the seconds after the changes.
PERIODS = {"before": (0.5, 2.3), "drop": (2.3, 3.3), "low": (3.3, 6.0), "rise": (6.0, 7.0), "after": (7.0, 10.0)}
CASES = {
    8 + 3 * i + j: (kind, rtt) for i, kind in enumerate(("one", "eight")) for j, rtt in enumerate((100, 500, 1000))
}
PAIRS = ((256, 64), (256, 32), (64, 64), (64, 32))
# As papers/sliding-mode/README.md: from 0.3 s on.
SETTLED_S = (0.3, 2.0)
COLUMNS = (
    "Figure",
    "Time",
    "Period",
    "Queue, frames: RTL",
    "simulator, mean ± σ of ten seeds",
    "Used, %: RTL",
    "simulator",
    "Distance of the queues, frames",
)
# DCQCN's senders start one after another; each period is measured in its second half, when rates have come to rest.
STARTS_MS = (0, 20, 40, 60, 150)
DCQCN_COLUMNS = (
    "Senders",
    "Time, ms",
    "Queue, KB: RTL",
    "simulator, mean ± σ of ten seeds",
    "Used, %: RTL",
    "simulator",
    "Jain's index: RTL",
    "simulator",
)
# The set-up's lines carry preamble and gap; its queue does not hold the frame on the line; its sources have token
# buckets, of which the experiments of Jiang et al. 2015 say nothing. Samples at whole milliseconds always see the same
# two phases of the buckets' 16 us; their mean is up to 0.3 frames off.
AS_BUILT: dict[str, str | bool] = {
    "network.wire_overhead": "20 octets",
    "network.in_service_counts": False,
    "record.interval": "1001 us",
    "hosts.pacer.token_bucket.depth": "3 KB",
    "hosts.pacer.token_bucket.interval": "16 us",
    "hosts.pacer.token_bucket.granularity": "0.5 Mbps",
}


@dataclass(frozen=True)
class Course:
    """A queue and its link over time, a sample a millisecond: its length then, and the mean since the one before."""

    time_s: "NDArray[Any]"
    octets: "NDArray[Any]"
    mean_octets: "NDArray[Any]"
    used: "NDArray[Any]"

    def within(self, from_s: float, to_s: float) -> "NDArray[Any]":
        """Return which samples describe the time from ``from_s`` to ``to_s``: a sample ends its interval."""
        inside: NDArray[Any] = (self.time_s > from_s + 1e-9) & (self.time_s <= to_s + 1e-9)
        return inside


@dataclass(frozen=True)
class Table:
    """The figures of the set-up."""

    course: Course
    scale: float
    seed: int
    column: "dict[str, NDArray[Any]]"


def main() -> None:
    """Draw every figure whose tables are there; name the others."""
    rows: list[str] = []
    with styled():
        for figure, case in CASES.items():
            if (table := read(f"figure-{figure}")) is not None:
                rows += netfpga(figure, *case, table)
        pairs = {pair: table for pair in PAIRS if (table := read("figure-15-{}-{}".format(*pair))) is not None}
        if pairs:
            rows += sliding_mode(pairs)
        table = read("figure-dcqcn")
        senders = dcqcn(table) if table is not None else []
    if not rows and not senders:
        sys.exit(f"{TABLES} has no table: make experiment first")
    text = "\n".join(in_columns(COLUMNS, rows) + in_columns(DCQCN_COLUMNS, senders)) + "\n"
    (TABLES / "numbers.md").write_text(text)
    print(text, end="")


def in_columns(names: tuple[str, ...], rows: list[str]) -> list[str]:
    """Return the lines of a table, none if it has no rows."""
    return ["| " + " | ".join(names) + " |", "|---" * len(names) + "|", *rows, ""] if rows else []


def read(name: str) -> Table | None:
    """Return a table of the set-up, if it is there."""
    path = TABLES / f"{name}.csv"
    if not path.exists():
        print(f"{name}: not done (make experiment FIGURE={name.split('-')[1]})", file=sys.stderr)
        return None
    lines = path.read_text().splitlines()
    comment = "\n".join(line for line in lines if line.startswith("#"))
    scale = re.search(r"times / (\d+), seed (\d+)", comment)
    if scale is None:
        sys.exit(f"{path}: the header has no time scale and seed")
    names, *values = [line.split(",") for line in lines if not line.startswith("#")]
    column = {name: np.array([float(row[i]) for row in values]) for i, name in enumerate(names)}
    course = Course(column["time_s"], column["queue_octets"], column["mean_queue_octets"], column["utilization"])
    return Table(course, float(scale[1]), int(scale[2]), column)


def simulate(paper: str, run: Run, queue: str, seed: int, more: Mapping[str, str | bool]) -> list[Course]:
    """Return what the event simulator makes of an experiment of a paper, with the seed and those after it."""
    scenario = load(PAPERS / paper).scenario(run)
    for key, value in {**AS_BUILT, **more}.items():
        scenario.set(key, value)
    return [_course(scenario.run(seed=seed + step), queue) for step in range(SEEDS)]


def _course(result: Result, queue: str) -> Course:
    """Return what a queue did in a run of the simulator."""
    (series,) = queue_series(result, [q for q in result.summary["queues"] if q["name"] == queue])
    # The sample at the time 0 ends no interval.
    ends = series.time_s > 0
    # Of the simulator's lengths there are only samples; see AS_BUILT.
    octets = series.octets[ends]
    return Course(series.time_s[ends], octets, octets, series.utilization[ends])


def netfpga(figure: int, kind: str, round_trip_us: int, table: Table) -> list[str]:
    """Draw a figure of Kabbani and Yasuda 2010 and return its rows of numbers."""
    one_way = {} if round_trip_us == 100 else {"topology.star.link_delay": f"{round_trip_us // 2} us"}
    scaled: dict[str, str | bool] = {
        # The core holds the target rate at the largest rate, and increases actively after the fifth cycle, not with it.
        "schemes.qcn.tr_clamp": True,
        "schemes.qcn.fr_cycles": "threshold",
        "duration": f"{10 / table.scale:.9f} s",
        "change.1.at": f"{2.3 / table.scale:.9f} s",
        "change.2.at": f"{6 / table.scale:.9f} s",
    }
    run = Run.of(f"hardware-{kind}", "qcn", one_way)
    simulated = simulate("netfpga", run, "sw0->h8", table.seed, scaled)
    courses = {"set-up, RTL": [table.course], f"event simulator, {SEEDS} seeds": simulated}
    drawn, axes = plt.subplots(2, 2, figsize=(6.6, 4.2), sharex=True, sharey="row", layout="constrained")
    for column, (letter, (model, runs)) in enumerate(zip("ab", courses.items(), strict=True)):
        queue, used = axes[0][column], axes[1][column]
        lines(queue, [(course.time_s, course.octets / 1000) for course in runs], QUEUE_COLOURS[0])
        queue.axhline(33, color=REFERENCE, linewidth=0.8, linestyle=":")
        queue.set_title(f"({letter}) {model}")
        lines(used, [(course.time_s, 100 * smoothed(course.used)) for course in runs], QUEUE_COLOURS[2])
        used.set_xlabel("time (s)")
    axes[0][0].set(ylabel="queue size (KB)", ylim=(0, 156), xlim=(0, 10 / table.scale))
    axes[1][0].set(ylabel="utilization (%)", ylim=(0, 104))
    save(drawn, TABLES / f"figure-{figure}.png")
    plt.close(drawn)
    return [
        row(str(figure), table.scale, period, table.course, simulated, (start / table.scale, end / table.scale))
        for period, (start, end) in {**PERIODS, "all": (0.5, 10.0)}.items()
    ]


def sliding_mode(tables: Mapping[tuple[int, int], Table]) -> list[str]:
    """Draw figure 15 of Jiang et al. 2015 and return its rows of numbers."""
    rows = []
    drawn, axes = plt.subplots(len(tables), 2, figsize=(6.6, 1.8 * len(tables) + 0.4), sharex=True, sharey=True,
                               layout="constrained", squeeze=False)  # fmt: skip
    for line, ((ra, rb), table) in zip(axes, tables.items(), strict=True):
        settings: dict[str, Setting] = {"schemes.smcc.ra": f"{ra} Mbps", "schemes.smcc.rb": f"{rb} Mbps"}
        end_s = 2 / table.scale
        run = Run.of("three-sources", "smcc", settings)
        simulated = simulate("sliding-mode", run, "sw0->sw1", table.seed, {"duration": f"{end_s:.9f} s"})
        queue(line[0], [table.course], f"(a) RTL, Ra = {ra}, Rb = {rb}", end_s)
        queue(line[1], simulated, f"(b) simulator, Ra = {ra}, Rb = {rb}", end_s)
        line[0].set_ylabel("queue (KB)")
        start_s, stop_s = (bound / table.scale for bound in SETTLED_S)
        rows.append(row(f"15, {ra}/{rb}", table.scale, "settled", table.course, simulated, (start_s, stop_s)))
    for axis in axes[-1]:
        axis.set_xlabel("time (s)")
    save(drawn, TABLES / "figure-15.png")
    plt.close(drawn)
    return rows


@dataclass(frozen=True)
class Senders:
    """The senders of a run over time: the queue, and of each its rate and what its line carried."""

    course: Course
    rates_bps: "list[NDArray[Any]]"
    throughputs_bps: "list[NDArray[Any]]"

    def jain(self, inside: "NDArray[Any]", senders: int) -> float:
        """Return Jain's index of the first senders' throughputs."""
        means = np.array([throughput[inside].mean() for throughput in self.throughputs_bps[:senders]])
        return float(means.sum() ** 2 / (senders * (means**2).sum()))


def dcqcn(table: Table) -> list[str]:
    """Draw the convergence of DCQCN's senders and return its rows of numbers."""
    scenario = Scenario.load(RTL / "dcqcn_setup" / "experiment" / "convergence.toml")
    simulated = [_senders(scenario.run(seed=table.seed + step)) for step in range(SEEDS)]
    of_each = [[table.column[f"{what}_{i}_bps"] for i in range(len(STARTS_MS) - 1)] for what in ("rate", "throughput")]
    rtl = Senders(table.course, *of_each)
    drawn, axes = plt.subplots(2, 2, figsize=(6.6, 4.2), sharex=True, sharey="row", layout="constrained")
    for column, (title, runs) in enumerate({"(a) set-up, RTL": [rtl], "(b) event simulator": simulated}.items()):
        rates, queue = axes[0][column], axes[1][column]
        time_ms = 1000 * runs[0].course.time_s
        for rate, start, colour in zip(runs[0].rates_bps, STARTS_MS, QUEUE_COLOURS, strict=False):
            begun = time_ms > start
            rates.plot(time_ms[begun], rate[begun] / 1e9, color=colour, linewidth=0.7)
        rates.set_title(title)
        lines(queue, [(1000 * run.course.time_s, run.course.octets / 1000) for run in runs], QUEUE_COLOURS[0])
        queue.set_xlabel("time (ms)")
    axes[0][0].set(ylabel="rates (Gb/s)", ylim=(0, 41), xlim=(0, STARTS_MS[-1]))
    axes[1][0].set(ylabel="queue (KB)", ylim=(0, None))
    save(drawn, TABLES / "figure-dcqcn.png")
    plt.close(drawn)
    rows = []
    for senders, (start, end) in enumerate(pairwise(STARTS_MS), 1):
        middle = (start + end) / 2
        queues, used, even = [], [], []
        for run in (rtl, *simulated):
            inside = run.course.within(middle / 1000, end / 1000)
            queues.append(run.course.mean_octets[inside].mean() / 1000)
            used.append(100 * run.course.used[inside].mean())
            even.append(run.jain(inside, senders))
        rows.append(
            f"| {senders} | {middle:g} to {end} | {queues[0]:.1f} | {_spread(queues[1:])} | {used[0]:.1f} | "
            f"{_spread(used[1:])} | {even[0]:.3f} | {_spread(even[1:], 3)} |"
        )
    return rows


def _senders(result: Result) -> Senders:
    """Return the senders of a run of the simulator."""
    flow, *columns = (result.column("rates", name) for name in ("flow", "rate_bps", "throughput_bps"))
    own = [flow == f"f{i}" for i in range(len(STARTS_MS) - 1)]
    # The sample at the time 0 ends no interval.
    return Senders(_course(result, "sw0->h4"), *([column[each][1:] for each in own] for column in columns))


def queue(axis: "Axes", courses: list[Course], title: str, end_s: float) -> None:
    """Draw the queues of runs in the axes of figure 15."""
    lines(axis, [(course.time_s, course.octets / 1000) for course in courses], QUEUE_COLOURS[0])
    axis.axhline(64, color=REFERENCE, linewidth=0.8, linestyle=":")
    axis.set(title=title, xlim=(0, end_s), ylim=(-3, 134), yticks=[0, 32, 64, 96, 128])


def lines(axis: "Axes", curves: list[tuple["NDArray[Any]", "NDArray[Any]"]], colour: str) -> None:
    """Draw the first of several curves before the others, which are pale."""
    for number, (x, y) in reversed(list(enumerate(curves))):
        axis.plot(x, y, color=colour, linewidth=0.4 if number else 0.7, alpha=0.25 if number else 1)


def smoothed(values: "NDArray[Any]", samples: int = 20) -> "NDArray[Any]":
    """Return the mean of each value and the ones before it, up to ``samples``."""
    sums = np.cumsum(np.concatenate(([0.0], values)))
    last = np.arange(1, len(values) + 1)
    first = np.maximum(last - samples, 0)
    means: NDArray[Any] = (sums[last] - sums[first]) / (last - first)
    return means


def row(figure: str, scale: float, period: str, rtl: Course, runs: list[Course], span: tuple[float, float]) -> str:
    """Return a line of the table of numbers."""
    queues = [course.octets[course.within(*span)] / FRAME_OCTETS for course in (rtl, *runs)]
    means = [course.mean_octets[course.within(*span)].mean() / FRAME_OCTETS for course in (rtl, *runs)]
    used = [100 * course.used[course.within(*span)].mean() for course in (rtl, *runs)]
    return (
        f"| {figure} | 1/{scale:g} | {period} | {means[0]:.1f} | {_spread(means[1:])} | "
        f"{used[0]:.1f} | {_spread(used[1:])} | {wasserstein(queues[0], np.concatenate(queues[1:])):.1f} |"
    )


def _spread(values: list[float], digits: int = 1) -> str:
    """Return mean and standard deviation."""
    return f"{np.mean(values):.{digits}f} ± {np.std(values, ddof=1):.{digits}f}"


if __name__ == "__main__":
    main()
