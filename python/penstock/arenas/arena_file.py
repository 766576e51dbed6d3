"""The file of an arena: workloads with their judges, and competitors with their settings."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, Self

from penstock import ScenarioError, library
from penstock.arenas.speed import faster_scheme, faster_workload
from penstock.catalogue import about as about_scheme
from penstock.catalogue import is_location, label_of, scheme_names
from penstock.declared import Better
from penstock.errors import ArgumentError
from penstock.metrics.registry import COMPARED
from penstock.scenario import Scenario, joined, parts_of
from penstock.sweeps.axes import Value
from penstock.sweeps.design import settings_of
from penstock.toml_reader import PlacedError, Table, lines_of, nearest, parse
from penstock.variants import Variant

OWN = {rate: Path(__file__).parent / f"arena-{rate}.toml" for rate in ("10g", "100g", "400g")}
"""The arenas that come with Penstock, by the rate of their hosts' lines."""

STANDARD = "10g"
"""The one that runs where none is named."""

EVERY = "all"
"""The word for all competitors of an arena."""

_JUDGES: dict[str, Better] = {metric.name: metric.better or "less" for metric in COMPARED}
_OF_FLOWS = tuple(key for key in _JUDGES if key.startswith("slowdown_"))


class ArenaError(PlacedError):
    """The file of an arena that cannot be used; its attributes are those of :class:`penstock.SweepError`."""


@dataclass(frozen=True)
class Judge:
    """The number by which the competitors of a workload are ranked.

    Attributes:
        metric: its key in :data:`penstock.metrics.registry.COMPARED`.
        group: the flows that it is of; ``None`` for all.
        better: which of two values is the better one.
    """

    metric: str
    group: str | None
    better: Better

    @property
    def of_flows(self) -> bool:
        """Whether it is of finite flows, so that those that have not completed count."""
        return self.metric in _OF_FLOWS


@dataclass(frozen=True)
class Workload:
    """A workload: a scenario, and the number that judges it.

    Attributes:
        name: its name in folders and links.
        title: its name as text.
        scenario: the scenario, with what the arena sets.
        source: the name of the scenario that it was made of.
        settings: the keys that the arena sets in it.
        judge: the number that judges.
        note: a sentence or two that a reader of its standings has to know; empty for none.
    """

    name: str
    title: str
    scenario: Scenario
    source: str
    settings: Mapping[str, Value]
    judge: Judge
    note: str = ""


@dataclass(frozen=True)
class Competitor:
    """A scheme in the arena.

    Attributes:
        name: its name.
        scheme: the scheme.
        settings: keys that it sets in every scenario.
        about: a sentence on it.
        source: a sentence on where its settings come from, besides that of its profile; empty for none.
        transport: the transport of all traffic, as a scenario has it; empty for that of the scenario.
        scaled: the factor by which lengths and rates of its settings were brought to a faster line.
    """

    name: str
    scheme: str
    settings: Mapping[str, Value] = field(default_factory=dict)
    about: str = ""
    source: str = ""
    transport: str = ""
    scaled: int = 1

    def on(self, scenario: Scenario) -> str | Variant:
        """Return the competitor as a sweep of a scenario takes it."""
        settings = dict(self.settings)
        if self.transport:
            settings |= dict.fromkeys(_transports(scenario), self.transport)
        plain = self.name == self.scheme and not settings
        return self.scheme if plain else Variant(self.name, self.scheme, settings)


@dataclass(frozen=True)
class Entries:
    """An arena as its file has it.

    Attributes:
        title: its title.
        workloads: the workloads, in their order.
        competitors: the competitors, in the order of the registry.
        notes: sentences that a reader of all standings has to know.
        speed: rate of its lines over that of the scenarios that it names.
    """

    title: str
    workloads: tuple[Workload, ...]
    competitors: tuple[Competitor, ...]
    notes: tuple[str, ...] = ()
    speed: int = 1

    def of(self, workloads: Sequence[str] = (), competitors: Sequence[str] = ()) -> "Entries":
        """Return the named ones; all where no name is given.

        A competitor may be a scheme of one's own, by its location: it comes after the others. ``all`` names all others.

        Raises:
            ArgumentError: there is none of a name, or a scheme cannot be loaded.
        """
        own = [self._own(location) for location in competitors if is_location(location)]
        competitors = [name for name in competitors if not is_location(name)]
        none = bool(own) and not competitors
        if EVERY in competitors:
            competitors = ()
        of_workloads = _places(workloads, [one.name for one in self.workloads], "workload")
        of_competitors = _places(competitors, [one.name for one in self.competitors], "competitor")
        return replace(
            self,
            workloads=tuple(self.workloads[i] for i in of_workloads),
            competitors=(*(() if none else (self.competitors[i] for i in of_competitors)), *own),
        )

    def _own(self, location: str) -> Competitor:
        """Return the competitor that a location stands for, with its settings at the speed of the arena."""
        name, settings = label_of(location), faster_scheme(location, {}, self.speed)
        if any(one.name == name for one in self.competitors):
            raise ArgumentError(
                f"{location}: a competitor is called {name}", "give the class, or the file, another name"
            )
        return Competitor(name, location, settings, _about(location), scaled=self.speed if settings else 1)

    @property
    def document(self) -> dict[str, Any]:
        """The entries as a JSON object, which :meth:`of_document` reads."""
        parts = [parts_of(workload.scenario) for workload in self.workloads]
        found = asdict(self)
        for workload, own in zip(found["workloads"], parts, strict=True):
            workload["scenario"] = own
        return found

    @classmethod
    def of_document(cls, document: Mapping[str, Any]) -> Self:
        """Make entries of their JSON object.

        Raises:
            KeyError, TypeError, ValueError: it is not one.
            ScenarioError: the scenario of a workload cannot be read.
        """
        workloads = []
        for entry in document["workloads"]:
            text, origin, name, keys_set = entry["scenario"]
            scenario = joined((text, origin, name, tuple(keys_set)))
            workloads.append(Workload(**{**entry, "scenario": scenario, "judge": Judge(**entry["judge"])}))
        competitors = tuple(Competitor(**entry) for entry in document["competitors"])
        notes = tuple(document["notes"])
        return cls(document["title"], tuple(workloads), competitors, notes, document["speed"])


def read(file: str | PathLike[str] = STANDARD) -> Entries:
    """Read the file of an arena; a key of :data:`OWN` names one of Penstock's.

    A file with ``base`` has the workloads and competitors of another file, on lines ``speed`` times as fast. Its own
    entries change those of the same name, and add others.

    Raises:
        ArenaError: it cannot be read, or is not valid.
    """
    path = OWN.get(str(file), Path(file))
    hint = f"name a TOML file with [[workload]] tables, or {', '.join(OWN)}"
    document = Table.of(path, "", parse(path, ArenaError, hint), ArenaError)
    title = document.text("title", "An arena")
    base = _base(document)
    of_base = {workload.name: workload for workload in base.workloads}
    workloads = [_workload(table, of_base) for table in document.tables("workload", lines_of(path, "workload"))]
    _once(document, "workload", [workload.name for workload in workloads])
    changed = {workload.name: workload for workload in workloads}
    every = {**of_base, **changed}
    if not every:
        raise document.error("workload", "is missing", "add [[workload]]")
    own = [_competitor(table) for table in document.tables("competitor", lines_of(path, "competitor"))]
    _once(document, "competitor", [competitor.name for competitor in own])
    notes = document.raw("notes", [])
    if not isinstance(notes, list) or not all(isinstance(note, str) and note.strip() for note in notes):
        raise document.error("notes", "is not a list of texts", 'write notes = ["…", "…"]')
    document.end(("title", "notes", "base", "speed", "set", "without", "workload", "competitor"))
    competitors = tuple(_in_order(own, base.competitors))
    return Entries(title, tuple(every.values()), competitors, tuple(notes), base.speed)


def _base(document: Table) -> Entries:
    """Return the entries of the base of an arena, on faster lines; none where it has no base."""
    name = document.text("base", "")
    if not name:
        for key in ("speed", "set", "without"):
            if document.raw(key, None) is not None:
                raise document.error(key, "changes a base, and there is none", 'add base = "10g"')
        return Entries("", (), ())
    beside = document.file.parent / name
    if name not in OWN and not beside.is_file():
        raise document.error("base", f"{name}: no file, and no arena of Penstock", nearest(name, OWN))
    base = read(beside if beside.is_file() else name)
    speed = document.raw("speed", 1)
    if not isinstance(speed, int) or isinstance(speed, bool) or speed < 1:
        raise document.error("speed", "is not a whole number from 1 on", "write speed = 10")
    left_out = document.raw("without", [])
    names = [*(one.name for one in base.workloads), *(one.name for one in base.competitors)]
    for one in left_out if isinstance(left_out, list) else [left_out]:
        if one not in names:
            raise document.error("without", f"{one!r} is no workload or competitor of {name}", nearest(str(one), names))
    ours = settings_of(document.table("set"))
    workloads = tuple(
        _changed(workload, {**faster_workload(workload.scenario, speed), **ours}, document)
        for workload in base.workloads
        if workload.name not in left_out
    )
    competitors = tuple(_faster(one, speed) for one in base.competitors if one.name not in left_out)
    return Entries("", workloads, competitors, speed=speed * base.speed)


def _faster(competitor: Competitor, speed: int) -> Competitor:
    settings = faster_scheme(competitor.scheme, competitor.settings, speed)
    scaled = competitor.scaled * speed if settings else competitor.scaled
    return replace(competitor, settings={**competitor.settings, **settings}, scaled=scaled)


def _changed(workload: Workload, settings: Mapping[str, Value], table: Table) -> Workload:
    """Return a workload with more keys set."""
    scenario = workload.scenario.copy()
    _set(scenario, settings, table)
    return replace(workload, scenario=scenario, settings={**workload.settings, **settings})


def _set(scenario: Scenario, settings: Mapping[str, Value], table: Table) -> None:
    try:
        for key, value in settings.items():
            scenario.set(key, value)
        scenario.outline()
    except ScenarioError as error:
        place = f"set.{error.key}" if error.key else "scenario"
        raise table.error(place, error.message.replace(", as given by set()", ""), error.hint or "") from None


def _in_order(own: Sequence[Competitor], of_base: Sequence[Competitor]) -> list[Competitor]:
    """Return the competitors by the registry's order of their schemes; a scheme that none names stands for itself.

    An entry that names one of the base and sets parameters of the scheme replaces its settings of the scheme and their
    source. It adds to its others.
    """
    changed = {one.name: one for one in own}
    merged = [_merged(one, changed.pop(one.name, None)) for one in of_base]
    merged += changed.values()
    found = []
    for scheme in scheme_names():
        named = [competitor for competitor in merged if competitor.scheme == scheme]
        if not of_base and not any(competitor.name == scheme for competitor in named):
            found.append(Competitor(scheme, scheme, about=_about(scheme)))
        found += named
    return found + [one for one in merged if is_location(one.scheme)]


def _merged(base: Competitor, own: Competitor | None) -> Competitor:
    if own is None:
        return base
    about = own.about if own.about != _about(own.scheme) else base.about
    changed = replace(base, about=about, transport=own.transport or base.transport)
    if not any(key.startswith("schemes.") for key in own.settings):
        return replace(changed, settings={**base.settings, **own.settings}, source=own.source or base.source)
    others = {key: value for key, value in base.settings.items() if not key.startswith("schemes.")}
    return replace(changed, settings={**others, **own.settings}, source=own.source, scaled=1)


def _workload(table: Table, of_base: Mapping[str, Workload]) -> Workload:
    name = table.text("name")
    if not name.replace("-", "").replace("_", "").isalnum() or name.startswith("-"):
        raise table.error("name", f"invalid workload name {name!r}", "use letters, digits, - and _")
    if name in of_base:
        return _of_base(table, of_base[name])
    title, source = table.text("title", name), table.text("scenario")
    beside = table.file.parent / source
    path = beside if beside.is_file() else library.locate(source)
    if path is None:
        hint = library.hint(source, table.file.parent)
        raise table.error("scenario", f"{source}: neither a file nor a scenario of Penstock", hint)
    settings = settings_of(table.table("set"))
    try:
        scenario = Scenario.load(path)
    except ScenarioError as error:
        raise table.error("scenario", error.message, error.hint or "") from None
    _set(scenario, {**settings, "name": name}, table)
    metric = table.word("judge", _JUDGES)
    group = table.text("of", "") or None
    if group is not None and metric not in _OF_FLOWS:
        raise table.error("of", f"{metric} has no flows that could be named", f"judge by {', '.join(_OF_FLOWS)}")
    groups = _groups(scenario)
    if group is not None and group not in groups:
        raise table.error("of", f"{group} is not a group of flows", nearest(group, groups))
    note = table.text("note", "")
    table.end(("name", "title", "scenario", "set", "judge", "of", "note"))
    return Workload(name, title, scenario, source, settings, Judge(metric, group, _JUDGES[metric]), note)


def _of_base(table: Table, workload: Workload) -> Workload:
    """Return a workload of the base with what an entry of its name changes."""
    changed = _changed(workload, settings_of(table.table("set")), table)
    title, note = table.text("title", workload.title), table.text("note", workload.note)
    table.end(("name", "title", "set", "note"))
    return replace(changed, title=title, note=note)


def _groups(scenario: Scenario) -> list[str]:
    """Return the names of the scenario's flows by the tables that they come from."""
    document = tomllib.loads(scenario.to_toml())
    tables = [entry for kind in ("flow", "load", "incast", "burst") for entry in document.get(kind, [])]
    return [str(entry["name"]) for entry in tables if "name" in entry]


def _transports(scenario: Scenario) -> list[str]:
    """Return the keys of the transports of a scenario's traffic."""
    document = tomllib.loads(scenario.to_toml())
    kinds = ("flow", "load", "incast", "burst", "collective", "job")
    return [f"{kind}.{i}.transport" for kind in kinds for i in range(len(document.get(kind, [])))]


def _competitor(table: Table) -> Competitor:
    name = table.text("name")
    known = scheme_names()
    scheme = table.text("scheme", name)
    if scheme not in known and not is_location(scheme):
        raise table.error("scheme", f"{scheme!r} is not a scheme", nearest(scheme, known))
    try:
        of_scheme = _about(scheme)
    except ArgumentError as error:
        raise table.error("scheme", error.message, error.hint) from None
    settings = settings_of(table.table("set"))
    about = table.text("about", "") or of_scheme
    source, transport = table.text("source", ""), table.text("transport", "")
    table.end(("name", "scheme", "set", "about", "source", "transport"))
    try:
        Variant(name, scheme, settings)
    except ArgumentError as error:
        raise table.error("name", error.message, error.hint) from None
    return Competitor(name, scheme, settings, about, source, transport)


def _about(scheme: str) -> str:
    return about_scheme(scheme)["description"]


def _once(document: Table, key: str, names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise document.error(key, f"{name!r} appears twice", "give each a different name")


def _places(wanted: Sequence[str], names: Sequence[str], word: str) -> list[int]:
    for name in wanted:
        if name not in names:
            raise ArgumentError(f"no {word} is called {name}", nearest(name, names))
    return [place for place, name in enumerate(names) if not wanted or name in wanted]
