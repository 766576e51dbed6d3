"""The browser gives the numbers of the runner, to the last bit, for every scenario of the gallery."""

import json
from pathlib import Path

import penstock
import pytest
from conftest import Watched
from penstock.lab import PAGE

GALLERY = json.loads((PAGE / "gallery.json").read_text())
QUEUE = ["queue_octets", "queue_frames", "utilization", "frames_dropped", "paused_s"]
FLOW = ["rate_bps", "throughput_bps", "fair_rate_bps"]


@pytest.mark.parametrize("entry", GALLERY, ids=lambda entry: entry["scenario"])
def test_the_browser_gives_the_numbers_of_the_runner(
    lab: Watched, entry: dict[str, str], tmp_path: Path
) -> None:
    lab.open(f"#gallery={entry['scenario']}")
    lab.run_to_end()
    run = penstock.Scenario.load(PAGE / "scenarios" / f"{entry['scenario']}.toml").run()
    assert summary_of(lab) == {**run.summary, "run": None, "scenario": "scenario"}
    lab.page.locator("#export summary").click()
    with lab.page.expect_download() as download:
        lab.page.locator("#export-csv").click()
    file = tmp_path / "rows.csv"
    download.value.save_as(file)
    assert_same_rows(file, run)


def summary_of(lab: Watched) -> dict[str, object]:
    """The summary that the page shows, without the cost of the run."""
    summary = json.loads(lab.page.locator("#summary").text_content() or "")
    return {**summary, "run": None}


def assert_same_rows(file: Path, run: penstock.Result) -> None:
    """Compares every number of the page's table with those of the result's tables."""
    lines = file.read_text().splitlines()
    names = lines[0].split(",")
    columns = list(
        zip(
            *([float(number) for number in line.split(",")] for line in lines[1:]),
            strict=True,
        )
    )
    page = {
        name.strip('"'): list(column)
        for name, column in zip(names, columns, strict=True)
    }
    seen = 1
    for table, keys, wanted in (
        ("queues", ["queue", "priority"], QUEUE),
        ("rates", ["flow"], FLOW),
    ):
        for key, group in run.to_pandas(table).groupby(keys, observed=True, sort=False):
            name = " ".join(str(part) for part in key)
            assert page["time_s"] == list(group["time_s"])
            for column in wanted:
                if column in group:
                    assert page[f"{name} {column}"] == [
                        float(number) for number in group[column]
                    ], (name, column)
                seen += 1
    assert seen == len(page)
