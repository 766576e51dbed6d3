"""Claims and answers as people read them."""

from penstock.reproduction.claim_results import ClaimResult
from penstock.reproduction.claims import Claim, Testable
from penstock.reproduction.units import number
from penstock.reproduction.verdict import CombinedValue, Within


def paper_value(claim: Claim) -> str:
    """Return what the paper reports."""
    if isinstance(claim.paper, str):
        return claim.paper
    return f"{claim.paper:g}" if claim.testable is None else number(claim.testable, claim.paper)


def ours(answer: ClaimResult) -> str:
    """Return what we measure."""
    testable = answer.claim.testable
    if testable is None or not answer.spreads:
        return "–"
    return " → ".join(_value(testable, spread) for spread in answer.spreads)


def spread(answer: ClaimResult) -> str:
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
