"""Connections of TCP in one host: a reaction point for each or for all, and a queue above it with a limit."""

from typing import Any, cast

import pytest

from penstock import Scenario, ScenarioError
from penstock.document import Hosts
from penstock.summary import FlowSummary

# Four hosts send to h4, whose link is the bottleneck; h0 also sends to h5, whose link is idle.
SHARED: dict[str, Any] = {
    "question": "Does a connection to an idle host wait for that of its neighbour?",
    "duration": "60 ms",
    "warmup": "20 ms",
    "scheme": "qcn",
    "schemes": {"qcn": {"profile": "pan-10g"}},
    "topology": {"star": {"hosts": 6, "link_rate": "10 Gbps", "link_delay": "1 us", "buffer": "150 KB"}},
    "flow": [
        {"name": "busy0..busy3", "from": "h0..h3", "to": "h4", "transport": "tcp"},
        {"name": "free", "from": "h0", "to": "h5", "transport": "tcp"},
    ],
}


def flows(**hosts: Any) -> dict[str, FlowSummary]:
    """Return the flows' summaries of a run with these settings of hosts."""
    summary = Scenario(**SHARED, hosts=cast(Hosts, hosts)).run().summary
    return {flow["name"]: flow for flow in summary["flows"]}


def queue(limit: str, when_full: str) -> dict[str, str]:
    return {"limit": limit, "when_full": when_full}


def test_connections_share_a_reaction_point_or_have_their_own() -> None:
    # Their own: the bottleneck leaves each busy one about a quarter, and the free one has the rest of the line.
    own = flows(reaction_points="per-flow")
    assert own["busy0"]["throughput_bps"] < 4e9
    assert own["free"]["throughput_bps"] > 5e9
    # A shared one is signalled by the bottleneck, and both take turns behind it.
    shared = flows(reaction_points="per-host")
    assert shared["free"]["throughput_bps"] == pytest.approx(shared["busy0"]["throughput_bps"], rel=0.05)
    assert shared["free"]["throughput_bps"] < own["free"]["throughput_bps"] / 2


@pytest.mark.parametrize("points", ["per-flow", "per-host"])
def test_a_full_queue_holds_tcp_back_or_drops(points: str) -> None:
    waits = flows(reaction_points=points, transmit_queue=queue("30 KB", "wait"))
    drops = flows(reaction_points=points, transmit_queue=queue("30 KB", "drop"))
    assert all(flow["segments_discarded"] == 0 for flow in waits.values())
    assert drops["busy1"]["segments_discarded"] > 0
    for found in (waits, drops):
        # The connections of h0 have a queue each, or one together; none has more than its room.
        one = [found["busy0"], found["free"]] if points == "per-host" else [found["busy0"]]
        assert sum(flow["transmit_queue_mean_octets"] or 0 for flow in one) <= 30_000
    # Windows grow until something stops them: the queue that makes TCP wait is nearly full.
    assert (waits["busy1"]["transmit_queue_mean_octets"] or 0) > 20_000


def test_without_a_queue_nothing_is_told_of_one() -> None:
    assert all(flow.get("segments_discarded") is None for flow in flows().values())


def test_a_queue_without_room_or_with_another_fate_is_refused() -> None:
    for limit, full, words in (("0 KB", "wait", "is zero"), ("30 KB", "block", '"block" is not known here')):
        with pytest.raises(ScenarioError, match=words) as caught:
            flows(transmit_queue=queue(limit, full))
        assert (caught.value.key or "").startswith("hosts.transmit_queue.")
        assert caught.value.hint
