"""Figures of a result: queue length, link utilisation, and the rate of each flow against its fair share.

The same result gives the same SVG, byte for byte.
"""

from penstock.figures.comparison import comparison, cumulative, pauses, write_comparison
from penstock.figures.completed_flows import has_completions
from penstock.figures.completions import FIGURES as FIGURES_OF_FLOWS
from penstock.figures.completions import of_flows, slowdowns
from penstock.figures.distributions import distributions
from penstock.figures.jobs import FIGURE as FIGURE_OF_JOBS
from penstock.figures.jobs import has_jobs, jobs
from penstock.figures.pages import PANELS, overview, write_all
from penstock.figures.style import Page, on, save

FIGURES_OF_RUNS = (*PANELS, *FIGURES_OF_FLOWS, FIGURE_OF_JOBS)
"""The figures of a run."""

__all__ = [
    "FIGURES_OF_FLOWS",
    "FIGURES_OF_RUNS",
    "FIGURE_OF_JOBS",
    "PANELS",
    "Page",
    "comparison",
    "cumulative",
    "distributions",
    "has_completions",
    "has_jobs",
    "jobs",
    "of_flows",
    "on",
    "overview",
    "pauses",
    "save",
    "slowdowns",
    "write_all",
    "write_comparison",
]
