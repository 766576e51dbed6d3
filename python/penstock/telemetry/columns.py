"""Watermarks and counters out of a CSV file whose columns the user names."""

import csv
import io
import re
from dataclasses import dataclass, fields
from datetime import datetime

from penstock.errors import ArgumentError, TextFileError, nearest
from penstock.telemetry.measures import Measure, Sample, measure_named, value_in

_EXAMPLE = "port=Interface,priority=Queue,value=Bytes"


@dataclass(frozen=True, kw_only=True)
class Columns:
    """The columns of a CSV file, by the names in its first line.

    Attributes:
        port: the port.
        priority: the priority or queue, as a number, or with letters before it, as in ``UC3``.
        value: the value.
        device: the device.
        measure: the name of the watermark or counter, one of :data:`penstock.telemetry.MEASURES`.
        unit: the unit of the value.
        time: when it was read: seconds, or a date and time of ISO 8601.
    """

    port: str
    priority: str
    value: str
    device: str | None = None
    measure: str | None = None
    unit: str | None = None
    time: str | None = None


_ALIASES = {"queue": "priority"}


def typed_columns(text: str) -> Columns:
    """Return the columns that an option names, as in ``port=Interface,priority=Queue,value=Bytes``.

    ``queue=`` is another name of ``priority=``.

    Raises:
        ArgumentError: a column is named twice, has an unknown meaning, or one of the three is not there.
    """
    known = [field.name for field in fields(Columns)]
    found: dict[str, str] = {}
    for part in text.split(","):
        meaning, equals, name = (word.strip() for word in part.partition("="))
        meaning = _ALIASES.get(meaning, meaning)
        if not equals or not name:
            raise ArgumentError(f"{part}: this names no column", f"write, for instance, {_EXAMPLE}")
        if meaning not in known:
            raise ArgumentError(f"{meaning}: no column has this meaning", nearest(meaning, known, ", ".join(known)))
        if meaning in found:
            raise ArgumentError(f"{meaning}: two columns have this meaning", "leave one of them out")
        found[meaning] = name
    if missing := [name for name in ("port", "priority", "value") if name not in found]:
        raise ArgumentError(f"no column for {' and '.join(missing)}", f"write, for instance, {_EXAMPLE}")
    return Columns(**found)


def read_columns(text: str, name: str, columns: Columns, measure: Measure | None) -> list[Sample]:
    """Return the values of a CSV file.

    Args:
        text: the file's text; its first line names the columns.
        name: the file's name, for messages.
        columns: the meaning of its columns.
        measure: the watermark or counter, where no column has it.

    Raises:
        TextFileError: the file has no such column, or a line is cut, has no number, or another unit than those before.
    """
    reader = csv.reader(io.StringIO(text))
    header = [word.strip() for word in next(reader, [])]
    at = {}
    for field in fields(Columns):
        column = getattr(columns, field.name)
        if column is None:
            continue
        if column not in header:
            hint = nearest(column, header, f"the first line has {', '.join(header) or 'nothing'}")
            raise TextFileError(name, 1, f"there is no column {column!r} for {field.name}: {hint}")
        at[field.name] = header.index(column)
    if measure is None and "measure" not in at:
        raise TextFileError(name, 1, "nothing says which watermark or counter this is: name it, or a column measure=…")
    samples: list[Sample] = []
    units: dict[str, tuple[str, int]] = {}
    try:
        for row in reader:
            words = [word.strip() for word in row]
            if not any(words):
                continue
            line = reader.line_num
            if len(words) != len(header):
                raise TextFileError(
                    name, line, f"{len(words)} fields and not {len(header)}: the line is cut or too long"
                )
            samples.append(_sample(words, at, name, line, measure, units))
    except csv.Error as error:
        raise TextFileError(name, reader.line_num, f"this is no line of CSV: {error}") from error
    return samples


def _sample(
    words: list[str],
    at: dict[str, int],
    name: str,
    line: int,
    measure: Measure | None,
    units: dict[str, tuple[str, int]],
) -> Sample:
    """Return the value of a line; ``units`` keeps the unit of each measure and the line that had it first."""
    given = {meaning: words[index] for meaning, index in at.items()}
    try:
        own = measure if "measure" not in given else measure_named(given["measure"])
        if own is None:
            raise ValueError("nothing says which watermark or counter this is")
        unit = given.get("unit", "")
        first, where = units.setdefault(own.name, (unit, line))
        if unit != first:
            raise ValueError(f"unit {unit!r}, and {first!r} in line {where}: write one unit for {own.title}")
        value, cells = value_in(given["value"], unit, own)
        time_s = _time_s(given["time"]) if "time" in given else None
        return Sample(
            file=name,
            line=line,
            device=given.get("device") or None,
            port=given["port"],
            priority=priority_of(given["priority"]),
            measure=own,
            value=value,
            cells=cells,
            time_s=time_s,
        )
    except ValueError as error:
        raise TextFileError(name, line, str(error)) from error


def _time_s(word: str) -> float:
    """Return a time in seconds, from seconds or a date and time of ISO 8601."""
    try:
        return float(word) if re.fullmatch(r"[0-9.]+", word) else datetime.fromisoformat(word).timestamp()
    except ValueError:
        raise ValueError(f"{word!r} is no time: write seconds, or 2026-03-01T12:00:00Z") from None


def priority_of(word: str) -> int:
    """Return the priority of a queue or group: ``3``, ``UC3``, ``PG3``.

    Raises:
        ValueError: it is none from 0 to 7.
    """
    digits = word.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
    if not digits.isascii() or not digits.isdigit() or int(digits) > 7:
        raise ValueError(f"{word!r} is no priority from 0 to 7, such as 3 or UC3")
    return int(digits)
