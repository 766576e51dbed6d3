"""Pages of reports: each one file that needs nothing else, in the same dress."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment


def templates(package: str) -> "Environment":
    """Return the templates of a package, such as ``penstock.arenas``; ``base.html.j2`` is that of all pages."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("penstock")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def element(svg: str, name: str) -> str:
    """Return the element of an SVG file; its ids are made the figure's own, since many stand on one page."""
    found = svg[svg.index("<svg") :]
    found = re.sub(r'\bid="', f'id="{name}-', found)
    found = re.sub(r'(xlink:href="|url\()#', rf"\1#{name}-", found)
    return re.sub(r' width="[^"]*pt"| height="[^"]*pt"', "", found, count=2)
