"""A paper's folder, read and checked: ``papers/<name>``.

====================  ==================================================================================================
``README.md``         the paper's claims and open points, the reading that is taken, and the evidence
``profile.toml``      every setting that the paper leaves open, and nothing else has them
``<experiment>.toml`` scenarios: the settings that the paper states, without schemes' parameters
``claims.toml``       the figures and tables, and one row for each claim
``readings.toml``     the choices that the paper leaves open, with their alternatives, for a search (optional)
``search.toml``       the outcome of such a search, as ``penstock reproduce PAPER --search`` wrote it (optional)
``metrics.py``        the metrics that only this paper needs (optional)
``figures.py``        its figures in its own axes (optional)
====================  ==================================================================================================
"""

import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any, Self

from penstock import ScenarioError
from penstock.metrics import samples
from penstock.python_file import run_file
from penstock.reproduction.claims import Claim, ClaimReader, RunBuilder, settings
from penstock.reproduction.drawing import Figures
from penstock.reproduction.grid import claims_of
from penstock.reproduction.paper_file import PaperError, read, whole
from penstock.reproduction.plan import Quantity, Run, Setting
from penstock.scenario import Scenario
from penstock.toml_reader import Table, lines_of, nearest

__all__ = ["Figure", "Paper", "PaperError", "load"]

# Files of the folder that are no experiments.
_OTHERS = ("profile.toml", "claims.toml", "readings.toml", "search.toml")

# One reading serves all figures: its keys cannot be set for one experiment alone.
_EVERYWHERE = ("schemes", "network", "hosts", "pfc")


@dataclass(frozen=True)
class Figure:
    """A figure or a table of the paper."""

    name: str
    """Such as ``figure-4`` or ``table-2``."""
    title: str


@dataclass(frozen=True)
class Profile:
    """The settings that the paper leaves open, by dotted path."""

    every: dict[str, Setting]
    own: dict[str, dict[str, Setting]]
    """Those of single experiments: settings that depend on their topology, and the length of time they are watched."""
    metrics: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Arguments of metrics that hold wherever a claim or a figure does not give them itself, by the metric's name."""

    def of(self, experiment: str) -> dict[str, Setting]:
        """Return what is set in an experiment."""
        return {**self.every, **self.own.get(experiment, {})}


@dataclass(frozen=True, eq=False)
class Paper:
    """A paper: its experiments, its claims, and how its figures are drawn."""

    name: str
    folder: Path
    title: str
    source: str
    """Short name of the paper, as parameters and documentation have it, such as ``Matsushima et al. 2014``."""
    profile: Profile
    experiments: dict[str, Path]
    figures: tuple[Figure, ...]
    claims: tuple[Claim, ...]
    metrics: dict[str, Callable[..., Any]]
    drawings: Figures
    reading: Mapping[str, Setting] = field(default_factory=dict)
    """Keys that are set instead of the profile's, to try another reading."""

    def read_as(self, reading: Mapping[str, Setting]) -> Self:
        """Return the paper with a part of its profile replaced; the settings of a claim itself stay."""
        return replace(self, reading=dict(reading))

    def reading_of(self, run: Run) -> dict[str, Setting]:
        """Return the part of the other reading that takes part in a run."""
        own = dict(run.settings)
        return {key: value for key, value in self.reading.items() if key not in own and _counts(key, run)}

    def arguments(self, quantity: Quantity) -> dict[str, Any]:
        """Return the arguments of a quantity's metric: those that the profile gives, then the quantity's own."""
        return {**self.profile.metrics.get(quantity.metric, {}), **quantity.keywords()}

    def scenario(self, run: Run) -> Scenario:
        """Return the scenario of a run: the experiment, the profile, another reading, then the run's own settings.

        Raises:
            ScenarioError: a setting leads nowhere.
        """
        return _with(self.experiments[run.experiment], self.acting(run))

    def acting(self, run: Run) -> dict[str, Setting]:
        """Return all that is set in the scenario of a run, in order."""
        return _acting(self.profile.of(run.experiment) | self.reading_of(run), run)


def compose(path: Path, profile: Mapping[str, Setting], run: Run) -> Scenario:
    """Return an experiment with all that is set in it for a run."""
    return _with(path, _acting(profile, run))


def _acting(profile: Mapping[str, Setting], run: Run) -> dict[str, Setting]:
    return {key: value for key, value in {**profile, **dict(run.settings)}.items() if _counts(key, run)}


def _with(path: Path, settings: Mapping[str, Setting]) -> Scenario:
    return set_all(Scenario.load(path), settings)


def set_all(scenario: Scenario, settings: Mapping[str, Setting]) -> Scenario:
    """Set keys of a scenario in their order, and return it."""
    for key, value in settings.items():
        scenario.set(key, value if not isinstance(value, tuple) else json.dumps(value))
    return scenario


def _counts(key: str, run: Run) -> bool:
    """Whether a setting takes part in a run: a scheme's are of no use to a run of another scheme."""
    return not key.startswith("schemes.") or key.split(".")[1] == run.scheme


def load(folder: Path) -> Paper:
    """Read a paper's folder.

    Raises:
        PaperError: it is not a valid paper; file, key and hint say why.
    """
    if not (folder / "claims.toml").is_file():
        raise PaperError(
            folder, None, "not a paper: claims.toml is missing", "`penstock reproduce --list` lists papers"
        )
    experiments = {path.stem: path for path in sorted(folder.glob("*.toml")) if path.name not in _OTHERS}
    if not experiments:
        raise PaperError(folder, None, "the paper has no experiment", "add a scenario, EXPERIMENT.toml")
    offered = _offered(folder)
    profile = profile_of(whole(folder / "profile.toml"), experiments, offered)
    for name, path in experiments.items():
        _states_only_what_the_paper_states(path, profile.of(name))
    drawn = _module(folder, "figures")
    drawings = getattr(drawn, "FIGURES", None) if drawn is not None else Figures()
    if not isinstance(drawings, Figures):
        raise PaperError(
            folder / "figures.py", None, "FIGURES is missing", "write FIGURES = Figures(), then @FIGURES.draw(…)"
        )

    path = folder / "claims.toml"
    document = whole(path)
    title, source = document.text("title"), document.text("source")
    figures = tuple(figure_of(table) for table in document.tables("figure", lines_of(path, "figure")))
    names = [figure.name for figure in figures]
    builder = _Builder(experiments, profile, offered)
    reader = ClaimReader(set(names), builder)
    claims = tuple(reader.read(table) for table in claims_of(document, path))
    document.end(("title", "source", "figure", "claim"))
    _every_name_once(path, "figure", names)
    _every_name_once(path, "claim", [claim.id for claim in claims])
    for name in names:
        if not any(claim.figure == name for claim in claims):
            raise PaperError(
                path, f"figure {name}", "has no claim", 'add one, if it has no number with untestable = "why"'
            )
    for name, drawing in drawings.entries.items():
        place = Table(folder / "figures.py", name, {}, PaperError)
        if name not in names:
            raise PaperError(place.file, name, "claims.toml has no figure of this name", nearest(name, names))
        for source_of in drawing.sources.values():
            table = replace(place, values={"experiment": source_of.run.experiment, "scheme": source_of.run.scheme})
            table.values["set"] = dict(source_of.run.settings)
            builder.run(table)
            builder.quantity(table, source_of.quantity.metric, source_of.quantity.keywords())
    return Paper(folder.resolve().name, folder, title, source, profile, experiments, figures, claims, offered, drawings)


_LAID_OUT: set[tuple[Path, int, tuple[tuple[str, Setting], ...], Run]] = set()
"""What was found to be legal: a paper has hundreds of runs, and is read for each of its figures that is asked for."""


class _Builder(RunBuilder):
    """Runs and quantities that are checked against the paper; each scenario is laid out once."""

    def __init__(self, experiments: dict[str, Path], profile: Profile, metrics: dict[str, Callable[..., Any]]) -> None:
        self._experiments = experiments
        self._profile = profile
        self._metrics = metrics

    def run(self, table: Table, base: Run | None = None) -> Run:
        experiment = table.word("experiment", self._experiments, base.experiment if base else None)
        scheme = table.text("scheme", base.scheme if base else None)
        own = settings(table.table("set"))
        if base is None:
            for key in own:
                if key in self._profile.of(experiment):
                    hint = "one reading serves all figures: change profile.toml, or leave the key out of it"
                    raise table.error(f'set."{key}"', "only profile.toml may set this key", hint)
        run = Run.of(experiment, scheme, {**(dict(base.settings) if base else {}), **own})
        path, profile = self._experiments[experiment], self._profile.of(experiment)
        known = path.resolve(), path.stat().st_mtime_ns, tuple(profile.items()), run
        if known not in _LAID_OUT:
            try:
                compose(path, profile, run).outline(scheme=scheme)
            except ScenarioError as error:
                where = f"{run}: {error.key}: {error.message}" if error.key else f"{run}: {error.message}"
                raise table.error(None, where, error.hint or "") from None
            _LAID_OUT.add(known)
        return run

    def quantity(self, table: Table, metric: str, arguments: Mapping[str, Any]) -> Quantity:
        function = self._metrics.get(metric)
        if function is None:
            raise table.error("metric", f"{metric!r} is not known", nearest(metric, self._metrics))
        signature = inspect.signature(function)
        try:
            signature.bind(None, **arguments)
        except TypeError as error:
            takes = ", ".join(str(parameter) for parameter in list(signature.parameters.values())[1:])
            raise table.error("with", f"{metric}: {error}", f"it takes {takes or 'nothing'}") from None
        return Quantity.of(metric, arguments)


def profile_of(document: Table, experiments: Mapping[str, Path], metrics: Mapping[str, Callable[..., Any]]) -> Profile:
    """Read a profile, or a part of one, from a table with ``every``, ``experiment.NAME`` and ``metric.NAME``.

    Raises:
        PaperError: it names an unknown experiment, metric or argument, or sets a key twice or in the wrong table.
    """
    every = settings(document.table("every"))
    own = {}
    for table in [document.table("experiment")]:
        for name in list(table.values):
            if name not in experiments:
                raise table.error(name, "unknown experiment", nearest(name, experiments))
            inner = table.table(name)
            own[name] = settings(inner)
            for key in own[name]:
                if key.split(".")[0] in _EVERYWHERE:
                    raise inner.error(f'"{key}"', "must be the same for all experiments", "move it to [every]")
                if key in every:
                    raise inner.error(f'"{key}"', "is also set in [every]", "set it once")
    arguments = document.table("metric")
    options = {name: _options(arguments, name, metrics) for name in list(arguments.values)}
    document.end(("every", "experiment", "metric"))
    return Profile(every, own, options)


def _options(table: Table, name: str, metrics: Mapping[str, Callable[..., Any]]) -> dict[str, Any]:
    """Return the arguments of a metric that a profile gives."""
    if name not in metrics:
        raise table.error(name, "unknown metric", nearest(name, metrics))
    inner = table.table(name)
    takes = list(inspect.signature(metrics[name]).parameters)[1:]
    for key in inner.values:
        if key not in takes:
            raise inner.error(key, f"{name} has no such argument", nearest(key, takes))
    return inner.values


def _states_only_what_the_paper_states(path: Path, profile: Mapping[str, Setting]) -> None:
    """Refuse an experiment that sets what the profile sets, or parameters of schemes."""
    document = read(path)
    if "schemes" in document:
        raise PaperError(
            path, "schemes", "an experiment sets no parameters of schemes", 'write "schemes.NAME.KEY" in profile.toml'
        )
    if "record" in document:
        raise PaperError(path, "record", "an experiment has no [record]", 'write "record.interval" in profile.toml')
    for key in profile:
        if _leads_somewhere(document, key):
            hint = "a value that the paper states belongs into the experiment, an open one into the profile; never both"
            raise PaperError(path, key, "is also set in profile.toml", hint)


def stated(path: Path, keys: Iterable[str]) -> list[str]:
    """Return which of the keys an experiment sets, because the paper states them.

    Raises:
        PaperError: the experiment cannot be read.
    """
    document = read(path)
    return [key for key in keys if _leads_somewhere(document, key)]


def _leads_somewhere(document: Any, key: str) -> bool:
    for part in key.split("."):
        if isinstance(document, list) and part.isdecimal() and int(part) < len(document):
            document = document[int(part)]
        elif isinstance(document, dict) and part in document:
            document = document[part]
        else:
            return False
    return True


def figure_of(table: Table) -> Figure:
    """Read a figure of claims.toml.

    Raises:
        PaperError: it is not a valid figure.
    """
    figure = Figure(table.text("name"), table.text("title"))
    table.end(("name", "title"))
    if not all(c.isalnum() or c == "-" for c in figure.name):
        raise table.error(
            "name", f"{figure.name!r} is not a name", "use letters, digits and -, as in figure-4, figure-4a or table-2"
        )
    return figure


def _every_name_once(path: Path, kind: str, names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise PaperError(path, f"{kind} {name}", "is defined twice", "give each a different name")


def _offered(folder: Path) -> dict[str, Callable[..., Any]]:
    """Return the metrics that claims of a paper can name: those of every paper, and its own.

    Raises:
        PaperError: a metric of the paper has a name that means something else in every paper.
    """
    every, own = samples.offered(), _public(_module(folder, "metrics"))
    for name in own:
        if name in every:
            raise PaperError(folder / "metrics.py", None, f"{name} is a metric of every paper", "choose another name")
    return {**every, **own}


def _public(module: ModuleType | None) -> dict[str, Callable[..., Any]]:
    """Return the metrics that a module defines: public functions of a result."""
    if module is None:
        return {}
    functions = inspect.getmembers(module, inspect.isfunction)
    own = {name: f for name, f in functions if f.__module__ == module.__name__ and not name.startswith("_")}
    return {name: f for name, f in own.items() if next(iter(inspect.signature(f).parameters), None) == "result"}


def _module(folder: Path, name: str) -> ModuleType | None:
    """Import a Python file of the folder."""
    path = folder / f"{name}.py"
    if not path.is_file():
        return None
    try:
        return run_file(path, f"papers.{folder.resolve().name}.{name}")
    except Exception as error:
        raise PaperError(path, None, f"cannot be imported: {type(error).__name__}: {error}") from error
