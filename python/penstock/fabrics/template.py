"""A scenario of leaves and spines from a few options, in a builder's notation, such as ``2x400G`` and ``64MB/256B``."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from penstock._core import read_quantity
from penstock.errors import ArgumentError

_RATE = re.compile(r"^(?:(\d+)x)?\s*(\d+(?:\.\d+)?)\s*(G|T|M)(?:bps|b/s|bit/s)?$")
_LENGTH = re.compile(r"^(\d+(?:\.\d+)?)\s*(km|m|cm)$")
_SIZE = re.compile(r"^(\d+(?:\.\d+)?)\s*(octets|B|[KMG]i?B)$")
_CHIP = re.compile(r"^[a-z]+-\d+$")

_LOAD = 0.6
"""The load of the uplinks that the scenario offers, unless hosts cannot bring it."""


@dataclass(frozen=True)
class _Cables:
    """Lengths of cables: of hosts, and of runs of spines, each with its first and last."""

    host: str
    spines: Sequence[tuple[int, int, str]]


def fabric_template(
    scheme: str = "dcqcn",
    *,
    leaves: int = 8,
    spines: int = 4,
    hosts: int = 32,
    speed: str = "200G",
    uplink: str = "400G",
    cable: str = "host=5m,spine=40m",
    chip: str = "64MB/256B",
) -> str:
    """Return the text of a scenario: leaves with hosts, spines, cables, chips, priority flow control, and a load.

    Args:
        scheme: the scheme that runs.
        leaves: number of leaf switches.
        spines: number of spine switches.
        hosts: hosts at each leaf.
        speed: rate of a host's link, as in ``200G``.
        uplink: rate of a link from a leaf to a spine, and how many there are, as in ``2x400G``.
        cable: one length for all, as in ``5m``; or by tier, as in ``host=5m,spine0..1=40m,spine2..3=300m``.
        chip: memory and cell, as in ``64MB/256B``, or a name that ``penstock schema switch`` lists.

    Raises:
        ArgumentError: an option cannot be read, or spines have no cable.
    """
    for name, number in (("leaves", leaves), ("spines", spines), ("hosts", hosts)):
        if not 1 <= number <= 1024:
            raise ArgumentError(f"{name}={number}: out of range", f"{name} are 1 to 1024")
    (many, host_rate), (parallel, uplink_rate) = _rate("speed", speed), _rate("uplink", uplink)
    if many != 1:
        raise ArgumentError(f"speed={speed}: a host has one link", "write, for instance, 200G")
    cables = _cables(cable, spines)
    host_bps, uplink_bps = read_quantity(host_rate, "bit/s"), read_quantity(uplink_rate, "bit/s")
    oversubscription = hosts * host_bps / (spines * parallel * uplink_bps)
    all_hosts, all_leaves = f"h0..h{leaves * hosts - 1}", _range("leaf", 0, leaves - 1)
    # A flow leaves its rack in all but one of as many cases as there are leaves.
    crossing = 1 - 1 / leaves if leaves > 1 else 1.0
    load = _LOAD * min(1.0, 1 / (oversubscription * crossing))
    links = [_link([all_hosts, all_leaves], host_rate, cables.host, join="blocks")]
    for first, last, length in cables.spines:
        links.append(_link([all_leaves, _range("spine", first, last)], uplink_rate, length, parallel=parallel))
    text = [
        f"# {leaves} leaves with {hosts} hosts at {host_rate}; {spines} spines, {parallel} x {uplink_rate} to each.",
        f"# The oversubscription is {oversubscription:.3g} to 1, and the load {_LOAD:.0%} of the uplinks.",
        'question = "What do queues, pauses and completion times look like on this fabric?"',
        'duration = "2 ms"',
        'warmup = "200 us"',
        f'scheme = "{scheme}"',
        "",
        _DCQCN,
        "[topology.graph]",
        f'hosts = "{all_hosts}"',
        f'switches = ["{all_leaves}", "{_range("spine", 0, spines - 1)}"]',
        "",
        *links,
        "[network]",
        'wire_overhead = "20 octets"',
        "",
        *_chip(chip),
        "[[buffer]]",
        'alpha = "none"',
        'ingress_alpha = "1/8"',
        "",
        "[pfc]",
        "priorities = [3]",
        'mtu = "9216 octets"',
        "",
        "[[load]]",
        f"load = {load:.3g}",
        'size = { workload = "websearch" }',
        "priority = 3",
        'transport = { go-back-n = { mtu = "4096 octets" } }',
    ]
    return "\n".join(text) + "\n"


_DCQCN = """\
# HPCC's simulator at 100 Gb/s: thresholds (`KMIN_MAP`, `KMAX_MAP`) and steps in proportion to the rate of a line.
[schemes.dcqcn]
profile = "hpcc-100g"
k_min = "4 KB per Gbps"
k_max = "16 KB per Gbps"
r_ai = "0.2 Mbps per Gbps"
r_hai = "2 Mbps per Gbps"
"""


def _link(between: list[str], rate: str, length: str, *, join: str = "each", parallel: int = 1) -> str:
    lines = ["[[topology.graph.link]]", f'ends = ["{between[0]}", "{between[1]}"]']
    lines += [f'join = "{join}"'] if join != "each" else []
    lines += [f"parallel = {parallel}"] if parallel > 1 else []
    return "\n".join([*lines, f'rate = "{rate}"', f'cable = "{length}"', ""])


def _rate(option: str, text: str) -> tuple[int, str]:
    """Read ``400G`` or ``2x400G``."""
    found = _RATE.match(text.strip())
    if found is None or float(found[2]) == 0 or found[1] == "0":
        example = "2x400G" if option == "uplink" else "200G"
        raise ArgumentError(f"{option}={text}: not a rate", f"write, for instance, {example}")
    return int(found[1] or 1), f"{found[2]} {found[3]}bps"


def _length(text: str) -> str:
    found = _LENGTH.match(text.strip())
    if found is None:
        raise ArgumentError(f"cable={text}: not a length", "write, for instance, 40m")
    return f"{found[1]} {found[2]}"


def _cables(text: str, spines: int) -> _Cables:
    """Read lengths by tier."""
    if "=" not in text:
        return _Cables(_length(text), [(0, spines - 1, _length(text))])
    host, runs = None, []
    for part in text.split(","):
        where, _, length = part.strip().partition("=")
        if where == "host":
            host = _length(length)
            continue
        found = re.match(r"^spine(?:(\d+)(?:\.\.(?:spine)?(\d+))?)?$", where)
        if found is None:
            raise ArgumentError(f"cable={part}: no such tier", "write host=5m, spine=40m, spine0=40m or spine0..1=40m")
        first = int(found[1] or 0)
        runs.append((first, int(found[2] or found[1] or spines - 1), _length(length)))
    if host is None:
        raise ArgumentError(f"cable={text}: hosts have no cable", "add, for instance, host=5m")
    listed = [spine for first, last, _ in runs for spine in range(first, last + 1)]
    if sorted(listed) != list(range(spines)):
        hint = f"each of spine0 to spine{spines - 1} has one, as in spine0..1=40m,spine2..3=300m"
        raise ArgumentError(f"cable={text}: not one cable for each spine", hint)
    return _Cables(host, runs)


def _chip(text: str) -> list[str]:
    """Read ``64MB/256B``, or the name of a chip."""
    if _CHIP.match(text):
        return ["[[switch]]", f'chip = "{text}"', ""]
    memory, slash, cell = text.partition("/")
    sizes = [_SIZE.match(part.strip()) for part in ((memory, cell) if slash else (memory,))]
    if not all(sizes):
        raise ArgumentError(f"chip={text}: no memory", "write 64MB/256B, or a chip of `penstock schema switch`")
    keys = zip(("memory", "cell"), sizes, strict=False)
    return ["[[switch]]", *(f'{key} = "{size[1]} {size[2]}"' for key, size in keys if size), ""]


def _range(prefix: str, first: int, last: int) -> str:
    return f"{prefix}{first}" if first == last else f"{prefix}{first}..{prefix}{last}"
