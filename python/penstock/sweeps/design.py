"""The design of a sweep: a scenario, the keys that are varied, schemes and seeds; from keywords or from a file."""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from hashlib import sha256
from math import prod
from os import PathLike
from pathlib import Path
from typing import Any

from penstock import ScenarioError, __version__, library
from penstock.catalogue import file_of, is_location, keys, label_of
from penstock.catalogue import schemes as every_scheme
from penstock.errors import ArgumentError
from penstock.runs import PERCENTILES, Copies, copies, seeds_of
from penstock.scenario import Scenario
from penstock.scheme_class import Scheme, located
from penstock.sweeps.axes import NO_LOCATION, Axis, AxisLocation, Key, SweepError, Value, axis, check_distinct, points
from penstock.toml_reader import Table, lines_of, nearest, parse
from penstock.variants import Variant

MOST_RUNS = 1_000_000
_WORDS = ("scenario", "schemes", "seeds", "profile", "queue", "series", "limit", "set", "variant", "vary")

KEYS = (
    (
        "scenario",
        "text",
        "*required*",
        "A scenario file, from this file's folder, or a name of `penstock scenarios`.",
    ),
    ("schemes", "list of names", "the scenario's own", "The schemes that run on it."),
    (
        "seeds",
        "count, or list of counts",
        "`1`",
        "Runs of each, their seeds from the scenario's on; or the seeds.",
    ),
    ("profile", "text", "none", "The schemes' named settings."),
    ("queue", "text", "the longest of each run", "The queue by which runs are judged, as `NODE->NODE`."),
    ("series", "true or false", "`false`", "Whether the time series of every run are kept."),
    ("limit", "count", "`1`", "Factor on every limit of what a scenario may ask for, up to 1000."),
    ("set", "table", "none", "Keys of the scenario that have another value in every run."),
    (
        "[[variant]]",
        "tables",
        "none",
        "Schemes with other settings, which run in addition to those of `schemes`: `name`, `scheme` (by default the "
        "scenario's own), and the keys of the scenario in a table `set`.",
    ),
    (
        "[[vary]]",
        "tables",
        "none",
        "Keys that are varied, each with a list of values or a range `{ from, to, points, log }`. The keys of one "
        "table change together; tables are crossed, the last fastest.",
    ),
)
"""Every key of a sweep file: its name, the form of its value, its default, and its meaning."""


@dataclass(frozen=True)
class Design:
    """A sweep as it is asked for.

    Attributes:
        scenario: the scenario, with what every run sets.
        axes: the keys that are varied; crossed with one another.
        schemes: the schemes, and variants of them; empty for the scenario's own.
        seeds: the seeds.
        profile: the schemes' named settings.
        queue: the queue by which runs are judged; by default the longest of each run.
        series: whether time series are kept.
        limit: as in :meth:`penstock.scenario.Scenario.run`.
        location: where it is written.
    """

    scenario: Scenario
    axes: tuple[Axis, ...]
    schemes: tuple[str | Variant, ...]
    seeds: tuple[int, ...]
    profile: str | None = None
    queue: str | None = None
    series: bool = False
    limit: int = 1
    location: AxisLocation = NO_LOCATION

    @property
    def keys(self) -> tuple[Key, ...]:
        """The keys that are varied."""
        return tuple(key for entry in self.axes for key in entry.keys)


@dataclass(frozen=True)
class Case:
    """A run of a sweep.

    Attributes:
        index: from 0.
        settings: a value for each varied key.
        chosen: the scheme instead of the scenario's own.
        scheme: the name of the scheme, or of the variant.
        seed: its seed.
        copy: makes a copy of the scenario with the settings; without them where they cannot be set.
        key: a hash of the resolved scenario without the settings of schemes that act nowhere in it, of the seed, the
            version, and the records that are kept: equal for equal rows.
        fault: the reason why it cannot run.
    """

    index: int
    settings: tuple[Value, ...]
    chosen: str | None
    scheme: str
    seed: int
    copy: Copies
    key: str
    fault: str | None = None


def design(
    scenario: Scenario,
    vary: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    *,
    schemes: Sequence[str | type[Scheme] | Variant] = (),
    seeds: int | Sequence[int] = 1,
    profile: str | None = None,
    queue: str | None = None,
    series: bool = False,
    limit: int = 1,
    location: AxisLocation | None = None,
    axes: Sequence[Axis] | None = None,
) -> Design:
    """Make a design of keywords; :func:`penstock.sweep` explains them. ``axes`` stand in for ``vary``.

    Raises:
        SweepError: a value is not legal.
    """
    location = location or NO_LOCATION
    if axes is None and isinstance(vary, Mapping):
        axes = [axis({key: values}, location) for key, values in vary.items()]
    elif axes is None:
        axes = [axis(several, location) for several in vary if not isinstance(several, str)]
    check_distinct(axes)
    known = [entry["name"] for entry in every_scheme()]
    choices = [choice if isinstance(choice, Variant) else located(choice) for choice in schemes]
    labels = [_label(choice) for choice in choices]
    for choice, name in zip(choices, labels, strict=True):
        if not isinstance(choice, Variant) and name not in known and not is_location(choice):
            raise location.error("schemes", f"{name!r} is not a scheme", nearest(str(name), known))
        if labels.count(name) > 1:
            raise location.error("schemes", f"{name!r} appears twice", "name each once")
    own = scenario.with_(PERCENTILES)
    if not isinstance(limit, int) or isinstance(limit, bool) or not 1 <= limit <= 1000:
        raise location.error("limit", f"{limit!r} is not a factor", "write a whole number from 1 to 1000")
    first = first_seed(own) if isinstance(seeds, int) else 0
    numbers = seeds_of(seeds, first, location.error)
    made = Design(own, tuple(axes), tuple(choices), numbers, profile, queue, series, limit, location)
    runs = prod(len(entry) for entry in axes) * max(1, len(choices)) * len(made.seeds)
    if runs > MOST_RUNS:
        raise location.error(
            None, f"comes to {runs} runs", f"at most {MOST_RUNS}: vary fewer keys, or give fewer values"
        )
    return made


def read(path: str | PathLike[str]) -> Design:
    """Read a sweep file.

    Raises:
        SweepError: it cannot be read, or is not a valid sweep.
        ScenarioError: its scenario cannot be read.
    """
    file = Path(path)
    document = Table.of(
        file, "", parse(file, SweepError, "name a TOML file with the keys scenario and vary"), SweepError
    )
    named = document.text("scenario")
    beside = file.parent / named
    found = beside if beside.is_file() else library.locate(named)
    if found is None:
        hint = library.hint(named, file.parent)
        raise document.error("scenario", f"{named}: neither a file nor a scenario of Penstock", hint)
    scenario = Scenario.load(found)
    location = AxisLocation(file)
    for key, value in settings_of(document.table("set")).items():
        scenario.set(key, value)
    lines = lines_of(file, "vary")
    tables = document.tables("vary", lines)
    keywords: dict[str, Any] = {
        "schemes": [
            *_words(document, "schemes"),
            *(_variant(table) for table in document.tables("variant", lines_of(file, "variant"))),
        ],
        "seeds": document.raw("seeds", 1),
        "profile": document.text("profile", "") or None,
        "queue": document.text("queue", "") or None,
        "series": document.switch("series", False),
        "limit": document.raw("limit", 1),
    }
    document.end(_WORDS)
    axes = [axis(table.values, AxisLocation(file, table.line)) for table in tables]
    return design(scenario, (), axes=axes, location=location, **keywords)


def cases(made: Design) -> list[Case]:
    """Return every run of a design, in order: the last axis is the fastest, then schemes, then seeds.

    Each combination of values and schemes is laid out once, so that what is wrong is found before anything runs.

    Raises:
        SweepError: a value of a key, or a scheme, is not legal in any combination.
    """
    return cases_of_all([made])[0]


def cases_of_all(designs: Sequence[Design]) -> list[list[Case]]:
    """Return every run of each design, as :func:`cases` does.

    Raises:
        SweepError: a value of a key, or a scheme, is not legal in any combination of any of them.
    """
    faults: dict[_Suspect, SweepError] = {}
    legal: set[_Suspect] = set()
    found = [_cases(made, faults, legal) for made in designs]
    for suspect, refused in faults.items():
        if suspect not in legal:
            raise refused
    return found


_Suspect = tuple[str, Value | None]
"""A key with a value, or the word for schemes with a name, that a message may be about."""


def _cases(made: Design, faults: dict[_Suspect, SweepError], legal: set[_Suspect]) -> list[Case]:
    found: list[Case] = []
    unset, own_scheme = copies(made.scenario), made.scenario.scheme
    for settings in points(made.axes):
        # Which of the values a message is about, the message says itself; all of them are under suspicion.
        named = [(key.key, value) for key, value in zip(made.keys, settings, strict=True)]
        for choice in made.schemes or (None,):
            chosen = choice.chosen if isinstance(choice, Variant) else choice
            suspects: list[_Suspect] = [*named, ("schemes", _label(choice))]
            copy, fault = unset, None
            acting = f"{settings} {_label(choice)}"
            try:
                scenario = made.scenario.copy()
                for key, value in named:
                    scenario.set(key, value)
                with choice.named() if isinstance(choice, Variant) else nullcontext():
                    if isinstance(choice, Variant):
                        scenario = choice.of(scenario)
                    copy = copies(scenario)
                    acting = _acting(
                        scenario.resolved(scheme=chosen, profile=made.profile, seed=made.seeds[0], limit=made.limit)
                    )
                if made.queue is not None:
                    _check_queue(scenario, chosen, made)
                legal.update(suspects)
            except (ScenarioError, ArgumentError) as error:
                refused = _refused(error, made)
                fault = ": ".join(part for part in (refused.key, refused.message) if part)
                for suspect in suspects:
                    faults.setdefault(suspect, refused)
            for seed in made.seeds:
                kept = (__version__, str(seed), made.queue or "", "series" if made.series else "", acting)
                hashed = sha256("\n".join(kept).encode()).hexdigest()[:32]
                label = _label(choice) if choice is not None else own_scheme
                found.append(Case(len(found), settings, chosen, label, seed, copy, hashed, fault))
    return found


def _label(choice: str | Variant | None) -> str:
    return choice.name if isinstance(choice, Variant) else label_of(str(choice))


def _variant(table: Table) -> Variant:
    """Read a variant of a sweep file."""
    name, scheme = table.text("name"), table.text("scheme", "") or None
    settings = settings_of(table.table("set"))
    table.end(("name", "scheme", "set"))
    try:
        return Variant(name, scheme, settings)
    except ArgumentError as error:
        raise table.error("name", error.message, error.hint) from None


_SCHEME = re.compile(r'\bscheme = "([^"]*)"')
_SETTINGS = re.compile(r"^\[schemes\.([^\]]*)\]$(?:\n(?!\[).*)*\n?", re.MULTILINE)


def _acting(resolved: str) -> str:
    """Return the part of a resolved scenario that its results follow from: settings of schemes that act nowhere go."""
    acting = set(_SCHEME.findall(resolved))
    # A scheme of a file has its settings under the name that the file gives it, and its results follow from the file.
    files = {file_of(name) for name in acting if is_location(name)}
    if not files:
        return _SETTINGS.sub(lambda table: table[0] if table[1] in acting else "", resolved)
    digests = {str(file): sha256(file.read_bytes()).hexdigest() for file in sorted(files) if file.is_file()}
    return resolved + json.dumps(digests)


def _check_queue(scenario: Scenario, chosen: str | None, made: Design) -> None:
    known = scenario.outline(scheme=chosen, profile=made.profile, seed=made.seeds[0], limit=made.limit)["queues"]
    if made.queue not in known:
        raise made.location.error(
            "queue", f"no recorded queue is called {made.queue}", nearest(made.queue or "", known)
        )


def _refused(error: ScenarioError | ArgumentError, made: Design) -> SweepError:
    """Return what a scenario says of a value as an error at the axis that has the key, or at the variant."""
    if isinstance(error, ArgumentError):
        return made.location.error("schemes", error.message, error.hint)
    key, message = error.key, error.message.replace(", as given by set()", "")
    for entry in made.axes:
        if key and any(own.key == key or own.key.startswith(f"{key}.") for own in entry.keys):
            return entry.location.error(key, message, error.hint or "")
    return made.location.error(key, message, error.hint or "")


def first_seed(scenario: Scenario) -> int:
    """Return the seed of a scenario; that of one that names none is the key's default."""
    default = next(int(key["default"] or 0) for key in keys() if (key["section"], key["key"]) == ("", "seed"))
    return int(tomllib.loads(scenario.to_toml()).get("seed", default))


def _words(document: Table, key: str) -> list[str]:
    given = document.has(key)
    value = document.raw(key, [])
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        raise document.error(key, f"{json.dumps(value)} is not a list of names", f'write {key} = ["A", "B"]')
    if given and not value:
        raise document.error(key, "is an empty list", "leave it out, or name at least one")
    return value


def settings_of(table: Table, before: str = "") -> dict[str, Value]:
    """Return the keys of a table as dotted paths."""
    found: dict[str, Value] = {}
    for key, value in table.values.items():
        if isinstance(value, Mapping):
            inner = Table.of(table.file, f"{table.path}.{key}", value, table.kind)
            found |= settings_of(inner, f"{before}{key}.")
        elif isinstance(value, str | int | float | bool):
            found[before + key] = value
        else:
            raise table.error(key, f"{value!r} is not a value of a key", "write a text, a number, true or false")
    return found
