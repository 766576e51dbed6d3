"""PowerTCP as a fluid: windows that follow power, the load of the bottleneck times its delay.

Addanki et al. (NSDI 2022), with the names of the scheme. b is what the line sends in a second, and a what arrives.
T is the round trip that a source has for the empty network, R the round trip now. On the right stand queue and
arrivals of a round trip ago:

    q' = N r - C
    P' = (p - P) / T,                             p = a (q + b T) / (b b T)
    w' = v / R (Wold target / P + beta - w),      w = r R

Wold is the window under which the frames were sent that are acknowledged now. In a round trip a window goes the share
v of the way to its aim: every acknowledgement goes gamma of the rest. At rest P = 1 + q / (b T) on a full line. With T
right and a target of 1 the queue is then the sum of all beta, for any number of flows and any delay.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from penstock.theory.configuration import BITS_PER_OCTET, Configuration
from penstock.theory.models.base import ALIKE, QUEUE, RATE, Array, Flags, Value, Variable, common, namespace, stack
from penstock.theory.models.delays import EndToEnd

_LEAST_POWER = 1e-3
"""Keeps the aim of a window finite while nothing arrives."""


@dataclass(frozen=True)
class PowerTcp(EndToEnd):
    """PowerTCP by telemetry.

    Attributes:
        weight: v, the share of the way to its aim that a window goes in a round trip.
        beta_octets: step of a window, octets.
        target: power that is aimed at.
        trip_s: T, s.
    """

    weight: Value
    beta_octets: Value
    target: Value
    trip_s: Value

    scheme: ClassVar[str] = "powertcp"
    form: ClassVar[str] = "published"
    source: ClassVar[str] = "Addanki et al., NSDI 2022, algorithm 1 and section 3"
    per: ClassVar[str] = "per second: the effect of a round trip, spread over it"
    omits: ClassVar[tuple[str, ...]] = (
        "units of the telemetry, and that a window is whole frames",
        "that the wait of a frame in the queue changes: it is that at rest, and part of the delay",
        ALIKE,
    )
    variables: ClassVar[tuple[Variable, ...]] = (
        QUEUE,
        RATE,
        Variable("power", "smoothed power, in that of a full line with an empty queue"),
    )
    modes: ClassVar[tuple[str, ...]] = ("below rest", "above rest")
    lines: ClassVar[tuple[str, ...]] = ("queue less that at rest",)

    @classmethod
    def _of(cls, configuration: Configuration) -> Self:
        """Return the model of a configuration of the scheme."""
        return cls(**cls._parameters(configuration), waits=True)

    @classmethod
    def _parameters(cls, configuration: Configuration) -> dict[str, Any]:
        number, trip_s = configuration.number, cls._trip_s(configuration)
        most = configuration.line_rate_bps / BITS_PER_OCTET * trip_s
        least = number("segment") * BITS_PER_OCTET / trip_s
        return common(configuration, min(least, configuration.capacity_bps / configuration.flows / 2)) | {
            "segment_octets": configuration.frame_octets,
            "base_s": configuration.round_trip_s,
            "weight": cls._weight(configuration),
            "beta_octets": most / number("flows"),
            "target": number("target"),
            "trip_s": trip_s,
        }

    @classmethod
    def _trip_s(cls, configuration: Configuration) -> float:
        return configuration.number("base_rtt")

    @classmethod
    def _weight(cls, configuration: Configuration) -> float:
        """Return the share that the acknowledgements of a fair share's window go together, at least one of them."""
        window = configuration.fair_rate_bps / BITS_PER_OCTET * configuration.round_trip_s
        frames = max(window / configuration.frame_octets, 1.0)
        return float(1 - (1 - configuration.number("gamma")) ** frames)

    @property
    def line_octets_per_s(self) -> Value:
        """b, octets/s: what a source takes the line for."""
        return self.link_bps / BITS_PER_OCTET

    @property
    def delays_s(self) -> tuple[Value, ...]:
        """How long ago the queue was, in the mean, of which sources hear now, s."""
        return (self.delay_s + (self.set_point_octets() / self.drain_octets_per_s if self.waits else 0.0),)

    def power(self, then: Array) -> Array:
        """Return the power of a queue and its arrivals."""
        line = self.line_octets_per_s
        return cast(Array, self.arrivals_octets_per_s(then) * (then[0] / (line * self.trip_s) + 1) / line)

    def law(self, mode: int, state: Array, past: Sequence[Array]) -> Array:
        """Return the equations; power and the old window are those of ``past``."""
        xp = namespace(state)
        then, trip = past[0], self.round_trip_s(state[0])
        old, window = (at[1] * self.octets_per_bit * self.round_trip_s(at[0]) for at in (then, state))
        change = self.weight / trip * (old * self.target / state[2] + self.beta_octets - window)
        longer = self.growth_octets_per_s(state) / self.drain_octets_per_s
        rate = (change / self.octets_per_bit - state[1] * longer) / trip
        power = (self.power(then) - state[2]) / self.trip_s
        return cast(Array, xp.stack([self.excess_octets_per_s(state), rate, power]))

    def switches(self, state: Array, past: Sequence[Array]) -> Array:
        """Return the queue less that at rest, octets."""
        return cast(Array, (past[0][0] - self.set_point_octets())[None])

    def mode_of(self, positive: Flags) -> NDArray[np.int_]:
        """Return the side of the queue at rest; the law is the same on both."""
        return np.asarray(positive[0]).astype(int)

    def state_at_rest(self) -> Array:
        """Return the one equilibrium; a negative queue where the windows together do not fill the line."""
        queue = self._queue_at_rest()
        power = self.power(stack(queue, self.capacity_bps / self.flows))
        return stack(queue, self.capacity_bps / self.flows, power)

    def _queue_at_rest(self) -> Value:
        # (A + q) (q + K) = B (q + D): windows, less what the target leaves of them, are the steps.
        steps, flying = self._steps_octets(), self.base_s * self.drain_octets_per_s
        held = self.line_octets_per_s * self.trip_s
        short = held * (1 - self.target / (self.octets_per_bit * BITS_PER_OCTET))
        half = (flying + short - steps) / 2
        return cast(Value, np.sqrt(np.maximum(half**2 - flying * short + steps * held, 0.0)) - half)

    def _steps_octets(self) -> Value:
        """Return the sum of the flows' steps, as if others' traffic stepped too, octets."""
        return self.flows * self.beta_octets * self.link_bps / self.capacity_bps

    def comes_to_rest(self) -> Flags:
        """Return whether there is a queue at rest: else the line is not full."""
        return np.asarray(self._queue_at_rest()) > 0

    def start(self) -> Array:
        """Return an empty queue, sources at line rate, and a power of 1."""
        return stack(0.0, self.line_rate_bps, 1.0)

    def set_point_octets(self) -> Value:
        """Return the queue at rest, octets."""
        return cast(Value, np.maximum(self._queue_at_rest(), 0.0))

    def _limits(self) -> tuple[list[Value], list[Value]]:
        low, high = super()._limits()
        return [*low[:2], _LEAST_POWER], high

    def _scale_s(self) -> Value:
        return self.base_s + self.set_point_octets() / self.drain_octets_per_s


MODELS = (PowerTcp,)
