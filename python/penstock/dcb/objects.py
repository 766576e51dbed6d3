"""The managed objects of IEEE8021-CN-MIB, and the members of Linux's structures, as the native module declares them."""

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from penstock._core import dcb_objects


@dataclass(frozen=True)
class Object:
    """A managed object.

    Attributes:
        key: its name here, such as ``rpg_time_reset``.
        name: its name in the MIB, such as ``ieee8021CnRpgTimeReset``.
        variable: the standard's variable, such as ``rpgTimeReset``.
        clause: the clause of 802.1Q that has the variable.
        values: the values that it takes, as text.
        writable: a manager may set it.
        default: its initial value, as text; ``None`` where the device says it.
        default_origin: ``mib``, or ``own`` where the MIB has no default and this one is Penstock's.
        parameter: the parameter of QCN that it sets.
        meaning: its meaning.
    """

    key: str
    name: str
    variable: str
    clause: str
    values: str
    writable: bool
    default: str | None
    default_origin: str | None
    parameter: str | None
    meaning: str


@dataclass(frozen=True)
class Table:
    """A table of the MIB.

    Attributes:
        name: its name in the MIB.
        per: the things that have a row each.
        clause: the clause of 802.1Q that describes it.
        meaning: its purpose.
        objects: its objects, those that are indices aside.
    """

    name: str
    per: str
    clause: str
    meaning: str
    objects: tuple[Object, ...]


@dataclass(frozen=True)
class Member:
    """A member of Linux's ``ieee_qcn`` or ``ieee_qcn_stats``, which has eight entries, one a priority.

    Attributes:
        name: its name, that of the managed object too, where there is one.
        octets: the octets of an entry.
        unit: its unit in Linux, empty for a plain number.
    """

    name: str
    octets: int
    unit: str


@cache
def _declared() -> dict[str, Any]:
    declared: dict[str, Any] = json.loads(dcb_objects())
    return declared


@cache
def tables() -> tuple[Table, ...]:
    """Return the tables of the MIB, in its order."""
    return tuple(
        Table(**{**table, "objects": tuple(Object(**entry) for entry in table["objects"])})
        for table in _declared()["tables"]
    )


@cache
def members(structure: str = "qcn") -> tuple[Member, ...]:
    """Return the members of ``ieee_qcn``, or with ``"qcn_stats"`` those of ``ieee_qcn_stats``."""
    return tuple(Member(**entry) for entry in _declared()[structure])


def table(name: str) -> Table:
    """Return the table of this name in the MIB."""
    (found,) = (known for known in tables() if known.name == name)
    return found
