"""Each lesson can be taken to its end; its names point at the page, its tasks can be done, its questions have an answer."""

import json
import re
from typing import Any

import pytest
from conftest import Watched, packed
from penstock import Scenario
from penstock.lab import PAGE
from playwright.sync_api import Locator, expect
from test_looks import faults

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


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_lesson_can_be_used_by_everyone(lab: Watched, theme: str) -> None:
    lab.page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    lab.open()
    at_step(lab, "Incast", 2)
    tour = lab.page.locator("#tour")
    tour.locator(".check").click()
    expect(tour.locator(".verdict .bad")).to_have_count(1, timeout=240_000)
    assert faults(lab) == []
    tour.locator(".next").click()
    tour.locator(".next").click()
    tour.get_by_label("most of them").check()
    tour.locator(".simulate").click()
    expect(tour.locator(".bars")).to_be_visible(timeout=240_000)
    assert faults(lab) == []


def assert_names_point_at_the_page(lab: Watched, step: dict[str, Any]) -> None:
    """Each name of a text lights at least one part of the page while it has the focus, and none afterwards."""
    names = [words for words, sign, _ in MARK.findall(step["text"]) if sign == "#"]
    buttons = lab.page.locator("#tour .names")
    expect(buttons).to_have_text(names)
    lit = lab.page.locator(".named")
    for i in range(len(names)):
        # The part is there when the run of the step is; the run before it may go meanwhile.
        for _ in range(100):
            buttons.nth(i).focus()
            found = lit.count()
            buttons.nth(i).blur()
            if found > 0:
                break
            lab.page.wait_for_timeout(100)
        assert found > 0, names[i]
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
    text = (
        lesson["question"]["text"] if at_end else plain(lesson["steps"][step]["text"])
    )
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
        expect(lab.page.locator("#gallery")).to_have_attribute(
            "value", "sliding-mode/three-sources"
        )
        expect(lab.page.locator("#clock")).to_have_text("3.000000 s")
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
    expect(lab.page.locator("#gallery")).to_have_attribute("value", "deadlock/ring")
    lab.page.locator("#end").click()
    expect(lab.page.locator("#clock")).to_have_text("10.000 ms")
    # The three links of the ring and those of the three hosts, to the end.
    expect(stopped).to_have_count(6)
    lab.page.wait_for_timeout(1500)
    use = lab.page.locator(".plots [role=img]").nth(2)
    expect(use).to_have_attribute("aria-label", re.compile(": 0 per cent"))


@pytest.mark.parametrize(
    ("written", "verdict", "lost"),
    [
        # 1499 + 12.5 x 500 x 2 + 1500 + 64 + 12.5 x 2000 + 1500 - 1 octets, by hand.
        ("42062", "Right. The planner has 42062 octets", "frames lost: 0"),
        ("42 KB", "Right.", "frames lost: 0"),
        ("20 KB", "Not so. The planner has 42062 octets", "frames lost: 8143"),
    ],
)
def test_a_headroom_by_hand_is_held_to_the_planner_and_to_a_run(
    lab: Watched, written: str, verdict: str, lost: str
) -> None:
    lab.open()
    at_step(lab, "Headroom", 1)
    said = lab.page.locator(".task .verdict")
    lab.page.locator(".task input").fill(written)
    lab.page.locator(".task .check").click()
    expect(said).to_contain_text(verdict, timeout=240_000)
    expect(said).to_contain_text(lost)


@pytest.mark.parametrize("written", ["", "much", "-3 KB", "12 KB s"])
def test_a_headroom_that_is_none_is_refused(lab: Watched, written: str) -> None:
    lab.open()
    at_step(lab, "Headroom", 1)
    lab.page.locator(".task input").fill(written)
    lab.page.locator(".task .check").click()
    said = lab.page.locator(".task .verdict")
    expect(said).not_to_contain_text("The simulation runs")
    expect(said).not_to_be_empty()
    expect(said).not_to_contain_text("planner")
    expect(lab.page.locator(".task .check")).to_be_enabled()


def test_a_task_with_one_slider_refuses_other_changes_and_takes_them_back(
    lab: Watched,
) -> None:
    lab.open()
    at_step(lab, "DCTCP", 1)
    page = lab.page
    said = page.locator(".task .verdict")
    page.locator("#tab-parameters").click()
    page.locator("#parameter-k").fill("12 KB")
    page.locator("#parameter-k").press("Enter")
    expect(page.locator("#text")).to_have_value(re.compile('k = "12 KB"'))
    page.locator("#parameter-g_inverse").evaluate(
        "(box) => { box.value = '8'; box.dispatchEvent(new Event('change')); }"
    )
    expect(page.locator("#text")).to_have_value(re.compile("g_inverse = 8"))
    page.locator(".task .check").click()
    expect(said).to_contain_text("only k may change, and g_inverse did too")
    expect(said).to_contain_text("Not yet.")
    page.locator(".task .again").click()
    expect(page.locator("#text")).not_to_have_value(re.compile("g_inverse"))


def test_words_in_a_frame_set_keys_and_the_slowest_answer_is_among_the_numbers(
    lab: Watched,
) -> None:
    lab.open()
    at_step(lab, "Incast", 1)
    page = lab.page
    page.locator("#tour").get_by_role("button", name="8", exact=True).click()
    expect(page.locator("svg.network")).to_have_attribute(
        "aria-label", "The network: 10 nodes"
    )
    lab.run_to_end()
    # 8 answers of 64 KB: 512 KB at 10 Gb/s take 410 us, and what frames add.
    expect(page.locator(".numbers")).to_contain_text("complete 8 of 8")
    expect(page.locator(".numbers")).to_contain_text("slowest 437 µs")


def test_runs_that_differ_in_a_key_stand_side_by_side_with_their_values(
    lab: Watched,
) -> None:
    lab.open()
    at_step(lab, "Why QCN swings", 0)
    expect(lab.page.locator(".run h2")).to_have_text(
        ["star link_delay 50 us — qcn", "star link_delay 500 us — qcn"]
    )
    expect(lab.page.locator("#compare option:checked")).to_have_text(
        "star link_delay 500 us"
    )
    lab.page.locator("#compare").select_option("bcn")
    expect(lab.page.locator(".run h2").last).to_contain_text("bcn")
    expect(lab.page.locator("#compare [data-added]")).to_have_count(0)


def test_the_plane_of_two_rates_comes_to_the_diagonal_under_aimd_and_not_under_smcc(
    lab: Watched,
) -> None:
    lab.open()
    shares = []
    for step in (0, 2):
        at_step(lab, "AIMD", step)
        lab.page.locator("canvas.plane").wait_for()
        lab.run_to_end()
        lab.page.wait_for_timeout(1500)
        words = lab.page.locator("canvas.plane").get_attribute("aria-label") or ""
        one, other = (
            float(number) * (1000 if unit == "M" else 1)
            for number, unit in re.findall(r"gets ([\d.]+) ([kM])b/s", words)
        )
        shares.append(min(one, other) / max(one, other))
        lab.page.locator("#lesson").select_option("")
    fair, unfair = shares
    assert unfair < 0.1
    assert fair > 0.8
