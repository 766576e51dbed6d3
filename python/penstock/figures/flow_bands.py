"""Many flows in one panel: how their rates are spread, a few by name, and each level of the fair share once.

Holds for any number of flows: the number of lines does not grow with them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.figures.series import Flows, FlowSeries, drawn, fair_shares, thinned
from penstock.figures.style import CROWD, FLOW_COLOURS, MEDIAN, REFERENCE
from penstock.quantity_text import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

FLOWS_APART = len(FLOW_COLOURS)
"""The most flows that have a colour each; more are drawn as a crowd."""

_NAMED = 3
"""The most flows that stand out of a crowd, by name."""

_LEVELS_APART = 6
"""The most fair shares at a time that have a line each; of more, the median and the bounds of nine tenths have."""

_MOST_RATES = 2_000_000
"""The most rates of which percentiles are taken: they take a tenth of a second."""

_GRAIN = 0.01
"""Levels that are closer than this part of the panel's height are one, and so are moments of its width."""

DASHES: Any = (0, (4, 2.5))
_DOTS: Any = (0, (1, 1.5))

_NAMED_COLOURS = (FLOW_COLOURS[0], FLOW_COLOURS[2], FLOW_COLOURS[4])


_SPREAD = (5, 25, 50, 75, 95)
"""The percentiles that bound nine tenths and half of the flows, and the median."""


@dataclass(frozen=True)
class NamedFlow:
    """A flow that has a separate line among many, and its label."""

    series: FlowSeries
    word: str
    shared: str
    """The same, where flows of other names stand out in other panels."""


class FlowBands:
    """Flows that are too many for a line each.

    Attributes:
        highest_bps: how high the axis of its panel must reach.
    """

    def __init__(self, series: Sequence[FlowSeries]) -> None:
        self._all = Flows.of(series)
        alone = np.flatnonzero(self._all.alone)
        few = 0 < len(alone) <= _NAMED
        self._named = [NamedFlow(s, s.name, s.name) for s in self._all.chosen(alone)] if few else _extremes(self._all)
        others = self._all.chosen(np.flatnonzero(~self._all.alone)) if few else self._all
        self._flows = len(others)
        sample = _sample(others)
        self._times, rates = _grid(sample)
        self._rates = _spread(rates)
        _, shares = _grid(_sample(self._all), fair=True)
        self._shares = _spread(shares)
        lines = [thinned(one.series)[1] for one in self._named]
        # A share that lasts for a moment would flatten the rest.
        tops = [self._rates[-1], *lines, np.atleast_1d(np.quantile(self._shares[-1], 0.98) if len(self._times) else 0)]
        self.highest_bps = max((float(top.max()) for top in tops if len(top)), default=0.0)

    def draw(self, axes: "Axes", highest_bps: float, scale: float, *, shared: bool) -> None:
        """Draw the spread of rates and of fair shares over time, and the flows that stand out.

        ``highest_bps`` is the top of the panel, ``scale`` its unit, both bit/s. ``shared`` is true where one legend
        explains several panels, in which other flows may stand out.
        """
        if len(self._times):
            low, first, middle, third, high = self._rates / scale
            axes.plot(self._times, middle, color=MEDIAN, linewidth=1.6, label=f"median of {count(self._flows)} flows")
            axes.fill_between(self._times, first, third, color=CROWD, alpha=0.35, linewidth=0, label="half of them")
            axes.fill_between(self._times, low, high, color=CROWD, alpha=0.18, linewidth=0, label="nine tenths")
        for one, colour in zip(self._named, _NAMED_COLOURS, strict=False):
            time, rate = thinned(one.series)
            axes.plot(time, rate / scale, color=colour, label=one.shared if shared else one.word, linewidth=1.1)
        end_s = float(self._times[-1]) if len(self._times) else 0.0
        spans = fair_shares(self._all, _GRAIN * highest_bps, _GRAIN * end_s)
        if _most_at_once(spans) <= _LEVELS_APART:
            draw_levels(axes, spans, scale)
            return
        low, _, middle, _, high = self._shares / scale
        axes.plot(self._times, middle, color=REFERENCE, linestyle=DASHES, linewidth=1.2, label="median fair share")
        for edge, label in ((low, "nine tenths of the shares"), (high, None)):
            axes.plot(self._times, edge, color=REFERENCE, linestyle=_DOTS, linewidth=1.0, label=label)


def draw_levels(axes: "Axes", spans: list[tuple[float, float, float]], scale: float) -> None:
    """Draw levels of the max-min fair share, dashed: from when, until when, and how much (bit/s)."""
    if not spans:
        # The legend names nothing that is not drawn.
        return
    starts, stops, shares = np.array(spans).reshape(-1, 3).T
    style: dict[str, Any] = {"color": REFERENCE, "linestyle": DASHES, "linewidth": 1.2, "zorder": 3}
    axes.hlines(shares / scale, starts, stops, label="max-min fair share", **style)


def _extremes(flows: Flows) -> list[NamedFlow]:
    """Name the flows that got the least and the most of their fair shares."""
    parts = _parts_of_shares(flows)
    known = np.flatnonzero(np.isfinite(parts))
    if len(known) < 2:
        return []
    least, most = known[parts[known].argmin()], known[parts[known].argmax()]
    return [
        NamedFlow(s, f"{s.name}: {word}, {_times(part)} its share", f"flow with {word} of its share")
        for word, part, s in (("least", parts[least], flows[least]), ("most", parts[most], flows[most]))
    ]


def _parts_of_shares(flows: Flows) -> "NDArray[Any]":
    """Return how much of its fair share each flow got while it had one; NaN for one that came and went at once."""
    # A sample covers the time before it.
    time = flows.time_s[:, np.newaxis]
    on = (flows.fair_bps > 0) & (time > 0) & (time <= flows.completed_s)
    got, shares = (np.where(on, rates, 0.0).sum(axis=0) for rates in (flows.throughput_bps, flows.fair_bps))
    enough = on.sum(axis=0) >= max(2, len(flows.time_s) // 20)
    parts: NDArray[Any] = np.divide(got, shares, out=np.full(len(flows), np.nan), where=enough & (shares > 0))
    return parts


def _times(part: float) -> str:
    return f"{part:.3g} times" if part >= 0.995 else f"{100 * part:.2g} % of"


def _sample(flows: Flows) -> Flows:
    """Return all flows, or every n-th if there are many: the drawn percentiles do not differ visibly."""
    every = -(-len(flows) * max(1, min(len(flows.time_s), flows.points)) // _MOST_RATES)
    return flows.chosen(np.arange(0, len(flows), every)) if every > 1 else flows


def _grid(flows: Flows, *, fair: bool = False) -> tuple["NDArray[Any]", "NDArray[Any]"]:
    """Return times (s), and the rates (bit/s) of all flows at each of them: a column a flow, nan while it is not on."""
    time, rates = drawn(flows, fair=fair)
    # A flow has no rate before its start; at its end the line has ended.
    return time, np.where(time[:, np.newaxis] > flows.start_s, rates, np.nan)


def _spread(rates: "NDArray[Any]") -> "NDArray[Any]":
    """Return the percentiles of each row; where no flow is on nothing is delivered."""
    found = np.zeros((len(_SPREAD), len(rates)))
    for row, values in enumerate(rates):
        known = values[~np.isnan(values)]
        if len(known):
            found[:, row] = np.percentile(known, _SPREAD)
    return found


def _most_at_once(spans: list[tuple[float, float, float]]) -> int:
    """Return how many levels there are at a time, at most."""
    edges = sorted([(start, 1) for start, _, _ in spans] + [(stop, -1) for _, stop, _ in spans])
    return max(np.cumsum([step for _, step in edges]).tolist(), default=0)
