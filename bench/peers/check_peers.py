"""Runs Penstock on the situations of other simulators, and writes the page that holds its numbers against theirs.

    python bench/peers/check_peers.py [--write] [--only SITUATION,…] [--schemes SCHEME,…]

bench/peers has networks, flows and numbers of HPCC's simulator and of uet-htsim; its README says how they were made. A
line of numbers.csv agrees if Penstock's number is within 10 %, or of Jain's index within 0.03. Every other line has a
cause in bench/peers/causes.toml, by file of either side; the exit status says whether there is a line without one.
--write renews docs/measurements/beside-other-simulators.md.

HPCC's simulator sends a frame in whole nanoseconds, rounded down, so that lines here are as much faster: a frame of
1048 octets takes 83 ns. Frames under a transport have a header of 62 octets here and of 48 there (56 with TIMELY), for
which lines are faster still.
"""

import argparse
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from agreement import DATA, UNCOMPARED, WITHIN, Line, cause_of, lines, needed, renew, short, table
from penstock import PenstockError, Scenario
from penstock.errors import ArgumentError
from penstock.exchange import hpcc
from penstock.exchange.importing import import_files
from penstock.exchange.networks import of_topology

SEEDS = 5
"""Runs of DCQCN with flows without end, whose mean is compared: its marks are drawn."""
NS_OF_FRAME = {1048: 83, 1056: 84, 1090: 87}
"""Nanoseconds that a frame takes at 100 Gb/s in HPCC's simulator."""
TRANSPORT_FRAME = 1062

BDP_NS = {"S3": 10_400, "S6": 8_200}
"""The longest round trip without a queue, where it is not the star's: delays and payloads on links (third.cc)."""
BDP_NS_STAR = 4_160


@dataclass(frozen=True)
class Setting:
    """A scheme of the peer: Penstock's, its parameters, the octets of a frame, and those that telemetry adds."""

    scheme: str
    parameters: str
    frame: int = 1048
    telemetry: int = 0

    @property
    def marks(self) -> bool:
        """Whether switches mark."""
        return self.scheme in ("dcqcn", "dctcp")

    def text(self, situation: str) -> str:
        """Return the parameters, with the round trip and what 40, 615 and 1923 Mb/s send in one."""
        rtt_ns = BDP_NS.get(situation[:2], BDP_NS_STAR)
        steps = {"WAI": 0.04, "AI615": 0.615, "AI1923": 1.923}
        values = {"RTT": rtt_ns} | {name: round(gbps * rtt_ns / 8) for name, gbps in steps.items()}
        text = self.parameters
        for name, value in values.items():
            text = text.replace(name, str(value))
        return text


def _hpcc(stage: int, units: int) -> Setting:
    steps = f"max_stage = {stage}\nunit_factor = {units}\n"
    text = steps + 'w_ai = "WAI octets"\nbase_rtt = "RTT ns"\nmin_rate = "1000 Mbps"\n'
    return Setting("hpcc", text, telemetry=42)


def _dctcp(k: str, step: str = "AI615") -> Setting:
    return Setting("dctcp", f'profile = "hpcc-ns3"\nk = "{k}"\nsegment = "{step} octets"\nbase_rtt = "RTT ns"\n')


SETTINGS = {
    "dcqcn": Setting("dcqcn", 'profile = "hpcc-100g"\n'),
    "dcqcn_paper": Setting("dcqcn", 'profile = "hpcc-100g-paper"\n'),
    "timely": Setting("timely", 'profile = "hpcc-100g"\n', frame=1056),
    "timely_vwin": Setting("timely", 'profile = "hpcc-100g"\nwindow_time = "RTT ns"\n', frame=1056),
    "hp_int1": _hpcc(0, 1),
    "hp_mi5_int1": _hpcc(5, 1),
    "hp": _hpcc(0, 4),
    "hp_mi5": _hpcc(5, 4),
    "dctcp": _dctcp("300 KB"),
    "dctcp_k40": _dctcp("40 KB"),
    "dctcp_k40_ai1923": _dctcp("40 KB", "AI1923"),
}


def scenario(
    situation: str, setting: Setting, *, transported: bool, window_ms: tuple[int, int], seed: int = 1
) -> Scenario:
    """Return one of HPCC's situations under a scheme."""
    topology = hpcc.read_topology(DATA / "inputs" / f"{situation}.topology.txt")
    flows = hpcc.read_flows(DATA / "inputs" / f"{situation}.flows.txt", topology)
    seen = setting.frame + setting.telemetry
    faster = seen * 8 / 100 / NS_OF_FRAME[seen]
    if transported:
        faster *= (TRANSPORT_FRAME + setting.telemetry) / seen
    network = "\n".join(of_topology(topology, situation).lines)
    for gbps in (100, 400):
        network = network.replace(f'"{gbps} Gbps"', f'"{round(gbps * faster * 1000)} Mbps"')
    network = network.replace('"1000000 octets"', '"32 MB"')
    begin, end = window_ms
    text = [f'question = "{situation}"', f'duration = "{end} ms"', f'scheme = "{setting.scheme}"', f"seed = {seed}"]
    if begin:
        text.append(f'warmup = "{begin} ms"')
    if transported:
        text.append('until = "all-flows-complete"')
    text += ["flow = ["]
    for at, flow in enumerate(flows.flows):
        kind = f'size = "{flow.octets} octets", transport = "go-back-n"'
        if not transported:
            kind = f'traffic = "greedy", frame = "{setting.frame} octets"'
        ends = f'from = "h{flow.source}", to = "h{flow.destination}"'
        text.append(f'  {{ name = "f{at}", {ends}, {kind}, start = "{flow.start} s" }},')
    text += ["]", "", network, "", "[network]" if "[network]" not in network else "", "in_service_counts = false"]
    if setting.marks:
        text.append('ecn_at = "departure"')
    text += ["", f"[schemes.{setting.scheme}]", setting.text(situation), "[pfc]", ""]
    text += ["[[buffer]]", 'size = "32 MB"', "ingress_alpha = 0.125", "", "[record]"]
    text.append(f'interval = "{"100 us" if transported else "1 us"}"')
    return Scenario.from_toml("\n".join(text) + "\n", origin=situation, name=situation)


def long_flows(situation: str, setting: Setting, seed: int = 1) -> dict[str, float]:
    """Return the numbers of a situation of flows without end."""
    window = (60, 80) if situation.startswith("S2") else (40, 60)
    result = scenario(situation, setting, transported=False, window_ms=window, seed=seed).run()
    summary: Any = result.summary
    seen = setting.frame + setting.telemetry
    shares = np.array([flow["throughput_bps"] for flow in summary["flows"]]) * (1000 / seen)
    fair = shares.mean()
    numbers = {f"goodput_bps.flow{at}": float(share) for at, share in enumerate(shares)}
    numbers |= {
        "jain": float(shares.sum() ** 2 / len(shares) / (shares**2).sum()),
        "share_min_over_fair": float(shares.min() / fair),
        "share_max_over_fair": float(shares.max() / fair),
        "goodput_sum_bps": float(shares.sum()),
        "utilisation_of_effective_line": float(shares.sum() / (1000 * 8e9 / NS_OF_FRAME[seen])),
        "pauses_run": float(sum(queue["pause_frames"] for queue in summary["queues"])),
        "drops_run": float(sum(queue["frames_dropped"] for queue in summary["queues"])),
    }
    for queue in summary["queues"]:
        if queue["name"].startswith("s"):
            name = queue["name"].replace("s", "").replace("h", "")
            length = _lengths(result, queue["name"], window[0])
            numbers[f"queue_mean_octets.{name}"] = float(queue["mean_octets"])
            numbers[f"queue_max_octets.{name}"] = float(queue["max_octets"])
            numbers[f"queue_p50_octets.{name}"] = float(np.percentile(length, 50))
            numbers[f"queue_p99_octets.{name}"] = float(np.percentile(length, 99))
    if "cuts" in summary["actions"]:
        numbers["cuts_run"] = float(summary["actions"]["cuts"])
        before: Any = scenario(situation, setting, transported=False, window_ms=(0, window[0]), seed=seed).run().summary
        numbers["cuts_window"] = numbers["cuts_run"] - before["actions"]["cuts"]
    return numbers | (_convergence(result) if situation.startswith("S2") else {})


SPANS_MS = (0, 1, 2, 5, 10, 20, 40, 60)
HELD_MS = 5


def _convergence(result: Any) -> dict[str, float]:
    """Return Jain's index between these times after the last start: flows start 1 ms apart."""
    names = [flow["name"] for flow in result.summary["flows"]]
    rows = result.rows_of("rates", names, "time_s", "throughput_bps")
    after_ms = np.asarray(rows[names[0]]["time_s"]) * 1e3 - (len(names) - 1)
    rates = np.array([rows[name]["throughput_bps"] for name in names])
    numbers = {}
    for begin, end in pairwise(SPANS_MS):
        shares = rates[:, (after_ms > begin) & (after_ms <= end)].mean(axis=1)
        jain = shares.sum() ** 2 / len(shares) / (shares**2).sum()
        numbers[f"jain_{begin}_to_{end}_ms_after_last_start"] = float(jain)
    each_ms = [rates[:, (after_ms > at) & (after_ms <= at + 1)].mean(axis=1) for at in range(SPANS_MS[-1])]
    near = [np.abs(shares / shares.mean() - 1).max() <= WITHIN for shares in each_ms]
    held = [at for at in range(len(near) - HELD_MS) if all(near[at : at + HELD_MS])]
    return numbers | {f"ms_to_within_10_percent_held_{HELD_MS}_ms": float(held[0]) if held else np.inf}


def _lengths(result: Any, queue: str, from_ms: int) -> "np.ndarray[Any, Any]":
    """Return the samples of a queue's length in the window."""
    rows = result.rows_of("queues", [queue], "time_s", "queue_octets")[queue]
    return np.asarray(rows["queue_octets"])[np.asarray(rows["time_s"]) >= from_ms / 1000]


def finite_flows(situation: str, setting: Setting) -> dict[str, float]:
    """Return the numbers of a situation of flows with an end: times to the last acknowledgement at the sender."""
    made = scenario(situation, setting, transported=True, window_ms=(0, 100))
    result = made.run()
    rows: Any = result.completions
    order = np.argsort([int(name[1:]) for name in np.asarray(rows.column("flow").to_pylist())])
    sent = result.column("completions", "size_octets")[order]
    times = (result.column("completions", "end_s") - result.column("completions", "start_s"))[order] * 1e9
    topology = hpcc.read_topology(DATA / "inputs" / f"{situation}.topology.txt")
    flows = hpcc.read_flows(DATA / "inputs" / f"{situation}.flows.txt", topology).flows
    leaf = {link.first: link.second for link in topology.links}
    links = np.array([2 if leaf[at.source] == leaf[at.destination] else 4 for at in flows])
    if not situation.startswith("S6"):
        links[:] = 2
    times = times + links * 1000
    if situation.startswith("S6"):
        summary: Any = result.summary
        return _slowdowns(sent, times, links) | {
            "pauses_run": float(sum(at["pause_frames"] for at in summary["queues"]))
        }
    numbers = {
        f"fct_{name}_ns": float(np.percentile(times, at, method="higher"))
        for name, at in (("min", 0), ("p50", 50), ("p99", 99), ("max", 100))
    }
    if situation == "S5":
        numbers |= {f"fct_ns.{size}_octets": float(time) for size, time in zip(sent, times, strict=True)}
    return numbers


NSCC = {
    "H-inc": ("star66", 8_500_480, 22_500, 85_500, 106_500),
    "H-perm": ("fat16", 12_750_720, 33_000, 129_000, 160_500),
    "H-fat": ("fat16", 12_750_720, 33_000, 129_000, 160_500),
    "H-spine": ("spine16", 8_500_480, 22_500, 85_500, 106_500),
    "H-slow": ("spine16", 8_500_480, 22_500, 85_500, 106_500),
}
"""The network of htsim, ps of its longest round trip, octets of the marks' thresholds and of a queue, as it prints."""


def nscc_scenario(situation: str, matrix: str, seed: int, reordering: int = 1) -> tuple[Scenario, int]:
    """Return a situation of uet-htsim, and the links between two hosts.

    A packet has 1436 octets of data and 64 of headers there.
    """
    network, rtt_ps, low, high, room = next(NSCC[name] for name in NSCC if situation.startswith(name))
    files = [DATA / "inputs" / f"{network}.topo", DATA / "inputs" / f"{matrix}.cm"]
    carrier = {"selective": {"mtu": "1436 octets", "bdp_cap": 0, "reordering": reordering}}
    made = import_files(files, scheme="nscc", transport=carrier).scenario
    fabric, links = ("fat-tree", 6) if network == "fat16" else ("leaf-spine", 2 if network == "star66" else 4)
    settings: dict[str, str | int | bool] = {
        "duration": "20 ms",
        "seed": seed,
        "schemes.nscc.profile": "trimming",
        "schemes.nscc.network_rtt": f"{rtt_ps} ps",
        "schemes.nscc.k_min": f"{low} octets",
        "schemes.nscc.k_max": f"{high} octets",
        f"topology.{fabric}.buffer": f"{room} octets",
        "network.trimming": True,
        "network.ties": "drawn",
        "network.ecmp_seed": seed,
    }
    for key, value in settings.items():
        made.set(key, value)
    return made, links


NDP_FRAMES = {"star66": 71, "fat16": 107}
"""Frames of a first window of csg-htsim's NDP, by network."""


def ndp_scenario(situation: str, seed: int) -> tuple[Scenario, int]:
    """Return a situation of csg-htsim's NDP, and the links between two hosts.

    A packet has 1500 octets of data and 64 of headers there, and its path is drawn. Control packets have a separate
    queue.
    """
    network = "star66" if situation.startswith("H-inc") else "fat16"
    files = [DATA / "inputs" / f"{network}.topo", DATA / "inputs" / f"{situation}.cm"]
    carrier = {"selective": {"mtu": "1500 octets", "bdp_cap": 0, "reordering": 8_388_607}}
    made = import_files(files, scheme="ndp", transport=carrier).scenario
    fabric, links = ("fat-tree", 6) if network == "fat16" else ("leaf-spine", 2)
    settings: dict[str, str | int | bool] = {
        "duration": "20 ms",
        "seed": seed,
        "schemes.ndp.initial_window": NDP_FRAMES[network],
        f"topology.{fabric}.buffer": "12 KB",
        "network.ties": "drawn",
    }
    if network == "fat16":
        settings |= {"network.load_balancing": "spray-random", "network.spray_acks": True}
    for key, value in settings.items():
        made.set(key, value)
    return Scenario.from_toml(made.to_toml().replace("start =", 'acks = "control", start ='), name=situation), links


def htsim_flows(situation: str, scheme: str, seed: int) -> dict[str, float]:
    """Return the numbers of a run of one of htsim's situations."""
    made, links = ndp_scenario(situation, seed) if scheme == "ndp" else nscc_scenario(situation, situation, seed)
    result = made.run()
    summary: Any = result.summary
    times = (result.column("completions", "end_s") - result.column("completions", "start_s")) * 1e6 + links
    again = summary["totals"]["retransmissions"]
    numbers = {
        f"fct_{name}_us": np.percentile(times, at, method="higher")
        for name, at in (("min", 0), ("p50", 50), ("max", 100))
    }
    numbers |= {"packets_new": summary["totals"]["frames_sent"] - again, "packets_sent_again": again}
    return {f"{metric}.seed{seed}": float(value) for metric, value in numbers.items()}


BALANCED = {"ecmp": "flow", "spray": "spray-random", "reps": "reps"}
"""The peer's entropy values, one a flow, oblivious and REPS, as Penstock has them."""
BALANCED_SEEDS = 10
SLOW_SPINE = """
[topology.graph]
hosts = "h0..h15"
switches = ["leaf0..leaf3", "spine0..spine3"]
buffer = "106500 octets"
link = [
    { ends = ["h0..h15", "leaf0..leaf3"], join = "blocks", rate = "100 Gbps", delay = "1 us" },
    { ends = ["leaf0..leaf3", "spine0"], rate = "25 Gbps", delay = "1 us", buffer = "26625 octets" },
    { ends = ["leaf0..leaf3", "spine1..spine3"], rate = "100 Gbps", delay = "1 us" },
]

"""


def balanced_flows(situation: str, balanced: str) -> dict[str, float]:
    """Return the numbers of a permutation over several paths: of the flows of all seeds together.

    Control packets have a separate queue there, and acknowledgements entropy values. Thresholds are in time, for a
    slow line has a quarter of them.
    """
    times = []
    for seed in range(1, BALANCED_SEEDS + 1):
        # Nothing that is late counts as lost: headers say what was trimmed.
        made, links = nscc_scenario(situation, "H-perm16", seed, reordering=8_388_607)
        _, _, low, high, _ = next(NSCC[name] for name in NSCC if situation.startswith(name))
        made.set("schemes.nscc.k_min", f"{low * 80} ps")
        made.set("schemes.nscc.k_max", f"{high * 80} ps")
        made.set("network.load_balancing", BALANCED[balanced])
        made.set("network.spray_acks", balanced != "ecmp")
        text = made.to_toml().replace("start =", 'acks = "control", start =')
        if situation.startswith("H-slow"):
            text = re.sub(r"\[topology\.leaf-spine\][^\[]*", SLOW_SPINE.lstrip(), text)
        result = Scenario.from_toml(text, name=situation).run()
        took = result.column("completions", "end_s") - result.column("completions", "start_s")
        times.append(took * 1e6 + links)
    return {
        "fct_mean_us.10_seeds": float(np.mean(times)),
        "fct_p99_us.10_seeds": float(np.percentile(times, 99, method="higher")),
    }


BANDS = {"to 10 KB": (0, 1e4), "10 to 100 KB": (1e4, 1e5), "100 KB to 1 MB": (1e5, 1e6), "above 1 MB": (1e6, np.inf)}


def _slowdowns(octets: Any, times_ns: Any, links: Any) -> dict[str, float]:
    """Return percentiles of the slowdown against the peer's time of an empty network: packets of 1000 octets and 48."""
    base = links * 2000 + np.where(links == 4, 200, 160)
    slowdown = times_ns / (base + (octets + np.ceil(octets / 1000) * 48) * 0.08)
    numbers: dict[str, float] = {}
    for name, (low, high) in {**BANDS, "all": (0, np.inf)}.items():
        band = slowdown[(octets > low) & (octets <= high)]
        numbers |= {f"slowdown_p{at}.{name}": float(np.percentile(band, at)) for at in (50, 95, 99)}
    return numbers


def measured(situation: str, scheme: str) -> dict[str, float]:
    """Return Penstock's numbers of a situation under a scheme of the peer, by metric."""
    balanced = scheme.removeprefix("nscc_").removesuffix("_ack1")
    if balanced in BALANCED:
        return balanced_flows(situation, balanced)
    if situation.startswith("H"):
        return {metric: value for seed in (1, 2, 3) for metric, value in htsim_flows(situation, scheme, seed).items()}
    scheme = scheme.removesuffix("_ackprio")
    setting = SETTINGS[scheme]
    if situation[:2] not in ("S1", "S2", "S3"):
        return finite_flows(situation, setting)
    seeds = SEEDS if setting.scheme == "dcqcn" else 1
    runs = [long_flows(situation, setting, seed) for seed in range(1, seeds + 1)]
    # A queue in which one seed has nothing to measure has no number.
    shared = set.intersection(*(set(run) for run in runs))
    return {metric: float(np.mean([run[metric] for run in runs])) for metric in runs[0] if metric in shared}


def compared(peers: Iterable[Line]) -> list[Line]:
    """Return the lines with Penstock's numbers."""
    ours: dict[tuple[str, str], dict[str, float]] = {}
    answer = []
    for line in peers:
        of = (line.situation, line.scheme)
        if not any(at.covers(line) for at in UNCOMPARED):
            if of not in ours:
                print(*of, flush=True)
                ours[of] = measured(*of)
            line = Line(*of, line.metric, line.peer, ours[of].get(line.metric))
        answer.append(line)
    return answer


def section(done: Iterable[Line]) -> str:
    """Return a section of the page: counts by situation and scheme, and each line that differs with its cause."""
    known = [line for line in done if line.ours is not None]
    groups: dict[tuple[str, str], list[Line]] = {}
    for line in known:
        groups.setdefault((line.situation, line.scheme), []).append(line)
    rows = []
    for (situation, scheme), of in groups.items():
        listed = ", ".join(at.text for at in of if not at.agrees)
        rows.append((situation, f"`{scheme}`", str(len(of)), str(sum(at.agrees for at in of)), listed))
    text = [HEAD.strip(), "", *table(("Situation", "Scheme", "Compared", "Agree", "Beyond"), rows), ""]
    text += [f"{sum(at.agrees for at in known)} of {len(known)} lines agree.", "", "### Causes", ""]
    text += [*needed(line for line in known if not line.agrees), "", "### Lines that are not compared", ""]
    return "\n".join(text + [at.item for at in UNCOMPARED])


HEADING = "Recorded numbers"
HEAD = """
*`python bench/peers/check_peers.py --write` makes this section; `make verify` holds to its lines.*

Penstock beside the simulator of HPCC's authors (commit 9f4be2a) and, in situations H, beside uet-htsim (commit
40ccb05; for NDP csg-htsim, commit 841d9e7): the same networks, flows and parameters; their numbers are in
`bench/peers`. A line agrees if it is within 10 %, or Jain's index within 0.03, a queue within a frame, packets sent
again within two, a time in whole milliseconds within one. In the last column stand Penstock's number and, in brackets,
the peer's. Causes are read from both programs' code; where one rule alone was changed to try it, the cause says so by a
number.
"""


def main() -> int:
    """Compare, print, and with --write renew the page."""
    parser = argparse.ArgumentParser(description="Penstock beside other simulators")
    parser.add_argument("--write", action="store_true", help="renew docs/measurements/beside-other-simulators.md")
    parser.add_argument("--only", default="", metavar="SITUATION,…", help="situations, for instance S1-n2,S4-16x64K")
    parser.add_argument(
        "--schemes", default="", metavar="SCHEME,…", help="schemes of the peer, for instance dcqcn,timely"
    )
    options = parser.parse_args()
    try:
        return compare(options)
    except PenstockError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def compare(options: argparse.Namespace) -> int:
    """Compare the lines that are asked for, and return the exit status."""
    if options.write and (options.only or options.schemes):
        raise ArgumentError("--write: the page has all situations", "take --only and --schemes out")
    wanted = [
        line
        for line in lines()
        if (not options.only or line.situation in options.only.split(","))
        and (not options.schemes or line.scheme in options.schemes.split(","))
    ]
    done = compared(wanted)
    if options.write:
        renew(HEADING, section(done))
    bad = [line for line in done if line.ours is not None and not line.agrees]
    for line in bad:
        cause = cause_of(line)
        numbers = f"{short(line.ours)} here, {short(line.peer)} there"
        print(
            f"{line.situation} {line.scheme} {line.metric}: {numbers}: {cause.text if cause else 'NO CAUSE IS KNOWN'}"
        )
    return 1 if any(cause_of(line) is None for line in bad) else 0


if __name__ == "__main__":
    sys.exit(main())
