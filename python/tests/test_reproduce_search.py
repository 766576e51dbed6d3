"""`penstock reproduce PAPER --search`: the reading that claims were made under is found, and no other wins."""

import json
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, SMALL, Command, interrupt

from penstock import ArgumentError, RunCallbacks, Search, reproduce, search_readings
from penstock.reproduction import search
from penstock.reproduction.paper import PaperError, load
from penstock.reproduction.readings import Space, space
from penstock.reproduction.search import EVIDENCE
from penstock.reproduction.trials import JOURNAL, Journal

EXPERIMENT = SMALL.replace('duration = "20 ms"\n', "").replace('[schemes.qcn]\nq_eq = "33 KB"\n', "")
PROFILE = """\
[every]
"schemes.qcn.q_eq" = "33 KB"
"schemes.qcn.sampling" = "count"
"schemes.qcn.sample_count" = 20

[experiment.small]
duration = "8 ms"
"""
TRUTH = {"schemes.qcn.q_eq": "20 KB", "schemes.qcn.w": "8"}
READINGS = """\
seeds = 1

[[choice]]
name = "set-point"
open = "section 2 names no set point"
schemes = ["qcn"]
[choice.readings.low]
every = { "schemes.*.q_eq" = "20 KB" }
[choice.readings.middle]
every = { "schemes.*.q_eq" = "26 KB" }
[choice.readings.high]
every = { "schemes.*.q_eq" = "33 KB" }

[[choice]]
name = "weight"
open = "section 2 names no weight"
[choice.readings.two]
[choice.readings.four]
every = { "schemes.qcn.w" = 4 }
[choice.readings.eight]
every = { "schemes.qcn.w" = 8 }

[[choice]]
name = "wide"
open = "section 3 says queue, and not from when on"
[choice.readings.all]
[choice.readings.later]
metric.frames_queued = { from_s = 0.004 }
"""
METRICS = """\
from penstock.metrics.samples import queue_mean_octets


def frames_queued(result, unit=1500, from_s=None):
    return queue_mean_octets(result, "sw0->h2", from_s) / unit
"""


def claim(name: str, figure: int, metric: str, paper: float, more: str = "") -> str:
    """Return a row of claims.toml that holds where the number is the paper's."""
    return f"""
[[claim]]
id = "{name}"
figure = "figure-{figure}"
says = "the number of {name}"
paper = {paper!r}
metric = "{metric}"
run = {{ experiment = "small", scheme = "qcn" }}
seeds = 2
test = {{ within_percent = 0.001 }}
because = "runs repeat"
control = {{ scaled = 2.0 }}
{more}"""


QUANTITIES = {
    "queue": ("queue_mean_octets", 'with = { queue = "sw0->h2" }'),
    "deviation": ("queue_std_octets", 'with = { queue = "sw0->h2" }'),
    "rate": ("mean_rate_bps", 'with = { flow = "f0" }'),
    "messages": ("feedback_rate", ""),
    "frames": ("frames_queued", ""),
    "other-rate": ("mean_rate_bps", 'with = { flow = "f1" }'),
}


def write(folder: Path, numbers: dict[tuple[str, int], float], readings: str = READINGS) -> Path:
    """Write a paper whose claims have these numbers, by quantity and figure."""
    folder.mkdir(parents=True, exist_ok=True)
    figures = sorted({figure for _, figure in numbers})
    rows = [f'[[figure]]\nname = "figure-{figure}"\ntitle = "a figure"\n' for figure in figures]
    for (quantity, figure), number in numbers.items():
        metric, more = QUANTITIES[quantity]
        rows.append(claim(f"{quantity}-{figure}", figure, metric, number, more))
    (folder / "claims.toml").write_text('title = "Two senders"\nsource = "Nobody 2009"\n\n' + "\n".join(rows))
    (folder / "small.toml").write_text(EXPERIMENT)
    (folder / "profile.toml").write_text(PROFILE)
    (folder / "metrics.py").write_text(METRICS)
    (folder / "readings.toml").write_text(readings)
    return folder


def measured(tmp_path: Path, reading: dict[str, Any], *, later: bool = False, seeds: int = 2) -> dict[str, float]:
    """Return every quantity as it is under a reading, the mean of the seeds."""
    folder = write(tmp_path / "measured", {(name, 1): 1.0 for name in QUANTITIES})
    claims = folder / "claims.toml"
    claims.write_text(claims.read_text().replace("seeds = 2", f"seeds = {seeds}"))
    if later:
        with (folder / "profile.toml").open("a") as profile:
            profile.write("\n[metric.frames_queued]\nfrom_s = 0.004\n")
    (entry,) = reproduce(folder, reading=reading).papers
    return {answer.claim.id.removesuffix("-1"): answer.spreads[0].value for answer in entry.answers}


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """Return a paper whose claims were made under another reading than the profile's: a number or two a figure."""
    truth = measured(tmp_path, TRUTH, later=True)
    figures = {"queue": 1, "deviation": 2, "rate": 3, "messages": 4, "frames": 2, "other-rate": 1}
    numbers = {(name, figure): truth[name] for name, figure in figures.items()}
    # Under any reading the metric of one figure's claim has an option, so that this figure must be in both halves.
    return write(tmp_path / "planted", numbers | {("frames", 3): truth["frames"]})


def test_a_profile_gives_metrics_arguments(tmp_path: Path) -> None:
    whole, later = measured(tmp_path, {}), measured(tmp_path, {}, later=True)
    assert whole["queue"] == later["queue"]
    assert whole["frames"] == pytest.approx(whole["queue"] / 1500)
    assert later["frames"] != whole["frames"]


@pytest.mark.parametrize("whole", [256, 1], ids=["every reading", "step by step"])
def test_the_planted_reading_is_found(
    planted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: int
) -> None:
    monkeypatch.setattr(search, "_WHOLE", whole)
    found = search_readings(planted, tmp_path / "out")
    assert found.tested == (4, 3, 0)
    assert found.profile == (0, 0, 0)
    winner = found.winner
    assert winner is not None
    assert winner.changes == {"set-point": "low", "weight": "eight", "wide": "later"}
    assert (winner.fitted + winner.unseen, len(winner.gained), winner.lost) == (7, 7, ())
    assert all(fit.wins for fit in found.fits)
    # Half 2 has the number that the metric's option decides; so has half 1, in its figure 3.
    assert [fit.unjudged for fit in found.fits] == [(), ()]


def test_a_reading_that_wins_where_it_was_fitted_alone_does_not_win(tmp_path: Path) -> None:
    low, own = measured(tmp_path, {"schemes.qcn.q_eq": "20 KB"}), measured(tmp_path, {})
    numbers = {("queue", 1): low["queue"], ("deviation", 3): low["deviation"], ("messages", 5): own["messages"]}
    numbers |= {("queue", 2): own["queue"], ("rate", 4): own["rate"]}
    found = search_readings(write(tmp_path / "split", numbers), tmp_path / "out")
    assert found.profile == (1, 2, 0)
    one, two = found.fits
    assert (one.changes, one.fitted, one.unseen, one.wins) == ({"set-point": "low"}, 2, 0, False)
    assert (two.changes, two.fitted, two.unseen, two.wins) == ({}, 2, 1, False), "the profile wins ties"
    assert found.winner is None
    assert one.gained == ("queue-1", "deviation-3")
    assert one.lost == ("messages-5", "queue-2", "rate-4")
    assert found.alone["set-point", "low"] == (2, 0)


def test_a_change_that_the_other_half_does_not_judge_is_named(tmp_path: Path) -> None:
    truth = measured(tmp_path, TRUTH, later=True)
    numbers = {(name, figure): truth[name] for name, figure in (("queue", 1), ("rate", 2), ("frames", 3))}
    found = search_readings(write(tmp_path / "planted", numbers), tmp_path / "out")
    one, two = found.fits
    assert one.changes == {"set-point": "low", "weight": "eight", "wide": "later"}
    assert (one.wins, one.unjudged) == (True, ("wide",)), "figure 2 has no number of that metric"
    assert two.changes == {"set-point": "low", "weight": "eight"}
    assert (two.wins, two.unjudged) == (True, ())


def test_a_start_is_gone_on_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Three choices at once decide all numbers, so that no one or two of them lead from the profile to the truth.
    monkeypatch.setattr(search, "_WHOLE", 1)
    truth = measured(tmp_path, {**TRUTH, "schemes.qcn.sample_count": "10"})
    numbers = {("queue", 1): truth["queue"], ("deviation", 2): truth["deviation"], ("rate", 3): truth["rate"]}
    every = '[choice.readings.{}]\nevery = {{ "schemes.qcn.sample_count" = {} }}\n'
    count = '[[choice]]\nname = "count"\nopen = "section 4"\n' + every.format("one", 20) + every.format("two", 10)
    start = '[start.other]\nset-point = "low"\nweight = "eight"\n'
    folder = write(tmp_path / "small", numbers, READINGS + count)
    assert search_readings(folder, tmp_path / "alone").winner is None
    write(folder, numbers, READINGS.replace("seeds = 1\n", f"seeds = 1\n{start}") + count)
    winner = search_readings(folder, tmp_path / "alone").winner
    assert winner is not None
    assert winner.changes == {"set-point": "low", "weight": "eight", "count": "two"}


def test_what_one_seed_found_and_all_do_not_is_taken_back(tmp_path: Path) -> None:
    one, both = (measured(tmp_path, {"schemes.qcn.q_eq": "20 KB"}, seeds=seeds)["rate"] for seeds in (1, 2))
    assert abs(one / both - 1) > 1e-4, "more than the claims allow"
    own = measured(tmp_path, {}, seeds=1)["rate"]
    found = search_readings(write(tmp_path / "lucky", {("rate", 1): one, ("rate", 2): own}), tmp_path / "out")
    assert found.alone["set-point", "low"] == (1, 0), "the search's one seed"
    assert [fit.changes for fit in found.fits] == [{}, {}]


class Counting:
    """Counts runs, and ends all after ``most`` of them."""

    def __init__(self, most: int = 10_000) -> None:
        self.done = 0
        self._most = most

    def callbacks(self) -> RunCallbacks:
        """Return the callbacks."""

        def end() -> None:
            self.done += 1

        return RunCallbacks(done=end, stopped=lambda: self.done >= self._most)


def searched(folder: Path, out: Path, counting: Counting) -> Search:
    return search_readings(folder, out, callbacks=counting.callbacks(), workers=1)


def test_a_killed_search_goes_on_and_repeats_no_run(planted: Path, tmp_path: Path) -> None:
    whole = Counting()
    at_once = searched(planted, tmp_path / "at-once", whole)
    # Nine scenarios with one seed, and some of them with the second: the metric's option takes no run.
    assert 9 < whole.done <= 18

    first = Counting(most=4)
    with pytest.raises(KeyboardInterrupt):
        searched(planted, tmp_path / "out", first)
    journal = tmp_path / "out" / JOURNAL
    assert len(journal.read_text().splitlines()) == first.done
    # A process that is killed may leave a part of a line.
    with journal.open("a") as file:
        file.write('["0123", [1.0,')
    rest = Counting()
    found = searched(planted, tmp_path / "out", rest)
    assert first.done + rest.done == whole.done
    assert found.document() == at_once.document()

    again = Counting()
    assert searched(planted, tmp_path / "out", again).document() == at_once.document()
    assert again.done == 0

    # Other metrics: nothing that was kept is an answer.
    metrics = planted / "metrics.py"
    metrics.write_text(metrics.read_text().replace("unit=1500", "unit=1000"))
    others = Counting()
    searched(planted, tmp_path / "out", others)
    assert others.done > 0


def test_no_two_searches_in_one_folder(planted: Path, tmp_path: Path) -> None:
    with Journal(tmp_path / "out"), pytest.raises(ArgumentError, match="another search is at work"):
        search_readings(planted, tmp_path / "out")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").touch()
    with pytest.raises(ArgumentError, match="holds no search"):
        search_readings(planted, tmp_path / "mine")


@pytest.mark.parametrize(
    ("before", "after", "line", "key", "words"),
    [
        ("seeds = 1", "seeds = 0", None, "seeds", "whole number"),
        ("seeds = 1", "changed = 3", None, "changed", "from 1 to 2"),
        ("seeds = 1", 'aside = ["figure-9"]', None, "aside", "did you mean figure-"),
        ("seeds = 1", 'aside = ["figure-1", "figure-2", "figure-3"]', None, "aside", "fewer than two figures"),
        ("seeds = 1", "start.other = { wieght = 'four' }", None, "start.other.wieght", "did you mean weight"),
        ("seeds = 1", "start.other = { weight = 'five' }", None, "start.other.weight", "not known here"),
        ("seeds = 1", "sides = 1", None, "sides", "did you mean aside"),
        ('open = "section 2 names no weight"', "", 14, "choice weight.open", "missing"),
        ('name = "weight"', 'name = "set-point"', 14, "choice set-point.name", "its own name"),
        ('schemes = ["qcn"]', "", 3, 'choice set-point.readings.low.every."schemes.*.q_eq"', "no scheme"),
        ('schemes = ["qcn"]', 'schemes = "qcn"', 3, "choice set-point.schemes", "list of schemes"),
        ("[choice.readings.two]", "", 14, "choice weight.readings", "no reading is that of profile.toml"),
        ('"schemes.*.q_eq" = "26 KB"', '"schemes.*.q_eq" = "33 KB"', 3, "choice set-point.readings", "two readings"),
        ('"schemes.qcn.w" = 4', '"schemes.qcn.w" = "many"', 14, "choice weight.readings.four", "schemes.qcn.w"),
        (
            '"schemes.qcn.w" = 4',
            '"schemes.qcn.q_eq" = "4 KB"',
            14,
            "choice weight.readings",
            "also set by choice set-point",
        ),
        (
            'every = { "schemes.qcn.w" = 4 }',
            'experiment.small = { "topology.star.buffer" = "90 KB" }',
            14,
            'choice weight.readings.four."topology.star.buffer"',
            "stated in small.toml",
        ),
        (
            'every = { "schemes.qcn.w" = 4 }',
            'experiment.smal = { duration = "9 ms" }',
            14,
            "choice weight.readings.four.experiment.smal",
            "did you mean small",
        ),
        ("frames_queued =", "frames_queue =", 23, "choice wide.readings.later.metric.frames_queue", "frames_queued"),
        ("from_s = 0.004", "from = 1", 23, "choice wide.readings.later.metric.frames_queued.from", "from_s"),
        ("[choice.readings.later]", "[choice.reading.later]", 23, "choice wide.reading", "did you mean readings"),
    ],
)
def test_bad_readings_are_refused_with_their_place(
    tmp_path: Path, before: str, after: str, line: int | None, key: str, words: str
) -> None:
    assert before in READINGS
    numbers = {("queue", 1): 1.0, ("rate", 2): 1.0, ("messages", 3): 1.0}
    folder = write(tmp_path / "small", numbers, READINGS.replace(before, after, 1))
    with pytest.raises(PaperError) as refused:
        space(load(folder))
    error = refused.value
    assert (error.file, error.line, error.key) == (str(folder / "readings.toml"), line, key)
    assert words in f"{error.message}; {error.hint}"


def test_command(planted: Path, penstock: Command, tmp_path: Path) -> None:
    done = penstock("reproduce", planted, "--search")
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "results" / "reproduce-planted-search"
    assert f"put it into {planted / 'profile.toml'}" in " ".join(done.stdout.split())
    assert "half 1: figure-1, figure-3" in done.stderr
    evidence = tomllib.loads((folder / EVIDENCE).read_text())
    assert evidence["half_2"] == ["figure-2", "figure-4"]
    assert [fit["changes"] for fit in evidence["fit"]] == [
        {"set-point": "low", "weight": "eight", "wide": "later"} for _ in range(2)
    ]
    assert evidence["alone"]["weight = eight"] == [0, 0]
    again = penstock("reproduce", planted, "--search", "--json")
    assert again.returncode == 0
    assert json.loads(again.stdout)["claims"] == [4, 3, 0]

    for wrong, message in (
        ([str(planted), "figure-1", "--short"], "--search goes without FIGURE, --short"),
        ([], "--search needs a paper"),
        ([str(tmp_path / "planed")], "name a paper's folder"),
    ):
        refused = penstock("reproduce", *wrong, "--search")
        assert refused.returncode == 2 and message in refused.stderr, refused.stderr
    (planted / "readings.toml").write_text(READINGS.replace("seeds = 1", "seeds = true"))
    refused = penstock("reproduce", planted, "--search")
    assert refused.returncode == 2 and "readings.toml: seeds" in refused.stderr and "hint:" in refused.stderr


def test_interrupted(planted: Path, tmp_path: Path) -> None:
    profile = planted / "profile.toml"
    profile.write_text(profile.read_text().replace("8 ms", "100000 s") + '"record.interval" = "100 ms"\n')
    out = tmp_path / "results" / "search"
    status, stdout, stderr = interrupt(["reproduce", str(planted), "--search"], out, hidden=False)
    assert (status, stdout) == (130, "")
    assert f"the runs that had finished are in {out}" in stderr and "the same command goes on" in stderr
    assert [path.name for path in out.iterdir()] == [JOURNAL]


DECLARED = sorted(path.parent for path in (ROOT / "papers").glob("*/readings.toml"))


@cache
def space_of(folder: Path) -> Space:
    """Return the readings of a paper, which takes seconds: every reading has to be legal in every run."""
    return space(load(folder))


@pytest.mark.science
@pytest.mark.parametrize("folder", DECLARED, ids=lambda path: path.name)
def test_readings_of_the_papers_are_legal(folder: Path) -> None:
    assert space_of(folder).size > 1


@pytest.mark.science
@pytest.mark.parametrize("folder", [f for f in DECLARED if (f / EVIDENCE).is_file()], ids=lambda path: path.name)
def test_evidence_is_of_these_readings(folder: Path) -> None:
    found, evidence = space_of(folder), tomllib.loads((folder / EVIDENCE).read_text())
    assert evidence["paper"] == folder.name
    assert (evidence["half_1"], evidence["half_2"]) == tuple(list(half) for half in found.halves)
    assert set(evidence["own"]) == {choice.name for choice in found.choices}
    known = {choice.name: {a.name for a in choice.alternatives} for choice in found.choices}
    for fit in evidence["fit"]:
        assert all(reading in known[choice] for choice, reading in fit["changes"].items())
    # The profile is what it was, or a winner has replaced it.
    taken = [evidence["own"], *({**evidence["own"], **fit["changes"]} for fit in evidence["fit"] if fit["wins"])]
    assert found.names(found.own) in taken
