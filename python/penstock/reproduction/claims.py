"""A claim of a paper: its statement, the runs that answer it, the test, and the negative control that must fail it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from penstock.reproduction.plan import Quantity, Run, Setting, Wanted
from penstock.reproduction.verdict import OVER, Bound, Consistent, Ordered, Over, Test, Within
from penstock.toml_reader import MOST, Table

Against = Literal["ratio", "difference", "distance"]
_BETWEEN: Mapping[Against, str] = {"ratio": "over", "difference": "minus", "distance": "at a distance from"}

KEYS = (
    "id", "figure", "says", "paper", "metric", "with", "run", "runs", "against", "compare", "over", "good", "seeds",
    "test", "because", "control", "short", "untestable",
)  # fmt: skip
_TESTS = ("within", "within_percent", "at_least", "at_most", "between", "consistent", "rising")
_RUN_KEYS = ("experiment", "scheme", "set", "with")
_MOST_SEEDS = 10_000
_CONTROL_KEYS = (*_RUN_KEYS, "against", "scaled", "says")


@dataclass(frozen=True)
class Side:
    """A quantity of a run: one side of a claim."""

    run: Run
    quantity: Quantity

    def wanted(self, seeds: tuple[int, ...]) -> Wanted:
        """Return what is to be run for it."""
        return Wanted(self.run, self.quantity, seeds)

    def __str__(self) -> str:
        return f"{self.quantity} of {self.run}"


@dataclass(frozen=True)
class Question:
    """The question to runs: sides that give a number a seed, which the test judges."""

    sides: tuple[Side, ...]
    """One; or several, whose numbers are to rise in this order."""
    against: Side | None = None
    """The number is the ratio of each side to this one, or the difference, or the distance of the samples that both
    give (Wasserstein), seed by seed."""
    compare: Against = "ratio"
    scaled: float = 1.0
    """The factor of a shifted input: every number is multiplied by it."""

    def wanted(self, seeds: tuple[int, ...]) -> list[Wanted]:
        """Return what is to be run for it."""
        sides = [*self.sides] if self.against is None else [*self.sides, self.against]
        return [side.wanted(seeds) for side in sides]


@dataclass(frozen=True)
class Testable:
    """How a claim is tested."""

    question: Question
    over: Over
    good: Bound | None
    seeds: tuple[int, ...]
    test: Test
    because: str
    """Why this test, and why this tolerance."""
    control: Question
    control_says: str
    short: bool
    """Whether one seed can decide it."""

    @property
    def metric(self) -> str:
        """The quantity in a line."""
        question = self.question
        text = str(question.sides[0].quantity)
        if question.against is not None:
            word = _BETWEEN[question.compare]
            other = question.against
            same = other.quantity == question.sides[0].quantity
            text = f"{text} {word} that of {other.run}" if same else f"{text} {word} {other}"
        combined = {"share": f"share of seeds with it {self.good}"}.get(self.over, f"{self.over} of the seeds")
        runs = " → ".join(str(side.run) for side in question.sides)
        return f"{text}; {combined}; {runs}"


@dataclass(frozen=True)
class Claim:
    """One row: a figure's or a table's claim."""

    id: str
    figure: str
    says: str
    paper: float | str
    testable: Testable | None
    untestable: str
    """Why it cannot be tested; empty if it can."""


class ClaimReader:
    """Reads the rows of claims.toml, with what the paper knows: figures, experiments, metrics."""

    def __init__(self, figures: set[str], build: "RunBuilder") -> None:
        self._figures = figures
        self._build = build

    def read(self, table: Table) -> Claim:
        """Read a row.

        Raises:
            PaperError: it is not a valid claim.
        """
        name = table.text("id")
        table.path = f"claim {name}"
        figure = table.word("figure", self._figures)
        says = table.text("says")
        paper = table.raw("paper")
        number = isinstance(paper, int | float) and not isinstance(paper, bool) and abs(paper) < MOST
        if not number and (not isinstance(paper, str) or not paper):
            raise table.error(
                "paper", f"{paper!r} is neither a number nor a text", "write the number or the statement of the paper"
            )
        paper = paper if isinstance(paper, str) else float(paper)
        untestable = table.text("untestable", "")
        testable = None if untestable else self._testable(table, paper)
        table.end(KEYS)
        return Claim(name, figure, says, paper, testable, untestable)

    def _testable(self, table: Table, paper: float | str) -> Testable:
        metric = table.text("metric")
        arguments = table.table("with").values
        question = self._question(table, metric, arguments)
        over = table.word("over", OVER, "mean")
        good = _bound(table.table("good")) if table.has("good") else None
        if (over == "share") != (good is not None):
            raise table.error(
                "good",
                'over = "share" needs a bound, and no other value of over has one',
                "write good = { at_least = 0.8 }",
            )
        test = _test(table.table("test"), paper)
        if isinstance(test, Ordered) != (len(question.sides) > 1):
            raise table.error(
                "test",
                "rising needs a list of runs, and only rising has one",
                "write runs = [ … ] for it, and run = { … } otherwise",
            )
        if isinstance(test, Consistent) and over != "share":
            raise table.error("test", "consistent compares two counts of seeds", 'write over = "share"')
        control = table.table("control")
        control_says = control.text("says", "")
        return Testable(
            question=question,
            over=over,  # type: ignore[arg-type]  # one of OVER
            good=good,
            seeds=_seeds(table),
            test=test,
            because=table.text("because"),
            control=self._control(control, question),
            control_says=control_says,
            short=table.switch("short", False),
        )

    def _question(self, table: Table, metric: str, arguments: Mapping[str, Any]) -> Question:
        if table.has("runs") == table.has("run"):
            raise table.error("run", "a claim needs either run or runs", 'run = { experiment = "…", scheme = "…" }')
        tables = table.tables("runs") if table.has("runs") else [table.table("run")]
        sides = tuple(self._side(own, table, metric, arguments) for own in tables)
        against = self._side(table.table("against"), table, metric, arguments) if table.has("against") else None
        compare = table.word("compare", tuple(_BETWEEN), "ratio")
        return Question(sides, against, compare)  # type: ignore[arg-type]  # one of the words

    def _side(self, table: Table, claim: Table, metric: str, arguments: Mapping[str, Any]) -> Side:
        """Read a run of a claim; its own arguments go before the claim's."""
        merged = {**arguments, **table.table("with").values}
        run = self._build.run(table)
        table.end(_RUN_KEYS)
        return Side(run, self._build.quantity(claim, metric, merged))

    def _control(self, table: Table, question: Question) -> Question:
        """Return the question of the negative control: the claim's own, with another run, or with shifted numbers."""
        if not table.values:
            raise table.error(None, "is missing", 'for instance control = { scheme = "none" } or { scaled = 2.0 }')
        scaled = table.number("scaled") if table.has("scaled") else 1.0
        against = question.against
        if table.has("against"):
            if against is None:
                raise table.error("against", "the claim itself has no against", "leave it out of the control")
            against = self._varied(table.table("against"), against)
        sides = tuple(self._varied(_copy(table), side) for side in question.sides)
        changed = Question(sides, against, question.compare, scaled)
        if changed == question:
            raise table.error(None, "asks the same as the claim", "name another scheme, other settings, or scaled = …")
        for key in _RUN_KEYS:
            table.raw(key)
        table.end(_CONTROL_KEYS)
        return changed

    def _varied(self, table: Table, side: Side) -> Side:
        arguments = {**side.quantity.keywords(), **table.table("with").values}
        run = self._build.run(table, side.run)
        return Side(run, self._build.quantity(table, side.quantity.metric, arguments))


class RunBuilder(Protocol):
    """The part of a paper that its claims need; a paper implements it."""

    def run(self, table: Table, base: Run | None = None) -> Run:
        """Take ``experiment``, ``scheme`` and ``set``; ``base`` has those that are not there."""
        ...

    def quantity(self, table: Table, metric: str, arguments: Mapping[str, Any]) -> Quantity:
        """Check that the metric is known and takes the arguments."""
        ...


def settings(table: Table) -> dict[str, Setting]:
    """Read a table of dotted paths and plain values.

    Raises:
        PaperError: a value is a table, or a list of something else than names.
    """
    found: dict[str, Setting] = {}
    for key, value in table.values.items():
        if isinstance(value, list) and all(isinstance(name, str) for name in value):
            found[key] = tuple(value)
        elif isinstance(value, str | int | float):
            found[key] = value
        else:
            raise table.error(
                f'"{key}"', f"{value!r} is not a plain value", 'put the whole path in quotes: "a.b.c" = …'
            )
    return found


def _copy(table: Table) -> Table:
    return replace(table, values=dict(table.values))


def _seeds(table: Table) -> tuple[int, ...]:
    value = table.raw("seeds", 1)
    if (isinstance(value, int) and value > _MOST_SEEDS) or (isinstance(value, list) and len(value) > _MOST_SEEDS):
        raise table.error("seeds", "too many seeds", f"write at most {_MOST_SEEDS}")
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return tuple(range(1, value + 1))
    whole = isinstance(value, list) and all(isinstance(s, int) and not isinstance(s, bool) and s >= 0 for s in value)
    if not whole or not value or len(set(value)) < len(value):
        raise table.error("seeds", f"{value!r} is neither a count nor a list of seeds", "seeds = 20, or seeds = [7, 9]")
    return tuple(value)


def _bound(table: Table) -> Bound:
    at_least = table.number("at_least") if table.has("at_least") else None
    at_most = table.number("at_most") if table.has("at_most") else None
    if at_least is None and at_most is None:
        raise table.error(None, "needs a bound", "write { at_least = 0.8 }")
    table.end(("at_least", "at_most"))
    return Bound(at_least, at_most)


def _test(table: Table, paper: float | str) -> Test:
    if len(table.values) != 1:
        raise table.error(None, "needs exactly one key", f"write one of {', '.join(_TESTS)}")
    (kind,) = table.values
    if kind in ("within", "within_percent"):
        if isinstance(paper, str):
            raise table.error(kind, "`paper` has to be a number for this test", "write, for instance, paper = 0.9997")
        width = table.number(kind) * (abs(paper) / 100 if kind == "within_percent" else 1)
        return Within(Bound(paper - width, paper + width))
    if kind == "at_least":
        return Within(Bound(at_least=table.number(kind)))
    if kind == "at_most":
        return Within(Bound(at_most=table.number(kind)))
    if kind == "between":
        ends = table.raw(kind)
        if not (
            isinstance(ends, list)
            and len(ends) == 2
            and all(isinstance(x, int | float) and abs(x) < MOST for x in ends)
        ):
            raise table.error(kind, f"{ends!r} is not a pair of numbers", "write between = [0.5, 1.5]")
        return Within(Bound(float(ends[0]), float(ends[1])))
    if kind == "consistent":
        count = re.fullmatch(r"(\d+) of (\d+).*", str(paper))
        if count is None or int(count[1]) > int(count[2]):
            raise table.error(kind, f"`paper` is not a count of seeds: {paper!r}", 'write paper = "7 of 20 seeds"')
        return Consistent(int(count[1]), int(count[2]), table.number(kind))
    if kind == "rising":
        return Ordered(table.number(kind))
    raise table.error(kind, "unknown test", f"use one of {', '.join(_TESTS)}")
