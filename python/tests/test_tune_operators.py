"""`penstock tune` for operators: guards on pauses, memory and margin, their own settings as baseline, their goals."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import QUICK, ROOT, quick
from typer.testing import CliRunner

from penstock import ArgumentError, Scenario
from penstock.cli import app
from penstock.theory.configuration import UnsuitedScenarioError
from penstock.tuning import Tuning, tune
from penstock.tuning.goals import GOALS, Guard, broken, companions, guards, score
from penstock.tuning.linear_margins import LinearMargins
from penstock.tuning.measures import OBSERVED, completion_s, observe
from penstock.tuning.refusals import PACKETS, PHASE_MARGIN, Candidate, Judge, counted

PFC = """\
question = "32 to 1 under flow control: which thresholds use the port best?"
duration = "10 ms"
warmup = "2 ms"
scheme = "dcqcn"

[schemes.dcqcn]
k_min = "1 MB"
k_max = "2 MB"

[pfc]

[topology.star]
hosts = 33
link_rate = "200 Gbps"
link_delay = "500 ns"
buffer = "16 MB"

[[flow]]
from = "h1..h32"
to = "h0"
frame = "4096 octets"
"""
"""Each of 33 lines has a buffer of 16 MB for itself: the queue may hold far more than the switch has memory."""

POOL = (
    PFC.replace('k_max = "2 MB"', 'k_max = "2 MB"\nr_ai = "40 Mbps"\nr_hai = "200 Mbps"')
    .replace('duration = "10 ms"\nwarmup = "2 ms"', 'duration = "20 ms"\nwarmup = "4 ms"')
    .replace(
        "32 to 1 under flow control: which thresholds use the port best?", "How short can the queue of 32 to 1 be?"
    )
    + '\n[[buffer]]\nsize = "16 MB"\ncell = "256 octets"\nheadroom = "auto"\ningress_alpha = 0.125\n'
)
"""The same switch with one memory of 16 MB; rates rise four times as fast, so that the port is used."""

VICTIM = """\
question = "What does an incast leave to a victim?"
duration = "1 ms"
warmup = "0.5 ms"
scheme = "dcqcn"

[topology.leaf-spine]
leaves = 2
spines = 2
hosts_per_leaf = 8
host_rate = "100 Gbps"
fabric_rate = "400 Gbps"
link_delay = "500 ns"
buffer = "2 MB"

[pfc]

[[flow]]
name = "incast"
from = "h8..h13"
to = "h0"

[[flow]]
name = "victim"
from = "h14..h15"
to = "h1"
"""

FINITE = """\
question = "How long do eight answers take?"
duration = "4 ms"
scheme = "dcqcn"

[topology.star]
hosts = 9
link_rate = "10 Gbps"
link_delay = "1 us"
buffer = "1 MB"

[pfc]

[[flow]]
from = "h1..h8"
to = "h0"
size = "200 KB"

[record]
queues = ["sw0->h0"]
"""

SHORT: dict[str, Any] = {"trials": 4, "seeds": 1, "verdict_seeds": 2, "points": 16}


def _run(**values: float) -> dict[str, float]:
    return dict.fromkeys(OBSERVED, 0.0) | {"jain_index": 1.0, "utilization": 1.0} | values


# Goals.


def test_goals_of_completions_and_pauses_have_their_guards() -> None:
    own = [_run(paused_s=0.1, fct_p99_s=2e-3, flows_left=3)]
    pauses = guards(GOALS["pauses"], own, memory_octets=1e6)
    # A goal is no guard.
    assert [guard.measure for guard in pauses] == [
        "utilization",
        "frames_dropped",
        "frames_dropped_measured",
        "jain_index",
        "queue_max_octets",
    ]
    completions = guards(GOALS["fct-p99"], own, memory_octets=1e6)
    # A line whose flows end sooner is less used; but no more of them may be left.
    assert {guard.measure: guard.bound for guard in completions} == {
        "frames_dropped": 0.0,
        "frames_dropped_measured": 0.0,
        "jain_index": pytest.approx(0.95),
        "flows_left": pytest.approx(3.15),
        "paused_s": pytest.approx(0.105),
        "queue_max_octets": 1e6,
    }
    assert [goal.name for goal in companions(GOALS["fct-p99"])] == ["fct-p99"]
    assert [goal.name for goal in companions(GOALS["pauses"])] == ["pauses"]
    # 2 ms over 3 ms.
    assert score(GOALS["fct-p99"], completions, own, 1e6) == pytest.approx(2 / 3)
    # 0.85 flows more than the 3.15 that may be left.
    worse = [_run(paused_s=0.1, fct_p99_s=2e-3, flows_left=4)]
    assert score(GOALS["fct-p99"], completions, worse, 1e6) == pytest.approx(1 + math.log(1 + 0.85 / 4.15))


def test_percentiles_of_completion_are_those_of_all_flows_that_started() -> None:
    result = Scenario.from_toml(FINITE, name="finite").run()
    times = sorted(flow["completion_time_s"] or 0.0 for flow in result.summary["flows"])
    assert len(times) == 8 and times[0] > 0
    # Of eight the fourth is the least that half of them do not exceed, and the last the 99th percentile.
    assert completion_s(result, 50) == pytest.approx(times[3])
    assert completion_s(result, 99) == pytest.approx(times[7])
    seen = observe(result, "sw0->h0", GOALS["fct-p50"].more)
    assert (seen["fct_p50_s"], seen["flows_left"]) == (completion_s(result, 50), 0)
    # 1.6 MB at 10 Gb/s take 1.28 ms: at 1 ms none of eight equal flows is complete, and each has been there for 1 ms.
    cut = Scenario.from_toml(FINITE, name="cut").set("duration", "1 ms").run()
    assert completion_s(cut, 50) == pytest.approx(1e-3)
    assert observe(cut, "sw0->h0", ("flows_left",))["flows_left"] == 8


@pytest.mark.parametrize(
    ("goal", "text", "words"),
    [
        ("pauses", QUICK, "goal=pauses: flow control stops no port of the scenario; add [pfc]"),
        ("fct-p99", QUICK, "goal=fct-p99: no flow with a size starts after the warm-up; give flows a size"),
        ("fct-p99", FINITE.replace("duration", 'warmup = "1 ms"\nduration'), "starts after the warm-up"),
    ],
)
def test_goals_that_a_scenario_has_not(goal: str, text: str, words: str) -> None:
    with pytest.raises(UnsuitedScenarioError) as caught:
        tune(Scenario.from_toml(text, name="without"), goal, **SHORT)
    assert words in str(caught.value)


def test_a_search_by_completions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("finite.toml").write_text(FINITE)
    command = ["tune", "finite.toml", "--for", "fct-p99", "--trials", "2", "--seeds", "1", "--verdict-seeds", "2"]
    done = CliRunner().invoke(app, [*command, "--json"])
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert document["goal"]["measure"] == "fct_p99_s"
    assert document["theory"]["unpredicted"] == "a fluid has no flow completion times"
    assert document["baseline"]["tuning"]["fct_p99_s"] > 1.28e-3
    assert document["trials"] == 2
    wrong = CliRunner().invoke(app, ["tune", "finite.toml", "--for", "fct-p42"])
    assert wrong.exit_code == 2 and "use one of stability, latency" in wrong.stderr


# Objections.


def _judge(phase_degrees: float, *, least_degrees: float = 0.0, one_period: bool = True) -> Judge:
    margin = LinearMargins(math.radians(phase_degrees), 100e3)
    return Judge(lambda _: margin, math.radians(least_degrees), 1000.0, one_period=one_period)


def test_each_objection_has_its_numbers() -> None:
    kept = (Guard("queue_max_octets", 16e6, 1), Guard("utilization", 0.866, -1))
    own = [_run(queue_mean_octets=100e3, queue_std_octets=20e3)]
    # A queue of 319 MB in a memory of 16 MB; 79.9 % of the port, where 86.6 % are asked for; -29 degrees.
    parked = [_run(queue_max_octets=319e6, utilization=0.799)]
    found = _judge(-29).objections({}, kept, parked)
    assert [(objection.by, objection.reason) for objection in found] == [
        ("queue_max_octets", "queue max 319 MB, at most 16 MB"),
        ("utilization", "utilisation 79.90 %, at least 86.60 %"),
        (PHASE_MARGIN, "phase margin -29.0 degrees, at least 0.0 degrees"),
    ]
    assert [guard.measure for guard in broken(kept, parked)] == ["queue_max_octets", "utilization"]
    assert counted([Candidate({}, found), Candidate({}, found[1:])]) == {
        "utilization": 2,
        PHASE_MARGIN: 2,
        "queue_max_octets": 1,
    }
    # One that keeps everything, and one without a margin.
    assert _judge(5).objections({}, kept, own) == ()
    assert _judge(math.nan).objections({}, kept, own) == ()


def test_the_least_margin_is_asked_for_or_the_scenarios_own() -> None:
    assert _judge(-29).shortfall_rad({}) == pytest.approx(math.radians(29))
    assert _judge(-29, least_degrees=-30).shortfall_rad({}) == 0
    assert _judge(math.nan).shortfall_rad({}) == 0
    assert Judge(None, -math.inf, 1000.0, one_period=True).shortfall_rad({}) == 0
    arguments: dict[str, Any] = {"keys": ["w=1..4"], "trials": 1, "seeds": 1, "verdict_seeds": 2, "points": 8}
    own = tune(quick(), "stability", phase_margin=None, **arguments)
    assert own.least_phase_rad == -math.inf
    phase = own.baseline.margin.phase_rad
    # Ten degrees more than the scenario has are no bound: it is its own.
    more = tune(quick(), "stability", phase_margin=math.degrees(phase) + 10, **arguments)
    assert more.least_phase_rad == pytest.approx(phase)
    less = tune(quick(), "stability", phase_margin=math.degrees(phase) - 10, **arguments)
    assert less.least_phase_rad == pytest.approx(phase - math.radians(10))
    with pytest.raises(ArgumentError, match="phase_margin=270: must be from -180 to 180"):
        tune(quick(), "stability", phase_margin=270.0)


@pytest.mark.parametrize("text", ["stable", "270", "nan"])
def test_a_margin_that_is_no_angle(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("quick.toml").write_text(QUICK)
    done = CliRunner().invoke(app, ["tune", "quick.toml", "--for", "latency", "--phase-margin", text])
    assert done.exit_code == 2
    assert f"--phase-margin {text} is no angle" in done.stderr and "write degrees, such as 0, or none" in done.stderr


def test_packets_contradict_a_margin() -> None:
    def objections(std_octets: float, judge: Judge) -> list[str]:
        runs = [_run(queue_mean_octets=100e3, queue_std_octets=std_octets)]
        return [objection.by for objection in judge.objections({}, (), runs)]

    # The fluid rests at 100 KB: packets confirm that up to a quarter, 25 KB.
    assert objections(25e3, _judge(10)) == []
    # However far the scenario's own parameters swing.
    assert objections(26e3, _judge(10)) == [PACKETS]
    # Where no margin is asked for, nothing is contradicted.
    assert objections(26e3, _judge(10, least_degrees=-math.inf)) == []
    # Where flows come and go, a queue leaves its equilibrium for other reasons.
    assert objections(26e3, _judge(10, one_period=False)) == []
    # The search ranks it by how far it swings: by 50 KB, twice the quarter of 100 KB.
    swings = [_run(queue_mean_octets=100e3, queue_std_octets=50e3)]
    assert _judge(10).penalty({}, swings) == pytest.approx(math.log(2))
    assert _judge(10, least_degrees=-math.inf).penalty({}, swings) == 0
    assert _judge(-10).penalty({}, swings) == pytest.approx(math.radians(10))
    assert _judge(10).packets_confirm(LinearMargins(0.1, 100e3), [_run(queue_mean_octets=124e3)]) is True
    assert _judge(10).packets_confirm(LinearMargins(0.1, 100e3), [_run(queue_mean_octets=126e3)]) is False
    assert _judge(10).packets_confirm(LinearMargins(-0.1, 100e3), [_run()]) is None


# A queue longer than the memory, and a short one at the price of the port.


@pytest.fixture(scope="module")
def parked() -> Tuning:
    """A search whose candidates are all near settings that park more than the memory."""
    scenario = Scenario.from_toml(PFC, name="incast-pfc")
    return tune(scenario, "utilization", keys=["k_min=0.9 MB..1.1 MB", "k_max=1.9 MB..2.1 MB"], **SHORT)


def test_what_guards_forbid_is_not_proposed(parked: Tuning) -> None:
    assert not parked.changed and not parked.worth_writing and parked.verdicts == ()
    assert Guard("queue_max_octets", 16e6, 1) in parked.guards
    assert len(parked.refusals) == parked.trials == 4
    assert all("queue_max_octets" in [by.by for by in refusal.objections] for refusal in parked.refusals)
    # What the user has breaks the guard as well, and is the baseline all the same.
    (own,) = parked.own_objections
    assert own.by == "queue_max_octets" and own.reason.endswith(" MB, at most 16 MB")
    assert parked.baseline.parameters == {"schemes.dcqcn.k_min": "1 MB", "schemes.dcqcn.k_max": "2 MB"}
    assert parked.why.startswith(
        "Nothing is proposed: no candidate keeps the guards. The scenario's own parameters break"
    )
    assert "Guards refused 4 of 4 candidates: queue max 4" in parked.why
    assert "a flow sends 9.5 frames in an interval between notifications" in parked.unpredicted


def test_the_document_counts_what_was_refused(parked: Tuning) -> None:
    document = json.loads(json.dumps(parked.document()))
    refused = document["refused_by_guards"]
    assert refused["candidates"] == 4 and refused["by_guard"]["queue_max_octets"] == 4
    first = refused["reasons"][0]
    assert set(first["parameters"]) == {"schemes.dcqcn.k_min", "schemes.dcqcn.k_max"}
    assert first["objections"][0]["by"] == "queue_max_octets"
    assert document["proposed"] is False and document["best_allowed"] is None
    assert document["baseline"]["name"] == "scenario"
    assert document["baseline_breaks"][0]["by"] == "queue_max_octets"
    assert document["why"] == parked.why


def test_a_short_queue_is_not_bought_with_the_port() -> None:
    scenario = Scenario.from_toml(POOL, name="incast-pool").set("duration", "8 ms").set("warmup", "4 ms")
    keys = ["k_min=9 KB..9.2 KB", "k_max=60 KB..61 KB", "p_max=0.79..0.81"]
    found = tune(scenario, "latency", keys=keys, **(SHORT | {"trials": 2}))
    assert not found.changed and len(found.refusals) == 2
    for refusal in found.refusals:
        assert {"utilization", PHASE_MARGIN} & {objection.by for objection in refusal.objections}
    assert math.degrees(found.least_phase_rad) == 0


def test_one_memory_bounds_the_queue_by_the_pool() -> None:
    small = POOL.replace('size = "16 MB"', 'size = "4 MB"').replace('headroom = "auto"', 'headroom = "0 B"')
    found = tune(Scenario.from_toml(small, name="small"), "pauses", keys=["k_min"], **(SHORT | {"trials": 1}))
    assert Guard("queue_max_octets", 4e6, 1) in found.guards


def test_a_fabric_with_a_victim_is_tuned_at_the_bottleneck_that_binds() -> None:
    found = tune(Scenario.from_toml(VICTIM, name="victim"), "latency", keys=["k_min"], **(SHORT | {"trials": 1}))
    assert found.queue == "leaf0->h0"
    assert found.notes[0].startswith(
        "2 controlled flows do not cross leaf0->h0, the bottleneck that leaves a flow least"
    )


def test_a_candidate_that_packets_contradict_is_withdrawn(parked: Tuning) -> None:
    keys = ["w=1..4", "q_eq=8 KB..20 KB"]
    answer = tune(quick(), "stability", keys=keys, phase_margin=None, **(SHORT | {"trials": 8}))
    assert answer.gain_shown
    assert answer.why.startswith("Proposed: on seeds 4 to 5, which the search never used, queue standard deviation ")
    # Three metrics, each with its value before.
    assert answer.why.partition(", and every guard is kept.")[0].count(" instead of ") == 3
    withdrawn = replace(answer, objections=parked.own_objections)
    assert not withdrawn.gain_shown and not withdrawn.worth_writing
    assert "packets contradict the best candidate (queue max" in withdrawn.why
    assert withdrawn.document()["proposal_breaks"][0]["by"] == "queue_max_octets"


@pytest.mark.science
@pytest.mark.parametrize(("text", "goal"), [(PFC, "utilization"), (POOL, "latency")], ids=["pfc", "pool"])
def test_a_whole_search_proposes_nothing_that_guards_forbid(text: str, goal: str) -> None:
    found = tune(Scenario.from_toml(text, name="incast"), goal)
    assert found.trials == 96 and found.refusals
    held = guards(GOALS[goal], found.baseline.tuning, memory_octets=16e6)
    if found.changed:
        assert broken(held, found.proposal.tuning) == ()
        assert found.proposal.confirmed is not False
        assert not found.proposal.margin.phase_rad < found.least_phase_rad
    assert found.gain_shown == (bool(found.verdicts) and found.verdicts[0].beats and not found.objections)


def test_the_page_has_the_scenario_that_is_tested_here() -> None:
    page = (ROOT / "docs/how-to/tune-parameters.md").read_text(encoding="utf-8")
    assert f"```toml\n{PFC}```" in page
    assert all(f"`{goal}`" in page for goal in GOALS)
