"""Tables for a paper: means over seeds with their intervals, and marks of differences, as LaTeX, Markdown or CSV.

A cell is a mean and the half of its 95 % interval, ``34.5 ± 1.2``, in the unit of its column; the interval has two
digits, and the mean as many decimals. A star says that the difference from the row of comparison is not zero: its 95 %
interval, of the differences seed by seed where both have the same seeds, does not contain zero. ``**`` stands for 99 %
and ``***`` for 99.9 %. Each pair is tested by itself: among twenty rows without a difference one has a star.
"""

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from statistics import fmean, stdev, variance
from typing import TYPE_CHECKING, Any, Literal

from penstock import _core
from penstock.errors import ArgumentError, nearest
from penstock.metrics.registry import METRICS, TITLED, Metric
from penstock.metrics.seeds import LEVEL, half_interval, student

if TYPE_CHECKING:
    from penstock.arenas.arena import Arena
    from penstock.comparison import Comparison
    from penstock.sweeps.sweep import Sweep

Format = Literal["latex", "markdown", "csv"]

FORMATS: tuple[Format, ...] = ("latex", "markdown", "csv")
"""How a table is written."""

_STARS = ((0.999, "***"), (0.99, "**"), (LEVEL, "*"))

_KINDS = {"octets": "octets", "rate": "bit/s", "time": "s"}
"""The units of :func:`penstock._core.show_quantity`, by the kinds of metrics that have one."""


@dataclass(frozen=True)
class Cell:
    """A metric over the seeds of a row, in the metric's own unit.

    Attributes:
        values: by seed; a run without the metric is not there.
        mark: stars, or nothing.
    """

    values: Mapping[int, float]
    mark: str = ""

    @property
    def mean(self) -> float:
        """The mean; not a number without values."""
        return fmean(self.values.values()) if self.values else math.nan

    @property
    def half(self) -> float | None:
        """By how much the 95 % interval reaches beyond the mean; ``None`` of fewer than two seeds."""
        return half_interval(stdev(self.values.values()), len(self.values)) if len(self.values) > 1 else None


@dataclass(frozen=True)
class PrintedTable:
    """Rows by their keys, with a cell for each metric.

    Attributes:
        keys: titles of the columns that say what a row is.
        metrics: the other columns.
        rows: keys and cells, in the order of the runs.
        against: the row of comparison, if there is one.
    """

    keys: tuple[str, ...]
    metrics: tuple[Metric, ...]
    rows: Mapping[tuple[str, ...], tuple[Cell, ...]]
    against: str | None

    def write(self, form: Format) -> str:
        """Return the table as text.

        Raises:
            ArgumentError: there is no such format.
        """
        writers = {"latex": self.to_latex, "markdown": self.to_markdown, "csv": self.to_csv}
        if form not in writers:
            raise ArgumentError(f"format {form!r}", nearest(form, FORMATS, f"one of {', '.join(FORMATS)}"))
        return writers[form]()

    def to_latex(self) -> str:
        """Return a ``tabular``, with the rules of the package booktabs."""
        columns = self._columns()
        heads = [*map(_latex, self.keys), *(_latex(head) for head, _ in columns)]
        lines = [f"\\begin{{tabular}}{{{'l' * len(self.keys)}{'r' * len(columns)}}}", "\\toprule"]
        lines += [f"{' & '.join(heads)} \\\\", "\\midrule"]
        for place, row in enumerate(self.rows):
            cells = [_latex_cell(*texts[place]) for _, texts in columns]
            lines.append(f"{' & '.join([*map(_latex, row), *cells])} \\\\")
        return "\n".join([*lines, "\\bottomrule", "\\end{tabular}"]) + "\n"

    def to_markdown(self) -> str:
        """Return a table of Markdown."""
        columns = self._columns()
        lines = ["| " + " | ".join([*self.keys, *(head for head, _ in columns)]) + " |"]
        lines.append("|" + " --- |" * len(self.keys) + " ---: |" * len(columns))
        for place, row in enumerate(self.rows):
            cells = [_markdown_cell(*texts[place]) for _, texts in columns]
            lines.append("| " + " | ".join([*(key.replace("|", "\\|") for key in row), *cells]) + " |")
        return "\n".join(lines) + "\n"

    def to_csv(self) -> str:
        """Return comma-separated values: of each metric mean, low and high end of the interval, and mark, unrounded."""
        text = StringIO()
        writer = csv.writer(text, lineterminator="\n")
        parts = ("mean", "low", "high", "mark")
        writer.writerow([*self.keys, *(f"{metric.name}_{part}" for metric in self.metrics for part in parts)])
        for row, cells in self.rows.items():
            line: list[str | float] = [*row]
            for cell in cells:
                half, mean = cell.half, cell.mean
                line += ["" if math.isnan(mean) else mean]
                line += ["", ""] if half is None else [mean - half, mean + half]
                line.append(cell.mark)
            writer.writerow(line)
        return text.getvalue()

    def _repr_markdown_(self) -> str:
        return self.to_markdown()

    def _columns(self) -> list[tuple[str, list[tuple[str, str, str]]]]:
        """Return each metric's title with its unit, and the texts of its cells: mean, half of the interval, mark."""
        found = []
        for place, metric in enumerate(self.metrics):
            cells = [row[place] for row in self.rows.values()]
            scale, unit = _unit(metric, [abs(cell.mean) for cell in cells if math.isfinite(cell.mean)])
            title = metric.column or metric.title
            found.append((f"{title}, {unit}" if unit else title, [_texts(cell, scale) for cell in cells]))
        return found


def printed_table(
    found: "Comparison | Sweep | Arena",
    metrics: Sequence[str],
    *,
    by: Sequence[str] = (),
    against: str | None = None,
) -> PrintedTable:
    """Return metrics of a comparison, sweep or arena as a table for a paper.

        >>> print(penstock.printed_table(penstock.open("results/x"), ["slowdown_p99"], against="none").to_latex())

    Args:
        found: what has run.
        metrics: names of metrics, as :func:`table` has them as columns.
        by: columns whose values make a row; by default the label of a comparison, the varied keys and the scheme of a
            sweep, the workload and the scheme of an arena.
        against: the value of the last of these columns whose row all others with the same other values are tested
            against, such as ``"none"``.

    Raises:
        ArgumentError: there is no such metric, column or row.
    """
    table = found.table()
    columns = {name: table.column(name).to_pylist() for name in table.column_names}
    taken = tuple(_metric(name, columns) for name in metrics)
    keys = tuple(by) or _keys(columns)
    for key in keys:
        if key not in columns:
            raise ArgumentError(f"column {key!r}", nearest(key, list(columns), "penstock.open(…).table().column_names"))
    rows: dict[tuple[str, ...], list[dict[int, float]]] = {}
    for place, seed in enumerate(columns["seed"]):
        row = rows.setdefault(tuple(str(columns[key][place]) for key in keys), [{} for _ in taken])
        for values, metric in zip(row, taken, strict=True):
            value = columns[metric.name][place]
            if value is not None and math.isfinite(value):
                values[seed] = float(value)
    if against is not None and all(row[-1] != against for row in rows):
        known = list(dict.fromkeys(row[-1] for row in rows))
        raise ArgumentError(
            f"against={against!r}: no row of this {keys[-1]}", nearest(against, known, ", ".join(known))
        )
    marked = {
        row: tuple(
            Cell(values, "" if against is None else _mark(values, _other(rows, row, against, place)))
            for place, values in enumerate(cells)
        )
        for row, cells in rows.items()
    }
    return PrintedTable(keys, taken, marked, against)


def _metric(name: str, columns: Mapping[str, Any]) -> Metric:
    known = TITLED.get(name) or next((metric for metric in METRICS if metric.name == name), None)
    if known is None or name not in columns:
        names = [metric.name for metric in METRICS if metric.name in columns]
        raise ArgumentError(f"metric {name!r}", nearest(name, names, "penstock.open(…).table().column_names"))
    return known


def _keys(columns: Mapping[str, Any]) -> tuple[str, ...]:
    if "label" in columns:
        return ("label",)
    # Those before the seed: of an arena the workload, of a sweep the number of the run and the varied keys.
    front = list(columns)[: list(columns).index("seed")]
    keys = tuple(name for name in front if name not in ("run", "hash"))
    return tuple(key for key in keys if len(set(columns[key])) > 1) or keys[-1:]


def _other(
    rows: Mapping[tuple[str, ...], Sequence[Mapping[int, float]]], row: tuple[str, ...], against: str, place: int
) -> Mapping[int, float]:
    """Return the values of the row of comparison; none of that row itself."""
    other = (*row[:-1], against)
    return rows[other][place] if other in rows and other != row else {}


def _mark(values: Mapping[int, float], others: Mapping[int, float]) -> str:
    """Return the stars of a difference: paired by seed, or else by Welch's test."""
    if len(values) < 2 or len(others) < 2:
        return ""
    if values.keys() == others.keys():
        differences = [values[seed] - others[seed] for seed in values]
        mean, error, freedom = (
            fmean(differences),
            stdev(differences) / math.sqrt(len(differences)),
            len(differences) - 1,
        )
    else:
        own, of_others = variance(values.values()) / len(values), variance(others.values()) / len(others)
        mean, error = fmean(values.values()) - fmean(others.values()), math.sqrt(own + of_others)
        terms = own**2 / (len(values) - 1) + of_others**2 / (len(others) - 1)
        # Fewer degrees of freedom make the test stricter.
        freedom = max(1, math.floor((own + of_others) ** 2 / terms)) if terms else 1
    return next((stars for level, stars in _STARS if abs(mean) > student(freedom, level) * error), "")


def _unit(metric: Metric, means: Sequence[float]) -> tuple[float, str]:
    """Return the unit in which the largest mean is written, and its size."""
    if metric.kind == "share":
        return 0.01, "%"
    largest = max(means, default=0.0)
    if metric.kind not in _KINDS or not largest:
        return 1.0, ""
    unit = _core.show_quantity(largest, _KINDS[metric.kind]).split()[-1]
    return _core.read_quantity(f"1 {unit}", _KINDS[metric.kind]), unit


def _texts(cell: Cell, scale: float) -> tuple[str, str, str]:
    mean, half = cell.mean / scale, cell.half
    if not math.isfinite(mean):
        return "-", "", cell.mark
    spread = mean if half is None or half == 0 else half / scale
    digits = 3 if half is None or half == 0 else 2
    decimals = 0 if spread == 0 else max(0, digits - 1 - math.floor(math.log10(abs(spread))))
    return f"{mean:.{decimals}f}", "" if half is None else f"{half / scale:.{decimals}f}", cell.mark


def _markdown_cell(mean: str, half: str, mark: str) -> str:
    return f"{mean} ± {half}{mark}".replace("*", "\\*") if half else mean


def _latex_cell(mean: str, half: str, mark: str) -> str:
    if mean == "-":
        return "--"
    return f"${mean} \\pm {half}{f'^{{{mark}}}' if mark else ''}$" if half else f"${mean}$"


def _latex(text: str) -> str:
    escaped = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(escaped.get(c, f"\\{c}" if c in "&%$#_{}" else c) for c in text)
