"""Every scenario of the repository gives the results that it gave before: a fingerprint, and sums that say what moved.

A change that is meant to alter results renews the file, and the commit says why:

    python python/tests/test_fingerprints.py
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import penstock

HERE = Path(__file__).parent
SCENARIOS = HERE.parent / "penstock" / "scenarios"
KNOWN = HERE / "fingerprints.json"
# The scenarios of the bench are long on purpose; this much of them is enough to see a change.
BENCH_DURATION = "5 ms"
# They take 5 to 31 s of a processor each, and `make verify-science` runs all. Others have the same parts of the engine.
LONG = {
    "bench/fat-tree-k8",
    "bench/fat-tree-k8-shared",
    "bench/fat-tree-k8-tcp",
    "jobs/all-reduce",
    "loads/websearch-leaf-spine",
}
# Facts of the machine, and what follows from the rest.
LEFT_OUT = {"run", "acted", "actions", "notes"}


def _names() -> list[str]:
    return sorted(file.relative_to(SCENARIOS).with_suffix("").as_posix() for file in SCENARIOS.rglob("*.toml"))


def _sums(value: Any, name: str = "") -> Iterator[tuple[str, float]]:
    """Every number of a summary under its name; those of the rows of a list are added by whoever collects them."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return
    if isinstance(value, (int, float)):
        yield name, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            if name or key not in LEFT_OUT:
                yield from _sums(inner, f"{name}.{key}".lstrip("."))
    else:
        for row in value:
            yield from _sums(row, name)


def _found(name: str) -> dict[str, Any]:
    scenario = penstock.Scenario.load(SCENARIOS / f"{name}.toml")
    if name.startswith("bench/"):
        scenario = scenario.with_({"duration": BENCH_DURATION})
    result = scenario.run()
    sums: dict[str, float] = {}
    for key, number in _sums(result.summary):
        sums[key] = sums.get(key, 0) + number
    return {"fingerprint": result.fingerprint(), "sums": {key: number for key, number in sums.items() if number}}


def _cases() -> list[Any]:
    marks = {True: (pytest.mark.science,), False: ()}
    return [pytest.param(name, marks=marks[name in LONG]) for name in _names()]


@pytest.mark.parametrize("name", _cases())
def test_a_scenario_has_the_results_that_it_had(name: str) -> None:
    known, found = json.loads(KNOWN.read_text()).get(name), _found(name)
    assert known is not None, f"{name} is new: renew the file"
    before, after = known["sums"], found["sums"]
    moved = {key: (before.get(key), after.get(key)) for key in before | after if before.get(key) != after.get(key)}
    assert not moved, f"sums that moved, before and now: {moved}"
    assert found["fingerprint"] == known["fingerprint"], "no sum moved, but a value of the tables or of the summary did"


def test_no_scenario_is_gone() -> None:
    assert sorted(json.loads(KNOWN.read_text())) == _names()


if __name__ == "__main__":
    KNOWN.write_text(json.dumps({name: _found(name) for name in _names()}, indent=1) + "\n")
