"""Files of job graphs: GOAL, Chakra and SimAI's workloads, as the text that ``[[job]]`` of a scenario takes."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from penstock import _core
from penstock.errors import ArgumentError
from penstock.exchange.line_reader import OCTETS_MAX, ExchangeError

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
    """Return whether a file is one of a job graph: by the ending of Chakra's names, or by its first word."""
    if path.suffix == ".et":
        return True
    with path.open("rb") as file:
        begin = file.read(4096).lstrip()
    chakra = path.suffix == ".json" and (b"workload_graph" in begin or b"ctrl" in begin.lower())
    return chakra or begin.startswith((b"num_ranks", b"//", b"/*", *_SIMAI))


def read_job(paths: Sequence[Path], *, complete: bool = False, control_deps: bool = True) -> JobText:
    """Read the files of one job: one of GOAL or SimAI, or those of all ranks of Chakra (``NAME.RANK.et``).

    Args:
        paths: the files, in any order.
        complete: whether receives without a send, sends without a receive, and operations without an order are
            completed.
        control_deps: Chakra: whether nodes wait for control dependencies too, as in ASTRA-sim.

    Raises:
        ExchangeError: a file is none of these, is cut off, or its graph cannot end; with its place.
        OSError: a file cannot be read.
    """
    given = []
    for path in paths:
        if path.stat().st_size > OCTETS_MAX:
            raise ExchangeError(str(path), None, f"it has more than {OCTETS_MAX} octets; give a shorter trace")
        given.append((str(path), path.read_bytes()))
    try:
        text, ranks, notes = _core.job_text(given, complete, control_deps)
    except ValueError as error:
        raise ArgumentError(str(error), "docs/reference/job-traces has what is read") from None
    if "'''" in text:
        raise ExchangeError(str(paths[0]), None, "it has ''' in a comment, which ends a text in TOML; take it out")
    return JobText(text, ranks, tuple(notes), complete)


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
