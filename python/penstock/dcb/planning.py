"""A domain for a scenario: the mode of each port, and managed objects that make devices do what the scenario does."""

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from penstock._core import dcb_fit, dcb_negotiate, dcb_read, dcb_show, write_quantity
from penstock.catalogue import about
from penstock.dcb.objects import Object, members, table
from penstock.declared import AssignedScheme, Outline
from penstock.errors import ArgumentError, nearest
from penstock.scenario import Scenario

_CP, _RP = table("ieee8021CnCpTable"), table("ieee8021CnRpGroupTable")
_PORT_RATE = "rpg_max_rate"


@dataclass(frozen=True)
class PlannedPort:
    """A port and a priority of the domain.

    Attributes:
        port: the port, ``node->peer``.
        node: the node whose port it is.
        peer: the node at the other end of its link.
        priority: the congestion notification priority.
        mode: the defense mode in the MIB's terms, such as ``cptInteriorReady``, once the neighbours have announced
            themselves.
        alternate_priority: the priority that frames of this one get in mode ``cptEdge``.
        cn_tag: ``added`` by the reaction points of a host, ``kept`` by a switch, or ``removed``.
        announces_cnpv: the port's LLDP TLV names the priority.
        announces_ready: the TLV says that it is ready.
    """

    port: str
    node: str
    peer: str
    priority: int
    mode: str
    alternate_priority: int
    cn_tag: str
    announces_cnpv: bool
    announces_ready: bool


@dataclass(frozen=True)
class Setting:
    """A managed object, and the scheme's parameter that it stands for.

    Attributes:
        key: the object's name here.
        name: its name in the MIB.
        value: its value as text.
        number: its number in the MIB; ``None`` where the device has its own.
        default: the MIB's default as text; ``None`` where it has none.
        parameter: the parameter; ``None`` of an object that the scenario leaves at its default.
        wanted: the parameter's value, as a scenario would have it.
        exact: the object has the parameter's value exactly.
    """

    key: str
    name: str
    value: str
    number: int | None
    default: str | None
    parameter: str | None
    wanted: str | None
    exact: bool


@dataclass(frozen=True)
class PlannedPoints:
    """The congestion points and the reaction points of a priority.

    Attributes:
        priority: the priority.
        scheme: its scheme.
        profile: the scheme's profile.
        congestion_points: the switches' ports that have congestion points.
        congestion_point: the objects of each.
        reaction_points: the hosts' ports.
        reaction_point: the objects of each group of reaction points.
        without_object: parameters that no managed object holds and whose values are not the scheme's defaults.
        command: the command that gives a host's interface these values, for a DEVICE of one's own.
    """

    priority: int
    scheme: str
    profile: str | None
    congestion_points: list[str]
    congestion_point: list[Setting]
    reaction_points: list[str]
    reaction_point: list[Setting]
    without_object: dict[str, str]
    command: str


@dataclass(frozen=True)
class DomainPlan:
    """A scenario's congestion notification domain.

    Attributes:
        scenario: the scenario's name.
        priorities: the congestion notification priorities.
        outside: the nodes that take no part.
        cnm_transmit_priority: the priority of notifications, an object of each switch.
        ports: each port of a node inside, and priority.
        points: the congestion points and reaction points of each priority.
        notes: sentences on what a device of 802.1Qau cannot do as the scenario does it.
    """

    scenario: str
    priorities: list[int]
    outside: list[str]
    cnm_transmit_priority: int
    ports: list[PlannedPort]
    points: list[PlannedPoints]
    notes: list[str]

    def to_dict(self) -> dict[str, Any]:
        """Return it as objects of JSON."""
        return asdict(self)


def plan(
    scenario: Scenario,
    *,
    scheme: str | None = None,
    profile: str | None = None,
    outside: Iterable[str] = (),
    limit: int = 1,
) -> DomainPlan:
    """Lay out the congestion notification domain of a scenario with QCN, or a variant of it.

    The ports' modes are those on which their state machines agree by LLDP.

    Args:
        scenario: the scenario.
        scheme: the scheme instead of the scenario's.
        profile: its profile.
        outside: nodes that take no part in congestion notification.
        limit: as in :meth:`Scenario.run`.

    Raises:
        ArgumentError: no priority has QCN, or all eight have it; there is no such node.
        ScenarioError: the scenario cannot be laid out.
    """
    outline = scenario.outline(scheme=scheme, profile=profile, limit=limit)
    assigned = [entry for entry in outline["schemes"] if _notifies(entry["parameters"])]
    if not assigned:
        names = ", ".join(entry["name"] for entry in outline["schemes"])
        raise ArgumentError(
            f"scenario {outline['name']} runs {names}, which has no congestion points of 802.1Qau",
            "choose a scheme with QCN's congestion points, such as scheme=qcn",
        )
    priorities = sorted(entry["priority"] for entry in assigned)
    if len(priorities) > 7:
        raise ArgumentError(
            "all eight priorities have congestion notification, and an edge needs one without it (802.1Q, clause 30.4)",
            "give one [[priority]] of the scenario another scheme, such as none",
        )
    apart = _outside(outline, outside)
    ports = _ports(outline, priorities, apart)
    return DomainPlan(
        scenario=outline["name"],
        priorities=priorities,
        outside=apart,
        cnm_transmit_priority=int(_default("ieee8021CnGlobalTable", "cnm_transmit_priority")),
        ports=ports,
        points=[_points(entry, outline, apart) for entry in sorted(assigned, key=lambda entry: entry["priority"])],
        notes=_notes(assigned, priorities),
    )


def _notifies(parameters: Mapping[str, object]) -> bool:
    """Whether a scheme has the parameters of 802.1Qau's congestion points."""
    return all(entry.parameter in parameters for entry in _CP.objects if entry.parameter is not None)


def _outside(outline: Outline, outside: Iterable[str]) -> list[str]:
    nodes = [node["name"] for node in outline["nodes"]]
    apart = list(dict.fromkeys(outside))
    for name in apart:
        if name not in nodes:
            few = ", ".join(nodes[:5])
            raise ArgumentError(f"{name}: unknown node", nearest(name, nodes, f"the scenario has {few}, …"))
    return apart


@cache
def _negotiated(left: int, right: int) -> list[list[dict[str, Any]]]:
    sides: list[list[dict[str, Any]]] = json.loads(dcb_negotiate(left, right))
    return sides


def _ports(outline: Outline, priorities: list[int], apart: list[str]) -> list[PlannedPort]:
    kinds = {node["name"]: node["kind"] for node in outline["nodes"]}
    bits = sum(1 << priority for priority in priorities)
    found = []
    for link in outline["links"]:
        node, peer = link["node"], link["peer"]
        mine, others = (0 if name in apart else bits for name in (node, peer))
        for side in _negotiated(mine, others)[0]:
            ready = side["mode"] == "cptInteriorReady"
            tag = "removed" if not side["cn_tag_out"] else "added" if kinds[node] == "host" and ready else "kept"
            found.append(
                PlannedPort(
                    port=link["name"],
                    node=node,
                    peer=peer,
                    priority=side["priority"],
                    mode=side["mode"],
                    alternate_priority=side["alternate_priority"],
                    cn_tag=tag,
                    announces_cnpv=side["announces_cnpv"],
                    announces_ready=side["announces_ready"],
                )
            )
    return found


def _points(entry: AssignedScheme, outline: Outline, apart: list[str]) -> PlannedPoints:
    kinds = {node["name"]: node["kind"] for node in outline["nodes"]}
    inside = [link for link in outline["links"] if link["node"] not in apart]
    hosts = [link["name"] for link in inside if kinds[link["node"]] == "host"]
    units = {parameter["name"]: parameter["unit"] for parameter in about(entry["name"])["parameters"]}
    reaction = [_setting(known, entry["parameters"], units) for known in _RP.objects]
    return PlannedPoints(
        priority=entry["priority"],
        scheme=entry["name"],
        profile=entry["profile"],
        congestion_points=[link["name"] for link in inside if link["congestion_points"]],
        congestion_point=[_setting(known, entry["parameters"], units) for known in _CP.objects if known.writable],
        reaction_points=hosts,
        reaction_point=reaction,
        without_object=_without_object(entry),
        command=_command(entry["priority"], reaction),
    )


def _setting(known: Object, parameters: Mapping[str, float | str | bool], units: Mapping[str, str]) -> Setting:
    value = parameters.get(known.parameter) if known.parameter is not None else None
    if known.parameter is None or not isinstance(value, int | float) or isinstance(value, bool):
        return _left(known, known.default or "the device's own")
    if known.key == _PORT_RATE and value == 0:
        return _left(known, "the port's rate")
    number, exact = dcb_fit(known.key, value)
    return Setting(
        key=known.key,
        name=known.name,
        value=dcb_show(known.key, number),
        number=number,
        default=known.default,
        parameter=known.parameter,
        wanted=_written(value, units[known.parameter]),
        exact=exact,
    )


def _left(known: Object, value: str) -> Setting:
    """Return an object that the scenario leaves as it is."""
    return Setting(known.key, known.name, value, None, known.default, None, None, exact=True)


def _written(value: float | str | bool, unit: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    return write_quantity(value, unit)


def _without_object(entry: AssignedScheme) -> dict[str, str]:
    held = {known.parameter for known in (*_CP.objects, *_RP.objects)}
    found = {}
    for parameter in about(entry["name"])["parameters"]:
        value = entry["parameters"].get(parameter["name"])
        if parameter["name"] not in held and value is not None and value != parameter["default"]:
            found[parameter["name"]] = _written(value, parameter["unit"])
    return found


def _command(priority: int, settings: list[Setting]) -> str:
    known = {member.name for member in members()}
    values = [
        f"{setting.key}={_argument(setting)}" for setting in settings if setting.key in known and setting.parameter
    ]
    fixed = [value for value in values if not value.endswith("=")]
    return f"penstock dcb set DEVICE --priority {priority} {' '.join(fixed)}"


def _argument(setting: Setting) -> str:
    """Return the text for the command line; nothing where the device has its own value."""
    if setting.number is None:
        return ""
    text = setting.value.removesuffix(" %")
    if not setting.exact and setting.wanted is not None and setting.key == setting.parameter:
        # Linux counts finer than the MIB.
        with suppress(ValueError):
            dcb_read(setting.key, setting.wanted)
            text = setting.wanted
    return text.replace(" ", "")


def _default(of: str, key: str) -> str:
    (found,) = (known for known in table(of).objects if known.key == key)
    return found.default or ""


def _notes(assigned: list[AssignedScheme], priorities: list[int]) -> list[str]:
    notes = []
    variants = sorted({entry["name"] for entry in assigned if "802.1Qau" not in about(entry["name"])["source"]})
    if variants:
        notes.append(f"{', '.join(variants)}: devices of 802.1Qau run QCN, without what this scheme changes in it")
    if any(entry["parameters"].get("sampling") != "table" for entry in assigned):
        notes.append("sampling: congestion points of 802.1Qau count octets (sampling = table)")
    transmit = int(_default("ieee8021CnGlobalTable", "cnm_transmit_priority"))
    if transmit in priorities:
        notes.append(
            f"notifications have priority {transmit} by default, which is a congestion notification priority here"
        )
    notes.append("the simulator gives each flow a reaction point; a port has rppp_max_rps of them, at most 100")
    return notes
