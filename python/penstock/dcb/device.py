"""The reaction points of a network interface, read and set through rtnetlink.

Few drivers have them (mlx4 is one), and the kernel says so with an error number, which becomes a message here.
"""

import errno
import json
import os
import socket
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from itertools import count

from penstock._core import dcb_get, dcb_read, dcb_reply, dcb_set
from penstock.dcb.objects import members
from penstock.errors import ArgumentError, DeviceError, nearest

PATIENCE_S = 5.0
"""For how long the kernel's answer is waited for, s."""

_LONGEST = 1 << 16
_SEQUENCE = count(1)


@dataclass(frozen=True)
class Device:
    """The reaction points of a network interface.

    Attributes:
        name: the interface's name.
        qcn: eight numbers of each member of ``ieee_qcn``, one a priority, in Linux's units (:func:`members`).
        stats: eight numbers of each member of ``ieee_qcn_stats``; ``None`` where the driver has no counters.
    """

    name: str
    qcn: dict[str, list[int]]
    stats: dict[str, list[int]] | None


def read(device: str, *, channel: socket.socket | None = None) -> Device:
    """Ask the kernel for the reaction points of an interface.

    Args:
        device: its name, such as ``eth0``.
        channel: a socket to ask through, instead of one of rtnetlink: a test's own kernel, for instance.

    Raises:
        ArgumentError: there is no such interface.
        DeviceError: the kernel refuses, or does not answer; the message says why and what would help.
    """
    with _open(channel) as asked:
        return _read(device, asked)


def write(
    device: str,
    values: Mapping[str, str],
    *,
    priorities: Iterable[int] = range(8),
    channel: socket.socket | None = None,
) -> Device:
    """Set values of an interface's reaction points, leave its others as they are, and return all as they are then.

        >>> write("eth0", {"rpg_time_reset": "25 ms", "rpg_gd": "7"}, priorities=[3])

    Args:
        device: the interface's name.
        values: texts by the name of a member of ``ieee_qcn``.
        priorities: the priorities for which they hold.
        channel: as in :func:`read`.

    Raises:
        ArgumentError: there is no such interface or member, or a text is no value of it, or a priority is not 0 to 7.
        DeviceError: as in :func:`read`.
    """
    numbers = {name: _number(name, text) for name, text in values.items()}
    chosen = sorted(set(priorities))
    for priority in chosen:
        if not 0 <= priority < 8:
            raise ArgumentError(f"unknown priority {priority}", "priorities are 0 to 7")
    if not numbers:
        raise ArgumentError("no value is given", "name a member and its value, such as rpg_gd=7")
    with _open(channel) as asked:
        qcn = _read(device, asked).qcn
        for name, number in numbers.items():
            for priority in chosen:
                qcn[name][priority] = number
        sequence = next(_SEQUENCE)
        _ask(device, asked, dcb_set(device, sequence, qcn), sequence)
        return _read(device, asked)


def _number(name: str, text: str) -> int:
    known = [member.name for member in members()]
    if name not in known:
        raise ArgumentError(
            f"{name}: unknown value of reaction points", nearest(name, known, f"they have {', '.join(known)}")
        )
    try:
        return dcb_read(name, text)
    except ValueError as error:
        message, hint = error.args
        raise ArgumentError(f"{name}: {message}", hint) from error


@contextmanager
def _open(channel: socket.socket | None) -> Iterator[socket.socket]:
    with nullcontext(channel) if channel is not None else _rtnetlink() as asked:
        asked.settimeout(PATIENCE_S)
        yield asked


def _rtnetlink() -> socket.socket:
    try:
        found = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
        found.bind((0, 0))
    except (AttributeError, OSError) as error:
        raise DeviceError(f"this system has no rtnetlink: {error}", "reaction points are Linux's") from error
    return found


def _read(device: str, asked: socket.socket) -> Device:
    sequence = next(_SEQUENCE)
    try:
        request = dcb_get(device, sequence)
    except ValueError as error:
        raise ArgumentError(f"{device}: no interface can have this name: {error}") from error
    reply = _ask(device, asked, request, sequence)
    if reply["qcn"] is None:
        raise DeviceError(f"{device}: its driver has DCB, but no reaction points (ieee_qcn)", _ELSEWHERE)
    stats = reply["stats"]
    return Device(device, _ordered("qcn", reply["qcn"]), None if stats is None else _ordered("qcn_stats", stats))


def _ordered(structure: str, numbers: dict[str, list[int]]) -> dict[str, list[int]]:
    return {member.name: numbers[member.name] for member in members(structure)}


def _ask(device: str, asked: socket.socket, request: bytes, sequence: int) -> dict[str, dict[str, list[int]] | None]:
    try:
        asked.sendall(request)
        octets = asked.recv(_LONGEST)
    except TimeoutError as error:
        raise DeviceError(f"{device}: the kernel has not answered within {PATIENCE_S:g} s") from error
    except OSError as error:
        raise DeviceError(f"{device}: rtnetlink: {error.strerror}") from error
    try:
        reply = json.loads(dcb_reply(octets, sequence))
    except ValueError as error:
        raise DeviceError(f"{device}: the kernel's answer cannot be read: {error}") from error
    if reply["error"] is not None:
        raise _refusal(device, reply["error"])
    found: dict[str, dict[str, list[int]] | None] = reply
    return found


_ELSEWHERE = "QCN needs a card whose driver has it, such as mlx4; `penstock dcb plan` has the values for any device"


def _refusal(device: str, number: int) -> DeviceError | ArgumentError:
    if number == errno.ENODEV:
        return ArgumentError(f"{device}: unknown network interface", "`ip link` lists them")
    # Python knows Linux's EOPNOTSUPP by its other name.
    name = "EOPNOTSUPP" if number == errno.EOPNOTSUPP else errno.errorcode.get(number, f"error {number}")
    text = os.strerror(number)
    if number == errno.EOPNOTSUPP:
        return DeviceError(
            f"{device}: its driver has no reaction points for the kernel to set ({name}: {text})", _ELSEWHERE
        )
    if number in (errno.EPERM, errno.EACCES):
        hint = "run the command as root, or with the capability CAP_NET_ADMIN"
        return DeviceError(
            f"{device}: the kernel lets only an administrator set reaction points ({name}: {text})", hint
        )
    return DeviceError(f"{device}: the kernel refuses ({name}: {text})")
