"""Measures runs on one and two threads: W2 of the bench on fat trees of several sizes, in turns; or a load of flows.

The time of an event is that of a long run less that of a short one: laying out is left out. Every pair of runs is
checked to give the same summary.

    python tools/many_threads.py [--k 8,16,24] [--threads 1,2] [--repeats 5] [--scheme qcn] [--load 0.5]
"""

import argparse
import json
import resource
import statistics
import sys
from pathlib import Path

import penstock

ROOT = Path(__file__).resolve().parent.parent
W2 = ROOT / "scenarios/bench/fat-tree-k8.toml"
HOPS = 20_000_000
"""Packet hops between the short run and the long one, about."""


def fat_tree(k: int, duration_us: int, samples_us: float) -> penstock.Scenario:
    """Return W2 on a fat tree of k-port switches: each host sends to the host of the same index in the next pod."""
    scenario = penstock.Scenario.load(W2)
    hosts, shift = k**3 // 4, k**2 // 4
    scenario.set("topology.fat-tree.k", str(k))
    scenario.set("flow.0.from", f"h0..h{hosts - 1}")
    scenario.set("flow.0.to", json.dumps([f"h{shift}..h{hosts - 1}", f"h0..h{shift - 1}"]))
    # One frame of each source in 121.2 ns: starts are spread over that time.
    scenario.set("flow.0.stagger", f"{121_200 // hosts} ps")
    scenario.set("duration", f"{duration_us} us")
    scenario.set("record.interval", f"{samples_us} us")
    return scenario


def loaded(k: int, duration_us: int, samples_us: float, load: float) -> penstock.Scenario:
    """Return the same network under a load of WebSearch flows, which come and go."""
    return penstock.Scenario.from_toml(f"""\
        question = "What do threads gain where flows come and go?"
        duration = "{duration_us} us"
        scheme = "qcn"
        schemes.qcn.profile = "pan-10g"
        topology.fat-tree = {{ k = {k}, link_rate = "100 Gbps", link_delay = "500 ns", buffer = "500 KB" }}
        record.interval = "{samples_us} us"
        [[load]]
        name = "web"
        load = {load}
        size = {{ workload = "websearch" }}
    """)


def measured(scenario: penstock.Scenario, scheme: str, threads: int) -> tuple[float, float, int, str, str]:
    """Run; return wall time and processor time (s), packet hops, the reason for the threads, and the summary."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    result = scenario.run(scheme=scheme, threads=threads, limit=100)
    after = resource.getrusage(resource.RUSAGE_SELF)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    summary = json.loads(result.summary_json)
    run = summary.pop("run")
    had = result.threads
    if had is None or had[0] != threads:
        sys.exit(f"the run had {had}, not {threads} threads")
    return run["wall_s"], used, summary["totals"]["packet_hops"], had[1], json.dumps(summary)


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--k", default="8,16,24")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--scheme", default="qcn")
    parser.add_argument("--samples-us", type=float, default=10)
    parser.add_argument("--load", type=float, help="WebSearch flows at this load instead of flows that last")
    asked = parser.parse_args()
    all_threads = [int(number) for number in asked.threads.split(",")]
    print("| k | threads | wall, ns a hop | CPU, ns a hop | times one thread | why |\n|---|---|---|---|---|---|")
    for k in map(int, asked.k.split(",")):
        per_us = k**3 // 4 * 99e9 / 8 / 1500 * 6 / 1e6 * (asked.load or 1)
        short = 200 if asked.load else 20
        durations = (short, short + max(10, int(HOPS / per_us)))
        scenarios = [
            loaded(k, duration, asked.samples_us, asked.load) if asked.load else fat_tree(k, duration, asked.samples_us)
            for duration in durations
        ]
        walls: dict[int, list[float]] = {number: [] for number in all_threads}
        cpus: dict[int, list[float]] = {number: [] for number in all_threads}
        ratios: dict[int, list[float]] = {number: [] for number in all_threads}
        why = dict.fromkeys(all_threads, "")
        for _ in range(asked.repeats):
            kept: dict[int, str] = {}
            for number in all_threads:
                runs = [measured(scenario, asked.scheme, number) for scenario in scenarios]
                hops = runs[1][2] - runs[0][2]
                walls[number].append((runs[1][0] - runs[0][0]) / hops * 1e9)
                cpus[number].append((runs[1][1] - runs[0][1]) / hops * 1e9)
                ratios[number].append(walls[all_threads[0]][-1] / walls[number][-1])
                why[number] = runs[1][3]
                for place, run in enumerate(runs):
                    if kept.setdefault(place, run[4]) != run[4]:
                        sys.exit(f"k = {k}, {number} threads: another result")
        for number in all_threads:
            wall, cpu, ratio = (statistics.median(of[number]) for of in (walls, cpus, ratios))
            print(f"| {k} | {number} | {wall:.1f} | {cpu:.1f} | {ratio:.2f} | {why[number]} |", flush=True)


if __name__ == "__main__":
    main()
