"""ExpressPass' credits as a fluid: the cycle in closed form by hand, in steps, and in packets."""

import numpy as np
import pytest

from penstock import Scenario
from penstock.theory.configuration import configuration
from penstock.theory.margin import report
from penstock.theory.models import model_of
from penstock.theory.models.expresspass import Expresspass

MEETING = """
question = "How do rates of credits move that meet at a link?"
duration = "10 ms"
seed = 1
scheme = "expresspass"
[topology.leaf-spine]
leaves = 2
spines = 1
hosts_per_leaf = {n}
host_rate = "10 Gbps"
fabric_rate = "10 Gbps"
link_delay = "20 us"
buffer = "64 MB"
[network]
wire_overhead = "20 octets"
[[flow]]
from = "h0..h{last}"
to = ["h{n}..h{most}"]
frame = "1518 octets"
[record]
signals = true
"""
TURN_S = 1622 * 8 / 10e9
"""A frame of 1518 octets and its credit, each with preamble and gap, at 10 Gb/s."""


def _scenario(flows: int) -> Scenario:
    return Scenario.from_toml(MEETING.format(n=flows, last=flows - 1, most=2 * flows - 1), name="meeting")


def _model(flows: int, **settings: float) -> Expresspass:
    scenario = _scenario(flows)
    for key, value in settings.items():
        scenario.set(f"schemes.expresspass.{key}", value)
    model = model_of(configuration(scenario))
    assert isinstance(model, Expresspass)
    return model


def test_the_cycle_by_hand() -> None:
    """Two flows: x0 = 1 + (1 - x0 / 2) / 8 = 1.125 / 1.0625; weights of 0.05 / 3 and 0.05 more."""
    cycle = _model(2).cycle()
    x0 = 1.125 / 1.0625
    x1 = x0 + 0.05 / 3 * (2 - x0)
    x2 = x1 + (0.05 / 3 + 0.05) * (2 - x1)
    assert (cycle.least, cycle.first_rise, cycle.most) == pytest.approx((x0, x1, x2))
    # A frame of 1538 and a credit of 84 octets on the line at 10 Gb/s, and eight links of 20 us.
    assert float(np.asarray(cycle.period_s)) == pytest.approx(4 * 165.1e-6, rel=1e-3)
    assert float(np.asarray(cycle.shrinks)) == pytest.approx((1 - 0.05 / 3) * (1 - 0.2 / 3) * x0 / x2)
    # Without a step of the weight both rises have the least one.
    slow = _model(2, w_step=0.0)
    assert (slow.first_weight, slow.second_weight) == (0.01, 0.01)


@pytest.mark.parametrize("flows", [2, 4, 8, 16])
def test_the_algorithm_in_steps_ends_in_the_cycle(flows: int) -> None:
    """``credit_feedback_control``, once a round trip, with the loss of the round trip before."""
    rates, weight, raised = [0.5, 0.5], 0.0625, False
    for _ in range(400):
        rate, seen = rates[-1], flows * rates[-2]
        lost, target = max(0.0, 1 - 1 / seen), 0.125 * (1 - rate)
        if lost <= target:
            weight = min(weight + 0.05, 0.5) if raised else weight
            rate, raised = rate + weight * (1 - rate), True
        else:
            rate, raised = min(rate, min(seen, 1.0) / flows * (1 + target)), False
            weight = max(weight / 2, 0.01)
        rates.append(rate)
    cycle = _model(flows).cycle()
    least, _, first, most = sorted(flows * rate for rate in rates[-4:])
    # The first of the two falls starts from the highest rate, whose target is a little lower.
    assert (least, first, most) == pytest.approx((cycle.least, cycle.first_rise, cycle.most), rel=0.02)


def test_one_host_sends_its_credits_in_turns() -> None:
    star = MEETING.replace('to = ["h{n}..h{most}"]', 'to = "h{n}"').format(n=4, last=3, most=7)
    given = configuration(Scenario.from_toml(star, name="star").set("topology.leaf-spine.fabric_rate", "40 Gbps"))
    assert given.to_one_host and not configuration(_scenario(4)).to_one_host
    model = model_of(given)
    assert model.why_no_margin() is None
    (side,) = report(given).sides
    assert side.stable and np.isinf(side.phase_rad)


def _credits(flows: int, weight_step: float | None = None) -> float:
    """Return the credits of all flows as a multiple of those that the port lets through, in packets after 3 ms."""
    scenario = _scenario(flows)
    if weight_step is not None:
        scenario.set("schemes.expresspass.w_step", weight_step)
    signals = scenario.run().signals
    assert signals is not None
    time, number = (np.asarray(signals.column(name).to_numpy()) for name in ("time_s", "credit"))
    flow = np.array([str(name) for name in signals.column("flow").to_pylist()])
    total = 0.0
    for name in set(flow):
        own = (flow == name) & (time > 3e-3) & (number >= 0)
        # Numbers count lost credits, too.
        total += float((number[own][-1] - number[own][0]) / (time[own][-1] - time[own][0]))
    return total * TURN_S


@pytest.mark.parametrize("flows", [4, *(pytest.param(n, marks=pytest.mark.science) for n in (2, 8, 16))])
def test_packets_have_the_mean_of_the_cycle(flows: int) -> None:
    assert _credits(flows) == pytest.approx(float(np.asarray(_model(flows).cycle().mean)), rel=0.03)


@pytest.mark.science
def test_weights_that_never_rise_send_fewer_credits() -> None:
    """The control: with w_step = 0 both rises have w_min, and the cycle of the default settings is far off."""
    found = _credits(16, 0.0)
    assert found == pytest.approx(float(np.asarray(_model(16, w_step=0.0).cycle().mean)), rel=0.1)
    assert found < 0.85 * float(np.asarray(_model(16).cycle().mean))
