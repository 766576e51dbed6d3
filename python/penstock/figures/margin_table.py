"""The figure of all schemes' margins: a table of colours, a row a scheme, a column a case."""

import math
from typing import Any

import numpy as np

from penstock.figures.pages import finish
from penstock.figures.style import REFERENCE, Drawn, sheet, styled
from penstock.quantity_text import bit_rate, duration
from penstock.theory.margin_table import Cell, MarginTable

_ROW_IN = 0.25
_LARGEST = 60.0
"""Degrees, at which the colours end."""

_LETTERS = {"cycle": "~", "jump": "k", "none": "–"}
_EXPLAINED = (
    "phase margin in degrees; ∞ no frequency has a gain of 1; ~ swings about a switching line, without a margin; "
    "k needs more marks than p_max allows; – no equilibrium, or no model of this setting"
)


def margin_figure(table: MarginTable) -> Drawn:
    """Draw the table."""
    with styled():
        figure = sheet(9.6, 1.9 + _ROW_IN * len(table.rows))
        axes = figure.subplots()
        degrees = np.degrees([[cell.phase_rad for cell in cells] for cells in table.rows.values()])
        shown = np.ma.masked_invalid(np.clip(degrees, -_LARGEST, _LARGEST))
        colours: dict[str, Any] = {"cmap": "RdYlBu", "vmin": -_LARGEST, "vmax": _LARGEST, "edgecolors": "white"}
        width, height = len(table.cases), len(table.rows)
        axes.set_facecolor("0.9")
        axes.pcolormesh(range(width + 1), range(height + 1), shown, linewidth=0.6, **colours)
        axes.invert_yaxis()
        for y, cells in enumerate(table.rows.values()):
            for x, cell in enumerate(cells):
                axes.text(x + 0.5, y + 0.5, _text(cell), ha="center", va="center", color=_ink(cell), fontsize="small")
        for x in range(1, width):
            if table.cases[x].rate_bps != table.cases[x - 1].rate_bps:
                axes.axvline(x, color=REFERENCE, linewidth=1.2)
        axes.set_yticks([y + 0.5 for y in range(height)], list(table.rows))
        heads = [f"{bit_rate(case.rate_bps)}, {duration(case.delay_s)}, N = {case.flows}" for case in table.cases]
        axes.set_xticks([x + 0.5 for x in range(width)], heads, rotation=60, ha="left")
        axes.xaxis.tick_top()
        axes.tick_params(length=0)
        axes.grid(visible=False)
        axes.spines[:].set_visible(False)
        axes.set_xlabel(_EXPLAINED, fontsize="small", wrap=True)
        finish(figure, "Phase margins of all schemes: line rate, delay of a link, flows")
    return figure


def _text(cell: Cell) -> str:
    if cell.kind != "margin":
        return _LETTERS[cell.kind]
    return f"{math.degrees(cell.phase_rad):.0f}" if math.isfinite(cell.phase_rad) else "∞"


def _ink(cell: Cell) -> str:
    return "white" if cell.kind == "margin" and abs(math.degrees(cell.phase_rad)) > 0.75 * _LARGEST else REFERENCE
