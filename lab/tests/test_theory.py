"""The theory of the page is that of penstock.theory, also between the nodes of its tables."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Watched
from lab_tables import lines_of, path_of
from penstock import Scenario
from penstock.lab import PAGE
from penstock.theory.axes import Axis, apply
from penstock.theory.configuration import configuration
from penstock.theory.maps import compute_map
from playwright.sync_api import expect

ROOT = Path(__file__).resolve().parents[2]
TABLES = sorted(
    path.relative_to(PAGE / "theory") for path in (PAGE / "theory").rglob("*.json")
)
READER = """
import { readFileSync } from "node:fs";
const { Theory } = await import(process.argv[1]);
const { table, places } = JSON.parse(readFileSync(0, "utf8"));
const theory = new Theory(table);
const read = (place) => ({ margin: theory.margin(place), lines: theory.lines(place), path: theory.path(place) });
console.log(JSON.stringify(places.map(read)));
"""
# The page's error, as docs/explanation/decisions/0026 has it: degrees, where the margin is between these bounds.
ERROR_DEG = 2.0
BOUND_DEG = 60.0
# And of the numbers of a switching line, as a share: other traffic bends the powers that they are products of.
LINE_ERROR = 0.02


@pytest.fixture(scope="session")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page's module, by itself."""
    module = tmp_path_factory.mktemp("theory") / "theory.mjs"
    command = [
        "node_modules/.bin/esbuild",
        "src/theory.ts",
        "--format=esm",
        f"--outfile={module}",
        "--log-level=warning",
    ]
    subprocess.run(command, cwd=ROOT / "lab", check=True)
    return module


def read(
    reader: Path, table: dict[str, Any], places: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Asks the page's module."""
    command = ["node", "--input-type=module", "--eval", READER, str(reader)]
    asked = json.dumps({"table": table, "places": places})
    done = subprocess.run(
        command, input=asked, capture_output=True, text=True, check=True
    )
    answers: list[dict[str, Any]] = json.loads(done.stdout)
    return answers


def scenario_of(name: Path) -> tuple[Scenario, str]:
    """The scenario and the scheme of a table."""
    scenario, _, scheme = name.as_posix().removesuffix(".json").rpartition(".")
    return Scenario.load(PAGE / "scenarios" / f"{scenario}.toml"), scheme


def places_of(table: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """Places off the grid: two axes each, the others at the scenario's own values."""
    random = np.random.default_rng(7)
    axes = table["axes"]
    places = []
    for _ in range(count):
        away = sorted(
            int(place) for place in random.choice(len(axes), 2, replace=False)
        )
        values = [axis["base"] for axis in axes]
        for place in away:
            low, high = axes[place]["values"][0], axes[place]["values"][-1]
            value = float(np.exp(random.uniform(np.log(low), np.log(high))))
            values[place] = round(value) if axes[place]["unit"] == "count" else value
        places.append({"values": values, "away": away})
    return places


@pytest.mark.parametrize("name", TABLES, ids=lambda name: name.as_posix())
def test_the_page_reads_what_python_calculates(name: Path, reader: Path) -> None:
    table = json.loads((PAGE / "theory" / name).read_text())
    scenario, scheme = scenario_of(name)
    base = configuration(scenario, scheme=scheme)
    places = places_of(table, 60)
    compared = drawn = 0
    worst = 0.0
    for place, answer in zip(places, read(reader, table, places), strict=True):
        settings = {
            table["axes"][axis]["name"]: place["values"][axis] for axis in place["away"]
        }
        lines = lines_of(apply(scenario, base, settings))
        for entry in answer["lines"]:
            if entry["name"] not in lines:
                continue
            drawn += 1
            assert entry["line"] == pytest.approx(
                lines[entry["name"]], rel=LINE_ERROR, abs=1e-9
            ), settings
        if table["why"] or isinstance(answer["margin"], str):
            continue
        x, y = (
            Axis(key, key, "", np.array([value]), log=True)
            for key, value in settings.items()
        )
        exact = float(compute_map(scenario, x, y, "margin", scheme=scheme).values[0, 0])
        if abs(exact) <= BOUND_DEG:
            compared += 1
            worst = max(worst, abs(answer["margin"] - exact))
            assert answer["margin"] == pytest.approx(exact, abs=ERROR_DEG), settings
        elif abs(exact) > BOUND_DEG:
            assert np.sign(answer["margin"]) == np.sign(exact), settings
    print(f"{name}: {drawn} lines, {compared} margins within {worst:.2f} degrees")
    assert drawn > 20 and (table["why"] or compared > 5)


@pytest.mark.parametrize("name", TABLES, ids=lambda name: name.as_posix())
def test_the_page_has_the_trajectory_of_python(name: Path, reader: Path) -> None:
    table = json.loads((PAGE / "theory" / name).read_text())
    scenario, scheme = scenario_of(name)
    base = configuration(scenario, scheme=scheme)
    values = [axis["base"] for axis in table["axes"]]
    (own,) = read(reader, table, [{"values": values, "away": []}])
    assert own["path"]["points"] == path_of(base)
    # Beside a value: that of the nearest one.
    doubled = [2.1 * value if axis == 0 else value for axis, value in enumerate(values)]
    (near,) = read(reader, table, [{"values": doubled, "away": [0]}])
    of = float(near["path"]["of"].split("=")[1])
    assert near["path"]["points"] == path_of(
        apply(scenario, base, {table["axes"][0]["name"]: of})
    )


def test_the_margin_follows_the_sliders(lab: Watched) -> None:
    lab.open("#gallery=netfpga/eight-sources-100us")
    margin = lab.page.locator(".margin")
    expect(margin).to_contain_text("Phase margin")
    before = margin.text_content()
    for name, text in (("w", "3.3"), ("gd_inverse", "200")):
        lab.tab("parameters")
        box = lab.page.locator(f"#parameter-{name}")
        box.fill(text)
        box.press("Enter")
        expect(margin).to_contain_text(f"{name} = {text}")
    assert margin.text_content() != before
    scenario = Scenario.load(PAGE / "scenarios/netfpga/eight-sources-100us.toml")
    x, y = (
        Axis(key, key, "", np.array([value]), log=True)
        for key, value in (("w", 3.3), ("gd_inverse", 200.0))
    )
    exact = float(compute_map(scenario, x, y, "margin").values[0, 0])
    shown = float(
        (margin.text_content() or "").split("°")[0].removeprefix("Phase margin ")
    )
    assert shown == pytest.approx(exact, abs=ERROR_DEG)
    lab.page.locator("#parameter-q_eq").fill("40 KB")
    lab.page.locator("#parameter-q_eq").press("Enter")
    expect(margin).to_contain_text("more than two parameters")
    lab.tab("scenario")
    lab.page.locator("#text").fill(
        (lab.page.locator("#text").input_value()).replace(
            'link_delay = "50 us"', 'link_delay = "60 us"'
        )
    )
    lab.page.locator("#apply").click()
    expect(margin).to_contain_text("not those of the gallery")
    expect(lab.page.locator(".note").first).to_contain_text("No theory is drawn")


def test_the_run_is_a_ring_on_the_map_of_the_axes_that_are_chosen(lab: Watched) -> None:
    lab.open("#gallery=netfpga/eight-sources-100us")
    drawing = lab.page.locator("canvas.stability")
    expect(drawing).to_have_attribute(
        "aria-label", re.compile("over flows and round_trip_s: a ring")
    )
    across, up = (lab.page.locator(".theory-box select").nth(i) for i in range(2))
    across.select_option(label="w")
    expect(drawing).to_have_attribute(
        "aria-label", re.compile("over w and round_trip_s: a ring")
    )
    up.select_option(label="gd_inverse")
    # They stand where the map is made again, and in the link.
    lab.page.locator("#theme").click()
    lab.page.wait_for_timeout(500)
    lab.page.reload()
    expect(drawing).to_have_attribute(
        "aria-label", re.compile("over w and gd_inverse: a ring")
    )
    up.select_option(label="round_trip_s")
    lab.tab("parameters")
    box = lab.page.locator("#parameter-gd_inverse")
    box.fill("300")
    box.press("Enter")
    expect(drawing).to_have_attribute("aria-label", re.compile("the run is not on it"))
