"""The watchdog on the deadlocks of `scenarios/deadlock`, with the numbers that the scenarios' comments have."""

from pathlib import Path

import pytest

from penstock import Scenario

SCENARIOS = Path(__file__).resolve().parent.parent.parent / "scenarios/deadlock"
ONCE = {"pfc.watchdog.after": "1 ms"}
AGAIN = {**ONCE, "pfc.watchdog.restoration": "500 us"}


@pytest.mark.parametrize(
    ("name", "settings", "delivered", "deadlocks"),
    [
        ("ring", {}, 168, 1),
        ("ring", ONCE, 168, 1),
        ("ring", AGAIN, 1008, 6),
        ("leaf-spine", {}, 78, 1),
        ("leaf-spine", ONCE, 148, 1),
        ("leaf-spine", AGAIN, 534, 7),
    ],
)
def test_a_watchdog_ends_a_deadlock_again_and_again_if_it_lasts_for_less_than_the_run(
    name: str, settings: dict[str, str], delivered: int, deadlocks: int
) -> None:
    scenario = Scenario.load(SCENARIOS / f"{name}.toml")
    for key, value in settings.items():
        scenario.set(key, value)
    summary = scenario.run().summary
    assert summary["totals"]["frames_delivered"] == delivered
    assert len(summary["deadlocks"]) == deadlocks
    assert (summary["totals"]["frames_dropped"] > 0) is bool(settings)
