"""`penstock tune`: the answer of :mod:`penstock.tuning` as text, as JSON, and as a scenario file."""

import json as json_text
import math
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from penstock import interrupts
from penstock.cli.failure import INTERRUPTED, InputError, say
from penstock.cli.locate import RESULTS, file_to_write, find
from penstock.cli.progress import Progress
from penstock.runs import Watch
from penstock.scenario import Scenario
from penstock.text import count, octets, share
from penstock.tuning import Answer, tune
from penstock.tuning.answer import Settings
from penstock.tuning.goals import GOALS, MEASURES, Guard, Name, mean
from penstock.tuning.verdict import LEVEL, Verdict

_NAMES: dict[str, Name] = {name: name for name in GOALS}


def tune_one(
    name: str,
    goal: str,
    *,
    scheme: str | None,
    profile: str | None,
    against: str | None,
    keys: list[str],
    sets: list[str],
    trials: int,
    seeds: int,
    verdict_seeds: int,
    out: Path | None,
    force: bool,
    json: bool,
    quiet: bool,
) -> None:
    """Tune, print the answer, write the scenario file."""
    if goal not in _NAMES:
        raise InputError(f"--for {goal}: no such goal", f"the goals are {', '.join(_NAMES)}")
    scenario = find(name, sets)
    target = file_to_write(out or RESULTS / f"{scenario.name}-{goal}.toml", (".toml",))
    if target.exists() and not force:
        raise InputError(f"{target} exists", "replace it with --force, or name another file with --out")
    with Progress(quiet=quiet) as progress, interrupts.keeping(progress.stop):
        watch = Watch(progress.task, progress.rounds(), progress.stop, lambda: progress.stopped)
        answer = tune(
            scenario,
            _NAMES[goal],
            scheme=scheme,
            profile=profile,
            against=against,
            keys=keys,
            trials=trials,
            seeds=seeds,
            verdict_seeds=verdict_seeds,
            watch=watch,
            narrowing=progress.part("theory"),
        )
    # A proposal without a gain would be taken for one with it. The best so far, which Ctrl-C asks for, says what it is.
    written = target if answer.gain_shown or (answer.interrupted and answer.changed) else None
    if written is not None:
        _write(answer, name, written)
    if json:
        typer.echo(json_text.dumps(document(answer, written), indent=2))
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


def document(answer: Answer, written: Path | None) -> dict[str, Any]:
    """The answer as JSON has it: null stands for what is unknown, and for the file if none was written."""
    return {
        "scenario": answer.scenario.name,
        "scheme": answer.scheme,
        "goal": asdict(answer.goal),
        "guards": [asdict(guard) for guard in answer.guards],
        "queue": answer.queue,
        "theory": {
            "points": answer.region.points,
            "resting": answer.region.resting,
            "kept": answer.region.kept,
            "bounds": {
                knob.key: {"unit": knob.unit, "of": [whole.low, whole.high], "kept": [knob.low, knob.high]}
                for whole, knob in zip(answer.space, answer.region.knobs, strict=True)
            },
        },
        "trials": answer.trials,
        "refused_by_theory": answer.refused,
        "tuning_seeds": list(answer.tuning_seeds),
        "verdict_seeds": list(answer.verdict_seeds),
        "changed": answer.changed,
        "proposal": _settings(answer.proposal),
        "others": [_settings(other) for other in answer.others],
        "verdicts": [_verdict(verdict) for verdict in answer.verdicts],
        "gain_shown": answer.gain_shown,
        "interrupted": answer.interrupted,
        "file": None if written is None else str(written),
    }


def _settings(settings: Settings) -> dict[str, Any]:
    return {
        "name": settings.name,
        "parameters": dict(settings.parameters),
        "phase_margin_degrees": _number(math.degrees(settings.margin.phase_rad)),
        "rest_octets": _number(settings.margin.rest_octets),
        "no_margin_because": settings.margin.reason or None,
        "tuning": mean(settings.tuning),
        "judging": mean(settings.judging) if settings.judging else None,
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "against": verdict.against,
        "word": verdict.word,
        "beats": verdict.beats,
        "guards_broken": list(verdict.broken),
        "runs_alike": verdict.alike,
        "measures": [
            {
                "measure": pair.measure,
                "proposal": {"mean": pair.proposal[0], "std": pair.proposal[1]},
                "other": {"mean": pair.other[0], "std": pair.other[1]},
                "difference": {
                    "mean": pair.difference,
                    "std": pair.spread,
                    "interval": [_number(pair.low), _number(pair.high)],
                    "level": LEVEL,
                },
            }
            for pair in verdict.measures
        ],
    }


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _write(answer: Answer, name: str, target: Path) -> None:
    """Write the scenario with the proposal; its comment says where it comes from."""
    lines = [
        f"{name} with parameters that `penstock tune` proposes for {answer.goal.name}: {answer.goal.definition}.",
        f"{answer.trials} points simulated, {_seeds(answer.tuning_seeds)}.",
    ]
    lines += [_sentence(answer, verdict) for verdict in answer.verdicts] or ["Interrupted before a verdict."]
    question = f"{answer.scenario.question} (Parameters proposed by `penstock tune --for {answer.goal.name}`.)"
    text = "".join(f"# {line}\n" for line in lines) + "\n" + answer.scenario.to_toml()
    whole = Scenario.from_toml(text, name=answer.scenario.name).set("question", question)
    target.parent.mkdir(parents=True, exist_ok=True)
    whole.save(target)


def _sentence(answer: Answer, verdict: Verdict) -> str:
    (pair,) = (pair for pair in verdict.measures if pair.measure == answer.goal.measure)
    title, kind = MEASURES[pair.measure]
    return (
        f"Against {verdict.against}, {_seeds(answer.verdict_seeds)}, which the search never saw: {title} "
        f"{_value(pair.proposal[0], kind)} instead of {_value(pair.other[0], kind)}, {verdict.word}{_broken(verdict)}."
    )


def _print(answer: Answer, written: Path | None) -> None:
    region, goal = answer.region, answer.goal
    typer.echo(f"{answer.scenario.name}, {answer.scheme}, for {goal.name}: {goal.definition}; at {answer.queue}")
    typer.echo("the search keeps: " + "; ".join(_guard(guard) for guard in answer.guards))
    typer.echo("")
    if region.resting:
        typer.echo(
            f"theory: of {region.points} points {region.resting} rest within the limits of queue and rates; "
            f"kept are the {region.kept} of them of which the fluid model forecasts the best"
        )
    else:
        typer.echo(f"theory: none of {region.points} points rests within the limits of queue and rates: all are kept")
    typer.echo(
        f"simulated: {answer.trials} points, {_seeds(answer.tuning_seeds)}; "
        f"{answer.refused} more that the search proposed were left out by theory"
    )
    typer.echo("")
    _print_parameters(answer)
    for verdict in answer.verdicts:
        _print_verdict(answer, verdict)
    typer.echo("")
    if written is not None:
        typer.echo(f"written: {written}")
    elif answer.changed:
        typer.echo("no gain is shown on seeds that the search never saw: nothing is written")
    else:
        typer.echo("none of these points is better than the scenario's own parameters: nothing is proposed or written")


def _print_parameters(answer: Answer) -> None:
    sets = [*([answer.proposal] if answer.changed else []), *answer.others]
    _table(
        ["", *(_heading(settings.name) for settings in sets)],
        [
            *([key, *(str(settings.parameters[key]) for settings in sets)] for key in answer.proposal.parameters),
            ["phase margin", *(_margin(settings) for settings in sets)],
            ["queue at rest", *(_rest(settings) for settings in sets)],
        ],
    )
    for settings in sets:
        if settings.margin.reason:
            typer.echo(f"{_heading(settings.name)} has no margin: {settings.margin.reason}")


def _print_verdict(answer: Answer, verdict: Verdict) -> None:
    typer.echo("")
    typer.echo(f"against {verdict.against}, {_seeds(answer.verdict_seeds)}, which the search never saw:")
    rows = []
    for pair in verdict.measures:
        title, kind = MEASURES[pair.measure]
        interval = (
            f"{_value(pair.low, kind, signed=True)} to {_value(pair.high, kind, signed=True)}"
            if math.isfinite(pair.low)
            else "one seed"
        )
        rows.append(
            [
                title,
                f"{_value(pair.proposal[0], kind)} ± {_value(pair.proposal[1], kind)}",
                f"{_value(pair.other[0], kind)} ± {_value(pair.other[1], kind)}",
                _value(pair.difference, kind, signed=True),
                interval,
            ]
        )
    _table(["", "proposal", "compared with", "difference", f"{100 * LEVEL:.0f} % interval"], rows)
    (found,) = (pair for pair in verdict.measures if pair.measure == answer.goal.measure)
    shown = verdict.word != "no difference shown" and found.other[0] > 0
    change = f" by {share(abs(found.difference) / found.other[0])}" if shown else ""
    if verdict.alike:
        typer.echo("every seed gives the same run: nothing in them is random, and the interval says nothing")
    typer.echo(f"{MEASURES[found.measure][0]}: {verdict.word}{change}{_broken(verdict)}")


def _broken(verdict: Verdict) -> str:
    """What the proposal pays with more than it may."""
    return f", but breaks: {', '.join(MEASURES[key][0] for key in verdict.broken)}" if verdict.broken else ""


def _table(heads: list[str], rows: list[list[str]]) -> None:
    widths = [max(len(row[column]) for row in [heads, *rows]) for column in range(len(heads))]
    for row in [heads, *rows]:
        typer.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _seeds(seeds: tuple[int, ...]) -> str:
    return f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {seeds[0]} to {seeds[-1]}"


def _heading(name: str) -> str:
    return {"scenario": "scenario's own"}.get(name, name)


def _margin(settings: Settings) -> str:
    phase = settings.margin.phase_rad
    return f"{math.degrees(phase):.0f} degrees" if math.isfinite(phase) else "none"


def _rest(settings: Settings) -> str:
    rest = settings.margin.rest_octets
    return octets(rest) if math.isfinite(rest) else "none"


def _guard(guard: Guard) -> str:
    title, kind = MEASURES[guard.measure]
    return f"{title} {'at most' if guard.sign > 0 else 'at least'} {_value(guard.bound, kind)}"


def _value(value: float, kind: str, *, signed: bool = False) -> str:
    """Write a measure's value, with a sign if it is a difference."""
    size = abs(value)
    writers: dict[str, Callable[[float], str]] = {
        "octets": octets,
        "share": lambda v: f"{100 * v:.2f} {'points' if signed else '%'}",
        "count": lambda v: count(round(v)) if v == round(v) else f"{v:.1f}",
        "index": lambda v: f"{v:.3f}",
    }
    sign = ("-" if value < 0 else "+") if signed else ""
    return sign + writers[kind](size)
