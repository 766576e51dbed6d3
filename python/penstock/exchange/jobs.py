"""Files of job graphs: GOAL, Chakra and SimAI's workloads as the text that ``[[job]]`` takes; jobs as such files."""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from penstock import _core
from penstock.errors import ArgumentError
from penstock.exchange.line_reader import OCTETS_MAX, ExchangeError
from penstock.scenario import Scenario

FORMATS = ("goal", "et", "json")
"""The endings of files that are written: GOAL, and Chakra in protobuf and in JSON."""

_GROUPS = ".groups.json"
_KNOWN = "docs/reference/job-traces has what is read, and what --complete adds"

_RATE = "100 Gbps"
_DELAY = "1 us"
_BUFFER = "16 MB"
_DURATION = "1000 s"
_INTERVAL = "10 ms"
_SIMAI = (b"HYBRID_", b"MICRO")


@dataclass(frozen=True)
class JobText:
    """A job: its graph as text, its number of ranks, and sentences on what was lost, rounded or assumed."""

    text: str
    ranks: int
    notes: tuple[str, ...]
    completed: bool


def is_job(path: Path) -> bool:
    """Return whether a file is one of a job: by the ending of Chakra's names, or by its first word."""
    if path.suffix == ".et" or path.name.endswith(_GROUPS):
        return True
    with path.open("rb") as file:
        begin = file.read(4096).lstrip()
    chakra = path.suffix == ".json" and (b"workload_graph" in begin or b"ctrl" in begin.lower())
    return chakra or begin.startswith((b"num_ranks", b"//", b"/*", *_SIMAI))


def read_job(paths: Sequence[Path], *, complete: bool = False, control_deps: bool = True) -> JobText:
    """Read the files of one job: one of GOAL or SimAI, or those of all ranks of Chakra (``NAME.RANK.et``).

    Args:
        paths: the files, in any order. Beside those of Chakra one may be ``NAME.groups.json``, the groups' ranks. One
            of Chakra alone stands for all beside it.
        complete: whether receives without a send, sends without a receive, and operations without an order are
            completed.
        control_deps: Chakra: whether nodes wait for control dependencies too, as in ASTRA-sim.

    Raises:
        ExchangeError: a file is none of these, is cut off, or its graph cannot end; with its place.
        OSError: a file cannot be read.
    """
    given, groups = _given(paths)
    try:
        text, ranks, notes = _core.job_text(given, complete, control_deps, groups)
    except ValueError as error:
        raise ArgumentError(str(error), _KNOWN) from None
    if "'''" in text:
        raise ExchangeError(str(paths[0]), None, "it has ''' in a comment, which ends a text in TOML; take it out")
    if len(given) > len(paths):
        notes = [f"{paths[0].name} stands for the files of all {len(given)} ranks beside it", *notes]
    return JobText(text, ranks, tuple(notes), complete)


@dataclass(frozen=True)
class WrittenJob:
    """The files of a job, each under its name, and sentences on what they lack or say in another way."""

    files: dict[str, bytes]
    notes: tuple[str, ...]


def export_job(
    source: Scenario | Sequence[str | os.PathLike[str]],
    name: str,
    *,
    messages: bool = False,
    seed: int | None = None,
    limit: int = 1,
) -> WrittenJob:
    """Return the jobs of a scenario, or the job of other files, as files of GOAL or Chakra.

    Args:
        source: a scenario with ``[[collective]]`` or ``[[job]]``, or the files of one job as for :func:`read_job`.
        name: what the files are called. Its ending is one of :data:`FORMATS`: ``ring.goal`` is one file with all
            ranks; ``ring.et`` and ``ring.json`` stand for a file a rank, ``ring.0.et``, and for ``ring.groups.json``
            where collectives have groups. Of several jobs each has its name behind: ``ring-data.goal``.
        messages: whether collectives are written as their sends and receives in Chakra, too, as GOAL always has them.
        seed: draws what the scenario leaves to chance, instead of the scenario's.
        limit: as that of :meth:`Scenario.run`.

    Raises:
        ArgumentError: there is no job, or the format cannot express it; with the node.
        ScenarioError: a value of the scenario is not legal.
        OSError: a file cannot be read.
    """
    stem, ending = Path(name).stem, Path(name).suffix.removeprefix(".")
    if ending not in FORMATS:
        raise ArgumentError(f"{name}: unknown ending", "write .goal, or .et or .json for Chakra")
    given, groups = ([], {}) if isinstance(source, Scenario) else _given([Path(path) for path in source])
    try:
        if isinstance(source, Scenario):
            jobs = source.job_files(ending, messages=messages, seed=seed, limit=limit)
        else:
            jobs = [("", _core.job_files(given, False, True, groups, ending, messages))]
    except ValueError as error:
        hint = "docs/reference/job-traces has what each format can express"
        raise ArgumentError(str(error), hint) from None
    if not jobs:
        raise ArgumentError(
            "the scenario has no job", "write a [[collective]] or a [[job]], or export to hpcc or htsim"
        )
    files: dict[str, bytes] = {}
    notes = []
    for job, (written, said) in jobs:
        called = stem if len(jobs) == 1 else f"{stem}-{job}"
        files |= {f"{called}.{rest}": octets for rest, octets in written}
        notes += [f"{called}: {note}" for note in said]
    return WrittenJob(files, tuple(notes))


def ranks_beside(path: Path) -> list[Path]:
    """Return the files of one job that a file of it stands for: of Chakra those of all ranks, and of groups.

    ``ring.0.et`` stands for all ``ring.RANK.et``, and for ``ring.groups.json`` if that is there.
    """
    name, rank, ending = _parts(path)
    if ending not in ("et", "json") or not rank.isdecimal():
        return [path]

    def beside() -> Iterator[Path]:
        for other in sorted(path.parent.iterdir()):
            begin, middle, end = _parts(other)
            if (begin, end) == (name, ending) and middle.isdecimal():
                yield other
        groups = path.with_name(f"{name}{_GROUPS}")
        if groups.is_file():
            yield groups

    return list(beside())


def _parts(path: Path) -> tuple[str, str, str]:
    """Return the name of a job, the rank and the ending of a file's name, NAME.RANK.ENDING."""
    name, rank, ending, *_ = [*path.name.rsplit(".", 2), "", ""]
    return name, rank, ending


def _given(paths: Sequence[Path]) -> tuple[list[tuple[str, bytes]], dict[str, list[int]]]:
    """Return the files of a job with their content, and the ranks of groups by the groups' names."""
    given: list[tuple[str, bytes]] = []
    groups: dict[str, list[int]] = {}
    for path in ranks_beside(paths[0]) if len(paths) == 1 else paths:
        if path.stat().st_size > OCTETS_MAX:
            raise ExchangeError(str(path), None, f"it has more than {OCTETS_MAX} octets; give a shorter trace")
        if path.name.endswith(_GROUPS):
            groups |= _groups(path)
        else:
            given.append((str(path), path.read_bytes()))
    if not given:
        raise ArgumentError(f"{', '.join(map(str, paths))}: groups of a job, and no trace", "give its traces too")
    return given, groups


def _groups(path: Path) -> dict[str, list[int]]:
    """Return the ranks of groups by their names, as ASTRA-sim reads them: {"0": [0, 1], "1": [2, 3]}."""
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise ExchangeError(str(path), getattr(error, "lineno", None), f"it is not JSON: {error}") from None
    # A truth value is a whole number in Python.
    if not isinstance(read, dict) or not all(
        isinstance(ranks, list) and all(type(rank) is int and 0 <= rank < 2**32 for rank in ranks)
        for ranks in read.values()
    ):
        reason = 'groups are an object of lists of ranks; write, for instance, {"0": [0, 1], "1": [2, 3]}'
        raise ExchangeError(str(path), None, reason)
    return read


def star_of(ranks: int) -> list[str]:
    """Return the tables of a star with a host for each rank, as lines of TOML."""
    return [
        "[topology.star]",
        f"hosts = {max(2, ranks)}",
        f'link_rate = "{_RATE}"',
        f'link_delay = "{_DELAY}"',
        f'buffer = "{_BUFFER}"',
    ]


STAR = f"links of {_RATE} and {_DELAY} to one switch"
"""The network of a job without one, as a note has it."""


def document(job: JobText, network: Sequence[str], hosts: int, scheme: str, carrier: str) -> str:
    """Return the scenario of a job as TOML.

    Args:
        job: the job.
        network: the tables of its network, as lines.
        hosts: the number of hosts there, each with as many ranks as it takes.
        scheme: the scheme that runs.
        carrier: the transport, as TOML.
    """
    each = -(-job.ranks // hosts)
    lines = [
        'question = "How long does the job take?"',
        f'duration = "{_DURATION}"',
        'until = "all-flows-complete"',
        f'scheme = "{scheme}"',
        "",
        *network,
        "",
        "[record]",
        f'interval = "{_INTERVAL}"',
        "",
        "[[job]]",
        f"transport = {carrier}",
        *([f"ranks_per_host = {each}"] if each > 1 else []),
        *(["complete = true"] if job.completed else []),
        f"graph = '''\n{job.text.rstrip()}\n'''",
        "",
    ]
    return "\n".join(lines)
