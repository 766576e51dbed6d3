"""State diagrams: that of each scheme can be drawn, and an unreadable one is refused."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT
from state_diagram import DiagramError, draw

from penstock import catalogue
from penstock.theory.models import MODELS

DIAGRAMS = sorted((ROOT / "crates/schemes/src").glob("*/states.toml"))

TWO = """\
[[machine]]
title = "Reaction point"
[[machine.state]]
name = "fast"
label = ["Fast Recovery", '$CR \\leftarrow (CR + TR)/2$']
at = [0, 0]
initial = true
[[machine.state]]
name = "active"
label = "Active Increase"
at = [1.2, 0]
[[machine.edge]]
from = "fast"
to = "active"
label = "5 cycles"
[[machine.edge]]
from = "active"
to = "active"
label = "a cycle ends"
"""


@pytest.mark.parametrize("source", DIAGRAMS, ids=lambda path: path.parent.name)
def test_diagrams_of_schemes_can_be_read(source: Path, tmp_path: Path) -> None:
    draw(source, tmp_path / "states.svg")
    assert (tmp_path / "states.svg").read_text().startswith("<?xml")


def test_each_scheme_has_its_folder() -> None:
    names = {scheme["name"] for scheme in catalogue.schemes()}
    for file in ("page.md", "states.toml"):
        written = {path.parent.name.replace("_", "-") for path in (ROOT / "crates/schemes/src").glob(f"*/{file}")}
        assert written == names, file


def test_the_forms_of_a_scheme_are_there() -> None:
    for scheme in catalogue.schemes():
        for core in scheme["cores"]:
            assert (ROOT / "rtl" / core / "core.toml").is_file(), core
        models = [model for model in MODELS if model.scheme == scheme["name"]]
        assert bool(models) == (scheme["fluid"] is not None), scheme["name"]


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("at = [1.2, 0]", "at = [0.1, 0]", "touch"),
        ("at = [1.2, 0]", "at = [0.7, 0]", "overlaps"),
        ('to = "active"', 'to = "actve"', "no state is called 'actve'"),
        ("initial = true", "inital = true", "a state has no key 'inital'"),
        ('label = "Active Increase"\n', "", "a state lacks 'label'"),
        ('label = "a cycle ends"', 'bend = "left"', "it can be"),
    ],
)
def test_a_diagram_that_cannot_be_drawn_is_refused(before: str, after: str, words: str, tmp_path: Path) -> None:
    assert before in TWO
    bad = tmp_path / "bad.toml"
    bad.write_text(TWO.replace(before, after))
    with pytest.raises(DiagramError, match=rf"bad\.toml: .*{re.escape(words)}"):
        draw(bad, tmp_path / "bad.svg")


def test_command_draws_or_says_what_is_wrong(tmp_path: Path) -> None:
    for text, status, message in ((TWO, 0, ""), (TWO.replace("[0, 0]", "[1.1, 0]"), 1, "error: ")):
        source = tmp_path / "two.toml"
        source.write_text(text)
        command = [sys.executable, str(ROOT / "tools" / "state_diagram.py"), str(source), str(tmp_path / "two.svg")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr[: len("error: ")]) == (status, message)
