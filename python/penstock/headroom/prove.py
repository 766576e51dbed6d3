"""The least headroom of a port, found by attack in simulation: no loss there, and loss at one cell or octet less.

The attacker knows the lengths that frames may have and the time until the stop, and not the formula. He tries all
lengths for the frames that take most memory in that time, and several phases of the frames in the reverse direction.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from penstock.headroom.formulas import Port
from penstock.headroom.single_port import Frames, Need, need, network, time, trains
from penstock.scenario import Scenario

_SHORTEST = 64
_EXHAUSTIVE_OCTETS = 100_000


@dataclass(frozen=True, kw_only=True)
class Proof:
    """The outcome of a search.

    Attributes:
        need: the exact headroom after the formula.
        least: the least headroom without loss in any attack: cells, or octets where the switch counts those.
        lost: frames lost with one less.
        attacks: number of attacks.
        runs: number of simulations.
        frames: data frames that arrived or were dropped in runs at ``least``, none of them lost.
        scenario: the scenario that loses, as TOML.
    """

    need: Need
    least: int
    lost: int
    attacks: int
    runs: int
    frames: int
    scenario: str

    @property
    def formula(self) -> int:
        """The need in the unit of ``least``."""
        return self.need.octets if self.need.cells is None else self.need.cells

    @property
    def holds(self) -> bool:
        """Whether search and formula agree."""
        return self.least == self.formula


@dataclass(frozen=True)
class _Attack:
    """Frames after the one that crosses the threshold, and the lead of a reverse frame over the pause frame, ps."""

    worst: tuple[Frames, ...]
    early_ps: int


def worst_frames(wire: int, port: Port) -> tuple[Frames, ...]:
    """Return the frames that take most memory of those that fit into ``wire`` octets of the line.

    Octets are taken by few long frames, cells by many short ones. For cells all lengths are tried, by dynamic
    programming over the last 100 000 octets; the densest frames fill the time before.
    """
    if port.cell == 1:
        return _most_octets(wire, port)
    lengths = sorted({max(_SHORTEST, (n - 1) * port.cell + 1) for n in range(1, -(-port.mtu // port.cell) + 1)})
    lengths = [length for length in lengths if length <= port.mtu]
    kinds = [(length, length + port.wire_overhead, -(-length // port.cell)) for length in lengths]
    dense = max(kinds, key=lambda kind: kind[2] / kind[1])
    bulk = max(0, wire - _EXHAUSTIVE_OCTETS) // dense[1]
    counts = Counter({dense[0]: bulk})
    rest = wire - bulk * dense[1]
    best = _most_cells(rest, kinds)
    while rest > 0:
        for length, takes, cells in kinds:
            if takes <= rest and best[rest] == best[rest - takes] + cells:
                counts[length] += 1
                rest -= takes
                break
        else:
            rest -= 1
    return tuple(Frames(octets=length, count=n) for length, n in sorted(counts.items()) if n)


def _most_cells(wire: int, kinds: list[tuple[int, int, int]]) -> list[int]:
    """Return for each number of octets of the line the most cells that frames within it take."""
    import numpy as np

    step = min(takes for _, takes, _ in kinds)
    longest = max(takes for _, takes, _ in kinds)
    # A block of `step` octets depends on blocks before it alone.
    best = np.zeros(longest + wire + step + 1, dtype=np.int64)
    best[:longest] = -1
    offsets = np.array([takes for _, takes, _ in kinds])[:, None]
    cells = np.array([number for _, _, number in kinds])[:, None]
    for first in range(longest, longest + wire + 1, step):
        before = best[np.arange(first, first + step)[None, :] - offsets]
        reached = np.where(before >= 0, before + cells, 0).max(axis=0)
        best[first : first + step] = np.maximum.accumulate(
            np.maximum(reached, best[first - 1] if first > longest else 0)
        )
    return [int(value) for value in best[longest : longest + wire + 1]]


def _most_octets(wire: int, port: Port) -> tuple[Frames, ...]:
    """Return frames of which the fewest fill the line to the octet, or leave less than another is worth."""
    whole, overhead, shortest = port.mtu + port.wire_overhead, port.wire_overhead, _SHORTEST + port.wire_overhead
    full, rest = divmod(wire, whole)
    if rest <= overhead or (full == 0 and rest < shortest):
        return (Frames(octets=port.mtu, count=full),) if full else ()
    if rest >= shortest:
        last = [rest - overhead]
    else:
        # One of full length lends the last one the octets that make it a frame.
        full, last = full - 1, [port.mtu - (shortest - rest), _SHORTEST]
        if last[0] < _SHORTEST:
            return (Frames(octets=port.mtu, count=full + 1),)
    ends = [Frames(octets=octets, count=1) for octets in last]
    return (*([Frames(octets=port.mtu, count=full)] if full else []), *ends)


def _attacks(port: Port) -> Iterator[_Attack]:
    wire = int(port.wire())
    frame = time(port, port.mtu + port.wire_overhead)
    phases = [0, 1, 2, 40, 1000, frame // 2]
    # The last frame has to begin before the stop: where the time has whole octets, one less, or it begins too late.
    fillings = {worst_frames(octets, port) for octets in (wire, wire - 1)}
    for worst in sorted(fillings, key=lambda frames: [(one.octets, one.count) for one in frames]):
        for early in phases:
            yield _Attack(worst, early)


def _scenario(port: Port, attack: _Attack, room: int, comment: str = "") -> str:
    """Two longest frames fill the memory, a third crosses the threshold; then come the worst ones, and longest ones."""
    longest = Frames(octets=port.mtu, count=3)
    sent = [longest, *attack.worst, Frames(octets=port.mtu, count=4)]
    flows, begun = trains(port, sent)
    frame = port.mtu + port.wire_overhead
    shared = 2 * (-(-port.mtu // port.cell)) * port.cell + (1 if port.cell == 1 else 0)
    until = time(port, begun) + 4 * port.delay() + time(port, 4 * frame) + 10_000_000
    text = network(port, room=room * port.cell, shared=shared, duration_ps=until, comment=comment)
    return (
        text
        + flows
        + f"""
[[flow]]                           # A frame is on the way back when the pause frame wants to go.
name = "reverse"
from = ["back"]
to = ["source"]
priority = 5
frame = "{port.mtu} octets"
start = "{time(port, frame) + time(port, frame, fed=True) - attack.early_ps} ps"
"""
    )


def _run(port: Port, attack: _Attack, room: int) -> tuple[int, int]:
    """Return frames that the switch dropped, and frames that reached it."""
    result = Scenario.from_toml(_scenario(port, attack, room), name="attack").run()
    trains_sent = [flow["frames_sent"] for flow in result.summary["flows"] if flow["source"] == "source"]
    return result.summary["totals"]["frames_dropped"], sum(trains_sent)


def prove(port: Port) -> Proof:
    """Search for the least headroom of a port by simulation, and compare it with the formula.

    Raises:
        ScenarioError: the port has a rate or a delay that no scenario can have.
    """
    exact = need(port)
    formula = exact.octets if exact.cells is None else exact.cells
    runs, least, strongest = 0, 0, None
    attacks = list(_attacks(port))
    for attack in attacks:
        runs += 1
        if strongest is not None and not _run(port, attack, least)[0]:
            continue
        # `low` loses, `high` does not.
        low, high = least - 1, max(2 * formula, 2 * least, 16)
        while high - low > 1:
            middle = (low + high) // 2
            runs += 1
            if _run(port, attack, middle)[0]:
                low = middle
            else:
                high = middle
        least, strongest = high, attack
    assert strongest is not None
    frames = sum(_run(port, attack, least)[1] for attack in attacks)
    lost = _run(port, strongest, least - 1)[0]
    unit = "octets" if exact.cells is None else f"cells of {port.cell} octets"
    comment = (
        f"# {port.speed_mbps} Mb/s, {port.cable_m:g} m, frames of {port.mtu} octets, response {port.response()} ps:\n"
        f"# {least} {unit} of headroom lose nothing, {least - 1} lose {lost} of these frames.\n"
    )
    return Proof(
        need=exact,
        least=least,
        lost=lost,
        attacks=len(attacks),
        runs=runs + len(attacks) + 1,
        frames=frames,
        scenario=_scenario(port, strongest, least - 1, comment),
    )
