"""Schemes as classes in Python: what one is made of, and how the engine learns of it.

A scheme is a class below :class:`Scheme` with up to three classes in it. Its congestion point watches an output queue,
its notification point answers at a destination, and its reaction point limits a source. The engine calls the methods
that they have. Times are picoseconds since the start of the run, sizes octets, rates bit/s; all are whole numbers.
"""

import hashlib
import inspect
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, Literal, NamedTuple, Self, overload

from penstock import _core
from penstock.errors import ArgumentError
from penstock.python_file import run_file

Unit = Literal["octets", "threshold", "s", "bit/s", "count", "ratio", "choice", "switch"]
"""Units of parameters. A threshold is the length of a queue in octets."""


class Parameter(NamedTuple):
    """A parameter of a scheme: a key of ``[schemes.NAME]``.

    Values are text as in a scenario file, or numbers without a unit.
    """

    unit: Unit
    default: str | int | float | bool
    minimum: str | int | float = ""
    maximum: str | int | float = ""
    words: tuple[str, ...] = ()
    """Of a choice."""
    source: str = "the scheme's file"
    """Standard and clause, or paper and equation."""
    description: str = ""
    """The effect of the parameter."""
    bound: str | None = None
    """A limit besides the range: ``"at least NAME"`` of another parameter, ``"at most line"`` of a rate."""
    when: str | None = None
    """Where alone it has an effect: ``"NAME = WORD | WORD"`` of a choice or a switch."""


class Profile(NamedTuple):
    """A named set of values of parameters, which a scenario chooses by ``profile``."""

    description: str
    """The source of the values."""
    settings: dict[str, str | int | float | bool]
    """The values that differ from the defaults."""


class _Point:
    """A point of a scheme.

    Attributes:
        p: the parameters by their names: octets, ps, bit/s, counts, text, True or False.
        timeout: when :meth:`on_timer` is due, ps; None for no timer. The engine clears it before it calls the method.
    """

    p: Any
    timeout: int | None = None
    _signals: list[tuple[int, int, int, int, int, list[int]]]
    _words: list[int]

    def __new__(cls, p: Any, _place: Any) -> Self:
        """Make a point with its parameters: a class that has its own ``__init__`` need not call this one."""
        point = super().__new__(cls)
        point.p, point._signals, point._words = p, [], []
        return point

    def __init__(self, p: Any, place: Any) -> None:
        """Make a point; ``place`` is a queue's, a flow, or the rate of a line."""

    def __getnewargs__(self) -> tuple[Any, Any]:
        return self.p, getattr(self, "line", None)

    def configure(self, p: Any) -> None:
        """Take new parameters: state stays, rates and windows stay within new bounds."""
        self.p = p

    def draw(self) -> int:
        """Return the next random word, of 32 bits: at most ``draws`` of the class in one call of a method.

        Raises:
            IndexError: the call has drawn them.
        """
        if not self._words:
            raise IndexError("no random word is left: the class has draws = N, the most that a method draws")
        return self._words.pop(0)

    def send(
        self,
        flow: int,
        *word: int,
        to: Literal["source", "destination", "previous hop"] = "source",
        octets: int = 64,
        kind: Literal["notification", "probe", "reply"] = "notification",
        control: bool = True,
    ) -> None:
        """Send a signal with up to four numbers below 2^64, in the queue of control frames or in the flow's own.

        ``octets`` is the length of the frame with FCS, from 64 to 1522.
        """
        content = [*word, 0, 0, 0, 0][: max(4, len(word))]
        target = ("source", "destination", "previous hop").index(to)
        number = ("notification", "probe", "reply").index(kind)
        self._signals.append((target, flow, int(control), number, octets, content))


class CongestionPoint(_Point):
    """Watches an output queue. Made with the parameters and a place (``cp``, ``line``, ``capacity``, ``phase``).

    Methods that a class may have:

    - ``mark(frame, octets)``: whether the frame, one of this number of octets in the queue, is marked.
    - ``on_arrival(frame, queue)``, ``on_transmission(frame, queue)``: may return new content of the frame's tag.
    - ``on_departure(frame, queue)``, ``on_signal(signal, queue)``, ``on_timer(now, queue)``.
    - ``on_probe_departure(signal, queue)``: may return new content of a signal that leaves for its destination.
    - ``set_thresholds(low, high, probability)``: the scenario gives the queue its own thresholds, octets; marks follow
      these from now on.
    - ``variables()``: a number for each of the scheme's ``cp_variables``.
    """


class NotificationPoint(_Point):
    """Sits at the destination of a flow. Made with the parameters and the flow.

    Methods that a class may have:

    - ``acknowledge(frame)``: False acknowledges nothing now, True the frame; a tuple is the content of the echo. The
      acknowledgement of a marked frame is marked.
    - ``on_frame(frame)``, ``on_signal(signal)``, ``on_timer(now)``.
    """


class ReactionPoint(_Point):
    """Limits a source. Made with the parameters and the rate of the line.

    Methods that a class may have:

    - ``on_ack(ack)``, ``on_silence(now, flow, lost)``, ``on_signal(signal)``, ``on_timer(now)``.
    - ``on_send(release)``: may return the content of the frame's tag.
    - ``on_start(now, flow)``, ``on_stop(now, flow)``, ``on_round_trip(ps)``.
    - ``variables()``: a number for each of the scheme's ``rp_variables``.

    Attributes:
        line: rate of the line, bit/s.
        rate: rate at which frames may go, from 0 to the line's.
        window: octets that may be in flight; None for no window.
        limiting: whether a rate limiter is installed.
    """

    line: int
    rate: float
    window: float | None = None
    limiting: bool = False

    def __new__(cls, p: Any, line: int) -> Self:
        """Make a point that has the rate of the line."""
        point = super().__new__(cls, p, line)
        point.line, point.rate = line, line
        return point


class Scheme:
    """A scheme of one's own: classes of its points, parameters, and what it has to do with the network.

    Run it by its class, ``scenario.run(scheme=MyScheme)``, or by its place, ``penstock run --scheme my.py:MyScheme``.
    """

    name: ClassVar[str] = ""
    """Its name in files: small letters, digits and '-'; by default from the name of the class."""
    source: ClassVar[str] = "a class in Python"
    """Where it is defined."""
    parameters: ClassVar[dict[str, Parameter]] = {}
    profiles: ClassVar[dict[str, Profile]] = {}
    CongestionPoint: ClassVar[type[_Point]] = CongestionPoint
    NotificationPoint: ClassVar[type[_Point]] = NotificationPoint
    ReactionPoint: ClassVar[type[_Point]] = ReactionPoint
    ecn: ClassVar[bool] = False
    """Frames carry the mark of ECN."""
    random: ClassVar[bool] = False
    """Frames, acknowledgements, signals and releases have a field ``random``, a number of 32 bits."""
    draws: ClassVar[int] = 0
    """The most random words that a method takes by ``self.draw()``."""
    signals: ClassVar[Literal["", "backward", "by destination"]] = ""
    """Who sends signals to sources: congestion points, or destinations."""
    signal_octets: ClassVar[int] = 64
    tag_octets: ClassVar[int] = 0
    echo_octets: ClassVar[int] = 0
    needs_order: ClassVar[bool] = True
    needs_trimming: ClassVar[bool] = False
    remembers_flows: ClassVar[bool] = False
    recovers_alone: ClassVar[bool] = False
    raises_on_signal: ClassVar[bool] = True
    set_point: ClassVar[str | None] = None
    """The threshold at which the queue is to be held."""
    actions: ClassVar[tuple[str, ...]] = ("cuts", "raises")
    """What the engine counts: marks, notifications, replies, cuts, raises, trims, neighbour messages."""
    cp_variables: ClassVar[dict[str, str]] = {}
    """Columns of the results, with their meaning."""
    rp_variables: ClassVar[dict[str, str]] = {}


_ACTIONS = ("marks", "notifications", "replies", "cuts", "raises", "trims", "neighbour messages")
_here: dict[str, type[Scheme]] = {}
"""Classes without a file that could be loaded again, by their place."""
_files: dict[tuple[str, float], ModuleType] = {}


@overload
def place_of(scheme: "str | type[Scheme]") -> str: ...
@overload
def place_of(scheme: None) -> None: ...
@overload
def place_of(scheme: "str | type[Scheme] | None") -> str | None: ...
def place_of(scheme: "str | type[Scheme] | None") -> str | None:
    """Return the place of a class, ``my.py:MyScheme``; the name of a scheme is its own place.

    Raises:
        ArgumentError: it is no class of a scheme.
    """
    if scheme is None or isinstance(scheme, str):
        return scheme
    if not (isinstance(scheme, type) and issubclass(scheme, Scheme)):
        raise ArgumentError(f"{scheme!r} is no scheme", "give a name, or a class below penstock.Scheme")
    module = sys.modules.get(scheme.__module__)
    file = getattr(module, "__file__", None) or ""
    place = f"{file if file.endswith('.py') else '<python>.py'}:{scheme.__qualname__}"
    _here[place] = scheme
    return place


def located(scheme: "str | type[Scheme]") -> str:
    """Return the place of a class in a file that any process can load; the name of a scheme is its own place.

    Raises:
        ArgumentError: it is no class of a scheme, or there is no file that has it.
    """
    place = place_of(scheme)
    if isinstance(scheme, str):
        return scheme
    if not Path(place.rpartition(":")[0]).is_file() or "." in scheme.__qualname__:
        raise ArgumentError(
            f"the class {scheme.__qualname__} is not at the top of a file: no other process could load it",
            "write it into a file, import it from there, or name its location, as in my.py:MyScheme",
        )
    return place


def check_scheme(scheme: "str | type[Scheme]") -> None:
    """Check a scheme of a file, or a class, under random sequences of calls, which are the same each time.

    The rules are those of the contract. Rates and timers are in their bounds, and the same calls have the same answers,
    also from a copy. Parameters may change, and signals are as the scheme describes them.

    Raises:
        ScenarioError: a rule is broken: the message has the rule and a short sequence of calls that breaks it, or the
            line of an exception.
        ArgumentError: it is no class of a scheme.
    """
    _core.scheme_conforms(place_of(scheme))


def described(place: str) -> tuple[type[Scheme], list[type[_Point]], str]:
    """Return the class at a place, those of its points, and its description as JSON. The engine calls it.

    Raises:
        ArgumentError: there is no such class, or it lacks a part.
    """
    scheme = _load(place)
    points = [scheme.CongestionPoint, scheme.NotificationPoint, scheme.ReactionPoint]
    for own, base in zip(points, (CongestionPoint, NotificationPoint, ReactionPoint), strict=True):
        if not (isinstance(own, type) and issubclass(own, base)):
            raise ArgumentError(f"{place}: {base.__name__} is {own!r}", f"a class below penstock.{base.__name__}")
    has = [
        [name for name in names if callable(getattr(point, name, None))]
        for point, names in zip(points, _core.scheme_methods(), strict=True)
    ]
    acknowledges = "acknowledge" in has[1]
    for needs, method, owner in (
        (acknowledges, "on_ack", "acknowledges"),
        (scheme.signals, "on_signal", "has signals"),
    ):
        if needs and method not in has[2]:
            raise ArgumentError(f"{place}: ReactionPoint has no method {method}, and the scheme {owner}", "write it")
    for which, columns in ((0, scheme.cp_variables), (2, scheme.rp_variables)):
        if columns and "variables" not in has[which]:
            raise ArgumentError(f"{place}: {points[which].__name__} has no method variables", "one number a column")
    unknown = [action for action in scheme.actions if action not in _ACTIONS]
    if unknown:
        raise ArgumentError(f"{place}: {unknown[0]!r} is no action", f"the actions are {', '.join(_ACTIONS)}")
    bits = (
        acknowledges,
        scheme.signals == "backward",
        scheme.signals == "by destination",
        scheme.remembers_flows,
        scheme.needs_trimming,
        scheme.needs_order,
        scheme.recovers_alone,
        scheme.raises_on_signal,
    )
    text = inspect.cleandoc(scheme.__doc__ or "A scheme in Python.")
    entry = {
        "name": scheme.name or "".join(f"-{c.lower()}" if c.isupper() else c for c in scheme.__name__).strip("-_"),
        "title": text.split("\n", 1)[0],
        "source": scheme.source,
        "description": text,
        "parameters": [_entry(name, own) for name, own in scheme.parameters.items()],
        "profiles": [
            (name, own.description, [(key, _written(value)) for key, value in own.settings.items()])
            for name, own in scheme.profiles.items()
        ],
        "variables": [list(scheme.cp_variables.items()), list(scheme.rp_variables.items()), []],
        "methods": has,
        "set_point": scheme.set_point,
        "properties": sum(1 << at for at, bit in enumerate(bits) if bit),
        "actions": sum(1 << _ACTIONS.index(action) for action in scheme.actions),
        "tag_octets": scheme.tag_octets,
        "echo_octets": scheme.echo_octets,
        "signal_octets": scheme.signal_octets,
        "random": scheme.random,
        "draws": scheme.draws,
        "ecn": scheme.ecn,
    }
    return scheme, points, json.dumps(entry)


def _entry(name: str, own: Parameter) -> dict[str, Any]:
    default = _written(own.default)
    return {
        "name": name,
        "unit": own.unit,
        "words": list(own.words),
        "default": default,
        "minimum": _written(own.minimum) or default,
        "maximum": _written(own.maximum) or default,
        "source": own.source,
        "description": own.description or f"The parameter {name}.",
        "bound": own.bound,
        "when": own.when,
    }


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _load(place: str) -> type[Scheme]:
    """Load the class at a place; a file that has not changed is not run again."""
    if place in _here:
        return _here[place]
    path, _, name = place.rpartition(":")
    file = Path(path)
    if not file.is_file():
        raise ArgumentError(f"{path}: no such file", "its place is relative to the current folder")
    key = (str(file.resolve()), file.stat().st_mtime)
    if key not in _files:
        called = f"penstock_scheme_{hashlib.sha256(repr(key).encode()).hexdigest()[:12]}"
        if file.suffix != ".py":
            raise ArgumentError(f"{path}: is no file of Python", "its name ends with .py")
        try:
            _files[key] = run_file(file, called, registered=True)
        except Exception as error:
            raise ArgumentError(
                f"{path}{_line(error, file)}: {type(error).__name__}: {error}", "mend the file"
            ) from error
    found = getattr(_files[key], name, None)
    if not (isinstance(found, type) and issubclass(found, Scheme)):
        known = [
            word
            for word, own in vars(_files[key]).items()
            if isinstance(own, type) and issubclass(own, Scheme) and own is not Scheme
        ]
        hint = f"it has {', '.join(known)}" if known else "write a class below penstock.Scheme"
        raise ArgumentError(f"{path} has no scheme {name}", hint)
    return found


def _line(error: Exception, file: Path) -> str:
    """Return the line of a file in which an exception arose, as ``:12``."""
    at = error.lineno if isinstance(error, SyntaxError) else None
    trace = error.__traceback__
    while trace is not None:
        if Path(trace.tb_frame.f_code.co_filename) == file:
            at = trace.tb_lineno
        trace = trace.tb_next
    return "" if at is None else f":{at}"
