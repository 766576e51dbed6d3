"""A figure for each scheme, beside the run that fails its claims: rates in Gb/s, queues in KB, over time in ms.

The sources have other figures, or have them in texts that are not at hand.
"""

from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
from penstock.figures.style import FLOW_COLOURS, QUEUE_COLOURS, REFERENCE
from penstock.reproduction.drawing import Data, Figures, Source
from penstock.reproduction.plan import Setting

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FIGURES = Figures()

_PATCHED: dict[str, Setting] = {"schemes.timely.law": "patched", "schemes.timely.beta": 0.008}
_FAR: dict[str, Setting] = {"schemes.annulus.end_to_end": "none"}
_MB: dict[str, Setting] = {"topology.star.buffer": "1 MB"}


@FIGURES.draw(
    "annulus",
    without=Source.of("two-distances-bbr", "none", "course", queue="RACK->SPINE"),
    near=Source.of("two-distances-bbr", "annulus", "course", settings=_FAR, queue="RACK->SPINE"),
)
def annulus(data: Data) -> "Figure":
    """The uplink's queue with BBR's far flows, without and with near messages, which begin at 20 ms."""
    return _queues({"without": data["without"][0], "with near messages": data["near"][0]})


@FIGURES.draw(
    "hpcc",
    records=Source.of("incast-hpcc", "hpcc", "course", queue="sw0->h16", to_s=0.001),
    dctcp=Source.of("incast-hpcc", "dctcp", "course", queue="sw0->h16", to_s=0.001),
)
def hpcc(data: Data) -> "Figure":
    """The queue of an incast of sixteen in its first millisecond, with HPCC and with DCTCP."""
    return _queues({"HPCC": data["records"][0], "DCTCP": data["dctcp"][0]})


@FIGURES.draw(
    "rocc",
    rocc=Source.of("incast-rocc", "rocc", "course", settings=_MB, queue="sw0->h8"),
    qcn=Source.of("incast-rocc", "qcn", "course", settings=_MB, queue="sw0->h8"),
)
def rocc(data: Data) -> "Figure":
    """Throughput of eight flows with RoCC and with QCN; each one's fair share is 1.25 Gb/s."""
    return _rates({"RoCC": data["rocc"][0], "QCN": data["qcn"][0]}, most=3)


@FIGURES.draw(
    "dctcp",
    dctcp=Source.of(
        "incast-dctcp", "dctcp", "course", settings={"schemes.dctcp.k": "97500 octets"}, queue="sw0->h2", to_s=0.02
    ),
)
def dctcp(data: Data) -> "Figure":
    """The queue of two flows with DCTCP, and K = 65 segments."""
    figure = _queues({"DCTCP": data["dctcp"][0]})
    figure.axes[0].axhline(97.5, color=REFERENCE, linewidth=0.8, linestyle=":")
    return figure


@FIGURES.draw(
    "timely",
    gradient=Source.of("pair-timely", "timely", "course", settings={"flow.1.start": "5 ms"}, queue="sw0->h2"),
    patched=Source.of(
        "pair-timely", "timely", "course", settings={**_PATCHED, "flow.1.start": "5 ms"}, queue="sw0->h2"
    ),
)
def timely(data: Data) -> "Figure":
    """Throughput of two flows, the second of which begins at 5 ms, with TIMELY and with its patched law."""
    return _rates({"TIMELY": data["gradient"][0], "patched": data["patched"][0]}, most=10.4)


@FIGURES.draw(
    "swift",
    at_20=Source.of(
        "incast-swift", "swift", "delays", settings={"schemes.swift.base_delay_target": "20 us"}, flow="f0"
    ),
    at_60=Source.of(
        "incast-swift", "swift", "delays", settings={"schemes.swift.base_delay_target": "60 us"}, flow="f0"
    ),
)
def swift(data: Data) -> "Figure":
    """The round trip that one of eight sources sees, and its target (dashed), for base targets of 20 and 60 us."""
    figure, axis = plt.subplots(figsize=(6.6, 3), layout="constrained")
    for (base, name), colour in zip((("20 us", "at_20"), ("60 us", "at_60")), FLOW_COLOURS, strict=False):
        time_s, delay_us, target_us = data[name][0]
        axis.plot(time_s * 1e3, delay_us, color=colour, linewidth=0.5, label=base)
        axis.plot(time_s * 1e3, target_us, color=colour, linewidth=1.2, linestyle="--")
    axis.set(xlabel="time (ms)", ylabel="round trip (us)", ylim=(0, None))
    axis.legend(loc="upper right", ncols=2)
    return figure


@FIGURES.draw(
    "isolation",
    ci=Source.of("victim", "ci", "course", queue="edge->incast"),
    pfc=Source.of("victim", "none", "course", settings={"pfc.priorities": "[3]"}, queue="edge->incast"),
)
def isolation(data: Data) -> "Figure":
    """Throughput of the victim of 2 MB and of the incast's flows, with congestion isolation and with pauses alone."""
    return _rates({"congestion isolation": data["ci"][0], "pauses alone": data["pfc"][0]}, most=10.4)


@FIGURES.draw(
    "nscc",
    trims=Source.of("incast-nscc", "nscc", "course", queue="sw0->h16", to_s=0.003),
    many=Source.of("incast-nscc-many", "nscc", "course", queue="sw0->h128", to_s=0.003),
)
def nscc(data: Data) -> "Figure":
    """The queue of incasts of 16 and 128 in their first three milliseconds."""
    return _queues({"16 sources": data["trims"][0], "128 sources": data["many"][0]})


def _queues(runs: dict[str, Any]) -> "Figure":
    figure, axis = plt.subplots(figsize=(6.6, 3), layout="constrained")
    for (name, run), colour in zip(runs.items(), QUEUE_COLOURS, strict=False):
        time_s, octets = run["queue"]
        axis.plot(time_s * 1e3, octets / 1e3, color=colour, label=name, linewidth=0.8)
    axis.set(xlabel="time (ms)", ylabel="queue (KB)", ylim=(0, None))
    axis.legend(loc="upper right")
    return figure


def _rates(runs: dict[str, Any], most: float) -> "Figure":
    figure, axes = plt.subplots(1, len(runs), figsize=(6.6, 3), sharey=True, layout="constrained")
    for axis, (name, run) in zip(axes, runs.items(), strict=True):
        _drawn(axis, run["rates"])
        axis.set(title=name, xlabel="time (ms)", ylim=(0, most))
    axes[0].set_ylabel("throughput (Gb/s)")
    return figure


def _drawn(axis: "Axes", rates: Any) -> None:
    # The first flow, which may be the victim, is drawn last, above the others.
    for index, (time_s, bps) in reversed(list(enumerate(rates.values()))):
        axis.plot(time_s * 1e3, bps / 1e9, color=FLOW_COLOURS[index % len(FLOW_COLOURS)], linewidth=0.8)
