"""A scheme that is written in the page: it runs, has sliders, is kept, and its mistakes have line and column."""

import re
from pathlib import Path

import penstock
import pytest
from conftest import Watched
from playwright.sync_api import expect
from test_looks import SHOTS, SIZES, faults
from test_same import assert_same_rows, summary_of

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples/foreign"


def write(lab: Watched, text: str) -> None:
    """Open the editor, and put a text into it."""
    if lab.page.locator("#own").get_attribute("open") is None:
        lab.page.locator("#own > summary").click()
    expect(lab.page.locator("#own-text")).not_to_be_empty()
    lab.page.locator("#own-text").fill(text)


def run_it(lab: Watched) -> None:
    lab.page.locator("#own-run").click()


@pytest.mark.parametrize(
    ("file", "name"),
    [("dctcp", "Dctcp"), ("qcn", "QcnLike"), ("theta_powertcp", "ThetaPowerTCP")],
)
def test_a_template_gives_the_numbers_of_the_command_line(
    lab: Watched, tmp_path: Path, file: str, name: str
) -> None:
    lab.open("#gallery=baseline/ten-gig")
    lab.page.locator("#own > summary").click()
    lab.page.locator("#own-template").select_option(file)
    expect(lab.page.locator("#own-text")).to_have_value(
        (EXAMPLES / f"{file}.py").read_text()
    )
    run_it(lab)
    expect(lab.page.locator("#text")).to_have_value(
        re.compile(f'scheme = "own.py:{name}"')
    )
    lab.run_to_end()
    with lab.page.expect_download() as download:
        lab.page.locator("#own-save").click()
    download.value.save_as(tmp_path / "own.py")
    scenario = lab.page.locator("#text").input_value()
    (tmp_path / "scenario.toml").write_text(
        scenario.replace("own.py", f"{tmp_path}/own.py")
    )
    run = penstock.Scenario.load(tmp_path / "scenario.toml").run()
    assert summary_of(lab) == {**run.summary, "run": None, "scenario": "scenario"}
    lab.page.locator("#export summary").click()
    with lab.page.expect_download() as download:
        lab.page.locator("#export-csv").click()
    download.value.save_as(tmp_path / "rows.csv")
    assert_same_rows(tmp_path / "rows.csv", run)


def test_parameters_are_sliders_and_a_reload_keeps_the_text(lab: Watched) -> None:
    lab.open("#gallery=baseline/ten-gig")
    write(lab, (EXAMPLES / "aimd.py").read_text())
    lab.page.locator("#own-text").press("Control+Enter")
    expect(lab.page.locator(".run h2")).to_contain_text("aimd-py")
    expect(lab.page.locator("#scheme")).to_have_value("own.py:Aimd")
    lab.tab("parameters")
    k = lab.page.locator("#parameter-k")
    expect(k).to_be_visible()
    expect(k).to_have_value("30 KB")
    k.fill("60 KB")
    k.press("Enter")
    expect(lab.page.locator("#text")).to_have_value(re.compile('k = "60 KB"'))
    # What is written since, and wrong, is kept too; the run is that of the text before.
    write(lab, "import penstock\nclass")
    lab.page.wait_for_timeout(600)
    lab.page.reload()
    lab.page.locator(".run h2", has_text="aimd-py").wait_for()
    expect(lab.page.locator("#own-text")).to_have_value("import penstock\nclass")
    # Beside another scheme, after the engine has been started again.
    lab.page.locator("#stop").evaluate("(button) => button.click()")
    lab.page.locator("#scheme").select_option("dcqcn")
    lab.page.locator("#compare").select_option("own.py:Aimd")
    expect(lab.page.locator(".run h2")).to_have_count(2)


@pytest.mark.parametrize(
    ("before", "after", "message", "chosen"),
    [
        ("octets > self.p.k", "octets > self.p.kk", "no parameter kk", "kk"),
        ("return octets > self.p.k", "return octets >", "the end of the line", ""),
    ],
)
def test_a_mistake_is_told_with_its_line_and_the_run_before_stays(
    lab: Watched, before: str, after: str, message: str, chosen: str
) -> None:
    text = (EXAMPLES / "aimd.py").read_text()
    assert before in text
    lab.open("#gallery=baseline/ten-gig")
    write(lab, text.replace(before, after))
    run_it(lab)
    mistake = lab.page.locator("#own-mistake")
    expect(mistake).to_contain_text(message)
    line = next(
        i
        for i, own in enumerate(text.replace(before, after).splitlines(), 1)
        if after in own
    )
    expect(mistake).to_contain_text(f"line {line}, column")
    expect(lab.page.locator(".run h2")).not_to_contain_text("aimd-py")
    start = lab.page.locator("#own-text").evaluate("(box) => box.selectionStart")
    written = text.replace(before, after)
    assert written[:start].count("\n") == line - 1
    assert written[start:].startswith(chosen)


def test_a_loop_without_end_and_a_negative_rate_end_the_run(lab: Watched) -> None:
    text = (EXAMPLES / "aimd.py").read_text()
    place = "self.window += self.p.segment * ack.acked // self.window"
    assert place in text
    lab.open("#gallery=baseline/ten-gig")
    for after, message in (
        ("while True: pass", "has not returned"),
        ("self.rate = self.line * -1.5", "self.rate is -15000000000.0: it is from 0"),
    ):
        changed = text.replace(place, after)
        write(lab, changed)
        run_it(lab)
        expect(lab.page.locator("#own-mistake")).to_contain_text(message)
        line = next(i for i, own in enumerate(changed.splitlines(), 1) if after in own)
        expect(lab.page.locator("#message")).to_contain_text(
            f"own.py, line {line}, column"
        )
        expect(lab.page.locator("#play")).to_have_text("Play")
    write(lab, text)
    run_it(lab)
    expect(lab.page.locator("#own-mistake")).to_be_hidden()
    lab.run_to_end()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_the_editor_can_be_used_by_everyone(
    lab: Watched, size: str, theme: str
) -> None:
    width, height = SIZES[size]
    lab.page.set_viewport_size({"width": width, "height": height})
    lab.page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    lab.open("#gallery=baseline/ten-gig")
    lab.page.locator("#own > summary").focus()
    lab.page.keyboard.press("Enter")
    text = (EXAMPLES / "aimd.py").read_text()
    expect(lab.page.locator("#own-text")).to_have_value(text)
    lab.page.locator("#own-text").focus()
    lab.page.keyboard.press("Control+Enter")
    expect(lab.page.locator(".run h2")).to_contain_text("aimd-py")
    lab.run_to_end()
    write(lab, text.replace("self.p.beta", "self.p.betta"))
    lab.page.keyboard.press("Control+Enter")
    expect(lab.page.locator("#own-mistake")).to_be_visible()
    # Tab leaves the editor.
    lab.page.keyboard.press("Tab")
    expect(lab.page.locator("#own-run")).to_be_focused()
    lab.page.locator("#own-text").scroll_into_view_if_needed()
    SHOTS.mkdir(parents=True, exist_ok=True)
    lab.page.screenshot(path=SHOTS / f"own-{size}-{theme}.png")
    lab.page.screenshot(path=SHOTS / f"own-{size}-{theme}-whole.png", full_page=True)
    assert (
        lab.page.evaluate(
            "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        == 0
    )
    assert faults(lab) == []
