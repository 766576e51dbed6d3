"""Fast CNP's fluid model: DCQCN's with a shorter delay, and QCN's constant cut; its border in packets."""

from pathlib import Path

import numpy as np
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


@pytest.mark.parametrize("settings", [{"reaction": "pause"}, {"mark_ecn": "true"}, {"proxy": "true"}, {"marking": "pi"}])
def test_other_notifications_have_no_model(settings: dict[str, str]) -> None:
    with pytest.raises(UnsuitedScenarioError, match="notifications of the switch alone"):
        model_of(_given(4, **settings))
