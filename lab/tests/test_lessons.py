"""Each lesson can be taken to its end; its names point at the page, its tasks can be done, its questions have an answer."""

import json
import re
from typing import Any

import pytest
from conftest import Watched, packed
from penstock import Scenario
from penstock.lab import PAGE
from playwright.sync_api import Locator, expect

LESSONS = json.loads((PAGE / "lessons.json").read_text())
# The words for ways of load balancing.
SHOWN = {"spray": "spraying"}
MARK = re.compile(r"\[([^\]]+)\]\(([#!])([^)]+)\)")


def plain(text: str) -> str:
    """A text of a lesson without its marks."""
    return MARK.sub(r"\1", text)


@pytest.mark.parametrize(
    "number", range(len(LESSONS)), ids=[lesson["title"] for lesson in LESSONS]
)
def test_a_lesson_comes_to_its_end(lab: Watched, number: int) -> None:
    lab.open()
    page = lab.page
    page.locator("#lesson").select_option(str(number))
    tour = page.locator("#tour")
    lesson = LESSONS[number]
    steps = lesson["steps"]
    expect(tour.locator("dl")).to_contain_text(lesson["goal"])
    expect(tour.locator("dl")).to_contain_text(re.compile(r"about \d+ minutes"))
    for step in steps:
        expect(tour).to_contain_text(plain(step["text"]))
        if step.get("compare"):
            expect(page.locator(".run h2")).to_have_count(2)
            name = step["compare"].rpartition("=")[2]
            expect(page.locator(".run h2").last).to_contain_text(SHOWN.get(name, name))
        if step.get("set", {}).get("question"):
            expect(page.locator("#question")).to_have_text(step["set"]["question"])
        assert_names_point_at_the_page(lab, step)
        if "task" in step:
            assert_task_is_checked(tour)
        tour.locator(".next").click()
    expect(tour.locator("dl")).to_have_count(0)
    tour.locator(".simulate").click()
    expect(tour.locator(".verdict")).to_have_text("Choose an answer first.")
    find_the_right_choice(lab, lesson["question"])
    expect(tour.locator(".progress")).to_contain_text(f"1 of {len(LESSONS)} lessons")
    expect(page.locator(f"#lesson option[value='{number}']")).to_have_text(
        re.compile(r"^✓ ")
    )
    tour.locator(".back").click()
    expect(tour).to_contain_text(plain(steps[-1]["text"]))
    tour.locator(".next").click()
    if number + 1 < len(LESSONS):
        expect(tour.locator(".next")).to_contain_text(LESSONS[number + 1]["title"])
        tour.locator(".next").click()
        expect(tour).to_contain_text(plain(LESSONS[number + 1]["steps"][0]["text"]))
        expect(page.locator("#lesson")).to_have_value(str(number + 1))
    else:
        expect(tour.locator(".next")).to_be_disabled()
    page.locator("#lesson").select_option("")
    expect(tour).to_be_hidden()


def assert_names_point_at_the_page(lab: Watched, step: dict[str, Any]) -> None:
    """Each name of a text lights at least one part of the page while it has the focus, and none afterwards."""
    names = [words for words, sign, _ in MARK.findall(step["text"]) if sign == "#"]
    buttons = lab.page.locator("#tour .names")
    expect(buttons).to_have_text(names)
    for i in range(len(names)):
        buttons.nth(i).focus()
        # The part is there when the run of the step is.
        lit = lab.page.locator(".named")
        for _ in range(100):
            if lit.count() > 0:
                break
            lab.page.wait_for_timeout(100)
            buttons.nth(i).blur()
            buttons.nth(i).focus()
        assert lit.count() > 0, names[i]
        buttons.nth(i).blur()
        expect(lit).to_have_count(0)


def assert_task_is_checked(tour: Locator) -> None:
    """The scenario as it is given does not reach the goals of a task; a solution does, and only with its own keys."""
    verdict = tour.locator(".task .verdict")
    tour.locator(".check").click()
    expect(verdict).to_contain_text("Not yet.", timeout=240_000)
    print(verdict.text_content())
    tour.locator(".solve").click()
    expect(verdict).to_contain_text("A solution runs", timeout=60_000)
    expect(tour.locator(".check")).to_be_enabled()
    tour.page.wait_for_timeout(500)
    tour.locator(".check").click()
    expect(verdict).to_contain_text("Done.", timeout=240_000)
    print(verdict.text_content())


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


# A lesson of two steps.
KEPT = 12


@pytest.mark.parametrize("step", [1, len(LESSONS[KEPT]["steps"])])
def test_a_link_and_a_reload_keep_the_lesson_and_its_step(
    lab: Watched, step: int
) -> None:
    lab.open()
    page = lab.page
    tour = page.locator("#tour")
    lesson = LESSONS[KEPT]
    page.locator("#lesson").select_option(str(KEPT))
    for _ in range(step):
        tour.locator(".next").click()
    at_end = step == len(lesson["steps"])
    text = lesson["question"]["text"] if at_end else plain(lesson["steps"][step]["text"])
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
    """The lesson is open at a step, beside what its reader had made of the run."""
    tour = lab.page.locator("#tour")
    expect(tour).to_contain_text(f"({step + 1} of {len(LESSONS[KEPT]['steps']) + 1})")
    expect(tour).to_contain_text(text)
    expect(lab.page.locator("#lesson")).to_have_value(str(KEPT))
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
        (3, "it is longer"),
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
    at_step(lab, "PFC and", 0)
    stopped = lab.page.locator("svg.network line.link.stopped")
    stopped.first.wait_for(state="attached")
    at_step(lab, "Pause storm", 2)
    expect(lab.page.locator("#gallery")).to_have_value("deadlock/ring")
    lab.page.locator("#end").click()
    expect(lab.page.locator("#clock")).to_have_text("10.000 ms")
    # The three links of the ring and those of the three hosts, to the end.
    expect(stopped).to_have_count(6)
    lab.page.wait_for_timeout(1500)
    use = lab.page.locator(".plots [role=img]").nth(2)
    expect(use).to_have_attribute("aria-label", re.compile(": 0 per cent"))
