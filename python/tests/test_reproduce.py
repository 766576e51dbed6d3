"""`penstock reproduce`: papers are read and refused, runs are shared, answers become documents and pages."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, SMALL, Command, interrupt
from conftest import paper as paper_of
from typer.testing import CliRunner

from penstock import ArgumentError, OutputError, RunCallbacks, papers, reproduce
from penstock.cli import app
from penstock.reproduction.claim_results import ClaimResult, Scope, answer
from penstock.reproduction.contents import contents
from penstock.reproduction.document import Reproduced, document
from penstock.reproduction.paper import PaperError, load
from penstock.reproduction.plan import Quantity, Run, Wanted, jobs
from penstock.reproduction.verdict import DIFFERS, HOLDS

EXPERIMENT = SMALL.replace('duration = "20 ms"\n', "").replace('[schemes.qcn]\nq_eq = "33 KB"\n', "")
PROFILE = """\
[every]
"schemes.qcn.q_eq" = "33 KB"

[experiment.small]
duration = "20 ms"
"""
CLAIMS = """\
title = "Two senders"
source = "Nobody 2009"

[[figure]]
name = "figure-1"
title = "A queue"

[[claim]]
id = "queue"
figure = "figure-1"
says = "The queue is near 33 KB"
paper = 33000.0
metric = "queue_mean_octets"
with = { queue = "sw0->h2" }
run = { experiment = "small", scheme = "qcn" }
over = "mean"
seeds = 3
test = { within_percent = 40 }
because = "a short run"
control = { scheme = "none" }
short = true

[[claim]]
id = "loss"
figure = "figure-1"
says = "QCN loses less"
paper = "less"
metric = "loss_rate"
run = { experiment = "small", scheme = "qcn" }
against = { experiment = "small", scheme = "none" }
compare = "ratio"
over = "max"
seeds = 2
test = { at_most = 0.5 }
because = "half is less"
control = { scheme = "none" }

[[claim]]
id = "picture"
figure = "figure-1"
says = "It looks well"
paper = "a picture"
untestable = "no numbers in the source"
"""
FIGURES = """\
import matplotlib.pyplot as plt
from penstock.reproduction.drawing import Figures, Source

FIGURES = Figures()


@FIGURES.draw("figure-1", queue=Source.of("small", "qcn", "queue_lengths", queues=["sw0->h2"]))
def figure_1(data):
    '''The queue over time.'''
    figure, axis = plt.subplots()
    (time_s, octets) = data["queue"][0]["sw0->h2"]
    axis.plot(time_s, octets)
    return figure
"""

Write = Callable[..., Path]


@pytest.fixture
def paper(tmp_path: Path) -> Write:
    """Return a function that writes a paper, with one piece of one of its files replaced."""

    def write(file: str = "", before: str = "", after: str = "") -> Path:
        folder = tmp_path / "papers" / "small"
        folder.mkdir(parents=True, exist_ok=True)
        texts = {"small.toml": EXPERIMENT, "profile.toml": PROFILE, "claims.toml": CLAIMS, "figures.py": FIGURES}
        if file:
            assert before in texts[file]
            texts[file] = texts[file].replace(before, after, 1)
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
        return folder

    return write


@pytest.mark.parametrize(
    ("file", "before", "after", "key", "words"),
    [
        ("claims.toml", 'title = "Two senders"\n', "", "title", "missing"),
        ("claims.toml", 'name = "figure-1"', 'name = "fig 1"', "figure.0.name", "not a name"),
        ("claims.toml", 'figure = "figure-1"', 'figure = "figure-2"', "claim queue.figure", "did you mean figure-1"),
        (
            "claims.toml",
            "queue_mean_octets",
            "queue_mean_octet",
            "claim queue.metric",
            "did you mean queue_mean_octets",
        ),
        ("claims.toml", "with = { queue", "with = { queu", "claim queue.with", "it takes queue"),
        ("claims.toml", 'scheme = "qcn" }', 'scheme = "qnc" }', "claim queue.run", "qnc"),
        ("claims.toml", 'experiment = "small"', 'experiment = "smal"', "claim queue.run.experiment", "mean small"),
        ("claims.toml", "within_percent = 40", "near = 40", "claim queue.test.near", "unknown test"),
        ("claims.toml", "paper = 33000.0", 'paper = "33 KB"', "claim queue.test.within_percent", "has to be a number"),
        ("claims.toml", "seeds = 3", "seeds = 0", "claim queue.seeds", "count"),
        ("claims.toml", "seeds = 3", "seeds = [1, 1]", "claim queue.seeds", "count"),
        ("claims.toml", 'over = "mean"', 'over = "average"', "claim queue.over", "not known"),
        ("claims.toml", 'over = "mean"', 'over = "share"', "claim queue.good", "bound"),
        ("claims.toml", 'control = { scheme = "none" }', "control = {}", "claim queue.control", "missing"),
        (
            "claims.toml",
            'control = { scheme = "none" }',
            'control = { scheme = "qcn" }',
            "claim queue.control",
            "asks the same as the claim",
        ),
        ("claims.toml", "short = true", "shrot = true", "claim queue.shrot", "did you mean short"),
        ("claims.toml", 'because = "a short run"\n', "", "claim queue.because", "missing"),
        ("claims.toml", 'id = "loss"', 'id = "queue"', "claim queue", "twice"),
        (
            "claims.toml",
            'scheme = "qcn" }',
            'scheme = "qcn", set = { "schemes.qcn.q_eq" = "30 KB" } }',
            'claim queue.run.set."schemes.qcn.q_eq"',
            "only profile.toml",
        ),
        ("profile.toml", "[experiment.small]", "[experiment.smal]", "experiment.smal", "did you mean small"),
        ("profile.toml", "[every]\n", "[every]\nduration = 5\n", 'experiment.small."duration"', "set it once"),
        ("profile.toml", 'duration = "20 ms"', '"network.node_delay" = "1 us"', None, "same for all experiments"),
        ("profile.toml", "[every]", "[every", None, "not TOML"),
        ("small.toml", 'scheme = "qcn"', 'scheme = "qcn"\nduration = "1 s"', "duration", "never both"),
        ("small.toml", "[topology.star]", "[schemes.none]\n[topology.star]", "schemes", "profile"),
        ("small.toml", "[topology.star]", "[record]\narrivals = true\n[topology.star]", "record", "profile"),
        ("small.toml", "link_rate", "link_rat", "claim queue.run", "link_rat"),
        ("figures.py", '"figure-1"', '"figure-9"', "figure-9", "did you mean figure-1"),
        ("figures.py", '"queue_lengths"', '"queue_length"', "figure-1.metric", "did you mean queue_lengths"),
        ("figures.py", "import matplotlib", "import matplotlibb", None, "cannot be imported"),
        ("figures.py", "FIGURES = Figures()", "FIGURES = Figures(", None, "SyntaxError"),
    ],
)
def test_bad_papers_are_refused(paper: Write, file: str, before: str, after: str, key: str | None, words: str) -> None:
    folder = paper(file, before, after)
    with pytest.raises(PaperError) as caught:
        load(folder)
    error = caught.value
    assert key is None or error.key == key
    assert words in f"{error.message} {error.hint}"
    # A fault in an experiment may show only where a claim asks for a run of it.
    assert Path(error.file).parent == folder


def test_an_error_names_the_line_of_its_claim(paper: Write) -> None:
    with pytest.raises(PaperError) as caught:
        load(paper("claims.toml", 'compare = "ratio"', 'compare = "rate"'))
    line = CLAIMS.splitlines().index('id = "loss"')
    assert caught.value.line == line, "that of [[claim]], counted from 1"


def test_no_paper(tmp_path: Path) -> None:
    with pytest.raises(PaperError, match="not a paper"):
        load(tmp_path)


def test_runs_are_shared() -> None:
    run, other = Run.of("small", "qcn"), Run.of("small", "qcn", {"b": 1, "a": 2})
    assert other == Run.of("small", "qcn", {"a": 2, "b": 1})
    mean = Quantity.of("queue_mean_octets", {"queue": "sw0->h2"})
    loss = Quantity.of("loss_rate")
    wanted = [Wanted(run, mean, (1, 2)), Wanted(run, loss, (2, 3)), Wanted(run, mean, (2,)), Wanted(other, loss, (1,))]
    found = {(job.run, job.seed): list(job.quantities) for job in jobs(wanted)}
    assert found == {(run, 1): [mean], (run, 2): [mean, loss], (run, 3): [loss], (other, 1): [loss]}


def test_claims_and_controls_ask_for_runs(paper: Write) -> None:
    small = load(paper())
    scope = Scope(("figure-1",), drawn=False)
    runs = {(job.run.scheme, job.seed) for job in jobs(scope.wanted(small))}
    assert runs == {("qcn", 1), ("qcn", 2), ("qcn", 3), ("none", 1), ("none", 2)}
    short = Scope(("figure-1",), short=True, drawn=False)
    assert {(job.run.scheme, job.seed) for job in jobs(short.wanted(small))} == {("qcn", 1)}
    assert [claim.id for claim in short.claims(small)] == ["queue", "picture"]
    controls = Scope(("figure-1",), short=True, controls=True, drawn=False)
    assert {(job.run.scheme, job.seed) for job in jobs(controls.wanted(small))} == {("qcn", 1), ("none", 1)}


def answers(folder: Path, loss_qcn: float) -> list[ClaimResult]:
    """ClaimResult the small paper's claims from numbers that are made up."""
    small = load(folder)
    scope = Scope(("figure-1",), controls=True, drawn=False)
    made_up = {("queue_mean_octets", "qcn"): 30_000.0, ("queue_mean_octets", "none"): 60_000.0}
    made_up |= {("loss_rate", "qcn"): loss_qcn, ("loss_rate", "none"): 0.4}
    values = {
        (want.run, want.quantity, seed): made_up[want.quantity.metric, want.run.scheme] + seed
        if want.quantity.metric == "queue_mean_octets"
        else made_up[want.quantity.metric, want.run.scheme]
        for want in scope.wanted(small)
        for seed in want.seeds
    }
    return [answer(claim, scope, values) for claim in scope.claims(small)]


def test_answers_by_hand(paper: Write) -> None:
    queue, loss, picture = answers(paper(), loss_qcn=0.3)
    assert (queue.judgement.verdict, queue.spreads[0].value) == (HOLDS, 30_002.0)
    # 0.3 / 0.4 = 0.75, over the bound of 0.5 by 0.25, which is half of it.
    assert (loss.judgement.verdict, loss.judgement.why) == (DIFFERS, "0.25 above 0.5 (50.0% of it)")
    assert picture.judgement.why == "no numbers in the source"
    assert queue.control_fails and loss.control_fails and picture.control_fails


def test_a_distance_of_samples(paper: Write) -> None:
    folder = paper("claims.toml", 'compare = "ratio"', 'compare = "distance"')
    small = load(folder)
    claim = next(claim for claim in small.claims if claim.id == "loss")
    assert claim.testable is not None
    assert "at a distance from that of small with none" in claim.testable.metric
    # All of 1, 2 against all of 2, 4: each half of the distribution is moved, by 1 and by 2, on average by 1.5.
    samples = {"qcn": np.array([1.0, 2.0]), "none": np.array([2.0, 4.0])}
    values = {
        (want.run, want.quantity, seed): samples[want.run.scheme]
        for want in claim.testable.question.wanted((1, 2))
        for seed in want.seeds
    }
    found = answer(claim, Scope(("figure-1",)), values)
    assert (found.judgement.verdict, found.spreads[0].value) == (DIFFERS, 1.5)


def test_the_document(paper: Write) -> None:
    folder = paper()
    replies = tuple(answers(folder, loss_qcn=0.1))
    found = document([Reproduced(load(folder), ("figure-1",), replies, Scope(("figure-1",)), {})])
    assert found["totals"] == {"claims": 3, "holds": 2, "differs": 0, "untestable": 1}
    (entry,) = found["papers"]
    assert (entry["name"], [figure["name"] for figure in entry["figures"]]) == ("small", ["figure-1"])
    first, _, last = entry["figures"][0]["claims"]
    assert list(first) == ["id", "metric", "paper", "ours", "spread", "tolerance", "verdict", "why"]
    assert (first["paper"], first["ours"], first["tolerance"]) == (33_000.0, 30_002.0, "19800 to 46200")
    assert first["spread"] == {"seeds": 3, "low": 30_001.0, "high": 30_003.0, "std": 1.0}
    assert (last["ours"], last["spread"], last["verdict"]) == (None, None, "cannot be tested")


def test_a_control_that_holds_is_told(paper: Write) -> None:
    folder = paper("claims.toml", 'control = { scheme = "none" }', "control = { scaled = 1.01 }")
    queue, *_ = answers(folder, loss_qcn=0.1)
    assert not queue.control_fails


def test_the_function_answers_in_memory_and_writes_when_asked(
    paper: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paper()
    monkeypatch.chdir(tmp_path)
    (listed,) = papers()
    planned: list[int] = []
    found = reproduce(listed.name, controls=True, callbacks=RunCallbacks(planned=planned.append))
    # QCN and, for the control, none, with three seeds each.
    assert (found.path, found.toothless, planned) == (None, (), [6])
    # QCN keeps 55.8 KB in so short a run, above 33 KB and 40 per cent of it, and loses a third as much as none.
    assert found.totals == {"claims": 3, "holds": 1, "differs": 1, "untestable": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["papers"]
    assert found.plot("small", "figure-1", tmp_path / "figure.svg").axes
    assert "1 hold, 1 differ" in found._repr_html_() and "loss" in found._repr_html_()

    written = found.write("report")
    assert (written.path, written.undrawn) == (Path("report"), {})
    assert json.loads(Path("report/reproduce.json").read_text()) == found.document()
    # The report has the same figure, and the same answers as one that is written at once.
    assert Path("report/small/figure-1.svg").read_bytes() == Path("figure.svg").read_bytes()
    again = reproduce("papers/small", controls=True, out="again")
    assert again.document() == found.document()
    assert Path("again/small.html").read_bytes() == Path("report/small.html").read_bytes()
    with pytest.raises(OutputError):
        found.write("report")


@pytest.mark.parametrize(
    ("arguments", "words", "hint"),
    [
        ({"paper": "smal"}, "smal: unknown paper", "did you mean small?"),
        ({"figure": "1"}, "1: unknown figure of small", "did you mean figure-1?"),
        ({"reading": {"schemes.bcn.q_eq": "1 KB"}}, 'reading="schemes.bcn.q_eq": no run uses this key', "NAME"),
    ],
)
def test_the_function_refuses_what_is_not_there(
    paper: Write,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: dict[str, Any],
    words: str,
    hint: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ArgumentError, match="there is no paper below"):
        papers()
    with pytest.raises(ArgumentError, match="there is no paper below"):
        reproduce("small")
    paper()
    with pytest.raises(ArgumentError) as caught:
        reproduce(**arguments)
    assert caught.value.message == words
    assert hint in caught.value.hint


def test_a_figure_that_nothing_draws_is_refused(paper: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (paper() / "figures.py").unlink()
    monkeypatch.chdir(tmp_path)
    found = reproduce("small", short=True)
    for names, words in (
        (("small", "figure-1"), "draws none"),
        (("large", "figure-1"), "unknown paper"),
    ):
        with pytest.raises(ArgumentError, match=words):
            found.plot(*names)


def test_the_function_keeps_nothing_of_what_was_interrupted(
    paper: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paper()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        reproduce("small", out="report", callbacks=RunCallbacks(stopped=lambda: True))
    assert [path.name for path in tmp_path.iterdir()] == ["papers"]


def test_command(paper: Write, penstock: Command, tmp_path: Path) -> None:
    paper()
    listed = penstock("reproduce", "--list")
    assert listed.returncode == 0
    assert "Two senders" in listed.stdout and "figure-1" in listed.stdout
    done = penstock("reproduce", "small", "--json", "--controls", "--out", "out")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["totals"]["claims"] == 3
    assert json.loads((tmp_path / "out" / "reproduce.json").read_text()) == found
    page = (tmp_path / "out" / "small.html").read_text()
    assert "<svg" in page and "The queue over time." in page and "http" not in page.partition("<body>")[0]
    assert "small.html" in (tmp_path / "out" / "index.html").read_text()
    # The scenarios of the report are whole: each runs as it is.
    scenario = next((tmp_path / "out" / "small" / "scenarios").glob("*.toml"))
    assert penstock("run", scenario, "--no-figures", "--out", "again").returncode == 0

    assert penstock("reproduce", "small", "--out", "out").returncode == 2
    again = penstock("reproduce", "small", "figure-1", "--short", "--out", "out", "--force", "--quiet")
    assert (again.returncode, again.stdout) == (0, "")


def test_command_on_what_is_not_there(paper: Write, penstock: Command, tmp_path: Path) -> None:
    assert penstock("reproduce").returncode == 2
    paper("claims.toml", "seeds = 3", "seeds = -1")
    bad = penstock("reproduce", "small")
    assert bad.returncode == 2
    assert "claims.toml:8: claim queue.seeds" in bad.stderr and "hint:" in bad.stderr
    paper()
    assert "did you mean small?" in penstock("reproduce", "smal").stderr
    assert "did you mean figure-1?" in penstock("reproduce", "small", "1").stderr
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").touch()
    foreign = penstock("reproduce", "small", "--out", "mine", "--force")
    assert foreign.returncode == 2
    assert "reproduce.json is missing" in foreign.stderr and "hint:" in foreign.stderr
    assert "Traceback" not in foreign.stderr
    assert not list(tmp_path.glob("results/*"))


def test_another_reading(paper: Write, penstock: Command, tmp_path: Path) -> None:
    paper()
    asked = "reproduce", "small", "--json", "--out", "out", "--force"
    (queue, *_), (fuller, *_) = (
        json.loads(penstock(*asked, *sets).stdout)["papers"][0]["figures"][0]["claims"]
        for sets in ((), ("--set", "schemes.qcn.q_eq=60 KB"))
    )
    assert fuller["ours"] > queue["ours"], "the profile's 33 KB give way"
    assert "schemes.qcn.q_eq = 60 KB" in (tmp_path / "out" / "small.html").read_text()

    for wrong, message in (
        ("schemes.qcn.q_eq", "not of the form KEY=VALUE"),
        ("schemes.qcn.q_egg=1 KB", "q_egg"),
        ("schemes.bcn.q_eq=1 KB", "no run uses this key"),
    ):
        refused = penstock(*asked, "--set", wrong)
        assert refused.returncode == 2 and message in refused.stderr, refused.stderr


def test_a_metric_that_fails_is_a_failure(paper: Write, penstock: Command, tmp_path: Path) -> None:
    folder = paper("claims.toml", 'metric = "queue_mean_octets"', 'metric = "broken"')
    (folder / "metrics.py").write_text("def broken(result, queue):\n    return 1 / 0\n")
    done = penstock("reproduce", "small", "--out", "out")
    assert done.returncode == 1
    assert "small with qcn, seed" in done.stderr and "ZeroDivisionError" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["papers"], "nothing half-written is left"


def test_interrupted(paper: Write, tmp_path: Path) -> None:
    folder = paper("profile.toml", 'duration = "20 ms"', 'duration = "100000 s"\n"record.interval" = "100 ms"')
    out = tmp_path / "results" / "report"
    status, stdout, stderr = interrupt(["reproduce", str(folder), "--json"], out)
    assert (status, stdout) == (130, "")
    assert "interrupted" in stderr
    assert not list(out.parent.iterdir())


def test_a_toothless_control_is_a_failure(paper: Write, penstock: Command) -> None:
    folder = paper("claims.toml", 'control = { scheme = "none" }', "control = { scaled = 1.01 }")
    claims = folder / "claims.toml"
    claims.write_text(claims.read_text().replace("within_percent = 40", "within_percent = 90"))
    done = penstock("reproduce", "small", "--controls", "--short", "--quiet")
    assert done.returncode == 1
    assert "small: queue: the negative control does not fail this claim" in done.stderr


PAPERS = sorted(path.parent for path in (ROOT / "papers").glob("*/claims.toml"))


@pytest.mark.parametrize("folder", PAPERS, ids=lambda path: path.name)
def test_papers_are_whole(folder: Path) -> None:
    whole = paper_of(folder.name)
    assert (folder / "README.md").is_file()
    unknown = set(whole.drawings.entries) - {figure.name for figure in whole.figures}
    assert not unknown
    # The report says why a claim cannot be tested.
    assert all(claim.untestable or claim.testable for claim in whole.claims)


# The others take ten seconds to minutes, also in their short form.
BRIEF = ("efecn",)


@pytest.mark.parametrize(
    "folder",
    [pytest.param(at, marks=[] if at.name in BRIEF else pytest.mark.science, id=at.name) for at in PAPERS],
)
def test_short_form_of_the_papers(folder: Path, penstock: Command, tmp_path: Path) -> None:
    # Claims may differ; that a run fails, or that a negative control does not fail its claim, is an error.
    done = penstock("reproduce", folder, "--short", "--controls", "--json", "--out", tmp_path / "report")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["totals"]["claims"] > 0


def test_a_list_runs_no_code_of_a_paper(paper: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = paper()
    (folder / "metrics.py").write_text("raise SystemExit('run')\n")
    (folder / "figures.py").write_text(FIGURES + "\nraise SystemExit('run')\n")
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["reproduce", "--list", "--json"])
    assert done.exit_code == 0, done.output
    (entry,) = json.loads(done.stdout)
    assert entry["figures"] == [
        {"name": "figure-1", "title": "A queue", "claims": ["queue", "loss", "picture"], "drawn": True}
    ]


@pytest.mark.parametrize("name", sorted(path.parent.name for path in (ROOT / "papers").glob("*/claims.toml")))
def test_contents_are_those_of_the_paper(name: str) -> None:
    listed, loaded = contents(ROOT / "papers" / name), paper_of(name)
    assert (listed.name, listed.title, listed.figures) == (loaded.name, loaded.title, loaded.figures)
    assert listed.drawn == set(loaded.drawings.entries)
    assert [claim for claims in listed.claims.values() for claim in claims] == [
        claim.id for figure in loaded.figures for claim in loaded.claims if claim.figure == figure.name
    ]


def test_a_figure_that_fails_loses_no_run(paper: Write, tmp_path: Path) -> None:
    folder = paper("figures.py", "    figure, axis = plt.subplots()\n", "    raise ValueError('no ink')\n")
    done = CliRunner().invoke(app, ["reproduce", str(folder), "--short", "--out", str(tmp_path / "out"), "--json"])
    assert done.exit_code == 1
    assert "error: small: figure-1 could not be drawn: ValueError: no ink" in done.stderr
    assert json.loads((tmp_path / "out" / "reproduce.json").read_text()) == json.loads(done.stdout)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("seeds = 3", "seeds = 1000000000"),
        ("paper = 33000.0", f"paper = 1{'0' * 400}"),
        ("within_percent = 40", f"within_percent = 1{'0' * 400}"),
        ("within_percent = 40", f"within_percent = {'9' * 5000}"),
        ("seeds = 3", f"seeds = {'[' * 3000}1{']' * 3000}"),
    ],
)
def test_numbers_without_end_are_refused(paper: Write, before: str, after: str) -> None:
    with pytest.raises(PaperError):
        load(paper("claims.toml", before, after))
