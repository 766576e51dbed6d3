"""`penstock arena`: runs, the report, and the ranks that are printed."""

import json as json_text
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from penstock import interrupts
from penstock.arenas import prose
from penstock.arenas.arena import Arena, ArenaResults, arena
from penstock.arenas.arena_file import STANDARD, read
from penstock.cli.failure import FAILED, INTERRUPTED, say
from penstock.cli.options import runs_on, words
from penstock.cli.progress import Progress
from penstock.cli.requests import ArenaOptions
from penstock.quantity_text import UNDRAWN, count

if TYPE_CHECKING:
    from rich.table import Table

_FAILURES_LISTED = 8


def arena_any(given: ArenaOptions) -> None:
    """List what an arena consists of, or run it."""
    if given.list_:
        show_entries(given)
    else:
        arena_all(given)


def show_entries(given: ArenaOptions) -> None:
    """Print the workloads and the competitors."""
    entries = read(given.file or STANDARD).of(words(given.workloads), words(given.competitors))
    if given.json:
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


def arena_all(given: ArenaOptions) -> None:
    """Run what is missing, write the report, and print the ranks."""
    with (
        runs_on(given.ray, given.jobs) as executor,
        Progress(quiet=given.quiet, lines=True) as progress,
        interrupts.on_interrupt(progress.stop),
        interrupts.exit_note(f"while runs went on; the finished ones are in {given.out}, and --resume goes on"),
    ):
        found = arena(
            given.out,
            file=given.file or STANDARD,
            workloads=words(given.workloads),
            competitors=words(given.competitors),
            seeds=given.seeds,
            tune=given.tune,
            resume=given.resume,
            callbacks=progress.callbacks(),
            executor=executor,
        )
    if not found.finished:
        say(f"interrupted; the runs that had finished are in {given.out}")
        say("hint: the same command with --resume goes on, and writes the report")
        raise typer.Exit(INTERRUPTED)
    report = found.write_report()
    if given.json:
        typer.echo(json_text.dumps(found.document, indent=2))
    elif not given.quiet:
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
            f"{total.mean_rank:.1f} to {total.mean_last:.1f}",
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
