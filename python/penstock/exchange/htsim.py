"""Connection matrices (``.cm``) and fabrics (``.topo``) of htsim.

Source of the formats: https://github.com/Broadcom/csg-htsim, folder ``sim/datacenter``: the readers in
``connection_matrix.cpp`` and ``fat_tree_topology.cpp``, and the scripts in ``connection_matrices``. A line that begins
with ``#`` is a comment here, everywhere; htsim's reader of matrices knows comments above the first connection alone.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from decimal import Decimal

from penstock.exchange.line_reader import ENTRIES_MAX, NUMBER, ExchangeError, Lines, cut

_ENDS = re.compile(r"\d{1,9}->\d{1,9}")
_KINDS = ("oneshot", "barrier", "multishot")

_REFUSED = {
    "prio": "it orders the pulls of NDP's receivers, and no receiver pulls here; take prio and its number out",
    "addon": "it adds to a connection that a trigger has started, and a flow here has one size; take it out",
}


@dataclass(frozen=True)
class Connection:
    """A connection of ``octets`` octets of data; 0 have no end.

    Attributes:
        ident: its number, from 1; ``None`` where the file gives none.
        start_ps: its start, ps; ``None`` where a trigger starts it.
        trigger: the number of the trigger that starts it.
        send_done: the number of the trigger that it activates when all is acknowledged.
        recv_done: the number of the trigger that it activates when all has arrived.
        message: the number of a message on a connection that is used again, whose ``ident`` it has; 0 without one.
        line: its line, counted from 1; 0 where it comes from no file.
    """

    source: int
    destination: int
    octets: int
    ident: int | None = None
    start_ps: int | None = None
    trigger: int | None = None
    send_done: int | None = None
    recv_done: int | None = None
    message: int | None = None
    line: int = field(default=0, compare=False)

    @property
    def activates(self) -> list[int]:
        """The numbers of the triggers that it activates."""
        return [number for number in (self.send_done, self.recv_done) if number is not None]


@dataclass(frozen=True)
class Trigger:
    """A trigger of a kind: ``oneshot``, ``multishot``, or ``barrier``, which ``count`` activations fire."""

    ident: int
    kind: str
    count: int = 0
    line: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Matrix:
    """The connections between ``nodes`` hosts, numbered from 0, in their order, and the triggers."""

    nodes: int
    connections: tuple[Connection, ...]
    triggers: tuple[Trigger, ...] = ()

    def text(self) -> str:
        """Return the matrix as a file."""
        lines = [f"Nodes {self.nodes}", f"Connections {len(self.connections)}"]
        lines += [f"Triggers {len(self.triggers)}"] * bool(self.triggers)
        for at in self.connections:
            words = [f"{at.source}->{at.destination}"]
            words += [] if at.ident is None else [f"id {at.ident}"]
            words += [] if at.message is None else [f"msg {at.message}" if at.message else "msg"]
            words.append(f"start {at.start_ps}" if at.trigger is None else f"trigger {at.trigger}")
            words.append(f"size {at.octets}")
            words += [] if at.send_done is None else [f"send_done_trigger {at.send_done}"]
            words += [] if at.recv_done is None else [f"recv_done_trigger {at.recv_done}"]
            lines.append(" ".join(words))
        for trigger in self.triggers:
            count = f" count {trigger.count}" if trigger.kind == "barrier" else ""
            lines.append(f"trigger id {trigger.ident} {trigger.kind}{count}")
        return "\n".join(lines) + "\n"


def parse_matrix(text: str, name: str) -> Matrix:
    """Read a connection matrix from its text; ``name`` stands in messages.

    Raises:
        ExchangeError: the text is not a connection matrix; the message has the line.
    """
    lines = Lines(text, name)
    counts: dict[str, int] = {}
    places: dict[str, int] = {}
    connections: list[Connection] = []
    triggers: dict[int, Trigger] = {}
    idents: dict[int, Connection] = {}
    while (words := lines.next_words()) is not None:
        head = words[0]
        if head in ("Nodes", "Connections", "Triggers", "Failures"):
            _header(lines, words, counts, places, late=bool(connections or triggers))
        elif "->" in head:
            connection = _connection(lines, words, counts.get("Nodes"))
            if connection.ident is not None:
                first = idents.setdefault(connection.ident, connection)
                _check_again(lines, connection, first)
            connections.append(connection)
        elif head == "trigger":
            trigger = _trigger(lines, words)
            if trigger.ident in triggers:
                raise lines.error(f"two triggers have the id {trigger.ident}; give each its own")
            triggers[trigger.ident] = trigger
        elif head == "failure":
            raise lines.error("a failure slows links down for the whole run; give those links another rate by hand")
        else:
            raise lines.error(f"{cut(head)!r} begins no line of a matrix; write a connection such as 0->13, or trigger")
    if "Nodes" not in counts:
        raise ExchangeError(name, None, "there is no line Nodes; write, for instance, Nodes 16 above the connections")
    for what, found in (("Connections", len(connections)), ("Triggers", len(triggers)), ("Failures", 0)):
        if counts.get(what, 0) != found:
            reason = f"{what} announces {counts.get(what, 0)} and the file has {found}; write {what} {found}"
            raise ExchangeError(name, places.get(what), reason)
    matrix = Matrix(counts["Nodes"], tuple(connections), tuple(triggers.values()))
    _check_triggers(matrix, name)
    return matrix


def _header(lines: Lines, words: list[str], counts: dict[str, int], places: dict[str, int], *, late: bool) -> None:
    """Take a line of the head: a word and a number."""
    head = words[0]
    if late:
        raise lines.error(f"{head} comes after a connection or a trigger; write it before them")
    if head in counts:
        raise lines.error(f"{head} appears twice; write it once")
    if len(words) != 2:
        raise lines.error(f"{head} has {len(words) - 1} values behind it and not 1; write, for instance, {head} 16")
    counts[head], places[head] = lines.count(words[1]), lines.at


def _connection(lines: Lines, words: list[str], nodes: int | None) -> Connection:
    """Return the connection of a line's fields."""
    lines.match(_ENDS, words[0], "two hosts", "0->13")
    if nodes is None:
        raise lines.error("the connection comes before the line Nodes; write, for instance, Nodes 16 first")
    source, destination = (lines.node(word, nodes) for word in words[0].split("->"))
    if source == destination:
        raise lines.error(f"the connection goes from host {source} to itself; write two hosts")
    known = ("id", "start", "trigger", "size", "send_done_trigger", "recv_done_trigger", "msg")
    if "msg" in words:
        # Without a number htsim gives the message one.
        behind = words.index("msg") + 1
        numbered = behind < len(words) and words[behind].isdecimal()
        words = words if numbered else [*words[:behind], "0", *words[behind:]]
    given = _pairs(lines, words[1:], known, _REFUSED)
    if "size" not in given:
        raise lines.error("the connection has no size; write, for instance, size 2000000")
    if ("start" in given) == ("trigger" in given):
        both = "a start and a trigger" if "start" in given else "neither a start nor a trigger"
        raise lines.error(f"the connection has {both}; write start with ps, or trigger with its number")
    octets = lines.whole(given["size"])
    start_ps = _picoseconds(lines, given["start"]) if "start" in given else None
    idents = ("id", "trigger", "send_done_trigger", "recv_done_trigger")
    numbers = [_ident(lines, given[key]) if key in given else None for key in idents]
    message = lines.whole(given["msg"]) if "msg" in given else None
    if message is not None and "id" not in given:
        raise lines.error("the message has no id of its connection; give it one")
    if "trigger" in given and "id" not in given:
        raise lines.error("a trigger starts the connection, which has no id; give it one")
    ident, trigger, send_done, recv_done = numbers
    return Connection(source, destination, octets, ident, start_ps, trigger, send_done, recv_done, message, lines.at)


def _check_again(lines: Lines, connection: Connection, first: Connection) -> None:
    """Refuse a second connection with an id: only messages of one connection have the same."""
    if connection is first:
        return
    if connection.message is None or first.message is None:
        hint = "give each its own, or write msg in each line of one connection"
        raise lines.error(f"two connections have the id {connection.ident}; {hint}")
    if (connection.source, connection.destination) != (first.source, first.destination):
        ends = f"{first.source}->{first.destination}"
        raise lines.error(f"the connection {connection.ident} is {ends} in line {first.line}; give messages its ends")


def _trigger(lines: Lines, words: list[str]) -> Trigger:
    """Return the trigger of a line's fields."""
    kinds = [word for word in words[1:] if word in _KINDS]
    if len(kinds) != 1:
        raise lines.error(f"the trigger has {len(kinds)} kinds; write one of {', '.join(_KINDS)}")
    given = _pairs(lines, [word for word in words[1:] if word not in _KINDS], ("id", "count"), {})
    if "id" not in given:
        raise lines.error("the trigger has no id; write, for instance, id 1")
    count = lines.count(given["count"]) if "count" in given else 0
    if (kinds[0] == "barrier") != (count > 0):
        wrong = "a barrier has no count above 0; write, for instance, count 8"
        raise lines.error(wrong if kinds[0] == "barrier" else f"a {kinds[0]} has a count; a barrier alone has one")
    return Trigger(_ident(lines, given["id"]), kinds[0], count, lines.at)


def _pairs(lines: Lines, words: list[str], known: tuple[str, ...], refused: dict[str, str]) -> dict[str, str]:
    """Return the fields behind the known ones."""
    given: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        if word in refused:
            raise lines.error(f"{word}: {refused[word]}")
        if word not in known:
            raise lines.error(f"{cut(word)!r} is not known here; write one of {', '.join(known)}")
        if word in given:
            raise lines.error(f"{word} appears twice; write it once")
        value = next(rest, None)
        if value is None:
            raise lines.error(f"there is no number behind {word}; write one")
        given[word] = value
    return given


def _ident(lines: Lines, word: str) -> int:
    """Return the number of a connection or a trigger."""
    number = lines.whole(word)
    if not 0 < number <= ENTRIES_MAX * 1000:
        raise lines.error(f"the number is {cut(word)}; write one from 1 to {ENTRIES_MAX * 1000}")
    return number


def _picoseconds(lines: Lines, word: str) -> int:
    """Return a start: htsim reads a number with a fraction, and time has none below 1 ps."""
    lines.match(NUMBER, word, "a start in ps", "1000000")
    start = Decimal(word)
    if start != int(start):
        raise lines.error(f"the start is {cut(word)} ps; write a whole number")
    return int(start)


def _check_triggers(matrix: Matrix, name: str) -> None:
    """Refuse triggers that are missing, or never fire, or fire for nothing: htsim's own run would end or lose flows."""
    known = {trigger.ident: trigger for trigger in matrix.triggers}
    starts = {at.trigger for at in matrix.connections}
    activations = dict.fromkeys(known, 0)
    for at in matrix.connections:
        for number in [*([] if at.trigger is None else [at.trigger]), *at.activates]:
            if number not in known:
                raise ExchangeError(name, at.line, f"there is no trigger {number}; write a line for it")
        for number in at.activates:
            activations[number] += 1
    for ident, trigger in known.items():
        if ident not in starts:
            raise ExchangeError(name, trigger.line, f"the trigger {ident} starts no connection; take it out")
        fired_by = activations[ident]
        needed = trigger.count if trigger.kind == "barrier" else 1
        if trigger.kind != "multishot" and fired_by != needed:
            times = "once" if needed == 1 else f"{needed} times"
            reason = f"{fired_by} connections activate the {trigger.kind} {ident}, which is activated {times}"
            raise ExchangeError(name, trigger.line, f"{reason}; write its number at {needed} of them")


@dataclass(frozen=True)
class Tier:
    """A tier of switches, from the lowest: their links downwards, and how many go up.

    Attributes:
        speed_gbps: rate of the links downwards, Gb/s.
        latency_ns: delay of a link downwards, ns.
        switch_latency_ns: delay through a switch, ns.
        bundle: links between the same two switches, of those downwards.
        queue_up, queue_down: sizes of the output queues, octets; ``None`` where the file does not say.
    """

    speed_gbps: int
    radix_down: int
    latency_ns: int
    radix_up: int | None = None
    switch_latency_ns: int = 0
    oversubscribed: int = 1
    bundle: int = 1
    queue_up: int | None = None
    queue_down: int | None = None


_KEYS = {
    "downlink_speed_gbps": ("Downlink_speed_Gbps", "speed_gbps"),
    "radix_down": ("Radix_Down", "radix_down"),
    "radix_up": ("Radix_Up", "radix_up"),
    "downlink_latency_ns": ("Downlink_Latency_ns", "latency_ns"),
    "switch_latency_ns": ("Switch_Latency_ns", "switch_latency_ns"),
    "oversubscribed": ("Oversubscribed", "oversubscribed"),
    "bundle": ("Bundle", "bundle"),
    "queue_up": ("Queue_up", "queue_up"),
    "queue_down": ("Queue_down", "queue_down"),
}
"""The keys of a tier in small letters: their spelling, and the attribute."""

BUNDLE_MAX = 64
"""The most links between two switches of a scenario."""

_LARGEST = 2**31 - 1
"""The largest number that htsim reads in a file."""


@dataclass(frozen=True)
class Fabric:
    """A tree of two or three tiers above ``nodes`` hosts, in pods of ``pod`` hosts."""

    nodes: int
    pod: int
    tiers: tuple[Tier, ...]

    def text(self) -> str:
        """Return the fabric as a file."""
        lines = [f"Nodes {self.nodes}", f"Tiers {len(self.tiers)}", f"Podsize {self.pod}"]
        for number, tier in enumerate(self.tiers):
            lines += ["", f"Tier {number}"]
            values = {at.name: getattr(tier, at.name) for at in fields(tier)}
            lines += [f"{word} {values[key]}" for word, key in _KEYS.values() if values[key] is not None]
        return "\n".join(lines) + "\n"

    @property
    def queues(self) -> list[int | None]:
        """The size of the queues at the links below each tier, octets; ``None`` where the file does not say it."""
        below = [None, *(tier.queue_up for tier in self.tiers)]
        return [tier.queue_down or up for tier, up in zip(self.tiers, below, strict=False)]

    @property
    def switches(self) -> tuple[int, int, int]:
        """The numbers of switches of the tiers from the lowest: all in all; the last is 0 of two tiers."""
        lowest, middle, *top = self.tiers
        uplinks = self.nodes * lowest.speed_gbps // (middle.speed_gbps * lowest.oversubscribed)
        cores = 0
        if top:
            cores = uplinks * middle.speed_gbps // (top[0].speed_gbps * middle.oversubscribed) // top[0].radix_down
        return self.nodes // lowest.radix_down, uplinks // middle.radix_down, cores


def own_fabric(matrix: Matrix, name: str) -> Fabric:
    """Return the tree that htsim builds where it gets no ``.topo``: three tiers, or two for numbers that no three have.

    Links of 100 Gb/s (``HOST_NIC``) and 1 us, switches without a delay; k^3/4 hosts, or k^2/2. (``set_params``)

    Raises:
        ExchangeError: no such tree has as many hosts.
    """
    nodes = matrix.nodes
    for tiers in (3, 2):
        # Trees are tried one by one: the largest k is in the thousands.
        hosts = {k**3 // 4 if tiers == 3 else k**2 // 2: k for k in range(2, 5000, 2)}
        if nodes in hosts:
            k = hosts[nodes]
            half = k // 2
            low = Tier(100, half, 1000, radix_up=half)
            if tiers == 2:
                return Fabric(nodes, nodes, (low, Tier(100, k, 1000)))
            return Fabric(nodes, half * half, (low, low, Tier(100, k, 1000)))
    reason = f"Nodes is {nodes}, and the trees that htsim builds without a .topo have k^3/4 or k^2/2 hosts"
    raise ExchangeError(name, None, f"{reason}: 16, 54, 128, 250, 432, 1024, … or 8, 18, 32, 50, 72, …; give a .topo")


def parse_fabric(text: str, name: str) -> Fabric:
    """Read a fabric from its text; ``name`` stands in messages.

    Raises:
        ExchangeError: the text is not a fabric that htsim would build; the message has the line.
    """
    lines = Lines(text, name)
    head: dict[str, int] = {}
    tiers: dict[int, dict[str, int]] = {}
    places: dict[tuple[int, str], int] = {}
    at = -1
    while (words := lines.next_words()) is not None:
        key = words[0].lower()
        if len(words) != 2:
            raise lines.error(f"the line has {len(words)} fields and not 2; write a key and a number")
        value = lines.whole(words[1])
        if value > _LARGEST:
            raise lines.error(f"the number is {cut(words[1])}; write {_LARGEST} at most")
        if key == "tier":
            if value > 2 or value in tiers:
                raise lines.error(f"there is a tier {value} twice, or above 2; write each of 0, 1 and 2 once")
            at, tiers[value], places[value, ""] = value, {}, lines.at
        elif at < 0:
            if key not in ("nodes", "tiers", "podsize"):
                raise lines.error(f"{cut(words[0])!r} comes before the first tier; write Nodes, Tiers or Podsize there")
            _take(lines, head, words[0], key, value)
            places[-1, key] = lines.at
        elif key not in _KEYS:
            known = ", ".join(word for word, _ in _KEYS.values())
            raise lines.error(f"{cut(words[0])!r} is not known here; write one of {known}")
        else:
            _take(lines, tiers[at], words[0], _KEYS[key][1], value)
            places[at, _KEYS[key][1]] = lines.at
    return _fabric(head, tiers, places, name)


def _take(lines: Lines, into: dict[str, int], word: str, key: str, value: int) -> None:
    """Take a key and its number, once."""
    if key in into:
        raise lines.error(f"{cut(word)} appears twice; write it once")
    if value == 0 and key != "switch_latency_ns":
        raise lines.error(f"{cut(word)} is 0; write 1 at least")
    into[key] = value


def _fabric(
    head: dict[str, int], tiers: dict[int, dict[str, int]], places: dict[tuple[int, str], int], name: str
) -> Fabric:
    """Return the fabric of such numbers, if it can be built."""

    def missing(what: str, where: int | None) -> ExchangeError:
        return ExchangeError(name, where, f"there is no {what}; write one")

    for word in ("Nodes", "Tiers", "Podsize"):
        if word.lower() not in head:
            raise missing(f"line {word}", None)
    if head["tiers"] not in (2, 3):
        raise ExchangeError(name, places[-1, "tiers"], f"there are {head['tiers']} tiers; write 2 or 3")
    for number in range(3):
        place = places.get((number, ""))
        if (number in tiers) != (number < head["tiers"]):
            said = f"Tiers says {head['tiers']}, and Tier {number} is {'there' if place else 'missing'}"
            raise ExchangeError(name, place, f"{said}; write the tiers from 0 to {head['tiers'] - 1}")
    for number in range(head["tiers"]):
        top = number == head["tiers"] - 1
        needed = ("downlink_speed_gbps", "radix_down", "downlink_latency_ns", *(() if top else ("radix_up",)))
        for word, key in (_KEYS[entry] for entry in needed):
            if key not in tiers[number]:
                raise missing(f"{word} in tier {number}", places[number, ""])
        for key in ("radix_up", "queue_up") if top else ():
            if key in tiers[number]:
                raise ExchangeError(name, places[number, key], "no link goes up from the top tier; take this out")
    built = tuple(Tier(**tiers[number]) for number in range(head["tiers"]))
    fabric = Fabric(head["nodes"], head["podsize"], built)

    def refuse(tier: int, key: str, reason: str) -> ExchangeError:
        return ExchangeError(name, places.get((tier, key), places.get((tier, ""))), reason)

    _check_fabric(fabric, refuse)
    return fabric


def _check_fabric(fabric: Fabric, refuse: "Callable[[int, str, str], ExchangeError]") -> None:
    """Refuse numbers that do not fit together: htsim's own reader ends at each of these."""
    lowest, middle, *top = fabric.tiers
    nodes, pod = fabric.nodes, fabric.pod
    if nodes % pod:
        raise refuse(-1, "podsize", f"{nodes} hosts are not in pods of {pod}; write a Podsize that divides Nodes")
    if not top and pod != nodes:
        raise refuse(-1, "podsize", f"two tiers are one pod, of {nodes} hosts; write Podsize {nodes}")
    if pod % lowest.radix_down:
        reason = f"a pod of {pod} hosts is not in racks of {lowest.radix_down}; write a Radix_Down that divides Podsize"
        raise refuse(0, "radix_down", reason)
    if lowest.radix_down // (lowest.radix_up or 1) != lowest.oversubscribed:
        ratio = lowest.radix_down // (lowest.radix_up or 1)
        raise refuse(
            0, "oversubscribed", f"{lowest.radix_down} links down and {lowest.radix_up} up are not so; {ratio} fits"
        )
    for number, tier in enumerate(fabric.tiers):
        up = fabric.tiers[number - 1].queue_up if number else None
        if up is not None and tier.queue_down not in (None, up):
            ends = f"the queues at the other end of these links have {up} octets, and both ends have one size here"
            raise refuse(number, "queue_down", f"{ends}; write Queue_down {up}")
        if number == 0:
            if tier.bundle > 1:
                raise refuse(0, "bundle", "a host has one link; write Bundle 1")
            continue
        if tier.bundle > BUNDLE_MAX:
            raise refuse(number, "bundle", f"two switches have {BUNDLE_MAX} links at most; write a smaller Bundle")
        below = fabric.tiers[number - 1]
        for at, key, radix in ((number, "radix_down", tier.radix_down), (number - 1, "radix_up", below.radix_up or 0)):
            if radix % tier.bundle:
                reason = f"{radix} links are not in bundles of {tier.bundle}; write a multiple, or another Bundle"
                raise refuse(at, key, reason)
    pods = nodes // pod
    down, left = divmod(nodes * lowest.speed_gbps, middle.speed_gbps * lowest.oversubscribed)
    above, rest = divmod(down, pods * middle.radix_down)
    if left or rest or above * middle.bundle != lowest.radix_up:
        fitting = f"{down} links up from tier 0 and {pods} pods do not give {lowest.radix_up} switches of tier 1 a pod"
        raise refuse(1, "radix_down", f"{fitting} at this radix; change Radix_Down, or Radix_Up of tier 0")
    for core in top:
        up, left = divmod(down * middle.speed_gbps, core.speed_gbps * middle.oversubscribed)
        cores, rest = divmod(up, core.radix_down)
        if left or rest or cores * core.bundle != (middle.radix_up or 0) * above:
            fitting = f"{up} links up from tier 1 do not give each switch there {middle.radix_up} switches of tier 2"
            raise refuse(2, "radix_down", f"{fitting}; change Radix_Down, or Radix_Up of tier 1")
