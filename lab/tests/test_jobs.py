"""A job on the page: its messages as bars, its numbers and its table, and load balancing side by side."""

import csv
import json
from pathlib import Path

import pytest
from conftest import Watched
from penstock import Result, Scenario
from penstock.lab import PAGE
from playwright.sync_api import Download, expect

GALLERY = "#gallery=jobs/two-uplinks"
SCENARIO = PAGE / "scenarios/jobs/two-uplinks.toml"


@pytest.fixture(scope="module")
def runs() -> dict[str, Result]:
    """The job by a hash of flows and sprayed, as `penstock run` has it."""
    return {
        name: Scenario.load(SCENARIO).set("network.load_balancing", name).run()
        for name in ("flow", "spray")
    }


def test_ecmp_and_spraying_side_by_side_have_the_numbers_of_the_runner(
    lab: Watched, runs: dict[str, Result], tmp_path: Path
) -> None:
    lab.open(GALLERY)
    lab.page.locator("#compare").select_option("network.load_balancing=spray")
    expect(lab.page.locator(".run h2")).to_have_text(
        ["ECMP, a hash of each flow — none", "spraying, frame after frame — none"]
    )
    lab.run_to_end()
    # Six of eight flows have a link each, two share one: 1.90 times, not 2, since latency is the same.
    expect(lab.page.locator("#answer")).to_contain_text("1.90 times as long")
    text = lab.page.locator("#summary").text_content() or ""
    one, end = json.JSONDecoder().raw_decode(text)
    shown = [one["jobs"], json.loads(text[end:])["jobs"]]
    assert shown == [run.summary["jobs"] for run in runs.values()]
    numbers = lab.page.locator(".numbers")
    expect(numbers.first).to_contain_text("iteration 2.24 ms")
    expect(numbers.last).to_contain_text("bus bandwidth 94.8 Gb/s")
    saved: list[Download] = []
    lab.page.on("download", lambda one: saved.append(one))
    lab.page.locator("#export summary").click()
    lab.page.locator("#export-csv").click()
    # The samples and the table of jobs, of each run.
    while len(saved) < 4:
        lab.page.wait_for_timeout(100)
    for file in saved:
        file.save_as(tmp_path / file.suggested_filename)
    for name, run in runs.items():
        rows = list(
            csv.DictReader((tmp_path / f"scenario-none-{name}-jobs.csv").open())
        )
        table = run.to_pandas("jobs")
        assert [row["work"] for row in rows] == list(table["work"])
        for column in ("rank", "iteration", "begin_s", "end_s"):
            assert [float(row[column]) for row in rows] == list(table[column]), column


def test_bars_are_read_with_the_keyboard_and_their_times_are_right(
    lab: Watched,
) -> None:
    lab.open(GALLERY)
    lab.run_to_end()
    chart = lab.page.locator("canvas.gantt")
    expect(chart).to_have_attribute(
        "aria-label",
        "job0: all-reduce of 8 MB, what each rank receives: 100 per cent have arrived",
    )
    chart.focus()
    lab.page.keyboard.press("ArrowRight")
    said = lab.page.locator(".network-box [role=status]")
    # 1 MB are 667 frames: 80 us at 100 Gb/s, and 4 links of 1 us each with 3 more frames of 0.12 us.
    expect(said).to_have_text(
        "rank 0 on h0, message 1: 1 MB from h7, 84.4 µs, 95 % of the line's rate"
    )
    for _ in range(3):
        lab.page.keyboard.press("ArrowDown")
    # Rank 3 receives from leaf2, whose two flows share an uplink.
    expect(said).to_contain_text("rank 3 on h6, message 1: 1 MB from h4, 16")
    expect(said).to_contain_text("49 % of the line's rate")
    lab.page.keyboard.press("ArrowLeft")
    expect(said).to_contain_text("message 1:")
    for _ in range(20):
        lab.page.keyboard.press("ArrowRight")
    expect(said).to_contain_text("message 14:")
    # The keys are the chart's: the run is where it was.
    expect(lab.page.locator("#play")).to_have_text("Again")


def test_the_controls_of_a_job_change_its_run(lab: Watched) -> None:
    lab.open(GALLERY)
    lab.page.locator("#balancing").select_option("spray")
    expect(lab.page.locator(".run h2")).to_contain_text("spraying")
    lab.page.locator("#size").select_option("1 MB")
    expect(lab.page.locator(".network-box h3")).to_contain_text("all-reduce of 1 MB")
    lab.run_to_end()
    expect(lab.page.locator(".numbers")).to_contain_text("iteration 201 µs")
    assert 'load_balancing = "spray"' in lab.page.locator("#text").input_value()
    # A way that needs frames in order is refused with the reason, and the run stays.
    lab.page.locator("#scheme").select_option("hpcc")
    expect(lab.page.locator("#message")).to_contain_text("hpcc needs them in order")
    expect(lab.page.locator(".run h2")).to_contain_text("none")


def test_the_load_of_links_is_drawn_for_each_direction(lab: Watched) -> None:
    lab.open(GALLERY)
    expect(lab.page.locator("svg.network .load")).to_have_count(24)
    lab.page.locator("#step").click()
    for _ in range(4):
        lab.page.locator("#step").click()
    expect(lab.page.locator("#clock")).to_have_text("0.025 ms")
    loads = lab.page.locator("svg.network .load[visibility=visible]")
    # Seven uplinks, seven downlinks and eight links to hosts carry something.
    expect(loads).to_have_count(22)
    lab.run_to_end()
    # The uplink of leaf2 that both of its flows share, and the link from there to leaf3; none where all links share the frames.
    full = lab.page.locator("svg.network .load.full")
    expect(full).to_have_count(2)
    lab.page.locator("#balancing").select_option("spray")
    expect(lab.page.locator(".run h2")).to_contain_text("spraying")
    lab.run_to_end()
    expect(full).to_have_count(0)


def test_a_scenario_without_jobs_has_no_bars(lab: Watched) -> None:
    lab.open("#gallery=baseline/ten-gig")
    expect(lab.page.locator("#job")).to_be_hidden()
    expect(lab.page.locator("canvas.gantt")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_less_motion_draws_whole_messages_alone(lab: Watched, scheme: str) -> None:
    lab.page.emulate_media(
        reduced_motion="reduce",
        color_scheme="dark" if scheme == "dark" else "light",
    )
    lab.open(GALLERY)
    lab.page.locator("#step").click()
    expect(lab.page.locator("#clock")).to_have_text("0.005 ms")
    lab.page.wait_for_timeout(500)
    colours = lab.page.evaluate(
        """() => {
          const chart = document.querySelector("canvas.gantt");
          const { width, height } = chart;
          const octets = chart.getContext("2d").getImageData(width * 0.3, 0, width * 0.3, height * 0.8).data;
          return new Set(Array.from({ length: octets.length / 4 }, (_, i) => octets.slice(4 * i, 4 * i + 4).join())).size;
        }"""
    )
    # Nothing but the lines of the axis: two colours, and those between them.
    assert colours <= 6
