"""The options of a page, with every command that draws: size in inches and points, with or without a title."""

from pathlib import Path

import pytest
from conftest import QUICK
from typer.testing import CliRunner

from penstock.cli import app

PAGE = ["--width", "3.3", "--no-title"]


def _width_px(path: Path) -> int:
    """The width of a PNG, pixels: the first number behind the name of its first chunk."""
    return int.from_bytes(path.read_bytes()[16:20], "big")


@pytest.mark.parametrize(
    ("arguments", "figure"),
    [
        (["run", "quick.toml", "--out", "r"], "r/overview.png"),
        (["compare", "quick.toml", "--schemes", "none,qcn", "--out", "c"], "c/compare.png"),
        (["theory", "phase", "quick.toml", "--out", "p.png"], "p.png"),
        (["theory", "overlay", "quick.toml", "--out", "o.png"], "o.png"),
        (["theory", "map", "quick.toml", "--x", "w=1..8:3", "--y", "flows=2..4:3", "--out", "m.png"], "m.png"),
        (["theory", "figures", "7", "--out", "f.png"], "f.png"),
    ],
)
def test_every_command_that_draws_draws_on_a_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], figure: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "quick.toml").write_text(QUICK, encoding="utf-8")
    done = CliRunner().invoke(app, [*arguments, *PAGE])
    assert done.exit_code == 0, done.output
    # 3.3 inches at 150 dots an inch.
    assert _width_px(tmp_path / figure) == 495


@pytest.mark.parametrize(
    ("option", "words"),
    [
        (["--width", "0.5"], "--width 0.5: must be between 1 and 40 inches"),
        (["--font-size", "100"], "--font-size 100: must be between 3 and 40 points"),
    ],
)
def test_a_page_that_cannot_be_is_refused_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: list[str], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "quick.toml").write_text(QUICK, encoding="utf-8")
    done = CliRunner().invoke(app, ["run", "quick.toml", *option])
    assert done.exit_code == 2 and words in done.output and "hint:" in done.output
    assert not (tmp_path / "results").exists()
