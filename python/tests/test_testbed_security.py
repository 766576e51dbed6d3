"""Hostile frames on the testbed: forged notifications from both sides of the domain's edge, malformed ones, LLDP."""

import contextlib
import json
import os
import random
import re
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from golden_frames import golden
from real_time import in_real_time

from penstock import Result, Scenario, wire
from penstock.columns import rows_of
from penstock.testbed import cleanup, run
from penstock.testbed.layout import lay_out

FLOOD = Path(__file__).resolve().parent / "hostile_sender.py"

RATE = 100_000
"""Frames a second, or as many as this machine sends."""

START_S, FLOOD_S, END_S = 0.5, 2.5, 6.0
"""Of the machine: the flood's program is started, how long the flood lasts, the end of the run."""

SCALE = 100

TWO = f"""\
question = "Does a hostile host stop the others?"
duration = "{END_S / SCALE * 1000:g} ms"
warmup = "1 ms"
scheme = "qcn"

# A process that waits 2 ms for a core lets a third of the profile's set point come at once, and the switch answers
# it, rightly. This one leaves 60 ms.
[schemes.qcn]
profile = "pan-10g"
q_eq = "1 MB"
rpg_min_rate = "10 Mbps"

[topology.star]
hosts = 4
link_rate = "10 Gbps"
link_delay = "10 us"
buffer = "4 MB"

[record]
interval = "100 us"

# Each has a separate line and port: nothing but the flood slows them down.
[[flow]]
from = "h0"
to = "h2"
traffic = "constant"
rate = "4 Gbps"

[[flow]]
from = "h1"
to = "h3"
traffic = "constant"
rate = "4 Gbps"

[testbed]
time_scale = {SCALE}
"""

LINE_BPS, FLOOR_BPS = 10**10, 10**7
"""The most and the least that a reaction point allows."""

WHILE_THEY_SEND = (1e-3, (END_S - 0.5) / SCALE)
"""Flows are allowed nothing before their start, s of the network."""

MACS = {node["name"]: node["mac"] for node in lay_out(Scenario.from_toml(TWO).resolved())["nodes"]}


@dataclass
class Seen:
    """A run with a flood: its result, the last output of the flood and of each process.

    ``memory`` has each process's resident octets at their greatest.
    """

    result: Result
    output: str
    ends: dict[str, Any]
    memory: dict[str, int] = field(default_factory=dict)

    @property
    def taken(self) -> int:
        """Frames that the kernel has taken."""
        match = re.search(r"(\d+) taken", self.output)
        assert match is not None, self.output
        return int(match[1])

    def sampled(self, column: str, flow: str, span_s: tuple[float, float] = (0.0, 1.0)) -> "np.ndarray[Any, Any]":
        """Return a column of a flow's samples between two times of the network."""
        rows = rows_of(self.result.rates.column("flow").chunk(0))[flow]
        time_s, values = self.result.column("rates", "time_s")[rows], self.result.column("rates", column)[rows]
        chosen: np.ndarray[Any, Any] = values[(time_s > span_s[0]) & (time_s < span_s[1])]
        return chosen


@contextlib.contextmanager
def watched() -> Iterator[dict[str, list[int]]]:
    """Note the resident memory of this process's testbed's nodes, octets, ten times a second."""
    noted: dict[str, list[int]] = {}
    over = threading.Event()

    def look() -> None:
        while not over.wait(0.1):
            for file in cleanup._folder().glob(f"pt-{os.getpid()}-*.json"):
                with contextlib.suppress(OSError, ValueError):
                    for number, _ in json.loads(file.read_text())["processes"]:
                        note(number)

    def note(number: int) -> None:
        with contextlib.suppress(OSError):
            command = Path(f"/proc/{number}/cmdline").read_bytes().split(b"\0")
            if b"penstock.testbed.node" in command:
                pages = int(Path(f"/proc/{number}/statm").read_text().split()[1])
                name = command[command.index(b"penstock.testbed.node") + 2].decode()
                noted.setdefault(name, []).append(pages * os.sysconf("SC_PAGESIZE"))

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        yield noted
    finally:
        over.set()
        watcher.join()


def flooded(tmp_path: Path, frames: list[bytes], wire_end: str | None, rate: int = RATE) -> Seen:
    """Run both flows while h1 sends frames, by the end of a wire or by its own interface."""
    (tmp_path / "frames").write_text("\n".join(frame.hex() for frame in frames))
    command = f"{sys.executable} {FLOOD} {tmp_path / 'frames'} {rate} {FLOOD_S} {wire_end or ''}".strip()
    start = f"{START_S / SCALE * 1000:g} ms"
    application = f'\n[[testbed.application]]\nhost = "h1"\nrun = "{command}"\nstart = "{start}"\n'
    with watched() as noted:
        result = run(Scenario.from_toml(TWO + application), out=tmp_path / "out", keep=tmp_path / "said")
    output = (tmp_path / "said" / "application-0.txt").read_text()
    ends = {}
    for node in MACS:
        *_, last = (tmp_path / "said" / f"{node}.jsonl").read_text().splitlines()
        ends[node] = json.loads(last)["end"]
    seen = Seen(result, output, ends, {name: max(octets) for name, octets in noted.items()})
    assert not any(process_failed(seen.result)), seen.result.summary["testbed"]["faults"]
    return seen


def process_failed(result: Result) -> Iterator[str]:
    """Yield the faults of a run that are not of time or of frames that the kernel has dropped."""
    for fault in result.summary["testbed"]["faults"]:
        if not re.search("lateness|system lost", fault):
            yield fault


def bounded(seen: Seen) -> None:
    """Assert that no node has taken much more memory than h3's, which sees nothing of any flood."""
    assert set(seen.memory) == set(MACS)
    for name, octets in seen.memory.items():
        assert octets < seen.memory["h3"] + 8_000_000, f"{name}: {octets} octets, {seen.memory}"


def cnm(destination: str, flow: int) -> bytes:
    """Return a forged notification of the hardest kind, in the name of the switch. Flows have numbers from 1."""
    return wire.encode(
        "cnm",
        destination=MACS[destination],
        source=MACS["sw0"],
        pcp=6,
        flow_identifier=flow + 1,
        quantized_feedback=63,
        cp_id=0x0200000000AA0001,
        q_offset=-1000,
        q_delta=1000,
    )


def delivered_bps(seen: Seen, flow: str) -> float:
    """Return the rate that a flow has delivered."""
    (found,) = (one for one in seen.result.summary["flows"] if one["name"] == flow)
    return found["throughput_bps"]


pytestmark = pytest.mark.usefixtures("namespaces")


@in_real_time
def test_the_edge_refuses_and_counts_notifications_of_a_host(tmp_path: Path) -> None:
    seen = flooded(tmp_path, [cnm("h0", 0), cnm("h1", 1)], None)
    refused = seen.ends["h1"]["interface"]["refused_from_host"]
    # Linux may drop a frame that it has taken before the interface reads it: a TAP holds few frames.
    assert 100 < refused <= seen.taken, seen.output
    assert seen.ends["h0"]["interface"]["signals_refused"] == 0
    assert all(flow["feedback_received"] == 0 for flow in seen.result.summary["flows"])
    for flow in ("f0", "f1"):
        assert min(seen.sampled("rate_bps", flow, WHILE_THEY_SEND)) == LINE_BPS, "nobody has slowed down"
    bounded(seen)


@in_real_time
def test_a_flood_from_inside_holds_its_victim_at_the_least_rate_and_no_other(tmp_path: Path) -> None:
    seen = flooded(tmp_path, [cnm("h0", 0)], "wire1a")
    victim, other = (next(flow for flow in seen.result.summary["flows"] if flow["name"] == f) for f in ("f0", "f1"))
    assert victim["feedback_received"] > 1000, seen.output
    assert other["feedback_received"] == 0
    time_s = seen.result.column("signals", "time_s")
    fallen, over = float(time_s[500]), float(time_s[-1])
    assert set(seen.sampled("rate_bps", "f0", (fallen, over))) == {FLOOR_BPS}
    assert min(seen.sampled("rate_bps", "f1", WHILE_THEY_SEND)) == LINE_BPS
    # It does not stop: its frames still come, at the least rate. By then those that it had sent before have come.
    assert np.mean(seen.sampled("throughput_bps", "f0", ((fallen + over) / 2, over))) < 2 * FLOOR_BPS
    assert victim["frames_sent"] > 100
    bounded(seen)


@in_real_time
def test_notifications_for_anothers_flow_find_no_reaction_point(tmp_path: Path) -> None:
    strangers = [cnm("h0", 1), cnm("h0", 2), cnm("h0", 65_534), cnm("h2", 0), cnm("h3", 0)]
    seen = flooded(tmp_path, strangers, "wire1a", rate=20_000)
    assert seen.ends["h0"]["interface"]["signals_refused"] > 100, seen.output
    assert all(flow["feedback_received"] == 0 for flow in seen.result.summary["flows"])
    for flow in ("f0", "f1"):
        assert min(seen.sampled("rate_bps", flow, WHILE_THEY_SEND)) == LINE_BPS
    bounded(seen)


def malformed() -> list[bytes]:
    """Return frames of all formats, cut, changed and lengthened; and LLDP frames that are longer than they may be."""
    draw = random.Random(7)
    frames = []
    for frame in golden():
        for address in (bytes.fromhex(MACS["h0"].replace(":", "")), frame.data[:6]):
            whole = bytearray(address + frame.data[6:])
            frames += [bytes(whole[:end]) for end in (14, 15, 18, 20, 22, 30, len(whole) - 1) if 14 <= end < len(whole)]
            for _ in range(6):
                changed = bytearray(whole)
                for _ in range(draw.randint(1, 8)):
                    changed[draw.randrange(12, len(changed))] = draw.randrange(256)
                frames.append(bytes(changed))
            frames.append(bytes(whole) + bytes(draw.randrange(256) for _ in range(1000)))
    nearest_bridge = bytes.fromhex("0180c200000e") + bytes.fromhex(MACS["h1"].replace(":", "")) + b"\x88\xcc"
    # A TLV that claims 511 octets and has 4; a frame full of TLVs, as long as the line carries.
    frames.append(nearest_bridge + bytes.fromhex("03ff 04 020000"))
    frames.append(nearest_bridge + bytes.fromhex("0207 04 020000000001 0403 05 6801 0602 0078") + b"\xfe\x09" * 740)
    return [frame[:1518] for frame in frames]


@in_real_time
def test_malformed_frames_of_all_kinds_stop_nothing(tmp_path: Path) -> None:
    seen = flooded(tmp_path, malformed(), "wire1a", rate=20_000)
    assert seen.taken > 450, "each has been sent"
    assert seen.ends["sw0"]["bridge"]["refused"] > 1
    assert set(seen.ends) == set(MACS)
    assert all(not end["interrupted"] for end in seen.ends.values())
    # A changed message may still be a right one for f0; f1's reaction point is at another host.
    assert delivered_bps(seen, "f1") > 3.5e9
    assert min(seen.sampled("rate_bps", "f0", WHILE_THEY_SEND)) >= FLOOR_BPS
    bounded(seen)


@in_real_time
def test_a_host_that_sends_malformed_frames_harms_itself_alone(tmp_path: Path) -> None:
    seen = flooded(tmp_path, malformed(), None, rate=20_000)
    assert seen.ends["h1"]["interface"]["refused_from_host"] > 10, seen.output
    assert seen.ends["h0"]["interface"]["signals_refused"] == 0
    assert seen.ends["sw0"]["bridge"]["pauses"] == 0
    assert delivered_bps(seen, "f0") > 3.5e9
    bounded(seen)


@in_real_time
def test_a_host_stops_no_port_by_a_disguised_pause_frame(tmp_path: Path) -> None:
    pause = wire.encode("pfc", source=MACS["h1"], priority_enable=255, time_0=65_535)
    disguised = pause[:12] + b"\x88\xb7" + pause[14:]
    seen = flooded(tmp_path, [disguised, pause], None, rate=2000)
    assert seen.ends["h1"]["interface"]["refused_from_host"] > 100, seen.output
    assert (seen.ends["sw0"]["bridge"]["pauses"], seen.ends["sw0"]["bridge"]["refused"]) == (0, 0)
    assert delivered_bps(seen, "f1") > 3.5e9


@in_real_time
def test_pause_frames_on_the_wire_stop_nothing_without_flow_control(tmp_path: Path) -> None:
    pause = wire.encode("pfc", source=MACS["h3"], priority_enable=255, time_0=65_535)
    disguised = pause[:12] + b"\x88\xb7" + pause[14:]
    # From the end of h3's wire the switch sends f1's frames.
    seen = flooded(tmp_path, [pause, disguised], "wire3a", rate=2000)
    assert seen.ends["sw0"]["bridge"]["refused"] > 1000, seen.output
    assert seen.ends["sw0"]["bridge"]["pauses"] == 0
    assert delivered_bps(seen, "f1") > 3.5e9
