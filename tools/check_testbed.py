"""Compares the testbed with the simulator: the kernel's TCP with ours, and schemes with themselves.

    sudo .venv/bin/python tools/check_testbed.py tcp
    sudo .venv/bin/python tools/check_testbed.py schemes --schemes bcn,smcc,dcqcn --runs 3

Each case is a scenario that both run. The rates of delivery must agree within 5 %, the median queues within 15 %. A run
that was late counts for nothing, is said to be invalid, and is made again, up to three times. Each run's row has its
lateness and the machine's load average. The exit status says whether all cases agree.

The testbed makes network namespaces, which needs root.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from penstock import Scenario
from penstock.testbed import TestbedError
from penstock.testbed.agreement import Agreement, agreement

TRIES = 3
"""How often a run is made until it is valid."""

AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")

KERNEL_NAMES = {"newreno": "reno", "cubic": "cubic", "dctcp": "dctcp"}
"""Congestion controls of scenarios, and the kernel's names of them."""


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
    """Yield the congestion controls on a star and a dumbbell, and over QCN on a star and where a rate drops."""
    available = AVAILABLE.read_text().split()
    for name, kernel in KERNEL_NAMES.items():
        if name == "dctcp":
            reason = (
                "this kernel has none" if kernel not in available else "switches of the testbed mark for dcqcn alone"
            )
            print(f"dctcp: left out, {reason}", flush=True)
            continue
        if kernel not in available:
            print(f"{name}: left out, this kernel has {', '.join(available)}", flush=True)
            continue
        transport = f'{{ tcp = {{ congestion = "{name}" }} }}'
        yield Case(f"star, {name}", "testbed/two-connections", "none", (("flow.0.transport", transport),))
        both = tuple((f"flow.{i}.transport", transport) for i in range(2))
        yield Case(f"dumbbell, {name}", "testbed/dumbbell", "none", both)
        yield Case(f"star over QCN, {name}", "testbed/two-connections", "qcn", (("flow.0.transport", transport),))
        yield Case(f"rate drop over QCN, {name}", "testbed/tcp-drop", "qcn", (("flow.0.transport", transport),))


def scheme_cases(schemes: list[str]) -> Iterator[Case]:
    """Yield two and eight senders of UDP under each scheme."""
    for scheme in schemes:
        for scenario in ("testbed/two-senders", "testbed/eight-senders"):
            yield Case(f"{scenario.partition('/')[2]}, {scheme}", scenario, scheme)


def row(case: Case, result: Agreement) -> str:
    """Return a row of the table."""
    simulated, measured = result.simulated, result.measured
    verdict = "agrees" if result.agrees else "differs"
    if not result.valid:
        verdict = "invalid: " + " ".join(result.faults)
    return (
        f"| {case.title} | {simulated.delivered_bps / 1e6:.1f} | {measured.delivered_bps / 1e6:.1f} "
        f"| {result.rate_off:+.1%} | {simulated.queue_octets / 1e3:.1f} | {measured.queue_octets / 1e3:.1f} "
        f"| {result.queue_off:+.1%} | {simulated.dropped} | {measured.dropped} | {simulated.signals} "
        f"| {measured.signals} | {result.lateness_p99_s * 1e3:.2f} | {result.lateness_max_s * 1e3:.1f} "
        f"| {result.load:.1f} | {verdict} |"
    )


def passes(case: Case, runs: int) -> bool:
    """Run a case, print its rows, and return whether all valid runs agree, and there are enough of them."""
    good = True
    for _ in range(runs):
        for _ in range(TRIES):
            result = agreement(case.build(), scheme=case.scheme)
            print(row(case, result), flush=True)
            if result.valid:
                break
        good = good and result.valid and result.agrees
    return good


def main() -> int:
    """Run the cases that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("tcp", "schemes"))
    parser.add_argument("--schemes", default="none,qcn,bcn,fecn,smcc,dcqcn", help="names, with commas between")
    parser.add_argument("--runs", type=int, default=1, help="runs of each case")
    options = parser.parse_args()
    print(
        "| case | simulator, Mb/s | testbed, Mb/s | | queue, KB | queue, KB | | drops | drops | signals | signals "
        "| late p99, ms | max | load | |"
    )
    print("|---" * 15 + "|")
    cases = tcp_cases() if options.what == "tcp" else scheme_cases(options.schemes.split(","))
    try:
        results = [passes(case, options.runs) for case in cases]
    except TestbedError as fault:
        print(fault, file=sys.stderr)
        return 1
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
