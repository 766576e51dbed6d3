"""Metrics of runs: their numbers from a result's tables, checked by hand and against the summary's exact sums."""

from typing import Any

import numpy as np
import pytest

from penstock import Result
from penstock.metrics import samples as metrics
from penstock.metrics.values import flow_names


class Made:
    """A result of two flows whose samples are made up: one a millisecond, a fair share of 100 bit/s each."""

    def __init__(self, first: list[float], second: list[float]) -> None:
        rows = len(first)
        self._columns = {
            "time_s": np.repeat(np.arange(1, rows + 1) * 1e-3, 2),
            "throughput_bps": np.column_stack((first, second)).ravel(),
            "rate_bps": np.column_stack((first, second)).ravel(),
            "fair_rate_bps": np.full(2 * rows, 100.0),
        }
        self.summary = {"flows": [{"name": "a"}, {"name": "b"}]}

    def column(self, table: str, column: str) -> Any:
        """Return a column of the table of rates."""
        assert table == "rates"
        return self._columns[column]


def made(first: list[float], second: list[float] | None = None) -> Any:
    return Made(first, second or [100.0] * len(first))


def test_settling_from_the_start_and_from_the_flow() -> None:
    # The last sample outside of 95 to 105 is the third, which describes the time up to 3 ms.
    result = made([0, 100, 106, 104, 96, 100])
    assert metrics.settling_s(result, "a") == pytest.approx(3e-3)
    assert metrics.settling_s(result, "a", start_s=1e-3) == pytest.approx(2e-3)
    assert metrics.settling_s(result, "b") == 0.0
    # Within 3 % the fifth sample is outside too.
    assert metrics.settling_s(result, "a", band=0.03) == pytest.approx(5e-3)


def test_a_series_that_ends_outside_has_not_settled() -> None:
    assert metrics.settling_s(made([100, 100, 90]), "a") is None
    assert metrics.settling_s(made([100, 100, 90]), "a", to_s=2e-3) == 0.0


def test_settling_of_an_average() -> None:
    # Averages of two samples: 90, then 100 and 100 for ever; the first has itself alone.
    result = made([90, 110, 90, 110])
    assert metrics.settling_s(result, "a") is None
    assert metrics.settling_s(result, "a", over_s=2e-3) == pytest.approx(1e-3)


def test_shares_in_a_window() -> None:
    result = made([10, 50, 70], [90, 100, 100])
    # A sample ends its interval: after 1 ms come 50 and 70, against 100.
    assert metrics.throughput_bps(result, "a", from_s=1e-3) == 60.0
    assert metrics.share_ratio(result, "a", from_s=1e-3) == pytest.approx(0.6)
    # (60 + 100)² / (2 (60² + 100²)) = 25600 / 27200.
    assert metrics.throughput_jain_index(result, from_s=1e-3) == pytest.approx(25600 / 27200)
    assert metrics.mean_rate_bps(result, "a", from_s=0.0, to_s=2e-3) == 30.0
    assert metrics.std_rate_bps(result, "a", from_s=0.0, to_s=2e-3) == 20.0


def test_windows_agree_with_the_exact_sums(result: Result) -> None:
    queue, end_s = "sw0->h2", result.summary["duration_s"]
    for metric in (metrics.queue_mean_octets, metrics.utilization, metrics.empty_fraction):
        assert metric(result, queue, from_s=0.0, to_s=end_s) == pytest.approx(metric(result, queue), rel=0.02, abs=0.01)
    for flow in flow_names(result):
        exact = metrics.throughput_bps(result, flow)
        assert metrics.throughput_bps(result, flow, from_s=0.0) == pytest.approx(exact, rel=1e-3)
    longest = metrics.offered()["queue_max_octets"]
    assert longest(result, queue, from_s=0.0) <= longest(result, queue)
    assert metrics.frames_dropped(result, queue) == result.summary["totals"]["frames_dropped"]


def test_feedback_adds_up(result: Result) -> None:
    total = result.summary["totals"]["feedback_frames"]
    assert total > 0
    assert metrics.feedback_frames(result) == total
    assert sum(metrics.feedback_frames(result, flow) for flow in flow_names(result)) == total
    assert metrics.feedback_frames(result, queue="sw0->h2") == total
    assert metrics.feedback_frames(result, from_s=result.summary["duration_s"]) == 0


def test_names_that_are_not_there(result: Result) -> None:
    with pytest.raises(ValueError, match="'f9' is not recorded; the recorded ones are f0, f1"):
        metrics.throughput_bps(result, "f9")
    with pytest.raises(ValueError, match="sw0->h2"):
        metrics.queue_mean_octets(result, "sw0->h9")


def test_series_for_figures(result: Result) -> None:
    rates = metrics.rate_series(result, bins=50)
    assert set(rates) == {"f0", "f1"}
    assert all(len(time_s) <= 50 for time_s, _ in rates.values())
    lengths = metrics.queue_lengths(result, ["sw0->h2"], points=100)["sw0->h2"]
    assert 100 <= len(lengths[0]) < 200
    frames, share = metrics.queue_distribution(result, "sw0->h2")
    assert share[-1] == 1.0
    assert (np.diff(frames) > 0).all()
