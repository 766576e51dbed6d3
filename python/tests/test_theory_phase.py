"""Trajectories in the phase plane against closed forms, figures, and the commands that draw and judge."""

import json
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT
from typer.testing import CliRunner

from penstock import Scenario
from penstock.cli import app
from penstock.theory import theorems
from penstock.theory.configuration import UnsuitedScenarioError, configurations
from penstock.theory.jiang2015_figures import DRAWINGS
from penstock.theory.models.base import FluidModel
from penstock.theory.models.qcn import Printed, Sampled
from penstock.theory.phase import SLIDE, field, follow, messages
from penstock.theory.planar import Limits, Model, PairPlane, QcnPlane, SmccPlane
from penstock.theory.portrait import portrait

FIGURE_5 = "theory/figure-5"
PAIR = PairPlane(slope=0.8, damping=0.5, stiffness=1.0, push=0.4, drag=1.6)


def test_the_spiral_is_equation_8() -> None:
    """From (1, 0) equation (8) has alpha = -1/4, beta = sqrt(15)/4, A cos c = 1, tan c = alpha/beta."""
    lone = PairPlane(slope=0.0, damping=0.5, stiffness=1.0, push=0.0, drag=1.0)
    # With m = 0 the line is u = 0, reached a quarter of a turn on: c + beta t = pi/2.
    alpha, beta = -0.25, np.sqrt(15) / 4
    c = np.arctan2(alpha, beta)
    path = follow(lone, 1.0, 0.0, 1.0)
    expected = np.exp(alpha * path.time_s) * np.cos(beta * path.time_s + c) / np.cos(c)
    np.testing.assert_allclose(path.x_frames, expected, atol=1e-7)
    # Equation (9): the spiral's invariant.
    square = (path.y_fps - alpha * path.x_frames) ** 2 + beta**2 * path.x_frames**2
    np.testing.assert_allclose(square * np.exp(-2 * alpha * path.time_s), square[0], rtol=1e-7)


def test_a_slide_of_qcn_decays_with_w_over_pc() -> None:
    """On Fb = 0 y = -x pC/w, so that x goes down as exp(-t pC/w): 1.6 ms, at any Gd and T."""
    for gain, cycle_s in ((1e-4, 5e-4), (3e-2, 7e-4)):
        plane = QcnPlane(capacity_fps=125_000, weight_s=1.6e-3, gain=gain, cycle_s=cycle_s, excess_fps=10_000)
        path = follow(plane, 20.0, -20.0 / 1.6e-3, 4e-3)
        assert (path.law == SLIDE).all()
        np.testing.assert_allclose(path.x_frames, 20 * np.exp(-path.time_s / 1.6e-3), rtol=1e-6)


def test_a_slide_ends_where_inequality_24_does() -> None:
    """Of a line that slides up to 10 frames, the motion leaves at 12 and stays at 8."""
    plane = QcnPlane(capacity_fps=125_000, weight_s=1.6e-3, gain=1e-3, cycle_s=2.4e-3, excess_fps=12_500)
    assert theorems.recovery_left(10, 1.6e-3, 2.4e-3) == pytest.approx(theorems.recovery_right(1.6e-3, 12_500))
    for offset, law in ((12.0, 1), (8.0, SLIDE)):
        assert follow(plane, offset, -offset / 1.6e-3, 1e-5).law[0] == law


def test_a_late_switch_chatters_in_proportion() -> None:
    """Theorem 1's picture, figure 4: with a switch ten times less late the chatter is ten times smaller."""
    wide = {}
    for delay_s in (0.02, 0.002):
        path = follow(PAIR, 0.4, 2.3, 3.0, delay_s=delay_s)
        late = path.time_s > 2.5
        wide[delay_s] = np.abs(PAIR.side(path.x_frames, path.y_fps))[late].max()
    assert wide[0.02] / wide[0.002] == pytest.approx(10, rel=0.15)
    # And its mean is the slide: u' = -u/m.
    ideal, chatter = follow(PAIR, 0.4, 2.3, 3.0), follow(PAIR, 0.4, 2.3, 3.0, delay_s=0.002)
    assert chatter.x_frames[-1] == pytest.approx(ideal.x_frames[-1], rel=0.02)


def test_smcc_comes_to_rest_where_it_meets_the_line() -> None:
    """From x = -3, y = 1 with b2 = 0.5 the line of state B ends at x = -3 + 1/0.5 = -1, and nothing moves there."""
    path = follow(SmccPlane(a1=1.0, b2=0.5), -3.0, 1.0, 60.0)
    assert path.x_frames[-1] == pytest.approx(-1, abs=1e-6)
    assert path.y_fps[-1] == pytest.approx(0, abs=1e-6)
    # In state A an ellipse: a1 x² + y² stays, and it ends at sqrt(1 + 1/a1).
    path = follow(SmccPlane(a1=4.0, b2=0.5), 1.0, 1.0, 10.0)
    assert path.x_frames[-1] == pytest.approx(np.sqrt(1.25), rel=1e-6)


def test_messages_close_the_deal_breaker_at_beta_dt_of_2() -> None:
    """From S, growth s turns into -s if beta takes back twice as much; alpha |x| = 2 s brings it back to S."""
    path = messages(SmccPlane(a1=0.5, b2=2.0), -2.0, 0.5, 1.0, 8)
    np.testing.assert_allclose(path.y_fps[[2, 4, 6, 8]], [-0.5, 0.5, -0.5, 0.5])
    assert (path.x_frames[8], path.law[1]) == (-2.0, 1)


def test_ends_of_queue_and_rate_hold() -> None:
    """A queue of 128 frames, and rates from 1 to 250 frames/ms: no trajectory leaves them."""
    limits = Limits(-64, 64, -124_000, 125_000)
    planes = (
        QcnPlane(125_000, 1.6e-3, 1e-3, 2.4e-3, 50_000, limits),
        SmccPlane(a1=6e5, b2=400.0, limits=limits),
        SmccPlane(a1=6e5, b2=400.0, b1=-1e5, limits=limits),
    )
    rng = np.random.default_rng(1)
    for plane in planes:
        for _ in range(10):
            path = follow(plane, rng.uniform(-64, 64), rng.uniform(-124_000, 125_000), 0.05)
            assert path.x_frames.min() >= -64.0001
            assert path.x_frames.max() <= 64.0001
            assert path.y_fps.min() >= -124_000.1
            assert path.y_fps.max() <= 125_000.1


def test_the_plane_and_the_fluid_models_are_the_same() -> None:
    """At random states without background both have the same q' and r', in octets and bit/s here, in frames there.

    As printed everywhere; per sample at y = 0, where the plane's messages and cycles are those of the fluid.
    """
    given = configurations(Scenario.load(ROOT / f"scenarios/{FIGURE_5}.toml").set("schemes.qcn.timer_on", False))[0]
    rng = np.random.default_rng(2)
    fluids: tuple[tuple[Model, FluidModel], ...] = (
        ("printed", Printed.of(given)),
        ("sampled", Sampled.of(given)),
    )
    for model, fluid in fluids:
        for _ in range(20):
            target = rng.uniform(3e8, 9e8)
            plane = QcnPlane.of(given, model=model, target_bps=target)
            x, y = rng.uniform(1, 60), rng.uniform(-1e4, 1e4) if model == "printed" else 0.0
            # Two sources on 1 Gb/s; frames of 1000 octets.
            queue = fluid.set_point_octets() + 1000 * x
            state = np.array([queue, (1e9 + 8000 * y) / 2, target, 0.0])
            for law in (0, 1):
                growth, change = fluid.law(law, state, [state])[:2]
                by_x, by_y = plane.motion(law, x, y)
                # Two sources; a frame of 1 KB is 8000 bits.
                assert (growth / 1000, 2 * change / 8000) == (pytest.approx(by_x), pytest.approx(by_y))


def test_the_field_is_the_law_of_each_side() -> None:
    """At (1, 1) the decrease rules, (1, -(1 + 0.5)); at (-1, -1) the increase, (-1, 0.4 + 1.6)."""
    by_x, by_y = field(PAIR, np.array([1.0, -1.0]), np.array([1.0, -1.0]))
    np.testing.assert_allclose(by_x, [1, -1])
    np.testing.assert_allclose(by_y, [-1.5, 2.0])


@pytest.mark.parametrize("name", DRAWINGS)
def test_each_figure_is_drawn(name: str) -> None:
    """Each has curves and a title that names it."""
    figure = DRAWINGS[name]()
    assert any(len(axes.lines) > 3 for axes in figure.axes)
    title = figure.get_suptitle()
    assert title.lower().startswith(name.replace("-", " "))


def test_a_portrait_refuses_what_is_beyond_the_ends() -> None:
    """129 KB do not fit a queue of 128 KB, and two sources of 1 Gb/s do not send 2.1."""
    given = configurations(Scenario.load(ROOT / f"scenarios/{FIGURE_5}.toml"))[0]
    for start in ((129_000.0, 1e9), (0.0, 2.1e9)):
        with pytest.raises(UnsuitedScenarioError, match="beyond the ends"):
            portrait(given, starts=[start])


@pytest.fixture
def at_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.mark.usefixtures("at_root")
def test_commands(tmp_path: Path) -> None:
    """`sliding --json` prints one object; `phase` and `figures` write the files that they name."""
    command = CliRunner()
    answer = command.invoke(app, ["theory", "sliding", FIGURE_5, "--json", "--set", "schemes.qcn.rpg_byte_reset=30 KB"])
    document = json.loads(answer.stdout)
    assert [period["word"] for period in document["periods"]] == ["always", "near the target", "always"]
    assert [period["reach_frames"] for period in document["periods"]] == [None, pytest.approx(5), None]
    sides = document["periods"][1]["sides"]
    assert all({"name", "left", "relation", "right", "unit", "holds"} == set(side) for side in sides)

    document = json.loads(command.invoke(app, ["theory", "sliding", "sliding-mode/three-sources", "--json"]).stdout)
    assert (document["periods"][0]["theorem"], document["periods"][0]["equilibrium"]["place"]) == (3, "target")

    out = tmp_path / "new" / "plane.svg"
    options = ["--at", "1", "--start", "0,1.2e9", "--duration", "0.02", "--out", str(out)]
    assert command.invoke(app, ["theory", "phase", FIGURE_5, *options]).exit_code == 0
    assert out.read_text(encoding="utf-8").startswith("<?xml")
    assert command.invoke(app, ["theory", "figures", "7", "--out", str(tmp_path)]).exit_code == 0
    assert command.invoke(app, ["theory", "figures", "8", "--out", str(tmp_path / "eight.svg")]).exit_code == 0
    assert (tmp_path / "eight.svg").exists()
    assert (tmp_path / "figure-7.png").stat().st_size > 10_000


WRONG = [
    (["sliding", FIGURE_5, "--model", "paper"], "the models are printed and sampled"),
    (["sliding", FIGURE_5, "--offset", "1e6"], "outside of the queue"),
    (["sliding", "sliding-mode/three-sources", "--simulate"], "theorem 3 holds in every state"),
    (["sliding", FIGURE_5, "--scheme", "bcn"], "bcn has no theorem on sliding"),
    (["sliding", "bottleneck/parking-lot"], "one bottleneck"),
    (["phase", FIGURE_5, "--scheme", "dcqcn"], "there is no planar model of dcqcn"),
    (["phase", FIGURE_5, "--start", "5"], "--start 5"),
    (["phase", FIGURE_5, "--at", "9"], "no controlled flow runs at 9 s"),
    (["phase", FIGURE_5, "--out", "plane.bmp"], "unknown type of file"),
    (["figures", "5"], "unknown figure"),
    (["figures", "--format", "bmp"], "unknown format"),
    (["figures", "2", "3", "--out", "both.svg"], "2 figures do not fit into one file"),
]


@pytest.mark.usefixtures("at_root")
@pytest.mark.parametrize(("arguments", "says"), WRONG)
def test_wrong_input_is_refused_with_the_reason(arguments: list[str], says: str) -> None:
    """Status 2, the reason on standard error, and nothing on standard output."""
    answer = CliRunner().invoke(app, ["theory", *arguments])
    assert answer.exit_code == 2
    assert says in answer.stderr
    assert answer.stdout == ""
