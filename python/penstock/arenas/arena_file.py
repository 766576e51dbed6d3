"""The file of an arena: workloads with their judges, and competitors with their settings."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, Self

from penstock import ScenarioError, library
from penstock.catalogue import about as about_scheme
from penstock.catalogue import schemes as every_scheme
from penstock.declared import Better
from penstock.errors import ArgumentError
from penstock.metrics.registry import COMPARED
from penstock.scenario import Scenario, joined, parts_of
from penstock.sweeps.axes import Value
from penstock.sweeps.design import settings_of
from penstock.toml_reader import PlacedError, Table, lines_of, nearest, parse
from penstock.variants import Variant

STANDARD = Path(__file__).parent / "arena.toml"
"""The arena that comes with Penstock."""

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
        with_pfc: keys that it sets besides for competitors that bring flow control.
        note: a sentence or two that a reader of its standings has to know; empty for none.
    """

    name: str
    title: str
    scenario: Scenario
    source: str
    settings: Mapping[str, Value]
    judge: Judge
    with_pfc: Mapping[str, Value] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True)
class Competitor:
    """A scheme in the arena.

    Attributes:
        name: its name.
        scheme: the scheme.
        settings: keys that it sets in every scenario.
        about: a sentence on it.
    """

    name: str
    scheme: str
    settings: Mapping[str, Value] = field(default_factory=dict)
    about: str = ""

    @property
    def brings_pfc(self) -> bool:
        """Whether it sets keys of priority flow control."""
        return any(key.startswith("pfc.") for key in self.settings)

    def settings_on(self, workload: Workload) -> Mapping[str, Value]:
        """Return the keys that it sets on a workload."""
        return {**self.settings, **workload.with_pfc} if self.brings_pfc else self.settings

    def choice(self, workload: Workload) -> str | Variant:
        """Return the competitor as a sweep of a workload takes it."""
        settings = self.settings_on(workload)
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
    """

    title: str
    workloads: tuple[Workload, ...]
    competitors: tuple[Competitor, ...]
    notes: tuple[str, ...] = ()

    def of(self, workloads: Sequence[str] = (), competitors: Sequence[str] = ()) -> "Entries":
        """Return the named ones; all where no name is given.

        Raises:
            ArgumentError: there is none of a name.
        """
        return Entries(
            self.title,
            tuple(self.workloads[i] for i in _places(workloads, [w.name for w in self.workloads], "workload")),
            tuple(self.competitors[i] for i in _places(competitors, [c.name for c in self.competitors], "competitor")),
            self.notes,
        )

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
        return cls(document["title"], tuple(workloads), competitors, tuple(document["notes"]))


def read(path: str | PathLike[str] = STANDARD) -> Entries:
    """Read the file of an arena.

    Raises:
        ArenaError: it cannot be read, or is not valid.
    """
    file = Path(path)
    hint = "name a TOML file with [[workload]] tables"
    document = Table.of(file, "", parse(file, ArenaError, hint), ArenaError)
    title = document.text("title", "An arena")
    workloads = [_workload(table) for table in document.tables("workload", lines_of(file, "workload"))]
    if not workloads:
        raise document.error("workload", "is missing", "add [[workload]]")
    own = [_competitor(table) for table in document.tables("competitor", lines_of(file, "competitor"))]
    notes = document.raw("notes", [])
    if not isinstance(notes, list) or not all(isinstance(note, str) and note.strip() for note in notes):
        raise document.error("notes", "is not a list of texts", 'write notes = ["…", "…"]')
    document.end(("title", "notes", "workload", "competitor"))
    _once(document, "workload", [workload.name for workload in workloads])
    _once(document, "competitor", [competitor.name for competitor in own])
    return Entries(title, tuple(workloads), tuple(_in_order(own)), tuple(notes))


def _in_order(own: Sequence[Competitor]) -> list[Competitor]:
    """Return the competitors by the registry's order of their schemes; a scheme that none names stands for itself."""
    found = []
    for about in every_scheme():
        scheme = about["name"]
        named = [competitor for competitor in own if competitor.scheme == scheme]
        if not any(competitor.name == scheme for competitor in named):
            found.append(Competitor(scheme, scheme, about=_about(scheme)))
        found += named
    return found


def _workload(table: Table) -> Workload:
    name = table.text("name")
    if not name.replace("-", "").replace("_", "").isalnum() or name.startswith("-"):
        raise table.error("name", f"invalid workload name {name!r}", "use letters, digits, - and _")
    title, source = table.text("title", name), table.text("scenario")
    beside = table.file.parent / source
    path = beside if beside.is_file() else library.locate(source)
    if path is None:
        hint = library.hint(source, table.file.parent)
        raise table.error("scenario", f"{source}: neither a file nor a scenario of Penstock", hint)
    settings, with_pfc = settings_of(table.table("set")), settings_of(table.table("with_pfc"))
    try:
        scenario = Scenario.load(path)
        for key, value in settings.items():
            scenario.set(key, value)
        scenario.set("name", name)
        scenario.outline()
    except ScenarioError as error:
        place = f"set.{error.key}" if error.key else "scenario"
        raise table.error(place, error.message.replace(", as given by set()", ""), error.hint or "") from None
    metric = table.word("judge", _JUDGES)
    group = table.text("of", "") or None
    if group is not None and metric not in _OF_FLOWS:
        raise table.error("of", f"{metric} has no flows that could be named", f"judge by {', '.join(_OF_FLOWS)}")
    groups = _groups(scenario)
    if group is not None and group not in groups:
        raise table.error("of", f"{group} is not a group of flows", nearest(group, groups))
    note = table.text("note", "")
    table.end(("name", "title", "scenario", "set", "with_pfc", "judge", "of", "note"))
    return Workload(name, title, scenario, source, settings, Judge(metric, group, _JUDGES[metric]), with_pfc, note)


def _groups(scenario: Scenario) -> list[str]:
    """Return the names of the scenario's flows by the tables that they come from."""
    document = tomllib.loads(scenario.to_toml())
    tables = [entry for kind in ("flow", "load", "incast") for entry in document.get(kind, [])]
    return [str(entry["name"]) for entry in tables if "name" in entry]


def _competitor(table: Table) -> Competitor:
    name = table.text("name")
    known = [about["name"] for about in every_scheme()]
    scheme = table.text("scheme", name)
    if scheme not in known:
        raise table.error("scheme", f"{scheme!r} is not a scheme", nearest(scheme, known))
    settings = settings_of(table.table("set"))
    about = table.text("about", "") or _about(scheme)
    table.end(("name", "scheme", "set", "about"))
    try:
        Variant(name, scheme, settings)
    except ArgumentError as error:
        raise table.error("name", error.message, error.hint) from None
    return Competitor(name, scheme, settings, about)


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
