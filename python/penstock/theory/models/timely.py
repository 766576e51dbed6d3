"""TIMELY as a fluid: rates that follow the growth of the round-trip time, and its patch, which has a reference.

Zhu et al. (CoNEXT 2016), with the names of the scheme. Of each segment one acknowledgement comes back, so that a source
changes its rate every tau = segment / r. With T the round-trip time and g its smoothed growth over d_min:

    q' = N r - C
    g' = alpha / tau (tau T' / d_min - g)
    r' = delta / tau                                                  T < t_low, or in between g <= 0
    r' = -beta g r / tau                                              in between, g > 0
    r' = -beta (1 - t_high / T) r / tau                               T > t_high

The last three hold at any division of the link, and none of them is zero where g is: there is no equilibrium. The
patched law is, in between,

    r' = (delta (1 - w) - beta w r (T - t_ref) / t_ref) / tau,        w = 2 g + 1/2 within [0, 1]

with its equilibrium at g = 0, T = t_ref (1 + N delta / (beta C)), and nowhere else. T is that of a segment a wait in
the queue and the return path ago; its growth is measured over one segment, and a rate holds for one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from penstock.theory.configuration import Configuration, UnsuitedScenarioError
from penstock.theory.models.base import ALIKE, QUEUE, RATE, Array, Flags, Value, Variable, common, namespace, stack
from penstock.theory.models.delays import EndToEnd

_BELOW, _ABOVE, _GROWS, _SHRINKS = range(4)


@dataclass(frozen=True)
class Timely(EndToEnd):
    """TIMELY by the gradient: it has no equilibrium.

    Attributes:
        alpha: weight of the newest difference in the gradient.
        beta: factor of a decrease.
        most_cut: largest share of a rate that one acknowledgement takes.
        delta_bps: step of an increase, bit/s.
        t_low_s: round-trip time below which rates rise, s.
        t_high_s: round-trip time above which they fall, s.
        d_min_s: the time by which differences are divided, s.
    """

    alpha: Value
    beta: Value
    most_cut: Value
    delta_bps: Value
    t_low_s: Value
    t_high_s: Value
    d_min_s: Value

    scheme: ClassVar[str] = "timely"
    form: ClassVar[str] = "gradient"
    source: ClassVar[str] = "Zhu et al., CoNEXT 2016, after Mittal et al. 2015"
    per: ClassVar[str] = "per second: the effect of an acknowledgement, spread over the time to the next"
    omits: ClassVar[tuple[str, ...]] = (
        "the fivefold step after several acknowledgements without growth",
        "segments: the part of one that waits at its source, and bursts of it",
        "that the wait of a frame in the queue changes: it is that at the set point, and part of the delay",
        ALIKE,
    )
    variables: ClassVar[tuple[Variable, ...]] = (
        QUEUE,
        RATE,
        Variable("gradient", "smoothed growth of the round-trip time over d_min"),
    )
    modes: ClassVar[tuple[str, ...]] = ("below t_low", "above t_high", "growing", "shrinking")
    lines: ClassVar[tuple[str, ...]] = ("round trip less t_low", "round trip less t_high", "gradient")
    predicts_runs: ClassVar[bool] = False

    @classmethod
    def _of(cls, configuration: Configuration) -> Self:
        """Return the model of a configuration of TIMELY, by the law that it has."""
        patched = configuration.parameters["law"] == "patched"
        if patched and cls is Timely:
            return cast(Self, Patched.of(configuration))
        if patched != issubclass(cls, Patched):
            raise UnsuitedScenarioError(f"the law is {configuration.parameters['law']}", "set schemes.timely.law")
        return cls(**cls._parameters(configuration), waits=True)

    @classmethod
    def _parameters(cls, configuration: Configuration) -> dict[str, Value]:
        number = configuration.number
        frames = np.ceil(number("segment") / configuration.frame_octets)
        return common(configuration, "min_rate") | {
            "segment_octets": float(frames * configuration.frame_octets),
            "alpha": number("alpha"),
            "beta": number("beta"),
            "most_cut": number("most_cut"),
            "delta_bps": number("delta"),
            "t_low_s": number("t_low"),
            "t_high_s": number("t_high"),
            "d_min_s": number("d_min"),
            "base_s": configuration.round_trip_s,
        }

    @property
    def delays_s(self) -> tuple[Value, ...]:
        """How long ago the queue was, in the mean, to which rates answer, s: an acknowledgement's time counts."""
        if not self.waits:
            return (self.delay_s,)
        between = self.segment_octets / (self.capacity_bps / self.flows * self.octets_per_bit)
        wait = self.set_point_octets() / self.drain_octets_per_s
        return (self.delay_s + wait + between,)

    def law(self, mode: int, state: Array, past: Sequence[Array]) -> Array:
        """Return the equations of a mode; round trips and acknowledgements are those of ``past``."""
        xp = namespace(state)
        then = past[0]
        acks = then[1] * self.octets_per_bit / self.segment_octets
        growth = self.growth_octets_per_s(then) / self.drain_octets_per_s
        gradient = self.alpha * (growth / self.d_min_s - acks * state[2])
        change = self._change_bps(mode, state, self.round_trip_s(then[0]))
        return cast(Array, xp.stack([self.excess_octets_per_s(state), acks * change + 0 * state[1], gradient]))

    def _change_bps(self, mode: int, state: Array, round_trip_s: Array) -> Array:
        """Return by how much an acknowledgement changes a rate, bit/s."""
        if mode in (_BELOW, _SHRINKS):
            return cast(Array, self.delta_bps + 0 * state[1])
        if mode == _ABOVE:
            return cast(Array, -self._cut(self.beta * (1 - self.t_high_s / round_trip_s)) * state[1])
        return cast(Array, -self._cut(self.beta * state[2]) * state[1])

    def _cut(self, share: Array) -> Array:
        xp = namespace(share)
        return cast(Array, xp.where(share.real < self.most_cut, share, self.most_cut))

    def switches(self, state: Array, past: Sequence[Array]) -> Array:
        """Return the round trip less t_low and less t_high, s, and the gradient."""
        xp = namespace(state)
        round_trip = self.round_trip_s(past[0][0])
        rows = round_trip - self.t_low_s, round_trip - self.t_high_s, state[2]
        return cast(Array, xp.stack(xp.broadcast_arrays(*rows)))

    def mode_of(self, positive: Flags) -> NDArray[np.int_]:
        """Return the law that holds on these sides of the thresholds."""
        between = np.where(positive[2], _GROWS, _SHRINKS)
        return np.where(positive[1], _ABOVE, np.where(positive[0], between, _BELOW))

    def state_at_rest(self) -> Array:
        """Return the state at t_low that does not grow. It is no equilibrium: rates rise without growth."""
        return stack(self.set_point_octets(), self.capacity_bps / self.flows, 0.0)

    def comes_to_rest(self) -> Flags:
        """Return that it does not."""
        return np.zeros(np.shape(self.state_at_rest()[0]), dtype=bool)

    def start(self) -> Array:
        """Return an empty queue, sources at line rate and no growth."""
        return stack(0.0, self.line_rate_bps, 0.0)

    def set_point_octets(self) -> Value:
        """Return the queue at t_low, from which the gradient decides, octets; 0 where the path alone takes longer."""
        return cast(Value, np.maximum(self.t_low_s - self.base_s, 0.0) * self.drain_octets_per_s)

    def _scale_s(self) -> Value:
        # The gradient settles within a few acknowledgements.
        acks = self.capacity_bps / self.flows * self.octets_per_bit / self.segment_octets
        return 1 / acks


@dataclass(frozen=True)
class Patched(Timely):
    """Patched TIMELY: the round-trip time has a reference, weighed by the gradient, and with it one equilibrium.

    Attributes:
        t_ref_s: the reference, s.
    """

    t_ref_s: Value

    form: ClassVar[str] = "patched"
    source: ClassVar[str] = "Zhu et al., CoNEXT 2016, patched TIMELY"
    modes: ClassVar[tuple[str, ...]] = ("below t_low", "above t_high", "between")
    lines: ClassVar[tuple[str, ...]] = ("round trip less t_low", "round trip less t_high")

    @classmethod
    def _parameters(cls, configuration: Configuration) -> dict[str, Value]:
        return super()._parameters(configuration) | {"t_ref_s": configuration.number("t_ref")}

    def _change_bps(self, mode: int, state: Array, round_trip_s: Array) -> Array:
        if mode != _GROWS:
            return super()._change_bps(mode, state, round_trip_s)
        xp = namespace(state)
        weight = xp.clip(2 * state[2] + 0.5, 0.0, 1.0)
        error = (round_trip_s - self.t_ref_s) / self.t_ref_s
        return cast(Array, self.delta_bps * (1 - weight) - self._cut(self.beta * weight * error) * state[1])

    def switches(self, state: Array, past: Sequence[Array]) -> Array:
        """Return the round trip less t_low and less t_high, s."""
        return super().switches(state, past)[:2]

    def mode_of(self, positive: Flags) -> NDArray[np.int_]:
        """Return the law that holds on these sides of the thresholds."""
        return np.where(positive[1], _ABOVE, np.where(positive[0], _GROWS, _BELOW))

    def round_trip_at_rest_s(self) -> Value:
        """Return t_ref (1 + N delta / (beta C)), s: half of delta is what half of the error takes."""
        return self.t_ref_s * (1 + self.flows * self.delta_bps / (self.beta * self.capacity_bps))

    def state_at_rest(self) -> Array:
        """Return the one equilibrium: a queue that keeps round trips at :meth:`round_trip_at_rest_s`, and no growth."""
        queue = (self.round_trip_at_rest_s() - self.base_s) * self.drain_octets_per_s
        return stack(queue, self.capacity_bps / self.flows, 0.0)

    def comes_to_rest(self) -> Flags:
        """Return whether the equilibrium is between the thresholds, where its law holds."""
        round_trip = np.asarray(self.round_trip_at_rest_s())
        return np.asarray((round_trip > self.t_low_s) & (round_trip < self.t_high_s))

    def set_point_octets(self) -> Value:
        """Return the queue at equilibrium, octets."""
        return cast(Value, np.maximum(self.state_at_rest()[0], 0.0))


MODELS = (Timely, Patched)
