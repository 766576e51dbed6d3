"""The searches for readings of papers as rows of a table, for the page on papers."""

import tomllib
from collections.abc import Sequence
from pathlib import Path

from penstock.quantity_text import count
from penstock.reproduction.search import EVIDENCE

HEAD = ["Paper", "Reading", "Half 1", "Half 2", "Aside", "Wins"]


def searches(papers: Path) -> list[list[str]]:
    """A row for the profile of each paper that has a search.toml, and one for each reading that was fitted."""
    rows = []
    for path in sorted(papers.glob(f"*/{EVIDENCE}")):
        found = tomllib.loads(path.read_text(encoding="utf-8"))
        rows.append([f"`{found['paper']}`", "that of the profile then", *_of(found["profile"], found["claims"]), ""])
        for fit in found["fit"]:
            counts = [fit["fitted"], fit["unseen"]] if fit["half"] == 1 else [fit["unseen"], fit["fitted"]]
            changes = "; ".join(f"{choice}: {reading}" for choice, reading in fit["changes"].items())
            fitted = f"fitted on half {fit['half']}, of {count(found['tried'])} tried: {changes or 'none is better'}"
            rows.append(["", fitted, *_of([*counts, fit["aside"]], found["claims"]), "yes" if fit["wins"] else "no"])
    return rows


def _of(counts: Sequence[int], claims: Sequence[int]) -> list[str]:
    return [f"{held} of {tested}" for held, tested in zip(counts, claims, strict=True)]
