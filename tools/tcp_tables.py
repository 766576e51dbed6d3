"""Prints the tables of docs/explanation/tcp-over-qcn.md, each as the page has it: a row a line, with | between columns.

    python tools/tcp_tables.py [TABLE …] [--seeds N]

runs what the tables are about, as the claims of papers/netfpga do, and prints them; without TABLE, all. `load` takes
minutes.
"""

import argparse
import statistics
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from penstock import Result
from penstock.reproduction.paper import Paper, load
from penstock.reproduction.plan import Run
from penstock.runs import Run as Job
from penstock.runs import RunCallbacks, run_many

ROOT = Path(__file__).resolve().parent.parent
PFC = {"pfc.quanta": 65535}
MARKED = {"network.ecn_threshold": "30 KB"}
OVER: dict[str, tuple[str, dict[str, Any]]] = {
    "nothing": ("none", {}),
    "QCN": ("qcn", {}),
    "PFC": ("none", PFC),
    "QCN and PFC": ("qcn", PFC),
}
TCP = {"newreno": "NewReno", "cubic": "CUBIC", "dctcp": "DCTCP"}
DELAYS = {100: "50 us", 500: "250 us", 1000: "500 us"}
ONE = {"flow.0.from": "h0"}

Metric = Callable[[Result], float | None]
Row = Iterator[list[str]]
"""Columns of one row after another."""


class Runs:
    """Runs of the paper's experiments, over seeds."""

    def __init__(self, paper: Paper) -> None:
        self._paper = paper

    def metric(self, name: str, /, **arguments: Any) -> Metric:
        """Return a metric of the paper's claims, with its arguments."""
        return partial(self._paper.metrics[name], **arguments)

    def values(
        self, experiment: str, over: str, tcp: str, seeds: int, settings: Mapping[str, Any], *metrics: Metric
    ) -> list[list[float]]:
        """Return the values of metrics, each with one of every seed; a value that a seed does not have is left out."""
        scheme, own = OVER[over]
        table = "load" if experiment == "tcp-load" else "flow"
        set_ = {f"{table}.0.transport.tcp.congestion": tcp, **(MARKED if tcp == "dctcp" else {}), **own, **settings}
        if experiment == "tcp-neighbour":
            set_["flow.1.transport.tcp.congestion"] = tcp
        scenario = partial(self._paper.scenario, Run.of(experiment, scheme, set_))
        jobs = [Job(f"{experiment}, {seed}", scenario, seed, scheme) for seed in range(1, seeds + 1)]
        found = run_many(jobs, lambda _place, result, _loss: [metric(result) for metric in metrics], RunCallbacks())
        return [[value for value in column if value is not None] for column in zip(*found.values(), strict=True)]


def long(runs: Runs, seeds: int, rtt_us: int = 100) -> Row:
    """Eight connections without end at a round trip, over everything."""
    yield ["Over", "TCP", *LONG]
    for over in OVER:
        for tcp in TCP:
            yield [over, TCP[tcp], *_long(runs, seeds, over, tcp, rtt_us)]


def paced(runs: Runs, seeds: int) -> Row:
    """The same eight connections with BBR, at three round trips."""
    yield ["us", "Over", *LONG]
    for rtt_us in DELAYS:
        for over in OVER:
            yield [str(rtt_us), over, *_long(runs, seeds, over, "bbr", rtt_us)]


LONG = ["Queue (KB): before, low", "Sent again", "Use (%)", "Fair", "Goodput (Mb/s)"]


def _long(runs: Runs, seeds: int, over: str, tcp: str, rtt_us: int) -> list[str]:
    metric = runs.metric
    jain = [metric("throughput_jain_index", from_s=low, to_s=high) for low, high in ((0.5, 2.3), (6.0, 7.0))]
    queues = [metric("length_mean_octets", period=period) for period in ("before", "low")]
    others = [metric("retransmissions"), metric("link_use", period="rise"), metric("goodput_bps")]
    delay = {"topology.star.link_delay": DELAYS[rtt_us]}
    found = runs.values("tcp-long", over, tcp, seeds, delay, *queues, *jain, *others)
    before, low, fair, fair_later, again, use, goodput = map(statistics.fmean, found)
    queue, shares = f"{before / 1e3:.0f}, {low / 1e3:.0f}", f"{fair:.2f}, {fair_later:.2f}"
    return [queue, f"{again:.0f}", f"{100 * use:.0f}", shares, f"{goodput / 1e6:.0f}"]


def one(runs: Runs, seeds: int) -> Row:
    """One connection at three round trips."""
    yield ["Over", "TCP", *(f"{rtt} us" for rtt in DELAYS)]
    asked = [(over, tcp) for over in OVER for tcp in ("newreno", "cubic")]
    queue = runs.metric("length_mean_octets", period="before")
    uses = [runs.metric("link_use", period=period) for period in ("before", "rise")]
    for over, tcp in [*asked, ("QCN", "dctcp")]:
        cells = []
        for delay in DELAYS.values():
            settings = {**ONE, "topology.star.link_delay": delay}
            found = map(statistics.fmean, runs.values("tcp-long", over, tcp, seeds, settings, queue, *uses))
            length, before, rise = found
            cells.append(f"{length / 1e3:.0f}; {100 * before:.0f}, {100 * rise:.0f}")
        yield [over, TCP[tcp], *cells]


def host_queue(runs: Runs, seeds: int) -> Row:
    """Mean queue between a connection and its reaction point, KB, over QCN: of all seeds, and its range; and drops."""
    yield ["Room (KB), and the reaction where it is full", *TCP.values()]
    metrics = runs.metric("host_queue_octets"), runs.metric("host_queue_drops")
    kinds: list[tuple[str, str, str, str, dict[str, Any]]] = [
        ("4, TCP waits", "4 KB", "wait", "QCN", {}),
        ("100, TCP waits", "100 KB", "wait", "QCN", {}),
        ("100, it drops", "100 KB", "drop", "QCN", {}),
        ("1500, it drops", "1500 KB", "drop", "QCN", {}),
        ("20 000, it drops", "20 MB", "drop", "QCN", {}),
        ("20 000, one connection", "20 MB", "drop", "QCN", ONE),
        ("20 000, PFC too", "20 MB", "drop", "QCN and PFC", {}),
    ]
    for name, limit, full, over, more in kinds:
        settings = {"hosts.transmit_queue.limit": limit, "hosts.transmit_queue.when_full": full, **more}
        cells = []
        for tcp in TCP:
            octets, drops = runs.values("tcp-long", over, tcp, seeds, settings, *metrics)
            low, mean, high = (f"{of(octets) / 1e3:.3g}" for of in (min, statistics.fmean, max))
            dropped = f"; {statistics.fmean(drops):.0f} dropped" if any(drops) else ""
            cells.append((f"{mean} ({low} to {high})" if low != high else mean) + dropped)
        yield [name, *cells]


def neighbour(runs: Runs, seeds: int) -> Row:
    """Mean slowdown of short connections to an idle port, the range of seeds."""
    yield ["Over", "NewReno", "DCTCP"]
    shared = {"hosts.reaction_points": "per-host"}
    full = {**shared, "hosts.transmit_queue.limit": "100 KB"}
    kinds: list[tuple[str, str, dict[str, Any]]] = [
        ("nothing", "nothing", {}),
        ("QCN, a reaction point for each connection", "QCN", {}),
        ("PFC", "PFC", {}),
        ("QCN, one reaction point for the host", "QCN", shared),
        (
            "the same, and a queue of 100 KB at which TCP waits",
            "QCN",
            {**full, "hosts.transmit_queue.when_full": "wait"},
        ),
        ("the same, and a queue of 100 KB that drops", "QCN", {**full, "hosts.transmit_queue.when_full": "drop"}),
    ]
    for name, over, settings in kinds:
        metrics = [runs.metric("slowdown")]
        if "hosts.transmit_queue.limit" in settings:
            metrics.append(runs.metric("host_queue_drops", name="short"))
        cells = []
        for tcp in ("newreno", "dctcp"):
            slow, *drops = runs.values("tcp-neighbour", over, tcp, seeds, settings, *metrics)
            lossy = [sum(value > 0 for value in column) for column in drops]
            drops_text = f"; drops in {lossy[0]} of {seeds} seeds" if any(lossy) else ""
            cells.append((f"{min(slow):.1f} to {max(slow):.1f}" if slow else "not all completed") + drops_text)
        yield [name, *cells]


def load_60(runs: Runs, seeds: int) -> Row:
    """Short connections under a load of 60 %: slowdown, median of the seeds."""
    columns = [
        "All: mean",
        "To 10 KB: p99",
        "10 to 100 KB: median, p99",
        "Above 10 MB: median",
        "Sent again",
        "Timeouts",
    ]
    yield ["Over", "TCP", *columns]
    middle = {"least_octets": 10_001, "most_octets": 100_000}
    metrics = [
        runs.metric("slowdown"),
        runs.metric("slowdown", of="p99", most_octets=10_000),
        runs.metric("slowdown", of="p50", **middle),
        runs.metric("slowdown", of="p99", **middle),
        runs.metric("slowdown", of="p50", least_octets=10_000_001),
        runs.metric("retransmissions"),
        runs.metric("timeouts"),
    ]
    for over in OVER:
        for tcp in TCP:
            found = runs.values("tcp-load", over, tcp, seeds, {}, *metrics)
            mean, small, medium, tail, large, again, timeouts = (statistics.median(column) for column in found)
            cells_of = [f"{mean:.1f}", f"{small:.0f}", f"{medium:.1f}, {tail:.0f}", f"{large:.1f}"]
            yield [over, TCP[tcp], *cells_of, f"{again:.0f}", f"{timeouts:.0f}"]


def timeouts(runs: Runs, seeds: int) -> Row:
    """Timeouts of eight connections without RACK, and their goodput (Mb/s)."""
    yield ["Over", "TCP", "100 us", "1000 us", "100 us, least timeout 10 ms"]
    metrics = runs.metric("timeouts"), runs.metric("goodput_bps")
    for over in ("nothing", "QCN"):
        for tcp in ("newreno", "cubic"):
            cells = []
            for delay, more in ((100, {}), (1000, {}), (100, {"flow.0.transport.tcp.rto_min": "10 ms"})):
                settings = {"topology.star.link_delay": DELAYS[delay], **more}
                found = runs.values("tcp-without-rack", over, tcp, seeds, settings, *metrics)
                late, goodput = map(statistics.fmean, found)
                cells.append(f"{late:.1f}; {goodput / 1e6:.1f}")
            yield [over, TCP[tcp], *cells]


TABLES: dict[str, tuple[Callable[[Runs, int], Row], int]] = {
    "long": (long, 10),
    "long-500": (partial(long, rtt_us=500), 10),
    "long-1000": (partial(long, rtt_us=1000), 10),
    "bbr": (paced, 10),
    "one": (one, 3),
    "host-queue": (host_queue, 10),
    "neighbour": (neighbour, 10),
    "load": (load_60, 10),
    "timeouts": (timeouts, 10),
}


def main() -> None:
    """Prints the tables that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=", ".join(TABLES))
    parser.add_argument("--seeds", type=int, help="seeds of each row, instead of the page's number")
    given = parser.parse_args()
    for name in given.tables:
        if name not in TABLES:
            parser.error(f"{name}: unknown table; there are {', '.join(TABLES)}")
    runs = Runs(load(ROOT / "papers" / "netfpga"))
    for name in given.tables or TABLES:
        table, seeds = TABLES[name]
        print(f"{name}, {given.seeds or seeds} seeds", flush=True)
        for row in table(runs, given.seeds or seeds):
            print(" | ".join(row), flush=True)


if __name__ == "__main__":
    main()
