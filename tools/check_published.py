"""Runs Penstock on situations whose completion times other simulators publish, and writes the page that compares them.

    python tools/check_published.py [--write] [--only NAME]…

- uet-htsim (commit 40ccb05): `validate_uec_sender.txt` with its record `validate_uec_sender.out`, both in
  `htsim/sim/datacenter`. bench/peers/htsim has its connection matrices and fabrics.
- astra-network-analytical (commit 599a047): `test/test_congestion_aware.cpp` and `test/test_congestion_unaware.cpp`.
- astra-sim (commit 518bd51): `tests/rt_template/refs/stdout.txt`.

A time agrees if it is within 10 %, or 5 % where a case says so. Every other one has a reason; the exit status says
whether one differs without, or agrees with one. --write renews the rows of docs/measurements/jobs-beside-others.md. All
take a quarter of an hour.
"""

import argparse
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from penstock import Scenario
from penstock.exchange.htsim import Connection, Matrix
from penstock.exchange.importing import import_files

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "bench" / "peers" / "htsim"
PAGE = ROOT / "docs" / "measurements" / "jobs-beside-others.md"

WITHIN = 0.1

PACKET = 4150
"""Octets of a packet of htsim, of which 64 are its header (main_uec.cpp, `packet_size`)."""


@dataclass(frozen=True)
class Case:
    """A published time, and how it is run here.

    Attributes:
        name: the situation.
        source: who publishes the time, as a heading of the page.
        theirs_ns: the published time, ns.
        run: returns Penstock's time, ns.
        reason: why the times differ, or what differs between the situations.
        beyond: whether the reason makes for more than 10 %.
        slow: whether it has a thousand hosts.
        within: how far apart the times may be.
    """

    name: str
    source: str
    theirs_ns: float
    run: Callable[[], float]
    reason: str = ""
    beyond: bool = False
    slow: bool = False
    within: float = WITHIN


def sender(
    matrix: str | Matrix,
    fabric: str = "",
    *,
    spread: str = "reps",
    flow: str = "",
    slow_link: bool = False,
    keys: dict[str, str] | None = None,
    seed: int = 1,
) -> float:
    """Return the time of the last flow of a connection matrix of htsim under NSCC, or that of one flow, ns.

    The time of htsim ends with the last acknowledgement at the sender: the propagation back is added.

    Args:
        matrix: the file's name, or the matrix.
        fabric: the ``.topo``; without it the tree of three tiers that htsim builds.
        spread: how paths are chosen: "reps", as with `-paths 128`, or "flow", as with `-paths 1`.
        flow: the flow's name; without it the last one is meant.
        slow_link: whether a link from a core switch has a quarter of its rate (`-failed 1`).
        keys: keys of the scenario besides.
        seed: of the run, and of the paths' hashes.
    """
    with TemporaryDirectory() as folder:
        path = DATA / matrix if isinstance(matrix, str) else Path(folder) / "made.cm"
        if isinstance(matrix, Matrix):
            path.write_text(matrix.text(), encoding="utf-8")
        # A lost packet is known by its header alone, however late others are.
        rto = "101 us"
        carrier = {
            "selective": {
                "mtu": f"{PACKET - 64} octets",
                "bdp_cap": 0,
                "reordering": 100_000,
                "rto_low": rto,
                "rto_high": rto,
            }
        }
        files = [path, *([DATA / fabric] if fabric else [])]
        scenario = import_files(files, scheme="nscc", transport=carrier).scenario
    if slow_link:
        change = '[[change]]\nlink = "core0->agg0"\nat = "0 s"\nrate = "25 Gbps"\n'
        scenario = Scenario.from_toml(f"{scenario.to_toml()}\n{change}")
    links = 4 if fabric else 6
    # calculate_rtt, calculate_bdp_pkt: a packet of data and one of 64 octets over the longest path at 100 Gb/s.
    rtt_ps = 2 * links * 1_000_000 + links * (PACKET + 64) * 80
    packets = math.ceil(rtt_ps * 1e-12 * 12.5e9 / PACKET)
    topology = "leaf-spine" if fabric else "fat-tree"
    settings: dict[str, Any] = {
        "duration": "60 ms",
        "seed": seed,
        "schemes.nscc.profile": "trimming",
        "schemes.nscc.packet": f"{PACKET} octets",
        "schemes.nscc.network_rtt": f"{rtt_ps} ps",
        "schemes.nscc.k_min": f"{math.ceil(packets * 0.2) * PACKET} octets",
        "schemes.nscc.k_max": f"{math.ceil(packets * 0.8) * PACKET} octets",
        f"topology.{topology}.buffer": f"{packets * PACKET} octets",
        "network.trimming": True,
        # compositequeue.cpp: headers have twice the room of packets.
        "network.control_buffer": f"{2 * packets * PACKET} octets",
        "network.ties": "drawn",
        "network.ecmp_seed": seed,
        "network.load_balancing": spread,
        **(keys or {}),
    }
    for key, value in settings.items():
        scenario.set(key, value)
    result = scenario.run()
    ends = dict(zip(result.column("completions", "flow"), result.column("completions", "end_s"), strict=True))
    last_s = float(ends[flow]) if flow else max(map(float, ends.values()))
    return last_s * 1e9 + links * 1000


def incast_1024() -> Matrix:
    """Return the connections of incast_1024_100K.cm, in another order: all hosts send 100 KB to the first."""
    return Matrix(1024, tuple(Connection(host, 0, 100_000, ident=host, start_ps=0) for host in range(1, 1024)))


GIB50 = "429.4967296 Gbps"
"""50 GB/s of ASTRA-sim, whose GB has 2^30 octets."""

CHUNK = 2**20
_FRAME = 1000


def star(hosts: int, rate: str = GIB50, delay: str = "250 ns") -> str:
    """Return a star as TOML; two links of 250 ns are one of 500 ns between ranks."""
    return f'topology.star = {{ hosts = {hosts}, link_rate = "{rate}", link_delay = "{delay}", buffer = "1 GB" }}\n'


def ring_of_switches(count: int) -> str:
    """Return switches in a ring of links of 50 GB/s and 500 ns, each with a host on a link without delay."""
    hosts = f'ends = ["h0..h{count - 1}", "s0..s{count - 1}"]\njoin = "blocks"\nrate = "80 Tbps"\ndelay = "0 s"'
    tables = [f'[topology.graph]\nhosts = "h0..h{count - 1}"\nswitches = "s0..s{count - 1}"\nbuffer = "1 GB"', hosts]
    tables += [f'ends = ["s{at}", "s{(at + 1) % count}"]\nrate = "{GIB50}"\ndelay = "500 ns"' for at in range(count)]
    return "\n[[topology.graph.link]]\n".join(tables) + "\n"


def job(topology: str, ranks: list[list[str]]) -> float:
    """Return the time of a job without headers, the operations of whose ranks are lines of GOAL, ns."""
    blocks = [f"rank {rank} {{\n" + "\n".join(lines) + "\n}" for rank, lines in enumerate(ranks)]
    graph = "\n".join([f"num_ranks {len(ranks)}", *blocks])
    scenario = Scenario.from_toml(
        'question = "How long?"\nduration = "1 s"\nuntil = "all-flows-complete"\nscheme = "none"\n'
        f"{topology}[[job]]\nframe = \"{_FRAME} octets\"\ngraph = '''\n{graph}\n'''\n"
    )
    result = scenario.run()
    # Theirs ends with the last arrival; here a sender hears of it later.
    works = zip(result.column("jobs", "work"), result.column("jobs", "end_s"), strict=True)
    return max(float(end_s) for work, end_s in works if work not in ("send", "iteration")) * 1e9


def relayed(hops: int) -> list[list[str]]:
    """Return ranks that pass a chunk on once it is whole."""
    ranks = [[f"s: send {CHUNK}b to 1 tag 0"]]
    for rank in range(1, hops):
        take, give = f"r: recv {CHUNK}b from {rank - 1} tag 0", f"s: send {CHUNK}b to {rank + 1} tag 0"
        ranks.append([take, give, "s requires r"])
    return [*ranks, [f"recv {CHUNK}b from {hops - 1} tag 0"]]


def from_1_to_4() -> list[list[str]]:
    """Return 16 ranks of which rank 1 sends a chunk to rank 4."""
    ranks: list[list[str]] = [[] for _ in range(16)]
    ranks[1], ranks[4] = [f"send {CHUNK}b to 4 tag 0"], [f"recv {CHUNK}b from 1 tag 0"]
    return ranks


def everyone_to_everyone() -> list[list[str]]:
    """Return 16 ranks that send a chunk to each other one; to the eighth clockwise, as there, over the fourth."""
    ranks: list[list[str]] = [[] for _ in range(16)]
    for source in range(16):
        for target in range(16):
            if (target - source) % 16 == 8:
                middle = (source + 4) % 16
                ranks[source].append(f"send {CHUNK}b to {middle} tag 2")
                ranks[middle] += [f"r: recv {CHUNK}b from {source} tag 2", f"s: send {CHUNK}b to {target} tag 3"]
                ranks[middle].append("s requires r")
                ranks[target].append(f"recv {CHUNK}b from {middle} tag 3")
            elif source != target:
                ranks[source].append(f"send {CHUNK}b to {target} tag 1")
                ranks[target].append(f"recv {CHUNK}b from {source} tag 1")
    return ranks


def ring_all_reduce(ranks: int = 8, splits: int = 4, endpoint_ns: int = 10, memory_gbps: int = 50) -> list[list[str]]:
    """Return an all-reduce of a chunk in splits, one after another, each of 2 (n - 1) steps around a ring.

    A step ends with 10 ns at the endpoint. In the first n - 1 its octets go through memory three times.
    """
    octets = CHUNK // splits // ranks
    reduce_ns = round(3 * octets / memory_gbps)
    lines: list[list[str]] = [[] for _ in range(ranks)]
    steps = [step for _ in range(splits) for step in range(2 * (ranks - 1))]
    for rank, own in enumerate(lines):
        for tag, step in enumerate(steps):
            own.append(f"s{tag}: send {octets}b to {(rank + 1) % ranks} tag {tag}")
            own.append(f"r{tag}: recv {octets}b from {(rank - 1) % ranks} tag {tag}")
            own.append(f"c{tag}: calc {endpoint_ns + (reduce_ns if step < ranks - 1 else 0)}")
            own.append(f"c{tag} requires r{tag}")
            own += [f"s{tag} requires c{tag - 1}"] * (tag > 0)
    return lines


_PERM, _LARGE = "perm_16n_16c_2MB.cm", "perm_1024n_1024c_0u_2000000b.cm"

_HASH = "one path a flow, by a hash, which is another one here: which flows share a link is drawn. "
_HASH_16 = f"{_HASH}Of 20 seeds here the median is 551 us, the least 382 and the most 909"
_HASH_1024 = f"{_HASH}With seed 2 it is 900 us"
_MRC = {"schemes.nscc.profile": "mrc", "network.congestion_points": "between-switches"}
_BITMAP = (
    "MRC here, without marks at the last hop; there the mode that skips a path once for each mark, with them: "
    "`bitmap`, of validate_load_balancing_snd.out. With seed 2 it is 209.2 us here"
)
_HTSIM, _ASTRA = "uet-htsim, NSCC", "ASTRA-sim and its analytical network"

CASES = [
    Case("one connection", _HTSIM, 176_200, lambda: sender("one.cm")),
    Case(
        "two connections in opposite directions",
        _HTSIM,
        176_804,
        lambda: sender("bidir.cm"),
        "an acknowledgement answers each packet here, and one in four there (248 for 980); so 179 us here",
    ),
    Case("incast of 15", _HTSIM, 2_478_530, lambda: sender("incast.cm")),
    Case("incast of 127", _HTSIM, 21_029_300, lambda: sender("incast_128.cm"), slow=True),
    Case(
        "incast of 1023, 100 KB each",
        _HTSIM,
        10_556_200,
        lambda: sender(incast_1024(), keys={"network.control_buffer": "10 MB"}),
        "headers have 10 MB of room here, so that none is lost. There some are: 448 242 packets are sent again after "
        "433 185 NACKs. A lost one costs more here: with the room of there it ends after 16.8 ms, whatever the timeout "
        "is from 30 us to 1 ms",
        slow=True,
    ),
    Case("incast of 3, one long", _HTSIM, 221_731, lambda: sender("incast_3-1_overlapped.tm")),
    Case("outcast and incast, flow 1->0", _HTSIM, 208_019, lambda: sender("outcast_incast.cm", flow="f1")),
    Case("outcast and incast, last flow", _HTSIM, 1_638_080, lambda: sender("outcast_incast.cm")),
    Case("permutation of 16, 128 paths", _HTSIM, 194_022, lambda: sender(_PERM)),
    Case(
        "permutation of 16, a link at a quarter",
        _HTSIM,
        238_218,
        lambda: sender(_PERM, slow_link=True),
        "the last of 16 flows, in one run there. Of ten seeds here the mean is 260 us, the least 245, the most 275",
        beyond=True,
    ),
    Case("permutation of 16, one path", _HTSIM, 527_755, lambda: sender(_PERM, spread="flow"), _HASH_16, beyond=True),
    Case("permutation of 1024, 128 paths", _HTSIM, 200_507, lambda: sender(_LARGE), slow=True),
    Case(
        "permutation of 1024, MRC",
        _HTSIM,
        200_507,
        lambda: sender(_LARGE, spread="mrc", keys=_MRC),
        _BITMAP,
        slow=True,
        within=0.05,
    ),
    Case(
        "permutation of 1024, a link at a quarter",
        _HTSIM,
        202_266,
        lambda: sender(_LARGE, slow_link=True),
        slow=True,
    ),
    Case(
        "permutation of 1024, one path",
        _HTSIM,
        889_920,
        lambda: sender(_LARGE, spread="flow"),
        _HASH_1024,
        beyond=True,
        slow=True,
    ),
    Case(
        "permutation of 1024, two tiers 4:1, 128 paths",
        _HTSIM,
        785_774,
        lambda: sender(_LARGE, "leaf_spine_1024_oversub.topo"),
        slow=True,
    ),
    Case(
        "permutation of 1024, two tiers 8:1, 128 paths",
        _HTSIM,
        1_443_430,
        lambda: sender(_LARGE, "leaf_spine_1024_oversub_8-1.topo"),
        slow=True,
    ),
    Case("1 MiB over 3 links of a ring, each stores it", _ASTRA, 60_093, lambda: job(star(4), relayed(3))),
    Case("1 MiB over one link", _ASTRA, 20_031, lambda: job(star(2), relayed(1))),
    Case("1 MiB over a switch that stores it", _ASTRA, 40_062, lambda: job(star(3), relayed(2))),
    Case(
        "16 x 15 chunks of 1 MiB on a ring",
        _ASTRA,
        704_116,
        lambda: job(ring_of_switches(16), everyone_to_everyone()),
    ),
    Case("1 MiB over 3 links of a ring", _ASTRA, 21_031, lambda: job(ring_of_switches(16), from_1_to_4())),
    Case("1 MiB over a switch", _ASTRA, 20_531, lambda: job(star(2, delay="500 ns"), relayed(1))),
    Case("1 MiB, 200 GB/s, 50 ns", _ASTRA, 4_932, lambda: job(star(2, "1717.9869184 Gbps", "25 ns"), relayed(1))),
    Case("1 MiB, 100 GB/s, 500 ns", _ASTRA, 10_265, lambda: job(star(2, "858.9934592 Gbps"), relayed(1))),
    Case("1 MiB over a switch, 50 GB/s, 2 us", _ASTRA, 23_531, lambda: job(star(2, delay="2 us"), relayed(1))),
    Case(
        "all-reduce of 1 MiB around a ring of 8",
        _ASTRA,
        117_780,
        lambda: job(star(8), ring_all_reduce()),
        "a frame of 1000 octets is stored at the switch between two ranks in each of 56 steps: 19 ns each",
    ),
]


def ratio_text(ratio: float) -> str:
    """Return a ratio with three decimals."""
    return f"{ratio:.3f}"


def row(case: Case, ours_ns: float) -> str:
    """Return a row of the page's tables: in us for htsim, in ns for others."""
    of = 1000 if case.source == _HTSIM else 1
    numbers = f"{case.theirs_ns / of:.7g} | {ours_ns / of:.6g} | {ratio_text(ours_ns / case.theirs_ns)}"
    return f"| {case.name} | {numbers} | {case.reason} |"


def renewed(page: str, found: list[tuple[Case, float]]) -> str:
    """Return the page with the rows of these cases renewed; each of them must be there."""
    lines = page.splitlines()
    for case, ours_ns in found:
        at = next(at for at, line in enumerate(lines) if line.startswith(f"| {case.name} | "))
        lines[at] = row(case, ours_ns)
    return "\n".join(lines) + "\n"


def main() -> int:
    """Run, print, and with --write renew the page."""
    parser = argparse.ArgumentParser(description="Penstock beside published completion times")
    parser.add_argument("--write", action="store_true", help="renew docs/measurements/jobs-beside-others.md")
    parser.add_argument("--only", action="append", metavar="NAME", help='a situation, for instance "incast of 15"')
    options = parser.parse_args()
    found = []
    for case in CASES:
        if not options.only or case.name in options.only:
            found.append((case, case.run()))
            ours_ns = found[-1][1]
            ratio = ratio_text(ours_ns / case.theirs_ns)
            print(f"{case.name}: {case.theirs_ns:.0f} ns there, {ours_ns:.0f} here, {ratio}", flush=True)
    if options.write:
        PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8"), found), encoding="utf-8")
    return 1 if any((abs(ours / case.theirs_ns - 1) > case.within) != case.beyond for case, ours in found) else 0


if __name__ == "__main__":
    sys.exit(main())
