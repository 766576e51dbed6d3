"""Penstock beside numbers of other simulators: quick lines of bench/peers/check_peers.py; `make verify` runs all."""

from typing import Any

import agreement
import check_peers
import pytest


def _beyond(situation: str, scheme: str, *metrics: str) -> list[Any]:
    """Return the lines that do not agree, of those with one of these beginnings."""
    lines = [
        at
        for at in agreement.lines()
        if (at.situation, at.scheme) == (situation, scheme) and at.metric.startswith(metrics)
    ]
    assert len(lines) >= len(metrics), "the peer has such numbers"
    return [at for at in check_peers.compared(lines) if not at.agrees]


@pytest.mark.parametrize("sources", [2, 4, 8])
def test_timely_with_the_profile_of_hpccs_simulator_is_as_there(sources: int) -> None:
    metrics = ("jain", "utilisation", "queue_mean", "queue_p99", "goodput_bps")
    assert _beyond(f"S1-n{sources}", "timely", *metrics) == []


@pytest.mark.parametrize(
    "sources", [pytest.param(4, marks=pytest.mark.science), pytest.param(8, marks=pytest.mark.science)]
)
def test_dcqcn_with_the_profile_of_hpccs_simulator_is_as_there(sources: int) -> None:
    metrics = ("jain", "utilisation", "queue_mean", "queue_p50", "queue_p99")
    assert _beyond(f"S1-n{sources}", "dcqcn", *metrics) == []


@pytest.mark.parametrize("sources", [2, pytest.param(8, marks=pytest.mark.science)])
def test_dcqcn_with_the_times_of_the_paper_is_as_in_hpccs_simulator(sources: int) -> None:
    assert _beyond(f"S1-n{sources}", "dcqcn_paper", "jain", "utilisation", "queue_mean", "queue_p99") == []


@pytest.mark.science
@pytest.mark.parametrize(
    ("situation", "scheme", "metrics"),
    [
        # The gap to the next frame; the base round trip of the network; the window beside the rate.
        ("S1-n32", "hp", ("jain", "queue_mean", "queue_p50", "queue_p99")),
        ("S3-k1", "dctcp", ("jain", "goodput_")),
        ("S1-n8", "timely_vwin", ("jain", "queue_mean", "queue_p99")),
    ],
)
def test_rules_of_hpccs_simulator_give_its_numbers(situation: str, scheme: str, metrics: tuple[str, ...]) -> None:
    assert _beyond(situation, scheme, *metrics) == []


def test_conweaves_eight_sources_hold_a_queue_of_kilobytes() -> None:
    """A mark that is answered once in 50 us left 45 MB here; each that is answered, 60 KB."""
    setting = check_peers.Setting("dcqcn", 'profile = "conweave"\n')
    numbers = check_peers.long_flows("S1-n8", setting)
    assert numbers["queue_mean_octets.0->9"] < 200_000
    assert numbers["pauses_run"] == 0
    assert numbers["jain"] > 0.97


@pytest.mark.parametrize("situation", ["H-inc2", "H-inc8", "H-perm16"])
def test_ndp_takes_as_long_as_in_htsim(situation: str) -> None:
    assert _beyond(situation, "ndp", "fct_", "packets_new") == []


@pytest.mark.parametrize("situation", ["H-inc2", "H-inc8"])
def test_ndp_trims_as_many_frames_of_an_incast_as_in_htsim(situation: str) -> None:
    assert _beyond(situation, "ndp", "packets_sent_again") == []


@pytest.mark.parametrize("scheme", ["hp", "dctcp", "dcqcn", "timely"])
def test_single_flows_take_as_long(scheme: str) -> None:
    assert _beyond("S5", scheme, "fct_") == []


@pytest.mark.parametrize(
    ("situation", "scheme"),
    [
        ("H-slow16", "nscc_reps_ack1"),
        *(
            pytest.param(situation, f"nscc_{balanced}", marks=pytest.mark.science)
            for situation, balanced in (
                ("H-slow16", "spray"),
                ("H-spine16", "spray"),
                ("H-spine16", "reps"),
                ("H-fat16", "ecmp"),
                ("H-fat16", "spray"),
                ("H-fat16", "reps"),
            )
        ),
    ],
)
def test_entropy_values_balance_as_in_their_authors_program(situation: str, scheme: str) -> None:
    """Mean and 99th percentile of 160 flows are within 10 % of uet-htsim (40ccb052)."""
    assert _beyond(situation, scheme, "fct_mean", "fct_p99") == []


def test_a_line_without_agreement_fails() -> None:
    assert not agreement.Line("S1-n2", "hp", "goodput_sum_bps", 100.0, 111.0).agrees
    assert agreement.Line("S1-n2", "hp", "goodput_sum_bps", 100.0, 109.0).agrees
    assert not agreement.Line("S1-n2", "hp", "jain", 0.99, 0.95).agrees
    assert agreement.Line("S1-n2", "hp", "queue_mean_octets.0->3", 0.0, 1_000.0).agrees
