"""DCQCN as a fluid: the published model, with marks, alpha, target and current rate.

Zhu et al. (SIGCOMM 2015, section 5; CoNEXT 2016, section 3). With p the probability of a mark a delay ago, r frames/s
then, tau the interval of CNPs, tau' that of alpha, B frames and T s the cycles, F the stages of Fast Recovery:

    q'     = N r - C
    alpha' = g / tau' (1 - (1 - p)^(tau' r) - alpha)
    R'     = -(R - r) / tau (1 - (1 - p)^(tau r)) + R_AI (r_B (1 - p)^(F B) + r_T (1 - p)^(F T r))
    r'     = -r alpha / (2 tau) (1 - (1 - p)^(tau r)) + (R - r) / 2 (r_B + r_T)

with r_B = r p / ((1 - p)^-B - 1) and r_T = r p / ((1 - p)^-(T r) - 1): cycles a second that no mark has broken.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from penstock.theory.configuration import BITS_PER_OCTET, Configuration, UnsuitedScenarioError
from penstock.theory.models.base import (
    ALIKE,
    QUEUE,
    RATE,
    TARGET,
    Array,
    Flags,
    Value,
    Variable,
    common,
    namespace,
    stack,
)
from penstock.theory.models.delays import Waiting
from penstock.theory.models.qcn import log_kept, survival, unbroken


@dataclass(frozen=True)
class Dcqcn(Waiting):
    """DCQCN's published fluid model.

    Attributes:
        k_min_octets: queue up to which nothing is marked.
        k_max_octets: queue above which all is marked.
        p_max: probability of a mark at ``k_max_octets``.
        g: weight of news in alpha.
        cnp_s: tau, s.
        alpha_s: tau', s.
        stages: F.
        byte_reset_octets: a cycle of the byte counter.
        timer_s: T, s.
        r_ai_bps: R_AI, bit/s.
    """

    k_min_octets: Value
    k_max_octets: Value
    p_max: Value
    g: Value
    cnp_s: Value
    alpha_s: Value
    stages: Value
    byte_reset_octets: Value
    timer_s: Value
    r_ai_bps: Value

    scheme: ClassVar[str] = "dcqcn"
    form: ClassVar[str] = "published"
    source: ClassVar[str] = "Zhu et al., SIGCOMM 2015, section 5"
    per: ClassVar[str] = "per second: means over random marks and cycles"
    omits: ClassVar[tuple[str, ...]] = (
        "Hyper-Active Increase",
        "that the wait of a marked frame in the queue changes: it is that at equilibrium, and part of the delay",
        ALIKE,
    )
    variables: ClassVar[tuple[Variable, ...]] = (
        QUEUE,
        RATE,
        TARGET,
        Variable("alpha", "estimate of the share of intervals with a CNP"),
    )
    modes: ClassVar[tuple[str, ...]] = ("no marks", "some marks", "all marked")
    lines: ClassVar[tuple[str, ...]] = ("queue less Kmin", "queue less Kmax")

    @classmethod
    def _of(cls, configuration: Configuration) -> Self:
        """Return the model of a configuration of DCQCN."""
        number, word = configuration.number, configuration.parameters
        if word["marking"] == "pi" and cls is Dcqcn:
            return cast(Self, Controlled.of(configuration))
        if word["alpha_update"] != "per-cnp" or word["counters"] != "both" or number("decrease_time") > 0:
            raise UnsuitedScenarioError(
                "the model of DCQCN is that of its paper: alpha per CNP, both counters, cuts at once",
                "set alpha_update to per-cnp, counters to both and decrease_time to 0",
            )
        return cls(**cls._parameters(configuration))

    @classmethod
    def _parameters(cls, configuration: Configuration) -> dict[str, Any]:
        """Return the fields of the model, from a configuration."""
        number = configuration.number
        return dict(
            **common(configuration, "min_rate"),
            k_min_octets=number("k_min"),
            k_max_octets=number("k_max"),
            p_max=number("p_max"),
            g=1 / number("g_inverse"),
            cnp_s=number("cnp_interval"),
            alpha_s=number("alpha_time"),
            stages=number("f"),
            byte_reset_octets=number("byte_reset"),
            timer_s=number("time_reset"),
            r_ai_bps=number("r_ai"),
            waits=True,
        )

    def marked(self, mode: int, queue: Array) -> Array:
        """Return the probability of a mark in a mode."""
        if mode != 1:
            return 0 * queue + (0.0 if mode == 0 else 1.0)
        return self.p_max * (queue - self.k_min_octets) / (self.k_max_octets - self.k_min_octets)

    def likely(self, mode: int, then: Array) -> Array:
        """Return the probability of a mark in the state ``then``, not yet held within its limits."""
        return self.marked(mode, then[0])

    def sent_bps(self, state: Array) -> Array:
        """Return the rate at which a flow's frames arrive, bit/s."""
        return cast(Array, state[1])

    def law(self, mode: int, state: Array, past: Sequence[Array]) -> Array:
        """Return the equations of a mode; marks and frames are those of ``past``."""
        xp = namespace(state)
        rate, target, alpha = state[1], state[2], state[3]
        frames = self.sent_bps(past[0]) / (BITS_PER_OCTET * self.wire_octets)
        p = xp.clip(self.likely(mode, past[0]), 0.0, 1.0)
        cut, news, cycles, increase = self._rates(p, frames)
        return cast(
            Array,
            xp.stack(
                [
                    self.excess_octets_per_s(state),
                    -rate * alpha / 2 * cut + (target - rate) / 2 * cycles,
                    -(target - rate) * cut + self.r_ai_bps * increase,
                    self.g / self.alpha_s * (news - alpha),
                ]
            ),
        )

    def switches(self, state: Array, past: Sequence[Array]) -> Array:
        """Return the queue less Kmin and less Kmax, octets."""
        xp = namespace(state)
        queue = past[0][0]
        return cast(Array, xp.stack(xp.broadcast_arrays(queue - self.k_min_octets, queue - self.k_max_octets)))

    def mode_of(self, positive: Flags) -> NDArray[np.int_]:
        """Return how many thresholds the queue is above."""
        return np.asarray(positive[0]).astype(int) + np.where(positive[1], 1, 0)

    def state_at_rest(self) -> Array:
        """Return where all four are zero; a probability above p_max puts the queue on Kmax."""
        fair = self.capacity_bps / self.flows
        p = self.mark_at_rest()
        cut, news, _, increase = self._rates(p, fair / (BITS_PER_OCTET * self.wire_octets))
        rate = self._limit_bps(p)
        return stack(self._marking_octets(p), rate, rate + self.r_ai_bps * increase / cut, news)

    def _marking_octets(self, p: Array) -> Array:
        """Return the queue whose frames are marked with a probability; Kmax where that is above p_max."""
        ramp = self.k_max_octets - self.k_min_octets
        return np.asarray(self.k_min_octets + np.minimum(p / self.p_max, 1.0) * ramp)

    def _limit_bps(self, p: Array) -> Value:
        """Return the rate of a limiter at equilibrium with marks of a probability, bit/s."""
        return self.capacity_bps / self.flows

    def mark_at_rest(self) -> Array:
        """Return how likely a mark has to be at equilibrium, be it more than p_max.

        From R' = 0, R - r = R_AI a / c with c cuts and a cycles of increase a second. From r' = 0,
        r alpha c² = R_AI a (cycles), of which the left side grows with p and the right side falls.
        """
        fair = self.capacity_bps / self.flows
        frames = fair / (BITS_PER_OCTET * self.wire_octets)
        shape = np.broadcast_shapes(*(np.shape(v) for v in (fair, *vars(self).values())))
        low, high = np.full(shape, np.log(1e-12)), np.full(shape, np.log(1 - 1e-9))
        for _ in range(60):
            middle = (low + high) / 2
            cut, news, cycles, increase = self._rates(np.exp(middle), frames)
            more = self._limit_bps(np.exp(middle)) * news * cut**2 > self.r_ai_bps * increase * cycles
            low, high = np.where(more, low, middle), np.where(more, middle, high)
        return cast(Array, np.exp((low + high) / 2))

    @property
    def delays_s(self) -> tuple[Value, ...]:
        """How long ago a frame was marked: it is marked as it joins the queue, and waits in it before that is seen."""
        return (self.delay_s + self._wait_s,)

    @cached_property
    def _wait_s(self) -> Value:
        if not self.waits:
            return 0.0
        return cast(Value, self.state_at_rest()[0] / self.drain_octets_per_s)

    def start(self) -> Array:
        """Return an empty queue and line rate, which is the target; alpha is 1."""
        return stack(0.0, self.line_rate_bps, self.line_rate_bps, 1.0)

    def set_point_octets(self) -> Value:
        """Return the queue at equilibrium."""
        return cast(Array, self.state_at_rest()[0])

    def _rates(self, p: Array, frames: Value) -> tuple[Array, Array, Array, Array]:
        """Return cuts a second, share of alpha's intervals with a CNP, cycles a second, and those that increase R."""
        by_bytes, by_time = self.byte_reset_octets / self.frame_octets, self.timer_s * frames
        kept = log_kept(p)
        cycles_b, cycles_t = frames * unbroken(p, kept, by_bytes), frames * unbroken(p, kept, by_time)
        increase = cycles_b * survival(kept, self.stages * by_bytes) + cycles_t * survival(kept, self.stages * by_time)
        cut = (1 - survival(kept, self.cnp_s * frames)) / self.cnp_s
        return cut, 1 - survival(kept, self.alpha_s * frames), cycles_b + cycles_t, increase

    def _limits(self) -> tuple[list[Value], list[Value]]:
        low, high = super()._limits()
        return [*low[:3], 0.0], [*high[:3], 1.0]

    def _scale_s(self) -> Value:
        # The timers' own length is no time in which the means change; alpha and the rates take several of them.
        return 5 * np.minimum(self.timer_s, self.alpha_s)


@dataclass(frozen=True)
class Controlled(Dcqcn):
    """The same with a PI controller, which moves the probability of a mark until the queue is at its reference.

    With a and b its gains for an octet and T its interval, spread evenly over it:

        p' = (a - b) (q - q_ref) / T + b q'

    Attributes:
        q_ref_octets: the reference.
        a_per_octet: gain of the offset now.
        b_per_octet: gain of the offset an interval ago.
        update_s: T, s.
    """

    q_ref_octets: Value
    a_per_octet: Value
    b_per_octet: Value
    update_s: Value

    form: ClassVar[str] = "controller"
    source: ClassVar[str] = "Zhu et al., SIGCOMM 2015, section 5, and CoNEXT 2016, section 5"
    omits: ClassVar[tuple[str, ...]] = (
        *Dcqcn.omits,
        "the phase of the controller's updates",
    )
    variables: ClassVar[tuple[Variable, ...]] = (*Dcqcn.variables, Variable("marked", "probability of a mark"))
    modes: ClassVar[tuple[str, ...]] = ("below the reference", "above the reference")
    lines: ClassVar[tuple[str, ...]] = ("queue less the reference",)

    @classmethod
    def _of(cls, configuration: Configuration) -> Self:
        """Return the model of a configuration of DCQCN whose queues are marked by a controller."""
        if configuration.parameters["marking"] != "pi":
            raise UnsuitedScenarioError("no controller marks: thresholds do", "set schemes.dcqcn.marking to pi")
        return super()._of(configuration)

    @classmethod
    def _parameters(cls, configuration: Configuration) -> dict[str, Any]:
        number = configuration.number
        return super()._parameters(configuration) | {
            "q_ref_octets": number("pi_q_ref"),
            "a_per_octet": number("pi_a") / 1000,
            "b_per_octet": number("pi_b") / 1000,
            "update_s": number("pi_interval"),
        }

    def law(self, mode: int, state: Array, past: Sequence[Array]) -> Array:
        """Return the equations; the probability of ``past`` answers, that of ``state`` follows the queue."""
        xp = namespace(state)
        drift = (self.a_per_octet - self.b_per_octet) * (state[0] - self.q_ref_octets) / self.update_s
        marked = drift + self.b_per_octet * self.growth_octets_per_s(state)
        return cast(Array, xp.concat([super().law(1, state, past), marked[None]]))

    def marked(self, mode: int, queue: Array) -> Array:
        """Refuse: the probability is a variable of the state, and not a function of the queue."""
        raise ValueError("under a controller the queue does not say how likely a mark is")

    def likely(self, mode: int, then: Array) -> Array:
        """Return the controller's probability."""
        return cast(Array, then[4])

    def switches(self, state: Array, past: Sequence[Array]) -> Array:
        """Return the queue less the reference, octets."""
        return cast(Array, (past[0][0] - self.q_ref_octets)[None])

    def mode_of(self, positive: Flags) -> NDArray[np.int_]:
        """Return the side of the reference; the equations are the same on both."""
        return np.asarray(positive[0]).astype(int)

    def state_at_rest(self) -> Array:
        """Return the reference, with the probability at which cuts and increases balance."""
        fair = self.capacity_bps / self.flows
        p = self.mark_at_rest()
        cut, news, _, increase = self._rates(p, fair / (BITS_PER_OCTET * self.wire_octets))
        return stack(self.q_ref_octets, fair, fair + self.r_ai_bps * increase / cut, news, p)

    @property
    def delays_s(self) -> tuple[Value, ...]:
        """The same, and the mean age of an update that holds for an interval and measures the growth over one."""
        return (super().delays_s[0] + self.update_s,)

    def without_delay(self) -> Self:
        """Refuse: an update every interval is a delay by itself."""
        raise ValueError("the controller's model needs its interval")

    def start(self) -> Array:
        """Return an empty queue and line rate, which is the target; alpha is 1, and nothing is marked."""
        return stack(0.0, self.line_rate_bps, self.line_rate_bps, 1.0, 0.0)

    def set_point_octets(self) -> Value:
        """Return the reference."""
        return self.q_ref_octets

    def _limits(self) -> tuple[list[Value], list[Value]]:
        low, high = super()._limits()
        return [*low[:4], 0.0], [*high[:4], 1.0]

    def _scale_s(self) -> Value:
        return cast(Array, np.minimum(super()._scale_s(), 5 * np.asarray(self.update_s)))


MODELS = (Dcqcn, Controlled)
