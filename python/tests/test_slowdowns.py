"""Slowdowns of a comparison, by size and over seeds: in `compare.json`, in the command's table, in a notebook."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import Command
from test_flow_completions import LOAD, PLAIN

from penstock import Comparison, Result, Scenario, compare
from penstock.cli.report import print_comparison
from penstock.metrics.registry import COMPARED
from penstock.metrics.seeds import SLOWDOWNS, Measured, by_size, in_words, measure, spread, spreads, written
from penstock.quantity_text import ratio
from penstock.summary import CompletionSummary

ALL = (None, 0, None)
SMALL = (None, 0, 10_000)
LARGE = (None, 10_000_001, None)


def completion_line(
    sizes: tuple[str | None, int, int | None], slowdown: float | None, flows: int = 10, completed: int = 8
) -> CompletionSummary:
    """Return the slowdowns of flows, the 99th percentile ten times the mean."""
    group, least, most = sizes
    return {
        "group": group,
        "least_octets": least,
        "most_octets": most,
        "flows": flows,
        "completed": completed,
        "slowdown_mean": slowdown,
        "slowdown_p50": slowdown,
        "slowdown_p95": slowdown,
        "slowdown_p99": None if slowdown is None else 10 * slowdown,
        "slowdown_p999": slowdown,
    }


def run(*completions: CompletionSummary) -> Measured:
    return Measured(
        {m.name: None for m in COMPARED}, {"settling_time_s": 0, "completion_time_s": 0}, 0, {}, [*completions]
    )


def lines(number: int, *completions: CompletionSummary) -> list[dict[str, Any]]:
    """Return a number of lines of a comparison, each of one run."""
    entry = {"scenario": "s", "seeds": [1], **spreads([run(*completions)])}
    return [{"label": f"l{i}", **entry} for i in range(number)]


def printed(entries: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return what the command prints from the table of slowdowns on."""
    print_comparison({"scenario": "s", "question": "q", "queue": None, "schemes": entries}, Path("no-such-folder"))
    out = capsys.readouterr().out
    return out[out.index("slowdown: ") :].splitlines()


def test_each_number_has_its_spread_over_the_seeds() -> None:
    first = run(completion_line(ALL, 2.0), completion_line(SMALL, 1.0, flows=4, completed=4))
    second = run(completion_line(ALL, 4.0, flows=20, completed=20), completion_line(SMALL, 3.0, flows=6, completed=4))
    whole, small = spreads([first, second])["completions"]
    assert (whole["group"], whole["least_octets"], whole["most_octets"]) == ALL
    # Two values differ from their mean by half their distance: the deviation of the sample is that times the root of 2.
    assert whole["slowdown_mean"] == spread([2.0, 4.0])
    assert whole["slowdown_mean"]["std"] == pytest.approx(2**0.5)
    assert whole["slowdown_p99"]["mean"] == 30.0
    assert whole["flows"] == spread([10, 20])
    assert whole["flows"]["std"] == pytest.approx(5 * 2**0.5)
    assert (whole["flows_left"]["min"], whole["flows_left"]["max"]) == (0, 2)
    assert (small["most_octets"], small["slowdown_p50"]["mean"], small["flows_left"]["mean"]) == (10_000, 2.0, 1)


def test_a_seed_without_flows_of_a_size_has_none_of_them_and_no_slowdown() -> None:
    first = run(completion_line(ALL, 2.0), completion_line(SMALL, 2.0), completion_line(("web", 0, None), 2.0))
    second = run(
        completion_line(ALL, 3.0),
        completion_line(LARGE, None, flows=2, completed=0),
        completion_line(("web", 0, None), 3.0),
    )
    found = spreads([first, second])["completions"]
    # Sizes rise, though the first seed has no large flow, and groups come last.
    assert [in_words((one["group"], one["least_octets"], one["most_octets"])) for one in found] == [
        "all",
        "all, to 10 KB",
        "all, above 10 MB",
        "web",
    ]
    _, small, large, _ = found
    assert (small["flows"]["mean"], small["flows"]["min"], small["slowdown_mean"]["mean"]) == (5, 0, 2.0)
    assert small["slowdown_mean"]["std"] is None
    assert (large["flows"]["mean"], large["completed"]["mean"], large["slowdown_p99"]["mean"]) == (1, 0, None)
    assert "completions" not in spreads([run(), run()])


def test_a_comparison_has_the_sizes_of_its_summaries(tmp_path: Path) -> None:
    compared = compare(Scenario.from_toml(LOAD), ["none", "qcn"], seeds=2, out=tmp_path / "out")
    for entry, runs in zip(compared.document["schemes"], compared.runs.values(), strict=True):
        summaries = [one.summary["completions"] for one in runs]
        assert entry["completions"][0]["slowdown_p99"] == entry["slowdown_p99"]
        assert entry["completions"][0]["flows_left"] == entry["flows_left"]
        for line in entry["completions"]:
            same = [
                one
                for many in summaries
                for one in many
                if (one["least_octets"], one["most_octets"]) == (line["least_octets"], line["most_octets"])
            ]
            for key in [key for key, _ in SLOWDOWNS]:
                values = [value for one in same if (value := one[key]) is not None]
                assert line[key]["mean"] == pytest.approx(sum(values) / len(values))
            assert line["flows"]["max"] == max(one["flows"] for one in same)
    again = Comparison.open(tmp_path / "out")
    assert again.document["schemes"] == compared.document["schemes"]
    shown = again._repr_html_()
    assert "all, to 10 KB: qcn" in shown and "p99.9" in shown


def test_the_command_prints_every_size_of_each_line(penstock: Command, tmp_path: Path) -> None:
    (tmp_path / "load.toml").write_text(LOAD, encoding="utf-8")
    out = penstock("compare", "load.toml", "--schemes", "none,qcn", "--seeds", "2", cwd=tmp_path).stdout
    table = out[out.index("slowdown: ") :].splitlines()
    assert table[1].split() == ["flows", "number", "not", "completed", "mean", "slowdown", "p50", "p95", "p99", "p99.9"]
    assert [line.strip() for line in table[2:9:3]] == ["all", "all, to 10 KB", "all, 10 KB to 100 KB"]
    assert [line.split()[0] for line in table[3:5]] == ["none", "qcn"]
    document = json.loads((tmp_path / "results" / "load-compare" / "compare.json").read_text("utf-8"))
    p999 = document["schemes"][1]["completions"][0]["slowdown_p999"]
    assert table[4].endswith(written(p999, ratio))
    assert written(p999, ratio).startswith(f"{ratio(p999['mean'])} ± {ratio(p999['std'])} (± ")


def test_without_flows_that_complete_there_is_no_table(capsys: pytest.CaptureFixture[str]) -> None:
    compared = compare(Scenario.from_toml(PLAIN), ["none", "qcn"])
    assert "completions" not in compared.document["schemes"][0]
    print_comparison(compared.document, Path("no-such-folder"))
    assert "slowdown" not in capsys.readouterr().out
    assert compared._repr_html_().count("<table>") == 1


def test_of_many_lines_the_table_has_one_percentile(capsys: pytest.CaptureFixture[str]) -> None:
    sizes = [completion_line(ALL, 2.0), completion_line(SMALL, 1.0), completion_line(LARGE, 123.4)]
    few = printed(lines(30, *sizes), capsys)
    assert sum(line.startswith("  l") for line in few) == 90
    many = printed(lines(40, *sizes), capsys)
    assert many[0].endswith("99th percentile")
    assert many[1].split("  ")[0] == "flows"
    # Of 123.4 ten times as much is 1 234, with all its digits.
    assert many[2].split()[:3] == ["l0", "20", "10"]
    assert many[2].endswith(" 1\u202f234")
    assert sum(line.startswith("l") for line in many) == 40
    assert "compare.json" in many[42]
    assert len(printed(lines(500, *sizes), capsys)) < 8


def test_the_table_has_few_groups(capsys: pytest.CaptureFixture[str]) -> None:
    groups = [completion_line((f"g{i}", 0, None), 2.0) for i in range(9)]
    few = printed(lines(2, completion_line(ALL, 2.0), *groups[:8]), capsys)
    assert [line.strip() for line in few[2::3]][:9] == ["all", *(f"g{i}" for i in range(8))]
    many = printed(lines(2, completion_line(ALL, 2.0), *groups), capsys)
    assert "g0" not in "\n".join(many)
    assert "compare.json" in "\n".join(many)


def test_lines_of_a_notebook_are_few() -> None:
    document = {"question": "q", "queue": None, "schemes": lines(50, completion_line(ALL, 2.0))}
    shown = Comparison(document)._repr_html_()
    assert "and 10 more, in document" in shown
    assert shown.count("all: l") == 40


def test_runs_of_others_tell_no_slowdowns(tmp_path: Path) -> None:
    """A folder that an earlier version wrote has no slowdowns by size, and is shown without them."""
    compared = compare(Scenario.from_toml(LOAD), ["none", "qcn"], out=tmp_path / "out")
    path = tmp_path / "out" / "compare.json"
    document = json.loads(path.read_text("utf-8"))
    for entry in document["schemes"]:
        del entry["completions"]
    path.write_text(json.dumps(document), encoding="utf-8")
    assert by_size(Comparison.open(tmp_path / "out").document["schemes"]) == {}
    assert Comparison.open(tmp_path / "out")._repr_html_().count("<table>") == 1
    assert list(by_size(compared.document["schemes"])[ALL]) == ["none", "qcn"]


def test_slowdowns_of_a_run_are_those_of_its_summary() -> None:
    result: Result = Scenario.from_toml(LOAD).run()
    measured = measure(result, None)
    assert measured.completions == result.summary["completions"]
    assert spreads([replace(measured, completions=[])]).get("completions") is None
