"""Statements on today's schemes: the experiments have the examples' networks, and their own metrics count right."""

import tomllib
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, paper

from penstock import Scenario
from penstock.reproduction.plan import Run


def network(scenario: Scenario) -> Any:
    """Return the network, every default written out."""
    return tomllib.loads(scenario.resolved())["topology"]


@pytest.mark.parametrize(
    ("experiment", "example", "settings"),
    [
        ("incast-hpcc", "incast/hpcc-sixteen", {}),
        ("incast-rocc", "incast/rocc-eight", {"topology.star.buffer": "1 MB"}),
        ("incast-swift", "incast/swift-eight", {}),
        ("incast-swift-three-hundred", "incast/swift-three-hundred", {}),
        ("incast-nscc", "incast/nscc-sixteen", {}),
        ("incast-nscc-many", "incast/nscc-hundred-and-twenty-eight", {}),
        ("two-distances-cubic", "two-distances/messages", {}),
        ("two-distances-bbr", "two-distances/small-demand", {}),
        ("victim", "victim-flow/ci", {}),
    ],
)
def test_the_examples_are_the_experiments_networks(experiment: str, example: str, settings: dict[str, Any]) -> None:
    shown = Scenario.load(ROOT / "scenarios" / f"{example}.toml")
    scheme = shown.describe()["scheme"]
    assert network(paper("todays-schemes").scenario(Run.of(experiment, scheme, settings))) == network(shown)


class Made:
    """A result of two flows, a sample every ms from 1 ms on, with a warm-up of 2 ms."""

    def __init__(self, **columns: list[float]) -> None:
        self._columns = {name: np.array(values) for name, values in columns.items()}
        self.summary: dict[str, Any] = {
            "warmup_s": 0.002,
            "flows": [
                {"name": "a", "completion_time_s": None, "throughput_bps": 7e9},
                {"name": "b", "completion_time_s": 0.003, "throughput_bps": 3e9},
            ],
            "actions": {"moves": 9, "neighbour_messages": 12},
            "totals": {"frames_dropped": 4},
        }
        self.arrivals = SimpleNamespace(column=lambda name: SimpleNamespace(chunk=lambda _: name))

    def column(self, _table: str, column: str) -> Any:
        """Return a column."""
        return self._columns[column]


def test_counts_and_shares() -> None:
    made, metrics = Made(), paper("todays-schemes").metrics
    assert metrics["messages_per_neighbour"](made, flows=2, neighbours=3) == 2
    assert metrics["frames_dropped"](made) == 4
    assert [metrics["completion_time_s"](made, flow) for flow in ("a", "b")] == [None, 0.003]
    assert (metrics["share"](made, "a"), metrics["unevenness"](made, "b")) == (pytest.approx(0.7), pytest.approx(0.2))


def test_the_delay_after_the_warm_up_over_its_target() -> None:
    made = Made(
        time_s=[0.001, 0.001, 0.002, 0.002, 0.003, 0.003, 0.004, 0.004],
        rp_delay_ps=[9e9, 0, 9e9, 0, 20e6, 0, 40e6, 0],
        rp_delay_target_ps=[9e9, 0, 9e9, 0, 25e6, 0, 25e6, 0],
    )
    assert paper("todays-schemes").metrics["round_trip_s"](made, "a") == pytest.approx(30e-6)
    assert paper("todays-schemes").metrics["round_trip_over_target"](made, "a") == pytest.approx(1.2)


def test_how_long_a_flow_is_isolated(monkeypatch: pytest.MonkeyPatch) -> None:
    # Flow b ends at 3 ms. At 4 and 6 ms frames of a are moved, and the monitored queue is empty; at 9 ms one joins it.
    made = Made(time_s=[0.001, 0.004, 0.005, 0.006, 0.009, 0.010], queue_octets=[1500, 0, 1500, 0, 1500, 1500])
    codes = {"queue": (np.zeros(6, int), ["q"]), "flow": (np.array([0, 0, 1, 0, 0, 0]), ["a", "b"])}
    isolated = paper("todays-schemes").metrics["isolated_s"]
    monkeypatch.setitem(isolated.__globals__, "codes", lambda name: codes[name])
    assert isolated(made, "q", "a", ["b"]) == pytest.approx(0.006)
    # A flow that never ends says nothing on the time after it.
    assert isolated(made, "q", "a", ["a"]) is None


def test_each_claim_names_its_source() -> None:
    sources = ("Saeed", "Li et al", "Ben Basat", "Taheri", "Alizadeh", "Zhu", "Kumar", "802.1Qcz", "Ultra Ethernet")
    assert all(claim.says.startswith(sources) for claim in paper("todays-schemes").claims)
