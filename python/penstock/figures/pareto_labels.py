"""Points of a Pareto front: each has a number beside it, and its name stands in a list below the axes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.font_manager import FontProperties
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.text import Text
from matplotlib.textpath import text_to_path
from matplotlib.transforms import Bbox

from penstock.figures.style import REFERENCE, grow
from penstock.quantity_text import count
from penstock.sweeps.view import Cell, Dimension, View

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

_MOST_NAMED = 12
"""A list of more names takes more room than the figure."""

_MOST_COLUMNS = 3
_TYPE: dict[str, Any] = {"fontsize": "small"}
_LINE_EM = 1.35
_GAP_EM = 2.0
_SIDE_IN = 0.08
"""Room at the left and the right of the list."""

_NUMBER_PT = 3.0
"""Least distance of a number from the middle of its point."""

_FURTHER_PT = (0.0, 5.0, 10.0, 16.0, 24.0, 34.0, 46.0)
"""How much further away it may stand, with a line to its point."""


@dataclass(frozen=True)
class NamedPoint:
    """A point of the front, and its name.

    Attributes:
        at: its position, in the units of the axes.
        words: its name.
    """

    at: tuple[float, float]
    words: str


@dataclass(frozen=True)
class ParetoFront:
    """The named points of a front.

    Attributes:
        heading: that which is true of all of them; nothing if there is no such thing.
        named: the points, in the order of the first metric.
    """

    heading: str
    named: tuple[NamedPoint, ...]


def front_of(view: View, places: "NDArray[Any]", front: Sequence[int]) -> ParetoFront:
    """Name the points of a front: by the keys in which they differ, of those that change together by one.

    Of very many, some that are evenly spread are named.

    Args:
        view: the view.
        places: the position of each of its cells, shape (cells, 2).
        front: the cells of the front, in the order of the first metric.
    """
    if not view.free:
        # The colours tell schemes apart.
        return ParetoFront("", ())
    alike: list[list[int]] = []
    for i in front:
        if alike and np.allclose(places[i], places[alike[-1][0]]):
            alike[-1].append(i)
        else:
            alike.append([i])
    cells = [view.cells[i] for i in front]
    every = [d for d in (view.scheme, *view.free) if d.several(view.cells)]
    telling = [d for d in every if d.several(cells)] if len(alike) > 1 else every
    common = _words([d for d in every if d not in telling], cells, cells[0])
    heading = [f"all on the front: {common}"] if common else []
    if len(alike) > _MOST_NAMED:
        heading.append(f"{_MOST_NAMED} of {count(len(alike))} points are named")
        alike = [alike[k] for k in np.linspace(0, len(alike) - 1, _MOST_NAMED).round().astype(int)]
    named = []
    for own in alike:
        first = own[0]
        words = _words(telling, cells, view.cells[first])
        if len(own) > 1:
            words += f", and {count(len(own) - 1)} more at this point"
        named.append(NamedPoint((float(places[first][0]), float(places[first][1])), words))
    return ParetoFront("; ".join(heading), tuple(named))


def reserve(figure: "Figure", front: ParetoFront) -> None:
    """Write the list of names at the foot of a figure that is not laid out yet, and keep the room for it."""
    if not front.named:
        return
    type_pt = FontProperties(size=_TYPE["fontsize"]).get_size_in_points()
    wide_pt = 72 * (figure.get_figwidth() - 2 * _SIDE_IN)
    entries = [f"{number}  {point.words}" for number, point in enumerate(front.named, 1)]
    widest_pt = max(_width_pt(entry) for entry in entries)
    columns = max(1, min(_MOST_COLUMNS, len(entries), int(wide_pt / (widest_pt + _GAP_EM * type_pt))))
    heads = _filled(front.heading, wide_pt) if front.heading else []
    parts = [list(part) for part in np.array_split(entries, columns)]
    if columns == 1:
        parts = [[line for entry in entries for line in _filled(entry, wide_pt)]]
    line_in = _LINE_EM * type_pt / 72
    high_in = line_in * (1 + len(heads) + max(map(len, parts)))
    grow(figure, high_in)
    share = high_in / figure.get_figheight()
    engine = figure.get_layout_engine()
    assert isinstance(engine, ConstrainedLayoutEngine)
    engine.set(rect=(0, share, 1, 1 - share))
    left = _SIDE_IN / figure.get_figwidth()
    style: dict[str, Any] = {"va": "top", "linespacing": _LINE_EM / 1.2, **_TYPE}
    top = share - 0.5 * line_in / figure.get_figheight()
    if heads:
        figure.text(left, top, "\n".join(heads), color="#555555", **style)
    top -= len(heads) * line_in / figure.get_figheight()
    for place, part in enumerate(parts):
        figure.text(left + place * (1 - 2 * left) / columns, top, "\n".join(part), **style)


def number_points(axes: "Axes", view: View, front: ParetoFront) -> None:
    """Write the numbers at the points, on a figure that is laid out.

    They stand on the side where better points would be: there is neither a point nor a line. A number that has no
    place there is left out, as in a front of very many points on a small figure.
    """
    figure = axes.get_figure(root=True)
    assert figure is not None
    aside = [-1 if metric.better == "less" else 1 for metric in view.metrics]
    taken: list[Bbox] = []
    room = axes.get_window_extent()
    for n, point in enumerate(front.named, 1):
        text = axes.annotate(
            str(n),
            point.at,
            xytext=(0, 0),
            textcoords="offset points",
            ha="left" if aside[0] > 0 else "right",
            va="bottom" if aside[1] > 0 else "top",
            fontweight="bold",
            color=REFERENCE,
            arrowprops={"arrowstyle": "-", "color": "#999999", "linewidth": 0.6, "shrinkA": 0, "shrinkB": 2},
            **_TYPE,
        )
        # The first positions it, the second measures it without the line to its point.
        text.get_window_extent()
        box = Text.get_window_extent(text)
        for x_pt, y_pt in _places():
            moved = box.translated(aside[0] * x_pt * figure.dpi / 72, aside[1] * y_pt * figure.dpi / 72)
            inside = room.x0 <= moved.x0 and moved.x1 <= room.x1 and room.y0 <= moved.y0 and moved.y1 <= room.y1
            if inside and not any(moved.overlaps(other) for other in taken):
                text.set_position((aside[0] * x_pt, aside[1] * y_pt))
                assert text.arrow_patch is not None
                text.arrow_patch.set_visible(max(x_pt, y_pt) > 2 * _NUMBER_PT)
                taken.append(moved)
                break
        else:
            text.remove()


def _places() -> Iterator[tuple[float, float]]:
    """Return distances of a number from its point along both axes, the nearest first, points."""
    pairs = product(_FURTHER_PT, repeat=2)
    for x_pt, y_pt in sorted(pairs, key=lambda pair: (pair[0] ** 2 + pair[1] ** 2, pair)):
        yield _NUMBER_PT + x_pt, _NUMBER_PT + y_pt


def _words(dimensions: Sequence[Dimension], among: Sequence[Cell], cell: Cell) -> str:
    """Return the values of a cell as text; of keys that change together one, if it distinguishes all their values."""
    groups: dict[frozenset[str], list[Dimension]] = {}
    for d in dimensions:
        groups.setdefault(d.together, []).append(d)
    shown: list[Dimension] = []
    for group in groups.values():
        values = {tuple(other.at[d.column] for d in group) for other in among}
        alone = [d for d in group if len({other.at[d.column] for other in among}) == len(values)]
        shown += alone[:1] or group
    parts = ((d, d.word(cell.at[d.column])) for d in shown)
    return ", ".join(word if d.column == "scheme" else f"{d.title} {word}" for d, word in parts)


def _filled(text: str, wide_pt: float) -> list[str]:
    """Return a text in lines that are no wider than this, cut at its spaces; the second begins below its words."""
    lines: list[str] = []
    line, indent = "", ""
    for word in text.split(" "):
        longer = f"{line} {word}" if line else f"{indent}{word}"
        if line.strip() and _width_pt(longer) > wide_pt:
            lines.append(line)
            indent = "    "
            longer = f"{indent}{word}"
        line = longer
    return [*lines, line]


def _width_pt(text: str) -> float:
    width, _, _ = text_to_path.get_text_width_height_descent(text, FontProperties(size=_TYPE["fontsize"]), ismath=False)
    return float(width)
