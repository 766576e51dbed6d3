"""The tutorials: each command of a page runs, and prints what stands below it; page_commands.py has the rules."""

import re
from pathlib import Path

import pytest
from conftest import ROOT, Command
from page_commands import GAP, Follow, fits

PAGES = ROOT / "docs/tutorials"


@pytest.fixture
def follow(penstock: Command, tmp_path: Path) -> Follow:
    return Follow(penstock, tmp_path)


def test_the_first_hour(follow: Follow) -> None:
    follow.page(PAGES / "first-hour.md")
    assert follow.status == 0
    assert follow.ran == 11


def test_is_my_headroom_enough(follow: Follow) -> None:
    follow.page(PAGES / "is-my-headroom-enough.md")
    assert follow.ran == 7
    text = (follow.folder / "headroom.html").read_text(encoding="utf-8")
    assert "lacks most: 505\N{NO-BREAK SPACE}KB of 685\N{NO-BREAK SPACE}KB" in text


@pytest.mark.science
def test_should_i_raise_alpha(follow: Follow) -> None:
    follow.page(PAGES / "should-i-raise-alpha.md")
    assert follow.ran == 10
    text = (follow.folder / "alpha.html").read_text(encoding="utf-8")
    (row,) = re.findall(r"<tr><td>buffer\.0\.ingress_alpha</td>(.*?)</tr>", text)
    assert re.findall(r">([\d.]+)<", row) == ["0.125", "0.5", "2.0"]
    assert "flow of victim is least with ingress_alpha=1/8, 1.85\N{NO-BREAK SPACE}Gb/s" in text


def test_from_config_db_to_a_change_request(follow: Follow) -> None:
    follow.page(PAGES / "from-config-db-to-change-request.md")
    hashes = [
        re.findall(r'class="hash">(\w{64})<', (follow.folder / f"{name}.html").read_text(encoding="utf-8"))
        for name in ("before", "after")
    ]
    # The file that was corrected differs, the fabric does not.
    assert hashes[0][0] != hashes[1][0] and hashes[0][1] == hashes[1][1]
    printed = follow.typed("sha256sum leaf0.new.json")
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
        ([f"{GAP}", "b", "c"], True),
        (["a", f"b {GAP}", f"{GAP} c"], True),
        (["a", f"x {GAP}", "c"], False),
    ],
)
def test_outputs_are_held_line_by_line(shown: list[str], right: bool) -> None:
    assert fits(shown, ["a", "b  ", "c"]) is right
