"""Matsushima et al. 2014: the example has the network of the paper's experiment, and its own metrics count right."""

import tomllib
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, paper

from penstock import Scenario
from penstock.reproduction.plan import Run


def topology(scenario: Scenario) -> dict[str, Any]:
    """Return the network, every default written out, but for the rates of the three bottlenecks."""
    graph: dict[str, Any] = tomllib.loads(scenario.resolved())["topology"]["graph"]
    for link in graph["link"]:
        if all(end.startswith("sw") for end in link["ends"]):
            del link["rate"]
    return graph


def test_the_example_is_the_papers_network() -> None:
    example = Scenario.load(ROOT / "scenarios/bottleneck/parking-lot.toml")
    theirs = paper("bottleneck").scenario(Run.of("three-bottlenecks", "qcn"))
    assert topology(example) == topology(theirs)
    ends = [
        [(flow["source"], flow["destinations"]) for flow in scenario.describe()["flows"]]
        for scenario in (example, theirs)
    ]
    assert ends[0] == ends[1]


class Made:
    """A result of four flows, a sample every 10 ms from 1.01 s on: flow 1 as given, the others at 100 bit/s."""

    def __init__(self, first: list[float]) -> None:
        others = np.full((len(first), 3), 100.0)
        self._throughput = np.column_stack((first, others)).ravel()
        self._time_s = np.repeat(1.0 + 0.01 * np.arange(1, len(first) + 1), 4)
        self.summary = {"flows": [{"name": f"flow{i}"} for i in range(1, 5)]}

    def column(self, table: str, column: str) -> Any:
        """Return a column of the table of rates."""
        return {"throughput_bps": self._throughput, "time_s": self._time_s}[column]


def test_how_long_a_flow_is_below_its_share() -> None:
    longest_below_s = paper("bottleneck").metrics["longest_below_s"]
    # The first 0.2 s do not count. Then five samples at 100, ten at 50, five at 100. Of the averages over five samples
    # those with three or more samples of 50 are below 80: with two the average is 80, with three 70.
    first = [0.0] * 20 + [100.0] * 5 + [50.0] * 10 + [100.0] * 5
    # Averages end at samples 5 to 20 after the 0.2 s; those that end at 8 to 17 have three or more of 50: ten of them.
    assert longest_below_s(Made(first)) == pytest.approx(0.1)
    assert longest_below_s(Made([0.0] * 20 + [100.0] * 20)) == 0.0
    assert longest_below_s(Made([100.0] * 20 + [50.0] * 20)) == pytest.approx(0.16), "all sixteen averages"
