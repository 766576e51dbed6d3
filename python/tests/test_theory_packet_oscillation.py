"""The packets beside the theory's word, and where its model does not apply."""

import pytest

from penstock import Scenario
from penstock.theory.configuration import configuration
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
    assert seen.std_octets > 0.25 * seen.rest_octets
    # Half a million frames of 4096 octets at 200 Gb/s, of which the second half is measured.
    assert seen.start_s == pytest.approx(0.04096)
    assert seen.stop_s == pytest.approx(0.08192)


def test_a_calm_queue_is_told_as_such() -> None:
    scenario = Scenario.named("baseline/ten-gig").set("scheme", "rocc")
    found = report(configuration(scenario))
    seen = simulate(scenario, found)
    assert isinstance(seen, PacketOscillation)
    assert seen.calm
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
