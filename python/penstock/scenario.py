"""Scenarios: read from TOML, or built from keyword arguments and saved as TOML; both are the same thing."""

import json
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self, cast

import tomli_w

from penstock import _core, library
from penstock.declared import Description, Outline
from penstock.files import write_text
from penstock.result import Result
from penstock.scheme_class import Scheme, place_of

if TYPE_CHECKING:
    from penstock import document as tables
    from penstock.lab.widget import LabWidget

Progress = Callable[[float, float, int, float], object]
"""Called at most about ten times a second with simulated time (s), duration (s), events so far, and wall time (s)."""


class Scenario:
    """One experiment: a network, its flows, and the schemes to try on it.

    Built from the keys of a scenario file as keyword arguments; quantities are text with a unit:

        >>> Scenario(
        ...     question="What do two senders do to one port?",
        ...     duration="100 ms",
        ...     scheme="qcn",
        ...     topology={"star": {"hosts": 3, "link_rate": "10 Gbps", "link_delay": "1 us", "buffer": "150 KB"}},
        ...     flow=[{"from": "h0..h1", "to": "h2"}],
        ... )

    Flows come from ``flow``, ``load``, ``incast``, ``trace``, ``collective`` and ``job``, lists of tables of which one
    at least has an entry:

        >>> Scenario(
        ...     question="What do flows wait at half of the load?",
        ...     duration="20 ms",
        ...     until="all-flows-complete",
        ...     scheme="dcqcn",
        ...     topology={"star": {"hosts": 8, "link_rate": "100 Gbps", "buffer": "2 MB"}},
        ...     load=[{"load": 0.5, "size": {"workload": "websearch"}, "end": "5 ms", "transport": "go-back-n"}],
        ... )

    Keys and values are checked when the scenario is laid out, by :meth:`describe`, :meth:`resolved` and :meth:`run`:
    one that is not legal raises a ScenarioError, whose ``key``, ``message`` and ``hint`` say which, and what is
    legal.
    """

    def __init__(
        self,
        *,
        question: str,
        duration: str,
        scheme: str | type[Scheme],
        topology: "tables.Topology",
        flow: "Sequence[tables.Flow] | None" = None,
        load: "Sequence[tables.Load] | None" = None,
        incast: "Sequence[tables.Incast] | None" = None,
        burst: "Sequence[tables.Burst] | None" = None,
        trace: "Sequence[tables.Trace] | None" = None,
        collective: "Sequence[tables.Collective] | None" = None,
        job: "Sequence[tables.Job] | None" = None,
        name: str | None = None,
        until: Literal["duration", "all-flows-complete"] | None = None,
        warmup: str | None = None,
        seed: int | None = None,
        lossless: bool | None = None,
        impaired_is_lost: bool | None = None,
        require_action: bool | None = None,
        schemes: "tables.Schemes | None" = None,
        priority: "Sequence[tables.Priority] | None" = None,
        network: "tables.Network | None" = None,
        wred: "Sequence[tables.Wred] | None" = None,
        switch: "Sequence[tables.Switch] | None" = None,
        buffer: "Sequence[tables.Buffer] | None" = None,
        pfc: "tables.Pfc | None" = None,
        hosts: "tables.Hosts | None" = None,
        group: "Sequence[tables.Group] | None" = None,
        change: "Sequence[tables.Change] | None" = None,
        impairment: "Sequence[tables.Impairment] | None" = None,
        credits: "Sequence[tables.Credits] | None" = None,
        retry: "Sequence[tables.Retry] | None" = None,
        host: "Sequence[tables.Host] | None" = None,
        event: "Sequence[tables.Event] | None" = None,
        window: "Sequence[tables.Window] | None" = None,
        record: "tables.Record | None" = None,
        testbed: "tables.Testbed | None" = None,
    ) -> None:
        document = {
            "name": name,
            "question": question,
            "duration": duration,
            "until": until,
            "warmup": warmup,
            "seed": seed,
            "lossless": lossless,
            "impaired_is_lost": impaired_is_lost,
            "require_action": require_action,
            "scheme": place_of(scheme),
            "schemes": schemes,
            "priority": priority,
            "topology": topology,
            "network": network,
            "wred": wred,
            "switch": switch,
            "buffer": buffer,
            "pfc": pfc,
            "hosts": hosts,
            "group": group,
            "flow": flow,
            "load": load,
            "incast": incast,
            "burst": burst,
            "trace": trace,
            "collective": collective,
            "job": job,
            "change": change,
            "impairment": impairment,
            "credits": credits,
            "retry": retry,
            "host": host,
            "event": event,
            "window": window,
            "record": record,
            "testbed": testbed,
        }
        given = {key: value for key, value in document.items() if value is not None}
        # A trace is a text of many lines.
        text = tomli_w.dumps(given, multiline_strings=True)
        self._core = _core.Scenario.parse(text, "<keywords>")

    @classmethod
    def _wrap(cls, core: _core.Scenario) -> Self:
        scenario = cls.__new__(cls)
        scenario._core = core
        return scenario

    def __reduce__(self) -> "tuple[Callable[[Parts], Scenario], tuple[Parts]]":
        return joined, (parts_of(self),)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a scenario file.

        Raises:
            ScenarioError: the file cannot be read, or is not TOML.
        """
        return cls._wrap(_core.Scenario.load(path))

    @classmethod
    def of(cls, source: "Scenario | str | PathLike[str]") -> "Scenario":
        """Return a scenario as it is, or read it: by its file (``.toml``), or by its name (see :meth:`named`).

        Raises:
            PenstockError: there is none of that name.
            ScenarioError: the file cannot be read, or is not TOML.
        """
        if isinstance(source, Scenario):
            return source
        named = isinstance(source, str) and not source.endswith(".toml")
        return cls.named(str(source)) if named else cls.load(source)

    @classmethod
    def named(cls, name: str) -> Self:
        """Read a scenario by its name: one below ./scenarios, or one that comes with Penstock.

        :func:`penstock.scenarios` lists the names, as the command ``penstock scenarios`` does.

            >>> Scenario.named("netfpga/eight-sources-100us")

        Raises:
            PenstockError: there is none of that name.
            ScenarioError: its file cannot be read, or is not TOML.
        """
        path = library.locate(name)
        if path is None:
            near = library.near(name)
            raise _core.PenstockError(f"{name}: no scenario of that name{f'; did you mean {near}?' if near else ''}")
        return cls.load(path)

    @classmethod
    def from_toml(cls, text: str, *, origin: str = "<string>", name: str = "scenario") -> Self:
        """Read a scenario from TOML text; ``origin`` stands for the file in messages.

        Raises:
            ScenarioError: the text is not TOML.
        """
        return cls._wrap(_core.Scenario.parse(text, origin, name))

    def copy(self) -> Self:
        """Return a copy: a key that is set in one is not set in the other."""
        return self._wrap(self._core.copy())

    def with_(self, settings: Mapping[str, str | int | float | bool]) -> Self:
        """Return a new scenario with these keys set, by dotted path as in :meth:`set`; this one stays as it is.

            >>> shorter = scenario.with_({"duration": "20 ms", "schemes.qcn.q_eq": "33 KB"})

        Raises:
            ScenarioError: a path leads through something that is no table, or past the end of a list.
        """
        other = self.copy()
        for key, value in settings.items():
            other.set(key, value)
        return other

    @classmethod
    def new(cls, name: str, *, scheme: str = "qcn", topology: str = "star") -> Self:
        """Return a scenario to start from: it runs as it is, and its text has a comment to each key of its sections.

            >>> Scenario.new("four-to-one", scheme="bcn").save("four-to-one.toml")

        ``topology`` is a table of ``penstock schema topology`` that needs no list of links: any but ``graph``.

        Raises:
            ArgumentError: there is no such scheme, or no such topology to start from.
        """
        from penstock.scenario_template import template

        return cls.from_toml(template(scheme, topology), origin=name, name=name)

    @property
    def name(self) -> str:
        """Name of the scenario: the stem of its file."""
        return self._core.name

    @property
    def question(self) -> str:
        """The question that the scenario answers, in a line."""
        return self._core.question

    @property
    def scheme(self) -> str:
        """The scheme that runs unless another is asked for."""
        return self._core.scheme

    @property
    def schemes(self) -> list[str]:
        """The schemes for which the scenario has settings."""
        return self._core.schemes

    def set(self, key: str, value: str | int | float | bool) -> Self:
        """Set one key by its dotted path, such as ``schemes.qcn.q_eq`` or ``flow.0.rate``, and return the scenario.

        A table of a list may be named instead of numbered, as in ``load.web.load``.

        Quantities are text with a unit, such as ``"33 KB"``.

        Raises:
            ScenarioError: the path leads through something that is no table, or past the end of a list.
        """
        self._core.set(key, value if isinstance(value, str) else json.dumps(value))
        return self

    def to_toml(self) -> str:
        """Return the scenario as TOML, with what was set."""
        return self._core.toml()

    def resolved(
        self,
        *,
        scheme: str | type[Scheme] | None = None,
        profile: str | None = None,
        seed: int | None = None,
        limit: int = 1,
    ) -> str:
        """Return the scenario as TOML with every default written out; ``limit`` as in :meth:`run`.

        Raises:
            ScenarioError: a value is not legal, or more is asked for than the limits allow.
        """
        return self._core.resolved(place_of(scheme), profile, seed, limit)

    def describe(
        self,
        *,
        scheme: str | type[Scheme] | None = None,
        profile: str | None = None,
        seed: int | None = None,
        limit: int = 1,
    ) -> Description:
        """Lay the scenario out without running it: network, schemes, flows and their fair shares.

        ``limit`` is that of :meth:`run`.

        Raises:
            ScenarioError: a value is not legal, or more is asked for than the limits allow.
        """
        return cast(Description, json.loads(self._core.describe(place_of(scheme), profile, seed, limit)))

    def outline(
        self,
        *,
        scheme: str | type[Scheme] | None = None,
        profile: str | None = None,
        seed: int | None = None,
        limit: int = 1,
    ) -> Outline:
        """Return what :meth:`describe` returns, without the flows and their fair shares: short, however many there are.

        Raises:
            ScenarioError: a value is not legal, or more is asked for than the limits allow.
        """
        return cast(Outline, json.loads(self._core.outline(place_of(scheme), profile, seed, limit)))

    def job_files(
        self, to: str, *, messages: bool = False, seed: int | None = None, limit: int = 1
    ) -> list[tuple[str, tuple[list[tuple[str, bytes]], list[str]]]]:
        """Return each job's name, its files by the endings of their names, and sentences on what they lack.

        :func:`penstock.exchange.export_job` names the files.

        Args:
            to: the ending: "goal", or "et" and "json" for Chakra.
            messages: whether collectives are written as their sends and receives in Chakra, too.
            seed: draws what the scenario leaves to chance, instead of the scenario's.
            limit: as that of :meth:`run`.

        Raises:
            ScenarioError: a value is not legal, or more is asked for than the limits allow.
            ValueError: the format cannot express a job; with the node.
        """
        return self._core.job_files(to, messages, seed, limit)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the scenario to a file as TOML, which runs as this scenario does.

        A duration that was set may leave flows, changes or windows out; then the file is the resolved scenario, without
        them.

        Raises:
            OSError: the file cannot be written; one that had the name before is as it was.
        """
        write_text(Path(path), text_alone(self))

    def run(
        self,
        *,
        scheme: str | type[Scheme] | None = None,
        profile: str | None = None,
        seed: int | None = None,
        out: str | PathLike[str] | None = None,
        force: bool = False,
        progress: Progress | None = None,
        limit: int = 1,
        pcap: Sequence[str] = (),
        threads: int | Literal["auto"] = 1,
    ) -> Result:
        """Run the scenario and return what it recorded. Other Python threads go on meanwhile.

        The same scenario and seed give the same result. Claims of the scenario (``lossless``, ``require_action``) that
        the run broke raise nothing here: :attr:`Result.claims`, :meth:`Result.raise_for_claims`. With ``out`` the
        records go to a folder of that name as they fill, otherwise they stay in memory. An interrupt (Ctrl-C) ends the
        run early and keeps what was recorded; see :attr:`Result.interrupted`. If ``progress`` has a method
        ``laying_out``, it is called without arguments about ten times a second while the scenario is laid out, and may
        raise KeyboardInterrupt. ``limit``, from 1 to 1000, is a factor on every limit of what a scenario may ask for:
        nodes, links, flows, their hops and fair shares, rows, frames in the network.

        ``pcap`` names ports, such as ``sw0->h4``. Every frame whose transmission starts there is written whole into
        ``capture.pcapng`` of the folder, with nanoseconds, a comment on its flow and the length of its queue, and an
        interface for each port. It changes nothing else.

        ``scheme`` runs instead of the scenario's own: a name, the location of a shared library, ``./libmine.so``, or a
        class below :class:`penstock.Scheme`, itself or by its location, ``my.py:MyScheme``. A method of such a class
        that raises an exception ends the run with a ScenarioError, which has the file and the line.

        ``threads`` is the number of threads that run it, or "auto" for as many of the machine's cores as pay. The
        result is the same to the last bit. A scenario that cannot be cut into parts runs on one thread;
        :attr:`Result.threads` says how many it were, and why.

        Raises:
            KeyboardInterrupt: the interrupt came before the run had begun; nothing is written.
            ScenarioError: a value is not legal, or more is asked for than the limits allow; nothing is written.
            LimitError: the run came to more than the limits allow; nothing is written.
            MemoryError: the system does not give the memory that the run needs; nothing is written.
            OutputError: the folder exists and ``force`` is not set, or cannot be written; or ``pcap`` names ports, and
                there is no folder.
            Exception: any that ``progress`` raises; but KeyboardInterrupt ends the run as Ctrl-C does.
        """
        ports = [pcap] if isinstance(pcap, str) else list(pcap)
        return Result(self._core.run(place_of(scheme), profile, seed, out, force, progress, limit, ports, threads))

    def lab(self, *, height: int = 900) -> "LabWidget":
        """Show the laboratory with this scenario as a widget in a notebook; its frame is ``height`` pixels high.

        It has the engine of :meth:`run`, and runs in the browser. Needs the extra ``lab``.

        Raises:
            ArgumentError: the page has not been built: ``make lab`` builds it, in a checkout.
            MissingExtraError: anywidget is not installed.
        """
        try:
            from penstock.lab.widget import LabWidget
        except ModuleNotFoundError as error:
            package = (error.name or "").partition(".")[0]
            if package not in ("anywidget", "traitlets"):
                raise
            from penstock.data_frames import MissingExtraError

            raise MissingExtraError(package, "lab") from error
        return LabWidget(self, height=height)

    def _repr_html_(self) -> str:
        from penstock.display import scenario_html

        return scenario_html(self)

    def __repr__(self) -> str:
        return f"<Scenario {self.name!r}: {self.question!r}>"


Parts = tuple[str, str, str, tuple[str, ...]]
"""A scenario as it travels: its text, the text that stands for its file, its name, and the keys that were set."""


def parts_of(scenario: Scenario) -> Parts:
    """Take a scenario apart."""
    core = scenario._core
    return core.toml(), core.origin, core.name, tuple(core.keys_set)


def text_alone(scenario: Scenario) -> str:
    """Return a text that runs by itself as the scenario does.

    It is the scenario's own, unless a duration that was set cuts off something that the text has behind its end.
    """
    text, origin, name, keys_set = parts_of(scenario)
    if "duration" not in keys_set:
        return text
    try:
        whole = scenario.resolved()
    except _core.ScenarioError:
        return text  # Nothing runs as this scenario does.
    try:
        Scenario.from_toml(text, origin=origin, name=name).outline()
    except _core.ScenarioError:
        return whole
    return text


def joined(parts: Parts) -> Scenario:
    """Make a scenario of its parts."""
    return Scenario._wrap(_core.Scenario.parse(*parts))
