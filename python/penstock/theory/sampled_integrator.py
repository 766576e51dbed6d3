"""Integration in steps: the queue is a fluid, rates change where samples or a clock tell them to, by whole steps.

Between samples the arrivals are constant, and so the queue is a straight line with its limits; nothing needs a solver.
A sample reports the queue in whole frames, as a switch counts it once the sampled frame has joined, and its growth
since the sample before. After the delay the rate of the source changes whose frame it was. There are N sources, each
with separate rates. When a sample comes and which source it strikes is the matter of :mod:`penstock.theory.sampling`:
by chance where samples are drawn or their distances vary, by the phases of the sources where they are even. A sample
that strikes other traffic's frame changes nothing. For SMCC this is equation (25) of Jiang et al. 2015 as it stands;
(26) and (27) are its limit for samples that come often. QCN's sources change their rates at the ends of their cycles
too.

FECN's switch has a clock instead of samples, and one rate for all: :func:`by_clock`.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from penstock.theory.models.base import Array, Clocked, Recovering, Source, Stepwise
from penstock.theory.sampling import NONE, StreamSampling, sampler


class Sample(NamedTuple):
    """The source that a sample struck, and its message.

    Attributes:
        time_s: when, s.
        struck: the number of the source whose frame it was; N for other traffic's.
        rates_bps: the rates until then of all sources, and after them of other traffic if there is any, bit/s.
    """

    time_s: float
    struck: int
    rates_bps: tuple[float, ...]


@dataclass(frozen=True)
class SampledTrajectory:
    """Corners of a trajectory: between them the queue is straight, and the rate constant until the next.

    Attributes:
        time_s: times of samples and changes, s.
        states: queue (octets) and mean rate of a source (bit/s) from then on, shape (2, times).
        sources: the sources at the end.
        samples: all samples in their order; none where a clock changes rates.
    """

    time_s: Array
    states: Array
    sources: tuple[Source, ...]
    samples: tuple[Sample, ...] = ()

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
    strikes: StreamSampling | None = None,
) -> SampledTrajectory:
    """Integrate one configuration from ``state`` to ``stop_s``: N sources that begin alike, and at once.

    Args:
        model: the model.
        state: a state of the model; the first two are the queue (octets) and the rate of each source (bit/s).
        stop_s: when to end, s.
        start_s: when to begin, s.
        random: draws what is drawn; by default always the same.
        sources: the sources as an earlier period has left them, the first N of which go on; missing ones are as
            ``state`` says.
        strikes: how a sample finds its source; by default by phases if samples are even, and otherwise by chance.
    """
    random = random or np.random.default_rng(0)
    queue = float(state[0])
    count = round(float(model.flows))
    sources = [*sources[:count], *(model.source_at(state) for _ in range(count - len(sources)))]
    capacity, background = float(model.capacity_bps), float(model.background_bps)
    scale, frame, room = float(model.octets_per_bit), float(model.frame_octets), float(model.buffer_octets)
    delay, target = float(model.delay_s), float(model.set_point_octets())
    recovering = model if isinstance(model, Recovering) else None
    now, old = start_s, queue
    waiting: deque[tuple[float, Source, float, float]] = deque()
    streams = [*sources, Source(background)] if background > 0 else sources
    sampling = sampler(
        strikes or (StreamSampling.PHASES if model.even else StreamSampling.CHANCE), streams, scale, frame, random
    )
    sampling.begin(model.frames_between(queue - target, 0.0, random))
    total = sum(source.rate_bps for source in sources)
    times, queues, rates = [now], [queue], [total / len(sources)]
    found: list[Sample] = []

    def corner() -> None:
        times.append(now)
        queues.append(queue)
        rates.append(total / len(sources))

    while now < stop_s:
        slope = (total - capacity) * scale
        wait = min(sampling.wait_s(), stop_s - now)
        if waiting:
            wait = min(wait, max(waiting[0][0] - now, 0.0))
        if recovering:
            wait = min(wait, *(source.due_octets / (source.rate_bps * scale) for source in sources))
        end = queue + slope * wait
        reached = 0.0 if end < 0 < queue else room if end > room > queue else None
        if reached is not None:
            # The corner at which a limit is reached.
            wait, end = (reached - queue) / slope, reached
        struck = sampling.pass_by(wait)
        now, queue = now + wait, min(max(end, 0.0), room)
        if struck is not None:
            found.append(Sample(now, struck, tuple(stream.rate_bps for stream in streams)))
        if recovering:
            for source in sources:
                source.due_octets -= source.rate_bps * scale * wait
                if source.due_octets <= NONE * frame:
                    recovering.ended(source, random)
        while waiting and waiting[0][0] <= now + 1e-15:
            _, source, offset, growth = waiting.popleft()
            model.on_message(source, offset, growth, random)
        total = sum(source.rate_bps for source in sources)
        if struck is not None:
            # With the sampled frame, which has just joined.
            seen = min((queue / frame + NONE) // 1 * frame + frame, room) if queue > 0 else 0.0
            offset, growth = seen - target, seen - old
            spoke = model.speaks(offset, growth)
            if spoke and struck < count:
                waiting.append((now + delay, sources[struck], offset, growth))
            if model.keeps(spoke):
                old = seen
            sampling.begin(model.frames_between(offset, growth, random))
        corner()
    return SampledTrajectory(np.array(times), np.array([queues, rates]), tuple(sources), tuple(found))


def by_clock(
    model: Clocked, state: Array, stop_s: float, *, start_s: float = 0.0, rate_bps: float | None = None
) -> SampledTrajectory:
    """Integrate one configuration whose rate a clock changes, from ``state`` to ``stop_s``.

    The clock's rate reaches the queue after the delay. The interval of the clock holds then traffic of one rate but
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
