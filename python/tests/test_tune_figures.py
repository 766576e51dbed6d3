"""Pictures of a tuning, and the rule on candidates whose margin packets contradict."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import QUICK, quick
from typer.testing import CliRunner

from penstock.cli import app
from penstock.figures.tuning import over_time, search, write_figures
from penstock.reports.tunings import of_tuning
from penstock.tuning import Tuning, tune
from penstock.tuning.beside import Beside, beside
from penstock.tuning.goals import Guard
from penstock.tuning.refusals import PACKETS, Candidate, Objection, counted
from penstock.what_ifs.measuring import FigureTable


@pytest.fixture(scope="module")
def answer() -> Tuning:
    """A search by packets alone: no margin is asked for."""
    keys = ["w=1..4", "q_eq=8 KB..20 KB"]
    return tune(quick(), "stability", keys=keys, phase_margin=None, trials=8, seeds=1, verdict_seeds=2, points=16)


def test_no_candidate_passes_whose_margin_packets_contradict() -> None:
    keys = ["w=1..4", "q_eq=8 KB..20 KB"]
    found = tune(quick(), "stability", keys=keys, trials=8, seeds=1, verdict_seeds=2, points=16)
    # Their queues swing less than that of the scenario's own parameters, which packets contradict as well.
    assert found.baseline.confirmed is False
    own = found.baseline.tuning[0]["queue_std_octets"]
    by_packets = [one for one in found.refusals if PACKETS in [objection.by for objection in one.objections]]
    assert any(one.at["queue_std_octets"] < own for one in by_packets)
    assert counted(found.refusals)[PACKETS] == len(by_packets)
    assert not found.changed or found.proposal.confirmed is True


def test_every_simulated_point_is_kept_with_its_numbers(answer: Tuning) -> None:
    assert len(answer.candidates) == answer.trials == 8
    assert all(one.at["utilization"] > 0 for one in answer.candidates)
    allowed = [one for one in answer.candidates if not one.objections]
    assert len(answer.refusals) + len(allowed) == 8


def made(answer: Tuning) -> Tuning:
    """Return an answer with three candidates whose numbers are known."""
    at = dict(answer.candidates[0].at)

    def point(std: float, use: float, *by: str) -> Candidate:
        return Candidate({}, tuple(Objection(key, "") for key in by), at | {"queue_std_octets": std,
                                                                            "utilization": use})  # fmt: skip

    candidates = (point(4000, 0.99), point(8000, 0.90, "utilization", PACKETS), point(6000, 0.99, PACKETS))
    return replace(answer, candidates=candidates, guards=(Guard("utilization", 0.97, -1),))


def test_the_search_shows_goal_against_guard_and_why_points_are_refused(answer: Tuning) -> None:
    (axes,) = search(made(answer)).axes
    drawn = {str(line.get_label()): line for line in axes.get_lines()}

    def at(label: str) -> tuple[list[float], list[float]]:
        return np.asarray(drawn[label].get_xdata()).tolist(), np.asarray(drawn[label].get_ydata()).tolist()

    assert at("allowed") == ([4], [99])
    # Its own guard is the first reason; the other is refused by nothing else.
    assert at("refused: utilisation") == ([8], [90])
    assert at("refused: packets that contradict the margin") == ([6], [99])
    assert np.asarray(drawn["guard"].get_ydata()).tolist() == [97, 97]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("queue standard deviation (KB)", "utilisation (%)")
    assert axes.get_title(loc="left") == "guard: utilisation at least the dashed line"


def test_before_and_after_have_their_lines_and_percentiles() -> None:
    lines = {"scenario's own": ([0.0, 1e-3], [0.0, 4e6]), "proposal": ([0.0, 1e-3], [0.0, 1e6])}
    table = FigureTable(name="queue", title="a: queue of a", x="time_s", y="queue_octets", lines=lines)
    both = Beside(7, [table], {"scenario's own": (3e6, 4e6), "proposal": (2e5, 1e6)})
    over, last = over_time(both).axes
    assert [np.asarray(line.get_ydata()).tolist() for line in over.get_lines()] == [[0, 4], [0, 1]]
    marks = {str(line.get_label()): np.asarray(line.get_xdata()).tolist() for line in last.get_lines()}
    assert (marks["p50"], marks["p99"]) == ([3], [4])
    assert [text.get_text() for text in last.get_yticklabels()] == ["scenario's own", "proposal"]
    assert [text.get_text() for text in last.texts] == ["  3 MB, 4 MB", "  200 KB, 1 MB"]


def test_the_report_and_the_folder_have_the_pictures(answer: Tuning, tmp_path: Path) -> None:
    both = beside(answer)
    assert answer.changed and both is not None and both.seed == answer.verdict_seeds[0]
    assert set(both.percentiles) == set(both.tables[0].lines)
    titles = [section.title for section in of_tuning(answer, answer.own.outline(), both=both).sections]
    assert titles.index("Before and after, over time") < titles.index("Search")
    names = {path.name for path in write_figures(answer, both, tmp_path / "drawn")}
    assert names == {f"{name}.{kind}" for name in ("search", "beside", "differences") for kind in ("png", "svg")}


def test_without_a_candidate_there_is_nothing_beside(answer: Tuning) -> None:
    assert beside(replace(answer, changed=False)) is None


def test_a_folder_of_figures_that_exists_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("quick.toml").write_text(QUICK)
    Path("drawn").mkdir()
    done = CliRunner().invoke(app, ["tune", "quick.toml", "--for", "stability", "--figures", "drawn"])
    assert done.exit_code == 2
    assert "--figures drawn exists" in done.stderr and "--force, or name another folder" in done.stderr
