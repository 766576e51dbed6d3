"""Switches that trim, on `scenarios/incast/go-back-n-trimming.toml`, with the numbers of the page on shared buffers."""

from pathlib import Path

import pytest
from conftest import Command

from penstock import Scenario

NAME = "incast/go-back-n-trimming"
DROPS = {"network.trimming": "false"}
BARE = {"scheme": "none"}


@pytest.mark.parametrize(
    ("settings", "completed", "last_s", "dropped", "timeouts"),
    [
        ({}, 16, 1.48e-3, 118, 0),
        (DROPS, 16, 67.8e-3, 179, 7),
        (BARE, 16, 75.8e-3, 56_359, 4),
        ({**BARE, **DROPS}, 1, 67.5e-3, 2429, 16),
    ],
)
def test_a_header_saves_the_timeout(
    settings: dict[str, str], completed: int, last_s: float, dropped: int, timeouts: int
) -> None:
    scenario = Scenario.named(NAME)
    for key, value in settings.items():
        scenario.set(key, value)
    summary = scenario.run().summary
    totals = summary["totals"]
    times_s = [flow["completion_time_s"] for flow in summary["flows"] if flow["completion_time_s"] is not None]
    assert len(times_s) == completed
    assert max(times_s) == pytest.approx(last_s, rel=0.005)
    assert (totals["frames_dropped"], totals["timeouts"]) == (dropped, timeouts)
    if settings.get("network.trimming"):
        assert "frames_trimmed" not in totals
    else:
        assert (totals["frames_trimmed"], totals["headers_delivered"], totals["headers_lost"]) == (dropped, dropped, 0)


def test_a_run_prints_what_was_trimmed(penstock: Command, tmp_path: Path) -> None:
    done = penstock("run", NAME, "--out", "out", "--no-figures", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "), of these trimmed 118, feedback" in done.stdout
