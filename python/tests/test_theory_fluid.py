"""Fluid models and their integration: hand-computed trajectories, order of convergence, sliding, limits."""

import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import Scenario
from penstock.theory import delay_integrator, hybrid_integrator
from penstock.theory.models.base import Array
from penstock.theory.models.qcn import Printed, Sampled
from penstock.theory.models.smcc import Smcc

ROOT = Path(__file__).parents[2]

SMCC = Smcc(
    flows=2.0,
    capacity_bps=1e9,
    link_bps=1e9,
    frame_octets=1000.0,
    wire_octets=1000.0,
    buffer_octets=128e3,
    line_rate_bps=1e9,
    min_rate_bps=1e7,
    delay_s=0.0,
    q0_octets=64e3,
    share_sampled=0.01,
    alpha=4000.0,
    alpha_small=4000.0,
    t1_octets=8000.0,
    beta=4000.0,
    grain_octets=0.0,
    zero_below=1.0,
    zero_above=1.0,
    drawn=False,
)

QCN: dict[str, Any] = {
    "flows": 2.0,
    "capacity_bps": 1e9,
    "link_bps": 1e9,
    "frame_octets": 1000.0,
    "wire_octets": 1000.0,
    "buffer_octets": 128e3,
    "line_rate_bps": 1e9,
    "min_rate_bps": 5e6,
    "delay_s": 0.0,
    "q_eq_octets": 64e3,
    "w": 2.0,
    "share_sampled": 0.01,
    "gain_per_octet": 64 / 320e3 / 128,
    "byte_reset_octets": 30e3,
    "threshold": 5.0,
    "r_ai_bps": 1e6,
}


def order(errors: list[float]) -> list[float]:
    return [math.log2(a / b) for a, b in pairwise(errors)]


def linear(_: float, y: Array, past: Sequence[Array]) -> Array:
    return -past[0]


def test_a_linear_delay_equation_converges_with_the_fourth_order() -> None:
    # y' = -y(t - 1), y = 1 before 0: 1 - t; 1 - t + (t-1)^2/2; … at t = 5, the sum of (-1)^k (5 - k + 1)^k / k!.
    exact = sum((-1) ** k * (5 - k + 1) ** k / math.factorial(k) for k in range(7))
    errors = [
        abs(delay_integrator.solve(linear, [1.0], np.array([1.0]), 0.0, 5.0, 1 / n).states[-1][0] - exact)
        for n in (4, 8, 16, 32)
    ]
    assert errors[-1] < 1e-7
    assert min(order(errors)) > 3.7


def test_steps_longer_than_a_delay_converge_with_the_fourth_order() -> None:
    def right(_: float, y: Array, past: Sequence[Array]) -> Array:
        return np.asarray(-3 * past[0] + 2 * np.sin(past[1]))

    # Steps of 0.1 to 0.025 s over delays of 0.011 s and 0.7 s.
    ends = [
        delay_integrator.solve(right, [0.011, 0.7], np.array([1.0]), 0.0, 6.0, 0.1 / n).states[-1][0]
        for n in (1, 2, 4, 32)
    ]
    errors = [abs(end - ends[-1]) for end in ends[:3]]
    assert math.log2(errors[0] / errors[2]) / 2 > 3.7


def test_the_mode_changes_are_found_so_exactly_that_the_order_stays() -> None:
    # SMCC with a delay and no grain crosses both of its lines again and again.
    model = SMCC.with_changes(delay_s=2e-4)
    start = np.array([100e3, 600e6])
    ends = [delay_integrator.integrate(model, start, 0.003, step_s=1e-4 / n).states[0][-1] for n in (1, 8, 32)]
    assert math.log2(abs(ends[0] - ends[2]) / abs(ends[1] - ends[2])) / 3 > 3.5


def test_smcc_goes_round_its_ellipse_as_equation_26_says() -> None:
    # State A from (x, y) = (0, y0): x = y0/w sin(w t), y = y0 cos(w t) with w² = a1; it meets y = 0 at x = y0/w.
    model = SMCC.with_changes(buffer_octets=1e6)
    # The samples of a flow grow with its rate, which (26) leaves out: near the fair rate it does not matter.
    y0 = 1e4
    start = np.array([64e3, (1e9 + 8 * y0) / 2])
    w = math.sqrt(float(model.a1_per_s2()))
    path = hybrid_integrator.integrate(model, start, math.pi / w)
    assert path.segments[0].stop_s == pytest.approx(math.pi / 2 / w, rel=3e-4)
    # The line y = 0 is all equilibria without grain and delay: nothing leads along it.
    assert path.states[0][-1] - 64e3 == pytest.approx(y0 / w, rel=3e-4)
    assert path.states[1][-1] == pytest.approx(500e6, rel=1e-9)


def test_both_integrators_agree_where_there_is_no_delay() -> None:
    model = Sampled(**QCN, halved=True)
    times = np.linspace(0, 0.05, 11)
    ode = hybrid_integrator.integrate(model, model.start(), 0.05).at(times)
    dde = delay_integrator.integrate(model, model.start(), 0.05).at(times)
    assert dde[0] == pytest.approx(ode[0], abs=20)
    assert dde[1] == pytest.approx(ode[1], rel=1e-4)


def test_the_printed_qcn_slides_down_its_switching_line() -> None:
    # On Fb = 0: x + (w/pC) y = 0 with w/pC = 2/1250 s, so that x falls as exp(-t / 1.6 ms).
    model = Printed(**QCN, gd_per_frame=1 / 128)
    path = hybrid_integrator.integrate(model, np.array([100e3, 520e6, 520e6, 0.0]), 1.0)
    slide = next(piece for piece in path.segments if piece.sliding is not None)
    times = np.array([slide.start_s, slide.start_s + 1e-3])
    x = slide.dense(times)[0] - 64e3
    assert x[1] / x[0] == pytest.approx(math.exp(-1e-3 / 1.6e-3), rel=1e-4)
    assert np.abs(model.fb_frames(slide.dense(times))).max() < 1e-3


def test_limits_hold() -> None:
    model = Sampled(**QCN, halved=True)
    path = hybrid_integrator.integrate(model, model.start(), 0.2)
    assert path.states[0].min() > -1e-3 and path.states[0].max() < 128e3 + 1
    assert path.states[1].max() <= 1e9


def test_a_model_with_delay_is_not_integrated_as_if_it_had_none() -> None:
    model = SMCC.with_changes(delay_s=1e-4)
    with pytest.raises(ValueError, match="has delays"):
        hybrid_integrator.integrate(model, model.start(), 1.0)


def test_many_configurations_at_once_are_each_what_they_are_alone() -> None:
    betas = np.array([[1000.0, 2000.0], [4000.0, 8000.0]])
    many = SMCC.with_changes(beta=betas, grain_octets=1000.0)
    state = np.broadcast_to(np.array([80e3, 450e6])[:, None, None], (2, 2, 2))
    slopes = many.derivative(state, (state, state))
    for index in np.ndindex(2, 2):
        one = SMCC.with_changes(beta=float(betas[index]), grain_octets=1000.0)
        alone = np.array([80e3, 450e6])
        assert slopes[(slice(None), *index)] == pytest.approx(one.derivative(alone, (alone, alone)))


def test_a_model_that_comes_to_rest_on_its_line_does_not_stall() -> None:
    # With one cycle of Fast Recovery QCN spirals into its equilibrium, which lies on Fb = 0.
    model = Sampled(**{**QCN, "flows": 3.0, "byte_reset_octets": 150e3, "threshold": 1.0}, halved=True)
    path = hybrid_integrator.integrate(model, model.start(), 0.6, most_events=300)
    assert any(piece.sliding is not None for piece in path.segments)
    assert path.states[0][-1] == pytest.approx(64e3, abs=10)


def test_the_weight_of_growth_is_that_of_the_whole_link_under_other_traffic() -> None:
    # Half of 1 Gb/s taken by others, two flows on the rest, a queue that grows by 125 frames/s. With the link's C,
    # w/(p C) is 2/1250 s, so that Fb is 0.2 frames below that of the offset alone. It is 0.4 with the capacity that
    # is left.
    half: dict[str, Any] = {**QCN, "capacity_bps": 0.5e9}
    model = Printed(**half, gd_per_frame=1 / 128)
    state = np.array([64e3, (0.5e9 + 125 * 8e3) / 2, 250e6, 0.0])
    assert model.fb_frames(state) == pytest.approx(-0.2)
    # The model by samples counts the arrivals, which are the link's rate at equilibrium.
    assert Sampled(**half, halved=True).fb_octets(state) == pytest.approx(-200 / (1 + 125e-6 * 8), rel=1e-3)


def test_samples_of_a_shared_link_come_as_often_as_those_of_its_own() -> None:
    # Every hundredth frame of 1 Gb/s in frames of 1 KB: 0.8 ms, also while half of the frames are others'.
    scenario = Scenario.load(ROOT / "scenarios/sliding-mode/background.toml").set("duration", "4 s")
    for key, value in (("sampling", "count"), ("qold_update", "every-sample")):
        scenario.set(f"schemes.qcn.{key}", value)
    result = scenario.set("record.signals", "true").run(scheme="qcn")
    time_s, offset, growth = (
        result.column("signals", name).astype(float) for name in ("time_s", "q_off_octets", "q_delta_octets")
    )
    # Messages of two samples that follow one another: the second's growth is from the first on.
    follows = np.diff(offset) == growth[1:]
    for start_s, stop_s in ((0.1, 2.0), (2.1, 4.0)):
        here = follows & (time_s[1:] > start_s) & (time_s[1:] < stop_s)
        assert np.median(np.diff(time_s)[here]) == pytest.approx(0.8e-3, rel=0.01)
