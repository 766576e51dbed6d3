"""Mliki et al. 2016: both examples are the network of the paper's star, and its own metrics count right."""

import math
import tomllib
from typing import Any

import numpy as np
import pytest
from conftest import ROOT

from penstock import Scenario
from penstock.reproduction.paper import Paper, load
from penstock.reproduction.plan import Run
from penstock.reproduction.prose import number


@pytest.fixture(scope="module")
def paper() -> Paper:
    return load(ROOT / "papers/multicast")


def test_the_longer_star_is_the_star(paper: Paper) -> None:
    both = [tomllib.loads(paper.scenario(Run.of(name, "qcn")).resolved()) for name in ("star", "longer-star")]
    for scenario in both:
        for key in ("name", "question", "duration", "record"):
            scenario.pop(key, None)
    assert both[0] == both[1]


def test_the_example_is_the_papers_star(paper: Paper) -> None:
    example = Scenario.load(ROOT / "scenarios/multicast/star.toml").describe()
    star = paper.scenario(Run.of("star", "qcn")).describe()
    assert len(example["queues"]) == len(star["queues"])
    assert (
        [len(f["destinations"]) for f in example["flows"]] == [len(f["destinations"]) for f in star["flows"]] == [2] * 6
    )
    assert [fair["max_min_bps"] for fair in example["fair"]] == [fair["max_min_bps"] for fair in star["fair"]]


class Made:
    """Two flows and two queues, three samples; four feedback frames."""

    def __init__(self) -> None:
        self.summary = {
            "flows": [{"name": "s1"}, {"name": "s2"}],
            "queues": [{"name": "a", "mean_octets": 0.0}, {"name": "b", "mean_octets": 0.0}],
            "totals": {"feedback_frames": 4},
        }
        self._columns = {
            ("rates", "time_s"): np.repeat([1.0, 2.0, 3.0], 2),
            ("rates", "rate_bps"): np.array([0, 900, 700, 800, 100, 50]),
            ("queues", "cp_silenced_total"): np.array([0, 0, 1, 2, 5, 7]),
            ("signals", "time_s"): np.array([0.5, 1.0, 1.5, 2.0]),
            ("signals", "flow"): np.array(["s1", "s1", "s1", "s1"]),
            ("signals", "queue"): np.array(["a", "b", "a", "a"]),
            ("signals", "fb"): np.array([3, 9, 2, 9]),
        }

    def column(self, table: str, column: str) -> Any:
        """Return a column of a table."""
        return self._columns[table, column]


def test_own_metrics(paper: Paper) -> None:
    made, metrics = Made(), paper.metrics
    assert metrics["least_rate_bps"](made, at_s=1.5) == 700.0, "the first sample from 1.5 s on has 700 and 800"
    assert metrics["least_rate_bps"](made, at_s=1.0) == 0.0
    assert metrics["strongest_feedback"](made) == 9.0
    assert metrics["least_feedback_frames"](made, queues=["a", "b"]) == 1.0
    # a's 3 and b's 9 are each the largest so far; then b is the representative, and a sends 2 and another 9.
    assert metrics["from_representative"](made) == 2 / 4
    # s1 rises by 700 and falls by 600, s2 falls alone.
    assert metrics["recovered_ratio"](made, from_s=1.0) == pytest.approx(700 / 600 / 2)
    # At the end 5 and 7 are silenced, and 4 have been sent.
    assert metrics["silenced_fraction"](made) == 12 / 16


def test_a_mean_over_no_sample_is_written_as_no_number(paper: Paper) -> None:
    claim = next(claim for claim in paper.claims if claim.id == "then-decreases")
    assert claim.testable is not None
    assert number(claim.testable, math.nan) == "not a number", "a rate has a unit, which a number that is none has not"
