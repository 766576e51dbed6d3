"""The trials that a user asks for: which scenarios each runs, by what it is judged, and the clause that answers it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from penstock import _core
from penstock.errors import ArgumentError
from penstock.fabrics import names_in_short
from penstock.what_ifs import making
from penstock.what_ifs.cycles import CycleSearch, search
from penstock.what_ifs.making import Base, Document

AS_IS = "as-is"
"""The case with the fabric's own traffic alone, to which others are compared."""

_SENDERS = 16
"""Flows of the incast beside a victim where no incast is asked for."""

_SHARE = 0.25
"""Of the measured time: as long the octets of an incast take at the receiver's rate."""

_VICTIM_SHARE = 0.5
"""Of the measured time: as long the octets of a victim take alone at its source's rate."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """Scenarios that run: one for the present settings, and one for those proposed.

    Attributes:
        name: its name, also in files.
        question: the question of its scenarios.
        make: makes the tables from the fabric with either settings.
        port: the port by whose queue its runs are judged; ``None`` for the busiest.
    """

    name: str
    question: str
    make: Callable[[Base], Document]
    port: str | None = None


@dataclass(frozen=True, kw_only=True)
class Question:
    """A trial.

    Attributes:
        kind: ``as-is``, ``incast``, ``storm``, ``down``, ``degrade``, ``slow``, ``victim`` or ``deadlock``.
        case: what runs; ``None`` where a search answers alone.
        reference: the case without the disturbance.
        measures: names of its numbers; the first that its runs have answers it.
        clauses: for each number that may answer a clause with ``{}`` for the value.
        cycles: the search for cycles of buffers.
        notes: sentences on how the trial was set up.
    """

    kind: str
    name: str
    question: str
    case: Case | None
    reference: Case | None = None
    measures: Sequence[str]
    clauses: Mapping[str, str]
    cycles: CycleSearch | None = None
    notes: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The trials that are asked for: see :func:`penstock.what_if`."""

    incast: Sequence[int] = ()
    storm: Sequence[str] = ()
    down: Sequence[str] = ()
    degrade: Mapping[str, str]
    slow: Mapping[str, str]
    victim: bool = False
    deadlock: bool = False
    to: str | None = None
    size: str | None = None
    receive_buffer: str = "1 MB"
    links_down: int = 1


_COMMON = ("slowdown_p99", "flows_left", "paused_s", "longest_pause_s", "pause_frames", "frames_lost")
_QUEUE = ("queue_p99_octets", "queue_max_octets")


def questions(asked: Asked, sides: Mapping[str, Base]) -> list[Question]:
    """Return the trials, that of the fabric's own traffic first where others need it.

    Args:
        asked: what is asked for.
        sides: the fabric with its ``present`` settings and, if there are some, with those ``proposed``.

    Raises:
        ArgumentError: none is asked for, or one names a host, link or rate that the fabric has not.
    """
    present = sides["present"]
    fabric = present.fabric
    receiver = fabric.host("to", asked.to) if asked.to is not None else fabric.hosts[0]
    plain = Case(name=AS_IS, question=f"How does {present.name} do with its own traffic alone?", make=making.as_is)
    found = [_incast(asked, present, number, receiver, plain) for number in asked.incast]
    found += [_disturbed(one, plain) for one in _disturbances(asked, present)]
    if found:
        clauses = {
            "slowdown_p99": "99 % of the fabric's own flows take at most {} times as long as on an empty network",
            "paused_s": "the fabric's own traffic stops queues for {} in all",
            "frames_lost": "the fabric loses {} frames with its traffic alone",
        }
        measures = (*_COMMON, *_QUEUE, "frames_delivered")
        found.insert(
            0,
            Question(kind=AS_IS, name=AS_IS, question=plain.question, case=plain, measures=measures, clauses=clauses),
        )
    if asked.victim:
        found.append(_victim(asked, present, receiver))
    if asked.deadlock:
        found.append(_deadlock(asked, sides, receiver))
    if not found:
        raise ArgumentError("no trial is asked for", "name one, for instance incast=16, or victim=True")
    return found


@dataclass(frozen=True)
class _Disturbance:
    """A disturbance of a fabric with its own traffic.

    Attributes:
        kind: the kind of the trial.
        name: the host or link.
        title: the disturbance, in a question.
        when: the disturbance, after "when".
        port: the port by whose queue its runs are judged.
        make: makes the tables.
    """

    kind: str
    name: str
    title: str
    when: str
    port: str | None
    make: Callable[[Base], Document]


def _disturbances(asked: Asked, present: Base) -> Iterator[_Disturbance]:
    fabric = present.fabric
    for host in asked.storm:
        when = f"{fabric.host('storm', host)} sends a storm of pauses for half of the time"
        make: Callable[[Base], Document] = partial(making.storm, host=host)
        yield _Disturbance("storm", host, f"a pause storm of {host}", when, fabric.port_to(host), make)
    for link in asked.down:
        fabric.directions("down", link)
        yield _Disturbance("down", link, f"{link} down", f"{link} goes down", None, partial(making.down, link=link))
    for link, text in asked.degrade.items():
        ports = fabric.directions("degrade", link)
        rates = {port["name"]: fabric.rate(f'degrade="{link}={text}"', text, port["rate_bps"]) for port in ports}
        when = f"{link} has {rates[ports[0]['name']]}"
        make = partial(making.degraded, rates=rates)
        yield _Disturbance("degrade", link, f"{link} at {text}", when, ports[0]["name"], make)
    for host, text in asked.slow.items():
        port = fabric.port_to(fabric.host("slow", host))
        rate = fabric.rate(f'slow="{host}={text}"', text)
        make = partial(making.slow, host=host, rate=rate, buffer=asked.receive_buffer)
        yield _Disturbance(
            "slow", host, f"{host} as a receiver of {rate}", f"{host} takes no more than {rate}", port, make
        )


def _disturbed(of: _Disturbance, plain: Case) -> Question:
    """Return a trial that disturbs the fabric's own traffic."""
    name = f"{of.kind}-{of.name.replace('->', '-to-')}"
    question = f"What does {of.title} cost the fabric's own traffic?"
    return Question(
        kind=of.kind,
        name=name,
        question=question,
        case=Case(name=name, question=question, make=of.make, port=of.port),
        reference=plain,
        measures=("delivered_share", *_COMMON, *_QUEUE),
        clauses={"delivered_share": f"{{}} of the frames still arrive when {of.when}"},
    )


def _senders(present: Base, option: str, number: int, to: str, *, but: str | None = None) -> list[str]:
    """Return the senders of an incast: hosts of other racks, each rack in turn; with more flows than hosts, again.

    Where there is one rack alone, its hosts send.
    """
    if number < 1:
        raise ArgumentError(f"{option}={number}: out of range", "an incast has 1 flow or more")
    others = [host for host in present.fabric.others(to) or present.fabric.rack_of(to) if host != but]
    if not others:
        raise ArgumentError(f"{option}={number}: {to} is the only host", "an incast comes from other hosts")
    return [others[place % len(others)] for place in range(number)]


def _octets(present: Base, rate_bps: int, share: float) -> float:
    """Return the octets that a rate carries in a share of the measured time."""
    return share * (present.duration_s - present.warmup_s) * rate_bps / 8


def _incast(asked: Asked, present: Base, number: int, to: str, plain: Case) -> Question:
    fabric = present.fabric
    senders = _senders(present, "incast", number, to)
    size = asked.size
    if size is None:
        size = _core.write_quantity(max(1000.0, _octets(present, fabric.rate_of(to), _SHARE) / number), "octets")
    sent_from = len(set(senders))
    note = f"the incast: {number} flows of {size} to {to} from {names_in_short(senders)}, each rack in turn"
    more = "" if sent_from == number else f"; {sent_from} hosts send {number} flows"
    question = f"What does an incast of {number} to {to} cost, beside the fabric's own traffic?"
    name = f"incast-{number}"
    return Question(
        kind="incast",
        name=name,
        question=question,
        case=Case(
            name=name,
            question=question,
            make=lambda of: making.incast(of, to, senders, size),
            port=fabric.port_to(to),
        ),
        reference=plain,
        measures=("completion_p99_s", *_COMMON, *_QUEUE),
        clauses={"completion_p99_s": f"99 % of the flows of an incast of {number} to {to} complete within {{}}"},
        notes=(note + more,),
    )


def _victim(asked: Asked, present: Base, to: str) -> Question:
    """Return the trial of a flow to another host of the receiver's rack, over a link that the incast has paused."""
    fabric = present.fabric
    beside = fabric.rack_of(to)
    others = fabric.others(to)
    if not beside or len(others) < 2:
        raise ArgumentError(
            f"victim: the fabric has no flow that shares a path with an incast to {to}, and not its port",
            "the receiver needs another host at its switch, and two hosts at other switches",
        )
    number = asked.incast[0] if asked.incast else min(_SENDERS, len(others) - 1)
    source, end, shared = _shared_path(present, number, to, beside, others)
    senders = _senders(present, "victim", number, to, but=source)
    rate = min(fabric.rate_of(source), fabric.rate_of(end))
    size = _core.write_quantity(_octets(present, rate, _VICTIM_SHARE), "octets")
    question = f"What does an incast of {number} to {to} leave to a flow that does not go to {to}?"
    alone = Case(
        name="victim-alone",
        question=f"What does a flow from {source} to {end} get alone?",
        make=lambda of: making.victim(of, source, end, size, beside=None),
        port=fabric.port_to(end),
    )
    name = f"victim-{number}"
    return Question(
        kind="victim",
        name=name,
        question=question,
        case=Case(
            name=name,
            question=question,
            make=lambda of: making.victim(of, source, end, size, beside=(to, senders)),
            port=fabric.port_to(to),
        ),
        reference=alone,
        measures=(
            "victim_goodput_bps",
            "victim_alone_bps",
            "victim_completion_s",
            "victim_completion_alone_s",
            *_COMMON[2:],
            *_QUEUE,
        ),
        clauses={"victim_goodput_bps": f"the victim of an incast of {number} keeps {{}}"},
        notes=(f"the victim: {size} from {source} to {end}, over {', '.join(shared)} as flows of the incast",),
    )


def _shared_path(
    present: Base, number: int, to: str, beside: Sequence[str], others: Sequence[str]
) -> tuple[str, str, list[str]]:
    """Return source, end and shared ports of the victim that shares most ports with the incast.

    Raises:
        ArgumentError: none shares a port between switches.
    """
    fabric = present.fabric
    best: tuple[str, str, list[str]] = ("", "", [])
    for source in others[: 2 * len(fabric.switches)]:
        for end in beside[:4]:
            senders = _senders(present, "victim", number, to, but=source)
            made = making.victim(present, source, end, "1 MB", beside=(to, senders))
            routes = making.routes_of(made, present.name)
            own = routes.pop(making.VICTIM)
            crossed = set().union(*routes.values())
            shared = [port for port in own if port in crossed and fabric.is_between_switches(port)]
            if len(shared) > len(best[2]):
                best = source, end, shared
        if len(best[2]) > 1:
            break
    if not best[2]:
        raise ArgumentError(
            f"victim: no flow to a neighbour of {to} shares a link of switches with an incast of {number}",
            "ask for a larger incast, or for another receiver with to=",
        )
    return best


def _deadlock(asked: Asked, sides: Mapping[str, Base], stormy: str) -> Question:
    present = sides["present"]
    if "pfc" not in present.document:
        raise ArgumentError(
            f"deadlock: {present.name} has no [pfc], so that no buffer waits for another", "add [pfc], or leave it out"
        )
    lists = [table["path"] for table in present.document.get("flow", []) if "path" in table]
    found = search(present.fabric, links_down=asked.links_down, listed=lists)
    question = "Can buffers wait for one another in a circle, and do they stop for good?"
    case = None
    if found.cycles:
        first = found.cycles[0]
        # The settings that need longer decide for both sides.
        duration_s = max(making.closing_s(of, first) for of in sides.values())
        case = Case(
            name="deadlock-cycle",
            question=f"Do flows over the circle {' '.join(first.ports)} stop for good?",
            make=lambda of: making.closing(of, first, duration_s),
            port=first.ports[0],
        )
    elif present.fabric.others(stormy):
        storms = asked.storm[0] if asked.storm else stormy
        case = Case(
            name=f"deadlock-storm-{storms}",
            question=f"Does a storm of {storms} stop a queue for good, while all hosts send?",
            make=lambda of: making.everyone(of, storms),
        )
    return Question(
        kind="deadlock",
        name="deadlock",
        question=question,
        case=case,
        measures=("deadlocked", "deadlock_s", *_COMMON[2:]),
        clauses={},
        cycles=found,
    )
