"""Displays in a notebook, data frames, comparisons read back, theory from Python, and texts of errors in Python."""

import builtins
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, SMALL, quick

import penstock
from penstock import Comparison, MissingExtraError, OutputError, PenstockError, Result, Scenario, ScenarioError, theory

TEN_GIG = ROOT / "scenarios" / "baseline" / "ten-gig.toml"


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a comparison of two schemes and two seeds."""
    folder = tmp_path_factory.mktemp("compared")
    (folder / "small.toml").write_text(SMALL)
    words = ["compare", "small.toml", "--schemes", "none,qcn", "--seeds", "2", "--set", "duration=2 ms", "--quiet"]
    done = subprocess.run([sys.executable, "-m", "penstock", *words, "--out", "c"], cwd=folder, check=False)
    assert done.returncode == 0
    return folder / "c"


def test_a_figure_shows_itself(result: Result) -> None:
    figure = result.plot(width=4.0)
    data, size = figure._repr_png_()  # type: ignore[attr-defined]
    assert data.startswith(b"\x89PNG")
    # Two pixels of the picture for one of the page.
    assert size["width"] == round(4.0 * 80)
    assert int.from_bytes(data[16:20], "big") == 2 * size["width"]


def test_objects_have_html_with_text_as_text(result: Result) -> None:
    text = SMALL.replace("Do two senders share one port?", "Is 1 < 2 & <script>alert(1)</script>?")
    scenario = Scenario.from_toml(text, name="small")
    assert "&lt;script&gt;" in scenario._repr_html_()
    assert "<script>" not in scenario._repr_html_()
    shown = scenario.set("duration", "1 ms").run()._repr_html_()
    assert "<script>" not in shown
    for word in ("sw0-&gt;h2", "Jain index", "f0", "f1", "Mb/s"):
        assert word in shown
    assert shown.count("<table>") == shown.count("</table>") == 2
    many = Scenario.from_toml(
        SMALL.replace("hosts = 3", "hosts = 22").replace("h0..h1", "h0..h20").replace('"h2"', '"h21"')
    )
    assert "21 flows" in many.set("duration", "1 ms").run()._repr_html_()


def test_frames(result: Result) -> None:
    frame = result.to_pandas("queues")
    assert list(frame.columns) == result.queues.column_names
    assert frame["queue_octets"].max() == result.column("queues", "queue_octets").max()
    assert str(frame["queue"].dtype) == "category"
    other = result.to_polars("rates")
    assert other.shape == (len(result.column("rates", "time_s")), len(result.rates.column_names))
    with pytest.raises(PenstockError, match="no recorded table is called 'queue'; the tables are queues"):
        result.to_pandas("queue")


@pytest.mark.parametrize(
    ("package", "method"), [("pandas", "to_pandas"), ("pyarrow", "to_pandas"), ("polars", "to_polars")]
)
def test_frames_without_their_package(
    result: Result, monkeypatch: pytest.MonkeyPatch, package: str, method: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError) as caught:
        getattr(result, method)("queues")
    extra = method.removeprefix("to_")
    assert str(caught.value) == f"{package} is not installed: pip install 'penstock[{extra}]'"
    assert isinstance(caught.value, ImportError)


def test_a_comparison_is_read_back(compared: Path, tmp_path: Path) -> None:
    comparison = Comparison.open(compared)
    assert comparison.labels == ["none", "qcn"]
    assert [run.summary["seed"] for run in comparison.runs["qcn"]] == [1, 2]
    assert [run.summary["scheme"] for run in comparison.runs["none"]] == ["none", "none"]
    for show in ("compare", "cdf"):
        comparison.plot(tmp_path / f"{show}.png", show=show)
    with pytest.raises(PenstockError, match="no queue was stopped"):
        comparison.plot(show="pauses")
    with pytest.raises(PenstockError, match="the figures are compare, cdf, pauses"):
        comparison.plot(show="queue")
    shown = comparison._repr_html_()
    assert shown.count("<tr>") == 3
    assert "utilisation" in shown
    assert Result.open(compared, run="qcn-seed2").summary["seed"] == 2
    assert Result.open(compared / "qcn-seed2").summary["seed"] == 2
    for asked, said in (
        (None, "is to be named with run=: none-seed1, none-seed2, qcn-seed1, qcn-seed2"),
        ("x", "no run 'x'"),
    ):
        with pytest.raises(OutputError, match=said) as caught:
            Result.open(compared, run=asked)
        assert "Comparison.open" in str(caught.value)
        assert not caught.value.refused
    for damaged in ("", "[]", '{"queue": 1, "schemes": 2}', '{"queue": 1, "schemes": [{}]}'):
        (tmp_path / "compare.json").write_text(damaged)
        with pytest.raises(OutputError, match="not a folder of `penstock compare`"):
            Comparison.open(tmp_path)
        with pytest.raises(OutputError, match="not a folder of `penstock compare`"):
            Result.open(tmp_path)
    with pytest.raises(OutputError, match="not a folder of `penstock compare`"):
        Comparison.open(tmp_path / "nothing")


def test_errors_in_python_speak_of_python() -> None:
    scenario = Scenario.from_toml(SMALL)
    with pytest.raises(ScenarioError) as caught:
        scenario.set("schemes.qcn.q_eqq", "33 KB").describe()
    for text in (str(caught.value), caught.value.message):
        assert "unknown key, as given by set()" in text
        assert "--" not in text
    with pytest.raises(ScenarioError, match=r"as given by set\(\)"):
        scenario.set("flow.7.start", "1 ms")
    many = SMALL + 'repeat = 100000\nevery = "1 ns"\nsize = "1 KB"\n'
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_toml(many).describe()
    for text in (str(caught.value), caught.value.hint or ""):
        assert "limit=" in text
        assert "--" not in text
    wrong: list[dict[str, Any]] = [{"scheme": "timly"}, {"profile": "fast"}, {"seed": 2**63}]
    for given in wrong:
        with pytest.raises(ScenarioError) as caught:
            Scenario.from_toml(SMALL).run(**given)
        for text in (str(caught.value), caught.value.message, caught.value.hint or ""):
            assert "--" not in text
        assert f"as given by {next(iter(given))}=" in caught.value.message
    untunable: list[dict[str, Any]] = [{"against": "ieee-2011"}, {"keys": ["sample_count"]}, {"keys": ["w", "w"]}]
    for arguments in untunable:
        with pytest.raises(theory.UnsuitedScenarioError) as unsuited:
            penstock.tune(quick(), "latency", **arguments)
        assert "--" not in str(unsuited.value)
    with pytest.raises(theory.UnsuitedScenarioError, match='metric="amplitude"'):
        theory.stability_map(Scenario.load(TEN_GIG), "flows=1..4:2", "delay=20us..40us:2", scheme="smcc")


def test_errors_of_commands_speak_of_options(capsys: pytest.CaptureFixture[str]) -> None:
    from penstock.cli.failure import _report

    assert _report("unknown key, as given by set()", 'take metric="amplitude", or limit=27', 2) == 2
    said = capsys.readouterr().err
    assert said == "error: unknown key, as given by --set\nhint: take --metric amplitude, or --limit 27\n"
    assert _report("unknown scheme, as given by scheme=", "another profile: against=NAME", 2) == 2
    said = capsys.readouterr().err
    assert said == "error: unknown scheme, as given by --scheme\nhint: another profile: --against NAME\n"


def test_theory_is_public(tmp_path: Path) -> None:
    assert penstock.theory is theory
    scenario = Scenario.load(TEN_GIG)
    found = theory.margins(scenario, scheme="bcn")
    assert [side.stable for side in found.sides] == [True, True]
    shown = found._repr_html_()
    assert "22.6°" in shown
    assert "phase margin" in shown
    verdicts = theory.sliding_verdicts(Scenario.load(ROOT / "scenarios/sliding-mode/three-sources.toml"))
    assert {verdict.theorem for verdict in verdicts} == {3}
    drawn = theory.stability_map(scenario, "flows=1..4:2", "delay=20us..40us:2", scheme="bcn")
    assert drawn.values.shape == (2, 2)
    drawn.plot(tmp_path / "map.png")
    assert repr(drawn) == "<Map of phase margin, 'bcn': 2 of flows by 2 of round_trip_s>"
    assert drawn._repr_png_()[0].startswith(b"\x89PNG")
    theory.phase_portrait(Scenario.load(ROOT / "scenarios/sliding-mode/three-sources.toml")).savefig(tmp_path / "p.png")
    short = Scenario.load(TEN_GIG).set("warmup", "5 ms").set("duration", "40 ms")
    beside = theory.compare_with_packets(short.set("flow.0.stagger", "0 s"), scheme="bcn")
    beside.plot(tmp_path / "overlay.png")
    assert repr(beside) == f"<Overlay of 'ten-gig' with 'bcn': form {beside.form}, packets of seed 1>"
    assert beside._repr_png_()[0].startswith(b"\x89PNG")
    assert {path.name for path in tmp_path.iterdir()} == {"map.png", "p.png", "overlay.png"}
    for asked, word in (
        ({"metric": "margins"}, "use one of margin"),
        ({"y": "flows=1..2:2"}, "choose two different parameters"),
    ):
        given: dict[str, Any] = {"x": "flows=1..4:2", "y": "delay=20us..40us:2"} | asked
        with pytest.raises(theory.UnsuitedScenarioError, match=word):
            theory.stability_map(scenario, **given)
    with pytest.raises(theory.UnsuitedScenarioError, match="unknown model"):
        theory.sliding_verdicts(scenario, model="paper")  # type: ignore[arg-type]


def test_theory_without_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("penstock.theory.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(vars(theory), "margins", raising=False)
    # The module of this name takes the function's place as it is imported again: that is undone at the end.
    monkeypatch.setattr(theory, "configuration", theory.configuration)
    real = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.partition(".")[0] == "scipy":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=r"scipy is not installed: pip install 'penstock\[theory\]'"):
        _ = theory.margins
