"""The result of a run: numbers, Arrow tables, figures."""

import gc
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, cast

from penstock import _core
from penstock.columns import codes, rows_of, to_floats, to_numpy
from penstock.data_frames import RUNS, Tables
from penstock.quantity_text import count, duration
from penstock.summary import Summary

if TYPE_CHECKING:
    from arro3.core import Table
    from numpy.typing import NDArray

    from penstock.plots import ResultPlots


# The claims that a scenario can make of its runs.
CLAIMS: tuple[Literal["lossless"], Literal["acted"]] = ("lossless", "acted")


class ClaimError(_core.PenstockError):
    """A run has broken a claim of its scenario (``lossless = true``, ``require_action = true``).

    Attributes:
        result: the records of the run, all of them.
        message: the run's own figures against the claim.
        hint: the remedy.
    """

    def __init__(self, result: "Result", message: str, hint: str) -> None:
        self.result = result
        self.message = message
        self.hint = hint
        super().__init__(f"{message}; {hint}")


@dataclass(frozen=True)
class Claim:
    """A claim that a scenario makes of its runs, and whether this run has kept it.

    Attributes:
        name: ``lossless`` or ``acted``, as in the summary.
        holds: whether the run has kept it.
        message: the run's figures against the claim; empty where it holds.
        hint: the remedy; empty where it holds.
    """

    name: Literal["lossless", "acted"]
    holds: bool
    message: str = ""
    hint: str = ""


class FrameLossError(ClaimError):
    """A run that claims to be lossless (``lossless = true`` in its scenario) has lost data frames.

    The message says how many were lost, and where first.
    """

    def __init__(self, result: "Result") -> None:
        super().__init__(
            result,
            _loss_text(result),
            "more room above XOFF or an earlier XOFF ([pfc] headroom, xoff), priority flow control on every port "
            "that frames cross, or no claim (lossless = false)",
        )


class IdleSchemeError(ClaimError):
    """A run claims that its scheme acts (``require_action = true`` in its scenario), and the scheme had no effect.

    The message has the count of each of the scheme's actions.
    """

    def __init__(self, result: "Result") -> None:
        summary = result.summary_without_flows
        super().__init__(
            result,
            f"claims that its scheme acts, and {summary['scheme']} had no effect: {action_counts(summary)}",
            "more traffic than a link carries, thresholds that the queue reaches, congestion points at the port that "
            "is full ([network] congestion_points), or no claim (require_action = false)",
        )


class Result(Tables):
    """The records of a run.

    The tables are Arrow tables that pandas, polars, pyarrow and NumPy read without a copy:

        >>> result.column("queues", "queue_octets")  # NumPy, a view of the table's memory
        >>> result.to_pandas("queues")  # a row a sample; without a name, a row with the numbers of the run
        >>> result.to_polars("queues")
        >>> pyarrow.table(result.queues)

    Made by :meth:`Scenario.run` and :meth:`open`.
    """

    def __init__(self, core: _core.Result) -> None:
        self._core = core
        self._tables: dict[str, Table] = {}

    @classmethod
    def open(cls, folder: str | PathLike[str], *, run: str | None = None) -> Self:
        """Read the results folder of an earlier run.

        In the folder of a comparison, ``run`` names one of its runs, such as ``qcn-seed1``; :meth:`Comparison.open`
        reads them all.

        Raises:
            OutputError: the folder is not there, or holds no results; or it is that of a comparison, which has several
                runs or none of this name. The message names them.
        """
        from penstock.comparison import Comparison, is_comparison, run_folders
        from penstock.errors import unread

        if is_comparison(folder):
            runs = [name for line in Comparison.open(folder).document["schemes"] for name in run_folders(line)]
            if run is None and len(runs) == 1:
                (run,) = runs
            if run not in runs:
                what = "one of its runs is to be named with run=" if run is None else f"it has no run {run!r}"
                raise unread(
                    f"{folder} is the folder of a comparison; {what}: {', '.join(runs)}. Comparison.open reads them all"
                )
            return cls(_core.Result.open(Path(folder) / run))
        return cls(_core.Result.open(folder if run is None else Path(folder) / run))

    @cached_property
    def summary(self) -> Summary:
        """The result in numbers: the object of ``summary.json``."""
        return cast(Summary, _parsed(self._core.summary_json()))

    @cached_property
    def summary_without_flows(self) -> Summary:
        """The summary with an empty list of flows, quick to read where these are many; :attr:`flows` has columns."""
        return cast(Summary, _parsed(self._core.summary_json(flows=False)))

    @cached_property
    def summary_in_brief(self) -> Summary:
        """The summary with empty lists of queues, flows and hosts, and no windows: quick to read for any network."""
        return cast(Summary, _parsed(self._core.brief_json()))

    @cached_property
    def queues_shown(self) -> "dict[str, NDArray[Any]]":
        """The queues of the summary as columns: those of its keys by which they are chosen and shown.

        A set point that a queue does not have is not a number.
        """
        table = self._core.queues_shown().combine_chunks()
        columns = {key: table.column(key).chunk(0) for key in table.column_names}
        return {key: (to_floats if key == "set_point_octets" else to_numpy)(of) for key, of in columns.items()}

    @property
    def summary_json(self) -> str:
        """The text of ``summary.json``."""
        return self._core.summary_json()

    @property
    def scenario_toml(self) -> str:
        """The scenario that ran, every default written out."""
        return self._core.scenario_toml

    @property
    def question(self) -> str:
        """The question that the scenario answers."""
        return self.summary_in_brief["question"]

    @property
    def notes(self) -> list[str]:
        """Remarks on the scenario, in sentences: those that ``penstock run`` prints."""
        return self.summary_in_brief.get("notes", [])

    @property
    def finished_at_s(self) -> float | None:
        """When the last flow with a size was complete, s; None where there is no such flow, or one was not complete."""
        return self.summary_in_brief.get("finished_at_s")

    @property
    def threads(self) -> tuple[int, str] | None:
        """How many threads ran it, and why (empty where one was asked for); None for the run of a results folder."""
        return self._core.threads

    @property
    def python_share(self) -> float | None:
        """The share of its time that the run spent in Python, from 0 to 1.

        None where no scheme is a class in Python, and for the run of a results folder.
        """
        return self._core.python_share

    @property
    def interrupted(self) -> bool:
        """Whether the run was ended early."""
        return self._core.interrupted

    @property
    def interrupted_at_s(self) -> float | None:
        """Simulated time at which the run was ended early, s."""
        return self._core.interrupted_at_s

    @property
    def end_s(self) -> float:
        """Simulated time that the run reached, s: its duration, unless it was over, or was ended, before."""
        return self._core.end_s

    @property
    def path(self) -> Path | None:
        """The results folder; ``None`` for a result in memory."""
        return self._core.path

    @property
    def tables(self) -> list[str]:
        """Names of the tables that were recorded."""
        return self._core.tables

    @property
    def queues(self) -> "Table":
        """Samples of queues: length, utilisation, drops, variables of the congestion points (``cp_…``)."""
        return self._table("queues")

    @property
    def rates(self) -> "Table":
        """Samples of flows: allowed rate, throughput, fair rate, variables of the reaction points (``rp_…``).

        Of many flows some have samples, as many as ``record.most_flows`` says.
        """
        return self._table("rates")

    @property
    def signals(self) -> "Table":
        """Every signal that reached a source."""
        return self._table("signals")

    @property
    def flows(self) -> "Table":
        """One row a flow: the flows of the summary, and their proportionally fair rate."""
        return self._table("flows")

    @property
    def completions(self) -> "Table":
        """One row a finite flow with its completion and slowdown; where some flow has a size."""
        return self._table("completions")

    @property
    def jobs(self) -> "Table":
        """One row for each piece of work that a rank of a job has ended, with its times, where there are jobs."""
        return self._table("jobs")

    @property
    def paths(self) -> "Table":
        """One row for each piece of the slowest path of a job that has ended, with what took its time."""
        return self._table("paths")

    @property
    def links(self) -> "Table":
        """One row for each time in which messages of a job used a link, where there are jobs."""
        return self._table("links")

    @property
    def arrivals(self) -> "Table":
        """Every arrival of a data frame at a queue, where the scenario sets ``record.arrivals``."""
        return self._table("arrivals")

    def column(self, table: str, column: str) -> "NDArray[Any]":
        """Return a column as a NumPy array.

        A column of numbers is a read-only view of the table's memory, not a copy; text becomes an array of ``str``
        (``None`` where there is no value).

        Raises:
            PenstockError: the table was not recorded, or has no such column.
        """
        data = self._table(table)
        if column not in data.column_names:
            raise _core.PenstockError(
                f"table {table!r} has no column {column!r}; its columns are {', '.join(data.column_names)}"
            )
        return to_numpy(data.column(column).chunk(0))

    def rows_of(self, table: str, names: Sequence[str], *columns: str) -> "dict[str, dict[str, NDArray[Any]]]":
        """Return some columns of a table for some of its queues or flows: the arrays by the name, then by the column.

        Only these rows come into memory. A name without rows has none.

            >>> result.rows_of("queues", ["sw0->h2"], "time_s", "queue_octets")["sw0->h2"]["queue_octets"]

        Raises:
            PenstockError: the table was not recorded.
        """
        self._check_recorded(table)
        part = self._core.rows_of(table, list(columns), list(names)).combine_chunks()
        if not part.num_rows:
            return {}
        arrays = {column: to_numpy(part.column(column).chunk(0)) for column in columns}
        by_name = "flow" if table == "rates" else "queue"
        places = rows_of(part.column(by_name).chunk(0))
        return {name: {column: array[rows] for column, array in arrays.items()} for name, rows in places.items()}

    def columns_of(self, table: str, *columns: str) -> "Table":
        """Return some columns of a table, which are read again and not kept: the others do not come into memory.

        Raises:
            PenstockError: the table was not recorded.
        """
        self._check_recorded(table)
        # One chunk, as all tables have.
        return self._core.rows_of(table, list(columns), None).combine_chunks()

    def table(self, name: str = RUNS) -> "Table":
        """Return a table as Arrow: ``runs``, a row with the run's numbers, or one of :attr:`tables`, a row a sample.

            >>> result.to_pandas()[["queue_mean_octets", "queue_p99_octets", "throughput_bps"]]

        Raises:
            PenstockError: the table was not recorded.
        """
        if name != RUNS:
            return self._table(name)
        from penstock.sweeps.tables import record, table_of_runs

        summary = self.summary_in_brief
        front = {key: summary[key] for key in ("scenario", "scheme", "seed")}
        return table_of_runs(RUNS, [(front, record(self, None))])

    @property
    def claims(self) -> list[Claim]:
        """The claims that the scenario makes (``lossless``, ``acted``), each with whether the run has kept it."""
        held = [Claim(name, True) for name in CLAIMS if getattr(self._core, name)]
        return held + [Claim(name, False, error.message, error.hint) for name, error in self._broken_claims()]

    def raise_for_claims(self) -> None:
        """Do nothing, unless the run has broken a claim of its scenario.

        Raises:
            FrameLossError: frames were lost, and the scenario claims that none is (``lossless``).
            IdleSchemeError: the scheme had no effect, and the scenario claims that it acts (``acted``).
        """
        error = self.broken_claim()
        if error is not None:
            raise error

    def broken_claim(self) -> "ClaimError | None":
        """Return the error of the first claim that the run has broken; None where it has kept all."""
        return next((error for _, error in self._broken_claims()), None)

    def _broken_claims(self) -> "Iterator[tuple[Literal['lossless', 'acted'], ClaimError]]":
        # Not by the summary, which has a row a flow: most runs are asked for nothing else.
        if self._core.lossless is False:
            yield "lossless", FrameLossError(self)
        if self._core.acted is False:
            yield "acted", IdleSchemeError(self)

    def fingerprint(self) -> str:
        """Return a hash of all columns and of the summary without its ``run`` object: the same for the same results.

        Raises:
            OutputError: a table's file cannot be read.
        """
        return self._core.fingerprint()

    @property
    def plot(self) -> "ResultPlots":
        """The figures: ``plot("overview.png")``, or a panel in axes of yours; see :class:`penstock.plots.ResultPlots`.

        >>> figure, (left, right) = pyplot.subplots(1, 2)
        >>> one.plot.queue(ax=left)
        >>> other.plot.queue(ax=right)
        """
        from penstock.plots import ResultPlots

        return ResultPlots(self)

    def _table(self, name: str) -> "Table":
        if name not in self._tables:
            self._check_recorded(name)
            # One chunk, so that each column is one piece of memory for NumPy to look at.
            self._tables[name] = self._core.table(name).combine_chunks()
        return self._tables[name]

    def _check_recorded(self, name: str) -> None:
        if name not in self._core.tables:
            named = f"; the tables are {', '.join(self._core.tables)}"
            hint = "; set record.arrivals = true in the scenario" if name == "arrivals" else named
            raise _core.PenstockError(f"no recorded table is called {name!r}{hint}")

    def _repr_html_(self) -> str:
        from penstock.display import result_html

        return result_html(self)

    def __repr__(self) -> str:
        summary = self.summary_in_brief
        return f"<Result of {summary['scenario']!r} with {summary['scheme']!r}, seed {summary['seed']}>"


def action_counts(summary: Summary) -> str:
    """Return the actions of a run's scheme with their counts: ``marks 12, cuts 3``."""
    actions = cast("dict[str, int]", summary.get("actions", {}))
    return ", ".join(f"{name.replace('_', ' ')} {count(times)}" for name, times in actions.items())


# How many queues the message of a loss names.
_LOSSES_NAMED = 3


def _loss_text(result: Result) -> str:
    """Say how many data frames a run has lost, and where first."""
    totals = result.summary["totals"]
    dropped, on_links = totals["frames_dropped"], totals["frames_lost_on_link"]
    impaired = totals.get("frames_impaired", 0)
    lost = dropped + on_links or impaired
    text = f"claims to be lossless and lost {count(lost)} of {count(totals['frames_sent'])} data frames"
    if dropped:
        first_s = _first_drops_s(result)
        earliest = sorted(first_s, key=lambda name: first_s[name])
        named = [f"{name} (by {duration(first_s[name])})" for name in earliest[:_LOSSES_NAMED]]
        others = f" and {len(earliest) - len(named)} more" if len(earliest) > len(named) else ""
        where = (
            f", first at {', '.join(named)}{others}" if named else ", at queues that are not recorded (record.queues)"
        )
        text += f": {count(dropped)} dropped{where}"
    if on_links:
        text += f"{';' if dropped else ':'} {count(on_links)} lost on links that went down"
    if impaired:
        text += f"{';' if dropped or on_links else ':'} {count(impaired)} lost at random on links ([[impairment]])"
    return text


def _first_drops_s(result: Result) -> dict[str, float]:
    """Return for each recorded queue that dropped frames the time of the first sample that shows it, s."""
    numbers, words = codes(result.queues.column("queue").chunk(0))
    time_s, priority, dropped = (result.column("queues", name) for name in ("time_s", "priority", "frames_dropped"))
    several_priorities = len({queue["priority"] for queue in result.summary["queues"]}) > 1
    first_s: dict[str, float] = {}
    # Rows are in the order of time.
    for row in dropped.nonzero()[0]:
        name = words[numbers[row]]
        first_s.setdefault(f"{name} priority {priority[row]}" if several_priorities else name, float(time_s[row]))
    return first_s


def _parsed(text: str) -> Any:
    """Return the object of a JSON text. Cycles are not collected meanwhile: JSON has none."""
    collects = gc.isenabled()
    gc.disable()
    try:
        return json.loads(text)
    finally:
        if collects:
            gc.enable()
