"""The documentation's site, where `make docs` has built it: keys are found, nobody is shut out, and pages have their weight.

The figures for people are printed (`pytest -s lab/tests/test_site.py`).
"""

import functools
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from conftest import Watched
from playwright.sync_api import Browser
from test_looks import SHOTS, faults

SITE = Path(__file__).resolve().parents[2] / "site"
# One of each kind: the front page, figures, a long table, formulas, a scheme, a core, commands, the Python interface,
# a table without links, the page of a wrong address.
PAGES = (
    "index",
    "gallery",
    "tutorials/first-hour",
    "how-to/use-the-laboratory",
    "reference/commands",
    "reference/python",
    "reference/scenario",
    "reference/results",
    "reference/schemes/dcqcn",
    "reference/cores/qcn_rp",
    "explanation/bcn-max-changes-little",
    "explanation/theory/stability",
    "measurements/large-networks",
    "404",
)
# A query, and the part of a page that is among the first three answers.
SOUGHT = {
    "schemes.qcn.q_eq": "reference/keys.html#schemesqcn",
    "schemes.dcqcn.k_min": "reference/keys.html#schemesdcqcn",
    "pfc.watchdog.after": "reference/keys.html#pfcwatchdog",
    "topology.star.buffer": "reference/keys.html#topologystar",
    "record.interval": "reference/keys.html#record",
    "HPCC": "reference/schemes/hpcc.html",
}
# A question as people ask it, and the page that is the first answer.
ASKED = {
    "compare DCQCN and HPCC": "how-to/compare-two-schemes.html",
    "HPCC": "reference/schemes/hpcc.html",
    "which scheme should I use": "how-to/choose-a-scheme.html",
    "how do I install": "how-to/install.html",
    "my own scheme in python": "how-to/write-a-scheme-in-python-or-c.html",
    "how much headroom do I need": "how-to/choose-headroom.html",
    "run on a cluster": "how-to/sweep.html",
    "export to SONiC": "how-to/export-a-configuration.html",
}
SIZES = {"phone": (390, 844), "projector": (1024, 768), "wide": (1440, 900)}


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of the site."""
    if not (SITE / "index.html").is_file():
        pytest.skip("make docs has not built the site")
    server = ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=str(SITE))
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


@pytest.fixture
def site(browser: Browser, address: str) -> Iterator[Watched]:
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(180_000)
    watched = Watched(page, address)
    yield watched
    context.close()
    # The site works from a disk: it asks for nothing elsewhere.
    assert watched.elsewhere == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_can_be_used_by_everyone(site: Watched, name: str, theme: str) -> None:
    site.page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    SHOTS.mkdir(parents=True, exist_ok=True)
    for size, (width, height) in SIZES.items():
        site.page.set_viewport_size({"width": width, "height": height})
        site.page.goto(f"{site.url}{name}.html")
        site.page.wait_for_timeout(300)
        site.page.screenshot(
            path=SHOTS / f"site-{name.replace('/', '-')}-{size}-{theme}.png"
        )
        over = site.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        assert over == 0, size
    serious = [fault for fault in faults(site) if fault[0] in ("serious", "critical")]
    assert serious == []


def test_keys_are_found(site: Watched) -> None:
    site.page.goto(f"{site.url}index.html")
    box = site.page.locator("input.md-search__input")
    first = site.page.locator(".md-search-result__link").first
    box.click()
    box.press_sequentially("scheme")
    first.wait_for()
    for query, wanted in SOUGHT.items():
        box.fill("")
        box.press_sequentially(query)
        site.page.wait_for_timeout(3000)
        assert wanted in answers(site)[:3], query
    for question, wanted in ASKED.items():
        # One query, that of the last key: a busy machine would answer half a question first.
        box.fill(question)
        box.press("Space")
        for _ in range(60):
            site.page.wait_for_timeout(500)
            if answers(site)[:1] == [wanted]:
                break
        assert answers(site)[:1] == [wanted], question


def answers(site: Watched) -> list[str]:
    """The pages, and parts of pages, that the search has found."""
    links = site.page.locator(".md-search-result__link").evaluate_all(
        "(links) => links.map((link) => link.href)"
    )
    # What is highlighted there stands between "?" and "#".
    return [
        link.removeprefix(site.url).partition("#")[0].partition("?")[0]
        + (f"#{link.partition('#')[2]}" if "#" in link else "")
        for link in links
    ]


def test_the_keyboard_walks_the_front_page(site: Watched) -> None:
    """Each thing that takes the focus shows it, and none keeps it."""
    site.page.set_viewport_size({"width": 1440, "height": 900})
    site.page.goto(f"{site.url}index.html")
    seen = []
    for _ in range(40):
        site.page.keyboard.press("Tab")
        seen.append(
            site.page.evaluate(
                """() => {
                  const { tagName, href, id, textContent } = document.activeElement;
                  return [tagName, href ?? id, textContent.trim().slice(0, 30)].join(" ");
                }"""
            )
        )
    assert "BODY" not in {one.split()[0] for one in seen}
    assert len(set(seen)) > 35, seen


def test_the_weight_of_pages_and_the_first_paint(site: Watched) -> None:
    for name in PAGES:
        octets = 0

        def count(response: object) -> None:
            nonlocal octets
            octets += int(response.headers.get("content-length", 0))  # type: ignore[attr-defined]

        site.page.on("response", count)
        site.page.goto(f"{site.url}{name}.html", wait_until="load")
        paint = site.page.evaluate(
            "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1"
        )
        site.page.remove_listener("response", count)
        print(f"\n{name}: {octets / 1e3:.0f} KB, first paint after {paint:.0f} ms")
