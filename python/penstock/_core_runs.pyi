"""Declarations of the native module: runs in threads of the engine, and a run in steps. ``_core.pyi`` has the rest."""

from collections.abc import Callable, Sequence
from typing import Any, final

from numpy.typing import NDArray

from penstock._core import Scenario

@final
class Pool:
    """Threads of the engine, each of which runs one run at a time, from the scenario to its result."""

    def __init__(self, workers: int) -> None:
        """Start threads."""

    def submit(
        self,
        index: int,
        scenario: Scenario,
        settings: Sequence[tuple[str, str]],
        scheme: str | None = None,
        profile: str | None = None,
        seed: int | None = None,
        limit: int = 1,
        begin: Callable[[], object] | None = None,
        row: tuple[Sequence[str], str | None] | None = None,
    ) -> None:
        """Take a run of a scenario as it is now, with the keys of ``settings`` set.

        ``begin`` is called without arguments once the run has taken longer than a tenth of a second, and returns the
        progress of :meth:`Scenario.run`. With ``row``, columns and a queue, the run's row is all that is kept.
        """

    def ended(self, into: list[object], timeout_s: float) -> None:
        """Append the runs that have ended since the last call; wait for the first of them for so long.

        Each is its index, its Result or its row, and its exception; it has neither where it was stopped.
        """

    def stop(self) -> None:
        """Drop the runs that wait, and end those that are running."""

    running: int
    """How many are running."""

@final
class Stepper:
    """A run that is taken step by step, and steered between two steps."""

    def __init__(
        self,
        scenario: Scenario,
        settings: Sequence[tuple[str, str]],
        scheme: str | None = None,
        profile: str | None = None,
        seed: int | None = None,
        limit: int = 1,
    ) -> None:
        """Lay out a scenario as it is now, with the keys of ``settings`` set.

        Raises:
            ScenarioError: a value is not legal.
        """

    over: bool
    """Whether the run has come to its end."""
    now_s: float
    """Simulated time, s."""
    duration_s: float
    """Time of the whole run, s."""
    ports: list[tuple[str, int]]
    """The ports with congestion points: name, and rate of the line in bit/s."""
    hosts: list[tuple[str, int]]
    """The hosts that send: name, and rate of the line in bit/s."""

    def advance(self, step_s: float) -> None:
        """Go on for so long, or to the end of the run.

        Raises:
            LimitError: more frames are in the network than the limits allow.
        """

    def queues(self) -> list[list[float]]:
        """Of each port: octets queued; since the start, s that the line was used, frames dropped, sent and marked."""

    def parameter(self, place: int, name: str) -> float:
        """Return a parameter of the scheme at a port, in octets, s, bit/s or as a number.

        Raises:
            ValueError: the scheme has no number of that name.
        """

    def retune(self, place: int, values: Sequence[tuple[str, float]]) -> None:
        """Give parameters of the scheme other values at a port.

        Raises:
            ValueError: the scheme does not take them.
        """

    def cap(self, place: int, rate_bps: float) -> None:
        """Let a host's flows go together no faster than this."""

    def finish(self) -> str:
        """End the run where it is, and return its summary as JSON."""

@final
class Agents:
    """Runs in steps, and agents who decide between two of them. Arrays are contiguous, with a row for each run."""

    @staticmethod
    def hosts(runs: int, threads: int, step_s: float, most_octets: float, least: float) -> Agents:
        """Return runs with one agent each, which caps hosts."""

    @staticmethod
    def flows(
        runs: int,
        threads: int,
        step_s: float,
        target: float,
        least: float,
        factors: bool,
        acks: int,
        signals: bool,
        held: bool,
    ) -> Agents:
        """Return runs with an agent for each flow, which decides on its rate; not ``held``, the scheme decides."""

    def begin(
        self,
        place: int,
        scenario: Scenario,
        settings: Sequence[tuple[str, str]],
        scheme: str | None = None,
        seed: int | None = None,
    ) -> None:
        """Begin a run of a scenario as it is now, with the keys of ``settings`` set.

        Raises:
            ScenarioError: a value is not legal.
            ValueError: agents cannot decide on the rates of its flows.
        """

    def step(self, actions: NDArray[Any], seen: NDArray[Any], rewards: NDArray[Any], flags: NDArray[Any]) -> None:
        """Take a step of each run that has not ended, and write the results.

        Raises:
            LimitError: more frames are in a network than the limits allow.
        """

    def write(self, seen: NDArray[Any], rewards: NDArray[Any], flags: NDArray[Any]) -> None:
        """Write the results of the last step, or the state of runs that have taken none."""

    def ports(self, place: int) -> list[tuple[str, float]]:
        """Return the ports that are observed, with the rates of their lines in bit/s."""

    def names(self, place: int) -> list[tuple[str, float, float]]:
        """Return hosts or flows, with the rates of their lines in bit/s and their round trips in s."""

    def times(self, place: int) -> tuple[int, int]:
        """Return the time of a run and its duration, ps."""

    def wake_at(self, place: int, flow: int, at: int | None) -> None:
        """Pause for a flow at a time, ps."""

    def wake_after(self, place: int, flow: int, octets: int | None) -> None:
        """Pause once a flow has sent this number of further octets."""

    def learnt(self, place: int, flow: int) -> tuple[int, int, int, float, int, int]:
        """Return acknowledgements, marked ones, signals, sum of round trips in s, octets sent, rate in bit/s."""

    def finish(self, place: int) -> str:
        """End a run where it is, and return its summary as JSON."""
