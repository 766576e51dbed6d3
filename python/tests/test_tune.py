"""`penstock.tune` and its command: a search that has to beat the standard."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import QUICK, ROOT, quick
from typer.testing import CliRunner

import penstock
from penstock import ArgumentError, PenstockError, Scenario
from penstock.cli import app
from penstock.runs import RunCallbacks
from penstock.theory.configuration import Configuration, UnsuitedScenarioError, configuration
from penstock.tuning import Tuning, prose, tune
from penstock.tuning.goals import GOALS, companions, mean
from penstock.tuning.measures import observe
from penstock.tuning.search_space import knobs, point_of

LONG_DELAY = ROOT / "scenarios/tuning/long-delay.toml"


def _given(scenario: Scenario) -> Configuration:
    return configuration(scenario)


@pytest.fixture(scope="module")
def answer() -> Tuning:
    """A proposal for ten sources with a long round trip, after a search a tenth as long as usual.

    Packets contradict many a margin of so few sources, so none is asked for.
    """
    scenario = Scenario.from_toml(QUICK, name="quick")
    return tune(scenario, "stability", phase_margin=None, trials=24, seeds=[1], verdict_seeds=range(4, 8), points=64)


@pytest.mark.science
def test_the_proposal_beats_the_standard_on_seeds_that_it_never_saw(answer: Tuning) -> None:
    assert answer.changed and answer.trials == 24 and answer.finalists > 1
    assert not {*answer.tuning_seeds, *answer.choosing_seeds} & set(answer.verdict_seeds)
    (verdict,) = answer.verdicts
    (found,) = (pair for pair in verdict.measures if pair.measure == "queue_std_octets")
    assert found.high < 0
    assert verdict.beats
    assert all(answer.region.holds(answer.region.starts))
    assert [settings.name for settings in answer.others] == ["scenario"]
    assert answer.baseline.name == "scenario"
    assert verdict.against == "the scenario's own, those of profile ieee-2010"


def test_its_scenario_runs_to_what_the_verdict_says(answer: Tuning) -> None:
    seed = answer.verdict_seeds[0]
    scenario = Scenario.from_toml(answer.scenario.to_toml()).set("record.percentiles", True)
    again = observe(scenario.run(seed=seed), answer.queue)
    assert again == answer.proposal.judging[0]
    for key, value in answer.proposal.parameters.items():
        assert f"{key.rpartition('.')[2]} = {json.dumps(value)}" in answer.scenario.to_toml()


def test_the_same_seed_finds_the_same_on_any_number_of_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    def again() -> Tuning:
        keys = ["w", "q_eq=5 KB..50 KB"]
        return tune(quick(), "stability", keys=keys, trials=9, seeds=1, verdict_seeds=2, points=16)

    first = again()
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0})
    second = again()
    assert first.proposal == second.proposal
    assert 5e3 <= _given(first.scenario).number("q_eq") <= 50e3
    # Parameters that were not to be tuned are as they were.
    own = _given(quick())
    assert point_of(own, [knob for knob in knobs(own, own.parameters, []) if knob.name not in ("w", "q_eq")]) == {
        name: value
        for name, value in _given(first.scenario).parameters.items()
        if name in {knob.name for knob in knobs(own, own.parameters, [])} - {"w", "q_eq"}
    }


def test_goals_with_the_same_guards_are_companions() -> None:
    assert [goal.name for goal in companions(GOALS["stability"])] == ["stability", "latency"]
    # Utilisation has fewer guards, and a separate search.
    assert [goal.name for goal in companions(GOALS["utilization"])] == ["utilization"]


@pytest.mark.science
def test_goals_with_the_same_guards_answer_from_the_same_points() -> None:
    """No answer is worse, by its own goal, than that to the other: both choose from the same runs."""
    found = {
        goal: tune(quick(), goal, phase_margin=None, trials=16, seeds=1, verdict_seeds=2, points=32)
        for goal in ("stability", "latency")
    }
    for goal, other in (("stability", "latency"), ("latency", "stability")):
        assert found[goal].changed
        assert found[goal].choosing_seeds == (2, 3) and found[goal].verdict_seeds == (4, 5)
        measure = found[goal].goal.measure
        ours, theirs = (mean(found[name].proposal.tuning)[measure] for name in (goal, other))
        assert len(found[goal].proposal.tuning) == len(found[other].proposal.tuning) == 3
        assert ours <= theirs


def test_ctrl_c_leaves_the_best_so_far() -> None:
    runs = 0

    def done() -> None:
        nonlocal runs
        runs += 1
        # Two runs of the references, a batch of eight, and in the middle of the next:
        if runs == 12:
            raise KeyboardInterrupt

    found = tune(
        quick(w=1.0), "stability", keys=["w"], trials=100, seeds=1, points=16, callbacks=RunCallbacks(done=done)
    )
    assert found.interrupted
    assert found.trials == 8
    assert found.verdicts == ()


def test_a_profile_at_a_priority_is_refused() -> None:
    text = QUICK + '\n[[priority]]\npriority = 0\nscheme = "qcn"\nprofile = "pan-10g"\n'
    with pytest.raises(UnsuitedScenarioError, match="changes nothing"):
        tune(Scenario.from_toml(text), "latency")


def test_parameters_that_change_during_the_run_are_refused() -> None:
    text = QUICK + '\n[[change]]\nat = "1 ms"\nschemes.qcn.w = 4.0\n'
    with pytest.raises(UnsuitedScenarioError, match="changes parameters during the run"):
        tune(Scenario.from_toml(text), "latency")


def test_the_baseline_is_the_users_own_and_a_profile_only_if_it_is_named() -> None:
    settings = {"k_max": "80 KB"}
    arguments: dict[str, Any] = {"keys": ["r_ai"], "trials": 1, "seeds": 1, "verdict_seeds": 2, "points": 8}
    found = tune(quick("dcqcn", **settings), "latency", **arguments)
    assert [settings.name for settings in found.others] == ["scenario"]
    found = tune(quick("dcqcn", **settings), "latency", against="defaults", **arguments)
    assert [settings.name for settings in found.others] == ["scenario", "defaults"]
    # The profiles of DCQCN are for buffers of switches at 25 and 40 Gb/s.
    with pytest.raises(UnsuitedScenarioError, match=r"zhu-2015 does not fit the scenario: schemes\.dcqcn\.k_max"):
        tune(quick("dcqcn", **settings), "latency", against="zhu-2015")


def test_seeds_are_written_out_unless_they_follow_one_another() -> None:
    written = [prose.seeds(seeds) for seeds in ((4,), (4, 5), (4, 5, 6), (4, 7), (9, 4, 5))]
    assert written == ["seed 4", "seeds 4 to 5", "seeds 4 to 6", "seeds 4 and 7", "seeds 9, 4 and 5"]


@pytest.mark.parametrize(
    ("arguments", "words", "hint"),
    [
        (
            {"goal": "beauty"},
            'goal="beauty": unknown goal',
            "use one of stability, latency, utilization, pauses, fct-p50, fct-p95, fct-p99, fct-p999",
        ),
        ({"goal": "latency", "trials": 0}, "trials=0: must be at least 1", "write trials=1 or more"),
        (
            {"goal": "latency", "verdict_seeds": 1},
            "verdict_seeds=1: must be at least 2",
            "write verdict_seeds=2 or more",
        ),
        (
            {"goal": "latency", "seeds": [7, 3], "verdict_seeds": [2, 9]},
            "verdict_seeds: the search sees seed 9 already",
            "write a number, or seeds from 12 on",
        ),
        (
            {"goal": "latency", "seeds": [4, 4]},
            "seeds: 4 appears twice",
            "name each seed once",
        ),
        (
            {"goal": "latency", "verdict_seeds": [4, -1]},
            "verdict_seeds: -1 is not a seed",
            "write whole numbers from 0 to 2^63 - 1",
        ),
        (
            {"goal": "latency", "seeds": [2**63 - 1]},
            f"seeds: {2**63 + 11} is not a seed",
            "write whole numbers from 0 to 2^63 - 1",
        ),
    ],
)
def test_arguments_that_cannot_be(arguments: dict[str, Any], words: str, hint: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        tune(quick(), **arguments)
    assert (caught.value.message, caught.value.hint) == (words, hint)


def test_an_answer_shows_itself_and_saves_what_it_shows(answer: Tuning, tmp_path: Path) -> None:
    assert penstock.tune is tune
    html = answer._repr_html_()
    assert all(str(value) in html for value in answer.proposal.parameters.values())
    assert "a gain is shown" in repr(answer)
    answer.save(tmp_path / "better.toml")
    text = (tmp_path / "better.toml").read_text()
    assert text.startswith(f"# {answer.scenario.name} with parameters that `penstock tune` proposes for")
    assert Scenario.load(tmp_path / "better.toml").describe()["schemes"] == answer.scenario.describe()["schemes"]
    cut = replace(answer, scenario=Scenario.named("baseline/ten-gig").set("duration", "15 ms").set("warmup", "5 ms"))
    cut.save(tmp_path / "cut.toml")
    saved = Scenario.load(tmp_path / "cut.toml")
    assert saved.describe()["flows"] == cut.scenario.describe()["flows"]
    assert (tmp_path / "cut.toml").read_text().startswith("# ten-gig with parameters that `penstock tune` proposes for")
    without = replace(answer, verdicts=())
    with pytest.raises(PenstockError, match="no gain is shown"):
        without.save(tmp_path / "worse.toml")
    assert not (tmp_path / "worse.toml").exists()


# The command line.


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--goal", "beauty"], "unknown goal"),
        (["--goal", "latency", "--scheme", "none"], "none has nothing to tune"),
        (["--goal", "latency", "--scheme", "bcn", "--profile", "paper-efecn"], "schemes.bcn.drift to false"),
        (["--goal", "latency", "--against", "nobody"], "no profile nobody"),
        (["--goal", "latency", "--keys", "w=3..1"], "not above"),
        (["--goal", "latency", "--out", "x.json"], ".toml"),
        (["--goal", "latency", "--set", 'record.queues=["sw1->h10"]'], "record.queues"),
        (["--goal", "latency", "--set", "schemes.qcn.sampling=step"], "sample"),
    ],
)
def test_bad_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("quick.toml").write_text(QUICK)
    done = CliRunner().invoke(app, ["tune", "quick.toml", *arguments])
    assert done.exit_code == 2, done.output
    assert done.stdout == ""
    assert words in done.stderr
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["quick.toml"]


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("quick.toml").write_text(QUICK)
    command = ["tune", "quick.toml", "--goal", "latency", "--keys", "w=1..4,q_eq=8 KB..20 KB", "--trials", "8"]
    command += ["--seeds", "1", "--verdict-seeds", "3", "--phase-margin", "none", "--out", "found/better.toml"]
    done = CliRunner().invoke(app, [*command, "--json"])
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert (document["choosing_seeds"], document["verdict_seeds"]) == ([2, 3], [4, 5, 6])
    assert document["theory"]["bounds"]["schemes.qcn.w"]["of"] == [1.0, 4.0]
    text = Path("found/better.toml").read_text()
    assert document["gain_shown"] and document["file"] == "found/better.toml"
    assert text.startswith("# quick.toml with parameters that `penstock tune` proposes for latency")
    better = Scenario.load("found/better.toml")
    assert better.question.endswith("(Parameters proposed by `penstock tune --goal latency`.)")
    for key, value in document["proposal"]["parameters"].items():
        assert better.describe()["schemes"][0]["parameters"][key.rpartition(".")[2]] == pytest.approx(
            _given(Scenario.from_toml(text).set(key, value)).number(key.rpartition(".")[2])
        )
    again = CliRunner().invoke(app, command)
    assert again.exit_code == 2
    assert "exists" in again.stderr


def test_a_scheme_without_a_fluid_model_is_searched_by_simulation_alone() -> None:
    found = tune(quick("e2cm"), "latency", trials=16, seeds=1, verdict_seeds=3)
    assert (found.scheme, found.trials, found.refused) == ("e2cm", 16, 0)
    assert (found.region.points, found.region.scorer, found.region.knobs) == (0, None, found.space)
    # The scenario's own bounds hold, and the goal is reached on seeds that the search has not seen.
    assert found.gain_shown
    assert mean(found.proposal.judging)["queue_p99_octets"] < mean(found.others[0].judging)["queue_p99_octets"]
    assert "no fluid model" in found.proposal.margin.reason
    assert found.document()["theory"]["points"] == 0


def test_the_command_where_no_point_is_better(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("quick.toml").write_text(QUICK)
    # With so short a set point packets leave the line idle.
    command = ["tune", "quick.toml", "--goal", "latency", "--keys", "q_eq=1 KB..2 KB", "--trials", "2", "--seeds", "1"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert "\nNothing is proposed: " in done.stdout and done.stdout.endswith("nothing is written\n")
    assert [path.name for path in tmp_path.rglob("*")] == ["quick.toml"]


@pytest.mark.parametrize(
    ("changes", "words", "written"),
    [
        ({}, "written: found/proposal.toml", True),
        ({"verdicts": "lost"}, "packets contradict the best candidate", False),
        ({"verdicts": ()}, "", False),
        ({"verdicts": (), "changed": False}, "nothing is written", False),
        ({"verdicts": (), "interrupted": True}, "", True),
        ({"verdicts": (), "interrupted": True, "changed": False}, "", False),
    ],
)
def test_a_proposal_is_written_where_a_gain_is_shown(
    answer: Tuning,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    changes: dict[str, Any],
    words: str,
    written: bool,
) -> None:
    if changes.get("verdicts") == "lost":
        (verdict,) = answer.verdicts
        lost = replace(verdict, broken=("frames_dropped",), beats=False)
        changes = {"verdicts": (lost,)}
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("penstock.cli.tune.tune", lambda *_, **__: replace(answer, **changes))
    command = ["tune", str(LONG_DELAY), "--goal", "stability", "--out", "found/proposal.toml"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == (130 if answer.interrupted or changes.get("interrupted") else 0)
    assert words in done.stdout
    assert Path("found/proposal.toml").exists() == written
    # No folder is made for it.
    assert Path("found").exists() == written
