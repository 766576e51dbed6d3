"""`penstock theory map`: a map of :mod:`penstock.theory.maps`, as a figure and JSON."""

import json as json_text
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast, get_args

import typer

from penstock.cli.failure import InputError, say
from penstock.cli.locate import RESULTS, file_to_write, find
from penstock.cli.progress import Progress
from penstock.cli.theory.asked import Asked
from penstock.scenario import Scenario
from penstock.theory.axes import Axis, read
from penstock.theory.maps import METRICS, Map, Metric, Point, backend, compute_map, simulate


@dataclass(frozen=True)
class MapRequest:
    """The options of `theory map`."""

    asked: Asked
    x: str
    y: str
    metric: str
    simulate: int
    simulated_s: float
    at_s: float | None
    library: str
    out: Path | None
    json: bool
    quiet: bool


def draw(request: MapRequest) -> None:
    """Calculate, draw and print a map."""
    if request.metric not in get_args(Metric):
        raise InputError(f"--metric {request.metric}: unknown metric", f"use one of {', '.join(get_args(Metric))}")
    if request.library not in ("auto", "numpy", "jax"):
        raise InputError(f"--library {request.library}: unknown library", "use auto, numpy or jax")
    metric = cast(Metric, request.metric)
    asked = request.asked
    scenario = find(asked.name, asked.sets)
    scheme = asked.scheme or scenario.scheme
    x, y = read(request.x, scheme), read(request.y, scheme)
    if x.name == y.name:
        raise InputError(f"--x and --y are both {x.name}", "choose two different parameters")
    out = file_to_write(request.out or RESULTS / f"map-{scenario.name}-{scheme}-{metric}.png")
    with Progress(quiet=request.quiet) as progress:
        drawn = compute_map(
            scenario,
            x,
            y,
            metric,
            scheme=asked.scheme,
            profile=asked.profile,
            at_s=request.at_s,
            xp=backend(request.library),
            progress=progress.part("map"),
        )
        points = (
            simulate(
                scenario,
                drawn,
                request.simulate,
                scheme=asked.scheme,
                profile=asked.profile,
                at_s=request.at_s,
                duration_s=request.simulated_s,
                progress=progress.part("simulations"),
            )
            if request.simulate
            else []
        )
    _write(scenario, drawn, points, out)
    if request.json:
        typer.echo(json_text.dumps(document(scenario.name, drawn, points), indent=2))
    elif not request.quiet:
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
