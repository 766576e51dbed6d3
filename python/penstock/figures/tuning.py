"""A picture of verdicts: each measure of a proposal over that of what it is compared with, with its interval."""

import math
from collections.abc import Sequence

from penstock.figures.style import QUEUE_COLOURS, REFERENCE, WIDTH, Drawn, sheet, styled
from penstock.metrics.registry import TITLED
from penstock.tuning.verdict import Paired, Verdict

_APART = 0.16


def differences(verdicts: Sequence[Verdict]) -> Drawn:
    """Draw a line for each measure, and on it the proposal over each counterpart; a measure that is 0 has no mark."""
    measures = [pair.measure for pair in verdicts[0].measures]
    with styled():
        figure = sheet(WIDTH, 1.1 + 0.34 * len(measures))
        axes = figure.subplots()
        for number, verdict in enumerate(verdicts):
            known = [(row, pair) for row, pair in enumerate(verdict.measures) if pair.other["mean"]]
            axes.errorbar(
                [1 + pair.difference / _of(pair) for _, pair in known],
                [row + _APART * (number - (len(verdicts) - 1) / 2) for row, _ in known],
                xerr=[_half(pair) / _of(pair) for _, pair in known],
                fmt="os"[number % 2],
                color=QUEUE_COLOURS[number % len(QUEUE_COLOURS)],
                capsize=3,
                label=f"against {verdict.against}",
            )
        axes.axvline(1, color=REFERENCE, linestyle="--", linewidth=1)
        axes.set_yticks(range(len(measures)), [TITLED[measure].title for measure in measures])
        axes.set_ylim(len(measures) - 0.5, -0.5)
        axes.set_xlabel("proposal over the other")
        figure.legend(loc="outside upper right", ncols=2)
    return figure


def _of(pair: Paired) -> float:
    return pair.other["mean"] or 1.0


def _half(pair: Paired) -> float:
    """Return the half of the interval; of one seed there is none."""
    return (pair.high - pair.low) / 2 if math.isfinite(pair.low) else 0.0
