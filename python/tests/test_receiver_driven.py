"""Schemes whose receivers decide when frames go: incasts, shares, and what their parts are for."""

from typing import Any

import numpy as np
import pytest

from penstock import Scenario

# Messages of 1 MB in frames of 1438 octets of data and 1500 in all are 696 frames; 1520 octets on the line.
SIXTEEN_S = 16 * 696 * 1520 * 8 / 100e9


def _run(name: str, settings: dict[str, Any]) -> Any:
    scenario = Scenario.named(name)
    for key, value in settings.items():
        scenario.set(key, value)
    return scenario.run().summary


def _last_s(summary: Any) -> float:
    times = [flow["completion_time_s"] for flow in summary["flows"]]
    assert None not in times
    return float(max(times))


def test_an_incast_under_ndp_takes_as_long_as_its_line_needs() -> None:
    """Handley et al. 2017, abstract: near-optimal completion times, including incast."""
    summary = _run("incast/ndp-sixteen", {})
    totals = summary["totals"]
    assert _last_s(summary) == pytest.approx(SIXTEEN_S, rel=0.02)
    # No more than the first windows is trimmed; all of that is sent again, once, and nothing waits for a timeout.
    assert totals["retransmissions"] == totals["frames_trimmed"] <= 16 * 30
    assert totals["timeouts"] == 0


def test_without_pulls_the_same_switches_trim_all_the_time() -> None:
    """The control, for the first half of the time that all of it takes."""
    short = {"duration": "600 us", "until": "duration"}
    pulled = _run("incast/ndp-sixteen", short)["totals"]["frames_trimmed"]
    control = _run("incast/ndp-sixteen", {**short, "scheme": "none", "network.trimming": True, "require_action": False})
    assert control["totals"]["frames_trimmed"] > 20 * pulled


def test_a_first_window_of_one_frame_leaves_a_line_idle_that_one_source_could_fill() -> None:
    """A round trip of 4.3 us has 35 frames."""
    one = {"topology.star.hosts": 2, "flow.0.from": "h0", "flow.0.to": "h1"}
    settings = [{**one, "schemes.ndp.initial_window": window} for window in (1, 40)]
    slow, fast = (_last_s(_run("incast/ndp-sixteen", each)) for each in settings)
    assert fast == pytest.approx(SIXTEEN_S / 16, rel=0.1)
    assert slow > 10 * fast


@pytest.mark.parametrize("sources", [2, 4, 8, 16])
def test_sources_share_the_line_of_a_receiver_that_pulls(sources: int) -> None:
    settings = {
        "topology.star.hosts": sources + 1,
        "flow.0.from": f"h0..h{sources - 1}",
        "flow.0.to": f"h{sources}",
        "flow.0.size": "4 MB",
        "duration": "400 us",
        "warmup": "100 us",
        "until": "duration",
    }
    got = np.array([flow["throughput_bps"] for flow in _run("incast/ndp-sixteen", settings)["flows"]])
    assert got.sum() ** 2 / (sources * (got**2).sum()) > 0.995
    assert got.sum() == pytest.approx(100e9, rel=0.01)


def test_messages_end_although_headers_find_no_room() -> None:
    """Of 64 first windows more headers come at a time than a line of 100 Gb/s takes, and 2 KB hold 32 of them."""
    many = {"topology.star.hosts": 65, "flow.0.from": "h0..h63", "flow.0.to": "h64", "flow.0.size": "100 KB"}
    whole, short = (_run("incast/ndp-sixteen", {**many, "network.control_buffer": room}) for room in ("64 KB", "2 KB"))
    assert whole["totals"]["headers_lost"] == whole["totals"]["timeouts"] == 0
    assert short["totals"]["headers_lost"] > 500
    assert _last_s(short) == pytest.approx(_last_s(whole), rel=0.05)


# A frame of 1518 octets and its credit of 64 take 1622 on the line with what it adds to both; a frame alone 1538.
USED = 1538 / 1622
UPLINK = """
question = "Do flows to separate hosts lose a frame at the uplink that they share?"
duration = "8 ms"
warmup = "3 ms"
seed = 1
scheme = "expresspass"
[topology.leaf-spine]
leaves = 2
spines = 1
hosts_per_leaf = 8
host_rate = "10 Gbps"
fabric_rate = "10 Gbps"
link_delay = "1 us"
buffer = "150 KB"
[network]
wire_overhead = "20 octets"
[[flow]]
from = "h0..h7"
to = ["h8..h15"]
size = "20 MB"
transport = { selective = { mtu = "1456 octets", bdp_cap = 0 } }
"""


def test_an_incast_under_expresspass_loses_nothing() -> None:
    """Cho et al. 2017, abstract: zero data loss, low buffer occupancy, high utilization."""
    summary = _run("incast/expresspass-sixty-four", {})
    assert summary["totals"]["frames_dropped"] == summary["totals"]["retransmissions"] == 0
    assert _last_s(summary) == pytest.approx(64 * 100_000 / 1456 * 1622 * 8 / 10e9, rel=0.03)
    (queue,) = (at for at in summary["queues"] if at["name"] == "sw0->h64")
    assert queue["max_octets"] <= 3 * 1518


def test_credits_for_shorter_frames_than_those_that_come_lose_data() -> None:
    """The control: destinations and switches reckon with frames of 64 octets."""
    short = _run("incast/expresspass-sixty-four", {"schemes.expresspass.frame": "64 octets"})
    assert short["totals"]["frames_dropped"] > 1000


def _uplink(settings: dict[str, str]) -> Any:
    scenario = Scenario.from_toml(UPLINK, name="uplink")
    for key, value in settings.items():
        scenario.set(key, value)
    return scenario.run().summary


def test_switches_drop_credits_where_no_receiver_sees_the_queue() -> None:
    """Each receiver's line would carry all of its flow: the ports of the uplink alone hold credits back."""
    summary = _uplink({})
    got = np.array([flow["throughput_bps"] for flow in summary["flows"]])
    assert summary["totals"]["frames_dropped"] == 0
    assert got.sum() == pytest.approx(10e9 * USED, rel=0.02)
    assert got.sum() ** 2 / (len(got) * (got**2).sum()) > 0.95
    # The control: ports that let credits for frames of 200 octets through.
    assert _uplink({"schemes.expresspass.frame": "200 octets"})["totals"]["frames_dropped"] > 1000


def test_threads_count_the_same_events() -> None:
    """Ports of the uplink belong to two threads, and their shapers' wake-ups depend on when a port is settled."""
    scenario = Scenario.from_toml(UPLINK, name="uplink").with_({"flow.0.size": "200 KB"})
    one, two = (scenario.run(threads=threads) for threads in (1, 2))
    assert one.fingerprint() == two.fingerprint()


@pytest.mark.parametrize("sources", [2, 4, 8, 16])
def test_sources_share_the_credits_of_a_receiver(sources: int) -> None:
    settings = {
        "topology.star.hosts": sources + 1,
        "flow.0.from": f"h0..h{sources - 1}",
        "flow.0.to": f"h{sources}",
        "flow.0.size": "20 MB",
        "duration": "4 ms",
        "warmup": "1 ms",
        "until": "duration",
    }
    got = np.array([flow["throughput_bps"] for flow in _run("incast/expresspass-sixty-four", settings)["flows"]])
    assert got.sum() ** 2 / (sources * (got**2).sum()) > 0.995
    assert got.sum() == pytest.approx(10e9 * USED, rel=0.01)
