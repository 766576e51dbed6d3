"""Many short runs in one process: values of a scenario's keys as a table, and of each run a row of metrics."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from os import PathLike
from typing import TYPE_CHECKING, Any

from penstock._core import PenstockError
from penstock.data_frames import RUNS, Tables
from penstock.errors import ArgumentError
from penstock.executors.executor import Executor, QuickTake
from penstock.result import ClaimError, Result
from penstock.runs import PERCENTILES, Run, RunCallbacks, copies, seeds_of
from penstock.runs import run_many as run_all
from penstock.scenario import Scenario
from penstock.sweeps.axes import Key, Value, columns, key_of
from penstock.sweeps.design import first_seed
from penstock.sweeps.store import front
from penstock.sweeps.tables import FRONT, schema, table_of

if TYPE_CHECKING:
    from arro3.core import Table

MOST_RUNS = 10_000_000
"""Runs of one call: a row of each is kept in memory, about a kilobyte."""


@dataclass(frozen=True)
class RowRecorder(QuickTake):
    """The row of a run in the table of runs, which the engine's thread takes.

    Attributes:
        queue: the queue by which the run is judged; by default its longest.
    """

    queue: str | None

    @property
    def row(self) -> tuple[Sequence[str], str | None]:
        """The columns of the table, and the queue."""
        return [column.name for column in schema()[RUNS]], self.queue

    def __call__(self, _index: int, result: Result, _loss: ClaimError | None) -> list[Any]:
        """Take it from a result, where another process has run it."""
        names, queue = self.row
        return result._core.row(list(names), queue)


class ManyRuns(Tables):
    """The rows of many runs.

    A row of the table ``runs`` begins with the number of the run, the keys that were set, the scheme and the seed. The
    other columns are those of the same table of a sweep, with the same values.

    Attributes:
        failed: the runs that failed or were refused: number, keys, seed and the reason.
        interrupted: whether the call was ended before all runs had ended.
    """

    def __init__(self, table: "Table", failed: list[dict[str, Any]], interrupted: bool) -> None:
        self._runs = table
        self.failed = failed
        self.interrupted = interrupted

    def table(self, name: str = RUNS) -> "Table":
        """Return the table ``runs`` as Arrow.

        Raises:
            PenstockError: another table is asked for.
        """
        if name != RUNS:
            raise PenstockError(f"no table is called {name!r}; there is {RUNS}, and a sweep keeps the others")
        return self._runs

    def __len__(self) -> int:
        return int(self._runs.num_rows)

    def __repr__(self) -> str:
        return f"<{len(self)} runs, {len(self.failed)} failed>"


def run_many(
    scenario: Scenario | str | PathLike[str],
    settings: Mapping[str, Sequence[Value]] | Sequence[Mapping[str, Value]] | None = None,
    *,
    scheme: str | None = None,
    profile: str | None = None,
    seeds: int | Sequence[int] = 1,
    queue: str | None = None,
    limit: int = 1,
    callbacks: RunCallbacks | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
) -> ManyRuns:
    """Run a scenario with many values of its keys and many seeds, and return a row of numbers for each run.

        >>> found = penstock.run_many("four-sources.toml", {"topology.star.buffer": ["60 KB", "150 KB"]}, seeds=1000)
        >>> found.to_pandas().groupby("buffer_octets")["queue_p99_octets"].mean()

    Threads of the engine take each run from its keys to its row. Nothing is written to the disk; a sweep keeps more of
    each run, and goes on after a kill. Ctrl-C ends the runs that are running; the rows of those that had ended remain.

    Args:
        scenario: the scenario, which is left as it is, or its file or name.
        settings: the keys that are set, each with a list of values, of which every combination runs; or a list of
            mappings with the same keys, one for each run.
        scheme: instead of the scenario's.
        profile: the scheme's named settings.
        seeds: how many runs of each, with as many seeds from the scenario's on; or the seeds.
        queue: the queue by which runs are judged, as ``NODE->NODE``; by default the longest of each run.
        limit: as in :meth:`Scenario.run`.
        callbacks: how to watch and end the runs.
        workers: how many runs at a time; by default one for each core.
        executor: where runs run instead, such as a :class:`penstock.RayExecutor`.

    Raises:
        ArgumentError: the settings are no table, the seeds no seeds, or it comes to more than ten million runs.
        ScenarioError: the scenario's file cannot be read.
    """
    base = Scenario.of(scenario).with_(PERCENTILES)
    keys, points = _table(settings)
    numbers = seeds_of(seeds, first_seed(base) if isinstance(seeds, int) else 0)
    if len(points) * len(numbers) > MOST_RUNS:
        raise ArgumentError(
            f"settings and seeds come to {len(points) * len(numbers)} runs", f"at most {MOST_RUNS} run in one call"
        )
    shared = copies(base)
    runs: list[Run] = []
    for point in points:
        texts = tuple((key.key, _text(value)) for key, value in zip(keys, point, strict=True))
        label = ", ".join(f"{key} = {text}" for key, text in texts)
        runs += [
            Run(f"{label or base.name}, seed {seed}", shared, seed, scheme, profile, None, limit, texts)
            for seed in numbers
        ]
    failed: dict[int, str] = {}
    callbacks = callbacks or RunCallbacks()
    callbacks.planned(len(runs))
    rows = run_all(
        runs,
        RowRecorder(queue),
        callbacks,
        workers=workers,
        executor=executor,
        fail=lambda index, error: failed.update({index: str(error)}),
    )
    at = [
        [index, *(key.number(value) for key, value in zip(keys, points[index // len(numbers)], strict=True))]
        for index in rows
    ]
    chosen = scheme or base.scheme
    for place, index in zip(at, rows, strict=True):
        place += [chosen, runs[index].seed]
    names = columns(keys, [*FRONT, *(column.name for table in schema().values() for column in table)])
    before = [(column, [row[i] for row in at]) for i, column in enumerate(front(keys, names))]
    return ManyRuns(
        table_of(RUNS, before, list(rows.values())),
        [
            {"run": index, **dict(runs[index].settings), "seed": runs[index].seed, "reason": reason}
            for index, reason in sorted(failed.items())
        ],
        len(rows) + len(failed) < len(runs),
    )


def _table(
    settings: Mapping[str, Sequence[Value]] | Sequence[Mapping[str, Value]] | None,
) -> tuple[list[Key], list[tuple[Value, ...]]]:
    """Return the keys of settings, and a value of each for every run.

    Raises:
        ArgumentError: they are neither lists of values nor mappings with the same keys.
    """
    hint = 'write {"topology.star.buffer": ["60 KB", "150 KB"]}, or a list of mappings with the same keys'
    if not settings:
        return [], [()]
    if isinstance(settings, Mapping):
        for key, values in settings.items():
            if isinstance(values, str) or not isinstance(values, Sequence) or not values:
                raise ArgumentError(f"settings: {key}: {values!r} is not a list of values", hint)
        keys = [key_of(key, tuple(values)) for key, values in settings.items()]
        return keys, list(product(*(key.values for key in keys)))
    names = list(settings[0]) if isinstance(settings[0], Mapping) else []
    for number, own in enumerate(settings):
        if not isinstance(own, Mapping) or set(own) != set(names) or not own:
            raise ArgumentError(f"settings: entry {number} ({own!r}) has not the keys of the first one", hint)
    return (
        [key_of(name, tuple(own[name] for own in settings)) for name in names],
        [tuple(own[name] for name in names) for own in settings],
    )


def _text(value: Value) -> str:
    """Return a value as a scenario's key takes it."""
    return value if isinstance(value, str) else json.dumps(value)
