"""HPCC as a fluid: windows that steer what is in flight to the share eta of what fits.

Li et al. (SIGCOMM 2019), algorithm 1. B is what the line sends in a second, a what arrives, T ``base_rtt``, W the
window, Wc that of the round trip before, R the round trip now. Queue and arrivals on the right are those of a round
trip ago:

    q'  = N W / max(R, T) - C
    u   = 1 + q / (B T)        with a queue,      a / B  without one
    U'  = (u - U) / T
    W   = Wc eta / U + W_AI,   Wc' = (W - Wc) / R

At rest W (1 - eta / U) = W_AI. With R = T that is U = eta + N W_AI / (B T): no queue as long as
N W_AI <= B T (1 - eta), which is the rule of the paper's section 3.3 for W_AI.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from penstock.theory.configuration import Configuration
from penstock.theory.models.base import ALIKE, QUEUE, RATE, Array, Flags, Value, Variable, common, namespace, stack
from penstock.theory.models.delays import EndToEnd


@dataclass(frozen=True)
class Hpcc(EndToEnd):
    """HPCC near its equilibrium, where each round trip has a factor.

    Attributes:
        eta: share of the line that is aimed at.
        step_octets: W_AI.
        trip_s: T, s.
        spare_octets: octets in flight beyond the window in the mean, where it is what holds a source.
    """

    eta: Value
    step_octets: Value
    trip_s: Value
    spare_octets: Value

    scheme: ClassVar[str] = "hpcc"
    form: ClassVar[str] = "published"
    source: ClassVar[str] = "Li et al., SIGCOMM 2019, algorithm 1"
    per: ClassVar[str] = "per second: the effect of a round trip, spread over it"
    omits: ClassVar[tuple[str, ...]] = (
        "rounds with a step alone: at rest U is above eta",
        "that Wc changes once a round trip: it glides",
        "units of the telemetry",
        "that the wait of a frame in the queue changes: it is that at rest, and part of the delay",
        ALIKE,
    )
    variables: ClassVar[tuple[Variable, ...]] = (QUEUE, RATE, Variable("load", "U, smoothed load of the line"))
    modes: ClassVar[tuple[str, ...]] = ("no queue", "queue")
    lines: ClassVar[tuple[str, ...]] = ("queue less the least", "arrivals less the line")
    predicts_runs: ClassVar[bool] = False

    @classmethod
    def _of(cls, configuration: Configuration) -> Self:
        """Return the model of a configuration of HPCC."""
        number = configuration.number
        return cls(
            **common(configuration, "min_rate"),
            segment_octets=configuration.frame_octets,
            base_s=configuration.round_trip_s,
            waits=True,
            eta=number("eta"),
            step_octets=number("w_ai"),
            trip_s=number("base_rtt"),
            # The gate lets a frame go as long as less than the window is in flight; or one that fits as a whole.
            spare_octets=configuration.frame_octets * (0.5 if configuration.parameters["gate"] == "open" else -0.5),
        )

    @property
    def delays_s(self) -> tuple[Value, ...]:
        """How long ago the queue was of which sources hear now, s."""
        wait = self.set_point_octets() / self.drain_octets_per_s if self.waits else 0.0
        return (self.delay_s + wait,)

    def law(self, mode: int, state: Array, past: Sequence[Array]) -> Array:
        """Return the equations with or without a queue; load and arrivals are those of ``past``."""
        xp, then = namespace(state), past[0]
        rate, load = state[1] * self.octets_per_bit, state[2]
        trip = self.round_trip_s(state[0])
        paced = trip.real < self.trip_s
        span = xp.where(paced, self.trip_s, trip)
        window = rate * span - xp.where(paced, 0.0, self.spare_octets)
        reference = (window - self.step_octets) * load / self.eta
        if mode == 0:
            seen = self.arrivals_octets_per_s(then) / self.drain_octets_per_s
            # What little there is leaves.
            growth = -state[0] / self.trip_s
        else:
            seen = 1 + then[0] / (self.drain_octets_per_s * self.trip_s)
            growth = self.excess_octets_per_s(state)
        follows = (seen - load) / self.trip_s
        change = self.eta / load * ((window - reference) / trip - reference / load * follows)
        longer = xp.where(paced, 0.0, growth / self.drain_octets_per_s)
        return cast(Array, xp.stack([growth, (change - rate * longer) / span / self.octets_per_bit, follows]))

    def switches(self, state: Array, past: Sequence[Array]) -> Array:
        """Return the queue less the least that counts, octets, and the arrivals less the line, octets/s."""
        xp = namespace(state)
        excess = self.excess_octets_per_s(state)
        return cast(Array, xp.stack(xp.broadcast_arrays(state[0] - self._least_octets(), excess)))

    def _least_octets(self) -> Array:
        """Return the queue from which on there is one: a frame, or half of a shorter rest."""
        rest = np.asarray(self.set_point_octets())
        return np.where(rest > 0, np.minimum(self.frame_octets, rest / 2), self.frame_octets)

    def mode_of(self, positive: Flags) -> NDArray[np.int_]:
        """Return whether there is a queue, or one begins."""
        return np.asarray(positive[0] | positive[1]).astype(int)

    def state_at_rest(self) -> Array:
        """Return the one equilibrium; without a queue the rates stay below the line's."""
        load = self._load_at_rest()
        held = self.drain_octets_per_s * self.trip_s
        rate = np.minimum(load, 1.0) * self.link_bps - self.background_bps
        return stack(np.maximum(load - 1, 0.0) * held, rate / self.flows, load)

    def _load_at_rest(self) -> Array:
        """Return U: N windows of U W_AI / (U - eta) are what the line and the queue hold."""
        steps = self.flows * self.step_octets
        shape = np.broadcast_shapes(*(np.shape(value) for value in vars(self).values()))
        low, high = np.broadcast_to(self.eta, shape), np.full(shape, 1e4)
        for _ in range(80):
            load = np.sqrt(low * high)
            trip = self.base_s + np.maximum(load - 1, 0.0) * self.trip_s
            others = self.background_bps / self.link_bps
            rate = (np.minimum(load, 1.0) - others) * self.drain_octets_per_s
            held = rate * np.maximum(trip, self.trip_s)
            spare = self.flows * np.where(trip > self.trip_s, self.spare_octets, 0.0)
            short = load * steps > (load - self.eta) * (held - spare)
            low, high = np.where(short, load, low), np.where(short, high, load)
        return cast(Array, np.sqrt(low * high))

    def start(self) -> Array:
        """Return an empty queue, sources at line rate, and a load of 1."""
        return stack(0.0, self.line_rate_bps, 1.0)

    def set_point_octets(self) -> Value:
        """Return the queue at rest, octets."""
        return cast(Value, self.state_at_rest()[0])

    def _limits(self) -> tuple[list[Value], list[Value]]:
        low, high = super()._limits()
        return [*low[:2], 1e-3], high

    def _scale_s(self) -> Value:
        return self.base_s + self.set_point_octets() / self.drain_octets_per_s


MODELS = (Hpcc,)
