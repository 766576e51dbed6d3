"""Every block of code in the pages runs, or says in a comment before it why it does not."""

import re
from pathlib import Path

import pytest
from conftest import ROOT, Command
from page_commands import Follow, blocks

DOCS = ROOT / "docs"
ELSEWHERE = {
    "how-to/add-a-*.md": "test_recipes.py takes their steps in a copy of the repository",
    "tutorials/[!f]*.md": "test_tutorials.py",
    "tutorials/first-hour.md": "test_tutorials.py",
    "tutorials/from-*.md": "test_tutorials.py",
    "explanation/decisions/*.md": "they record what was so",
}
"""Pages whose blocks another test runs, or none: glob and reason."""

DRAWN = r"--out \S+\.(svg|png)$"
"""Commands that the build of the pages runs, for their figures: generate_docs.py, draw_commands."""

LEFT = 55
"""Blocks that are not run: a number here, so that another one is noticed."""

QUICK = (
    "call-schemes-from-c",
    "choose-headroom",
    "compare-two-schemes",
    "describe-a-fabric",
    "write-a-scheme-in-python-or-c",
)
"""Pages that take seconds; the others take up to minutes."""


def _pages() -> list[Path]:
    elsewhere = {page for glob in ELSEWHERE for page in DOCS.glob(glob)}
    return [
        page
        for page in sorted(DOCS.rglob("*.md"))
        if page not in elsewhere and any(block.is_code for block in blocks(page.read_text(encoding="utf-8")))
    ]


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.stem, marks=[] if page.stem in QUICK else [pytest.mark.science])
        for page in _pages()
        if any(block.is_code and block.left is None for block in blocks(page.read_text(encoding="utf-8")))
    ],
)
def test_the_blocks_of_a_page_run(page: Path, penstock: Command, tmp_path: Path) -> None:
    Follow(penstock, tmp_path, without=DRAWN).link().page(page)


@pytest.mark.unit
def test_blocks_that_are_not_run_say_why() -> None:
    reasons = [
        (page.stem, block.left)
        for page in _pages()
        for block in blocks(page.read_text(encoding="utf-8"))
        if block.is_code and block.left is not None
    ]
    assert all(len(str(reason).split()) > 2 for _, reason in reasons), reasons
    assert len(reasons) == LEFT


@pytest.mark.unit
def test_every_block_is_seen() -> None:
    """A fence that the rules do not match would not be run, and nobody would notice."""
    for page in _pages():
        text = page.read_text(encoding="utf-8")
        fences = re.findall(r"^```(?:python|sh|bash|console)$", text, re.MULTILINE)
        found = [block for block in blocks(text) if block.language in ("python", "sh", "bash", "console")]
        assert len(found) == len(fences), page
