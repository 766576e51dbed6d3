"""Tables that a person reads, on standard output."""

import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from penstock.figures.series import notable_queues, question
from penstock.result import Result
from penstock.summary import FlowSummary, QueueSummary, Summary
from penstock.text import bit_rate, count, duration, events, octets, share

_PIPE_WIDTH = 120
"""Columns where there is no terminal to ask."""

_QUEUES_LISTED = 12
_FLOWS_LISTED = 16


def console() -> Console:
    """Return a writer to standard output; colours only on a terminal that wants them."""
    return Console(width=None if sys.stdout.isatty() else _PIPE_WIDTH, highlight=False)


def listing(*columns: str, title: str | None = None) -> Table:
    """Return an empty table of text."""
    table = Table(box=None, title=title, title_justify="left", title_style="bold", header_style="dim", pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def add_row(table: Table, *cells: str | None) -> None:
    """Add a row of plain text: a bracket in it is a bracket, not a colour."""
    table.add_row(*("-" if cell is None else escape(cell) for cell in cells))


def print_fitting(out: Console, table: Table) -> None:
    """Print a table of numbers; in a narrow terminal, without the columns on the right that do not fit."""
    unbound = out.options.update_width(10_000)
    left_out = 0
    while len(table.columns) > 2 and out.measure(table, options=unbound).maximum > out.width:
        table.columns.pop()
        left_out += 1
    out.print(table)
    if left_out:
        out.print(f"{left_out} more columns need a wider terminal", style="dim")


def print_run(result: Result, folder: Path, figures: list[Path]) -> None:
    """Print what a run has come to."""
    summary = result.summary
    out = console()
    out.print(_headline(summary), soft_wrap=True)
    out.print(escape(question(result)), style="italic", soft_wrap=True)
    out.print(_balance(summary), soft_wrap=True)
    out.print()
    print_queues(out, summary["queues"])
    _print_flows(out, summary["flows"])
    out.print(f"results in [bold]{escape(str(folder))}[/bold]", soft_wrap=True)
    if figures:
        names = ", ".join(path.name for path in figures if path.suffix == ".png")
        out.print(f"figures: {names}, and each as .svg", soft_wrap=True)


def print_comparison(document: dict[str, Any], folder: Path) -> None:
    """Print one line a scheme."""
    out = console()
    runs = max((len(entry["seeds"]) for entry in document["schemes"]), default=0)
    out.print(f"[bold]{escape(document['scenario'])}[/bold]  {escape(document['question'])}", soft_wrap=True)
    several = f", mean ± standard deviation of {runs} seeds" if runs > 1 else ""
    out.print(f"queue {document['queue']}{several}", style="dim", soft_wrap=True)
    table = _numbers(
        "scheme", "loss", "queue mean", "queue σ", "utilisation", "throughput", "Jain", "feedback", "settled"
    )
    finite = any(entry["completion_time_s"]["flows"] for entry in document["schemes"])
    if finite:
        table.add_column("completed", justify="right")
    for entry in document["schemes"]:
        add_row(
            table,
            entry["scheme"],
            _spread(entry["loss_rate"], share),
            _spread(entry["queue_mean_octets"], octets),
            _spread(entry["queue_std_octets"], octets),
            _spread(entry["utilization"], share),
            _spread(entry["throughput_bps"], bit_rate),
            _spread(entry["jain_index"], lambda x: f"{x:.3f}"),
            _spread(entry["feedback_rate"], share),
            _over_flows(entry["settling_time_s"]),
            *([_over_flows(entry["completion_time_s"])] if finite else []),
        )
    print_fitting(out, table)
    out.print()
    out.print(f"results in [bold]{escape(str(folder))}[/bold]", soft_wrap=True)
    out.print("figure: compare.png, and as .svg", soft_wrap=True)


def _headline(summary: Summary) -> str:
    profile = f" ({summary['profile']})" if summary["profile"] else ""
    run = summary["run"]
    return (
        f"[bold]{escape(summary['scenario'])}[/bold]  {summary['scheme']}{profile}, seed {summary['seed']}: "
        f"{duration(summary.get('interrupted_at_s', summary['duration_s']))} simulated in {duration(run['wall_s'])}, "
        f"{events(run['events_per_s'])} events/s"
    )


def _balance(summary: Summary) -> str:
    totals = summary["totals"]
    parts = [
        f"frames sent {count(totals['frames_sent'])}",
        f"delivered {count(totals['frames_delivered'])}",
        f"dropped {count(totals['frames_dropped'])} (loss {share(summary['loss_rate'])})",
    ]
    if totals["frames_discarded_at_source"]:
        parts.append(f"discarded at sources {count(totals['frames_discarded_at_source'])}")
    if totals["frames_lost_on_link"]:
        parts.append(f"lost on links {count(totals['frames_lost_on_link'])}")
    parts.append(f"feedback {count(totals['feedback_frames'])} ({share(summary['feedback_rate'])})")
    parts.append(f"Jain index {summary['jain_index']:.3f}")
    return ", ".join(parts)


def print_queues(out: Console, queues: list[QueueSummary]) -> None:
    """Print a line a queue; of many, the notable ones."""
    listed = queues if len(queues) <= _QUEUES_LISTED else notable_queues(queues, _QUEUES_LISTED)
    several_priorities = len({queue["priority"] for queue in queues}) > 1
    table = _numbers("queue", "mean", "σ", "max", "empty", "utilisation", "dropped", "feedback")
    for queue in listed:
        name = f"{queue['name']} p{queue['priority']}" if several_priorities else queue["name"]
        add_row(
            table,
            name,
            octets(queue["mean_octets"]),
            octets(queue["std_octets"]),
            octets(queue["max_octets"]),
            share(queue["empty_fraction"]),
            share(queue["utilization"]),
            count(queue["frames_dropped"]),
            count(queue["feedback_frames"]),
        )
    print_fitting(out, table)
    if len(listed) < len(queues):
        out.print(f"and {len(queues) - len(listed)} quieter queues, in summary.json", style="dim")
    out.print()


def _print_flows(out: Console, flows: list[FlowSummary]) -> None:
    if len(flows) <= _FLOWS_LISTED:
        table = _numbers("flow", "from", "to", "delivers", "fair share", "allowed", "dropped", "feedback", "settled")
        finite = any(flow["completion_time_s"] is not None for flow in flows)
        if finite:
            table.add_column("completed", justify="right", no_wrap=True)
        for flow in flows:
            add_row(table, *_flow_row(flow), *([_time(flow["completion_time_s"])] if finite else []))
        print_fitting(out, table)
    else:
        table = _numbers(f"{len(flows)} flows", "least", "median", "most")
        for title, key, text in (
            ("delivers", "throughput_bps", bit_rate),
            ("fair share", "fair_rate_bps", bit_rate),
            ("allowed", "mean_rate_bps", bit_rate),
            ("dropped", "frames_dropped", count),
            ("feedback", "feedback_received", count),
            ("settled", "settling_time_s", duration),
            ("completed", "completion_time_s", duration),
        ):
            values = sorted(flow[key] for flow in flows if flow[key] is not None)  # type: ignore[literal-required]
            if values:
                known = "" if len(values) == len(flows) else f" ({len(values)} of {len(flows)})"
                add_row(table, title + known, *(text(values[i]) for i in (0, len(values) // 2, -1)))
        print_fitting(out, table)
    out.print()


def _flow_row(flow: FlowSummary) -> list[str]:
    destinations = flow["destinations"]
    to = destinations[0] if len(destinations) == 1 else f"{len(destinations)} hosts"
    return [
        flow["name"],
        flow["source"],
        to,
        bit_rate(flow["throughput_bps"]),
        bit_rate(flow["fair_rate_bps"]),
        bit_rate(flow["mean_rate_bps"]),
        count(flow["frames_dropped"]),
        count(flow["feedback_received"]),
        _time(flow["settling_time_s"]),
    ]


def _numbers(first: str, *columns: str) -> Table:
    """Return an empty table: names on the left, numbers aligned on the right."""
    table = Table(box=None, header_style="dim", pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(first, overflow="fold")
    for column in columns:
        table.add_column(column, justify="right")
    return table


def _time(seconds: float | None) -> str:
    return "-" if seconds is None else duration(seconds)


def _spread(value: dict[str, Any], text: Any) -> str:
    mean, deviation = value["mean"], value["std"]
    if mean is None:
        return "-"
    return text(mean) if deviation is None else f"{text(mean)}\n± {text(deviation)}"


def _over_flows(value: dict[str, Any]) -> str:
    """Write a mean over flows, and how many of them have the time if not all do."""
    lines = [_spread(value, duration)] if value["flows"] else []
    if value["flows"] < value["of_flows"]:
        lines.append(f"{count(value['flows'])} of {count(value['of_flows'])} flows")
    return "\n".join(lines) or "-"
