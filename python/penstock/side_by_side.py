"""Runs that are over, put side by side as a comparison."""

import json
import shutil
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from penstock import _core, interrupts
from penstock.comparison import DOCUMENT, Comparison, claims_kept, run_folders
from penstock.errors import ArgumentError, nearest
from penstock.files import write_text
from penstock.metrics.seeds import measure, spreads
from penstock.metrics.values import busiest
from penstock.result import Result


def side_by_side(
    results: Mapping[str, Result],
    *,
    queue: str | None = None,
    out: str | PathLike[str] | None = None,
    force: bool = False,
) -> Comparison:
    """Put runs that are over side by side, those of the simulator and of the testbed alike.

        >>> runs = {"testbed": Result.open("results/bed"), "simulator": Result.open("results/two-senders-qcn")}
        >>> penstock.side_by_side.side_by_side(runs, out="results/both").plot("both.png")

    Args:
        results: each run under its label.
        queue: the queue that all are judged by, as ``NODE->NODE``; by default the one that is the longest.
        out: the folder for copies of the records and ``compare.json``; without it they stay where they are.
        force: whether to replace the folder if it exists.

    Raises:
        ArgumentError: there are fewer than two runs, no run has the queue, or ``out`` is given and a run is in memory.
        OutputError: the folder exists and ``force`` is not set, or cannot be written.
    """
    if len(results) < 2:
        raise ArgumentError("a comparison needs at least two runs", "name another results folder")
    known = list(dict.fromkeys(own["name"] for run in results.values() for own in run.summary["queues"]))
    if queue is not None and queue not in known:
        hint = nearest(queue, known, "the runs' queues.parquet have the recorded ones")
        raise ArgumentError(f'queue="{queue}": no recorded queue has this name', hint)
    document = _document_of_runs(results, queue)
    kept = {label: [result] for label, result in results.items()}
    if out is None:
        return Comparison(document, runs=kept)
    interrupts.writes(out)
    staged = _core.Folder.create(out, force)
    try:
        for line, result in zip(document["schemes"], results.values(), strict=True):
            if result.path is None:
                raise ArgumentError(f"the run {line['label']} is in memory", "run it with out=FOLDER")
            (name,) = run_folders(line)
            shutil.copytree(result.path, staged.partial / name)
        write_text(staged.partial / DOCUMENT, json.dumps(document, indent=2) + "\n")
        staged.publish()
    finally:
        staged.discard()
    return Comparison(document, path=Path(out))


def _document_of_runs(results: Mapping[str, Result], queue: str | None) -> dict[str, Any]:
    """Return the comparison of runs that are over, as ``compare.json`` holds it."""
    summaries = [result.summary for result in results.values()]
    queue = queue or busiest(summaries)
    entries = [
        {
            "label": label,
            "scenario": result.summary["scenario"],
            "scheme": result.summary["scheme"],
            "profile": result.summary["profile"],
            "seeds": [result.summary["seed"]],
            **claims_kept([result]),
            **spreads([measure(result, queue)]),
        }
        for label, result in results.items()
    ]
    scenarios = list(dict.fromkeys((one["scenario"], one["question"]) for one in summaries))
    return {
        "scenario": scenarios[0][0] if len(scenarios) == 1 else None,
        "question": scenarios[0][1] if len(scenarios) == 1 else None,
        "queue": queue,
        "schemes": entries,
        "runs": summaries,
    }
