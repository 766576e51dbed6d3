"""Claims and answers as people read them, numbers with the unit that the end of a metric's name is."""

import math
from typing import TYPE_CHECKING

from penstock.quantity_text import bit_rate, duration, octets
from penstock.reproduction.claims import Claim, Testable
from penstock.reproduction.verdict import CombinedValue, Within

if TYPE_CHECKING:
    from penstock.reproduction.claim_results import ClaimResult

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


def paper_value(claim: Claim) -> str:
    """Return what the paper reports."""
    if isinstance(claim.paper, str):
        return claim.paper
    return f"{claim.paper:g}" if claim.testable is None else number(claim.testable, claim.paper)


def ours(answer: "ClaimResult") -> str:
    """Return what we measure."""
    testable = answer.claim.testable
    if testable is None or not answer.spreads:
        return "–"
    return " → ".join(_value(testable, spread) for spread in answer.spreads)


def spread(answer: "ClaimResult") -> str:
    """Return how far the seeds lie apart."""
    testable = answer.claim.testable
    if testable is None or len(answer.spreads) != 1:
        return ""
    (only,) = answer.spreads
    if only.good is not None:
        return f"95 % interval {only.low:.0%} to {only.high:.0%}"
    if only.seeds == 1:
        return "1 seed"
    return f"{number(testable, only.low)} to {number(testable, only.high)}, {only.seeds} seeds"


def test(testable: Testable) -> str:
    """Return what the test accepts."""
    if not isinstance(testable.test, Within):
        return str(testable.test)
    bound = testable.test.bound
    ends = [None if end is None else number(testable, end) for end in (bound.at_least, bound.at_most)]
    if None not in ends:
        return f"{ends[0]} to {ends[1]}"
    return f"at least {ends[0]}" if ends[1] is None else f"at most {ends[1]}"


def _value(testable: Testable, spread: CombinedValue) -> str:
    return f"{spread.good} of {spread.seeds} seeds" if spread.good is not None else number(testable, spread.value)
