"""Faults on the time axis: links while they are down, changes of their rate, hosts while they pause the network."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

from penstock._core import read_quantity
from penstock.figures.style import DROP, REFERENCE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from penstock.result import Result

_STORM = "#DDAA33"
_MOST = 200
"""The most of them that are drawn: those of a link that flaps for longer would be a grey area."""


@dataclass(frozen=True, order=True)
class Fault:
    """A fault of a run.

    Attributes:
        start_s: when it begins, s.
        stop_s: when it ends, s; infinite if it lasts, and ``start_s`` for what happens at an instant.
        text: its name on the page.
        storm: whether it is a storm of pause frames.
    """

    start_s: float
    stop_s: float
    text: str
    storm: bool = False


def faults(result: "Result") -> list[Fault]:
    """Return the faults of a run in the order of time, from its ``[[change]]`` and ``[[event]]`` tables."""
    text = result.scenario_toml
    if "[[change]]" not in text and "[[event]]" not in text:
        return []
    document = tomllib.loads(text)
    end_s = _seconds(document["duration"])
    changes = [change for change in document.get("change", []) if "link" in change]
    found = [fault for change in changes for fault in _of_link(change, changes, end_s)]
    convergence = document["network"].get("convergence", "never")
    if isinstance(convergence, str) and convergence != "never":
        of_state = [fault for fault in found if fault.stop_s > fault.start_s]
        new_s = [at_s + _seconds(convergence) for fault in of_state for at_s in (fault.start_s, fault.stop_s)]
        found += [Fault(at_s, at_s, "new routes") for at_s in new_s if at_s < end_s]
    for event in document.get("event", []):
        until_s = _seconds(event["until"]) if "until" in event else inf
        found.append(Fault(_seconds(event["from"]), until_s, f"{event['kind']} of {event['host']}", storm=True))
    return sorted(set(found))


def _of_link(change: dict[str, Any], changes: Sequence[dict[str, Any]], end_s: float) -> list[Fault]:
    link, at_s = change["link"], _seconds(change["at"])
    if "rate" in change:
        return [Fault(at_s, at_s, f"{link} at {change['rate']}")]
    if change.get("state") != "down":
        return []
    repaired = (_seconds(other["at"]) for other in changes if other["link"] == link and other.get("state") == "up")
    back_s = min((up_s for up_s in repaired if up_s > at_s), default=inf)
    lasts_s = _seconds(change["down_for"]) if "down_for" in change else back_s - at_s
    every_s = _seconds(change["every"]) if "every" in change else inf
    last_s = min(end_s, _seconds(change["until"])) if "until" in change else end_s
    count = min(change.get("times", _MOST), _MOST) if every_s < inf else 1
    starts_s = [at_s + i * every_s if i else at_s for i in range(count)]
    return [Fault(start_s, start_s + lasts_s, f"{link} down") for start_s in starts_s if start_s < last_s]


def draw_faults(axes: "Axes", found: Sequence[Fault], shown_s: float, *, named: bool = True) -> None:
    """Shade the time of each fault, and draw a line where one happens at an instant; ``named``: the legend has them."""
    known: set[str] = set()
    for fault in found[:_MOST]:
        label = fault.text if named and fault.text not in known else None
        known.add(fault.text)
        if fault.stop_s > fault.start_s:
            colour, alpha = (_STORM, 0.2) if fault.storm else (DROP, 0.1)
            stop_s = min(fault.stop_s, shown_s)
            axes.axvspan(fault.start_s, stop_s, color=colour, alpha=alpha, linewidth=0, label=label, zorder=0)
        else:
            axes.axvline(fault.start_s, color=REFERENCE, linewidth=0.8, linestyle=(0, (1, 2)), label=label, zorder=0)


def _seconds(text: str) -> float:
    return float(read_quantity(text, "s"))
