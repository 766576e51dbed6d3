"""The testbed beside the simulator: the kernel's TCP beside ours; how a comparison is judged."""

import pytest
from real_time import end_as_invalid, in_real_time
from testbed_agreement import Agreement, MeasuredRun, RunMeasures, agreement, delivered_bps

from penstock import Scenario


def body(delivered_bps: float, queue_octets: float, dropped: int = 0) -> RunMeasures:
    """Return a body without signals."""
    return RunMeasures(delivered_bps, queue_octets, dropped=dropped, signals=0, late=0)


def compared(simulated: list[RunMeasures], measured: list[RunMeasures], *invalid: RunMeasures) -> Agreement:
    """Return a comparison of valid runs, with invalid ones beside them."""
    runs = [MeasuredRun(one, True, (), 0.0, 0.0, 0.0) for one in measured]
    runs += [MeasuredRun(one, False, ("It was late.",), 1.0, 1.0, 9.0) for one in invalid]
    return Agreement(tuple(simulated), tuple(runs))


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
    result = compared([body(100.0, 100.0)], [body(delivered_bps, queue_octets)])
    assert result.agrees == agrees
    assert result.rate_off == pytest.approx(delivered_bps / 100 - 1)
    assert result.queue_off == pytest.approx(queue_octets / 100 - 1)


def test_an_empty_queue_agrees_with_an_empty_one_alone() -> None:
    assert compared([body(1.0, 0.0)], [body(1.0, 0.0)]).agrees
    assert not compared([body(1.0, 0.0)], [body(1.0, 1518.0)]).agrees


def test_means_are_compared_and_invalid_runs_count_for_nothing() -> None:
    seeds = [body(96.0, 90.0), body(104.0, 110.0)]
    result = compared(seeds, [body(90.0, 80.0), body(106.0, 124.0)], body(1.0, 1.0, dropped=9))
    assert (result.rate_off, result.queue_off) == pytest.approx((-0.02, 0.02))
    assert result.agrees
    assert not compared(seeds, [], body(100.0, 100.0)).agrees


def test_no_frame_may_be_lost_where_the_simulator_loses_none_with_any_seed() -> None:
    lost = body(100.0, 100.0, dropped=1)
    kept = body(100.0, 100.0)
    assert not compared([kept, kept], [kept, lost]).agrees
    assert compared([kept, lost], [kept, lost]).agrees
    assert compared([lost, lost], [kept, kept]).agrees


def test_goodput_counts_where_transports_carry_and_throughput_elsewhere() -> None:
    carried = Scenario.named("testbed/two-connections").set("duration", "1 s").set("warmup", "100 ms").run()
    flows = carried.summary["flows"]
    assert delivered_bps(carried.summary) == sum(flow["goodput_bps"] for flow in flows) > 0
    plain = Scenario.named("testbed/two-senders").set("duration", "10 ms").set("warmup", "1 ms").run()
    assert delivered_bps(plain.summary) == sum(flow["throughput_bps"] for flow in plain.summary["flows"]) > 0


@pytest.mark.usefixtures("namespaces")
@pytest.mark.parametrize("congestion", ["newreno", "cubic"])
@in_real_time
def test_the_kernels_tcp_and_ours_share_a_port_alike(congestion: str) -> None:
    # 13 s rather than 25: tools/check_testbed.py has the long form, and a dumbbell.
    scenario = Scenario.named("testbed/two-connections").set("duration", "15 s").set("warmup", "2 s")
    scenario.set("flow.0.transport", f'{{ tcp = {{ congestion = "{congestion}" }} }}')
    result = agreement(scenario, scheme="none")
    if not result.valid:
        end_as_invalid(result.measured[0].faults)
    assert abs(result.rate_off) <= 0.05, result
    assert abs(result.queue_off) <= 0.15, result
    # Both fill the buffer and lose frames: without that the comparison says nothing.
    (simulated, measured) = (result.simulated[0], result.bodies[0])
    assert min(simulated.dropped, measured.dropped) > 0
    assert measured.late > 0
