"""Scenarios: read from TOML, or built from keyword arguments and saved as TOML; both are the same thing."""

import json
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, TypedDict, cast

import tomli_w

from penstock import _core, library
from penstock.files import write_text
from penstock.result import Result

if TYPE_CHECKING:
    from penstock.lab.widget import LabWidget

Progress = Callable[[float, float, int, float], object]
"""Called at most about ten times a second with simulated time (s), duration (s), events so far, and wall time (s)."""

Table = Mapping[str, Any]
"""A TOML table: text with unit for quantities, numbers for counts, tables for tables."""


class Node(TypedDict):
    """A node; ``kind`` is ``host`` or ``switch``."""

    name: str
    kind: str


class AssignedScheme(TypedDict):
    """The scheme of a priority; ``parameters`` in the units of :func:`penstock.schemes`."""

    priority: int
    name: str
    profile: str | None
    parameters: dict[str, float | str | bool]


class PoolOfLine(TypedDict):
    """The limits of a line in a pool that its switch has for lossless priorities, octets.

    A pool stops a line at a dynamic threshold: ``xoff_alone_octets`` if no other line holds memory,
    ``xoff_together_octets`` if all hold as much. Headroom is in whole cells.
    """

    name: str
    cell_octets: int
    xoff_alone_octets: int
    xoff_together_octets: int
    headroom_octets: int
    headroom_needed_octets: int


class FlowControlDescription(TypedDict):
    """The ingress buffer behind a port that priority flow control can stop, octets.

    ``headroom_octets`` is what the buffer holds above xoff, ``headroom_needed_octets`` what frames, delays and response
    ask for (802.1Qbb; the page on priority flow control has the formula). ``response_s`` is the time from a pause frame
    until the port obeys. Where there are ``pools``, the line is stopped by the first that is at its threshold.
    """

    buffer_octets: int
    xoff_octets: int
    xon_octets: int
    headroom_octets: int
    headroom_needed_octets: int
    response_s: float
    pools: list[PoolOfLine]


class LinkDescription(TypedDict):
    """An output port and the line behind it, named ``node->peer``, as it is at the start.

    ``latency_s`` goes from the end of a frame's transmission until the peer acts on it. A buffer is a number of octets
    or of frames; a host's port where reaction points take turns has neither. ``flow_control`` is ``None`` where nothing
    stops the port.
    """

    name: str
    rate_bps: int
    latency_s: float
    buffer_octets: int | None
    buffer_frames: int | None
    congestion_points: bool
    flow_control: FlowControlDescription | None


class ChangeDescription(TypedDict):
    """A change of a link; ``event`` is ``rate``, ``down`` or ``up``."""

    at_s: float
    link: str
    event: str
    rate_bps: int | None


class ParameterChange(TypedDict):
    """The scheme of a priority with all its parameters from a time on; ``parameters`` as in :class:`AssignedScheme`."""

    at_s: float
    priority: int
    name: str
    parameters: dict[str, float | str | bool]


class Hop(TypedDict):
    """A link of a route, that of the opposite direction, and the index of the hop before."""

    link: str
    back: str
    after: int | None


class FlowDescription(TypedDict):
    """A flow: the nodes at its ends, its route, its traffic.

    ``traffic`` is ``greedy``, ``constant``, ``poisson`` or ``on-off``; ``rate_bps`` its mean rate, if it is not greedy.
    """

    name: str
    source: str
    destinations: list[str]
    controlled: bool
    priority: int
    weight: int
    frame_octets: int
    start_s: float | None
    stop_s: float | None
    size_octets: int | None
    traffic: str
    rate_bps: float | None
    hops: list[Hop]


class FairPeriod(TypedDict):
    """The reference allocation while nothing changes, one rate per flow, bit/s with wire overhead."""

    start_s: float
    stop_s: float
    max_min_bps: list[float]
    proportional_bps: list[float]


class Outline(TypedDict):
    """A scenario laid out, as it would run, without its flows.

    ``feedback_s`` is the fixed delay of signals, ``None`` where they travel as frames. ``notes`` are sentences on what
    the layout takes for granted.
    """

    name: str
    question: str
    scheme: str
    profile: str | None
    seed: int
    duration_s: float
    warmup_s: float
    interval_s: float
    wire_overhead_octets: int
    in_service_counts: bool
    feedback_s: float | None
    schemes: list[AssignedScheme]
    nodes: list[Node]
    links: list[LinkDescription]
    changes: list[ChangeDescription]
    parameter_changes: list[ParameterChange]
    queues: list[str]
    notes: list[str]


class Description(Outline):
    """A scenario laid out, as it would run."""

    flows: list[FlowDescription]
    fair: list[FairPeriod]


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

    Flows come from ``flow``, ``load``, ``incast`` and ``trace``, lists of tables of which one at least has an entry:

        >>> Scenario(
        ...     question="What do flows wait at half of the load?",
        ...     duration="20 ms",
        ...     until="flows complete",
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
        scheme: str,
        topology: Table,
        flow: Sequence[Table] | None = None,
        load: Sequence[Table] | None = None,
        incast: Sequence[Table] | None = None,
        trace: Sequence[Table] | None = None,
        name: str | None = None,
        until: str | None = None,
        warmup: str | None = None,
        seed: int | None = None,
        lossless: bool | None = None,
        acted: bool | None = None,
        schemes: Mapping[str, Table] | None = None,
        priority: Sequence[Table] | None = None,
        network: Table | None = None,
        buffer: Sequence[Table] | None = None,
        pfc: Table | None = None,
        hosts: Table | None = None,
        group: Sequence[Table] | None = None,
        change: Sequence[Table] | None = None,
        window: Sequence[Table] | None = None,
        record: Table | None = None,
        testbed: Table | None = None,
    ) -> None:
        document = {
            "name": name,
            "question": question,
            "duration": duration,
            "until": until,
            "warmup": warmup,
            "seed": seed,
            "lossless": lossless,
            "acted": acted,
            "scheme": scheme,
            "schemes": schemes,
            "priority": priority,
            "topology": topology,
            "network": network,
            "buffer": buffer,
            "pfc": pfc,
            "hosts": hosts,
            "group": group,
            "flow": flow,
            "load": load,
            "incast": incast,
            "trace": trace,
            "change": change,
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
        from penstock.starting import template

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
        self, *, scheme: str | None = None, profile: str | None = None, seed: int | None = None, limit: int = 1
    ) -> str:
        """Return the scenario as TOML with every default written out; ``limit`` as in :meth:`run`.

        Raises:
            ScenarioError: a value is not legal, or more is asked for than the limits allow.
        """
        return self._core.resolved(scheme, profile, seed, limit)

    def describe(
        self, *, scheme: str | None = None, profile: str | None = None, seed: int | None = None, limit: int = 1
    ) -> Description:
        """Lay the scenario out without running it: network, schemes, flows and their fair shares.

        ``limit`` is that of :meth:`run`.

        Raises:
            ScenarioError: a value is not legal, or more is asked for than the limits allow.
        """
        return cast(Description, json.loads(self._core.describe(scheme, profile, seed, limit)))

    def outline(
        self, *, scheme: str | None = None, profile: str | None = None, seed: int | None = None, limit: int = 1
    ) -> Outline:
        """Return what :meth:`describe` returns, without the flows and their fair shares: short, however many there are.

        Raises:
            ScenarioError: a value is not legal, or more is asked for than the limits allow.
        """
        return cast(Outline, json.loads(self._core.outline(scheme, profile, seed, limit)))

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
        scheme: str | None = None,
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

        The same scenario and seed give the same result. Claims of the scenario (``lossless``, ``acted``) that the run
        broke raise nothing here: :attr:`Result.claims`, :meth:`Result.raise_for_claims`. With ``out`` the records go
        to a folder of that name as they fill, otherwise they stay in memory. An interrupt (Ctrl-C) ends the run early
        and keeps what was recorded; see :attr:`Result.interrupted`. If ``progress`` has a method ``laying_out``, it is
        called without arguments about ten times a second while the scenario is laid out, and may raise
        KeyboardInterrupt. ``limit``, from 1 to 1000, is a factor on every limit of what a scenario may ask for: nodes,
        links, flows, their hops and fair shares, rows, frames in the network.

        ``pcap`` names ports, such as ``sw0->h4``: every frame whose transmission starts there goes, whole, into
        ``capture.pcapng`` of the folder, with nanoseconds, a comment on its flow and the length of its queue, and an
        interface for each port. It changes nothing else.

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
        return Result(self._core.run(scheme, profile, seed, out, force, progress, limit, ports, threads))

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
            from penstock.frames import MissingExtraError

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
