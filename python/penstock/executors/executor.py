"""The interface of an executor: it takes jobs, hands back the outcome of each as it ends, and can be stopped.

:func:`penstock.runs.run_many` is its one caller: it decides which jobs are sent, which are sent again, and what an
error means. An executor only says how a job ended: with a value, with an error, early, or with its worker lost.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Generic, Self, TypeVar

from penstock.result import ClaimError, Result

if TYPE_CHECKING:
    from penstock.runs import Run, RunCallbacks
    from penstock.scenario import Progress

T = TypeVar("T")
Take = Callable[[int, Result, ClaimError | None], T]
"""Makes of a run's index, its result and the error of a broken claim to lose no frame what is kept of it."""


class QuickTake:
    """A function that takes little from a result: a machine's runs with such a one need no thread of Python each.

    They run in the engine's threads, and the caller's thread takes from their results.
    """

    @property
    def quick(self) -> bool:
        """Whether it does."""
        return True

    @property
    def row(self) -> tuple[Sequence[str], str | None] | None:
        """The columns of a row that is all that it takes, and the queue by which the run is judged, if that is so."""
        return None


@dataclass(frozen=True)
class JobOutcome(Generic[T]):
    """How a job ended. One that ended early has neither a value nor an error.

    Attributes:
        index: the index of its run.
        values: the value taken from its result; one, or none.
        error: the error of the run, or of taking from it.
        lost: the reason why its worker was lost before it had ended.
    """

    index: int
    values: tuple[T, ...] = ()
    error: BaseException | None = None
    lost: str = ""


@dataclass(frozen=True)
class Job(Generic[T]):
    """A run, and the function that takes a value from its result.

    On a cluster a job travels: its run's scenario and ``take`` must be such that they can be pickled.

    Attributes:
        index: the index of the run.
        run: the run.
        take: called with the index, the result, and the error of a broken claim to lose no frame.
        keep_interrupted: whether ``take`` is called for a run that ended early, too.
    """

    index: int
    run: "Run"
    take: "Take[T]"
    keep_interrupted: bool

    def __call__(self, progress: "Progress | None") -> JobOutcome[T]:
        """Run the run here, and take from its result."""
        try:
            result, loss = perform(self.run, progress)
        except KeyboardInterrupt:
            # It was still being laid out.
            return JobOutcome(self.index)
        except Exception as error:
            return JobOutcome(self.index, error=error)
        return self.taken(result, loss)

    def taken(self, result: Result, loss: ClaimError | None) -> JobOutcome[T]:
        """Take from a result."""
        if result.interrupted and not self.keep_interrupted:
            return JobOutcome(self.index)
        try:
            return JobOutcome(self.index, (self.take(self.index, result, loss),))
        except BaseException as error:
            return JobOutcome(self.index, error=error)


def perform(run: "Run", progress: "Progress | None") -> tuple[Result, ClaimError | None]:
    """Run a run, and return its result, with the error if it broke a claim of its scenario.

    Raises:
        KeyboardInterrupt: it was ended while it was laid out.
        Exception: as for :meth:`penstock.scenario.Scenario.run`.
    """
    result = run.laid_out().run(
        scheme=run.scheme, profile=run.profile, seed=run.seed, out=run.out, progress=progress, limit=run.limit
    )
    return result, result.broken_claim()


class Session(ABC, Generic[T]):
    """Jobs of one call of :func:`penstock.runs.run_many`."""

    @property
    @abstractmethod
    def room(self) -> int:
        """How many jobs can run or wait here: enough that no worker is idle. It may change."""

    @abstractmethod
    def submit(self, job: Job[T]) -> None:
        """Take a job; it runs as soon as a worker is free."""

    @abstractmethod
    def ended(self, timeout_s: float) -> Sequence[JobOutcome[T]]:
        """Return the jobs that have ended since the last call; wait for the first of them for so long, s.

        A job may be returned once more by :meth:`stop`, where an interrupt has kept the caller from dealing with it.

        A signal is seen within ``timeout_s``, whatever handlers libraries have put before Python's.
        """

    @abstractmethod
    def stop(self) -> Sequence[JobOutcome[T]]:
        """End the running jobs and drop those that wait; return those that ended and were not reported yet."""


class Executor(ABC):
    """Where runs run; use it in ``with``, or call :meth:`close`."""

    @property
    def is_remote(self) -> bool:
        """Whether runs run in other processes, so that records in memory cannot be had from them."""
        return False

    @abstractmethod
    def session(self, callbacks: "RunCallbacks") -> "Session[T]":
        """Begin with the jobs of one call; ``callbacks`` is asked whether all is to end, and gets the progress."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the workers. It may be called twice."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
