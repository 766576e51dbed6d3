"""The metrics of these statements alone: near messages, victims, isolated flows, delays against their target."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from penstock import Result
from penstock.columns import codes
from penstock.figures.series import means
from penstock.metrics.samples import (
    completion_time_s,
    needs_arrivals,
    queue_lengths,
    rate_series,
    settling_s,
    throughput_bps,
)
from penstock.metrics.values import flow_names, flow_samples

if TYPE_CHECKING:
    from numpy.typing import NDArray


def near_slowdown(result: Result, percentile: Literal["p99", "mean"] = "p99") -> float | None:
    """Time of near messages over their least possible time: a percentile, or the mean; none if no message completes."""
    every = result.summary["completions"][0]
    found: float | None = every["slowdown_mean"] if percentile == "mean" else every["slowdown_p99"]
    return found


def slowest_settling_s(result: Result, band: float, over_s: float) -> float | None:
    """Time from the start until the throughput of every flow stays near its fair share; none if one never does."""
    found = [settling_s(result, flow, band=band, over_s=over_s) for flow in flow_names(result)]
    return None if None in found else max(time_s for time_s in found if time_s is not None)


def share(result: Result, flow: str) -> float:
    """A flow's part of all that is delivered."""
    return float(throughput_bps(result, flow) / sum(throughput_bps(result, each) for each in flow_names(result)))


def unevenness(result: Result, flow: str) -> float:
    """By how much a flow's part of all that is delivered is away from an even part."""
    return abs(share(result, flow) - 1 / len(flow_names(result)))


def round_trip_s(result: Result, flow: str, column: str = "rp_delay_ps") -> float:
    """Mean, over the samples after the warm-up, of the round trip that a source of Swift sees, or of its target."""
    time_s, values = flow_samples(result, column)
    return float(values[flow][time_s > result.summary["warmup_s"]].mean()) * 1e-12


def round_trip_over_target(result: Result, flow: str) -> float:
    """The round trip that a source of Swift sees, over its target; means of the samples after the warm-up."""
    return round_trip_s(result, flow) / round_trip_s(result, flow, "rp_delay_target_ps")


def in_flight_frames(result: Result, flow: str) -> float:
    """Mean window of a source of Swift, over the samples after the warm-up."""
    time_s, windows = flow_samples(result, "rp_fcwnd_milli")
    return float(windows[flow][time_s > result.summary["warmup_s"]].mean()) / 1000


def messages_per_neighbour(result: Result, flows: int, neighbours: int) -> float:
    """Congestion isolation messages, over the flows that congest and the hops at which each can be told of."""
    told = result.summary["actions"]["neighbour_messages"]
    return told / (flows * neighbours)


@needs_arrivals
def isolated_s(result: Result, queue: str, flow: str, others: Sequence[str]) -> float | None:
    """Time from the end of the other flows until a frame of this one joins the monitored queue again, if one does.

    An arrival has the length of its own priority's queue, its own frame included unless that is moved or dropped.
    """
    time_s, octets = _met(result, queue, flow)
    ends_s = [completion_time_s(result, other) for other in others]
    if None in ends_s:
        return None
    done_s = max(end_s for end_s in ends_s if end_s is not None)
    back = time_s[(time_s > done_s) & (octets > 0)]
    return float(back[0]) - done_s if len(back) else None


def course(result: Result, queue: str, to_s: float = float("inf")) -> dict[str, Any]:
    """For figures: the length of a queue, and the rates that flows deliver."""
    return {
        "queue": queue_lengths(result, [queue], points=1500, to_s=to_s)[queue],
        "rates": rate_series(result, bins=200, to_s=to_s),
    }


def delays(result: Result, flow: str, bins: int = 600) -> tuple["NDArray[Any]", "NDArray[Any]", "NDArray[Any]"]:
    """For figures: time in s, and the round trip that a source of Swift sees and its target in us."""
    time_s, seen = flow_samples(result, "rp_delay_ps")
    _, targets = flow_samples(result, "rp_delay_target_ps")
    (times_s, delay_us), (_, target_us) = (means(time_s, each[flow] * 1e-6, bins) for each in (seen, targets))
    return times_s, delay_us, target_us


def _met(result: Result, queue: str, flow: str) -> tuple["NDArray[Any]", "NDArray[Any]"]:
    """Return times in s, and octets in the queue, of a flow's arrivals at it."""
    queue_of, queues = codes(result.arrivals.column("queue").chunk(0))
    flow_of, flows = codes(result.arrivals.column("flow").chunk(0))
    rows = (queue_of == queues.index(queue)) & (flow_of == flows.index(flow))
    return np.asarray(result.column("arrivals", "time_s"))[rows], result.column("arrivals", "queue_octets")[rows]
