"""`penstock theory overlay`: fluid and packets of :mod:`penstock.theory.overlay`, as a figure, a table and JSON."""

import json as json_text
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from penstock.cli.failure import InputError, say
from penstock.cli.locate import RESULTS, file_to_write, find, is_results
from penstock.cli.progress import Progress
from penstock.cli.theory.options import OverlayOptions, ScenarioOptions
from penstock.figures.overlays import overlay_page
from penstock.figures.style import save
from penstock.quantity_text import bit_rate, duration, octets, share
from penstock.result import Result
from penstock.scenario import Scenario
from penstock.theory.overlay import Distance, Overlay, overlay


def show_overlay(asked: ScenarioOptions, given: OverlayOptions) -> None:
    """Integrate, simulate, draw and print."""
    run = _run_that_is_over(asked, given)
    if run is None:
        scenario = find(asked.scenario, asked.sets)
    else:
        scenario = Scenario.from_toml(run.scenario_toml, origin=asked.scenario, name=run.summary["scenario"])
    default = RESULTS / f"overlay-{scenario.name}-{asked.scheme or scenario.scheme}.png"
    out = file_to_write(given.out or default)
    with Progress(quiet=given.quiet) as progress:
        found = overlay(
            scenario,
            scheme=asked.scheme,
            profile=asked.profile,
            seed=given.seed,
            seeds=given.seeds,
            form=given.model,
            progress=progress.task,
            run=run,
        )
    out.parent.mkdir(parents=True, exist_ok=True)
    save(overlay_page(found), out)
    if given.json:
        typer.echo(json_text.dumps({**document(found), "figure": str(out)}, indent=2))
    elif not given.quiet:
        _print(found)
        say(f"figure: {out}")


def _run_that_is_over(asked: ScenarioOptions, given: OverlayOptions) -> Result | None:
    """Return the run of the results folder that is given instead of a scenario; ``None`` if none is."""
    if not is_results(Path(asked.scenario)):
        return None
    refused = {"--scheme": asked.scheme, "--profile": asked.profile, "--set": asked.sets, "--seed": given.seed}
    for option, value in {**refused, "--seeds": given.seeds if given.seeds > 1 else None}.items():
        if value not in (None, []):
            raise InputError(f"{option}: the run of a results folder has ended", "leave it out, or name a scenario")
    return Result.open(asked.scenario)


def document(found: Overlay) -> dict[str, Any]:
    """Return what `--json` prints, but for the figure's name."""
    return {
        "scenario": found.scenario,
        "scheme": found.scheme,
        "model": found.form,
        "omits": list(found.omits),
        "queue": found.queue,
        "seeds": list(found.seeds),
        "set_point_octets": found.set_point_octets,
        "buffer_octets": found.buffer_octets,
        "periods": [
            {**asdict(distance), "delay_s": delay}
            for distance, delay in zip(found.distances, found.delay_s, strict=True)
        ],
    }


def _print(found: Overlay) -> None:
    from rich.table import Table

    from penstock.cli.report import console

    table = Table(title=f"{found.scheme}, model {found.form}: fluid | packets", title_justify="left", box=None)
    table.add_column("")
    for row in found.distances:
        table.add_column(f"{row.start_s:g} to {row.stop_s:g} s", justify="right")
    lines: dict[str, Callable[[Distance], str]] = {
        "flows, capacity": lambda d: f"{d.flows}, {bit_rate(d.capacity_bps)}",
        "queue, mean": lambda d: f"{octets(d.fluid_mean_octets)} | {octets(d.packet_mean_octets)}",
        "apart, of the buffer": lambda d: ("-" if d.difference < 0 else "+") + share(abs(d.difference)),
        "queue, standard deviation": lambda d: f"{octets(d.fluid_std_octets)} | {octets(d.packet_std_octets)}",
        "settled after": lambda d: f"{_time(d.fluid_settling_s)} | {_time(d.packet_settling_s)}",
        "ratio of these": lambda d: _ratio(d.settling_ratio),
        "mean of the runs settled after": lambda d: (
            f"{_time(d.fluid_mean_settling_s)} | {_time(d.packet_mean_settling_s)}"
        ),
        "ratio of those": lambda d: _ratio(d.mean_settling_ratio),
        "rate of a flow, mean": lambda d: f"{bit_rate(d.fluid_rate_bps)} | {bit_rate(d.packet_rate_bps)}",
        "queues apart, RMS": lambda d: octets(d.rms_octets),
        "distributions apart (Wasserstein)": lambda d: octets(d.wasserstein_octets),
    }
    for title, tell in lines.items():
        table.add_row(title, *(tell(distance) for distance in found.distances))
    console().print(table)
    typer.echo("the model leaves out: " + "; ".join(found.omits))


def _time(seconds: float | None) -> str:
    return "never" if seconds is None else duration(seconds)


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
