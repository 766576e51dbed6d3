"""So-In et al. 2008: the example has the network of the paper's experiment, and its own metrics count right."""

import tomllib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, paper

from penstock import Result, Scenario
from penstock.reproduction.plan import Run

GBPS = 1e9


def metric(name: str) -> Callable[..., Any]:
    """Return a metric of the paper."""
    return paper("efecn").metrics[name]


def topology(scenario: Scenario) -> Any:
    """Return the network, every default written out."""
    return tomllib.loads(scenario.resolved())["topology"]["graph"]


def run(experiment: str, scheme: str, settings: dict[str, Any] | None = None, seed: int = 1) -> Result:
    """Return a run of the paper."""
    return paper("efecn").scenario(Run.of(experiment, scheme, settings)).run(scheme=scheme, seed=seed)


@pytest.mark.parametrize("experiment", ["four-sources", "link-break", "seven-flows"])
def test_the_example_is_the_papers_network(experiment: str) -> None:
    example = Scenario.load(ROOT / "scenarios/four-sources.toml")
    assert topology(example) == topology(paper("efecn").scenario(Run.of(experiment, "efecn")))


class Made:
    """A result of two flows with a fair share of 2.5 Gb/s each, a sample every ms from 1 ms on."""

    def __init__(self, first: list[float], second: list[float], fair: float = 2.5) -> None:
        rates = np.column_stack((first, second)).ravel() * GBPS
        self._columns = {
            "time_s": np.repeat(1e-3 * np.arange(1, len(first) + 1), 2),
            "rate_bps": rates,
            "throughput_bps": rates,
            "fair_rate_bps": np.full(len(rates), fair * GBPS),
        }
        self.summary = {"flows": [{"name": "f1"}, {"name": "f2"}]}

    def column(self, table: str, column: str) -> Any:
        """Return a column of the table of rates."""
        assert table == "rates"
        return self._columns[column]


def test_all_sources_have_converged_when_the_last_one_has() -> None:
    # From 6 ms on: the first is within 5 % of 2.5 (2.375 to 2.625) from 8 ms on, the second leaves it again at 9 ms.
    first = [0.0] * 5 + [10.0, 3.0, 2.6, 2.5, 2.5, 2.5, 2.5]
    second = [0.0] * 5 + [10.0, 2.5, 2.5, 2.0, 2.5, 2.5, 2.5]
    converged_s = metric("converged_s")
    assert converged_s(Made(first, second)) == pytest.approx(0.009), "the last sample that is outside"
    assert converged_s(Made(first, second), clock_s=0.005) == pytest.approx(0.004)
    assert converged_s(Made(first, second), band=0.25) == pytest.approx(0.006), "2.0 and 3.0 are within 25 %"
    assert converged_s(Made([2.5] * 12, [2.5] * 12)) == pytest.approx(0.005), "never outside"
    assert converged_s(Made([2.5] * 12, [2.5] * 11 + [2.0])) is None, "outside to the end"
    assert converged_s(Made([2.5] * 12, [2.0] * 12)) is None
    # Without a share there is nothing to converge to.
    assert converged_s(Made([2.5] * 12, [2.0] * 12, fair=0.0)) == pytest.approx(0.005)


def test_how_far_curves_lie_apart() -> None:
    made = Made([2.0, 2.0, 3.0, 3.0], [2.0, 2.1, 2.5, 2.9])
    # 2.1/2.0 is not more than 5 %, 3.0/2.5 is, 3.0/2.9 is not.
    assert metric("apart_fraction")(made, from_s=0.0, to_s=0.004) == 0.25
    assert metric("overshoot")(made, from_s=0.0, to_s=0.004) == pytest.approx(1.2)
    # Means 2.5 and 2.375.
    assert metric("rates_ratio")(made, from_s=0.0, to_s=0.004) == pytest.approx(2.5 / 2.375)
    assert metric("lowest_share")(made, from_s=0.0, to_s=0.004) == pytest.approx(2.375 * 2 / 4.875)
    assert metric("rates_ratio")(Made([1.0], [0.0]), from_s=0.0, to_s=0.001) == float("inf")


def test_the_lowest_source_before_two_end() -> None:
    # A sample a ms to 100 ms: the second is the lower one before 80 ms, at 1.0; then 3.0.
    first, second = [4.0] * 80 + [7.0] * 20, [1.0] * 80 + [3.0] * 20
    windows = {"before_s": (0.060, 0.080), "after_s": (0.090, 0.100)}
    assert metric("lowest_rises")(Made(first, second), **windows) == pytest.approx(3.0)
    assert metric("lowest_rises")(Made(first, [1.0] * 80 + [0.0] * 20), **windows) is None, (
        "it is one of those that end"
    )
    assert metric("stays_lowest")(Made(first, second)) is True
    assert metric("stays_lowest")(Made([1.0] * 40 + [9.0] * 60, [5.0] * 100)) is False


def test_the_cost_of_control_frames() -> None:
    # In 60 ms, 4 flows send probes at 5, 6, ... 59 ms: 55 each, 220 in all, and each comes back; no message.
    slow = {"duration": "60 ms", "schemes.fecn.n0": 20, **{f"flow.{i}.stop": "60 ms" for i in (0, 1)}}
    fecn = run("four-sources", "fecn", slow)
    assert metric("control_frames")(fecn) == 440
    assert metric("control_hops")(fecn) == 220 * 6
    assert metric("backward_fraction")(fecn) == 0
    assert metric("feedback_unevenness")(fecn, to_s=0.060) == 1
    assert metric("probes_each_second")(fecn, flow="f1", from_s=0.020, to_s=0.060) == pytest.approx(1000)
    # E-FECN: the same probes, and 28 BCN(0,0) for the frames above 120 KB. They come to sources by two links each.
    stop = {key: value for key, value in slow.items() if "fecn" not in key}
    efecn = run("four-sources", "efecn", stop)
    feedback = efecn.summary["queues"][0]["feedback_frames"]
    assert feedback == 28
    assert metric("control_frames")(efecn) == 440 + feedback
    assert metric("control_hops")(efecn) == 220 * 6 + feedback * 2
    assert metric("backward_fraction")(efecn) == pytest.approx(feedback / (220 + feedback))


def test_an_answer_takes_two_links_and_a_node() -> None:
    scenario = (
        paper("efecn").scenario(Run.of("four-sources", "efecn")).set("duration", "6 ms").set("record.arrivals", True)
    )
    for flow in (0, 1):
        scenario.set(f"flow.{flow}.stop", "6 ms")
    result = scenario.run(scheme="efecn")
    # 64 octets at 10 Gb/s are 51.2 ns: 2 x (0.0512 + 0.5) + 1 us.
    assert metric("answer_s")(result) == pytest.approx(2.1024e-6, abs=1e-9)
    assert metric("answer_s")(result, above_octets=150_000) is None, "the queue never comes so far"
    assert 0 < metric("time_beyond_s")(result) < 100e-6


def test_over_sampling_answers_one_frame_in_ten() -> None:
    # Table 2: every 15 000 octets above Qsc, frames of 1500 octets; without over-sampling every 75 000, one in fifty.
    short = {"duration": "6 ms", "flow.0.stop": "6 ms", "flow.1.stop": "6 ms"}
    for on, share in ((True, 0.1), (False, 0.02)):
        run = Run.of("four-sources", "bcn", {**short, "schemes.bcn.over_sampling": on})
        scenario = paper("efecn").scenario(run).set("record.arrivals", True)
        assert metric("severe_sampling")(scenario.run(scheme="bcn")) == pytest.approx(share, abs=0.004)


def test_a_broken_link_and_how_soon_sources_know() -> None:
    result = run("link-break", "fecn", {"schemes.fecn.n0": 20})
    # The last probe comes back soon after 39 ms, so that the time-out of 2 ms ends soon after 41 ms.
    assert metric("cut_s")(result, at_s=0.040) == pytest.approx(0.001, abs=1e-4)
    # 2 of 10 Gb/s is the least while the link is broken; then the probes that stood in its queue come back with less.
    assert metric("cut_s")(result, at_s=0.040, to=0.1) > 0.020
    # From Rmin on, the line that is whole again is full within ten intervals.
    assert 0.001 < metric("full_use_s")(result, from_s=0.060, to_s=0.0999) < 0.010


def test_regulators_are_counted_where_they_are() -> None:
    assert [metric("regulators")(run("seven-flows", scheme)) for scheme in ("bcn", "fecn", "efecn")] == [0, 7, 0]


def test_both_kinds_of_fairness_have_a_distance() -> None:
    result = run("two-bottlenecks", "efecn")
    # Max-min: 5, 5, 5; proportional: 10/3, 20/3, 20/3, all of them 5/3 away from that.
    assert metric("fairness_distance_bps")(result, reference="max-min") < 0.01 * GBPS
    assert metric("fairness_distance_bps")(result, reference="proportional") == pytest.approx(5 / 3 * GBPS, rel=0.01)
    shares = metric("shares")(result)
    assert list(shares) == ["long", "first", "second"]
    assert shares["long"][1:] == pytest.approx((5 * GBPS, 10 / 3 * GBPS), rel=1e-4)
