"""Fast CNP's flows one by one, without packets: each has its rate, target, timer and stage.

The fluid model has cycles of the timer as a mean rate. Here a timer begins again at each notification of its flow.
Frames are marked at random with the probability of the queue a delay ago. A flow is not notified again within an
interval.
"""

from dataclasses import dataclass

import numpy as np

from penstock.theory.models.fast_cnp import FastCnp


@dataclass(frozen=True)
class Ends:
    """The queue in the second half of the time.

    Attributes:
        mean_octets: its mean.
        deviations: its standard deviation in each quarter of that, octets.
    """

    mean_octets: float
    deviations: tuple[float, ...]


def run(model: FastCnp, delay_s: float, *, copies: int = 100, step_s: float = 1e-6, end_s: float = 40e-3) -> Ends:
    """Return where the queue ends with a loop of ``delay_s``, for QCN's constant cut.

    Args:
        model: the configuration. Its own delay does not count, nor does its counter of bytes.
        delay_s: from the queue's length to its effect on arrivals, s.
        copies: how many times its flows there are, at as many times its line.
        step_s: of time, s.
        end_s: of the run, s.
    """
    random = np.random.default_rng(1)
    flows, capacity = int(model.flows) * copies, float(model.capacity_bps)
    bits, per_octet = 8 * float(model.wire_octets), float(model.wire_octets) / float(model.frame_octets)
    least, ramp = float(model.k_min_octets), float(model.k_max_octets) - float(model.k_min_octets)
    back, steps = round(delay_s / step_s), round(end_s / step_s)
    rest = model.state_at_rest()
    rate, target = np.full(flows, capacity / float(model.flows)), np.full(flows, float(rest[2]))
    age, quiet = random.random(flows) * float(model.timer_s), np.zeros(flows)
    stage = np.zeros(flows, dtype=int)
    queue = np.full(steps + 1, float(rest[0]))
    for at in range(steps):
        marked = min(max((queue[max(at - back, 0)] - least) / ramp * float(model.p_max), 0.0), 1.0)
        quiet -= step_s
        age += step_s
        cut = np.flatnonzero((random.random(flows) < marked * rate * step_s / bits) & (quiet <= 0))
        target[cut] = rate[cut]
        rate[cut] *= 1 - float(model.cut)
        age[cut], stage[cut], quiet[cut] = 0.0, 0, float(model.cnp_s)
        due = np.flatnonzero(age >= float(model.timer_s))
        age[due] -= float(model.timer_s)
        stage[due] += 1
        target[due[stage[due] > model.stages]] += float(model.r_ai_bps)
        rate[due] = np.minimum((rate[due] + target[due]) / 2, float(model.line_rate_bps))
        excess = (float(rate.mean()) * float(model.flows) - capacity) / 8 / per_octet
        queue[at + 1] = max(queue[at] + excess * step_s, 0.0)
    half = queue[steps // 2 :]
    return Ends(float(half.mean()), tuple(float(part.std()) for part in np.array_split(half, 4)))
