"""Kabbani and Yasuda 2010: the examples have the network of the paper's experiments, and the metrics count right."""

import tomllib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from conftest import ROOT, paper

from penstock import Scenario
from penstock.reproduction.plan import Run

if TYPE_CHECKING:
    from numpy.typing import NDArray


@pytest.mark.parametrize("count", ["one", "eight"])
def test_the_examples_are_the_papers_network(count: str) -> None:
    example = Scenario.load(ROOT / f"scenarios/netfpga/{count}-source{'s' if count == 'eight' else ''}-100us.toml")
    whole = paper("netfpga").scenario(Run.of(f"simulator-{count}", "qcn"))
    ours, theirs = (tomllib.loads(scenario.resolved()) for scenario in (example, whole))
    assert ours["topology"] == theirs["topology"]
    assert ours["change"] == theirs["change"]


def test_both_models_differ_in_pacer_and_ports_alone() -> None:
    whole = paper("netfpga")
    hardware, simulator = (
        tomllib.loads(whole.scenario(Run.of(f"{model}-eight", "qcn")).resolved()) for model in ("hardware", "simulator")
    )
    assert hardware.pop("hosts") != simulator.pop("hosts")
    assert hardware["flow"][0].pop("from") != simulator["flow"][0].pop("from")
    del hardware["question"], simulator["question"]
    assert {k: v for k, v in hardware.items() if k != "name"} == {k: v for k, v in simulator.items() if k != "name"}


class Made:
    """A result of the one queue, with a sample each millisecond up to 10 s: lengths and utilisations as given."""

    def __init__(self, octets: "NDArray[Any]", used: "NDArray[Any]") -> None:
        time_s = np.arange(1, 10_001) / 1000
        zeros = np.zeros(10_000, dtype=int)
        self._columns = {
            "time_s": time_s,
            "queue_octets": octets,
            "utilization": used,
            "frames_dropped": zeros,
            "priority": zeros,
        }
        self.queues = pa.table({"queue": pa.array(["sw0->h8"] * 10_000).dictionary_encode()})
        self.summary = {"queues": [{"name": "sw0->h8", "priority": 0, "max_octets": 0}], "warmup_s": 0.0}
        self.summary_in_brief = self.summary
        self.queues_shown = {
            "name": np.array(["sw0->h8"]),
            "priority": np.zeros(1, int),
            "max_octets": np.zeros(1, int),
        }

    def column(self, table: str, column: str) -> Any:
        """Return a column of the table of queues."""
        assert table == "queues"
        return self._columns[column]

    def rows_of(self, table: str, names: Sequence[str], *columns: str) -> dict[str, dict[str, Any]]:
        """Return columns of the table of queues for its only queue."""
        assert list(names) == ["sw0->h8"]
        return {"sw0->h8": {column: self.column(table, column) for column in columns}}


def metric(name: str) -> Callable[..., Any]:
    """Return a metric of the paper."""
    return paper("netfpga").metrics[name]


def test_drained_and_recovered() -> None:
    octets, used = np.full(10_000, 33_000), np.ones(10_000)
    # Above 1.5 Qeq, 49 500, in the samples that end at 2.311 to 2.400 s; back at 2.401 s.
    octets[2310:2400] = 150_000
    # Half of the link up to 6.5 s, then all of it: the mean of 20 samples is 0.95 when 18 are full, at 6.518 s.
    used[6000:6500] = 0.5
    result = Made(octets, used)
    assert metric("drained_s")(result) == pytest.approx(0.101)
    assert metric("recovery_s")(result) == pytest.approx(0.518)
    # Half of that second with half of it.
    assert metric("link_use")(result, "rise") == pytest.approx(0.75)
    assert metric("link_idle")(result, "rise") == pytest.approx(0.25)


def test_a_queue_that_never_fills_is_drained_at_once_and_one_that_never_drains_has_no_time() -> None:
    used = np.ones(10_000)
    assert metric("drained_s")(Made(np.full(10_000, 40_000), used)) == 0.0
    assert metric("drained_s")(Made(np.full(10_000, 60_000), used)) is None
    assert metric("recovery_s")(Made(np.full(10_000, 40_000), 0.9 * used)) is None


def test_lengths_in_a_period() -> None:
    octets = np.full(10_000, 30_000)
    # "low" is from 3.3 to 6 s, 2700 samples; a third of them is 3 frames longer.
    octets[3300:4200] = 33_000
    result = Made(octets, np.ones(10_000))
    assert len(metric("length_samples_frames")(result, "low")) == 2700
    assert metric("length_mean_frames")(result, "low") == pytest.approx(31.0)
    assert metric("length_std_octets")(result, "before") == 0.0


class Recorded:
    """A result of which a summary is known."""

    def __init__(self, **summary: Any) -> None:
        self.summary = summary


def test_slowdown_is_that_of_a_bucket_and_none_while_a_flow_goes_on() -> None:
    sizes: dict[str, Any] = {"group": None, "flows": 4, "completed": 4}
    result = Recorded(
        completions=[
            {**sizes, "least_octets": 0, "most_octets": None, "slowdown_mean": 3.0, "slowdown_p99": 9.0},
            {**sizes, "least_octets": 0, "most_octets": 10_000, "slowdown_mean": 2.0, "slowdown_p99": 5.0},
            {**sizes, "group": "web", "least_octets": 0, "most_octets": None, "slowdown_mean": 7.0},
            {**sizes, "least_octets": 10_000_001, "most_octets": None, "slowdown_mean": 8.0, "completed": 3},
        ]
    )
    slowdown = metric("slowdown")
    assert slowdown(result) == 3.0
    assert slowdown(result, of="p99", most_octets=10_000) == 5.0
    assert slowdown(result, least_octets=10_000_001) is None


def test_the_queue_in_the_host_counts_flows_by_name() -> None:
    flows = [("long0", 3, 40.0), ("short0", 2, 10.0), ("short1", 4, 10.0)]
    result = Recorded(
        flows=[
            {"name": name, "segments_discarded": lost, "transmit_queue_mean_octets": octets}
            for name, lost, octets in flows
        ]
    )
    assert metric("host_queue_drops")(result) == 9.0
    assert metric("host_queue_drops")(result, "short") == 6.0
    assert metric("host_queue_octets")(result) == 20.0


def test_the_sawtooth_above_the_path_has_seven_ninths_of_its_peak() -> None:
    # 200 us: the path holds 23 750 + 1950 + 128 octets. Half of the peak, 87 914, is more: the queue never runs empty.
    # The window's mean over time is 2/3 (1 - 1/8) / (1 - 1/4) = 7/9 of its peak.
    product = 25_828.0
    expected = 7 / 9 * (150_000 + product) - product
    result = Made(np.full(10_000, expected), np.ones(10_000))
    assert metric("sawtooth_ratio")(result, 2e-4) == pytest.approx(1.0, abs=1e-3)
    assert metric("sawtooth_ratio")(Made(np.full(10_000, 33_000), np.ones(10_000)), 2e-4) < 0.4


def test_timeouts_are_those_of_the_connections_that_are_named() -> None:
    class Recorded:
        def column(self, table: str, name: str) -> "NDArray[Any]":
            assert table == "completions"
            return np.array({"flow": ["short0", "short1", "long"], "timeouts": [1, 2, 4]}[name])

    assert metric("timeouts_of")(Recorded(), "short") == 3.0
    assert metric("timeouts_of")(Recorded(), "other") == 0.0


def test_connections_without_rack_differ_in_that_alone() -> None:
    whole = paper("netfpga")
    without, like = (
        tomllib.loads(whole.scenario(Run.of(name, "qcn")).resolved()) for name in ("tcp-without-rack", "tcp-long")
    )
    assert without["flow"][0]["transport"]["tcp"].pop("rack") is False
    assert like["flow"][0]["transport"]["tcp"].pop("rack") is True
    for key in ("question", "name"):
        without.pop(key, None), like.pop(key, None)
    assert without == like


def test_connections_have_frames_as_long_as_the_papers() -> None:
    whole = paper("netfpga")
    for experiment in ("tcp-long", "tcp-without-rack", "tcp-neighbour", "tcp-load"):
        described = whole.scenario(Run.of(experiment, "none")).describe()
        assert {flow["frame_octets"] for flow in described["flows"]} == {1000}


def test_the_switch_of_long_connections_is_the_papers() -> None:
    whole = paper("netfpga")
    ours, theirs = (
        tomllib.loads(whole.scenario(Run.of(name, "qcn")).resolved()) for name in ("tcp-long", "simulator-eight")
    )
    for table in ("topology", "change", "schemes"):
        assert ours[table] == theirs[table]
