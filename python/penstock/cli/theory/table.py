"""`penstock theory table`: the margins of all schemes, as text, JSON and a figure."""

import json as json_text
import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from penstock import _core
from penstock.cli.failure import InputError
from penstock.cli.locate import file_to_write
from penstock.errors import ArgumentError
from penstock.quantity_text import bit_rate, duration
from penstock.theory.margin_table import Cell, MarginTable, margin_table
from penstock.theory.models.without import WITHOUT

_WORDS = {"cycle": "swings", "jump": "k_max", "none": "-"}
_WIDTH = 7


def show(flows: Sequence[int], rates: Sequence[str], delays: Sequence[str], *, out: Path | None, json: bool) -> None:
    """Print the table, and draw it where a file is asked for."""
    target = None if out is None else file_to_write(out)
    delays_s = [_seconds(text) for text in delays]
    try:
        table = margin_table(flows, rates, delays_s)
    except ArgumentError as error:
        raise InputError(str(error).replace("rates = ", "--rate "), "schemes have the settings of an arena") from error
    if target is not None:
        from penstock.figures.margin_table import margin_figure
        from penstock.figures.style import save

        target.parent.mkdir(parents=True, exist_ok=True)
        save(margin_figure(table), target)
    if json:
        typer.echo(json_text.dumps(document(table), indent=2))
        return
    _print(table)
    if target is not None:
        typer.echo(target)


def document(table: MarginTable) -> dict[str, Any]:
    """The table as JSON has it: null for a margin that is infinite or that there is none of; ``kind`` says which."""
    return {
        "cases": [asdict(case) for case in table.cases],
        "schemes": {name: [_cell(cell) for cell in cells] for name, cells in table.rows.items()},
        "without_model": dict(WITHOUT),
    }


def _cell(cell: Cell) -> dict[str, Any]:
    degrees = math.degrees(cell.phase_rad)
    return {
        "kind": cell.kind,
        "phase_margin_degrees": degrees if math.isfinite(degrees) else None,
        "reason": cell.reason,
    }


def _print(table: MarginTable) -> None:
    wide = max(map(len, table.rows)) + 2
    for label, texts in (
        ("rate", [bit_rate(case.rate_bps).replace(" Gb/s", "G") for case in table.cases]),
        ("link", [duration(case.delay_s).replace(" ", "") for case in table.cases]),
        ("flows", [str(case.flows) for case in table.cases]),
    ):
        typer.echo(f"{label:<{wide}}" + "".join(f"{text:>{_WIDTH}}" for text in texts))
    for name, cells in table.rows.items():
        typer.echo(f"{name:<{wide}}" + "".join(f"{_text(cell):>{_WIDTH}}" for cell in cells))
    typer.echo("")
    typer.echo(
        "phase margin in degrees, of the worse side; inf: no frequency has a gain of 1; swings: the equilibrium lies "
        "on a switching line, without a margin; k_max: the equilibrium needs more marks than p_max allows; "
        "-: no equilibrium (--json has the reasons)"
    )
    for name, reason in WITHOUT.items():
        typer.echo(f"{name}: no model; {reason}")


def _text(cell: Cell) -> str:
    return f"{math.degrees(cell.phase_rad):.1f}" if cell.kind == "margin" else _WORDS[cell.kind]


def _seconds(text: str) -> float:
    try:
        return float(_core.read_quantity(text, "s"))
    except ValueError as error:
        raise InputError(f"--delay {text}: {error}", "write a time, such as 10 us") from error
