"""FECN as a fluid: the rate allocator of a switch, one step every interval T, spread evenly over it.

A step makes of the advertised rate r / rho, rho = arrivals / (f(q) link), averaged with the one before: with the
weight v of the new rate, r becomes r + v (r / rho - r). A source sends at the advertised rate of the last probe, and
the arrivals are those of the last interval. So between a measurement and its effect lie the round trip, half an
interval of measuring and half an interval until the next probe.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from penstock.theory.configuration import Configuration, UnsuitedScenarioError
from penstock.theory.models.base import (
    PHASE,
    QUEUE,
    RATE,
    Array,
    Clocked,
    Flags,
    Value,
    Variable,
    common,
    namespace,
    stack,
)
from penstock.theory.models.delays import AtIntervals


@dataclass(frozen=True)
class Fecn(AtIntervals, Clocked):
    """FECN: So-In et al.'s switch, as a relaxation towards f(q) link less what others send.

    Attributes:
        q_eq_octets: set point of the queue.
        below: constant of the queue function below Qeq.
        above: that above.
        least: c, the least value of the queue function.
        weight: v, weight of the new rate in the average; 1 without averaging.
        n0: sources begin with line rate / N0.
        offered: whether frames that the full queue refuses count as load.
    """

    q_eq_octets: Value
    below: Value
    above: Value
    least: Value
    weight: Value
    n0: Value
    offered: bool

    scheme: ClassVar[str] = "fecn"
    form: ClassVar[str] = "interval"
    source: ClassVar[str] = "So-In et al. 2008, sections 2 to 5; the scheme's own allocator"
    per: ClassVar[str] = "per second: the effect of an interval, spread over it"
    omits: ClassVar[tuple[str, ...]] = (
        PHASE,
        "probes that do not come back",
        "limited increase, adjustment of capacity",
    )
    variables: ClassVar[tuple[Variable, ...]] = (QUEUE, RATE)
    modes: ClassVar[tuple[str, ...]] = ("below Qeq", "above Qeq")
    lines: ClassVar[tuple[str, ...]] = ("queue less Qeq",)

    @classmethod
    def _of(cls, configuration: Configuration) -> Self:
        """Return the model of a configuration of FECN."""
        number, word = configuration.number, configuration.parameters
        for name in ("limited_increase", "capacity_adjustment"):
            if word[name]:
                raise UnsuitedScenarioError(
                    f"the model of {cls.scheme} has no {name}", f"set schemes.{cls.scheme}.{name} to false"
                )
        if word["averaging"] == "turns":
            raise UnsuitedScenarioError(
                f"the model of {cls.scheme} averages always or never",
                f"set schemes.{cls.scheme}.averaging to always or off",
            )
        a, b = number("a"), number("b")
        return cls(
            **common(configuration, "min_rate"),
            q_eq_octets=number("q_eq"),
            interval_s=number("interval"),
            below=a if word["fecn_branch"] == "ab" else b,
            above=b if word["fecn_branch"] == "ab" else a,
            least=number("c"),
            weight=number("averaging_weight") if word["averaging"] == "always" else 1.0,
            n0=cls._n0(configuration),
            offered=word["load"] == "offered",
        )

    @classmethod
    def _n0(cls, configuration: Configuration) -> float:
        return configuration.number("n0")

    def wanted(self, mode: int, queue: Array) -> Array:
        """Return the queue function f(q) on one side of Qeq."""
        xp = namespace(queue)
        constant = self.below if mode == 0 else self.above
        value = constant * self.q_eq_octets / ((constant - 1) * queue + self.q_eq_octets)
        return cast(Array, xp.maximum(value, self.least))

    def law(self, mode: int, state: Array, past: Sequence[Array]) -> Array:
        """Return the relaxation of one side; arrivals and queue are those of ``past``."""
        xp = namespace(state)
        then = past[0]
        offered = self.flows * then[1] + self.background_bps
        full = (then[0] >= self.buffer_octets) & (offered > self.link_bps) & (not self.offered)
        load = xp.where(full, self.link_bps, offered)
        next_rate = then[1] * self.wanted(mode, then[0]) * self.link_bps / load
        change = self.weight * (xp.minimum(next_rate, self.link_bps) - then[1]) / self.interval_s
        return cast(Array, xp.stack([self.excess_octets_per_s(state), change]))

    @property
    def clock_s(self) -> float:
        """T, s."""
        return float(np.max(self.interval_s))

    def next_rate_bps(self, rate_bps: float, octets: float, queue_octets: float) -> float:
        """Return what a step makes of the advertised rate, bit/s."""
        link = float(self.link_bps)
        wanted = float(self.wanted(int(queue_octets > self.q_eq_octets), np.array(queue_octets)))
        load = octets / (self.clock_s * wanted * link * float(self.octets_per_bit))
        new = min(rate_bps / load, link) if load > 0 else link
        weight = float(self.weight)
        return max((1 - weight) * rate_bps + weight * new, float(self.min_rate_bps))

    def switches(self, state: Array, past: Sequence[Array]) -> Array:
        """Return the queue less Qeq, octets."""
        return cast(Array, (past[0][0] - self.q_eq_octets)[None])

    def mode_of(self, positive: Flags) -> NDArray[np.int_]:
        """Return the side of Qeq."""
        return np.asarray(positive[0]).astype(int)

    def state_at_rest(self) -> Array:
        """Return the set point, where f is 1, with each flow at its share."""
        return stack(self.q_eq_octets, self.capacity_bps / self.flows)

    def start(self) -> Array:
        """Return an empty queue and sources at C / N0."""
        return stack(0.0, self.line_rate_bps / self.n0)

    def set_point_octets(self) -> Value:
        """Return Qeq."""
        return self.q_eq_octets

    def _scale_s(self) -> Value:
        return self.interval_s


MODELS = (Fecn,)
