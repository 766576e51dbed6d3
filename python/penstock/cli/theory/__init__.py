"""`penstock theory`: the models of a scenario. Each command is a thin layer over `penstock.theory`."""

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli import pages
from penstock.cli.failure import Commands
from penstock.cli.options import LONGEST_S, grouped
from penstock.cli.theory.options import AT, JSON, MODEL, TARGET, MapOptions, OverlayOptions, ScenarioOptions, finite

app = typer.Typer(
    name="theory",
    cls=Commands,
    help="Fluid models of a scenario: stability, sliding mode, phase plane.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.command(short_help="How far a configuration is from instability.")
@grouped
def margin(
    asked: ScenarioOptions,
    at: Annotated[float | None, AT] = None,
    packets: Annotated[
        bool, typer.Option("--packets/--no-packets", help="Simulate a part too, and print the queue's oscillation.")
    ] = True,
    json: Annotated[bool, JSON] = False,
) -> None:
    """Print equilibrium, phase, gain and delay margin, and the limiting parameter; for SMCC its limit cycle."""
    from penstock.cli.theory.margin import show_margin

    show_margin(asked, at_s=at, packets=packets, json=json)


@app.command("table", short_help="Margins of all schemes, over flows, rates and delays.")
@pages.draws
def show_table(
    flows: Annotated[
        list[int] | None, typer.Option("--flows", min=1, metavar="N", help="Flows. Repeatable.  [default: 2, 16, 64]")
    ] = None,
    rates: Annotated[
        list[str] | None,
        typer.Option("--rate", metavar="RATE", help="10g, 100g or 400g. Repeatable.  [default: all]"),
    ] = None,
    delays: Annotated[
        list[str] | None,
        typer.Option("--delay", metavar="TIME", help="Delay of each link. Repeatable.  [default: 1 us, 10 us]"),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The table as a figure, PNG, SVG or PDF.  [default: none]")
    ] = None,
    json: Annotated[bool, JSON] = False,
) -> None:
    """Print the phase margin of every scheme for flows of a star, with the settings of the arenas, or why it has none.

    Nothing is simulated. Below the table stand the schemes without a model, each with the reason.
    """
    from penstock.cli.theory.table import show

    show(flows or [2, 16, 64], rates or ["10g", "100g", "400g"], delays or ["1 us", "10 us"], out=out, json=json)


@app.command("map", short_help="Stability and more over two parameters.")
@pages.draws
@grouped
def draw_map(
    asked: ScenarioOptions,
    given: MapOptions,
) -> None:
    """Draw a metric over two parameters: fields of the configuration, such as flows, or parameters of the scheme."""
    from penstock.cli.theory.map import draw

    draw(asked, given)


@app.command(short_help="Does QCN slide (theorem 2)? Does SMCC (theorem 3)?")
@grouped
def sliding(
    asked: ScenarioOptions,
    model: Annotated[str, MODEL] = "printed",
    offset: Annotated[
        float | None,
        typer.Option(
            "--offset",
            metavar="OCTETS",
            callback=finite,
            help="x0, the queue above its target.  [default: a quarter of it]",
        ),
    ] = None,
    target: Annotated[float | None, TARGET] = None,
    simulate: Annotated[
        bool, typer.Option("--simulate", help="Run the scenario too: how often the inequality holds along the run.")
    ] = False,
    json: Annotated[bool, JSON] = False,
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
@grouped
def phase(
    asked: ScenarioOptions,
    at: Annotated[float | None, AT] = None,
    model: Annotated[str, MODEL] = "sampled",
    target: Annotated[float | None, TARGET] = None,
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
@grouped
def overlay(
    asked: ScenarioOptions,
    given: OverlayOptions,
) -> None:
    """Run a scenario, integrate its fluid model, draw queue and rate of both, and print how far they are apart.

    Instead of a scenario, a results folder with a finished run, such as the testbed's, gives the packets.
    """
    from penstock.cli.theory.overlay import show_overlay

    show_overlay(asked, given)
