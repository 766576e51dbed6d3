"""Reports of a run and of a comparison: queues, pauses, flows that pauses hit, completion times, settings."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from penstock.comparison import Comparison
from penstock.declared import Outline
from penstock.highlights import notable_queues, schemes_in_words
from penstock.metrics.registry import COMPARED, WRITERS, Metric
from penstock.metrics.seeds import SLOWDOWNS, by_size, in_words, written
from penstock.quantity_text import bit_rate, count, duration, octets, ratio, share
from penstock.reports import fabric, measurements, run_tables
from penstock.reports.differences import differences
from penstock.reports.model import Part, Points, Report, Section, Source, Table
from penstock.reports.page import picture
from penstock.result import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from penstock.declared import MetricKind
    from penstock.telemetry import Overlay

_JUDGED = ("slowdown_p99", "completion_time_s", "queue_mean_octets")
"""The metrics by which the verdict puts lines in order: the first that all of them have."""

_TIMES = 10
"""From this multiple on, a change is written as a factor."""

_MOST_LINES = 6
"""Lines of a comparison that stand beside one another; more stand below one another."""

_MOST_JOBS = 4
_MOST_GROUPS = 24
_NOTABLE = 1.1
"""From this ratio between lines on, the verdict names the group of flows whose rate differs most."""


def of_run(
    result: Result,
    outline: Outline,
    *,
    sources: Sequence[Source] = (),
    command: str = "",
    pictures: bool = True,
) -> Report:
    """Return the report of a run.

    Args:
        result: the run.
        outline: its plan.
        sources: the scenario.
        command: the command that repeats it.
        pictures: whether to draw.
    """
    summary = result.summary_without_flows
    parts: list[Part] = [_sentence(run_tables.balance(summary, flows=result.flows.num_rows))]
    parts += map(_sentence, run_tables.deadlocks(summary))
    sections = _drawn({schemes_in_words(summary): [result]}, None) if pictures else []
    parts += [*run_tables.tables(result, outline["links"]), _sentence(run_tables.coverage(summary))]
    verdict, good = _verdict_of_run(result)
    return Report(
        title=f"{summary['scenario']}, {schemes_in_words(summary)}",
        kind="Run",
        question=summary["question"],
        verdict=verdict,
        good=good,
        sections=[*sections, Section("Numbers", parts), fabric.section(outline, pictures=pictures)],
        assumptions=[_time_of(summary), *run_tables.notes(result)],
        sources=sources,
        seeds=[summary["seed"]],
        command=command,
    )


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _time_of(summary: Any) -> str:
    warm = f"; statistics begin at {duration(summary['warmup_s'])}" if summary["warmup_s"] else ""
    return f"{duration(summary['duration_s'])} of the network's time are simulated, one seed{warm}."


def _verdict_of_run(result: Result) -> tuple[str, bool | None]:
    """Return the answer of a run, and whether it is good news: a claim that it keeps or breaks, or a deadlock."""
    summary = result.summary_without_flows
    totals = summary["totals"]
    dropped = totals["frames_dropped"]
    lost = f"{count(dropped)} frames were lost ({share(summary['loss_rate'])})" if dropped else "no frame was lost"
    parts = [lost]
    if deadlocks := summary.get("deadlocks"):
        parts.insert(0, f"a deadlock stopped {count(len(deadlocks[0]['ports']))} ports")
    elif "paused_s" in totals:
        paused = totals["paused_s"]
        parts.append(f"ports were paused for {duration(paused)} added up" if paused else "no port was paused")
    for job in summary.get("jobs", [])[:_MOST_JOBS]:
        took, bandwidth = job["job_time_s"], job["bus_bandwidth_bps"]
        at = f" at a bus bandwidth of {bit_rate(bandwidth)}" if bandwidth is not None else ""
        parts.append(f"{job['name']} did not end" if took is None else f"{job['name']} took {duration(took)}{at}")
    completions = summary.get("completions", [])
    if completions and (slowest := completions[0]["slowdown_p99"]) is not None:
        left = completions[0]["flows"] - completions[0]["completed"]
        rest = f", and {count(left)} of {count(completions[0]['flows'])} flows were not complete" if left else ""
        parts.append(f"the 99th percentile of slowdowns is {ratio(slowest)}{rest}")
    elif longest := notable_queues(summary["queues"], 1):
        queue = longest[0]
        mean, most = octets(queue["mean_octets"]), octets(queue["max_octets"])
        parts.append(f"queue {queue['name']} had {mean} on average, {most} at most")
    broken = result.broken_claim()
    if broken is not None:
        parts.append(f"the run breaks a claim of its scenario: {broken.message}")
    good = False if broken is not None or summary.get("deadlocks") else True if result.claims else None
    return _sentence("; ".join(parts)), good


def _drawn(runs: dict[str, list[Result]], queue: str | None) -> list[Section]:
    """Return the sections of figures: queues, jobs, pauses and who pays for them, completion times."""
    from penstock.figures import (
        comparison,
        cumulative,
        distributions,
        has_completions,
        has_jobs,
        has_paths,
        jobs,
        overview,
        pauses,
        slowdowns,
        slowest_path,
    )
    from penstock.figures.comparison import stopped_shares

    firsts = {label: results[0] for label, results in runs.items()}
    shown: list[Part] = []

    def draw(figure: "Callable[[], Figure]", caption: str, name: str) -> None:
        shown.append(picture(figure, caption, name))

    def section(title: str) -> list[Section]:
        parts = shown.copy()
        shown.clear()
        return [Section(title, parts)] if parts else []

    if len(runs) == 1:
        (only,) = firsts.values()
        draw(
            lambda: overview(only), "Queues that fill, drop or signal most, use of their links, rates of flows.", "run"
        )
    else:
        draw(
            lambda: comparison(list(firsts.values()), labels=list(firsts), queue=queue),
            "The same queues under each line, on common scales; the first seed of each.",
            "compare",
        )
    if queue is not None:
        draw(
            lambda: cumulative(runs, queue),
            f"Distribution of the length of queue {queue}: further left is shorter.",
            "cdf",
        )
    sections = section("Queues")
    for place, (label, first) in enumerate(firsts.items()):
        if has_jobs(first) and len(firsts) <= _MOST_LINES:
            draw(
                partial(jobs, first),
                f"{label}: what each rank does over time. Communication without computation is exposed.",
                f"jobs{place}",
            )
        if has_paths(first) and len(firsts) <= _MOST_LINES:
            draw(
                partial(slowest_path, first),
                f"{label}: the computations and messages that determined the end of each job, and their waits.",
                f"path{place}",
            )
    sections += section("Jobs")
    if any(stopped_shares(results) for results in runs.values()):
        draw(
            lambda: pauses(runs),
            "Ports that flow control stopped, from the congested port back to the hosts; and what the flows of each "
            "group get. A group that gets little and does not cross the congested port is a victim.",
            "pauses",
        )
    sections += section("Pauses and victims")
    if all(has_completions(result) for results in runs.values() for result in results):
        draw(lambda: slowdowns(runs), "Slowdown against size: 1 is a network that is otherwise empty.", "slowdown")
        draw(lambda: distributions(runs, "fct"), "Share of the flows that were complete within a time.", "spread")
    return sections + section("Completion times")


def of_comparison(
    compared: Comparison,
    *,
    outline: Outline | None = None,
    measured: "Overlay | None" = None,
    sources: Sequence[Source] = (),
    command: str = "",
) -> Report:
    """Return the report of a comparison: settings in which its lines differ, metrics side by side, figures.

    Args:
        compared: the comparison.
        outline: the plan of the network that all lines share; ``None`` where they have several.
        measured: values of devices beside those of the runs, which then are the answer; ``None`` without.
        sources: the scenarios, and the files of measured values.
        command: the command that repeats it.
    """
    document = compared.document
    lines = document["schemes"]
    runs = {label: results for label, results in compared.runs.items() if results}
    settings = _beside(differences({label: results[0].scenario_toml for label, results in runs.items()}), lines)
    tables = (_metrics(lines), _delivered(lines), _slowdowns(lines))
    parts: list[Part] = [table for table in tables if table.rows]
    several = max((len(line["seeds"]) for line in lines), default=0)
    if several > 1:
        parts.append(
            f"Mean ± standard deviation of {several} seeds; in brackets the half of the 95 % interval of the mean."
        )
    broken = [f"{label}: {error.message}" for label, error in compared.broken_claims.items()]
    if broken:
        parts.append(Points(broken))
    sections = [Section("Side by side", parts)]
    if settings.rows:
        sections.insert(0, Section("Settings that differ", [settings]))
    first = next(iter(runs.values()))[0].summary_in_brief
    title = ", ".join(dict.fromkeys(line["scenario"].partition(", ")[0] for line in lines))
    verdict, good = _verdict(lines), False if broken and len(broken) == sum(map(len, runs.values())) else None
    if measured is not None:
        verdict, good = measurements.verdict(measured)
        sections.insert(0, measurements.section(measured, f"{title}: measured beside simulated"))
    return Report(
        title=title,
        kind="Comparison" if measured is None else "Comparison with measurements",
        question=document["question"] or "",
        verdict=verdict,
        good=good,
        sections=[
            *sections,
            *_drawn(runs, document["queue"]),
            *([] if outline is None else [fabric.section(outline)]),
        ],
        assumptions=[
            _time_of(first).replace("one seed", "each line and seed"),
            *([f"Lines are judged by queue {document['queue']}."] if document["queue"] else []),
            *(map(_sentence, measured.notes) if measured is not None else ()),
            *dict.fromkeys(note for results in runs.values() for note in results[0].notes),
        ],
        sources=sources,
        seeds=sorted({seed for line in lines for seed in line["seeds"]}),
        command=command,
    )


def _metrics(lines: Sequence[dict[str, Any]]) -> Table:
    """Return the metrics that some line has."""
    shown = [m for m in COMPARED if m.column and any(line[m.name]["mean"] is not None for line in lines)]
    cells = [[_cell(line[metric.name], metric) for metric in shown] for line in lines]
    head = ("", *(line["label"] for line in lines), *(["change"] if len(lines) == 2 else []))
    rows = []
    for place, metric in enumerate(shown):
        means = [line[metric.name]["mean"] for line in lines]
        change = [_change(*means)] if len(lines) == 2 else []
        rows.append((metric.title, *(row[place] for row in cells), *change))
    return _beside(Table(head, rows), lines)


def _beside(table: Table, lines: Sequence[dict[str, Any]]) -> Table:
    """Return a table that has a column a line; where these are many, with a row a line."""
    return table.turned() if len(lines) > _MOST_LINES else table


def _cell(value: Any, metric: Metric) -> str:
    text = written(value, WRITERS[metric.kind])
    partly = value["mean"] is not None and not _all_have(value)
    return f"{text}, {count(value['flows'])} of {count(value['of_flows'])} flows" if partly else text


def _change(old: float | None, new: float | None) -> str | None:
    """Return by how much of the old value the new one differs, or how many times as large it is."""
    if old is None or new is None or not old:
        return None
    return f"{100 * (new - old) / old:+.1f} %" if new < _TIMES * old else f"× {ratio(new / old)}"


def _slowdowns(lines: Sequence[dict[str, Any]]) -> Table:
    rows = [
        (
            f"{in_words(sizes)}: {label}",
            *(written(of[key], WRITERS["count"]) for key in ("flows", "flows_left")),
            *(written(of[key], ratio) for key, _ in SLOWDOWNS),
        )
        for sizes, of_line in by_size(lines).items()
        if sizes[0] is None
        for label, of in of_line.items()
    ]
    head = ("flows", "number", "not completed", *(title for _, title in SLOWDOWNS))
    return Table(head, rows, title="Slowdown: flow completion time over that on an empty network")


def _verdict(lines: Sequence[dict[str, Any]]) -> str:
    """Return which lines lose frames, how they differ by the first metric that all have, and whom it hits most."""
    losing = [line["label"] for line in lines if line["frames_lost"]["mean"]]
    if losing:
        others = "the others lose none" if len(losing) < len(lines) else "no line is without loss"
        found = [f"Frames are lost with {', '.join(losing)}; {others}."]
    else:
        found = ["No frame is lost."]
    judged = (metric for name in _JUDGED for metric in COMPARED if metric.name == name)
    metric = next((metric for metric in judged if all(_all_have(line[metric.name]) for line in lines)), None)
    if metric is not None:
        found.append(_differ(f"The {metric.title}", {line["label"]: line[metric.name] for line in lines}, metric.kind))
    groups = _groups(lines)
    apart = {name: _apart(list(of.values())) for name, of in groups.items() if len(of) == len(lines)}
    if len(groups) > 1 and (most := max(apart, key=lambda name: apart[name], default=None)) and apart[most] > _NOTABLE:
        found.append(_differ(f"The rate of a flow of {most}", groups[most], "rate"))
    return " ".join(found)


def _differ(subject: str, of: dict[str, Any], kind: "MetricKind") -> str:
    """Say how a number differs between lines: of two as a change, of several by the least and the greatest."""
    ordered = sorted(of, key=lambda label: of[label]["mean"])
    low, high = (WRITERS[kind](of[label]["mean"]) for label in (ordered[0], ordered[-1]))
    if _overlap(of[ordered[0]], of[ordered[-1]]):
        spread = f", {low} to {high}, within the spread of the seeds" if low != high else f", {low}"
        return f"{subject} shows no difference{spread}."
    if len(of) > 2:
        return f"{subject} is least with {ordered[0]}, {low}, and greatest with {ordered[-1]}, {high}."
    first, second = of
    change = _change(of[first]["mean"], of[second]["mean"])
    said = f"{subject} {'falls' if second == ordered[0] else 'rises'} from {low if first == ordered[0] else high} "
    said += f"with {first} to {low if second == ordered[0] else high} with {second}"
    return f"{said} ({change})." if change else f"{said}."


def _groups(lines: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the rate that a flow of each group of flows gets, by the group's name and the line's label."""
    found: dict[str, dict[str, Any]] = {}
    for line in lines:
        for group in line["groups"]:
            found.setdefault(group["name"], {})[line["label"]] = group["throughput_bps"]
    return found


def _apart(values: Sequence[Any]) -> float:
    """Return the greatest over the least mean of several lines; 1 where their intervals meet."""
    ordered = sorted(values, key=lambda value: value["mean"])
    if _overlap(ordered[0], ordered[-1]):
        return 1.0
    return float(ordered[-1]["mean"] / ordered[0]["mean"]) if ordered[0]["mean"] else math.inf


def _delivered(lines: Sequence[dict[str, Any]]) -> Table:
    """Return the rate of a flow of each group, where there are several groups and few enough to read."""
    groups = _groups(lines)
    rows = [
        (name, *(written(of[line["label"]], bit_rate) if line["label"] in of else None for line in lines))
        for name, of in groups.items()
        if 1 < len(groups) <= _MOST_GROUPS
    ]
    title = "Rate that a flow of each group gets"
    return _beside(Table(("a flow of", *(line["label"] for line in lines)), rows, title=title), lines)


def _all_have(value: Any) -> bool:
    """Whether runs have a metric, and all of their flows where it is one of flows."""
    return value["mean"] is not None and value.get("flows", 0) == value.get("of_flows", 0)


def _overlap(a: Any, b: Any) -> bool:
    """Whether two means are equal, or the 95 % intervals of several seeds have values in common."""
    if a["mean"] == b["mean"]:
        return True
    if a["interval"] is None or b["interval"] is None:
        return False
    return bool(a["interval"][1] >= b["interval"][0] and b["interval"][1] >= a["interval"][0])
