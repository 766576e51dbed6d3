"""From one number a seed to a verdict: how seeds are combined, a test's tolerance, by how much a claim is missed."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev
from typing import Literal

Verdict = Literal["holds", "differs", "cannot be tested"]
HOLDS: Verdict = "holds"
DIFFERS: Verdict = "differs"
UNTESTABLE: Verdict = "cannot be tested"

Over = Literal["mean", "median", "min", "max", "share"]
OVER: tuple[Over, ...] = ("mean", "median", "min", "max", "share")

_COMBINED: Mapping[Over, Callable[[Sequence[float]], float]] = {
    "mean": fmean,
    "median": median,
    "min": min,
    "max": max,
}

_Z95 = 1.959963984540054
"""The standard normal distribution's 97.5 % point: both sides together leave 5 %."""


@dataclass(frozen=True)
class Bound:
    """The limits of a number; ``None`` is no limit."""

    at_least: float | None = None
    at_most: float | None = None

    def misses_by(self, value: float) -> float:
        """Return the distance to the nearest value that is accepted: 0 within, negative below, positive above."""
        if self.at_least is not None and value < self.at_least:
            return value - self.at_least
        if self.at_most is not None and value > self.at_most:
            return value - self.at_most
        # A number that is none keeps to nothing.
        return value if math.isnan(value) else 0.0

    def __str__(self) -> str:
        if self.at_least is not None and self.at_most is not None:
            return f"{self.at_least:.6g} to {self.at_most:.6g}"
        if self.at_least is not None:
            return f"at least {self.at_least:.6g}"
        return f"at most {self.at_most:.6g}"


@dataclass(frozen=True)
class CombinedValue:
    """The numbers of all seeds together. For a share, ``low`` and ``high`` are its 95 % interval, else the extremes."""

    value: float
    seeds: int
    low: float
    high: float
    std: float | None
    """Sample standard deviation over the seeds; of a share, a single seed, or an infinite value there is none."""
    good: int | None = None
    """Of a share: how many seeds it is."""


def combine(values: Sequence[float], over: Over, good: Bound | None = None) -> CombinedValue:
    """Combine one value a seed; a ``share`` is that of the seeds which keep to ``good``."""
    if over == "share":
        if good is None:
            raise ValueError("a share of seeds needs a bound")
        k, n = sum(good.misses_by(value) == 0 for value in values), len(values)
        low, high = wilson(k, n)
        return CombinedValue(k / n, n, low, high, None, k)
    # A ratio to nothing is no number: then the seeds together have none either, even if a median would find one.
    if any(math.isnan(value) for value in values):
        return CombinedValue(math.nan, len(values), math.nan, math.nan, None)
    value = _COMBINED[over](values)
    std = stdev(values) if len(values) > 1 and all(map(math.isfinite, values)) else None
    return CombinedValue(float(value), len(values), min(values), max(values), std)


def wilson(k: int, n: int) -> tuple[float, float]:
    """Return the 95 % score interval (Wilson 1927) for the probability behind ``k`` of ``n``."""
    p, z2 = k / n, _Z95**2
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = _Z95 / (1 + z2 / n) * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    # At the ends the interval touches 0 and 1; rounding must not leave it beside them.
    return (0.0 if k == 0 else centre - half), (1.0 if k == n else centre + half)


def fisher(k1: int, n1: int, k2: int, n2: int) -> float:
    """Return how probable it is that two counts differ at least so much by chance alone (Fisher's exact test)."""
    drawn, total = k1 + k2, n1 + n2
    weights = [math.comb(n1, k) * math.comb(n2, drawn - k) for k in range(drawn + 1) if k <= n1 and drawn - k <= n2]
    own = math.comb(n1, k1) * math.comb(n2, k2)
    return sum(weight for weight in weights if weight <= own) / math.comb(total, drawn)


Write = Callable[[float], str]
"""How a number is written, with its unit."""


def plain(value: float) -> str:
    """Write a number that has no unit."""
    return f"{value:.4g}"


@dataclass(frozen=True)
class Judgement:
    """A verdict, and by how much a claim is missed."""

    verdict: Verdict
    why: str = ""


@dataclass(frozen=True)
class Within:
    """Accepts what keeps to a bound."""

    bound: Bound

    def judge(self, spreads: Sequence[CombinedValue], write: Write = plain) -> Judgement:
        """Judge the one number that there is."""
        (spread,) = spreads
        missed = self.bound.misses_by(spread.value)
        if missed == 0:
            return Judgement(HOLDS)
        if math.isnan(missed):
            return Judgement(DIFFERS, "is not a number")
        side = "below" if missed < 0 else "above"
        limit = self.bound.at_least if missed < 0 else self.bound.at_most
        part = f" ({abs(missed / limit):.1%} of it)" if limit and abs(missed) < abs(limit) else ""
        return Judgement(DIFFERS, f"{write(abs(missed))} {side} {write(limit or 0.0)}{part}")

    def __str__(self) -> str:
        return str(self.bound)


@dataclass(frozen=True)
class Consistent:
    """Accepts a count of seeds that may come from the same probability as the paper's, by Fisher's exact test."""

    good: int
    seeds: int
    level: float

    def judge(self, spreads: Sequence[CombinedValue], _write: Write = plain) -> Judgement:
        """Judge the one share that there is."""
        (spread,) = spreads
        p = fisher(spread.good or 0, spread.seeds, self.good, self.seeds)
        if p >= self.level:
            return Judgement(HOLDS)
        ours, paper = spread.value, self.good / self.seeds
        return Judgement(DIFFERS, f"{ours:.0%} of seeds, not {paper:.0%}; by chance alone with p = {p:.2g}")

    def __str__(self) -> str:
        return f"may be the same probability (Fisher's exact test, p ≥ {self.level:g})"


@dataclass(frozen=True)
class Ordered:
    """Accepts numbers each of which is larger than the one before, by a factor of ``factor`` at least."""

    factor: float

    @property
    def above(self) -> str:
        """The relation that each number must have to the one before it."""
        return "above " if self.factor <= 1 else f"{self.factor:g} times "

    def judge(self, spreads: Sequence[CombinedValue], write: Write = plain) -> Judgement:
        """Judge the numbers in the order of the claim's runs."""
        values = [spread.value for spread in spreads]
        for i in range(1, len(values)):
            if not (values[i] > values[i - 1] and values[i] >= self.factor * values[i - 1]):
                ours, before = write(values[i]), write(values[i - 1])
                return Judgement(DIFFERS, f"number {i + 1}, {ours}, is not {self.above}{before}")
        return Judgement(HOLDS)

    def __str__(self) -> str:
        return "rising" if self.factor <= 1 else f"rising, each by a factor of at least {self.factor:g}"


Test = Within | Consistent | Ordered
