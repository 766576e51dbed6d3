"""Statements on notifications: the metrics of their folder count right, and wrong input of its schemes is refused."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, paper

from penstock import Scenario, ScenarioError


class Made:
    """A result of the flows a and b, whose rows stand in lists."""

    def __init__(self, **tables: dict[str, list[Any]]) -> None:
        self._tables = tables
        for name, columns in tables.items():
            chunks = {column: SimpleNamespace(chunk=lambda _, of=values: of) for column, values in columns.items()}
            setattr(self, name, SimpleNamespace(column=chunks.get))
        self.summary: dict[str, Any] = {"flows": [{"name": "a"}, {"name": "b"}]}

    def column(self, table: str, column: str) -> Any:
        """Return a column."""
        return np.array(self._tables[table][column])


def test_the_age_goes_by_flow_and_order(monkeypatch: pytest.MonkeyPatch) -> None:
    # Frames of a meet more than 30 octets at 1, 4 and 9 s, one of b at 2 s; the last has no notification yet. Ages are
    # 3, 5 and 4 s.
    made = Made(
        arrivals={
            "time_s": [1.0, 2.0, 3.0, 4.0, 5.0, 9.0],
            "flow": ["a", "b", "a", "a", "b", "a"],
            "queue": ["q", "q", "q", "q", "other", "q"],
            "queue_octets": [31, 40, 30, 50, 60, 70],
        },
        signals={"time_s": [4.0, 6.0, 9.0], "flow": ["a", "b", "a"]},
    )
    age = paper("notifications").metrics["notification_age_s"]

    def codes(values: list[str]) -> tuple[Any, list[str]]:
        names = sorted(set(values))
        return np.array([names.index(value) for value in values]), names

    monkeypatch.setitem(age.__globals__, "codes", codes)
    assert age(made, "q", 30) == 4.0
    assert age(made, "q", 30, percentile=100.0) == 5.0
    assert age(made, "none", 30) is None


def test_the_tail_is_that_of_all_sizes_of_a_table() -> None:
    made = Made()
    rows = [(None, 0, None, 1.0), ("victims", 0, 1000, 2.0), ("victims", 0, None, 3.0), ("answers", 0, None, 4.0)]
    made.summary["completions"] = [
        {"group": group, "least_octets": least, "most_octets": most, "slowdown_p99": p99}
        for group, least, most, p99 in rows
    ]
    assert paper("notifications").metrics["tail_slowdown"](made, "victims") == 3.0


def test_shares_and_peaks_by_hand() -> None:
    made = Made()
    made.summary["flows"] = [{"throughput_bps": rate} for rate in (1e9, 1e9)]
    made.summary["queues"] = [{"max_octets": length} for length in (3_000, 9_000, 6_000)]
    metrics = paper("notifications").metrics
    assert metrics["weighted_jain_index"](made, [1, 1]) == pytest.approx(1)
    # 1 and 1/2: 1.5^2 over 2 times 1.25.
    assert metrics["weighted_jain_index"](made, [1, 2]) == pytest.approx(0.9)
    assert metrics["peak_octets"](made) == 9_000


def test_each_claim_names_its_source() -> None:
    assert all(
        claim.says.startswith(("draft-xiao", "Merino", "Kabbani", "Zhang", "Le et al."))
        for claim in paper("notifications").claims
    )


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("schemes.fast-cnp.reaction", "cubic", "dcqcn"),
        ("schemes.fast-cnp.fb", 64, "63"),
        ("schemes.fast-cnp.pause_time", "0 us", "1 us"),
        ("schemes.ici.marks", "some", "isolated"),
        ("schemes.ici.ci_k_max", "10 KB", "ci_k_min"),
    ],
)
def test_wrong_values_are_refused_with_what_is_right(key: str, value: str | int, words: str) -> None:
    scenario = Scenario.load(ROOT / "scenarios" / "four-sources.toml")
    scheme = key.split(".")[1]
    with pytest.raises(ScenarioError, match=words) as refused:
        scenario.set("scheme", scheme).set(key, value).run()
    assert key.split(".")[-1] in str(refused.value)
