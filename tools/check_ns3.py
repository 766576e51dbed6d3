"""Compares TCP in Penstock with TCP in ns-3: dumbbells with NewReno, CUBIC and DCTCP, and a link that loses packets.

    python tools/check_ns3.py

Four flows without end share a bottleneck. Goodput must agree within 5 %, the mean queue within 15 %. Each is the mean
of runs whose flows begin at different moments, for their phases decide which one loses when the queue overflows. The
one flow over the link that loses packets at random fills no queue; its goodput, over four seeds, must agree within
10 %. The exit status says whether all agree.

ns-3's wheel is installed into a separate environment, .build/ns3, from requirements/ns3.txt. On Debian it needs g++
and python3-dev: parts of cppyy, by which Python calls ns-3, are compiled then, and headers are at each start.

Both have the same settings: segments of 1460 octets, initial windows of ten, an acknowledgement for every second
segment or after the same delay, the least RTO, SACK, no timestamps. CUBIC is without HyStart; the receiver never
limits windows; there is no pacing. Both count alike. Around a segment ns-3's packets have 42 octets (IP, TCP, PPP) and
Penstock's frames 58 (Ethernet), so that Penstock's links are as much faster, and queues are counted in packets. In
ns-3 the packet in transmission, which is there all the time, does not count. Its device holds one packet before the
queue discipline, so that a limit of n packets there is n + 2 frames here.

The differences (docs/measurements/tcp-beside-ns3.md): NewReno counts acknowledgements in congestion avoidance, and
octets here, so that it grows half as fast with delayed ones. Acknowledgements have 42 octets there and 64 here, on
links that they fill to 2 %. In recovery ns-3 reduces the window in proportion to what is delivered (RFC 6937),
where RFC 6675 waits until enough has left.
"""

import json
import subprocess
import sys
import venv
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Literal

from penstock import Scenario
from penstock.document import FlowTransportTcp, Network

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = ROOT / ".build" / "ns3"
REQUIREMENTS = ROOT / "requirements" / "ns3.txt"

GOODPUT_WITHIN = 0.05
LOSSY_GOODPUT_WITHIN = 0.1
QUEUE_WITHIN = 0.15

NS3_AROUND = 42
"""Octets of ns-3's packets around a segment: 20 of IP, 20 of TCP, 2 of PPP."""
FRAME_AROUND = 58
"""Octets of Penstock's frames around a segment: 20 of IP, 20 of TCP, 18 of Ethernet."""


@dataclass(frozen=True)
class Dumbbell:
    """A dumbbell and its flows, with ns-3's rates, and queues in packets.

    ``mark_packets`` is 0 where nothing marks; ``loss`` is the probability that the bottleneck's link loses
    a packet.
    """

    congestion: Literal["newreno", "cubic", "dctcp"]
    ns3_tcp: str
    host_bps: int
    bottleneck_bps: int
    host_delay_s: float
    bottleneck_delay_s: float
    buffer_packets: int
    duration_s: float
    warmup_s: float
    sample_s: float
    stagger_s: float
    ack_delay_s: float
    mark_packets: int = 0
    flows: int = 4
    mss: int = 1460
    rto_min_s: float = 0.2
    ack_every: int = 2
    loss: float = 0
    seed: int = 1


# Buffers of a bandwidth-delay product; the last has those of a data center, and DCTCP's threshold.
DUMBBELLS = (
    Dumbbell("newreno", "TcpNewReno", 10**9, 10**8, 1e-3, 8e-3, 166, 80, 20, 5e-4, 0.25, 0.04),
    Dumbbell("cubic", "TcpCubic", 10**9, 10**8, 1e-3, 18e-3, 332, 80, 20, 5e-4, 0.25, 0.04),
    Dumbbell("dctcp", "TcpDctcp", 10**10, 10**9, 1e-5, 8e-5, 400, 2, 0.5, 1e-5, 0.01, 1e-3, mark_packets=20),
    *(
        Dumbbell(
            *("newreno", "TcpNewReno", 10**10, 10**9, 1e-3, 3e-3, 10**4, 40, 5, 1e-2, 0, 0.04),
            flows=1,
            ack_every=1,
            loss=p,
        )
        for p in (5e-4, 1e-3)
    ),
)
LATER = (0.4, 1.0, 1.6)
"""How far the beginnings of the flows are apart, over the dumbbell's ``stagger_s``: a run each."""


@dataclass(frozen=True)
class Measured:
    """A simulator's figures of a dumbbell: the goodput of all flows, and the mean of the queue."""

    goodput_bps: float
    queue_packets: float


def main() -> int:
    """Runs all dumbbells in both simulators, prints what they say, and returns the exit status."""
    runs = [repeated(at) for at in DUMBBELLS]
    theirs = iter(in_ns3([at for each in runs for at in each]))
    bad = 0
    for dumbbell, each in zip(DUMBBELLS, runs, strict=True):
        measured = [next(theirs) for _ in each], [in_penstock(at) for at in each]
        checks = [("goodput", "Mb/s", GOODPUT_WITHIN), ("queue", "packets", QUEUE_WITHIN)]
        if dumbbell.loss:
            checks = [("goodput", "Mb/s", LOSSY_GOODPUT_WITHIN)]
        for what, unit, within in checks:
            a, b = (spread(of, what) for of in measured)
            apart = fmean(b) / fmean(a) - 1
            bad += abs(apart) > within
            said = f"ns-3 {three_digits(a)}, Penstock {three_digits(b)} {unit}: {apart:+.1%}, at most {within:.0%}"
            name = f"{dumbbell.congestion}{f' at a loss of {dumbbell.loss:g}' if dumbbell.loss else ''}"
            print(f"{name:8} {what:8} {said}{'' if abs(apart) <= within else '  DIFFERS'}")
    print(f"{sum(map(len, runs))} runs each: {bad or 'no'} differences beyond what is allowed")
    return 1 if bad else 0


def repeated(at: Dumbbell) -> list[Dumbbell]:
    """Returns the runs of a dumbbell: flows begin at other moments, or packets are lost by other seeds."""
    if at.loss:
        return [replace(at, seed=seed) for seed in range(1, 5)]
    return [replace(at, stagger_s=at.stagger_s * later) for later in LATER]


def spread(of: Sequence[Measured], what: str) -> list[float]:
    """Returns one measure of all runs."""
    return [at.goodput_bps / 1e6 if what == "goodput" else at.queue_packets for at in of]


def three_digits(values: Sequence[float]) -> str:
    """Returns the mean of values and their extremes."""
    return f"{fmean(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def in_ns3(runs: Sequence[Dumbbell]) -> list[Measured]:
    """Runs dumbbells in ns-3, whose environment is made if it is not there, or of another pin."""
    script = Path(__file__).with_name("ns3_dumbbell.py")
    lines = "".join(f"{json.dumps(asdict(at))}\n" for at in runs)
    # Cling says on standard error what it cannot resolve at its start, and goes on.
    done = subprocess.run([python_with_ns3(), script], input=lines, capture_output=True, text=True, check=False)
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or len(found) != len(runs):
        raise SystemExit(f"ns-3 ended with {done.returncode} after {len(found)} of {len(runs)} runs:\n{done.stderr}")
    return [Measured(sum(at["goodput_bps"]), at["mean_packets"] + 1) for at in found]


def python_with_ns3() -> Path:
    """Returns the Python of the environment that has ns-3 as it is pinned."""
    python, mark = ENVIRONMENT / "bin" / "python", ENVIRONMENT / "installed.txt"
    pins = REQUIREMENTS.read_text(encoding="utf-8")
    if not mark.is_file() or mark.read_text(encoding="utf-8") != pins:
        venv.create(ENVIRONMENT, clear=True, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--require-hashes", "-r", REQUIREMENTS], check=True)
        mark.write_text(pins, encoding="utf-8")
    return python


def in_penstock(at: Dumbbell) -> Measured:
    """Runs a dumbbell in Penstock."""
    frame = at.mss + FRAME_AROUND

    def rate(bps: int) -> str:
        return f"{round(bps * frame / (at.mss + NS3_AROUND))} bps"

    def time(seconds: float) -> str:
        return f"{round(seconds * 1e6)} us"

    tcp: FlowTransportTcp = {
        "congestion": at.congestion,
        "mss": f"{at.mss} octets",
        "initial_window": 10,
        "receive_window": "16 MB",
        "ack_every": at.ack_every,
        "ack_delay": time(at.ack_delay_s),
        "rto_min": time(at.rto_min_s),
        "sack": True,
        "rack": False,
        "ecn": at.mark_packets > 0,
    }
    # Two packets have left the queue discipline that marks in ns-3: one is in the device, one in transmission.
    marks: Network = {"ecn_threshold": f"{(at.mark_packets + 2) * frame} octets"} if at.mark_packets else {}
    hosts = at.flows
    scenario = Scenario(
        question="Does TCP here do as TCP in ns-3?",
        duration=time(at.duration_s),
        warmup=time(at.warmup_s),
        scheme="none",
        seed=at.seed,
        impairment=[{"links": ["sw0->sw1"], "loss": at.loss}] if at.loss else [],
        topology={
            "dumbbell": {
                "sources": hosts,
                "receivers": hosts,
                "link_rate": rate(at.host_bps),
                "bottleneck_rate": rate(at.bottleneck_bps),
                "link_delay": time(at.host_delay_s),
                "bottleneck_delay": time(at.bottleneck_delay_s),
                "buffer": f"{at.buffer_packets + 2} frames",
            }
        },
        network=marks,
        flow=[
            {
                "from": f"h0..h{hosts - 1}",
                "to": f"h{hosts}..h{2 * hosts - 1}",
                "stagger": time(at.stagger_s),
                "transport": {"tcp": tcp},
            }
        ],
    )
    summary = scenario.run().summary
    (queue,) = (queue for queue in summary["queues"] if queue["name"] == "sw0->sw1")
    delivered = sum(flow["throughput_bps"] for flow in summary["flows"])
    return Measured(delivered * at.mss / frame, queue["mean_octets"] / frame)


if __name__ == "__main__":
    sys.exit(main())
