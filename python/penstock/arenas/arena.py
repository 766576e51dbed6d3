"""The arena: run by :func:`arena`, read from its folder by :class:`Arena`."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from penstock import PenstockError, ScenarioError, __version__
from penstock.arenas.arena_file import STANDARD, Entries, read
from penstock.arenas.standings import Standing, Total, of_workload, totals
from penstock.data_frames import RUNS, Tables
from penstock.errors import ArgumentError, unread
from penstock.executors.executor import Executor
from penstock.files import write_text
from penstock.runs import RunCallbacks, seeds_of
from penstock.scheme_class import Scheme, located
from penstock.sweeps.design import design
from penstock.sweeps.store import is_sweep
from penstock.sweeps.sweep import Sweep, run_designs

if TYPE_CHECKING:
    from arro3.core import Table

    from penstock.arenas.tuned_competitors import Tuned

_DOCUMENT = "arena.json"
_ENTRIES = "entries.json"
_RUNS = "runs"
_TUNED = "tuned"


def is_arena(folder: str | PathLike[str]) -> bool:
    """Return whether a folder is that of an arena that has run."""
    return (Path(folder) / _ENTRIES).is_file()


class ArenaResults(Tables):
    """Workloads, competitors, and their results.

    Attributes:
        entries: the workloads and the competitors.
        sweeps: the store of each workload, by its name.
    """

    def __init__(self, entries: Entries, sweeps: Mapping[str, Sweep]) -> None:
        self.entries = entries
        self.sweeps = sweeps

    @cached_property
    def standings(self) -> dict[str, list[Standing]]:
        """The standings of each workload, by its name, the best first."""
        return {
            workload.name: of_workload(workload, self.entries.competitors, self.sweeps[workload.name])
            for workload in self.entries.workloads
        }

    @cached_property
    def totals(self) -> list[Total]:
        """The competitors over all workloads, the best first."""
        return totals(self.entries, self.standings)

    def table(self, name: str = RUNS) -> "Table":
        """Return a table of all workloads as Arrow: ``runs``, a row a run, or another of :attr:`Sweep.tables`.

        Each row begins with its workload; ``scheme`` is the competitor.

            >>> found.to_pandas().groupby(["workload", "scheme"])["slowdown_p99"].mean()

        Raises:
            PenstockError: no workload has a table of that name.
            OutputError: a file cannot be read.
        """
        from arro3.core import Array, ChunkedArray, DataType, Field, Table

        kind = DataType.string()
        parts = []
        for workload, sweep in self.sweeps.items():
            if name in sweep.tables:
                rows = sweep.table(name)
                own = ChunkedArray([Array([workload] * rows.num_rows, type=kind)])
                parts += rows.add_column(0, Field("workload", kind), own).to_batches()
        if not parts:
            raise PenstockError(f"no table is called {name!r}; runs has the numbers of each run")
        return Table.from_batches(parts).combine_chunks()

    @property
    def document(self) -> dict[str, Any]:
        """The standings in numbers. Numbers that are infinite are ``null``."""
        return {
            "totals": [
                {
                    "competitor": total.competitor.name,
                    "scheme": total.competitor.scheme,
                    "settings": dict(total.competitor.settings),
                    "mean_rank": total.mean_rank,
                    "mean_last": total.mean_last,
                    "wins": total.wins,
                    "ratio_to_best": _finite(total.ratio),
                    "completed": total.completed,
                    "unfinished": total.unfinished,
                }
                for total in self.totals
            ],
            "workloads": [
                {
                    "name": workload.name,
                    "scenario": workload.source,
                    "settings": dict(workload.settings),
                    "judge": workload.judge.metric,
                    "of": workload.judge.group,
                    "better": workload.judge.better,
                    "standings": [
                        {
                            "competitor": standing.competitor.name,
                            "rank": standing.rank,
                            "last": standing.last,
                            "values": [_finite(value) for value in standing.values],
                            "ratio_to_best": _finite(standing.ratio),
                            **standing.shown,
                            **({"fault": standing.fault} if standing.fault else {}),
                        }
                        for standing in self.standings[workload.name]
                    ],
                }
                for workload in self.entries.workloads
            ],
        }


class Arena(ArenaResults):
    """A board of workloads and competitors; and another of the same competitors, tuned.

    Made by :func:`penstock.arena`, and read again by :meth:`open`.

    Attributes:
        path: the folder.
        seeds: how many runs there are of each.
        trials: the simulated points of each search; 0 if none were tuned.
        tuned: the board of the tuned competitors; ``None`` if none were tuned.
        tunings: the answers of the searches, by the names of the competitors.
    """

    def __init__(
        self,
        path: Path,
        entries: Entries,
        seeds: int,
        sweeps: Mapping[str, Sweep],
        trials: int = 0,
        tuned: ArenaResults | None = None,
        tunings: "Mapping[str, Tuned] | None" = None,
    ) -> None:
        super().__init__(entries, sweeps)
        self.path = path
        self.seeds = seeds
        self.trials = trials
        self.tuned = tuned
        self.tunings = tunings or {}

    @classmethod
    def open(cls, folder: str | PathLike[str]) -> Self:
        """Read the folder of an arena that has finished or was interrupted, with the entries of its last call.

        Raises:
            OutputError: it is not there, or cannot be read.
        """
        from penstock.arenas.tuned_competitors import Tuned

        path = Path(folder)
        try:
            kept = json.loads((path / _ENTRIES).read_text(encoding="utf-8"))
            entries = Entries.of_document(kept["entries"])
            improved = None if kept["tuned"] is None else Entries.of_document(kept["tuned"])
            tunings = {name: Tuned(**answer) for name, answer in kept["tunings"].items()}
            seeds, trials = int(kept["seeds"]), int(kept["trials"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError, ScenarioError) as error:
            raise unread(f"{path}: {_ENTRIES} is damaged, or not one of `penstock arena`: {error}") from error
        sweeps = {workload.name: Sweep(path / _RUNS / workload.name) for workload in entries.workloads}
        board = None if improved is None else ArenaResults(improved, sweeps)
        return cls(path, entries, seeds, sweeps, trials, board, tunings)

    @property
    def finished(self) -> bool:
        """Whether every run is there that can run."""
        return all(sweep.finished for sweep in self.sweeps.values())

    @property
    def failed(self) -> list[tuple[str, dict[str, Any]]]:
        """The runs that failed, each with the name of its workload; see :attr:`penstock.Sweep.failed`.

        Where a workload does not allow a competitor, nothing has failed: the standings have the reason.
        """
        return [(name, entry) for name, sweep in self.sweeps.items() for entry in sweep.failed if not entry["refused"]]

    @property
    def document(self) -> dict[str, Any]:
        """The standings in numbers: the object of ``arena.json``. Numbers that are infinite are ``null``."""
        found = {"version": __version__, "title": self.entries.title, "seeds": self.seeds, **super().document}
        if self.tuned is not None:
            found["tuned"] = self.tuned.document
        return found

    def write_report(self) -> Path:
        """Write the report into the folder: pages, figures and ``arena.json``. Return its first page.

        Raises:
            OSError: a file cannot be written.
        """
        from penstock.arenas.report import write

        write_text(self.path / _DOCUMENT, json.dumps(self.document, indent=2, allow_nan=False) + "\n")
        return write(self)

    def __repr__(self) -> str:
        return f"<Arena of {len(self.entries.competitors)} competitors in {str(self.path)!r}>"


def arena(
    out: str | PathLike[str],
    *,
    file: str | PathLike[str] = STANDARD,
    workloads: Sequence[str] = (),
    competitors: Sequence[str | type[Scheme]] = (),
    seeds: int | Sequence[int] = 1,
    tune: int = 0,
    resume: bool = False,
    callbacks: RunCallbacks | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
) -> Arena:
    """Run every workload with every competitor and seed, on all cores, and keep the runs in a folder.

        >>> found = penstock.arena("results/arena", workloads=["incast-16"], seeds=3)
        >>> found.totals[0].competitor.name
        >>> found.write_report()

    Each run is on the disk as soon as it has finished, as with :func:`penstock.sweep`: each workload has a
    separate store below ``runs``, which :class:`penstock.Sweep` reads.

    Args:
        out: the folder.
        file: the file of the arena, or ``"10g"``, ``"100g"`` or ``"400g"`` for one of Penstock.
        workloads: names of its workloads; by default all.
        competitors: names of its competitors, and locations or classes of other schemes, such as
            ``"my.py:MyScheme"``; ``"all"`` stands for those of the file. By default all of these.
        seeds: how many runs of each, with as many seeds from the scenario's on; or the seeds.
        tune: points that :func:`penstock.tune` simulates for each competitor, which then runs once more with what it
            proposes; with 0 nobody is tuned. Needs the extra ``tune``.
        resume: whether to go on with what the folder holds: runs that are missing, failed or have changed run.
        callbacks: how to watch and end the runs.
        workers: how many runs at a time; by default one for each core.
        executor: where runs run instead, such as a :class:`penstock.RayExecutor`.

    Raises:
        PenstockError: the file is not legal, and nothing has run.
        ArgumentError: there is no workload or competitor of a name, or a scheme cannot be loaded; the folder holds
            something else, or an arena and ``resume`` is not set.
        OSError: the folder cannot be written; all runs that had finished are kept.
    """
    count = len(seeds_of(seeds, 0))
    path = Path(out)
    entries = read(file).of(workloads, [located(one) for one in competitors])
    if path.exists() and not path.is_dir():
        raise ArgumentError(f"{path} is a file", "name a folder")
    if path.is_dir() and any(path.iterdir()):
        if not any(is_sweep(folder) for folder in (path / _RUNS).glob("*")) and not (path / _TUNED).is_dir():
            raise ArgumentError(f"{path} exists and holds no arena", "name another folder")
        if not resume:
            raise ArgumentError(
                f"{path} holds an arena already", "go on with it with resume=True, or name another folder"
            )
    callbacks = callbacks or RunCallbacks()
    improved = entries
    tunings: Mapping[str, Tuned] = {}
    if tune > 0:
        from penstock.arenas.tuned_competitors import tuned

        counter = _Counter(callbacks)
        improved, tunings = tuned(entries, path / _TUNED, tune, callbacks=counter.counting, executor=executor)
        callbacks = counter.going_on
    every = [*entries.competitors, *(one for one in improved.competitors if one not in entries.competitors)]
    designs = {
        path / _RUNS / workload.name: design(
            workload.scenario, (), schemes=[competitor.on(workload.scenario) for competitor in every], seeds=seeds
        )
        for workload in entries.workloads
    }
    swept = run_designs(designs, resume=True, callbacks=callbacks, workers=workers, executor=executor)
    sweeps = {folder.name: sweep for folder, sweep in swept.items()}
    kept = {
        "entries": entries.document,
        "seeds": count,
        "trials": tune,
        "tuned": improved.document if tune > 0 else None,
        "tunings": {name: asdict(answer) for name, answer in tunings.items()},
    }
    write_text(path / _ENTRIES, json.dumps(kept, indent=2) + "\n")
    board = ArenaResults(improved, sweeps) if tune > 0 else None
    return Arena(path, entries, count, sweeps, tune, board, tunings)


class _Counter:
    """Counts the runs of searches, of which nobody knows beforehand how many they are, into those that follow."""

    def __init__(self, callbacks: RunCallbacks) -> None:
        self._watch = callbacks
        self._runs = 0
        self.counting = replace(callbacks, planned=lambda _: None, done=self._done)
        self.going_on = replace(callbacks, planned=lambda count: callbacks.planned(self._runs + count))

    def _done(self) -> None:
        self._runs += 1
        self._watch.done()


def _finite(value: float) -> float | None:
    return value if abs(value) < float("inf") else None
