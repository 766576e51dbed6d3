"""Figures of a result: queue length, link utilisation, and the rate of each flow against its fair share.

The same result gives the same SVG, byte for byte.
"""

from penstock.figures.comparison import comparison, cumulative, pauses, write_comparison
from penstock.figures.completed_flows import has_completions
from penstock.figures.completions import FIGURES as FIGURES_OF_FLOWS
from penstock.figures.completions import of_flows, slowdowns
from penstock.figures.distributions import distributions
from penstock.figures.job_links import FIGURE as FIGURE_OF_LINKS
from penstock.figures.job_links import job_links
from penstock.figures.job_paths import FIGURE as FIGURE_OF_PATHS
from penstock.figures.job_paths import has_paths, slowest_path
from penstock.figures.jobs import FIGURE as FIGURE_OF_JOBS
from penstock.figures.jobs import has_jobs, jobs
from penstock.figures.pages import PANELS, overview, write_all
from penstock.figures.pauses_over_time import pauses_over_time
from penstock.figures.style import Page, on, save

FIGURES_OF_JOBS = {FIGURE_OF_JOBS: jobs, FIGURE_OF_PATHS: slowest_path, FIGURE_OF_LINKS: job_links}
"""The figures of jobs by name, and the functions that draw them."""

FIGURES_OF_RUNS = (*PANELS, "cdf", "pauses-over-time", *FIGURES_OF_FLOWS, *FIGURES_OF_JOBS)
"""The figures of a run."""

__all__ = [
    "FIGURES_OF_FLOWS",
    "FIGURES_OF_JOBS",
    "FIGURES_OF_RUNS",
    "PANELS",
    "Page",
    "comparison",
    "cumulative",
    "distributions",
    "has_completions",
    "has_jobs",
    "has_paths",
    "job_links",
    "jobs",
    "of_flows",
    "on",
    "overview",
    "pauses",
    "pauses_over_time",
    "save",
    "slowdowns",
    "slowest_path",
    "write_all",
    "write_comparison",
]
