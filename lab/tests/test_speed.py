"""How quick the page is: figures for people, printed (`pytest -s lab/tests/test_speed.py`). None is asserted: they are the machine's."""

import time
from pathlib import Path

from conftest import Watched

ROOT = Path(__file__).parents[2]

EIGHT = "#gallery=netfpga/eight-sources-100us"
MARK = "() => performance.getEntriesByName('first run drawn')[0].startTime"
# The times between the frames of the screen over some seconds, in order.
FRAMES = """() => new Promise((resolve) => {
  const times = [];
  const frame = (now) => {
    times.push(now);
    if (now - times[0] < 5000) requestAnimationFrame(frame);
    else resolve(times.slice(1).map((time, i) => time - times[i]).sort((a, b) => a - b));
  };
  requestAnimationFrame(frame);
})"""


def test_the_first_frame_from_a_cold_cache(lab: Watched) -> None:
    lab.open(EIGHT)
    lab.page.wait_for_function(
        "performance.getEntriesByName('first run drawn').length > 0"
    )
    print(f"\nfirst run drawn after {lab.page.evaluate(MARK):.0f} ms")


def test_frames_of_the_screen_with_eight_sources_at_real_time(lab: Watched) -> None:
    lab.open(EIGHT)
    lab.page.locator("#speed").select_option("1")
    lab.page.locator("#play").click()
    lab.page.wait_for_timeout(1000)
    apart_ms = lab.page.evaluate(FRAMES)
    median, late = apart_ms[len(apart_ms) // 2], apart_ms[len(apart_ms) * 95 // 100]
    print(
        f"\nframes of the screen: median {1000 / median:.1f} a second, one in twenty later than {late:.1f} ms"
    )
    print(
        f"at that time: {lab.page.locator('#pace').text_content()}, {lab.page.locator('#clock').text_content()}"
    )


def test_hops_a_second_as_quick_as_it_goes(lab: Watched) -> None:
    """A run of five million hops to its end: one at a multiple of real time would be as quick as that, and no quicker."""
    lab.open(EIGHT)
    text = (ROOT / "scenarios/bench/dumbbell-16.toml").read_text()
    lab.tab("scenario")
    lab.page.locator("#text").fill(text.replace('duration = "5 s"', 'duration = "2 s"'))
    lab.page.locator("#apply").click()
    lab.page.locator("#question", has_text="packet hop").wait_for()
    began = time.perf_counter()
    lab.run_to_end()
    took = time.perf_counter() - began
    hops = 2 * 10e9 * 0.99 / (8 * 1500) * 3
    print(f"\nhops a second: {hops / took / 1e6:.2f} M")
