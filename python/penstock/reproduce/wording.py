"""Numbers of claims as people read them: the end of a metric's name is its unit."""

from penstock.reproduce.answer import Answer
from penstock.reproduce.claims import Claim, Testable
from penstock.reproduce.verdict import Spread, Within
from penstock.text import bit_rate, duration, octets

_UNITS = {"octets": octets, "bps": bit_rate, "s": duration}


def paper_value(claim: Claim) -> str:
    """Return what the paper reports."""
    if isinstance(claim.paper, str):
        return claim.paper
    return f"{claim.paper:g}" if claim.testable is None else number(claim.testable, claim.paper)


def ours(answer: Answer) -> str:
    """Return what we measure."""
    testable = answer.claim.testable
    if testable is None or not answer.spreads:
        return "–"
    return " → ".join(_value(testable, spread) for spread in answer.spreads)


def spread(answer: Answer) -> str:
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
    ends = [None if end is None else _plain(testable, end) for end in (bound.at_least, bound.at_most)]
    if None not in ends:
        return f"{ends[0]} to {ends[1]}"
    return f"at least {ends[0]}" if ends[1] is None else f"at most {ends[1]}"


def number(testable: Testable, value: float) -> str:
    """Return a number with the unit of the claim's metric; a ratio has none."""
    unit = testable.question.sides[0].quantity.metric.rpartition("_")[2]
    if testable.over == "share" or (testable.question.against and testable.question.compare == "ratio"):
        return f"{value:.4g}"
    if unit in _UNITS and value >= 0:
        return _UNITS[unit](value)
    if unit == "frames" and abs(value) >= 1000:
        return f"{value:.0f}"
    # Shares near 1, such as utilisations, tell by their distance from it.
    return f"{value:.6f}" if 0.99 < value < 1 else f"{value:.4g}"


def _plain(testable: Testable, value: float) -> str:
    """Return a limit of a test; of a share of seeds, in per cent."""
    return f"{value:.0%} of seeds" if testable.over == "share" else number(testable, value)


def _value(testable: Testable, spread: Spread) -> str:
    return f"{spread.good} of {spread.seeds} seeds" if spread.good is not None else number(testable, spread.value)
