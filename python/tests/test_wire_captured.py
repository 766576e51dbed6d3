"""Captures as operators have them: cut by a snap length, with tags of providers, with pauses to add up."""

import csv
import io
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import Command
from golden_frames import by_name

from penstock import ArgumentError, Scenario, wire

INCAST = """
question = "What do captures of RoCE say?"
duration = "60 us"
scheme = "dcqcn"
[topology.star]
hosts = 3
link_rate = "100 Gbps"
link_delay = "1 us"
buffer = "1 MB"
[[flow]]
from = "h0..h1"
to = "h2"
transport = "go-back-n"
"""

SLOW = """
question = "How long is a line stopped?"
duration = "20 ms"
scheme = "none"
[topology.star]
hosts = 3
link_rate = "10 Gbps"
link_delay = "1 us"
buffer = "2 MB"
[pfc]
quanta = 65535
response = "0 s"
ports = ["h0->sw0", "h1->sw0"]
xoff = "100 KB"
[[flow]]
name = "f0..f1"
from = "h0..h1"
to = "h2"
transport = "go-back-n"
[[change]]
at = "5 ms"
link = "sw0->h2"
rate = "10 Mbps"
[[change]]
at = "15 ms"
link = "sw0->h2"
rate = "10 Gbps"
"""


def snapped(frames: list[wire.Captured], most: int) -> list[wire.Captured]:
    """Return frames as a capture with a snap length has them."""
    return [wire.Captured(f.data[:most], f.time_ns, f.interface, None, f.octets, None) for f in frames]


def test_a_capture_with_a_snap_length_is_sound(penstock: Command, tmp_path: Path) -> None:
    Scenario.from_toml(INCAST).run(pcap=["sw0->h2", "sw0->h0"], out=tmp_path / "r")
    whole = list(wire.read(tmp_path / "r" / "capture.pcapng"))
    wire.write(tmp_path / "s.pcapng", snapped(whole, 96), ["a", "b"])
    cut = list(wire.read(tmp_path / "s.pcapng"))
    assert [frame.octets for frame in cut] == [frame.octets for frame in whole]
    counts = [wire.statistics(tmp_path / name) for name in ("r/capture.pcapng", "s.pcapng")]
    assert [counted["faulty"] for counted in counts] == [0, 0]
    assert counts[1]["cut"] == sum(frame.octets > 96 for frame in whole) > 10
    assert counts[0]["cut"] == 0
    # All that stands in the headers is the same.
    assert counts[0]["formats"] == counts[1]["formats"]
    for seen in (*counts[0]["roce"], *counts[1]["roce"], *counts[0]["notified"], *counts[1]["notified"]):
        del seen["interface_name"]
    assert counts[0]["roce"] == counts[1]["roce"]
    assert counts[0]["notified"] == counts[1]["notified"]

    first = next(number for number, frame in enumerate(cut, 1) if frame.octets == 1082)
    done = penstock("wire", "decode", "s.pcapng", "--most", str(first))
    assert done.returncode == 0
    assert f"frame {first}: captured 96 of 1082 octets" in done.stdout
    assert "RoCEv2 base transport header, 12 octets" in done.stdout
    assert "icrc, 0 of 4 octets\n         not checked: ICRC" in done.stdout
    assert "fault" not in done.stdout
    done = penstock("wire", "stats", "s.pcapng")
    assert f"with a fault 0, not captured whole {counts[1]['cut']}" in done.stdout
    frame = cut[first - 1].decode()
    assert (len(frame.data), frame.octets, frame.faults) == (96, 1082, [])
    # Who does not say how long the frame was, has one that ends too early.
    assert wire.decode(cut[first - 1].data).faults != []


def test_paused_time_is_that_of_the_simulator(tmp_path: Path) -> None:
    result = Scenario.from_toml(SLOW).run(pcap=["sw0->h0", "sw0->h1"], out=tmp_path / "r")
    counted = wire.statistics(tmp_path / "r" / "capture.pcapng")
    asked_s = sum(sender["quanta"] for sender in counted["paused"]) * 51.2e-9
    assert len(counted["paused"]) == 2
    for sender, name in zip(counted["paused"], ("h0->sw0", "h1->sw0"), strict=True):
        (port,) = (queue for queue in result.summary["queues"] if queue["name"] == name)
        # A frame is captured when its transmission starts: 51 ns and 1 us before the line stops, as before it goes on.
        assert sender["paused_s"] == pytest.approx(port["paused_s"], abs=50e-6)
        assert 10e-3 < sender["paused_s"] < 20e-3
        assert sender["longest_s"] <= sender["paused_s"]
        assert sender["share"] == pytest.approx(sender["paused_s"] / counted["span_s"])
    assert asked_s > 20 * sum(sender["paused_s"] for sender in counted["paused"])
    # At half the rate a quantum lasts twice as long, and a pause that is resumed does not.
    slower = wire.statistics(tmp_path / "r" / "capture.pcapng", rate_bps=5_000_000_000)
    assert slower["paused"][0]["paused_s"] >= counted["paused"][0]["paused_s"]
    with pytest.raises(ArgumentError, match="is not a rate of a line"):
        wire.statistics(tmp_path / "r" / "capture.pcapng", rate_bps=0)


def pfc(time_us: float, **times: int) -> wire.Captured:
    """Return a PFC frame with times of priorities, as ``time_3=1000``."""
    enable = sum(1 << int(name[-1]) for name in times)
    return wire.Captured(wire.encode("pfc", priority_enable=enable, **times), round(time_us * 1000))


def pcap(file: Path, frames: list[wire.Captured]) -> None:
    """Write a file of pcap, which says no rate."""
    head = (0xA1B23C4D, 2 << 16 | 4, 0, 0, 65535, 1)
    words = b"".join(word.to_bytes(4, "big") for word in head)
    for frame in frames:
        seconds, rest = divmod(frame.time_ns or 0, 10**9)
        size = len(frame.data)
        words += b"".join(word.to_bytes(4, "big") for word in (seconds, rest, size, size)) + frame.data
    file.write_bytes(words)


def test_pauses_are_printed_by_priority(penstock: Command, tmp_path: Path) -> None:
    # 1000 quanta at 100 Gb/s are 5.12 us: renewed after 2 us, resumed at 6 us; priority 4 runs out.
    frames = [pfc(0, time_3=1000), pfc(2, time_3=1000), pfc(6, time_3=0), pfc(10, time_4=1000), pfc(20, time_5=1000)]
    pcap(tmp_path / "a.pcap", frames)
    done = penstock("wire", "stats", "a.pcap")
    assert "paused times need the line's rate, which the file has not: --rate 100G gives it\n" in done.stdout
    for rate in ("100G", "100 Gbps"):
        done = penstock("wire", "stats", "a.pcap", "--rate", rate, "--json")
        counted = json.loads(done.stdout)
        three, four, five = counted["paused"]
        assert (three["pauses"], three["paused_s"], three["longest_s"]) == (1, 6e-6, 6e-6)
        assert (four["pauses"], four["paused_s"], four["resumes"]) == (1, 5.12e-6, 0)
        assert counted["span_s"] == 20e-6
        assert three["share"] == pytest.approx(6 / 20)
        # The capture ends with this frame: what it asks for lies behind.
        assert (five["pauses"], five["paused_s"], five["open_s"]) == (1, 0, 5.12e-6)
    done = penstock("wire", "stats", "a.pcap", "--rate", "100G", "--csv", "paused")
    first, second, _ = csv.DictReader(io.StringIO(done.stdout))
    assert (first["priority"], first["stops"], first["resumes"], first["paused_s"]) == ("3", "2", "1", "6e-06")
    assert second["longest_s"] == "5.12e-06"
    for words in (
        ["--rate", "fast"],
        ["--rate", "0G"],
        ["--by", "host"],
        ["--csv", "all"],
        ["--csv", "roce", "--json"],
    ):
        done = penstock("wire", "stats", "a.pcap", *words)
        assert (done.returncode, done.stdout) == (2, ""), words
        assert done.stderr.startswith(f"error: {words[0]}")


def test_a_pause_of_200_ms_is_a_storm(penstock: Command, tmp_path: Path) -> None:
    """Renewed each 300 us, priority 3 stands still for 200 ms, and then for 150; priority 4 for the last 200."""
    # 65 535 quanta are 335.5 us at 100 Gb/s.
    renewed = [pfc(time_us, time_3=65_535) for time_us in range(0, 200_000, 300)]
    renewed += [pfc(200_000, time_3=0)]
    renewed += [pfc(time_us, time_3=65_535) for time_us in range(300_000, 450_000, 300)]
    renewed += [pfc(time_us, time_4=65_535) for time_us in range(600_000, 800_001, 250)]
    pcap(tmp_path / "a.pcap", renewed)
    counted = wire.statistics(tmp_path / "a.pcap", rate_bps=100_000_000_000)
    assert [(sender["priority"], sender["pauses"], sender["storms"]) for sender in counted["paused"]] == [
        (3, 2, 1),
        (4, 1, 1),
    ]
    printed = penstock("wire", "stats", "a.pcap", "--rate", "100G").stdout
    (head, line) = (line for line in printed.splitlines() if "storms" in line or "350 ms" in line)
    assert line[head.index("storms") :].split()[0] == "1"
    done = penstock("wire", "stats", "a.pcap", "--rate", "100G", "--csv", "paused")
    assert [row["storms"] for row in csv.DictReader(io.StringIO(done.stdout))] == ["1", "1"]


def test_notifications_are_grouped_by_their_sender(penstock: Command, tmp_path: Path) -> None:
    cnps = [wire.encode("cnp", dest_qp=number) for number in range(1, 41)]
    hard = [wire.encode("cnm", quantized_feedback=number) for number in (10, 20)]
    wire.write(tmp_path / "a.pcapng", [*cnps, *hard])
    counted = wire.statistics(tmp_path / "a.pcapng")
    assert len(counted["notified"]) == 41
    cnm, cnp = wire.by_source(counted)
    assert (cnp["format"], cnp["flows"], cnp["frames"], cnp["destinations"]) == ("cnp", 40, 40, 1)
    assert cnm["strength"] == {"frames": 2, "least": 10, "mean": 15, "most": 20}
    done = penstock("wire", "stats", "a.pcapng", "--by", "source")
    assert done.returncode == 0
    assert done.stdout.count("cnp") == 1
    rows = list(csv.DictReader(io.StringIO(penstock("wire", "stats", "a.pcapng", "--csv", "notified").stdout)))
    assert (len(rows), rows[0]["strength_mean"], rows[1]["flow"]) == (41, "15.0", "1")


def test_frames_with_faults_are_named(penstock: Command, tmp_path: Path) -> None:
    sound = by_name("cnp").data
    wrong = sound[:24] + bytes([sound[24] ^ 1]) + sound[25:]
    wire.write(tmp_path / "a.pcapng", [sound, *[wrong] * 12])
    done = penstock("wire", "stats", "a.pcapng")
    numbers = ", ".join(str(number) for number in range(2, 12))
    assert "  12 with ipv4: the checksum at octet 24 is " in done.stdout
    assert f"(frames {numbers}, …)" in done.stdout


def test_lldp_says_who_sent_it(penstock: Command) -> None:
    frame = by_name("lldp").data
    # Before the end: application priority, port VLAN, and a TLV of nobody that is known with orders to a terminal.
    more = bytes.fromhex("fe08 0080c2 0c 00 6312b7".replace(" ", ""))
    more += bytes.fromhex("fe06 0080c2 01 0064".replace(" ", ""))
    more += bytes.fromhex("fe06 00000c 09 0102".replace(" ", "")) + b"\x0a\x05spi\x1b1"
    done = penstock("wire", "decode", (frame[:-2] + more + frame[-2:]).hex())
    assert done.returncode == 0
    for line in (
        "Chassis ID = 02:00:00:00:00:aa (MAC address)",
        "Port ID = 1 (local)",
        "Application priority = UDP or DCCP port 4791: priority 3",
        "Port VLAN ID = 100",
        "OUI = 00-00-0C",
        "Octets = 01 02",
    ):
        assert f"         {line}\n" in done.stdout
    assert "System name = spi" in done.stdout
    assert "\x1b" not in done.stdout
    assert dict(wire.decode(frame)["lldp"].parts) == {"Chassis ID": "02:00:00:00:00:aa (MAC address)"}


TSHARK = shutil.which("tshark")


@pytest.mark.skipif(TSHARK is None, reason="tshark is not there")
def test_tshark_counts_the_same_notifications(tmp_path: Path) -> None:
    cnp = by_name("cnp").data
    tags = ("", "8100 6064", "88a8 6064", "88a8 6064 8100 6065", "8100 6064 8100 6065", "9100 6064 8100 6065")
    frames = [cnp[:12] + bytes.fromhex(tag.replace(" ", "")) + cnp[12:] for tag in tags]
    wire.write(tmp_path / "a.pcapng", frames)
    command = [str(TSHARK), "-r", str(tmp_path / "a.pcapng"), "-Y", "infiniband.bth.opcode == 0x81"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert wire.statistics(tmp_path / "a.pcapng")["roce"][0]["cnps"] == len(done.stdout.splitlines()) == len(tags)


STORM = """
question = "How long does a storm stop a port?"
duration = "70 ms"
scheme = "dcqcn"
[topology.star]
hosts = 3
link_rate = "10 Gbps"
link_delay = "1 us"
buffer = "2 MB"
[pfc]
[[flow]]
from = "h0"
to = "h2"
traffic = "constant"
rate = "5 Gbps"
[[event]]
kind = "pfc-storm"
host = "h2"
from = "10 ms"
until = "60 ms"
"""


def test_a_storm_of_50_ms_pauses_for_50_ms(penstock: Command, tmp_path: Path) -> None:
    result = Scenario.from_toml(STORM).run(pcap=["h2->sw0", "sw0->h2"], out=tmp_path / "r")
    file = tmp_path / "r" / "capture.pcapng"
    for storm_s, storms in ((None, 0), (0.05, 1), (0.0501, 0)):
        (sender,) = wire.statistics(file, storm_s=storm_s)["paused"]
        assert (sender["pauses"], sender["storms"]) == (1, storms)
        assert sender["paused_s"] == pytest.approx(50e-3, abs=1e-8)
        # A refresh each half of 65 535 quanta of 51.2 ns: what was asked for is nearly twice the time.
        assert sender["quanta"] * 51.2e-9 > 95e-3
    # The capture has the frames that the simulator counts: those that stop, and the one that lets go.
    (queue,) = (queue for queue in result.summary["queues"] if queue["name"] == "sw0->h2")
    assert (sender["stops"], sender["resumes"]) == (queue["pause_frames"], queue["resume_frames"]) == (30, 1)
    series = wire.statistics(file, every_s=0.01)["paused_series"]
    assert [row["from_s"] for row in series] == pytest.approx([0.01 * index for index in range(7)])
    assert [row["share"] for row in series] == pytest.approx([0, 1, 1, 1, 1, 1, 0], abs=1e-6)
    done = penstock("wire", "stats", str(file), "--storm", "50ms", "--every", "10 ms")
    assert "a storm is a pause of 50ms or more" in done.stdout
    assert "share paused by 02:00:00:00:00:03  0         100.0 %" in done.stdout


def test_pauses_are_shared_out_to_intervals(penstock: Command, tmp_path: Path) -> None:
    """On a line of 100 Gb/s 1000 quanta are 5.12 us.

    Priority 3 is stopped from 1 us, again at 4, resumed at 7, and stopped from 18 until its quanta expire at 23.12 us.
    Priority 4 is stopped at 22 us, where the capture has 1.5 us left.
    """
    frames = [pfc(1, time_3=1000), pfc(4, time_3=1000), pfc(7, time_3=0), pfc(18, time_3=1000), pfc(22, time_4=1000)]
    pcap(tmp_path / "a.pcap", [*frames, pfc(23.5, time_3=0)])
    counted = wire.statistics(tmp_path / "a.pcap", rate_bps=100_000_000_000, every_s=5e-6, storm_s=5.12e-6)
    three, four = counted["paused"]
    assert (three["paused_s"], three["longest_s"], three["storms"]) == pytest.approx((11.12e-6, 6e-6, 2))
    assert (four["paused_s"], four["open_s"], four["storms"]) == pytest.approx((1.5e-6, 3.62e-6, 0))
    shares = {3: [4, 2, 0, 2, 3.12], 4: [0, 0, 0, 0, 1.5]}
    for priority, of in shares.items():
        own = [row["paused_s"] for row in counted["paused_series"] if row["priority"] == priority]
        assert own == pytest.approx([share_us * 1e-6 for share_us in of]), priority
    assert [row["frames"] for row in counted["series"]] == [2, 1, 0, 1, 2]
    rows = penstock("wire", "stats", "a.pcap", "--rate", "100G", "--every", "5us", "--csv", "paused_series").stdout
    assert [row["paused_s"] for row in csv.DictReader(io.StringIO(rows))][:2] == ["4e-06", "2e-06"]
    for words, message in (
        (["--storm", "0 s"], "--storm 0 s: this is too short or too long"),
        (["--storm", "long"], "--storm long: this is not a time"),
        (["--every", "3"], "--every 3: this is not a time"),
        (["--every", "1 ns", "--rate", "100G"], ""),
        (["--csv", "series"], "--csv series: a time series has an interval"),
    ):
        done = penstock("wire", "stats", "a.pcap", *words)
        assert (done.returncode, message in done.stderr) == (2 if message else 0, True), words
    with pytest.raises(ArgumentError, match="would have 3000003 rows"):
        pcap(tmp_path / "long.pcap", [pfc(0, time_3=1), pfc(1_000_000, time_3=1, time_4=1)])
        wire.statistics(tmp_path / "long.pcap", rate_bps=100_000_000_000, every_s=1e-6)


def roce(kind: str, source: str, qp: int, ecn: int, opcode: int = 7) -> bytes:
    """Return a RoCEv2 packet, whose invariant CRC is wrong."""
    payload = f"{opcode:02x}00ffff00{qp:06x}00000001" + "00" * 64
    ip = "ipv6" if kind == "udp6" else "ipv4"
    return wire.encode(kind, {"destination_port": 4791, f"{ip}.source": source, f"{ip}.ecn": ecn, "payload": payload})


def test_marks_are_counted_by_sender_and_queue_pair(penstock: Command, tmp_path: Path) -> None:
    frames = [roce("udp", "10.0.0.1", 5, 3), roce("udp", "10.0.0.1", 5, 2), roce("udp", "10.0.0.1", 6, 3)]
    frames += [
        roce("udp6", "fd00::7", 5, 3),
        roce("udp", "10.0.0.9", 17, 0, 0x81),
        roce("udp", "10.0.0.9", 18, 0, 0x81),
    ]
    # One millisecond apart: 5 ms in all.
    wire.write(tmp_path / "a.pcapng", [wire.Captured(data, 10**6 * n) for n, data in enumerate(frames)])
    counted = wire.statistics(tmp_path / "a.pcapng", every_s=2e-3)
    (port,) = counted["roce"]
    assert (port["data"], port["marked"], port["cnps"], port["cnps_per_s"]) == (4, 3, 2, pytest.approx(400))
    pairs = {(row["source"], row["qp"]): (row["data"], row["marked"], row["cnps"]) for row in counted["queue_pairs"]}
    assert pairs == {
        ("10.0.0.1", 5): (2, 1, 0),
        ("10.0.0.1", 6): (1, 1, 0),
        ("fd00::7", 5): (1, 1, 0),
        ("10.0.0.9", 17): (0, 0, 1),
        ("10.0.0.9", 18): (0, 0, 1),
    }
    senders = {
        row["source"]: (row["queue_pairs"], row["share"], row["cnps_per_s"]) for row in wire.roce_by_source(counted)
    }
    assert senders["10.0.0.1"] == (2, pytest.approx(2 / 3), 0)
    assert senders["10.0.0.9"] == (2, None, pytest.approx(400))
    assert [(row["data"], row["marked"], row["cnps"]) for row in counted["series"]] == [(2, 1, 0), (2, 2, 0), (0, 0, 2)]
    for by, line in (
        ("source", "10.0.0.1  3          2          66.7 %"),
        ("qp", "10.0.0.1"),
        ("port", "4          3          75.0 %"),
    ):
        done = penstock("wire", "stats", "a.pcapng", "--by", by)
        assert line in done.stdout, done.stdout


def test_a_thousand_queue_pairs_have_forty_lines(penstock: Command, tmp_path: Path) -> None:
    wire.write(tmp_path / "a.pcapng", [wire.encode("cnp", dest_qp=number) for number in range(1, 1001)])
    printed = penstock("wire", "stats", "a.pcapng").stdout
    assert printed.count(" cnp ") == 40
    assert "--by source and --by port have shorter ones, --csv and --json have all" in printed
    rows = penstock("wire", "stats", "a.pcapng", "--csv", "notified").stdout
    assert len(rows.splitlines()) == 1001
    printed = penstock("wire", "stats", "a.pcapng", "--by", "port").stdout
    assert printed.count(" cnp ") == 1
    (row,) = wire.by_port(wire.statistics(tmp_path / "a.pcapng"))
    assert (row["sources"], row["flows"], row["frames"]) == (1, 1000, 1000)
