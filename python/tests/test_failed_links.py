"""Links that break: queues are flushed and counted, routes avoid the link after a time, notes name who stands still."""

from __future__ import annotations

import pytest

from penstock import Result, Scenario

FABRIC = """
question = "What do flows do when a link breaks?"
duration = "4 ms"
scheme = "none"
[topology.leaf-spine]
leaves = 2
spines = 2
hosts_per_leaf = 4
host_rate = "100 Gbps"
fabric_rate = "400 Gbps"
link_delay = "1 us"
buffer = "1 MB"
[[flow]]
from = "h0..h3"
to = "h4..h7"
[[change]]
link = "leaf0--spine0"
at = "1 ms"
state = "down"
[[change]]
link = "leaf0--spine0"
at = "3 ms"
state = "up"
[[window]]
name = "before"
start = "0.5 ms"
end = "1 ms"
[[window]]
name = "unknown"
start = "1.1 ms"
end = "1.5 ms"
[[window]]
name = "known"
start = "2 ms"
end = "3 ms"
[[window]]
name = "whole"
start = "3.6 ms"
end = "4 ms"
"""
LOAD = """
[[load]]
name = "web"
pairs = "racks"
load = 0.3
size = "300 KB"
flows = 60
transport = "selective"
[[change]]
link = "leaf1--spine1"
at = "0.2 ms"
state = "down"
"""
CHOICES = ("flow", "flowlet", "spray", "spray-random", "adaptive", "adaptive-flowlet")


def fabric(**settings: str | int | float | bool) -> Scenario:
    scenario = Scenario.from_toml(FABRIC, name="fabric")
    for key, value in settings.items():
        scenario.set(key.replace("__", "."), value)
    return scenario


def rates(result: Result, window: str) -> list[int]:
    """Gb/s of each flow in a window."""
    windows = {own["name"]: own for own in result.summary["windows"]}
    return [round(flow["throughput_bps"] / 1e9) for flow in windows[window]["flows"]]


def test_without_convergence_flows_stand_still_and_a_note_names_them() -> None:
    """Two of four flows go over spine0; their frames are lost, and nothing waits in the dead port's queue."""
    scenario = fabric(network__convergence="never")
    result = scenario.run()
    still = [flow for flow, rate in enumerate(rates(result, "known")) if rate == 0]
    assert 0 < len(still) < 4
    assert [rates(result, "known")[flow] for flow in range(4) if flow not in still] == [100] * (4 - len(still))
    (note,) = (note for note in scenario.outline()["notes"] if "broken" in note)
    assert all(f"f{flow}" in note for flow in still)
    assert "leaf0--spine0" in note and "network.convergence" in note
    queues = {queue["name"]: queue for queue in result.summary["queues"]}
    totals = result.summary["totals"]
    dead = queues["leaf0->spine0"]
    # 2 ms of 100 Gb/s and flow, in frames of 1500 octets: 16 667 a flow.
    assert dead["frames_flushed"] == pytest.approx(16_667 * len(still), rel=0.01)
    assert totals["frames_lost_on_link"] >= dead["frames_flushed"]
    assert (dead["frames_dropped"], totals["frames_dropped"]) == (0, 0)


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("link", ["leaf0--spine0", "leaf1--spine0", "leaf1->spine0"])
def test_routes_avoid_the_link_everywhere_after_convergence(choice: str, link: str) -> None:
    """Near or far, one direction or both: in half a millisecond all take the other spine, and both once it is whole."""
    scenario = fabric(network__load_balancing=choice, network__convergence="0.5 ms", record__queues="switches")
    for change in range(2):
        scenario.set(f"change.{change}.link", link)
    result = scenario.run()
    for window in ("before", "known", "whole"):
        assert rates(result, window) == [100] * 4, window
    assert not any("broken" in note for note in scenario.outline()["notes"])
    # Nobody sends to spine0 from 1.5 ms to 3.5 ms.
    rows = result.to_polars("queues").select("time_s", "queue", "frames_sent").rows()
    sent = {at: count for at, queue, count in rows if queue == "leaf0->spine0"}
    assert sum(count for at, count in sent.items() if 0.00151 < at < 0.0035) == 0
    assert sum(count for at, count in sent.items() if at > 0.00351) > 0


@pytest.mark.parametrize("choice", ["flow", "spray", "adaptive"])
def test_acknowledgements_and_signals_move_too(choice: str) -> None:
    """A flow whose acknowledgements went over the broken link would stop: its window is never opened."""
    scenario = fabric(network__load_balancing=choice, network__convergence="0 s", scheme="dctcp", duration="6 ms")
    scenario.set("flow.0.transport", "{ selective = { reordering = 64 } }")
    scenario.set("schemes.dctcp.k", "200 KB")
    result = scenario.run()
    assert min(rates(result, "known")) > 80, rates(result, "known")


@pytest.mark.parametrize("choice", ["flow", "spray"])
def test_threads_change_nothing(choice: str) -> None:
    scenario = fabric(network__load_balancing=choice, network__convergence="0.3 ms")
    one, two = scenario.run(), scenario.run(threads=2)
    assert two.threads is not None and two.threads[0] == 2, two.threads
    assert {**one.summary, "run": None} == {**two.summary, "run": None}
    for table in ("queues", "rates"):
        assert one.to_polars(table).equals(two.to_polars(table)), table


@pytest.mark.parametrize("choice", ["flow", "adaptive"])
def test_flows_of_loads_move_too(choice: str) -> None:
    """Flows that are running, and those that begin later: all complete before the link is whole again."""
    text = FABRIC.split("[[flow]]")[0] + LOAD
    scenario = Scenario.from_toml(text, name="loads")
    scenario.set("network.load_balancing", choice)
    scenario.set("network.convergence", "never")
    still, notes = scenario.run(), scenario.outline()["notes"]
    scenario.set("network.convergence", "100 us")
    moved = scenario.run()
    assert any("flows of web" in note and "leaf1--spine1" in note for note in notes)
    assert not any("broken" in note for note in scenario.outline()["notes"])
    completed = [run.to_polars("completions")["slowdown"].count() for run in (still, moved)]
    assert completed[0] < completed[1] == 60
    two = scenario.run(threads=2)
    assert {**moved.summary, "run": None} == {**two.summary, "run": None}


def test_a_dead_port_holds_no_frames_and_stops_nobody() -> None:
    """Under flow control the frames of a broken link leave the buffers that count them: no pause spreads from it."""
    scenario = fabric(network__convergence="never")
    scenario.set("pfc", "{ buffer = '400 KB' }")
    result = scenario.run()
    assert result.summary["totals"]["pause_frames"] == 0
    assert all(queue["max_octets"] < 100_000 for queue in result.summary["queues"])


MARKS = """
question = "Who marks how much?"
duration = "2 ms"
scheme = "none"
[topology.dumbbell]
sources = 3
receivers = 1
link_rate = "10 Gbps"
bottleneck_rate = "10 Gbps"
buffer = "200 KB"
[network]
ecn_threshold = "30 KB"
[[flow]]
from = "h0..h2"
to = "h3"
transport = { tcp = { congestion = "dctcp" } }
"""


@pytest.mark.parametrize("by", ["queue", "port"])
@pytest.mark.parametrize("at", ["arrival", "departure"])
def test_marks_of_the_threshold_are_counted_by_queue(by: str, at: str) -> None:
    """In the summary, and in samples that add up to it; octets sent are those of the use of the link."""
    scenario = Scenario.from_toml(MARKS, name="marks")
    scenario.set("network.ecn_by", by)
    scenario.set("network.ecn_at", at)
    result = scenario.run()
    table = result.to_polars("queues")
    for queue in result.summary["queues"]:
        own = table.filter(table["queue"] == queue["name"])
        for key in ("frames_sent", "octets_sent", "frames_marked", "octets_marked"):
            assert own[key].sum() == queue[key], (queue["name"], key)
        assert queue["octets_marked"] == queue["frames_marked"] * 1518
    queues = {queue["name"]: queue for queue in result.summary["queues"]}
    first = queues["sw0->sw1"]
    assert first["frames_marked"] > 10
    assert queues["sw1->h3"]["frames_marked"] == 0
    # Less what the last transmission has still to send.
    assert first["octets_sent"] * 8 == pytest.approx(first["utilization"] * 10e9 * 0.002, rel=0.001)


def test_marks_of_schemes_are_those_of_their_points() -> None:
    """One queue marks here: its marks arrive as actions, but for the frames that are running at the end."""
    text = MARKS.split("[network]")[0] + '[[flow]]\nfrom = "h0..h2"\nto = "h3"\n'
    summary = Scenario.from_toml(text, name="marks").run(scheme="dcqcn").summary
    marked = {queue["name"]: queue["frames_marked"] for queue in summary["queues"]}
    arrived = summary["actions"]["marks"]
    assert marked["sw0->sw1"] > 100 and marked["sw1->h3"] == 0
    assert arrived <= marked["sw0->sw1"] <= arrived + summary["totals"]["frames_in_flight"]


def test_stops_and_pause_frames_are_counted_apart() -> None:
    """With short pause times a stop is refreshed many times, and counts once."""
    scenario = Scenario.from_toml(MARKS.replace('ecn_threshold = "30 KB"', ""), name="stops")
    scenario.set("pfc", "{ quanta = 150 }")
    for queue in scenario.run().summary["queues"]:
        assert (queue["stops"] == 0) == (queue["pause_frames"] == 0) == (queue["paused_s"] == 0)
        assert queue["stops"] <= queue["pause_frames"]
