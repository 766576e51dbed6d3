"""The page has no serious fault of accessibility in three sizes and both themes; screenshots to look at in .build/lab."""

from pathlib import Path
from typing import Any

import pytest
from conftest import Watched
from playwright.sync_api import expect

ROOT = Path(__file__).resolve().parents[2]
AXE = ROOT / "lab/node_modules/axe-core/axe.min.js"
SHOTS = ROOT / ".build/lab"
# A scenario of flows, one of a job, and what stands beside it.
PAGES = {
    "baseline/ten-gig": "smcc",
    "jobs/two-uplinks": "network.load_balancing=spray",
}
SIZES = {
    "phone": (390, 844),
    "hall": (1024, 768),
    "laptop": (1280, 900),
    "projector": (1920, 1080),
}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("scenario", "beside"), PAGES.items(), ids=PAGES)
def test_the_page_can_be_used_by_everyone(
    lab: Watched, size: str, theme: str, scenario: str, beside: str
) -> None:
    width, height = SIZES[size]
    lab.page.set_viewport_size({"width": width, "height": height})
    lab.page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    lab.open(f"#gallery={scenario}")
    lab.page.locator("#compare").select_option(beside)
    expect(lab.page.locator(".run h2")).to_have_count(2)
    lab.run_to_end()
    lab.page.wait_for_timeout(1500)
    SHOTS.mkdir(parents=True, exist_ok=True)
    name = f"{scenario.rpartition('/')[2]}-{size}-{theme}"
    lab.page.screenshot(path=SHOTS / f"{name}.png")
    lab.page.screenshot(path=SHOTS / f"{name}-whole.png", full_page=True)
    assert (
        lab.page.evaluate(
            "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        == 0
    )
    assert faults(lab) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_each_tab_the_lecture_and_the_embedded_page_can_be_used_by_everyone(
    lab: Watched, theme: str
) -> None:
    lab.page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    lab.open("#gallery=baseline/ten-gig")
    for tab in ("parameters", "scenario", "numbers", "change"):
        lab.tab(tab)
        assert faults(lab) == [], tab
    lab.page.locator("#gallery").click()
    lab.page.locator(".card svg").first.wait_for()
    lab.page.wait_for_timeout(500)
    lab.page.screenshot(path=SHOTS / f"drawer-{theme}.png")
    assert faults(lab) == []
    lab.page.keyboard.press("Escape")
    lab.page.locator("#lesson").select_option("1")
    lab.page.locator("#tour h2").wait_for()
    lab.page.locator("#lesson").blur()
    lab.page.locator("body").press("f")
    lab.page.wait_for_timeout(500)
    lab.page.screenshot(path=SHOTS / f"lecture-{theme}.png")
    assert faults(lab) == []
    lab.open("embed.html#gallery=baseline/ten-gig")
    lab.page.screenshot(path=SHOTS / f"embed-{theme}.png")
    assert faults(lab) == []


def faults(lab: Watched) -> list[list[str]]:
    """What axe finds: impact, rule and places of each."""
    # In an isolated world: the page's policy lets no other script in.
    session = lab.page.context.new_cdp_session(lab.page)
    frame = session.send("Page.getFrameTree")["frameTree"]["frame"]["id"]
    world = session.send(
        "Page.createIsolatedWorld", {"frameId": frame, "worldName": "axe"}
    )["executionContextId"]

    def run(code: str) -> Any:
        asked = {
            "expression": code,
            "contextId": world,
            "awaitPromise": True,
            "returnByValue": True,
        }
        return session.send("Runtime.evaluate", asked)["result"].get("value")

    run(AXE.read_text())
    return run(  # type: ignore[no-any-return]
        "axe.run().then((r) => r.violations.map((v) => [v.impact, v.id, v.nodes.map((n) => n.html).slice(0, 3)]))"
    )
