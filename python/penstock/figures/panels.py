"""One panel each: queue length, utilisation, rates. A panel draws into axes that it is given."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import FuncFormatter, PercentFormatter
from matplotlib.transforms import ScaledTranslation

from penstock.figures.flow_bands import FLOWS_APART, FlowBands, draw_levels
from penstock.figures.series import FlowSeries, QueueSeries, SetPoint, envelope, fair_shares, means, thinned
from penstock.figures.style import DROP, FLOW_COLOURS, QUEUE_COLOURS, REFERENCE, ems, is_narrow

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_HEADROOM = 1.06
"""Top of an axis over the highest value on it."""

Colours = Mapping[str, str]
"""The colour of the line of each name."""


def colours(names: Iterable[str], palette: Sequence[str]) -> Colours:
    """Give each name a colour of the palette, in turn."""
    return dict(zip(dict.fromkeys(names), cycle(palette), strict=False))


def draw_queues(
    axes: "Axes",
    series: list[QueueSeries],
    set_points: Sequence[SetPoint],
    highest_octets: float,
    colour_of: Colours | None = None,
) -> None:
    """Draw the length of queues, their maximum, the lengths that the schemes aim at, and marks where frames were lost.

    ``highest_octets`` is the top of the axis, which several panels may share, as they may share colours.
    """
    colour_of = colour_of or colours((s.name for s in series), QUEUE_COLOURS)
    scale, unit = octets_scale(highest_octets)
    for s in series:
        colour = colour_of[s.name]
        time, length = envelope(s.time_s, s.octets)
        axes.plot(time, length / scale, color=colour, label=s.name, linewidth=0.9)
        # Samples miss peaks that are over before the next.
        known_s = s.warmup_s, max(s.warmup_s, *s.time_s[-1:])
        maximum = [s.max_octets / scale] * 2
        label = "maximum" if s is series[0] else None
        axes.plot(known_s, maximum, color=colour, linewidth=0.9, linestyle=(0, (1, 2)), alpha=0.8, label=label)
    shown_s = max((float(s.time_s[-1]) for s in series if len(s.time_s)), default=0.0)
    for point in set_points:
        held = point.octets / scale
        label = f"set point {held:g} {unit}"
        if point.start_s > 0:
            label += f" from {1000 * point.start_s:g} ms"
        span_s = max(point.start_s, 0.0), min(point.stop_s, shown_s)
        style: dict[str, Any] = {"color": REFERENCE, "linewidth": 1.0, "linestyle": (0, (5, 3)), "label": label}
        if point == SetPoint(point.octets):
            axes.axhline(held, **style)
        else:
            axes.plot(span_s, [held] * 2, **style)
    drops = np.unique(np.concatenate([s.time_s[s.dropped > 0] for s in series] or [np.empty(0)]))
    if len(drops):
        axes.plot(
            drops,
            np.full(len(drops), 1.02),
            "|",
            color=DROP,
            markersize=7,
            transform=axes.get_xaxis_transform(),
            clip_on=False,
            label="frames dropped",
        )
    axes.set_ylabel(f"queue length ({unit})")
    axes.set_ylim(0, _HEADROOM * highest_octets / scale or None)


def draw_utilization(axes: "Axes", series: list[QueueSeries]) -> None:
    """Draw how much of its scheduled rate each queue's link carries."""
    for s, colour in zip(series, QUEUE_COLOURS, strict=False):
        time, utilization = means(s.time_s, s.utilization)
        axes.plot(time, utilization, color=colour, label=s.name, linewidth=1.2)
    axes.set_ylabel("link utilisation")
    axes.set_ylim(0, 1.06)
    axes.yaxis.set_major_formatter(PercentFormatter(xmax=1, decimals=0))


def draw_rates(
    axes: "Axes", series: Sequence[FlowSeries], highest_bps: float | None = None, colour_of: Colours | None = None
) -> None:
    """Draw what flows deliver, and the max-min fair shares, dashed: a line a flow, or the spread of many.

    ``highest_bps`` is the top of the axis, which several panels may share, as they may share colours; by default that
    of :func:`top_bps`.
    """
    shared = colour_of is not None
    crowd = FlowBands(series) if len(series) > FLOWS_APART else None
    if highest_bps is None:
        highest_bps = crowd.highest_bps if crowd is not None else top_bps(series)
    scale, unit = rate_scale(highest_bps)
    if crowd is None:
        colour_of = colour_of or colours((s.name for s in series), FLOW_COLOURS)
        for s in series:
            time, rate = thinned(s)
            axes.plot(time, rate / scale, color=colour_of[s.name], label=s.name, linewidth=1.0)
        draw_levels(axes, fair_shares(series), scale)
    else:
        crowd.draw(axes, highest_bps, scale, shared=shared)
    axes.set_ylabel(f"delivered rate ({unit})")
    axes.set_ylim(0, _HEADROOM * highest_bps / scale or None)


def rate_scale(highest_bps: float) -> tuple[float, str]:
    """Return the unit that suits an axis of such rates: how many bit/s it is, and its name."""
    return (1e9, "Gb/s") if highest_bps >= 2e9 else (1e6, "Mb/s") if highest_bps >= 2e6 else (1e3, "kb/s")


def octets_scale(highest_octets: float) -> tuple[float, str]:
    """Return the unit that suits an axis of this many octets: how many octets it is, and its name."""
    return (1e6, "MB") if highest_octets >= 2e6 else (1e3, "KB") if highest_octets >= 2e3 else (1.0, "octets")


def top_octets(series: list[QueueSeries], set_points: Sequence[SetPoint]) -> float:
    """Return how high the axis of a queue panel must reach, octets."""
    longest = [float(max(s.octets.max(), s.max_octets)) for s in series if len(s.octets)]
    return max([*longest, *(point.octets for point in set_points)], default=0.0)


def top_bps(series: Sequence[FlowSeries]) -> float:
    """Return how high the axis of a rate panel must reach, bit/s.

    A share that lasts for a moment, while a flow is the first to start, may leave the panel: it would flatten the rest.
    """
    if len(series) > FLOWS_APART:
        return FlowBands(series).highest_bps
    active = [s for s in series if len(s.time_s)]
    return max([float(max(thinned(s)[1].max(), np.quantile(s.fair_bps, 0.98))) for s in active], default=0.0)


def time_axis(axes: "Axes", duration_s: float) -> None:
    """Label the time axis, in the unit that suits the length of the run."""
    factor, unit = (1, "s") if duration_s >= 1 else (1e3, "ms") if duration_s >= 1e-3 else (1e6, "µs")
    axes.set_xlim(0, duration_s)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value * factor:g}"))
    axes.set_xlabel(f"time ({unit})")


def legend(axes: "Axes", also: Iterable["Axes"] = ()) -> None:
    """Explain the lines of a panel on its right, and those that only the panels ``also`` beside it have."""
    words: dict[str, Artist] = {}
    for panel in (axes, *also):
        for artist, word in zip(*panel.get_legend_handles_labels(), strict=True):
            words.setdefault(word, artist)
    figure = axes.get_figure(root=True)
    settings: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.005, 1.03)}
    if figure is not None and is_narrow(figure):
        settings = {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": columns(figure, list(words), 6)}
        # Above the marks of drops.
        settings["bbox_transform"] = axes.transAxes + ScaledTranslation(0, 7 / 72, figure.dpi_scale_trans)
        settings |= {"columnspacing": 1.0, "handletextpad": 0.5, "labelspacing": 0.25}
    axes.legend(words.values(), words.keys(), borderaxespad=0, handlelength=1.6, **settings)


def columns(figure: "Figure", words: Sequence[str], most: int) -> int:
    """Return in how many columns explanations fit on a figure, at most ``most``."""
    room = 0.9 * ems(figure)
    for count in range(min(most, len(words)), 1, -1):
        # Matplotlib fills one column after the other, and each is as wide as its longest word. A letter takes half
        # an em and more, a line and its distance four.
        ends = np.cumsum([len(part) for part in np.array_split(np.arange(len(words)), count)])
        starts = [0, *ends[:-1]]
        if sum(4 + 0.58 * max(map(len, words[a:b])) for a, b in zip(starts, ends, strict=True)) <= room:
            return count
    return 1
