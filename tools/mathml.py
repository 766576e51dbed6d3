"""A hook of MkDocs: formulas of the pages become MathML when the site is built.

Browsers draw MathML themselves, so that the site works from a disk, without a script. A formula that is not understood
ends the build.
"""

import html
import re
from typing import Any

from latex2mathml.converter import convert

# What pymdownx.arithmatex makes of $…$ and of $$…$$.
_FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)


def on_page_content(content: str, **_: Any) -> str:
    """Return a page with its formulas as MathML; called by MkDocs for each page."""
    return _FORMULA.sub(lambda found: formula(html.unescape(found[2]), block=found[1] == "div"), content)


def formula(tex: str, *, block: bool) -> str:
    """Return a formula as MathML, on a line of its own or in one.

    Raises:
        ValueError: it has a command that is not known.
    """
    found = convert(tex.strip(), display="block" if block else "inline")
    # What is not understood is left as it is: a command, or the marks of columns.
    unknown = re.search(r"\\[a-zA-Z]+|&", html.unescape(found))
    if unknown:
        raise ValueError(f"{tex.strip()}: {unknown[0]} is not known")
    return f'<div class="formula">{found}</div>' if block else found
