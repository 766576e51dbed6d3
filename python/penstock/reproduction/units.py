"""Numbers of claims with their units: the end of a metric's name is its unit."""

import math

from penstock.quantity_text import bit_rate, duration, octets
from penstock.reproduction.claims import Testable

_UNITS = {"octets": octets, "bps": bit_rate, "s": duration}


def number(testable: Testable, value: float) -> str:
    """Return a number with the unit of the claim's metric; a ratio has none, and a distance of samples is in theirs."""
    if math.isnan(value):
        return "not a number"
    question = testable.question
    metric = question.sides[0].quantity.metric
    unit = metric.rpartition("_")[2]
    if testable.over == "share":
        return f"{value:.0%} of seeds"
    if question.against and question.compare == "ratio":
        return f"{value:.4g}"
    if unit in _UNITS:
        return f"{'-' if value < 0 else ''}{_UNITS[unit](abs(value))}"
    if unit == "frames" or metric.startswith("frames_"):
        return f"{value:.0f} frames" if abs(value) >= 1000 else f"{value:.4g} frames"
    if unit == "percent":
        return f"{value:.4g} %"
    # Shares near 1, such as utilisations, tell by their distance from it.
    return f"{value:.6f}" if 0.99 < value < 1 else f"{value:.4g}"
