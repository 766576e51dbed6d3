"""The metrics of this paper alone: rates over all sources, queues in frames, shares in percent, and silenced queues.

Where the paper shows one value for six sources or for two queues, it is their mean here.
"""

from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np
from penstock import Result
from penstock.metrics.samples import (
    feedback_frames,
    mean_rate_bps,
    queue_lengths,
    queue_mean_octets,
    queue_std_octets,
    rate_series,
    std_rate_bps,
)
from penstock.metrics.values import flow_names, flow_samples

if TYPE_CHECKING:
    from numpy.typing import NDArray

FRAME_OCTETS = 1500


def feedback_percent(result: Result, per: str = "sent") -> float:
    """Feedback frames that reach the sources, per 100 frames of the stream (see :func:`_stream`)."""
    return 100 * result.summary["feedback_rate"] * _stream(result, "sent") / _stream(result, per)


def loss_percent(result: Result, per: str = "sent") -> float:
    """Frames dropped at all queues, per 100 frames of the stream (see :func:`_stream`)."""
    return 100 * result.summary["loss_rate"] * _stream(result, "sent") / _stream(result, per)


def _stream(result: Result, per: str) -> int:
    """Return the frames of "the total frame stream" (section 4.2).

    Those that sources send; with ``per = "made"`` those that they make, sent or not; with ``"copies"`` one for each
    receiver.
    """
    totals = result.summary["totals"]
    copies = totals["copies_made"] if per == "copies" else 0
    return totals["frames_offered" if per == "made" else "frames_sent"] + copies


def sources_mean_rate_bps(result: Result, flows: Sequence[str] | None = None, from_s: float | None = None) -> float:
    """CR over time, mean over the sources (figure 6)."""
    return fmean(mean_rate_bps(result, flow, from_s) for flow in flows or flow_names(result))


def sources_std_rate_bps(
    result: Result, from_s: float | None = None, over: str = "time", of: str = "rate_bps"
) -> float:
    """Standard deviation of CR over time, mean over the sources (figure 9).

    With ``over = "sources"`` it is that of the sources' means; with ``over = "mean"`` that of the mean of all sources,
    over time. ``of`` is the column of the table of rates that is taken for CR.
    """
    if over == "time" and of == "rate_bps":
        return fmean(std_rate_bps(result, flow, from_s) for flow in flow_names(result))
    time_s, rates = flow_samples(result, of)
    inside = time_s > (from_s or 0.0)
    values = np.array([rate[inside] for rate in rates.values()], dtype=float)
    if over == "time":
        return float(values.std(axis=1).mean())
    return float(values.mean(axis=1 if over == "sources" else 0).std())


def least_rate_bps(result: Result, at_s: float) -> float:
    """Least CR of all sources at the first sample from then on."""
    time_s, rates = flow_samples(result, "rate_bps")
    row = int(np.searchsorted(time_s, at_s))
    return float(min(values[row] for values in rates.values()))


def recovered_ratio(result: Result, from_s: float) -> float:
    """Return the rise of CR over its fall from ``from_s`` on, mean over the sources; one that does only one has 0."""
    time_s, rates = flow_samples(result, "rate_bps")
    ratios = []
    for values in rates.values():
        steps = np.diff(values[time_s >= from_s].astype(float))
        falls = -steps[steps < 0].sum()
        ratios.append(float(steps[steps > 0].sum() / falls) if falls else 0.0)
    return fmean(ratios)


def mean_queue_frames(result: Result, queues: Sequence[str]) -> float:
    """Mean length of the queues (figure 10)."""
    return fmean(queue_mean_octets(result, queue) for queue in queues) / FRAME_OCTETS


def deviation_frames(result: Result, queues: Sequence[str], q_eq_frames: float) -> float:
    """Mean length of the queues less Qeq (figure 11)."""
    return mean_queue_frames(result, queues) - q_eq_frames


def std_queue_frames(result: Result, queues: Sequence[str]) -> float:
    """Standard deviation of the length of the queues (figures 16 to 18)."""
    return fmean(queue_std_octets(result, queue) for queue in queues) / FRAME_OCTETS


def above_fraction(result: Result, queues: Sequence[str], q_eq_frames: float, count: str = "time") -> float:
    """Share of the samples of the queues that are above Qeq; with ``count = "times"`` of those that come to be so."""
    lengths = np.array([octets for _, octets in queue_lengths(result, queues, points=100_000).values()])
    above = lengths > q_eq_frames * FRAME_OCTETS
    if count == "times":
        above = above[:, 1:] & ~above[:, :-1]
    return float(above.mean())


def strongest_feedback(result: Result) -> float:
    """Greatest quantised |Fb| that reaches a source."""
    return float(result.column("signals", "fb").max(initial=0))


def least_feedback_frames(result: Result, queues: Sequence[str]) -> float:
    """Feedback frames from that of the queues which sends fewest."""
    return min(feedback_frames(result, queue=queue) for queue in queues)


def from_representative(result: Result) -> float:
    """Share of the feedback that a source gets from its representative: the queue with the largest |Fb| up to then."""
    representatives: dict[str, tuple[int, str]] = {}
    columns = [result.column("signals", name).tolist() for name in ("flow", "queue", "fb")]
    from_it = 0
    for flow, queue, fb in zip(*columns, strict=True):
        saved, representative = representatives.get(flow, (0, ""))
        if fb > saved:
            representative = queue
            # The value that algorithm 1 saves; 63 lets the choice start again.
            representatives[flow] = (fb % 63, queue)
        from_it += queue == representative
    return from_it / len(columns[0])


def silenced_fraction(result: Result) -> float:
    """Of the feedback that QCN would have sent in the same run, the share that a saved value silenced."""
    silenced = sum(int(values[-1]) for values in _by_queue(result, "cp_silenced_total").values())
    return silenced / (silenced + result.summary["totals"]["feedback_frames"])


def feedback_share(result: Result, queue: str) -> float:
    """Share of the feedback that comes from a queue."""
    return feedback_frames(result, queue=queue) / feedback_frames(result)


def locked(result: Result, queue: str = "sw->r1") -> dict[str, Any]:
    """For the lock-up: a queue's length in octets, and each source's saved value, over time in s."""
    return {
        "queue": queue_lengths(result, [queue])[queue],
        "saved": rate_series(result, "rp_saved_fb", bins=500),
    }


def _by_queue(result: Result, column: str) -> dict[str, "NDArray[Any]"]:
    """Return a column of the table of queues for each queue."""
    names = [queue["name"] for queue in result.summary["queues"]]
    # Every sample has a row a queue, in the order of the summary.
    table = result.column("queues", column).reshape(-1, len(names))
    return {name: table[:, i] for i, name in enumerate(names)}
