"""A reader sees what happens: the right link, the right scale, the end of a run, a broken link, each fair share."""

import json
import math
import re
import subprocess
from pathlib import Path

from conftest import PENS, Watched
from playwright.sync_api import expect
from test_controls import FIRST, now_ms, pause, text, wait_for_ms

ROOT = Path(__file__).resolve().parents[2]


def titles(lab: Watched) -> list[str]:
    return lab.page.locator(".u-title").all_text_contents()


def stand(lab: Watched, address: str, least_ms: float) -> None:
    """Opens a scenario, plays it up to a time, and pauses it."""
    lab.open(address)
    lab.page.locator("#play").click()
    wait_for_ms(lab, least_ms)
    pause(lab)


def test_a_link_without_a_recorded_queue_is_changed_and_mended_and_the_viewed_queue_stays(
    lab: Watched,
) -> None:
    stand(lab, FIRST, 20)
    page = lab.page
    page.locator("#port").select_option("h0->sw0")
    assert titles(lab)[0] == "Queue of sw0->h4 (octets)"
    page.locator("#break").click()
    expect(page.locator("#text")).to_have_value(
        re.compile(r'"h0->sw0"[^\[]*state = "down"')
    )
    expect(page.locator("#port")).to_have_value("h0->sw0")
    expect(page.locator("#break")).to_be_disabled()
    # A broken link looks broken, and a change has its mark in each plot.
    expect(page.locator("svg.network line.link.down")).to_have_count(1)
    page.locator("#step").click()
    page.locator("#mend").click()
    expect(page.locator("#text")).to_have_value(
        re.compile(r'"h0->sw0"[^\[]*state = "up"')
    )
    assert '"sw0->h4"' not in text(lab)
    expect(page.locator("svg.network line.link.down")).to_have_count(0)
    page.locator("#rate").fill("30")
    expect(page.locator("#text")).to_have_value(
        re.compile(r'"h0->sw0"[^\[]*rate = "3 Gbps"')
    )
    expect(page.locator("#port")).to_have_value("h0->sw0")
    page.locator("#port").select_option("sw0->h4")
    expect(page.locator("#view")).to_have_value("sw0->h4")


def test_throughput_is_drawn_and_the_allowed_rates_by_choice(lab: Watched) -> None:
    stand(lab, FIRST, 5)
    page = lab.page
    page.locator("#scheme").select_option("dctcp")
    page.locator("#end").click()
    page.locator("#summary", has_text="scenario").wait_for(state="attached")
    rates = page.locator(".plots > div").nth(1)
    assert titles(lab)[1] == "Throughput (bit/s)"
    # Four windows fill the link; each is allowed its line rate, which says nothing.
    expect(rates).to_have_attribute(
        "aria-label", re.compile(r"^Throughput of 4 flows, (9\.\d+|10)G bit/s together")
    )
    page.locator("#rates").select_option("allowed")
    expect(rates).to_have_attribute(
        "aria-label", re.compile(r"^Allowed rates of 4 flows, 40G bit/s together")
    )
    page.reload()
    expect(page.locator("#rates")).to_have_value("allowed")


def test_at_its_end_a_run_says_so_and_a_change_holds_from_its_start(
    lab: Watched,
) -> None:
    lab.open(FIRST)
    page = lab.page
    lab.run_to_end()
    expect(page.locator("#play")).to_have_text("Again")
    expect(page.locator("#answer")).to_contain_text("come to its end")
    page.locator("#rate").fill("40")
    expect(page.locator("#text")).to_have_value(
        re.compile(r'"sw0->h4"\s+at = "0[^"]*"\s+rate = "4 Gbps"')
    )
    expect(page.locator("#play")).to_have_text("Pause")
    assert now_ms(lab) < 500
    expect(page.locator("#message")).to_be_hidden()
    lab.run_to_end()
    page.locator("#play").click()
    expect(page.locator("#play")).to_have_text("Pause")


def test_a_step_shows_the_sample_of_its_time(lab: Watched) -> None:
    lab.open(FIRST)
    page = lab.page
    for _ in range(21):
        shown = page.locator("#clock").text_content() or ""
        page.locator("#step").click()
        expect(page.locator("#clock")).not_to_have_text(shown)
    assert now_ms(lab) == 10.5
    # The second source came at 10 ms; the engine alone says what is there half a millisecond later.
    expect(page.locator(".plots > div").first).to_have_attribute(
        "aria-label", re.compile(r"Queue of sw0->h4: 34\.5k octets")
    )


def test_runs_side_by_side_have_one_scale_and_their_difference_in_words(
    lab: Watched,
) -> None:
    lab.page.add_init_script(
        PENS
        + """
        window.ticks = new Map();
        const plain = CanvasRenderingContext2D.prototype.fillText;
        CanvasRenderingContext2D.prototype.fillText = function (text, x, ...more) {
          if (!window.ticks.has(this.canvas)) window.ticks.set(this.canvas, new Set());
          if (/^[\\d.]+k$/.test(text)) window.ticks.get(this.canvas).add(text);
          plain.call(this, text, x, ...more);
        };
        """
    )
    lab.open(FIRST)
    page = lab.page
    page.locator("#scheme").select_option("dcqcn")
    expect(page.locator(".run h2")).to_contain_text(["dcqcn"])
    page.locator("#compare").select_option("hpcc")
    expect(page.locator(".run h2")).to_have_count(2)
    lab.run_to_end()
    expect(page.locator("#answer")).to_contain_text("Here under dcqcn, not qcn.")
    expect(page.locator("#answer")).to_contain_text(
        re.compile(r"times shorter under hpcc than under dcqcn")
    )
    page.evaluate("() => window.ticks.clear()")
    page.locator("#theme").click()
    page.wait_for_timeout(500)
    # The axes of the two queues: the shorter one has the ticks of the longer one.
    ticks = page.evaluate(
        "() => [...document.querySelectorAll('.plots > div:first-child canvas')].map((own) => [...(ticks.get(own) ?? [])])"
    )
    assert len(ticks) == 2
    assert ticks[0] == ticks[1]
    assert ticks[0]


def test_each_distinct_fair_share_has_its_line_and_its_name(lab: Watched) -> None:
    lab.page.add_init_script(PENS)
    stand(lab, "#gallery=victim-flow/pfc", 5)
    page = lab.page
    page.locator("#view").select_option("core->edge")
    page.locator("#end").click()
    page.locator("#summary", has_text="scenario").wait_for(state="attached")
    page.wait_for_timeout(500)
    written = {line for line, *_ in page.evaluate("() => window.written")}
    assert "victim" in written
    assert "fair, victim" in written
    assert "fair, 15 flows" in written or "fair, 16 flows" in written


def test_the_line_of_a_mistake_is_chosen_after_a_click_on_apply(lab: Watched) -> None:
    lab.open(FIRST)
    page = lab.page
    wrong = text(lab).replace('link_rate = "10 Gbps"', 'link_rate = "10 Gbs"')
    line = wrong.split("\n").index('link_rate = "10 Gbs"')
    lab.tab("scenario")
    page.locator("#text").fill(wrong)
    page.locator("#apply").click()
    expect(page.locator("#mistake")).to_contain_text(f"line {line + 1}")
    chosen = page.locator("#text").evaluate(
        "(box) => [document.activeElement === box, box.value.slice(box.selectionStart, box.selectionEnd)]"
    )
    assert chosen == [True, 'link_rate = "10 Gbs"']
    assert (page.locator("#lines").text_content() or "").split("\n")[line] == str(
        line + 1
    )


def test_notifications_of_a_quick_run_follow_their_route(lab: Watched) -> None:
    lab.open("#gallery=incast/leaf-spine-16")
    page = lab.page
    page.locator("#speed").select_option("0.003")
    page.locator("#play").click()
    page.locator("svg.network path.frame.signal[transform]").first.wait_for(
        state="attached"
    )
    seen = set()
    for _ in range(40):
        seen |= set(
            page.locator("svg.network path.frame.signal").evaluate_all(
                "(all) => all.map((own) => own.getAttribute('transform'))"
            )
        )
        page.wait_for_timeout(10)
    lines = page.locator("svg.network line.link").evaluate_all(
        "(all) => all.map((own) => ['x1', 'y1', 'x2', 'y2'].map((key) => Number(own.getAttribute(key))))"
    )
    spots = [tuple(map(float, re.findall(r"-?[\d.]+", own))) for own in seen if own]
    assert spots
    for x, y in spots:
        assert min(distance(x, y, *line) for line in lines) < 1.0


def distance(x: float, y: float, x1: float, y1: float, x2: float, y2: float) -> float:
    """The distance of a point from a line between two nodes."""
    length = (x2 - x1) ** 2 + (y2 - y1) ** 2
    part = min(1.0, max(0.0, ((x - x1) * (x2 - x1) + (y - y1) * (y2 - y1)) / length))
    return float(
        ((x - x1 - part * (x2 - x1)) ** 2 + (y - y1 - part * (y2 - y1)) ** 2) ** 0.5
    )


def test_no_node_is_cut_off_and_hosts_stand_beside_their_switch(lab: Watched) -> None:
    lab.open("#gallery=incast/leaf-spine-16")
    svg = lab.page.locator("svg.network")
    box = [float(part) for part in (svg.get_attribute("viewBox") or "").split()]
    places = svg.locator(".node").evaluate_all(
        "(all) => all.map((own) => { const { x, y, width, height } = own.getBBox(); return [x, y, x + width, y + height]; })"
    )
    assert len(places) == 38
    for left, top, right, bottom in places:
        assert left >= 0
        assert top >= 0
        assert right <= box[2]
        assert bottom <= box[3]
    at = dict(
        svg.locator("text.name").evaluate_all(
            "(all) => all.map((own) => [own.textContent, Number(own.getAttribute('y'))])"
        )
    )
    # Hosts of a leaf form a block: those of leaf1 above those of leaf2.
    first, second = (
        [at[f"h{i}"] for i in own] for own in (range(8, 16), range(16, 24))
    )
    assert max(first) < min(second) or max(second) < min(first)


def many(hosts: int) -> str:
    """As many hosts at one switch, all of which send to the last one."""
    return (
        'question = "Are many hosts legible?"\nduration = "5 ms"\nscheme = "qcn"\n'
        f'[topology.star]\nhosts = {hosts}\nlink_rate = "10 Gbps"\nlink_delay = "1 us"\n'
        f'buffer = "150 KB"\n[[flow]]\nfrom = "h0..h{hosts - 2}"\nto = "h{hosts - 1}"\n'
    )


def test_no_host_of_sixty_four_covers_another(lab: Watched) -> None:
    """Circles of 18 that stand 18 apart or more, names inside of them, all of it inside of the drawing."""
    lab.open("#gallery=baseline/ten-gig")
    lab.tab("scenario")
    lab.page.locator("#text").evaluate("(box, text) => { box.value = text; }", many(64))
    lab.page.locator("#apply").click()
    expect(lab.page.locator("#question")).to_have_text("Are many hosts legible?")
    svg = lab.page.locator("svg.network")
    box = [float(part) for part in (svg.get_attribute("viewBox") or "").split()]
    places = svg.locator("circle.node").evaluate_all(
        "(all) => all.map((own) => ['cx', 'cy', 'r'].map((key) => Number(own.getAttribute(key))))"
    )
    assert len(places) == 64
    for i, (x, y, r) in enumerate(places):
        assert r <= x <= box[2] - r
        assert r <= y <= box[3] - r
        for other_x, other_y, _ in places[:i]:
            assert math.hypot(x - other_x, y - other_y) >= 2 * r


def test_a_text_too_long_is_refused_when_it_is_pasted(lab: Watched) -> None:
    """Three megabytes never come into the box, and a message says how many it takes."""
    lab.open("#gallery=baseline/ten-gig")
    before = lab.page.locator("#text").input_value()
    lab.page.evaluate(
        "() => navigator.clipboard.writeText('# 8 octets\\n'.repeat(300_000))"
    )
    lab.tab("scenario")
    lab.page.locator("#text").focus()
    lab.page.keyboard.press("Control+End")
    lab.page.keyboard.press("Control+V")
    mistake = lab.page.locator("#mistake")
    expect(mistake).to_contain_text("characters, and here it has 300,000 at most")
    assert lab.page.locator("#text").input_value() == before
    lab.page.evaluate("() => navigator.clipboard.writeText('# a comment')")
    lab.page.keyboard.press("Control+V")
    assert lab.page.locator("#text").input_value() == before + "# a comment"


def test_ranges_have_units_that_people_read(lab: Watched) -> None:
    lab.open("#gallery=baseline/ten-gig")
    help_of = lab.page.locator("#parameter-q_eq-help")
    expect(help_of).to_contain_text(" to 4.294967295 GB.")


SQUEEZED = """
window.squeezed = [];
const { fillText } = CanvasRenderingContext2D.prototype;
CanvasRenderingContext2D.prototype.fillText = function (text, x, y, most) {
  if (this.measureText(text).width > (most ?? Infinity) + 1) window.squeezed.push(text);
  fillText.call(this, text, x, y, most);
};
"""


def test_no_sentence_of_the_picture_is_squeezed(lab: Watched, tmp_path: Path) -> None:
    lab.picture_of_two_schemes(
        SQUEEZED, "window.squeezed = [];", tmp_path / "picture.png"
    )
    assert lab.page.evaluate("() => window.squeezed") == []


def test_what_a_lesson_speaks_of_is_on_the_screen(lab: Watched) -> None:
    lab.open()
    page = lab.page
    title = page.locator("#lesson option", has_text="Sliding decides the sum")
    page.locator("#lesson").select_option(title.get_attribute("value"))
    expect(page.locator("canvas.phase")).to_be_visible()
    for size in ({"width": 1280, "height": 900}, {"width": 1440, "height": 900}):
        page.set_viewport_size(size)
        expect(page.locator("canvas.phase")).to_be_visible()
        page.wait_for_timeout(500)
        # The theory, when it has come, has the plane drawn again: for a moment it has no place.
        while (plane := page.locator("canvas.phase").bounding_box()) is None:
            page.wait_for_timeout(50)
        assert plane["y"] + plane["height"] / 2 < size["height"]
        lesson = page.locator("#tour").bounding_box()
        assert lesson is not None
        assert lesson["y"] < 400
    # A projector of 1024x768 at 150 %.
    page.set_viewport_size({"width": 683, "height": 512})
    network = page.locator("svg.network").bounding_box()
    assert network is not None
    assert network["y"] < 400


def test_thinning_keeps_spikes(tmp_path: Path) -> None:
    module = tmp_path / "thin.mjs"
    build = [
        "node_modules/.bin/esbuild",
        "src/thin.ts",
        "--format=esm",
        f"--outfile={module}",
        "--log-level=warning",
    ]
    subprocess.run(build, cwd=ROOT / "lab", check=True)
    program = (
        "const { extremes, ends } = await import(process.argv[1]);"
        "const values = Array(10000).fill(5); values[3333] = 900; values[7001] = 0;"
        "const time = values.map((_own, i) => i);"
        "console.log(JSON.stringify([extremes(values, 100), ends(time, 100)]));"
    )
    done = subprocess.run(
        ["node", "--input-type=module", "--eval", program, str(module)],
        capture_output=True,
        text=True,
        check=True,
    )
    values, time = json.loads(done.stdout)
    assert len(values) == len(time) == 200
    assert (max(values), min(values)) == (900, 0)
    assert time == sorted(time)
