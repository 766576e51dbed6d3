"""Figures of a result: queue length, link utilisation, and the rate of each flow against its fair share.

The same result gives the same SVG, byte for byte.
"""

from penstock.figures.pages import comparison, overview, write_all
from penstock.figures.style import save

__all__ = ["comparison", "overview", "save", "write_all"]
