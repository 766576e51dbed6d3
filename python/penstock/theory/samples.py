"""Integration in steps: the queue is a fluid, rates change where samples or a clock tell them to, by whole steps.

Between samples the arrivals are constant, and so the queue is a straight line with its limits; nothing needs a solver.
A sample comes when the share of arrivals that is sampled has added up to a frame. It reports the queue in whole frames,
as a switch counts it once the sampled frame has joined, and its growth since the sample before; after the delay the
rate of the source changes whose frame it was. There are N sources, each with a rate of its own, and a sample strikes
one of them by chance, in proportion to their rates: also where every hundredth frame is sampled, for nothing keeps
their frames in order. A sample that strikes other traffic's frame changes nothing. For SMCC this is equation (25) of
paper 004 as it stands; (26) and (27) are its limit for samples that come often. QCN's sources change their rates at the
ends of their cycles too.

FECN's switch has a clock in place of samples, and one rate for all: :func:`by_clock`.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from penstock.theory.models.base import Array, Clocked, Source, Stepwise


@dataclass(frozen=True)
class SampledTrajectory:
    """Corners of a trajectory: between them the queue is straight, and the rate constant until the next.

    Attributes:
        time_s: times of samples and changes, s.
        states: queue (octets) and mean rate of a source (bit/s) from then on, shape (2, times).
        sources: the sources at the end.
    """

    time_s: Array
    states: Array
    sources: tuple[Source, ...]

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
    sources: Sequence[Source] = (),
) -> SampledTrajectory:
    """Integrate one configuration from ``state`` to ``stop_s``: N sources that begin alike.

    Args:
        model: the model.
        state: a state of the model; the first two are the queue (octets) and the rate of each source (bit/s).
        stop_s: when to end, s.
        start_s: when to begin, s.
        random: draws what is drawn; by default always the same.
        sources: the sources as an earlier period has left them, the first N of which go on; missing ones are as
            ``state`` says.
    """
    random = random or np.random.default_rng(0)
    queue = float(state[0])
    count = round(float(model.flows))
    sources = [*sources[:count], *(model.source_at(state) for _ in range(count - len(sources)))]
    capacity, background = float(model.capacity_bps), float(model.background_bps)
    scale, frame, room = float(model.octets_per_bit), float(model.frame_octets), float(model.buffer_octets)
    delay, target = float(model.delay_s), float(model.set_point_octets())
    now, old = start_s, queue
    waiting: deque[tuple[float, Source, float, float]] = deque()
    left = model.frames_between(queue - target, 0.0, random) * frame
    total = sum(source.rate_bps for source in sources)
    times, queues, rates = [now], [queue], [total / len(sources)]

    def corner() -> None:
        times.append(now)
        queues.append(queue)
        rates.append(total / len(sources))

    while now < stop_s:
        arrivals = (total + background) * scale
        slope = (total - capacity) * scale
        wait = min(left / arrivals, stop_s - now)
        if waiting:
            wait = min(wait, max(waiting[0][0] - now, 0.0))
        for source in sources:
            wait = min(wait, source.due_octets / (source.rate_bps * scale))
        end = queue + slope * wait
        reached = 0.0 if end < 0 < queue else room if end > room > queue else None
        if reached is not None:
            # The corner at which a limit is reached.
            wait, end = (reached - queue) / slope, reached
        left -= arrivals * wait
        now, queue = now + wait, min(max(end, 0.0), room)
        for source in sources:
            source.due_octets -= source.rate_bps * scale * wait
            if source.due_octets <= _NONE * frame:
                model.ended(source, random)
        while waiting and waiting[0][0] <= now + 1e-15:
            _, source, offset, growth = waiting.popleft()
            model.told(source, offset, growth)
        total = sum(source.rate_bps for source in sources)
        if left <= _NONE * frame:
            # With the sampled frame, which has just joined.
            seen = min((queue // frame + 1) * frame, room) if queue > 0 else 0.0
            offset, growth = seen - target, seen - old
            spoke = model.speaks(offset, growth)
            struck = _struck(sources, random.random() * (total + background))
            if spoke and struck is not None:
                waiting.append((now + delay, struck, offset, growth))
            if model.keeps(spoke):
                old = seen
            left = model.frames_between(offset, growth, random) * frame
        corner()
    return SampledTrajectory(np.array(times), np.array([queues, rates]), tuple(sources))


def by_clock(
    model: Clocked, state: Array, stop_s: float, *, start_s: float = 0.0, rate_bps: float | None = None
) -> SampledTrajectory:
    """Integrate one configuration whose rate a clock changes, from ``state`` to ``stop_s``.

    What the clock sets reaches the queue after the delay. The interval of the clock holds then traffic of one rate but
    for that.

    Args:
        model: the model.
        state: queue (octets) and rate of each source (bit/s).
        stop_s: when to end, s.
        start_s: when to begin, s.
        rate_bps: the rate that the switch advertises at the start, bit/s; by default that of the sources.
    """
    queue, rate = float(state[0]), float(state[1])
    advertised = rate if rate_bps is None else rate_bps
    flows, capacity, background = float(model.flows), float(model.capacity_bps), float(model.background_bps)
    scale, room = float(model.octets_per_bit), float(model.buffer_octets)
    delay = min(float(np.max(model.delay_s)), model.clock_s)
    times, queues, rates = [start_s], [queue], [rate]
    now = start_s
    while now < stop_s:
        octets = 0.0
        for wait in (delay, model.clock_s - delay):
            arrivals, slope = (flows * rate + background) * scale, (flows * rate - capacity) * scale
            end = queue + slope * wait
            bounded = min(max(end, 0.0), room)
            if bounded != end:
                # The corner at which a limit is reached.
                times.append(now + (bounded - queue) / slope)
                queues.append(bounded)
                rates.append(rate)
            octets += arrivals * wait - (0.0 if model.offered else max(0.0, end - room))
            now, queue, rate = now + wait, bounded, advertised
            times.append(now)
            queues.append(queue)
            rates.append(rate)
        advertised = model.next_rate_bps(advertised, octets, queue)
    source = Source(advertised)
    return SampledTrajectory(np.array(times), np.array([queues, rates]), (source,) * round(flows))


_NONE = 1e-9
"""Less than this share of a frame is nothing."""


def _struck(sources: Sequence[Source], place_bps: float) -> Source | None:
    """Return the source whose share of the arrivals a place between 0 and all of them is in; None for the others'."""
    for source in sources:
        place_bps -= source.rate_bps
        if place_bps < 0:
            return source
    return None
