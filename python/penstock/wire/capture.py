"""Captures: frames of pcap and pcapng files, counts of the notifications in them, and pcapng files of one's own."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock._core import WireCapture, wire_pcapng, wire_stats
from penstock.errors import ArgumentError
from penstock.files import whole
from penstock.wire.frame import EtherTypes, Frame, decode


class CaptureError(ArgumentError):
    """A file that is no capture, or is damaged.

    Attributes:
        file: the file's name.
        offset: octets of the file before the damage.
    """

    def __init__(self, file: str, offset: int, message: str) -> None:
        self.file = file
        self.offset = offset
        other = "unpack it, if it is compressed; editcap -F pcapng converts captures of other formats"
        super().__init__(f"{file}: {message}", "the part before this offset can be read" if offset else other)


@dataclass(frozen=True)
class Captured:
    """A frame of a capture.

    Attributes:
        data: its octets, as many as were captured.
        time_ns: when it was captured, nanoseconds of the file's clock; ``None`` where the file does not say.
        interface: the number of its interface in the file.
        interface_name: the interface's name, if the file has it.
        octets: the octets that it had on the line, without its check sequence; those of ``data`` if it is less.
        comment: the comment on it, if there is one.
    """

    data: bytes
    time_ns: int | None
    interface: int = 0
    interface_name: str | None = None
    octets: int = 0
    comment: str | None = None

    def decode(self, ether_types: EtherTypes | None = None) -> Frame:
        """Decode it."""
        return decode(self.data, ether_types, octets=self.octets)


def read(file: str | Path) -> Iterator[Captured]:
    """Give the frames of a pcap or pcapng file, of either byte order, one by one. The file is held in memory.

    Raises:
        CaptureError: where the file is damaged, after the frames before that offset.
        OSError: it cannot be read.
    """
    capture = WireCapture(Path(file).read_bytes())
    for number in range(len(capture)):
        interface, name, time_ns, octets, original, comment = capture.frame(number)
        yield Captured(octets, time_ns, interface, name, original, comment)
    if capture.damage is not None:
        raise CaptureError(str(file), *capture.damage)


def statistics(
    file: str | Path,
    ether_types: EtherTypes | None = None,
    *,
    rate_bps: int | None = None,
    storm_s: float | None = None,
    every_s: float | None = None,
) -> dict[str, Any]:
    """Return who notified whom, and how hard, in a capture of anyone's.

    The object has ``frames``, ``octets``, ``span_s`` (from the first frame to the last) and ``formats`` (frames by
    their first format behind the tags). It has ``tagged`` (frames with a CN-TAG that notify nobody), ``cut`` (frames
    of which a part was not captured), ``faulty``, ``not_ethernet``, and:

    - ``faults``, a list with an entry for each kind: ``format``, ``kind`` (the field, or ``checksum``), ``frames``,
      ``numbers`` (the first ten, counted from 1), ``first`` (the text of the first);
    - ``notified``, a list with an entry for each sender and receiver of notifications: ``interface``,
      ``interface_name``, ``format``, ``source``, ``destination``, ``cp_id``, ``flow``, ``to`` (the destination of the
      flow's frames), ``frames``, ``frames_per_s`` over the span, ``strength``, ``first_ns``, ``last_ns``. The strength
      is ``frames``, ``least``, ``mean`` and ``most`` of the field that the format's ``message`` names in
      :func:`formats`, in its unit. Queue offsets are positive under congestion. It is ``None`` where the format says
      nothing of the kind;
    - ``paused``, a list with an entry for each sender of pause frames and priority (``None`` for PAUSE): ``interface``,
      ``interface_name``, ``source``, ``priority``, ``stops``, ``resumes``, ``quanta`` (the sum of all that was asked
      for, which is no time of pause). Where the line's rate is known, it has ``pauses``, ``paused_s``, ``longest_s``,
      ``storms`` (pauses of ``storm_s`` or more) and ``share`` of the span. It has ``open_s``, the time after the last
      frame of the capture that is asked for and counts in none of the others. A pause lasts until the resume, or until
      its quanta have expired; a frame replaces the time that is left;
    - ``roce``, a list with an entry for each interface that saw RoCEv2: ``interface``, ``interface_name``, ``data``
      (packets with data), ``marked`` (those with a mark of congestion), ``share``, ``cnps``, ``cnps_per_s``; of MRC
      ``sacks``, ``skips`` (those of them that ask to skip a path), ``nacks`` and ``probes``;
    - ``queue_pairs``, the same for each sender and queue pair: ``source`` and ``destination`` (IP addresses), ``qp``;
    - ``series``, with ``every_s`` a list with an entry for each interval and interface: ``from_s`` on the file's clock,
      ``frames``, ``octets``, ``data``, ``marked``, ``share``, ``cnps``. Intervals begin at multiples of their length;
    - ``paused_series``, likewise an entry for each sender of pause frames and priority, and interval: ``from_s``,
      ``paused_s``, ``share`` of the interval. Senders whose line's rate is not known are left out;
    - ``damage``, ``None``, or ``offset`` and ``message`` where the file could not be read on: all else
      counts the frames before it.

    Args:
        file: a pcap or pcapng file.
        ether_types: EtherTypes that stations have agreed on, if others than the usual ones.
        rate_bps: the rate of all lines, bit/s, instead of those that the file has. pcap has none.
        storm_s: the least pause that is a storm, s; by default 200 ms, SONiC's detection time of a watchdog.
        every_s: the interval of time series, s; by default there are none.

    Raises:
        ArgumentError: the rate, the time of a storm or the interval is not above 0, or the series would be longer than
            a million entries.
        OSError: it cannot be read.
    """
    if rate_bps is not None and not 0 < rate_bps < 2**63:
        raise ArgumentError(f"rate_bps={rate_bps} is not a rate of a line", "write bit/s above 0")
    storm_ps = None if storm_s is None else _units("storm_s", storm_s, 1e12)
    every_ns = None if every_s is None else _units("every_s", every_s, 1e9)
    types = (ether_types or EtherTypes())._numbers()
    try:
        text = wire_stats(Path(file).read_bytes(), types, rate_bps, storm_ps, every_ns)
    except ValueError as error:
        raise ArgumentError(str(error), "take a longer interval: a million rows are the most") from None
    counted: dict[str, Any] = json.loads(text)
    for table, key in (("notified", "frames"), ("roce", "cnps"), ("queue_pairs", "cnps")):
        _add_rates(counted[table], key, counted["span_s"])
    return counted


def _units(name: str, seconds: float, per_s: float) -> int:
    """Return a time in whole units of which a second has this number."""
    units = round(seconds * per_s) if 0 < seconds < 1e6 else 0
    if not units:
        raise ArgumentError(f"{name}={seconds:g}: this is no time above 0", "give seconds, such as 0.001")
    return units


def _add_rates(rows: list[dict[str, Any]], key: str, span_s: float | None) -> None:
    for row in rows:
        row[f"{key}_per_s"] = row[key] / span_s if span_s else None


def by_source(counted: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the notifications of :func:`statistics` by interface, format and sender.

    An entry has ``interface``, ``interface_name``, ``format``, ``source``, ``destinations`` and ``flows`` (how many
    there are), ``frames``, ``frames_per_s``, ``strength``, ``first_ns`` and ``last_ns``.
    """
    return _notified_by(counted, ("interface", "interface_name", "format", "source"))


def by_port(counted: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the notifications of :func:`statistics` by interface and format.

    An entry has the keys of :func:`by_source`, but ``sources``, how many there are, instead of ``source``.
    """
    return _notified_by(counted, ("interface", "interface_name", "format"))


def _notified_by(counted: dict[str, Any], keys: tuple[str, ...]) -> list[dict[str, Any]]:
    found = []
    for rows in grouped(counted["notified"], keys):
        strengths = [row["strength"] for row in rows if row["strength"] is not None]
        firsts, lasts = ([row[key] for row in rows if row[key] is not None] for key in ("first_ns", "last_ns"))
        sources = {} if "source" in keys else {"sources": len({row["source"] for row in rows})}
        found.append(
            {
                **{key: rows[0][key] for key in keys},
                **sources,
                "destinations": len({row["destination"] for row in rows}),
                "flows": len({(row["destination"], row["flow"], row["to"]) for row in rows}),
                "frames": sum(row["frames"] for row in rows),
                "strength": _together(strengths),
                "first_ns": min(firsts, default=None),
                "last_ns": max(lasts, default=None),
            }
        )
    _add_rates(found, "frames", counted["span_s"])
    return found


MRC_COUNTS = ("sacks", "skips", "nacks", "probes")
"""The counts of MRC's headers among those of RoCEv2's packets."""


def roce_by_source(counted: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the RoCEv2 packets of :func:`statistics` by interface and sender.

    An entry has ``interface``, ``interface_name``, ``source`` (its IP address), ``queue_pairs`` (the number of those
    that it sent to), ``data``, ``marked``, ``share``, ``cnps``, ``cnps_per_s``, and the counts of MRC's headers.
    """
    keys = ("interface", "interface_name", "source")
    found = []
    for rows in grouped(counted["queue_pairs"], keys):
        sums = {key: sum(row[key] for row in rows) for key in ("data", "marked", "cnps", *MRC_COUNTS)}
        own = {"queue_pairs": len(rows), **sums, "share": sums["marked"] / sums["data"] if sums["data"] else None}
        found.append({**{key: rows[0][key] for key in keys}, **own})
    _add_rates(found, "cnps", counted["span_s"])
    return found


def grouped(rows: list[dict[str, Any]], keys: tuple[str, ...]) -> list[list[dict[str, Any]]]:
    """Return the rows in groups that agree in these keys, in the order of their first rows."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    return list(groups.values())


def _together(strengths: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the strength of several entries as one."""
    if not strengths:
        return None
    frames = sum(one["frames"] for one in strengths)
    return {
        "frames": frames,
        "least": min(one["least"] for one in strengths),
        "mean": sum(one["mean"] * one["frames"] for one in strengths) / frames,
        "most": max(one["most"] for one in strengths),
    }


def write(file: str | Path, frames: Iterable[Captured | bytes], names: Iterable[str] = ("penstock",)) -> None:
    """Write a pcapng file with nanoseconds.

    Args:
        file: the file; one that had this name is replaced.
        frames: its frames; of octets alone the times are one microsecond apart.
        names: the names of its interfaces, in the order of their numbers.

    Raises:
        ArgumentError: a frame is of an interface without a name, or of a time that no file can have.
        OSError: it cannot be written.
    """
    named = list(names)
    written: list[tuple[int, int, bytes, int, str | None]] = []
    for number, frame in enumerate(frames):
        if isinstance(frame, bytes):
            written.append((0, 1000 * number, frame, len(frame), None))
        else:
            time_ns = 1000 * number if frame.time_ns is None else frame.time_ns
            octets = max(len(frame.data), frame.octets)
            written.append((frame.interface, time_ns, frame.data, octets, frame.comment))
    for interface, time_ns, _, _, _ in written:
        if not 0 <= interface < len(named):
            raise ArgumentError(f"a frame is of interface {interface}, which has no name", f"names has {len(named)}")
        if not 0 <= time_ns < 2**64:
            raise ArgumentError(f"a frame is of time {time_ns} ns", "times are from 0 to 2^64 - 1 ns")
    with whole(Path(file)) as partial:
        partial.write_bytes(wire_pcapng(named, written))
