"""Readings of a paper are tried: each run once, its values kept on disk at once, so that a killed search goes on.

    search.jsonl      a run a line: a hash of all that its values follow from, and the values

The hash is of the resolved scenario, the seed, the engine, the metrics and their arguments. The writing process holds
a lock on the file, which the system takes away when the process ends, however it ends.
"""

import json
import os
import time
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

import numpy as np

from penstock import ClaimError, ScenarioError, __version__, _core, metrics, runs
from penstock.errors import ArgumentError
from penstock.executors.executor import Executor
from penstock.reproduction.claim_results import Scope, answer
from penstock.reproduction.paper import Paper
from penstock.reproduction.plan import Quantity, Run, Wanted, jobs
from penstock.reproduction.readings import Reading, Space
from penstock.reproduction.verdict import HOLDS
from penstock.result import Result
from penstock.scenario import Scenario

JOURNAL = "search.jsonl"

_BETWEEN_FLUSHES_S = 1.0
_AT_ONCE = 64
"""Readings whose runs are planned together: enough for many workers, few enough for the memory."""

Held = frozenset[str]
"""The ids of claims that hold."""


class Journal:
    """The values of runs, on disk; use it in ``with``.

    Attributes:
        path: the file.
    """

    def __init__(self, folder: Path) -> None:
        """Make the file, or go on with it.

        Raises:
            ArgumentError: another process is at work on it, the folder holds something else, or the system has no
                locks.
            OSError: it cannot be written.
        """
        self.path = folder / JOURNAL
        if folder.is_dir() and any(folder.iterdir()) and not self.path.is_file():
            raise ArgumentError(f"{folder} exists and holds no search", "name another folder")
        folder.mkdir(parents=True, exist_ok=True)
        self._file = _locked(self.path)
        self._flushed_s = 0.0
        self._found: dict[str, list[Any] | None] = {}
        self._read()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)

    def __contains__(self, key: str) -> bool:
        return key in self._found

    def __len__(self) -> int:
        return len(self._found)

    def values(self, key: str) -> list[Any] | None:
        """Return the values of a run; ``None`` of one that failed."""
        return self._found[key]

    def keep(self, key: str, values: list[Any] | None) -> None:
        """Keep the values of a run.

        Raises:
            OSError: it cannot be written; what was kept before is still there.
        """
        line = json.dumps([key, None if values is None else [_plain(v) for v in values]], separators=(",", ":"))
        begin = os.lseek(self._file, 0, os.SEEK_END)
        try:
            left = memoryview(line.encode() + b"\n")
            while left:
                left = left[os.write(self._file, left) :]
            if time.monotonic() - self._flushed_s > _BETWEEN_FLUSHES_S:
                os.fsync(self._file)
                self._flushed_s = time.monotonic()
        except OSError as error:
            os.ftruncate(self._file, begin)
            raise OSError(error.errno, error.strerror, str(self.path)) from None
        self._found[key] = values

    def _read(self) -> None:
        """Read what is there, and take off what a killed process has left of a line."""
        begin = 0
        with self.path.open("rb") as file:
            for line in file:
                try:
                    key, values = json.loads(line)
                    found = None if values is None else [_value(entry) for entry in values]
                except (ValueError, TypeError, KeyError):
                    break
                if not line.endswith(b"\n"):
                    break
                self._found[key] = found
                begin += len(line)
        os.ftruncate(self._file, begin)


@dataclass(frozen=True)
class _ValueRecorder:
    """The values that are kept of a run, taken in its thread or on its machine."""

    metrics: Mapping[str, Callable[..., Any]]
    wanted: tuple[tuple[str, str], ...]
    """Metrics with their arguments as JSON."""

    def __call__(self, _index: int, result: Result, loss: ClaimError | None) -> list[Any] | None:
        return None if loss is not None else [self._one(result, *want) for want in self.wanted]

    def _one(self, result: Result, metric: str, arguments: str) -> Any:
        try:
            return self.metrics[metric](result, **json.loads(arguments))
        except Exception:
            # A metric may have no number under a reading that nobody would take, as a share of no feedback at all.
            return None


class Trials:
    """Readings of a paper with the claims that hold under each."""

    def __init__(
        self,
        found: Space,
        journal: Journal,
        callbacks: runs.RunCallbacks,
        *,
        workers: int | None = None,
        executor: Executor | None = None,
    ) -> None:
        self._space = found
        self._journal = journal
        self._watch = callbacks
        self._workers = workers
        self._executor = executor
        self._planned = 0
        self._held: dict[tuple[Reading, tuple[str, ...], int | None], Held | None] = {}
        self._digests: dict[tuple[Run, tuple[tuple[str, str], ...]], str] = {}

    @property
    def tried(self) -> int:
        """How many readings were tried."""
        return len({reading for (reading, _, _), held in self._held.items() if held is not None})

    @property
    def refused(self) -> int:
        """How many were asked for besides that no run can take, since their values do not go together."""
        return len({reading for (reading, _, _), held in self._held.items() if held is None})

    def held(
        self, readings: Sequence[Reading], figures: tuple[str, ...], first: int | None = None
    ) -> list[Held | None]:
        """Return the claims of figures that hold under each of ``readings``; ``None`` of one that no run can take.

        Args:
            readings: the readings.
            figures: names of figures.
            first: how many of each claim's seeds count; all by default.

        Raises:
            KeyboardInterrupt: the runs were ended; those that had finished are kept.
            PenstockError: a run failed otherwise than by its reading.
        """
        left = [reading for reading in dict.fromkeys(readings) if (reading, figures, first) not in self._held]
        for begin in range(0, len(left), _AT_ONCE):
            self._try(left[begin : begin + _AT_ONCE], figures, first)
        return [self._held[reading, figures, first] for reading in readings]

    def _try(self, readings: Sequence[Reading], figures: tuple[str, ...], first: int | None) -> None:
        scope = Scope(figures, drawn=False, first=first)
        keys: dict[Reading, dict[tuple[Run, int], str]] = {}
        missing: dict[str, tuple[runs.Run, _ValueRecorder]] = {}
        for reading in readings:
            paper = self._space.paper_of(reading)
            try:
                keys[reading] = self._keys(paper, scope, missing)
            except ScenarioError:
                self._held[reading, figures, first] = None
        self._run(missing)
        for reading, of in keys.items():
            self._held[reading, figures, first] = self._answered(self._space.paper_of(reading), scope, of)

    def _keys(
        self, paper: Paper, scope: Scope, missing: dict[str, tuple[runs.Run, _ValueRecorder]]
    ) -> dict[tuple[Run, int], str]:
        """Return the hash of each run that a reading needs; put those that are not there into ``missing``."""
        found = {}
        wanted: list[tuple[str, tuple[runs.Run, _ValueRecorder]]] = []
        for job in jobs(scope.wanted(paper)):
            key = sha256(f"{job.seed}\n{self._digest(paper, job.run)}".encode()).hexdigest()[:32]
            found[job.run, job.seed] = key
            if key not in self._journal and key not in missing:
                label = f"{paper.name}: {job.run}, seed {job.seed}"
                run = runs.Run(label, runs.copies(self._scenario(paper, job.run)), job.seed, job.run.scheme)
                wanted.append((key, (run, self._taking[job.run])))
        missing.update(wanted)
        return found

    def _digest(self, paper: Paper, run: Run) -> str:
        """Return a hash of all that the values of a run follow from but its seed.

        Raises:
            ScenarioError: no run can take the reading.
        """
        acting = run, tuple(sorted((key, repr(value)) for key, value in paper.acting(run).items()))
        if acting not in self._digests:
            resolved = self._scenario(paper, run).resolved(scheme=run.scheme, seed=0)
            text = "\n".join((self._fixed, json.dumps(self._taking[run].wanted), resolved))
            self._digests[acting] = sha256(text.encode()).hexdigest()
        return self._digests[acting]

    def _scenario(self, paper: Paper, run: Run) -> Scenario:
        scenario, taking = paper.scenario(run), self._taking[run]
        if any(getattr(taking.metrics[name], "needs_arrivals", False) for name, _ in taking.wanted):
            scenario.set("record.arrivals", True)
        return scenario

    def _run(self, missing: Mapping[str, tuple[runs.Run, _ValueRecorder]]) -> None:
        keys = list(missing)
        if not keys:
            return
        self._planned += len(keys)
        self._watch.planned(self._planned)
        runs.run_many(
            [run for run, _ in missing.values()],
            [taking for _, taking in missing.values()],
            self._watch,
            workers=self._workers,
            executor=self._executor,
            keep=lambda index, values: self._journal.keep(keys[index], values),
        )
        if any(key not in self._journal for key in keys):
            raise KeyboardInterrupt

    def _answered(self, paper: Paper, scope: Scope, keys: Mapping[tuple[Run, int], str]) -> Held:
        values: dict[tuple[Run, Quantity, int], Any] = {}
        for (run, seed), key in keys.items():
            taken = self._journal.values(key)
            by_want = {} if taken is None else dict(zip(self._taking[run].wanted, taken, strict=True))
            for quantity in self._quantities[run]:
                values[run, quantity, seed] = by_want.get(_want(quantity.metric, paper.arguments(quantity)))
        return frozenset(
            claim.id for claim in scope.claims(paper) if answer(claim, scope, values).judgement.verdict == HOLDS
        )

    @cached_property
    def _quantities(self) -> dict[Run, list[Quantity]]:
        """All that any claim asks of a run, whether or not its figure is looked at: a run is made once."""
        paper = self._space.paper
        wanted: list[Wanted] = Scope(tuple(figure.name for figure in paper.figures), drawn=False).wanted(paper)
        found: dict[Run, dict[Quantity, None]] = {}
        for want in wanted:
            found.setdefault(want.run, {})[want.quantity] = None
        return {run: list(quantities) for run, quantities in found.items()}

    @cached_property
    def _taking(self) -> dict[Run, _ValueRecorder]:
        """What is taken of each run: every quantity with the arguments that its metric has under any reading."""
        known = self._space.paper.metrics
        found = {}
        for run, quantities in self._quantities.items():
            wanted = dict.fromkeys(
                _want(quantity.metric, {**options, **quantity.keywords()})
                for quantity in quantities
                for options in self._space.options(quantity.metric)
            )
            found[run] = _ValueRecorder({name: known[name] for name, _ in wanted}, tuple(wanted))
        return found

    @cached_property
    def _fixed(self) -> str:
        """A hash of the programs that values follow from: the engine, and the metrics."""
        files = [
            Path(_core.__file__),
            *sorted(Path(metrics.__path__[0]).glob("*.py")),
            self._space.paper.folder / "metrics.py",
        ]
        hashed = sha256(__version__.encode())
        for file in files:
            hashed.update(file.read_bytes() if file.is_file() else b"")
        return hashed.hexdigest()


def _want(metric: str, arguments: Mapping[str, Any]) -> tuple[str, str]:
    return metric, json.dumps(arguments, sort_keys=True)


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: a number, nothing, or an array packed into a text."""
    if value is None or isinstance(value, int | float):
        return value
    array = np.asarray(value)
    if array.ndim == 0:
        return array.item()
    return {"type": array.dtype.str, "octets": b64encode(zlib.compress(array.tobytes())).decode()}


def _value(entry: Any) -> Any:
    if isinstance(entry, dict):
        return np.frombuffer(zlib.decompress(b64decode(entry["octets"])), dtype=entry["type"])
    return entry


def _locked(path: Path) -> int:
    """Open the journal, and hold it against all others."""
    try:
        import fcntl
    except ModuleNotFoundError:
        raise ArgumentError(f"{path}: a search needs Linux or macOS", "on Windows, use WSL") from None
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        hint = "wait until it is done, end it, or name another folder"
        raise ArgumentError(f"{path.parent}: another search is at work in this folder", hint) from None
    return file
