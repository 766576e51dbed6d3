"""Writes the notebook of each lesson, lab/lessons/NAME.json, into python/penstock/lab/notebooks/NAME.ipynb.

    python tools/lesson_notebooks.py            after a lesson has changed
    python tools/lesson_notebooks.py --check    says which notebook is not what its lesson makes; `make lint` asks

A notebook has the lesson's texts, runs its scenarios with the library, opens the laboratory, and simulates the answer
of the question. It holds no outputs: its reader runs it.
"""

import json
import math
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LESSONS = ROOT / "lab" / "lessons"
NOTEBOOKS = ROOT / "python" / "penstock" / "lab" / "notebooks"

_BEGIN = '''from math import inf

from penstock import Scenario


def prepared(name, settings):
    """A scenario of the library with some keys set."""
    scenario = Scenario.named(name)
    for key, value in settings.items():
        scenario.set(key, value)
    return scenario'''

_NUMBER = '''def number(run, path):
    """The number at the end of a path through a summary: keys, and names in lists."""
    value = run.summary
    for part in path:
        value = next(own for own in value if own["name"] == part) if isinstance(value, list) else value[part]
    return value'''

_MEASURES = {
    "value": "found = numbers[0]",
    "ratio": "found = numbers[1] / numbers[0]",
    "largest": "found = numbers.index(max(numbers))",
}


def main() -> int:
    """Writes the notebooks, or checks them; the exit status says whether one differs."""
    check = sys.argv[1:] == ["--check"]
    wrong = 0
    NOTEBOOKS.mkdir(exist_ok=True)
    for path in sorted(LESSONS.glob("*.json")):
        text = notebook(json.loads(path.read_text(encoding="utf-8")))
        target = NOTEBOOKS / f"{path.stem}.ipynb"
        if not check:
            target.write_text(text, encoding="utf-8")
        elif not target.is_file() or target.read_text(encoding="utf-8") != text:
            print(
                f"{target.relative_to(ROOT)}: not what its lesson makes: python tools/lesson_notebooks.py",
                file=sys.stderr,
            )
            wrong = 1
    return wrong


def notebook(lesson: dict[str, Any]) -> str:
    """Returns the notebook of a lesson, as a file has it."""
    cells = [prose(f"# {lesson['title']}"), code(_BEGIN)]
    shown = False
    asked = [own["question"] for own in (*lesson["steps"], lesson) if "question" in own]
    for step in lesson["steps"]:
        cells.append(prose(step.get("notebook", step["text"])))
        if "scenario" in step:
            cells.append(code(run_of(step)))
            if not shown:
                cells += [prose("The same live, in the laboratory:"), code("scenario.lab()")]
                shown = True
        if "question" in step:
            cells += question(step["question"], is_first=step["question"] is asked[0])
    cells += question(lesson["question"], is_first=len(asked) == 1)
    for place, cell in enumerate(cells):
        cell["id"] = f"cell-{place}"
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    whole = {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def run_of(step: dict[str, Any]) -> str:
    """Returns the code of a step: the scenario, and its runs."""
    lines = [f"scenario = prepared({step['scenario']!r}, {step.get('set', {})!r})"]
    runs = {"run": "scenario.run()"}
    key, _, value = step.get("compare", "").partition("=")
    if value:
        runs["beside"] = f"prepared({step['scenario']!r}, {step.get('set', {}) | {key: value}!r}).run()"
    elif key:
        runs["beside"] = f"scenario.run(scheme={key!r})"
    lines += [f"{name} = {run}" for name, run in runs.items()]
    return "\n".join([*lines, *(f"display({name}, {name}.plot())" for name in runs)])


def question(asked: dict[str, Any], *, is_first: bool) -> list[dict[str, Any]]:
    """Returns the cells of a question: its choices, the simulation of the answer, and the reason.

    The first one of a notebook has the code that reads numbers.
    """
    choices = "\n".join(f"- {choice['text']}" for choice in asked["choices"])
    schemes = [f"scheme={run['scheme']!r}" if "scheme" in run else "" for run in asked["runs"]]
    runs = [
        f"prepared({run['scenario']!r}, {run.get('set', {})!r}).run({scheme})"
        for run, scheme in zip(asked["runs"], schemes, strict=True)
    ]
    ranges = [
        f"({choice['text']!r}, {choice.get('from', -math.inf)}, {choice.get('to', math.inf)})"
        for choice in asked["choices"]
    ]
    if asked["measure"] == "largest":
        right = "choices[found][0]"
    else:
        right = "next(text for text, least, below in choices if least <= found < below)"
    lines = [
        "runs = [",
        *(f"    {run}," for run in runs),
        "]",
        f"numbers = [number(run, {asked['metric']!r}) for run in runs]",
        _MEASURES[asked["measure"]],
        "choices = [",
        *(f"    {choice}," for choice in ranges),
        "]",
        f"print({asked['name'] + ':'!r}, *numbers)",
        f"print({right})",
    ]
    return [
        prose(f"## {asked['text']}\n\n{choices}\n\nChoose one before you run the next cells: the simulation knows."),
        *([code(_NUMBER)] if is_first else []),
        code("\n".join(lines)),
        prose(asked["why"]),
    ]


def prose(text: str) -> dict[str, Any]:
    """Returns a cell of text."""
    return {"cell_type": "markdown", "id": "", "metadata": {}, "source": text}


def code(text: str) -> dict[str, Any]:
    """Returns a cell of code that has not been run."""
    return {"cell_type": "code", "execution_count": None, "id": "", "metadata": {}, "outputs": [], "source": text}


if __name__ == "__main__":
    sys.exit(main())
