"""What agrees: lines of two numbers, the causes of those that differ, and the page that has both.

causes.toml has the causes; docs/measurements/beside-other-simulators.md is the page, of which each program renews a
section.
"""

import csv
import fnmatch
import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from penstock.errors import ArgumentError

DATA = Path(__file__).resolve().parent
PAGE = DATA.parents[1] / "docs" / "measurements" / "beside-other-simulators.md"

WITHIN = 0.1
JAIN_WITHIN = 0.03
SMALL = {"queue": 1100, "ms_to": 1, "packets_sent_again": 2}
"""A queue within a frame of the peer's agrees, a time in whole milliseconds within one, packets within two."""


@dataclass(frozen=True)
class Line:
    """A number of a peer, and Penstock's where it has one."""

    situation: str
    scheme: str
    metric: str
    peer: float
    ours: float | None = None

    @property
    def agrees(self) -> bool:
        """Whether Penstock's number is near the peer's."""
        if self.ours is None:
            return False
        apart = 0.0 if self.ours == self.peer else abs(self.ours - self.peer)
        if self.metric.startswith("jain"):
            return apart <= JAIN_WITHIN
        small = next((at for metric, at in SMALL.items() if self.metric.startswith(metric)), 0)
        return apart <= max(WITHIN * abs(self.peer), small)

    @property
    def text(self) -> str:
        """The metric, Penstock's number and, in brackets, the peer's."""
        return f"{self.metric} {short(self.ours)} ({short(self.peer)})"


@dataclass(frozen=True)
class Cause:
    """Why lines of these situations, schemes and metrics differ; patterns as of file names."""

    situations: str
    schemes: str
    metrics: str
    text: str

    def covers(self, line: Line) -> bool:
        """Whether the line is one of them."""
        pairs = ((self.situations, line.situation), (self.schemes, line.scheme), (self.metrics, line.metric))
        return all(fnmatch.fnmatchcase(name, pattern) for pattern, name in pairs)

    @property
    def item(self) -> str:
        """The cause as an item of a list."""
        return f"- `{self.schemes}`, `{self.situations}`, `{self.metrics}`: {self.text}."


def _causes(kind: str) -> tuple[Cause, ...]:
    with (DATA / "causes.toml").open("rb") as file:
        return tuple(Cause(**entry) for entry in tomllib.load(file)[kind])


UNCOMPARED = _causes("uncompared")
"""Lines that are not compared, and why."""

CAUSES = _causes("cause")
"""Why lines differ."""


def cause_of(line: Line) -> Cause | None:
    """Return the first cause that covers a line."""
    return next((at for at in CAUSES if at.covers(line)), None)


def needed(beyond: Iterable[Line]) -> list[str]:
    """Return the causes of lines that differ as items of a list, in the order of causes.toml."""
    found = {cause_of(line) for line in beyond}
    return [at.item for at in CAUSES if at in found]


def lines() -> list[Line]:
    """Return the peers' recorded numbers."""
    with (DATA / "numbers.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    numbers = {"never": np.inf}
    return [
        Line(at["situation"], at["scheme"], at["metric"], numbers.get(at["value"]) or float(at["value"])) for at in rows
    ]


def short(value: float | None) -> str:
    """Return four digits of a number."""
    return "" if value is None else f"{value:.4g}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table."""
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]


def renew(heading: str, section: str, page: Path = PAGE) -> None:
    """Replace the text of a section of the page, up to the next heading of its level.

    Raises:
        ArgumentError: the page has no such heading, or two.
    """
    text = page.read_text(encoding="utf-8")
    parts = re.split(rf"(?m)^(## {re.escape(heading)}\n)", text)
    if len(parts) != 3:
        raise ArgumentError(f"{page.name}: has not one heading {heading}", f"write `## {heading}` once")
    before, head, after = parts
    following = re.search(r"(?m)^## ", after)
    rest = after[following.start() :] if following else ""
    page.write_text(f"{before}{head}\n{section.strip()}\n{chr(10) if rest else ''}{rest}", encoding="utf-8")
