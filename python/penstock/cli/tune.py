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
from penstock.cli.report import console, print_table
from penstock.cli.report_file import check_report, command, write_report
from penstock.cli.requests import TuneOptions
from penstock.reports import Source, tunings
from penstock.tuning import Tuning, prose, tune
from penstock.tuning.beside import beside


def tune_one(given: TuneOptions) -> None:
    """Tune, print the answer, write the scenario file."""
    scenario, goal, json, quiet = find(given.scenario, given.sets), given.goal, given.json, given.quiet
    target = file_to_write(given.out or RESULTS / f"{scenario.name}-{goal}.toml", (".toml",))
    if target.exists() and not given.force:
        raise InputError(f"{target} exists", "replace it with --force, or name another file with --out")
    check_report(given.report, force=given.force)
    if given.figures is not None and given.figures.exists() and not given.force:
        raise InputError(
            f"--figures {given.figures} exists", "replace its figures with --force, or name another folder"
        )
    source = Source.of_scenario(scenario)
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
    both = None if given.report is None and given.figures is None else beside(answer)
    if given.report is not None:
        outline = scenario.outline(scheme=given.scheme, profile=given.profile)
        report = tunings.of_tuning(answer, outline, both=both, sources=[source], command=command())
        write_report(report, given.report, quiet=quiet)
    if given.figures is not None:
        from penstock.figures.tuning import write_figures

        write_figures(answer, both, given.figures)
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
    goal = answer.goal
    typer.echo(f"{answer.scenario.name}, {answer.scheme}, for {goal.name}: {goal.definition}; at {answer.queue}")
    typer.echo("the search keeps: " + "; ".join(tunings.kept(answer)))
    for note in answer.notes:
        typer.echo(f"note: {note}")
    typer.echo("")
    typer.echo(f"theory: {tunings.theory(answer)}")
    left_out = (
        ""
        if answer.region.scorer is None
        else f"; {answer.refused} more that the search proposed were left out by theory"
    )
    typer.echo(f"simulated: {answer.trials} points, {prose.seeds(answer.tuning_seeds)}{left_out}")
    if answer.finalists:
        typer.echo(f"chosen: from the best {answer.finalists} of them, {prose.seeds(answer.choosing_seeds)} too")
    typer.echo("")
    print_table(console(), tunings.parameters(answer))
    for settings in [*([answer.proposal] if answer.changed else []), *answer.others]:
        if settings.margin.reason:
            typer.echo(f"{tunings.heading(answer, settings)} has no margin: {settings.margin.reason}")
    for verdict in answer.verdicts:
        typer.echo("")
        typer.echo(f"against {verdict.against}, {prose.seeds(answer.verdict_seeds)}, which the search never used:")
        print_table(console(), tunings.judged(verdict))
        if verdict.alike:
            typer.echo(
                "every seed gives the same run: nothing in the scenario is random, so the interval has no meaning"
            )
        typer.echo(tunings.in_words(answer, verdict))
    typer.echo("")
    typer.echo(answer.why)
    typer.echo("nothing is written" if written is None else f"written: {written}")
