"""Reports: one file that loads nothing, with verdict, evidence and origin; and the option `--report`."""

import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, SMALL, Command

from penstock import Result, Scenario, __version__, compare, library, reports
from penstock.reports.differences import differences
from penstock.reports.page import seeds_in_words

TABLE = "# speed cable size xon xoff threshold\n200000 5m 18432 0 139264 -3\n400000 300m 18432 0 180224 -3\n"
FABRIC = ["new", "rack", "--fabric", "--leaves", "2", "--spines", "1", "--hosts", "2", "--cable", "host=5m,spine=300m"]

VOID = {"meta", "br", "img"}
LOADS = {"src", "href", "srcset", "data", "poster", "action", "background", "xlink:href"}


class _Page(HTMLParser):
    """A report, read: its elements must nest, and what it would load is collected.

    Attributes:
        texts: for each element of interest, by name, its texts.
        loaded: addresses that a browser would follow by itself, but for parts of the page.
        pictures: the number of drawings and pictures.
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: dict[str, list[str]] = {}
        self.loaded: list[str] = []
        self.ids: list[str] = []
        self.pictures = 0
        self.scripts = 0
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.pictures += tag in ("svg", "img")
        self.scripts += tag in ("script", "iframe", "object", "embed", "link")
        self.ids += [given["id"] or ""] if "id" in given else []
        self.loaded += [value or "" for key, value in attrs if key in LOADS and not (value or "#").startswith("#")]
        if tag not in VOID:
            self.open.append(tag)
            self.texts.setdefault(tag, []).append("")
            self.texts.setdefault(f"{tag}.{given.get('class') or ''}", []).append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        for tag in set(self.open):
            self.texts[tag][-1] += data


def read(path: Path) -> _Page:
    """Read a report, and check the rules that each one keeps."""
    text = path.read_text(encoding="utf-8")
    page = _Page(text)
    assert page.scripts == 0
    assert all(address.startswith("data:image/png;base64,") for address in page.loaded), page.loaded
    assert not re.search(r"@import|url\((?!#)", text)
    assert len(page.ids) == len(set(page.ids))
    assert f"Penstock {__version__}" in text
    return page


def sha256(path: Path) -> str:
    """Return the hash of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_run_has_its_numbers_its_file_and_its_seed(penstock: Command, small: Path) -> None:
    done = penstock("run", str(small), "--seed", "7", "--out", "out", "--report", "run.html")
    assert (done.returncode, done.stderr.splitlines()[-1]) == (0, "report: run.html")
    page = read(small.parent / "run.html")
    text = " ".join(page.texts["dd"])
    assert sha256(small) in text and " 7 " in f" {text} "
    assert "penstock run" in text and "--seed 7" in text
    assert page.pictures == 2
    # The file itself is the appendix.
    assert page.texts["pre"] == [SMALL]
    # The terminal and the page have the same queues.
    cells = page.texts["td"]
    row = next(line for line in done.stdout.splitlines() if line.startswith("sw0->h2"))
    assert all(cell in cells for cell in re.split(r" {2,}", row.strip()))


def test_the_same_result_gives_the_same_octets(result: Result) -> None:
    outline = Scenario.from_toml(SMALL).outline()
    assert reports.html(reports.of_run(result, outline)) == reports.html(reports.of_run(result, outline))


def test_settings_beside_the_file_are_named(penstock: Command, small: Path) -> None:
    arguments = ["--set", "duration=10 ms", "--no-figures", "--out", "out", "--report", "r.html", "--quiet"]
    done = penstock("run", str(small), *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    page = read(small.parent / "r.html")
    assert page.pictures == 0
    # The hash is the file's; the text has the value that ran.
    assert sha256(small) in " ".join(page.texts["dd"]) and "Set beside the file: duration" in " ".join(page.texts["dd"])
    assert 'duration = "10 ms"' in page.texts["pre"][0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "small.toml", "--report", "r.pdf"], "--report r.pdf: unknown type of file"),
        (["run", "small.toml", "--report", "there.html"], "--report there.html: the file exists"),
        (["compare", "small.toml", "--schemes", "none,qcn", "--report", "there.html"], "the file exists"),
        (["tune", "small.toml", "--goal", "latency", "--report", "there.html"], "the file exists"),
        (["headroom", "--table", "t.ini", "--report", "there.html"], "the file exists"),
        (["check", "c.json", "--report", "there.html"], "the file exists"),
        (["run", "small.toml", "--report", "new.html", "--scheme", "qnc"], 'unknown scheme "qnc"'),
        (["headroom", "small.toml", "--report", "new.html"], "no [pfc]"),
        (["headroom", "--table", "small.toml", "--report", "new.html"], "small.toml"),
        (["check", "small.toml", "--report", "new.html"], "no format is known"),
    ],
)
def test_wrong_input_writes_nothing(penstock: Command, small: Path, arguments: list[str], message: str) -> None:
    folder = small.parent
    (folder / "there.html").write_text("mine")
    (folder / "t.ini").write_text(TABLE)
    (folder / "c.json").write_text("{}")
    before = sorted(folder.iterdir())
    done = penstock(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert sorted(folder.iterdir()) == before
    assert (folder / "there.html").read_text() == "mine"


def test_names_are_text_and_never_tags(small: Path) -> None:
    hostile = '<script>alert("1")<b> & "'
    scenario = Scenario.from_toml(SMALL.replace("Do two senders share one port?", "a < b & <i>c</i>?"), name=hostile)
    report = reports.of_run(
        scenario.run(),
        scenario.outline(),
        sources=[reports.Source.of_scenario(scenario)],
        command="penstock run '<x>' & '</style>'",
        pictures=False,
    )
    path = small.parent / "hostile.html"
    reports.write(report, path)
    page = read(path)
    assert page.texts["h1"][0].startswith(hostile)
    assert "a < b & <i>c</i>?" in page.texts["p"]
    assert "penstock run '<x>' & '</style>'" in page.texts["code"]


def test_a_comparison_has_old_and_new_and_the_victim(small: Path) -> None:
    victim = '\n[[flow]]\nname = "victim"\nfrom = "h3"\nto = "h2"\ntraffic = "constant"\nrate = "10 Mbps"\n'
    text = SMALL.replace("hosts = 3", "hosts = 4").replace('from = "h0..h1"', 'name = "in0..in1"\nfrom = "h0..h1"')
    scenario = Scenario.from_toml(text + victim, name="incast")
    found = compare(scenario, vary={"schemes.qcn.q_eq": ["20 KB", "33 KB"]}, seeds=[1, 2, 3, 9])
    report = reports.of_comparison(found)
    (settings,) = report.sections[0].parts
    assert isinstance(settings, reports.Table)
    assert settings.rows == [("schemes.qcn.q_eq", "20 KB", "33 KB")]
    assert report.title == "incast"
    measured = [line["queue_mean_octets"]["mean"] for line in found.document["schemes"]]
    assert measured[0] < measured[1] and "rises from" in report.verdict
    path = small.parent / "c.html"
    reports.write(report, path)
    page = read(path)
    assert "1 to 3, 9" in page.texts["dd"]
    assert "victim" in page.texts["td"]
    assert page.pictures == 2


def test_lines_without_a_difference_are_not_put_in_order(small: Path) -> None:
    # Four seeds of the same scenario under two names differ by nothing.
    scenarios = [Scenario.from_toml(SMALL, name=name) for name in ("a", "b")]
    verdict = reports.of_comparison(compare(scenarios, seeds=2)).verdict
    assert "shows no difference" in verdict and "rises" not in verdict


def test_headroom_of_a_fabric_and_a_table(penstock: Command, tmp_path: Path) -> None:
    assert penstock(*FABRIC).returncode == 0
    (tmp_path / "t.ini").write_text(TABLE)
    done = penstock("headroom", "rack.toml", "--table", "t.ini", "--json", "--report", "h.html")
    assert done.returncode == 0 and done.stdout.startswith("{")
    page = read(tmp_path / "h.html")
    # The need of 400 Gb/s and 300 m, in cells of 256, is that of the page on headroom: 685 056 octets.
    assert page.texts["p.answer differs"] and "lacks most: 505\N{NO-BREAK SPACE}KB of 685" in " ".join(page.texts["p"])
    assert {sha256(tmp_path / "rack.toml"), sha256(tmp_path / "t.ini")} <= {*re.findall(r"\w{64}", str(page.texts))}
    assert page.pictures == 2
    # A fabric that reserves what it needs is enough; a second report of the name needs --force.
    done = penstock("headroom", "rack.toml", "--report", "h.html", "--force")
    assert read(tmp_path / "h.html").texts["p.answer holds"]
    done = penstock("headroom", "--table", "t.ini", "--cell", "256", "--report", "rows.html")
    assert "t.ini: 1 of 2 rows are below the need" in " ".join(read(tmp_path / "rows.html").texts["p"])


def test_a_check_names_line_and_remedy(penstock: Command, tmp_path: Path) -> None:
    assert penstock(*FABRIC).returncode == 0
    assert penstock("export", "rack.toml", "out", "--to", "sonic").returncode == 0
    config = tmp_path / "out/leaf0.config_db.json"
    arguments = ["check", str(config), "--fabric", "rack.toml", "--force", "--report", "k.html"]
    assert penstock(*arguments).returncode == 0
    assert read(tmp_path / "k.html").texts["p.answer holds"]
    config.write_text(config.read_text().replace('"xoff": "685056"', '"xoff": "180224"'))
    done = penstock(*arguments)
    assert done.returncode == 1
    (line,) = re.findall(r":(\d+): error", done.stdout)
    page = read(tmp_path / "k.html")
    assert page.texts["p.answer differs"] and f"an error in line {line}, " in " ".join(page.texts["p"])
    assert {line, "write 685056"} <= {*page.texts["td"]}
    assert sha256(config) in " ".join(page.texts["dd"])


@pytest.mark.science
def test_a_tuning_has_parameters_old_and_proposed(penstock: Command, tmp_path: Path) -> None:
    from conftest import QUICK

    pytest.importorskip("optuna")
    (tmp_path / "quick.toml").write_text(QUICK)
    command = ["tune", "quick.toml", "--goal", "latency", "--keys", "w=1..4,q_eq=8 KB..20 KB", "--trials", "8"]
    done = penstock(*command, "--seeds", "1", "--verdict-seeds", "2", "--out", "t.toml", "--report", "t.html")
    assert done.returncode == 0, done.stderr
    page = read(tmp_path / "t.html")
    assert {"schemes.qcn.w", "schemes.qcn.q_eq", "phase margin"} <= {*page.texts["td"]}
    assert "Parameters, old and proposed" in page.texts["h2"]
    proposed = "proposal" in page.texts["th"]
    assert proposed == ("proposal" in done.stdout)


def test_keys_that_differ_are_found_at_any_depth() -> None:
    a = 'name = "a"\nscheme = "x"\n[schemes.x]\nk = 1\n[[flow]]\nrate = "1 Gbps"\nto = ["h1", "h2"]\n'
    b = 'name = "b"\nscheme = "y"\n[schemes.y]\nk = 2\n[[flow]]\nrate = "2 Gbps"\nto = ["h1", "h2"]\nlive = true\n'
    table = differences({"old": a, "new": b})
    # Parameters of schemes that one side alone runs are not listed, and equal keys are not.
    assert table.rows == [("scheme", "x", "y"), ("flow.0.rate", "1 Gbps", "2 Gbps"), ("flow.0.live", None, "true")]
    assert differences({"old": a, "new": a}).rows == []


def test_columns_of_numbers_are_known() -> None:
    rows: list[list[Any]] = [["3 of a kind", "1.2 KB", "-3 %", "h1", None], ["b", "-", "+0.5", "5 m", "7"]]
    assert reports.Table(["", "a", "b", "c", "d"], rows).numeric == (False, True, True, False, True)
    assert reports.Table(["a", "b"], [["x", reports.Mark("7", True)]]).numeric == (False, False)
    # A word among numbers leaves them numbers; a column without any value is like them.
    assert reports.Table(["a", "b", "c"], [["x", "26 KB", "-"], ["y", "none", None], ["z", "2", ""]]).numeric[1:] == (
        True,
        True,
    )


def test_wide_tables_stand_in_parts_with_their_names() -> None:
    # Columns of 10 + 2, and of 8 + 2 letters each.
    table = reports.Table(["name", "a", "b", "c"], [["n" * 10, *["1" * 8] * 3]], title="above", note="below")
    assert table.letters == (12, 10, 10, 10)
    first, second = table.fitting(32)
    assert (first.head, first.title, first.note) == (["name", "a", "b"], "above", "")
    assert (second.head, second.title, second.note) == (["name", "c"], "", "below")
    assert second.rows == [["n" * 10, "1" * 8]]
    assert [part.head for part in table.fitting(42)] == [["name", "a", "b", "c"]]
    # A sentence is broken, and counts as 28 letters.
    assert reports.Table(["", "found"], [["a", "x" * 200]]).letters == (3, 30)
    turned = reports.Table(["x", "a", "b"], [["p", "1", "2"], ["q", "3", "4"]]).turned()
    assert (turned.head, turned.rows) == (["x", "p", "q"], [["a", "1", "3"], ["b", "2", "4"]])


def test_a_deadlock_comes_first() -> None:
    scenario = Scenario.load(library.OURS / "deadlock/leaf-spine.toml").set("duration", "1 ms")
    report = reports.of_run(
        scenario.run(), scenario.outline(), sources=[reports.Source.of_scenario(scenario)], pictures=False
    )
    assert report.good is False and report.verdict.startswith("A deadlock stopped 4 ports; no frame was lost")
    # The file is part of the package, wherever that is installed; its hash is there to compare.
    (source,) = report.sources
    assert source.name == "deadlock/leaf-spine of Penstock" and source.settings == ("duration",)
    assert source.sha256 == sha256(ROOT / "scenarios/deadlock/leaf-spine.toml")


def test_seeds_in_words() -> None:
    assert seeds_in_words([4, 1, 2, 3, 9, 9]) == "1 to 4, 9"
    assert seeds_in_words([]) == ""


def test_the_example_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs/how-to/write-a-report.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "write-a-report.md", "exec"), {})
    assert read(tmp_path / "results/four-sources.html").pictures == 1


def test_a_large_drawing_becomes_a_picture_inside_the_page(tmp_path: Path) -> None:
    from matplotlib.figure import Figure

    def draw() -> Figure:
        figure = Figure()
        axes = figure.subplots()
        # Points at random are not simplified: an element of each.
        axes.plot([n * 37 % 1009 for n in range(20_000)], [n * 91 % 997 for n in range(20_000)], "o")
        return figure

    shown = reports.picture(draw, "many points", "points")
    assert shown.source.startswith("data:image/png;base64,")
    report = reports.Report(title="t", kind="k", verdict="v", sections=[reports.Section("s", [shown])])
    reports.write(report, tmp_path / "p.html")
    assert read(tmp_path / "p.html").pictures == 1


def test_trials_have_a_report(penstock: Command, tmp_path: Path) -> None:
    """Answers first, then the setting that differs, a section and a figure for each trial, hashes of all scenarios."""
    assert penstock(*FABRIC).returncode == 0
    asked = ("what-if", "rack.toml", "--duration", "300 us", "--storm", "h0", "--deadlock", "--seeds", "1")
    done = penstock(*asked, "--set", "pfc.quanta=1000", "--report", "change.html")
    assert done.returncode == 0, done.stderr
    page = read(tmp_path / "change.html")
    assert page.texts["h2"][:2] == ["Answers", "Settings that differ"]
    assert {"as-is", "storm-h0", "deadlock", "Fabric"} <= set(page.texts["h2"])
    text = " ".join(page.texts["td"] + page.texts["p"])
    assert "when h0 sends a storm of pauses for half of the time" in text
    assert "pfc.quanta" in text
    assert "65535" in text
    assert page.pictures == 4
    whole = (tmp_path / "change.html").read_text(encoding="utf-8")
    folder = tmp_path / "results" / "rack-what-if"
    scenarios = list(folder.glob("*.toml"))
    assert len(scenarios) == 6
    for file in (tmp_path / "rack.toml", *scenarios):
        assert sha256(file) in whole
    # A report that is there is kept, and nothing runs.
    again = penstock(*asked, "--out", "other", "--report", "change.html")
    assert (again.returncode, (tmp_path / "other").exists()) == (2, False)
