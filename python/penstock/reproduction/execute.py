"""Runs what is planned, each run once, on all cores; of a run only the quantities are kept, never its tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from penstock import ClaimError, PenstockError, runs
from penstock.executors.executor import Executor
from penstock.reproduction.paper import Paper
from penstock.reproduction.plan import Job, Quantity, Run
from penstock.result import Result

Values = Mapping[tuple[Run, Quantity, int], Any]
"""Values that were taken, by run, quantity and seed."""


class MetricError(PenstockError):
    """A metric that failed on a run."""


@dataclass(frozen=True)
class PaperJob:
    """A run of a paper."""

    paper: Paper
    job: Job


@dataclass(frozen=True)
class QuantityRecorder:
    """The parts of a run that are kept, taken in its thread or on its machine.

    Attributes:
        label: the name of the run in errors.
        job: the run, and the quantities.
        metrics: the functions that they name.
        arguments: the arguments of each quantity's metric.
    """

    label: str
    job: Job
    metrics: Mapping[str, Callable[..., Any]]
    arguments: Mapping[Quantity, Mapping[str, Any]]

    def __call__(self, _place: int, result: Result, loss: ClaimError | None) -> dict[tuple[Run, Quantity, int], Any]:
        """Take it.

        Raises:
            MetricError: a metric failed.
            PenstockError: the run broke a claim of its scenario.
        """
        if loss is not None:
            raise PenstockError(f"{self.label}: {loss.message}")
        values = {}
        for quantity in self.job.quantities:
            try:
                value = self.metrics[quantity.metric](result, **self.arguments[quantity])
            except Exception as error:
                raise MetricError(f"{self.label}: {quantity}: {type(error).__name__}: {error}") from error
            values[self.job.run, quantity, self.job.seed] = value
        return values


def execute(
    jobs: Sequence[PaperJob],
    callbacks: runs.RunCallbacks,
    *,
    workers: int | None = None,
    executor: Executor | None = None,
) -> dict[str, dict[tuple[Run, Quantity, int], Any]]:
    """Run all jobs and return what was taken from them, by the paper's name.

    Raises:
        KeyboardInterrupt: not all were run to their end.
        MetricError: a metric failed on a run.
        PenstockError: a run failed.
    """
    planned = [_run(entry) for entry in jobs]
    taking = [_taking(entry, run.label) for entry, run in zip(jobs, planned, strict=True)]
    found = runs.run_many(planned, taking, callbacks, workers=workers, executor=executor)
    if len(found) < len(jobs):
        raise KeyboardInterrupt
    taken: dict[str, dict[tuple[Run, Quantity, int], Any]] = {entry.paper.name: {} for entry in jobs}
    for place, values in found.items():
        taken[jobs[place].paper.name].update(values)
    return taken


def _run(entry: PaperJob) -> runs.Run:
    paper, job = entry.paper, entry.job
    scenario = paper.scenario(job.run)
    # Observers change no result, so that one run serves those who look at arrivals and those who do not.
    if any(getattr(paper.metrics[quantity.metric], "needs_arrivals", False) for quantity in job.quantities):
        scenario.set("record.arrivals", True)
    if any(getattr(paper.metrics[quantity.metric], "needs_histograms", False) for quantity in job.quantities):
        scenario.set("record.percentiles", True)
    return runs.Run(f"{paper.name}: {job.run}, seed {job.seed}", runs.copies(scenario), job.seed, job.run.scheme)


def _taking(entry: PaperJob, label: str) -> QuantityRecorder:
    used = dict.fromkeys(quantity.metric for quantity in entry.job.quantities)
    arguments = {quantity: entry.paper.arguments(quantity) for quantity in entry.job.quantities}
    return QuantityRecorder(label, entry.job, {name: entry.paper.metrics[name] for name in used}, arguments)
