"""Numbers with units: Python and scenarios read the same texts, by the same reader."""

import math
import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock
from penstock import Scenario, ScenarioError, _core
from penstock.theory import axes
from penstock.theory.configuration import UnsuitedScenarioError

KEYS = {
    "octets": ("schemes.qcn.q_eq", "33 KB", "q_eq=1 KB..%s"),
    "s": ("schemes.qcn.rpg_time_reset", "10 ms", "rpg_time_reset=1 us..%s"),
    "bit/s": ("schemes.qcn.rpg_ai_rate", "5 Mbps", "rpg_ai_rate=1 bps..%s"),
}
"""For each unit a key of a scenario, a value that it takes, and an axis that ends in a value."""

WRONG = {
    "an unknown unit": "5 parsecs",
    "no unit": "5",
    "a negative number": "-5 {unit}",
    "no number": "nan {unit}",
    "an infinite number": "inf {unit}",
    "a number that is too large": "99999999999999999 {unit}",
    "two units": "5 {unit} 3 {unit}",
    "a comma": "1,5 {unit}",
    "an exponent": "1e3 {unit}",
    "a sign": "+5 {unit}",
    "nothing": "",
}
# A time is a size at the rate of a line, and a scenario says so where a rate is asked for.
OTHERS = {"octets": ["5 Gbps", "5 frames", "5 ppm"], "s": ["5 KB", "5 Gbps"], "bit/s": ["5 KB"]}
LARGE = {"octets": "GB", "s": "s", "bit/s": "Tbps"}
TEXTS = [
    *((unit, text.format(unit=LARGE[unit])) for unit in KEYS for text in WRONG.values()),
    *((unit, text) for unit, texts in OTHERS.items() for text in texts),
]


@pytest.mark.parametrize(("unit", "text"), TEXTS)
def test_a_wrong_text_is_refused_alike_everywhere(unit: str, text: str) -> None:
    key, _, axis = KEYS[unit]
    with pytest.raises(ValueError) as direct:
        _core.read_quantity(text, unit)
    message, hint = direct.value.args
    assert hint
    if text:
        # Without an end, an axis has another form.
        with pytest.raises(UnsuitedScenarioError) as of_axis:
            axes.read(axis % text, "qcn")
        assert (of_axis.value.reason, of_axis.value.hint) == (message, hint)
    with pytest.raises(ScenarioError) as of_scenario:
        Scenario.named("baseline/ten-gig").set(key, f'"{text}"').describe()
    assert of_scenario.value.message == f"{message}, as given by set()"
    # A scenario knows the largest value of the key.
    assert of_scenario.value.hint == hint or (
        hint == "write a smaller number" and "at most" in str(of_scenario.value.hint)
    )


@pytest.mark.parametrize("unit", KEYS)
def test_a_right_text_is_read_alike_everywhere(unit: str) -> None:
    key, text, axis = KEYS[unit]
    number = _core.read_quantity(text, unit)
    assert axes.read(axis % text, "qcn").values[-1] == number
    plan = Scenario.named("baseline/ten-gig").set(key, text).describe(scheme="qcn")
    assert plan["schemes"][0]["parameters"][key.rpartition(".")[2]] == number


@pytest.mark.parametrize(("unit", "most", "step"), [("octets", 1e15, 1), ("s", 1e3, 1e-12), ("bit/s", 1e14, 1)])
def test_a_written_number_reads_back(unit: str, most: float, step: float) -> None:
    words = random.Random(1)
    for _ in range(1000):
        number = math.exp(words.uniform(math.log(step), math.log(most)))
        again = _core.read_quantity(_core.write_quantity(number, unit), unit)
        # It is rounded to a whole step; seconds to picoseconds and back are two roundings of a float.
        assert abs(again - number) <= step / 2 + 2 * math.ulp(number)
        assert _core.read_quantity(_core.write_quantity(again, unit), unit) == again


@pytest.mark.parametrize("number", [math.nan, math.inf, -1.0, 1e30])
@pytest.mark.parametrize("unit", ["octets", "s", "bit/s", "count"])
def test_a_number_that_is_no_quantity_is_not_written(number: float, unit: str) -> None:
    with pytest.raises(ValueError, match="there is no quantity of"):
        _core.write_quantity(number, unit)


@pytest.mark.parametrize(("text", "unit", "words"), [
    ("2.5", "count", "is not a whole number"),
    ("5 us", "count", "is a time, not a count"),
    ("-1", "count", "is negative"),
    ("0,5", "ratio", "has a , in its number"),
    ("5 %", "ratio", "is a text, not a number"),
    ("nan", "ratio", "is not a finite number"),
    ("5 us", "parsecs", "is not a unit"),
])  # fmt: skip
def test_numbers_without_a_unit(text: str, unit: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        _core.read_quantity(text, unit)


def test_no_python_file_knows_the_factor_of_a_unit() -> None:
    """A table of units or a text put together of a number and a unit would be a second reader or writer."""
    units = r"(ps|ns|us|µs|ms|KB|MB|GB|KiB|MiB|bps|kbps|Mbps|Gbps|Tbps|[kMGT]?b/s|octets)"
    table = re.compile(rf'["\']{units}["\']: *1?[0-9.]*e?-?[0-9]|\(1?[0-9.]+(e-?[0-9]+)?, ["\']{units}["\']\)')
    text = re.compile(rf"\{{(round\([^{{}}]*\)|[^{{}}]*(\*|/) *1e-?[0-9]+[^{{}}]*)\}} ?{units}\b")
    folder = Path(penstock.__file__).parent
    # Axes of figures have one scale for all their ticks.
    files = [file for file in sorted(folder.rglob("*.py")) if folder / "figures" not in file.parents]
    assert len(files) > 100
    found = [
        f"{file.relative_to(folder)}: {line.strip()}"
        for file in files
        for line in file.read_text().splitlines()
        if table.search(line) or text.search(line)
    ]
    assert not found


def test_an_axis_is_its_values_too() -> None:
    flows = axes.read({"flows": range(1, 41)}, "qcn")
    text = axes.read("flows=1..40:40", "qcn")
    assert (flows.name, flows.unit, flows.log) == (text.name, text.unit, False)
    assert flows.values.tolist() == text.values.tolist()
    delays = axes.read({"delay": np.geomspace(20e-6, 400e-6, 5)}, "qcn")
    assert (delays.name, delays.log) == ("round_trip_s", True)
    assert delays.values == pytest.approx(axes.read("delay=20us..400us:5:log", "qcn").values)
    assert axes.read({"q_eq": [1e3, 5e3, 33e3]}, "qcn").values.tolist() == [1e3, 5e3, 33e3]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({}, "an axis of 0 keys"),
        ({"flows": [1, 2], "delay": [1, 2]}, "an axis of 2 keys"),
        ({"flow": [1, 2]}, "flow is neither a field of a configuration"),
        ({"flows": [3]}, "flows: values that do not rise"),
        ({"flows": [2, 2]}, "flows: values that do not rise"),
        ({"flows": [2, 1]}, "flows: values that do not rise"),
        ({"flows": [0, 1]}, "flows: with fewer than one flow"),
        ({"flows": [1, 2.5]}, "flows: a count is a whole number"),
        ({"flows": [[1, 2]]}, "flows: not a list of numbers"),
        ({"flows": 3}, "flows: not a list of numbers"),
        ({"delay": ["20 us", "40 us"]}, "delay: not a list of numbers"),
        ({"delay": [0.0, float("nan")]}, "delay: not a list of numbers"),
        ({"delay": [-1e-6, 1e-6]}, "delay: values that do not rise"),
        ({"delay": np.linspace(0, 1, 2001)}, "delay: values that do not rise"),
    ],
)
def test_wrong_values_of_an_axis_are_refused(given: dict[str, Any], reason: str) -> None:
    with pytest.raises(UnsuitedScenarioError) as caught:
        axes.read(given, "qcn")
    assert reason in caught.value.reason
    assert caught.value.hint
