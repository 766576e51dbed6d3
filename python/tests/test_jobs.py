"""Jobs: the summary and the table of a collective, its metrics, and wrong input."""

from typing import Any

import pytest

from penstock import PenstockError, Scenario, ScenarioError, theory

STEP_S = 1.5e6 * 80e-12 + 0.12e-6 + 2e-6
"""A message of 1.5 MB at 100 Gb/s: its octets, a frame of 1500 over the second link, and 1 us on each of them."""


def ring(**keys: Any) -> Scenario:
    """Return an all-reduce of 6 MB among four hosts."""
    table: Any = {"kind": "all-reduce", "size": "6 MB", **keys}
    return Scenario(
        question="How long does it take?",
        duration="1 s",
        until="all-flows-complete",
        scheme="none",
        topology={"star": {"hosts": 4, "link_rate": "100 Gbps", "link_delay": "1 us", "buffer": "1 MB"}},
        collective=[table],
        record={"interval": "1 ms"},
    )


def test_a_ring_takes_the_time_of_its_steps() -> None:
    result = ring(iterations=2).run()
    (job,) = result.summary["jobs"]
    assert job["job_time_s"] == pytest.approx(12 * STEP_S, rel=1e-9)
    assert job["bus_bandwidth_bps"] == pytest.approx(1.5 * 48e6 / (6 * STEP_S), rel=1e-9)
    assert result.end_s == pytest.approx(12 * STEP_S, rel=1e-9)
    # Each rank's iteration and its collective.
    assert result.jobs.num_rows == 4 * 2 * 2
    assert set(result.column("jobs", "work")) == {"iteration", "collective"}


def test_local_messages_do_not_enter_the_network() -> None:
    result = ring(hosts="h0", ranks_per_host=4, local_rate="1 Tbps").run()
    assert result.summary["totals"]["frames_sent"] == 0
    assert result.summary["jobs"][0]["job_time_s"] == pytest.approx(6 * 1.5e6 * 8e-12, rel=1e-9)


PAIR = """num_ranks 2
rank 0 {
first: send 1500000b to 1 tag 1
second: send 15000b to 1 tag 2
ORDER
}
rank 1 {
recv 1500000b from 0 tag 1
recv 15000b from 0 tag 2
}
"""
"""A message of 1000 frames and one of ten between two ranks."""


def sends(order: str, connections: str, transport: str | None = None, **keys: Any) -> dict[str, tuple[float, float]]:
    """Return begin and end of both messages."""
    job = {"graph": PAIR.replace("ORDER", order), "connections": connections}
    whole: dict[str, Any] = {
        "question": "When do they arrive?",
        "duration": "1 s",
        "until": "all-flows-complete",
        "topology": {"star": {"hosts": 2, "link_rate": "10 Gbps", "link_delay": "1 us", "buffer": "10 MB"}},
        "scheme": "none",
        "job": [job if transport is None else {**job, "transport": transport}],
        **keys,
    }
    result = Scenario(**whole).run()
    columns = [result.column("jobs", name) for name in ("work", "node", "begin_s", "end_s")]
    return {node: (begin, end) for work, node, begin, end in zip(*columns, strict=True) if work == "send"}


def test_messages_of_a_kept_connection_arrive_in_order() -> None:
    # 1.2 us a frame on each of two links, 1 us each; the sender hears of the end 2 us later.
    way = 2 * (1.2e-6 + 1e-6) + 2e-6
    kept = sends("", "kept")
    assert kept["first"][1] == pytest.approx(999 * 1.2e-6 + way, rel=1e-9)
    assert kept["second"][1] == pytest.approx(1009 * 1.2e-6 + way, rel=1e-9)
    # Frames of two connections go in turn: the tenth frame of the second is the twentieth of all.
    apart = sends("", "per-message")
    assert apart["second"][1] == pytest.approx(19 * 1.2e-6 + way, rel=1e-9)
    assert apart["first"][1] == pytest.approx(1009 * 1.2e-6 + way, rel=1e-9)


def test_a_kept_connection_keeps_its_transport_too() -> None:
    kept = sends("", "kept", transport="go-back-n")
    # Go-back-N's frames have 1024 octets of data and 62 of headers. The second message has 15 frames, the last of 664.
    frames = 14 * (1024 + 62) + 664 + 62
    assert kept["second"][1] - kept["first"][1] == pytest.approx(frames * 0.8e-9, rel=1e-6)


def test_a_kept_connection_goes_on_at_the_rate_of_dcqcn() -> None:
    # One notification halves the rate for good: the next one is due after 1 s, and so is every recovery.
    dcqcn = {"k_min": "0 octets", "k_max": "100 octets", "p_max": 1.0, "alpha0": 1.0, "cnp_interval": "1 s"}
    dcqcn |= {"alpha_time": "1 s", "time_reset": "1000 s", "byte_reset": "1000 GB"}
    dumbbell = {"sources": 1, "link_rate": "10 Gbps", "bottleneck_rate": "8 Gbps", "buffer": "10 MB"}
    dumbbell |= {"link_delay": "1 us", "bottleneck_delay": "1 us"}
    keys: Any = {"scheme": "dcqcn", "schemes": {"dcqcn": dcqcn}, "topology": {"dumbbell": dumbbell}}
    begin, end = sends("second requires first", "kept", **keys)["second"]
    # Ten frames at 5 Gb/s; the last one over links of 10, 8 and 10 Gb/s, with 1 us each, there and back.
    assert end - begin == pytest.approx(9 * 2.4e-6 + 1.2e-6 + 1.5e-6 + 1.2e-6 + 6e-6, rel=1e-6)
    begin, end = sends("second requires first", "per-message", **keys)["second"]
    # A new limiter begins at 10 Gb/s, and the bottleneck takes 1.5 us a frame.
    assert end - begin < 9 * 1.6e-6 + 1.2e-6 + 1.5e-6 + 1.2e-6 + 6e-6


def test_a_size_without_a_unit_is_refused_with_its_place() -> None:
    with pytest.raises(ScenarioError, match=r"collective\.0\.size"):
        ring(size=6_000_000).describe()


def test_the_fluid_models_have_no_jobs() -> None:
    with pytest.raises(PenstockError, match="flows come and go with a "):
        theory.configuration(ring())
