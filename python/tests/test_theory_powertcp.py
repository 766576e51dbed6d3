"""PowerTCP as a fluid and in packets: its queue in closed form, its decay, its margin, for both of its forms."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import Scenario
from penstock.theory.configuration import configuration
from penstock.theory.linearisation import linearise
from penstock.theory.margin import modes_beside, report
from penstock.theory.models import model_of
from penstock.theory.models.powertcp import PowerTcp
from penstock.theory.models.theta_powertcp import ThetaPowerTcp

TEN_GIG = Path(__file__).resolve().parent.parent.parent / "scenarios/baseline/ten-gig.toml"
SHORT: dict[str, str | float] = {
    "duration": "100 ms",
    "warmup": "50 ms",
    "flow.0.stagger": "1 ms",
    "topology.star.buffer": "2 MB",
}
TRIP_S = 42.5024e-6
"""There and back: a frame of 1500 octets and its acknowledgement of 64 over two links of 10 Gb/s and 10 us each way."""
HELD = TRIP_S * 1.25e9
"""Octets that the line sends in it: 53 128."""


def _scenario(flows: int, **settings: str | float) -> Scenario:
    """Return the case of QCN's page with a number of flows; a keyword ``a__b`` sets the key ``a.b``."""
    scenario = Scenario.load(TEN_GIG)
    ends: dict[str, str | float] = {
        "topology.star.hosts": flows + 1,
        "flow.0.from": f"h0..h{flows - 1}",
        "flow.0.to": f"h{flows}",
    }
    for key, value in (ends | SHORT | settings).items():
        scenario.set(key.replace("__", "."), value)
    return scenario


def _powertcp(flows: int, **settings: str | float) -> Scenario:
    return _scenario(flows, **{"schemes__powertcp__base_rtt": "42502 ns", **settings})


def _model(scenario: Scenario, scheme: str) -> Any:
    return model_of(configuration(scenario, scheme=scheme))


@pytest.mark.parametrize(("flows", "expected"), [(2, 10), (4, 10), (8, 20)])
def test_the_fluid_rests_at_the_sum_of_the_steps(flows: int, expected: int) -> None:
    for scheme, kind in (("powertcp", PowerTcp), ("theta-powertcp", ThetaPowerTcp)):
        model = _model(_powertcp(flows, **{f"schemes__{scheme}__flows": expected}), scheme)
        assert type(model) is kind
        rest = model.state_at_rest()
        # q = N beta = N line T / N0, at the fair rate; power 1 + q / (line T).
        assert rest == pytest.approx([flows / expected * HELD, 10e9 / flows, 1 + flows / expected], rel=1e-4)
        assert model.law(0, rest, (rest,)) == pytest.approx([0, 0, 0], abs=1e3)
        assert bool(model.comes_to_rest())


def test_a_trip_that_is_too_long_and_another_target_by_hand() -> None:
    # (A + q)(q + D (1 - target)) = N beta (q + D), A = 53 128, D = 62 500 at 50 us: N beta = 0.4 D = 25 000.
    model = _model(_powertcp(4, schemes__powertcp__base_rtt="50 us"), "powertcp")
    queue = float(model.state_at_rest()[0])
    assert (HELD + queue) * queue == pytest.approx(25_000 * (queue + 62_500))
    # Theta knows its trip; at 1.05 times of it the queue is N beta + 0.05 A.
    theta = _model(_scenario(4, **{"schemes__theta-powertcp__target": 1.05}), "theta-powertcp")
    assert float(theta.state_at_rest()[0]) == pytest.approx(0.45 * HELD)
    # With 95 % of the line aimed at and small steps there is no queue at all.
    empty = _powertcp(4, schemes__powertcp__target=0.95, schemes__powertcp__flows=1000)
    assert not _model(empty, "powertcp").comes_to_rest()


@pytest.mark.parametrize("scheme", ["powertcp", "theta-powertcp"])
@pytest.mark.parametrize(("flows", "expected"), [(4, 10), (8, 10)])
def test_packets_rest_where_the_fluid_does(scheme: str, flows: int, expected: int) -> None:
    scenario = _powertcp(flows, **{f"schemes__{scheme}__flows": expected})
    summary = scenario.run(scheme=scheme, seed=1).summary
    queue = max(summary["queues"], key=lambda queue: queue["mean_octets"])
    # A frame counts itself in the queue that it joins.
    rest = float(_model(scenario, scheme).state_at_rest()[0])
    assert queue["mean_octets"] - 1_500 == pytest.approx(rest, rel=0.1)
    assert queue["utilization"] > 0.99
    rates = [flow["throughput_bps"] for flow in summary["flows"]]
    assert rates == pytest.approx([sum(rates) / flows] * flows, rel=0.1)


def test_without_steps_there_is_no_queue_in_packets() -> None:
    # The control of the test above: a hundredth of the steps.
    summary = _powertcp(8, schemes__powertcp__flows=1000).run(scheme="powertcp", seed=1).summary
    assert max(queue["mean_octets"] for queue in summary["queues"]) < 0.1 * 0.8 * HELD


def test_the_window_decays_with_the_time_of_an_update_over_gamma() -> None:
    # All windows together follow w' = gamma / delta (line T + sum of beta - w), with no delay in it. Theta-powertcp
    # moves once a round trip, R = T (1 + 0.4). One root is -gamma / R; the queue's is the line's, -1 / R.
    model = _model(_scenario(4, **{"schemes__theta-powertcp__gamma": 0.1}), "theta-powertcp").without_delay()
    roots = np.linalg.eigvals(np.asarray(linearise(model, modes_beside(model)[0]).instant))
    slowest = float(np.max(roots.real))
    assert slowest == pytest.approx(-0.1 / (1.4 * TRIP_S), rel=0.15)


@pytest.mark.parametrize("scheme", ["powertcp", "theta-powertcp"])
def test_no_delay_makes_small_oscillations_grow(scheme: str) -> None:
    # The sum of the windows has no delay in its law; the loop has less than its own size at every frequency.
    side = report(configuration(_powertcp(4), scheme=scheme)).sides[0]
    assert side.stable
    assert side.phase_rad == side.delay_s == np.inf
