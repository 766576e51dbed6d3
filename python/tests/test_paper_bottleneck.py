"""Paper 003: the runnable example has the network of the paper's experiment."""

import tomllib
from typing import Any

from conftest import ROOT

from penstock import Scenario
from penstock.reproduce.paper import load
from penstock.reproduce.plan import Run


def topology(scenario: Scenario) -> dict[str, Any]:
    """Return the network, every default written out, but for the rates of the three bottlenecks."""
    graph: dict[str, Any] = tomllib.loads(scenario.resolved())["topology"]["graph"]
    for link in graph["link"]:
        if all(end.startswith("sw") for end in link["ends"]):
            del link["rate"]
    return graph


def test_the_example_is_the_papers_network() -> None:
    example = Scenario.load(ROOT / "scenarios/bottleneck/parking-lot.toml")
    paper = load(ROOT / "papers/bottleneck").scenario(Run.of("three-bottlenecks", "qcn"))
    assert topology(example) == topology(paper)
    ends = [
        [(flow["source"], flow["destinations"]) for flow in scenario.describe()["flows"]]
        for scenario in (example, paper)
    ]
    assert ends[0] == ends[1]
