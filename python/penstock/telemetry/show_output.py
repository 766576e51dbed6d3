"""Watermarks and counters out of the text that SONiC's ``show`` commands print.

The tables are those of ``show priority-group watermark`` and ``persistent-watermark``, shared and headroom, of
``show queue watermark unicast``, and of ``show pfc counters`` (sonic-utilities, scripts/watermarkstat and pfcstat).
A file may hold several of them, and the prompts and commands of a session.
"""

import re

from penstock.errors import TextFileError
from penstock.telemetry.measures import MEASURES, Measure, Sample, value_in

_TITLES = {
    "ingress shared pool occupancy per pg": "pg-shared",
    "ingress headroom per pg": "pg-headroom",
    "egress shared pool occupancy per unicast queue": "queue",
    "egress shared pool occupancy per all queue": "queue",
    "egress shared pool occupancy per all queues": "queue",
    "egress shared pool occupancy per multicast queue": None,
}
"""The measure of each table by its title; that of multicast queues has none, for the fabric's queues are both."""

_COUNTERS = {"rx": "pfc-rx", "tx": "pfc-tx"}
_PROMPT = re.compile(r"^\S+@([\w.-]+):\S*[$#](?:\s+.*)?$")
_COMMAND = re.compile(r"^(?:\$|#)?\s*(?:sudo\s+)?show\s|^For namespace")
_COLUMN = re.compile(r"^(?:PG|UC|PFC|ALL)(\d+)$")
_RULE = re.compile(r"^[-\s]+$")


def is_show_output(text: str) -> bool:
    """Return whether a text has the head of such a table."""
    return any(_header(line.split()) is not None for line in text.splitlines())


def read_show(text: str, name: str) -> list[Sample]:
    """Return the values of all tables, ``N/A`` and queues above 7 aside.

    The host name in a prompt is the device of the tables after it.

    Raises:
        TextFileError: there is no table, or a line is cut, has no number, or stands outside of a table.
    """
    samples: list[Sample] = []
    device: str | None = None
    titled: str | None = ""
    columns: list[int | None] = []
    measure: Measure | None = None
    found = False
    for line, written in enumerate(text.replace("\r\n", "\n").split("\n"), start=1):
        words = written.split()
        title = written.strip().rstrip(":").lower()
        if not words:
            columns = []
        elif prompt := _PROMPT.match(written.strip()):
            device, columns = prompt[1], []
        elif title in _TITLES:
            titled, columns = _TITLES[title], []
        elif (header := _header(words)) is not None:
            direction, columns = header
            found = True
            key = _COUNTERS[direction] if direction else titled
            if key == "":
                raise TextFileError(name, line, "no line says what this table is: keep the one above its head")
            measure = None if key is None else MEASURES[key]
        elif columns and _RULE.match(written):
            continue
        elif columns:
            if len(words) != len(columns) + 1:
                reason = f"{len(words)} words where the head has {len(columns) + 1}: the line is cut or no row"
                raise TextFileError(name, line, reason)
            if measure is not None:
                samples += _row(words, columns, measure, device, name, line)
        elif not _COMMAND.match(written.strip()) and not written.lstrip().startswith("Last cached time"):
            raise TextFileError(name, line, f"{written.strip()[:40]!r} belongs to no table; leave it out")
    if not found:
        raise TextFileError(name, None, "there is no table of watermarks or PFC counters in it")
    return samples


def _header(words: list[str]) -> tuple[str, list[int | None]] | None:
    """Return the direction, for counters of PFC, and the priority of each column; ``None`` if it is no head."""
    if not words or words[0] not in ("Port", "Interface"):
        return None
    direction = words[1].lower() if len(words) > 1 and words[1] in ("Rx", "Tx") else ""
    rest = words[2:] if direction else words[1:]
    found = [_COLUMN.match(word) or re.match(r"^MC(\d+)$", word) for word in rest]
    if not rest or not all(found):
        return None
    numbers = [int(match[1]) for match in found if match is not None]
    return direction, [number if number <= 7 else None for number in numbers]


def _row(
    words: list[str], columns: list[int | None], measure: Measure, device: str | None, name: str, line: int
) -> list[Sample]:
    samples = []
    for priority, word in zip(columns, words[1:], strict=True):
        if priority is None or word == "N/A":
            continue
        try:
            value, _ = value_in(word, "", measure)
        except ValueError as error:
            raise TextFileError(name, line, str(error)) from error
        samples.append(
            Sample(file=name, line=line, device=device, port=words[0], priority=priority, measure=measure, value=value)
        )
    return samples
