"""The NetFPGA experiment makes sense: features of its result, and runs without a part of QCN that lack them.

The scenarios are in scenarios/netfpga: the service rate is 0.95 Gb/s, 0.2 Gb/s from 2.3 s to 6 s, and 0.95 Gb/s again.
A claim about a queue or a link is held against every one of ten seeds, a claim about fairness against their mean.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from conftest import ROOT

from penstock import Result, Scenario
from penstock.figures.series import queue_series
from penstock.highlights import notable_queues

if TYPE_CHECKING:
    from numpy.typing import NDArray

SEEDS = range(1, 11)
DROP_S, RISE_S, END_S = 2.3, 6.0, 10.0
Q_EQ_OCTETS = 33_000.0


@dataclass(frozen=True)
class Run:
    """Samples of the bottleneck and of the rates that the sources are allowed, one row a flow."""

    time_s: "NDArray[Any]"
    queue_octets: "NDArray[Any]"
    utilization: "NDArray[Any]"
    dropped: "NDArray[Any]"
    rate_bps: "NDArray[Any]"

    def between(self, start_s: float, stop_s: float) -> "NDArray[Any]":
        """Return which samples describe the time from ``start_s`` to ``stop_s``; a sample ends its interval."""
        inside: NDArray[Any] = (self.time_s > start_s) & (self.time_s <= stop_s)
        return inside

    def mean_queue_octets(self, start_s: float, stop_s: float) -> float:
        """Return the mean length of the queue."""
        return float(self.queue_octets[self.between(start_s, stop_s)].mean())

    def mean_utilization(self, start_s: float, stop_s: float) -> float:
        """Return the mean utilisation of the link."""
        return float(self.utilization[self.between(start_s, stop_s)].mean())

    def jain_index(self, start_s: float, stop_s: float) -> float:
        """Return the mean over time of Jain's index of the rates at each sample: (Σx)² / (n Σx²)."""
        rates = self.rate_bps[:, self.between(start_s, stop_s)].astype(float)
        index = rates.sum(axis=0) ** 2 / (len(rates) * (rates**2).sum(axis=0))
        return float(index.mean())

    def dropped_outside(self, *periods: tuple[float, float]) -> int:
        """Return how many frames the bottleneck drops outside of the periods."""
        excused = np.any([self.between(*period) for period in periods], axis=0)
        return int(self.dropped[~excused].sum())


def load(case: str) -> Scenario:
    """Return a case of the experiment, sampled every millisecond."""
    return Scenario.load(ROOT / "scenarios" / "netfpga" / f"{case}.toml").set("record.interval", "1 ms")


def run(scenario: Scenario, seed: int = 1, scheme: str | None = None) -> Run:
    result: Result = scenario.run(seed=seed, scheme=scheme)
    (queue,) = queue_series(result, notable_queues(result.summary["queues"], 1))
    assert queue.name == "sw0->h8"
    # Every sample has a row a flow, in the order of the summary.
    flows = len(result.summary["flows"])
    rates = result.column("rates", "rate_bps").reshape(-1, flows).T
    return Run(queue.time_s, queue.octets, queue.utilization, queue.dropped, rates)


def ten_runs(case: str) -> list[Run]:
    scenario = load(case)
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda seed: run(scenario, seed), SEEDS))


@pytest.fixture(scope="module")
def eight() -> list[Run]:
    """Return eight sources at 100 us, ten seeds."""
    return ten_runs("eight-sources-100us")


@pytest.fixture(scope="module")
def one() -> list[Run]:
    """Return one source at 100 us, ten seeds."""
    return ten_runs("one-source-100us")


def test_losses_only_at_the_start_and_after_the_drop(eight: list[Run], one: list[Run]) -> None:
    for outcome in [*eight, *one]:
        assert outcome.dropped_outside((0, 0.5), (DROP_S, DROP_S + 1)) == 0


def test_queue_before_the_drop(eight: list[Run]) -> None:
    for outcome in eight:
        assert 0.8 <= outcome.mean_queue_octets(0, DROP_S) / Q_EQ_OCTETS <= 1.3


def test_queue_at_the_end_of_the_low_period(eight: list[Run]) -> None:
    for outcome in eight:
        assert 0.7 <= outcome.mean_queue_octets(RISE_S - 2, RISE_S) / Q_EQ_OCTETS <= 2


def test_link_is_busy_again_a_second_after_the_rise(eight: list[Run], one: list[Run]) -> None:
    for outcome in [*eight, *one]:
        # The last tenth of that second, and all the time from there on.
        assert outcome.mean_utilization(RISE_S + 0.9, RISE_S + 1) >= 0.95
        assert outcome.mean_utilization(RISE_S + 1, END_S) >= 0.95


def test_rates_are_fair_before_the_drop_and_in_the_low_period(eight: list[Run]) -> None:
    assert np.mean([outcome.jain_index(0, DROP_S) for outcome in eight]) > 0.75
    assert np.mean([outcome.jain_index(DROP_S, RISE_S) for outcome in eight]) > 0.75


def test_after_the_rise_fairness_takes_long(eight: list[Run]) -> None:
    first = np.mean([outcome.jain_index(RISE_S, RISE_S + 1) for outcome in eight])
    last = np.mean([outcome.jain_index(END_S - 1, END_S) for outcome in eight])
    assert first < 0.75 < last


def test_one_source_holds_the_set_point(one: list[Run]) -> None:
    # Without the transients: half a second at the start, a second after each change.
    for outcome in one:
        for start_s, stop_s in ((0.5, DROP_S), (DROP_S + 1, RISE_S), (RISE_S + 1, END_S)):
            queue = outcome.queue_octets[outcome.between(start_s, stop_s)]
            assert abs(queue.mean() - Q_EQ_OCTETS) < 2000
            assert queue.std() < 3000


def test_control_no_scheme_no_claim() -> None:
    outcome = run(load("eight-sources-100us"), scheme="none")
    assert outcome.dropped_outside((0, 0.5), (DROP_S, DROP_S + 1)) > 0
    assert outcome.mean_queue_octets(0, DROP_S) > 1.3 * Q_EQ_OCTETS
    assert outcome.mean_queue_octets(RISE_S - 2, RISE_S) > 2 * Q_EQ_OCTETS


def test_control_another_set_point_another_queue() -> None:
    outcome = run(load("one-source-100us").set("schemes.qcn.q_eq", "38 KB"))
    assert outcome.mean_queue_octets(0.5, DROP_S) > Q_EQ_OCTETS + 2000


def test_control_without_timer_the_link_stays_idle() -> None:
    outcome = run(load("eight-sources-100us").set("schemes.qcn.timer_on", False))
    assert outcome.mean_utilization(RISE_S + 0.9, RISE_S + 1) < 0.95
