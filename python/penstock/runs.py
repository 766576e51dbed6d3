"""Many runs at a time, on all cores or on a cluster: progress, interruption, and failures of single runs.

Comparisons, reproductions, sweeps and the search for parameters all run here.
"""

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from penstock.result import FrameLossError, Result
from penstock.scenario import Progress, Scenario

T = TypeVar("T")

_BETWEEN_LOOKS_S = 0.1


@dataclass(frozen=True)
class Watch:
    """How many runs are watched and ended.

        >>> penstock.compare(scenario, ["none", "qcn"], seeds=20, watch=Watch(done=lambda: print(".", end="")))

    Runs go on in threads of their own, and call all of these from there.

    Attributes:
        planned: called with how many runs there will be, before the first; never where nobody knows.
        skipped: called with how many runs of a sweep are there already, before the first.
        run: called for each run with its label; returns the ``progress`` of :meth:`Scenario.run`, or ``None``.
        done: called after each run whose result is kept.
        failed: called for each run that fails where that ends none of the others, with its label and the reason.
        theory: called with the share of calculations other than runs that is done.
        stopped: asked about ten times a second whether all is to end. Once it answers yes, the runs that are under way
            end as with Ctrl-C, and no further run begins.
    """

    planned: Callable[[int], object] = lambda _: None
    skipped: Callable[[int], object] = lambda _: None
    run: Callable[[str], Progress | None] = lambda _: None
    done: Callable[[], object] = lambda: None
    failed: Callable[[str, str], object] = lambda *_: None
    theory: Callable[[float], object] = lambda _: None
    stopped: Callable[[], bool] = lambda: False


@dataclass(frozen=True)
class Run:
    """One run: a scenario with a seed.

    Attributes:
        label: the name of the run in progress and errors.
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


@dataclass(frozen=True)
class Copies:
    """Makes copies of a scenario, in any thread and on any machine.

    Attributes:
        text: the scenario, as TOML.
        name: its name.
    """

    text: str
    name: str

    def __call__(self) -> Scenario:
        """Make a copy."""
        return Scenario.from_toml(self.text, name=self.name)


def copies(scenario: Scenario) -> Copies:
    """Return a function that makes a copy of the scenario as it is now, in any thread."""
    return Copies(scenario.to_toml(), scenario.name)


def perform(run: Run, progress: Progress | None) -> tuple[Result, FrameLossError | None]:
    """Run a run, and return its result, with the error if it broke its claim to lose no frame.

    Raises:
        KeyboardInterrupt: it was ended while it was laid out.
        Exception: as for :meth:`penstock.scenario.Scenario.run`.
    """
    try:
        result = run.scenario().run(
            scheme=run.scheme, profile=run.profile, seed=run.seed, out=run.out, progress=progress, limit=run.limit
        )
    except FrameLossError as error:
        return error.result, error
    return result, None


def run_many(
    runs: Sequence[Run],
    take: Callable[[int, Result, FrameLossError | None], T],
    watch: Watch,
    *,
    workers: int | None = None,
    keep_interrupted: bool = False,
    keep: Callable[[int, T], object] | None = None,
    fail: Callable[[int, Exception], object] | None = None,
) -> Mapping[int, T]:
    """Run all of ``runs`` in threads; return what ``take`` makes of each, by its place in ``runs``, in order.

    Ctrl-C ends the runs that are under way and drops those that have not begun. Places that are missing in the answer
    are those of dropped runs and, unless ``keep_interrupted``, of runs that ended early.

    Args:
        runs: the runs.
        take: called in the run's thread with its place, its result, and the error if it broke its claim to lose no
            frame.
        watch: how to watch and end the runs.
        workers: number of threads, by default one for each core that the process may use.
        keep_interrupted: whether ``take`` is called for runs that ended early, too.
        keep: called with the place of a run and what ``take`` has made of it, at once; the answer is empty then.
        fail: called with the place of a run and its error where a run fails; no other run is ended then.

    Raises:
        Exception: that of the first run that fails, in the order of ``runs``, without ``fail``; or that of ``keep``.
            The others are ended before.
    """
    over = threading.Event()

    def ended() -> bool:
        return over.is_set() or watch.stopped()

    def failing(place: int, error: Exception) -> list[T]:
        if fail is None:
            raise error
        fail(place, error)
        watch.failed(runs[place].label, str(error))
        return []

    def work(place: int) -> list[T]:
        run = runs[place]
        if ended():
            return []
        try:
            result, loss = perform(run, _Ending(watch.run(run.label), ended))
            if result.interrupted and not keep_interrupted:
                return []
        except KeyboardInterrupt:
            # It was still being laid out.
            return []
        except Exception as error:
            return failing(place, error)
        try:
            value = take(place, result, loss)
        except Exception as error:
            return failing(place, error)
        if keep is not None:
            keep(place, value)
        watch.done()
        return [value] if keep is None else []

    # The engine releases Python's lock, so that threads use all cores.
    with ThreadPoolExecutor(max_workers=workers or len(os.sched_getaffinity(0))) as pool:
        futures = [pool.submit(work, place) for place in range(len(runs))]
        try:
            found = [_answer(future) for future in futures]
        except BaseException as error:
            over.set()
            pool.shutdown(cancel_futures=True)
            if not isinstance(error, KeyboardInterrupt):
                raise
            found = [_left(future) for future in futures]
    return {place: value for place, values in enumerate(found) for value in values}


class _Ending:
    """The progress of a run that ends once ``ended`` answers yes."""

    def __init__(self, progress: Progress | None, ended: Callable[[], bool]) -> None:
        self._progress = progress or (lambda *_: None)
        self._laying_out: Callable[[], object] = getattr(progress, "laying_out", lambda: None)
        self._ended = ended

    def __call__(self, simulated_s: float, duration_s: float, events: int, wall_s: float) -> None:
        self._go_on()
        self._progress(simulated_s, duration_s, events, wall_s)

    def laying_out(self) -> None:
        self._go_on()
        self._laying_out()

    def _go_on(self) -> None:
        if self._ended():
            raise KeyboardInterrupt


def _answer(future: Future[list[T]]) -> list[T]:
    """Wait for a run and return what is made of it.

    The wait ends now and then, so that Python sees Ctrl-C: a signal alone does not end it once a library has put a
    handler of its own before Python's that restarts system calls, as Polars does when it is imported.
    """
    while not future.done():
        wait((future,), timeout=_BETWEEN_LOOKS_S)
    return future.result()


def _left(future: Future[list[T]]) -> list[T]:
    """Return what an interrupt has left of a run."""
    if future.cancelled():
        return []
    try:
        return future.result()
    except KeyboardInterrupt:
        return []
