"""`penstock sweep`: a scenario over values of its keys, schemes and seeds."""

import json as json_text
import tomllib
from pathlib import Path

import typer

from penstock import interrupts
from penstock.cli.failure import FAILED, INTERRUPTED, InputError, say
from penstock.cli.locate import RESULTS, find
from penstock.cli.options import runs_on, words
from penstock.cli.progress import Counts, Progress
from penstock.cli.requests import SweepOptions
from penstock.quantity_text import UNDRAWN, count
from penstock.sweeps.axes import typed
from penstock.sweeps.design import Design, design, read
from penstock.sweeps.sweep import Sweep, run_design
from penstock.variants import typed as variant

_FAILURES_LISTED = 8
_IN_THE_FILE = ("vary", "schemes", "variants", "seeds", "profile", "queue", "sets", "series", "limit")
"""The options that a sweep file has as keys."""


def sweep_all(given: SweepOptions) -> None:
    """Run all that is missing, and say what there is."""
    made, name = _design(given)
    folder = given.out or RESULTS / f"{name}-sweep"
    with (
        runs_on(given.ray, given.jobs) as executor,
        Progress(quiet=given.quiet, lines=True) as progress,
        interrupts.on_interrupt(progress.stop),
        interrupts.exit_note(f"while runs went on; the finished ones are in {folder}, and --resume goes on"),
    ):
        try:
            found = run_design(made, folder, resume=given.resume, callbacks=progress.callbacks(), executor=executor)
        except OSError:
            if (folder / "unfinished.jsonl").is_file():
                say(f"the runs that had finished are in {folder}, and --resume goes on")
            raise
    if given.json:
        typer.echo(json_text.dumps(found.document, indent=2))
    elif not given.quiet:
        _print(found, progress.counts)
    if not found.finished:
        there = found.table().num_rows if found.tables else 0
        say(f"interrupted; {count(there)} of {count(found.document['runs'])} runs are in {folder}")
        say("hint: the same command with --resume goes on")
        raise typer.Exit(INTERRUPTED)
    if found.failed:
        _tell_failures(found)
        raise typer.Exit(FAILED)


def _design(given: SweepOptions) -> tuple[Design, str]:
    """Return the design, and the name for its folder."""
    path = Path(given.what)
    if path.is_file() and _is_sweep_file(path):
        unset = SweepOptions(what=given.what)
        if any(getattr(given, name) != getattr(unset, name) for name in _IN_THE_FILE):
            raise InputError(
                f"{path}: a sweep file has all settings, and takes no --vary, --schemes, --seeds, --set or the like",
                "write them into the file",
            )
        return read(path), path.stem
    scenario = find(given.what, given.sets)
    made = design(
        scenario,
        (),
        axes=[typed(text) for text in given.vary],
        schemes=[*words(given.schemes), *(variant(text) for text in given.variants)],
        seeds=given.seeds or 1,
        profile=given.profile,
        queue=given.queue,
        series=given.series,
        limit=given.limit,
    )
    return made, scenario.name


def _is_sweep_file(path: Path) -> bool:
    """Say whether a file is meant as that of a sweep; its reader tells its faults."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return "scenario" in document or "vary" in document


def _print(found: Sweep, counts: Counts) -> None:
    document = found.document
    if not found.tables:
        typer.echo(_became(found, counts))
        return
    keys = ", ".join(found.columns.values())
    over = f" over {keys}" if keys else ""
    typer.echo(f"{document['scenario']}{over}: {count(found.table().num_rows)} runs in {found.path}")
    typer.echo(_became(found, counts))
    if alike := sum(found.repeated.values()):
        of = len(found.repeated)
        where = "this scenario" if alike == of else f"{count(alike)} of {count(of)} combinations"
        typer.echo(UNDRAWN.format(where))
    typer.echo(f'query: penstock query {found.path} "select * from runs"')


def _became(found: Sweep, counts: Counts) -> str:
    """Say what became of all runs of a sweep."""
    total = int(found.document["runs"])
    others = total - counts.done - counts.skipped - counts.failed - counts.refused if found.finished else 0
    parts = (
        (counts.done, "ran"),
        (counts.skipped, "were there already" if counts.skipped > 1 else "was there already"),
        (counts.failed, "failed"),
        (counts.refused, "were refused" if counts.refused > 1 else "was refused"),
        # Such as those of a scheme that has no use of the key.
        (others, "are the same as others" if others > 1 else "is the same as another"),
    )
    text = ", ".join(f"{count(number)} {words}" for number, words in parts if number)
    return f"of {count(total)} runs {text or 'none ran'}"


def _tell_failures(found: Sweep) -> None:
    keys = list(found.columns)
    for entry in found.failed[:_FAILURES_LISTED]:
        text = ", ".join([*(f"{key} = {entry[key]}" for key in keys), entry["scheme"], f"seed {entry['seed']}"])
        say(f"error: run {entry['run']} ({text}): {entry['reason']}")
    if len(found.failed) > _FAILURES_LISTED:
        say(f"and {count(len(found.failed) - _FAILURES_LISTED)} more: {found.path / 'sweep.json'} lists them")
    say(f"{count(len(found.failed))} of {count(found.document['runs'])} runs failed; all others are in {found.path}")
