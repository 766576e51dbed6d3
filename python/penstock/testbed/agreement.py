"""The testbed beside the simulator: one scenario, run on both, and how far apart they are."""

import os
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING

from penstock.measures import busiest, longest, measured_octets
from penstock.testbed.running import run

if TYPE_CHECKING:
    from penstock.result import Result
    from penstock.scenario import Scenario
    from penstock.summary import Summary

RATE_WITHIN = 0.05
"""The share by which the rate of delivery may differ."""

QUEUE_WITHIN = 0.15
"""The share by which the median of the queue's length may differ."""


@dataclass(frozen=True)
class Body:
    """One of the two runs.

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
class Agreement:
    """A scenario on both: ``load`` is the machine's load average of a minute at the end of the run on the testbed."""

    simulated: Body
    measured: Body
    valid: bool
    faults: tuple[str, ...]
    lateness_p99_s: float
    lateness_max_s: float
    load: float

    @property
    def rate_off(self) -> float:
        """Share by which the testbed delivers more than the simulator."""
        return _off(self.measured.delivered_bps, self.simulated.delivered_bps)

    @property
    def queue_off(self) -> float:
        """Share by which the testbed's median queue is longer."""
        return _off(self.measured.queue_octets, self.simulated.queue_octets)

    @property
    def agrees(self) -> bool:
        """Whether rate and queue are within their bounds."""
        return abs(self.rate_off) <= RATE_WITHIN and abs(self.queue_off) <= QUEUE_WITHIN


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
    seed: int | None = None,
    keep: str | PathLike[str] | None = None,
) -> Agreement:
    """Run a scenario in the simulator and on the testbed, and say how far they are apart.

    Args:
        scenario: the scenario.
        scheme: the scheme; ``None`` for the scenario's.
        seed: the seed of all random streams.
        keep: as for :func:`penstock.testbed.run`.

    Raises:
        TestbedError: the scenario does not suit the testbed, or the system refuses something.
        ScenarioError: the scenario is wrong.
    """
    simulated = scenario.run(scheme=scheme, seed=seed)
    measured = run(scenario, scheme=scheme, seed=seed, keep=keep)
    queue = busiest([simulated.summary, measured.summary])
    about = measured.summary["testbed"]
    return Agreement(
        simulated=_body(simulated, queue),
        measured=_body(measured, queue),
        valid=about["valid"],
        faults=tuple(about["faults"]),
        lateness_p99_s=about["lateness_p99_s"],
        lateness_max_s=about["lateness_max_s"],
        load=os.getloadavg()[0],
    )


def _body(result: "Result", queue: str | None) -> Body:
    import numpy as np

    summary = result.summary
    chosen = longest(summary, queue)
    samples = np.empty(0) if chosen is None else measured_octets(result, chosen)
    return Body(
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
