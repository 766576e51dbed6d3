"""The executor of this machine: a thread for each core. The engine releases Python's lock while it runs."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from penstock import _core
from penstock.executors.executor import Executor, Job, JobOutcome, QuickTake, Session
from penstock.executors.processes import cores
from penstock.result import Result

if TYPE_CHECKING:
    from penstock.runs import RunCallbacks
    from penstock.scenario import Progress, Scenario

T = TypeVar("T")

_BETWEEN_LOOKS_S = 0.1
_WAITING = 64
"""Jobs that wait for a thread, so that none is idle while the caller deals with what has ended."""


class LocalExecutor(Executor):
    """The cores of this machine.

    Args:
        workers: number of threads, by default one for each core that the process may use.
    """

    def __init__(self, workers: int | None = None) -> None:
        self._workers = workers or cores()
        self._pool = ThreadPoolExecutor(max_workers=self._workers)

    def session(self, callbacks: "RunCallbacks") -> Session[T]:
        """Begin with the jobs of one call."""
        return _Threads(self._pool, self._workers, callbacks)

    def close(self) -> None:
        """End the threads; a run that is running ends first."""
        self._pool.shutdown()


class _Threads(Session[T]):
    """The jobs of one call.

    An interrupt comes between any two steps of the main thread. So threads alone say how jobs have ended, an end counts
    as reported when the next ones are asked for, and the session waits for its threads, not for a number of ends.

    Jobs that take little go to threads of the engine: from the scenario to the result they never wait for Python's
    lock.
    """

    def __init__(self, pool: ThreadPoolExecutor, workers: int, callbacks: "RunCallbacks") -> None:
        self._pool = pool
        self._room = workers + _WAITING
        self._watch = callbacks
        self._over = threading.Event()
        self._under_way: set[Future[None]] = set()
        self._news = threading.Event()
        self._ends: list[JobOutcome[T] | None] = []
        """Of each job that has ended, in their order; each is reported once."""
        self._reported = 0
        self._shown = 0
        self._workers = workers
        self._engine: _core.Pool | None = None
        self._handed: dict[int, Job[T]] = {}
        """Jobs in the engine's threads, by index, until they have been taken from."""
        self._results: list[Any] = []
        """Ends of these as the engine gives them."""
        self._base: tuple[Callable[[], Scenario], Scenario] | None = None
        """What made the scenario of the last one, and the scenario: many runs share one."""

    @property
    def room(self) -> int:
        return self._room

    def submit(self, job: Job[T]) -> None:
        if isinstance(job.take, QuickTake) and job.take.quick and job.run.out is None and not job.keep_interrupted:
            self._hand_over(job)
            return
        future = self._pool.submit(self._work, job)
        self._under_way.add(future)
        future.add_done_callback(self._under_way.discard)

    def ended(self, timeout_s: float) -> Sequence[JobOutcome[T]]:
        self._ends[self._reported : self._shown] = [None] * (self._shown - self._reported)
        self._reported = self._shown
        self._news.clear()
        if len(self._ends) == self._reported:
            if self._handed and self._engine is not None:
                self._take_in(self._engine, timeout_s if not self._under_way else 0.0)
            if self._under_way:
                self._news.wait(timeout_s)
        self._shown = len(self._ends)
        return self._unreported(self._shown)

    def stop(self) -> Sequence[JobOutcome[T]]:
        self._over.set()
        if self._engine is not None:
            self._engine.stop()
            while self._engine.running:
                self._take_in(self._engine, _BETWEEN_LOOKS_S)
            self._take_in(self._engine, 0.0)
        while wait(set(self._under_way), timeout=_BETWEEN_LOOKS_S).not_done:
            pass
        return self._unreported(len(self._ends))

    def _unreported(self, until: int) -> Sequence[JobOutcome[T]]:
        return [end for end in self._ends[self._reported : until] if end is not None]

    def _is_over(self) -> bool:
        return self._over.is_set() or self._watch.stopped()

    def _hand_over(self, job: Job[T]) -> None:
        run = job.run
        try:
            if self._base is None or self._base[0] is not run.scenario:
                self._base = run.scenario, run.scenario()
        except Exception as error:
            self._ends.append(JobOutcome(job.index, error=error))
            return
        if self._engine is None:
            self._engine = _core.Pool(self._workers)
        self._handed[job.index] = job
        begin = partial(self._progress, run.label)
        row = job.take.row if isinstance(job.take, QuickTake) else None
        self._engine.submit(
            job.index,
            self._base[1]._core,
            list(run.settings),
            run.scheme,
            run.profile,
            run.seed,
            run.limit,
            begin,
            None if row is None else (list(row[0]), row[1]),
        )

    def _progress(self, label: str) -> "_Ending":
        return _Ending(self._watch.run(label), self._is_over)

    def _take_in(self, engine: _core.Pool, timeout_s: float) -> None:
        """Take from the results of the engine's threads. An interrupt leaves what was not taken for the next call."""
        engine.ended(self._results, timeout_s)
        for place, end in enumerate(self._results):
            if end is None:
                continue
            index, value, error = end
            job = self._handed[index]
            if error is not None:
                ended: JobOutcome[T] = JobOutcome(index, error=error)
            elif value is None:
                ended = JobOutcome(index)
            elif isinstance(value, list):
                ended = JobOutcome(index, (value,))  # type: ignore[arg-type]
            else:
                result = Result(value)
                ended = job.taken(result, result.broken_claim())
            if isinstance(ended.error, KeyboardInterrupt):
                raise ended.error
            self._ends.append(ended)
            self._results[place] = None
            self._handed.pop(index, None)
        self._results.clear()

    def _work(self, job: Job[T]) -> None:
        try:
            if self._is_over():
                ended: JobOutcome[T] = JobOutcome(job.index)
            else:
                ended = job(_Ending(self._watch.run(job.run.label), self._is_over))
        except BaseException as error:
            ended = JobOutcome(job.index, error=error)
        self._ends.append(ended)
        self._news.set()


class _Ending:
    """The progress of a run that ends once ``ended`` answers yes."""

    def __init__(self, progress: "Progress | None", ended: Callable[[], bool]) -> None:
        self._progress = progress or (lambda *_: None)
        self._laying_out: Callable[[], object] = getattr(progress, "laying_out", lambda: None)
        self._ended = ended

    def __call__(self, simulated_s: float, duration_s: float, events: int, wall_s: float) -> None:
        self._go_on()
        self._progress(simulated_s, duration_s, events, wall_s)

    def laying_out(self) -> None:
        """Say that the run is being laid out; ends it where that is asked for."""
        self._go_on()
        self._laying_out()

    def _go_on(self) -> None:
        if self._ended():
            raise KeyboardInterrupt
