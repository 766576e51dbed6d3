"""The page of a report: the parts of the model as HTML, and figures as pictures inside it."""

import base64
import io
import platform
import re
from collections.abc import Callable, Iterable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from penstock import __version__
from penstock.files import write_text
from penstock.html import element, templates
from penstock.reports.model import Listing, Part, Picture, Points, Report, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDTH_IN = 9.6
"""Figures are this wide; a page of A4 or Letter shows them at three quarters, with type of 7 points."""

_LARGEST_SVG = 400_000
"""Octets. A drawing of more is a picture of points, which is smaller and as sharp on paper."""

_DOTS_AN_INCH = 220

_WIDE, _WIDEST = 100, 150
"""A table of more letters than the first has small type on paper, and one of more than the second stands in parts."""


def html(report: Report) -> str:
    """Return a report as one page of HTML, which loads nothing."""
    pages = templates("penstock")
    pages.filters["together"] = _together
    return pages.get_template("report.html.j2").render(
        report=report,
        kind=_kind,
        wide=_WIDE,
        widest=_WIDEST,
        seeds=seeds_in_words(report.seeds),
        versions=f"Penstock {__version__}, Python {platform.python_version()}",
    )


def write(report: Report, path: str | PathLike[str]) -> None:
    """Write a report as one HTML file; a file under its final name is always whole.

    Raises:
        OSError: the file cannot be written.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    write_text(target, html(report))


def picture(draw: "Callable[[], Figure]", caption: str, name: str) -> Picture:
    """Draw a figure for the width of a printed page.

    Args:
        draw: returns the figure; it is called on a page of that width.
        caption: the sentence below it.
        name: a word that no other picture of the report has; ids of the drawing begin with it.
    """
    from penstock.figures import Page, on
    from penstock.figures.style import styled

    with on(Page(_WIDTH_IN, title=False)):
        figure = draw()
        with styled():
            drawing = io.StringIO()
            figure.savefig(drawing, format="svg", metadata={"Date": None})
            if len(drawing.getvalue()) <= _LARGEST_SVG:
                return Picture(element(drawing.getvalue(), name), caption)
            dots = io.BytesIO()
            figure.savefig(dots, format="png", dpi=_DOTS_AN_INCH)
    return Picture(f"data:image/png;base64,{base64.b64encode(dots.getvalue()).decode()}", caption)


def seeds_in_words(seeds: Iterable[int]) -> str:
    """Write seeds, those that follow one another by the first and the last, as in ``1 to 4, 9``."""
    runs: list[list[int]] = []
    for seed in sorted(set(seeds)):
        if runs and runs[-1][1] == seed - 1:
            runs[-1][1] = seed
        else:
            runs.append([seed, seed])
    return ", ".join(str(first) if first == last else f"{first} to {last}" for first, last in runs)


def _together(text: str) -> str:
    """Keep each number and its unit on one line."""
    return re.sub(r"(?<=\d) (?=%|(?:[kKMGT]?i?B|[kMGT]?b/s|[mnup]?s|m)\b)", "\N{NO-BREAK SPACE}", text)


def _kind(part: Part) -> str:
    """Return the name of a part in the template."""
    kinds = {Table: "table", Picture: "picture", Points: "points", Listing: "listing", str: "text"}
    return kinds[type(part)]
