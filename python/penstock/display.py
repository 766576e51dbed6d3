"""How a notebook shows scenarios, results and all that is made of them: HTML without style sheets or scripts."""

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from penstock.highlights import schemes_in_words
from penstock.metrics.registry import COMPARED, WRITERS
from penstock.metrics.seeds import SLOWDOWNS, by_size, in_words, written
from penstock.quantity_text import bit_rate, count, duration, octets, ratio, share
from penstock.reports import run_tables
from penstock.reports.model import Cell, text_of

if TYPE_CHECKING:
    from penstock.comparison import Comparison
    from penstock.reproduction.reproduce import Reproduction
    from penstock.result import Result
    from penstock.scenario import Scenario
    from penstock.theory.margin import MarginReport
    from penstock.tuning.tuning import Tuning

_LINES = 40

_RIGHT = ' style="text-align: right{}"'
_LEFT = ' style="text-align: left{}"'
# A number stands on one line with its unit; a heading may take two.
_WHOLE = {"td": "; white-space: nowrap", "th": ""}


def scenario_html(scenario: "Scenario") -> str:
    """Show a scenario: its name, its question, and its text, folded up."""
    text = scenario.to_toml()
    lines = text.rstrip("\n").split("\n")
    shown = "\n".join(lines[:_LINES]) + (f"\n… {len(lines) - _LINES} more lines" if len(lines) > _LINES else "")
    return (
        f"<p><b>{escape(scenario.name)}</b>, {escape(scenario.scheme)}<br><i>{escape(scenario.question)}</i></p>"
        f"<details><summary>the scenario, as TOML</summary><pre>{escape(shown)}</pre></details>"
    )


def result_html(result: "Result") -> str:
    """Show a result: the scenario, how many frames went where, the jobs, the queues that matter, and the flows."""
    summary = result.summary
    totals = summary["totals"]
    shown_s = result.end_s
    parts = [
        f"{duration(shown_s)} simulated{', interrupted' if result.interrupted else ''}",
        f"frames sent {count(totals['frames_sent'])}",
        f"dropped {count(totals['frames_dropped'])} (loss {share(summary['loss_rate'])})",
        f"feedback {count(totals['feedback_frames'])}",
        f"Jain index {summary['jain_index']:.3f}",
    ]
    head = (
        f"<p><b>{escape(summary['scenario'])}</b>, {escape(schemes_in_words(summary))}, seed {summary['seed']}<br>"
        f"<i>{escape(result.question)}</i><br>{', '.join(parts)}</p>"
    )
    jobs = run_tables.jobs(summary.get("jobs", []))
    tables = (jobs, run_tables.queues(summary["queues"]), run_tables.flows(result))
    return head + "".join(_table(table.head, table.rows, note=table.note) for table in tables if table.rows)


def comparison_html(comparison: "Comparison") -> str:
    """Show a comparison: a row a line, with the metrics of the command's table."""
    document = comparison.document
    lines = document["schemes"]
    shown = [m for m in COMPARED if m.column and any(line[m.name]["mean"] is not None for line in lines)]
    rows = [[line["label"], *(written(line[m.name], WRITERS[m.kind]) for m in shown)] for line in lines]
    head = f"<p><i>{escape(document['question'] or '')}</i><br>queue {escape(str(document['queue']))}</p>"
    return head + _table(["", *(m.column or "" for m in shown)], rows) + _slowdowns(lines)


def _slowdowns(lines: Sequence[dict[str, Any]]) -> str:
    """Show slowdowns of a comparison by size, over the seeds; nothing where no flow completes."""
    slowdowns = by_size(lines)
    if not slowdowns:
        return ""

    rows = [
        [
            f"{in_words(sizes)}: {label}",
            *(written(line[key], WRITERS["count"]) for key in ("flows", "flows_left")),
            *(written(line[key], ratio) for key, _ in SLOWDOWNS),
        ]
        for sizes, of in slowdowns.items()
        for label, line in of.items()
    ]
    head = ["flows", "number", "not completed", *(title for _, title in SLOWDOWNS)]
    more = len(rows) - _LINES
    return _table(head, rows[:_LINES], note=f"and {more} more, in document" if more > 0 else "")


def tuning_html(tuning: "Tuning") -> str:
    """Show a proposal: its parameters beside those that it is compared with, and the verdict on each goal."""
    from penstock.tuning.measures import MEASURES
    from penstock.tuning.prose import broken, mean_of, seeds

    sets = [*([tuning.proposal] if tuning.changed else []), *tuning.others]
    head = (
        f"<p><b>{escape(tuning.scenario.name)}</b>, {escape(tuning.scheme)}, for {escape(tuning.goal.name)}: "
        f"{escape(tuning.goal.definition)}; at {escape(tuning.queue)}</p>"
    )
    rows = [[key, *(str(entry.parameters[key]) for entry in sets)] for key in tuning.proposal.parameters]
    shown = ""
    for verdict in tuning.verdicts:
        (pair,) = (pair for pair in verdict.measures if pair.measure == tuning.goal.measure)
        title, kind = MEASURES[pair.measure].title, MEASURES[pair.measure].kind
        shown += (
            f"<p>against {escape(verdict.against)}, {seeds(tuning.verdict_seeds)}, which the search never saw: "
            f"{escape(title)} {mean_of(pair.proposal, kind)} instead of {mean_of(pair.other, kind)}, "
            f"{escape(verdict.word + broken(verdict))}</p>"
        )
    return head + _table(["", *(entry.name for entry in sets)], rows) + shown + f"<p>{escape(tuning.why)}</p>"


def reproduction_html(found: "Reproduction") -> str:
    """Show claims of papers: the paper's number, ours, and the verdict."""
    from penstock.reproduction.prose import ours, paper_value

    counts = found.totals
    rows = [
        [entry.paper.name, claim.figure, claim.id, paper_value(claim), ours(answer), answer.judgement.verdict]
        for entry in found.papers
        for claim, answer in ((answer.claim, answer) for answer in entry.answers)
    ]
    head = (
        f"<p>{counts['claims']} claims: {counts['holds']} hold, {counts['differs']} differ, "
        f"{counts['untestable']} cannot be tested</p>"
    )
    return head + _table(["paper", "figure", "claim", "paper", "ours", "verdict"], rows)


def report_html(report: "MarginReport") -> str:
    """Show margins: the equilibrium of a configuration, and how far each mode is from instability."""
    given = report.configuration
    rest = ", ".join(f"{key} {value:.4g}" for key, value in report.equilibrium.items())
    head = (
        f"<p><b>{escape(given.scheme)}</b>: {escape(report.model)}<br>{given.flows} flows at {escape(given.queue)}, "
        f"{bit_rate(given.capacity_bps)} for them; equilibrium: {escape(rest)}</p>"
    )
    rows = [
        [
            side.mode,
            "stable" if side.stable else "unstable",
            _finite(math.degrees(side.phase_rad), "{:.3g}°"),
            _finite(side.gain, "{:.3g}"),
            _finite(side.delay_s * 1e6, "{:.4g} µs"),
            side.limits[0].parameter if side.limits else "-",
        ]
        for side in report.sides
    ]
    names = ["mode", "", "phase margin", "gain margin", "delay margin", "limited by"]
    body = _table(names, rows) if rows else ""
    if report.limit_cycle is not None:
        body += f"<p>limit cycle: its amplitude is {octets(report.limit_cycle.integrated.amplitude_octets)}</p>"
    cycles = [cycle.mean_octets for cycle in (report.jump, report.swing, report.pauses) if cycle is not None]
    for mean_octets in cycles:
        body += f"<p>no equilibrium; the queue's mean is {octets(mean_octets)}</p>"
    return head + body


def _finite(value: float, form: str) -> str:
    return form.format(value) if math.isfinite(value) else "-"


def _table(head: Sequence[str], rows: Iterable[Sequence[Cell]], *, note: str = "") -> str:
    """Write a table: names on the left, numbers on the right, and a sentence below."""

    def cells(kind: str, row: Sequence[Cell]) -> str:
        left, right = (side.format(_WHOLE[kind]) for side in (_LEFT, _RIGHT))
        return "".join(f"<{kind}{right if i else left}>{escape(text_of(cell))}</{kind}>" for i, cell in enumerate(row))

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    rest = f'<tr><td colspan="{len(head)}"><i>{escape(note)}</i></td></tr>' if note else ""
    return f"<table><thead><tr>{cells('th', head)}</tr></thead><tbody>{body}{rest}</tbody></table>"
