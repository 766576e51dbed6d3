"""Tables and figures of the page on the costs of congestion schemes: the claims and runs of papers/training.

The numbers of claims are those of papers/training/measured.json, which the study's README says how to write; figures
and counters are measured here.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import penstock
from penstock.metrics.seeds import half_interval
from penstock.quantity_text import count, duration, octets
from penstock.reproduction import prose
from penstock.reproduction.claims import Claim
from penstock.reproduction.paper import load

from pictures import Pictures
from scheme_names import table

MEASURED = "measured.json"
HEAD = ["Statement", "Expected", "Measured", "Of the seeds", "Test", "Holds"]
COUNTERS = ["Run", "Time", "Links stopped", "PAUSE frames", "Frames marked", "Notifications", "Cuts", "Longest queue"]


def training(paper: Path, docs: Path, *, draft: bool) -> dict[str, str]:
    """Return the tables of the page, and draw its figures below `docs`, in images/training.

    Args:
        paper: the folder of the study.
        docs: the pages.
        draft: whether one figure stands for all, and it and its counters have one seed.
    """
    parts = {f"training_{figure}": table(HEAD, rows) for figure, rows in claims(paper).items()}
    images = docs / "images/training"
    images.mkdir(parents=True, exist_ok=True)
    counted: list[list[str]] = []
    pictures = Pictures(draft=draft)
    for figure in load(paper).drawings.entries:
        if pictures.stands_in(images / f"{figure}.svg"):
            continue
        found = penstock.reproduce(paper, figure, short=draft)
        found.plot(paper.name, figure, images / f"{figure}.svg")
        if figure in ("schemes", "neighbour"):
            counted += counters(found)
    return parts | {"training_counters": table(COUNTERS, counted)}


def claims(paper: Path) -> dict[str, list[list[str]]]:
    """Return the rows of each figure's table: the claims, and what measured.json has of them."""
    measured = json.loads((paper / MEASURED).read_text(encoding="utf-8"))
    (own,) = measured["papers"]
    rows = {row["id"]: row for figure in own["figures"] for row in figure["claims"]}
    found: dict[str, list[list[str]]] = {}
    for claim in load(paper).claims:
        if claim.id not in rows:
            raise SystemExit(
                f"{paper / MEASURED}: no claim {claim.id}: write the file again, see {paper / 'README.md'}"
            )
        found.setdefault(claim.figure, []).append(row_of(claim, rows[claim.id]))
    return found


def row_of(claim: Claim, measured: dict[str, Any]) -> list[str]:
    """Return the row of a claim: its numbers with their units, and the interval of 95 % where they are a mean."""
    testable = claim.testable
    assert testable is not None, f"{claim.id}: the study has no statement without a test"
    spread, value = measured["spread"], measured["ours"]
    least, most = (prose.number(testable, spread[end]) for end in ("low", "high"))
    seeds = "one" if spread["seeds"] == 1 else f"{least} to {most}, {spread['seeds']} seeds"
    shown = prose.number(testable, value)
    if testable.over == "mean" and spread["seeds"] > 1:
        half = half_interval(spread["std"], spread["seeds"])
        shown = f"{shown} ({prose.number(testable, value - half)} to {prose.number(testable, value + half)})"
    holds = "yes" if measured["verdict"] == "holds" else measured["verdict"]
    return [claim.says, prose.paper_value(claim), shown, seeds, prose.test(testable), holds]


def counters(found: penstock.Reproduction) -> Iterable[list[str]]:
    """Return a row for each run of a figure: the means of the seeds."""
    (entry,) = found.papers
    (figure,) = entry.figures
    for name, source in entry.paper.drawings.entries[figure].sources.items():
        seeds = source.wanted(entry.scope.short).seeds
        yield counter_row(f"{figure}: {name}", [entry.values[source.run, source.quantity, seed] for seed in seeds])


def counter_row(name: str, runs: Sequence[dict[str, Any]]) -> list[str]:
    """Return the means of the counters of some runs as texts."""
    mean = {key: fmean(run[key] for run in runs) for key in runs[0] if isinstance(runs[0][key], int | float)}
    numbers = (count(round(mean[key])) for key in ("pause_frames", "frames_marked", "notifications", "cuts"))
    return [name, duration(mean["step_time_s"]), duration(mean["stopped_s"]), *numbers, octets(mean["longest_octets"])]
