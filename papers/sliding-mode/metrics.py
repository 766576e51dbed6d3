"""The metrics of this paper alone: how soon a queue settles, which states it visits, the contents of messages.

The paper samples the queue every millisecond, and so does its profile; all of this is of such samples. How far a queue
oscillates is the standard deviation of its samples, `queue_std_octets`, from 0.3 s after a change of the traffic: a
course right after the change is a response. The target q0 is 64 KB.
"""

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from penstock import Result
from penstock.figures.series import queue_series
from penstock.metrics.samples import empty_fraction, feedback_frames, throughput_bps
from penstock.metrics.values import flow_samples

if TYPE_CHECKING:
    from numpy.typing import NDArray

TARGET_OCTETS = 64_000
FEEDBACK_OCTETS = 64
"""A message of SMCC and of QCN alike: the paper puts its fields into the padding of a frame of the least length."""

_END = float("inf")

# A sample says the length to a frame, of 1000 octets, and a growth is the difference of two: a smaller one says
# nothing.
_RESOLUTION_OCTETS = 2000

# Section 4.6: state by the sides of the target and of the balance of rates on which the queue is; (above, growing).
_STATES = {(True, False): 1, (False, False): 2, (False, True): 3, (True, True): 4}
_ROUND = {(1, 2), (2, 3), (3, 4), (4, 1)}
_ACROSS_BALANCE = {(1, 4), (4, 1), (2, 3), (3, 2)}
_AS_PRINTED = {(1, 2), (2, 1), (1, 3), (3, 1)}


def band_fraction(
    result: Result, queue: str, low_octets: float, high_octets: float, from_s: float = 0.0, to_s: float = _END
) -> float:
    """Share of the samples of a queue that lie between two lengths, both included."""
    _, octets = _samples(result, queue, from_s, to_s)
    return float(((octets >= low_octets) & (octets <= high_octets)).mean())


def queue_min_octets(result: Result, queue: str, from_s: float = 0.0, to_s: float = _END) -> float:
    """Least of the samples of a queue."""
    return float(_samples(result, queue, from_s, to_s)[1].min())


def empty_spells(result: Result, queue: str, from_s: float = 0.0, to_s: float = _END) -> float:
    """How often a queue becomes empty, from sample to sample."""
    empty = _samples(result, queue, from_s, to_s)[1] == 0
    return float((empty[1:] & ~empty[:-1]).sum())


def longest_empty_s(result: Result, queue: str, from_s: float = 0.0, to_s: float = _END) -> float:
    """The longest time for which a queue is empty, from sample to sample."""
    time_s, octets = _samples(result, queue, from_s, to_s)
    edges = np.flatnonzero(np.diff(np.concatenate(([0], octets == 0, [0])).astype(int)))
    longest = (edges[1::2] - edges[::2]).max(initial=0)
    return float(longest * (time_s[1] - time_s[0]))


def empty_part(result: Result, queue: str, from_s: float, to_s: float, of_s: float, sign: int = 1) -> float:
    """Return the share of a longer time that a queue's empty time in a window makes; with ``sign`` -1, less than 0.

    Figure 5 is two runs, and a claim can subtract one run from another: subtracting a negative part adds it.
    """
    return float(sign * empty_fraction(result, queue, from_s, to_s) * (to_s - from_s) / of_s)


def response_s(
    result: Result,
    queue: str,
    from_s: float = 0.0,
    to_s: float = _END,
    band_octets: float = 16_000,
    hold_s: float = 0.05,
) -> float | None:
    """Time from ``from_s`` until a queue is within ``band_octets`` of the target and stays there for ``hold_s``."""
    time_s, octets = _samples(result, queue, from_s, to_s)
    width = round(hold_s / (time_s[1] - time_s[0]))
    inside = np.concatenate(([0], np.cumsum(np.abs(octets - TARGET_OCTETS) <= band_octets)))
    kept = np.flatnonzero(inside[width:] - inside[:-width] == width)
    return float(time_s[kept[0]] - from_s) if len(kept) else None


def empty_before_done_s(result: Result, queue: str) -> float:
    """For how long a queue is empty before its port sends for the last time.

    A flow that has lost frames never completes, so that the port says when all is over.
    """
    (series,) = queue_series(result, [q for q in result.summary["queues"] if q["name"] == queue])
    last = np.flatnonzero(series.utilization > 0)[-1]
    return float((series.octets[: last + 1] == 0).sum() * (series.time_s[1] - series.time_s[0]))


def unfairness(result: Result, flows: list[str], from_s: float, to_s: float = _END) -> float:
    """How far the flow that is farthest from its fair share is from it, as a part of the share."""
    _, fair = flow_samples(result, "fair_rate_bps")
    time_s = result.column("rates", "time_s")[:: len(fair)]
    inside = (time_s > from_s) & (time_s <= to_s)
    away = (throughput_bps(result, name, from_s, to_s) / float(fair[name][inside].mean()) - 1 for name in flows)
    return float(max(abs(part) for part in away))


def messages_per_frame(result: Result, queue: str) -> float:
    """Messages that a congestion point sends for each data frame that arrives at it."""
    return feedback_frames(result, queue=queue) / result.summary["totals"]["frames_sent"]


def feedback_octets_share(result: Result, queue: str, frame_octets: int = 1000) -> float:
    """Octets of the messages of a congestion point over those of the data frames that arrive at it."""
    return messages_per_frame(result, queue) * FEEDBACK_OCTETS / frame_octets


def growth_beyond_fraction(result: Result, queue: str, octets: float, from_s: float = 0.0, to_s: float = _END) -> float:
    """Share of SMCC's messages of a congestion point that report a change of the queue by ``octets`` or more."""
    _, growth = _reports(result, queue, from_s, to_s)
    return float((np.abs(growth) >= octets).mean())


def growth_over_offset(result: Result, queue: str, from_s: float = 0.0, to_s: float = _END) -> float | None:
    """Standard deviation of the growths that SMCC's messages report over that of the offsets, if these change."""
    offset, growth = _reports(result, queue, from_s, to_s)
    return float(growth.std() / offset.std()) if offset.std() else None


def round_fraction(result: Result, queue: str, from_s: float = 0.0, to_s: float = _END) -> float | None:
    """Share of the changes of state (section 4.6) that go the way 1, 2, 3, 4, 1; to and fro gives a half."""
    return _share_of_changes(result, queue, from_s, to_s, _ROUND)


def sliding_fraction(result: Result, queue: str, from_s: float = 0.0, to_s: float = _END) -> float | None:
    """Share of the changes of state that are to and fro over the balance of rates: 1 and 4, or 2 and 3.

    A queue that goes round the states has a half of them; one that slides to its target along the line on which rates
    and link are in balance has nothing else.
    """
    return _share_of_changes(result, queue, from_s, to_s, _ACROSS_BALANCE)


def printed_fraction(result: Result, queue: str, from_s: float = 0.0, to_s: float = _END) -> float | None:
    """Share of the changes of state that are those which section 4.6 prints for SMCC: 1 and 2, or 1 and 3."""
    return _share_of_changes(result, queue, from_s, to_s, _AS_PRINTED)


def changes_of_state(
    result: Result, queue: str, from_s: float = 0.0, to_s: float = _END
) -> "tuple[NDArray[np.float64], int]":
    """For figures: how often each state is followed by each other one, as shares of all changes, and their number."""
    counts = _changes(result, queue, from_s, to_s)
    total = sum(counts.values())
    shares = np.array([[counts[a, b] / max(total, 1) for b in range(1, 5)] for a in range(1, 5)])
    return shares, total


def offsets_and_growths(
    result: Result, queue: str, from_s: float, to_s: float
) -> "tuple[NDArray[np.float64], NDArray[np.float64]]":
    """For figures: offset of each sample from the target, and growth until the next, in octets."""
    _, octets = _samples(result, queue, from_s, to_s)
    return octets[:-1] - TARGET_OCTETS, np.diff(octets)


def _share_of_changes(
    result: Result, queue: str, from_s: float, to_s: float, those: set[tuple[int, int]]
) -> float | None:
    counts = _changes(result, queue, from_s, to_s)
    total = sum(counts.values())
    return sum(counts[change] for change in those) / total if total else None


def _changes(result: Result, queue: str, from_s: float, to_s: float) -> Counter[tuple[int, int]]:
    """Count the changes of state; a queue that is at its target, or does not change, keeps the state that it had."""
    offset, growth = offsets_and_growths(result, queue, from_s, to_s)
    known = (np.abs(offset) > _RESOLUTION_OCTETS) & (np.abs(growth) > _RESOLUTION_OCTETS)
    visited = [_STATES[bool(o > 0), bool(g > 0)] for o, g in zip(offset[known], growth[known], strict=True)]
    return Counter(change for change in pairwise(visited) if change[0] != change[1])


def _reports(
    result: Result, queue: str, from_s: float, to_s: float
) -> "tuple[NDArray[np.float64], NDArray[np.float64]]":
    time_s = result.column("signals", "time_s")
    rows = (time_s > from_s) & (time_s <= to_s) & (result.column("signals", "queue") == queue)
    offset, growth = (result.column("signals", name)[rows].astype(float) for name in ("q_off_octets", "q_delta_octets"))
    return offset, growth


def _samples(
    result: Result, queue: str, from_s: float, to_s: float
) -> "tuple[NDArray[np.float64], NDArray[np.float64]]":
    (series,) = queue_series(result, [q for q in result.summary["queues"] if q["name"] == queue])
    rows = (series.time_s > from_s) & (series.time_s <= to_s)
    return series.time_s[rows], series.octets[rows].astype(float)
