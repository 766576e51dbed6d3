"""Swift as a fluid: windows that grow while a round trip is below its target, and fall by its excess.

Kumar et al. (SIGCOMM 2020); OCP Falcon 0.9, section 10.3. With w the window in frames of P octets, R the round trip now
and d that of a round trip ago:

    q' = N w P / R - C
    t  = base + per_hop hops + min(max(a / sqrt(w) + b, 0), most),  a = most / (fs_min^-1/2 - fs_max^-1/2)
    w' = ai min(1, w) / R                           d <= t
    w' = -w min(beta (d - t) / d, largest) / R      d > t

An increase does not vanish as d nears t, and a decrease does. The one rest is on the line d = t, where
w = C t / (N P): there is no margin, and the queue swings about it. The fluid's swing is that of a round trip's delay.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from penstock.quantity_text import duration
from penstock.theory.configuration import Configuration, UnsuitedScenarioError
from penstock.theory.models.base import ALIKE, QUEUE, RATE, Array, Flags, Value, Variable, common, namespace, stack
from penstock.theory.models.delays import EndToEnd

_LEAST_WINDOW = 1e-6


@dataclass(frozen=True)
class Swift(EndToEnd):
    """Swift's window of the fabric.

    Attributes:
        fixed_s: the part of the target that no window changes, s.
        most_s: the largest addition for a small window, s.
        scaling_s: a, s.
        offset_s: b, s.
        increment: ai, frames a round trip.
        beta: factor of a decrease.
        largest: the largest share that a decrease takes.
    """

    fixed_s: Value
    most_s: Value
    scaling_s: Value
    offset_s: Value
    increment: Value
    beta: Value
    largest: Value

    scheme: ClassVar[str] = "swift"
    form: ClassVar[str] = "published"
    source: ClassVar[str] = "Kumar et al., SIGCOMM 2020, algorithm 1; OCP Falcon 0.9, section 10.3"
    per: ClassVar[str] = "per second: the effect of a round trip, spread over it"
    omits: ClassVar[tuple[str, ...]] = (
        "cuts once a round trip: they are spread over it",
        "windows that are whole frames, and the window of the network interface",
        "medians, and late acknowledgements in a row: each frame counts",
        "that the wait of a frame in the queue changes: it is that at the target, and part of the delay",
        ALIKE,
    )
    variables: ClassVar[tuple[Variable, ...]] = (QUEUE, RATE)
    modes: ClassVar[tuple[str, ...]] = ("in time", "late")
    lines: ClassVar[tuple[str, ...]] = ("delay less its target",)
    linear: ClassVar[bool] = False
    predicts_runs: ClassVar[bool] = False

    @classmethod
    def _of(cls, configuration: Configuration) -> Self:
        """Return the model of a configuration of Swift."""
        number = configuration.number
        if number("receive_rate") > 0 or number("delay_smoothing_alpha") > 0:
            raise UnsuitedScenarioError(
                "the model of swift has hosts that are never late, and delays that are not smoothed",
                "set receive_rate and delay_smoothing_alpha to 0",
            )
        small, large = (number(f"{side}_flow_scaling_window") ** -0.5 for side in ("min", "max"))
        most = number("max_flow_scaling")
        scaling = most / (small - large) if small > large else 0.0
        model = cls(
            **common(configuration, min(number("min_rate"), configuration.fair_rate_bps / 2)),
            segment_octets=number("packet"),
            base_s=configuration.round_trip_s,
            waits=True,
            fixed_s=number("base_delay_target") + number("topology_scaling_per_hop") * configuration.queues,
            most_s=most,
            scaling_s=scaling,
            offset_s=-scaling * large,
            increment=number("fabric_additive_increment"),
            beta=number("fabric_multiplicative_decrease_factor"),
            largest=number("max_fabric_multiplicative_decrease_factor"),
        )
        if float(model.state_at_rest()[0]) <= 0:
            raise UnsuitedScenarioError(
                f"the target of {duration(float(model._trip_at_rest_s()))} is within the round trip of the empty "
                "network: windows only fall, and the line is not full",
                f"set base_delay_target above {duration(configuration.round_trip_s)}",
            )
        return model

    def target_s(self, window: Array) -> Array:
        """Return t for a window in frames, s."""
        xp = namespace(window)
        more = self.scaling_s / xp.sqrt(xp.maximum(window, _LEAST_WINDOW)) + self.offset_s
        return cast(Array, self.fixed_s + xp.clip(more, 0.0, self.most_s))

    def window(self, state: Array) -> Array:
        """Return w, frames."""
        flying = state[1] * self.octets_per_bit * self.round_trip_s(state[0])
        return cast(Array, flying / self.segment_octets)

    @property
    def delays_s(self) -> tuple[Value, ...]:
        """How long ago the frame joined the queue whose delay a source sees now, s."""
        wait = self.set_point_octets() / self.drain_octets_per_s if self.waits else 0.0
        return (self.delay_s + wait,)

    def law(self, mode: int, state: Array, past: Sequence[Array]) -> Array:
        """Return growth or decrease; the delay is that of ``past``."""
        xp = namespace(state)
        trip, window = self.round_trip_s(state[0]), self.window(state)
        if mode == 0:
            change = self.increment * xp.minimum(window, 1.0)
        else:
            seen = self.round_trip_s(past[0][0])
            change = -window * xp.minimum(self.beta * (seen - self.target_s(window)) / seen, self.largest)
        longer = self.growth_octets_per_s(state) / self.drain_octets_per_s
        rate = (change * self.segment_octets / (self.octets_per_bit * trip) - state[1] * longer) / trip
        return cast(Array, xp.stack([self.excess_octets_per_s(state), rate]))

    def switches(self, state: Array, past: Sequence[Array]) -> Array:
        """Return the delay less its target, s."""
        return (self.round_trip_s(past[0][0]) - self.target_s(self.window(state)))[None]

    def mode_of(self, positive: Flags) -> NDArray[np.int_]:
        """Return whether frames are late."""
        return np.asarray(positive[0]).astype(int)

    def state_at_rest(self) -> Array:
        """Return the point of the line d = t at which the windows fill the bottleneck."""
        return stack(self._trip_at_rest_s() * self.drain_octets_per_s - self._flying(), self.capacity_bps / self.flows)

    def _flying(self) -> Value:
        return self.base_s * self.drain_octets_per_s

    def _trip_at_rest_s(self) -> Array:
        """Return t = d: the longer a round trip, the larger the windows, and the less their target."""
        each = self.capacity_bps / self.flows * self.octets_per_bit / self.segment_octets
        shape = np.broadcast_shapes(np.shape(each), *(np.shape(value) for value in vars(self).values()))
        low, high = (np.broadcast_to(value, shape) for value in (self.fixed_s, self.fixed_s + self.most_s))
        for _ in range(60):
            middle = (low + high) / 2
            short = self.target_s(np.asarray(each * middle)) > middle
            low, high = np.where(short, middle, low), np.where(short, high, middle)
        return np.asarray((low + high) / 2)

    def comes_to_rest(self) -> Flags:
        """Return False: the queue swings about the line."""
        return np.zeros(np.shape(self._trip_at_rest_s()), dtype=bool)

    def start(self) -> Array:
        """Return an empty queue and sources at line rate."""
        return stack(0.0, self.line_rate_bps)

    def set_point_octets(self) -> Value:
        """Return the queue at the target, octets."""
        return cast(Value, np.maximum(self.state_at_rest()[0], 0.0))

    def why_no_margin(self) -> str:
        """Return that growth does not vanish at the target, and where the target is."""
        trip, queue = float(self._trip_at_rest_s()) * 1e6, float(np.asarray(self.state_at_rest()[0]))
        return (
            f"windows grow by whole steps up to the target of {trip:.3g} us, a queue of {queue:.3g} octets, and swing "
            "about it: there is no margin"
        )

    def _scale_s(self) -> Value:
        return self.base_s + self.set_point_octets() / self.drain_octets_per_s


MODELS = (Swift,)
