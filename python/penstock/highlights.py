"""The parts of a summary that are shown first: the notable queues, and the scheme as text."""

from collections.abc import Mapping, Sequence
from heapq import nsmallest
from typing import TYPE_CHECKING, Any

from penstock.summary import QueueSummary, Summary

if TYPE_CHECKING:
    from penstock.result import Result

_NOTABLE = 0.05
"""A queue whose mean is below this part of the longest one's, without a drop or signal, is not worth a line."""


def notable_queues(queues: Sequence[QueueSummary], most: int = 4) -> list[QueueSummary]:
    """Choose the queues to show: those that drop, signal or fill, the longest first, at most ``most``, at least one.

    Flow control moves a queue upstream: where the longest were all stopped, the longest that was never stopped, and so
    waits for nothing but its own line, comes first. It is the port that is congested.

    More lines than the default in one panel of a figure hide one another.
    """
    every: Sequence[Mapping[str, Any]] = queues
    return [queues[place] for place in _notable({key: [queue[key] for queue in every] for key in _KEYS}, most)]


def notable_queues_of(result: "Result", most: int = 4) -> list[dict[str, Any]]:
    """Choose the queues of a result's summary likewise, without a summary of all: with the keys that are shown."""
    columns = result.queues_shown
    places = _notable({key: columns[key].tolist() for key in _KEYS}, most)
    return [{key: column[place] for key, column in columns.items()} for place in places]


_KEYS = ("name", "frames_dropped", "feedback_frames", "mean_octets", "utilization", "paused_s")
"""The keys of queues by which they are chosen."""


def _notable(queues: Mapping[str, Sequence[Any]], most: int) -> list[int]:
    """Return the indices of the queues to show, out of a list a key."""
    names, dropped, feedback, mean, utilization, paused_s = (queues[key] for key in _KEYS)
    least = _NOTABLE * max(mean, default=0.0)
    chosen = [i for i in range(len(names)) if dropped[i] or feedback[i] or mean[i] > least]
    if not chosen:
        most, chosen = 1, list(range(len(names)))

    def order(i: int) -> tuple[Any, ...]:
        return -dropped[i], -mean[i], -utilization[i], names[i]

    found = nsmallest(most, chosen, key=order)
    free = (i for i in range(len(names)) if not paused_s[i] and mean[i])
    if all(paused_s[i] for i in found) and (root := min(free, key=order, default=None)) is not None:
        found = [root, *found][:most]
    return found


def schemes_in_words(summary: Summary) -> str:
    """Name the scheme and its profile, or those of each priority where they differ."""
    if "schemes" not in summary:
        return _with_profile(summary["scheme"], summary["profile"])
    each = (f"{_with_profile(s['scheme'], s['profile'])} at priority {s['priority']}" for s in summary["schemes"])
    return f"{summary['scheme']}: {', '.join(each)}"


def _with_profile(scheme: str, profile: str | None) -> str:
    return f"{scheme} ({profile})" if profile else scheme
