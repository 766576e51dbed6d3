"""A view of a sweep for a figure: which key has which axis, which runs are shown, and their numbers together."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from penstock.errors import ArgumentError, nearest
from penstock.metrics.registry import TITLED
from penstock.sweeps.axes import Key, Value

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock.declared import Better, MetricKind
    from penstock.sweeps.sweep import Sweep

FIGURES = ("lines", "map", "pareto")
"""The figures of a sweep."""

METRIC = "queue_mean_octets"
PAIR = "queue_mean_octets,throughput_bps"

Show = Literal["lines", "map", "pareto"]

_LOG_FACTOR = 10.0
"""Two values that are so far apart have a logarithmic axis."""


@dataclass(frozen=True)
class Dimension:
    """A key of a figure, or the scheme.

    Attributes:
        name: as it is written in the figure.
        column: its column.
        unit: "octets", "s", "bit/s", "count", "ratio", or nothing.
        values: its values as the table has them, in the sweep's order.
        words: its values as text.
        together: columns of the keys that change with it.
    """

    name: str
    column: str
    unit: str
    values: tuple[Any, ...]
    words: tuple[str, ...]
    together: frozenset[str]

    @property
    def numeric(self) -> bool:
        """Whether it is an axis of numbers."""
        return bool(self.unit)

    @property
    def log(self) -> bool:
        """Whether its values are spaced by a factor."""
        if not self.numeric or len(self.values) < 2 or min(self.values) <= 0:
            return False
        values = np.sort(np.array(self.values, dtype=float))
        if len(values) == 2:
            return bool(values[1] >= _LOG_FACTOR * values[0])
        factors, steps = values[1:] / values[:-1], np.diff(values)
        return bool(factors.max() / factors.min() < steps.max() / steps.min())

    @property
    def title(self) -> str:
        """Its name as text."""
        return self.name.replace("_", " ")

    def several(self, cells: "Sequence[Cell]") -> bool:
        """Say whether cells have several of its values."""
        return len({cell.at[self.column] for cell in cells}) > 1

    def word(self, value: Any) -> str:
        """Return a value as it is written."""
        return self.words[self.values.index(value)]


@dataclass(frozen=True)
class Metric:
    """A number of each run.

    Attributes:
        column: its column in the table ``runs``.
        name: as it is written in the figure.
        unit: its unit.
        kind: how it is written.
        better: which of two values is the better one.
    """

    column: str
    name: str
    unit: str
    kind: "MetricKind"
    better: "Better"


@dataclass(frozen=True)
class Cell:
    """The runs of one combination of values and scheme.

    Attributes:
        at: the value of each dimension, by column.
        values: the metrics over the seeds, shape (metrics, seeds).
    """

    at: Mapping[str, Any]
    values: "NDArray[np.float64]"

    @property
    def mean(self) -> "NDArray[np.float64]":
        """The means over the seeds, shape (metrics,)."""
        means: NDArray[np.float64] = self.values.mean(axis=1)
        return means


@dataclass(frozen=True)
class View:
    """A sweep as a figure shows it.

    Attributes:
        question: the scenario's.
        show: the figure.
        metrics: one, or two of a Pareto front.
        x: the key along the x axis; ``None`` in a Pareto front.
        y: the key along the y axis of a map, or that makes lines.
        panel: the key that makes panels.
        scheme: the schemes.
        free: the keys that a Pareto front has a point for each value of.
        fixed: the values that are the same in all of the figure, as text.
        cells: the runs.
        seeds: the most seeds that a combination has.
    """

    question: str
    show: Show
    metrics: tuple[Metric, ...]
    x: Dimension | None
    y: Dimension | None
    panel: Dimension | None
    scheme: Dimension
    free: tuple[Dimension, ...]
    fixed: tuple[str, ...]
    cells: tuple[Cell, ...]
    seeds: int


def view(
    sweep: "Sweep",
    show: str,
    metrics: Sequence[str],
    *,
    x: str | None = None,
    y: str | None = None,
    panel: str | None = None,
    where: Mapping[str, Any] | None = None,
) -> View:
    """Choose what a figure shows; :meth:`penstock.Sweep.plot` explains the arguments.

    Raises:
        ArgumentError: there is no such figure, metric, key or value; a key has no axis; no run has the metric.
    """
    if show not in FIGURES:
        raise ArgumentError(f"show={show!r}: unknown figure", f"the figures of a sweep are {', '.join(FIGURES)}")
    if not sweep.tables:
        raise ArgumentError(f"{sweep.path}: no run is there yet", "go on with the sweep: resume=True")
    figure: Show = "lines" if show == "lines" else "map" if show == "map" else "pareto"
    wanted = 2 if show == "pareto" else 1
    if len(metrics) != wanted:
        hint = "metric=A,B" if wanted == 2 else "metric=A; a Pareto front alone has two"
        raise ArgumentError(f"metric={','.join(metrics)}: the figure {show} has {wanted}", hint)
    chosen = tuple(_metric(sweep, name) for name in metrics)
    dimensions = _dimensions(sweep)
    fixed = {_named(dimensions, key, "where"): value for key, value in (where or {}).items()}
    fixed = {dimension: _value(dimension, value) for dimension, value in fixed.items()}
    several = [d for d in dimensions if len(d.values) > 1 and not _placed(d, fixed)]
    given = {"x": x, "y": y, "panel": panel}
    places: dict[str, Dimension] = {
        place: _named(dimensions, name, place) for place, name in given.items() if name is not None
    }
    scheme = dimensions[-1]
    if show == "pareto":
        if places:
            raise ArgumentError("a Pareto front has metrics along its axes", "leave x=, y= and panel= out")
    else:
        for place in ("x", "y", "panel"):
            free = [d for d in several if d is not scheme and not _placed(d, places.values())]
            if place not in places and free:
                places[place] = free[0]
        if "x" not in places or (show == "map" and "y" not in places):
            need = "two keys" if show == "map" else "a key"
            raise ArgumentError(f"the figure {show} needs {need} of several values", "show another, or vary more keys")
        left = [d for d in several if d is not scheme and not _placed(d, places.values())]
        if left:
            values = ", ".join(left[0].words)
            raise ArgumentError(
                f"{left[0].name} has {len(left[0].values)} values ({values}) and no axis in the figure",
                f"give it one of the three axes, or one of its values with where={left[0].name}={left[0].words[0]}",
            )
    cells = _cells(sweep, dimensions, fixed, chosen)
    if not cells:
        raise ArgumentError(f"no run that is shown has {' and '.join(m.column for m in chosen)}", "show other runs")
    return View(
        question=str(sweep.document["question"]),
        show=figure,
        metrics=chosen,
        x=places.get("x"),
        y=places.get("y"),
        panel=places.get("panel"),
        scheme=scheme,
        free=tuple(d for d in several if d is not scheme),
        fixed=tuple(f"{d.title} = {d.word(value)}" if d is not scheme else str(value) for d, value in fixed.items()),
        cells=tuple(cells),
        seeds=max(cell.values.shape[1] for cell in cells),
    )


def dominant(view: View) -> list[int]:
    """Return the cells that no other beats: none is as good in both metrics and better in one; by the first metric."""
    signs = np.array([1.0 if metric.better == "less" else -1.0 for metric in view.metrics])
    costs = np.array([cell.mean * signs for cell in view.cells])
    front = [
        i for i, own in enumerate(costs) if not any((other <= own).all() and (other < own).any() for other in costs)
    ]
    return sorted(front, key=lambda i: (float(costs[i][0]), i))


def _cells(
    sweep: "Sweep", dimensions: Sequence[Dimension], fixed: Mapping[Dimension, Any], metrics: Sequence[Metric]
) -> list[Cell]:
    columns = [sweep.column(d.column).tolist() for d in dimensions]
    numbers = [np.array(sweep.column(m.column), dtype=float) for m in metrics]
    rows: dict[tuple[Any, ...], list[int]] = {}
    for row, at in enumerate(zip(*columns, strict=True)):
        # A run without the metric, as one where no flow has settled, is not shown.
        if all(math.isfinite(values[row]) for values in numbers):
            rows.setdefault(at, []).append(row)
    found = []
    for at, own in rows.items():
        named = {d.column: value for d, value in zip(dimensions, at, strict=True)}
        if all(named[d.column] == value for d, value in fixed.items()):
            found.append(Cell(named, np.array([values[own] for values in numbers])))
    return found


def _dimensions(sweep: "Sweep") -> list[Dimension]:
    """Return the varied keys, and the scheme at the end."""
    found = []
    for axis in sweep.document["vary"]:
        together = frozenset(key["column"] for key in axis)
        for entry in axis:
            values: list[Value] = entry["values"]
            key = Key(entry["key"], entry["unit"], tuple(values))
            numbers = tuple(key.number(value) for value in values)
            words = tuple(_written(value) for value in values)
            found.append(Dimension(_short(sweep, entry["key"]), entry["column"], key.unit, numbers, words, together))
    schemes = tuple(sweep.document["schemes"])
    return [*found, Dimension("scheme", "scheme", "", schemes, schemes, frozenset({"scheme"}))]


def _written(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _short(sweep: "Sweep", key: str) -> str:
    """Return the last word of a key, or all of it where two have the same."""
    last = key.rpartition(".")[2]
    return last if [other.rpartition(".")[2] for other in sweep.columns].count(last) == 1 else key


def _named(dimensions: Sequence[Dimension], name: str, place: str) -> Dimension:
    """Return the dimension that a name means: a key, its last word, or its column."""
    for dimension in dimensions:
        if name in (dimension.name, dimension.column) or name.endswith(f".{dimension.name}"):
            return dimension
    known = [dimension.name for dimension in dimensions]
    raise ArgumentError(f"{place}={name}: no key of the sweep", nearest(name, known, f"it has {', '.join(known)}"))


def _value(dimension: Dimension, given: Any) -> Any:
    """Return the value of a dimension that is meant, as the table has it."""
    if given in dimension.values:
        return dimension.values[dimension.values.index(given)]
    if str(given) in dimension.words:
        return dimension.values[dimension.words.index(str(given))]
    raise ArgumentError(f"where={dimension.name}={given}: unknown value", f"the sweep has {', '.join(dimension.words)}")


def _placed(dimension: Dimension, others: Any) -> bool:
    """Say whether a dimension, or one that changes with it, is among others."""
    return any(dimension.column in other.together for other in others)


def _metric(sweep: "Sweep", name: str) -> Metric:
    """Return a number of each run; a sign before its name says which of two values is the better one."""
    table = sweep.table()
    column = name.lstrip("+-")
    keys = {*sweep.columns.values(), "run", "seed", "scheme", "hash"}
    known = [
        field for field in table.column_names if field not in keys and _is_number(str(table.schema.field(field).type))
    ]
    if column not in known:
        hint = nearest(column, known, f"the numbers of a run are {', '.join(known)}")
        raise ArgumentError(f"metric={name}: no number of a run has this name", hint)
    about = TITLED.get(column)
    unit = table.schema.field(column).metadata_str["unit"]
    better: Better = (about and about.better) or "less"
    if name[0] in "+-":
        better = "more" if name[0] == "+" else "less"
    words = column.removesuffix("_octets").removesuffix("_bps").removesuffix("_s").replace("_", " ")
    kinds: dict[str, MetricKind] = {"octets": "octets", "bit/s": "rate", "s": "time"}
    return Metric(column, words, unit, about.kind if about else kinds.get(unit, "index"), better)


def _is_number(kind: str) -> bool:
    return "Int" in kind or "Float" in kind
