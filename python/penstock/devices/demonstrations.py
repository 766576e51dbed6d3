"""Small scenarios that show what a finding means; ``penstock run`` fails on them while the fault is there."""

from penstock._core import write_quantity

_HEAD = """\
# {text}
question = "{question}"
duration = "{duration}"
scheme = "{scheme}"
{claim} = true
"""


def _head(text: str, question: str, duration: str, *, scheme: str = "none", claim: str = "lossless") -> str:
    return _HEAD.format(text=text, question=question, duration=duration, scheme=scheme, claim=claim)


def headroom(where: str, *, rate_bps: int, cable_m: int, frame: int, cell: int, xoff: int, response: str = "") -> str:
    """Return a scenario of one line at its XOFF: short frames where memory has cells, else the longest ones."""
    longest = max(frame, 64)
    # Frames of two lengths, so that pauses begin in all phases of a frame.
    short, other = (64, 64) if cell > 64 else (longest, max(64, longest * 3 // 4))
    return (
        _head(
            f"{where}: headroom of {xoff} octets; {rate_bps} bit/s, {cable_m} m, frames of {longest}, cells of {cell}.",
            "Does this headroom hold what arrives after a pause?",
            "5 ms",
        )
        + f"""
[topology.graph]
hosts = "h0..h2"
switches = ["sw0"]
link = [
    {{ ends = ["h1..h2", "sw0"], rate = "{rate_bps} bps", cable = "{cable_m} m" }},
    {{ ends = ["h0", "sw0"], rate = "{rate_bps // 4} bps", cable = "{cable_m} m" }},
]

[network]
wire_overhead = "20 octets"

[[switch]]
memory = "{4_000_000 + 2 * xoff} octets"
cell = "{cell} octets"

[[buffer]]
alpha = "none"
ingress_alpha = "1/16"
headroom = "{xoff} octets"

[pfc]
priorities = [3]
mtu = "{longest} octets"
{response}
[[flow]]
from = "h1"
to = "h0"
priority = 3
frame = "{short} octets"

[[flow]]
from = "h1"
to = "h0"
priority = 3
frame = "{other} octets"

# Their frames delay the pause frames to h1, in all phases.
[[flow]]
from = "h2"
to = "h1"
priority = 3
frame = "{longest} octets"

[[flow]]
from = "h2"
to = "h1"
priority = 3
frame = "{max(64, longest * 2 // 7)} octets"
"""
    )


def marks(where: str, *, rate_bps: int, lines: int, size: int, alpha: float, low: int, high: int, percent: int) -> str:
    """Return a scenario of an incast whose lines are paused before its queue is marked."""
    return (
        _head(
            f"{where}: marks begin at {low} octets; {lines} lines share {size} octets at alpha {alpha:g}.",
            "Does the queue reach the first mark before its lines are paused?",
            "2 ms",
            scheme="dcqcn",
            claim="require_action",
        )
        + f"""
[schemes.dcqcn]
k_min = "{low} octets"
k_max = "{max(low, high)} octets"
p_max = {max(1, percent) / 100}

[topology.star]
hosts = {lines + 1}
link_rate = "{rate_bps} bps"
link_delay = "5 m"
buffer = "{size} octets"

[[buffer]]
size = "{size} octets"
alpha = "none"
ingress_alpha = {alpha}

[pfc]
priorities = [3]

[[flow]]
from = "h1..h{lines}"
to = "h0"
priority = 3
"""
    )


def watchdog(where: str, *, fast_bps: int, slow_bps: int, size: int, detection_ms: int, longest_s: float) -> str:
    """Return a scenario of an incast that pauses its lines for as long as the pool drains through the slowest port."""
    return (
        _head(
            f"{where}: detection after {detection_ms} ms; {size} octets drain through {slow_bps} bit/s in "
            f"{write_quantity(longest_s, 's')}.",
            "Does the watchdog take congestion for a storm?",
            write_quantity(2 * longest_s, "s"),
        )
        + f"""
[topology.graph]
hosts = "h0..h1"
switches = ["sw0", "sw1"]
link = [
    {{ ends = ["h1", "sw1"], rate = "{fast_bps} bps", cable = "5 m" }},
    {{ ends = ["sw1", "sw0"], rate = "{fast_bps} bps", cable = "5 m" }},
    {{ ends = ["h0", "sw0"], rate = "{slow_bps} bps", cable = "5 m" }},
]

[[switch]]
memory = "{size} octets"

[[buffer]]
alpha = "none"
ingress_alpha = 64

[pfc]
priorities = [3]
xon = "0 octets"

[pfc.watchdog]
after = "{detection_ms} ms"

[[flow]]
from = "h1"
to = "h0"
priority = 3
size = "{2 * size} octets"
"""
    )


def one_side(where: str, dscp: int, priority: int) -> str:
    """Return a scenario of an incast from hosts that are paused and from one that is not."""
    return (
        _head(
            f"{where}: DSCP {dscp} is lossless on one side alone. The switch cannot pause h1, as if h1 had it lossy.",
            "Is a class lossless if one side of a link has it lossy?",
            "1 ms",
        )
        + f"""
[topology.star]
hosts = 4
link_rate = "100 Gbps"
link_delay = "5 m"
buffer = "1 MB"

[pfc]
priorities = [{priority}]
ports = ["h2->sw0", "h3->sw0"]

[[priority]]
priority = {priority}
dscp = [{dscp}]

[[flow]]
from = "h1..h3"
to = "h0"
priority = {priority}
"""
    )
