"""Figures of a result: queue length, link utilisation, and the rate of each flow against its fair share.

The same result gives the same SVG, byte for byte.
"""

from penstock.figures.completions import has_completions, slowdowns
from penstock.figures.pages import PANELS, overview, write_all
from penstock.figures.side_by_side import comparison, cumulative, pauses, write_comparison
from penstock.figures.style import Page, on, save

__all__ = [
    "PANELS",
    "Page",
    "comparison",
    "cumulative",
    "has_completions",
    "on",
    "overview",
    "pauses",
    "save",
    "slowdowns",
    "write_all",
    "write_comparison",
]
