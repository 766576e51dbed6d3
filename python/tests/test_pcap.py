"""Captures of runs: they are read by our decoder, by tshark and by scapy, and change nothing else."""

import json
import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, SMALL, Command
from golden_frames import number

from penstock import OutputError, Scenario, ScenarioError, wire

FILE = "capture.pcapng"

TEN = {
    "qcn": {"scheme": "qcn", "duration": "8 ms"},
    "qcn-small": {"scheme": "qcn", "flow.0.frame": "64 B", "duration": "1 ms"},
    "tcp": {"scheme": "qcn", "flow.0.transport": "tcp", "topology.star.buffer": "30 KB", "schemes.qcn.q_eq": "20 KB"},
    "smcc": {"scheme": "smcc"},
    "bcn": {"scheme": "bcn"},
    "e2cm": {"scheme": "e2cm"},
    "fecn": {"scheme": "fecn"},
    "efecn": {"scheme": "efecn"},
    "dcqcn": {"scheme": "dcqcn", "flow.0.transport": "go-back-n"},
    "dctcp": {"scheme": "dctcp"},
    "pfc": {"scheme": "none", "pfc.buffer": "30 KB"},
    "rocc": {"scheme": "rocc"},
    "sfc": {"scheme": "sfc"},
    "homa": {"scheme": "homa"},
    "ndp": {"scheme": "ndp", "flow.0.transport": "selective"},
    "expresspass": {"scheme": "expresspass"},
    "fast-cnp": {"scheme": "fast-cnp"},
    # The switches of victim-flow/ci, of which the one tells the other; the lines back have its messages.
    "ci": {},
}
"""Scenarios that have every control format between them."""

FORMATS = {
    "cnm",
    "cn_tag",
    "smcc",
    "bcn",
    "rlt",
    "e2cm",
    "fecn",
    "rocc",
    "sfc",
    "homa",
    "ndp_pull",
    "expresspass",
    "cim",
    "fast_cnp",
    "bth",
    "pfc",
    "tcp",
    "udp",
    "tcp_sack",
    "cnp_reserved",
}


def scenario(settings: dict[str, str]) -> Scenario:
    """Return the small scenario without its scheme's settings, with others, for a short while."""
    made = Scenario.from_toml(SMALL.replace('[schemes.qcn]\nq_eq = "33 KB"\n', ""), name="small")
    made = made.set("duration", "5 ms").set("topology.star.buffer", "150 KB")
    for key, value in settings.items():
        made = made.set(key, value)
    return made


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The captures of all ports of the scenarios."""
    root = tmp_path_factory.mktemp("captures")
    for name, settings in TEN.items():
        if name == "ci":
            # Its switches are done with their messages within 20 ms.
            made = Scenario.named("victim-flow/ci").set("duration", "20 ms")
            ports = ["edge->core", "core->left", "core->right"]
        else:
            made = scenario(settings)
            ports = [link["name"] for link in made.outline()["links"]]
        made.run(out=root / name, pcap=ports)
    return {name: root / name / FILE for name in TEN}


def frames(file: Path) -> Iterator[tuple[wire.Captured, wire.Frame]]:
    """Yield the frames of a capture, as they are and decoded."""
    for captured in wire.read(file):
        yield captured, captured.decode()


def test_our_decoder_reads_every_frame(captures: dict[str, Path]) -> None:
    seen = set()
    for name, file in captures.items():
        times = []
        for captured, frame in frames(file):
            assert frame.faults == [], (name, captured)
            seen |= {layer.name for layer in frame}
            times.append(captured.time_ns or 0)
        assert times == sorted(times), name
        assert len(times) > 300, name
    assert seen >= FORMATS, FORMATS - seen


def tshark(file: Path, *options: str) -> list[str]:
    """Return the lines that tshark prints of a capture, with our dissector and nobody's settings."""
    home = file.parent.parent / "home"
    environment = {**os.environ, "HOME": str(home), "XDG_CONFIG_HOME": str(home), "LC_ALL": "C"}
    command = ["tshark", "-X", f"lua_script:{wire.install_dissector(home)}", "-r", str(file), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def needs_tshark() -> None:
    if shutil.which("tshark") is None:
        reason = "tshark is not there (sudo apt-get install tshark)"
        if os.environ.get("PENSTOCK_NEEDS_TSHARK"):
            pytest.fail(f"{reason}, and PENSTOCK_NEEDS_TSHARK is set", pytrace=False)
        pytest.skip(reason)


def test_tshark_finds_nothing_malformed(captures: dict[str, Path]) -> None:
    needs_tshark()
    for name, file in captures.items():
        wrong = "_ws.malformed or _ws.expert.severity == error"
        bad = "ip.checksum.status == 0 or tcp.checksum.status == 0 or udp.checksum.status == 0"
        checks = ("-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE")
        assert tshark(file, *checks, "-Y", f"{wrong} or {bad}") == [], name


def test_tshark_reads_tags_and_notifications_by_name(captures: dict[str, Path]) -> None:
    needs_tshark()
    file = captures["qcn"]
    (about,) = (entry for entry in wire.formats() if entry["name"] == "cnm")
    names = ["cn_tag.flow_identifier", *(f"cnm.{field['name']}" for field in about["fields"])]
    rows = tshark(file, "-T", "fields", *(word for name in names for word in ("-e", name)), "-Y", "cnm")
    ours = [frame for _, frame in frames(file) if "cnm" in frame]
    assert len(rows) == len(ours) > 10
    for line, frame in zip(rows, ours, strict=True):
        for name, text in zip(names, line.split("\t"), strict=True):
            layer, _, field = name.partition(".")
            assert number(text) == getattr(frame[layer], field), name
    tagged = sum("cn_tag" in frame for _, frame in frames(file))
    assert len(tshark(file, "-Y", "cn_tag")) == tagged


def test_tshark_shows_interfaces_and_comments(captures: dict[str, Path]) -> None:
    needs_tshark()
    fields = ("frame.interface_name", "frame.interface_description", "frame.comment", "frame.time_epoch")
    wanted = [word for name in fields for word in ("-e", name)]
    rows = [line.split("\t") for line in tshark(captures["qcn"], "-T", "fields", *wanted, "-Y", "cnm")]
    ours = [captured for captured, frame in frames(captures["qcn"]) if "cnm" in frame]
    assert {(line[0], line[1]) for line in rows} == {
        ("sw0->h0", "from switch sw0 to host h0"),
        ("sw0->h1", "from switch sw0 to host h1"),
    }
    assert [line[2] for line in rows] == [captured.comment for captured in ours]
    assert all("Fb " in line[2] and line[2].endswith("queue 64 octets") for line in rows)
    assert [round(float(line[3]) * 1e9) for line in rows] == [captured.time_ns for captured in ours]


def test_scapy_agrees(captures: dict[str, Path]) -> None:
    pytest.importorskip("scapy")
    from scapy.layers.l2 import Ether

    from penstock.wire import scapy_layers
    from penstock.wire.frame import messages

    names = {entry["name"]: entry["message"]["abbreviation"].replace("-TAG", "Tag") for entry in messages()}
    layers = {name: getattr(scapy_layers, layer) for name, layer in names.items()}
    seen = Counter[str]()
    for name, file in captures.items():
        for captured, frame in islice(frames(file), 400):
            packet = Ether(captured.data)
            assert bytes(packet) == captured.data, name
            for layer in frame:
                if layer.name in layers:
                    seen[layer.name] += 1
                    read = packet[layers[layer.name]]
                    for field in layer.fields:
                        value = getattr(read, field.name)
                        assert (number(value) if isinstance(value, str) else value) == field.value, (name, field)
    assert set(seen) == set(layers)


def test_statistics_name_who_notified_whom(captures: dict[str, Path]) -> None:
    found = wire.statistics(captures["qcn"])
    assert found["faulty"] == 0
    ways = {(way["interface_name"], way["format"], way["flow"]) for way in found["notified"]}
    assert ways == {("sw0->h0", "cnm", 1), ("sw0->h1", "cnm", 2)}
    paused = wire.statistics(captures["pfc"])["paused"]
    assert {entry["interface_name"] for entry in paused} == {"sw0->h0", "sw0->h1"}
    assert all(entry["stops"] > 0 for entry in paused)


def test_messages_of_newer_schemes_name_their_flow(captures: dict[str, Path]) -> None:
    for name in ("rocc", "sfc"):
        ways = {
            (way["interface_name"], way["format"], way["flow"]) for way in wire.statistics(captures[name])["notified"]
        }
        assert ways == {("sw0->h0", name, 1), ("sw0->h1", name, 2)}
    named = [frame["cim"] for _, frame in frames(captures["ci"]) if "cim" in frame]
    assert len(named) > 5
    # min_header_octets is 48; the flow's frames are UDP over IPv4, and it has three messages at most.
    assert {(cim.add, cim.msdu_length) for cim in named} == {(1, 48)}
    assert {cim.count for cim in named} <= {0, 1, 2}
    (one, *_) = (frame for _, frame in frames(captures["ci"]) if "cim" in frame)
    assert [layer.name for layer in one if layer.encapsulated][:2] == ["ipv4", "udp"]


def test_a_switch_names_itself_and_the_destination_of_the_flow(captures: dict[str, Path]) -> None:
    counted = wire.statistics(captures["fast-cnp"])
    ways = {(way["interface_name"], way["format"], way["flow"]) for way in counted["notified"]}
    assert ways == {("sw0->h0", "fast_cnp", 1), ("sw0->h1", "fast_cnp", 2)}
    assert sum(entry["marked"] for entry in counted["roce"]) == 0
    named = [frame for captured, frame in frames(captures["fast-cnp"]) if "fast_cnp" in frame]
    # Nodes h0, h1, h2 and sw0 have the addresses 1 to 4. Its octets are those of the signal but for the check sequence.
    ends = {(each["ipv6"].source, each["ipv6"].destination, each["fast_cnp"].original_destination) for each in named}
    assert ends == {("fd00::a00:4", f"fd00::a00:{node}", "fd00::a00:3") for node in (1, 2)}
    assert {len(captured.data) for captured, frame in frames(captures["fast-cnp"]) if "fast_cnp" in frame} == {118}


def test_a_proxy_sends_the_source_a_cnp(tmp_path: Path) -> None:
    # The port after the second switch is congested: its switch notifies the first one, which translates.
    far = (ROOT / "papers" / "notifications" / "far.toml").read_text(encoding="utf-8")
    wide = far.replace('ends = ["near", "core"], rate = "10 Gbps"', 'ends = ["near", "core"], rate = "40 Gbps"')
    made = Scenario.from_toml(wide, name="far").set("duration", "3 ms").set("topology.graph.buffer", "1 MB")
    seen = {}
    for proxy in ("true", "false"):
        made.set("schemes.fast-cnp.proxy", proxy)
        made.run(out=tmp_path / proxy, pcap=["core->near", "near->h0"])
        notified = wire.statistics(tmp_path / proxy / FILE)["notified"]
        seen[proxy] = {(way["interface_name"], way["format"]) for way in notified}
    assert seen["true"] == {("core->near", "fast_cnp"), ("near->h0", "cnp")}
    assert seen["false"] == {("core->near", "fast_cnp"), ("near->h0", "fast_cnp")}


def test_tshark_reads_the_destination_of_a_fast_cnp(captures: dict[str, Path]) -> None:
    needs_tshark()
    shown = ("-T", "fields", "-e", "fast_cnp.original_destination", "-e", "infiniband.bth.destqp", "-Y", "fast_cnp")
    rows = tshark(captures["fast-cnp"], *shown)
    ours = sum("fast_cnp" in frame for _, frame in frames(captures["fast-cnp"]))
    assert len(rows) == ours > 10
    assert {row.split("\t")[0] for row in rows} == {"fd00::a00:3"}


def test_a_capture_changes_no_number(tmp_path: Path) -> None:
    made = scenario({"scheme": "qcn"})
    result = made.run(out=tmp_path / "with", pcap=["sw0->h2"])
    without = made.run(out=tmp_path / "without")
    one, other = (json.loads(run.summary_json) for run in (result, without))
    one.pop("run"), other.pop("run")
    assert one == other
    for name in ("queues.parquet", "rates.parquet", "signals.parquet", "flows.parquet", "scenario.toml"):
        assert (tmp_path / "with" / name).read_bytes() == (tmp_path / "without" / name).read_bytes(), name
    assert not (tmp_path / "without" / FILE).exists()


def test_as_many_frames_as_are_counted(tmp_path: Path) -> None:
    made = scenario({"scheme": "qcn", "flow.0.stop": "4 ms"})
    summary = made.run(out=tmp_path / "out", pcap=["sw0->h2", "sw0->h0"]).summary
    counted = Counter(captured.interface_name for captured in wire.read(tmp_path / "out" / FILE))
    assert counted["sw0->h2"] == sum(flow["frames_delivered"] for flow in summary["flows"])
    assert counted["sw0->h0"] == summary["flows"][0]["feedback_received"]


def test_wrong_ports_are_refused(tmp_path: Path) -> None:
    made = scenario({"scheme": "qcn"})
    with pytest.raises(ScenarioError) as refused:
        made.run(out=tmp_path / "out", pcap=["sw0->h2", "sw0->h7"])
    error: Any = refused.value
    assert (error.key, error.message) == ("pcap", 'there is no port "sw0->h7"')
    assert error.hint == 'did you mean "sw0->h0"?'
    with pytest.raises(OutputError, match="a capture needs a results folder for its file, and the run has none"):
        made.run(pcap="sw0->h2")
    assert list(tmp_path.iterdir()) == []


def test_the_command(penstock: Command, small: Path) -> None:
    wrong = penstock("run", str(small), "--pcap", "sw0->h9", "--out", "out")
    assert wrong.returncode == 2
    assert 'error: --pcap: there is no port "sw0->h9"' in wrong.stderr
    assert 'did you mean "sw0->h0"?' in wrong.stderr
    assert not (small.parent / "out").exists()

    quick = (
        "run",
        str(small),
        "--no-figures",
        "--set",
        "duration=3 ms",
        "--pcap",
        "sw0->h2, sw0->h0",
        "--force",
        "--out",
        "out",
    )
    done = penstock(*quick)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("frames of sw0->h2, sw0->h0 in out/capture.pcapng\n")
    names = {captured.interface_name for captured in wire.read(small.parent / "out" / FILE)}
    assert names == {"sw0->h2", "sw0->h0"}

    ideal = penstock(*quick, "--set", 'network.feedback={ ideal = "10 us" }')
    assert "note: feedback is ideal: signals of the scheme cross no port" in ideal.stderr
    names = {captured.interface_name for captured in wire.read(small.parent / "out" / FILE)}
    assert names == {"sw0->h2"}
