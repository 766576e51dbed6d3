"""The answer of a trial in a sentence with a number: mean over seeds, 95 % interval, and whether settings differ."""

import re
from collections.abc import Mapping, Sequence

from penstock.metrics.registry import WRITERS
from penstock.metrics.seeds import Statistics
from penstock.what_ifs.cycles import Cycle, CycleSearch
from penstock.what_ifs.measuring import about

_NUMBER = re.compile(r"^([\d.\u202f]+)\s*(.*)$")

Sides = Mapping[str, Statistics]
"""A number over the seeds, by side: ``present`` and, where there is a proposal, ``proposed``."""


def value(name: str, statistics: Statistics) -> str:
    """Write a mean with the half of its 95 % interval, in one unit: ``11.3 ± 0.42 Gb/s``; ``-`` without a value."""
    mean, interval = statistics["mean"], statistics["interval"]
    if mean is None:
        return "-"
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
    return f"{rounded:.0f}" if rounded >= 10 else f"{rounded:.9f}".rstrip("0").rstrip(".")


def apart(sides: Sides) -> bool | None:
    """Return whether the 95 % intervals of both sides lie apart; ``None`` without two sides that have an interval."""
    intervals = [statistics["interval"] for statistics in sides.values()]
    if len(intervals) < 2 or None in intervals:
        return None
    (low, high), (other_low, other_high) = intervals  # type: ignore[misc]
    return high < other_low or other_high < low


def sentence(name: str, sides: Sides, clause: str, seeds: int, *, more: str = "") -> str:
    """Say what a number is with the present settings and, if there are some, with those proposed.

    Args:
        name: the number's name.
        sides: its values.
        clause: a clause that begins with a small letter, with ``{}`` for the value.
        seeds: number of seeds.
        more: what stands beside the number of seeds.
    """
    after = f"({_seeds(seeds)}{f'; {more}' if more else ''})."
    present = value(name, sides["present"])
    if "proposed" not in sides:
        return f"{_capital(clause.format(present))} {after}"
    proposed = value(name, sides["proposed"])
    differ = apart(sides)
    if differ or (differ is None and sides["present"]["mean"] != sides["proposed"]["mean"]):
        return f"With the proposed settings {clause.format(proposed)} instead of {present} {after}"
    return f"No difference can be seen: {clause.format(present)}, and with the proposed settings {proposed} {after}"


def of_cycles(found: CycleSearch, deadlocked: Sides | None, seeds: int, *, storm: str) -> str:
    """Say whether routes close a circle of buffers, and what simulation makes of it."""
    routes = f"{found.routes} routes"
    if not found.cycles:
        shown = ""
        if deadlocked is not None:
            shown = f"; with all hosts sending and a storm of {storm}, {_runs(deadlocked, seeds)} in a deadlock"
        return f"None of {routes} closes a circle of buffers, {_situations(found)}{shown}."
    first = found.cycles[0]
    circle = f"{_capital(_where(first))}{len(first.ports)} buffers wait for one another in a circle"
    of = f"{found.with_cycle} of {found.situations} sets of links leave such a circle" if found.links_down else ""
    text = f"{circle}: {', '.join(first.ports)}{f'; {of}' if of else ''}"
    return f"{text}." if deadlocked is None else f"{text}. In simulation {_runs(deadlocked, seeds)} in a deadlock there."


def _runs(deadlocked: Sides, seeds: int) -> str:
    parts = {side: round((statistics["mean"] or 0) * seeds) for side, statistics in deadlocked.items()}
    of = f"of {seeds} run{'s' if seeds > 1 else ''} {'end' if seeds > 1 else 'ends'}"
    text = f"{parts['present'] or 'none'} {of}"
    return f"{text} with the present and {parts['proposed'] or 'none'} with the proposed settings" if "proposed" in parts else text


def _where(cycle: Cycle) -> str:
    return f"with {' and '.join(cycle.down)} down " if cycle.down else ""


def _situations(found: CycleSearch) -> str:
    if not found.links_down:
        return "with all links up"
    number = "any one link" if found.links_down == 1 else "any one or two links"
    return f"with all links up or {number} between switches down ({found.situations} sets of links)"


def _seeds(number: int) -> str:
    return f"{number} seed{'s' if number > 1 else ''}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def notes_of(runs: Sequence[Sequence[str]]) -> list[str]:
    """Return the notes of runs, each once."""
    return list(dict.fromkeys(note for notes in runs for note in notes))
