"""RoCC as a fluid: the controller of a switch, one step every interval T, spread evenly over it.

With F the fair rate, l the level of its gains at equilibrium, u the rate of a unit of length (10 Mb/s for 600 octets):

    q' = N r - C
    r' = -2 u / l (alpha (q - Qref) / T + beta q')

Queue and growth are those of the delay ago: the path to the source and back, half an interval in which a rate holds,
and half an interval of measured growth. With N flows at the line the level grows as N does, so that N / l
and with it the whole loop stays the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from penstock.theory.configuration import Configuration
from penstock.theory.models.base import (
    PHASE,
    QUEUE,
    RATE,
    Array,
    Flags,
    Value,
    Variable,
    common,
    namespace,
    stack,
)
from penstock.theory.models.delays import AtIntervals

# The units in which the scheme computes (`crates/schemes/src/rocc/mod.rs`).
_BPS_PER_OCTET = 10e6 / 600
_HIGHEST_LEVEL = 64


@dataclass(frozen=True)
class Rocc(AtIntervals):
    """RoCC: a PI controller whose gains follow the rate.

    Attributes:
        q_ref_octets: Qref.
        alpha: gain of the queue's offset, in units of the scheme.
        beta: gain of its growth, likewise.
    """

    q_ref_octets: Value
    alpha: Value
    beta: Value

    scheme: ClassVar[str] = "rocc"
    form: ClassVar[str] = "interval"
    source: ClassVar[str] = "Taheri et al. 2020; the scheme's own controller"
    per: ClassVar[str] = "per second: the effect of an interval, spread over it"
    omits: ClassVar[tuple[str, ...]] = (
        PHASE,
        "halving and the least rate where the queue is long or grows at once",
        "changes of the gains' level: it is that at equilibrium",
        "sources that hear nothing for a while and double their rates",
    )
    variables: ClassVar[tuple[Variable, ...]] = (QUEUE, RATE)
    modes: ClassVar[tuple[str, ...]] = ("below Qref", "above Qref")
    lines: ClassVar[tuple[str, ...]] = ("queue less Qref",)

    @classmethod
    def _of(cls, configuration: Configuration) -> Self:
        """Return the model of a configuration of RoCC."""
        number = configuration.number
        return cls(
            **common(configuration, "f_min"),
            q_ref_octets=number("q_ref"),
            interval_s=number("interval"),
            alpha=number("alpha"),
            beta=number("beta"),
        )

    def level(self) -> Array:
        """Return the level of the gains at the fair rate: the least power of 2 from 2 to 64 with F >= Fmax / level."""
        ratio = np.asarray(self.link_bps * self.flows / self.capacity_bps, dtype=float)
        level = 2.0 ** np.ceil(np.log2(np.maximum(ratio * (1 - 1e-12), 2.0)))
        return cast(Array, np.minimum(level, _HIGHEST_LEVEL))

    def law(self, mode: int, state: Array, past: Sequence[Array]) -> Array:
        """Return the controller's answer to the queue of ``past``."""
        xp = namespace(state)
        then = past[0]
        offset, growth = then[0] - self.q_ref_octets, self.growth_octets_per_s(then)
        gain = 2 * _BPS_PER_OCTET / self.level()
        change = -gain * (self.alpha * offset / self.interval_s + self.beta * growth)
        return cast(Array, xp.stack([self.excess_octets_per_s(state), change + 0 * state[1]]))

    def switches(self, state: Array, past: Sequence[Array]) -> Array:
        """Return the queue less Qref, octets."""
        return cast(Array, (past[0][0] - self.q_ref_octets)[None])

    def mode_of(self, positive: Flags) -> NDArray[np.int_]:
        """Return the side of Qref; the law is the same on both."""
        return np.asarray(positive[0]).astype(int)

    def state_at_rest(self) -> Array:
        """Return the reference, with each flow at its share."""
        return stack(self.q_ref_octets, self.capacity_bps / self.flows)

    def start(self) -> Array:
        """Return an empty queue and sources at line rate."""
        return stack(0.0, self.line_rate_bps)

    def set_point_octets(self) -> Value:
        """Return Qref."""
        return self.q_ref_octets

    def _scale_s(self) -> Value:
        return self.interval_s


MODELS = (Rocc,)
