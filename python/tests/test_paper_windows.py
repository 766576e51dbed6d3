"""The statements on windows: their metrics by hand, and a source for each claim."""

from typing import Any

import pyarrow as pa
import pytest
from conftest import paper


class Made:
    """Three messages, of which one may not have completed, and a long flow."""

    def __init__(self, third: float | None = 1.5) -> None:
        self.completions = pa.table(
            {"flow": ["sprayed0", "sprayed1", "sprayed2", "long"], "slowdown": [1.1, 1.25, third, 9.0]}
        )
        names = self.completions["flow"].to_pylist()
        self.summary: dict[str, Any] = {
            "flows": [{"name": name, "throughput_bps": 1e9 * (at + 1)} for at, name in enumerate(names)]
        }


def test_the_metrics_by_hand() -> None:
    metrics = paper("windows").metrics
    assert metrics["inflation_percent"](Made(), "sprayed") == pytest.approx(50.0)
    assert metrics["inflation_percent"](Made(third=None), "sprayed") == float("inf")
    # 1, 2 and 3 Gb/s of 10.
    assert metrics["line_share"](Made(), "sprayed", 10e9) == pytest.approx(0.2)


def test_each_claim_names_its_source() -> None:
    assert all(
        claim.says.startswith(("Addanki", "Gerstein", "Falcon", "Li et al. 2019")) for claim in paper("windows").claims
    )
