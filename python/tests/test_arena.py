"""The arena: its standings by hand, its report, its refusals, and a stop in the midst of it."""

import json
import math
import re
import tomllib
from pathlib import Path

import pytest
from conftest import SMALL, Command

from penstock import Arena, ArenaError, ArgumentError, Result, RunCallbacks, Scenario, arena, compare, schemes
from penstock._core import read_quantity, write_quantity
from penstock.arenas import prose, reasons
from penstock.arenas.arena_file import OWN, Competitor, Entries, Judge, Workload, read
from penstock.arenas.provenance import provenance
from penstock.arenas.speed import faster_scheme, faster_workload
from penstock.arenas.standings import Standing, surely_better, totals
from penstock.arenas.tuned_competitors import scenario_of_search
from penstock.catalogue import about
from penstock.sweeps.design import cases_of_all, design
from penstock.variants import Variant

ARENA = """\
title = "Two small workloads"

[[workload]]
name = "shared"
title = "Shared port"
scenario = "small.toml"
set = { duration = "10 ms" }
judge = "queue_mean_octets"

[[workload]]
name = "finite"
scenario = "finite.toml"
judge = "slowdown_p99"
of = "a"

[[competitor]]
name = "deep"
scheme = "qcn"
set = { schemes.qcn.q_eq = "50 KB" }
about = "QCN with a deeper queue."
"""
FINITE = """\
[[flow]]
name = "a"
from = "h0"
to = "h2"
size = "100 KB"
transport = "go-back-n"

[[flow]]
name = "b"
from = "h1"
to = "h2"
size = "10 MB"
transport = "go-back-n"
"""
LESS = Judge("slowdown_p99", None, "less")
MORE = Judge("jain_index", None, "more")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    (tmp_path / "finite.toml").write_text(SMALL.split("[[flow]]")[0] + FINITE, encoding="utf-8")
    path = tmp_path / "arena.toml"
    path.write_text(ARENA, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("one", "other", "judge", "better"),
    [
        ((1.0,), (2.0,), LESS, True),
        ((1.0,), (1.0,), LESS, False),
        ((1.0, 1.9), (2.0, 5.0), LESS, True),
        ((1.0, 2.1), (2.0, 5.0), LESS, False),
        ((1.0, math.inf), (math.inf, math.inf), LESS, False),
        ((1.0, 2.0), (math.inf, math.inf), LESS, True),
        # One seed: a hundredth of the worse is no difference.
        ((99.0,), (100.0,), LESS, False),
        ((98.9,), (100.0,), LESS, True),
        ((0.0,), (0.0,), LESS, False),
        ((1.0,), (math.inf,), LESS, True),
        ((math.inf,), (1.0,), LESS, False),
        ((0.99,), (0.981,), MORE, False),
        ((0.99,), (0.98,), MORE, True),
        # Two seeds show a spread.
        ((99.8, 99.9), (100.0, 100.1), LESS, True),
        ((0.9,), (0.8,), MORE, True),
        ((0.8,), (0.9,), MORE, False),
        ((0.8,), (), MORE, True),
        ((), (), LESS, False),
        ((), (1.0,), LESS, False),
    ],
)
def test_one_is_surely_better_where_no_seed_overlaps(
    one: tuple[float, ...], other: tuple[float, ...], judge: Judge, better: bool
) -> None:
    assert surely_better(one, other, judge) is better


def _standing(workload: Workload, competitor: Competitor, rank: int, ratio: float) -> Standing:
    return Standing(workload, competitor, (ratio,), rank, ratio, {})


def test_totals_are_means_of_ranks_and_of_ratios() -> None:
    scenario = Scenario.from_toml(SMALL, name="small")
    first, second = (Workload(name, name, scenario, "small", {}, LESS) for name in ("one", "two"))
    a, b = Competitor("a", "qcn"), Competitor("b", "none")
    standings = {
        "one": [_standing(first, b, 1, 1.0), _standing(first, a, 2, 4.0)],
        "two": [_standing(second, a, 1, 1.0), _standing(second, b, 2, math.inf)],
    }
    found = totals(Entries("", (first, second), (a, b)), standings)
    # The same mean rank: that which completes more is first, whatever its ratio where both do.
    assert [(total.competitor.name, total.mean_rank, total.wins) for total in found] == [("a", 1.5, 1), ("b", 1.5, 1)]
    assert [(total.ratio, total.completed, total.unfinished) for total in found] == [(2.0, 2, 0), (1.0, 1, 1)]


def test_the_standings_are_those_of_runs_by_themselves(file: Path, tmp_path: Path) -> None:
    found = arena(tmp_path / "out", file=file, competitors=["none", "qcn", "deep"], seeds=2)
    alone = compare(read(file).workloads[0].scenario, ["none", "qcn"], seeds=2)
    shared = {standing.competitor.name: standing for standing in found.standings["shared"]}
    for line in alone.document["schemes"]:
        spread, standing = line["queue_mean_octets"], shared[line["label"]]
        assert (spread["mean"], spread["min"]) == (pytest.approx(standing.mean), min(standing.values))
    # A queue of 60 KB that is always full, one around 33 KB, one around 50 KB.
    assert [standing.competitor.name for standing in found.standings["shared"]] == ["qcn", "deep", "none"]
    assert [standing.rank for standing in found.standings["shared"]] == [1, 2, 3]
    assert shared["qcn"].ratio == 1
    assert shared["none"].ratio == pytest.approx(shared["none"].mean / shared["qcn"].mean)
    # The flow of 10 MB needs 80 ms at 1 Gb/s, and has 20: it is left, and does not count; that of 100 KB completes.
    finite = {standing.competitor.name: standing for standing in found.standings["finite"]}
    assert all(1 < value < 30 for value in finite["qcn"].values)
    assert finite["qcn"].shown["flows_left"] == 1
    assert [place for place, _ in finite["qcn"].sizes] == [100_000]


def test_flows_that_are_left_make_a_percentile_infinite(file: Path, tmp_path: Path) -> None:
    file.write_text(ARENA.replace('of = "a"', 'of = "b"'), encoding="utf-8")
    found = arena(tmp_path / "out", file=file, workloads=["finite"], competitors=["none", "qcn"])
    assert [standing.values for standing in found.standings["finite"]] == [(math.inf,), (math.inf,)]
    assert [standing.rank for standing in found.standings["finite"]] == [1, 1]
    assert {total.unfinished for total in found.totals} == {1}
    assert prose.of_workload(found.standings["finite"]) == ["No competitor completes it."]
    assert found.document["totals"][0]["ratio_to_best"] is None
    assert found.write_report().is_file()


def test_the_report_is_whole(file: Path, tmp_path: Path) -> None:
    found = arena(tmp_path / "out", file=file, competitors=["none", "qcn", "deep"])
    first = found.write_report()
    pages = {page.name: page.read_text(encoding="utf-8") for page in first.parent.glob("*.html")}
    of = ["scheme-deep", "scheme-none", "scheme-qcn", "workload-finite", "workload-shared"]
    assert sorted(pages) == [f"{name}.html" for name in ("index", *of)]
    for name, text in pages.items():
        for link in re.findall(r'href="([^"#]+)"', text):
            assert (first.parent / link).is_file(), f"{name}: {link}"
        assert not re.search(r"\bnan\b|\binf\b|None", re.sub(r"<svg.*?</svg>", "", text, flags=re.DOTALL)), name
    # With one seed a hundredth is no difference.
    assert "qcn and deep are first: queue mean" in pages["workload-shared.html"]
    assert "differ by no more than 1.0 % share a rank" in " ".join(pages["index.html"].split())
    assert "50 KB" in pages["scheme-deep.html"]
    assert "penstock run small.toml --set 'duration=10 ms'" in pages["workload-shared.html"].replace("&#39;", "'")
    document = json.loads((first.parent / "arena.json").read_text(encoding="utf-8"))
    assert document == json.loads(json.dumps(found.document))


def test_it_goes_on_with_more_seeds_and_competitors(file: Path, tmp_path: Path) -> None:
    left: list[int] = []
    arena(tmp_path / "out", file=file, competitors=["none", "qcn"], callbacks=RunCallbacks(planned=left.append))
    with pytest.raises(ArgumentError, match="holds an arena already"):
        arena(tmp_path / "out", file=file)
    three = ["none", "qcn", "deep"]
    again = arena(
        tmp_path / "out",
        file=file,
        competitors=three,
        seeds=2,
        resume=True,
        callbacks=RunCallbacks(planned=left.append),
    )
    assert left == [4, 8]
    assert again.document == arena(tmp_path / "whole", file=file, competitors=three, seeds=2).document


def test_a_stop_loses_no_finished_run(file: Path, tmp_path: Path) -> None:
    done: list[int] = []
    two = ["none", "qcn"]
    callbacks = RunCallbacks(done=lambda: done.append(1), stopped=lambda: len(done) >= 3)
    stopped = arena(tmp_path / "out", file=file, competitors=two, seeds=40, workers=1, callbacks=callbacks)
    assert not stopped.finished
    left: list[int] = []
    again = arena(
        tmp_path / "out", file=file, competitors=two, seeds=40, resume=True, callbacks=RunCallbacks(planned=left.append)
    )
    assert left == [160 - len(done)]
    assert again.finished
    assert again.document == arena(tmp_path / "whole", file=file, competitors=two, seeds=40).document


@pytest.mark.parametrize("tuned", [["fecn"], pytest.param(["qcn", "fecn"], marks=pytest.mark.science)])
def test_competitors_are_tuned_and_ranked_once_more(file: Path, tmp_path: Path, tuned: list[str]) -> None:
    left: list[int] = []
    done: list[int] = []
    callbacks = RunCallbacks(planned=left.append, done=lambda: done.append(1))
    names = ["none", *tuned]
    found = arena(tmp_path / "out", file=file, workloads=["shared"], competitors=names, tune=8, callbacks=callbacks)
    assert found.tuned is not None
    assert left == [len(done)]
    assert set(found.tunings) == set(tuned)
    assert found.trials == Arena.open(found.path).trials == 8
    proposals = {name: answer.settings for name, answer in found.tunings.items() if answer.settings}
    assert proposals or all(answer.why for answer in found.tunings.values())
    expected = {f"{name}-tuned" if name in proposals else name for name in names}
    assert {total.competitor.name for total in found.tuned.totals} == expected
    # Runs with other settings come to other numbers, the rest to the same.
    plain = {standing.competitor.name: standing.values for standing in found.standings["shared"]}
    for standing in found.tuned.standings["shared"]:
        name = standing.competitor.name.removesuffix("-tuned")
        assert (standing.values == plain[name]) is (name not in proposals)
    first = found.write_report()
    pages = {page.name: page.read_text(encoding="utf-8") for page in first.parent.glob("*.html")}
    assert 'href="tuned.html"' in pages["index.html"]
    for name in proposals:
        key, value = next(iter(proposals[name].items()))
        assert f"{key}={value}" in pages[f"tuned-scheme-{name}-tuned.html"]
    for name in set(tuned) - set(proposals):
        assert "It runs with the settings of its source: no gain" in pages[f"tuned-scheme-{name}.html"]
    opened = Arena.open(tmp_path / "out")
    assert (opened.document, opened.tunings) == (found.document, found.tunings)
    # Nobody is tuned again.
    again = arena(
        tmp_path / "out", file=file, workloads=["shared"], competitors=names, tune=8, resume=True, callbacks=callbacks
    )
    assert left[1:] == [0]
    assert again.document == found.document


def test_a_workload_that_does_not_allow_a_competitor_is_no_failure(file: Path, tmp_path: Path) -> None:
    file.write_text(ARENA.replace("50 KB", "59 KB").replace('"10 ms" }', '"10 ms", topology.star.buffer = "55 KB" }'))
    found = arena(tmp_path / "out", file=file, competitors=["qcn", "deep"])
    assert not found.failed
    (deep,) = (standing for standing in found.standings["shared"] if standing.competitor.name == "deep")
    assert deep.values == ()
    assert "q_eq" in deep.fault
    assert deep.rank == 2
    assert "deep did not run" in " ".join(prose.of_workload(found.standings["shared"]))


@pytest.mark.parametrize(
    ("old", "new", "line", "key", "message"),
    [
        ('judge = "queue_mean_octets"', 'judge = "queue"', 3, "workload.0.judge", "is not known here"),
        (
            'scenario = "small.toml"',
            'scenario = "smal.toml"',
            3,
            "workload.0.scenario",
            "neither a file nor a scenario",
        ),
        ("duration =", "durashun =", 3, "workload.0.set.durashun", "unknown key"),
        ('of = "a"', 'off = "a"', 10, "workload.1.off", "unknown key"),
        ('judge = "queue_mean_octets"', 'judge = "queue_mean_octets"\nof = "f0"', 3, "workload.0.of", "has no flows"),
        ('name = "finite"', 'name = "shared"', None, "workload", "'shared' appears twice"),
        ('name = "shared"', 'name = "../up"', 3, "workload.0.name", "invalid workload name"),
        ('scheme = "qcn"', 'scheme = "qnc"', 16, "competitor.0.scheme", "'qnc' is not a scheme"),
        ('name = "deep"', 'name = "a;b"', 16, "competitor.0.name", "invalid variant name"),
        (ARENA, "title = 3", None, "title", "is not a text"),
        ('title = "Two small workloads"', 'notes = "a text"', None, "notes", "is not a list of texts"),
        ('name = "finite"', 'name = "finite"\nnote = 3', 10, "workload.1.note", "is not a text"),
        ('title = "Two small workloads"', "speed = 4", None, "speed", "there is none"),
        ('title = "Two small workloads"', 'base = "40g"', None, "base", "no arena of Penstock"),
        ('title = "Two small workloads"', 'base = "10g"\nspeed = 0.5', None, "speed", "is not a whole number"),
        ('title = "Two small workloads"', 'base = "10g"\nwithout = ["qcn-x"]', None, "without", "is no workload or"),
        (ARENA, "", None, "workload", "is missing"),
    ],
)
def test_wrong_files_are_refused_with_their_place(
    old: str, new: str, line: int | None, key: str, message: str, file: Path
) -> None:
    assert old in ARENA
    file.write_text(ARENA.replace(old, new), encoding="utf-8")
    with pytest.raises(ArenaError) as caught:
        read(file)
    assert (caught.value.file, caught.value.line, caught.value.key) == (str(file), line, key)
    assert message in caught.value.message
    assert caught.value.hint


def test_groups_that_a_scenario_does_not_have_are_refused(file: Path) -> None:
    file.write_text(ARENA.replace('of = "a"', 'of = "c"'), encoding="utf-8")
    with pytest.raises(ArenaError) as caught:
        read(file)
    assert (caught.value.key, caught.value.hint) == ("workload.1.of", "known are a, b")


@pytest.mark.parametrize("rate", ["10g", *(pytest.param(rate, marks=pytest.mark.science) for rate in ("100g", "400g"))])
def test_every_scheme_takes_part_in_the_arenas_of_penstock(rate: str) -> None:
    entries = read(rate)
    assert {competitor.scheme for competitor in entries.competitors} == {about["name"] for about in schemes()}
    every = cases_of_all(
        [
            design(
                workload.scenario, (), schemes=[competitor.on(workload.scenario) for competitor in entries.competitors]
            )
            for workload in entries.workloads
        ]
    )
    assert {len(own) for own in every} == {len(entries.competitors)}
    refused = [
        (workload.name, case.scheme, case.fault)
        for workload, own in zip(entries.workloads, every, strict=True)
        for case in own
        if case.fault is not None
    ]
    assert not refused


@pytest.mark.parametrize("rate", OWN)
def test_every_competitor_can_be_tuned_or_has_nothing_to_tune(rate: str) -> None:
    entries = read(rate)
    for competitor in entries.competitors:
        scenario_of_search(competitor, entries.speed).outline()


DERIVED = """\
title = "Ten times as fast"
base = "arena.toml"
speed = 10
without = ["finite"]
set = { topology.star.buffer = "90 KB" }

[[workload]]
name = "shared"
title = "Shared port, fast"
set = { topology.star.link_delay = "2 us" }

[[competitor]]
name = "deep"
scheme = "qcn"
set = { schemes.qcn.q_eq = "70 KB" }
"""


def test_an_arena_on_faster_lines_begins_from_another(file: Path, tmp_path: Path) -> None:
    derived = tmp_path / "fast.toml"
    derived.write_text(DERIVED, encoding="utf-8")
    entries = read(derived)
    (workload,) = entries.workloads
    # Of the base: 1 Gb/s and 10 ms; of the file: the buffer and the delay.
    assert (workload.name, workload.title, entries.speed) == ("shared", "Shared port, fast", 10)
    written = tomllib.loads(workload.scenario.to_toml())
    star = written["topology"]["star"]
    assert (star["link_rate"], star["buffer"], star["link_delay"]) == ("10 Gbps", "90 KB", "2 us")
    assert written["duration"] == "1 ms"
    settings = {one.name: dict(one.settings) for one in entries.competitors if one.scheme == "qcn"}
    # Lengths of queues and rates ten times those of the registry; what the file sets is not scaled.
    assert settings["qcn"] == {
        "schemes.qcn.q_eq": "260 KB",
        "schemes.qcn.rpg_ai_rate": "50 Mbps",
        "schemes.qcn.rpg_hai_rate": "500 Mbps",
        "schemes.qcn.rpg_min_rate": "50 Mbps",
    }
    assert settings["deep"] == {"schemes.qcn.q_eq": "70 KB"}
    assert next(one.about for one in entries.competitors if one.name == "deep") == "QCN with a deeper queue."
    again = Entries.of_document(json.loads(json.dumps(entries.document)))
    assert (again.speed, again.competitors) == (10, entries.competitors)


def test_bursts_and_computation_are_shorter_on_faster_lines() -> None:
    bursts, experts = (faster_workload(Scenario.named(f"arena/{name}"), 10) for name in ("bursts", "experts"))
    # A burst fills the line for a tenth of the time, so that its octets stay; no size is scaled.
    expected = {"duration": "100 us", "spread": "5 us", "gap": "300 us", "end": "4 ms"}
    assert {key: bursts[f"burst.0.{key}"] for key in expected} == expected
    drawn = [experts[f"collective.0.compute.uniform.{key}"] for key in ("minimum", "maximum")]
    assert drawn == ["100 us", "200 us"]
    assert not any("size" in key or "delay" in key for key in (*bursts, *experts))


def test_a_run_on_faster_lines_is_the_run_of_shorter_delays() -> None:
    """Ten times the rate and a tenth of each time: the same frames, each ten times as early."""
    slow = Scenario.from_toml(SMALL, name="small")
    fast = slow.copy()
    for key, value in faster_workload(slow, 10).items():
        fast.set(key, value)
    delay = tomllib.loads(slow.to_toml())["topology"]["star"].get("link_delay", "0 s")
    fast.set("topology.star.link_delay", write_quantity(read_quantity(delay, "s") / 10, "s"))
    before, after = (one.run(scheme="none") for one in (slow, fast))
    assert before.summary["totals"]["frames_delivered"] == after.summary["totals"]["frames_delivered"]


def test_arenas_by_rate_have_one_chip_for_all() -> None:
    for rate, memory in (("100g", 13_945_824), ("400g", 60_817_392)):
        entries = read(rate).of(["incast-16", "incast-256"], ["none", "pfc"])
        for workload in entries.workloads:
            for competitor in entries.competitors:
                (pool,) = _run(workload, competitor, "20 us").summary["pools"]
                total = pool["size_octets"] + pool["headroom_octets"]
                assert 0.98 * memory < total <= memory, (rate, workload.name, competitor.name)


# The memory of each switch, octets, as the arena's notes have it.
MEMORY = {"two-distances-near": 9_000_000, "two-distances-far": 9_000_000, "long-delay": 12_000_000}


def _run(workload: Workload, competitor: Competitor, duration: str) -> Result:
    choice = competitor.on(workload.scenario)
    scenario = (
        choice.of(workload.scenario)
        if isinstance(choice, Variant)
        else Scenario.from_toml(workload.scenario.to_toml(), name=workload.name)
    )
    scenario.set("duration", duration)
    scenario.set("warmup", "0 s")
    return scenario.run(scheme=competitor.scheme)


def test_all_competitors_of_the_arena_have_the_same_memory() -> None:
    entries = read()
    for workload in entries.workloads:
        memory = MEMORY.get(workload.name, 5_100_000)
        words_of_it = "5.1 MB" if workload.name not in MEMORY else f"{memory // 1_000_000} MB"
        assert words_of_it in " ".join(entries.notes), workload.name
        for name in ("none", "pfc", "ci"):
            competitor = next(one for one in entries.competitors if one.name == name)
            pools = _run(workload, competitor, "2 ms").summary["pools"]
            assert pools
            sizes = [pool["size_octets"] + pool["headroom_octets"] for pool in pools]
            # Flow control's headroom differs from switch to switch; where it is largest nearly nothing is left over.
            assert 0.96 * memory < max(sizes) <= memory, (workload.name, name)
            if name == "none" and "[pfc]" not in workload.scenario.to_toml():
                assert set(sizes) == {memory}, workload.name
    for one in entries.competitors:
        brings_pfc = any(key.startswith("pfc.") for key in one.settings)
        assert not brings_pfc or one.settings["buffer.0.ingress_alpha"] == 1.0, one.name


@pytest.mark.parametrize("workload", ["incast-16", "incast-64", "saturation-tree"])
def test_no_queue_is_longer_than_the_memory(workload: str) -> None:
    entries = read().of([workload], ["none", "pfc", "qcn", "dcqcn", "dcqcn-pfc", "ci", "nscc", "nscc-trimming"])
    fullest = {}
    for competitor in entries.competitors:
        summary = _run(entries.workloads[0], competitor, "2 ms").summary
        assert all(queue["max_octets"] <= 5_100_000 for queue in summary["queues"]), competitor.name
        fullest[competitor.name] = max(pool["max_octets"] for pool in summary["pools"])
    assert max(fullest.values()) <= 5_100_000
    # Flow control is not ahead by more memory: it fills what is there, and stops its neighbours.
    assert fullest["pfc"] > 4_000_000
    if workload.startswith("incast"):
        # A queue that is alone has half.
        assert fullest["none"] == pytest.approx(2_550_000, rel=0.01)


def test_the_command_runs_ranks_and_goes_on(penstock: Command, file: Path) -> None:
    listed = penstock("arena", file, "--list", "--json")
    assert [entry["name"] for entry in json.loads(listed.stdout)["workloads"]] == ["shared", "finite"]
    options = (file, "--workloads", "shared", "--competitors", "none,qcn,deep")
    done = penstock("arena", *options)
    assert done.returncode == 0, done.stderr
    assert "Shared port: qcn and deep are first: queue mean" in done.stdout
    assert "report: results/arena/index.html" in done.stdout
    again = penstock("arena", *options)
    assert (again.returncode, "hint: go on with it with --resume" in again.stderr) == (2, True)
    resumed = penstock("arena", *options, "--seeds", "2", "--resume", "--json")
    assert json.loads(resumed.stdout)["seeds"] == 2
    # Of the three, the one without a scheme draws nothing.
    note = "note: nothing in 1 of 3 runs of this workload is drawn: the seeds give the same run"
    assert note in penstock("arena", *options, "--seeds", "2", "--resume").stdout
    for arguments, message in (
        ((file, "--workloads", "shard"), "no workload is called shard"),
        ((file, "--competitors", "qnc"), "no competitor is called qnc"),
        (("nowhere.toml",), "nowhere.toml: no such file"),
    ):
        wrong = penstock("arena", *arguments, "--out", "other")
        assert (wrong.returncode, wrong.stdout) == (2, "")
        assert message in wrong.stderr
        assert "hint: " in wrong.stderr


def _acted(scheme: str, value: float, **numbers: float) -> Standing:
    """Return a standing on an incast of 100 000 frames, judged by ``value``."""
    workload = Workload("one", "One", Scenario.from_toml(SMALL, name="small"), "small", {}, LESS)
    actions = {key: numbers.pop(key) for key in list(numbers) if key.startswith("actions_")}
    actions["frames_sent"] = 100_000
    return Standing(workload, Competitor(scheme, scheme), (value,), 1, 1.0, numbers, last=2, among=3, actions=actions)


def test_reasons_name_what_differs_from_the_best_and_from_the_median() -> None:
    best = _acted("qcn", 1.0, queue_p99_octets=30_000, frames_lost=0, throughput_bps=9e9, empty_fraction=0.0)
    full = _acted("none", 9.0, queue_p99_octets=300_000, frames_lost=5_000, throughput_bps=9e9, timeouts=40)
    idle = _acted("dctcp", 5.0, queue_p99_octets=3_000, frames_lost=0, throughput_bps=6e9, empty_fraction=0.5)
    three = [best, idle, full]
    # Of 100 000 frames 5 000 are lost, and a queue is ten times as long.
    assert reasons.loses(full, three) == (
        "It loses 5.0 % of its frames (qcn: none), and waits for 40 time-outs. "
        "The 99th percentile of its longest queue is 300 KB (qcn: 30 KB)."
    )
    assert reasons.loses(idle, three) == (
        "Its network carries 6 Gb/s (qcn: 9 Gb/s). "
        "Its longest queue is empty for 50.0 % of the time (qcn: 0.0 %), so that the line idles."
    )
    # A trimmed frame counts as lost.
    cut = _acted("ndp", 9.0, queue_p99_octets=12_000, frames_lost=5_000, throughput_bps=9e9, actions_trims=5_000)
    assert reasons.loses(cut, three) == "It loses or trims 5.0 % of its frames (qcn: none)."
    # Negative control: a copy of the best has no reason.
    assert reasons.loses(best, three) == "Queue, loss, pauses and throughput are no worse than those of qcn."
    # The median queue is that of the best, and the median loses nothing.
    assert reasons.wins(best, three) == "Queue, loss and throughput are those of the median competitor."
    assert reasons.wins(idle, three).startswith(
        "The 99th percentile of its longest queue is 3 KB, that of the median 30 KB"
    )


def test_actions_are_counted_in_a_thousand_frames() -> None:
    cut = _acted("qcn", 1.0, actions_notifications=400, actions_cuts=300, actions_raises=2, pause_frames=1_500)
    assert reasons.per_thousand(cut) == {"notifications": 4, "cuts": 3, "raises": 0.02}
    assert reasons.actions(cut) == (
        "In a thousand frames it has 4 notifications, 3 cuts, less than 0.1 raises, 15 pause frames."
    )
    assert reasons.actions(_acted("qcn", 1.0)) == "It did not act at all."
    assert reasons.actions(_acted("none", 1.0)) == ""


def test_ranks_have_intervals_of_those_that_are_not_surely_worse(file: Path, tmp_path: Path) -> None:
    found = arena(tmp_path / "out", file=file, workloads=["shared"], competitors=["none", "qcn", "deep"], seeds=2)
    for standing in found.standings["shared"]:
        others = [one for one in found.standings["shared"] if one is not standing]
        worse = sum(min(one.values) > max(standing.values) for one in others)
        assert (standing.among, standing.last) == (3, 3 - worse)
    assert [total.mean_last for total in found.totals] == [1, 2, 3]
    # One seed: deep differs by less than a hundredth from qcn, and from none, which are further apart.
    one = arena(tmp_path / "one", file=file, workloads=["shared"], competitors=["none", "qcn", "deep"])
    assert [(s.rank, s.last) for s in one.standings["shared"]] == [(1, 2), (1, 3), (2, 3)]


def test_each_competitor_says_whose_settings_it_has() -> None:
    entries = read("100g")
    says = {one.name: provenance(one, entries.workloads) for one in entries.competitors}
    assert all(one.text.endswith(".") for one in says.values())
    assert (says["hpcc"].profile, says["hpcc"].text.count("makers give none")) == ("hpcc-100g", 0)
    assert says["qcn"].text.endswith(
        "Its makers give none for 100 Gb/s: queues have the length that they have at 10 Gb/s in time, and steps and "
        "least rates the same share of the line."
    )
    assert says["none"].text == "There is nothing to set."
    # A scheme with a profile for this rate takes it, or the source says what it has instead.
    for one in entries.competitors:
        known = {profile["name"] for profile in about(one.scheme)["profiles"] if profile["name"].endswith("-100g")}
        if one.name == one.scheme and known:
            assert says[one.name].profile in {*known, "hpcc-100g-paper"}, one.name


def test_settings_that_follow_the_line_are_not_scaled() -> None:
    own = {"schemes.dcqcn.k_min": "4 KB per Gbps", "schemes.dcqcn.k_max": "100 us", "schemes.dcqcn.r_ai": "1 Mbps"}
    faster = faster_scheme("dcqcn", own, 10)
    assert "schemes.dcqcn.k_min" not in faster
    assert "schemes.dcqcn.k_max" not in faster
    assert faster["schemes.dcqcn.r_ai"] == "10 Mbps"
    assert faster_scheme("dcqcn", own, 1) == {}


def test_a_transport_of_a_competitor_is_that_of_all_traffic() -> None:
    entries = read().of(["incast-16", "bursts", "experts"], ["ndp", "qcn"])
    ndp, qcn = sorted(entries.competitors, key=lambda one: one.name)
    for workload, kind in zip(entries.workloads, ("incast", "burst", "collective"), strict=True):
        choice = ndp.on(workload.scenario)
        assert isinstance(choice, Variant)
        (table,) = tomllib.loads(choice.of(workload.scenario).to_toml())[kind]
        assert table["transport"] == {"selective": {"bdp_cap": 0}}
        assert not any("transport" in key for key in getattr(qcn.on(workload.scenario), "settings", {}))


def test_a_job_that_does_not_end_counts_as_not_completed(file: Path, tmp_path: Path) -> None:
    job = '[[workload]]\nname = "job"\nscenario = "arena/experts"\njudge = "job_time_s"\nset = { duration = "LIMIT" }'
    values = {}
    for duration in ("1 ms", "100 ms"):
        file.write_text(f'title = "A job"\n{job.replace("LIMIT", duration)}', encoding="utf-8")
        found = arena(tmp_path / duration, file=file, competitors=["none"])
        (values[duration],) = found.standings["job"][0].values
    assert math.isinf(values["1 ms"])
    # Two layers of 1 ms at least, and twice 3.1 ms for the tokens of the expert.
    assert 8.2e-3 < values["100 ms"] < 30e-3
