"""Files are whole under their final names, or not there."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from conftest import SMALL
from matplotlib.figure import Figure

from penstock import OutputError, Scenario, interrupts
from penstock.figures.style import save
from penstock.files import whole, write_text
from penstock.reproduction.report import Pages


@contextmanager
def full_disk(octets: int = 100) -> Iterator[None]:
    """Let no file grow beyond a limit, octets: writing fails as it does on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (octets, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_leaves_the_scenario_that_was_there(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    scenario = Scenario.from_toml(SMALL)
    with full_disk(), pytest.raises(OSError, match=r"mine\.toml"):
        scenario.save(path)
    assert list(tmp_path.iterdir()) == []
    scenario.save(path)
    with full_disk(), pytest.raises(OSError, match=r"mine\.toml"):
        scenario.set("seed", 2).save(path)
    assert path.read_text() == SMALL
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_leaves_no_half_of_a_figure(tmp_path: Path) -> None:
    with full_disk(), pytest.raises(OSError, match=r"a\.png"):
        save(Figure(), tmp_path / "a.png")
    assert list(tmp_path.iterdir()) == []


def test_two_that_write_one_file_do_not_meet(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with whole(path) as one, whole(path) as other:
        assert one != other
        one.write_text("one")
        other.write_text("other")
    assert path.read_text() == "one"
    assert list(tmp_path.iterdir()) == [path]


def test_leftovers_of_the_dead_are_removed_and_those_of_the_living_are_not(tmp_path: Path) -> None:
    # No process has the number 2^32 - 1: Linux counts to 2^22 at most.
    dead, alive, other = (
        tmp_path / f"{interrupts.prefix(name, process)}0"
        for name, process in (("a", 2**32 - 1), ("a", 1), ("b", 2**32 - 1))
    )
    for path in (dead, alive, other):
        path.touch()
    write_text(tmp_path / "a", "text")
    assert {path.name for path in tmp_path.iterdir()} == {"a", alive.name, other.name}


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("file")
    write_text(tmp_path / "link", "text")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "text"


def test_two_reports_of_one_name_do_not_meet(tmp_path: Path) -> None:
    target = tmp_path / "out"
    one, other = (Pages.create(target, force=False) for _ in range(2))
    assert one.staged.partial != other.staged.partial
    one.publish([])
    with pytest.raises(OutputError) as caught:
        other.publish([])
    assert caught.value.refused
    other.discard()
    assert list(tmp_path.iterdir()) == [target]


def test_a_report_replaces_reports_alone_and_the_old_one_stays_until_then(tmp_path: Path) -> None:
    target = tmp_path / "out"
    Pages.create(target, force=False).publish([])
    before = (target / "index.html").stat().st_ino
    under_way = Pages.create(target, force=True)
    # Killed here, it leaves a hidden folder that nobody trips over, and the report that was there.
    assert (target / "index.html").stat().st_ino == before
    again = Pages.create(target, force=True)
    again.publish([])
    assert (target / "index.html").stat().st_ino != before
    under_way.discard()
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "thesis.tex").touch()
    with pytest.raises(OutputError) as caught:
        Pages.create(tmp_path / "thesis", force=True)
    assert caught.value.refused
    assert "name another folder" in (caught.value.hint or "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "thesis"]
