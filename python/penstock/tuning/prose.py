"""Words for the parts of an answer: seeds, values, broken guards."""

from collections.abc import Callable

from penstock.metrics.seeds import Statistics, written
from penstock.quantity_text import count, duration, octets
from penstock.tuning.measures import MEASURES
from penstock.tuning.verdict import Verdict


def seeds(seeds: tuple[int, ...]) -> str:
    """Write seeds, those that follow one another by the first and the last."""
    if len(seeds) == 1:
        return f"seed {seeds[0]}"
    if seeds == tuple(range(seeds[0], seeds[-1] + 1)):
        return f"seeds {seeds[0]} to {seeds[-1]}"
    return f"seeds {', '.join(map(str, seeds[:-1]))} and {seeds[-1]}"


def value(value: float, kind: str, *, signed: bool = False) -> str:
    """Write the value of a measure of the given kind, with a sign if it is a difference."""
    size = abs(value)
    writers: dict[str, Callable[[float], str]] = {
        "octets": octets,
        "share": lambda v: f"{100 * v:.2f} {'points' if signed else '%'}",
        "count": lambda v: count(round(v)) if v == round(v) else f"{v:.1f}",
        "index": lambda v: f"{v:.3f}",
        "time": duration,
        "ratio": lambda v: f"{v:.3g}",
    }
    sign = ("-" if value < 0 else "+") if signed else ""
    return sign + writers[kind](size)


def over_seeds(of: Statistics, kind: str) -> str:
    """Write a spread of values of the given kind."""
    return written(of, lambda each: value(each, kind))


def mean_of(of: Statistics, kind: str) -> str:
    """Write the mean of a spread."""
    return "-" if of["mean"] is None else value(of["mean"], kind)


def broken(verdict: Verdict) -> str:
    """Write what the proposal pays with more than it may; nothing if it keeps all guards."""
    return f", but breaks: {', '.join(MEASURES[key].title for key in verdict.broken)}" if verdict.broken else ""
