"""The figures of the paper in its own axes: queue in KB over time in s, sampled every millisecond; rates in Mb/s."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
from penstock.figures.style import FLOW_COLOURS, QUEUE_COLOURS, REFERENCE
from penstock.reproduction.drawing import Data, Figures, Source

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FIGURES = Figures()

_C1, _C2, _PORT = "sw0->sw1", "sw1->sw2", "leaf0->h0"
_TARGET_KB = 64
_BUFFER_KB = 128
_FAIR_BPS = 1e9 / 3
_POINTS = 4000
_TEN = tuple(range(1, 11))
_SMALL_T = {"schemes.qcn.rpg_byte_reset": "30 KB"}
_TWO_STAGES = {"schemes.smcc.two_stage": True}
_EFR = {"schemes.qcn.efr": "byte-stage"}
_PAIRS = ((256, 64), (256, 32), (64, 64), (64, 32))
_SMCC, _QCN, _OTHER = QUEUE_COLOURS[0], QUEUE_COLOURS[1], QUEUE_COLOURS[2]


def _queue(
    experiment: str,
    scheme: str,
    settings: dict[str, Any] | None = None,
    queues: Sequence[str] = (_C1,),
    **window: Any,
) -> Source:
    return Source.of(
        experiment, scheme, "queue_lengths", settings=settings, queues=list(queues), points=_POINTS, **window
    )


def _background(rate: int) -> dict[str, Any]:
    # The experiment's own rate is not set, so that the run is that of figure 5's network.
    return {} if rate == 500 else {"flow.2.rate": f"{rate} Mbps"}


@FIGURES.draw(
    "figure-5",
    large=_queue("background", "qcn", to_s=4.0),
    small=_queue("background", "qcn", _SMALL_T, from_s=4.0),
    large_all=Source.of("background", "qcn", "queue_distribution", seeds=range(1, 9), queue=_C1, to_s=4.0),
    small_all=Source.of(
        "background", "qcn", "queue_distribution", seeds=range(1, 9), settings=_SMALL_T, queue=_C1, from_s=4.0
    ),
)
def figure_5(data: Data) -> "Figure":
    """QCN: (a) queue, T of 150 KB up to 4 s and 30 KB from there, two runs joined, seed 1; (b) CDF of eight seeds."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(6.8, 3), width_ratios=(2.2, 1), layout="constrained")
    for part in (data["large"][0], data["small"][0]):
        _line(left, part[_C1], _QCN)
    for at_s, label in ((0, "T 150 KB"), (2, "500 Mb/s taken"), (4, "T 30 KB"), (6, "500 Mb/s back")):
        left.axvline(at_s, color=REFERENCE, linewidth=0.6)
        left.text(at_s + 0.08, 142, label, fontsize=7.5, va="center")
    _axes(left, 8, title="(a)")
    left.set_ylim(0, 150)
    _mean_cdf(right, [*data["large_all"], *data["small_all"]], _QCN, None)
    right.set(title="(b)", xlabel="queue (KB)", ylabel="CDF", xlim=(-2, 130), ylim=(0, 1.02))
    return figure


@FIGURES.draw(
    "figure-15",
    **{
        f"{ra}-{rb}": _queue(
            "three-sources", "smcc", {"schemes.smcc.ra": f"{ra} Mbps", "schemes.smcc.rb": f"{rb} Mbps"}, to_s=2.0
        )
        for ra, rb in _PAIRS
    },
)
def figure_15(data: Data) -> "Figure":
    """SMCC, three sources, four pairs of Ra and Rb, seed 1. The paper's queue with Ra = 64 stays at 48 KB (dashed)."""
    figure, axes = plt.subplots(2, 2, figsize=(6.8, 4.2), sharex=True, sharey=True, layout="constrained")
    for axis, (ra, rb) in zip(axes.flat, _PAIRS, strict=True):
        _line(axis, data[f"{ra}-{rb}"][0][_C1], _SMCC)
        _axes(axis, 2, title=f"Ra = {ra}, Rb = {rb}")
        if ra == 64:
            axis.axhline(48, color=REFERENCE, linewidth=0.9, linestyle="--")
    _outer(axes)
    return figure


@FIGURES.draw(
    "figure-16",
    smcc=Source.of("three-sources", "smcc", "queue_distribution", seeds=range(1, 11), queue=_C1, to_s=2.0),
    qcn=Source.of("three-sources", "qcn", "queue_distribution", seeds=range(1, 11), queue=_C1, to_s=2.0),
)
def figure_16(data: Data) -> "Figure":
    """CDF of the queue length over 2 s, the start included, of ten seeds each: SMCC with Ra = 256, Rb = 64, and QCN."""
    figure, axis = plt.subplots(figsize=(6.6, 3), layout="constrained")
    _mean_cdf(axis, data["smcc"], _SMCC, "SMCC")
    _mean_cdf(axis, data["qcn"], _QCN, "QCN")
    axis.axvline(_TARGET_KB, color=REFERENCE, linewidth=0.8, linestyle=":")
    axis.set(xlabel="queue (KB)", ylabel="CDF", xlim=(-2, 130), ylim=(0, 1.02))
    axis.legend(loc="center left")
    return figure


@FIGURES.draw(
    "figure-17",
    rates=Source.of("three-sources", "smcc", "rate_series", seeds=_TEN, column="rate_bps", bins=400),
)
def figure_17(data: Data) -> "Figure":
    """SMCC, Ra = 256, Rb = 64: the rate that each source is allowed. Dotted: the fair share.

    Of ten seeds the one in which the sources come nearest to it in the last 2 s, and the one in which they are farthest
    from it.
    """
    figure, axes = plt.subplots(1, 2, figsize=(6.8, 3), sharey=True, layout="constrained")
    nearest_first = sorted(zip(_TEN, data["rates"], strict=False), key=lambda drawn: _farthest_bps(drawn[1]))
    for axis, (seed, rates) in zip(axes, (nearest_first[0], nearest_first[-1]), strict=True):
        for (name, (time_s, bps)), colour in zip(rates.items(), FLOW_COLOURS, strict=False):
            axis.plot(time_s, bps / 1e6, color=colour, label=name.upper())
        axis.axhline(_FAIR_BPS / 1e6, color=REFERENCE, linewidth=0.8, linestyle=":")
        axis.set(title=f"seed {seed}", xlabel="time (s)", xlim=(0, 8), ylim=(0, 1080))
    axes[0].set_ylabel("sending rate (Mb/s)")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper right", ncols=3)
    return figure


@FIGURES.draw("figure-18", **{f"g{rate}": _queue("background", "smcc", _background(rate)) for rate in (500, 750, 875)})
def figure_18(data: Data) -> "Figure":
    """SMCC, two sources, and from 2 s to 6 s traffic of G Mb/s that nothing controls; seed 1."""
    figure, axes = plt.subplots(3, 1, figsize=(6.8, 5), sharex=True, sharey=True, layout="constrained")
    for axis, rate in zip(axes, (500, 750, 875), strict=True):
        _line(axis, data[f"g{rate}"][0][_C1], _SMCC)
        _axes(axis, 8, title=f"G = {rate}")
    _outer(axes[:, None])
    return figure


@FIGURES.draw("figure-19", two=_queue("background-875", "smcc", _TWO_STAGES), one=_queue("background-875", "smcc"))
def figure_19(data: Data) -> "Figure":
    """SMCC, two sources, traffic of 875 Mb/s from 1 s on, seed 1. Top: two stages, the paper's figure. Bottom: one."""
    figure, axes = plt.subplots(2, 1, figsize=(6.8, 3.8), sharex=True, sharey=True, layout="constrained")
    for axis, name, title in zip(axes, ("two", "one"), ("two stages", "one stage, for comparison"), strict=True):
        _line(axis, data[name][0][_C1], _SMCC)
        _axes(axis, 5, title=title)
    _outer(axes[:, None])
    return figure


@FIGURES.draw(
    "figure-20",
    smcc=_queue("parking-lot-1", "smcc", queues=(_C1, _C2)),
    qcn=_queue("parking-lot-1", "qcn", _SMALL_T, queues=(_C1, _C2)),
)
def figure_20(data: Data) -> "Figure":
    """Parking lot, pattern I: 500 Mb/s of C1 up to 2 s, then of C2; QCN with T of 30 KB; seed 1."""
    return _parking_lot(data, 4)


@FIGURES.draw(
    "figure-21",
    smcc=_queue("parking-lot-2", "smcc", queues=(_C1, _C2)),
    qcn=_queue("parking-lot-2", "qcn", _SMALL_T, queues=(_C1, _C2)),
)
def figure_21(data: Data) -> "Figure":
    """Parking lot, pattern II: 500 Mb/s of C1 from 1 to 3 s, then 750 Mb/s of C2; QCN with T of 30 KB; seed 1."""
    return _parking_lot(data, 5)


@FIGURES.draw(
    "figure-22",
    two=_queue("parking-lot-2", "smcc", {**_TWO_STAGES, "schemes.smcc.rb": "32 Mbps"}, queues=(_C1, _C2)),
)
def figure_22(data: Data) -> "Figure":
    """Parking lot, pattern II, SMCC with two stages: T1 = 8 KB, Rlarge = 256, Rsmall = 128, Rb = 32; seed 1."""
    figure, axis = plt.subplots(figsize=(6.8, 2.6), layout="constrained")
    _both_links(axis, data["two"][0])
    _axes(axis, 5)
    axis.legend(loc="upper right", ncols=2)
    return figure


@FIGURES.draw(
    "figure-23",
    long_smcc=_queue("rack-long", "smcc", _TWO_STAGES, queues=(_PORT,)),
    long_qcn=_queue("rack-long", "qcn", queues=(_PORT,)),
    mixed_smcc=_queue("rack-mixed", "smcc", _TWO_STAGES, queues=(_PORT,)),
    mixed_qcn=_queue("rack-mixed", "qcn", queues=(_PORT,)),
)
def figure_23(data: Data) -> "Figure":
    """Fifteen sources to one port: long flows (left), sizes from 10 kb to 500 Mb, to their end (right); seed 1."""
    figure, axes = plt.subplots(2, 2, figsize=(6.8, 4.2), sharex="col", sharey=True, layout="constrained")
    for column, (kind, end_s) in enumerate((("long", 2), ("mixed", 10))):
        for row, (scheme, colour) in enumerate((("smcc", _SMCC), ("qcn", _QCN))):
            axis = axes[row][column]
            _line(axis, data[f"{kind}_{scheme}"][0][_PORT], colour)
            _axes(
                axis,
                end_s,
                title=f"{scheme.upper()}, {kind} flows" if kind == "long" else f"{scheme.upper()}, mixed sizes",
            )
    _outer(axes)
    return figure


@FIGURES.draw(
    "states",
    **{
        name: Source.of(experiment, scheme, take, settings=settings, queue=_C1, from_s=from_s, to_s=to_s)
        for kind, take in (("plane", "offsets_and_growths"), ("states", "changes_of_state"))
        for name, experiment, scheme, settings, from_s, to_s in (
            (f"{kind}-bcn", "background", "bcn", None, 0.0, 2.0),
            (f"{kind}-qcn", "background", "qcn", None, 2.0, 4.0),
            (f"{kind}-smcc", "background", "smcc", {"flow.2.rate": "875 Mbps"}, 2.0, 4.0),
        )
    },
)
def states(data: Data) -> "Figure":
    """Offset of each sample from the target, and growth until the next; the numbers are the four states; seed 1.

    BCN in the first two seconds, QCN in [2, 4] s of figure 5, SMCC in [2, 4] s of figure 18 with 875 Mb/s.
    """
    figure, axes = plt.subplots(1, 3, figsize=(6.8, 2.7), sharex=True, sharey=True, layout="constrained")
    for axis, scheme, colour in zip(axes, ("bcn", "qcn", "smcc"), (_OTHER, _QCN, _SMCC), strict=True):
        offset, growth = data[f"plane-{scheme}"][0]
        axis.plot(offset / 1e3, growth / 1e3, color=colour, linewidth=0.4, marker=".", markersize=1.5)
        changes = data[f"states-{scheme}"][0][1]
        axis.set(title=f"{scheme.upper()}, {changes} changes", xlabel="offset (KB)")
        axis.axhline(0, color=REFERENCE, linewidth=0.6)
        axis.axvline(0, color=REFERENCE, linewidth=0.6)
        for x, y, state in ((0.94, 0.06, 1), (0.06, 0.06, 2), (0.06, 0.94, 3), (0.94, 0.94, 4)):
            axis.text(x, y, f"({state})", transform=axis.transAxes, ha="center", va="center", fontsize=8.5)
    axes[0].set_ylabel("growth in 1 ms (KB)")
    return figure


@FIGURES.draw(
    "extra-fast-recovery",
    without=_queue("background", "qcn", to_s=4.0),
    with_it=_queue("background", "qcn", _EFR, to_s=4.0),
    smcc=_queue("background", "smcc", to_s=4.0),
)
def extra_fast_recovery(data: Data) -> "Figure":
    """QCN as the paper built it, QCN with Extra Fast Recovery, and SMCC: up to 4 s of figures 5 and 18; seed 1."""
    figure, axes = plt.subplots(3, 1, figsize=(6.8, 4.6), sharex=True, sharey=True, layout="constrained")
    rows = (
        ("without", "QCN of the paper: decrease, Fast Recovery, Active Increase", _QCN),
        ("with_it", "QCN with Extra Fast Recovery", _OTHER),
        ("smcc", "SMCC", _SMCC),
    )
    for axis, (name, title, colour) in zip(axes, rows, strict=True):
        _line(axis, data[name][0][_C1], colour)
        _axes(axis, 4, title=title)
    _outer(axes[:, None])
    return figure


def _farthest_bps(rates: Any) -> float:
    """Return how far the source that is farthest from the fair share is from it, over the last 2 s of 8."""
    return max(abs(float(bps[time_s > 6].mean()) - _FAIR_BPS) for time_s, bps in rates.values())


def _parking_lot(data: Data, end_s: float) -> "Figure":
    figure, axes = plt.subplots(2, 1, figsize=(6.8, 4.4), sharex=True, sharey=True, layout="constrained")
    for axis, scheme in zip(axes, ("qcn", "smcc"), strict=True):
        _both_links(axis, data[scheme][0])
        _axes(axis, end_s, title=scheme.upper())
    _outer(axes[:, None])
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper right", ncols=2)
    return figure


def _both_links(axis: "Axes", queues: Any) -> None:
    for queue, label, colour in ((_C1, "C1", _SMCC), (_C2, "C2", _QCN)):
        _line(axis, queues[queue], colour, label)


def _line(axis: "Axes", series: Any, colour: str, label: str | None = None) -> None:
    time_s, octets = series
    axis.plot(time_s, octets / 1e3, color=colour, linewidth=0.6, label=label)


def _axes(axis: "Axes", end_s: float, title: str = "") -> None:
    axis.axhline(_TARGET_KB, color=REFERENCE, linewidth=0.8, linestyle=":")
    axis.set(title=title, xlabel="time (s)", ylabel="queue (KB)", xlim=(0, end_s), ylim=(-3, _BUFFER_KB + 6))
    axis.set_yticks([0, 32, 64, 96, 128])


def _outer(axes: Any) -> None:
    for axis in axes.flat:
        axis.label_outer()


def _mean_cdf(axis: "Axes", distributions: Sequence[Any], colour: str, label: str | None) -> None:
    """Draw the mean of distribution functions, which is that of all samples together if each has as many."""
    lengths = np.unique(np.concatenate([octets for octets, _ in distributions]))
    shares = np.mean(
        [
            np.concatenate(([0.0], share))[np.searchsorted(octets, lengths, side="right")]
            for octets, share in distributions
        ],
        axis=0,
    )
    axis.step(
        np.concatenate(([-2e3], lengths)) / 1e3,
        np.concatenate(([0.0], shares)),
        where="post",
        color=colour,
        label=label,
    )
