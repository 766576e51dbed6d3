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
        super().__init__(f"{file}: {message}", "the part before this place can be read" if offset else other)


@dataclass(frozen=True)
class Captured:
    """A frame of a capture.

    Attributes:
        data: its octets, as many as were captured.
        time_ns: when it was captured, nanoseconds of the file's clock; ``None`` where the file does not say.
        interface: the number of its interface in the file.
        interface_name: the interface's name, if the file has it.
        octets: the octets that it had on the line, without its check sequence.
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
        return decode(self.data, ether_types)


def read(file: str | Path) -> Iterator[Captured]:
    """Give the frames of a pcap or pcapng file, of either byte order, one by one. The file is held in memory.

    Raises:
        CaptureError: where the file is damaged, after the frames before that place.
        OSError: it cannot be read.
    """
    capture = WireCapture(Path(file).read_bytes())
    for number in range(len(capture)):
        interface, name, time_ns, octets, original, comment = capture.frame(number)
        yield Captured(octets, time_ns, interface, name, original, comment)
    if capture.damage is not None:
        raise CaptureError(str(file), *capture.damage)


def statistics(file: str | Path, ether_types: EtherTypes | None = None) -> dict[str, Any]:
    """Return who notified whom, and how hard, in a capture of anyone's.

    The object has ``frames``, ``octets``, ``formats`` (frames by their first format behind the tags), ``tagged``
    (frames with a CN-TAG that notify nobody), ``faulty``, ``not_ethernet``, and:

    - ``notified``, a list with an entry for each way of notifications: ``interface``, ``interface_name``, ``format``,
      ``source``, ``destination``, ``cp_id``, ``flow``, ``to`` (the destination of the flow's frames), ``frames``,
      ``strength``, ``first_ns``, ``last_ns``. The strength is ``frames``, ``least``, ``mean`` and ``most`` of Quantized
      Feedback for ``cnm``, of the queue's offset in octets (positive under congestion) for ``smcc``, ``bcn`` and
      ``e2cm``, of the rate in bit/s for ``fecn`` and ``rocc``, of the pause in picoseconds for ``sfc``, and ``None``
      where the format says nothing of the kind;
    - ``paused``, a list with an entry for each sender of pause frames and priority (``None`` for PAUSE): ``interface``,
      ``interface_name``, ``source``, ``priority``, ``stops``, ``resumes``, ``quanta``;
    - ``damage``, ``None``, or ``offset`` and ``message`` of the place at which the file could not be read on: all else
      counts the frames before it.

    Raises:
        OSError: the file cannot be read.
    """
    types = (ether_types or EtherTypes())._numbers()
    counted: dict[str, Any] = json.loads(wire_stats(Path(file).read_bytes(), types))
    return counted


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
    written: list[tuple[int, int, bytes, str | None]] = []
    for number, frame in enumerate(frames):
        if isinstance(frame, bytes):
            written.append((0, 1000 * number, frame, None))
        else:
            time_ns = 1000 * number if frame.time_ns is None else frame.time_ns
            written.append((frame.interface, time_ns, frame.data, frame.comment))
    for interface, time_ns, _, _ in written:
        if not 0 <= interface < len(named):
            raise ArgumentError(f"a frame is of interface {interface}, which has no name", f"names has {len(named)}")
        if not 0 <= time_ns < 2**64:
            raise ArgumentError(f"a frame is of time {time_ns} ns", "times are from 0 to 2^64 - 1 ns")
    with whole(Path(file)) as partial:
        partial.write_bytes(wire_pcapng(named, written))
