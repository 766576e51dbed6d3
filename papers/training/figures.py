"""The figures of the study: time of a step or bus bandwidth, mean of the seeds and the interval of 95 %."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
from penstock.figures.style import FLOW_COLOURS, QUEUE_COLOURS, REFERENCE
from penstock.metrics.seeds import spread
from penstock.reproduction.drawing import Data, Figures, Source
from penstock.reproduction.plan import Setting

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FIGURES = Figures()

SCHEMES = {"none": "flow control", "qcn": "QCN", "dcqcn": "DCQCN", "hpcc": "HPCC", "swift": "Swift", "nscc": "NSCC"}
"""Schemes, with the names that figures have for them: without a scheme there is flow control alone."""
UNORDERED = ("none", "qcn", "dcqcn", "nscc")
"""Those that take frames in any order, without a transport."""
BALANCED = {"flow": "hash of\nconnections", "flowlet": "flowlets", "spray": "spraying", "adaptive": "adaptive"}
SLOW_LINK = '[{ link = "leaf0->spine0", at = "0 s", rate = "50 Gbps" }]'
SIZES = {"64 KB": 64e3, "256 KB": 256e3, "1 MB": 1e6, "4 MB": 4e6, "16 MB": 16e6}
ALGORITHMS = ("ring", "tree", "halving-doubling")
SEEDS = (1, 2, 3, 4, 5)
ALL_REDUCE_IDEAL_S = 30e6 * 8 / 100e9 * 1520 / 1500
"""A rank sends 2 · 15 / 16 of 16 MB in frames of 1500 octets, each of which takes 1520 on a line of 100 Gb/s."""


def _source(experiment: str, scheme: str, balanced: str, seeds: Sequence[int] = SEEDS, **more: Setting) -> Source:
    settings = {"network.load_balancing": balanced} | {key.replace("__", "."): value for key, value in more.items()}
    return Source.of(experiment, scheme, "counters", seeds=seeds, settings=settings)


def _degraded(balanced: str) -> Source:
    return _source("all-reduce", "none", balanced, change=SLOW_LINK)


def _sized(scheme: str, balanced: str, algorithm: str, size: str) -> Source:
    more = {"collective__0__algorithm": algorithm, "collective__0__size": size}
    return _source("all-reduce", scheme, balanced, SEEDS[:3], **more)


@FIGURES.draw(
    "paths",
    **{f"whole {balanced}": _source("all-reduce", "none", balanced) for balanced in BALANCED},
    **{f"slow {balanced}": _degraded(balanced) for balanced in BALANCED},
)
def paths(data: Data) -> "Figure":
    """Time of an all-reduce of 16 MB by load balancing, with all links whole and with one uplink at half its rate."""
    bars = {title: [data[f"{state} {balanced}"] for balanced in BALANCED] for state, title in _STATES.items()}
    return _bars(list(BALANCED.values()), bars, ALL_REDUCE_IDEAL_S)


_STATES = {"whole": "all links whole", "slow": "one uplink at half its rate"}


@FIGURES.draw(
    "schemes",
    **{f"flow {scheme}": _source("all-reduce", scheme, "flow") for scheme in SCHEMES},
    **{f"spray {scheme}": _source("all-reduce", scheme, "spray") for scheme in UNORDERED},
)
def schemes(data: Data) -> "Figure":
    """Time of an all-reduce of 16 MB by scheme, with connections hashed and with frames sprayed."""
    return _by_scheme(data, ALL_REDUCE_IDEAL_S)


@FIGURES.draw(
    "sizes",
    **{f"{name} {size}": _sized("none", "spray", name, size) for name, size in product(ALGORITHMS, SIZES)},
    **{f"{name} {size}": _sized(name, "flow", "ring", size) for name, size in product(SCHEMES, SIZES)},
)
def sizes(data: Data) -> "Figure":
    """Bus bandwidth against size: algorithms over sprayed frames, and schemes below a ring of hashed connections."""
    figure, axes = plt.subplots(1, 2, figsize=(8.6, 3.4), sharey=True, layout="constrained")
    _lines(axes[0], data, {name: name for name in ALGORITHMS}, QUEUE_COLOURS)
    _lines(axes[1], data, SCHEMES, FLOW_COLOURS)
    axes[0].set(title="algorithms, spraying, flow control", ylabel="bus bandwidth (Gb/s)", ylim=(0, 110))
    axes[1].set(title="schemes, ring, hash of connections")
    return figure


@FIGURES.draw(
    "neighbour",
    **{f"flow alone {scheme}": _source("all-reduce", scheme, "flow", SEEDS[:3]) for scheme in SCHEMES},
    **{f"flow beside {scheme}": _source("neighbour", scheme, "flow", SEEDS[:3]) for scheme in SCHEMES},
    **{f"spray alone {scheme}": _source("all-reduce", scheme, "spray", SEEDS[:3]) for scheme in UNORDERED},
    **{f"spray beside {scheme}": _source("neighbour", scheme, "spray", SEEDS[:3]) for scheme in UNORDERED},
)
def neighbour(data: Data) -> "Figure":
    """Time of an all-reduce of 16 MB, alone and beside a neighbour's incast of twelve hosts, by scheme."""
    figure, axes = plt.subplots(1, 2, figsize=(8.6, 3.4), sharey=True, layout="constrained", width_ratios=(6, 4.4))
    for axis, by, shown in zip(axes, ("flow", "spray"), (tuple(SCHEMES), UNORDERED), strict=True):
        bars = {at: [data[f"{by} {at} {scheme}"] for scheme in shown] for at in ("alone", "beside")}
        _grouped(axis, [SCHEMES[scheme] for scheme in shown], {"alone": bars["alone"], "beside it": bars["beside"]})
        axis.set_title(BALANCED[by].replace("\n", " "))
        axis.axhline(ALL_REDUCE_IDEAL_S * 1e3, color=REFERENCE, linewidth=0.8, linestyle=":")
    axes[0].set_ylabel("time (ms)")
    axes[0].legend(loc="upper right")
    return figure


@FIGURES.draw("experts", **{scheme: _source("experts", scheme, "flow") for scheme in SCHEMES})
def experts(data: Data) -> "Figure":
    """Time until all experts have their tokens, where one gets twice those of each other, by scheme."""
    # The first expert receives 15 parts of 250 KB, and as much again.
    ideal_s = 30 * 250e3 * 8 / 100e9 * 1520 / 1500
    return _bars(list(SCHEMES.values()), {"": [data[scheme] for scheme in SCHEMES]}, ideal_s)


@FIGURES.draw(
    "step",
    **{f"flow {scheme}": _source("step", scheme, "flow") for scheme in SCHEMES},
    **{f"spray {scheme}": _source("step", scheme, "spray") for scheme in UNORDERED},
)
def step(data: Data) -> "Figure":
    """Time of a training step by scheme, with connections hashed and with frames sprayed."""
    return _by_scheme(data, None)


def _by_scheme(data: Data, ideal_s: float | None) -> "Figure":
    """Draw a group of bars for each scheme; HPCC and Swift, which need frames in order, have none for spraying."""
    bars = {BALANCED[by]: [data.get(f"{by} {scheme}", ()) for scheme in SCHEMES] for by in ("flow", "spray")}
    return _bars(list(SCHEMES.values()), bars, ideal_s)


def _bars(names: Sequence[str], bars: Mapping[str, Sequence[Sequence[Any]]], ideal_s: float | None) -> "Figure":
    figure, axis = plt.subplots(figsize=(6.6, 3.2), layout="constrained")
    _grouped(axis, names, bars)
    if ideal_s is not None:
        axis.axhline(ideal_s * 1e3, color=REFERENCE, linewidth=0.8, linestyle=":", label="rate of the lines")
    axis.set_ylabel("time (ms)")
    axis.legend(loc="upper left", bbox_to_anchor=(1, 1))
    return figure


def _grouped(axis: "Axes", names: Sequence[str], bars: Mapping[str, Sequence[Sequence[Any]]]) -> None:
    """Draw groups of bars: the mean time of the seeds, in ms, with the interval of 95 %; none where there is no run."""
    width = 0.8 / len(bars)
    for index, (label, groups) in enumerate(bars.items()):
        shift = (index - (len(bars) - 1) / 2) * width
        shown = [(place, spread(run["step_time_s"] for run in runs)) for place, runs in enumerate(groups) if runs]
        at = [place + shift for place, _ in shown]
        means = [_mean(found) * 1e3 for _, found in shown]
        colour = QUEUE_COLOURS[index]
        axis.bar(at, means, width * 0.92, color=colour, label=label or None)
        for place in (place for place, runs in enumerate(groups) if not runs):
            axis.text(place + shift, 0, " needs order", rotation=90, ha="center", va="bottom", color=colour)
        axis.errorbar(at, means, [_half(found) * 1e3 for _, found in shown], fmt="none", ecolor=REFERENCE, capsize=2)
    axis.set_xticks(range(len(names)), names)
    axis.grid(visible=False, axis="x")
    axis.set_ylim(0, None)


def _lines(axis: "Axes", data: Data, shown: Mapping[str, str], colours: Sequence[str]) -> None:
    for index, ((name, label), colour) in enumerate(zip(shown.items(), colours, strict=False)):
        # Lines stand a little beside each other, so that their intervals do not overlap.
        at = [size * 1.07 ** (index - (len(shown) - 1) / 2) for size in SIZES.values()]
        found = [spread(run["bus_bandwidth_bps"] for run in data[f"{name} {size}"]) for size in SIZES]
        means = [_mean(each) / 1e9 for each in found]
        halves = [_half(each) / 1e9 for each in found]
        axis.errorbar(at, means, halves, color=colour, label=label, marker=".", capsize=2)
    axis.set_xscale("log")
    axis.set_xticks(list(SIZES.values()), list(SIZES))
    axis.minorticks_off()
    axis.set_xlabel("size")
    axis.legend(loc="upper left")


def _mean(found: Mapping[str, Any]) -> float:
    """The mean; not a number where no run has the metric, so that nothing is drawn."""
    return float("nan") if found["mean"] is None else float(found["mean"])


def _half(found: Mapping[str, Any]) -> float:
    """Half of the interval; 0 for a single seed, which has none."""
    return 0.0 if found["interval"] is None else (found["interval"][1] - found["interval"][0]) / 2
