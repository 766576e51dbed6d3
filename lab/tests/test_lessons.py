"""Each lesson can be taken to its end, and the simulation's answer is one of the choices."""

import json

import pytest
from conftest import Watched
from penstock.lab import PAGE
from playwright.sync_api import expect

LESSONS = json.loads((PAGE / "lessons.json").read_text())


@pytest.mark.parametrize(
    "number", range(len(LESSONS)), ids=[lesson["title"] for lesson in LESSONS]
)
def test_a_lesson_comes_to_its_end(lab: Watched, number: int) -> None:
    lab.open()
    page = lab.page
    page.locator("#lesson").select_option(str(number))
    tour = page.locator("#tour")
    steps = LESSONS[number]["steps"]
    for step in steps:
        expect(tour).to_contain_text(step["text"])
        if step.get("compare"):
            expect(page.locator(".run h2").last).to_contain_text(step["compare"])
        tour.locator(".next").click()
    expect(tour.locator(".next")).to_be_disabled()
    tour.locator(".simulate").click()
    expect(tour.locator(".verdict")).to_have_text("Choose an answer first.")
    right = None
    for choice in LESSONS[number]["question"]["choices"]:
        tour.get_by_label(choice["text"], exact=True).check()
        tour.locator(".simulate").click()
        expect(tour.locator(".verdict")).to_contain_text(
            "The simulation gives", timeout=240_000
        )
        verdict = tour.locator(".verdict").text_content() or ""
        print(verdict)
        assert "none of the choices" not in verdict
        if verdict.startswith("Right"):
            right = choice["text"]
            break
        assert verdict.startswith("Not so")
    assert right is not None
    tour.locator(".back").click()
    expect(tour).to_contain_text(steps[-1]["text"])
    page.locator("#lesson").select_option("")
    expect(tour).to_be_hidden()
