"""`penstock run`: one scenario, one scheme, one seed."""

from dataclasses import dataclass
from pathlib import Path

import typer

from penstock.cli.failure import INTERRUPTED, say
from penstock.cli.locate import RESULTS, find, refuse
from penstock.cli.progress import Progress
from penstock.result import Result
from penstock.text import duration


@dataclass(frozen=True)
class Request:
    """What `run` and `compare` are asked alike."""

    scenario: str
    sets: list[str]
    profile: str | None
    out: Path | None
    force: bool
    json: bool
    quiet: bool


def run_one(request: Request, *, scheme: str | None, seed: int | None, figures: bool) -> None:
    """Run, write the folder, print the summary."""
    scenario = find(request.scenario, request.sets)
    # Laying the scenario out finds what is wrong with it before anything is written.
    plan = scenario.describe(scheme=scheme, profile=request.profile, seed=seed)
    folder = request.out or RESULTS / f"{plan['name']}-{plan['scheme']}-seed{plan['seed']}"
    refuse(folder, force=request.force, mark="scenario.toml")

    with Progress(quiet=request.quiet) as progress:
        result = scenario.run(
            scheme=scheme,
            profile=request.profile,
            seed=seed,
            out=folder,
            force=request.force,
            progress=progress.task(plan["scheme"]),
        )
    drawn = _draw(result, folder) if figures else []

    if request.json:
        typer.echo(result.summary_json, nl=False)
    elif not request.quiet:
        from penstock.cli.report import print_run

        print_run(result, folder, drawn)
    if result.interrupted:
        at = duration(result.interrupted_at_s or 0.0)
        say(f"interrupted at {at} of {duration(plan['duration_s'])}; what was recorded until then is in {folder}")
        raise typer.Exit(INTERRUPTED)


def _draw(result: Result, folder: Path) -> list[Path]:
    from penstock.figures import write_all

    try:
        return write_all(result, folder)
    except KeyboardInterrupt:
        say(f"interrupted while drawing; the records are whole and in {folder}")
        raise typer.Exit(INTERRUPTED) from None
