"""`penstock compare`: scenarios and schemes side by side, over several seeds."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from penstock import interrupts
from penstock.cli.executor import runs_on
from penstock.cli.failure import INTERRUPTED, InputError, say
from penstock.cli.locate import RESULTS, find, is_results
from penstock.cli.progress import Progress
from penstock.cli.run import Request, drawing, fail_on_claims, fail_on_drawing
from penstock.comparison import Comparison, compare, side_by_side
from penstock.result import Result
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
    resume: bool = False


def run_all(request: Request, names: Sequence[str], lines: Lines, *, ray: str | None) -> None:
    """Run every scenario with every scheme and seed, write the folder with its figures, print one table."""
    folders = [Path(name) for name in names if is_results(Path(name))]
    if folders:
        if len(folders) < len(names):
            other = next(name for name in names if not is_results(Path(name)))
            raise InputError(f"{other}: not a results folder, as the others are", f"run it first: penstock run {other}")
        _put_together(request, folders, lines, ray=ray)
        return
    scenarios = [find(name, request.sets) for name in names]
    folder = request.out or RESULTS / f"{_in_short([scenario.name for scenario in scenarios])}-compare"
    with (
        runs_on(ray) as executor,
        Progress(quiet=request.quiet) as progress,
        interrupts.on_interrupt(progress.stop),
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
            resume=lines.resume,
            callbacks=progress.callbacks(),
            executor=executor,
            limit=request.limit,
        )
    # An interrupt that falls between the last run and the end of the writing has stopped none.
    _show(request, comparison, folder, interrupted=comparison.interrupted or progress.stopped)


def _put_together(request: Request, folders: Sequence[Path], lines: Lines, *, ray: str | None) -> None:
    """Put the runs of results folders side by side."""
    given = {
        "--schemes": lines.schemes,
        "--variant": lines.variants,
        "--vary": lines.vary,
        "--seeds": lines.seeds > 1,
        "--resume": lines.resume,
        "--set": request.sets,
        "--profile": request.profile,
        "--ray": ray,
    }
    for option, value in given.items():
        if value:
            raise InputError(f"{option}: the runs of results folders have ended", "leave it out, or name scenarios")
    labels = [folder.resolve().name for folder in folders]
    for label in labels:
        if labels.count(label) > 1:
            raise InputError(f"two results folders have the name {label}", "rename one of them")
    results = {label: Result.open(folder) for label, folder in zip(labels, folders, strict=True)}
    folder = request.out or RESULTS / f"{_in_short(labels)}-compare"
    comparison = side_by_side(results, queue=lines.queue, out=folder, force=request.force)
    _show(request, comparison, folder, interrupted=False)


def _show(request: Request, comparison: Comparison, folder: Path, *, interrupted: bool) -> None:
    """Draw a comparison, print its table, and end with the status that it calls for."""
    # Drawing takes seconds, and an interrupt must not wait for it.
    with interrupts.exit_note(f"while drawing; the records are whole and in {folder}"):
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
    if comparison.broken_claims:
        fail_on_claims(comparison.broken_claims, folder)


def _in_short(names: Sequence[str]) -> str:
    """Name up to three scenarios, of more the first and how many others."""
    return "-".join(names) if len(names) <= 3 else f"{names[0]}-and-{len(names) - 1}-more"
