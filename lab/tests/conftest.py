"""The page in Debian's chromium, served as `penstock lab` serves it."""

import base64
import json
import os
import shutil
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from penstock.lab import Server
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Page,
    expect,
    sync_playwright,
)

VIEWPORT = {"width": 1280, "height": 900}
# All that is written and drawn on a canvas, with where it is.
PENS = """
window.written = [];
window.images = [];
const { fillText, drawImage } = CanvasRenderingContext2D.prototype;
CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...more) {
  window.written.push([text, x, y]);
  fillText.call(this, text, x, y, ...more);
};
CanvasRenderingContext2D.prototype.drawImage = function (image, ...place) {
  window.images.push(place);
  drawImage.call(this, image, ...place);
};
"""
# A machine that others use too is slow, and that is no fault of the page.
expect.set_options(timeout=60_000)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """The page, until the tests are over."""
    with Server() as server:
        thread = threading.Thread(target=server.serve, daemon=True)
        thread.start()
        yield server
        server.stop()
        thread.join()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's chromium; the tests are skipped where there is none."""
    found = shutil.which("chromium")
    if found is None:
        pytest.skip("chromium is not there")
    # As root it has no sandbox.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=found, args=arguments, timeout=300_000
        )
        yield browser
        browser.close()


def packed(state: object) -> str:
    """A state as a link has it."""
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    octets = packer.compress(json.dumps(state).encode()) + packer.flush()
    return base64.urlsafe_b64encode(octets).decode().rstrip("=")


class Watched:
    """A page of the laboratory, and all that it complained of."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        self.complaints: list[str] = []
        self.elsewhere: list[str] = []
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self._request(request.url))

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def _request(self, url: str) -> None:
        if not url.startswith((self.url.split("?")[0], "data:", "blob:")):
            self.elsewhere.append(url)

    def open(self, address: str = "") -> None:
        """Open the page and wait for its first run."""
        self.page.goto(self.url + address)
        self.page.locator(".run h2").first.wait_for()

    def run_to_end(self, timeout_s: float = 300) -> None:
        """Press the button, and wait for the summary."""
        # On a phone there is no room for the button.
        self.page.locator("#end").evaluate("(button) => button.click()")
        self.page.locator("#summary", has_text="scenario").wait_for(
            state="attached", timeout=timeout_s * 1000
        )

    def choose(self, scenario: str) -> None:
        """Take a scenario from the drawer."""
        self.page.locator("#gallery").click()
        self.page.locator(f'#drawer [data-scenario="{scenario}"]').click()

    def tab(self, name: str) -> None:
        """Show a panel: change, parameters, scenario, or numbers."""
        self.page.locator(f"#tab-{name}").click()

    def picture_of_two_schemes(self, prelude: str, clear: str, file: Path) -> None:
        """Save the picture of a comparison at its end.

        `prelude` runs before the page's own scripts, `clear` right before the picture is drawn.
        """
        self.page.add_init_script(prelude)
        self.open("#gallery=netfpga/one-source-100us")
        self.page.locator("#compare").select_option("bcn")
        expect(self.page.locator(".run h2")).to_have_count(2)
        self.run_to_end()
        self.page.locator("canvas.stability[aria-label*=round_trip]").wait_for()
        self.page.locator("#export summary").click()
        self.page.evaluate(f"() => {{ {clear} }}")
        with self.page.expect_download() as download:
            self.page.locator("#export-png").click()
        download.value.save_as(file)


@pytest.fixture
def lab(browser: Browser, server: Server) -> Iterator[Watched]:
    """A fresh page, which must not complain or ask for anything elsewhere."""
    context = browser.new_context(
        viewport=VIEWPORT, permissions=["clipboard-read", "clipboard-write"]
    )
    page = context.new_page()
    page.set_default_timeout(180_000)
    watched = Watched(page, server.url)
    yield watched
    context.close()
    assert watched.complaints == []
    assert watched.elsewhere == []
