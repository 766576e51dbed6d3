"""SMCC as a fluid: equations (25) to (27) of Jiang et al. 2015, with gains, bounds and delay of the simulated scheme.

Every sample changes the rate of one flow: by -alpha Qoff in state A, by -beta dQ in state B. A flow of rate r is
sampled r p / frame times a second, p being the share of frames that are sampled. So all N r changes by N times that.
With y = N r - C in octets/s, equations (26) and (27) follow with a1 = alpha p (arrivals), a2 = b1 = 0 and
b2 = beta dQ / y. (The printed coefficients a1 = alpha N and b2 = beta N / (p C) count in samples instead of seconds and
answer every sample at every source.) The gains here: alpha = Ra / ra_at, beta = Rb / rb_at, bit/s per octet.

States A and B are distinguished by the sign of a measured dQ, which is a whole number of frames. Where the growth of an
interval is less than a frame, some samples see no change, and count as state A (or B, or by their sign bit: the
parameter ``delta_zero``). With ``grain_octets`` of a frame the line dQ = 0 is as wide as that; with 0 it is a line, as
in the paper. Without the grain (and without delay) each point of the line is an equilibrium: there dx/dt = y = 0, and
nothing leads along it to the target.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from penstock.theory.configuration import BITS_PER_OCTET, Configuration
from penstock.theory.models.base import (
    ALIKE,
    GLIDES,
    QUEUE,
    RATE,
    Array,
    Flags,
    Stateless,
    Value,
    Variable,
    common,
    namespace,
    stack,
)

_A, _B, _A_FAST = range(3)

_APART = 3.0
"""Frames below the target from which an equilibrium is separate: the target's chatter reaches a nearer one."""


@dataclass(frozen=True)
class Smcc(Stateless):
    """SMCC, equations (25) to (27).

    Attributes:
        q0_octets: target of the queue, octets.
        share_sampled: p, the share of frames that are sampled.
        alpha: change of the rate per octet of offset in state A, bit/s.
        alpha_small: the same where the queue grows by ``t1_octets`` or less in an interval; ``alpha`` with one stage.
        t1_octets: the growth above which ``alpha`` holds, octets.
        beta: change of the rate per octet of growth in state B, bit/s.
        grain_octets: step in which growth is measured, octets; 0 for a line without width.
        zero_below: which part of the samples that see no growth is in state A while the queue is below its target.
        zero_above: the same above it.
        drawn: whether frames are sampled at random, which makes intervals of exponential length.
        interval_s: time between samples over which growth is measured, s; 0 for the slope of the queue instead.
    """

    q0_octets: Value
    share_sampled: Value
    alpha: Value
    alpha_small: Value
    t1_octets: Value
    beta: Value
    grain_octets: Value
    zero_below: Value
    zero_above: Value
    drawn: bool
    interval_s: Value = 0.0

    scheme: ClassVar[str] = "smcc"
    form: ClassVar[str] = "sampled"
    source: ClassVar[str] = "Jiang et al. 2015, equations (25) to (27)"
    per: ClassVar[str] = "per second: the effect of a sample, times the samples of a flow in a second"
    omits: ClassVar[tuple[str, ...]] = (
        ALIKE,
        "which congestion point a limiter is bound to: all raises count",
        GLIDES,
        "hold_change",
    )
    variables: ClassVar[tuple[Variable, ...]] = (QUEUE, RATE)
    modes: ClassVar[tuple[str, ...]] = ("A", "B", "A with the larger alpha")
    lines: ClassVar[tuple[str, ...]] = (
        "offset of the queue from its target",
        "growth of the queue",
        "growth beyond which the larger alpha holds",
    )

    linear: ClassVar[bool] = False

    @classmethod
    def _of(cls, configuration: Configuration) -> Self:
        """Return the model of a configuration of SMCC, with a grain of one frame."""
        number, parameters = configuration.number, configuration.parameters
        counted = parameters["sampling"] == "count"
        two_stage = bool(parameters["two_stage"])
        zero = {"state-a": (1.0, 1.0), "state-b": (0.0, 0.0), "sign-bit": (0.0, 1.0)}[str(parameters["delta_zero"])]
        return cls(
            **common(configuration, "min_rate"),
            q0_octets=number("q0"),
            share_sampled=1 / number("sample_count") if counted else number("sample_probability"),
            alpha=number("ra") / number("ra_at"),
            alpha_small=number("ra_small" if two_stage else "ra") / number("ra_at"),
            t1_octets=number("t1"),
            beta=number("rb") / number("rb_at"),
            grain_octets=configuration.frame_octets,
            zero_below=zero[0],
            zero_above=zero[1],
            drawn=not counted,
        ).with_interval()

    @property
    def delays_s(self) -> tuple[Value, ...]:
        """How long ago a sample was taken, and the sample before it, s."""
        return (self.delay_s, self.delay_s + self.interval_s)

    def with_interval(self) -> Self:
        """Return the model with growth measured over the mean interval between samples at equilibrium."""
        return self.with_changes(interval_s=BITS_PER_OCTET * self.wire_octets / (self.share_sampled * self.link_bps))

    def without_delay(self) -> Self:
        """Return the model without any delay: growth is the slope of the queue, and tells at once."""
        return self.with_changes(delay_s=0.0, interval_s=0.0)

    def law(self, mode: int, state: Array, past: Sequence[Array]) -> Array:
        """Return (26) in state A, (27) in state B; within the grain of the line, both in their shares."""
        xp = namespace(state)
        then = past[0]
        messages = self.share_sampled * then[1] / (BITS_PER_OCTET * self.wire_octets)
        offset, growth = then[0] - self.q0_octets, self._measured(past)
        alpha = self.alpha if mode == _A_FAST else self.alpha_small
        # Of the samples that see no growth, those in A act on the offset; the others see dQ = 0 and change nothing.
        still = self._still(growth)
        zero = xp.where(offset < 0, self.zero_below, self.zero_above)
        if mode == _B:
            change = self.beta * growth + still * zero * alpha * offset
        else:
            change = alpha * offset * (1 - still + still * zero)
        return cast(Array, xp.stack([self.excess_octets_per_s(state), -messages * change]))

    @property
    def even(self) -> bool:
        """Whether frames are counted, and not drawn."""
        return not self.drawn

    def frames_between(self, offset_octets: float, growth_octets: float, random: np.random.Generator) -> float:
        """Return how many frames pass from a sample to the next: 1 / p, as the mean of an exponential if drawn."""
        mean = 1 / float(self.share_sampled)
        return float(random.exponential(mean)) if self.drawn else mean

    def step_bps(self, rate_bps: float, offset_octets: float, growth_octets: float) -> float:
        """Return by how much a sampled flow changes its rate, bit/s: equation (25)."""
        if growth_octets == 0:
            in_a = float(self.zero_below if offset_octets < 0 else self.zero_above)
        else:
            in_a = float((offset_octets < 0) == (growth_octets < 0))
        alpha = self.alpha if abs(growth_octets) > self.t1_octets else self.alpha_small
        return -float(in_a * alpha * offset_octets + (1 - in_a) * self.beta * growth_octets)

    def growth_octets(self, state: Array) -> Array:
        """Return dQ, the mean growth of the queue in an interval between samples: equation (13), octets.

        Samples are counted in arriving frames, so that an interval lasts 1 / (p arrivals), where (13) has 1 / (p C).
        """
        return self.growth_octets_per_s(state) / self._samples_per_s(state)

    def switches(self, state: Array, past: Sequence[Array]) -> Array:
        """Return offset, growth, and how far the growth's size is above t1, octets.

        Without an interval it is the growth of a queue without limits: at a limit, none is measured for a while.
        """
        xp = namespace(state)
        free = self.excess_octets_per_s(past[0]) / self._samples_per_s(past[0])
        growth = xp.where(np.asarray(self.interval_s) > 0, self._measured(past), free)
        offset = past[0][0] - self.q0_octets
        return cast(Array, xp.stack(xp.broadcast_arrays(offset, growth, abs(growth) - self.t1_octets)))

    def mode_of(self, positive: Flags) -> NDArray[np.int_]:
        """Return state A where the signs of offset and growth agree."""
        return np.where(positive[0] != positive[1], _B, np.where(positive[2], _A_FAST, _A))

    def state_at_rest(self) -> Array:
        """Return the target with each flow at its share; without grain, all of y = 0 is equilibria."""
        return stack(self.q0_octets, self.capacity_bps / self.flows)

    def comes_to_rest(self) -> Flags:
        """Return whether it settles at its target; that depends on dQ = 0: :mod:`penstock.theory.equilibrium`."""
        return np.asarray((self.zero_below == 1.0) | ((self.zero_above == 1.0) & (self.balance_frames() < _APART)))

    def balance_frames(self) -> Value:
        """Return beta/alpha: how far below the target the states balance if messages of state A say one frame."""
        # Near an equilibrium the growth is small: with two stages the smaller alpha.
        return self.beta / self.alpha_small

    def start(self) -> Array:
        """Return an empty queue and line rate."""
        return stack(0.0, self.line_rate_bps)

    def set_point_octets(self) -> Value:
        """Return q0."""
        return self.q0_octets

    def a1_per_s2(self) -> Value:
        """Return a1 of equation (26) at equilibrium, 1/s²: alpha p times what arrives, in octets."""
        frames_per_s = self.capacity_bps / (BITS_PER_OCTET * self.wire_octets)
        return self.alpha * self.octets_per_bit * self.share_sampled * frames_per_s

    def b2_per_s(self) -> Value:
        """Return b2 of equation (27) at equilibrium, 1/s."""
        return self.beta * self.octets_per_bit * self.capacity_bps / self.link_bps

    def _measured(self, past: Sequence[Array]) -> Array:
        """Return dQ as samples have it, octets: over the interval, in proportion to how fast samples come just then."""
        xp = namespace(past[0])
        interval = np.asarray(self.interval_s)
        scale = 1 / xp.where(interval > 0, interval * self._samples_per_s(past[0]), 1.0)
        return cast(Array, xp.where(interval > 0, (past[0][0] - past[1][0]) * scale, self.growth_octets(past[0])))

    def _samples_per_s(self, state: Array) -> Array:
        return self.share_sampled * self.arrivals_octets_per_s(state) / self.frame_octets

    def _still(self, growth: Array) -> Array:
        """Return the share of samples that see no growth where its mean is ``growth``: the phase of a frame is any.

        Counted samples see none with 1 - |dQ| / grain; over intervals of exponential length that is the mean of it.
        """
        xp = namespace(growth)
        grain = self.grain_octets
        part = abs(growth) / xp.where(np.asarray(grain) > 0, grain, 1.0)
        if self.drawn:
            safe = xp.where(part > 0, part, 1.0)
            share = xp.where(part > 0, 1 - part * (1 - xp.exp(-1 / safe)), 1.0)
        else:
            share = xp.where(part < 1, 1 - part, 0.0)
        return cast(Array, xp.where(np.asarray(grain) > 0, share, 0.0))

    def _scale_s(self) -> Value:
        a1 = self.a1_per_s2()
        # Across the grain of the line the rate turns within this time, where the offset is largest.
        layer = self.grain_octets * self.share_sampled * self.link_bps / (BITS_PER_OCTET * self.wire_octets)
        layer = np.where(np.asarray(self.grain_octets) > 0, layer / (a1 * self.q0_octets), np.inf)
        fast = np.where(np.asarray(self.interval_s) > 0, self.interval_s, layer)
        return cast(Array, np.minimum(np.minimum(fast, 1 / np.sqrt(a1)), 1 / np.asarray(self.b2_per_s())))


MODELS = (Smcc,)
