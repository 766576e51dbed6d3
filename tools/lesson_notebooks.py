"""Writes the notebook of each lesson, lab/lessons/NAME.json, into python/penstock/lab/notebooks/NAME.ipynb.

    python tools/lesson_notebooks.py            after a lesson has changed
    python tools/lesson_notebooks.py --check    says which notebook is not what its lesson makes; `make lint` asks

A notebook has the lesson's texts, runs its scenarios with the library and draws them, opens the laboratory, and
simulates the answer of the question that its reader gives. It holds no outputs: its reader runs it. The functions that
it calls are in penstock.lab.lessons.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LESSONS = ROOT / "lab" / "lessons"
NOTEBOOKS = ROOT / "python" / "penstock" / "lab" / "notebooks"

_BEGIN = """from math import inf

from penstock.lab.lessons import Goal, Question, judge, prepared"""
_MARK = re.compile(r"\[([^\]]+)\]\([#!][^)]+\)")
_LETTERS = "abcdefgh"


def main() -> int:
    """Writes the notebooks, or checks them; the exit status says whether one differs."""
    check = sys.argv[1:] == ["--check"]
    wrong = []
    NOTEBOOKS.mkdir(exist_ok=True)
    texts = {
        f"{path.stem}.ipynb": notebook(json.loads(path.read_text(encoding="utf-8")))
        for path in sorted(LESSONS.glob("*.json"))
    }
    for name, text in texts.items():
        target = NOTEBOOKS / name
        if not check:
            target.write_text(text, encoding="utf-8")
        elif not target.is_file() or target.read_text(encoding="utf-8") != text:
            wrong.append(f"{name}: not what its lesson makes")
    for target in sorted(NOTEBOOKS.glob("*.ipynb")):
        if target.name in texts:
            continue
        if check:
            wrong.append(f"{target.name}: there is no such lesson")
        else:
            target.unlink()
    for line in wrong:
        print(f"{NOTEBOOKS.relative_to(ROOT)}/{line}: python tools/lesson_notebooks.py", file=sys.stderr)
    return int(bool(wrong))


def notebook(lesson: dict[str, Any]) -> str:
    """Returns the notebook of a lesson, as a file has it."""
    head = f"# {lesson['title']}\n\nGoal: {lesson['goal']}. Needs: {lesson['needs']}."
    cells = [prose(head), code(_BEGIN)]
    shown = False
    for step in lesson["steps"]:
        cells.append(prose(step.get("notebook", plain(step["text"]))))
        if "scenario" in step:
            cells.append(code(run_of(step)))
            if not shown:
                cells += [prose("The same live, in the laboratory:"), code("scenario.lab()")]
                shown = True
        if "task" in step:
            cells += task(step["task"])
        if "estimate" in step:
            cells += estimate(step["estimate"])
        if "question" in step:
            cells += question(step["question"])
    cells += question(lesson["question"])
    for place, cell in enumerate(cells):
        cell["id"] = f"cell-{place}"
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    whole = {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def plain(text: str) -> str:
    """Returns a text without the marks that point at the page."""
    return _MARK.sub(r"\1", text)


def scenario_of(step: dict[str, Any], **more: str) -> str:
    """Returns the call that makes a scenario."""
    return f"prepared({step['scenario']!r}, {step.get('set', {}) | more!r})"


def run_of(step: dict[str, Any]) -> str:
    """Returns the code of a step: the scenario, and its runs."""
    lines = [f"scenario = {scenario_of(step)}"]
    runs = {"run": "scenario.run()"}
    compared = step.get("compare", "")
    if "=" in compared:
        keys = dict(pair.split("=") for pair in compared.split("&"))
        runs["beside"] = f"{scenario_of(step, **keys)}.run()"
    elif compared:
        runs["beside"] = f"scenario.run(scheme={compared!r})"
    lines += [f"{name} = {run}" for name, run in runs.items()]
    return "\n".join([*lines, *(f"display({name}, {name}.plot())" for name in runs)])


def task(given: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the cells of a task: what is asked for, and the check of the scenario that the reader has changed."""
    if any(edit[0] != "set" for edit in given["solution"]):
        return [prose(f"**Your turn, in the laboratory.** {given['text']}")]
    goals = [f"    {goal_of(own)}," for own in given["goals"]]
    lines = [
        '# scenario.set("KEY", "VALUE")',
        "goals = [",
        *goals,
        "]",
        "judge(scenario, goals)",
    ]
    return [prose(f"**Your turn.** {given['text']}"), code("\n".join(lines))]


def goal_of(goal: dict[str, Any]) -> str:
    """Returns the call that makes a goal."""
    ends = [f"{name}={goal[key]!r}" for key, name in (("from", "least"), ("to", "below")) if key in goal]
    return f"Goal(path={goal['metric']!r}, name={goal['name']!r}, unit={goal['unit']!r}, {', '.join(ends)})"


def estimate(given: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the cells of a number to work out: the reader's, the planner's, and a run with the reader's."""
    first, name, *rest = given["planned"]
    path = "".join(f"[{part!r}]" for part in rest)
    lines = [
        "octets = 0  # yours",
        f"links = scenario.describe()[{first!r}]",
        f"planned = next(link for link in links if link['name'] == {name!r}){path}",
        f'print(f"{given["name"]}: {{octets}} octets are yours, the planner has {{planned}}")',
    ]
    return [prose(f"**Your turn.** {given['text']}"), code("\n".join(lines)), prose(given["why"])]


def question(asked: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the cells of a question: its choices, and the cell that simulates the answer and says why."""
    choices = "\n".join(f"- {letter}: {own['text']}" for letter, own in zip(_LETTERS, asked["choices"], strict=False))
    schemes = [{"scheme": run["scheme"]} if "scheme" in run else {} for run in asked["runs"]]
    runs = [
        f"        {label(asked, place)!r}: {scenario_of(run, **schemes[place])},"
        for place, run in enumerate(asked["runs"])
    ]
    ranges = [
        f"        ({own['text']!r}, {own.get('from', '-inf')}, {own.get('to', 'inf')})," for own in asked["choices"]
    ]
    lines = [
        "question = Question(",
        "    runs={",
        *runs,
        "    },",
        f"    path={asked['metric']!r},",
        f"    name={asked['name']!r},",
        f"    unit={asked['unit']!r},",
        f"    measure={asked['measure']!r},",
        "    choices=[",
        *ranges,
        "    ],",
        f"    why={asked['why']!r},",
        ")",
        'question.answer("a")  # your choice',
    ]
    return [
        prose(f"## {asked['text']}\n\n{choices}\n\nChoose one, and run the cell: the simulation knows."),
        code("\n".join(lines)),
    ]


def label(asked: dict[str, Any], place: int) -> str:
    """Returns the label of a run, as the page has it."""
    if len(asked["runs"]) == 1:
        return ""
    run = asked["runs"][place]
    if "label" in run:
        return str(run["label"])
    chosen = asked["choices"][place]["text"] if asked["measure"] in ("largest", "smallest") else run["scheme"]
    return f"under {chosen}"


def prose(text: str) -> dict[str, Any]:
    """Returns a cell of text."""
    return {"cell_type": "markdown", "id": "", "metadata": {}, "source": text}


def code(text: str) -> dict[str, Any]:
    """Returns a cell of code that has not been run."""
    return {"cell_type": "code", "execution_count": None, "id": "", "metadata": {}, "outputs": [], "source": text}


if __name__ == "__main__":
    sys.exit(main())
