"""The metrics of this paper alone: when all sources are fair at once, the cost of control frames, limited sources."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from penstock import Result
from penstock.columns import codes
from penstock.figures.series import queue_series
from penstock.metrics.samples import feedback_frames, needs_arrivals, rate_series, throughput_bps
from penstock.metrics.values import flow_names, flow_samples

if TYPE_CHECKING:
    from numpy.typing import NDArray

QUEUE = "CS->DU"
"""The one bottleneck of figure 4: the paper's "queue length at the core switch"."""

START_S, STOP_S = 0.005, 0.080
"""When all flows begin, and when two of them end."""

FRAME_OCTETS = 1500
CONTROL_OCTETS = 64
"""A control frame of any of the schemes: BCN's message or FECN's tag of 20 octets, padded to the least of Ethernet."""

# The last sample before two flows end still describes four.
_BEFORE_STOP_S = 0.0799


def converged_s(
    result: Result, clock_s: float = 0.0, from_s: float = START_S, to_s: float = _BEFORE_STOP_S, band: float = 0.05
) -> float | None:
    """Time at which all sources' rates have come within ``band`` of their fair shares to stay, from ``clock_s`` on.

    Source rates, as in figure 5: the rate that each source is allowed, and sends, not the part that the full
    queue lets through.
    """
    time_s, deviation = _deviation(result, from_s, to_s)
    outside = np.flatnonzero(deviation > band)
    if len(outside) == len(time_s) or (len(outside) and outside[-1] == len(time_s) - 1):
        return None
    return float((time_s[outside[-1]] if len(outside) else from_s) - clock_s)


def settling_by_band(result: Result, bands: Sequence[float]) -> list[float | None]:
    """For a figure: ``converged_s`` for each of several bands."""
    return [converged_s(result, band=band) for band in bands]


def overshoot(result: Result, from_s: float, to_s: float) -> float:
    """The greatest rate of a source over its fair share."""
    time_s, allowed = flow_samples(result, "rate_bps")
    _, fair = flow_samples(result, "fair_rate_bps")
    chosen = (time_s > from_s) & (time_s <= to_s)
    return float(max((allowed[name][chosen] / fair[name][chosen]).max() for name in allowed))


def rates_ratio(result: Result, from_s: float, to_s: float, flows: Sequence[str] | None = None) -> float:
    """Greatest over least throughput of the flows in the window."""
    got = [throughput_bps(result, name, from_s, to_s) for name in flows or flow_names(result)]
    return max(got) / min(got) if min(got) else float("inf")


def closest_ratio(result: Result, from_s: float, to_s: float) -> float:
    """Of the flows in the order of their throughput, the least ratio of one to the next: 1 if two are equal."""
    got = sorted(throughput_bps(result, name, from_s, to_s) for name in flow_names(result))
    return float(min(b / a for a, b in pairwise(got)))


def apart_fraction(result: Result, from_s: float, to_s: float, ratio: float = 1.05) -> float:
    """Share of the samples at which the greatest source rate is more than ``ratio`` of the least: curves that part."""
    time_s, allowed = flow_samples(result, "rate_bps")
    chosen = (time_s > from_s) & (time_s <= to_s)
    rates = np.array([values[chosen] for values in allowed.values()]).astype(float)
    return float((rates.max(axis=0) > ratio * rates.min(axis=0)).mean())


def oscillation(result: Result, from_s: float, to_s: float, over_s: float = 1e-3) -> float:
    """Standard deviation over mean of a source's throughput, averaged over ``over_s`` first; mean of the sources."""
    bins = round((to_s - from_s) / over_s)
    rates = rate_series(result, "throughput_bps", bins, from_s, to_s)
    return float(np.mean([bps.std() / bps.mean() for _, bps in rates.values()]))


def lowest_rises(result: Result, before_s: Sequence[float], after_s: Sequence[float]) -> float | None:
    """Of the source with the lowest rate before 80 ms: its throughput in a later window over that in an earlier one.

    ``None`` where that source is one of those that end.
    """
    got = {name: throughput_bps(result, name, 0.025, STOP_S) for name in flow_names(result)}
    lowest = min(got, key=lambda name: got[name])
    after = throughput_bps(result, lowest, after_s[0], after_s[1])
    return None if after == 0 else after / throughput_bps(result, lowest, before_s[0], before_s[1])


def lowest_share(result: Result, from_s: float, to_s: float) -> float:
    """Return the throughput of the slowest source in the window, over the mean of all."""
    got = [throughput_bps(result, name, from_s, to_s) for name in flow_names(result)]
    return float(min(got) * len(got) / sum(got))


def stays_lowest(result: Result) -> bool:
    """Whether the source that is lowest from 10 to 20 ms is the lowest from 70 to 80 ms too."""
    early, late = (
        [throughput_bps(result, name, from_s, from_s + 0.010) for name in flow_names(result)]
        for from_s in (0.010, 0.070)
    )
    return int(np.argmin(early)) == int(np.argmin(late))


def high_queue_s(result: Result, above_octets: float = 48_000.0, to_s: float = _BEFORE_STOP_S) -> float:
    """From the start of the flows until the core queue is last above a length, by default twice Qeq."""
    time_s, octets = _queue(result)
    high = time_s[(time_s > START_S) & (time_s <= to_s) & (octets > above_octets)]
    return float(high[-1] - START_S) if len(high) else 0.0


def full_use_s(
    result: Result, share: float = 0.95, from_s: float = START_S, to_s: float = _BEFORE_STOP_S
) -> float | None:
    """From ``from_s`` until the bottleneck, averaged over 1 ms, carries this share of its rate, and stays so."""
    (series,) = queue_series(result, [q for q in result.summary["queues"] if q["name"] == QUEUE])
    chosen = (series.time_s > from_s) & (series.time_s <= to_s)
    time_s, used = series.time_s[chosen], series.utilization[chosen]
    width = round(1e-3 / (time_s[1] - time_s[0]))
    sums = np.concatenate(([0.0], np.cumsum(used)))
    means = (sums[width:] - sums[:-width]) / width
    low = np.flatnonzero(means < share)
    if len(low) and low[-1] == len(means) - 1:
        return None
    # A mean stands for the time from the start of its window on.
    return float(time_s[low[-1] + 1] - from_s) if len(low) else 0.0


def first_rate_bps(result: Result) -> float:
    """The least rate that a source is allowed when it starts."""
    time_s, allowed = flow_samples(result, "rate_bps")
    first = int(np.searchsorted(time_s, START_S - 1e-9, side="right"))
    return float(min(values[max(first - 1, 0) : first + 1].max() for values in allowed.values()))


def least_rate_bps(result: Result, to_s: float = 0.006) -> float:
    """The least rate above zero that a source is allowed, from the start of the flows on."""
    time_s, allowed = flow_samples(result, "rate_bps")
    chosen = (time_s > START_S) & (time_s <= to_s)
    return float(min(values[chosen][values[chosen] > 0].min() for values in allowed.values()))


def control_frames(result: Result) -> float:
    """Control frames that sources have heard of: each signal, and with a probe that has come back the probe itself."""
    return float(len(_heard(result)) + _heard(result).sum())


def control_share(result: Result) -> float:
    """Octets of control frames over octets of delivered data."""
    data = sum(flow["frames_delivered"] for flow in result.summary["flows"])
    return control_frames(result) * CONTROL_OCTETS / (data * FRAME_OCTETS)


def control_hops(result: Result) -> float:
    """Links that control frames have crossed, in all: a message from CS crosses two, a probe and its return six."""
    probes = _heard(result)
    return float(np.where(probes, 6, 2).sum())


def feedback_unevenness(result: Result, from_s: float = START_S, to_s: float = STOP_S) -> float:
    """Most over least signals that a source hears while all send."""
    heard = [feedback_frames(result, name, from_s=from_s, to_s=to_s) for name in flow_names(result)]
    return max(heard) / min(heard) if min(heard) else float("inf")


def probes_each_second(result: Result, flow: str, from_s: float = 0.060, to_s: float = STOP_S) -> float:
    """Probes of a flow that have come back, in a second."""
    time_s, flows = (result.column("signals", name) for name in ("time_s", "flow"))
    chosen = (flows == flow) & (time_s > from_s) & (time_s <= to_s)
    return float(_heard(result)[chosen].sum() / (to_s - from_s))


def backward_fraction(result: Result) -> float:
    """Share of the signals that come from a congestion point, and not by way of the destination."""
    return float((~_heard(result)).mean())


def regulators(result: Result) -> float:
    """Rate regulators of the network, mean over the time after the warm-up."""
    return float(sum(host["rate_limiters_mean"] for host in result.summary["hosts"]))


def regulators_together(result: Result, flow: str, from_s: float = 0.040) -> float:
    """Rate regulators in the reaction point of a flow's host, mean over the samples from ``from_s`` on."""
    time_s, count = flow_samples(result, "rp_regulators")
    return float(count[flow][time_s > from_s].mean())


@needs_arrivals
def answer_s(result: Result, above_octets: float = 120_000.0, transit_s: float = 2.1e-6) -> float | None:
    """From the first frame that finds the core queue beyond a length to the first signal that can be an answer to it.

    A signal that comes sooner than ``transit_s`` was sent before: 64 octets over two links and through an edge switch
    take 2 x (0.5 + 0.0512) + 1 us. ``None`` if the queue never comes so far.
    """
    arrived_s, octets = result.column("arrivals", "time_s"), result.column("arrivals", "queue_octets")
    queue_of, queues = codes(result.arrivals.column("queue").chunk(0))
    beyond = arrived_s[(queue_of == queues.index(QUEUE)) & (octets > above_octets)]
    if not len(beyond):
        return None
    heard_s = result.column("signals", "time_s")
    answers = heard_s[heard_s >= beyond[0] + transit_s]
    return float(answers[0] - beyond[0]) if len(answers) else None


@needs_arrivals
def time_beyond_s(result: Result, octets: float = 120_000.0) -> float:
    """How long the core queue is beyond a length: from each frame that finds it so to the next frame."""
    queue_of, queues = codes(result.arrivals.column("queue").chunk(0))
    rows = queue_of == queues.index(QUEUE)
    arrived_s, lengths = (result.column("arrivals", name)[rows] for name in ("time_s", "queue_octets"))
    return float(np.diff(arrived_s)[lengths[:-1] > octets].sum())


@needs_arrivals
def severe_sampling(result: Result, octets: float = 120_000.0, transit_s: float = 2.1e-6, to_s: float = 0.006) -> float:
    """Of the frames that find the core queue beyond a length, the share which a message answers, up to ``to_s``.

    The time in question is that from the first to the last such frame. A message is at its source ``transit_s`` later.
    """
    queue_of, queues = codes(result.arrivals.column("queue").chunk(0))
    time_s, lengths = (result.column("arrivals", name) for name in ("time_s", "queue_octets"))
    beyond = time_s[(queue_of == queues.index(QUEUE)) & (lengths > octets) & (time_s <= to_s)]
    sent_s = result.column("signals", "time_s") - transit_s
    return float(((sent_s >= beyond[0]) & (sent_s <= beyond[-1])).sum() / len(beyond))


def cut_s(result: Result, at_s: float, to: float = 0.5) -> float | None:
    """From ``at_s`` until all sources together may send at most ``to`` of their allowed rate then."""
    time_s, total = _together(result)
    before = total[np.searchsorted(time_s, at_s, side="right") - 1]
    low = time_s[(time_s > at_s) & (total <= to * before)]
    return float(low[0] - at_s) if len(low) else None


def fairness_distance_bps(result: Result, reference: str) -> float:
    """Mean distance of the flows' throughputs from their ``max-min`` or their ``proportional`` fair rates."""
    column = {"max-min": "fair_rate_bps", "proportional": "proportional_rate_bps"}[reference]
    distance = result.column("flows", "throughput_bps") - result.column("flows", column)
    return float(np.abs(distance).mean())


def least_advertised_bps(result: Result, to_s: float = 0.006) -> float:
    """The least rate that the core switch advertises, from the start of the flows on."""
    time_s, rate = result.column("queues", "time_s"), result.column("queues", "cp_advertised_rate_bps")
    return float(rate[(time_s > START_S) & (time_s <= to_s)].min())


def sources(result: Result, from_s: float = 0.0, to_s: float = 0.1) -> dict[str, Any]:
    """For figures: when the sources converge, and their allowed rates over time, at the samples beside each change."""
    time_s, allowed = flow_samples(result, "rate_bps")
    chosen = (time_s >= from_s) & (time_s <= to_s)
    rates = {}
    for name, values in allowed.items():
        times, bps = time_s[chosen], values[chosen].astype(float)
        changes = np.flatnonzero(np.diff(bps))
        rows = np.unique(np.concatenate(([0], changes, changes + 1, [len(bps) - 1])))
        rates[name] = times[rows], bps[rows]
    return {"converged_s": converged_s(result), "rates": rates}


def control_over_time(result: Result, bin_s: float = 1e-3) -> tuple["NDArray[Any]", "NDArray[Any]"]:
    """For a figure: time in s, and control frames of which sources have heard, in each bin."""
    bins = round(result.summary["duration_s"] / bin_s)
    weights = 1.0 + _heard(result)
    counts, edges = np.histogram(
        result.column("signals", "time_s"), bins, (0.0, result.summary["duration_s"]), weights=weights
    )
    return edges[:-1], counts


def shares(result: Result) -> dict[str, tuple[float, float, float]]:
    """For a figure: each flow's delivered, max-min and proportionally fair rate, bit/s."""
    got, even, proportional = (
        result.column("flows", f"{name}_bps").tolist() for name in ("throughput", "fair_rate", "proportional_rate")
    )
    return {name: (got[i], even[i], proportional[i]) for i, name in enumerate(flow_names(result))}


def variant(result: Result) -> dict[str, float]:
    """For a figure: fairness, losses and deviation of the queue of one of BCN's variants."""
    got = np.array([throughput_bps(result, name, 0.025, STOP_S) for name in flow_names(result)])
    time_s, octets = _queue(result)
    inside = (time_s > 0.025) & (time_s <= STOP_S)
    return {
        "jain": float(got.sum() ** 2 / (len(got) * (got**2).sum())),
        "lost": float(result.summary["totals"]["frames_dropped"]),
        "queue_octets": float(octets[inside].mean()),
    }


def _queue(result: Result) -> tuple["NDArray[Any]", "NDArray[Any]"]:
    (series,) = queue_series(result, [q for q in result.summary["queues"] if q["name"] == QUEUE])
    return series.time_s, series.octets


def _together(result: Result) -> tuple["NDArray[Any]", "NDArray[Any]"]:
    """Return the times of the samples, and the allowed rate of all sources together."""
    time_s, allowed = flow_samples(result, "rate_bps")
    return time_s, np.sum([values.astype(float) for values in allowed.values()], axis=0)


def _deviation(result: Result, from_s: float, to_s: float) -> tuple["NDArray[Any]", "NDArray[Any]"]:
    """Return times and the greatest relative distance of a source's rate from its fair share."""
    time_s, allowed = flow_samples(result, "rate_bps")
    _, fair = flow_samples(result, "fair_rate_bps")
    chosen = (time_s > from_s) & (time_s <= to_s)
    away = []
    for name in allowed:
        rate, share = allowed[name][chosen].astype(float), fair[name][chosen].astype(float)
        # A source that has not begun has no share, and nothing to converge to.
        away.append(np.where(share > 0, np.abs(rate - share) / np.maximum(share, 1.0), 0.0))
    return time_s[chosen], np.max(away, axis=0)


def _heard(result: Result) -> "NDArray[np.bool_]":
    """Return for each signal whether it is a probe that has come back."""
    names = result.signals.column_names
    count = len(result.column("signals", "time_s"))
    if "bcn_00" in names:
        return np.asarray(result.column("signals", "bcn_00") == 0)
    if "probe" in names:
        return np.asarray(result.column("signals", "probe") != 0)
    # BCN's messages have fields of the queue, FECN's returned probes have none.
    return np.full(count, "q_off_octets" not in names)
