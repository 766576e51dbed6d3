"""The laboratory in a notebook: the page and its engine in the notebook's own memory, so that nothing has to be served.

Needs the extra ``lab`` (``pip install 'penstock[lab]'``): anywidget.
"""

import json
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from penstock.lab.server import OPENED, PAGE, page_files
from penstock.scenario import Scenario

# The notebook's script: files become addresses of the browser's memory, and the page a frame. Its policy allows these
# and no others.
_SCRIPT = """
const TYPES = { css: "text/css", html: "text/html", js: "text/javascript", json: "application/json",
  svg: "image/svg+xml", toml: "text/plain", wasm: "application/wasm" };
const POLICY = "default-src 'none'; script-src blob: 'wasm-unsafe-eval'; worker-src blob:; connect-src blob:; " +
  "style-src blob:; img-src blob: data:; base-uri 'none'; form-action 'none'";
function render({ model, el }) {
  const files = model.get("files");
  const urls = {};
  const kept = (data, name) => URL.createObjectURL(new Blob([data], { type: TYPES[name.split(".").pop()] ?? "" }));
  for (const [name, data] of Object.entries(files)) if (name !== "index.html") urls[name] = kept(data, name);
  const page = new DOMParser().parseFromString(new TextDecoder().decode(files["index.html"]), "text/html");
  page.querySelector("meta[http-equiv]").setAttribute("content", POLICY);
  for (const link of page.querySelectorAll("link")) link.setAttribute("href", urls[link.getAttribute("href")]);
  const script = page.querySelector("script");
  script.setAttribute("src", urls[script.getAttribute("src")]);
  const known = page.createElement("script");
  known.id = "files";
  known.type = "application/json";
  known.textContent = JSON.stringify(urls);
  page.body.prepend(known);
  const frame = document.createElement("iframe");
  const whole = kept("<!doctype html>" + page.documentElement.outerHTML, "index.html");
  frame.src = whole;
  frame.title = "Penstock: the laboratory";
  frame.style.cssText = `width: 100%; height: ${model.get("height")}px; border: 0`;
  el.append(frame);
  return () => {
    frame.remove();
    for (const url of [whole, ...Object.values(urls)]) URL.revokeObjectURL(url);
  };
}
export default { render };
"""


class LabWidget(anywidget.AnyWidget):  # type: ignore[misc, unused-ignore]
    """The laboratory with a scenario.

    Args:
        scenario: the scenario that it opens.
        height: of its frame, pixels.
        page: the folder of the page.

    Raises:
        ArgumentError: the page has not been built.
    """

    _esm = _SCRIPT
    files = traitlets.Dict().tag(sync=True)
    height = traitlets.Int(900).tag(sync=True)

    def __init__(self, scenario: Scenario, *, height: int = 900, page: Path = PAGE) -> None:
        files = page_files(page)
        entries = json.loads(files["gallery.json"])
        # Tables of the theory are long: those of this scenario are enough.
        kept = {entry["scenario"] for entry in entries if entry["question"] == scenario.question}
        wanted = {f"theory/{name}.{scheme}.json" for name in kept for scheme in _schemes(entries, name)}
        held: dict[str, Any] = {
            name: data for name, data in files.items() if not name.startswith("theory/") or name in wanted
        }
        super().__init__(files={**held, OPENED: scenario.to_toml().encode()}, height=height)


def _schemes(entries: list[dict[str, Any]], scenario: str) -> list[str]:
    return [scheme for entry in entries if entry["scenario"] == scenario for scheme in entry["theory"]]
