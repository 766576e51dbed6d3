"""Every control of the page does what it says, and the page says what is wrong."""

import base64
import json
import re
from pathlib import Path

import penstock
import pytest
from conftest import PENS, Watched, packed
from penstock.lab import fragment
from playwright.sync_api import expect

FIRST = "#gallery=baseline/ten-gig"
HOLD = re.compile(r"#s=[\w-]+$")


def now_ms(lab: Watched) -> float:
    """The simulated time that the page shows, ms."""
    number, unit = (lab.page.locator("#clock").text_content() or "").split()
    return float(number) * {"ms": 1, "s": 1000}[unit]


def text(lab: Watched) -> str:
    return lab.page.locator("#text").input_value()


def wait_for_ms(lab: Watched, least: float) -> None:
    """Waits until the run has come so far."""
    for _ in range(600):
        if now_ms(lab) >= least:
            return
        lab.page.wait_for_timeout(50)
    raise AssertionError(f"the run stays at {now_ms(lab)} ms")


def pause(lab: Watched) -> float:
    """Pauses the run, and waits until it stands; gives the time."""
    lab.page.locator("#play").click()
    expect(lab.page.locator("#play")).to_have_text("Play")
    before = -1.0
    while now_ms(lab) != before:
        before = now_ms(lab)
        lab.page.wait_for_timeout(200)
    return before


def test_the_run_plays_pauses_steps_and_resets(lab: Watched) -> None:
    lab.open(FIRST)
    assert now_ms(lab) == 0
    lab.page.locator("#step").click()
    wait_for_ms(lab, 0.5)
    assert now_ms(lab) == 0.5
    lab.page.locator("body").press(".")
    wait_for_ms(lab, 1)
    lab.page.locator("#play").click()
    expect(lab.page.locator("#play")).to_have_text("Pause")
    wait_for_ms(lab, 20)
    pause(lab)
    lab.page.locator("#question").click()
    lab.page.locator("body").press("r")
    expect(lab.page.locator("#clock")).to_have_text("0.000 ms")
    lab.page.locator("body").press(" ")
    expect(lab.page.locator("#play")).to_have_text("Pause")


def test_the_speed_is_that_of_simulated_time(lab: Watched) -> None:
    lab.open(FIRST)
    lab.page.locator("#speed").select_option("0.001")
    lab.page.locator("#play").click()
    lab.page.wait_for_timeout(1000)
    slow = now_ms(lab)
    lab.page.locator("body").press("+")
    lab.page.locator("body").press("+")
    expect(lab.page.locator("#speed")).to_have_value("0.01")
    wait_for_ms(lab, slow + 3)


def stand_at_60_ms(lab: Watched) -> float:
    """Plays the first scenario for some 60 ms, and stops it; returns the simulated time, ms."""
    lab.open(FIRST)
    lab.page.locator("#play").click()
    wait_for_ms(lab, 60)
    return pause(lab)


def test_fewer_sources_a_slower_link_and_a_broken_one_are_changes_of_the_text(
    lab: Watched, tmp_path: Path
) -> None:
    at_ms = stand_at_60_ms(lab)
    expect(lab.page.locator("#sources-shown")).to_have_text("4 of 4")
    lab.page.locator("#sources").fill("2")
    expect(lab.page.locator("#text")).to_have_value(re.compile(r"stop = "))
    lab.page.locator("#rate").fill("50")
    expect(lab.page.locator("#text")).to_have_value(re.compile(r'rate = "5 Gbps"'))
    assert now_ms(lab) == pytest.approx(at_ms, abs=0.001)
    lab.page.locator("#break").click()
    expect(lab.page.locator("#text")).to_have_value(re.compile(r'state = "down"'))
    lab.page.locator("#step").click()
    lab.page.locator("#step").click()
    wait_for_ms(lab, at_ms + 0.5)
    lab.page.locator("#mend").click()
    expect(lab.page.locator("#text")).to_have_value(re.compile(r'state = "up"'))
    lab.page.locator("#sources").fill("3")
    expect(lab.page.locator("#sources-shown")).to_have_text("3 of 4")
    lab.run_to_end()
    assert_same_on_the_command_line(lab, tmp_path)


def assert_same_on_the_command_line(lab: Watched, folder: Path) -> None:
    """Saves the scenario and runs it with the library."""
    lab.page.locator("#export summary").click()
    with lab.page.expect_download() as download:
        lab.page.locator("#export-toml").click()
    file = folder / "scenario.toml"
    download.value.save_as(file)
    run = penstock.Scenario.load(file).run()
    shown = json.loads(lab.page.locator("#summary").text_content() or "")
    assert {**shown, "run": None} == {**run.summary, "run": None}


def test_a_parameter_is_set_by_its_text_and_by_its_slider(lab: Watched) -> None:
    lab.open(FIRST)
    lab.tab("parameters")
    box = lab.page.locator("#parameter-q_eq")
    expect(box).to_have_value("33 KB")
    box.fill("50 KB")
    box.press("Enter")
    expect(lab.page.locator("#text")).to_have_value(re.compile(r'q_eq = "50 KB"'))
    slider = lab.page.get_by_label("q_eq, slider")
    slider.press("ArrowRight")
    expect(box).not_to_have_value("50 KB")
    expect(lab.page.locator("#text")).to_have_value(
        re.compile(re.escape(box.input_value()))
    )
    box.fill("50 apples")
    box.press("Enter")
    expect(lab.page.locator("#mistake")).to_contain_text("schemes.qcn.q_eq")


def test_a_parameter_and_background_traffic_change_from_now_on(
    lab: Watched, tmp_path: Path
) -> None:
    at_ms = stand_at_60_ms(lab)
    lab.tab("parameters")
    box = lab.page.locator("#parameter-q_eq")
    box.fill("60 KB")
    box.press("Enter")
    expect(lab.page.locator("#text")).to_have_value(
        re.compile(r'at = ".*"\s+\[change\.schemes\.qcn\]\s+q_eq = "60 KB"')
    )
    assert now_ms(lab) == pytest.approx(at_ms, abs=0.001)
    queue = lab.page.locator(".plots > div").first
    expect(queue).to_have_attribute("aria-label", re.compile("set point 60k"))
    lab.tab("change")
    background = lab.page.locator("#background")
    shown = lab.page.locator("#background-shown")
    expect(shown).to_have_text("none")
    background.fill("40")
    expect(shown).to_have_text("4 Gb/s")
    expect(lab.page.locator("#text")).to_have_value(re.compile("controlled = false"))
    lab.page.locator("#step").click()
    lab.page.locator("#step").click()
    wait_for_ms(lab, at_ms + 0.3)
    background.fill("0")
    expect(shown).to_have_text("none")
    # A value that is refused there is reported, and the run before it stays.
    lab.tab("parameters")
    box.fill("50 MB")
    box.press("Enter")
    expect(lab.page.locator("#mistake")).to_contain_text("beyond the buffer")
    lab.page.reload()
    expect(box).to_have_value("60 KB")
    lab.run_to_end()
    assert_same_on_the_command_line(lab, tmp_path)


def test_two_schemes_run_side_by_side_on_the_same_traffic(lab: Watched) -> None:
    lab.open(FIRST)
    lab.page.locator("#compare").select_option("smcc")
    expect(lab.page.locator(".run h2")).to_have_count(2)
    lab.page.locator("#scheme").select_option("bcn")
    expect(lab.page.locator(".run h2").first).to_contain_text("bcn")
    lab.run_to_end()
    both = lab.page.locator("#summary").text_content() or ""
    assert '"scheme": "bcn"' in both and '"scheme": "smcc"' in both


def test_a_reload_and_a_link_keep_the_whole_state(lab: Watched) -> None:
    lab.open(FIRST)
    lab.page.locator("#compare").select_option("fecn")
    expect(lab.page.locator(".run h2")).to_have_count(2)
    lab.page.locator("#play").click()
    wait_for_ms(lab, 30)
    stands, scenario = pause(lab), text(lab)
    lab.page.locator("#share").click()
    expect(lab.page.locator("#share")).to_have_text("Copied")
    link = lab.page.evaluate("() => navigator.clipboard.readText()")
    assert HOLD.search(link)
    lab.page.reload()
    expect(lab.page.locator(".run h2")).to_have_count(2)
    assert (now_ms(lab), text(lab)) == (stands, scenario)
    lab.page.goto("about:blank")
    lab.page.goto(link)
    expect(lab.page.locator(".run h2")).to_have_count(2)
    assert (now_ms(lab), text(lab)) == (stands, scenario)
    expect(lab.page.locator("#compare")).to_have_value("fecn")


def test_a_wrong_scenario_is_refused_with_line_key_and_hint_and_the_run_before_stays(
    lab: Watched,
) -> None:
    lab.open(FIRST)
    wrong = text(lab).replace('scheme = "qcn"', 'scheme = "qcm"')
    lab.tab("scenario")
    lab.page.locator("#text").fill(wrong)
    lab.page.locator("#apply").click()
    mistake = lab.page.locator("#mistake")
    expect(mistake).to_contain_text("scheme")
    expect(mistake).to_contain_text("line")
    expect(mistake).to_contain_text("qcn")
    lab.page.locator("#step").click()
    wait_for_ms(lab, 0.5)
    lab.page.locator("#text").fill(wrong.replace("qcm", "bcn"))
    lab.page.locator("#text").press("Control+Enter")
    expect(lab.page.locator(".run h2")).to_contain_text("bcn")
    expect(mistake).to_be_hidden()


def test_a_strangers_text_is_text(lab: Watched) -> None:
    lab.open(FIRST)
    evil = "<img src=x onerror=alert(1)><script>alert(1)</script>"
    lab.tab("scenario")
    lab.page.locator("#text").fill(
        re.sub(r'question = ".*"', f'question = "{evil}"', text(lab))
    )
    lab.page.locator("#apply").click()
    expect(lab.page.locator("#question")).to_have_text(evil)
    assert lab.page.locator("#question img").count() == 0


def test_a_link_of_the_documentation_opens_its_scenario(lab: Watched) -> None:
    scenario = penstock.Scenario.named("four-sources").set("scheme", "bcn")
    lab.open(f"#{fragment(scenario)}")
    assert text(lab) == scenario.to_toml()
    expect(lab.page.locator(".run h2")).to_contain_text("bcn")


NO_STATE = packed({"text": 3, "now_s": -1})


@pytest.mark.parametrize(
    "link", ["#s=!!!", "#s=AAAA", "#s=" + "A" * 5000, f"#s={NO_STATE}"]
)
def test_a_link_that_is_none_is_told(lab: Watched, link: str) -> None:
    lab.open(link)
    expect(lab.page.locator("#question")).not_to_be_empty()
    # It stays beside the run that replaces it, until another one is opened.
    message = lab.page.locator("#message")
    expect(message).to_be_visible()
    expect(message).to_contain_text("the link is not one of this page")
    lab.page.locator("#step").click()
    wait_for_ms(lab, 0.5)
    expect(message).to_be_visible()
    lab.page.locator("#reset").click()
    expect(message).to_be_hidden()


def test_a_link_whose_scenario_is_refused_shows_its_text_to_be_mended(
    lab: Watched,
) -> None:
    right = penstock.Scenario.named("four-sources").to_toml()
    wrong = f"engine_version = 9\n{right}"
    state = {"text": wrong, "compare": None, "now_s": 0.02, "speed": 1, "view": None}
    mistake = lab.page.locator("#mistake")
    lab.page.goto(f"{lab.url}#s={packed(state)}")
    expect(mistake).to_contain_text("line 1, engine_version: unknown key")
    assert text(lab) == wrong
    # The wrong line is chosen, and it and the message are seen.
    expect(mistake).to_be_in_viewport()
    lab.tab("scenario")
    assert lab.page.locator("#text").evaluate("(box) => box.scrollTop") == 0
    assert lab.page.evaluate("() => getSelection()?.toString()") == "engine_version = 9"
    lab.page.locator("#text").press("ControlOrMeta+Home")
    lab.page.locator("#text").press("Shift+End")
    lab.page.locator("#text").press("Delete")
    lab.page.locator("#apply").click()
    expect(lab.page.locator(".run h2")).to_have_count(1)
    expect(mistake).to_be_hidden()
    wait_for_ms(lab, 20)


def test_a_link_whose_second_scheme_is_refused_can_be_opened_without_it(
    lab: Watched,
) -> None:
    right = penstock.Scenario.named("four-sources").to_toml()
    state = {"text": right, "compare": "qcm", "now_s": 0, "speed": 1, "view": None}
    lab.page.goto(f"{lab.url}#s={packed(state)}")
    expect(lab.page.locator("#mistake")).to_contain_text("qcm")
    assert text(lab) == right
    # Reset tries the same once more.
    lab.page.locator("#reset").click()
    expect(lab.page.locator("#mistake")).to_contain_text("qcm")
    lab.page.locator("#compare").select_option("")
    expect(lab.page.locator(".run h2")).to_have_count(1)


def test_a_scenario_without_end_is_refused_or_stopped(lab: Watched) -> None:
    lab.open(FIRST)
    lab.tab("scenario")
    lab.page.locator("#text").fill(text(lab).replace("hosts = 5", "hosts = 5000"))
    lab.page.locator("#apply").click()
    expect(lab.page.locator("#mistake")).to_contain_text("nodes")
    # A run that takes for ever: the page answers, and the engine can be ended.
    lab.page.locator("#text").fill(
        text(lab)
        .replace("hosts = 5000", "hosts = 5")
        .replace('duration = "500 ms"', 'duration = "500000 s"')
    )
    lab.page.locator("#apply").click()
    expect(lab.page.locator("#mistake")).to_be_hidden()
    lab.page.locator("#end").click()
    wait_for_ms(lab, 10)
    lab.page.locator("#stop").click()
    expect(lab.page.locator("#message")).to_contain_text("stopped")
    stands = now_ms(lab)
    lab.page.wait_for_timeout(300)
    assert now_ms(lab) == stands
    # It can be taken up again from there.
    lab.page.locator("#play").click()
    expect(lab.page.locator("#play")).to_have_text("Pause")
    expect(lab.page.locator("#message")).to_be_hidden()
    wait_for_ms(lab, stands + 1)
    # A run that plays is paused; there is nothing to be stopped.
    expect(lab.page.locator("#stop")).to_be_hidden()
    pause(lab)
    lab.page.locator("#reset").click()
    expect(lab.page.locator("#clock")).to_have_text("0.000 ms")
    lab.page.locator("#step").click()
    wait_for_ms(lab, 1)


def test_another_queue_is_shown_by_a_click_and_by_a_key(lab: Watched) -> None:
    lab.open("#gallery=bottleneck/parking-lot")
    queues = lab.page.locator("g[role=button]")
    queues.nth(1).press("Enter")
    name = (queues.nth(1).get_attribute("aria-label") or "").split()[-1]
    expect(lab.page.locator("#port")).to_have_value(name)
    expect(lab.page.locator(".u-title").first).to_contain_text(name)
    lab.page.locator("#port").select_option(index=0)
    expect(lab.page.locator(".u-title").first).not_to_contain_text(name)
    # The space bar, too, and it does not play.
    queues.nth(1).press(" ")
    expect(lab.page.locator("#port")).to_have_value(name)
    expect(lab.page.locator("#play")).to_have_text("Play")


# How many colours there are in a part of a picture.
COLOURS = """async ([data, x, y, width, height]) => {
  const picture = new Image();
  picture.src = `data:image/png;base64,${data}`;
  await picture.decode();
  const { width: wide, height: high } = picture;
  const canvas = Object.assign(document.createElement("canvas"), { width: wide, height: high });
  const pen = canvas.getContext("2d");
  pen.drawImage(picture, 0, 0);
  const points = new Uint32Array(pen.getImageData(x, y, width, height).data.buffer);
  return new Set(points).size;
}"""


def test_the_picture_has_the_network_and_a_title_above_each_plot(
    lab: Watched, tmp_path: Path
) -> None:
    file = tmp_path / "picture.png"
    lab.picture_of_two_schemes(PENS, "window.written = []; window.images = [];", file)
    written, images = lab.page.evaluate("() => [window.written, window.images]")
    titles = {}
    for line, x, y in written:
        titles.setdefault(x, []).append((y, line))
    left, right = sorted(titles)
    plots = [
        "Queue of sw0->h8 (octets)",
        "Throughput (bit/s)",
        "Utilisation of sw0->h8",
        "Phase plane of sw0->h8 (octets, bit/s)",
    ]
    # Long sentences have several lines.
    lines = [line for _, line in titles[left]]
    assert lines[0] == lab.page.locator("#question").text_content()
    assert lines[1].startswith("qcn · mean queue 3")
    names = ["The network at 10s", *plots]
    at = lines.index(names[0])
    assert lines[at : at + 5] == names
    assert lines[at + 5].startswith("Stability by the fluid model. ")
    assert titles[right][0][1].startswith("bcn · mean queue ")
    assert [line for _, line in titles[right]][-5:] == names
    # Each title is above its drawing, and below the one before it.
    before = 0.0
    tops = [y for y, _ in titles[left]][at : at + 6]
    for y, (x, top, _, height) in zip(tops, images[:6], strict=True):
        assert (x, before < y < top) == (0, True)
        before = top + height
    data = base64.b64encode(file.read_bytes()).decode()
    assert lab.page.evaluate(COLOURS, [data, *images[0]]) > 10


@pytest.mark.parametrize("scenario", ["baseline/ten-gig", "netfpga/one-source-100us"])
def test_a_switching_line_has_its_name_inside_the_phase_plane(
    lab: Watched, scenario: str
) -> None:
    lab.page.add_init_script(PENS)
    lab.open(f"#gallery={scenario}")
    lab.run_to_end()
    lab.page.wait_for_timeout(1500)
    places = lab.page.evaluate("() => written.filter(([text]) => text === 'Fb')")
    _, x, y = places[-1]
    plane = lab.page.locator("canvas.phase").bounding_box()
    assert plane is not None
    assert 0 < x < plane["width"]
    assert 0 < y < plane["height"]


def test_picture_and_theme(lab: Watched, tmp_path: Path) -> None:
    lab.open(FIRST)
    lab.page.locator("#theme").click()
    expect(lab.page.locator("html")).to_have_attribute("data-shade", "dark")
    lab.page.locator("#step").click()
    wait_for_ms(lab, 0.5)
    lab.page.locator("#export summary").click()
    with lab.page.expect_download() as download:
        lab.page.locator("#export-png").click()
    file = tmp_path / "picture.png"
    download.value.save_as(file)
    assert file.read_bytes().startswith(b"\x89PNG")
    lab.page.reload()
    expect(lab.page.locator("html")).to_have_attribute("data-shade", "dark")


def test_the_page_works_without_a_network_once_it_is_loaded(lab: Watched) -> None:
    # A cache of an earlier version, and one of another page.
    lab.page.add_init_script(
        "for (const name of ['penstock / 0', 'other']) void globalThis.caches?.open(name);"
    )
    lab.open(FIRST)
    lab.page.evaluate("async () => { await navigator.serviceWorker.ready; }")
    kept = lab.page.wait_for_function(
        "async () => { const names = await caches.keys();"
        " return names.includes('penstock / 0') ? null : names; }"
    ).json_value()
    assert "other" in kept
    assert len(kept) == 2
    lab.page.context.set_offline(True)
    lab.page.goto("about:blank")
    lab.open("#gallery=netfpga/one-source-100us")
    expect(lab.page.locator("#gallery")).to_have_attribute(
        "value", "netfpga/one-source-100us"
    )
    lab.page.locator("#step").click()
    wait_for_ms(lab, 1)
