"""One port as a scenario: a switch that is paused, a sink that takes next to nothing, and reverse frames.

The peer that is paused is a switch with frames from a faster line, so that it sends without a gap.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from penstock.headroom.formulas import Port
from penstock.scenario import Scenario

STOPPED = "peer->switch"
"""The port that is paused."""

_PS = 10**12
_FASTER = 5
"""The line that feeds the peer, in rates of the port: octets take whole picoseconds on it, up to 1.6 Tb/s."""


@dataclass(frozen=True, kw_only=True)
class Need:
    """The exact headroom of a port and priority, as the simulator's planner computes it.

    Attributes:
        octets: octets above XOFF where a switch counts octets.
        cells: cells above the threshold; ``None`` where it has none.
        cell: octets of a cell.
    """

    octets: int
    cells: int | None
    cell: int

    @property
    def memory(self) -> int:
        """Octets of memory: whole cells, or octets."""
        return self.octets if self.cells is None else self.cells * self.cell


@dataclass(frozen=True, kw_only=True)
class Frames:
    """Frames of one length that the source sends one after another.

    Attributes:
        octets: length of each, with FCS.
        count: their number.
    """

    octets: int
    count: int


def network(
    port: Port, *, room: int, shared: int, duration_ps: int, comment: str = "", alpha: float | None = None
) -> str:
    """Return the scenario of a port without its flows.

    Args:
        port: the port of the switch that receives.
        room: octets of headroom: of memory in whole cells, or of the ingress buffer.
        shared: octets below the headroom: memory that is shared, or XOFF.
        duration_ps: simulated time, ps.
        comment: lines at the top.
        alpha: factor of the dynamic threshold; ``None``: all of the shared memory.
    """
    line = f'rate = "{port.speed_mbps} Mbps"\ndelay = "{port.delay()} ps"'
    pool = ""
    buffer = f'buffer = "{shared + room} octets"\nxoff = "{shared} octets"'
    if port.cell > 1 or alpha is not None:
        of_line = "" if alpha is None else f"ingress_alpha = {alpha!r}\n"
        pool = f"""
[[buffer]]
switches = ["switch"]
priorities = [3]
alpha = "none"
{of_line}size = "{shared} octets"
cell = "{port.cell} octets"
headroom = "{room} octets"
"""
        buffer = 'buffer = "2 GB"'
    return f"""\
{comment}question = "Is the headroom of this port enough?"
duration = "{duration_ps} ps"
scheme = "none"

[network]
wire_overhead = "{port.wire_overhead} octets"

[topology.graph]
hosts = ["source", "sink", "back"]
switches = ["switch", "peer"]
buffer = "64 MB"

[[topology.graph.link]]
ends = ["source", "peer"]
rate = "{_FASTER * port.speed_mbps} Mbps"

[[topology.graph.link]]
ends = ["peer", "switch"]
{line}

[[topology.graph.link]]            # It takes next to nothing.
ends = ["sink", "switch"]
rate = "1 kbps"

[[topology.graph.link]]
ends = ["back", "switch"]
{line}
{pool}
[pfc]
priorities = [3]
ports = ["{STOPPED}"]
mtu = "{port.mtu} octets"
response = "{port.response()} ps"
headroom = "{room} octets"
{buffer}
"""


def time(port: Port, wire_octets: int, *, fed: bool = False) -> int:
    """Return the time of octets on the line, or on the one that feeds the peer, ps, rounded down."""
    return wire_octets * 8 * _PS // (port.speed_mbps * 10**6 * (_FASTER if fed else 1))


def trains(port: Port, sent: Iterable[Frames]) -> tuple[str, int]:
    """Return flows that send these frames without a gap, and the octets that they take of the line."""
    text, begun = [], 0
    for index, frames in enumerate(sent):
        # Each begins while the last frame of the one before is on the line.
        start = max(0, time(port, begun - 32, fed=True))
        text.append(f"""
[[flow]]
name = "train{index}"
from = ["source"]
to = ["sink"]
priority = 3
frame = "{frames.octets} octets"
size = "{frames.octets * frames.count} octets"
start = "{start} ps"
""")
        begun += (frames.octets + port.wire_overhead) * frames.count
    return "".join(text), begun


def need(port: Port) -> Need:
    """Return the exact headroom of a port, from the simulator's planner."""
    cells = port.mtu // port.cell + 1
    text = network(port, room=0, shared=2 * cells * port.cell, duration_ps=1_000_000)
    text += trains(port, [Frames(octets=port.mtu, count=1)])[0]
    links = Scenario.from_toml(text, name="port").outline()["links"]
    about = next(link["flow_control"] for link in links if link["name"] == STOPPED)
    assert about is not None
    pools = about["pools"]
    cells_needed = pools[0]["headroom_needed_octets"] // port.cell if pools else None
    return Need(octets=about["headroom_needed_octets"], cells=cells_needed, cell=port.cell)
