"""A hook of MkDocs: formulas of the pages become MathML when the site is built.

Browsers draw MathML themselves, so that the site works from a disk, without a script. A formula that is not understood
ends the build.
"""

import html
import re
from typing import Any
from xml.etree import ElementTree

from latex2mathml.converter import convert

# The output of pymdownx.arithmatex for $…$ and of $$…$$.
_FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)

_MATH = "{http://www.w3.org/1998/Math/MathML}"
_CLOSE = {"lspace": "0", "rspace": "0"}
ElementTree.register_namespace("", _MATH.strip("{}"))


def on_page_content(content: str, **_: Any) -> str:
    """Return a page with its formulas as MathML; called by MkDocs for each page."""
    return _FORMULA.sub(lambda found: formula(html.unescape(found[2]), block=found[1] == "div"), content)


def formula(tex: str, *, block: bool) -> str:
    """Return a formula as MathML, on a separate line or in one.

    Raises:
        ValueError: it has a command that is not known.
    """
    found = convert(tex.strip(), display="block" if block else "inline")
    # A part that is not understood is left as it is: a command, or the marks of columns.
    unknown = re.search(r"\\[a-zA-Z]+|&", html.unescape(found))
    if unknown:
        raise ValueError(f"{tex.strip()}: {unknown[0]} is not known")
    found = _refined(found)
    return f'<div class="formula">{found}</div>' if block else found


def _refined(found: str) -> str:
    """Return the MathML of a formula with primes, stars, bars and words in subscripts as they are usually set."""
    root = ElementTree.fromstring(found)
    for parent in list(root.iter()):
        for place, child in enumerate(list(parent)):
            kind, parts = child.tag.removeprefix(_MATH), list(child)
            if kind in ("msup", "msubsup") and parts[-1].text == "\N{PRIME}":
                # A superscript raises the prime, which stands high already, once more: it would hardly be seen.
                base = parts[0] if kind == "msup" else _element("msub", *parts[:2])
                parent[place] = _element("mrow", base, _element("mo", text="\N{PRIME}", **_CLOSE))
            elif kind in ("msup", "msubsup") and parts[-1].text == "*":
                # So does the star.
                parts[-1].text = "\N{ASTERISK OPERATOR}"
            elif kind == "mo" and child.text == "|" and "form" not in child.attrib:
                # Half of a pair, and no relation with space around it.
                child.attrib.update(_CLOSE)
            elif kind == "mrow" and parent.tag.removeprefix(_MATH) in ("msub", "msubsup") and _is_word(parts):
                # Letters that stand below are a word, and no product.
                parent[place] = _element("mi", text="".join(part.text or "" for part in parts))
    return ElementTree.tostring(root, encoding="unicode")


def _element(tag: str, *parts: ElementTree.Element, text: str | None = None, **attributes: str) -> ElementTree.Element:
    made = ElementTree.Element(_MATH + tag, attributes)
    made.text = text
    made.extend(parts)
    return made


def _is_word(parts: list[ElementTree.Element]) -> bool:
    return len(parts) > 1 and all(part.tag == f"{_MATH}mi" and (part.text or "").isascii() for part in parts)
