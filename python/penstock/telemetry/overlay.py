"""Measured values beside those of simulated runs, by port and priority.

A watermark is the largest of its values. A counter is its growth from the first value to the last, or its only value.
Counters are compared a second where the time of the measurement is known: simulated time is milliseconds, measured time
is minutes. A value differs where it lies outside of the interval in which another seed lies with 95 %.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import sqrt
from typing import Any

from penstock.errors import ArgumentError, TextFileError
from penstock.metrics.seeds import half_interval, spread
from penstock.result import Result
from penstock.telemetry.measures import Measure, Sample, in_whole_cells
from penstock.telemetry.ports import Place, PortNames


@dataclass(frozen=True, kw_only=True)
class Simulated:
    """A value of a line of a comparison.

    Attributes:
        mean: its mean over the seeds; ``None`` where the runs have no such queue or number.
        low: the lower end of the interval of another seed; ``None`` of one seed.
        high: its upper end.
        ratio: measured over simulated; ``None`` if that is 0.
        differs: whether the measured value is outside of the interval; ``None`` without one.
    """

    mean: float | None
    low: float | None
    high: float | None
    ratio: float | None
    differs: bool | None


@dataclass(frozen=True, kw_only=True)
class Row:
    """A watermark or counter of a port and priority.

    Attributes:
        device: the device.
        port: the port's name there.
        link: its name in the fabric.
        priority: the priority.
        measure: the name of the measure.
        unit: the unit of the values: octets, frames, s, or these a second.
        measured: the measured value.
        simulated: that of each line, by its label.
    """

    device: str
    port: str
    link: str
    priority: int
    measure: str
    unit: str
    measured: float
    simulated: Mapping[str, Simulated]

    @property
    def something(self) -> bool:
        """Whether any of the values is more than 0."""
        return self.measured > 0 or any(line.mean for line in self.simulated.values())

    @property
    def known(self) -> bool:
        """Whether a run has the value, and any is more than 0."""
        return self.something and any(line.mean is not None for line in self.simulated.values())

    def distance(self, label: str) -> float:
        """Return how far measured and simulated are apart, as a share of the larger; 1 more if they differ."""
        line = self.simulated[label]
        mean = line.mean or 0.0
        return abs(self.measured - mean) / (max(self.measured, mean) or 1.0) + bool(line.differs)


@dataclass(frozen=True, kw_only=True)
class Overlay:
    """Measured values beside simulated ones.

    Attributes:
        rows: in the order of measures, then of the fabric's ports.
        labels: the lines of the comparison.
        over_s: for how long counters were measured, s; ``None`` where nothing says.
        notes: sentences on what was left out, or is to be read with care.
    """

    rows: tuple[Row, ...]
    labels: tuple[str, ...]
    over_s: float | None
    notes: tuple[str, ...]

    def farthest_first(self) -> list[tuple[Row, str]]:
        """Return the values of each line that are not all 0, those first that lie farthest apart."""
        pairs = [(row, label) for row in self.rows for label in self.labels if row.something]
        return sorted(pairs, key=lambda pair: -pair[0].distance(pair[1]))

    def differing(self, label: str) -> tuple[int, int]:
        """Return how many values of a line differ, and how many have an interval that says so."""
        judged = [row.simulated[label].differs for row in self.rows if row.something]
        known = [value for value in judged if value is not None]
        return sum(known), len(known)

    def document(self) -> dict[str, Any]:
        """Return it as objects of JSON."""
        return {"over_s": self.over_s, "notes": list(self.notes), "rows": [asdict(row) for row in self.rows]}


@dataclass(frozen=True, kw_only=True)
class Combined:
    """The values of a file for one port, priority and measure, as one.

    Attributes:
        place: the port.
        priority: the priority.
        measure: the watermark or counter.
        value: the largest watermark, or by how much the counter grew, in the unit of the measure.
        over_s: for how long a counter was measured, s; ``None`` where nothing says.
    """

    place: Place
    priority: int
    measure: Measure
    value: float
    over_s: float | None


def combine(samples: Sequence[Sample], names: PortNames, over_s: float | None = None) -> list[Combined]:
    """Return one value for each port, priority and measure, on ports of the fabric.

    A value of 0 at a port that the fabric lacks is left out: a device has more ports than are described.

    Args:
        samples: the values of all files.
        names: the fabric's ports.
        over_s: for how long counters were measured, s; by default the times of the values say so.

    Raises:
        ArgumentError: no value is left.
        TextFileError: a port is not in the fabric, or a counter falls; the line is named.
    """
    groups: dict[tuple[str, int, str], list[tuple[Sample, Place]]] = {}
    for sample in samples:
        try:
            place = names.place(sample)
        except TextFileError:
            if sample.value == 0 and sample.device is not None:
                continue
            raise
        groups.setdefault((place.link, sample.priority, sample.measure.name), []).append((sample, place))
    if not groups:
        raise ArgumentError("no value belongs to a port of the fabric", "give files of its devices")
    return [_combined(group, over_s) for group in groups.values()]


def _combined(group: Sequence[tuple[Sample, Place]], over_s: float | None) -> Combined:
    several = sorted(group, key=lambda pair: (pair[0].time_s is None, pair[0].time_s or 0.0))
    samples, place = [sample for sample, _ in several], group[0][1]
    values = [sample.value * (place.cell_octets if sample.cells else 1) for sample in samples]
    measure, first, last = samples[0].measure, samples[0], samples[-1]
    if not measure.counts:
        value, own_s = max(values), None
    else:
        for before, after, sample in zip(values, values[1:], samples[1:], strict=False):
            if after < before:
                reason = f"the counter falls from {before:g} to {after:g}: it was cleared; begin the file there"
                raise TextFileError(sample.file, sample.line, reason)
        value = values[-1] - values[0] if len(values) > 1 else values[0]
        times = (first.time_s, last.time_s)
        own_s = None if times[0] is None or times[1] is None or times[1] <= times[0] else times[1] - times[0]
    return Combined(
        place=place,
        priority=first.priority,
        measure=measure,
        value=value,
        over_s=over_s if own_s is None else own_s,
    )


def overlay(
    samples: Sequence[Sample],
    names: PortNames,
    runs: Mapping[str, Sequence[Result]],
    *,
    over_s: float | None = None,
) -> Overlay:
    """Put measured values beside those of runs.

    Args:
        samples: the values of all files, as :func:`penstock.telemetry.read` returns them.
        names: the fabric's ports.
        runs: the runs of each line of a comparison, a run a seed, under the line's label.
        over_s: for how long counters were measured, s; by default the times of the values say so.

    Raises:
        ArgumentError: ``over_s`` is not above 0, or there is no value.
        TextFileError: a port is not in the fabric, or a counter falls; the line is named.
    """
    if over_s is not None and not over_s > 0:
        raise ArgumentError(f"over_s={over_s:g}: a measurement takes time", "give seconds above 0")
    measured = combine(samples, names, over_s)
    queues = {
        label: [
            ({(queue["name"], queue["priority"]): queue for queue in run.summary["queues"]}, run.summary["duration_s"])
            for run in results
        ]
        for label, results in runs.items()
    }
    rows, absent = [], 0
    for one in measured:
        per_second = one.measure.counts and one.over_s is not None
        value = one.value / one.over_s if per_second and one.over_s is not None else one.value
        simulated = {
            label: _simulated(value, [_of_run(one, own, duration_s, per_second) for own, duration_s in results])
            for label, results in queues.items()
        }
        if all(line.mean is None for line in simulated.values()):
            absent += value > 0
            if value == 0:
                continue
        rows.append(
            Row(
                device=one.place.device,
                port=one.place.port,
                link=one.place.link,
                priority=one.priority,
                measure=one.measure.name,
                unit=f"{one.measure.unit}/s" if per_second else one.measure.unit,
                measured=value,
                simulated=simulated,
            )
        )
    return Overlay(
        rows=tuple(_in_order(rows, names, measured)),
        labels=tuple(runs),
        over_s=over_s,
        notes=tuple(_notes(measured, runs, absent)),
    )


def _of_run(one: Combined, queues: Mapping[tuple[str, int], Any], duration_s: float, per_second: bool) -> float | None:
    queue, far = (queues.get((name, one.priority)) for name in (one.place.link, one.place.far))
    value = None if queue is None else one.measure.simulated(queue, far)
    if value is not None and queue is not None and one.measure.counts_frames:
        value = in_whole_cells(value, queue, one.place.cell_octets)
    return value / duration_s if value is not None and per_second else value


def _simulated(measured: float, values: Sequence[float | None]) -> Simulated:
    over = spread(values)
    mean, deviation = over["mean"], over["std"]
    if mean is None:
        return Simulated(mean=None, low=None, high=None, ratio=None, differs=None)
    ratio = measured / mean if mean else None
    if deviation is None:
        return Simulated(mean=mean, low=None, high=None, ratio=ratio, differs=None)
    # Another seed differs from the mean of n by the deviations of both: t s sqrt(1 + 1/n).
    known = sum(value is not None for value in values)
    half = half_interval(deviation, known) * sqrt(known + 1)
    low, high = max(0.0, mean - half), mean + half
    return Simulated(mean=mean, low=low, high=high, ratio=ratio, differs=not low <= measured <= high)


def _in_order(rows: Sequence[Row], names: PortNames, measured: Sequence[Combined]) -> list[Row]:
    measures = list(dict.fromkeys(one.measure.name for one in measured))
    links = {link: index for index, link in enumerate(names.places)}
    return sorted(rows, key=lambda row: (measures.index(row.measure), links[row.link], row.priority))


def _notes(measured: Sequence[Combined], runs: Mapping[str, Sequence[Result]], absent: int) -> list[str]:
    notes = []
    if any(one.measure.counts and one.over_s is None for one in measured):
        notes.append(
            "counters are compared as they are: nothing says for how long they were measured (--measured-over, time=)"
        )
    if any(not one.measure.counts for one in measured):
        longest_s = max((run.summary["duration_s"] for results in runs.values() for run in results), default=0.0)
        notes.append(
            f"a watermark grows with the time that it is observed: the runs have {longest_s * 1000:g} ms of it"
        )
    if any(one.measure.counts_frames and one.place.cell_octets > 1 for one in measured):
        notes.append(
            "simulated queues are octets of whole cells, as devices count; each frame has the queue's mean size"
        )
    if all(len(results) < 2 for results in runs.values()):
        notes.append("one seed has no interval, so that nothing says which values differ: add --seeds 5")
    if absent:
        notes.append(f"{absent} values above 0 have no counterpart: no recorded queue of that port and priority")
    return notes
