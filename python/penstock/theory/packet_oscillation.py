"""The packets beside the theory: whether the bottleneck's queue does in the simulator what the fluid says.

The fluid's word is about small oscillations of a law that is asked without end. Packets come one by one, messages with
intervals, and sources start at their lines' rates; the queue of a stable fluid may swing from empty to full.
"""

import math
from dataclasses import dataclass
from typing import Literal

from penstock._core import PenstockError
from penstock.metrics.registry import TITLED
from penstock.metrics.values import JudgedRun, longest
from penstock.quantity_text import duration
from penstock.scenario import Scenario
from penstock.theory.configuration import Configuration
from penstock.theory.margin import MarginReport

_FRAMES = 500_000
"""The most frames of the bottleneck that are simulated: seconds of work."""

_FEW_FRAMES = 10.0
"""Frames of a flow in an interval of its law: with fewer, the share of marked ones is no probability."""

_CALM = 0.25
"""A queue whose standard deviation is a larger share of its equilibrium swings."""

_SAMPLES = 4000
"""Samples of the simulated time, from which the amplitude is taken."""

Word = Literal["confirm", "contradict"]


@dataclass(frozen=True)
class PacketOscillation:
    """The bottleneck's queue in the packet simulator, weighted with time.

    Attributes:
        start_s: from when on it is measured, s of the simulation.
        stop_s: until when.
        mean_octets: its mean.
        std_octets: its standard deviation.
        max_octets: the most.
        amplitude_octets: half the distance between its 5th and 95th percentile.
        utilization: share of the link's rate that is used.
        rest_octets: length of the queue at the fluid's equilibrium; NaN where it has none.
        calm: whether the queue stays about as long as the equilibrium is: its standard deviation is a quarter of it, or
            two frames, at the most, and the means are no farther apart.
        verdict: whether packets confirm the fluid. A stable one has a calm queue, an unstable one has not. Where the
            fluid has a cycle, mean and amplitude are to differ by no more than a quarter, or two frames; under flow
            control, the mean.
    """

    start_s: float
    stop_s: float
    mean_octets: float
    std_octets: float
    max_octets: float
    amplitude_octets: float
    utilization: float
    rest_octets: float
    calm: bool
    verdict: Word


def simulate(
    scenario: Scenario, found: MarginReport, *, scheme: str | None = None, profile: str | None = None
) -> PacketOscillation | str:
    """Run the scenario's period by packets, or its first part where it is long; the second half is measured.

    Returns:
        The queue; or why it cannot be simulated, in a sentence.
    """
    given = found.configuration
    span_s = min(given.stop_s - given.start_s, _FRAMES / given.capacity_fps)
    if given.start_s > span_s:
        return f"the period begins at {given.start_s:g} s, beyond what is simulated for a check"
    start_s, stop_s = given.start_s + span_s / 2, given.start_s + span_s
    copy = scenario.copy()
    try:
        copy.set("duration", f"{stop_s:.12f} s")
        copy.set("warmup", f"{start_s:.12f} s")
        copy.set("until", "duration")
        copy.set("record.queues", f'["{given.queue}"]')
        copy.set("record.interval", f"{stop_s / _SAMPLES:.12f} s")
        result = copy.run(scheme=scheme, profile=profile)
    except PenstockError as error:
        return f"the first {stop_s:g} s cannot be run alone: {error}"
    queue = longest(result.summary, given.queue)
    if queue is None:
        return f"{given.queue} is not recorded"
    rest = float(found.equilibrium.get("queue_octets", float("nan")))
    mean, std = float(queue["mean_octets"]), float(queue["std_octets"])
    amplitude = float(JudgedRun(result, queue).value(TITLED["queue_amplitude_octets"]) or 0.0)
    calm = rests(mean, std, rest, given.frame_octets)
    return PacketOscillation(
        start_s=start_s,
        stop_s=stop_s,
        mean_octets=mean,
        std_octets=std,
        max_octets=float(queue["max_octets"]),
        amplitude_octets=amplitude,
        utilization=float(queue["utilization"]),
        rest_octets=rest,
        calm=calm,
        verdict="confirm" if _confirms(found, mean, amplitude, calm=calm) else "contradict",
    )


def _confirms(found: MarginReport, mean_octets: float, amplitude_octets: float, *, calm: bool) -> bool:
    """Whether a queue of packets does what the fluid says."""
    if found.sides:
        return calm == found.stable
    if found.pauses is not None:
        return alike(found.pauses.mean_octets, mean_octets, found.configuration.frame_octets)
    if found.jump is not None:
        cycle, about_octets = found.jump.cycle, found.jump.mean_octets
    elif found.swing is not None:
        cycle, about_octets = found.swing.cycle, found.swing.mean_octets
    elif found.limit_cycle is not None:
        cycle, about_octets = found.limit_cycle.integrated, found.equilibrium["queue_octets"]
    if not math.isfinite(cycle.amplitude_octets):
        # Nothing but buffer and rates bounds it.
        return not calm
    frame = found.configuration.frame_octets
    return alike(about_octets, mean_octets, frame) and alike(cycle.amplitude_octets, amplitude_octets, frame)


def alike(theirs_octets: float, ours_octets: float, frame_octets: float) -> bool:
    """Whether two lengths of a queue differ by no more than a quarter of the longer one, or two frames."""
    return abs(ours_octets - theirs_octets) <= max(_CALM * max(ours_octets, theirs_octets), 2 * frame_octets)


def rests(mean_octets: float, std_octets: float, rest_octets: float, frame_octets: float) -> bool:
    """Whether a queue of packets stays at the fluid's equilibrium.

    Its standard deviation is a quarter of the equilibrium, or two frames, at the most, and the means are no farther
    apart.
    """
    return distance(mean_octets, std_octets, rest_octets, frame_octets) <= 1


def distance(mean_octets: float, std_octets: float, rest_octets: float, frame_octets: float) -> float:
    """How far a queue of packets is from the fluid's equilibrium: up to 1 it rests there, see :func:`rests`."""
    return max(std_octets, abs(mean_octets - rest_octets)) / max(_CALM * rest_octets, 2 * frame_octets)


def doubts(given: Configuration) -> tuple[str, ...]:
    """Why the fluid may not describe a configuration: sentences; none where nothing speaks against it."""
    found = []
    fps = given.capacity_fps / given.flows
    if given.scheme in ("dcqcn", "fast-cnp"):
        interval_s = given.number("cnp_interval")
        frames = fps * interval_s
        if 0 < frames < _FEW_FRAMES:
            found.append(
                f"a flow sends {frames:.1f} frames in an interval between notifications ({duration(interval_s)}), and "
                f"the model takes the marked share of many: below {_FEW_FRAMES:g} frames it does not apply"
            )
    if 0 < fps * given.round_trip_s < 1:
        found.append(
            f"a flow sends {fps * given.round_trip_s:.2g} frames in a round trip: its rate is no flow of octets, and "
            "the model's delays are shorter than the gaps between frames"
        )
    return tuple(found)
