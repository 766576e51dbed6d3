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

    from penstock.exchange.completions import Completions

Told = Union[Result, "Table", "Completions"]
"""A run, or a table with the columns of its completions, such as that of other people's flow completion times."""

_COLUMNS = ("size_octets", "start_s", "end_s", "slowdown", "retransmissions")


@dataclass(frozen=True)
class Finite:
    """The finite flows that started after the warm-up, of all runs of a line: an entry a flow, NaN where none is known.

    Attributes:
        size_octets: sizes, octets.
        fct_s: flow completion times, s; NaN where the flow had not completed, as in what follows from them.
        slowdown: flow completion times over those on an empty network.
        retransmissions: segments that the transports sent again; NaN where the table does not tell.
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


def has_completions(told: Told) -> bool:
    """Return whether a run tells of a flow that completed."""
    if isinstance(told, Result):
        return any(line["completed"] for line in told.summary_in_brief.get("completions", []))
    return bool(np.isfinite(_column(told, "end_s")).any())


def finite(runs: Sequence[Told]) -> Finite:
    """Return the flows of all runs together."""
    parts = [_of(told) for told in runs]
    size, start, end, slowdown, again = (np.concatenate([part[i] for part in parts]) for i in range(len(_COLUMNS)))
    return Finite(size, end - start, slowdown, again)


def question(runs: Sequence[Told]) -> str:
    """Return the question that a line's runs answer; nothing where they are tables alone."""
    return next((told.question for told in runs if isinstance(told, Result)), "")


def _of(told: Told) -> "list[NDArray[Any]]":
    """Return the columns of a run, without the flows that started in its warm-up."""
    if not isinstance(told, Result):
        return [_column(told, name) for name in _COLUMNS]
    # The result does not keep them: the tables of all runs may not fit into memory together.
    own = told.columns_of("completions", *_COLUMNS)
    columns = [_column(own, name) for name in _COLUMNS]
    measured = columns[_COLUMNS.index("start_s")] >= told.summary_in_brief["warmup_s"]
    return [column[measured] for column in columns]


def _column(table: "Table | Completions", name: str) -> "NDArray[Any]":
    """Return a column as numbers: a missing value becomes NaN."""
    return to_floats(table.combine_chunks().column(name).chunk(0))
