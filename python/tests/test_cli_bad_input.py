"""Bad input: exit status 2, a message with line, key and remedy, and nothing written."""

from pathlib import Path

import pytest
from conftest import SMALL, Command

# The fault: the text that is replaced, its replacement, and the line, the key and the text of the message.
CASES = {
    "unknown key": ('link_rate = "1 Gbps"', 'link_rat = "1 Gbps"', 10, "link_rat", "link_rate"),
    "unknown scheme": ('scheme = "qcn"', 'scheme = "qcm"', 3, "scheme", "qcn"),
    "unknown table": ("[topology.star]", "[topology.stra]", 8, "stra", "star"),
    "missing unit": ('q_eq = "33 KB"', "q_eq = 33000", 6, "q_eq", "KB"),
    "unit of another dimension": ('link_rate = "1 Gbps"', 'link_rate = "1 KB"', 10, "link_rate", "Gbps"),
    "misspelt unit": ('link_rate = "1 Gbps"', 'link_rate = "1 Gpbs"', 10, "link_rate", "Gbps"),
    "negative rate": ('link_rate = "1 Gbps"', 'link_rate = "-1 Gbps"', 10, "link_rate", "negative"),
    "zero rate": ('link_rate = "1 Gbps"', 'link_rate = "0 Gbps"', 10, "link_rate", "zero"),
    "threshold beyond the buffer": ('q_eq = "33 KB"', 'q_eq = "61 KB"', 6, "q_eq", "60 KB"),
    "no such destination": ('to = "h2"', 'to = "h9"', 16, "to", "h9"),
    "duplicate names": ('to = "h2"', 'to = "h2"\n[[flow]]\nname = "f1"\nfrom = "h0"\nto = "h2"', 18, "name", "f1"),
    "stop before start": ('to = "h2"', 'to = "h2"\nstart = "9 ms"\nstop = "8 ms"', 18, "stop", "before it starts"),
    "interval of zero": ('to = "h2"', 'to = "h2"\n[record]\ninterval = "0 s"', 18, "interval", "zero"),
    "seed that is not a number": ('scheme = "qcn"', 'scheme = "qcn"\nseed = "one"', 4, "seed", "whole number"),
    "not TOML": ("[topology.star]", "[topology.star", 8, "", "not TOML"),
    "key given twice": ("hosts = 3", "hosts = 3\nhosts = 3", 10, "", "duplicate"),
}

ISLANDS = """\
question = "Can a frame cross water?"
duration = "1 ms"
scheme = "none"

[topology.graph]
hosts = "h0..h3"
switches = "sw0..sw1"
buffer = "150 KB"
link = [
    { ends = ["h0", "sw0"], rate = "1 Gbps" },
    { ends = ["h1", "sw0"], rate = "1 Gbps" },
    { ends = ["h2", "sw1"], rate = "1 Gbps" },
    { ends = ["h3", "sw1"], rate = "1 Gbps" },
]

[[flow]]
from = "h0"
to = "h2"
"""


@pytest.mark.parametrize("case", CASES)
def test_in_the_file(case: str, penstock: Command, tmp_path: Path) -> None:
    before, after, line, key, words = CASES[case]
    assert before in SMALL
    (tmp_path / "bad.toml").write_text(SMALL.replace(before, after))
    done = penstock("run", "bad.toml")
    assert done.returncode == 2
    assert done.stdout == ""
    message = done.stderr.splitlines()[0]
    assert message.startswith(f"error: bad.toml:{line}: "), done.stderr
    assert key in message
    assert words in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["bad.toml"]


def test_unreachable_destination(penstock: Command, tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text(ISLANDS)
    done = penstock("run", "bad.toml")
    assert done.returncode == 2
    assert done.stderr.startswith("error: bad.toml:")
    assert '"h2" cannot be reached from "h0"' in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["bad.toml"]


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe\x00", b"# nothing\n" * 500_000, None], ids=["empty", "no text", "long", "missing"]
)
def test_file_that_is_no_scenario(content: bytes | None, penstock: Command, tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)
    done = penstock("run", "bad.toml")
    assert done.returncode == 2
    assert done.stderr.startswith("error: bad.toml")
    assert "Traceback" not in done.stderr
    assert [entry.name for entry in tmp_path.iterdir()] == ["bad.toml"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run"], "SCENARIO"),
        (["run", "nowhere.toml"], "neither a file nor a scenario"),
        (["run", "small.toml", "--scheme", "qcm"], "qcn"),
        (["run", "small.toml", "--profile", "ieee-2011"], "ieee-2010"),
        (["run", "small.toml", "--seed", "one"], "--seed"),
        (["run", "small.toml", "--seed", "-1"], "--seed"),
        (["run", "small.toml", "--seed", "9223372036854775808"], "--seed"),
        (["run", "small.toml", "--set", "duration"], "KEY=VALUE"),
        (["run", "small.toml", "--set", "schemes.qcn.q_eqq=33 KB"], "q_eq"),
        (["run", "small.toml", "--set", "flow.7.start=1 ms"], "flow"),
        (["run", "small.toml", "--set", "duration=1 parsec"], "duration"),
        (["compare", "small.toml"], "--schemes"),
        (["compare", "small.toml", "--schemes", "qcn,qcm"], "qcn"),
        (["compare", "small.toml", "--schemes", "qcn,qcn"], "twice"),
        (["compare", "small.toml", "--schemes", "qcn", "--seeds", "0"], "--seeds"),
        (["compare", "small.toml", "--schemes", "qcn", "--set", f"seed={2**63 - 1}", "--seeds", "2"], "seed"),
        (["run", "small.toml", "--out", "small.toml"], "exists already"),
        (["run", "small.toml", "--out", "small.toml/out"], "is a file, not a folder"),
        (["compare", "small.toml", "--schemes", "qcn", "--out", "small.toml/out"], "is a file, not a folder"),
        (["schemes", "qcm"], "qcn"),
        (["schemes", "qcn", "q_eqq"], "did you mean q_eq?"),
        (["scenarios", "nowhere"], "nowhere"),
        (["frobnicate"], "frobnicate"),
    ],
)
def test_on_the_command_line(arguments: list[str], words: str, penstock: Command, small: Path, tmp_path: Path) -> None:
    done = penstock(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == [small.name]
