"""Lessons in a notebook: scenarios with keys set, questions whose answers are simulated, tasks that a run is judged by.

``tools/lesson_notebooks.py`` writes the notebooks, which call this module. The page has the same in ``lab/src/quiz.ts``
and ``lab/src/task.ts``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any, Literal

from penstock import _core
from penstock.errors import ArgumentError
from penstock.result import Result
from penstock.scenario import Scenario

if TYPE_CHECKING:
    from penstock.figures.style import Drawn

Unit = Literal["", "%", "bit/s", "octets", "s"]
"""The unit of a number: ``%`` of a part of one, ``""`` of an index or a count."""

Measure = Literal["value", "second", "ratio", "largest", "smallest"]
"""What decides on the right choice."""


def prepared(name: str, keys: Mapping[str, str]) -> Scenario:
    """Return a scenario of the library with some of its keys set.

    Raises:
        ScenarioError: no scenario has this name, or a key leads nowhere.
    """
    scenario = Scenario.named(name)
    for key, value in keys.items():
        scenario.set(key, value)
    return scenario


def number(result: Result, path: Sequence[str]) -> float:
    """Return the number at the end of a path through a summary: keys, and names in lists.

    Raises:
        ArgumentError: the path does not lead to a number.
    """
    value: Any = result.summary
    for part in path:
        if isinstance(value, list):
            value = next((own for own in value if own["name"] == part), None)
        else:
            value = value.get(part) if isinstance(value, dict) else None
    if not isinstance(value, int | float):
        raise ArgumentError(f"the summary has no number at {' '.join(path)}")
    return float(value)


def written(value: float, unit: Unit) -> str:
    """Return a number with its unit, as a verdict has it."""
    if unit == "%":
        return f"{100 * value:.1f} %"
    if unit == "":
        return f"{value:.3f}" if abs(value) <= 1 else f"{value:.0f}"
    return _core.show_quantity(float(f"{value:.3g}"), unit)


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question, and the runs that answer it.

    Attributes:
        runs: the scenarios by their labels, such as "without QCN".
        path: path to a number of each summary.
        name: name of the number.
        unit: its unit.
        measure: ``value`` of the first run, or ``second``; ``ratio`` of the second number to the first; or the run with
            the ``largest`` or ``smallest``.
        choices: texts, with the range that makes each right: from this up to below that.
        why: the reason, for after the answer.
    """

    runs: Mapping[str, Scenario]
    path: Sequence[str]
    name: str
    unit: Unit
    measure: Measure
    choices: Sequence[tuple[str, float, float]]
    why: str

    def answer(self, letter: str) -> "Drawn | None":
        """Simulate the answer, print the verdict on a choice, and return the numbers as bars where there are several.

        Args:
            letter: the choice: a for the first one, b for the second.

        Raises:
            ArgumentError: there is no such choice.
        """
        letters = "abcdefgh"[: len(self.choices)]
        if len(letter) != 1 or letter not in letters:
            raise ArgumentError(f"{letter!r} is no choice: write one of {', '.join(letters)} between the quotes")
        found = {label: number(scenario.run(), self.path) for label, scenario in self.runs.items()}
        right = self._right(list(found.values()))
        said = ", ".join(f"{written(value, self.unit)} {label}".rstrip() for label, value in found.items())
        verdict = "Right" if letters.index(letter) == right else f"Not so: {self.choices[right][0]}"
        print(f"{verdict}. The simulation gives {self.name}: {said}.\n{self.why}")
        return _bars(self.name, self.unit, found) if len(found) > 1 else None

    def _right(self, numbers: Sequence[float]) -> int:
        if self.measure in ("largest", "smallest"):
            return numbers.index(max(numbers) if self.measure == "largest" else min(numbers))
        at = {"value": 0, "second": 1, "ratio": 1}[self.measure]
        wanted = numbers[at] / numbers[0] if self.measure == "ratio" else numbers[at]
        return next(place for place, (_, least, below) in enumerate(self.choices) if least <= wanted < below)


@dataclass(frozen=True, kw_only=True)
class Goal:
    """A number of a summary, and where it is to be.

    Attributes:
        path: path to the number.
        name: its name.
        unit: its unit.
        least: the number is to be this, or more.
        below: and less than this.
    """

    path: Sequence[str]
    name: str
    unit: Unit
    least: float = -inf
    below: float = inf


def judge(scenario: Scenario, goals: Sequence[Goal]) -> bool:
    """Run a scenario, print whether it is what was asked for, and return that."""
    result = scenario.run()
    all_reached = True
    for goal in goals:
        found = number(result, goal.path)
        reached = goal.least <= found < goal.below
        all_reached &= reached
        asked = [
            *([f"at least {written(goal.least, goal.unit)}"] if goal.least > -inf else []),
            *([f"below {written(goal.below, goal.unit)}"] if goal.below < inf else []),
        ]
        mark = "✓" if reached else "✗"
        print(f"{mark} {goal.name}: {written(found, goal.unit)}; asked for is {' and '.join(asked)}")
    return all_reached


def _bars(name: str, unit: Unit, found: Mapping[str, float]) -> "Drawn":
    from penstock.figures.style import FLOW_COLOURS, sheet, styled

    with styled():
        figure = sheet(6.4, 0.7 + 0.4 * len(found))
        axes = figure.add_subplot()
        bars = axes.barh(list(found), list(found.values()), color=FLOW_COLOURS[0], height=0.6)
        axes.bar_label(bars, labels=[written(value, unit) for value in found.values()], padding=4)
        axes.invert_yaxis()
        axes.set_title(name, loc="left")
        axes.set_xticks([])
        axes.set_xlim(0, 1.3 * max(found.values()))
        for side in ("top", "right", "bottom"):
            axes.spines[side].set_visible(False)
    return figure
