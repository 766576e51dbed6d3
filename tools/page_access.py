"""A hook of the documentation's build for all readers: names and tab stops that the theme leaves out."""

import re

DIALOG = 'data-md-component="search" role="dialog"'
TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)


def on_post_page(output: str, **_: object) -> str:
    """Return the page with the name of its search, and formulas and tables that the keyboard can scroll.

    On a phone a wide one scrolls by itself. A table with a link takes the focus already.
    """
    named = output.replace(DIALOG, f'{DIALOG} aria-label="Search"')
    named = named.replace('<div class="formula">', '<div class="formula" tabindex="0">')
    return TABLE.sub(lambda table: table[0] if "<a " in table[0] else table[0].replace("<table>", _FOCUSED, 1), named)


_FOCUSED = '<table tabindex="0">'


def on_post_template(output_content: str, **_: object) -> str:
    """Return a page that stands for none of the site's, such as that of a wrong address, likewise."""
    return on_post_page(output_content)
