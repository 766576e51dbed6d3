"""Runs what is planned, each run once, on all cores; of a run only the quantities are kept, never its tables."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

from penstock import FrameLossError, PenstockError
from penstock.reproduce.paper import Paper
from penstock.reproduce.plan import Job, Quantity, Run
from penstock.scenario import Progress

Values = Mapping[tuple[Run, Quantity, int], Any]
"""What was taken: by run, quantity and seed."""


class Watch(Protocol):
    """Who is told how far the runs are; `penstock.cli.progress.Progress` is one."""

    def task(self, label: str) -> Progress:
        """Return what a run calls while it runs."""

    def count(self, label: str, total: int) -> Callable[[], None]:
        """Return what is called whenever another of ``total`` runs is done."""

    def stop(self) -> None:
        """End every run under way."""


class MetricError(PenstockError):
    """A metric that failed on a run."""


@dataclass(frozen=True)
class PaperJob:
    """A run of a paper."""

    paper: Paper
    job: Job


def execute(jobs: Sequence[PaperJob], workers: int, watch: Watch) -> dict[str, dict[tuple[Run, Quantity, int], Any]]:
    """Run all jobs and return what was taken from them, by the paper's name.

    Raises:
        MetricError: a metric failed on a run.
        PenstockError: a run failed.
    """
    another_is_done = watch.count("runs", len(jobs))
    taken: dict[str, dict[tuple[Run, Quantity, int], Any]] = {entry.paper.name: {} for entry in jobs}

    def work(entry: PaperJob) -> dict[tuple[Run, Quantity, int], Any]:
        values = _take(entry.paper, entry.job, watch)
        another_is_done()
        return values

    # The engine releases Python's lock, so that threads use all cores.
    with ThreadPoolExecutor(max_workers=workers) as pool:
        futures = [(entry, pool.submit(work, entry)) for entry in jobs]
        try:
            for entry, future in futures:
                taken[entry.paper.name].update(future.result())
        except BaseException:
            watch.stop()
            pool.shutdown(cancel_futures=True)
            raise
    return taken


def _take(paper: Paper, job: Job, watch: Watch) -> dict[tuple[Run, Quantity, int], Any]:
    scenario = paper.scenario(job.run)
    metrics = {quantity: paper.metrics[quantity.metric] for quantity in job.quantities}
    # Observers change no result, so that one run serves those who look at arrivals and those who do not.
    if any(getattr(metric, "needs_arrivals", False) for metric in metrics.values()):
        scenario.set("record.arrivals", True)
    label = f"{paper.name}: {job.run}, seed {job.seed}"
    try:
        result = scenario.run(scheme=job.run.scheme, seed=job.seed, progress=watch.task(label))
    except FrameLossError as loss:
        raise PenstockError(f"{label}: {loss.message}") from None
    if result.interrupted:
        raise KeyboardInterrupt
    values = {}
    for quantity, metric in metrics.items():
        try:
            values[job.run, quantity, job.seed] = metric(result, **quantity.keywords())
        except Exception as error:
            raise MetricError(f"{label}: {quantity}: {type(error).__name__}: {error}") from error
    return values
