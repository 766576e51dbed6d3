"""The drawing of the network: frames on their lines where the run is slow, notifications among them, pauses in red."""

import re
from pathlib import Path

import pytest
from conftest import Watched
from playwright.sync_api import expect

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"
# When the engine has laid a network out, and the longest time that the page's own thread did not answer, ms.
WATCH = """
window.longest = 0;
let before = performance.now();
setInterval(() => {
  const now = performance.now();
  window.longest = Math.max(window.longest, now - before);
  before = now;
}, 5);
window.Worker = class extends Worker {
  constructor(...all) {
    super(...all);
    this.addEventListener("message", ({ data }) => {
      if (data.type === "opened") window.laidOut = performance.now();
    });
  }
};
"""
SEEN = "svg.network path.frame.{kind}[visibility=visible]"


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
        places.add(frame.get_attribute("transform"))
        lab.page.wait_for_timeout(50)
    assert len(places) > 2
    lab.page.locator("#speed").select_option("0.1")
    expect(
        lab.page.locator("svg.network path.frame[visibility=visible]")
    ).to_have_count(0)


def test_the_load_of_a_link_flows_while_the_run_does(lab: Watched) -> None:
    lab.open("#gallery=baseline/ten-gig")
    set_off(lab, "0.01")
    load = lab.page.locator("svg.network line.load[visibility=visible]").first
    expect(load).to_have_attribute("stroke-dashoffset", re.compile(r"-\d"))
    lab.page.locator("#play").click()
    lab.page.wait_for_timeout(300)
    still = load.get_attribute("stroke-dashoffset")
    lab.page.wait_for_timeout(300)
    assert load.get_attribute("stroke-dashoffset") == still
    dashes = "line => getComputedStyle(line).strokeDasharray"
    assert load.evaluate(dashes) != "none"
    lab.page.emulate_media(reduced_motion="reduce")
    assert load.evaluate(dashes) == "none"


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


def chain(switches: int, span: int, rounds: int) -> str:
    """A chain of switches with a host each, and many flows that go over `span` of its links."""
    cable = 'rate = "10 Gbps", delay = "1 us"'
    ends = [f'"h{i}", "sw{i}"' for i in range(switches)]
    ends += [f'"sw{i - 1}", "sw{i}"' for i in range(1, switches)]
    pairs = [(i, i + span) for i in range(switches - span)]
    flows = [
        f'[[flow]]\nfrom = "h{a}"\nto = "h{b}"\nsize = "1 KB"\nrepeat = {rounds}\nevery = "100 us"\n'
        for a, b in pairs
    ]
    # One each way, so that nodes are before and after one another.
    both = '[[flow]]\nfrom = "h0"\nto = "h1"\n[[flow]]\nfrom = "h1"\nto = "h0"\n'
    links = "".join(f"{{ ends = [{own}], {cable} }},\n" for own in ends)
    return (
        'question = "How long is a chain?"\nduration = "5 ms"\nscheme = "none"\n'
        '[record]\ninterval = "1 ms"\n'
        f'[topology.graph]\nhosts = "h0..h{switches - 1}"\nswitches = "sw0..sw{switches - 1}"\n'
        f'buffer = "150 KB"\nlink = [\n{links}]\n{"".join(flows)}{both}'
    )


def test_a_large_network_is_not_drawn_and_does_not_stop_the_page(lab: Watched) -> None:
    lab.page.add_init_script(WATCH)
    lab.open("#gallery=baseline/ten-gig")
    text = chain(495, 17, 20)
    assert 80_000 < len(text) < 120_000
    lab.tab("scenario")
    lab.page.locator("#text").evaluate("(box, text) => { box.value = text; }", text)
    begun = lab.page.evaluate("() => { window.longest = 0; return performance.now(); }")
    lab.page.locator("#apply").click()
    expect(lab.page.locator("#question")).to_have_text("How long is a chain?")
    expect(lab.page.locator("svg.network")).to_contain_text("990 nodes are too many")
    lab.page.locator("#theme").click()
    longest, laid_out = lab.page.evaluate("() => [window.longest, window.laidOut]")
    print(f"laid out in {laid_out - begun:.0f} ms, the page stood for {longest:.0f} ms")
    # Both are of this machine: the page has less to do with a network than the engine.
    assert longest < 3 * (laid_out - begun)


def places(lab: Watched) -> dict[str, tuple[float, float]]:
    """Where the names of the nodes stand in the drawing."""
    return dict(
        lab.page.locator("svg.network text.name").evaluate_all(
            "(names) => names.map((name) => [name.textContent, "
            "['x', 'y'].map((key) => Number(name.getAttribute(key)))])"
        )
    )


def test_a_way_is_drawn_from_left_to_right_and_a_ring_as_a_ring(lab: Watched) -> None:
    lab.open("#gallery=victim-flow/pfc")
    at = places(lab)
    way = [at[name][0] for name in ("s0", "left", "core", "edge", "incast")]
    assert way == sorted(set(way))
    lab.choose("deadlock/ring")
    expect(lab.page.locator("svg.network")).to_have_attribute(
        "aria-label", "The network: 6 nodes"
    )
    at = places(lab)
    (top, right, left) = (at[f"sw{i}"] for i in range(3))
    assert left[0] < top[0] < right[0]
    assert top[1] < left[1] == pytest.approx(right[1])
    # Each host is beyond its switch.
    middle = (left[1] + right[1] + top[1]) / 3
    for i in range(3):
        (x, y), (own_x, own_y) = at[f"h{i}"], at[f"sw{i}"]
        assert abs(x - top[0]) >= abs(own_x - top[0])
        assert abs(y - middle) > abs(own_y - middle)


# The boxes of the bars of queues, the circles and boxes of nodes and the names of hosts, in units of the drawing, and its height.
BOXES = """
() => {
  const svg = document.querySelector("svg.network");
  const box = (own) => { const { x, y, width, height } = own.getBBox(); return [x, y, x + width, y + height]; };
  const all = (where) => [...svg.querySelectorAll(where)].map(box);
  const names = [...svg.querySelectorAll("text.name")].filter((own) => own.textContent !== "");
  return {
    bars: all("rect.queue"),
    nodes: all(".node"),
    names: names.map((own) => [own.textContent, box(own)]),
    circles: [...svg.querySelectorAll("circle.node")].map((own) => [own.dataset.node, box(own)]),
    height: svg.viewBox.baseVal.height,
  };
}
"""
Box = list[float]


def overlap(one: Box, other: Box) -> bool:
    """Whether two boxes share more than a unit in both directions."""
    return all(
        min(one[i + 2], other[i + 2]) - max(one[i], other[i]) > 1 for i in (0, 1)
    )


def hold_boxes(lab: Watched) -> None:
    """No two bars overlap, no bar covers a node, no name a circle of another host, and all is in the drawing."""
    found = lab.page.evaluate(BOXES)
    bars, nodes = found["bars"], found["nodes"]
    pairs = [(a, b) for i, a in enumerate(bars) for b in bars[:i] if overlap(a, b)]
    assert pairs == []
    assert [(a, b) for a in bars for b in nodes if overlap(a, b)] == []
    over = [
        (name, host)
        for name, own in found["names"]
        for host, circle in found["circles"]
        if name != host and overlap(own, circle)
    ]
    assert over == []
    names = [own for _name, own in found["names"]]
    assert not [(a, b) for i, a in enumerate(names) for b in names[:i] if overlap(a, b)]
    for box in bars + nodes + names:
        assert 0 <= box[0] and box[2] <= 640, box
        assert 0 <= box[1] and box[3] <= found["height"], box


@pytest.mark.parametrize(
    "scenario",
    [
        "baseline/ten-gig",
        "four-sources",
        "bottleneck/parking-lot",
        "incast/leaf-spine-16",
        "multicast/star",
        "victim-flow/pfc",
        "faults/pfc-storm",
        "deadlock/ring",
        "two-distances/rack-uplink",
        "jobs/two-uplinks",
    ],
)
def test_nothing_of_a_network_covers_another_part(lab: Watched, scenario: str) -> None:
    lab.open(f"#gallery={scenario}")
    hold_boxes(lab)


def test_sixty_four_hosts_are_one_column(lab: Watched) -> None:
    lab.open("#gallery=baseline/ten-gig")
    text = (SCENARIOS / "baseline/ten-gig.toml").read_text()
    for old, new in [
        ("hosts = 5", "hosts = 65"),
        ('from = "h0..h3"', 'from = "h0..h63"'),
        ('to = "h4"', 'to = "h64"'),
        ('stagger = "10 ms"', 'stagger = "1 ms"'),
    ]:
        assert old in text
        text = text.replace(old, new)
    lab.tab("scenario")
    lab.page.locator("#text").fill(text)
    lab.page.locator("#apply").click()
    expect(lab.page.locator("svg.network")).to_have_attribute(
        "aria-label", "The network: 66 nodes"
    )
    hold_boxes(lab)
    left = lab.page.evaluate(BOXES)["circles"]
    middles = {round((x0 + x1) / 2) for name, (x0, _, x1, _) in left if name != "h64"}
    assert len(middles) == 1
