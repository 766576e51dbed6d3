"""`penstock reproduce PAPER --search`: the reading of a paper under which most claims hold."""

import json
from pathlib import Path

import typer

from penstock import interrupts
from penstock.cli.failure import INTERRUPTED, InputError, say
from penstock.cli.locate import RESULTS
from penstock.cli.options import runs_on
from penstock.cli.progress import Progress
from penstock.cli.requests import ReproduceOptions
from penstock.quantity_text import count
from penstock.reproduction.search import EVIDENCE, Search, search_readings


def search_all(given: ReproduceOptions) -> None:
    """Search, or go on with a search, and say how far the readings come.

    Raises:
        InputError: no paper is named, or another option is.
    """
    name = given.paper
    if name is None:
        raise InputError("--search needs a paper", "write, for instance, penstock reproduce multicast --search")
    refused = {
        "FIGURE": given.figure,
        "--short": given.short,
        "--controls": given.controls,
        "--set": given.sets,
        "--force": given.force,
    }
    if others := [option for option, value in refused.items() if value]:
        raise InputError(
            f"--search goes without {', '.join(others)}", "readings.toml of the paper says what is searched"
        )
    folder = given.out or RESULTS / f"reproduce-{Path(name).name}-search"
    with (
        runs_on(given.ray, given.jobs) as executor,
        Progress(quiet=given.quiet, lines=True) as progress,
        interrupts.on_interrupt(progress.stop),
        interrupts.exit_note(f"while runs went on; the finished ones are in {folder}, and the same command goes on"),
    ):
        try:
            found = search_readings(
                name, folder, callbacks=progress.callbacks(), log=None if given.quiet else say, executor=executor
            )
        except KeyboardInterrupt:
            say(f"interrupted; the runs that had finished are in {folder}")
            say("hint: the same command goes on")
            raise typer.Exit(INTERRUPTED) from None
    if given.json:
        typer.echo(json.dumps(found.document(), indent=2))
    elif not given.quiet:
        _print(found)


def _print(found: Search) -> None:
    from rich.markup import escape

    from penstock.cli.report import console, listing

    out = console()
    one, two, aside = found.tested
    heads = [f"half 1, of {one}", f"half 2, of {two}", f"aside, of {aside}"]
    table = listing("reading", *heads, "wins")
    table.add_row("the profile's", *map(str, found.profile), "")
    for fit in found.fits:
        halves = [f"{fit.fitted} (fitted)", f"{fit.unseen} (unseen)"][:: -1 if fit.half else 1]
        changes = [f"{choice} = {reading}" for choice, reading in fit.changes.items()] or ["nothing better was found"]
        table.add_row(escape("\n".join(changes)), *halves, str(fit.aside), "yes" if fit.wins else "no")
    out.print(table)
    for fit in found.fits:
        for word, claims in (("holds now", fit.gained), ("no more", fit.lost)):
            if claims:
                out.print(f"fitted on half {fit.half + 1}, {word}: {', '.join(claims)}", markup=False)
        if fit.wins and fit.unjudged:
            out.print(f"fitted on half {fit.half + 1}, decides nothing that it never saw: {', '.join(fit.unjudged)}")
    refused = f", {count(found.refused)} more go with no run" if found.refused else ""
    out.print(f"\n{count(found.tried)} of {count(found.space.size)} readings tried{refused}", style="bold")
    out.print(_verdict(found), style="bold", markup=False)
    out.print(f"evidence: {found.path / EVIDENCE}", style="dim")


def _verdict(found: Search) -> str:
    winner = found.winner
    if winner is None:
        return "no reading holds more claims of the half that it never saw than the profile's: the profile stays"
    profile = found.space.paper.folder / "profile.toml"
    return f"the reading that was fitted on half {winner.half + 1} wins: put it into {profile}"
