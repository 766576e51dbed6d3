"""The frame of the page: the line of time, tabs, the lecture, and the page inside another one."""

import json
import re
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from conftest import Watched
from penstock.lab import PAGE
from playwright.sync_api import Page, expect
from test_controls import now_ms, wait_for_ms

FIRST = "#gallery=baseline/ten-gig"
GALLERY = json.loads((PAGE / "gallery.json").read_text())
FILL = "() => [...document.querySelectorAll('.fill')].map((bar) => bar.getAttribute('height'))"
CURSOR = "() => document.querySelector('.plots .readout').textContent"


def to(lab: Watched, part: float) -> None:
    """Put the line of time at a part of the run."""
    lab.page.locator("#timeline").evaluate(
        "(line, part) => { line.value = part; line.dispatchEvent(new Event('input')); }",
        part,
    )


def test_the_past_is_shown_again_where_the_line_of_time_is_put(lab: Watched) -> None:
    lab.open(FIRST)
    lab.run_to_end()
    expect(lab.page.locator("#play")).to_have_text("Again")
    mean = lab.page.locator(".numbers span", has_text="mean queue")
    lab.page.wait_for_timeout(1200)
    at_end = mean.text_content()
    to(lab, 0.002)
    expect(lab.page.locator("#clock")).to_have_text("1.000 ms")
    # 1 ms of 500: two samples. The picture, the numbers and the cursor of the plots are those of then.
    expect(mean).not_to_have_text(at_end or "")
    assert lab.page.evaluate(CURSOR).startswith("1ms: queue")
    expect(lab.page.locator("#play")).to_have_text("Play")
    early = lab.page.evaluate(FILL)
    to(lab, 1)
    expect(lab.page.locator("#clock")).to_have_text("500.000 ms")
    expect(mean).to_have_text(at_end or "")
    assert lab.page.evaluate(FILL) != early
    assert lab.page.evaluate(CURSOR) == ""


def test_a_replay_goes_on_as_the_run(lab: Watched) -> None:
    lab.open(FIRST)
    # Nothing has been simulated there: the run goes up to it.
    to(lab, 0.2)
    expect(lab.page.locator("#clock")).to_have_text("100.000 ms")
    to(lab, 0.1)
    expect(lab.page.locator("#clock")).to_have_text("50.000 ms")
    lab.page.locator("#speed").select_option("0.1")
    lab.page.locator("#play").click()
    expect(lab.page.locator("#play")).to_have_text("Pause")
    wait_for_ms(lab, 110)
    lab.page.locator("#play").click()
    expect(lab.page.locator("#play")).to_have_text("Play")
    # The keys of the line: a sample back. The engine has simulated more.
    stands = now_ms(lab)
    lab.page.locator("#timeline").press("ArrowLeft")
    expect(lab.page.locator("#clock")).to_have_text(
        f"{stands - 0.5:.3f} ms", timeout=10_000
    )


def test_a_change_holds_from_the_time_that_is_shown(lab: Watched) -> None:
    lab.open(FIRST)
    lab.run_to_end()
    to(lab, 0.5)
    lab.page.locator("#rate").fill("50")
    expect(lab.page.locator("#text")).to_have_value(
        re.compile(r'at = "250 ms".*rate = "5 Gbps"', re.DOTALL)
    )
    expect(lab.page.locator("#clock")).to_have_text("250.000 ms")
    # It has a mark on the line, at its place.
    mark = lab.page.locator("#marks i")
    expect(mark).to_have_count(1)
    assert mark.evaluate("(own) => own.style.getPropertyValue('--at')") == "0.5"


def test_tabs_are_turned_by_arrows_and_the_picture_stays(lab: Watched) -> None:
    lab.open(FIRST)
    network = lab.page.locator("svg.network").bounding_box()
    lab.page.locator("#tab-change").focus()
    for name in ("parameters", "scenario", "numbers", "change"):
        lab.page.keyboard.press("ArrowRight")
        expect(lab.page.locator(f"#tab-{name}")).to_be_focused()
        expect(lab.page.locator(f"#panel-{name}")).to_be_visible()
        assert lab.page.locator("[role=tabpanel]:visible").count() == 1
        assert lab.page.locator("svg.network").bounding_box() == network


def test_run_time_and_lesson_stay_on_the_screen(lab: Watched) -> None:
    lab.open(FIRST)
    lab.page.locator("#lesson").select_option("1")
    expect(lab.page.locator("#tour")).to_be_visible()
    lab.page.evaluate("window.scrollTo(0, 600)")
    for part in ("#play", "#timeline", "#clock"):
        box = lab.page.locator(part).bounding_box()
        assert box is not None and 0 <= box["y"] < 110, part
    lesson = lab.page.locator("#tour").bounding_box()
    work = lab.page.locator("#work").bounding_box()
    assert lesson is not None and work is not None
    assert 0 < lesson["y"] < 300
    assert lesson["x"] + lesson["width"] <= work["x"]


def test_the_drawer_has_a_card_with_a_picture_for_each_scenario(lab: Watched) -> None:
    lab.open(FIRST)
    button = lab.page.locator("#gallery")
    expect(button).to_have_text("Four flows at 10 Gb/s")
    button.click()
    cards = lab.page.locator("#drawer .card")
    expect(cards).to_have_count(len(GALLERY))
    expect(lab.page.locator("#drawer .card svg .curve")).to_have_count(len(GALLERY))
    said = cards.evaluate_all(
        "(cards) => cards.map((card) => [...card.querySelectorAll('strong, span, small')].map((own) => own.textContent))"
    )
    assert said == [[own["title"], own["question"], own["scheme"]] for own in GALLERY]
    # Each curve has its longest queue at its top, and no two are the same.
    curves = lab.page.locator("#drawer .curve").evaluate_all(
        "(all) => all.map((own) => own.getAttribute('d'))"
    )
    tops = [min(float(y) for y in re.findall(r",([\d.]+)", own)) for own in curves]
    assert set(tops) == {10.0}
    assert len(set(curves)) == len(curves)
    # The one that runs has the focus, and keys of the page do nothing there.
    expect(lab.page.locator(".card[aria-current=true]")).to_be_focused()
    lab.page.keyboard.press("e")
    lab.page.keyboard.press("Escape")
    expect(lab.page.locator("#drawer")).to_be_hidden()
    expect(lab.page.locator("#clock")).to_have_text("0.000 ms")
    lab.choose("multicast/star")
    expect(lab.page.locator("#drawer")).to_be_hidden()
    expect(button).to_have_text("Multicast")
    expect(button).to_have_attribute("value", "multicast/star")


def test_a_lecture_shows_network_queue_and_rates_alone(lab: Watched) -> None:
    lab.page.set_viewport_size({"width": 1024, "height": 768})
    lab.open(FIRST)
    lab.page.locator("body").press("f")
    expect(lab.page.locator("#transport")).to_be_hidden()
    expect(lab.page.locator("aside")).to_be_hidden()
    titles = lab.page.locator(".u-title:visible")
    expect(titles).to_have_count(2)
    # Both plots and the network are on the screen, in type of 18 pixels and more.
    for part in (lab.page.locator("svg.network"), titles.nth(0), titles.nth(1)):
        box = part.bounding_box()
        assert box is not None and box["y"] + box["height"] < 768
    assert lab.page.locator("body").evaluate(
        "(body) => getComputedStyle(body).fontSize"
    ) == ("20px")
    lab.page.locator("body").press(" ")
    wait_for_ms(lab, 5)
    lab.page.locator("body").press("Escape")
    expect(lab.page.locator("#transport")).to_be_visible()


def test_keys_turn_the_steps_of_a_lesson_in_a_lecture(lab: Watched) -> None:
    lab.open(FIRST)
    lab.page.locator("#lesson").select_option("1")
    heading = lab.page.locator("#tour h2")
    expect(heading).to_contain_text("(1 of")
    lab.page.locator("#lesson").blur()
    lab.page.locator("body").press("f")
    lab.page.locator("body").press("PageDown")
    expect(heading).to_contain_text("(2 of")
    expect(lab.page.locator("#tour")).to_be_visible()
    lab.page.locator("body").press("PageUp")
    expect(heading).to_contain_text("(1 of")


def test_the_better_number_of_two_runs_is_marked(lab: Watched) -> None:
    lab.open("#gallery=baseline/ten-gig&scheme=dcqcn&compare=hpcc")
    expect(lab.page.locator(".run h2")).to_have_count(2)
    expect(lab.page.locator("#scheme")).to_have_value("dcqcn")
    lab.run_to_end()
    means = lab.page.locator(".numbers span", has_text="mean queue")
    expect(means.nth(1)).to_have_class("better")
    expect(means.nth(0)).to_have_class("worse")


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A site of somebody else: its address and its folder."""
    handler = type(
        "Handler", (SimpleHTTPRequestHandler,), {"log_message": lambda *_: None}
    )
    server = ThreadingHTTPServer(
        ("127.0.0.1", 0),
        lambda *values: handler(*values, directory=str(tmp_path)),  # type: ignore[arg-type]
    )
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://localhost:{server.server_port}/", tmp_path
    server.shutdown()


def test_a_line_of_html_shows_the_run_in_another_page(
    lab: Watched, elsewhere: tuple[str, Path]
) -> None:
    lab.open(FIRST)
    lab.page.locator("#step").click()
    expect(lab.page.locator("#clock")).to_have_text("0.500 ms")
    lab.page.locator("#export summary").click()
    lab.page.locator("#embed").click()
    expect(lab.page.locator("#embed")).to_have_text("Copied")
    line = lab.page.evaluate("() => navigator.clipboard.readText()")
    assert re.fullmatch(
        r'<iframe src="http://[^"<>]*/embed\.html#s=[\w-]+" .*></iframe>', line
    )
    assert "\n" not in line

    url, folder = elsewhere
    (folder / "slides.html").write_text(f"<!doctype html><h1>Slides</h1>{line}")
    page: Page = lab.page.context.new_page()
    page.goto(f"{url}slides.html")
    frame = page.frame_locator("iframe")
    expect(frame.locator(".run h2")).to_be_visible()
    expect(frame.locator("#clock")).to_have_text("0.500 ms")
    for hidden in ("#choice", "aside", "#share", "footer"):
        expect(frame.locator(hidden)).to_be_hidden()
    frame.locator("#play").click()
    expect(frame.locator("#play")).to_have_text("Pause")
    whole = frame.locator("#whole").get_attribute("href") or ""
    assert whole.startswith("index.html#s=")


def test_the_whole_page_is_in_no_frame(
    lab: Watched, elsewhere: tuple[str, Path]
) -> None:
    url, folder = elsewhere
    (folder / "trap.html").write_text(f'<iframe src="{lab.url}"></iframe>')
    page = lab.page.context.new_page()
    page.goto(f"{url}trap.html")
    page.wait_for_timeout(1000)
    assert page.frame_locator("iframe").locator("#play").count() == 0
