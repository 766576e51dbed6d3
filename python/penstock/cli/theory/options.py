"""The options of the commands of `penstock theory`, and those that several of them have."""

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from penstock.cli import completion, options
from penstock.cli.options import MOST_POINTS, MOST_SEEDS


def finite(value: float | None) -> float | None:
    """Refuse an option's value that is infinite or no number."""
    if value is not None and not math.isfinite(value):
        raise typer.BadParameter(f"{value} is not a finite number.")
    return value


AT = typer.Option(
    "--at",
    metavar="S",
    callback=finite,
    help="The time at which flows and links are taken, s.  [default: the longest period]",
)
MODEL = typer.Option(
    "--model", metavar="NAME", help="printed: the rate laws as printed; sampled: as the algorithm acts, per second."
)
TARGET = typer.Option(
    "--target",
    metavar="BPS",
    callback=finite,
    help="R(0) of QCN, the rate to which each source recovers.  [default: the line's]",
)
JSON = typer.Option("--json", help="Print one JSON object on standard output and nothing else there.")


@dataclass(kw_only=True, eq=False, repr=False)
class ScenarioOptions:
    """A scenario as the command line names it."""

    scenario: Annotated[str, options.SCENARIO]
    scheme: Annotated[
        str | None,
        typer.Option(metavar="NAME", autocompletion=completion.scheme, help="The scheme, instead of the scenario's."),
    ] = None
    profile: Annotated[
        str | None,
        typer.Option(metavar="NAME", autocompletion=completion.profile, help="A named set of the scheme's parameters."),
    ] = None
    sets: Annotated[list[str], options.SETS] = field(default_factory=list)


@dataclass(kw_only=True, eq=False, repr=False)
class MapOptions:
    """The options of `penstock theory map`."""

    x: Annotated[
        str,
        typer.Option(
            "--x", metavar="KEY=A..B[:N][:log]", autocompletion=completion.axis, help="The parameter along the x axis."
        ),
    ]
    y: Annotated[
        str,
        typer.Option(
            "--y", metavar="KEY=A..B[:N][:log]", autocompletion=completion.axis, help="The parameter along the y axis."
        ),
    ]
    metric: Annotated[str, typer.Option(metavar="NAME", help="margin, sliding, amplitude or utilization.")] = "margin"
    simulate: Annotated[
        int,
        typer.Option("--simulate", min=0, max=MOST_POINTS, metavar="N", help="Add N times N packet simulations."),
    ] = 0
    simulated: Annotated[
        float,
        typer.Option("--simulated", min=0.001, metavar="S", callback=finite, help="Simulated time of each of them, s."),
    ] = 0.2
    at: Annotated[float | None, AT] = None
    library: Annotated[
        str,
        typer.Option(
            "--library", metavar="NAME", help="Arrays of margins: numpy, jax, or auto: JAX where it finds a GPU."
        ),
    ] = "auto"
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The figure, PNG or SVG.  [default: results/map-NAME-METRIC.png]"),
    ] = None
    json: Annotated[bool, JSON] = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress; messages of errors alone.")] = False


@dataclass(kw_only=True, eq=False, repr=False)
class OverlayOptions:
    """The options of `penstock theory overlay`."""

    seed: Annotated[int | None, typer.Option(min=0, metavar="N", help="The first seed of the packet runs.")] = None
    seeds: Annotated[
        int, typer.Option(min=1, max=MOST_SEEDS, metavar="N", help="Packet runs, with as many seeds from the first on.")
    ] = 1
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The model: steps (by sample or clock; qcn, smcc, bcn, fecn), sampled (qcn, smcc, bcn), "
            "averaged or printed (qcn), interval (fecn), published (dcqcn).  [default: the first that the scheme has]",
        ),
    ] = None
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The figure, PNG, SVG or PDF.  [default: results/overlay-NAME-SCHEME.png]"),
    ] = None
    json: Annotated[bool, JSON] = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress; messages of errors alone.")] = False
