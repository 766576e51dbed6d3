"""QCN's variants, Annulus, E-FECN and ICI as fluids: where they are the model of their parent, and where not."""

import numpy as np
import pytest

from penstock import Scenario
from penstock.catalogue import schemes
from penstock.theory.configuration import Configuration, UnsuitedScenarioError, configuration
from penstock.theory.linear_stability import DelaySystem, margins, rightmost_roots
from penstock.theory.linearisation import linearise
from penstock.theory.margin import modes_beside
from penstock.theory.models import DELAYED, kind_of, model_of
from penstock.theory.models.qcn import Averaged
from penstock.theory.models.without import WITHOUT

FAMILY = ("annulus", "qcn-bs", "af-qcn", "qcn-adaptive")


def _scenario(scheme: str, flows: int = 4, **settings: str | float | bool) -> Scenario:
    """Return the case of QCN's page; keywords are parameters of the scheme."""
    scenario = Scenario.named("baseline/ten-gig").set("scheme", scheme)
    keys: dict[str, str | int | float | bool] = {
        "topology.star.hosts": flows + 1,
        "flow.0.from": f"h0..h{flows - 1}",
        "flow.0.to": f"h{flows}",
    }
    for key, value in (keys | {f"schemes.{scheme}.{name}": value for name, value in settings.items()}).items():
        scenario.set(key, value)
    return scenario


def _given(scheme: str, flows: int = 4, **settings: str | float | bool) -> Configuration:
    return configuration(_scenario(scheme, flows, **settings))


def _delay_s(given: Configuration) -> float:
    """Return the delay margin of the worse side, s."""
    model = model_of(given)
    return min(float(margins(linearise(model, mode)).delay_s) for mode in modes_beside(model))


def test_every_scheme_has_a_model_or_a_reason() -> None:
    named = {entry["name"] for entry in schemes()}
    assert named - set(DELAYED) <= set(WITHOUT), "write a model, or a reason in theory/models/without.py"
    assert not set(DELAYED) & set(WITHOUT)


@pytest.mark.parametrize("scheme", sorted(WITHOUT))
def test_a_scheme_without_a_model_says_why(scheme: str) -> None:
    with pytest.raises(UnsuitedScenarioError, match="there is no fluid model of"):
        kind_of(scheme)


@pytest.mark.parametrize("scheme", FAMILY)
def test_qcns_variants_rest_where_they_say(scheme: str) -> None:
    model = model_of(_given(scheme))
    rest = model.state_at_rest()
    assert model.law(0, rest, (rest,)) == pytest.approx(np.zeros(3), abs=1e-3 * rest[1])
    system = linearise(model, 0)
    found = margins(system)
    border = DelaySystem(system.instant, system.delayed, system.delay_s + found.delay_s)
    assert abs(rightmost_roots(border)[0].real) < 1e-6 * float(found.crossing_rad_s)


@pytest.mark.parametrize("scheme", ["qcn-bs", "annulus"])
def test_at_one_near_bottleneck_they_are_qcn(scheme: str) -> None:
    ours, qcn = model_of(_given(scheme)), model_of(_given("qcn", profile="ieee-2010", q_eq="26 KB"))
    assert isinstance(ours, Averaged)
    # The standard's R_AI and R_HAI are larger than those of the defaults, which moves the rest by an octet.
    assert ours.state_at_rest() == pytest.approx(qcn.state_at_rest(), rel=1e-4)
    assert np.allclose(linearise(ours, 0).delayed, linearise(qcn, 0).delayed, rtol=1e-3)


def test_af_qcn_has_the_queues_part_of_the_feedback() -> None:
    # A gain of half: the queue alone is to be as far above Qeq again, and the crossing is lower.
    half, whole = (model_of(_given("af-qcn", alpha=alpha)) for alpha in (0.5, 0.0))
    above = [float(model.state_at_rest()[0]) - 26_000 for model in (half, whole)]
    assert above[0] == pytest.approx(2 * above[1], rel=1e-6)
    assert _delay_s(_given("af-qcn", alpha=0.5)) > _delay_s(_given("af-qcn", alpha=0.0))
    with pytest.raises(UnsuitedScenarioError, match="flows at their fair share get no message"):
        model_of(_given("af-qcn", below_share="nothing"))


def test_cycles_of_the_same_time_are_those_of_the_byte_counter_at_one_rate() -> None:
    # K = 240 us at 5 Gb/s are 150 KB: with two flows QCN's cycle. At 2.5 Gb/s it is half of that.
    pair = model_of(_given("qcn-adaptive", 2)), model_of(_given("qcn-bs", 2))
    assert pair[0].state_at_rest() == pytest.approx(pair[1].state_at_rest(), rel=1e-9)
    adaptive, plain = (float(model_of(_given(scheme)).state_at_rest()[2]) for scheme in ("qcn-adaptive", "qcn-bs"))
    assert adaptive > plain


def test_annulus_near_loop_does_not_know_of_the_far_path() -> None:
    # A frame to the switch, and a message of 64 octets back: the path behind the queue is in neither.
    assert configuration(_scenario("annulus")).round_trip_s == pytest.approx(
        1.2e-6 + 10e-6 + 64 * 8 / 10e9 + 10e-6, abs=1e-7
    )
    with pytest.raises(UnsuitedScenarioError, match="both loops act"):
        model_of(_given("annulus", k="20 KB"))
    assert model_of(_given("annulus", k="20 KB", end_to_end="none")).state_at_rest()[0] > 26_000
    with pytest.raises(UnsuitedScenarioError, match="DCTCP alone holds"):
        model_of(_given("annulus", near_hops=0))


@pytest.mark.parametrize("scheme", FAMILY)
def test_packets_of_qcns_variants_rest_near_the_fluid(scheme: str) -> None:
    scenario = _scenario(scheme).set("duration", "300 ms").set("warmup", "150 ms")
    queue = max(scenario.run(seed=1).summary["queues"], key=lambda queue: queue["mean_octets"])
    rest = float(model_of(configuration(scenario)).state_at_rest()[0])
    assert queue["mean_octets"] == pytest.approx(rest, rel=0.1)


@pytest.mark.science
def test_cycles_of_the_same_time_oscillate_in_packets_beyond_the_border() -> None:
    scenario = _scenario("qcn-adaptive").set("duration", "600 ms").set("warmup", "150 ms")
    scenario.set("topology.star.buffer", "1 MB").set("flow.0.stagger", "10 us")
    given = configuration(scenario)
    deviations = []
    for share in (0.9, 1.25):
        scenario.set("network.feedback.ideal", f"{share * (given.feedback_delay_s + _delay_s(given)) * 1e6:.3f} us")
        queues = scenario.run(seed=1).summary["queues"]
        deviations.append(max(queue["std_octets"] for queue in queues))
    assert deviations[0] < 3_000
    assert deviations[1] > 7_000


def test_efecn_is_fecn_near_its_rest() -> None:
    ours, theirs = model_of(_given("efecn")), model_of(_given("fecn"))
    for mode in (0, 1):
        assert np.allclose(linearise(ours, mode).delayed, linearise(theirs, mode).delayed)
    # It starts at line rate, FECN at a twentieth.
    assert float(ours.start()[1]) == 20 * float(theirs.start()[1])
    with pytest.raises(UnsuitedScenarioError, match=r"set schemes\.efecn\.limited_increase to false"):
        model_of(_given("efecn", limited_increase=True))


@pytest.mark.parametrize("flows", [4, 16])
def test_isolated_flows_have_dcqcns_loop(flows: int) -> None:
    ours, theirs = model_of(_given("ici", flows)), model_of(_given("dcqcn", flows))
    assert ours.state_at_rest() == pytest.approx(theirs.state_at_rest())
    assert np.allclose(linearise(ours, 1).delayed, linearise(theirs, 1).delayed)
