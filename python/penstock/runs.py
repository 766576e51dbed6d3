"""Many runs at a time, on all cores: progress, interruption, and failures of single runs.

Comparisons, reproductions and the search for parameters all run here.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from penstock.result import FrameLossError, Result
from penstock.scenario import Progress, Scenario

T = TypeVar("T")


@dataclass(frozen=True)
class Watch:
    """How runs are watched and ended.

    Attributes:
        run: called for each run with its label; returns the ``progress`` of :meth:`penstock.scenario.Scenario.run`.
        done: called after each whole run, from its thread.
        stop: called when the runs that are under way are to end.
        stopped: says whether somebody has asked the runs to end; then no further run begins.
    """

    run: Callable[[str], Progress | None] = lambda _: None
    done: Callable[[], object] = lambda: None
    stop: Callable[[], object] = lambda: None
    stopped: Callable[[], bool] = lambda: False


@dataclass(frozen=True)
class Run:
    """One run: a scenario with a seed.

    Attributes:
        label: what the run is called in progress and errors.
        scenario: makes the scenario, in the run's thread. A scenario that another thread uses too must be a copy.
        seed: its seed.
        scheme: instead of the scenario's.
        profile: instead of the scenario's.
        out: folder for the records; without one they stay in memory.
        limit: as in :meth:`penstock.scenario.Scenario.run`.
    """

    label: str
    scenario: Callable[[], Scenario]
    seed: int
    scheme: str | None = None
    profile: str | None = None
    out: Path | None = None
    limit: int = 1


def copies(scenario: Scenario) -> Callable[[], Scenario]:
    """Return a function that makes a copy of the scenario as it is now, in any thread."""
    text, name = scenario.to_toml(), scenario.name
    return lambda: Scenario.from_toml(text, name=name)


def run_many(
    runs: Sequence[Run],
    take: Callable[[int, Result, FrameLossError | None], T],
    watch: Watch,
    *,
    workers: int | None = None,
    keep_interrupted: bool = False,
) -> Mapping[int, T]:
    """Run all of ``runs`` in threads; return what ``take`` makes of each, by its place in ``runs``, in order.

    Ctrl-C ends the runs that are under way and drops those that have not begun. Places that are missing in the answer
    are those of dropped runs and, unless ``keep_interrupted``, of runs that ended early.

    Args:
        runs: what to run.
        take: called in the run's thread with its place, its result, and the error if it broke its claim to lose no
            frame.
        watch: how to watch and end the runs.
        workers: number of threads, by default one for each core that the process may use.
        keep_interrupted: whether ``take`` is called for runs that ended early, too.

    Raises:
        Exception: what the first run to fail raised, in the order of ``runs``. The others are ended before.
    """

    def work(place: int) -> list[T]:
        run = runs[place]
        if watch.stopped():
            return []
        loss = None
        try:
            result = run.scenario().run(
                scheme=run.scheme,
                profile=run.profile,
                seed=run.seed,
                out=run.out,
                progress=watch.run(run.label),
                limit=run.limit,
            )
        except FrameLossError as error:
            loss, result = error, error.result
        except KeyboardInterrupt:
            # It was still being laid out.
            return []
        if result.interrupted and not keep_interrupted:
            return []
        value = take(place, result, loss)
        watch.done()
        return [value]

    # The engine releases Python's lock, so that threads use all cores.
    with ThreadPoolExecutor(max_workers=workers or len(os.sched_getaffinity(0))) as pool:
        futures = [pool.submit(work, place) for place in range(len(runs))]
        try:
            found = [future.result() for future in futures]
        except BaseException as error:
            watch.stop()
            pool.shutdown(cancel_futures=True)
            if not isinstance(error, KeyboardInterrupt):
                raise
            found = [_left(future) for future in futures]
    return {place: value for place, values in enumerate(found) for value in values}


def _left(future: Future[list[T]]) -> list[T]:
    """Return what an interrupt has left of a run."""
    if future.cancelled():
        return []
    try:
        return future.result()
    except KeyboardInterrupt:
        return []
