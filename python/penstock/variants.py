"""The lines of a comparison beyond plain schemes: a scheme with other settings, and values of keys."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from penstock._core import ScenarioError
from penstock.catalogue import is_location, scheme_names
from penstock.errors import ArgumentError, nearest
from penstock.scenario import Scenario
from penstock.scheme_class import Scheme, located
from penstock.sweeps.axes import NO_LOCATION, Axis, Key, Value, axis, check_distinct, points

_NAME = re.compile(r"[\w+.-][\w+. -]*")


@dataclass(frozen=True)
class Variant:
    """A line of a comparison: a scheme with other settings, under a name.

        >>> pfc = Variant("pfc", "none", {"pfc.quanta": 65535})
        >>> penstock.compare(scenario, ["qcn", "dctcp", pfc])

    Attributes:
        name: its name in tables, figures and folders: letters, digits, blanks and ``_+.-``.
        scheme: the scheme, a name or a class; ``None`` for the scenario's own.
        settings: keys of the scenario, as for :meth:`penstock.Scenario.set`, with their values.
    """

    name: str
    scheme: str | type[Scheme] | None = None
    settings: Mapping[str, Value] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check name and scheme.

        Raises:
            ArgumentError: the name is invalid, or there is no such scheme.
        """
        if not _NAME.fullmatch(self.name) or self.name.startswith(".") or len(self.name) > 60:
            raise ArgumentError(
                f"invalid variant name {self.name!r}", "use up to 60 letters, digits, blanks and _+.-, such as pfc"
            )
        known = scheme_names()
        chosen = self.chosen
        if chosen is not None and chosen not in known and not is_location(chosen):
            hint = nearest(chosen, known, f"the schemes are {', '.join(known)}")
            raise ArgumentError(f'variant {self.name}: unknown scheme "{chosen}"', hint)

    @property
    def chosen(self) -> str | None:
        """The name or the location of the scheme."""
        return None if self.scheme is None else located(self.scheme)

    def of(self, scenario: Scenario) -> Scenario:
        """Return a copy of the scenario with the settings.

        Raises:
            ScenarioError: a key cannot be set.
        """
        return _with(scenario, self.settings)

    @contextmanager
    def named(self) -> Iterator[None]:
        """Name the variant in the error of a key that it has set: that key stands in no file.

        Raises:
            ArgumentError: instead of a ``ScenarioError`` about such a key.
        """
        try:
            yield
        except ScenarioError as error:
            if error.key not in self.settings:
                raise
            hint = error.hint or "leave it out"
            # Here no one called `set`: the settings are the variant's.
            message = error.message.replace(", as given by set()", "")
            raise ArgumentError(f"variant {self.name}: {error.key}: {message}", hint) from None


def typed(text: str) -> Variant:
    """Read a variant from a command line: ``NAME=SCHEME;KEY=VALUE;…``.

    Raises:
        ArgumentError: it is not of that form.
    """
    first, *rest = (part.strip() for part in text.split(";"))
    name, equals, scheme = (word.strip() for word in first.partition("="))
    if not (name and equals and scheme):
        raise ArgumentError(
            f"--variant {text}: not of the form NAME=SCHEME;KEY=VALUE;…",
            "write, for instance, --variant 'pfc=none;pfc.quanta=65535'",
        )
    settings: dict[str, Value] = {}
    for part in filter(None, rest):
        key, equals, value = (word.strip() for word in part.partition("="))
        if not (key and equals):
            raise ArgumentError(
                f"--variant {text}: {part} is not of the form KEY=VALUE",
                f"write, for instance, {name}={scheme};{part}=…",
            )
        if key in settings:
            raise ArgumentError(f"--variant {text}: {key} appears twice", "leave one of them out")
        settings[key] = value
    return Variant(name, scheme, settings)


def varied(scenario: Scenario, vary: Mapping[str, Any] | Sequence[Axis]) -> dict[str, Scenario]:
    """Return the scenario at every combination of values, under a text for it, such as ``load=0.3``.

    The name of each scenario is that of the first with this text.

    Raises:
        SweepError: a key has no values, or a value twice.
        ScenarioError: a key cannot be set.
    """
    axes = (
        [axis({key: values}, NO_LOCATION) for key, values in vary.items()] if isinstance(vary, Mapping) else list(vary)
    )
    check_distinct(axes)
    keys = [key for entry in axes for key in entry.keys]
    found = {}
    for values in points(axes):
        words = ", ".join(f"{_word(key, keys)}={_text(value)}" for key, value in zip(keys, values, strict=True))
        made = _with(scenario, {key.key: value for key, value in zip(keys, values, strict=True)})
        found[words] = made.set("name", json.dumps(f"{scenario.name}, {words}".replace("/", "-")))
    return found


def _with(scenario: Scenario, settings: Mapping[str, Value]) -> Scenario:
    made = scenario.copy()
    for key, value in settings.items():
        made.set(key, value)
    return made


def _word(key: Key, keys: Sequence[Key]) -> str:
    """Return the last part of a key's path; all of it where another key ends alike."""
    last = key.key.rpartition(".")[2]
    return last if sum(other.key.rpartition(".")[2] == last for other in keys) == 1 else key.key


def _text(value: Value) -> str:
    return value if isinstance(value, str) else json.dumps(value)
