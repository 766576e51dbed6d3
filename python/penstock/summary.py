"""The summary of a run, as ``summary.json`` and ``penstock run --json`` hold it.

Counts cover the whole run; means, deviations, extremes, throughput and utilisation cover the time after the warm-up and
are time-weighted, not sampled.
"""

from collections.abc import Sequence
from typing import NotRequired, TypedDict

_NOTABLE = 0.05
"""A queue whose mean is below this part of the longest one's, without a drop or signal, is not worth a line."""


class Assigned(TypedDict):
    """The scheme of a priority."""

    priority: int
    scheme: str
    profile: str | None


class WindowTotals(TypedDict):
    """Sums over the network and a window; those of windows that lie end to end add up to those of the run."""

    frames_offered: int
    frames_sent: int
    copies_made: int
    frames_delivered: int
    frames_dropped: int
    frames_lost_on_link: int
    feedback_frames: int
    notifications: NotRequired[int]
    """Where sources send probes: the feedback frames that told of congestion."""
    probes_returned: NotRequired[int]
    """Where sources send probes: the feedback frames that were probes come back."""
    pause_frames: NotRequired[int]
    """Where the network has priority flow control."""
    packet_hops: int


class Totals(WindowTotals):
    """Sums over the network and the whole run, with how it ended."""

    frames_discarded_at_source: int
    frames_in_flight: int
    feedback_discarded: NotRequired[int]
    """Where there are flows without congestion management: signals that their sources discarded."""
    events: int


class QueueSummary(TypedDict):
    """One queue: a port and a priority."""

    name: str
    priority: int
    mean_octets: float
    std_octets: float
    min_octets: int
    max_octets: int
    empty_fraction: float
    utilization: float
    frames_dropped: int
    feedback_frames: int
    paused_s: float
    pause_frames: int


class WindowFlow(TypedDict):
    """One flow in a window."""

    name: str
    throughput_bps: float
    fair_rate_bps: float
    mean_rate_bps: float
    std_rate_bps: float
    frames_sent: int
    frames_delivered: int
    frames_dropped: int
    feedback_received: int


class FlowSummary(WindowFlow):
    """One flow."""

    source: str
    destinations: list[str]
    notifications_received: NotRequired[int]
    probes_returned: NotRequired[int]
    settling_time_s: float | None
    completion_time_s: float | None


class HostSummary(TypedDict):
    """One host."""

    name: str
    rate_limiters_mean: float
    rate_limiters_max: int


class WindowSummary(TypedDict):
    """A window of measurement: statistics and counts from its start to its end alone."""

    name: str
    start_s: float
    end_s: float
    totals: WindowTotals
    loss_rate: float
    feedback_rate: float
    jain_index: float
    queues: list[QueueSummary]
    flows: list[WindowFlow]
    hosts: list[HostSummary]


class RunSummary(TypedDict):
    """How the run went on this machine; the only part that the same seed does not repeat."""

    wall_s: float
    events_per_s: int
    ns_per_packet_hop: float
    version: str


class Summary(TypedDict):
    """The result of a run in numbers."""

    scenario: str
    scheme: str
    profile: str | None
    schemes: NotRequired[list[Assigned]]
    """Where priorities have different schemes or profiles."""
    seed: int
    duration_s: float
    warmup_s: float
    interrupted_at_s: NotRequired[float]
    lossless: NotRequired[bool]
    """Where the scenario claims to lose no data frame: whether that is so."""
    totals: Totals
    loss_rate: float
    feedback_rate: float
    jain_index: float
    queues: list[QueueSummary]
    flows: list[FlowSummary]
    hosts: list[HostSummary]
    windows: NotRequired[list[WindowSummary]]
    """Where the scenario has windows of measurement; of a run that was stopped, those that it opened."""
    run: RunSummary


def notable_queues(queues: Sequence[QueueSummary], most: int = 4) -> list[QueueSummary]:
    """Choose the queues to show: those that drop, signal or fill, the longest first, at most ``most``, at least one.

    More lines than the default in one panel of a figure hide one another.
    """
    ranked = sorted(queues, key=lambda q: (-q["frames_dropped"], -q["mean_octets"], -q["utilization"], q["name"]))
    if not ranked:
        return []
    least = _NOTABLE * max(q["mean_octets"] for q in queues)
    chosen = [q for q in ranked if q["frames_dropped"] or q["feedback_frames"] or q["mean_octets"] > least]
    return (chosen or ranked[:1])[:most]


def schemes_in_words(summary: Summary) -> str:
    """Name the scheme and its profile, or those of each priority where they differ."""
    if "schemes" not in summary:
        return _with_profile(summary["scheme"], summary["profile"])
    each = (f"{_with_profile(s['scheme'], s['profile'])} at priority {s['priority']}" for s in summary["schemes"])
    return f"{summary['scheme']}: {', '.join(each)}"


def _with_profile(scheme: str, profile: str | None) -> str:
    return f"{scheme} ({profile})" if profile else scheme
