"""The metrics of this paper alone: starvation, shares of the feedback, and the queue that each flow meets.

A seed counts as good if flow 1 gets at least GOOD of the mean of the other flows after the warm-up. The metrics with
``starved_only`` are of the seeds that are not, as the paper's figures 5 and 6 and table III are; others have no value.
"""

from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np
from penstock import Result
from penstock.columns import codes
from penstock.metrics.samples import (
    distribution,
    feedback_frames,
    needs_arrivals,
    queue_lengths,
    rate_series,
    share_ratio,
    utilization,
    wasserstein,
)
from penstock.metrics.values import flow_names, flow_samples

if TYPE_CHECKING:
    from numpy.typing import NDArray

GOOD = 0.8
LONG, OTHERS = "flow1", ("flow2", "flow3", "flow4")
QUEUES = {"sw0": "sw0->sw1", "sw1": "sw1->sw2", "sw2": "sw2->sw3"}
"""The paper's switches, and their bottlenecks here."""

FRAME_OCTETS = 1500
SLOT_S = 1.2e-6
"""The time of a frame of 1500 octets on a line of 10 Gb/s."""

START_S = 1.0


def starved(result: Result) -> bool:
    """Whether flow 1 gets less than GOOD of the others' mean."""
    return share_ratio(result, LONG) < GOOD


def evenness(result: Result) -> float:
    """Least over greatest throughput of the flows that cross one bottleneck."""
    got = [flow["throughput_bps"] for flow in result.summary["flows"] if flow["name"] in OTHERS]
    return min(got) / max(got)


def bottleneck_utilization(result: Result) -> float:
    """Utilisation of the three bottlenecks from the start of the flows on, mean."""
    return fmean(utilization(result, queue, from_s=START_S) for queue in QUEUES.values())


def longest_below_s(result: Result, over_s: float = 0.05) -> float:
    """The longest time for which flow 1, averaged over ``over_s``, is below GOOD of the others' mean, after 0.2 s.

    A start may take the flows anywhere; 0.2 s after it the controls have had their time.
    """
    time_s, rates = flow_samples(result, "throughput_bps")
    step_s = float(time_s[1] - time_s[0])
    window = np.ones(round(over_s / step_s)) / round(over_s / step_s)
    kept = time_s > START_S + 0.2
    own, *rest = (np.convolve(rates[name][kept], window, mode="valid") for name in (LONG, *OTHERS))
    below = np.concatenate(([0], own < GOOD * np.mean(rest, axis=0), [0])).astype(int)
    starts, stops = (np.flatnonzero(np.diff(below) == sign) for sign in (1, -1))
    return float((stops - starts).max(initial=0) * step_s)


def feedback_in_window_frames(
    result: Result, window_s: float, flow: str | None = None, switch: str | None = None
) -> float | None:
    """Signals in a window of this length, mean over the time after the warm-up; of seeds in which flow 1 starves."""
    if not starved(result):
        return None
    span_s = result.summary["duration_s"] - result.summary["warmup_s"]
    return _heard(result, flow, switch) * window_s / span_s


def feedback_share(result: Result, switch: str | None = None, starved_only: bool = True) -> float | None:
    """Flow 1's share of the signals of a switch, or of all."""
    if starved_only and not starved(result):
        return None
    return _heard(result, LONG, switch) / _heard(result, None, switch)


@needs_arrivals
def queue_seen_excess_frames(result: Result, switch: str, starved_only: bool = True) -> float | None:
    """Mean queue that arriving frames of flow 1 meet at a switch, less that of the other flow's frames."""
    if starved_only and not starved(result):
        return None
    own, other = (_met(result, switch, flow)[1] for flow in _pair(switch))
    return float(own.mean() - other.mean())


@needs_arrivals
def excess_follows_rate(result: Result, switch: str, window_s: float = 1e-3) -> float | None:
    """Correlation, over windows, of flow 1's octets beyond the other flow's with how much longer a queue it meets."""
    start_s, end_s = result.summary["warmup_s"], result.summary["duration_s"]
    edges = np.linspace(start_s, end_s, round((end_s - start_s) / window_s) + 1)
    counts, means = [], []
    for flow in _pair(switch):
        time_s, frames = _met(result, switch, flow)
        window = np.searchsorted(edges, time_s, side="right") - 1
        counts.append(np.bincount(window, minlength=len(edges))[: len(edges) - 1])
        means.append(np.bincount(window, frames, minlength=len(edges))[: len(edges) - 1] / np.maximum(counts[-1], 1))
    both = (counts[0] > 0) & (counts[1] > 0)
    if both.sum() < 3:
        return None
    return float(np.corrcoef((counts[0] - counts[1])[both], (means[0] - means[1])[both])[0, 1])


@needs_arrivals
def queue_seen_distance_frames(result: Result, switch: str, starved_only: bool = True) -> float | None:
    """Wasserstein distance of the queue lengths that flow 1 and the other flow meet at a switch."""
    if starved_only and not starved(result):
        return None
    own, other = (_met(result, switch, flow)[1] for flow in _pair(switch))
    return wasserstein(own, other)


@needs_arrivals
def whole_slots_fraction(result: Result, switch: str, flow: str) -> float:
    """Share of a flow's arrivals whose distance to the one before is a whole number of slots, to 2 % of a slot."""
    slots = np.diff(_met(result, switch, flow)[0]) / SLOT_S
    return float((np.abs(slots - np.round(slots)) < 0.02).mean())


@needs_arrivals
def queues_seen(result: Result) -> dict[str, Any]:
    """For figure 6: for each switch and flow the distribution of the queue that its frames meet, in frames."""
    seen = {switch: {flow: distribution(_met(result, switch, flow)[1]) for flow in _pair(switch)} for switch in QUEUES}
    return {"ratio": share_ratio(result, LONG), "seen": seen}


@needs_arrivals
def arrivals_closely(result: Result, from_s: float, to_s: float) -> dict[str, Any]:
    """For figure 7: each arrival at sw1 in a short time, with the queue that it meets in frames, by flow."""
    met = {}
    for flow in _pair("sw1"):
        time_s, frames = _met(result, "sw1", flow)
        inside = (time_s > from_s) & (time_s <= to_s)
        met[flow] = time_s[inside].copy(), frames[inside].copy()
    return met


def shape(result: Result) -> dict[str, Any]:
    """For figures 4, 5, 8 and 9: the ratio by which a seed is judged, rates, and queues."""
    return {
        "ratio": share_ratio(result, LONG),
        "rates": rate_series(result, from_s=START_S - 0.02),
        "queues": queue_lengths(result, list(QUEUES.values()), points=1500, from_s=START_S - 0.02),
    }


def _pair(switch: str) -> tuple[str, str]:
    """Return the two flows that cross a switch's bottleneck, flow 1 first."""
    return LONG, OTHERS[list(QUEUES).index(switch)]


def _heard(result: Result, flow: str | None, switch: str | None) -> float:
    queue = None if switch is None else QUEUES[switch]
    return feedback_frames(result, flow, queue, from_s=result.summary["warmup_s"])


def _met(result: Result, switch: str, flow: str) -> tuple["NDArray[Any]", "NDArray[Any]"]:
    """Return times in s and queue in frames of a flow's arrivals at a bottleneck after the warm-up."""
    if flow not in flow_names(result):
        raise ValueError(f"no flow {flow}")
    queue_of, queues = codes(result.arrivals.column("queue").chunk(0))
    flow_of, flows = codes(result.arrivals.column("flow").chunk(0))
    time_s = result.column("arrivals", "time_s")
    rows = (queue_of == queues.index(QUEUES[switch])) & (flow_of == flows.index(flow))
    rows &= time_s > result.summary["warmup_s"]
    return time_s[rows], result.column("arrivals", "queue_octets")[rows] / FRAME_OCTETS
