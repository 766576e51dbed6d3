"""`penstock theory map`: a map of :mod:`penstock.theory.maps`, as a figure and JSON."""

import json as json_text
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast, get_args

import typer

from penstock.cli.failure import InputError, say
from penstock.cli.locate import RESULTS, file_to_write, find
from penstock.cli.progress import Progress
from penstock.cli.theory.options import MapOptions, ScenarioOptions
from penstock.scenario import Scenario
from penstock.theory.axes import Axis, read
from penstock.theory.maps import METRICS, Map, Metric, Point, backend, compute_map, simulate


def draw(asked: ScenarioOptions, given: MapOptions) -> None:
    """Calculate, draw and print a map."""
    if given.metric not in get_args(Metric):
        raise InputError(f"--metric {given.metric}: unknown metric", f"use one of {', '.join(get_args(Metric))}")
    if given.library not in ("auto", "numpy", "jax"):
        raise InputError(f"--library {given.library}: unknown library", "use auto, numpy or jax")
    metric = cast(Metric, given.metric)
    scenario = find(asked.scenario, asked.sets)
    scheme = asked.scheme or scenario.scheme
    x, y = read(given.x, scheme), read(given.y, scheme)
    if x.name == y.name:
        raise InputError(f"--x and --y are both {x.name}", "choose two different parameters")
    out = file_to_write(given.out or RESULTS / f"map-{scenario.name}-{scheme}-{metric}.png")
    with Progress(quiet=given.quiet) as progress:
        drawn = compute_map(
            scenario,
            x,
            y,
            metric,
            scheme=asked.scheme,
            profile=asked.profile,
            at_s=given.at,
            xp=backend(given.library),
            progress=progress.part("map"),
        )
        points = (
            simulate(
                scenario,
                drawn,
                given.simulate,
                scheme=asked.scheme,
                profile=asked.profile,
                at_s=given.at,
                duration_s=given.simulated,
                progress=progress.part("simulations"),
            )
            if given.simulate
            else []
        )
    _write(scenario, drawn, points, out)
    if given.json:
        typer.echo(json_text.dumps(document(scenario.name, drawn, points), indent=2))
    elif not given.quiet:
        typer.echo(out)
    for number, reason in enumerate(drawn.refused):
        say(f"{int((drawn.verdicts == number).sum())} of {drawn.values.size} points have no value: {reason}")


def document(name: str, drawn: Map, points: list[Point]) -> dict[str, Any]:
    """The map as JSON has it: rows along y, null where there is no value; there, ``verdicts`` has which reason."""
    words, unit, border = METRICS[drawn.metric]
    return {
        "scenario": name,
        "scheme": drawn.scheme,
        "metric": drawn.metric,
        "meaning": words,
        "unit": unit,
        "border": _number(border),
        "x": _axis(drawn.x),
        "y": _axis(drawn.y),
        "values": [[_number(value) for value in row] for row in drawn.values.tolist()],
        "simulated": [{key: _number(value) for key, value in asdict(point).items()} for point in points],
        "refused": list(drawn.refused),
        "verdicts": [[None if number < 0 else number for number in row] for row in drawn.verdicts.tolist()],
    }


def _axis(axis: Axis) -> dict[str, Any]:
    return {"key": axis.name, "unit": axis.unit, "log": axis.log, "values": axis.values.tolist()}


def _write(scenario: Scenario, drawn: Map, points: list[Point], out: Path) -> None:
    from penstock.figures.maps import map_figure
    from penstock.figures.style import save

    out.parent.mkdir(parents=True, exist_ok=True)
    save(map_figure(scenario.name, drawn, points), out)


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
