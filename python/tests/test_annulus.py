"""Saeed et al. 2020, abstract: far flows raise the tail of near ones, near messages lower it and use more of links.

The sign and, where it is in reach, the range. The paper's far flows have BBR and a small demand; those of CUBIC and of
DCTCP have no end, and stand on its two sides.
"""

from functools import cache
from pathlib import Path

import pytest

from penstock import Scenario

SCENARIOS = Path(__file__).resolve().parent.parent.parent / "scenarios"


@cache
def _run(scenario: str, seed: int, scheme: str, near_hops: int = 1, far: bool = True) -> tuple[float, float]:
    """Return the 99th percentile of the near flows' slowdown, and the use of the uplink."""
    loaded = Scenario.load(SCENARIOS / f"{scenario}.toml")
    loaded.set("seed", str(seed))
    loaded.set("schemes.annulus.near_hops", str(near_hops))
    if not far:
        loaded.set(*(("flow.0.rate", "1 Mbps") if "small" in scenario else ("flow.0.size", "1460 octets")))
    summary = loaded.run(scheme=scheme).summary
    uplink = next(queue for queue in summary["queues"] if queue["name"] == "RACK->SPINE")
    tail = summary["completions"][0]["slowdown_p99"]
    assert tail is not None
    return tail, uplink["utilization"]


@pytest.mark.parametrize("seed", [1, 2])
def test_far_flows_raise_the_tail_of_near_ones(seed: int) -> None:
    # By 2.5 times there. By less with DCTCP, whose windows grow slowly; by more with CUBIC, which fills buffers.
    by_dctcp, by_bbr, by_cubic = (
        _run(scenario, seed, scheme)[0] / _run(scenario, seed, scheme, far=False)[0]
        for scenario, scheme in (
            ("arena/two-distances", "dctcp"),
            ("two-distances/small-demand", "none"),
            ("two-distances/messages", "none"),
        )
    )
    assert 1 < by_dctcp < 2.5 < by_cubic
    assert by_bbr == pytest.approx(2.5, rel=0.4)


@pytest.mark.parametrize("seed", [1, 2])
def test_near_messages_lower_the_tail(seed: int) -> None:
    # By 1.3 to 3.5 times there. Beside CUBIC there is more to lower.
    without = _run("two-distances/messages", seed, "none")[0]
    assert without > 1.3 * _run("two-distances/messages", seed, "annulus")[0]
    # The negative control: no queue is near.
    assert without < 1.3 * _run("two-distances/messages", seed, "annulus", near_hops=0)[0]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_near_messages_raise_the_use_of_the_uplink_over_that_of_dctcp_alone(seed: int) -> None:
    # By about 10 % there.
    alone = _run("arena/two-distances", seed, "dctcp")[1]
    assert alone < _run("arena/two-distances", seed, "annulus")[1] < 1.15 * alone
    # The negative control.
    assert _run("arena/two-distances", seed, "annulus", near_hops=0)[1] == alone


def test_they_take_some_of_it_from_cubic() -> None:
    # A difference to the paper: rates of QCN and windows of 2 ms come back one after the other.
    assert _run("two-distances/messages", 1, "annulus")[1] < _run("two-distances/messages", 1, "none")[1]
