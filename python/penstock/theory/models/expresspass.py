"""ExpressPass as a fluid: rates of credits that rise by a weight, and fall to the credits that were answered.

Cho et al. (SIGCOMM 2017); the law is ``credit_feedback_control`` of the authors' agent ``xpass.cc``. Rates are those of
the data that credits ask for: c by a flow's, C by all that a port lets through, and B by the most of one destination.
With L ``target_loss``, p the share of credits that was lost, and T the round trip:

    r  = c min(1, C / (N c))                     the data: credits beyond C are dropped
    p  = 1 - C / (N c) a round trip ago,         t = L (1 - c / B)
    c' = w (B - c) / T                           p <= t
    c' = (r (1 + t) - c) / T                     p > t, with r of a round trip ago

There is no rest: at p = t growth does not vanish, and a decrease leads below that line. In steps of a round trip, with
the answer of the step before, a rate rises twice and falls twice. The weight is then halved twice and rises once by
``w_step``, so that the two rises have

    w1 = max(w_step / 3, w_min),  w2 = min(w1 + w_step, w_max)

and the credits of all flows, as a multiple x = N c / C, go through

    x0 = 1 + t,  x0,  x1 = x0 + w1 (n - x0),  x2 = x1 + w2 (n - x1),      n = N B / C

A rise moves two rates towards each other by 1 - w, and a decrease keeps their ratio. So their difference, as a share of
the rate, shrinks by (1 - w1)(1 - w2) x0 / x2 in four round trips.

Where all flows end at one host, that host sends credits in turns, and none is lost: there is no loop at all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from penstock.quantity_text import duration
from penstock.theory.configuration import Configuration
from penstock.theory.models.base import (
    ALIKE,
    QUEUE,
    RATE,
    Array,
    Flags,
    FluidModel,
    Value,
    Variable,
    common,
    namespace,
    stack,
)

_FIXED_POINT_STEPS = 40


@dataclass(frozen=True)
class CreditCycle:
    """The cycle of four round trips in closed form: numbers, or arrays.

    Attributes:
        least: x0, the credits of all flows as a multiple of those that the port lets through.
        first_rise: x1.
        most: x2.
        period_s: four round trips, s.
        shrinks: factor on the difference of two flows, as a share of their rate, in a cycle.
    """

    least: Value
    first_rise: Value
    most: Value
    period_s: Value
    shrinks: Value

    @property
    def mean(self) -> Value:
        """The mean of x: 1 - 1 / mean of all credits are lost."""
        return (2 * self.least + self.first_rise + self.most) / 4


@dataclass(frozen=True)
class Expresspass(FluidModel):
    """The rate of credits of flows whose credits meet at one link.

    Attributes:
        first_weight: w1.
        second_weight: w2.
        target_loss: L.
        in_turns: whether one host sends the credits of all flows, so that none is lost.
    """

    first_weight: Value
    second_weight: Value
    target_loss: Value
    in_turns: bool

    scheme: ClassVar[str] = "expresspass"
    form: ClassVar[str] = "published"
    source: ClassVar[str] = "Cho et al., SIGCOMM 2017, credit feedback control; xpass.cc"
    per: ClassVar[str] = "per second: the effect of a round trip, spread over it"
    omits: ClassVar[tuple[str, ...]] = (
        "which flow's credit finds the queue full: all lose the same share",
        "the weight of each rise: it is the mean of both",
        "jitter of the gaps, and the credits that wait at a port",
        ALIKE,
    )
    variables: ClassVar[tuple[Variable, ...]] = (
        QUEUE,
        RATE,
        Variable("credits_bps", "rate of the data that the credits of each flow ask for, bit/s"),
    )
    modes: ClassVar[tuple[str, ...]] = ("within the target", "too many lost")
    lines: ClassVar[tuple[str, ...]] = ("share of lost credits less its target",)
    linear: ClassVar[bool] = False
    predicts_runs: ClassVar[bool] = False

    @classmethod
    def _of(cls, configuration: Configuration) -> Self:
        """Return the model of a configuration of ExpressPass."""
        number = configuration.number
        first = max(number("w_step") / 3, number("w_min"))
        return cls(
            **common(configuration, configuration.fair_rate_bps / 1000),
            first_weight=min(first, number("w_max")),
            second_weight=min(first + number("w_step"), number("w_max")),
            target_loss=number("target_loss"),
            in_turns=configuration.to_one_host,
        )

    def law(self, mode: int, state: Array, past: Sequence[Array]) -> Array:
        """Return the growth of credits, or their decrease; losses are those of ``past``."""
        xp = namespace(state)
        credits = state[2]
        data = self._answered(state)
        if mode == 0:
            weight = (self.first_weight + self.second_weight) / 2
            change = weight * (self.line_rate_bps - credits)
        else:
            change = self._answered(past[0]) * (1 + self._target(credits)) - credits
        # Credits let no more data come than the line carries: what waits leaves.
        leaves = -state[0] / self.delay_s
        return cast(Array, xp.stack([leaves, (data - state[1]) / self.delay_s, change / self.delay_s]))

    def _answered(self, state: Array) -> Array:
        """Return the data of a flow by its credits, bit/s."""
        return cast(Array, namespace(state).minimum(state[2], self.capacity_bps / self.flows))

    def _target(self, credits: Array) -> Array:
        return self.target_loss * (1 - credits / self.line_rate_bps)

    def switches(self, state: Array, past: Sequence[Array]) -> Array:
        """Return the share of credits that was lost less its target; with credits in turns none is lost."""
        lost = 0.0 if self.in_turns else 1 - self._answered(past[0]) / past[0][2]
        return cast(Array, (lost - self._target(state[2]))[None])

    def mode_of(self, positive: Flags) -> NDArray[np.int_]:
        """Return whether too many credits are lost."""
        return np.asarray(positive[0]).astype(int)

    def cycle(self) -> CreditCycle:
        """Return the cycle of four round trips."""
        most = self.flows * self.line_rate_bps / self.capacity_bps
        x0: Value = np.asarray(1.0 + self.target_loss)
        for _ in range(_FIXED_POINT_STEPS):
            # The second decrease starts from the first one's rate, which is x0 itself.
            x0 = 1 + self.target_loss * (1 - x0 / most)
        x1 = x0 + self.first_weight * (most - x0)
        x2 = x1 + self.second_weight * (most - x1)
        kept = (1 - self.first_weight) * (1 - self.second_weight)
        return CreditCycle(x0, x1, x2, 4 * self.delay_s, kept * x0 / x2)

    def state_at_rest(self) -> Array:
        """Return the point where the loss is at its target; with credits in turns that of all at line rate."""
        fair = self.capacity_bps / self.flows
        credits = self.line_rate_bps if self.in_turns else fair * self.cycle().mean
        return stack(0.0, fair, credits)

    def comes_to_rest(self) -> Flags:
        """Return whether there is no loop that swings."""
        return np.asarray(self.in_turns)

    def start(self) -> Array:
        """Return an empty queue and half of the line: the first rate."""
        return stack(0.0, self.capacity_bps / self.flows, self.line_rate_bps / 2)

    def set_point_octets(self) -> Value:
        """Return 0: credits keep the queue of data empty."""
        return 0.0

    def why_no_margin(self) -> str | None:
        """Return the cycle of the credits in closed form; None where one host sends them all."""
        if self.in_turns:
            return None
        cycle = self.cycle()
        least, most, mean = (float(np.asarray(value)) for value in (cycle.least, cycle.most, cycle.mean))
        return (
            "rates of credits rise twice and fall twice in four round trips, "
            f"{duration(float(np.asarray(cycle.period_s)))}: all credits are {least:.3g} to {most:.3g} times those "
            f"that the port lets through, {mean:.3g} in the mean, and the difference of two flows shrinks by "
            f"{float(np.asarray(cycle.shrinks)):.2g} a cycle; data do not queue"
        )

    def _limits(self) -> tuple[list[Value], list[Value]]:
        low, high = super()._limits()
        return [*low[:2], self.min_rate_bps], [*high[:2], self.line_rate_bps]

    def _scale_s(self) -> Value:
        return self.delay_s


MODELS = (Expresspass,)
