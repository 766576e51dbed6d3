"""TCP flows of the engine share a link as the theory of them says: equal ones equally, others by their round trips.

A tail that drops meets flows in phase, so that one of them may lose nearly always (Floyd and Jacobson 1992). A fifth of
the line is other traffic here, at random moments, so that none is in phase with anything.
"""

from statistics import fmean

import pytest

from penstock import Scenario

SEEDS = (1, 2, 3)


def shares(congestion: str, near_ms: int, far_ms: int, buffer: str = "60 KB") -> list[float]:
    """Return the goodput of a flow over that of another on one line of 100 Mb/s, a number a seed.

    Their round trips are as long as is said, the queue not counted.
    """
    found = []
    for seed in SEEDS:
        scenario = Scenario.from_toml(f"""
question = "How do two TCP flows share a line?"
duration = "120 s"
warmup = "20 s"
seed = {seed}
scheme = "none"
[topology.graph]
hosts = ["near", "far", "other", "to"]
switches = ["sw"]
buffer = "{buffer}"
link = [
    {{ ends = ["near", "sw"], rate = "1 Gbps", delay = "{near_ms / 2 - 0.1:g} ms" }},
    {{ ends = ["far", "sw"], rate = "1 Gbps", delay = "{far_ms / 2 - 0.1:g} ms" }},
    {{ ends = ["other", "sw"], rate = "1 Gbps", delay = "1 ms" }},
    {{ ends = ["to", "sw"], rate = "100 Mbps", delay = "0.1 ms" }},
]
[[flow]]
name = "near"
from = "near"
to = "to"
transport = {{ tcp = {{ congestion = "{congestion}" }} }}
[[flow]]
name = "far"
from = "far"
to = "to"
start = "1.5 s"
transport = {{ tcp = {{ congestion = "{congestion}" }} }}
[[flow]]
name = "other"
from = "other"
to = "to"
traffic = "poisson"
rate = "20 Mbps"
""")
        near, far, _ = scenario.run().summary["flows"]
        assert near["goodput_bps"]
        assert far["goodput_bps"]
        found.append(near["goodput_bps"] / far["goodput_bps"])
    return found


@pytest.mark.parametrize("congestion", ["newreno", "cubic"])
@pytest.mark.parametrize("buffer", ["60 KB", "250 KB"])
def test_equal_flows_share_equally(congestion: str, buffer: str) -> None:
    """Additive increase and multiplicative decrease lead to equal shares.

    (Chiu and Jain 1989)
    """
    assert fmean(shares(congestion, 20, 20, buffer)) == pytest.approx(1.0, abs=0.15)


@pytest.mark.parametrize("far_ms", [80, 160])
def test_shares_of_newreno_go_by_the_square_of_round_trips(far_ms: int) -> None:
    """The window grows by a segment a round trip, and goes once a round trip: twice the same reason.

    So it is where both lose at the same time; where losses are independent the power is 1. (Lakshman and Madhow 1997)
    Up to 4.8 ms in the queue of 60 KB belong to both round trips.
    """
    ratio = fmean(shares("newreno", 20, far_ms))
    assert ((far_ms + 4.8) / (20 + 4.8)) ** 1.5 < ratio < (far_ms / 20) ** 2


def test_cubic_is_fairer_than_newreno_over_unequal_round_trips() -> None:
    """CUBIC's window grows by time, and not by round trips, while it is beyond the one of Reno.

    (RFC 9438, section 5.2)
    """
    assert 1 < fmean(shares("cubic", 20, 160)) < fmean(shares("newreno", 20, 160))
