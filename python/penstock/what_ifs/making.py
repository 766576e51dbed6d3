"""The scenarios of trials: a fabric's tables with a disturbance, and with other traffic where the trial needs it.

Each is a TOML text that stands for itself, so that `penstock run` repeats the trial.
"""

import json
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import tomli_w

from penstock import _core
from penstock.declared import LinkDescription
from penstock.errors import ArgumentError
from penstock.scenario import Scenario, text_alone
from penstock.what_ifs.cycles import Cycle
from penstock.what_ifs.fabric import Fabric

Document = dict[str, Any]

_TRAFFIC = ("flow", "load", "incast", "burst", "trace", "group")
_OF_THE_RUN = ("duration", "warmup", "seed", "until")
_LEFT_OUT = ("lossless", "require_action", "impaired_is_lost", "window", "testbed")
"""Claims, windows and times of other machines: a trial measures, and covers the whole run."""

_STYLE = ("transport", "acks", "frame", "controlled", "priority", "weight")
"""The keys that flows of trials take from the fabric's own traffic."""

VICTIM, SENDERS = "victim", "trial"
"""The names of the flows that trials add: a victim, and the senders of an incast."""

_FILLINGS = 8
"""As many times as the buffers of a cycle take to fill, one after another, lasts the trial of a deadlock."""

_JITTER_S = 10e-6
"""Hosts of an incast start within this time."""


@dataclass(frozen=True)
class Base:
    """A fabric with settings, from which trials are made.

    Attributes:
        document: its tables.
        fabric: its network.
        name: its name.
        duration_s: duration of its runs, s.
        warmup_s: their warm-up, s.
    """

    document: Document
    fabric: Fabric
    name: str
    duration_s: float
    warmup_s: float

    def at(self, part: float) -> str:
        """Return the time at which a part of the measured time has passed, as a scenario's text."""
        return time(self.warmup_s + part * (self.duration_s - self.warmup_s))

    @property
    def own(self) -> Document:
        """A copy of the tables."""
        return deepcopy(self.document)

    @property
    def without_traffic(self) -> Document:
        """A copy of the tables without traffic, and without changes and events that belong to it."""
        return {key: value for key, value in self.own.items() if key not in (*_TRAFFIC, "change", "event")}

    @property
    def style(self) -> Document:
        """The keys of flows as the fabric's traffic has them, lossless traffic first."""
        tables = [table for kind in _TRAFFIC[:-1] for table in self.document.get(kind, [])]
        lossless = self.document.get("pfc", {}).get("priorities")
        chosen = next((table for table in tables if lossless and table.get("priority", 0) in lossless), tables[0])
        return {key: chosen[key] for key in _STYLE if key in chosen}

    @property
    def lossless_priority(self) -> int:
        """The lossless priority of the fabric's traffic, or the first one where that has none."""
        own: int = self.style.get("priority", 0)
        lossless: list[int] = self.document["pfc"].get("priorities", [own])
        return own if own in lossless else lossless[0]


def time(seconds: float) -> str:
    """Write a time as a scenario's text, exact to the picosecond."""
    return _core.write_quantity(seconds, "s")


def base(scenario: Scenario, limit: int, duration: str | None) -> Base:
    """Lay a scenario out and take its tables.

    Raises:
        ScenarioError: a value is not legal.
    """
    scenario = scenario if duration is None else scenario.with_({"duration": duration})
    outline = scenario.outline(limit=limit)
    document = _tables(scenario)
    document.pop("until", None)
    return Base(document, Fabric(outline), scenario.name, outline["duration_s"], outline["warmup_s"])


def _tables(scenario: Scenario) -> Document:
    """Return the tables of a scenario; of one whose duration was set, those that fall into it."""
    return {key: value for key, value in tomllib.loads(text_alone(scenario)).items() if key not in _LEFT_OUT}


def with_settings_of(present: Base, proposed: Scenario, limit: int) -> Base:
    """Return the settings of another scenario with the traffic, the duration and the warm-up of the present one.

    Raises:
        ArgumentError: it has other hosts or links.
        ScenarioError: a value is not legal.
    """
    # As it is given: its faults have their places in its own text, and its traffic may name hosts that are not here.
    present.fabric.check_same(Fabric(proposed.outline(limit=limit)))
    document = _tables(proposed.with_({"duration": json.dumps(present.document["duration"])}))
    for key in (*_TRAFFIC, *_OF_THE_RUN):
        document.pop(key, None)
        if key in present.document:
            document[key] = deepcopy(present.document[key])
    text = tomli_w.dumps(document, multiline_strings=True)
    outline = Scenario.from_toml(text, origin=proposed.name, name=proposed.name).outline(limit=limit)
    return Base(document, Fabric(outline), proposed.name, outline["duration_s"], outline["warmup_s"])


def text_of(document: Document, name: str, question: str) -> str:
    """Write a trial's scenario: its name and question first, with what the numbers of a trial need recorded."""
    interval = {key: value for key, value in document.get("record", {}).items() if key == "interval"}
    record = {**interval, "percentiles": True, "signals": False}
    rest = {key: value for key, value in document.items() if key not in ("name", "question", "record")}
    first = {key: rest.pop(key) for key in list(rest) if not isinstance(rest[key], dict | list)}
    return tomli_w.dumps(
        {"name": name, "question": question, **first, **rest, "record": record}, multiline_strings=True
    )


def as_is(of: Base) -> Document:
    """Return the fabric with its traffic alone."""
    return of.own


def storm(of: Base, host: str) -> Document:
    """Return the fabric with a host that pauses its switch for the middle half of the measured time."""
    if "pfc" not in of.document:
        raise ArgumentError(
            f'storm="{host}": {of.name} has no [pfc], so that no host pauses its switch', "add [pfc], or leave it out"
        )
    event = {"kind": "pfc-storm", "host": host, "from": of.at(0.25), "until": of.at(0.75)}
    return _more(of.own, "event", event)


def down(of: Base, link: str) -> Document:
    """Return the fabric with a link that goes down after a quarter of the measured time and stays down."""
    return _more(of.own, "change", {"link": link, "at": of.at(0.25), "state": "down"})


def degraded(of: Base, rates: Mapping[str, str]) -> Document:
    """Return the fabric with ports at other rates from the start."""
    made = of.own
    for port, rate in rates.items():
        made = _more(made, "change", {"link": port, "at": "0 s", "rate": rate})
    return made


def slow(of: Base, host: str, rate: str, buffer: str) -> Document:
    """Return the fabric with a host that takes frames from its receive buffer at a rate."""
    made = of.own
    for table in made.get("host", []):
        names = table.get("names")
        if names == host or names == [host]:
            table["drain_rate"] = rate
            return made
    return _more(made, "host", {"names": host, "drain_rate": rate, "buffer": buffer})


def incast(of: Base, to: str, senders: Sequence[str], size: str) -> Document:
    """Return the fabric with hosts that send to one, beside its own traffic."""
    made = of.own
    for flow in _incast(of, to, senders):
        made = _more(made, "flow", {**flow, "size": size})
    return made


def victim(of: Base, source: str, to: str, size: str, *, beside: tuple[str, Sequence[str]] | None) -> Document:
    """Return the fabric with one flow alone, or ``beside`` an endless incast to a host from others."""
    flows = [] if beside is None else list(_incast(of, *beside))
    own = {"name": VICTIM, "from": source, "to": to, "start": of.at(0), "size": size, **of.style}
    return {**of.without_traffic, "flow": [own, *flows]}


def everyone(of: Base, stormy: str) -> Document:
    """Return the fabric with endless flows from each host to one of another rack, and a storm of one host."""
    priority = of.lossless_priority
    flows = [
        {"from": host, "to": others[place % len(others)], "controlled": False, "priority": priority}
        for place, host in enumerate(of.fabric.hosts)
        if (others := of.fabric.others(host))
    ]
    return storm(replace(of, document={**of.without_traffic, "flow": flows}), stormy)


def closing_s(of: Base, cycle: Cycle) -> float:
    """Return the duration of a run in which the buffers of a cycle fill several times, one after another, s."""
    links = [of.fabric.links[port] for port in cycle.ports]
    return max(of.duration_s, _FILLINGS * sum(8 * _xoff(link) / link["rate_bps"] for link in links))


def closing(of: Base, cycle: Cycle, duration_s: float) -> Document:
    """Return the fabric with endless flows over the routes of a cycle: each of its links has twice what it carries."""
    fabric = of.fabric
    flows = []
    # The next host of each switch: hosts take turns, as one host alone fills no more than its link.
    turns: Counter[str] = Counter()
    for number, (port, route) in enumerate(zip(cycle.ports, cycle.routes, strict=True)):
        first, last = fabric.links[route[0]]["node"], fabric.links[route[-1]]["peer"]
        sources, ends = (
            [host for host in fabric.hosts if fabric.switch_of(host) == switch] for switch in (first, last)
        )
        needed = -(-fabric.links[port]["rate_bps"] // fabric.rate_of(sources[0]))
        for place in range(needed):
            source, end = sources[turns[first] % len(sources)], ends[turns[last] % len(ends)]
            turns.update((first, last))
            gate = _after(fabric.uplinks[source]["name"])
            path = [source, gate, *map(_after, route), _after(fabric.port_to(end))]
            own = {"name": f"c{number}-{place}", "from": source, "to": end, "path": path}
            flows.append({**own, "controlled": False, "priority": of.lossless_priority})
    made = {**of.without_traffic, "duration": time(duration_s), "flow": flows}
    for link in cycle.down:
        made = _more(made, "change", {"link": link, "at": "0 s", "state": "down"})
    return made


def _xoff(link: LinkDescription) -> int:
    """Return the octets behind a port at which it is paused, if no other holds memory there."""
    about = link["flow_control"]
    if about is None:
        return 0
    return max([pool["xoff_alone_octets"] for pool in about["pools"]], default=about["xoff_octets"])


def _after(port: str) -> str:
    return port.partition("->")[2]


def _incast(of: Base, to: str, senders: Sequence[str]) -> list[Document]:
    start = {"uniform": {"minimum": of.at(0), "maximum": time(of.warmup_s + _JITTER_S)}}
    # A host that is named twice has two flows; each table has a host once.
    rounds: list[list[str]] = []
    for sender in senders:
        row = next((row for row in rounds if sender not in row), None)
        if row is None:
            rounds.append(row := [])
        row.append(sender)
    flows, number = [], 0
    for row in rounds:
        last = number + len(row) - 1
        name = f"{SENDERS}{number}" if last == number else f"{SENDERS}{number}..{SENDERS}{last}"
        flows.append({"name": name, "from": row, "to": to, "start": start, **of.style})
        number = last + 1
    return flows


def _more(document: Document, kind: str, table: Document) -> Document:
    """Return the tables with one more of a kind."""
    return {**document, kind: [*document.get(kind, []), table]}


def routes_of(document: Document, name: str) -> dict[str, list[str]]:
    """Return the ports that each flow crosses.

    Raises:
        ScenarioError: a value is not legal.
    """
    text = text_of(document, "routes", "Which ports do flows cross?")
    flows = Scenario.from_toml(text, origin=name, name=name).describe()["flows"]
    return {flow["name"]: [hop["link"] for hop in flow["hops"]] for flow in flows}
