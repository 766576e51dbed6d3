"""Tunes the scenario with long delay and many flows for each goal that a fluid predicts, as `penstock tune` does.

    python tools/check_tuning.py

Traffic that nothing controls needs an answer harder than that of a stable loop: there is no guard on the phase margin.
It fails unless each proposal beats the standard's parameters on seeds that the search never saw, and keeps its guards.
"""

import sys
from pathlib import Path

from penstock import Scenario
from penstock.tuning import tune
from penstock.tuning.goals import GOALS

SCENARIO = Path(__file__).resolve().parent.parent / "scenarios/tuning/long-delay.toml"


def main() -> int:
    """Tunes for each goal, says what came of it, and returns how many proposals do not beat the standard."""
    failed = 0
    for goal in (name for name, each in GOALS.items() if each.predicted):
        answer = tune(Scenario.load(SCENARIO), goal, phase_margin=None)
        for verdict in answer.verdicts:
            (found,) = (pair for pair in verdict.measures if pair.measure == answer.goal.measure)
            beats = "beats" if verdict.beats else "does not beat"
            print(
                f"{goal}: the proposal {beats} {verdict.against}: {found.measure} {found.proposal['mean']:.6g} "
                f"instead of {found.other['mean']:.6g}, difference {found.low:.6g} to {found.high:.6g}"
            )
        if not answer.verdicts:
            print(f"{goal}: none of {answer.trials} points is better than the scenario's own parameters")
        failed += not answer.gain_shown
    return failed


if __name__ == "__main__":
    sys.exit(main())
