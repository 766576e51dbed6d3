"""A sweep: run by :func:`sweep`, read from its folder by :class:`Sweep`."""

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock import _core
from penstock.columns import to_numpy
from penstock.data_frames import RUNS, MissingExtraError, Tables, xarray_dataset
from penstock.errors import ArgumentError, nearest, unread
from penstock.executors.executor import Executor, QuickTake
from penstock.result import ClaimError, Result
from penstock.runs import Run, RunCallbacks, run_many
from penstock.scenario import Scenario
from penstock.scheme_class import Scheme
from penstock.sweeps.design import Case, Design, cases_of_all, design, read
from penstock.sweeps.journal import JournalFiles
from penstock.sweeps.store import JOURNAL, MANIFEST, SERIES, Store, file_name, parts_of
from penstock.sweeps.tables import Record, read_table, record, schema
from penstock.sweeps.view import METRIC, PAIR, view
from penstock.variants import Variant

if TYPE_CHECKING:
    import xarray
    from arro3.core import Table
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

_NO_SERIES = ("flows",)
"""Tables of a result that are no series: the summary has them."""


class Sweep(Tables):
    """The store of a sweep.

        >>> sweep = penstock.Sweep("results/four-sources-sweep")
        >>> sweep.table()  # one row a run, as Arrow
        >>> sweep.query("select scheme, avg(queue_mean_octets) from runs group by scheme")

    A row of each table begins with the run's number, the varied keys (:attr:`columns`), the scheme and the seed. A
    store that is not finished, as that of a sweep which goes on or was killed, has the runs that had finished when it
    was first looked at.

    Args:
        folder: the folder.

    Raises:
        OutputError: it is not there, or holds no sweep.
    """

    def __init__(self, folder: str | PathLike[str]) -> None:
        self._path = Path(folder)
        self._tables: dict[str, Table] = {}
        if not (self._path / MANIFEST).is_file():
            raise unread(f"{self._path} holds no sweep: there is no {MANIFEST} in it")
        try:
            self._document: dict[str, Any] = json.loads((self._path / MANIFEST).read_text(encoding="utf-8"))
            self._document["finished"], self._document["failed"], self._document["runs"]
            [(key["key"], key["column"], key["unit"], key["values"]) for axis in self._document["vary"] for key in axis]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise unread(f"{self._path}: {MANIFEST} is damaged, or not one of `penstock sweep`: {error}") from error

    @property
    def path(self) -> Path:
        """The folder."""
        return self._path

    @property
    def document(self) -> dict[str, Any]:
        """The manifest: the object of ``sweep.json``."""
        return self._document

    @property
    def finished(self) -> bool:
        """Whether every run is there that can run."""
        return bool(self._document["finished"])

    @property
    def failed(self) -> list[dict[str, Any]]:
        """The runs that failed: number, keys, scheme, seed, the reason, and whether the scenario was refused for it."""
        return list(self._document["failed"])

    @property
    def columns(self) -> dict[str, str]:
        """The varied keys, each with the name of its column."""
        return {key["key"]: key["column"] for axis in self._document["vary"] for key in axis}

    @property
    def tables(self) -> list[str]:
        """Names of the tables that have rows: ``runs``, ``queues``, ``flows`` and all else that a summary lists."""
        return [name for name in schema() if self.files(name)]

    @property
    def series(self) -> list[str]:
        """Names of the time series that are kept."""
        return sorted(folder.name for folder in (self._path / SERIES).glob("*") if any(folder.glob("*.parquet")))

    def files(self, name: str) -> list[Path]:
        """Return the files of a table, in the order of the runs."""
        parts = {number: self._path / name / file_name(number) for number in parts_of(self._path)}
        if self._late is not None:
            parts |= {number: self._late.file(name, number) for number in self._late.parts}
        return [path for _, path in sorted(parts.items()) if path.is_file()]

    @cached_property
    def _late(self) -> JournalFiles | None:
        """The runs that have finished and whose tables are not written; read once, as they are now."""
        if self.finished or not (self._path / JOURNAL).is_file():
            return None
        return JournalFiles(self._path, self._document)

    def table(self, name: str = RUNS) -> "Table":
        """Return a table (:attr:`tables` has their names) as Arrow.

        Raises:
            PenstockError: there is none of that name.
            OutputError: a file cannot be read.
        """
        from arro3.core import Table

        if name not in self._tables:
            if name not in self.tables:
                raise _core.PenstockError(f"no table is called {name!r}; {self._there()}")
            try:
                parts = [batch for path in self.files(name) for batch in read_table(path).to_batches()]
            except Exception as error:
                raise unread(f"{self._path}: table {name} cannot be read: {error}") from error
            self._tables[name] = Table.from_batches(parts).combine_chunks()
        return self._tables[name]

    @cached_property
    def repeated(self) -> dict[tuple[Any, ...], bool]:
        """The combinations of values and scheme that ran with several seeds, and whether these gave the same run.

        Where they did, nothing in the combination is drawn, and a deviation over its seeds says nothing.
        """
        if RUNS not in self.tables:
            return {}
        runs = self.table()
        own = [*self.columns.values(), "scheme"]
        settings = [name for name in runs.column_names if name not in (*own, "run", "seed", "hash")]
        rows = zip(*(runs.column(name).to_pylist() for name in (*own, *settings)), strict=True)
        found: dict[tuple[Any, ...], list[str]] = {}
        for row in rows:
            found.setdefault(row[: len(own)], []).append(repr(row[len(own) :]))
        return {where: len(set(each)) == 1 for where, each in found.items() if len(each) > 1}

    def column(self, column: str, table: str = RUNS) -> "NDArray[Any]":
        """Return a column of a table as a NumPy array.

        Raises:
            PenstockError: there is no such table or column.
        """
        data = self.table(table)
        if column not in data.column_names:
            hint = nearest(column, data.column_names, f"its columns are {', '.join(data.column_names)}")
            raise ArgumentError(f"table {table} has no column {column}", hint)
        return to_numpy(data.column(column).chunk(0))

    def query(self, sql: str) -> "Table":
        """Return DuckDB's result of a query on the tables and on the series, which are called ``series_queues``.

        Raises:
            ArgumentError: DuckDB rejects the query, or it is not a SELECT statement.
            MissingExtraError: DuckDB is not installed: ``pip install 'penstock[sweep]'``.
        """
        from arro3.core import Table

        try:
            import duckdb
        except ModuleNotFoundError as error:
            raise MissingExtraError("duckdb", "sweep") from error
        database = duckdb.connect()
        try:
            for name in self.tables:
                database.execute(f"create view {name} as select * from read_parquet({_listed(self.files(name))})")
            for name in self.series:
                every = _listed([self._path / SERIES / name / "*.parquet"])
                front = ", ".join(f'runs."{column}"' for column in ("run", *self.columns.values(), "scheme", "seed"))
                database.execute(
                    f"create view series_{name} as select {front}, own.* exclude (filename) "
                    f"from read_parquet({every}, filename = true) as own "
                    "join runs on runs.hash = parse_filename(own.filename, true)"
                )
            answer = database.sql(sql)
            if answer is None:
                raise ArgumentError("not a SELECT statement", "begin with select")
            return Table.from_arrow(answer)
        except duckdb.Error as error:
            raise ArgumentError(str(error).partition("\n\n")[0].strip(), self._there()) from error
        finally:
            database.close()

    def to_xarray(self) -> "xarray.Dataset":
        """Return the table ``runs`` as a dataset of xarray: a dimension for each varied key, the scheme and the seed.

        Keys that change together have one dimension, the first whose values all differ. A run that is not there is not
        a number.

            >>> sweep.to_xarray()["queue_mean_octets"].mean("seed").sel(scheme="qcn")

        Raises:
            MissingExtraError: xarray, pandas or pyarrow is not installed: ``pip install 'penstock[xarray]'``.
        """
        frame = self.to_pandas().drop(columns=["run", "hash"])
        levels: list[str] = []
        for axis in self._document["vary"]:
            own = [key["column"] for key in axis]
            levels += next(([name] for name in own if len(frame[own].drop_duplicates()) == frame[name].nunique()), own)
        return xarray_dataset(frame.set_index([*levels, "scheme", "seed"]))

    def plot(
        self,
        path: str | PathLike[str] | None = None,
        *,
        show: str = "lines",
        metric: str | Sequence[str] | None = None,
        x: str | None = None,
        y: str | None = None,
        panel: str | None = None,
        where: Mapping[str, Any] | None = None,
        width: float | None = None,
        font_size: float | None = None,
        title: bool = True,
    ) -> "Figure":
        """Draw a metric against a key (``lines``), over two (``map``), or two metrics against one another (``pareto``).

            >>> sweep.plot("buffers.pdf", metric="queue_p99_octets", x="buffer", y="w", width=3.3, font_size=8)
            >>> sweep.plot(show="pareto", metric=["queue_mean_octets", "throughput_bps"])

        Lines are means over seeds, with a band from the least to the most; schemes are lines in ``lines``, panels in
        ``map`` and colours in ``pareto``. Where an axis is not given, the keys take ``x``, ``y`` and ``panel`` in their
        order.

        Args:
            path: the file that is also written; its suffix (``.png``, ``.svg``, ``.pdf``) says how.
            show: the figure.
            metric: a number of the table ``runs``, or two for a Pareto front; ``+`` before a name says that more is
                better, ``-`` that less is. By default the mean queue, and with it the throughput.
            x: the key along the x axis.
            y: the key along the y axis of a map, or that makes lines.
            panel: the key that makes panels, or ``scheme``.
            where: values of keys that all that is shown has.
            width: as in :meth:`Result.plot`.
            font_size: as in :meth:`Result.plot`.
            title: as in :meth:`Result.plot`.

        Raises:
            ArgumentError: there is no such figure, metric, key or value; a key has no axis; no run has the metric.
            PenstockError: a size is out of its range.
            OSError: the file cannot be written.
        """
        from penstock.figures import Page, on, save
        from penstock.figures.sweeps import sweep_figure

        metric = metric or (PAIR if show == "pareto" else METRIC)
        names = [part.strip() for part in metric.split(",")] if isinstance(metric, str) else list(metric)
        shown = view(self, show, names, x=x, y=y, panel=panel, where=where)
        with on(Page(width, font_size, title)):
            figure = sweep_figure(shown)
            if path is not None:
                save(figure, Path(path))
        return figure

    def _there(self) -> str:
        names = [*self.tables, *(f"series_{name}" for name in self.series)]
        return f"the tables are {', '.join(names)}" if names else "no run is there yet"

    def __repr__(self) -> str:
        keys = ", ".join(self.columns) or "no key"
        return f"<Sweep of {self._document['scenario']!r} over {keys} in {str(self._path)!r}>"


@dataclass(frozen=True)
class RunRecorder(QuickTake):
    """The parts of a run that are kept, taken in its thread or on its machine: the record, and the series in memory.

    Attributes:
        queue: the queue by which it is judged.
        series: whether time series are taken.
    """

    queue: str | None
    series: bool

    @property
    def quick(self) -> bool:
        """Whether it takes no time series."""
        return not self.series

    def __call__(self, _index: int, result: Result, _loss: ClaimError | None) -> tuple[Record, dict[str, bytes]]:
        """Take it."""
        names = [name for name in result.tables if name not in _NO_SERIES] if self.series else []
        return record(result, self.queue), {name: _written(result, name) for name in names}


def sweep(
    scenario: Scenario | str | PathLike[str],
    vary: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    *,
    schemes: Sequence[str | type[Scheme] | Variant] = (),
    seeds: int | Sequence[int] = 1,
    profile: str | None = None,
    queue: str | None = None,
    series: bool = False,
    limit: int = 1,
    out: str | PathLike[str],
    resume: bool = False,
    callbacks: RunCallbacks | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
) -> Sweep:
    """Run a scenario with every combination of values, schemes and seeds, on all cores, and keep the runs in a folder.

        >>> scenario = penstock.Scenario.named("four-sources")
        >>> sweep = penstock.sweep(scenario, {"topology.star.buffer": ["60 KB", "150 KB"]}, seeds=3, out="buffers")
        >>> sweep.column("queue_mean_octets")

    Each run is on the disk as soon as it has finished: nothing of it is lost if the process is interrupted or killed,
    or if the disk is full, and ``resume`` goes on. A run that fails ends none of the others; see :attr:`Sweep.failed`.
    The finished folder has the same bytes however often that happened.

    Args:
        scenario: the scenario, which is left as it is; or a sweep file, which has all else of the first seven.
        vary: the keys that are varied, each with a list of values or a range, such as
            ``{"from": "1 us", "to": "1 ms", "points": 5, "log": True}``; every combination runs. Keys of one mapping in
            a list of mappings change together instead.
        schemes: names or classes of schemes, and variants; by default the scenario's own. A class is at the top of a
            file, by whose location it travels.
        seeds: how many runs of each, with as many seeds from the scenario's on; or the seeds.
        profile: the schemes' named settings.
        queue: the queue by which runs are judged, as ``NODE->NODE``; by default the longest of each run.
        series: whether the time series of every run are kept.
        limit: as in :meth:`Scenario.run`.
        out: the folder.
        resume: whether to go on with what the folder holds: runs that are missing, failed or have changed run.
        callbacks: how to watch and end the runs.
        workers: how many runs at a time; by default one for each core.
        executor: where runs run instead, such as a :class:`penstock.RayExecutor`.

    Raises:
        PenstockError: the sweep is not legal, and nothing has run: a key, a value or a scheme that no run can have, an
            empty list. Its ``key``, ``message`` and ``hint`` say which, and name a legal one.
        ArgumentError: the folder holds something else, a sweep and ``resume`` is not set, or the sweep of another
            scenario or of other keys; or another sweep is at work there.
        OSError: the folder cannot be written; all runs that had finished are kept.
    """
    if isinstance(scenario, Scenario):
        made = design(
            scenario,
            vary or {},
            schemes=schemes,
            seeds=seeds,
            profile=profile,
            queue=queue,
            series=series,
            limit=limit,
        )
    elif vary is None and not schemes and (seeds, profile, queue, series, limit) == (1, None, None, False, 1):
        made = read(scenario)
    else:
        raise ArgumentError(
            "a sweep file and other settings", "write the settings into the file, or give a Scenario and settings"
        )
    return run_design(
        made, Path(out), resume=resume, callbacks=callbacks or RunCallbacks(), workers=workers, executor=executor
    )


def run_design(
    made: Design,
    out: Path,
    *,
    resume: bool,
    callbacks: RunCallbacks,
    workers: int | None = None,
    executor: Executor | None = None,
) -> Sweep:
    """Run what is missing of a design; :func:`sweep` has the rest."""
    return run_designs({out: made}, resume=resume, callbacks=callbacks, workers=workers, executor=executor)[out]


def run_designs(
    designs: Mapping[Path, Design],
    *,
    resume: bool,
    callbacks: RunCallbacks,
    workers: int | None = None,
    executor: Executor | None = None,
) -> dict[Path, Sweep]:
    """Run what is missing of several designs together, each into a separate folder; :func:`sweep` has the rest."""
    every = dict(zip(designs, cases_of_all(list(designs.values())), strict=True))
    stores: dict[Path, Store] = {}
    try:
        for out, made in designs.items():
            stores[out] = Store.open(out, made, every[out], resume=resume)
        missing = [(out, case) for out, store in stores.items() for case in store.missing]
        callbacks.planned(len(missing))
        distinct = [{case.key: case.fault is None for case in own} for own in every.values()]
        callbacks.skipped(sum(sum(own.values()) for own in distinct) - len(missing))
        callbacks.refused(sum(list(own.values()).count(False) for own in distinct))

        def keep(place: int, taken: tuple[Record, dict[str, bytes]]) -> None:
            out, case = missing[place]
            stores[out].keep(case, *taken)

        def fail(place: int, error: Exception) -> None:
            out, case = missing[place]
            stores[out].fail(case, str(error))

        run_many(
            [_run(designs[out], case) for out, case in missing],
            [RunRecorder(designs[out].queue, designs[out].series) for out, _ in missing],
            callbacks,
            workers=workers,
            executor=executor,
            keep=keep,
            fail=fail,
        )
    except BaseException:
        for store in stores.values():
            store.leave()
        raise
    for store in stores.values():
        store.close()
    return {out: Sweep(out) for out in designs}


def _run(made: Design, case: Case) -> Run:
    settings = [f"{key.key} = {value}" for key, value in zip(made.keys, case.settings, strict=True)]
    label = ", ".join([*settings, case.scheme, f"seed {case.seed}"])
    return Run(label, case.copy, case.seed, case.chosen, made.profile, limit=made.limit)


def _written(result: Result, name: str) -> bytes:
    from arro3.io import write_parquet

    file = io.BytesIO()
    write_parquet(result._table(name), file, compression="zstd(3)")
    return file.getvalue()


def _listed(paths: Sequence[Path]) -> str:
    """Return files as a list of SQL."""
    quoted = (str(path.absolute()).replace("'", "''") for path in paths)
    return "[" + ", ".join(f"'{path}'" for path in quoted) + "]"
