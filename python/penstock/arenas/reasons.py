"""Why a competitor wins or loses on a workload: sentences from its own numbers, beside those of the others.

A winner is compared with the median of all that ran, a loser with the best. A cause is named where the numbers differ
by as much as the constants here say. Which of several causes came first, numbers do not show.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median

from penstock.arenas.standings import SENT, Standing
from penstock.catalogue import about
from penstock.metrics.registry import TITLED, WRITERS
from penstock.quantity_text import share

_FEW_LOST = 0.001
"""A share of lost frames up to this is no cause."""
_SHORT_OCTETS = 6_000
"""A queue up to this length is short, four long frames, whatever the others have."""
_TWICE = 2.0
_SLOWER = 0.95
"""A throughput below this part of the other one's is a cause."""

_EMPTIER = 0.05
"""A queue that is empty for this share of the time more than the other one is a cause."""

_QUEUE, _RATE, _LOST, _PAUSES = "queue_p99_octets", "throughput_bps", "frames_lost", "pause_frames"
_TIMEOUTS, _MIDDLE, _EMPTY, _LIMITED = "timeouts", "slowdown_p50", "empty_fraction", "path_limited_s"


def wins(standing: Standing, standings: Sequence[Standing]) -> str:
    """Say why a competitor is good on a workload, beside the median of those that ran."""
    own, other = _shown(standing), _medians(standings)
    found = []
    if other.lost > _FEW_LOST and own.lost < other.lost / _TWICE:
        lost = _share_lost(own.lost)
        found.append(f"it {_loses(standing)} {lost} of its frames, and the median competitor {share(other.lost)}")
    if own.queue < other.queue / _TWICE:
        found.append(
            f"the 99th percentile of its longest queue is {_written(_QUEUE, own.queue)}, that of the median "
            f"{_written(_QUEUE, other.queue)}"
        )
    if own.rate * _SLOWER > other.rate:
        found.append(f"its network carries {_written(_RATE, own.rate)}, the median {_written(_RATE, other.rate)}")
    if not found:
        return "Queue, loss and throughput are those of the median competitor."
    return _sentence(found)


def loses(standing: Standing, standings: Sequence[Standing]) -> str:
    """Say why a competitor is bad on a workload, beside the best one."""
    best = standings[0]
    own, other, name = _shown(standing), _shown(best), best.competitor.name
    found = []
    if own.lost > _FEW_LOST and own.lost > _TWICE * other.lost:
        waits = standing.shown.get(_TIMEOUTS, 0)
        after = f", and waits for {_written(_TIMEOUTS, waits)} time-outs" if waits >= 1 else ""
        lost = share(own.lost)
        found.append(f"it {_loses(standing)} {lost} of its frames ({name}: {_share_lost(other.lost)}){after}")
    if own.pauses >= 1 and own.pauses > _TWICE * other.pauses:
        sent = _written(_PAUSES, own.pauses)
        found.append(f"its switches send {sent} pause frames ({name}: {_written(_PAUSES, other.pauses)})")
    if own.queue > max(_TWICE * other.queue, _SHORT_OCTETS):
        found.append(
            f"the 99th percentile of its longest queue is {_written(_QUEUE, own.queue)} "
            f"({name}: {_written(_QUEUE, other.queue)})"
        )
    if own.limited > _TWICE * other.limited:
        found.append(
            f"the slowest path of its job waits {_written(_LIMITED, own.limited)} for rate limits "
            f"({name}: {_written(_LIMITED, other.limited)})"
        )
    if own.rate < _SLOWER * other.rate:
        found.append(f"its network carries {_written(_RATE, own.rate)} ({name}: {_written(_RATE, other.rate)})")
    if own.empty > other.empty + _EMPTIER:
        found.append(
            f"its longest queue is empty for {_written(_EMPTY, own.empty)} of the time "
            f"({name}: {_written(_EMPTY, other.empty)}), so that the line idles"
        )
    if not found and own.middle > other.middle:
        found.append(
            f"its median flow takes {_written(_MIDDLE, own.middle)} times as long as alone "
            f"({name}: {_written(_MIDDLE, other.middle)})"
        )
    if not found:
        return f"Queue, loss, pauses and throughput are no worse than those of {name}."
    return _sentence(found)


def actions(standing: Standing) -> str:
    """Say how often a competitor acted, in a thousand frames that sources sent; empty where it has no actions."""
    counts = per_thousand(standing)
    if pauses := standing.shown.get(_PAUSES, 0):
        counts["pause frames"] = 1000 * pauses / standing.actions[SENT]
    if not counts:
        return ""
    if not any(counts.values()):
        return "It did not act at all."
    listed = ", ".join(f"{number(value)} {name}" for name, value in counts.items())
    return f"In a thousand frames it has {listed}."


def per_thousand(standing: Standing) -> dict[str, float]:
    """Return the actions that the scheme declares, by their names, in a thousand frames that sources sent."""
    sent = standing.actions.get(SENT, 0)
    return {
        action["name"]: 1000 * standing.actions.get(_column(action["name"]), 0) / sent if sent else 0.0
        for action in about(standing.competitor.scheme)["actions"]
    }


def number(value: float) -> str:
    """Write how often something happens in a thousand frames."""
    return (
        "no" if value == 0 else f"{value:.0f}" if value >= 10 else f"{value:.2g}" if value >= 0.1 else "less than 0.1"
    )


@dataclass(frozen=True)
class _Shown:
    """Numbers of a run that may be a cause: a share, octets, bit/s, frames, a ratio, a share, seconds."""

    lost: float
    queue: float
    rate: float
    pauses: float
    middle: float
    empty: float
    limited: float


def _shown(standing: Standing) -> _Shown:
    shown = standing.shown
    sent = standing.actions.get(SENT, 0)
    return _Shown(
        lost=shown.get(_LOST, 0) / sent if sent else 0.0,
        queue=shown.get(_QUEUE, math.nan),
        rate=shown.get(_RATE, math.nan),
        pauses=shown.get(_PAUSES, 0),
        middle=shown.get(_MIDDLE, math.nan),
        empty=shown.get(_EMPTY, math.nan),
        limited=shown.get(_LIMITED, math.nan),
    )


def _medians(standings: Sequence[Standing]) -> _Shown:
    each = [asdict(_shown(standing)) for standing in standings if standing.values]
    known = {key: [one[key] for one in each if not math.isnan(one[key])] for key in each[0]}
    return _Shown(**{key: median(values or [math.nan]) for key, values in known.items()})


def _column(action: str) -> str:
    return f"actions_{action.replace(' ', '_')}"


def _loses(standing: Standing) -> str:
    """Say what becomes of the frames that count as lost: those that were trimmed do, too."""
    return "loses or trims" if standing.actions.get(_column("trims")) else "loses"


def _share_lost(lost: float) -> str:
    return "none" if lost == 0 else share(lost)


def _written(key: str, value: float) -> str:
    return WRITERS[TITLED[key].kind](value)


def _sentence(parts: Sequence[str]) -> str:
    """Join causes as sentences, so that none is long."""
    return " ".join(f"{part[0].upper()}{part[1:]}." for part in parts)
