"""The testbed beside the simulator: the kernel's TCP beside ours; how a comparison is judged."""

import pytest

from penstock import Scenario
from penstock.testbed.agreement import Agreement, Body, agreement, delivered_bps


def body(delivered_bps: float, queue_octets: float) -> Body:
    """Return a body without drops or signals."""
    return Body(delivered_bps, queue_octets, dropped=0, signals=0, late=0)


@pytest.mark.parametrize(
    ("delivered_bps", "queue_octets", "agrees"),
    [
        (95.0, 100.0, True),
        (105.0, 115.0, True),
        (94.9, 100.0, False),
        (100.0, 84.9, False),
        (105.1, 100.0, False),
        (100.0, 115.1, False),
    ],
)
def test_rates_agree_within_a_twentieth_and_queues_within_fifteen_hundredths(
    delivered_bps: float, queue_octets: float, agrees: bool
) -> None:
    result = Agreement(body(100.0, 100.0), body(delivered_bps, queue_octets), True, (), 0.0, 0.0, 0.0)
    assert result.agrees == agrees
    assert result.rate_off == pytest.approx(delivered_bps / 100 - 1)
    assert result.queue_off == pytest.approx(queue_octets / 100 - 1)


def test_an_empty_queue_agrees_with_an_empty_one_alone() -> None:
    assert Agreement(body(1.0, 0.0), body(1.0, 0.0), True, (), 0.0, 0.0, 0.0).agrees
    assert not Agreement(body(1.0, 0.0), body(1.0, 1518.0), True, (), 0.0, 0.0, 0.0).agrees


def test_goodput_counts_where_transports_carry_and_throughput_elsewhere() -> None:
    carried = Scenario.named("testbed/two-connections").set("duration", "1 s").set("warmup", "100 ms").run()
    flows = carried.summary["flows"]
    assert delivered_bps(carried.summary) == sum(flow["goodput_bps"] for flow in flows) > 0
    plain = Scenario.named("testbed/two-senders").set("duration", "10 ms").set("warmup", "1 ms").run()
    assert delivered_bps(plain.summary) == sum(flow["throughput_bps"] for flow in plain.summary["flows"]) > 0


@pytest.mark.usefixtures("namespaces")
@pytest.mark.parametrize("congestion", ["newreno", "cubic"])
def test_the_kernels_tcp_and_ours_share_a_port_alike(congestion: str) -> None:
    # 13 s rather than 25: tools/check_testbed.py has the long form, and a dumbbell.
    scenario = Scenario.named("testbed/two-connections").set("duration", "15 s").set("warmup", "2 s")
    scenario.set("flow.0.transport", f'{{ tcp = {{ congestion = "{congestion}" }} }}')
    result = agreement(scenario, scheme="none")
    if not result.valid:
        # The machine was too busy: the figures say nothing about either TCP.
        pytest.skip(f"the run is invalid: {' '.join(result.faults)}")
    assert abs(result.rate_off) <= 0.05, result
    assert abs(result.queue_off) <= 0.15, result
    # Both fill the buffer and lose frames: without that the comparison says nothing.
    assert min(result.simulated.dropped, result.measured.dropped) > 0
    assert result.measured.late > 0
