"""Jiang et al. 2015: its own metrics, on samples of a queue that are written down here."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from conftest import paper

from penstock.figures.series import QueueSeries

STEP_S = 0.001
QUEUE = "sw0->sw1"


class Made:
    """A result that has a queue's name and nothing else."""

    def __init__(self) -> None:
        self.summary = {"queues": [{"name": QUEUE}]}


Measure = Callable[..., Any]


@pytest.fixture
def of(monkeypatch: pytest.MonkeyPatch) -> Measure:
    """Return a function that measures samples, in KB, one a millisecond from 1 ms on."""

    def measure(metric: str, kilobytes: list[float], **arguments: Any) -> Any:
        octets = np.array(kilobytes) * 1000
        time_s = STEP_S * np.arange(1, len(octets) + 1, dtype=np.float64)
        used = np.array([0.0 if np.isnan(length) else 1.0 for length in kilobytes], dtype=np.float64)
        series = QueueSeries(QUEUE, time_s, np.nan_to_num(octets), used, np.zeros(len(octets)), 0.0, 0)
        function = paper("sliding-mode").metrics[metric]
        monkeypatch.setitem(function.__globals__, "queue_series", lambda result, chosen: [series])
        return function(Made(), queue=QUEUE, **arguments)

    return measure


def test_shares_of_samples(of: Measure) -> None:
    samples = [0.0, 48.0, 64.0, 80.0, 81.0]
    assert of("band_fraction", samples, low_octets=48_000, high_octets=80_000) == pytest.approx(0.6)
    assert of("queue_min_octets", samples, from_s=0.0015) == 48_000


def test_empty_spells(of: Measure) -> None:
    # Empty for one sample, for three, and for one at the end; at the start it already is.
    samples = [0.0, 5.0, 0.0, 0.0, 0.0, 9.0, 0.0]
    assert of("empty_spells", samples) == 2, "it becomes empty twice; the first sample shows no change"
    assert of("longest_empty_s", samples) == pytest.approx(3 * STEP_S)
    assert of("longest_empty_s", [5.0, 9.0]) == 0.0


def test_until_the_port_sends_for_the_last_time(of: Measure) -> None:
    # nan stands for an interval in which nothing is sent; the two at the end are after the last frame.
    nan = float("nan")
    assert of("empty_before_done_s", [64.0, 0.0, nan, 5.0, nan, nan]) == pytest.approx(2 * STEP_S)


def test_response(of: Measure) -> None:
    # Within 16 KB of 64 KB from sample 3 on, but for sample 5; three in a row are samples 6, 7 and 8.
    samples = [128.0, 90.0, 80.0, 48.0, 100.0, 64.0, 70.0, 60.0, 128.0]
    assert of("response_s", samples, hold_s=3 * STEP_S) == pytest.approx(6 * STEP_S)
    assert of("response_s", samples, hold_s=2 * STEP_S) == pytest.approx(3 * STEP_S)
    assert of("response_s", samples, hold_s=2 * STEP_S, from_s=0.0025) == pytest.approx(0.0005)
    assert of("response_s", samples, hold_s=4 * STEP_S) is None


def test_states_of_a_round(of: Measure) -> None:
    # Offsets 10, 5, -5, -10, -5, 5, 10, 5 KB: states 1, 1, 2, 3, 3, 4, 1 by offset and growth until the next sample.
    samples = [74.0, 69.0, 59.0, 54.0, 59.0, 69.0, 74.0, 69.0]
    shares, changes = of("changes_of_state", samples)
    assert changes == 4
    assert shares[0][1] == shares[1][2] == shares[2][3] == shares[3][0] == 0.25
    assert of("round_fraction", samples) == 1.0
    assert of("sliding_fraction", samples) == 0.5, "2 to 3, and 4 to 1"
    assert of("printed_fraction", samples) == 0.25, "1 to 2"


def test_states_of_a_slide(of: Measure) -> None:
    # Above the target, down and up in turns: between 1 and 4. Two frames more or less, or the target, change nothing.
    samples = [80.0, 76.0, 79.0, 81.0, 79.0, 74.0, 77.0, 72.0, 64.0, 60.0]
    assert of("sliding_fraction", samples) == 1.0
    assert of("round_fraction", samples) == 0.5
    assert of("sliding_fraction", [64.0, 64.0, 64.0]) is None
