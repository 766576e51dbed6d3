"""Tables that a person reads, on standard output."""

import sys
from collections.abc import Callable, Iterable
from copy import copy
from pathlib import Path
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.segment import Segment
from rich.table import Column, Table

from penstock.declared import Outline
from penstock.highlights import schemes_in_words
from penstock.metrics.registry import COMPARED, WRITERS, Metric
from penstock.metrics.seeds import (
    SLOWDOWNS,
    CompletionStatistics,
    Sizes,
    Statistics,
    by_size,
    in_words,
    written,
)
from penstock.quantity_text import UNDRAWN, bit_rate, count, duration, events, ratio
from penstock.reports import model, run_tables
from penstock.result import Result
from penstock.summary import Summary
from penstock.terminal import printable, styled

_PIPE_WIDTH = 190
"""Columns where there is no terminal to ask."""

_GROUPS_LISTED = 8
_ROWS_OF_SLOWDOWNS = 100


class Screen(Console):
    """A console that makes control characters visible: those of a terminal are its own alone."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Give the printed pieces of text."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else printable(text), style, control)


def console() -> Console:
    """Return a writer to standard output; colours only on a terminal that wants them."""
    return Screen(file=styled(sys.stdout), width=None if sys.stdout.isatty() else _PIPE_WIDTH, highlight=False)


def listing(*columns: str, title: str | None = None) -> Table:
    """Return an empty table of text."""
    table = Table(box=None, title=title, title_justify="left", title_style="bold", header_style="dim", pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def add_row(table: Table, *cells: str | None) -> None:
    """Add a row of plain text: a bracket in it is a bracket, not a colour."""
    table.add_row(*("-" if cell is None else escape(cell) for cell in cells))


def print_table(out: Console, table: model.Table) -> None:
    """Print a table of a report, with the sentences above and below it."""
    shown = Table(box=None, header_style="dim", pad_edge=False, padding=(0, 2, 0, 0))
    for heading, number in zip(table.head, table.numeric, strict=True):
        shown.add_column(heading, justify="right" if number else "left", overflow="ellipsis" if number else "fold")
    for row in table.rows:
        add_row(shown, *(cell.text if isinstance(cell, model.Mark) else cell for cell in row))
    if table.title:
        out.print(escape(table.title), style="dim", soft_wrap=True)
    print_fitting(out, shown)
    if table.note:
        out.print(escape(table.note), style="dim", soft_wrap=True)


def print_fitting(out: Console, table: Table) -> None:
    """Print a table of numbers; in a narrow terminal, with the columns that do not fit below, names repeated."""
    unbound = out.options.update_width(10_000)
    names, *rest = table.columns
    while rest:
        table.columns = [names]
        while rest and (
            len(table.columns) == 1 or out.measure(_with(table, rest[0]), options=unbound).maximum <= out.width
        ):
            table.columns.append(rest.pop(0))
        out.print(table)
        if rest:
            out.print()


def _with(table: Table, column: Column) -> Table:
    """Return the table with one more column."""
    wider = copy(table)
    wider.columns = [*table.columns, column]
    return wider


def print_run(result: Result, plan: Outline, folder: Path, figures: list[Path]) -> None:
    """Print what a run of ``plan`` has come to."""
    summary = result.summary_without_flows
    out = console()
    out.print(_headline(summary), soft_wrap=True)
    out.print(escape(summary["question"]), style="italic", soft_wrap=True)
    out.print(run_tables.balance(summary, flows=result.flows.num_rows), soft_wrap=True)
    out.print()
    out.print(run_tables.coverage(summary), style="dim", soft_wrap=True)
    for table in run_tables.tables(result, plan["links"]):
        print_table(out, table)
        out.print()
    for sentence in run_tables.deadlocks(summary):
        out.print(escape(sentence), style="bold", soft_wrap=True)
    for note in run_tables.notes(result):
        out.print(escape(f"note: {note}"), style="dim", soft_wrap=True)
    out.print(f"results in [bold]{escape(str(folder))}[/bold]", soft_wrap=True)
    _print_figures(out, [path.stem for path in figures if path.suffix == ".png"])


def print_comparison(document: dict[str, Any], folder: Path) -> None:
    """Print one line a scheme, or a scenario with its scheme."""
    out = console()
    entries = document["schemes"]
    names = ", ".join(dict.fromkeys(entry["scenario"] for entry in entries))
    out.print(f"[bold]{escape(names)}[/bold]  {escape(document['question'] or '')}", soft_wrap=True)
    runs = max((len(entry["seeds"]) for entry in entries), default=0)
    several = (
        f", mean ± standard deviation of {runs} seeds (± the half of the mean's 95 % interval)" if runs > 1 else ""
    )
    out.print(f"queue {document['queue']}{several}", style="dim", soft_wrap=True)
    # A metric that no run has (pauses without priority flow control, completion of endless flows) gets no column.
    shown = [m for m in COMPARED if m.column and any(entry[m.name]["mean"] is not None for entry in entries)]
    table = _numbers("scheme" if document["scenario"] else "scenario", *(m.column or "" for m in shown))
    for entry in entries:
        add_row(table, entry["label"], *(_metric(entry[m.name], m) for m in shown))
    print_fitting(out, table)
    out.print()
    _print_groups(out, entries)
    _print_slowdowns(out, entries)
    if undrawn := [entry["label"] for entry in entries if entry.get("undrawn")]:
        where = "this scenario" if len(undrawn) == len(entries) else ", ".join(undrawn)
        out.print(escape(UNDRAWN.format(where)), style="dim", soft_wrap=True)
    out.print(f"results in [bold]{escape(str(folder))}[/bold]", soft_wrap=True)
    _print_figures(out, sorted(path.stem for path in folder.glob("*.png")))


def _print_figures(out: Console, names: list[str]) -> None:
    if len(names) == 1:
        out.print(f"figure: {names[0]}.png, and {names[0]}.svg", soft_wrap=True)
    elif names:
        out.print(f"figures: {', '.join(f'{name}.png' for name in names)}, and each as .svg", soft_wrap=True)


def _print_groups(out: Console, entries: list[dict[str, Any]]) -> None:
    """Print what a flow of each group delivers, where there are several groups, and few enough to read."""
    names = list(dict.fromkeys(group["name"] for entry in entries for group in entry["groups"]))
    if not 1 < len(names) <= _GROUPS_LISTED:
        return
    table = _numbers("delivered by a flow of", *names)
    for entry in entries:
        delivered = {group["name"]: group["throughput_bps"] for group in entry["groups"]}
        add_row(table, entry["label"], *(_stacked(delivered[n], bit_rate) if n in delivered else None for n in names))
    print_fitting(out, table)
    out.print()


def _print_slowdowns(out: Console, entries: list[dict[str, Any]]) -> None:
    """Print the slowdowns of finite flows by size, a row a line; of very many, one percentile alone."""
    completions = by_size(entries)
    if not completions:
        return
    groups = {group for group, _, _ in completions} - {None}
    every = {sizes: of for sizes, of in completions.items() if sizes[0] is None}
    shown = completions if len(groups) <= _GROUPS_LISTED and _rows(completions) <= _ROWS_OF_SLOWDOWNS else every
    whole = _rows(shown) <= _ROWS_OF_SLOWDOWNS
    title = "slowdown: flow completion time over that on an empty network"
    out.print(title if whole else f"{title}; 99th percentile", style="dim", soft_wrap=True)
    if whole:
        print_fitting(out, _slowdowns_of_each(shown))
    elif len(entries) <= _ROWS_OF_SLOWDOWNS:
        print_fitting(out, _slowdowns_in_one(shown, [entry["label"] for entry in entries]))
    if not whole or len(shown) < len(completions):
        out.print("more of them in compare.json: completions of each line", style="dim")
    out.print()


def _rows(completions: dict[Sizes, dict[str, CompletionStatistics]]) -> int:
    return sum(map(len, completions.values()))


def _slowdowns_of_each(completions: dict[Sizes, dict[str, CompletionStatistics]]) -> Table:
    """Return a table of all slowdowns: below the name of the flows, the lines that have some."""
    table = _numbers("flows", "number", "not completed", *(title for _, title in SLOWDOWNS))
    for sizes, of in completions.items():
        add_row(table, in_words(sizes), *[""] * (2 + len(SLOWDOWNS)))
        for label, line in of.items():
            counts = [written(line[key], WRITERS["count"]) for key in ("flows", "flows_left")]
            add_row(table, f"  {label}", *counts, *(written(line[key], ratio) for key, _ in SLOWDOWNS))
    return table


def _slowdowns_in_one(completions: dict[Sizes, dict[str, CompletionStatistics]], labels: list[str]) -> Table:
    """Return a table of the 99th percentile: a row a line, a column for the flows of each size."""
    table = _numbers("flows", *(in_words(sizes) for sizes in completions))
    for label in labels:
        cells = [written(of[label]["slowdown_p99"], ratio) if label in of else None for of in completions.values()]
        add_row(table, label, *cells)
    return table


def _headline(summary: Summary) -> str:
    run = summary["run"]
    return (
        f"[bold]{escape(summary['scenario'])}[/bold]  {schemes_in_words(summary)}, seed {summary['seed']}: "
        f"{duration(summary['duration_s'])} simulated in {duration(run['wall_s'])}, "
        f"{events(run['events_per_s'])} events/s"
    )


def _numbers(first: str, *columns: str) -> Table:
    """Return an empty table: names on the left, numbers aligned on the right."""
    table = Table(box=None, header_style="dim", pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(first, overflow="fold")
    for column in columns:
        table.add_column(column, justify="right")
    return table


def _stacked(value: Statistics, text: Callable[[float], str]) -> str:
    """Write a spread in a narrow column."""
    return written(value, text).replace(" ±", "\n±").replace(" (±", "\n(±")


def _metric(value: Any, metric: Metric) -> str:
    """Write a metric, and how many flows have it if not all do."""
    if "flows" not in value:
        return _stacked(value, WRITERS[metric.kind])
    lines = [_stacked(value, duration)] if value["flows"] else []
    if value["flows"] < value["of_flows"]:
        lines.append(f"{count(value['flows'])} of {count(value['of_flows'])}")
    return "\n".join(lines) or "-"
