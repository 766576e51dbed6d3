"""The testbed beside the simulator: one scenario, run on both some times, and how far apart they are."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean
from typing import TYPE_CHECKING

from penstock.metrics.values import busiest, longest, measured_octets
from penstock.testbed.runner import run

if TYPE_CHECKING:
    from penstock.result import Result
    from penstock.scenario import Scenario
    from penstock.summary import Summary

RATE_WITHIN = 0.05
"""The share by which the rate of delivery may differ."""

QUEUE_WITHIN = 0.15
"""The share by which the median of the queue's length may differ."""


@dataclass(frozen=True)
class RunMeasures:
    """One run of either.

    ``delivered_bps`` is the goodput of all flows where transports carry them, else their throughput.
    ``queue_octets`` is the median of the sampled length of the queue that both are judged by, after the warm-up.
    ``late`` are segments that were sent again, or on the testbed those that came behind later ones.
    """

    delivered_bps: float
    queue_octets: float
    dropped: int
    signals: int
    late: int


@dataclass(frozen=True)
class MeasuredRun:
    """A run on the testbed: ``load`` is the machine's load average of a minute at its end."""

    body: RunMeasures
    valid: bool
    faults: tuple[str, ...]
    lateness_p99_s: float
    lateness_max_s: float
    load: float


@dataclass(frozen=True)
class Agreement:
    """A scenario on both: the simulator's runs, one a seed, and the testbed's.

    Means are compared: a single run of either is one draw. Invalid runs count for nothing.
    """

    simulated: tuple[RunMeasures, ...]
    measured: tuple[MeasuredRun, ...]

    @property
    def bodies(self) -> list[RunMeasures]:
        """The testbed's valid runs."""
        return [run.body for run in self.measured if run.valid]

    @property
    def valid(self) -> bool:
        """Whether there are enough valid runs to judge: one at least."""
        return bool(self.bodies)

    @property
    def rate_off(self) -> float:
        """Share by which the testbed delivers more than the simulator, on average."""
        return _off(mean(b.delivered_bps for b in self.bodies), mean(b.delivered_bps for b in self.simulated))

    @property
    def queue_off(self) -> float:
        """Share by which the testbed's median queue is longer, on average."""
        return _off(mean(b.queue_octets for b in self.bodies), mean(b.queue_octets for b in self.simulated))

    @property
    def loses_more(self) -> bool:
        """Whether the testbed drops frames, and the simulator none with any seed."""
        return any(b.dropped for b in self.bodies) and not any(b.dropped for b in self.simulated)

    @property
    def agrees(self) -> bool:
        """Whether rate and queue are within their bounds, and no frame is lost where the simulator loses none."""
        if not self.valid:
            return False
        within = abs(self.rate_off) <= RATE_WITHIN and abs(self.queue_off) <= QUEUE_WITHIN
        return within and not self.loses_more


def _off(measured: float, simulated: float) -> float:
    """Return by which share a measured value is above the simulated one, of the same unit."""
    if simulated == 0:
        return 0.0 if measured == 0 else float("inf")
    # Rounded, so that a bound holds for itself.
    return round(measured / simulated - 1, 9)


def agreement(
    scenario: "Scenario",
    *,
    scheme: str | None = None,
    seeds: Sequence[int] = (1,),
    runs: int = 1,
    tries: int = 1,
) -> Agreement:
    """Run a scenario in the simulator and on the testbed, and say how far they are apart.

    Args:
        scenario: the scenario.
        scheme: the scheme; ``None`` for the scenario's.
        seeds: the seeds of the simulator's runs; the testbed's have the first ones, from the start again where they
            are more.
        runs: valid runs on the testbed.
        tries: how often a run on the testbed is made until it is valid.

    Raises:
        TestbedError: the scenario does not suit the testbed, or the system refuses something.
        ScenarioError: the scenario is wrong.
    """
    simulated = [scenario.run(scheme=scheme, seed=seed) for seed in seeds]
    results: list[Result] = []
    loads: list[float] = []
    for number in range(runs):
        for _ in range(tries):
            results.append(run(scenario, scheme=scheme, seed=seeds[number % len(seeds)]))
            loads.append(os.getloadavg()[0])
            if results[-1].summary["testbed"]["valid"]:
                break
    queue = busiest([simulated[0].summary, results[0].summary])
    return Agreement(
        simulated=tuple(_body(result, queue) for result in simulated),
        measured=tuple(_measured(result, queue, load) for result, load in zip(results, loads, strict=True)),
    )


def _measured(result: "Result", queue: str | None, load: float) -> MeasuredRun:
    about = result.summary["testbed"]
    return MeasuredRun(
        body=_body(result, queue),
        valid=about["valid"],
        faults=tuple(about["faults"]),
        lateness_p99_s=about["lateness_p99_s"],
        lateness_max_s=about["lateness_max_s"],
        load=load,
    )


def _body(result: "Result", queue: str | None) -> RunMeasures:
    import numpy as np

    summary = result.summary
    chosen = longest(summary, queue)
    samples = np.empty(0) if chosen is None else measured_octets(result, chosen)
    return RunMeasures(
        delivered_bps=delivered_bps(summary),
        queue_octets=float(np.median(samples)) if len(samples) else 0.0,
        dropped=summary["totals"]["frames_dropped"],
        signals=summary["totals"]["feedback_frames"],
        late=sum(flow.get("retransmissions", 0) for flow in summary["flows"]),
    )


def delivered_bps(summary: "Summary") -> float:
    """Return what all flows together deliver, bit/s: data of transports, or frames where nothing carries them."""
    flows = summary["flows"]
    goodput = sum(flow.get("goodput_bps", 0.0) for flow in flows)
    return goodput or sum(flow["throughput_bps"] for flow in flows)
