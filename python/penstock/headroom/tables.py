"""A ``pg_profile_lookup.ini`` of SONiC: read, judged row by row, and a scenario for a row."""

import math
import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal

from penstock.errors import TextFileError
from penstock.headroom.formulas import Port
from penstock.headroom.responses import Response
from penstock.headroom.single_port import Frames, Need, need, network, time, trains

_COLUMNS = ("speed", "cable", "size", "xon", "xoff", "threshold", "xon_offset")
_CABLE = re.compile(r"^(\d+(?:\.\d+)?)m$")
_WHOLE = re.compile(r"^-?\d+$")
_LARGEST = 4_000_000_000

CELLS = (80, 96, 144, 176, 192, 208, 254, 256, 318, 420)
"""Cells of chips, octets: Tofino, Spectrum 1, 2 and 3, Tofino-2, Spectrum 4 and 5, Trident-2 to Tomahawk-6."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row of a table.

    Attributes:
        line: its line in the file, from 1.
        speed_mbps: speed of the port, Mb/s.
        cable_m: length of the cable, m.
        size: octets reserved for the port and priority.
        xon: octets at or below which the peer may go on.
        xoff: octets of headroom.
        threshold: exponent of alpha from -8 to 7 in a dynamic pool, octets in a static one.
        xon_offset: octets below the threshold at which the peer may go on; ``None`` where the table has no such column.
    """

    line: int
    speed_mbps: int
    cable_m: float
    size: int
    xon: int
    xoff: int
    threshold: int
    xon_offset: int | None

    @property
    def kind(self) -> Literal["shared", "private", "other"]:
        """Whether the headroom is a shared pool, is private memory, or the sizes do not say."""
        if self.xoff > self.size or self.size == self.xon:
            return "shared"
        return "private" if self.size == self.xon + self.xoff else "other"

    @property
    def alpha(self) -> str:
        """The threshold in words: ``alpha 1/8``, or octets of a static pool."""
        if not -8 <= self.threshold <= 7:
            return f"static, {self.threshold} octets"
        if self.threshold in (-8, 7):
            return "alpha 0" if self.threshold == -8 else "no limit"
        return f"alpha 1/{2**-self.threshold}" if self.threshold < 0 else f"alpha {2**self.threshold}"


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table as it was read.

    Attributes:
        file: its name.
        rows: its rows, in the file's order.
    """

    file: str
    rows: tuple[Row, ...]

    def row(self, speed_mbps: int, cable_m: float) -> Row | None:
        """Return the row of a speed and a cable; where no cable is as long, that of the next longer one."""
        fitting = [row for row in self.rows if row.speed_mbps == speed_mbps and row.cable_m >= cable_m - 1e-9]
        return min(fitting, key=lambda row: row.cable_m, default=None)

    def cell(self) -> int | None:
        """Return the cell of a chip of which all sizes are multiples, octets; ``None`` if none or several fit."""
        sizes = {n for row in self.rows for n in (row.size, row.xoff, row.xon, row.xon_offset or 0) if n}
        # Whole KiB are a formula's rounding, whatever the cell.
        common = math.gcd(*sizes) if len(sizes) > 1 else 1
        fitting = [cell for cell in CELLS if common % cell == 0]
        return fitting[0] if len(fitting) == 1 and common % 1024 else None


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """A row beside the need.

    Attributes:
        row: the row.
        need: the exact headroom of its speed and cable.
        missing: octets by which xoff is below the need; 0 where it is enough.
    """

    row: Row
    need: Need
    missing: int


def read_table(path: str | Path) -> Table:
    """Read a ``pg_profile_lookup.ini``: with or without ``xon_offset``, with comments, blanks and tabs.

    Raises:
        TextFileError: the file cannot be read, is no such table, or has bad rows, which are named by line.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not text"
        raise TextFileError(str(path), None, f"cannot be read: {reason}") from error
    return parse_table(text, file=str(path))


def parse_table(text: str, *, file: str = "pg_profile_lookup.ini") -> Table:
    """Read the text of a table; ``file`` stands for it in messages.

    Raises:
        TextFileError: see :func:`read_table`.
    """
    rows, faults = [], []
    for number, line in enumerate(text.splitlines(), start=1):
        fields = line.partition("#")[0].split()
        if not fields:
            continue
        try:
            rows.append(_row(number, fields))
        except ValueError as error:
            faults.append((number, str(error)))
    if not rows and not faults:
        raise TextFileError(file, None, f"no row; each has {' '.join(_COLUMNS[:6])}, and xon_offset or not")
    if faults:
        at, reason = faults[0]
        # A file of another kind has the same fault in each line.
        others = "".join(f"; line {number}: {other}" for number, other in faults[1:4] if other != reason)
        more = f"; in all {len(faults)} lines are wrong" if len(faults) > 1 else ""
        raise TextFileError(file, at, reason + others + more)
    twice = _conflict(rows)
    if twice is not None:
        first, second = twice
        reason = f"{second.speed_mbps} Mb/s and {second.cable_m:g}m have other values in line {first.line}; leave one"
        raise TextFileError(file, second.line, reason)
    return Table(file=file, rows=tuple(rows))


def _row(number: int, fields: list[str]) -> Row:
    if len(fields) not in (6, 7):
        columns = " ".join(_COLUMNS[:6])
        raise ValueError(f"{len(fields)} columns; write {columns}, and xon_offset or not")
    cable = _CABLE.match(fields[1])
    if cable is None:
        raise ValueError(f"cable {fields[1]}: not a length; write, for instance, 40m")
    for name, field in zip(_COLUMNS, fields, strict=False):
        if name != "cable" and not _WHOLE.match(field):
            raise ValueError(f"{name} {field}: not a whole number")
    whole = {name: int(field) for name, field in zip(_COLUMNS, fields, strict=False) if name != "cable"}
    for name, value in whole.items():
        if value > _LARGEST or (value < 0 and name != "threshold"):
            raise ValueError(f"{name} {value}: out of range; write 0 to {_LARGEST}")
    if not 10 <= whole["speed"] <= 10_000_000:
        raise ValueError(f"speed {whole['speed']}: out of range; write Mb/s, as in 100000 for 100 Gb/s")
    if whole["threshold"] < -8:
        raise ValueError(f"threshold {whole['threshold']}: out of range; an exponent is -8 to 7")
    if float(cable[1]) > 1_000_000:
        raise ValueError(f"cable {fields[1]}: out of range; write at most 1000000m")
    return Row(
        line=number,
        speed_mbps=whole["speed"],
        cable_m=float(cable[1]),
        size=whole["size"],
        xon=whole["xon"],
        xoff=whole["xoff"],
        threshold=whole["threshold"],
        xon_offset=whole.get("xon_offset"),
    )


def _conflict(rows: list[Row]) -> tuple[Row, Row] | None:
    seen: dict[tuple[int, float], Row] = {}
    for row in rows:
        first = seen.setdefault((row.speed_mbps, row.cable_m), row)
        if (first.size, first.xon, first.xoff, first.threshold) != (row.size, row.xon, row.xoff, row.threshold):
            return first, row
    return None


def judge(
    table: Table, *, mtu: int = 9216, cell: int | None = None, response: Response | None = None
) -> list[Judgement]:
    """Judge each row by the exact need of its speed and cable.

    Args:
        table: the table.
        mtu: the longest frame, octets with FCS.
        cell: octets of a memory cell; ``None``: that of :meth:`Table.cell`, or octets where it finds none.
        response: the response of peers; ``None``: that of 802.3.
    """
    own = cell or table.cell() or 1
    judged = []
    for row in table.rows:
        time_ps = None if response is None else response.time(row.speed_mbps, mtu)
        port = Port(speed_mbps=row.speed_mbps, cable_m=row.cable_m, mtu=mtu, cell=own, response_ps=time_ps)
        exact = need(port)
        judged.append(Judgement(row=row, need=exact, missing=max(0, exact.memory - row.xoff)))
    return judged


_PACKET = 64
_UNTIL_PAUSE = 100
_BEYOND = 16


def row_scenario(row: Row, *, cell: int = 1, mtu: int = 9216, until_pause: int = _UNTIL_PAUSE) -> str:
    """Return the scenario of a row as SONiC's tests measure it: short packets until the pause and the first drop.

    Nothing leaves the switch, and the peer ignores pauses. Packets of 64 octets, a cell each, fill the memory up to the
    threshold, then the headroom. A switch with a dynamic threshold pauses with the packet that reaches it, so that the
    first drop comes ``xoff`` in cells and one more packet later; so does one that counts octets. One with a static
    threshold in cells pauses with the packet beyond, and the first drop comes ``xoff`` in cells later. (sonic-mgmt,
    ``tests/qos``: ``pkts_num_trig_pfc`` and ``pkts_num_trig_ingr_drp``.)

    Args:
        row: the row.
        cell: octets of a memory cell.
        mtu: the longest frame of the port, octets.
        until_pause: the packet that brings the pause, from 1.
    """
    memory = -(-_PACKET // cell) * cell
    room = row.xoff // memory
    alpha = 2.0**row.threshold if -8 < row.threshold < 7 and cell > 1 else None
    reaching = alpha is not None or cell == 1
    shared = (until_pause if reaching else until_pause - 1) * memory
    if alpha is not None:
        # The threshold of a line that is alone is alpha × S / (1 + alpha).
        shared = round(until_pause * (1 + alpha) / alpha) * memory
    first_drop = until_pause + room + (1 if reaching else 0)
    port = Port(speed_mbps=row.speed_mbps, cable_m=row.cable_m, mtu=mtu, cell=cell)
    flows, octets = trains(port, [Frames(octets=_PACKET, count=first_drop - 1 + _BEYOND)])
    comment = (
        f"# Line {row.line}: {row.speed_mbps} Mb/s, {row.cable_m:g} m, xoff {row.xoff} octets, {row.alpha}.\n"
        f"# The pause comes with packet {until_pause}, the first drop with packet {first_drop}: {_BEYOND} are lost.\n"
    )
    until = time(port, octets) + 4 * port.delay() + port.response() + 10_000_000
    text = network(port, room=row.xoff, shared=shared, duration_ps=until, comment=comment, alpha=alpha)
    # The peer sends on as soon as it has been paused.
    return text + '\n[pfc.watchdog]\nafter = "1 ps"\naction = "forward"\n' + flows


def findings(table: Table) -> list[str]:
    """Return sentences on rows that contradict each other.

    Headroom that falls for a longer cable or a higher speed, or is the same for cables that are much longer.
    """
    found = []
    by_speed: dict[int, list[Row]] = {}
    by_cable: dict[float, list[Row]] = {}
    for row in table.rows:
        by_speed.setdefault(row.speed_mbps, []).append(row)
        by_cable.setdefault(row.cable_m, []).append(row)
    for speed, rows in sorted(by_speed.items()):
        rows.sort(key=lambda row: row.cable_m)
        for shorter, longer in pairwise(rows):
            if longer.xoff < shorter.xoff:
                found.append(
                    f"{speed} Mb/s: xoff falls from {shorter.xoff} at {shorter.cable_m:g} m to {longer.xoff} at "
                    f"{longer.cable_m:g} m (line {longer.line})"
                )
        alike = [row for row in rows if row.xoff == rows[0].xoff]
        if len(alike) == len(rows) > 1 and rows[-1].cable_m >= 2 * rows[0].cable_m:
            found.append(
                f"{speed} Mb/s: the same xoff, {rows[0].xoff}, from {rows[0].cable_m:g} m to {rows[-1].cable_m:g} m"
            )
    for cable, rows in sorted(by_cable.items()):
        rows.sort(key=lambda row: row.speed_mbps)
        for slower, faster in pairwise(rows):
            if faster.xoff < slower.xoff:
                found.append(
                    f"{cable:g} m: xoff falls from {slower.xoff} at {slower.speed_mbps} Mb/s to {faster.xoff} at "
                    f"{faster.speed_mbps} Mb/s (line {faster.line})"
                )
    return found
