"""Homa: order of messages, overcommitment, losses, priorities, wrong input."""

from typing import Any

import pytest

from penstock import Scenario, ScenarioError

# 30, 60, … 360 KB are 1560 frames of 1500 octets; 1520 on the line.
TWELVE_S = 1560 * 1520 * 8 / 10e9

SHARED = """
question = "Is the line of a receiver busy while the source of its shortest message serves another one?"
duration = "20 ms"
until = "all-flows-complete"
seed = 1
scheme = "homa"
[topology.star]
hosts = 4
link_rate = "10 Gbps"
link_delay = "1 us"
buffer = "1 MB"
[network]
wire_overhead = "20 octets"
[[flow]]
name = "first"
from = "h0"
to = "h2"
size = "1500 KB"
start = "20 us"
[[flow]]
name = "second"
from = "h0"
to = "h3"
size = "3 MB"
[[flow]]
name = "third"
from = "h1"
to = "h3"
size = "6 MB"
"""

UPLINK = """
question = "Do two threads count as one?"
duration = "2 ms"
seed = 1
scheme = "homa"
[topology.leaf-spine]
leaves = 2
spines = 2
hosts_per_leaf = 4
host_rate = "10 Gbps"
fabric_rate = "10 Gbps"
link_delay = "1 us"
buffer = "150 KB"
[[load]]
load = 0.6
size = { workload = "homa-w5" }
flows = 20
transport = { selective = { bdp_cap = 0 } }
"""


SLOWER = """
question = "Does a receiver grant for its line?"
duration = "4 ms"
seed = 1
scheme = "homa"
[topology.graph]
buffer = "1 MB"
hosts = ["h0", "h1"]
switches = ["sw0"]
[[topology.graph.link]]
ends = ["h0", "sw0"]
rate = "100 Gbps"
delay = "1 us"
[[topology.graph.link]]
ends = ["h1", "sw0"]
rate = "10 Gbps"
delay = "1 us"
[schemes.homa]
rtt_octets = "{octets}"
"""
FIXED = """
[[flow]]
from = "h0"
to = "h1"
size = "6 MB"
"""
GENERATED = """
[[trace]]
flows = '''
from, to, size, start
h0, h1, 6 MB, 2 us
'''
"""
CHANGED = """
[[change]]
at = "1 us"
schemes.homa.rtt_octets = "auto"
"""


def _summary(scenario: Scenario, settings: dict[str, Any]) -> Any:
    for key, value in settings.items():
        scenario.set(key, value)
    return scenario.run().summary


def _times_s(summary: Any) -> list[float]:
    times = [flow["completion_time_s"] for flow in summary["flows"]]
    assert None not in times
    return times


def test_the_shortest_message_ends_first_and_the_line_is_busy() -> None:
    summary = _summary(Scenario.named("incast/homa-sizes"), {})
    times = _times_s(summary)
    assert summary["totals"]["frames_dropped"] == 0
    # The last one has 30 KB, and the line nearly for itself: 20 frames, and four links of 1 us.
    assert times[-1] < 1.5 * (20 * 1520 * 8 / 10e9 + 4e-6)
    # The first waits for all others.
    assert times[0] == max(times) == pytest.approx(TWELVE_S, rel=0.01)


def test_with_one_scheduled_level_granted_frames_wait_for_one_another() -> None:
    """The control: the shortest message has a level above others no longer."""
    several, one = (
        _times_s(_summary(Scenario.named("incast/homa-sizes"), {"schemes.homa.scheduled_levels": levels}))
        for levels in (7, 1)
    )
    assert one[-1] > 1.5 * several[-1]


@pytest.mark.parametrize(("messages", "last_s"), [(1, 8.4e-3), (2, 7.2e-3)])
def test_a_second_granted_message_keeps_the_line_busy(messages: int, last_s: float) -> None:
    """The source of the shorter message serves another receiver for 1.2 ms at first; 9 MB take 7.2 ms."""
    scenario = Scenario.from_toml(SHARED, name="shared")
    summary = _summary(scenario, {"schemes.homa.overcommitment": messages})
    assert _times_s(summary)[2] == pytest.approx(last_s * 1520 / 1500, rel=0.02)


def test_lost_frames_and_grants_are_sent_again() -> None:
    """One of a hundred frames is lost on each line of a source, and one of a hundred grants on the way back."""
    lossy = """
[[impairment]]
links = ["h0->sw0", "sw0->h0", "h1->sw0", "sw0->h1"]
loss = 0.01
"""
    scenario = Scenario.from_toml(SHARED + lossy, name="lossy").with_({"impaired_is_lost": False})
    for flow in range(3):
        scenario.set(f"flow.{flow}.transport", "selective")
    summary = _summary(scenario, {"schemes.homa.resend": "100 us", "duration": "200 ms"})
    assert summary["totals"]["retransmissions"] > 50
    assert max(_times_s(summary)) < 20e-3


def test_threads_count_the_same_events() -> None:
    scenario = Scenario.from_toml(UPLINK, name="uplink")
    one, two = (scenario.run(threads=threads) for threads in (1, 2))
    assert one.fingerprint() == two.fingerprint()


@pytest.mark.parametrize(
    ("settings", "tables", "says"),
    [
        ({"flow.0.priority": 4, "flow.1.priority": 4, "flow.2.priority": 4}, "", "from 4 to 8"),
        ({"flow.0.priority": 4}, "", "0 to 4, and flows or another scheme have priority 4"),
        ({}, '[[priority]]\npriority = 2\nscheme = "none"', "another scheme have priority 2"),
    ],
)
def test_priorities_that_are_not_there_are_refused(settings: dict[str, Any], tables: str, says: str) -> None:
    scenario = Scenario.from_toml(SHARED + tables, name="shared")
    with pytest.raises(ScenarioError, match=says):
        _summary(scenario, settings)


@pytest.mark.parametrize("traffic", [FIXED, GENERATED])
@pytest.mark.parametrize(("octets", "change"), [("auto", ""), ("5 us", ""), ("50 KB", CHANGED)])
def test_a_receiver_grants_for_the_line_that_leads_to_it(traffic: str, octets: str, change: str) -> None:
    """6 MB from 100 to 10 Gb/s: what the slower line holds in a round trip is granted, and hardly a frame waits."""
    scenario = Scenario.from_toml(SLOWER.format(octets=octets) + traffic + change, name="slower")
    (queue,) = _summary(scenario, {})["queues"]
    assert queue["mean_octets"] < 5000


def test_what_is_granted_beyond_a_round_trip_waits() -> None:
    """The control: 50 KB, of which a round trip of 10 Gb/s holds five frames."""
    scenario = Scenario.from_toml(SLOWER.format(octets="50 KB") + FIXED, name="slower")
    (queue,) = _summary(scenario, {})["queues"]
    assert queue["mean_octets"] > 40_000
