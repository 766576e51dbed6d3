"""QCN's averaged model where samples scatter: only those with Fb < 0 bring a message, and their mean is not theirs.

The model takes each sample's Fb for the mean, which rests a few octets below 0, so that every sample brings a message.
A queue that moves by a frame moves Fb by several. Here Fb is normal about its mean with a deviation that is given.
Cycles end as the reaction point ends them: with Extra Fast Recovery a message in the first cycle keeps target and byte
counter, and cycles after Fast Recovery are half as long. The timer is left out: messages come long before its end.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from penstock import Result
from penstock.figures.series import queue_series
from penstock.theory.linear_stability import Array, DelaySystem, margins
from penstock.theory.models.qcn import Averaged

SAMPLE_S = 120e-6
"""150 KB at 10 Gb/s."""

STEP_S = 20e-6
"""`record.interval` of the runs in which a deviation is measured: a whole part of :data:`SAMPLE_S`."""


@dataclass(frozen=True)
class Rates:
    """What one flow gets, each a second but for the share.

    Attributes:
        messages: messages.
        cut: share of the rate that is cut.
        cycles: ends of cycles of the byte counter.
        resets: messages that set the target to the rate.
        raises: cycles after Fast Recovery.
    """

    messages: float
    cut: float
    cycles: float
    resets: float
    raises: float


@dataclass(frozen=True)
class Scattered:
    """The model of a configuration, with scatter.

    Attributes:
        model: the configuration.
        deviation_octets: standard deviation of Fb among samples.
        extra: whether Extra Fast Recovery keeps the target.
        halved: whether cycles after Fast Recovery are half as long.
    """

    model: Averaged
    deviation_octets: float
    extra: bool = True
    halved: bool = True

    def rates(self, mean_octets: float, frames: float) -> Rates:
        """Return the rates of a flow of ``frames`` a second, where -Fb has a mean."""
        at = mean_octets / self.deviation_octets
        speaks = math.erfc(-at / math.sqrt(2)) / 2
        above = self.deviation_octets * (math.exp(-at * at / 2) / math.sqrt(2 * math.pi) + at * speaks)
        samples, first = float(self.model.share_sampled) * frames, int(self.model.threshold)
        messages = samples * speaks
        cycle_s = float(self.model._cycle_frames(frames)) / frames
        kept = math.exp(-messages * cycle_s)
        half = math.sqrt(kept) if self.halved else kept
        # With Extra Fast Recovery the first cycle always ends, and the clock of messages counts from there.
        before = 0 if self.extra else 1
        rounds = 1 / (cycle_s + 1 / messages) if self.extra else messages
        late = kept ** (first - 1 + before) * half / (1 - half)
        early = sum(kept ** (number + before) for number in range(first))
        cut = float(self.model.gain_per_octet) * samples * above
        return Rates(messages, cut, rounds * (early + late), rounds, rounds * late)

    def rest(self) -> tuple[float, float, float]:
        """Return the queue (octets), the rate and its target (bit/s) at equilibrium."""
        fair, frames = self._fair()
        upper = 6 * self.deviation_octets + 1_000
        mean = brentq(lambda mean: self._rise(mean, frames, fair), -6 * self.deviation_octets, upper)
        found = self.rates(mean, frames)
        return (
            float(self.model.q_eq_octets) + mean,
            fair,
            fair + float(self.model.r_ai_bps) * found.raises / found.resets,
        )

    def speaking(self) -> float:
        """Return the share of samples that bring a message at equilibrium."""
        _, frames = self._fair()
        queue, *_ = self.rest()
        found = self.rates(queue - float(self.model.q_eq_octets), frames)
        return found.messages / (frames * float(self.model.share_sampled))

    def delay_margin_s(self) -> float:
        """Return how much longer the feedback may take until small oscillations last, s."""
        rest = np.array(self.rest())
        now, then = (np.column_stack([self._slope_by(rest, column, past) for column in range(3)]) for past in (0, 1))
        return float(margins(DelaySystem(now, then, float(self.model.delay_s))).delay_s)

    def _fair(self) -> tuple[float, float]:
        fair = float(self.model.capacity_bps) / float(self.model.flows)
        return fair, fair / (8 * float(self.model.wire_octets))

    def _rise(self, mean: float, frames: float, fair: float) -> float:
        found = self.rates(mean, frames)
        return found.cut * fair - float(self.model.r_ai_bps) * found.raises / found.resets / 2 * found.cycles

    def _slope_by(self, rest: Array, column: int, past: int) -> list[float]:
        step = np.zeros(3)
        step[column] = max(abs(rest[column]) * 1e-6, 1e-3)
        ends = [self._law(*((rest, rest + by) if past else (rest + by, rest))) for by in (step, -step)]
        return [(up - down) / (2 * step[column]) for up, down in zip(*ends, strict=True)]

    def _law(self, state: Array, then: Array) -> list[float]:
        model = self.model
        excess = [
            (float(model.flows) * rate - float(model.capacity_bps)) / 8 * float(model.frame_octets / model.wire_octets)
            for rate in (state[1], then[1])
        ]
        growth = excess[1] * float(model.frame_octets) * 8 / (float(model.share_sampled) * float(model.capacity_bps))
        mean = then[0] - float(model.q_eq_octets) + float(model.w) * growth
        found = self.rates(mean, then[1] / (8 * float(model.wire_octets)))
        below = state[2] - state[1]
        return [
            excess[0],
            -found.cut * state[1] + below / 2 * found.cycles,
            -below * found.resets + float(model.r_ai_bps) * found.raises,
        ]


def deviation_octets(result: Result, w: float = 2.0) -> float:
    """Return the standard deviation of Fb in packets, at the distance of QCN's samples, after the warm-up."""
    longest = max(result.summary["queues"], key=lambda queue: queue["mean_octets"])
    (series,) = queue_series(result, [longest])
    queue = np.asarray(series.octets, dtype=float)[series.time_s > series.warmup_s]
    back = round(SAMPLE_S / STEP_S)
    return float(np.std(queue[back:] + w * (queue[back:] - queue[:-back])))
