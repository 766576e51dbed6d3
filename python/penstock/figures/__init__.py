"""Figures of a result: queue length, link utilisation, and the rate of each flow against its fair share.

The same result gives the same SVG, byte for byte.
"""

from penstock.figures.pages import PANELS, overview, write_all
from penstock.figures.side_by_side import comparison, cumulative, pauses, write_comparison
from penstock.figures.style import Page, on, save

__all__ = [
    "PANELS",
    "Page",
    "comparison",
    "cumulative",
    "on",
    "overview",
    "pauses",
    "save",
    "write_all",
    "write_comparison",
]
