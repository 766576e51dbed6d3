"""The figures of the paper in its own axes: source rates in Gb/s and the core queue in KB, over time in ms."""

from collections.abc import Mapping
from statistics import median_low
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import NullLocator
from penstock.figures.style import DROP, FLOW_COLOURS, QUEUE_COLOURS, REFERENCE
from penstock.reproduction.drawing import Data, Figures, Source

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FIGURES = Figures()

_FOUR = "four-sources"
_TWENTY = tuple(range(1, 21))
_QUEUE = "CS->DU"
_SCHEMES = {"bcn": "BCN", "fecn": "FECN", "efecn": "E-FECN"}
_SLOW = {"schemes.fecn.n0": 20}
_QEQ_KB, _QSC_KB = 24, 120
_BANDS = (0.1, 0.05, 0.02, 0.01, 0.005)

_VARIANTS: dict[str, tuple[str, dict[str, bool]]] = {
    "plain": ("plain\n", {"bcn_max": False, "over_sampling": False, "drift": False}),
    "maximum": ("BCN-MAX\n", {"over_sampling": False, "drift": False}),
    "drift": ("drift\n", {"bcn_max": False, "over_sampling": False}),
    "sampling": ("over-\nsampling", {"bcn_max": False, "drift": False}),
    "paper": ("all three:\nthe paper's", {}),
    "stop": ("all three\nand BCN(0,0)", {"bcn_00": True}),
}


def _variant_source(options: dict[str, bool]) -> Source:
    settings = {f"schemes.bcn.{key}": value for key, value in options.items()}
    return Source.of(_FOUR, "bcn", "variant", seeds=_TWENTY, settings=settings)


def _sources_and_queue(
    name: str, experiment: str, scheme: str, from_s: float, to_s: float, settings: Mapping[str, int] | None = None
) -> dict[str, Source]:
    return {
        f"{name}_rates": Source.of(experiment, scheme, "sources", settings=settings, from_s=from_s, to_s=to_s),
        f"{name}_queue": Source.of(
            experiment, scheme, "queue_lengths", settings=settings, queues=[_QUEUE], from_s=from_s, to_s=to_s
        ),
    }


@FIGURES.draw("figure-5", **{scheme: Source.of(_FOUR, scheme, "sources", seeds=_TWENTY) for scheme in _SCHEMES})
def figure_5(data: Data) -> "Figure":
    """The rate that each source may send at, and the one at which it sends.

    BCN and E-FECN: seed 1. FECN: the seed that converges at the median time of 20; its number is above the
    panel. Dotted: the fair share.
    """
    figure, axes = plt.subplots(1, 3, figsize=(6.6, 3.1), sharey=True, layout="constrained")
    for axis, (scheme, label) in zip(axes, _SCHEMES.items(), strict=True):
        index = _median_seed(data[scheme]) if scheme == "fecn" else 0
        _rates(axis, data[scheme][index]["rates"])
        axis.plot([5, 80, 80, 100], [2.5, 2.5, 5, 5], color=REFERENCE, linewidth=0.8, linestyle=":")
        axis.set(title=f"{label}, seed {_TWENTY[index]}", xlabel="time (ms)", xlim=(0, 100), ylim=(0, 10.4))
    axes[0].set_ylabel("source rate (Gb/s)")
    _legend_above(figure, axes[0], "source 1", "source 2", "source 3", "source 4")
    return figure


@FIGURES.draw(
    "figure-6",
    converged=Source.of(_FOUR, "fecn", "sources", seeds=_TWENTY),
    **{scheme: Source.of(_FOUR, scheme, "queue_lengths", seeds=_TWENTY, queues=[_QUEUE]) for scheme in _SCHEMES},
)
def figure_6(data: Data) -> "Figure":
    """The core queue of the runs of figure 5. Dotted: Qeq of 24 KB and Qsc of 120 KB; the buffer holds 150 KB."""
    figure, axes = plt.subplots(1, 3, figsize=(6.6, 3), sharey=True, layout="constrained")
    for axis, (scheme, label) in zip(axes, _SCHEMES.items(), strict=True):
        index = _median_seed(data["converged"]) if scheme == "fecn" else 0
        _queue(axis, data[scheme][index][_QUEUE])
        axis.set(title=f"{label}, seed {_TWENTY[index]}", xlabel="time (ms)", xlim=(0, 100))
    axes[0].set_ylabel("queue (KB)")
    return figure


@FIGURES.draw("table-1", **{scheme: Source.of(_FOUR, scheme, "control_over_time") for scheme in _SCHEMES})
def table_1(data: Data) -> "Figure":
    """Overhead over time: control frames that sources hear of in each millisecond, seed 1.

    Messages, and probes in both directions, on a scale of logarithms. In FECN's start probes are lost in the
    full queue; E-FECN has BCN(0,0) at 5 ms and from then on FECN's two frames for each flow.
    """
    figure, axis = plt.subplots(figsize=(6.6, 3), layout="constrained")
    for (scheme, label), colour in zip(_SCHEMES.items(), QUEUE_COLOURS, strict=False):
        time_s, frames = data[scheme][0]
        shown = np.where(frames > 0, frames, np.nan)
        # FECN's and E-FECN's are the same most of the time: the wider line shows below the other.
        width = 3.0 if scheme == "fecn" else 1.1
        axis.step(time_s * 1e3, shown, where="post", color=colour, linewidth=width, label=label)
    axis.set(xlabel="time (ms)", ylabel="control frames in 1 ms", yscale="log", xlim=(0, 100), ylim=(0.8, 200))
    axis.set_yticks([1, 3, 10, 30, 100], ["1", "3", "10", "30", "100"])
    axis.legend(loc="upper right", ncols=3)
    return figure


@FIGURES.draw(
    "sections-2-to-4",
    **{
        scheme: Source.of(_FOUR, scheme, "sources", settings={"flow.3.start": "40 ms"}, from_s=0.035, to_s=0.06)
        for scheme in _SCHEMES
    },
)
def newcomer(data: Data) -> "Figure":
    """The rate that each source may send at when the fourth joins at 40 ms, seed 1. Dotted: the fair share."""
    figure, axes = plt.subplots(1, 3, figsize=(6.6, 3.1), sharey=True, layout="constrained")
    for axis, (scheme, label) in zip(axes, _SCHEMES.items(), strict=True):
        _rates(axis, data[scheme][0]["rates"])
        axis.plot([35, 40, 40, 60], [10 / 3, 10 / 3, 2.5, 2.5], color=REFERENCE, linewidth=0.8, linestyle=":")
        axis.set(title=label, xlabel="time (ms)", xlim=(35, 60), ylim=(0, 10.4))
    axes[0].set_ylabel("source rate (Gb/s)")
    _legend_above(figure, axes[0], "source 1", "source 2", "source 3", "source 4, which joins")
    return figure


@FIGURES.draw(
    "beyond-settling",
    fecn=Source.of(_FOUR, "fecn", "settling_by_band", seeds=_TWENTY, bands=list(_BANDS)),
    slow=Source.of(_FOUR, "fecn", "settling_by_band", seeds=_TWENTY, settings=_SLOW, bands=list(_BANDS)),
    efecn=Source.of(_FOUR, "efecn", "settling_by_band", seeds=_TWENTY, bands=list(_BANDS)),
)
def settling(data: Data) -> "Figure":
    """When all source rates are within a band around the fair share to stay; 20 seeds.

    Left: the seeds, for a band of 5 %. Right: medians, for other bands too. Dotted: the paper's 15 and 20 ms,
    if its clock starts with the run; dashed: its 20 ms, if it starts with the flows at 5 ms.
    """
    figure, (left, right) = plt.subplots(1, 2, figsize=(6.6, 3.2), layout="constrained")
    labels = {"fecn": "FECN", "slow": "FECN, N0 = 20", "efecn": "E-FECN"}
    for (name, label), colour in zip(labels.items(), QUEUE_COLOURS, strict=False):
        times = sorted(seed[1] * 1e3 for seed in data[name] if seed[1] is not None)
        share = np.arange(1, len(times) + 1) / len(data[name])
        left.step([0, *times, 80], [0, *share, share[-1]], where="post", color=colour, label=label)
        known = [[seed[i] for seed in data[name] if seed[i] is not None] for i in range(len(_BANDS))]
        right.plot(
            [100 * band for band in _BANDS], [1e3 * np.median(t) for t in known], "o-", color=colour, markersize=4
        )
    for ms, line in ((15, ":"), (20, ":"), (25, "--")):
        left.axvline(ms, color=REFERENCE, linewidth=0.8, linestyle=line)
        right.axhline(ms, color=REFERENCE, linewidth=0.8, linestyle=line)
    left.set(xlabel="converged after (ms)", ylabel="share of seeds", xlim=(0, 60), ylim=(0, 1.03))
    right.set(xlabel="band (±% of the fair share)", ylabel="converged after (ms)", xscale="log", ylim=(0, 30))
    right.set_xticks([100 * band for band in _BANDS], [f"{100 * band:g}" for band in _BANDS])
    right.xaxis.set_minor_locator(NullLocator())
    figure.legend(*left.get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure


@FIGURES.draw(
    "beyond-start",
    **_sources_and_queue("fecn", _FOUR, "fecn", 0.004, 0.025),
    **_sources_and_queue("slow", _FOUR, "fecn", 0.004, 0.025, _SLOW),
    **_sources_and_queue("efecn", _FOUR, "efecn", 0.004, 0.025),
)
def start(data: Data) -> "Figure":
    """The start of four sources at 5 ms: the allowed rate of each, and the core queue; seed 1.

    FECN with N0 = 1 loses thousands of frames at a full buffer. With N0 = 20 it climbs from 500 Mb/s at once;
    E-FECN does so after its spike, an interval later. Dotted: the fair share, Qeq and Qsc.
    """
    figure, axes = plt.subplots(2, 3, figsize=(6.6, 4.6), sharex=True, sharey="row", layout="constrained")
    titles = {"fecn": "FECN, N0 = 1", "slow": "FECN, N0 = 20", "efecn": "E-FECN"}
    for column, (name, title) in enumerate(titles.items()):
        _rates(axes[0][column], data[f"{name}_rates"][0]["rates"])
        axes[0][column].axhline(2.5, color=REFERENCE, linewidth=0.8, linestyle=":")
        axes[0][column].set(title=title, ylim=(0, 10.4), xlim=(4, 25))
        _queue(axes[1][column], data[f"{name}_queue"][0][_QUEUE])
        axes[1][column].set_xlabel("time (ms)")
    axes[0][0].set_ylabel("source rate (Gb/s)")
    axes[1][0].set_ylabel("queue (KB)")
    _legend_above(figure, axes[0][0], "source 1", "source 2", "source 3", "source 4")
    return figure


@FIGURES.draw(
    "beyond-link-break",
    **_sources_and_queue("bcn", "link-break", "bcn", 0.035, 0.1),
    **_sources_and_queue("fecn", "link-break", "fecn", 0.035, 0.1),
    **_sources_and_queue("efecn", "link-break", "efecn", 0.035, 0.1),
)
def link_break(data: Data) -> "Figure":
    """The link between the core switch and DU is broken from 40 to 60 ms (shaded); seed 1.

    Above: the allowed rate of each source; below: the core queue. BCN's sources stop, and come back one
    before the others; FECN's fall to 500 Mb/s after the time-out, and burst when the link is back; E-FECN's
    fall to 500 Mb/s within 0.1 ms, and lose their frames until the link is back.
    """
    figure, axes = plt.subplots(2, 3, figsize=(6.6, 4.6), sharex=True, sharey="row", layout="constrained")
    for column, (scheme, label) in enumerate(_SCHEMES.items()):
        _rates(axes[0][column], data[f"{scheme}_rates"][0]["rates"])
        axes[0][column].set(title=label, ylim=(0, 10.4), xlim=(35, 100))
        _queue(axes[1][column], data[f"{scheme}_queue"][0][_QUEUE])
        axes[1][column].set_xlabel("time (ms)")
        for axis in axes[:, column]:
            axis.axvspan(40, 60, color=DROP, alpha=0.1, linewidth=0)
    axes[0][0].set_ylabel("source rate (Gb/s)")
    axes[1][0].set_ylabel("queue (KB)")
    _legend_above(figure, axes[0][0], "source 1", "source 2", "source 3", "source 4")
    return figure


@FIGURES.draw(
    "beyond-bcn-variants",
    **{name: _variant_source(options) for name, (_, options) in _VARIANTS.items()},
    e2cm=Source.of(_FOUR, "e2cm", "variant", seeds=_TWENTY),
)
def variants(data: Data) -> "Figure":
    """BCN's options, each alone and together, and E2CM (a reconstruction): Jain's index from 25 to 80 ms.

    A mark for each of 20 seeds, and below each name the frames that are lost (median). Without drift all seeds are the
    same.
    """
    figure, axis = plt.subplots(figsize=(6.6, 3.2), layout="constrained")
    labels = {name: label for name, (label, _) in _VARIANTS.items()} | {"e2cm": "E2CM\n"}
    ticks = []
    for place, (name, label) in enumerate(labels.items()):
        spread = np.linspace(-0.2, 0.2, len(data[name]))
        axis.plot(place + spread, [seed["jain"] for seed in data[name]], "o", color=QUEUE_COLOURS[0], markersize=3)
        ticks.append(f"{label}\n{median_low(seed['lost'] for seed in data[name]):.0f} lost")
    axis.set_xticks(range(len(ticks)), ticks, fontsize=7.5)
    axis.set(ylabel="Jain's index", ylim=(0.2, 1.03))
    axis.grid(visible=False, axis="x")
    return figure


@FIGURES.draw(
    "beyond-fairness",
    **{
        scheme: Source.of("two-bottlenecks", scheme, "shares", seeds=_TWENTY)
        for scheme in ("bcn", "e2cm", "fecn", "efecn")
    },
)
def fairness(data: Data) -> "Figure":
    """One long flow through two bottlenecks of 10 Gb/s, and a flow of its own through each of them.

    Rates from 100 to 300 ms, a mark for each of 20 seeds. Solid: max-min fair rates; dashed: proportionally
    fair ones.
    """
    figure, axis = plt.subplots(figsize=(6.6, 3), layout="constrained")
    for place, seeds in enumerate(data.values()):
        for offset, flow in ((-0.12, "long"), (0.12, "first")):
            colour = FLOW_COLOURS[1] if flow == "long" else FLOW_COLOURS[2]
            got = [seed[flow][0] / 1e9 for seed in seeds]
            _, even, proportional = seeds[0][flow]
            ends = place + offset - 0.1, place + offset + 0.1
            label = {"long": "the long flow", "first": "the first of the others"}[flow] if place == 0 else None
            axis.plot([place + offset] * len(got), got, "o", color=colour, markersize=4, alpha=0.6, label=label)
            axis.plot(ends, [even / 1e9] * 2, color=REFERENCE, linewidth=0.9)
            axis.plot(ends, [proportional / 1e9] * 2, color=colour, linewidth=0.9, linestyle="--")
    axis.set_xticks(range(len(data)), ["BCN", "E2CM", "FECN", "E-FECN"])
    axis.set(ylabel="rate (Gb/s)", ylim=(0, 10.4))
    axis.grid(visible=False, axis="x")
    figure.legend(loc="outside upper center", ncols=2)
    return figure


def _median_seed(seeds: Any) -> int:
    """Return the index of the seed whose sources converge at the median time; of those that do."""
    times = {index: seed["converged_s"] for index, seed in enumerate(seeds) if seed["converged_s"] is not None}
    return next(index for index, time_s in times.items() if time_s == median_low(times.values())) if times else 0


def _rates(axis: "Axes", rates: Any) -> None:
    # Curves that lie on each other are told apart by their widths: the first is the widest.
    for index, ((_, (time_s, bps)), colour) in enumerate(zip(rates.items(), FLOW_COLOURS, strict=False)):
        shown = np.where(bps > 0, bps, np.nan) / 1e9
        axis.plot(time_s * 1e3, shown, color=colour, linewidth=2.6 - 0.6 * index)


def _queue(axis: "Axes", series: Any) -> None:
    time_s, octets = series
    axis.plot(time_s * 1e3, octets / 1e3, color=QUEUE_COLOURS[0], linewidth=0.7)
    for level in (_QEQ_KB, _QSC_KB):
        axis.axhline(level, color=REFERENCE, linewidth=0.8, linestyle=":")
    axis.set(ylim=(0, 155))


def _legend_above(figure: "Figure", axis: "Axes", *labels: str) -> None:
    lines = [line for line in axis.lines if line.get_linestyle() == "-"]
    figure.legend(lines, labels, loc="outside upper center", ncols=len(labels))
