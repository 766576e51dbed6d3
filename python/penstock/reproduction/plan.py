"""The plan of runs: claims and figures ask for quantities of runs; each run that any of them needs is run once."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

Setting = str | int | float | bool | tuple[str, ...]
"""A value of a scenario's key: a quantity as text, a number, a switch, or a list of names."""


@dataclass(frozen=True)
class Run:
    """A run but for its seed: an experiment of the paper, a scheme on it, and the settings beside the profile."""

    experiment: str
    scheme: str
    settings: tuple[tuple[str, Setting], ...] = ()
    """Keys of the scenario by dotted path, sorted."""

    @classmethod
    def of(cls, experiment: str, scheme: str, settings: Mapping[str, Setting] | None = None) -> Self:
        """Build one from a mapping."""
        return cls(experiment, scheme, tuple(sorted((settings or {}).items())))

    def __str__(self) -> str:
        text = "".join(f", {key} = {value}" for key, value in self.settings)
        return f"{self.experiment} with {self.scheme}{text}"


@dataclass(frozen=True)
class Quantity:
    """A quantity of a run: a metric by name, with its arguments."""

    metric: str
    arguments: str = "{}"
    """As JSON, so that equal quantities are equal and can be keys."""

    @classmethod
    def of(cls, metric: str, arguments: Mapping[str, Any] | None = None) -> Self:
        """Build one from a mapping of arguments."""
        return cls(metric, json.dumps(arguments or {}, sort_keys=True))

    def __str__(self) -> str:
        arguments = json.loads(self.arguments)
        text = ", ".join(f"{key} = {_text(value)}" for key, value in arguments.items())
        return f"{self.metric}({text})" if text else self.metric

    def keywords(self) -> dict[str, Any]:
        """Return the arguments."""
        return dict(json.loads(self.arguments))


@dataclass(frozen=True)
class Wanted:
    """A quantity of a run, for each of several seeds."""

    run: Run
    quantity: Quantity
    seeds: tuple[int, ...]


@dataclass
class Job:
    """One run, and all that is taken from it."""

    run: Run
    seed: int
    quantities: dict[Quantity, None] = field(default_factory=dict)
    """In the order in which they were asked for."""


def jobs(wanted: Iterable[Wanted]) -> list[Job]:
    """Return the runs that are needed, each once, with everything that is wanted of it."""
    found: dict[tuple[Run, int], Job] = {}
    for want in wanted:
        for seed in want.seeds:
            job = found.setdefault((want.run, seed), Job(want.run, seed))
            job.quantities[want.quantity] = None
    return list(found.values())


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
