"""`penstock tune`: the answer of :mod:`penstock.tuning` as text, as JSON, and as a scenario file."""

import json as json_text
import math
from pathlib import Path

import typer

from penstock import interrupts
from penstock.cli.failure import INTERRUPTED, InputError, say
from penstock.cli.locate import RESULTS, file_to_write, find
from penstock.cli.options import runs_on, words
from penstock.cli.progress import Progress
from penstock.cli.requests import TuneOptions
from penstock.metrics.seeds import LEVEL
from penstock.quantity_text import octets, share
from penstock.tuning import Tuning, prose, tune
from penstock.tuning.goals import Guard
from penstock.tuning.measures import MEASURES
from penstock.tuning.tuning import OWN, Settings
from penstock.tuning.verdict import Verdict


def tune_one(given: TuneOptions) -> None:
    """Tune, print the answer, write the scenario file."""
    scenario, goal, json, quiet = find(given.scenario, given.sets), given.goal, given.json, given.quiet
    target = file_to_write(given.out or RESULTS / f"{scenario.name}-{goal}.toml", (".toml",))
    if target.exists() and not given.force:
        raise InputError(f"{target} exists", "replace it with --force, or name another file with --out")
    with runs_on(given.ray) as executor, Progress(quiet=quiet) as progress, interrupts.on_interrupt(progress.stop):
        answer = tune(
            scenario,
            goal,
            scheme=given.scheme,
            profile=given.profile,
            against=given.against,
            keys=words(given.keys),
            trials=given.trials,
            seeds=given.seeds,
            verdict_seeds=given.verdict_seeds,
            phase_margin=_degrees(given.phase_margin),
            callbacks=progress.callbacks(),
            executor=executor,
        )
    written = target if answer.worth_writing else None
    if written is not None:
        written.parent.mkdir(parents=True, exist_ok=True)
        answer.save(written, name=given.scenario)
    if json:
        document = answer.document() | {"file": None if written is None else str(written)}
        typer.echo(json_text.dumps(document, indent=2))
    elif not quiet:
        _print(answer, written)
    if answer.interrupted:
        say(
            f"interrupted; none of {answer.trials} points so far is better than the scenario's own parameters: "
            "nothing is written"
            if written is None
            else f"interrupted; the best of {answer.trials} points so far is in {written}, and has not been judged"
        )
        raise typer.Exit(INTERRUPTED)


def _degrees(text: str) -> float | None:
    if text == "none":
        return None
    try:
        degrees = float(text)
    except ValueError:
        degrees = math.nan
    if not -180 <= degrees <= 180:
        raise InputError(
            f"--phase-margin {text} is no angle from -180 to 180 degrees", "write degrees, such as 0, or none"
        )
    return degrees


def _print(answer: Tuning, written: Path | None) -> None:
    region, goal = answer.region, answer.goal
    typer.echo(f"{answer.scenario.name}, {answer.scheme}, for {goal.name}: {goal.definition}; at {answer.queue}")
    kept = [_guard(guard) for guard in answer.guards]
    if math.isfinite(answer.least_phase_rad):
        kept.append(f"a phase margin, where there is one, at least {math.degrees(answer.least_phase_rad):.1f} degrees")
    typer.echo("the search keeps: " + "; ".join(kept))
    for note in answer.notes:
        typer.echo(f"note: {note}")
    typer.echo("")
    if region.scorer is None:
        typer.echo(f"theory: {answer.unpredicted}; simulation alone searches")
    elif region.resting:
        typer.echo(
            f"theory: {region.resting} of {region.points} points have an equilibrium within the limits "
            f"of queue and rates; the best {region.kept} by the fluid model are kept"
        )
    else:
        typer.echo(
            f"theory: no point of {region.points} has an equilibrium within the limits of queue and rates; all are kept"
        )
    left_out = (
        "" if region.scorer is None else f"; {answer.refused} more that the search proposed were left out by theory"
    )
    typer.echo(f"simulated: {answer.trials} points, {prose.seeds(answer.tuning_seeds)}{left_out}")
    if answer.finalists:
        typer.echo(f"chosen: from the best {answer.finalists} of them, {prose.seeds(answer.choosing_seeds)} too")
    typer.echo("")
    _print_parameters(answer)
    for verdict in answer.verdicts:
        _print_verdict(answer, verdict)
    typer.echo("")
    typer.echo(answer.why)
    typer.echo("nothing is written" if written is None else f"written: {written}")


def _print_parameters(answer: Tuning) -> None:
    sets = [*([answer.proposal] if answer.changed else []), *answer.others]
    _table(
        ["", *(_heading(answer, settings) for settings in sets)],
        [
            *([key, *(str(settings.parameters[key]) for settings in sets)] for key in answer.proposal.parameters),
            ["phase margin", *(_margin(settings) for settings in sets)],
            ["equilibrium queue", *(_rest(settings) for settings in sets)],
            ["packets", *(_confirmed(settings) for settings in sets)],
        ],
    )
    for settings in sets:
        if settings.margin.reason:
            typer.echo(f"{_heading(answer, settings)} has no margin: {settings.margin.reason}")


def _print_verdict(answer: Tuning, verdict: Verdict) -> None:
    typer.echo("")
    typer.echo(f"against {verdict.against}, {prose.seeds(answer.verdict_seeds)}, which the search never used:")
    rows = []
    for pair in verdict.measures:
        title, kind = MEASURES[pair.measure].title, MEASURES[pair.measure].kind
        interval = (
            f"{prose.value(pair.low, kind, signed=True)} to {prose.value(pair.high, kind, signed=True)}"
            if math.isfinite(pair.low)
            else "one seed"
        )
        rows.append(
            [
                title,
                prose.over_seeds(pair.proposal, kind),
                prose.over_seeds(pair.other, kind),
                prose.value(pair.difference, kind, signed=True),
                interval,
            ]
        )
    _table(["", "proposal", "compared with", "difference", f"{100 * LEVEL:.0f} % interval"], rows)
    (found,) = (pair for pair in verdict.measures if pair.measure == answer.goal.measure)
    of = found.other["mean"] or 0.0
    change = f" by {share(abs(found.difference) / of)}" if of > 0 and verdict.word != "no difference shown" else ""
    if verdict.alike:
        typer.echo("every seed gives the same run: nothing in the scenario is random, so the interval has no meaning")
    typer.echo(f"{MEASURES[found.measure].title}: {verdict.word}{change}{prose.broken(verdict)}")


def _table(heads: list[str], rows: list[list[str]]) -> None:
    widths = [max(len(row[column]) for row in [heads, *rows]) for column in range(len(heads))]
    for row in [heads, *rows]:
        typer.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _heading(answer: Tuning, settings: Settings) -> str:
    if settings is answer.proposal and not answer.worth_writing:
        return "candidate"
    return {OWN: "scenario's own"}.get(settings.name, settings.name)


def _margin(settings: Settings) -> str:
    phase = settings.margin.phase_rad
    return f"{math.degrees(phase):.1f} degrees" if math.isfinite(phase) else "none"


def _rest(settings: Settings) -> str:
    rest = settings.margin.rest_octets
    return octets(rest) if math.isfinite(rest) else "none"


def _confirmed(settings: Settings) -> str:
    return "-" if settings.confirmed is None else "confirm" if settings.confirmed else "contradict"


def _guard(guard: Guard) -> str:
    title, kind = MEASURES[guard.measure].title, MEASURES[guard.measure].kind
    return f"{title} {'at most' if guard.sign > 0 else 'at least'} {prose.value(guard.bound, kind)}"
