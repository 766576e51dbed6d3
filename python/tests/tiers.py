"""The tier of a test, by rule, and the time that each tier has.

A marker at the test decides where there is one. Otherwise the fixtures that it asks for, the functions that it calls,
and its module decide.
"""

from collections import defaultdict
from collections.abc import Callable
from typing import NoReturn

import pytest

TIERS = ("unit", "runs", "science", "machine")

BUDGET_S = {"unit": 1.0, "runs": 10.0}
"""The time that a test of a tier should not exceed, with its fixtures, s. No test fails for it: machines differ."""

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
    """Name the tests that are over the budget of their tier, the slowest first."""
    took_s: defaultdict[tuple[str, str], float] = defaultdict(float)
    for reports in terminal.stats.values():
        for one in reports:
            if isinstance(one, pytest.TestReport):
                for tier in BUDGET_S.keys() & one.keywords.keys():
                    took_s[tier, one.nodeid] += one.duration
    over = [(seconds, tier, name) for (tier, name), seconds in took_s.items() if seconds > BUDGET_S[tier]]
    if over:
        terminal.section("over budget", sep="!", red=True, bold=True)
    for seconds, tier, name in sorted(over, reverse=True):
        terminal.write_line(f"{seconds:.1f}s of {BUDGET_S[tier]:g}s  {tier}  {name.partition('@')[0]}")
