"""Jobs on several threads: tables and summary are those of one thread, and what stays on one thread says why."""

import random
from typing import Any

import pytest

from penstock import Scenario

FABRIC: dict[str, Any] = {
    "question": "Is it the same on several threads?",
    "duration": "30 ms",
    "until": "all-flows-complete",
    "scheme": "none",
    "pfc": {"priorities": [0]},
    "topology": {
        "leaf-spine": {
            "leaves": 4,
            "spines": 2,
            "hosts_per_leaf": 2,
            "host_rate": "100 Gbps",
            "fabric_rate": "100 Gbps",
            "link_delay": "2 us",
            "buffer": "1 MB",
        }
    },
    "record": {"interval": "20 us"},
}
"""Eight hosts on four leaves."""

GRAPH = """num_ranks 8
""" + "".join(
    f"""rank {rank} {{
a: calc {1000 * (rank * 7 % 5)}
s: send 40000b to {(rank + 3) % 8} tag 1
r: recv 40000b from {(rank + 5) % 8} tag 1
t: send 9000b to {rank ^ 1} tag 2
u: recv 9000b from {rank ^ 1} tag 2
b: calc 2000 cpu 1
s requires a
t requires s
b requires r
b irequires t
}}
"""
    for rank in range(8)
)
"""Sends that wait for computations and for the ends of other sends."""


def scenario(tables: dict[str, Any]) -> Scenario:
    """Return the fabric with these tables."""
    return Scenario(**{**FABRIC, **tables})


def same(tables: dict[str, Any], numbers: tuple[int, ...] = (2, 3, 4), most: int | None = None) -> dict[str, Any]:
    """Run on one thread and on these numbers, which are to give the same; return the summary of one."""
    whole = scenario(tables)
    one = whole.run()
    for threads in numbers:
        some = whole.run(threads=threads)
        assert some.threads is not None and some.threads[0] == (most or threads), some.threads
        for table in one.tables:
            assert one.to_polars(table).equals(some.to_polars(table)), (table, threads)
        assert some.fingerprint() == one.fingerprint(), (threads, tables)
    return dict(one.summary)


def collective(**keys: Any) -> dict[str, Any]:
    """Return tables with one collective."""
    return {"collective": [{"kind": "all-reduce", "size": "400 KB", **keys}]}


@pytest.mark.parametrize("algorithm", ["ring", "tree", "halving-doubling", "direct", "pairwise"])
@pytest.mark.parametrize("connections", ["kept", "per-message"])
def test_collectives(algorithm: str, connections: str) -> None:
    kind = "all-to-all" if algorithm in ("direct", "pairwise") else "all-reduce"
    keys = {"kind": kind, "algorithm": algorithm, "connections": connections, "iterations": 3, "compute": "3 us"}
    summary = same(collective(**keys), (2, 4))
    assert summary["jobs"][0]["iterations_ended"] == 3
    assert summary["jobs"][0]["path_ideal_s"] > 0


@pytest.mark.parametrize(
    "keys",
    [
        {"kind": "broadcast", "chunks": 4, "in_flight": 2},
        {"kind": "reduce", "algorithm": "tree", "iterations": 2},
        {"kind": "barrier", "iterations": 4},
        {"chunks": 4, "in_flight": 1, "channels": 2, "step_latency": "300 ns"},
        {"ranks_per_host": 2, "placement": "random", "local_rate": "400 Gbps", "local_latency": "100 ns"},
    ],
    ids=["broadcast", "reduce", "barrier", "credits", "local"],
)
def test_what_waits_for_the_sender(keys: dict[str, Any]) -> None:
    same(collective(**keys))


@pytest.mark.parametrize(
    "keys",
    [
        {"network": {"load_balancing": "spray"}},
        {"network": {"load_balancing": "adaptive"}},
        {"network": {"load_balancing": "spray-random", "clock_tolerance": "50 ppm"}},
        {"scheme": "dcqcn"},
        {"change": [{"link": "leaf0->spine1", "at": "10 us", "rate": "25 Gbps"}]},
    ],
    ids=["spray", "adaptive", "random", "dcqcn", "degraded"],
)
def test_fabrics(keys: dict[str, Any]) -> None:
    same({**collective(iterations=2), **keys}, (3,))


def test_losses_are_sent_again() -> None:
    lossy: dict[str, Any] = {key: value for key, value in FABRIC.items() if key != "pfc"}
    topology = {**FABRIC["topology"]["leaf-spine"], "buffer": "30 KB"}
    lossy |= {"topology": {"leaf-spine": topology}, "until": "duration", "duration": "1 ms"}
    lossy |= collective(kind="all-to-all", algorithm="direct", size="400 KB", transport="go-back-n")
    whole = Scenario(**lossy)
    one, two = whole.run(), whole.run(threads=2)
    assert two.threads is not None and two.threads[0] == 2, two.threads
    assert one.summary["totals"]["retransmissions"] > 0
    assert one.fingerprint() == two.fingerprint()


def test_graphs_and_several_jobs() -> None:
    tables = {**collective(hosts="h0..h5", iterations=2, start="7 us"), "job": [{"graph": GRAPH, "iterations": 3}]}
    same(tables)
    # Beside flows of loads that come and go the run has a fixed end.
    load = [{"load": 0.2, "size": "3 KB"}]
    same({**tables, "until": "duration", "duration": "300 us", "load": load})


def test_a_run_that_ends_before_its_job() -> None:
    summary = same({**collective(size="4 MB"), "until": "duration", "duration": "50 us"})
    assert summary["jobs"][0]["job_time_s"] is None
    assert any("had not ended at the end of the run" in note for note in summary["notes"])


def test_what_stays_on_one_thread_says_why() -> None:
    flow = [{"from": "h0", "to": "h7", "size": "10 KB"}]
    two = scenario({**collective(), "flow": flow}).run(threads=2)
    assert two.threads == (1, "the run ends with its last flow")


def programs(draw: random.Random) -> str:
    """Return a graph of eight ranks: in the order in which its nodes are drawn, it can end."""
    lines: list[list[str]] = [[] for _ in range(8)]
    last: list[str | None] = [None] * 8
    number = 0

    def add(rank: int, text: str) -> None:
        nonlocal number
        name, before = f"n{number}", last[rank]
        number += 1
        lines[rank].append(f"{name}: {text}")
        if before is not None and draw.random() < 0.7:
            lines[rank].append(f"{name} {draw.choice(['requires', 'irequires'])} {before}")
        last[rank] = name

    for tag in range(40):
        one, other = draw.sample(range(8), 2)
        if draw.random() < 0.3:
            add(one, f"calc {draw.randrange(5000)} cpu {draw.randrange(2)}")
        octets = draw.choice([1, 900, 20_000, 150_000])
        add(one, f"send {octets}b to {other} tag {tag}")
        add(other, f"recv {octets}b from {one} tag {tag}")
    return "num_ranks 8\n" + "".join(f"rank {rank} {{\n" + "\n".join(own) + "\n}\n" for rank, own in enumerate(lines))


@pytest.mark.parametrize("seed", range(6))
def test_random_graphs(seed: int) -> None:
    draw = random.Random(seed)
    job = {
        "graph": programs(draw),
        "iterations": draw.randrange(1, 4),
        "placement": draw.choice(["in-order", "by-rack", "random"]),
        "connections": draw.choice(["kept", "per-message"]),
    }
    if draw.random() < 0.5:
        job |= {"ranks_per_host": 2, "local_latency": "200 ns"}
    same({"job": [job], "network": {"load_balancing": draw.choice(["flow", "spray"])}}, (2, 3))
