"""A distribution of flow sizes as a table of points, its reader and its writer."""

import math
import os
import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from importlib import resources
from pathlib import Path

from penstock import files
from penstock.errors import ArgumentError, TextFileError, nearest

POINTS_MAX = 100_000
"""The most points that a distribution may have; the longest here has 843."""
SIZE_MAX = 2**53
"""The longest flow that a distribution may have, in octets: up to it every whole number is exact in a double."""
_OCTETS_MAX = 8_000_000
_SHOWN_MAX = 40


class DistributionError(TextFileError):
    """A file of a distribution of flow sizes that cannot be used: it names the file, the line and the reason."""


@dataclass(frozen=True)
class Point:
    """One point: of the flows, ``percent`` (0 to 100) have at most ``octets``."""

    octets: int
    percent: float


@dataclass(frozen=True)
class Distribution:
    """Flow sizes: points of the cumulative distribution, linear between them.

    Attributes:
        name: the distribution's name, or the name of its file.
        points: the points in their order, two at least; the last is at 100 percent. Where the first is above
            0 percent, that share of the flows has exactly its size.
        notes: sentences on how the file was read.
    """

    name: str
    points: tuple[Point, ...]
    notes: tuple[str, ...] = field(default=(), compare=False)

    @property
    def mean_octets(self) -> float:
        """The mean size in octets, the integral over the piecewise linear curve."""
        first = self.points[0]
        parts = [first.octets * first.percent]
        for low, high in zip(self.points, self.points[1:], strict=False):
            parts.append((low.octets + high.octets) / 2 * (high.percent - low.percent))
        return math.fsum(parts) / 100

    def quantile(self, percent: float) -> float:
        """Return the size in octets that ``percent`` of the flows do not exceed.

        Raises:
            ArgumentError: ``percent`` is not a number from 0 to 100.
        """
        if not 0 <= percent <= 100:
            raise ArgumentError(f"percent is {percent}", "write a number from 0 to 100")
        above = bisect_left(self.points, percent, key=lambda point: point.percent)
        high = self.points[above]
        if above == 0 or high.percent == percent:
            return float(high.octets)
        low = self.points[above - 1]
        share = (percent - low.percent) / (high.percent - low.percent)
        return low.octets + share * (high.octets - low.octets)

    def text(self) -> str:
        """Return the points as a file that HPCC's traffic generator reads: no comments, a number as short as exact."""
        return "".join(f"{point.octets} {_shortest(point.percent)}\n" for point in self.points)


def names() -> list[str]:
    """Return the names of the distributions that Penstock has, sorted."""
    return sorted(
        entry.name.removesuffix(".cdf")
        for entry in resources.files("penstock.workloads").iterdir()
        if entry.name.endswith(".cdf")
    )


def distribution(name: str) -> Distribution:
    """Return one of Penstock's distributions by its name; its file names its source.

    Raises:
        ArgumentError: there is none of that name.
    """
    known = names()
    if name not in known:
        hint = nearest(name, known, f"write one of {', '.join(known)}")
        raise ArgumentError(f"there is no distribution {name!r}", hint)
    file = resources.files("penstock.workloads") / f"{name}.cdf"
    return parse(file.read_text(encoding="utf-8"), name)


def read(path: str | os.PathLike[str]) -> Distribution:
    """Read a distribution from a file.

    Raises:
        DistributionError: the file is not a distribution; the message has the line.
        OSError: it cannot be read.
    """
    place = Path(path)
    return parse(files.read_text(place, _OCTETS_MAX, DistributionError), str(place))


def parse(text: str, name: str) -> Distribution:
    """Read a distribution from its text; ``name`` stands in messages and is the distribution's name.

    Raises:
        DistributionError: the text is not a distribution; the message has the line.
    """
    written: list[_Written] = []
    for line, words in _lines(text):
        point = _point(words, name, line)
        if written:
            _in_order(written[-1], point, name, line)
        if len(written) == POINTS_MAX:
            raise DistributionError(name, line, f"there are more than {POINTS_MAX} points; write fewer")
        written.append(point)
    if not written:
        raise DistributionError(name, None, "there is no point; write a size in octets and a percentage a line")
    last = written[-1]
    notes = []
    if last.share == 1:
        notes.append(f"{name}: the last share is 1, so shares are read as fractions and not as percent")
        written = [_Written(at.octets, at.share * 100, at.line) for at in written]
    elif last.share != 100:
        reason = f"the last point is at {_shortest(float(last.share))} percent; it must be at 100"
        raise DistributionError(name, last.line, f"{reason}, or at 1 where shares are fractions")
    for at in written:
        if at.octets == 0 and at.share > 0:
            reason = (
                f"{_shortest(float(at.share))} percent of the flows have a size of 0; a flow has one octet at least"
            )
            raise DistributionError(name, at.line, reason)
    if len(written) == 1:
        raise DistributionError(name, last.line, "there is one point; write two at least")
    points = _without_steps(written)
    if len(points) < len(written) or any(at.octets != b.octets for at, b in zip(written, points, strict=False)):
        notes.append(f"{name}: where a size appears twice the share steps up at it, here within one octet")
    if len(points) == 1:
        points.insert(0, Point(points[0].octets - 1, 0.0))
    return Distribution(name, tuple(points), tuple(notes))


@dataclass(frozen=True)
class _Written:
    """A point as a line has it, with the number of the line."""

    octets: int
    share: Decimal
    line: int


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    """Return the lines that have fields, each with its number: between blanks, commas or semicolons, no comments."""
    for line, written in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        words = re.split(r"[\s,;]+", re.split(r"#|//", written, maxsplit=1)[0].strip())
        if words != [""]:
            yield line, words


def _point(words: list[str], name: str, line: int) -> _Written:
    """Return the point of a line's fields."""
    if len(words) != 2:
        count = f"{len(words)} word{'' if len(words) == 1 else 's'}"
        reason = f"there {'is' if len(words) == 1 else 'are'} {count}; write a size in octets and a percentage"
        raise DistributionError(name, line, reason)
    octets, percent = (_number(word, name, line) for word in words)
    if octets < 0 or octets != int(octets) or octets > SIZE_MAX:
        reason = f"the size is {_cut(words[0])}; write a whole number of octets from 0 to {SIZE_MAX}"
        raise DistributionError(name, line, reason)
    if not 0 <= percent <= 100:
        raise DistributionError(name, line, f"the percentage is {_cut(words[1])}; write a number from 0 to 100")
    return _Written(int(octets), percent, line)


def _in_order(before: _Written, point: _Written, name: str, line: int) -> None:
    """Refuse a point that does not follow the one before it. The same size with a larger share is a step."""
    if point.share < before.share:
        fall = f"the percentage falls from {_shortest(float(before.share))} to {_shortest(float(point.share))}"
        raise DistributionError(name, line, f"{fall}; it must not fall from line to line")
    if point.octets < before.octets or (point.octets == before.octets and point.share == before.share):
        reason = f"the size {point.octets} follows {before.octets}; sizes must grow from line to line"
        raise DistributionError(name, line, reason)


def _without_steps(written: list[_Written]) -> list[Point]:
    """Return points whose sizes grow: of a step, the share before it belongs to the size that is one octet less."""
    points: list[Point] = []
    for place, at in enumerate(written):
        step = place + 1 < len(written) and written[place + 1].octets == at.octets
        octets = at.octets - 1 if step else at.octets
        # Where there is no size between the foot of a step and the point before, that point has its share.
        if step and (not points or points[-1].octets >= octets):
            continue
        points.append(Point(octets, float(at.share)))
    return points


def _number(word: str, name: str, line: int) -> Decimal:
    """Return the finite number that a word writes, as it writes it."""
    try:
        number = Decimal(word) if word.isascii() and "_" not in word else Decimal("nan")
    except InvalidOperation:
        number = Decimal("nan")
    if not number.is_finite():
        raise DistributionError(name, line, f"{_cut(word)!r} is not a number; write one such as 10000 or 97.5")
    return number


def _cut(word: str) -> str:
    """Return a word at a length that a message can show."""
    return word if len(word) <= _SHOWN_MAX else f"{word[:_SHOWN_MAX]}…"


def _shortest(number: float) -> str:
    """Return a percentage without a fraction of zero, and exactly otherwise."""
    return str(int(number)) if number == int(number) else repr(number)
