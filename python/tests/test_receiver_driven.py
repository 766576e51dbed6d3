"""Schemes whose receivers decide when frames go: NDP beside htsim's numbers, and what each of its parts does."""

from typing import Any

import numpy as np
import pytest

from penstock import Scenario

# 16 messages of 1 MB in frames of 1438 octets of data and 1500 in all: 696 each, 1520 octets on the line.
FRAMES = 16 * 696
LEAST_S = FRAMES * 1520 * 8 / 100e9


def _run(name: str, **settings: Any) -> Any:
    scenario = Scenario.named(name)
    for key, value in settings.items():
        scenario.set(key.replace("__", "."), value)
    return scenario.run().summary


def _last_s(summary: Any) -> float:
    times = [flow["completion_time_s"] for flow in summary["flows"]]
    assert None not in times
    return float(max(times))


def test_an_incast_under_ndp_takes_as_long_as_its_line_needs() -> None:
    summary = _run("incast/ndp-sixteen")
    totals = summary["totals"]
    assert _last_s(summary) == pytest.approx(LEAST_S, rel=0.02)
    assert totals["timeouts"] == 0
    # No more than the first windows is trimmed, and all of it is sent again, once.
    assert totals["retransmissions"] == totals["frames_trimmed"] <= 16 * 30
    # The control: the same network and transport, where nobody pulls.
    control = _run("incast/ndp-sixteen", scheme="none", network__trimming=True)
    assert control["totals"]["frames_trimmed"] > 20 * totals["frames_trimmed"]
