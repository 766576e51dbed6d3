"""The statements on receivers: their metric by hand, and a source for each claim."""

from typing import Any, ClassVar

import pyarrow as pa
import pytest
from conftest import paper


class Made:
    """Four messages of two sizes, of which the last one has not ended."""

    completions = pa.table(
        {
            "size_octets": [1000, 1000, 1000, 5000],
            "start_s": [0.0, 0.1, 0.2, 0.3],
            "end_s": [0.9, 0.15, 0.25, None],
            "slowdown": [9.0, 1.5, 1.25, None],
        }
    )
    summary: ClassVar[dict[str, Any]] = {"totals": {"retransmissions": 7}}


def test_the_metric_by_hand() -> None:
    slowdown = paper("receivers").metrics["slowdown"]
    assert slowdown(Made(), 1, 1000, 99) == pytest.approx(9.0)
    assert slowdown(Made(), 1, 1000, 50) == pytest.approx(1.5)
    assert slowdown(Made(), 1, 1000, 99, after_s=0.05) == pytest.approx(1.5)
    assert slowdown(Made(), 1001, 9000, 50) == float("inf")


def test_the_last_message_and_frames_sent_again() -> None:
    metrics, made = paper("receivers").metrics, Made()
    assert metrics["last_s"](made) == float("inf")
    made.completions = Made.completions.slice(0, 3)
    assert metrics["last_s"](made) == pytest.approx(0.9)
    assert metrics["sent_again_frames"](made) == 7


def test_each_claim_names_its_source() -> None:
    sources = ("Montazeri et al. 2018", "Cho et al. 2017", "csg-htsim")
    assert all(claim.says.startswith(sources) for claim in paper("receivers").claims)
