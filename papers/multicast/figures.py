"""The figures of the paper in its own axes: CR over time, and the result of each scheme at Qeq of 25, 50 and 75 frames.

Bars are means over 20 seeds, lines reach from the least to the greatest seed; diamonds are numbers of the paper's text.
"""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
from penstock.figures.style import FLOW_COLOURS, QUEUE_COLOURS, REFERENCE
from penstock.reproduction.drawing import Data, Figures, Source

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FIGURES = Figures()

_SEEDS = tuple(range(1, 21))
_QEQ_FRAMES = (25, 50, 75)
_QUEUES = ["sw->r1", "sw->r2"]
_SCHEMES = {"qcn": "QCN", "qcn-multicast": "enhanced QCN", "qcn-bs": "QCN/BS"}
_COLOURS = dict(zip(_SCHEMES, QUEUE_COLOURS, strict=False))
_FAIR_MBPS = 1000 / 6
_FRAME_OCTETS = 1500
_SHARES = {"feedback_percent": "feedback rate (%)", "loss_percent": "loss rate (%)"}

Paper = Mapping[str, Sequence[float]]
"""The figures in the paper's text, by scheme and in the order of Qeq."""


def _settings(scheme: str, q_eq: int) -> dict[str, str]:
    return {f"schemes.{scheme}.q_eq": f"{1.5 * q_eq:g} KB"}


def _all(
    take: str,
    experiment: str = "star",
    schemes: Sequence[str] = ("qcn", "qcn-multicast"),
    also: Mapping[str, str] | None = None,
    of_q_eq: Callable[[int], Mapping[str, Any]] = lambda _: {},
    **arguments: Any,
) -> dict[str, Source]:
    """Return a source for each scheme and Qeq; `_by` reads them."""
    return {
        f"{scheme} {q_eq}": Source.of(
            experiment,
            scheme,
            take,
            seeds=_SEEDS,
            settings={**_settings(scheme, q_eq), **(also or {})},
            **{**arguments, **of_q_eq(q_eq)},
        )
        for scheme in schemes
        for q_eq in _QEQ_FRAMES
    }


def _by(data: Data) -> dict[str, list[Sequence[float]]]:
    """Return the values of the seeds by scheme, in the order of Qeq."""
    schemes = dict.fromkeys(name.split()[0] for name in data)
    return {scheme: [data[f"{scheme} {q_eq}"] for q_eq in _QEQ_FRAMES] for scheme in schemes}


def _bars(data: Data, ylabel: str, paper: Paper | None = None, scale: float = 1.0) -> "Figure":
    figure, axis = plt.subplots(figsize=(6.6, 3), layout="constrained")
    _draw_bars(axis, data, ylabel, paper, scale)
    figure.legend(*axis.get_legend_handles_labels(), loc="outside upper right", ncols=4)
    return figure


def _draw_bars(axis: "Axes", data: Data, ylabel: str, paper: Paper | None = None, scale: float = 1.0) -> None:
    values = _by(data)
    width = 0.8 / len(values)
    for i, (scheme, per_q_eq) in enumerate(values.items()):
        at = np.arange(len(_QEQ_FRAMES)) + (i - (len(values) - 1) / 2) * width
        means = np.array([fmean(seeds) for seeds in per_q_eq])
        ends = [(m - min(seeds), max(seeds) - m) for m, seeds in zip(means, per_q_eq, strict=True)]
        reach = np.maximum(ends, 0).T  # equal seeds may leave less than nothing of a rounded mean
        axis.bar(
            at,
            means * scale,
            width=0.9 * width,
            color=_COLOURS[scheme],
            label=_SCHEMES[scheme],
            yerr=reach * scale,
            error_kw={"elinewidth": 0.8, "ecolor": "#555555"},
        )
        if paper:
            label = "paper" if i == 0 else None
            axis.plot(at, paper[scheme], "D", color=REFERENCE, markersize=5, label=label)
    axis.axhline(0, color=REFERENCE, linewidth=0.6)
    axis.set_xticks(range(len(_QEQ_FRAMES)), [str(q_eq) for q_eq in _QEQ_FRAMES])
    axis.set(xlabel="Qeq (frames)", ylabel=ylabel)
    axis.grid(visible=False, axis="x")


def _cr(scheme: str, q_eq: int) -> Source:
    return Source.of("star", scheme, "rate_series", settings=_settings(scheme, q_eq), column="rate_bps", bins=600)


def _rates(data: Data) -> "Figure":
    figure, axis = plt.subplots(figsize=(6.6, 3), layout="constrained")
    for (flow, (time_s, bps)), colour in zip(data["cr"][0].items(), FLOW_COLOURS, strict=False):
        axis.plot(time_s * 1e3, bps / 1e6, color=colour, label=flow.upper(), linewidth=0.9)
    axis.axhline(_FAIR_MBPS, color="black", linewidth=1.6, label="CRmean")
    axis.set(xlabel="time (ms)", ylabel="CR (Mb/s)", ylim=(0, 1040), xlim=(0, 60))
    figure.legend(*axis.get_legend_handles_labels(), loc="outside upper center", ncols=7)
    return figure


@FIGURES.draw("figure-2", cr=_cr("qcn", 25))
def figure_2(data: Data) -> "Figure":
    """CR of the six flows under QCN, Qeq of 25 frames, seed 1. The black line is a sixth of the link."""
    return _rates(data)


@FIGURES.draw("figure-3", cr=_cr("qcn", 75))
def figure_3(data: Data) -> "Figure":
    """CR of the six flows under QCN, Qeq of 75 frames, seed 1."""
    return _rates(data)


@FIGURES.draw("figure-4", cr=_cr("qcn-multicast", 25))
def figure_4(data: Data) -> "Figure":
    """CR of the six flows under enhanced QCN, Qeq of 25 frames, seed 1."""
    return _rates(data)


@FIGURES.draw("figure-5", cr=_cr("qcn-multicast", 75))
def figure_5(data: Data) -> "Figure":
    """CR of the six flows under enhanced QCN, Qeq of 75 frames, seed 1."""
    return _rates(data)


@FIGURES.draw("figure-6", **_all("sources_mean_rate_bps"))
def figure_6(data: Data) -> "Figure":
    """Average CR of the six sources in the star; the line is a sixth of the link. Mean and reach of 20 seeds."""
    figure = _bars(data, "average CR (Mb/s)", scale=1e-6)
    figure.axes[0].axhline(_FAIR_MBPS, color="black", linewidth=1.2, linestyle=":")
    return figure


@FIGURES.draw("figure-7", **_all("feedback_percent"))
def figure_7(data: Data) -> "Figure":
    """Feedback frames over frames sent in the star. Mean and reach of 20 seeds; diamonds: the paper."""
    return _bars(data, "feedback rate (%)", {"qcn": (13.16, 11.98, 3.8), "qcn-multicast": (8.04, 5.63, 2.27)})


@FIGURES.draw("figure-8", **_all("loss_percent"))
def figure_8(data: Data) -> "Figure":
    """Frames lost at both queues over frames sent in the star. Mean and reach of 20 seeds; diamonds: the paper."""
    return _bars(data, "loss rate (%)", {"qcn": (0, 3.15, 26.59), "qcn-multicast": (0, 2.17, 29.98)})


@FIGURES.draw("figure-9", **_all("sources_std_rate_bps"))
def figure_9(data: Data) -> "Figure":
    """Standard deviation of CR in the star, the start included. Mean and reach of 20 seeds; diamonds: the paper."""
    paper = {"qcn": (67.65, 69.48, 43.61), "qcn-multicast": (65.32, 65.19, 58.56)}
    return _bars(data, "StdDev of CR (Mb/s)", paper, scale=1e-6)


@FIGURES.draw("figure-10", **_all("mean_queue_frames", queues=_QUEUES))
def figure_10(data: Data) -> "Figure":
    """Mean length of the two queues in the star; lines mark Qeq. Mean and reach of 20 seeds."""
    figure = _bars(data, "mean queue (frames)")
    for at, q_eq in enumerate(_QEQ_FRAMES):
        figure.axes[0].plot((at - 0.45, at + 0.45), (q_eq, q_eq), color=REFERENCE, linewidth=1, linestyle=":")
    return figure


@FIGURES.draw(
    "figure-11", **_all("deviation_frames", of_q_eq=lambda frames: {"q_eq_frames": float(frames)}, queues=_QUEUES)
)
def figure_11(data: Data) -> "Figure":
    """Mean length of the two queues less Qeq in the star: positive is above Qeq. Mean and reach of 20 seeds."""
    return _bars(data, "deviation (frames)")


@FIGURES.draw("figure-12", **_all("throughput_jain_index"))
def figure_12(data: Data) -> "Figure":
    """Jain's index of the six flows' delivered rates in the star. Mean and reach of 20 seeds."""
    return _fairness(data)


@FIGURES.draw("figure-14", **_all("feedback_percent", "multi-link"))
def figure_14(data: Data) -> "Figure":
    """Feedback over frames sent in the multi-link network. Mean and reach of 20 seeds.

    Diamonds: the paper; for enhanced QCN, QCN's values less the paper's reductions.
    """
    enhanced = (87.92 * 0.59, 89.02 * 0.5877, 4.24 * 0.3986)
    return _bars(data, "feedback rate (%)", {"qcn": (87.92, 89.02, 4.24), "qcn-multicast": enhanced})


@FIGURES.draw("figure-15", **_all("loss_percent", "multi-link"))
def figure_15(data: Data) -> "Figure":
    """Frames lost over frames sent in the multi-link network. Mean and reach of 20 seeds."""
    return _bars(data, "loss rate (%)")


@FIGURES.draw("figure-16", **_all("std_queue_frames", "multi-link", queues=["sw1->sw2"]))
def figure_16(data: Data) -> "Figure":
    """Standard deviation of the queue from switch 1 to switch 2. Mean and reach of 20 seeds."""
    return _bars(data, "queue StdDev (frames)")


@FIGURES.draw("figure-17", **_all("std_queue_frames", "multi-link", queues=["sw2->sw3"]))
def figure_17(data: Data) -> "Figure":
    """Standard deviation of the queue from switch 2 to switch 3. Mean and reach of 20 seeds."""
    return _bars(data, "queue StdDev (frames)")


@FIGURES.draw("figure-18", **_all("std_queue_frames", "multi-link", queues=["sw3->access"]))
def figure_18(data: Data) -> "Figure":
    """Standard deviation of the queue from switch 3 to the receivers. Mean and reach of 20 seeds."""
    return _bars(data, "queue StdDev (frames)")


@FIGURES.draw("figure-19", **_all("throughput_jain_index", "multi-link", flows=[f"g1s{i}" for i in range(1, 7)]))
def figure_19(data: Data) -> "Figure":
    """Jain's index of the delivered rates of G1's six flows. Mean and reach of 20 seeds."""
    return _fairness(data)


@FIGURES.draw("figure-20", **_all("throughput_jain_index", "multi-link", flows=[f"g2s{i}" for i in range(1, 7)]))
def figure_20(data: Data) -> "Figure":
    """Jain's index of the delivered rates of G2's six flows. Mean and reach of 20 seeds."""
    return _fairness(data)


@FIGURES.draw("figure-21", **_all("throughput_jain_index", "multi-link", flows=[f"g3s{i}" for i in range(1, 7)]))
def figure_21(data: Data) -> "Figure":
    """Jain's index of the delivered rates of G3's six flows. Mean and reach of 20 seeds."""
    return _fairness(data)


@FIGURES.draw(
    "beyond-lock-up",
    enhanced=Source.of("longer-star", "qcn-multicast", "locked", settings=_settings("qcn-multicast", 25)),
    qcn=Source.of("longer-star", "qcn", "queue_lengths", settings=_settings("qcn", 25), queues=_QUEUES[:1]),
)
def beyond_lock_up(data: Data) -> "Figure":
    """A second with Qeq of 25 frames, seed 1: R1's queue, and the values that enhanced QCN saves; dotted: 63."""
    figure, axes = plt.subplots(2, 1, figsize=(6.6, 4.6), layout="constrained", sharex=True)
    seen = data["enhanced"][0]
    for scheme, (time_s, octets) in (("qcn-multicast", seen["queue"]), ("qcn", data["qcn"][0][_QUEUES[0]])):
        axes[0].plot(time_s, octets / _FRAME_OCTETS, color=_COLOURS[scheme], label=_SCHEMES[scheme], linewidth=0.9)
    axes[0].set(ylabel="queue (frames)", ylim=(0, 104))
    for (flow, (time_s, saved)), colour in zip(seen["saved"].items(), FLOW_COLOURS, strict=False):
        axes[1].plot(time_s, saved, color=colour, label=flow.upper())
    axes[1].axhline(63, color=REFERENCE, linewidth=0.8, linestyle=":")
    axes[1].set(xlabel="time (s)", ylabel="saved |Fb|", ylim=(0, 66), xlim=(0, 1))
    for axis, columns in zip(axes, (2, 6), strict=True):
        axis.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=columns)
    return figure


@FIGURES.draw(
    "beyond-bs",
    **{
        f"{experiment} {take} {name}": source
        for experiment in ("star", "multi-link")
        for take in ("feedback_percent", "loss_percent")
        for name, source in _all(take, experiment, tuple(_SCHEMES)).items()
    },
)
def beyond_bs(data: Data) -> "Figure":
    """QCN/BS beside the paper's two schemes: the star, and the multi-link network below. Mean and reach of 20 seeds."""
    figure, axes = plt.subplots(2, 2, figsize=(6.6, 5), layout="constrained")
    for row, experiment in zip(axes, ("star", "multi-link"), strict=True):
        for axis, (take, ylabel) in zip(row, _SHARES.items(), strict=True):
            _draw_bars(axis, _part(data, f"{experiment} {take} "), ylabel)
            axis.set_title(experiment)
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure


@FIGURES.draw(
    "beyond-links",
    **{
        f"{take} {name}": source
        for take in ("feedback_percent", "loss_percent")
        for name, source in _all(take, also={"topology.graph.link.7.rate": "800 Mbps"}).items()
    },
)
def beyond_links(data: Data) -> "Figure":
    """The star with a link of 0.8 Gb/s to R2. Mean and reach of 20 seeds."""
    figure, axes = plt.subplots(1, 2, figsize=(6.6, 3), layout="constrained")
    for axis, (take, ylabel) in zip(axes, _SHARES.items(), strict=True):
        _draw_bars(axis, _part(data, f"{take} "), ylabel)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure


def _part(data: Data, prefix: str) -> Data:
    return {name.removeprefix(prefix): values for name, values in data.items() if name.startswith(prefix)}


def _fairness(data: Data) -> "Figure":
    figure = _bars(data, "fairness index")
    figure.axes[0].set_ylim(0, 1.05)
    return figure
