"""A hook of the documentation's build: the dialog of the search has a name, which the theme leaves out."""

DIALOG = 'data-md-component="search" role="dialog"'


def on_post_page(output: str, **_: object) -> str:
    """Return the page with the name of its dialog."""
    return output.replace(DIALOG, f'{DIALOG} aria-label="Search"')
