"""`penstock reproduce`: claims of papers beside our measurements."""

import json
from pathlib import Path

import typer

from penstock.cli.failure import FAILED, say
from penstock.cli.locate import RESULTS, assignments
from penstock.cli.options import runs_on
from penstock.cli.progress import Progress
from penstock.cli.requests import ReproduceOptions
from penstock.cli.search import search_all
from penstock.reproduction.contents import papers
from penstock.reproduction.reproduce import Reproduction, reproduce


def show_list(*, as_json: bool) -> None:
    """Print the papers with their figures; no code of theirs is run."""
    known = papers()
    if as_json:
        entries = [
            {
                "name": paper.name,
                "title": paper.title,
                "figures": [
                    {
                        "name": figure.name,
                        "title": figure.title,
                        "claims": paper.claims[figure.name],
                        "drawn": figure.name in paper.drawn,
                    }
                    for figure in paper.figures
                ],
            }
            for paper in known
        ]
        typer.echo(json.dumps(entries, indent=2))
        return
    from penstock.cli.report import add_row, console, listing

    table = listing("paper", "figure", "content", "claims", "drawn")
    for paper in known:
        in_all = sum(len(claims) for claims in paper.claims.values())
        add_row(table, paper.name, "", f"{paper.title} ({paper.source})", str(in_all), "")
        for figure in paper.figures:
            drawn = "yes" if figure.name in paper.drawn else "-"
            add_row(table, "", figure.name, figure.title, str(len(paper.claims[figure.name])), drawn)
    console().print(table)


def reproduce_any(given: ReproduceOptions) -> None:
    """List the papers, search for a reading, or reproduce, as the options ask for."""
    if given.list_all:
        show_list(as_json=given.json)
    elif given.search:
        search_all(given)
    else:
        reproduce_all(given)


def reproduce_all(given: ReproduceOptions) -> None:
    """Run what the papers need, write the report, print what holds."""
    name, figure = given.paper, given.figure
    folder = given.out or RESULTS / "-".join(["reproduce", *([name] if name else []), *([figure] if figure else [])])
    with runs_on(given.ray, given.jobs) as executor, Progress(quiet=given.quiet) as progress:
        found = reproduce(
            name,
            figure,
            short=given.short,
            controls=given.controls,
            reading=assignments(given.sets),
            out=folder,
            force=given.force,
            callbacks=progress.callbacks(),
            executor=executor,
        )
    if given.json:
        typer.echo(json.dumps(found.document(), indent=2))
    elif not given.quiet:
        _print(found, folder)
    for figure_of, reason in found.undrawn.items():
        say(f"error: {figure_of} could not be drawn: {reason}")
    for claim in found.toothless:
        say(f"error: {claim}: the negative control does not fail this claim")
    if found.toothless:
        say("hint: make the test stricter in claims.toml, or choose a control that differs more")
    if found.toothless or found.undrawn:
        raise typer.Exit(FAILED)


def _print(found: Reproduction, folder: Path) -> None:
    from rich.markup import escape
    from rich.text import Text

    from penstock.cli.report import console, listing
    from penstock.reproduction.prose import ours, paper_value

    out = console()
    styles = {"holds": "green", "differs": "yellow", "cannot be tested": "dim"}
    table = listing("paper", "figure", "claim", "paper", "ours", "verdict", "by how much")
    for entry in found.papers:
        for reply in entry.answers:
            claim, judgement = reply.claim, reply.judgement
            reason = "" if claim.testable is None else judgement.why
            cells = entry.paper.name, claim.figure, claim.id, paper_value(claim), ours(reply)
            table.add_row(*map(escape, cells), Text(judgement.verdict, styles[judgement.verdict]), escape(reason))
    out.print(table)
    counts = found.totals
    out.print(
        f"\n{counts['claims']} claims: {counts['holds']} hold, {counts['differs']} differ, "
        f"{counts['untestable']} cannot be tested",
        style="bold",
    )
    out.print(f"report: {folder / 'index.html'}", style="dim")
