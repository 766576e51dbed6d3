"""The study of training steps: examples are its experiments, its metrics count right, and its page has each claim."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
import training_page
from conftest import ROOT, Command, paper

from penstock import Scenario
from penstock.reproduction.plan import Run

STUDY = ROOT / "papers/training"


@pytest.mark.parametrize(
    ("experiment", "example"), [("neighbour", "neighbour"), ("experts", "experts"), ("step", "training-step")]
)
def test_the_examples_are_the_experiments(experiment: str, example: str) -> None:
    path = ROOT / f"scenarios/jobs/{example}.toml"
    shown = Scenario.load(path)
    own = paper("training").scenario(Run.of(experiment, "none"))
    assert resolved(own) | {"name": shown.name} == {k: v for k, v in resolved(shown).items() if k != "schemes"}
    for scheme in ("qcn", "dcqcn", "hpcc", "swift", "nscc"):
        if (experiment, scheme) in (("neighbour", "hpcc"), ("neighbour", "swift")):
            continue  # Frames are sprayed there, and these two need them in order.
        table = resolved(paper("training").scenario(Run.of(experiment, scheme)).set("scheme", scheme))["schemes"]
        assert table[scheme] == resolved(Scenario.load(path).set("scheme", scheme))["schemes"][scheme]


def resolved(scenario: Scenario) -> dict[str, Any]:
    """Return all that a scenario says, every default written out."""
    return tomllib.loads(scenario.resolved())


class Made:
    """Two jobs over a fabric of three links between switches, in 10 ms."""

    def __init__(self, second_s: float | None = 0.008) -> None:
        self.summary: dict[str, Any] = {
            "jobs": [
                {"name": "tensor", "job_time_s": 0.005, "exposed_communication_s": 0.0002, "iterations": 8},
                {"name": "data", "job_time_s": second_s, "exposed_communication_s": 0.0005, "iterations": 4},
            ],
            "queues": [
                self.queue("h0->leaf0", 30, 0.25, 0.004),
                self.queue("leaf0->h0", 90, 0.75, 0.002),
                self.queue("leaf0->spine0", 60, 0.5, 0.001),
                self.queue("leaf0->spine1", 30, 0.25, 0.0),
                self.queue("spine0->leaf1", 45, 0.375, 0.0005),
            ],
            "totals": {"pause_frames": 12, "frames_dropped": 0},
        }

    @staticmethod
    def queue(name: str, sent: int, busy: float, paused_s: float) -> dict[str, Any]:
        """Return a queue."""
        own = {"octets_sent": sent, "utilization": busy, "paused_s": paused_s}
        return {"name": name, **own, "frames_marked": 2, "max_octets": 10 * sent}


def test_the_metrics_by_hand() -> None:
    made, metrics = Made(), paper("training").metrics
    assert metrics["step_time_s"](made) == 0.008
    assert metrics["exposed_s"](made, "tensor") == pytest.approx(0.0016)
    assert metrics["sharing"](made) == 2.0, "60 octets of the busiest link between switches, 30 of the host"
    assert metrics["busiest_link"](made) == 0.5, "not the link to a host"
    assert metrics["stopped_s"](made) == pytest.approx(0.0015), "links of hosts left out"
    assert metrics["pauses"](made) == 12
    # 8 ms for 2 ms of the lines with two connections on a link.
    assert metrics["time_over_sharing"](made, 0.002) == pytest.approx(2.0)
    counted = metrics["counters"](made)
    assert (counted["frames_marked"], counted["cuts"], counted["longest_octets"]) == (10, 0, 900)


def test_a_job_that_has_not_ended_has_no_time() -> None:
    made, metrics = Made(second_s=None), paper("training").metrics
    assert metrics["step_time_s"](made) is None
    assert metrics["time_over_sharing"](made, 0.002) is None
    assert metrics["exposed_s"](made, "data") is None


def test_the_expected_numbers_by_hand() -> None:
    expected = {claim.id: claim.paper for claim in paper("training").claims}
    frame_s = 1520 * 8 / 100e9
    # A rank of 16 sends 2 (16 - 1) / 16 of 16 MB: 20 000 frames of 1500 octets.
    assert expected["spraying-is-near-the-lines"] == pytest.approx(20_000 * frame_s, rel=1e-3)
    # The full expert receives 15 messages of 250 KB, and as much again.
    assert expected["the-line-of-the-full-expert-sets-the-pace"] == pytest.approx(7.5e6 / 1500 * frame_s, rel=1e-3)
    # 15 625 octets are 11 frames. The last one waits for a frame at each of three more lines; four links have 500 ns.
    step_s = (15_625 + 11 * 20) * 8 / 100e9 + 3 * frame_s + 4 * 500e-9
    assert expected["a-ring-of-1024-ranks-waits-for-its-steps"] == pytest.approx(2046 * step_s, rel=1e-3)


def test_the_page_has_each_claim_with_its_numbers() -> None:
    rows = training_page.claims(STUDY)
    assert list(rows) == [figure.name for figure in paper("training").figures]
    assert sum(map(len, rows.values())) == len(paper("training").claims)
    page = (ROOT / "docs/explanation/what-a-scheme-costs-a-training-step.md").read_text()
    for figure in rows:
        assert f"{{{{ training_{figure} }}}}" in page
        assert figure == "ranks" or f"(../images/training/{figure}.svg)" in page
    assert all(row[-1] == "yes" for table in rows.values() for row in table), "the page explains claims that hold"


def test_a_mean_has_its_interval() -> None:
    (claim,) = [each for each in paper("training").claims if each.id == "spraying-is-near-the-lines"]
    # Student's t for two degrees of freedom is 4.303: 2.5 ms ± 4.303 · 0.1 ms / √3 = 0.248 ms.
    spread = {"seeds": 3, "low": 0.0024, "high": 0.0026, "std": 0.0001}
    row = training_page.row_of(claim, {"ours": 0.0025, "spread": spread, "verdict": "holds"})
    assert row[1:4] == ["2.43 ms", "2.50 ms (2.25 ms to 2.75 ms)", "2.40 ms to 2.60 ms, 3 seeds"]
    assert row[-1] == "yes"
    assert training_page.row_of(claim, {"ours": 0.004, "spread": spread, "verdict": "differs"})[-1] == "differs"


def test_a_claim_that_was_not_measured_is_refused(tmp_path: Path) -> None:
    for path in STUDY.iterdir():
        if path.is_file():
            (tmp_path / path.name).write_bytes(path.read_bytes())
    measured = json.loads((tmp_path / training_page.MEASURED).read_text())
    del measured["papers"][0]["figures"][0]["claims"][0]
    (tmp_path / training_page.MEASURED).write_text(json.dumps(measured))
    with pytest.raises(SystemExit, match=r"measured\.json: no claim spraying-is-near-the-lines: write the file again"):
        training_page.claims(tmp_path)


@pytest.mark.runs
def test_the_short_claims_on_experts_hold_and_their_controls_fail(penstock: Command, tmp_path: Path) -> None:
    done = penstock("reproduce", STUDY, "experts", "--short", "--controls", "--json", "--out", tmp_path / "report")
    assert done.returncode == 0, done.stderr
    totals = json.loads(done.stdout)["totals"]
    assert totals == {"claims": 6, "holds": 6, "differs": 0, "untestable": 0}
    (measured,) = json.loads((STUDY / training_page.MEASURED).read_text())["papers"]
    assert {figure["name"] for figure in measured["figures"]} == {figure.name for figure in paper("training").figures}
