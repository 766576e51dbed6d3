"""`penstock theory`: the models of a scenario. Each command is a thin layer over `penstock.theory`."""

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli import completion, pages
from penstock.cli.bounds import LONGEST_S, MOST_POINTS, MOST_SEEDS
from penstock.cli.failure import Commands
from penstock.cli.theory.asked import Asked, asks, finite

app = typer.Typer(
    name="theory",
    cls=Commands,
    help="Fluid models of a scenario: stability, sliding mode, phase plane.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

_AT = typer.Option(
    "--at",
    metavar="S",
    callback=finite,
    help="The time at which flows and links are taken, s.  [default: the longest period]",
)
_MODEL = typer.Option(
    "--model", metavar="NAME", help="printed: the rate laws as printed; sampled: as the algorithm acts, per second."
)
_TARGET = typer.Option(
    "--target",
    metavar="BPS",
    callback=finite,
    help="R(0) of QCN, the rate to which each source recovers.  [default: the line's]",
)
_JSON = typer.Option("--json", help="Print one JSON object on standard output and nothing else there.")


@app.command(short_help="How far a configuration is from instability.")
@asks
def margin(
    asked: Asked,
    at: Annotated[float | None, _AT] = None,
    packets: Annotated[
        bool, typer.Option("--packets/--no-packets", help="Simulate a part too, and print the queue's oscillation.")
    ] = True,
    json: Annotated[bool, _JSON] = False,
) -> None:
    """Print equilibrium, phase, gain and delay margin, and the limiting parameter; for SMCC its limit cycle."""
    from penstock.cli.theory.margin import show_margin

    show_margin(asked, at_s=at, packets=packets, json=json)


@app.command("map", short_help="Stability and more over two parameters.")
@pages.draws
@asks
def draw_map(
    asked: Asked,
    x: Annotated[
        str,
        typer.Option(
            "--x", metavar="KEY=A..B[:N][:log]", autocompletion=completion.axis, help="The parameter along the x axis."
        ),
    ],
    y: Annotated[
        str,
        typer.Option(
            "--y", metavar="KEY=A..B[:N][:log]", autocompletion=completion.axis, help="The parameter along the y axis."
        ),
    ],
    metric: Annotated[str, typer.Option(metavar="NAME", help="margin, sliding, amplitude or utilization.")] = "margin",
    simulate: Annotated[
        int,
        typer.Option("--simulate", min=0, max=MOST_POINTS, metavar="N", help="Add N times N packet simulations."),
    ] = 0,
    simulated: Annotated[
        float,
        typer.Option("--simulated", min=0.001, metavar="S", callback=finite, help="Simulated time of each of them, s."),
    ] = 0.2,
    at: Annotated[float | None, _AT] = None,
    library: Annotated[
        str,
        typer.Option(
            "--library", metavar="NAME", help="Arrays of margins: numpy, jax, or auto: JAX where it finds a GPU."
        ),
    ] = "auto",
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The figure, PNG or SVG.  [default: results/map-NAME-METRIC.png]"),
    ] = None,
    json: Annotated[bool, _JSON] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress; messages of errors alone.")] = False,
) -> None:
    """Draw a metric over two parameters: fields of the configuration, such as flows, or parameters of the scheme."""
    from penstock.cli.theory.map import MapRequest, draw

    request = MapRequest(
        asked=asked,
        x=x,
        y=y,
        metric=metric,
        simulate=simulate,
        simulated_s=simulated,
        at_s=at,
        library=library,
        out=out,
        json=json,
        quiet=quiet,
    )
    draw(request)


@app.command(short_help="Does QCN slide (theorem 2)? Does SMCC (theorem 3)?")
@asks
def sliding(
    asked: Asked,
    model: Annotated[str, _MODEL] = "printed",
    offset: Annotated[
        float | None,
        typer.Option(
            "--offset",
            metavar="OCTETS",
            callback=finite,
            help="x0, the queue above its target.  [default: a quarter of it]",
        ),
    ] = None,
    target: Annotated[float | None, _TARGET] = None,
    simulate: Annotated[
        bool, typer.Option("--simulate", help="Run the scenario too: how often the inequality holds along the run.")
    ] = False,
    json: Annotated[bool, _JSON] = False,
) -> None:
    """Print the verdict of the sliding-mode theorems on each period of a scenario, with both sides of inequalities."""
    from penstock.cli.theory.sliding import show_sliding

    show_sliding(
        asked,
        model=model,
        offset_octets=offset,
        target_bps=target,
        simulate=simulate,
        json=json,
    )


@app.command(short_help="The phase portrait of a scenario.")
@pages.draws
@asks
def phase(
    asked: Asked,
    at: Annotated[float | None, _AT] = None,
    model: Annotated[str, _MODEL] = "sampled",
    target: Annotated[float | None, _TARGET] = None,
    start: Annotated[
        list[str] | None,
        typer.Option(
            "--start",
            metavar="OCTETS,BPS",
            help="Queue and sum of rates at which a trajectory begins. Repeatable.  [default: one in each quadrant]",
        ),
    ] = None,
    duration: Annotated[
        float | None,
        typer.Option(
            "--duration", min=1e-6, max=LONGEST_S, metavar="S", callback=finite, help="How long to follow them, s."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The figure, PNG, SVG or PDF.  [default: results/phase-NAME.png]"),
    ] = None,
) -> None:
    """Draw trajectories, switching lines, sliding regime and direction field over x = q - q0 and y = N r - C."""
    from penstock.cli.theory.phase import draw_phase

    draw_phase(
        asked,
        at_s=at,
        model=model,
        target_bps=target,
        starts=start or [],
        duration_s=duration,
        out=out,
    )


@app.command(short_help="The theoretical figures of Jiang et al. 2015, redrawn.")
@pages.draws
def figures(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[N]…", help="2, 3, 4, 6, 7, 8, 9 or remark-2.  [default: all]")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder, or file of one figure.  [default: results/theory]")
    ] = None,
    kind: Annotated[str, typer.Option("--format", metavar="KIND", help="In a folder: png, svg or pdf.")] = "png",
) -> None:
    """Redraw figures 2 to 4 and 6 to 9 of Jiang et al. 2015, and the planes of its remark 2, from the equations."""
    from penstock.cli.theory.phase import draw_figures

    draw_figures(names or [], out=out, kind=kind)


@app.command(short_help="Fluid and packets in one figure.")
@pages.draws
@asks
def overlay(
    asked: Asked,
    seed: Annotated[int | None, typer.Option(min=0, metavar="N", help="The first seed of the packet runs.")] = None,
    seeds: Annotated[
        int, typer.Option(min=1, max=MOST_SEEDS, metavar="N", help="Packet runs, with as many seeds from the first on.")
    ] = 1,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The model: steps (by sample or clock; qcn, smcc, bcn, fecn), sampled (qcn, smcc, bcn), "
            "averaged or printed (qcn), interval (fecn), published (dcqcn).  [default: the first that the scheme has]",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The figure, PNG, SVG or PDF.  [default: results/overlay-NAME-SCHEME.png]"),
    ] = None,
    json: Annotated[bool, _JSON] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress; messages of errors alone.")] = False,
) -> None:
    """Run a scenario, integrate its fluid model, draw queue and rate of both, and print how far they are apart.

    Instead of a scenario, a results folder with a finished run, such as the testbed's, gives the packets.
    """
    from penstock.cli.theory.overlay import OverlayRequest, show_overlay

    request = OverlayRequest(
        asked=asked,
        seed=seed,
        seeds=seeds,
        form=model,
        out=out,
        json=json,
        quiet=quiet,
    )
    show_overlay(request)
