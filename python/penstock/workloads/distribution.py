"""A distribution of flow sizes as a table of points, its reader and its writer."""

import math
import os
from bisect import bisect_left
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from penstock import files
from penstock.errors import ArgumentError, TextFileError, nearest

POINTS_MAX = 100_000
"""The most points that a distribution may have; the longest of the five has 843."""
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
    """

    name: str
    points: tuple[Point, ...]

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
    points: list[Point] = []
    line = 0
    for line, written in enumerate(text.split("\n"), start=1):
        words = written.split()
        if not words or words[0].startswith("#"):
            continue
        point = _point(words, name, line)
        if points:
            _in_order(points[-1], point, name, line)
        if len(points) == POINTS_MAX:
            raise DistributionError(name, line, f"there are more than {POINTS_MAX} points; write fewer")
        points.append(point)
        last = line
    if not points:
        raise DistributionError(name, None, "there is no point; write a size in octets and a percentage a line")
    if points[-1].percent != 100:
        reason = f"the last point is at {_shortest(points[-1].percent)} percent; it must be at 100"
        raise DistributionError(name, last, reason)
    if len(points) == 1:
        raise DistributionError(name, last, "there is one point; write two at least")
    return Distribution(name, tuple(points))


def _point(words: list[str], name: str, line: int) -> Point:
    """Return the point that a line's words write."""
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
    if octets == 0 and percent > 0:
        reason = f"{_cut(words[1])} percent of the flows have a size of 0; a flow has one octet at least"
        raise DistributionError(name, line, reason)
    return Point(int(octets), percent)


def _in_order(before: Point, point: Point, name: str, line: int) -> None:
    """Refuse a point that does not follow the one before it."""
    if point.percent < before.percent:
        fall = f"the percentage falls from {_shortest(before.percent)} to {_shortest(point.percent)}"
        raise DistributionError(name, line, f"{fall}; it must not fall from line to line")
    if point.octets <= before.octets:
        reason = f"the size {point.octets} follows {before.octets}; sizes must grow from line to line"
        raise DistributionError(name, line, reason)


def _number(word: str, name: str, line: int) -> float:
    """Return the finite number that a word writes."""
    try:
        number = float(word) if word.isascii() and "_" not in word else math.nan
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise DistributionError(name, line, f"{_cut(word)!r} is not a number; write one such as 10000 or 97.5")
    return number


def _cut(word: str) -> str:
    """Return a word at a length that a message can show."""
    return word if len(word) <= _SHOWN_MAX else f"{word[:_SHOWN_MAX]}…"


def _shortest(number: float) -> str:
    """Return a percentage without a fraction of zero, and exactly otherwise."""
    return str(int(number)) if number == int(number) else repr(number)
