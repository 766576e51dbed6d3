"""The tutorials: each command of a page runs, and prints what stands below it.

A line that begins with `$ ` is a command; `…` stands for lines that are left out. A block behind the name of a file is
that file.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, Command

PAGES = ROOT / "docs/tutorials"
BLOCK = re.compile(r"(?:^`([^`\s]+\.\w+)`:\n\n)?^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
GAP = "…"


def commands_of(block: str) -> list[tuple[str, list[str]]]:
    """Return the commands of a block, each with the lines below it."""
    found: list[tuple[str, list[str]]] = []
    for line in block.replace("\\\n", "").splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def fits(shown: list[str], printed: list[str]) -> bool:
    """Whether the lines that are shown are those that were printed; between two gaps they follow one another."""
    pattern = "".join(r"(?:.*\n)*?" if line == GAP else re.escape(line) + "\n" for line in shown)
    return re.fullmatch(pattern, "".join(f"{line.rstrip()}\n" for line in printed)) is not None


@pytest.fixture
def follow(penstock: Command, tmp_path: Path) -> "Follow":
    return Follow(penstock, tmp_path)


class Follow:
    """Types what stands in a page, in an empty folder."""

    def __init__(self, penstock: Command, folder: Path) -> None:
        self.penstock = penstock
        self.folder = folder
        self.status = 0
        self.ran = 0

    def page(self, name: str) -> None:
        """Follow a page of the tutorials, and hold each output to it."""
        for file, language, text in BLOCK.findall((PAGES / f"{name}.md").read_text(encoding="utf-8")):
            if file:
                (self.folder / file).write_text(text, encoding="utf-8")
            elif language == "console":
                for command, shown in commands_of(text):
                    printed = self.run(command)
                    assert fits(shown, printed), f"$ {command}\n" + "\n".join(printed)

    def run(self, command: str) -> list[str]:
        """Run a command and return its lines: those of standard output, then those of standard error."""
        self.ran += 1
        if command.startswith("penstock "):
            # The shell takes quotes and variables apart.
            words = subprocess.run(["bash", "-c", f"printf '%s\\0' {command}"], capture_output=True, check=True).stdout
            done = self.penstock(*os.fsdecode(words).split("\0")[1:-1])
        else:
            script = f"(exit {self.status}); {command}"
            # As in an activated environment.
            path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
            done = subprocess.run(
                ["bash", "-c", script],
                cwd=self.folder,
                env=os.environ | {"PATH": path},
                capture_output=True,
                text=True,
                check=False,
            )
        self.status = done.returncode
        return [*done.stdout.splitlines(), *done.stderr.splitlines()]


def test_the_first_hour(follow: Follow) -> None:
    follow.page("first-hour")
    assert follow.status == 0
    assert follow.ran == 11


def test_is_my_headroom_enough(follow: Follow) -> None:
    follow.page("is-my-headroom-enough")
    assert follow.ran == 7
    text = (follow.folder / "headroom.html").read_text(encoding="utf-8")
    assert "lacks most: 505\N{NO-BREAK SPACE}KB of 685\N{NO-BREAK SPACE}KB" in text


@pytest.mark.science
def test_should_i_raise_alpha(follow: Follow) -> None:
    follow.page("should-i-raise-alpha")
    assert follow.ran == 10
    text = (follow.folder / "alpha.html").read_text(encoding="utf-8")
    (row,) = re.findall(r"<tr><td>buffer\.0\.ingress_alpha</td>(.*?)</tr>", text)
    assert re.findall(r">([\d.]+)<", row) == ["0.125", "0.5", "2.0"]
    assert "flow of victim is least with ingress_alpha=1/8, 1.85\N{NO-BREAK SPACE}Gb/s" in text


def test_from_config_db_to_a_change_request(follow: Follow) -> None:
    follow.page("from-config-db-to-change-request")
    hashes = [
        re.findall(r'class="hash">(\w{64})<', (follow.folder / f"{name}.html").read_text(encoding="utf-8"))
        for name in ("before", "after")
    ]
    # The file that was corrected differs, the fabric does not.
    assert hashes[0][0] != hashes[1][0] and hashes[0][1] == hashes[1][1]
    printed = follow.run("sha256sum leaf0.new.json")
    assert printed == [f"{hashes[1][0]}  leaf0.new.json"]


@pytest.mark.parametrize(
    ("shown", "right"),
    [
        (["a", "b", "c"], True),
        (["a", GAP], True),
        ([GAP, "c"], True),
        (["a", GAP, "c"], True),
        (["a", "c"], False),
        (["a", "b"], False),
        (["b", GAP, "a"], False),
        (["a", "x", "c"], False),
    ],
)
def test_outputs_are_held_line_by_line(shown: list[str], right: bool) -> None:
    assert fits(shown, ["a", "b  ", "c"]) is right
