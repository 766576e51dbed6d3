"""Each lesson can be taken to its end, and the simulation's answer is one of the choices."""

import json
import re
from typing import Any

import pytest
from conftest import Watched, packed
from penstock import Scenario
from penstock.lab import PAGE
from playwright.sync_api import expect

LESSONS = json.loads((PAGE / "lessons.json").read_text())
# The words for ways of load balancing.
SHOWN = {"spray": "spraying"}


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
            name = step["compare"].rpartition("=")[2]
            expect(page.locator(".run h2").last).to_contain_text(SHOWN.get(name, name))
        tour.locator(".next").click()
    expect(tour.locator(".next")).to_be_disabled()
    tour.locator(".simulate").click()
    expect(tour.locator(".verdict")).to_have_text("Choose an answer first.")
    find_the_right_choice(lab, LESSONS[number]["question"])
    tour.locator(".back").click()
    expect(tour).to_contain_text(steps[-1]["text"])
    page.locator("#lesson").select_option("")
    expect(tour).to_be_hidden()


def find_the_right_choice(lab: Watched, question: dict[str, Any]) -> str:
    """Choose one answer after another until the simulation says that it is right."""
    tour = lab.page.locator("#tour")
    right = None
    for choice in question["choices"]:
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
    return right


@pytest.mark.parametrize("step", [1, len(LESSONS[2]["steps"])])
def test_a_link_and_a_reload_keep_the_lesson_and_its_step(
    lab: Watched, step: int
) -> None:
    lab.open()
    page = lab.page
    tour = page.locator("#tour")
    lesson = LESSONS[2]
    page.locator("#lesson").select_option("2")
    for _ in range(step):
        tour.locator(".next").click()
    at_end = step == len(lesson["steps"])
    text = lesson["question"]["text"] if at_end else lesson["steps"][step]["text"]
    expect(tour).to_contain_text(text)
    # What the reader changes is kept, and the step does not take it back.
    page.locator("#compare").select_option("bcn")
    expect(page.locator(".run h2")).to_have_count(2)
    page.locator("#share").click()
    expect(page.locator("#share")).to_have_text("Copied")
    link = page.evaluate("() => navigator.clipboard.readText()")
    page.reload()
    assert_stands(lab, text, step)
    page.goto("about:blank")
    page.goto(link)
    assert_stands(lab, text, step)
    page.locator("#lesson").select_option("")
    page.wait_for_timeout(500)
    page.reload()
    expect(page.locator(".run h2")).to_have_count(2)
    expect(tour).to_be_hidden()


def assert_stands(lab: Watched, text: str, step: int) -> None:
    """The third lesson is open at a step, beside what its reader had made of the run."""
    tour = lab.page.locator("#tour")
    expect(tour).to_contain_text(f"({step + 1} of {len(LESSONS[2]['steps']) + 1})")
    expect(tour).to_contain_text(text)
    expect(lab.page.locator("#lesson")).to_have_value("2")
    expect(lab.page.locator(".run h2")).to_have_count(2)
    expect(lab.page.locator("#compare")).to_have_value("bcn")


def test_a_link_to_a_step_or_a_lesson_that_is_none_opens_its_run(lab: Watched) -> None:
    state = {"text": Scenario.named("baseline/ten-gig").to_toml(), "compare": None}
    state |= {"now_s": 0, "speed": 1, "view": None, "step": 1e9}
    lab.open(f"#s={packed({**state, 'lesson': 'No such lesson'})}")
    expect(lab.page.locator("#tour")).to_be_hidden()
    lab.page.goto("about:blank")
    lab.open(f"#s={packed({**state, 'lesson': LESSONS[0]['title']})}")
    expect(lab.page.locator("#tour")).to_contain_text(LESSONS[0]["question"]["text"])


@pytest.mark.parametrize(
    ("step", "right"),
    [
        (1, "nearly twice as long"),
        (3, "it stays the same"),
        (5, "nearly twice as long"),
    ],
)
def test_the_questions_of_the_all_reduce_have_these_answers(
    lab: Watched, step: int, right: str
) -> None:
    lab.open()
    at_step(lab, "An all-reduce", step)
    lesson = next(own for own in LESSONS if own["title"].startswith("An all-reduce"))
    asked = [*lesson["steps"], lesson][step]["question"]
    assert find_the_right_choice(lab, asked).startswith(right)


def at_step(lab: Watched, lesson: str, step: int) -> None:
    """Opens a step of a lesson, given by the first words of its title."""
    titles = [own["title"] for own in LESSONS]
    number = next(i for i, title in enumerate(titles) if title.startswith(lesson))
    lab.page.locator("#lesson").select_option(str(number))
    for _ in range(step):
        lab.page.locator("#tour .next").click()


def test_the_deal_breaker_rests_below_its_target_until_the_steps_are_larger(
    lab: Watched,
) -> None:
    lab.open()
    at_step(lab, "Sliding", 2)
    drawn = lab.page.locator(".plots [role=img]").first
    shares = []
    for _ in range(2):
        expect(lab.page.locator("#gallery")).to_have_value("sliding-mode/three-sources")
        expect(lab.page.locator("#clock")).to_have_text("3000.000 ms")
        lab.page.wait_for_timeout(1500)
        # "Queue of sw0->sw1: 49.2k octets, set point 64k"
        words = drawn.get_attribute("aria-label") or ""
        length, target = re.findall(r"([\d.]+)k", words)
        shares.append(float(length) / float(target))
        lab.page.locator("#tour .next").click()
    small, large = shares
    assert small < 0.9 < large < 1.1


def test_pauses_spread_over_the_tree_and_a_ring_stands_still(lab: Watched) -> None:
    lab.open()
    at_step(lab, "PFC", 0)
    stopped = lab.page.locator("svg.network line.link.stopped")
    stopped.first.wait_for(state="attached")
    at_step(lab, "PFC", 2)
    expect(lab.page.locator("#gallery")).to_have_value("deadlock/ring")
    lab.page.locator("#end").click()
    expect(lab.page.locator("#clock")).to_have_text("10.000 ms")
    # The three links of the ring and those of the three hosts, to the end.
    expect(stopped).to_have_count(6)
    lab.page.wait_for_timeout(1500)
    use = lab.page.locator(".plots [role=img]").nth(2)
    expect(use).to_have_attribute("aria-label", re.compile(": 0 per cent"))
