"""Artifacts: the same octets whenever they are packed, hashes, repetitions, and what has been changed."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Command

from penstock import ArgumentError, Scenario, artifacts


@pytest.fixture
def ran(small: Path, tmp_path: Path) -> Path:
    """A results folder of one run."""
    Scenario.load(small).run(seed=3, out=tmp_path / "ran")
    return tmp_path / "ran"


def rewritten(archive: Path, out: Path, change: Callable[[str, bytes], bytes | None]) -> Path:
    """Write an archive again with other files; ``None`` leaves one out."""
    with zipfile.ZipFile(archive) as packed, zipfile.ZipFile(out, "w") as other:
        for name in packed.namelist():
            if (octets := change(name, packed.read(name))) is not None:
                other.writestr(name, octets)
    return out


def test_an_artifact_is_repeated_to_the_last_bit(ran: Path, tmp_path: Path) -> None:
    one = artifacts.pack([ran], tmp_path / "one.zip")
    assert one.read_bytes() == artifacts.pack([ran], tmp_path / "one.zip").read_bytes()
    found = artifacts.check(one)
    assert (found.same, found.changed, dict(found.repeated)) == (True, (), {"results/ran": ""})
    with zipfile.ZipFile(one) as packed:
        assert {"README.md", "lock.json", "SHA256SUMS", "results/ran/scenario.toml"} <= {*packed.namelist()}
        assert "numpy" in json.loads(packed.read("lock.json"))["packages"]
        assert "penstock artifact check one.zip" in packed.read("README.md").decode()


def test_a_changed_file_is_named(ran: Path, tmp_path: Path) -> None:
    one = artifacts.pack([ran], tmp_path / "one.zip")

    def longer(name: str, octets: bytes) -> bytes:
        return octets + b"\n" if name.endswith("summary.json") else octets

    def without(name: str, octets: bytes) -> bytes | None:
        return None if name.endswith("rates.parquet") else octets

    changed = artifacts.check(rewritten(one, tmp_path / "longer.zip", longer), repeat=False)
    assert (changed.same, changed.changed) == (False, ("results/ran/summary.json",))
    changed = artifacts.check(rewritten(one, tmp_path / "without.zip", without), repeat=False)
    assert changed.changed == ("results/ran/rates.parquet",)


def test_other_results_are_told(ran: Path, tmp_path: Path) -> None:
    one = artifacts.pack([ran], tmp_path / "one.zip")

    def of_another_seed(name: str, octets: bytes) -> bytes:
        return octets.replace(b'"fingerprint": "', b'"fingerprint": "0') if name == "lock.json" else octets

    found = artifacts.check(rewritten(one, tmp_path / "other.zip", of_another_seed))
    assert found.repeated == {"results/ran": "other results"}


def test_no_code_of_an_archive_is_run() -> None:
    run = {"scenario": "x", "seed": 1, "fingerprint": ""}
    for text in ('scheme = "evil.py:Evil"', '[schemes."./evil.so"]\n', '[[class]]\nscheme = "/tmp/evil.so"\n'):
        assert artifacts._otherwise(text, run) == "its scheme is a file, which is not run"


def test_wrong_input_is_refused(ran: Path, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="no such folder"):
        artifacts.pack([tmp_path / "nothing"], tmp_path / "one.zip")
    with pytest.raises(ArgumentError, match="two folders have the name ran"):
        artifacts.pack([ran, ran], tmp_path / "one.zip")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ArgumentError, match="nothing to pack"):
        artifacts.pack([tmp_path / "empty"], tmp_path / "one.zip")
    (tmp_path / "text.zip").write_text("no archive")
    with pytest.raises(ArgumentError, match=r"text.zip: no artifact"):
        artifacts.check(tmp_path / "text.zip")


def test_the_command_says_what_it_found(penstock: Command, ran: Path) -> None:
    written = penstock("artifact", "write", ran, "--out", ran.parent / "one.zip")
    assert written.returncode == 0, written.stderr
    checked = penstock("artifact", "check", ran.parent / "one.zip")
    assert checked.returncode == 0, checked.stderr
    assert "results/ran: the same" in checked.stdout
    assert "not as it was packed" not in checked.stdout
    for wrong, said in ((ran / "scenario.toml", "no artifact"), (ran / "nothing.zip", "nothing.zip")):
        refused = penstock("artifact", "check", wrong)
        assert (refused.returncode, said in refused.stderr, "Traceback" in refused.stderr) == (2, True, False)
    refused = penstock("artifact", "write", ran.parent / "nothing", "--out", ran.parent / "two.zip")
    assert (refused.returncode, "no such folder" in refused.stderr) == (2, True)
