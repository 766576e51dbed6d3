"""`penstock arena` at work: runs, the report, and the ranks that are printed."""

import json as json_text
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from penstock import interrupts
from penstock.arenas import prose
from penstock.arenas.arena import Arena, ArenaResults, arena
from penstock.arenas.arena_file import STANDARD, read
from penstock.cli.executor import runs_on
from penstock.cli.failure import FAILED, INTERRUPTED, say
from penstock.cli.progress import Progress
from penstock.quantity_text import UNDRAWN, count

if TYPE_CHECKING:
    from rich.table import Table

_FAILURES_LISTED = 8


@dataclass(frozen=True)
class Asked:
    """The part of an arena that is asked for; without names all of it."""

    file: Path | None
    workloads: list[str]
    competitors: list[str]
    seeds: int
    tune: int


def show_entries(asked: Asked, *, as_json: bool) -> None:
    """Print the workloads and the competitors."""
    entries = read(asked.file or STANDARD).of(asked.workloads, asked.competitors)
    if as_json:
        document = {
            "title": entries.title,
            "workloads": [
                {
                    "name": workload.name,
                    "title": workload.title,
                    "question": workload.scenario.question,
                    "scenario": workload.source,
                    "settings": dict(workload.settings),
                    "judge": workload.judge.metric,
                    "of": workload.judge.group,
                }
                for workload in entries.workloads
            ],
            "competitors": [
                {"name": one.name, "scheme": one.scheme, "settings": dict(one.settings)} for one in entries.competitors
            ],
        }
        typer.echo(json_text.dumps(document, indent=2))
        return
    from penstock.cli.report import add_row, console, listing

    table = listing("workload", "judged by", "question")
    for workload in entries.workloads:
        of = f" of {workload.judge.group}" if workload.judge.group else ""
        add_row(table, workload.name, f"{prose.title(workload.judge.metric)}{of}", workload.scenario.question)
    console().print(table)
    table = listing("competitor", "scheme", "settings")
    for one in entries.competitors:
        add_row(table, one.name, one.scheme, ", ".join(f"{key} = {value}" for key, value in one.settings.items()))
    console().print(table)


def arena_all(
    asked: Asked,
    *,
    out: Path,
    resume: bool,
    workers: int | None,
    ray: str | None,
    json: bool,
    quiet: bool,
) -> None:
    """Run what is missing, write the report, and print the ranks."""
    with (
        runs_on(ray, workers) as executor,
        Progress(quiet=quiet, lines=True) as progress,
        interrupts.on_interrupt(progress.stop),
        interrupts.exit_note(f"while runs went on; the finished ones are in {out}, and --resume goes on"),
    ):
        found = arena(
            out,
            file=asked.file or STANDARD,
            workloads=asked.workloads,
            competitors=asked.competitors,
            seeds=asked.seeds,
            tune=asked.tune,
            resume=resume,
            callbacks=progress.callbacks(),
            executor=executor,
        )
    if not found.finished:
        say(f"interrupted; the runs that had finished are in {out}")
        say("hint: the same command with --resume goes on, and writes the report")
        raise typer.Exit(INTERRUPTED)
    report = found.write_report()
    if json:
        typer.echo(json_text.dumps(found.document, indent=2))
    elif not quiet:
        _print(found, report)
    _tell_failures(found)


def _print(found: Arena, report: Path) -> None:
    from rich.markup import escape

    from penstock.cli.report import console

    out = console()
    for board in (found, found.tuned):
        if board is not None:
            out.print(_ranking(board))
    for workload in found.entries.workloads:
        out.print(f"{workload.title}: {prose.of_workload(found.standings[workload.name])[0]}", highlight=False)
        repeated = found.sweeps[workload.name].repeated
        if alike := sum(repeated.values()):
            where = f"{alike} of {len(repeated)} runs of this workload"
            out.print(escape(UNDRAWN.format(where)), style="dim", soft_wrap=True)
    out.print(f"report: {report}", style="dim")


def _ranking(board: ArenaResults) -> "Table":
    from penstock.cli.report import add_row, listing

    table = listing("", "competitor", "mean rank", "first on", "times the best", "of those completed")
    for place, total in enumerate(board.totals, 1):
        add_row(
            table,
            str(place),
            total.competitor.name,
            f"{total.mean_rank:.1f}",
            str(total.wins),
            prose.times(total.ratio),
            f"{total.completed} of {len(total.ranks)}",
        )
    return table


def _tell_failures(found: Arena) -> None:
    for name, entry in found.failed[:_FAILURES_LISTED]:
        say(f"error: {name}, {entry['scheme']}, seed {entry['seed']}: {entry['reason']}")
    if found.failed:
        say(f"{count(len(found.failed))} runs failed; all others are in {found.path}")
        raise typer.Exit(FAILED)
