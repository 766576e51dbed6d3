"""BCN as a fluid: equation (2) of Jiang et al. 2015, Fb in units of 64 octets, each side of its switching line Fb = 0.

A flow of rate r is sampled m = p r / frame times a second, and each message changes its rate: by Gi Ru Fb while Fb > 0,
by -Gd |Fb| r while Fb < 0. With x = q - q0, y = N r - C and k = w / (p C), near the equilibrium:

    x' = y;    y' = -a (x + k y);    a = Gi Ru p C (Fb > 0),  a = Gd p C (y + C) / N (Fb < 0)

The form of Ren and Jiang has Gi Ru N and Gd (y + C): every sample is answered at every source there, and time counts in
samples.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from penstock.theory.configuration import BITS_PER_OCTET, Configuration, UnsuitedScenarioError
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

_UNIT_OCTETS = 64
_INCREASE, _DECREASE, _MOST, _SEVERE = range(4)


@dataclass(frozen=True)
class Bcn(Stateless):
    """BCN, equation (2).

    Attributes:
        q_eq_octets: set point of the queue.
        q_max_octets: above this every message is the most negative; infinite without BCN-MAX.
        q_sc_octets: above this frames are sampled more often; infinite without over-sampling.
        w: weight of growth in Fb.
        share_sampled: share of frames that are sampled.
        share_severe: the same above ``q_sc_octets``.
        cut_per_octet: Gd for an octet of Fb, 1/octets.
        raise_per_octet: Gi Ru for an octet of Fb, bit/s.
        jitter: largest deviation of an interval between samples, as a share of its mean.
    """

    q_eq_octets: Value
    q_max_octets: Value
    q_sc_octets: Value
    w: Value
    share_sampled: Value
    share_severe: Value
    cut_per_octet: Value
    raise_per_octet: Value
    jitter: float = 0.0

    scheme: ClassVar[str] = "bcn"
    form: ClassVar[str] = "sampled"
    source: ClassVar[str] = "Jiang et al. 2015, equation (2); Ren and Jiang's coordinates"
    per: ClassVar[str] = "per second: the effect of a message, times the messages of a flow in a second"
    omits: ClassVar[tuple[str, ...]] = (
        ALIKE,
        "association: positive messages act from the start",
        GLIDES,
        "lengths in whole units of 64 octets",
    )
    variables: ClassVar[tuple[Variable, ...]] = (QUEUE, RATE)
    modes: ClassVar[tuple[str, ...]] = (
        "increase",
        "decrease",
        "largest decrease (BCN-MAX)",
        "largest decrease, over-sampled",
    )
    lines: ClassVar[tuple[str, ...]] = ("Fb", "queue above 2 Qeq", "queue above Qsc")

    @classmethod
    def _of(cls, configuration: Configuration) -> Self:
        """Return the model of a configuration of BCN."""
        number, word = configuration.number, configuration.parameters
        for name, what in (
            ("bcn_00", "that stops sources"),
            ("drift", "of rates without messages"),
            ("positive_below_q_eq", ""),
        ):
            if word[name]:
                raise UnsuitedScenarioError(
                    f"the model of BCN has no {name} {what}".rstrip(), f"set schemes.bcn.{name} to false"
                )
        frame, q_eq = configuration.frame_octets, number("q_eq")
        share = frame / number("sample_interval")
        return cls(
            **common(configuration, "rmin"),
            q_eq_octets=q_eq,
            q_max_octets=2 * q_eq if word["bcn_max"] else np.inf,
            q_sc_octets=number("q_sc") if word["over_sampling"] else np.inf,
            w=number("w"),
            share_sampled=share,
            share_severe=frame / number("sample_interval_severe") if word["over_sampling"] else share,
            cut_per_octet=1 / number("gd_inverse") / _UNIT_OCTETS,
            raise_per_octet=number("gi") * number("ru") / _UNIT_OCTETS,
            jitter=number("sample_jitter"),
        )

    def fb_octets(self, state: Array) -> Array:
        """Return Fb, octets, negative for congestion, within its largest size, (1 + 2 w) Qeq."""
        xp = namespace(state)
        growth = self.growth_octets_per_s(state) * self.frame_octets
        growth = growth / (self.share_sampled * self.arrivals_octets_per_s(state))
        most = (1 + 2 * self.w) * self.q_eq_octets
        return cast(Array, xp.clip(self.q_eq_octets - state[0] - self.w * growth, -most, most))

    def law(self, mode: int, state: Array, past: Sequence[Array]) -> Array:
        """Return the equations of a mode; feedback is that of ``past``."""
        xp = namespace(state)
        then = past[0]
        share = self.share_severe if mode == _SEVERE else self.share_sampled
        messages = share * then[1] / (BITS_PER_OCTET * self.wire_octets)
        if mode == _INCREASE:
            change = self.raise_per_octet * self.fb_octets(then)
        elif mode == _DECREASE:
            change = self.cut_per_octet * self.fb_octets(then) * state[1]
        else:
            change = -self.cut_per_octet * (1 + 2 * self.w) * self.q_eq_octets * state[1]
        return cast(Array, xp.stack([self.excess_octets_per_s(state), messages * change]))

    @property
    def even(self) -> bool:
        """Whether intervals have no jitter."""
        return self.jitter == 0

    def frames_between(self, offset_octets: float, growth_octets: float, random: np.random.Generator) -> float:
        """Return how many frames pass from a sample to the next."""
        severe = offset_octets + self.q_eq_octets > self.q_sc_octets
        spread = random.uniform(1 - self.jitter, 1 + self.jitter) if self.jitter > 0 else 1.0
        return float(spread / (self.share_severe if severe else self.share_sampled))

    def step_bps(self, rate_bps: float, offset_octets: float, growth_octets: float) -> float:
        """Return by how much a sampled flow changes its rate, bit/s: equation (2)."""
        most = float((1 + 2 * self.w) * self.q_eq_octets)
        fb = min(max(-offset_octets - float(self.w) * growth_octets, -most), most)
        if offset_octets + float(self.q_eq_octets) > self.q_max_octets:
            fb = -most
        return float(self.raise_per_octet * fb if fb > 0 else self.cut_per_octet * fb * rate_bps)

    def switches(self, state: Array, past: Sequence[Array]) -> Array:
        """Return Fb, and the queue less 2 Qeq and less Qsc, octets; -1 for thresholds that are not there."""
        xp = namespace(state)
        queue = past[0][0]
        beyond = [xp.where(np.isinf(limit), -1.0, queue - limit) for limit in (self.q_max_octets, self.q_sc_octets)]
        return cast(Array, xp.stack(xp.broadcast_arrays(self.fb_octets(past[0]), *beyond)))

    def mode_of(self, positive: Flags) -> NDArray[np.int_]:
        """Return the mode that thresholds and the sign of Fb stand for."""
        return np.where(positive[1], np.where(positive[2], _SEVERE, _MOST), np.where(positive[0], _INCREASE, _DECREASE))

    def state_at_rest(self) -> Array:
        """Return the set point with each flow at its share."""
        return stack(self.q_eq_octets, self.capacity_bps / self.flows)

    def start(self) -> Array:
        """Return an empty queue and line rate."""
        return stack(0.0, self.line_rate_bps)

    def set_point_octets(self) -> Value:
        """Return Qeq."""
        return self.q_eq_octets

    def _scale_s(self) -> Value:
        frames = self.capacity_bps / (BITS_PER_OCTET * self.wire_octets)
        up = self.raise_per_octet * self.octets_per_bit * self.share_sampled * frames
        down = self.cut_per_octet * self.frame_octets * self.share_sampled * frames**2 / self.flows
        return cast(Array, np.minimum(1 / np.sqrt(np.maximum(up, down)), 1 / (self.share_severe * frames)))


MODELS = (Bcn,)
