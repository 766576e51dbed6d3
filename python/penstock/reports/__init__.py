"""Reports: one HTML file with verdict, evidence and origin, that needs nothing else and prints on A4 and Letter.

    >>> from penstock import Scenario, reports
    >>> from penstock.reports.runs import of_run
    >>> scenario = Scenario.named("four-sources")
    >>> source = reports.Source.of_scenario(scenario)
    >>> reports.write(of_run(scenario.run(), scenario.outline(), sources=[source]), "four-sources.html")

A report is built of the neutral parts of :mod:`penstock.reports.model`; :func:`write` alone knows HTML. The same
inputs give the same octets: no date and no time of this machine is in a report.
"""

from penstock.reports.model import Listing, Mark, Part, Picture, Points, Report, Section, Source, Table
from penstock.reports.page import html, picture, write

__all__ = [
    "Listing",
    "Mark",
    "Part",
    "Picture",
    "Points",
    "Report",
    "Section",
    "Source",
    "Table",
    "html",
    "picture",
    "write",
]
