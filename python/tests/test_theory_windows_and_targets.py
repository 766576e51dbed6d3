"""HPCC, Swift, NSCC and DCQCN with a window as fluids: equilibria by hand, published rules, and borders in packets."""

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
from penstock.theory.models.dcqcn_window import DcqcnWindow
from penstock.theory.models.hpcc import Hpcc
from penstock.theory.models.nscc import Nscc
from penstock.theory.models.swift import Swift
from penstock.theory.packet_oscillation import PacketOscillation, simulate

TRIP_S = 42.5024e-6
"""A frame of 1500 octets and its acknowledgement of 64 over two links of 10 Gb/s and 10 us each way."""


def _star(flows: int, scheme: str, rate: str = "10 Gbps", link: str = "10 us", **settings: str | float) -> Scenario:
    """Return sources of a star; keywords are parameters of the scheme."""
    keys: dict[str, str | float] = {
        "scheme": scheme,
        "topology.star.hosts": flows + 1,
        "topology.star.link_rate": rate,
        "topology.star.link_delay": link,
        "topology.star.buffer": "4 MB",
        "flow.0.from": f"h0..h{flows - 1}",
        "flow.0.to": f"h{flows}",
        "flow.0.stagger": "10 us",
        "duration": "10 ms" if rate == "100 Gbps" else "60 ms",
        "warmup": "5 ms" if rate == "100 Gbps" else "30 ms",
    }
    scenario = Scenario.named("baseline/ten-gig")
    for key, value in (keys | {f"schemes.{scheme}.{name}": value for name, value in settings.items()}).items():
        scenario.set(key, value)
    return scenario


def _model(scenario: Scenario) -> Any:
    return model_of(configuration(scenario))


def _queue(scenario: Scenario, profile: str | None = None) -> Any:
    summary = scenario.run(profile=profile, seed=1).summary
    return max(summary["queues"], key=lambda queue: queue["mean_octets"])


def _phase_degrees(scenario: Scenario) -> float:
    model = _model(scenario)
    return min(float(np.degrees(margins(linearise(model, mode)).phase_rad)) for mode in modes_beside(model))


# HPCC. T = 43 us at 10 Gb/s holds 53 750 octets.
HELD = 53_750


@pytest.mark.parametrize(("flows", "step"), [(4, 80), (16, 80)])
def test_hpcc_without_a_queue_by_hand(flows: int, step: int) -> None:
    # N (W - W_AI) = eta B T, and U = N W / (B T).
    model = _model(_star(flows, "hpcc", base_rtt="43 us", w_ai=f"{step} octets"))
    assert isinstance(model, Hpcc)
    load = 0.95 + flows * step / HELD
    rest = model.state_at_rest()
    # Frames carry telemetry, and the feedback delay with them: T is a little longer than the trip.
    assert rest == pytest.approx([0, load * 10e9 / flows, load], rel=1e-6)
    assert model.law(0, rest, (rest,)) == pytest.approx([0, 0, 0], abs=1)


def test_hpcc_with_a_queue_rests_where_its_windows_fit() -> None:
    model = _model(_star(4, "hpcc", base_rtt="43 us", w_ai="4000 octets"))
    queue, rate, load = model.state_at_rest()
    assert rate == pytest.approx(2.5e9)
    assert load == pytest.approx(1 + queue / HELD)
    # W = U W_AI / (U - eta), and half a frame more each, is what the line and the queue hold.
    window = load * 4000 / (load - 0.95)
    trip = configuration(_star(4, "hpcc", base_rtt="43 us")).round_trip_s
    assert 4 * (window + 1500 / 2) == pytest.approx(1.25e9 * trip + queue, rel=1e-6)
    rest = model.state_at_rest()
    assert model.law(1, rest, (rest,)) == pytest.approx([0, 0, 0], abs=1e3)


@pytest.mark.parametrize(("flows", "step"), [(4, 4000), pytest.param(8, 4000, marks=pytest.mark.science)])
def test_packets_of_hpcc_rest_where_the_fluid_does(flows: int, step: int) -> None:
    scenario = _star(flows, "hpcc", base_rtt="43 us", w_ai=f"{step} octets")
    # A frame counts itself in the queue that it joins.
    assert _queue(scenario)["mean_octets"] - 1542 == pytest.approx(float(_model(scenario).state_at_rest()[0]), rel=0.05)


def test_the_rule_for_the_step_of_hpcc_is_the_border_of_stability() -> None:
    # Li et al. 2019, section 3.3: W_AI = W_init (1 - eta) / N, here 537 500 / 20 / 16 = 1680 octets.
    rule = 537_500 * 0.05 / 16
    below, above = (
        _star(16, "hpcc", "100 Gbps", base_rtt="43 us", w_ai=f"{round(f * rule)} octets") for f in (0.9, 1.1)
    )
    assert _phase_degrees(below) == pytest.approx(38, abs=1)
    assert _phase_degrees(above) == pytest.approx(-51, abs=1)
    calm, swings = _queue(below), _queue(above)
    assert calm["std_octets"] < 3_000
    assert swings["std_octets"] > 12_000
    assert swings["utilization"] < 0.98 < calm["utilization"]


@pytest.mark.science
def test_hpcc_is_stable_again_with_a_queue_that_windows_hold() -> None:
    # From W_AI = 14.4 KB on the queue alone is longer than T less the trip: windows limit, and not the pace.
    before, after = (_star(4, "hpcc", "100 Gbps", base_rtt="43 us", w_ai=f"{step} octets") for step in (13_000, 15_800))
    assert _phase_degrees(before) < -40
    assert _phase_degrees(after) > 25
    assert _queue(before)["std_octets"] > 25_000
    assert _queue(after)["std_octets"] < 5_000


@pytest.mark.parametrize("step", [80, 4000])
def test_the_margin_of_hpcc_lies_where_its_rightmost_root_crosses(step: int) -> None:
    model = _model(_star(4, "hpcc", base_rtt="43 us", w_ai=f"{step} octets"))
    (mode,) = modes_beside(model)
    system = linearise(model, mode)
    found = margins(system)
    border = DelaySystem(system.instant, system.delayed, system.delay_s + found.delay_s)
    assert abs(rightmost_roots(border)[0].real) < 1e-5 * float(found.crossing_rad_s)


# Swift: target 60 us and 3 us for each of one queue, to which a small window adds.


def test_the_rest_of_swift_by_hand() -> None:
    model = _model(_star(8, "swift", base_delay_target="60 us"))
    assert isinstance(model, Swift)
    # a = 100 us / (0.1^-1/2 - 100^-1/2) = 32.6555 us; t = 63 + a / sqrt(w) - a / 10, w = 1.25e9 t / 8 / 1500.
    scaling = 100e-6 / (0.1**-0.5 - 0.1)
    trip = float(model._trip_at_rest_s())
    assert trip == pytest.approx(63e-6 + scaling * ((1.25e9 * trip / 12_000) ** -0.5 - 0.1), rel=1e-9)
    assert float(model.state_at_rest()[0]) == pytest.approx(1.25e9 * (trip - TRIP_S))


def test_the_target_of_swift_scales_with_the_root_of_the_flows() -> None:
    # Kumar et al. 2020: the part of the target for N flows is a sqrt(N / BDP). Without its offset it doubles with 4 N.
    def added(flows: int) -> float:
        model = _model(_star(flows, "swift", base_delay_target="60 us", max_flow_scaling_window=1e6))
        window = float(model.window(model.state_at_rest()))
        return float((model.target_s(np.asarray(window)) - 63e-6) * np.sqrt(window))

    assert added(16) == pytest.approx(added(4), rel=0.02)


@pytest.mark.parametrize("flows", [2, 8])
def test_packets_of_swift_swing_as_the_fluid_does(flows: int) -> None:
    scenario = _star(flows, "swift", base_delay_target="60 us")
    fluid, packets = settled(_model(scenario)), _queue(scenario, "kumar-2020")
    assert packets["mean_octets"] - 1_500 == pytest.approx(float(fluid.mean_octets[0]), rel=0.05)
    swing = (packets["max_octets"] - packets["min_octets"]) / 2
    assert swing == pytest.approx(float(fluid.amplitude_octets[0]), abs=1_000)
    # The control: another target is another queue.
    other = _star(flows, "swift", base_delay_target="75 us")
    assert abs(float(_model(other).state_at_rest()[0]) - packets["mean_octets"]) > 10_000


def test_swift_below_its_round_trip_says_so() -> None:
    with pytest.raises(UnsuitedScenarioError, match=r"within the round trip of the empty network.*42\.5 us"):
        report(configuration(_star(2, "swift")))
    with pytest.raises(UnsuitedScenarioError, match="hosts that are never late"):
        _model(_star(2, "swift", base_delay_target="60 us", receive_rate="2 Gbps"))


# NSCC: at 100 Gb/s the target of 12 us is 150 000 octets, beyond k_max of 120 000.


@pytest.mark.parametrize("flows", [4, 16])
def test_nscc_rests_where_a_decrease_takes_a_step(flows: int) -> None:
    scenario = _star(flows, "nscc", "100 Gbps", "1 us")
    model = _model(scenario)
    assert isinstance(model, Nscc)
    queue, rate, delay = model.state_at_rest()
    # eta is 0.15 frames a round trip of 12 us; gamma 0.8.
    window = rate / 8 * (float(model.base_s) + delay)
    assert 0.8 * window * (1 - 12e-6 / delay) / float(model.base_s) == pytest.approx(225 / 12e-6, rel=1e-6)
    assert queue == pytest.approx(12.5e9 * delay)
    assert _queue(scenario)["mean_octets"] - 1_500 == pytest.approx(queue, rel=0.03)


def test_nscc_needs_marks_that_are_certain_at_its_target() -> None:
    with pytest.raises(UnsuitedScenarioError, match="every frame has to be marked"):
        _model(_star(4, "nscc"))
    assert "above the target of delay" in _model(_star(4, "nscc", "100 Gbps", "1 us")).why_no_margin()


# DCQCN with a window.


def test_a_window_of_any_length_leaves_dcqcns_margin() -> None:
    # Its margins are held to Zhu et al. 2016 in test_theory_linear.py.
    wide = _model(_star(4, "dcqcn-window", window_time="1 ms"))
    plain = _model(_star(4, "dcqcn"))
    assert isinstance(wide, DcqcnWindow)
    assert wide.state_at_rest() == pytest.approx(plain.state_at_rest())
    ours, theirs = (linearise(model, 1) for model in (wide, plain))
    assert np.allclose(ours.instant, theirs.instant)
    assert np.allclose(ours.delayed, theirs.delayed)


def test_a_window_that_binds_lets_through_what_it_holds() -> None:
    model = _model(_star(16, "dcqcn-window", window_time="45 us"))
    queue, limit, *_ = model.state_at_rest()
    # Half a frame more than the window is in flight.
    trip = float(model.base_s) + queue / 1.25e9
    assert (limit * 45e-6 + 1500 * 8 / 2) / trip == pytest.approx(10e9 / 16)
    rest = model.state_at_rest()
    assert model.law(1, rest, (rest,)) == pytest.approx(np.zeros(4), abs=1e-6 * limit / 1e-4)


def test_the_window_takes_the_oscillation_of_dcqcn_away() -> None:
    bound, free = (_star(16, "dcqcn-window", window_time=window) for window in ("45 us", "120 us"))
    assert _phase_degrees(bound) > 80
    assert _phase_degrees(free) == pytest.approx(_phase_degrees(_star(16, "dcqcn")))
    assert _phase_degrees(free) < 0
    assert _queue(bound)["std_octets"] < 6_000
    assert _queue(free)["std_octets"] > 25_000


def test_windows_shorter_than_the_trip_hold_the_queue_below_the_marks() -> None:
    with pytest.raises(UnsuitedScenarioError, match=r"above line rate: windows of 13 us.*set window_time to 42\.5"):
        _model(_star(2, "dcqcn-window"))


def test_the_verdict_on_swift_is_that_of_mean_and_amplitude() -> None:
    scenario = _star(8, "swift", base_delay_target="60 us")
    found = report(configuration(scenario))
    assert found.swing is not None and not found.stable
    seen = simulate(scenario, found)
    assert isinstance(seen, PacketOscillation)
    assert seen.verdict == "confirm"
