"""Integration sample by sample: the queue is a fluid, rates change where samples tell them to, by whole steps.

Between samples the arrivals are constant, and so the queue is a straight line with its limits; nothing needs a solver.
A sample comes when the share of arrivals that is sampled has added up to a frame. It reports the queue in whole frames,
as a switch counts it, and its growth since the sample before; after the delay the rate of the sampled flow changes, and
so the mean rate of all flows by an Nth of it. This is equation (25) of paper 004 as it stands; (26) and (27) are its
limit for samples that come often.

Of the samples a part strikes frames of other traffic, and changes nothing: as many as its share of the arrivals.
"""

from collections import deque
from dataclasses import dataclass

import numpy as np

from penstock.theory.models.base import Array, Stepwise


@dataclass(frozen=True)
class SampledTrajectory:
    """Corners of a trajectory: between them the queue is straight, and the rate constant until the next.

    Attributes:
        time_s: times of samples and changes, s.
        states: queue (octets) and rate (bit/s) from then on, shape (2, times).
    """

    time_s: Array
    states: Array

    def at(self, time_s: Array) -> Array:
        """Return the states at ``time_s``, shape (2, times)."""
        queue = np.interp(time_s, self.time_s, self.states[0])
        last = np.clip(np.searchsorted(self.time_s, time_s, side="right") - 1, 0, None)
        return np.stack([queue, self.states[1][last]])


def integrate(
    model: Stepwise,
    state: Array,
    stop_s: float,
    *,
    start_s: float = 0.0,
    random: np.random.Generator | None = None,
) -> SampledTrajectory:
    """Integrate one configuration from ``state`` (queue in octets, rate in bit/s) to ``stop_s``.

    With ``random`` the frames between two samples are drawn (exponential), otherwise their number is the mean.
    """
    queue, rate = float(state[0]), float(state[1])
    flows, capacity, background = (float(v) for v in (model.flows, model.capacity_bps, model.background_bps))
    scale, frame, room = float(model.octets_per_bit), float(model.frame_octets), float(model.buffer_octets)
    low, high, delay = float(model.min_rate_bps), float(model.line_rate_bps), float(model.delay_s)
    target = float(model.set_point_octets())
    now, old = start_s, queue
    waiting: deque[tuple[float, float]] = deque()
    left = _frames(model, queue, random) * frame
    # What is due to the flows of the samples that have struck others' frames.
    credit = 0.0
    times, queues, rates = [now], [queue], [rate]

    def corner() -> None:
        times.append(now)
        queues.append(queue)
        rates.append(rate)

    while now < stop_s:
        arrivals = (flows * rate + background) * scale
        slope = (flows * rate - capacity) * scale
        wait = left / arrivals
        if waiting:
            wait = min(wait, max(waiting[0][0] - now, 0.0))
        wait = min(wait, stop_s - now)
        end = queue + slope * wait
        if end < 0 < queue or end > room > queue:
            # The corner at which a limit is reached.
            bound = 0.0 if end < 0 else room
            reached = (bound - queue) / slope
            left -= arrivals * reached
            now, queue = now + reached, bound
            corner()
            continue
        left -= arrivals * wait
        now, queue = now + wait, min(max(end, 0.0), room)
        while waiting and waiting[0][0] <= now + 1e-15:
            rate = min(max(rate + waiting.popleft()[1] / flows, low), high)
        if left <= 1e-9 * frame:
            seen = queue // frame * frame
            own = flows * rate / (flows * rate + background)
            credit += own if random is None else float(random.random() < own)
            if credit >= 1 - 1e-9:
                credit -= 1
                waiting.append((now + delay, model.step_bps(rate, seen - target, seen - old)))
            old = seen
            left = _frames(model, queue, random) * frame
        corner()
    return SampledTrajectory(np.array(times), np.array([queues, rates]))


def _frames(model: Stepwise, queue: float, random: np.random.Generator | None) -> float:
    mean = model.frames_between(queue)
    return mean if random is None else float(random.exponential(mean))
