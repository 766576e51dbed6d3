"""The recipes of docs/how-to: their blocks fit the files that they name, and in a copy of the repository they work.

A block behind the name of a file is the whole file where there is none, lines to add where it is a diff, and otherwise
lines that the file has.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from conftest import ROOT
from state_diagram import draw

from penstock import _core

PAGES = sorted((ROOT / "docs/how-to").glob("add-a-*.md"))
STEP = re.compile(r"^`([^`\s]+\.\w+)`[^\n`]*:\n\n```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

LISTS = """\
//! What there is, as JSON.

fn main() {
    let schema: serde_json::Value = penstock_scenario::schema();
    let objects = penstock_results::OBJECTS.iter().flat_map(|object| object.keys);
    let lists = serde_json::json!({
        "schemes": penstock_schemes::SCHEMES.iter().map(|info| info.name).collect::<Vec<_>>(),
        "schema": schema,
        "metrics": objects.map(|key| key.name).collect::<Vec<_>>(),
    });
    println!("{lists}");
}
"""

CONFORMS = """\
//! The scheme of the recipe obeys the contract.

#[test]
fn it_conforms() {
    penstock_conformance::check::<penstock_schemes::fixed::FixedRate>();
}
"""


class Step(NamedTuple):
    """A block of a recipe, and the file that it is about."""

    file: str
    language: str
    code: str

    def apply(self, root: Path) -> None:
        """Write the file, or add the lines of a diff to it; a link to a file of the repository is cut first.

        Raises:
            AssertionError: the file does not have the lines that the block shows.
        """
        path = root / self.file
        old = path.read_text(encoding="utf-8") if path.exists() else None
        if self.language == "diff":
            lines = self.code.splitlines(keepends=True)
            assert all(line[0] in " +\n" for line in lines), f"{self.file}: a line of a diff begins with a blank or +"
            before = "".join(line[1:] or line for line in lines if not line.startswith("+"))
            after = "".join(line[1:] or line for line in lines)
            assert old is not None and old.count(before) == 1, f"{self.file} has not once: {before}"
            text = old.replace(before, after)
        elif old is not None:
            assert self.code.strip() in old, f"{self.file} does not have {self.code}"
            return
        else:
            text = self.code
            path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.write_text(text, encoding="utf-8")


def steps(page: Path) -> list[Step]:
    """Return the steps of a recipe."""
    return [Step(*found) for found in STEP.findall(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_blocks_of_a_recipe_fit_the_files_that_they_name(page: Path, tmp_path: Path) -> None:
    for step in steps(page):
        if (ROOT / step.file).exists() and not (tmp_path / step.file).exists():
            (tmp_path / step.file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / step.file, tmp_path / step.file)
        step.apply(tmp_path)


def test_each_recipe_has_its_steps() -> None:
    found = {page.stem.removeprefix("add-a-"): len(steps(page)) for page in PAGES}
    wanted = {"scheme": 5, "metric": 5, "workload": 1, "topology": 3, "key": 1, "command": 2}
    assert {name: found[name] for name in wanted} == wanted


@pytest.mark.science
def test_the_recipes_add_what_they_promise(tmp_path: Path) -> None:
    # It lies where it lay before, so that cargo builds little.
    copy = ROOT / ".build/recipes/copy"
    shutil.rmtree(copy, ignore_errors=True)
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in listed.split("\0"):
        if name.startswith(("Cargo", "crates/", "examples/", "python/")) and (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            # With the time of the file, by which cargo knows it again.
            shutil.copy2(ROOT / name, copy / name, follow_symlinks=False)
    shutil.copy(_core.__file__, copy / "python/penstock")
    for page in PAGES:
        for step in steps(page):
            step.apply(copy)
    for file, text in (("crates/results/examples/lists.rs", LISTS), ("crates/schemes/tests/fixed.rs", CONFORMS)):
        (copy / file).parent.mkdir(exist_ok=True)
        (copy / file).write_text(text, encoding="utf-8")

    lists = json.loads(cargo(copy, "run", "--package", "penstock-results", "--example", "lists"))
    assert lists["schemes"][:2] == ["none", "fixed"]
    assert "mark_rate" in lists["metrics"]
    keys = lists["schema"]["properties"]
    assert {"ring", "star"} < set(keys["topology"]["properties"])
    assert "remark" in keys
    assert '"backup"' in json.dumps(keys["flow"])
    cargo(copy, "test", "--package", "penstock-schemes", "--test", "fixed")
    draw(copy / "crates/schemes/src/fixed/states.toml", tmp_path / "states.svg")
    printed = subprocess.run(
        [sys.executable, "-m", "penstock", "workloads"],
        env=os.environ | {"PYTHONPATH": str(copy / "python")},
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert re.search(r"^backup  \d+ octets$", printed, re.MULTILINE)
    shutil.rmtree(copy)


def cargo(copy: Path, *arguments: str) -> str:
    """Return what a command of cargo prints in the copy; all of them build into one folder."""
    environment = os.environ | {"CARGO_TARGET_DIR": str(copy.parent / "target")}
    command = ["cargo", *arguments, "--offline", "--quiet"]
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
