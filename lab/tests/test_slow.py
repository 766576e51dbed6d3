"""Between samples: the plots and bars of a slow run; and a run that is too long for each of its samples to be kept."""

import re
from pathlib import Path

from conftest import Watched
from playwright.sync_api import expect
from test_controls import FIRST, now_ms, pause, wait_for_ms
from test_network import set_off, step_to

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"
HEIGHT = "() => document.querySelector('.fill').getAttribute('height')"
READOUT = "(i) => document.querySelectorAll('.plots .readout')[i].textContent"


def times_ms(lab: Watched, plot: int) -> list[float]:
    """The times of the points that a plot has, from its left to its right, ms."""
    over = lab.page.locator(".plots .u-over").nth(plot)
    box = over.bounding_box()
    assert box is not None
    found: list[float] = []
    for x in range(1, int(box["width"]), 2):
        over.hover(position={"x": x, "y": 20}, force=True)
        said = re.match(r"([\d.e-]+)([mµn]?)s: ", lab.page.evaluate(READOUT, plot))
        assert said is not None
        found.append(float(said[1]) * {"": 1000, "m": 1, "µ": 1e-3, "n": 1e-6}[said[2]])
    return found


def test_plots_of_a_slow_run_have_points_between_samples(lab: Watched) -> None:
    lab.open(FIRST)
    set_off(lab, "0.0001")
    wait_for_ms(lab, 0.3)
    stands = pause(lab)
    for plot in (0, 1, 2):
        found = times_ms(lab, plot)
        assert found == sorted(found)
        # There is a sample each 0.5 ms.
        between = {own for own in found if abs(2 * own - round(2 * own)) > 0.01}
        assert len(between) > 15, found
        assert found[-1] <= stands + 0.001
    # A quicker run has its samples, and all of them.
    lab.page.locator("#speed").select_option("0.1")
    lab.run_to_end()
    whole = times_ms(lab, 0)
    assert whole[0] < 5 and whole[-1] > 490


def test_a_bar_moves_between_samples(lab: Watched) -> None:
    lab.open(FIRST)
    # The second source begins here, and the queue grows.
    step_to(lab, 10)
    set_off(lab, "0.00001")
    wait_for_ms(lab, 10.005)
    seen = set()
    while len(seen) < 5:
        seen.add(lab.page.evaluate(HEIGHT))
        assert now_ms(lab) < 10.5, seen
        lab.page.wait_for_timeout(50)


def test_of_a_long_run_some_samples_are_drawn_and_it_goes_on(lab: Watched) -> None:
    lab.open(FIRST)
    text = (SCENARIOS / "baseline/ten-gig.toml").read_text()
    assert 'duration = "500 ms"' in text
    fine = 'duration = "8 s"\nrecord.interval = "10 us"'
    lab.tab("scenario")
    lab.page.locator("#text").fill(text.replace('duration = "500 ms"', fine))
    lab.page.locator("#apply").click()
    note = lab.page.locator(".note")
    expect(note).to_contain_text("The run is long: of")
    every = re.search(r"of (\d+) samples one is drawn", note.text_content() or "")
    assert every is not None and int(every[1]) > 1
    lab.page.locator("#step").click()
    expect(lab.page.locator("#clock")).to_have_text(f"{0.01 * int(every[1]):.3f} ms")


def test_a_run_of_minutes_goes_on(lab: Watched) -> None:
    lab.open(FIRST)
    text = (SCENARIOS / "baseline/ten-gig.toml").read_text()
    lab.tab("scenario")
    lab.page.locator("#text").fill(
        text.replace('duration = "500 ms"', 'duration = "500 s"')
    )
    lab.page.locator("#apply").click()
    # It goes beyond the second in which the clock changes its unit.
    lab.page.locator("#speed").select_option("10")
    lab.page.locator("#play").click()
    expect(lab.page.locator("#clock")).to_have_text(re.compile(r"^\d+\.\d{6} s$"))
    assert pause(lab) > 1000
    expect(lab.page.locator("#message")).to_be_hidden()
