"""From what was taken of the runs to answers: a verdict for each claim, and for its negative control."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from penstock.metrics.samples import wasserstein
from penstock.reproduction.claims import Against, Claim, Question, Side, Testable
from penstock.reproduction.execute import Values
from penstock.reproduction.paper import Paper
from penstock.reproduction.plan import Wanted
from penstock.reproduction.prose import number
from penstock.reproduction.verdict import DIFFERS, UNTESTABLE, CombinedValue, Judgement, combine


@dataclass(frozen=True)
class Scope:
    """The questions to a paper."""

    figures: tuple[str, ...]
    short: bool = False
    """One seed each, and of the claims those that one seed can decide."""
    controls: bool = False
    """The negative controls run as well."""
    drawn: bool = True
    """The figures are drawn."""
    first: int | None = None
    """How many of each claim's seeds count, from the first on; all by default."""

    def claims(self, paper: Paper) -> list[Claim]:
        """Return the claims in the order of the figures."""
        wanted = [c for name in self.figures for c in paper.claims if c.figure == name]
        return [c for c in wanted if not self.short or c.testable is None or c.testable.short]

    def seeds(self, testable: Testable) -> tuple[int, ...]:
        """Return the seeds of a claim."""
        return testable.seeds[:1] if self.short else testable.seeds[: self.first]

    def wanted(self, paper: Paper) -> list[Wanted]:
        """Return all that is to be taken from runs."""
        found = []
        for claim in self.claims(paper):
            if claim.testable is not None:
                found += claim.testable.question.wanted(self.seeds(claim.testable))
                if self.controls:
                    found += claim.testable.control.wanted(self.seeds(claim.testable))
        if self.drawn:
            drawings = [d for name, d in paper.drawings.entries.items() if name in self.figures]
            found += [source.wanted(self.short) for drawing in drawings for source in drawing.sources.values()]
        return found


@dataclass(frozen=True)
class ClaimResult:
    """A claim with what was measured."""

    claim: Claim
    spreads: tuple[CombinedValue, ...]
    """One, or one for each run of an order; none if the claim cannot be tested or no seed has the number."""
    judgement: Judgement
    control: Judgement | None = None
    """How the negative control came out; it must differ. ``None`` if it did not run."""

    @property
    def control_fails(self) -> bool:
        """Whether the negative control fails the claim, as it must; true where it did not run."""
        return self.control is None or self.control.verdict == DIFFERS


def answer(claim: Claim, scope: Scope, values: Values) -> ClaimResult:
    """Judge a claim, and its negative control if that ran."""
    testable = claim.testable
    if testable is None:
        return ClaimResult(claim, (), Judgement(UNTESTABLE, claim.untestable))
    spreads, judgement = _judge(testable, testable.question, scope, values)
    control = _judge(testable, testable.control, scope, values)[1] if scope.controls else None
    return ClaimResult(claim, spreads, judgement, control)


def _judge(
    testable: Testable, question: Question, scope: Scope, values: Values
) -> tuple[tuple[CombinedValue, ...], Judgement]:
    seeds = scope.seeds(testable)
    spreads = []
    lacking = 0
    for side in question.sides:
        numbers = _numbers(side, question, seeds, values)
        known = [number for number in numbers if number is not None]
        # A seed without the number is none of those that keep to a bound.
        counted = [float("nan") if n is None else n for n in numbers] if testable.over == "share" else known
        lacking += len(numbers) - len(known)
        if not counted:
            return (), Judgement(DIFFERS, f"none of {len(seeds)} seeds has this number")
        spreads.append(combine(counted, testable.over, testable.good))
    judgement = testable.test.judge(spreads, lambda value: number(testable, value))
    if lacking and testable.over != "share":
        missing = f"{lacking} of {len(seeds) * len(question.sides)} runs have no such number"
        judgement = Judgement(judgement.verdict, f"{judgement.why}; {missing}" if judgement.why else missing)
    return tuple(spreads), judgement


def _numbers(side: Side, question: Question, seeds: Sequence[int], values: Values) -> list[float | None]:
    own = [values[side.run, side.quantity, seed] for seed in seeds]
    if question.against is not None:
        other = [values[question.against.run, question.against.quantity, seed] for seed in seeds]
        pairs = zip(own, other, strict=True)
        own = [None if x is None or y is None else _compared(x, y, question.compare) for x, y in pairs]
    return [None if x is None else float(x) * question.scaled for x in own]


def _compared(x: Any, y: Any, compare: Against) -> float:
    """Return the ratio or the difference of two numbers, or the distance of two samples' distributions."""
    if compare == "distance":
        return wasserstein(x, y)
    if compare == "difference":
        return float(x - y)
    return x / y if y else float("nan")
