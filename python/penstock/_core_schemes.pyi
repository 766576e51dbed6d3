"""Declarations of the native module: parts of schemes, and what a scheme in Python sees. ``_core.pyi`` has the rest."""

from collections.abc import Callable, Sequence
from typing import final

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

    def __init__(self, line_rate_bps: int, parameters: str = "") -> None: ...
    def start_timer(self, now_ps: int, words: Sequence[int] = ()) -> None: ...
    def decrease(self, now_ps: int, feedback: int, words: Sequence[int] = ()) -> None: ...
    def count(self, octets: int, words: Sequence[int] = ()) -> None: ...
    def timeout(self, now_ps: int, words: Sequence[int] = ()) -> None: ...

@final
class GoldenSampler:
    """QCN's congestion measure and its sampling."""

    def __init__(self, parameters: str = "") -> None: ...
    def feedback(self, queue_octets: int, old_octets: int) -> int: ...
    def sample(self, octets: int, steps: int, words: Sequence[int] = ()) -> bool: ...
    def reload(self, steps: int, words: Sequence[int] = ()) -> None: ...

@final
class GoldenTokenBucket:
    """The token bucket of a rate limiter, full."""

    octets: int

    def __init__(self, depth_octets: int, interval_ps: int, granularity_bps: int, rate_bps: int) -> None: ...
    def set_rate(self, now_ps: int, rate_bps: int) -> None: ...
    def ready_ps(self, now_ps: int, octets: int) -> int | None: ...
    def take(self, now_ps: int, octets: int) -> None: ...

def golden_jitter(base: int, spread: int, word: int) -> int: ...

@final
class QcnSampling:
    """The answer of QCN's congestion point to a sample."""

    def __init__(self, parameters: dict[str, float | str | bool]) -> None:
        """Take a value for each parameter of ``qcn``, in the catalogue's units.

        Raises:
            KeyError: a parameter has none.
            ValueError: a word is none of its parameter's.
        """

    def feedback(self, queue_octets: int, old_octets: int) -> int:
        """Return |Fb| as it travels, in 256ths of a step; 0 where Fb >= 0."""

    def interval_octets(self, feedback: int, random: Callable[[], float]) -> int:
        """Return the octets until the next sample by the table; ``random`` draws from [0, 1)."""

@final
class QcnRate:
    """QCN's rate calculator without its timer, and without Extra Fast Recovery and Target Rate Reduction."""

    def __init__(
        self,
        parameters: dict[str, float | str | bool],
        line_rate_bps: int,
        rate_bps: int,
        target_bps: int,
        cycles: int,
    ) -> None:
        """Begin a cycle of the byte counter, given the number of cycles since a message.

        Raises:
            KeyError: a parameter has no value.
            ValueError: a word is none of its parameter's.
        """

    rate_bps: int
    """CR, bit/s."""
    target_bps: int
    """TR, bit/s."""
    cycle_octets: int
    """Octets of the cycle of the byte counter that has begun."""
    cycles: int
    """Cycles since the last message."""

    def decrease(self, feedback: int, random: Callable[[], float]) -> None:
        """Take a message of |Fb| in 256ths of a step; ``random`` draws from [0, 1)."""

    def end_cycle(self, random: Callable[[], float]) -> None:
        """End a cycle of the byte counter; ``random`` draws from [0, 1)."""

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
