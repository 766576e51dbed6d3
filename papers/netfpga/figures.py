"""The figures of the paper in its own axes, queue size and utilisation over time, and some that it does not show."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import FuncFormatter, NullFormatter
from penstock.figures.style import CROWD, QUEUE_COLOURS, REFERENCE
from penstock.metrics.samples import wasserstein
from penstock.reproduction.drawing import Data, Draw, Figures, Source
from penstock.reproduction.plan import Setting

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

FIGURES = Figures()

_MODELS = {"hardware": QUEUE_COLOURS[0], "simulator": QUEUE_COLOURS[1]}
_COUNTS = {"one": "1 source", "eight": "8 sources"}
_STYLES = {"one": "-", "eight": "--"}
_RTTS_US = (100, 500, 1000)
_CASES = {f"{kind}-{rtt}": (kind, rtt) for kind in _COUNTS for rtt in _RTTS_US}
_Q_EQ_KB = 33
_BUFFER_KB = 150
_TEN = tuple(range(1, 11))
_THREE = (1, 2, 3)


def _at(rtt_us: int, more: Mapping[str, Setting] | None = None) -> dict[str, Setting]:
    """Return the settings of a round-trip time; the experiments themselves have 100 us."""
    delay = f"{rtt_us // 2} us" if rtt_us < 2000 else f"{rtt_us // 2000} ms"
    return {**({} if rtt_us == 100 else {"topology.star.link_delay": delay}), **(more or {})}


def _course(model: str, kind: str, rtt_us: int, more: Mapping[str, Setting] | None = None, **window: Any) -> Source:
    return Source.of(f"{model}-{kind}", "qcn", "course", settings=_at(rtt_us, more), **window)


def _course_figure(kind: str, rtt_us: int) -> Draw:
    def draw(data: Data) -> "Figure":
        figure, axes = plt.subplots(2, 2, figsize=(6.6, 4.2), sharex=True, sharey="row", layout="constrained")
        for column, (letter, model) in enumerate(zip("ab", _MODELS, strict=True)):
            (course,) = data[model]
            queue, used = axes[0][column], axes[1][column]
            queue.plot(course["time_s"], course["kilooctets"], color=QUEUE_COLOURS[0], linewidth=0.8)
            queue.axhline(_Q_EQ_KB, color=REFERENCE, linewidth=0.8, linestyle=":")
            queue.set_title(f"({letter}) {model}")
            used.plot(course["used_time_s"], 100 * course["used"], color=QUEUE_COLOURS[2], linewidth=0.9)
            used.set_xlabel("time (s)")
        axes[0][0].set(ylabel="queue size (KB)", ylim=(0, 1.04 * _BUFFER_KB), xlim=(0, 10))
        axes[1][0].set(ylabel="utilization (%)", ylim=(0, 104))
        return figure

    draw.__doc__ = f"""{_COUNTS[kind]}, {rtt_us} us RTT, seed 1: the queue, of each 10 ms the shortest and the longest,
    dotted Qeq; the share of the service rate that is used, over 20 ms. It is 0.95 Gb/s, from 2.3 to 6 s 0.2 Gb/s.
    """
    return draw


for _number, (_kind, _rtt_us) in enumerate(_CASES.values(), start=8):
    FIGURES.draw(f"figure-{_number}", **{model: _course(model, _kind, _rtt_us) for model in _MODELS})(
        _course_figure(_kind, _rtt_us)
    )


@FIGURES.draw(
    "all-cases",
    **{
        f"{model}-{case}": Source.of(f"{model}-{kind}", "qcn", "lengths", seeds=_TEN, settings=_at(rtt))
        for model in _MODELS
        for case, (kind, rtt) in _CASES.items()
    },
)
def all_cases(data: Data) -> "Figure":
    """Distance of the distributions of queue lengths, mean of 10 seeds.

    Dots: hardware and simulator with the same seed. Bars: two seeds of the simulator. Dotted: our bounds, for periods
    at rest and for the seconds after a change of the service rate.
    """
    periods = ("before", "drop", "low", "rise", "after")
    figure, axes = plt.subplots(2, 3, figsize=(6.6, 4.2), sharex=True, sharey=True, layout="constrained")
    for axis, (case, (kind, rtt)) in zip(axes.flat, _CASES.items(), strict=True):
        hardware, simulator = (data[f"{model}-{case}"] for model in _MODELS)
        following = [*simulator[1:], simulator[0]]
        axis.bar(periods, _distances(simulator, following, periods), width=0.5, color="#cccccc", label="two seeds")
        axis.plot(periods, _distances(hardware, simulator, periods), "o", color=CROWD, label="two models")
        for i, period in enumerate(periods):
            bound = 7.5 if period in ("drop", "rise") else 3.3
            axis.plot((i - 0.4, i + 0.4), (bound, bound), color=REFERENCE, linewidth=0.8, linestyle=":")
        axis.set_title(f"{_COUNTS[kind]}, {rtt} us")
        axis.tick_params(axis="x", rotation=35)
    axes[0][0].set(ylim=(0, 10))
    axes[0][0].legend(loc="upper right", ncols=2, columnspacing=0.8, handletextpad=0.4)
    figure.supylabel("distance (frames of 1000 octets)", fontsize=9.5)
    return figure


_FEATURES: dict[str, dict[str, Setting]] = {
    "both": {},
    "without Extra Fast Recovery": {"schemes.qcn.efr": "off"},
    "without Target Rate Reduction": {"schemes.qcn.trr": "off"},
}


@FIGURES.draw(
    "sudden-drop",
    **{
        f"{kind}: {label}": _course("hardware", kind, 1000, more, from_s=2.25, to_s=2.8)
        for kind in _COUNTS
        for label, more in _FEATURES.items()
    },
)
def sudden_drop(data: Data) -> "Figure":
    """Hardware model, 1000 us RTT, seed 1: the drop of the service rate, with both features and without one."""
    figure, axes = plt.subplots(2, 2, figsize=(6.6, 4.4), sharex=True, sharey="row", layout="constrained")
    for column, (kind, count) in enumerate(_COUNTS.items()):
        for label, colour in zip(_FEATURES, QUEUE_COLOURS, strict=False):
            (course,) = data[f"{kind}: {label}"]
            axes[0][column].plot(course["time_s"], course["kilooctets"], color=colour, label=label)
            axes[1][column].plot(course["used_time_s"], 100 * course["used"], color=colour, label=label)
        axes[0][column].axhline(_Q_EQ_KB, color=REFERENCE, linewidth=0.8, linestyle=":")
        axes[0][column].set_title(count)
        axes[1][column].set_xlabel("time (s)")
    axes[0][0].set(ylabel="queue size (KB)", ylim=(0, 1.04 * _BUFFER_KB))
    axes[1][0].set(ylabel="utilization (%)", ylim=(0, 104))
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


@FIGURES.draw(
    "timer",
    **{
        f"{kind}: {label}": _course("hardware", kind, 100, more, from_s=5.9, to_s=8.5)
        for kind in _COUNTS
        for label, more in {"with timer": {}, "without": {"schemes.qcn.timer_on": False}}.items()
    },
)
def timer(data: Data) -> "Figure":
    """Hardware model, 100 us RTT, seed 1: how the link fills when the service rate returns at 6 s."""
    figure, axes = plt.subplots(1, 2, figsize=(6.6, 2.8), sharey=True, layout="constrained")
    for axis, (kind, count) in zip(axes, _COUNTS.items(), strict=True):
        for label, colour in zip(("with timer", "without"), QUEUE_COLOURS, strict=False):
            (course,) = data[f"{kind}: {label}"]
            axis.plot(course["used_time_s"], 100 * course["used"], color=colour, label=label)
        axis.set(title=count, xlabel="time (s)")
    axes[0].set(ylabel="utilization (%)", ylim=(0, 104))
    axes[0].legend(loc="lower right")
    return figure


_SOURCES = dict(enumerate(("one", "two", "three", "four", "five", "six", "seven", "eight"), start=1))


def _simulated(number: int) -> Source:
    if number == 1:
        return _periods("simulator", "one", 100)
    return _periods("simulator", "eight", 100, {} if number == 8 else {"flow.0.from": f"h0..h{number - 1}"})


def _periods(model: str, kind: str, rtt_us: int, more: Mapping[str, Setting] | None = None) -> Source:
    return Source.of(f"{model}-{kind}", "qcn", "periods", seeds=_THREE, settings=_at(rtt_us, more))


@FIGURES.draw(
    "other-sources",
    **{f"hardware {number}": _periods("hardware", word, 100) for number, word in _SOURCES.items()},
    **{f"simulator {number}": _simulated(number) for number in _SOURCES},
)
def other_sources(data: Data) -> "Figure":
    """100 us RTT, mean of 3 seeds: the queue at rest, and how much of the link is used in the second after the rise."""
    figure, (queue, used) = plt.subplots(1, 2, figsize=(6.6, 3), layout="constrained")
    for model, colour in _MODELS.items():
        for period, style in (("before", "-"), ("low", "--")):
            heights = [_mean(data[f"{model} {number}"], period, "kilooctets") for number in _SOURCES]
            queue.plot([*_SOURCES], heights, style, marker="o", markersize=3, color=colour, label=f"{model}, {period}")
        shares = [100 * _mean(data[f"{model} {number}"], "rise", "used") for number in _SOURCES]
        used.plot([*_SOURCES], shares, marker="o", markersize=3, color=colour, label=model)
    queue.axhline(_Q_EQ_KB, color=REFERENCE, linewidth=0.8, linestyle=":")
    queue.set(xlabel="sources", ylabel="mean queue size (KB)", ylim=(0, 75))
    queue.legend(loc="upper left")
    used.set(xlabel="sources", ylabel="utilization after the rise (%)", ylim=(0, 104))
    used.legend(loc="lower right")
    return figure


_MORE_RTTS_US = (100, 250, 500, 1000, 2000, 4000, 16_000, 64_000)


@FIGURES.draw(
    "other-rtts",
    **{
        f"{model} {kind} {rtt}": _periods(model, kind, rtt)
        for model in _MODELS
        for kind in _COUNTS
        for rtt in _MORE_RTTS_US
    },
)
def other_rtts(data: Data) -> "Figure":
    """Queue and utilisation at rest at 0.95 Gb/s, mean of 3 seeds; shaded the range of the paper, 100 to 1000 us.

    Its delay line goes to 64 ms.
    """
    figure, axes = plt.subplots(1, 2, figsize=(6.6, 3), layout="constrained")
    _against(axes, data, _MORE_RTTS_US, "before", _MORE_RTTS_US)
    for axis in axes:
        axis.axvspan(100, 1000, color="#eeeeee", zorder=0)
        axis.set(xscale="log", xlabel="round-trip time (us)")
        _plain(axis.xaxis)
    axes[0].set(ylabel="mean queue size (KB)", ylim=(0, 75))
    axes[1].set(ylabel="utilization (%)", ylim=(0, 104))
    return figure


_RATES_MBPS = (50, 100, 200, 400, 600, 800)


@FIGURES.draw(
    "other-rates",
    **{
        f"{model} {kind} {rate}": _periods(
            model, kind, 100, {} if rate == 200 else {"change.1.rate": f"{rate / 1000:g} Gbps"}
        )
        for model in _MODELS
        for kind in _COUNTS
        for rate in _RATES_MBPS
    },
)
def other_rates(data: Data) -> "Figure":
    """100 us RTT, mean of 3 seeds: the queue at the low rate, and the use of the link in the second after the rise.

    The paper reports a low rate of 0.2 Gb/s.
    """
    figure, axes = plt.subplots(1, 2, figsize=(6.6, 3), layout="constrained")
    _against(axes, data, [rate / 1000 for rate in _RATES_MBPS], "low", _RATES_MBPS, "rise")
    for axis in axes:
        axis.set(xlabel="low service rate (Gb/s)", xlim=(0, 0.85))
    axes[0].set(ylabel="mean queue size (KB)", ylim=(0, 104))
    axes[1].set(ylabel="utilization after the rise (%)", ylim=(0, 104))
    return figure


# Connections of TCP over four fabrics. A setting of PFC, at its default, turns it on.
_TCP = {"newreno": QUEUE_COLOURS[0], "cubic": QUEUE_COLOURS[1], "dctcp": QUEUE_COLOURS[2]}
_TCP_NAMES = {"newreno": "NewReno", "cubic": "CUBIC", "dctcp": "DCTCP"}
# Most figures have two: CUBIC is as NewReno in them.
_TWO = {name: _TCP[name] for name in ("newreno", "dctcp")}
_PFC: dict[str, Setting] = {"pfc.quanta": 65_535, "pfc.response": "0 s"}
_FABRICS: dict[str, tuple[str, dict[str, Setting]]] = {
    "none": ("none", {}),
    "QCN": ("qcn", {}),
    "PFC": ("none", _PFC),
    "QCN and PFC": ("qcn", _PFC),
}
_MARKS: dict[str, Setting] = {"network.ecn_threshold": "30 KB"}


def _tcp(experiment: str, fabric: str, tcp: str, metric: str, more: Mapping[str, Setting], **rest: Any) -> Source:
    """Return a source of a figure: an experiment over a fabric with one congestion control for all connections."""
    scheme, settings = _FABRICS[fabric]
    tables = {"tcp-long": ("flow.0",), "tcp-neighbour": ("flow.0", "flow.1"), "tcp-load": ("load.0",)}[experiment]
    chosen: dict[str, Setting] = {f"{table}.transport.tcp.congestion": tcp for table in tables}
    marks = _MARKS if tcp == "dctcp" else {}
    return Source.of(experiment, scheme, metric, settings={**settings, **marks, **chosen, **more}, **rest)


@FIGURES.draw(
    "beyond-tcp-long",
    **{f"{fabric} {tcp}": _tcp("tcp-long", fabric, tcp, "course", {}) for fabric in _FABRICS for tcp in _TCP},
)
def beyond_tcp_long(data: Data) -> "Figure":
    """8 connections, 100 us, seed 1: the queue, of each 10 ms the shortest and the longest; the link's use (20 ms)."""
    figure, axes = plt.subplots(2, 4, figsize=(9.6, 4.4), sharex=True, sharey="row", layout="constrained")
    for column, fabric in enumerate(_FABRICS):
        queue, used = axes[0][column], axes[1][column]
        for tcp, colour in _TCP.items():
            (course,) = data[f"{fabric} {tcp}"]
            # DCTCP moves within a band that would hide the others.
            drawn: dict[str, Any] = {"color": colour, "linewidth": 0.7, "zorder": 1.5 if tcp == "dctcp" else 2}
            queue.plot(course["time_s"], course["kilooctets"], label=_TCP_NAMES[tcp], **drawn)
            used.plot(course["used_time_s"], 100 * course["used"], color=colour, linewidth=0.9)
        queue.axhline(_Q_EQ_KB, color=REFERENCE, linewidth=0.8, linestyle=":")
        queue.set_title(fabric)
        used.set_xlabel("time (s)")
    axes[0][0].set(ylabel="queue size (KB)", yscale="log", ylim=(5, 2000), xlim=(0, 10), xticks=(0, 3, 6, 9))
    _plain(axes[0][0].yaxis)
    axes[1][0].set(ylabel="utilization (%)", ylim=(0, 104))
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


@FIGURES.draw(
    "beyond-tcp-pfc",
    **{
        f"{fabric} {tcp} {rtt}": _tcp("tcp-long", fabric, tcp, "periods", _at(rtt, {"flow.0.from": "h0"}), seeds=_THREE)
        for fabric in _FABRICS
        for tcp in _TWO
        for rtt in _RTTS_US
    },
)
def beyond_tcp_pfc(data: Data) -> "Figure":
    """1 connection, mean of 3 seeds: the queue before the drop, dotted Qeq, and the use of the link then."""
    figure, axes = plt.subplots(2, 4, figsize=(9.6, 4.6), sharex=True, sharey="row", layout="constrained")
    at = np.arange(len(_RTTS_US))
    for column, fabric in enumerate(_FABRICS):
        for tcp, colour in _TWO.items():
            seeds = [data[f"{fabric} {tcp} {rtt}"] for rtt in _RTTS_US]
            look: dict[str, Any] = {"color": colour, "marker": "o", "markersize": 4, "linestyle": ""}
            offset = 0.22 * (list(_TWO).index(tcp) - 0.5)
            for row, (what, times) in enumerate((("kilooctets", 1), ("used", 100))):
                heights = [times * _mean(of, "before", what) for of in seeds]
                axes[row][column].plot(at + offset, heights, label=_TCP_NAMES[tcp], **look)
        axes[0][column].axhline(_Q_EQ_KB, color=REFERENCE, linewidth=0.8, linestyle=":")
        axes[0][column].set_title(fabric)
        axes[1][column].set_xticks(at, [str(rtt) for rtt in _RTTS_US])
        axes[1][column].set_xlabel("RTT (us)")
    axes[0][0].set(ylabel="mean queue (KB)", yscale="log", ylim=(5, 2000))
    _plain(axes[0][0].yaxis)
    axes[1][0].set(ylabel="utilization (%)", ylim=(60, 102))
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


_LIMITS_KB = (4, 100, 1500)


def _room(kilooctets: int, full: str) -> dict[str, Setting]:
    return {"hosts.transmit_queue.limit": f"{kilooctets} KB", "hosts.transmit_queue.when_full": full}


@FIGURES.draw(
    "beyond-tcp-host-queue",
    **{
        f"{full} {tcp} {limit}": _tcp("tcp-long", "QCN", tcp, "host_queue_octets", _room(limit, full), seeds=_THREE)
        for full in ("wait", "drop")
        for tcp in _TWO
        for limit in _LIMITS_KB
    },
)
def beyond_tcp_host_queue(data: Data) -> "Figure":
    """8 connections over QCN, 100 us, mean of 3 seeds: how much of a connection waits in its host."""
    figure, axes = plt.subplots(1, 2, figsize=(6.6, 3.2), sharey=True, layout="constrained")
    titles = {"wait": "TCP waits where it is full", "drop": "it drops where it is full"}
    for axis, (full, title) in zip(axes, titles.items(), strict=True):
        for tcp, colour in _TWO.items():
            heights = [float(np.mean(data[f"{full} {tcp} {limit}"])) / 1000 for limit in _LIMITS_KB]
            axis.plot(_LIMITS_KB, heights, marker="o", markersize=3, color=colour, label=_TCP_NAMES[tcp])
        axis.plot(_LIMITS_KB, _LIMITS_KB, color=REFERENCE, linewidth=0.8, linestyle=":", label="its limit")
        axis.set(title=title, xlabel="limit of the host's queue (KB)", xscale="log")
        _plain(axis.xaxis)
    axes[0].set(ylabel="mean queue in the host (KB)", yscale="log", ylim=(0.05, 3000))
    _plain(axes[0].yaxis)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


_NEIGHBOURS: dict[str, tuple[str, dict[str, Setting]]] = {
    "none": ("none", {}),
    "PFC": ("PFC", {}),
    "QCN, a reaction\npoint each": ("QCN", {}),
    "QCN, one for\nthe host": ("QCN", {"hosts.reaction_points": "per-host"}),
    "and a queue\nthat drops": ("QCN", {"hosts.reaction_points": "per-host", **_room(100, "drop")}),
}


@FIGURES.draw(
    "beyond-tcp-neighbour",
    **{
        f"{name} {tcp}": _tcp("tcp-neighbour", fabric, tcp, "slowdown", more, seeds=range(1, 6))
        for name, (fabric, more) in _NEIGHBOURS.items()
        for tcp in _TWO
    },
)
def beyond_tcp_neighbour(data: Data) -> "Figure":
    """Mean slowdown of 90 connections of 10 KB from h0 to h1, while h0 also sends into the congested queue; 5 seeds."""
    figure, axis = plt.subplots(figsize=(6.6, 3.2), layout="constrained")
    for i, (tcp, colour) in enumerate(_TWO.items()):
        for j, name in enumerate(_NEIGHBOURS):
            values = data[f"{name} {tcp}"]
            at = np.full(len(values), j + 0.2 * (i - 0.5))
            axis.plot(at, values, "o", color=colour, markersize=4, label=_TCP_NAMES[tcp] if not j else None)
    axis.set_xticks(range(len(_NEIGHBOURS)), list(_NEIGHBOURS))
    axis.set(ylabel="mean slowdown", yscale="log", ylim=(1, 200))
    _plain(axis.yaxis)
    axis.legend(loc="upper right", ncols=2)
    return figure


# QCN and PFC is as QCN here.
_THREE_FABRICS = ("none", "QCN", "PFC")
_SIZES: dict[str, dict[str, Any]] = {
    "all, mean": {"of": "mean"},
    "to 10 KB, p99": {"of": "p99", "most_octets": 10_000},
    "10 to 100 KB, p99": {"of": "p99", "least_octets": 10_001, "most_octets": 100_000},
    "above 10 MB, median": {"of": "p50", "least_octets": 10_000_001},
}


@FIGURES.draw(
    "beyond-tcp-load",
    **{
        f"{title} {fabric} {tcp}": _tcp("tcp-load", fabric, tcp, "slowdown", {}, seeds=_TEN, **size)
        for title, size in _SIZES.items()
        for fabric in _THREE_FABRICS
        for tcp in _TWO
    },
)
def beyond_tcp_load(data: Data) -> "Figure":
    """Sizes of web search, 60 % load, 100 us: slowdown; dots are medians of 10 seeds, lines hold half of them."""
    figure, axes = plt.subplots(1, 4, figsize=(9.6, 3.2), sharey=True, layout="constrained")
    for axis, title in zip(axes, _SIZES, strict=True):
        for i, (tcp, colour) in enumerate(_TWO.items()):
            for j, fabric in enumerate(_THREE_FABRICS):
                values = [value for value in data[f"{title} {fabric} {tcp}"] if value is not None]
                low, middle, high = np.quantile(values, (0.25, 0.5, 0.75))
                at = j + 0.22 * (i - 0.5)
                axis.plot((at, at), (low, high), color=colour, linewidth=1.2)
                axis.plot(at, middle, "o", color=colour, markersize=4, label=_TCP_NAMES[tcp] if not j else None)
        axis.set_title(title)
        axis.set_xticks(range(len(_THREE_FABRICS)), _THREE_FABRICS)
    axes[0].set(ylabel="slowdown", yscale="log", ylim=(1, 300))
    _plain(axes[0].yaxis)
    axes[0].legend(loc="upper right")
    return figure


def _plain(axis: "Axis") -> None:
    """Label a logarithmic axis with plain numbers, at its powers of ten alone."""
    axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axis.set_minor_formatter(NullFormatter())


def _against(
    axes: Sequence["Axes"],
    data: Data,
    at: Sequence[float],
    period: str,
    keys: Sequence[int],
    used_in: str | None = None,
) -> None:
    """Draw mean queue and utilisation of both models and both counts of sources over what varies."""
    for model, colour in _MODELS.items():
        for kind, style in _STYLES.items():
            seeds = [data[f"{model} {kind} {key}"] for key in keys]
            look: dict[str, Any] = {"color": colour, "linestyle": style, "marker": "o", "markersize": 3}
            label = f"{model}, {_COUNTS[kind]}"
            axes[0].plot(at, [_mean(of, period, "kilooctets") for of in seeds], label=label, **look)
            axes[1].plot(at, [100 * _mean(of, used_in or period, "used") for of in seeds], label=label, **look)
    axes[0].axhline(_Q_EQ_KB, color=REFERENCE, linewidth=0.8, linestyle=":")
    axes[0].legend(loc="upper right")


def _mean(seeds: Sequence[Any], period: str, what: str) -> float:
    return float(np.mean([seed[period][what] for seed in seeds]))


def _distances(some: Sequence[Any], others: Sequence[Any], periods: Sequence[str]) -> list[float]:
    """Return for each period the distance of two models' lengths, mean of the seeds."""
    return [
        float(np.mean([wasserstein(a[period], b[period]) for a, b in zip(some, others, strict=True)]))
        for period in periods
    ]
