"""Runs what is planned, each run once, on all cores; of a run only the quantities are kept, never its tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from penstock import FrameLossError, PenstockError, runs
from penstock.reproduction.paper import Paper
from penstock.reproduction.plan import Job, Quantity, Run
from penstock.result import Result
from penstock.scenario import Scenario

Values = Mapping[tuple[Run, Quantity, int], Any]
"""Values that were taken, by run, quantity and seed."""


class MetricError(PenstockError):
    """A metric that failed on a run."""


@dataclass(frozen=True)
class PaperJob:
    """A run of a paper."""

    paper: Paper
    job: Job


def execute(
    jobs: Sequence[PaperJob], watch: runs.Watch, *, workers: int | None = None
) -> dict[str, dict[tuple[Run, Quantity, int], Any]]:
    """Run all jobs and return what was taken from them, by the paper's name.

    Raises:
        KeyboardInterrupt: not all were run to their end.
        MetricError: a metric failed on a run.
        PenstockError: a run failed.
    """
    planned = [_run(entry.paper, entry.job) for entry in jobs]

    def take(place: int, result: Result, loss: FrameLossError | None) -> dict[tuple[Run, Quantity, int], Any]:
        if loss is not None:
            raise PenstockError(f"{planned[place].label}: {loss.message}")
        return _take(jobs[place], result, planned[place].label)

    found = runs.run_many(planned, take, watch, workers=workers)
    if len(found) < len(jobs):
        raise KeyboardInterrupt
    taken: dict[str, dict[tuple[Run, Quantity, int], Any]] = {entry.paper.name: {} for entry in jobs}
    for place, values in found.items():
        taken[jobs[place].paper.name].update(values)
    return taken


def _run(paper: Paper, job: Job) -> runs.Run:
    def scenario() -> Scenario:
        found = paper.scenario(job.run)
        # Observers change no result, so that one run serves those who look at arrivals and those who do not.
        if any(getattr(paper.metrics[quantity.metric], "needs_arrivals", False) for quantity in job.quantities):
            found.set("record.arrivals", True)
        return found

    return runs.Run(f"{paper.name}: {job.run}, seed {job.seed}", scenario, job.seed, job.run.scheme)


def _take(entry: PaperJob, result: Result, label: str) -> dict[tuple[Run, Quantity, int], Any]:
    values = {}
    for quantity in entry.job.quantities:
        try:
            metric = entry.paper.metrics[quantity.metric]
            values[entry.job.run, quantity, entry.job.seed] = metric(result, **quantity.keywords())
        except Exception as error:
            raise MetricError(f"{label}: {quantity}: {type(error).__name__}: {error}") from error
    return values
