"""RoCC and DCQCN under a PI controller as fluids: equilibria, margins by hand, and RoCC against packets."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import Scenario
from penstock.theory.configuration import UnsuitedScenarioError, configuration
from penstock.theory.linear_stability import DelaySystem, margins, rightmost_roots
from penstock.theory.linearisation import linearise
from penstock.theory.margin import marks_jump, modes_beside, report
from penstock.theory.models import model_of
from penstock.theory.models.dcqcn import Controlled, Dcqcn
from penstock.theory.models.rocc import Rocc

TEN_GIG = Path(__file__).resolve().parent.parent.parent / "scenarios/baseline/ten-gig.toml"


def _scenario(flows: int, **settings: str) -> Scenario:
    """Return the case of QCN's page with a number of flows; a keyword ``a__b`` sets the key ``a.b``."""
    scenario = Scenario.load(TEN_GIG)
    ends = {"topology.star.hosts": f"{flows + 1}", "flow.0.from": f"h0..h{flows - 1}", "flow.0.to": f"h{flows}"}
    for key, value in {**ends, **settings}.items():
        scenario.set(key.replace("__", "."), value)
    return scenario


def _rocc(flows: int) -> Rocc:
    model = model_of(configuration(_scenario(flows), scheme="rocc"))
    assert isinstance(model, Rocc)
    return model


def _controlled(**settings: str) -> Controlled:
    scenario = _scenario(4, schemes__dcqcn__marking="pi", **settings)
    model = model_of(configuration(scenario, scheme="dcqcn"))
    assert isinstance(model, Controlled)
    return model


def _at_rest(model: Any) -> None:
    """Fail unless nothing moves at the equilibrium."""
    rest = model.state_at_rest()
    for mode in range(len(model.modes)):
        assert model.law(mode, rest, (rest,)) == pytest.approx(np.zeros(len(rest)), abs=1e-9 * np.abs(rest).max())


def test_both_rest_where_they_say() -> None:
    rocc, controlled = _rocc(4), _controlled()
    _at_rest(rocc)
    _at_rest(controlled)
    assert rocc.state_at_rest() == pytest.approx([37_500, 2.5e9])
    assert controlled.state_at_rest()[:2] == pytest.approx([50_000, 2.5e9])


def test_the_controller_asks_for_the_marks_that_the_thresholds_ask_for() -> None:
    # How likely a mark has to be is a matter of the sources; only the queue differs.
    by_thresholds = Dcqcn.of(configuration(_scenario(4), scheme="dcqcn"))
    marked = by_thresholds.marked(1, by_thresholds.state_at_rest()[0])
    assert _controlled().state_at_rest()[4] == pytest.approx(marked, rel=1e-9)


@pytest.mark.science
def test_the_controller_has_an_equilibrium_beyond_the_marks_of_the_ramp() -> None:
    # 32 flows need a mark on every seventh frame. Thresholds have p_max = 0.1, and mark all frames beyond; a controller
    # has neither.
    scenario = _scenario(32, schemes__dcqcn__marking="pi")
    model = model_of(configuration(scenario, scheme="dcqcn"))
    assert isinstance(model, Controlled)
    assert float(model.mark_at_rest()) > float(model.p_max)
    assert not marks_jump(model)
    found = report(configuration(scenario, scheme="dcqcn"))
    assert found.sides
    # The number of flows that is at its border is where the margin is 0, and not where the ramp ends.
    (border,) = {limit.border for side in found.sides for limit in side.limits if limit.parameter == "flows"}
    assert 30 < border < 32
    assert marks_jump(Dcqcn.of(configuration(_scenario(32), scheme="dcqcn")))


def test_the_level_of_the_gains_is_the_least_power_of_two_above_the_share() -> None:
    levels = {1: 2, 2: 2, 3: 4, 4: 4, 5: 8, 8: 8, 9: 16, 64: 64, 100: 64}
    for flows, level in levels.items():
        assert _rocc(4).with_changes(flows=float(flows)).level() == level


@pytest.mark.parametrize("flows", [3, 4, 6])
def test_rocc_by_hand(flows: int) -> None:
    # L(s) = k (beta s + alpha / T) / s² a delay ago, k = N / 8 × 2 / l × 10 Mb/s / 600 octets.
    model = _rocc(flows)
    given = configuration(_scenario(flows), scheme="rocc")
    k = flows / 8 * 2 / float(model.level()) * 10e6 / 600
    beta, offset = k * 1.5, k * 0.3 / 40e-6
    w = np.sqrt((beta**2 + np.sqrt(beta**4 + 4 * offset**2)) / 2)
    for side in report(given).sides:
        assert side.crossing_rad_s == pytest.approx(w, rel=1e-6)
        margin = np.arctan(beta * w / offset) / w - given.round_trip_s - 40e-6
        assert side.delay_s == pytest.approx(margin, rel=1e-6)


def test_rocc_has_the_same_margin_for_any_number_of_flows_that_is_a_power_of_two() -> None:
    delays = [report(configuration(_scenario(n), scheme="rocc")).sides[0].delay_s for n in (2, 4, 8)]
    assert delays == pytest.approx([delays[0]] * 3)


@pytest.mark.parametrize("model", [_rocc(4), _controlled()], ids=["rocc", "dcqcn"])
def test_margins_lie_where_the_rightmost_root_crosses(model: Rocc | Controlled) -> None:
    for mode in modes_beside(model):
        system = linearise(model, mode)
        found = margins(system)
        assert bool(found.stable) == bool(rightmost_roots(system)[0].real < 0)
        border = DelaySystem(system.instant, system.delayed, system.delay_s + found.delay_s)
        assert abs(rightmost_roots(border)[0].real) < 1e-6 * float(found.crossing_rad_s)


def _deviation(flows: int, share: float, **settings: str) -> float:
    """Return the standard deviation of RoCC's queue in packets at a share of the delay at the border of stability."""
    # Lengths at which the rate is halved, or becomes the least, are out of reach: the model has neither.
    reach = {"topology__star__buffer": "4 MB", "schemes__rocc__q_mid": "3 MB", "schemes__rocc__q_max": "3 MB"}
    scenario = _scenario(flows, flow__0__stagger="1 ms", warmup="300 ms", **reach, **settings)
    given = configuration(scenario, scheme="rocc")
    border_s = given.feedback_delay_s + min(side.delay_s for side in report(given).sides)
    scenario.set("network.feedback.ideal", f"{share * border_s * 1e6:.3f} us")
    queues = scenario.run(scheme="rocc").summary["queues"]
    return max(queue["std_octets"] for queue in queues)


@pytest.mark.science
def test_rocc_oscillates_in_packets_beyond_its_delay_margin_and_not_before() -> None:
    assert _deviation(3, 0.85) < 4_000
    assert _deviation(3, 1.25) > 20_000


def test_sources_that_double_by_themselves_keep_rocc_from_its_equilibrium() -> None:
    # The equilibrium is stable, but an oscillation that empties the queue leaves sources without messages for 55 us.
    assert _deviation(6, 0.7) > 20_000
    assert _deviation(6, 0.7, schemes__rocc__self_rise="1 s") < 4_000


def test_the_controllers_model_needs_its_interval() -> None:
    with pytest.raises(ValueError, match="needs its interval"):
        _controlled().without_delay()
    with pytest.raises(ValueError, match="needs its interval"):
        _rocc(4).without_delay()
    with pytest.raises(UnsuitedScenarioError, match="thresholds do"):
        Controlled.of(configuration(_scenario(4), scheme="dcqcn"))
    with pytest.raises(UnsuitedScenarioError, match="cuts at once"):
        _controlled(schemes__dcqcn__decrease_time="4 us")


# The table of DCQCN's page: flows, phase margins in degrees with the defaults, and with gains chosen for 30 of them.
MARGINS = ((4, -10.6, 31.3), (8, -10.4, 75.8), (16, -7.0, 94.6), (32, 0.5, 98.0), (48, 6.8, 97.5))
SLOW = {"pi_a": 1.0885e-6, "pi_b": 1.08e-6, "pi_interval": "200 us"}


@pytest.mark.parametrize(("flows", "defaults", "slow"), MARGINS)
def test_the_controllers_margins_are_those_of_its_page(flows: int, defaults: float, slow: float) -> None:
    for gains, expected in (({}, defaults), (SLOW, slow)):
        settings = {f"schemes__dcqcn__{key}": str(value) for key, value in gains.items()}
        model = model_of(configuration(_scenario(flows, schemes__dcqcn__marking="pi", **settings), scheme="dcqcn"))
        found = min(float(np.degrees(margins(linearise(model, mode)).phase_rad)) for mode in modes_beside(model))
        assert found == pytest.approx(expected, abs=0.06)


def _queue(flows: int, duration: str = "300 ms", **settings: str) -> tuple[float, float]:
    """Return the mean and the standard deviation of the queue under DCQCN with a PI controller, octets."""
    scenario = _scenario(flows, schemes__dcqcn__marking="pi", topology__star__buffer="1 MB", **settings)
    scenario.set("warmup", "100 ms")
    scenario.set("duration", duration)
    queue = max(scenario.run(scheme="dcqcn").summary["queues"], key=lambda queue: queue["mean_octets"])
    return queue["mean_octets"], queue["std_octets"]


def test_the_controller_holds_the_mean_and_not_the_queue() -> None:
    mean, deviation = _queue(8)
    assert mean == pytest.approx(50_000, rel=0.05)
    assert 30_000 < deviation < 60_000
    # Larger gains: less of an oscillation, though the margin is less; and not about the reference.
    gains = {
        "schemes__dcqcn__pi_a": "0.005015",
        "schemes__dcqcn__pi_b": "0.005",
        "schemes__dcqcn__pi_interval": "10 us",
    }
    mean, deviation = _queue(8, **gains)
    assert mean < 40_000
    assert deviation < 15_000
