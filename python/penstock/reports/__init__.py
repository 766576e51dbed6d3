"""Reports: one HTML file with verdict, evidence and origin, that needs nothing else and prints on A4 and Letter.

    >>> from penstock import Scenario, reports
    >>> result = Scenario.named("four-sources").run()
    >>> reports.write(reports.of_run(result), "four-sources.html")

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
