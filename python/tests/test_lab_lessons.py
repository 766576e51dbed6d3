"""Lessons in notebooks: what a question, a task and their texts make of a run."""

import json
import re
from math import inf
from pathlib import Path
from typing import Any

import pytest

from penstock._core import ScenarioError
from penstock.errors import ArgumentError
from penstock.lab import lessons
from penstock.lab.lessons import Goal, Measure, Question, judge, number, prepared, written

ROOT = Path(__file__).resolve().parents[2]
LESSONS = sorted((ROOT / "lab/lessons").glob("*.json"))
RING = "deadlock/ring"
DELIVERED = ["totals", "frames_delivered"]
# Three hosts with 60 KB at each of their links: 168 frames before the ring stands still, and with a watchdog 1008.
WATCHED = "deadlock/ring-watchdog"


def asked(measure: Measure) -> Question:
    """A question on the two rings: 168 frames, then 1008, six times as many."""
    choices: dict[str, list[tuple[str, float, float]]] = {
        "value": [("few", -inf, 500.0), ("many", 500.0, inf)],
        "second": [("few", -inf, 500.0), ("many", 500.0, inf)],
        "ratio": [("few", -inf, 5.9), ("many", 5.9, 6.1)],
    }
    names = [("few", -inf, inf), ("many", -inf, inf)]
    return Question(
        runs={"without": prepared(RING, {}), "with": prepared(WATCHED, {})},
        path=DELIVERED,
        name="frames delivered",
        unit="",
        measure=measure,
        choices=choices.get(measure, names),
        why="It is so.",
    )


@pytest.mark.parametrize(
    ("measure", "right"), [("value", "a"), ("second", "b"), ("ratio", "b"), ("largest", "b"), ("smallest", "a")]
)
def test_a_question_is_answered_by_its_runs(measure: Measure, right: str, capsys: pytest.CaptureFixture[str]) -> None:
    figure = asked(measure).answer(right)
    said = capsys.readouterr().out
    assert said == "Right. The simulation gives frames delivered: 168 without, 1008 with.\nIt is so.\n"
    assert figure is not None
    assert [text.get_text() for text in figure.axes[0].texts] == ["168", "1008"]
    other = "b" if right == "a" else "a"
    asked(measure).answer(other)
    wanted = "few" if right == "a" else "many"
    assert capsys.readouterr().out.startswith(f"Not so: {wanted}. ")


@pytest.mark.parametrize("letter", ["", "c", "ab", "A"])
def test_a_choice_that_is_none_says_what_to_write(letter: str) -> None:
    with pytest.raises(ArgumentError, match="write one of a, b between the quotes"):
        asked("value").answer(letter)


def test_a_task_is_judged_by_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    goal = Goal(path=DELIVERED, name="frames delivered", unit="", least=1500)
    assert not judge(prepared(WATCHED, {}), [goal])
    assert capsys.readouterr().out == "✗ frames delivered: 1008; asked for is at least 1500\n"
    assert judge(prepared(WATCHED, {"pfc.watchdog.after": "200 us"}), [goal])
    assert capsys.readouterr().out.startswith("✓ frames delivered: 2016;")


def test_a_path_or_a_key_that_is_none_is_named() -> None:
    result = prepared(RING, {}).run()
    assert number(result, ["queues", "sw0->sw1", "utilization"]) < 0.02
    for path in (["totals"], ["queues", "sw7->sw1", "utilization"], ["seed", "one"], ["scheme"]):
        with pytest.raises(ArgumentError, match=f"no number at {path[0]}"):
            number(result, path)
    with pytest.raises(ScenarioError, match="no_such_key"):
        prepared(RING, {"no_such_key": "1"}).run()


def test_numbers_have_their_units() -> None:
    found = [
        written(0.2774, "%"),
        written(0.52, ""),
        written(1008.0, ""),
        written(595.68e6, "bit/s"),
        written(44148.0, "octets"),
    ]
    assert found == ["27.7 %", "0.520", "1008", "596 Mb/s", "44.1 KB"]
    assert written(0.0874, "s") == "87.4 ms"


def assert_names_are_there(text: str, plan: Any) -> None:
    """The ports and the nodes that a text points at are those of the run beside it."""
    nodes = [node["name"] for node in plan["nodes"]]
    for kind, name in re.findall(r"\]\(#(port|node) ([^)]+)\)", text):
        assert name in (plan["queues"] if kind == "port" else nodes), text


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_the_scenarios_of_a_lesson_can_be_planned(path: Path) -> None:
    lesson = json.loads(path.read_text(encoding="utf-8"))
    questions = [own["question"] for own in (*lesson["steps"], lesson) if "question" in own]
    settings = [step for step in lesson["steps"] if "scenario" in step] + [
        run for own in questions for run in own["runs"]
    ]
    assert settings
    for setting in settings:
        plan = lessons.prepared(setting["scenario"], setting.get("set", {})).describe()
        assert_names_are_there(setting.get("text", ""), plan)
    for asked_for in questions:
        if asked_for["measure"] in ("largest", "smallest"):
            assert len(asked_for["choices"]) == len(asked_for["runs"])
        else:
            assert len(asked_for["runs"]) == (1 if asked_for["measure"] == "value" else 2)
