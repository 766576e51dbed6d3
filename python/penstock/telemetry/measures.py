"""The watermarks and counters of a port and priority that a device and a simulated run both have."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from penstock._core import read_quantity
from penstock.errors import nearest
from penstock.quantity_text import count, duration, events, octets, ratio

Queue = Mapping[str, Any]
"""A queue of a run's summary."""


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A watermark or a counter.

    Attributes:
        name: its name in files and on the command line.
        title: its name in tables and figures.
        unit: the unit of its values.
        counts: whether it is a counter, which only grows, and not a watermark, of which the largest counts.
        simulated: its value from the queue of the port and the queue at the far end that sends to the port; ``None``
            where the run has none.
        counts_frames: whether that is octets of frames, where the device counts the cells that they fill.
    """

    name: str
    title: str
    unit: Literal["octets", "frames", "s"]
    counts: bool
    simulated: Callable[[Queue, Queue | None], float | None]
    counts_frames: bool = False


def in_whole_cells(value: float, queue: Queue, cell_octets: int) -> float:
    """Return the octets of the cells that frames of a queue fill, as a device counts them.

    No cell holds octets of two frames. The run keeps no sizes of the frames that waited, so the mean frame of the
    queue stands for each. The value is exact for frames of one size, and too large where many short frames passed and
    long ones waited.

    Args:
        value: octets of the frames.
        queue: the queue of the run.
        cell_octets: the memory cell of the device, octets; 1 if it is not known.
    """
    frames = queue["frames_sent"]
    if cell_octets <= 1 or not frames or not value:
        return value
    frame: float = queue["octets_sent"] / frames
    return value / frame * math.ceil(frame / cell_octets) * cell_octets


def _pause_frames(queue: Queue | None) -> float | None:
    """Return the frames that stopped a queue or let it go on: a counter of a device has both."""
    return None if queue is None or "resume_frames" not in queue else queue["pause_frames"] + queue["resume_frames"]


MEASURES: Mapping[str, Measure] = {
    measure.name: measure
    for measure in (
        Measure(
            name="queue",
            title="queue watermark",
            unit="octets",
            counts=False,
            simulated=lambda queue, _: queue["max_octets"],
            counts_frames=True,
        ),
        Measure(
            name="pg-shared",
            title="priority group, shared",
            unit="octets",
            counts=False,
            simulated=lambda queue, _: queue.get("ingress_shared_max_octets"),
        ),
        Measure(
            name="pg-headroom",
            title="priority group, headroom",
            unit="octets",
            counts=False,
            simulated=lambda queue, _: queue.get("ingress_headroom_max_octets"),
        ),
        Measure(
            name="pfc-rx",
            title="PFC frames received",
            unit="frames",
            counts=True,
            simulated=lambda queue, _: _pause_frames(queue),
        ),
        Measure(
            name="pfc-tx",
            title="PFC frames sent",
            unit="frames",
            counts=True,
            simulated=lambda _, far: _pause_frames(far),
        ),
        Measure(
            name="paused", title="time paused", unit="s", counts=True, simulated=lambda queue, _: queue["paused_s"]
        ),
        Measure(
            name="ecn-marked",
            title="frames marked CE",
            unit="frames",
            counts=True,
            simulated=lambda queue, _: queue["frames_marked"],
        ),
        Measure(
            name="dropped",
            title="frames dropped",
            unit="frames",
            counts=True,
            simulated=lambda queue, _: queue["frames_dropped"],
        ),
    )
}
"""Every measure, by its name."""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A value of a file.

    Attributes:
        file: the file's name.
        line: its line, counted from 1.
        device: the device that it was read on; ``None`` if the file does not say.
        port: the port's name on the device, or in the fabric.
        priority: the priority, 0 to 7.
        measure: the watermark or counter.
        value: its value, in the unit of the measure, or in cells.
        cells: whether it is a number of memory cells.
        time_s: when it was read, s on any clock; ``None`` if the file does not say.
    """

    file: str
    line: int
    device: str | None
    port: str
    priority: int
    measure: Measure
    value: float
    cells: bool = False
    time_s: float | None = None


def measure_named(name: str) -> Measure:
    """Return the measure of a name.

    Raises:
        ValueError: there is none; the message says what to write.
    """
    if name not in MEASURES:
        hint = nearest(name, MEASURES, f"write one of {', '.join(MEASURES)}")
        raise ValueError(f"{name!r} is no watermark or counter: {hint}")
    return MEASURES[name]


def in_unit(value: float | None, unit: str) -> str | None:
    """Write a value with its unit, that of a measure or that and ``/s``; ``None`` stays."""
    if value is None:
        return None
    show: dict[str, Callable[[float], str]] = {"octets": octets, "s": duration, "s/s": ratio, "frames/s": events}
    return show[unit](value) if unit in show else count(round(value))


_PLAIN = {"octets": ("bytes", "byte", "Bytes", "octets"), "frames": ("packets", "pkts", "frames", "count"), "s": ("s",)}


def value_in(text: str, unit: str, measure: Measure) -> tuple[float, bool]:
    """Return a value in the unit of its measure, or in cells, and whether it is in cells.

    Args:
        text: a number, with commas between thousands or none.
        unit: its unit; empty for that of the measure.
        measure: the measure.

    Raises:
        ValueError: it is no number of 0 or more, or the unit is none of the measure's.
    """
    try:
        number = float(text.replace(",", ""))
    except ValueError:
        number = -1.0
    if not 0 <= number < 1e18:
        raise ValueError(f"{text!r} is not a number of 0 or more")
    if measure.unit == "octets" and unit in ("cell", "cells"):
        return number, True
    if unit and unit not in _PLAIN[measure.unit]:
        if measure.unit == "frames":
            raise ValueError(f"{unit!r} is not a unit of frames; write packets")
        try:
            number *= read_quantity(f"1 {unit}", measure.unit)
        except ValueError as error:
            known = "bytes, KB, KiB, MB or cells" if measure.unit == "octets" else "s, ms, us or ns"
            raise ValueError(f"{unit!r} is not a unit of {measure.title}; write {known}") from error
    return number, False
