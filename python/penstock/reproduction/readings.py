"""The readings of a paper as a space: readings.toml, the choices that the paper leaves open with their alternatives.

    seeds = 2                       # seeds of each claim while the search goes on
    changed = 2                     # choices that are changed at once, 1 or 2
    aside = ["table-1"]             # figures that take no part in the search

    [start.former]                  # a reading to begin from too, by what differs from the profile's
    sampling = "table"

    [[choice]]
    name = "sampling"
    open = "the paper speaks of the sampled frame, not of a rule (section 2.1)"
    schemes = ["qcn", "qcn-bs"]     # "schemes.*.KEY" below stands for each of them

    [choice.readings.table]         # alternatives: each a part of profile.toml
    every = { "schemes.*.sampling" = "table" }

A choice owns the keys that its alternatives set: an alternative that leaves one out takes it from the profile. One
alternative of each choice is what the profile has now.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product
from math import prod
from typing import Any

from penstock import Scenario, ScenarioError
from penstock.reproduction.paper import Paper, Profile, profile_of, set_all, stated
from penstock.reproduction.paper_file import whole
from penstock.reproduction.plan import Run
from penstock.toml_reader import Table, lines_of, nearest

FILE = "readings.toml"
SEEDS = 2
"""Seeds of a claim while the search goes on, where the file names no number."""

CHANGED = 2
"""Choices that are changed at once, where the file names no number."""

_MOST_SEEDS = 1000
_STAR = "schemes.*."

Reading = tuple[int, ...]
"""The number of the alternative that is taken, for each choice in the order of the file."""

_Place = tuple[str, ...]
_Flat = dict[_Place, Any]
"""A profile, or a part of one, as values by position: ``("every", key)``, ``("experiment", name, key)``, …."""


@dataclass(frozen=True)
class Alternative:
    """One reading of an open point."""

    name: str
    values: Mapping[_Place, Any]


@dataclass(frozen=True)
class Choice:
    """A point that the paper leaves open.

    Attributes:
        name: its name.
        open: why it is open, with the section of the paper.
        alternatives: its readings.
        own: the number of the alternative that the paper's profile has.
    """

    name: str
    open: str
    alternatives: tuple[Alternative, ...]
    own: int

    @cached_property
    def places(self) -> frozenset[_Place]:
        """The values that it owns."""
        return frozenset(place for alternative in self.alternatives for place in alternative.values)


@dataclass(frozen=True)
class Space:
    """All readings of a paper.

    Attributes:
        paper: the paper.
        choices: its open points.
        aside: names of figures that take no part in the search.
        seeds: how many of each claim's seeds a search looks at.
        changed: how many choices a search changes at once, 1 or 2.
        starts: readings that a search begins from, the profile's first.
    """

    paper: Paper
    choices: tuple[Choice, ...]
    aside: tuple[str, ...]
    seeds: int
    changed: int
    starts: tuple[Reading, ...]

    @property
    def own(self) -> Reading:
        """The reading of the paper's profile."""
        return self.starts[0]

    @property
    def size(self) -> int:
        """How many readings there are."""
        return prod(len(choice.alternatives) for choice in self.choices)

    @cached_property
    def halves(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The figures that take part and have a claim that can be tested: every other one, in the order of the file."""
        tested = {claim.figure for claim in self.paper.claims if claim.testable is not None}
        names = [f.name for f in self.paper.figures if f.name in tested and f.name not in self.aside]
        return tuple(names[::2]), tuple(names[1::2])

    def names(self, reading: Reading) -> dict[str, str]:
        """Return the alternative that a reading takes, by choice."""
        return {c.name: c.alternatives[taken].name for c, taken in zip(self.choices, reading, strict=True)}

    def changes(self, reading: Reading) -> dict[str, str]:
        """Return the alternatives that differ from the profile's, by choice."""
        own = self.names(self.own)
        return {choice: taken for choice, taken in self.names(reading).items() if taken != own[choice]}

    def paper_of(self, reading: Reading) -> Paper:
        """Return the paper as it is under a reading."""
        flat = _flat(self.paper.profile)
        for choice, taken in zip(self.choices, reading, strict=True):
            if taken != choice.own:
                for place in choice.places:
                    flat.pop(place, None)
                flat |= choice.alternatives[taken].values
        return replace(self.paper, profile=_profile(flat))

    def all(self) -> Iterator[Reading]:
        """Yield every reading."""
        yield from product(*(range(len(choice.alternatives)) for choice in self.choices))

    def beside(self, reading: Reading, changed: int) -> Iterator[Reading]:
        """Yield the readings that differ from one in exactly ``changed`` choices."""
        for places in combinations(range(len(self.choices)), changed):
            others = (
                [other for other in range(len(self.choices[place].alternatives)) if other != reading[place]]
                for place in places
            )
            for taken in product(*others):
                varied = list(reading)
                for place, other in zip(places, taken, strict=True):
                    varied[place] = other
                yield tuple(varied)

    def reverted(self, reading: Reading) -> dict[str, Reading]:
        """Return a reading with one of its changes from the profile taken back, by the choice."""
        return {
            choice.name: (*reading[:place], choice.own, *reading[place + 1 :])
            for place, choice in enumerate(self.choices)
            if reading[place] != choice.own
        }

    def options(self, metric: str) -> list[dict[str, Any]]:
        """Return the arguments that a metric gets from the profile, under every reading of it."""
        own = self.paper.profile.metrics.get(metric, {})
        found = [own]
        for choice in self.choices:
            owned = {place[2] for place in choice.places if place[:2] == ("metric", metric)}
            if owned:
                found = [
                    {name: value for name, value in before.items() if name not in owned}
                    | {place[2]: v for place, v in alternative.values.items() if place[:2] == ("metric", metric)}
                    for before in found
                    for alternative in choice.alternatives
                ]
        return [own, *(options for i, options in enumerate(found) if options != own and options not in found[:i])]


def space(paper: Paper) -> Space:
    """Read the readings of a paper.

    Raises:
        PaperError: there is no readings.toml, or it is not one; file, line, key and hint say why.
    """
    path = paper.folder / FILE
    document = whole(path)
    seeds, changed = _whole(document, "seeds", SEEDS, _MOST_SEEDS), _whole(document, "changed", CHANGED, CHANGED)
    figures = [figure.name for figure in paper.figures]
    aside = document.raw("aside", [])
    if not isinstance(aside, list):
        raise document.error("aside", "is not a list of figures", 'write aside = ["figure-1"]')
    for name in aside:
        if name not in figures:
            raise document.error("aside", f"{name!r} is not a figure of the paper", nearest(str(name), figures))
    tables = document.tables("choice", lines_of(path, "choice"))
    starts = document.table("start")
    document.end(("seeds", "changed", "aside", "start", "choice"))
    if not tables:
        raise document.error("choice", "there is none", "declare an open point: [[choice]]")
    flat = _flat(paper.profile)
    owners: dict[_Place, str] = {}
    choices = tuple(_choice(table, paper, flat, owners) for table in tables)
    others = [_start(starts.table(name), choices) for name in list(starts.values)]
    own = tuple(choice.own for choice in choices)
    found = Space(paper, choices, tuple(aside), seeds, changed, (own, *others))
    if not all(found.halves):
        raise document.error("aside", "leaves fewer than two figures with claims to test", "leave some out of aside")
    _check(found, tables)
    return found


def _choice(table: Table, paper: Paper, profile: Mapping[_Place, Any], owners: dict[_Place, str]) -> Choice:
    """Read a choice; ``owners`` has the choices of values so far, and gets those of this one."""
    name = table.text("name")
    table.path = f"choice {name}"
    if name in owners.values():
        raise table.error("name", "is also the name of another choice", "give each choice its own name")
    why = table.text("open")
    schemes = table.raw("schemes", [])
    if not isinstance(schemes, list) or not all(isinstance(scheme, str) for scheme in schemes):
        raise table.error("schemes", "is not a list of schemes", 'write schemes = ["qcn"]')
    readings = table.table("readings")
    table.end(("name", "open", "schemes", "readings"))
    alternatives = tuple(_alternative(readings, key, schemes, paper) for key in list(readings.values))
    if len(alternatives) < 2:
        raise table.error("readings", "a choice needs at least two", "write [choice.readings.NAME] for each")
    choice = Choice(name, why, alternatives, 0)
    for place in sorted(choice.places):
        if owners.setdefault(place, name) != name:
            raise table.error(
                "readings", f"{'.'.join(place)} is also set by choice {owners[place]}", "set it in one choice alone"
            )
    has = {place: profile[place] for place in choice.places if place in profile}
    own = [number for number, alternative in enumerate(alternatives) if alternative.values == has]
    if len(own) != 1:
        values = (
            ", ".join(f"{'.'.join(place)} = {value!r}" for place, value in sorted(has.items())) or "none of its keys"
        )
        fault = "two readings are" if own else "no reading is"
        raise table.error("readings", f"{fault} that of profile.toml, which has {values}", "declare it once")
    return replace(choice, own=own[0])


def _alternative(readings: Table, name: str, schemes: list[str], paper: Paper) -> Alternative:
    inner = readings.table(name)
    every = inner.table("every")
    for key in [key for key in every.values if key.startswith(_STAR)]:
        if not schemes:
            raise every.error(f'"{key}"', "stands for no scheme", 'write schemes = ["qcn", …] in the choice')
        value = every.values.pop(key)
        every.values |= {f"schemes.{scheme}.{key.removeprefix(_STAR)}": value for scheme in schemes}
    inner.values["every"] = every.values
    part = profile_of(inner, paper.experiments, paper.metrics)
    for experiment, path in paper.experiments.items():
        for key in stated(path, part.of(experiment)):
            raise inner.error(f'"{key}"', f"is stated in {path.name}", "the paper's own values are not open")
    return Alternative(name, _flat(part))


def _whole(document: Table, key: str, default: int, most: int) -> int:
    """Take a whole number from 1 to ``most``."""
    value = document.raw(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise document.error(key, f"{value!r} is not a whole number from 1 to {most}", f"write {key} = {default}")
    return value


def _start(table: Table, choices: tuple[Choice, ...]) -> Reading:
    """Read a reading to begin from."""
    taken = []
    for choice in choices:
        names = [alternative.name for alternative in choice.alternatives]
        taken.append(names.index(table.word(choice.name, names, names[choice.own])))
    table.end(choice.name for choice in choices)
    return tuple(taken)


def _check(found: Space, tables: list[Table]) -> None:
    """Refuse an alternative that no run of the paper can take, before the first run."""
    runs: dict[Run, None] = {}
    for claim in found.paper.claims:
        if claim.testable is not None:
            runs |= dict.fromkeys(want.run for want in claim.testable.question.wanted(()))
    own: dict[Run, Scenario] = {}
    for number, (choice, table) in enumerate(zip(found.choices, tables, strict=True)):
        for taken, alternative in enumerate(choice.alternatives):
            if taken == choice.own or all(place[0] == "metric" for place in choice.places):
                continue
            reading = (*found.own[:number], taken, *found.own[number + 1 :])
            paper = found.paper_of(reading)
            for run in runs:
                try:
                    _varied(found.paper, paper, run, own).outline(scheme=run.scheme)
                except ScenarioError as error:
                    message = f"{run}: {error.key}: {error.message}" if error.key else f"{run}: {error.message}"
                    raise table.error(f"readings.{alternative.name}", message, error.hint or "") from None


def _varied(paper: Paper, varied: Paper, run: Run, own: dict[Run, Scenario]) -> Scenario:
    """Return the scenario of a run of the varied paper; ``own`` keeps those of the paper, which differ by few keys."""
    before, after = paper.acting(run), varied.acting(run)
    if not before.keys() <= after.keys():
        return varied.scenario(run)
    if run not in own:
        own[run] = paper.scenario(run)
    return set_all(own[run].copy(), {key: value for key, value in after.items() if before.get(key) != value})


def _flat(profile: Profile) -> _Flat:
    """Return the values of a profile by their positions."""
    flat: _Flat = {("every", key): value for key, value in profile.every.items()}
    for kind, tables in (("experiment", profile.own), ("metric", profile.metrics)):
        flat |= {(kind, name, key): value for name, table in tables.items() for key, value in table.items()}
    return flat


def _profile(flat: Mapping[_Place, Any]) -> Profile:
    """Return the profile that has the values."""
    found = Profile({}, {}, {})
    for place, value in flat.items():
        if place[0] == "every":
            found.every[place[1]] = value
        else:
            tables: dict[str, dict[str, Any]] = found.own if place[0] == "experiment" else found.metrics
            tables.setdefault(place[1], {})[place[2]] = value
    return found
