"""The parts of a summary that are shown first: the notable queues, and the scheme in words."""

from collections.abc import Sequence

from penstock.summary import QueueSummary, Summary

_NOTABLE = 0.05
"""A queue whose mean is below this part of the longest one's, without a drop or signal, is not worth a line."""


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
