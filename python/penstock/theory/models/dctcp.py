"""DCTCP as a fluid: windows, the share of marked octets, and a threshold that marks all or nothing.

Alizadeh et al. (SIGMETRICS 2011). With W a window in segments, R = base + q / C the round-trip time now, p whether the
queue was above K the delay R* = base + K / C ago:

    q'     = N W / R - C
    W'     = 1 / R - W alpha / (2 R) p
    alpha' = g / R (p - alpha)

Here the rate r = W / R stands for the window, so that r' = (W' - r R') / R. The threshold has no equilibrium but a
cycle about K. Its size in closed form is from the paper before it (SIGCOMM 2010, section 3.3), for windows that are in
phase; with W* = (C base + K) / N segments

    alpha = sqrt(2 / W*)             share of the window that is marked
    D     = sqrt(W* / 2)             round trips from cut to cut: the size of one cut, segments
    A     = N D                      swing of the queue, below its longest, K + N segments
    K     > C base / 7               or the queue runs empty
    g     < 1.386 / sqrt(2 N W*)     or alpha does not last for a cycle of one flow
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from penstock.theory.configuration import Configuration, UnsuitedScenarioError
from penstock.theory.models.base import ALIKE, QUEUE, RATE, Array, Flags, Value, Variable, common, namespace, stack
from penstock.theory.models.delays import EndToEnd

_RIPPLE = 1.386
"""2 ln 2: alpha may halve in a cycle. (Alizadeh et al. 2010, section 3.4)"""

_LEAST_SEGMENTS = 2
"""A window is never shorter. (RFC 5681, section 3.1)"""


@dataclass(frozen=True)
class Sawtooth:
    """The cycle of the queue that the closed forms have: arrays, or numbers.

    Attributes:
        alpha: share of marked octets.
        longest_octets: K and a segment of each flow, octets.
        swing_octets: from there to the shortest queue, octets, if it does not run empty before.
        period_s: from cut to cut, s.
        least_k_octets: threshold from which on the queue does not run empty, octets.
        largest_g: weight up to which alpha lasts for a cycle, so that its ripple is small.
    """

    alpha: Value
    longest_octets: Value
    swing_octets: Value
    period_s: Value
    least_k_octets: Value
    largest_g: Value

    @property
    def shortest_octets(self) -> Value:
        """The shortest queue, octets: 0 where it runs empty."""
        return cast(Value, np.maximum(np.asarray(self.longest_octets) - self.swing_octets, 0.0))


@dataclass(frozen=True)
class Dctcp(EndToEnd):
    """DCTCP with one threshold.

    Attributes:
        k_octets: K.
        g: weight of the newest window in alpha.
    """

    k_octets: Value
    g: Value

    scheme: ClassVar[str] = "dctcp"
    form: ClassVar[str] = "published"
    source: ClassVar[str] = "Alizadeh et al., SIGMETRICS 2011"
    per: ClassVar[str] = "per second: the effect of a round trip, spread over it"
    omits: ClassVar[tuple[str, ...]] = (
        "slow start and losses",
        "cuts once a window: they are spread over a round trip",
        "that the wait of a marked frame in the queue changes: it is that at K, and part of the delay",
        ALIKE,
    )
    variables: ClassVar[tuple[Variable, ...]] = (
        QUEUE,
        RATE,
        Variable("alpha", "estimate of the share of marked octets"),
    )
    modes: ClassVar[tuple[str, ...]] = ("no marks", "all marked")
    lines: ClassVar[tuple[str, ...]] = ("queue less K",)
    linear: ClassVar[bool] = False
    predicts_runs: ClassVar[bool] = False

    @classmethod
    def _of(cls, configuration: Configuration) -> Self:
        """Return the model of a configuration of DCTCP."""
        number, marking = configuration.number, configuration.parameters["marking"]
        if marking != "threshold":
            raise UnsuitedScenarioError(
                f"the model of DCTCP has one threshold, and marking is {marking}", "set marking to threshold"
            )
        least = _LEAST_SEGMENTS * number("segment") * 8 / configuration.round_trip_s
        return cls(
            # A window of two segments gives this rate at an empty queue, and a lower one at a longer one.
            **common(configuration, min(least, configuration.capacity_bps / configuration.flows / 2)),
            k_octets=number("k"),
            g=1 / number("g_inverse"),
            segment_octets=number("segment"),
            base_s=configuration.round_trip_s,
            waits=True,
        )

    @property
    def delays_s(self) -> tuple[Value, ...]:
        """R*: how long ago a frame was marked, s."""
        return (self.delay_s + (self.k_octets / self.drain_octets_per_s if self.waits else 0.0),)

    def law(self, mode: int, state: Array, past: Sequence[Array]) -> Array:
        """Return the equations with or without marks."""
        xp = namespace(state)
        rate, alpha = state[1], state[2]
        trip = self.round_trip_s(state[0])
        step = self.segment_octets / (self.octets_per_bit * trip)
        window = (step - (rate * alpha / 2 if mode else 0.0)) / trip
        longer = self.growth_octets_per_s(state) / self.drain_octets_per_s
        return cast(
            Array,
            xp.stack(
                [
                    self.excess_octets_per_s(state),
                    window - rate * longer / trip,
                    self.g / trip * (float(mode) - alpha),
                ]
            ),
        )

    def switches(self, state: Array, past: Sequence[Array]) -> Array:
        """Return the queue less K, octets."""
        return cast(Array, (past[0][0] - self.k_octets)[None])

    def mode_of(self, positive: Flags) -> NDArray[np.int_]:
        """Return whether frames are marked."""
        return np.asarray(positive[0]).astype(int)

    def state_at_rest(self) -> Array:
        """Return where growth and cuts balance on the threshold, if all were marked for a share alpha of the time."""
        return stack(self.k_octets, self.capacity_bps / self.flows, np.minimum(np.asarray(self.sawtooth().alpha), 1.0))

    def start(self) -> Array:
        """Return an empty queue and line rate; alpha is 1."""
        return stack(0.0, self.line_rate_bps, 1.0)

    def set_point_octets(self) -> Value:
        """Return K."""
        return self.k_octets

    def sawtooth(self) -> Sawtooth:
        """Return the queue's cycle in closed form: Alizadeh et al. 2010, section 3.3."""
        in_flight = self.base_s * self.capacity_bps * self.octets_per_bit
        window = (in_flight + self.k_octets) / (self.flows * self.segment_octets)
        trips = np.sqrt(np.asarray(window) / 2)
        return Sawtooth(
            alpha=np.sqrt(2 / np.asarray(window)),
            longest_octets=self.k_octets + self.flows * self.segment_octets,
            swing_octets=self.flows * self.segment_octets * trips,
            period_s=trips * self._scale_s(),
            least_k_octets=in_flight / 7,
            largest_g=_RIPPLE / np.sqrt(2 * (in_flight + self.k_octets) / self.segment_octets),
        )

    def why_no_margin(self) -> str:
        """Return that one threshold has no equilibrium, and its cycle in closed form."""
        cycle = self.sawtooth()
        low, high, period_us = float(cycle.shortest_octets), float(cycle.longest_octets), float(cycle.period_s) * 1e6
        return (
            f"marks of one threshold have no equilibrium with a margin: the queue swings from {low:.3g} to {high:.3g} "
            f"octets every {period_us:.3g} us (Alizadeh et al. 2010, section 3.3)"
        )

    def _limits(self) -> tuple[list[Value], list[Value]]:
        low, high = super()._limits()
        return [*low[:2], 0.0], [*high[:2], 1.0]

    def _scale_s(self) -> Value:
        # The round trip through a queue of K.
        return self.base_s + self.k_octets / self.drain_octets_per_s


MODELS = (Dctcp,)
