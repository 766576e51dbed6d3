"""The theory's view of a scenario: periods, bottleneck, delays; and its refusals."""

from typing import Any

import pytest
from conftest import SMALL

from penstock import Scenario
from penstock.theory import Configuration, UnsuitedScenarioError, configuration, configurations


def dumbbell(**keys: Any) -> Scenario:
    """Two controlled sources of 1 Gb/s on a bottleneck of 1 Gb/s, and a third that nothing controls from 2 to 6 s."""
    settings: dict[str, Any] = {
        "question": "What does the theory know of this?",
        "duration": "8 s",
        "scheme": "smcc",
        "topology": {
            "dumbbell": {
                "sources": 3,
                "receivers": 3,
                "link_rate": "1 Gbps",
                "bottleneck_rate": "1 Gbps",
                "link_delay": "5 us",
                "bottleneck_delay": "7 us",
                "buffer": "128 KB",
            }
        },
        "flow": [
            {"name": "s1", "from": "h0", "to": "h3", "frame": "1 KB"},
            {"name": "s2", "from": "h1", "to": "h4", "frame": "1 KB"},
            {
                "name": "s3",
                "from": "h2",
                "to": "h5",
                "frame": "1 KB",
                "traffic": "constant",
                "rate": "500 Mbps",
                "start": "2 s",
                "stop": "6 s",
                "controlled": False,
            },
        ],
    }
    return Scenario(**(settings | keys))


def flows(*changed: tuple[int, str, Any]) -> list[dict[str, Any]]:
    """The two controlled flows, with keys of one or the other changed."""
    both: list[dict[str, Any]] = [{"from": f"h{i}", "to": f"h{i + 3}", "frame": "1 KB"} for i in range(2)]
    for index, key, value in changed:
        both[index][key] = value
    return both


def test_periods_begin_where_something_changes() -> None:
    found = configurations(dumbbell())
    spans = [(period.start_s, period.stop_s, period.flows, period.capacity_bps) for period in found]
    assert spans == [(0, 2, 2, 1e9), (2, 6, 2, 0.5e9), (6, 8, 2, 1e9)]
    for period in found:
        assert (period.queue, period.link_bps, period.buffer_octets) == ("sw0->sw1", 1e9, 128_000)
        assert (period.line_rate_bps, period.frame_octets, period.scheme) == (1e9, 1000, "smcc")
        # Forward 1000 octets at 1 Gb/s, 8 us, and the line's 5 us; back 64 octets, 0.512 us, and 5 us.
        assert period.forward_delay_s == pytest.approx(13e-6)
        assert period.feedback_delay_s == pytest.approx(5.512e-6)


def test_rates_count_the_wire_overhead_and_the_queue_does_not() -> None:
    period = configuration(dumbbell(network={"wire_overhead": "24 octets"}))
    assert period.frame_octets == 1000
    assert period.capacity_fps == pytest.approx(0.5e9 / (8 * 1024))
    assert period.forward_delay_s == pytest.approx(8.192e-6 + 5e-6)


@pytest.mark.parametrize(("scheme", "octets"), [("dcqcn", 78), ("fecn", 64), ("dctcp", 64), ("timely", 64)])
def test_signals_and_acknowledgements_by_the_destination_take_the_whole_way(scheme: str, octets: int) -> None:
    period = configuration(dumbbell(flow=flows()), scheme=scheme)
    # From the queue two frames' times and 7 + 5 us on; back three of a signal's and 5 + 7 + 5 us.
    assert period.feedback_delay_s == pytest.approx(2 * 8e-6 + 12e-6 + 3 * octets * 8e-9 + 17e-6)


def test_without_signals_there_is_no_feedback_delay() -> None:
    assert configuration(dumbbell(flow=flows()), scheme="none").feedback_delay_s == 0


def test_acknowledgements_take_the_network_where_signals_are_ideal() -> None:
    network = {"feedback": {"ideal": "20 us"}}
    acks = configuration(dumbbell(flow=flows()), scheme="dctcp").feedback_delay_s
    assert configuration(dumbbell(flow=flows(), network=network), scheme="dctcp").feedback_delay_s == acks


def test_ideal_feedback_has_its_delay() -> None:
    assert configuration(dumbbell(network={"feedback": {"ideal": "20 us"}})).feedback_delay_s == pytest.approx(20e-6)


def test_the_rate_of_a_link_changes() -> None:
    changes = [
        {"link": "sw0->sw1", "at": "1 s", "rate": "0.4 Gbps"},
        {"link": "sw0->sw1", "at": "3 s", "rate": "0.8 Gbps"},
    ]
    found = configurations(dumbbell(flow=flows(), change=changes))
    assert [period.capacity_bps for period in found] == [1e9, 0.4e9, 0.8e9]
    assert configuration(dumbbell(flow=flows(), change=changes), at_s=1.5).capacity_bps == 0.4e9
    # The longest.
    assert configuration(dumbbell(flow=flows(), change=changes)).start_s == 3


def test_buffers_of_frames_are_octets_here() -> None:
    settings = {"dumbbell": {"sources": 3, "receivers": 3, "link_rate": "1 Gbps", "bottleneck_rate": "1 Gbps"}}
    settings["dumbbell"]["buffer"] = "100 frames"
    assert configuration(dumbbell(topology=settings)).buffer_octets == 100_000


def test_parameters_carry_the_units_of_the_catalogue() -> None:
    period = configuration(dumbbell(schemes={"smcc": {"q0": "50 KB", "ra": "256 Mbps"}}))
    assert (period.number("q0"), period.number("ra")) == (50_000, 256e6)
    with pytest.raises(TypeError, match=r"smcc\.two_stage is not a number: False"):
        period.number("two_stage")


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ({"flow": flows((0, "controlled", False), (1, "controlled", False))}, "no flow is controlled"),
        ({"flow": flows((0, "frame", "500 octets"))}, "from 0 to 8 s flows have frames of 500 to 1000 octets"),
        ({"flow": flows()[:1]}, "no link with a congestion point is full"),
        ({"flow": [flow | {"traffic": "constant", "rate": "100 Mbps"} for flow in flows()]}, "no link with a"),
    ],
)
def test_a_scenario_without_model_is_refused_with_the_reason(keys: dict[str, Any], reason: str) -> None:
    slow = {"dumbbell": {"sources": 3, "receivers": 3, "link_rate": "1 Gbps", "bottleneck_rate": "1.5 Gbps"}}
    topology = {"topology": {"dumbbell": slow["dumbbell"] | {"buffer": "128 KB"}}} if "full" in reason else {}
    with pytest.raises(UnsuitedScenarioError) as caught:
        configurations(dumbbell(**keys, **topology))
    assert reason in caught.value.reason
    assert caught.value.hint


def test_two_bottlenecks_are_refused() -> None:
    lot = Scenario.load("scenarios/bottleneck/parking-lot.toml")
    with pytest.raises(UnsuitedScenarioError, match="bottlenecks of different flows; the models have one bottleneck"):
        configurations(lot)


def test_multicast_is_refused() -> None:
    with pytest.raises(UnsuitedScenarioError, match="multicast"):
        configurations(Scenario.load("scenarios/multicast/star.toml"))


def test_no_flow_at_that_time() -> None:
    late = dumbbell(flow=[flow | {"start": "1 s"} for flow in flows()])
    with pytest.raises(
        UnsuitedScenarioError, match=r"no controlled flow runs at 0\.5 s; controlled flows run from 1 to 8 s"
    ):
        configuration(late, at_s=0.5)


def test_a_configuration_made_by_hand() -> None:
    period = Configuration(
        scheme="smcc",
        parameters={},
        flows=4,
        capacity_bps=1e9,
        link_bps=1e9,
        frame_octets=1000,
        buffer_octets=128_000,
        line_rate_bps=1e9,
        forward_delay_s=1e-6,
        feedback_delay_s=2e-6,
    )
    assert (period.fair_rate_bps, period.capacity_fps) == (250e6, 125_000)
    assert period.round_trip_s == pytest.approx(3e-6)


def test_a_parameter_that_changes_begins_a_period() -> None:
    change = '[[change]]\nat = "8 ms"\nschemes.qcn.q_eq = "20 KB"\n'
    scenario = Scenario.from_toml(SMALL.replace("[[flow]]", f"{change}[[flow]]", 1))
    periods = configurations(scenario)
    assert [(period.start_s, period.stop_s) for period in periods] == [(0.0, 0.008), (0.008, 0.02)]
    assert [period.number("q_eq") for period in periods] == [33_000, 20_000]
    # Under another scheme the change has no effect, and the period is one.
    assert len(configurations(scenario, scheme="fecn")) == 1
