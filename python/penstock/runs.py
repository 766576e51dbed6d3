"""Many runs at a time, on all cores or on a cluster: progress, interruption, lost workers, failures of single runs.

Comparisons, reproductions, sweeps and the search for parameters all run here.
"""

import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from penstock._core import PenstockError
from penstock.errors import ArgumentError
from penstock.executors.executor import Executor, Job, JobOutcome, Session, Take
from penstock.executors.local import LocalExecutor
from penstock.quantity_text import duration
from penstock.scenario import Parts, Progress, Scenario, joined, parts_of

T = TypeVar("T")

_BETWEEN_LOOKS_S = 0.1

MOST_SEEDS = 10_000
"""Runs that differ by their seed alone."""

_LARGEST_SEED = 2**63 - 1
"""TOML has no larger whole numbers."""

MOST_LOSSES = 3
"""So often a run is sent again after its worker was lost; a run that ends its worker each time is a failure."""


class LostWorkerError(PenstockError):
    """A run whose worker was lost again and again, as when it takes more memory than there is."""


@dataclass(frozen=True)
class RunCallbacks:
    """How many runs are watched and ended.

        >>> callbacks = penstock.RunCallbacks(done=lambda: print(".", end=""))
        >>> penstock.compare(scenario, ["none", "qcn"], seeds=20, callbacks=callbacks)

    ``run``, the function that it returns, and ``stopped`` are called from the threads of runs; all others from the
    caller's.

    Attributes:
        planned: called with how many runs there will be, before the first; never where nobody knows.
        skipped: called with how many runs of a sweep are there already, before the first.
        refused: called with how many runs of a sweep cannot run, as their values do not go together, before the first.
        run: called for each run with its label; returns the ``progress`` of :meth:`Scenario.run`, or ``None``. Of runs
            on a cluster nothing is reported before they end. Of a sweep without series it hears of runs that take
            longer than a tenth of a second.
        done: called after each run whose result is kept.
        failed: called for each run that fails where that ends none of the others, with its label and the reason.
        lost: called for each run whose worker was lost and that is sent again, with its label and the reason.
        theory: called with the share of calculations other than runs that is done.
        stopped: asked about ten times a second whether all is to end. Once it answers yes, the runs that are running
            end as with Ctrl-C, and no further run begins.
    """

    planned: Callable[[int], object] = lambda _: None
    skipped: Callable[[int], object] = lambda _: None
    refused: Callable[[int], object] = lambda _: None
    run: Callable[[str], Progress | None] = lambda _: None
    done: Callable[[], object] = lambda: None
    failed: Callable[[str, str], object] = lambda *_: None
    lost: Callable[[str, str], object] = lambda *_: None
    theory: Callable[[float], object] = lambda _: None
    stopped: Callable[[], bool] = lambda: False


def printing(every_s: float = 2.0) -> RunCallbacks:
    """Return callbacks that write on standard error how many runs are done, for calls from Python.

        >>> penstock.compare(scenario, ["none", "qcn"], seeds=20, callbacks=penstock.printing())

    A line comes at most every ``every_s`` seconds, and at the end, with the time that is left at the pace until then.
    """
    begun_s = time.monotonic()
    planned, done, reported_s = 0, 0, 0.0

    def plan(runs: int) -> None:
        nonlocal planned
        planned = runs

    def end() -> None:
        nonlocal done, reported_s
        done += 1
        now_s = time.monotonic()
        if now_s - reported_s >= every_s or done == planned:
            reported_s = now_s
            left = f", about {duration((now_s - begun_s) / done * (planned - done))} left" if done < planned else ""
            print(f"{done} of {planned} runs{left}", file=sys.stderr, flush=True)

    return RunCallbacks(planned=plan, done=end, failed=lambda *_: end())


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
        settings: keys that are set first, as text: several runs may share a ``scenario``.
    """

    label: str
    scenario: Callable[[], Scenario]
    seed: int
    scheme: str | None = None
    profile: str | None = None
    out: Path | None = None
    limit: int = 1
    settings: tuple[tuple[str, str], ...] = ()

    def laid_out(self) -> Scenario:
        """Make the scenario, with its settings.

        Raises:
            ScenarioError: a key cannot be set.
        """
        scenario = self.scenario()
        for key, value in self.settings:
            scenario.set(key, value)
        return scenario


@dataclass(frozen=True)
class Copies:
    """Makes copies of a scenario, in any thread and on any machine.

    Attributes:
        parts: the scenario's text and what is known beside it.
    """

    parts: Parts

    def __call__(self) -> Scenario:
        """Make a copy."""
        return joined(self.parts)


PERCENTILES = {"record.percentiles": True}
"""What runs of a comparison, a sweep and a search set: their summaries have percentiles of queues."""


def _argument(key: str, message: str, hint: str) -> ArgumentError:
    return ArgumentError(f"{key}: {message}", hint)


def seeds_of(given: Any, first: int, error: Callable[[str, str, str], Exception] = _argument) -> tuple[int, ...]:
    """Return seeds: this number of them from the first on, or those that a sequence names.

    Raises:
        ArgumentError: they are neither; or what ``error`` makes of ``seeds``, the message and the hint.
    """
    if isinstance(given, int) and not isinstance(given, bool):
        if not 1 <= given <= MOST_SEEDS:
            raise error("seeds", f"{given} is not a count of seeds", f"write 1 to {MOST_SEEDS}, or a list of seeds")
        return tuple(range(first, first + given))
    if not isinstance(given, list | tuple | range):
        raise error("seeds", f"{given!r} is neither a number nor a list", "write seeds = 3, or seeds = [1, 2, 3]")
    if not 1 <= len(given) <= MOST_SEEDS:
        raise error("seeds", f"is a list of {len(given)} seeds", f"write 1 to {MOST_SEEDS}")
    for seed in given:
        if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= _LARGEST_SEED:
            raise error("seeds", f"{seed!r} is not a seed", "write whole numbers from 0 to 2^63 - 1")
        if list(given).count(seed) > 1:
            raise error("seeds", f"{seed} appears twice", "name each seed once")
    return tuple(given)


def copies(scenario: Scenario) -> Copies:
    """Return a function that makes a copy of the scenario as it is now, in any thread."""
    return Copies(parts_of(scenario))


def run_many(
    runs: Sequence[Run],
    take: Take[T] | Sequence[Take[T]],
    callbacks: RunCallbacks,
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    keep_interrupted: bool = False,
    keep: Callable[[int, T], object] | None = None,
    fail: Callable[[int, Exception], object] | None = None,
) -> Mapping[int, T]:
    """Run all of ``runs``; return what ``take`` makes of each, by its index in ``runs``, in order.

    Ctrl-C ends the runs that are running and drops those that have not begun. Indices that are missing in the answer
    are those of dropped runs and, unless ``keep_interrupted``, of runs that ended early. A run whose worker is lost is
    sent again.

    Args:
        runs: the runs.
        take: called where the run runs, with its index, its result, and the error if it broke its claim to lose no
            frame; or one for each run. Where a cluster runs it and its records go to a folder, it is called here.
        callbacks: how to watch and end the runs.
        workers: number of threads, by default one for each core that the process may use.
        executor: where the runs run, instead of threads of this process.
        keep_interrupted: whether ``take`` is called for runs that ended early, too; a cluster drops them all the same.
        keep: called with the index of a run and what ``take`` has made of it, at once; the answer is empty then.
        fail: called with the index of a run and its error where a run fails; no other run is ended then.

    Raises:
        Exception: that of the first run that fails, in the order of ``runs``, without ``fail``; or that of ``keep``.
            The others are ended before.
    """
    many = _Many(runs, take, callbacks, keep_interrupted, keep, fail)
    if executor is not None:
        return many.run(executor)
    with LocalExecutor(workers) as cores:
        return many.run(cores)


class _Many(Generic[T]):
    """The runs of one call, and their state."""

    def __init__(
        self,
        runs: Sequence[Run],
        take: Take[T] | Sequence[Take[T]],
        callbacks: RunCallbacks,
        keep_interrupted: bool,
        keep: Callable[[int, T], object] | None,
        fail: Callable[[int, Exception], object] | None,
    ) -> None:
        self._runs = runs
        self._takes = [take] * len(runs) if callable(take) else take
        self._watch = callbacks
        self._keep_interrupted = keep_interrupted
        self._keep = keep
        self._fail = fail
        self._waiting = deque(range(len(runs)))
        self._under_way: set[int] = set()
        self._losses: Counter[int] = Counter()
        self._failures: dict[int, BaseException] = {}
        self._found: dict[int, T] = {}
        self._interrupted = False

    def run(self, executor: Executor) -> Mapping[int, T]:
        """Return what the runs have left, by their indices; see :func:`run_many`."""
        session: Session[T] = executor.session(self._watch)
        try:
            while self._goes_on():
                self._submit(session)
                self._take_in(session.ended(_BETWEEN_LOOKS_S))
        except KeyboardInterrupt:
            pass
        except BaseException:
            session.stop()
            raise
        self._waiting.clear()
        self._take_in(session.stop())
        if self._failures:
            raise self._failures[min(self._failures)]
        return dict(sorted(self._found.items()))

    def _goes_on(self) -> bool:
        # Of several failures the first in order counts: all runs before it end in order.
        left = [*self._waiting, *self._under_way] if self._failures else self._waiting or self._under_way
        ahead = bool(left) and (not self._failures or min(left) < min(self._failures))
        return ahead and not self._interrupted and not self._watch.stopped()

    def _submit(self, session: Session[T]) -> None:
        room = session.room
        last = min(self._failures, default=len(self._runs))
        while self._waiting and len(self._under_way) < room and self._waiting[0] < last:
            index = self._waiting.popleft()
            self._under_way.add(index)
            session.submit(Job(index, self._runs[index], self._takes[index], self._keep_interrupted))

    def _take_in(self, ends: Sequence[JobOutcome[T]]) -> None:
        for ended in ends:
            if ended.index not in self._under_way:
                # Reported again, since an interrupt came during the report.
                continue
            if self._keep is None and ended.values:
                (self._found[ended.index],) = ended.values
            self._under_way.discard(ended.index)
            if ended.lost:
                self._resend(ended)
            elif ended.error is not None:
                self._failing(ended.index, ended.error)
            elif ended.values:
                (value,) = ended.values
                if self._keep is not None:
                    self._keep(ended.index, value)
                self._watch.done()

    def _resend(self, ended: JobOutcome[T]) -> None:
        index, label = ended.index, self._runs[ended.index].label
        self._losses[index] += 1
        if self._losses[index] > MOST_LOSSES:
            reason = f"the worker of this run was lost {self._losses[index]} times, at last because {ended.lost}"
            self._failing(index, LostWorkerError(reason if self._fail is not None else f"{label}: {reason}"))
            return
        self._watch.lost(label, ended.lost)
        self._waiting.appendleft(index)

    def _failing(self, index: int, error: BaseException) -> None:
        if not isinstance(error, Exception):
            # An interrupt that the thread of a run has met.
            self._interrupted = True
            return
        if self._fail is None:
            self._failures[index] = error
            return
        self._fail(index, error)
        self._watch.failed(self._runs[index].label, str(error))
