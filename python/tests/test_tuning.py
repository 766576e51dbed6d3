"""Parts of tuning: bounds, goals and verdicts by hand, and the fluid's prediction."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, SMALL, quick

from penstock import Result, Scenario
from penstock.theory.axes import written
from penstock.theory.configuration import Configuration, UnsuitedScenarioError, configuration, configurations
from penstock.theory.margin import report, stack_models
from penstock.theory.models import model_of
from penstock.tuning import tune
from penstock.tuning.fluid_prediction import PeriodModels, predict
from penstock.tuning.goals import GOALS, Guard, guards, score
from penstock.tuning.initial_points import place_of, spread, value_at
from penstock.tuning.linear_margins import linear_margins, resting
from penstock.tuning.measures import OBSERVED, Observed, observe
from penstock.tuning.search_region import FluidScorer, narrow, starting_ranks
from penstock.tuning.search_space import knobs, moved, set_to
from penstock.tuning.verdict import judge, paired

LONG_DELAY = ROOT / "scenarios/tuning/long-delay.toml"


def _given(scenario: Scenario) -> Configuration:
    return configuration(scenario)


def _run(**values: float) -> dict[str, float]:
    return dict.fromkeys(OBSERVED, 0.0) | {"jain_index": 1.0, "utilization": 1.0} | values


# Bounds.


def test_bounds_reach_eight_times_around_both_values() -> None:
    given = _given(quick(w=4.0))
    standard: Mapping[str, float | str | bool] = {**given.parameters, "w": 2.0}
    (knob,) = knobs(given, standard, ["w"])
    assert (knob.key, knob.low, knob.high) == ("schemes.qcn.w", 0.25, 32.0)
    # 26 KB: an eighth is 3.25 KB; eight times that is more than three quarters of 150 KB.
    (queue,) = knobs(given, standard, ["schemes.qcn.q_eq"])
    assert (queue.low, queue.high) == (3250.0, 112_500.0)


def test_all_that_is_usually_tuned_has_an_effect() -> None:
    given = _given(quick())
    names = [knob.name for knob in knobs(given, given.parameters, [])]
    assert "sample_base" in names and "sample_count" not in names
    counted = _given(quick(sampling="count"))
    names = [knob.name for knob in knobs(counted, counted.parameters, [])]
    assert "sample_count" in names and "sample_base" not in names


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("schemes.qcn.ww=1..2", "did you mean"),
        ("flows=1..4", "not a parameter of qcn"),
        ("w=2..1", "not above"),
        ("w=1..5000", "reaches from"),
        ("w=1", "KEY=A..B"),
        ("sample_count=10..100", "no effect while sampling is table"),
        ("q_eq=1 us..2 us", "is a time, not a size"),
        ("rpg_max_rate", "0, from which no bounds follow"),
    ],
)
def test_keys_that_cannot_be(key: str, words: str) -> None:
    given = _given(quick())
    with pytest.raises(UnsuitedScenarioError, match=words):
        knobs(given, given.parameters, [key])


def test_a_key_twice() -> None:
    given = _given(quick())
    with pytest.raises(UnsuitedScenarioError, match="twice"):
        knobs(given, given.parameters, ["w=1..2", "schemes.qcn.w"])


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        # Kmax is 100 KB, and not tuned.
        (["k_min=110 KB..120 KB"], ["k_min=110 KB..120 KB:", "k_max, which is 100 KB", "set schemes.dcqcn.k_max to"]),
        (["k_max=1 KB..5 KB"], ["k_max=1 KB..5 KB:", "k_min, which is 10 KB", "schemes.dcqcn.k_min=A..B"]),
        (
            ["r_ai", "k_min=60 KB..80 KB", "k_max=20 KB..50 KB"],
            ["keys schemes.dcqcn.k_min=60 KB..80 KB,schemes.dcqcn.k_max=20 KB..50 KB:", "never less than k_min"],
        ),
        (["k_max=200 KB..300 KB"], ["k_max=200 KB..300 KB:", "is beyond the buffer of 150 KB"]),
    ],
)
def test_ranges_that_contradict_one_another(keys: list[str], words: list[str]) -> None:
    scenario = quick("dcqcn")
    given = _given(scenario)
    with pytest.raises(UnsuitedScenarioError) as refused:
        spread(scenario, given, knobs(given, given.parameters, keys), 8, 1)
    assert all(word in str(refused.value) for word in words), str(refused.value)


def test_of_ranges_that_contradict_in_part_the_legal_points_remain() -> None:
    # Kmin of the scenario is 20 KB: usual bounds reach to 112.5 KB, beyond Kmax of 100 KB.
    scenario = quick("dcqcn", k_min="20 KB")
    given = _given(scenario)
    points = spread(scenario, given, knobs(given, given.parameters, ["k_min", "k_max"]), 64, 1)
    assert len(points) == 64
    assert all(point["k_min"] <= point["k_max"] for point in points)
    assert max(point["k_min"] for point in points) > 80e3
    found = tune(scenario, "latency", keys=["k_min=5 KB..150 KB"], trials=1, seeds=1, verdict_seeds=2, points=8)
    assert found.trials == 1


@pytest.mark.parametrize("unit", ["octets", "bit/s", "s"])
def test_written_values_read_the_same(unit: str) -> None:
    given = _given(quick())
    name = {"octets": "q_eq", "bit/s": "rpg_ai_rate", "s": "rpg_time_reset"}[unit]
    (knob,) = knobs(given, given.parameters, [name])
    scenario = quick()
    random = np.random.default_rng(1)
    for value in np.exp(random.uniform(np.log(knob.low), np.log(knob.high), 20)).tolist():
        snapped = knob.snapped(value)
        assert snapped == pytest.approx(value, rel=5e-3)
        assert _given(set_to(scenario, [knob], {name: snapped})).number(name) == pytest.approx(snapped, rel=1e-12)


def test_written() -> None:
    assert [written(*of) for of in ((33_100.0, "octets"), (950.0, "octets"), (0.0123, "s"), (5e6, "bit/s"))] == [
        "33.1 KB",
        "950 octets",
        "12.3 ms",
        "5 Mbps",
    ]
    assert (written(128.0, "count"), written(0.25, "ratio")) == (128, 0.25)


def test_probability_moves_its_maximum_too() -> None:
    given = _given(quick(sampling="probability"))
    (knob,) = knobs(given, given.parameters, ["sample_probability"])
    there = moved(given, [knob], {"sample_probability": 0.03})
    assert (there.number("sample_probability"), there.number("sample_probability_max")) == (0.03, 0.03)


# Goals.


def test_settings_that_keep_the_guards_rank_first() -> None:
    goal = GOALS["latency"]
    kept = guards(goal, [_run(utilization=0.95, frames_dropped=4), _run(utilization=0.97, frames_dropped=0)])
    assert [(guard.measure, guard.bound) for guard in kept] == [
        ("utilization", pytest.approx(0.95)),
        # A hundredth of the two frames that are lost in mean.
        ("frames_dropped", pytest.approx(2.02)),
        ("frames_dropped_measured", 0.0),
        ("jain_index", pytest.approx(0.95)),
    ]
    # Half of the slack of 0.01 in reserve.
    assert guards(goal, [_run()], reserve=0.5)[0].bound == pytest.approx(0.995)
    assert guards(goal, [_run(frames_dropped=2000)], reserve=0.5)[1].bound == pytest.approx(2010)

    def of(**values: float) -> float:
        return score(goal, kept, [_run(**values)], 100e3)

    assert of(queue_p99_octets=30e3) == pytest.approx(0.3)
    assert of(queue_p99_octets=100e3, frames_dropped=2) == 1.0
    # Twice one and the frames that are allowed beyond these: 1 + ln 3. A share of 0.05 of the rate too little: 1.05.
    assert of(frames_dropped=2.02 + 2 * 3.02) == pytest.approx(1 + math.log(3))
    # A frame lost after the warm-up, where none is allowed, is lost in the whole run too, and counts once.
    assert of(frames_dropped=2, frames_dropped_measured=2) == pytest.approx(1 + math.log(3))
    assert of(frames_dropped=2.02 + 2 * 3.02, frames_dropped_measured=2) == pytest.approx(1 + math.log(3))
    assert of(utilization=0.90) == pytest.approx(1.05)


def test_a_proposal_is_no_worse_than_the_settings_that_the_scenario_has() -> None:
    # Against a standard that uses 80 % alone, 79.9 % would do; the user's own settings use 87.6 %.
    goal = GOALS["latency"]
    standard, own = [_run(utilization=0.80, frames_dropped=100)], [_run(utilization=0.876, frames_dropped=300)]
    bounds = {guard.measure: guard.bound for guard in guards(goal, standard, own)}
    assert bounds["utilization"] == pytest.approx(0.866)
    # Of two bounds the tighter one counts.
    assert bounds["frames_dropped"] == pytest.approx(101)


def test_under_flow_control_pauses_and_memory_are_guarded() -> None:
    # 16 MB of buffer, where a proposal parks 319 MB, without a loss.
    goal = GOALS["utilization"]
    standard = [_run(utilization=0.78, paused_s=0.1, queue_max_octets=2e6)]
    kept = guards(goal, standard, memory_octets=16e6)
    assert [(guard.measure, guard.bound) for guard in kept[-2:]] == [
        ("paused_s", pytest.approx(0.105)),
        ("queue_max_octets", 16e6),
    ]
    parked = [_run(utilization=1.0, paused_s=0.1, queue_max_octets=319e6)]
    assert score(goal, kept, parked, 16e6) > 1
    assert judge(goal, kept, parked, standard, "x").broken == ("queue_max_octets",)
    stopped = [_run(utilization=1.0, paused_s=0.2, queue_max_octets=10e6)]
    assert score(goal, kept, stopped, 16e6) > 1
    assert judge(goal, kept, stopped, standard, "x").broken == ("paused_s",)
    assert score(goal, kept, [_run(utilization=0.9, paused_s=0.1, queue_max_octets=10e6)], 16e6) < 1


def test_of_two_that_use_all_the_shorter_queue_is_better() -> None:
    goal = GOALS["utilization"]
    kept = guards(goal, [_run()])
    short, long, idle = (
        score(goal, kept, [_run(utilization=use, queue_mean_octets=queue)], 100e3)
        for use, queue in ((1.0, 10e3), (1.0, 50e3), (0.99, 0.0))
    )
    assert short < long < idle < 1
    assert "utilization" not in [guard.measure for guard in kept]


def test_observed_is_what_the_summary_says(result: Result) -> None:
    seen = observe(result, "sw0->h2")
    (queue,) = (queue for queue in result.summary["queues"] if queue["name"] == "sw0->h2")
    assert seen["queue_std_octets"] == queue["std_octets"]
    assert seen["utilization"] == queue["utilization"]
    # Without a warm-up all drops count.
    assert seen["frames_dropped"] == queue["frames_dropped"] > 0


def test_drops_of_the_warm_up_count() -> None:
    late = Scenario.from_toml(SMALL, name="small").set("warmup", "10 ms").run(seed=1)
    dropped, time_s = (late.column("queues", name) for name in ("frames_dropped", "time_s"))
    seen = observe(late, "sw0->h2")
    assert 0 < seen["frames_dropped_measured"] < seen["frames_dropped"]
    assert seen["frames_dropped_measured"] == dropped[time_s >= 0.01].sum()
    assert seen["frames_dropped"] == late.summary["totals"]["frames_dropped"]


def test_a_smooth_run_is_not_bought_with_a_flood_at_its_start() -> None:
    goal, standard = GOALS["stability"], [_run(queue_std_octets=20e3 + i) for i in range(3)]
    flood = [_run(queue_std_octets=1e3, frames_dropped=14_700.0)] * 3
    assert score(goal, guards(goal, standard), flood, 100e3) > 1
    found = judge(goal, guards(goal, standard), flood, standard, "x")
    assert (found.word, found.broken, found.beats) == ("better", ("frames_dropped",), False)
    (printed,) = (pair for pair in found.measures if pair.measure == "frames_dropped")
    assert (printed.proposal["mean"], printed.proposal["std"]) == (14_700.0, 0.0)


def test_calm_parameters_that_flood_a_network_at_100_gbps_at_its_start_break_a_guard() -> None:
    text = """\
        question = "Does what is calm later lose frames while flows start?"
        duration = "90 ms"
        warmup = "80 ms"
        scheme = "qcn"
        topology.star = { hosts = 65, link_rate = "100 Gbps", link_delay = "12.5 us", buffer = "400 KB" }
        flow = [{ from = "h0..h63", to = "h64", stagger = "1 ms" }]
        record.queues = ["sw0->h64"]
    """
    # The find of a search for stability, if losses count after the warm-up alone.
    found: dict[str, str | float] = {
        "q_eq": "13.2 KB",
        "w": 2.41,
        "gd_inverse": 194,
        "sample_base": "311 KB",
        "rpg_byte_reset": "46.2 KB",
    }
    found |= {"rpg_time_reset": "69.8 ms", "rpg_ai_rate": "723 kbps", "rpg_hai_rate": "99.2 Mbps"}
    scenario = Scenario.from_toml(text)
    standard = observe(scenario.run(seed=1), "sw0->h64")
    for key, value in found.items():
        scenario.set(f"schemes.qcn.{key}", value)
    seen = observe(scenario.run(seed=1), "sw0->h64")
    assert seen["queue_std_octets"] < standard["queue_std_octets"]
    assert seen["frames_dropped_measured"] == standard["frames_dropped_measured"] == 0
    assert standard["frames_dropped"] < 100 < 1000 < seen["frames_dropped"]
    goal = GOALS["stability"]
    assert score(goal, guards(goal, [standard]), [seen], 400e3) > 1
    assert judge(goal, guards(goal, [standard]), [seen], [standard], "x").broken == ("frames_dropped",)


# Verdicts.


def test_the_interval_is_students() -> None:
    # Differences 1, 2, 3: mean 2, deviation 1; t of two degrees at 97.5 % is 4.3027, over the root of 3: 2.4841.
    pair = paired("queue_std_octets", [11.0, 22.0, 33.0], [10.0, 20.0, 30.0])
    assert (pair.difference, pair.spread) == (2.0, 1.0)
    assert [pair.low, pair.high] == pytest.approx([-0.4841, 4.4841], abs=1e-4)
    assert pair.proposal["mean"] == 22.0


@pytest.mark.parametrize(
    ("differences", "word"),
    [((-5.0, -6.0, -7.0), "better"), ((5.0, 6.0, 7.0), "worse"), ((-1.0, 0.0, 1.0), "no difference shown")],
)
def test_a_word_needs_the_whole_interval(differences: tuple[float, ...], word: str) -> None:
    other = [_run(queue_p99_octets=100.0) for _ in differences]
    mine = [_run(queue_p99_octets=100.0 + difference) for difference in differences]
    found = judge(GOALS["latency"], (), mine, other, "x")
    assert (found.word, found.beats) == (word, word == "better")


def test_a_better_queue_with_a_broken_guard_does_not_beat() -> None:
    other, mine = [_run(queue_p99_octets=100.0 + i) for i in range(3)], [_run(frames_dropped=1.0)] * 3
    found = judge(GOALS["latency"], (Guard("frames_dropped", 0.0, 1),), mine, other, "x")
    assert (found.word, found.broken, found.beats) == ("better", ("frames_dropped",), False)


def test_runs_without_chance_are_named() -> None:
    alike = [_run(queue_p99_octets=9.0)] * 3
    assert judge(GOALS["latency"], (), alike, [_run(queue_p99_octets=10.0)] * 3, "x").alike
    assert not judge(GOALS["latency"], (), alike, [_run(queue_p99_octets=10.0 + i) for i in range(3)], "x").alike


# Theory.


def test_a_queue_grows_by_what_arrives_within_the_delay() -> None:
    given = replace(_given(quick(rpg_time_reset="1 s")), buffer_octets=1e9)
    wide = stack_models([model_of(given)] * 2)
    # A tenth of 1 Gb/s less for ten times the delay of 0.8 ms. Nothing answers during the first, in which
    # 0.1 Gb/s / 8 * 0.8 ms = 10 KB come, and all of it is not 100 KB, as without an answer.
    less = wide.with_changes(capacity_bps=0.9e9, link_bps=0.9e9)
    (quiet, _) = predict([PeriodModels(wide, 0.008)], 0.0)
    (seen, twin) = predict([PeriodModels(wide, 1e-6), PeriodModels(less, 0.008)], 0.0)
    assert seen == twin
    assert 10e3 < seen["queue_p99_octets"] - quiet["queue_p99_octets"] < 100e3
    assert seen["frames_dropped"] == 0


def test_a_forecast_says_what_is_stable() -> None:
    stable, unstable = (_given(quick(rpg_time_reset="5 ms", sample_base=base)) for base in ("150 KB", "10 KB"))
    assert linear_margins([stable]).phase_rad > 0 > linear_margins([unstable]).phase_rad
    wide = stack_models([model_of(given) for given in (stable, unstable)])
    calm, oscillating = predict([PeriodModels(wide, 0.5)], 0.0)
    assert _of_the_fluid(calm) < 0.1 * _of_the_fluid(oscillating)


def _of_the_fluid(seen: Observed) -> float:
    """The deviation of the fluid's queue itself, without that of single frames of 1 500 octets, octets."""
    return math.sqrt(max(seen["queue_std_octets"] ** 2 - 1500 * seen["queue_mean_octets"], 0.0))


def test_a_queue_at_rest_deviates_by_its_frames() -> None:
    # n frames of 1 500 octets vary by the square root of n frames, and at equilibrium little else does.
    given = _given(quick(rpg_time_reset="5 ms", sample_base="150 KB"))
    (seen, _) = predict([PeriodModels(stack_models([model_of(given)] * 2), 0.5)], 0.0)
    frames = seen["queue_mean_octets"] / 1500
    assert frames > 20
    assert seen["queue_std_octets"] == pytest.approx(1500 * math.sqrt(frames), rel=0.1)


def test_of_two_queues_at_rest_the_shorter_is_forecast_steadier() -> None:
    # Two points of DCQCN, of which packets make 1.5 and 4.0 KB of deviation (baseline/ten-gig, seed 1). The fluid alone
    # deviates by 0.44 and 0.03 KB, in the wrong order.
    steady = {"k_min": "4.68 KB", "k_max": "17.9 KB", "p_max": "0.144", "g_inverse": "106", "alpha_time": "57.8 us"}
    steady |= {"byte_reset": "46.6 MB", "time_reset": "58.8 us", "r_ai": "1.32 Mbps", "r_hai": "6.52 Mbps"}
    long = {"k_min": "21.8 KB", "k_max": "54.1 KB", "p_max": "0.247", "g_inverse": "161", "alpha_time": "146 us"}
    long |= {"byte_reset": "36.2 MB", "time_reset": "8.3 us", "r_ai": "1.57 Mbps", "r_hai": "24.6 Mbps"}
    models = []
    for point in (steady, long):
        scenario = Scenario.load(ROOT / "scenarios/baseline/ten-gig.toml").set("scheme", "dcqcn")
        for key, value in point.items():
            scenario.set(f"schemes.dcqcn.{key}", value)
        models.append(model_of(_given(scenario)))
    first, second = predict([PeriodModels(stack_models(models), 0.4)], 0.0)
    assert first["queue_std_octets"] < 0.7 * second["queue_std_octets"]


@pytest.mark.parametrize("key", ["time_reset", "k_max"])
def test_a_share_of_the_way_between_bounds_and_its_value(key: str) -> None:
    periods = configurations(quick("dcqcn"))
    (knob,) = knobs(periods[0], periods[0].parameters, [key])
    assert value_at(knob, 0.5) == pytest.approx(math.sqrt(knob.low * knob.high))
    for place in (0.0, 0.3, 1.0):
        assert place_of(knob, value_at(knob, place)) == pytest.approx(place, abs=1e-12)
    assert place_of(replace(knob, high=knob.low), knob.low) == 0.0


@pytest.mark.science
def test_a_longer_run_does_not_make_the_forecast_oscillate() -> None:
    # DCQCN at 10 Gb/s with four flows, a quick timer and small steps: it rests, with 5 degrees of margin. With a step
    # that grows with the run, Heun's method itself oscillates here, and the prediction loses four fifths of the rate.
    scenario = Scenario.load(ROOT / "scenarios/baseline/ten-gig.toml").set("scheme", "dcqcn")
    given = _given(scenario.set("schemes.dcqcn.time_reset", "10 us").set("schemes.dcqcn.r_ai", "1 Mbps"))
    assert linear_margins([given]).phase_rad > 0
    wide = stack_models([model_of(given)] * 2)
    (short, _), (long, _) = (predict([PeriodModels(wide, length_s)], 0.0) for length_s in (0.02, 0.4))
    assert short["utilization"] == long["utilization"] == 1.0
    assert _of_the_fluid(long) < _of_the_fluid(short) < 1e3
    assert long["queue_mean_octets"] == pytest.approx(linear_margins([given]).rest_octets, rel=0.02)


def test_a_point_is_forecast_alike_whatever_stands_beside_it() -> None:
    scenario = quick("dcqcn")
    periods = configurations(scenario)
    space = knobs(periods[0], periods[0].parameters, ["time_reset", "k_max"])
    points = spread(scenario, periods[0], space, 4, 1)
    scorer, goal = FluidScorer.of(periods, 0.04, space).in_steps_for(points), GOALS["latency"]
    alone = [scorer.scores(goal, scorer.predictions([point]), 1)[0] for point in points]
    together = scorer.scores(goal, scorer.predictions(points), len(points))
    assert together.tolist() == pytest.approx(alone, nan_ok=True)


@pytest.mark.parametrize(("kept", "ranks"), [(128, [0, 34, 1, 65, 2, 96, 3, 127]), (5, [0, 4, 1, 2, 3]), (1, [0])])
def test_starts_are_the_best_and_some_between_them_and_the_last(kept: int, ranks: list[int]) -> None:
    assert starting_ranks(kept, 8) == ranks


SLOW = [pytest.param(scheme, marks=pytest.mark.science) for scheme in ("smcc", "bcn")]


@pytest.mark.parametrize("scheme", ["qcn", "fecn", "dcqcn", *SLOW])
def test_every_scheme_with_a_model_can_be_narrowed(scheme: str) -> None:
    settings: dict[str, Any] = {"smcc": {"profile": "paper-sliding-mode"}}.get(scheme, {})
    scenario = quick(scheme, **settings)
    periods = configurations(scenario)
    space = knobs(periods[0], periods[0].parameters, [])
    assert len(space) >= 4
    scorer = FluidScorer.of(periods, 0.04, space)
    predicted = [goal for goal in GOALS.values() if goal.predicted]
    regions = narrow(scorer, spread(scenario, periods[0], space, 16, 1), predicted, starts=4)
    assert list(regions) == ["stability", "latency", "utilization"]
    starts = [tuple(start.items()) for region in regions.values() for start in region.starts]
    assert len(set(starts)) == len(starts), "two goals begin with the same point"
    for region in regions.values():
        if region.resting:
            assert all(region.holds(region.starts))
            assert region.kept <= math.ceil(region.resting / 2) + 1
            for before, after in zip(space, region.knobs, strict=True):
                assert before.low <= after.low <= after.high <= before.high


def test_the_margin_is_that_of_the_theory() -> None:
    given = _given(quick(rpg_time_reset="5 ms"))
    (side,) = report(given).sides
    seen = linear_margins([given])
    assert seen.phase_rad == pytest.approx(side.phase_rad)
    # Two periods: the smaller margin.
    slower = replace(given, feedback_delay_s=2 * given.feedback_delay_s)
    assert linear_margins([given, slower]).phase_rad == pytest.approx(report(slower).sides[0].phase_rad)


def test_smcc_that_stays_below_its_target_does_not_rest() -> None:
    given = _given(quick("smcc", profile="dealbreaker"))
    space = knobs(given, given.parameters, ["ra=1 Mbps..10 Gbps"])
    weak, strong = ({"ra": 16e6}, {"ra": 2e9})
    assert resting([given], space, [weak, strong]).tolist() == [False, True]
