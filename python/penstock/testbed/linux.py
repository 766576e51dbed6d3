"""The requests of the testbed to Linux: namespaces, wires, sockets, TAPs. All of it needs the right to make them."""

import contextlib
import ctypes
import fcntl
import os
import shutil
import socket
import struct
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from penstock.testbed.errors import TestbedError

NAMESPACES = Path("/run/netns")
_TUN = "/dev/net/tun"

# linux/if_ether.h, linux/if_packet.h, asm-generic/socket.h, linux/if_tun.h, linux/sched.h
_ETH_P_ALL = 0x0003
_SOL_PACKET = 263
_PACKET_ADD_MEMBERSHIP = 1
_PACKET_STATISTICS = 6
_PACKET_AUXDATA = 8
_PACKET_IGNORE_OUTGOING = 23
_PACKET_MR_PROMISC = 1
_SO_TIMESTAMPNS = 35
_SO_SNDBUFFORCE = 32
_SO_RCVBUFFORCE = 33
_TUNSETIFF = 0x400454CA
_IFF_TAP = 0x0002
_IFF_NO_PI = 0x1000
_CLONE_NEWNET = 0x40000000

_BUFFER = 4 << 20
"""Octets that the kernel keeps of a wire's frames until they are read."""

_TIMEOUT_S = 20.0
"""The longest that a command of the system may take."""

TOOLS = {"ip": "iproute2", "setpriv": "util-linux"}
"""Programs that every run needs, and the Debian packages that have them."""


def check(programs: Sequence[str] = (), congestion: Sequence[str] = ()) -> None:
    """Refuse to begin where something is missing: programs, congestion controls of TCP, the right to make namespaces.

    Raises:
        TestbedError: one is missing, or namespaces cannot be made.
    """
    packages = {**TOOLS, "iperf3": "iperf3", "ping": "iputils-ping", "curl": "curl"}
    missing = sorted({program for program in (*TOOLS, *programs) if shutil.which(program) is None})
    if missing:
        names = sorted({packages.get(program, program) for program in missing})
        raise TestbedError(
            f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing",
            f"on Debian: sudo apt-get install {' '.join(names)}",
        )
    for name in sorted(set(congestion)):
        _check_congestion(name)
    reason = refusal()
    if reason is not None:
        raise TestbedError(
            f"the testbed makes network namespaces, and the system refuses: {reason}",
            "run it as root, for that alone: sudo penstock testbed run …",
        )


def _check_congestion(name: str) -> None:
    """Refuse a congestion control of TCP that the kernel lacks: asking loads its module where that is allowed."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as asked:
        try:
            asked.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
        except OSError as error:
            raise TestbedError(
                f"this kernel has no congestion control {name} for its TCP ({error.strerror}); it has {_congestions()}",
                f"load it (sudo modprobe tcp_{name}), or give the flow's transport another congestion",
            ) from None


def _congestions() -> str:
    try:
        return ", ".join(Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split())
    except OSError:
        return "others"


def refusal() -> str | None:
    """Return why network namespaces with wires cannot be made here; ``None`` where they can.

    It makes one, and removes it; if it is killed in between, the next testbed does, as the name is one of a testbed's.
    """
    name = f"pt-{os.getpid()}-0000-probe"
    try:
        ip("netns", "add", name)
    except TestbedError as fault:
        return fault.message
    try:
        ip("-n", name, "link", "add", "probe0", "type", "veth", "peer", "name", "probe1")
        with inside(name):
            socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0).close()
    except (TestbedError, OSError) as fault:
        return str(fault)
    finally:
        with contextlib.suppress(TestbedError):
            ip("netns", "delete", name)
    return None


def ip(*arguments: str) -> None:
    """Run ``ip``.

    Raises:
        TestbedError: it fails; the message is its own.
    """
    _run(["ip", *arguments], None)


def ip_batch(namespace: str, lines: Sequence[str]) -> None:
    """Run many commands of ``ip`` in a namespace at once.

    Raises:
        TestbedError: one fails.
    """
    _run(["ip", "-n", namespace, "-batch", "-"], "".join(f"{line}\n" for line in lines))


def _run(command: Sequence[str], text: str | None) -> None:
    try:
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise TestbedError(f"{' '.join(command)}: {error}") from None
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip() or f"status {done.returncode}"
        raise TestbedError(f"{' '.join(command)}: {said}")


@contextlib.contextmanager
def inside(namespace: str) -> Iterator[None]:
    """Let this thread be in a network namespace for a while: sockets that it opens belong there for good."""
    here = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        there = os.open(NAMESPACES / namespace, os.O_RDONLY | os.O_CLOEXEC)
        try:
            _enter(there)
        finally:
            os.close(there)
        try:
            yield
        finally:
            _enter(here)
    finally:
        os.close(here)


def _enter(namespace: int) -> None:
    # Python has os.setns from 3.12 on.
    library = ctypes.CDLL(None, use_errno=True)
    if library.setns(namespace, _CLONE_NEWNET) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"cannot enter a network namespace: {os.strerror(number)}")


def packet_socket(interface: str, buffer: int = _BUFFER) -> socket.socket:
    """Open a packet socket on an interface of the present namespace, with the kernel's time stamps.

    The kernel keeps up to ``buffer`` octets of its frames until they are read, with what it keeps beside each frame.
    """
    made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW | socket.SOCK_NONBLOCK, 0)
    try:
        made.setsockopt(_SOL_PACKET, _PACKET_IGNORE_OUTGOING, 1)
        made.setsockopt(_SOL_PACKET, _PACKET_AUXDATA, 1)
        made.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        for force, plain in ((_SO_RCVBUFFORCE, socket.SO_RCVBUF), (_SO_SNDBUFFORCE, socket.SO_SNDBUF)):
            try:
                made.setsockopt(socket.SOL_SOCKET, force, buffer)
            except PermissionError:
                made.setsockopt(socket.SOL_SOCKET, plain, buffer)
        promiscuous = struct.pack("iHH8s", socket.if_nametoindex(interface), _PACKET_MR_PROMISC, 0, b"")
        made.setsockopt(_SOL_PACKET, _PACKET_ADD_MEMBERSHIP, promiscuous)
        made.bind((interface, _ETH_P_ALL))
    except OSError:
        made.close()
        raise
    return made


def unread(wire: socket.socket) -> int:
    """Return how many frames the kernel has dropped since they were not read in time."""
    _, dropped = struct.unpack("II", wire.getsockopt(_SOL_PACKET, _PACKET_STATISTICS, 8))
    return int(dropped)


def tap(name: str) -> int:
    """Open a TAP in the present namespace; it exists as long as it is open."""
    opened = os.open(_TUN, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        fcntl.ioctl(opened, _TUNSETIFF, struct.pack("16sH22s", name.encode(), _IFF_TAP | _IFF_NO_PI, b""))
    except OSError:
        os.close(opened)
        raise
    return opened


def without_ipv6() -> None:
    """Keep IPv6's own messages off the wires of the present namespace."""
    for scope in ("all", "default"):
        with contextlib.suppress(OSError):
            Path(f"/proc/sys/net/ipv6/conf/{scope}/disable_ipv6").write_text("1")


def with_ecn() -> None:
    """Let TCP connections from the present namespace ask for marks."""
    Path("/proc/sys/net/ipv4/tcp_ecn").write_text("1")


def offload_off(namespace: str, interface: str) -> None:
    """Let the kernel compute checksums itself, and send no frames that are longer than the line's."""
    _run(["ip", "netns", "exec", namespace, "ethtool", "-K", interface, "tx", "off"], None)
