"""Fluid and packets side by side: models in steps, equilibria and settling times, the command line, bad input."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from penstock import Scenario
from penstock.cli import app
from penstock.theory import sampled_integrator
from penstock.theory.configuration import Configuration, UnsuitedScenarioError, configurations
from penstock.theory.models import MODELS, model_of
from penstock.theory.models.bcn import Bcn
from penstock.theory.models.dcqcn import Controlled, Dcqcn
from penstock.theory.models.dcqcn_window import DcqcnWindow
from penstock.theory.models.dctcp import Dctcp
from penstock.theory.models.expresspass import Expresspass
from penstock.theory.models.fecn import Fecn
from penstock.theory.models.nscc import Nscc
from penstock.theory.models.qcn import Averaged, Sampled
from penstock.theory.models.qcn_adaptive import QcnAdaptive
from penstock.theory.models.smcc import Smcc
from penstock.theory.models.swift import Swift
from penstock.theory.models.timely import Patched, Timely
from penstock.theory.overlay import overlay, settling_s
from penstock.theory.sampling import StreamSampling

ROOT = Path(__file__).parents[2]
THREE = ROOT / "scenarios/sliding-mode/three-sources.toml"


def three_sources(duration: str = "1 s", **settings: str) -> Scenario:
    scenario = Scenario.load(THREE).set("duration", duration).set("warmup", "0.1 s")
    for key, value in settings.items():
        scenario.set(key.replace("__", "."), value)
    return scenario


def configuration(scheme: str) -> Configuration:
    return configurations(three_sources(), scheme=scheme)[0]


# DCQCN under a controller is another configuration: see test_theory_rocc_and_pi. Of DCTCP and TIMELY two in three have
# no rest: see test_theory_dctcp_timely. Four have none at 1 Gb/s: see test_theory_windows_and_targets and
# test_theory_variants. ExpressPass has a cycle instead: see test_theory_expresspass.
OTHERS = (Controlled, Dctcp, Timely, Patched, Swift, Nscc, DcqcnWindow, QcnAdaptive, Expresspass)


@pytest.mark.parametrize("kind", [kind for kind in MODELS if kind not in OTHERS])
def test_nothing_moves_at_rest(kind: type) -> None:
    model = kind.of(configuration(kind.scheme))  # type: ignore[attr-defined]
    rest = model.state_at_rest()
    slope = model.derivative(rest, (rest,) * len(model.delays_s))
    # Of each variable less than a thousandth of its size in a second.
    assert np.abs(slope[:3] / np.maximum(np.abs(rest[:3]), 1)).max() < 1e-3


def test_averaged_qcn_rests_where_its_two_equations_say() -> None:
    # p = 0.01, cycles of 150 frames: (1-p)^150 = 0.22145, p / (1/0.22145 - 1) = 0.0028444 cycles a frame, of which
    # (1-p)^750 = 0.00053258 increase R by 1 Mb/s. R - r = 1 Mb/s 0.0028444 0.00053258 / 0.01 = 151.49 b/s, and
    # |Fb| = (R - r) / 2 0.0028444 / (gain r p) with gain = 64 / 320 000 / 128 and r = 333.33 Mb/s: 0.0414 octets.
    rest = Averaged.of(configuration("qcn")).state_at_rest()
    assert rest[2] - rest[1] == pytest.approx(151.49, rel=1e-3)
    assert rest[0] - 64_000 == pytest.approx(0.04136, rel=2e-3)


def test_dcqcn_marks_at_rest_balance_cuts_and_increases() -> None:
    model = Dcqcn.of(configuration("dcqcn"))
    rest = model.state_at_rest()
    assert 10_000 < rest[0] < 100_000
    # alpha = 1 - (1 - p)^(tau' r), r = 41 667 frames/s, tau' = 55 us: 2.2917 frames.
    p = 0.1 * (rest[0] - 10_000) / 90_000
    assert rest[3] == pytest.approx(1 - (1 - p) ** (41_666.7 * 55e-6), rel=1e-6)
    # The delay of its loop has the wait of a marked frame in the queue.
    assert model.delays_s[0] == pytest.approx(model.delay_s + rest[0] * 8 / 1e9)


def test_fecn_wants_the_link_at_its_set_point() -> None:
    model = Fecn.of(configuration("fecn"))
    assert model.wanted(0, np.array(24_000.0)) == pytest.approx(1)
    assert model.wanted(1, np.array(24_000.0)) == pytest.approx(1)
    # b below: 1.002 at an empty queue; a above: 1.1 / (0.1 128/24 + 1) at the full one.
    assert model.wanted(0, np.array(0.0)) == pytest.approx(1.002)
    assert model.wanted(1, np.array(128_000.0)) == pytest.approx(1.1 / (0.1 * 128 / 24 + 1))


def test_one_sample_changes_the_rate_as_equation_25_says() -> None:
    model = Smcc.of(configuration("smcc"))
    # Ra 256 Mb/s at 64 KB, Rb 64 Mb/s at 16 KB: 4000 b/s per octet both.
    assert model.step_bps(3e8, 10_000, 2_000) == -40e6
    assert model.step_bps(3e8, 10_000, -2_000) == 8e6
    assert model.step_bps(3e8, -10_000, -2_000) == 40e6
    # A queue that has not changed is in state A.
    assert model.step_bps(3e8, -10_000, 0) == 40e6


def test_one_sample_of_bcn_changes_the_rate_as_equation_2_says() -> None:
    model = Bcn.of(configuration("bcn"))
    # Fb = -(6400 + 2 * 640) octets = -120 units: 120 / 3750 of the rate.
    assert model.step_bps(3e8, 6_400, 640) == pytest.approx(-120 / 3750 * 3e8)
    # Fb = 100 units: 100 * 8/15 * 1 Mb/s.
    assert model.step_bps(3e8, -6_400, 0) == pytest.approx(100 * 8 / 15 * 1e6)


def test_between_samples_the_queue_is_a_straight_line() -> None:
    model = Smcc.of(configuration("smcc"))
    # Three flows at 1 Gb/s: 250 octets/us more than leave; the first sample is after 100 frames, 266.7 us, and acts
    # 10.512 us later.
    found = sampled_integrator.integrate(model, model.start(), 3e-4, strikes=StreamSampling.CHANCE)
    assert found.time_s[1] == pytest.approx(100 * 8000 / 3e9)
    assert found.states[0][1] == pytest.approx(250 * 266.667, rel=1e-5)
    assert found.time_s[2] == pytest.approx(100 * 8000 / 3e9 + 10.512e-6)
    # 66 whole frames and the one sampled, 3000 above the target, grown by 67 000: state A takes 12 Mb/s from one flow.
    assert found.states[1][2] == pytest.approx(1e9 - 12e6 / 3)
    assert sorted(source.rate_bps for source in found.sources)[1:] == [1e9, 1e9]


def test_a_message_and_cycles_change_a_source_of_qcn_as_its_rate_calculator_does() -> None:
    model = Sampled.of(configuration("qcn"))
    source = model.source_at(np.array([64_000, 300e6, 400e6, 7]))
    random = np.random.default_rng(1)
    # Fb = -(10 000 + 2 * 2000) octets; |Fb|max is 320 000, of which a message carries 2^-14 parts of 19.53125: 716 of
    # them, 13 984.375 octets. 64 / 320 000 / 128 of it is cut: 0.021 850 6.
    model.on_message(source, 10_000, 2_000, random)
    assert source.rate_bps == pytest.approx(300e6 * (1 - 0.021850586))
    calculator = source.calculator  # type: ignore[attr-defined]
    assert (calculator.target_bps, calculator.byte_stage, source.due_octets) == (300e6, 0, 150_000)
    for cycle in range(1, 8):
        before, target = source.rate_bps, calculator.target_bps
        model.ended(source, random)
        # Five cycles of Fast Recovery, then 1 Mb/s each; from the fifth on cycles have half the length.
        assert calculator.target_bps == target + (1e6 if cycle > 5 else 0)
        assert source.rate_bps == pytest.approx((before + calculator.target_bps) / 2, abs=1)
        length = 75_000 if cycle >= 5 else 150_000
        assert 0.85 * length <= source.due_octets <= 1.15 * length


def test_cycles_of_qcn_follow_the_words_of_their_scenario() -> None:
    random = np.random.default_rng(1)
    early = three_sources(schemes__qcn__fr_cycles="threshold-less-one")
    model = Sampled.of(configurations(early, scheme="qcn")[0])
    source = model.source_at(np.array([64_000, 300e6, 400e6, 3]))
    for cycle in (4, 5):
        target = source.calculator.target_bps  # type: ignore[attr-defined]
        model.ended(source, random)
        # Active Increase begins with the fifth cycle, and so do half cycles.
        assert source.calculator.target_bps == target + (1e6 if cycle == 5 else 0)  # type: ignore[attr-defined]
        length = 75_000 if cycle == 5 else 150_000
        assert 0.85 * length <= source.due_octets <= 1.15 * length
    always = three_sources(schemes__qcn__jitter_rp="always")
    model = Sampled.of(configurations(always, scheme="qcn")[0])
    source = model.source_at(np.array([64_000, 300e6, 400e6, 7]))
    model.on_message(source, 10_000, 2_000, random)
    assert source.due_octets != 150_000 and 0.85 * 150_000 <= source.due_octets <= 1.15 * 150_000


def test_a_sample_of_qcn_speaks_and_is_remembered_as_its_congestion_point_does() -> None:
    model = Sampled.of(configuration("qcn"))
    assert model.speaks(1_000, 0) and not model.speaks(1_000, -500)
    # The profile keeps Qold of the last message.
    assert model.keeps(True) and not model.keeps(False)
    table = three_sources(
        schemes__qcn__sampling="table", schemes__qcn__quantise="linear63", schemes__qcn__qold_update="every-sample"
    )
    model = Sampled.of(configurations(table, scheme="qcn")[0])
    assert model.keeps(False)
    # A step is 320 000 / 63 = 5079.4 octets.
    assert not model.speaks(5_000, 0) and model.speaks(5_100, 0)
    # 8 steps are 40 635 octets: the second row, half of 150 frames, give or take 15 %.
    frames = [model.frames_between(41_000, 0, np.random.default_rng(n)) for n in range(50)]
    assert 0.85 * 75 <= min(frames) < 70 and 80 < max(frames) <= 1.15 * 75
    # Unquantised a step of the table is a 64th of |Fb|max, 5 000 octets; the most is in the last row, 18.5 frames.
    model = Sampled.of(configurations(table.set("schemes.qcn.quantise", "none"), scheme="qcn")[0])
    for offset, mean in ((39_000, 150), (41_000, 75), (900_000, 18.5)):
        frames = [model.frames_between(offset, 0, np.random.default_rng(n)) for n in range(200)]
        assert np.mean(frames) == pytest.approx(mean, rel=0.03)


def test_a_tick_of_fecn_moves_half_way_to_the_rate_that_fills_the_link() -> None:
    model = Fecn.of(configuration("fecn"))
    # 37 500 octets in 1 ms are 0.3 of the link at Qeq, where f is 1: 100 / 0.3 Mb/s, averaged with 100.
    assert model.next_rate_bps(100e6, 37_500, 24_000) == pytest.approx(100e6 * (1 + 1 / 0.3) / 2)
    # Three sources at 50 Mb/s: 18 750 octets in the first interval; the next rate comes a round trip late.
    found = sampled_integrator.by_clock(model, model.start(), 3e-3)
    assert found.at(np.array([0.9e-3, 1.5e-3]))[1] == pytest.approx([50e6, model.next_rate_bps(50e6, 18_750, 0)])


def test_smcc_rests_and_settles_as_its_packets_do() -> None:
    found = overlay(three_sources(), scheme="smcc")
    (distance,) = found.distances
    assert found.form == "steps"
    assert abs(distance.difference) < 0.02
    assert distance.settling_ratio == pytest.approx(1, abs=0.25)
    assert distance.fluid_rate_bps == pytest.approx(1e9 / 3, rel=1e-3)


def test_qcn_rests_and_settles_as_its_packets_do() -> None:
    scenario = three_sources("2 s", schemes__qcn__sampling="count", schemes__qcn__qold_update="every-sample")
    (distance,) = overlay(scenario, scheme="qcn", seeds=4).distances
    assert abs(distance.difference) < 0.02
    assert distance.settling_ratio == pytest.approx(1, abs=0.25)
    # Both oscillate: the standard deviations agree to a third.
    assert distance.fluid_std_octets == pytest.approx(distance.packet_std_octets, rel=0.34)


@pytest.mark.science
@pytest.mark.parametrize("qold", ["every-sample", "last-sent"])
def test_qcn_with_drawn_samples_rests_as_its_packets_do(qold: str) -> None:
    # 4.6 % of the buffer without chance in the model, 14 % with Qold of the last message.
    scenario = three_sources("4 s", schemes__qcn__qold_update=qold)
    (distance,) = overlay(scenario, scheme="qcn", seeds=12).distances
    assert abs(distance.difference) < 0.04
    assert distance.fluid_std_octets == pytest.approx(distance.packet_std_octets, rel=0.2)


@pytest.mark.parametrize("scheme", ["bcn", "fecn"])
def test_bcn_and_fecn_rest_and_settle_in_steps_as_their_packets_do(scheme: str) -> None:
    (distance,) = overlay(three_sources("0.6 s"), scheme=scheme, seeds=4).distances
    assert abs(distance.difference) < 0.02
    assert distance.settling_ratio == pytest.approx(1, abs=0.25)


def test_periods_follow_one_another() -> None:
    scenario = Scenario.load(ROOT / "scenarios/sliding-mode/background.toml").set("duration", "3 s")
    scenario.set("warmup", "0.1 s")
    found = overlay(scenario, scheme="smcc")
    assert [(d.start_s, d.stop_s, d.capacity_bps) for d in found.distances] == [(0, 2, 1e9), (2, 3, 5e8)]
    assert np.isfinite(found.fluid).all()
    # The fluid goes on where it was: at the border its rate is still the half of 1 Gb/s.
    before = np.searchsorted(found.time_s, 2.0) - 1
    assert found.fluid[:, 1, before] == pytest.approx(500e6, rel=0.01)


def test_settling_is_the_first_time_from_which_a_queue_stays_near_its_rest() -> None:
    time_s = np.linspace(0, 1, 1001)
    octets = np.full(1001, 100.0)
    octets[:200] = 10.0
    # Near for 20 ms only.
    octets[50:70] = 100.0
    assert settling_s(time_s, octets, 100.0) == pytest.approx(0.2)
    assert settling_s(time_s, np.where(np.arange(1001) % 20 < 10, 10.0, 100.0), 100.0) is None


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["sliding-mode/three-sources", "--scheme", "fqcn"], "there is no fluid model of fqcn"),
        (["sliding-mode/three-sources", "--scheme", "dcqcn", "--model", "steps"], "dcqcn has no form in steps"),
        (["sliding-mode/three-sources", "--model", "printed"], "smcc has no model 'printed'"),
        (["sliding-mode/parking-lot-1"], "the bottleneck moves"),
        (["sliding-mode/three-sources", "--out", "figure.doc"], "unknown type of file"),
        (["sliding-mode/three-sources", "--scheme", "bcn", "--set", "schemes.bcn.bcn_00=true"], "no bcn_00"),
    ],
)
def test_a_scenario_that_no_model_describes_is_refused_with_the_reason(
    arguments: list[str], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    result = CliRunner().invoke(app, ["theory", "overlay", *arguments])
    assert result.exit_code == 2
    assert reason in result.stderr
    assert "hint: " in result.stderr


def test_the_command_draws_and_prints_one_object(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    figure = tmp_path / "overlay.svg"
    short = ["--set", "duration=0.2 s", "--set", "warmup=0.05 s"]
    command = ["theory", "overlay", "sliding-mode/three-sources", *short, "--json", "--out", str(figure)]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.stderr
    document = json.loads(result.stdout)
    assert document["model"] == "steps" and document["seeds"] == [1]
    assert document["periods"][0]["fluid_mean_octets"] == pytest.approx(64_000, abs=2_560)
    assert figure.read_text().startswith("<?xml")


def test_a_run_that_is_over_is_laid_over_its_fluid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    scenario = Scenario.named("testbed/two-senders")
    run = scenario.run(out=tmp_path / "run")
    found = overlay(scenario, run=run)
    assert found.packets.shape[0] == 1
    np.testing.assert_array_equal(found.packets[0][0], run.column("queues", "queue_octets"))
    command = ["theory", "overlay", str(tmp_path / "run"), "--json", "--out", "overlay.png"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.stderr
    document = json.loads(result.stdout)
    assert document["scenario"] == "two-senders"
    assert document["periods"][0]["packet_mean_octets"] == pytest.approx(found.distances[0].packet_mean_octets)
    for option in (["--seeds", "2"], ["--seed", "7"], ["--scheme", "bcn"], ["--set", "duration=1 s"]):
        refused = CliRunner().invoke(app, [*command, *option])
        assert refused.exit_code == 2
        assert f"{option[0]}: the run of a results folder has ended" in refused.stderr


def test_a_run_without_the_bottleneck_is_refused() -> None:
    scenario = Scenario.named("testbed/two-senders").set("record.queues", '["sw0->h0"]')
    run = scenario.set("duration", "60 ms").set("warmup", "10 ms").run()
    with pytest.raises(UnsuitedScenarioError, match="has not recorded the bottleneck sw0->h2"):
        overlay(scenario, run=run)


def test_clocks_that_differ_make_no_other_lines() -> None:
    scenario = Scenario.named("testbed/two-senders")
    assert configurations(scenario)[0].flows == 2
    with pytest.raises(UnsuitedScenarioError, match="lines of"):
        configurations(scenario.set("network.clock_tolerance", "5000 ppm"))


def test_probabilities_that_rise_with_feedback_have_no_model() -> None:
    scenario = three_sources(schemes__qcn__sample_probability_max="0.5")
    with pytest.raises(UnsuitedScenarioError, match="a share of frames"):
        model_of(configurations(scenario, scheme="qcn")[0])
