"""Declarations of the native module: parts of schemes, and what a scheme in Python sees. ``_core.pyi`` has the rest."""

from collections.abc import Callable, Sequence
from typing import final

_Words = Sequence[int] | Callable[[], float]
# Text such as "q_eq = 33 KB", or a value for each parameter in the catalogue's units.
_Parameters = str | dict[str, float | str | bool]

@final
class GoldenRateCalculator:
    """QCN's rate calculator with its timer, at the line's rate: see :mod:`penstock.golden`."""

    current_bps: int
    target_bps: int
    byte_count: int
    """Octets left of the byte counter's cycle."""
    byte_stage: int
    time_stage: int
    timer_ps: int | None
    """When the timer's cycle ends; ``None`` where it does not run."""
    phase: str
    """"fast-recovery", "active-increase" or "hyper-active-increase"."""

    def __init__(self, line_rate_bps: int, parameters: _Parameters = "") -> None: ...
    @staticmethod
    def recovering(
        line_rate_bps: int, rate_bps: int, target_bps: int, cycles: int, parameters: _Parameters
    ) -> GoldenRateCalculator:
        """Return one without timer, Extra Fast Recovery and Target Rate Reduction, some cycles after feedback.

        Raises:
            KeyError: a parameter has no value.
            ValueError: a word is none of its parameter's.
        """

    def start_timer(self, now_ps: int, words: _Words = ()) -> None: ...
    def decrease(self, now_ps: int, feedback: int, words: _Words = ()) -> None: ...
    def count(self, octets: int, words: _Words = ()) -> None: ...
    def end_byte_cycle(self, words: _Words = ()) -> None: ...
    def timeout(self, now_ps: int, words: _Words = ()) -> None: ...

@final
class GoldenSampler:
    """QCN's congestion measure and its sampling."""

    def __init__(self, parameters: _Parameters = "") -> None: ...
    def feedback(self, queue_octets: int, old_octets: int) -> int: ...
    def sample(self, octets: int, steps: int, words: _Words = ()) -> bool: ...
    def reload(self, steps: int, words: _Words = ()) -> None: ...
    def interval_octets(self, feedback: int, words: _Words = ()) -> int:
        """Return the octets until the next sample by the table."""

@final
class GoldenTokenBucket:
    """The token bucket of a rate limiter, full."""

    octets: int

    def __init__(self, depth_octets: int, interval_ps: int, granularity_bps: int, rate_bps: int) -> None: ...
    def set_rate(self, now_ps: int, rate_bps: int) -> None: ...
    def ready_ps(self, now_ps: int, octets: int) -> int | None: ...
    def take(self, now_ps: int, octets: int) -> None: ...

def golden_jitter(base: int, spread: int, word: int) -> int: ...
def scheme_conforms(location: str) -> None: ...
def scheme_methods() -> list[list[str]]: ...

class Frame:
    """A data frame at a queue or its destination, for a scheme in Python. Times are ps."""

    now: int
    flow: int
    octets: int
    weight: int
    seq: int
    sent_at: int
    last: bool
    trimmed: bool
    dropped: bool
    marked: bool
    word: list[int]
    random: int

class Queue:
    """An output queue, for a scheme in Python."""

    octets: int
    frames: int
    sent: int
    rate: int
    paused: bool

class Signal:
    """A control frame that has arrived, for a scheme in Python. ``kind``: 0 a notification, 1 a probe, 2 its reply."""

    now: int
    flow: int
    octets: int
    kind: int
    word: list[int]
    random: int

class Acknowledgement:
    """An acknowledgement, for a scheme in Python: octets that arrived or were lost, the round-trip time in ps."""

    now: int
    flow: int
    acked: int
    lost: int
    rtt: int
    marked: bool
    word: list[int]
    random: int
