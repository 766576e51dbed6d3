"""The answers as one document, which ``penstock reproduce --json`` prints and ``reproduce.json`` holds."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock.reproduction.claim_results import ClaimResult, Scope
from penstock.reproduction.execute import Values
from penstock.reproduction.paper import Paper
from penstock.reproduction.verdict import DIFFERS, HOLDS, UNTESTABLE, CombinedValue


@dataclass(frozen=True)
class Reproduced:
    """A paper with its answers.

    Attributes:
        paper: the paper.
        figures: names of the figures and tables that were asked for.
        answers: one for each claim, in the order of the figures.
        scope: the questions to the paper.
        values: the values that were taken from its runs.
    """

    paper: Paper
    figures: tuple[str, ...]
    answers: tuple[ClaimResult, ...]
    scope: Scope
    values: Values = field(repr=False)

    def of(self, figure: str) -> list[ClaimResult]:
        """Return the answers to the claims of a figure."""
        return [answer for answer in self.answers if answer.claim.figure == figure]


def document(papers: Sequence[Reproduced]) -> dict[str, Any]:
    """Return the document."""
    return {
        "papers": [
            {
                "name": entry.paper.name,
                "figures": [
                    {"name": figure, "claims": [_row(answer) for answer in entry.of(figure)]}
                    for figure in entry.figures
                ],
            }
            for entry in papers
        ],
        "totals": totals([answer for entry in papers for answer in entry.answers]),
    }


def totals(answers: Sequence[ClaimResult]) -> dict[str, int]:
    """Count the verdicts."""
    verdicts = [answer.judgement.verdict for answer in answers]
    return {
        "claims": len(verdicts),
        "holds": verdicts.count(HOLDS),
        "differs": verdicts.count(DIFFERS),
        "untestable": verdicts.count(UNTESTABLE),
    }


def why(answer: ClaimResult) -> str:
    """Return by how much a claim is missed, and why its test is what it is; or why there is none."""
    parts = [answer.judgement.why]
    if answer.claim.testable is not None:
        parts.append(answer.claim.testable.because)
    if not answer.control_fails:
        parts.append("the negative control does not fail it")
    return ". ".join(part.rstrip(".") for part in parts if part)


def _row(answer: ClaimResult) -> dict[str, Any]:
    testable = answer.claim.testable
    several = len(answer.spreads) > 1
    ours = [_number(spread.value) for spread in answer.spreads]
    spreads = [_spread(spread) for spread in answer.spreads]
    return {
        "id": answer.claim.id,
        "metric": testable.metric if testable else None,
        "paper": answer.claim.paper,
        "ours": ours if several else ours[0] if ours else None,
        "spread": spreads if several else spreads[0] if spreads else None,
        "tolerance": str(testable.test) if testable else None,
        "verdict": answer.judgement.verdict,
        "why": why(answer),
    }


def _spread(spread: CombinedValue) -> dict[str, Any]:
    entry: dict[str, Any] = {"seeds": spread.seeds, "low": _number(spread.low), "high": _number(spread.high)}
    if spread.good is not None:
        entry["good"] = spread.good
    else:
        entry["std"] = None if spread.std is None else _number(spread.std)
    return entry


def _number(value: float) -> float | None:
    """JSON has no infinity and no other number that is none."""
    return value if math.isfinite(value) else None
