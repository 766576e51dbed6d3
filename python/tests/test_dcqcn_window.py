"""DCQCN with a window: the queue of HPCC's program with the same constants, and what a start puts into a port."""

from typing import Any

import pytest

from penstock import Scenario


def _queue(scheme: str, sources: int, link: str, frame: int, duration: str, seed: int = 1, **settings: str) -> Any:
    """Return the queue of long flows that start 100 ns apart, on links of 1 us, as HPCC's program counts it."""
    ends = {"from": f"h0..h{sources - 1}", "to": f"h{sources}", "stagger": "100 ns"}
    given: dict[str, Any] = {
        "question": "How long is the queue?",
        "duration": duration,
        "warmup": "0 s" if duration == "1 ms" else "40 ms",
        "topology": {"star": {"hosts": sources + 1, "link_rate": link, "link_delay": "1 us", "buffer": "32 MB"}},
        "network": {"in_service_counts": False, "ecn_at": "departure"},
        "flow": [{**ends, "traffic": "greedy", "frame": f"{frame} octets"}],
        "record": {"interval": "100 us"},
        "schemes": {scheme: settings},
    }
    scenario = Scenario(scheme=scheme, **given)
    return max(scenario.run(seed=seed).summary["queues"], key=lambda queue: queue["mean_octets"])


@pytest.mark.science
def test_eight_flows_hold_the_queue_of_hpccs_program_with_a_window() -> None:
    # With SimAI's constants, HAS_WIN 1 and VAR_WIN 1 it holds 435 KB at 100 Gb/s, and 392 KB without. Its frames take
    # whole nanoseconds, so lines are as much faster. maxRtt: four links of 1 us and two times 9000 octets, 5.44 us.
    means = [
        _queue("dcqcn-window", 8, "100116 Mbps", 9048, "60 ms", seed, profile="simai-100g", window_time="5.44 us")[
            "mean_octets"
        ]
        for seed in range(1, 5)
    ]
    assert sum(means) / 4 == pytest.approx(435_000, rel=0.1)


def test_a_window_bounds_what_a_start_puts_into_the_network() -> None:
    # 32 windows of 52 000 octets, and a frame more of each by the open gate; rates alone put several times as much.
    bound = 32 * (52_000 + 1_048)
    window = _queue("dcqcn-window", 32, "100 Gbps", 1048, "1 ms", profile="hpcc-100g", window_time="4.16 us")
    assert window["max_octets"] <= bound
    assert _queue("dcqcn", 32, "100 Gbps", 1048, "1 ms", profile="hpcc-100g")["max_octets"] > 2 * bound
