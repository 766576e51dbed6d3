"""Links of the documentation to the laboratory, below the figures that a scenario makes and on the schemes' pages."""

import argparse
import re
import shlex
from collections.abc import Mapping
from pathlib import Path

import penstock
from penstock.lab import PAGE, fragment


def run_it(scenario: penstock.Scenario, page: Path) -> list[str]:
    """A link from a page below docs/ to the laboratory with a scenario; none where `make lab` has not built it."""
    if not (PAGE / "index.html").is_file():
        return []
    up = "../" * (len(page.parts) - 1)
    return [f'<a href="{up}lab/index.html#{fragment(scenario)}">Run it in the browser</a>']


def with_runs(text: str, page: Path, figures: Mapping[str, penstock.Scenario]) -> str:
    """A page with such a link below each of `figures`, by their names below images/, and below its overlays."""
    for name, scenario in {**figures, **overlays(text)}.items():
        shown = re.compile(rf"^!\[[^\]\n]*\]\((?:\.\./)*images/{re.escape(name)}\.svg\)$", re.MULTILINE)
        for link in run_it(scenario, page) if shown.search(text) else []:
            text = shown.sub(lambda match, link=link: f"{match[0]}\n\n{link}", text)  # type: ignore[misc]
    return text


def overlays(text: str) -> dict[str, penstock.Scenario]:
    """The scenarios of the figures that a page draws with `penstock theory overlay --out`, with its other options."""
    parser = argparse.ArgumentParser("penstock theory overlay")
    parser.add_argument("scenario")
    parser.add_argument("--out", required=True)
    parser.add_argument("--scheme")
    parser.add_argument("--set", action="append", default=[])
    # Neither changes the run that the link opens: the first seed's packets.
    for other in ("--seeds", "--model"):
        parser.add_argument(other)
    found = {}
    for line in re.findall(r"^penstock theory overlay (.* --out .*)$", text, re.MULTILINE):
        asked = parser.parse_args(shlex.split(line))
        scenario = penstock.Scenario.named(asked.scenario)
        if asked.scheme is not None:
            scenario.set("scheme", asked.scheme)
        for setting in asked.set:
            scenario.set(*setting.split("=", 1))
        found[asked.out.removesuffix(".svg")] = scenario
    return found
