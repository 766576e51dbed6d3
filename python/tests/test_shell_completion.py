"""Shell completions, asked as bash asks."""

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import SMALL
from typer.testing import CliRunner

from penstock import Scenario, scenarios, sweep
from penstock.catalogue import schemes
from penstock.cli import app

_TRIAL = """
import json, sys
sys.argv = ["penstock"]
from penstock.cli import app
try:
    app()
except SystemExit:
    pass
heavy = [name for name in ("numpy", "matplotlib", "scipy", "pandas", "arro3", "rich.table") if name in sys.modules]
print(json.dumps(heavy), file=sys.stderr)
"""


def complete(monkeypatch: pytest.MonkeyPatch, *words: str) -> list[str]:
    """Return the completions of the last word."""
    monkeypatch.setenv("_PENSTOCK_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", " ".join(["penstock", *words]))
    monkeypatch.setenv("COMP_CWORD", str(len(words)))
    return CliRunner().invoke(app, [], prog_name="penstock").stdout.split()


def test_scenarios_and_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "netmine.toml").write_text(SMALL)
    found = complete(monkeypatch, "run", "net")
    assert found == [*(name for name in scenarios() if name.startswith("net")), "netmine.toml"]
    assert complete(monkeypatch, "compare", "four-sources", "netfpga/eight-sources-1") == [
        "netfpga/eight-sources-1000us",
        "netfpga/eight-sources-100us",
    ]
    assert complete(monkeypatch, "theory", "margin", "four-s") == ["four-sources"]


def test_the_testbed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sorted(complete(monkeypatch, "testbed", "")) == ["down", "run", "up"]
    found = complete(monkeypatch, "testbed", "run", "testbed/two")
    assert found == ["testbed/two-connections", "testbed/two-senders"]


def test_schemes_and_profiles(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [about["name"] for about in schemes()]
    assert complete(monkeypatch, "run", "four-sources", "--scheme", "") == names
    assert complete(monkeypatch, "schemes", "dcq") == ["dcqcn", "dcqcn-window"]
    found = complete(monkeypatch, "compare", "four-sources", "--schemes", "none,qcn,q")
    assert found == [f"none,qcn,{name}" for name in names if name.startswith("qcn-")]
    (qcn,) = (about for about in schemes() if about["name"] == "qcn")
    profiles = [profile["name"] for profile in qcn["profiles"]]
    assert complete(monkeypatch, "run", "baseline/ten-gig", "--profile", "") == profiles
    (bcn,) = (about for about in schemes() if about["name"] == "bcn")
    of_bcn = [profile["name"] for profile in bcn["profiles"]]
    assert complete(monkeypatch, "run", "baseline/ten-gig", "--scheme", "bcn", "--profile", "") == of_bcn


def test_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    assert complete(monkeypatch, "run", "baseline/ten-gig", "--set", "dur") == ["duration="]
    assert complete(monkeypatch, "run", "baseline/ten-gig", "--set", "flow.0.sta") == [
        "flow.0.start=",
        "flow.0.stagger=",
    ]
    found = complete(monkeypatch, "run", "baseline/ten-gig", "--set", "schemes.")
    assert "schemes.qcn.q_eq=" in found
    assert not any(word.startswith("schemes.bcn") for word in found)
    assert complete(monkeypatch, "schema", "topology.s") == ["topology.star"]
    assert "w=" in complete(monkeypatch, "theory", "map", "baseline/ten-gig", "--x", "w")
    assert "schemes.qcn.w" in complete(monkeypatch, "tune", "baseline/ten-gig", "--keys", "schemes.qcn.w")
    assert complete(monkeypatch, "compare", "baseline/ten-gig", "--queue", "sw0") == ["sw0->h4"]
    found = complete(monkeypatch, "run", "baseline/ten-gig", "--pcap", "sw0->h4,sw0->h")
    assert found == [f"sw0->h4,sw0->h{i}" for i in range(4)]
    assert complete(monkeypatch, "run", "baseline/ten-gig", "--threads", "a") == ["auto"]
    assert complete(monkeypatch, "export", "baseline/ten-gig", "files", "--to", "h") == ["hpcc", "htsim"]


def test_columns(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    Scenario.from_toml(SMALL).run(out="small")
    assert complete(monkeypatch, "table", "sm") == ["small/"]
    assert complete(monkeypatch, "table", "small", "q") == ["queues"]
    assert complete(monkeypatch, "table", "small", "queues", "queue_octets", "queue_") == ["queue_frames"]
    assert complete(monkeypatch, "table", "small", "queues", "cp_") == ["cp_fb", "cp_q_old_octets"]


def test_keys_and_numbers_of_a_sweep(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    sweep(Scenario.from_toml(SMALL, name="small").set("duration", "1 ms"), {"schemes.qcn.w": [1]}, out="swept")
    assert complete(monkeypatch, "sweep", "baseline/ten-gig", "--vary", "dur") == ["duration="]
    assert complete(monkeypatch, "plot", "swept", "--x", "") == ["w", "scheme"]
    assert complete(monkeypatch, "plot", "swept", "--metric", "queue_p99") == ["queue_p99_octets", "queue_p999_octets"]
    assert complete(monkeypatch, "plot", "swept", "--metric", "jain_index,queue_p5") == ["jain_index,queue_p50_octets"]
    assert complete(monkeypatch, "query", "sw") == ["swept/"]
    assert complete(monkeypatch, "plot", "nothing", "--x", "") == []


def test_workloads_and_competitors_of_an_arena(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert complete(monkeypatch, "arena", "--workloads", "incast-2") == ["incast-2", "incast-256"]
    assert complete(monkeypatch, "arena", "--workloads", "incast-2,incast-2") == ["incast-2,incast-256"]
    assert complete(monkeypatch, "arena", "--competitors", "qcn-p") == ["qcn-pfc"]
    (tmp_path / "own.toml").write_text("[[workload]]\n")
    assert complete(monkeypatch, "arena", "ow") == ["own.toml"]
    assert complete(monkeypatch, "arena", "own.toml", "--workloads", "in") == []


def test_wrong_words_complete_to_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.toml").write_text("scheme = ")
    every = [profile["name"] for about in schemes() for profile in about["profiles"]]
    assert set(complete(monkeypatch, "run", "--profile", "")) == set(every)
    assert complete(monkeypatch, "run", "broken.toml", "--profile", "") == []
    assert complete(monkeypatch, "compare", "nothing", "--queue", "") == []
    assert complete(monkeypatch, "table", "nothing", "") == []
    assert complete(monkeypatch, "plot", "no/where/") == []


@pytest.mark.parametrize(
    "words", [["run", "net"], ["run", "four-sources", "--set", "sch"], ["theory", "margin", "net"]]
)
def test_nothing_heavy_is_loaded(monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    monkeypatch.setenv("_PENSTOCK_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", " ".join(["penstock", *words]))
    monkeypatch.setenv("COMP_CWORD", str(len(words)))
    done = subprocess.run([sys.executable, "-c", _TRIAL], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout
    assert json.loads(done.stderr.splitlines()[-1]) == []


def test_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    assert complete(monkeypatch, "wire", "formats", "cn") == ["cn_tag", "cnm"]
    assert sorted(complete(monkeypatch, "wire", "encode", "cn")) == ["cnm", "cnp"]
    assert complete(monkeypatch, "wire", "encode", "cnm", "q") == ["quantized_feedback=", "q_offset=", "q_delta="]
    assert complete(monkeypatch, "wire", "encode", "cnm", "vlan.v") == ["vlan.vid="]
    assert complete(monkeypatch, "wire", "encode", "nothing", "q") == []


def test_domains(monkeypatch: pytest.MonkeyPatch) -> None:
    assert complete(monkeypatch, "dcb", "plan", "baseline/t") == ["baseline/ten-gig"]
    assert complete(monkeypatch, "dcb", "plan", "baseline/ten-gig", "--outside", "sw") == ["sw0"]
    assert complete(monkeypatch, "dcb", "show", "four-s") == ["four-sources"]
    assert complete(monkeypatch, "dcb", "set", "eth0", "rpg_min") == ["rpg_min_dec_fac=", "rpg_min_rate="]
    interfaces = [name for _, name in socket.if_nameindex()]
    assert complete(monkeypatch, "dcb", "set", "") == interfaces
    assert complete(monkeypatch, "dcb", "plan", "nowhere", "--outside", "") == []
