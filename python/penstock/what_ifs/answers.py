"""The answer of a trial in a sentence with a number: mean over seeds, 95 % interval, and whether settings differ."""

import re
from collections.abc import Mapping

from penstock.metrics.registry import WRITERS
from penstock.metrics.seeds import Statistics
from penstock.quantity_text import count
from penstock.what_ifs.cycles import CycleSearch
from penstock.what_ifs.measuring import about
from penstock.what_ifs.outcome import Measure

_NUMBER = re.compile(r"^([\d.\u202f]+)\s*(.*)$")


def value(name: str, statistics: Statistics) -> str:
    """Write a mean with the half of its 95 % interval, in one unit: ``11.3 ± 0.42 Gb/s``; ``-`` without a value."""
    mean, interval = statistics["mean"], statistics["interval"]
    if mean is None:
        return "-"
    if mean < 0:
        return f"-{_written(name, -mean, interval)}"
    return _written(name, mean, interval)


def _written(name: str, mean: float, interval: list[float] | None) -> str:
    text = WRITERS[about(name).kind](mean)
    half = 0.0 if interval is None else (interval[1] - interval[0]) / 2
    found = _NUMBER.match(text)
    if half == 0 or found is None:
        return text
    number, unit = found.groups()
    shown = float(number.replace("\u202f", ""))
    scaled = half * shown / mean if mean else half
    return f"{number} ± {_two_digits(scaled)}{f' {unit}' if unit else ''}"


def _two_digits(number: float) -> str:
    """Write a number with two digits, without an exponent: ``0.042``, ``3.1``, ``120``."""
    rounded = float(f"{number:.2g}")
    return count(round(rounded)) if rounded >= 10 else f"{rounded:.9f}".rstrip("0").rstrip(".")


def sentence(measure: Measure, clause: str, seeds: int, *, more: str = "") -> str:
    """Say what a number is with the present settings and, if there are some, with those proposed.

    Args:
        measure: the number.
        clause: a clause that begins with a small letter, with ``{}`` for the value.
        seeds: number of seeds.
        more: a remark beside the number of seeds.
    """
    after = f"({_counted(seeds, 'seed')}{f'; {more}' if more else ''})."
    present = value(measure.name, measure.present)
    if measure.proposed is None:
        return f"{_capital(clause.format(present))} {after}"
    proposed = value(measure.name, measure.proposed)
    if measure.differs or (measure.differs is None and proposed != present):
        return f"With the proposed settings {clause.format(proposed)} instead of {present} {after}"
    if proposed == present:
        return f"No difference can be seen: with both settings {clause.format(present)} {after}"
    return f"No difference can be seen: {clause.format(present)}, and with the proposed settings {proposed} {after}"


def of_cycles(found: CycleSearch, measures: Mapping[str, Measure], seeds: int, *, storm: str) -> str:
    """Say whether routes close a circle of buffers, and what became of it in simulation.

    Args:
        found: the search.
        measures: the numbers of the runs, ``deadlocked`` and ``deadlock_s`` among them; empty without runs.
        seeds: number of seeds.
        storm: the host of the storm, where no cycle was found.
    """
    runs = _deadlocks(measures, seeds) if measures else ""
    if not found.cycles:
        shown = f". While all hosts send and {storm} sends a storm of pauses, {runs}" if runs else ""
        return f"None of {count(found.routes)} routes closes a circle of buffers, {_situations(found)}{shown}."
    first = found.cycles[0]
    where = f"with {' and '.join(first.down)} down, " if first.down else ""
    circle = f"{where}{len(first.ports)} buffers wait for one another in a circle: {', '.join(first.ports)}"
    links = "one link" if found.links_down == 1 else "one or two links"
    others = f" (as with {found.with_cycle} of {found.situations} sets of none, {links} down)" if first.down else ""
    return f"{_capital(circle)}{others}{f'. With flows over it {runs}' if runs else ''}."


def _deadlocks(measures: Mapping[str, Measure], seeds: int) -> str:
    """Say how many runs end in a deadlock."""
    deadlocked, since = measures["deadlocked"], measures.get("deadlock_s")
    sides = [("present", deadlocked.present, None if since is None else since.present)]
    if deadlocked.proposed is not None:
        sides.append(("proposed", deadlocked.proposed, None if since is None else since.proposed))
    if len(sides) > 1 and not any(share["mean"] for _, share, _ in sides):
        return f"{_runs(0, seeds)} in a deadlock with either settings"
    parts = []
    for side, share, first in sides:
        number = round((share["mean"] or 0) * seeds)
        when = f", from {value('deadlock_s', first)} on" if number and first is not None else ""
        of_side = f" with the {side} settings" if len(sides) > 1 else ""
        parts.append(f"{_runs(number, seeds)} in a deadlock{of_side}{when}")
    return ", and ".join(parts)


def _runs(number: int, seeds: int) -> str:
    return f"{number or 'none'} of {_counted(seeds, 'run')} {'end' if number > 1 else 'ends'}"


def _situations(found: CycleSearch) -> str:
    if not found.links_down:
        return "with all links up"
    links = "one link" if found.links_down == 1 else "one or two links"
    return f"with all links up or with any {links} of switches down ({found.situations} sets of links)"


def _counted(number: int, word: str) -> str:
    return f"{number} {word}{'s' if number > 1 else ''}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
