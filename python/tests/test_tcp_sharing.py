"""TCP flows of the engine share a link as the theory of them says: equal ones equally, others by their round trips."""

from statistics import fmean

import pytest

from penstock import Scenario

LINE_BPS = 100e6


def shares(congestion: str, near_ms: float, far_ms: float, *, buffer: str, seeds: int = 3) -> list[tuple[float, float]]:
    """Return the goodput of two flows over one line of 100 Mb/s, a run a seed, b/s.

    The round trip of a flow is the given time, the bottleneck's queue not counted.
    """
    found = []
    for seed in range(1, seeds + 1):
        scenario = Scenario.from_toml(f"""
question = "How do two TCP flows share a line?"
duration = "120 s"
warmup = "20 s"
seed = {seed}
scheme = "none"
[topology.graph]
hosts = ["near", "far", "to"]
switches = ["sw"]
buffer = "{buffer}"
link = [
    {{ ends = ["near", "sw"], rate = "1 Gbps", delay = "{near_ms / 2 - 0.1:g} ms" }},
    {{ ends = ["far", "sw"], rate = "1 Gbps", delay = "{far_ms / 2 - 0.1:g} ms" }},
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
start = {{ uniform = {{ minimum = "1 s", maximum = "2 s" }} }}
transport = {{ tcp = {{ congestion = "{congestion}" }} }}
""")
        near, far = scenario.run().summary["flows"]
        assert near["goodput_bps"] is not None
        assert far["goodput_bps"] is not None
        found.append((near["goodput_bps"], far["goodput_bps"]))
    return found


@pytest.mark.parametrize("congestion", ["newreno", "cubic", "dctcp"])
def test_equal_flows_share_equally(congestion: str) -> None:
    """Additive increase and multiplicative decrease lead to equal shares. (Chiu and Jain 1989)"""
    for near, far in shares(congestion, 20, 20, buffer="250 KB"):
        assert near + far > 0.9 * LINE_BPS
        assert 0.8 < near / far < 1.25


def test_newreno_favours_short_round_trips() -> None:
    """Shares of flows that lose together go by 1/RTT each for the growth of the window and for its use.

    Where losses are not shared, the power of the ratio lies between 1 and 2. (Lakshman and Madhow 1997)
    """
    for near, far in shares("newreno", 20, 80, buffer="100 KB"):
        # The queue of 100 KB adds up to 8 ms to both.
        assert 80 / 20 * 0.7 < near / far < (80 / 20) ** 2 * 1.3


def test_cubic_is_fairer_than_newreno_over_unequal_round_trips() -> None:
    """CUBIC's window grows by time and not by round trips. (RFC 9438, section 5.2)"""
    newreno = fmean(near / far for near, far in shares("newreno", 20, 80, buffer="100 KB"))
    cubic = fmean(near / far for near, far in shares("cubic", 20, 80, buffer="100 KB"))
    assert 1 < cubic < newreno
