"""`penstock lab`: the page of the laboratory, served until an interrupt."""

import webbrowser

from penstock.cli.locate import find
from penstock.lab import Server


def serve(scenario: str | None, *, sets: list[str], port: int, browser: bool) -> None:
    """Serve the page with a scenario, print its address, and open it."""
    text = None if scenario is None else _checked(scenario, sets)
    with Server(text, port=port) as server:
        print(f"The laboratory: {server.url}  (Ctrl-C ends it)", flush=True)
        if browser:
            webbrowser.open(server.url)
        server.serve()


def _checked(name: str, sets: list[str]) -> str:
    """Return the text of a scenario, once it has been laid out as for a run: the page shall open none that is wrong."""
    scenario = find(name, sets)
    scenario.outline()
    return scenario.to_toml()
