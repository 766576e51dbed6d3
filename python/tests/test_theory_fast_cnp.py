"""Fast CNP's fluid model: DCQCN's with a shorter delay, and QCN's constant cut; its border in packets."""

from pathlib import Path

import numpy as np
import own_timers
import pytest

from penstock import Scenario
from penstock.theory.configuration import Configuration, UnsuitedScenarioError, configuration
from penstock.theory.linear_stability import DelaySystem, margins, rightmost_roots
from penstock.theory.linearisation import linearise
from penstock.theory.margin import modes_beside, report
from penstock.theory.models import model_of
from penstock.theory.models.fast_cnp import FastCnp

TEN_GIG = Path(__file__).resolve().parent.parent.parent / "scenarios/baseline/ten-gig.toml"


def _scenario(flows: int, **settings: str) -> Scenario:
    """Return the case of QCN's page with a number of flows; a keyword ``a__b`` sets the key ``a.b``."""
    scenario = Scenario.load(TEN_GIG)
    ends = {"topology.star.hosts": f"{flows + 1}", "flow.0.from": f"h0..h{flows - 1}", "flow.0.to": f"h{flows}"}
    for key, value in {**ends, **settings}.items():
        scenario.set(key.replace("__", "."), value)
    return scenario


def _given(flows: int, scheme: str = "fast-cnp", **settings: str) -> Configuration:
    of_scheme = {f"schemes.{scheme}.{key}": value for key, value in settings.items()}
    return configuration(_scenario(flows, **of_scheme), scheme=scheme)


def test_the_delay_is_the_way_to_the_queue_and_back() -> None:
    given = _given(4)
    # A frame of 1500 octets and 10 us to the switch, a notification of 122 and 10 us back, at 10 Gb/s.
    assert given.round_trip_s == pytest.approx(1.2e-6 + 10e-6 + 0.0976e-6 + 10e-6)
    fast, slow = model_of(given), model_of(_given(4, "dcqcn"))
    assert fast.delays_s == (given.round_trip_s,)
    # DCQCN's mark waits in the queue of 20 KB, crosses the line of 10 us, and its CNP of 78 octets crosses two.
    queue_s = float(slow.state_at_rest()[0]) * 8 / 10e9
    assert slow.delays_s[0] == pytest.approx(1.2e-6 + 10e-6 + queue_s + 1.2e-6 + 10e-6 + 2 * (10e-6 + 0.0624e-6))


@pytest.mark.parametrize("flows", [2, 4, 8, 16])
def test_equilibrium_and_equations_are_those_of_dcqcn(flows: int) -> None:
    fast, slow = model_of(_given(flows)), model_of(_given(flows, "dcqcn"))
    assert fast.state_at_rest() == pytest.approx(slow.state_at_rest())
    ours, theirs = (linearise(model, 1) for model in (fast, slow))
    assert np.allclose(ours.instant, theirs.instant)
    assert np.allclose(ours.delayed, theirs.delayed)


def test_the_cut_of_qcn_is_in_its_equilibrium() -> None:
    # Cuts c and cycles m a second, each raising by half of R - r: r Gd |Fb| c = (R - r) m / 2.
    model = model_of(_given(4, reaction="qcn", fb="16"))
    assert isinstance(model, FastCnp)
    _, rate, target, alpha = model.state_at_rest()
    assert alpha == pytest.approx(2 * 16 / 128)
    cuts, _, cycles, _ = model._rates(model.mark_at_rest(), rate / 8 / model.wire_octets)
    assert rate * 16 / 128 * cuts == pytest.approx((target - rate) * cycles / 2, rel=1e-6)
    assert float(model.start()[3]) == 0.25


@pytest.mark.parametrize("reaction", ["dcqcn", "qcn"])
def test_margins_lie_where_the_rightmost_root_crosses(reaction: str) -> None:
    model = model_of(_given(4, reaction=reaction))
    for mode in modes_beside(model):
        system = linearise(model, mode)
        found = margins(system)
        assert bool(found.stable) == bool(rightmost_roots(system)[0].real < 0)
        border = DelaySystem(system.instant, system.delayed, system.delay_s + found.delay_s)
        assert abs(rightmost_roots(border)[0].real) < 1e-6 * float(found.crossing_rad_s)


# The table of the scheme's page: flows, phase margins in degrees of DCQCN, of Fast CNP, and with QCN's cut.
MARGINS = ((2, 7.8, 15.1, 18.7), (4, 2.7, 9.5, 10.5), (8, -0.8, 6.5, 6.0), (16, -2.8, 6.8, 6.0))


@pytest.mark.parametrize(("flows", "slow", "fast", "as_qcn"), MARGINS)
def test_the_margins_are_those_of_the_page(flows: int, slow: float, fast: float, as_qcn: float) -> None:
    every = (_given(flows, "dcqcn"), _given(flows), _given(flows, reaction="qcn"))
    for given, expected in zip(every, (slow, fast, as_qcn), strict=True):
        model = model_of(given)
        found = min(float(np.degrees(margins(linearise(model, mode)).phase_rad)) for mode in modes_beside(model))
        assert found == pytest.approx(expected, abs=0.06)


def _fast_line(flows: int, scheme: str, duration: str, **settings: str) -> Scenario:
    """Return the same at 100 Gb/s, 5 us a link, with settings of the scheme; the second half is measured."""
    line = {"link_rate": "100 Gbps", "link_delay": "5 us", "buffer": "8 MB"}
    of_scheme = {f"schemes.{scheme}.{key}": value for key, value in settings.items()}
    scenario = _scenario(flows, **{f"topology.star.{key}": value for key, value in line.items()}, **of_scheme)
    return scenario.set("flow.0.stagger", "10 us").set("duration", duration).set("warmup", "30 ms")


def _queue(scenario: Scenario, scheme: str) -> tuple[float, float]:
    """Return the mean and the standard deviation of the longest queue, octets."""
    queue = max(scenario.run(scheme=scheme).summary["queues"], key=lambda queue: queue["mean_octets"])
    return queue["mean_octets"], queue["std_octets"]


HPCC = {"k_min": "400 KB", "k_max": "1600 KB", "p_max": "0.2", "r_ai": "40 Mbps"}


@pytest.mark.parametrize(
    "flows", [4, pytest.param(8, marks=pytest.mark.science), pytest.param(16, marks=pytest.mark.science)]
)
def test_packets_stand_at_the_fluids_equilibrium_where_those_of_dcqcn_swing(flows: int) -> None:
    fast, slow = (_fast_line(flows, scheme, "60 ms", **HPCC) for scheme in ("fast-cnp", "dcqcn"))
    of_fast, of_slow = report(configuration(fast, scheme="fast-cnp")), report(configuration(slow, scheme="dcqcn"))
    assert of_fast.stable
    assert not of_slow.stable
    mean, deviation = _queue(fast, "fast-cnp")
    assert mean == pytest.approx(of_fast.equilibrium["queue_octets"], rel=0.1)
    assert deviation < 25_000
    assert _queue(slow, "dcqcn")[1] > 25_000


@pytest.mark.science
def test_packets_swing_beyond_the_border_and_not_before() -> None:
    settings = {"k_min": "50 KB", "k_max": "550 KB", "p_max": "0.1", "r_ai": "10 Mbps", "reaction": "qcn"}
    scenario = _fast_line(64, "fast-cnp", "80 ms", **settings)
    given = configuration(scenario, scheme="fast-cnp")
    border_s = given.feedback_delay_s + min(side.delay_s for side in report(given).sides)
    deviations = []
    for share in (0.5, 1.4):
        scenario.set("network.feedback.ideal", f"{share * border_s * 1e6:.3f} us")
        deviations.append(_queue(scenario, "fast-cnp")[1])
    assert deviations[0] < 50_000
    assert deviations[1] > 90_000


@pytest.mark.science
def test_with_frames_enough_packets_have_an_edge_at_twice_the_delay() -> None:
    # 33 frames of 300 octets in an interval between notifications: the table of the page.
    settings = {"k_min": "50 KB", "k_max": "550 KB", "p_max": "0.1", "r_ai": "10 Mbps", "reaction": "qcn"}
    scenario = _fast_line(64, "fast-cnp", "80 ms", **settings).set("flow.0.frame", "300 octets")
    given = configuration(scenario, scheme="fast-cnp")
    border_s = given.feedback_delay_s + min(side.delay_s for side in report(given).sides)
    assert border_s == pytest.approx(22.1e-6, rel=0.01)
    deviations = []
    for share in (1.3, 1.8, 2.4):
        scenario.set("network.feedback.ideal", f"{share * border_s * 1e6:.3f} us")
        deviations.append(_queue(scenario, "fast-cnp")[1])
    assert deviations[0] < deviations[1] < 14_000
    assert deviations[2] > 40_000


@pytest.mark.science
def test_flows_with_their_own_timers_have_the_edge_of_packets() -> None:
    """Of the fluid's border packets swing from 2.2 to 2.3 on, and these flows from 2.45 on."""
    settings = {"k_min": "50 KB", "k_max": "550 KB", "p_max": "0.1", "r_ai": "10 Mbps", "reaction": "qcn"}
    scenario = _fast_line(64, "fast-cnp", "80 ms", **settings).set("flow.0.frame", "300 octets")
    given = configuration(scenario, scheme="fast-cnp")
    border_s = given.feedback_delay_s + min(side.delay_s for side in report(given).sides)
    model = FastCnp.of(given)
    assert isinstance(model, FastCnp)
    before, beyond = (own_timers.run(model, given.forward_delay_s + share * border_s) for share in (2.3, 2.55))
    assert before.deviations[-1] < 3_000
    assert min(beyond.deviations) > 40_000


@pytest.mark.parametrize(
    "settings", [{"reaction": "pause"}, {"mark_ecn": "true"}, {"proxy": "true"}, {"marking": "pi"}]
)
def test_other_notifications_have_no_model(settings: dict[str, str]) -> None:
    with pytest.raises(UnsuitedScenarioError, match="notifications of the switch alone"):
        model_of(_given(4, **settings))
