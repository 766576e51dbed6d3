"""Types what stands in a page of the documentation, and holds what is printed to what the page shows.

In a block of `console` a line that begins with `$ ` is a command, and what follows it is its output; `…` stands for
lines, or for a part of a line, that are left out. Without such a line each line is a command, as in a block of `sh` or
`bash`. Blocks of `python` share their names. A block behind the name of a file is that file.

A comment right before a block says what the page does not:

    <!-- not run: REASON -->    it is not run
    <!-- file: NAME -->         it is the file NAME
    <!-- before: COMMAND -->    this is typed first
"""

import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from conftest import ROOT, Command

GAP = "…"
_BLOCK = re.compile(
    r"(?:^`(?P<named>[^`\s]+\.\w+)`:\n\n)?(?P<notes>(?:^<!-- .*? -->\n)*)^```(?P<language>\w+)\n(?P<text>.*?)^```$",
    re.M | re.S,
)
_NOTE = re.compile(r"^<!-- (not run|file|before): (.*?) -->$", re.MULTILINE)
_SHELL = ("console", "sh", "bash")
_FOLDERS = ("bench", "crates", "docs", "examples", "papers", "python", "rtl", "scenarios", "tools")


class Block(NamedTuple):
    """A block of a page."""

    language: str
    text: str
    file: str | None
    before: list[str]
    """Commands that are typed first."""
    left: str | None
    """Why it is not run."""

    @property
    def is_code(self) -> bool:
        """Whether it can be run at all: commands, or Python that is no file."""
        return self.language in (*_SHELL, "python") and self.file is None


def blocks(page: str) -> list[Block]:
    """Return the blocks of a page."""
    found = []
    for match in _BLOCK.finditer(page):
        notes: dict[str, list[str]] = {}
        for kind, text in _NOTE.findall(match["notes"]):
            notes.setdefault(kind, []).append(text)
        file = match["named"] or next(iter(notes.get("file", [])), None)
        left = next(iter(notes.get("not run", [])), None)
        found.append(Block(match["language"], match["text"], file, notes.get("before", []), left))
    return found


def commands_of(block: str) -> list[tuple[str, list[str]]]:
    """Return the commands of a block, each with the lines below it."""
    found: list[tuple[str, list[str]]] = []
    lines = block.replace("\\\n", "").splitlines()
    if not any(line.startswith("$ ") for line in lines):
        return [(line, []) for line in lines if line.strip()]
    for line in lines:
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def fits(shown: list[str], printed: list[str]) -> bool:
    """Whether the lines that are shown are those that were printed; between two gaps they follow one another."""

    def line(own: str) -> str:
        if own == GAP:
            return r"(?:.*\n)*?"
        parts = [re.escape(part.strip()) for part in own.split(GAP)]
        return (re.escape(own) if len(parts) == 1 else r".*".join(parts)) + "\n"

    pattern = "".join(map(line, map(_plain, shown)))
    return re.fullmatch(pattern, "".join(f"{_plain(line).rstrip()}\n" for line in printed)) is not None


def _plain(line: str) -> str:
    """A line with plain spaces in its numbers."""
    return line.replace("\N{NARROW NO-BREAK SPACE}", " ").replace("\N{NO-BREAK SPACE}", " ")


class Follow:
    """Types what stands in a page, in a folder with links to those of the repository."""

    def __init__(self, penstock: Command, folder: Path, without: str = "(?!)") -> None:
        """Commands that match `without` are run elsewhere."""
        self.penstock = penstock
        self.without = re.compile(without)
        self.folder = folder
        self.status = 0
        self.ran = 0
        self.names: dict[str, Any] = {"__name__": "page"}

    def link(self) -> "Follow":
        """Make the repository's folders appear in this one."""
        for name in _FOLDERS:
            (self.folder / name).symlink_to(ROOT / name)
        return self

    def page(self, page: Path) -> None:
        """Follow a page, and hold each output to it."""
        for block in blocks(page.read_text(encoding="utf-8")):
            for command in block.before:
                self.typed(command)
            if block.file:
                (self.folder / block.file).write_text(block.text, encoding="utf-8")
            elif block.is_code and block.left is None:
                self.block(block)

    def block(self, block: Block) -> None:
        """Run a block."""
        if block.language == "python":
            self.ran += 1
            with contextlib.chdir(self.folder), contextlib.redirect_stdout(io.StringIO()):
                exec(compile(block.text, "page.py", "exec"), self.names)
            return
        for command, shown in commands_of(block.text):
            if self.without.search(command):
                continue
            printed = self.typed(command)
            assert not shown or fits(shown, printed), f"$ {command}\n" + "\n".join(printed)
            # A page that shows what a refused command prints means it.
            assert self.status == 0 or shown, f"$ {command}\nexit status {self.status}\n" + "\n".join(printed)

    def typed(self, command: str) -> list[str]:
        """Run a command and return its lines: those of standard output, then those of standard error."""
        self.ran += 1
        if command.startswith("penstock ") and not re.search(r"[|<>]|&&", re.sub(r"'[^']*'|\"[^\"]*\"", "", command)):
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
