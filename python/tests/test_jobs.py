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


def test_a_size_without_a_unit_is_refused_with_its_place() -> None:
    with pytest.raises(ScenarioError, match=r"collective\.0\.size"):
        ring(size=6_000_000).describe()


def test_the_fluid_models_have_no_jobs() -> None:
    with pytest.raises(PenstockError, match="flows come and go with a "):
        theory.configuration(ring())
