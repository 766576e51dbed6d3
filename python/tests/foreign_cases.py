"""A small network for schemes of files, libraries built from C, and what their runs have in common with native ones."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import penstock

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples/foreign"
INCLUDE = ROOT / "crates/foreign/include"


def scenario(scheme: "str | type[penstock.Scheme]" = "dctcp", **more: object) -> penstock.Scenario:
    """Four sources in one port of 10 Gb/s for 3 ms."""
    settings: dict[str, Any] = {
        "question": "Which window do four sources get?",
        "duration": "3 ms",
        "topology": {"star": {"hosts": 5, "link_rate": "10 Gbps", "link_delay": "5 us", "buffer": "300 KB"}},
        "flow": [{"from": "h0..h3", "to": "h4"}],
        "record": {"interval": "100 us"},
    }
    return penstock.Scenario(scheme=scheme, **settings | more)


def build(source: str | Path, folder: Path, *flags: str) -> str:
    """Build a library of a file, or of a text in C: its location."""
    if isinstance(source, str):
        path = folder / "scheme.c"
        path.write_text(source)
        source = path
    library = folder / f"lib{source.stem}.so"
    command = ["cc", "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-I{INCLUDE}"]
    subprocess.run([*command, *flags, "-o", library, source], check=True)
    return str(library)


def numbers(result: penstock.Result) -> str:
    """The summary without names and times of the machine."""
    summary = json.loads(result.summary_json)
    for key in ("run", "scheme", "priorities"):
        summary.pop(key, None)
    return re.sub("(dctcp|dcqcn|qcn|theta-powertcp)-(c|py)", r"\1", json.dumps(summary))


def columns(result: penstock.Result, table: str) -> dict[str, list[Any]]:
    """A table's columns, those of the scheme too."""
    found = getattr(result, table)
    return {name: found[name].to_pylist() for name in found.column_names}


def command(tmp_path: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a folder with the scenario."""
    (tmp_path / "four.toml").write_text(scenario().to_toml())
    words, of_all = [sys.executable, "-m", "penstock", *arguments], os.environ | environment
    return subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False, env=of_all)


def changed(tmp_path: Path, before: str, after: str) -> str:
    """DCTCP in Python with a change: its place."""
    text = (EXAMPLES / "dctcp.py").read_text()
    assert before in text
    (tmp_path / "mine.py").write_text(text.replace(before, after))
    return f"{tmp_path}/mine.py:Dctcp"
