"""The tier of a test, by rule, and the time that each tier has.

A marker at the test decides where there is one. Otherwise the fixtures that it asks for, the functions that it calls,
and its module decide.
"""

from collections import defaultdict
from collections.abc import Callable
from math import inf
from typing import NoReturn

import pytest

TIERS = ("unit", "runs", "science", "machine")

BUDGET_S = {"unit": 1.0, "runs": 10.0}
"""The time that a test of a tier should not exceed, with its fixtures, s. No test fails for it: machines differ."""

ALL_S = 840
"""The time that all tests of those tiers have together: 7 minutes of two cores, s."""

SLOWEST = 30
"""How many of the slowest tests are printed, whether over budget or not."""

LEAST_S = 0.2
"""A test that takes less is not printed, s."""

UNIT = frozenset(
    {
        "test_docs",
        "test_exchange_hpcc",
        "test_exchange_htsim",
        "test_exchange_triggers",
        "test_atomic_files",
        "test_lab_tables",
        "test_paper_bottleneck",
        "test_paper_multicast",
        "test_paper_netfpga",
        "test_paper_sliding_mode",
        "test_paper_todays_schemes",
        "test_paper_training",
        "test_peer_files",
        "test_quantity",
        "test_recipes",
        "test_reproduce_grid",
        "test_reproduce_verdict",
        "test_quantity_text",
        "test_theory_configuration",
        "test_theory_derivation",
        "test_theory_linear",
        "test_theory_sampling",
        "test_wire",
        "test_wire_scapy",
        "test_workloads",
    }
)
"""Modules whose tests neither run the engine nor start a process, but for those that ask for a fixture of RUNNING."""

RUNNING = frozenset({"commands", "penstock", "result"})
"""Fixtures that run the engine or start processes."""

MACHINE = frozenset({"test_executors", "test_lab", "test_resource_limits", "test_signals", "test_testbed_security"})
"""Modules whose tests look at several processes, at signals, or at the clock."""


def tier_of(item: pytest.Item) -> str:
    """Return the tier of a test that has no marker of one."""
    fixtures = frozenset(getattr(item, "fixturenames", ()))
    called = frozenset(item.function.__code__.co_names if isinstance(item, pytest.Function) else ())
    if "namespaces" in fixtures or "interrupt" in called or item.path.stem in MACHINE:
        return "machine"
    return "unit" if item.path.stem in UNIT and not fixtures & RUNNING else "runs"


def refused(does: str) -> Callable[..., NoReturn]:
    """Return the function that a unit test calls instead of what it may not."""

    def refuse(*_: object, **__: object) -> NoReturn:
        pytest.fail(f"a unit test {does}: mark it with @pytest.mark.runs, or take its module out of UNIT in tiers.py")

    return refuse


def report(terminal: pytest.TerminalReporter) -> None:
    """Print the slowest tests beside the budget of their tier, then each other that exceeds it, and the sum of all."""
    took_s: defaultdict[tuple[str, str], float] = defaultdict(float)
    for reports in terminal.stats.values():
        for one in reports:
            if isinstance(one, pytest.TestReport):
                for tier in one.keywords.keys() & set(TIERS):
                    took_s[one.nodeid.partition("@")[0], tier] += one.duration
    ranked = sorted(took_s.items(), key=lambda entry: -entry[1])
    shown = [
        (name, tier, seconds)
        for place, ((name, tier), seconds) in enumerate(ranked)
        if seconds > BUDGET_S.get(tier, inf) or (place < SLOWEST and seconds >= LEAST_S)
    ]
    if shown:
        terminal.section(f"the {SLOWEST} slowest tests, and all over budget", sep="-")
    for name, tier, seconds in shown:
        budget_s = BUDGET_S.get(tier)
        budget = "no budget" if budget_s is None else f"of {budget_s:g} s"
        over = budget_s is not None and seconds > budget_s
        terminal.write_line(f"{seconds:6.1f} s {budget:9}  {tier:7}  {name}{'  OVER BUDGET' if over else ''}", red=over)
    sum_s = sum(seconds for (_, tier), seconds in took_s.items() if tier in BUDGET_S)
    if shown and sum_s:
        terminal.write_line(f"{sum_s:6.0f} s of {ALL_S:g} s  {' and '.join(BUDGET_S)} together", red=sum_s > ALL_S)
