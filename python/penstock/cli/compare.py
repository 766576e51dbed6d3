"""`penstock compare`: scenarios and schemes side by side, over several seeds."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import typer

from penstock import interrupts
from penstock.cli.executor import runs_on
from penstock.cli.failure import INTERRUPTED, say
from penstock.cli.locate import RESULTS, find
from penstock.cli.progress import Progress
from penstock.cli.run import Request, drawing, fail_on_drawing, fail_on_loss
from penstock.comparison import compare
from penstock.sweeps import axes
from penstock.variants import typed


@dataclass(frozen=True)
class Lines:
    """The lines of a comparison, and the queue by which they are judged."""

    schemes: list[str]
    variants: list[str]
    vary: list[str]
    seeds: int
    queue: str | None


def run_all(request: Request, names: Sequence[str], lines: Lines, *, ray: str | None) -> None:
    """Run every scenario with every scheme and seed, write the folder with its figures, print one table."""
    scenarios = [find(name, request.sets) for name in names]
    folder = request.out or RESULTS / f"{_in_short([scenario.name for scenario in scenarios])}-compare"
    with (
        runs_on(ray) as executor,
        Progress(quiet=request.quiet) as progress,
        interrupts.keeping(progress.stop),
    ):
        comparison = compare(
            scenarios,
            [*lines.schemes, *(typed(text) for text in lines.variants)],
            vary=[axes.typed(text) for text in lines.vary],
            seeds=lines.seeds,
            profile=request.profile,
            queue=lines.queue,
            out=folder,
            force=request.force,
            watch=progress.watch(),
            executor=executor,
            limit=request.limit,
        )
    # An interrupt that falls between the last run and the end of the writing has stopped none.
    interrupted = comparison.interrupted or progress.stopped
    # Drawing takes seconds, and who interrupts waits for none.
    with interrupts.telling(f"while drawing; the records are whole and in {folder}"):
        _, undrawn = (None, None) if interrupted else drawing(comparison.write_figures)

    if request.json:
        typer.echo(json.dumps(comparison.document, indent=2))
    elif not request.quiet:
        from penstock.cli.report import print_comparison

        print_comparison(comparison.document, folder)
    if undrawn is not None:
        fail_on_drawing(undrawn, folder)
    if interrupted:
        say(f"interrupted; the records up to then are in {folder}")
        say(f"hint: penstock plot {folder} draws it")
        raise typer.Exit(INTERRUPTED)
    if comparison.losses:
        fail_on_loss(comparison.losses, folder)


def _in_short(names: Sequence[str]) -> str:
    """Name up to three scenarios, of more the first and how many others."""
    return "-".join(names) if len(names) <= 3 else f"{names[0]}-and-{len(names) - 1}-more"
