"""The figures of the paper in its own axes: rates in Gb/s and queues in frames over time in s."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
from matplotlib.ticker import MaxNLocator
from penstock.figures.style import FLOW_COLOURS, QUEUE_COLOURS, REFERENCE
from penstock.reproduction.drawing import Data, Figures, Source

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FIGURES = Figures()

_EXPERIMENT = "three-bottlenecks"
_TWENTY = tuple(range(1, 21))
_QEQ_FRAMES = 22
_FRAME_OCTETS = 1500
_LABELS = {"flow1": "flow 1", "flow2": "flow 2", "flow3": "flow 3", "flow4": "flow 4"}
_COLOURS = dict(zip(_LABELS, (FLOW_COLOURS[1], FLOW_COLOURS[0], FLOW_COLOURS[2], FLOW_COLOURS[3]), strict=True))
_SWITCHES = {"sw0->sw1": "sw0", "sw1->sw2": "sw1", "sw2->sw3": "sw2"}


@FIGURES.draw(
    "figure-4",
    qcn=Source.of(_EXPERIMENT, "qcn", "shape", seeds=_TWENTY),
    bs=Source.of(_EXPERIMENT, "qcn-bs", "shape", seeds=_TWENTY),
)
def figure_4(data: Data) -> "Figure":
    """(a) QCN, (b) QCN/BS: rates of the flows, and the three queues. Of 20 seeds, (b) is the best for flow 1."""
    figure, axes = plt.subplots(2, 2, figsize=(6.6, 5.4), sharex=True, sharey="row", layout="constrained")
    best = max(data["bs"], key=lambda seed: seed["ratio"])
    for column, (title, seed) in enumerate((("(a) QCN", data["qcn"][0]), ("(b) QCN/BS", best))):
        _rates(axes[0][column], seed["rates"])
        axes[0][column].set_title(title)
        _queues(axes[1][column], seed["queues"])
    axes[0][0].legend(loc="center right")
    axes[1][0].legend(loc="upper right", ncols=3)
    for axis in axes[:, 1]:
        axis.set_ylabel("")
    return figure


@FIGURES.draw("figure-5", bs=Source.of(_EXPERIMENT, "qcn-bs", "shape", seeds=_TWENTY))
def figure_5(data: Data) -> "Figure":
    """QCN/BS in a seed in which flow 1 is regulated too much: of those below 0.8 among 20, the middle one."""
    return _one(_middle_starved(data["bs"]), "QCN/BS")


@FIGURES.draw("figure-6", seen=Source.of(_EXPERIMENT, "qcn-bs", "queues_seen", seeds=_TWENTY))
def figure_6(data: Data) -> "Figure":
    """Queue length that each flow's frames meet at each switch, under QCN/BS, in the seed of figure 5."""
    seed = _middle_starved(data["seen"])
    figure, axes = plt.subplots(1, 3, figsize=(6.6, 3), sharey=True, layout="constrained")
    for axis, (switch, flows) in zip(axes, seed["seen"].items(), strict=True):
        for flow, (frames, share) in flows.items():
            axis.plot(frames, share, color=_COLOURS[flow], label=_LABELS[flow])
        axis.set(title=switch, xlabel="queue length (frames)", xlim=(0, 40))
        axis.legend(loc="lower right")
    axes[0].set_ylabel("CDF")
    return figure


@FIGURES.draw(
    "figure-7",
    closely=Source.of(_EXPERIMENT, "qcn-bs", "arrivals_closely", seeds=(1,), from_s=2.0, to_s=2.00004),
)
def figure_7(data: Data) -> "Figure":
    """Arrivals at sw1 in 40 us. Behind a busy link frames come in whole slots of 1.2 us; those of flow 3 do not."""
    figure, axis = plt.subplots(figsize=(6.6, 3.2), layout="constrained")
    for (flow, (time_s, frames)), marker in zip(data["closely"][0].items(), "os", strict=True):
        axis.plot((time_s - 2.0) * 1e6, frames, marker, color=_COLOURS[flow], label=_LABELS[flow], markersize=4)
    axis.set(xlabel="time after 2 s (us)", ylabel="queue met (frames)")
    axis.margins(y=0.2)
    axis.yaxis.set_major_locator(MaxNLocator(integer=True))
    axis.legend(loc="upper right", ncols=2)
    return figure


@FIGURES.draw(
    "figure-8",
    bs=Source.of(_EXPERIMENT, "qcn-bs", "shape", seeds=_TWENTY),
    both=Source.of(_EXPERIMENT, "qcn-bs-adaptive", "shape", seeds=_TWENTY),
)
def figure_8(data: Data) -> "Figure":
    """QCN/BS with Adaptive BC_LIMIT, in the seed of figure 5."""
    index = data["bs"].index(_middle_starved(data["bs"]))
    return _one(data["both"][index], "Both", queues=True)


@FIGURES.draw("figure-9", both=Source.of(_EXPERIMENT, "qcn-bs-adaptive", "shape", seeds=_TWENTY))
def figure_9(data: Data) -> "Figure":
    """QCN/BS with Adaptive BC_LIMIT, in the worst seed of 20."""
    return _one(min(data["both"], key=lambda seed: seed["ratio"]), "Both, worst seed")


def _middle_starved(seeds: Sequence[Any]) -> Any:
    """Return the seed whose ratio is the median of those that are not good; the worst if all are good."""
    ranked = sorted(seeds, key=lambda seed: seed["ratio"])
    starved = [seed for seed in ranked if seed["ratio"] < 0.8]
    return starved[len(starved) // 2] if starved else ranked[0]


def _one(seed: Any, title: str, queues: bool = False) -> "Figure":
    rows = 2 if queues else 1
    figure, axes = plt.subplots(rows, 1, figsize=(6.6, 2.7 * rows), sharex=True, squeeze=False, layout="constrained")
    _rates(axes[0][0], seed["rates"])
    axes[0][0].set_title(f"{title}: flow 1 gets {seed['ratio']:.2f} of the others' mean")
    axes[0][0].legend(loc="lower right", ncols=4)
    if queues:
        _queues(axes[1][0], seed["queues"])
        axes[1][0].legend(loc="upper right", ncols=3)
    axes[-1][0].set_xlabel("time (s)")
    return figure


def _rates(axis: "Axes", rates: Any) -> None:
    # Flow 1 is drawn last, above the others.
    for flow, (time_s, bps) in reversed(rates.items()):
        axis.plot(time_s, bps / 1e9, color=_COLOURS[flow], label=_LABELS[flow])
    axis.axhline(5, color=REFERENCE, linewidth=0.8, linestyle=":")
    axis.set(ylabel="rate (Gb/s)", ylim=(0, 10.4))


def _queues(axis: "Axes", queues: Any) -> None:
    for (queue, (time_s, octets)), colour in zip(queues.items(), QUEUE_COLOURS, strict=False):
        axis.plot(time_s, octets / _FRAME_OCTETS, color=colour, label=_SWITCHES[queue], linewidth=0.5)
    axis.axhline(_QEQ_FRAMES, color=REFERENCE, linewidth=0.8, linestyle=":")
    axis.set(xlabel="time (s)", ylabel="queue (frames)", ylim=(0, 104))
