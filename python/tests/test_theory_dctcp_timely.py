"""DCTCP and TIMELY as fluids: equilibria or none, margins and closed forms by hand, and both against packets."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import Scenario
from penstock.theory.configuration import UnsuitedScenarioError, configuration
from penstock.theory.limit_cycle import settled
from penstock.theory.linear_stability import DelaySystem, margins, rightmost_roots
from penstock.theory.linearisation import linearise
from penstock.theory.margin import modes_beside, report
from penstock.theory.models import model_of
from penstock.theory.models.dctcp import Dctcp
from penstock.theory.models.timely import Patched, Timely

TEN_GIG = Path(__file__).resolve().parent.parent.parent / "scenarios/baseline/ten-gig.toml"
SHORT = {"duration": "200 ms", "warmup": "100 ms", "flow.0.stagger": "1 ms", "topology.star.buffer": "1 MB"}


def _scenario(flows: int, **settings: str) -> Scenario:
    """Return the case of QCN's page with a number of flows; a keyword ``a__b`` sets the key ``a.b``."""
    scenario = Scenario.load(TEN_GIG)
    ends = {"topology.star.hosts": f"{flows + 1}", "flow.0.from": f"h0..h{flows - 1}", "flow.0.to": f"h{flows}"}
    for key, value in {**ends, **SHORT, **settings}.items():
        scenario.set(key.replace("__", "."), value)
    return scenario


def _model(scheme: str, profile: str | None = None, **settings: str) -> Any:
    return model_of(configuration(_scenario(4, **settings), scheme=scheme, profile=profile))


def _queue(scheme: str, profile: str | None = None, **settings: str) -> dict[str, float]:
    """Return the numbers of the bottleneck's queue in packets, and the least of the flows' rates over the largest."""
    summary = _scenario(4, **settings).run(scheme=scheme, profile=profile).summary
    rates = [flow["throughput_bps"] for flow in summary["flows"]]
    queue = max(summary["queues"], key=lambda queue: queue["mean_octets"])
    return {
        "mean_octets": queue["mean_octets"],
        "std_octets": queue["std_octets"],
        "min_octets": queue["min_octets"],
        "max_octets": queue["max_octets"],
        "evenness": min(rates) / max(rates),
    }


def test_patched_timely_rests_where_its_one_equilibrium_is() -> None:
    # 42.5024 us there and back; t_ref 50 us, delta 10 Mb/s, beta 0.008: 50 (1 + 1/2) = 75 us, at 1250 octets/us.
    model = _model("timely", profile="patched")
    assert isinstance(model, Patched)
    rest = model.state_at_rest()
    assert rest == pytest.approx([(75 - 42.5024) * 1250, 2.5e9, 0])
    assert model.law(model.modes_at(rest, (rest,)).item(), rest, (rest,)) == pytest.approx([0, 0, 0], abs=1e-3)
    assert bool(model.comes_to_rest())


@pytest.mark.parametrize("flows", [2, 4, 6])
def test_patched_timely_by_hand(flows: int) -> None:
    # With a = r / segment acknowledgements a second, r = C / N, dw/dg = 2 and (T - t_ref) / t_ref = delta / (beta r).
    # The loop is exp(-s tau) (a beta / (2 t_ref) + 4 delta a alpha / (r d_min) s / (s + alpha a)) over
    # s (s + a delta / (2 r)).
    side = report(configuration(_scenario(flows), scheme="timely", profile="patched")).sides[0]
    rate, segment = 10e9 / flows, 11 * 1500 * 8
    acks = rate / segment
    k_offset, k_growth = acks * 0.008 / (2 * 50e-6), 4 * 10e6 * acks * 0.875 / (rate * 20e-6)
    drag = acks * 10e6 / (2 * rate)
    jw = 1j * side.crossing_rad_s
    tau = 42.5024e-6 + (50e-6 * (1 + flows / 8) - 42.5024e-6) + segment / rate
    loop = (k_offset + k_growth * jw / (jw + 0.875 * acks)) / (jw * (jw + drag)) * np.exp(-jw * tau)
    assert abs(loop) == pytest.approx(1, rel=1e-6)
    assert np.pi + np.angle(loop) == pytest.approx(side.phase_rad, rel=1e-6)


def test_the_margin_of_patched_timely_lies_where_its_rightmost_root_crosses() -> None:
    model = _model("timely", profile="patched")
    (mode,) = modes_beside(model)
    system = linearise(model, mode)
    found = margins(system)
    border = DelaySystem(system.instant, system.delayed, system.delay_s + found.delay_s)
    assert abs(rightmost_roots(border)[0].real) < 1e-6 * float(found.crossing_rad_s)


def test_timely_by_the_gradient_rests_nowhere() -> None:
    model = _model("timely")
    assert type(model) is Timely
    # Without growth every acknowledgement of 16 500 octets adds 10 Mb/s: at any queue between the thresholds.
    for queue in (20_000.0, 100_000.0, 500_000.0):
        state = np.array([queue, 2.5e9, 0.0])
        mode = model.modes_at(state, (state,)).item()
        assert model.modes[mode] == "shrinking"
        assert model.law(mode, state, (state,))[1] == pytest.approx(10e6 * 2.5e9 / 8 / 16_500)
    assert not model.comes_to_rest()
    assert float(settled(model, blocks=2).amplitude_octets[0]) > 5_000
    with pytest.raises(UnsuitedScenarioError, match=r"has no equilibrium.*any division.*schemes.timely.law"):
        report(configuration(_scenario(4), scheme="timely"))


def test_patched_timely_without_an_equilibrium_between_its_thresholds_says_so() -> None:
    # 50 us (1 + 100 / 8) are 675 us, above 500.
    with pytest.raises(UnsuitedScenarioError, match="round trips of 675 us"):
        report(configuration(_scenario(100), scheme="timely", profile="patched"))


def test_packets_of_patched_timely_rest_where_the_fluid_does() -> None:
    # A frame counts itself in the queue that it joins.
    queue = _queue("timely", profile="patched")
    assert queue["mean_octets"] - 1_500 == pytest.approx(
        _model("timely", profile="patched").state_at_rest()[0], abs=150
    )
    assert queue["std_octets"] < 1_500
    assert queue["evenness"] > 0.99


def test_packets_of_timely_by_the_gradient_divide_the_link_as_it_happens() -> None:
    queue = _queue("timely")
    assert queue["evenness"] < 0.5
    assert queue["std_octets"] > 1_500


def test_the_sawtooth_of_dctcp_by_hand() -> None:
    # C base = 53 128 octets; W* = (53 128 + 97 500) / 6000 = 25.1047 segments: alpha = sqrt(2 / W*), sqrt(W* / 2) =
    # 3.54293 round trips of 120.5024 us, each of which adds a segment to each of four windows.
    cycle = _model("dctcp").sawtooth()
    assert cycle.alpha == pytest.approx(0.282252, rel=1e-5)
    assert cycle.longest_octets == 103_500
    assert cycle.swing_octets == pytest.approx(6000 * 3.54293, rel=1e-5)
    assert cycle.period_s == pytest.approx(3.54293 * 120.5024e-6, rel=1e-5)
    assert cycle.least_k_octets == pytest.approx(53_128 / 7, rel=1e-5)
    # 1.386 / sqrt(2 (C RTT + K)): of 100.419 segments, 0.0978. The paper's 1/16 is below.
    assert cycle.largest_g == pytest.approx(0.0978, rel=1e-3)
    # The paper's form: half the root of 2 N (C RTT + K), in segments.
    assert cycle.swing_octets == pytest.approx(np.sqrt(2 * 4 * (53_128 + 97_500) / 1500) / 2 * 1500, rel=1e-5)


def test_dctcp_has_no_margin_and_its_report_says_how_it_swings() -> None:
    found = report(configuration(_scenario(4), scheme="dctcp"))
    assert found.swing is not None and not found.sides
    assert "no equilibrium with a margin: the queue swings from" in found.swing.reason
    assert found.swing.utilization == pytest.approx(1)
    with pytest.raises(UnsuitedScenarioError, match="one threshold, and marking is pi"):
        _model("dctcp", schemes__dctcp__marking="pi")


@pytest.mark.parametrize("link_delay", ["10 us", "100 us"])
def test_packets_of_dctcp_swing_as_far_as_the_fluid(link_delay: str) -> None:
    settings = {"topology__star__link_delay": link_delay, "schemes__dctcp__k": "130 KB"}
    model = _model("dctcp", None, **settings)
    assert isinstance(model, Dctcp)
    fluid, packets = settled(model), _queue("dctcp", None, **settings)
    mean, swing = float(fluid.mean_octets[0]), float(fluid.amplitude_octets[0])
    # A frame of each flow.
    assert packets["max_octets"] == pytest.approx(mean + swing, abs=4 * 1_500)
    # The closed form's longest queue counts no frame in transmission.
    cycle = model.sawtooth()
    assert packets["max_octets"] - 1_500 <= cycle.longest_octets <= packets["max_octets"]
    assert packets["min_octets"] == pytest.approx(cycle.longest_octets - cycle.swing_octets, abs=4 * 1_500)
    # The fluid cuts as long as marks of the last round trip arrive: it goes deeper, the longer the round trip is.
    assert mean - swing < packets["min_octets"] + 4 * 1_500
