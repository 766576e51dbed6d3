"""Quantities as people read them: three digits and a unit, powers of 1000 as everywhere in Penstock."""

from penstock import _core

UNDRAWN = "note: nothing in {} is drawn: the seeds give the same run; see network.clock_tolerance, and start of flows"
"""The note where seeds give identical runs; ``{}`` is the scenario."""


def octets(count: float) -> str:
    """Write a number of octets, such as ``33.1 KB``."""
    return _core.show_quantity(count, "octets")


def bit_rate(bps: float) -> str:
    """Write a rate given in bit/s, such as ``119 Mb/s``."""
    return _core.show_quantity(bps, "bit/s")


def fair_rate(bps: float) -> str:
    """Write a flow's fair share; it is zero where none is computed, as beside loads."""
    return bit_rate(bps) if bps > 0 else "-"


def duration(seconds: float) -> str:
    """Write a time given in s, such as ``3.7 ms``."""
    return _core.show_quantity(seconds, "s")


def events(per_second: float) -> str:
    """Write a number of events, such as ``18.2 M``."""
    return _core.show_quantity(per_second, "count")


def ratio(number: float) -> str:
    """Write a plain number, such as ``1.78``."""
    return f"{number:.3g}" if number < 999.5 else count(round(number))


def count(number: int) -> str:
    """Write a whole number with its digits in groups, such as ``1 234 567``."""
    return f"{number:,}".replace(",", "\u202f")


def share(fraction: float) -> str:
    """Write a fraction as per cent, such as ``95.2 %``."""
    return _core.show_share(fraction)
