"""The drawing of the network: frames on their lines where the run is slow, notifications among them, pauses in red."""

from conftest import Watched
from playwright.sync_api import expect

SEEN = "circle.frame.{kind}[visibility=visible]"


def set_off(lab: Watched, speed: str) -> None:
    """Plays at a speed from where the run stands."""
    lab.page.locator("#speed").select_option(speed)
    lab.page.locator("#play").click()


def test_frames_move_where_the_run_is_slow_and_are_not_there_where_it_is_quick(
    lab: Watched,
) -> None:
    lab.open("#gallery=baseline/ten-gig")
    set_off(lab, "0.00001")
    frame = lab.page.locator(SEEN.format(kind="data")).first
    frame.wait_for(state="attached")
    places = set()
    for _ in range(20):
        places.add(frame.get_attribute("cx"))
        lab.page.wait_for_timeout(50)
    assert len(places) > 2
    lab.page.locator("#speed").select_option("0.1")
    expect(lab.page.locator("circle.frame[visibility=visible]")).to_have_count(0)


def test_notifications_fly_back_to_their_sources(lab: Watched) -> None:
    lab.open("#gallery=baseline/ten-gig")
    step_to(lab, 10)
    set_off(lab, "0.0001")
    signal = lab.page.locator(SEEN.format(kind="signal")).first
    signal.wait_for(state="attached")


def test_pauses_are_red_frames_and_stop_their_lines(lab: Watched) -> None:
    lab.open("#gallery=victim-flow/pfc")
    step_to(lab, 10)
    set_off(lab, "0.00001")
    lab.page.locator(SEEN.format(kind="pause")).first.wait_for(state="attached")
    lab.page.locator("line.link.stopped").first.wait_for(state="attached")


def step_to(lab: Watched, at_ms: float) -> None:
    """Steps, a sample each, until the run has come so far."""
    while True:
        shown = lab.page.locator("#clock").text_content() or "0"
        if float(shown.removesuffix(" ms")) >= at_ms:
            return
        lab.page.locator("#step").click()
        expect(lab.page.locator("#clock")).not_to_have_text(shown)
