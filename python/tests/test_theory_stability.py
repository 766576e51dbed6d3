"""Margins, limit cycles and maps: against differences, closed forms, integration and the packet simulator."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from return_map import return_map
from test_theory_linear import is_single_loop
from typer.testing import CliRunner

from penstock import Scenario
from penstock.cli import app
from penstock.document import Schemes
from penstock.theory import axes, maps, sampled_integrator
from penstock.theory.configuration import Configuration, UnsuitedScenarioError, configuration
from penstock.theory.limit_cycle import balance, harmonic_balance, settled
from penstock.theory.linear_stability import Array, DelaySystem, margins, rightmost_roots
from penstock.theory.linearisation import is_at_rest, linearise, scales
from penstock.theory.margin import modes_beside, nearest_change, report, vary
from penstock.theory.models import model_of
from penstock.theory.models.dcqcn import Dcqcn
from penstock.theory.models.smcc import Smcc
from penstock.theory.smcc_growth import growth

ROOT = Path(__file__).resolve().parent.parent.parent
TEN_GIG = ROOT / "scenarios/baseline/ten-gig.toml"
SCHEMES = ("qcn", "bcn", "fecn", "dcqcn")


def _given(scheme: str) -> Configuration:
    return configuration(Scenario.load(TEN_GIG), scheme=scheme)


# One source alone, so that "all flows alike" holds to the letter; samples are counted, and nothing is left to chance.
def _smcc(delay_us: float, **settings: Any) -> Configuration:
    scenario = Scenario(
        name="cycle",
        question="What is the amplitude of SMCC's queue with delay?",
        duration="1.2 s",
        warmup="600 ms",
        scheme="smcc",
        schemes=cast(Schemes, {"smcc": {"profile": "paper-sliding-mode", **settings}}),
        topology={
            "dumbbell": {
                "sources": 1,
                "receivers": 1,
                "link_rate": "2 Gbps",
                "bottleneck_rate": "1 Gbps",
                "link_delay": "1 us",
                "buffer": "128 KB",
            }
        },
        network={"feedback": {"ideal": f"{delay_us} us"}},
        flow=[{"name": "s0", "from": "h0", "to": "h1", "frame": "1 KB"}],
    )
    return configuration(scenario)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_linearisation_agrees_with_differences(scheme: str) -> None:
    model = model_of(_given(scheme))
    rest = model.state_at_rest()
    scale = scales(rest)
    for mode in modes_beside(model):
        system = linearise(model, mode)
        assert is_single_loop(system)
        for matrix, moves in ((system.instant, "now"), (system.delayed, "then")):
            for column in range(len(rest)):
                step = np.zeros(len(rest))
                step[column] = 1e-6 * scale[column]
                ends = [
                    model.law(mode, rest + sign * step, (rest,))
                    if moves == "now"
                    else model.law(mode, rest, (rest + sign * step,))
                    for sign in (1, -1)
                ]
                slope = (ends[0] - ends[1]) / 2e-6 / scale
                assert matrix[:, column] == pytest.approx(slope, rel=1e-4, abs=1e-5 * np.abs(matrix).max())


@pytest.mark.parametrize("scheme", SCHEMES)
def test_margins_lie_where_the_rightmost_root_crosses(scheme: str) -> None:
    model = model_of(_given(scheme))
    for mode in modes_beside(model):
        system = linearise(model, mode)
        found = margins(system)
        assert bool(found.stable) == bool(rightmost_roots(system)[0].real < 0)
        border = DelaySystem(system.instant, system.delayed, system.delay_s + found.delay_s)
        assert abs(rightmost_roots(border)[0].real) < 1e-6 * float(found.crossing_rad_s)


def test_bcn_on_each_side_of_its_line_by_hand() -> None:
    # x' = y, y' = -a (x + k y) a delay ago: |L| = a sqrt(1 + k² w²) / w² is 1 at w, the phase margin atan(k w) - w tau.
    given = _given("bcn")
    frames = given.capacity_bps / 8 / given.frame_octets
    sampled = given.frame_octets / given.number("sample_interval")
    k = given.number("w") / (sampled * frames)
    increase = given.number("gi") * given.number("ru") / 64 / 8 * sampled * frames
    decrease = given.capacity_bps / given.flows / given.number("gd_inverse") / 64 / 8 * sampled * frames
    for side, a in zip(report(given).sides, (increase, decrease), strict=True):
        w = np.sqrt((a**2 * k**2 + np.sqrt(a**4 * k**4 + 4 * a**2)) / 2)
        assert side.crossing_rad_s == pytest.approx(w, rel=1e-6)
        assert side.phase_rad == pytest.approx(np.arctan(k * w) - w * given.round_trip_s, rel=1e-6)
        assert side.delay_s == pytest.approx(np.arctan(k * w) / w - given.round_trip_s, rel=1e-6)


def test_bcn_oscillates_in_packets_beyond_its_delay_margin_and_not_before() -> None:
    given = _given("bcn")
    margin_s = min(side.delay_s for side in report(given).sides)
    deviations = []
    for extra_s in (0.0, 0.5 * margin_s, 1.6 * margin_s):
        late = replace(given, feedback_delay_s=given.feedback_delay_s + extra_s)
        (queue,) = (
            entry for entry in maps.as_scenario(late, 0.1).run().summary["queues"] if entry["name"] == "sw0->sw1"
        )
        deviations.append(queue["std_octets"] / given.number("q_eq"))
    assert deviations[0] < 0.1
    assert deviations[1] < 0.2
    assert deviations[2] > 0.5


def test_the_limiting_parameter_is_where_stability_changes() -> None:
    given = _given("dcqcn")
    (side,) = report(given).sides
    limit = side.limits[0]
    assert side.stable
    assert limit.parameter == "round_trip_s"
    for factor, stable in ((limit.factor * 0.99, True), (limit.factor * 1.01, False)):
        model = model_of(vary(given, limit.parameter, factor))
        assert bool(margins(linearise(model, 1)).stable) == stable
    sizes = [abs(np.log(entry.factor)) for entry in side.limits]
    assert sizes == sorted(sizes)


def test_nearest_change() -> None:
    assert nearest_change(lambda f: (f < 3).astype(float), 1e-3, 1e3) == pytest.approx(3, rel=1e-5)
    assert nearest_change(lambda f: ((f < 3) & (f > 0.5)).astype(float), 1e-3, 1e3) == pytest.approx(0.5, rel=1e-5)
    assert nearest_change(lambda f: np.where(f > 2, np.nan, (f < 3).astype(float)), 1e-3, 1e3) == np.inf


# "ECN or Delay", CoNEXT 2016, section 3.2. With a feedback delay of 85 us DCQCN is stable with 2 flows and unstable
# with 10, and stable with either with 4 us; 40 Gb/s, R_AI 40 Mb/s, Kmax 200 KB. Its 64 flows ask for marks more likely
# than Pmax; its figure 3 has there a point of a line of marks that goes on beyond Kmax.
@pytest.mark.parametrize(("flows", "delay_us", "stable"), [(2, 85, True), (10, 85, False), (2, 4, True), (10, 4, True)])
def test_dcqcn_is_stable_where_its_authors_say(flows: int, delay_us: float, stable: bool) -> None:
    model = _published(flows, delay_us)
    assert is_at_rest(model, 1)
    system = linearise(model, 1)
    # The paper's marks come when a frame leaves the queue: they do not wait in it.
    found = margins(DelaySystem(system.instant, system.delayed, delay_us * 1e-6))
    assert bool(found.stable) == stable


def test_dcqcn_with_many_flows_rests_where_marks_jump() -> None:
    model = _published(64, 4)
    assert model.state_at_rest()[0] == pytest.approx(200e3)
    assert not is_at_rest(model, 1)
    found = report(replace(_given("dcqcn"), flows=64))
    assert found.sides == ()
    assert found.jump is not None
    assert found.jump.mark > found.jump.p_max == 0.1


# Published constants: Zhu et al., SIGCOMM 2015 (R_AI 40 Mb/s); "ECN or Delay", CoNEXT 2016, figure 3 (b) (10 Mb/s).
@pytest.mark.parametrize(
    ("flows", "r_ai_mbps"),
    [(20, 40), pytest.param(64, 40, marks=pytest.mark.science), pytest.param(64, 10, marks=pytest.mark.science)],
)
def test_dcqcn_without_equilibrium_oscillates_about_k_max_in_packets_as_it_is_said_to(
    flows: int, r_ai_mbps: int
) -> None:
    base = _given("dcqcn")
    changes = {"k_min": 5e3, "k_max": 200e3, "p_max": 0.01, "r_ai": r_ai_mbps * 1e6, "r_hai": 200e6}
    given = replace(
        base,
        parameters={**base.parameters, **changes},
        flows=flows,
        capacity_bps=40e9,
        link_bps=40e9,
        line_rate_bps=40e9,
        frame_octets=1000.0,
        wire_overhead_octets=0.0,
        buffer_octets=4e6,
        forward_delay_s=2e-6,
        feedback_delay_s=2e-6,
    )
    found = report(given).jump
    assert found is not None
    run = maps.as_scenario(given, 0.06).run()
    (queue,) = (entry for entry in run.summary["queues"] if entry["name"] == "sw0->sw1")
    amplitude = (queue["max_octets"] - queue["min_octets"]) / 2
    assert found.cycle.amplitude_octets == pytest.approx(amplitude, rel=0.1)
    assert found.mean_octets == pytest.approx(queue["mean_octets"], rel=0.2)
    assert found.utilization == pytest.approx(queue["utilization"], abs=0.03)


def test_an_equilibrium_next_to_its_switching_line_is_refused_for_that_reason() -> None:
    # 0.0414 octets above Qeq of 64 000 (test_theory_overlay has the arithmetic): below 1e-6 of it, where no mode is
    # distinguished from another, and without messages no rate is at equilibrium.
    scenario = Scenario.load(ROOT / "scenarios/sliding-mode/three-sources.toml")
    with pytest.raises(UnsuitedScenarioError, match=r"0\.041 octets from the switching line.*'no messages' has none"):
        report(configuration(scenario, scheme="qcn"))
    # R_AI five times as large: five times as far off, 0.2068 octets.
    scenario.set("schemes.qcn.rpg_ai_rate", "5 Mbps")
    assert report(configuration(scenario, scheme="qcn")).equilibrium["queue_octets"] == pytest.approx(
        64_000.2068, abs=1e-3
    )


def _published(flows: int, delay_us: float) -> Dcqcn:
    changes: dict[str, float] = {
        "k_min": 5e3,
        "k_max": 200e3,
        "p_max": 0.01,
        "r_ai": 40e6,
        "byte_reset": 10e6,
        "time_reset": 55e-6,
    }
    given = _given("dcqcn")
    model = model_of(
        replace(
            given,
            parameters={**given.parameters, **changes},
            flows=flows,
            capacity_bps=40e9,
            link_bps=40e9,
            line_rate_bps=40e9,
            frame_octets=1000.0,
            wire_overhead_octets=0.0,
            buffer_octets=1e7,
            forward_delay_s=0.0,
            feedback_delay_s=delay_us * 1e-6,
        )
    )
    assert isinstance(model, Dcqcn)
    return model


def _line(model: Smcc) -> Smcc:
    """SMCC as the paper has it: a line without width, and growth that tells at once."""
    return model.with_changes(grain_octets=0.0, interval_s=0.0)


def test_describing_function_of_smcc_in_closed_form() -> None:
    model = model_of(_smcc(100))
    assert isinstance(model, Smcc)
    delays, frequencies = balance(_line(model), np.array([100.0, 1e4]))
    a1, b2 = float(np.max(model.a1_per_s2())), float(np.max(model.b2_per_s()))
    w = frequencies[0]
    assert w**4 == pytest.approx((0.25 + 1 / np.pi**2) * (a1**2 + b2**2 * w**2), rel=1e-3)
    angle = np.arctan2(a1 / np.pi + b2 * w / 2, a1 / 2 - b2 * w / np.pi)
    assert delays[0] * w == pytest.approx(angle, rel=1e-3)
    # Homogeneous: no amplitude is preferred.
    assert delays[1] == pytest.approx(delays[0], rel=1e-3)
    assert frequencies[1] == pytest.approx(frequencies[0], rel=1e-3)


def test_the_return_map_contracts_below_the_critical_delay_and_expands_above() -> None:
    model = model_of(_smcc(100))
    assert isinstance(model, Smcc)
    line = _line(model).with_changes(buffer_octets=1e9, line_rate_bps=1e12, min_rate_bps=-1e12)
    critical = float(balance(line, np.array([1e3]))[0][0])
    for factor, contracts in ((0.7, True), (1.3, False)):
        late = line.with_changes(delay_s=critical * factor)
        tops = return_map(late, np.array([1.0, 100.0]), laps=2, steps_per_turn=150)
        ratio = tops[1] / tops[0]
        # Homogeneous again: the same slope at any amplitude.
        assert ratio[0] == pytest.approx(ratio[1], rel=0.05)
        assert (ratio[0] < 1) == contracts


@pytest.mark.science
def test_describing_function_return_map_and_integration_agree_on_the_cycle() -> None:
    model = model_of(_smcc(500))
    by_balance = harmonic_balance(model)
    ends = settled(model)
    assert by_balance.amplitude_octets == pytest.approx(float(ends.amplitude_octets[0]), rel=0.15)
    assert by_balance.period_s == pytest.approx(float(ends.period_s[0]), rel=0.02)
    # The fixed point of the map: oscillations grow below it and shrink above it.
    tops = return_map(model, np.array([0.5, 2.0]) * by_balance.amplitude_octets, laps=4, steps_per_turn=150)
    assert tops[-1, 0] > tops[1, 0]
    assert tops[-1, 1] < tops[1, 1]


def _three(rb_mbps: int) -> Smcc:
    scenario = Scenario.load(ROOT / "scenarios/sliding-mode/three-sources.toml")
    model = model_of(configuration(scenario.set("schemes.smcc.rb", f"{rb_mbps} Mbps")))
    assert isinstance(model, Smcc)
    return model


def _grown(a1: float, b2: float, interval_s: float, delays_s: Array) -> Array:
    """Logarithm of the growth of a large oscillation of equations (26), (27) in 0.25 s, by Euler's method."""
    step = 5e-6
    now, before = (np.round((delays_s + more) / step).astype(int) for more in (0.0, interval_s))
    columns = np.arange(len(delays_s))
    ring = np.ones((int(before.max()) + 1, len(delays_s)))
    x, y, logarithm = np.ones(len(delays_s)), np.full(len(delays_s), -np.sqrt(a1)), np.zeros(len(delays_s))
    for k in range(round(0.25 / step)):
        ring[k % len(ring)] = x
        seen, growth = (ring[(k - back) % len(ring), columns] for back in (now, before))
        growth = (seen - growth) / interval_s
        y = y - step * np.where((seen > 0) == (growth > 0), a1 * seen, b2 * growth)
        x = x + step * y
        if k % 1000 == 999:
            size = np.maximum(np.abs(ring).max(axis=0), np.abs(y) / np.sqrt(a1))
            ring, x, y, logarithm = ring / size, x / size, y / size, logarithm + np.log(size)
    return logarithm


# b2²/a1 is 0.4, 3.6, 6.4 and 25.6. In microseconds; None is without end.
@pytest.mark.parametrize(
    ("rb_mbps", "spans_us"),
    [
        pytest.param(64, [(929, None)], marks=pytest.mark.science),
        (192, [(620, 809), (1496, None)]),
        pytest.param(256, [(448, 1095), (1600, None)], marks=pytest.mark.science),
        pytest.param(512, [(131, None)], marks=pytest.mark.science),
    ],
)
def test_large_oscillations_of_smcc_grow_between_these_delays_and_die_in_windows(
    rb_mbps: int, spans_us: list[tuple[float, float | None]]
) -> None:
    model = _three(rb_mbps)
    found = growth(model)
    assert len(found.spans_s) == len(spans_us)
    for span, wanted in zip(found.spans_s, spans_us, strict=True):
        assert span == pytest.approx([np.inf if end is None else end * 1e-6 for end in wanted], rel=0.015)
    assert len(found.windows_s) == len(spans_us) - 1
    # On either side of each border the law, integrated by other means, grows and dies as it says.
    borders = np.array([end for span in found.spans_s for end in span if np.isfinite(end)])
    a1, b2 = float(np.max(model.a1_per_s2())), float(np.max(model.b2_per_s()))
    grown = _grown(a1, b2, float(np.max(model.interval_s)), np.concatenate([0.95 * borders, 1.05 * borders]))
    assert (grown > 0).tolist() == [k % 2 == 1 for k in range(len(borders))] + [k % 2 == 0 for k in range(len(borders))]


@pytest.mark.science
def test_the_fluid_with_its_limits_rests_in_a_window_and_oscillates_beside_it() -> None:
    model = _three(192)
    wide = model.with_changes(delay_s=np.array([700e-6, 1150e-6, 1700e-6]))
    # From where large oscillations are: a queue that is empty.
    amplitudes = settled(wide).amplitude_octets
    assert amplitudes[0] > 20e3
    assert amplitudes[1] < 4e3
    assert amplitudes[2] > 30e3


@pytest.mark.science
def test_a_cycle_at_long_delay_is_integrated_until_it_is_one() -> None:
    given = replace(_given("smcc"), feedback_delay_s=10e-3)
    ends = settled(model_of(given))
    assert float(ends.amplitude_octets[0]) == pytest.approx(75e3)
    assert float(ends.period_s[0]) == pytest.approx(0.055, rel=0.05)


@pytest.mark.science
def test_margin_of_smcc_at_its_defaults_has_a_critical_delay() -> None:
    outcome = _cli("margin", str(TEN_GIG), "--scheme", "smcc")
    assert outcome.exit_code == 0
    assert "large oscillations grow at delays of    36" in outcome.stdout
    outcome = _cli(
        "margin", str(ROOT / "scenarios/sliding-mode/three-sources.toml"), "--set", "schemes.smcc.rb=192 Mbps"
    )
    assert "window: large ones die again at         809 us to 1.50 ms" in outcome.stdout


@pytest.mark.parametrize(
    ("delay_us", "octets"),
    [
        (200, 0),
        pytest.param(600, 6000, marks=pytest.mark.science),
        (1000, 64_000),
        pytest.param(1200, 64_000, marks=pytest.mark.science),
    ],
)
def test_smcc_oscillates_in_packets_as_the_models_say(delay_us: float, octets: float) -> None:
    given = _smcc(delay_us)
    model = model_of(given)
    assert isinstance(model, Smcc)
    result = maps.as_scenario(given, 1.0).run()
    time_s = np.asarray(result.queues["time_s"])
    queue = np.asarray(result.queues["queue_octets"], dtype=float)[time_s > 0.5]
    amplitude = (queue.max() - queue.min()) / 2
    # Sample by sample the model has the packets' amplitude, to two frames or a tenth.
    steps = sampled_integrator.integrate(model, model.start(), 1.0).at(np.arange(0.5, 1.0, 5e-5))[0]
    assert amplitude == pytest.approx((steps.max() - steps.min()) / 2, abs=2000, rel=0.1)
    assert amplitude == pytest.approx(octets, abs=1000, rel=0.15)
    # As a fluid it has the period, and the amplitude where buffer and rates bound it: in between samples are too few
    # for a fluid, ten in a period.
    ends = settled(model)
    if octets > 1000:
        period = len(queue) * (time_s[1] - time_s[0]) / np.argmax(np.abs(np.fft.rfft(queue - queue.mean())))
        assert float(ends.period_s[0]) == pytest.approx(period, rel=0.05)
    if octets in (0, 64_000):
        assert float(ends.amplitude_octets[0]) == pytest.approx(amplitude, abs=1000, rel=0.05)


def test_axes() -> None:
    axis = axes.read("delay = 10us..1ms:3:log", "smcc")
    assert (axis.name, axis.unit, axis.log) == ("round_trip_s", "s", True)
    assert axis.values == pytest.approx([1e-5, 1e-4, 1e-3])
    assert axes.read("schemes.smcc.ra=64 Mbps..256Mbps:2", "smcc").values == pytest.approx([64e6, 256e6])
    assert axes.read("flows=1..5:9", "smcc").values.tolist() == [1, 2, 3, 4, 5]
    assert axes.read("buffer=10 KB..20 KB:2", "qcn").name == "buffer_octets"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("flows", "not of the form KEY=A..B"),
        ("flows=1", "not of the form KEY=A..B"),
        ("flws=1..2", "did you mean flows"),
        ("flows=2..1", "not above"),
        ("delay=0us..1ms:log", "no axis"),
        ("flows=0..4", "fewer than one flow"),
        ("delay=-1us..2us", "is negative; a time is not"),
        ("delay=1parsec..2ms", '"parsec" is not a unit of time; known are s, ms, us'),
        ("delay=10..20", '"10" has no unit; write a number and a unit, as in "15 ms"'),
        ("flows=1.5..2", "is not a whole number"),
        ("ra=10 KB..20 KB", "is a size, not a rate"),
        ("flow.0.traffic=1..2", "is not a number"),
        ("flow.0.rates=1..2", "is not a key of a scenario"),
        ("sampling=1..2", "neither a field"),
    ],
)
def test_axes_that_are_none(text: str, words: str) -> None:
    with pytest.raises(UnsuitedScenarioError, match=words):
        axes.read(text, "smcc")


def test_a_key_of_the_scenario_is_an_axis_too() -> None:
    scenario = Scenario.load(TEN_GIG)
    base = configuration(scenario)
    changed = axes.apply(scenario, base, {"topology.star.link_delay": 50e-6, "flows": 7.0})
    assert changed.flows == 7
    assert changed.round_trip_s > base.round_trip_s + 50e-6


@pytest.mark.parametrize("scheme", [*SCHEMES, "smcc"])
def test_the_scenario_of_a_configuration_has_that_configuration(scheme: str) -> None:
    given = _smcc(300) if scheme == "smcc" else _given(scheme)
    again = configuration(maps.as_scenario(given, 0.01))
    for name in ("flows", "capacity_bps", "link_bps", "frame_octets", "buffer_octets", "line_rate_bps", "parameters"):
        assert getattr(again, name) == getattr(given, name)
    assert again.round_trip_s == pytest.approx(given.round_trip_s, abs=2e-9)


def test_a_map_has_the_margins_of_its_points() -> None:
    scenario = Scenario.load(TEN_GIG)
    x, y = axes.read("flows=2..40:4", "dcqcn"), axes.read("delay=5us..100us:3", "dcqcn")
    drawn = maps.compute_map(scenario, x, y, "margin", scheme="dcqcn")
    base = configuration(scenario, scheme="dcqcn")
    for row, delay in enumerate(y.values):
        for column, flows in enumerate(x.values):
            given = axes.apply(scenario, base, {"flows": float(flows), "round_trip_s": float(delay)})
            model = model_of(given)
            wanted = np.degrees(margins(linearise(model, 1)).phase_rad) if is_at_rest(model, 1) else np.nan
            assert drawn.values[row, column] == pytest.approx(wanted, rel=1e-6, nan_ok=True)
    assert np.isnan(drawn.values[:, -1]).all()
    (number,) = (k for k, reason in enumerate(drawn.refused) if "more marks than p_max" in reason)
    assert (drawn.verdicts[:, -1] == number).all()


def test_each_point_of_a_map_decides_its_own_modes() -> None:
    # At the first corner marks are too few for an equilibrium; elsewhere there is one.
    scenario = Scenario.load(TEN_GIG)
    x, y = axes.read("p_max=0.002..0.2:6", "dcqcn"), axes.read("flows=2..11:4", "dcqcn")
    drawn = maps.compute_map(scenario, x, y, "margin", scheme="dcqcn")
    base = configuration(scenario, scheme="dcqcn")
    assert np.isnan(drawn.values[0, 0])
    for row, flows in enumerate(y.values):
        for column, p_max in enumerate(x.values):
            model = model_of(axes.apply(scenario, base, {"flows": float(flows), "p_max": float(p_max)}))
            rests = bool(is_at_rest(model, 1))
            assert np.isfinite(drawn.values[row, column]) == rests
            assert (drawn.verdicts[row, column] == -1) == rests
    assert np.isfinite(drawn.values).sum() > 15


@pytest.mark.science
def test_a_map_of_200_by_200_margins_is_whole_and_tells_how_far_it_is() -> None:
    x, y = axes.read("r_ai=1Mbps..40Mbps:200", "dcqcn"), axes.read("delay=5us..200us:200", "dcqcn")
    shares: list[float] = []
    drawn = maps.compute_map(Scenario.load(TEN_GIG), x, y, "margin", scheme="dcqcn", progress=shares.append)
    assert len(shares) > 20
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    # More delay never makes this one stable again.
    stable = drawn.values > 0
    assert np.all(np.diff(stable.astype(int), axis=0) <= 0)
    assert stable.any()
    assert not stable.all()


def test_a_map_says_where_least_rates_fill_the_link_and_packets_stay_in_a_full_buffer() -> None:
    # SMCC's least rate is 10 Mb/s: 100 flows and more of them fill 1 Gb/s against all messages.
    scenario = Scenario.load(ROOT / "scenarios/sliding-mode/three-sources.toml")
    x, y = axes.read("delay=200us..1130us:2", "smcc"), axes.read("flows=40..280:3", "smcc")
    drawn = maps.compute_map(scenario, x, y, "amplitude", scheme="smcc")
    assert np.isfinite(drawn.values).tolist() == [[True, True], [False, False], [False, False]]
    assert drawn.refused == (
        "all flows at their least rate of 10 Mb/s fill the link: the queue stays full, come what may",
    )
    base = configuration(scenario, scheme="smcc")
    late = axes.apply(scenario, base, {"flows": 280.0, "round_trip_s": 1130e-6})
    (queue,) = (entry for entry in maps.as_scenario(late, 0.1).run().summary["queues"] if entry["name"] == "sw0->sw1")
    assert queue["min_octets"] > 0.97 * base.buffer_octets
    with pytest.raises(UnsuitedScenarioError, match="least rate of 10 Mb/s"):
        report(late)
    # Nor is there anything to say of a link that its flows cannot fill.
    with pytest.raises(UnsuitedScenarioError, match="the queue stays empty"):
        report(axes.apply(scenario, base, {"capacity_bps": 3e9}))


def _cli(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["theory", *arguments])


@pytest.mark.science
def test_a_point_of_dcqcn_without_equilibrium_has_its_words() -> None:
    outcome = _cli("margin", str(TEN_GIG), "--scheme", "dcqcn", "--set", "schemes.dcqcn.p_max=0.001")
    assert outcome.exit_code == 0
    assert "limit cycle about k_max, 100 KB: its amplitude is" in outcome.stdout
    outcome = _cli("margin", str(TEN_GIG), "--scheme", "dcqcn", "--set", "schemes.dcqcn.p_max=0.001", "--json")
    found = json.loads(outcome.stdout)
    assert found["about_k_max"]["cycle"]["amplitude_octets"] > 10e3


def test_an_unstable_loop_says_at_which_delays_it_is_stable() -> None:
    outcome = _cli("margin", str(TEN_GIG), "--scheme", "dcqcn", "--set", "network.feedback.ideal=6 ms", "--json")
    (side,) = json.loads(outcome.stdout)["sides"]
    ((start, stop),) = side["stable_delays_s"]
    assert (start, stop) == (0.0, pytest.approx(73.6e-6, rel=0.01))
    # The lead that is lacking is the delay that is too much, at the crossing: several turns.
    assert side["phase_margin_degrees"] == pytest.approx(np.degrees(side["delay_margin_s"] * side["crossing_rad_s"]))
    assert side["phase_margin_degrees"] < -720


def test_margin_prints_one_json_object() -> None:
    outcome = _cli("margin", str(TEN_GIG), "--scheme", "bcn", "--json")
    assert outcome.exit_code == 0
    found = json.loads(outcome.stdout)
    assert [side["mode"] for side in found["sides"]] == ["increase", "decrease"]
    assert found["sides"][0]["limiting_parameter"]["parameter"] == "round_trip_s"
    assert found["limit_cycle"] is None


@pytest.mark.science
def test_margin_of_smcc_is_its_limit_cycle() -> None:
    outcome = _cli("margin", str(ROOT / "scenarios/sliding-mode/three-sources.toml"), "--json")
    found = json.loads(outcome.stdout)
    assert found["sides"] == []
    assert found["limit_cycle"]["delay_s"] < found["limit_cycle"]["onset_delay_s"]
    assert found["limit_cycle"]["onset_delay_s"] < found["limit_cycle"]["critical_delay_s"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("margin", str(TEN_GIG), "--scheme", "none"), "no fluid model"),
        (("map", str(TEN_GIG), "--x", "flows=1..4", "--y", "flows=1..4"), "both flows"),
        (("map", str(TEN_GIG), "--x", "flows=1..4", "--y", "delay=1us..2us", "--metric", "speed"), "unknown metric"),
        (("map", str(TEN_GIG), "--x", "flows=1..4", "--y", "delay=1us..2us", "--scheme", "smcc"), "no margin"),
    ],
)
def test_a_question_without_answer_is_refused_with_the_reason(arguments: tuple[str, ...], words: str) -> None:
    outcome = _cli(*arguments)
    assert outcome.exit_code == 2
    assert words in outcome.stderr
    assert outcome.stdout == ""


def test_map_draws_a_figure_with_simulations(tmp_path: Path) -> None:
    out = tmp_path / "map.svg"
    outcome = _cli(
        *("map", str(TEN_GIG), "--scheme", "bcn", "--x", "delay=20us..200us:6", "--y", "flows=2..6:5"),
        *("--simulate", "2", "--simulated", "0.02", "--out", str(out), "--json"),
    )
    assert outcome.exit_code == 0
    found = json.loads(outcome.stdout)
    assert np.shape(found["values"]) == (5, 6)
    assert len(found["simulated"]) == 4
    assert out.stat().st_size > 1000


def test_map_of_sliding_follows_theorem_2(tmp_path: Path) -> None:
    outcome = _cli(
        *("map", str(ROOT / "scenarios/sliding-mode/background.toml"), "--scheme", "qcn", "--metric", "sliding"),
        *("--x", "flows=1..8:4", "--y", "rpg_byte_reset=10KB..200KB:4", "--out", str(tmp_path / "m.png"), "--json"),
    )
    found = json.loads(outcome.stdout)
    values = np.array(found["values"])
    # More flows and longer cycles make it harder.
    assert np.all(np.diff(values, axis=0) < 0)
    assert np.all(np.diff(values, axis=1) < 0)
