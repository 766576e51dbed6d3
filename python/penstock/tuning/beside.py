"""Runs of the scenario's own parameters and of the candidate with one seed, for pictures over time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.runs import PERCENTILES
from penstock.what_ifs.measuring import FigureTable, figure_tables, numbers

if TYPE_CHECKING:
    from penstock.tuning.tuning import Tuning


@dataclass(frozen=True)
class Beside:
    """Both settings over time.

    Attributes:
        seed: the seed of both runs.
        tables: the queue, and the queues that flow control has stopped; a line for each side.
        percentiles: p50 and p99 of the queue of each side, octets.
    """

    seed: int
    tables: Sequence[FigureTable]
    percentiles: dict[str, tuple[float, float]]


def beside(answer: "Tuning") -> Beside | None:
    """Run both settings with the first seed of the verdict; ``None`` without a candidate.

    Raises:
        ScenarioError: a value is not legal.
    """
    if not answer.changed:
        return None
    seed = answer.verdict_seeds[0]
    sides = {"scenario's own": answer.own, "proposal" if answer.worth_writing else "candidate": answer.scenario}
    runs = {name: numbers(scenario.with_(PERCENTILES).run(seed=seed), answer.queue) for name, scenario in sides.items()}
    percentiles = {
        name: (float(run.values["queue_p50_octets"] or 0), float(run.values["queue_p99_octets"] or 0))
        for name, run in runs.items()
    }
    return Beside(seed, figure_tables(answer.queue, runs), percentiles)
