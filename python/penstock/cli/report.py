"""Tables that a person reads, on standard output."""

import sys
from collections.abc import Callable, Iterable
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.segment import Segment
from rich.table import Column, Table

from penstock.columns import to_floats
from penstock.declared import LinkDescription, Outline
from penstock.highlights import notable_queues, schemes_in_words
from penstock.metrics.registry import COMPARED, WRITERS, Metric
from penstock.metrics.seeds import (
    SLOWDOWNS,
    CompletionStatistics,
    Sizes,
    Statistics,
    by_size,
    in_words,
    sizes_of,
    written,
)
from penstock.quantity_text import UNDRAWN, bit_rate, count, duration, events, fair_rate, octets, ratio, share
from penstock.result import Result, action_counts
from penstock.summary import CompletionSummary, DeadlockSummary, FlowSummary, PoolSummary, QueueSummary, Summary
from penstock.terminal import printable, styled

if TYPE_CHECKING:
    from arro3.core import Table as Records

_PIPE_WIDTH = 190
"""Columns where there is no terminal to ask."""

_QUEUES_LISTED = 12
_FLOWS_LISTED = 16
_POOLS_LISTED = 8
_DEADLOCKS_LISTED = 4
_GROUPS_LISTED = 8
_ROWS_OF_SLOWDOWNS = 100
_SLOWEST, _FASTEST = 5, 2


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
    out.print(_balance(summary, flows=result.flows.num_rows), soft_wrap=True)
    out.print()
    out.print(_coverage(summary), style="dim", soft_wrap=True)
    print_queues(out, summary["queues"])
    _print_pools(out, summary.get("pools", []))
    _print_deadlocks(out, summary.get("deadlocks", []))
    _print_flows(out, result)
    _print_completions(out, summary.get("completions", []))
    _print_extremes(out, result)
    _print_windows(out, summary)
    _print_flow_control(out, plan["links"])
    for note in [*summary.get("notes", []), *_low_use(result)]:
        out.print(escape(f"note: {note}"), style="dim", soft_wrap=True)
    out.print(f"results in [bold]{escape(str(folder))}[/bold]", soft_wrap=True)
    _print_figures(out, [path.stem for path in figures if path.suffix == ".png"])


_LOW_USE = 0.5
"""Flows that get a smaller part of their fair share leave the network idle."""


def _low_use(result: Result) -> list[str]:
    """Say so where a scheme leaves the rate of its flows unused: seldom what a reader was after."""
    if not result.flows.num_rows:
        return []
    controlled = result.column("flows", "controlled").astype(bool)
    fair, got = (float(result.column("flows", key)[controlled].sum()) for key in ("fair_rate_bps", "throughput_bps"))
    if not fair > 0 or got >= _LOW_USE * fair:
        return []
    scheme = schemes_in_words(result.summary_without_flows)
    return [
        f"low use: the flows that {scheme} controls get {share(got / fair)} of their fair shares together. Its "
        "constants may be those of another line rate (`penstock schemes` lists its profiles), or the run is too short "
        "for its rates to rise"
    ]


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


def _coverage(summary: Summary) -> str:
    """Say what time the numbers of the tables cover."""
    if not summary["warmup_s"]:
        return "means and counts cover the whole run"
    return (
        f"means, maxima, shares and rates from {duration(summary['warmup_s'])} on (the end of the warm-up); "
        "dropped, feedback, settling and pauses over the whole run"
    )


def _balance(summary: Summary, *, flows: int) -> str:
    totals = summary["totals"]
    parts = [
        f"data frames sent {count(totals['frames_sent'])}",
        f"delivered {count(totals['frames_delivered'])}",
        f"dropped {count(totals['frames_dropped'])} (loss {share(summary['loss_rate'])})",
    ]
    if "frames_trimmed" in totals:
        lost = f", {count(totals['headers_lost'])} headers lost" if totals["headers_lost"] else ""
        parts.append(f"of these trimmed {count(totals['frames_trimmed'])}{lost}")
    if totals["frames_discarded_at_source"]:
        parts.append(f"discarded at sources {count(totals['frames_discarded_at_source'])}")
    if totals["frames_waiting_at_source"]:
        parts.append(f"waiting at sources {count(totals['frames_waiting_at_source'])}")
    if totals["frames_lost_on_link"]:
        parts.append(f"lost on links {count(totals['frames_lost_on_link'])}")
    feedback = f"feedback {count(totals['feedback_frames'])} ({share(summary['feedback_rate'])})"
    if "probes_returned" in totals:
        kinds = f"notifications {count(totals['notifications'])}, returned probes {count(totals['probes_returned'])}"
        feedback += f", of it {kinds}"
    parts.append(feedback)
    if totals.get("feedback_discarded"):
        parts.append(f"feedback to uncontrolled sources discarded {count(totals['feedback_discarded'])}")
    if "retransmissions" in totals:
        timeouts = count(totals["timeouts"])
        parts.append(f"sent again {count(totals['retransmissions'])}, timeouts {timeouts}")
    if "pause_frames" in totals:
        parts.append(f"pause frames {count(totals['pause_frames'])}")
    if "credit_wait_s" in totals:
        parts.append(f"waited for credits {duration(totals['credit_wait_s'])}")
    if "replays" in totals:
        parts.append(f"replays {count(totals['replays'])} of {count(totals['frames_replayed'])} frames")
    if totals.get("watchdog_fired"):
        dropped = count(totals["watchdog_dropped"])
        parts.append(f"watchdog fired {count(totals['watchdog_fired'])} times, {dropped} frames dropped by it")
    if "lossless" in summary:
        parts.append("lossless, as claimed" if summary["lossless"] else "not lossless, though the scenario claims it")
    if summary.get("actions"):
        parts.append(f"actions of the scheme: {action_counts(summary)}")
    if "acted" in summary:
        parts.append("it acted, as claimed" if summary["acted"] else "it did not act, though the scenario claims it")
    if "finished_at_s" in summary:
        parts.append(f"all flows with a size finished at {duration(summary['finished_at_s'])}")
    if flows:
        parts.append(f"Jain index {summary['jain_index']:.3f}")
    return ", ".join(parts)


def _print_pools(out: Console, pools: list[PoolSummary]) -> None:
    """Print the memory that queues share, the fullest pools first."""
    if not pools:
        return
    table = _numbers("shared memory", "pool", "size", "mean", "max", "headroom", "needed", "max of it", "refused")
    fullest = sorted(pools, key=lambda pool: pool["max_octets"] / pool["size_octets"], reverse=True)
    for pool in fullest[:_POOLS_LISTED]:
        add_row(
            table,
            pool["switch"],
            pool["name"],
            octets(pool["size_octets"]),
            octets(pool["mean_octets"]),
            octets(pool["max_octets"]),
            octets(pool["headroom_octets"]),
            octets(pool["headroom_needed_octets"]),
            octets(pool["headroom_max_octets"]),
            count(pool["frames_refused"]),
        )
    print_fitting(out, table)
    if len(fullest) > _POOLS_LISTED:
        out.print(f"and {count(len(fullest) - _POOLS_LISTED)} more pools in summary.json", style="dim")
    out.print()


def _print_deadlocks(out: Console, deadlocks: list[DeadlockSummary]) -> None:
    """Print the cycles of queues that waited for one another."""
    for deadlock in deadlocks[:_DEADLOCKS_LISTED]:
        ended = deadlock["ended_s"]
        end = "to the end of the run" if ended is None else f"to {duration(ended)}, when the watchdog broke it"
        names = [
            f"{port} ({priority})" for port, priority in zip(deadlock["ports"], deadlock["priorities"], strict=True)
        ]
        chain = " waits for ".join([*names, names[0]])
        out.print(f"[bold]deadlock[/bold] from {duration(deadlock['since_s'])} {end}: {escape(chain)}", soft_wrap=True)
    if len(deadlocks) > _DEADLOCKS_LISTED:
        out.print(f"and {count(len(deadlocks) - _DEADLOCKS_LISTED)} more deadlocks in summary.json", style="dim")
    if deadlocks:
        out.print()


def _print_completions(out: Console, completions: list[CompletionSummary]) -> None:
    """Print the slowdowns of finite flows: all together, by size, and by group."""
    if not completions:
        return
    table = _numbers("flows", "number", "not completed", *(title for _, title in SLOWDOWNS))
    groups = dict.fromkeys(line["group"] for line in completions if line["group"] is not None)
    few = len(groups) <= _GROUPS_LISTED
    for line in completions:
        if line["group"] is not None and not few:
            continue
        slowdowns = [None if (value := line[key]) is None else ratio(value) for key, _ in SLOWDOWNS]
        counts = count(line["flows"]), count(line["flows"] - line["completed"])
        add_row(table, in_words(sizes_of(line)), *counts, *slowdowns)
    out.print("slowdown: flow completion time over that on an empty network", style="dim", soft_wrap=True)
    print_fitting(out, table)
    if not few:
        out.print(f"and {count(len(groups))} groups of flows, in summary.json", style="dim")
    out.print()


def _print_extremes(out: Console, result: Result) -> None:
    """Print the flows that waited most, and those that waited least, of all that completed; of a few, all."""
    summary = result.summary_without_flows
    if not any(line["completed"] for line in summary.get("completions", [])):
        return
    columns = {name: result.completions.column(name).chunk(0) for name in result.completions.column_names}
    slowdown, start_s = (to_floats(columns[key]) for key in ("slowdown", "start_s"))
    done = np.flatnonzero(~np.isnan(slowdown) & (start_s >= summary["warmup_s"]))
    order = done[np.argsort(-slowdown[done], kind="stable")]
    listed = [*order[:_SLOWEST], *order[max(_SLOWEST, len(order) - _FASTEST) :]]
    title = "flows" if len(order) <= _SLOWEST + _FASTEST else f"slowest {_SLOWEST}, quickest {_FASTEST}"
    table = _numbers(title, "from", "to", "size", "start", "completed in", "slowdown", "sent again", "timeouts")
    for place in listed:
        flow = {name: column[int(place)].as_py() for name, column in columns.items()}
        to = flow["destinations"]
        add_row(
            table,
            flow["flow"],
            flow["source"],
            to[0] if len(to) == 1 else f"{len(to)} hosts",
            octets(flow["size_octets"]),
            duration(flow["start_s"]),
            duration(flow["end_s"] - flow["start_s"]),
            ratio(flow["slowdown"]),
            count(flow["retransmissions"]),
            count(flow["timeouts"]),
        )
    print_fitting(out, table)
    out.print()


def print_queues(out: Console, queues: list[QueueSummary]) -> None:
    """Print a line a queue; of many, the notable ones."""
    listed = queues if len(queues) <= _QUEUES_LISTED else notable_queues(queues, _QUEUES_LISTED)
    several_priorities = len({queue["priority"] for queue in queues}) > 1
    paused = any(queue["pause_frames"] for queue in queues)
    # Acknowledgements and signals that share a queue with data may be dropped, too; no count of data has them.
    control = any(queue["control_frames_dropped"] for queue in queues)
    table = _numbers("queue", "mean", "σ", "max", "empty", "utilisation", "dropped", "feedback")
    if control:
        table.add_column("control dropped", justify="right")
    if paused:
        table.add_column("paused", justify="right")
        table.add_column("stops", justify="right")
        table.add_column("pause frames", justify="right")
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
            *([count(queue["control_frames_dropped"])] if control else []),
            *([duration(queue["paused_s"]), count(queue["stops"]), count(queue["pause_frames"])] if paused else []),
        )
    print_fitting(out, table)
    if len(listed) < len(queues):
        out.print(f"and {len(queues) - len(listed)} quieter queues, in summary.json", style="dim")
    out.print()


def _print_flows(out: Console, result: Result) -> None:
    """Print a line a flow; of many, the least, the median and the most of each number."""
    flows = result.flows.num_rows
    if not flows:
        return
    few = flows <= _FLOWS_LISTED
    print_fitting(out, _flow_by_flow(result.summary["flows"]) if few else _flows_in_one(result.flows))
    out.print()


def _flow_by_flow(flows: list[FlowSummary]) -> Table:
    table = _numbers("flow", "from", "to", "delivers", "fair share", "allowed", "dropped", "feedback", "settled")
    finite = any(flow["completion_time_s"] is not None for flow in flows)
    if finite:
        table.add_column("completed", justify="right", no_wrap=True)
    for flow in flows:
        add_row(table, *_flow_row(flow), *([_time(flow["completion_time_s"])] if finite else []))
    return table


def _flows_in_one(flows: "Records") -> Table:
    table = _numbers(f"{flows.num_rows} flows", "least", "median", "most")
    for title, key, text in (
        ("delivers", "throughput_bps", bit_rate),
        ("fair share", "fair_rate_bps", bit_rate),
        ("allowed", "mean_rate_bps", bit_rate),
        ("dropped", "frames_dropped", _whole),
        ("feedback", "feedback_received", _whole),
        ("settled", "settling_time_s", duration),
        ("completed", "completion_time_s", duration),
    ):
        every = to_floats(flows.column(key).chunk(0))
        values = np.sort(every[~np.isnan(every)])
        # Where flows wait for others, nobody knows beforehand when they share a link: no share is computed.
        if len(values) and (key != "fair_rate_bps" or values[-1] > 0):
            known = "" if len(values) == flows.num_rows else f" ({len(values)} of {flows.num_rows})"
            add_row(table, title + known, *(text(values[place].item()) for place in (0, len(values) // 2, -1)))
    return table


def _whole(number: float) -> str:
    return count(int(number))


def _print_windows(out: Console, summary: Summary) -> None:
    """Print a line a window of measurement: counts, and the queue that is the longest in the whole run."""
    windows = summary.get("windows", [])
    if not windows:
        return
    longest = notable_queues(summary["queues"], 1)
    title = f"window; queue {longest[0]['name']}" if longest else "window"
    queue_columns = ("mean", "σ", "max", "utilisation") if longest else ()
    counted = ("sent", "delivered", "dropped", "feedback", "Jain index")
    table = _numbers(title, "from", "to", *queue_columns, *counted)
    for window in windows:
        totals = window["totals"]
        cells = [window["name"], duration(window["start_s"]), duration(window["end_s"])]
        if longest:
            place = summary["queues"].index(longest[0])
            queue = window["queues"][place]
            cells += [octets(queue["mean_octets"]), octets(queue["std_octets"]), octets(queue["max_octets"])]
            cells.append(share(queue["utilization"]))
        cells += [count(totals["frames_sent"]), count(totals["frames_delivered"])]
        cells += [count(totals["frames_dropped"]), count(totals["feedback_frames"])]
        add_row(table, *cells, f"{window['jain_index']:.3f}")
    print_fitting(out, table)
    out.print()


def _print_flow_control(out: Console, links: list[LinkDescription]) -> None:
    """Print the thresholds behind the ports that flow control can stop, a line for those that read alike.

    Where a pool stops a line, its threshold and its cells are those that act: the ingress buffer only bounds them.
    """
    alike: dict[tuple[str, ...], list[str]] = {}
    pooled = False
    for link in links:
        if (at := link["flow_control"]) is None:
            continue
        # The first pool is that of the first lossless priorities; most switches have one.
        if at["pools"]:
            pool, pooled = at["pools"][0], True
            sizes = (pool["xoff_alone_octets"], pool["xoff_together_octets"])
            rooms = (pool["headroom_octets"], pool["headroom_needed_octets"])
            row = (f"pool {pool['name']}", *map(octets, sizes), "-", *map(octets, rooms))
        else:
            xoff, xon = octets(at["xoff_octets"]), octets(at["xon_octets"])
            rooms = (at["headroom_octets"], at["headroom_needed_octets"])
            row = (octets(at["buffer_octets"]), xoff, xoff, xon, *map(octets, rooms))
        alike.setdefault((*row, duration(at["response_s"])), []).append(link["name"])
    if not alike:
        return
    columns = ("xoff alone", "xoff of all") if pooled else ("xoff",)
    table = _numbers("flow control stops", "buffer", *columns, "xon", "headroom", "needed", "response")
    for (buffer, alone, together, *rest), names in alike.items():
        shown = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
        add_row(table, shown, buffer, *((alone, together) if pooled else (alone,)), *rest)
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
        fair_rate(flow["fair_rate_bps"]),
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
