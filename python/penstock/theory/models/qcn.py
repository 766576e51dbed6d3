"""QCN as a fluid, three times: as Jiang et al. 2015 print it, per sample as the algorithm works, averaged with delay.

``Printed`` is equations (12) to (18) to the letter. In (15) a decrease is per feedback message and written per second;
N does not occur in it, nor does the rate of samples. ``Sampled`` puts that right: a flow of rate r is sampled
p r / frame times a second, and each time is cut by Gd |Fb|. ``Averaged`` is the averaging-principle model of Alizadeh,
Kabbani, Atikoglu and Prabhakar (SIGMETRICS 2011): messages and cycles as independent random processes, with what the
delay does to them; here with the timer and Hyper-Active Increase.

|Fb| counts in octets here. A step of quantisation cuts by Gd: it is |Fb|max / 63 with |Fb|max = (2 w + 1) Qeq
(|Fb|max / 64 if it is not quantised): ``gain_per_octet`` = Gd / step. Jiang et al. 2015 apply Gd to frames.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from penstock import golden
from penstock.theory.configuration import BITS_PER_OCTET, Configuration, UnsuitedScenarioError
from penstock.theory.models.base import (
    ALIKE,
    CYCLES,
    QUEUE,
    RATE,
    SAMPLING,
    TARGET,
    Array,
    Flags,
    FluidModel,
    Recovering,
    Source,
    Value,
    Variable,
    common,
    namespace,
    stack,
)

_DECREASE, _RECOVERY, _INCREASE = range(3)

_COUNTED = ("count", "every-frame")

_NEVER_S = 1e9


@dataclass(frozen=True)
class _Qcn(FluidModel):
    """Parameters and laws that the models of QCN share.

    Attributes:
        q_eq_octets: set point of the queue.
        w: weight of growth in Fb.
        share_sampled: share of frames that are sampled where |Fb| is small.
        gain_per_octet: share of the rate that an octet of |Fb| takes, 1/octets.
        byte_reset_octets: B, octets of a cycle of the byte counter.
        threshold: cycles of Fast Recovery.
        r_ai_bps: R_AI, bit/s.
    """

    q_eq_octets: Value
    w: Value
    share_sampled: Value
    gain_per_octet: Value
    byte_reset_octets: Value
    threshold: Value
    r_ai_bps: Value

    scheme: ClassVar[str] = "qcn"

    @staticmethod
    def shared(configuration: Configuration, byte_reset_octets: float | None = None) -> dict[str, Value]:
        """Return the parameters that all models of QCN take from a configuration, or a cycle of the octets given."""
        number, word = configuration.number, configuration.parameters
        if word["sampling"] == "step" or (
            word["sampling"] == "probability" and number("sample_probability_max") != number("sample_probability")
        ):
            raise UnsuitedScenarioError(
                "the models of QCN sample a share of frames that |Fb| does not change",
                f"set schemes.{configuration.scheme}.sample_probability_max to sample_probability, or sampling to "
                "table or count",
            )
        frame = configuration.frame_octets
        share = {
            "table": frame / number("sample_base"),
            "probability": number("sample_probability"),
            "count": 1 / number("sample_count"),
            "every-frame": 1.0,
        }[str(word["sampling"])]
        largest = (2 * number("w") + 1) * number("q_eq")
        steps = {"linear63": 63.0, "none": 64.0}.get(str(word["quantise"]))
        if steps is None:
            # As many steps as the register's six most significant bits leave.
            shift = max(0, int(largest).bit_length() - 6)
            steps = largest / 2**shift
        return {
            **common(configuration, "rpg_min_rate"),
            "q_eq_octets": number("q_eq"),
            "w": number("w"),
            "share_sampled": share,
            "gain_per_octet": steps / largest / number("gd_inverse"),
            "byte_reset_octets": byte_reset_octets or number("rpg_byte_reset"),
            "threshold": number("rpg_threshold") - (1 if word["fr_cycles"] == "threshold-less-one" else 0),
            "r_ai_bps": number("rpg_ai_rate"),
        }

    def set_point_octets(self) -> Value:
        """Return Qeq."""
        return self.q_eq_octets

    def messages_per_s(self, state: Array) -> Array:
        """Return how often a flow is sampled, 1/s."""
        return cast(Array, self.share_sampled * state[1] / (BITS_PER_OCTET * self.wire_octets))

    def cycles_per_s(self, state: Array) -> Array:
        """Return how many full cycles of the byte counter a flow ends in a second, 1/s."""
        return cast(Array, state[1] * self.octets_per_bit / self.byte_reset_octets)

    def _scale_s(self) -> Value:
        # The spiral of the decrease at equilibrium, and the interval between samples of all flows.
        frames_per_s = self.capacity_bps / (BITS_PER_OCTET * self.wire_octets)
        a1 = self.gain_per_octet * self.frame_octets * self.share_sampled * frames_per_s**2 / self.flows
        interval = BITS_PER_OCTET * self.wire_octets / (self.share_sampled * self.link_bps)
        return cast(Array, np.minimum(1 / np.sqrt(a1), interval))


@dataclass(frozen=True)
class Printed(_Qcn):
    """Equations (12) to (18) of Jiang et al. 2015 as printed: C in frames/s, Fb in frames, rates of change per second.

    A cycle lasts T = B / fair rate. R(0) is what the rate was when the last decrease began, other than by sliding;
    along Fb = 0 it stays, as theorem 2 takes it for a constant.

    Attributes:
        gd_per_frame: Gd, 1/frames.
    """

    gd_per_frame: Value

    form: ClassVar[str] = "printed"
    source: ClassVar[str] = "Jiang et al. 2015, equations (12) to (18)"
    per: ClassVar[str] = "as printed: per-message and per-cycle changes written per second"
    omits: ClassVar[tuple[str, ...]] = (
        "how often a flow is sampled",
        "that a cycle lasts longer at a lower rate (T is constant)",
        "delay, timer, Hyper-Active Increase, quantisation",
    )
    variables: ClassVar[tuple[Variable, ...]] = (
        QUEUE,
        RATE,
        TARGET,
        Variable("recovering_s", "time since the last decrease, s"),
    )
    modes: ClassVar[tuple[str, ...]] = ("rate decrease", "fast recovery", "active increase")
    lines: ClassVar[tuple[str, ...]] = ("Fb", "end of the cycles of Fast Recovery")

    @classmethod
    def _of(cls, configuration: Configuration) -> Self:
        """Return the printed model of a configuration of QCN; it has no delay in any configuration."""
        shared = _Qcn.shared(configuration)
        return cls(**{**shared, "delay_s": 0.0}, gd_per_frame=1 / configuration.number("gd_inverse"))

    @property
    def cycle_s(self) -> Value:
        """T, s."""
        return self.byte_reset_octets / self.octets_per_bit * self.flows / self.capacity_bps

    def fb_frames(self, state: Array) -> Array:
        """Return Fb of equation (14), frames: samples come from all frames, so that its C is the whole link's rate."""
        x, y = self.to_paper(state)
        link_fps = self.link_bps / (BITS_PER_OCTET * self.wire_octets)
        return -(x + self.w / (self.share_sampled * link_fps) * y)

    def law(self, mode: int, state: Array, past: Sequence[Array]) -> Array:
        """Return (12) with the line of (15) that belongs to the mode."""
        xp = namespace(state)
        rate, target, elapsed = state[1], state[2], state[3]
        still = 0 * rate
        if mode == _DECREASE:
            change, clock = self.gd_per_frame * self.fb_frames(state) * rate, still
        elif mode == _RECOVERY:
            change, clock = (target - rate) / (2 * self.cycle_s), still + 1
        else:
            since = elapsed - self.threshold * self.cycle_s
            change = (target - rate) / self.cycle_s + 2 * self.r_ai_bps * since / self.cycle_s**2
            clock = still + 1
        return cast(Array, xp.stack([self.excess_octets_per_s(state), change, still, clock]))

    def switches(self, state: Array, past: Sequence[Array]) -> Array:
        """Return Fb (frames), and the time since the last decrease less that of Fast Recovery (s)."""
        xp = namespace(state)
        return cast(Array, xp.stack([self.fb_frames(state), state[3] - self.threshold * self.cycle_s]))

    def mode_of(self, positive: Flags) -> NDArray[np.int_]:
        """Return decrease for Fb <= 0, and by the time since then."""
        return np.where(positive[0], np.where(positive[1], _INCREASE, _RECOVERY), _DECREASE)

    def entered(self, before: int, after: int, state: Array) -> Array:
        """Return the state at which a decrease begins: R(0) is the rate, and the clock stands at zero."""
        if after == _DECREASE and before != _DECREASE:
            return np.array([state[0], state[1], state[1], 0 * state[3]])
        return state

    def state_at_rest(self) -> Array:
        """Return (x, y) = (0, 0), at which R(0) is the fair rate."""
        fair = self.capacity_bps / self.flows
        return stack(self.q_eq_octets, fair, fair, 0.0)

    def start(self) -> Array:
        """Return an empty queue and line rate, which is the target."""
        return stack(0.0, self.line_rate_bps, self.line_rate_bps, 0.0)

    def _scale_s(self) -> Value:
        capacity_fps = self.capacity_bps / (BITS_PER_OCTET * self.wire_octets)
        fast = self.gd_per_frame * self.w / self.share_sampled * self.capacity_bps / self.link_bps
        return cast(Array, np.minimum(1 / np.sqrt(self.gd_per_frame * capacity_fps), 1 / fast))


@dataclass(kw_only=True)
class _Source(Source):
    """A source with the scheme's rate calculator.

    Attributes:
        calculator: its state machine, without the timer.
    """

    calculator: golden.RateCalculator

    def begin(self) -> None:
        """Begin the cycle that the calculator stands at, with its rate."""
        self.rate_bps, self.due_octets = float(self.calculator.current_bps), float(self.calculator.byte_count)


@dataclass(frozen=True)
class Sampled(_Qcn, Recovering):
    """The algorithm, per second: cuts at samples with Fb < 0, cycles of the byte counter otherwise.

    With m = p r / frame messages a second and k = r / (8 B) cycles a second, while Fb < 0:

        r' = -Gd |Fb| m r,   R' = m (r - R),   c' = -m c

    for each message sets the target R to the rate and the count c of cycles to zero; and while Fb >= 0:

        r' = ln 2 k (R - r),  R' = 0,  c' = k               c <  threshold (Fast Recovery)
        r' = 2 ln 2 k (R - r),  R' = 2 k R_AI,  c' = 2 k    c >= threshold (Active Increase, half cycles)

    With quantised feedback a message comes from |Fb| of one step on, and says in the mean half a step too little.

    Attributes:
        halved: whether cycles are halved after Fast Recovery.
        step_octets: step of quantisation, octets; 0 without.
        parameters: the scheme's, by name. The form in steps makes the scheme's own state machines of them.
    """

    halved: bool
    step_octets: Value = 0.0
    parameters: Mapping[str, float | str | bool] = field(default_factory=dict)

    form: ClassVar[str] = "sampled"
    delayed: ClassVar[bool] = False
    source: ClassVar[str] = "Jiang et al. 2015, equation (15), with the rate of samples; Kabbani and Yasuda 2010"
    per: ClassVar[str] = "per second: the effect of a message or a cycle, times how many a flow has in a second"
    omits: ClassVar[tuple[str, ...]] = (
        ALIKE,
        CYCLES,
        "timer, Hyper-Active Increase, Extra Fast Recovery, Target Rate Reduction",
        SAMPLING,
    )
    variables: ClassVar[tuple[Variable, ...]] = (
        QUEUE,
        RATE,
        TARGET,
        Variable("cycles", "cycles since the last message"),
    )
    modes: ClassVar[tuple[str, ...]] = ("rate decrease", "fast recovery", "active increase")
    lines: ClassVar[tuple[str, ...]] = ("Fb", "end of the cycles of Fast Recovery")

    @classmethod
    def _of(cls, configuration: Configuration) -> Self:
        """Return the model of a configuration of QCN."""
        shared, word = _Qcn.shared(configuration), configuration.parameters
        quantised = word["quantise"] != "none"
        return cls(
            **shared,
            halved=word["cycle_halving"] == "per-counter",
            step_octets=1 / (shared["gain_per_octet"] * configuration.number("gd_inverse")) if quantised else 0.0,
            parameters=word,
        )

    def source_at(self, state: Array) -> Source:
        """Return a source as the fluid's state has it; where in its cycle it is nobody knows: at the beginning."""
        rate, target = round(float(state[1])), round(float(state[2]))
        calculator = golden.RateCalculator.recovering(
            round(float(self.line_rate_bps)), rate, target, int(state[3]), dict(self.parameters)
        )
        return _Source(float(state[1]), float(calculator.byte_count), calculator=calculator)

    @property
    def even(self) -> bool:
        """Whether frames are counted, or the table's intervals have no jitter."""
        sampling = self.parameters["sampling"]
        return sampling in _COUNTED or (sampling == "table" and self.parameters["sample_jitter"] == 0)

    def frames_between(self, offset_octets: float, growth_octets: float, random: np.random.Generator) -> float:
        """Return how many frames pass from a sample to the next: counted, drawn, or by the table and its jitter."""
        if self.parameters["sampling"] == "table":
            feedback = self._feedback(offset_octets, growth_octets)
            return self._sampling.interval_octets(feedback, random.random) / float(self.frame_octets)
        mean = 1 / float(self.share_sampled)
        return mean if self.parameters["sampling"] in _COUNTED else float(random.exponential(mean))

    def speaks(self, offset_octets: float, growth_octets: float) -> bool:
        """Return whether |Fb| is at least a step."""
        return self._feedback(offset_octets, growth_octets) > 0

    def keeps(self, spoke: bool) -> bool:
        """Return whether Qold is stored: at every sample, or with a message."""
        return spoke or self.parameters["qold_update"] == "every-sample"

    def on_message(
        self, source: Source, offset_octets: float, growth_octets: float, random: np.random.Generator
    ) -> None:
        """Cut the rate; it was what is now the target, and the byte counter begins again."""
        own = cast(_Source, source)
        own.calculator.decrease(0, self._feedback(offset_octets, growth_octets), random.random)
        own.begin()

    def ended(self, source: Source, random: np.random.Generator) -> None:
        """End a cycle of the byte counter: half of the distance to the target, which Active Increase raises before."""
        own = cast(_Source, source)
        own.calculator.end_byte_cycle(random.random)
        own.begin()

    @cached_property
    def _sampling(self) -> golden.Sampler:
        return golden.Sampler(dict(self.parameters))

    def _feedback(self, offset_octets: float, growth_octets: float) -> int:
        """|Fb| as it travels, in 256ths of a step; 0 where Fb >= 0."""
        queue = round(offset_octets + float(self.q_eq_octets))
        return self._sampling.feedback(queue, round(queue - growth_octets))

    def fb_octets(self, state: Array) -> Array:
        """Return Fb, octets, negative for congestion: its growth is that of the queue over 1 / (p arrivals)."""
        slope = self.growth_octets_per_s(state) * self.frame_octets
        growth = slope / (self.share_sampled * self.arrivals_octets_per_s(state))
        return cast(Array, self.q_eq_octets - state[0] - self.w * growth)

    def law(self, mode: int, state: Array, past: Sequence[Array]) -> Array:
        """Return the equations of a mode; feedback is that of ``past``."""
        xp = namespace(state)
        rate, target, cycles = state[1], state[2], state[3]
        if mode == _DECREASE:
            messages = self.messages_per_s(past[0])
            # At most half the rate is lost at a message.
            fb = -self.fb_octets(past[0]) - self.step_octets / 2
            cut = xp.clip(self.gain_per_octet * fb, 0.0, 0.5)
            rows = -cut * messages * rate, messages * (rate - target), -messages * cycles
        else:
            speed = self.cycles_per_s(state) * (2.0 if mode == _INCREASE and self.halved else 1.0)
            step = self.r_ai_bps if mode == _INCREASE else 0.0
            rows = np.log(2.0) * speed * (target - rate), step * speed, speed
        return cast(Array, xp.stack([self.excess_octets_per_s(state), *rows]))

    def switches(self, state: Array, past: Sequence[Array]) -> Array:
        """Return Fb and a step (octets), and the cycles since the last message less those of Fast Recovery."""
        xp = namespace(state)
        return cast(Array, xp.stack([self.fb_octets(past[0]) + self.step_octets, state[3] - self.threshold]))

    def mode_of(self, positive: Flags) -> NDArray[np.int_]:
        """Return decrease for Fb <= 0, and by the count of cycles."""
        return np.where(positive[0], np.where(positive[1], _INCREASE, _RECOVERY), _DECREASE)

    def state_at_rest(self) -> Array:
        """Return where messages begin, at the set point or a step above it, with each flow at its share, its target."""
        fair = self.capacity_bps / self.flows
        return stack(self.q_eq_octets + self.step_octets, fair, fair, 0.0)

    def start(self) -> Array:
        """Return an empty queue and line rate, which is the target."""
        return stack(0.0, self.line_rate_bps, self.line_rate_bps, 0.0)


@dataclass(frozen=True)
class Averaged(_Qcn):
    """The averaging-principle model with delay: messages and cycles as independent random processes.

    While Fb < 0 each of a flow's frames brings a message with probability p, otherwise none.
    A cycle of B frames ends unbroken with probability (1 - p)^B, so that of r frames a second r p / ((1 - p)^-B - 1)
    end one. The same holds for a cycle of the timer, which is T r frames long. With what was sampled a delay ago:

        r' = -Gd |Fb| r m + (R - r) / 2 (cycles)
        R' = -(R - r) m + R_AI (cycles after Fast Recovery) + R_HAI (those of both counters after theirs)

    Attributes:
        timer_s: cycle of the timer, s; infinite without it.
        r_hai_bps: R_HAI, bit/s.
    """

    timer_s: Value
    r_hai_bps: Value

    form: ClassVar[str] = "averaged"
    source: ClassVar[str] = "Alizadeh, Kabbani, Atikoglu, Prabhakar, SIGMETRICS 2011; the timer added here"
    per: ClassVar[str] = "per second: means over random messages and cycles"
    omits: ClassVar[tuple[str, ...]] = (
        "that Fast Recovery takes its time: increases begin at once, with the probability of its cycles",
        "half cycles, the factor of R_HAI, Extra Fast Recovery, Target Rate Reduction",
        "steps of quantisation; the table's shorter intervals where |Fb| is large",
    )
    variables: ClassVar[tuple[Variable, ...]] = (QUEUE, RATE, TARGET)
    modes: ClassVar[tuple[str, ...]] = ("messages", "no messages")
    lines: ClassVar[tuple[str, ...]] = ("Fb",)

    @classmethod
    def _of(cls, configuration: Configuration) -> Self:
        """Return the model of a configuration of QCN."""
        return cls(**cls._parameters(configuration))

    @staticmethod
    def _parameters(configuration: Configuration, byte_reset_octets: float | None = None) -> dict[str, Value]:
        """Return the fields of the model, from a configuration."""
        timer = configuration.number("rpg_time_reset") if configuration.parameters["timer_on"] else np.inf
        return {
            **_Qcn.shared(configuration, byte_reset_octets),
            "timer_s": timer,
            "r_hai_bps": configuration.number("rpg_hai_rate"),
        }

    def _cycle_frames(self, frames: Value) -> Value:
        """Return the frames of a cycle of the byte counter, at a rate in frames/s."""
        return self.byte_reset_octets / self.frame_octets

    def fb_octets(self, state: Array) -> Array:
        """Return Fb with the growth of equation (13), (N r - C) / (p C) and none at the queue's limits, octets."""
        slope = self.growth_octets_per_s(state) * self.frame_octets
        growth = slope / (self.share_sampled * self.link_bps * self.octets_per_bit)
        return cast(Array, self.q_eq_octets - state[0] - self.w * growth)

    def law(self, mode: int, state: Array, past: Sequence[Array]) -> Array:
        """Return the equations of a mode; frames and feedback are those of ``past``."""
        xp = namespace(state)
        rate, target = state[1], state[2]
        then = past[0]
        frames = then[1] / (BITS_PER_OCTET * self.wire_octets)
        probability = self.share_sampled if mode == 0 else 0.0
        fb = -self.fb_octets(then)
        step = self.gain_per_octet * (xp.minimum(fb, 0.5 / self.gain_per_octet) if mode == 0 else 0.0)
        messages = frames * probability
        by_bytes, by_time = self._cycle_frames(frames), self._finite_timer_s * frames
        kept = log_kept(probability)
        cycles_b, cycles_t = (frames * unbroken(probability, kept, cycle) for cycle in (by_bytes, by_time))
        after_b = survival(kept, self.threshold * by_bytes)
        after_t = xp.where(np.isinf(self.timer_s), 0.0, survival(kept, self.threshold * by_time))
        both = (cycles_b + cycles_t) * xp.minimum(after_b, after_t)
        one = cycles_b * after_b + cycles_t * after_t - both
        return cast(
            Array,
            xp.stack(
                [
                    self.excess_octets_per_s(state),
                    -step * rate * messages + (target - rate) / 2 * (cycles_b + cycles_t),
                    -(target - rate) * messages + self.r_ai_bps * one + self.r_hai_bps * both,
                ]
            ),
        )

    def switches(self, state: Array, past: Sequence[Array]) -> Array:
        """Return Fb, octets."""
        return self.fb_octets(past[0])[None]

    def mode_of(self, positive: Flags) -> NDArray[np.int_]:
        """Return messages for Fb <= 0."""
        return np.asarray(positive[0]).astype(int)

    def state_at_rest(self) -> Array:
        """Return where both equations are zero with messages: a queue a little above Qeq."""
        fair = self.capacity_bps / self.flows
        frames = fair / (BITS_PER_OCTET * self.wire_octets)
        p = self.share_sampled
        by_bytes, by_time = self._cycle_frames(frames), self._finite_timer_s * frames
        kept = log_kept(p)
        cycles_b, cycles_t = frames * unbroken(p, kept, by_bytes), frames * unbroken(p, kept, by_time)
        after_b = survival(kept, self.threshold * by_bytes)
        after_t = np.where(np.isinf(self.timer_s), 0.0, survival(kept, self.threshold * by_time))
        both = (cycles_b + cycles_t) * np.minimum(after_b, after_t)
        one = cycles_b * after_b + cycles_t * after_t - both
        above = (self.r_ai_bps * one + self.r_hai_bps * both) / (frames * p)
        fb = above / 2 * (cycles_b + cycles_t) / (self.gain_per_octet * fair * frames * p)
        return stack(self.q_eq_octets + fb, fair, fair + above)

    def start(self) -> Array:
        """Return an empty queue and line rate, which is the target."""
        return stack(0.0, self.line_rate_bps, self.line_rate_bps)

    @property
    def _finite_timer_s(self) -> Value:
        """A cycle of the timer, without it so long that none ends: infinity times a complex number is none."""
        return np.where(np.isinf(self.timer_s), _NEVER_S, self.timer_s)


def log_kept(probability: Value) -> Array:
    """Return log(1 - p): of the probability that a frame brings no message."""
    return np.asarray(np.log1p(-np.minimum(probability, 1 - 1e-12)))


def unbroken(probability: Value, kept: Value, frames: Value) -> Array:
    """Return p / ((1 - p)^-frames - 1): the share of frames that end a cycle which no message has broken."""
    some = np.asarray(probability) > 0
    # Beyond 700, a cycle never ends unbroken.
    exponent = np.where(some, np.minimum(-kept * frames, 700.0), 1.0)
    return np.asarray(np.where(some, probability / np.expm1(exponent), 1 / frames))


def survival(kept: Value, frames: Value) -> Array:
    """Return (1 - p)^frames: the probability that as many frames bring no message."""
    return np.asarray(np.exp(np.maximum(kept * frames, -700.0)))


MODELS = (Sampled, Averaged, Printed)
