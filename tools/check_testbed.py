"""Compares the testbed with the simulator: the kernel's TCP with ours, and schemes with themselves.

    sudo .venv/bin/python tools/check_testbed.py tcp --runs 3
    sudo .venv/bin/python tools/check_testbed.py schemes --schemes bcn,smcc,dcqcn --runs 3
    sudo .venv/bin/python tools/check_testbed.py tcp --cases drop,cubic --runs 5

Each case is a scenario that the simulator runs with 30 seeds and the testbed some times. The mean rates of delivery
must agree within 5 %, the mean median queues within 15 %, and no frame may be lost where the simulator loses none
with any seed. A run that was late counts for nothing and is made again, up to three times. Each case's row has means
and deviations, or all counts, the worst lateness and load average. Behind those of schemes stands their order by
queue in both. The exit status says whether all cases agree, and orders too.

The testbed makes network namespaces, which needs root.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev

from penstock import Scenario
from penstock.testbed import TestbedError

from testbed_agreement import Agreement, agreement

TRIES = 3
"""How often a run is made until it is valid."""

AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")

KERNEL_NAMES = {"newreno": "reno", "cubic": "cubic", "bbr": "bbr", "dctcp": "dctcp"}
"""Congestion controls of scenarios, and the kernel's names of them."""


EIGHT = (("topology.star.hosts", "9"), ("flow.0.from", "h0..h7"), ("flow.0.to", "h8"))
"""Eight connections instead of two."""


@dataclass(frozen=True)
class Case:
    """A scenario with some of its values set, under a scheme."""

    title: str
    scenario: str
    scheme: str
    sets: tuple[tuple[str, str], ...] = ()

    def build(self) -> Scenario:
        """Return the scenario."""
        scenario = Scenario.named(self.scenario)
        for key, value in self.sets:
            scenario = scenario.set(key, value)
        return scenario


def tcp_cases() -> Iterator[Case]:
    """Yield the congestion controls on a star and a dumbbell, over QCN on a star and where a rate drops, and eight."""
    available = AVAILABLE.read_text().split()
    for name, kernel in KERNEL_NAMES.items():
        if kernel not in available:
            print(f"{name}: left out, this kernel has {', '.join(available)}", flush=True)
            continue
        # The kernel finds losses by time. Where they are many, BBR without that waits for its timer again and again.
        rack = ", rack = true" if name == "bbr" else ""
        transport = f'{{ tcp = {{ congestion = "{name}"{rack} }} }}'
        if name != "bbr":
            marked = transport if name == "dctcp" else transport.replace(" }", ", ecn = true }", 1)
            with_marks = (("flow.0.transport", marked), ("network.ecn_threshold", "30 KB"))
            yield Case(f"star with marks, {name}", "testbed/two-connections", "none", with_marks)
        if name == "dctcp":
            continue
        own = (("flow.0.transport", transport),)
        yield Case(f"star, {name}", "testbed/two-connections", "none", own)
        both = tuple((f"flow.{i}.transport", transport) for i in range(2))
        yield Case(f"dumbbell, {name}", "testbed/dumbbell", "none", both)
        yield Case(f"star over QCN, {name}", "testbed/two-connections", "qcn", own)
        yield Case(f"rate drop over QCN, {name}", "testbed/tcp-drop", "qcn", own)
        for scheme in ("none", "qcn"):
            title = f"star, eight connections, {name}, {scheme}"
            yield Case(title, "testbed/two-connections", scheme, (*EIGHT, *own))


def scheme_cases(schemes: list[str]) -> Iterator[Case]:
    """Yield two and eight senders of UDP under each scheme."""
    for scheme in schemes:
        for scenario in ("testbed/two-senders", "testbed/eight-senders"):
            yield Case(f"{scenario.partition('/')[2]}, {scheme}", scenario, scheme)


def spread(values: list[float], unit: float) -> str:
    """Return mean and standard deviation of values in a unit."""
    deviation = f" ({stdev(values) / unit:.1f})" if len(values) > 1 else ""
    return f"{mean(values) / unit:.1f}{deviation}"


def counts(values: list[int]) -> str:
    """Return a few counts, or the range of many."""
    ordered = sorted(values)
    if len(set(ordered)) == 1:
        return str(ordered[0])
    return ", ".join(map(str, values)) if len(values) <= 5 else f"{ordered[0]} to {ordered[-1]}"


def row(case: Case, result: Agreement) -> str:
    """Return a row of the table."""
    if not result.valid:
        return f"| {case.title} | invalid: {' '.join(result.measured[-1].faults)} |" + " |" * 12
    simulated, measured = result.simulated, result.bodies
    verdict = "agrees" if result.agrees else "loses more" if result.loses_more else "differs"
    cells = [
        case.title,
        spread([body.delivered_bps for body in simulated], 1e6),
        spread([body.delivered_bps for body in measured], 1e6),
        f"{result.rate_off:+.1%}",
        spread([body.queue_octets for body in simulated], 1e3),
        spread([body.queue_octets for body in measured], 1e3),
        f"{result.queue_off:+.1%}",
        counts([body.dropped for body in simulated]),
        counts([body.dropped for body in measured]),
        counts([body.signals for body in simulated]),
        counts([body.signals for body in measured]),
        f"{max(run.lateness_p99_s for run in result.measured if run.valid) * 1e3:.2f}",
        f"{max(run.load for run in result.measured):.1f}",
        verdict,
    ]
    return f"| {' | '.join(cells)} |"


def orders(results: dict[Case, Agreement]) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield each scenario with its schemes by the mean of their median queues, in the simulator and on the testbed."""
    valid = {case: result for case, result in results.items() if result.valid}
    for scenario in dict.fromkeys(case.scenario for case in valid):
        own = {case.scheme: result for case, result in valid.items() if case.scenario == scenario}
        simulated = {name: mean(body.queue_octets for body in result.simulated) for name, result in own.items()}
        measured = {name: mean(body.queue_octets for body in result.bodies) for name, result in own.items()}
        yield scenario, sorted(own, key=simulated.__getitem__), sorted(own, key=measured.__getitem__)


def main() -> int:
    """Run the cases that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("tcp", "schemes"))
    parser.add_argument("--schemes", default="none,qcn,bcn,fecn,smcc,dcqcn", help="names, with commas between")
    parser.add_argument("--cases", default="", help="only cases whose titles have all these parts")
    parser.add_argument("--runs", type=int, default=1, help="the testbed's valid runs of each case")
    parser.add_argument("--seeds", type=int, default=30, help="the simulator's runs of each case")
    options = parser.parse_args()
    print(
        "| case | simulator, Mb/s | testbed, Mb/s | | queue, KB | queue, KB | | drops | drops | signals | signals "
        "| late p99, ms | load | |"
    )
    print("|---" * 14 + "|")
    cases = tcp_cases() if options.what == "tcp" else scheme_cases(options.schemes.split(","))
    seeds = range(1, options.seeds + 1)
    results: dict[Case, Agreement] = {}
    try:
        for case in cases:
            if all(part in case.title for part in options.cases.split(",")):
                result = agreement(case.build(), scheme=case.scheme, seeds=seeds, runs=options.runs, tries=TRIES)
                print(row(case, result), flush=True)
                results[case] = result
    except TestbedError as fault:
        print(fault, file=sys.stderr)
        return 1
    good = all(result.agrees for result in results.values())
    if options.what == "schemes":
        for scenario, simulated, measured in orders(results):
            print(f"{scenario}: simulator {' < '.join(simulated)}; testbed {' < '.join(measured)}")
            good = good and simulated == measured
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
