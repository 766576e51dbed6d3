"""Finite flows of runs as columns: their sizes, their times, the octets that their transport sent again."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from penstock.columns import to_floats
from penstock.result import Result

if TYPE_CHECKING:
    from arro3.core import Table
    from numpy.typing import NDArray

    from penstock.exchange.hpcc_completions import Completions

FlowData = Union[Result, "Table", "Completions"]
"""A run, or a table with the columns of its completions, such as that of other people's flow completion times."""

_COLUMNS = ("size_octets", "start_s", "end_s", "slowdown", "retransmissions")


@dataclass(frozen=True)
class CompletedFlows:
    """The finite flows that started after the warm-up, of all runs of a line: an entry a flow, NaN where none is known.

    Attributes:
        size_octets: sizes, octets.
        fct_s: flow completion times, s; NaN where the flow had not completed, as in what follows from them.
        slowdown: flow completion times over those on an empty network.
        retransmissions: segments that the transports sent again; NaN where the table lacks them.
    """

    size_octets: "NDArray[Any]"
    fct_s: "NDArray[Any]"
    slowdown: "NDArray[Any]"
    retransmissions: "NDArray[Any]"

    @property
    def left(self) -> int:
        """How many had not completed."""
        return int(np.isnan(self.fct_s).sum())

    @property
    def goodput_bps(self) -> "NDArray[Any]":
        """Sizes over flow completion times, bit/s."""
        goodput: NDArray[Any] = 8 * self.size_octets / self.fct_s
        return goodput


def has_completions(run: FlowData) -> bool:
    """Return whether a run has a flow that completed."""
    if isinstance(run, Result):
        return any(line["completed"] for line in run.summary_in_brief.get("completions", []))
    return bool(np.isfinite(_column(run, "end_s")).any())


def completed_flows(runs: Sequence[FlowData]) -> CompletedFlows:
    """Return the flows of all runs together."""
    parts = [_of(run) for run in runs]
    size, start, end, slowdown, again = (np.concatenate([part[i] for part in parts]) for i in range(len(_COLUMNS)))
    return CompletedFlows(size, end - start, slowdown, again)


def question(runs: Sequence[FlowData]) -> str:
    """Return the question that a line's runs answer; nothing where they are tables alone."""
    return next((run.question for run in runs if isinstance(run, Result)), "")


def _of(run: FlowData) -> "list[NDArray[Any]]":
    """Return the columns of a run, without the flows that started in its warm-up."""
    if not isinstance(run, Result):
        return [_column(run, name) for name in _COLUMNS]
    # The result does not keep them: the tables of all runs may not fit into memory together.
    own = run.columns_of("completions", *_COLUMNS)
    columns = [_column(own, name) for name in _COLUMNS]
    measured = columns[_COLUMNS.index("start_s")] >= run.summary_in_brief["warmup_s"]
    return [column[measured] for column in columns]


def _column(table: "Table | Completions", name: str) -> "NDArray[Any]":
    """Return a column as numbers: a missing value becomes NaN."""
    return to_floats(table.combine_chunks().column(name).chunk(0))
