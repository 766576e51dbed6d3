"""The page as a widget: the same page, out of the notebook's memory; and the notebooks of the lessons run."""

import base64
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from penstock import Scenario
from penstock.errors import ArgumentError
from penstock.lab import PAGE
from penstock.lab.widget import LabWidget
from playwright.sync_api import Browser, expect

NOTEBOOKS = sorted((PAGE.parent / "notebooks").glob("*.ipynb"))
ADDRESS = "http://notebook.test/"
# A notebook shows a widget so: it imports the module, and hands it a model with its values.
SHOW = """async ({ script, files, height }) => {
  const octets = (text) => new DataView(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);
  const values = { files: Object.fromEntries(Object.entries(files).map(([name, text]) => [name, octets(text)])), height };
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const { default: widget } = await import(url);
  window.end = widget.render({ model: { get: (name) => values[name] }, el: document.body });
}"""


def test_the_widget_shows_the_page_with_the_scenario(browser: Browser) -> None:
    scenario = Scenario.named("netfpga/eight-sources-100us")
    scenario.set("schemes.qcn.w", 4)
    widget: Any = scenario.lab(height=700)
    files = {
        name: base64.b64encode(data).decode() for name, data in widget.files.items()
    }
    assert [name for name in files if name.startswith("theory/")] == [
        "theory/netfpga/eight-sources-100us.qcn.json"
    ]
    page = browser.new_page()
    page.set_default_timeout(180_000)
    complaints: list[str] = []
    asked: list[str] = []
    page.on(
        "console",
        lambda message: (
            complaints.append(message.text)
            if message.type in ("error", "warning")
            else None
        ),
    )
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.route(
        ADDRESS,
        lambda route: route.fulfill(
            body="<!doctype html><title>x</title>", content_type="text/html"
        ),
    )
    page.goto(ADDRESS)
    page.evaluate(SHOW, {"script": widget._esm, "files": files, "height": 700})
    lab = page.frame_locator("iframe")
    expect(lab.locator("#question")).to_have_text(scenario.question, timeout=180_000)
    expect(lab.locator("#parameter-w")).to_have_value("4.0")
    expect(lab.locator(".margin")).to_contain_text("at w = 4")
    expect(lab.locator("#share")).to_be_hidden()
    lab.locator("#step").click()
    expect(lab.locator("#clock")).not_to_have_text("0.000 ms")
    lab.locator("#gallery").click()
    lab.locator('#drawer [data-scenario="four-sources"]').click()
    expect(lab.locator("#question")).not_to_have_text(scenario.question)
    page.evaluate("() => window.end()")
    assert page.locator("iframe").count() == 0
    assert complaints == []
    assert [
        url
        for url in asked
        if not url.startswith((ADDRESS, "blob:" + ADDRESS.rstrip("/")))
    ] == []
    page.close()


def test_without_the_page_a_message_says_what_builds_it(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="make lab"):
        LabWidget(Scenario.named("baseline/ten-gig"), page=tmp_path)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_notebook_of_a_lesson_runs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    last = [cell for cell in notebook.cells if cell.cell_type == "code"][-1]
    said = "".join(output.get("text", "") for output in last.outputs)
    print(path.stem, said.strip())
    # The first choice is written there; the reader puts another.
    assert re.match(r"(Right|Not so: .+)\. The simulation gives [^:]+: [\d.]", said)
    drawn = [
        output
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if "image/png" in output.get("data", {})
    ]
    assert len(drawn) >= sum("plot()" in cell.source for cell in notebook.cells) > 0
