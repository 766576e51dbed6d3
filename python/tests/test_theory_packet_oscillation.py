"""The packets beside the theory's word, and where its model does not apply."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from penstock import Scenario
from penstock.cli import app
from penstock.theory.configuration import UnsuitedScenarioError, configuration
from penstock.theory.margin import report
from penstock.theory.packet_oscillation import PacketOscillation, doubts, simulate

STAR = """question = "?"
duration = "600 ms"
scheme = "dcqcn"
[schemes.dcqcn]
k_min = "1 MB"
k_max = "10 MB"
r_ai = "10 Mbps"
[topology.star]
hosts = 129
link_rate = "200 Gbps"
link_delay = "500 ns"
buffer = "32 MB"
[[flow]]
from = "h0..h127"
to = "h128"
frame = "4096 octets"
"""


def test_a_stable_fluid_whose_packets_swing_is_told() -> None:
    scenario = Scenario.from_toml(STAR, name="star")
    found = report(configuration(scenario))
    # The fluid is stable, with some degrees of margin, and rests at 5.9 MB.
    assert all(side.stable for side in found.sides)
    assert found.equilibrium["queue_octets"] == pytest.approx(5.86e6, rel=0.01)
    # 200 Gb/s / 128 / 32 768 bit x 50 us.
    (few, slow) = doubts(found.configuration)
    assert "a flow sends 2.4 frames in an interval between notifications (50 us)" in few
    assert "0.11 frames in a round trip" in slow
    seen = simulate(scenario, found)
    assert isinstance(seen, PacketOscillation)
    assert not seen.calm
    assert seen.verdict == "contradict"
    assert seen.std_octets > 0.25 * seen.rest_octets
    # Half a million frames of 4096 octets at 200 Gb/s, of which the second half is measured.
    assert seen.start_s == pytest.approx(0.04096)
    assert seen.stop_s == pytest.approx(0.08192)


def test_a_calm_queue_is_told_as_such() -> None:
    scenario = Scenario.named("baseline/ten-gig").set("scheme", "rocc")
    found = report(configuration(scenario))
    seen = simulate(scenario, found)
    assert isinstance(seen, PacketOscillation)
    assert seen.calm and seen.verdict == "confirm"
    assert doubts(found.configuration) == ()


def test_of_several_bottlenecks_the_tightest_counts() -> None:
    # Two flows share each of three links of 10 Gb/s in a row; one of the two crosses all of them.
    lot = Scenario.named("bottleneck/parking-lot")
    given = configuration(lot, binding=True)
    assert given.flows == 2
    assert given.fair_rate_bps == pytest.approx(given.capacity_bps / 2)
    assert len(given.left_out) == len(lot.describe()["flows"]) - 2


def test_a_period_that_begins_late_is_not_simulated() -> None:
    late = STAR.replace('duration = "600 ms"', 'duration = "10 s"').replace(
        'frame = "4096', 'start = "5 s"\nframe = "4096'
    )
    scenario = Scenario.from_toml(late, name="late")
    seen = simulate(scenario, report(configuration(scenario)))
    assert seen == "the period begins at 5 s, beyond what is simulated for a check"


LOSSLESS = STAR.replace('"1 MB"', '"500 KB"').replace('"10 MB"', '"2 MB"').replace('"32 MB"', '"16 MB"\n[pfc]')
SCIENCE = pytest.mark.science


@pytest.mark.parametrize(
    ("k_min", "phase_degrees", "rest_octets", "verdict"),
    [
        ("0.5 MB", 3.63, 1.31e6, "contradict"),
        pytest.param("1 MB", 1.51, 1.54e6, "contradict", marks=SCIENCE),
        pytest.param("1.3 MB", -0.45, 1.68e6, "confirm", marks=SCIENCE),
        pytest.param("1.8 MB", -10.9, 1.91e6, "confirm", marks=SCIENCE),
    ],
)
def test_one_limit_cycle_whatever_the_margin(
    k_min: str, phase_degrees: float, rest_octets: float, verdict: str
) -> None:
    """Four thresholds with margins from 4 to -11 degrees: packets have nearly the same cycle under all of them."""
    scenario = Scenario.from_toml(LOSSLESS, name="star").set("schemes.dcqcn.k_min", k_min)
    found = report(configuration(scenario))
    assert math.degrees(found.sides[0].phase_rad) == pytest.approx(phase_degrees, abs=0.05)
    assert found.equilibrium["queue_octets"] == pytest.approx(rest_octets, rel=0.01)
    assert found.stable == (phase_degrees > 0)
    seen = simulate(scenario, found)
    assert isinstance(seen, PacketOscillation)
    # 795 ± 779 to 809 ± 873 KB from 300 to 600 ms; here from 41 to 82 ms.
    assert seen.mean_octets == pytest.approx(780e3, rel=0.05)
    assert seen.std_octets == pytest.approx(800e3, rel=0.1)
    assert seen.amplitude_octets == pytest.approx(1.13e6, rel=0.1)
    assert (seen.calm, seen.verdict) == (False, verdict)


PUBLISHED = """question = "?"
duration = "60 ms"
scheme = "dcqcn"
[schemes.dcqcn]
profile = "zhu-2015"
[topology.star]
hosts = 65
link_rate = "40 Gbps"
link_delay = "500 ns"
buffer = "1 MB"
[[flow]]
from = "h0..h63"
to = "h64"
frame = "1000 octets"
"""


def test_a_cycle_about_k_max_is_confirmed_by_mean_and_amplitude() -> None:
    # The published constants with 64 flows: by the page on stability the fluid's amplitude is 179 KB about 111 KB.
    scenario = Scenario.from_toml(PUBLISHED, name="published")
    found = report(configuration(scenario))
    assert found.jump is not None and not found.stable
    assert found.jump.mean_octets == pytest.approx(111e3, rel=0.02)
    seen = simulate(scenario, found)
    assert isinstance(seen, PacketOscillation)
    assert seen.verdict == "confirm" and not seen.calm
    assert seen.mean_octets == pytest.approx(116e3, rel=0.1)
    # Between percentiles it is a little less than between the extremes, 180 KB.
    assert 150e3 < seen.amplitude_octets < 180e3
    # A fluid that swings half as far is not what packets do.
    half = replace(found.jump, cycle=replace(found.jump.cycle, amplitude_octets=found.jump.cycle.amplitude_octets / 2))
    other = simulate(scenario, replace(found, jump=half))
    assert isinstance(other, PacketOscillation) and other.verdict == "contradict"


VICTIM = """question = "?"
duration = "2 ms"
warmup = "1 ms"
scheme = "dcqcn"
[topology.leaf-spine]
leaves = 2
spines = 2
hosts_per_leaf = 8
host_rate = "100 Gbps"
fabric_rate = "400 Gbps"
link_delay = "500 ns"
buffer = "2 MB"
[[flow]]
name = "incast"
from = "h8..h13"
to = "h0"
[[flow]]
name = "victim"
from = "h14..h15"
to = "h1"
"""


def test_a_fabric_with_a_victim_has_the_margin_of_the_incast(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("victim.toml").write_text(VICTIM)
    scenario = Scenario.load("victim.toml")
    # Without a choice there is none: six flows share one port, two another.
    with pytest.raises(UnsuitedScenarioError, match="are bottlenecks of different flows"):
        configuration(scenario)
    given = configuration(scenario, binding=True)
    assert (given.queue, given.flows, given.other_bottlenecks) == ("leaf0->h0", 6, ("leaf0->h1",))
    assert given.left_out == ("victim0", "victim1")
    done = CliRunner().invoke(app, ["theory", "margin", "victim.toml", "--no-packets"])
    assert done.exit_code == 0, done.output
    assert (
        "leaf0->h0 is the bottleneck that leaves a flow least, 16.7 Gb/s; leaf0->h1 is full too; flows that do not "
        "cross it are left out: victim0 and 1 more"
    ) in done.stdout
    assert "packets" not in done.stdout
    document = json.loads(CliRunner().invoke(app, ["theory", "margin", "victim.toml", "--json"]).stdout)
    assert document["other_bottlenecks"] == ["leaf0->h1"]
    assert document["applies"] == (document["doubts"] == [])
    assert document["packets"]["verdict"] in ("confirm", "contradict")
