"""The documentation's formulas, the pages of the cores, and the navigation's pages."""

import base64
import html
import json
import re
import shlex
import zlib
from argparse import Namespace
from inspect import signature
from pathlib import Path

import command_pages
import front_page
import generate_docs
import lab_links
import markdown
import paper_searches
import pytest
import yaml
from conftest import ROOT
from key_page import all_keys
from mathml import formula, on_page_content
from scheme_names import uses_table
from typer.core import TyperGroup
from typer.main import get_command

from penstock import Scenario, _core, wire
from penstock.cli import app
from penstock.metrics.registry import COMPARED, METRICS
from penstock.metrics.samples import offered
from penstock.metrics.values import MetricFunction

PAGES = sorted([*(ROOT / "docs").rglob("*.md"), *(ROOT / "crates/schemes/src").glob("*/page.md")])


def rendered(text: str) -> str:
    """Return a page as the site has it."""
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    extensions, settings = [], {}
    for entry in config["markdown_extensions"]:
        name, own = next(iter(entry.items())) if isinstance(entry, dict) else (entry, {})
        extensions.append(name)
        settings[name] = own
    return on_page_content(markdown.markdown(text, extensions=extensions, extension_configs=settings))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_formulas_become_mathml(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    shown = rendered(text)
    assert "arithmatex" not in shown
    prose = re.sub(r"<(code|pre).*?</\1>|<math.*?</math>", "", shown, flags=re.DOTALL)
    assert "$$" not in prose
    assert not re.search(r"\\(frac|text|alpha|begin|cdot)", html.unescape(prose))
    if "$$" in text:
        assert shown.count('<div class="formula"><math') == text.count("$$") // 2
    # A star behind a letter begins no emphasis.
    assert not re.search(r"\w<em>[,. ]", prose)


def test_stability_has_its_equilibrium() -> None:
    shown = rendered((ROOT / "docs/explanation/theory/stability.md").read_text(encoding="utf-8"))
    (paragraph,) = re.findall(r"<p>In equilibrium the queue.*?</p>", shown, re.DOTALL)
    assert "<em>" not in paragraph
    assert "<msup><mi>q</mi>" in paragraph


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_symbols_in_running_text_are_formulas(page: Path) -> None:
    text = re.sub(
        r"^(```.*?^```|#.*?$)|`[^`]*`|\$\$.*?\$\$|\$[^$]*\$|!?\[[^\]]*\]\([^)]*\)",
        "",
        page.read_text("utf-8"),
        flags=re.M | re.S,
    )
    plain = re.search(r"<sub>|\|Fb\||\bFb\b|\bR[ab]\b|\bR_[A-Z]|ΔQ|√|(?<!\w)[αβ](?!\w)|\b[qp]\*|\b[abx][0-2]\b", text)
    assert plain is None, (
        f"{plain[0]!r} is to be written between dollar signs: {text[plain.start() - 40 : plain.end() + 40]!r}"
    )


def test_primes_bars_and_words_are_set_as_usual() -> None:
    prime = '<mo lspace="0" rspace="0">′</mo>'
    assert f"<mi>x</mi>{prime}" in formula("x' = y", block=False)
    assert f"<msub><mi>F</mi><mi>b</mi></msub>{prime}" in formula("F_b'", block=False)
    assert "<msub><mi>Q</mi><mi>off</mi></msub>" in formula("Q_{off}", block=False)
    assert "<mi>q</mi><mo>∗</mo>" in formula("q^*", block=False)
    assert formula("|x|", block=False).count('lspace="0" rspace="0">|</mo>') == 2


def test_a_formula_that_is_not_understood_ends_the_build() -> None:
    for tex, word in ((r"\foo x", "foo"), (r"\begin{aligned} x &= y \end{aligned}", "&")):
        with pytest.raises(ValueError, match=f"{word} is not known"):
            formula(tex, block=True)


def test_pages_of_cores_are_reachable(tmp_path: Path) -> None:
    generate_docs.core_pages(tmp_path)
    made = {path.stem for path in (tmp_path / "reference/cores").glob("*.md")}
    assert made == {"conventions"} | {path.parents[1].name for path in (ROOT / "rtl").glob("*/doc/README.md")}
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    pages = str(generate_docs.expand(nav, tmp_path))
    for page in tmp_path.rglob("*.md"):
        assert page.relative_to(tmp_path).as_posix() in pages
        # Every link leads to a page that is there.
        outside = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
        for target in re.findall(r"\]\(([^)#]+)", outside):
            assert target.startswith("http") or (page.parent / target).is_file(), (page.name, target)
    assert "(cores/qcn_rp.md)" in generate_docs.cores()


def test_public_names_have_their_page() -> None:
    page = generate_docs.python_api()
    for name in ("Comparison.open", "Result.plot", "Result.to_pandas", "Scenario.named", "theory.margins", "scenarios"):
        assert f"`{name}`\n" in page
    assert "theory.MarginReport" in page


def test_every_key_stands_on_one_page_with_its_whole_name() -> None:
    reference = json.loads(_core.reference())
    page = all_keys(reference)
    assert page.count("\n| `") == len(reference)
    for name in ("schemes.qcn.q_eq", "pfc.watchdog.after", "topology.star.buffer", "flow.rate", "duration"):
        assert page.count(f"\n| `{name}` |") == 1, name


def test_each_command_has_an_example_or_a_reason() -> None:
    commands = {" ".join(words) for words in command_pages.named(app)}
    groups = {name for name in commands if any(other.startswith(f"{name} ") for other in commands)}
    assert {*command_pages.EXAMPLES, *command_pages.WITHOUT} == commands - groups
    assert not command_pages.EXAMPLES.keys() & command_pages.WITHOUT.keys()
    assert command_pages.BEFORE.keys() <= command_pages.EXAMPLES.keys()
    for name, command in command_pages.EXAMPLES.items():
        assert command.startswith(f"penstock {name}"), name
        understood(shlex.split(command)[1:])


def test_a_long_output_is_cut() -> None:
    lines = [f"{i} " for i in range(command_pages.MOST_LINES)]
    assert command_pages.cut("\n".join(lines)).splitlines() == [line.strip() for line in lines]
    cut = command_pages.cut("\n".join([*lines, "more"])).splitlines()
    assert len(cut) == command_pages.MOST_LINES and cut[-1] == "…" and cut[0] == "0"


def test_a_metric_of_the_registry_reaches_summaries_comparisons_and_claims() -> None:
    metrics = offered()
    assert "drop_rate" in {key for entry in json.loads(_core.objects()) for key in (k["name"] for k in entry["keys"])}
    assert list(signature(metrics["drop_rate"]).parameters) == ["result", "queue"]
    assert {"queue_mean_octets", "flows_left"} < {metric.name for metric in COMPARED}
    assert list(signature(metrics["queue_mean_octets"]).parameters) == ["result", "queue", "from_s", "to_s"]
    functions = {metric.name for metric in METRICS if metric.source == "function"}
    # The engine has these; the others have more arguments, and are functions of the package.
    source = (ROOT / "crates/runner/src/measures.rs").read_text(encoding="utf-8")
    for name in functions:
        assert isinstance(metrics[name], MetricFunction) == (f'"{name}" =>' in source), name


def test_the_recipe_for_a_wire_format_is_followed_by_the_code() -> None:
    page = (ROOT / "docs/how-to/add-a-wire-format.md").read_text(encoding="utf-8")
    steps = re.findall(r"^`(\S+)`:\n\n```\w+\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)
    assert [file for file, _ in steps] == ["crates/wire/src/experimental.rs", "crates/wire/src/lib.rs"]
    for file, code in steps:
        assert code in (ROOT / file).read_text(encoding="utf-8"), f"{file} does not have {code}"
    # The end of the path: a frame as the page encodes it.
    values = dict(word.split("=") for word in re.findall(r"penstock wire encode rocc (.*) --out", page)[0].split())
    decoded = wire.decode(wire.encode("rocc", values))["rocc"]
    assert {name: str(getattr(decoded, name)) for name in values} == values


def test_each_overlay_has_a_link_to_the_run_that_it_draws(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("")
    monkeypatch.setattr(lab_links, "PAGE", tmp_path)
    assert [path.name for path in PAGES if lab_links.overlays(path.read_text("utf-8"))] == ["fluid-models.md"]
    page = Path("explanation/theory/fluid-models.md")
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    opened = {}
    for name, octets in re.findall(
        r"images/theory/([\w-]+)\.svg\)\n\n<a href=\"../../lab/index.html#s=([\w-]+)\">",
        lab_links.with_runs(text, page, {}),
    ):
        state = json.loads(
            zlib.decompress(base64.urlsafe_b64decode(octets + "=" * (-len(octets) % 4)), -zlib.MAX_WBITS)
        )
        opened[name] = Scenario.from_toml(state["text"]).outline()
    assert {name: (own["scheme"], own["duration_s"]) for name, own in opened.items()} == {
        "overlay-smcc": ("smcc", 0.3),
        "overlay-qcn": ("qcn", 1.0),
    }
    qcn = opened["overlay-qcn"]["schemes"][0]["parameters"]
    assert (qcn["sampling"], qcn["qold_update"]) == ("count", "every-sample")


def test_the_page_on_papers_has_a_row_for_each_reading_that_was_searched() -> None:
    rows = paper_searches.searches(ROOT / "papers")
    searched = sorted(path.parent.name for path in (ROOT / "papers").glob("*/search.toml"))
    assert [row[0] for row in rows if row[0]] == [f"`{name}`" for name in searched]
    assert len(rows) == 3 * len(searched) and {len(row) for row in rows} == {len(paper_searches.HEAD)}
    assert sum(row[-1] == "yes" for row in rows) > 0


def test_the_front_page_has_no_proof_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = tmp_path / "reproduce.json"
    ran.write_text(json.dumps({"totals": {"claims": 12, "holds": 7, "differs": 3, "untestable": 2}}), encoding="utf-8")
    page, paper = tmp_path / "README.md", tmp_path / "paper.md"
    for name, file in (("README", page), ("PAPER", paper)):
        file.write_text(getattr(front_page, name).read_text(encoding="utf-8"), encoding="utf-8")
        monkeypatch.setattr(front_page, name, file)

    assert front_page.main(Namespace(check=True, claims=ran)) == 1
    assert front_page.main(Namespace(check=False, claims=ran)) == 0
    assert "**7 of 10 claims**" in page.read_text(encoding="utf-8")
    assert re.search(r"Of 10 claims .* 7 hold", paper.read_text(encoding="utf-8"))
    assert front_page.main(Namespace(check=True, claims=ran)) == 0


def test_uses_of_schemes_are_short_where_nearly_all_have_them() -> None:
    schemes = [
        {"name": f"s{i}", "capture": i > 0, "testbed": i == 2, "cores": [], "fluid": i, "tuned": 1} for i in range(4)
    ]
    rows = uses_table(schemes, lambda name: f"{name}.md").splitlines()[2:]
    assert rows[0].endswith("| 4 | [`s0`](s0.md), [`s1`](s1.md), [`s2`](s2.md), [`s3`](s3.md) |")
    assert rows[1].endswith("| 3 | all but `s0` |")
    assert rows[2].endswith("| 1 | `s2` |")
    assert rows[3].endswith("| 0 |  |")


SHELL = re.compile(r"^```(?:sh|console|bash|)\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMANDS = sorted(
    {
        line
        for page in [ROOT / "README.md", *PAGES, *(ROOT / "papers").glob("*/README.md")]
        for block in SHELL.findall(page.read_text(encoding="utf-8"))
        for shown in block.replace("\\\n", " ").splitlines()
        for line in [re.sub(r"^(\$ )?(sudo )?(\.venv/bin/)?", "", shown)]
        if line.startswith("penstock ") and "--version" not in line
    }
)


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_of_the_pages_are_understood(command: str) -> None:
    words = shlex.split(command, comments=True)[1:]
    ends = [words.index(end) for end in ("|", "&&", ">", "2>") if end in words]
    understood(words[: min(ends, default=None)])


def test_a_command_that_is_not_understood_is_found() -> None:
    with pytest.raises(Exception, match="No such option"):
        understood(["run", "baseline/ten-gig", "--sed", "2"])
    with pytest.raises(Exception, match="No such command"):
        understood(["runn", "baseline/ten-gig"])


def understood(words: list[str]) -> None:
    """Parse the words of a command, without running it."""
    command = get_command(app)
    context = command.context_class(command, info_name="penstock")
    while isinstance(command, TyperGroup) and words:
        _, found, words = command.resolve_command(context, words)
        assert found is not None
        command, context = found, found.context_class(found, info_name="penstock", parent=context)
    command.parse_args(context, words)
